#!/usr/bin/perl
# SPDX-License-Identifier: GPL-3.0-or-later
# Answers in a spreadsheet: numbers are numbers there, in English and in German, and
# data/examples/plan.fods holds the answers to its scenarios.  Needs LibreOffice (make
# deps-sheets); without it only what plan.fods says is compared.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Temp qw(tempdir);

my $root    = abs_path(dirname(abs_path($0)) . '/../..');
my $program = abs_path($ENV{STALLCAST} // "$root/build/stallcast");
my $folder  = tempdir(CLEANUP => 1);
my $count   = 0;
delete @ENV{qw(STALLCAST_DATA NO_COLOR)};
$ENV{STALLCAST} = $program;
chdir $folder or die "$folder: $!\n";

sub ok {
    my ($fine, $name, @notes) = @_;
    $count++;
    print +($fine ? 'ok' : 'not ok'), " $count - $name\n";
    print map { "# $_\n" } map { split /\n/ } @notes unless $fine;
}

sub finish {
    print "1..$count\n";
    chdir '/';
    exit 0;
}

sub read_file {
    my ($path) = @_;
    open my $file, '<:raw', $path or return '';
    local $/;
    return scalar <$file>;
}

sub write_file {
    my ($path, $text) = @_;
    open my $file, '>:raw', $path or die "$path: $!\n";
    print {$file} $text;
    close $file or die "$path: $!\n";
}

sub rows_of_csv {
    my ($text, $delimiter) = @_;
    my (@rows, @row);
    while ($text =~ /\G(?:"((?:[^"]|"")*)"|([^"\Q$delimiter\E\r\n]*))(\Q$delimiter\E|\r?\n|\z)/gc) {
        my ($quoted, $plain, $end) = ($1, $2, $3);
        last if $end eq '' && !defined $quoted && $plain eq '' && !@row;
        $quoted =~ s/""/"/g if defined $quoted;
        push @row, $quoted // $plain;
        next if $end eq $delimiter;
        push @rows, [@row];
        @row = ();
        last if $end eq '';
    }
    return @rows;
}

# Cells of a flat XML sheet as [type, value]; trailing empty ones are left out.
sub rows_of_fods {
    my ($xml, $sheet) = @_;
    my $name = defined $sheet ? qr{ table:name="\Q$sheet\E"} : qr{[^>]*};
    my ($table) = $xml =~ m{<table:table$name[^>]*>(.*?)</table:table>}s or return;
    my @rows;
    while ($table =~ m{<table:table-row\b([^>]*?)(?:/>|>(.*?)</table:table-row>)}gs) {
        my ($tag, $inside) = ($1, $2 // '');
        next if $tag =~ /number-rows-repeated="\d{4,}"/;
        my @row;
        while ($inside =~ m{<table:table-cell\b([^>]*?)(?:/>|>(.*?)</table:table-cell>)}gs) {
            my ($cell, $text) = ($1, $2 // '');
            my ($repeat) = $cell =~ /number-columns-repeated="(\d+)"/;
            my ($type)   = $cell =~ /office:value-type="(\w+)"/;
            my ($value)  = $cell =~ /office:value="([^"]*)"/;
            $value //= join "\n", map { s/<text:s[^>]*>/ /gr =~ s/<[^>]*>//gr } $text =~ m{<text:p>(.*?)</text:p>}gs;
            $value =~ s/&lt;/</g;
            $value =~ s/&gt;/>/g;
            $value =~ s/&quot;/"/g;
            $value =~ s/&apos;/'/g;
            $value =~ s/&amp;/&/g;
            push @row, ([ $type // '', $value ]) x ($repeat // 1);
        }
        pop @row while @row && $row[-1][0] eq '';
        push @rows, \@row;
    }
    pop @rows while @rows && !@{ $rows[-1] };
    return @rows;
}

sub is_number { return $_[0] =~ /^-?[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?\z/i }

# The same number to the 15 digits that a spreadsheet keeps, or the same text.
sub same { return is_number($_[0]) ? is_number($_[1]) && abs($_[0] - $_[1]) <= 1e-14 * abs $_[0] : $_[0] eq $_[1] }

sub stallcast { return scalar `'$program' @_ 2>&1` }

# ---- the worked plan ----

# The answers that a sheet must hold: those of its scenarios.
sub wrong_answers {
    my ($xml) = @_;
    my @scenarios = rows_of_fods($xml, 'hbf') or return 'no sheet hbf';
    write_file('scenarios.csv', join '', map { join(',', map { $_->[1] } @$_) . "\n" } @scenarios);
    my $answers = stallcast('estimate hbf --from scenarios.csv -c slowdown,slowdown_lo,slowdown_hi,time_s,bound');
    my @want = rows_of_csv($answers, ',');
    my @got = rows_of_fods($xml, 'hbf answers');
    return "it has @{[scalar @got]} rows, not @{[scalar @want]}: $answers" if @got != @want;
    my @wrong;
    for my $row (0 .. $#want) {
        for my $column (0 .. $#{ $want[$row] }) {
            my ($type, $value) = @{ $got[$row][$column] // [ '', '' ] };
            my $want = $want[$row][$column];
            my $kind = $want eq '' ? '' : is_number($want) ? 'float' : 'string';
            push @wrong, "row $row, $want[0][$column]: $type '$value', not $kind '$want'"
                if $type ne $kind || !same($want, $value);
        }
    }
    return @wrong;
}

my $shipped = read_file("$root/data/examples/plan.fods");
my @wrong = wrong_answers($shipped);
ok(!@wrong, 'plan.fods holds the answers to its scenarios', @wrong, 'make plan writes them anew');
ok((() = $shipped =~ /table:formula=/g) >= 5, 'and some of its cells are formulas');
my @slowdowns = map { $_->[8][1] } rows_of_fods($shipped, 'hbf answers');
ok(@slowdowns > 5 && $slowdowns[0] eq 'slowdown' && $slowdowns[3] > 1.5, 'that decide something', "@slowdowns");

sub plan {
    my ($path, @options) = @_;
    my $said = `perl '$root/data/examples/answer_plan.pl' '$path' @options 2>&1`;
    return ($? >> 8, $said);
}

my $columns = '-c slowdown,slowdown_lo,slowdown_hi,time_s,bound';
(my $changed = $shipped) =~ s/office:value="410"/office:value="411"/;
$changed =~ s/(office:value-type="float" office:value=")320"/${1}40"/;
write_file('plan.fods', $changed);
ok(scalar(@wrong = wrong_answers($changed)), 'another scenario has other answers');
chmod 0640, 'plan.fods';
my ($code, $said) = plan('plan.fods', $columns);
ok($code == 0 && $said eq '', 'a changed plan is answered', "exit code $code", $said);
@wrong = wrong_answers(read_file('plan.fods'));
ok(!@wrong, 'with the answers to its scenarios', @wrong);
ok(((stat 'plan.fods')[2] & 0777) == 0640 && !grep({ !/^(plan|scenarios)/ } glob '*'), 'nothing else is written');
write_file('new.fods', $shipped =~ s{<table:table table:name="hbf answers".*?</table:table>}{}sr);
($code, $said) = plan('new.fods', $columns);
@wrong = wrong_answers(read_file('new.fods'));
ok($code == 0 && !@wrong, 'the sheet of answers is made where there is none', $said, @wrong);

(my $bad = $shipped) =~ s/>h3</>h33</;
write_file('plan.fods', $bad);
($code, $said) = plan('plan.fods', $columns);
ok($code == 1 && $said =~ /^stallcast: 1 of 5 rows have no answer/, 'a bad row is said', "exit code $code", $said);
my @errors = map { $_->[13][1] // '' } rows_of_fods(read_file('plan.fods'), 'hbf answers');
ok($errors[0] eq 'error' && $errors[3] =~ /policy: expected one of its choices, got 'h33'/,
    'and stands in its row', @errors);
my $other = $shipped =~ s/table:name="hbf"/table:name="plan"/r;
write_file('plan.fods', $other);
($code, $said) = plan('plan.fods', $columns);
ok($code != 0 && $said =~ /^plan\.fods: expected a sheet with the name of a system, got none/, 'no sheet of a system', $said);
ok(read_file('plan.fods') eq $other, 'leaves the file as it was');
($code, $said) = plan('plan.ods');
ok($code != 0 && $said =~ /^usage: answer_plan\.pl FILE\.fods/, 'another kind of file', $said);
write_file('cells.fods', <<'END');
<office:document><office:body><office:spreadsheet>
<table:table table:name="hbf" table:style-name="t1"><table:shapes><draw:frame><draw:object><table:table table:name="local"><table:table-row><table:table-cell office:value-type="float" office:value="7"/></table:table-row></table:table></draw:object></draw:frame></table:shapes>
<table:table-header-rows><table:table-row><table:table-cell office:value-type="string"><office:annotation><text:p>a note</text:p></office:annotation><text:p>model</text:p></table:table-cell><table:table-cell office:value-type="string"><text:p>&lt;a, &quot;b&quot;&gt; &amp;<text:s/><text:span>c&#xe9;</text:span></text:p></table:table-cell><table:table-cell office:value-type="string"><text:p>latency_us</text:p></table:table-cell><table:table-cell office:value-type="string"><text:p>retry</text:p></table:table-cell><table:table-cell table:number-columns-repeated="16380"/></table:table-row></table:table-header-rows>
<table:table-row table:number-rows-repeated="2"><table:table-cell office:value-type="string"><text:p>llama-8b</text:p></table:table-cell><table:table-cell table:number-columns-repeated="2" office:value-type="float" office:value="5.5"><text:p>6</text:p></table:table-cell><table:table-cell office:value-type="percentage" office:value="0.01"><text:p>1 %</text:p></table:table-cell></table:table-row>
<table:table-row table:number-rows-repeated="1048573"><table:table-cell table:number-columns-repeated="16384"/></table:table-row></table:table>
<table:table table:name="other"/>
<table:table table:name="hbf answers"><table:shapes><draw:frame>chart</draw:frame></table:shapes></table:table>
</office:spreadsheet></office:body></office:document>
END
($code, $said) = plan('cells.fods', '-c latency,retry');
my $cells = join "\n", map { join '|', map { $_->[1] } @$_ }
    rows_of_fods(read_file('cells.fods') =~ s{<table:shapes>.*?</table:shapes>}{}gsr, 'hbf answers');
ok($code == 0 && $cells eq "model|<a, \"b\"> &amp; c\xc3\xa9|latency_us|retry|latency_s|stallcast_retry|error\n" =~ s/&amp;/&/r
    . join("\n", ('llama-8b|5.5|5.5|0.01|5.5e-06|0.01') x 2), 'repeated cells, notes, shares, charts', $said, $cells);
ok(read_file('cells.fods') =~ m{hbf answers"><table:shapes><draw:frame>chart</draw:frame></table:shapes>}, 'a chart beside the answers stays');

if (system('command -v soffice >/dev/null') != 0) {
    $count++;
    print "ok $count # SKIP no LibreOffice\n";
    finish();
}

# ---- what LibreOffice saves ----

# soffice LOCALE OPTION...: with a profile of its own, in that locale.
sub soffice {
    my ($locale, @options) = @_;
    my $user = "$folder/profile-$locale/user";
    if (!-d $user) {
        system('mkdir', '-p', $user);
        write_file("$user/registrymodifications.xcu", <<END);
<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
 <item oor:path="/org.openoffice.Setup/L10N"><prop oor:name="ooSetupSystemLocale" oor:op="fuse"><value>$locale</value></prop></item>
</oor:items>
END
    }
    open my $pipe, '-|', 'sh', '-c', 'exec "$@" 2>&1', 'sh', 'soffice',
        "-env:UserInstallation=file://$folder/profile-$locale", '--headless', @options or die "sh: $!\n";
    local $/;
    my $said = <$pipe> // '';
    close $pipe or ok(0, "soffice @options", $said);
}

# It has styles, repeated cells and formulas of its own, and works these out.
mkdir 'saved';
(my $recalculated = $shipped) =~ s/(office:value-type="float" office:value=")3.2"/${1}4.5"/;
write_file('plan.fods', $recalculated);
soffice('en-US', '--convert-to', 'fods:OpenDocument Spreadsheet Flat XML', '--outdir', 'saved', 'plan.fods');
my $saved = read_file('saved/plan.fods');
ok(length $saved > 2 * length $shipped, 'LibreOffice saves it');
($code, $said) = plan('saved/plan.fods', $columns);
ok($code == 0 && $said eq '', 'and then it is answered, too', "exit code $code", $said);
my $answered = read_file('saved/plan.fods');
@wrong = wrong_answers($answered);
ok(!@wrong && (rows_of_fods($answered, 'hbf answers'))[2][5][1] == 22.5, 'with formulas worked out anew', @wrong);
s{(table:name="hbf answers"[^>]*>).*?(</table:table>)}{$1$2}s for $answered, $saved;
ok($answered eq $saved, 'and nothing else of it has changed');
soffice('en-US', '--convert-to', 'xlsx', '--outdir', 'saved', 'saved/plan.fods');
ok(-s 'saved/plan.xlsx', 'and still opens');

# ---- CSV to a workbook and back ----

my %writing = ('en-US' => [ ',', '.' ], 'de-DE' => [ ';', ',' ]);
my (undef, @systems) = map { /^([^,]+)/ } split /\n/, stallcast('list systems -f csv');
for my $locale (sort keys %writing) {
    my ($delimiter, $decimal) = @{ $writing{$locale} };
    my $style = "--delimiter '$delimiter' --decimal $decimal";
    mkdir $locale;
    my @files;
    for my $system (@systems) {
        push @files, "$locale/$system.csv";
        system("'$program' template $system $style | '$program' estimate $system --from - $style > $files[-1] 2>err") == 0
            or ok(0, "answers of $system", read_file('err'));
    }
    for my $table (qw(gpus models flash apps)) {
        push @files, "$locale/$table.csv";
        stallcast("list $table -f csv $style -o $files[-1]");
    }
    my $reading = 'CSV:' . ord($delimiter) . ',34,UTF8,1,,0,false,false'; # as it stands in the dialog
    soffice($locale, "--infilter=$reading", '--convert-to', 'xlsx', '--outdir', "$locale/xlsx", @files);
    my @books = map { s{/}{/xlsx/}r =~ s/csv\z/xlsx/r } @files;
    soffice($locale, '--convert-to', 'fods:OpenDocument Spreadsheet Flat XML', '--outdir', "$locale/fods", @books);
    soffice($locale, '--convert-to',
        'csv:Text - txt - csv (StarCalc):' . ord($delimiter) . ',34,UTF8,1,,0,false,false', '--outdir', "$locale/csv", @books);
    for my $file (@files) {
        my @want = map { [ map { (my $v = $_) =~ s/^(-?[0-9]+)\Q$decimal\E([0-9])/$1.$2/; $v } @$_ ] }
            rows_of_csv(read_file($file), $delimiter);
        my @typed = rows_of_fods(read_file($file =~ s{/}{/fods/}r =~ s/csv\z/fods/r));
        my @back = rows_of_csv(read_file($file =~ s{/}{/csv/}r), $delimiter);
        my ($numbers, @notes) = (0);
        for my $row (0 .. $#want) {
            for my $column (0 .. $#{ $want[$row] }) {
                my $want = $want[$row][$column];
                my ($type, $value) = @{ $typed[$row][$column] // [ '', '' ] };
                (my $back = $back[$row][$column] // '') =~ s/^(-?[0-9]+)\Q$decimal\E([0-9])/$1.$2/;
                my $kind = $want eq '' ? '' : is_number($want) ? 'float' : 'string';
                $numbers += $kind eq 'float';
                push @notes, "row $row, $want[0][$column]: '$want' is $type '$value', then '$back'"
                    if $type ne $kind || !same($want, $value) || !same($want, $back);
            }
        }
        ok(@want > 3 && $numbers > 10 && !@notes, "$file: $numbers numbers and all text, there and back", @notes[0 .. ($#notes > 9 ? 9 : $#notes)]);
    }
}
finish();
