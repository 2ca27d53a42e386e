/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Probabilities of being the smallest: two uniform residuals by hand, many by
 * drawing them, and what must hold for any. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "best.h"
#include "sim/rng.h"
#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { DRAWS = 400000, MANY = 60 };

/* A level so near to 1 that what lies beyond does not count. */
static const double nearly_one[] = { 1.0 - 1e-9 };

static struct sc_spread make(const double *levels, const double *quantiles, size_t count)
{
    struct sc_spread spread;
    struct sc_error error;
    if (sc_spread_init(&spread, levels, quantiles, count, &error) != SC_OK)
        bail("%s: %s", error.field, error.reason);
    return spread;
}

static struct sc_spread uniform(double width)
{
    return make(nearly_one, &width, 1);
}

static void find(const double *logs, const struct sc_spread *const *spreads, size_t n, double *out)
{
    struct sc_error error;
    if (sc_best(logs, spreads, n, out, &error) != SC_OK)
        bail("%s: %s", error.field, error.reason);
}

static double sum(const double *values, size_t n)
{
    double total = 0.0;
    for (size_t i = 0; i < n; i++)
        total += values[i];
    return total;
}

/* ---- one residual ---- */

static const double levels[] = { 0.5, 0.8, 0.9 };
static const double quantiles[] = { 0.1, 0.3, 0.5 };

static void test_spread(void)
{
    const struct sc_spread s = make(levels, quantiles, COUNT(levels));
    near(sc_spread_below(&s, 0.0), 0.5, 0.0, 0.0, "half lies below 0");
    near(sc_spread_below(&s, 0.05), 0.625, 1e-14, 0.0, "linear from 0 to the first level");
    near(sc_spread_below(&s, 0.1), 0.75, 1e-14, 0.0, "a level itself");
    near(sc_spread_below(&s, 0.2), 0.825, 1e-14, 0.0, "linear between two");
    near(sc_spread_below(&s, -0.2), 0.175, 1e-14, 0.0, "symmetric");
    /* From 0.8 to 0.9, a halving of what is left, it took 0.2. */
    near(sc_spread_below(&s, 0.7), 0.975, 1e-14, 0.0, "the tail halves as the table's end does");
    near(sc_spread_below(&s, 0.9), 0.9875, 1e-14, 0.0, "and halves again");
    near(sc_spread_below(&s, 0.5 + 0.2 * (SC_SPREAD_HALVINGS + 1)), 1.0, 0.0, 0.0, "and ends");
    near(sc_spread_below(&s, -1e6), 0.0, 0.0, 0.0, "nothing lies far below");

    const double high[] = { 0.5, 0.9 }, falling[] = { 0.4, 0.2 };
    const struct sc_spread f = make(high, falling, 2);
    near(sc_spread_below(&f, 0.4), 0.75, 1e-14, 0.0, "a quantile below the one before");
    ok(sc_spread_below(&f, 0.4 + 1e-8) >= 0.95, "counts as equal to it");
}

static void refuses(const double *some_levels, const double *some_quantiles, size_t count,
                    enum sc_status want, const char *field, const char *name)
{
    struct sc_spread spread;
    struct sc_error error = { 0 };
    ok(sc_spread_init(&spread, some_levels, some_quantiles, count, &error) == want, "%s", name);
    is_str(error.field, field, "%s: at fault", name);
}

static void test_refusals(void)
{
    const double one[] = { 1.0 }, zero[] = { 0.0 }, falling[] = { 0.9, 0.8 }, q[] = { 0.1, 0.2 };
    const double negative[] = { -0.1 }, infinite[] = { (double)INFINITY };
    double many[SC_SPREAD_LEVELS_MAX + 1], more[SC_SPREAD_LEVELS_MAX + 1];
    for (size_t i = 0; i < COUNT(many); i++)
        many[i] = more[i] = (double)(i + 1) / 100.0;
    refuses(q, q, 0, SC_EMISSING, "level", "no level");
    refuses(one, q, 1, SC_EDOMAIN, "level", "a level of 1");
    refuses(zero, q, 1, SC_EDOMAIN, "level", "a level of 0");
    refuses(falling, q, 2, SC_EDOMAIN, "level", "levels that fall");
    refuses(q, negative, 1, SC_EDOMAIN, "quantile", "a quantile below 0");
    refuses(q, infinite, 1, SC_EDOMAIN, "quantile", "a quantile without end");
    refuses(many, more, COUNT(many), SC_ENOSPACE, "level", "too many levels");

    const struct sc_spread s = uniform(0.1);
    const struct sc_spread *spread = &s;
    const double nan = (double)NAN;
    double out;
    struct sc_error error = { 0 };
    ok(sc_best(&nan, &spread, 1, &out, &error) == SC_EDOMAIN, "a prediction that is no number");
    is_str(error.field, "prediction", "at fault");
    ok(sc_best(&nan, &spread, 0, &out, &error) == SC_EMISSING, "nothing to compare");
}

/* ---- two ---- */

/* Both uniform on +-w, b ahead by -d: the corner of the square beyond d. */
static void test_two_uniform(void)
{
    const struct sc_spread s = uniform(0.3);
    const struct sc_spread *const spreads[] = { &s, &s };
    const double gaps[] = { 0.0, 0.1, 0.25, 0.5, 0.59 };
    for (size_t i = 0; i < COUNT(gaps); i++) {
        const double logs[] = { -3.0, -3.0 + gaps[i] }, reach = 0.6 - gaps[i];
        const double behind = reach * reach / (8.0 * 0.3 * 0.3);
        double p[2];
        find(logs, spreads, 2, p);
        near(p[1], behind, 1e-7, 2e-9, "two uniform, %g apart: the one behind", gaps[i]);
        near(p[0] + p[1], 1.0, 1e-14, 0.0, "two uniform, %g apart: the sum", gaps[i]);
    }
    /* A width w within one of W, d apart: what is below a narrow one is linear. */
    const struct sc_spread wide = uniform(1.0), narrow = uniform(0.2);
    const struct sc_spread *const unequal[] = { &narrow, &wide };
    const double logs[] = { 0.5, 0.1 };
    double p[2];
    find(logs, unequal, 2, p);
    near(p[1], (0.5 - (0.1 - 1.0)) / 2.0, 1e-8, 0.0, "a wide and a narrow one");
}

static void test_exact(void)
{
    const double exact = 0.0;
    const struct sc_spread s = make(nearly_one, &exact, 1);
    const struct sc_spread *const spreads[] = { &s, &s, &s };
    const double apart[] = { 2.0, 1.0, 1.001 }, equal[] = { 1.0, 1.0, 7.0 };
    double p[3];
    find(apart, spreads, 3, p);
    near(p[1], 1.0, 1e-7, 0.0, "of exact predictions the smallest wins");
    find(equal, spreads, 3, p);
    near(p[0], 0.5, 1e-7, 0.0, "equal ones share");
    near(p[2], 0.0, 0.0, 0.0, "and leave nothing");
    find(apart, spreads, 1, p);
    near(p[0], 1.0, 1e-15, 0.0, "one alone wins");
}

/* ---- many, against draws ---- */

/* The absolute residual at a level, from the corners of the table. */
static double draw_residual(const struct sc_spread *s, struct sc_sim_rng *rng)
{
    const double level = sc_sim_rng_uniform(rng), sign = sc_sim_rng_uniform(rng) < 0.5 ? -1.0 : 1.0;
    size_t k = 1;
    while (s->level[k] < level)
        k++;
    const double share = (level - s->level[k - 1]) / (s->level[k] - s->level[k - 1]);
    return sign * ((1.0 - share) * s->residual[k - 1] + share * s->residual[k]);
}

static void test_draws(void)
{
    const double wider[] = { 0.2, 0.5, 1.5 }, narrow[] = { 0.01, 0.05, 0.06 };
    const struct sc_spread a = make(levels, quantiles, 3), b = make(levels, wider, 3),
                           c = make(levels, narrow, 3);
    const struct sc_spread *const spreads[] = { &a, &b, &c, &a, &b, &c, &a };
    const double logs[] = { 0.0, 0.3, 0.02, -0.05, 1.0, 0.4, 2.5 };
    enum { N = COUNT(logs) };
    double p[N], drawn[N] = { 0 };
    struct sc_sim_rng rng = sc_sim_rng_make(20260101, 0, 0);
    for (size_t i = 0; i < DRAWS; i++) {
        size_t best = 0;
        double least = (double)INFINITY;
        for (size_t j = 0; j < N; j++) {
            const double x = logs[j] + draw_residual(spreads[j], &rng);
            best = x < least ? j : best;
            least = x < least ? x : least;
        }
        drawn[best] += 1.0 / DRAWS;
    }
    find(logs, spreads, N, p);
    for (size_t i = 0; i < N; i++)
        near(p[i], drawn[i], 0.0, 4.5 * sqrt(p[i] * (1.0 - p[i]) / DRAWS) + 1e-6,
             "prediction %zu wins as often as among %d draws", i, (int)DRAWS);
    near(sum(p, N), 1.0, 1e-14, 0.0, "and they sum to 1");
}

/* ---- what holds for any ---- */

static void test_properties(void)
{
    struct sc_spread spreads[MANY];
    const struct sc_spread *given[MANY], *turned[MANY];
    double logs[MANY], turned_logs[MANY], p[MANY], q[MANY];
    for (size_t i = 0; i < MANY; i++) {
        const double wide = 0.05 + 0.01 * (double)(i * 7 % 13);
        const double some[] = { 0.1 * wide, wide, 2.0 * wide };
        spreads[i] = make(levels, some, 3);
        given[i] = &spreads[i];
        logs[i] = 0.01 * (double)(i * 37 % MANY);
    }
    for (size_t i = 0; i < MANY; i++) {
        turned[i] = given[MANY - 1 - i];
        turned_logs[i] = logs[MANY - 1 - i] + 5.0;
    }
    find(logs, given, MANY, p);
    find(turned_logs, turned, MANY, q);
    double worst = 0.0, least = 1.0;
    for (size_t i = 0; i < MANY; i++) {
        worst = fmax(worst, fabs(p[i] - q[MANY - 1 - i]));
        least = fmin(least, p[i]);
    }
    near(sum(p, MANY), 1.0, 1e-13, 0.0, "%d predictions: the sum", (int)MANY);
    near(worst, 0.0, 0.0, 1e-11, "neither their order nor their unit matters");
    ok(least >= 0.0, "none is below 0");

    for (size_t i = 0; i < MANY; i++) {
        logs[i] = 1.0;
        given[i] = &spreads[0];
    }
    find(logs, given, MANY, p);
    near(p[0], 1.0 / MANY, 1e-12, 0.0, "equal predictions: equal shares");
    near(p[MANY - 1], 1.0 / MANY, 1e-12, 0.0, "the last one too");
    logs[0] = 0.99;
    find(logs, given, MANY, q);
    ok(q[0] > p[0] && q[1] < p[1], "a better prediction gains, the others lose");
}

int main(void)
{
    plan(11 + 17 + 11 + 4 + 8 + 6);
    test_spread();
    test_refusals();
    test_two_uniform();
    test_exact();
    test_draws();
    test_properties();
    return done();
}
