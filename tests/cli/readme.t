#!/usr/bin/perl
# SPDX-License-Identifier: GPL-3.0-or-later
# Every example of README.md is run, and its output compared with what stands
# there.  README_REFRESH=1 writes the outputs into README.md instead.
#
#   ```console        lines that begin with "$ " are run by sh, in order, in one
#                     shell per block ("\" at the end of a line continues it);
#                     stdout and stderr, as on a terminal, are the lines below
#   ```console slow   the same, but not with the thread sanitizer
#   ```console skip   needs the network or installs something: not run, and may
#                     not hold a command that could be
#   ```c NAME, ```csv NAME   is written to the file NAME for the commands that follow
#
# They run in a scratch folder in which everything of the repository appears
# under its own name, and where stallcast and its library look installed.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(basename dirname);
use File::Path qw(make_path);
use File::Temp qw(tempdir);

my $root    = abs_path(dirname(abs_path($0)) . '/../..');
my $readme  = "$root/README.md";
my $program = abs_path($ENV{STALLCAST} // "$root/build/stallcast");
my $refresh = $ENV{README_REFRESH};
my $limit   = 660;
my $count   = 0;

sub ok {
    my ($fine, $name, @notes) = @_;
    $count++;
    print +($fine ? 'ok' : 'not ok'), " $count - $name\n";
    print map { "# $_\n" } map { split /\n/ } @notes unless $fine;
    return $fine;
}

sub skip {
    my ($name, $why) = @_;
    $count++;
    print "ok $count - $name # SKIP $why\n";
}

sub read_file {
    my ($path) = @_;
    open my $file, '<:raw', $path or return undef;
    local $/;
    return scalar <$file>;
}

sub write_file {
    my ($path, $text) = @_;
    open my $file, '>:raw', $path or die "$path: $!\n";
    print {$file} $text;
    close $file or die "$path: $!\n";
}

# Pieces of the file, which joined give it back: {text} outside of fences,
# {open, info, lines, close, line} for a fenced block.
sub split_blocks {
    my @pieces;
    my $block;
    my $number = 0;
    for my $line (split /(?<=\n)/, $_[0]) {
        $number++;
        if ($block) {
            if ($line =~ /^```\s*$/) {
                $block->{close} = $line;
                push @pieces, $block;
                undef $block;
            } else {
                push @{ $block->{lines} }, $line;
            }
        } elsif ($line =~ /^```(.*)$/) {
            $block = { open => $line, info => $1, lines => [], line => $number };
        } else {
            push @pieces, { text => $line };
        }
    }
    die "README.md:$block->{line}: a fence is not closed\n" if $block;
    return @pieces;
}

# Lines of a block as {shown, command, output}; what stands before the first
# command is a fault.
sub split_commands {
    my ($block) = @_;
    my @commands;
    my $continued = 0;
    for my $line (@{ $block->{lines} }) {
        if ($continued) {
            $commands[-1]{shown}   .= $line;
            $commands[-1]{command} .= $line;
        } elsif ($line =~ /^\$ (.*\n)/) {
            push @commands, { shown => $line, command => $1, output => '' };
        } elsif (@commands) {
            $commands[-1]{output} .= $line;
            next;
        } else {
            return;
        }
        $continued = $line =~ /\\\n$/;
    }
    return @commands;
}

# Runs the commands of a block in one shell; returns what each printed.
sub run_block {
    my ($scratch, @commands) = @_;
    my $script = "$scratch/.block";
    my $text = '';
    $text .= "{\n$commands[$_]{command}} > .out$_ 2>&1\n" for 0 .. $#commands;
    write_file($script, $text);
    unlink map { "$scratch/.out$_" } 0 .. $#commands;
    system('sh', '-c', 'cd "$1" && exec sh .block </dev/null', 'sh', $scratch);
    return map { read_file("$scratch/.out$_") // '' } 0 .. $#commands;
}

sub differences {
    my ($want, $got) = @_;
    my @want = split /\n/, $want, -1;
    my @got  = split /\n/, $got,  -1;
    my @notes;
    for my $i (0 .. ($#want > $#got ? $#want : $#got)) {
        my ($w, $g) = ($want[$i] // '(nothing)', $got[$i] // '(nothing)');
        push @notes, "README.md: $w", "now:       $g" if $w ne $g;
        if (@notes > 12) { push @notes, '...'; last }
    }
    return @notes;
}

sub link_into {
    my ($folder, @paths) = @_;
    for my $path (@paths) {
        symlink $path, "$folder/" . basename($path) or die "$folder: $!\n";
    }
}

# The scratch folder, and an environment in which nothing of the caller shows.
sub prepare {
    my $scratch = tempdir(CLEANUP => 1);
    my $prefix  = tempdir(CLEANUP => 1);
    my $build   = dirname($program);
    link_into($scratch, grep { -e } glob "$root/*");
    make_path("$prefix/bin", "$prefix/lib/pkgconfig", "$prefix/include");
    symlink $program, "$prefix/bin/stallcast" or die "$prefix: $!\n";
    symlink "$root/model", "$prefix/include/stallcast" or die "$prefix: $!\n";
    link_into("$prefix/lib", "$build/libstallcast.a");
    my $pc = read_file("$root/cli/stallcast.pc.in") // '';
    $pc =~ s/\@PREFIX\@/$prefix/g;
    $pc =~ s/\@VERSION\@/0/g;
    write_file("$prefix/lib/pkgconfig/stallcast.pc", $pc);
    delete @ENV{qw(STALLCAST_DATA NO_COLOR COLUMNS CFLAGS MAKEFLAGS MFLAGS MAKELEVEL)};
    $ENV{PATH}            = "$prefix/bin:$ENV{PATH}";
    $ENV{PKG_CONFIG_PATH} = "$prefix/lib/pkgconfig";
    $ENV{LC_ALL}          = 'C';
    return $scratch;
}

# A library with sanitizers in it needs a runtime that a plain `cc` lacks.
sub is_instrumented {
    my $symbols = `nm '@{[dirname($program)]}/libstallcast.a' 2>/dev/null`;
    return $symbols =~ / U _*(asan|ubsan|tsan|gcov)_/ ? $1 : '';
}

sub can_run {
    my ($commands) = @_;
    return 1 unless grep { $_->{command} =~ /^cc / } @$commands;
    return !is_instrumented() && system('command -v cc pkg-config >/dev/null') == 0;
}

# True if the block is now what the commands print, which a refresh makes it.
sub check_block {
    my ($block, $scratch) = @_;
    my $name = "README.md:$block->{line}";
    my @commands = split_commands($block);
    return ok(0, $name, 'expected a line that begins with "$ "') unless @commands;
    my ($first) = $commands[0]{command} =~ /(.{1,60})/;
    $name .= ": $first";
    $name =~ s/[#\\]//g;
    return skip($name, 'no compiler for this library') unless can_run(\@commands);
    return skip($name, 'the thread sanitizer makes it slow')
        if $block->{info} eq 'console slow' && is_instrumented() eq 'tsan';
    my @outputs = run_block($scratch, @commands);
    my @notes;
    for my $i (0 .. $#commands) {
        my $output = $outputs[$i];
        $output .= "\n" if $output ne '' && $output !~ /\n\z/;
        push @notes, differences($commands[$i]{output}, $output)
            if $commands[$i]{output} ne $output;
        $commands[$i]{output} = $output;
    }
    $block->{lines} = [ map { $_->{shown}, $_->{output} } @commands ] if $refresh;
    return ok($refresh || !@notes, $name, @notes, 'README_REFRESH=1 writes what is printed now');
}

sub check_skipped {
    my ($block) = @_;
    my @needless =
        grep { $_->{command} !~ /^(sudo )?(make|git|apt-get|man) / } split_commands($block);
    ok(!@needless, "README.md:$block->{line}: what is not run installs something",
        map { $_->{command} } @needless);
}

sub check_manual {
    my $name = 'the manual page formats without a warning';
    return skip($name, 'no groff') if system('command -v groff >/dev/null') != 0;
    my $warnings = `'$program' --manual | groff -man -Tutf8 -ww -rLL=78n 2>&1 >/dev/null`;
    ok($? == 0 && $warnings eq '', $name, $warnings);
}

print "TAP version 13\n";
my $text = read_file($readme);
if (!defined $text || !-x $program) {
    print "Bail out! needs README.md and a built stallcast\n";
    exit 1;
}
my $scratch = prepare();
my @pieces  = split_blocks($text);
for my $block (grep { exists $_->{info} } @pieces) {
    if    ($block->{info} =~ /^console( slow)?$/) { check_block($block, $scratch) }
    elsif ($block->{info} eq 'console skip')      { check_skipped($block) }
    elsif ($block->{info} =~ /^(?:c|csv) ([\w.-]+)$/) {
        write_file("$scratch/$1", join '', @{ $block->{lines} });
    } else {
        ok(0, "README.md:$block->{line}", "a block marked '$block->{info}' is not tested");
    }
}
my $new = join '', map { $_->{text} // join '', $_->{open}, @{ $_->{lines} }, $_->{close} } @pieces;
my $lines = () = $new =~ /\n/g;
ok($lines <= $limit, "README.md has at most $limit lines", "it has $lines");
check_manual();
write_file($readme, $new) if $refresh && $new ne $text;
print "1..$count\n";
