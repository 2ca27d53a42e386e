/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Scrambled Sobol points that can be had in any order.
 *
 * Points are Sobol's (gsl_qrng, up to 40 dimensions) from the origin on: 2^m of
 * them put exactly one into each of certain 2^m boxes only if the first is kept
 * (Owen, "On dropping the first Sobol' point", MCQMC 2020).  The seed scrambles
 * the digits: a random lower triangular matrix for each dimension, then a
 * digital shift (Matousek, J. Complexity 14, 1998).  Both keep that property,
 * which a shift modulo 1 does not, and the matrix breaks up the streaks that
 * unscrambled high dimensions show when samples are few.
 */
#ifndef SC_POINTS_H
#define SC_POINTS_H

#include <stddef.h>
#include <stdint.h>

#include "status.h"

enum {
    SC_POINTS_DIMENSIONS_MAX = 40,
    SC_POINTS_MAX = 1 << 24, /* making them takes time in proportion: 1 s for these */
    SC_POINTS_BITS = 24      /* digits of i */
};

/* Holds no memory of its own. */
struct sc_points {
    size_t count, dimension_count;
    struct {
        uint64_t directions[SC_POINTS_BITS]; /* scrambled, 53 bits */
        uint64_t shift;
    } dimensions[SC_POINTS_DIMENSIONS_MAX];
};

/* At least 1 point in at least 1 dimension.  SC_ERANGE: "dimensions" or "samples" beyond the
 * maxima; SC_ENOSPACE: no memory. */
enum sc_status sc_points_init(struct sc_points *points, size_t dimensions, size_t count,
                              uint64_t seed, struct sc_error *error) SC_MUST_CHECK;

/* Coordinate k of point i in [0, 1); i < count, k < dimension_count. */
double sc_points_coordinate(const struct sc_points *points, uint64_t i, size_t k);

#endif
