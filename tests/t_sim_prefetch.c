/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The simulator of `prefetch`: its stores against plain ones, timings that can be
 * worked out by hand, identities and limits that hold for every scenario, and the
 * paper's averages.
 *
 * A property that is checked over many scenarios is one check. */
#include "sim/prefetch_sim.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "prefetch_scenarios.h"
#include "sim/prefetch_engine.h"
#include "sim/prefetch_store.h"
#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The same numbers in every run. */
static struct sc_sim_rng dice;

static double random_unit(void)
{
    return sc_sim_rng_uniform(&dice);
}

static size_t random_below(size_t count)
{
    return (size_t)sc_sim_rng_below(&dice, count);
}

/* One run of the engine with all its checks; zeros, and a failed check, otherwise. */
static struct prefetch_result run(const struct sc_prefetch *s)
{
    const struct sc_prefetch_mechanisms m = sc_prefetch_mechanisms(s);
    struct prefetch_result r;
    struct sc_error error = { 0 };
    if (sc_prefetch_check(s, &error) != SC_OK ||
        prefetch_engine_run(s, &m, sc_sim_rng_make(1, 0, 0), true, &r) != SC_OK) {
        ok(false, "an admissible scenario runs: %s %s",
           error.field != NULL ? error.field : "", r.fault != NULL ? r.fault : "");
        return (struct prefetch_result){ .cycles = 1, .instructions = 1, .loads = 1 };
    }
    return r;
}

static double ratio(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0.0;
}

/* ---- Stores ---- */

static void test_map(void)
{
    enum { KEYS = 3000, STEPS = 60000 };
    static uint64_t plain[KEYS]; /* when + 1, or 0 */
    struct prefetch_map map;
    size_t wrong = 0, count = 0;
    if (prefetch_map_init(&map) != SC_OK)
        bail("out of memory");
    for (size_t i = 0; i < STEPS; i++) {
        const size_t key = random_below(KEYS);
        if (random_unit() < 0.5) {
            wrong += prefetch_map_set(&map, key * 977, i, (prefetch_origin)key) != SC_OK;
            count += plain[key] == 0;
            plain[key] = i + 1;
        } else {
            wrong += prefetch_map_remove(&map, key * 977) != (plain[key] != 0);
            count -= plain[key] != 0;
            plain[key] = 0;
        }
        const size_t other = random_below(KEYS);
        const struct prefetch_map_entry *entry = prefetch_map_find(&map, other * 977);
        wrong += (entry != NULL) != (plain[other] != 0) ||
                 (entry != NULL &&
                  (entry->when + 1 != plain[other] || entry->origin != (prefetch_origin)other)) ||
                 map.count != count;
    }
    is_int((long long)wrong, 0, "the map is a plain array's, over %d steps", STEPS);
    prefetch_map_fini(&map);
}

static void test_cache(void)
{
    struct prefetch_cache cache;
    enum { WAYS = 8, LINES = 20, STEPS = 20000 };
    uint64_t order[WAYS] = { 0 }; /* most recent first, line + 1 */
    size_t wrong = 0;
    if (prefetch_cache_init(&cache, WAYS, WAYS) != SC_OK)
        bail("out of memory");
    for (size_t i = 0; i < STEPS; i++) {
        const uint64_t line = random_below(LINES) * 1000003;
        struct prefetch_line *found = prefetch_cache_find(&cache, line, true);
        size_t place = 0;
        while (place < WAYS && order[place] != line + 1)
            place++;
        wrong += (found != NULL) != (place < WAYS);
        if (found == NULL) {
            found = prefetch_cache_victim(&cache, line);
            wrong += order[WAYS - 1] != 0 && found->tag != order[WAYS - 1];
            prefetch_cache_replace(&cache, found, line);
            found->valid = 1;
            place = WAYS - 1;
        }
        memmove(order + 1, order, place * sizeof *order);
        order[0] = line + 1;
    }
    is_int((long long)wrong, 0, "a set is a list by last use, over %d accesses", STEPS);
    prefetch_cache_fini(&cache);
}

static bool every_third(const void *context, uint64_t sector)
{
    (void)context;
    return sector % 3 == 0;
}

static void test_zeros(void)
{
    struct prefetch_zeros zeros;
    size_t wrong = 0;
    if (prefetch_zeros_init(&zeros, 4, 32) != SC_OK)
        bail("out of memory");
    is_int(prefetch_zeros_known(&zeros, 70, 15), 0, "nothing is known of zeros at first");
    prefetch_zeros_learn(&zeros, 70, every_third, NULL);
    for (uint64_t line = 64; line < 96; line++)
        for (unsigned i = 0; i < 4; i++)
            wrong += (prefetch_zeros_known(&zeros, line, 1u << i) != 0) !=
                     ((line * 4 + i) % 3 == 0);
    is_int((long long)wrong, 0, "then all of what one line of metadata covers");
    is_int(prefetch_zeros_known(&zeros, 96, 15) + prefetch_zeros_known(&zeros, 63, 15), 0,
           "and no more");
    for (uint64_t region = 10; region < 14; region++)
        prefetch_zeros_learn(&zeros, region * 32, every_third, NULL);
    is_int(prefetch_zeros_known(&zeros, 72, 15), 0, "the oldest of four lines makes room");
    prefetch_zeros_fini(&zeros);
}
enum { STORE_TESTS = 6 };

/* ---- What can be worked out by hand ---- */

#define ONE_WARP "loads=1 arrays=1 sectors=1 warps=1 cta_warps=1 ctas=1 iterations=64 compute=0 " \
                 "dependence=1 irregular_share=0 zero_share=0 reuse_share=0 store_share=0 barriers=0 " \
                 "dram_jitter=0 warp_stride=128B iteration_stride=128B load_stride=0B sharing_sms=1 "

static double latency_of(const struct prefetch_result *r)
{
    return r->load_latency / (double)r->loads;
}

static void test_by_hand(const struct prefetch_world *world)
{
    struct sc_prefetch s = prefetch_scenario(world, ONE_WARP "policy=none");
    struct prefetch_result r = run(&s);
    near(latency_of(&r), 450, 0, 1, "a lone load of memory takes its latency");
    near((double)r.cycles, 64 * 450.0, 0.01, 0, "and a chain of them as many times that");
    is_int((long long)r.dram_reads, 64, "a load of one sector reads one sector of memory");
    is_int((long long)r.misses, 64, "each of them misses");

    s = prefetch_scenario(world, ONE_WARP "policy=none sharing_sms=4096");
    r = run(&s);
    near(latency_of(&r), 220, 0, 1, "what another SM has fetched takes the latency of L2");

    s = prefetch_scenario(world, ONE_WARP "policy=o-l1");
    r = run(&s);
    near(latency_of(&r), 33, 0, 0, "a hit takes the latency of L1");

    s = prefetch_scenario(world, ONE_WARP "policy=none reuse_share=1 working_set=128B");
    r = run(&s);
    is_int((long long)r.hits, 63, "one line over and over misses once");

    s = prefetch_scenario(world, ONE_WARP "policy=o-l1 compute=1000 iterations=20");
    r = run(&s);
    near(ratio(r.instructions, r.cycles), 1001.0 / (2 * 1001 + 32), 0.002, 0,
         "a warp issues every other cycle but for the latency of L1");
    s = prefetch_scenario(world, ONE_WARP "policy=o-l1 compute=1000 iterations=20 warps=64 ctas=64");
    r = run(&s);
    near(ratio(r.instructions, r.cycles), 4, 0.02, 0, "64 warps issue on every scheduler");

    s = prefetch_scenario(world, ONE_WARP "policy=none sectors=4 warps=64 ctas=64 iterations=100 "
                                          "iteration_stride=8192B memory_bandwidth=300GB/s");
    r = run(&s);
    const double bytes_per_cycle = 300e9 / 108 / 1.41e9;
    near(32.0 * ratio(r.dram_reads, r.cycles), bytes_per_cycle, 0.03, 0,
         "a stream of many warps runs at the bandwidth of memory");
    ok(r.bandwidth > 0.9 * (double)r.cycles, "and waits for bandwidth");

    s = prefetch_scenario(world, ONE_WARP "policy=none sectors=4 warps=64 ctas=64 iterations=100 "
                                          "iteration_stride=8192B sharing_sms=4096 l2_bytes_per_cycle=8B");
    r = run(&s);
    near(32.0 * ratio(r.l2_reads, r.cycles), 8, 0.03, 0, "or at that of L2");
}
enum { HAND_TESTS = 12 };

/* Perfect stride, one warp: an iteration takes 122 cycles and the load.  What is
 * nearer than the distance, and what teaches the stride, waits for memory. */
static void test_stride(const struct prefetch_world *world)
{
    const struct sc_prefetch none = prefetch_scenario(world, ONE_WARP "policy=none compute=60 iterations=400");
    const struct prefetch_result base = run(&none);
    uint64_t before = base.cycles;
    size_t slower = 0;
    for (int d = 1; d <= 8; d++) {
        const struct sc_prefetch s = prefetch_scenario(
            world, ONE_WARP "policy=stride compute=60 iterations=400 distance=%d", d);
        const struct prefetch_result r = run(&s);
        slower += r.cycles > before + 450;
        before = r.cycles;
        if (d == 1)
            ok(r.late > 351 && r.on_time < 5, "one iteration ahead is too late: %llu late",
               (unsigned long long)r.late);
        if (d == 8) {
            ok(r.on_time >= 385 && r.early == 0, "eight are on time: %llu",
               (unsigned long long)r.on_time);
            near((double)r.cycles, 400 * (2.0 * 61 + 32) + (8 + 4) * (450.0 - 33), 0.01, 0,
                 "and leave the latency of L1");
            is_int((long long)(r.unused + r.dropped), 8, "the last eight go beyond the loop");
        }
    }
    /* Where strides say nothing, only who knows the addresses can be accurate. */
    struct sc_prefetch s = prefetch_scenario(world, "kernel=sparse-mv irregular_share=1 policy=known "
                                                    "zero_share=0");
    const struct prefetch_result known = run(&s);
    s = prefetch_scenario(world, "kernel=sparse-mv irregular_share=1 policy=stride zero_share=0");
    ok(ratio(known.on_time + known.late + known.early, known.issued) > 0.9 && run(&s).issued == 0,
       "of irregular loads all that are known come to be demanded, and no stride is found");
    is_int((long long)slower, 0, "no distance is slower than a shorter one but for its start");
}
enum { STRIDE_TESTS = 6 };

/* ---- Limits ---- */

static void test_limits(const struct prefetch_world *world)
{
    size_t changed = 0, early = 0, beaten = 0, untimely = 0, refetched = 0;
    for (size_t k = 0; k < world->kernel_count; k++) {
        const char *name = world->kernels[k];
        struct sc_prefetch s = prefetch_scenario(world, "kernel=%s policy=none", name);
        const struct prefetch_result none = run(&s);
        s = prefetch_scenario(world, "kernel=%s policy=sk+sc distance=0 placement=off", name);
        changed += run(&s).cycles != none.cycles;
        s = prefetch_scenario(world, "kernel=%s policy=sk l1=1GB l1_data_share=1", name);
        const struct prefetch_result large = run(&s);
        early += large.early + large.evictions;
        s = prefetch_scenario(world, "kernel=%s policy=o-l1", name);
        const uint64_t bound = run(&s).cycles;
        s = prefetch_scenario(world, "kernel=%s policy=o-time", name);
        const struct prefetch_result timed = run(&s);
        untimely += timed.late + timed.early + timed.unused + timed.dropped;
        s = prefetch_scenario(world, "kernel=%s policy=none l1=1GB l1_data_share=1 l2=1TB sms=1 "
                                     "store_share=0", name);
        const struct prefetch_result all = run(&s);
        refetched += all.dram_reads > all.misses;
        static const char *const others[] = { "sk", "sk+sc", "apg", "o-place", "o-sc" };
        for (size_t i = 0; i < COUNT(others); i++) {
            s = prefetch_scenario(world, "kernel=%s policy=%s", name, others[i]);
            beaten += run(&s).cycles < bound;
        }
        beaten += timed.cycles < bound;
    }
    is_int((long long)changed, 0, "distance 0 is no prefetching, to the cycle");
    is_int((long long)early, 0, "an L1 without bounds evicts nothing, so nothing is early");
    is_int((long long)beaten, 0, "nothing beats the oracle of L1");
    is_int((long long)untimely, 0, "the oracle of timeliness is always on time");
    is_int((long long)refetched, 0, "caches without bounds fetch nothing twice");
}
enum { LIMIT_TESTS = 5 };

/* ---- Mechanisms ---- */

static void test_zero_filter(const struct prefetch_world *world)
{
    struct sc_prefetch s = prefetch_scenario(
        world, "kernel=relu-layer policy=sk+zf zero_share=1 irregular_share=0 zero_reset=1000000");
    struct prefetch_result r = run(&s);
    ok(ratio(r.zero_issued, r.zero_candidates) < 0.05 && r.zero_candidates > 1000,
       "where all is zero a filter without a timeout takes all but the first: %.4f left", ratio(r.zero_issued, r.zero_candidates));
    s = prefetch_scenario(world, "kernel=relu-layer policy=sk+zf zero_share=0");
    r = run(&s);
    is_int((long long)(r.other_suppressed + r.zero_candidates), 0, "where nothing is, none");
    s = prefetch_scenario(world, "kernel=relu-layer policy=o-zf");
    r = run(&s);
    ok(r.zero_issued == 0 && r.other_suppressed == 0 && r.zero_candidates > 0,
       "its oracle errs on neither side");
    s = prefetch_scenario(world, "kernel=relu-layer policy=sk+zf zero_reset=1000000");
    const struct prefetch_result rigid = run(&s);
    s = prefetch_scenario(world, "kernel=relu-layer policy=sk+zf zero_purity=0");
    const struct prefetch_result mixed = run(&s);
    s = prefetch_scenario(world, "kernel=relu-layer policy=sk+zf");
    r = run(&s);
    ok(ratio(rigid.zero_issued, rigid.zero_candidates) < ratio(r.zero_issued, r.zero_candidates),
       "a filter that never tries again lets fewer zeros by");
    ok(ratio(mixed.other_suppressed, mixed.other_candidates) >
           ratio(r.other_suppressed, r.other_candidates),
       "arrays that mix zeros with data mislead it more");
}
enum { ZERO_TESTS = 5 };

static void test_placement(const struct prefetch_world *world)
{
    struct sc_prefetch s = prefetch_scenario(world, "kernel=stencil policy=sk+prt idle_registers=0B");
    const struct prefetch_result without = run(&s);
    is_int((long long)(without.to_registers + without.fallbacks), 0, "no idle registers, none used");
    s = prefetch_scenario(world, "kernel=stencil policy=sk+prt");
    const struct prefetch_result aged = run(&s);
    ok(aged.to_registers > 0 && aged.fallbacks > 0, "64 entries are not enough for Snake");
    s = prefetch_scenario(world, "kernel=stencil policy=sk+prt replacement=any");
    const struct prefetch_result any = run(&s);
    ok(ratio(any.on_time, any.issued) < ratio(aged.on_time, aged.issued) && any.fallbacks == 0,
       "evicting any entry makes fewer on time (%.2f, not %.2f)", ratio(any.on_time, any.issued),
       ratio(aged.on_time, aged.issued));
    s = prefetch_scenario(world, "kernel=stencil policy=sk+prt register_entries=4096 "
                                 "idle_registers=512KiB");
    const struct prefetch_result many = run(&s);
    is_int((long long)many.fallbacks, 0, "4096 entries are");
    s = prefetch_scenario(world, "kernel=backprop policy=sk+prt store_share=0");
    const struct prefetch_result read_only = run(&s);
    is_int((long long)read_only.invalidated, 0, "without stores nothing in registers is invalidated");
    /* Warps that lag store over what others have prefetched for the next pass. */
    s = prefetch_scenario(world, "kernel=backprop policy=sk+prt");
    const struct prefetch_result in_place = run(&s);
    ok(in_place.invalidated > 0 && in_place.dropped >= in_place.invalidated,
       "stores in place invalidate prefetched data");
}
enum { PLACEMENT_TESTS = 6 };

static void test_tuner(const struct prefetch_world *world)
{
    struct sc_prefetch s = prefetch_scenario(world, ONE_WARP "policy=sk+scc compute=60 iterations=2000 "
                                                    "chain_distance=0 warp_distance=0 "
                                                    "score_threshold=7");
    const struct prefetch_result tuned = run(&s);
    /* 450 cycles of latency over iterations of 122 to 154. */
    ok(tuned.best_distance >= 3 && tuned.best_distance <= 5,
       "the distance settles where the latency is covered: %g", tuned.best_distance);
    ok(ratio(tuned.on_time, tuned.on_time + tuned.late + tuned.early) > 0.9,
       "and then most are on time");
    double small = 0, large = 0;
    for (size_t k = 0; k < 14; k++) {
        s = prefetch_scenario(world, "kernel=%s policy=sk+scc", world->kernels[k]);
        struct prefetch_result r = run(&s);
        small += ratio(r.on_time, r.on_time + r.late + r.early) / 14;
        s = prefetch_scenario(world, "kernel=%s policy=sk+scc eviction_buffer=512",
                              world->kernels[k]);
        r = run(&s);
        large += ratio(r.on_time, r.on_time + r.late + r.early) / 14;
    }
    ok(large > small, "a larger eviction buffer hides fewer early prefetches (%.2f on time, not %.2f)",
       large, small);
    s = prefetch_scenario(world, "kernel=pool policy=sk+scc score_threshold=8");
    is_int((long long)run(&s).issued, 0, "no confidence passes a gate of 8");
}
enum { TUNER_TESTS = 4 };

/* ---- Any scenario ---- */

static double random_value(const struct sc_field *field, double low, double high)
{
    if (field->kind == SC_CHOICE)
        return (double)random_below(field->choice_count);
    double value = low > 0 && high / low > 30 ? low * pow(high / low, random_unit())
                                              : low + (high - low) * random_unit();
    if (field->kind == SC_INTEGER)
        value = floor(value);
    return fmin(fmax(value, field->minimum), field->maximum);
}

/* Keys whose whole range would take hours. */
static double cap_of(const struct sc_field *field)
{
    static const struct {
        const char *key;
        double cap;
    } caps[] = { { "iterations", 40 }, { "ctas", 24 },      { "compute", 30 },
                 { "sms", 200 },       { "l1_data_share", 0.3 },
                 { "l1", 1e6 },        { "l2", 1e9 } };
    for (size_t i = 0; i < COUNT(caps); i++)
        if (strcmp(field->key, caps[i].key) == 0)
            return caps[i].cap;
    return field->maximum;
}

/* About half of the keys anywhere in their range, the others at their default. */
static struct sc_prefetch random_scenario(const struct prefetch_world *world)
{
    struct sc_prefetch s;
    struct sc_error error;
    do {
        s = prefetch_scenario(world, "kernel=%s", world->kernels[random_below(world->kernel_count)]);
        for (size_t i = 0; i < sc_prefetch_system.field_count; i++) {
            const struct sc_field *field = &sc_prefetch_system.fields[i];
            if (field->kind == SC_PRESET || random_unit() < 0.6)
                continue;
            const double low = strcmp(field->key, "memory_bandwidth") == 0 ? 1e11 : field->minimum;
            sc_field_set(field, &s, random_value(field, low, cap_of(field)));
        }
        s.policy = (int)random_below(SC_PREFETCH_POLICIES);
    } while (sc_prefetch_check(&s, &error) != SC_OK);
    return s;
}

static size_t bad_numbers(const struct sc_prefetch_answer *a)
{
    size_t bad = 0;
    double stalls = 0;
    for (size_t i = 0; i < sc_prefetch_system.metric_count; i++) {
        const struct sc_metric *metric = &sc_prefetch_system.metrics[i];
        if (metric->text) {
            const char *text;
            memcpy(&text, (const char *)a + metric->offset, sizeof text);
            bad += text == NULL;
            continue;
        }
        double value;
        memcpy(&value, (const char *)a + metric->offset, sizeof value);
        const bool is_change = strstr(metric->column, "_change") != NULL ||
                               strstr(metric->column, "_gain") != NULL ||
                               strcmp(metric->column, "oracle_gap") == 0;
        const bool is_bad = !isfinite(value) || (!is_change && value < 0) ||
                            (metric->dimension == SC_SHARE && !is_change && value > 1);
        if (is_bad)
            note("%s = %g", metric->column, value);
        bad += is_bad;
        stalls += metric->stall != NULL ? value : 0;
    }
    return bad + (fabs(stalls - 1) > 1e-9);
}

static void test_random(const struct prefetch_world *world)
{
    enum { RUNS = 150 };
    size_t failed = 0, bad = 0;
    dice = sc_sim_rng_make(20, 0, 0);
    for (int i = 0; i < RUNS; i++) {
        const struct sc_prefetch s = random_scenario(world);
        const struct sc_sim_options options = { .seed = (uint64_t)i, .check = true };
        struct sc_prefetch_answer answer;
        struct sc_sim_report report;
        struct sc_error error = { 0 };
        if (sc_prefetch_simulator.simulate(&s, &options, &answer, &report, &error) != SC_OK) {
            note("run %d, policy %d: %s: %s", i, s.policy, error.field, error.reason);
            failed++;
            continue;
        }
        const size_t wrong = bad_numbers(&answer);
        if (wrong > 0)
            note("run %d, policy %s", i, sc_prefetch_policies[s.policy].choice.name);
        bad += wrong;
    }
    is_int((long long)failed, 0, "%d random scenarios run and keep their accounts", RUNS);
    is_int((long long)bad, 0, "all their answers are numbers in range, and stalls sum to 1");
}
enum { RANDOM_TESTS = 2 };

static void test_repeat(const struct prefetch_world *world)
{
    const struct sc_prefetch s = prefetch_scenario(world, "kernel=sparse-mv policy=sk+sc");
    struct sc_prefetch_answer first, second, other, unchecked;
    struct sc_sim_report report;
    struct sc_error error;
    memset(&first, 0, sizeof first);
    memset(&second, 0, sizeof second);
    memset(&other, 0, sizeof other);
    memset(&unchecked, 0, sizeof unchecked);
    struct sc_sim_options options = { .seed = 3, .check = true };
    if (sc_prefetch_simulator.simulate(&s, &options, &first, &report, &error) != SC_OK ||
        sc_prefetch_simulator.simulate(&s, &options, &second, &report, &error) != SC_OK)
        bail("%s", error.reason);
    options.check = false;
    if (sc_prefetch_simulator.simulate(&s, &options, &unchecked, &report, &error) != SC_OK)
        bail("%s", error.reason);
    options.seed = 4;
    if (sc_prefetch_simulator.simulate(&s, &options, &other, &report, &error) != SC_OK)
        bail("%s", error.reason);
    ok(memcmp(&first, &second, sizeof first) == 0, "the same seed gives the same bytes");
    ok(memcmp(&first, &unchecked, sizeof first) == 0, "checks change nothing");
    ok(first.time_s != other.time_s, "another seed another time");
    near(other.time_s, first.time_s, 0.1, 0, "but not by much");
    const struct sc_prefetch none = prefetch_scenario(world, "kernel=sparse-mv policy=none");
    if (sc_prefetch_simulator.simulate(&none, &options, &other, &report, &error) != SC_OK)
        bail("%s", error.reason);
    ok(other.slowdown == 1.0 && other.accuracy == 0.0 &&
           strcmp(other.worth_fixing_first, "none") == 0,
       "without prefetches there is neither gain nor accuracy, nor anything to fix");
    struct sc_prefetch refused = s;
    refused.warps = 33;
    is_int(sc_prefetch_simulator.simulate(&refused, &options, &other, &report, &error), SC_EDOMAIN,
           "an inconsistent scenario is refused");
}
enum { REPEAT_TESTS = 6 };

struct seen {
    uint8_t *times; /* that each load was recorded */
    size_t loads, wrong;
    uint64_t last_ps;
};

static void see(const struct sc_sim_record *record, void *context)
{
    struct seen *seen = context;
    const bool fits = record->unit < seen->loads;
    if (fits)
        seen->times[record->unit]++;
    seen->wrong += !fits || record->asked_ps >= record->arrived_ps ||
                   record->arrived_ps > record->first_use_ps ||
                   record->first_use_ps < seen->last_ps;
    seen->last_ps = record->first_use_ps;
}

static void test_records(const struct prefetch_world *world)
{
    const struct sc_prefetch s = prefetch_scenario(world, "kernel=pathfinder policy=sk+sc");
    const struct sc_prefetch_body body = sc_prefetch_body(&s);
    struct seen seen = { .loads = (size_t)body.ctas * body.cta_warps * body.iterations * body.loads };
    const struct sc_sim_options options = { .seed = 1, .record = see, .context = &seen };
    struct sc_prefetch_answer answer;
    struct sc_sim_report report;
    struct sc_error error = { 0 };
    size_t once = 0;
    seen.times = calloc(seen.loads, 1);
    if (seen.times == NULL ||
        sc_prefetch_simulator.simulate(&s, &options, &answer, &report, &error) != SC_OK)
        bail("%s", error.reason != NULL ? error.reason : "out of memory");
    for (size_t i = 0; i < seen.loads; i++)
        once += seen.times[i] == 1;
    is_int((long long)once, (long long)seen.loads, "each load is recorded once, of one run alone");
    is_int((long long)seen.wrong, 0, "asked before it arrives, and that before it is used, in order");
    free(seen.times);
}
enum { RECORD_TESTS = 2 };

/* ---- The paper's averages ---- */

enum { PAPER_KERNELS = 14 };
enum config { SK, ZF, SCC, PRT, ZF_SCC, SCC_PRT, PRT_ZF, SC, CONFIGS };
static const char *const config_names[CONFIGS] = { "sk",        "sk+zf",      "sk+scc",    "sk+prt",
                                                   "sk+zf+scc", "sk+scc+prt", "sk+prt+zf", "sk+sc" };

struct figures {
    double gain, on_time, coverage, accuracy;
};

static struct figures means(struct figures of[CONFIGS][PAPER_KERNELS], enum config config, size_t without)
{
    struct figures sum = { 0 };
    double n = 0;
    for (size_t k = 0; k < PAPER_KERNELS; k++) {
        if (k == without)
            continue;
        n++;
        sum.gain += of[config][k].gain;
        sum.on_time += of[config][k].on_time;
        sum.coverage += of[config][k].coverage;
        sum.accuracy += of[config][k].accuracy;
    }
    return (struct figures){ sum.gain / n, sum.on_time / n, sum.coverage / n, sum.accuracy / n };
}

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_gain(struct figures of[CONFIGS][PAPER_KERNELS], enum config config)
{
    double gains[PAPER_KERNELS];
    for (size_t k = 0; k < PAPER_KERNELS; k++)
        gains[k] = of[config][k].gain;
    qsort(gains, PAPER_KERNELS, sizeof gains[0], compare_numbers);
    return (gains[PAPER_KERNELS / 2 - 1] + gains[PAPER_KERNELS / 2]) / 2;
}

static void run_paper(const struct prefetch_world *world, const char *gpu,
                      struct figures of[CONFIGS][PAPER_KERNELS])
{
    for (size_t k = 0; k < PAPER_KERNELS; k++) {
        double base = 0;
        for (int c = 0; c < CONFIGS; c++) {
            const struct sc_prefetch s = prefetch_scenario(world, "gpu=%s kernel=%s policy=%s", gpu,
                                                           world->kernels[k], config_names[c]);
            const struct prefetch_result r = run(&s);
            if (c == SK)
                base = (double)r.cycles;
            of[c][k] = (struct figures){ base / (double)r.cycles - 1,
                                         ratio(r.on_time, r.on_time + r.late + r.early),
                                         ratio(r.on_time, r.on_time + r.late + r.misses),
                                         ratio(r.on_time, r.issued) };
        }
    }
}

/* Beside each mean its median and what leaving out one kernel makes of it. */
static void note_spread(struct figures of[CONFIGS][PAPER_KERNELS])
{
    for (int c = 0; c < CONFIGS; c++) {
        const struct figures all = means(of, (enum config)c, SIZE_MAX);
        double least = (double)INFINITY, most = -(double)INFINITY;
        for (size_t k = 0; k < PAPER_KERNELS; k++) {
            const double gain = means(of, (enum config)c, k).gain;
            least = fmin(least, gain);
            most = fmax(most, gain);
        }
        note("%-10s gain %5.1f %% (median %5.1f, without one kernel %5.1f to %5.1f), on time %4.1f, "
             "coverage %4.1f, accuracy %4.1f",
             config_names[c], 100 * all.gain, 100 * median_gain(of, (enum config)c), 100 * least,
             100 * most, 100 * all.on_time, 100 * all.coverage, 100 * all.accuracy);
    }
}

static void test_paper(const struct prefetch_world *world)
{
    static struct figures a100[CONFIGS][PAPER_KERNELS], v100[CONFIGS][PAPER_KERNELS];
    static const struct {
        enum config config;
        double coverage, accuracy;
    } wanted[] = {
        { SK, 0.115, 0.231 }, { SCC, 0.199, 0.408 }, { PRT, 0.169, 0.316 }, { SC, 0.327, 0.588 }
    };
    run_paper(world, "a100-40gb", a100);
    run_paper(world, "v100 score_threshold=5", v100);
    note_spread(a100);
    struct figures mean[CONFIGS];
    for (int c = 0; c < CONFIGS; c++)
        mean[c] = means(a100, (enum config)c, SIZE_MAX);
    near(mean[SK].on_time, 0.483, 0, 0.08, "Fig. 4: sk, on time");
    near(mean[SC].on_time, 0.883, 0, 0.08, "Fig. 15: sk+sc, on time");
    for (size_t i = 0; i < COUNT(wanted); i++) {
        near(mean[wanted[i].config].coverage, wanted[i].coverage, 0, 0.08, "Fig. 12: %s, coverage",
             config_names[wanted[i].config]);
        near(mean[wanted[i].config].accuracy, wanted[i].accuracy, 0, 0.08, "Fig. 12: %s, accuracy",
             config_names[wanted[i].config]);
    }
    near(mean[SCC].gain, 0.07, 0, 0.03, "Fig. 13: sk+scc over sk");
    near(mean[PRT].gain, 0.037, 0, 0.03, "Fig. 13: sk+prt over sk");
    ok(mean[ZF].gain > 0, "the zero filter gains");
    ok(mean[ZF_SCC].gain > mean[ZF].gain && mean[ZF_SCC].gain > mean[SCC].gain &&
           mean[SCC_PRT].gain > mean[SCC].gain && mean[SCC_PRT].gain > mean[PRT].gain &&
           mean[PRT_ZF].gain > mean[PRT].gain && mean[PRT_ZF].gain > mean[ZF].gain,
       "each pair gains more than either of the two");
    ok(mean[SC].gain > mean[ZF_SCC].gain && mean[SC].gain > mean[SCC_PRT].gain &&
           mean[SC].gain > mean[PRT_ZF].gain,
       "all three more than any pair");
    ok(means(v100, SC, SIZE_MAX).gain > mean[SC].gain, "V100 gains more than A100: %.3f, %.3f",
       means(v100, SC, SIZE_MAX).gain, mean[SC].gain);
}
enum { PAPER_TESTS = 16 };

int main(void)
{
    struct prefetch_world prefetch;
    plan(STORE_TESTS + HAND_TESTS + STRIDE_TESTS + LIMIT_TESTS + ZERO_TESTS + PLACEMENT_TESTS +
         TUNER_TESTS + RANDOM_TESTS + REPEAT_TESTS + RECORD_TESTS +
         PAPER_TESTS);
    prefetch_world_init(&prefetch);
    dice = sc_sim_rng_make(1, 0, 0);
    test_map();
    test_cache();
    test_zeros();
    test_by_hand(&prefetch);
    test_stride(&prefetch);
    test_limits(&prefetch);
    test_zero_filter(&prefetch);
    test_placement(&prefetch);
    test_tuner(&prefetch);
    test_random(&prefetch);
    test_repeat(&prefetch);
    test_records(&prefetch);
    test_paper(&prefetch);
    prefetch_world_fini(&prefetch);
    return done();
}
