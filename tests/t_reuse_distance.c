/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measured reuse distances, against looking back through the whole trace. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "reuse_distance.h"
#include "sim/rng.h"
#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { SMALL = 3000, LARGE = 300000, TIMES_MOST = SMALL };

static uint64_t trace[LARGE];

/* ---- traces ---- */

static void fill_below(size_t n, uint64_t blocks, uint64_t stride, uint64_t seed)
{
    struct sc_sim_rng rng = sc_sim_rng_make(seed, 0, 0);
    for (size_t i = 0; i < n; i++)
        trace[i] = sc_sim_rng_below(&rng, blocks) * stride;
}

/* Squares of uniform numbers: some blocks are much more often accessed. */
static void fill_skewed(size_t n, double blocks, uint64_t seed)
{
    struct sc_sim_rng rng = sc_sim_rng_make(seed, 0, 0);
    for (size_t i = 0; i < n; i++) {
        const double u = sc_sim_rng_uniform(&rng);
        trace[i] = (uint64_t)(blocks * u * u * u);
    }
}

/* ---- the oracle ---- */

struct counts {
    double distance[SMALL], time[TIMES_MOST], cold;
};

/* How many different blocks between, by looking at each of them. */
static void look_back(size_t n, uint64_t divisor, struct counts *c)
{
    static uint64_t seen[SMALL];
    memset(c, 0, sizeof *c);
    for (size_t i = 0; i < n; i++) {
        size_t others = 0, j = i;
        while (j > 0 && trace[j - 1] / divisor != trace[i] / divisor) {
            size_t k = 0;
            j--;
            while (k < others && seen[k] != trace[j] / divisor)
                k++;
            if (k == others)
                seen[others++] = trace[j] / divisor;
        }
        if (j == 0) {
            c->cold += 1.0;
            continue;
        }
        c->distance[others] += 1.0;
        c->time[i - (j - 1)] += 1.0;
    }
}

static struct sc_reuse_meter *measure(size_t n, const struct sc_reuse_options *options, size_t piece)
{
    struct sc_reuse_meter *meter;
    if (sc_reuse_meter_create(&meter, options, NULL) != SC_OK)
        bail("no meter");
    for (size_t i = 0; i < n; i += piece)
        if (sc_reuse_meter_add(meter, trace + i, n - i < piece ? n - i : piece, NULL) != SC_OK)
            bail("no memory");
    return meter;
}

static bool same_distances(struct sc_reuse_meter *meter, const struct counts *want)
{
    struct sc_reuse_histogram h;
    if (sc_reuse_meter_histogram(meter, false, &h, NULL) != SC_OK || h.edge != NULL ||
        h.cold != want->cold || h.bins > SMALL)
        return false;
    for (size_t d = 0; d < SMALL; d++)
        if ((d < h.bins ? h.count[d] : 0.0) != want->distance[d])
            return false;
    return true;
}

/* Times stand in bins: what the bins hold must add up to the same. */
static bool same_times(struct sc_reuse_meter *meter, const struct counts *want)
{
    struct sc_reuse_histogram h;
    if (sc_reuse_meter_histogram(meter, true, &h, NULL) != SC_OK || h.cold != want->cold)
        return false;
    double sum = 0.0, all = 0.0;
    for (size_t i = 0; i < h.bins; i++) {
        double wanted = 0.0;
        for (double t = h.edge[i]; t < h.edge[i + 1] && t < TIMES_MOST; t += 1.0)
            wanted += want->time[(size_t)t];
        if (wanted != h.count[i])
            return false;
        sum += wanted;
    }
    for (size_t t = 0; t < TIMES_MOST; t++)
        all += want->time[t];
    return sum == all;
}

static void compare(size_t n, uint64_t divisor, const char *name)
{
    static struct counts want;
    static const enum sc_recency_code codes[] = { SC_RECENCY_PORTABLE, SC_RECENCY_FASTEST };
    static const size_t pieces[] = { 1, 7, 1024, 5000 };
    look_back(n, divisor, &want);
    bool by_code = true, by_piece = true;
    for (size_t i = 0; i < COUNT(codes); i++) {
        const struct sc_reuse_options options = { .divisor = divisor, .code = codes[i] };
        struct sc_reuse_meter *meter = measure(n, &options, 1000);
        by_code = same_distances(meter, &want) && by_code;
        sc_reuse_meter_destroy(meter);
    }
    for (size_t i = 0; i < COUNT(pieces); i++) {
        const struct sc_reuse_options options = { .divisor = divisor, .times = i % 2 == 0 };
        struct sc_reuse_meter *meter = measure(n, &options, pieces[i]);
        by_piece = same_distances(meter, &want) && by_piece &&
                   (!options.times || same_times(meter, &want)) &&
                   sc_reuse_meter_summary(meter).accesses == n &&
                   sc_reuse_meter_summary(meter).blocks == want.cold;
        sc_reuse_meter_destroy(meter);
    }
    ok(by_code, "%s: every code says what looking back says", name);
    ok(by_piece, "%s: so it is in pieces, with times and without", name);
}

static void test_small(void)
{
    trace[0] = 5;
    compare(1, 1, "one access");
    for (size_t i = 0; i < SMALL; i++)
        trace[i] = 0;
    compare(SMALL, 1, "block 0 again and again: time 0 is a time");
    trace[0] = trace[1] = 1;
    compare(2, 1, "the first block's first reuse");
    for (size_t i = 0; i < SMALL; i++)
        trace[i] = i;
    compare(SMALL, 1, "a stream");
    compare(SMALL, 8, "a stream in blocks of 8");
    compare(SMALL, 7, "a stream in blocks of 7");
    for (size_t i = 0; i < SMALL; i++)
        trace[i] = i % 700;
    compare(SMALL, 1, "a sweep over and over");
    for (size_t i = 0; i < SMALL; i++)
        trace[i] = i % 3 == 0 ? UINT64_MAX - i % 5 : i % 3 == 1 ? 0 : UINT64_MAX / 2 + i % 11;
    compare(SMALL, 1, "the ends of 64 bits");
    compare(SMALL, UINT64_MAX, "two blocks of 2^64 - 1");
    fill_below(SMALL, 40, 1, 1);
    compare(SMALL, 1, "few blocks");
    fill_below(SMALL, 2000, (uint64_t)1 << 40U, 2);
    compare(SMALL, 1, "a stride that a bad hash would fall for");
    fill_skewed(SMALL, 900, 3);
    compare(SMALL, 1, "skewed");
    compare(SMALL, 16, "skewed, in blocks of 16");
}

/* ---- the set of keys ---- */

/* Against a list in order of access, with keys taken out. */
static void test_recency(void)
{
    enum { KEYS = 300, STEPS = 20000 };
    static uint64_t list[KEYS];
    size_t count = 0;
    struct sc_sim_rng rng = sc_sim_rng_make(9, 0, 0);
    struct sc_recency *set = sc_recency_create(true, SC_RECENCY_FASTEST);
    static uint64_t seen[KEYS];
    bool distances = true, times = true, removed = true, counts = true;
    for (uint64_t step = 0; step < STEPS; step++) {
        const uint64_t key = sc_sim_rng_below(&rng, KEYS);
        size_t at = 0;
        while (at < count && list[at] != key)
            at++;
        const bool there = at < count;
        if (sc_sim_rng_bernoulli(&rng, 0.3)) {
            removed = sc_recency_remove(set, key) == there && removed;
            if (there)
                memmove(list + at, list + at + 1, (--count - at) * sizeof *list);
        } else {
            uint32_t distance;
            uint64_t time = step;
            if (sc_recency_access(set, &key, 1, &distance, &time) != SC_OK)
                bail("no memory");
            distances = distance == (there ? at : SC_RECENCY_COLD) && distances;
            times = time == (there ? seen[key] : step) && times;
            seen[key] = step;
            count += !there;
            memmove(list + 1, list, at * sizeof *list);
            list[0] = key;
        }
        counts = sc_recency_count(set) == count && counts;
    }
    ok(distances, "distances with keys taken out");
    ok(times, "and times");
    ok(removed, "what is not there is not taken out");
    ok(counts, "the count of keys");
    sc_recency_destroy(set);
    sc_recency_destroy(NULL);
}

/* ---- large ones: what must hold ---- */

static double sum_of(const struct sc_reuse_histogram *h)
{
    double sum = h->cold;
    for (size_t i = 0; i < h->bins; i++)
        sum += h->count[i];
    return sum;
}

static size_t distinct(size_t n)
{
    static bool seen[LARGE];
    size_t count = 0;
    memset(seen, 0, sizeof seen);
    for (size_t i = 0; i < n; i++) {
        count += !seen[trace[i]];
        seen[trace[i]] = true;
    }
    return count;
}

static void test_large(void)
{
    enum { POINTS = 200 };
    double capacity[POINTS], ratio[POINTS], sets[POINTS];
    for (int kind = 0; kind < 3; kind++) {
        const char *const name = kind == 0 ? "uniform" : kind == 1 ? "skewed" : "a stream";
        if (kind == 0)
            fill_below(LARGE, 200000, 1, 4);
        else if (kind == 1)
            fill_skewed(LARGE, 200000, 5);
        else
            for (size_t i = 0; i < LARGE; i++)
                trace[i] = i;
        struct sc_reuse_meter *meter =
            measure(LARGE, &(struct sc_reuse_options){ .divisor = 1 }, 4096);
        struct sc_reuse_histogram h;
        ok(sc_reuse_meter_histogram(meter, false, &h, NULL) == SC_OK, "%s", name);
        const struct sc_reuse_summary s = sc_reuse_meter_summary(meter);
        near(sum_of(&h), LARGE, 0, 0, "%s: the histogram adds up to the accesses", name);
        near(h.cold, (double)distinct(LARGE), 0, 0, "%s: cold ones are as many as blocks", name);
        for (int i = 0; i < POINTS; i++)
            capacity[i] = (double)i * fmax(1.0, s.cache_most) / (POINTS - 1);
        ok(sc_reuse_meter_curve(meter, sc_reuse_rule_find("lru"), 0, capacity, POINTS, ratio, NULL,
                                NULL) == SC_OK &&
               sc_reuse_meter_curve(meter, sc_reuse_rule_find("lru"), 16, capacity, POINTS, sets, NULL,
                                    NULL) == SC_OK,
           "%s: curves", name);
        bool falls = true, sets_fall = true;
        for (int i = 1; i < POINTS; i++) {
            falls = falls && ratio[i] <= ratio[i - 1];
            sets_fall = sets_fall && sets[i] <= sets[i - 1] + 1e-12;
        }
        ok(falls && sets_fall, "%s: they fall", name);
        near(ratio[0], 1, 0, 0, "%s: no cache, no hit", name);
        near(ratio[POINTS - 1] * LARGE, h.cold, 1e-12, 0, "%s: all that is of use", name);
        sc_reuse_meter_destroy(meter);
    }
}

static void test_blocks(void)
{
    fill_skewed(LARGE, 1e6, 6);
    struct sc_reuse_meter *by = measure(LARGE, &(struct sc_reuse_options){ .divisor = 64 }, 4096);
    for (size_t i = 0; i < LARGE; i++)
        trace[i] /= 64;
    struct sc_reuse_meter *made = measure(LARGE, &(struct sc_reuse_options){ .divisor = 1 }, 999);
    struct sc_reuse_histogram a, b;
    ok(sc_reuse_meter_histogram(by, false, &a, NULL) == SC_OK &&
           sc_reuse_meter_histogram(made, false, &b, NULL) == SC_OK && a.bins == b.bins &&
           a.cold == b.cold && memcmp(a.count, b.count, a.bins * sizeof *a.count) == 0,
       "blocks made here or before are the same");
    sc_reuse_meter_destroy(by);
    sc_reuse_meter_destroy(made);
}

/* ---- samples ---- */

enum { POINTS = 20, SEEDS = 20 };

struct judged {
    double mean_error, bias, covered;
};

/* Over many seeds, how far the curve is off, and how often within two standard errors. */
static struct judged judge(const struct sc_reuse_options *options, const char *rule,
                           const double *capacity, const double *exact)
{
    struct judged j = { 0 };
    double ratio[POINTS], error[POINTS];
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct sc_reuse_options o = *options;
        o.seed = sc_recency_hash(seed);
        struct sc_reuse_meter *meter = measure(LARGE, &o, 4096);
        if (sc_reuse_meter_curve(meter, sc_reuse_rule_find(rule), 0, capacity, POINTS, ratio, error,
                                 NULL) != SC_OK)
            bail("no curve");
        for (int i = 0; i < POINTS; i++) {
            j.mean_error += fabs(ratio[i] - exact[i]) / (POINTS * SEEDS);
            j.bias += (ratio[i] - exact[i]) / (POINTS * SEEDS);
            j.covered += (fabs(ratio[i] - exact[i]) <= 2 * error[i]) / (double)(POINTS * SEEDS);
        }
        sc_reuse_meter_destroy(meter);
    }
    note("%s: mean absolute error %.4f, bias %.4f, within two standard errors %.3f", rule,
         j.mean_error, j.bias, j.covered);
    return j;
}

static void test_samples(void)
{
    static const char *const rules[] = { "lru", "aet", "random" };
    double capacity[POINTS], exact[POINTS], error[POINTS];
    fill_skewed(LARGE, 60000, 7);
    struct sc_reuse_meter *all =
        measure(LARGE, &(struct sc_reuse_options){ .divisor = 1, .times = true }, 4096);
    const double most = sc_reuse_meter_summary(all).cache_most;
    for (int i = 0; i < POINTS; i++)
        capacity[i] = most * (i + 1) / POINTS;
    for (size_t r = 0; r < COUNT(rules); r++) {
        ok(sc_reuse_meter_curve(all, sc_reuse_rule_find(rules[r]), 0, capacity, POINTS, exact, error,
                                NULL) == SC_OK &&
               error[0] == 0.0 && error[POINTS - 1] == 0.0,
           "%s: an exact curve has no error", rules[r]);
        for (int kind = 0; kind < 2; kind++) {
            const struct sc_reuse_options options = { .divisor = 1, .times = true,
                                                      .rate = kind == 0 ? 0.05 : 0.0,
                                                      .sample_blocks = kind == 0 ? 0 : 2500 };
            const struct judged j = judge(&options, rules[r], capacity, exact);
            const char *const name = kind == 0 ? "fixed rate" : "fixed size";
            ok(j.mean_error < 0.015, "%s, %s: the curve is near", rules[r], name);
            ok(fabs(j.bias) < 0.008, "%s, %s: to neither side", rules[r], name);
            ok(j.covered > 0.9, "%s, %s: as its error says", rules[r], name);
        }
    }
    sc_reuse_meter_destroy(all);
}

/* Where next to nothing hits, a sample of too many accesses ends at 1 like all of its parts. */
static void test_sample_ceiling(void)
{
    static const char *const rules[] = { "lru", "aet", "random" };
    double capacity[POINTS], exact[POINTS];
    fill_below(LARGE, 30000, 1, 5);
    struct sc_reuse_meter *all =
        measure(LARGE, &(struct sc_reuse_options){ .divisor = 1, .times = true }, 4096);
    for (int i = 0; i < POINTS; i++)
        capacity[i] = 60.0 * (i + 1);
    for (size_t r = 0; r < COUNT(rules); r++) {
        if (sc_reuse_meter_curve(all, sc_reuse_rule_find(rules[r]), 0, capacity, POINTS, exact, NULL,
                                 NULL) != SC_OK)
            bail("no curve");
        for (int kind = 0; kind < 2; kind++) {
            const struct sc_reuse_options options = { .divisor = 1, .times = true,
                                                      .rate = kind == 0 ? 0.01 : 0.0,
                                                      .sample_blocks = kind == 0 ? 0 : 2500 };
            const struct judged j = judge(&options, rules[r], capacity, exact);
            ok(j.covered > 0.85, "%s, %s: nearly all misses, as its error says", rules[r],
               kind == 0 ? "fixed rate" : "fixed size");
        }
    }
    sc_reuse_meter_destroy(all);
}

static void test_sample_bounds(void)
{
    double ratio[1], error[1];
    const double capacity = 1000;
    fill_skewed(LARGE, 60000, 7);
    struct sc_reuse_meter *fixed =
        measure(LARGE, &(struct sc_reuse_options){ .divisor = 1, .sample_blocks = 100 }, 4096);
    const struct sc_reuse_summary s = sc_reuse_meter_summary(fixed);
    ok(s.block_count == 100 && s.sampled, "a fixed size is kept");
    near(s.rate, 100 / s.blocks, 0.3, 0, "its rate is the share of the blocks");
    near(s.blocks, (double)distinct(LARGE), 0.3, 0, "of which it has a notion");
    sc_reuse_meter_destroy(fixed);

    fixed = measure(LARGE, &(struct sc_reuse_options){ .divisor = 1, .sample_blocks = 100000 }, 4096);
    struct sc_reuse_meter *all = measure(LARGE, &(struct sc_reuse_options){ .divisor = 1 }, 4096);
    double exact[1];
    ok(sc_reuse_meter_curve(fixed, sc_reuse_rule_find("lru"), 0, &capacity, 1, ratio, error, NULL) ==
               SC_OK &&
           sc_reuse_meter_curve(all, sc_reuse_rule_find("lru"), 0, &capacity, 1, exact, NULL, NULL) ==
               SC_OK,
       "a sample of everything");
    near(ratio[0], exact[0], 0, 0.002, "is exact but for its bins");
    near(error[0], 0, 0, 0, "and knows it");
    sc_reuse_meter_destroy(fixed);
    sc_reuse_meter_destroy(all);

    struct sc_reuse_meter *a = measure(LARGE, &(struct sc_reuse_options){ .divisor = 1, .rate = 0.1 }, 1);
    struct sc_reuse_meter *b = measure(
        LARGE, &(struct sc_reuse_options){ .divisor = 1, .rate = 0.1, .code = SC_RECENCY_PORTABLE }, LARGE);
    struct sc_reuse_histogram x, y;
    ok(sc_reuse_meter_histogram(a, false, &x, NULL) == SC_OK &&
           sc_reuse_meter_histogram(b, false, &y, NULL) == SC_OK && x.bins == y.bins &&
           x.cold == y.cold && memcmp(x.count, y.count, x.bins * sizeof *x.count) == 0,
       "a sample does not depend on the pieces, nor on the code");
    sc_reuse_meter_destroy(a);
    sc_reuse_meter_destroy(b);
}

static void test_refused(void)
{
    static const struct sc_reuse_options bad[] = {
        { .divisor = 0 },
        { .divisor = 1, .rate = 1.0 },
        { .divisor = 1, .rate = -0.1 },
        { .divisor = 1, .rate = 1e-7 },
        { .divisor = 1, .rate = (double)NAN },
        { .divisor = 1, .rate = 0.1, .sample_blocks = 5 },
        { .divisor = 1, .sample_blocks = SIZE_MAX },
    };
    static const char *const fields[] = { "divisor", "rate", "rate", "rate", "rate",
                                          "sample_blocks", "sample_blocks" };
    struct sc_reuse_meter *meter;
    struct sc_reuse_histogram h;
    struct sc_error error;
    for (size_t i = 0; i < COUNT(bad); i++) {
        ok(sc_reuse_meter_create(&meter, &bad[i], &error) != SC_OK && meter == NULL, "refused");
        is_str(error.field, fields[i], "by name");
    }
    meter = measure(0, &(struct sc_reuse_options){ .divisor = 1 }, 1);
    ok(sc_reuse_meter_histogram(meter, false, &h, &error) == SC_EDOMAIN, "nothing was added");
    is_str(error.field, "accesses", "by name");
    trace[0] = 1;
    ok(sc_reuse_meter_add(meter, trace, 1, NULL) == SC_OK &&
           sc_reuse_meter_histogram(meter, true, &h, &error) == SC_EMISSING,
       "times that were not asked for");
    sc_reuse_meter_destroy(meter);
    sc_reuse_meter_destroy(NULL);
    ok(sc_reuse_rule_find("fifo") == NULL, "no such rule");
}

int main(void)
{
    plan(104);
    test_small();
    test_recency();
    test_large();
    test_blocks();
    test_samples();
    test_sample_ceiling();
    test_sample_bounds();
    test_refused();
    return done();
}
