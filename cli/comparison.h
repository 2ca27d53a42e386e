/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measurements beside the closed form, row by row.
 *
 * A metric is judged by ratios, predicted over measured.  A share of something is judged by the
 * difference in points (hundredths), since 0 is a share too and 1 % for 2 % is no factor of 2;
 * performance and share of peak are reciprocals of a slowdown, and so ratios.
 */
#ifndef SC_COMPARISON_H
#define SC_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>

#include "calibration.h"
#include "observed.h"
#include "problem.h"

enum standing {
    STANDING_COUNTED,
    STANDING_ONE_SIDED, /* the measurement is a bound: shown, in no mean */
    STANDING_NOT_COUNTED,
    STANDING_BAD,
    STANDINGS
};

struct compared_row {
    const struct observed_row *row;
    enum standing standing;
    bool met;                    /* one-sided: predicted on the side of the measurement */
    double predicted, low, high; /* SI; NaN: none */
    double ratio;                /* predicted / measured; NaN: none, or judged in points */
    double error;                /* 0.01: 1 %, or a point; NaN: none */
    const char *bound, *reason;  /* NULL: none */
    char *owned;                 /* what reason points to, or NULL */
    char *failed_checks;         /* NULL: none */
};

struct comparison {
    const struct observed *observed;
    struct compared_row *rows;
    size_t count;
    size_t standings[STANDINGS]; /* how many of each */
    bool in_points, has_intervals;
    double level; /* of the intervals */
    struct extrapolation extrapolation;
};

/* False: no memory.  comparison_fini() whatever the outcome. */
bool comparison_make(struct comparison *comparison, const struct observed *observed,
                     const struct calibration *calibration, struct problem *problem);
void comparison_fini(struct comparison *comparison);

/* Whether the measurement is within the interval; only where there are both. */
bool comparison_inside(const struct compared_row *row);
bool comparison_has_inside(const struct compared_row *row);

/* Indices of rows, the worst first: counted ones by their error, then the others as in the file,
 * bad ones last. */
bool comparison_order(const struct comparison *comparison, size_t *order);

/* Splits classes of rows by a column of the file: classes[i] is the first row that is alike.
 * Start with all 0.  Returns how many there are; 0: no memory. */
size_t comparison_split(const struct comparison *comparison, size_t column, size_t *classes);

#endif
