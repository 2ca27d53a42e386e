#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# mrc: what it refuses, every way of reading a trace, curves to the last miss.

. "${0%/*}/lib.sh"

# mrc_refuses STDERR ARGUMENT...: of the trace a.txt.
mrc_refuses() {
    reason=$1
    shift
    check_run "mrc a.txt $*" 2 '' "stallcast: $reason" stallcast mrc a.txt "$@"
}

# Blocks of 4 KiB: a b c b a d b, distances - - - 1 2 - 2.
printf '0x0\n0x1000\n0x2000\n0x1004\n0\n0x3000\n0x1000\n' >a.txt
curve='cache_bytes,cache_blocks,misses,miss_ratio
4096,1,7,1
8192,2,6,0.857143
12288,3,4,0.571429'
seen='7 accesses to 4 blocks of 4.096 kB'
usage='TRACE [options]'

# ---- what is refused: options ----

refuses "mrc: expected a trace: mrc $usage" mrc
refuses "mrc: 'b' is one word too many" mrc a.txt b
refuses 'no option --blok: did you mean --block?' mrc a.txt --blok 4KiB
mrc_refuses '--block: 4: no unit; takes B, kB, MB, GB, TB, PB, KiB, MiB, GiB, TiB' --block 4
mrc_refuses "--block: expected a whole number of bytes from 1 B, got '0B'" -b 0B
mrc_refuses "--block: expected a whole number of bytes from 1 B, got '1.5B'" -b 1.5B
mrc_refuses "--item: expected a whole number of bytes from 1 B, got '-1B'" --item=-1B
mrc_refuses "--block: expected a multiple of --item 2KiB, got '3KiB'" --block 3KiB --item 2KiB
for rate in 0 1 1.5 -0.1 x 1e-7 100%; do
    mrc_refuses "--sample: expected a share of the blocks from 1e-6 to below 1, got '$rate'" \
        --sample="$rate"
done
mrc_refuses '--sample and --sample-size: one of them' --sample 0.1 --sample-size 10
mrc_refuses "--sample-size: expected a whole number from 1 to 100000000, got '0'" --sample-size 0
mrc_refuses "--seed: expected a whole number from 0 to 2147483647, got '-1'" --seed=-1
mrc_refuses "--points: expected a whole number from 1 to 100000, got '0'" --points 0
mrc_refuses "--ways: expected a whole number from 1 to 65536, got '0'" --ways 0
mrc_refuses '--ways: not with --policy random' --ways 4 -p random
mrc_refuses "--policy: expected lru, random or aet, got 'fifo'" -p fifo
mrc_refuses "--policy: expected lru, random or aet, got 'lur': did you mean lru?" -p lur
mrc_refuses "--input: expected text, csv or u64, got 'elf'" -i elf
mrc_refuses '--column: only with CSV' -c addr -i text
for list in , 4KiB, 1x 4KiB:8KiB 8KiB:4KiB:1KiB 4KiB:8KiB:0B 4KiB:8KiB:*1 0B:8KiB:*2 -1B nan 1:2:x; do
    bad=${list%%,*}
    case $list in 4KiB,) bad= ;; esac
    mrc_refuses "--sizes: expected sizes such as 64KiB, bare numbers of blocks, or a range low:high:step or low:high:*factor, got '$bad'" \
        --sizes="$list" -b 4KiB
done
mrc_refuses '--sizes: more than 1000000' --sizes 1:2000000:1
mrc_refuses '--sizes, --points, --every and --histogram: one of them' --every --points 3
mrc_refuses '--sizes, --points, --every and --histogram: one of them' --histogram --sizes 1
mrc_refuses '--every: only for LRU in one set, whose curve has steps' --every -p aet
mrc_refuses '--every: only for LRU in one set, whose curve has steps' --every --ways 2
mrc_refuses '--histogram: not with --plot' --histogram --plot x.svg
mrc_refuses '--histogram: not with --ways' --histogram --ways 2
mrc_refuses "--plot: expected a name that ends in .svg, .png or .pdf, got 'x.txt'" --plot x.txt
mrc_refuses '--plot and -o: both are x.svg' --plot x.svg -o x.svg
mrc_refuses "--format: expected one of table, csv, tsv, json, jsonl, md, got 'xml'" -f xml
mrc_refuses 'cannot write none/x.csv: No such file or directory' -o none/x.csv

# ---- what is refused: traces ----

mkdir dir
: >empty.txt
printf '# nothing\n\n' >blank.txt
printf '1\n-5\n' >negative.txt
printf '1\n18446744073709551616\n' >large.txt
printf '1\n0x1,R\n' >mixed.txt
printf '1\nabc\n' >kinds.txt
printf '7fff0000\n' >bare-hex.txt
printf '1\n2.5\n' >real.txt
printf '\001\0\0\0\0\0\0\0\001\0\0' >cut.u64
printf 'op,addr\nR,0\nW,4096\nR,0\n' >a.csv
printf 'op,addr\nR,0\nW\n' >short.csv
printf 'op,addr\nR,0\nW,x y\n' >names.csv
printf 'x\ny\nx\n' >names.txt
refuses 'none.txt: No such file or directory' mrc none.txt
refuses 'none.txt.gz: No such file or directory' mrc none.txt.gz
refuses 'dir: Is a directory' mrc dir
refuses 'empty.txt: expected at least one access, got none' mrc empty.txt
refuses 'blank.txt: expected at least one access, got none' mrc blank.txt
refuses "negative.txt:2: expected no negative number, got '-5'" mrc negative.txt
refuses "large.txt:2: expected a number below 2^64, got '18446744073709551616'" mrc large.txt
refuses "mixed.txt:2: expected one number or name in a line, got '0x1,R'" mrc mixed.txt
refuses "kinds.txt:2: expected a number, as in line 1, got 'abc'" mrc kinds.txt
refuses "bare-hex.txt:1: expected a whole number (hexadecimal after 0x), got '7fff0000'" mrc bare-hex.txt
refuses "real.txt:2: expected a whole number (hexadecimal after 0x), got '2.5'" mrc real.txt
refuses 'cut.u64: expected numbers of 8 bytes each, got 3 bytes at byte 8, its last' mrc cut.u64
refuses 'a.csv:1: expected one column by its name, got op, addr' mrc a.csv
refuses "a.csv:1: expected a column 'adr', got op, addr" mrc a.csv --column adr
refuses 'short.csv:3: addr: expected a number or name, got nothing' mrc short.csv -c addr
refuses "names.csv:3: addr: expected a number, as in line 2, got 'x y'" mrc names.csv -c addr
refuses '--block: names.txt has names, which have no place: --item says how large each is' \
    mrc names.txt -b 4KiB
refuses 'a.txt: none of its 7 accesses is to a block of the sample: take a larger --sample, or --sample-size' \
    mrc a.txt --sample 1e-6
refuses '-o: a.txt would replace what is read' mrc a.txt -f csv -o a.txt
ln -s a.txt link.csv
refuses '-o: a.txt would replace what is read' mrc a.txt -o ./link.csv
ln a.txt hard.svg
refuses '--plot: a.txt would replace what is read' mrc a.txt --plot hard.svg
rm hard.svg
ok 'the trace still stands' sh -c '[ "$(wc -l <a.txt)" -eq 7 ]'
check_run 'a device may be both' 2 '' 'stallcast: /dev/null: expected at least one access, got none' \
    stallcast mrc /dev/null -o /dev/null
echo old >old.csv
refuses "negative.txt:2: expected no negative number, got '-5'" mrc negative.txt -f csv -o old.csv
ok 'the old answer still stands' sh -c '[ "$(cat old.csv)" = old ]'

# ---- ways to read a trace ----

check_run 'text' 0 "$curve" "$seen" stallcast mrc a.txt -b 4KiB -f csv
check_run 'standard input' 0 "$curve" "$seen" sh -c "'$program' mrc - -b 4KiB -f csv <a.txt"
printf '0\r\n4096\r\n8192\r\n 4100\r\n0\t\r\n12288\r\n4096' >crlf.txt
check_run 'CRLF, blanks, no last line end' 0 "$curve" "$seen" stallcast mrc crlf.txt -b 4KiB -f csv
printf '0\n1\n2\n1\n0\n3\n1\n' >pages.txt
check_run 'numbers of items' 0 "$curve" "$seen" stallcast mrc pages.txt --item 4KiB -f csv
perl -ne 'print pack "Q<", hex' a.txt >a.u64
check_run 'raw' 0 "$curve" "$seen" stallcast mrc a.u64 -b 4KiB -f csv
cp a.u64 A.U64
check_run 'raw, with a name in capitals' 0 "$curve" "$seen" stallcast mrc A.U64 -b 4KiB -f csv
check_run 'raw from standard input' 0 "$curve" "$seen" \
    sh -c "'$program' mrc - -i u64 -b 4KiB -f csv <a.u64"
perl -pe 'BEGIN { print "op;addr\n" } print "R;"' a.txt >b.csv
check_run 'CSV' 0 "$curve" "$seen" stallcast mrc b.csv -c addr -b 4KiB -f csv
check_run 'CSV from standard input' 0 "$curve" "$seen" \
    sh -c "'$program' mrc - -c addr -b 4KiB -f csv <b.csv"
printf 'a\nb\nc\nb\na\nd\nb\n' >letters.txt
check_run 'names' 0 "$curve" "$seen" stallcast mrc letters.txt --item 4KiB -f csv
for pair in 'gzip gz' 'zstd zst'; do
    tool=${pair% *} end=${pair#* }
    if ! command -v $tool >/dev/null; then
        skip "no $tool"
        continue
    fi
    for file in a.txt a.u64; do
        $tool -c $file 2>/dev/null >$file.$end
        check_run "$file.$end" 0 "$curve" "$seen" stallcast mrc $file.$end -b 4KiB -f csv
    done
    upper=$(printf %s "$end" | tr a-z A-Z)
    cp a.u64.$end A.U64.$upper
    check_run "A.U64.$upper" 0 "$curve" "$seen" stallcast mrc A.U64.$upper -b 4KiB -f csv
    cp -- a.txt.$end "-x\$(touch no).txt.$end"
    check_run "$end: a name that looks like an option" 0 "$curve" "$seen" \
        stallcast mrc -b 4KiB -f csv -- "-x\$(touch no).txt.$end"
    head -c 20 a.txt.$end >bad.$end
    refuses "bad.$end: cannot be unpacked: $tool ends with exit code 1" mrc bad.$end
    echo 'not packed' >plain.$end
    "$program" mrc plain.$end 2>err
    ok "$end: what is not packed" sh -c "[ $? -eq 2 ] && grep -q 'plain.$end: cannot be unpacked: $tool ends with' err"
    $tool -c negative.txt 2>/dev/null >negative.txt.$end
    refuses "negative.txt.$end:2: expected no negative number, got '-5'" mrc negative.txt.$end
    check_run "$end: without $tool" 2 '' \
        "stallcast: a.txt.$end: is read through $tool, which is not in PATH (Debian: the package $tool)" \
        env PATH="$PWD/dir" "$program" mrc a.txt.$end
done
perl -e 'print "-1\n"; print "$_\n" for 1 .. 500000' | gzip -c >long.txt.gz
refuses "long.txt.gz:1: expected no negative number, got '-1'" mrc long.txt.gz
ok 'no name came into a shell' sh -c '[ ! -e no ]'

# ---- answers ----

check_run 'a table' 0 \
'cache (kB)  cache_blocks  misses  miss_ratio
      4.10             1       7       1.000
      8.19             2       6       0.857
     12.29             3       4       0.571' "$seen" stallcast mrc a.txt -b 4KiB
check_run 'JSON' 0 \
'[
{"cache_bytes":4096,"cache_blocks":1,"misses":7,"miss_ratio":1},
{"cache_bytes":12288,"cache_blocks":3,"misses":4,"miss_ratio":0.571429}
]' "$seen" stallcast mrc a.txt -b 4KiB -f json --points 2
check_run 'sizes in order, in bytes and in blocks; part of a block holds nothing' 0 \
'cache_bytes,cache_blocks,misses,miss_ratio
4000,0,7,1
4096,1,7,1
8192,2,6,0.857143
12288,3,4,0.571429
409600,100,4,0.571429' "$seen" stallcast mrc a.txt -b 4KiB -f csv --sizes 3,8KiB,100,4kB,1,12KiB
check_run 'a range' 0 \
'cache_bytes,cache_blocks,misses,miss_ratio
4096,1,7,1
8192,2,6,0.857143
16384,4,4,0.571429' "$seen" stallcast mrc a.txt -b 4KiB -f csv --sizes '4KiB:16KiB:*2'
check_run 'every step' 0 \
'cache_bytes,cache_blocks,misses,miss_ratio
8192,2,6,0.857143
12288,3,4,0.571429' "$seen" stallcast mrc a.txt -b 4KiB -f csv --every
check_run 'the histogram' 0 \
'distance_from,distance_to,accesses
1,1,1
2,2,2
,,4' "$seen" stallcast mrc a.txt -b 4KiB -f csv --histogram
check_run 'the histogram of times' 0 \
'time_from,time_to,accesses
2,2,1
3,3,1
4,4,1
,,4' "$seen" stallcast mrc a.txt -b 4KiB -f csv --histogram -p aet
check_run 'sets' 0 \
'cache_bytes,cache_blocks,misses,miss_ratio
8192,2,6,0.857143
16384,4,4,0.642857' "$seen" stallcast mrc a.txt -b 4KiB -f csv --ways 2 --sizes 2,4
check_run 'one access' 0 \
'cache_bytes,cache_blocks,misses,miss_ratio
1,1,1,1' '1 access to 1 block' sh -c "echo 5 | '$program' mrc - -f csv"
check_run 'the first reuse of the first block is none too cold' 0 \
'cache_bytes,cache_blocks,misses,miss_ratio
1,1,1,0.5' '2 accesses to 1 block' sh -c "printf '0\n0\n' | '$program' mrc - -f csv"
check_run 'the ends of 64 bits' 0 \
'cache_bytes,cache_blocks,misses,miss_ratio
1,1,4,1
2,2,2,0.5' '4 accesses to 2 blocks' \
    sh -c "printf '0\n18446744073709551615\n0x0\n0xFFFFFFFFFFFFFFFF\n' | '$program' mrc - -f csv"
for policy in random aet; do
    check_run "$policy: no cache, one block, all" 0 '7,1
7,1
4,0.571429' "$seen" \
        sh -c "'$program' mrc a.txt -b 4KiB -f csv --sizes 0,1,9 -p $policy | tail -n +2 | cut -d, -f3-"
done
check_run 'digits' 0 'miss_ratio
0.857' "$seen" sh -c "'$program' mrc a.txt -b 4KiB -f csv --sizes 2 --digits 3 | cut -d, -f4"

# ---- a sample ----

perl -e '$x = 1; for (1 .. 200000) { $x = ($x * 1103515245 + 12345) & 0x7fffffff; print int(20000 * ($x / 2 ** 31) ** 2), "\n" }' >big.txt
sizes='--sizes 1000:20000:1000 -f csv'
"$program" mrc big.txt $sizes >exact.csv 2>err
ok 'how much there is' grep -Eqx '200000 accesses to [0-9]+ blocks' err
for sample in '--sample 0.1' '--sample 10%' '--sample-size 2000'; do
    "$program" mrc big.txt $sizes $sample >sampled.csv 2>err
    ok "$sample: near, with an error that holds" sh -c "
        head -n 1 sampled.csv | grep -qx cache_bytes,cache_blocks,misses,miss_ratio,miss_ratio_error &&
        paste -d, exact.csv sampled.csv | perl -F, -lane '
            next if \$. == 1;
            die \$_ if abs(\$F[3] - \$F[7]) > 0.05 || \$F[8] <= 0 || \$F[8] > 0.05 ||
                       abs(\$F[3] - \$F[7]) > 4 * \$F[8]'"
    ok "$sample: what it was of" grep -Eqx '200000 accesses to about [0-9]+ blocks; sample: [0-9]+ blocks, [0-9]+ accesses, rate 0[.][0-9]+' err
done
"$program" mrc big.txt $sizes --sample 0.1 >a 2>err
"$program" mrc big.txt $sizes --sample 0.1 --seed 1 >b 2>err
"$program" mrc big.txt $sizes --sample 0.1 --seed 2 >c 2>err
ok 'the same seed, the same answer' cmp a b
ok 'another seed, another' sh -c '! cmp -s a c'
# Many sizes in sets are asked for in parts, each as it would be by itself.
for sample in '' '--sample 0.1'; do
    many=$(seq -s, 4 4 1200)
    # shellcheck disable=SC2086
    "$program" mrc big.txt -f csv --ways 4 --sizes "$many" $sample 2>err | sed -n '2p;138p;301p' >parts
    # shellcheck disable=SC2086
    for size in 4 548 1200; do
        "$program" mrc big.txt -f csv --ways 4 --sizes $size $sample 2>err | tail -n 1
    done >singles
    ok "300 sizes in sets ${sample:-in full}" sh -c '[ $(wc -l <parts) -eq 3 ] && cmp parts singles'
done
"$program" mrc big.txt -f csv --sample 0.002 >few.csv 2>err
check_run 'a sample of one block' 0 3 '1000 accesses to about 4 blocks; sample: 1 block, 102 accesses, rate 0.4793; so few that the error is no more than a guess' \
    sh -c "awk 'BEGIN { for (i = 0; i < 1000; i++) print i % 10 }' | '$program' mrc - --sample-size 1 -f csv --sizes 1,2 | wc -l"
ok 'a small sample says so' grep -q 'so few that the error is no more than a guess' err

# ---- pictures ----

if ! command -v gnuplot >/dev/null; then
    skip 'no gnuplot'
else
    check_run 'a picture' 0 "$curve" "$seen" stallcast mrc a.txt -b 4KiB -f csv --plot a.svg
    ok 'is one, in bytes' sh -c 'grep -q "<svg" a.svg && grep -q "4 KiB" a.svg'
    ok 'nothing of a band' sh -c '! grep -q "standard error" a.svg'
    "$program" mrc big.txt --sample 0.1 --plot big.svg -o curve.txt 2>err
    ok 'a sample has a band' grep -q 'one standard error' big.svg
    ok 'without --block in blocks' grep -q 'cache (blocks)' big.svg
    check_run 'one point' 0 'x' '1 access to 1 block' \
        sh -c "echo 5 | '$program' mrc - --plot one.png >out && echo x"
    ok 'is a picture too' sh -c 'head -c 8 one.png | od -An -c | grep -q "211   P   N   G"'
fi
check_run 'without gnuplot' 2 '' 'stallcast: mrc --plot needs gnuplot, which is not in PATH (Debian: the package gnuplot-nox); without --plot the curve is written as text' \
    env PATH="$PWD/dir" "$program" mrc a.txt --plot x.svg
ok 'no picture is left' sh -c '[ ! -e x.svg ]'

# ---- help ----

"$program" mrc --help >help
ok '--help fits a page' sh -c '! grep -n "^.\{101\}" help'

finish
