/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/rng.h"

#include <assert.h>
#include <math.h>
#include <string.h>

__extension__ typedef unsigned __int128 sc_sim_product;

uint64_t sc_sim_splitmix64(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Each part is scrambled before the next comes in: (1, 2) is not (2, 1). */
uint64_t sc_sim_rng_hash(uint64_t master, uint64_t run, uint64_t stream)
{
    uint64_t state = master;

    state = sc_sim_splitmix64(&state) + run;
    state = sc_sim_splitmix64(&state) + stream;
    return sc_sim_splitmix64(&state);
}

struct sc_sim_rng sc_sim_rng_make(uint64_t master, uint64_t run, uint64_t stream)
{
    uint64_t state = sc_sim_rng_hash(master, run, stream);
    struct sc_sim_rng rng;

    /* Four outputs of a bijection of a counter differ: not all are zero. */
    for (int i = 0; i < 4; i++)
        rng.state[i] = sc_sim_splitmix64(&state);
    return rng;
}

/*
 * The high half of next * n is uniform if each has the same share of low
 * halves; the 2^64 mod n surplus ones are drawn again.
 */
uint64_t sc_sim_rng_below(struct sc_sim_rng *rng, uint64_t n)
{
    sc_sim_product product;

    assert(n > 0);
    product = (sc_sim_product)sc_sim_rng_next(rng) * n;
    /* The division is only needed when the low half might be a surplus one. */
    if ((uint64_t)product < n) {
        const uint64_t surplus = (0 - n) % n;

        while ((uint64_t)product < surplus)
            product = (sc_sim_product)sc_sim_rng_next(rng) * n;
    }
    return (uint64_t)(product >> 64);
}

/* Uniform in (0, 1), ends excluded and symmetrical about 1/2. */
static double uniform_open(struct sc_sim_rng *rng)
{
    return ((double)(sc_sim_rng_next(rng) >> 12) + 0.5) * 0x1p-52;
}

/*
 * ln((1 + s)/(1 - s)) for |s| <= 0.1716: 2 s (1 + s^2/3 + s^4/5 + ...), to
 * the term that is below 1e-17.  In pairs, which do not wait for each other.
 */
static double log_ratio(double s)
{
    const double x = s * s, x2 = x * x, x4 = x2 * x2;
    const double low = (1.0 / 3.0 + x * (1.0 / 5.0)) + x2 * (1.0 / 7.0 + x * (1.0 / 9.0));
    const double high = (1.0 / 11.0 + x * (1.0 / 13.0)) + x2 * (1.0 / 15.0 + x * (1.0 / 17.0));
    const double sum = low + x4 * (high + x4 * (1.0 / 19.0 + x * (1.0 / 21.0)));

    return 2.0 * s + 2.0 * s * (x * sum);
}

/* ln(x) of a normal number x > 0: x = 2^exponent m with 0.707 < m < 1.414. */
static double natural_log(double x)
{
    /* Half of 2, in two pieces: the first times any exponent is exact. */
    const double ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45;
    const uint64_t sqrt_half = UINT64_C(0x3fe6a09e667f3bcd);
    uint64_t bits;
    int64_t exponent;
    double m;

    memcpy(&bits, &x, sizeof bits);
    exponent = (int64_t)(bits - sqrt_half) >> 52;
    bits -= (uint64_t)exponent << 52;
    memcpy(&m, &bits, sizeof m);
    return (double)exponent * ln2_high +
           (log_ratio((m - 1.0) / (m + 1.0)) + (double)exponent * ln2_low);
}

/* ln(1 - p), 0 <= p < 1: where 1 - p would round away what matters, without it. */
static double natural_log_of_rest(double p)
{
    return p < 0.25 ? log_ratio(-p / (2.0 - p)) : natural_log(1.0 - p);
}

double sc_sim_rng_exponential(struct sc_sim_rng *rng, double mean)
{
    assert(mean >= 0.0);
    /* 1 - uniform is exact, above 0, and up to 1. */
    return -mean * natural_log(1.0 - sc_sim_rng_uniform(rng));
}

double sc_sim_rng_normal(struct sc_sim_rng *rng)
{
    return sc_sim_normal_quantile(uniform_open(rng));
}

uint64_t sc_sim_rng_geometric(struct sc_sim_rng *rng, double p)
{
    const double survived = 1.0 - sc_sim_rng_uniform(rng);
    double failures;

    assert(p > 0.0 && p <= 1.0);
    if (p >= 1.0)
        return 0;
    failures = natural_log(survived) / natural_log_of_rest(p);
    return failures < 0x1p64 ? (uint64_t)failures : UINT64_MAX;
}

/* ---- The normal quantile: AS 241, routine PPND16 ---- */

enum { DEGREE = 7 };

struct rational {
    double numerator[DEGREE + 1], denominator[DEGREE + 1]; /* from the constant term on */
};

static const struct rational near_centre = {
    { 3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
      1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
      3.3430575583588128105e4, 2.5090809287301226727e3 },
    { 1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
      2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4,
      5.2264952788528545610e3 },
};

static const struct rational in_tail = {
    { 1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
      3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
      2.27238449892691845833e-2, 7.74545014278341407640e-4 },
    { 1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
      1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
      1.05075007164441684324e-9 },
};

static const struct rational far_in_tail = {
    { 6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
      2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
      2.71155556874348757815e-5, 2.01033439929228813265e-7 },
    { 1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
      7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
      2.04426310338993978564e-15 },
};

static double rational_at(const struct rational *r, double x)
{
    double numerator = r->numerator[DEGREE], denominator = r->denominator[DEGREE];

    for (int i = DEGREE - 1; i >= 0; i--) {
        numerator = numerator * x + r->numerator[i];
        denominator = denominator * x + r->denominator[i];
    }
    return numerator / denominator;
}

double sc_sim_normal_quantile(double p)
{
    const double distance = p - 0.5;
    double tail, r, z;

    if (fabs(distance) <= 0.425)
        return distance * rational_at(&near_centre, 0.180625 - distance * distance);
    if (!(p >= 0.0 && p <= 1.0))
        return (double)NAN;
    tail = distance < 0.0 ? p : 1.0 - p;
    if (tail < 0x1p-1022) /* 0, or too small for the logarithm */
        return distance < 0.0 ? (double)-INFINITY : (double)INFINITY;
    r = sqrt(-natural_log(tail));
    z = r <= 5.0 ? rational_at(&in_tail, r - 1.6) : rational_at(&far_in_tail, r - 5.0);
    return distance < 0.0 ? -z : z;
}
