/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --map: columns computed from those of an imported table, so that a row is a scenario. */
#ifndef SC_IMPORT_MAP_H
#define SC_IMPORT_MAP_H

#include <stdbool.h>
#include <stddef.h>

#include "emit.h"
#include "problem.h"
#include "read/import.h"
#include "text.h"

struct import_map;

/* `items`: texts "NAME=EXPRESSION; ...", or the names of maps that come with the program, up to
 * the first NULL and at most `most`.  NULL with the reason. */
struct import_map *import_map_create(const char *const *items, size_t most,
                                     struct problem *problem);
void import_map_destroy(struct import_map *map);

/* Fits the map to the columns of the table.  Columns of the table that it makes anew keep their
 * place, others come behind, and last, with a map that comes with the program, not_counted: why
 * the row is unfit to be compared with answers. */
bool import_map_bind(struct import_map *map, const struct sc_import *table,
                     struct problem *problem);

/* Columns of the table and those of the map; names are the table's and the map's. */
size_t import_map_columns(const struct import_map *map);
struct emit_column import_map_column(const struct import_map *map, size_t i);

/* The cells of a row: cells[0 .. import_map_columns()) from those of the table. */
void import_map_row(struct import_map *map, const struct sc_import_cell *row,
                    struct emit_cell *cells);

/* After the last row, to standard error: what a map that comes with the program has against rows,
 * and rows in which text stood where a number was needed. */
void import_map_report(const struct import_map *map);

/* Names and what they are for, for --help. */
size_t import_maps(void);
const char *import_map_name(size_t i);
/* The text of a map that comes with the program. */
const char *import_map_text(size_t i);

#endif
