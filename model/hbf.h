/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `hbf`: weights of a language model in High-Bandwidth Flash.
 *
 * Every weight kernel of the model reads each of its pages once.  With HBM-like
 * latency that takes the ideal time; the flash answers L later.  The closed
 * forms say what each staging policy makes of that: Little's law for demand
 * fetches, cold start and a window that doubles every round trip for a paced
 * stream, the chance of a live hit for a stream in address order, and clogging
 * by lagging SMs for one in demand order.
 *
 * Source of the mechanisms and published figures: SlipStream (HPCA 2027,
 * arXiv 2611.14776).  The closed forms are this library's own.
 */
#ifndef SC_HBF_H
#define SC_HBF_H

#include "system.h"

/* The kernels that read weights; a model has those with pages. */
enum { SC_HBF_QKV, SC_HBF_O, SC_HBF_GATE, SC_HBF_UP, SC_HBF_DOWN, SC_HBF_EXPERTS, SC_HBF_SHARED,
       SC_HBF_LM_HEAD, SC_HBF_KERNELS };

/* Measured launch of one kernel class; NaN: follow the grid and time law. */
struct sc_hbf_launch {
    double ctas;   /* CTAs of the grid, split-K slices included */
    double time_s; /* with HBM-like latency, launch overhead included */
};

/* The scenario.  Keys, ranges and defaults: sc_hbf_system.fields. */
struct sc_hbf {
    /* model shape */
    double layers, hidden, heads, kv_heads, head_dim, ffn, ffn_matrices, vocab;
    double experts, experts_per_token, expert_ffn, shared_experts, dense_layers;
    double q_lora, kv_lora;
    double dtype_bits;
    int attention;
    /* workload */
    int phase, part, lm_head;
    double batch, prompt_tokens, tensor_parallel, routing_exponent;
    /* GPU */
    double sms, hbm_bandwidth_bytes_per_s, hbm_latency_s, peak_flops, compute_efficiency;
    double die_power_w, hbm_energy_j_per_bit;
    /* flash */
    double latency_s, hbf_bandwidth_bytes_per_s, page_bytes, hbf_energy_j_per_bit;
    double flash_channels, subarrays, read_time_s, retry_probability;
    /* staging */
    int policy, order, cold_start;
    double buffer_bytes, sshr_entries, s0_pages, lead_pages, mshr_scale;
    double stacks, buffer_node_m;
    /* structural constants */
    double launch_s, miss_pool_bytes, demand_window_bytes, sm_rate_bytes_per_s, sm_rate_wide;
    double stage_rate_per_s, launch_stagger_s;
    double window_headroom, l2_rate_share, sm_skew; /* of the simulator */
    int stale, scheduler;
    double grid_rate, grid_rate_wide, grid_efficiency, persistent_efficiency;
    /* coefficients of the closed form, fitted to the simulator; 1: the bare form */
    double miss_factor, order_factor, clog_factor, ramp_factor, block_factor;
    double lost_factor, lead_factor, refetch_factor, overrun_factor;
    /* measured launches, and the machine that they were measured on */
    struct sc_hbf_launch launch[SC_HBF_KERNELS];
    double reference_sms, reference_bandwidth_bytes_per_s;
};

/* The answer.  Columns and units: sc_hbf_system.metrics. */
struct sc_hbf_answer {
    double slowdown, performance, time_s, ideal_time_s, layer_time_s;
    const char *bound;
    double stall_free_share, access_stall_share, order_stall_share, capacity_stall_share;
    double hbf_utilisation, bandwidth_bytes_per_s;
    double in_flight_needed_bytes, in_flight_bytes, tracking_entries_per_sm;
    double discarded_share, refetched_share, load_to_use_s, useful_lifetime_s, residency_s;
    double weight_bytes;
    double buffer_area_m2, tracking_area_m2, leakage_w, dynamic_w, buffer_access_s;
    double energy_per_token_j, edp_js;
};

/* One weight kernel of the model on this GPU. */
struct sc_hbf_kernel {
    const char *name;
    double pages;        /* distinct weight pages, summed over its CTAs */
    double ctas;         /* CTAs of the grid */
    double tile_columns; /* width of an output tile: 128 or 256 */
    double multiplicity; /* launches per pass over the model */
    double ideal_s;      /* time with HBM-like latency */
    double compute_s;    /* part of it that its operations take at least; 0: not known */
    double side_ctas, side_pages; /* of them, those of narrow GEMMs that run beside the main one
                                   * and launch after it (keys and values beside queries); or 0 */
    bool persistent;     /* one CTA per SM walks all tiles */
    const char *bound;   /* what sets the ideal time */
};

/* Derives the kernels of a checked scenario, in launch order.
 * Returns how many were written (at most SC_HBF_KERNELS). */
size_t sc_hbf_kernels(const struct sc_hbf *scenario, struct sc_hbf_kernel kernels[SC_HBF_KERNELS]);

/* Distinct experts that a batch touches in one layer. */
double sc_hbf_distinct_experts(const struct sc_hbf *scenario);

extern const struct sc_system sc_hbf_system;

#endif
