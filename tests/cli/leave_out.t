#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# validate uvm --leave-out: each GPU or application left out of the fit in turn.

. "${0%/*}/lib.sh"

refuses "--leave-out: expected gpu or app, got 'policy'" validate uvm --leave-out policy
refuses "--leave-out: expected gpu or app, got 'gp'" validate uvm --leave-out=gp
refuses '--leave-out needs a value: --leave-out gpu|app' validate uvm --leave-out
refuses '--leave-out: hbf has no constants fitted to published runs; uvm has' validate hbf --leave-out gpu
refuses '--leave-out: the simulator has no constants to fit; leave --simulate out' \
    validate uvm --leave-out gpu --simulate
refuses '--only: no GPU of the runs is named like that' validate uvm --leave-out gpu --only h100
refuses '--only: no application of the runs is named like that' validate uvm --leave-out app --only llm

"$program" validate uvm --leave-out gpu -f csv >out 2>err
code=$?
ok 'better than the rival: exit status 0' [ $code -eq 0 ]
check_run 'a line for each GPU, its runs that count and those that do not, and one for all' 0 \
    'left_out,runs,stopped,in_all
rtx-5080,48,0,yes
rtx-5080,12,6,no
a40,48,0,yes
a40,12,4,no
h200,25,0,yes
h200,5,1,no
all,121,0,yes' '' sh -c 'cut -d, -f1-3,6 out'
ok 'errors are ratios, and that over all is the geometric mean over the runs that count' awk -F, '
    NR > 1 && !($4 >= 1 && $5 >= 1) { bad = 1 }
    $6 == "yes" && $1 != "all" { n += $2; own += $2 * log($4); naive += $2 * log($5) }
    $1 == "all" { bad = bad || (exp(own / n) / $4 - 1)^2 > 1e-8 || (exp(naive / n) / $5 - 1)^2 > 1e-8 }
    END { exit bad || n != 121 }' out
ok 'the last line is told in words' grep -q \
    '^121 runs, the GPU left out of the fit: geometric error 1\.[0-9]*; naive rival (the mean time of the other GPUs) 1\.[0-9]*: better$' err
# A rival is no more than other runs' times: that of the file, by hand.
ok 'the naive rival is the mean of the other two' awk -F, -v want="$(awk -F, '$1 == "h200" && $6 == "yes" { print $5 }' out)" '
    /^table4-fitted-/ {
        id = $1
        sub(/^table4-fitted-/, "", id)
        gpu = id ~ /^rtx-5080-/ ? "rtx-5080" : id ~ /^a40-/ ? "a40" : "h200"
        sub("^" gpu "-", "", id)
        time[gpu, id] = $7
        if (gpu == "h200" && $0 !~ /mode=fitted: cnn/) wanted[id]
    }
    END {
        for (id in wanted) {
            n++
            sum += sqrt((log(time["h200", id]) - (log(time["a40", id]) + log(time["rtx-5080", id])) / 2)^2)
        }
        exit !(n == 25 && (exp(sum / n) / want - 1)^2 < 1e-8)
    }' "$source_tree/data/published/uvm.csv"

"$program" validate uvm --leave-out app --only '^(cnn|bfs)$' -f json >out 2>err
ok 'an application, as JSON' perl -MJSON::PP -e 'local $/; open my $f, "<", "out"; my $rows = decode_json(<$f>);
    exit !(@$rows == 3 && $rows->[0]{left_out} eq "cnn" && $rows->[0]{in_all} eq "no" && $rows->[0]{stopped} == 6
           && $rows->[1]{left_out} eq "bfs" && $rows->[2]{left_out} eq "all" && $rows->[2]{runs} == 10)'
check_run 'nothing that counts: nothing is judged' 0 \
    'left_out,runs,stopped,in_all
cnn,10,6,no' '' sh -c "'$program' validate uvm --leave-out app --only cnn -f csv 2>err | cut -d, -f1-3,6"
check_run 'and it says so' 0 'none of these runs counts: nothing is judged' '' cat err

# Without a target no run counts; without a run there is nothing to fit.
cp -R "$source_tree/data" data
grep -v '^table4-fitted-' "$source_tree/data/published/uvm.csv" >data/published/uvm.csv
refuses 'data/published/uvm.csv: expected run times of the set Table 4, mode=fitted, got none' \
    validate uvm --leave-out gpu --data data
sed '2s/footprint=8GiB/footprint=8Gib/' "$source_tree/data/published/uvm.csv" >data/published/uvm.csv
"$program" validate uvm --leave-out gpu --data data >out 2>err
code=$?
ok 'a slip in the table: file, line and column' sh -c \
    "[ $code -eq 2 ] && [ ! -s out ] && grep -q '^stallcast: data/published/uvm.csv:2: ' err"
# The only GPU left.
grep -vE '^table4-fitted-(a40|h200)-' "$source_tree/data/published/uvm.csv" >data/published/uvm.csv
refuses 'without rtx-5080: gpu: must be two at least' validate uvm --leave-out gpu --data data
check_run '-o: nothing is left of a run that failed' 2 '' 'stallcast: without rtx-5080: gpu: must be two at least' \
    stallcast validate uvm --leave-out gpu --data data -o left.csv
ok 'no file' [ ! -e left.csv ]

finish
