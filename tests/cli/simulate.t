#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# stallcast simulate: what it refuses, seeds, repeats, jobs, traces.

. "${0%/*}/lib.sh"

# hbf WORD...: a small scenario.
hbf() {
    stallcast simulate hbf model=llama-3.2-1b tp=4 buffer=1MB "$@"
}

# hbf_refuses STDERR WORD...: of that scenario.
hbf_refuses() {
    reason=$1
    shift
    check_run "hbf: $*" 2 '' "stallcast: $reason" hbf "$@"
}

# csv WORD...: its slowdown as CSV, without the keys that are always the same.
csv() {
    asked_csv slowdown "$@"
}

# repeated WORD...: the same, and the interval of its mean.
repeated() {
    asked_csv slowdown,slowdown_mean_lo,slowdown_mean_hi "$@"
}

asked_csv() {
    asked=$1
    shift
    hbf --format csv --columns $asked "$@" >"$results/csv" || return
    cut -d , -f 4- "$results/csv" | sed 's/launch_stagger_s,//; s/,0,/,/'
}

# ---- what is refused ----

refuses 'simulate: expected a system first: simulate SYSTEM [key=value ...] [options]' simulate
refuses "no system 'hfb': did you mean hbf?" simulate hfb
refuses 'layers: expected a value, got none: give model=NAME or layers=VALUE' simulate hbf
refuses '--trace and -o: both are same.csv' simulate stream -t same.csv -o same.csv
hbf_refuses 'policy=slipsteam: expected one of its choices, got '\''slipsteam'\'': did you mean slipstream?' \
    policy=slipsteam
hbf_refuses "retry=60%: expected a value from 0 to 0.5, got '60%'" retry=60%
hbf_refuses 'buffer=2MB: buffer is given twice' buffer=2MB
for value in 0 -1 1.5 x 100001 ' 3' 3x; do
    hbf_refuses "--repeat: expected a whole number from 1 to 100000, got '$value'" --repeat "$value"
done
hbf_refuses "--jobs: expected a whole number from 1 to 256, got '0'" --jobs 0
hbf_refuses "--jobs: expected a whole number from 1 to 256, got '257'" -j257
hbf_refuses "--seed: expected a whole number from 0 to 2147483647, got '-1'" --seed=-1
hbf_refuses "--seed: expected a whole number from 0 to 2147483647, got '2147483648'" -s 2147483648
hbf_refuses '--seed needs a value: --seed N' --seed
hbf_refuses '--check takes no value' --check=yes
hbf_refuses "--columns: hbf has no column 'elephants'" --columns elephants
hbf_refuses 'no option --from: --help lists those there are' --from answers.csv
hbf_refuses '--trace follows one run, not 2' policy=h3,ideal --trace pages.csv
hbf_refuses '--trace follows one run, not 3' --repeat 3 --trace pages.csv
hbf_refuses 'cannot write none/pages.csv: No such file or directory' --trace none/pages.csv
hbf_refuses "latency: 100 ns is below hbm_latency, the ideal's latency" latency=100ns
refuses 'simulation has a kernel of more than 2^30 pages, the most that is simulated' \
    simulate hbf model=llama-8b part=ffn hidden=1e6 ffn=1e7 page=64B
check_run 'a scenario without an answer among others: a row with its error, exit code 1' 1 \
    "policy,latency_s,slowdown,error
ideal,1e-06,1,
ideal,1e-07,,\"latency: 100 ns is below hbm_latency, the ideal's latency\"" \
    "stallcast: 1 of 2 scenarios have no answer; the first: latency: 100 ns is below hbm_latency, the ideal's latency" \
    sh -c "'$program' simulate hbf model=llama-3.2-1b tp=4 launch_stagger=0us policy=ideal \
        latency=1us,100ns --digits 3 -f csv -c slowdown >out; code=\$?; cut -d , -f 4- out; exit \$code"
ok 'nothing is left behind' sh -c '[ "$(ls)" = out ]'

# ---- answers ----

check_run 'the ideal is ideal' 0 'policy,slowdown
ideal,1' '' csv policy=ideal --digits 3 launch_stagger=0us
csv policy=all >plain.csv
ok 'every policy has an answer' sh -c "[ \$(grep -c '^[a-z0-9-]*,[0-9.]*\$' plain.csv) -ge 14 ]"
ok 'in the columns of estimate' sh -c "
    '$program' estimate hbf model=llama-8b -f csv | head -n 1 |
        sed 's/slowdown_lo,//; s/slowdown_hi,//; s/,extrapolated//' >estimated
    '$program' simulate hbf model=llama-8b -f csv | head -n 1 | diff estimated -"
csv policy=all --check >checked.csv
ok '--check changes no answer' cmp plain.csv checked.csv
for format in csv json jsonl md table; do
    hbf policy=all --format $format --jobs 1 >one
    hbf policy=all --format $format --jobs 2 >two
    ok "--jobs 1 and 2: the same bytes, $format" cmp one two
done
hbf policy=h3 sms=60:120:4 --repeat 4 -j1 -f csv >one
hbf policy=h3 sms=60:120:4 --repeat 4 -j7 -f csv >seven
ok 'also with --repeat' cmp one seven

# ---- seeds ----

csv policy=h3 --seed 7 --digits all >first
csv policy=h3 --seed 7 --digits all >again
csv policy=h3 --seed 8 --digits all >other
csv policy=h3 --digits all >default
csv policy=h3 --seed 1 --digits all >one
ok 'same seed, same bytes' cmp first again
ok 'another seed, another answer' sh -c '! cmp -s first other'
ok 'the seed is 1 if none is given' cmp default one
csv policy=slipstream --seed 7 --digits all >first
csv policy=slipstream --seed 0 --digits all >other
ok 'where nothing is random the seed changes nothing' cmp first other

# ---- repeats ----

check_run '--repeat 1 has no interval' 0 'policy,slowdown' '' \
    sh -c "'$program' simulate hbf model=llama-3.2-1b tp=4 buffer=1MB policy=h3 -n 1 -f csv \
        -c slowdown | cut -d , -f 4- | head -n 1"
repeated policy=h3,slipstream --repeat 6 --digits all >repeated 2>said
check_run 'where nothing is random it says so' 0 \
    'stallcast: --repeat: in 1 of 2 scenarios all 6 runs are the same: nothing is random there, and the interval has no width' \
    '' cat said
check_run 'no such word where all is random' 0 'policy,slowdown_mean_lo,slowdown' '' sh -c "
    '$program' simulate hbf model=llama-3.2-1b tp=4 buffer=1MB policy=h3 -n 2 -f csv \
        -c slowdown_mean_lo,slowdown | cut -d , -f 4- | head -n 1"
check_run 'nor for one run' 0 '' '' sh -c "
    '$program' simulate hbf model=llama-3.2-1b tp=4 buffer=1MB -n 1 -o one.csv"
check_run '-c without the interval has none' 0 'policy,slowdown' '' sh -c "
    '$program' simulate hbf model=llama-3.2-1b tp=4 buffer=1MB policy=h3 -n 2 -f csv \
        -c slowdown | cut -d , -f 4- | head -n 1"
for columns in '' '-c all'; do
    ok "right behind the slowdown: $columns" sh -c "
        '$program' simulate hbf model=llama-3.2-1b tp=4 buffer=1MB policy=h3 -n 2 -f csv $columns |
            head -n 1 | grep -q ',slowdown,slowdown_mean_lo,slowdown_mean_hi,performance,'"
done
hbf_refuses '--columns: slowdown_mean_hi needs --repeat N, at least 2' -c slowdown,slowdown_mean_hi
hbf_refuses "--columns: hbf has no column 'slowdown_mean_l': did you mean slowdown_mean_lo?" \
    -c slowdown_mean_l
check_run '--repeat 6 has' 0 'policy,slowdown,slowdown_mean_lo,slowdown_mean_hi' '' head -n 1 repeated
ok 'around the mean where something is random' \
    awk -F , '$1 == "h3" { exit !($3 < $2 && $2 < $4 && $4 - $3 < 0.2 * $2) }' repeated
ok 'and without width where nothing is' \
    awk -F , '$1 == "slipstream" { exit !($3 == $2 && $2 == $4) }' repeated
repeated policy=h3 --repeat 24 --digits all >longer
ok 'more runs, a narrower interval' sh -c "
    cat repeated longer | awk -F , '\$1 == \"h3\" { width[++n] = \$4 - \$3 }
        END { exit !(n == 2 && width[2] < width[1]) }'"
repeated policy=h3 --repeat 6 --digits all >again
ok 'and again the same' sh -c 'grep h3 repeated >a; grep h3 again | cmp a -'

# ---- traces ----

check_run '--trace writes a file beside the answer' 0 'policy,slowdown
slipstream,7.27' '' csv policy=slipstream --digits 3 --trace pages.csv
check_run 'with these columns' 0 \
    'kernel,sm,unit,asked_us,arrived_us,first_use_us,last_use_us,evicted_us' '' head -n 1 pages.csv
ok 'one row per page of each kernel, in order' awk -F , '
    NR == 1 { next }
    $1 != kernel { kernel = $1; kernels++; unit = 0 }
    $3 != unit++ || NF != 8 || $2 < 0 || $2 > 107 { exit 1 }
    END { exit !(kernels == 5 && NR == 1 + 768 + 512 + 3 * 2048) }' pages.csv
ok 'asked and arrived before use, used before it leaves' awk -F , '
    NR > 1 && !($4 <= $6 && $5 < $6 && $6 == $7 && ($8 == "" || $6 <= $8)) { exit 1 }' pages.csv
cp pages.csv first.csv
hbf policy=slipstream --trace pages.csv --seed 9 >/dev/null
ok 'the same trace again' cmp first.csv pages.csv
hbf policy=ideal --trace pages.csv >/dev/null
ok 'of the ideal: nothing arrives and nothing leaves' \
    awk -F , 'NR > 1 && ($5 != "" || $8 != "") { exit 1 }' pages.csv
hbf policy=ideal --trace - -f csv -c slowdown >both
ok '--trace - is standard output' grep -q '^kernel,sm,unit' both
echo old >pages.csv
hbf latency=100ns --trace pages.csv 2>/dev/null
check_run 'a scenario without an answer leaves the old trace' 0 old '' cat pages.csv
hbf latency=100ns --trace new.csv 2>/dev/null
ok 'and no new one' sh -c '! ls | grep new'
if [ -c /dev/full ]; then
    # A second of runs, but nothing of that before the refusal.
    hbf_refuses 'cannot write /dev/full: No space left on device' --trace pages.csv -o /dev/full
    check_run 'and not even a trace' 0 old '' cat pages.csv
    hbf_refuses 'cannot write /dev/full: No space left on device' --trace /dev/full
    check_run 'a full disk under a trace on standard output' 2 '' \
        'stallcast: cannot write standard output: No space left on device' \
        sh -c "'$program' simulate hbf model=llama-3.2-1b --trace - >/dev/full"
else
    skip 'there is no /dev/full'
fi

# ---- stream ----

check_run 'the streaming kernel' 0 'warps_per_sm,loads_per_warp,bound
1,20,latency
64,20,bandwidth' '' \
    stallcast simulate stream warps_per_sm=1,64 loads_per_warp=20 -f csv -c bound --check
stallcast simulate stream warps_per_sm=2 loads_per_warp=4 --trace loads.csv >/dev/null
ok 'its trace' sh -c "[ \$(head -n 1 loads.csv | tr , '\n' | wc -l) -eq 8 ] &&
    [ \$(wc -l <loads.csv) -gt 8 ]"

finish
