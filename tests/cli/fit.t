#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# stallcast fit: planted machines are found, the file says what was learnt and is of use to
# estimate, and what cannot be fitted is refused in one line.

. "${0%/*}/lib.sh"

# measured KEY=VALUE...: the closed form's answers as a user's file, without the machine's keys.
measured() {
    stallcast estimate stream "$@" -f csv -c warps_per_sm,outstanding_per_warp,time_s |
        awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
            { print $at["warps_per_sm"], $at["outstanding_per_warp"], $at["time_s"] }'
}

machine='latency=450ns bandwidth=300GB/s'
# shellcheck disable=SC2086
measured $machine warps_per_sm=1:32:*2 outstanding_per_warp=1,4 >sheet.csv

# value FILE KEY COLUMN: a cell of the report.
value() {
    awk -F, -v key="$2" -v column="$3" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) at = i }
        $1 == key { print $at }' "$1"
}

# between LOW X HIGH
between() {
    awk -v low="$1" -v x="$2" -v high="$3" 'BEGIN { exit !(low <= x && x <= high) }'
}

fit_sheet() {
    stallcast fit stream sheet.csv --free latency,bandwidth "$@"
}

# ---- a planted machine ----

fit_sheet -o mine.params.csv -f csv >report.csv 2>notes
ok 'the planted latency is found' between 4.45e-7 "$(value report.csv latency estimate)" 4.55e-7
ok 'the planted bandwidth is found' between 2.97e11 "$(value report.csv bandwidth estimate)" 3.03e11
ok 'and is inside its interval' between "$(value report.csv latency low_95)" 4.5e-7 \
    "$(value report.csv latency high_95)"
ok 'both were learnt' between 0.99 "$(value report.csv bandwidth learnt)" 1
ok 'rows and errors are said' grep -q '^12 rows: 12 fitted to$' notes
ok 'the cross-validated error is below 1 %' sh -c \
    'awk "/^mean error of time_s/ { exit !(\$5 > 20 && \$11 < 1) }" notes'

# same_machine WORD...: estimate with the fitted file, against the planted machine.
same_machine() {
    stallcast estimate stream --params mine.params.csv "$@" -f csv -c time_s 2>/dev/null |
        awk -F, 'END { print $NF }' >fitted
    # shellcheck disable=SC2086
    stallcast estimate stream $machine "$@" -f csv -c time_s | awk -F, 'END { print $NF }' >planted
    between "$(awk '{ print 0.98 * $1 }' planted)" "$(cat fitted)" \
        "$(awk '{ print 1.02 * $1 }' planted)"
}
ok 'what-ifs are answered on that machine' same_machine warps_per_sm=12 outstanding_per_warp=2
ok 'also where a preset says otherwise' same_machine gpu=a100 warps_per_sm=12
check_run 'a named machine is remarked upon' 0 'time_s
0.0000306909' 'stallcast: gpu=h100, but bandwidth is as it was fitted: give bandwidth=VALUE for another machine
stallcast: extrapolated, the interval may not hold: outside of what was sampled: sms, channels, clock' \
    sh -c "\"$program\" estimate stream gpu=h100 warps_per_sm=8 --params mine.params.csv -f csv -c time_s |
        awk -F, 'NR == 1 { print \$NF } NR == 2 { print \$NF }'"
# notes WORD...: what standard error has, one line of which must match.
notes() {
    pattern=$1
    shift
    stallcast "$@" 2>&1 >/dev/null | grep -q "$pattern"
}
ok 'so is one that is ranked' notes '^stallcast: gpu=[a-z0-9-]*, but bandwidth is as it was fitted' \
    rank stream --over gpu --params mine.params.csv
printf 'gpu,warps_per_sm\nh100,8\na100,8\n' >machines.csv
ok 'and a column of them' notes '^stallcast: machines.csv: column gpu names machines, but bandwidth is as it was fitted in all rows' \
    estimate stream --from machines.csv --params mine.params.csv
ok 'explain speaks of measurements' sh -c '"$0" explain stream --params mine.params.csv 2>/dev/null >why &&
    grep -q "of 100 measurements of scenarios like the" why && grep -q "^  latency  *4[45][0-9.]* ns, standard error" why &&
    ! grep -q "against the simulator" why' "$program"
given_wins() {
    stallcast estimate stream latency=900ns --params mine.params.csv -f csv -c latency |
        grep -q '9e-07$'
}
ok 'what is given counts more than what was fitted' given_wins

# ---- few rows, one side, priors ----

head -n 6 sheet.csv >five.csv
stallcast fit stream five.csv --free latency,bandwidth -f csv >report.csv 2>notes
ok 'five rows already help' sh -c \
    'awk "/^mean error of time_s/ { exit !(\$11 < \$5 / 3) }" notes'
ok "their interval is Student's" grep -q "by Student's t: 5 rows are too few" notes

cat >stopped.csv <<'END'
warps_per_sm,time
4,28 us
8,>26us
16,29us
END
stallcast fit stream stopped.csv --measured time=time_s --free latency -f csv >report.csv 2>notes
ok 'a stopped run is known from one side' \
    grep -q '^3 rows: 3 fitted to, 1 of them known from one side$' notes
ok 'and is no error' between 4.6e-7 "$(value report.csv latency estimate)" 5.2e-7

fit_sheet --prior-sd 1 --free 'latency=400ns~600ns' >out 2>err
check_run 'a key is free once' 2 '' 'stallcast: --free: latency is given twice' \
    fit_sheet --free 'latency=400ns~600ns'
stallcast fit stream five.csv --free 'latency=900ns~1us' --noise 50% -f csv >report.csv 2>notes
ok 'a sharp prior and noise keep the value' \
    between 9e-7 "$(value report.csv latency estimate)" 1e-6

# ---- coefficients ----

cat >uvm.csv <<'END'
footprint,time_s
8GiB,0.95
10GiB,1.07
12GiB,1.2
16GiB,1.58
20GiB,1.99
END
uvm='pattern=random gpu=a40 memory_capacity=8GiB'
# shellcheck disable=SC2086
stallcast fit uvm uvm.csv $uvm --free coefficients,link_rate -o uvm.params.csv -f csv >report.csv 2>notes
ok 'a coefficient moves' between 1.15 "$(value report.csv random_factor estimate)" 1.3
ok 'one that no row depends on is held' \
    test "$(value report.csv lag_share verdict)" = 'held: no row depends on it'
ok 'and stays in the file' grep -q '^parameter,lag_share,,.*,fixed,$' uvm.params.csv
ok 'a key that no row depends on does not' sh -c '! grep -q link_rate uvm.params.csv'
# shellcheck disable=SC2086
ok 'coefficients start from another file' \
    stallcast fit uvm uvm.csv $uvm --params uvm.params.csv -o again.csv
# shellcheck disable=SC2086
stallcast fit uvm uvm.csv $uvm -o - >direct.csv 2>/dev/null
ok 'the file goes to standard output alone' grep -q '^record,name,key' direct.csv
ok 'and is the same twice' sh -c \
    '"$0" fit uvm uvm.csv '"$uvm"' -o - 2>/dev/null | cmp - direct.csv' "$program"

# ---- the same measurements by another metric ----

# Rows of a simulated machine, each as a metric: all are the slowdown or its reciprocal, times what
# the scenario gives, and so tell the same.
# shellcheck disable=SC2086
"$program" estimate stream $machine warps_per_sm=1:32:*2 outstanding_per_warp=1,4 -f csv --digits all \
    -c warps_per_sm,outstanding_per_warp,slowdown,time_s,cycles,throughput_bytes_per_s,share_of_peak |
    cut -d, -f3- | awk -F, -v OFS=, -v CONVFMT=%.17g 'NR > 1 { for (i = NF - 4; i <= NF; i++) $i *= exp((i > NF - 2 ? -1 : 1) * 0.03 * sin(NR)) }
        { print }' >metrics.csv
for metric in time_s cycles throughput_bytes_per_s share_of_peak; do
    "$program" fit stream metrics.csv bandwidth=300GB/s --measured $metric --free latency -o by.params.csv \
        -f csv --digits 4 >by.csv 2>by.notes
    [ $metric != time_s ] || { cp by.csv want.csv; cp by.notes want.notes; cp by.params.csv want.params.csv; }
    ok "$metric: the same estimate" sh -c 'cut -d, -f3 by.csv >a; cut -d, -f3 want.csv | cmp - a'
    ok 'the same interval' sh -c 'tail -n 1 by.notes >a; tail -n 1 want.notes | cmp - a && grep -q "within a factor of" a'
    ok 'which is filed' sh -c '"$0" estimate stream --params by.params.csv -c slowdown_lo,slowdown_hi >a 2>&1
        "$0" estimate stream --params want.params.csv -c slowdown_lo,slowdown_hi 2>&1 | cmp - a' "$program"
done
printf 'warps_per_sm,time_us\n4,1e-20\n8,1e20\n' >wild.csv
stallcast fit stream wild.csv --free latency -o wild.params.csv >out 2>notes
stallcast estimate stream --params wild.params.csv --level 0.99 -f csv >answer 2>>notes
ok 'measurements that contradict each other leave an interval that is a number' \
    sh -c '! grep -Eiw "nan|inf" out notes answer wild.params.csv && grep -q "within a factor of [0-9]" notes &&
        awk -F, "NR == 2 { exit !(\$2 > 0 && \$3 > 1e9) }" answer'

# ---- rows that do not count ----

cat >mixed.csv <<'END'
footprint,time_s,not_counted
8GiB,0.95,
10GiB,1.07,
12GiB,none,
16GiB,1.58,caches
20GiB,,
24GiB,-3,
END
# shellcheck disable=SC2086
check_run 'rows that are left out are counted, and the first is named' 1 '' \
    "6 rows: 2 fitted to; 4 left out, the first: mixed.csv:4: time_s: expected a time, got 'none': not a number" \
    sh -c '"$0" fit uvm mixed.csv '"$uvm"' 2>&1 >/dev/null | head -n 1 >&2; exit 1' "$program"
# shellcheck disable=SC2086
refuses "mixed.csv:4: time_s: expected a time, got 'none': not a number" \
    fit uvm mixed.csv $uvm --strict

# ---- what is refused ----

printf 'warps_per_sm,outstanding_per_warp,time_s\n4,1,2e-5\n8,1,2e-5\n' >same.csv
refuses "--measured: no metric 'time': did you mean time_s?" \
    fit stream same.csv --free latency --measured time_s=time

refuses 'fit: expected a file: fit SYSTEM FILE [key=value ...] [options]' \
    fit uvm
refuses 'fit: expected a file: fit SYSTEM FILE [key=value ...] [options]' \
    fit uvm footprint=4GB
refuses "fit: 'more.csv' is one file too many" fit uvm uvm.csv more.csv
# shellcheck disable=SC2086
ok 'the file may stand behind the keys' sh -c \
    '"$0" fit uvm '"$uvm"' uvm.csv -o - 2>/dev/null | cmp - direct.csv' "$program"
refuses 'absent.csv: No such file or directory' fit uvm absent.csv
refuses 'fit takes each row once: a list or range on the command line has no place there' \
    fit uvm uvm.csv gpu=a40,h200
refuses '--free needs a value: --free KEYS' fit stream sheet.csv --free ''
refuses '--free: stream has no coefficients: say which keys are to be fitted, --free KEY,KEY' \
    fit stream sheet.csv
refuses "--free: no key 'latencyy' of stream: did you mean latency?" \
    fit stream sheet.csv --free latencyy
refuses '--free: warps_per_sm is a column of sheet.csv: what the rows say is not fitted' \
    fit stream sheet.csv --free warps_per_sm
refuses '--free: sms is no real number, so it is not fitted' fit stream sheet.csv --free sms
refuses '--free: latency: 600 ns is not below the upper end' \
    fit stream sheet.csv --free latency=600ns~400ns
refuses "--free: latency: expected LOW~HIGH, got '5us'" fit stream sheet.csv --free latency=5us
refuses '--free: c2: 0 is at an end of what it may be: a fit needs a value inside' \
    fit stream sheet.csv --free c2
printf 'latency_us,slowdown\n10,1.2\n20,1.4\n' >hbf.csv
refuses '--free: dtype_bits decides which measured launches hold, so it is not fitted' \
    fit hbf hbf.csv model=llama-8b --free dtype_bits
refuses "--loss: expected huber or squares, got 'l1'" fit stream sheet.csv --free latency --loss l1
refuses "--folds: expected a whole number from 2 to 1000, got '1'" \
    fit stream sheet.csv --free latency --folds 1
refuses "--by: no column 'machine' in sheet.csv" fit stream sheet.csv --free latency --by machine
refuses "--by: all rows have the same 'outstanding_per_warp', so none can be left out" \
    fit stream same.csv --free latency --by outstanding_per_warp
awk 'BEGIN { print "warps_per_sm,run,time_s"
    for (i = 0; i < 400; i++) print 1 + i % 20 ",r" i ",0.0000" 26 + i % 3 }' >many.csv
stallcast fit stream many.csv --free latency --by run >out 2>notes
ok 'a text for each row makes no more fits than there is time for' grep -q '(50 folds)$' notes
refuses "--noise: expected a share from 0.0001 to 1, got '2'" \
    fit stream sheet.csv --free latency --noise 2
refuses "--measured: no column 'time': did you mean time_s?" fit stream sheet.csv --free latency --measured time
refuses "--measured: no metric 'tim_s': did you mean time_s?" \
    fit stream sheet.csv --free latency --measured warps_per_sm=tim_s
refuses 'cannot write absent/p.csv: No such file or directory' fit stream sheet.csv --free latency -o absent/p.csv
printf 'warps_per_sm,size\n4,3\n' >nothing.csv
refuses 'nothing.csv:1: no column measured_METRIC, time_s, cycles or slowdown: say what was measured, --measured COLUMN[=METRIC]' \
    fit stream nothing.csv --free latency
head -n 2 sheet.csv >one.csv
refuses 'one.csv: a fit needs two rows with a measurement at least, known from both sides, got 1 of 1 rows' \
    fit stream one.csv --free latency

finish
