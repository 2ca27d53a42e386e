#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# stallcast template: a sheet for each system that estimate --from answers as it is, whose keys
# survive the way there and back, and what each key is.

. "${0%/*}/lib.sh"

systems=$("$program" list systems -f csv | sed '1d;s/,.*//')

# columns FILE DELIMITER: the names of the header, a line each.
columns() {
    head -n 1 "$1" | tr "$2" '\n'
}
# of FILE NAME: a column by its name.
of() {
    awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i }
        NR > 1 && at { print $at }' "$1"
}
rows() {
    sed 1d "$1" | wc -l
}

# ---- every system ----

for system in $systems; do
    for options in '' '--columns all' "--delimiter ; --decimal ," '--format tsv'; do
        # shellcheck disable=SC2086
        "$program" template $system $options >plan.csv 2>err
        code=$?
        # A tab may stand for a decimal comma as well, so tsv says which.
        case $options in *tsv) reading='--decimal .' ;; *) reading= ;; esac
        # shellcheck disable=SC2086
        "$program" estimate $system --from plan.csv $reading -f json >answers.json 2>>err
        code=$code$?
        ok "$system $options: is answered without a word" sh -c "cat err; [ $code = 00 ] && [ ! -s err ]"
        ok "$system $options: each row has an answer" perl -MJSON::PP -e '
            local $/;
            open my $file, "<", "answers.json" or die;
            my $rows = decode_json(<$file>);
            die "few rows" unless @$rows > 3;
            for (@$rows) { die "no slowdown" unless $_->{slowdown} > 0; die $_->{error} if $_->{error} }'
    done
    "$program" template $system >plan.csv
    "$program" estimate $system --from plan.csv --digits 17 -c slowdown,time_s >brief.csv
    "$program" template $system -c all >all.csv
    "$program" estimate $system --from all.csv --digits 17 -c slowdown,time_s >wide.csv
    of brief.csv slowdown >want
    of wide.csv slowdown >got
    ok "$system: all keys with their defaults are the same scenarios" cmp want got
    "$program" list fields $system -f csv --delimiter '|' | sed '1d;s/|.*//;s/"//g' >keys
    ok "$system: --columns all has each key" sh -c \
        'head -n 1 all.csv | tr , "\n" >names; [ $(wc -l <names) = $(wc -l <keys) ] &&
         paste keys names | awk "index(\$2, \$1) != 1 { print; bad = 1 } END { exit bad }"'
    ok "$system: the brief one has few" sh -c \
        'n=$(head -n 1 plan.csv | tr , "\n" | wc -l); [ $n -ge 4 ] && [ $n -le 30 ]'
    policies=$("$program" list policies $system -f csv | sed 1d | wc -l)
    if [ "$policies" -gt 0 ]; then
        "$program" list policies $system -f csv | sed 1d | cut -d, -f2 >want
        of plan.csv policy >got
        ok "$system: a row for each policy" cmp want got
        # shellcheck disable=SC2046
        "$program" estimate $system policy=all $(of plan.csv model | sed -n '1s/^/model=/p') \
            -f csv --digits 17 2>/dev/null >direct.csv
        of direct.csv slowdown >want
        of brief.csv slowdown >got
        ok "$system: with the answers that the defaults have" cmp want got
    fi
done

# ---- what is given ----

given() {
    "$program" template hbf model=llama-70b "$@" >plan.csv 2>err
}
given policy=slipstream,h3 buffer=8MiB:64MiB:*2 latency=3317.7ns
ok 'values that are given make the rows' test "$(rows plan.csv)" = 8
ok 'in a unit that brings every one back' sh -c \
    'head -n 1 plan.csv | grep -q ",buffer_MB,latency_us,"'
"$program" estimate hbf --from plan.csv -c buffer,latency --digits 17 >answers.csv 2>/dev/null
of answers.csv buffer_bytes | head -n 4 >got
printf '%s\n' 8388608 16777216 33554432 67108864 >want
ok 'as they were' sh -c 'cmp got want && grep -q 3.3177e-06 answers.csv'
"$program" template stream latency=331cycles clock=1.132GHz >plan.csv
"$program" estimate stream --from plan.csv -c slowdown --digits 17 >brief.csv
"$program" estimate stream latency=331cycles clock=1.132GHz warps_per_sm=1,3,8,23,64 -f csv \
    -c slowdown --digits 17 >direct.csv
of brief.csv slowdown >got
of direct.csv slowdown >want
ok 'cycles become seconds without loss' cmp got want
given policy=h3 --columns buffer,batch
check_run '--columns, with what was given' 0 'model,policy,buffer_MB,batch
llama-70b,h3,40,' '' cat plan.csv
check_run '--columns takes headers too' 0 'model,policy,latency_us
llama-8b,h3,' '' stallcast template hbf policy=h3 -c latency_ms
check_run 'a preset that is named sets what the sheet leaves empty' 0 'gpu,policy,memory_capacity_GB
gh200,mapped,' '' stallcast template uvm gpu=gh200 policy=mapped -c memory_capacity
check_run 'a comma for a point' 0 'model;policy;latency_us
llama-8b;h3;2,5' '' stallcast template hbf policy=h3 -c latency latency=2500ns --decimal ,
check_run 'as a table' 0 'model     policy  latency_us
llama-8b  h3             2.5' '' \
    stallcast template hbf policy=h3 -c latency latency=2500ns -f table
check_run '-o' 0 '' '' stallcast template hbf policy=h3 -c latency -o out.csv
check_run 'writes it' 0 'model,policy,latency_us
llama-8b,h3,' '' cat out.csv

# ---- what the keys are ----

for system in $systems; do
    "$program" template $system --columns all --help-file keys.csv -o plan.csv
    ok "$system: the key sheet has a row for each key" sh -c \
        "[ \$('$program' list fields $system -f csv | wc -l) = \$(wc -l <keys.csv) ]"
    ok "$system: and the units of the template" perl -e '
        sub rows { open my $f, "<", $_[0] or die; map { chomp; [split /,/] } <$f> }
        my ($names) = rows("plan.csv");
        my @keys = rows("keys.csv");
        shift @keys;
        for my $i (0 .. $#keys) {
            my ($key, $unit) = @{$keys[$i]};
            $unit =~ s{^1/}{/};
            $unit =~ s{^/}{per_} or $unit =~ s{/}{_per_};
            my $want = $unit eq "" ? $key : "${key}_$unit";
            die "$names->[$i], not $want\n" if $names->[$i] ne $want;
        }'
done
"$program" template hbf --help-file keys.csv >/dev/null
check_run 'a row of it' 0 'buffer,MB,4.096 kB to 1 TB,40 MB,,"staging SRAM, all stacks together",
phase,,,decode,decode | prefill,decode or prefill,' '' grep -E '^(buffer|phase),' keys.csv
ok 'a preset has its rows' grep -q '^gpu,,,a100-sim,.*| h100 |.*,"GPU: a row of gpus, or FILE:ROW",' keys.csv

# ---- what is refused ----

refuses 'template: expected a system first: template SYSTEM [key=value ...] [options]' template
refuses '--columns: latencyy is not a key of hbf: did you mean latency?' template hbf -c latencyy
refuses '--columns: slowdown is not a key of hbf' template hbf -c slowdown
refuses "elephants is not a key of hbf: 'stallcast list fields hbf' shows them" template hbf elephants=1
refuses "model=llama: expected a row of models, got 'llama': 'stallcast list models' shows them" \
    template hbf model=llama
refuses '--help-file and the template cannot both go to standard output' template hbf --help-file -
refuses '--help-file and the template cannot both go to a.csv' template hbf --help-file a.csv -o a.csv
refuses 'cannot write none/keys.csv: No such file or directory' \
    template hbf --help-file none/keys.csv -o never.csv
refuses 'cannot write none/plan.csv: No such file or directory' \
    template hbf --help-file never.csv -o none/plan.csv
ok 'then neither is written' sh -c '! ls -A | grep never'

finish
