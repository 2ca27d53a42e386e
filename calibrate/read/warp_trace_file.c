/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "read/warp_trace_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "prefetch_workload.h"
#include "read/csv.h"
#include "read/whole.h"

enum {
    ROWS = 1024,
    SHOWN = 40, /* bytes of a bad value in a message */
    CTA_X_BITS = 31,
    CTA_YZ_BITS = 16,
    LANE_BYTES = 4
};

enum { WARP_LANES = 32 };
enum column { CTA, WARP, PC, OP, ADDRESS, BYTES, COMPUTE, DEPENDENCE, COLUMNS };

static const struct {
    const char *name;
    bool optional;
} columns[COLUMNS] = {
    [CTA] = { "cta", true },
    [WARP] = { "warp", false },
    [PC] = { "pc", false },
    [OP] = { "op", false },
    [ADDRESS] = { "address", false },
    [BYTES] = { "bytes", true },
    [COMPUTE] = { "compute", true },
    [DEPENDENCE] = { "dependence", true },
};

/* Regions of zeros are no instruction. */
enum { ZERO = SC_WARP_EXIT + 1 };

static const struct operation {
    const char *name;
    int op;
} operations[] = {
    { "load", SC_WARP_LOAD },       { "store", SC_WARP_STORE }, { "barrier", SC_WARP_BARRIER },
    { "exit", SC_WARP_EXIT },       { "zero", ZERO },           { "ld", SC_WARP_LOAD },
    { "ldg", SC_WARP_LOAD },        { "ldl", SC_WARP_LOAD },    { "st", SC_WARP_STORE },
    { "stg", SC_WARP_STORE },       { "stl", SC_WARP_STORE },   { "red", SC_WARP_STORE },
    { "bar", SC_WARP_BARRIER },
};

/* What machine code says behind a point of the bytes of a lane. */
static const struct width {
    const char *name;
    unsigned bytes;
} widths[] = {
    { "u8", 1 }, { "s8", 1 }, { "u16", 2 }, { "s16", 2 }, { "64", 8 }, { "128", 16 }, { "256", 32 },
};

struct word {
    const char *text;
    size_t length;
};

struct reading {
    struct sc_csv *csv;
    struct sc_csv_batch batch;
    size_t place[COLUMNS]; /* in the file; SIZE_MAX: missing */
    struct sc_warp_trace *trace;
    struct sc_warp_trace_error *error;
    size_t line;           /* of the row */
    struct word cell[COLUMNS];
    uint64_t address[SC_WARP_TRACE_LANES];
    size_t lanes;
};

/* ---- faults ---- */

static bool __attribute__((format(printf, 4, 5)))
refuse(struct reading *r, size_t line, const char *column, const char *format, ...)
{
    va_list arguments;
    r->error->line = line;
    (void)snprintf(r->error->column, sizeof r->error->column, "%s", column);
    va_start(arguments, format);
    (void)vsnprintf(r->error->reason, sizeof r->error->reason, format, arguments);
    va_end(arguments);
    return false;
}

static bool refuse_word(struct reading *r, enum column column, struct word word,
                        const char *expected)
{
    if (word.length == 0)
        return refuse(r, r->line, columns[column].name, "expected %s, got nothing", expected);
    return refuse(r, r->line, columns[column].name, "expected %s, got '%.*s'%s", expected,
                  word.length < SHOWN ? (int)word.length : SHOWN, word.text,
                  word.length < SHOWN ? "" : " ...");
}

static bool refuse_cell(struct reading *r, enum column column, const char *expected)
{
    return refuse_word(r, column, r->cell[column], expected);
}

static bool refuse_csv(struct reading *r, const struct sc_csv_error *error)
{
    const bool system = error->system_errno != 0;
    return refuse(r, error->line, "", "%s%s%s", error->reason, system ? ": " : "",
                  system ? strerror(error->system_errno) : "");
}

static bool refuse_fault(struct reading *r, enum sc_warp_fault fault)
{
    switch (fault) {
    case SC_WARP_ENDED:
        return refuse_cell(r, OP, "nothing of a warp that has exited");
    case SC_WARP_WRAPS:
        return refuse_cell(r, ADDRESS, "bytes below 2^64");
    case SC_WARP_WIDE:
        return refuse_cell(r, ADDRESS, "at most 128 sectors of 32 bytes");
    case SC_WARP_NAMES:
        return refuse_cell(r, PC, "at most 256 different loads");
    case SC_WARP_ACCESSES:
        return refuse(r, r->line, "", "expected at most %d instructions and %d lines that they "
                                      "touch, got more: leave in the CTAs of one SM",
                      SC_WARP_TRACE_ACCESSES, SC_WARP_TRACE_PARTS);
    case SC_WARP_NO_MEMORY:
    case SC_WARP_FINE:
        break;
    }
    return refuse(r, r->line, "", "needs more memory than there is");
}

/* ---- header ---- */

static size_t find_column(const struct word *name)
{
    size_t i = 0;
    while (i < COLUMNS && (strlen(columns[i].name) != name->length ||
                           memcmp(columns[i].name, name->text, name->length) != 0))
        i++;
    return i;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct word trimmed(const struct sc_csv_field *field)
{
    struct word w = { field->text, field->length };
    for (; w.length > 0 && is_blank(*w.text); w.length--)
        w.text++;
    while (w.length > 0 && is_blank(w.text[w.length - 1]))
        w.length--;
    return w;
}

/* A column that is not known might be a slip of one that is. */
static bool read_header(struct reading *r)
{
    const size_t line = sc_csv_header_line(r->csv);
    for (size_t i = 0; i < COLUMNS; i++)
        r->place[i] = SIZE_MAX;
    for (size_t i = 0; i < sc_csv_column_count(r->csv); i++) {
        const struct word name = trimmed(&sc_csv_columns(r->csv)[i]);
        const size_t column = find_column(&name);
        if (column == COLUMNS)
            return refuse(r, line, "", "expected the columns cta, warp, pc, op, address, bytes, "
                                       "compute, dependence, got '%.*s'",
                          name.length < SHOWN ? (int)name.length : SHOWN, name.text);
        if (r->place[column] != SIZE_MAX)
            return refuse(r, line, columns[column].name, "expected one such column, got two");
        r->place[column] = i;
    }
    for (size_t i = 0; i < COLUMNS; i++)
        if (!columns[i].optional && r->place[i] == SIZE_MAX)
            return refuse(r, line, columns[i].name, "expected such a column, got none");
    return true;
}

/* ---- cells ---- */

static bool read_whole(struct reading *r, enum column column, struct word word, uint64_t low,
                       uint64_t high, uint64_t *value)
{
    size_t used = 0;
    char expected[80];
    if (sc_whole_read(word.text, word.length, value, &used) && used == word.length && used > 0 &&
        *value >= low && *value <= high)
        return true;
    (void)snprintf(expected, sizeof expected, "a whole number from %" PRIu64 " to %" PRIu64, low,
                   high);
    return refuse_word(r, column, word, expected);
}

/* The same of a cell that may be empty. */
static bool read_optional(struct reading *r, enum column column, uint64_t low, uint64_t high,
                          uint64_t fallback, uint64_t *value)
{
    *value = fallback;
    return r->cell[column].length == 0 || read_whole(r, column, r->cell[column], low, high, value);
}

/* x, x,y or x,y,z as one number that orders them: z first. */
static bool read_cta(struct reading *r, uint64_t *cta)
{
    static const unsigned bits[] = { CTA_X_BITS, CTA_YZ_BITS, CTA_YZ_BITS };
    static const unsigned shift[] = { 0, 32, 48 };
    struct word rest = r->cell[CTA];
    *cta = 0;
    if (r->place[CTA] == SIZE_MAX)
        return true;
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++) {
        const char *comma = rest.length > 0 ? memchr(rest.text, ',', rest.length) : NULL;
        const size_t length = comma != NULL ? (size_t)(comma - rest.text) : rest.length;
        uint64_t number;
        size_t used;
        if (!sc_whole_read(rest.text, length, &number, &used) || used == 0 || used < length ||
            number >> bits[i] != 0)
            break;
        *cta |= number << shift[i];
        if (comma == NULL)
            return true;
        rest = (struct word){ comma + 1, rest.length - length - 1 };
    }
    return refuse_cell(r, CTA, "the number of a CTA, x or x,y,z below 2^31, 2^16 and 2^16");
}

static bool same_word(struct word word, const char *name)
{
    return strlen(name) == word.length && strncasecmp(name, word.text, word.length) == 0;
}

/* The part of a word up to its first point; the word then is what follows. */
static struct word take_part(struct word *word)
{
    const char *point = word->length > 0 ? memchr(word->text, '.', word->length) : NULL;
    const struct word part = { word->text,
                               point != NULL ? (size_t)(point - word->text) : word->length };
    const size_t taken = part.length + (point != NULL);
    *word = (struct word){ word->text + taken, word->length - taken };
    return part;
}

static bool read_op(struct reading *r, int *op, unsigned *lane_bytes)
{
    struct word rest = r->cell[OP];
    const struct word name = take_part(&rest);
    size_t found = 0;
    while (found < sizeof operations / sizeof operations[0] &&
           !same_word(name, operations[found].name))
        found++;
    if (found == sizeof operations / sizeof operations[0])
        return refuse_cell(r, OP, "load, store, barrier, exit or zero (or LD, LDG, LDL, ST, STG, "
                                  "STL, RED, BAR)");
    *op = operations[found].op;
    while (rest.length > 0) {
        const struct word part = take_part(&rest);
        for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
            if (same_word(part, widths[i].name))
                *lane_bytes = widths[i].bytes;
    }
    return true;
}

/* ---- addresses ---- */

/* base, or base + stride x 0 .. lanes - 1. */
static bool add_lanes(struct reading *r, struct word word, uint64_t base, uint64_t stride,
                      bool down, uint64_t lanes)
{
    for (uint64_t i = 0; i < lanes; i++) {
        uint64_t offset, address;
        if (r->lanes == SC_WARP_TRACE_LANES)
            return refuse_cell(r, ADDRESS, "at most 128 addresses");
        if (__builtin_mul_overflow(stride, i, &offset) ||
            (down ? __builtin_sub_overflow(base, offset, &address)
                  : __builtin_add_overflow(base, offset, &address)))
            return refuse_word(r, ADDRESS, word, "addresses from 0 to 2^64 - 1");
        r->address[r->lanes++] = address;
    }
    return true;
}

/* BASE or BASE+STRIDE*LANES.  More addresses than a warp has lanes, one by one, are the sectors
 * that a written trace lists. */
static bool read_lanes(struct reading *r, struct word word, uint64_t most)
{
    static const char expected[] = "addresses, as 0x1f00 or 0x1f00+4*32";
    uint64_t base, stride, lanes;
    size_t at, used;
    if (!sc_whole_read(word.text, word.length, &base, &at) || at == 0)
        return refuse_word(r, ADDRESS, word, expected);
    if (at == word.length)
        return add_lanes(r, word, base, 0, false, 1);
    const bool down = word.text[at] == '-';
    if (!down && word.text[at] != '+')
        return refuse_word(r, ADDRESS, word, expected);
    at++;
    if (!sc_whole_read(word.text + at, word.length - at, &stride, &used) || used == 0 ||
        at + used >= word.length || word.text[at + used] != '*')
        return refuse_word(r, ADDRESS, word, expected);
    at += used + 1;
    if (!sc_whole_read(word.text + at, word.length - at, &lanes, &used) || lanes == 0 ||
        at + used < word.length)
        return refuse_word(r, ADDRESS, word, expected);
    if (lanes > most)
        return refuse_word(r, ADDRESS, word, "at most 32 lanes, those of a warp");
    return add_lanes(r, word, base, stride, down, lanes);
}

static bool read_addresses(struct reading *r, uint64_t most)
{
    struct word rest = r->cell[ADDRESS];
    r->lanes = 0;
    if (rest.length == 0)
        return refuse_cell(r, ADDRESS, "an address");
    while (rest.length > 0) {
        struct word word = { rest.text, 0 };
        while (word.length < rest.length && !is_blank(rest.text[word.length]))
            word.length++;
        if (word.length > 0 && !read_lanes(r, word, most))
            return false;
        const size_t taken = word.length + (word.length < rest.length);
        rest = (struct word){ rest.text + taken, rest.length - taken };
    }
    return true;
}

/* ---- rows ---- */

static bool refuse_filled(struct reading *r, enum column column)
{
    return r->cell[column].length == 0 || refuse_cell(r, column, "nothing");
}

static bool read_zeros(struct reading *r)
{
    uint64_t bytes;
    for (int i = 0; i < COLUMNS; i++)
        if (i != OP && i != ADDRESS && i != BYTES && !refuse_filled(r, (enum column)i))
            return false;
    if (!read_addresses(r, SC_WARP_TRACE_LANES) ||
        !read_whole(r, BYTES, r->cell[BYTES], 1, UINT64_MAX, &bytes))
        return false;
    for (size_t i = 0; i < r->lanes; i++) {
        const uint64_t last = r->address[i] + (bytes - 1);
        const enum sc_warp_fault fault =
            last < r->address[i] ? SC_WARP_WRAPS
                                 : sc_warp_trace_add_zeros(r->trace, r->address[i], last);
        if (fault != SC_WARP_FINE)
            return refuse_fault(r, fault);
    }
    return true;
}

/* Where a load stands, as text. */
static bool read_name(struct reading *r, char name[static SC_WARP_TRACE_NAME])
{
    const struct word pc = r->cell[PC];
    if (pc.length == 0 || pc.length >= SC_WARP_TRACE_NAME)
        return refuse_cell(r, PC, "1 to 63 bytes that tell which load it is");
    memcpy(name, pc.text, pc.length);
    name[pc.length] = '\0';
    return true;
}

static bool read_touched(struct reading *r, struct sc_warp_instruction *in, unsigned width,
                         char name[static SC_WARP_TRACE_NAME])
{
    uint64_t bytes, dependence = 0;
    if (in->op == SC_WARP_LOAD &&
        (!read_name(r, name) ||
         !read_optional(r, DEPENDENCE, 1, SC_WARP_TRACE_DEPENDENCE, 0, &dependence)))
        return false;
    if (!read_addresses(r, WARP_LANES) ||
        !read_optional(r, BYTES, 1, SC_WARP_TRACE_LANE_BYTES, width, &bytes))
        return false;
    in->name = name;
    in->address = r->address;
    in->lanes = r->lanes;
    in->lane_bytes = (unsigned)bytes;
    in->dependence = (uint16_t)dependence;
    return true;
}

static bool read_row(struct reading *r)
{
    struct sc_warp_instruction in = { .lane_bytes = 1 };
    char name[SC_WARP_TRACE_NAME];
    uint64_t warp, compute;
    unsigned width = LANE_BYTES;
    int op = ZERO;
    if (!read_op(r, &op, &width))
        return false;
    if (op == ZERO)
        return read_zeros(r);
    in.op = (enum sc_warp_op)op;
    const bool touches = in.op == SC_WARP_LOAD || in.op == SC_WARP_STORE;
    if (!read_cta(r, &in.cta) ||
        !read_whole(r, WARP, r->cell[WARP], 0, SC_WARP_TRACE_WARPS - 1, &warp) ||
        !read_optional(r, COMPUTE, 0, SC_WARP_TRACE_COMPUTE, touches ? SC_WARP_TRACE_UNTOLD : 0,
                       &compute))
        return false;
    in.warp = (unsigned)warp;
    in.compute = (uint32_t)compute;
    if (touches ? !read_touched(r, &in, width, name)
                : !refuse_filled(r, ADDRESS) || !refuse_filled(r, BYTES))
        return false;
    if (in.op != SC_WARP_LOAD && !refuse_filled(r, DEPENDENCE))
        return false;
    const enum sc_warp_fault fault = sc_warp_trace_add(r->trace, &in);
    return fault == SC_WARP_FINE || refuse_fault(r, fault);
}

static bool read_batch(struct reading *r)
{
    for (size_t i = 0; i < r->batch.row_count; i++) {
        const struct sc_csv_row *row = &r->batch.rows[i];
        r->line = row->line;
        if (row->field_count > sc_csv_column_count(r->csv))
            return refuse(r, row->line, "", "expected %zu cells, got %zu",
                          sc_csv_column_count(r->csv), row->field_count);
        for (size_t c = 0; c < COLUMNS; c++)
            r->cell[c] = r->place[c] < row->field_count
                             ? trimmed(&r->batch.fields[row->first_field + r->place[c]])
                             : (struct word){ "", 0 };
        if (!read_row(r))
            return false;
    }
    return true;
}

static bool read_rows(struct reading *r)
{
    struct sc_csv_error error;
    enum sc_csv_status status;
    while ((status = sc_csv_read(r->csv, &r->batch, ROWS, &error)) == SC_CSV_OK)
        if (!read_batch(r))
            return false;
    if (status != SC_CSV_END)
        return refuse_csv(r, &error);
    r->line = 0;
    if (r->trace->loads == 0)
        return refuse(r, 0, "", "expected at least one load, got none");
    return sc_warp_trace_finish(r->trace) == SC_OK || refuse_fault(r, SC_WARP_NO_MEMORY);
}

bool sc_warp_trace_read(struct sc_warp_trace **trace, FILE *file, size_t block_bytes,
                        struct sc_warp_trace_error *error)
{
    const struct sc_csv_options options = { .block_bytes = block_bytes };
    struct reading r = { .error = error, .trace = sc_warp_trace_create() };
    struct sc_csv_error fault;
    *error = (struct sc_warp_trace_error){ 0 };
    bool fine = r.trace != NULL || refuse_fault(&r, SC_WARP_NO_MEMORY);
    fine = fine && (sc_csv_create(&r.csv, file, "", &options, &fault) == SC_CSV_OK ||
                    refuse_csv(&r, &fault));
    fine = fine && read_header(&r) && read_rows(&r);
    sc_csv_destroy(r.csv);
    sc_csv_batch_fini(&r.batch);
    if (!fine)
        sc_warp_trace_destroy(r.trace);
    *trace = fine ? r.trace : NULL;
    return fine;
}

/* ---- writing ---- */

static const char *const op_names[] = { [SC_WARP_LOAD] = "load", [SC_WARP_STORE] = "store",
                                        [SC_WARP_BARRIER] = "barrier", [SC_WARP_EXIT] = "exit" };

static bool write_cta(uint64_t cta, FILE *file)
{
    const uint64_t x = cta & UINT32_MAX, y = cta >> 32 & UINT16_MAX, z = cta >> 48;
    if (y == 0 && z == 0)
        return fprintf(file, "%" PRIu64, x) >= 0;
    return fprintf(file, "\"%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\"", x, y, z) >= 0;
}

static bool write_name(const char *name, FILE *file)
{
    char quoted[2 * SC_WARP_TRACE_NAME + 2];
    const size_t length = strlen(name);
    if (!sc_csv_needs_quotes(name, length, ','))
        return fputs(name, file) >= 0;
    const size_t bytes = sc_csv_quote(quoted, name, length);
    return fwrite(quoted, 1, bytes, file) == bytes;
}

/* Whole sectors in a row, the first address at their start: one lane that takes them all. */
static bool is_run(const struct sc_warp_trace *t, const struct sc_warp_access *a)
{
    const uint64_t sector = a->address / SC_PREFETCH_SECTOR;
    unsigned next = 0;
    if (a->address % SC_PREFETCH_SECTOR != 0 ||
        a->sectors * SC_PREFETCH_SECTOR > SC_WARP_TRACE_LANE_BYTES)
        return false;
    for (unsigned i = 0; i < a->parts; i++)
        for (unsigned k = 0; k < SC_PREFETCH_SECTORS; k++)
            if ((t->parts[a->part + i] >> k & 1) != 0 &&
                (t->parts[a->part + i] >> SC_PREFETCH_SECTORS) * SC_PREFETCH_SECTORS + k !=
                    sector + next++)
                return false;
    return true;
}

/* The address and bytes cells: a lane of a byte for each sector, unless one lane does. */
static bool write_touched(const struct sc_warp_trace *t, const struct sc_warp_access *a, FILE *file)
{
    if (fprintf(file, "0x%" PRIx64, a->address) < 0)
        return false;
    if (is_run(t, a))
        return fprintf(file, ",%d", a->sectors * SC_PREFETCH_SECTOR) >= 0;
    for (unsigned i = 0; i < a->parts; i++)
        for (unsigned k = 0; k < SC_PREFETCH_SECTORS; k++) {
            const uint64_t part = t->parts[a->part + i];
            const uint64_t sector = (part >> SC_PREFETCH_SECTORS) * SC_PREFETCH_SECTORS + k;
            if ((part >> k & 1) != 0 && sector != a->address / SC_PREFETCH_SECTOR &&
                fprintf(file, " 0x%" PRIx64, sector * SC_PREFETCH_SECTOR) < 0)
                return false;
        }
    return fputs(",1", file) >= 0;
}

static bool write_access(const struct sc_warp_trace *t, const struct sc_warp_stream *stream,
                         const struct sc_warp_access *a, FILE *file)
{
    const bool touches = a->parts > 0;
    if (!write_cta(stream->cta, file) || fprintf(file, ",%" PRIu32 ",", stream->warp) < 0)
        return false;
    if (a->op == SC_WARP_LOAD && !write_name(t->names[a->load], file))
        return false;
    if (fprintf(file, ",%s,", op_names[a->op]) < 0 ||
        !(touches ? write_touched(t, a, file) : fputc(',', file) >= 0) || fputc(',', file) < 0)
        return false;
    if (a->compute != SC_WARP_TRACE_UNTOLD && fprintf(file, "%" PRIu32, a->compute) < 0)
        return false;
    if (fputc(',', file) < 0)
        return false;
    if (a->dependence > 0 && fprintf(file, "%d", a->dependence) < 0)
        return false;
    return fputc('\n', file) >= 0;
}

static bool write_stream(const struct sc_warp_trace *t, const struct sc_warp_stream *stream,
                         FILE *file)
{
    for (uint32_t k = stream->first; k != SC_WARP_TRACE_NONE; k = t->accesses[k].next)
        if (!write_access(t, stream, &t->accesses[k], file))
            return false;
    const struct sc_warp_access end = { .op = SC_WARP_EXIT, .compute = stream->compute };
    return !stream->ended || write_access(t, stream, &end, file);
}

/* All that there is would be 2^64 bytes: in two halves. */
static bool write_zeros(const struct sc_warp_zeros *z, FILE *file)
{
    const uint64_t most = UINT64_C(1) << 58;
    uint64_t left = z->last - z->first + 1, first = z->first;
    while (left > 0) {
        const uint64_t sectors = left < most ? left : most;
        if (fprintf(file, ",,,zero,0x%" PRIx64 ",%" PRIu64 ",,\n", first * SC_PREFETCH_SECTOR,
                    sectors * SC_PREFETCH_SECTOR) < 0)
            return false;
        first += sectors;
        left -= sectors;
    }
    return true;
}

bool sc_warp_trace_write(const struct sc_warp_trace *t, FILE *file)
{
    for (size_t i = 0; i < COLUMNS; i++)
        if (fprintf(file, "%s%c", columns[i].name, i + 1 < COLUMNS ? ',' : '\n') < 0)
            return false;
    for (size_t i = 0; i < t->stream_count; i++)
        if (!write_stream(t, &t->streams[i], file))
            return false;
    for (size_t i = 0; i < t->zero_count; i++)
        if (!write_zeros(&t->zeros[i], file))
            return false;
    return true;
}
