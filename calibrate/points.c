/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Point i of a Sobol sequence is the exclusive or of the direction numbers at
 * the ones of Gray's code of i (Antonov & Saleev, USSR Comput. Math. 19, 1979).
 * GSL keeps its direction numbers to itself and gives points 1, 2, 3 ... in turn;
 * points 2^k give them away: x(2^k) = v(k) ^ v(k - 1).
 */
#include "points.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_qrng.h>

#include "sim/rng.h"

enum {
    GSL_DIGITS = 30,    /* of gsl_qrng_sobol's points */
    POINT_DIGITS = 53,  /* of ours */
    STREAM_SCRAMBLE = 0x50b01
};

static enum sc_status refuse(struct sc_error *error, enum sc_status status, const char *field,
                             double value, const char *reason)
{
    if (error != NULL)
        *error = (struct sc_error){ .field = field, .value = value, .reason = reason };
    return status;
}

/* Digits of i below the number of samples. */
static unsigned digits_of(size_t samples)
{
    unsigned digits = 0;
    while (((samples - 1) >> digits) > 0)
        digits++;
    return digits;
}

/* Fills directions[0 .. digits - 1] of all dimensions, unscrambled, 30 bits. */
static int find_directions(struct sc_points *points, unsigned digits)
{
    double point[SC_POINTS_DIMENSIONS_MAX];
    const size_t dimensions = points->dimension_count;
    gsl_qrng *qrng = gsl_qrng_alloc(gsl_qrng_sobol, (unsigned)dimensions);
    if (qrng == NULL)
        return GSL_ENOMEM;
    int status = GSL_SUCCESS;
    size_t i = 0;
    for (unsigned digit = 0; digit < digits && status == GSL_SUCCESS; digit++) {
        for (; i < (size_t)1 << digit && status == GSL_SUCCESS; i++)
            status = gsl_qrng_get(qrng, point);
        for (size_t k = 0; k < dimensions; k++) {
            uint64_t *directions = points->dimensions[k].directions;
            directions[digit] = (uint64_t)ldexp(point[k], GSL_DIGITS);
            if (digit > 0)
                directions[digit] ^= directions[digit - 1];
        }
    }
    gsl_qrng_free(qrng);
    return status;
}

static uint64_t parity(uint64_t bits)
{
    for (unsigned shift = 32; shift > 0; shift /= 2)
        bits ^= bits >> shift;
    return bits & 1;
}

/*
 * Multiplies the directions by a random matrix of 53 rows and 30 columns over
 * the integers modulo 2: ones on the diagonal, nothing above it.  Digit r then
 * depends on the digits up to r, so that boxes of all sizes keep their points.
 */
static void scramble(struct sc_points *points, size_t k, struct sc_sim_rng rng)
{
    uint64_t scrambled[SC_POINTS_BITS] = { 0 };
    uint64_t *directions = points->dimensions[k].directions;
    for (unsigned row = 0; row < POINT_DIGITS; row++) {
        uint64_t mask = sc_sim_rng_next(&rng) >> (64 - GSL_DIGITS);
        if (row < GSL_DIGITS) {
            const uint64_t diagonal = UINT64_C(1) << (GSL_DIGITS - 1 - row);
            mask = (mask | diagonal) & ~(diagonal - 1);
        }
        for (unsigned digit = 0; digit < SC_POINTS_BITS; digit++)
            scrambled[digit] |= parity(mask & directions[digit]) << (POINT_DIGITS - 1 - row);
    }
    memcpy(directions, scrambled, sizeof scrambled);
    points->dimensions[k].shift = sc_sim_rng_next(&rng) >> (64 - POINT_DIGITS);
}

enum sc_status sc_points_init(struct sc_points *points, size_t dimensions, size_t count,
                              uint64_t seed, struct sc_error *error)
{
    *points = (struct sc_points){ .count = count, .dimension_count = dimensions };
    if (count == 0 || count > SC_POINTS_MAX)
        return refuse(error, SC_ERANGE, "samples", (double)count, "must be from 1 to 16777216");
    if (dimensions == 0 || dimensions > SC_POINTS_DIMENSIONS_MAX)
        return refuse(error, SC_ERANGE, "dimensions", (double)dimensions, "must be from 1 to 40");
    gsl_error_handler_t *handler = gsl_set_error_handler_off();
    const int gsl_status = find_directions(points, digits_of(count));
    gsl_set_error_handler(handler);
    if (gsl_status != GSL_SUCCESS)
        return refuse(error, SC_ENOSPACE, "samples", (double)count,
                      "need more memory than there is");
    for (size_t k = 0; k < dimensions; k++)
        scramble(points, k, sc_sim_rng_make(seed, k, STREAM_SCRAMBLE));
    return SC_OK;
}

double sc_points_coordinate(const struct sc_points *points, uint64_t i, size_t k)
{
    uint64_t gray = i ^ (i >> 1), digits = points->dimensions[k].shift;
    for (size_t digit = 0; gray != 0 && digit < SC_POINTS_BITS; digit++, gray >>= 1)
        if (gray & 1)
            digits ^= points->dimensions[k].directions[digit];
    return ldexp((double)digits, -POINT_DIGITS);
}
