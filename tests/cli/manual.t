#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The manual pages: one for each command, with all that --help says, and an overview; they are
# formatted without a warning, installed, and taken away.

. "${0%/*}/lib.sh"

commands=$("$program" --help | awk '/^commands:/ { on = 1; next } /^$/ { on = 0 } on { print $1 }')

# plain FILE: the page as text, one blank between words.
plain() {
    sed -e 's/\\f[BIR]//g' -e 's/\\-/-/g' -e "s/\\\\(aq/'/g" -e 's/\\(ga/`/g' -e 's/\\(ti/~/g' \
        -e 's/\\(ha/^/g' -e 's/\\e/\\/g' -e 's/\\&//g' "$1" | tr -s ' \n' ' '
}
# A page without a date is the same for every build.
lint() {
    mandoc -Tlint -Wwarning "$1" | grep -v 'WARNING: missing date' >warnings
    [ ! -s warnings ] || { cat warnings; false; }
}
formats() {
    groff -man -Tutf8 -ww -rLL=78n "$1" 2>&1 >/dev/null | grep . >warnings
    [ ! -s warnings ] || { cat warnings; false; }
}
is_clean() {
    if command -v mandoc >/dev/null; then ok "$1: mandoc has nothing to say" lint "$1"; else skip 'no mandoc'; fi
    if command -v groff >/dev/null; then ok "$1: nor groff" formats "$1"; else skip 'no groff'; fi
}

"$program" --manual >stallcast.1
ok 'the overview has its sections' sh -c "grep '^[.]SH' stallcast.1 | tr '\n' ' ' |
    grep -q '^.SH NAME .SH SYNOPSIS .SH DESCRIPTION .SH COMMANDS .SH SCENARIOS .SH UNITS .*.SH EXIT STATUS .SH ENVIRONMENT .SH FILES .SH EXAMPLES $'"
is_clean stallcast.1
for system in $("$program" list systems -f csv | sed '1d;s/,.*//'); do
    ok "it has the keys of $system" grep -qx ".SH SYSTEM $system" stallcast.1
done
for command in $commands; do
    page=stallcast-$command.1
    "$program" --manual "$command" >"$page" 2>err
    ok "$page is there" sh -c "[ ! -s err ] && head -n 1 $page | grep -qi '^.TH STALLCAST-$command 1 '"
    ok "stallcast.1 refers to $page" grep -qF "\\fBstallcast\\-$command\\fR(1)" stallcast.1
    ok "$page refers to stallcast.1" grep -qF '\fBstallcast\fR(1)' "$page"
    check_run "$page: sections" 0 '.SH NAME
.SH SYNOPSIS
.SH DESCRIPTION
.SH OPTIONS
.SH EXIT STATUS
.SH ENVIRONMENT
.SH FILES
.SH EXAMPLES
.SH SEE ALSO' '' grep '^[.]SH' "$page"
    ok "$page: an example calls the command" sh -c \
        "sed -n '/^.SH EXAMPLES/,/^.SH SEE/p' $page | grep -q 'stallcast $command'"
    plain "$page" >said
    "$program" "$command" --help | sed -n 's/^  .*--\([a-z-]*\)[ ].*/\1/p' | grep -vx help >options
    ok "$page: each option" sh -c \
        'while read -r name; do grep -qF -- "--$name" said || { echo "$name"; exit 1; }; done <options; [ -s options ]'
    # Whatever --help says before its options, but for the colon before an example.
    "$program" "$command" --help | sed '1,2d;/^options:/,$d' | grep . | sed 's/^ *//;s/:$//' |
        tr -s ' ' >lines
    ok "$page: each line of --help" sh -c \
        'while IFS= read -r line; do grep -qF -- "$line" said || { echo "$line"; exit 1; }; done <lines; [ -s lines ]'
    is_clean "$page"
done
refuses "no command 'elephant': 'stallcast --help' lists them" --manual elephant

# ---- what make installs and removes ----

# Names alone: nothing is built.
removed() {
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -C "$source_tree" -n uninstall PREFIX=/usr DESTDIR=/stage |
        tr ' ' '\n' | tr -d "'" | sed -n 's:^/stage/usr/share/man/man1/::p'
}
for command in $commands; do echo "stallcast-$command.1"; done | sort >want
echo stallcast.1 >>want
removed | sort >got
sort want -o want
ok 'uninstall takes away a page for each command' cmp got want

finish
