#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Answers outside of what was calibrated are told, once, on standard error, and
# never in the data.

. "${0%/*}/lib.sh"

# csv NAME STDOUT STDERR WORD...: answers as CSV.
csv() {
    csv_name=$1 csv_out=$2 csv_err=$3
    shift 3
    check_run "$csv_name" 0 "$csv_out" "$csv_err" stallcast estimate hbf model=llama-8b -f csv "$@"
}

one='stallcast: extrapolated, the interval may not hold: outside of what was sampled'
some='rows are extrapolated, their intervals may not hold; outside of what was sampled in the first'

csv 'inside: no word' 'model,policy,slowdown
llama-8b,ideal,1' '' policy=ideal -c slowdown
csv 'one scenario: its keys' 'model,policy,tensor_parallel,slowdown
llama-8b,ideal,4,1' "$one: tensor_parallel" policy=ideal tp=4 -c slowdown
csv 'all of them, each once' 'model,policy,tensor_parallel,latency_s,slowdown
llama-8b,ideal,4,0.001,1' "$one: latency, tensor_parallel" policy=ideal tp=4 latency=1ms -c slowdown
csv 'a sweep: how many rows' 'model,policy,tensor_parallel,slowdown
llama-8b,ideal,1,1
llama-8b,ideal,2,1
llama-8b,ideal,4,1' "stallcast: 2 of 3 $some: tensor_parallel" policy=ideal tp=1,2,4 -c slowdown
csv 'of the rows that are kept' 'model,policy,tensor_parallel,slowdown
llama-8b,ideal,1,1
llama-8b,ideal,4,1' "stallcast: 1 of 2 $some: tensor_parallel" policy=ideal tp=1,2,4 \
    -c slowdown --only 'parallel=[14]'
csv 'the keys of the first of them' 'model,policy,latency_s,tensor_parallel,slowdown
llama-8b,ideal,0.00002,2,1
llama-8b,ideal,0.001,2,1' "stallcast: 2 of 2 $some: tensor_parallel" policy=ideal \
    latency=20us,1ms tp=2 -c slowdown
csv 'who asks for the column has it there' 'model,policy,tensor_parallel,extrapolated
llama-8b,ideal,4,1' '' policy=ideal tp=4 -c extrapolated
csv 'keys alone have no interval' 'model,policy,tensor_parallel
llama-8b,ideal,4' '' policy=ideal tp=4 -c tensor_parallel

for format in table csv tsv json jsonl md; do
    "$program" estimate hbf model=llama-8b policy=h3 tp=4 -f $format >out 2>err
    put_lines "$one: tensor_parallel" >want
    ok "$format: on standard error" cmp want err
    ok "$format: not in the data" sh -c "[ -s out ] && ! grep -q 'may not hold' out"
done
check_run 'with -o too' 0 '' "$one: tensor_parallel" \
    stallcast estimate hbf model=llama-8b tp=4 -o answers.csv

printf 'tp,policy\n1,ideal\n2,ideal\nmany,ideal\n4,ideal\n' >in.csv
check_run 'a file: one line at the end, beside what is bad' 1 'tp,policy,slowdown,error
1,ideal,1,
2,ideal,1,
many,ideal,,"in.csv:4: tp: expected a pure number, got '"'many'"'"
4,ideal,1,' "stallcast: 2 of 4 $some: tensor_parallel
stallcast: 1 of 4 rows have no answer; the first: in.csv:4: tp: expected a pure number, got 'many'" \
    stallcast estimate hbf --from in.csv model=llama-8b -c slowdown
awk -v OFS=, 'BEGIN { print "tp,latency"; for (i = 1; i <= 20000; i++) {
    print i < 3000 ? 1 : 2, i < 3001 ? "20us" : "1ms" } }' >in.csv
for jobs in 1 2 8; do
    check_run "a long file, --jobs $jobs" 0 '' "stallcast: 17001 of 20000 $some: tensor_parallel" \
        stallcast estimate hbf --from in.csv model=llama-8b -j $jobs -o out.csv
done
check_run 'a file: who asks for the column has it there' 0 '' '' \
    stallcast estimate hbf --from in.csv model=llama-8b -c slowdown,extrapolated -o out.csv
ok 'as often' sh -c '[ $(grep -c ",1,$" out.csv) -eq 17001 ]'

# What adds the same to the time in both needs no sample; what multiplies does.
uvm='uvm footprint=2GiB memory_capacity=1GiB policy=ember-static,uvm'
# shellcheck disable=SC2086
check_run 'a fixed time is not outside, however long' 0 'extrapolated
0
0' '' sh -c "'$program' estimate $uvm fixed=100s static_setup=3s -c extrapolated -f csv | sed 's/.*,//'"
# shellcheck disable=SC2086
check_run 'passes are' 0 'extrapolated
1
1' '' sh -c "'$program' estimate $uvm passes=20 -c extrapolated -f csv | sed 's/.*,//'"
for command in estimate simulate; do
    for keys in 'fixed=0s static_setup=0s' 'fixed=100s static_setup=3s'; do
        # shellcheck disable=SC2086
        "$program" $command $uvm $keys -c time_s -f csv --digits all 2>err | sed '1d;s/.*,//'
    done >times
    ok "$command adds them" awk '{ t[NR] = $1 } END {
        a = t[3] - t[1] - 103; b = t[4] - t[2] - 100; exit NR != 4 || a * a > 1e-16 || b * b > 1e-16 }' times
done

finish
