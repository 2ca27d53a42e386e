#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# plot: the figures of uvm.  Each draws, and its numbers are those of estimate,
# simulate and the published tables.

. "${0%/*}/lib.sh"

if command -v gnuplot >/dev/null; then
    picture() { # FIGURE
        echo "-o $1.svg"
    }
else
    picture() {
        :
    }
fi

# draws FIGURE OPTIONS METRICS X: the picture, and the columns of its numbers
draws() {
    # shellcheck disable=SC2046,SC2086 # options
    check_run "$1" 0 '' '' stallcast plot "$1" $2 $(picture "$1") --csv "$1.csv"
    want=source,series,group,position
    for metric in $3; do
        want=$want,$metric,${metric}_lo,${metric}_hi
    done
    ok "$1: the columns" sh -c '[ "$(head -n 1 "$0.csv")" = "$1" ]' "$1" "$want${4:+,$4}"
    if [ -n "$(picture "$1")" ]; then
        ok "$1: a picture that has lines" grep -q '<path' "$1.svg"
    fi
    ok "$1: nothing is nan or inf" sh -c '! grep -i -E ",-?(nan|inf)" "$0.csv"' "$1"
}

draws uvm-cliff '' 'time_s usable_bytes' footprint_bytes
draws uvm-random '' 'slowdown time_s faults out_bytes' oversubscription
draws uvm-phases '' 'first_phase_bytes_per_s last_phase_bytes_per_s' passes
draws uvm-apps '' time_s ''
draws uvm-drift '' time_s drift
draws uvm-llm '' tokens_per_s ''
draws uvm-winner-within '' time_s touches
draws uvm-winner-across '' time_s passes
draws uvm-parity '--samples 40' slowdown simulated_slowdown

# ---- the closed form and the simulator ----

window='gpu=gh200 app=moving-window policy=ember-static drift=0%,10%,25%,50%,75%,100% -c time_s -f csv'
# shellcheck disable=SC2086
stallcast simulate uvm $window >simulated
ok 'the simulator says what simulate says' sh -c '
    tail -n +2 simulated | sed "s/.*,//" >want
    grep "^simulator,Ember static," uvm-drift.csv | cut -d, -f5 | cmp - want'

tokens='gpu=a40 memory_capacity=16GB mode=fitted app=llm-14b-q4,llm-32b-q5 policy=mapped'
# shellcheck disable=SC2086
stallcast estimate uvm $tokens -c tokens_per_s -f csv >estimated 2>err
ok 'the closed form says what estimate says' sh -c '
    tail -n +2 estimated | sed "s/.*,//" >want
    grep "^closed form,mapped a40," uvm-llm.csv | cut -d, -f5 | cmp - want'

reuse='gpu=rtx-5080 memory_capacity=16GiB footprint=20GB pattern=mixed access_bytes=512 randomness=50% passes=128'
# shellcheck disable=SC2086
stallcast estimate uvm $reuse policy=ember-static,ember-adaptive -c time_s -f csv --digits all >both 2>err
ok 'a series over another is their ratio' sh -c '
    ratio=$(tail -n +2 both | sed "s/.*,//" | awk "NR == 1 { a = \$1 } NR == 2 { printf \"%.6g\", a / \$1 }")
    grep "^closed form,50%,.*,128$" uvm-winner-across.csv | cut -d, -f5 | grep -qx "$ratio"'

# ---- what is published ----

check_run 'runs of Table 10 are drawn as they are' 0 \
'0.15,0
0.44,0.1
1.16,1' '' sh -c 'grep "^published,Ember static," uvm-drift.csv | cut -d, -f5,8'
check_run 'ratios of Fig. 3, whose figures are over another run' 0 \
'7,0.2,26,1.5' '' sh -c 'grep "^published,random over sequential," uvm-random.csv | cut -d, -f8,11,14,17'
check_run 'a ratio the other way round is turned' 0 \
'0.571429,1024
1,128' '' sh -c 'grep "^published,50%," uvm-winner-across.csv | cut -d, -f5,8 | sort'
ok 'no ratio stands among the times' sh -c '! grep "^published,.*,280," uvm-cliff.csv'
check_run 'Fig. 1 past the line' 0 1150,25769800000 '' sh -c \
    'grep "^published,fitted UVM,.*,25769800000$" uvm-cliff.csv | cut -d, -f5,11'

# Of less work only slowdowns, rates and ratios are the same.
ok 'amounts of a shrunk simulation are left out' sh -c \
    'grep "^simulator,random UVM," uvm-random.csv | cut -d, -f8,11,14 | grep -vx ,, | wc -l | grep -qx 0'
ok 'its slowdowns and ratios are there' sh -c '
    [ "$(grep "^simulator,random UVM," uvm-random.csv | cut -d, -f5 | grep -c .)" -eq 5 ] &&
    [ "$(grep "^simulator,random over sequential,.*,1.5$" uvm-random.csv | cut -d, -f14 | grep -c .)" -eq 1 ]'

check_run 'speedups of two published runs, and over one that was stopped' 0 \
'bfs,12.2472,,
bitonic,6.74528,,
cnn,,5.04202,
geomean,6.83,,
k-means,2.64474,,
pathfinder,2.24167,,
radix,40.9244,,' '' sh -c 'grep "^published,static a40 1.5x," uvm-apps.csv | cut -d, -f3,5-7 | sort'

# ---- runs that were stopped at a cap, and speedups of two published runs ----

mkdir tables
cp -r "$source_tree"/data/*.csv "$source_tree"/data/p*/ tables/
scenario='gpu=gh200 app=moving-window drift=0% policy='
{
    head -n 1 "$source_tree/data/published/uvm.csv"
    awk -F, -v OFS=, -v scenario="$scenario" '
        NR == 1 {
            for (i = 1; i <= NF; i++)
                name[i] = $i
            split("uvm mapped", policy, " ")
            for (k = 1; k <= 2; k++) {
                row = ""
                for (i = 1; i <= NF; i++) {
                    value = ""
                    if (name[i] == "id") value = "made-up-" k
                    if (name[i] == "figure") value = "Table 10"
                    if (name[i] == "scenario") value = scenario policy[k]
                    if (name[i] == "metric") value = "time_s"
                    if (name[i] == "aggregate") value = "each"
                    if (name[i] == "value") value = k == 1 ? 60 : 2
                    if (name[i] == "cap" && k == 1) value = 60
                    if (name[i] == "kind") value = "check"
                    row = row (i > 1 ? OFS : "") value
                }
                print row
            }
        }' "$source_tree/data/published/uvm.csv"
} >tables/published/uvm.csv
"$program" plot uvm-drift --data tables --csv capped.csv
check_run 'a stopped run has a lower end and no value' 0 'UVM,,60,
mapped,2,,' '' sh -c 'grep ^published capped.csv | cut -d, -f2,5-7'

finish
