/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fuzz target of the CSV reader, for libFuzzer.
 *
 * The first bytes of the input choose dialect, limit and block sizes, the rest
 * is the file, or its end: half of all files start with as many blank lines as
 * take the reader past the head that it reads in one piece.  Checked: two block
 * sizes give the same rows and the same fault; what was read, written again
 * with quotes where they are needed, reads the same.
 */
#include "read/csv.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* One open text. */
struct side {
    FILE *file;
    struct sc_csv *reader;
    struct sc_csv_batch batch;
    struct sc_csv_error error;
    enum sc_csv_status status;
};

static void side_init(struct side *side, const char *text, size_t length,
                      const struct sc_csv_options *options)
{
    *side = (struct side){ .file = fmemopen((void *)(uintptr_t)text, length, "rb") };
    require(side->file != NULL);
    side->status = sc_csv_create(&side->reader, side->file, "fuzz", options, &side->error);
    require((side->status == SC_CSV_OK) == (side->reader != NULL));
    if (side->reader != NULL)
        require(sc_csv_column_count(side->reader) > 0);
}

static void side_read(struct side *side, size_t max_rows)
{
    side->status = sc_csv_read(side->reader, &side->batch, max_rows, &side->error);
    require((side->status == SC_CSV_OK) == (side->batch.row_count > 0));
}

static void side_fini(struct side *side)
{
    sc_csv_batch_fini(&side->batch);
    sc_csv_destroy(side->reader);
    fclose(side->file);
}

static void require_same_fields(const struct sc_csv_field *a, const struct sc_csv_field *b,
                                size_t count)
{
    for (size_t i = 0; i < count; i++) {
        require(a[i].length == b[i].length);
        require(strlen(a[i].text) == a[i].length);
        require(strcmp(a[i].text, b[i].text) == 0);
    }
}

/* Lines are compared too, unless the text was written anew. */
static void require_same_batch(const struct sc_csv_batch *a, const struct sc_csv_batch *b,
                               bool lines)
{
    require(a->row_count == b->row_count);
    require(a->field_count == b->field_count);
    for (size_t i = 0; i < a->row_count; i++) {
        require(a->rows[i].first_field == b->rows[i].first_field);
        require(a->rows[i].field_count == b->rows[i].field_count);
        require(a->rows[i].field_count > 0);
        require(!lines || a->rows[i].line == b->rows[i].line);
    }
    require_same_fields(a->fields, b->fields, a->field_count);
}

static void require_same_fault(const struct side *a, const struct side *b)
{
    require(a->status == b->status);
    require(a->error.line == b->error.line);
    require(a->error.column == b->error.column);
    require(a->error.quote_line == b->error.quote_line);
    if (a->status > SC_CSV_END)
        require(strcmp(a->error.reason, b->error.reason) == 0);
}

static void require_same_header(const struct sc_csv *a, const struct sc_csv *b)
{
    require(sc_csv_column_count(a) == sc_csv_column_count(b));
    require_same_fields(sc_csv_columns(a), sc_csv_columns(b), sc_csv_column_count(a));
    require(sc_csv_delimiter(a) == sc_csv_delimiter(b));
}

/* Whatever the sizes of blocks and batches, the same must come of it. */
static void compare_blocks(const char *text, size_t length, struct sc_csv_options options,
                           size_t block_bytes)
{
    struct side whole, pieces;

    side_init(&whole, text, length, &options);
    options.block_bytes = block_bytes;
    side_init(&pieces, text, length, &options);
    require_same_fault(&whole, &pieces);
    if (whole.reader != NULL) {
        require_same_header(whole.reader, pieces.reader);
        require(sc_csv_decimal(whole.reader) == sc_csv_decimal(pieces.reader));
    }
    while (whole.status == SC_CSV_OK) {
        side_read(&whole, 3);
        side_read(&pieces, 3);
        require_same_fault(&whole, &pieces);
        require_same_batch(&whole.batch, &pieces.batch, true);
    }
    side_fini(&whole);
    side_fini(&pieces);
}

/* Append a row; returns the end.  The first field of a file is quoted always,
 * for it may look like a byte order mark. */
static char *row_write(char *out, const struct sc_csv_field *fields, size_t count, char delimiter,
                       bool quote_first)
{
    for (size_t i = 0; i < count; i++) {
        const char *const text = fields[i].text;
        const size_t length = fields[i].length;

        if (i > 0)
            *out++ = delimiter;
        if ((i == 0 && quote_first) || (count == 1 && length == 0) ||
            sc_csv_needs_quotes(text, length, delimiter)) {
            require(sc_csv_quote(NULL, text, length) <= 2 * length + 2);
            out += sc_csv_quote(out, text, length);
        } else {
            memcpy(out, text, length);
            out += length;
        }
    }
    *out++ = '\n';
    return out;
}

static void compare_rewritten(const char *text, size_t length, struct sc_csv_options options)
{
    /* Per byte of input at most an empty field quoted and delimited. */
    char *const copy = malloc(4 * length + 8);
    struct side first, second;
    char *end = copy;

    require(copy != NULL);
    side_init(&first, text, length, &options);
    if (first.reader == NULL)
        goto done;
    options.delimiter = sc_csv_delimiter(first.reader);
    options.decimal = sc_csv_decimal(first.reader);
    options.max_record_bytes = 0;
    end = row_write(end, sc_csv_columns(first.reader), sc_csv_column_count(first.reader),
                    options.delimiter, true);
    side_read(&first, SIZE_MAX);
    for (size_t i = 0; i < first.batch.row_count; i++)
        end = row_write(end, first.batch.fields + first.batch.rows[i].first_field,
                        first.batch.rows[i].field_count, options.delimiter, false);
    side_init(&second, copy, (size_t)(end - copy), &options);
    require(second.status == SC_CSV_OK);
    require_same_header(first.reader, second.reader);
    side_read(&second, SIZE_MAX);
    require_same_batch(&first.batch, &second.batch, false);
    require(second.status != SC_CSV_OK || (side_read(&second, 1), second.status == SC_CSV_END));
    side_fini(&second);
done:
    side_fini(&first);
    free(copy);
}

static void text_check(const char *text, size_t length, struct sc_csv_options options,
                       size_t block_bytes)
{
    compare_blocks(text, length, options, block_bytes);
    compare_rewritten(text, length, options);
}

/* `before` blank lines, then the text. */
static void late_text_check(const char *text, size_t length, struct sc_csv_options options,
                            size_t block_bytes, size_t before)
{
    char *const file = malloc(before + length);

    require(file != NULL);
    memset(file, '\n', before);
    memcpy(file + before, text, length);
    text_check(file, before + length, options, block_bytes);
    free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char delimiters[8] = { 0, 0, 0, 0, ',', ';', '\t', '|' };
    static const char decimals[4] = { 0, 0, '.', ',' };
    static const size_t limits[4] = { 0, 0, 40, 7 };
    struct sc_csv_options options;
    const char *const text = (const char *)data + 2;
    size_t block_bytes;

    if (size < 2 || size > 100000)
        return 0;
    options = (struct sc_csv_options){
        .delimiter = delimiters[data[0] % 8],
        .decimal = decimals[data[0] / 8 % 4],
        .max_record_bytes = limits[data[0] / 32 % 4],
    };
    block_bytes = 1 + data[1] % 64;
    if (data[0] < 128)
        text_check(text, size - 2, options, block_bytes);
    else
        late_text_check(text, size - 2, options, 16 + block_bytes,
                        SC_CSV_HEAD_BYTES - data[1] / 64);
    return 0;
}
