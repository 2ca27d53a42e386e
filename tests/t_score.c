/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Error metrics against numbers by hand and brute force; conformal intervals
 * against their promise on exchangeable data. */
#include "conformal.h"
#include "score.h"
#include "sim/rng.h"
#include "tap.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* --- scores --------------------------------------------------------------------- */

static void test_by_hand(void)
{
    const double predicted[] = { 2.0, 1.0, 8.0, 10.0 }, actual[] = { 1.0, 2.0, 8.0, 8.0 };
    const double low[] = { 0.5, 0.5, 4.0, (double)NAN }, high[] = { 2.0, 1.5, 16.0, 20.0 };
    struct sc_score s;
    struct sc_error error = { 0 };
    if (sc_score_compute(&s, predicted, actual, low, high, 4, &error) != SC_OK)
        bail("no score: %s", error.reason);
    near(s.mape, (1.0 + 0.5 + 0.0 + 0.25) / 4.0, 1e-15, 0.0, "MAPE");
    near(s.geometric_error, exp((2.0 * log(2.0) + log(1.25)) / 4.0), 1e-15, 0.0,
         "geometric mean error");
    near(s.bias, log(1.25) / 4.0, 1e-14, 0.0, "bias");
    near(s.median_error, 0.375, 1e-15, 0.0, "median error");
    near(s.max_error, 1.0, 0.0, 0.0, "max error");
    is_int((long long)s.max_index, 0, "and where it is");
    near(s.nrmse, sqrt((1.0 + 1.0 + 0.0 + 4.0) / 4.0) / (19.0 / 4.0), 1e-15, 0.0, "NRMSE");
    /* Pairs: 4 concordant, 1 discordant, 1 tied in actual. */
    near(s.kendall_tau, 3.0 / sqrt(6.0 * 5.0), 1e-15, 0.0, "Kendall's tau-b");
    is_int((long long)s.interval_n, 3, "three have an interval");
    near(s.coverage, 2.0 / 3.0, 1e-15, 0.0, "two of them hold");
    near(s.interval_ratio, cbrt(4.0 * 3.0 * 4.0), 1e-14, 0.0, "mean ratio of their ends");

    /* Logarithms 0 1 2 and 1 0 2, times log 2: covariance 1/2, variances 1. */
    const double x[] = { 1.0, 2.0, 4.0 }, y[] = { 2.0, 1.0, 4.0 };
    if (sc_score_compute(&s, x, y, NULL, NULL, 3, &error) != SC_OK)
        bail("no score: %s", error.reason);
    near(s.pearson_log, 0.5, 1e-14, 0.0, "Pearson's correlation of logarithms");
    ok(isnan(s.coverage) && isnan(s.interval_ratio) && s.interval_n == 0, "no intervals: NaN");
}

static void test_points(void)
{
    const double predicted[] = { 0.0, 0.3, 0.9 }, actual[] = { 0.1, 0.3, 0.4 };
    struct sc_point_score s;
    if (sc_score_points(&s, predicted, actual, 3) != SC_OK)
        bail("no score");
    near(s.mean_error, 0.2, 1e-15, 0.0, "shares: mean error");
    near(s.bias, 0.4 / 3.0, 1e-15, 0.0, "shares: bias");
    near(s.max_error, 0.5, 1e-15, 0.0, "shares: worst");
    ok(s.n == 3 && s.kendall_tau == 1.0, "shares: how many, and alike in rank");
    if (sc_score_points(&s, predicted, actual, 0) != SC_OK)
        bail("no score");
    ok(isnan(s.mean_error) && isnan(s.bias) && isnan(s.max_error) && isnan(s.kendall_tau),
       "shares: means of nothing are NaN");
}

static void test_nothing(void)
{
    const double same[] = { 3.0, 3.0, 3.0 }, x[] = { 1.0, 2.0, 3.0 };
    struct sc_score s;
    struct sc_error error = { 0 };
    if (sc_score_compute(&s, x, x, NULL, NULL, 0, &error) != SC_OK)
        bail("no score: %s", error.reason);
    ok(isnan(s.mape) && isnan(s.geometric_error) && isnan(s.bias) && isnan(s.median_error) &&
           isnan(s.max_error) && isnan(s.nrmse) && isnan(s.pearson_log) && isnan(s.kendall_tau),
       "means of nothing are NaN");
    if (sc_score_compute(&s, x, x, NULL, NULL, 1, &error) != SC_OK)
        bail("no score: %s", error.reason);
    ok(s.mape == 0.0 && s.geometric_error == 1.0 && isnan(s.pearson_log) && isnan(s.kendall_tau),
       "one has an error and no correlation");
    if (sc_score_compute(&s, same, x, NULL, NULL, 3, &error) != SC_OK)
        bail("no score: %s", error.reason);
    ok(isnan(s.pearson_log) && isnan(s.kendall_tau), "a constant correlates with nothing");
    if (sc_score_compute(&s, x, x, x, x, 3, &error) != SC_OK)
        bail("no score: %s", error.reason);
    ok(s.coverage == 1.0 && s.interval_ratio == 1.0 && s.kendall_tau == 1.0,
       "perfect predictions with intervals of no width");
}

static void refused(const double *predicted, const double *actual, const double *low,
                    const double *high, const char *field, const char *what)
{
    struct sc_score s;
    struct sc_error error = { 0 };
    is_int(sc_score_compute(&s, predicted, actual, low, high, 2, &error), SC_EDOMAIN, "%s", what);
    is_str(error.field, field, "%s: named", what);
}

static void test_refused(void)
{
    const double good[] = { 1.0, 2.0 }, zero[] = { 1.0, 0.0 }, nan[] = { 1.0, (double)NAN };
    const double infinite[] = { 1.0, (double)INFINITY }, high[] = { 1.0, 1.5 };
    refused(zero, good, NULL, NULL, "predicted", "a prediction of 0");
    refused(nan, good, NULL, NULL, "predicted", "a prediction of NaN");
    refused(good, infinite, NULL, NULL, "actual", "an infinite observation");
    refused(good, good, zero, good, "interval", "an interval from 0");
    refused(good, good, good, infinite, "interval", "an interval without end");
    refused(good, good, good, high, "interval", "an interval the wrong way round");
}

static int sign(double x)
{
    return (x > 0.0) - (x < 0.0);
}

static double kendall_by_pairs(const double *x, const double *y, size_t n)
{
    double difference = 0.0, untied_x = 0.0, untied_y = 0.0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            const int a = sign(x[i] - x[j]), b = sign(y[i] - y[j]);
            difference += a * b;
            untied_x += a != 0;
            untied_y += b != 0;
        }
    return difference / sqrt(untied_x) / sqrt(untied_y);
}

static void test_kendall(void)
{
    enum { N = 300 };
    double x[N], y[N], tau, worst = 0.0;
    for (uint64_t trial = 0; trial < 60; trial++) {
        struct sc_sim_rng rng = sc_sim_rng_make(1, trial, 0);
        const size_t n = 2 + (size_t)sc_sim_rng_below(&rng, N - 1);
        const uint64_t values = trial % 3 == 0 ? 5 : trial % 3 == 1 ? 40 : 1000000;
        for (size_t i = 0; i < n; i++) {
            x[i] = (double)sc_sim_rng_below(&rng, values);
            y[i] = (double)sc_sim_rng_below(&rng, values) + (trial % 2 == 0 ? 0.0 : x[i]);
        }
        if (sc_kendall_tau(x, y, n, &tau) != SC_OK)
            bail("no memory");
        const double want = kendall_by_pairs(x, y, n);
        if (!(isnan(want) && isnan(tau)))
            worst = fmax(worst, isnan(tau - want) ? 1.0 : fabs(tau - want));
    }
    near(worst, 0.0, 0.0, 1e-14, "60 samples, with and without ties, as by all pairs");
    for (size_t i = 0; i < N; i++) {
        x[i] = (double)i;
        y[i] = -(double)i * (double)i;
    }
    is_int(sc_kendall_tau(x, y, N, &tau), SC_OK, "reversed");
    near(tau, -1.0, 1e-15, 0.0, "reversed order is -1");
}

/* --- conformal --------------------------------------------------------------------- */

static void test_quantile(void)
{
    double residuals[99];
    struct sc_conformal c;
    struct sc_conformal_quantile q;
    struct sc_error error = { 0 };
    for (size_t i = 0; i < 99; i++) /* 1 .. 99 in some order, of either sign */
        residuals[i] = (double)(i * 37 % 99 + 1) * (i % 2 == 0 ? 1.0 : -1.0);
    is_int((long long)sc_conformal_needed(0.9), 9, "0.9 needs 9 points");
    is_int((long long)sc_conformal_needed(0.95), 19, "0.95 needs 19");
    is_int((long long)sc_conformal_needed(0.99), 99, "0.99 needs 99");
    is_int((long long)sc_conformal_needed(0.5), 1, "0.5 needs 1");
    if (sc_conformal_init(&c, residuals, NULL, NULL, 99, 0, 0, &error) != SC_OK)
        bail("no conformal set: %s", error.reason);
    size_t wrong = 0;
    for (size_t k = 1; k <= 99; k++) {
        if (sc_conformal_find(&c, 0, (double)k / 100.0, &q, &error) != SC_OK)
            bail("no quantile: %s", error.reason);
        wrong += q.quantile != (double)k || q.rank != k || q.n != 99 || !q.pooled;
    }
    is_int((long long)wrong, 0, "level k/100 of 99 points is the k-th, for every k");
    near(q.coverage, 0.99, 1e-15, 0.0, "which covers as much");
    near(q.coverage_sd, sqrt(0.99 * 0.01 / 101.0), 1e-12, 0.0, "give or take Beta(99, 1)'s sd");
    is_int(sc_conformal_find(&c, 0, 0.901, &q, &error), SC_OK, "0.901");
    near(q.quantile, 91.0, 0.0, 0.0, "in between, the next one");
    is_int(sc_conformal_find(&c, 0, 0.9901, &q, &error), SC_ERANGE, "0.9901 of 99 is refused");
    is_str(error.field, "level", "by the level");
    is_int(sc_conformal_find(&c, 0, 1.0, &q, &error), SC_EDOMAIN, "level 1 is none");
    is_int(sc_conformal_find(&c, 0, (double)NAN, &q, &error), SC_EDOMAIN, "nor is NaN");
    sc_conformal_fini(&c);
    if (sc_conformal_init(&c, residuals, NULL, NULL, 0, 0, 0, &error) != SC_OK)
        bail("no conformal set: %s", error.reason);
    is_int(sc_conformal_find(&c, 0, 0.5, &q, &error), SC_ERANGE, "of no points nothing");
    sc_conformal_fini(&c);
    ok(c.scores == NULL && c.n == 0, "released");

    const struct sc_conformal_interval i = sc_conformal_interval(10.0, log(2.0), 2.0);
    near(i.low, 2.5, 1e-15, 0.0, "an interval divides by exp(q d)");
    near(i.high, 40.0, 1e-15, 0.0, "and multiplies");
    ok(isnan(sc_conformal_interval(0.0, 1.0, 1.0).low), "no prediction, no interval");
}

static void test_groups(void)
{
    enum { N = 400 };
    double residuals[N], difficulty[N];
    size_t groups[N];
    struct sc_conformal c;
    struct sc_conformal_quantile q;
    struct sc_error error = { 0 };
    /* Group 0: 200 points, scores 1 .. 200.  Group 1: 20.  Group 2: none.  Group 3: 180. */
    for (size_t i = 0; i < N; i++) {
        groups[i] = i < 200 ? 0 : i < 220 ? 1 : 3;
        difficulty[i] = 2.0;
        residuals[i] = 2.0 * (double)(i + 1);
    }
    if (sc_conformal_init(&c, residuals, difficulty, groups, N, 4, 50, &error) != SC_OK)
        bail("no conformal set: %s", error.reason);
    is_int(sc_conformal_find(&c, 0, 0.5, &q, &error), SC_OK, "a large group");
    near(q.quantile, 101.0, 0.0, 0.0, "has its own quantile, divided by the difficulty");
    ok(!q.pooled && q.n == 200, "of its own points");
    is_int(sc_conformal_find(&c, 3, 0.9, &q, &error), SC_OK, "the last group");
    near(q.quantile, 220.0 + 163.0, 0.0, 0.0, "has its own");
    for (size_t g = 1; g <= 2; g++) {
        is_int(sc_conformal_find(&c, g, 0.5, &q, &error), SC_OK, "a small group");
        ok(q.pooled && q.n == N && q.quantile == 201.0, "takes the pooled quantile");
    }
    is_int(sc_conformal_find(&c, 0, 0.997, &q, &error), SC_OK, "too high for a group");
    ok(q.pooled && q.quantile == 400.0, "but not for all together");
    is_int(sc_conformal_find(&c, SIZE_MAX, 0.5, &q, &error), SC_OK, "asked for all");
    ok(q.pooled, "all it is");
    is_int(sc_conformal_find(&c, 4, 0.5, &q, &error), SC_EDOMAIN, "no such group");
    sc_conformal_fini(&c);

    groups[7] = 4;
    is_int(sc_conformal_init(&c, residuals, NULL, groups, N, 4, 0, &error), SC_EDOMAIN,
           "a label that is none is refused");
    difficulty[9] = 0.0;
    is_int(sc_conformal_init(&c, residuals, difficulty, NULL, N, 0, 0, &error), SC_EDOMAIN,
           "a difficulty of 0 is refused");
    residuals[3] = (double)NAN;
    is_int(sc_conformal_init(&c, residuals, NULL, NULL, N, 0, 0, &error), SC_EDOMAIN,
           "a residual of NaN is refused");
    ok(c.scores == NULL, "and nothing is held");
}

/* Skewed, heavy-tailed residuals whose spread depends on x. */
static double draw_residual(struct sc_sim_rng *rng, double *difficulty)
{
    *difficulty = 0.5 + sc_sim_rng_uniform(rng);
    const double z = sc_sim_rng_normal(rng);
    return *difficulty * (z > 0.0 ? 0.2 * z * z : 0.05 * z);
}

/* Share of 1000 repetitions in which one new point is covered. */
static double coverage_of(size_t n, double level, bool normalised, uint64_t seed)
{
    static double residuals[1000], difficulty[1000];
    size_t covered = 0;
    for (uint64_t trial = 0; trial < 1000; trial++) {
        struct sc_sim_rng rng = sc_sim_rng_make(seed, trial, 0);
        struct sc_conformal c;
        struct sc_conformal_quantile q;
        struct sc_error error = { 0 };
        double d;
        for (size_t i = 0; i < n; i++)
            residuals[i] = draw_residual(&rng, &difficulty[i]);
        if (sc_conformal_init(&c, residuals, normalised ? difficulty : NULL, NULL, n, 0, 0,
                              &error) != SC_OK ||
            sc_conformal_find(&c, 0, level, &q, &error) != SC_OK)
            bail("no quantile: %s", error.reason);
        const double actual = 3.0 * exp(-draw_residual(&rng, &d));
        const struct sc_conformal_interval i =
            sc_conformal_interval(3.0, q.quantile, normalised ? d : 1.0);
        covered += i.low <= actual && actual <= i.high;
        sc_conformal_fini(&c);
    }
    return (double)covered / 1000.0;
}

static void test_coverage(void)
{
    static const struct {
        size_t n;
        double level;
    } cases[] = { { 9, 0.9 }, { 50, 0.5 }, { 100, 0.9 }, { 199, 0.95 } };
    for (size_t k = 0; k < 4; k++)
        for (unsigned normalised = 0; normalised < 2; normalised++) {
            const double n = (double)cases[k].n, level = cases[k].level;
            const double got = coverage_of(cases[k].n, level, normalised == 1, k);
            /* Between level and level + 1/(n+1), and three binomial sd of 1000 trials. */
            const double slack = 3.0 * sqrt(level * (1.0 - level) / 1000.0);
            ok(got >= level - slack && got <= level + 1.0 / (n + 1.0) + slack,
               "%zu points, level %.2f%s: %.3f are covered", cases[k].n, level,
               normalised == 1 ? ", scaled" : "", got);
        }
}

static void test_helpers(void)
{
    double odd[] = { 5.0, 1.0, 3.0 }, even[] = { 4.0, 1.0, 3.0, 2.0 };
    const double same[] = { 1.0, -0.0 }, alike[] = { 1.0, 0.0 }, off[] = { 1.0, 1e-300 };
    const double nothing[] = { (double)NAN };
    struct sc_geometric_mean mean = { 0 };
    near(sc_median(odd, 3), 3.0, 0.0, 0.0, "median of three");
    near(sc_median(even, 4), 2.5, 0.0, 0.0, "median of four");
    ok(isnan(sc_median(odd, 0)), "median of none");
    ok(sc_are_equal(same, alike, 2) && sc_are_equal(same, off, 1), "equal numbers");
    ok(!sc_are_equal(same, off, 2) && !sc_are_equal(nothing, nothing, 1),
       "one that is not, and NaN");
    ok(isnan(sc_geometric_mean(&mean)), "geometric mean of none");
    sc_geometric_mean_add(&mean, log(2.0));
    sc_geometric_mean_add(&mean, log(8.0));
    near(sc_geometric_mean(&mean), 4.0, 1e-15, 0.0, "geometric mean of two");
}

int main(void)
{
    plan(7 + 13 + 5 + 4 + 12 + 3 + 18 + 18 + 8);
    test_helpers();
    test_by_hand();
    test_points();
    test_nothing();
    test_refused();
    test_kendall();
    test_quantile();
    test_groups();
    test_coverage();
    return done();
}
