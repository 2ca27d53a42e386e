# SPDX-License-Identifier: GPL-3.0-or-later
# For command-line tests: `. "${0%/*}/lib.sh"` first, `finish` last.  Each check
# runs in an empty directory of its own test and compares every byte of standard
# output, standard error and the exit code.

program=$(cd "$(dirname "${STALLCAST:-build/stallcast}")" && pwd)/$(basename "${STALLCAST:-stallcast}")
source_tree=$(cd "${0%/*}/../.." && pwd)
results=$(mktemp -d) || exit 1
mkdir "$results/work"
cd "$results/work" || exit 1
trap 'chmod -R u+rwx "$results"; rm -rf "$results"' EXIT
unset STALLCAST_DATA NO_COLOR
count=0

stallcast() {
    "$program" "$@"
}

# ok NAME COMMAND...: the command succeeds; what it prints is shown otherwise.
ok() {
    count=$((count + 1))
    name=$1
    shift
    if "$@" >"$results/said" 2>&1; then
        echo "ok $count - $name"
    else
        echo "not ok $count - $name"
        sed 's/^/# /' "$results/said"
    fi
}

skip() {
    count=$((count + 1))
    echo "ok $count # SKIP $1"
}

# Text as a file: with a line end, unless there is none.
put_lines() {
    if [ -n "$1" ]; then
        printf '%s\n' "$1"
    fi
}

same_result() {
    put_lines "$2" >"$results/want_out"
    put_lines "$3" >"$results/want_err"
    same=0
    [ "$4" = "$1" ] || { echo "exit code: want $1, got $4"; same=1; }
    diff -u "$results/want_out" "$results/out" || same=1
    diff -u "$results/want_err" "$results/err" || same=1
    return $same
}

# check_run NAME CODE STDOUT STDERR COMMAND...
check_run() {
    check_name=$1 want_code=$2 want_out=$3 want_err=$4
    shift 4
    "$@" >"$results/out" 2>"$results/err"
    ok "$check_name" same_result "$want_code" "$want_out" "$want_err" $?
}

# refuses STDERR ARGUMENT...: exit code 2, nothing on standard output, one line.
refuses() {
    refusal=$1
    shift
    check_run "$*" 2 '' "stallcast: $refusal" stallcast "$@"
}

finish() {
    echo "1..$count"
}
