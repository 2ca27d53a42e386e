/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "read/addresses.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "read/csv.h"
#include "read/whole.h"

enum {
    BLOCK_BYTES = 256 * 1024,
    CSV_ROWS = 1024,
    SHOWN = 40,         /* bytes of a bad value in a message */
    DECIMAL_DIGITS = 19, /* that cannot pass 2^64 */
    HEX_DIGITS = 16
};

enum kind { KIND_UNKNOWN, KIND_NUMBERS, KIND_NAMES };

struct sc_addresses {
    FILE *file;
    struct sc_addresses_options options;
    enum kind kind;
    size_t kind_line; /* of the value that told */
    size_t line;      /* of text: the next one's number is this + 1 */
    bool end;         /* nothing more comes from the file */
    bool failed;      /* after the values before a fault, the fault */
    struct sc_addresses_error fault;

    /* text and raw: what was taken in is from begin to end, whole lines from begin to whole */
    char *buffer;
    size_t capacity, begin, whole, filled;
    uint64_t taken_bytes; /* raw: before the buffer */

    struct sc_csv *csv;
    struct sc_csv_batch batch;
    size_t row, column;
};

/* ---- faults ---- */

static bool fail(struct sc_addresses *r, size_t line, const char *reason)
{
    r->failed = true;
    r->fault = (struct sc_addresses_error){ .line = line };
    (void)snprintf(r->fault.reason, sizeof r->fault.reason, "%s", reason);
    if (r->csv != NULL && line > 0)
        (void)snprintf(r->fault.column, sizeof r->fault.column, "%s",
                       sc_csv_columns(r->csv)[r->column].text);
    return false;
}

static bool fail_got(struct sc_addresses *r, size_t line, const char *expected, const char *text,
                     size_t length)
{
    char reason[sizeof r->fault.reason];
    (void)snprintf(reason, sizeof reason, "expected %s, got '%.*s'%s", expected,
                   length < SHOWN ? (int)length : SHOWN, text, length < SHOWN ? "" : " ...");
    return fail(r, line, reason);
}

/* ---- one value ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* FNV-1a over 8 bytes at a time, and a finalizer. */
static uint64_t hash_name(const char *text, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325U ^ length;
    for (size_t i = 0; i < length; i += 8) {
        uint64_t piece = 0;
        for (size_t b = 0; b < 8 && i + b < length; b++)
            piece |= (uint64_t)(unsigned char)text[i + b] << (8 * b);
        hash = (hash ^ piece) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 32U;
    }
    return hash * 0xd6e8feb86659fd93U;
}

static bool set_kind(struct sc_addresses *r, enum kind kind, size_t line, const char *text,
                     size_t length)
{
    char expected[80];
    if (r->kind == kind)
        return true;
    if (r->kind == KIND_UNKNOWN) {
        r->kind = kind;
        r->kind_line = line;
        return true;
    }
    (void)snprintf(expected, sizeof expected, "%s, as in line %zu",
                   r->kind == KIND_NAMES ? "a name" : "a number", r->kind_line);
    return fail_got(r, line, expected, text, length);
}

static bool read_number(struct sc_addresses *r, size_t line, const char *text, size_t length,
                        uint64_t *value)
{
    size_t used = 0;
    if (!sc_whole_read(text, length, value, &used))
        return fail_got(r, line, "a number below 2^64", text, length);
    if (used < length)
        return fail_got(r, line, "a whole number (hexadecimal after 0x)", text, length);
    return set_kind(r, KIND_NUMBERS, line, text, length);
}

/* Where the first blank, comma or semicolon is, or length. */
static size_t first_separator(const char *text, size_t length)
{
    size_t i = 0;
    while (i < length && !is_blank(text[i]) && text[i] != ',' && text[i] != ';')
        i++;
    return i;
}

/* A value without blanks around it. */
static bool read_value(struct sc_addresses *r, size_t line, const char *text, size_t length,
                       uint64_t *value)
{
    if (memchr(text, '\0', length) != NULL)
        return fail(r, line, "expected text, got a zero byte");
    if (r->csv == NULL && first_separator(text, length) < length)
        return fail_got(r, line, "one number or name in a line", text, length);
    if (is_digit(*text))
        return read_number(r, line, text, length, value);
    if ((*text == '-' || *text == '+') && length > 1 && (is_digit(text[1]) || text[1] == '.'))
        return fail_got(r, line, *text == '-' ? "no negative number" : "a number without a sign",
                        text, length);
    *value = hash_name(text, length);
    return set_kind(r, KIND_NAMES, line, text, length);
}

/* ---- blocks ---- */

/* More from the file behind what is left in the buffer.  False: it could not be read. */
static bool refill(struct sc_addresses *r)
{
    memmove(r->buffer, r->buffer + r->begin, r->filled - r->begin);
    r->filled -= r->begin;
    r->taken_bytes += r->begin;
    r->begin = 0;
    errno = 0;
    const size_t got = fread(r->buffer + r->filled, 1, r->capacity - r->filled, r->file);
    r->filled += got;
    if (got == 0 && ferror(r->file)) {
        char reason[128];
        (void)snprintf(reason, sizeof reason, "cannot be read: %s", strerror(errno));
        return fail(r, 0, reason);
    }
    r->end = got == 0;
    return true;
}

/* ---- text ---- */

static bool skip_mark(struct sc_addresses *r)
{
    const char *const b = r->buffer;
    if (r->filled >= 3 && memcmp(b, "\xEF\xBB\xBF", 3) == 0)
        r->begin = 3;
    if (r->filled >= 2 && (memcmp(b, "\xFF\xFE", 2) == 0 || memcmp(b, "\xFE\xFF", 2) == 0))
        return fail(r, 0, "is UTF-16 text; expected UTF-8");
    return true;
}

static bool fail_long(struct sc_addresses *r, size_t line)
{
    return fail(r, line, "expected a line of less than 64 KiB: is this a text?");
}

/* Whole lines into the buffer; none at the end.  The last one may lack its line feed. */
static bool take_lines(struct sc_addresses *r)
{
    const bool first = r->line == 0 && r->taken_bytes == 0 && r->filled == 0;
    do {
        if (r->filled - r->begin >= SC_ADDRESSES_LINE_MAX)
            return fail_long(r, r->line + 1);
        if (!refill(r))
            return false;
        while (first && r->filled < 3 && !r->end)
            if (!refill(r))
                return false;
        if (first && r->begin == 0 && r->taken_bytes == 0 && !skip_mark(r))
            return false;
        if (r->end && r->filled > r->begin)
            r->buffer[r->filled++] = '\n'; /* there is room for it */
        r->whole = r->filled;
        while (r->whole > r->begin && r->buffer[r->whole - 1] != '\n')
            r->whole--;
    } while (r->whole == r->begin && !r->end);
    return true;
}

/* A line as most are: a number and the end of the line.  Returns what follows, or NULL. */
static inline const char *read_plain(const char *p, uint64_t *value)
{
    const char *start = p;
    uint64_t v = 0;
    if (sc_is_hex_prefix(p)) {
        start = p += 2;
        for (unsigned digit; (digit = sc_hex_digit(*p)) < 16; p++)
            v = v << 4U | digit;
        if (p == start || p - start > HEX_DIGITS)
            return NULL;
    } else {
        for (unsigned digit; (digit = (unsigned)*p - '0') < 10; p++)
            v = v * 10 + digit;
        if (p == start || p - start > DECIMAL_DIGITS)
            return NULL;
    }
    *value = v;
    p += *p == '\r';
    return *p == '\n' ? p + 1 : NULL;
}

/* The line at `begin`, whatever it is; *count goes up if there is a value in it. */
static bool read_line(struct sc_addresses *r, uint64_t *value, size_t *count)
{
    const char *text = r->buffer + r->begin;
    const char *const next = (const char *)memchr(text, '\n', r->whole - r->begin) + 1;
    const char *last = next - 1;
    r->line++;
    r->begin = (size_t)(next - r->buffer);
    if (last - text >= SC_ADDRESSES_LINE_MAX)
        return fail_long(r, r->line);
    while (text < last && is_blank(*text))
        text++;
    while (last > text && is_blank(last[-1]))
        last--;
    if (text == last || *text == '#')
        return true;
    if (!read_value(r, r->line, text, (size_t)(last - text), value))
        return false;
    ++*count;
    return true;
}

static bool read_text(struct sc_addresses *r, uint64_t *value, size_t most, size_t *count)
{
    while (*count < most) {
        if (r->begin == r->whole && (r->end || !take_lines(r) || r->begin == r->whole))
            return !r->failed;
        if (r->kind == KIND_NUMBERS) {
            const char *p = r->buffer + r->begin;
            const char *const last = r->buffer + r->whole;
            const size_t before = *count;
            size_t n = before;
            for (const char *next; n < most && p < last && (next = read_plain(p, &value[n])) != NULL;
                 n++)
                p = next;
            *count = n;
            r->line += n - before;
            r->begin = (size_t)(p - r->buffer);
            if (n == most || p == last)
                continue;
        }
        if (!read_line(r, &value[*count], count))
            return false;
    }
    return true;
}

/* ---- raw ---- */

static bool read_raw(struct sc_addresses *r, uint64_t *value, size_t most, size_t *count)
{
    while (*count == 0 && !r->end) {
        if (r->filled - r->begin < sizeof *value && !refill(r))
            return false;
        const size_t whole = (r->filled - r->begin) / sizeof *value;
        *count = whole < most ? whole : most;
    }
    const unsigned char *const bytes = (const unsigned char *)r->buffer + r->begin;
    const uint16_t one = 1;
    if (*(const unsigned char *)&one == 1)
        memcpy(value, bytes, *count * sizeof *value);
    else
        for (size_t i = 0; i < *count; i++) {
            value[i] = 0;
            for (unsigned b = 0; b < sizeof *value; b++)
                value[i] |= (uint64_t)bytes[8 * i + b] << (8 * b);
        }
    r->begin += *count * sizeof *value;
    if (r->end && r->filled > r->begin) {
        char reason[128];
        const uint64_t at = r->taken_bytes + r->begin;
        (void)snprintf(reason, sizeof reason,
                       "expected numbers of 8 bytes each, got %zu bytes at byte %" PRIu64
                       ", its last",
                       r->filled - r->begin, at);
        return fail(r, 0, reason);
    }
    return true;
}

/* ---- CSV ---- */

static bool fail_csv(struct sc_addresses *r, const struct sc_csv_error *error)
{
    char reason[sizeof r->fault.reason];
    (void)snprintf(reason, sizeof reason, "%s%s%s", error->reason,
                   error->system_errno != 0 ? ": " : "",
                   error->system_errno != 0 ? strerror(error->system_errno) : "");
    r->failed = true;
    r->fault = (struct sc_addresses_error){ .line = error->line };
    memcpy(r->fault.reason, reason, sizeof reason);
    return false;
}

/* The names of the columns, for a message. */
static void list_columns(const struct sc_csv *csv, char *out, size_t size)
{
    size_t length = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sc_csv_column_count(csv) && length < size; i++) {
        const int added = snprintf(out + length, size - length, "%s%s", i > 0 ? ", " : "",
                                   sc_csv_columns(csv)[i].text);
        length += added > 0 ? (size_t)added : 0;
    }
}

static bool find_column(struct sc_addresses *r)
{
    const struct sc_csv_field *const columns = sc_csv_columns(r->csv);
    const size_t count = sc_csv_column_count(r->csv);
    char reason[sizeof r->fault.reason], names[160];
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        if (r->options.column == NULL || strcmp(columns[i].text, r->options.column) == 0) {
            r->column = i;
            found++;
        }
    if (found == 1 && is_digit(columns[r->column].text[0]) && r->options.column == NULL) {
        (void)fail_got(r, 0, "the name of the column", columns[r->column].text,
                       columns[r->column].length);
        r->fault.line = sc_csv_header_line(r->csv);
        return false;
    }
    if (found == 1)
        return true;
    list_columns(r->csv, names, sizeof names);
    (void)snprintf(reason, sizeof reason, "expected %s column %s%.60s%s, got %s",
                   found == 0 ? "a" : "one", r->options.column != NULL ? "'" : "by its name",
                   r->options.column != NULL ? r->options.column : "",
                   r->options.column != NULL ? "'" : "", names);
    (void)fail(r, 0, reason);
    r->fault.line = sc_csv_header_line(r->csv);
    return false;
}

static bool read_cell(struct sc_addresses *r, const struct sc_csv_row *row, uint64_t *value)
{
    if (r->column >= row->field_count)
        return fail(r, row->line, "expected a number or name, got nothing");
    const struct sc_csv_field *const field = &r->batch.fields[row->first_field + r->column];
    const char *text = field->text, *last = text + field->length;
    while (text < last && is_blank(*text))
        text++;
    while (last > text && is_blank(last[-1]))
        last--;
    if (text == last)
        return fail(r, row->line, "expected a number or name, got nothing");
    return read_value(r, row->line, text, (size_t)(last - text), value);
}

static bool read_csv(struct sc_addresses *r, uint64_t *value, size_t most, size_t *count)
{
    struct sc_csv_error error;
    while (*count < most && !r->end) {
        if (r->row == r->batch.row_count) {
            const enum sc_csv_status status = sc_csv_read(r->csv, &r->batch, CSV_ROWS, &error);
            r->row = 0;
            r->end = status == SC_CSV_END;
            if (status != SC_CSV_OK && status != SC_CSV_END)
                return fail_csv(r, &error);
            if (r->end)
                break;
        }
        if (!read_cell(r, &r->batch.rows[r->row], &value[*count]))
            return false;
        r->row++;
        ++*count;
    }
    return true;
}

/* ---- the reader ---- */

void sc_addresses_destroy(struct sc_addresses *reader)
{
    if (reader == NULL)
        return;
    free(reader->buffer);
    sc_csv_destroy(reader->csv);
    sc_csv_batch_fini(&reader->batch);
    free(reader);
}

static bool start(struct sc_addresses *r)
{
    struct sc_csv_error error;
    if (r->options.form == SC_ADDRESSES_CSV) {
        const struct sc_csv_options options = { .block_bytes = r->options.block_bytes };
        const enum sc_csv_status status = sc_csv_create(&r->csv, r->file, "", &options, &error);
        return status == SC_CSV_OK ? find_column(r) : fail_csv(r, &error);
    }
    /* A line and a block behind it, and a line feed. */
    r->capacity = r->options.block_bytes > 0 ? r->options.block_bytes : BLOCK_BYTES;
    r->capacity += r->options.form == SC_ADDRESSES_TEXT ? SC_ADDRESSES_LINE_MAX : sizeof(uint64_t);
    r->buffer = malloc(r->capacity + sizeof(uint64_t));
    return r->buffer != NULL || fail(r, 0, "needs more memory than there is");
}

bool sc_addresses_create(struct sc_addresses **reader, FILE *file,
                         const struct sc_addresses_options *options,
                         struct sc_addresses_error *error)
{
    struct sc_addresses *r = calloc(1, sizeof *r);
    *reader = NULL;
    if (r == NULL) {
        *error = (struct sc_addresses_error){ .reason = "needs more memory than there is" };
        return false;
    }
    r->file = file;
    r->options = *options;
    if (!start(r)) {
        *error = r->fault;
        sc_addresses_destroy(r);
        return false;
    }
    *reader = r;
    return true;
}

bool sc_addresses_read(struct sc_addresses *reader, uint64_t *value, size_t most, size_t *count,
                       struct sc_addresses_error *error)
{
    *count = 0;
    if (!reader->failed) {
        switch (reader->options.form) {
        case SC_ADDRESSES_TEXT:
            (void)read_text(reader, value, most, count);
            break;
        case SC_ADDRESSES_CSV:
            (void)read_csv(reader, value, most, count);
            break;
        case SC_ADDRESSES_RAW:
            (void)read_raw(reader, value, most, count);
            break;
        }
    }
    if (!reader->failed || *count > 0)
        return true;
    *error = reader->fault;
    return false;
}

bool sc_addresses_are_names(const struct sc_addresses *reader)
{
    return reader->kind == KIND_NAMES;
}
