#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# rank: order, columns, formats and refusals on three GPUs and a calibration of
# the test's own; where the winner changes, against a scan with estimate.

. "${0%/*}/lib.sh"

# seal SYSTEM LOW HIGH: a calibration without coefficients, with its hash (64-bit FNV-1a).
seal() {
    cat <<END | perl -e 'use integer; my $h = -3750763034362895579;
        while (<STDIN>) { print; $h = ($h ^ ord) * 1099511628211 for split //; }
        printf "meta,hash,,%016x,,,,,\n", $h'
record,name,key,value,se,low,high,kind,note
meta,format,,1,,,,,
meta,system,,$1,,,,,
meta,seed,,1,,,,,
meta,samples,fit,100,,,,,
meta,samples,conformal,100,,,,,
meta,samples,holdout,100,,,,,
meta,simulator,,1,,,,,
meta,tool,,0,,,,,
conformal,*,points,100,,,,,
conformal,*,0.5,0.1,,,,,
conformal,*,0.9,0.3,,,,,
region,latency,,,,$2,$3,,
score,mape,*,0.1,,,,,
END
}
seal stream 1e-09 1 >stream.csv
seal hbf 1e-06 0.001 >hbf.csv
printf 'name,sms,clock_MHz,latency_us,bandwidth_GB/s,sector_bytes
near,10,1000,0.2,100,32
far,10,1000,0.3,400,32
coarse,10,1000,0.19,100,256\n' >g.csv
printf 'name,sms,clock_MHz,latency_us,bandwidth_GB/s\nmid,10,1000,0.25,200\n' >m.csv
case='--over gpu gpu=g.csv:far,g.csv:near launch=1us loads=10 --params stream.csv'
gpus() {
    stallcast rank stream $case "$@"
}
# tight WORD...: the same with a calibration that has seen less.
tight() {
    # shellcheck disable=SC2086
    stallcast rank stream ${case% --params *} --params tight.csv "$@"
}

# ---- one ranking ----

check_run 'best first' 0 \
'rank  gpu         slowdown  slowdown_lo  slowdown_hi  time (us)  bound    best_probability  margin
   1  g.csv:near     1.606        1.189        2.167      3.250  latency            0.8056   1.000
   2  g.csv:far      3.236        2.397        4.368      4.065  latency            0.1944   1.251' '' \
    gpus
check_run 'a ranking per point, CSV' 0 \
'launch_s,loads_per_warp,warps_per_sm,rank,gpu,slowdown,slowdown_lo,slowdown_hi,time_s,bound,best_probability,margin
1e-06,10,16,1,g.csv:near,1.16171,0.860614,1.56814,3.54088e-06,bandwidth,0.726623,1
1e-06,10,16,2,g.csv:far,2.7319,2.02384,3.68768,4.13064e-06,latency,0.273377,1.16656
1e-06,10,64,1,g.csv:far,1.43188,1.06076,1.93283,4.36436e-06,latency,0.998425,1
1e-06,10,64,2,g.csv:near,1.02766,0.761309,1.38719,9.44624e-06,bandwidth,0.00157531,2.16441' '' \
    gpus warps=16,64 -f csv
check_run 'JSON' 0 '[
{"launch_s":1e-06,"loads_per_warp":10,"rank":1,"gpu":"g.csv:near","margin":1,"bound":"latency"},
{"launch_s":1e-06,"loads_per_warp":10,"rank":2,"gpu":"g.csv:far","margin":1.25074,"bound":"latency"}
]' '' gpus -f json -c margin,bound
check_run 'keys as columns' 0 \
'rank  gpu         latency (ns)  margin
   1  g.csv:near           200   1.000
   2  g.csv:far            300   1.251' '' gpus -c latency,margin
check_run '-o' 0 '' '' gpus -o out.csv -f csv
ok '-o has written it' sh -c '[ $(wc -l <out.csv) -eq 3 ]'
check_run '--level moves the interval, not the order' 0 \
'rank  gpu         slowdown_lo  best_probability
   1  g.csv:near        1.453            0.8056
   2  g.csv:far         2.928            0.1944' '' gpus --level 0.5 -c slowdown_lo,best_probability
check_run '--by another metric: no probability' 0 \
'rank  gpu         slowdown  slowdown_lo  slowdown_hi  time (us)  bound    throughput (GB/s)  margin
   1  g.csv:near     1.606        1.189        2.167      3.250  latency              31.51   1.000
   2  g.csv:far      3.236        2.397        4.368      4.065  latency              25.19   1.251' '' \
    gpus --by throughput_bytes_per_s
ok '--by speedup: the order and the probabilities of slowdown' sh -c "
    for by in speedup slowdown; do
        '$program' rank prefetch kernel=stencil policy=sk,apg,stride,none --by \$by -c best_probability -f csv 2>/dev/null |
            cut -d, -f2-4 >by-\$by
    done
    [ \$(wc -l <by-speedup) -eq 5 ] && cmp by-speedup by-slowdown"
check_run '--by max: turns it round' 0 'rank  gpu         margin
   1  g.csv:far    1.000
   2  g.csv:near   1.251' '' gpus --by max:time_s -c margin
check_run '--by the upper end' 0 'rank  gpu         slowdown_hi
   1  g.csv:near        2.167
   2  g.csv:far         4.368' '' gpus --by slowdown_hi -c slowdown_hi
check_run 'equal ones share a rank, in their order' 0 \
'rank  gpu         best_probability  margin
   1  g.csv:far                0.5       1
   1  g.csv:near               0.5       1' \
    'stallcast: gpu makes no difference here: all answers are alike' \
    gpus latency=1us bandwidth=100GB/s -c best_probability,margin

# ---- rows without an answer ----

check_run 'a row without an answer comes last' 1 \
'rank  gpu           margin  error
   1  g.csv:near     1.000  -
   2  g.csv:far      1.251  -
   -  g.csv:coarse       -  line: 128 B must not be smaller than a sector' \
    'stallcast: 1 of 3 scenarios have no answer; the first: line: 128 B must not be smaller than a sector' \
    stallcast rank stream --params stream.csv --over gpu gpu=g.csv:coarse,g.csv:far,g.csv:near \
    launch=1us loads=10 -c margin
check_run 'nothing has an answer' 2 '' \
    'stallcast: line: 128 B must not be smaller than a sector' \
    stallcast rank stream --over gpu gpu=g.csv:coarse warps=1,2
check_run 'winners have answers: no column for errors, exit code 1' 1 \
'warps_per_sm  rank  gpu         margin
           1     1  g.csv:near       1
           2     1  g.csv:near       1' \
    'stallcast: 2 of 4 scenarios have no answer; the first: line: 128 B must not be smaller than a sector' \
    stallcast rank stream --over gpu gpu=g.csv:coarse,g.csv:near warps=1,2 --winners -c margin

# ---- outside of what was sampled ----

outside='rows are extrapolated, their intervals may not hold; outside of what was sampled in the first: latency'
seal stream 2.5e-07 1 >tight.csv
check_run 'told on standard error' 0 'rank  gpu         best_probability
   1  g.csv:near            0.8056
   2  g.csv:far             0.1944' "stallcast: 1 of 2 $outside" \
    tight -c best_probability
check_run 'or in the column' 0 'rank  gpu         extrapolated
   1  g.csv:near             1
   2  g.csv:far              0' '' tight -c extrapolated
check_run 'not where no interval counts' 0 'rank  gpu         margin
   1  g.csv:near   1.000
   2  g.csv:far    1.251' '' tight -c margin

# ---- where the winner changes ----

check_run 'a whole number: the first with the new winner' 0 \
'warps_per_sm  rank  gpu         margin  change     from
           1     1  g.csv:near       1  -          -
          23     1  g.csv:far        1  crossover  g.csv:near
         100     1  g.csv:far        1  -          -' '' gpus warps=1:100:99 --winners -c margin
check_run 'downwards: likewise' 0 \
'warps_per_sm  rank  gpu         margin  change     from
         100     1  g.csv:far        1  -          -
          22     1  g.csv:near       1  crossover  g.csv:far
           1     1  g.csv:near       1  -          -' '' gpus warps=100:1:-99 --winners -c margin
check_run 'loads are rounded up to sectors: a jump' 0 \
'launch_s,loads_per_warp,bytes_per_load_bytes,rank,gpu,margin,change,from
1e-06,10,256,1,g.csv:near,1,,
1e-06,10,352,1,g.csv:far,1,jump,g.csv:near
1e-06,10,512,1,g.csv:far,1,,' '' gpus bytes=256B:512B:*2 --winners -c margin -f csv
check_run 'between rankings' 0 'rank,gpu,change,from
1,g.csv:near,,
2,g.csv:far,,
1,g.csv:far,crossover,g.csv:near
1,g.csv:far,,
2,g.csv:near,,' '' sh -c "'$program' rank stream $case warps=1:100:99 -c margin -f csv | cut -d, -f4,5,7,8"
check_run '--no-crossover' 0 'warps_per_sm  rank  gpu         margin
           1     1  g.csv:near       1
         100     1  g.csv:far        1' '' gpus warps=1:100:99 --winners --no-crossover -c margin
check_run 'a list is no range' 0 'warps_per_sm  rank  gpu         margin
           1     1  g.csv:near       1
         100     1  g.csv:far        1' '' gpus warps=1,100 --winners -c margin
check_run '--crossover takes a list too' 0 'warps_per_sm  rank  gpu         margin  change     from
           1     1  g.csv:near       1  -          -
          23     1  g.csv:far        1  crossover  g.csv:near
         100     1  g.csv:far        1  -          -' '' \
    gpus warps=1,100 --winners --crossover -c margin
check_run 'a change for each value of a list beside' 0 \
'launch_s,warps_per_sm,outstanding_per_warp,rank,gpu,margin,change,from
1e-06,1,1,1,g.csv:near,1,,
1e-06,23,1,1,g.csv:far,1,crossover,g.csv:near
1e-06,1,2,1,g.csv:near,1,,
1e-06,11,2,1,g.csv:far,1,crossover,g.csv:near
1e-06,100,1,1,g.csv:far,1,,
1e-06,100,2,1,g.csv:far,1,,' '' sh -c "'$program' rank stream $case warps=1:100:99 outstanding=1,2 \
    --winners -c margin -f csv | perl -F, -lane 'print join q(,), @F[0,2..8]' "
check_run 'no change: no columns for it in a table' 0 \
'warps_per_sm  rank  gpu         margin
           1     1  g.csv:near       1
           2     1  g.csv:near       1' '' gpus warps=1:2:1 --winners -c margin
check_run 'but in CSV' 0 'warps_per_sm,rank,gpu,margin,change,from
1,1,g.csv:near,1,,
2,1,g.csv:near,1,,' '' sh -c "'$program' rank stream $case warps=1:2:1 --winners -c margin -f csv |
    cut -d, -f3-"

# One step of 99 and the third wins between; steps of 1 read it off.
third="rank stream --over gpu gpu=g.csv:far,g.csv:near,m.csv:mid launch=1us loads=10 --winners -f csv"
check_run 'a third that wins only between two points' 0 'warps_per_sm,rank,gpu,margin,change,from
1,1,g.csv:near,1,,
19,1,m.csv:mid,1,crossover,g.csv:near
47,1,g.csv:far,1,crossover,m.csv:mid
100,1,g.csv:far,1,,' '' sh -c "'$program' $third warps=1:100:99 --params stream.csv -c margin | cut -d, -f3-"
check_run 'is where a scan sees it' 0 '1,g.csv:near
19,m.csv:mid
47,g.csv:far' '' sh -c "'$program' $third warps=1:100:1 --params stream.csv -c margin --no-crossover |
    sed 1d | cut -d, -f3,5 | awk -F, '\$2 != last { print; last = \$2 }'"
check_run 'and jumps' 0 '64,g.csv:near,,
288,m.csv:mid,jump,g.csv:near
800,g.csv:far,jump,m.csv:mid
1024,g.csv:far,,' '' sh -c "'$program' $third bytes=64B:1024B:960B --params stream.csv -c margin |
    sed 1d | cut -d, -f3,5,7,8"

# A tie at a point of the sweep, which breaks next to it: the place is the point.
tie='rank uvm gpu=gh200 pattern=window footprint=142GiB hot_share=0.1 policy=prefetch,ember-static
    -f csv -c margin --winners'
alike='stallcast: policy makes no difference in 1 of 2 scenarios: all answers are alike there'
check_run 'a tie where the range starts' 0 '0,1,prefetch,1,,
0,1,ember-static,1,crossover,prefetch
1,1,ember-static,1,,' "$alike" sh -c "'$program' $(echo $tie) drift=0:1:1 | sed 1d | cut -d, -f5-"
check_run 'a tie where it ends' 0 '1,1,ember-static,1,,
0,1,prefetch,1,crossover,ember-static
0,1,prefetch,1,,' "$alike" sh -c "'$program' $(echo $tie) drift=1:0:-1 | sed 1d | cut -d, -f5-"
check_run 'nothing is not a whole gap away from next to nothing' 0 '0,1,uvm,1,,
0,1,mapped,1,crossover,uvm
10,1,mapped,1,,' "$alike" sh -c "'$program' rank uvm policy=uvm,mapped refetch=0:10:10 \
    --by min:thrash_factor -f csv -c margin --winners | sed 1d"

# Between two regions there is none.
regions='rank uvm policy=uvm,mapped gpu=rtx-5080 app=ssb-4-columns pattern=random passes=3
    oversubscription=1.5 region=64KiB:128KiB:*2 -c margin --winners'
won='region (kB)  rank  policy  margin
       65.5     1  uvm          1
      131.1     1  mapped       1'
lost='1 change of the winner was not found; the first: region from 65.536 kB to 131.072 kB: an answer in between is missing'
check_run 'a key without answers in between' 0 "$won" "stallcast: $lost" stallcast $regions
check_run 'one that was asked for' 1 "$won" "stallcast: $lost" stallcast $regions --crossover

# A scan with estimate, point by point, finds the same change.
answers() { # POLICY VALUES: time_s at each
    stallcast estimate hbf --params hbf.csv model=llama-8b "policy=$1" "latency=$2" -c time_s -f csv \
        --digits all | sed 1d | cut -d, -f3,4
}
policies='h3-demand-order cpu-assisted'
stallcast rank hbf --params hbf.csv model=llama-8b policy=h3-demand-order,cpu-assisted \
    latency=64us:16us:-48us --winners -c margin -f csv --digits all >ranked
for policy in $policies; do
    answers $policy 16us:64us:10ns >scan.$policy
done
at=$(sed -n 's/^llama-8b,\([^,]*\),1,.*,crossover,.*/\1/p' ranked)
ok 'one crossover' sh -c "cat ranked; [ \$(grep -c crossover ranked) -eq 1 ] && [ \$(wc -l <ranked) -eq 4 ]"
ok 'the scan changes its winner just there' perl -e '
    my (%time, @at);
    for my $policy (@ARGV[1, 2]) {
        open my $f, "<", "scan.$policy" or die;
        while (<$f>) { /^(.*),(.*)$/ or die; push @{$time{$policy}}, $2; push @at, $1 if $policy eq $ARGV[1] }
    }
    my ($x, $y) = @time{@ARGV[1, 2]};
    die "no scan" unless @$x > 4000;
    my @changes = grep { ($x->[$_] < $y->[$_]) != ($x->[$_ + 1] < $y->[$_ + 1]) } 0 .. $#$x - 1;
    die "changes: @changes" unless @changes == 1;
    die "$ARGV[0] is not in $at[$changes[0]] .. $at[$changes[0] + 1]"
        unless $at[$changes[0]] <= $ARGV[0] && $ARGV[0] <= $at[$changes[0] + 1]' "$at" $policies
for policy in $policies; do
    answers $policy "$(perl -e 'printf "%.17gs,%.17gs", $ARGV[0] * (1 - 1e-6), $ARGV[0] * (1 + 1e-6)' "$at")" \
        >ends.$policy
done
ok 'to a millionth' perl -e '
    my @ahead;
    for my $policy (@ARGV) {
        open my $f, "<", "ends.$policy" or die;
        my $sign = $policy eq $ARGV[0] ? 1 : -1;
        while (<$f>) { /,(.*)$/ or die; $ahead[$. - 1] += $sign * $1 }
        close $f;
    }
    die "@ahead" unless @ahead == 2 && $ahead[0] * $ahead[1] < 0' $policies

# ---- all policies ----

hbf() {
    stallcast rank hbf --params hbf.csv model=llama-8b -f csv --digits all "$@"
}
hbf -c time_s,best_probability,margin >out
"$program" list policies hbf -f csv | sed 1d | cut -d, -f2 | grep -vx ideal | sort >want
ok 'all but the ideal' sh -c '[ -s want ] && sed 1d out | cut -d, -f3 | sort | cmp - want'
ok 'in the order of their times, which are those of estimate' sh -c "
    '$program' estimate hbf --params hbf.csv model=llama-8b policy=all -c time_s -f csv --digits all |
        sed '1d;/,ideal,/d' | cut -d, -f2,3 | sort >estimated
    [ -s estimated ] && sed 1d out | cut -d, -f3,4 | sort | cmp - estimated &&
    sed 1d out | cut -d, -f4 >times && sort -g times | cmp - times"
ok 'probabilities sum to 1, margins are ratios' perl -F, -lane '
    next if $. == 1;
    $best = $F[3] if $. == 2;
    $sum += $F[4];
    die "$_: margin" if abs($F[5] - $F[3] / $best) > 1e-12;
    END { die $sum if abs($sum - 1) > 1e-12 }' out
hbf --with-ideal -c margin >out
ok '--with-ideal' grep -q ',ideal,' out
hbf policy=ideal,h3 -c margin >out
ok 'the ideal by name' grep -q ',1,ideal,1$' out
ok 'winners of estimate, for every model' sh -c "
    '$program' rank hbf --params hbf.csv model=all --winners -c time_s -f csv --digits all |
        sed 1d | cut -d, -f1,4 | sort >won
    '$program' estimate hbf --params hbf.csv model=all policy=all -c time_s -f csv --digits all |
        sed '1d;/,ideal,/d' | perl -F, -lane '\$t{\$F[0]} = \$F[2] if !defined \$t{\$F[0]} || \$F[2] < \$t{\$F[0]};
        END { die unless keys %t > 20; print \"\$_,\$t{\$_}\" for keys %t }' | sort | diff won - && [ -s won ]"

# ---- help and refusals ----

"$program" rank --help >help
ok '--help says what is assumed' grep -q independent help
refuses 'rank: expected a system first: rank SYSTEM [key=value ...] [options]' rank
refuses "no system 'hbff': did you mean hbf?" rank hbff
refuses 'stream has no policies to rank: --over KEY ranks the rows of another key (gpu)' rank stream
refuses "--over: 'gpus' is not a key of stream: did you mean gpu?" rank stream --over gpus
refuses "--over: expected a key whose values have names (gpu), got 'latency'" rank stream --over latency
refuses "--over: expected a key whose values have names (gpu), got 'abacus-of-wood'" \
    rank stream --over abacus-of-wood
refuses '--over reuse: expected the files to rank: reuse=FILE,FILE' rank uvm --over reuse
refuses "--by: hbf has no metric 'slowdwn': did you mean slowdown?" rank hbf --by slowdwn
refuses "--by: hbf has no metric 'abacus-of-wood': 'stallcast list columns hbf' shows them" rank hbf --by abacus-of-wood
refuses '--by: expected a metric that is a number, and bound is a word' rank hbf --by bound
refuses "--by: hbf has no metric '': 'stallcast list columns hbf' shows them" rank hbf --by min:
ok '--by takes a metric without its unit' sh -c "
    '$program' rank hbf model=llama-8b --by energy_per_token_j -f csv 2>/dev/null >with.csv &&
    '$program' rank hbf model=llama-8b --by energy_per_token -f csv 2>/dev/null | cmp - with.csv"
refuses '--by: expected min:weight_bytes or max:weight_bytes: which is better depends on what one is after' \
    rank hbf --by weight_bytes
refuses "expected key=value, got 'llama-8b'" rank hbf llama-8b
refuses "polcy is not a key of hbf: did you mean policy?" rank hbf polcy=h3
refuses "policy=h4: expected one of its choices, got 'h4': did you mean h3?" rank hbf policy=h4
refuses 'policy=h3,h3: h3 is given twice' rank hbf policy=h3,h3
refuses 'gpu=a100,@hbm: a100 is given twice' rank hbf --over gpu gpu=a100,@hbm
refuses 'policy=slipstream: policy is given twice' rank hbf policy=h3 policy=slipstream
refuses 'latency=2us: latency is given twice' rank hbf latency=1us latency=2us
refuses 'layers: expected a value, got none: give model=NAME or layers=VALUE' rank hbf
refuses '--crossover: expected one number given as a range low:high:step, got 0' \
    rank hbf model=llama-8b --crossover
refuses '--crossover: expected one number given as a range low:high:step, got 2' \
    rank hbf model=llama-8b latency=1us,2us buffer=8MB,16MB --crossover
refuses '--crossover and --no-crossover contradict each other' \
    rank hbf model=llama-8b --crossover --no-crossover
refuses '--with-ideal: phase=all has no ideal' rank hbf model=llama-8b --over phase --with-ideal
refuses '--columns: rank is there already' rank hbf model=llama-8b -c rank
refuses '--columns: margin is there already' rank hbf model=llama-8b -c margin,time_s,margin
refuses '--columns: change comes with --crossover' rank hbf model=llama-8b -c change
refuses '--columns: best_probability needs a calibration and a ranking by slowdown, time_s or performance' \
    rank hbf model=llama-8b --by edp_js -c best_probability
refuses "--columns: hbf has no column 'margn'" rank hbf model=llama-8b -c margn
refuses "--columns: hbf has no column ''" rank hbf model=llama-8b -c ,
refuses "--columns: hbf has no column ''" rank hbf model=llama-8b -c margin,
refuses '--columns: policy is given twice' rank hbf model=llama-8b -c policy,policy
refuses "--level: expected a probability from 0.5 to 0.99, got '2'" rank hbf model=llama-8b --level 2
refuses 'none.csv: No such file or directory' rank hbf model=llama-8b --params none.csv
refuses "--format: expected one of table, csv, tsv, json, jsonl, md, got 'xml'" rank hbf -f xml
refuses '--winners takes no value' rank hbf --winners=yes
refuses '--by needs a value: --by METRIC' rank hbf --by
refuses 'cannot write none/a.csv: No such file or directory' rank hbf model=llama-8b -o none/a.csv

finish
