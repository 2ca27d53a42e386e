/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of a CSV file that are scenarios with something measured: what `compare` and `fit` read.
 *
 * One column is the measurement: --measured COLUMN[=METRIC], or else the one that is called
 * measured_METRIC, or time_s, cycles or slowdown.  Its header may carry a unit, as in time_ms
 * or 'time (ms)', and its cells may.  A cell that begins with > or < is known from one side
 * only, as when a run was stopped.
 *
 * A row keeps its place whatever is wrong with it.  One with text in a column `not_counted`,
 * or 0 in a column `kernel_whole`, is a scenario, but its measurement is not to be counted.
 */
#ifndef SC_OBSERVED_H
#define SC_OBSERVED_H

#include <stdbool.h>
#include <stddef.h>

#include "command.h"
#include "filter.h"
#include "rows.h"

/* How the measurement is known. */
enum observed_kind { OBSERVED_EXACT, OBSERVED_AT_LEAST, OBSERVED_AT_MOST };

struct observed_row {
    size_t line; /* of the file */
    const struct sc_csv_field *cells;
    size_t cell_count;
    void *scenario;  /* NULL: the row is none, see bad */
    double measured; /* SI, not below 0; NaN: none */
    enum observed_kind kind;
    char *bad;               /* "file:line: column: reason": what is wrong with the row, or NULL */
    const char *not_counted; /* why the measurement does not count, or NULL */
};

struct observed {
    struct rows rows;
    struct filter *filter;
    const struct sc_metric *metric; /* what was measured */
    size_t column;                  /* where */

    struct observed_row *items;
    size_t count, bad_count;
    size_t reason_column, whole_column; /* SIZE_MAX: none */
    const struct sc_unit *unit;                      /* of bare numbers in the column, or NULL */
    const struct sc_field *clock;                    /* what turns cycles into seconds */
    struct sc_csv_batch *batches;                    /* what cells point to */
    size_t batch_count, batch_capacity;
    unsigned char *scenarios;
};

/* The reason of a row that would count but for a measurement of 0, which is fine for what is not
 * judged by ratios. */
extern const char observed_zero[];

/* Reads all of the file; says on standard error which column it took for the measurement where
 * that was not told.  Only a file that cannot be read, or that has no such column, is an error.
 * The style takes over the file's decimal comma (rows_open).  observed_fini() whatever the
 * outcome. */
bool observed_read(struct observed *observed, struct resolver *resolver, const char *path,
                   const struct options *options, struct emit_style *style,
                   const struct setting *given, size_t given_count, struct problem *problem);
void observed_fini(struct observed *observed);

/* The system whose keys most columns of the file name, if no other has as many; it is then said on
 * standard error.  NULL with the reason. */
const struct sc_system *observed_system(const char *path, struct catalog *catalog,
                                        const struct options *options, struct problem *problem);

/* The file is that of --from, or the word without a =; the other words, which are keys, move up. */
bool observed_file(const struct command *command, const struct options *options,
                   const char **words, size_t *count, const char **path, struct problem *problem);

/* The metric that a column is called after, and the unit of bare numbers in it (NULL: the
 * dimension's own); NULL: none.  A column `cycles` of a system without such a metric is time_s. */
const struct sc_metric *observed_metric(const struct sc_system *system, const char *column,
                                        const struct sc_unit **unit);

/* A column of the file by its name, or SIZE_MAX. */
static inline size_t observed_column(const struct observed *observed, const char *name)
{
    return rows_column(&observed->rows, name);
}

/* Of the answer to a row's scenario. */
double observed_value(const struct observed *observed, const void *answer);

#endif
