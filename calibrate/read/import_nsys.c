/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nsight Systems, nsys stats: summaries of kernels, copies and unified memory, as CSV or as text
 * tables, whose columns are as wide as the dashes below the header.  Reports have been renamed
 * over the years; the table has the new names. */
#include <string.h>

#include "read/import_private.h"

/* clang-format off */
enum {
    REPORT, KERNEL, COUNT, TIME_SHARE, TIME, MEAN, MEDIAN, LEAST, MOST, DEVIATION, BYTES,
    TO_DEVICE, TO_HOST, CPU_FAULTS, GPU_FAULTS, COLUMNS
};

static const struct sc_import_column columns[] = {
    [REPORT] = { .name = "report", .key = "-", .help = "of nsys" },
    [KERNEL] = { .name = "kernel", .key = "Name|Operation", .help = "kernel or copy" },
    [COUNT] = { .name = "count", .key = "Instances|Count|Num Calls|Operations", .help = "how many" },
    [TIME_SHARE] = { .name = "time_share", .dimension = SC_SHARE, .key = "Time (%)|Time(%)",
        .help = "of all in the report" },
    [TIME] = { .name = "time_s", .dimension = SC_SECONDS, .key = "Total Time|Duration", .help = "all together" },
    [MEAN] = { .name = "mean_s", .dimension = SC_SECONDS, .key = "Avg|Average", .help = "of one" },
    [MEDIAN] = { .name = "median_s", .dimension = SC_SECONDS, .key = "Med|Median", .help = "of one" },
    [LEAST] = { .name = "min_s", .dimension = SC_SECONDS, .key = "Min|Minimum", .help = "shortest" },
    [MOST] = { .name = "max_s", .dimension = SC_SECONDS, .key = "Max|Maximum", .help = "longest" },
    [DEVIATION] = { .name = "deviation_s", .dimension = SC_SECONDS, .key = "StdDev", .help = "standard deviation" },
    [BYTES] = { .name = "bytes", .dimension = SC_BYTES, .key = "Total", .help = "copied" },
    [TO_DEVICE] = { .name = "host_to_device_bytes", .dimension = SC_BYTES,
        .key = "Total HtoD Migration Size|HtoD Migration Size", .help = "migrated" },
    [TO_HOST] = { .name = "device_to_host_bytes", .dimension = SC_BYTES,
        .key = "Total DtoH Migration Size|DtoH Migration Size", .help = "migrated" },
    [CPU_FAULTS] = { .name = "cpu_page_faults",
        .key = "Total CPU Page Faults|CPU Page Faults|Total CPU PageFaults", .help = "of the CPU" },
    [GPU_FAULTS] = { .name = "gpu_page_faults",
        .key = "Total GPU PageFaults|Total GPU Page Faults|GPU PageFaults|GPU Page Faults", .help = "of the GPU" },
};
/* clang-format on */

_Static_assert(SC_IMPORT_COUNT(columns) == COLUMNS, "a row for each column");

static const struct {
    const char *old, *now;
} reports[] = { { "unifiedmemorytotals", "um_total_sum" },
                { "unifiedmemory", "um_sum" },
                { "umcpupagefaults", "um_cpu_page_faults_sum" },
                { "gpukernsum", "cuda_gpu_kern_sum" },
                { "gpumemtimesum", "cuda_gpu_mem_time_sum" },
                { "gpumemsizesum", "cuda_gpu_mem_size_sum" },
                { "cudaapisum", "cuda_api_sum" },
                { "gputrace", "cuda_gpu_trace" } };

/* The first column of the reports that are read. */
static const char firsts[] = "Time|Total|Total Time|Total HtoD Migration Size|Virtual Address|"
                             "Start|CPU Page Faults";

struct reader {
    struct sc_import *import;
    struct sc_fields line, header, before;
    struct sc_pattern *title;
    char report[64];
    bool in_table, text;
    size_t *from, *to; /* of the columns of a text table */
    bool known, any; /* known: a title, a header or a remark of nsys was seen */
};

enum { TEXT_COLUMNS = 64, OLD_TIME_EXPONENT = 9 };

static void set_report(struct reader *r, struct sc_piece name)
{
    (void)snprintf(r->report, sizeof r->report, "%.*s", (int)(name.length < 60 ? name.length : 60),
                   name.text);
    for (size_t i = 0; i < SC_IMPORT_COUNT(reports); i++)
        if (strcmp(r->report, reports[i].old) == 0)
            (void)snprintf(r->report, sizeof r->report, "%s", reports[i].now);
}

/* ---- cells ---- */

/* Before units stood in the header, times were in ns. */
static bool fits(const struct sc_import_column *column, struct sc_piece unit, double *factor)
{
    const struct sc_measure measure = sc_measure_of(unit, false);
    *factor = measure.factor;
    if (column->dimension == SC_SECONDS && unit.length == 0) {
        *factor = 1e-9;
        return true;
    }
    if (column->dimension == SC_SHARE)
        *factor = 0.01;
    return column->dimension == SC_SHARE || measure.dimension == column->dimension;
}

static void set_cell(struct reader *r, struct sc_piece header, struct sc_piece value)
{
    struct sc_piece name;
    const struct sc_piece unit = sc_header_unit(header, &name);
    double number = 0.0, factor = 1.0;
    value = sc_piece_trim(value);
    if (value.length == 0 || sc_piece_is_none(value))
        return;
    if (sc_piece_is_one_of(name, columns[KERNEL].key)) {
        sc_import_set_text(r->import, KERNEL, value);
        return;
    }
    for (size_t i = COUNT; i < COLUMNS; i++) {
        const struct sc_piece key = i == TIME_SHARE ? sc_piece_trim(header) : name;
        if (!sc_piece_is_one_of(key, columns[i].key) || !fits(&columns[i], unit, &factor) ||
            !sc_piece_grouped(value, &number))
            continue;
        sc_import_set(r->import, i, sc_scaled(number, factor));
        return;
    }
    sc_import_set_measured(r->import, name, unit, false, value);
}

static void end_row(struct reader *r)
{
    sc_import_set_text(r->import, REPORT, sc_piece_of(r->report));
    sc_import_row(r->import, sc_import_line_number(r->import));
    r->any = true;
}

/* ---- tables ---- */

static bool is_header(struct sc_piece first)
{
    struct sc_piece name;
    (void)sc_header_unit(first, &name);
    return sc_piece_is_one_of(name, firsts);
}

static void start_table(struct reader *r, bool text)
{
    struct sc_piece name;
    r->in_table = r->known = true;
    r->text = text;
    (void)sc_header_unit(r->header.field[0], &name);
    if (r->report[0] == '\0' && sc_piece_is(name, "Total HtoD Migration Size"))
        set_report(r, sc_piece_of("um_total_sum"));
}

/* Columns begin and end where the groups of dashes do. */
static bool take_dashes(struct reader *r, struct sc_piece dashes, struct sc_piece above)
{
    struct sc_fields names = { .count = 0 };
    struct sc_piece fields[TEXT_COLUMNS];
    for (size_t i = 0; i < dashes.length; i++) {
        if (dashes.text[i] != '-')
            continue;
        size_t end = i;
        while (end < dashes.length && dashes.text[end] == '-')
            end++;
        if (names.count == TEXT_COLUMNS)
            return true;
        r->from[names.count] = i;
        r->to[names.count] = end;
        const struct sc_piece rest = sc_piece_after(above, i);
        fields[names.count++] = sc_piece_trim(
            (struct sc_piece){ rest.text, rest.length < end - i ? rest.length : end - i });
        i = end;
    }
    names.field = fields;
    if (names.count < 2 || !is_header(fields[0]))
        return true;
    if (!sc_fields_copy(r->import, &r->header, &names))
        return false;
    start_table(r, true);
    return true;
}

static bool is_dashes(struct sc_piece line)
{
    const struct sc_piece trimmed = sc_piece_trim(line);
    return trimmed.length > 0 && *trimmed.text == '-' &&
           strspn(trimmed.text, "- ") >= trimmed.length;
}

/* The last column may be longer than its dashes. */
static void read_text_row(struct reader *r, struct sc_piece line)
{
    for (size_t i = 0; i < r->header.count; i++) {
        const size_t from = i == 0 ? 0 : r->to[i - 1];
        const struct sc_piece rest = sc_piece_after(line, from);
        const size_t length = i + 1 == r->header.count ? rest.length : r->to[i] - from;
        set_cell(r, r->header.field[i],
                 (struct sc_piece){ rest.text, length < rest.length ? length : rest.length });
    }
    end_row(r);
}

static bool read_csv_row(struct reader *r)
{
    if (r->line.count != r->header.count) {
        sc_import_refuse(r->import, sc_import_line_number(r->import),
                         "expected %zu fields, got %zu%s", r->header.count, r->line.count,
                         r->line.count > r->header.count
                             ? ": commas within numbers that have no quotes cannot be told from "
                               "those between fields"
                             : "");
        return true;
    }
    for (size_t i = 0; i < r->header.count; i++)
        set_cell(r, r->header.field[i], r->line.field[i]);
    end_row(r);
    return true;
}

/* ---- lines ---- */

/* What stands between tables.  True: it was such a line. */
static bool read_between(struct reader *r, struct sc_piece line)
{
    if (sc_piece_starts(line, "SKIPPED:")) {
        sc_import_note(r->import, sc_import_line_number(r->import), "%.*s",
                       line.length < 200 ? (int)line.length : 200, line.text);
        r->in_table = false;
        r->known = true;
        return true;
    }
    if (!sc_pattern_matches(r->title, line))
        return false;
    r->in_table = false;
    r->known = true;
    for (unsigned group = 1; group <= 3; group++) {
        const struct sc_piece name = sc_pattern_group(r->title, line, group);
        if (name.length > 0)
            set_report(r, name);
    }
    return true;
}

static bool read_line(struct reader *r, struct sc_piece line)
{
    if (sc_piece_trim(line).length == 0 || sc_piece_is(sc_piece_trim(line), "...")) {
        r->in_table = false;
        return true;
    }
    if (read_between(r, line))
        return true;
    if (is_dashes(line))
        return r->before.count == 0 || take_dashes(r, line, r->before.field[0]);
    if (r->in_table && r->text) {
        read_text_row(r, line);
        return true;
    }
    const struct sc_fields whole = { .field = &line, .count = 1 };
    if (!sc_fields_copy(r->import, &r->before, &whole))
        return false;
    if (memchr(line.text, ',', line.length) == NULL)
        return true;
    if (!sc_fields_split(r->import, &r->line, line)) {
        if (r->in_table && !sc_import_failed(r->import))
            sc_import_refuse(r->import, sc_import_line_number(r->import),
                             "expected a line of CSV, got one whose quotes do not close");
        return !sc_import_failed(r->import);
    }
    if (r->line.count > 1 && is_header(r->line.field[0])) {
        if (!sc_fields_copy(r->import, &r->header, &r->line))
            return false;
        start_table(r, false);
        return true;
    }
    return !r->in_table || read_csv_row(r);
}

static bool read_nsys(struct sc_import *import)
{
    char reason[SC_IMPORT_REASON];
    size_t from[TEXT_COLUMNS], to[TEXT_COLUMNS];
    struct reader r = { .import = import, .from = from, .to = to };
    struct sc_piece line;
    r.title = sc_pattern_create(
        "Executing '(\\w+)'|^Processing .* with \\[.*?([\\w-]+)\\.py|^ ?\\*\\* .*\\((\\w+)\\):",
        reason);
    bool fine = r.title != NULL || sc_import_fail(import, 0, "%s", reason);
    while (fine && sc_import_line(import, &line))
        fine = read_line(&r, line) && !sc_import_failed(import);
    if (fine && r.known && !r.any)
        sc_import_refuse(import, 0, "has no row of a report that is read");
    sc_fields_fini(&r.line);
    sc_fields_fini(&r.header);
    sc_fields_fini(&r.before);
    sc_pattern_destroy(r.title);
    return fine;
}

static bool sniff(const char *head, size_t length)
{
    static const char *const signs[] = { "Migration Size (MB)", "Total Time (ns)",
                                         "Migration Size",      "nsys stats",
                                         "Time(%),Total Time",  ".nsys-rep" };
    const struct sc_piece text = { head, length };
    for (size_t i = 0; i < SC_IMPORT_COUNT(signs); i++)
        if (sc_piece_find(text, signs[i]) != SIZE_MAX)
            return true;
    return false;
}

const struct sc_import_kind sc_import_nsys = {
    .name = "nsys",
    .summary = "Nsight Systems, nsys stats: CSV or text",
    .row = "a kernel, a copy, or the whole for unified memory",
    .sniff = sniff,
    .columns = { { columns, COLUMNS } },
    .more = "every other column of a report as 'NAME (UNIT)', in SI units",
    .read = read_nsys,
};
