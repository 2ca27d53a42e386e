/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The fit against certified answers (NIST StRD), against planted parameters, and
 * against what it must not claim: parameters that the data do not determine.
 */
#include "fit.h"
#include "sim/rng.h"
#include "tap.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { ROWS_MAX = 400, PARAMETERS_MAX = 8 };

/* --- models ------------------------------------------------------------------- */

/* One problem: x of each row, and a curve whose value (not logarithm) at x is
 * compared; NIST's problems are not logarithmic, and the fit does not mind. */
struct curve {
    double (*at)(const double *b, double x);
    double x[ROWS_MAX];
    struct sc_fit_observation rows[ROWS_MAX];
    size_t n;
    size_t poison; /* row that is NaN when b[0] is above `poison_above`; n: none */
    double poison_above;
};

static enum sc_status predict(const double *b, double *predictions, void *context)
{
    const struct curve *c = context;
    for (size_t i = 0; i < c->n; i++)
        predictions[i] = c->at(b, c->x[i]);
    if (c->poison < c->n && b[0] > c->poison_above)
        predictions[c->poison] = (double)NAN;
    return SC_OK;
}

static double misra1a(const double *b, double x)
{
    return b[0] * (1.0 - exp(-b[1] * x));
}

static double thurber(const double *b, double x)
{
    return (b[0] + x * (b[1] + x * (b[2] + x * b[3]))) /
           (1.0 + x * (b[4] + x * (b[5] + x * b[6])));
}

/* log of a saturating slowdown: 1 + a x^p / (1 + x / c). */
static double saturating(const double *b, double x)
{
    return log1p(b[0] * pow(x, b[1]) / (1.0 + x / b[2]));
}

static double power_law(const double *b, double x)
{
    return log(b[0]) + b[1] * log(x);
}

/* Only b[0] b[1] matters, and b[3] not at all. */
static double degenerate(const double *b, double x)
{
    return log(b[0] * b[1]) + b[2] * log(x);
}

static struct sc_fit_problem problem_of(struct curve *c, const struct sc_fit_parameter *parameters,
                                        size_t count)
{
    return (struct sc_fit_problem){ .parameters = parameters,
                                    .parameter_count = count,
                                    .observations = c->rows,
                                    .observation_count = c->n,
                                    .predict = predict,
                                    .context = c };
}

static struct curve curve_of(double (*at)(const double *b, double x), const double *x,
                             const double *y, size_t n)
{
    struct curve c = { .at = at, .n = n, .poison = n };
    for (size_t i = 0; i < n; i++) {
        c.x[i] = x[i];
        c.rows[i] = (struct sc_fit_observation){ .log_value = y != NULL ? y[i] : 0.0,
                                                 .weight = 1.0 };
    }
    return c;
}

/* x from 0.1 to 100, evenly in the logarithm. */
static struct curve spread_curve(double (*at)(const double *b, double x), size_t n)
{
    struct curve c = { .at = at, .n = n, .poison = n };
    for (size_t i = 0; i < n; i++) {
        c.x[i] = 0.1 * pow(1000.0, (double)i / (double)(n - 1));
        c.rows[i].weight = 1.0;
    }
    return c;
}

static void plant(struct curve *c, const double *truth, double sd, struct sc_sim_rng *rng)
{
    for (size_t i = 0; i < c->n; i++)
        c->rows[i].log_value = c->at(truth, c->x[i]) + sd * sc_sim_rng_normal(rng);
}

/* --- NIST StRD ------------------------------------------------------------------ */

static const double misra1a_x[] = { 77.6,  114.9, 141.1, 190.8, 239.9, 289.0, 332.8,
                                    378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760.0 };
static const double misra1a_y[] = { 10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02,
                                    44.82, 50.76, 55.05, 61.01, 66.40, 75.47, 81.78 };
static const double misra1a_b[] = { 2.3894212918e+02, 5.5015643181e-04 };
static const double misra1a_sd[] = { 2.7070075241e+00, 7.2668688436e-06 };

static const double thurber_x[] = { -3.067, -2.981, -2.921, -2.912, -2.840, -2.797, -2.702, -2.699,
                                    -2.633, -2.481, -2.363, -2.322, -1.501, -1.460, -1.274, -1.212,
                                    -1.100, -1.046, -0.915, -0.714, -0.566, -0.545, -0.400, -0.309,
                                    -0.109, -0.103, 0.010,  0.119,  0.377,  0.790,  0.963,  1.006,
                                    1.115,  1.572,  1.841,  2.047,  2.200 };
static const double thurber_y[] = { 80.574,   84.248,   87.264,   87.195,   89.076,   89.608,
                                    89.868,   90.101,   92.405,   95.854,   100.696,  101.060,
                                    401.672,  390.724,  567.534,  635.316,  733.054,  759.087,
                                    894.206,  990.785,  1090.109, 1080.914, 1122.643, 1178.351,
                                    1260.531, 1273.514, 1288.339, 1327.543, 1353.863, 1414.509,
                                    1425.208, 1421.384, 1442.962, 1464.350, 1468.705, 1447.894,
                                    1457.628 };
static const double thurber_b[] = { 1.2881396800e+03, 1.4910792535e+03, 5.8323836877e+02,
                                    7.5416644291e+01, 9.6629502864e-01, 3.9797285797e-01,
                                    4.9727297349e-02 };
static const double thurber_sd[] = { 4.6647963344e+00, 3.9571156086e+01, 2.8698696102e+01,
                                     5.5675370270e+00, 3.1333340687e-02, 1.4984928198e-02,
                                     6.5842344623e-03 };

struct certified {
    const char *name;
    double (*at)(const double *b, double x);
    const double *x, *y, *b, *sd;
    size_t n, parameters;
    double residual_sd;
    double starts[2][PARAMETERS_MAX];
};

static const struct certified certified[] = {
    { "Misra1a", misra1a, misra1a_x, misra1a_y, misra1a_b, misra1a_sd, 14, 2, 1.0187876330e-01,
      { { 500, 0.0001 }, { 250, 0.0005 } } },
    { "Thurber", thurber, thurber_x, thurber_y, thurber_b, thurber_sd, 37, 7, 1.3714600784e+01,
      { { 1000, 1000, 400, 40, 0.7, 0.3, 0.03 }, { 1300, 1500, 500, 75, 1, 0.4, 0.05 } } },
};

/* The largest relative errors of estimates and of standard errors. */
static void certify(const struct certified *c, const double *start,
                    enum sc_fit_transform transform, enum sc_fit_method method)
{
    struct curve curve = curve_of(c->at, c->x, c->y, c->n);
    struct sc_fit_parameter parameters[PARAMETERS_MAX] = { { 0 } };
    const struct sc_fit_options options = { .loss = SC_FIT_SQUARES, .method = method,
                                            .iterations = 2000 };
    struct sc_fit fit;
    struct sc_error error = { 0 };
    double worst = 0.0, worst_sd = 0.0;
    for (size_t j = 0; j < c->parameters; j++)
        parameters[j] = (struct sc_fit_parameter){ "b", start[j], c->b[j] / 10.0, c->b[j] * 10.0,
                                                   transform, 0.0, 0.0, false };
    const struct sc_fit_problem problem = problem_of(&curve, parameters, c->parameters);
    if (!ok(sc_fit_solve(&fit, &problem, &options, &error) == SC_OK, "%s is fitted", c->name)) {
        skip(4, "no fit: %s", error.reason);
        return;
    }
    for (size_t j = 0; j < c->parameters; j++) {
        worst = fmax(worst, fabs(fit.estimates[j].value / c->b[j] - 1.0));
        worst_sd = fmax(worst_sd, fabs(fit.estimates[j].std_error / c->sd[j] - 1.0));
    }
    ok(fit.converged, "%s converged: %s", c->name, fit.reason);
    near(worst, 0.0, 0.0, 1e-6, "%s: estimates to 6 digits", c->name);
    near(worst_sd, 0.0, 0.0, 1e-5, "%s: standard errors to 5 digits", c->name);
    near(fit.residual_sd, c->residual_sd, 1e-8, 0.0, "%s: residual sd", c->name);
    sc_fit_fini(&fit);
}

static void test_certified(void)
{
    for (size_t i = 0; i < 2; i++)
        for (size_t start = 0; start < 2; start++)
            for (unsigned transform = SC_FIT_IDENTITY; transform <= SC_FIT_LOG; transform++)
                certify(&certified[i], certified[i].starts[start],
                        (enum sc_fit_transform)transform, SC_FIT_LEVENBERG_MARQUARDT);
    certify(&certified[0], certified[0].starts[1], SC_FIT_LOG, SC_FIT_DOGLEG);
    certify(&certified[1], certified[1].starts[1], SC_FIT_IDENTITY, SC_FIT_DOGLEG);
}

/* --- planted parameters ------------------------------------------------------------- */

static const double planted[] = { 0.8, 0.6, 30.0 };

static struct sc_fit_parameter saturating_parameters[] = {
    { "gain", 1.0, 0.01, 100.0, SC_FIT_LOG, 0.0, 0.0, false },
    { "exponent", 0.5, 0.0, 2.0, SC_FIT_LOGIT, 0.0, 0.0, false },
    { "knee", 10.0, 0.1, 1000.0, SC_FIT_LOG, 0.0, 0.0, false },
};

/* Trials in which each parameter's interval covers, of those that converged. */
static void coverage_of(double outliers, enum sc_fit_loss loss, size_t trials,
                        size_t covered[3], size_t *converged, double *mean_error)
{
    *converged = 0;
    *mean_error = 0.0;
    memset(covered, 0, 3 * sizeof *covered);
    for (size_t trial = 0; trial < trials; trial++) {
        struct sc_sim_rng rng = sc_sim_rng_make(20, trial, 0);
        struct curve c = spread_curve(saturating, 80);
        const struct sc_fit_problem problem = problem_of(&c, saturating_parameters, 3);
        const struct sc_fit_options options = { .loss = loss };
        struct sc_fit fit;
        struct sc_error error;
        plant(&c, planted, 0.05, &rng);
        for (size_t i = 0; i < c.n; i++)
            if (sc_sim_rng_bernoulli(&rng, outliers))
                c.rows[i].log_value += sc_sim_rng_bernoulli(&rng, 0.5) ? 1.0 : -0.5;
        if (sc_fit_solve(&fit, &problem, &options, &error) != SC_OK)
            continue;
        *converged += fit.converged;
        for (size_t j = 0; j < 3; j++)
            covered[j] += fit.estimates[j].low <= planted[j] && planted[j] <= fit.estimates[j].high;
        *mean_error += fabs(log(fit.estimates[0].value / planted[0])) / (double)trials;
        sc_fit_fini(&fit);
    }
}

static void test_planted(void)
{
    size_t covered[3], converged;
    double clean, robust, squares;
    coverage_of(0.0, SC_FIT_SQUARES, 200, covered, &converged, &clean);
    is_int((long long)converged, 200, "no outliers: all trials converge");
    for (size_t j = 0; j < 3; j++)
        ok(covered[j] >= 180 && covered[j] <= 199, "no outliers: %s is covered in %zu of 200",
           saturating_parameters[j].name, covered[j]);
    coverage_of(0.05, SC_FIT_HUBER, 200, covered, &converged, &robust);
    is_int((long long)converged, 200, "5 %% outliers: all trials converge");
    for (size_t j = 0; j < 3; j++)
        ok(covered[j] >= 180, "5 %% outliers: %s is covered in %zu of 200",
           saturating_parameters[j].name, covered[j]);
    coverage_of(0.05, SC_FIT_SQUARES, 200, covered, &converged, &squares);
    ok(robust < 0.5 * squares && robust < 2.0 * clean,
       "Huber: mean error %.4f, squares %.4f, without outliers %.4f", robust, squares, clean);
}

/* Without noise everything is found exactly, with any loss. */
static void test_exact(void)
{
    for (unsigned loss = 0; loss < SC_FIT_LOSSES; loss++) {
        struct sc_sim_rng rng = sc_sim_rng_make(1, 0, 0);
        struct curve c = spread_curve(saturating, 40);
        const struct sc_fit_problem problem = problem_of(&c, saturating_parameters, 3);
        const struct sc_fit_options options = { .loss = (enum sc_fit_loss)loss };
        struct sc_fit fit;
        struct sc_error error = { 0 };
        plant(&c, planted, 0.0, &rng);
        if (!ok(sc_fit_solve(&fit, &problem, &options, &error) == SC_OK, "exact data are fitted")) {
            skip(4, "%s", error.reason);
            continue;
        }
        ok(fit.converged, "exact data converge: %s", fit.reason);
        for (size_t j = 0; j < 3; j++)
            near(fit.estimates[j].value, planted[j], 1e-7, 0.0, "exact data: %s",
                 saturating_parameters[j].name);
        sc_fit_fini(&fit);
    }
}

/* Against the closed form of a straight line: log y = log b0 + b1 log x. */
static void test_line(void)
{
    struct sc_sim_rng rng = sc_sim_rng_make(2, 0, 0);
    struct curve c = spread_curve(power_law, 30);
    const struct sc_fit_parameter parameters[] = {
        { "b0", 1.0, 0.1, 10.0, SC_FIT_LOG, 0.0, 0.0, false },
        { "b1", 0.0, -5.0, 5.0, SC_FIT_IDENTITY, 0.0, 0.0, false },
        { "unused", 7.0, 0.0, 10.0, SC_FIT_IDENTITY, 0.0, 0.0, true },
    };
    const struct sc_fit_problem problem = problem_of(&c, parameters, 3);
    const struct sc_fit_options options = { .loss = SC_FIT_SQUARES };
    struct sc_fit fit;
    struct sc_error error = { 0 };
    plant(&c, (const double[]){ 2.0, 0.7 }, 0.1, &rng);
    for (size_t i = 0; i < c.n; i++)
        c.rows[i].weight = i % 3 == 0 ? 4.0 : 1.0;

    double w = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0;
    for (size_t i = 0; i < c.n; i++) {
        const double wi = c.rows[i].weight, x = log(c.x[i]), y = c.rows[i].log_value;
        w += wi;
        sx += wi * x;
        sy += wi * y;
        sxx += wi * x * x;
        sxy += wi * x * y;
        syy += wi * y * y;
    }
    const double d = w * sxx - sx * sx;
    const double slope = (w * sxy - sx * sy) / d, start = (sxx * sy - sx * sxy) / d;
    const double rss = syy - start * sy - slope * sxy, s2 = rss / 28.0;

    if (sc_fit_solve(&fit, &problem, &options, &error) != SC_OK)
        bail("the line is not fitted: %s", error.reason);
    near(fit.estimates[0].value, exp(start), 1e-8, 0.0, "line: intercept");
    near(fit.estimates[1].value, slope, 1e-8, 0.0, "line: slope");
    near(fit.residual_sd, sqrt(s2), 1e-8, 0.0, "line: residual sd");
    near(fit.estimates[1].std_error, sqrt(s2 * w / d), 1e-7, 0.0, "line: error of the slope");
    near(fit.estimates[0].std_error, exp(start) * sqrt(s2 * sxx / d), 1e-7, 0.0,
         "line: error of the intercept, by the delta method");
    near(fit.transformed_covariance[1], -s2 * sx / d, 1e-7, 0.0, "line: covariance");
    near(fit.covariance[3], exp(start) * -s2 * sx / d, 1e-7, 0.0, "line: covariance, own units");
    near(fit.correlation[1], -sx / sqrt(w * sxx), 1e-7, 0.0, "line: correlation");
    near(fit.r_squared, 1.0 - rss / (syy - sy * sy / w), 1e-8, 0.0, "line: R2");
    near(fit.aicc, 30.0 * log(rss / 30.0) + 6.0 + 24.0 / 26.0, 1e-8, 0.0, "line: AICc");
    near(fit.degrees_of_freedom, 28.0, 1e-12, 0.0, "line: degrees of freedom");
    /* 0.975 quantile of t with 28 degrees of freedom: 2.0484071417952445 (R). */
    near(fit.estimates[1].high - fit.estimates[1].value,
         2.0484071417952445 * fit.estimates[1].std_error, 1e-10, 0.0, "line: interval");
    const double r = sx / sqrt(w * sxx);
    near(fit.condition, sqrt((1.0 + fabs(r)) / (1.0 - fabs(r))), 1e-6, 0.0, "line: condition");
    ok(fit.estimates[2].verdict == SC_FIT_GIVEN && fit.estimates[2].identified &&
           fit.estimates[2].std_error == 0.0 && fit.estimates[2].value == 7.0,
       "line: a fixed parameter stays");
    ok(fit.unidentified_count == 0 && fit.converged, "line: all identified");
    sc_fit_fini(&fit);
}

/* --- what cannot be known --------------------------------------------------------------- */

static const struct sc_fit_parameter degenerate_parameters[] = {
    { "left", 1.0, 0.01, 100.0, SC_FIT_LOG, 0.0, 0.0, false },
    { "right", 1.0, 0.01, 100.0, SC_FIT_LOG, 0.0, 0.0, false },
    { "slope", 0.1, -5.0, 5.0, SC_FIT_IDENTITY, 0.0, 0.0, false },
    { "nothing", 3.0, 0.1, 10.0, SC_FIT_LOG, 0.0, 0.0, false },
};

static bool all_finite(const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

static void test_unidentified(void)
{
    for (unsigned method = 0; method < SC_FIT_METHODS; method++) {
        struct sc_sim_rng rng = sc_sim_rng_make(3, 0, 0);
        struct curve c = spread_curve(degenerate, 50);
        const struct sc_fit_problem problem = problem_of(&c, degenerate_parameters, 4);
        const struct sc_fit_options options = { .method = (enum sc_fit_method)method };
        struct sc_fit fit;
        struct sc_error error = { 0 };
        plant(&c, (const double[]){ 2.0, 3.0, 0.7, 1.0 }, 0.05, &rng);
        if (sc_fit_solve(&fit, &problem, &options, &error) != SC_OK)
            bail("the degenerate problem is not fitted: %s", error.reason);
        const struct sc_fit_estimate *e = fit.estimates;
        is_int((long long)fit.unidentified_count, 3, "three of four are unidentified");
        is_int(e[0].verdict, SC_FIT_SINGULAR, "left: only a product matters");
        is_str(e[0].with, "right", "left cannot be told from right");
        is_str(e[1].with, "left", "right cannot be told from left");
        is_int(e[2].verdict, SC_FIT_IDENTIFIED, "slope is identified");
        is_int(e[3].verdict, SC_FIT_NO_EFFECT, "nothing has no effect");
        is_str(e[3].why, "no prediction depends on it where it ended", "and it is said why");
        near(e[0].value * e[1].value, 6.0, 0.05, 0.0, "the product is found");
        near(e[2].value, 0.7, 0.02, 0.0, "the slope is found");
        near(e[3].value, 3.0, 1e-15, 0.0, "what has no effect stays");
        ok(isnan(e[0].std_error) && isnan(e[3].low), "no error is claimed for them");
        ok(isfinite(e[2].std_error) && e[2].std_error < 0.02, "the slope has its error");
        ok(all_finite(fit.covariance, 16) && all_finite(fit.correlation, 16),
           "matrices are finite");
        ok(fit.condition > 1e6 && fit.condition <= 1.0 / DBL_EPSILON, "condition %.3g",
           fit.condition);
        sc_fit_fini(&fit);
    }
}

struct knee_count {
    size_t named, covered, rest, unbounded;
};

/* Forty fits of a knee, of data that end at 100. */
static struct knee_count count_knees(double knee, const struct sc_fit_options *options)
{
    struct knee_count count = { 0 };
    for (size_t trial = 0; trial < 40; trial++) {
        struct sc_sim_rng rng = sc_sim_rng_make(4, trial, 0);
        struct curve c = spread_curve(saturating, 60);
        const struct sc_fit_problem problem = problem_of(&c, saturating_parameters, 3);
        struct sc_fit fit;
        struct sc_error error = { 0 };
        plant(&c, (const double[]){ 0.8, 0.6, knee }, 0.05, &rng);
        if (sc_fit_solve(&fit, &problem, options, &error) != SC_OK)
            bail("the wide problem is not fitted: %s", error.reason);
        const struct sc_fit_estimate *e = &fit.estimates[2];
        count.named += !e->identified && e->why != NULL;
        count.covered += e->identified && e->low <= knee && e->high >= knee;
        count.rest += fit.estimates[0].identified && fit.estimates[1].identified;
        count.unbounded += !isfinite(e->value) || isinf(e->low) || isinf(e->high);
        sc_fit_fini(&fit);
    }
    return count;
}

/* The knee lies beyond the data: its error is large, or it runs away, or it is bounded
 * from below only, which standard errors alone do not see. */
static void test_wide(void)
{
    const struct knee_count far = count_knees(1e5, NULL), near_by = count_knees(500.0, NULL);
    const struct knee_count blind =
        count_knees(1e5, &(struct sc_fit_options){ .skip_profiles = true });
    ok(far.named >= 38, "a knee far beyond the data is named in %zu of 40", far.named);
    ok(blind.named < 30, "without profiles in %zu", blind.named);
    is_int((long long)far.rest, 40, "the rest is identified");
    is_int((long long)far.unbounded, 0, "nothing is infinite");
    ok(near_by.named + near_by.covered >= 37,
       "a knee a little beyond is named in %zu and covered in %zu of 40", near_by.named,
       near_by.covered);
}

/* --- censoring ------------------------------------------------------------------------------ */

/* Runs stopped at a limit: known to be at least that. */
static void test_censored(void)
{
    static const struct sc_fit_parameter parameters[] = {
        { "b0", 1.0, 0.1, 10.0, SC_FIT_LOG, 0.0, 0.0, false },
        { "b1", 0.1, -5.0, 5.0, SC_FIT_IDENTITY, 0.0, 0.0, false },
    };
    double told = 0.0, taken = 0.0, dropped = 0.0;
    for (size_t trial = 0; trial < 40; trial++)
        for (unsigned mode = 0; mode < 3; mode++) {
            struct sc_sim_rng rng = sc_sim_rng_make(5, trial, 0);
            struct curve c = spread_curve(power_law, 60);
            const struct sc_fit_problem problem = problem_of(&c, parameters, 2);
            struct sc_fit fit;
            struct sc_error error = { 0 };
            const double sign = trial % 2 == 0 ? 1.0 : -1.0;
            plant(&c, (const double[]){ 2.0, sign * 0.7 }, 0.3, &rng);
            for (size_t i = 0; i < c.n; i++) {
                if (sign * c.rows[i].log_value <= 2.0)
                    continue;
                c.rows[i].log_value = sign * 2.0;
                if (mode == 0)
                    c.rows[i].censoring = sign > 0.0 ? SC_FIT_AT_LEAST : SC_FIT_AT_MOST;
                if (mode == 2)
                    c.rows[i].weight = 0.0;
            }
            if (sc_fit_solve(&fit, &problem, NULL, &error) != SC_OK)
                bail("the censored problem is not fitted: %s", error.reason);
            const double bias = (sign * fit.estimates[1].value - 0.7) / 40.0;
            *(mode == 0 ? &told : mode == 1 ? &taken : &dropped) += bias;
            if (trial == 0 && mode == 0)
                ok(fit.censored_count > 10 && fit.exact_count + fit.censored_count == 60,
                   "censored rows are counted");
            sc_fit_fini(&fit);
        }
    ok(fabs(told) < 0.02, "censored: bias of the slope %.4f", told);
    ok(taken < -0.05 && dropped < -0.02, "taken as exact %.4f, left out %.4f", taken, dropped);
}

/* --- priors ----------------------------------------------------------------------------------- */

static void test_priors(void)
{
    struct sc_sim_rng rng = sc_sim_rng_make(6, 0, 0);
    static const struct sc_fit_parameter parameters[] = {
        { "gain", 1.0, 0.01, 100.0, SC_FIT_LOG, 0.0, 0.5, false },
        { "exponent", 0.5, 0.0, 2.0, SC_FIT_LOGIT, 0.0, 1.0, false },
        { "knee", 10.0, 0.1, 1000.0, SC_FIT_LOG, 3.0, 0.5, false },
        { "a", 1.0, 0.01, 100.0, SC_FIT_LOG, 1.0, 0.3, false },
        { "b", 1.0, 0.01, 100.0, SC_FIT_LOG, -1.0, 0.3, false },
        { "c", 0.0, -1.0, 1.0, SC_FIT_IDENTITY, 0.25, 0.1, false },
    };
    struct curve c = spread_curve(saturating, 5);
    const struct sc_fit_problem problem = problem_of(&c, parameters, 6);
    struct sc_fit_options options = { .noise_sd = 0.05, .noise_weight = 10.0 };
    struct sc_fit fit;
    struct sc_error error = { 0 };
    plant(&c, planted, 0.05, &rng);
    if (sc_fit_solve(&fit, &problem, &options, &error) != SC_OK)
        bail("five rows are not fitted: %s", error.reason);
    ok(fit.converged, "5 rows, 6 parameters: %s", fit.reason);
    for (size_t j = 0; j < 3; j++)
        ok(fit.estimates[j].low <= planted[j] && planted[j] <= fit.estimates[j].high &&
               fit.estimates[j].prior_share < 0.9,
           "5 rows: %s %.3g in %.3g .. %.3g, prior share %.2f", parameters[j].name, planted[j],
           fit.estimates[j].low, fit.estimates[j].high, fit.estimates[j].prior_share);
    for (size_t j = 3; j < 6; j++) {
        ok(fit.estimates[j].verdict == SC_FIT_PRIOR && !fit.estimates[j].identified,
           "5 rows: %s is its prior: %s", parameters[j].name, fit.estimates[j].why);
        near(fit.estimates[j].transformed, parameters[j].prior_mean, 1e-6, 0.0,
             "5 rows: %s at the mean", parameters[j].name);
        near(fit.estimates[j].transformed_std_error, parameters[j].prior_sd, 1e-6, 0.0,
             "5 rows: %s with the sd", parameters[j].name);
    }
    sc_fit_fini(&fit);

    options.noise_weight = 0.0;
    ok(sc_fit_solve(&fit, &problem, &options, &error) == SC_EMISSING, "noise must be told then");
    is_str(error.field, "noise_sd", "and it is named");
    ok(fit.estimates == NULL, "a failed fit holds nothing");
}

/* A mean of n values with a Gaussian prior has a textbook answer. */
static void test_conjugate(void)
{
    static const struct sc_fit_parameter parameters[] = {
        { "level", 1.0, 0.01, 100.0, SC_FIT_LOG, 0.5, 0.1, false },
        { "zero", 0.0, -1.0, 1.0, SC_FIT_IDENTITY, 0.0, 0.0, true },
    };
    struct curve c = spread_curve(power_law, 4);
    const struct sc_fit_problem problem = problem_of(&c, parameters, 2);
    /* So many observations' worth that the noise is as good as known. */
    const struct sc_fit_options options = { .loss = SC_FIT_SQUARES, .noise_sd = 0.2,
                                            .noise_weight = 1e9 };
    struct sc_fit fit;
    struct sc_error error = { 0 };
    for (size_t i = 0; i < 4; i++)
        c.rows[i].log_value = 1.0 + 0.1 * (double)i;
    if (sc_fit_solve(&fit, &problem, &options, &error) != SC_OK)
        bail("the conjugate problem is not fitted: %s", error.reason);
    /* Precisions 4 / 0.04 of the mean 1.15 and 1 / 0.01 of 0.5. */
    near(fit.estimates[0].transformed, (100.0 * 1.15 + 100.0 * 0.5) / 200.0, 1e-6, 0.0,
         "posterior mean");
    near(fit.estimates[0].transformed_std_error, sqrt(1.0 / 200.0), 1e-6, 0.0, "posterior sd");
    near(fit.estimates[0].prior_share, 0.5, 1e-6, 0.0, "half of it is the prior");
    sc_fit_fini(&fit);
}

/* --- several starts, determinism, faults ---------------------------------------------------- */

/* A wave: from the wrong side of it least squares ends in a wrong valley. */
static double wave(const double *b, double x)
{
    return sin(b[0] * log(x)) + b[1];
}

static void test_starts(void)
{
    struct sc_sim_rng rng = sc_sim_rng_make(7, 0, 0);
    static const struct sc_fit_parameter parameters[] = {
        { "frequency", 9.0, 0.5, 12.0, SC_FIT_IDENTITY, 0.0, 0.0, false },
        { "offset", 0.0, -1.0, 1.0, SC_FIT_IDENTITY, 0.0, 0.0, false },
    };
    struct curve c = spread_curve(wave, 60);
    const struct sc_fit_problem problem = problem_of(&c, parameters, 2);
    struct sc_fit one, many, again;
    struct sc_error error = { 0 };
    plant(&c, (const double[]){ 3.0, 0.3 }, 0.02, &rng);
    if (sc_fit_solve(&one, &problem, &(struct sc_fit_options){ .starts = 1 }, &error) != SC_OK ||
        sc_fit_solve(&many, &problem, &(struct sc_fit_options){ .starts = 30, .seed = 1 },
                     &error) != SC_OK ||
        sc_fit_solve(&again, &problem, &(struct sc_fit_options){ .starts = 30, .seed = 1 },
                     &error) != SC_OK)
        bail("the wave is not fitted: %s", error.reason);
    ok(one.residual_sd > 0.3, "one start ends in the wrong valley: %.3f", one.residual_sd);
    near(many.estimates[0].value, 3.0, 0.01, 0.0, "thirty starts find it");
    ok(many.best_start > 0, "from start %zu", many.best_start);
    ok(memcmp(many.covariance, again.covariance, 4 * sizeof(double)) == 0 &&
           memcmp(many.residuals, again.residuals, 60 * sizeof(double)) == 0 &&
           many.evaluations == again.evaluations, "same seed, same bytes");
    sc_fit_fini(&one);
    sc_fit_fini(&many);
    sc_fit_fini(&again);
}

static enum sc_status no_predict(const double *b, double *predictions, void *context)
{
    (void)b;
    (void)predictions;
    (void)context;
    return SC_ESATURATED;
}

static enum sc_status solve_once(const struct sc_fit_problem *problem, struct sc_error *error)
{
    struct sc_fit fit;
    const enum sc_status status = sc_fit_solve(&fit, problem, NULL, error);
    if (status == SC_OK)
        sc_fit_fini(&fit);
    return status;
}

/* A line whose predictions are only good to 1e-3, as of a fixed point that stops early. */
static double coarse(const double *b, double x)
{
    return round(1e3 * (b[0] + b[1] * x)) / 1e3;
}

static void test_coarse(void)
{
    static const struct sc_fit_parameter parameters[] = {
        { "offset", 0.5, -4.0, 4.0, SC_FIT_IDENTITY, 0.0, 0.0, false },
        { "slope", 1.0, 0.05, 20.0, SC_FIT_LOG, 0.0, 0.0, false },
    };
    struct curve c = spread_curve(coarse, 60);
    const struct sc_fit_problem problem = problem_of(&c, parameters, 2);
    struct sc_fit wide;
    struct sc_error error = { 0 };
    struct sc_sim_rng rng = sc_sim_rng_make(9, 0, 0);
    plant(&c, (const double[]){ 1.5, 2.5 }, 0.01, &rng);
    if (sc_fit_solve(&wide, &problem, &(struct sc_fit_options){ .difference_step = 0.03 },
                     &error) != SC_OK)
        bail("the coarse line is not fitted: %s", error.reason);
    near(wide.estimates[0].value, 1.5, 0.01, 0.0, "wide differences find the offset");
    near(wide.estimates[1].value, 2.5, 0.01, 0.0, "and the slope");
    const double half = 0.5 * (wide.estimates[1].high - wide.estimates[1].low);
    ok(half > 1e-5 && half < 0.02, "and how surely: +- %.4f", half);
    sc_fit_fini(&wide);
}

static void test_faults(void)
{
    struct sc_sim_rng rng = sc_sim_rng_make(8, 0, 0);
    struct sc_fit_parameter parameters[3];
    struct curve c = spread_curve(saturating, 20);
    struct sc_fit_problem problem = problem_of(&c, parameters, 3);
    struct sc_error error = { 0 };
    memcpy(parameters, saturating_parameters, sizeof parameters);
    plant(&c, planted, 0.05, &rng);

    c.poison = 7;
    c.poison_above = 0.0;
    is_int(solve_once(&problem, &error), SC_EDOMAIN, "NaN from the model is refused");
    is_str(error.field, "observation", "NaN: named as an observation");
    near(error.value, 7.0, 0.0, 0.0, "NaN: by its number");

    /* NaN only beyond 0.9, near the solution at 0.8: trial steps are shortened. */
    struct sc_fit fit;
    parameters[0].initial = 0.05;
    c.poison_above = 0.9;
    if (sc_fit_solve(&fit, &problem, NULL, &error) != SC_OK)
        bail("the poisoned problem is not fitted: %s", error.reason);
    near(fit.estimates[0].value, 0.8, 0.1, 0.0, "a cliff beside the solution is survived");
    sc_fit_fini(&fit);
    parameters[0].initial = 1.0;
    c.poison = c.n;

    c.rows[3].log_value = (double)INFINITY;
    is_int(solve_once(&problem, &error), SC_EDOMAIN, "an infinite observation is refused");
    near(error.value, 3.0, 0.0, 0.0, "by its number");
    c.rows[3].weight = 0.0;
    is_int(solve_once(&problem, &error), SC_OK, "but not when it has no weight");
    c.rows[3].weight = -1.0;
    is_int(solve_once(&problem, &error), SC_EDOMAIN, "a negative weight is refused");
    c.rows[3] = c.rows[4];

    parameters[1].initial = 2.0;
    is_int(solve_once(&problem, &error), SC_EDOMAIN, "a logit at its limit is refused");
    is_str(error.field, "exponent", "by its name");
    parameters[1].initial = 0.5;
    parameters[0].initial = 0.0;
    is_int(solve_once(&problem, &error), SC_EDOMAIN, "a logarithm of 0 is refused");
    parameters[0].initial = 1.0;
    parameters[2].low = parameters[2].high;
    is_int(solve_once(&problem, &error), SC_EDOMAIN, "an empty range is refused");
    parameters[2].low = 0.1;

    problem.observation_count = c.n = 2;
    c.poison = 2;
    is_int(solve_once(&problem, &error), SC_EMISSING, "too few observations are refused");
    problem.observation_count = c.n = c.poison = 20;
    problem.predict = no_predict;
    is_int(solve_once(&problem, &error), SC_ESATURATED, "what predict says is passed on");
    is_str(error.field, "predict", "and where it came from");

    problem.predict = predict;
    for (size_t j = 0; j < 3; j++) {
        parameters[j].fixed = true;
        parameters[j].initial = planted[j];
    }
    if (sc_fit_solve(&fit, &problem, NULL, &error) != SC_OK)
        bail("nothing to fit: %s", error.reason);
    ok(fit.converged && isnan(fit.condition) && fit.residual_sd < 0.1,
       "nothing to fit: residual sd %.3f", fit.residual_sd);
    sc_fit_fini(&fit);
}

int main(void)
{
    plan(50 + 9 + 10 + 15 + 28 + 5 + 3 + 18 + 3 + 4 + 3 + 14);
    test_certified();
    test_planted();
    test_exact();
    test_line();
    test_unidentified();
    test_wide();
    test_censored();
    test_priors();
    test_conjugate();
    test_starts();
    test_coarse();
    test_faults();
    return done();
}
