/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers to decimal text, and decimals back to numbers.
 *
 * A sweep writes and reads millions of numbers, and printf and strtod would be
 * most of its time.  These are several times faster and never less exact: every
 * result is the correctly rounded one (to nearest, ties to even, what glibc
 * gives), on every machine and in every locale.  Nothing is allocated, nothing
 * is kept between calls.
 */
#ifndef SC_NUMBER_H
#define SC_NUMBER_H

#include <stddef.h>
#include <stdint.h>

enum {
    SC_NUMBER_MAX = 48,   /* bytes that hold any text made here, with its NUL */
    SC_NUMBER_EXACT = 17, /* significant digits that bring every double back */
    SC_NUMBER_SHORTEST = 0 /* as few digits as bring this double back */
};

/* Writes `value` with `digits` significant digits, 1 to SC_NUMBER_EXACT,
 * without trailing zeros, and returns the length.  From 1e-5 up to below 1e15
 * the notation is plain (40000000, 0.00002), elsewhere it is 1.5e-09.  Minus
 * zero is written 0.  SC_NUMBER_SHORTEST takes the first of 15, 16 and 17
 * digits that reads back as the same double.  NaN and infinities have no
 * decimal: `out` becomes empty and 0 is returned. */
size_t sc_number_format(char out[static SC_NUMBER_MAX], double value, int digits);

/* Writes `value` with exactly `decimals` digits, 0 to 17, after the point, for
 * columns that line up, and returns the length.  What rounds to zero has no
 * sign.  From 1e15 on the notation is 1.5e+15, with at most `decimals` digits
 * after the point.  NaN and infinities as above. */
size_t sc_number_format_fixed(char out[static SC_NUMBER_MAX], double value, int decimals);

/* The double that one would get by writing `value` with `digits` significant digits, 1 to
 * SC_NUMBER_EXACT: 15us, not the sum of 5us and two steps of it.  NaN and infinities stay. */
double sc_number_rounded(double value, int digits);

/* digits * 10^exponent10, rounded once.  Too large a value gives INFINITY, too
 * small a one 0. */
double sc_number_from_decimal(uint64_t digits, int exponent10);

#endif
