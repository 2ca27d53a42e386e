#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Dependencies point one way, cli -> calibrate -> model; the simulator and the
# closed forms do not know each other; the model is a pure library.  Looked up
# with nm in the objects beside the program under test, and in the sources
# where a symbol would not show it.

build=$(dirname "${STALLCAST:-build/stallcast}")
tables=$(mktemp -d) || exit 1
trap 'rm -rf "$tables"' EXIT

# What calibrate/sim may call in the model: functions that read the tables, and
# those that describe a workload and keep its accounts (model/hbf_workload.h, uvm.h,
# prefetch_workload.h).
# Tables themselves are free; any other function is taken for a closed form.
shared='^sc_((field|system|scenario)_.*|hbf_(check|mechanisms|machine|load|kernels|close)|uvm_(check|mechanisms|load)|prefetch_(check|mechanisms|run|machine|reach|body|address|warp|is_zero|hash))$'

# What a pure library does not touch.
impure='^_*((v?(f|s|sn|as|d)?printf|puts|fputs|putc|fputc|putchar|fwrite|perror)(_chk)?'
impure=$impure'|(v?(f|s)?scanf|fopen|fdopen|freopen|fclose|fread|fgets|getc|fgetc|getline)'
impure=$impure'|(open|close|read|write|stdin|stdout|stderr|syslog)(64)?'
impure=$impure'|malloc|calloc|realloc|reallocarray|aligned_alloc|posix_memalign|strn?dup|free'
impure=$impure'|exit|_exit|_Exit|quick_exit|atexit|abort|raise|signal|longjmp'
impure=$impure'|getenv|setenv|putenv|system|setlocale|localeconv|s?rand|random|drand48'
impure=$impure'|time|clock|clock_gettime|gettimeofday|strtok|strerror)$'

count=0
# report NAME COMMAND...: what the command prints are the faults, one a line.
report() {
    count=$((count + 1))
    name=$1
    shift
    if "$@" >"$tables/faults" && [ ! -s "$tables/faults" ]; then
        echo "ok $count - $name"
    else
        echo "not ok $count - $name"
        sed 's/^/# /' "$tables/faults"
    fi
}

# Objects left over from sources that are no more do not count.
list_objects() {
    find "$build/obj/model" "$build/obj/calibrate" "$build/obj/cli" -name '*.o' |
        while read -r object; do
            source=${object#"$build/obj/"}
            source=${source%.o}.c
            if [ -f "$source" ] || [ "$source" = cli/embedded.c ]; then
                echo "$object"
            fi
        done
}

# One line per symbol: layer object class name section.  The layers are model,
# calibrate, sim (a part of calibrate) and cli.
list_symbols() {
    list_objects | xargs nm -A -f sysv 2>/dev/null | awk -F '|' -v prefix="$build/obj/" '
        NF >= 7 {
            gsub(/ /, "")
            object = substr($1, length(prefix) + 1)
            name = object
            sub(/\.o:.*/, "", object)
            sub(/.*\.o:/, "", name)
            layer = object
            sub(/\/.*/, "", layer)
            if (object ~ /^calibrate\/sim\//)
                layer = "sim"
            print layer, object, $3, name, ($7 == "" ? "-" : $7)
        }'
}

# wrong_way FROM-LAYERS TO-LAYERS: symbols that objects of the first use and
# objects of the second define.
wrong_way() {
    awk -v from=" $1 " -v to=" $2 " '
        NR == FNR { if ($3 ~ /^[A-TV-Z]$/ && index(to, " " $1 " ")) home[$4] = $2; next }
        $3 == "U" && index(from, " " $1 " ") && $4 in home {
            print $2 " uses " $4 " of " home[$4]
        }' "$tables/symbols" "$tables/symbols"
}

# Closed forms that the simulator reaches, itself or through the rest of
# calibrate, object by object.
closed_forms_of_sim() {
    awk -v shared="$shared" '
        $3 ~ /^[A-TV-Z]$/ { layer[$4] = $1; home[$4] = $2; kind[$4] = $3 }
        $3 == "U" { uses[$2] = uses[$2] " " $4 }
        $1 == "sim" && !($2 in route) { route[$2] = $2; queue[++last] = $2 }
        END {
            for (first = 1; first <= last; first++) {
                object = queue[first]
                n = split(uses[object], names, " ")
                for (i = 1; i <= n; i++) {
                    name = names[i]
                    if (layer[name] == "model" && kind[name] ~ /[TWi]/ && name !~ shared)
                        print route[object] " uses " name " of " home[name]
                    if (layer[name] == "calibrate" && !(home[name] in route)) {
                        route[home[name]] = route[object] " -> " home[name]
                        queue[++last] = home[name]
                    }
                }
            }
        }' "$tables/symbols"
}

impure_model() {
    awk -v impure="$impure" '$1 == "model" && $3 == "U" && $4 ~ impure {
        print $2 " uses " $4
    }' "$tables/symbols"
}

# Constants that hold addresses stand in .data.rel.ro, which is read-only too.
writable_model() {
    awk '$1 == "model" && $3 ~ /^[BbCcDdGgSs]$/ && $5 !~ /^\.data\.rel\.ro/ {
        print $2 " can write to " $4 " in " $5
    }' "$tables/symbols"
}

missing_layers() {
    for layer in model calibrate cli; do
        grep -q "^$layer " "$tables/symbols" || echo "no symbols of $layer in $build/obj"
    done
}

includes_around() {
    ! grep -rn --include='*.[ch]' '#include *"[^"]*\.\./' model calibrate cli
}

# A table holds the address of its closed form; nm does not see that call.
estimates_in_sim() {
    [ ! -d calibrate/sim ] ||
        ! grep -rnE --include='*.[ch]' '(->|\.)estimate\>' calibrate/sim
}

list_symbols >"$tables/symbols"
echo 'TAP version 13'
echo '1..8'
report 'every layer has objects to look at' missing_layers
report 'model uses nothing of calibrate or cli' wrong_way model 'calibrate sim cli'
report 'calibrate uses nothing of cli' wrong_way 'calibrate sim' cli
report 'the simulator reaches no closed form' closed_forms_of_sim
report 'model neither allocates, prints, reads nor exits' impure_model
if grep -Eq ' U _*(asan|ubsan|tsan|gcov)_' "$tables/symbols"; then
    count=$((count + 1))
    echo "ok $count # SKIP instrumented objects have writable data of their own"
else
    report 'model has no writable data' writable_model
fi
report 'no layer includes around the search path' includes_around
report 'the simulator does not call the estimate of a table' estimates_in_sim
