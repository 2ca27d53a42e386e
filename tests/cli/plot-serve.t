#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# plot: the figure of serve, which has no simulator.

. "${0%/*}/lib.sh"

if command -v gnuplot >/dev/null; then
    check_run 'a picture' 0 '' '' stallcast plot serve-throughput -o figure.svg --csv figure.csv
    ok 'a picture that has lines' grep -q '<path' figure.svg
else
    check_run 'its numbers' 0 '' '' stallcast plot serve-throughput --csv figure.csv
fi
ok 'the columns' sh -c '
    head -n 1 figure.csv | grep -qx "source,series,group,position,tokens_per_s,tokens_per_s_lo,tokens_per_s_hi,.*edp_js_hi"'
ok 'a row for each series and group, and none of a simulator' sh -c '
    [ "$(grep -c "^closed form," figure.csv)" -eq 6 ] && ! grep "^simulator" figure.csv'
ok 'what was published beside it' sh -c '
    grep -qx "published,SlipStream,\"Llama 405B, 16 GPUs\",2,2.27,,,0.52,,,0.23,," figure.csv'
answer() { # KEY=VALUE...
    stallcast estimate serve model=llama-405b gpus=16 pp=1 prompt_tokens=16384 generated_tokens=1 \
        hbm_capacity=80GB usable_share=1 "$@" -f csv -c tokens_per_s | tail -n 1 | sed 's/.*,//'
}
far=$(answer weights_in=hbf policy=h3)
near=$(answer weights_in=hbm)
figure=$(grep '^closed form,H3,"Llama 405B' figure.csv | cut -d, -f6)
ok 'a ratio of what estimate says' awk "BEGIN { exit !($figure > 0.99999 * $far / $near && $figure < 1.00001 * $far / $near) }"

finish
