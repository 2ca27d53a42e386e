#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# stallcast calibrate: runs are made once, whatever stops it; a calibration that
# is damaged or foreign is refused, never half used.

. "${0%/*}/lib.sh"

# calibrate FILE WORD...: small, of the two policies that differ most.
calibrate() {
    file=$1
    shift
    stallcast calibrate hbf --samples 60 model=llama-8b policy=slipstream,h3 -o "$file" "$@"
}

# quick FILE WORD...: smaller still.
quick() {
    file=$1
    shift
    stallcast calibrate hbf --samples 40 model=llama-3.2-1b tp=4 policy=h3 -o "$file" "$@"
}

# quick_refuses STDERR FILE WORD...
quick_refuses() {
    reason=$1
    shift
    check_run "calibrate: $*" 2 '' "stallcast: $reason" quick "$@"
}

# judged FILE WORD...: slowdown, its interval, and whether it is extrapolated.
judged() {
    file=$1
    shift
    stallcast estimate hbf model=llama-8b --params "$file" --format csv \
        --columns slowdown,slowdown_lo,slowdown_hi,extrapolated "$@"
}

# judged_refuses STDERR FILE WORD...
judged_refuses() {
    reason=$1
    shift
    check_run "$reason" 2 '' "stallcast: $reason" judged "$@"
}

# ---- what is refused ----

refuses 'calibrate: expected a system first: calibrate SYSTEM -o FILE [key=value ...] [options]' \
    calibrate
refuses "no system 'hfb': did you mean hbf?" calibrate hfb -o a.csv
refuses 'calibrate: expected -o FILE, where the calibration goes' calibrate hbf
refuses "elephants is not a key of hbf: 'stallcast list fields hbf' shows them" \
    calibrate hbf -o a.csv elephants=1
for value in 39 1000001 x 1e3; do
    refuses "--samples: expected a whole number from 40 to 1000000, got '$value'" \
        calibrate hbf -o a.csv --samples "$value"
done
quick_refuses "--seed: expected a whole number from 0 to 2147483647, got '-1'" a.csv --seed=-1
quick_refuses "--jobs: expected a whole number from 1 to 256, got '0'" a.csv --jobs 0
quick_refuses 'policy=h3-demand-order: policy is given twice' a.csv policy=h3-demand-order
quick_refuses \
    'buffer: the range of a number comes from the field table; give one value to hold it' \
    a.csv buffer=8MB,16MB
quick_refuses 'cannot write none/a.csv: No such file or directory' none/a.csv
mkdir directory.runs
quick_refuses 'directory.runs: Is a directory' directory
rmdir directory.runs
mkdir directory
quick_refuses 'cannot write directory: Is a directory' directory
rmdir directory
mkdir locked
chmod 555 locked
if [ -w locked ]; then
    skip 'this user can write everywhere'
else
    quick_refuses 'cannot write locked/a.csv: Permission denied' locked/a.csv
fi
rmdir locked
if [ -c /dev/full ]; then
    # Found out before the first of the runs, which would take minutes.
    check_run 'no room for the calibration' 2 '' \
        'stallcast: cannot write /dev/full: No space left on device' timeout 20 \
        "$program" calibrate hbf -n 100000 model=llama-405b -o /dev/full
    check_run 'nor on standard output' 2 '' \
        'stallcast: cannot write standard output: No space left on device' timeout 20 sh -c "
        '$program' calibrate hbf -n 100000 model=llama-405b -o - >/dev/full"
    ln -s /dev/full full.csv
    quick_refuses 'cannot write full.csv: No space left on device' full.csv
    rm full.csv
    ok 'nothing is left beside a device' [ ! -e /dev/full.runs ]
else
    skip 'there is no /dev/full'
    skip 'there is no /dev/full'
    skip 'there is no /dev/full'
    skip 'there is no /dev/full'
fi
ok 'nothing is left behind' sh -c '[ -z "$(ls)" ]'

# ---- what cannot be fitted says why ----

check_run 'no sample has an answer' 2 '' \
    'stallcast: none of 40 samples has an answer, 40 of them since tensor_parallel: 1024 is more than heads' \
    stallcast calibrate hbf -n 40 tensor_parallel=1024 -o void.csv
check_run 'also when the runs are there already' 2 '' \
    'stallcast: none of 40 samples has an answer, 40 of them since tensor_parallel: 1024 is more than heads' \
    stallcast calibrate hbf -n 40 tensor_parallel=1024 -o void.csv
rm void.csv.runs
check_run 'nor what is too large for the simulator' 2 '' \
    'stallcast: none of 40 samples has an answer, 40 of them too large to simulate' \
    stallcast calibrate hbf -n 40 model=llama-8b part=ffn hidden=1e6 ffn=1e7 page=64B -o void.csv
rm void.csv.runs
stallcast calibrate hbf -n 40 model=llama-8b policy=h3 hbm_latency=10us -o some.csv >report 2>talk
ok 'some have none' grep -q '; \([1-9][0-9]*\) without an answer, \1 of them since latency: .* is below hbm_latency, ' talk
ok 'what is unknown for that is a dash, explained' sh -c "
    grep -q '^h3 .* - ' report && grep -q '^- in a column: unknown, from too few held-out ' talk"
# Nothing is fitted in the ideal: no condition number.
stallcast calibrate hbf -n 40 policy=ideal model=llama-3.2-1b -o ideal.csv >report 2>talk
ok 'a statistic that is unknown is said to be so' \
    grep -q '; condition number unknown (the samples determine no coefficient); residual sd 0\.' talk
ok 'a fit worse than none is said to be so' \
    grep -q '; R2 -[0-9.]* (below 0: one slowdown for all would fit better)$' talk
stallcast calibrate stream -n 40 sms=1 warps_per_sm=1 loads_per_warp=1 outstanding_per_warp=1 -o one.csv \
    >>report 2>>talk
ok 'no nan and no inf' sh -c '! grep -Ewi "[-+]?(nan|inf|infinity)" report talk'
rm -f some.csv* ideal.csv* one.csv* report talk

# ---- one calibration ----

calibrate whole.csv --jobs 1 >report 2>talk
ok 'a small calibration' [ $? -eq 0 ]
ok 'it says what it did' grep -q \
    '^60 samples (60 run now): .* to fit, .* for intervals, .* held out; 0 without an answer$' talk
ok 'and reports coefficients and held-out errors' sh -c \
    "grep -q '^order_factor .* identified$' report && grep -q '^hold-out  *n ' report &&
     grep -q '^all  ' report"
ok 'the runs are kept: a heading and one line for each sample' sh -c "
    [ \$(wc -l <whole.csv.runs) -eq 61 ] && head -n 1 whole.csv.runs | grep -q '^stallcast runs 2,' &&
    [ \$(tail -n +2 whole.csv.runs | cut -d , -f 1 | sort -un | wc -l) -eq 60 ]"
calibrate - >piped.csv 2>talk_of_piped
ok '-o -: the calibration and nothing else on standard output' cmp whole.csv piped.csv
ok 'the report is beside it' sh -c 'cat talk report | sort >a; sort talk_of_piped | cmp a -'
ok 'and no runs are kept' [ ! -e ./-.runs ]
calibrate two.csv --jobs 2 >report2 2>talk2
ok '--jobs 2: the same bytes' cmp whole.csv two.csv
ok 'and the same report' sh -c 'cmp report report2 && cmp talk talk2'
cp whole.csv.runs runs
cp whole.csv kept.csv
calibrate whole.csv 2>talk >report2
ok 'once more: nothing is run' grep -q '^60 samples (0 run now)' talk
ok 'nothing changes' sh -c 'cmp runs whole.csv.runs && cmp kept.csv whole.csv && cmp report report2'
quick seed1.csv --seed 1 >/dev/null 2>&1
quick default.csv >/dev/null 2>&1
quick seed2.csv --seed 2 >/dev/null 2>&1
ok 'the seed is 1 if none is given' cmp seed1.csv default.csv
ok 'another seed, other samples' sh -c '! cmp -s seed1.csv.runs seed2.csv.runs'
ok 'what the samples say nothing about stays as it was' sh -c "
    '$program' list fields hbf -f csv | awk -F , '\$1 == \"lead_factor\"' |
        grep -q \",\$(awk -F , '/^parameter,lead_factor/ { print \$4 + 0 }' seed2.csv),\""

# ---- stopped in the middle ----

"$program" calibrate hbf --samples 60 model=llama-8b policy=slipstream,h3 -o killed.csv --jobs 1 \
    >/dev/null 2>&1 &
running=$!
tries=0
while [ $tries -lt 500 ] && ! { [ -f killed.csv.runs ] && [ "$(wc -l <killed.csv.runs)" -gt 10 ]; }; do
    sleep 0.02
    tries=$((tries + 1))
done
kill -9 $running 2>/dev/null
wait $running 2>/dev/null
done_before=$(($(wc -l <killed.csv.runs) - 1))
head -n $((done_before + 1)) killed.csv.runs >before
if [ "$done_before" -lt 60 ]; then
    ok 'killed: no calibration yet' [ ! -e killed.csv ]
    calibrate killed.csv --jobs 2 >/dev/null 2>talk
    ok "it goes on where it was ($done_before of 60 were done)" \
        grep -q "^60 samples ($((60 - done_before)) run now)" talk
    ok 'what was done stands as it was' sh -c \
        "head -n $((done_before + 1)) killed.csv.runs | cmp before -"
    ok 'no sample is run twice' sh -c "
        [ \$(wc -l <killed.csv.runs) -eq 61 ] &&
        [ \$(tail -n +2 killed.csv.runs | cut -d , -f 1 | sort -un | wc -l) -eq 60 ]"
    ok 'the calibration is that of a run without a break' cmp whole.csv killed.csv
else
    for check in 1 2 3 4 5; do
        skip 'it was done before it could be killed'
    done
fi

head -n 21 seed1.csv.runs >cut.csv.runs
printf '35,1.' >>cut.csv.runs
quick cut.csv >/dev/null 2>talk
ok 'a line that was cut off is run again' grep -q '^40 samples (20 run now)' talk
ok 'with the same result' sh -c "
    cmp seed1.csv cut.csv && sort cut.csv.runs >a && sort seed1.csv.runs | cmp a -"
head -c 17 seed1.csv.runs >cut.csv.runs
quick cut.csv >/dev/null 2>talk
ok 'a heading that was cut off is no heading' sh -c \
    "grep -q '^40 samples (40 run now)' talk && cmp seed1.csv cut.csv"

# ---- a full disk ----

(
    ulimit -f 1
    "$program" calibrate hbf --samples 40 model=llama-3.2-1b tp=4 policy=h3 -o big.csv >out 2>err
    echo $? >code
)
ok 'no room for the runs' sh -c \
    "grep -qx 2 code && grep -qx 'stallcast: cannot write big.csv.runs: File too large' err"
lines=$(wc -l <big.csv.runs)
ok 'no calibration then' sh -c '[ ! -s out ] && [ ! -e big.csv ]'
quick big.csv >/dev/null 2>talk
ok 'with room again it goes on' sh -c \
    "grep -q '^40 samples ($((41 - lines)) run now)' talk && cmp seed1.csv big.csv"
if [ -c /dev/full ]; then
    check_run 'no room for the report' 2 '' \
        'stallcast: cannot write standard output: No space left on device' sh -c "
        '$program' calibrate hbf -n 40 model=llama-3.2-1b tp=4 policy=h3 -o seed1.csv \
            2>err >/dev/full; code=\$?; grep ^stallcast err >&2; exit \$code"
else
    skip 'there is no /dev/full'
fi

# ---- two at once ----

mkfifo hold
# An unfinished journal, locked as another process would have it.
head -n 21 seed1.csv.runs >taken.csv.runs
cp taken.csv.runs before
perl -MFcntl=:DEFAULT,:flock -e '
    open my $file, "+<", "taken.csv.runs" or die;
    my $lock = pack "s s x4 q q l x4", F_WRLCK, 0, 0, 0, 0;
    fcntl $file, F_SETLK, $lock or die "no lock: $!";
    open my $ready, ">", "ready" or die;
    close $ready;
    open my $hold, "<", "hold"; <$hold>' 2>/dev/null &
holder=$!
tries=0
while [ $tries -lt 250 ] && [ ! -e ready ] && kill -0 $holder 2>/dev/null; do
    sleep 0.02
    tries=$((tries + 1))
done
if [ -e ready ]; then
    quick_refuses "taken.csv.runs: another calibrate (process $holder) is at work on it: let it end, or give another -o" \
        taken.csv
    ok 'nothing is written to it' sh -c 'cmp before taken.csv.runs && [ ! -e taken.csv ]'
    echo >hold
    wait $holder
    quick taken.csv >/dev/null 2>talk
    ok 'and when that has ended it goes on' sh -c \
        "grep -q '^40 samples (20 run now)' talk && cmp seed1.csv taken.csv"
else
    kill $holder 2>/dev/null
    skip 'no lock from perl here'
    skip 'no lock from perl here'
    skip 'no lock from perl here'
fi
rm -f ready hold

# ---- runs of something else ----

# damaged NAME REASON: quick goes on from bad.csv.runs; that stays as it is.
damaged() {
    cp bad.csv.runs before
    check_run "$1" 2 '' "stallcast: bad.csv.runs:$2" quick bad.csv
    ok 'left as it was' sh -c 'cmp before bad.csv.runs && [ ! -e bad.csv ]'
}
heading=$(head -n 1 seed1.csv.runs)
# of_others NAME: bad.csv.runs has another heading.
of_others() {
    damaged "$1" "1: expected the runs of these scenarios, '$heading', got '$(head -n 1 bad.csv.runs)': give the keys, seed and samples of those, or another -o"
}
cp seed2.csv.runs bad.csv.runs
of_others 'runs of another seed'
cp whole.csv.runs bad.csv.runs
of_others 'of other keys'
sed '1s/2,[^,]*/2,0/' seed1.csv.runs >bad.csv.runs
of_others 'of another simulator'
sed '1s/runs 2/runs/; 2,$s/,[0-9a-f]*$//' seed1.csv.runs >bad.csv.runs
of_others 'of a format without hashes'
# foreign NAME FIRST: bad.csv.runs is nothing of calibrate.
foreign() {
    damaged "$1" "1: expected '$heading', since calibrate keeps its finished runs there, got '$2': it is some other file, give another -o"
}
echo hello >bad.csv.runs
foreign 'not runs at all' hello
printf 'hello' >bad.csv.runs
foreign 'without a line end' hello
tail -n +2 seed1.csv.runs >bad.csv.runs
foreign 'without a heading' "$(sed -n 2p seed1.csv.runs)"
printf '\0\1\2binary' >bad.csv.runs
foreign 'that begins with a NUL' ''
sed 's/$/\r/' seed1.csv.runs >bad.csv.runs
damaged 'with CRLF' '1: expected lines that end in LF, as calibrate writes them, got CRLF: undo that, or give another -o'
# A line in the middle.
row=$(sed -n 4p seed1.csv.runs)
hash=${row##*,}
for line in hello 7 7, ,1.5 7,1.5 7,1.5,2 "-7,1.5,$hash" "7,-1.5,$hash" "40,1.5,$hash" "7,nan,$hash" \
    "7,inf,$hash" " $row" "$row " "$row,2" "3${row#2}" "${row%,*}1,$hash" \
    "$(echo "$row" | tr a-f A-F)" "${row%?}" "${row}0" "$(sed -n 4p seed2.csv.runs)"; do
    {
        head -n 5 seed1.csv.runs
        echo "$line"
        tail -n +6 seed1.csv.runs
    } >bad.csv.runs
    check_run "a line '$line'" 2 '' \
        "stallcast: bad.csv.runs:6: expected sample,slowdown,hash as calibrate wrote it, got '$line': without that line the sample is run again" \
        quick bad.csv
done
sed -i 6d bad.csv.runs
quick bad.csv >/dev/null 2>talk
ok 'without it, it goes on' sh -c "grep -q '^40 samples (0 run now)' talk && cmp seed1.csv bad.csv"
digit=0
while [ $digit -lt 10 ]; do # somewhere in the fourth significant digit of every row
    sed "2,\$s/^\([0-9]*,[0-9]*\.[0-9]\{2\}\)[0-9]/\1$digit/" seed1.csv.runs >bad.csv.runs
    quick bad.csv >out 2>err && cat err >>believed
    digit=$((digit + 1))
done
ok 'a changed digit is never believed' [ ! -e believed ]
rm -f bad.csv
{
    head -n 5 seed1.csv.runs
    printf '%0400d\n' 7
    tail -n +6 seed1.csv.runs
} >bad.csv.runs
damaged 'a very long line' "6: expected sample,slowdown,hash as calibrate wrote it, got '$(printf '%0255d' 0)': without that line the sample is run again"
rm -f bad.csv.runs

# ---- a calibration in use ----

row() {
    judged "$@" policy=slipstream >"$results/row" && tail -n 1 "$results/row"
}
widths() {
    for level in 0.5 0.7 0.9 90% 0.93; do
        row whole.csv --level $level
    done
}
widths >levels
ok 'a higher level, a wider interval around the same answer' awk -F , '
    NR > 1 && $3 != slowdown { exit 1 }
    !($4 < $3 && $3 < $5 && $6 == 0) { exit 1 }
    { slowdown = $3; if ($5 - $4 < width) exit 1; width = $5 - $4 }
    END { exit !(NR == 5 && width > 0) }' levels
ok '0.9 is 90 %, and what is taken if none is given' sh -c "
    [ \"\$(sed -n 3p levels)\" = \"\$(sed -n 4p levels)\" ] && sed -n 3p levels >want
    '$program' estimate hbf model=llama-8b policy=slipstream --params whole.csv -f csv \
        -c slowdown,slowdown_lo,slowdown_hi,extrapolated | tail -n 1 | cmp want -"
judged_refuses 'whole.csv: too few samples were set aside for --level 0.99' whole.csv --level 0.99
ok 'what comes with the program has enough of them' sh -c "
    '$program' estimate hbf model=llama-8b --level 0.99 -f csv -c slowdown_lo,slowdown_hi |
        tail -n 1 | awk -F , '{ exit !(\$2 > 0 && \$3 > \$2) }'"
for level in 1.5 0.49 0.995 0 -1 nan x 10%; do
    judged_refuses "--level: expected a probability from 0.5 to 0.99, got '$level'" whole.csv \
        --level "$level"
done
judged_refuses '--level needs a value: --level P' whole.csv --level
check_run 'inside and outside of what was sampled, by policy' 0 'model,policy,extrapolated
llama-8b,on-demand,1
llama-8b,h3,0
llama-8b,slipstream,0' '' stallcast estimate hbf model=llama-8b policy=on-demand,h3,slipstream \
    --params whole.csv -f csv -c extrapolated
for inside in buffer=8MB buffer=640MB latency=3us page=16384B sms=64; do
    ok "$inside is inside" sh -c \
        "'$program' estimate hbf model=llama-8b $inside --params whole.csv -f csv -c extrapolated |
            tail -n 1 | grep -q ',0\$'"
done
for outside in buffer=7.9MB buffer=650MB latency=2.9us page=1024B sms=193 sshr=16; do
    ok "$outside is outside" sh -c \
        "'$program' estimate hbf model=llama-8b $outside --params whole.csv -f csv -c extrapolated |
            tail -n 1 | grep -q ',1\$'"
done
quick held.csv buffer=16MB >/dev/null 2>&1
check_run 'a number that was held is known at its value alone' 0 'model,buffer_bytes,extrapolated
llama-3.2-1b,16000000,0
llama-3.2-1b,32000000,1' '' sh -c "'$program' estimate hbf model=llama-3.2-1b tp=4 policy=h3 \
    buffer=16MB,32MB --params held.csv -f csv -c extrapolated | cut -d , -f 1,4,5"
check_run 'another model than was sampled is outside' 0 'model,policy,buffer_bytes,extrapolated
llama-8b,h3,16000000,1' '' stallcast estimate hbf model=llama-8b policy=h3 buffer=16MB \
    --params held.csv -f csv -c extrapolated

# ---- a calibration that is damaged or foreign ----

judged_refuses 'none.csv: No such file or directory' none.csv
judged_refuses '.: Is a directory' .
: >bad.csv
judged_refuses 'bad.csv: the file is empty; a header line was expected' bad.csv
cp seed1.csv.runs bad.csv
ok 'runs are no calibration' sh -c \
    "! '$program' estimate hbf model=llama-8b --params bad.csv >out 2>err && [ ! -s out ] &&
     grep -q '^stallcast: bad.csv:1: is not the header of a calibration file: ' err"
sed '/^meta,system/s/hbf/stream/' whole.csv >bad.csv
judged_refuses "bad.csv:3: value: is another system than the one that is asked about, got 'stream'" \
    bad.csv
refuses "whole.csv:3: value: is another system than the one that is asked about, got 'hbf'" \
    estimate stream --params whole.csv
sed '/^meta,format/s/1/2/' whole.csv >bad.csv
judged_refuses "bad.csv:2: value: is a format that this version does not read; it reads 1, got '2'" \
    bad.csv
sed '/^parameter,clog_factor/s/clog_factor,,[^,]*/clog_factor,,nan/' whole.csv >bad.csv
judged_refuses "bad.csv:12: value: is not a finite number, got 'nan'" bad.csv
hash=$(tail -n 1 whole.csv | cut -d , -f 4)
last=$(wc -l <whole.csv)
sed '/^parameter,order_factor/s/order_factor,,1\.0/order_factor,,1.1/; /^parameter,order_factor/s/\([0-9]\),\(0\.[0-9]*\),[0-9.]*,[0-9.]*,/\1,\2,0.9,1.9,/' \
    whole.csv >bad.csv
judged_refuses "bad.csv:$last: value: does not fit the rows above: they were changed, got '$hash'" \
    bad.csv
sed '/^parameter/s/clog_factor/clag_factor/' whole.csv >bad.csv
judged_refuses "bad.csv:$last: value: does not fit the rows above: they were changed, got '$hash'" \
    bad.csv
sed '/^meta,hash/d' whole.csv >bad.csv
judged_refuses 'bad.csv: has no meta hash: its end is missing' bad.csv
cat whole.csv whole.csv >bad.csv
ok 'twice the file is not a file' sh -c \
    "! '$program' estimate hbf model=llama-8b --params bad.csv >out 2>err && [ ! -s out ]"
every=0
bytes=$(wc -c <whole.csv)
cut=0
while [ $cut -lt $((bytes - 1)) ]; do
    head -c $cut whole.csv >bad.csv
    "$program" estimate hbf model=llama-8b --params bad.csv >out 2>err
    [ $? -eq 2 ] && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] || every=1
    cut=$((cut + 97))
done
ok 'cut off anywhere: refused in one line' [ $every -eq 0 ]
sed 's/$/\r/' whole.csv >bad.csv
row bad.csv >dos 2>&1
row whole.csv >unix
ok 'line ends of another system do no harm, or are refused' sh -c \
    "cmp -s dos unix || grep -q '^stallcast: bad.csv' dos"
refuses 'none.csv: No such file or directory' validate hbf --params none.csv

# ---- a system without coefficients ----

stallcast calibrate stream --samples 40 sms=4 loads_per_warp=8 -o stream.csv >report 2>talk
ok 'stream: only intervals' sh -c \
    "! grep -q ^parameter stream.csv && grep -q '^conformal,' stream.csv && grep -q '^all ' report"
ok 'in use' sh -c "'$program' estimate stream --params stream.csv -f csv \
    -c slowdown,slowdown_lo,slowdown_hi | tail -n 1 | awk -F , '{ exit !(\$2 <= \$1 && \$1 <= \$3) }'"

# ---- kernels held out whole ----

stallcast calibrate prefetch --samples 64 policy=sk,sk+sc iterations=12 -o kernels.csv \
    >report 2>talk
ok 'prefetch: whole kernels are held out, none of them fitted to' sh -c \
    "cat report talk; [ \$(sed -n '/^held out/,\$p' report | grep -c '^[a-z-]*  *[1-9]') -ge 4 ]"
# The table of the report, and the mean over its rows by their points.
sed -n '/^held out/,$p' report | awk '
    NR > 1 && NF == 7 && $1 != "all" { n += $2; for (m = 3; m <= 7; m++) sum[m] += $2 * $m }
    NF == 7 && $1 == "all" { printf "%d", $2; for (m = 3; m <= 7; m++) printf " %.1f", $m; print ""
                             printf "%d", n; for (m = 3; m <= 7; m++) printf " %.1f", sum[m] / n; print "" }' >means
"$program" list scores prefetch --params kernels.csv -f csv | awk -F, '
    $2 == "all" && $1 == "kernel_points" { printf "%d", $3 }
    $2 == "all" && $1 ~ /^kernel_.*_error$/ { printf " %.1f", 100 * $3 }
    END { print "" }' >scores
ok 'their errors stand in the file too, and are the mean over kernels' sh -c 'cat means scores
    [ "$(wc -l <means)" -eq 2 ] && awk "{ for (i = 1; i <= NF; i++) v[FILENAME, FNR, i] = \$i; n = NF }
        function off(a, b) { return a > b ? a - b : b - a }
        END { for (i = 1; i <= 6; i++) {
                  if (off(v[\"means\", 1, i], v[\"scores\", 1, i]) > 0.06 + 0.006 * v[\"means\", 1, i]) exit 1
                  if (off(v[\"means\", 1, i], v[\"means\", 2, i]) > 0.06 + 0.006 * v[\"means\", 1, i]) exit 1 }
              exit n != 6 }" means scores'

finish
