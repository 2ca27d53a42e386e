/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Split-conformal quantiles: sorted scores, and which of them counts. */
#include "conformal.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

const double sc_conformal_levels[] = { 0.5,  0.55, 0.6,  0.65, 0.7,  0.75, 0.8,  0.85,
                                       0.9,  0.92, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99 };
const size_t sc_conformal_level_count = sizeof sc_conformal_levels / sizeof sc_conformal_levels[0];

static enum sc_status refuse(struct sc_error *error, enum sc_status status, const char *field,
                             double value, const char *reason)
{
    if (error != NULL)
        *error = (struct sc_error){ .field = field, .value = value, .reason = reason };
    return status;
}

/* ceil((n + 1) level), where (19 + 1) 0.95 is 19 and not the next double above. */
static double rank_of(size_t n, double level)
{
    return ceil(((double)n + 1.0) * level * (1.0 - 1e-14));
}

size_t sc_conformal_needed(double level)
{
    /* rank <= n  <=>  (n + 1) level <= n  <=>  n >= level / (1 - level), up to rounding. */
    const double bound = level / (1.0 - level);
    size_t n = bound < 1e15 ? (size_t)bound : (size_t)1e15;
    n = n > 2 ? n - 2 : 0;
    while (rank_of(n, level) > (double)n)
        n++;
    return n;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static enum sc_status check(const double *residuals, const double *difficulty,
                            const size_t *groups, size_t n, size_t group_count,
                            struct sc_error *error)
{
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(residuals[i]))
            return refuse(error, SC_EDOMAIN, "residual", residuals[i], "is not a finite number");
        if (difficulty != NULL && !(isfinite(difficulty[i]) && difficulty[i] > 0.0))
            return refuse(error, SC_EDOMAIN, "difficulty", difficulty[i],
                          "is not a finite number above 0");
        if (groups != NULL && groups[i] >= group_count)
            return refuse(error, SC_EDOMAIN, "group", (double)groups[i], "is none of the groups");
    }
    return SC_OK;
}

/* Counting sort of the scores by group; first[g] ends where group g begins. */
static void divide(struct sc_conformal *c, const size_t *groups)
{
    for (size_t i = 0; i < c->n; i++)
        c->first[groups[i] + 1]++;
    for (size_t g = 0; g < c->group_count; g++)
        c->first[g + 1] += c->first[g];
    for (size_t i = c->n; i-- > 0;)
        c->scores[c->n + --c->first[groups[i] + 1]] = c->scores[i];
    for (size_t g = 0; g < c->group_count; g++)
        c->first[g] = c->first[g + 1];
    c->first[c->group_count] = c->n;
    for (size_t g = 0; g < c->group_count; g++)
        qsort(c->scores + c->n + c->first[g], c->first[g + 1] - c->first[g], sizeof *c->scores,
              compare_doubles);
}

enum sc_status sc_conformal_init(struct sc_conformal *conformal, const double *residuals,
                                 const double *difficulty, const size_t *groups, size_t n,
                                 size_t group_count, size_t group_minimum, struct sc_error *error)
{
    *conformal = (struct sc_conformal){ 0 };
    const enum sc_status status = check(residuals, difficulty, groups, n, group_count, error);
    if (status != SC_OK)
        return status;
    if (n > SIZE_MAX / 2 / sizeof(double) - 1 || group_count > SIZE_MAX / sizeof(size_t) - 1)
        return refuse(error, SC_ENOSPACE, "residual", (double)n, "are too many");
    struct sc_conformal c = {
        .n = n,
        .group_count = groups != NULL ? group_count : 0,
        .group_minimum = group_minimum > 0 ? group_minimum : SC_CONFORMAL_GROUP_MINIMUM,
        .scores = calloc(2 * n + 1, sizeof *c.scores),
    };
    c.first = calloc(c.group_count + 1, sizeof *c.first);
    if (c.scores == NULL || c.first == NULL) {
        sc_conformal_fini(&c);
        return refuse(error, SC_ENOSPACE, "residual", (double)n, "need more memory than there is");
    }
    for (size_t i = 0; i < n; i++)
        c.scores[i] = fabs(residuals[i]) / (difficulty != NULL ? difficulty[i] : 1.0);
    if (c.group_count > 0)
        divide(&c, groups);
    qsort(c.scores, n, sizeof *c.scores, compare_doubles);
    *conformal = c;
    return SC_OK;
}

void sc_conformal_fini(struct sc_conformal *conformal)
{
    free(conformal->scores);
    free(conformal->first);
    *conformal = (struct sc_conformal){ 0 };
}

enum sc_status sc_conformal_find(const struct sc_conformal *conformal, size_t group, double level,
                                 struct sc_conformal_quantile *out, struct sc_error *error)
{
    const struct sc_conformal *c = conformal;
    const double *scores = c->scores;
    size_t n = c->n;
    bool pooled = true;

    if (!(level > 0.0 && level < 1.0))
        return refuse(error, SC_EDOMAIN, "level", level, "must lie between 0 and 1");
    if (c->group_count > 0 && group != SIZE_MAX) {
        if (group >= c->group_count)
            return refuse(error, SC_EDOMAIN, "group", (double)group, "is none of the groups");
        const size_t own = c->first[group + 1] - c->first[group];
        if (own >= c->group_minimum && rank_of(own, level) <= (double)own) {
            scores = c->scores + c->n + c->first[group];
            n = own;
            pooled = false;
        }
    }
    const double rank = rank_of(n, level);
    if (rank > (double)n)
        return refuse(error, SC_ERANGE, "level", level,
                      "has no finite interval with so few points set aside for it");
    const double after = (double)n + 1.0 - rank; /* Beta(rank, after) */
    *out = (struct sc_conformal_quantile){
        .quantile = scores[(size_t)rank - 1],
        .n = n,
        .rank = (size_t)rank,
        .pooled = pooled,
        .coverage = rank / (rank + after),
        .coverage_sd = sqrt(rank * after / (rank + after + 1.0)) / (rank + after),
    };
    return SC_OK;
}

struct sc_conformal_interval sc_conformal_interval(double prediction, double quantile,
                                                   double difficulty)
{
    if (!(prediction > 0.0 && quantile >= 0.0 && difficulty > 0.0))
        return (struct sc_conformal_interval){ (double)NAN, (double)NAN };
    const double factor = exp(quantile * difficulty);
    return (struct sc_conformal_interval){ prediction / factor, prediction * factor };
}
