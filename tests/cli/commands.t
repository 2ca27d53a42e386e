#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# list, explain, validate, the help of each command, and data directories.

. "${0%/*}/lib.sh"

# ---- help and version ----

check_run '--version' 0 "stallcast $(sed -n 's/^VERSION = //p' "$source_tree/Makefile")" '' \
    stallcast --version
"$program" --help >help
ok '--help names every command and system' sh -c \
    'for word in compare estimate explain import list mrc rank validate hbf stream uvm; do grep -q "^  $word  *[a-zA-Z]" help || exit 1; done'
for words in help -h; do
    "$program" $words >out
    ok "$words is the same" cmp help out
done
for command in estimate explain list rank sensitivity solve validate; do
    "$program" $command --help >help
    ok "$command --help says how to call it" grep -q "^usage: stallcast $command [A-Z]" help
    ok "$command --help ends in its options" sh -c 'tail -n 1 help | grep -q "^  -h, --help  *this text$"'
    ok "$command --help fits a page's width" sh -c '! grep -n "^.\{101\}" help'
    "$program" help $command >out
    ok "help $command is the same" cmp help out
    "$program" $command -h >out
    ok "$command -h too" cmp help out
    "$program" $command hbf key=1 more -h >out
    ok "$command: --help before all else" cmp help out
done

# ---- list ----

check_run 'list systems' 0 'system
hbf
stream
uvm' '' sh -c "'$program' list systems -f csv | cut -d, -f1 | grep -xE 'system|hbf|stream|uvm'"
for subject in systems units policies gpus models flash apps kernels prefetch-kernels \
    'fields hbf' 'fields stream' 'fields uvm' 'fields prefetch' 'columns prefetch' \
    'parameters prefetch' 'policies prefetch' \
    'columns hbf' 'columns stream' 'columns uvm' 'parameters hbf' 'parameters stream' \
    'parameters uvm' 'policies hbf' 'policies uvm' 'scores hbf' 'scores stream' 'scores uvm' \
    'scores prefetch'; do
    "$program" list $subject >out 2>err
    code=$?
    ok "list $subject" sh -c "[ $code -eq 0 ] && [ ! -s err ] && [ \$(wc -l <out) -gt 2 ]"
    "$program" list $subject -f csv >out.csv
    "$program" list $subject -f json >out
    ok "list $subject as JSON has as many rows" perl -MJSON::PP -e '
        local $/;
        open my $f, "<", "out" or die;
        my $rows = decode_json(<$f>);
        die "no rows" unless @$rows;
        my %width = map { scalar(keys %$_) => 1 } @$rows;
        die "rows of several widths" if keys %width > 1'
    "$program" list $subject --only abacus-of-wood -f csv >out
    ok "list $subject --only what is not there" sh -c '[ $(wc -l <out) -eq 1 ]'
done
check_run 'list scores: those of the calibration file, as they stand there' 0 '' '' sh -c \
    "'$program' list scores uvm -f csv --only ' ' | sed '1d; s/,all,/,*,/' >got
     awk -F, '\$1 == \"score\" { print \$2 \",\" \$3 \",\" \$4 \",\" \$9 }' '$source_tree/data/params/uvm.csv' | diff - got"
check_run '--params says nothing of other lists' 2 '' 'stallcast: list gpus: --params is for scores only' \
    stallcast list gpus --params none.csv
check_run 'list scores of a file that is not there' 2 '' 'stallcast: none.csv: No such file or directory' \
    stallcast list scores hbf --params none.csv
check_run 'list fields --only' 0 \
'key     default  values            kind     help
buffer  40 MB    4.096 kB to 1 TB  setting  staging SRAM, all stacks together' '' \
    stallcast list fields hbf --only '^buffer '
check_run 'a key in a machine format has its aliases and source' 0 \
'key,default,values,kind,help,aliases,source
tensor_parallel,1,1 to 1024,setting,GPUs that share each layer; the answer is for one of them,tp,' '' \
    stallcast list fields hbf --only '^tensor_parallel ' -f csv
# Without gpu= a row is taken, and its values are the defaults.
check_run 'list, explain: the link of the GPU that is taken' 0 'link_rate 21.6896 GB/s
link_rate 21.6896 GB/s
link_rate 21.6896 GB/s
link_rate 68.7195 GB/s' '' sh -c "
    { '$program' list fields uvm; '$program' list parameters uvm; '$program' explain uvm; '$program' explain uvm gpu=gh200; } |
    sed -n 's/^ *\(link_rate\)  *\([0-9.]* GB.s\) .*/\1 \2/p'"
check_run 'a required key, a choice, a preset, a derived key' 0 'layers|required|1 to 100000
phase|decode|decode | prefill
gpu|a100-sim|row of gpus
head_dim|hidden / heads|1 to 100000' '' sh -c \
    "for key in layers phase gpu head_dim; do '$program' list fields hbf -f csv --delimiter '|' --only \"^\$key \"; done | grep -v '^key' | sed 's/\"//g' | cut -d'|' -f1-4 | sed -n 's/|[a-z]*\$//;s/^phase.*/phase|decode|decode | prefill/;p'"
check_run 'list columns' 0 \
'column       shown  help
performance  table  ideal'"'"'s time over time' '' stallcast list columns hbf --only '^performance '
check_run 'list units' 0 \
'what    units
a time  ns, us, ms, s, min, h, cycles' '' stallcast list units --only '^a time'
check_run 'list policies of a system without any' 0 'system  policy  help' '' \
    stallcast list policies stream
for table in gpus models flash kernels prefetch-kernels; do
    "$program" list $table -f csv >out
    "$program" list $table --data "$source_tree/data" -f csv >again
    ok "list $table: the built-in table is data/$table.csv" cmp out again
    ok "list $table is the file as it stands" perl -e '
        sub fields {
            my @f;
            push @f, defined $1 ? $1 : $2 while $_[0] =~ /\G(?:"((?:[^"]|"")*)"|([^,\n]*))(?:,|\n|$)/g;
            map { /^-?[0-9.]+(e-?[0-9]+)?$/i ? $_ + 0 : $_ } @f;
        }
        open my $a, "<", $ARGV[0] or die;
        open my $b, "<", "out" or die;
        while (my $want = <$a>) {
            my $got = <$b>;
            my ($w, $g) = (join("|", fields($want)), join("|", fields($got)));
            die "line $.: want $w\ngot $g\n" if $w ne $g;
        }
        die "more lines" if <$b>' "$source_tree/data/$table.csv"
done

# ---- explain ----

"$program" explain hbf model=llama-8b >default
"$program" explain hbf model=llama-8b --params "$source_tree/data/params/hbf.csv" |
    sed "s:$source_tree/data/params/hbf.csv:params/hbf:" >out
ok 'explain --params: what comes with the program' cmp default out
check_run 'explain --params: another' 2 '' 'stallcast: none.csv: No such file or directory' \
    stallcast explain hbf model=llama-8b --params none.csv
check_run 'explain --level: as estimate' 2 '' \
    "stallcast: --level: expected a probability from 0.5 to 0.99, got '2'" \
    stallcast explain hbf model=llama-8b --level 2
idle() {
    "$program" explain "$@" >explained && sed -n '/^  no effect here: /,/^$/p' explained >out
}
idle hbf model=llama-8b retry=0.1 batch=2 scheduler=greedy latency=20us
check_run 'explain: what was given and changes nothing' 0 \
    '  no effect here: retry, scheduler (half, twice and 100 times of it, or another choice,
  give the same closed-form answer)' '' sed '/^$/d' out
idle hbf model=llama-8b retry=0.1 read_time=5us
ok 'explain: nothing of the kind where it does' [ ! -s out ]
idle hbf model=llama-8b policy=slipstream batch=2 read_time=0us
ok 'explain: nor for what would change it from zero' [ ! -s out ]
idle stream latency=800cycles
ok 'explain: nor for cycles' [ ! -s out ]
for level in 0.5 0.9; do
    "$program" estimate hbf model=llama-8b --level $level -f csv -c slowdown_lo,slowdown_hi \
        --digits 4 | tail -n 1 | awk -F , -v p=$level \
        '{ printf "slowdown from %s to %s: %g of 100\n", $(NF - 1), $NF, 100 * p }' >want
    "$program" explain hbf model=llama-8b --level $level |
        sed -n 's/^ *\(slowdown from .* of 100\) .*/\1/p' >out
    ok "explain --level $level: the interval of estimate" cmp want out
done

for system in hbf stream uvm; do
    case $system in
    hbf) words=model=llama-8b ;;
    stream) words=warps=8 ;;
    uvm) words='app=bfs memory_capacity=16GiB' ;;
    esac
    "$program" explain $system $words >out 2>err
    code=$?
    ok "explain $system" sh -c "[ $code -eq 0 ] && [ ! -s err ]"
    ok "explain $system: given, answer, anchors" sh -c \
        'grep -qx given out && grep -qx answer out && grep -q "^fitted once" out'
    ok "explain $system has no nan, no inf, no null" sh -c \
        "! grep -niE '(^|[^a-z_])-?(nan|inf|null|\(null\))([^a-z]|\$)' out"
    "$program" explain $system $words -f csv >out
    check_run "explain $system -f csv" 0 'section,symbol,equation,value,unit,binds,meaning' '' \
        head -n 1 out
    ok "explain $system -f csv: every number is one" sh -c \
        "! grep -niE ',-?(nan|inf)' out && [ \$(wc -l <out) -gt 10 ]"
    for format in tsv json jsonl md; do
        ok "explain $system -f $format" sh -c \
            "'$program' explain $system $words -f $format >out && [ \$(wc -l <out) -gt 10 ]"
    done
    # What explain answers is what estimate answers.
    "$program" explain $system $words | sed -n '/^answer$/,/^$/p' | awk '$1 == "slowdown" { print $2 }' >out
    "$program" estimate $system $words --columns slowdown -f csv --digits 4 | sed 's/.*,//;1d' >want
    ok "explain $system: the slowdown of estimate" cmp want out
done
"$program" list policies hbf -f csv | sed '1d' | cut -d, -f2 | while read -r policy; do
    for more in 'buffer=4096B' 'buffer=1TB batch=1' 'latency=10ms' 'read_time=1ms' 'phase=prefill'; do
        "$program" explain hbf model=llama-8b policy=$policy $more >out 2>&1
        [ $? -eq 0 ] || echo "$policy $more: no answer"
        grep -niE '(^|[^a-z_])-?(nan|inf)([^a-z]|$)' out
    done
done >said
ok 'explain every policy at its extremes' sh -c 'cat said; [ ! -s said ]'
"$program" list policies uvm -f csv | sed '1d' | cut -d, -f2 | while read -r policy; do
    "$program" list fields uvm --only '^pattern ' -f csv | tail -n 1 | cut -d, -f3 | sed 's/ | / /g' | tr ' ' '\n' |
    while read -r pattern; do
        for more in footprint=4MiB oversubscription=100 passes=1000000 'hot_share=1% drift=100%' in_flight=1000000000; do
            "$program" explain uvm policy=$policy pattern=$pattern $more >out 2>&1
            [ $? -eq 0 ] || echo "$policy $pattern $more: no answer"
            grep -niE '(^|[^a-z_])-?(nan|inf)([^a-z]|$)' out
        done
    done
done >said
ok 'explain every placement policy and pattern at its extremes' sh -c 'cat said; [ ! -s said ]'
ok 'explain tells both branches of a hot set near what fits' sh -c \
    "'$program' explain uvm app=k-means mode=fitted memory_capacity=16GiB policy=ember-static | grep -q '^  T_past = '"
check_run 'cycles are told in seconds' 0 '  latency                1 us           from issue to use of one line of an idle memory' '' \
    sh -c "'$program' explain stream latency=1000cycles clock=1GHz | grep '^  latency  '"

# ---- validate ----

for system in hbf stream uvm prefetch; do
    "$program" validate $system >out 2>err
    code=$?
    ok "validate $system: every figure meets its target" sh -c "cat err; [ $code -eq 0 ]"
    ok "validate $system says how many" grep -q '^[1-9][0-9]* [a-z]* figures' err
    figures=$(sed 1d "$source_tree/data/published/$system.csv" | grep -c .)
    "$program" validate $system -f csv >out 2>/dev/null
    ok "validate $system: all figures are shown" sh -c "[ \$((\$(wc -l <out) - 1)) -eq $figures ]"
    "$program" validate $system -f json --only . 2>/dev/null >out
    ok "validate $system -f json" perl -MJSON::PP -e 'local $/; open my $f, "<", "out"; decode_json(<$f>)'
done
ok 'only tables of means have columns for what a mean is worth' sh -c \
    "'$program' validate hbf --only '^fig2a' -f csv 2>&1 | sed -n 1p | grep -v median"
"$program" validate hbf --only '^fig2a-on-demand-max$' -f csv >out 2>err
ok 'validate --only' sh -c '[ $(wc -l <out) -eq 2 ]'
"$program" validate uvm --only '^table4-fitted-a40-radix-1.5-uvm|^table4-fitted-a40-cnn-1.5-mapped' -f csv >out 2>err
check_run 'a run that was stopped is compared up to where it was stopped' 0 'published,closed_form
1800,1800' '' sh -c "cut -d, -f5,6 out | grep -E '^published|^1800,'"
ok 'figures of a set are judged together' grep -q '^Table 4, mode=fitted: cnn.*: 2 figures, closed form: geometric error [0-9.]*$' err
"$program" validate uvm --only '^fig10-fitted-a40-ember-static$' -f csv >out 2>err
ok 'a figure that is a ratio of two scenarios' sh -c \
    "sed 1d out | cut -d, -f6 | awk '{ exit !(\$1 > 5 && \$1 < 9) }'"

# ---- data directories ----

cp -R "$source_tree/data" data
fresh() {
    cp "$source_tree/data/$1" "data/$1"
}
ideal() {
    stallcast estimate hbf policy=ideal --columns slowdown "$@"
}
check_run '--data: a copy gives the same' 0 '       1' '' sh -c \
    "'$program' estimate hbf model=llama-8b policy=ideal --columns slowdown --data data | tail -n 1"
sed -i 's/^llama-8b,/my-llama,/' data/models.csv
check_run '--data: other names' 2 '' \
    "stallcast: model=llama-8b: expected a row of models, got 'llama-8b': did you mean llama-70b?" \
    ideal model=llama-8b --data data
check_run 'STALLCAST_DATA' 0 'slowdown
       1' '' sh -c "STALLCAST_DATA=data '$program' estimate hbf policy=ideal model=my-llama --columns slowdown"
check_run 'an empty STALLCAST_DATA is none' 0 'slowdown
       1' '' sh -c "STALLCAST_DATA= '$program' estimate hbf policy=ideal model=llama-8b --columns slowdown"
check_run '--data goes before STALLCAST_DATA' 0 'slowdown
       1' '' sh -c "STALLCAST_DATA=none '$program' estimate hbf policy=ideal model=my-llama --columns slowdown --data data"
check_run 'a directory that is not there' 2 '' 'stallcast: none/models.csv: No such file or directory' \
    ideal model=llama-8b --data none
check_run 'the same in the environment' 2 '' 'stallcast: none/models.csv: No such file or directory' \
    sh -c "STALLCAST_DATA=none '$program' estimate hbf model=llama-8b"
fresh models.csv

# broken FILE SED-SCRIPT MESSAGE: what is said of data/FILE after that edit.
broken() {
    sed "$2" "$source_tree/data/$1" >"data/$1"
    check_run "$1: $3" 2 '' "stallcast: data/$1$3" ideal model=llama-8b --data data
    fresh "$1"
}
broken gpus.csv '3s/,108,/,many,/' ":3: sms: expected a pure number, got 'many'"
broken gpus.csv '3s/,108,/,1.5,/' ":3: sms: expected a whole number, got '1.5'"
broken gpus.csv '3s/,108,/,0,/' ":3: sms: expected a value from 1 to 4096, got '0'"
broken gpus.csv '3s/,2000,/,500,/' \
    ':3: memory_bandwidth_GB/s: expected 1935.36 from 40 channels x 128 bit x 3.024 GT/s within 10 %, got 500'
broken gpus.csv '4s/.*/h100/' ':4: expected 29 fields, got 1'
broken gpus.csv '3s/^a100-sim/a100/' ':3: a100: this name stands in an earlier row too'
broken gpus.csv '3s/^a100-sim/a1000/' ': expected the row a100-sim, which gpu takes by default'
broken gpus.csv '3s/^/"/' ':3: text after a closing quote; a quote inside a quoted field must be doubled'
broken gpus.csv '1,$d' ': the file is empty; a header line was expected'
broken models.csv '2s/,gqa,/,gqq,/' ":2: attention: expected one of its choices, got 'gqq': did you mean gqa?"
broken kernels.csv '1s/kernel/krnel/' ': expected a column named kernel'
broken kernels.csv '1s/phase/phaze/' ':1: phaze is not a key of hbf'
broken kernels.csv '3s/decode/decod/' ":3: phase: expected one of its choices, got 'decod': did you mean decode?"
rm data/flash.csv
check_run 'a table that is missing' 2 '' 'stallcast: data/flash.csv: No such file or directory' \
    ideal model=llama-8b --data data
fresh flash.csv
sed '2s/slowdown/slowdwn/' "$source_tree/data/published/hbf.csv" >data/published/hbf.csv
"$program" validate hbf --data data >out 2>err
code=$?
ok 'a published figure that names no column' sh -c \
    "[ $code -eq 2 ] && [ ! -s out ] && grep \"^stallcast: data/published/hbf.csv:2: [a-z0-9-]*: metric: hbf has no column 'slowdwn'\$\" err"
printf 'id,figure,scenario,metric,aggregate,value,tolerance,kind,note\nx,F,model=llama-8b policy=ideal,slowdown,each,2,3%%,check,\n' \
    >data/published/hbf.csv
"$program" validate hbf --data data >out 2>err
code=$?
ok 'a figure that is missed: exit code 1' sh -c "[ $code -eq 1 ] && grep -q MISS out"
five='model=llama-8b policy=on-demand latency=5us,10us,20us,30us'
{
    echo id,figure,scenario,metric,aggregate,value,tolerance,kind,note
    for aggregate in mean median; do
        echo "$aggregate,F,\"$five\",slowdown,$aggregate,2,,check,"
    done
} >data/published/hbf.csv
"$program" validate hbf --data data -f csv >out 2>err
# shellcheck disable=SC2086
"$program" estimate hbf $five --columns slowdown -f csv --digits 12 | sed 1d | sed 's/.*,//' | sort -n |
    awk '{ v[NR] = $1; s += $1 } END { printf "%.4f\n%.4f\n", s / NR, (v[2] + v[3]) / 2 }' >want
sed 1d out | cut -d, -f6 | awk '{ printf "%.4f\n", $1 }' >got
ok 'means and medians of figures are those of the answers' sh -c \
    'cat want got err; [ $(wc -l <want) -eq 2 ] && cmp want got && [ "$(uniq want | wc -l)" -eq 2 ]'
# Each value left out in turn, by brute force.
# shellcheck disable=SC2086
"$program" estimate hbf $five --columns slowdown -f csv --digits 12 | sed '1d; s/.*,//' | sort -n |
    awk '{ v[NR] = $1; s += $1 }
         END { for (i in v) { m = (s - v[i]) / (NR - 1)
                              if (low == "" || m < low) low = m
                              if (m > high) high = m }
               printf "%.4f %.4f %.4f\n", (v[2] + v[3]) / 2, low, high }' >want
"$program" validate hbf --data data -f json 2>err |
    perl -MJSON::PP -e 'local $/; my ($mean, $median) = @{decode_json(<STDIN>)};
        printf "%.4f %.4f %.4f\n", @{$mean}{qw(median without_one_low without_one_high)};
        exit grep { defined $median->{$_} } qw(median without_one_low without_one_high)' >got
code=$?
ok 'beside a mean: the median, and the means without one; not beside a median' sh -c \
    "cat want got err; [ $code -eq 0 ] && cmp want got"
printf 'id,figure,scenario,metric,aggregate,value,tolerance,kind,note\nx,F,model=llama-8b policy=ideal,slowdown,each,two,3%%,check,\n' \
    >data/published/hbf.csv
check_run 'a figure that is no number' 2 '' \
    "stallcast: data/published/hbf.csv:2: x: value: expected a number, got 'two'" \
    stallcast validate hbf --data data
fresh published/hbf.csv

# Cycles in a table wait for the clock, whichever key brings it.
printf 'name,sms,latency_cycles,clock_MHz\nmine,20,1000,1000\n' >mine.csv
check_run 'cycles in a table' 0 'gpu,latency_s
mine.csv:mine,1e-06' '' stallcast estimate stream gpu=mine.csv:mine --columns latency -f csv
check_run 'cycles in a table, another clock' 0 'gpu,clock_Hz,latency_s
mine.csv:mine,2000000000,5e-07' '' \
    stallcast estimate stream gpu=mine.csv:mine clock=2GHz --columns latency -f csv
check_run 'a key wins over cycles in a table' 0 'gpu,latency_s
mine.csv:mine,3e-06' '' stallcast estimate stream gpu=mine.csv:mine latency=3us -f csv \
    --columns latency

cat >config.json <<'JSON'
{ "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
  "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256,
  "torch_dtype": "bfloat16", "hidden_act": "silu", "tie_word_embeddings": false }
JSON
check_run 'model=config.json' 0 'model,order,layers,kv_heads,ffn,vocab
config.json,auto,32,8,14336,128256' '' stallcast estimate hbf model=config.json order=auto \
    --columns order,layers,kv_heads,ffn,vocab -f csv
sed 's/"num_hidden_layers": 32, //' config.json >less.json
"$program" estimate hbf model=less.json >out 2>err
code=$?
ok 'a config.json with a key missing' sh -c \
    "[ $code -eq 2 ] && [ ! -s out ] && grep '^stallcast: model=less.json: less.json: has no num_hidden_layers' err"

finish
