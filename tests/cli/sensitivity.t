#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# sensitivity: elasticities against answers on either side, indices against sums whose shares
# are known, the figure, refusals.

. "${0%/*}/lib.sh"

# near A B SHARE [ABSOLUTE]
near() {
    perl -e '($a, $b, $share, $least) = @ARGV; print "$a and $b\n";
        exit !(abs($a - $b) <= $share * abs($b) + ($least || 0))' -- "$@"
}
# of KEY COLUMN FILE.csv
of() {
    sed -n "s/^$1,/$1,/p" "$3" | cut -d, -f"$2"
}
# metric SYSTEM METRIC WORD...
metric() {
    system=$1 column=$2
    shift 2
    "$program" estimate "$system" "$@" -c "$column" -f csv --digits all 2>/dev/null | sed -n '$s/.*,//p'
}
# ratio ABOVE BELOW HIGH LOW: the elasticity.
ratio() {
    perl -e '($f, $g, $x, $y) = @ARGV; print log($f / $g) / log($x / $y)' -- "$@"
}

# ---- at a point ----

hbf='model=llama-70b policy=h3'
"$program" sensitivity hbf $hbf -f csv >h3.csv 2>left
ok 'time goes with the layers' near "$(of layers 3 h3.csv)" 1 1e-4
ok 'a real key: 1 % to either side' near "$(of latency 3 h3.csv)" "$(ratio \
    "$(metric hbf time_s $hbf latency=20.20100334us)" "$(metric hbf time_s $hbf latency=19.80099667us)" \
    20.20100334 19.80099667)" 1e-4
ok 'a whole number: 1 to either side' near "$(of batch 3 h3.csv)" \
    "$(ratio "$(metric hbf time_s $hbf batch=65)" "$(metric hbf time_s $hbf batch=63)" 65 63)" 1e-4
ok 'at its limit: one side' near "$(of tensor_parallel 3 h3.csv)" \
    "$(ratio "$(metric hbf time_s $hbf tp=2)" "$(metric hbf time_s $hbf tp=1)" 2 1)" 1e-4
ok 'largest first' sh -c "sed 1d h3.csv | cut -d, -f3 | tr -d - >shown && sort -gr shown | cmp - shown"
ok 'every number among the keys is shown or counted' sh -c "
    rows=\$(sed 1d h3.csv | wc -l)
    others=\$(grep -o '[0-9][0-9]*' left | head -n 4 | paste -sd+)
    keys=\$('$program' list fields hbf -f csv | sed 1d | grep -cv '^[a-z_]*,[^,]*,[^,]* | \|^[a-z_]*,[^,]*,row of ')
    echo \$rows \$others \$keys; [ \$((rows + \$others)) -eq \$keys ]"
for key in s0 lead retry sshr; do
    ok "$key is left out" sh -c "! grep '^$key,' h3.csv"
done
check_run 'what has effect, as a table' 0 \
'key              value        elasticity  kind
footprint        60GB              1.192  derived
migration_rate   24.5565GB/s      -0.553  anchor
hot_share        0.5               0.367  setting
fault_rate       25.598GB/s       -0.357  anchor
memory_capacity  51.5396GB        -0.192  fact
usable_share     0.9              -0.192  anchor
device_speed     1                -0.090  fact
device_rate      67.6457GB/s      -0.090  derived' \
'stallcast: left out: keys 52 without effect here, 5 not given, which follow from others, 9 at 0, which has no per cent, 3 of which no value nearby has an answer' \
    stallcast sensitivity uvm app=k-means footprint=60GB
"$program" sensitivity stream -f csv >stream.csv 2>/dev/null
ok 'a step of the metric is told' sh -c "grep '^sector,32B,.*,jump' stream.csv && grep '^latency,.*,\$' stream.csv"
ok 'one cell in five' sh -c "! grep -v '^[^,]*,[^,]*,[^,]*,[^,]*,[^,]*\$' stream.csv"
"$program" sensitivity stream --metric share_of_peak -f csv >share.csv 2>/dev/null
ok 'another metric' near "$(of launch 3 share.csv)" "$(ratio "$(metric stream share_of_peak launch=4.4613501us)" \
    "$(metric stream share_of_peak launch=4.3730107us)" 4.4613501 4.3730107)" 1e-3
"$program" sensitivity prefetch -f csv >prefetch.csv 2>/dev/null
ok 'the next whole numbers that have an answer' near "$(of warps 3 prefetch.csv)" \
    "$(ratio "$(metric prefetch time_s warps=32)" "$(metric prefetch time_s warps=16)" 32 16)" 1e-3
"$program" sensitivity uvm pattern=random -f csv >uvm.csv 2>/dev/null
ok 'an octave to either side' near "$(of leaf 3 uvm.csv)" \
    "$(ratio "$(metric uvm time_s pattern=random leaf=128KiB)" "$(metric uvm time_s pattern=random)" 2 1)" 1e-4

# ---- over ranges ----

# Both only add to the time: variances of 3^2 / 12 and 4^2 / 12.
"$program" sensitivity uvm policy=profiled fixed=0s~3s profile_time=0s~4s -f csv >sum.csv 2>said
for line in 'profile_time 0.64' 'fixed 0.36'; do
    set -- $line
    ok "$1: first order" near "$(of $1 3 sum.csv)" $2 0 0.005
    ok "$1: total" near "$(of $1 5 sum.csv)" $2 0 0.005
    ok "$1: standard errors are small and above 0" sh -c "
        grep '^$1,' sum.csv | tr , ' ' | perl -ane 'exit !(\$F[3] > 0 && \$F[3] < 0.005 && \$F[5] > 0 && \$F[5] < 0.005)'"
done
ok 'mean, deviation and sum are told' grep -q \
    '^stallcast: time_s: mean 6.881 s, standard deviation 1.44 s; first-order indices sum to 0.999 ' said
check_run 'as a table' 0 \
'key            range        first_order  first_order_se   total  total_se
hbf_bandwidth  1TB/s~3TB/s       0.5620         0.01293  0.7624  0.009668
buffer         8MB~64MB          0.1626         0.00962  0.3628  0.008964
latency        15us~25us         0.0581         0.00612  0.1389  0.004527' \
    'stallcast: time_s: mean 118.4 ms, standard deviation 14.3 ms; first-order indices sum to 0.783 +- 0.020' \
    stallcast sensitivity hbf model=llama-70b latency=15us~25us buffer=8MB~64MB hbf_bandwidth=1TB/s~3TB/s
"$program" sensitivity hbf model=llama-70b latency=15us~25us buffer=8MB~64MB -f csv --samples 16384 >more.csv 2>/dev/null
"$program" sensitivity hbf model=llama-70b latency=15us~25us buffer=8MB~64MB -f csv --seed 2 >seed.csv 2>/dev/null
"$program" sensitivity hbf model=llama-70b latency=15us~25us buffer=8MB~64MB -f csv --seed 2 >again.csv 2>/dev/null
ok 'the same seed, the same bytes' cmp seed.csv again.csv
ok 'another seed and more samples: nearly the same' near "$(of buffer 5 seed.csv)" "$(of buffer 5 more.csv)" 0.05

# ---- the figure ----

if command -v gnuplot >/dev/null; then
    for format in svg png pdf; do
        "$program" sensitivity hbf $hbf --plot point.$format >/dev/null 2>&1
        ok "--plot point.$format" test -s point.$format
    done
    ok 'it names keys and metric' sh -c \
        'for text in "tensor_parallel = 1" "latency = 20us" "% of time_s per"; do grep -qF "$text" point.svg || exit 1; done'
    "$program" sensitivity hbf $hbf latency=15us~25us --plot range.svg >/dev/null 2>&1
    ok 'over ranges' sh -c 'grep -qF "latency = 15us~25us" range.svg && grep -qF "variance of time_s" range.svg'
else
    skip 'no gnuplot'
fi

# ---- refusals ----

stream() {
    reason=$1
    shift
    refuses "$reason" sensitivity stream "$@"
}
refuses 'sensitivity: expected a system first: sensitivity SYSTEM [key=value ...] [options]' sensitivity
stream 'loads=4,8: sensitivity takes one scenario, not 2' loads=4,8
stream 'warps=1:8:*2: sensitivity takes one scenario, not 4' loads=4 warps=1:8:*2
stream "bogus is not a key of stream: 'stallcast list fields stream' shows them" bogus=1
stream 'latency is given twice' latency=1ns~2ns latency=3ns
stream "--metric: stream has no metric 'timee_s': did you mean time_s?" --metric timee_s
stream "--metric: stream has no metric 'abacus': 'stallcast list columns stream' shows them" --metric abacus
stream '--metric: expected a metric that is a number, and bound is a word' --metric bound
stream "--metric: expected a metric, and warps_per_sm is a key: 'stallcast list columns stream' shows metrics" \
    --metric warps_per_sm
ok '--metric takes a metric without its unit' sh -c "
    '$program' sensitivity stream --metric time_s >with.txt 2>/dev/null &&
    '$program' sensitivity stream --metric time 2>/dev/null | cmp - with.txt"
stream '--samples: expected a key given as low~high' --samples 4096
stream '--seed: expected a key given as low~high' --seed 1
stream "--samples: expected a power of two, got '1000'" latency=1ns~2ns --samples 1000
stream "--samples: expected a whole number from 256 to 16777216, got '128'" latency=1ns~2ns --samples 128
stream 'share_of_peak is the same all over the range' c2=0~1 warps=1 loads=1 sms=1 --metric share_of_peak
stream "--plot: expected a name that ends in .svg, .png or .pdf, got 'x.txt'" --plot x.txt
stream '--plot and -o: both are x.svg' --plot x.svg -o x.svg
refuses 'layers: expected a value, got none: give model=NAME or layers=VALUE' sensitivity hbf
refuses '--metric: expected one above 0, and faults is 0 here' sensitivity uvm policy=mapped --metric faults
refuses "a sample has no answer: latency: 589.562 ns is below hbm_latency, the ideal's latency, with latency=589.562ns" \
    sensitivity hbf model=llama-8b latency=0.5us~2us
refuses 'a sample has no answer: time_s has no value here, with gpus=8 batch=2' \
    sensitivity serve model=llama-405b gpus=4~40 batch=1~8
finish
