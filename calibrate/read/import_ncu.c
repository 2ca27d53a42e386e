/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Nsight Compute, ncu --csv, among what the program and ncu itself print.
 *
 * Long: a line per metric, its last columns Metric Name, Metric Unit, Metric Value.  Summary: the
 * same with Minimum, Maximum, Average.  Wide (--page raw): a column per metric, and a row of
 * units below the header.  Numbers have commas between groups of digits, in quotes; without
 * quotes they cannot be told from separators, and the line is refused.
 */
#include <stdlib.h>
#include <string.h>

#include "read/import_private.h"

/* clang-format off */
enum {
    KERNEL, KERNEL_ID, INVOCATIONS, CTAS, THREADS_PER_CTA, DEVICE, CAPABILITY, FIRST_METRIC,
    TIME = FIRST_METRIC, CYCLES, CLOCK, DRAM_READ, DRAM_WRITE, DRAM_THROUGHPUT, COLUMNS
};

static const struct sc_import_column columns[] = {
    [KERNEL] = { .name = "kernel", .key = "Kernel Name", .help = "name of the kernel" },
    [KERNEL_ID] = { .name = "kernel_id", .key = "ID", .help = "number of the launch" },
    [INVOCATIONS] = { .name = "invocations", .key = "Invocations", .help = "launches that a summary is of" },
    [CTAS] = { .name = "ctas", .key = "Grid Size", .help = "thread blocks" },
    [THREADS_PER_CTA] = { .name = "threads_per_cta", .key = "Block Size", .help = "threads of each block" },
    [DEVICE] = { .name = "device", .key = "Device", .help = "number of the GPU" },
    [CAPABILITY] = { .name = "compute_capability", .key = "CC", .help = "of the GPU" },
    [TIME] = { .name = "time_s", .dimension = SC_SECONDS, .key = "gpu__time_duration.sum|Duration",
        .help = "time of the kernel" },
    [CYCLES] = { .name = "cycles", .dimension = SC_CYCLES, .key = "sm__cycles_elapsed.max|Elapsed Cycles",
        .help = "the same in cycles of the SMs" },
    [CLOCK] = { .name = "clock_Hz", .dimension = SC_HERTZ, .help = "of the SMs",
        .key = "SM Frequency|smsp__cycles_elapsed.avg.per_second|gpc__cycles_elapsed.avg.per_second" },
    [DRAM_READ] = { .name = "dram_read_bytes", .dimension = SC_BYTES, .key = "dram__bytes_read.sum",
        .help = "read from memory" },
    [DRAM_WRITE] = { .name = "dram_write_bytes", .dimension = SC_BYTES, .key = "dram__bytes_write.sum",
        .help = "written to memory" },
    [DRAM_THROUGHPUT] = { .name = "dram_throughput_bytes_per_s", .dimension = SC_BYTES_PER_SECOND,
        .key = "dram__bytes.sum.per_second", .help = "both, per second" },
};
/* clang-format on */

_Static_assert(SC_IMPORT_COUNT(columns) == COLUMNS, "a row for each column");

/* What tells the kernel of a line, and what in a wide row is no metric. */
static const char identity[] =
    "ID|Process ID|Process Name|Host Name|Kernel Name|Kernel Time|Context|Stream|Block Size|"
    "Grid Size|Device|CC|Invocations";
static const char key_with_id[] = "ID|Process ID|Host Name";
static const char key_without[] = "Process ID|Host Name|Kernel Name|Context|Stream|Block Size|"
                                  "Grid Size|Device";

enum { SHOWN = 80 };

struct table {
    struct sc_import *import;
    struct sc_fields line, header, units;
    bool found, quoted, wide, has_units, rows_seen;
    size_t id, name, unit, value, average, least, most; /* SIZE_MAX: not there */
    size_t row_line;                                    /* of the kernel being made; 0: none */
    char *signature;
    size_t signature_length, signature_capacity;
};

/* ---- metrics ---- */

static bool refuse_value(struct table *t, struct sc_piece metric, struct sc_piece value)
{
    sc_import_refuse(t->import, sc_import_line_number(t->import),
                     "%.*s: expected a number as 1,234.5, got '%.*s'",
                     metric.length < SHOWN ? (int)metric.length : SHOWN, metric.text,
                     value.length < SHOWN ? (int)value.length : SHOWN, value.text);
    return false;
}

/* False: the text has commas, but not where groups of digits have them. */
static bool is_sound(struct sc_piece value)
{
    double number = 0.0;
    return memchr(value.text, ',', value.length) == NULL || sc_piece_grouped(value, &number) ||
           !(*value.text >= '0' && *value.text <= '9') ||
           strspn(value.text, "0123456789.,") != value.length;
}

static void set_metric(struct table *t, struct sc_piece name, struct sc_piece unit,
                       struct sc_piece value)
{
    const struct sc_measure measure = sc_measure_of(unit, false);
    double number = 0.0;
    name = sc_piece_trim(name);
    value = sc_piece_trim(value);
    if (name.length == 0 || sc_piece_is_none(value))
        return;
    if (!is_sound(value)) {
        (void)refuse_value(t, name, value);
        return;
    }
    for (size_t i = FIRST_METRIC; i < COLUMNS; i++)
        if (sc_piece_is_one_of(name, columns[i].key) && measure.dimension == columns[i].dimension &&
            sc_piece_grouped(value, &number)) {
            sc_import_set(t->import, i, sc_scaled(number, measure.factor));
            return;
        }
    if (!sc_import_keeps_any(t->import) || sc_import_keeps(t->import, name))
        sc_import_set_measured(t->import, name, unit, false, value);
}

/* ---- the kernel that a line is of ---- */

static void set_identity(struct table *t)
{
    double number = 0.0;
    for (size_t i = 0; i < FIRST_METRIC; i++) {
        const size_t at = sc_fields_find(&t->header, columns[i].key);
        if (at == SIZE_MAX)
            continue;
        const struct sc_piece value = sc_piece_trim(t->line.field[at]);
        if (i == CTAS || i == THREADS_PER_CTA) {
            if (sc_piece_product(value, &number))
                sc_import_set(t->import, i, number);
        } else if (i == KERNEL || i == CAPABILITY || !sc_piece_grouped(value, &number)) {
            sc_import_set_text(t->import, i, value);
        } else {
            sc_import_set(t->import, i, number);
        }
    }
}

static bool add_signature(struct table *t, size_t *length, struct sc_piece part)
{
    if (*length + part.length + 1 > t->signature_capacity) {
        const size_t capacity = 2 * (*length + part.length + 1);
        char *grown = realloc(t->signature, capacity);
        if (grown == NULL)
            return sc_import_fail(t->import, 0, "out of memory");
        t->signature = grown;
        t->signature_capacity = capacity;
    }
    memcpy(t->signature + *length, part.text, part.length);
    t->signature[*length + part.length] = '\n';
    *length += part.length + 1;
    return true;
}

/* Whether the line is of the same kernel as the one before.  The new signature is made behind the
 * old one. */
static bool same_kernel(struct table *t)
{
    const char *const keys = t->id != SIZE_MAX ? key_with_id : key_without;
    const size_t old = t->signature_length;
    size_t length = old;
    for (size_t i = 0; i < t->header.count; i++)
        if (sc_piece_is_one_of(t->header.field[i], keys) &&
            !add_signature(t, &length, t->line.field[i]))
            return true;
    const size_t added = length - old;
    if (added == 0)
        return t->row_line > 0;
    const bool same = t->row_line > 0 && added == old &&
                      memcmp(t->signature, t->signature + old, added) == 0;
    memmove(t->signature, t->signature + old, added);
    t->signature_length = added;
    return same;
}

static void end_kernel(struct table *t)
{
    if (t->row_line > 0)
        sc_import_row(t->import, t->row_line);
    t->row_line = 0;
    t->signature_length = 0;
}

/* ---- lines ---- */

static void read_long(struct table *t)
{
    const struct sc_piece *const f = t->line.field;
    if (!same_kernel(t)) {
        if (t->row_line > 0)
            sc_import_row(t->import, t->row_line);
        t->row_line = sc_import_line_number(t->import);
        set_identity(t);
    }
    if (t->value != SIZE_MAX) {
        set_metric(t, f[t->name], f[t->unit], f[t->value]);
        return;
    }
    char name[256];
    const struct {
        size_t at;
        const char *what;
    } summary[] = { { t->least, "minimum" }, { t->most, "maximum" } };
    set_metric(t, f[t->name], f[t->unit], f[t->average]);
    for (size_t i = 0; i < SC_IMPORT_COUNT(summary); i++) {
        if (summary[i].at == SIZE_MAX || f[t->name].length == 0)
            continue;
        (void)snprintf(name, sizeof name, "%.*s %s",
                       f[t->name].length < 200 ? (int)f[t->name].length : 200, f[t->name].text,
                       summary[i].what);
        set_metric(t, sc_piece_of(name), f[t->unit], f[summary[i].at]);
    }
}

static void read_wide(struct table *t)
{
    static const struct sc_piece none = { "", 0 };
    if (t->id != SIZE_MAX && sc_piece_trim(t->line.field[t->id]).length == 0 && !t->rows_seen) {
        t->has_units = sc_fields_copy(t->import, &t->units, &t->line);
        return;
    }
    t->rows_seen = true;
    set_identity(t);
    for (size_t i = 0; i < t->header.count; i++)
        if (!sc_piece_is_one_of(t->header.field[i], identity))
            set_metric(t, t->header.field[i], t->has_units ? t->units.field[i] : none,
                       t->line.field[i]);
    sc_import_row(t->import, sc_import_line_number(t->import));
}

static bool take_header(struct table *t, bool quoted)
{
    end_kernel(t);
    if (!sc_fields_copy(t->import, &t->header, &t->line))
        return false;
    const struct sc_fields *const h = &t->header;
    t->found = true;
    t->quoted = quoted;
    t->has_units = t->rows_seen = false;
    t->id = sc_fields_find(h, "ID");
    t->name = sc_fields_find(h, "Metric Name");
    t->unit = sc_fields_find(h, "Metric Unit");
    t->value = sc_fields_find(h, "Metric Value");
    t->average = sc_fields_find(h, "Average");
    t->least = sc_fields_find(h, "Minimum");
    t->most = sc_fields_find(h, "Maximum");
    t->wide = t->name == SIZE_MAX;
    if (!t->wide && (t->unit == SIZE_MAX || (t->value == SIZE_MAX && t->average == SIZE_MAX)))
        return sc_import_fail(t->import, sc_import_line_number(t->import),
                              "expected columns Metric Unit and Metric Value or Average, got none");
    return true;
}

static bool may_be_header(struct sc_piece line)
{
    return sc_piece_find(line, "Kernel Name") != SIZE_MAX ||
           sc_piece_find(line, "Metric Name") != SIZE_MAX;
}

static bool refuse_fields(struct table *t)
{
    const size_t line = sc_import_line_number(t->import);
    if (t->line.count > t->header.count)
        sc_import_refuse(t->import, line,
                         "expected %zu fields, got %zu: commas within numbers that have no quotes "
                         "cannot be told from those between fields",
                         t->header.count, t->line.count);
    else
        sc_import_refuse(t->import, line, "expected %zu fields, got %zu%s", t->header.count,
                         t->line.count,
                         sc_import_line_is_cut(t->import) ? ": the line is cut" : "");
    return true;
}

static bool read_line(struct table *t, struct sc_piece line)
{
    if (line.length == 0 || sc_piece_starts(line, "=="))
        return true;
    const bool quoted = *line.text == '"';
    const bool digit = *line.text >= '0' && *line.text <= '9';
    if (may_be_header(line) && sc_fields_split(t->import, &t->line, line) &&
        (sc_fields_find(&t->line, "Kernel Name") != SIZE_MAX ||
         sc_fields_find(&t->line, "Metric Name") != SIZE_MAX))
        return take_header(t, quoted);
    /* Whatever else is there is what the program printed. */
    if (!t->found || (t->quoted ? !quoted : !digit && !quoted && *line.text != ','))
        return true;
    if (!sc_fields_split(t->import, &t->line, line)) {
        if (!sc_import_failed(t->import))
            sc_import_refuse(t->import, sc_import_line_number(t->import),
                             "expected a line of CSV, got one whose quotes do not close");
        return !sc_import_failed(t->import);
    }
    if (t->line.count != t->header.count)
        return refuse_fields(t);
    (t->wide ? read_wide : read_long)(t);
    return !sc_import_failed(t->import);
}

static bool read_ncu(struct sc_import *import)
{
    struct table t = { .import = import };
    struct sc_piece line;
    bool fine = true;
    while (fine && sc_import_line(import, &line))
        fine = read_line(&t, line);
    if (fine && !t.found)
        fine = sc_import_fail(import, 0,
                              "expected a header with the column Kernel Name, got none: "
                              "is it from ncu --csv?");
    if (fine)
        end_kernel(&t);
    sc_fields_fini(&t.line);
    sc_fields_fini(&t.header);
    sc_fields_fini(&t.units);
    free(t.signature);
    return fine;
}

static bool sniff(const char *head, size_t length)
{
    const struct sc_piece text = { head, length };
    return sc_piece_find(text, "\"Metric Name\",\"Metric Unit\"") != SIZE_MAX ||
           sc_piece_find(text, "Metric Name,Metric Unit") != SIZE_MAX ||
           (sc_piece_find(text, "Kernel Name") != SIZE_MAX &&
            (sc_piece_find(text, "__") != SIZE_MAX || sc_piece_find(text, "==PROF==") != SIZE_MAX));
}

const struct sc_import_kind sc_import_ncu = {
    .name = "ncu",
    .summary = "Nsight Compute, ncu --csv: details, raw or summary",
    .row = "a kernel launch, or all alike ones of a summary",
    .sniff = sniff,
    .columns = { { columns, COLUMNS } },
    .more = "every other metric as 'NAME (UNIT)', in SI units; of a summary the average, and NAME "
            "minimum and maximum; --keep limits them",
    .read = read_ncu,
};
