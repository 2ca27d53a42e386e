/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading a miss-ratio curve back: the CSV that `stallcast mrc` writes.
 *
 * Columns cache_bytes and miss_ratio, in any place among others, which do not matter; a row per
 * size, none given twice, from small to large; sizes from 0, ratios from 0 to 1 that rise nowhere
 * by more than a rounding error of 1e-5, unless the curve has an error estimate (a column
 * miss_ratio_error): then they may rise.  Numbers may have a decimal comma.  A column
 * cache_blocks, if there is one, tells how large a block was.
 *
 * Nothing here prints, and no state is kept outside the caller's structs.
 */
#ifndef SC_READ_MISS_CURVE_H
#define SC_READ_MISS_CURVE_H

#include <stddef.h>
#include <stdio.h>

#include "status.h" /* SC_MUST_CHECK */

struct sc_miss_curve {
    double *cache_bytes; /* rising */
    double *miss_ratio;
    size_t count; /* at least 1 */
    double block_above, block_most; /* a block was larger than, and at most; 0 and INFINITY: not known */
};

struct sc_miss_curve_error {
    size_t line;       /* 1-based, 0: the file as a whole */
    const char *column; /* a constant, or "" */
    char reason[160];  /* "expected ..., got ..."; may hold any bytes of the file */
};

/* Reads `file`, which stays the caller's, to its end.  SC_OK: *curve is to be ended with
 * sc_miss_curve_fini.  SC_EDOMAIN: the file is no such curve; SC_ENOSPACE: no memory.  Then *curve
 * is all zero and *error, unless NULL, says why. */
enum sc_status sc_miss_curve_read(FILE *file, struct sc_miss_curve *curve,
                                  struct sc_miss_curve_error *error) SC_MUST_CHECK;
void sc_miss_curve_fini(struct sc_miss_curve *curve);

/* The miss ratio at a size: 1 at none, linear between rows, that of the last row beyond it. */
double sc_miss_curve_at(const struct sc_miss_curve *curve, double cache_bytes);

#endif
