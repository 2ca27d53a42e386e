/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which of several predictions is the smallest in truth, and how surely.
 *
 * Each truth is its prediction times exp(residual).  The residual is symmetric
 * about 0, and of its absolute value some quantiles are known, those that
 * split-conformal prediction tabulates (conformal.h).  Residuals of different
 * predictions are taken for independent; errors that they share make the
 * probabilities that come out less sure than they need be.
 *
 * Between two levels the distribution of the absolute residual is linear, as it is
 * from 0 to the first.  Beyond the last level nothing is known but the mass that is
 * left: it thins out as before, i.e. each further halving of it takes as long a way
 * as the last halving within the table did.  After SC_SPREAD_HALVINGS of them the
 * rest ends within one more.
 *
 * With F_i the distribution of log prediction + residual,
 *
 *	P(i is the smallest) = integral dF_i(x) product over j != i of (1 - F_j(x))
 *
 * (David and Nagaraja, Order Statistics, 2003, ch. 5).  All F are piecewise linear,
 * so between two of their corners the integrand is a polynomial, which Gauss-Legendre
 * integrates without error but rounding.
 */
#ifndef SC_BEST_H
#define SC_BEST_H

#include <stddef.h>

#include "status.h"

enum { SC_SPREAD_LEVELS_MAX = 64, SC_SPREAD_HALVINGS = 20 };

/* Distribution of an absolute log residual: its corners, ascending in both. */
struct sc_spread {
    double residual[SC_SPREAD_LEVELS_MAX + SC_SPREAD_HALVINGS + 2];
    double level[SC_SPREAD_LEVELS_MAX + SC_SPREAD_HALVINGS + 2]; /* from 0 to 1 */
    size_t count;
};

/*
 * From `count` levels, ascending between 0 and 1, and the quantiles of the absolute
 * log residual at them, at least 0; one below its predecessor counts as equal to it.
 * Residuals that are equal are told apart by 1e-9, so an exact prediction is one to that.
 * SC_EMISSING: no levels; SC_ENOSPACE: above SC_SPREAD_LEVELS_MAX; SC_EDOMAIN: a
 * "level" or a "quantile" that is none.
 */
enum sc_status sc_spread_init(struct sc_spread *spread, const double *levels,
                              const double *quantiles, size_t count,
                              struct sc_error *error) SC_MUST_CHECK;

/* Probability that the (signed) residual is at most x. */
double sc_spread_below(const struct sc_spread *spread, double x);

/*
 * Probability of each of n >= 1 to be the smallest; they sum to 1, and one below 1e-9
 * is 0: that far out no tail is known.  log_predictions are finite; spreads[i] is that of prediction i, and may be shared.  Work and memory
 * grow with the corners of those that overlap.
 * SC_EDOMAIN: a "prediction" that is not finite; SC_EMISSING: n is 0; SC_ENOSPACE: no memory.
 */
enum sc_status sc_best(const double *log_predictions, const struct sc_spread *const *spreads,
                       size_t n, double *probabilities, struct sc_error *error) SC_MUST_CHECK;

#endif
