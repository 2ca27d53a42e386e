/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which of several uncertain inputs the variance of an output comes from: Sobol's
 * first-order and total indices.
 *
 *	S_i  = V(E(y | x_i)) / V(y)         what would be gone if x_i were known
 *	ST_i = E(V(y | all but x_i)) / V(y) what would be left if only x_i were not known
 *
 * Inputs are independent and uniform in [0, 1): the caller maps them.  With the rows of two
 * independent samples A and B, and AB_i = A with column i of B,
 *
 *	S_i  = mean(y_B (y_ABi - y_A)) / V       (Saltelli et al., Comput. Phys. Commun. 181, 2010)
 *	ST_i = mean((y_A - y_ABi)^2) / (2 V)     (Jansen, Comput. Phys. Commun. 117, 1999)
 *
 * y less its mean.  Points are scrambled Sobol points in twice as many dimensions as there are
 * inputs, in SC_SOBOL_BATCHES batches that are scrambled independently; standard errors are
 * those of the jackknife over batches.  The work is samples x (inputs + 2) outputs.
 */
#ifndef SC_SOBOL_H
#define SC_SOBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "points.h"
#include "status.h"

enum {
    SC_SOBOL_INPUTS_MAX = SC_POINTS_DIMENSIONS_MAX / 2,
    SC_SOBOL_BATCHES = 16,
    SC_SOBOL_SAMPLES_MIN = 16 * SC_SOBOL_BATCHES,
    SC_SOBOL_SAMPLES_MAX = SC_POINTS_MAX
};

struct sc_sobol_index {
    double first, first_se, total, total_se;
};

struct sc_sobol {
    struct sc_sobol_index indices[SC_SOBOL_INPUTS_MAX];
    double mean, variance;  /* of the output */
    double first_sum, first_sum_se; /* of all first-order indices: 1 if inputs add up */
};

struct sc_sobol_problem {
    size_t inputs;  /* from 1 to SC_SOBOL_INPUTS_MAX */
    size_t samples; /* rows of A; a power of two, SC_SOBOL_SAMPLES_MIN to _MAX */
    uint64_t seed;
    /* The output for inputs x; false: it has none, which ends all. */
    bool (*output)(void *context, const double *x, double *y);
    void *context;
};

/*
 * SC_ERANGE: "inputs" or "samples" out of range; SC_EMISSING: an "output" is missing;
 * SC_EDOMAIN: the "output" does not vary, or is not finite; SC_ENOSPACE: no memory.
 */
enum sc_status sc_sobol(const struct sc_sobol_problem *problem, struct sc_sobol *sobol,
                        struct sc_error *error) SC_MUST_CHECK;

#endif
