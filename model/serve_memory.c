/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes of weights, KV cache and activations on the fullest GPU of a layout. */
#include <math.h>

#include "serve_private.h"

/* Bytes of one logit. */
static const double logit_bytes = 4.0;

/* Norms of a layer: before attention and before the feed-forward part. */
static const double norms_per_layer = 2.0;

/* Weights of one GPU, were it to hold all layers; and what only one stage has. */
struct shard_bytes {
    double layers, head;  /* of the weight kernels */
    double embedding;     /* the table that tokens are looked up in */
    double small;         /* norms and routers */
};

static struct shard_bytes count_shard(const struct sc_serve *s, double tp)
{
    const struct sc_hbf shard = sc_serve_shard(s, tp, SC_HBF_DECODE, 1.0);
    struct sc_hbf_kernel kernels[SC_HBF_KERNELS];
    struct sc_hbf rest = shard;
    rest.lm_head = SC_HBF_NO;
    const size_t layer_kernels = sc_hbf_kernels(&rest, kernels);
    const size_t count = sc_hbf_kernels(&shard, kernels);
    const double bytes = shard.dtype_bits / 8.0;
    const double moe_layers =
        shard.experts > 0.0 ? shard.layers - (isnan(shard.dense_layers) ? 0.0 : shard.dense_layers)
                            : 0.0;
    struct shard_bytes sum = {
        .embedding = round_up(shard.vocab / tp) * shard.hidden * bytes,
        .small = (norms_per_layer * shard.layers + 1.0) * shard.hidden * bytes +
                 moe_layers * shard.hidden * shard.experts * bytes,
    };
    for (size_t i = 0; i < count; i++) {
        /* A kernel of experts has the pages of those that a batch visits. */
        const double whole = kernels[i].persistent ? shard.experts / sc_hbf_distinct_experts(&shard)
                                                   : 1.0;
        const double size = kernels[i].pages * shard.page_bytes * kernels[i].multiplicity * whole;
        *(i < layer_kernels ? &sum.layers : &sum.head) += size;
    }
    return sum;
}

double sc_serve_stage_layers(const struct sc_serve *s, double pp)
{
    return round_up(s->shard.layers / pp);
}

double sc_serve_kv_entry_bytes(const struct sc_serve *s, double tp)
{
    const double entries = s->shard.attention == SC_HBF_MLA
                               ? s->shard.kv_lora + SC_HBF_MLA_ROPE_DIM /* every rank has all */
                               : 2.0 * round_up(s->shard.kv_heads / tp) * sc_hbf_head_dim(&s->shard);
    return entries * s->kv_bits / 8.0;
}

/* Share of the layers that look back no further than the window. */
static double sliding_share(const struct sc_serve *s)
{
    return !(s->sliding_window > 0.0)  ? 0.0
           : isnan(s->sliding_layers) ? 1.0
                                      : s->sliding_layers / s->shard.layers;
}

double sc_serve_kept_tokens(const struct sc_serve *s, double tokens)
{
    const double sliding = sliding_share(s);
    return (1.0 - sliding) * tokens + sliding * smaller(tokens, s->sliding_window);
}

double sc_serve_mean_kept_tokens(const struct sc_serve *s, double tokens)
{
    const double sliding = sliding_share(s), window = smaller(tokens, s->sliding_window);
    return (1.0 - sliding) * tokens / 2.0 + sliding * window * (1.0 - window / tokens / 2.0);
}

/* Values that one token has alive at once: residual and normed row, queries, keys and values,
 * and the two halves of a gated feed-forward part. */
static double activation_width(const struct sc_hbf *m, double tp)
{
    const double experts = m->experts > 0.0
                               ? (m->experts_per_token +
                                  (isnan(m->shared_experts) ? 0.0 : m->shared_experts)) *
                                     m->expert_ffn
                               : 0.0;
    const double dense = m->experts > 0.0 && !(m->dense_layers > 0.0) ? 0.0 : m->ffn;
    return 2.0 * m->hidden +
           (m->heads + 2.0 * m->kv_heads) * sc_hbf_head_dim(m) / tp +
           (m->ffn_matrices - 1.0) * larger(experts, dense) / tp;
}

struct serve_memory sc_serve_memory(const struct sc_serve *s, const struct serve_layout *layout)
{
    const double tp = layout->tp, pp = layout->pp;
    const double stage_layers = sc_serve_stage_layers(s, pp);
    const double stage = stage_layers / s->shard.layers;
    const struct shard_bytes shard = count_shard(s, tp);
    const double width = activation_width(&s->shard, tp) * s->activation_bits / 8.0;
    const double kv_token = stage_layers * sc_serve_kv_entry_bytes(s, tp);
    const bool shared_table = s->tied_embeddings > 0.0 && pp == 1.0;
    struct serve_memory m = {
        .kv_token = kv_token,
        .kv_sequence = kv_token * sc_serve_kept_tokens(s, s->prompt_tokens + s->generated_tokens),
        .activations = smaller(s->prefill_chunk, s->prompt_tokens) * width,
        .activations_sequence = (width + round_up(s->shard.vocab / tp) * logit_bytes) / pp,
        .hbm = s->hbm_capacity_bytes * s->usable_share,
    };
    double near = stage * shard.small;
    const double layers = stage * shard.layers;
    if (s->weights_in == SC_SERVE_HBF) {
        /* Lookups by token are no stream that could be staged: the table stays in HBM. */
        near += shard.embedding;
        m.far = layers + shard.head;
        m.weights = pp > 1.0 ? layers + stage * shard.small + larger(shard.head, shard.embedding)
                             : m.far + near;
    } else {
        /* First and last stage differ: the table at one end, the head at the other. */
        const double ends = pp > 1.0       ? larger(shard.head, shard.embedding)
                            : shared_table ? shard.embedding
                                           : shard.head + shard.embedding;
        m.weights = layers + near + ends;
        m.far = s->weights_in == SC_SERVE_HOST ? m.weights : 0.0;
        near = m.weights - m.far;
    }
    const double left = m.hbm - near - m.activations;
    const double each = m.kv_sequence + m.activations_sequence;
    const bool far_full = s->weights_in == SC_SERVE_HBF && m.far > s->hbf_capacity_bytes;
    m.max_batch = far_full || left < each ? 0.0 : smaller(1e6, round_down(left / each));
    m.bound = far_full ? "HBF capacity" : "HBM capacity";
    return m;
}
