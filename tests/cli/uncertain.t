#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Keys given as low~high: quantiles against answers at the quantiles of the key, formats, refusals.

. "${0%/*}/lib.sh"

# near A B SHARE
near() {
    perl -e '($a, $b, $share) = @ARGV; print "$a and $b\n"; exit !(abs($a - $b) <= $share * abs($b))' -- "$@"
}
# column N FILE: of the last row.
column() {
    sed -n "\$p" "$2" | cut -d, -f"$1"
}
# at WORD: the slowdown there.
at() {
    "$program" estimate hbf model=llama-70b "$1" -c slowdown -f csv --digits all 2>/dev/null |
        sed -n '$s/.*,//p'
}

# ---- quantiles ----

# The slowdown rises with the latency, so its quantiles are those of the latency, whose logarithm
# is uniform: 15 us x (25 / 15)^q.
"$program" estimate hbf model=llama-70b latency=15us~25us -c slowdown -f csv >log.csv
ok 'the median' near "$(column 3 log.csv)" "$(at latency=19.36492us)" 1e-3
ok '5 %' near "$(column 2 log.csv)" "$(at latency=15.38806us)" 1e-3
ok '95 %' near "$(column 4 log.csv)" "$(at latency=24.36956us)" 1e-3
# Launch adds to the time and is uniform.
"$program" estimate stream launch=1us~3us -c time_s -f csv --digits all 2>/dev/null >even.csv
for q in '1 1.1us' '2 2us' '3 2.9us'; do
    set -- $q
    ok "a uniform key at $2" near "$(column $1 even.csv)" \
        "$("$program" estimate stream launch=$2 -c time_s -f csv --digits all 2>/dev/null | sed -n '$s/.*,//p')" 1e-3
done
check_run 'whole numbers stay whole, ends included' 0 'warps_per_sm_p5  warps_per_sm  warps_per_sm_p95
              4             5                 6' '' \
    stallcast estimate stream warps=4~6 -c warps_per_sm
check_run 'several keys are independent: a mixture of words gives the usual one' 0 \
'slowdown_p5  slowdown  slowdown_p95  time_p5 (us)  time (us)  time_p95 (us)  bound
      1.395     2.019         2.883         13.46      16.64             21  latency' \
    'stallcast: extrapolated, the interval may not hold: outside of what was sampled: latency' \
    stallcast estimate stream latency=200cycles~400cycles warps=4~12
check_run 'beside a sweep' 0 'policy      slowdown_p5  slowdown  slowdown_p95
on-demand         8.412     10.57         13.29
slipstream        0.938      0.97          1.08' '' \
    stallcast estimate hbf model=llama-70b policy=on-demand,slipstream latency=15us~25us \
    buffer=8MB~64MB -c slowdown
check_run 'CSV, the unit last' 0 'time_p5_s,time_s,time_p95_s,bound
0.104425,0.107997,0.119765,SM demand' '' sh -c "
    '$program' estimate hbf model=llama-70b latency=15us~25us buffer=8MB~64MB -c time_s,bound -f csv | cut -d, -f2-"

# ---- samples and seed ----

for words in '' '--seed 1' '--samples 1024'; do
    "$program" estimate hbf model=llama-70b latency=15us~25us -c slowdown -f csv $words >again.csv
    ok "the same bytes: $words" cmp log.csv again.csv
done
"$program" estimate hbf model=llama-70b latency=15us~25us -c slowdown -f csv --seed 2 >again.csv
ok 'another seed, another sample' sh -c '! cmp -s log.csv again.csv'
ok 'but nearly the same' near "$(column 3 again.csv)" "$(column 3 log.csv)" 1e-3

# ---- refusals ----

stream() {
    reason=$1
    shift
    refuses "$reason" estimate stream "$@"
}
time='ns, us, ms, s, min, h, cycles'
stream 'latency=200cycles~400ns: expected low~high all in cycles, or nothing of it' latency=200cycles~400ns
stream 'latency=200ns~100ns: expected low~high, low below high' latency=200ns~100ns
stream 'latency=200ns~200ns: expected low~high, low below high' latency=200ns~200ns
stream "latency=200ns~: expected a time ($time), got ''" latency=200ns~
stream "latency=~200ns: expected a time ($time), got ''" latency=~200ns
stream "latency=1ns~2: expected a time with a unit ($time), got '2'" latency=1ns~2
stream "latency=1ns~2ns,3ns: expected a time ($time), got '2ns,3ns': one value only" latency=1ns~2ns,3ns
stream "latency=1ns~2ns~3ns: expected a time ($time), got '2ns~3ns': one value only" latency=1ns~2ns~3ns
for several in 1us~2us 1us,2us 1us:2us:1us; do
    printf 'latency,warps\n"%s",8\n' "$several" >cell.csv
    check_run "a cell holds one value, not $several" 1 "latency,warps,slowdown,error
$(sed -n 2p cell.csv | tr -d '"' | perl -pe 's/^(.*,.*),8/"$1",8/'),,\"cell.csv:2: latency: expected a time ($time), got '$several': one value only\"" \
"stallcast: 1 of 1 rows have no answer; the first: cell.csv:2: latency: expected a time ($time), got '$several': one value only" \
        stallcast estimate stream --from cell.csv -c slowdown
done
for command in 'rank --over gpu' 'solve --find warps --until slowdown<2' simulate template; do
    set -- $command
    first=$1
    shift
    refuses "latency=1us~2us: expected a time ($time), got '1us~2us': one value only" \
        "$first" stream latency=1us~2us "$@"
done
stream "warps=1~1.5: expected a whole number, got '1.5'" warps=1~1.5
stream 'latency is given twice' latency=200ns~400ns latency=5ns
stream 'latency=5ns~8ns: latency is given twice' latency=200ns~400ns latency=5ns~8ns
stream "--samples: expected a whole number from 16 to 1048576, got '3'" latency=1ns~2ns --samples 3
stream '--samples: expected a key given as low~high' latency=1ns --samples 64
stream '--seed: expected a key given as low~high' --seed 1
stream "--seed: expected a whole number from 0 to 2147483647, got '-1'" latency=1ns~2ns --seed -1
stream '--from answers each row once: a list or range on the command line has no place there' \
    latency=1ns~2ns --from log.csv
refuses 'leaf=64KiB~128KiB: expected one value: those between differ from region by no power of two' \
    estimate uvm leaf=64KiB~128KiB
refuses "policy=uvm~prefetch: expected one of its choices, got 'uvm~prefetch': did you mean prefetch?" \
    estimate uvm policy=uvm~prefetch
refuses '181 of 1024 samples have no answer; the first: latency: 768.55 ns is below hbm_latency, the ideal'"'"'s latency' \
    estimate hbf model=llama-70b latency=0.5us~25us
check_run 'a row of a sweep without an answer' 1 \
'hbm_latency_s,slowdown_p5,slowdown,slowdown_p95,error
1e-06,1.02969,1.12707,1.30152,
0.00002,,,,"1024 of 1024 samples' 'stallcast: 1 of 2 scenarios have no answer; the first: ' sh -c "
    '$program' estimate hbf model=llama-8b hbm_latency=1us,20us latency=5us~20us -c slowdown -f csv 2>err |
        cut -d, -f2- | sed 's/\(samples\).*/\1/'; code=1; sed 's/\(first: \).*/\1/' err >&2; exit \$code"
finish
