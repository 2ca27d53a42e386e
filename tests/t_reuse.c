/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Miss ratios from histograms and in closed form, against caches that are simulated by brute
 * force: a list of blocks, searched from the front. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "reuse.h"
#include "sim/rng.h"
#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { LONGEST = 200000, BLOCKS = 512 };

static uint32_t trace[LONGEST];
static double by_distance[LONGEST + 1], by_time[LONGEST + 1];

/* ---- the oracles ---- */

/* Misses of `sets` sets of `ways` blocks each, LRU or random, of trace[from .. n). */
static size_t simulate(size_t n, size_t from, size_t sets, size_t ways, bool random)
{
    uint32_t *const held = malloc(sets * ways * sizeof *held);
    size_t *const used = calloc(sets, sizeof *used), misses = 0;
    struct sc_sim_rng rng = sc_sim_rng_make(5, 0, 0);
    if (held == NULL || used == NULL)
        bail("out of memory");
    for (size_t i = 0; i < n; i++) {
        /* Any spread of blocks over sets. */
        const size_t set = (trace[i] * 2654435761U >> 7) % sets;
        uint32_t *const way = held + set * ways;
        size_t at = 0;
        while (at < used[set] && way[at] != trace[i])
            at++;
        if (at == used[set]) {
            misses += i >= from;
            if (used[set] < ways)
                used[set]++;
            else
                at = random ? (size_t)sc_sim_rng_below(&rng, ways) : ways - 1;
        }
        if (random) {
            way[at] = trace[i];
            continue;
        }
        memmove(way + 1, way, at * sizeof *way);
        way[0] = trace[i];
    }
    free(held);
    free(used);
    return misses;
}

struct measured {
    struct sc_reuse_histogram distances, times;
};

/* By definition: look back, count others once. */
static struct measured measure(size_t n)
{
    static size_t last[BLOCKS];
    double cold = 0.0;
    memset(by_distance, 0, sizeof by_distance);
    memset(by_time, 0, sizeof by_time);
    memset(last, 0, sizeof last);
    for (size_t i = 0; i < n; i++) {
        if (last[trace[i]] == 0) {
            cold += 1.0;
        } else {
            size_t others = 0;
            for (size_t b = 0; b < BLOCKS; b++)
                others += b != trace[i] && last[b] > last[trace[i]];
            by_distance[others] += 1.0;
            by_time[i + 1 - last[trace[i]]] += 1.0;
        }
        last[trace[i]] = i + 1;
    }
    return (struct measured){ { NULL, by_distance, BLOCKS, cold, (double)n },
                              { NULL, by_time, n, cold, (double)n } };
}

/* ---- traces ---- */

static void make_uniform(size_t n, uint32_t blocks)
{
    struct sc_sim_rng rng = sc_sim_rng_make(1, 2, 3);
    for (size_t i = 0; i < n; i++)
        trace[i] = (uint32_t)sc_sim_rng_below(&rng, blocks);
}

static void make_zipf(size_t n, uint32_t blocks, double exponent)
{
    static double upto[BLOCKS];
    struct sc_sim_rng rng = sc_sim_rng_make(4, 5, 6);
    double sum = 0.0;
    for (uint32_t b = 0; b < blocks; b++)
        upto[b] = sum += pow(b + 1.0, -exponent);
    for (size_t i = 0; i < n; i++) {
        const double u = sum * sc_sim_rng_uniform(&rng);
        trace[i] = 0;
        while (upto[trace[i]] <= u)
            trace[i]++;
    }
}

static void make_cyclic(size_t n, uint32_t blocks)
{
    for (size_t i = 0; i < n; i++)
        trace[i] = (uint32_t)(i % blocks);
}

static void make_hot_cold(size_t n, uint32_t hot, double share, uint32_t cold)
{
    struct sc_sim_rng rng = sc_sim_rng_make(7, 8, 9);
    for (size_t i = 0; i < n; i++)
        trace[i] = (uint32_t)(sc_sim_rng_bernoulli(&rng, share) ? sc_sim_rng_below(&rng, hot)
                                                                : hot + sc_sim_rng_below(&rng, cold));
}

/* ---- from histograms ---- */

static void test_by_hand(void)
{
    /* a b a c b a a: distances -, -, 1, -, 2, 2, 0 */
    const double count[] = { 1, 1, 2 };
    const struct sc_reuse_histogram h = { NULL, count, 3, 3, 7 };
    const double capacity[] = { 0, 1, 1, 2, 2.5, 3, 100 };
    const double misses[] = { 7, 6, 6, 5, 4, 3, 3 };
    double ratio[COUNT(capacity)];
    ok(sc_reuse_lru(&h, capacity, COUNT(capacity), ratio, NULL) == SC_OK, "a trace by hand");
    for (size_t i = 0; i < COUNT(capacity); i++)
        near(ratio[i], misses[i] / 7, 1e-15, 0, "capacity %g misses %g of 7", capacity[i], misses[i]);
}

static void test_lru_exact(void)
{
    static const double capacity[] = { 1, 2, 3, 7, 50, 100, 199, 200, 300 };
    double ratio[COUNT(capacity)], ways[COUNT(capacity)];
    make_zipf(5000, 200, 0.8);
    const struct measured m = measure(5000);
    ok(sc_reuse_lru(&m.distances, capacity, COUNT(capacity), ratio, NULL) == SC_OK, "LRU");
    for (size_t i = 0; i < COUNT(capacity); i++)
        near(ratio[i] * 5000, (double)simulate(5000, 0, 1, (size_t)capacity[i], false), 1e-13, 0,
             "LRU, %g blocks: misses to the last", capacity[i]);
    ok(sc_reuse_set_associative(&m.distances, 512, capacity, COUNT(capacity), ways, NULL) == SC_OK &&
           memcmp(ratio, ways, sizeof ratio) == 0,
       "one set is LRU, bit for bit");
}

static void test_bins(void)
{
    /* 10 accesses at distances 4 to 7, evenly */
    const double edge[] = { 4, 8 }, count[] = { 10 };
    const struct sc_reuse_histogram h = { edge, count, 1, 0, 20 };
    const double capacity[] = { 0, 4, 5, 8, 9 };
    const double want[] = { 0.5, 0.5, 0.375, 0, 0 };
    double ratio[5];
    ok(sc_reuse_lru(&h, capacity, 5, ratio, NULL) == SC_OK, "a wide bin");
    for (size_t i = 0; i < 5; i++)
        near(ratio[i], want[i], 1e-15, 0, "linear within it: %g", capacity[i]);
}

static void test_sets(void)
{
    static const size_t ways[] = { 1, 2, 4, 8 };
    make_zipf(LONGEST, 500, 0.6);
    const struct measured m = measure(LONGEST);
    for (size_t w = 0; w < COUNT(ways); w++) {
        const double capacity = 128;
        double ratio;
        const double simulated =
            (double)simulate(LONGEST, 0, 128 / ways[w], ways[w], false) / LONGEST;
        ok(sc_reuse_set_associative(&m.distances, (double)ways[w], &capacity, 1, &ratio, NULL) == SC_OK,
           "%zu ways", ways[w]);
        near(ratio, simulated, 0, 0.02, "%zu ways of 128 blocks, against sets", ways[w]);
    }
}

/* Far out, where the first term of the binomial is no double any more: against the normal law. */
static void test_far_sets(void)
{
    const double capacity = 65536;
    for (int side = -1; side <= 1; side++) {
        /* 64 sets of 1024: mean d / 64, variance near to it */
        const double d = floor(64.0 * (1023.5 + side * 1.5 * sqrt(1024.0)));
        const double edge[] = { d, d + 1 }, count[] = { 1 };
        const struct sc_reuse_histogram h = { edge, count, 1, 0, 1 };
        const double mean = d / 64, sd = sqrt(mean * (1 - 1.0 / 64));
        double ratio;
        ok(sc_reuse_set_associative(&h, 1024, &capacity, 1, &ratio, NULL) == SC_OK, "1024 ways");
        near(ratio, 0.5 * erfc((1023.5 - mean) / sd / sqrt(2)), 0, 0.01, "distance %g", d);
    }
}

static void test_random(void)
{
    static const double capacity[] = { 1, 2, 8, 40, 150, 199, 200, 256 };
    double ratio[COUNT(capacity)];
    make_zipf(LONGEST, 200, 0.9);
    const struct measured m = measure(LONGEST);
    ok(sc_reuse_random(&m.times, capacity, COUNT(capacity), ratio, NULL) == SC_OK, "random");
    for (size_t i = 0; i < COUNT(capacity); i++)
        near(ratio[i], (double)simulate(LONGEST, 0, 1, (size_t)capacity[i], true) / LONGEST, 0, 0.012,
             "random, %g blocks", capacity[i]);
    const double half = 0.5;
    ok(sc_reuse_random(&m.times, &half, 1, ratio, NULL) == SC_OK, "less than a block");
    near(ratio[0], 1, 0, 0, "holds nothing");
}

static void test_eviction_time(void)
{
    static const double capacity[] = { 0, 1, 2, 8, 40, 150, 199, 500 };
    double ratio[COUNT(capacity)];
    make_zipf(LONGEST, 200, 0.9);
    const struct measured m = measure(LONGEST);
    ok(sc_reuse_eviction_time(&m.times, capacity, COUNT(capacity), ratio, NULL) == SC_OK, "AET");
    near(ratio[0], 1, 0, 0, "AET: no cache");
    near(ratio[1] * LONGEST, (double)simulate(LONGEST, 0, 1, 1, false), 1e-12, 0,
         "AET: one block, exact");
    for (size_t i = 2; i + 1 < COUNT(capacity); i++)
        near(ratio[i], (double)simulate(LONGEST, 0, 1, (size_t)capacity[i], false) / LONGEST, 0,
             0.005, "AET, %g blocks", capacity[i]);
    near(ratio[7], 200.0 / LONGEST, 1e-12, 0, "AET: room for all");
}

static void test_refused(void)
{
    const double edge[] = { 0, 1, 1 }, count[] = { 1, -1 }, fine[] = { 1, 1 };
    const double falls[] = { 2, 1 }, capacity[] = { 1 };
    double ratio[2] = { 7, 7 };
    struct sc_error error;
    const struct {
        struct sc_reuse_histogram h;
        const double *capacity;
        size_t n;
        const char *field;
    } cases[] = {
        { { NULL, fine, 2, 0, 0 }, capacity, 1, "accesses" },
        { { NULL, fine, 2, 0, (double)NAN }, capacity, 1, "accesses" },
        { { NULL, fine, 2, -1, 9 }, capacity, 1, "cold" },
        { { NULL, count, 2, 0, 9 }, capacity, 1, "count" },
        { { edge, fine, 2, 0, 9 }, capacity, 1, "edge" },
        { { NULL, fine, 2, 0, 9 }, falls, 2, "capacity" },
        { { NULL, fine, 2, 0, 9 }, count + 1, 1, "capacity" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        ok(sc_reuse_lru(&cases[i].h, cases[i].capacity, cases[i].n, ratio, &error) == SC_EDOMAIN &&
               sc_reuse_random(&cases[i].h, cases[i].capacity, cases[i].n, ratio, NULL) == SC_EDOMAIN &&
               sc_reuse_eviction_time(&cases[i].h, cases[i].capacity, cases[i].n, ratio, NULL) ==
                   SC_EDOMAIN,
           "refused: %s", cases[i].field);
        is_str(error.field, cases[i].field, "by name");
        near(ratio[0] + ratio[1], 14, 0, 0, "and nothing is written");
    }
    const struct sc_reuse_histogram h = { NULL, fine, 2, 0, 9 };
    ok(sc_reuse_set_associative(&h, 1.5, capacity, 1, ratio, &error) == SC_EDOMAIN, "half a way");
    is_str(error.field, "ways", "by name");
    ok(sc_reuse_set_associative(&h, 0, capacity, 1, ratio, &error) == SC_EDOMAIN, "no way");
}

/* ---- closed forms ---- */

static double steady(size_t capacity, bool random)
{
    return (double)simulate(LONGEST, LONGEST / 2, 1, capacity, random) / (LONGEST - LONGEST / 2.0);
}

static void test_patterns(void)
{
    static const size_t capacity[] = { 5, 60, 150, 290 };
    make_uniform(LONGEST, 300);
    for (size_t i = 0; i < COUNT(capacity); i++) {
        near(sc_reuse_uniform(300, (double)capacity[i]), steady(capacity[i], false), 0, 0.005,
             "uniform, LRU, %zu", capacity[i]);
        near(sc_reuse_uniform(300, (double)capacity[i]), steady(capacity[i], true), 0, 0.005,
             "uniform, random, %zu", capacity[i]);
    }
    make_zipf(LONGEST, 300, 1.0);
    for (size_t i = 0; i < COUNT(capacity); i++) {
        near(sc_reuse_zipf(SC_REUSE_LRU, 300, 1, (double)capacity[i]), steady(capacity[i], false), 0,
             0.008, "Zipf, LRU, %zu", capacity[i]);
        near(sc_reuse_zipf(SC_REUSE_RANDOM, 300, 1, (double)capacity[i]), steady(capacity[i], true), 0,
             0.008, "Zipf, random, %zu", capacity[i]);
    }
    make_hot_cold(LONGEST, 50, 0.8, 250);
    for (size_t i = 0; i < COUNT(capacity); i++) {
        near(sc_reuse_hot_cold(SC_REUSE_LRU, 50, 0.8, 250, (double)capacity[i]),
             steady(capacity[i], false), 0, 0.008, "hot and cold, LRU, %zu", capacity[i]);
        near(sc_reuse_hot_cold(SC_REUSE_RANDOM, 50, 0.8, 250, (double)capacity[i]),
             steady(capacity[i], true), 0, 0.008, "hot and cold, random, %zu", capacity[i]);
    }
    make_cyclic(LONGEST, 300);
    for (size_t i = 0; i < COUNT(capacity); i++) {
        near(sc_reuse_cyclic(SC_REUSE_LRU, 300, (double)capacity[i]), steady(capacity[i], false), 0,
             0, "cyclic, LRU, %zu", capacity[i]);
        near(sc_reuse_cyclic(SC_REUSE_RANDOM, 300, (double)capacity[i]), steady(capacity[i], true), 0,
             0.03, "cyclic, random, %zu", capacity[i]);
    }
}

static void test_limits(void)
{
    near(sc_reuse_cyclic(SC_REUSE_LRU, 300, 299.9), 1, 0, 0, "one block too few for a sweep");
    near(sc_reuse_cyclic(SC_REUSE_LRU, 300, 300), 0, 0, 0, "and enough");
    near(sc_reuse_stream(4), 0.25, 0, 0, "a stream misses once per block");
    for (int policy = SC_REUSE_LRU; policy <= SC_REUSE_RANDOM; policy++) {
        const enum sc_reuse_policy p = (enum sc_reuse_policy)policy;
        near(sc_reuse_zipf(p, 1000, 0.8, 0), 1, 0, 1e-12, "Zipf: no cache");
        near(sc_reuse_zipf(p, 1000, 0.8, 1000), 0, 0, 0, "Zipf: room for all");
        near(sc_reuse_zipf(p, 1000, 0, 250), 0.75, 0, 1e-9, "exponent 0 is uniform");
        near(sc_reuse_hot_cold(p, 10, 0.5, 10, 5), 0.75, 0, 1e-9, "two equal classes are uniform");
        near(sc_reuse_hot_cold(p, 10, 1, 90, 10), 0, 0, 0, "cold blocks never accessed take no room");
        near(sc_reuse_hot_cold(p, 10, 0, 100, 50), 0.5, 0, 1e-9, "nor hot ones");
        double last = 1.0;
        bool falls = true;
        for (double c = 1; c < 1e6; c *= 1.7) {
            const double now = sc_reuse_zipf(p, 1e6, 0.99, c);
            falls = falls && now <= last && now >= 0.0;
            last = now;
        }
        ok(falls, "Zipf over a million blocks falls with the size");
    }
    /* Groups of ranks instead of ranks: the sum of the first C probabilities bounds all. */
    near(sc_reuse_zipf(SC_REUSE_LRU, 1e9, 0.99, 1e9 - 1), 0, 0, 1e-6, "a billion blocks but one");
    ok(isnan(sc_reuse_zipf(SC_REUSE_LRU, 0, 1, 1)) && isnan(sc_reuse_zipf(SC_REUSE_LRU, 5, -1, 1)) &&
           isnan(sc_reuse_zipf(SC_REUSE_LRU, 5, 1, (double)NAN)) &&
           isnan(sc_reuse_zipf(SC_REUSE_LRU, (double)INFINITY, 1, 1)) &&
           isnan(sc_reuse_uniform(0.5, 1)) && isnan(sc_reuse_uniform(5, -1)) &&
           isnan(sc_reuse_cyclic(SC_REUSE_RANDOM, 0, 1)) && isnan(sc_reuse_stream(0.5)) &&
           isnan(sc_reuse_hot_cold(SC_REUSE_LRU, 5, 1.1, 5, 1)) &&
           isnan(sc_reuse_hot_cold(SC_REUSE_LRU, 0, 0.5, 5, 1)),
       "NaN outside of the domain");
}

/* Ranks one by one, to compare with the groups. */
static void test_groups(void)
{
    enum { N = 20000 };
    const double capacity = 3000;
    double sum = 0.0, time = 1.0;
    for (int i = 1; i <= N; i++)
        sum += pow(i, -0.8);
    for (double low = 1, high = 1e9; high / low > 1 + 1e-14;) {
        double held = 0.0;
        time = sqrt(low * high);
        for (int i = 1; i <= N; i++)
            held -= expm1(-pow(i, -0.8) / sum * time);
        *(held < capacity ? &low : &high) = time;
    }
    double misses = 0.0;
    for (int i = 1; i <= N; i++)
        misses += pow(i, -0.8) / sum * exp(-pow(i, -0.8) / sum * time);
    near(sc_reuse_zipf(SC_REUSE_LRU, N, 0.8, capacity), misses, 1e-7, 0,
         "groups of ranks say what all ranks say");
}

int main(void)
{
    plan(135);
    test_by_hand();
    test_lru_exact();
    test_bins();
    test_sets();
    test_far_sets();
    test_random();
    test_eviction_time();
    test_refused();
    test_patterns();
    test_limits();
    test_groups();
    return done();
}
