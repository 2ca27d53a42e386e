/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `serve`: a language model served by many GPUs.
 *
 * Memory is counted: weights, KV cache and activations of the fullest GPU, and
 * from what is left the largest batch.  A decode step is a sum of parts that do
 * not overlap: the weight kernels, as `hbf` has them for one GPU's shard (from
 * HBM, from HBF under a staging policy, or from host memory over a link), reads
 * of the KV cache, exchanges between GPUs.  Of the layouts that the keys leave
 * open, the one with the highest throughput is taken.
 *
 * Published figures: SlipStream (HPCA 2027, arXiv 2611.14776), section VII-C.
 * The closed forms are this library's own.  Nothing simulates this system.
 */
#ifndef SC_SERVE_H
#define SC_SERVE_H

#include "hbf.h"

/* The scenario.  Keys, ranges and defaults: sc_serve_system.fields. */
struct sc_serve {
    struct sc_hbf shard; /* model, GPU, flash and staging; its workload is set from what follows */
    /* model, as far as only memory and attention go by it */
    double tied_embeddings, sliding_window, sliding_layers;
    double kv_bits, activation_bits;
    /* layout; NaN: open */
    double gpus, tensor_parallel, pipeline_stages;
    /* load */
    double batch, prompt_tokens, generated_tokens, prefill_chunk, tpot_limit_s;
    /* memory */
    int weights_in, prefill;
    double hbm_capacity_bytes, usable_share, hbf_capacity_bytes;
    /* links and fixed costs */
    double link_bandwidth_bytes_per_s, host_rate_bytes_per_s;
    double gpu_link_bytes_per_s, collective_latency_s, step_overhead_s;
    /* energy and money */
    double host_energy_j_per_bit, gpu_hour_price;
};

/* The answer.  Columns and units: sc_serve_system.metrics.  What depends on a batch is NaN
 * when none fits. */
struct sc_serve_answer {
    double slowdown, fits;
    const char *bound;
    double layout_tp, layout_pp, replicas, idle_gpus, batch_size, max_batch, sequences, least_gpus;
    double time_s, tpot_s, ttft_s, tokens_per_s, gpu_tokens_per_s;
    double weights_share, staging_share, attention_share, exchange_share, prompt_share,
        overhead_share;
    double weight_bytes, token_kv_bytes, kv_bytes, activation_bytes, hbm_bytes, far_bytes;
    double energy_per_token_j, edp_js, power_w, tokens_per_joule, cost_per_million;
};

extern const struct sc_system sc_serve_system;

#endif
