/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/prefetch_sim.h"

#include <math.h>

#include "sim/prefetch_engine.h"
#include "sim/prefetch_kernel.h"

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
static const char *worth_fixing(const struct prefetch_result runs[SC_PREFETCH_RUNS])
{
    static const char *const names[] = { [SC_PREFETCH_RUN_UTILITY] = "utility",
                                         [SC_PREFETCH_RUN_TIMELINESS] = "timeliness",
                                         [SC_PREFETCH_RUN_PLACEMENT] = "placement" };
    double best = 1.01 * ipc(&runs[SC_PREFETCH_RUN_OWN]);
    const char *name = "none";
    for (int i = SC_PREFETCH_RUN_UTILITY; i <= SC_PREFETCH_RUN_PLACEMENT; i++)
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

static void answer_all(const struct sc_prefetch *s, const struct prefetch_result runs[SC_PREFETCH_RUNS],
                       struct sc_prefetch_answer *a)
{
    const struct prefetch_result *r = &runs[SC_PREFETCH_RUN_OWN];
    const double cycles = (double)r->cycles;
    *a = (struct sc_prefetch_answer){
        .slowdown = cycles / (double)runs[SC_PREFETCH_RUN_NONE].cycles,
        .speedup = (double)runs[SC_PREFETCH_RUN_NONE].cycles / cycles,
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
    a->front_end_gain = (double)runs[SC_PREFETCH_RUN_FRONT_END].cycles / cycles - 1.0;
    a->front_end_speedup = a->front_end_gain + 1.0;
    a->oracle_gap = ipc(&runs[SC_PREFETCH_RUN_ORACLE]) / ipc(r) - 1.0;
    answer_prefetches(a, r);
    answer_traffic(a, r, &runs[SC_PREFETCH_RUN_FRONT_END]);
}

/* ---- The row ---- */

/* All runs draw from the same stream; only the policy's own is recorded. */
static enum sc_status run_all(const struct sc_prefetch *s, const struct sc_sim_options *options,
                              struct prefetch_result runs[SC_PREFETCH_RUNS], struct sc_sim_report *report)
{
    struct sc_prefetch_mechanisms m[SC_PREFETCH_RUNS];
    for (int i = 0; i < SC_PREFETCH_RUNS; i++) {
        const int twin = sc_prefetch_run(s, i, m);
        if (twin < i) {
            runs[i] = runs[twin];
            continue;
        }
        struct sc_sim_options own = *options;
        if (i != SC_PREFETCH_RUN_OWN)
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
    struct sc_prefetch fitted;
    struct prefetch_result runs[SC_PREFETCH_RUNS] = { 0 };
    *report = (struct sc_sim_report){ 0 };
    enum sc_status status = options->replay == NULL
                                ? sc_prefetch_check(s, error)
                                : prefetch_kernel_fit(s, options->replay, &fitted, error);
    if (status != SC_OK)
        return status;
    s = options->replay == NULL ? s : &fitted;
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
    .replay = &prefetch_replay,
};
