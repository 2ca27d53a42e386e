/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Working sets larger than GPU memory: the laws against figures, an independent chain
 * and a brute-force driver; limits, conservation and monotone behaviour over the whole
 * admissible range; what is refused.
 *
 * A property that is checked over many scenarios is one check. */
#include "uvm.h"

#include "tap.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define GIB 1073741824.0
#define MIB 1048576.0

enum { SCENARIOS = 20000, TERMS_MAX = 128 };

/* Rows of the policies, by the order of the table. */
enum { UVM, PREFETCH, MAPPED, STATIC, ADAPTIVE, PROFILED, POLICIES };

/* splitmix64, so that every run tests the same scenarios. */
static uint64_t random_state = 1;

static double random_unit(void)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static size_t random_below(size_t count)
{
    return (size_t)(random_unit() * (double)count);
}

static struct sc_uvm defaults(void)
{
    struct sc_uvm s;
    sc_scenario_init(&sc_uvm_system, &s);
    return s;
}

static struct sc_uvm_answer answer_to(struct sc_uvm s)
{
    struct sc_uvm_answer answer;
    struct sc_error error = { 0 };
    memset(&answer, 0, sizeof answer);
    if (sc_uvm_system.estimate(&s, &answer, NULL, &error) != SC_OK) {
        ok(false, "unexpected error: %s %g %s", error.field, error.value, error.reason);
        memset(&answer, 0, sizeof answer);
    }
    return answer;
}

static double time_of(struct sc_uvm s)
{
    return answer_to(s).time_s;
}

/* ---- The tree and the law of random touches ---- */

/* Growth of a region under random faults by throwing them, rule by rule. */
static void thrown_growth(size_t leaves, size_t trials, double sum[SC_UVM_TREE_LEAVES_MAX])
{
    for (size_t trial = 0; trial < trials; trial++) {
        bool resident[SC_UVM_TREE_LEAVES_MAX] = { false };
        size_t count = 0;
        for (size_t j = 0; j <= leaves / 2; j++) {
            if (count < leaves) {
                size_t leaf = random_below(leaves);
                while (resident[leaf])
                    leaf = random_below(leaves);
                resident[leaf] = true;
            }
            for (size_t span = 2; span <= leaves; span *= 2)
                for (size_t first = 0; first < leaves; first += span) {
                    size_t inside = 0;
                    for (size_t i = 0; i < span; i++)
                        inside += resident[first + i];
                    for (size_t i = 0; 2 * inside > span && i < span; i++)
                        resident[first + i] = true;
                }
            count = 0;
            for (size_t i = 0; i < leaves; i++)
                count += resident[i];
            sum[j] += (double)count / (double)trials;
        }
    }
}

static void test_tree(void)
{
    for (size_t leaves = 1; leaves <= SC_UVM_TREE_LEAVES_MAX; leaves *= 2) {
        double growth[SC_UVM_TREE_LEAVES_MAX], thrown[SC_UVM_TREE_LEAVES_MAX] = { 0 };
        const size_t count = sc_uvm_tree_growth(leaves, growth);
        double worst = 0.0;
        thrown_growth(leaves, 20000, thrown);
        for (size_t j = 0; j < count; j++)
            worst = fmax(worst, fabs(growth[j] - thrown[j]));
        ok(count == leaves / 2 + 1 && fabs(growth[count - 1] / (double)leaves - 1) < 1e-12,
           "%zu leaves are whole after %zu faults at the latest", leaves, leaves / 2 + 1);
        near(worst, 0, 0, 0.2, "%zu leaves: growth as thrown", leaves);
    }
    /* Computed by hand: of 4 leaves the third fault passes half. */
    double four[SC_UVM_TREE_LEAVES_MAX];
    ok(sc_uvm_tree_growth(4, four) == 3 && four[0] == 1 && four[1] == 2 && four[2] == 4,
       "4 leaves: 1, 2, 4");
}

static void test_random_law(void)
{
    /* Away from the line a region's state matters little: the values of a chain that
     * takes the mean number of leaves for it. */
    static const struct {
        double oversubscription, faults, leaves;
    } rows[] = { { 1.5, .938, 1.05 }, { 2, .969, .99 }, { 3, .985, .99 } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct sc_uvm_random law = sc_uvm_random_law(32, 1 / rows[i].oversubscription);
        near(law.faults, rows[i].faults, 0, 0.002, "faults per touch at %g x",
             rows[i].oversubscription);
        near(law.leaves, rows[i].leaves, 0, 0.02, "leaves per touch at %g x",
             rows[i].oversubscription);
    }
    const struct sc_uvm_random fits = sc_uvm_random_law(32, 1);
    ok(fits.faults == 0 && fits.leaves == 0, "no fault while all fits");
    /* Without a tree a region is one leaf, and the law is plain LRU: a miss per touch of
     * what is not resident. */
    double worst = 0.0;
    for (double kappa = 0.05; kappa < 1; kappa += 0.05) {
        const struct sc_uvm_random law = sc_uvm_random_law(1, kappa);
        worst = fmax(worst, fmax(fabs(law.faults - (1 - kappa)), fabs(law.leaves - (1 - kappa))));
    }
    near(worst, 0, 0, 1e-9, "regions of one leaf: 1 - kappa of the touches miss");
}

/* A driver that keeps blocks in the order of their last fault-in, under uniform touches. */
struct driver {
    size_t blocks, capacity, leaves, resident_blocks;
    unsigned char *resident;      /* leaves of each block */
    size_t *older, *newer, *count; /* ring through `blocks`, from the oldest resident block on */
    double faults, in;
};

static void take_out(struct driver *d, size_t block)
{
    d->newer[d->older[block]] = d->newer[block];
    d->older[d->newer[block]] = d->older[block];
}

static void make_newest(struct driver *d, size_t block)
{
    const size_t head = d->blocks;
    d->older[block] = d->older[head];
    d->newer[block] = head;
    d->newer[d->older[head]] = block;
    d->older[head] = block;
}

static void evict_oldest(struct driver *d)
{
    const size_t oldest = d->newer[d->blocks];
    take_out(d, oldest);
    memset(d->resident + oldest * d->leaves, 0, d->leaves);
    d->count[oldest] = 0;
    d->resident_blocks--;
}

static void touch(struct driver *d, size_t block, size_t leaf)
{
    unsigned char *resident = d->resident + block * d->leaves;
    if (resident[leaf])
        return;
    if (d->count[block] > 0) {
        take_out(d, block);
    } else {
        if (d->resident_blocks == d->capacity)
            evict_oldest(d);
        d->resident_blocks++;
    }
    make_newest(d, block);
    d->faults++;
    resident[leaf] = 1;
    for (size_t span = 2; span <= d->leaves; span *= 2) {
        const size_t first = leaf / span * span;
        size_t inside = 0;
        for (size_t i = 0; i < span; i++)
            inside += resident[first + i];
        if (2 * inside > span)
            memset(resident + first, 1, span);
    }
    size_t count = 0;
    for (size_t i = 0; i < d->leaves; i++)
        count += resident[i];
    d->in += (double)(count - d->count[block]);
    d->count[block] = count;
}

static struct driver driver_create(size_t blocks, double oversubscription)
{
    struct driver d = { .blocks = blocks, .leaves = 32 };
    d.capacity = (size_t)((double)d.blocks / oversubscription + 0.5);
    d.resident = calloc(d.blocks, d.leaves);
    d.older = calloc(d.blocks + 1, sizeof *d.older);
    d.newer = calloc(d.blocks + 1, sizeof *d.newer);
    d.count = calloc(d.blocks, sizeof *d.count);
    if (d.resident == NULL || d.older == NULL || d.newer == NULL || d.count == NULL)
        bail("out of memory");
    d.older[d.blocks] = d.newer[d.blocks] = d.blocks;
    return d;
}

static void driver_destroy(struct driver *d)
{
    free(d->resident);
    free(d->older);
    free(d->newer);
    free(d->count);
}

static void test_driver(double oversubscription)
{
    struct driver d = driver_create(1000, oversubscription);
    enum { WARM = 300000, TOUCHES = 1000000 };
    for (int i = 0; i < WARM + TOUCHES; i++) {
        if (i == WARM)
            d.faults = d.in = 0.0;
        touch(&d, random_below(d.blocks), random_below(d.leaves));
    }
    const struct sc_uvm_random law =
        sc_uvm_random_law(32, (double)d.capacity / (double)d.blocks);
    near(law.faults, d.faults / TOUCHES, 0.02, 0, "faults of a brute-force driver at %g x",
         oversubscription);
    near(law.leaves, d.in / TOUCHES, 0.02, 0, "leaves of a brute-force driver at %g x",
         oversubscription);
    driver_destroy(&d);
}

/* Passes that touch every leaf once, a share r of them in random order. */
static void test_mixed_driver(double oversubscription, double r)
{
    enum { BLOCKS = 500, LEAVES = 32, PASSES = 24, WARM = 8 };
    static size_t linear[BLOCKS * LEAVES], shuffled[BLOCKS * LEAVES];
    struct driver d = driver_create(BLOCKS, oversubscription);
    double touches = 0.0;
    for (int pass = 0; pass < PASSES; pass++) {
        size_t in_order = 0, random = 0, i = 0, j = 0;
        for (size_t leaf = 0; leaf < BLOCKS * LEAVES; leaf++) {
            if (random_unit() < r)
                shuffled[random++] = leaf;
            else
                linear[in_order++] = leaf;
        }
        if (pass == WARM)
            d.in = touches = 0.0;
        while (i < in_order || j < random) {
            size_t leaf;
            if (j == random || random_below(in_order - i + random - j) < in_order - i) {
                leaf = linear[i++];
            } else {
                const size_t drawn = j + random_below(random - j);
                leaf = shuffled[drawn];
                shuffled[drawn] = shuffled[j++];
            }
            touch(&d, leaf / LEAVES, leaf % LEAVES);
            touches += 1.0;
        }
    }
    const double kappa = (double)d.capacity / BLOCKS;
    const struct sc_uvm s = defaults();
    near(sc_uvm_mixed_leaves(LEAVES, kappa, r, sc_uvm_random_law(LEAVES, kappa).leaves,
                             s.mixed_scale, s.mixed_power),
         d.in / touches, 0.22, 0, "leaves of a brute-force driver at %g x, %g of the data at random",
         oversubscription, r);
    driver_destroy(&d);
}

/* ---- Patterns ---- */

static struct sc_uvm over(int pattern, double oversubscription)
{
    struct sc_uvm s = defaults();
    s.pattern = pattern;
    s.usable_share = 1;
    s.memory_bytes = 16 * GIB;
    s.footprint_bytes = oversubscription * 16 * GIB;
    return s;
}

static void test_patterns(void)
{
    struct sc_uvm s = over(SC_UVM_SWEEP, 1.5);
    s.passes = 5;
    near(answer_to(s).in_bytes, 5 * 24 * GIB, 1e-12, 0, "every sweep brings in all of it");
    near(answer_to(s).out_bytes, 5 * 24 * GIB - 16 * GIB, 1e-12, 0, "and all but the last of it leaves");
    near(answer_to(s).thrash_factor, 4, 1e-12, 0, "four times more than once");
    s.pattern = SC_UVM_STRIDED;
    near(answer_to(s).in_bytes, 5 * 24 * GIB, 1e-12, 0, "a stride changes nothing");
    s.tile_bytes = 24 * GIB / 1024; /* n = 10 */
    near(answer_to(s).in_bytes, (55 + 10 + 1) * 24 * GIB, 1e-9, 0, "a sort over 1024 tiles has 66 passes");

    s = over(SC_UVM_HOT_PREFIX, 1.5);
    s.passes = 7;
    s.hot_share = 0.5;
    near(answer_to(s).in_bytes, (24 + 12) * GIB, 1e-12, 0, "a prefix that fits comes in once more");
    s.hot_share = 0.75;
    near(answer_to(s).in_bytes, (24 + 6 * 18) * GIB, 1e-12, 0, "one that does not, every time");

    s = over(SC_UVM_STREAM_HOT, 2);
    s.passes = 10;
    s.touches = 1000;
    s.hot_share = 0.25; /* 8 of 32 GiB hot, 24 GiB stream by, 16 GiB of room */
    near(answer_to(s).in_bytes, 8 * GIB + 240 * GIB * 16 / (16 - 8), 1e-12, 0,
         "S C / (C - H) of a stream past a hot set");
    s.touches = 1;
    near(answer_to(s).in_bytes, 8 * GIB + 240 * GIB + 9 * 8 * GIB, 1e-12, 0,
         "no more of the hot set than is touched again");

    s = over(SC_UVM_WINDOW, 4);
    s.hot_share = 0.125; /* 8 GiB */
    s.phases = 5;
    s.drift = 0.5;
    near(answer_to(s).in_bytes, 8 * (1 + 4 * 0.5) * GIB, 1e-12, 0, "the trail of a window comes in once");
    near(answer_to(s).out_bytes, 8 * GIB, 1e-12, 0, "and what does not fit of it leaves");
    s.hot_share = 0.5;
    near(answer_to(s).in_bytes, 5 * 32 * GIB, 1e-12, 0, "a window too large comes in every phase");

    s = over(SC_UVM_RANDOM, 1.5);
    s.passes = 10;
    s.in_flight = 0;
    near(answer_to(s).in_bytes, 240 * GIB * s.random_factor * sc_uvm_random_law(32, 1 / 1.5).leaves, 1e-9, 0,
         "random: touches times the leaves of each");
    s.in_flight = 1e6;
    ok(answer_to(s).in_bytes < 240 * GIB, "fewer when many are under way at once");

    s = over(SC_UVM_MIXED, 1.5);
    s.passes = 10;
    near(answer_to(s).in_bytes, 240 * GIB, 1e-12, 0, "mixed with nothing random is a sweep");
    s.randomness = 1;
    struct sc_uvm all = s;
    all.pattern = SC_UVM_RANDOM;
    near(answer_to(s).in_bytes, answer_to(all).in_bytes, 1e-12, 0, "and with all of it, random");
}

static void test_streams(void)
{
    struct sc_uvm s = over(SC_UVM_STREAMS, 1.5);
    s.passes = 2;
    s.tile_bytes = 256 * 128;
    const struct sc_uvm_answer wide = answer_to(s);
    near(wide.in_bytes, 24 * GIB * (2 - s.streams_kept / (1.5 * 1.5)), 1e-12, 0,
         "256 streams fit: of the second pass what the first one wrote last is there");
    ok(wide.near_cliff == 1 && wide.time_past_s > 10 * wide.time_fits_s,
       "what if they did not is told beside");
    s.streams = 16 * 512; /* one region of the 16 GiB each */
    ok(answer_to(s).in_bytes > 10 * wide.in_bytes, "as many streams as regions thrash");
    s.footprint_bytes = 8 * GIB;
    ok(answer_to(s).near_cliff == 0 && answer_to(s).in_bytes == 8 * GIB, "not while all fits");
}

static void test_curve(void)
{
    struct sc_uvm s = over(SC_UVM_SWEEP, 1.5);
    ok(isnan(sc_uvm_curve_miss_ratio(&s, GIB)), "no curve, no ratio");
    s.curve_count = 3;
    s.curve_capacity_bytes[0] = 4 * GIB;
    s.curve_capacity_bytes[1] = 16 * GIB;
    s.curve_capacity_bytes[2] = 64 * GIB;
    s.curve_miss_ratio[0] = 0.9;
    s.curve_miss_ratio[1] = 0.5;
    s.curve_miss_ratio[2] = 0.1;
    near(sc_uvm_curve_miss_ratio(&s, GIB), 0.9, 1e-15, 0, "before its first point as there");
    near(sc_uvm_curve_miss_ratio(&s, 8 * GIB), 0.7, 1e-12, 0, "half way in the logarithm");
    near(sc_uvm_curve_miss_ratio(&s, 1e15), 0.1, 1e-15, 0, "after its last point as there");
    s.passes = 10;
    near(answer_to(s).in_bytes, 0.5 * 240 * GIB, 1e-12, 0, "misses bring in what is read");
    s.curve_miss_ratio[1] = 0.0;
    near(answer_to(s).in_bytes, 24 * GIB, 1e-12, 0, "but at least everything once");
    s.refetch = 3;
    near(answer_to(s).in_bytes, 4 * 24 * GIB, 1e-12, 0, "a given refetch goes before the curve");
    s.refetch = (double)NAN;
    s.memory_bytes = 64 * GIB;
    near(answer_to(s).in_bytes, 24 * GIB, 1e-12, 0, "nothing comes again while all fits");
    s.curve_miss_ratio[2] = 1.5;
    struct sc_uvm_answer answer;
    struct sc_error error;
    ok(sc_uvm_system.estimate(&s, &answer, NULL, &error) == SC_EDOMAIN &&
           strcmp(error.field, "curve_miss_ratio") == 0, "a ratio above 1 is refused");
    s.curve_miss_ratio[2] = 0.1;
    s.curve_capacity_bytes[2] = GIB;
    ok(sc_uvm_system.estimate(&s, &answer, NULL, &error) == SC_EDOMAIN &&
           strcmp(error.field, "curve_capacity_bytes") == 0, "capacities must ascend");
    s.curve_capacity_bytes[2] = 64 * GIB;
    s.curve_block_above_bytes = MIB;
    s.curve_block_most_bytes = 2 * MIB;
    ok(sc_uvm_system.estimate(&s, &answer, NULL, &error) == SC_OK, "a curve on regions");
    s.region_bytes = MIB / 2;
    ok(sc_uvm_system.estimate(&s, &answer, NULL, &error) == SC_EDOMAIN &&
           strcmp(error.field, "region") == 0, "and on other blocks");
}

/* ---- Policies ---- */

static void test_times(void)
{
    struct sc_uvm s = over(SC_UVM_SWEEP, 0.5);
    s.device_rate_bytes_per_s = 4 * GIB; /* T_dev = 2 s */
    s.migration_rate_bytes_per_s = 8 * GIB;
    s.fault_rate_bytes_per_s = 4 * GIB;
    s.link_rate_bytes_per_s = 2 * GIB;
    s.link_passes = 1; /* beside T_dev, not in it */
    s.eager_eviction = 0;
    s.adaptive_factor = 1.25;
    static const double fits_s[] = { 2 + 1 + 2, 2 + 1, 2 + 4, 2 + 1, 1.25 * 3 };
    for (int p = 0; p <= ADAPTIVE; p++) {
        s.policy = p;
        near(time_of(s), fits_s[p], 1e-12, 0, "fits, policy %d", p);
    }
    s.footprint_bytes = 32 * GIB; /* T_dev = 8 s, half of it fits */
    s.link_passes = s.passes = 2;
    s.high_watermark = 1;
    const double moved_s = 64 / 8.0 + 64 / 4.0 + 48 / 8.0;
    const double past_s[] = { 8 + moved_s, 8 + 4 + 2 + 64 / 8.0 + 64 / 4.0 + 64 / 8.0,
                              8 + 32, 8 + 2 + 16, 1.25 * 26 };
    for (int p = 0; p <= ADAPTIVE; p++) {
        s.policy = p;
        near(time_of(s), past_s[p], 1e-12, 0, "past capacity, policy %d", p);
    }
    s.policy = PROFILED;
    near(time_of(s), 8 + moved_s + 26, 1e-12, 0,
         "profiled: the best, here as much pinned as fits, after a run under uvm");
    s.profile_s = 3;
    near(time_of(s), 3 + 26, 1e-12, 0, "profiling that takes a given time");
    s.policy = UVM;
    s.coherent = SC_UVM_YES;
    near(time_of(s), 8 + 4 + 8 + 16 / 8.0 + 16, 1e-12, 0,
         "coherent: all comes in once, the rest is read in place");
    near(answer_to(s).thrash_factor, 0, 0, 1e-12, "and nothing comes again");
    s.coherent = SC_UVM_NO;
    s.link_passes = (double)NAN;
    s.policy = MAPPED;
    near(time_of(s), 32, 1e-12, 0, "without link_passes the device works beside the link");
    s.policy = STATIC;
    near(time_of(s), 4 + 2 + 16, 1e-12, 0, "and on resident data by itself");
    s.policy = ADAPTIVE;
    s.eager_eviction = 1;
    const double rate = 1.25 * GIB, factor = 1 / (1 - rate / (8 * GIB));
    near(time_of(s), 1.25 * (4 + 2 + 16 * factor), 1e-12, 0,
         "regions are exchanged as fast as they are reclaimed");
    near(answer_to(s).in_bytes, 16 * GIB + rate * 16 * factor, 1e-12, 0, "for as long as reads go on");
}

static void test_placement(void)
{
    struct sc_uvm s = over(SC_UVM_SWEEP, 0.5);
    s.device_rate_bytes_per_s = 4 * GIB;
    s.policy = PREFETCH;
    const double with_s = time_of(s);
    s.placement = SC_UVM_PLACE_FAULTS;
    near(time_of(s), 2, 1e-12, 0, "calls before the run are left out");
    s.policy = UVM;
    ok(time_of(s) > with_s, "faults within it are not");
    s.placement = SC_UVM_PLACE_NONE;
    near(time_of(s), 2, 1e-12, 0, "unless the data are there");
    s.placement = SC_UVM_PLACE_ALL;
    s.host_passes = 3;
    struct sc_uvm once = s;
    once.host_passes = 0;
    ok(answer_to(s).in_bytes == 4 * answer_to(once).in_bytes, "host code pulls data back, migration brings them again");
    s.policy = STATIC;
    once.policy = STATIC;
    ok(time_of(s) == time_of(once), "what is pinned stays");
}

static void test_llm(void)
{
    struct sc_uvm s = over(SC_UVM_LAYERS, 1.5);
    s.passes = 128;
    s.device_rate_bytes_per_s = 480 * GIB;
    s.policy = MAPPED;
    const struct sc_uvm_answer a = answer_to(s);
    near(a.tokens_per_s, s.link_rate_bytes_per_s / (24 * GIB), 1e-9, 0,
         "every weight crosses the link for every token");
    struct sc_uvm one = s;
    one.passes = 1;
    near(answer_to(one).tokens_per_s, a.tokens_per_s, 1e-12, 0, "however many there are");
    s.pattern = SC_UVM_SWEEP;
    ok(isnan(answer_to(s).tokens_per_s), "a sweep makes no tokens");
}

static void test_window(void)
{
    struct sc_uvm s = over(SC_UVM_WINDOW, 4);
    s.hot_share = 0.125;
    s.phases = 8;
    s.policy = STATIC;
    s.device_rate_bytes_per_s = 512 * GIB;
    s.placement = SC_UVM_PLACE_FAULTS;
    near(time_of(s), 8 * 8 / 512.0, 1e-12, 0, "a hot set that stays is read from device memory");
    struct sc_uvm mapped = s;
    mapped.policy = MAPPED;
    s.drift = 1;
    near(time_of(s), 8 / 512.0 + 7.0 / 8 * time_of(mapped), 1e-12, 0,
         "one that is replaced in each phase, over the link but for the first");
    const struct sc_uvm_answer a = answer_to(s);
    near(a.first_phase_bytes_per_s, 512 * GIB, 1e-12, 0, "first phase at the device's rate");
    near(a.last_phase_bytes_per_s, s.link_rate_bytes_per_s, 1e-12, 0, "last phase at the link's");
    double before = 0.0;
    bool rises = true;
    for (double drift = 0; drift <= 1; drift += 0.125) {
        s.drift = drift;
        rises = rises && time_of(s) >= before;
        before = time_of(s);
    }
    ok(rises, "more drift never helps a fixed split");
    size_t faster = 0;
    for (double rate = MIB; rate <= 4096 * GIB; rate *= 4) {
        struct sc_uvm slow = s;
        slow.device_rate_bytes_per_s = rate;
        for (slow.drift = 0; slow.drift <= 1; slow.drift += 0.25)
            for (slow.policy = 0; slow.policy < POLICIES; slow.policy++)
                for (slow.pinned_bytes = 0; slow.pinned_bytes <= 4 * GIB; slow.pinned_bytes += GIB)
                    faster += answer_to(slow).slowdown < 1 - 1e-12;
    }
    is_int((long)faster, 0, "no split is faster than all of it resident, however slow the kernel");
    s.policy = ADAPTIVE;
    s.passes = 50;
    s.drift = 0.0625;
    s.hot_share = 0.2;
    s.eviction_batch = 1;
    const double slow = answer_to(s).last_phase_bytes_per_s;
    s.eviction_batch = 16;
    const double fast = answer_to(s).last_phase_bytes_per_s;
    ok(slow < 0.8 * fast && slow > s.link_rate_bytes_per_s,
       "counters follow the window as fast as its trail is reclaimed");
}

/* ---- Limits ---- */

static void test_limits(void)
{
    size_t slow = 0, fast = 0, empty = 0;
    for (int p = 0; p < POLICIES; p++)
        for (int pattern = 0; pattern < SC_UVM_PATTERNS; pattern++) {
            struct sc_uvm s = over(pattern, 1.5);
            s.policy = p;
            s.passes = 4;
            s.hot_share = 0.3;
            s.device_rate_bytes_per_s = 100 * GIB;
            s.link_rate_bytes_per_s = s.migration_rate_bytes_per_s = s.fault_rate_bytes_per_s = 1e14;
            s.adaptive_overhead = 1;
            s.profile_runs = 0;
            fast += !(fabs(answer_to(s).slowdown - 1) < 0.1);
            s = over(pattern, 0.25);
            s.policy = p;
            s.passes = 4;
            s.hot_share = 0.3;
            slow += !(answer_to(s).thrash_factor == 0 && answer_to(s).out_bytes == 0);
            s.footprint_bytes = 4 * MIB;
            empty += !(time_of(s) < 0.01);
        }
    is_int((long long)fast, 0, "links without end: as if all were resident");
    is_int((long long)slow, 0, "nothing is evicted and nothing comes again while all fits");
    is_int((long long)empty, 0, "a footprint that vanishes takes no time");
}

static void test_cliff(void)
{
    for (int pattern = 0; pattern < SC_UVM_PATTERNS; pattern++) {
        struct sc_uvm s = over(pattern, 1.0);
        s.passes = 4;
        s.hot_share = 0.5;
        s.drift = 0.25;
        const double cliff = answer_to(s).cliff_bytes;
        s.footprint_bytes = cliff * 0.9999;
        const struct sc_uvm_answer below = answer_to(s);
        s.footprint_bytes = cliff * 1.0001;
        const struct sc_uvm_answer above = answer_to(s);
        ok(below.out_bytes == 0 && above.out_bytes > 0 && below.near_cliff == 1 &&
               above.near_cliff == 1,
           "%s: eviction sets in at cliff_bytes",
           sc_field_choice(sc_system_field(&sc_uvm_system, "pattern"), (size_t)pattern)->name);
    }
    struct sc_uvm s = over(SC_UVM_SWEEP, 1.04);
    s.passes = 10;
    const struct sc_uvm_answer a = answer_to(s);
    ok(a.near_cliff == 1 && a.time_past_s > 5 * a.time_fits_s, "near the line both branches are told");
    s.footprint_bytes = 24 * GIB;
    ok(answer_to(s).near_cliff == 0 && answer_to(s).time_fits_s == time_of(s), "far from it, one");
    s.memory_bytes = 16e9; /* 14.9 GiB */
    s.footprint_bytes = 15 * GIB;
    ok(answer_to(s).out_bytes > 0, "15 GiB do not fit into 16 GB");
    s.memory_bytes = 16 * GIB;
    near(answer_to(s).out_bytes, 0, 0, 0, "but into 16 GiB");
    s.memory_bytes = 16 * GIB - 1;
    near(answer_to(s).usable_bytes, 16 * GIB - 2 * MIB, 1e-15, 0, "capacity is whole regions");
}

/* ---- Over the whole admissible range ---- */

static double random_value(const struct sc_field *field)
{
    const bool sampled = field->sample_high > field->sample_low && random_unit() < 0.7;
    const double low = sampled ? field->sample_low : field->minimum;
    const double high = sampled ? field->sample_high : field->maximum;
    const double u = random_unit() < 0.05 ? floor(2 * random_unit()) : random_unit();
    const double value = low > 0 && high / low > 100 ? low * pow(high / low, u) : low + (high - low) * u;
    return fmin(fmax(field->kind == SC_INTEGER ? floor(value) : value, field->minimum), field->maximum);
}

static struct sc_uvm random_scenario(void)
{
    struct sc_uvm s = defaults();
    for (size_t i = 0; i < sc_uvm_system.field_count; i++) {
        const struct sc_field *field = &sc_uvm_system.fields[i];
        if (field->kind == SC_CHOICE)
            sc_field_set(field, &s, (double)random_below(field->choice_count));
        else if (field->kind != SC_PRESET && random_unit() < 0.4)
            sc_field_set(field, &s, random_value(field));
    }
    if (random_unit() < 0.9) {
        s.region_bytes = 2 * MIB;
        s.leaf_bytes = 65536;
    }
    return s;
}

/* What is wrong with an answer, or NULL. */
static const char *unsound(const struct sc_uvm_answer *a)
{
    for (size_t i = 0; i < sc_uvm_system.metric_count; i++) {
        const struct sc_metric *metric = &sc_uvm_system.metrics[i];
        double value;
        if (metric->text)
            continue;
        memcpy(&value, (const char *)a + metric->offset, sizeof value);
        const bool may_miss = metric->offset == offsetof(struct sc_uvm_answer, tokens_per_s) ||
                              metric->offset == offsetof(struct sc_uvm_answer, cliff_bytes) ||
                              strstr(metric->column, "_phase_") != NULL;
        if (isinf(value) || (isnan(value) && !may_miss))
            return metric->column;
        if (value < 0)
            return metric->column;
    }
    const double shares = a->device_share + a->migration_share + a->eviction_share + a->fault_share +
                          a->mapped_share + a->fixed_share;
    if (fabs(shares - 1) > 1e-9)
        return "shares";
    if (fabs(a->in_bytes - a->out_bytes - a->resident_share * a->working_set_bytes) >
        1e-9 * a->in_bytes + 1)
        return "in = out + resident";
    if (a->resident_share * a->working_set_bytes > a->usable_bytes * (1 + 1e-9))
        return "resident <= usable";
    return a->time_s > 0 && a->bound != NULL ? NULL : "time";
}

static void note_scenario(const struct sc_uvm *s, const char *what)
{
    note("%s: policy %d pattern %d mode %d F %g C %g p %g hot %g", what, s->policy, s->pattern,
         s->mode, s->footprint_bytes, s->memory_bytes, s->passes, s->hot_share);
}

static void test_everything(void)
{
    size_t answered = 0, wrong = 0, worded = 0, refused = 0;
    for (size_t i = 0; i < SCENARIOS; i++) {
        const struct sc_uvm s = random_scenario();
        struct sc_uvm_answer a;
        struct sc_error error = { 0 };
        struct sc_term terms[TERMS_MAX];
        struct sc_trace trace = { .terms = terms, .capacity = TERMS_MAX };
        if (sc_uvm_system.estimate(&s, &a, &trace, &error) != SC_OK) {
            refused++;
            worded += error.field != NULL && error.reason != NULL;
            continue;
        }
        answered++;
        const char *fault = unsound(&a);
        for (size_t t = 0; fault == NULL && t < trace.count; t++)
            fault = isfinite(terms[t].value) ? NULL : terms[t].symbol;
        if (fault != NULL && wrong++ < 10)
            note_scenario(&s, fault);
    }
    is_int((long long)wrong, 0, "finite, shares sum to 1, bytes in are out or resident: %zu answers",
           answered);
    ok(answered > SCENARIOS / 2, "most scenarios in the ranges have an answer");
    is_int((long long)worded, (long long)refused, "the others are refused in words");
}

/* More of a rate or of memory never hurts. */
static void test_monotone(void)
{
    static const size_t better[] = { offsetof(struct sc_uvm, link_rate_bytes_per_s),
                                     offsetof(struct sc_uvm, migration_rate_bytes_per_s),
                                     offsetof(struct sc_uvm, fault_rate_bytes_per_s),
                                     offsetof(struct sc_uvm, device_speed) };
    size_t wrong = 0, slower = 0;
    for (size_t i = 0; i < SCENARIOS; i++) {
        struct sc_uvm s = random_scenario();
        struct sc_uvm_answer a, b;
        s.mode = SC_UVM_LAW;
        if (sc_uvm_system.estimate(&s, &a, NULL, NULL) != SC_OK)
            continue;
        char *member = (char *)&s + better[i % COUNT(better)];
        double value;
        memcpy(&value, member, sizeof value);
        value *= 1.5;
        memcpy(member, &value, sizeof value);
        if (sc_uvm_system.estimate(&s, &b, NULL, NULL) != SC_OK)
            continue;
        /* Promotion races with reads in place: the faster one of them leaves it less. */
        const double may = s.policy == ADAPTIVE ? 0.02 : 1e-9;
        if (b.time_s > a.time_s * (1 + may) && wrong++ < 5)
            note_scenario(&s, "slower");
        slower += b.ideal_time_s > a.ideal_time_s * (1 + 1e-9);
    }
    is_int((long long)wrong, 0, "a faster link, migration, fault service or device never hurts");
    is_int((long long)slower, 0, "nor the ideal");
}

static void test_footprint_monotone(void)
{
    size_t wrong = 0;
    for (int p = 0; p < POLICIES; p++)
        for (int pattern = 0; pattern < SC_UVM_PATTERNS; pattern++) {
            double before = 0.0;
            for (double ratio = 0.1; ratio < 4; ratio *= 1.02) {
                struct sc_uvm s = over(pattern, ratio);
                s.policy = p;
                s.passes = 6;
                s.hot_share = 0.4;
                s.drift = 0.2;
                const double time_s = time_of(s);
                const bool random = (pattern == SC_UVM_RANDOM) && (p == UVM || p == PREFETCH || p == PROFILED);
                if (!random && time_s < before * (1 - 1e-9) && wrong++ < 5)
                    note_scenario(&s, "larger and faster");
                before = time_s;
            }
        }
    is_int((long long)wrong, 0, "a larger footprint never takes less time");
    struct sc_uvm line = over(SC_UVM_RANDOM, 1.1), far = over(SC_UVM_RANDOM, 1.4);
    line.passes = far.passes = 6;
    ok(time_of(line) > time_of(far), "but random touches: just past the line most neighbours leave unread");
}

/* ---- What is refused ---- */

static void test_refused(void)
{
    static const struct {
        const char *key;
        double value;
        enum sc_status status;
    } cases[] = {
        { "footprint", 0, SC_ERANGE },       { "memory_capacity", 0, SC_ERANGE },
        { "hot_share", 1.5, SC_ERANGE },     { "hot_share", 0, SC_ERANGE },
        { "passes", 0, SC_ERANGE },          { "drift", -0.1, SC_ERANGE },
        { "phases", 2.5, SC_ERANGE },        { "link_rate", 0, SC_ERANGE },
        { "usable_share", 1.1, SC_ERANGE },  { "leaf", 3 * 65536, SC_EDOMAIN },
        { "leaf", 4096, SC_EDOMAIN },        { "leaf", 4 * MIB, SC_EDOMAIN },
        { "region", 1e9, SC_EDOMAIN },       { "low_watermark", 0.95, SC_EDOMAIN },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sc_uvm s = defaults();
        struct sc_uvm_answer a;
        struct sc_error error = { 0 };
        sc_field_set(sc_system_field(&sc_uvm_system, cases[i].key), &s, cases[i].value);
        const enum sc_status status = sc_uvm_system.estimate(&s, &a, NULL, &error);
        ok(status == cases[i].status && error.field != NULL && error.reason != NULL &&
               (strcmp(error.field, cases[i].key) == 0 || strcmp(cases[i].key, "region") == 0),
           "%s = %g is refused", cases[i].key, cases[i].value);
    }
    struct sc_uvm s = defaults();
    s.memory_bytes = 4 * MIB;
    s.usable_share = 0.1;
    struct sc_error error = { 0 };
    struct sc_uvm_answer a;
    ok(sc_uvm_system.estimate(&s, &a, NULL, &error) == SC_EDOMAIN &&
           strcmp(error.field, "memory_capacity") == 0, "room for no region is refused");
}

/* ---- The tables ---- */

static void test_tables(void)
{
    static const struct {
        const char *key;
        double value;
    } table_1[] = {
        { "cpu_preferred_blocks_enable", 0 }, { "cpu_preferred_block_promotion_enable", 1 },
        { "cpu_preferred_prefetch_chunk_mb", 64 * MIB }, { "perf_access_counter_threshold", 256 },
        { "perf_eager_eviction_enable", 1 }, { "perf_eager_eviction_high_watermark", 0.90 },
        { "perf_eager_eviction_low_watermark", 0.85 }, { "perf_eager_eviction_interval_ms", 0.025 },
        { "perf_eager_eviction_batch_count", 16 }, { "perf_eager_eviction_heat_ratio", 2 },
        { "perf_eager_eviction_stale_intervals", 5 }, { "perf_migration_aware_eviction_enable", 1 },
        { "perf_migration_eviction_base_grace_ms", 0.1 },
        { "perf_migration_eviction_return_window_ms", 0.5 },
        { "perf_migration_eviction_score_grace_ms", 0.25 },
        { "perf_migration_eviction_max_grace_ms", 2 }, { "perf_migration_eviction_decay_ms", 1 },
    };
    size_t wrong = 0;
    for (size_t i = 0; i < COUNT(table_1); i++) {
        const struct sc_field *field = sc_system_field(&sc_uvm_system, table_1[i].key);
        wrong += field == NULL || fabs(field->fallback - table_1[i].value) > 1e-12;
    }
    is_int((long long)wrong, 0, "every parameter of Table 1 is a key with its default");
    for (int p = 0; p < POLICIES; p++) {
        const struct sc_uvm_mechanisms m = sc_uvm_mechanisms(p);
        ok((m.faults || m.maps) && m.pins == (p == STATIC) && m.counts == (p == ADAPTIVE) &&
               m.ahead == (p == PREFETCH) && m.per_allocation == (p == PROFILED),
           "mechanisms of policy %d", p);
    }
}

static void test_adaptive_exchange(void)
{
    struct sc_uvm s = over(SC_UVM_SWEEP, 1.5);
    s.policy = ADAPTIVE;
    s.passes = 1000;
    s.device_rate_bytes_per_s = 1 * GIB;
    const struct sc_uvm_answer a = answer_to(s);
    const double most = s.eviction_batch * 2 * MIB / s.eviction_interval_s * a.time_s;
    ok(a.in_bytes > a.resident_share * a.working_set_bytes && a.out_bytes <= most * (1 + 1e-9),
       "reclamation exchanges regions, no faster than its passes");
    s.eager_eviction = 0;
    near(answer_to(s).out_bytes, 0, 0, 0, "without it the resident set freezes");
}

int main(void)
{
    plan(6 * 2 + 1 + 8 + 6 + 12 + 19 + 4 + 10 + 13 + 5 + 3 + 6 + 7 + SC_UVM_PATTERNS + 5 + 3 + 2 + 2 + 15 + 3 +
         1 + POLICIES);
    test_tree();
    test_random_law();
    test_driver(1.05);
    test_driver(1.5);
    test_driver(3);
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 3; j++)
            test_mixed_driver((const double[]){ 1.25, 1.5, 2, 3 }[i],
                              (const double[]){ 0.25, 0.5, 0.75 }[j]);
    test_patterns();
    test_streams();
    test_curve();
    test_times();
    test_placement();
    test_llm();
    test_window();
    test_limits();
    test_cliff();
    test_everything();
    test_monotone();
    test_footprint_monotone();
    test_refused();
    test_tables();
    test_adaptive_exchange();
    return done();
}
