#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Every number of the paper, asked of the program and written for TeX.
# usage: paper/numbers.sh PROGRAM FOLDER FIT TUNE [PARAMS]
#
# FIT is the test that fits the constants of uvm anew (t_uvm_fit.t), TUNE the one that
# fits planted machines (t_tune.t); what they say of runs that they have not seen is in
# the paper, too.
# FOLDER gets numbers.tex, one \scnum{name}{value} per number, and rows-*.tex,
# the bodies of the tables.  PARAMS is the calibration of hbf that the program
# carries; without it the paper says that there is none.
set -eu
LC_ALL=C
export LC_ALL
program=$1
folder=$2
fit=$3
tune=$4
params=${5:-}
work=$folder/answers
mkdir -p "$work"

# ask FILE ARGUMENTS...: runs the program; a published figure that misses its
# target (status 1) is an answer too.
ask() {
    file=$1
    shift
    status=0
    "$program" "$@" > "$work/$file" 2> "$work/$file.err" || status=$?
    if [ "$status" -gt 1 ]; then
        cat "$work/$file.err" >&2
        echo "numbers.sh: failed: stallcast $*" >&2
        exit 1
    fi
}

# What every awk program below begins with.  Columns go by their names:
# $(col["name"]) after header() has read the first row of a file.
common='
function header(   i) {
    split("", col)
    for (i = 1; i <= NF; i++)
        col[$i] = i
}
function field(name) {
    if (!(name in col)) {
        print "numbers.sh: " FILENAME " has no column " name > "/dev/stderr"
        exit failed = 1
    }
    return $(col[name])
}
function number(name, value) { printf "%s\t%s\n", name, value }
function tex(text) {
    gsub(/[%&_#$]/, "\\\\&", text)
    gsub(/ x /, " $\\times$ ", text)
    gsub(/t\\_R/, "$t_R$", text)
    gsub(/ us( |$)/, "\\,\\us ", text)
    return text
}
# "20 us" and "300 M/s" as TeX.
function quantity(text) {
    text = tex(text)
    sub(/ $/, "", text)
    sub(/ M\/s$/, "\\,M/s", text)
    if (text ~ /^[0-9.]+ [A-Za-z]/)
        sub(/ /, "\\,", text)
    return text
}
function absolute(x) { return x < 0 ? -x : x }
# Three significant digits or so.
function rounded(x,   a) {
    a = absolute(x)
    return sprintf(a >= 100 ? "%.0f" : a >= 10 ? "%.1f" : "%.2f", x)
}
function thousands(x,   text, out) {
    text = sprintf("%.0f", x)
    while (length(text) > 4 || (length(text) == 4 && out != "")) {
        out = "\\," substr(text, length(text) - 2) out
        text = substr(text, 1, length(text) - 3)
    }
    return text out
}
function signed(x, digits,   text) {
    text = sprintf("%+." digits "f", x)
    if (text ~ /^[+-]0(\.0*)?$/)
        text = substr(text, 2)
    sub(/^-/, "\\minus{}", text)
    return text
}
'

# ---- published figures: macros, table rows, and how far off all of them are ----

figures() { # SYSTEM
    awk -F '\t' -v system_name="$1" -v folder="$folder" "$common"'
    # One number as the table shows it: shares in per cent.
    function shown(metric, x) {
        if (metric ~ /^performance$|_share$|utilisation$/)
            return sprintf("%.1f", 100 * x)
        if (metric == "slowdown")
            return sprintf("%.2f", x)
        if (metric == "buffer_area_m2")
            return sprintf("%.2f", 1e6 * x)
        if (metric == "buffer_access_s")
            return sprintf("%.2f", 1e9 * x)
        return metric == "cycles" ? thousands(x) : rounded(x)
    }
    function named(metric, of,   text) {
        text = metric
        if (metric == "performance") text = "performance, \\%"
        if (metric == "hbf_utilisation") text = "utilisation, \\%"
        if (metric == "access_stall_share") text = "access stalls, \\%"
        if (metric == "order_stall_share") text = "order stalls, \\%"
        if (metric == "capacity_stall_share") text = "capacity stalls, \\%"
        if (metric == "buffer_area_m2") text = "area, mm$^2$"
        if (metric == "leakage_w") text = "leakage, W"
        if (metric == "buffer_access_s") text = "access time, ns"
        return text
    }
    function parse(scenario,   words, i, n, at) {
        split("", key)
        n = split(scenario, words, " ")
        for (i = 1; i <= n; i++) {
            at = index(words[i], "=")
            key[substr(words[i], 1, at - 1)] = substr(words[i], at + 1)
        }
    }
    function models(text) {
        if (text == "@slipstream7") return "seven"
        if (text == "@slipstream-moe") return "two MoE"
        if (text ~ /,/) return gsub(/,/, "&", text) == 2 ? "three" : "four"
        return text
    }
    function conditions(   text) {
        text = ("buffer" in key) ? key["buffer"] : ""
        if (("latency" in key) && key["latency"] != "20us") text = text ", " key["latency"]
        if ("lead" in key) text = text ", lead " key["lead"]
        if ("mshr_scale" in key) text = "MSHRs $\\times$" key["mshr_scale"]
        if ("flash" in key) text = text ", $t_R=3$us"
        if (("batch" in key) && key["batch"] !~ /,/) text = text ", batch " key["batch"]
        gsub(/MB/, "\\,MB", text)
        gsub(/us/, "\\,\\us", text)
        return text == "" ? "--" : text
    }
    function off(error, verdict) {
        return (absolute(error) > 10 ? "\\off{" signed(error, 1) "}" : signed(error, 1)) \
               (verdict == "" ? "" : verdict == "within" ? "\\hit" : "\\miss")
    }
    function row_of_hbf(   target) {
        parse(field("scenario"))
        target = field("target") == "" ? "" : "$\\pm$" shown(metric, field("target"))
        if (field("sim_target") != field("target"))
            target = "$\\pm$" shown(metric, field("sim_target")) "/" shown(metric, field("target"))
        return (field("where") == last[kind] ? "" : field("where")) " & " key["policy"] " & " \
               conditions() " & " models(key["model"]) " & " named(metric) " & " \
               (field("of") == "each" ? "" : field("of")) " & " shown(metric, published) " & " \
               shown(metric, sim) " & " off(sim_error, field("sim_verdict")) " & " \
               shown(metric, form) " & " off(form_error, field("verdict")) " & " target " \\\\"
    }
    function plain(text) { sub(/[A-Za-z\/]+$/, "", text); return text }
    function row_of_stream() {
        parse(field("scenario"))
        return plain(key["warps_per_sm"]) " & " plain(key["loads_per_warp"]) " & " \
               plain(key["outstanding_per_warp"]) " & " plain(key["bytes_per_load"]) " & " \
               plain(key["latency"]) " & " plain(key["mshr_entries"]) " & " \
               shown(metric, published) " & " shown(metric, sim) " & " signed(sim_error, 1) " & " \
               shown(metric, form) " & " signed(form_error, 1) " \\\\"
    }
    function note(who, kind, value, verdict,   ratio) {
        ratio = value / published
        n[who, kind]++
        error[who, kind] += absolute(ratio - 1)
        logs[who, kind] += absolute(log(ratio))
        if (absolute(ratio - 1) > worst[who, kind]) worst[who, kind] = absolute(ratio - 1)
        over[who, kind] += absolute(ratio - 1) > 0.1
        list[who, kind, n[who, kind]] = absolute(ratio - 1)
        if (verdict != "") targets[who, kind]++
        within[who, kind] += verdict == "within"
        if (metric == "performance") {
            performances[who, kind]++
            truth[who, kind, performances[who, kind]] = published
            guess[who, kind, performances[who, kind]] = value
        }
    }
    function median(who, kind,   i, j, t, m) {
        m = n[who, kind]
        for (i = 2; i <= m; i++)
            for (j = i; j > 1 && list[who, kind, j] < list[who, kind, j - 1]; j--) {
                t = list[who, kind, j]
                list[who, kind, j] = list[who, kind, j - 1]
                list[who, kind, j - 1] = t
            }
        return (list[who, kind, int((m + 1) / 2)] + list[who, kind, int(m / 2) + 1]) / 2
    }
    # Kendall tau-b of the performances.
    function tau(who, kind,   i, j, m, x, y, s, nx, ny) {
        m = performances[who, kind]
        for (i = 2; i <= m; i++)
            for (j = 1; j < i; j++) {
                x = truth[who, kind, i] - truth[who, kind, j]
                y = guess[who, kind, i] - guess[who, kind, j]
                nx += x != 0
                ny += y != 0
                s += (x > 0) * (y > 0) + (x < 0) * (y < 0) - (x > 0) * (y < 0) - (x < 0) * (y > 0)
            }
        return nx > 0 && ny > 0 ? sprintf("%.2f", s / sqrt(nx * ny)) : "--"
    }
    function summary(who, kind,   name, m) {
        m = n[who, kind]
        if (m == 0)
            return
        name = system_name ":" kind ":" who ":"
        number(name "mean", sprintf("%.1f", 100 * error[who, kind] / m))
        number(name "median", sprintf("%.1f", 100 * median(who, kind)))
        number(name "geo", sprintf("%.3f", exp(logs[who, kind] / m)))
        number(name "worst", sprintf("%.0f", 100 * worst[who, kind]))
        number(name "over", over[who, kind] + 0)
        number(name "targets", targets[who, kind] + 0)
        number(name "within", within[who, kind] + 0)
        number(name "tau", tau(who, kind))
    }
    NR == 1 { header(); next }
    {
        id = field("figure")
        metric = field("metric")
        kind = field("kind")
        published = field("published") + 0
        sim = field("simulator") + 0
        form = field("closed_form") + 0
        sim_error = 100 * (sim / published - 1)
        form_error = 100 * (form / published - 1)
        number(id ":pub", shown(metric, published))
        number(id ":sim", shown(metric, sim))
        number(id ":form", shown(metric, form))
        number(id ":simerr", signed(sim_error, 1))
        number(id ":formerr", signed(form_error, 1))
        if (field("target") != "") {
            number(id ":target", shown(metric, field("target")))
            number(id ":simtarget", shown(metric, field("sim_target")))
        }
        note("sim", kind, sim, field("sim_verdict"))
        note("form", kind, form, field("verdict"))
        both += absolute(log(form / sim))
        rows[kind] = rows[kind] (system_name == "hbf" ? row_of_hbf() : row_of_stream()) "\n"
        last[kind] = field("where")
    }
    END {
        if (failed)
            exit 1
        for (k = split("check anchor", kinds, " "); k > 0; k--) {
            kind = kinds[k]
            number(system_name ":" kind ":n", n["sim", kind] + 0)
            summary("sim", kind)
            summary("form", kind)
            printf "%s", rows[kind] > (folder "/rows-" system_name "-" kind ".tex")
        }
        number(system_name ":figures", NR - 1)
        number(system_name ":bothfactor", sprintf("%.3f", exp(both / (NR - 1))))
    }' "$work/$1"
}

# ---- facts and anchors ----

parameters() { # SYSTEM
    awk -F '\t' -v system_name="$1" -v folder="$folder" "$common"'
    NR == 1 { header(); next }
    {
        number(system_name ":" field("key"), quantity(field("value")))
        count[field("kind")]++
    }
    field("kind") == "anchor" {
        rows = rows "\\key{" tex(field("key")) "} & " quantity(field("value")) " & " \
               tex(field("source")) " \\\\\n"
    }
    END {
        if (failed)
            exit 1
        number(system_name ":facts", count["fact"] + 0)
        number(system_name ":anchors", count["anchor"] + 0)
        number(system_name ":coefficients", count["calibrated"] + 0)
        printf "%s", rows > (folder "/rows-" system_name "-constants.tex")
    }' "$work/$1-parameters"
}

# ---- uvm ----

# Figures that are quoted one by one, those with a simulator's answer among them.
uvm_figures() {
    awk -F '\t' -v folder="$folder" "$common"'
    function shown(metric, x) {
        if (metric ~ /bytes/ && x > 1e6) return rounded(x / 1e9)
        return absolute(x) < 0.1 ? sprintf("%.3f", x) : rounded(x)
    }
    function off(ratio) {
        if (ratio > 10 || ratio < 0.1)
            return "\\off{" (ratio > 1 ? "$\\times$" rounded(ratio) : "/" rounded(1 / ratio)) "}"
        return absolute(ratio - 1) > 0.25 ? "\\off{" signed(100 * (ratio - 1), 0) "}" \
                                          : signed(100 * (ratio - 1), 0)
    }
    function what(id,   text) {
        text = id
        if (!sub(/^fig1-past$/, "sort past the line, s", text) &&
            !sub(/^fig1-jump$/, "the same over at the line", text) &&
            !sub(/^fig1-cliff$/, "the line, GB", text) &&
            !sub(/^fig3-random-time$/, "random / sequential, time", text) &&
            !sub(/^fig3-random-evicted$/, "\\quad evicted", text) &&
            !sub(/^fig3-random-faults$/, "\\quad faults", text) &&
            !sub(/^fig5-k-means-mapped$/, "k-means, mapped / prefetch", text) &&
            !sub(/^fig5-prefetch-evicted$/, "evicted, prefetch / UVM", text) &&
            !sub(/^fig7-static-first$/, "static, first phase, GB/s", text) &&
            !sub(/^fig7-static-shifted$/, "\\quad after the shift", text) &&
            !sub(/^fig7-adaptive-recovered$/, "adaptive, after the shift", text) &&
            !sub(/^fig14-.*$/, "GH200, static over UVM", text) &&
            !sub(/^sec77-profiling-/, "HELM, profiling share, ", text) &&
            !sub(/^fig16-low-reuse-/, "adaptive wins at 32, random \\% ", text) &&
            !sub(/^fig16-crossing$/, "equal at 128, half random", text) &&
            !sub(/^fig16-high-reuse$/, "static wins at 1024", text) &&
            !sub(/^fig16-adaptive-moved-most$/, "adaptive moves, GB", text) &&
            !sub(/^fig16-static-moved$/, "static moves, GB", text)) {
            sub(/^fig10-/, "", text)
            sub(/rtx-5080/, "RTX 5080", text)
            sub(/a40/, "A40", text)
            sub(/h200/, "H200", text)
            sub(/-gib/, "\\,GiB", text)
            gsub(/-/, " ", text)
            sub(/RTX 5080/, "5080", text)
            sub(/ember /, "", text)
        }
        return text
    }
    FNR == 1 { header(); file++; next }
    file == 1 {
        sim[field("figure")] = field("simulator") / field("published")
        simulated[field("figure")] = field("simulator")
        next
    }
    {
        id = field("figure")
        ratio = field("closed_form") / field("published")
        number("uvm:" id ":pub", shown(field("metric"), field("published")))
        number("uvm:" id ":form", shown(field("metric"), field("closed_form")))
        number("uvm:" id ":formerr", signed(100 * (ratio - 1), 0))
        if (id in sim) {
            number("uvm:" id ":sim", shown(field("metric"), simulated[id]))
            number("uvm:" id ":simerr", signed(100 * (sim[id] - 1), 0))
        }
        n++
        kinds[field("kind")]++
    }
    field("where") ~ /^(Fig|Sec)/ {
        where = field("where")
        rows = rows (where == last ? "" : where) " & " what(id) (field("kind") == "anchor" ? "\\,$^a$" : "") \
               " & " shown(field("metric"), field("published")) " & " \
               ((id in sim) ? shown(field("metric"), simulated[id]) " & " off(sim[id]) : "-- & ") \
               " & " shown(field("metric"), field("closed_form")) " & " off(ratio) " \\\\\n"
        last = where
    }
    END {
        if (failed)
            exit 1
        number("uvm:figures", n)
        number("uvm:check:n", kinds["check"])
        number("uvm:anchor:n", kinds["anchor"])
        printf "%s", rows > (folder "/rows-uvm-figures.tex")
    }' "$work/uvm-sim" "$work/uvm"
}

# Figures that are judged together, which validate reports below its table.
uvm_sets() {
    awk -v folder="$folder" "$common"'
    / figures, closed form: geometric error / && !/^[0-9]/ {
        name = text = $0
        sub(/: [0-9]+ figures.*/, "", name)
        sub(/.*: /, "", text)
        count = substr($0, length(name) + 3) + 0
        factor = $0
        sub(/.*geometric error /, "", factor)
        target = factor ~ /target/ ? factor : ""
        sub(/.*target /, "", target)
        verdict = $0 ~ /: within$/ ? "\\hit" : target == "" ? "" : "\\miss"
        rows = rows tex(name) " & " count " & " sprintf("%.2f", factor + 0) verdict " & " \
               (target == "" ? "" : sprintf("%.2f", target + 0)) " \\\\\n"
        n++
        if (name ~ /GH200/)
            number("uvm:gh200", sprintf("%.2f", factor + 0))
    }
    END {
        if (n == 0) {
            print "numbers.sh: validate uvm reports no sets" > "/dev/stderr"
            exit 1
        }
        printf "%s", rows > (folder "/rows-uvm-sets.tex")
    }' "$work/uvm.err"
}

# What fits make of runs that they have not seen, and what the law says without any.
uvm_fit() {
    awk -v folder="$folder" "$common"'
    function factor(text) { sub(/^x/, "", text); sub(/,$/, "", text); return sprintf("%.2f", text) }
    function named(text) {
        return text == "a40" ? "A40" : text == "rtx-5080" ? "RTX 5080" : text == "h200" ? "H200" : text
    }
    /^# without [^ ]+: / {
        sub(/:$/, "", $3)
        gpus = gpus named($3) " & " $7 " & " factor($4) " & " factor($NF) " \\\\\n"
    }
    /^# without .* past capacity/ {
        apps = apps $3 " & " $9 " & " factor($6) " & " factor($NF) " \\\\\n"
    }
    /^# (a GPU|an application) left out: / {
        what = $3
        number("uvm:out:" what, factor($6))
        number("uvm:out:" what ":naive", factor($NF))
        row = "\\emph{mean} & & " factor($6) " & " factor($NF) " \\\\\n"
        if (what == "GPU") gpus = gpus row
        else apps = apps row
    }
    /^# in sample: / { number("uvm:insample", factor($4)) }
    /^# order of two policies right in / { number("uvm:order", $8); number("uvm:pairs", $10) }
    /^# law: / {
        split($0, part, "; ")
        split(part[2], excess, ", measured ")
        split(part[3], times, ", published ")
        sub(/excess /, "", excess[1])
        stopped = sub(/>/, "", excess[2])
        sub(/>/, "", times[2])
        ratio = (times[1] + 0) / (times[2] + 0)
        bad = ratio > 2 || ratio < 0.5
        excess[1] = rounded(excess[1] + 0)
        excess[2] = (stopped ? "$>$" : "") rounded(excess[2] + 0)
        law = law $3 " & " named($5) " & " excess[1] " & " excess[2] " & " rounded(times[1] + 0) \
              " & " (stopped ? "$>$" : "") rounded(times[2] + 0) " & " \
              (bad ? "\\off{" rounded(ratio) "}" : rounded(ratio)) " \\\\\n"
    }
    /^# law within 2x on every GPU/ {
        for (i = 1; i <= NF; i++)
            if ($i == "for") { number("uvm:lawbytes", $(i + 1)); break }
        number("uvm:lawexcess", $NF)
    }
    END {
        if (gpus == "" || apps == "" || law == "") {
            print "numbers.sh: " FILENAME " says nothing of runs left out" > "/dev/stderr"
            exit 1
        }
        printf "%s", gpus > (folder "/rows-uvm-gpus.tex")
        printf "%s", apps > (folder "/rows-uvm-apps.tex")
        printf "%s", law > (folder "/rows-uvm-law.tex")
    }' "$work/uvm-fit"
}

# The random law: faults and leaves per touch.
uvm_random() {
    awk -F '\t' -v folder="$folder" "$common"'
    FNR == 1 {
        header()
        over = FILENAME
        sub(/.*-/, "", over)
        order[++n] = over
        next
    }
    field("symbol") == "Phi" { phi[over] = field("value") }
    field("symbol") == "B" { leaves[over] = field("value") }
    END {
        if (failed)
            exit 1
        head = "$F/C$"
        first = "$\\Phi$"
        second = "$B$"
        for (i = 1; i <= n; i++) {
            head = head " & " order[i]
            first = first " & " sprintf("%.2f", phi[order[i]])
            second = second " & " sprintf("%.2f", leaves[order[i]])
            number("uvm:phi:" order[i], sprintf("%.2f", phi[order[i]]))
            number("uvm:leaves:" order[i], sprintf("%.2f", leaves[order[i]]))
        }
        printf "%s \\\\ \\midrule\n%s \\\\\n%s \\\\\n", head, first, second > (folder "/rows-uvm-random.tex")
    }' "$work"/uvm-random-*
}

# Speedups that the figure shows, by the simulator; and the sort of Fig. 1 by the law.
uvm_speedups() {
    awk -F '\t' "$common"'
    NR == 1 { header(); next }
    { number("uvm:sort:law", rounded(field("time_s"))) }
    END { exit failed }' "$work/uvm-sort"
    awk -F , "$common"'
    FNR == 1 { header(); next }
    field("source") == "simulator" && field("group") == "geomean" {
        split(field("series"), part, " ")
        number("uvm:speedup:" part[2] ":" part[1] ":" part[3], rounded(field("time_s")))
    }
    END { exit failed }' "$work/uvm-apps.csv"
}

# ---- prefetch ----

# Shares and gains in per cent; differences in points, bold past 8, or 3 of a gain.
prefetch_figures() {
    awk -F '\t' -v folder="$folder" "$common"'
    function per_cent(metric, x) { return 100 * (metric == "front_end_speedup" ? x - 1 : x) }
    function off(metric, points) {
        return absolute(points) > (metric == "front_end_speedup" ? 3 : 8) \
               ? "\\off{" signed(points, 1) "}" : signed(points, 1)
    }
    function verdict(text) { return text == "" ? "" : text == "within" ? "\\hit" : "\\miss" }
    function what(metric,   text) {
        text = metric
        sub(/_share$/, "", text)
        sub(/^front_end_speedup$/, "IPC gain", text)
        sub(/^demand_evictions$/, "demand evicted", text)
        sub(/^zero_false_/, "false ", text)
        sub(/^register_invalidation$/, "invalidated", text)
        gsub(/_/, " ", text)
        return text
    }
    function policy(scenario) {
        sub(/.*policy=/, "", scenario)
        sub(/ .*/, "", scenario)
        return toupper(scenario)
    }
    function gpu(scenario) {
        sub(/.*gpu=/, "", scenario)
        sub(/[ -].*/, "", scenario)
        return toupper(scenario)
    }
    function points(x) { return x < 0 ? signed(x, 1) : sprintf("%.1f", x) }
    function events(scenario) { sub(/.*window=/, "", scenario); return scenario + 0 }
    NR == 1 { header(); next }
    {
        metric = field("metric")
        published = per_cent(metric, field("published"))
        sim = per_cent(metric, field("simulator"))
        form = per_cent(metric, field("closed_form"))
        id = "prefetch:" field("figure")
        number(id ":pub", sprintf("%.1f", published))
        number(id ":sim", sprintf("%.1f", sim))
        number(id ":form", sprintf("%.1f", form))
        window = field("figure") ~ /window/ ? ", " gpu(field("scenario")) ", " events(field("scenario")) : ""
        rows = rows (field("where") == last ? "" : field("where")) " & " policy(field("scenario")) \
               (field("kind") == "anchor" ? "\\,$^a$" : "") " & " \
               (window == "" ? what(metric) : "change" window) " & " \
               sprintf("%.1f", published) " & " points(sim) verdict(field("sim_verdict")) \
               " & " off(metric, sim - published) " & " points(form) " & " \
               off(metric, form - published) " \\\\\n"
        last = field("where")
        kinds[field("kind")]++
        targets += field("sim_target") != ""
        within += field("sim_verdict") == "within"
        if (window != "")
            stable += field("sim_verdict") == "within"
        else if (metric == "front_end_speedup") {
            gains++
            near_sim += absolute(sim - published) <= 3
            near_form += absolute(form - published) <= 3
        }
        if (metric == "coverage" || metric == "accuracy" || metric ~ /^(on_time|late|early)_share$/) {
            shares++
            close_sim += absolute(sim - published) <= 8
            close_form += absolute(form - published) <= 8
        }
    }
    END {
        if (failed)
            exit 1
        number("prefetch:figures", NR - 1)
        number("prefetch:anchor:n", kinds["anchor"] + 0)
        number("prefetch:targets", targets + 0)
        number("prefetch:within", within + 0)
        number("prefetch:windows", stable + 0)
        number("prefetch:gains", gains)
        number("prefetch:gains:sim", near_sim + 0)
        number("prefetch:gains:form", near_form + 0)
        number("prefetch:shares", shares)
        number("prefetch:shares:sim", close_sim + 0)
        number("prefetch:shares:form", close_form + 0)
        printf "%s", rows > (folder "/rows-prefetch-figures.tex")
    }' "$work/prefetch"
}

# Closed form against simulator: files NAME-sim, NAME-form with the same rows.
prefetch_errors() { # NAME
    awk -F '\t' -v name="$1" -v folder="$folder" "$common"'
    FNR == 1 { header(); file++; next }
    file == 1 {
        for (m = 1; m <= count; m++)
            simulated[FNR, m] = field(metrics[m])
        fix[FNR] = field("worth_fixing_first")
        next
    }
    {
        n++
        same += fix[FNR] == field("worth_fixing_first")
        for (m = 1; m <= count; m++) {
            error = 100 * (m == 1 ? field(metrics[m]) / simulated[FNR, m] - 1 \
                                  : field(metrics[m]) - simulated[FNR, m])
            bias[m] += error
            error = absolute(error)
            sum[m] += error
            for (j = n; j > 1 && list[m, j - 1] > error; j--)
                list[m, j] = list[m, j - 1]
            list[m, j] = error
            if (error > worst[m]) { worst[m] = error; at[m] = field("kernel") " " toupper(field("policy")) }
        }
    }
    BEGIN {
        count = split("ipc on_time_share coverage accuracy", metrics, " ")
        split("IPC, \\%;on time, points;coverage, points;accuracy, points", names, ";")
        split("10 8 8 8", target, " ")
    }
    END {
        if (failed || n == 0)
            exit 1
        for (m = 1; m <= count; m++) {
            middle = (list[m, int((n + 1) / 2)] + list[m, int(n / 2) + 1]) / 2
            mean = sum[m] / n
            label = "prefetch:" name ":" metrics[m]
            number(label, sprintf("%.1f", mean))
            number(label ":bias", signed(bias[m] / n, 1))
            rows = rows names[m] " & " (mean > target[m] ? "\\off{" sprintf("%.1f", mean) "}\\miss" \
                                                         : sprintf("%.1f", mean) "\\hit") \
                   " & " sprintf("%.1f", middle) " & " sprintf("%.0f", worst[m]) " & " tex(at[m]) " \\\\\n"
        }
        number("prefetch:" name ":n", n)
        number("prefetch:" name ":same", same + 0)
        printf "%s", rows > (folder "/rows-prefetch-" name ".tex")
    }' "$work/prefetch-$1-sim" "$work/prefetch-$1-form"
}

# Kernels that were held out whole: errors of the closed form, a row for each and one of all.
prefetch_held_out() {
    awk -F '\t' -v folder="$folder" "$common"'
    BEGIN {
        count = split("slowdown ipc on_time_share coverage accuracy", metrics, " ")
        split("0 10 8 8 8", target, " ")
    }
    NR == 1 { header(); next }
    field("score") ~ /^kernel_/ {
        value[field("of"), field("score")] = field("value")
        if (field("score") == "kernel_points")
            names[++n] = field("of")
    }
    function row(of,   m, text, error) {
        text = (of == "all" ? "all" : tex(of)) " & " value[of, "kernel_points"]
        for (m = 1; m <= count; m++) {
            error = 100 * value[of, "kernel_" metrics[m] "_error"]
            text = text " & " (target[m] > 0 && error > target[m] ? "\\off{" sprintf("%.1f", error) "}" \
                                                                 : sprintf("%.1f", error))
            if (of == "all")
                number("prefetch:held:" metrics[m], sprintf("%.1f", error))
        }
        return text " \\\\\n"
    }
    END {
        if (failed || n < 2)
            exit 1
        for (i = 1; i < n; i++)
            rows = rows row(names[i])
        rows = rows "\\midrule\n" row(names[n])
        number("prefetch:held:n", n - 1)
        number("prefetch:held:points", value["all", "kernel_points"])
        printf "%s", rows > (folder "/rows-prefetch-held.tex")
    }' "$work/prefetch-scores"
}

# Where half of the prefetches are early, in the figure of the distance: the first
# distance at which those on time fall below a half, interpolated.
prefetch_cliffs() {
    awk -F , "$common"'
    FNR == 1 { header(); next }
    {
        key = field("source") SUBSEP field("group")
        names[field("group")]
        share = field("on_time_share")
        if (!(key in cliff) && (key in last) && last[key] >= 0.5 && share < 0.5)
            cliff[key] = at[key] + (field("distance") - at[key]) * (last[key] - 0.5) / (last[key] - share)
        else if ((key in cliff) && share > 0.5)
            again[key]
        last[key] = share
        at[key] = field("distance")
    }
    END {
        if (failed)
            exit 1
        for (k in names) {
            n++
            if (!(("simulator", k) in cliff) || !(("closed form", k) in cliff))
                continue
            ratio = cliff["closed form", k] / cliff["simulator", k]
            near += ratio > 0.75 && ratio < 1.25
        }
        for (k in again)
            returns += k ~ /^simulator/
        number("prefetch:cliffs", n)
        number("prefetch:cliffs:near", near + 0)
        number("prefetch:cliffs:return", returns + 0)
    }' "$work/prefetch-distance.csv"
}

# Mean gain of SK+SC on two GPUs, each with the threshold of the paper.
prefetch_gpus() {
    awk -F '\t' "$common"'
    FNR == 1 {
        header()
        name = FILENAME
        sub(/.*\/prefetch-/, "", name)
        who = gpu = name
        sub(/.*-/, "", who)
        sub(/-[a-z]*$/, "", gpu)
        next
    }
    { sum[gpu, who] += 100 * (field("front_end_speedup") - 1); n[gpu, who]++ }
    END {
        if (failed)
            exit 1
        for (i in n) {
            split(i, part, SUBSEP)
            number("prefetch:" part[1] ":" part[2], sprintf("%.1f", sum[i] / n[i]))
        }
    }' "$work/prefetch-a100-40gb-form" "$work/prefetch-a100-40gb-sim" \
        "$work/prefetch-v100-form" "$work/prefetch-v100-sim"
}

# ---- serve: published ratios, and what open layouts change ----

serve_figures() {
    awk -F '\t' -v folder="$folder" "$common"'
    function named(id,   text) {
        text = id
        sub(/^fig15-llama-70b-/, "70B, ", text)
        sub(/^fig15-llama-405b-/, "405B, ", text)
        sub(/^sec7c-llama-405b-/, "405B, ", text)
        sub(/h3-/, "H3, ", text)
        sub(/hbm-/, "HBM only, ", text)
        sub(/tpot/, "TPOT, ms", text)
        sub(/edp/, "EDP", text)
        return text
    }
    function shown(x) {
        return rounded(field("metric") ~ /_s$/ && field("metric") !~ /per_s$/ ? 1000 * x : x)
    }
    FNR == 1 { header(); next }
    FILENAME ~ /layouts$/ {
        name = field("pipeline_stages") ":" field("weights_in")
        rate[name] = field("tokens_per_s")
        next
    }
    field("closed_form") == "" { next }
    {
        id = field("figure")
        error = field("error_percent")
        number(id ":pub", shown(field("published")))
        number(id ":form", shown(field("closed_form")))
        if (field("verdict") != "" && absolute(error) > worst)
            worst = absolute(error)
        hits += field("verdict") == "within"
    }
    id ~ /^(fig15|sec7c)/ {
        rows = rows (field("where") == last ? "" : field("where")) " & " named(id) \
               (field("kind") == "anchor" ? "$^a$" : "") " & " shown(field("published")) " & " \
               shown(field("closed_form")) " & " \
               (absolute(error) > 10 ? "\\off{" signed(error, 1) "}" : signed(error, 1)) \
               (field("verdict") == "" ? "" : field("verdict") == "within" ? "\\hit" : "\\miss") " \\\\\n"
        last = field("where")
    }
    END {
        if (failed)
            exit 1
        number("serve:hits", hits + 0)
        number("serve:worst", sprintf("%.0f", worst))
        number("serve:gain:tensor", rounded(rate["1:hbf"] / rate["1:hbm"]))
        number("serve:gain:any", rounded(rate["best:hbf"] / rate["best:hbm"]))
        printf "%s", rows > (folder "/rows-serve.tex")
    }' "$work/serve-layouts" "$work/serve"
}

# What the answer is when one of the two assumptions is another.
serve_assumptions() {
    awk -F '\t' "$common"'
    FNR == 1 { header(); name = FILENAME; sub(/.*\/serve-if-/, "", name); next }
    { rate[name, field("weights_in")] = field("tokens_per_s"); seen[name] }
    END {
        if (failed)
            exit 1
        for (name in seen)
            number("serve:if:" name, rounded(rate[name, "hbf"] / rate[name, "hbm"]))
    }' "$work"/serve-if-*
}

# ---- planning, and the user's own numbers ----

planning() {
    awk -F '\t' "$common"'
    FNR == 1 { header(); file = FILENAME; sub(/.*\//, "", file); next }
    file == "least-buffer" {
        number("plan:buffer", rounded(field("buffer_bytes") / 1e6))
        number("plan:buffer:lo", rounded(field("buffer_lo_bytes") / 1e6))
        number("plan:buffer:hi", rounded(field("buffer_hi_bytes") / 1e6))
    }
    file == "front" && field("place") == "best" {
        number("plan:best:buffer", rounded(field("buffer_bytes") / 1e6))
        number("plan:best:bandwidth", rounded(field("hbf_bandwidth_bytes_per_s") / 1e12))
    }
    file == "elasticities" { number("plan:elasticity:" field("key"), sprintf("%.2f", field("elasticity"))) }
    file == "elasticities" && field("key") == "hbf_bandwidth" {
        number("plan:hbf_bandwidth:loss", sprintf("%.2f", -field("elasticity")))
    }
    ' "$work/least-buffer" "$work/front" "$work/elasticities"
}

# "ok 3 - stream: 95.5 % of the planted values are inside their intervals", and the like.
planted() {
    awk '/^not ok/ { failed = 1 }
    { system_name = $4; sub(/:$/, "", system_name) }
    /of the planted values/ { printf "tune:%s:inside\t%.0f\n", system_name, $5 }
    /quantile holds for/ { printf "tune:%s:covered\t%.0f\n", system_name, $(NF - 4) }
    /intervals are stated/ { printf "tune:%s:stated\t%d\n", system_name, $5 }
    END { exit failed }' "$work/tune"
}

# ---- single answers ----

answers() {
    awk -F '\t' "$common"'
    FNR == 1 { header(); file = FILENAME; sub(/.*\//, "", file); next }
    file == "knee" {
        w = field("warps_per_sm")
        number("knee:loads", sprintf("%.1f", field("knee_loads_per_sm")))
        number("knee:kbytes", sprintf("%.1f", field("outstanding_needed_bytes") / 1000))
        number("knee:" w ":share", sprintf("%.0f", 100 * field("share_of_peak")))
        number("knee:" w ":w", w)
    }
    file == "ideal" {
        use = field("hbf_utilisation")
        number("ideal:8b:implied", sprintf("%.1f", 100 * use / on_demand))
    }
    file == "hbf" && field("figure") == "intro-on-demand-llama-8b" { on_demand = field("published") }
    file == "needed" { number("needed:mb", sprintf("%.0f", field("in_flight_needed_bytes") / 1e6)) }
    file == "example" {
        number("example:slowdown", sprintf("%.2f", field("slowdown")))
        number("example:time", sprintf("%.1f", 1e3 * field("time_s")))
        number("example:access", sprintf("%.1f", 100 * field("access_stall_share")))
        if ("slowdown_lo" in col) {
            number("example:lo", sprintf("%.2f", field("slowdown_lo")))
            number("example:hi", sprintf("%.2f", field("slowdown_hi")))
        }
    }
    END { exit failed }' "$work/hbf" "$work/knee" "$work/ideal" "$work/needed" "$work/example"
}

# Geometric means over the models.
means() {
    awk -F '\t' "$common"'
    FNR == 1 { header(); who = FILENAME; sub(/.*-/, "", who); next }
    {
        buffer = sprintf("%.0fMB", field("buffer_bytes") / 1e6)
        sum[buffer, who] += log(field("performance"))
        n[buffer, who]++
    }
    END {
        if (failed)
            exit 1
        for (i in n) {
            split(i, part, SUBSEP)
            number("cpu:" part[1] ":" part[2], sprintf("%.1f", 100 * exp(sum[i] / n[i])))
        }
    }' "$work/global-form" "$work/global-sim"
}

# The terms of one answer, kernel by kernel.
terms() {
    awk -F '\t' -v folder="$folder" "$common"'
    function plain(unit, x) {
        if (unit == "s") return sprintf("%.1f", 1e6 * x)
        if (unit == "1/s") return sprintf("%.0f", x / 1e6)
        return x >= 1000 ? thousands(x) : sprintf(x == int(x) ? "%d" : "%.1f", x)
    }
    NR == 1 { header(); next }
    field("section") == "machine" { next }
    {
        if (!(field("section") in seen)) { kernel[++kernels] = field("section"); seen[field("section")] }
        value[field("symbol"), field("section")] = plain(field("unit"), field("value"))
        known[field("symbol")] = 1
    }
    END {
        if (failed)
            exit 1
        n = split("P C n m_lo m_hi T_ideal b d W w0 T_block T_heavy T_light T_body T_ramp T_cold T",
                  symbols, " ")
        split("$P$;$C$;$n$;$m_l$;$m_h$;$T_0$, \\us;$b$, M/s;$d$, M/s;$W$;$w_0$;$T_\\mathrm{block}$, \\us;" \
              "$T_\\mathrm{heavy}$, \\us;$T_\\mathrm{light}$, \\us;$T_\\mathrm{body}$, \\us;" \
              "$T_\\mathrm{ramp}$, \\us;$T_\\mathrm{cold}$, \\us;$T$, \\us", names, ";")
        for (i = 1; i <= n; i++) {
            if (!(symbols[i] in known))
                continue
            row = names[i]
            for (k = 1; k <= kernels; k++)
                row = row " & " value[symbols[i], kernel[k]]
            rows = rows row " \\\\\n"
        }
        printf "%s", rows > (folder "/rows-terms.tex")
    }' "$work/terms"
}

# ---- the laws of grids and times against the published launches ----

laws() {
    awk -F '\t' "$common"'
    FNR == 1 { header(); file = FILENAME; sub(/.*\/law-/, "", file); next }
    FILENAME ~ /kernels$/ {
        ctas[field("model"), field("kernel")] = field("ctas")
        time_us[field("model"), field("kernel")] = field("time_us")
        next
    }
    !((file, field("section")) in ctas) { next }
    field("symbol") == "C" {
        n++
        grids += absolute(field("value") - ctas[file, field("section")]) < 0.5
    }
    field("symbol") == "T_ideal" {
        times++
        r = log(1e6 * field("value") / time_us[file, field("section")])
        squares += r * r
    }
    END {
        if (failed || n == 0 || n != times)
            exit 1
        number("law:kernels", n)
        number("law:grids", grids)
        number("law:error", sprintf("%.0f", 100 * sqrt(squares / times)))
    }' "$work/kernels" "$work"/law-*b
}

# ---- calibration ----

calibration() {
    if [ -z "$params" ] || [ ! -f "$params" ]; then
        printf 'cal:have\t0\n'
        return
    fi
    awk -F , -v folder="$folder" "$common"'
    function per_cent(x, digits) { return sprintf("%." digits "f", 100 * x) }
    FNR == 1 { header(); next }
    $1 == "meta" && $2 == "samples" { number("cal:" $3, thousands($4)); samples += $4 }
    $1 == "meta" && $2 == "seed" { number("cal:seed", $4) }
    $1 == "parameter" {
        rows = rows "\\key{" tex($2) "} & " sprintf("%.3f", $4) " & " \
               ($5 == "" ? "-- & --" : sprintf("%.3f & %.2f--%.2f", $5, $6, $7)) \
               " & " $8 " \\\\\n"
        parameters++
        unidentified += $8 == "unidentified"
    }
    $1 == "conformal" && $3 == 0.9 { factor[$2] = exp(2 * $4) }
    $1 == "score" {
        if (!($3 in seen)) { group[++groups] = $3; seen[$3] }
        score[$2, $3] = $4
    }
    $1 == "region" && $3 == "" { ranges++ }
    END {
        low = 1
        for (g = 1; g <= groups; g++) {
            name = group[g]
            pooled = name == "*"
            row = (pooled ? "\\midrule all" : "\\key{" name "}") " & " \
                  score["holdout_points", name] " & " per_cent(score["median_error", name], 1) " & " \
                  per_cent(score["mape", name], 1) " & " per_cent(score["coverage_90", name], 0) " & " \
                  ((name in factor) ? sprintf("%.2f", factor[name]) : "--") " \\\\\n"
            if (pooled) { all = row; continue }
            scores = scores row
            c = score["coverage_90", name]
            if (c < low) low = c
            if (c > high) high = c
            if (score["mape", name] > worst) { worst = score["mape", name]; worst_name = name }
        }
        number("cal:have", 1)
        number("cal:samples", thousands(samples))
        number("cal:parameters", parameters)
        number("cal:unidentified", unidentified + 0)
        number("cal:ranges", ranges)
        number("cal:median", per_cent(score["median_error", "*"], 1))
        number("cal:mape", per_cent(score["mape", "*"], 1))
        number("cal:coverage", per_cent(score["coverage_90", "*"], 0))
        number("cal:covlow", per_cent(low, 0))
        number("cal:covhigh", per_cent(high, 0))
        number("cal:worst", per_cent(worst, 0))
        number("cal:worstname", worst_name)
        printf "%s", rows > (folder "/rows-coefficients.tex")
        printf "%s", scores all > (folder "/rows-holdout.tex")
    }' "$params"
}

ask hbf validate hbf --simulate -f tsv --digits all
ask stream validate stream --simulate -f tsv --digits all
ask hbf-parameters list parameters hbf -f tsv
ask stream-parameters list parameters stream -f tsv
ask uvm validate uvm -f tsv --digits all
ask uvm-sim validate uvm --simulate --only '^(fig[1357]-|table10|fig16-(low|cross))' -f tsv --digits all
ask uvm-parameters list parameters uvm -f tsv
ask uvm-policies list policies uvm -f tsv
ask uvm-sort estimate uvm gpu=h200 app=radix memory_capacity=16GiB footprint=24GiB policy=uvm -f tsv --digits all
ask uvm-apps plot uvm-apps --csv "$work/uvm-apps.csv"
for over in 1.05 1.1 1.25 1.5 2 3; do
    ask "uvm-random-$over" explain uvm gpu=a40 pattern=random passes=4 usable_share=1 in_flight=0 \
        oversubscription="$over" -f tsv --digits all
done
ask prefetch validate prefetch --simulate -f tsv --digits all
ask prefetch-scores list scores prefetch -f tsv
ask prefetch-parameters list parameters prefetch -f tsv
ask prefetch-policies list policies prefetch -f tsv
errors=ipc,on_time_share,coverage,accuracy,worth_fixing_first
for kernels in paper14 extra; do
    ask "prefetch-$kernels-sim" simulate prefetch kernel=@$kernels policy=sk,sk+scc,sk+prt,sk+sc \
        -c $errors -f tsv --digits all
    ask "prefetch-$kernels-form" estimate prefetch kernel=@$kernels policy=sk,sk+scc,sk+prt,sk+sc \
        -c $errors -f tsv --digits all
done
for gpu in 'a100-40gb score_threshold=4' 'v100 score_threshold=5'; do
    # shellcheck disable=SC2086 # two words
    ask "prefetch-${gpu%% *}-sim" simulate prefetch kernel=@paper14 gpu=$gpu -c front_end_speedup -f tsv
    # shellcheck disable=SC2086
    ask "prefetch-${gpu%% *}-form" estimate prefetch kernel=@paper14 gpu=$gpu -c front_end_speedup -f tsv
done
ask serve validate serve -f tsv --digits all
served='model=llama-405b gpus=16 weights_in=hbm,hbf generated_tokens=1 hbm_capacity=80GB -c tokens_per_s -f tsv --digits all'
# shellcheck disable=SC2086 # words
{
    ask serve-layouts estimate serve pp=1,best prompt_tokens=16384 usable_share=1 $served
    for tokens in 4096 8192 32768; do
        ask serve-if-$tokens estimate serve pp=1 prompt_tokens=$tokens usable_share=1 $served
    done
    ask serve-if-share estimate serve pp=1 prompt_tokens=16384 usable_share=0.9 $served
}
ask prefetch-distance plot prefetch-distance --csv "$work/prefetch-distance.csv"
"$fit" > "$work/uvm-fit" || { echo "numbers.sh: failed: $fit" >&2; exit 1; }
"$tune" > "$work/tune" || { echo "numbers.sh: failed: $tune" >&2; exit 1; }
planned='model=llama-70b policy=slipstream'
# shellcheck disable=SC2086 # words
{
    ask least-buffer solve hbf $planned --find buffer --until 'slowdown <= 1.1' -f tsv
    ask front solve hbf $planned --find buffer --find hbf_bandwidth --range buffer=6MB:64MB \
        --until 'time_s <= 150ms' --minimize 'buffer_area_mm2 + 20 * hbf_bandwidth_TB_per_s' -f tsv
    ask elasticities sensitivity hbf $planned buffer=16MB -f tsv
}
ask kernels list kernels -f tsv
ask policies list policies hbf -f tsv
ask knee estimate stream warps_per_sm=8,32 -f tsv -c all --digits all
ask ideal estimate hbf model=llama-8b policy=ideal -f tsv -c hbf_utilisation --digits all
ask needed estimate hbf model=llama-70b -f tsv -c all --digits all
ask terms explain hbf model=llama-70b policy=slipstream buffer=16MB -f tsv --digits all
ask example estimate hbf model=llama-70b policy=slipstream buffer=16MB -f tsv -c all --digits all
# The one policy of Fig. 16 without a published figure.
ask global-form estimate hbf model=@slipstream7 policy=cpu-assisted buffer=16MB,40MB -f tsv --digits all
ask global-sim simulate hbf model=@slipstream7 policy=cpu-assisted buffer=16MB,40MB -f tsv --digits all
# One sequence more than the published launches were traced with: the laws speak.
for model in llama-8b mistral-24b qwen2.5-32b deepseek-67b llama-70b qwen2.5-72b llama-405b; do
    ask "law-$model" explain hbf model="$model" policy=ideal batch=65 -f tsv --digits all
done

{
    "$program" --version | awk '{ printf "version\t%s\n", $NF; exit }'
    awk 'END { printf "hbf:policies\t%d\n", NR - 1 }' "$work/policies"
    awk 'END { printf "uvm:policies\t%d\n", NR - 1 }' "$work/uvm-policies"
    awk 'END { printf "prefetch:policies\t%d\n", NR - 1 }' "$work/prefetch-policies"
} > "$work/numbers"
for part in 'figures hbf' 'figures stream' 'parameters hbf' 'parameters stream' 'parameters uvm' \
    'parameters prefetch' uvm_figures uvm_sets uvm_fit uvm_random uvm_speedups prefetch_figures \
    'prefetch_errors paper14' 'prefetch_errors extra' prefetch_held_out prefetch_cliffs prefetch_gpus \
    serve_figures serve_assumptions planning planted answers means terms laws calibration; do
    $part >> "$work/numbers"
done
awk -F '\t' '{ printf "\\scnum{%s}{%s}\n", $1, $2 }' "$work/numbers" > "$folder/numbers.tex.new"
mv "$folder/numbers.tex.new" "$folder/numbers.tex"
