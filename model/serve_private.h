/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the serve system share among themselves. */
#ifndef SC_SERVE_PRIVATE_H
#define SC_SERVE_PRIVATE_H

#include <stdbool.h>

#include "hbf_private.h"
#include "serve.h"

/* Rows of the choice `weights_in`; the order is that of the table in serve_fields.c. */
enum { SC_SERVE_HBM, SC_SERVE_HBF, SC_SERVE_HOST };

/* Rows of the choice `prefill`. */
enum { SC_SERVE_ELSEWHERE, SC_SERVE_HERE };

struct serve_layout {
    double tp, pp; /* GPUs that share each layer; groups of layers */
};

/* Memory of the fullest GPU of a layout, in bytes. */
struct serve_memory {
    double weights;            /* all that a GPU holds, wherever */
    double far;                /* of them, in flash or on the host */
    double kv_token;           /* of one token before any window ends */
    double kv_sequence;        /* of one sequence at its end */
    double activations;        /* without the batch */
    double activations_sequence; /* more for each sequence */
    double hbm;                /* usable */
    double max_batch;          /* largest batch, 0 if none */
    const char *bound;         /* what keeps it from being larger */
};

/* One pass of the model over a batch: parts that add up to its time. */
struct serve_step {
    double weights_s, staging_s; /* weight kernels with HBM-like latency; what comes on top */
    double attention_s, exchange_s, overhead_s;
    double prompts_s;              /* taking in the prompts of the sequences that follow */
    double total_s, ideal_s;       /* the latter with the weight kernels in their ideal time */
    double head_s;                 /* of the weight kernels, the output projection, if a stage is made up */
    double stage_share;            /* of a pass, in the slowest stage */
    double latency_s;              /* of a prompt: passes follow each other through the stages */
    double weight_bytes, kv_bytes; /* read by one GPU, on average over the stages */
    double buffer_w;               /* power of the staging buffer and its tracking */
    const char *bound;
};

/* Layers of the fullest of pp stages. */
double sc_serve_stage_layers(const struct sc_serve *s, double pp);

/* Keys and values of one token in one layer on one GPU. */
double sc_serve_kv_entry_bytes(const struct sc_serve *s, double tp);
/* Tokens whose keys and values a sequence of `tokens` keeps: mean over the layers. */
double sc_serve_kept_tokens(const struct sc_serve *s, double tokens);
/* The same, averaged over the growth of a sequence from nothing to `tokens`. */
double sc_serve_mean_kept_tokens(const struct sc_serve *s, double tokens);

struct serve_memory sc_serve_memory(const struct sc_serve *s, const struct serve_layout *layout);

/* The weight kernels of one GPU, for `tokens` rows in the given phase of `hbf`. */
struct sc_hbf sc_serve_shard(const struct sc_serve *s, double tp, int phase, double tokens);

/* The prompt of one sequence, nothing else running; errors as sc_system.estimate. */
enum sc_status sc_serve_prefill(const struct sc_serve *s, const struct serve_layout *layout,
                                struct serve_step *step, struct sc_error *error) SC_MUST_CHECK;

/* One token for each of `batch` sequences of a replica, whose prompts take `prefill` each. */
enum sc_status sc_serve_decode(const struct sc_serve *s, const struct serve_layout *layout,
                               double batch, const struct serve_step *prefill,
                               struct serve_step *step, struct sc_trace *trace,
                               struct sc_error *error) SC_MUST_CHECK;

/* sc_system.estimate of this system. */
enum sc_status sc_serve_estimate(const void *scenario, void *answer, struct sc_trace *trace,
                                 struct sc_error *error) SC_MUST_CHECK;

#endif
