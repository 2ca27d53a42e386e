/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of `serve`: keys of a scenario, columns of an answer. */
#include "hbf_rows_private.h"
#include "serve_private.h"

static const struct sc_choice places[] = {
    [SC_SERVE_HBM] = { "hbm", "in the GPUs' own memory, beside the KV cache" },
    [SC_SERVE_HBF] = { "hbf", "in flash, staged by `policy`; the table of embeddings stays in HBM" },
    [SC_SERVE_HOST] = { "host", "in host memory, however large, read in place over the link by every pass" },
};

static const struct sc_choice prefills[] = {
    [SC_SERVE_ELSEWHERE] = { "elsewhere", "on other GPUs, which hand the KV cache over" },
    [SC_SERVE_HERE] = { "here", "between the decode steps of the same GPUs" },
};

#define MEMBER(name) .offset = offsetof(struct sc_serve, shard.name)
#define SERVE(name) .offset = offsetof(struct sc_serve, name)

static const char section_7c[] = "SlipStream (HPCA 2027) section VII-C";

static const struct sc_field fields[] = {
    { .key = "model", .kind = SC_PRESET, .table = "models", .provenance = SC_FACT,
      .help = "language model: a row of models, or the path of a Hugging Face config.json" },
    { .key = "gpu", .kind = SC_PRESET, .table = "gpus", .preset = "a100-sim", .provenance = SC_FACT,
      .help = "GPU: a row of gpus, or FILE:ROW" },
    { .key = "flash", .kind = SC_PRESET, .table = "flash", .preset = "hbf", .provenance = SC_FACT,
      .help = "flash device: a row of flash, or FILE:ROW" },
    { .key = "weights_in", CHOICES(places), SERVE(weights_in), .preset = "hbm",
      .help = "where the weights lie" },
    { .key = "policy", CHOICES(sc_hbf_policies), MEMBER(policy), .preset = "slipstream",
      .help = "weights_in=hbf: who asks the flash for a page, when, and what the buffer keeps" },
    /* layout and load */
    { .key = "gpus", .kind = SC_INTEGER, .dimension = SC_NUMBER, SERVE(gpus), .fallback = 16,
      RANGE(1, 1024), .help = "GPUs in all" },
    { .key = "tensor_parallel", .aliases = "tp", .kind = SC_INTEGER, .dimension = SC_NUMBER,
      SERVE(tensor_parallel), FROM("the layout with the highest throughput"), .open = "best",
      RANGE(1, 1024), .help = "GPUs that share each layer; best: of those that divide heads" },
    { .key = "pipeline_stages", .aliases = "pp", .kind = SC_INTEGER, .dimension = SC_NUMBER,
      SERVE(pipeline_stages), FROM("the layout with the highest throughput"), .open = "best",
      RANGE(1, 1024), .help = "groups of layers, each on GPUs of its own; best: as if not given" },
    { .key = "batch", .kind = SC_INTEGER, .dimension = SC_NUMBER, SERVE(batch),
      FROM("the largest that fits, within tpot_limit"), .open = "max", RANGE(1, 1e6),
      .help = "sequences that a replica decodes together; max: as if not given" },
    { .key = "prompt_tokens", .aliases = "prompt", .kind = SC_INTEGER, .dimension = SC_NUMBER,
      SERVE(prompt_tokens), .fallback = 2048, RANGE(1, 1e8), .help = "tokens of a prompt" },
    { .key = "generated_tokens", .aliases = "generated", .kind = SC_INTEGER,
      .dimension = SC_NUMBER, SERVE(generated_tokens), .fallback = 512, RANGE(1, 1e8),
      .help = "tokens that follow it; room is kept for all, a step reads half of them" },
    { .key = "prefill", CHOICES(prefills), SERVE(prefill), .preset = "elsewhere",
      .help = "where prompts are taken in" },
    { .key = "prefill_chunk", .kind = SC_INTEGER, .dimension = SC_NUMBER, SERVE(prefill_chunk),
      .fallback = 2048, RANGE(1, 1e8), .help = "tokens of a prompt that one pass takes" },
    { .key = "tpot_limit", .kind = SC_REAL, .dimension = SC_SECONDS, SERVE(tpot_limit_s),
      FROM("none"), RANGE(1e-6, 1e4), .help = "longest time per output token; bounds the batch" },
    /* memory */
    { .key = "hbm_capacity", .aliases = "memory_capacity", .kind = SC_REAL, .dimension = SC_BYTES,
      SERVE(hbm_capacity_bytes), .fallback = 80e9, RANGE(1e6, 1e15), .provenance = SC_FACT,
      .source = "gpus", .help = "HBM of one GPU" },
    { .key = "usable_share", .kind = SC_REAL, .dimension = SC_SHARE, SERVE(usable_share),
      .fallback = 0.9, RANGE(0.01, 1), .provenance = SC_FACT,
      .source = "vLLM 0.6, gpu_memory_utilization",
      .help = "part of it that weights, KV cache and activations may take" },
    { .key = "hbf_capacity", .kind = SC_REAL, .dimension = SC_BYTES, SERVE(hbf_capacity_bytes),
      .fallback = 1280e9, RANGE(1e6, 1e16), .provenance = SC_FACT, .source = "flash",
      .help = "HBF of one GPU" },
    { .key = "kv_bits", .kind = SC_REAL, .dimension = SC_BITS, SERVE(kv_bits), .fallback = 16,
      RANGE(1, 64), .help = "bits of an entry of the KV cache" },
    { .key = "activation_bits", .kind = SC_REAL, .dimension = SC_BITS, SERVE(activation_bits),
      .fallback = 16, RANGE(1, 64), .help = "bits of an activation, in memory and on links" },
    { .key = "tied_embeddings", .kind = SC_INTEGER, .dimension = SC_NUMBER, SERVE(tied_embeddings),
      .fallback = 0, RANGE(0, 1), .source = "models",
      .help = "1: the output projection is the table of embeddings" },
    { .key = "sliding_window", .kind = SC_INTEGER, .dimension = SC_NUMBER, SERVE(sliding_window),
      .fallback = 0, RANGE(0, 1e8), .source = "models",
      .help = "tokens that a layer looks back on; 0: all" },
    { .key = "sliding_layers", .kind = SC_INTEGER, .dimension = SC_NUMBER, SERVE(sliding_layers),
      FROM("all, with a sliding_window"), RANGE(0, 1e5), .source = "models",
      .help = "layers that have the window; the others look back on all" },
    /* links */
    { .key = "link_bandwidth", .kind = SC_REAL, .dimension = SC_BYTES_PER_SECOND,
      SERVE(link_bandwidth_bytes_per_s), .fallback = 31.5e9, RANGE(1e6, 1e14),
      .provenance = SC_FACT, .source = "gpus", .help = "of the link to the host, one way" },
    { .key = "host_rate", .aliases = "link_rate", .kind = SC_REAL, .dimension = SC_BYTES_PER_SECOND,
      SERVE(host_rate_bytes_per_s), FROM("0.8 x link_bandwidth"), RANGE(1e6, 1e14),
      .source = "gpus", .help = "weights_in=host: reads of host memory, as measured" },
    { .key = "gpu_link_bandwidth", .kind = SC_REAL, .dimension = SC_BYTES_PER_SECOND,
      SERVE(gpu_link_bytes_per_s), FROM("link_bandwidth"), RANGE(1e6, 1e14), .source = "gpus",
      .help = "between GPUs, one way, of one GPU; across nodes, what the network gives each" },
    { .key = "collective_latency", .kind = SC_REAL, .dimension = SC_SECONDS,
      SERVE(collective_latency_s), .fallback = 10e-6, RANGE(0, 1),
      .help = "fixed time of an all-reduce, or of handing on to the next stage" },
    { .key = "step_overhead", .kind = SC_REAL, .dimension = SC_SECONDS, SERVE(step_overhead_s),
      .fallback = 0, RANGE(0, 10), .help = "scheduler and sampling, added to every step" },
    /* energy and money */
    { .key = "hbm_energy", .kind = SC_REAL, .dimension = SC_JOULES_PER_BIT,
      MEMBER(hbm_energy_j_per_bit), .fallback = 3.97e-12, RANGE(0, 1e-6), .provenance = SC_FACT,
      .source = section_7c, .help = "energy of one bit read from HBM" },
    { .key = "host_energy", .kind = SC_REAL, .dimension = SC_JOULES_PER_BIT,
      SERVE(host_energy_j_per_bit), .fallback = 20e-12, RANGE(0, 1e-6),
      .help = "energy of one bit read from host memory over the link" },
    { .key = "price", .kind = SC_REAL, .dimension = SC_NUMBER, SERVE(gpu_hour_price),
      FROM("no cost"), RANGE(0, 1e6), .help = "of one GPU for an hour, in any currency" },
#include "hbf_staging_rows_private.h"
#include "hbf_model_rows_private.h"
};

#define ANSWER(name) .offset = offsetof(struct sc_serve_answer, name)

enum { SMALLER = 1, LARGER = -1 };

static const struct sc_metric metrics[] = {
    { .column = "slowdown", ANSWER(slowdown),
      .help = "time of a decode step over that with the same weights at the latency of HBM" },
    { .column = "fits", ANSWER(fits), .brief = true,
      .help = "1: a batch fits, within tpot_limit; 0: none, or not the one asked for" },
    { .column = "bound", .text = true, ANSWER(bound), .brief = true,
      .help = "the largest part of a step is due to it; or why nothing fits" },
    { .column = "layout_tp", ANSWER(layout_tp), .brief = true, .help = "tensor_parallel, as chosen" },
    { .column = "layout_pp", ANSWER(layout_pp), .brief = true, .help = "pipeline_stages, as chosen" },
    { .column = "replicas", ANSWER(replicas), .help = "floor(gpus / layout_tp / layout_pp)" },
    { .column = "idle_gpus", ANSWER(idle_gpus), .help = "GPUs that no replica takes" },
    { .column = "batch_size", ANSWER(batch_size), .brief = true,
      .help = "sequences that a replica decodes together" },
    { .column = "max_batch", ANSWER(max_batch), .better = LARGER,
      .help = "the most that fit, within tpot_limit" },
    { .column = "sequences", ANSWER(sequences), .better = LARGER, .help = "of all replicas" },
    { .column = "least_gpus", ANSWER(least_gpus), .better = SMALLER,
      .help = "fewest GPUs of a replica with the batch asked for, or one sequence, within tpot_limit" },
    { .column = "tpot_s", .dimension = SC_SECONDS, ANSWER(tpot_s), .better = SMALLER, .brief = true,
      .help = "time per output token: one decode step, prompts in between included" },
    { .column = "ttft_s", .dimension = SC_SECONDS, ANSWER(ttft_s), .better = SMALLER, .brief = true,
      .help = "time to first token of a prompt that waits for nothing" },
    { .column = "time_s", .dimension = SC_SECONDS, ANSWER(time_s),
      .help = "per output token of all GPUs together" },
    { .column = "tokens_per_s", .dimension = SC_PER_SECOND, ANSWER(tokens_per_s),
      .better = LARGER, .brief = true, .help = "output tokens of all GPUs" },
    { .column = "gpu_tokens_per_s", .dimension = SC_PER_SECOND, ANSWER(gpu_tokens_per_s),
      .better = LARGER, .help = "of one" },
    { .column = "weights_share", .dimension = SC_SHARE, ANSWER(weights_share), .stall = "weights",
      .help = "share of a step: weight kernels with HBM-like latency" },
    { .column = "staging_share", .dimension = SC_SHARE, ANSWER(staging_share), .stall = "staging",
      .help = "what weights in flash or on the host cost on top" },
    { .column = "attention_share", .dimension = SC_SHARE, ANSWER(attention_share), .stall = "kv",
      .help = "attention over the KV cache" },
    { .column = "exchange_share", .dimension = SC_SHARE, ANSWER(exchange_share), .stall = "exchange",
      .help = "all-reduces and hand-overs between GPUs" },
    { .column = "prompt_share", .dimension = SC_SHARE, ANSWER(prompt_share), .stall = "prompts",
      .help = "prompts of the sequences that follow, with prefill=here" },
    { .column = "overhead_share", .dimension = SC_SHARE, ANSWER(overhead_share), .stall = "overhead",
      .help = "step_overhead" },
    { .column = "weight_bytes", .dimension = SC_BYTES, ANSWER(weight_bytes),
      .help = "weights of the fullest GPU, wherever they lie" },
    { .column = "far_bytes", .dimension = SC_BYTES, ANSWER(far_bytes),
      .help = "of them, in flash or on the host" },
    { .column = "token_kv_bytes", .dimension = SC_BYTES, ANSWER(token_kv_bytes),
      .help = "keys and values of one token on one GPU, while no window is full" },
    { .column = "kv_bytes", .dimension = SC_BYTES, ANSWER(kv_bytes),
      .help = "KV cache of the batch at its end, on one GPU" },
    { .column = "activation_bytes", .dimension = SC_BYTES, ANSWER(activation_bytes),
      .help = "activations and logits, on one GPU" },
    { .column = "hbm_bytes", .dimension = SC_BYTES, ANSWER(hbm_bytes),
      .help = "HBM in use on the fullest GPU" },
    { .column = "energy_per_token_j", .dimension = SC_JOULES, ANSWER(energy_per_token_j),
      .brief = true,
      .help = "compute dies, buffer, weight and KV reads of all GPUs, per token" },
    { .column = "edp_js", .dimension = SC_JOULE_SECONDS, ANSWER(edp_js),
      .help = "energy per token x time_s" },
    { .column = "power_w", .dimension = SC_WATTS, ANSWER(power_w), .help = "of one GPU and its memory" },
    { .column = "tokens_per_joule", ANSWER(tokens_per_joule), .better = LARGER,
      .help = "throughput per power" },
    { .column = "cost_per_million", ANSWER(cost_per_million), .better = SMALLER,
      .help = "of a million tokens, in the currency of price" },
};

const struct sc_system sc_serve_system = {
    .name = "serve",
    .title = "a language model on many GPUs",
    .question = "does a model fit, with which batch, and what are time per token, energy and cost "
                "when weights lie in HBM, in flash or on the host?",
    .source = "SlipStream (HPCA 2027)",
    .fields = fields,
    .field_count = sizeof fields / sizeof fields[0],
    .metrics = metrics,
    .metric_count = sizeof metrics / sizeof metrics[0],
    .scenario_size = sizeof(struct sc_serve),
    .answer_size = sizeof(struct sc_serve_answer),
    .plan_keys = "weights_in gpus batch tpot_limit prompt_tokens generated_tokens buffer latency "
                 "hbf_bandwidth",
    .estimate = sc_serve_estimate,
};

_Static_assert(sizeof(struct sc_serve) <= SC_SCENARIO_MAX, "a scenario must fit the callers' storage");
_Static_assert(sizeof(struct sc_serve_answer) <= SC_ANSWER_MAX, "an answer must fit the callers' storage");
