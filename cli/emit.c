/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "emit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "number.h"
#include "read/csv.h"
#include "units.h"

const char emit_format_names[] = "table, csv, tsv, json, jsonl, md";

bool emit_format_find(const char *name, enum emit_format *format)
{
    static const struct {
        const char *name;
        enum emit_format format;
    } formats[] = { { "table", EMIT_TABLE }, { "csv", EMIT_CSV },     { "tsv", EMIT_TSV },
                    { "json", EMIT_JSON },   { "jsonl", EMIT_JSONL }, { "md", EMIT_MARKDOWN } };
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (strcmp(formats[i].name, name) == 0) {
            *format = formats[i].format;
            return true;
        }
    return false;
}

struct emit_cell emit_number(double value)
{
    return isfinite(value) ? (struct emit_cell){ .kind = EMIT_NUMBER, .number = value }
                           : (struct emit_cell){ .kind = EMIT_EMPTY };
}

struct emit_cell emit_string(const char *text)
{
    if (text == NULL)
        return (struct emit_cell){ .kind = EMIT_EMPTY };
    return (struct emit_cell){ .kind = EMIT_TEXT, .text = text, .length = strlen(text) };
}

static void add_number(const struct emit_style *style, const struct emit_column *column,
                       double value, struct text *out)
{
    char buffer[SC_NUMBER_MAX];
    const int digits = column->exact ? SC_NUMBER_SHORTEST : style->digits;
    const size_t length = sc_number_format(buffer, value, digits);
    if (style->decimal != '.') {
        char *point = memchr(buffer, '.', length);
        if (point != NULL)
            *point = style->decimal;
    }
    text_add(out, buffer, length);
}

/* ---- CSV and TSV ---- */

static void add_csv_text(const struct emit_style *style, const char *text, size_t length, bool alone,
                         struct text *out)
{
    if (style->format == EMIT_TSV) {
        /* TSV has no quotes: what would break the row becomes a blank. */
        for (size_t i = 0; i < length; i++) {
            const char c = text[i];
            text_add_char(out, c == '\t' || c == '\n' || c == '\r' ? ' ' : c);
        }
        return;
    }
    if (!sc_csv_needs_quotes(text, length, style->delimiter) && !(alone && length == 0)) {
        text_add(out, text, length);
        return;
    }
    char small[512];
    const size_t quoted = 2 * length + 2;
    char *buffer = quoted <= sizeof small ? small : malloc(quoted);
    if (buffer == NULL) {
        out->failed = true;
        return;
    }
    text_add(out, buffer, sc_csv_quote(buffer, text, length));
    if (buffer != small)
        free(buffer);
}

static void add_csv_row(const struct emit_style *style, const struct emit_column *columns,
                        const struct emit_cell *cells, size_t count, struct text *out)
{
    const char delimiter = style->format == EMIT_TSV ? '\t' : style->delimiter;
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            text_add_char(out, delimiter);
        if (cells[i].kind == EMIT_NUMBER && style->decimal != delimiter)
            add_number(style, &columns[i], cells[i].number, out);
        else if (cells[i].kind == EMIT_NUMBER) {
            struct text number = { 0 };
            add_number(style, &columns[i], cells[i].number, &number);
            add_csv_text(style, number.bytes, number.length, false, out);
            text_fini(&number);
        } else if (cells[i].kind == EMIT_TEXT)
            add_csv_text(style, cells[i].text, cells[i].length, count == 1, out);
        else if (count == 1)
            text_add_string(out, "\"\"");
    }
    text_add_char(out, '\n');
}

/* ---- JSON ---- */

/* Bytes that are not UTF-8 are taken as Latin-1, so that the result is JSON. */
static void add_json_text(const char *text, size_t length, struct text *out)
{
    text_add_char(out, '"');
    for (size_t i = 0; i < length;) {
        const unsigned char c = (unsigned char)text[i];
        const size_t span = text_character(text + i, length - i);
        if (c == '"' || c == '\\') {
            text_add_char(out, '\\');
            text_add_char(out, (char)c);
        } else if (c < 0x20 || span == 0) {
            text_printf(out, "\\u%04x", (unsigned)c);
        } else {
            text_add(out, text + i, span);
        }
        i += span == 0 ? 1 : span;
    }
    text_add_char(out, '"');
}

static void add_json_row(const struct emit_style *style, const struct emit_column *columns,
                         const struct emit_cell *cells, size_t count, struct text *out)
{
    const struct emit_style plain = { .digits = style->digits, .decimal = '.' };
    text_add_char(out, '{');
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            text_add_char(out, ',');
        add_json_text(columns[i].name, strlen(columns[i].name), out);
        text_add_char(out, ':');
        if (cells[i].kind == EMIT_NUMBER)
            add_number(&plain, &columns[i], cells[i].number, out);
        else if (cells[i].kind == EMIT_TEXT)
            add_json_text(cells[i].text, cells[i].length, out);
        else
            text_add_string(out, "null");
    }
    text_add_char(out, '}');
}

void emit_begin(const struct emit_style *style, const struct emit_column *columns, size_t count,
                struct text *out)
{
    if (style->format == EMIT_JSON) {
        text_add_char(out, '[');
        return;
    }
    if (style->format == EMIT_JSONL)
        return;
    const char delimiter = style->format == EMIT_TSV ? '\t' : style->delimiter;
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            text_add_char(out, delimiter);
        add_csv_text(style, columns[i].name, strlen(columns[i].name), count == 1, out);
    }
    text_add_char(out, '\n');
}

void emit_row(const struct emit_style *style, const struct emit_column *columns,
              const struct emit_cell *cells, size_t count, bool first, struct text *out)
{
    if (style->format == EMIT_JSON) {
        text_add_string(out, first ? "\n" : ",\n");
        add_json_row(style, columns, cells, count, out);
    } else if (style->format == EMIT_JSONL) {
        add_json_row(style, columns, cells, count, out);
        text_add_char(out, '\n');
    } else {
        add_csv_row(style, columns, cells, count, out);
    }
}

void emit_end(const struct emit_style *style, bool any, struct text *out)
{
    if (style->format == EMIT_JSON)
        text_add_string(out, any ? "\n]\n" : "]\n");
}

/* ---- tables ---- */

/* What a printed column looks like; the bar is one more column at the end. */
struct layout {
    struct text header;
    const struct sc_unit *unit; /* numbers are shown in it; NULL: bare */
    int decimals;               /* so many that the column lines up */
    bool floating;              /* magnitudes too far apart for that: significant digits */
    int digits;
    size_t width;
    bool numeric;
};

enum { BAR_CELLS = 20, EXACT_DIGITS = 15 /* that a change of unit leaves alone */ };

size_t emit_stem(const char *name, enum sc_dimension dimension)
{
    static const struct {
        enum sc_dimension dimension;
        const char *suffix;
    } suffixes[] = {
        { SC_SECONDS, "_s" },           { SC_BYTES, "_bytes" },
        { SC_BYTES_PER_SECOND, "_bytes_per_s" }, { SC_HERTZ, "_hz" },
        { SC_JOULES, "_j" },            { SC_JOULES_PER_BIT, "_j_per_bit" },
        { SC_JOULE_SECONDS, "_js" },    { SC_WATTS, "_w" },
        { SC_SQUARE_METRES, "_m2" },    { SC_METRES, "_m" },
        { SC_FLOPS, "_flop_per_s" },    { SC_PER_SECOND, "_per_s" },
        { SC_BITS, "_bits" },           { SC_CYCLES, "_cycles" },
    };
    const size_t length = strlen(name);
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        const size_t suffix = strlen(suffixes[i].suffix);
        if (suffixes[i].dimension == dimension && length > suffix &&
            strcasecmp(name + length - suffix, suffixes[i].suffix) == 0)
            return length - suffix;
    }
    return length;
}

/* Text as a table can show it: what would break the line or play with the
 * terminal is a blank, and what would end a Markdown cell is escaped. */
static void add_shown(const struct emit_style *style, const char *text, size_t length,
                      struct text *out)
{
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c == '|' && style->format == EMIT_MARKDOWN)
            text_add_char(out, '\\');
        text_add_char(out, c < 0x20 || c == 0x7F ? ' ' : (char)c);
    }
}

/* Bytes that add_shown() adds. */
static size_t count_bars(const struct emit_style *style, const char *text, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; style->format == EMIT_MARKDOWN && i < length; i++)
        count += text[i] == '|';
    return count;
}

/* Decimals that give the largest number of a column that many significant digits. */
static int decimals_of(double largest, int digits)
{
    if (digits == SC_NUMBER_SHORTEST || !(largest > 0.0))
        return 0;
    const int whole = (int)floor(log10(largest)) + 1;
    const int decimals = whole < digits ? digits - whole : 0;
    return decimals > SC_NUMBER_EXACT ? SC_NUMBER_EXACT : decimals;
}

static void plan_column(const struct emit_style *style, const struct emit_column *column,
                        const struct emit_cell *cells, size_t row_count, size_t count,
                        struct layout *layout)
{
    double largest = 0.0, smallest = (double)INFINITY;
    size_t numbers = 0, texts = 0, text_columns = 0;
    for (size_t r = 0; r < row_count; r++) {
        const struct emit_cell *cell = &cells[r * count];
        if (cell->kind == EMIT_NUMBER) {
            largest = fmax(largest, fabs(cell->number));
            if (cell->number != 0.0)
                smallest = fmin(smallest, fabs(cell->number));
            numbers++;
        } else if (cell->kind == EMIT_TEXT) {
            const size_t width = text_width(cell->text, cell->length) +
                                 count_bars(style, cell->text, cell->length);
            text_columns = width > text_columns ? width : text_columns;
            texts++;
        }
    }
    layout->numeric = numbers > 0 && texts == 0;
    layout->digits = column->exact ? EXACT_DIGITS : style->digits;
    const bool scaled = layout->numeric && column->dimension != SC_NUMBER &&
                        column->dimension != SC_SHARE;
    layout->unit = scaled ? sc_unit_for_display(column->dimension, fmax(largest, column->largest))
                          : NULL;
    const double shown = layout->unit != NULL ? sc_unit_from_si(layout->unit, largest) : largest;
    layout->decimals = decimals_of(shown, layout->digits);
    /* Magnitudes far apart, or all too small for plain notation. */
    layout->floating = layout->digits == SC_NUMBER_SHORTEST || column->exact ||
                       smallest < largest / 100.0 || (shown > 0.0 && shown < 1e-5);

    const size_t stem = scaled ? emit_stem(column->name, column->dimension)
                               : strlen(column->name);
    add_shown(style, column->name, stem, &layout->header);
    /* "cycles" needs no "(cycles)". */
    if (layout->unit != NULL && strcmp(layout->unit->name, column->name) != 0)
        text_printf(&layout->header, " (%s)", layout->unit->name);
    layout->width = text_width(layout->header.bytes, layout->header.length);
    layout->width = text_columns > layout->width ? text_columns : layout->width;
}

/* The number as the table shows it. */
static size_t format_shown(const struct layout *layout, double value, char out[static SC_NUMBER_MAX])
{
    const double shown = layout->unit != NULL ? sc_unit_from_si(layout->unit, value) : value;
    if (!layout->numeric || layout->digits == SC_NUMBER_SHORTEST ||
        (layout->floating && fabs(shown) < pow(10.0, layout->digits)))
        return sc_number_format(out, shown, layout->digits);
    return sc_number_format_fixed(out, shown, layout->decimals);
}

/* Drops decimals that are zero in every row, so that 40, 80 are not 40.00, 80.00. */
static void trim_decimals(const struct emit_cell *cells, size_t row_count, size_t count,
                          struct layout *layout)
{
    int needed = 0;
    for (size_t r = 0; r < row_count; r++) {
        if (cells[r * count].kind != EMIT_NUMBER)
            continue;
        char buffer[SC_NUMBER_MAX];
        size_t length = format_shown(layout, cells[r * count].number, buffer);
        const char *point = memchr(buffer, '.', length);
        if (point == NULL)
            continue;
        while (length > 0 && buffer[length - 1] == '0')
            length--;
        const int used = (int)(buffer + length - point) - 1;
        needed = used > needed ? used : needed;
    }
    layout->decimals = needed < layout->decimals ? needed : layout->decimals;
    for (size_t r = 0; r < row_count; r++) {
        char buffer[SC_NUMBER_MAX];
        if (cells[r * count].kind != EMIT_NUMBER)
            continue;
        const size_t length = format_shown(layout, cells[r * count].number, buffer);
        layout->width = length > layout->width ? length : layout->width;
    }
}

/* What a stall is drawn with: the first letter of its name that none before it has; the first
 * stall, time that is none, a point. */
static char stall_letter(const struct emit_column *columns, size_t which)
{
    char used[64] = ".";
    size_t count = 0;
    for (size_t i = 0; i <= which; i++) {
        if (columns[i].stall == NULL)
            continue;
        const char *letter = count == 0 ? "." : columns[i].stall;
        while (count > 0 && letter[1] != '\0' && strchr(used, *letter) != NULL)
            letter++;
        if (i == which || count + 1 == sizeof used)
            return *letter;
        used[count++] = *letter;
        used[count] = '\0';
    }
    return '.';
}

/* Twenty cells for the whole time; each stall gets its letter or its colour. */
static void add_bar(const struct emit_style *style, const struct emit_column *columns,
                    const struct emit_cell *cells, size_t count, struct text *out)
{
    static const char *const colours[] = { "\033[32m", "\033[33m", "\033[35m", "\033[31m",
                                           "\033[34m", "\033[36m" };
    double before = 0.0;
    size_t drawn = 0, kind = 0;
    for (size_t i = 0; i < count; i++) {
        if (columns[i].stall == NULL)
            continue;
        before += cells[i].kind == EMIT_NUMBER ? fmax(cells[i].number, 0.0) : 0.0;
        const size_t until = (size_t)lround(fmin(before, 1.0) * BAR_CELLS);
        if (until > drawn && style->colour) {
            text_add_string(out, colours[kind % (sizeof colours / sizeof colours[0])]);
            text_repeat(out, "\u2588", until - drawn);
            text_add_string(out, "\033[0m");
        } else if (until > drawn) {
            const char letter[2] = { stall_letter(columns, i), '\0' };
            text_repeat(out, letter, until - drawn);
        }
        drawn = until > drawn ? until : drawn;
        kind++;
    }
}

static bool has_bar(const struct emit_style *style, const struct emit_column *columns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (columns[i].stall != NULL)
            return style->bar && style->format == EMIT_TABLE;
    return false;
}

/* "time: . free  a access  o order  c capacity", once under the table. */
static void add_legend(const struct emit_style *style, const struct emit_column *columns,
                       size_t count, struct text *out)
{
    struct emit_cell one = { .kind = EMIT_NUMBER, .number = 1.0 };
    text_add_string(out, "\nstalls:");
    for (size_t i = 0; i < count; i++) {
        if (columns[i].stall == NULL)
            continue;
        if (style->colour) {
            /* One cell of the bar in this colour. */
            struct text bar = { 0 };
            struct emit_cell *cells = calloc(count, sizeof *cells);
            if (cells != NULL) {
                one.number = 1.0 / BAR_CELLS;
                cells[i] = one;
                add_bar(style, columns, cells, count, &bar);
                text_printf(out, "  %s %s", bar.bytes == NULL ? "" : bar.bytes, columns[i].stall);
            }
            free(cells);
            text_fini(&bar);
        } else {
            text_printf(out, "  %c %s", stall_letter(columns, i), columns[i].stall);
        }
    }
    text_add_char(out, '\n');
}

static void add_padded(const char *text, size_t length, size_t width, bool right, struct text *out)
{
    const size_t used = text_width(text, length);
    const size_t gap = width > used ? width - used : 0;
    if (right)
        text_repeat(out, " ", gap);
    text_add(out, text, length);
    if (!right)
        text_repeat(out, " ", gap);
}

static void add_table_cell(const struct emit_style *style, const struct layout *layout,
                           const struct emit_cell *cell, struct text *out)
{
    char buffer[SC_NUMBER_MAX];
    if (cell->kind == EMIT_TEXT) {
        struct text shown = { 0 };
        add_shown(style, cell->text, cell->length, &shown);
        out->failed = out->failed || shown.failed;
        add_padded(shown.length > 0 ? shown.bytes : "", shown.length, layout->width,
                   layout->numeric, out);
        text_fini(&shown);
    } else if (cell->kind == EMIT_NUMBER) {
        const size_t length = format_shown(layout, cell->number, buffer);
        char *point = memchr(buffer, '.', length);
        if (point != NULL)
            *point = style->decimal;
        add_padded(buffer, length, layout->width, layout->numeric, out);
    } else {
        add_padded("-", 1, layout->width, layout->numeric, out);
    }
}

static void drop_trailing_blanks(struct text *out)
{
    while (out->length > 0 && out->bytes[out->length - 1] == ' ')
        out->bytes[--out->length] = '\0';
}

/* One printed line: `put` writes column i. */
static void add_line(const struct emit_style *style, const struct emit_column *columns,
                     const struct layout *layouts, const struct emit_cell *cells, size_t count,
                     struct text *out)
{
    const bool markdown = style->format == EMIT_MARKDOWN;
    bool first = true;
    for (size_t i = 0; i < count; i++) {
        if (columns[i].hidden)
            continue;
        text_add_string(out, markdown ? (first ? "| " : " | ") : (first ? "" : "  "));
        if (cells == NULL)
            add_padded(layouts[i].header.bytes, layouts[i].header.length, layouts[i].width,
                       layouts[i].numeric, out);
        else
            add_table_cell(style, &layouts[i], &cells[i], out);
        first = false;
    }
    if (markdown)
        text_add_string(out, " |");
    else if (has_bar(style, columns, count)) {
        text_add_string(out, "  ");
        if (cells == NULL)
            text_add_string(out, "where the time goes");
        else
            add_bar(style, columns, cells, count, out);
    }
    if (!markdown)
        drop_trailing_blanks(out);
    text_add_char(out, '\n');
}

static void add_markdown_rule(const struct emit_column *columns, const struct layout *layouts,
                              size_t count, struct text *out)
{
    for (size_t i = 0; i < count; i++) {
        if (columns[i].hidden)
            continue;
        text_add_string(out, "|");
        text_add_char(out, ' ');
        text_repeat(out, "-", layouts[i].width > 1 ? layouts[i].width - 1 : 1);
        text_add_string(out, layouts[i].numeric ? ": " : "- ");
    }
    text_add_string(out, "|\n");
}

void emit_table(const struct emit_style *style, const struct emit_column *columns,
                const struct emit_cell *cells, size_t row_count, size_t count, struct text *out)
{
    struct layout *layouts = calloc(count > 0 ? count : 1, sizeof *layouts);
    if (layouts == NULL) {
        out->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        plan_column(style, &columns[i], cells + i, row_count, count, &layouts[i]);
        trim_decimals(cells + i, row_count, count, &layouts[i]);
    }
    add_line(style, columns, layouts, NULL, count, out);
    if (style->format == EMIT_MARKDOWN)
        add_markdown_rule(columns, layouts, count, out);
    for (size_t r = 0; r < row_count; r++)
        add_line(style, columns, layouts, cells + r * count, count, out);
    if (has_bar(style, columns, count) && row_count > 0)
        add_legend(style, columns, count, out);
    for (size_t i = 0; i < count; i++)
        text_fini(&layouts[i].header);
    free(layouts);
}

void emit_quantity(double value, enum sc_dimension dimension, int digits, struct text *out)
{
    char buffer[SC_NUMBER_MAX];
    if (isnan(value)) {
        text_add_char(out, '-');
        return;
    }
    if (isinf(value)) {
        text_add_string(out, value > 0 ? "unbounded" : "-unbounded");
        return;
    }
    const bool scaled = dimension != SC_NUMBER && dimension != SC_SHARE && dimension != SC_BITS;
    const struct sc_unit *unit = scaled ? sc_unit_for_display(dimension, fabs(value)) : NULL;
    const double shown = unit != NULL ? sc_unit_from_si(unit, value) : value;
    text_add(out, buffer, sc_number_format(buffer, shown, digits));
    if (unit != NULL) {
        text_add_char(out, ' ');
        text_add_string(out, unit->name);
    }
}
