/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where, between two neighbouring points of a sweep, the winner of a contest changes. */
#ifndef SC_CROSSOVER_H
#define SC_CROSSOVER_H

#include "ranking.h"

enum change_kind {
    CHANGE_CROSSOVER, /* both are equally good there */
    CHANGE_JUMP       /* the metric of one of them jumps there */
};

/* From `value` on (in the direction of the sweep) row `to` is ahead of row `from`. */
struct change {
    size_t point; /* of the sweep that it comes after; the caller's */
    double value; /* in the unit of the setting */
    size_t from, to;
    enum change_kind kind;
};

struct changes {
    struct change *items;
    size_t count, capacity;
};

/* A stretch of a key, settings[key], both ends not tried again. */
struct stretch {
    struct setting *settings; /* a scenario, with room for one more; is written to */
    size_t count, key;
    double low, high;    /* of the sweep, in its order: low may be the larger */
    double ends[2];      /* crossover_find's own */
    size_t first, last;  /* winners at both */
    size_t point;
    struct standing *scratch; /* contest->rows.count items */
};

/*
 * Appends the changes in their order.  The place is found by Brent's method on the
 * difference of log metric of two rows (Brent, 1973, ch. 4), to 1e-10 of the value; for a
 * whole number it is the first with the new winner.  Where both are equal at an end and
 * part next to it, the place is the end.  One that wins only between is
 * found when it is ahead where those two are equal.  False with the reason: some
 * answer is missing in between, or out of memory; what was found before stays.
 */
bool crossover_find(const struct contest *contest, const struct stretch *stretch,
                    struct changes *changes, struct problem *problem);

#endif
