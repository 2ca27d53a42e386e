/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The CSV reader.  A case is a text and the whole of what must come of it,
 * written as one string: the dialect, the header, the rows with their lines,
 * and how it ended.  Every case runs whole and in small blocks, row by row
 * and all rows at once; all must give the same.
 */
#include "read/csv.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const status_names[] = {
    [SC_CSV_OK] = "OK",
    [SC_CSV_END] = "END",
    [SC_CSV_EMPTY] = "EMPTY",
    [SC_CSV_EOPTION] = "OPTION",
    [SC_CSV_ENOMEMORY] = "MEMORY",
    [SC_CSV_EREAD] = "READ",
    [SC_CSV_EUTF16] = "UTF16",
    [SC_CSV_ENUL] = "NUL",
    [SC_CSV_EQUOTE_OPEN] = "QUOTE_OPEN",
    [SC_CSV_EQUOTE_TEXT] = "QUOTE_TEXT",
    [SC_CSV_EQUOTE_BARE] = "QUOTE_BARE",
    [SC_CSV_ELONG] = "LONG",
};
_Static_assert(sizeof status_names / sizeof status_names[0] == SC_CSV_STATUSES,
               "every status has its name");

/* --- one string for all that a reader says -------------------------------- */

/* Text that grows; the test gives up without memory. */
struct text {
    char *chars;
    size_t length, capacity;
};

static void text_add(struct text *text, const char *chars, size_t length)
{
    if (text->chars == NULL || text->length + length + 1 > text->capacity) {
        text->capacity = 2 * (text->length + length + 1);
        text->chars = realloc(text->chars, text->capacity);
        if (text->chars == NULL)
            bail("out of memory");
    }
    memcpy(text->chars + text->length, chars, length);
    text->length += length;
    text->chars[text->length] = '\0';
}

static void text_add_string(struct text *text, const char *string)
{
    text_add(text, string, strlen(string));
}

static void text_add_number(struct text *text, size_t number)
{
    char digits[32];

    snprintf(digits, sizeof digits, "%zu", number);
    text_add_string(text, digits);
}

/* " LINE:field|field". */
static void text_add_row(struct text *text, size_t line, const struct sc_csv_field *fields,
                         size_t count)
{
    text_add_string(text, " ");
    text_add_number(text, line);
    text_add_string(text, ":");
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            text_add_string(text, "|");
        text_add(text, fields[i].text, fields[i].length);
        if (strlen(fields[i].text) != fields[i].length)
            text_add_string(text, "<length differs>");
    }
}

/* " STATUS", for faults with "@line.column" and "(quote line)". */
static void text_add_status(struct text *text, enum sc_csv_status status,
                            const struct sc_csv_error *error)
{
    text_add_string(text, " ");
    text_add_string(text, status_names[status]);
    if (error->line > 0) {
        text_add_string(text, "@");
        text_add_number(text, error->line);
        text_add_string(text, ".");
        text_add_number(text, error->column);
    }
    if (error->quote_line > 0) {
        text_add_string(text, "(");
        text_add_number(text, error->quote_line);
        text_add_string(text, ")");
    }
}

static void text_add_rest(struct text *text, struct sc_csv *reader, size_t max_rows)
{
    struct sc_csv_error error = { 0 };
    struct sc_csv_batch batch = { 0 };
    enum sc_csv_status status;

    while ((status = sc_csv_read(reader, &batch, max_rows, &error)) == SC_CSV_OK) {
        if (batch.row_count == 0 || batch.row_count > max_rows)
            text_add_string(text, "<row count>");
        for (size_t i = 0; i < batch.row_count; i++)
            text_add_row(text, batch.rows[i].line, batch.fields + batch.rows[i].first_field,
                         batch.rows[i].field_count);
    }
    text_add_status(text, status, &error);
    if (batch.row_count != 0 || sc_csv_read(reader, &batch, max_rows, &error) != status)
        text_add_string(text, "<does not stay>");
    sc_csv_batch_fini(&batch);
}

/* All that comes of reading `file`; to be freed. */
static char *file_describe(FILE *file, const struct sc_csv_options *options, size_t max_rows)
{
    struct text text = { 0 };
    struct sc_csv_error error = { 0 };
    struct sc_csv *reader;
    const enum sc_csv_status status = sc_csv_create(&reader, file, "name", options, &error);

    if (status != SC_CSV_OK) {
        text_add_string(&text, reader == NULL ? "-" : "<reader>");
        text_add_status(&text, status, &error);
        if (error.name == NULL || strcmp(error.name, "name") != 0 || error.reason == NULL)
            text_add_string(&text, "<no name or reason>");
        return text.chars;
    }
    text_add_string(
        &text, sc_csv_delimiter(reader) == '\t' ? "t" : (char[]){ sc_csv_delimiter(reader), '\0' });
    text_add_string(&text, (char[]){ sc_csv_decimal(reader), '\0' });
    text_add_row(&text, sc_csv_header_line(reader), sc_csv_columns(reader),
                 sc_csv_column_count(reader));
    text_add_rest(&text, reader, max_rows);
    sc_csv_destroy(reader);
    return text.chars;
}

static char *describe(const char *input, size_t length, const struct sc_csv_options *options,
                      size_t max_rows)
{
    /* fmemopen never writes to a stream opened for reading. */
    FILE *const file = fmemopen((void *)(uintptr_t)input, length, "rb");
    char *got;

    if (file == NULL)
        bail("fmemopen");
    got = file_describe(file, options, max_rows);
    fclose(file);
    return got;
}

/* --- cases ------------------------------------------------------------------ */

struct test_case {
    const char *name;
    const char *input;
    size_t length;
    struct sc_csv_options options;
    const char *want;
};

#define INPUT(string) .input = (string), .length = sizeof(string) - 1

static const struct test_case cases[] = {
    /* Ends and lines. */
    { "plain", INPUT("a,b\n1,2\n3,4\n"), .want = ",. 1:a|b 2:1|2 3:3|4 END" },
    { "no last line end", INPUT("a,b\n1,2"), .want = ",. 1:a|b 2:1|2 END" },
    { "last field empty, no line end", INPUT("a,b\n1,"), .want = ",. 1:a|b 2:1| END" },
    { "CRLF", INPUT("a,b\r\n1,2\r\n3,4\r\n"), .want = ",. 1:a|b 2:1|2 3:3|4 END" },
    { "CR", INPUT("a,b\r1,2\r3,4\r"), .want = ",. 1:a|b 2:1|2 3:3|4 END" },
    { "mixed line ends", INPUT("a\r\n1\n2\r3\n\r4\r\r\n5\n\n6"),
      .want = ",. 1:a 2:1 3:2 4:3 6:4 8:5 10:6 END" },
    { "blank lines are counted", INPUT("\n\r\na,b\n\n\n1,2\n\r\n3,4\n\n"),
      .want = ",. 3:a|b 6:1|2 8:3|4 END" },
    { "lines of blanks are blank", INPUT("  \na,b\n \n\t \n1,2\n  "),
      .want = ",. 2:a|b 5:1|2 END" },
    { "tabs are fields in a tab file", INPUT("a\tb\n\t\n \n1\t2\n"),
      .want = "t. 1:a|b 2:| 4:1|2 END" },
    { "a quoted blank is a row", INPUT("a\n\" \"\n\"\"\n"), .want = ",. 1:a 2:  3: END" },
    { "header only", INPUT("a,b\n"), .want = ",. 1:a|b END" },
    { "header only, no line end", INPUT("a,b"), .want = ",. 1:a|b END" },
    { "empty", INPUT(""), .want = "- EMPTY" },
    { "blank lines only", INPUT("\n\r\n  \n"), .want = "- EMPTY" },
    { "byte order mark only", INPUT("\xef\xbb\xbf"), .want = "- EMPTY" },
    { "byte order mark",
      INPUT("\xef\xbb\xbf"
            "a,b\n1,2\n"),
      .want = ",. 1:a|b 2:1|2 END" },
    { "byte order mark before a quote", INPUT("\xef\xbb\xbf\"a,b\"\n1\n"),
      .want = ",. 1:a,b 2:1 END" },
    { "half a byte order mark is text",
      INPUT("\xef\xbb"
            "a\n1\n"),
      .want = ",. 1:\xef\xbb"
              "a 2:1 END" },

    /* Fields. */
    { "quoted", INPUT("\"a\",\"b,c\"\n\"1\",\"say \"\"hi\"\"\"\n"),
      .want = ",. 1:a|b,c 2:1|say \"hi\" END" },
    { "quotes only", INPUT("a,b\n\"\"\"\",\"\"\"\"\"\"\n"), .want = ",. 1:a|b 2:\"|\"\" END" },
    { "quoted line ends", INPUT("a,b\n\"x\ny\",1\n2,\"p\r\nq\rr\"\n3,4\n"),
      .want = ",. 1:a|b 2:x\ny|1 4:2|p\r\nq\rr 7:3|4 END" },
    { "quoted blank lines", INPUT("a\n\"\n\n\r\n\"\n1\n"), .want = ",. 1:a 2:\n\n\r\n 6:1 END" },
    { "line end in the header", INPUT("\"a\nb\",c\n1,2\n"), .want = ",. 1:a\nb|c 3:1|2 END" },
    { "nothing is trimmed", INPUT(" a , b\n 1\t,\" 2 \"\n,  \n"),
      .want = ",. 1: a | b 2: 1\t| 2  3:|   END" },
    { "empty fields", INPUT("a,b,\n,,\n"), .want = ",. 1:a|b| 2:|| END" },
    { "short and long rows", INPUT("a,b\n1\n1,2,3\n"), .want = ",. 1:a|b 2:1 3:1|2|3 END" },
    { "repeated names", INPUT("a,a\n1,2\n"), .want = ",. 1:a|a 2:1|2 END" },
    { "bytes of any encoding", INPUT("\xb5s,\xc2\xb5s\n\xff,\x80\n"),
      .want = ",. 1:\xb5s|\xc2\xb5s 2:\xff|\x80 END" },

    /* Delimiters. */
    { "semicolon", INPUT("a;b\n1;2\n"), .want = ";. 1:a|b 2:1|2 END" },
    { "tab", INPUT("a\tb\n1\t2\n"), .want = "t. 1:a|b 2:1|2 END" },
    { "one column", INPUT("a\n1;2\n"), .want = ",. 1:a 2:1;2 END" },
    { "delimiters inside quotes do not count", INPUT("\"a,b,c\";d\n1;2\n"),
      .want = ";. 1:a,b,c|d 2:1|2 END" },
    { "most delimiters", INPUT("a;x,b,c\n"), .want = ",. 1:a;x|b|c END" },
    { "of equals the semicolon", INPUT("a,x;b\n"), .want = ";. 1:a,x|b END" },
    { "of equals the tab", INPUT("a,x;b\tc\n"), .want = "t. 1:a,x;b|c END" },
    { "rows do not count", INPUT("a,b\n;;;;,1\n"), .want = ",. 1:a|b 2:;;;;|1 END" },
    { "blank lines before", INPUT("\n  \n\r\na;b\n1;2\n"), .want = ";. 4:a|b 5:1|2 END" },
    { "delimiter told", INPUT("a;b,c\n1;2,x\n"), .options = { .delimiter = ';' },
      .want = ";. 1:a|b,c 2:1|2,x END" },
    { "bar", INPUT("a|b\n1|2\n"), .options = { .delimiter = '|' }, .want = "|. 1:a|b 2:1|2 END" },

    /* Decimals. */
    { "comma", INPUT("a;b\nx;1,5\n"), .want = ";, 1:a|b 2:x|1,5 END" },
    { "comma with a unit", INPUT("a\tb\nx\t-1,5us\n"), .want = "t, 1:a|b 2:x|-1,5us END" },
    { "comma with a blank and a unit", INPUT("a;b\nx;+1,5 \xc2\xb5s\n"),
      .want = ";, 1:a|b 2:x|+1,5 \xc2\xb5s END" },
    { "comma with an exponent", INPUT("a;b\nx;1,5e-3GB/s\n"),
      .want = ";, 1:a|b 2:x|1,5e-3GB/s END" },
    { "comma and point", INPUT("a;b\n1,5;2\n1.5;2\n"), .want = ";. 1:a|b 2:1,5|2 3:1.5|2 END" },
    { "a list is no number", INPUT("a;b\n1,5,6;x1,5\n,5;1,\n"),
      .want = ";. 1:a|b 2:1,5,6|x1,5 3:,5|1, END" },
    { "the header has no numbers", INPUT("1,5;b\n1;2\n"), .want = ";. 1:1,5|b 2:1|2 END" },
    { "quoted comma in a comma file", INPUT("a,b\n\"1,5\",2\n"), .want = ",. 1:a|b 2:1,5|2 END" },
    { "comma in the last row without a line end", INPUT("a;b\nx;1,5"),
      .want = ";, 1:a|b 2:x|1,5 END" },
    { "decimal told", INPUT("a;b\n1.5;2\n"), .options = { .decimal = ',' },
      .want = ";, 1:a|b 2:1.5|2 END" },
    { "point told", INPUT("a;b\n1,5;2\n"), .options = { .decimal = '.' },
      .want = ";. 1:a|b 2:1,5|2 END" },
    { "decimal told, delimiter the same", INPUT("a,b\n"), .options = { .decimal = ',' },
      .want = "- OPTION" },
    { "both told the same", INPUT("a;b\n"), .options = { .delimiter = ',', .decimal = ',' },
      .want = "- OPTION" },
    { "no delimiter", INPUT("a\n"), .options = { .delimiter = '"' }, .want = "- OPTION" },
    { "no decimal", INPUT("a\n"), .options = { .decimal = ';' }, .want = "- OPTION" },

    /* Faults. */
    { "UTF-16 little endian",
      INPUT("\xff\xfe"
            "a\0\n\0"),
      .want = "- UTF16@1.0" },
    { "UTF-16 big endian", INPUT("\xfe\xff\0a\0\n"), .want = "- UTF16@1.0" },
    { "UTF-16 little endian without a mark", INPUT("a\0,\0b\0\n\0"), .want = "- UTF16@1.0" },
    { "UTF-16 big endian without a mark", INPUT("\0a\0,\0b\0\n"), .want = "- UTF16@1.0" },
    { "NUL in the header", INPUT("a,b\0c\n1,2\n"), .want = "- NUL@1.2" },
    { "NUL in a row", INPUT("a,b\n1,2\n3,4,\0\n5,6\n"), .want = ",. 1:a|b 2:1|2 NUL@3.3" },
    { "NUL between rows", INPUT("a,b\r\n1,2\r\n\0"), .want = ",. 1:a|b 2:1|2 NUL@3.1" },
    { "NUL inside quotes", INPUT("a,b\n1,2\n3,\"\n\n\0\"\n"), .want = ",. 1:a|b 2:1|2 NUL@5.2(3)" },
    { "open quote", INPUT("a,b\n1,2\n3,\"x\ny\n4,5\n"),
      .want = ",. 1:a|b 2:1|2 QUOTE_OPEN@3.2(3)" },
    { "open quote below its record's start", INPUT("a,b,c\n\"x\ny\",\"p\r\nq\",\"r\n1,2,3\n"),
      .want = ",. 1:a|b|c QUOTE_OPEN@4.3(4)" },
    { "open quote at the very end", INPUT("a\n\""), .want = ",. 1:a QUOTE_OPEN@2.1(2)" },
    { "open quote in the header", INPUT("a,\"b\n1,2\n"), .want = "- QUOTE_OPEN@1.2(1)" },
    { "text after a quote", INPUT("a,b\n1,2\n3,\"4\"5\n6,7\n"),
      .want = ",. 1:a|b 2:1|2 QUOTE_TEXT@3.2(3)" },
    { "blank after a quote", INPUT("a,b\n\"1\" ,2\n"), .want = ",. 1:a|b QUOTE_TEXT@2.1(2)" },
    { "text after a quote lines below", INPUT("a,b\n1,\"2\n3,4\n5,\"6\"\n"),
      .want = ",. 1:a|b QUOTE_TEXT@4.2(2)" },
    { "quote in an unquoted field", INPUT("a,b\n1,2\n3,4\"\n5,6\n"),
      .want = ",. 1:a|b 2:1|2 QUOTE_BARE@3.2" },
    { "quote after a blank", INPUT("a,b\n1, \"2\"\n"), .want = ",. 1:a|b QUOTE_BARE@2.2" },
    { "longest records", INPUT("a,b\n1,2345\r\n6,78901"), .options = { .max_record_bytes = 7 },
      .want = ",. 1:a|b 2:1|2345 3:6|78901 END" },
    { "record one byte too long", INPUT("a,b\n1,2345\n1,23456\n3,4\n"),
      .options = { .max_record_bytes = 7 }, .want = ",. 1:a|b 2:1|2345 LONG@3.2" },
    { "last record one byte too long", INPUT("a,b\n1,234567"), .options = { .max_record_bytes = 7 },
      .want = ",. 1:a|b LONG@2.2" },
    { "header too long", INPUT("a,bcdefgh\n1,2\n"), .options = { .max_record_bytes = 7 },
      .want = "- LONG@1.2" },
    { "quoted line ends count", INPUT("a\n\"\n\n\n\n\n\n\n\n\"\n"),
      .options = { .max_record_bytes = 7 }, .want = ",. 1:a LONG@2.1(2)" },
    { "blank lines have no length", INPUT("a\n          \r\n\n\n\n\n\n\n\n1\n"),
      .options = { .max_record_bytes = 12 }, .want = ",. 1:a 10:1 END" },
};

enum { CASES = sizeof cases / sizeof cases[0] };

static void case_check(const struct test_case *test)
{
    static const size_t blocks[] = { 0, 1, 2, 3, 5, 7, 16, 1000 };
    static const size_t max_rows[] = { 1, 2, 1000 };
    struct sc_csv_options options = test->options;
    char *const got = describe(test->input, test->length, &options, 1000);
    size_t differences = 0;

    is_str(got, test->want, "%s", test->name);
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        for (size_t j = 0; j < sizeof max_rows / sizeof max_rows[0]; j++) {
            char *again;

            options.block_bytes = blocks[i];
            again = describe(test->input, test->length, &options, max_rows[j]);
            differences += strcmp(got, again) != 0;
            free(again);
        }
    }
    is_int((long long)differences, 0, "%s: the same in any blocks", test->name);
    free(got);
}

/* --- files larger than a block ----------------------------------------------- */

/*
 * Rows of random fields, quoted when they must be, against what was written:
 * an oracle that shares no code with the reader but sc_csv_quote.
 */
enum { ORACLE_ROWS = 20000, ORACLE_CHECKS = 4 };

static unsigned random_next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*state >> 33);
}

/* A field of 0 to 7 bytes that are often awkward. */
static size_t random_field(uint64_t *state, char *field)
{
    static const char bytes[] = "ab,;\t \"\n\rz01.\xc3\xa9";
    const size_t length = random_next(state) % 8;

    for (size_t i = 0; i < length; i++)
        field[i] = bytes[random_next(state) % (sizeof bytes - 1)];
    return length;
}

/* Physical lines that begin inside the text; CRLF is one line end. */
static size_t lines_in(const char *text, size_t length)
{
    size_t lines = 0;

    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\r' || (text[i] == '\n' && (i == 0 || text[i - 1] != '\r'));
    return lines;
}

/* Append a row to the input, and to what must be read. */
static void oracle_row(uint64_t *state, struct text *input, struct text *want, size_t *line)
{
    static const char *const ends[] = { "\n", "\r\n", "\r\n\n", "\n\n\n" };
    const char *const end = ends[random_next(state) % 4];
    const size_t start = input->length;
    const size_t count = 1 + random_next(state) % 5;
    struct sc_csv_field fields[5];
    char texts[5][8], quoted[18];

    for (size_t i = 0; i < count; i++) {
        const size_t length = random_field(state, texts[i]);

        texts[i][length] = '\0';
        fields[i] = (struct sc_csv_field){ texts[i], length };
        if (i > 0)
            text_add_string(input, ",");
        if (count == 1 || sc_csv_needs_quotes(texts[i], length, ','))
            text_add(input, quoted, sc_csv_quote(quoted, texts[i], length));
        else
            text_add(input, texts[i], length);
    }
    text_add_row(want, *line, fields, count);
    text_add_string(input, end);
    *line += lines_in(input->chars + start, input->length - start);
}

static void oracle_check(void)
{
    static const size_t blocks[ORACLE_CHECKS] = { 0, 1, 61, 4096 };
    struct text input = { 0 }, want = { 0 };
    uint64_t state = 1;
    size_t line = 2;

    text_add_string(&input, "a,b\n");
    text_add_string(&want, ",. 1:a|b");
    for (int i = 0; i < ORACLE_ROWS; i++)
        oracle_row(&state, &input, &want, &line);
    text_add_string(&want, " END");
    for (size_t i = 0; i < ORACLE_CHECKS; i++) {
        const struct sc_csv_options options = { .block_bytes = blocks[i] };
        char *const got = describe(input.chars, input.length, &options, 100);

        ok(strcmp(got, want.chars) == 0, "%zu random bytes in blocks of %zu", input.length,
           blocks[i]);
        free(got);
    }
    free(input.chars);
    free(want.chars);
}

/* A fault on line `bad` of a file of many blocks. */
static void late_fault_check(void)
{
    enum { ROWS = 60000 };
    struct text input = { 0 };
    struct sc_csv_batch batch = { 0 };
    struct sc_csv_error error = { 0 };
    struct sc_csv *reader = NULL;
    enum sc_csv_status status;
    size_t rows = 0;
    FILE *file;

    text_add_string(&input, "a,b\r\n");
    for (int i = 0; i < ROWS; i++)
        text_add_string(&input, "12,345\r\n");
    text_add_string(&input, "1,\"2\r\n3,4\r\n");
    file = fmemopen(input.chars, input.length, "rb");
    if (file == NULL || sc_csv_create(&reader, file, "x", NULL, NULL) != SC_CSV_OK)
        bail("cannot read from memory");
    while ((status = sc_csv_read(reader, &batch, 1000, &error)) == SC_CSV_OK)
        rows += batch.row_count;
    is_int(status, SC_CSV_EQUOTE_OPEN, "late open quote is found");
    is_int((long long)rows, ROWS, "all rows before it were delivered");
    is_int((long long)error.line, ROWS + 2, "its line is right");
    is_str(error.reason, "the quote that opens here is never closed", "its reason is clear");
    sc_csv_destroy(reader);
    sc_csv_batch_fini(&batch);
    fclose(file);
    free(input.chars);
}

/* A text of `length` bytes 'x' after `before`, described. */
static char *long_describe(const char *before, size_t length, const char *after)
{
    struct text input = { 0 };
    char *got;

    text_add_string(&input, before);
    for (size_t i = 0; i < length; i++)
        text_add_string(&input, "x");
    text_add_string(&input, after);
    got = describe(input.chars, input.length, NULL, 1000);
    free(input.chars);
    return got;
}

static void long_record_check(void)
{
    const size_t limit = SC_CSV_MAX_RECORD_BYTES;
    char *got = long_describe("a\n1\n", limit - 1, "\n2\n");

    ok(strlen(got) > limit && strcmp(got + strlen(got) - 8, " 4:2 END") == 0,
       "a record of the default limit is read");
    free(got);
    got = long_describe("a\n1\n", limit, "\n2\n");
    is_str(got, ",. 1:a 2:1 LONG@3.1", "one byte more is a fault");
    free(got);
    got = long_describe("a\n1\n\"", 3 * limit, "");
    is_str(got, ",. 1:a 2:1 LONG@3.1(3)", "so is a quote without an end");
    free(got);
    got = long_describe("", 3 * limit, "");
    is_str(got, "- LONG@1.1", "so is a file without lines");
    free(got);
}

/* Rows of 1 MB would make a batch of any number of rows too large. */
static void batch_size_check(void)
{
    enum { ROWS = 12, ROW_BYTES = 1000000 };
    struct text input = { 0 };
    struct sc_csv_batch batch = { 0 };
    struct sc_csv *reader = NULL;
    size_t rows = 0, most = 0;
    FILE *file;

    text_add_string(&input, "a\n");
    for (int i = 0; i < ROWS * ROW_BYTES; i++)
        text_add_string(&input, (i + 1) % ROW_BYTES == 0 ? "\n" : "y");
    file = fmemopen(input.chars, input.length, "rb");
    if (file == NULL || sc_csv_create(&reader, file, "x", NULL, NULL) != SC_CSV_OK)
        bail("cannot read from memory");
    while (sc_csv_read(reader, &batch, 1000, NULL) == SC_CSV_OK) {
        rows += batch.row_count;
        most = batch.text_bytes > most ? batch.text_bytes : most;
    }
    is_int((long long)rows, ROWS, "large rows all come");
    ok(most < SC_CSV_BATCH_BYTES + ROW_BYTES, "in batches of bounded size");
    sc_csv_destroy(reader);
    sc_csv_batch_fini(&batch);
    fclose(file);
    free(input.chars);
}

/* --- batches, files and the rest ------------------------------------------------ */

static void independence_check(void)
{
    static const char input[] = "a,b\n1,2\n3,4\n5,6\n7,8\n";
    FILE *const file = fmemopen((void *)(uintptr_t)input, sizeof input - 1, "rb");
    struct sc_csv_batch first = { 0 }, second = { 0 };
    struct sc_csv *reader = NULL;

    if (file == NULL || sc_csv_create(&reader, file, "x", NULL, NULL) != SC_CSV_OK)
        bail("cannot read from memory");
    if (sc_csv_read(reader, &first, 2, NULL) != SC_CSV_OK ||
        sc_csv_read(reader, &second, 2, NULL) != SC_CSV_OK)
        bail("cannot read two batches");
    is_int(sc_csv_read(reader, &(struct sc_csv_batch){ 0 }, 0, NULL), SC_CSV_EOPTION,
           "a batch of no rows means nothing");
    sc_csv_destroy(reader);
    fclose(file);
    ok(first.row_count == 2 && second.row_count == 2, "two batches of two rows");
    is_str(first.fields[first.rows[1].first_field].text, "3",
           "the first outlives the second and the reader");
    is_str(second.fields[second.rows[1].first_field + 1].text, "8", "so does the second");
    sc_csv_batch_fini(&first);
    sc_csv_batch_fini(&second);
    ok(second.text == NULL && second.row_count == 0 && second.row_capacity == 0,
       "fini leaves an empty batch");
    sc_csv_destroy(NULL);
}

static void directory_check(void)
{
    FILE *const file = fopen("/", "rb");
    struct sc_csv_error error = { 0 };
    struct sc_csv *reader;

    if (file == NULL) {
        skip(3, "directories cannot be opened here");
        return;
    }
    is_int(sc_csv_create(&reader, file, "/", NULL, &error), SC_CSV_EREAD,
           "a directory cannot be read");
    is_int(error.system_errno, EISDIR, "errno is kept");
    is_str(error.reason, "this is a directory, not a file", "and told");
    sc_csv_destroy(reader);
    fclose(file);
}

/* A pipe that has no more for now, where nobody waits, is a read error. */
static void read_error_check(void)
{
    static const char input[] = "a,b\n1,2\n3,";
    int ends[2];
    FILE *file;
    char *got;

    if (pipe(ends) != 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0 ||
        write(ends[1], input, sizeof input - 1) != sizeof input - 1)
        bail("no pipe");
    file = fdopen(ends[0], "rb");
    if (file == NULL)
        bail("no file of a pipe");
    got = file_describe(file, NULL, 1000);
    is_str(got, ",. 1:a|b 2:1|2 READ@3.0", "whole rows come before a read error");
    free(got);
    fclose(file);
    close(ends[1]);
}

static void pipe_check(void)
{
    static const char input[] = "a,b\n1,2\n3,4";
    int ends[2];
    FILE *file;
    char *got;

    if (pipe(ends) != 0 || write(ends[1], input, sizeof input - 1) != sizeof input - 1)
        bail("no pipe");
    close(ends[1]);
    file = fdopen(ends[0], "rb");
    if (file == NULL)
        bail("no file of a pipe");
    got = file_describe(file, NULL, 1000);
    is_str(got, ",. 1:a|b 2:1|2 3:3|4 END", "a pipe can be read");
    free(got);
    fclose(file);
}

static void quote_check(void)
{
    char out[16];

    ok(!sc_csv_needs_quotes("", 0, ','), "an empty field needs no quotes");
    ok(!sc_csv_needs_quotes("a b;c", 5, ','), "nor does plain text");
    ok(sc_csv_needs_quotes("a b;c", 5, ';'), "the delimiter does");
    ok(sc_csv_needs_quotes("a\"", 2, ','), "a quote does");
    ok(sc_csv_needs_quotes("a\rb", 3, ','), "a CR does");
    ok(sc_csv_needs_quotes("a\nb", 3, ','), "an LF does");
    ok(sc_csv_needs_quotes(" a", 2, ',') && sc_csv_needs_quotes("a\t", 2, ','),
       "blanks at an end do");
    is_int((long long)sc_csv_quote(NULL, "a\"b", 3), 6, "length beforehand");
    out[sc_csv_quote(out, "a\"b", 3)] = '\0';
    is_str(out, "\"a\"\"b\"", "quotes are doubled");
    out[sc_csv_quote(out, "", 0)] = '\0';
    is_str(out, "\"\"", "an empty field can be quoted");
    out[sc_csv_quote(out, NULL, 0)] = '\0';
    is_str(out, "\"\"", "also one without text");
}

static void reason_check(void)
{
    bool all = true;

    for (int status = 0; status < SC_CSV_STATUSES; status++)
        all = all && sc_csv_reason((enum sc_csv_status)status)[0] != '\0';
    ok(all, "every status has a reason");
    is_str(sc_csv_reason(SC_CSV_EUTF16), "UTF-16 text; save as CSV UTF-8",
           "the reason says what to do");
}

int main(void)
{
    plan(2 * CASES + ORACLE_CHECKS + 4 + 4 + 2 + 5 + 3 + 1 + 1 + 11 + 2);
    for (size_t i = 0; i < CASES; i++)
        case_check(&cases[i]);
    oracle_check();
    late_fault_check();
    long_record_check();
    batch_size_check();
    independence_check();
    directory_check();
    read_error_check();
    pipe_check();
    quote_check();
    reason_check();
    return done();
}
