/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables in data/: GPUs, models, flash devices, measured kernels.
 *
 * They are embedded in the binary; a directory given by --data or STALLCAST_DATA
 * takes the place of all of them.  Tables are read when first asked for and
 * stay.  Not for several threads at once until what they need has been read.
 */
#ifndef SC_CATALOG_H
#define SC_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "problem.h"
#include "read/csv.h"

struct catalog;

struct catalog_table {
    char *name;  /* as asked for, or the path of a user's file */
    char *shown; /* in messages: where it was read from */
    bool file;   /* a user's own file */
    char **columns;
    size_t column_count, row_count;
    size_t header_line;
    struct sc_csv_batch rows; /* every row has column_count fields */
};

/* directory NULL: the embedded tables.  NULL when memory ran out. */
struct catalog *catalog_create(const char *directory);
void catalog_destroy(struct catalog *catalog);

/* The table data/NAME.csv, or NULL with the reason. */
const struct catalog_table *catalog_table(struct catalog *catalog, const char *name,
                                          struct problem *problem);
/* A table in a user's own file. */
const struct catalog_table *catalog_file(struct catalog *catalog, const char *path,
                                         struct problem *problem);

/* The file data/NAME.csv, to be closed.  NULL with an empty reason: there is none. */
FILE *catalog_open(const struct catalog *catalog, const char *name, struct problem *problem);

const char *catalog_cell(const struct catalog_table *table, size_t row, size_t column);
/* The number that a cell of the column holds. */
bool catalog_number(const char *column, const char *cell, double *value, struct problem *problem);
/* Index of a column, or SIZE_MAX. */
size_t catalog_column(const struct catalog_table *table, const char *name);
/* Row whose first column is the name, or SIZE_MAX. */
size_t catalog_row(const struct catalog_table *table, const char *name);
/* The line of the file that a row starts on. */
size_t catalog_line(const struct catalog_table *table, size_t row);
#endif
