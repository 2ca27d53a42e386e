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
finish
