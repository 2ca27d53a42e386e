/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nvprof: kernels ("Profiling result") and unified memory ("Unified Memory profiling result"), as
 * tables with units glued to the numbers or as CSV with a row of units, among what the program
 * printed.  Its KB is 1024 B: 48 x 170.67KB are 8.000000MB.  Names of kernels come last and may
 * have commas without quotes. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "read/import_private.h"

/* clang-format off */
enum {
    DEVICE, KERNEL, CALLS, TIME_SHARE, TIME, MEAN, LEAST, MOST, CTAS, THREADS_PER_CTA, CPU_FAULTS,
    COLUMNS
};

static const struct sc_import_column columns[] = {
    [DEVICE] = { .name = "device", .key = "Device", .help = "GPU that unified memory moved to" },
    [KERNEL] = { .name = "kernel", .key = "Name", .help = "kernel or copy" },
    [CALLS] = { .name = "calls", .key = "Calls", .help = "launches" },
    [TIME_SHARE] = { .name = "time_share", .dimension = SC_SHARE, .key = "Time(%)", .help = "of all",
        .factor = 0.01 },
    [TIME] = { .name = "time_s", .dimension = SC_SECONDS, .key = "Time|Duration", .help = "all together" },
    [MEAN] = { .name = "mean_s", .dimension = SC_SECONDS, .key = "Avg", .help = "of one" },
    [LEAST] = { .name = "min_s", .dimension = SC_SECONDS, .key = "Min", .help = "shortest" },
    [MOST] = { .name = "max_s", .dimension = SC_SECONDS, .key = "Max", .help = "longest" },
    [CTAS] = { .name = "ctas", .key = "Grid X x Grid Y x Grid Z", .help = "thread blocks, of a trace" },
    [THREADS_PER_CTA] = { .name = "threads_per_cta", .key = "Block X x Block Y x Block Z",
        .help = "threads of each block, of a trace" },
    [CPU_FAULTS] = { .name = "cpu_page_faults", .key = "Total CPU Page faults", .help = "of the host" },
};
/* clang-format on */

_Static_assert(SC_IMPORT_COUNT(columns) == COLUMNS, "a row for each column");

enum { DEVICE_MAX = 128, SLUG_MAX = 64 };

enum section { NOWHERE, KERNELS, API, UNIFIED };

struct reader {
    struct sc_import *import;
    struct sc_pattern *transfer, *activity;
    struct sc_fields line, header, units;
    enum section section;
    bool csv, has_units;         /* within CSV, whose units have been read */
    char device[DEVICE_MAX];     /* whose row is being made, or "" */
    size_t device_line, devices; /* devices: ended in this run */
    bool known, any; /* known: a line that nvprof marks as its own was seen */
};

/* ---- unified memory ---- */

static void end_device(struct reader *r)
{
    if (r->device[0] == '\0')
        return;
    sc_import_set_text(r->import, DEVICE, sc_piece_of(r->device));
    sc_import_row(r->import, r->device_line);
    r->device[0] = '\0';
    r->devices++;
    r->any = true;
}

static void start_device(struct reader *r, struct sc_piece name)
{
    char text[DEVICE_MAX];
    (void)snprintf(text, sizeof text, "%.*s", (int)(name.length < 120 ? name.length : 120),
                   name.text);
    if (strcmp(text, r->device) == 0)
        return;
    end_device(r);
    memcpy(r->device, text, sizeof text);
    r->device_line = sc_import_line_number(r->import);
}

/* Faults of the host are of all devices: with one they stand in its row. */
static void set_faults(struct reader *r, double faults)
{
    if (r->device[0] == '\0' || r->devices > 0) {
        end_device(r);
        (void)snprintf(r->device, sizeof r->device, "host");
        r->device_line = sc_import_line_number(r->import);
    }
    sc_import_set(r->import, CPU_FAULTS, faults);
    end_device(r);
    r->devices = 0;
}

/* "Gpu page fault groups" -> gpu_page_fault_groups */
static void make_slug(char out[static SLUG_MAX], struct sc_piece name)
{
    size_t length = 0;
    for (; length < name.length && length < SLUG_MAX - 1; length++) {
        const unsigned char c = (unsigned char)name.text[length];
        out[length] = (char)(isalnum(c) ? tolower(c) : '_');
    }
    out[length] = '\0';
}

/* A number with its unit behind it, or in that unit. */
static double quantity(struct sc_piece value, struct sc_piece unit)
{
    double number = 0.0;
    struct sc_piece rest;
    if (!sc_piece_number(value, &number, &rest))
        return (double)NAN;
    const struct sc_measure measure = sc_measure_of(rest.length > 0 ? rest : unit, true);
    return measure.si != NULL ? sc_scaled(number, measure.factor) : (double)NAN;
}

/* Count, sizes (mean, least, most, total) and time of one kind of transfer, as sc_pieces. */
static void set_transfer(struct reader *r, const struct sc_piece value[static 6],
                         const struct sc_piece unit[static 6], struct sc_piece name)
{
    static const struct {
        const char *suffix;
        enum sc_dimension dimension;
    } cells[] = { { "count", SC_NUMBER },    { "bytes_mean", SC_BYTES }, { "bytes_min", SC_BYTES },
                  { "bytes_max", SC_BYTES }, { "bytes", SC_BYTES },      { "s", SC_SECONDS } };
    char slug[SLUG_MAX], column[SLUG_MAX + 16];
    double count = 0.0;
    make_slug(slug, sc_piece_trim(name));
    for (size_t i = 0; i < SC_IMPORT_COUNT(cells); i++) {
        (void)snprintf(column, sizeof column, "%s_%s", slug, cells[i].suffix);
        const double number = i > 0                                ? quantity(value[i], unit[i])
                              : sc_piece_grouped(value[0], &count) ? count
                                                                   : (double)NAN;
        if (!isnan(number))
            sc_import_set_named(r->import, sc_piece_of(column), cells[i].dimension, number);
    }
}

/* "48  170.67KB  4.0000KB  0.9961MB  8.000000MB  843.8660us  Host To Device" */
static void read_transfer(struct reader *r, struct sc_piece line)
{
    static const struct sc_piece none[6] = { { "", 0 }, { "", 0 }, { "", 0 },
                                             { "", 0 }, { "", 0 }, { "", 0 } };
    struct sc_piece value[6];
    if (r->device[0] == '\0' || !sc_pattern_matches(r->transfer, line))
        return;
    for (unsigned i = 0; i < 6; i++)
        value[i] = sc_pattern_group(r->transfer, line, i + 1);
    set_transfer(r, value, none, sc_pattern_group(r->transfer, line, 7));
}

/* ---- kernels ---- */

/* "GPU activities:  100.00%  3.2557ms  1  3.2557ms  3.2557ms  3.2557ms  add(int, float*)" */
static void read_activity(struct reader *r, struct sc_piece line)
{
    static const struct sc_piece none = { "", 0 };
    static const size_t times[] = { TIME, MEAN, LEAST, MOST };
    static const unsigned groups[] = { 3, 5, 6, 7 };
    double number = 0.0;
    if (!sc_pattern_matches(r->activity, line))
        return;
    const struct sc_piece type = sc_pattern_group(r->activity, line, 1);
    if (type.length > 0)
        r->section = sc_piece_is(type, "API calls") ? API : KERNELS;
    if (r->section == API)
        return;
    if (sc_piece_number(sc_pattern_group(r->activity, line, 2), &number, NULL))
        sc_import_set(r->import, TIME_SHARE, sc_scaled(number, columns[TIME_SHARE].factor));
    if (sc_piece_grouped(sc_pattern_group(r->activity, line, 4), &number))
        sc_import_set(r->import, CALLS, number);
    for (size_t i = 0; i < SC_IMPORT_COUNT(times); i++)
        sc_import_set(r->import, times[i],
                      quantity(sc_pattern_group(r->activity, line, groups[i]), none));
    sc_import_set_text(r->import, KERNEL, sc_piece_trim(sc_pattern_group(r->activity, line, 8)));
    sc_import_row(r->import, sc_import_line_number(r->import));
    r->any = true;
}

/* ---- CSV ---- */

static struct sc_piece unit_at(const struct reader *r, size_t i)
{
    static const struct sc_piece none = { "", 0 };
    return r->has_units && i < r->units.count ? r->units.field[i] : none;
}

/* Fields beyond the header are of the name, which is last. */
static void join_name(struct reader *r, struct sc_piece line)
{
    const size_t last = r->header.count - 1;
    if (r->line.count <= r->header.count)
        return;
    size_t commas = 0, at = 0;
    bool quoted = false;
    while (at < line.length && commas < last) {
        quoted = quoted != (line.text[at] == '"');
        commas += !quoted && line.text[at] == ',';
        at++;
    }
    r->line.field[last] = sc_piece_after(line, at);
    r->line.count = r->header.count;
}

static void read_transfer_row(struct reader *r)
{
    static const char *const names[] = { "Count",    "Avg Size",   "Min Size",
                                         "Max Size", "Total Size", "Total Time" };
    struct sc_piece value[6], unit[6];
    const size_t device = sc_fields_find(&r->header, "Device");
    for (size_t i = 0; i < SC_IMPORT_COUNT(names); i++) {
        const size_t at = sc_fields_find(&r->header, names[i]);
        value[i] = at != SIZE_MAX ? r->line.field[at] : (struct sc_piece){ "", 0 };
        unit[i] = at != SIZE_MAX ? unit_at(r, at) : (struct sc_piece){ "", 0 };
    }
    if (device != SIZE_MAX)
        start_device(r, r->line.field[device]);
    set_transfer(r, value, unit, r->line.field[r->header.count - 1]);
}

static void set_product(struct reader *r, size_t column, const char *const names[static 3])
{
    double product = 1.0, number = 0.0;
    for (size_t i = 0; i < 3; i++) {
        const size_t at = sc_fields_find(&r->header, names[i]);
        if (at == SIZE_MAX || !sc_piece_grouped(r->line.field[at], &number))
            return;
        product *= number;
    }
    sc_import_set(r->import, column, product);
}

static void read_kernel_row(struct reader *r)
{
    static const char *const grid[] = { "Grid X", "Grid Y", "Grid Z" };
    static const char *const block[] = { "Block X", "Block Y", "Block Z" };
    double number = 0.0;
    const size_t type = sc_fields_find(&r->header, "Type");
    if (type != SIZE_MAX && sc_piece_is(r->line.field[type], "API calls"))
        return;
    for (size_t f = 0; f < r->header.count; f++)
        for (size_t i = DEVICE; i < CTAS; i++) {
            const struct sc_piece value = sc_piece_trim(r->line.field[f]);
            if (!sc_piece_is_one_of(r->header.field[f], columns[i].key))
                continue;
            if (i == DEVICE || i == KERNEL)
                sc_import_set_text(r->import, i, value);
            else if (columns[i].dimension == SC_SECONDS)
                sc_import_set(r->import, i, quantity(value, unit_at(r, f)));
            else if (sc_piece_grouped(value, &number))
                sc_import_set(r->import, i,
                              sc_scaled(number, columns[i].factor > 0.0 ? columns[i].factor : 1.0));
        }
    set_product(r, CTAS, grid);
    set_product(r, THREADS_PER_CTA, block);
    sc_import_row(r->import, sc_import_line_number(r->import));
    r->any = true;
}

/* A row without a name has units. */
static bool read_csv_row(struct reader *r, struct sc_piece line)
{
    if (r->line.count < r->header.count) {
        sc_import_refuse(r->import, sc_import_line_number(r->import),
                         "expected %zu fields, got %zu", r->header.count, r->line.count);
        return true;
    }
    join_name(r, line);
    if (r->line.field[r->header.count - 1].length == 0) {
        r->has_units = sc_fields_copy(r->import, &r->units, &r->line);
        return r->has_units;
    }
    (r->section == UNIFIED ? read_transfer_row : read_kernel_row)(r);
    return !sc_import_failed(r->import);
}

static bool read_csv(struct reader *r, struct sc_piece line)
{
    if (memchr(line.text, ',', line.length) == NULL)
        return true;
    if (!sc_fields_split(r->import, &r->line, line))
        return !sc_import_failed(r->import);
    const size_t name = sc_fields_find(&r->line, "Name");
    if (name != SIZE_MAX && name + 1 == r->line.count) {
        r->csv = true;
        r->has_units = false;
        return sc_fields_copy(r->import, &r->header, &r->line);
    }
    return !r->csv || r->line.count < 2 || read_csv_row(r, line);
}

/* ---- lines ---- */

/* "==PID== ...": the head of a section, or talk. */
static void read_head(struct reader *r, struct sc_piece line)
{
    if (sc_piece_find(line, "Unified Memory profiling result") != SIZE_MAX) {
        end_device(r);
        r->devices = 0;
        r->section = UNIFIED;
    } else if (sc_piece_find(line, "Profiling result") != SIZE_MAX) {
        end_device(r);
        r->section = KERNELS;
    } else {
        return;
    }
    r->csv = false;
}

static bool read_line(struct reader *r, struct sc_piece line)
{
    static const char faults[] = "Total CPU Page faults:", device[] = "Device \"";
    struct sc_piece rest;
    double number = 0.0;
    line = sc_piece_trim(line);
    if (sc_piece_starts(line, "==")) {
        r->known = true;
        read_head(r, line);
    } else if (sc_piece_starts(line, faults)) {
        if (sc_piece_number(sc_piece_after(line, strlen(faults)), &number, NULL))
            set_faults(r, number);
    } else if (r->section == UNIFIED && sc_piece_starts(line, device)) {
        start_device(r, sc_piece_until(sc_piece_after(line, strlen(device)), '"', &rest));
    } else if (r->section != NOWHERE && (r->csv || (line.length > 0 && *line.text == '"'))) {
        return read_csv(r, line);
    } else if (r->section == UNIFIED) {
        read_transfer(r, line);
    } else if (r->section != NOWHERE) {
        read_activity(r, line);
    }
    return !sc_import_failed(r->import);
}

static bool read_nvprof(struct sc_import *import)
{
    char reason[SC_IMPORT_REASON];
    struct reader r = { .import = import };
    struct sc_piece line;
    r.transfer = sc_pattern_create(
        "^([\\d,]+)\\s+(\\S+)\\s+(\\S+)\\s+(\\S+)\\s+(\\S+)\\s+(\\S+)\\s+(\\S.*)$", reason);
    r.activity = sc_pattern_create(
        "^(?:(GPU activities|API calls):)?\\s*([\\d.]+)%\\s+(\\S+)\\s+(\\d+)"
        "\\s+(\\S+)\\s+(\\S+)\\s+(\\S+)\\s+(\\S.*)$",
        reason);
    bool fine = (r.transfer != NULL && r.activity != NULL) ||
                sc_import_fail(import, 0, "%s", reason);
    while (fine && sc_import_line(import, &line))
        fine = read_line(&r, line);
    if (fine)
        end_device(&r);
    if (fine && r.known && !r.any)
        sc_import_refuse(import, 0, "has no row of kernels or of unified memory");
    sc_fields_fini(&r.line);
    sc_fields_fini(&r.header);
    sc_fields_fini(&r.units);
    sc_pattern_destroy(r.transfer);
    sc_pattern_destroy(r.activity);
    return fine;
}

static bool sniff(const char *head, size_t length)
{
    static const char *const signs[] = { "Unified Memory profiling result", "NVPROF is profiling",
                                         "Profiling result:", "Total CPU Page faults:" };
    const struct sc_piece text = { head, length };
    for (size_t i = 0; i < SC_IMPORT_COUNT(signs); i++)
        if (sc_piece_find(text, signs[i]) != SIZE_MAX)
            return true;
    return false;
}

const struct sc_import_kind sc_import_nvprof = {
    .name = "nvprof",
    .summary = "nvprof: kernels and unified memory, tables or CSV",
    .row = "a kernel; of unified memory a device",
    .sniff = sniff,
    .columns = { { columns, COLUMNS } },
    .more = "X_count, X_bytes, X_bytes_mean, X_bytes_min, X_bytes_max and X_s of each kind of "
            "transfer: host_to_device, device_to_host, gpu_page_fault_groups, ...",
    .read = read_nvprof,
};
