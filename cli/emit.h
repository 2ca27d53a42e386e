/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of answers to text: CSV, TSV, JSON, JSON lines, Markdown, aligned table.
 *
 * All number formatting of results happens here.  A column says what it holds;
 * a cell is empty, a number in SI units, or text.  Machine formats get bare SI
 * numbers under headers that end in the unit; tables and Markdown get numbers
 * scaled to a unit that reads well, named in the header.
 *
 * emit_row() is pure (it appends to the caller's text) and may run in several
 * threads for CSV, TSV and JSON lines.  Tables need every row before the first
 * can be written, so emit_table() takes them all.
 */
#ifndef SC_EMIT_H
#define SC_EMIT_H

#include <stdbool.h>
#include <stddef.h>

#include "field.h"
#include "text.h"

enum emit_format { EMIT_TABLE, EMIT_CSV, EMIT_TSV, EMIT_JSON, EMIT_JSONL, EMIT_MARKDOWN };

struct emit_column {
    const char *name;             /* header; unit included, as in time_s */
    enum sc_dimension dimension;  /* of the numbers in it */
    const char *stall;            /* drawn in the bar of a table under this name, or NULL */
    bool hidden;                  /* in tables: only there for the bar */
    bool exact;                   /* every digit, whatever the style says */
    double largest;               /* in tables: the unit is one for numbers as large, or 0 */
};

enum emit_kind { EMIT_EMPTY, EMIT_NUMBER, EMIT_TEXT };

struct emit_cell {
    enum emit_kind kind;
    double number;
    const char *text;
    size_t length;
};

struct emit_style {
    enum emit_format format;
    int digits;     /* significant; 0: shortest that reads back */
    char delimiter; /* of CSV */
    char decimal;   /* '.' or ',' */
    bool colour;    /* terminal that takes colours, for the bar of a table */
    bool bar;       /* draw the stall bar */
};

/* The format of that name, or false. */
bool emit_format_find(const char *name, enum emit_format *format);
/* "table, csv, tsv, json, jsonl, md" */
extern const char emit_format_names[];

/* What stands before the first row, one row, what stands after the last.
 * Not for EMIT_TABLE and EMIT_MARKDOWN. */
void emit_begin(const struct emit_style *style, const struct emit_column *columns, size_t count,
                struct text *out);
void emit_row(const struct emit_style *style, const struct emit_column *columns,
              const struct emit_cell *cells, size_t count, bool first, struct text *out);
void emit_end(const struct emit_style *style, bool any, struct text *out);

/* A whole table (row_count x count cells, row by row), aligned or as Markdown. */
void emit_table(const struct emit_style *style, const struct emit_column *columns,
                const struct emit_cell *cells, size_t row_count, size_t count, struct text *out);

/* One value with its unit for prose: "1.39 ms", "40 MB", "0.92".  An infinite
 * value is "unbounded", NaN is "-". */
void emit_quantity(double value, enum sc_dimension dimension, int digits, struct text *out);

/* Length of a header without its unit: of "time" in "time_s". */
size_t emit_stem(const char *name, enum sc_dimension dimension);

struct emit_cell emit_number(double value); /* NaN and infinities become empty */
struct emit_cell emit_string(const char *text);

#endif
