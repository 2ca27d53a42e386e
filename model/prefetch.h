/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `prefetch`: a hardware prefetcher that guesses well, on one SM.
 *
 * A front end predicts addresses from strides; a back end decides whether a
 * candidate is issued (utility), when (timeliness) and where its data waits
 * (placement).  The answer says how many of the guesses became on-time data,
 * what they cost in traffic and evictions, and what that is in time.
 *
 * Blocks are 32-byte sectors.  Every issued sector ends as exactly one of
 *   on time   its data was there when demand first came,
 *   late      demand came while it was in flight; the fill counts as demand data,
 *   early     evicted before its demand, which then had to fetch it again,
 *   dropped   thrown away on arrival, or overwritten by a store before its demand,
 *   unused    the rest: nobody came, or a later prefetch served the demand.
 * accuracy = on time / issued; coverage = on time / (on time + late + demand
 * misses); the shares of timeliness are over on time + early + late.
 *
 * Source of the mechanisms and published figures: SnakeCharmer, "Orchestrating
 * Utility, Timeliness, and Placement in GPU Prefetching".  Where that leaves a
 * definition open, the one taken is said at its key in prefetch_fields.c.
 */
#ifndef SC_PREFETCH_H
#define SC_PREFETCH_H

#include "system.h"

/* The scenario.  Keys, ranges and defaults: sc_prefetch_system.fields. */
struct sc_prefetch {
    /* GPU; caches and bandwidths of the whole device but L1, which is one SM's */
    double sms, clock_hz, max_warps;
    double l1_bytes, l2_bytes, memory_bandwidth_bytes_per_s;
    double l1_data_share; /* of L1 that is left for data */
    double l1_ways, l2_ways;
    double l1_latency_cycles, l2_latency_cycles, dram_latency_cycles, dram_jitter_cycles;
    double l2_bytes_per_cycle; /* of one SM */
    double mshrs, prefetch_mshrs;
    double issue_width, issue_gap_cycles;
    int scheduler;
    /* kernel */
    double loads, arrays, sectors;
    double warp_stride_bytes, iteration_stride_bytes, load_stride_bytes;
    double compute, dependence, iterations;
    double warps, cta_warps, ctas;
    double working_set_bytes, reuse_share;
    double zero_share, zero_run, zero_purity;
    double irregular_share, footprint_bytes;
    double store_share, barriers, sharing_sms;
    double idle_register_bytes;
    /* policy */
    int policy;
    int zero_filter, tuner, placement, throttle, zero_cache; /* over the policy's own */
    double distance; /* NaN: the policy's own */
    double chain_distance, iteration_distance, warp_distance;
    double queue_entries;
    /* utility */
    double zero_limit, zero_reset_cycles, zero_cache_share, zero_lines;
    int zero_learning, zero_fill;
    /* timeliness */
    double score_threshold, start_distance, warmup_samples, window_samples, eviction_entries;
    /* placement */
    double register_entries, register_hold_cycles;
    int replacement;
    /* throttle */
    double throttle_share, throttle_cycles;
    /* coefficients of the closed form, fitted to the simulator; 1: the bare form */
    double residence_factor, residence_cv, lead_cv, late_factor, barrier_factor;
    double useless_factor, burst_factor, order_factor;
};

/* The answer.  Columns and units: sc_prefetch_system.metrics. */
struct sc_prefetch_answer {
    double slowdown, speedup, time_s, ipc, ipc_gain, front_end_gain, front_end_speedup,
        oracle_gap;
    const char *bound, *worth_fixing_first;
    double issue_share, latency_stall_share, bandwidth_stall_share, barrier_stall_share,
        queue_stall_share;
    double on_time_share, early_share, late_share;
    double coverage, accuracy;
    double issued_share, unused_share, dropped_share;
    double l1_hit_share, load_latency_s;
    double l2_bytes_per_instruction, dram_bytes_per_instruction;
    double l2_traffic_change, dram_traffic_change;
    double demand_evictions_share;
    double best_distance;
    double zero_false_positive, zero_false_negative;
    double register_fallback_share, register_invalidation_share;
};

extern const struct sc_system sc_prefetch_system;

#endif
