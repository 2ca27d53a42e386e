#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Where results go: a file appears whole or not at all, a full disk and a closed
# pipe are errors, colours are for terminals.

. "${0%/*}/lib.sh"

answer='model,policy,slowdown
llama-8b,ideal,1'
ideal() {
    stallcast estimate hbf model=llama-8b policy=ideal --columns slowdown -f csv "$@"
}
only_files() {
    ls -A >"$results/files"
    put_lines "$1" | diff -u - "$results/files"
}

# ---- files ----

check_run 'standard output' 0 "$answer" '' ideal
check_run '-o -' 0 "$answer" '' ideal -o -
check_run '-o FILE prints nothing' 0 '' '' ideal -o answers.csv
check_run 'and writes it' 0 "$answer" '' cat answers.csv
ok 'and nothing else' only_files answers.csv
echo old >answers.csv
check_run 'it takes the place of what was there' 0 '' '' ideal --output=answers.csv
check_run 'whole' 0 "$answer" '' cat answers.csv
check_run 'attached to the letter' 0 '' '' ideal -oanswers.csv

echo old >answers.csv
check_run 'a usage error leaves the old file' 2 '' \
    "stallcast: elephants is not a key of hbf: 'stallcast list fields hbf' shows them" \
    ideal elephants=1 -o answers.csv
check_run 'which still stands' 0 old '' cat answers.csv
check_run 'a scenario without an answer' 2 '' \
    "stallcast: latency: 100 ns is below hbm_latency, the ideal's latency" \
    ideal latency=100ns -o answers.csv
check_run 'leaves it too' 0 old '' cat answers.csv
printf 'policy\nideal\n"ideal\n' >broken.csv
check_run 'so does a file that cannot be read to its end' 2 '' \
    'stallcast: broken.csv:3: the quote that opens here is never closed' \
    stallcast estimate hbf --from broken.csv model=llama-8b -o answers.csv
check_run 'unchanged' 0 old '' cat answers.csv
printf 'policy\nideal\nidal\nideal\n' >bad.csv
check_run 'and --strict' 2 '' \
    "stallcast: bad.csv:3: policy: expected one of its choices, got 'idal': did you mean ideal?" \
    stallcast estimate hbf --from bad.csv model=llama-8b --strict -o answers.csv
check_run 'unchanged' 0 old '' cat answers.csv
ok 'nothing is left behind' only_files 'answers.csv
bad.csv
broken.csv'
check_run 'bad rows are rows: the file is written' 1 '' \
    "stallcast: 1 of 3 rows have no answer; the first: bad.csv:3: policy: expected one of its choices, got 'idal': did you mean ideal?" \
    stallcast estimate hbf --from bad.csv model=llama-8b --columns slowdown -o answers.csv
check_run 'with its errors' 0 "policy,slowdown,error
ideal,1,
idal,,\"bad.csv:3: policy: expected one of its choices, got 'idal': did you mean ideal?\"
ideal,1," '' cat answers.csv
cp bad.csv same.csv
"$program" estimate hbf --from same.csv model=llama-8b --columns slowdown -o same.csv 2>err
sed 's/^bad/same/' answers.csv >want
sed -i 's/bad.csv/same.csv/' want
ok 'a file may be answered in place' cmp want same.csv

# ---- what is read is not replaced, nor what else is written ----

cp "$source_tree"/data/params/stream.csv p.csv
cp p.csv kept.csv
ln -s p.csv link.csv
printf 'warps_per_sm,time_us\n4,20\n8,21\n' >rows.csv
for command in 'estimate stream' 'explain stream' 'rank stream --over gpu' 'validate stream' \
    'compare stream rows.csv' 'fit stream rows.csv --free latency'; do
    for file in p.csv ./p.csv link.csv; do
        # shellcheck disable=SC2086
        refuses '-o: p.csv would replace what is read' $command --params p.csv -o $file
    done
done
refuses '--csv: p.csv would replace what is read' plot stream-sweep --params p.csv --csv p.csv
refuses '--plot: p.csv would replace what is read' \
    compare stream rows.csv --params p.csv --plot p.csv
ok 'the calibration still stands' cmp p.csv kept.csv
cp rows.csv kept.csv
refuses '-o: rows.csv would replace what is read' fit stream rows.csv --free latency -o ./rows.csv
refuses '-o: rows.csv would replace what is read' fit stream -i rows.csv --free latency -o rows.csv
ok 'the measurements still stand' cmp rows.csv kept.csv
cp "$source_tree"/data/examples/config.json "$source_tree"/data/examples/my-gpus.csv .
refuses '-o: config.json would replace what is read' estimate hbf model=llama-8b,config.json -o config.json
refuses '-o: my-gpus.csv would replace what is read' \
    estimate hbf model=llama-8b gpu=my-gpus.csv:next,my-gpus.csv:half -o my-gpus.csv
refuses '-o: my-gpus.csv would replace what is read' explain hbf model=llama-8b gpu=my-gpus.csv:next -o my-gpus.csv
ok 'the tables still stand' sh -c 'for f; do cmp "$f" "${f##*/}" || exit 1; done' sh \
    "$source_tree"/data/examples/config.json "$source_tree"/data/examples/my-gpus.csv
: >llama-8b
check_run 'a file that has the name of a row is not read' 0 '' '' \
    stallcast estimate hbf model=llama-8b -o llama-8b
refuses '--csv and -o: both are x.svg' plot stream-sweep -o x.svg --csv x.svg

chmod 640 answers.csv
check_run 'a file keeps its mode' 0 '-rw-r-----' '' sh -c \
    "'$program' list systems -o answers.csv && ls -l answers.csv | cut -c1-10"
check_run 'a new one has the usual' 0 '-rw-r--r--' '' sh -c \
    "umask 022; '$program' list systems -o new.csv && ls -l new.csv | cut -c1-10"
mkdir elsewhere
echo old >elsewhere/target
ln -s elsewhere/target link
check_run 'a link stays a link' 0 'elsewhere/target' '' sh -c \
    "'$program' list systems -o link && readlink link"
ok 'what it points to is written' grep -q hbf elsewhere/target
check_run 'a directory' 2 '' 'stallcast: cannot write elsewhere: Is a directory' ideal -o elsewhere
check_run 'a directory that is not there' 2 '' \
    'stallcast: cannot write none/a.csv: No such file or directory' ideal -o none/a.csv
for command in 'list models' 'explain hbf model=llama-8b' 'validate hbf'; do
    echo old >answers.csv
    "$program" $command -o answers.csv 2>/dev/null
    ok "-o of $command" sh -c '[ $(wc -l <answers.csv) -gt 5 ]'
done

# ---- full disks and closed pipes ----

if [ -c /dev/full ]; then
    full='cannot write standard output: No space left on device'
    check_run '-o /dev/full' 2 '' 'stallcast: cannot write /dev/full: No space left on device' \
        ideal -o /dev/full
    printf 'policy\nideal\n' >in.csv
    for command in '--help' '--version' 'help' 'list --help' 'list models' 'list models -f json' \
        'explain hbf model=llama-8b' 'explain hbf model=llama-8b -f csv' 'validate hbf' \
        'estimate hbf model=llama-8b' 'estimate hbf model=llama-8b -f md' \
        'estimate hbf model=all policy=all -f csv' 'estimate hbf model=llama-8b -f jsonl' \
        'estimate hbf model=llama-8b --from in.csv' \
        'estimate hbf model=llama-8b --from in.csv -f json' \
        'estimate hbf model=llama-8b --from in.csv -f table'; do
        check_run "full: $command" 2 '' "stallcast: $full" sh -c "'$program' $command >/dev/full"
    done
else
    skip 'there is no /dev/full'
fi
# ---- a limit on the size of files ----

# The limit holds for every file, so what is said goes through a pipe.
for command in 'estimate hbf model=all policy=all latency=1us:20us:1us -f csv -o' \
    'simulate stream warps_per_sm=1:32:1 loads_per_warp=1 sms=1 -f csv -o' 'list models -f csv -o' \
    'explain hbf model=llama-70b -f csv -o' 'plot stream-sweep --csv'; do
    check_run "no larger file: $command" 0 'stallcast: cannot write limited.csv: File too large
2' '' sh -c "(ulimit -f 0; '$program' $command limited.csv 2>&1; echo \$?) | cat"
done
ok 'no part of it is left' sh -c '! ls -A | grep limited'

awk 'BEGIN { print "batch"; for (i = 1; i <= 50000; i++) print i }' >many.csv
for command in 'estimate hbf model=llama-8b batch=1:20000:1 -f csv' \
    'estimate hbf model=llama-8b --from many.csv' \
    'estimate hbf model=llama-8b --from many.csv --jobs 1' \
    'estimate hbf model=llama-8b --from many.csv -f json'; do
    (
        "$program" $command 2>err
        echo $? >code
    ) | head -n 1 >/dev/null
    ok "a reader that goes away: $command" sh -c \
        'grep -qx 2 code && grep -qx "stallcast: cannot write standard output: Broken pipe" err'
done

# ---- colours ----

escape=$(printf '\033')
"$program" estimate hbf model=llama-8b policy=all >out
ok 'no colour when it is not a terminal' sh -c "! grep -q '$escape' out"
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    terminal() {
        script -qec "$*" /dev/null </dev/null >out 2>&1
    }
    terminal "'$program' estimate hbf model=llama-8b policy=all"
    ok 'colour on a terminal' grep -q "$escape\\[3" out
    terminal "NO_COLOR=1 '$program' estimate hbf model=llama-8b policy=all"
    ok 'NO_COLOR: none' sh -c "grep -q slowdown out && ! grep -q '$escape\\[3' out"
    terminal "NO_COLOR= '$program' estimate hbf model=llama-8b policy=all"
    ok 'NO_COLOR empty is not given' grep -q "$escape\\[3" out
    terminal "'$program' estimate hbf model=llama-8b policy=all -o file; cat file"
    ok 'no colour in a file' sh -c "grep -q slowdown out && ! grep -q '$escape\\[3' out"
    terminal "'$program' list policies; '$program' estimate hbf model=llama-8b -f md; '$program' explain hbf model=llama-8b"
    ok 'no colour where there is no bar' sh -c "grep -q slowdown out && ! grep -q '$escape\\[3' out"
else
    skip 'no script(1) that makes a terminal'
fi

finish
