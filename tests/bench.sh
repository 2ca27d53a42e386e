#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# How fast it answers: medians; peers are timed side by side in the same run.
# usage: tests/bench.sh BUILD
set -eu
build=${1:-build}
stallcast=$build/stallcast
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM

# median SECONDS_FILE: the middle one of its lines.
median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# seconds COMMAND...: wall time of one run.
seconds() {
    start=$(date +%s%N)
    "$@" > /dev/null
    end=$(date +%s%N)
    echo "$start $end" | awk '{ printf "%.6f\n", ($2 - $1) / 1e9 }'
}

# peak_kb COMMAND...: most memory that it had.
peak_kb() {
    { "$@" > /dev/null & pid=$!
      peak=0
      while kill -0 $pid; do
          now=$(awk '/VmHWM/ { print $2 }' /proc/$pid/status || echo 0)
          [ "${now:-0}" -gt "$peak" ] && peak=$now
          sleep 0.01
      done
      echo "$peak"; } 2> /dev/null
}

echo "== one process, start to exit"
for i in 1 2 3 4 5 6 7 8 9 10 11; do
    seconds "$stallcast" estimate hbf model=llama-70b policy=slipstream >> "$folder/ours"
    seconds true >> "$folder/true"
done
awk -v a="$(median "$folder/ours")" -v b="$(median "$folder/true")" \
    'BEGIN { printf "estimate %.1f ms   true(1) %.1f ms\n", 1e3 * a, 1e3 * b }'

echo "== library, one core"
"$build"/bench_model
"$build"/bench_solve

echo "== text"
"$build"/bench_text

echo "== simulator"
"$build"/bench_sim
"$build"/bench_prefetch
"$build"/bench_uvm_sim
for i in 1 2 3; do
    seconds "$stallcast" simulate hbf model=llama-405b policy=slipstream --jobs 1 >> "$folder/layer"
    seconds "$stallcast" simulate stream gpu=v100-quarter warps_per_sm=32 --jobs 1 >> "$folder/stream"
done
# A layer of Llama-405B has 1 556 480 pages; 20 SMs x 32 warps x 48 loads are 30 720.
# For comparison, in its own unit: trace-driven cycle simulators are published at 12.5
# thousand warp instructions per second (Accel-Sim, ISCA 2020).
awk -v a="$(median "$folder/layer")" -v b="$(median "$folder/stream")" 'BEGIN {
    printf "Llama-405B layer, slipstream: %.2f s, %.1f M pages/s, calibration of its rates included\n",
        a, 1.55648 / a
    printf "stream, 32 warps: %.3f s, %.1f M loads/s (cycle simulators: 0.0125 M warp instructions/s)\n",
        b, 0.03072 / b }'

echo "== reuse distances"
"$build"/bench_reuse "$folder"
# used COMMAND...: seconds of processor time of one run.
used() {
    ( "$@" > /dev/null 2>&1; times ) | awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, /[ms]/)
        sum += 60 * t[1] + t[2] } printf "%.6f\n", sum }'
}
for i in 1 2 3 4 5; do
    used "$stallcast" mrc "$folder/zipf.u64" >> "$folder/raw"
    used "$stallcast" mrc "$folder/zipf.u64" --sample 0.01 >> "$folder/sampled"
    used "$stallcast" mrc "$folder/zipf.txt" --sample 0.0001 >> "$folder/lines"
    used "$stallcast" mrc "$folder/zipf.txt" --sample 0.01 >> "$folder/sampled_lines"
done
awk -v a="$(median "$folder/raw")" -v b="$(median "$folder/sampled")" \
    -v c="$(median "$folder/lines")" -v d="$(median "$folder/sampled_lines")" 'BEGIN {
    printf "mrc, processor time: .u64 exact %.1f M/s, .u64 at rate 0.01 %.0f M/s\n", 10 / a, 10 / b
    printf "                     text, parsed only %.1f M lines/s, at rate 0.01 %.1f M lines/s\n", 10 / c, 10 / d }'
echo "mrc, exact: peak memory $(peak_kb "$stallcast" mrc "$folder/zipf.u64") kB"
rm -f "$folder/zipf.u64" "$folder/zipf.txt"

echo "== import: logs of a cycle simulator, dense in statistics; grep -c reads them too"
tests=$(dirname "$0")
for copies in 2000 20000; do
    i=0
    while [ $i -lt 100 ]; do
        cat "$tests/fixtures/import/accelsim.log"
        i=$((i + 1))
    done > "$folder/some.log"
    i=0
    while [ $i -lt $((copies / 100)) ]; do
        cat "$folder/some.log"
        i=$((i + 1))
    done > "$folder/runs.log"
    peak=$(peak_kb "$stallcast" import accelsim "$folder/runs.log" -o "$folder/runs.csv")
    echo "peak memory for $(($(wc -c < "$folder/runs.log") / 1000000)) MB: $peak kB"
done
for i in 1 2 3 4 5; do
    seconds "$stallcast" import accelsim "$folder/runs.log" -o "$folder/runs.csv" >> "$folder/import"
    seconds "$stallcast" import accelsim "$folder/runs.log" --keep '^gpu_stall' -o "$folder/runs.csv" \
        >> "$folder/import_keep"
    # To /dev/null itself grep would stop at the first.
    seconds sh -c 'grep -c kernel_name "$1" | cat' sh "$folder/runs.log" >> "$folder/grep"
done
awk -v a="$(median "$folder/import")" -v k="$(median "$folder/import_keep")" \
    -v g="$(median "$folder/grep")" -v bytes="$(wc -c < "$folder/runs.log")" 'BEGIN {
    printf "import %.0f MB/s, with --keep %.0f MB/s, grep -c %.0f MB/s\n",
        bytes / a / 1e6, bytes / k / 1e6, bytes / g / 1e6 }'
rm -f "$folder/runs.log" "$folder/runs.csv" "$folder/some.log"

echo "== CSV batch: 1 M rows, 8 columns in, 12 of the answer out"
awk 'BEGIN {
    srand(1)
    m = split("llama-8b mistral-24b qwen2.5-32b deepseek-67b llama-70b qwen2.5-72b llama-405b", model)
    p = split("ideal on-demand h3 h3-demand-order slipstream slipstream-fifo cross-kernel", policy)
    print "id,model,policy,buffer_MB,latency_us,hbf_bandwidth (TB/s),batch,note"
    for (i = 1; i <= 1000000; i++)
        printf "%d,%s,%s,%d,%d,%d,%d,row %d\n", i, model[1 + int(m * rand())],
            policy[1 + int(p * rand())], 8 + int(312 * rand()), 5 * (1 + int(5 * rand())),
            1 + int(3 * rand()), 1 + int(64 * rand()), i
}' > "$folder/rows.csv"
columns=slowdown,performance,time_s,ideal_time_s,bound,stall_free_share,access_stall_share
columns=$columns,order_stall_share,capacity_stall_share,hbf_utilisation,energy_per_token_j,edp_js
for i in 1 2 3; do
    seconds "$stallcast" estimate hbf --from "$folder/rows.csv" --columns $columns >> "$folder/batch"
    seconds "$stallcast" estimate hbf --from "$folder/rows.csv" --columns $columns --jobs 1 \
        >> "$folder/single"
done
awk -v a="$(median "$folder/batch")" -v b="$(median "$folder/single")" \
    'BEGIN { printf "%.2f M rows/s with all processors, %.2f M rows/s with one\n", 1 / a, 1 / b }'
for rows in 10000 1000001; do
    head -n "$rows" "$folder/rows.csv" > "$folder/part.csv"
    peak=$(peak_kb "$stallcast" estimate hbf --from "$folder/part.csv" -o "$folder/out.csv")
    echo "peak memory for $((rows - 1)) rows: $peak kB"
done
