/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/prefetch_sim.h"

#include <math.h>

#include "sim/prefetch_engine.h"

/* The runs that one answer is made of: the policy's own, what it is compared
 * with, and each of its dimensions made perfect. */
enum run { OWN, NONE, FRONT_END, UTILITY, TIMELINESS, PLACEMENT, ORACLE, RUNS };

static struct sc_prefetch_mechanisms mechanisms_of(const struct sc_prefetch *s, enum run run)
{
    const struct sc_prefetch_mechanisms own = sc_prefetch_mechanisms(s);
    struct sc_prefetch_mechanisms m = own;
    if (run == NONE)
        return (struct sc_prefetch_mechanisms){ .front = SC_PREFETCH_NONE,
                                                .zero_cache = own.zero_cache };
    if (run == FRONT_END)
        return (struct sc_prefetch_mechanisms){ .front = own.front, .zero_cache = own.zero_cache,
                                                .throttle = own.front == SC_PREFETCH_SNAKE,
                                                .own_tuner = own.front == SC_PREFETCH_APOGEE };
    m.oracle_zero = m.oracle_zero || run == UTILITY || run == ORACLE;
    m.oracle_time = m.oracle_time || run == TIMELINESS || run == ORACLE;
    m.oracle_place = m.oracle_place || run == PLACEMENT || run == ORACLE;
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

static double over(double part, double whole)
{
    return whole > 0.0 ? part / whole : 0.0;
}

static double ipc(const struct prefetch_result *r)
{
    return (double)r->instructions / (double)r->cycles;
}

/* ---- What the counts amount to ---- */

static const char *bound_of(const struct prefetch_result *r)
{
    const struct {
        double cycles;
        const char *name;
    } parts[] = {
        { r->issue, "issue" },     { r->latency, "memory latency" }, { r->bandwidth, "bandwidth" },
        { r->barrier, "barrier" }, { r->queue, "load/store queue" },
    };
    size_t largest = 0;
    for (size_t i = 1; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].cycles > parts[largest].cycles)
            largest = i;
    return parts[largest].name;
}

/* Gains below a hundredth are not worth anything. */
static const char *worth_fixing(const struct prefetch_result runs[RUNS])
{
    static const char *const names[] = { [UTILITY] = "utility", [TIMELINESS] = "timeliness",
                                         [PLACEMENT] = "placement" };
    double best = 1.01 * ipc(&runs[OWN]);
    const char *name = "none";
    for (int i = UTILITY; i <= PLACEMENT; i++)
        if (ipc(&runs[i]) > best) {
            best = ipc(&runs[i]);
            name = names[i];
        }
    return name;
}

static void answer_prefetches(struct sc_prefetch_answer *a, const struct prefetch_result *r)
{
    const double on_time = (double)r->on_time, late = (double)r->late, early = (double)r->early;
    const double issued = (double)r->issued, consumed = on_time + late + early;
    a->on_time_share = over(on_time, consumed);
    a->early_share = over(early, consumed);
    a->late_share = over(late, consumed);
    a->coverage = over(on_time, on_time + late + (double)r->misses);
    a->accuracy = over(on_time, issued);
    a->unused_share = over((double)r->unused, issued);
    a->dropped_share = over((double)r->dropped, issued);
    const double stopped = (double)(r->zero_candidates - r->zero_issued + r->other_suppressed +
                                    r->throttled + r->refused);
    a->issued_share = over((double)r->candidates - stopped, (double)r->candidates);
    a->demand_evictions_share = over((double)r->demand_evictions, (double)r->evictions);
    a->best_distance = r->best_distance;
    a->zero_false_positive = over((double)r->other_suppressed, (double)r->other_candidates);
    a->zero_false_negative = over((double)r->zero_issued, (double)r->zero_candidates);
    const double placed = (double)(r->to_registers + r->fallbacks);
    a->register_fallback_share = over((double)r->fallbacks, placed);
    a->register_invalidation_share = over((double)r->invalidated, (double)r->register_sectors);
}

static void answer_traffic(struct sc_prefetch_answer *a, const struct prefetch_result *r,
                           const struct prefetch_result *front_end)
{
    const double instructions = (double)r->instructions;
    a->l2_bytes_per_instruction = SC_PREFETCH_SECTOR * (double)r->l2_reads / instructions;
    a->dram_bytes_per_instruction = SC_PREFETCH_SECTOR * (double)r->dram_reads / instructions;
    a->l2_traffic_change = over((double)r->l2_reads, (double)front_end->l2_reads) - 1.0;
    a->dram_traffic_change = over((double)r->dram_reads, (double)front_end->dram_reads) - 1.0;
    if (front_end->l2_reads == 0)
        a->l2_traffic_change = 0.0;
    if (front_end->dram_reads == 0)
        a->dram_traffic_change = 0.0;
}

static void answer_all(const struct sc_prefetch *s, const struct prefetch_result runs[RUNS],
                       struct sc_prefetch_answer *a)
{
    const struct prefetch_result *r = &runs[OWN];
    const double cycles = (double)r->cycles;
    *a = (struct sc_prefetch_answer){
        .slowdown = cycles / (double)runs[NONE].cycles,
        .speedup = (double)runs[NONE].cycles / cycles,
        .time_s = cycles / s->clock_hz,
        .ipc = ipc(r),
        .bound = bound_of(r),
        .worth_fixing_first = worth_fixing(runs),
        .issue_share = r->issue / cycles,
        .latency_stall_share = r->latency / cycles,
        .bandwidth_stall_share = r->bandwidth / cycles,
        .barrier_stall_share = r->barrier / cycles,
        .queue_stall_share = r->queue / cycles,
        .l1_hit_share = over((double)r->hits, (double)r->accesses),
        .load_latency_s = r->load_latency / (double)r->loads / s->clock_hz,
    };
    a->ipc_gain = a->speedup - 1.0;
    a->front_end_gain = (double)runs[FRONT_END].cycles / cycles - 1.0;
    a->front_end_speedup = a->front_end_gain + 1.0;
    a->oracle_gap = ipc(&runs[ORACLE]) / ipc(r) - 1.0;
    answer_prefetches(a, r);
    answer_traffic(a, r, &runs[FRONT_END]);
}

/* ---- The row ---- */

/* All runs draw from the same stream; only the policy's own is recorded. */
static enum sc_status run_all(const struct sc_prefetch *s, const struct sc_sim_options *options,
                              struct prefetch_result runs[RUNS], struct sc_sim_report *report)
{
    struct sc_prefetch_mechanisms m[RUNS];
    for (int i = 0; i < RUNS; i++) {
        int twin = 0;
        m[i] = mechanisms_of(s, (enum run)i);
        while (!same(&m[twin], &m[i]))
            twin++;
        if (twin < i) {
            runs[i] = runs[twin];
            continue;
        }
        struct sc_sim_options own = *options;
        if (i != OWN)
            own.record = NULL;
        const enum sc_status status = prefetch_engine_trace(
            s, &m[i], sc_sim_rng_make(options->seed, options->run, 0), &own, &runs[i]);
        report->events += runs[i].accesses + runs[i].issued;
        report->units += runs[i].instructions;
        report->little_error = fmax(report->little_error, runs[i].little_error);
        report->waiting = runs[i].fault;
        if (status != SC_OK)
            return status;
    }
    return SC_OK;
}

static enum sc_status simulate(const void *scenario, const struct sc_sim_options *options,
                               void *answer, struct sc_sim_report *report, struct sc_error *error)
{
    const struct sc_prefetch *s = scenario;
    struct prefetch_result runs[RUNS] = { 0 };
    *report = (struct sc_sim_report){ 0 };
    enum sc_status status = sc_prefetch_check(s, error);
    if (status != SC_OK)
        return status;
    status = run_all(s, options, runs, report);
    if (status != SC_OK) {
        *error = (struct sc_error){ .field = "simulation", .value = (double)NAN,
                                    .reason = report->waiting != NULL ? report->waiting
                                                                      : "ran out of memory" };
        return status;
    }
    answer_all(s, runs, answer);
    return SC_OK;
}

const struct sc_simulator sc_prefetch_simulator = {
    .system = &sc_prefetch_system,
    .unit = "instructions",
    .simulate = simulate,
};
