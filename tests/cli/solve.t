#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# solve: what it finds, against estimate at the value and next to it, and what it refuses.

. "${0%/*}/lib.sh"

outside='extrapolated, the interval may not hold: outside of what was sampled:'

# metric SYSTEM METRIC WORD...: what estimate says.
metric() {
    system=$1 column=$2
    shift 2
    "$program" estimate "$system" "$@" -c "$column" -f csv --digits all 2>/dev/null |
        sed -n '$s/.*,//p'
}

# is EXPRESSION: of perl.
is() {
    perl -e "exit !($1)"
}

# exact SYSTEM WORD KEY UNIT METRIC OPERATOR LIMIT SI: what is found with LIMIT meets the condition
# (in perl, with SI), and one step of its last digit outwards does not.
exact() {
    system=$1 word=$2 key=$3 unit=$4 column=$5 operator=$6 limit=$7 si=$8
    "$program" solve "$system" "$word" --find "$key" --until "$column $operator $limit" \
        -f jsonl 2>/dev/null >found
    value=$(sed 's/.*"'"$key"'[a-zA-Z_]*":\([-0-9.e+]*\),"crossing".*/\1/' found)
    way=$(sed 's/.*"crossing":"\([a-z]*\)".*/\1/' found)
    next=$(perl -MPOSIX -e '($v, $way) = @ARGV; printf "%.9g\n",
        $v + ($way eq "to" ? 1 : -1) * 10 ** (floor(log($v) / log(10)) - 5)' "$value" "$way")
    at=$(metric "$system" "$column" "$word" "$key=$value$unit")
    beyond=$(metric "$system" "$column" "$word" "$key=$next$unit")
    ok "$system $key $way $value: $column $operator $limit there" is "$at $operator $si * (1 + 1e-12)"
    ok "and not at $next" is "!($beyond $operator $si)"
}

# ---- the value ----

check_run 'the least buffer' 0 \
'buffer (MB)  crossing  buffer_lo (MB)  buffer_hi (MB)  slowdown  bound
     8.3063  from             7.62084         9.60001       1.1  SM demand' '' \
    stallcast solve hbf model=llama-70b --find buffer --until 'slowdown <= 1.1'
exact hbf model=llama-70b buffer B slowdown '<=' 1.1 1.1
exact hbf model=llama-8b latency s time_s '<' 11ms 11e-3
exact uvm app=k-means footprint B time_s '<=' 2s 2
exact stream loads=64 bandwidth B/s share_of_peak '<' 50% 0.5
exact stream loads=64 latency s throughput_bytes_per_s '<=' '40 GB/s' 40e9
check_run 'a whole number' 0 \
'warps_per_sm  crossing  share_of_peak  bound
          78  from             0.9009  bandwidth' "stallcast: $outside warps_per_sm" \
    stallcast solve stream --find warps --until 'share_of_peak >= 90%'
ok 'it is the first' is "$(metric stream share_of_peak warps=77) < 0.9"
"$program" solve stream --find loads --until 'time_s <= 0.6437s' -f csv 2>/dev/null >large.csv
loads=$(sed -n '2s/,.*//p' large.csv)
ok 'a large one has all its digits' is "$loads > 100000 && $loads % 10 &&
    $(metric stream time_s loads=$loads) <= 0.6437 && $(metric stream time_s loads=$((loads + 1))) > 0.6437"
check_run 'octaves of another key only' 0 'leaf_bytes,crossing
65536,limit' '' sh -c "
    '$program' solve uvm pattern=random --find leaf --until 'time_s < 7s' -f csv 2>/dev/null |
    cut -d, -f2-3"
ok 'which are those that have an answer' sh -c "
    '$program' estimate uvm pattern=random leaf=64KiB &&
    ! '$program' estimate uvm pattern=random leaf=32KiB && '$program' estimate uvm pattern=random leaf=2MiB"
check_run 'several conditions: a window' 0 'warps_per_sm,crossing,warps_per_sm_lo,warps_per_sm_hi,share_of_peak,time_s,bound
78,from,78,78,0.900885,0.0000488931,bandwidth
168,to,160,177,0.951572,0.0000996988,mshr' \
"stallcast: 2 of 2 rows are extrapolated, their intervals may not hold; outside of what was sampled in the first: warps_per_sm
stallcast: 1 of 1 scenario: the conditions are not monotone, they start or cease to hold more than once; both ends of every span are rows, --smallest and --largest give one" \
    stallcast solve stream --find warps --until 'share_of_peak >= 90% and time_s < 0.1ms' -f csv
ok 'its ends are ends' is "$(metric stream time_s warps=168) < 1e-4 && $(metric stream time_s warps=169) >= 1e-4"
check_run 'inside of what the calibration has sampled' 0 'buffer_bytes,crossing,slowdown,extrapolated
8306300,from,1.1,0
640000000,to,0.957202,0' '' sh -c "
    '$program' solve hbf model=llama-70b --find buffer --until 'slowdown <= 1.1 and extrapolated < 1' -f csv 2>/dev/null |
        cut -d, -f2-3,6-7"
check_run 'a sweep of other keys' 0 'policy,latency_s,crossing,slowdown
on-demand,2.13446e-06,to,1.2
slipstream,0.0000531222,to,1.2' '' sh -c "
    '$program' solve hbf model=llama-70b policy=on-demand,slipstream --find latency \
        --until 'slowdown <= 1.2' -c slowdown -f csv 2>/dev/null | cut -d, -f2-4,7"

# same_as_without SYSTEM WORD KEY RANGE: every metric that ends in a unit may be named without it.
same_as_without() {
    system=$1
    "$program" list columns "$system" -f csv | perl -ne '
        my %units = qw(_s s _bytes B _bytes_per_s B/s _per_s 1/s _j J _js J.s _w W _m2 m2);
        print "$1 $1$2 $units{$2}\n" if /^(\w+?)(_bytes_per_s|_bytes|_per_s|_s|_js|_j|_w|_m2),/' >metrics
    while read -r stem column unit; do
        for name in "$column" "$stem"; do
            "$program" solve "$system" "$2" --find "$3" --range "$4" --until "$name >= 0$unit" -f csv \
                >"$name.csv" 2>"$name.err"
        done
        ok "$system: $stem is $column" sh -c "
            cmp '$stem.csv' '$column.csv' && cmp '$stem.err' '$column.err' && test -s '$column.csv'"
    done <metrics
}
same_as_without hbf model=llama-8b buffer 8MB:16MB
same_as_without uvm app=k-means footprint 8GB:16GB
same_as_without stream loads=64 warps 8:16
same_as_without prefetch kernel=backprop clock 1GHz:2GHz
same_as_without serve model=llama-8b gpus 1:4

# ---- which end ----

check_run 'upwards to the limit of the range' 0 \
'buffer (GB)  crossing  buffer_lo (GB)  buffer_hi (GB)  slowdown  extrapolated
          1  limit                  1               1    0.9572             1' '' \
    stallcast solve hbf model=llama-70b --find buffer --range 8MB:1GB --until 'slowdown <= 1.1' \
    --largest -c slowdown,extrapolated
check_run 'all of the range: the end with the least to spare' 0 \
'buffer (MB)  crossing  buffer_lo (MB)  buffer_hi (MB)  slowdown
        100  limit                100             100    0.9572' \
'stallcast: in 1 of 1 scenario the conditions do not hang on buffer: it changes nothing there' \
    stallcast solve hbf model=llama-70b --find buffer --range buffer=100MB:300MB \
    --until 'slowdown <= 1.1' -c slowdown
check_run '--largest of a window' 0 'warps_per_sm,crossing,time_s
168,to,0.0000996988' '' sh -c "
    '$program' solve stream --find warps --until 'share_of_peak >= 90% and time_s < 0.1ms' \
        --largest -c time_s -f csv 2>/dev/null | cut -d, -f1,2,5"
check_run '--smallest where it goes up to a value' 0 'latency_s,crossing
1e-06,limit' '' sh -c "
    '$program' solve hbf model=llama-8b --find latency --until 'slowdown <= 1.5' --smallest -f csv 2>/dev/null |
        cut -d, -f2,3"
check_run 'multiples of cta_warps: what has no answer parts nothing' 0 'warps,crossing
64,limit' '' sh -c "'$program' solve prefetch --find warps --until 'slowdown <= 0.9' -f csv 2>/dev/null | cut -d, -f1,2"
check_run 'a range in cycles' 0 'latency_s,crossing
1.35755e-07,to' '' sh -c "
    '$program' solve stream --find latency --range 10cycles:10000cycles --until 'share_of_peak >= 40%' \
        -f csv 2>/dev/null | cut -d, -f1,2"

check_run 'several spans, one from the limit of the range: both ends of each' 0 \
'gpus  crossing  tpot (ms)
  20  limit         57.21
  55  to            88.23
  96  from          88.23
 100  limit         88.23' \
'stallcast: 1 of 1 scenario: the conditions are not monotone, they start or cease to hold more than once; both ends of every span are rows, --smallest and --largest give one' \
    stallcast solve serve model=llama-405b gpu=h100 --find gpus --range 20:100 --until 'tpot <= 90ms' -c tpot_s
# expand: the whole numbers of spans, csv in, one a line.
expand() {
    perl -F, -ane 'next if $. == 1; push @ends, $F[0]; END { while (@ends) {
        my ($low, $high) = splice @ends, 0, 2; print "$_\n" for $low .. $high } }'
}
# A range of whole numbers is looked at in full: what does not fit is in no span.
"$program" solve serve model=llama-405b gpu=h100 --find gpus --range 1:200 --until 'tpot <= 90ms' -f csv 2>notes.txt |
    cut -d, -f3- >spans.csv
expand <spans.csv >spans.txt
"$program" estimate serve model=llama-405b gpu=h100 gpus=1:200:1 -c tpot_s -f csv 2>/dev/null |
    perl -F, -ane 'print "$F[2]\n" if $. > 1 && $F[-1] =~ /\d/ && $F[-1] <= 0.09' >scan.txt
ok 'every span, as in a scan' cmp spans.txt scan.txt
ok 'there are several' sh -c 'test "$(wc -l <spans.csv)" -gt 8 && grep -q "both ends of every span are rows" notes.txt'

# ---- no value will do ----

check_run 'none: the nearest miss, and exit code 1' 1 \
'policy      buffer (MB)  crossing  buffer_lo (MB)  buffer_hi (MB)  nearest_buffer (kB)  slowdown  extrapolated  bound
on-demand             -  none                   -               -                4.096     10.92             1  miss pool
slipstream       8.3063  from             7.62084         9.60001                    -      1.10             0  SM demand' \
    'stallcast: 1 of 2 scenarios have no buffer that meets the conditions
stallcast: in 1 of 2 scenarios the conditions do not hang on buffer: it changes nothing there' \
    stallcast solve hbf model=llama-70b policy=on-demand,slipstream --find buffer \
    --until 'slowdown <= 1.1' -c slowdown,extrapolated,bound
check_run 'none, JSON' 1 '[
{"model":"llama-70b","policy":"on-demand","buffer_bytes":null,"crossing":"none","buffer_lo_bytes":null,"buffer_hi_bytes":null,"nearest_buffer_bytes":4096,"slowdown":10.9197,"bound":"miss pool"}
]' "stallcast: $outside buffer
stallcast: 1 of 1 scenario has no buffer that meets the conditions
stallcast: in 1 of 1 scenario the conditions do not hang on buffer: it changes nothing there" \
    stallcast solve hbf model=llama-70b policy=on-demand --find buffer --until 'slowdown <= 1.1' -f json
check_run 'a metric that has no value: none, and why' 1 \
'app         footprint (GB)  crossing  nearest_footprint_bytes  tokens (1/s)  bound
k-means                  -  none      -                                   -  -
llm-32b-q5         46.3848  to        -                                10.6  device' \
'stallcast: 1 of 2 rows are extrapolated, their intervals may not hold; outside of what was sampled in the first: passes
stallcast: 1 of 2 scenarios have no footprint that meets the conditions
stallcast: in 1 of 2 scenarios a metric of the conditions has no value at any footprint' \
    stallcast solve uvm app=k-means,llm-32b-q5 --find footprint --until 'tokens_per_s >= 1/s'
check_run 'and by itself' 1 '[
{"model":"llama-405b","gpu":"h100","gpus":null,"crossing":"none","nearest_gpus":null,"tpot_s":null,"bound":null}
]' 'stallcast: 1 of 1 scenario has no gpus that meets the conditions
stallcast: in 1 of 1 scenario a metric of the conditions has no value at any gpus' \
    stallcast solve serve model=llama-405b gpu=h100 --find gpus --range 1:8 --until 'tpot_s <= 60ms' -f json
check_run 'a key that changes nothing' 1 'policy,link_rate_bytes_per_s,crossing,nearest_link_rate_bytes_per_s,time_s
uvm,1000000,limit,,3.48105
prefetch,,none,1000000,5.1751
ember-static,1558870000,from,,5' \
'stallcast: 1 of 3 scenarios have no link_rate that meets the conditions
stallcast: in 2 of 3 scenarios the conditions do not hang on link_rate: it changes nothing there' sh -c "
    '$program' solve uvm app=k-means memory_capacity=16GB footprint=20.8GB policy=uvm,prefetch,ember-static \
        --find link_rate --until 'time <= 5s' -c time_s -f csv >flat.csv 2>flat.err; code=\$?
    grep -v extrapolated flat.err >&2; perl -F, -lane 'print join \",\", @F[3,4,5,8,9]' flat.csv; exit \$code"
check_run 'a row without an answer' 1 \
'line (B)  warps_per_sm  crossing  share_of_peak  extrapolated  error
      16             -  error                 -             -  line: 16 B must not be smaller than a sector
     128            78  from             0.9009             1  -' \
    'stallcast: 1 of 2 scenarios have no answer; the first: line: 16 B must not be smaller than a sector' \
    stallcast solve stream line=16B,128B --find warps --until 'share_of_peak >= 90%' \
    -c share_of_peak,extrapolated
refuses 'line: 16 B must not be smaller than a sector' \
    solve stream line=16B --find warps --until 'share_of_peak >= 90%'
refuses 'layers: expected a value, got none: give model=NAME or layers=VALUE' \
    solve hbf --find buffer --until 'slowdown <= 1.1'

# ---- how surely ----

check_run '--sure: at the worse end of the interval' 0 \
'buffer (MB)  crossing  buffer_lo (MB)  buffer_hi (MB)  slowdown  slowdown_hi
    9.60001  from             7.62084         9.60001     1.038          1.1' '' \
    stallcast solve hbf model=llama-70b --find buffer --until 'slowdown <= 1.1' --sure \
    -c slowdown,slowdown_hi
check_run '--level' 0 \
'buffer (MB)  crossing  buffer_lo (MB)  buffer_hi (MB)  slowdown  slowdown_hi
    8.51192  from              8.1206         8.51192     1.084          1.1' '' \
    stallcast solve hbf model=llama-70b --find buffer --until 'slowdown <= 1.1' --sure --level 0.5 \
    -c slowdown,slowdown_hi
check_run 'slowdown_hi by itself is the same' 0 'buffer_bytes,crossing
9600010,from' '' sh -c "
    '$program' solve hbf model=llama-70b --find buffer --until 'slowdown_hi <= 1.1' -f csv | cut -d, -f2,3"
check_run '--sure, where one condition has no interval' 0 \
'buffer (MB)  crossing  buffer_lo (MB)  buffer_hi (MB)  performance  energy_per_token (mJ)
    9.01436  from             7.51058         9.01436       0.9541                  902.6' \
'stallcast: --sure: energy_per_token_j has no interval and is taken as it is' \
    stallcast solve hbf model=llama-70b --find buffer --range 1MB:100MB \
    --until 'performance > 0.9 and energy_per_token_j < 2J' --sure -c performance,energy_per_token_j
refuses '--sure: energy_per_token_j has no interval; slowdown and what goes with it have one' \
    solve hbf model=llama-8b --find buffer --until 'energy_per_token_j <= 1J' --sure

# ---- two keys ----

pairs() {
    stallcast solve hbf model=llama-70b --find buffer --find hbf_bandwidth --range buffer=6MB:64MB \
        --until 'time_s <= 150ms' --minimize 'buffer_area_mm2 + 20 * hbf_bandwidth_TB_per_s' --grid 4 \
        --range hbf_bandwidth=100GB/s:10TB/s "$@"
}
check_run 'for values of one the least of the other' 0 \
'buffer (MB)  hbf_bandwidth (TB/s)  buffer_area_mm2 + 20 * hbf_bandwidth_TB_per_s  place   time (ms)  extrapolated
          6               1.07021                                          28.72  best          150             1
      13.21               1.01856                                          34.88  front         150             0
      29.07               1.00663                                          49.08  front         150             0
         64               1.00663                                          78.11  behind        150             0' '' \
    pairs -c time_s,extrapolated
ok 'which is what one key alone gives' sh -c "
    '$program' solve hbf model=llama-70b buffer=13.21MB --find hbf_bandwidth --until 'time_s <= 150ms' -f csv 2>/dev/null |
    grep '13210000,1018560000000,from'"
area=$(metric hbf buffer_area_m2 model=llama-70b buffer=13.21MB hbf_bandwidth=1.01856TB/s)
ok 'and the cost is that of the answer' sh -c "
    pairs() { '$program' solve hbf model=llama-70b buffer=13.21MB --find latency --find hbf_bandwidth \
        --range latency=20us:21us --until 'time_s <= 150ms' --minimize 'buffer_area_mm2' --grid 2 -f csv 2>/dev/null; }
    pairs | sed -n 2p | cut -d, -f5 | perl -ne 'exit !(abs(\$_ / 1e6 / $area - 1) < 1e-4)'"
check_run 'the largest of the other' 0 'buffer_bytes,latency_s,buffer_MB,place
6000000,0.0000153184,6,best
43200000,0.0000430627,43.2,front
311000000,0.0000503619,311,front' '' sh -c "
    '$program' solve hbf model=llama-70b --find buffer --find latency --largest --range buffer=6MB:311MB --grid 3 \
        --until 'slowdown <= 1.1' --minimize buffer_MB -f csv 2>/dev/null | cut -d, -f2-5"
check_run 'no pair: exit code 1' 1 'warps_per_sm,outstanding_per_warp,minimize,place,share_of_peak
1,,,none,
2,,,none,' 'stallcast: 1 of 1 scenario has no warps_per_sm and outstanding_per_warp that meet the conditions: there is no figure' \
    stallcast solve stream --find warps --find outstanding --range warps=1:2 --until 'share_of_peak >= 80%' \
    --minimize warps_per_sm -f csv --plot none.svg
check_run 'pairs without an answer, and why' 1 'line_bytes,warps_per_sm,outstanding_per_warp,minimize,place,share_of_peak
16,1,,,error,
16,32,,,error,
128,1,,,none,
128,32,1,32,best,0.778628' 'stallcast: 2 of 4 values of warps_per_sm have no answer; the first: line: 16 B must not be smaller than a sector' \
    stallcast solve stream line=16B,128B --find warps --find outstanding --range warps=1:32 --grid 2 \
    --until 'share_of_peak >= 70%' --minimize warps_per_sm -f csv
refuses 'layers: expected a value, got none: give model=NAME or layers=VALUE' \
    solve hbf --find buffer --find latency --until 'slowdown <= 1.1' --minimize buffer
for cost in 'warps / 0' 'warps / (warps - warps)' 'warps * 1e308 * 1e308'; do
    check_run "no pair has a cost: $cost" 1 'place
none
front' 'stallcast: --minimize: in 1 of 1 scenario no pair has a cost, so none is the best' sh -c "
        '$program' solve stream --find warps --find outstanding --range warps=8:32 --grid 2 \
            --until 'share_of_peak >= 70%' --minimize '$cost' -c slowdown,extrapolated -f csv >costs.csv; code=\$?
        cut -d, -f4 costs.csv; exit \$code"
done
if command -v gnuplot >/dev/null; then
    for format in svg png pdf; do
        pairs latency=20us,50us --plot front.$format >/dev/null 2>&1
        ok "--plot front.$format" test -s front.$format
    done
    ok 'the figure names the axes and the scenarios' sh -c '
        for text in "buffer (MB)" "hbf_bandwidth (TB/s)" "20 us" "50 us"; do grep -qF "$text" front.svg || exit 1; done'
else
    skip 'no gnuplot'
fi

# ---- refusals ----

stream() {
    reason=$1
    shift
    refuses "$reason" solve stream "$@"
}
condition() {
    reason=$1
    shift
    refuses "--until: $reason" solve stream --find warps --until "$@"
}
refuses "solve: expected a system first: solve SYSTEM [key=value ...] --find KEY --until 'METRIC <= X' [options]" solve
stream 'solve: expected --find KEY' --until 'slowdown <= 2'
stream "solve: expected --until 'METRIC <= X'" --find warps
stream "--find: 'wraps_per_sm' is not a key of stream: did you mean warps_per_sm?" --find wraps_per_sm --until 'slowdown < 2'
refuses "--find: 'read_cost' is not a key of uvm: did you mean random_read_cost?" \
    solve uvm --find read_cost --until 'slowdown < 2'
stream "--find: 'abacus' is not a key of stream: 'stallcast list fields stream' shows them" \
    --find abacus --until 'slowdown < 2'
stream "--find: expected a number, and gpu has names: 'stallcast rank' orders those" \
    --find gpu --until 'slowdown < 2'
stream 'warps_per_sm is what --find looks for: --range warps_per_sm=low:high limits it' \
    warps=5 --find warps --until 'slowdown < 2'
condition "slowdwn < 2: stream has no metric 'slowdwn': did you mean slowdown?" 'slowdwn < 2'
condition "tine_s < 2ms: stream has no metric 'tine_s': did you mean time_s?" 'tine_s < 2ms'
condition "warps_per_sm < 2: expected a metric, and warps_per_sm is a key: 'stallcast list columns stream' shows metrics" \
    'warps_per_sm < 2'
condition "abacus < 2: stream has no metric 'abacus': 'stallcast list columns stream' shows them" 'abacus < 2'
condition "time_s < 2: expected a time with a unit (ns, us, ms, s, min, h, cycles), got '2'" 'time_s < 2'
condition "share_of_peak >= 40 GB: expected a share (a bare number, %), got '40 GB', a size" 'share_of_peak >= 40 GB'
condition 'time_s < 100cycles: expected a time without cycles' 'time_s < 100cycles'
condition "slowdown <: expected a pure number, got ''" 'slowdown < '
condition 'slowdown = 2: expected METRIC, one of <= >= < >, and a value' 'slowdown = 2'
condition 'slowdown: expected METRIC, one of <= >= < >, and a value' slowdown
condition '>= 2: expected a metric before >=' '>= 2'
condition '2 >= slowdown: expected a metric before >=' '2 >= slowdown'
condition 'expected METRIC, one of <= >= < >, and a value' ' '
for joined in 'slowdown < 2 or time_s < 1s' 'slowdown < 2, time_s < 1s' 'slowdown < 2 AND time_s < 1s' '1 < slowdown < 2'; do
    condition "$joined: expected one of <= >= < > once: conditions are joined by \`and\`" "$joined"
done
condition 'expected a condition on either side of `and`' 'slowdown < 2 and'
condition 'expected a condition on either side of `and`' 'and slowdown < 2'
condition 'bound < 2: expected a metric that is a number, and bound is a word' 'bound < 2'
condition 'slowdown > 1.2: no slowdown can meet this and the condition before' 'slowdown <= 1.1 and slowdown > 1.2'
condition 'slowdown >= 2: no slowdown can meet this and the condition before' 'slowdown < 2 and slowdown >= 2'
stream '--largest and --smallest contradict each other' \
    --find warps --until 'slowdown < 2' --largest --smallest
for points in 7 1000001 many; do
    stream "--points: expected a whole number from 8 to 1000000, got '$points'" \
        --find warps --until 'slowdown < 2' --points $points
done
range() {
    reason=$1
    shift
    stream "--range$reason" --until 'slowdown < 2' --find "$@"
}
range ": expected low:high, got '100ns'" latency --range 100ns
range ": expected low:high, got '1:2:3'" latency --range 1:2:3
range ": expected latency=low:high, got 'warps=1:2'" latency --range warps=1:2
range ' 9:1: expected low:high, low not above high' warps --range 9:1
range " 1:0: warps_per_sm: expected a value from 1 to 1024, got '0'" warps --range 1:0
range " 1:1.5: warps_per_sm: expected a whole number, got '1.5'" warps --range 1:1.5
range ' 10cycles:100ns: expected a range all in cycles, or nothing of it' latency --range 10cycles:100ns
range ' warps=1:4: warps_per_sm is given twice' warps --range 1:5 --range warps=1:4
pair() {
    reason=$1
    shift
    refuses "$reason" solve stream --until 'share_of_peak >= 80%' --find warps "$@"
}
pair '--find of two keys: expected --minimize EXPR' --find outstanding
pair '--minimize: expected two keys to --find' --minimize warps
pair '--plot: expected two keys to --find' --plot x.svg
pair '--grid: expected two keys to --find' --grid 5
pair '--find: warps_per_sm is given twice' --find warps --minimize warps
pair '--find: expected one key or two' --find outstanding --find mshr --minimize warps
pair "--minimize: stream has no key and no metric 'bandwith' that is a number: did you mean bandwidth?" \
    --find outstanding --minimize 'warps * bandwith'
pair "--minimize: stream has no key and no metric 'bound' that is a number" \
    --find outstanding --minimize 'warps * bound'
pair "--minimize: stream has no key and no metric 'gpu' that is a number" \
    --find outstanding --minimize 'warps * gpu'
pair "--minimize: warps *: expected a number, a column or '(', got the end" \
    --find outstanding --minimize 'warps *'
pair "--range: expected warps_per_sm=low:high or outstanding_per_warp=low:high, got '1:2'" \
    --find outstanding --minimize warps --range 1:2
pair "--grid: expected a whole number from 2 to 1000000, got '1'" --find outstanding --minimize warps --grid 1
stream '--columns: warps_per_sm is there already' --find warps --until 'slowdown < 2' -c warps_per_sm
pair '--columns: outstanding_per_warp is there already' \
    --find outstanding --minimize warps -c slowdown,outstanding_per_warp
pair "--plot: expected a name that ends in .svg, .png or .pdf, got 'x.txt'" \
    --find outstanding --minimize warps --plot x.txt
stream "--columns: stream has no column 'abacus'" --find warps --until 'slowdown < 2' -c abacus
finish
