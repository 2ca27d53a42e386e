/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The time of a pass: weight kernels, attention, exchanges between GPUs. */
#include <math.h>
#include <string.h>

#include "serve_private.h"

/* Of a link's nominal bandwidth, what reads of host memory reach: headers of 128-byte packets
 * and flow control of PCIe. */
static const double host_link_share = 0.8;

static int ideal_policy(void)
{
    int i = 0;
    while (!sc_hbf_policies[i].mechanisms.is_ideal)
        i++;
    return i;
}

struct sc_hbf sc_serve_shard(const struct sc_serve *s, double tp, int phase, double tokens)
{
    struct sc_hbf shard = s->shard;
    shard.tensor_parallel = tp;
    shard.phase = phase;
    shard.part = SC_HBF_PART_ALL;
    shard.lm_head = SC_HBF_YES;
    shard.batch = shard.prompt_tokens = tokens;
    shard.reference_sms = shard.reference_bandwidth_bytes_per_s = (double)NAN;
    for (size_t i = 0; i < SC_HBF_KERNELS; i++)
        shard.launch[i] = (struct sc_hbf_launch){ (double)NAN, (double)NAN };
    if (s->weights_in != SC_SERVE_HBF) {
        /* HBM is a flash as fast as itself, without its latency. */
        shard.policy = ideal_policy();
        shard.hbf_bandwidth_bytes_per_s = shard.hbm_bandwidth_bytes_per_s;
        shard.latency_s = shard.hbm_latency_s;
        shard.read_time_s = shard.retry_probability = 0.0;
    }
    return shard;
}

static double host_rate(const struct sc_serve *s)
{
    return isnan(s->host_rate_bytes_per_s) ? host_link_share * s->link_bandwidth_bytes_per_s
                                           : s->host_rate_bytes_per_s;
}

static double gpu_link_rate(const struct sc_serve *s)
{
    return isnan(s->gpu_link_bytes_per_s) ? s->link_bandwidth_bytes_per_s : s->gpu_link_bytes_per_s;
}

/* Time over the link to the host for `bytes`, or of the kernels that read them. */
static double read_time(const struct sc_serve *s, double kernels_s, double bytes)
{
    return s->weights_in == SC_SERVE_HOST ? larger(kernels_s, bytes / host_rate(s)) : kernels_s;
}

/* Layers and head apart: over the link one may wait for it, the other for operations. */
static enum sc_status split_weights(const struct sc_serve *s, struct sc_hbf shard,
                                    const struct sc_hbf_answer *all, double *layers_s,
                                    double *head_s, struct sc_error *error)
{
    struct sc_hbf_answer layers;
    shard.lm_head = SC_HBF_NO;
    const enum sc_status status = sc_hbf_estimate(&shard, &layers, NULL, error);
    if (status != SC_OK)
        return status;
    *layers_s = read_time(s, layers.time_s, layers.weight_bytes);
    *head_s = read_time(s, larger(0.0, all->time_s - layers.time_s),
                        all->weight_bytes - layers.weight_bytes);
    return SC_OK;
}

/* The weight kernels of all stages, one after the other. */
static enum sc_status add_weights(const struct sc_serve *s, const struct serve_layout *layout,
                                  int phase, double tokens, struct serve_step *step,
                                  struct sc_trace *trace, struct sc_error *error)
{
    const struct sc_hbf shard = sc_serve_shard(s, layout->tp, phase, tokens);
    struct sc_hbf_answer a;
    enum sc_status status =
        sc_hbf_estimate(&shard, &a, s->weights_in == SC_SERVE_HBF ? trace : NULL, error);
    if (status != SC_OK)
        return status;
    double time_s = a.time_s;
    if (layout->pp > 1.0 || s->weights_in == SC_SERVE_HOST) {
        double layers_s = 0.0;
        status = split_weights(s, shard, &a, &layers_s, &step->head_s, error);
        time_s = layers_s + step->head_s;
    }
    step->bound = strcmp(a.bound, "compute") == 0 ? "compute" : "weight reads";
    if (s->weights_in == SC_SERVE_HOST && a.weight_bytes / host_rate(s) > a.time_s) {
        step->bound = "host link";
    } else if (s->weights_in == SC_SERVE_HBF) {
        step->buffer_w = a.leakage_w + a.dynamic_w;
        if (time_s - a.ideal_time_s > a.ideal_time_s)
            step->bound = a.bound;
    }
    step->ideal_s = a.ideal_time_s;
    step->weights_s = smaller(time_s, a.ideal_time_s);
    step->staging_s = time_s - step->weights_s;
    step->weight_bytes = a.weight_bytes;
    return status;
}

/* Operations of attention per layer and GPU: each of `queries` tokens meets `keys` of them. */
static double attention_flops(const struct sc_serve *s, double tp, int phase, double queries,
                              double keys)
{
    const struct sc_hbf *m = &s->shard;
    double width = 2.0 * sc_hbf_head_dim(m);
    if (m->attention == SC_HBF_MLA)
        /* A decode step works on the compressed keys and values themselves. */
        width = (phase == SC_HBF_DECODE ? 2.0 * m->kv_lora : width) + SC_HBF_MLA_ROPE_DIM;
    return 2.0 * round_up(m->heads / tp) * width * queries * keys;
}

/* An attention kernel per layer reads at the rate of a balanced weight kernel, or computes. */
static void add_attention(const struct sc_serve *s, double kv_bytes, double flops,
                          struct serve_step *step)
{
    const struct sc_hbf *m = &s->shard;
    const double read_s = kv_bytes / (m->grid_efficiency * m->hbm_bandwidth_bytes_per_s);
    const double compute_s = isnan(m->peak_flops) ? 0.0
                                                  : m->layers * flops /
                                                        (m->peak_flops * m->compute_efficiency);
    const double launch_s = m->layers * (m->launch_s + m->hbm_latency_s);
    step->kv_bytes = kv_bytes;
    step->attention_s = launch_s + larger(read_s, compute_s);
    if (step->attention_s > step->weights_s + step->staging_s)
        step->bound = compute_s > read_s ? "compute" : "KV cache reads";
}

/* Two all-reduces per layer (a ring moves 2 (tp - 1) / tp of the rows), and rows handed on from
 * stage to stage. */
static void add_exchange(const struct sc_serve *s, const struct serve_layout *layout, double tokens,
                         struct serve_step *step)
{
    const double rows_s = tokens * s->shard.hidden * s->activation_bits / 8.0 / gpu_link_rate(s);
    const double tp = layout->tp, hops = layout->pp - 1.0;
    if (tp > 1.0)
        step->exchange_s += 2.0 * s->shard.layers *
                            (s->collective_latency_s + 2.0 * (tp - 1.0) / tp * rows_s);
    step->exchange_s += hops * (s->collective_latency_s + rows_s);
    if (step->exchange_s > larger(step->weights_s + step->staging_s, step->attention_s))
        step->bound = "GPU links";
}

static void close_step(const struct sc_serve *s, struct serve_step *step)
{
    step->overhead_s = s->step_overhead_s;
    const double rest_s = step->attention_s + step->exchange_s + step->overhead_s;
    step->total_s = step->weights_s + step->staging_s + step->prompts_s + rest_s;
    step->ideal_s += rest_s;
    if (step->overhead_s > 0.5 * step->total_s)
        step->bound = "step overhead";
    else if (step->prompts_s > 0.5 * step->total_s)
        step->bound = "prompts";
}

/* Of the time of a pass, what the slowest stage takes: layers are dealt out evenly, the last
 * stage, which has none more than others, has the head too. */
static double slowest_stage_share(const struct sc_serve *s, const struct serve_layout *layout,
                                  const struct serve_step *step)
{
    const double layers = s->shard.layers;
    const double pass_s =
        step->weights_s + step->staging_s + step->attention_s + step->exchange_s;
    const double layer_s = (pass_s - step->head_s) / layers;
    return layout->pp > 1.0
               ? larger(sc_serve_stage_layers(s, layout->pp) * layer_s,
                        round_down(layers / layout->pp) * layer_s + step->head_s) /
                     pass_s
               : 1.0;
}

/* With `busy` stages at work at once, all wait for the slowest. */
static void keep_pace(double busy, struct serve_step *step)
{
    const double wait = larger(1.0, busy * step->stage_share);
    double *const times[] = { &step->weights_s, &step->staging_s, &step->attention_s,
                              &step->exchange_s, &step->ideal_s };
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        *times[i] *= wait;
}

/* In `generated_tokens` steps every sequence is followed by another, whose prompt passes all
 * stages; other stages go on meanwhile. */
static void add_prompts(const struct sc_serve *s, const struct serve_layout *layout, double batch,
                        const struct serve_step *prefill, struct serve_step *step)
{
    const double prompts = batch / s->generated_tokens; /* per step */
    step->prompts_s = prompts * prefill->stage_share * prefill->total_s;
    step->ideal_s += prompts * prefill->stage_share * prefill->ideal_s;
    step->weight_bytes += prompts / layout->pp * prefill->weight_bytes;
    step->kv_bytes += prompts / layout->pp * prefill->kv_bytes;
}

static void trace_step(const struct serve_step *step, double micro, double busy, double context,
                       struct sc_trace *trace)
{
    sc_trace_section(trace, "decode step");
    sc_trace_add(trace, "b", "ceil(batch / pp)", micro, SC_NUMBER,
                 "sequences that a stage has at a time");
    sc_trace_add(trace, "c", "prompt + generated / 2", context, SC_NUMBER,
                 "tokens of a sequence, on average");
    sc_trace_add(trace, "s", "max(1, min(batch, pp) share)",
                 larger(1.0, busy * step->stage_share), SC_NUMBER,
                 "wait for the stage with the largest share of a pass");
    sc_trace_add(trace, "T_w", "s x ideal time of hbf, tp, batch b", step->weights_s, SC_SECONDS,
                 "weight kernels with HBM-like latency");
    sc_trace_add(trace, "T_stage", "s x time of hbf, or of the host link, - T_w", step->staging_s,
                 SC_SECONDS, "what weights further away cost on top");
    sc_trace_add(trace, "T_kv", "s x (layers launch + max(KV bytes / (grid_efficiency HBM bandwidth), FLOP / rate))",
                 step->attention_s, SC_SECONDS, "attention over the KV cache");
    sc_trace_add(trace, "T_x", "s x (2 layers (t + 2 (tp - 1) / tp rows / link) + (pp - 1) (t + rows / link))",
                 step->exchange_s, SC_SECONDS, "exchanges between GPUs");
    sc_trace_add(trace, "T_p", "batch / generated x prompt in the slowest stage, with prefill=here", step->prompts_s,
                 SC_SECONDS, "prompts of the sequences that follow");
    sc_trace_add(trace, "TPOT", "T_w + T_stage + T_kv + T_x + T_p + step_overhead", step->total_s,
                 SC_SECONDS, "a token for every sequence");
}

enum sc_status sc_serve_decode(const struct sc_serve *s, const struct serve_layout *layout,
                               double batch, const struct serve_step *prefill,
                               struct serve_step *step, struct sc_trace *trace,
                               struct sc_error *error)
{
    /* Stages work on different parts of the batch at once; a token passes them all. */
    const double micro = round_up(batch / layout->pp);
    const double context = s->prompt_tokens + s->generated_tokens / 2.0;
    *step = (struct serve_step){ 0 };
    const enum sc_status status =
        add_weights(s, layout, SC_HBF_DECODE, micro, step, trace, error);
    if (status != SC_OK)
        return status;
    const double keys = sc_serve_kept_tokens(s, context);
    const double kv_bytes = micro * keys * s->shard.layers * sc_serve_kv_entry_bytes(s, layout->tp);
    add_attention(s, kv_bytes, attention_flops(s, layout->tp, SC_HBF_DECODE, micro, keys), step);
    add_exchange(s, layout, micro, step);
    const double busy = smaller(batch, layout->pp);
    step->stage_share = slowest_stage_share(s, layout, step);
    keep_pace(busy, step);
    step->weight_bytes *= busy / layout->pp;
    step->kv_bytes *= batch / (micro * layout->pp);
    if (s->prefill == SC_SERVE_HERE)
        add_prompts(s, layout, batch, prefill, step);
    close_step(s, step);
    trace_step(step, micro, busy, context, trace);
    return SC_OK;
}

enum sc_status sc_serve_prefill(const struct sc_serve *s, const struct serve_layout *layout,
                                struct serve_step *step, struct sc_error *error)
{
    const double passes = round_up(s->prompt_tokens / s->prefill_chunk);
    const double tokens = round_up(s->prompt_tokens / passes);
    struct serve_step one = { 0 };
    const enum sc_status status =
        add_weights(s, layout, SC_HBF_PREFILL, tokens, &one, NULL, error);
    if (status != SC_OK)
        return status;
    const double keys = sc_serve_mean_kept_tokens(s, s->prompt_tokens);
    const double kv_bytes = keys * s->shard.layers * sc_serve_kv_entry_bytes(s, layout->tp);
    add_attention(s, kv_bytes, attention_flops(s, layout->tp, SC_HBF_PREFILL, tokens, keys), &one);
    add_exchange(s, layout, tokens, &one);
    close_step(s, &one);
    *step = one;
    step->total_s = passes * one.total_s;
    step->stage_share = slowest_stage_share(s, layout, &one);
    step->latency_s = one.total_s * (1.0 + (passes - 1.0) * step->stage_share);
    step->ideal_s = passes * one.ideal_s;
    step->weight_bytes = passes * one.weight_bytes;
    step->kv_bytes = passes * one.kv_bytes;
    return SC_OK;
}
