/* SPDX-License-Identifier: GPL-3.0-or-later */
/* By how many per cent a metric changes when a key changes by one: d log metric / d log key. */
#ifndef SC_ELASTICITY_H
#define SC_ELASTICITY_H

#include "calibration.h"
#include "problem.h"
#include "scenario.h"

enum elasticity_kind {
    ELASTICITY_FOUND,
    ELASTICITY_NONE,    /* the key has no effect here */
    ELASTICITY_DERIVED, /* it follows from other keys, and has no value of its own */
    ELASTICITY_ZERO,    /* it is 0 or below, which has no logarithm */
    ELASTICITY_ALONE,   /* no value next to it has an answer */
    ELASTICITY_KINDS
};

struct elasticity {
    const struct sc_field *field;
    double value; /* of the key, SI */
    double elasticity;
    bool jump; /* the metric makes a step there: the nearer one looks, the steeper it is */
    enum elasticity_kind kind;
};

/* A scenario and what is asked of it. */
struct elasticity_job {
    const struct sc_system *system;
    const struct resolver *resolver;
    const struct calibration *calibration; /* or NULL */
    const struct sc_metric *metric;        /* a number */
    struct setting *settings;              /* with room for one more */
    size_t count;
};

/* The metric of the scenario, its last `more` settings beyond job->count; false with the reason. */
bool elasticity_metric(const struct elasticity_job *job, size_t more, double *value,
                       struct problem *problem);

/*
 * Of one number among the keys, at the scenario (built from job) in which the metric is `base`
 * > 0.  Central differences 1 % away on either side, one-sided at the limits of the key and where a
 * side has no answer; of whole numbers the next ones that far that have an answer, of octaves twice
 * and half.
 */
struct elasticity elasticity_find(const struct elasticity_job *job, const struct sc_field *field,
                                  const void *scenario, double base);

#endif
