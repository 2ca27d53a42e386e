/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A comparison as rows: columns of the file, and what stands beside them.
 *
 * Formats for machines have every column.  A table has those columns of the file that tell its
 * rows apart, and leaves out what is empty in every row.
 */
#ifndef SC_COMPARE_TABLE_H
#define SC_COMPARE_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "comparison.h"
#include "emit.h"
#include "options.h"
#include "problem.h"

/* Columns of the file that --columns names ("all", or NULL: as the format has it); order: rows,
 * of which `count` are written. */
bool compare_table_write(const struct comparison *comparison, const struct options *options,
                         const struct emit_style *style, const size_t *order, size_t count,
                         struct problem *problem);

#endif
