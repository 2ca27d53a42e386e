/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer of `serve`: the best of the layouts that are left open. */
#include "serve.h"

#include <math.h>

#include "serve_private.h"

static enum sc_status refuse(struct sc_error *error, const char *field, double value,
                             const char *reason)
{
    if (error != NULL)
        *error = (struct sc_error){ .field = field, .value = value, .reason = reason };
    return SC_EDOMAIN;
}

static bool divides(double part, double whole)
{
    return round_down(whole / part) * part == whole;
}

static enum sc_status check(const struct sc_serve *s, struct sc_error *error)
{
    const enum sc_status status = sc_scenario_check(&sc_serve_system, s, error);
    const double tp = isnan(s->tensor_parallel) ? 1.0 : s->tensor_parallel;
    const double pp = isnan(s->pipeline_stages) ? 1.0 : s->pipeline_stages;
    if (status != SC_OK)
        return status;
    if (tp > s->shard.heads)
        return refuse(error, "tensor_parallel", tp, "is more than heads");
    if (pp > s->shard.layers)
        return refuse(error, "pipeline_stages", pp, "is more than layers");
    if (tp > s->gpus)
        return refuse(error, "tensor_parallel", tp, "is more than gpus");
    if (tp * pp > s->gpus)
        return refuse(error, "pipeline_stages", pp, "is more than gpus / tensor_parallel");
    if (s->sliding_layers > s->shard.layers)
        return refuse(error, "sliding_layers", s->sliding_layers, "is more than layers");
    /* What is wrong with a shard on one GPU is wrong with it on all. */
    const struct sc_hbf whole = sc_serve_shard(s, 1.0, SC_HBF_DECODE, 1.0);
    return sc_hbf_check(&whole, error);
}

/* What is made of one layout. */
struct candidate {
    struct serve_layout layout;
    struct serve_memory memory;
    struct serve_step prefill, step; /* the latter only if it fits */
    double max_batch;       /* within memory and the limit on TPOT */
    double batch;           /* in use; 0: does not fit */
    double tokens_per_s;    /* of all replicas */
    const char *bound;      /* of a layout that does not fit: why */
};

/* The largest batch that fits and keeps to the limit on TPOT.  A larger batch is never
 * faster, so it is bracketed; 0 if a single sequence is too slow. */
static enum sc_status limit_batch(const struct sc_serve *s, struct candidate *c,
                                  struct sc_error *error)
{
    struct serve_step step;
    double low = 0.0, high = c->memory.max_batch + 1.0;
    if (isnan(s->tpot_limit_s)) {
        c->max_batch = c->memory.max_batch;
        return SC_OK;
    }
    for (double next = c->memory.max_batch; low + 1.0 < high;
         next = round_down(0.5 * (low + high))) {
        const enum sc_status status =
            sc_serve_decode(s, &c->layout, next, &c->prefill, &step, NULL, error);
        if (status != SC_OK)
            return status;
        *(step.total_s <= s->tpot_limit_s ? &low : &high) = next;
    }
    c->max_batch = low;
    return SC_OK;
}

/* GPUs that make up no whole replica stay idle. */
static double replicas_of(const struct sc_serve *s, const struct serve_layout *layout)
{
    return round_down(s->gpus / (layout->tp * layout->pp));
}

static enum sc_status try_layout(const struct sc_serve *s, struct serve_layout layout,
                                 struct candidate *c, struct sc_error *error)
{
    *c = (struct candidate){ .layout = layout, .memory = sc_serve_memory(s, &layout) };
    c->bound = c->memory.bound;
    if (!(c->memory.max_batch > 0.0))
        return SC_OK;
    enum sc_status status = sc_serve_prefill(s, &layout, &c->prefill, error);
    if (status == SC_OK)
        status = limit_batch(s, c, error);
    if (status != SC_OK)
        return status;
    const double wanted = isnan(s->batch) ? c->max_batch : s->batch;
    if (!(wanted > 0.0 && wanted <= c->max_batch)) {
        if (c->max_batch < c->memory.max_batch && !(wanted > c->memory.max_batch))
            c->bound = "TPOT limit";
        return SC_OK;
    }
    status = sc_serve_decode(s, &layout, wanted, &c->prefill, &c->step, NULL, error);
    c->batch = wanted;
    c->tokens_per_s = replicas_of(s, &layout) * wanted / c->step.total_s;
    return status;
}

/* Whether `a` is to be preferred to `b`. */
static bool is_better(const struct candidate *a, const struct candidate *b)
{
    if (a->batch > 0.0 || b->batch > 0.0)
        return a->tokens_per_s > b->tokens_per_s;
    if (a->max_batch > b->max_batch || a->max_batch < b->max_batch)
        return a->max_batch > b->max_batch;
    if (a->memory.max_batch > b->memory.max_batch || a->memory.max_batch < b->memory.max_batch)
        return a->memory.max_batch > b->memory.max_batch;
    return a->memory.weights < b->memory.weights;
}

/* Whether tp GPUs may share a layer: as given, else evenly, as serving engines ask for. */
static bool allows_tp(const struct sc_serve *s, double tp)
{
    return isnan(s->tensor_parallel) ? divides(tp, s->shard.heads)
                                     : !(tp < s->tensor_parallel || tp > s->tensor_parallel);
}

/* Whether there may be pp stages: as given, else with fewer layers in the fullest than any
 * smaller number of stages has; more GPUs that relieve no other are of no use. */
static bool allows_pp(const struct sc_serve *s, double pp)
{
    if (!isnan(s->pipeline_stages))
        return !(pp < s->pipeline_stages || pp > s->pipeline_stages);
    return pp < 2.0 ||
           sc_serve_stage_layers(s, pp) < sc_serve_stage_layers(s, pp - 1.0);
}

/* The most stages that `gpus` GPUs could make up. */
static double most_stages(const struct sc_serve *s, double gpus, double tp)
{
    return smaller(round_down(gpus / tp), s->shard.layers);
}

static enum sc_status choose_layout(const struct sc_serve *s, struct candidate *best,
                                    struct sc_error *error)
{
    bool any = false;
    for (double tp = 1.0; tp <= smaller(s->gpus, s->shard.heads); tp += 1.0) {
        if (!allows_tp(s, tp))
            continue;
        for (double pp = 1.0; pp <= most_stages(s, s->gpus, tp); pp += 1.0) {
            struct candidate c;
            if (!allows_pp(s, pp))
                continue;
            const enum sc_status status =
                try_layout(s, (struct serve_layout){ tp, pp }, &c, error);
            if (status != SC_OK)
                return status;
            if (!any || is_better(&c, best))
                *best = c;
            any = true;
        }
    }
    return SC_OK;
}

/* Whether a replica of a layout serves `batch` sequences within memory and the limit on TPOT. */
static enum sc_status serves(const struct sc_serve *s, const struct serve_layout *layout,
                             double batch, bool *does, struct sc_error *error)
{
    struct serve_step prefill, step;
    *does = sc_serve_memory(s, layout).max_batch >= batch;
    if (!*does || isnan(s->tpot_limit_s))
        return SC_OK;
    enum sc_status status = sc_serve_prefill(s, layout, &prefill, error);
    if (status == SC_OK)
        status = sc_serve_decode(s, layout, batch, &prefill, &step, NULL, error);
    if (status == SC_OK)
        *does = step.total_s <= s->tpot_limit_s;
    return status;
}

/* Fewest GPUs of a replica with the batch asked for, or one sequence; NaN: not even the most
 * that the keys admit. */
static enum sc_status find_least_gpus(const struct sc_serve *s, double *least,
                                      struct sc_error *error)
{
    const double wanted = isnan(s->batch) ? 1.0 : s->batch;
    double most = sc_system_field(&sc_serve_system, "gpus")->maximum;
    *least = (double)NAN;
    for (double tp = 1.0; tp <= smaller(most, s->shard.heads); tp += 1.0) {
        bool does = false;
        if (!allows_tp(s, tp))
            continue;
        for (double pp = 1.0; !does && pp <= most_stages(s, most, tp); pp += 1.0) {
            const struct serve_layout layout = { tp, pp };
            if (!allows_pp(s, pp))
                continue;
            const enum sc_status status = serves(s, &layout, wanted, &does, error);
            if (status != SC_OK)
                return status;
            if (does) {
                *least = tp * pp;
                most = tp * pp - 1.0;
            }
        }
    }
    return SC_OK;
}

/* Energy of a step on one GPU: what runs all the time, and what each bit read costs. */
static double step_energy_j(const struct sc_serve *s, const struct serve_step *step)
{
    const double source_j[] = { [SC_SERVE_HBM] = s->shard.hbm_energy_j_per_bit,
                                [SC_SERVE_HBF] = s->shard.hbf_energy_j_per_bit,
                                [SC_SERVE_HOST] = s->host_energy_j_per_bit };
    return step->total_s * (s->shard.die_power_w + step->buffer_w) +
           8.0 * (step->weight_bytes * source_j[s->weights_in] +
                  step->kv_bytes * s->shard.hbm_energy_j_per_bit);
}

static const double seconds_per_hour = 3600.0, tokens_per_million = 1e6;

static void fill_rates(const struct sc_serve *s, const struct candidate *c,
                       struct sc_serve_answer *a)
{
    const struct serve_step *step = &c->step;
    const double ranks = c->layout.tp * c->layout.pp;
    a->slowdown = step->total_s / step->ideal_s;
    a->bound = step->bound;
    a->batch_size = c->batch;
    a->sequences = c->batch * a->replicas;
    a->tpot_s = step->total_s;
    a->ttft_s = c->prefill.latency_s;
    a->time_s = 1.0 / c->tokens_per_s;
    a->tokens_per_s = c->tokens_per_s;
    a->gpu_tokens_per_s = c->tokens_per_s / s->gpus;
    a->weights_share = step->weights_s / step->total_s;
    a->staging_share = step->staging_s / step->total_s;
    a->attention_share = step->attention_s / step->total_s;
    a->exchange_share = step->exchange_s / step->total_s;
    a->prompt_share = step->prompts_s / step->total_s;
    a->overhead_share = step->overhead_s / step->total_s;
    a->kv_bytes = c->batch * c->memory.kv_sequence;
    a->activation_bytes = c->memory.activations + c->batch * c->memory.activations_sequence;
    a->hbm_bytes = c->memory.weights - c->memory.far + a->kv_bytes + a->activation_bytes;
    a->energy_per_token_j = ranks * step_energy_j(s, step) / c->batch;
    a->edp_js = a->energy_per_token_j * a->time_s;
    a->power_w = a->energy_per_token_j * a->gpu_tokens_per_s;
    a->tokens_per_joule = 1.0 / a->energy_per_token_j;
    a->cost_per_million = s->gpu_hour_price * s->gpus / seconds_per_hour / a->tokens_per_s *
                          tokens_per_million;
}

static void fill_unknown(struct sc_serve_answer *a)
{
    double *const unknown[] = {
        &a->slowdown, &a->batch_size, &a->sequences, &a->time_s, &a->tpot_s, &a->ttft_s,
        &a->tokens_per_s, &a->gpu_tokens_per_s, &a->weights_share, &a->staging_share,
        &a->attention_share, &a->exchange_share, &a->prompt_share, &a->overhead_share, &a->kv_bytes,
        &a->activation_bytes, &a->hbm_bytes, &a->energy_per_token_j, &a->edp_js, &a->power_w,
        &a->tokens_per_joule, &a->cost_per_million,
    };
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        *unknown[i] = (double)NAN;
}

static void trace_memory(const struct candidate *c, struct sc_trace *trace)
{
    const struct serve_memory *m = &c->memory;
    sc_trace_section(trace, "layout");
    sc_trace_add(trace, "tp", NULL, c->layout.tp, SC_NUMBER, "GPUs that share each layer");
    sc_trace_add(trace, "pp", NULL, c->layout.pp, SC_NUMBER, "groups of layers, one after the other");
    sc_trace_section(trace, "memory of the fullest GPU");
    sc_trace_add(trace, "M", "hbm_capacity usable_share", m->hbm, SC_BYTES, "HBM that may be used");
    sc_trace_add(trace, "W", NULL, m->weights, SC_BYTES, "weights");
    sc_trace_add(trace, "W_far", NULL, m->far, SC_BYTES, "of them, outside of HBM");
    sc_trace_add(trace, "A", NULL, m->activations, SC_BYTES, "activations of a chunk of a prompt");
    sc_trace_add(trace, "a", NULL, m->activations_sequence, SC_BYTES,
                 "activations and logits of a sequence");
    sc_trace_add(trace, "k", NULL, m->kv_sequence, SC_BYTES, "keys and values of a sequence at its end");
    sc_trace_add(trace, "B_max", "floor((M - (W - W_far) - A) / (k + a))", m->max_batch, SC_NUMBER,
                 "largest batch that fits");
}

enum sc_status sc_serve_estimate(const void *scenario, void *answer, struct sc_trace *trace,
                                 struct sc_error *error)
{
    const struct sc_serve *s = scenario;
    struct candidate best = { .bound = "" };
    enum sc_status status = check(s, error);
    double least = (double)NAN;
    if (status == SC_OK)
        status = choose_layout(s, &best, error);
    if (status == SC_OK)
        status = find_least_gpus(s, &least, error);
    if (status != SC_OK)
        return status;
    struct sc_serve_answer *a = answer;
    *a = (struct sc_serve_answer){
        .fits = best.batch > 0.0,
        .bound = best.bound,
        .layout_tp = best.layout.tp,
        .layout_pp = best.layout.pp,
        .replicas = replicas_of(s, &best.layout),
        .idle_gpus = s->gpus - replicas_of(s, &best.layout) * best.layout.tp * best.layout.pp,
        .max_batch = best.max_batch,
        .least_gpus = least,
        .weight_bytes = best.memory.weights,
        .far_bytes = best.memory.far,
        .token_kv_bytes = best.memory.kv_token,
    };
    trace_memory(&best, trace);
    if (!(best.batch > 0.0)) {
        fill_unknown(a);
        return SC_OK;
    }
    if (trace != NULL) /* the same step again, in writing */
        status = sc_serve_decode(s, &best.layout, best.batch, &best.prefill, &best.step, trace,
                                 error);
    if (status == SC_OK)
        fill_rates(s, &best, a);
    return status;
}
