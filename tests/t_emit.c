/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows to text: quoting, escaping, units, decimals and alignment. */
#include <math.h>
#include <string.h>

#include "emit.h"
#include "tap.h"

static struct emit_cell text_cell(const char *bytes, size_t length)
{
    return (struct emit_cell){ .kind = EMIT_TEXT, .text = bytes, .length = length };
}

/* One row of cells in a format, against the text wanted. */
static void row_is(struct emit_style style, const struct emit_column *columns,
                   const struct emit_cell *cells, size_t count, const char *want, const char *name)
{
    struct text out = { 0 };
    if (style.decimal == '\0')
        style.decimal = '.';
    if (style.delimiter == '\0')
        style.delimiter = ',';
    emit_row(&style, columns, cells, count, true, &out);
    is_str(out.bytes, want, "%s", name);
    text_fini(&out);
}

/* A text alone in a row. */
static void text_is(enum emit_format format, const char *text, const char *want, const char *name)
{
    const struct emit_column column = { .name = "c" };
    const struct emit_cell cell = emit_string(text);
    row_is((struct emit_style){ .format = format }, &column, &cell, 1, want, name);
}

static void test_csv(void)
{
    static const struct emit_column columns[4] = { { .name = "a" }, { .name = "b" }, { .name = "c" },
                                                   { .name = "d" } };
    text_is(EMIT_CSV, "plain", "plain\n", "plain text has no quotes");
    text_is(EMIT_CSV, "a,b", "\"a,b\"\n", "a delimiter is quoted");
    text_is(EMIT_CSV, "a\"b", "\"a\"\"b\"\n", "a quote is quoted and doubled");
    text_is(EMIT_CSV, "a\nb", "\"a\nb\"\n", "a line end is quoted");
    text_is(EMIT_CSV, "a\rb", "\"a\rb\"\n", "a carriage return is quoted");
    text_is(EMIT_CSV, " a", "\" a\"\n", "a blank at the end is quoted");
    text_is(EMIT_CSV, "a;b", "a;b\n", "another delimiter is not");
    text_is(EMIT_CSV, "\xff\xc3", "\xff\xc3\n", "bytes go through");
    text_is(EMIT_CSV, "", "\"\"\n", "an empty text alone is a row");
    text_is(EMIT_CSV, NULL, "\"\"\n", "so is an empty cell");

    const struct emit_cell cells[] = { emit_number(1.5), emit_string(""), emit_string(NULL),
                                       emit_string("x") };
    row_is((struct emit_style){ .format = EMIT_CSV, .digits = 6 }, columns, cells, 4, "1.5,,,x\n",
           "empty texts and empty cells");
    row_is((struct emit_style){ .format = EMIT_CSV, .digits = 6, .delimiter = ';', .decimal = ',' },
           columns, cells, 4, "1,5;;;x\n", "decimal comma");
    row_is((struct emit_style){ .format = EMIT_CSV, .digits = 6, .decimal = ',' }, columns, cells, 4,
           "\"1,5\",,,x\n", "decimal comma beside a delimiting comma");
    row_is((struct emit_style){ .format = EMIT_CSV, .digits = 6, .delimiter = '\t' }, columns, cells,
           4, "1.5\t\t\tx\n", "tabs");

    char longer[1000];
    char want[2010];
    memset(longer, '"', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    memset(want, '"', 2000);
    memcpy(want + 2000, "\n", 2);
    text_is(EMIT_CSV, longer, want, "many quotes");
}

static void test_tsv(void)
{
    text_is(EMIT_TSV, "a\tb\nc\rd", "a b c d\n", "what would end a field is a blank");
    text_is(EMIT_TSV, "a,\"b\"", "a,\"b\"\n", "nothing is quoted");
}

static void test_json(void)
{
    static const struct emit_column columns[3] = { { .name = "a\"b" }, { .name = "n" },
                                                   { .name = "e" } };
    const struct emit_cell cells[] = { emit_string("x"), emit_number(-1.5e-9), emit_string(NULL) };
    row_is((struct emit_style){ .format = EMIT_JSONL, .digits = 6, .decimal = ',' }, columns, cells,
           3, "{\"a\\\"b\":\"x\",\"n\":-1.5e-09,\"e\":null}\n", "names are escaped, numbers have a point");
    text_is(EMIT_JSONL, "\"\\/", "{\"c\":\"\\\"\\\\/\"}\n", "quotes and backslashes");
    text_is(EMIT_JSONL, "\t\n\x01\x1f\x7f", "{\"c\":\"\\u0009\\u000a\\u0001\\u001f\x7f\"}\n",
            "control characters");
    text_is(EMIT_JSONL, "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
            "{\"c\":\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"}\n", "UTF-8 stays");
    text_is(EMIT_JSONL, "\xff", "{\"c\":\"\\u00ff\"}\n", "a byte that is none becomes Latin-1");
    text_is(EMIT_JSONL, "a\xc3", "{\"c\":\"a\\u00c3\"}\n", "a sequence cut off");
    text_is(EMIT_JSONL, "\xc0\xaf", "{\"c\":\"\\u00c0\\u00af\"}\n", "an overlong one");
    text_is(EMIT_JSONL, "\xe0\x80\x80", "{\"c\":\"\\u00e0\\u0080\\u0080\"}\n", "a longer one");
    text_is(EMIT_JSONL, "\xed\xa0\x80", "{\"c\":\"\\u00ed\\u00a0\\u0080\"}\n", "a surrogate");
    text_is(EMIT_JSONL, "\xf4\x90\x80\x80", "{\"c\":\"\\u00f4\\u0090\\u0080\\u0080\"}\n",
            "beyond Unicode");
    text_is(EMIT_JSONL, "\xf5\x80\x80\x80", "{\"c\":\"\\u00f5\\u0080\\u0080\\u0080\"}\n",
            "far beyond it");

    const struct emit_column column = { .name = "c" };
    const struct emit_cell nul = text_cell("a\0b", 3);
    row_is((struct emit_style){ .format = EMIT_JSONL }, &column, &nul, 1, "{\"c\":\"a\\u0000b\"}\n",
           "a NUL");
}

static void test_numbers(void)
{
    ok(emit_number((double)NAN).kind == EMIT_EMPTY, "NaN is an empty cell");
    ok(emit_number((double)INFINITY).kind == EMIT_EMPTY, "infinity is one");
    ok(emit_number(-(double)INFINITY).kind == EMIT_EMPTY, "minus infinity too");
    ok(emit_number(0.0).kind == EMIT_NUMBER, "zero is a number");
    const struct emit_column column = { .name = "c" };
    const struct emit_cell third = emit_number(1.0 / 3.0), zero = emit_number(-0.0);
    row_is((struct emit_style){ .format = EMIT_CSV, .digits = 3 }, &column, &third, 1, "0.333\n",
           "three digits");
    row_is((struct emit_style){ .format = EMIT_CSV, .digits = 0 }, &column, &third, 1,
           "0.3333333333333333\n", "all digits");
    row_is((struct emit_style){ .format = EMIT_CSV, .digits = 3 }, &column, &zero, 1, "0\n",
           "minus zero has no sign");
}

/* A table of one column. */
static void column_is(const struct emit_column *column, const double *values, size_t count,
                      int digits, const char *want, const char *name)
{
    const struct emit_style style = { .format = EMIT_TABLE, .digits = digits, .decimal = '.' };
    struct emit_cell cells[8];
    struct text out = { 0 };
    for (size_t i = 0; i < count; i++)
        cells[i] = emit_number(values[i]);
    emit_table(&style, column, cells, count, 1, &out);
    is_str(out.bytes, want, "%s", name);
    text_fini(&out);
}

#define COLUMN(name_, dimension_, digits, want, test, ...)                                     \
    do {                                                                                       \
        const struct emit_column column_ = { .name = (name_), .dimension = (dimension_) };     \
        const double values_[] = { __VA_ARGS__ };                                              \
        column_is(&column_, values_, sizeof values_ / sizeof values_[0], (digits), (want), (test)); \
    } while (0)

static void test_columns(void)
{
    COLUMN("n", SC_NUMBER, 4, "n\n1\n2\n", "decimals that are all zero are dropped", 1, 2);
    COLUMN("n", SC_NUMBER, 4, "   n\n1.00\n2.25\n", "others line up", 1, 2.25);
    COLUMN("n", SC_NUMBER, 4, "    n\n99.12\n 1.00\n", "as many as the largest needs", 99.123, 1);
    COLUMN("n", SC_NUMBER, 4, "     n\n123456\n 50001\n", "counts keep their digits", 123456, 50001);
    COLUMN("n", SC_SHARE, 3, "      n\n0.00500\n0.00412\n", "a small largest has digits too", 0.005,
           0.00412);
    COLUMN("n", SC_SHARE, 3, "     n\n0.0050\n0.0046\n", "and no more than that", 0.005, 0.0046);
    COLUMN("n", SC_NUMBER, 3, "      n\n   1000\n0.00123\n", "far apart: significant digits", 1000,
           0.00123);
    COLUMN("n", SC_NUMBER, 4, "n\n0\n0\n", "zeros", 0, 0);
    COLUMN("n", SC_NUMBER, 4, " n\n-1\n -\n", "nothing is a dash", -1, (double)NAN);
    COLUMN("n", SC_NUMBER, 0, "   n\n 0.1\n0.25\n", "all digits: the shortest", 0.1, 0.25);
    COLUMN("n", SC_NUMBER, 4, "    n\n1e-20\n", "a tiny number", 1e-20);
    COLUMN("n", SC_NUMBER, 4, "      n\n1.5e-06\n  2e-07\n", "tiny numbers", 1.5e-6, 2e-7);
    COLUMN("n", SC_NUMBER, 17, "     n\n1e+300\n", "a huge one", 1e300);

    COLUMN("time_s", SC_SECONDS, 4, "time (us)\n     12.5\n      3.0\n", "seconds in their unit",
           12.5e-6, 3e-6);
    COLUMN("time_s", SC_SECONDS, 4, "time (s)\n       0\n", "a zero is in SI", 0);
    COLUMN("buffer_bytes", SC_BYTES, 4, "buffer (MB)\n         40\n", "bytes", 40e6);
    COLUMN("area_m2", SC_SQUARE_METRES, 4, "area (mm2)\n        27\n", "areas", 27e-6);
    COLUMN("energy_j", SC_JOULES, 4, "energy (mJ)\n        1.5\n", "energies", 1.5e-3);
    COLUMN("cycles", SC_CYCLES, 4, "cycles\n   100\n", "a name that is the unit says it once", 100);
    COLUMN("in_s", SC_NUMBER, 4, "in_s\n   1\n", "a pure number keeps its name", 1);
}

static void table_is(enum emit_format format, const struct emit_column *columns,
                     const struct emit_cell *cells, size_t rows, size_t count, const char *want,
                     const char *name)
{
    const struct emit_style style = { .format = format, .digits = 4, .decimal = '.', .bar = true };
    struct text out = { 0 };
    emit_table(&style, columns, cells, rows, count, &out);
    is_str(out.bytes, want, "%s", name);
    text_fini(&out);
}

static void test_tables(void)
{
    static const struct emit_column columns[] = { { .name = "name" }, { .name = "n" },
                                                  { .name = "note" } };
    const struct emit_cell cells[] = {
        emit_string("\xc3\xa9\xc3\xa9"), emit_number(1), emit_string("x"),
        emit_string("abcdef"), emit_number(22), emit_string(NULL),
        emit_string("a|b"), emit_string(NULL), emit_string("y\nz\t\033["),
    };
    table_is(EMIT_TABLE, columns, cells, 3, 3,
             "name     n  note\n"
             "\xc3\xa9\xc3\xa9       1  x\n"
             "abcdef  22  -\n"
             "a|b      -  y z  [\n",
             "UTF-8 lines up, control characters are blanks");
    table_is(EMIT_MARKDOWN, columns, cells, 3, 3,
             "| name   |  n | note   |\n"
             "| ------ | -: | ------ |\n"
             "| \xc3\xa9\xc3\xa9     |  1 | x      |\n"
             "| abcdef | 22 | -      |\n"
             "| a\\|b   |  - | y z  [ |\n",
             "Markdown escapes its bars");
    table_is(EMIT_TABLE, columns, cells, 0, 3, "name  n  note\n", "no rows");
    table_is(EMIT_TABLE, columns, cells, 0, 0, "\n", "no columns");

    const struct emit_cell mixed[] = { emit_number(1.5), emit_string("none") };
    table_is(EMIT_TABLE, columns + 1, mixed, 2, 1, "n\n1.5\nnone\n", "numbers beside text");
    static const struct emit_column bars = { .name = "a|b" };
    table_is(EMIT_MARKDOWN, &bars, mixed, 1, 1, "| a\\|b |\n| ---: |\n|  1.5 |\n",
             "a bar in a header");
}

static void test_bar(void)
{
    static const struct emit_column columns[] = {
        { .name = "n" },
        { .name = "free_share", .dimension = SC_SHARE, .stall = "free", .hidden = true },
        { .name = "wait_share", .dimension = SC_SHARE, .stall = "wait", .hidden = true },
    };
    const struct emit_cell cells[] = {
        emit_number(1), emit_number(0.75), emit_number(0.25),
        emit_number(2), emit_number(0), emit_number(1),
        emit_number(3), emit_number(2), emit_number(1),
        emit_number(4), emit_number(-1), emit_number((double)NAN),
    };
    table_is(EMIT_TABLE, columns, cells, 4, 3,
             "n  where the time goes\n"
             "1  ...............wwwww\n"
             "2  wwwwwwwwwwwwwwwwwwww\n"
             "3  ....................\n"
             "4\n"
             "\nstalls:  . free  w wait\n",
             "shares of twenty cells, and no more");
    table_is(EMIT_TABLE, columns, cells, 0, 3, "n  where the time goes\n", "no rows, no legend");
    static const struct emit_column alike[] = {
        { .name = "a_share", .stall = "wait", .hidden = true },
        { .name = "b_share", .stall = "waiting", .hidden = true },
        { .name = "c_share", .stall = "waits", .hidden = true },
        { .name = "d_share", .stall = "wa", .hidden = true },
        { .name = "n" },
    };
    const struct emit_cell shares[] = { emit_number(0.25), emit_number(0.25), emit_number(0.25),
                                        emit_number(0.25), emit_number(1) };
    table_is(EMIT_TABLE, alike, shares, 1, 5,
             "n  where the time goes\n"
             "1  .....wwwwwaaaaaaaaaa\n"
             "\nstalls:  . wait  w waiting  a waits  a wa\n",
             "a letter of its own for each whose name has one left");
    table_is(EMIT_MARKDOWN, columns, cells, 1, 3, "| n |\n| -: |\n| 1 |\n", "no bar in Markdown");

    const struct emit_style colour = { .format = EMIT_TABLE, .digits = 4, .decimal = '.',
                                       .bar = true, .colour = true };
    struct text out = { 0 };
    emit_table(&colour, columns, cells, 1, 3, &out);
    ok(strstr(out.bytes, "\033[32m\xe2\x96\x88") != NULL, "in colour");
    const char *last = strstr(out.bytes, "\033[");
    for (const char *next = last; next != NULL; next = strstr(next + 1, "\033["))
        last = next;
    ok(last != NULL && strncmp(last, "\033[0m", 4) == 0, "which ends where it began");
    text_fini(&out);
}

static void quantity_is(double value, enum sc_dimension dimension, const char *want)
{
    struct text out = { 0 };
    emit_quantity(value, dimension, 4, &out);
    is_str(out.bytes, want, "quantity: %s", want);
    text_fini(&out);
}

static void test_quantities(void)
{
    quantity_is(1.39e-3, SC_SECONDS, "1.39 ms");
    quantity_is(40e6, SC_BYTES, "40 MB");
    quantity_is(0.92, SC_SHARE, "0.92");
    quantity_is(0.0, SC_SECONDS, "0 s");
    quantity_is(-2e-6, SC_SECONDS, "-2 us");
    quantity_is((double)INFINITY, SC_SECONDS, "unbounded");
    quantity_is(-(double)INFINITY, SC_SECONDS, "-unbounded");
    quantity_is((double)NAN, SC_SECONDS, "-");
}

static void test_frames(void)
{
    static const struct emit_column columns[] = { { .name = "a,b" }, { .name = "" } };
    struct emit_style style = { .format = EMIT_CSV, .delimiter = ',', .decimal = '.' };
    struct text out = { 0 };
    enum emit_format format = EMIT_TABLE;
    emit_begin(&style, columns, 2, &out);
    is_str(out.bytes, "\"a,b\",\n", "a header is quoted like a row");
    text_clear(&out);
    style.format = EMIT_JSON;
    const struct emit_cell cells[] = { emit_number(1), emit_number(2) };
    emit_begin(&style, columns, 2, &out);
    emit_row(&style, columns, cells, 2, true, &out);
    emit_row(&style, columns, cells, 2, false, &out);
    emit_end(&style, true, &out);
    is_str(out.bytes, "[\n{\"a,b\":1,\"\":2},\n{\"a,b\":1,\"\":2}\n]\n", "JSON rows and commas");
    text_clear(&out);
    emit_begin(&style, columns, 2, &out);
    emit_end(&style, false, &out);
    is_str(out.bytes, "[]\n", "no JSON rows");
    text_fini(&out);
    ok(emit_format_find("md", &format) && format == EMIT_MARKDOWN, "a format by its name");
    ok(!emit_format_find("MD", &format) && !emit_format_find("", &format), "names are exact");
}

/* A column of which every digit counts, beside one that the style shortens. */
static void test_exact(void)
{
    static const struct emit_column columns[] = {
        { .name = "t_s", .dimension = SC_SECONDS, .exact = true }, { .name = "n" }
    };
    const struct emit_cell cells[] = { emit_number(3.04583e-5), emit_number(1234567),
                                       emit_number(2.5e-6), emit_number(1) };
    struct emit_style style = { .format = EMIT_TABLE, .digits = 3, .decimal = '.' };
    struct text out = { 0 };
    row_is((struct emit_style){ .format = EMIT_CSV, .digits = 3 }, columns, cells, 2,
           "0.0000304583,1230000\n", "CSV: all digits");
    row_is((struct emit_style){ .format = EMIT_JSONL, .digits = 3 }, columns, cells, 2,
           "{\"t_s\":0.0000304583,\"n\":1230000}\n", "JSON: all digits");
    emit_table(&style, columns, cells, 2, 2, &out);
    is_str(out.bytes, " t (us)        n\n30.4583  1234567\n    2.5        1\n",
           "a table: those that a change of unit leaves");
    text_fini(&out);
}

int main(void)
{
    plan(84);
    test_csv();
    test_tsv();
    test_json();
    test_numbers();
    test_columns();
    test_tables();
    test_bar();
    test_quantities();
    test_frames();
    test_exact();
    return done();
}
