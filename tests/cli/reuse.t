#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# From a trace to an answer: curves that mrc writes, as values of the key reuse.
. "${0%/*}/lib.sh"

# Four sweeps over 6144 regions, and as many touches of 1024 of them.
awk 'BEGIN { for (p = 0; p < 4; p++) for (i = 0; i < 6144; i++) print i }' >sweep.txt
awk 'BEGIN { for (p = 0; p < 24; p++) for (i = 0; i < 1024; i++) print i }' >hot.txt
for name in sweep hot; do
    "$program" mrc $name.txt --item 2MiB -f csv -o $name.csv 2>/dev/null
done
words='memory_capacity=8GiB passes=4 hot_share=0.5 device_rate=100GB/s'
answer() {
    "$program" estimate uvm "$@" $words -f csv -c in_bytes,thrash_factor,time_s >out 2>err
    sed '1d; s/^.*,\([^,]*,[^,]*,[^,]*\)$/\1/' out
}
answer footprint=12GiB >law
cp law law_of_12
answer footprint=12GiB reuse=sweep.csv >measured
ok 'a measured cyclic sweep is what the law of sweeps says' cmp law measured
answer footprint=12GiB reuse=hot.csv >measured
check_run 'a set that fits comes in once' 0 '12884900000,0' '' cut -d , -f 1,2 measured
answer footprint=4GiB reuse=sweep.csv >measured
answer footprint=4GiB >law
ok 'what fits needs no curve' cmp law measured
answer footprint=12GiB reuse=hot.csv refetch=2 >measured
check_run 'a refetch that is given goes before the curve' 0 2 '' cut -d , -f 2 measured
check_run 'curves sweep, and name their column' 0 'reuse,thrash_factor
sweep.csv,3
hot.csv,0' '' sh -c "'$program' estimate uvm reuse=sweep.csv,hot.csv footprint=12GiB $words \
    -f csv -c thrash_factor | cut -d , -f 1,7"
printf 'reuse,footprint (GiB)\nhot.csv,12\nsweep.csv,12\nnone.csv,12\n' >plan.csv
check_run 'a column of curves' 1 'reuse,footprint (GiB),thrash_factor,error
hot.csv,12,0,
sweep.csv,12,3,
none.csv,12,,"plan.csv:4: reuse: expected a curve that mrc -f csv wrote, got '\''none.csv'\'': No such file or directory"' \
    "stallcast: 1 of 3 rows have no answer; the first: plan.csv:4: reuse: expected a curve that mrc -f csv wrote, got 'none.csv': No such file or directory" \
    stallcast estimate uvm --from plan.csv $words -c thrash_factor

refuses() {
    check_run "$1" 2 '' "stallcast: reuse=$2: $3" stallcast estimate uvm "reuse=$2"
}
refuses 'no file' none.csv "expected a curve that mrc -f csv wrote, got 'none.csv': No such file or directory"
refuses 'a trace' sweep.txt 'sweep.txt:1: cache_bytes: expected one such column'
printf 'cache_bytes,miss_ratio\n1,0.5\n2,1.5\n' >ratio.csv
printf 'cache_bytes,miss_ratio\n2,0.5\n1,0.4\n' >falling.csv
for name in ratio falling; do
    "$program" estimate uvm reuse=$name.csv >out 2>err
    ok "refused, with its place: $name.csv" sh -c \
        "[ $? -eq 2 ] && [ ! -s out ] && [ \$(wc -l <err) -eq 1 ] && grep -q '$name.csv:[0-9]*: .*expected' err"
done
printf 'cache_bytes,miss_ratio\n0,1\n' >zero.csv
refuses 'a curve at no size only' zero.csv 'zero.csv: expected a row with more than 0 bytes'
"$program" mrc sweep.txt --item 2MiB -f csv --delimiter ';' --decimal , -o comma.csv 2>err
answer footprint=12GiB reuse=comma.csv >measured
ok 'a decimal comma, as mrc writes it' cmp law_of_12 measured

# Blocks that are no regions: of pages, or of a trace of numbers whose size was not told.
other='stallcast: region: 2.09715 MB is not the block of the curve in reuse (mrc --block)'
"$program" mrc sweep.txt --item 4KiB -f csv -o pages.csv 2>err
"$program" mrc sweep.txt -f csv -o numbers.csv 2>err
for name in pages numbers; do
    check_run "a curve of $name" 2 '' "$other" stallcast estimate uvm reuse=$name.csv $words
done
for how in '--sizes 1GB:12GB:1GB' '--sizes 100MB,12GB' '--digits 3'; do
    "$program" mrc sweep.txt --item 2MiB -f csv $how -o sizes.csv 2>err
    answer footprint=12GiB reuse=sizes.csv >measured
    ok "a curve of regions: $how" cmp law_of_12 measured
done
check_run 'explain says where a curve is of no effect' 0 \
    '  no effect here: reuse (the closed-form answer is the same without)' '' \
    sh -c "'$program' explain uvm reuse=sweep.csv footprint=4GiB $words | grep '^  no effect here: reuse'"
check_run 'and only there' 1 '' '' \
    sh -c "'$program' explain uvm reuse=hot.csv footprint=12GiB $words | grep 'no effect here: reuse'"
# 5000 rows of a staircase are thinned to what a scenario holds.
awk -v OFS=, 'BEGIN { print "cache_bytes,miss_ratio"
    for (i = 1; i <= 5000; i++) print i * 4194304, i < 1000 ? 1 : i < 3000 ? 0.5 : 0.1 }' >stairs.csv
check_run 'a long curve keeps its steps' 0 'thrash_factor
3
1
0' '' sh -c "'$program' estimate uvm reuse=stairs.csv footprint=1TiB passes=4 hot_share=0.5 \
    device_rate=100GB/s memory_capacity=2GiB,8GiB,16GiB -f csv -c thrash_factor |
    cut -d , -f 7"

finish
