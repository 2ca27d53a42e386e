#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# serve on the command line: one scenario and many, what does not fit, layouts left open,
# config.json, spreadsheets, what is refused, and the published figures.

. "${0%/*}/lib.sh"

answer() { # COLUMNS KEY=VALUE...: the columns of the answer, comma-separated
    columns=$1
    shift
    stallcast estimate serve "$@" -f jsonl -c "$columns" |
        perl -MJSON::PP -ne '
            $row = JSON::PP->new->decode($_);
            print join(",", map { $row->{$_} // "" } split /,/, "'"$columns"'"), "\n"'
}

# ---- answers ----

check_run 'one scenario' 0 \
'layout_tp  layout_pp  batch_size  fits  bound
        8          2         319     1  weight reads' '' \
    stallcast estimate serve model=llama-405b gpu=h100 gpus=16 \
    -c layout_tp,layout_pp,batch_size,fits,bound
check_run 'a batch that does not fit has no numbers' 0 \
'model,gpus,batch,fits,bound,batch_size,max_batch,tpot_s,tokens_per_s,cost_per_million
llama-70b,4,5000,0,HBM capacity,,199,,,' '' \
    stallcast estimate serve model=llama-70b gpus=4 batch=5000 -f csv \
    -c fits,bound,batch_size,max_batch,tpot_s,tokens_per_s,cost_per_million
check_run 'nor has a model' 0 '"fits":0,"bound":"HBM capacity","max_batch":0,"tpot_s":null' '' \
    sh -c '"$0" estimate serve model=llama-405b gpus=8 -f jsonl -c fits,bound,max_batch,tpot_s |
           grep -o "\"fits.*null"' "$program"
ok 'every column of every row is a number, a word or nothing' sh -c '
    "$0" estimate serve model=all gpus=1,8 weights_in=all -f csv -c all >all.csv &&
    [ "$(wc -l <all.csv)" -gt 150 ] && ! grep -i -E ",-?(nan|inf)" all.csv' "$program"
stallcast estimate serve model=llama-8b gpus=1:8:1 batch=1,max tp=1,best -f csv >swept
is_rows=$(wc -l <swept)
ok 'a sweep has a row for each value, also for max and best' [ "$is_rows" -eq 33 ]
ok 'max is as if not given' [ "$(answer tokens_per_s model=llama-8b batch=max tp=best pp=best)" = \
    "$(answer tokens_per_s model=llama-8b)" ]

# ---- the planner's questions ----

least=$(answer least_gpus model=llama-405b)
ok 'fewest GPUs for 405B' [ "$least" = 12 ]
ok '... with which it fits, and with one less it does not' [ \
    "$(answer fits model=llama-405b gpus=12),$(answer fits model=llama-405b gpus=11)" = 1,0 ]
limited=$(answer tpot_s model=llama-405b gpu=h100 gpus=16 tpot_limit=60ms)
ok 'a limit on TPOT is kept' awk "BEGIN { exit !($limited > 0.04 && $limited <= 0.06) }"
ok 'a limit that a single sequence misses is the reason' \
    [ "$(answer fits,bound model=llama-405b gpu=h100 gpus=16 tpot_limit=1ms)" = '0,TPOT limit' ]
cost=$(answer cost_per_million model=llama-70b gpu=h100 gpus=4 price=2)
rate=$(answer tokens_per_s model=llama-70b gpu=h100 gpus=4)
ok 'cost follows from price and rate' awk "BEGIN {
    want = 2 * 4 / 3600 / $rate * 1e6; exit !($cost > 0.9999 * want && $cost < 1.0001 * want) }"

elsewhere=$(answer tokens_per_s model=llama-70b gpu=h100 gpus=4 prefill=elsewhere)
here=$(answer tokens_per_s model=llama-70b gpu=h100 gpus=4 prefill=here)
ok 'prompts on the same GPUs cost throughput' awk "BEGIN { exit !($here < 0.9 * $elsewhere) }"

# ---- where weights lie ----

near=$(answer tpot_s model=llama-70b gpus=4 tp=4 pp=1 batch=8 weights_in=hbm)
for policy in slipstream h3 on-demand; do
    far=$(answer tpot_s model=llama-70b gpus=4 tp=4 pp=1 batch=8 weights_in=hbf policy=$policy)
    ok "$policy is slower than HBM" awk "BEGIN { exit !($far > 1.05 * $near) }"
done
host=$(answer tpot_s model=llama-70b gpus=4 tp=4 pp=1 batch=8 weights_in=host)
ok 'the host is slower than any' awk "BEGIN { exit !($host > $far) }"
ok 'policies do not matter to weights in HBM' [ \
    "$(answer time_s model=llama-8b policy=h3)" = "$(answer time_s model=llama-8b policy=slipstream)" ]
ok 'rank goes by throughput' sh -c '
    "$0" rank serve model=llama-70b gpus=4 tp=4 weights_in=hbf policy=on-demand,h3,slipstream \
        -f csv -c tokens_per_s >ranked
    [ "$(tail -n +2 ranked | sed "s/.*,//" | sort -rg | tr "\n" " ")" = \
      "$(tail -n +2 ranked | sed "s/.*,//" | tr "\n" " ")" ] &&
    [ "$(sed -n 2p ranked | grep -c slipstream)" -eq 1 ]' "$program"

check_run 'where policies do not matter, rank says so' 0 \
'rank  policy      margin
   1  h3               1
   1  slipstream       1' \
'stallcast: policy makes no difference here: all answers are alike' \
    stallcast rank serve model=llama-8b policy=h3,slipstream -c margin
check_run '... for as many scenarios as it is true of' 0 \
'weights_in  rank  policy      margin
hbm            1  h3           1.000
hbm            1  slipstream   1.000
hbf            1  slipstream   1.000
hbf            2  h3           1.052' \
'stallcast: policy makes no difference in 1 of 2 scenarios: all answers are alike there' \
    stallcast rank serve model=llama-8b weights_in=hbm,hbf policy=h3,slipstream -c margin
check_run 'what does not fit has no rank, for a reason' 2 '' \
    'stallcast: time_s has no value here: HBM capacity' \
    stallcast rank serve model=llama-405b gpus=4 policy=h3,slipstream

check_run 'which way is better is known of what a planner goes by' 0 \
'rank  gpu   cost_per_million  margin
   1  b200            0.0459   1.000
   2  h100            0.1162   2.533' '' \
    stallcast rank serve model=llama-8b gpus=1 --over gpu gpu=h100,b200 price=3 --by cost_per_million \
    -c cost_per_million,margin
for metric in tpot_s ttft_s least_gpus max_batch sequences tokens_per_s gpu_tokens_per_s \
              tokens_per_joule; do
    case $metric in tpot_s | ttft_s | least_gpus) best=min ;; *) best=max ;; esac
    ok "... $metric" sh -c '
        what="serve model=llama-405b gpu=h100 gpus=16 tpot_limit=90ms --over weights_in \
              weights_in=hbm,hbf -f csv -c margin"
        "$0" rank $what --by $1 >plain && "$0" rank $what --by $2:$1 >told && cmp plain told' \
        "$program" $metric $best
done

# ---- files ----

cat >gemma.json <<'JSON'
{"model_type": "gemma2", "head_dim": 128, "hidden_size": 4608, "intermediate_size": 36864,
 "num_attention_heads": 32, "num_hidden_layers": 46, "num_key_value_heads": 16,
 "sliding_window": 4096, "vocab_size": 256000, "torch_dtype": "bfloat16"}
JSON
ok 'config.json says what the row says, window and tied embeddings included' [ \
    "$(answer weight_bytes,kv_bytes,tokens_per_s model=gemma.json gpus=2 prompt=9000)" = \
    "$(answer weight_bytes,kv_bytes,tokens_per_s model=gemma-2-27b gpus=2 prompt=9000)" ]
ok 'a window keeps less than all' sh -c '[ "$1" != "$2" ]' - \
    "$(answer max_batch model=gemma.json gpus=2 prompt=9000)" \
    "$(answer max_batch model=gemma.json gpus=2 prompt=9000 sliding_window=0)"
cat >plan.csv <<'CSV'
site,model,gpu,gpus,batch
a,llama-70b,h100,4,max
b,llama-70b,h100,4,
c,llama-70b,h100,3,x
CSV
check_run 'a spreadsheet' 1 \
'site,model,gpu,gpus,batch,fits,batch_size,error
a,llama-70b,h100,4,max,1,199,
b,llama-70b,h100,4,,1,199,
c,llama-70b,h100,3,x,,,"plan.csv:4: batch: expected a pure number, got '"'x'"'"' \
"stallcast: 1 of 3 rows have no answer; the first: plan.csv:4: batch: expected a pure number, got 'x'" \
    stallcast estimate serve --from plan.csv -c fits,batch_size

# ---- what is refused ----

refuses 'tensor_parallel: 8 is more than gpus' estimate serve model=llama-8b gpus=6 tp=8
refuses 'pipeline_stages: 5 is more than gpus / tensor_parallel' \
    estimate serve model=llama-8b gpus=8 tp=2 pp=5
refuses "batch=1:max:2: expected a number at either end of a range, got 'max'" \
    estimate serve model=llama-8b batch=1:max:2
refuses "gpus=0: expected a value from 1 to 1024, got '0'" estimate serve model=llama-8b gpus=0
refuses 'layers: expected a value, got none: give model=NAME or layers=VALUE' estimate serve
refuses 'serve has no simulator' simulate serve model=llama-8b
refuses 'serve has no simulator' calibrate serve
refuses 'serve has no simulator' validate serve --simulate

# ---- explain, published figures ----

stallcast explain serve model=llama-405b weights_in=hbf gpus=16 >why
ok 'explain shows memory, the shard, and the step' sh -c '
    grep -q "^memory of the fullest GPU" why && grep -q "^machine" why && grep -q "^decode step" why &&
    grep -q "no calibration is loaded: the answer has no interval" why'
ok 'no interval is made up' sh -c '! "$0" estimate serve model=llama-8b -f csv | grep slowdown_lo' "$program"
stallcast validate serve -f csv >validated 2>/dev/null
ok 'the published ratios are within 10 %' sh -c '
    [ "$(grep -c "^fig15-.*,within,check," validated)" -eq 6 ]'
ok 'what they assume is said' grep -q 'not stated by the paper and taken here' validated
ok 'what was chosen to match is an anchor' grep -q '^sec7c-llama-405b-sequences,.*,anchor,' validated
ok 'the miss is shown' sh -c 'grep "^sec7c-llama-405b-h3-tpot,Sec. VII-C,tpot_s,each,0.602,0.12" validated'

finish
