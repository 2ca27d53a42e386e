#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Every format, byte for byte.  Columns are keys of the scenario, or an ideal's
# slowdown of 1, so that no number of a model is needed here.

. "${0%/*}/lib.sh"

# sweep WORD...: two policies x three buffers.
sweep() {
    stallcast estimate hbf model=llama-8b policy=ideal,h3 buffer=8MB:32MB:*2 \
        --columns latency,lm_head,s0,hbf_energy "$@"
}

check_run 'table' 0 \
'policy  buffer (MB)  latency (us)  lm_head  s0  hbf_energy (pJ/bit)
ideal             8            20  no       -                 15.88
ideal            16            20  no       -                 15.88
ideal            32            20  no       -                 15.88
h3                8            20  no       -                 15.88
h3               16            20  no       -                 15.88
h3               32            20  no       -                 15.88' '' sweep
check_run 'Markdown' 0 \
'| policy | buffer (MB) | latency (us) | lm_head | s0 | hbf_energy (pJ/bit) |
| ------ | ----------: | -----------: | ------- | -- | ------------------: |
| ideal  |           8 |           20 | no      | -  |               15.88 |
| ideal  |          16 |           20 | no      | -  |               15.88 |
| ideal  |          32 |           20 | no      | -  |               15.88 |
| h3     |           8 |           20 | no      | -  |               15.88 |
| h3     |          16 |           20 | no      | -  |               15.88 |
| h3     |          32 |           20 | no      | -  |               15.88 |' '' sweep -f md
csv='model,policy,buffer_bytes,latency_s,lm_head,s0,hbf_energy_J_per_bit
llama-8b,ideal,8000000,0.00002,no,,1.588e-11
llama-8b,ideal,16000000,0.00002,no,,1.588e-11
llama-8b,ideal,32000000,0.00002,no,,1.588e-11
llama-8b,h3,8000000,0.00002,no,,1.588e-11
llama-8b,h3,16000000,0.00002,no,,1.588e-11
llama-8b,h3,32000000,0.00002,no,,1.588e-11'
check_run 'CSV' 0 "$csv" '' sweep --format csv
check_run 'TSV' 0 "$(echo "$csv" | tr , '\t')" '' sweep --format=tsv
check_run 'JSON' 0 '[
{"model":"llama-8b","policy":"ideal","buffer_bytes":8000000,"latency_s":0.00002,"lm_head":"no","s0":null,"hbf_energy_J_per_bit":1.588e-11},
{"model":"llama-8b","policy":"ideal","buffer_bytes":16000000,"latency_s":0.00002,"lm_head":"no","s0":null,"hbf_energy_J_per_bit":1.588e-11}
]' '' sweep -f json --only 'ideal buffer=(8|16) MB'
check_run 'JSON lines' 0 \
'{"model":"llama-8b","policy":"h3","buffer_bytes":32000000,"latency_s":0.00002,"lm_head":"no","s0":null,"hbf_energy_J_per_bit":1.588e-11}' \
    '' sweep -fjsonl --only 'h3 buffer=32 MB'
check_run 'JSON of nothing' 0 '[]' '' sweep -f json --only abacus
check_run 'JSON lines of nothing' 0 '' '' sweep -f jsonl --only abacus
check_run 'CSV of nothing' 0 'model,policy,buffer_bytes,latency_s,lm_head,s0,hbf_energy_J_per_bit' '' \
    sweep -f csv --only abacus
check_run 'a table of nothing' 0 \
    'policy  buffer_bytes  latency_s  lm_head  s0  hbf_energy_J_per_bit' '' sweep --only abacus

check_run 'a scenario without any key has text too' 0 'core_cycles
36' '' stallcast estimate stream --only '^$' --columns core -f csv
check_run '--only sees cycles as they were written' 0 'latency_s,core_cycles
8.83392e-08,36
1.76678e-07,36' '' stallcast estimate stream latency=100cycles:300cycles:100cycles --columns core \
    -f csv --only '^latency=[12]00 cycles$'
check_run 'what --only leaves out is not bad' 0 'line_bytes,core_cycles
128,36' '' stallcast estimate stream line=16B,128B --columns core -f csv --only 128
check_run 'a bad row of a sweep keeps its place' 1 'line_bytes,core_cycles,error
128,36,
16,,line: 16 B must not be smaller than a sector
64,36,' 'stallcast: 1 of 3 scenarios have no answer; the first: line: 16 B must not be smaller than a sector' \
    stallcast estimate stream line=128B,16B,64B --columns core -f csv
check_run '--strict: no answers at all' 2 '' 'stallcast: line: 16 B must not be smaller than a sector' \
    stallcast estimate stream line=128B,16B,64B --columns core -f csv --strict

# ---- the table's bar ----

check_run 'the bar, and its legend once' 0 \
'policy  slowdown  where the time goes
ideal          1  ....................

stalls:  . free  a access  o order  c capacity' '' sh -c \
    "'$program' estimate hbf model=llama-8b policy=ideal,h3 --only ideal |
     awk 'NR < 3 { print substr(\$0, 1, 6) \"  \" substr(\$0, 9, 8) \"  \" substr(\$0, match(\$0, /(where|[.]+\$)/)) } NR >= 3'"
check_run 'no bar of some of the stalls' 0 'slowdown  order_stall_share
       1                  0' '' stallcast estimate hbf model=llama-8b policy=ideal \
    --columns slowdown,order_stall_share

# ---- what columns there are ----

check_run 'a key that is swept and asked for stands once' 0 'model,buffer_bytes
llama-8b,8000000
llama-8b,16000000' '' stallcast estimate hbf model=llama-8b buffer=8MB,16MB --columns buffer -f csv
check_run 'a key by its alias is headed by its name' 0 'model,tensor_parallel,sshr
llama-8b,2,7' '' stallcast estimate hbf model=llama-8b tp=2 sshr_entries=7 --columns tp,sshr_entries -f csv
for format in csv tsv json jsonl; do
    "$program" estimate hbf model=@slipstream7 policy=all --format $format --columns all >all
    "$program" estimate hbf model=@slipstream7 policy=all --format $format >default
    ok "$format: all columns are the default" cmp all default
done

# ---- digits ----

digits() {
    stallcast estimate stream latency=333.333333333333314ms --columns latency -f csv --digits "$1"
}
check_run '--digits 1' 0 'latency_s
0.3' '' digits 1
check_run '--digits 3' 0 'latency_s
0.333' '' digits 3
check_run '--digits 17' 0 'latency_s
0.33333333333333331' '' digits 17
check_run '--digits all: the shortest that reads back' 0 'latency_s
0.3333333333333333' '' digits all
check_run 'the default is 6' 0 'latency_s
0.333333' '' stallcast estimate stream latency=333.333333333333314ms --columns latency -f csv
check_run 'and 4 in tables' 0 'latency (ms)
       333.3' '' stallcast estimate stream latency=333.333333333333314ms --columns latency
check_run 'small shares keep their digits' 0 '  retry
0.00123' '' stallcast estimate hbf model=llama-8b retry=0.0012345 --columns retry --digits 3
check_run 'a column whose largest is small lines up with as many digits' 0 '  retry
0.00500
0.00123' '' stallcast estimate hbf model=llama-8b retry=0.005,0.001234 --columns retry --digits 3
check_run 'a table with all digits' 0 'retry
 0.25
  0.1' '' stallcast estimate hbf model=llama-8b retry=0.25,0.1 --columns retry --digits all
check_run 'steps of a range are what one would write' 0 'model,latency_s
llama-8b,5e-06
llama-8b,0.00001
llama-8b,0.000015
llama-8b,0.00002' '' stallcast estimate hbf model=llama-8b latency=5us:20us:5us --columns latency \
    -f csv --digits all

# ---- delimiter and decimal sign ----

mm_as() {
    format=$1
    shift
    stallcast estimate hbf model=llama-8b retry=0.25 --columns latency -f "$format" "$@"
}
mm() {
    mm_as csv "$@"
}
check_run '--delimiter ;' 0 'model;retry;latency_s
llama-8b;0.25;0.00002' '' mm --delimiter ';'
check_run '--delimiter tab' 0 'model	retry	latency_s
llama-8b	0.25	0.00002' '' mm --delimiter tab
check_run '--decimal , takes the delimiter that spreadsheets take with it' 0 'model;retry;latency_s
llama-8b;0,25;0,00002' '' mm --decimal ,
check_run 'the same sign for both: quoted' 0 'model,retry,latency_s
llama-8b,"0,25","0,00002"' '' mm --decimal , --delimiter ,
check_run 'JSON has a point whatever is told' 0 \
    '{"model":"llama-8b","retry":0.25,"latency_s":0.00002}' '' mm_as jsonl --decimal ,
check_run 'a table takes the decimal sign' 0 'latency (us)
          20' '' mm_as table --decimal ,
printf 'retry_percent;policy\n12,5;ideal\n' >in.csv
check_run 'told for a file: in and out' 0 'retry_percent;policy;slowdown;error
12,5;ideal;1;' '' stallcast estimate hbf --from in.csv model=llama-8b --columns slowdown --decimal ,

# ---- other people read it ----

cat >parse.pl <<'PERL'
use strict;
use warnings;
use JSON::PP;
local $/;
my $text = <STDIN>;
my $rows = $ARGV[0] eq 'jsonl' ? [map { decode_json($_) } split /\n/, $text] : decode_json($text);
die "rows: " . @$rows unless @$rows == $ARGV[1];
for my $row (@$rows) {
    my %seen;
    $text =~ /nan|inf[^_a-z]/i and die "not a number: $text";
    die "no member" unless %$row;
}
PERL
"$program" estimate hbf model=all policy=all -f json >out 2>talk
rows=$(($(wc -l <out) - 2))
ok 'JSON is JSON' sh -c "perl parse.pl json $rows <out"
"$program" estimate hbf model=all policy=all -f jsonl >out 2>talk
ok 'JSON lines are JSON' sh -c "perl parse.pl jsonl \$(wc -l <out) <out"
printf 'note,policy\n"a ""b"" \\ \t\001\n\303\251 \377",ideal\n' >in.csv
"$program" estimate hbf --from in.csv model=llama-8b --columns slowdown -f jsonl >out
printf '%s\n' '{"note":"a \"b\" \\ \u0009\u0001\u000aé \u00ff","policy":"ideal","slowdown":1,"error":null}' >want
ok 'JSON of quotes, control characters and what is not UTF-8' cmp want out
ok 'is read back' sh -c 'perl parse.pl jsonl 1 <out'
printf 'note,policy\n"a|b\nc\033[2J",ideal\n' >in.csv
check_run 'a table keeps what would break it off' 0 'note       policy  slowdown  error
a|b c [2J  ideal          1  -' '' \
    stallcast estimate hbf --from in.csv model=llama-8b --columns slowdown -f table
check_run 'Markdown too' 0 '| note       | policy | slowdown | error |
| ---------- | ------ | -------: | ----- |
| a\|b c [2J | ideal  |        1 | -     |' '' \
    stallcast estimate hbf --from in.csv model=llama-8b --columns slowdown -f md
check_run 'TSV has no quotes' 0 'note	policy	slowdown	error
a|b c[2J	ideal	1	' '' sh -c \
    "'$program' estimate hbf --from in.csv model=llama-8b --columns slowdown -f tsv | tr -d '\033'"

# ---- answers are scenarios ----

for system in hbf stream uvm; do
    case $system in
    hbf) words='model=llama-8b policy=all buffer=8MB:64MB:*2' ;;
    stream) words='warps=1:64:*2 bandwidth=100GB/s,1TB/s latency=300cycles,600cycles' ;;
    uvm) words='app=@six passes=4 hot_share=0.5 policy=all memory_capacity=16GiB footprint=8GiB,24GiB' ;;
    esac
    "$program" estimate $system $words -f csv --digits all >first.csv
    "$program" estimate $system --from first.csv --digits all >second.csv 2>err
    ok "$system: answers read again give the same answers, without a word" sh -c '[ ! -s err ]'
    perl -e '
        use strict;
        sub rows { my ($path) = @_; open my $f, "<", $path or die; map { chomp; [split /,/, $_, -1] } <$f> }
        my ($first, $second) = ([rows("first.csv")], [rows("second.csv")]);
        my @names = @{$first->[0]};
        my %at = map { $second->[0][$_] => $_ } 0 .. $#{$second->[0]};
        my %known = map { $_ => 1 } @names;
        for my $c (0 .. $#names) {
            next if $known{"stallcast_$names[$c]"}; # a key
            my $again = $names[$c] =~ /^stallcast_/ ? "stallcast2_" . substr($names[$c], 10) : "stallcast_$names[$c]";
            next unless exists $at{$again};
            for my $r (1 .. $#$first) {
                $first->[$r][$c] eq $second->[$r][$at{$again}]
                    or die "row $r, $names[$c]: $first->[$r][$c], again $second->[$r][$at{$again}]\n";
            }
            $main::compared++;
        }
        die "nothing compared\n" unless $main::compared > 10;
    ' >said 2>&1
    code=$?
    ok "$system: every column of them" sh -c "cat said; [ $code -eq 0 ]"
done

# ---- nothing prints nan or inf ----

"$program" estimate hbf model=all policy=all gpu=all buffer=4096B,1TB latency=1us,10ms \
    batch=1,1000000 -f csv >out 2>err
code=$?
ok 'extremes of hbf' sh -c "[ $code -le 1 ] && ! grep -niE '(^|[^a-z_])-?(nan|inf(inity)?)([^a-z]|\$)' out err"
"$program" estimate stream warps=1,1024 loads=1,1000000000 outstanding=1,1024 bytes=1B,65536B \
    latency=1ns,1s bandwidth=1MB/s,10PB/s mshr=1,1000000 launch=0s,1s channels=1,65536 -f csv >out 2>err
code=$?
ok 'extremes of stream' sh -c "[ $code -le 1 ] && ! grep -niE '(^|[^a-z_])-?(nan|inf(inity)?)([^a-z]|\$)' out err"
for format in table tsv json jsonl md; do
    "$program" estimate hbf model=all policy=all buffer=4096B,1TB latency=1us,10ms -f $format >out 2>err
    ok "extremes as $format" sh -c "! grep -niE '(^|[^a-z_])-?(nan|inf(inity)?)([^a-z]|\$)' out err"
done

finish
