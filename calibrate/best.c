/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Probabilities of being the smallest: corners in order, a polynomial between two. */
#include "best.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_integration.h>

static const double least_step = 1e-9; /* between two corners of a spread */
static const double least_probability = 1e-9; /* finer than any end of a tail is known */

static enum sc_status refuse(struct sc_error *error, enum sc_status status, const char *field,
                             double value, const char *reason)
{
    if (error != NULL)
        *error = (struct sc_error){ .field = field, .value = value, .reason = reason };
    return status;
}

/* ---- one residual ---- */

static void add_corner(struct sc_spread *spread, double residual, double level)
{
    const double least = spread->residual[spread->count - 1] + least_step;
    spread->residual[spread->count] = residual > least ? residual : least;
    spread->level[spread->count++] = level;
}

/* Linear between corners; beyond the last: the last. */
static double residual_at(const struct sc_spread *spread, double level)
{
    size_t k = 1;
    while (k + 1 < spread->count && spread->level[k] < level)
        k++;
    const double share = (level - spread->level[k - 1]) / (spread->level[k] - spread->level[k - 1]);
    return spread->residual[k - 1] + share * (spread->residual[k] - spread->residual[k - 1]);
}

static void add_tail(struct sc_spread *spread)
{
    const double last = spread->residual[spread->count - 1];
    double left = 1.0 - spread->level[spread->count - 1];
    const double before = fmax(0.0, 1.0 - 2.0 * left);
    const double way = last - residual_at(spread, before);
    for (int k = 1; k <= SC_SPREAD_HALVINGS; k++) {
        left *= 0.5;
        add_corner(spread, last + k * way, 1.0 - left);
    }
    add_corner(spread, last + (SC_SPREAD_HALVINGS + 1) * way, 1.0);
}

enum sc_status sc_spread_init(struct sc_spread *spread, const double *levels,
                              const double *quantiles, size_t count, struct sc_error *error)
{
    *spread = (struct sc_spread){ .count = 1 };
    if (count == 0)
        return refuse(error, SC_EMISSING, "level", (double)NAN, "expected at least one");
    if (count > SC_SPREAD_LEVELS_MAX)
        return refuse(error, SC_ENOSPACE, "level", (double)count, "are too many");
    for (size_t i = 0; i < count; i++) {
        if (!(levels[i] > spread->level[spread->count - 1] && levels[i] < 1.0))
            return refuse(error, SC_EDOMAIN, "level", levels[i],
                          "does not lie between the one before and 1");
        if (!(quantiles[i] >= 0.0 && isfinite(quantiles[i])))
            return refuse(error, SC_EDOMAIN, "quantile", quantiles[i],
                          "is not a finite number of at least 0");
        add_corner(spread, quantiles[i], levels[i]);
    }
    add_tail(spread);
    return SC_OK;
}

/* Of the absolute residual. */
static double level_of(const struct sc_spread *spread, double residual)
{
    size_t low = 0, high = spread->count - 1;
    if (residual >= spread->residual[high])
        return 1.0;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (spread->residual[middle] <= residual)
            low = middle;
        else
            high = middle;
    }
    const double share = (residual - spread->residual[low]) /
                         (spread->residual[high] - spread->residual[low]);
    return spread->level[low] + share * (spread->level[high] - spread->level[low]);
}

double sc_spread_below(const struct sc_spread *spread, double x)
{
    const double level = level_of(spread, fabs(x));
    return x < 0.0 ? 0.5 - 0.5 * level : 0.5 + 0.5 * level;
}

/* ---- several of them ---- */

struct race {
    const double *log_predictions;
    const struct sc_spread *const *spreads;
    size_t n;
    double *corners; /* of all distributions, up to where one of them has ended */
    size_t corner_count;
    double *from, *to, *before; /* of each: F at both ends of an interval; products */
    gsl_integration_glfixed_table *rule;
    double *probabilities;
};

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Beyond the first end of a distribution none of the others is the smallest. */
static double first_end(const struct race *race)
{
    double end = (double)INFINITY;
    for (size_t i = 0; i < race->n; i++) {
        const struct sc_spread *s = race->spreads[i];
        end = fmin(end, race->log_predictions[i] + s->residual[s->count - 1]);
    }
    return end;
}

static void add_corners(struct race *race)
{
    const double end = first_end(race);
    for (size_t i = 0; i < race->n; i++) {
        const struct sc_spread *s = race->spreads[i];
        for (size_t k = 0; k < s->count; k++)
            for (int side = k > 0 ? -1 : 1; side <= 1; side += 2) {
                const double x = race->log_predictions[i] + side * s->residual[k];
                if (x <= end)
                    race->corners[race->corner_count++] = x;
            }
    }
    qsort(race->corners, race->corner_count, sizeof *race->corners, compare_doubles);
}

/* At a share t of the way through an interval: adds weight dF_i prod (1 - F_j). */
static void add_node(struct race *race, double t, double weight)
{
    double product = weight;
    for (size_t i = 0; i < race->n; i++) {
        race->before[i] = product;
        product *= 1.0 - (race->from[i] + t * (race->to[i] - race->from[i]));
    }
    double after = 1.0;
    for (size_t i = race->n; i-- > 0;) {
        const double change = race->to[i] - race->from[i];
        race->probabilities[i] += change * race->before[i] * after;
        after *= 1.0 - (race->from[i] + t * change);
    }
}

static void distributions_at(const struct race *race, double x, double *values)
{
    for (size_t i = 0; i < race->n; i++)
        values[i] = sc_spread_below(race->spreads[i], x - race->log_predictions[i]);
}

static void run(struct race *race)
{
    distributions_at(race, race->corners[0], race->to);
    for (size_t i = 0; i < race->n; i++)
        race->to[i] = 0.0;
    for (size_t c = 1; c < race->corner_count; c++) {
        if (!(race->corners[c] > race->corners[c - 1]))
            continue;
        double *swap = race->from;
        race->from = race->to;
        race->to = swap;
        distributions_at(race, race->corners[c], race->to);
        for (size_t node = 0; node < race->rule->n; node++) {
            double t, weight;
            (void)gsl_integration_glfixed_point(0.0, 1.0, node, &t, &weight, race->rule);
            add_node(race, t, weight);
        }
    }
}

/* What rounding and the corners cut off have left over is shared out. */
static void make_sum_one(double *probabilities, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        if (probabilities[i] < least_probability)
            probabilities[i] = 0.0;
        sum += probabilities[i];
    }
    for (size_t i = 0; i < n; i++)
        probabilities[i] /= sum;
}

static bool reserve(struct race *race)
{
    const size_t most = 2 * (sizeof race->spreads[0]->residual / sizeof(double));
    if (race->n > SIZE_MAX / sizeof(double) / most)
        return false;
    gsl_error_handler_t *handler = gsl_set_error_handler_off();
    race->corners = calloc(race->n * most, sizeof *race->corners);
    race->from = calloc(race->n, sizeof *race->from);
    race->to = calloc(race->n, sizeof *race->to);
    race->before = calloc(race->n, sizeof *race->before);
    /* m nodes are exact up to degree 2 m - 1; the integrand has degree n - 1. */
    race->rule = gsl_integration_glfixed_table_alloc(race->n / 2 + 1);
    gsl_set_error_handler(handler);
    return race->corners != NULL && race->from != NULL && race->to != NULL &&
           race->before != NULL && race->rule != NULL;
}

enum sc_status sc_best(const double *log_predictions, const struct sc_spread *const *spreads,
                       size_t n, double *probabilities, struct sc_error *error)
{
    if (n == 0)
        return refuse(error, SC_EMISSING, "prediction", (double)NAN, "expected at least one");
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(log_predictions[i]))
            return refuse(error, SC_EDOMAIN, "prediction", log_predictions[i],
                          "is not a finite number");
        probabilities[i] = 0.0;
    }
    struct race race = { .log_predictions = log_predictions, .spreads = spreads, .n = n,
                         .probabilities = probabilities };
    const bool fine = reserve(&race);
    if (fine) {
        add_corners(&race);
        run(&race);
        make_sum_one(probabilities, n);
    }
    if (race.rule != NULL)
        gsl_integration_glfixed_table_free(race.rule);
    free(race.corners);
    free(race.from);
    free(race.to);
    free(race.before);
    return fine ? SC_OK : refuse(error, SC_ENOSPACE, "prediction", (double)n,
                                 "need more memory than there is");
}
