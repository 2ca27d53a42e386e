/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of a CSV file as scenarios: which columns set keys, and what a row comes to. */
#ifndef SC_ROWS_H
#define SC_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "emit.h"
#include "filter.h"
#include "options.h"
#include "problem.h"
#include "read/csv.h"
#include "scenario.h"

/* A column that sets a key, and where it stands. */
struct row_source {
    struct binding binding;
    size_t column;
};

struct rows {
    struct resolver *resolver;
    const char *name; /* of the file, for messages */
    FILE *file;
    struct sc_csv *reader;
    char decimal;
    size_t column_count; /* of the file */
    struct row_source *sources;
    size_t source_count;
    const struct setting *given; /* what fills the keys that a row leaves empty */
    size_t given_count;
};

/* Opens the file, "-" being standard input, and reads its header.  The style takes over a
 * decimal comma of the file, and then its delimiter, unless the options say otherwise.
 * rows_close() whatever the outcome. */
bool rows_open(struct rows *rows, struct resolver *resolver, const char *path,
               const struct options *options, struct emit_style *style, struct problem *problem);

/* Finds the keys among the columns, but for column `apart` (SIZE_MAX: none).  The settings
 * stay the caller's. */
bool rows_bind(struct rows *rows, size_t apart, const struct setting *given, size_t given_count,
               struct problem *problem);
void rows_close(struct rows *rows);

/* A column of the file by its name, or SIZE_MAX. */
size_t rows_column(const struct rows *rows, const char *name);
/* Names of columns[0 .. column_count) are those of the file; in JSON, where columns that share a
 * name would be one member, the second note is note_2.  `names` keeps what is made up. */
bool rows_name_columns(const struct rows *rows, enum emit_format format, struct text *names,
                       struct emit_column *columns, struct problem *problem);
/* The cells of a row as they are, empty where it is short. */
void rows_cells(const struct rows *rows, const struct sc_csv_field *fields, size_t field_count,
                struct emit_cell *cells);
/* What a long row has too much of, behind its error. */
void rows_add_surplus(const struct rows *rows, const struct sc_csv_field *fields,
                      size_t field_count, struct text *error);
/* Whether --only keeps the row; `line` is scratch. */
bool rows_keep(struct filter *filter, const struct sc_csv_field *fields, size_t field_count,
               struct text *line);

/* "file:line: reason" of what the reader says. */
bool rows_describe_fault(const struct rows *rows, const struct sc_csv_error *error,
                         struct problem *problem);
/* "file:line: column: reason"; column NULL is left out. */
bool rows_place(const struct rows *rows, size_t line, const char *column, struct problem *problem);

/* Makes scenarios; one for each thread. */
struct row_reader {
    const struct rows *rows;
    struct setting *settings;
    bool *counts; /* settings that the row gives; others come from the command line */
    /* The last text read under each source and what it meant: columns repeat. */
    struct row_memory *memory;
};

/* After rows_bind; false: no memory.  row_reader_fini() whatever the outcome. */
bool row_reader_init(struct row_reader *reader, const struct rows *rows);
void row_reader_fini(struct row_reader *reader);

/* The scenario of a row, whose fields are `cells`. */
bool row_scenario(struct row_reader *reader, const struct sc_csv_row *row,
                  const struct sc_csv_field *cells, void *scenario, struct problem *problem);

/* A cell with nothing but blanks. */
bool row_is_blank(const struct sc_csv_field *cell);

#endif
