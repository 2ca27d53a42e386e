/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How far predictions are from what happened, in the customary numbers.
 *
 * Ratios are prediction / actual, so a positive bias means predicted too high.
 * A mean of nothing, and a correlation with something constant, is NaN: the
 * caller says so in words.
 */
#ifndef SC_SCORE_H
#define SC_SCORE_H

#include <stdbool.h>
#include <stddef.h>

#include "status.h"

/* Median; the values are left in order.  NaN of none. */
double sc_median(double *values, size_t n);

/* True if each number of one equals its like of the other; NaN equals nothing. */
bool sc_are_equal(const double *a, const double *b, size_t n);

/* A geometric mean in the making: start from all zero and add logarithms. */
struct sc_geometric_mean {
    double log_sum;
    size_t n;
};
void sc_geometric_mean_add(struct sc_geometric_mean *mean, double log_value);
/* NaN of nothing. */
double sc_geometric_mean(const struct sc_geometric_mean *mean);

struct sc_score {
    size_t n;
    double mape;            /* mean |ratio - 1| */
    double geometric_error; /* exp(mean |log ratio|): 1.05 is "a factor of 1.05 off" */
    double bias;            /* mean log ratio, signed */
    double median_error;    /* median |ratio - 1| */
    double max_error;       /* max |ratio - 1| */
    size_t max_index;       /* where; n when there are none */
    double nrmse;           /* root mean square of (prediction - actual) / mean actual */
    double pearson_log;     /* of the logarithms; NaN below 2 or when either is constant */
    double kendall_tau;     /* tau-b; NaN likewise */
    size_t interval_n;      /* predictions that came with an interval */
    double coverage;        /* share of those with low <= actual <= high */
    double interval_ratio;  /* geometric mean of high / low */
};

/*
 * Scores n predictions.  low and high may both be NULL: no intervals; a NaN in
 * either marks a prediction without one.  SC_EDOMAIN with the value at fault:
 * a prediction ("predicted"), actual ("actual") or bound ("interval") that is
 * not a finite number above 0, or low > high.  SC_ENOSPACE: no memory.
 */
enum sc_status sc_score_compute(struct sc_score *score, const double *predicted,
                                const double *actual, const double *low, const double *high,
                                size_t n, struct sc_error *error) SC_MUST_CHECK;

/* Of shares, where differences mean more than ratios: prediction - actual. */
struct sc_point_score {
    size_t n;
    double mean_error; /* mean |difference| */
    double bias;       /* mean difference, signed */
    double max_error;
    double kendall_tau; /* tau-b; NaN below 2 or when either is constant */
};

/* No NaN in either.  What has no value, a mean of nothing, is NaN.  SC_ENOSPACE: no memory. */
enum sc_status sc_score_points(struct sc_point_score *score, const double *predicted,
                               const double *actual, size_t n) SC_MUST_CHECK;

/*
 * Kendall's tau-b in O(n log n) (Knight, J. Am. Stat. Assoc. 61, 1966): 1 when x
 * and y rank alike, -1 when opposite; pairs tied in x or y count as Kendall
 * (Biometrika 33, 1945) has it.  *tau is NaN when n < 2 or all x or all y are
 * equal.  No NaN in x or y.  SC_ENOSPACE: no memory.
 */
enum sc_status sc_kendall_tau(const double *x, const double *y, size_t n,
                              double *tau) SC_MUST_CHECK;

#endif
