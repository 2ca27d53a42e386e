/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What counters of a run must fulfil whatever was run: Little's law, conservation, limits of the
 * machine.  A check is one expression over columns that `import` writes, and holds where the file
 * has all of them and the row a number in each.
 */
#ifndef SC_CHECK_COUNTERS_H
#define SC_CHECK_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>

#include "problem.h"
#include "rows.h"
#include "text.h"

struct counter_checks;

/* Those that the columns of the file allow.  NULL with the reason: no memory. */
struct counter_checks *counter_checks_create(const struct rows *rows, struct problem *problem);
void counter_checks_destroy(struct counter_checks *checks);
/* Adds what fails in the row, "; " between; nothing if all is well. */
void counter_checks_row(const struct counter_checks *checks, const struct sc_csv_field *cells,
                        size_t cell_count, struct text *failed);

#endif
