/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sobol indices against functions whose indices are known. */
#include "sobol.h"

#include <math.h>
#include <string.h>

#include "tap.h"

static const double pi = 3.14159265358979323846;

/* Ishigami and Homma (1990): sin x1 + a sin^2 x2 + b x3^4 sin x1, x in -pi .. pi. */
static bool ishigami(void *context, const double *x, double *y)
{
    const double a = 7.0, b = 0.1;
    double u[3];
    (void)context;
    for (size_t k = 0; k < 3; k++)
        u[k] = pi * (2.0 * x[k] - 1.0);
    *y = sin(u[0]) + a * sin(u[1]) * sin(u[1]) + b * pow(u[2], 4.0) * sin(u[0]);
    return true;
}

/* Sobol's g: product of (|4 x - 2| + a) / (1 + a), on a mean of 1000. */
static const double g_factors[] = { 0.0, 1.0, 4.5, 9.0, 99.0, 99.0, 99.0, 99.0 };

static bool g_function(void *context, const double *x, double *y)
{
    (void)context;
    *y = 1.0;
    for (size_t k = 0; k < 8; k++)
        *y *= (fabs(4.0 * x[k] - 2.0) + g_factors[k]) / (1.0 + g_factors[k]);
    *y += 1000.0;
    return true;
}

static bool linear(void *context, const double *x, double *y)
{
    (void)context;
    *y = 3.0 * x[0] + 4.0 * x[1];
    return true;
}

static bool constant(void *context, const double *x, double *y)
{
    (void)context;
    *y = 42.0 + 0.0 * x[0];
    return true;
}

static bool missing(void *context, const double *x, double *y)
{
    (void)context;
    *y = x[0];
    return x[0] < 0.5;
}

static bool infinite(void *context, const double *x, double *y)
{
    (void)context;
    *y = x[0] < 0.5 ? 1.0 : (double)INFINITY;
    return true;
}

typedef bool output_of(void *context, const double *x, double *y);

static struct sc_sobol run(output_of *output, size_t inputs, size_t samples, uint64_t seed)
{
    struct sc_sobol sobol;
    struct sc_error error;
    const struct sc_sobol_problem problem = { .inputs = inputs, .samples = samples, .seed = seed,
                                              .output = output };
    if (sc_sobol(&problem, &sobol, &error) != SC_OK)
        bail("%s %s", error.field, error.reason);
    return sobol;
}

static void test_ishigami(void)
{
    const double v1 = 0.5 * pow(1.0 + 0.1 * pow(pi, 4.0) / 5.0, 2.0), v2 = 49.0 / 8.0;
    const double v13 = 0.01 * pow(pi, 8.0) * 8.0 / 225.0, v = v1 + v2 + v13;
    const double first[] = { v1 / v, v2 / v, 0.0 }, total[] = { (v1 + v13) / v, v2 / v, v13 / v };
    for (uint64_t seed = 1; seed <= 3; seed++) {
        const struct sc_sobol s = run(ishigami, 3, 1 << 14, seed);
        for (size_t k = 0; k < 3; k++) {
            near(s.indices[k].first, first[k], 0.0, 0.02, "Ishigami, seed %d: S%zu", (int)seed,
                 k + 1);
            near(s.indices[k].total, total[k], 0.0, 0.02, "Ishigami, seed %d: ST%zu", (int)seed,
                 k + 1);
        }
        near(s.variance, v, 0.01, 0.0, "variance");
        near(s.mean, 3.5, 0.01, 0.0, "mean");
        near(s.first_sum, (v1 + v2) / v, 0.0, 0.02, "sum of first-order indices");
    }
}

static void test_g(void)
{
    double v[8], all = 1.0;
    for (size_t k = 0; k < 8; k++) {
        v[k] = 1.0 / 3.0 / pow(1.0 + g_factors[k], 2.0);
        all *= 1.0 + v[k];
    }
    const struct sc_sobol s = run(g_function, 8, 1 << 14, 5);
    for (size_t k = 0; k < 8; k++) {
        near(s.indices[k].first, v[k] / (all - 1.0), 0.0, 0.02, "g on a large mean: S%zu", k + 1);
        near(s.indices[k].total, v[k] * all / (1.0 + v[k]) / (all - 1.0), 0.0, 0.02,
             "g on a large mean: ST%zu", k + 1);
    }
}

/* Of many seeds, errors over their standard errors have a root mean square about 1. */
static void test_errors(void)
{
    enum { SEEDS = 60 };
    double first = 0.0, total = 0.0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const struct sc_sobol s = run(linear, 2, 512, seed);
        first += pow((s.indices[0].first - 0.36) / s.indices[0].first_se, 2.0) / SEEDS;
        total += pow((s.indices[0].total - 0.36) / s.indices[0].total_se, 2.0) / SEEDS;
    }
    ok(sqrt(first) > 0.6 && sqrt(first) < 1.6, "standard errors of S: %.2f", sqrt(first));
    ok(sqrt(total) > 0.6 && sqrt(total) < 1.6, "standard errors of ST: %.2f", sqrt(total));
}

static void test_seeds(void)
{
    const struct sc_sobol a = run(linear, 2, 256, 1), b = run(linear, 2, 256, 1);
    const struct sc_sobol c = run(linear, 2, 256, 2);
    ok(memcmp(&a, &b, sizeof a) == 0, "the same seed gives the same bytes");
    ok(memcmp(&a, &c, sizeof a) != 0, "another seed others");
}

static void refuses(output_of *output, size_t inputs, size_t samples, enum sc_status want,
                    const char *name)
{
    struct sc_sobol sobol;
    struct sc_error error;
    const struct sc_sobol_problem problem = { .inputs = inputs, .samples = samples,
                                              .output = output };
    is_int(sc_sobol(&problem, &sobol, &error), want, "%s", name);
}

int main(void)
{
    plan(3 * 9 + 16 + 2 + 2 + 8);
    test_ishigami();
    test_g();
    test_errors();
    test_seeds();
    refuses(linear, 0, 512, SC_ERANGE, "no input");
    refuses(linear, 21, 512, SC_ERANGE, "too many inputs");
    refuses(linear, 2, 500, SC_ERANGE, "no power of two");
    refuses(linear, 2, 128, SC_ERANGE, "too few samples");
    refuses(linear, 2, (size_t)1 << 25, SC_ERANGE, "too many samples");
    refuses(constant, 1, 256, SC_EDOMAIN, "no variance");
    refuses(missing, 1, 256, SC_EMISSING, "an output is missing");
    refuses(infinite, 1, 256, SC_EDOMAIN, "an output is infinite");
    return done();
}
