/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "prefetch_workload.h"

#include <math.h>

static enum sc_status refuse(struct sc_error *error, const char *field, double value,
                             const char *reason)
{
    if (error != NULL)
        *error = (struct sc_error){ .field = field, .value = value, .reason = reason };
    return SC_EDOMAIN;
}

/* What all SMs may put in flight and into their caches is bounded by the tables
 * of the simulator, whose work is bounded by these instructions. */
static const double instructions_max = 1e8;

/* The key to blame is the largest of the factors. */
static enum sc_status check_instructions(const struct sc_prefetch *s, struct sc_error *error)
{
    const struct {
        const char *field;
        double value, factor;
    } factors[] = { { "iterations", s->iterations, s->iterations },
                    { "ctas", s->ctas, s->ctas },
                    { "cta_warps", s->cta_warps, s->cta_warps },
                    { "loads", s->loads, s->loads },
                    { "compute", s->compute, 2.0 + s->compute } };
    size_t largest = 0;
    double instructions = 1.0;
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++) {
        instructions *= factors[i].factor;
        largest = factors[i].factor > factors[largest].factor ? i : largest;
    }
    return instructions <= instructions_max
               ? SC_OK
               : refuse(error, factors[largest].field, factors[largest].value,
                        "makes more than 1e8 instructions");
}

enum sc_status sc_prefetch_check(const struct sc_prefetch *s, struct sc_error *error)
{
    const enum sc_status status = sc_scenario_check(&sc_prefetch_system, s, error);
    if (status != SC_OK)
        return status;
    if (s->cta_warps > s->warps)
        return refuse(error, "cta_warps", s->cta_warps, "is more than warps");
    if (fmod(s->warps, s->cta_warps) != 0.0)
        return refuse(error, "warps", s->warps, "is not a multiple of cta_warps");
    if (s->warps > s->max_warps)
        return refuse(error, "warps", s->warps, "is more than max_warps");
    if (s->arrays > s->loads)
        return refuse(error, "arrays", s->arrays, "is more than loads");
    if (s->prefetch_mshrs > s->mshrs)
        return refuse(error, "prefetch_mshrs", s->prefetch_mshrs, "is more than mshrs");
    if (s->dram_latency_cycles < s->l2_latency_cycles)
        return refuse(error, "dram_latency", s->dram_latency_cycles, "is below l2_latency");
    if (s->l2_latency_cycles < s->l1_latency_cycles)
        return refuse(error, "l2_latency", s->l2_latency_cycles, "is below l1_latency");
    if (s->l1_bytes * s->l1_data_share < 8 * SC_PREFETCH_LINE)
        return refuse(error, "l1_data_share", s->l1_data_share, "leaves fewer than 8 lines of L1");
    return check_instructions(s, error);
}

double sc_prefetch_reach(const struct sc_prefetch *s, enum sc_prefetch_pattern pattern)
{
    const double most[SC_PREFETCH_PATTERNS] = {
        [SC_PREFETCH_CHAIN] = s->chain_distance,
        [SC_PREFETCH_ITERATION] = s->iteration_distance,
        [SC_PREFETCH_WARP] = s->warp_distance,
    };
    return isnan(s->distance) ? most[pattern] : fmin(most[pattern], s->distance);
}

struct sc_prefetch_machine sc_prefetch_machine(const struct sc_prefetch *s,
                                               const struct sc_prefetch_mechanisms *mechanisms)
{
    const double l1 = floor(s->l1_bytes * s->l1_data_share / SC_PREFETCH_LINE);
    const double l2 = floor(fmax(s->l2_bytes / s->sms / SC_PREFETCH_LINE, 8.0));
    const double share = mechanisms->zero_cache ? s->zero_cache_share : 0.0;
    const struct sc_prefetch_machine m = {
        .l1_lines = l1 - floor(l1 * share),
        .l1_zero_lines = floor(l1 * share),
        .l2_lines = l2 - floor(l2 * share),
        .l2_zero_lines = floor(l2 * share),
        .dram_bytes_per_cycle = s->memory_bandwidth_bytes_per_s / s->sms / s->clock_hz,
        .register_entries = !mechanisms->registers ? 0.0 :
            fmin(s->register_entries, floor(s->idle_register_bytes / SC_PREFETCH_LINE)),
    };
    return m;
}

/* ---- The kernel ---- */

/* The finaliser of splitmix64 (Steele, Lea & Flood, OOPSLA 2014). */
uint64_t sc_prefetch_hash(uint64_t value)
{
    uint64_t z = value + 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

/* How much of item i out of `items` falls to a share that fills them from the first. */
static double filled(double share, double items, double i)
{
    return fmax(0.0, fmin(1.0, share * items - i));
}

static unsigned barrier_period(double barriers)
{
    return barriers > 0.0 ? (unsigned)fmax(1.0, floor(1.0 / barriers + 0.5)) : 0;
}

struct sc_prefetch_body sc_prefetch_body(const struct sc_prefetch *s)
{
    struct sc_prefetch_body b = {
        .loads = (unsigned)s->loads,
        .sectors = (unsigned)s->sectors,
        .compute = (unsigned)floor(s->compute + 0.5),
        .stores = (unsigned)floor(s->store_share * s->loads + 0.5),
        .iterations = (unsigned)s->iterations,
        .warps = (unsigned)s->warps,
        .cta_warps = (unsigned)s->cta_warps,
        .ctas = (unsigned)s->ctas,
        .barrier_period = barrier_period(s->barriers),
        .footprint = (uint64_t)s->footprint_bytes / SC_PREFETCH_SECTOR * SC_PREFETCH_SECTOR,
        .sms = (uint64_t)s->sms,
        .sharing = (uint64_t)s->sharing_sms,
        .zero_run_bytes = (uint64_t)s->zero_run * SC_PREFETCH_SECTOR,
    };
    const unsigned arrays = (unsigned)s->arrays, per_array = (b.loads + arrays - 1) / arrays;
    b.instructions = b.loads * (1 + b.compute) + b.stores;
    for (unsigned j = 0; j < b.loads; j++) {
        struct sc_prefetch_load *l = &b.load[j];
        l->array = j / per_array;
        /* Off zero by as much as lets strides go backwards. */
        l->base = ((uint64_t)l->array << 36) + (UINT64_C(1) << 35) +
                  (uint64_t)(int64_t)((double)(j % per_array) * s->load_stride_bytes);
        l->warp_stride = (int64_t)s->warp_stride_bytes;
        l->iteration_stride = (int64_t)s->iteration_stride_bytes;
        /* Reused arrays are the first, irregular loads the last of the body. */
        if (filled(s->reuse_share, s->loads, j) >= 0.5)
            l->working_set = (uint64_t)s->working_set_bytes;
        l->irregular = filled(s->irregular_share, s->loads, (double)(b.loads - 1 - j));
        l->stored = j < b.stores;
    }
    /* Zeros fill the first arrays, which are the regular ones. */
    for (unsigned a = 0; a < arrays; a++)
        b.zero[a] = s->zero_purity * filled(s->zero_share, arrays, (double)a) +
                    (1.0 - s->zero_purity) * s->zero_share;
    return b;
}

uint64_t sc_prefetch_warp(const struct sc_prefetch_body *b, unsigned cta, unsigned warp)
{
    /* CTAs go round the SMs; this is the SM that gets the first. */
    return (uint64_t)cta * b->sms * b->cta_warps + warp;
}

uint64_t sc_prefetch_address(const struct sc_prefetch_body *b, unsigned load, uint64_t warp,
                             unsigned iteration)
{
    const struct sc_prefetch_load *l = &b->load[load];
    if (l->irregular > 0.0) {
        const uint64_t dice = sc_prefetch_hash((warp << 24 ^ iteration) * 16 + load);
        if ((double)(dice >> 11) * 0x1p-53 < l->irregular) {
            const uint64_t sectors = b->footprint / SC_PREFETCH_SECTOR;
            return l->base + sc_prefetch_hash(dice) % sectors * SC_PREFETCH_SECTOR;
        }
    }
    int64_t offset = (int64_t)warp * l->warp_stride + (int64_t)iteration * l->iteration_stride;
    if (l->working_set != 0) {
        offset %= (int64_t)l->working_set;
        if (offset < 0)
            offset += (int64_t)l->working_set;
    }
    return (l->base + (uint64_t)offset) & ~(uint64_t)(SC_PREFETCH_SECTOR - 1);
}

bool sc_prefetch_is_zero(const struct sc_prefetch_body *b, uint64_t sector)
{
    const uint64_t address = sector * SC_PREFETCH_SECTOR;
    const uint64_t array = address >> 36;
    if (array >= SC_PREFETCH_LOADS_MAX || b->zero[array] <= 0.0)
        return false;
    const uint64_t run = sc_prefetch_hash(address / b->zero_run_bytes ^ 0x5a0000000000U);
    return (double)(run >> 11) * 0x1p-53 < b->zero[array];
}

/* ---- Runs ---- */

static struct sc_prefetch_mechanisms mechanisms_of(const struct sc_prefetch *s, int run)
{
    const struct sc_prefetch_mechanisms own = sc_prefetch_mechanisms(s);
    const bool oracle = run == SC_PREFETCH_RUN_ORACLE;
    struct sc_prefetch_mechanisms m = own;
    if (run == SC_PREFETCH_RUN_NONE)
        return (struct sc_prefetch_mechanisms){ .front = SC_PREFETCH_NONE,
                                                .zero_cache = own.zero_cache };
    if (run == SC_PREFETCH_RUN_FRONT_END)
        return (struct sc_prefetch_mechanisms){ .front = own.front,
                                                .zero_cache = own.zero_cache,
                                                .throttle = own.front == SC_PREFETCH_SNAKE,
                                                .own_tuner = own.front == SC_PREFETCH_APOGEE };
    m.oracle_zero = m.oracle_zero || run == SC_PREFETCH_RUN_UTILITY || oracle;
    m.oracle_time = m.oracle_time || run == SC_PREFETCH_RUN_TIMELINESS || oracle;
    m.oracle_place = m.oracle_place || run == SC_PREFETCH_RUN_PLACEMENT || oracle;
    /* The tuner's gate would keep from the oracle what it is to schedule. */
    m.tuner = m.tuner && !m.oracle_time;
    m.throttle = m.throttle && !m.oracle_place;
    return m;
}

static bool same(const struct sc_prefetch_mechanisms *a, const struct sc_prefetch_mechanisms *b)
{
    return a->front == b->front && a->zero_filter == b->zero_filter && a->tuner == b->tuner &&
           a->registers == b->registers && a->own_tuner == b->own_tuner &&
           a->throttle == b->throttle && a->zero_cache == b->zero_cache &&
           a->oracle_zero == b->oracle_zero && a->oracle_time == b->oracle_time &&
           a->oracle_place == b->oracle_place && a->oracle_l1 == b->oracle_l1;
}

int sc_prefetch_run(const struct sc_prefetch *scenario, int run,
                    struct sc_prefetch_mechanisms runs[SC_PREFETCH_RUNS])
{
    int twin = 0;
    runs[run] = mechanisms_of(scenario, run);
    while (!same(&runs[twin], &runs[run]))
        twin++;
    return twin;
}
