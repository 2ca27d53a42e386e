/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the kernels of `prefetch` load, and which mechanisms its policies have. */
#include <math.h>
#include <string.h>

#include "prefetch_scenarios.h"
#include "tap.h"

static void test_kernels(const struct prefetch_world *world)
{
    size_t wrong = 0, per_line = 0;
    for (size_t k = 0; k < world->kernel_count; k++) {
        const struct sc_prefetch s = prefetch_scenario(world, "kernel=%s", world->kernels[k]);
        const struct sc_prefetch_body b = sc_prefetch_body(&s);
        struct sc_error error = { 0 };
        if (sc_prefetch_check(&s, &error) != SC_OK) {
            note("%s: %s %g %s", world->kernels[k], error.field, error.value, error.reason);
            wrong++;
        }
        per_line += b.instructions == b.loads * (1 + b.compute) + b.stores;
    }
    ok(wrong == 0 && world->kernel_count >= 14, "all of %zu kernels are admissible",
       world->kernel_count);
    is_int((long long)per_line, (long long)world->kernel_count, "instructions are accounted for");
}

static void test_addresses(const struct prefetch_world *world)
{
    const struct sc_prefetch s = prefetch_scenario(
        world, "loads=4 arrays=2 irregular_share=0 warp_stride=128B iteration_stride=-4096B load_stride=64B");
    const struct sc_prefetch_body b = sc_prefetch_body(&s);
    const uint64_t a = sc_prefetch_address(&b, 0, 10, 3);
    is_int((long long)(sc_prefetch_address(&b, 0, 11, 3) - a), 128, "the next warp");
    is_int((long long)(a - sc_prefetch_address(&b, 0, 10, 4)), 4096, "the next iteration");
    is_int((long long)(sc_prefetch_address(&b, 1, 10, 3) - a), 64, "the next load of the array");
    ok(sc_prefetch_address(&b, 2, 10, 3) - a == UINT64_C(1) << 36, "the next array");

    const struct sc_prefetch reused = prefetch_scenario(
        world, "loads=2 arrays=1 irregular_share=0 reuse_share=0.5 working_set=8KiB warp_stride=128B "
               "iteration_stride=4096B load_stride=0B");
    const struct sc_prefetch_body r = sc_prefetch_body(&reused);
    ok(sc_prefetch_address(&r, 0, 0, 2) == sc_prefetch_address(&r, 0, 0, 0),
       "a working set starts over");
    ok(sc_prefetch_address(&r, 1, 0, 2) != sc_prefetch_address(&r, 1, 0, 0),
       "the loads that do not reuse go on");

    const struct sc_prefetch wild = prefetch_scenario(
        world, "loads=4 irregular_share=0.375 footprint=64KiB iterations=1000 load_stride=0B");
    const struct sc_prefetch_body w = sc_prefetch_body(&wild);
    size_t outside = 0, jumps[4] = { 0 };
    for (unsigned i = 0; i < 1000; i++)
        for (unsigned j = 0; j < 4; j++) {
            const uint64_t address = sc_prefetch_address(&w, j, 5, i);
            const uint64_t strided = w.load[j].base + (uint64_t)(5 * w.load[j].warp_stride) +
                                     (uint64_t)((int64_t)i * w.load[j].iteration_stride);
            jumps[j] += address != strided;
            outside += address != strided && address - w.load[j].base >= 65536;
        }
    ok(jumps[0] == 0 && jumps[1] == 0 && jumps[3] >= 999 && jumps[2] > 430 && jumps[2] < 570,
       "irregular loads are the last of the body: %zu %zu", jumps[2], jumps[3]);
    is_int((long long)outside, 0, "and stay in the footprint");
}

static void test_zeros(const struct prefetch_world *world)
{
    const struct sc_prefetch s = prefetch_scenario(
        world, "loads=4 arrays=4 zero_share=0.4 zero_purity=0.5 zero_run=16");
    const struct sc_prefetch_body b = sc_prefetch_body(&s);
    const size_t samples = 1 << 18;
    double share[4], mean = 0;
    size_t split = 0;
    for (unsigned a = 0; a < 4; a++) {
        size_t zeros = 0;
        const uint64_t first = b.load[a].base / SC_PREFETCH_SECTOR;
        for (size_t i = 0; i < samples; i++) {
            zeros += sc_prefetch_is_zero(&b, first + i);
            split += i % 16 != 0 &&
                     sc_prefetch_is_zero(&b, first + i) != sc_prefetch_is_zero(&b, first + i - 1);
        }
        share[a] = (double)zeros / (double)samples;
        mean += share[a] / 4;
    }
    near(mean, 0.4, 0, 0.01, "the share of zeros is that of the key");
    ok(share[3] < 0.25 && share[0] > 0.6, "purity puts them into few arrays: %g, %g", share[0],
       share[3]);
    is_int((long long)split, 0, "a run is zero or not as a whole");
}

static void test_policies(const struct prefetch_world *world)
{
    struct sc_prefetch s = prefetch_scenario(world, "policy=sk+sc");
    struct sc_prefetch_mechanisms m = sc_prefetch_mechanisms(&s);
    ok(m.front == SC_PREFETCH_SNAKE && m.zero_filter && m.tuner && m.registers && m.throttle,
       "SK+SC has everything");
    s = prefetch_scenario(world, "policy=sk+sc tuner=off throttle=off");
    m = sc_prefetch_mechanisms(&s);
    ok(m.zero_filter && !m.tuner && !m.throttle, "a switch takes one away");
    s = prefetch_scenario(world, "policy=none tuner=on placement=on");
    m = sc_prefetch_mechanisms(&s);
    ok(!m.tuner && !m.registers && m.zero_cache, "none has nothing to switch on but the zero cache");
    s = prefetch_scenario(world, "policy=sk+prt idle_registers=1000B");
    m = sc_prefetch_mechanisms(&s);
    near(sc_prefetch_machine(&s, &m).register_entries, 7, 0, 0, "entries as far as registers go");
    s = prefetch_scenario(world, "policy=sk distance=5");
    ok(sc_prefetch_reach(&s, SC_PREFETCH_WARP) == 5 && sc_prefetch_reach(&s, SC_PREFETCH_CHAIN) == 5,
       "the key distance bounds every pattern");
}

static void test_refusals(const struct prefetch_world *world)
{
    static const struct {
        const char *keys, *field;
    } bad[] = {
        { "warps=16 cta_warps=32", "cta_warps" }, { "warps=30 cta_warps=8", "warps" },
        { "warps=64 max_warps=48", "warps" },     { "loads=2 arrays=3", "arrays" },
        { "mshrs=16", "prefetch_mshrs" },         { "dram_latency=100", "dram_latency" },
        { "l1_latency=300", "l2_latency" },       { "l1=4KiB l1_data_share=0.1", "l1_data_share" },
        { "iterations=1000000 ctas=100", "iterations" },
        { "ctas=1000000 iterations=100", "ctas" },
        { "compute=1000 ctas=900 iterations=100", "compute" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const struct sc_prefetch s = prefetch_scenario(world, "%s", bad[i].keys);
        struct sc_error error = { .field = "" };
        const enum sc_status status = sc_prefetch_check(&s, &error);
        ok(status == SC_EDOMAIN && strcmp(error.field, bad[i].field) == 0, "%s is refused at %s",
           bad[i].keys, error.field);
    }
}

int main(void)
{
    struct prefetch_world world;
    plan(29);
    prefetch_world_init(&world);
    test_kernels(&world);
    test_addresses(&world);
    test_zeros(&world);
    test_policies(&world);
    test_refusals(&world);
    prefetch_world_fini(&world);
    return done();
}
