#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# stallcast simulate prefetch --replay and --record: traces of warps.

. "${0%/*}/lib.sh"

# replay WORD...: of a trace, as CSV without the keys.
replay() {
    stallcast simulate prefetch -f csv --digits all -c all --check "$@"
}

replay_refuses() {
    reason=$1
    shift
    refuses "$reason" simulate prefetch "$@"
}

# ---- a kernel and its trace ----

for kernel in lud pool kmeans; do
    case $kernel in
    lud) resident='warps=16 sharing_sms=16' ;;
    pool) resident='warps=24 sharing_sms=1' ;;
    kmeans) resident='warps=32 sharing_sms=1' ;;
    esac
    sharing=$(stallcast list prefetch-kernels -f csv | awk -F , -v name=$kernel '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == "sharing_sms") column = i }
        $1 == name { print $column }')
    resident="${resident% *} sharing_sms=$sharing"
    stallcast simulate prefetch kernel=$kernel --record $kernel.csv -o /dev/null
    replay kernel=$kernel policy=none,sk,sk+sc | cut -d , -f 2- >loop
    replay $resident policy=none,sk,sk+sc --replay $kernel.csv | cut -d , -f 3- >trace
    ok "$kernel: none, sk and sk+sc answer alike" cmp loop trace
done
replay $resident policy=sk --replay kmeans.csv >plain
gzip -k kmeans.csv
replay $resident policy=sk --replay kmeans.csv.gz >packed
replay $resident policy=sk --replay - <kmeans.csv >piped
{
    head -n 1 kmeans.csv
    # Instructions of a warp stay in order.
    tail -n +2 kmeans.csv | awk -F , '{ print n[$1 FS $2]++ "," 64 * $1 + $2 "," $0 }' |
        sort -t , -k 1,1n -k 2,2nr | cut -d , -f 3-
} >mixed.csv
replay $resident policy=sk --replay mixed.csv >mixed
ok 'packed' cmp plain packed
ok 'from standard input' cmp plain piped
ok 'warps in another order' sh -c '! cmp -s kmeans.csv mixed.csv && cmp plain mixed'
replay $resident policy=sk,sk+sc --replay kmeans.csv -j1 >one
replay $resident policy=sk,sk+sc --replay kmeans.csv -j4 >four
ok 'any number of threads' cmp one four
stallcast simulate prefetch $resident --replay kmeans.csv -o /dev/null --trace loads.csv
ok 'a row for each of its loads' sh -c '
    [ "$(grep -c ,load, kmeans.csv)" -eq "$(($(wc -l <loads.csv) - 1))" ] &&
        [ "$(tail -n +2 loads.csv | cut -d , -f 3 | sort -u | wc -l)" -eq "$(grep -c ,load, kmeans.csv)" ]'
stallcast simulate prefetch kernel=kmeans --record - -o /dev/null >said
ok '--record - is standard output' cmp kmeans.csv said

# ---- keys ----

printf 'warp,pc,op,address\n0,a,load,0\n0,b,load,0x10000\n' >two.csv
# 18 instructions; 16 cycles to the first load, 450 until the fourth behind it may issue, 12 to the
# second load, 450 again.
stallcast simulate prefetch policy=none dram_jitter=0 --replay two.csv -f csv -c ipc >default
check_run 'compute is 8 and dependence 4 for rows that do not say' 0 '18 instructions in 929 cycles' '' \
    awk -F , 'END { printf "18 instructions in %.0f cycles\n", 18 / $NF }' default
stallcast simulate prefetch policy=none compute=8 dependence=4 warps=32 sharing_sms=1 dram_jitter=0 \
    --replay two.csv -f csv -c ipc >told
check_run 'as if they were given' 0 "$(awk -F , '{ print $NF }' default)" '' awk -F , '{ print $NF }' told
for key in kernel=lud loads=2 arrays=1 sectors=1 warp_stride=64B iterations=9 cta_warps=4 ctas=2 \
    zero_share=0.1 store_share=0.1 barriers=0.5 footprint=1MB; do
    replay_refuses "${key%=*}: has no effect with --replay: the trace says it" $key --replay two.csv
done
replay_refuses '--columns: iterations says nothing with --replay' --replay two.csv -c iterations
replay_refuses 'warps: 4 does not hold a CTA of the trace' warps=4 --replay kmeans.csv

# ---- what is refused ----

for system in hbf stream uvm; do
    refuses "--replay: $system has no instructions of warps" simulate $system --replay two.csv
    refuses "--record: $system has no instructions of warps" simulate $system --record new.csv
done
replay_refuses 'none.csv: No such file or directory' --replay none.csv
replay_refuses '--record and --replay: one of them' --replay two.csv --record new.csv
replay_refuses '--record writes one kernel, not 2' kernel=lud,pool --record new.csv
replay_refuses '--record and -o: both are x' --record x -o x
replay_refuses '--record and --trace: both are x' --record x --trace x
replay_refuses '-o: two.csv would replace what is read' --replay two.csv -o ./two.csv
replay_refuses 'iterations: 1000000 makes more loads and stores than a trace holds (16777216)' \
    loads=16 arrays=1 compute=0 cta_warps=1 warps=1 ctas=2 iterations=1000000 --record new.csv
printf 'warp,pc,op,address\n0,a,load,0\n0,b,lod,4\n' >bad.csv
replay_refuses "bad.csv:3: op: expected load, store, barrier, exit or zero (or LD, LDG, LDL, ST, STG, STL, RED, BAR), got 'lod'" \
    --replay bad.csv
printf 'warp,pc,op,address\n' >empty.csv
replay_refuses 'empty.csv: expected at least one load, got none' --replay empty.csv
head -c 300 kmeans.csv.gz >cut.csv.gz
replay_refuses 'cut.csv.gz: cannot be unpacked: gzip ends with exit code 1' --replay cut.csv.gz
check_run 'standard input has a name' 2 '' \
    "stallcast: standard input:2: warp: expected a whole number from 0 to 63, got '-1'" \
    sh -c "printf 'warp,pc,op,address\n-1,a,load,0\n' | '$program' simulate prefetch --replay -"
ok 'nothing is left behind' sh -c '[ ! -e new.csv ] && [ ! -e x ]'

finish
