/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What readers of import.h share: lines, numbers, patterns, and the row being made. */
#ifndef SC_READ_IMPORT_PRIVATE_H
#define SC_READ_IMPORT_PRIVATE_H

#include <stdint.h>

#include "read/import.h"

#define SC_IMPORT_COUNT(array) (sizeof(array) / sizeof(array)[0])

extern const struct sc_import_kind sc_import_accelsim, sc_import_uvmsmart, sc_import_dramsim3,
    sc_import_ramulator2, sc_import_mqsim, sc_import_ncu, sc_import_nsys, sc_import_nvprof;

/* ---- text ---- */

/* Part of a line, without a NUL of its own. */
struct sc_piece {
    const char *text;
    size_t length;
};

struct sc_piece sc_piece_of(const char *string);
struct sc_piece sc_piece_trim(struct sc_piece piece);
bool sc_piece_is(struct sc_piece piece, const char *string);
/* Whether it is one of the strings of a list "a|b|c". */
bool sc_piece_is_one_of(struct sc_piece piece, const char *list);
bool sc_piece_starts(struct sc_piece piece, const char *string);
/* Where the string first is, or SIZE_MAX. */
size_t sc_piece_find(struct sc_piece piece, const char *string);
/* What is behind the first `count` bytes; nothing when there are fewer. */
struct sc_piece sc_piece_after(struct sc_piece piece, size_t count);
/* Up to a byte, and what is behind it in *rest; all of it and nothing when it is not there. */
struct sc_piece sc_piece_until(struct sc_piece piece, char end, struct sc_piece *rest);

/* The finite decimal number that the piece begins with, blanks before it aside; *rest, unless
 * NULL, is what follows.  False: it begins with none, or with nan or inf. */
bool sc_piece_number(struct sc_piece piece, double *value, struct sc_piece *rest);
/* All of the piece as a number that may have commas between groups of three digits. */
bool sc_piece_grouped(struct sc_piece piece, double *value);
/* Nothing, -, N/A, nan, inf, none: what tools print for want of a number. */
bool sc_piece_is_none(struct sc_piece piece);
/* The factor to SI of a unit as profilers write it (Kbyte, usecond, GB, cycle/nsecond, ...), its
 * dimension and what SI calls it; a unit that is not known counts itself.  With binary, KB is
 * 1024 B. */
struct sc_measure {
    double factor;
    enum sc_dimension dimension;
    const char *si; /* "s", "B", ..., or NULL when it is not known */
};
struct sc_measure sc_measure_of(struct sc_piece unit, bool binary);

/* value x factor to 15 digits, so that 449 us are 0.000449 s and not the double beside it. */
double sc_scaled(double value, double factor);

/* The product of the numbers in "(96, 1, 1)".  False: it has none. */
bool sc_piece_product(struct sc_piece piece, double *value);

/* ---- the file ---- */

enum {
    SC_IMPORT_LINE_MAX = 1024 * 1024
}; /* bytes of a line; the rest of a longer one is left out */

/* The next line, without its end; *text has a NUL behind it.  False at the end of the file, and
 * when it could not be read, which sc_import_file() reports. */
bool sc_import_line(struct sc_import *import, struct sc_piece *line);
/* Its number; while no line was read, 0. */
size_t sc_import_line_number(const struct sc_import *import);
/* Whether the last line that was read had no end. */
bool sc_import_line_is_cut(const struct sc_import *import);
/* The first bytes of what follows, which stay to be read; blanks and empty lines before are passed
 * over.  False: there is nothing more. */
bool sc_import_peek(struct sc_import *import, struct sc_piece *text);
/* What follows, as it is: at most `most` bytes at once, 0 at the end. */
size_t sc_import_bytes(struct sc_import *import, char *bytes, size_t most);

/* ---- patterns ---- */

/* PCRE2 with limits: enough for any honest pattern on one line, little enough to end soon. */
struct sc_pattern;

struct sc_pattern *sc_pattern_create(const char *text, char reason[static SC_IMPORT_REASON]);
void sc_pattern_destroy(struct sc_pattern *pattern);
bool sc_pattern_matches(struct sc_pattern *pattern, struct sc_piece piece);
/* A group of the last match. */
struct sc_piece sc_pattern_group(const struct sc_pattern *pattern, struct sc_piece piece,
                                 unsigned group);
/* Named groups: how many, and the name and number of each. */
size_t sc_pattern_names(const struct sc_pattern *pattern);
const char *sc_pattern_name(const struct sc_pattern *pattern, size_t i, unsigned *group);
/* Whether some match exceeded the limits. */
bool sc_pattern_gave_up(const struct sc_pattern *pattern);

/* ---- the row ---- */

/* Whether --keep asks for the key. */
bool sc_import_keeps_any(const struct sc_import *import);
bool sc_import_keeps(struct sc_import *import, struct sc_piece key);

/* Column i of the kind. */
void sc_import_set(struct sc_import *import, size_t column, double value);
void sc_import_set_text(struct sc_import *import, size_t column, struct sc_piece text);
/* Forgets what column i of the kind was set to. */
void sc_import_unset(struct sc_import *import, size_t column);
bool sc_import_has(const struct sc_import *import, size_t column, double *value);

/* Any other column, made when it is first named. */
void sc_import_set_named(struct sc_import *import, struct sc_piece name,
                         enum sc_dimension dimension, double value);
/* As the number that it is, else as text, else nothing. */
void sc_import_set_kept(struct sc_import *import, struct sc_piece name, struct sc_piece value);

/* Ends the row, which began on that line, and starts an empty one. */
void sc_import_row(struct sc_import *import, size_t line);
/* Starts an empty row without ending the one before. */
void sc_import_drop(struct sc_import *import);

/* Rows from now on are of another run.  How a run ended is in all of its rows. */
void sc_import_run(struct sc_import *import);
/* A string that stays: "complete", "stopped", "truncated". */
void sc_import_run_ended(struct sc_import *import, const char *how);

/* A remark, and one on something that is not in the table. */
void sc_import_note(struct sc_import *import, size_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void sc_import_refuse(struct sc_import *import, size_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The file is of no use; the first failure counts.  Returns false. */
bool sc_import_fail(struct sc_import *import, size_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool sc_import_failed(const struct sc_import *import);

/* ---- CSV within other text ---- */

enum { SC_IMPORT_FIELDS = 8192 };

/* Fields of a line of CSV (libcsv). */
struct sc_fields {
    struct csv_parser *parser;
    struct sc_piece *field;
    size_t count, capacity;
    size_t *offset; /* into text, while a line is read */
    char *text;
    size_t text_length, text_capacity;
    bool failed;
};

void sc_fields_fini(struct sc_fields *fields);
/* False: it is no line of CSV, or out of memory, which fails the import. */
bool sc_fields_split(struct sc_import *import, struct sc_fields *fields, struct sc_piece line);
/* The field of that name, or SIZE_MAX. */
size_t sc_fields_find(const struct sc_fields *fields, const char *name);

/* Another row's fields, kept: its names.  False: out of memory, which fails the import. */
bool sc_fields_copy(struct sc_import *import, struct sc_fields *to, const struct sc_fields *from);

/* "NAME (UNIT)": the two; the unit is nothing when there is none. */
struct sc_piece sc_header_unit(struct sc_piece header, struct sc_piece *name);

/* Sets the column "NAME (UNIT)", the unit an SI one where it is known, from a number that may have
 * commas between groups of digits; other text as it is. */
void sc_import_set_measured(struct sc_import *import, struct sc_piece name, struct sc_piece unit,
                            bool binary, struct sc_piece value);

#endif
