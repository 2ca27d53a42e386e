#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# compare: rows and scores by hand, what counts and what does not, bad input, counters that cannot
# be right, limits, and from a simulator's log to a parity plot.

. "${0%/*}/lib.sh"

cp "$source_tree"/data/examples/accelsim.log .
usage='[SYSTEM] FILE [key=value ...] [options]'

# What the closed form says of the scenarios below, in full.
answer() {
    "$program" estimate stream "$1" -c "$2" -f csv --digits all 2>/dev/null | tail -n 1 | sed 's/.*,//'
}
t8=$(answer warps_per_sm=8 time_s) lo8=$(answer warps_per_sm=8 slowdown_lo)
hi8=$(answer warps_per_sm=8 slowdown_hi) s8=$(answer warps_per_sm=8 slowdown)
t16=$(answer warps_per_sm=16 time_s) t32=$(answer warps_per_sm=32 time_s)

# near A B: to 9 digits; empty is 0, so an empty B never passes for a number.
near() {
    awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; if (d < 0) d = -d; m = a < 0 ? -a : a
        if (!(a != "" && b != "" && d <= 1e-9 * m)) { print a, b; exit 1 } }'
}
# column FILE NAME LINE: a cell of a CSV file without quotes.
column() {
    awk -F, -v name="$2" -v line="$3" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) k = i }
        NR == line { print $k }' "$1"
}

# ---- rows by hand ----

# Measured 10 % below, 25 % above, half of what is predicted.
awk -v a="$t8" -v b="$t16" -v c="$t32" 'BEGIN { print "name,warps_per_sm,time_us,owner"
    printf "low,8,%.17g,ann\nhigh,16,%.17g,bob\nhalf,32,%.17g,ann\n", a / 1.1e-6, b / 0.8e-6, c / 2e-6 }' >three.csv
"$program" compare stream three.csv -f csv --digits all --in-order >rows.csv 2>err
ok 'exit code 0' [ $? -eq 0 ]
ok 'the columns of the file, then what stands beside them' [ "$(head -n 1 rows.csv)" = \
    name,warps_per_sm,time_us,owner,stallcast_line,measured_time_s,predicted_time_s,predicted_lo_s,predicted_hi_s,ratio,error_percent,inside,bound,counted,checks,reason ]
ok 'cells of the file as they are' sh -c 'cut -d, -f1-4 rows.csv | cmp - three.csv'
ok 'predicted is what estimate says' near "$t8" "$(column rows.csv predicted_time_s 2)"
ok 'measured in SI' near "$(awk "BEGIN { printf \"%.17g\", $t8 / 1.1 }")" "$(column rows.csv measured_time_s 2)"
ok 'ratio is predicted over measured' near 1.1 "$(column rows.csv ratio 2)"
ok 'the error has a sign' near -20 "$(column rows.csv error_percent 3)"
ok 'the interval is that of slowdown, scaled: low' near \
    "$(awk "BEGIN { printf \"%.17g\", $t8 * $lo8 / $s8 }")" "$(column rows.csv predicted_lo_s 2)"
ok 'high' near "$(awk "BEGIN { printf \"%.17g\", $t8 * $hi8 / $s8 }")" "$(column rows.csv predicted_hi_s 2)"
ok 'outside of it' [ "$(column rows.csv inside 2)" = 0 ]
ok 'the worst first' [ "$("$program" compare stream three.csv -f csv 2>/dev/null | cut -d, -f1 | tr '\n' ' ')" = \
    'name half high low ' ]
ok '--top' [ "$("$program" compare stream three.csv -f csv --top 2 2>/dev/null | cut -d, -f1 | tr '\n' ' ')" = \
    'name half high ' ]
ok '--top --in-order: the worst two, as in the file' [ \
    "$("$program" compare stream three.csv -f csv --top 2 --in-order 2>/dev/null | cut -d, -f1 | tr '\n' ' ')" = \
    'name high half ' ]

# ---- scores by hand ----

# Ratios 1.1, 0.8, 2: errors 0.1, 0.2, 1.
"$program" compare stream three.csv --summary -f csv --digits all >scores.csv 2>err
ok '--summary says nothing more' [ ! -s err ]
score() {
    ok "$1" near "$2" "$(column scores.csv "$1" 2)"
}
score rows 3
score counted 3
score mape_percent "$(awk 'BEGIN { printf "%.17g", 130 / 3 }')"
score geometric_error "$(awk 'BEGIN { printf "%.17g", exp((log(1.1) + log(1.25) + log(2)) / 3) }')"
score bias_percent "$(awk 'BEGIN { printf "%.17g", 100 * (exp((log(1.1) + log(0.8) + log(2)) / 3) - 1) }')"
score worst_percent 100
score nrmse "$(awk -v a="$t8" -v b="$t16" -v c="$t32" 'BEGIN { x = a / 1.1; y = b / 0.8; z = c / 2
    printf "%.17g", sqrt(((a - x) ^ 2 + (b - y) ^ 2 + (c - z) ^ 2) / 3) / ((x + y + z) / 3) }')"
score pearson_log "$(awk -v a="$t8" -v b="$t16" -v c="$t32" 'BEGIN {
    p[1] = log(a); p[2] = log(b); p[3] = log(c)
    m[1] = log(a / 1.1); m[2] = log(b / 0.8); m[3] = log(c / 2)
    for (i = 1; i <= 3; i++) { P += p[i] / 3; M += m[i] / 3 }
    for (i = 1; i <= 3; i++) { pp += (p[i] - P) ^ 2; mm += (m[i] - M) ^ 2; pm += (p[i] - P) * (m[i] - M) }
    printf "%.17g", pm / sqrt(pp * mm) }')"
# Predicted rises; measured is 17.0, 23.7, 11.6 us: one pair alike, two not.
score kendall_tau "$(awk 'BEGIN { printf "%.17g", -1 / 3 }')"
score intervals 3
score coverage 0
"$program" compare stream three.csv >/dev/null 2>err
ok 'as a line' grep -q '^time_s of 3 of 3 rows: mean error 43.3 %, geometric error 1.401, bias 20.7 %, worst 100 %, NRMSE 0\.[0-9]*, Pearson of logs -0\.[0-9]*, Kendall tau -0.333; 0 of 3 inside their 90 % interval$' err
"$program" compare stream three.csv --by owner --summary -f csv --digits 6 >scores.csv 2>err
for row in 'ann 2 55 100' 'bob 1 20 20' 'all 3 43.3333 100'; do
    ok "--by: $row" sh -c "[ '$row' = \"\$(awk -F, -v g=${row%% *} 'NR == 1 { for (i = 1; i <= NF; i++) k[\$i] = i }
        \$1 == g { print g, \$k[\"counted\"], \$k[\"mape_percent\"], \$k[\"worst_percent\"] }' scores.csv)\" ]"
done
"$program" compare stream three.csv --by owner >/dev/null 2>err
ok 'a line for each, and for all' [ "$(sed 's/ of .*//' err | tr '\n' '|')" = 'owner ann: time_s|owner bob: time_s|time_s|' ]
ok 'one row has no correlation, in words' grep -q '^owner bob: .*; no correlation, which needs two rows that differ;' err

# ---- reciprocals, cycles, shares ----

printf 'warps_per_sm,measured_throughput_GB/s\n8,50\n' | "$program" compare stream - -f csv --digits all >rows.csv 2>err
ok 'a reciprocal: the interval the other way round' near \
    "$(awk "BEGIN { printf \"%.17g\", $(answer warps_per_sm=8 throughput_bytes_per_s) * $s8 / $hi8 }")" \
    "$(column rows.csv predicted_lo_bytes_per_s 2)"
printf 'model,policy,measured_performance\nllama-8b,h3,0.2\n' | "$program" compare hbf - -f csv --digits all >rows.csv 2>err
ok 'performance is a ratio' near "$(awk "BEGIN { printf \"%.17g\", $("$program" estimate hbf model=llama-8b policy=h3 \
    -c performance -f csv --digits all | tail -n 1 | sed 's/.*,//') / 0.2 }")" "$(column rows.csv ratio 2)"
ok 'with an interval' [ -n "$(column rows.csv predicted_lo 2)" ]
printf 'kernel,policy,ipc\nbackprop,sk,1\n' | "$program" compare prefetch - --measured ipc -f csv >rows.csv 2>err
ok 'none where the baseline is an answer too' [ "$(column rows.csv predicted_lo 2)" = '' ]
printf 'warps_per_sm,cycles\n8,21272\n' >cycles.csv
"$program" compare stream cycles.csv -f csv --digits all >rows.csv 2>err
ok 'cycles' near "$(answer warps_per_sm=8 cycles)" "$(column rows.csv predicted_cycles 2)"
printf 'warps_per_sm,measured_time_s\n8,21272cycles\n' | "$program" compare stream - -f csv --digits all >rows.csv 2>err
ok 'cycles in a cell, by the clock' near "$(awk 'BEGIN { printf "%.17g", 21272 / 1.132e9 }')" "$(column rows.csv stallcast_measured_time_s 2)"
printf 'warps_per_sm,measured_throughput_bytes_per_s\n8,50bytes/cycle\n' | "$program" compare stream - -f csv --digits all >rows.csv 2>err
ok 'bytes per cycle likewise' near 56600000000 "$(column rows.csv stallcast_measured_throughput_bytes_per_s 2)"
printf 'model,policy,energy_per_token_j\nllama-8b,h3,0.3\n' | "$program" compare hbf - --measured energy_per_token_j -f csv >rows.csv 2>err
ok 'a unit in small letters' [ "$(column rows.csv measured_energy_per_token_j 2)" = 0.3 ]
printf 'model,policy,run (ms)\nllama-8b,h3,57\n' | "$program" compare hbf - --measured 'run (ms)=time_s' -f csv >rows.csv 2>err
ok 'the unit of a column by another name' [ "$(column rows.csv measured_time_s 2)" = 0.057 ]

# fixed NAME POWERS SCENARIO...: columns that go with slowdown, or its reciprocal, times what the
# scenario gives: the same for two answers to it, and for the simulator.
fixed() {
    powers=$1 columns=$2 simulated=$3
    shift 3
    "$program" estimate "$@" -c "slowdown,$columns" -f csv --digits all >got 2>/dev/null
    [ -z "$simulated" ] || "$program" simulate "$1" $simulated -c "slowdown,$columns" -f csv --digits all >more 2>/dev/null
    [ -z "$simulated" ] || tail -n 1 more >>got
    ok "$1: $columns" awk -F, -v powers="$powers" -v columns="$columns" '
        BEGIN { n = split(columns, c, ","); split(powers, p, ",") }
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == "slowdown") s = i }
        NR > 1 { for (i = 1; i <= n; i++) { k = p[i] > 0 ? $(s + i) / $s : $(s + i) * $s
            if (NR == 2) first[i] = k
            d = k / first[i] - 1
            if (d > 1e-9 || d < -1e-9) { print c[i], k, first[i]; bad = 1 } } }
        END { exit bad || NR < (("'"$simulated"'" == "") ? 3 : 4) }' got
}
fixed -1,1,1 performance,time_s,layer_time_s 'model=llama-8b policy=slipstream' \
    hbf model=llama-8b policy=h3,slipstream
fixed 1,1,-1,-1 time_s,cycles,throughput_bytes_per_s,share_of_peak mshr_entries=512 stream mshr_entries=4,512
fixed 1,-1,-1 time_s,tokens_per_s,bandwidth_bytes_per_s '' \
    uvm gpu=a40 app=llm-32b-q5 memory_capacity=16GB policy=uvm,mapped
fixed -1 speedup '' prefetch kernel=backprop policy=sk,o-sc

# The simulator measured, inside or outside, whatever the metric; moved so that some are outside.
"$program" simulate stream warps_per_sm=4:32:4 -c slowdown,time_s,cycles,throughput_bytes_per_s -f csv --digits all 2>/dev/null |
    awk -F, 'NR == 1 { print "group," $0; next }
        { f = 1 + (NR - 5) * 0.02; printf "%d,%s,%.17g,%.17g,%.17g,%.17g\n", NR, $1, $2 * f, $3 * f, $4 * f, $5 / f }' >moved.csv
for metric in slowdown time_s cycles throughput_bytes_per_s; do
    "$program" compare stream moved.csv --measured $metric -f csv --in-order 2>/dev/null |
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "inside") k = i } NR > 1 { print $k }' >inside.$metric
    ok "$metric: inside and outside as slowdown is" cmp inside.slowdown inside.$metric
done
ok 'of both there are some' [ "$(sort -u inside.slowdown | tr -d '\n')" = 01 ]

shares='model,policy,measured_hbf_utilisation
llama-70b,on-demand,0
llama-8b,slipstream,40 %'
put_lines "$shares" >shares.csv
"$program" compare hbf shares.csv -f csv --digits all --in-order >rows.csv 2>err
u1=$("$program" estimate hbf model=llama-70b policy=on-demand -c hbf_utilisation -f csv --digits all | tail -n 1 | sed 's/.*,//')
u2=$("$program" estimate hbf model=llama-8b policy=slipstream -c hbf_utilisation -f csv --digits all | tail -n 1 | sed 's/.*,//')
ok 'shares in points' near "$(awk "BEGIN { printf \"%.17g\", 100 * $u1 }")" "$(column rows.csv error_points 2)"
ok 'and no ratio' sh -c '! head -n 1 rows.csv | grep -q -e ratio -e error_percent'
"$program" compare hbf shares.csv --summary -f csv --digits all >scores.csv 2>err
score mean_error_points "$(awk "BEGIN { printf \"%.17g\", 50 * ($u1 + $u2 - 0.4) }")"
score bias_points "$(awk "BEGIN { printf \"%.17g\", 50 * ($u1 + $u2 - 0.4) }")"
score worst_points "$(awk "BEGIN { printf \"%.17g\", 100 * ($u2 - 0.4 > $u1 ? $u2 - 0.4 : $u1) }")"
score kendall_tau 1

# ---- what counts ----

cat >standing.csv <<'END'
name,warps_per_sm,time_us,not_counted,kernel_whole
fine,8,20,,1
long,8,>10us,,1
short,8,<10,,1
missed,8,>1 ms,,1
told,8,20,cache hits,1
cut,8,20,,0
none,8,,,1
slip,8,fast,,1
worse,x,20,,1
long row,8,20,,1,9
short row,8
END
check_run 'every row has its place and its reason' 1 \
'name,stallcast_line,measured_time_s,predicted_time_s,predicted_lo_s,predicted_hi_s,ratio,error_percent,inside,bound,counted,checks,reason
fine,2,0.00002,0.0000187,0.0000178,0.0000196,0.935,-6.54,0,latency,1,,
long,3,0.00001,0.0000187,0.0000178,0.0000196,,,,latency,0,,"measured: at least that, and so is predicted"
short,4,0.00001,0.0000187,0.0000178,0.0000196,1.87,86.9,,latency,0,,"measured: at most that, and predicted is above"
missed,5,0.001,0.0000187,0.0000178,0.0000196,0.0187,-98.1,,latency,0,,"measured: at least that, and predicted is below"
told,6,0.00002,0.0000187,0.0000178,0.0000196,0.935,-6.54,0,latency,0,,cache hits
cut,7,0.00002,0.0000187,0.0000178,0.0000196,0.935,-6.54,0,latency,0,,the run was stopped within the kernel
none,8,,0.0000187,0.0000178,0.0000196,,,,latency,0,,nothing was measured
slip,9,,0.0000187,0.0000178,0.0000196,,,,latency,0,,"standing.csv:9: time_us: expected a time, got '"'fast'"': not a number"
worse,10,,,,,,,,,0,,"standing.csv:10: warps_per_sm: expected a pure number, got '"'x'"'"
long row,11,,,,,,,,,0,,"standing.csv:11: expected 5 fields, got 6: beyond the header: 9"
short row,12,,,,,,,,,0,,"standing.csv:12: expected 5 fields, got 2"' \
'time_s of 1 of 11 rows: mean error 6.54 %, geometric error 1.07, bias -6.54 %, worst 6.54 %, NRMSE 0.0654; no correlation, which needs two rows that differ; 0 of 1 inside their 90 % interval; 3 known from one side, 1 of them predicted there; 3 not counted; 4 bad
stallcast: 4 of 11 rows cannot be compared; the first: standing.csv:9: time_us: expected a time, got '"'fast'"': not a number' \
    stallcast compare stream standing.csv -f csv --in-order -c name --digits 3
check_run '--strict stops at the first' 2 '' \
    "stallcast: standing.csv:9: time_us: expected a time, got 'fast': not a number" \
    stallcast compare stream standing.csv --strict -f csv
echo old >old.csv
check_run '--strict leaves no file' 2 '' \
    "stallcast: standing.csv:9: time_us: expected a time, got 'fast': not a number" \
    stallcast compare stream standing.csv --strict -o old.csv
ok 'but the one that stood there' [ "$(cat old.csv)" = old ]
ok 'those that count come first, then the others, bad ones last' [ \
    "$("$program" compare stream standing.csv -f csv -c name 2>/dev/null | cut -d, -f1 | tr '\n' ' ')" = \
    'name fine long short missed told cut none slip worse long row short row ' ]
check_run 'a table leaves out what is empty' 0 \
'name  line  measured_time (us)  predicted_time (us)  predicted_lo (us)  predicted_hi (us)   ratio  error_percent  inside  bound
fine     2                  20                18.69               17.8              19.63  0.9346         -6.539       0  latency' \
'time_s of 1 of 1 rows: mean error 6.54 %, geometric error 1.07, bias -6.54 %, worst 6.54 %, NRMSE 0.0654; no correlation, which needs two rows that differ; 0 of 1 inside their 90 % interval' \
    stallcast compare stream standing.csv --only '^fine' -c name
check_run 'JSON' 0 '[
{"warps_per_sm":"8","stallcast_line":2,"measured_time_s":0.00002,"predicted_time_s":0.0000187,"predicted_lo_s":0.0000178,"predicted_hi_s":0.0000196,"ratio":0.935,"error_percent":-6.54,"inside":0,"bound":"latency","counted":1,"checks":null,"reason":null}
]' "$(tail -n 1 "$results/want_err")" stallcast compare stream standing.csv --only '^fine' -c warps_per_sm -f json --digits 3
none_counts='nothing was compared: none of 1 rows counts; the first: nothing was measured'
check_run 'when nothing counts the answer is no' 1 'name,reason
none,nothing was measured' "time_s of 0 of 1 rows: nothing to take a mean of; 1 not counted
stallcast: standing.csv: $none_counts" sh -c "'$program' compare stream standing.csv --only ^none -f csv -c name | cut -d, -f1,13; exit 1"
check_run 'and no score is made up' 1 \
'metric,rows,counted,one_sided,one_sided_met,not_counted,bad,checks_failed,mape_percent,geometric_error,bias_percent,worst_percent,nrmse,pearson_log,kendall_tau,intervals,coverage,level
time_s,1,0,0,0,1,0,0,,,,,,,,0,,' "stallcast: standing.csv: $none_counts" \
    stallcast compare stream standing.csv --only ^none --summary -f csv
check_run 'a header alone' 1 'metric  rows  counted' 'stallcast: head.csv: nothing was compared: there is no row' \
    sh -c "printf 'warps_per_sm,time_us\n' >head.csv; '$program' compare stream head.csv --summary | sed -n '1s/  one.*//p'; exit 1"
check_run 'decimal comma' 0 'warps_per_sm;measured_time_us;stallcast_line;measured_time_s;predicted_time_s;predicted_lo_s;predicted_hi_s;ratio;error_percent;inside;bound;counted;checks;reason
8;18,7;2;0,0000187;0,0000187;0,0000178;0,0000196;1;-0,0418;1;latency;1;;' \
'time_s of 1 of 1 rows: mean error 0.0418 %, geometric error 1, bias -0.0418 %, worst 0.0418 %, NRMSE 0.000418; no correlation, which needs two rows that differ; 1 of 1 inside their 90 % interval' \
    sh -c "printf 'warps_per_sm;measured_time_us\n8;18,7\n' | '$program' compare stream - -f csv --digits 3"
check_run '--from is the same, keys fill what a row leaves empty' 0 "$(tail -n +2 "$results/want_out" | head -n 0)time_s,1" '' \
    sh -c "printf 'note,time_us\nx,18.7\n' | '$program' compare stream warps_per_sm=8 --from - --summary -f csv | tail -n 1 | cut -d, -f1,3"

# ---- limits ----

limit() {
    "$program" compare stream three.csv --summary -f csv --fail-above "$1" >/dev/null 2>err
    ok "--fail-above $1: exit code $2" [ $? -eq "$2" ]
    ok "says '$3'" [ "$(cat err)" = "$3" ]
}
limit 44 0 ''
limit 44% 0 ''
limit 43% 1 'stallcast: mean error 43.3333 % is above 43 %'
limit mape=43 1 'stallcast: mean error 43.3333 % is above 43 %'
limit geometric=1.41 0 ''
limit geometric=1.4 1 'stallcast: geometric error 1.40102 is above 1.4'
limit worst=99 1 'stallcast: worst 100 % is above 99 %'
limit outside=50% 1 'stallcast: share outside the interval 100 % is above 50 %'
limit '' 2 'stallcast: --fail-above needs a value: --fail-above LIMIT'
limit -1 2 "stallcast: --fail-above: expected a number not below 0, of %, got '-1'"
limit nan 2 "stallcast: --fail-above: expected a number not below 0, of %, got 'nan'"
limit geometric=5% 2 "stallcast: --fail-above: expected a number not below 0, got '5%'"
limit rmse=5 2 "stallcast: --fail-above: expected a limit of one of mape, geometric, worst, nrmse, outside, got 'rmse'"
limit points=5 2 "stallcast: --fail-above: expected a limit of one of mape, geometric, worst, nrmse, outside, got 'points'"
check_run 'several limits, each in a line' 1 '' 'stallcast: mean error 43.3333 % is above 1 %
stallcast: worst 100 % is above 2 %' sh -c "'$program' compare stream three.csv --summary --fail-above 1 --fail-above worst=2 >/dev/null"
check_run 'a limit on intervals that there are none of' 1 '' 'stallcast: --fail-above outside=5: no row has an interval' \
    sh -c "printf 'kernel,policy,measured_ipc\nbackprop,sk,1\n' | '$program' compare prefetch - --summary --fail-above outside=5 2>&1 >/dev/null | grep above >&2; exit 1"
refuses "--fail-above: expected a limit of one of points, worst, got 'mape'" compare hbf shares.csv --fail-above mape=5
check_run 'points' 1 '' "stallcast: mean error $(awk "BEGIN { printf \"%.6g\", 50 * ($u1 + $u2 - 0.4) }") points is above 1 points" \
    sh -c "'$program' compare hbf shares.csv --summary --fail-above 1 >/dev/null"

# ---- what is refused ----

refuses "compare: expected a file: compare $usage" compare stream
refuses "compare: expected a system first: compare $usage" compare
refuses "no system 'steam': did you mean stream?" compare steam three.csv
refuses 'none.csv: No such file or directory' compare stream none.csv
refuses "compare: 'b.csv' is one file too many" compare stream three.csv b.csv
refuses "compare: 'three.csv' is one file too many" compare stream --from three.csv three.csv
refuses 'compare answers each row once: a list or range on the command line has no place there' \
    compare stream three.csv sms=1,2
refuses '--summary: not with --top, which is about rows' compare stream three.csv --summary --top 1
refuses "--top: expected a whole number from 1 to 9223372036854775807, got '0'" compare stream three.csv --top 0
refuses "--by: three.csv has no column 'ownr': did you mean owner?" compare stream three.csv --by ownr
refuses "--columns: three.csv has no column 'nam': did you mean name?" compare stream three.csv -c nam
refuses "--measured: no column 'tim_us': did you mean time_us?" compare stream three.csv --measured tim_us
refuses "--measured: no metric 'time_z': did you mean time_s?" compare stream three.csv --measured owner=time_z
refuses "--measured: column 'owner' is not called after a metric of stream: say which it is, --measured 'owner=METRIC'" \
    compare stream three.csv --measured owner
refuses "--plot: expected a name that ends in .svg, .png or .pdf, got 'x.gif'" compare stream three.csv --plot x.gif
cp three.csv three.svg
refuses '--plot: three.svg would replace what is read' compare stream three.svg --plot three.svg
refuses '-o: three.csv would replace what is read' compare stream three.csv -o three.csv
printf 'warps_per_sm,run\n8,5\n' >unnamed.csv
refuses 'unnamed.csv:1: no column measured_METRIC, time_s, cycles or slowdown: say what was measured, --measured COLUMN[=METRIC]' \
    compare stream unnamed.csv
printf 'colour,time_us\nred,5\n' >nokey.csv
refuses "nokey.csv:1: no column names a key of stream: 'stallcast list fields stream' shows them" compare stream nokey.csv
printf 'warps_per_sm,time_us\n8,"5\n' >quote.csv
refuses 'quote.csv:2: the quote that opens here is never closed' compare stream quote.csv
: >empty.csv
refuses 'empty.csv: expected a header line with the names of keys, got nothing' compare stream empty.csv
printf 'app,gpu,policy,time_s\nk-means,a40,uvm,5cycles\n' >clock.csv
check_run 'cycles where there is no clock' 1 '' "stallcast: extrapolated, the interval may not hold: outside of what was sampled: passes
stallcast: 1 of 1 rows cannot be compared; the first: clock.csv:2: time_s: expected a time, got '5cycles': there is no clock to count cycles of
stallcast: clock.csv: nothing was compared: none of 1 rows counts" \
    sh -c "'$program' compare uvm clock.csv footprint=20GiB --summary >/dev/null"
check_run 'two columns could be meant: it says which' 0 '' "stallcast: standard input: column 'time_s' is taken for the measurement; --measured takes another" \
    sh -c "printf 'warps_per_sm,cycles,time_s\n8,21000,1.9e-5\n' | '$program' compare stream - --summary >/dev/null"

# ---- what can be no measurement ----

# cell TEXT REASON: of a measured time.
cell() {
    printf 'warps_per_sm;time_us\n8;20\n8;%s\n' "$1" >cell.csv
    "$program" compare stream cell.csv --decimal . -f csv --in-order >rows.csv 2>err
    ok "a time of $1: exit code 1" [ $? -eq 1 ]
    ok 'the row stays, with the reason' sh -c \
        '[ "$(wc -l <rows.csv)" -eq 3 ] && tail -n 1 rows.csv | grep -qF "cell.csv:3: time_us: expected a time$1" ||
            { cat rows.csv; exit 1; }' sh "$2"
    ok 'and counts nowhere' grep -q '^time_s of 1 of 2 rows: mean error 6.54 %,.* worst 6.54 %,.*; 1 bad$' err
    ok 'no number is none' sh -c '! grep -Eiw "nan|inf" rows.csv err || grep -q "got .nan\|got .inf\|got .>nan" err'
    "$program" fit stream cell.csv --decimal . --free latency >out 2>err
    ok 'nor is it fitted to' [ $? -eq 2 -a ! -s out ]
}
big='too large or too small'
cell 0 " above 0, got '0'"
cell -21 " above 0, got '-21'"
cell '<0' " above 0, got '<0'"
cell nan ", got 'nan': not a finite"
cell inf ", got 'inf': not a finite"
cell '>nan' ", got '>nan': not a finite"
cell '>' ", got '>': empty"
cell 1e308 ", got '1e308': $big to be measured"
cell 1e-308 ", got '1e-308': $big to be measured"
cell 1e40 ", got '1e40': $big to be measured"
cell '>1e-40' ", got '>1e-40': $big to be measured"
cell 1e309 ", got '1e309': $big"
cell 20MB ", got '20MB': a size"
cell '20 us x' ", got '20 us x': text after the number"
cell 1,000 ", got '1,000': no thousands separators"
check_run 'per cent without the sign' 1 'h3,2,,0.122,,,,,stream order,0,,"of.csv:2: measured_hbf_utilisation: expected a share of 1, or one in per cent with a % sign, got '"'12'"'"' '' \
    sh -c "printf 'policy,measured_hbf_utilisation\nh3,12\nslipstream,46%%\n' >of.csv
        '$program' compare hbf of.csv model=llama-8b -f csv --digits 3 -c policy 2>/dev/null >rows.csv; code=\$?; grep ^h3 rows.csv; exit \$code"
check_run 'with the sign, in the cell or in the name' 0 '0.12
0.46' '' \
    sh -c "printf 'policy,measured_hbf_utilisation (%%)\nh3,12\nslipstream,46%%\n' >of.csv
        '$program' compare hbf of.csv model=llama-8b -f jsonl --in-order 2>/dev/null | sed 's/.*\"measured_hbf_utilisation\":\([0-9.]*\).*/\1/'"

# ---- names that are taken ----

check_run 'nothing is lost by a name' 0 'ratio,time_us,ratio,stallcast_ratio' '' \
    sh -c "printf 'ratio,time_us,warps_per_sm,ratio\na,18.7,8,b\n' | '$program' compare stream - -f csv 2>/dev/null | head -n 1 | cut -d, -f1,2,4,10"
check_run 'nor in JSON' 0 '"ratio":"a"
"ratio_2":"b"
"stallcast_ratio":1' '' sh -c "printf 'ratio,time_us,warps_per_sm,ratio\na,18.7,8,b\n' |
    '$program' compare stream - -f json --digits 3 2>/dev/null | grep -o '\"[a-z_2]*ratio[_2]*\":[^,]*'"
"$program" compare stream three.csv -f csv 2>/dev/null | "$program" compare stream - -f csv >again.csv 2>err
ok 'what was written can be read again' sh -c '[ "$(wc -l <again.csv)" -eq 4 ] && grep -q "^time_s of 3 of 3 rows" err'

# ---- counters ----

"$program" import accelsim accelsim.log --map stream >runs.csv 2>err
ok 'nothing against the example' [ ! -s err ]
ok 'not_counted is a column, and empty' [ "$(column runs.csv not_counted 2)" = '' ] &&
    ok 'the last' sh -c 'head -n 1 runs.csv | grep -q ",not_counted$"'
# broken NAME=VALUE WORDS: a counter of the first row that the check then tells.
broken() {
    awk -F, -v name="${1%=*}" -v value="${1#*=}" 'BEGIN { OFS = "," }
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) k = i } NR == 2 { $k = value } { print }' runs.csv >broken.csv
    "$program" compare stream broken.csv --in-order --measured cycles -f jsonl >rows 2>err
    ok "$1" sh -c 'head -n 1 rows | grep -qF "\"checks\":\"$1\"" && tail -n 1 rows | grep -qF "\"checks\":null" &&
        grep -qxF "stallcast: 1 of 2 rows have counters that cannot be right; the first: broken.csv:2: $1" err || { cat rows err; exit 1; }' sh "$2"
}
little="Little's law: sectors_in_flight is not memory_replies x memory_latency_cycles / (cycles - launch_cycles)"
broken sectors_in_flight=500 "$little"
broken memory_replies=40000 "$little"
broken mshr_entries=1 'more in flight than sms x mshr_entries lines'
broken bytes_per_load_B=32 'more in flight than sms x warps_per_sm x outstanding_per_warp loads'
broken l1_misses=30721 'l1_misses above l1_accesses'
broken l2_misses=30721 'l2_misses above l2_accesses'
broken dram_reads=31500 'dram_reads above l2_misses'
broken dram_throughput_bytes_per_s=3e11 'dram_throughput_bytes_per_s above bandwidth_bytes_per_s'
broken time_s=2e-5 'cycles / clock_Hz is not time_s'
broken launch_cycles=30000 "$little; cycles below launch_cycles"
"$program" compare stream broken.csv --measured cycles --summary -f csv >scores.csv 2>err
ok 'counted in the summary' [ "$(column scores.csv checks_failed 2)" = 1 ]

# ---- from a log to a picture ----

check_run 'from a log' 0 \
'kernel         warps_per_sm  line  measured (cycles)  predicted (cycles)  predicted_lo (cycles)  predicted_hi (cycles)  ratio  error_percent  inside  bound
load_32_warps            32     3              26055               26272                  25022                  27584  1.008         0.8318       1  bandwidth
load_8_warps              8     2              21272               21160                  20153                  22216  0.995        -0.5286       1  latency' \
'' sh -c "'$program' import accelsim accelsim.log --map stream | '$program' compare stream - --measured cycles --fail-above 2% 2>/dev/null"
sed 's/load_insn  = .*/load_insn  = 0/' "$source_tree"/tests/fixtures/import/accelsim.log >idle.log
"$program" import accelsim idle.log --map stream >idle.csv 2>/dev/null
"$program" compare stream idle.csv -f csv -c kernel >rows.csv 2>err
ok 'what the map doubts is shown and not counted' sh -c '[ $1 -eq 1 ] && grep -q "the kernel loads nothing" rows.csv &&
    grep -q "^stallcast: idle.csv: nothing was compared: none of 2 rows counts; the first: the kernel loads nothing" err' sh $?
if command -v gnuplot >/dev/null; then
    for format in svg png pdf; do
        "$program" compare stream runs.csv --measured cycles --by kernel --plot p.$format >out 2>err
        ok "a $format" [ $? -eq 0 -a -s p.$format ]
    done
    ok 'axes and groups are named' sh -c 'for word in "measured cycles" "predicted cycles" load_8_warps load_32_warps "within 10 %"; do
        grep -q ">$word<" p.svg || { echo "no $word"; exit 1; }; done'
    "$program" compare stream standing.csv --plot standing.svg >out 2>err
    ok 'not counted rows are grey' grep -q 'not counted' standing.svg
    printf 'warps_per_sm,time_us,by\n8,18.7,"a,b\\_{x}\n"\n' >odd.csv
    check_run 'a name that is no name for gnuplot' 0 '' '' \
        sh -c "'$program' compare stream odd.csv --by by --plot odd.svg >/dev/null 2>&1 && grep -qF 'a;b/_{x}' odd.svg"
    check_run 'nothing to draw' 1 '' 'stallcast: --plot: no row has both a measurement and a prediction
stallcast: standing.csv: nothing was compared: none of 1 rows counts; the first: nothing was measured' \
        sh -c "'$program' compare stream standing.csv --only ^none --plot none.svg --summary >/dev/null"
    ok 'and no file' [ ! -e none.svg ]
else
    skip 'no gnuplot'
fi
mkdir -p bin
check_run 'without gnuplot' 2 '' 'stallcast: compare --plot needs gnuplot, which is not in PATH (Debian: the package gnuplot-nox); without --plot the rows are written as text' \
    env PATH="$PWD/bin" "$program" compare stream three.csv --plot p.svg

# ---- many rows ----

awk 'BEGIN { print "id,warps_per_sm,time_us"; for (i = 1; i <= 20000; i++) print i "," 1 + i % 32 ",20" }' >many.csv
ok 'a group for every row takes no longer' timeout 60 "$program" compare stream many.csv --by id --summary -f csv -o many.out
ok 'and has them all' sh -c '[ "$(wc -l <many.out)" -eq 20002 ] && tail -n 1 many.out | grep -q "^all,time_s,20000,20000,"'
"$program" compare stream many.csv --by id --top 1 >out 2>err
ok 'lines are not so many' sh -c '[ "$(wc -l <err)" -eq 22 ] && grep -qx "19980 values more of id: --summary has them all" err'
"$program" compare --help >help
ok '--help fits a page' sh -c '! grep -n "^.\{101\}" help'
ok 'nothing is nan or inf' sh -c '! grep -Eiw "nan|inf" rows.csv scores.csv again.csv'

# ---- a file alone ----

printf 'footprint;memory_capacity;pattern;time_s\n8GiB;16GiB;sweep;1,5\n' >alone.csv
ok 'a file says by its columns which system it is about' sh -c \
    '"$0" compare alone.csv 2>&1 >/dev/null | grep -q "^stallcast: alone.csv: taken for uvm, 3 of whose keys it has$"' "$program"
ok 'the answer is that of the system by name' sh -c \
    '"$0" compare alone.csv 2>/dev/null >a; "$0" compare uvm alone.csv 2>/dev/null >b; test -s a && cmp a b' "$program"
printf 'latency,time_s\n1us,1s\n' >either.csv
refuses "either.csv: its columns name as many keys of hbf as of stream: say which it is about, as in 'compare hbf either.csv'" \
    compare either.csv
printf 'colour,time_s\nred,1s\n' >neither.csv
refuses "neither.csv: no column names a key of any system: say which it is about, as in 'compare SYSTEM neither.csv'" \
    compare neither.csv
refuses 'absent.csv: No such file or directory' compare absent.csv
refuses "no system 'hfb': did you mean hbf?" compare hfb either.csv

finish
