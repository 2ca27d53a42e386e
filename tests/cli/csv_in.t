#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Scenarios from CSV: dialects, faults, what travels through, what wins.
# The answers asked for are keys of the scenario, so that no number of a model is
# needed here; an ideal has slowdown 1.

. "${0%/*}/lib.sh"

size='B, kB, MB, GB, TB, PB, KiB, MiB, GiB, TiB'
time='ns, us, ms, s, min, h, cycles'

# reads NAME INPUT OUTPUT WORD...: printf text in, the answers expected.
reads() {
    read_name=$1 read_output=$3
    printf "$2" >in.csv
    shift 3
    check_run "$read_name" 0 "$read_output" '' stallcast estimate hbf --from in.csv "$@"
}

# faulty NAME INPUT CODE OUTPUT MESSAGE WORD...
faulty() {
    fault_name=$1 fault_code=$3 fault_output=$4 fault_message=$5
    printf "$2" >in.csv
    shift 5
    check_run "$fault_name" "$fault_code" "$fault_output" "stallcast: $fault_message" \
        stallcast estimate hbf --from in.csv "$@"
}

same() {
    cmp "$1" "$2"
}

B='model=llama-8b --columns buffer'

# ---- dialects ----

plain='buffer,buffer_bytes,error
8MB,8000000,
9MB,9000000,'
reads 'LF' 'buffer\n8MB\n9MB\n' "$plain" $B
reads 'no line end at the end' 'buffer\n8MB\n9MB' "$plain" $B
reads 'CRLF' 'buffer\r\n8MB\r\n9MB\r\n' "$plain" $B
reads 'CR' 'buffer\r8MB\r9MB\r' "$plain" $B
reads 'UTF-8 byte order mark' '\357\273\277buffer\n8MB\n9MB\n' "$plain" $B
reads 'blank lines' '\nbuffer\n\n8MB\n  \n\n9MB\n\n' "$plain" $B
reads 'a header alone' 'buffer\n' 'buffer,buffer_bytes,error' $B
reads 'tabs' 'buffer\tnote\n8MB\ta,b\n' 'buffer,note,buffer_bytes,error
8MB,"a,b",8000000,' $B
reads 'semicolons' 'buffer;note\n8MB;a,b\n' 'buffer,note,buffer_bytes,error
8MB,"a,b",8000000,' $B
reads 'a decimal comma comes back as one' \
    'buffer_MB;note;retry\n8,5;n;0,1\n9,25;"a;b";0,2\n' \
    'buffer_MB;note;retry;buffer_bytes;stallcast_retry;error
8,5;n;0,1;8500000;0,1;
9,25;"a;b";0,2;9250000;0,2;' $B,retry
reads 'a decimal comma, told' 'buffer_MB;retry\n8,5;0,1\n' \
    'buffer_MB;retry;buffer_bytes;stallcast_retry;error
8,5;0,1;8500000;0,1;' $B,retry --delimiter ';' --decimal ,
reads 'told: a delimiter that is not the most frequent' 'a,b|buffer\n1,2|8MB\n' \
    'a,b|buffer|buffer_bytes|error
1,2|8MB|8000000|' $B --delimiter '|'
reads 'quotes, commas and line ends in fields' \
    'buffer,note\n"8MB","a ""b"", c\nd"\n' 'buffer,note,buffer_bytes,error
8MB,"a ""b"", c
d",8000000,' $B
reads 'standard input' 'buffer\n8MB\n' 'buffer,buffer_bytes,error
8MB,8000000,' $B
check_run 'standard input' 0 "$plain" '' sh -c \
    "printf 'buffer\n8MB\n9MB\n' | '$program' estimate hbf --from - $B"
check_run 'a file named by -i' 0 "buffer,buffer_bytes,error
8MB,8000000," '' stallcast estimate hbf -i in.csv $B

# ---- headers ----

for header in latency_us 'latency (us)' 'latency [us]' 'latency(us)' ' latency_us ' 'latency_µs'; do
    printf '%s\n5\n' "$header" >in.csv
    "$program" estimate hbf --from in.csv model=llama-8b --columns latency >out
    ok "header '$header'" sh -c "[ \"\$(tail -n 1 out)\" = 5,5e-06, ]"
done
reads 'a cell with a unit of its own' 'latency_us\n5ms\n' 'latency_us,latency_s,error
5ms,0.005,' model=llama-8b --columns latency
reads 'per cent and shares' 'retry\n10%%\n0.1\n' 'retry,stallcast_retry,error
10%,0.1,
0.1,0.1,' model=llama-8b --columns retry
faulty 'a unit that is none' 'latency (furlongs)\n5\n' 2 '' \
    "in.csv:1: latency (furlongs): expected one of $time in the brackets" $B
faulty 'a unit for a name' 'policy (us)\nideal\n' 2 '' \
    'in.csv:1: policy (us): expected policy without brackets' $B
faulty 'a key twice' 'buffer,note,buffer_MB\n8MB,n,8\n' 2 '' \
    'in.csv:1: buffer_MB: column 1 and column 3 both give buffer' $B
faulty 'a key twice, by its alias' 'tp,tensor_parallel\n1,1\n' 2 '' \
    'in.csv:1: tensor_parallel: column 1 and column 2 both give tensor_parallel' $B
faulty 'no key at all' 'note\nn\n' 2 '' \
    "in.csv:1: no column names a key of hbf: 'stallcast list fields hbf' shows them"
reads 'no key, but on the command line' 'note\nn\n' 'note,buffer_bytes,error
n,40000000,' $B
printf 'bufer,policy\n8MB,ideal\n' >in.csv
check_run 'a slip in a header is told, and travels through' 0 'bufer,policy,slowdown,error
8MB,ideal,1,' "stallcast: in.csv: column 'bufer' is no key of hbf and travels through: did you mean buffer?" \
    stallcast estimate hbf --from in.csv model=llama-8b --columns slowdown
for header in latncy_us 'latncy (us)' 'latncy [us]'; do
    printf '%s,policy\n5,ideal\n' "$header" >in.csv
    check_run "a slip before a unit: $header" 0 "$header,policy,slowdown,error
5,ideal,1," "stallcast: in.csv: column '$header' is no key of hbf and travels through: did you mean latency?" \
        stallcast estimate hbf --from in.csv model=llama-8b --columns slowdown
done
# Only a key, an alias, and these with a unit, are keys.
for header in tp_ _tp TP t_p 'tp-' tp_us tensor__parallel Tensor_Parallel tensor_parallel_ tensor_parallel_us; do
    printf '%s,policy\n4,ideal\n' "$header" >in.csv
    check_run "nearly a key: $header" 0 "$header,policy,tensor_parallel,error
4,ideal,1," "stallcast: in.csv: column '$header' is no key of hbf and travels through: did you mean tensor_parallel?" \
        stallcast estimate hbf --from in.csv model=llama-8b --columns tensor_parallel
    refuses "$header is not a key of hbf: did you mean tensor_parallel?" \
        estimate hbf model=llama-8b "$header=4"
done
for header in latency_ Latency_us LATENCY_us latency__us latency_MB latency_us_ 'Latency (us)'; do
    printf '%s,policy\n5,ideal\n' "$header" >in.csv
    check_run "nearly a key: $header" 0 "$header,policy,latency_s,error
5,ideal,0.00002," "stallcast: in.csv: column '$header' is no key of hbf and travels through: did you mean latency?" \
        stallcast estimate hbf --from in.csv model=llama-8b --columns latency
done
for header in 'tp ()' 'tp []' 'tp()'; do
    faulty "nothing in brackets: $header" "$header\n4\n" 2 '' \
        "in.csv:1: $header: expected tensor_parallel without brackets" $B
done
faulty 'nothing in brackets where a unit is needed' 'latency ()\n5\n' 2 '' \
    "in.csv:1: latency (): expected one of $time in the brackets" $B
reads 'usual columns are no slips' \
    'name,id,note,cost_us,t,s1,tps,x_,model_name,_,policy\na,b,c,d,e,f,g,h,i,j,ideal\n' \
    'name,id,note,cost_us,t,s1,tps,x_,model_name,_,policy,slowdown,error
a,b,c,d,e,f,g,h,i,j,ideal,1,' model=llama-8b --columns slowdown
reads 'columns that go by the name of an answer' \
    'policy,slowdown,error,stallcast_error\nideal,2.5,none,x\n' \
    'policy,slowdown,error,stallcast_error,stallcast_slowdown,stallcast2_error
ideal,2.5,none,x,1,' model=llama-8b --columns slowdown

# ---- what travels through ----

printf 'note,policy,note\n\377\376 \342\202,ideal,\303\251\n' >in.csv
printf 'note,policy,note,slowdown,error\n\377\376 \342\202,ideal,\303\251,1,\n' >want.csv
"$program" estimate hbf --from in.csv model=llama-8b --columns slowdown >out 2>err
ok 'bytes that are not UTF-8, and columns of the same name' same want.csv out
reads 'JSON has a member for each of them' 'note,policy,note\na,ideal,b\n' \
    '[
{"note":"a","policy":"ideal","note_2":"b","slowdown":1,"error":null}
]' model=llama-8b --columns slowdown --format json
reads 'blanks at the ends of a field' 'note,policy\n" a ", ideal \n' \
    'note,policy,slowdown,error
" a "," ideal ",1,' model=llama-8b --columns slowdown

# ---- what wins ----

reads "a row's own cell wins over the command line" 'buffer,note\n8MB,a\n,b\n \t,c\n' \
    'buffer,note,buffer_bytes,error
8MB,a,8000000,
,b,16000000,
" 	",c,16000000,' $B buffer=16MB
reads 'an empty cell takes the default' 'buffer,sshr\n,7\n' \
    'buffer,sshr,buffer_bytes,stallcast_sshr,error
,7,40000000,7,' $B,sshr
reads 'a preset of the row, keys of the command line on top' 'flash,note\nhbf-10us,a\nhbf-5us,b\n' \
    'flash,note,latency_s,error
hbf-10us,a,0.00001,
hbf-5us,b,5e-06,' model=llama-8b --columns latency
reads 'the same, told on the command line' 'flash\nhbf-10us\nhbf-5us\n' 'flash,latency_s,error
hbf-10us,0.00002,
hbf-5us,0.00002,' model=llama-8b --columns latency latency=20us

# ---- bad rows ----

faulty 'bad rows keep their place' \
    'buffer,policy,note\n8MB,ideal,a\n8,ideal,b\n8us,ideal,c\n8MB,idal,d\n9MB,ideal,e\n' 1 \
    "buffer,policy,note,slowdown,error
8MB,ideal,a,1,
8,ideal,b,,\"in.csv:3: buffer: expected a size with a unit ($size), got '8'\"
8us,ideal,c,,\"in.csv:4: buffer: expected a size ($size), got '8us', a time\"
8MB,idal,d,,\"in.csv:5: policy: expected one of its choices, got 'idal': did you mean ideal?\"
9MB,ideal,e,1," \
    "3 of 5 rows have no answer; the first: in.csv:3: buffer: expected a size with a unit ($size), got '8'" \
    model=llama-8b --columns slowdown
faulty 'short and long rows' 'buffer,note\n8MB,a\n8MB\n8MB,a,b,c\n9MB,d\n' 1 \
    'buffer,note,buffer_bytes,error
8MB,a,8000000,
8MB,,,"in.csv:3: expected 2 fields, got 1"
8MB,a,,"in.csv:4: expected 2 fields, got 4: beyond the header: b, c"
9MB,d,9000000,' '2 of 4 rows have no answer; the first: in.csv:3: expected 2 fields, got 1' $B
faulty 'a value out of range, a model that is not there' 'buffer,model\n1B,llama-8b\n8MB,llama-8c\n8MB,\n' 1 \
    "buffer,model,buffer_bytes,error
1B,llama-8b,,\"in.csv:2: buffer: expected a value from 4.096 kB to 1 TB, got '1B'\"
8MB,llama-8c,,\"in.csv:3: model: expected a row of models, got 'llama-8c': did you mean llama-8b?\"
8MB,,,\"in.csv:4: layers: expected a value, got none: give model=NAME or layers=VALUE\"" \
    "3 of 3 rows have no answer; the first: in.csv:2: buffer: expected a value from 4.096 kB to 1 TB, got '1B'" \
    --columns buffer
faulty 'a thousands separator' 'batch,note\n"1,000",a\n' 1 \
    "batch,note,stallcast_batch,error
\"1,000\",a,,\"in.csv:2: batch: expected a pure number without thousands separators, got '1,000'\"" \
    "1 of 1 rows have no answer; the first: in.csv:2: batch: expected a pure number without thousands separators, got '1,000'" \
    model=llama-8b --columns batch
faulty 'a list is no value of a row' 'batch,note\n1:4:1,a\n' 1 \
    "batch,note,stallcast_batch,error
1:4:1,a,,\"in.csv:2: batch: expected a pure number, got '1:4:1': one value only\"" \
    "1 of 1 rows have no answer; the first: in.csv:2: batch: expected a pure number, got '1:4:1': one value only" \
    model=llama-8b --columns batch
printf 'line,note\n16B,a\n128B,b\n' >in.csv
check_run 'values that contradict each other' 1 'line,note,line_bytes,error
16B,a,,in.csv:2: line: 16 B must not be smaller than a sector
128B,b,128,' \
    'stallcast: 1 of 2 rows have no answer; the first: in.csv:2: line: 16 B must not be smaller than a sector' \
    stallcast estimate stream --from in.csv --columns line
faulty '--strict stops at the first bad row' 'buffer\n8MB\n8\n9MB\n' 2 'buffer,buffer_bytes,error
8MB,8000000,' "in.csv:3: buffer: expected a size with a unit ($size), got '8'" $B --strict
reads '--strict with nothing bad' 'buffer\n8MB\n9MB\n' "$plain" $B --strict
reads '--only keeps rows by their text' 'buffer,note\n8MB,a\n9MB,b\n8,a c\n' \
    'buffer,note,buffer_bytes,error
9MB,b,9000000,' $B --only '(?i)MB,B$'

printf 'buffer,note\n8MB,aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\n9MB,a\n' >in.csv
check_run 'a pattern that takes too long is told' 1 'buffer,note,buffer_bytes,error
9MB,a,9000000,' 'stallcast: --only: the pattern takes too long on some rows, left out for that' \
    stallcast estimate hbf --from in.csv $B --only ',(a+)+$'

# ---- files that cannot be read to their end: what came before is answered ----

answered='buffer,buffer_bytes,error
8MB,8000000,'
faulty 'an empty file' '' 2 '' \
    'in.csv: expected a header line with the names of keys, got nothing' $B
faulty 'a quote that is never closed' 'buffer\n8MB\n"9MB\n1MB\n' 2 "$answered" \
    'in.csv:3: the quote that opens here is never closed' $B
faulty 'a quote inside a field' 'buffer\n8MB\n9"MB\n' 2 "$answered" \
    'in.csv:3: a quote inside an unquoted field; quote the whole field and double the quotes in it' $B
faulty 'a NUL byte' 'buffer\n8MB\n9\000MB\n' 2 "$answered" \
    'in.csv:3: NUL byte; this is not a text file' $B
faulty 'UTF-16' '\377\376b\000\n\000' 2 '' 'in.csv:1: UTF-16 text; save as CSV UTF-8' $B
{
    printf 'buffer,note\n8MB,a\n9MB,'
    awk 'BEGIN { for (i = 0; i < 20000; i++)
        printf "%s", "0123456789012345678901234567890123456789012345678901234567890123" }'
    printf '\n7MB,c\n'
} >in.csv
check_run 'a line of more than a megabyte' 2 'buffer,note,buffer_bytes,error
8MB,a,8000000,' 'stallcast: in.csv:3: the record is longer than the limit' \
    stallcast estimate hbf --from in.csv $B
{
    printf 'buffer,note\n8MB,'
    awk 'BEGIN { for (i = 0; i < 15000; i++)
        printf "%s", "0123456789012345678901234567890123456789012345678901234567890123" }'
    printf '\n'
} >in.csv
"$program" estimate hbf --from in.csv $B >out
{
    sed '1s/$/,buffer_bytes,error/;2s/$/,8000000,/' in.csv
} >want.csv
ok 'a line of just less' same want.csv out
check_run 'a directory' 2 '' 'stallcast: .: Is a directory' stallcast estimate hbf --from . $B
check_run 'a missing file' 2 '' 'stallcast: none.csv: No such file or directory' \
    stallcast estimate hbf --from none.csv $B
printf 'buffer\n8MB\n' >locked.csv
chmod 000 locked.csv
if [ -r locked.csv ]; then
    skip 'this user can read everything'
else
    check_run 'an unreadable file' 2 '' 'stallcast: locked.csv: Permission denied' \
        stallcast estimate hbf --from locked.csv $B
fi

# ---- many rows ----

awk 'BEGIN {
    print "id,buffer_MB,policy,latency"
    split("ideal h3 on-demand slipstream", policies, " ")
    for (i = 1; i <= 50000; i++)
        printf "%d,%s,%s,%s\n", i, i % 997 == 0 ? "many" : 1 + i % 640,
               policies[1 + i % 4], i % 1009 == 0 ? "" : 5 + i % 40 "us"
}' >in.csv
for jobs in 1 2 8; do
    "$program" estimate hbf --from in.csv model=llama-8b --jobs $jobs >out$jobs 2>err$jobs
    echo "exit code $?" >>err$jobs
done
ok 'two jobs give the bytes of one' same out1 out2
ok 'eight jobs too' same out1 out8
ok 'and the same words' same err1 err8
small=$(awk -F , '$2 ~ /^[0-9]+$/ && $2 < 8' in.csv | wc -l) # drawn from 8 MB up
printf "stallcast: $small of 50000 rows are extrapolated, their intervals may not hold; outside of what was sampled in the first: buffer\n" >want
printf "stallcast: 50 of 50000 rows have no answer; the first: in.csv:998: buffer_MB: expected a size ($size), got 'many'\nexit code 1\n" >>want
ok 'which are right' same want err1
cut -d, -f1-4 out1 >through
ok 'rows in = rows out, in order' same in.csv through
"$program" estimate hbf --from in.csv model=llama-8b --jobs 8 --strict >out 2>err
code=$?
ok '--strict stops in the same place with many jobs' sh -c "[ $code -eq 2 ] && [ \$(wc -l <out) -eq 997 ]"
head -n 997 out1 >want
ok 'and writes all before it' same want out
"$program" estimate hbf --from in.csv model=llama-8b --format jsonl >out 2>err
ok 'JSON lines: one for each row' sh -c '[ $(wc -l <out) -eq 50000 ]'

awk 'BEGIN { print "name,sms"; for (i = 1; i <= 300; i++) print "gpu" i "," 60 + i % 60 }' >gpus.csv
awk 'BEGIN { print "gpu,note"; for (i = 1; i <= 20000; i++) print "gpus.csv:gpu" 1 + i % 300 "," 60 + (1 + i % 300) % 60 }' >in.csv
"$program" estimate hbf --from in.csv model=llama-8b --columns sms --jobs 8 >out 2>err
ok 'presets of files, read by many jobs at once' sh -c \
    '[ ! -s err ] && awk -F, "NR > 1 && \$2 != \$3 { print; bad = 1 } END { exit bad || NR != 20001 }" out'

finish
