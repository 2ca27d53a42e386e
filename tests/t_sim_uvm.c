/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The region simulator: against laws that follow from the mechanism, against an
 * independent brute force, against published figures, and over scenarios at random,
 * where no run may stop half-way or answer with no number.
 *
 * A property that is checked over many scenarios is one check. */
#include "sim/uvm_sim.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim/event.h"
#include "sim/uvm_blocks.h"
#include "sim/uvm_engine.h"
#include "sim/uvm_link.h"
#include "tap.h"
#include "uvm.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define GIB 1073741824.0
#define MIB 1048576.0

enum { LEAVES = 32, LEAF = 65536, STEPS = 512 };

/* ---- Runs of the engine ---- */

static struct uvm_engine *engine;
static struct uvm_step steps[STEPS];

/* A PCIe GPU with so many blocks of memory. */
static struct uvm_machine machine_of(uint32_t chunks, uint32_t in_flight)
{
    return (struct uvm_machine){
        .capacity_bytes = chunks * 2 * MIB, .block_bytes = 2097152, .leaf_bytes = LEAF,
        .device_bytes_per_s = 400 * GIB, .in_bytes_per_s = 22 * GIB, .out_bytes_per_s = 22 * GIB,
        .mapped_bytes_per_s = 20.2 * GIB, .random_cost = 1, .batch_s = 60e-6, .copy_s = 4e-6,
        .batch_entries = 256, .fault_bytes = 4096, .access_bytes = 128, .quantum_bytes = LEAF,
        .in_flight = in_flight, .tree_percent = 51, .write_back_clean = true,
    };
}

static struct uvm_counter_policy table_1(void)
{
    return (struct uvm_counter_policy){
        .counters = 256, .threshold = 256, .replacement = UVM_COUNTER_HOLD, .span_bytes = 64 * MIB,
        .promotes = true, .evicts = true, .protects = true, .high_watermark = 0.90,
        .low_watermark = 0.85, .interval_s = 0.025, .eviction_batch = 16, .heat_ratio = 2,
        .stale_intervals = 5, .base_grace_s = 0.1, .return_window_s = 0.5, .score_grace_s = 0.25,
        .max_grace_s = 2, .score_decay_s = 1,
    };
}

static struct uvm_shape shape_of(uint32_t blocks)
{
    return (struct uvm_shape){ .leaves = blocks * LEAVES, .leaf_bytes = LEAF, .run_leaves = 1,
                               .random_bytes = 128, .streams = 1 };
}

/* One allocation of so many blocks, all checks on. */
struct trial {
    struct uvm_machine machine;
    struct uvm_counter_policy counters;
    struct uvm_allocation allocation;
    size_t count; /* of the steps */
    uint64_t seed;
    double sample_s, samples[256];
    enum uvm_skip skip;
    struct uvm_result result;
    enum sc_status status;
};

static struct trial trial_of(uint32_t blocks, uint32_t chunks, uint32_t in_flight)
{
    return (struct trial){ .machine = machine_of(chunks, in_flight), .counters = table_1(),
                           .allocation = { .blocks = blocks, .placement = UVM_FAULTED,
                                           .populated = true, .pinned_blocks = blocks },
                           .count = 1, .seed = 1 };
}

static const struct uvm_result *run(struct trial *t)
{
    const struct uvm_input input = { .machine = &t->machine, .counters = &t->counters,
                                     .allocations = &t->allocation, .allocation_count = 1,
                                     .steps = steps, .step_count = t->count,
                                     .rng = sc_sim_rng_make(t->seed, 0, 0), .skip = t->skip,
                                     .check = true, .sample_s = t->sample_s, .samples = t->samples,
                                     .sample_room = t->sample_s > 0 ? COUNT(t->samples) : 0 };
    t->status = uvm_engine_run(engine, &input, &t->result);
    if (t->status != SC_OK) {
        ok(false, "a run ends and passes its checks");
        note("status %d: %s", (int)t->status,
             t->result.waiting != NULL ? t->result.waiting : "no reason");
    }
    return &t->result;
}

static double leaves_in(const struct uvm_result *r)
{
    return (double)r->in_bytes / LEAF;
}

/* ---- Masks, tree, link ---- */

static void test_masks(void)
{
    uint64_t mask[8] = { 0 };
    uvm_mask_fill(mask, 60, 10);
    uvm_mask_set(mask, 511);
    is_int(uvm_mask_count(mask, 8), 11, "leaves are counted across words");
    is_int(uvm_mask_runs(mask, 8), 2, "so are runs");
    is_int(uvm_mask_alike(mask, 60, 100), 10, "how far a run goes");
    is_int(uvm_mask_alike(mask, 70, 1000), 441, "and how far a gap goes");
    is_int(uvm_mask_alike(mask, 62, 3), 3, "but no further than asked");
}
enum { MASK_TESTS = 5 };

/* Faults in this order, each if its leaf is not there: how many leaves that makes. */
static uint32_t faults_make(uint32_t leaves, const uint32_t *order, size_t count, uint32_t percent,
                            uint32_t *faults)
{
    struct uvm_blocks blocks;
    *faults = 0;
    if (uvm_blocks_init(&blocks, 1, leaves, 1) != SC_OK)
        bail("no memory");
    uint64_t *resident = uvm_mask(&blocks, UVM_RESIDENT, 0);
    for (size_t i = 0; i < count; i++) {
        uint64_t wanted[UVM_WORDS_MAX] = { 0 };
        if (uvm_mask_has(resident, order[i]))
            continue;
        ++*faults;
        uvm_mask_set(wanted, order[i]);
        uvm_tree_pull(&blocks, 0, order[i], percent, wanted);
        for (uint32_t w = 0; w < blocks.words; w++)
            resident[w] |= wanted[w];
    }
    const uint32_t there = uvm_mask_count(resident, blocks.words);
    uvm_blocks_fini(&blocks);
    return there;
}

static void test_tree(void)
{
    uint32_t faults, order[512];
    for (uint32_t i = 0; i < 512; i++)
        order[i] = i;
    is_int(faults_make(4, order, 2, 51, &faults), 2, "Fig. 2: half of four leaves pull in nothing");
    is_int(faults_make(4, order, 3, 51, &faults), 4, "the third pulls in the fourth");
    is_int(faults_make(32, order, 17, 51, &faults), 32, "17 of 32 in order pull in the rest");
    is_int(faults, 6, "which takes 6 faults, on leaves 0, 1, 2, 4, 8, 16");
    (void)faults_make(512, order, 512, 50, &faults);
    is_int(faults, 10, "512 leaves in order are 10 faults");
    const uint32_t apart[] = { 0, 31, 8, 24 };
    is_int(faults_make(32, apart, 4, 51, &faults), 4, "leaves far apart pull in nothing");
    is_int(faults_make(1, order, 1, 51, &faults), 1, "a block of one leaf has no tree");
}
enum { TREE_TESTS = 7 };

static void test_link(void)
{
    struct uvm_link link = { 0 };
    uint64_t bulk_done_ps = 0, remote_done_ps = 0;
    uvm_link_clear(&link);
    /* A long job of one kind among short ones of the other. */
    for (uint32_t i = 0; i < 100; i++)
        uvm_link_send(&link, UVM_REMOTE, 0, 10.5, 0, i);
    for (uint32_t i = 0; i < 5; i++)
        uvm_link_send(&link, UVM_BULK, 0, 100.0, 1, i);
    while (link.done_ps != SC_SIM_NEVER_PS) {
        const uint64_t at_ps = link.done_ps;
        const struct uvm_job job = uvm_link_finish(&link);
        *(job.kind == 1 ? &bulk_done_ps : &remote_done_ps) = at_ps;
    }
    near((double)bulk_done_ps, 1000, 0, 120, "both kinds get half of the time while both want it");
    is_int((long long)remote_done_ps, 1550, "jobs back to back lose no fraction of a picosecond");
    near(uvm_link_error(&link, 2000), 0, 0, 1e-12, "number in the system is rate x time");
    uvm_link_fini(&link);
}
enum { LINK_TESTS = 3 };

/* ---- Laws ---- */

static void test_sweeps(void)
{
    for (size_t i = 0; i < 4; i++) {
        static const uint32_t blocks[] = { 200, 256, 259, 512 };
        struct trial t = trial_of(blocks[i], 256, 8);
        const struct uvm_shape shape = shape_of(blocks[i]);
        steps[0] = uvm_sweep(&shape, 4);
        const struct uvm_result *r = run(&t);
        const double passes = blocks[i] > 256 ? 4 : 1;
        near(leaves_in(r), passes * shape.leaves, 1e-12, 0,
             "%u blocks in 256: four sweeps bring %g footprints in", (unsigned)blocks[i], passes);
        near((double)r->out_bytes, (double)r->in_bytes - fmin(blocks[i], 256) * 2 * MIB, 1e-12, 1e-9,
             "all but what is resident is copied back");
    }
    struct trial fits = trial_of(253, 256, 8), past = trial_of(259, 256, 8);
    const struct uvm_shape small = shape_of(253), large = shape_of(259);
    steps[0] = uvm_sweep(&small, 8);
    const double fits_s = run(&fits)->time_s;
    steps[0] = uvm_sweep(&large, 8);
    const double past_s = run(&past)->time_s;
    ok(past_s > 4 * fits_s, "the cliff lies within 1.2 %% of what is usable (%.3f s, %.3f s)", fits_s,
       past_s);
}
enum { SWEEP_TESTS = 9 };

static void test_strides(void)
{
    static const struct {
        double ratio, low, high;
    } rows[] = { { 2.05, 0.99, 1.0001 }, { 2.5, 0.99, 1.0001 }, { 1.31, 0.85, 1.0001 } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const uint32_t blocks = (uint32_t)(256 * rows[i].ratio);
        struct trial t = trial_of(blocks, 256, 8);
        const struct uvm_shape shape = shape_of(blocks);
        t.count = uvm_steps_bitonic(&shape, 6, steps, STEPS);
        const double part = leaves_in(run(&t)) / ((double)shape.leaves * (double)t.count);
        ok(t.count == 28 && part >= rows[i].low && part <= rows[i].high,
           "bitonic, F/C %.2f: each of 28 passes brings %.3f of the footprint in", rows[i].ratio, part);
    }
}
enum { STRIDE_TESTS = 3 };

static void test_hot(void)
{
    static const uint32_t hot[] = { 128, 230, 307 };
    for (size_t i = 0; i < COUNT(hot); i++) {
        struct trial t = trial_of(384, 256, 8);
        const struct uvm_shape shape = shape_of(384);
        t.count = uvm_steps_hot_prefix(&shape, 5, hot[i] * LEAVES, steps, STEPS);
        const double want = 384 + hot[i] * (hot[i] > 256 ? 4.0 : 1.0);
        near(leaves_in(run(&t)) / LEAVES, want, 0.002, 0,
             "a prefix of %u blocks in 256 comes %s", (unsigned)hot[i],
             hot[i] > 256 ? "with every pass" : "once more");
    }
    static const uint32_t constant[] = { 64, 128, 192 };
    for (size_t i = 0; i < COUNT(constant); i++) {
        struct trial t = trial_of(1024 + constant[i], 256, 8);
        const struct uvm_shape shape = shape_of(1024 + constant[i]);
        t.count = uvm_steps_hot_stream(&shape, 1, constant[i] * LEAVES, 64, steps, STEPS);
        near(leaves_in(run(&t)) / LEAVES, 1024.0 * 256 / (256 - constant[i]), 0.06, 0,
             "a stream past %u hot blocks: S C / (C - H)", (unsigned)constant[i]);
    }
}
enum { HOT_TESTS = 6 };

/* Another simulator of faults alone: one touch after the other, blocks in the order
 * of their last fault, the tree by recursion from the root. */
struct brute {
    uint32_t blocks, chunks, used;
    uint32_t *bits;
    uint64_t *stamp, clock;
};

static uint32_t brute_tree(uint32_t bits, uint32_t first, uint32_t size, uint32_t leaf)
{
    if (size == 1)
        return bits | 1u << first;
    const uint32_t half = size / 2, middle = first + half;
    bits = brute_tree(bits, leaf < middle ? first : middle, half, leaf);
    uint32_t count = 0;
    for (uint32_t i = first; i < first + size; i++)
        count += bits >> i & 1;
    for (uint32_t i = first; 2 * count > size && i < first + size; i++)
        bits |= 1u << i;
    return bits;
}

/* Whether it was a fault, and how many leaves came in. */
static bool brute_touch(struct brute *b, uint32_t leaf, uint32_t *came)
{
    const uint32_t block = leaf / LEAVES, before = b->bits[block];
    *came = 0;
    if (before >> leaf % LEAVES & 1)
        return false;
    if (before == 0 && b->used++ == b->chunks) {
        uint32_t oldest = UINT32_MAX;
        for (uint32_t i = 0; i < b->blocks; i++)
            if (b->bits[i] != 0 && (oldest == UINT32_MAX || b->stamp[i] < b->stamp[oldest]))
                oldest = i;
        b->bits[oldest] = 0;
        b->used--;
    }
    b->bits[block] = brute_tree(before, 0, LEAVES, leaf % LEAVES);
    b->stamp[block] = ++b->clock;
    *came = (uint32_t)__builtin_popcount(b->bits[block] ^ before);
    return true;
}

/* The same visits by both: faults and leaves must be the same, one by one in sum. */
static void test_brute_force(void)
{
    static const struct {
        uint32_t blocks, chunks;
        double randomness, passes;
    } rows[] = { { 72, 64, 1, 8 }, { 80, 64, 1, 8 }, { 128, 64, 1, 8 }, { 72, 64, 0.3, 10 },
                 { 96, 64, 0.6, 8 }, { 65, 64, 0.05, 12 }, { 40, 3, 0.5, 4 } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct trial t = trial_of(rows[i].blocks, rows[i].chunks, 1);
        const struct uvm_shape shape = shape_of(rows[i].blocks);
        struct brute b = { .blocks = rows[i].blocks, .chunks = rows[i].chunks };
        struct uvm_source source;
        struct uvm_visit visit;
        uint64_t faults = 0, leaves = 0;
        b.bits = calloc(b.blocks, sizeof *b.bits);
        b.stamp = calloc(b.blocks, sizeof *b.stamp);
        steps[0] = uvm_mixed(&shape, rows[i].passes, rows[i].randomness);
        if (b.bits == NULL || b.stamp == NULL ||
            uvm_source_init(&source, steps, 1, LEAVES, sc_sim_rng_make(1, 0, 0)) != SC_OK)
            bail("no memory");
        while (uvm_source_next(&source, &visit)) {
            uint32_t came;
            faults += brute_touch(&b, visit.leaf, &came);
            leaves += came;
        }
        const struct uvm_result *r = run(&t);
        ok(r->faults == faults && leaves_in(r) == (double)leaves,
           "%u blocks in %u, %g random: brute force sees the same %lu faults and %lu leaves",
           (unsigned)rows[i].blocks, (unsigned)rows[i].chunks, rows[i].randomness,
           (unsigned long)faults, (unsigned long)leaves);
        uvm_source_fini(&source);
        free(b.bits);
        free(b.stamp);
    }
}
enum { BRUTE_TESTS = 7 };

/* Faults per touch by the note's law hold from F/C 1.1 on; nearer to the line blocks
 * differ too much for a mean of their leaves. */
static void test_random(void)
{
    static const struct {
        double ratio, faults;
    } rows[] = { { 1.1, 0.728 }, { 1.25, 0.877 }, { 1.5, 0.938 }, { 2, 0.969 }, { 3, 0.985 } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const uint32_t blocks = (uint32_t)(256 * rows[i].ratio);
        const struct uvm_shape shape = shape_of(blocks);
        struct trial warm = trial_of(blocks, 256, 1), t = warm;
        steps[0] = uvm_mixed(&shape, 6, 1);
        const struct uvm_result *before = run(&warm);
        steps[0] = uvm_mixed(&shape, 18, 1);
        const struct uvm_result *r = run(&t);
        const double touches = (double)(r->visits - before->visits);
        near((double)(r->faults - before->faults) / touches, rows[i].faults, 0.03, 0,
             "random touches, F/C %.2f: faults per touch", rows[i].ratio);
    }
}
enum { RANDOM_TESTS = 5 };

/* ---- What moves and what does not ---- */

static void test_creation(void)
{
    struct trial t = trial_of(64, 64, 8);
    const struct uvm_shape shape = shape_of(64);
    steps[0] = uvm_sweep(&shape, 2);
    t.allocation.populated = false;
    const struct uvm_result *r = run(&t);
    ok(r->in_bytes == 0 && r->created_bytes == 64u * 2097152 && r->faults > 0,
       "a first touch of what the host has not written faults and transfers nothing");
    t = trial_of(128, 64, 8);
    t.allocation.populated = false;
    const struct uvm_shape larger = shape_of(128);
    steps[0] = uvm_sweep(&larger, 2);
    r = run(&t);
    ok(r->in_bytes == 128u * 2097152 && r->created_bytes == 128u * 2097152,
       "once evicted it is fetched like any other");
    t = trial_of(128, 64, 8);
    t.machine.write_back_clean = false;
    r = run(&t);
    ok(r->out_bytes == 0 && r->dropped_bytes > 0, "without write-back of clean leaves none is copied");
    steps[0].write_share = 0.25;
    r = run(&t);
    const double written = (double)r->out_bytes / (double)(r->out_bytes + r->dropped_bytes);
    near(written, 0.25, 0.1, 0, "and what was written is");
    t = trial_of(128, 64, 8);
    t.allocation.placement = UVM_COUNTED;
    t.allocation.populated = false;
    r = run(&t);
    ok(r->created_bytes == 128u * 2097152, "counted data too is created where it is first touched");
}
enum { CREATION_TESTS = 5 };

static void test_driver(void)
{
    struct trial one = trial_of(64, 64, 1), many = trial_of(64, 64, 64);
    const struct uvm_shape shape = shape_of(64);
    steps[0] = uvm_sweep(&shape, 1);
    const struct uvm_result *r = run(&one);
    ok(r->faults == 6 * 64 && r->batches == 6 * 64, "one touch at a time: a batch for each fault");
    is_int((long long)r->entries, 6 * 64 * 16, "a leaf that is swept is 16 entries of 4 KiB");
    const double service_s = 6 * 64 * 60e-6 + (double)r->copies * 4e-6;
    near(r->activity_s[UVM_SERVING], service_s, 1e-9, 0, "service is batches and copies");
    near(r->activity_s[UVM_MIGRATING], 64 * 2 * MIB / (22 * GIB), 1e-6, 0, "migration is bytes");
    near(r->activity_s[UVM_DEVICE], 64 * 2 * MIB / (400 * GIB), 1e-6, 0, "the device is bytes too");
    r = run(&many);
    ok(r->batches <= 64 * 2 + 1 && r->batches < one.result.batches / 2,
       "with many in flight a batch holds 16 leaves");
    struct trial tiny = trial_of(64, 1, 64);
    steps[0] = uvm_mixed(&shape, 2, 0.5);
    r = run(&tiny);
    is_int((long long)r->most_chunks, 1, "memory of one block: the run ends all the same");
    struct trial small = trial_of(64, 32, 1);
    small.machine.leaf_bytes = 4096;
    small.machine.tree_percent = 50;
    steps[0] = uvm_sweep(&shape, 1);
    steps[0].leaves = 64 * 512;
    steps[0].leaf_bytes = 4096;
    r = run(&small);
    is_int((long long)r->faults, 10 * 64, "leaves of 4 KiB: 10 faults for a block");
    small.machine.reads_evicted = true;
    steps[0].passes = 2;
    r = run(&small);
    ok(r->in_bytes == 64u * 2097152 && r->refetched_bytes == 0 && r->mapped_bytes > 0,
       "over a coherent link what was evicted is read in place");
}
enum { DRIVER_TESTS = 9 };

static void test_ahead(void)
{
    struct trial t = trial_of(64, 64, 8);
    const struct uvm_shape shape = shape_of(64);
    steps[0] = uvm_sweep(&shape, 3);
    t.allocation.placement = UVM_AHEAD;
    const struct uvm_result *r = run(&t);
    ok(r->faults == 0 && r->setup_bytes == 64u * 2097152, "what was brought in ahead faults no more");
    near(r->setup_s, 64 * 2 * MIB / (22 * GIB), 1e-6, 0, "bulk goes at the rate of the link");
    t = trial_of(128, 64, 8);
    const struct uvm_shape larger = shape_of(128);
    steps[0] = uvm_sweep(&larger, 1);
    t.allocation.placement = UVM_AHEAD;
    r = run(&t);
    is_int((long long)r->in_bytes, 256ll * 2097152, "past capacity it evicts what was to be used");
    t.allocation.placement = UVM_PINNED;
    r = run(&t);
    ok(r->in_bytes == 64u * 2097152 && r->evictions == 0 && r->mapped_bytes == 64u * 2097152,
       "a pinned prefix stays, the rest is read in place");
    t.allocation.pinned_first = 100;
    t.allocation.pinned_blocks = 10;
    t.skip = UVM_SKIP_SETUP;
    r = run(&t);
    ok(r->in_bytes == 0 && r->resident_bytes == 10u * 2097152 && r->mapped_bytes == 118u * 2097152,
       "so does a pinned range; what calls place need not be measured");
    t.allocation.placement = UVM_MAPPED;
    r = run(&t);
    near(r->time_s, 128 * 2 * MIB / (20.2 * GIB), 0.01, 0, "mapped data come at the rate of the link");
}
enum { AHEAD_TESTS = 6 };

/* ---- Counters ---- */

static void test_counters(void)
{
    struct trial t = trial_of(512, 1024, 8);
    const struct uvm_shape shape = shape_of(512);
    t.allocation.placement = UVM_COUNTED;
    /* One leaf, touched once too seldom, then once more. */
    steps[0] = uvm_sweep(&shape, 1);
    steps[0].first_leaf = 200 * LEAVES;
    steps[0].leaves = 1;
    steps[0].leaf_bytes = 255 * 128;
    const struct uvm_result *r = run(&t);
    ok(r->notifications == 0 && r->promotions == 0, "255 accesses notify nobody");
    steps[0].leaf_bytes = 256 * 128;
    steps[1] = uvm_sweep(&shape, 1);
    steps[1].first_leaf = 300 * LEAVES; /* time for the span */
    steps[1].leaves = 1;
    steps[1].passes = 100000;
    steps[0].barrier = true;
    t.count = 2;
    t.counters.counters = 1;
    r = run(&t);
    ok(r->notifications >= 1 && r->promotions >= 32, "256 do: a span of 32 blocks is promoted");
    struct trial edge = trial_of(20, 64, 8);
    const struct uvm_shape small = shape_of(20);
    edge.allocation.placement = UVM_COUNTED;
    steps[0] = uvm_sweep(&small, 20);
    r = run(&edge);
    ok(r->promotions == 20 && r->in_bytes == 20u * 2097152,
       "a span is clipped where the allocation ends");
    struct trial full = trial_of(200, 100, 8);
    const struct uvm_shape large = shape_of(200);
    full.allocation.placement = UVM_COUNTED;
    full.counters.evicts = false;
    steps[0] = uvm_sweep(&large, 40);
    r = run(&full);
    ok(r->most_chunks == 90 && r->promotions == 90 && r->halted > 0 && r->evictions == 0,
       "promotion stops at the high watermark; without eviction the set freezes");
    full.counters.evicts = true;
    r = run(&full);
    const double passes = floor(r->time_s / 0.025) + 1;
    ok(r->reclaimed > 0 && (double)r->reclaimed <= 16 * passes && r->most_chunks <= 90,
       "at most 16 blocks leave per interval (%lu in %g)", (unsigned long)r->reclaimed, passes);
    full.counters.promotes = false;
    r = run(&full);
    ok(r->promotions == 0 && r->in_bytes == 0, "without promotion all stays mapped");
}
enum { COUNTER_TESTS = 6 };

static void test_replacement(void)
{
    /* One counter and two blocks that take turns, each too seldom by itself. */
    static const struct {
        enum uvm_replacement replacement;
        bool promotes;
        const char *name;
    } rows[] = { { UVM_COUNTER_HOLD, true, "a counter that keeps its block reaches the threshold" },
                 { UVM_COUNTER_LRU, false, "one that goes to the last comer never does" },
                 { UVM_COUNTER_RANDOM, false, "nor does one that goes to any" } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct trial t = trial_of(64, 128, 1);
        const struct uvm_shape shape = shape_of(64);
        t.allocation.placement = UVM_COUNTED;
        t.counters.counters = 1;
        t.counters.replacement = rows[i].replacement;
        steps[0] = uvm_sweep(&shape, 500);
        steps[0].order = UVM_STRIDED;
        steps[0].leaves = 2 * LEAVES;
        steps[0].run_leaves = LEAVES;
        steps[0].leaf_bytes = 128;
        t.machine.quantum_bytes = 128 * LEAVES;
        const struct uvm_result *r = run(&t);
        ok((r->promotions > 0) == rows[i].promotes, "%s", rows[i].name);
    }
}
enum { REPLACEMENT_TESTS = 3 };

/* ---- Published figures ---- */

/* GH200, rates from the row without drift; Table 10. */
static struct trial drift_trial(double drift, enum uvm_placement placement)
{
    const uint32_t blocks = 142 * 512, window = 14 * 512;
    struct trial t = trial_of(blocks, (uint32_t)(86.4 * 512), 256);
    struct uvm_shape shape = shape_of(blocks);
    shape.run_leaves = 4;
    t.machine.device_bytes_per_s = 8 * 14 * GIB / 0.15;
    t.machine.mapped_bytes_per_s = 8 * 14 * GIB / 1.33;
    t.machine.in_bytes_per_s = t.machine.out_bytes_per_s = 14 * GIB / 0.20;
    if (placement != UVM_FAULTED)
        shape.streams = 64;
    t.count = uvm_steps_drift(&shape, window * LEAVES, drift, 8, 1, steps, STEPS);
    t.allocation.placement = placement;
    t.allocation.pinned_blocks = window;
    t.skip = UVM_SKIP_SETUP;
    return t;
}

static void test_drift(void)
{
    struct trial t = drift_trial(0, UVM_PINNED);
    near(run(&t)->time_s, 0.15, 0.01, 0, "Table 10: static without drift");
    t = drift_trial(1, UVM_PINNED);
    near(run(&t)->time_s, 1.16, 0.10, 0, "static with a new window each time: 1.16 s");
    t = drift_trial(0.1, UVM_PINNED);
    near(run(&t)->time_s, 0.44, 0.11, 0, "static, 10 %%: 0.44 s");
    t = drift_trial(0.1, UVM_MAPPED);
    near(run(&t)->time_s, 1.33, 0.01, 0, "mapped does not care");
    t = drift_trial(0, UVM_FAULTED);
    const double still_s = run(&t)->time_s;
    t = drift_trial(1, UVM_FAULTED);
    near(run(&t)->time_s / still_s, 25.4 / 3.40, 0.10, 0, "UVM with and without drift: x7.5");
}
enum { DRIFT_TESTS = 5 };

/* A40, random against sequential, as many touches as evict 26 times as much. */
static void test_random_against_sweep(void)
{
    const uint32_t chunks = 2048, blocks = 2580;
    const struct uvm_shape shape = shape_of(blocks);
    struct trial sweep = trial_of(blocks, chunks, 4032), touch = sweep;
    steps[0] = uvm_sweep(&shape, 1);
    const struct uvm_result *s = run(&sweep);
    steps[0] = uvm_random(&shape, 4.35 * shape.leaves);
    const struct uvm_result *r = run(&touch);
    near((double)r->out_bytes / (double)s->out_bytes, 26, 0.05, 0, "Fig. 3: 26 times the evictions");
    near(r->time_s / s->time_s, 7, 0.15, 0, "take about 7 times as long");
    near((double)s->entries / (double)r->entries, 5, 0.2, 0, "with about a fifth of the faults");
}
enum { AGAINST_TESTS = 3 };

/* RTX 5080: array A, then array B, of which a quarter did not fit. */
static void test_shift(void)
{
    const uint32_t half = 4200; /* 8.2 GiB */
    struct uvm_shape shape = shape_of(2 * half);
    shape.streams = 64;
    shape.run_leaves = LEAVES;
    struct trial t = trial_of(2 * half, 7372, 64);
    t.machine.device_bytes_per_s = 750 * GIB;
    t.machine.quantum_bytes = 262144;
    t.count = uvm_steps_shift(&shape, 200, steps, STEPS);
    t.allocation.placement = UVM_PINNED;
    const struct uvm_result *r = run(&t);
    near(r->phase_bytes[0] / r->phase_s[0] / GIB, 750, 0.01, 0, "Fig. 7: array A at 750 GiB/s");
    near(r->phase_bytes[1] / r->phase_s[1] / GIB, 80, 0.1, 0, "a fixed split reads B at 80");
    t.count = uvm_steps_shift(&shape, 600, steps, STEPS);
    t.allocation.placement = UVM_COUNTED;
    t.counters.high_watermark = 1.0;
    t.counters.low_watermark = 0.85 / 0.9;
    t.sample_s = 0.25;
    r = run(&t);
    double least = INFINITY;
    const size_t shift = (size_t)(r->phase_s[0] / t.sample_s), count = (size_t)r->sample_count;
    for (size_t i = shift; i < count; i++)
        least = fmin(least, t.samples[i] / t.sample_s / GIB);
    ok(least < 200, "counters too fall, to %.0f GiB/s at the least", least);
    near(t.samples[count - 2] / t.sample_s / GIB, 750, 0.05, 0, "and recover all of it");
}
enum { SHIFT_TESTS = 4 };

/* RTX 5080, 20 GB in 16; so many accesses of 32 bytes to a page of 4 KiB, all in one
 * pass; a share of the pages in random order, which costs 4 times as much. */
static double advantage_of_static(double accesses, double randomness)
{
    const uint32_t blocks = 9539, chunks = 7629;
    struct uvm_shape shape = shape_of(blocks);
    shape.leaf_bytes = shape.random_bytes = (uint32_t)(16 * 32 * accesses);
    struct trial t = trial_of(blocks, chunks, (uint32_t)fmax(16, 1024 * randomness));
    t.machine.device_bytes_per_s = 750 * GIB;
    t.machine.mapped_bytes_per_s = 20.3 * GIB;
    t.machine.random_cost = 4;
    t.machine.access_bytes = 32;
    t.counters.high_watermark = 1.0;
    t.counters.low_watermark = 0.85 / 0.9;
    steps[0] = uvm_mixed(&shape, 1, randomness);
    t.allocation.placement = UVM_PINNED;
    const double static_s = run(&t)->time_s + 0.06; /* advice */
    t.allocation.placement = UVM_COUNTED;
    return run(&t)->time_s / static_s;
}

static void test_winners(void)
{
    const double few = advantage_of_static(32, 0.1), sweep = advantage_of_static(512, 0);
    const double middle = advantage_of_static(512, 0.25), random = advantage_of_static(512, 1);
    ok(few < 1, "Fig. 16a, 32 accesses: counters are faster (%.2f)", few);
    ok(sweep < 1, "512, a sweep: counters follow it (%.2f)", sweep);
    ok(middle > 1.15, "512, a quarter random: the prefix is faster (x%.2f)", middle);
    ok(random < middle, "512, all random: it is less so (x%.2f)", random);
}
enum { WINNER_TESTS = 4 };

/* ---- Scenarios ---- */

static struct sc_uvm scenario(int pattern, int policy)
{
    struct sc_uvm s;
    memset(&s, 0, sizeof s);
    sc_scenario_init(&sc_uvm_system, &s);
    s.pattern = pattern;
    s.policy = policy;
    s.memory_bytes = 0.5 * GIB;
    return s;
}

static size_t choices_of(const char *key)
{
    return sc_system_field(&sc_uvm_system, key)->choice_count;
}

static enum sc_status simulate(const struct sc_uvm *s, uint64_t seed, struct sc_uvm_answer *a,
                               struct sc_sim_report *report, struct sc_error *error)
{
    const struct sc_sim_options options = { .seed = seed, .check = true };
    memset(a, 0, sizeof *a);
    *error = (struct sc_error){ 0 };
    return sc_uvm_simulator.simulate(s, &options, a, report, error);
}

static struct sc_uvm_answer answer_to(const struct sc_uvm *s)
{
    struct sc_uvm_answer a;
    struct sc_sim_report report;
    struct sc_error error;
    if (simulate(s, 1, &a, &report, &error) != SC_OK) {
        ok(false, "an admissible scenario has an answer");
        note("%s %g: %s", error.field, error.value, error.reason);
    }
    return a;
}

/* Columns that a pattern or a policy has no number for. */
static bool may_be_missing(const struct sc_metric *metric, const struct sc_uvm *s)
{
    const size_t at = metric->offset;
    if (at == offsetof(struct sc_uvm_answer, tokens_per_s))
        return s->pattern != SC_UVM_LAYERS;
    if (at == offsetof(struct sc_uvm_answer, cliff_bytes))
        return true;
    return s->pattern != SC_UVM_WINDOW &&
           (at == offsetof(struct sc_uvm_answer, first_phase_bytes_per_s) ||
            at == offsetof(struct sc_uvm_answer, last_phase_bytes_per_s));
}

static const char *fault_of(const struct sc_uvm *s, const struct sc_uvm_answer *a,
                            const struct sc_sim_report *report)
{
    const double shares[] = { a->device_share, a->migration_share, a->eviction_share,
                              a->fault_share,  a->mapped_share,    a->fixed_share };
    double sum = 0;
    for (size_t i = 0; i < COUNT(shares); i++) {
        if (!(shares[i] >= 0 && shares[i] <= 1 + 1e-12))
            return "a share is outside 0 to 1";
        sum += shares[i];
    }
    if (!(fabs(sum - 1) <= 1e-9))
        return "the shares do not sum to 1";
    for (size_t i = 0; i < sc_uvm_system.metric_count; i++) {
        const struct sc_metric *metric = &sc_uvm_system.metrics[i];
        double value;
        if (metric->text)
            continue;
        memcpy(&value, (const char *)a + metric->offset, sizeof value);
        if (!(isfinite(value) && value >= 0) && !(isnan(value) && may_be_missing(metric, s)))
            return metric->column;
    }
    if (a->bound == NULL || !(a->time_s > 0 && a->slowdown > 0))
        return "no time or nothing binds";
    if (report->units == 0 || report->events == 0 || !(report->little_error <= 0.005))
        return "the report";
    return NULL;
}

static uint64_t random_state = 20261130;

static double unit(void)
{
    return (double)(sc_sim_splitmix64(&random_state) >> 11) * 0x1p-53;
}

static double between(double low, double high)
{
    return low * pow(high / low, unit());
}

static struct sc_uvm random_scenario(void)
{
    struct sc_uvm s = scenario((int)(unit() * SC_UVM_PATTERNS),
                               (int)(unit() * (double)choices_of("policy")));
    s.memory_bytes = between(6 * MIB, 400 * MIB);
    s.oversubscription = between(0.3, 3);
    s.passes = floor(between(1, 6));
    s.touches = between(1, 4);
    s.hot_share = between(0.05, 1);
    s.randomness = unit() < 0.3 ? 0 : unit();
    s.write_share = unit() < 0.5 ? 0 : unit();
    s.access_bytes = unit() < 0.5 ? (double)NAN : between(64, 65536);
    s.streams = floor(between(1, 300));
    s.phases = floor(between(1, 9));
    s.drift = unit();
    s.in_flight = floor(between(1, 5000));
    s.coherent = unit() < 0.2;
    s.placement = (int)(unit() * 3);
    s.leaf_bytes = unit() < 0.3 ? 262144 : 65536;
    s.link_passes = unit() < 0.7 ? (double)NAN : between(0.1, 20);
    s.device_rate_bytes_per_s = unit() < 0.5 ? (double)NAN : between(1e9, 1e12);
    s.tile_bytes = s.pattern == SC_UVM_STRIDED && unit() < 0.5 ? between(MIB, 16 * MIB) : (double)NAN;
    s.counters = floor(between(1, 1000));
    s.counter_replacement = (int)(unit() * 3);
    s.eager_eviction = unit() < 0.8;
    s.aware_eviction = unit() < 0.8;
    s.high_watermark = between(0.3, 1);
    s.low_watermark = s.high_watermark * between(0.3, 1);
    s.eviction_batch = floor(between(1, 64));
    s.eviction_interval_s = between(1e-4, 0.1);
    s.promotion_span_bytes = between(2 * MIB, 128 * MIB);
    s.fault_batch = floor(between(1, 1000));
    s.fault_group_s = unit() < 0.2 ? 0 : between(1e-6, 1e-3);
    s.random_read_cost = between(1, 8);
    s.pinned_bytes = unit() < 0.7 ? (double)NAN : between(1, 500 * MIB);
    return s;
}

static void test_at_random(void)
{
    enum { RUNS = 400 };
    size_t faults = 0, refused = 0;
    for (size_t i = 0; i < RUNS; i++) {
        const struct sc_uvm s = random_scenario();
        struct sc_uvm_answer a;
        struct sc_sim_report report;
        struct sc_error error;
        const enum sc_status status = simulate(&s, i, &a, &report, &error);
        const char *fault = NULL;
        if (status == SC_OK)
            fault = fault_of(&s, &a, &report);
        else if (strcmp(error.field, "simulation") == 0)
            fault = error.reason;
        else
            refused++;
        if (fault != NULL)
            note("run %lu, pattern %d, policy %d: %s", (unsigned long)i, s.pattern, s.policy, fault);
        faults += fault != NULL;
    }
    is_int((long long)faults, 0, "%d scenarios at random: each has all its numbers", RUNS);
    ok(refused < RUNS / 10, "and %lu of them contradict themselves", (unsigned long)refused);
}
enum { AT_RANDOM_TESTS = 2 };

/* All patterns and policies when everything fits and an earlier pass has placed it. */
static void test_fits(void)
{
    size_t differ = 0, refetch = 0;
    for (int pattern = 0; pattern < SC_UVM_PATTERNS; pattern++)
        for (int policy = 0; policy < (int)choices_of("policy"); policy++) {
            struct sc_uvm s = scenario(pattern, policy);
            const struct sc_uvm_mechanisms m = sc_uvm_mechanisms(policy);
            s.oversubscription = 0.5;
            s.hot_share = 0.5;
            s.passes = 4;
            const struct sc_uvm_answer cold = answer_to(&s);
            refetch += cold.thrash_factor > 0 || cold.out_bytes > 0;
            s.placement = SC_UVM_PLACE_NONE;
            s.profile_runs = 0;
            if (m.counts || (m.maps && !m.pins && !m.faults) || pattern == SC_UVM_WINDOW)
                continue; /* promotes when it does; never; and moves on */
            const struct sc_uvm_answer warm = answer_to(&s);
            const bool slower = fabs(warm.slowdown - 1) > 0.01;
            if (slower)
                note("pattern %d policy %d: slowdown %g", pattern, policy, warm.slowdown);
            differ += slower;
        }
    is_int((long long)refetch, 0, "below capacity nothing comes twice and nothing leaves");
    is_int((long long)differ, 0, "and policies agree once it is there");
}
enum { FIT_TESTS = 2 };

static void test_monotone(void)
{
    size_t falls = 0;
    for (int policy = 0; policy < (int)choices_of("policy"); policy++) {
        double before_s = INFINITY;
        for (double rate = 5; rate <= 80; rate *= 2) {
            struct sc_uvm s = scenario(SC_UVM_HOT_PREFIX, policy);
            s.hot_share = 0.8;
            s.passes = 6;
            s.link_rate_bytes_per_s = s.migration_rate_bytes_per_s = rate * GIB;
            const double time_s = answer_to(&s).time_s;
            falls += time_s > before_s * (1 + 1e-9);
            before_s = time_s;
        }
    }
    is_int((long long)falls, 0, "a faster link never hurts");
}
enum { MONOTONE_TESTS = 1 };

static void count_record(const struct sc_sim_record *record, void *context)
{
    size_t *counts = context;
    const bool in_order = record->asked_ps <= record->first_use_ps &&
                          record->first_use_ps <= record->last_use_ps &&
                          (record->arrived_ps <= record->first_use_ps ||
                           record->arrived_ps == SC_SIM_NEVER_PS) &&
                          (record->evicted_ps >= record->arrived_ps ||
                           record->evicted_ps == SC_SIM_NEVER_PS);
    counts[0]++;
    counts[1] += in_order && strcmp(record->kernel, "sweep") == 0 && record->unit + 1 == counts[0];
    counts[2] += record->evicted_ps != SC_SIM_NEVER_PS;
}

static void test_scenarios(void)
{
    struct sc_uvm s = scenario(SC_UVM_MIXED, 4);
    struct sc_uvm_answer a, b, c;
    struct sc_sim_report report;
    struct sc_error error;
    s.randomness = 0.5;
    s.passes = 5;
    const bool ran = simulate(&s, 7, &a, &report, &error) == SC_OK &&
                     simulate(&s, 7, &b, &report, &error) == SC_OK &&
                     simulate(&s, 8, &c, &report, &error) == SC_OK;
    ok(ran && memcmp(&a, &b, sizeof a) == 0, "the same seed gives the same bytes");
    ok(a.time_s != c.time_s && fabs(a.time_s / c.time_s - 1) < 0.1, "another seed nearly does");

    s = scenario(SC_UVM_SWEEP, 0);
    s.passes = 2;
    size_t counts[3] = { 0 };
    const struct sc_sim_options options = { .seed = 1, .record = count_record, .context = counts };
    ok(sc_uvm_simulator.simulate(&s, &options, &a, &report, &error) == SC_OK && counts[0] == 384 &&
           counts[1] == 384 && counts[2] >= 384 - 230,
       "a record of each block, times in order");

    s.passes = 1e6;
    ok(simulate(&s, 1, &a, &report, &error) == SC_ERANGE &&
           strcmp(error.field, "page visits") == 0 && error.value > 1.2e8 &&
           strstr(error.reason, "120 million") != NULL,
       "more visits than are simulated are refused with their count and the limit");
    s.passes = 1;
    s.host_passes = 1;
    ok(simulate(&s, 1, &a, &report, &error) == SC_EDOMAIN && strcmp(error.field, "host_passes") == 0,
       "what host code touches is not simulated");
    s = scenario(SC_UVM_SWEEP, 5);
    s.passes = 3;
    const double profiled_s = answer_to(&s).time_s;
    s.policy = 0;
    const double uvm_s = answer_to(&s).time_s;
    s.policy = 2;
    const double best_s = fmin(answer_to(&s).time_s, uvm_s);
    ok(profiled_s <= uvm_s + best_s + 1e-9, "profiled: the best single policy after a run of uvm");
    s = scenario(SC_UVM_SWEEP, 0);
    s.oversubscription = 0.9 * 1.05;
    s.passes = 3;
    a = answer_to(&s);
    ok(a.near_cliff == 1 && a.time_fits_s < 0.6 * a.time_past_s, "near the line both sides are simulated");
    ok(sc_simulator_find(&sc_uvm_system) == &sc_uvm_simulator, "the system has its simulator");
}
enum { SCENARIO_TESTS = 8 };

static void test_refusals(void)
{
    struct trial t = trial_of(8, 8, 1);
    struct uvm_input input = { .machine = &t.machine, .allocations = &t.allocation,
                               .allocation_count = 1, .steps = steps, .step_count = 1 };
    const struct uvm_shape shape = shape_of(9);
    steps[0] = uvm_sweep(&shape, 1);
    ok(uvm_engine_run(engine, &input, &t.result) == SC_EDOMAIN && t.result.waiting != NULL,
       "a step that leaves the allocation is refused");
    steps[0].leaves = 8 * LEAVES;
    t.machine.leaf_bytes = 65536 * 3;
    ok(uvm_engine_run(engine, &input, &t.result) == SC_EDOMAIN, "so are three leaves to a half block");
    t.machine.leaf_bytes = LEAF;
    t.machine.in_flight = 0;
    ok(uvm_engine_run(engine, &input, &t.result) == SC_EDOMAIN, "and nothing in flight");
    t.machine.in_flight = 1;
    t.allocation.placement = UVM_COUNTED;
    ok(uvm_engine_run(engine, &input, &t.result) == SC_EDOMAIN, "and counting without a policy");
    t.allocation.placement = UVM_FAULTED;
    steps[0].passes = 1e12;
    ok(uvm_engine_run(engine, &input, &t.result) == SC_ERANGE, "too many visits are out of range");
}
enum { REFUSAL_TESTS = 5 };

int main(void)
{
    plan(MASK_TESTS + TREE_TESTS + LINK_TESTS + SWEEP_TESTS + STRIDE_TESTS + HOT_TESTS + BRUTE_TESTS +
         RANDOM_TESTS + CREATION_TESTS + DRIVER_TESTS + AHEAD_TESTS + COUNTER_TESTS +
         REPLACEMENT_TESTS + DRIFT_TESTS + AGAINST_TESTS + SHIFT_TESTS + WINNER_TESTS +
         AT_RANDOM_TESTS + FIT_TESTS + MONOTONE_TESTS + SCENARIO_TESTS + REFUSAL_TESTS);
    engine = uvm_engine_create();
    if (engine == NULL)
        bail("no memory");
    test_masks();
    test_tree();
    test_link();
    test_sweeps();
    test_strides();
    test_hot();
    test_brute_force();
    test_random();
    test_creation();
    test_driver();
    test_ahead();
    test_counters();
    test_replacement();
    test_drift();
    test_random_against_sweep();
    test_shift();
    test_winners();
    test_at_random();
    test_fits();
    test_monotone();
    test_scenarios();
    test_refusals();
    uvm_engine_destroy(engine);
    return done();
}
