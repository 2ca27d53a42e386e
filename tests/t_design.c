/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples fill the space, can be had one by one, and are divided as told. */
#include "design.h"
#include "hbf.h"
#include "sim/rng.h"
#include "tap.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_qrng.h>

/* --- a system of its own ----------------------------------------------------------- */

struct scenario {
    double size, rate, count, few, still;
    int policy;
    char end[8]; /* must never change */
};

static const struct sc_choice policies[] = {
    { "none", "" }, { "some", "" }, { "all", "" }, { "more", "" },
};

#define AT(member) .offset = offsetof(struct scenario, member)

static const struct sc_field fields[] = {
    { .key = "size", .kind = SC_REAL, AT(size), .fallback = 1.0, .minimum = 0.0, .maximum = 1e9,
      .sample_low = 1.0, .sample_high = 1024.0, .sample_log = true },
    { .key = "machine", .kind = SC_PRESET },
    { .key = "rate", .aliases = "speed", .kind = SC_REAL, AT(rate), .fallback = 0.0,
      .minimum = -10.0, .maximum = 10.0, .sample_low = -2.0, .sample_high = 6.0 },
    { .key = "count", .kind = SC_INTEGER, AT(count), .fallback = 1.0, .minimum = 1.0,
      .maximum = 1e6, .sample_low = 1.0, .sample_high = 4.0 },
    { .key = "few", .kind = SC_INTEGER, AT(few), .fallback = 1.0, .minimum = 1.0, .maximum = 1e6,
      .sample_low = 1.0, .sample_high = 1000.0, .sample_log = true },
    { .key = "still", .kind = SC_REAL, AT(still), .fallback = 7.0, .minimum = 0.0,
      .maximum = 1e9 },
    { .key = "policy", .kind = SC_CHOICE, AT(policy), .choices = policies, .choice_count = 4,
      .choice_size = sizeof policies[0] },
};

static const struct sc_system own_system = {
    .name = "own", .fields = fields, .field_count = sizeof fields / sizeof fields[0],
    .scenario_size = sizeof(struct scenario),
};

static struct sc_design make(const struct sc_system *system,
                             const struct sc_design_options *options)
{
    struct sc_design design;
    struct sc_error error = { 0 };
    if (sc_design_init(&design, system, options, &error) != SC_OK)
        bail("no design: %s %s", error.field, error.reason);
    return design;
}

/* A system with n sampled numbers. */
static struct sc_system wide_system(struct sc_field *room, size_t n)
{
    for (size_t i = 0; i < n; i++)
        room[i] = (struct sc_field){ .key = "x", .kind = SC_REAL, .sample_low = 0.0,
                                     .sample_high = 1.0 };
    return (struct sc_system){ .name = "wide", .fields = room, .field_count = n };
}

/* --- points -------------------------------------------------------------------------- */

/* Cells of a grid of 2^a by 2^b that do not hold exactly one of 2^(a + b) points. */
static size_t unfair_cells(const struct sc_design *design, size_t j, size_t k, unsigned a,
                           unsigned b)
{
    unsigned char held[4096] = { 0 };
    size_t unfair = 0;
    for (size_t i = 0; i < (size_t)1 << (a + b); i++) {
        const size_t column = (size_t)ldexp(sc_design_coordinate(design, i, j), (int)a);
        const size_t row = (size_t)ldexp(sc_design_coordinate(design, i, k), (int)b);
        held[column << b | row]++;
    }
    for (size_t i = 0; i < (size_t)1 << (a + b); i++)
        unfair += held[i] != 1;
    return unfair;
}

static void test_equidistribution(void)
{
    struct sc_field room[SC_DESIGN_DIMENSIONS_MAX];
    const struct sc_system wide = wide_system(room, SC_DESIGN_DIMENSIONS_MAX);
    for (uint64_t seed = 0; seed < 3; seed++) {
        const struct sc_design design =
            make(&wide, &(struct sc_design_options){ .seed = seed, .samples = 4096 });
        size_t unfair = 0, unfair_pairs = 0;
        for (size_t k = 0; k < SC_DESIGN_DIMENSIONS_MAX; k++)
            unfair += unfair_cells(&design, k, k, 12, 0);
        is_int((long long)unfair, 0,
               "seed %d: each 4096th of each of 40 dimensions has one of 4096", (int)seed);
        for (unsigned a = 0; a <= 10; a++)
            unfair_pairs += unfair_cells(&design, 0, 1, a, 10 - a);
        is_int((long long)unfair_pairs, 0,
               "seed %d: so has each of 1024 boxes of any shape in the first two", (int)seed);
    }
}

/* Square of the L2 star discrepancy (Warnock 1972). */
static double discrepancy(const double *x, size_t n, size_t dimensions)
{
    double single = 0.0, pairs = 0.0;
    for (size_t i = 0; i < n; i++) {
        double product = 1.0;
        for (size_t k = 0; k < dimensions; k++)
            product *= 0.5 * (1.0 - x[i * dimensions + k] * x[i * dimensions + k]);
        single += product;
        for (size_t j = 0; j < n; j++) {
            product = 1.0;
            for (size_t k = 0; k < dimensions; k++)
                product *= 1.0 - fmax(x[i * dimensions + k], x[j * dimensions + k]);
            pairs += product;
        }
    }
    const double m = (double)n;
    return pow(3.0, -(double)dimensions) - 2.0 / m * single + pairs / (m * m);
}

static void test_discrepancy(void)
{
    enum { N = 512, DIMENSIONS = 4 };
    static double x[N * DIMENSIONS];
    struct sc_field room[DIMENSIONS];
    const struct sc_system wide = wide_system(room, DIMENSIONS);
    double sobol = 0.0, random = 0.0, worst = 0.0;
    for (uint64_t seed = 0; seed < 5; seed++) {
        const struct sc_design design =
            make(&wide, &(struct sc_design_options){ .seed = seed, .samples = N });
        struct sc_sim_rng rng = sc_sim_rng_make(seed, 0, 0);
        for (size_t i = 0; i < N; i++)
            for (size_t k = 0; k < DIMENSIONS; k++)
                x[i * DIMENSIONS + k] = sc_design_coordinate(&design, i, k);
        const double d = sqrt(discrepancy(x, N, DIMENSIONS));
        sobol += d / 5.0;
        worst = fmax(worst, d);
        for (size_t i = 0; i < N * DIMENSIONS; i++)
            x[i] = sc_sim_rng_uniform(&rng);
        random += sqrt(discrepancy(x, N, DIMENSIONS)) / 5.0;
    }
    ok(worst < random && sobol < 0.5 * random, "discrepancy %.5f (worst %.5f), random %.5f", sobol,
       worst, random);
}

/* Exclusive or of two points undoes the shift; the matrix is linear: a GSL point that
 * is the exclusive or of others stays it. */
static void test_linear(void)
{
    struct sc_field room[5];
    const struct sc_system wide = wide_system(room, 5);
    const struct sc_design design =
        make(&wide, &(struct sc_design_options){ .seed = 9, .samples = 1000 });
    size_t different = 0;
    for (uint64_t i = 0; i < 500; i++)
        for (size_t k = 0; k < 5; k++) {
            /* Gray codes of 2 i and 2 i + 1 differ in the lowest digit only. */
            const uint64_t a = (uint64_t)ldexp(sc_design_coordinate(&design, 2 * i, k), 53);
            const uint64_t b = (uint64_t)ldexp(sc_design_coordinate(&design, 2 * i + 1, k), 53);
            different += (a ^ b) != design.points.dimensions[k].directions[0];
        }
    is_int((long long)different, 0, "neighbours differ by the first direction");

    /* With the identity for a matrix and no shift the points are GSL's. */
    struct sc_design plain = design;
    gsl_qrng *qrng = gsl_qrng_alloc(gsl_qrng_sobol, 5);
    double point[5], previous[5] = { 0 };
    different = 0;
    for (size_t k = 0; k < 5; k++)
        plain.points.dimensions[k].shift = 0;
    for (uint64_t i = 1; i < 1000; i++) {
        gsl_qrng_get(qrng, point);
        for (size_t k = 0; k < 5; k++) {
            /* Equal leading digits of successive points: the matrix keeps how many. */
            const uint64_t ours =
                (uint64_t)ldexp(sc_design_coordinate(&plain, i, k), 53) ^
                (uint64_t)ldexp(sc_design_coordinate(&plain, i - 1, k), 53);
            const uint64_t theirs =
                (uint64_t)ldexp(point[k], 53) ^ (uint64_t)ldexp(previous[k], 53);
            int our_digit, their_digit;
            frexp((double)(ours & ~(uint64_t)0xff), &our_digit);
            frexp((double)theirs, &their_digit);
            different += our_digit != their_digit;
            previous[k] = point[k];
        }
    }
    gsl_qrng_free(qrng);
    is_int((long long)different, 0, "each point differs from the last where GSL's does");
}

/* --- scenarios ----------------------------------------------------------------------------- */

static const int drawn_policies[] = { 1, 3 };
static const int drawn_machines[] = { 0, 1, 2, 3, 4 };
static const struct sc_design_choice choices[] = {
    { "policy", drawn_policies, 2 },
    { "machine", drawn_machines, 5 },
};

static struct scenario blank(void)
{
    struct scenario s;
    memset(&s, 0, sizeof s);
    s.still = 7.0;
    memcpy(s.end, "intact!", sizeof s.end);
    return s;
}

static void test_scenarios(void)
{
    const struct sc_design design =
        make(&own_system, &(struct sc_design_options){ .seed = 1, .samples = 4000,
                                                        .choices = choices, .choice_count = 2 });
    size_t below = 0, counts[5] = { 0 }, policy[4] = { 0 }, machine[5] = { 0 }, ones = 0, bad = 0;
    is_int((long long)design.dimension_count, 6, "two choices and four fields");
    for (uint64_t i = 0; i < 4000; i++) {
        struct scenario s = blank();
        sc_design_sample(&design, i, &s);
        bad += !(s.size >= 1.0 && s.size <= 1024.0 && s.rate >= -2.0 && s.rate <= 6.0);
        bad += !(s.count >= 1.0 && s.count <= 4.0 && s.count == floor(s.count));
        bad += !(s.few >= 1.0 && s.few <= 1000.0 && s.few == floor(s.few));
        bad += s.still != 7.0 || strcmp(s.end, "intact!") != 0;
        bad += s.policy != sc_design_drawn(&design, i, 0);
        below += s.size < 32.0;
        ones += s.few == 1.0;
        counts[(size_t)s.count]++;
        policy[s.policy]++;
        machine[sc_design_drawn(&design, i, 1)]++;
    }
    is_int((long long)bad, 0, "every value is in its range, whole where it must be");
    near((double)below, 2000.0, 0.01, 0.0, "half of a logarithmic range lies below its middle");
    for (size_t i = 1; i <= 4; i++)
        near((double)counts[i], 1000.0, 0.01, 0.0, "whole number %zu comes up a quarter", i);
    /* log(1.5 / 0.5) / log(1000.5 / 0.5) of the logarithmic one are 1. */
    near((double)ones, 4000.0 * log(3.0) / log(2001.0), 0.02, 0.0, "1 of 1 to 1000, logarithmic");
    ok(policy[0] == 0 && policy[2] == 0, "only listed choices come up");
    near((double)policy[1], 2000.0, 0.01, 0.0, "listed ones equally often");
    for (size_t i = 0; i < 5; i++)
        near((double)machine[i], 800.0, 0.01, 0.0, "preset row %zu comes up a fifth", i);
}

/* Samples of the first design in reverse order, those of another length, and of a kept field. */
static void test_replay(void)
{
    const char *const kept[] = { "speed" };
    struct sc_design_options options = { .seed = 5, .samples = 300, .choices = choices,
                                         .choice_count = 2 };
    const struct sc_design first = make(&own_system, &options);
    options.samples = 100000;
    const struct sc_design longer = make(&own_system, &options);
    options.seed = 6;
    const struct sc_design other = make(&own_system, &options);
    options.kept = kept;
    options.kept_count = 1;
    const struct sc_design without = make(&own_system, &options);
    size_t unequal = 0, equal = 0;
    for (uint64_t i = 300; i-- > 0;) {
        struct scenario a = blank(), b = blank(), c = blank();
        sc_design_sample(&first, i, &a);
        sc_design_sample(&longer, i, &b);
        sc_design_sample(&other, i, &c);
        unequal += memcmp(&a, &b, sizeof a) != 0;
        equal += a.size == c.size;
    }
    is_int((long long)unequal, 0, "a sample does not depend on how many there are, nor on order");
    ok(equal < 3, "another seed gives other samples");
    struct scenario s = blank();
    s.rate = 123.0;
    sc_design_sample(&without, 17, &s);
    near(s.rate, 123.0, 0.0, 0.0, "a kept field is not touched, whatever it is called");

    /* The bytes themselves, so that a change of any step is seen. */
    near(sc_design_coordinate(&first, 0, 2), 0.89432469719130259, 0.0, 0.0, "point 0 of seed 5");
    near(sc_design_coordinate(&first, 299, 5), 0.88584772229400333, 0.0, 0.0,
         "point 299 of seed 5");
}

static void test_real_system(void)
{
    const struct sc_design design =
        make(&sc_hbf_system, &(struct sc_design_options){ .seed = 1, .samples = 512 });
    size_t outside = 0;
    ok(design.dimension_count > 0, "hbf samples %zu fields", design.dimension_count);
    for (uint64_t i = 0; i < 512; i++) {
        unsigned char scenario[SC_SCENARIO_MAX];
        sc_scenario_init(&sc_hbf_system, scenario);
        sc_design_sample(&design, i, scenario);
        for (size_t k = 0; k < design.dimension_count; k++) {
            const struct sc_field *field = design.dimensions[k].field;
            const double value = sc_field_get(field, scenario);
            outside += !(value >= field->minimum && value <= field->maximum);
        }
    }
    is_int((long long)outside, 0, "all inside what the fields may be");
}

/* --- faults -------------------------------------------------------------------------------- */

static void refused(const struct sc_system *system, const struct sc_design_options *options,
                    enum sc_status status, const char *field, const char *what)
{
    struct sc_design design;
    struct sc_error error = { 0 };
    is_int(sc_design_init(&design, system, options, &error), status, "%s", what);
    is_str(error.field, field, "%s: named", what);
}

static void test_faults(void)
{
    struct sc_field room[SC_DESIGN_DIMENSIONS_MAX + 1];
    const struct sc_system wide = wide_system(room, SC_DESIGN_DIMENSIONS_MAX + 1);
    const int none[] = { 4 };
    const char *const kept[] = { "nowhere" };
    struct sc_design_choice choice = { "policy", none, 1 };
    struct sc_design_options options = { .samples = 1, .choices = &choice, .choice_count = 1 };
    refused(&own_system, &options, SC_EDOMAIN, "policy", "an index that is none");
    choice = (struct sc_design_choice){ "policy", drawn_policies, 0 };
    refused(&own_system, &options, SC_EDOMAIN, "policy", "nothing to choose from");
    choice = (struct sc_design_choice){ "size", drawn_policies, 2 };
    refused(&own_system, &options, SC_EDOMAIN, "size", "a number as a choice");
    choice = (struct sc_design_choice){ "colour", drawn_policies, 2 };
    refused(&own_system, &options, SC_EMISSING, "colour", "an unknown choice");
    const struct sc_design_choice twice[] = { choices[0], choices[0] };
    options = (struct sc_design_options){ .samples = 1, .choices = twice, .choice_count = 2 };
    refused(&own_system, &options, SC_EDOMAIN, "policy", "a choice twice");
    options = (struct sc_design_options){ .samples = 1, .kept = kept, .kept_count = 1 };
    refused(&own_system, &options, SC_EMISSING, "nowhere", "an unknown field to keep");
    options = (struct sc_design_options){ .samples = 0 };
    refused(&own_system, &options, SC_ERANGE, "samples", "no samples");
    options = (struct sc_design_options){ .samples = 1 };
    refused(&own_system, &(struct sc_design_options){ .samples = SC_DESIGN_SAMPLES_MAX + 1 },
            SC_ERANGE, "samples", "too many samples");
    refused(&wide, &options, SC_ERANGE, "x", "41 dimensions");
}

/* --- sets ------------------------------------------------------------------------------------ */

static void test_split(void)
{
    enum { N = 10000 };
    static enum sc_set sets[N], shorter[N], other[N];
    static size_t groups[N];
    const struct sc_shares shares = { { 0.6, 0.2, 0.2 } };
    const struct sc_shares none = { { 0.0, 0.0, 0.0 } }, wrong = { { 1.0, -0.1, 0.1 } };
    const struct sc_shares only = { { 0.0, 2.0, 0.0 } };
    struct sc_error error = { 0 };
    size_t count[SC_SETS] = { 0 }, same = 0, differ = 0;

    if (sc_split(1, &shares, NULL, N, sets, &error) != SC_OK ||
        sc_split(1, &shares, NULL, 77, shorter, &error) != SC_OK ||
        sc_split(2, &shares, NULL, N, other, &error) != SC_OK)
        bail("no split: %s", error.reason);
    for (size_t i = 0; i < N; i++) {
        count[sets[i]]++;
        differ += sets[i] != other[i];
        same += i < 77 && sets[i] == shorter[i];
    }
    /* Three standard deviations of a binomial count. */
    near((double)count[SC_SET_FIT], 6000.0, 0.0, 147.0, "60 %% to fit");
    near((double)count[SC_SET_CONFORMAL], 2000.0, 0.0, 120.0, "20 %% set aside");
    near((double)count[SC_SET_HOLDOUT], 2000.0, 0.0, 120.0, "20 %% held out");
    is_int((long long)same, 77, "a sample stays in its set when there are more");
    ok(differ > 4000, "another seed divides otherwise");

    /* Group g has 10 g members; 61 of 100 are rounded to the nearest. */
    size_t filled = 0, wrong_size = 0;
    for (size_t g = 1; filled < N && g < 40; g++)
        for (size_t k = 0; k < 10 * g && filled < N; k++)
            groups[filled++] = 1000 - g;
    if (sc_split(1, &shares, groups, filled, sets, &error) != SC_OK ||
        sc_split(1, &shares, groups, filled, other, &error) != SC_OK)
        bail("no split: %s", error.reason);
    ok(memcmp(sets, other, filled * sizeof *sets) == 0, "same seed, same sets");
    for (size_t g = 1; g < 40; g++) {
        size_t in[SC_SETS] = { 0 };
        for (size_t i = 0; i < filled; i++)
            if (groups[i] == 1000 - g)
                in[sets[i]]++;
        wrong_size += in[SC_SET_FIT] != 6 * g || in[SC_SET_CONFORMAL] != 2 * g ||
                      in[SC_SET_HOLDOUT] != 2 * g;
    }
    is_int((long long)wrong_size, 0, "each group is divided exactly");
    for (size_t i = 0; i < 4; i++)
        groups[i] = 0;
    if (sc_split(1, &shares, groups, 4, sets, &error) != SC_OK)
        bail("no split: %s", error.reason);
    memset(count, 0, sizeof count);
    for (size_t i = 0; i < 4; i++)
        count[sets[i]]++;
    ok(count[0] == 2 && count[1] == 1 && count[2] == 1, "four members reach every set");

    same = 0;
    if (sc_split(3, &only, NULL, 100, sets, &error) != SC_OK)
        bail("no split: %s", error.reason);
    for (size_t i = 0; i < 100; i++)
        same += sets[i] == SC_SET_CONFORMAL;
    is_int((long long)same, 100, "a set with the only share gets everything");
    is_int(sc_split(1, &none, NULL, 1, sets, &error), SC_EDOMAIN, "no share at all is refused");
    is_int(sc_split(1, &wrong, NULL, 1, sets, &error), SC_EDOMAIN, "a negative share is refused");
    is_str(error.field, "shares", "and named");
}

int main(void)
{
    plan(6 + 1 + 2 + 15 + 5 + 2 + 18 + 12);
    test_equidistribution();
    test_discrepancy();
    test_linear();
    test_scenarios();
    test_replay();
    test_real_system();
    test_faults();
    test_split();
    return done();
}
