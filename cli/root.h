/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a function of one key changes its sign. */
#ifndef SC_ROOT_H
#define SC_ROOT_H

#include <stdbool.h>

/* Width, relative or of a logarithm, at which a place is known. */
extern const double root_narrow_enough;

struct root {
    /* Either sign, and 0 counts as below 0; NaN: none, which ends the search. */
    double (*value)(void *context, double key);
    void *context;
};

/*
 * Moves *low and *high together, from either side, until they are narrow and the sign
 * still changes between them: Brent's method (Brent, 1973, ch. 4) on the logarithm of
 * the key where both ends are above 0, then halving of what it leaves wide on one side.
 * False: a value in between is NaN, or the signs of the ends are the same.
 */
bool root_narrow(const struct root *root, double *low, double *high);

/* The same for whole numbers, until they are neighbours. */
bool root_narrow_whole(const struct root *root, double *low, double *high);

#endif
