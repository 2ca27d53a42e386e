/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Results of simulators and profilers, read into one tidy table.
 *
 * A kind is one row of the table of kinds: what it is called, how its files are told from
 * others, which columns it gives and its reader.  Files of any size are read once, in memory
 * that does not grow with them: rows go to a temporary file, and are handed out when all files
 * have been read and all columns are known.  Columns are the union over the files; a row has
 * nothing in those that its file does not give.  What a tool printed as nan, inf or the like is
 * nothing too.
 *
 * Numbers are in SI units, counts are as counted.  Sources of what is known of the formats stand
 * at each reader.  Nothing here prints; remarks go to the caller, who words where they are from.
 */
#ifndef SC_READ_IMPORT_H
#define SC_READ_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "field.h"
#include "status.h" /* SC_MUST_CHECK */

/* What a kind always gives. */
struct sc_import_column {
    const char *name; /* header; its unit at the end */
    enum sc_dimension dimension;
    const char *key; /* what the file calls it, other spellings behind bars; or how it follows */
    const char *help;
    double factor; /* SI units per unit of the file, 0: the same */
    int rule;      /* the reader's own */
};

struct sc_import;

struct sc_import_columns {
    const struct sc_import_column *rows;
    size_t count;
};

enum { SC_IMPORT_TABLES = 2 };

struct sc_import_kind {
    const char *name, *summary;
    const char *row; /* what a row is */
    /* Whether a file that begins so is of this kind. */
    bool (*sniff)(const char *head, size_t length);
    struct sc_import_columns columns[SC_IMPORT_TABLES]; /* one after the other */
    const char *more; /* which columns follow from the file, or NULL */
    /* Adds rows to the table.  False: a failure has been set. */
    bool (*read)(struct sc_import *import);
};

extern const struct sc_import_kind *const sc_import_kinds[];
extern const size_t sc_import_kind_count;

/* The kind of that name, or NULL. */
const struct sc_import_kind *sc_import_kind_find(const char *name);

struct sc_import_options {
    const char *keep; /* PCRE2 pattern: keys of the file that become columns as well; or NULL */
    const char *name; /* PCRE2 pattern whose named groups in the name of a file become columns */
    /* A remark on a file: line 0 when it has none. */
    void (*note)(void *context, const char *file, size_t line, const char *text);
    void *context;
};

enum { SC_IMPORT_REASON = 400 };

struct sc_import_error {
    size_t line;                   /* 1-based, 0 when it has none */
    char reason[SC_IMPORT_REASON]; /* may hold any bytes of the file */
};

/* False: *import is NULL and *error says which pattern is faulty and how. */
bool sc_import_create(struct sc_import **import, const struct sc_import_options *options,
                      struct sc_import_error *error) SC_MUST_CHECK;
void sc_import_destroy(struct sc_import *import);

/* What became of a file. */
struct sc_import_outcome {
    const struct sc_import_kind *kind;
    size_t rows;
    size_t refused; /* rows or blocks that are not in the table, each with a remark */
};

/* Reads a whole file.  kind NULL: found out from what it begins with.  `name` is kept.  False:
 * *error says why, and the rows of this file are of no use. */
bool sc_import_file(struct sc_import *import, const struct sc_import_kind *kind, FILE *file,
                    const char *name, struct sc_import_outcome *outcome,
                    struct sc_import_error *error) SC_MUST_CHECK;

enum sc_import_cell_kind { SC_IMPORT_NOTHING, SC_IMPORT_NUMBER, SC_IMPORT_TEXT };

struct sc_import_cell {
    enum sc_import_cell_kind kind;
    double number; /* finite */
    const char *text;
    size_t length;
};

/* The table, once all files have been read.  The first columns are always file, file_line,
 * format and run_ended.  Names and texts stay the table's: names until it is destroyed, texts until the
 * next row. */
enum { SC_IMPORT_FILE, SC_IMPORT_LINE, SC_IMPORT_FORMAT, SC_IMPORT_RUN_ENDED, SC_IMPORT_FIRST };

size_t sc_import_column_count(const struct sc_import *import);
const char *sc_import_column_name(const struct sc_import *import, size_t column);
enum sc_dimension sc_import_column_dimension(const struct sc_import *import, size_t column);

/* Back to the first row.  False: the temporary file cannot be read. */
bool sc_import_rewind(struct sc_import *import) SC_MUST_CHECK;
/* The next row, into cells[0 .. column_count).  *any false: there is none. */
bool sc_import_next(struct sc_import *import, struct sc_import_cell *cells,
                    bool *any) SC_MUST_CHECK;

/* The columns that every file has, for lists of columns; SC_IMPORT_FIRST of them. */
extern const struct sc_import_column sc_import_first_columns[];

#endif
