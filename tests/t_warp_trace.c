/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces of warps: as files, and replayed by the simulator of `prefetch`. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prefetch_scenarios.h"
#include "read/warp_trace_file.h"
#include "sim/prefetch_engine.h"
#include "sim/prefetch_kernel.h"
#include "sim/prefetch_sim.h"
#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define HEADER "cta,warp,pc,op,address,bytes,compute,dependence\n"

/* NULL: refused, with the fault. */
static struct sc_warp_trace *read_text(const char *text, size_t block_bytes,
                                       struct sc_warp_trace_error *error)
{
    FILE *file = *text != '\0' ? fmemopen((void *)(uintptr_t)text, strlen(text), "rb") : tmpfile();
    struct sc_warp_trace *trace;
    if (file == NULL)
        bail("no file");
    if (sc_warp_trace_read(&trace, file, block_bytes, error) != (trace != NULL))
        bail("a trace, or none: not both");
    fclose(file);
    return trace;
}

static struct sc_warp_trace *read_fine(const char *text)
{
    struct sc_warp_trace_error error;
    struct sc_warp_trace *trace = read_text(text, 0, &error);
    if (trace == NULL)
        bail("%zu: %s: %s", error.line, error.column, error.reason);
    return trace;
}

/* To be freed. */
static char *written(const struct sc_warp_trace *trace)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    if (file == NULL || !sc_warp_trace_write(trace, file) || fclose(file) != 0)
        bail("cannot write a trace");
    return text;
}

/* ---- Files ---- */

static void test_coalescing(void)
{
    static const struct {
        const char *address, *op;
        unsigned parts, sectors;
        uint64_t first; /* line << 4 | mask */
    } cases[] = {
        { "0x1000+4*32", "load", 1, 4, 32 << 4 | 15 },
        { "0x1000", "load", 1, 1, 32 << 4 | 1 },
        { "0x101e", "load", 1, 2, 32 << 4 | 3 },
        { "0x107e", "LDG.E.64.SYS", 2, 2, 32 << 4 | 8 },
        { "0x107f", "ldg.u8", 1, 1, 32 << 4 | 8 },
        { "0x1000+128*32", "load", 32, 32, 32 << 4 | 1 },
        { "0x107c-4*32", "load", 1, 4, 32 << 4 | 15 },
        { "0x1060 0x1000 0x1060", "load", 1, 2, 32 << 4 | 9 },
        { "0x1000+0*32 0x1000+0*32 0x1000+0*32 0x1000+0*32", "load", 1, 1, 32 << 4 | 1 },
        { "4096 4128", "LD.128", 1, 2, 32 << 4 | 3 },
        { "0xfffffffffffffffc", "load", 1, 1, UINT64_C(0x1ffffffffffffff) << 4 | 8 },
        { "0", "load", 1, 1, 1 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[256];
        (void)snprintf(text, sizeof text, "warp,pc,op,address\n0,a,%s,%s\n", cases[i].op,
                       cases[i].address);
        struct sc_warp_trace *t = read_fine(text);
        const struct sc_warp_access *a = &t->accesses[0];
        ok(a->parts == cases[i].parts && a->sectors == cases[i].sectors &&
               t->parts[a->part] == cases[i].first,
           "%s of %s: %d lines, %d sectors", cases[i].op, cases[i].address, a->parts, a->sectors);
        sc_warp_trace_destroy(t);
    }
}
enum { COALESCING_TESTS = 12 };

static void test_faults(void)
{
    static const struct {
        const char *text;
        size_t line;
        const char *column, *reason;
    } cases[] = {
        { "", 0, "", "the file is empty" },
        { HEADER, 0, "", "expected at least one load, got none" },
        { HEADER "0,0,,store,0,,,\n", 0, "", "expected at least one load, got none" },
        { "warp,pc,op\n", 1, "address", "expected such a column, got none" },
        { "warp,pc,op,address,warp\n", 1, "warp", "expected one such column, got two" },
        { "warp,pc,op,address,computes\n", 1, "",
          "expected the columns cta, warp, pc, op, address, bytes, compute, dependence, got 'computes'" },
        { HEADER "0,0,a,load,0,,,\n0,-1,a,load,0,,,\n", 3, "warp",
          "expected a whole number from 0 to 63, got '-1'" },
        { HEADER "0,64,a,load,0,,,\n", 2, "warp", "expected a whole number from 0 to 63, got '64'" },
        { HEADER "0,,a,load,0,,,\n", 2, "warp", "expected a whole number from 0 to 63, got nothing" },
        { HEADER "0,0,a,LDS,0,,,\n", 2, "op",
          "expected load, store, barrier, exit or zero (or LD, LDG, LDL, ST, STG, STL, RED, BAR), got 'LDS'" },
        { HEADER "0,0,a,load,,,,\n", 2, "address", "expected an address, got nothing" },
        { HEADER "0,0,a,load\n", 2, "address", "expected an address, got nothing" },
        { HEADER "0,0,a,load,-4,,,\n", 2, "address",
          "expected addresses, as 0x1f00 or 0x1f00+4*32, got '-4'" },
        { HEADER "0,0,a,load,0x10+4,,,\n", 2, "address",
          "expected addresses, as 0x1f00 or 0x1f00+4*32, got '0x10+4'" },
        { HEADER "0,0,a,load,0x10+4*0,,,\n", 2, "address",
          "expected addresses, as 0x1f00 or 0x1f00+4*32, got '0x10+4*0'" },
        { HEADER "0,0,a,load,18446744073709551616,,,\n", 2, "address",
          "expected addresses, as 0x1f00 or 0x1f00+4*32, got '18446744073709551616'" },
        { HEADER "0,0,a,load,4-8*2,,,\n", 2, "address",
          "expected addresses from 0 to 2^64 - 1, got '4-8*2'" },
        { HEADER "0,0,a,load,0xffffffffffffffff+1*2,,,\n", 2, "address",
          "expected addresses from 0 to 2^64 - 1, got '0xffffffffffffffff+1*2'" },
        { HEADER "0,0,a,load,0xffffffffffffffff,,,\n", 2, "address",
          "expected bytes below 2^64, got '0xffffffffffffffff'" },
        { HEADER "0,0,a,load,0+4*33,,,\n", 2, "address",
          "expected at most 32 lanes, those of a warp, got '0+4*33'" },
        { HEADER "0,0,,store,0 64-1*33,,,\n", 2, "address",
          "expected at most 32 lanes, those of a warp, got '64-1*33'" },
        { HEADER "0,0,a,load,0+4*32 0+4*32 0+4*32 0+4*32 1,,,\n", 2, "address",
          "expected at most 128 addresses, got '0+4*32 0+4*32 0+4*32 0+4*32 1'" },
        { HEADER "0,0,a,load,16+128*32,128,,\n", 2, "address",
          "expected at most 128 sectors of 32 bytes, got '16+128*32'" },
        { HEADER "0,0,a,load,0,129,,\n", 2, "bytes", "expected a whole number from 1 to 128, got '129'" },
        { HEADER "0,0,a,load,0,,1000001,\n", 2, "compute",
          "expected a whole number from 0 to 1000000, got '1000001'" },
        { HEADER "0,0,a,load,0,,,0\n", 2, "dependence",
          "expected a whole number from 1 to 10000, got '0'" },
        { HEADER "0,0,,load,0,,,\n", 2, "pc",
          "expected 1 to 63 bytes that tell which load it is, got nothing" },
        { HEADER "0,0,,barrier,0,,,\n", 2, "address", "expected nothing, got '0'" },
        { HEADER "0,0,,store,0,,,4\n", 2, "dependence", "expected nothing, got '4'" },
        { HEADER "0,0,,exit,,,,\n0,0,a,load,0,,,\n", 3, "op",
          "expected nothing of a warp that has exited, got 'load'" },
        { HEADER "2147483648,0,a,load,0,,,\n", 2, "cta",
          "expected the number of a CTA, x or x,y,z below 2^31, 2^16 and 2^16, got '2147483648'" },
        { HEADER "\"1,2,3,4\",0,a,load,0,,,\n", 2, "cta",
          "expected the number of a CTA, x or x,y,z below 2^31, 2^16 and 2^16, got '1,2,3,4'" },
        { HEADER ",0,a,load,0,,,\n", 2, "cta",
          "expected the number of a CTA, x or x,y,z below 2^31, 2^16 and 2^16, got nothing" },
        { HEADER "0,,,zero,0,32,,\n", 2, "cta", "expected nothing, got '0'" },
        { HEADER ",,,zero,0,,,\n", 2, "bytes",
          "expected a whole number from 1 to 18446744073709551615, got nothing" },
        { HEADER ",,,zero,2,18446744073709551615,,\n", 2, "address", "expected bytes below 2^64, got '2'" },
        { HEADER "0,0,a,load,0,,,,9\n", 2, "", "expected 8 cells, got 9" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sc_warp_trace_error error;
        struct sc_warp_trace *t = read_text(cases[i].text, 0, &error);
        ok(t == NULL && error.line == cases[i].line && strcmp(error.column, cases[i].column) == 0 &&
               (strcmp(error.reason, cases[i].reason) == 0 || i == 0),
           "%zu: %s: %s", error.line, error.column, error.reason);
        sc_warp_trace_destroy(t);
    }
}
enum { FAULT_TESTS = 37 };

/* The same instructions of each warp, its warps in turn or one after the other. */
static void test_order(void)
{
    static const char in_turn[] = HEADER "\"1,0,1\",0,x,load,0x1000+4*32,,3,2\n1,5,x,load,64,,,\n"
                                  "\"1,0,1\",0,,bar,,,,\n0,1,y z,load,0x40 0x1004 0x20,,1,\n"
                                  ",,,zero,96,64,,\n1,5,\"a,b\",load,4096,16,,\n"
                                  "\"1,0,1\",0,,ST.64,8,,0,\n1,5,,exit,,,7,\n,,,zero,64,32,,\n";
    static const char by_warp[] = "op;pc;warp;cta;compute;address;dependence;bytes\n"
                                  "zero;;;;;0x40;;32\nLDG;y z;1;0;1;64 4100 32;;\n"
                                  "ld.u16;x;5;1;;0x40;;4\nldg.128;a,b;5;1;;0x1000;;\nEXIT;;5;1;7;;;\n"
                                  "load;x;0;1,0,1;3;4096+32*4;2;32\nBAR.SYNC;;0;1,0,1;0;;;\n"
                                  "STG.E.64;;0;1,0,1;0;8;;\nzero;;;;;0x60;;64\n";
    struct sc_warp_trace *t = read_fine(in_turn);
    char *text = written(t), *again;
    ok(t->cta_count == 3 && t->stream_count == 3 && t->cta_warps == 6 && t->loads == 4 &&
           t->name_count == 3 && t->zero_count == 1,
       "three CTAs of a warp each, four loads at three places, one region of zeros");
    ok(sc_warp_trace_is_zero(t, 2) && sc_warp_trace_is_zero(t, 4) && !sc_warp_trace_is_zero(t, 1) &&
           !sc_warp_trace_is_zero(t, 5),
       "regions that meet are one");
    ok(sc_warp_trace_stream(t, 1, 5)->loads == 1 && sc_warp_trace_stream(t, 1, 4) == NULL &&
           sc_warp_trace_stream(t, 2, 0)->loads == 3,
       "warps are found, in the order of z, y, x");
    sc_warp_trace_destroy(t);
    t = read_fine(text);
    again = written(t);
    is_str(again, text, "what is written and read again is the same");
    sc_warp_trace_destroy(t);
    free(again);
    t = read_fine(by_warp);
    again = written(t);
    is_str(again, text, "so is another order of warps and columns, and another spelling");
    sc_warp_trace_destroy(t);
    free(again);
    free(text);
}
enum { ORDER_TESTS = 5 };

/* ---- Replayed ---- */

static const char machine[] = "policy=%s dram_jitter=0 warps=64 compute=0 dependence=1";

static struct prefetch_result replay(const struct prefetch_world *world, const char *text,
                                     const char *policy)
{
    char keys[256];
    struct prefetch_result r = { 0 };
    struct sc_error error = { 0 };
    struct sc_prefetch fitted;
    struct sc_warp_trace *trace = read_fine(text);
    (void)snprintf(keys, sizeof keys, machine, policy);
    const struct sc_prefetch s = prefetch_scenario(world, "%s sharing_sms=1", keys);
    const struct sc_sim_options options = { .seed = 1, .check = true, .replay = trace };
    if (prefetch_kernel_fit(&s, trace, &fitted, &error) != SC_OK)
        bail("%s %s", error.field, error.reason);
    const struct sc_prefetch_mechanisms m = sc_prefetch_mechanisms(&fitted);
    if (prefetch_engine_trace(&fitted, &m, sc_sim_rng_make(1, 0, 0), &options, &r) != SC_OK)
        ok(false, "a trace runs: %s", r.fault != NULL ? r.fault : "");
    sc_warp_trace_destroy(trace);
    return r;
}

/* Defaults: L1 33 cycles, L2 220, memory 450; a hit of sectors costs nothing more. */
static void test_by_hand(const struct prefetch_world *world)
{
    struct prefetch_result r = replay(world, HEADER "0,0,a,load,0x1000,,,\n", "none");
    near(r.load_latency, 450, 0, 2, "one load of memory takes its latency");
    is_int((long long)r.instructions, 1, "and is one instruction");
    near((double)r.cycles, 450, 0, 5, "which is all the time");

    r = replay(world, HEADER "0,0,a,load,0x1000,,,\n0,1,a,load,0x1004,,,\n", "none");
    ok(r.misses == 1 && r.merged == 1 && r.dram_reads == 1,
       "two warps at one sector: the second joins the first at its MSHR");
    near(r.load_latency / 2, 450, 0, 4, "and both wait for the same");

    r = replay(world, HEADER "0,0,a,load,0x1000,,,\n0,0,b,load,0x1008,,10,\n0,0,,exit,,,5,\n", "none");
    ok(r.hits == 1 && r.misses == 1, "the same sector afterwards is a hit");
    is_int((long long)r.instructions, 2 + 10 + 5, "computes before loads and behind the last count");

    r = replay(world, HEADER "0,0,a,load,0x0+128*32,,,\n", "none");
    ok(r.accesses == 32 && r.misses == 32 && r.loads == 1, "32 lanes in 32 lines are as many sectors");
    near(r.load_latency, 450 + 31, 0.15, 0, "which leave one a cycle, as fast as memory takes them");

    r = replay(world, HEADER "0,0,,bar,,,,\n0,1,,bar,,,100,\n"
                             "0,0,a,load,0x10000,,,\n0,1,a,load,0x20000,,,\n", "none");
    near((double)r.cycles, 2 * 100 + 450, 0.04, 0, "a barrier waits for 100 instructions of the other");
    r = replay(world, HEADER "0,0,a,load,0,,,\n0,0,,bar,,,,\n0,1,,bar,,,,\n0,1,,bar,,,,\n0,0,,exit,,,,\n",
               "none");
    is_int((long long)r.loads, 1, "a barrier that the other warp never meets ends with it");
}
enum { HAND_TESTS = 11 };

/* A loop over lines at a stride, enough compute for a prefetch to be on time. */
static void test_stride(const struct prefetch_world *world)
{
    enum { TIMES = 200 };
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    if (file == NULL)
        bail("out of memory");
    (void)fputs("warp,pc,op,address,compute\n", file);
    for (uint64_t i = 0; i < TIMES; i++)
        (void)fprintf(file, "0,here,load,%#llx+4*8,250\n", (unsigned long long)(0x100000 + i * 256));
    (void)fclose(file);
    const struct prefetch_result none = replay(world, text, "none"), r = replay(world, text, "stride"),
                                 known = replay(world, text, "known");
    ok(r.on_time > TIMES - 10 && r.late + r.early == 0, "a stride is learnt and on time: %llu",
       (unsigned long long)r.on_time);
    near((double)(none.cycles - r.cycles), (double)r.on_time * (450 - 33), 0.02, 0,
         "each saves memory's latency but L1's");
    ok(known.on_time >= TIMES - 3 && known.unused == 0,
       "who knows the addresses has all but the first two, and none beyond the end");
    free(text);
}
enum { STRIDE_TESTS = 3 };

/* Addresses at both ends, and as far apart as can be. */
static void test_extremes(const struct prefetch_world *world)
{
    char *text = NULL;
    size_t size, wrong = 0;
    static const char *const policies[] = { "none", "sk", "apg", "stride", "known", "sk+sc", "o-time",
                                            "o-place", "o-sc" };
    FILE *file = open_memstream(&text, &size);
    if (file == NULL)
        bail("out of memory");
    (void)fputs("warp,pc,op,address\n", file);
    for (int i = 0; i < 60; i++)
        (void)fprintf(file, "%d,p,load,%s\n%d,q,load,%s\n", 2 + i % 3,
                      i % 2 == 0 ? "0" : "0x8000000000000000", 2 - i % 3,
                      i % 2 == 0 ? "0xffffffffffffffe0+1*4" : "0x7fffffffffffffff 0x10");
    (void)fclose(file);
    for (size_t i = 0; i < COUNT(policies); i++)
        wrong += replay(world, text, policies[i]).loads != 120;
    is_int((long long)wrong, 0, "64-bit addresses at every distance run under every front end");
    free(text);
}
enum { EXTREME_TESTS = 1 };

/* ---- A kernel and its trace ---- */

static bool same_results(const struct prefetch_result *a, const struct prefetch_result *b)
{
    return a->cycles == b->cycles && a->instructions == b->instructions && a->hits == b->hits &&
           a->misses == b->misses && a->merged == b->merged && a->issued == b->issued &&
           a->on_time == b->on_time && a->late == b->late && a->early == b->early &&
           a->dropped == b->dropped && a->unused == b->unused && a->l2_reads == b->l2_reads &&
           a->dram_reads == b->dram_reads && a->candidates == b->candidates &&
           a->zero_candidates == b->zero_candidates && a->zero_issued == b->zero_issued &&
           a->to_registers == b->to_registers && !(a->load_latency < b->load_latency) &&
           !(a->load_latency > b->load_latency);
}

static struct prefetch_result run(const struct sc_prefetch *s, const struct sc_warp_trace *trace)
{
    const struct sc_prefetch_mechanisms m = sc_prefetch_mechanisms(s);
    const struct sc_sim_options options = { .check = true, .replay = trace };
    struct prefetch_result r;
    if (prefetch_engine_trace(s, &m, sc_sim_rng_make(1, 0, 0), &options, &r) != SC_OK)
        ok(false, "a run: %s", r.fault != NULL ? r.fault : "");
    return r;
}

/* Written to a file and read back, from one that has its lines in another order. */
static void test_recorded(const struct prefetch_world *world)
{
    static const char *const policies[] = { "none", "sk", "sk+sc", "apg", "stride", "known", "o-sc" };
    static const char *const kernels[] = { "stencil", "hotspot", "lud", "transpose", "backprop",
                                           "bfs-frontier" };
    for (size_t k = 0; k < COUNT(kernels); k++) {
        struct sc_prefetch s = prefetch_scenario(world, "kernel=%s", kernels[k]);
        struct sc_warp_trace *made;
        struct sc_error error;
        size_t same = 0;
        uint64_t issued = 0;
        if (prefetch_replay.record(&s, &made, &error) != SC_OK)
            bail("%s %s", error.field, error.reason);
        char *text = written(made);
        struct sc_warp_trace *back = read_fine(text);
        for (size_t i = 0; i < COUNT(policies); i++) {
            struct sc_prefetch fitted;
            s = prefetch_scenario(world, "kernel=%s policy=%s", kernels[k], policies[i]);
            if (prefetch_kernel_fit(&s, back, &fitted, &error) != SC_OK)
                bail("%s %s", error.field, error.reason);
            const struct prefetch_result loop = run(&s, NULL), trace = run(&fitted, back);
            same += same_results(&loop, &trace);
            issued += trace.issued;
        }
        ok(same == COUNT(policies) && issued > 1000, "%s: its trace gives its counts under %zu of %zu policies",
           kernels[k], same, COUNT(policies));
        sc_warp_trace_destroy(made);
        sc_warp_trace_destroy(back);
        free(text);
    }
}
enum { RECORDED_TESTS = 6 };

static void test_fit(const struct prefetch_world *world)
{
    static const struct {
        const char *keys, *text, *field;
        enum sc_status status;
    } cases[] = {
        { "warps=4", HEADER "0,4,a,load,0,,,\n", "warps", SC_EDOMAIN },
        { "warps=7", HEADER "0,4,a,load,0,,,\n", NULL, SC_OK },
        { "mshrs=16 prefetch_mshrs=8", HEADER "0,0,a,load,0+128*17,,,\n", "mshrs", SC_EDOMAIN },
        { "mshrs=17 prefetch_mshrs=8", HEADER "0,0,a,load,0+128*17,,,\n", NULL, SC_OK },
        { "compute=8", HEADER "0,0,a,load,0,,,\n", NULL, SC_OK },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sc_warp_trace *t = read_fine(cases[i].text);
        const struct sc_prefetch s = prefetch_scenario(world, "%s", cases[i].keys);
        const struct sc_sim_options options = { .seed = 1, .check = true, .replay = t };
        struct sc_prefetch_answer answer;
        struct sc_sim_report report;
        struct sc_error error = { 0 };
        const enum sc_status status =
            sc_prefetch_simulator.simulate(&s, &options, &answer, &report, &error);
        ok(status == cases[i].status && (cases[i].field == NULL || strcmp(error.field, cases[i].field) == 0),
           "%s: %s", cases[i].keys, status == SC_OK ? "runs" : error.reason);
        sc_warp_trace_destroy(t);
    }
}
enum { FIT_TESTS = 5 };

int main(void)
{
    struct prefetch_world world;
    plan(COALESCING_TESTS + FAULT_TESTS + ORDER_TESTS + HAND_TESTS + STRIDE_TESTS + EXTREME_TESTS +
         RECORDED_TESTS + FIT_TESTS);
    prefetch_world_init(&world);
    test_coalescing();
    test_faults();
    test_order();
    test_by_hand(&world);
    test_stride(&world);
    test_extremes(&world);
    test_recorded(&world);
    test_fit(&world);
    prefetch_world_fini(&world);
    return done();
}
