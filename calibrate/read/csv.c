/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * libcsv does the parsing.  It does not say where it is, so it is given one
 * physical line at a time: whatever it calls back about, the line is known,
 * and a record can end only where a piece ends.  That makes counting lines,
 * limiting records and stopping between two rows independent of how the file
 * was cut into blocks.
 */
#include "read/csv.h"

#include <csv.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* libcsv grows its buffer for one field by this much. */
enum { FIELD_GROWTH_BYTES = 4096 };

/* Capacity of the first allocation of a batch's arrays, in elements. */
enum { FIRST_CAPACITY = 256 };

/*
 * buffer[0..have) is what was read last; buffer[0..limit) of it is open for
 * parsing, up to pos it has been parsed.  limit stops at a NUL.
 */
struct sc_csv {
    FILE *file;
    struct csv_parser parser;
    size_t block_bytes, max_record_bytes;
    char delimiter, decimal;

    unsigned char *buffer;
    size_t have, limit, pos;
    size_t nul;              /* of the first NUL, `have` if none */
    size_t next_lf, next_cr; /* at or after pos, limit if none; else stale */
    bool exhausted;          /* the file gives no more */
    int system_errno;        /* why, 0 at the end of the file */

    size_t line;   /* of buffer[pos], 1-based */
    bool after_cr; /* a line feed at pos belongs to the line before */
    bool in_record;
    bool record_quoted; /* the record in progress starts with a quote */
    size_t record_bytes, record_line;
    size_t field_line; /* on which the field in progress starts */

    struct sc_csv_batch *batch;     /* being filled, else the header */
    size_t first_field, first_text; /* of the record in progress, in batch */
    bool no_memory;

    struct sc_csv_batch header;
    enum sc_csv_status state; /* of the next read, once the batch is full */
    struct sc_csv_error error;
};

static const char *const reasons[] = {
    [SC_CSV_OK] = "no error",
    [SC_CSV_END] = "end of the file",
    [SC_CSV_EMPTY] = "the file is empty; a header line was expected",
    [SC_CSV_EOPTION] = "an option of the reader has no meaning",
    [SC_CSV_ENOMEMORY] = "out of memory",
    [SC_CSV_EREAD] = "the file cannot be read",
    [SC_CSV_EUTF16] = "UTF-16 text; save as CSV UTF-8",
    [SC_CSV_ENUL] = "NUL byte; this is not a text file",
    [SC_CSV_EQUOTE_OPEN] = "the quote that opens here is never closed",
    [SC_CSV_EQUOTE_TEXT] = "text after a closing quote; a quote inside a "
                           "quoted field must be doubled",
    [SC_CSV_EQUOTE_BARE] = "a quote inside an unquoted field; quote the "
                           "whole field and double the quotes in it",
    [SC_CSV_ELONG] = "the record is longer than the limit",
};
_Static_assert(sizeof reasons / sizeof reasons[0] == SC_CSV_STATUSES,
               "every status has its reason");

const char *sc_csv_reason(enum sc_csv_status status)
{
    return (unsigned)status < SC_CSV_STATUSES ? reasons[status] : "unknown status";
}

static size_t minimum(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* --- batches ------------------------------------------------------------ */

/* The array with room for `needed` elements, or NULL and nothing changed. */
static void *array_grow(void *array, size_t *capacity, size_t needed, size_t element_bytes)
{
    size_t wanted = *capacity > 0 ? *capacity : FIRST_CAPACITY;
    void *grown;

    while (wanted < needed) {
        if (wanted > SIZE_MAX / 2)
            return NULL;
        wanted *= 2;
    }
    if (wanted > SIZE_MAX / element_bytes)
        return NULL;
    grown = realloc(array, wanted * element_bytes);
    if (grown != NULL)
        *capacity = wanted;
    return grown;
}

/* The texts stand one behind the other, so their places follow from lengths. */
static void batch_rebase(struct sc_csv_batch *batch)
{
    char *text = batch->text;

    for (size_t i = 0; i < batch->field_count; i++) {
        batch->fields[i].text = text;
        text += batch->fields[i].length + 1;
    }
}

/* Room for one more field of text_bytes with its NUL; false: no memory. */
static bool batch_reserve_field(struct sc_csv_batch *batch, size_t text_bytes)
{
    if (text_bytes > SIZE_MAX - batch->text_bytes)
        return false;
    if (batch->text_bytes + text_bytes > batch->text_capacity) {
        char *const text = array_grow(batch->text, &batch->text_capacity,
                                      batch->text_bytes + text_bytes, 1);

        if (text == NULL)
            return false;
        batch->text = text;
        batch_rebase(batch);
    }
    if (batch->field_count == batch->field_capacity) {
        struct sc_csv_field *const fields = array_grow(batch->fields, &batch->field_capacity,
                                                       batch->field_count + 1, sizeof *fields);

        if (fields == NULL)
            return false;
        batch->fields = fields;
    }
    return true;
}

static bool batch_reserve_row(struct sc_csv_batch *batch)
{
    struct sc_csv_row *rows;

    if (batch->row_count < batch->row_capacity)
        return true;
    rows = array_grow(batch->rows, &batch->row_capacity, batch->row_count + 1, sizeof *rows);
    if (rows == NULL)
        return false;
    batch->rows = rows;
    return true;
}

static void batch_clear(struct sc_csv_batch *batch)
{
    batch->row_count = batch->field_count = batch->text_bytes = 0;
}

void sc_csv_batch_fini(struct sc_csv_batch *batch)
{
    free(batch->rows);
    free(batch->fields);
    free(batch->text);
    *batch = (struct sc_csv_batch){ 0 };
}

/* --- what libcsv calls back --------------------------------------------- */

/* libcsv trims the blanks around fields that this calls blank: none. */
static int is_trimmed(unsigned char byte)
{
    (void)byte;
    return 0;
}

/* A field of the record in progress has ended; text[length] is NUL. */
static void field_end(void *text, size_t length, void *context)
{
    struct sc_csv *const reader = context;
    struct sc_csv_batch *const batch = reader->batch;
    char *copy;

    if (reader->no_memory || !batch_reserve_field(batch, length + 1)) {
        reader->no_memory = true;
        return;
    }
    copy = batch->text + batch->text_bytes;
    memcpy(copy, text, length + 1);
    batch->fields[batch->field_count++] = (struct sc_csv_field){ .text = copy, .length = length };
    batch->text_bytes += length + 1;
    reader->field_line = reader->line;
}

/* Take back what is in the batch of the record in progress. */
static void record_drop(struct sc_csv *reader)
{
    reader->batch->field_count = reader->first_field;
    reader->batch->text_bytes = reader->first_text;
    reader->in_record = false;
}

static bool record_is_blank(const struct sc_csv *reader, size_t field_count)
{
    const struct sc_csv_field *const field = &reader->batch->fields[reader->first_field];

    return field_count == 1 && !reader->record_quoted &&
           strspn(field->text, " \t") == field->length;
}

/* The record in progress has ended, by a line end or by the end of the file. */
static void record_end(int line_end, void *context)
{
    struct sc_csv *const reader = context;
    struct sc_csv_batch *const batch = reader->batch;
    const size_t field_count = batch->field_count - reader->first_field;

    (void)line_end;
    if (reader->no_memory)
        return;
    if (record_is_blank(reader, field_count)) {
        record_drop(reader);
        return;
    }
    if (!batch_reserve_row(batch)) {
        reader->no_memory = true;
        return;
    }
    batch->rows[batch->row_count++] = (struct sc_csv_row){
        .first_field = reader->first_field,
        .field_count = field_count,
        .line = reader->record_line,
    };
    reader->in_record = false;
}

/* --- faults -------------------------------------------------------------- */

/* Number of the field in progress; 1 between two records. */
static size_t column_now(const struct sc_csv *reader)
{
    return reader->in_record ? reader->batch->field_count - reader->first_field + 1 : 1;
}

/* Line on which the field in progress opened its quote, 0 if it has none. */
static size_t quote_line_now(const struct sc_csv *reader)
{
    return reader->in_record && reader->parser.quoted ? reader->field_line : 0;
}

/* Every fault goes through here; it ends the record in progress. */
static enum sc_csv_status fail(struct sc_csv *reader, enum sc_csv_status status, size_t line,
                               size_t column)
{
    reader->error.line = line;
    reader->error.column = column;
    reader->error.quote_line = quote_line_now(reader);
    reader->error.reason = sc_csv_reason(status);
    if (reader->in_record)
        record_drop(reader);
    return status;
}

static enum sc_csv_status fail_read(struct sc_csv *reader)
{
    fail(reader, SC_CSV_EREAD, reader->line, 0);
    reader->error.system_errno = reader->system_errno;
    if (reader->system_errno == EISDIR) {
        reader->error.line = 0;
        reader->error.reason = "this is a directory, not a file";
    }
    return SC_CSV_EREAD;
}

/* libcsv stopped at a byte of this line, or a callback ran out of memory. */
static enum sc_csv_status fail_parse(struct sc_csv *reader)
{
    if (reader->no_memory || csv_error(&reader->parser) != CSV_EPARSE)
        return fail(reader, SC_CSV_ENOMEMORY, reader->line, 0);
    return fail(reader, reader->parser.quoted ? SC_CSV_EQUOTE_TEXT : SC_CSV_EQUOTE_BARE,
                reader->line, column_now(reader));
}

/* --- blocks and lines --------------------------------------------------- */

/* Replace the buffer by the next `size` bytes, fewer at the end. */
static void buffer_read(struct sc_csv *reader, size_t size)
{
    const unsigned char *nul;

    errno = 0;
    reader->have = fread(reader->buffer, 1, size, reader->file);
    if (reader->have < size) {
        reader->exhausted = true;
        if (ferror(reader->file))
            reader->system_errno = errno != 0 ? errno : EIO;
    }
    nul = memchr(reader->buffer, '\0', reader->have);
    reader->nul = nul != NULL ? (size_t)(nul - reader->buffer) : reader->have;
    reader->pos = reader->limit = 0;
}

/* Open the next block of the buffer for parsing. */
static void block_open(struct sc_csv *reader)
{
    const size_t left = reader->nul - reader->pos;

    reader->limit = reader->pos + minimum(left, reader->block_bytes);
    reader->next_lf = reader->next_cr = SIZE_MAX;
}

/* Place of the byte in what is open from pos on, limit if it is not there. */
static size_t byte_find(const struct sc_csv *reader, int byte)
{
    const unsigned char *const found = memchr(reader->buffer + reader->pos, byte,
                                              reader->limit - reader->pos);

    return found != NULL ? (size_t)(found - reader->buffer) : reader->limit;
}

static bool is_stale(const struct sc_csv *reader, size_t place)
{
    return place < reader->pos || place > reader->limit;
}

/* Behind the line that starts at pos, its CR, LF or CRLF included; limit when
 * the line goes on in the next block. */
static size_t line_end_find(struct sc_csv *reader)
{
    size_t end;

    if (is_stale(reader, reader->next_lf))
        reader->next_lf = byte_find(reader, '\n');
    if (is_stale(reader, reader->next_cr))
        reader->next_cr = byte_find(reader, '\r');
    end = minimum(reader->next_lf, reader->next_cr);
    if (end == reader->limit)
        return end;
    if (end == reader->next_cr && reader->next_lf == end + 1 && reader->next_lf < reader->limit)
        end++;
    return end + 1;
}

/* Step over `bytes` of one line and count it if its end is among them. */
static void line_advance(struct sc_csv *reader, size_t bytes)
{
    const unsigned char last = reader->buffer[reader->pos + bytes - 1];
    const bool rest_of_crlf = last == '\n' && bytes == 1 && reader->after_cr;

    if (last == '\r' || (last == '\n' && !rest_of_crlf))
        reader->line++;
    reader->after_cr = last == '\r';
    reader->pos += bytes;
}

static void record_begin(struct sc_csv *reader, unsigned char first)
{
    reader->in_record = true;
    reader->record_quoted = first == '"';
    reader->record_line = reader->field_line = reader->line;
    reader->record_bytes = 0;
    reader->first_field = reader->batch->field_count;
    reader->first_text = reader->batch->text_bytes;
}

/* Parse what is open of the line at pos. */
static enum sc_csv_status line_parse(struct sc_csv *reader)
{
    const unsigned char *const start = reader->buffer + reader->pos;
    const size_t bytes = line_end_find(reader) - reader->pos;
    size_t room, taken;

    if (!reader->in_record) {
        if (*start == '\n' || *start == '\r') {
            line_advance(reader, bytes);
            return SC_CSV_OK;
        }
        record_begin(reader, *start);
    }
    room = reader->max_record_bytes - reader->record_bytes;
    taken = minimum(bytes, room);
    if (csv_parse(&reader->parser, start, taken, field_end, record_end, reader) < taken ||
        reader->no_memory)
        return fail_parse(reader);
    if (taken < bytes && reader->in_record)
        return fail(reader, SC_CSV_ELONG, reader->record_line, column_now(reader));
    reader->record_bytes += taken;
    line_advance(reader, taken);
    return SC_CSV_OK;
}

/* All of the file is parsed; the last record may lack its line end. */
static enum sc_csv_status file_end(struct sc_csv *reader)
{
    if (csv_fini(&reader->parser, field_end, record_end, reader) != 0)
        return fail(reader, SC_CSV_EQUOTE_OPEN, reader->field_line, column_now(reader));
    if (reader->no_memory)
        return fail(reader, SC_CSV_ENOMEMORY, reader->line, 0);
    return SC_CSV_END;
}

/* Parse up to the end of the next line or block. */
static enum sc_csv_status step(struct sc_csv *reader)
{
    if (reader->pos < reader->limit)
        return line_parse(reader);
    if (reader->pos < reader->nul) {
        block_open(reader);
        return SC_CSV_OK;
    }
    if (reader->pos < reader->have)
        return fail(reader, SC_CSV_ENUL, reader->line, column_now(reader));
    if (!reader->exhausted) {
        buffer_read(reader, reader->block_bytes);
        return SC_CSV_OK;
    }
    return reader->system_errno != 0 ? fail_read(reader) : file_end(reader);
}

enum sc_csv_status sc_csv_read(struct sc_csv *reader, struct sc_csv_batch *batch, size_t max_rows,
                               struct sc_csv_error *error)
{
    batch_clear(batch);
    if (max_rows == 0) {
        if (error != NULL)
            *error = (struct sc_csv_error){
                .name = reader->error.name,
                .reason = sc_csv_reason(SC_CSV_EOPTION),
            };
        return SC_CSV_EOPTION;
    }
    reader->batch = batch;
    while (reader->state == SC_CSV_OK && batch->row_count < max_rows &&
           (reader->in_record || batch->text_bytes < SC_CSV_BATCH_BYTES))
        reader->state = step(reader);
    reader->batch = &reader->header;
    if (batch->row_count > 0)
        return SC_CSV_OK;
    if (error != NULL && reader->state != SC_CSV_END)
        *error = reader->error;
    return reader->state;
}

/* --- finding out the dialect -------------------------------------------- */

/* The first line of text[0..length) that is not blank, else its end. */
static const char *header_find(const char *text, const char *end)
{
    const char *start = text;

    for (const char *c = text; c < end && strchr(" \r\n", *c) != NULL; c++) {
        if (*c != ' ')
            start = c + 1;
    }
    return start;
}

/* The delimiter that the header record has most of outside quotes. */
static char delimiter_find(const char *text, const char *end)
{
    /* Names hold commas more often than semicolons, and hardly ever tabs. */
    static const char candidates[] = "\t;,";
    size_t counts[sizeof candidates - 1] = { 0 };
    bool quoted = false;
    size_t best = sizeof candidates - 2;

    for (const char *c = header_find(text, end); c < end; c++) {
        const char *candidate;

        if (*c == '"')
            quoted = !quoted;
        if (quoted)
            continue;
        if (*c == '\n' || *c == '\r')
            break;
        candidate = strchr(candidates, *c);
        if (candidate != NULL)
            counts[candidate - candidates]++;
    }
    for (size_t i = sizeof candidates - 1; i-- > 0;) {
        if (counts[i] > 0 && counts[i] >= counts[best])
            best = i;
    }
    return candidates[best];
}

static const char *digits_skip(const char *text)
{
    return text + strspn(text, "0123456789");
}

/* Over an exponent like e-3, if there is one. */
static const char *exponent_skip(const char *text)
{
    const char *digits;

    if (*text != 'e' && *text != 'E')
        return text;
    digits = text + 1 + (text[1] == '-' || text[1] == '+');
    return digits_skip(digits) > digits ? digits_skip(digits) : text;
}

/* Over letters of any alphabet in UTF-8 and the signs that units have. */
static const char *unit_skip(const char *text)
{
    while ((*text & 0x80) != 0 || (*text >= 'a' && *text <= 'z') ||
           (*text >= 'A' && *text <= 'Z') || (*text != '\0' && strchr("/%*^", *text) != NULL))
        text++;
    return text;
}

/* The decimal sign of a number with a fraction, an exponent and a unit or not;
 * 0 for all other text. */
static char decimal_of(const char *text)
{
    const char *c = text + strspn(text, " ");
    const char *digits;
    char decimal;

    c += *c == '-' || *c == '+';
    digits = c;
    c = digits_skip(c);
    if (c == digits || (*c != '.' && *c != ','))
        return 0;
    decimal = *c++;
    digits = c;
    c = digits_skip(c);
    if (c == digits)
        return 0;
    c = exponent_skip(c);
    c = unit_skip(c + strspn(c, " "));
    return *c == '\0' ? decimal : 0;
}

struct sample {
    bool in_rows; /* the header has gone by */
    bool has_point, has_comma;
};

static void sample_field(void *text, size_t length, void *context)
{
    struct sample *const sample = context;
    const char decimal = decimal_of(text);

    (void)length;
    if (!sample->in_rows)
        return;
    sample->has_point = sample->has_point || decimal == '.';
    sample->has_comma = sample->has_comma || decimal == ',';
}

static void sample_row(int line_end, void *context)
{
    struct sample *const sample = context;

    (void)line_end;
    sample->in_rows = true;
}

/* Faults of the sample do not matter here: reading will come upon them. */
static char decimal_find(const struct sc_csv *reader, const char *text, const char *end)
{
    struct sample sample = { 0 };
    struct csv_parser parser;

    if (reader->delimiter == ',' || csv_init(&parser, CSV_APPEND_NULL) != 0)
        return '.';
    csv_set_delim(&parser, (unsigned char)reader->delimiter);
    csv_parse(&parser, text, (size_t)(end - text), sample_field, sample_row, &sample);
    if (reader->exhausted)
        csv_fini(&parser, sample_field, sample_row, &sample);
    csv_free(&parser);
    return sample.has_comma && !sample.has_point ? ',' : '.';
}

/* A UTF-16 byte order mark, or ASCII text in UTF-16 without one. */
static bool is_utf16(const unsigned char *bytes, size_t count)
{
    size_t nuls[2] = { 0, 0 };
    const size_t looked_at = minimum(count, 16) & ~(size_t)1;

    if (count >= 2 &&
        ((bytes[0] == 0xff && bytes[1] == 0xfe) || (bytes[0] == 0xfe && bytes[1] == 0xff)))
        return true;
    for (size_t i = 0; i < looked_at; i++)
        nuls[i % 2] += bytes[i] == 0;
    return looked_at >= 4 && nuls[0] + nuls[1] == looked_at / 2 && (nuls[0] == 0 || nuls[1] == 0);
}

/* Read the head of the file and settle the dialect. */
static enum sc_csv_status head_read(struct sc_csv *reader, const struct sc_csv_options *options)
{
    const char *const text = (const char *)reader->buffer;

    buffer_read(reader, SC_CSV_HEAD_BYTES);
    if (is_utf16(reader->buffer, reader->have))
        return fail(reader, SC_CSV_EUTF16, 1, 0);
    if (reader->have >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        reader->pos = reader->limit = 3;
    reader->delimiter = options->delimiter != 0
                            ? options->delimiter
                            : delimiter_find(text + reader->pos, text + reader->nul);
    reader->decimal = options->decimal != 0
                          ? options->decimal
                          : decimal_find(reader, text + reader->pos, text + reader->nul);
    csv_set_delim(&reader->parser, (unsigned char)reader->delimiter);
    if (reader->delimiter == reader->decimal) {
        fail(reader, SC_CSV_EOPTION, 0, 0);
        reader->error.reason = "the delimiter and the decimal sign are both a comma";
        return SC_CSV_EOPTION;
    }
    return SC_CSV_OK;
}

/* --- the reader's life --------------------------------------------------- */

static bool options_are_valid(const struct sc_csv_options *options)
{
    if (options->delimiter != 0 && strchr(",;\t|:", options->delimiter) == NULL)
        return false;
    return options->decimal == 0 || options->decimal == '.' || options->decimal == ',';
}

/* A reader that has not read; NULL without memory. */
static struct sc_csv *reader_new(FILE *file, const char *name, const struct sc_csv_options *options)
{
    struct sc_csv *const reader = calloc(1, sizeof *reader);
    size_t buffer_bytes = SC_CSV_HEAD_BYTES;

    if (reader == NULL)
        return NULL;
    reader->file = file;
    reader->error.name = name;
    reader->line = 1;
    reader->batch = &reader->header;
    reader->block_bytes = options->block_bytes != 0 ? options->block_bytes : SC_CSV_BLOCK_BYTES;
    reader->max_record_bytes = options->max_record_bytes != 0 ? options->max_record_bytes
                                                              : SC_CSV_MAX_RECORD_BYTES;
    if (reader->block_bytes > buffer_bytes)
        buffer_bytes = reader->block_bytes;
    reader->buffer = malloc(buffer_bytes);
    if (reader->buffer == NULL ||
        csv_init(&reader->parser, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL) != 0) {
        free(reader->buffer);
        free(reader);
        return NULL;
    }
    csv_set_space_func(&reader->parser, is_trimmed);
    csv_set_blk_size(&reader->parser, FIELD_GROWTH_BYTES);
    return reader;
}

/* Read the dialect and the header. */
static enum sc_csv_status reader_start(struct sc_csv *reader, const struct sc_csv_options *options,
                                       struct sc_csv_error *error)
{
    enum sc_csv_status status;

    status = head_read(reader, options);
    if (status == SC_CSV_OK)
        status = sc_csv_read(reader, &reader->header, 1, NULL);
    if (status == SC_CSV_END)
        status = fail(reader, SC_CSV_EMPTY, 0, 0);
    if (status != SC_CSV_OK)
        *error = reader->error;
    return status;
}

enum sc_csv_status sc_csv_create(struct sc_csv **reader, FILE *file, const char *name,
                                 const struct sc_csv_options *options, struct sc_csv_error *error)
{
    static const struct sc_csv_options defaults = { 0 };
    struct sc_csv_error fault = { .name = name };
    enum sc_csv_status status = SC_CSV_OK;
    struct sc_csv *made = NULL;

    if (options == NULL)
        options = &defaults;
    if (!options_are_valid(options)) {
        status = SC_CSV_EOPTION;
        fault.reason = sc_csv_reason(status);
        goto done;
    }
    made = reader_new(file, name, options);
    if (made == NULL) {
        status = SC_CSV_ENOMEMORY;
        fault.reason = sc_csv_reason(status);
        goto done;
    }
    status = reader_start(made, options, &fault);
done:
    if (status != SC_CSV_OK) {
        sc_csv_destroy(made);
        made = NULL;
        if (error != NULL)
            *error = fault;
    }
    *reader = made;
    return status;
}

void sc_csv_destroy(struct sc_csv *reader)
{
    if (reader == NULL)
        return;
    csv_free(&reader->parser);
    sc_csv_batch_fini(&reader->header);
    free(reader->buffer);
    free(reader);
}

const struct sc_csv_field *sc_csv_columns(const struct sc_csv *reader)
{
    return reader->header.fields;
}

size_t sc_csv_column_count(const struct sc_csv *reader)
{
    return reader->header.field_count;
}

size_t sc_csv_header_line(const struct sc_csv *reader)
{
    return reader->header.rows[0].line;
}

char sc_csv_delimiter(const struct sc_csv *reader)
{
    return reader->delimiter;
}

char sc_csv_decimal(const struct sc_csv *reader)
{
    return reader->decimal;
}

/* --- writing --------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

bool sc_csv_needs_quotes(const char *text, size_t length, char delimiter)
{
    if (length == 0)
        return false;
    for (size_t i = 0; i < length; i++) {
        const char c = text[i];

        if (c == delimiter || c == '"' || c == '\n' || c == '\r')
            return true;
    }
    return is_blank(text[0]) || is_blank(text[length - 1]);
}

size_t sc_csv_quote(char *out, const char *text, size_t length)
{
    const size_t room = out == NULL ? 0 : SIZE_MAX;

    /* csv_write would take an empty field without text for no field. */
    return csv_write(out, room, length > 0 ? text : "", length);
}
