/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Prediction intervals from residuals that no parameter was fitted to:
 * split-conformal prediction (Papadopoulos et al., ECML 2002; Lei et al.,
 * J. Am. Stat. Assoc. 113, 2018).
 *
 * Scores are |log prediction - log actual| / d on the conformal set, d a local
 * difficulty known beforehand, 1 when not given.  The interval at level c is
 *
 *	prediction exp(-q d) .. prediction exp(q d),  q = the ceil((n + 1) c)-th smallest score
 *
 * If the new point is exchangeable with those n, it falls inside with a
 * probability of at least c, and of at most c + 1 / (n + 1) when no scores are
 * equal; for any model and any distribution.  That is an average over conformal
 * sets: given the set at hand the coverage is Beta(k, n + 1 - k), k the rank
 * (Vovk, ACML 2012), whose sd is reported.  Nothing is promised for scenarios
 * from elsewhere than where the set was drawn.
 *
 * A level above n / (n + 1) has no finite q: that is SC_ERANGE, never infinity.
 */
#ifndef SC_CONFORMAL_H
#define SC_CONFORMAL_H

#include <stdbool.h>
#include <stddef.h>

#include "status.h"

/* Groups with fewer points take the pooled quantile, unless told otherwise. */
enum { SC_CONFORMAL_GROUP_MINIMUM = 100 };

/* Levels that a calibration file tabulates, ascending. */
extern const double sc_conformal_levels[];
extern const size_t sc_conformal_level_count;

struct sc_conformal {
    double *scores;     /* sorted: of all, then again group by group */
    size_t n;           /* of all */
    size_t *first;      /* group_count + 1 offsets of the groups' scores in `scores` */
    size_t group_count; /* 0: no groups */
    size_t group_minimum;
};

struct sc_conformal_quantile {
    double quantile; /* q, >= 0, finite */
    size_t n, rank;  /* q is the rank-th smallest of n scores */
    bool pooled;     /* of all groups together */
    double coverage, coverage_sd; /* expected: rank / (n + 1), and its sd given the set */
};

/* Fewest points with which a level between 0 and 1 has an interval: 9 for 0.9, 99 for 0.99. */
size_t sc_conformal_needed(double level);

/*
 * Takes n log residuals.  difficulty NULL: 1 everywhere; groups NULL: none, else
 * labels below group_count.  group_minimum 0: SC_CONFORMAL_GROUP_MINIMUM.
 * SC_OK: release by sc_conformal_fini, else all zero.  SC_EDOMAIN, with the value:
 * a "residual" that is not finite, a "difficulty" not finite and above 0, a "group"
 * that is none.  SC_ENOSPACE: no memory.
 */
enum sc_status sc_conformal_init(struct sc_conformal *conformal, const double *residuals,
                                 const double *difficulty, const size_t *groups, size_t n,
                                 size_t group_count, size_t group_minimum,
                                 struct sc_error *error) SC_MUST_CHECK;
void sc_conformal_fini(struct sc_conformal *conformal);

/*
 * The quantile of a group (any number when there are none; SIZE_MAX: pooled) at a
 * level between 0 and 1.  A group below the minimum, or too small for the level,
 * takes the pooled one.  SC_ERANGE: too few points for this level, even pooled;
 * SC_EDOMAIN: no such level or group.
 */
enum sc_status sc_conformal_find(const struct sc_conformal *conformal, size_t group, double level,
                                 struct sc_conformal_quantile *out,
                                 struct sc_error *error) SC_MUST_CHECK;

struct sc_conformal_interval {
    double low, high;
};

/* prediction > 0, quantile >= 0, difficulty > 0; NaN outside. */
struct sc_conformal_interval sc_conformal_interval(double prediction, double quantile,
                                                   double difficulty);

#endif
