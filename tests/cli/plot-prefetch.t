#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# plot: the figures of prefetch.  Each draws, and its numbers are those of estimate,
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

# Three kernels stand for all fourteen: figures are as with all, in a fifth of the time.
mkdir tables
cp -r "$source_tree"/data/. tables/
grep -E '^(name|stencil|lud|backprop),' "$source_tree/data/prefetch-kernels.csv" >tables/prefetch-kernels.csv
STALLCAST_DATA=$PWD/tables
export STALLCAST_DATA

# draws FIGURE METRICS X: the picture, and the columns of its numbers
draws() {
    # shellcheck disable=SC2046 # options
    check_run "$1" 0 '' '' stallcast plot "$1" $(picture "$1") --csv "$1.csv"
    want=source,series,group,position
    for metric in $2; do
        want=$want,$metric,${metric}_lo,${metric}_hi
    done
    ok "$1: the columns" sh -c '[ "$(head -n 1 "$0.csv")" = "$1" ]' "$1" "$want${3:+,$3}"
    if [ -n "$(picture "$1")" ]; then
        ok "$1: a picture that has lines" grep -q '<path' "$1.svg"
    fi
    ok "$1: nothing is nan or inf" sh -c '[ -s "$0.csv" ] && ! grep -i -E ",-?(nan|inf)" "$0.csv"' "$1"
}

draws prefetch-timeliness 'on_time_share late_share early_share' ''
draws prefetch-evictions demand_evictions_share ''
draws prefetch-coverage 'coverage accuracy' ''
draws prefetch-gain front_end_speedup ''
draws prefetch-threshold front_end_speedup score_threshold
draws prefetch-eviction-buffer front_end_speedup eviction_buffer
draws prefetch-window front_end_speedup window
draws prefetch-registers front_end_speedup register_entries
draws prefetch-oracles front_end_speedup ''
draws prefetch-distance 'on_time_share late_share early_share' distance

# ---- the closed form and the simulator ----

stallcast simulate prefetch kernel=@paper14 policy=sk -c demand_evictions_share -f csv >simulated
ok 'the simulator says what simulate says' sh -c '
    tail -n +2 simulated | sed "s/.*,//" >want
    [ -s want ] && grep "^simulator,SK,.*" prefetch-evictions.csv | grep -v ,mean, | cut -d, -f5 | cmp - want'

stallcast estimate prefetch kernel=@paper14 policy=stride iteration_distance=63 distance=2.5 \
    -c on_time_share -f csv >estimated
ok 'the closed form says what estimate says' sh -c '
    tail -n +2 estimated | sed "s/.*,//" >want
    [ -s want ] && grep "^closed form,.*,2.5$" prefetch-distance.csv | cut -d, -f5 | cmp - want'

# ---- means ----

stallcast estimate prefetch kernel=@paper14 policy=apg+sc -c coverage -f csv --digits all >coverage
ok 'means are arithmetic, over kernels without coverage, too' sh -c '
    grep -q ",0$" coverage || grep -q ",0\.00[0-9]*$" coverage || exit 1
    mean=$(tail -n +2 coverage | sed "s/.*,//" | awk "{ s += \$1 } END { printf \"%.4g\", s / NR }")
    grep "^closed form,APG+SC,mean," prefetch-coverage.csv | cut -d, -f5 |
        awk "{ printf \"%.4g\n\", \$1 }" | grep -qx "$mean"'
ok 'and stand after the kernels' sh -c '
    grep ",SK,mean," prefetch-coverage.csv | cut -d, -f4 | uniq | grep -qx 4'

# ---- what is published ----

check_run 'means of Fig. 4 and 15 are drawn at the mean alone' 0 \
'published,SK,mean,4,0.483,,,0.23,,,0.287,,
published,SK+SC,mean,4,0.883,,,,,,,,' '' grep '^published' prefetch-timeliness.csv
check_run 'the gap of Fig. 26 to L1 that always hits' 0 1.326 '' sh -c '
    grep "^published,O-L1,mean," prefetch-oracles.csv | cut -d, -f5'
check_run 'a mean of A100 is drawn where a sweep has the same scenario' 0 \
'A100,1.128,64' '' sh -c 'grep "^published" prefetch-registers.csv | cut -d, -f2,5,8'
ok 'nothing is published of a fixed distance' sh -c '
    [ -s prefetch-distance.csv ] && ! grep "^published" prefetch-distance.csv'

finish
