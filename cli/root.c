/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "root.h"

#include <float.h>
#include <math.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_roots.h>

const double root_narrow_enough = 1e-10;
enum { ITERATIONS_MAX = 200 };

/* The key as Brent's method sees it. */
struct scale {
    const struct root *root;
    bool logarithmic;
};

static double key_at(const struct scale *scale, double t)
{
    return scale->logarithmic ? exp(t) : t;
}

static double value_at(const struct scale *scale, double t)
{
    return scale->root->value(scale->root->context, key_at(scale, t));
}

/* Never 0: Brent's method would take such a place for the end of the search, and
 * leave no bracket. */
static double nonzero_value_at(double t, void *context)
{
    const double value = value_at(context, t);
    return value == 0.0 ? -DBL_MIN : value;
}

static bool is_narrow(const struct scale *scale, double low, double high)
{
    const double whole = scale->logarithmic ? 1.0 : fmax(fabs(low), fabs(high));
    return fabs(high - low) <= root_narrow_enough * whole;
}

/* Between low < high; the bracket that it ends with. */
static bool run_brent(struct scale *scale, double *low, double *high)
{
    gsl_function sampled = { .function = nonzero_value_at, .params = scale };
    gsl_error_handler_t *handler = gsl_set_error_handler_off();
    gsl_root_fsolver *solver = gsl_root_fsolver_alloc(gsl_root_fsolver_brent);
    bool fine =
        solver != NULL && gsl_root_fsolver_set(solver, &sampled, *low, *high) == GSL_SUCCESS;
    for (int i = 0; fine && i < ITERATIONS_MAX && !is_narrow(scale, *low, *high); i++) {
        fine = gsl_root_fsolver_iterate(solver) == GSL_SUCCESS;
        *low = gsl_root_fsolver_x_lower(solver);
        *high = gsl_root_fsolver_x_upper(solver);
    }
    if (solver != NULL)
        gsl_root_fsolver_free(solver);
    gsl_set_error_handler(handler);
    return fine;
}

/* Halves until narrow: what Brent's method may leave wide on one side. */
static bool halve(const struct scale *scale, double *low, double *high)
{
    const bool rises = value_at(scale, *high) > 0.0;
    for (int i = 0; i < ITERATIONS_MAX && !is_narrow(scale, *low, *high); i++) {
        const double middle = *low + 0.5 * (*high - *low);
        const double value = value_at(scale, middle);
        if (isnan(value))
            return false;
        if ((value > 0.0) == rises)
            *high = middle;
        else
            *low = middle;
    }
    return true;
}

bool root_narrow(const struct root *root, double *low, double *high)
{
    const bool descends = *low > *high;
    double left = descends ? *high : *low, right = descends ? *low : *high;
    const double ends[] = { left, right };
    struct scale scale = { .root = root, .logarithmic = left > 0.0 };
    left = scale.logarithmic ? log(left) : left;
    right = scale.logarithmic ? log(right) : right;
    if (!run_brent(&scale, &left, &right) || !halve(&scale, &left, &right))
        return false;
    /* A logarithm and back again may leave the stretch by a rounding. */
    left = fmax(key_at(&scale, left), ends[0]);
    right = fmin(key_at(&scale, right), ends[1]);
    *low = descends ? right : left;
    *high = descends ? left : right;
    return true;
}

bool root_narrow_whole(const struct root *root, double *low, double *high)
{
    const bool rises = root->value(root->context, *high) > 0.0;
    while (fabs(*high - *low) > 1.0) {
        const double middle = *low + trunc(0.5 * (*high - *low));
        const double value = root->value(root->context, middle);
        if (isnan(value))
            return false;
        if ((value > 0.0) == rises)
            *high = middle;
        else
            *low = middle;
    }
    return true;
}
