#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# stallcast simulate uvm: answers, traces, what it refuses.

. "${0%/*}/lib.sh"

# uvm WORD...: a small memory.
uvm() {
    stallcast simulate uvm memory_capacity=64MiB --check --format csv "$@"
}

# columns WORD...: what moved, without the keys.
columns() {
    uvm --columns in_bytes,out_bytes,mapped_bytes,thrash_factor,bound "$@" >"$results/csv" || return
    awk -F, '{ print $(NF-4) "," $(NF-3) "," $(NF-2) "," $(NF-1) "," $NF }' "$results/csv"
}

# usable: 0.9 of 64 MiB in whole regions, 28; footprint: 48
check_run 'three sweeps past capacity bring everything in three times' 0 \
    'in_bytes,out_bytes,mapped_bytes,thrash_factor,bound
301990000,243270000,0,2,migration' '' columns passes=3
check_run 'and once below it' 0 \
    'in_bytes,out_bytes,mapped_bytes,thrash_factor,bound
33554400,0,0,0,migration' '' columns passes=3 oversubscription=0.5
check_run 'mapped data stay where they are' 0 \
    'in_bytes,out_bytes,mapped_bytes,thrash_factor,bound
0,0,301990000,0,mapped reads' '' columns passes=3 policy=mapped
check_run 'a prefix is pinned, the rest mapped' 0 \
    'in_bytes,out_bytes,mapped_bytes,thrash_factor,bound
58720300,0,125829000,0,mapped reads' '' columns passes=3 policy=ember-static
for policy in uvm prefetch mapped ember-static ember-adaptive profiled; do
    for run in 1 2; do
        uvm pattern=mixed randomness=0.5 passes=4 policy=$policy --seed 3 >"$results/run$run"
    done
    ok "$policy: the same seed gives the same bytes" cmp "$results/run1" "$results/run2"
done
check_run 'a trace has a row for each region' 0 \
    'kernel,sm,unit,asked_us,arrived_us,first_use_us,last_use_us,evicted_us
4' '' sh -c "'$program' simulate uvm memory_capacity=8MiB footprint=8MiB --trace t.csv >out &&
        head -n 1 t.csv && grep -c '^sweep,0,[0-3],' t.csv"
check_run 'too many page visits' 2 '' \
    'stallcast: page visits: 1179650000000 are more than the 120 million that are simulated: make fewer passes or the footprint smaller' \
    stallcast simulate uvm memory_capacity=48GiB pattern=random passes=1e6
check_run 'what host code touches' 2 '' \
    'stallcast: host_passes: 2 must be 0: what host code touches is not simulated' \
    uvm host_passes=2
# ---- what only the closed form knows ----

check_run 'refetch= is told to be without effect' 0 'time_s' \
    'stallcast: simulate goes without refetch: only the closed form knows it' \
    sh -c "'$program' simulate uvm memory_capacity=64MiB refetch=3 -c time_s -f csv >out; head -n 1 out | sed 's/.*,//'"
printf '0\n1\n2\n0\n' | "$program" mrc - --item 2MiB -f csv >curve.csv 2>err
check_run 'so are reuse= and a coefficient' 0 'time_s' \
    'stallcast: simulate goes without reuse, random_factor: only the closed form knows them' \
    sh -c "'$program' simulate uvm memory_capacity=64MiB reuse=curve.csv random_factor=2 -c time_s -f csv >out; head -n 1 out | sed 's/.*,//'"

# ---- ends of the ranges ----

check_run 'as many touches in flight as there can be' 0 'time_s' '' \
    sh -c "'$program' simulate uvm memory_capacity=64MiB in_flight=1e9 -c time_s -f csv >out && head -n 1 out | sed 's/.*,//'"
check_run 'more regions than memory should be spent on' 2 '' \
    'stallcast: footprint: 100 TB is too many pages, regions (8 million) or phases to simulate' \
    stallcast simulate uvm memory_capacity=40TB footprint=100TB

# near KEYS: both answers to that, within half as much again.
near() {
    for command in simulate estimate; do
        "$program" $command uvm "$@" -c time_s -f csv 2>>err | sed '1d;s/.*,//'
    done >times
    ok "closed form and simulator: $*" awk '{ t[NR] = $1 } END {
        exit NR != 2 || t[1] > 1.5 * t[2] || t[2] > 1.5 * t[1] }' times
}
near pattern=layers policy=mapped passes=2 memory_capacity=3GiB randomness=1 random_read_cost=10
near pattern=mixed policy=mapped passes=2 memory_capacity=1GiB randomness=0.5 random_read_cost=10
for policy in uvm prefetch profiled; do
    near pattern=sweep policy=$policy passes=4 memory_capacity=1GiB fault_rate=5GiB/s fault_group=0s fault_copy=0s
done
near pattern=window policy=ember-static memory_capacity=1GiB oversubscription=1.05 hot_share=0.9 drift=1
near pattern=window policy=ember-static memory_capacity=1GiB oversubscription=0.6 hot_share=0.7 drift=0.6
near pattern=hot-prefix policy=ember-adaptive memory_capacity=3GiB passes=2 hot_share=0.4 access_bytes=400
near pattern=strided policy=ember-adaptive memory_capacity=1.5GiB oversubscription=0.7 passes=2 access_bytes=2kB
near pattern=scan policy=ember-adaptive memory_capacity=1GiB oversubscription=0.8 passes=4 hot_share=0.7 placement=none
for rate in 10 20 40 80; do
    near pattern=streams policy=ember-adaptive memory_capacity=3GiB oversubscription=0.8 passes=3 \
        link_rate=10GiB/s migration_rate=${rate}GiB/s
done

finish
