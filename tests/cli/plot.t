#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# plot: what it refuses, the numbers behind a figure, and, where there is a
# gnuplot, that pictures come out whole or not at all.

. "${0%/*}/lib.sh"

# ---- the list ----

for script in "$source_tree"/plots/*.gp; do
    name=${script##*/}
    echo "${name%.gp}"
done | grep -vx -e style -e mrc -e compare-parity -e solve-pareto -e sensitivity-tornado \
    >scripts # of commands of their own
"$program" plot --list -f csv >list
ok '--list: a script for every figure, a figure for every script' sh -c \
    'tail -n +2 list | cut -d, -f1 | sort >listed; sort scripts | cmp - listed'
"$program" plot --help >help
ok '--help fits a page' sh -c '! grep -n "^.\{101\}" help'
ok '--help tells of --csv and --list' grep -q -e --csv help

# ---- refusals ----

refuses "plot: expected a figure: 'stallcast plot --list' shows them" plot
refuses "no figure 'hbf-bufer': did you mean hbf-buffer?" plot hbf-bufer -o x.svg
refuses "no figure 'abacus-of-wood': 'stallcast plot --list' shows them" plot abacus-of-wood
refuses "plot: 'hbf-moe' is one word too many" plot hbf-buffer hbf-moe -o x.svg
refuses "plot: 'hbf-moe' is one word too many" plot --list hbf-moe
refuses 'plot: expected -o FILE.svg, .png or .pdf, or --csv FILE' plot hbf-buffer
for name in x.txt x .svg/x svg .svg dir/.svg .PNG svg.; do
    refuses "--output: expected a name that ends in .svg, .png or .pdf, got '$name'" \
        plot hbf-h3-limits -o "$name"
done
refuses "--samples: expected a whole number from 1 to 100000, got '0'" \
    plot calibration-parity --samples 0 --csv x.csv
refuses 'none.csv: No such file or directory' plot hbf-h3-limits --params none.csv --csv x.csv
mkdir empty
check_run 'without gnuplot' 2 '' 'stallcast: plot needs gnuplot, which is not in PATH (Debian: the package gnuplot-nox); --csv FILE alone writes the data' \
    env PATH="$PWD/empty" "$program" plot hbf-h3-limits -o x.svg
check_run 'without gnuplot, but with --csv' 2 '' 'stallcast: plot needs gnuplot, which is not in PATH (Debian: the package gnuplot-nox); the data is written: limits.csv' \
    env PATH="$PWD/empty" "$program" plot hbf-h3-limits -o x.svg --csv limits.csv
mv limits.csv "$results/unplotted.csv"
check_run 'neither place' 2 '' 'stallcast: cannot write none/x.csv: No such file or directory' \
    env PATH="$PWD/empty" "$program" plot hbf-h3-limits -o x.svg --csv none/x.csv
rmdir empty
ok 'nothing else was written' sh -c '[ "$(ls)" = "$(printf "help\nlist\nlisted\nscripts")" ]'

# ---- the numbers ----

check_run '--csv alone draws nothing' 0 '' '' env PATH= "$program" plot hbf-h3-limits --csv limits.csv
ok 'the numbers were the same without gnuplot' cmp "$results/unplotted.csv" limits.csv
ok 'the columns' sh -c 'head -n 1 limits.csv | grep -qx "source,series,group,position,slowdown,slowdown_lo,slowdown_hi,\(capacity_stall_share,.*\)"'
check_run 'what was published, as it was' 0 \
'address order,llama-8b,4.8
address order,llama-70b,10.2
demand order,llama-8b,1.2
demand order,llama-70b,5.9' '' sh -c 'grep ^published limits.csv | cut -d, -f2,3,5'
answers() { # SOURCE: slowdowns in the figure
    grep "^$1," limits.csv | cut -d, -f5
}
scenario='model=llama-8b,llama-70b buffer=40MB latency=20us -c slowdown -f csv'
for command in simulate estimate; do
    for policy in h3 h3-demand-order; do
        "$program" $command hbf policy=$policy $scenario | tail -n +2 | sed 's/.*,//'
    done >$command.want
done
answers simulator >got
ok 'the simulator says what simulate says' cmp simulate.want got
answers 'closed form' >got
ok 'the closed form says what estimate says' cmp estimate.want got
ok 'shares of the time sum to 1' perl -F, -lane '
    next if $. == 1 || $F[0] eq "published";
    $sum = $F[7] + $F[10] + $F[13] + $F[16];
    die "$_: $sum" if abs($sum - 1) > 1e-5' limits.csv
"$program" plot hbf-h3-limits --jobs 1 --csv again.csv
ok 'any number of threads gives the same bytes' cmp limits.csv again.csv
"$program" plot stream-sweep --csv stream.csv
ok 'every run of the sweep from every source' sh -c '
    runs=$(($(wc -l <"$0/data/published/stream.csv") - 1))
    for source in published simulator "closed form"; do
        [ "$(grep -c "^$source," stream.csv)" -eq $runs ] || exit 1
    done' "$source_tree"
"$program" plot calibration-parity --samples 12 --csv parity.csv
ok 'samples: closed form beside simulator' perl -F, -lane '
    BEGIN { $rows = 0 }
    if ($. == 1) { die unless $F[-1] eq "simulated_slowdown"; next }
    $rows++;
    die $_ unless $F[4] > 0.1 && $F[-1] > 0.1 && abs(log($F[4] / $F[-1])) < 3;
    END { die "$rows rows" unless $rows > 6 }' parity.csv
mkdir tables
cp -r "$source_tree"/data/*.csv "$source_tree"/data/p*/ tables/
grep -v 'fig2c-h3-llama-70b' "$source_tree/data/published/hbf.csv" >tables/published/hbf.csv
"$program" plot hbf-h3-limits --data tables --csv fewer.csv
ok 'what is not published is left out' sh -c '[ $(grep -c ^published fewer.csv) -eq 3 ]'

# ---- pictures ----

mkdir scratch bin
TMPDIR=$PWD/scratch
export TMPDIR
left_nothing() {
    [ -z "$(ls -A scratch)" ]
}

cat >bin/gnuplot <<'END'
#!/bin/sh
case $* in
*--version*) exit 0 ;;
esac
echo '"hbf.gp" line 3: warning: no'
echo '"hbf.gp" line 7: invalid command'
exit 1
END
chmod +x bin/gnuplot
echo old >old.svg
check_run 'gnuplot fails' 2 '' 'stallcast: gnuplot failed: "hbf.gp" line 7: invalid command' \
    env PATH="$PWD/bin:$PATH" "$program" plot stream-sweep -o old.svg
check_run 'gnuplot fails: the data is there' 2 '' \
    'stallcast: gnuplot failed: "hbf.gp" line 7: invalid command; the data is written: failed.csv' \
    env PATH="$PWD/bin:$PATH" "$program" plot stream-sweep -o old.svg --csv failed.csv
ok 'all of it' cmp stream.csv failed.csv
printf '#!/bin/sh\nexit 0\n' >bin/gnuplot
check_run 'gnuplot draws nothing' 2 '' 'stallcast: gnuplot wrote no picture' \
    env PATH="$PWD/bin:$PATH" "$program" plot stream-sweep -o old.svg
ok 'the old picture still stands' sh -c '[ "$(cat old.svg)" = old ]'
ok 'no temporary file is left' left_nothing

well_formed() {
    perl -0777 -ne '
        die "no picture\n" unless /<svg\b/;
        my @open;
        s/<\?.*?\?>//gs; s/<!--.*?-->//gs; s/<!\[CDATA\[.*?\]\]>//gs;
        while (/<([^<>]*)>|([<>])/g) {
            die "stray $2\n" if defined $2;
            my $tag = $1;
            if ($tag =~ m{^/([\w:]+)\s*$}) { die "</$1> closes nothing\n" unless @open && pop(@open) eq $1 }
            elsif ($tag =~ m{^([\w:]+)(\s+[\w:-]+\s*=\s*("[^"]*"|\x27[^\x27]*\x27))*\s*(/?)$}s) { push @open, $1 unless $4 }
            else { die "no tag: <$tag>\n" }
        }
        die "open: @open\n" if @open;
        die "a bare &\n" if /&(?!(\w+|#\d+|#x[\da-fA-F]+);)/;' "$1"
}

if ! command -v gnuplot >/dev/null; then
    skip 'no gnuplot'
else
    for figure in hbf-h3-limits stream-sweep; do
        check_run "$figure" 0 '' '' stallcast plot $figure -o $figure.svg
        ok "$figure is well-formed" well_formed $figure.svg
    done
    check_run 'PNG and CSV' 0 '' '' stallcast plot stream-sweep -o stream.png --csv with.csv
    ok 'it is one' sh -c 'head -c 8 stream.png | od -An -c | grep -q "211   P   N   G"'
    ok 'the numbers are the same' cmp stream.csv with.csv
    check_run 'an ending in capitals' 0 '' '' stallcast plot stream-sweep -o stream.SVG
    ok 'is the same' cmp stream.SVG stream-sweep.svg
    check_run 'PDF' 0 '' '' stallcast plot stream-sweep -o stream.pdf
    ok 'it is one' sh -c 'head -c 5 stream.pdf | grep -q "^%PDF-"'
    check_run 'a name that a shell would take apart' 0 '' '' \
        stallcast plot stream-sweep -o "a'b\"; touch \$(echo c) \`d\`.svg"
    ok 'is only a name' well_formed "a'b\"; touch \$(echo c) \`d\`.svg"
    check_run 'a directory that is not there' 2 '' \
        'stallcast: cannot write none/x.svg: No such file or directory' \
        stallcast plot stream-sweep -o none/x.svg
    check_run 'a temporary directory that is not there' 2 '' \
        "stallcast: cannot make a directory in $PWD/none: No such file or directory" \
        env TMPDIR="$PWD/none" "$program" plot stream-sweep -o x.svg
    ok 'neither left a file' sh -c '[ ! -e none ] && [ ! -e x.svg ]'
    ok 'nor a temporary one' left_nothing
    echo 'set terminal dumb; set output' >.gnuplot
    check_run "one's own settings" 0 '' '' env HOME="$PWD" "$program" plot stream-sweep -o mine.svg
    ok 'change nothing' cmp mine.svg stream-sweep.svg
fi

finish
