#!/usr/bin/perl
# SPDX-License-Identifier: GPL-3.0-or-later
# answer_plan.pl FILE.fods [options of estimate]: answers a spreadsheet in place.
#
# A sheet that has the name of a system (hbf, uvm, ...) holds scenarios, one a row below a header
# as `stallcast template` writes it; formulas count with the values they had when the file was
# saved.  Its answers go to the sheet "hbf answers", which is made if need be; all else stays as
# it is, but a chart in a cell of that sheet goes with its cell.  The file is what LibreOffice
# saves as "Flat XML ODF Spreadsheet".  Exit status 1: some rows have no answer, and their reason
# in the column `error`.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir tempfile);

my ($plan, @options) = @ARGV;
die "usage: answer_plan.pl FILE.fods [options of stallcast estimate]\n"
    unless defined $plan && $plan =~ /\.fods\z/;
my $stallcast = $ENV{STALLCAST} // 'stallcast';
my $folder = tempdir(CLEANUP => 1);

sub read_file {
    my ($path) = @_;
    open my $file, '<:raw', $path or die "$path: $!\n";
    local $/;
    return scalar <$file>;
}

# ---- scenarios ----

my %entities = (lt => '<', gt => '>', quot => '"', apos => "'", amp => '&');

# The text of a cell, without comments.
sub text_of {
    my ($inside) = @_;
    $inside =~ s{<office:annotation\b.*?</office:annotation>}{}gs;
    my @lines = $inside =~ m{<text:p\b[^>]*?(?:/>|>(.*?)</text:p>)}gs;
    for (@lines) {
        $_ //= '';
        s{<text:s(?: text:c="(\d+)")?/>}{' ' x ($1 // 1)}ge;
        s{<text:(?:tab|line-break)/>}{ }g;
        s{<[^>]*>}{}g;
        s{&#(x?)([0-9A-Fa-f]+);}{my $c = chr($1 ? hex $2 : $2); utf8::encode($c); $c}ge;
        s{&(\w+);}{$entities{$1} // ''}ge;
    }
    return join "\n", @lines;
}

sub cells_of {
    my ($row) = @_;
    my @cells;
    while ($row =~ m{<table:(?:covered-)?table-cell\b([^>]*?)(?:/>|>(.*?)</table:(?:covered-)?table-cell>)}gs) {
        my ($tag, $inside) = ($1, $2 // '');
        my ($repeated) = $tag =~ /number-columns-repeated="(\d+)"/;
        my ($value) = $tag =~ /office:(?:value|date-value|boolean-value)="([^"]*)"/;
        $value //= text_of($inside);
        push @cells, ($value) x ($repeated // 1) if $value ne '' || ($repeated // 1) < 1000;
    }
    pop @cells while @cells && $cells[-1] eq '';
    return @cells;
}

# What is inside of a sheet, as CSV; empty rows are none.
sub csv_of {
    my ($inside) = @_;
    my ($csv, $width) = ('', 0);
    $inside =~ s{<table:shapes>.*</table:shapes>}{}s;
    $inside =~ s{<draw:frame\b.*?</draw:frame>}{}gs;
    while ($inside =~ m{<table:table-row\b([^>]*?)(?:/>|>(.*?)</table:table-row>)}gs) {
        my ($tag, $row) = ($1, $2 // '');
        my ($repeated) = $tag =~ /number-rows-repeated="(\d+)"/;
        my @cells = cells_of($row) or next;
        $width ||= @cells;
        push @cells, ('') x ($width - @cells) if @cells < $width;
        my $line = join ',', map { /[",\n]|^\s|\s\z/ ? '"' . s/"/""/gr . '"' : $_ } @cells;
        $csv .= "$line\n" x ($repeated // 1);
    }
    return $csv;
}

# ---- answers ----

sub fields_of {
    my ($line, @fields) = @_;
    while ($line =~ /\G(?:"((?:[^"]|"")*)"|([^,]*))(,|\z)/gc) {
        my ($quoted, $plain, $end) = ($1, $2, $3);
        $quoted =~ s/""/"/g if defined $quoted;
        push @fields, $quoted // $plain;
        last if $end eq '';
    }
    return @fields;
}

# Rows of CSV text; a line break in quotes goes on.
sub rows_of {
    my @rows;
    my $open = '';
    for my $line (split /\n/, $_[0]) {
        $open .= $line;
        if (($open =~ tr/"//) % 2) { $open .= "\n"; next }
        push @rows, [ fields_of($open) ];
        $open = '';
    }
    return @rows;
}

sub cell {
    my ($text) = @_;
    return '<table:table-cell/>' if $text eq '';
    return qq(<table:table-cell office:value-type="float" office:value="$text"/>)
        if $text =~ /^-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?\z/i;
    $text =~ s/&/&amp;/g;
    $text =~ s/</&lt;/g;
    $text =~ s/>/&gt;/g;
    my $lines = join '', map { "<text:p>$_</text:p>" } split /\n/, $text;
    return qq(<table:table-cell office:value-type="string">$lines</table:table-cell>);
}

# The inside of a table.
sub table {
    my @rows = @_;
    my $columns = @{ $rows[0] };
    return join "\n", '', qq(    <table:table-column table:number-columns-repeated="$columns"/>),
        (map { '    <table:table-row>' . join('', map { cell($_) } @$_) . '</table:table-row>' } @rows),
        '   ';
}

my $code = 0;

sub answer {
    my ($system, $csv) = @_;
    open my $file, '>:raw', "$folder/$system" or die "$folder/$system: $!\n";
    print {$file} $csv;
    close $file or die "$folder/$system: $!\n";
    open my $pipe, '-|', $stallcast, 'estimate', $system, '--from', "$folder/$system", '--delimiter', ',',
        '--decimal', '.', @options or die "$stallcast: $!\n";
    local $/;
    my $text = <$pipe>;
    close $pipe;
    die "$plan: no answers for the sheet $system\n" if $? >> 8 > 1 || $? & 127;
    $code ||= $? >> 8;
    return rows_of($text);
}

sub systems {
    open my $pipe, '-|', $stallcast, 'list', 'systems', '-f', 'csv' or die "$stallcast: $!\n";
    my (undef, @rows) = <$pipe>;
    return map { /^([^,]+)/ } @rows;
}

# Where the sheet of that name is: its tag, what is inside (a chart has a table, too), its end.
sub find_sheet {
    my ($xml, $name) = @_;
    $xml =~ /<table:table table:name="\Q$name\E"[^>]*>/g or return;
    my ($start, $inside, $tag) = ($-[0], $+[0], $&);
    return ($start, $inside, $inside, $inside) if $tag =~ m{/>\z};
    for (my $depth = 1; $xml =~ m{<(/?)table:table(?=[\s>/])[^>]*?(/?)>}g;) {
        $depth += $1 ? -1 : $2 ? 0 : 1;
        return ($start, $inside, $-[0], $+[0]) if $depth == 0;
    }
    return;
}

# Puts the rows into the sheet of that name, whose charts stay, or behind the other one.
sub put_sheet {
    my ($xml, $name, $behind, @rows) = @_;
    my ($start, $inside, $close, $end) = find_sheet($xml, $name);
    my ($tag, $shapes) = (qq(<table:table table:name="$name">), '');
    if (defined $start) {
        ($tag) = substr($xml, $start, $inside - $start) =~ m{^(.*?)/?>\z}s;
        $tag .= '>';
        ($shapes) = substr($xml, $inside, $close - $inside) =~ m{(<table:shapes>.*</table:shapes>)}s;
    } else {
        $start = $end = (find_sheet($xml, $behind))[3] // die "$plan: no sheet $behind\n";
        $tag = "\n   $tag";
    }
    substr $xml, $start, $end - $start, $tag . ($shapes // '') . table(@rows) . '</table:table>';
    return $xml;
}

sub write_plan {
    my ($xml) = @_;
    my ($file, $new) = tempfile(DIR => dirname(abs_path($plan)), UNLINK => 1);
    binmode $file;
    print {$file} $xml or die "$new: $!\n";
    close $file or die "$new: $!\n";
    chmod +(stat $plan)[2] & 07777, $new;
    rename $new, abs_path($plan) or die "$plan: $!\n";
}

# ---- the file ----

my $xml = read_file($plan);
my $found = 0;
for my $system (systems()) {
    my (undef, $inside, $close) = find_sheet($xml, $system) or next;
    my $csv = csv_of(substr $xml, $inside, $close - $inside);
    $xml = put_sheet($xml, "$system answers", $system, answer($system, $csv));
    $found++;
}
die "$plan: expected a sheet with the name of a system, got none: 'stallcast list systems'\n"
    unless $found;
write_plan($xml);
exit $code;
