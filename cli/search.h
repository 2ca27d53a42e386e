/* SPDX-License-Identifier: GPL-3.0-or-later */
/* At which values of a key conditions hold.
 *
 * The range is looked at on a grid; where conditions hold at one point and not at the
 * next, the place between them is narrowed down.  Next to a point at which they nearly
 * hold, or nearly cease to, the best or worst is looked for too, so that a dip between
 * points is seen if the margin leads to it.  What is narrower than that and gives no sign
 * of itself is missed: more points find more.  A range of whole numbers that has no more
 * of them than there are points is looked at in full.
 */
#ifndef SC_SEARCH_H
#define SC_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

#include "problem.h"

/* The conditions as they are, and at the better and the worse end of an interval. */
enum search_side { SEARCH_AS_IS, SEARCH_BETTER, SEARCH_WORSE, SEARCH_SIDES };

enum { SEARCH_DIGITS = 6 }; /* significant ones to which a real value is found */

struct search_axis {
    double low, high; /* the range, both ends included */
    bool whole;       /* numbers only */
    double octave;    /* above 0: only this times powers of two */
};

struct search {
    struct search_axis axis;
    size_t points; /* of the grid, about; at least 2 */
    size_t sides;  /* SEARCH_SIDES, or 1: as they are */
    /* Margins of the sides at a value: above 0 where the conditions hold, never 0, NaN where
     * there is no answer, -INFINITY where there is one that cannot be held against them.  The
     * more, the more there is to spare. */
    void (*probe)(void *context, double value, double margins[SEARCH_SIDES]);
    void *context;
};

/* Where they hold: from low to high, both included, values without an answer aside; whether
 * an end is that of the range, or of the part of it that has answers. */
struct search_span {
    double low, high;
    bool low_is_end, high_is_end;
};

struct search_spans {
    struct search_span *items; /* ascending */
    size_t count, capacity;
    double best, best_margin;  /* where most is to spare, or least is missing; NaN: no answer */
    bool flat;                 /* the margin was the same at all of several points looked at */
};

/*
 * A real end of a span has SEARCH_DIGITS digits and the conditions hold at it; one step
 * of the last digit further out they do not.  Where a span is narrower than that, an end has
 * all digits.  A whole end is the last number at which they hold.  spans has `sides` items,
 * to be freed by search_fini() whatever the outcome.
 */
bool search_run(const struct search *search, struct search_spans *spans, struct problem *problem);
void search_fini(struct search_spans *spans, size_t sides);

/* The points of the grid, ascending: *values is the caller's to free. */
bool search_grid(const struct search_axis *axis, size_t points, double **values, size_t *count,
                 struct problem *problem);

#endif
