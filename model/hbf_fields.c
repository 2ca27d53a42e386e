/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of `hbf`: keys of a scenario, columns of an answer. */
#include "hbf_rows_private.h"

static const struct sc_choice phases[] = {
    [SC_HBF_DECODE] = { "decode", "one token per sequence: each weight meets `batch` rows" },
    [SC_HBF_PREFILL] = { "prefill", "a prompt at once: each weight meets `prompt_tokens` rows" },
};
static const struct sc_choice parts[] = {
    [SC_HBF_PART_ALL] = { "whole", "every weight kernel of a layer" },
    [SC_HBF_PART_ATTENTION] = { "attention", "QKV and output projection only" },
    [SC_HBF_PART_FFN] = { "ffn", "feed-forward or expert kernels only" },
};
static const struct sc_choice yes_no[] = {
    [SC_HBF_NO] = { "no", "left out" },
    [SC_HBF_YES] = { "yes", "counted" },
};
const struct sc_choice sc_hbf_attentions[] = {
    [SC_HBF_GQA] = { "gqa", "grouped-query attention: kv_heads shared by groups of heads" },
    [SC_HBF_MHA] = { "mha", "multi-head attention: kv_heads equals heads" },
    [SC_HBF_MLA] = { "mla", "multi-head latent attention: q_lora, kv_lora" },
};
const struct sc_choice sc_hbf_orders[] = {
    [SC_HBF_ORDER_AUTO] = { "auto", "the policy's own" },
    [SC_HBF_ORDER_ADDRESS] = { "address", "ascending addresses of the tensor" },
    [SC_HBF_ORDER_DEMAND] = { "demand", "profiled order in which the kernel reads its pages" },
};
const struct sc_choice sc_hbf_cold_starts[] = {
    [SC_HBF_COLD_AUTO] = { "auto", "the policy's own" },
    [SC_HBF_COLD_EXPOSED] = { "exposed", "every kernel waits for its first page" },
    [SC_HBF_COLD_HIDDEN] = { "hidden", "staging of the next kernel starts during this one" },
};

static const struct sc_choice stales[] = {
    [SC_HBF_STALE_REFETCH] = { "refetch", "the stream fetches it all the same, and nobody takes it" },
    [SC_HBF_STALE_SKIP] = { "skip", "the stream passes it over" },
};
static const struct sc_choice schedulers[] = {
    [SC_HBF_STATIC] = { "static", "CTA c runs on SM c mod SMs" },
    [SC_HBF_GREEDY] = { "greedy", "an SM that has no more to stage or run takes the next CTA" },
};

#define MEMBER(name) .offset = offsetof(struct sc_hbf, name)
#define LAUNCH(name, id, what) \
    { .key = name "_ctas", .kind = SC_INTEGER, .dimension = SC_NUMBER, \
      MEMBER(launch[id].ctas), FROM("grid law"), RANGE(1, 1e6), \
      .source = "kernels", .help = "CTAs of the " what }, \
    { .key = name "_time", .kind = SC_REAL, .dimension = SC_SECONDS, \
      MEMBER(launch[id].time_s), FROM("time law"), RANGE(1e-7, 10), \
      .source = "kernels", .help = "time of the " what " with HBM-like latency" }

static const char seed_paper[] = "SlipStream (HPCA 2027)";

static const struct sc_field sc_hbf_fields[] = {
    { .key = "model", .kind = SC_PRESET, .table = "models", .provenance = SC_FACT,
      .help = "language model: a row of models, or the path of a Hugging Face config.json" },
    { .key = "gpu", .kind = SC_PRESET, .table = "gpus", .preset = "a100-sim", .provenance = SC_FACT,
      .help = "GPU: a row of gpus, or FILE:ROW" },
    { .key = "flash", .kind = SC_PRESET, .table = "flash", .preset = "hbf", .provenance = SC_FACT,
      .help = "flash device: a row of flash, or FILE:ROW" },
    { .key = "policy", CHOICES(sc_hbf_policies), MEMBER(policy), .preset = "slipstream",
      .help = "who asks the flash for a page, when, and what the buffer keeps" },
#include "hbf_staging_rows_private.h"
    { .key = "batch", .kind = SC_INTEGER, .dimension = SC_NUMBER, MEMBER(batch), .fallback = 64,
      RANGE(1, 1e6), .provenance = SC_FACT, .source = "SlipStream (HPCA 2027) Table II",
      .help = "sequences decoded together" },
    { .key = "phase", CHOICES(phases), MEMBER(phase), .help = "decode or prefill" },
    { .key = "prompt_tokens", .kind = SC_INTEGER, .dimension = SC_NUMBER, MEMBER(prompt_tokens),
      .fallback = 2048, RANGE(1, 1e8), .help = "tokens of one prefill pass" },
    { .key = "tensor_parallel", .aliases = "tp", .kind = SC_INTEGER, .dimension = SC_NUMBER,
      MEMBER(tensor_parallel), .fallback = 1, RANGE(1, 1024),
      .help = "GPUs that share each layer; the answer is for one of them" },
    { .key = "part", CHOICES(parts), MEMBER(part), .help = "which kernels of a layer count" },
    { .key = "lm_head", CHOICES(yes_no), MEMBER(lm_head),
      .help = "whether the output projection onto the vocabulary counts" },
#include "hbf_model_rows_private.h"
    { .key = "sm_skew", .kind = SC_REAL, .dimension = SC_SHARE, MEMBER(sm_skew), .fallback = 0,
      RANGE(0, 0.9), .help = "simulator: how much the slowest SM is slower than the mean, and the fastest faster" },
    { .key = "stale", CHOICES(stales), MEMBER(stale),
      .help = "simulator: what a tensor stream does with a page that demand has had already" },
    { .key = "scheduler", CHOICES(schedulers), MEMBER(scheduler),
      .help = "simulator: how CTAs come to SMs" },
    LAUNCH("qkv", SC_HBF_QKV, "query, key and value projection"),
    LAUNCH("o", SC_HBF_O, "output projection"),
    LAUNCH("gate", SC_HBF_GATE, "gate projection"),
    LAUNCH("up", SC_HBF_UP, "up projection"),
    LAUNCH("down", SC_HBF_DOWN, "down projection"),
    LAUNCH("experts", SC_HBF_EXPERTS, "expert kernel"),
    LAUNCH("shared", SC_HBF_SHARED, "shared experts"),
    LAUNCH("lm_head", SC_HBF_LM_HEAD, "output projection onto the vocabulary"),
    { .key = "reference_sms", .kind = SC_INTEGER, .dimension = SC_NUMBER, MEMBER(reference_sms),
      FROM("sms"), RANGE(1, 4096), .source = "kernels",
      .help = "SMs of the GPU that the *_time keys were measured on" },
    { .key = "reference_bandwidth", .kind = SC_REAL, .dimension = SC_BYTES_PER_SECOND,
      MEMBER(reference_bandwidth_bytes_per_s), FROM("hbm_bandwidth"), RANGE(1e9, 1e15),
      .source = "kernels", .help = "memory bandwidth of that GPU" },
};

#define ANSWER(name) .offset = offsetof(struct sc_hbf_answer, name)

static const struct sc_metric metrics[] = {
    { .column = "slowdown", .slowdown_power = 1,
      ANSWER(slowdown), .brief = true, .help = "time over the ideal's time" },
    { .column = "performance", .slowdown_power = -1, .dimension = SC_SHARE,
      ANSWER(performance), .brief = true,
      .help = "ideal's time over time" },
    { .column = "time_s", .slowdown_power = 1, .dimension = SC_SECONDS,
      ANSWER(time_s), .brief = true,
      .help = "weight kernels of one pass over all layers" },
    { .column = "ideal_time_s", .dimension = SC_SECONDS, ANSWER(ideal_time_s),
      .help = "the same with HBM-like latency" },
    { .column = "layer_time_s", .slowdown_power = 1, .dimension = SC_SECONDS, ANSWER(layer_time_s),
      .help = "time_s over the number of layers" },
    { .column = "bound", .text = true, ANSWER(bound), .brief = true,
      .help = "what the largest part of the time is due to" },
    { .column = "stall_free_share", .dimension = SC_SHARE, ANSWER(stall_free_share),
      .stall = "free", .help = "share of the time without staging stalls" },
    { .column = "access_stall_share", .dimension = SC_SHARE, ANSWER(access_stall_share),
      .stall = "access", .help = "waiting for pages that are on their way (cold start, ramp)" },
    { .column = "order_stall_share", .dimension = SC_SHARE, ANSWER(order_stall_share),
      .stall = "order", .help = "waiting for pages that demand had to ask for itself" },
    { .column = "capacity_stall_share", .dimension = SC_SHARE, ANSWER(capacity_stall_share),
      .stall = "capacity", .help = "waiting for pages that the buffer had no room for, or lost" },
    { .column = "hbf_utilisation", .dimension = SC_SHARE, ANSWER(hbf_utilisation), .brief = true,
      .help = "useful read bandwidth over hbf_bandwidth" },
    { .column = "bandwidth_bytes_per_s", .dimension = SC_BYTES_PER_SECOND,
      ANSWER(bandwidth_bytes_per_s), .help = "useful read bandwidth" },
    { .column = "in_flight_needed_bytes", .dimension = SC_BYTES, ANSWER(in_flight_needed_bytes),
      .help = "bandwidth x latency: what keeps the flash busy" },
    { .column = "in_flight_bytes", .dimension = SC_BYTES, ANSWER(in_flight_bytes),
      .help = "mean bytes on their way" },
    { .column = "tracking_entries_per_sm", ANSWER(tracking_entries_per_sm),
      .help = "most page-tracking entries that an SM uses" },
    { .column = "discarded_share", .dimension = SC_SHARE, ANSWER(discarded_share),
      .help = "arrivals that found the buffer full, over all pages; the same page may do so again" },
    { .column = "refetched_share", .dimension = SC_SHARE, ANSWER(refetched_share),
      .help = "pages evicted before use and fetched again, over all pages" },
    { .column = "load_to_use_s", .dimension = SC_SECONDS, ANSWER(load_to_use_s),
      .help = "mean latency of a demand load" },
    { .column = "useful_lifetime_s", .dimension = SC_SECONDS, ANSWER(useful_lifetime_s),
      .help = "from the arrival of a page to its last use" },
    { .column = "residency_s", .dimension = SC_SECONDS, ANSWER(residency_s),
      .help = "from the arrival of a page to its eviction" },
    { .column = "weight_bytes", .dimension = SC_BYTES, ANSWER(weight_bytes),
      .help = "weights read in one pass, on one GPU" },
    { .column = "buffer_area_m2", .dimension = SC_SQUARE_METRES, ANSWER(buffer_area_m2),
      .help = "silicon of the staging buffer, its tags and queues" },
    { .column = "tracking_area_m2", .dimension = SC_SQUARE_METRES, ANSWER(tracking_area_m2),
      .help = "silicon of the tracking tables in the SMs" },
    { .column = "leakage_w", .dimension = SC_WATTS, ANSWER(leakage_w),
      .help = "leakage of buffer and tracking" },
    { .column = "dynamic_w", .dimension = SC_WATTS, ANSWER(dynamic_w),
      .help = "dynamic power of buffer and tracking at this utilisation" },
    { .column = "buffer_access_s", .dimension = SC_SECONDS, ANSWER(buffer_access_s),
      .help = "access time of one buffer slice" },
    { .column = "energy_per_token_j", .dimension = SC_JOULES, ANSWER(energy_per_token_j),
      .brief = true, .help = "compute die, buffer and weight reads of all GPUs, per token" },
    { .column = "edp_js", .dimension = SC_JOULE_SECONDS, ANSWER(edp_js),
      .help = "energy per token x time_s" },
};

const struct sc_system sc_hbf_system = {
    .name = "hbf",
    .title = "weights in High-Bandwidth Flash",
    .question = "what does each staging policy cost when weights are microseconds away, "
                "and what buffer does it need?",
    .source = seed_paper,
    .fields = sc_hbf_fields,
    .field_count = sizeof sc_hbf_fields / sizeof sc_hbf_fields[0],
    .plan_keys = "buffer latency hbf_bandwidth batch phase prompt_tokens "
                 "tensor_parallel dtype_bits",
    .metrics = metrics,
    .metric_count = sizeof metrics / sizeof metrics[0],
    .scenario_size = sizeof(struct sc_hbf),
    .answer_size = sizeof(struct sc_hbf_answer),
    .estimate = sc_hbf_estimate,
};

_Static_assert(sizeof(struct sc_hbf) <= SC_SCENARIO_MAX, "a scenario must fit the callers' storage");
_Static_assert(sizeof(struct sc_hbf_answer) <= SC_ANSWER_MAX, "an answer must fit the callers' storage");
