/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of `prefetch`: keys of a scenario, columns of an answer. */
#include <math.h>

#include "prefetch_private.h"

static const struct sc_choice schedulers[] = {
    [SC_PREFETCH_ROUND_ROBIN] = { "lrr", "loose round robin" },
    [SC_PREFETCH_GREEDY_OLDEST] = { "gto", "greedy, then oldest" },
};
static const struct sc_choice switches[] = {
    [SC_PREFETCH_AUTO] = { "auto", "the policy's own" },
    [SC_PREFETCH_OFF] = { "off", "without, whatever the policy" },
    [SC_PREFETCH_ON] = { "on", "with, whatever the policy" },
};
static const struct sc_choice learnings[] = {
    [SC_PREFETCH_LEARN_BOTH] = { "both", "as data returns, and at once where it is known already" },
    [SC_PREFETCH_LEARN_RETURN] = { "return", "only as data returns" },
};
static const struct sc_choice zero_fills[] = {
    [SC_PREFETCH_ZERO_LINE] = { "line", "takes a line of L1 or a register as any other" },
    [SC_PREFETCH_ZERO_METADATA] = { "metadata", "takes a bit of the zero cache only" },
};
static const struct sc_choice replacements[] = {
    [SC_PREFETCH_REPLACE_AGED] = { "aged", "round robin over entries that are free, all consumed or "
                                           "older than register_hold; else the data goes to L1" },
    [SC_PREFETCH_REPLACE_CONSUMED] = { "consumed", "round robin over entries that are free or all "
                                                   "consumed; else the data goes to L1" },
    [SC_PREFETCH_REPLACE_ANY] = { "any", "round robin over all; data under way to one that is lost "
                                         "is dropped" },
};

#define MEMBER(name) .offset = offsetof(struct sc_prefetch, name)
#define CHOICES(rows) .kind = SC_CHOICE, .choices = rows, .choice_size = sizeof rows[0], \
                      .choice_count = sizeof rows / sizeof rows[0], .minimum = 0, .maximum = 0
#define RANGE(low, high) .minimum = low, .maximum = high
#define SAMPLE(low, high, logarithmic) \
    .sample_low = low, .sample_high = high, .sample_log = logarithmic
#define REAL(name, what) .key = name, .kind = SC_REAL, .dimension = what
#define COUNTED(name) .key = name, .kind = SC_INTEGER, .dimension = SC_NUMBER
#define FACT(text) .provenance = SC_FACT, .source = text
#define ANCHOR(text) .provenance = SC_ANCHOR, .source = text
#define SWITCH(name, member, text) { .key = name, CHOICES(switches), MEMBER(member), .help = text }

#define COEFFICIENT(key_name, member, value, what) \
    { .key = key_name, .kind = SC_REAL, .dimension = SC_NUMBER, MEMBER(member), .fallback = value, \
      RANGE(0.01, 100), .provenance = SC_CALIBRATED, .source = "params/prefetch", \
      .help = "closed form: " what }

static const char paper[] = "SnakeCharmer";

static const struct sc_field sc_prefetch_fields[] = {
    { .key = "gpu", .kind = SC_PRESET, .table = "gpus", .preset = "a100-40gb",
      .provenance = SC_FACT, .help = "GPU: a row of gpus, or FILE:ROW" },
    { .key = "kernel", .kind = SC_PRESET, .table = "prefetch-kernels", .preset = "stencil",
      .provenance = SC_FACT, .help = "kernel: a row of prefetch-kernels, or FILE:ROW" },
    { .key = "policy", CHOICES(sc_prefetch_policies), MEMBER(policy), .preset = "sk+sc",
      .help = "who predicts, and what the back end makes of it" },
    { REAL("distance", SC_NUMBER), MEMBER(distance), .fallback = (double)NAN,
      .derived = "the policy's own", RANGE(0, 63),
      .help = "largest prefetch distance of every pattern, at most the pattern's own; stride and "
              "known addresses: the distance (2); 0: no prefetches" },
    SWITCH("zero_filter", zero_filter, "suppresses candidates that are likely all zero"),
    SWITCH("tuner", tuner, "learns a distance for each pattern and gates candidates by score"),
    SWITCH("placement", placement, "keeps prefetched data in idle registers"),
    SWITCH("throttle", throttle, "pauses prefetching when L1 or memory is busy with it"),
    SWITCH("zero_cache", zero_cache, "zero metadata in front of L1 and L2"),

    /* GPU */
    { COUNTED("sms"), MEMBER(sms), .fallback = 108, RANGE(1, 4096), FACT("gpus"),
      .help = "streaming multiprocessors, among which L2 and memory are shared out" },
    { REAL("clock", SC_HERTZ), MEMBER(clock_hz), .fallback = 1.41e9, RANGE(1e6, 1e11), FACT("gpus"),
      .help = "core clock, of all cycles" },
    { COUNTED("max_warps"), MEMBER(max_warps), .fallback = 64, RANGE(1, SC_PREFETCH_WARPS_MAX),
      FACT("gpus"), .help = "warps that an SM can hold" },
    { REAL("l1", SC_BYTES), MEMBER(l1_bytes), .fallback = 192 * 1024, RANGE(4096, 1e9),
      FACT("gpus"), .help = "unified L1 and shared memory of one SM" },
    { REAL("l1_data_share", SC_SHARE), MEMBER(l1_data_share), .fallback = 0.095, RANGE(0.001, 1),
      SAMPLE(0.06, 0.4, true), ANCHOR("effective 18 KiB of 192: on-time share of Fig. 4"),
      .help = "part of it that is left for data" },
    { COUNTED("l1_ways"), MEMBER(l1_ways), .fallback = 8, RANGE(1, 64),
      .help = "lines of a set of L1" },
    { REAL("l1_latency", SC_CYCLES), MEMBER(l1_latency_cycles), .fallback = 33, RANGE(1, 1000),
      FACT("Accel-Sim configuration SM80_A100"), .help = "load to use of a hit in L1" },
    { REAL("l2", SC_BYTES), MEMBER(l2_bytes), .fallback = 40 * 1048576.0, RANGE(4096, 1e12),
      FACT("gpus"), .help = "L2 of the device" },
    { COUNTED("l2_ways"), MEMBER(l2_ways), .fallback = 16, RANGE(1, 64),
      .help = "lines of a set of L2" },
    { REAL("l2_latency", SC_CYCLES), MEMBER(l2_latency_cycles), .fallback = 220, RANGE(1, 10000),
      SAMPLE(150, 350, true), FACT("Accel-Sim configuration SM80_A100"),
      .help = "load to use of a hit in L2, unloaded" },
    { REAL("l2_bytes_per_cycle", SC_BYTES), MEMBER(l2_bytes_per_cycle), .fallback = 40,
      RANGE(1, 4096), FACT("A100 whitepaper: 5120 byte/cycle over 108 SMs, less headers"),
      .help = "what one SM gets from L2 in a cycle" },
    { REAL("memory_bandwidth", SC_BYTES_PER_SECOND), MEMBER(memory_bandwidth_bytes_per_s),
      .fallback = 1555e9, RANGE(1e9, 1e15), SAMPLE(0.5e12, 4e12, true), FACT("gpus"),
      .help = "of the device's memory" },
    { REAL("dram_latency", SC_CYCLES), MEMBER(dram_latency_cycles), .fallback = 450,
      RANGE(1, 100000), SAMPLE(300, 900, true), FACT("Accel-Sim configuration SM80_A100"),
      .help = "load to use of a miss in L2, unloaded" },
    { REAL("dram_jitter", SC_CYCLES), MEMBER(dram_jitter_cycles), .fallback = 60, RANGE(0, 10000),
      .help = "mean of the exponential part of it that banks and rows add" },
    { COUNTED("mshrs"), MEMBER(mshrs), .fallback = 256, RANGE(4, 4096), SAMPLE(192, 512, true),
      FACT("Accel-Sim configuration SM80_A100"), .help = "lines that L1 can wait for" },
    { COUNTED("prefetch_mshrs"), MEMBER(prefetch_mshrs), .fallback = 192, RANGE(0, 4096),
      .help = "lines waited for at which prefetches stop" },
    { COUNTED("issue_width"), MEMBER(issue_width), .fallback = 4, RANGE(1, 4), FACT("A100 whitepaper"),
      .help = "schedulers of an SM, an instruction each in a cycle" },
    { REAL("issue_gap", SC_CYCLES), MEMBER(issue_gap_cycles), .fallback = 2, RANGE(1, 64),
      .help = "cycles between two instructions of a warp" },
    { .key = "scheduler", CHOICES(schedulers), MEMBER(scheduler), .preset = "gto",
      FACT("Accel-Sim's default"), .help = "which of the ready warps goes first" },

    /* kernel */
    { COUNTED("loads"), MEMBER(loads), .fallback = 3, RANGE(1, SC_PREFETCH_LOADS_MAX),
      FACT("prefetch-kernels"), .help = "load instructions of the loop body" },
    { COUNTED("arrays"), MEMBER(arrays), .fallback = 1, RANGE(1, SC_PREFETCH_LOADS_MAX),
      FACT("prefetch-kernels"), .help = "arrays that they read, as evenly as it goes" },
    { COUNTED("sectors"), MEMBER(sectors), .fallback = 4, RANGE(1, 4), FACT("prefetch-kernels"),
      .help = "32-byte sectors that a warp loads at once" },
    { REAL("warp_stride", SC_BYTES), MEMBER(warp_stride_bytes), .fallback = 128,
      RANGE(-1e6, 1e6), FACT("prefetch-kernels"), .help = "between the next warp and this" },
    { REAL("iteration_stride", SC_BYTES), MEMBER(iteration_stride_bytes), .fallback = 8192,
      RANGE(-1e6, 1e6), FACT("prefetch-kernels"), .help = "between the next iteration and this" },
    { REAL("load_stride", SC_BYTES), MEMBER(load_stride_bytes), .fallback = 0, RANGE(-1e6, 1e6),
      FACT("prefetch-kernels"), .help = "between the next load of the same array and this" },
    { REAL("compute", SC_NUMBER), MEMBER(compute), .fallback = 8, RANGE(0, 1000),
      SAMPLE(2, 30, true), FACT("prefetch-kernels"),
      .help = "other instructions after each load; whole ones are run" },
    { REAL("dependence", SC_NUMBER), MEMBER(dependence), .fallback = 4, RANGE(1, 1000),
      SAMPLE(1, 16, true), FACT("prefetch-kernels"),
      .help = "instructions from a load to the first that needs it" },
    { COUNTED("iterations"), MEMBER(iterations), .fallback = 32, RANGE(1, 1e6),
      SAMPLE(8, 64, true), FACT("prefetch-kernels"), .help = "of the loop" },
    { COUNTED("warps"), MEMBER(warps), .fallback = 32, RANGE(1, SC_PREFETCH_WARPS_MAX),
      FACT("prefetch-kernels"), .help = "warps that an SM holds at a time" },
    { COUNTED("cta_warps"), MEMBER(cta_warps), .fallback = 8, RANGE(1, SC_PREFETCH_WARPS_MAX),
      FACT("prefetch-kernels"), .help = "warps of a CTA" },
    { COUNTED("ctas"), MEMBER(ctas), .fallback = 16, RANGE(1, 1e6), FACT("prefetch-kernels"),
      .help = "CTAs that an SM runs in all" },
    { REAL("working_set", SC_BYTES), MEMBER(working_set_bytes), .fallback = 65536, RANGE(128, 1e10),
      SAMPLE(8192, 262144, true), FACT("prefetch-kernels"),
      .help = "bytes after which reused loads start over" },
    { REAL("reuse_share", SC_SHARE), MEMBER(reuse_share), .fallback = 0, RANGE(0, 1),
      FACT("prefetch-kernels"), .help = "loads of the body that go over a working set" },
    { REAL("zero_share", SC_SHARE), MEMBER(zero_share), .fallback = 0, RANGE(0, 1),
      SAMPLE(0, 0.8, false), FACT("prefetch-kernels"), .help = "sectors that hold only zeros" },
    { COUNTED("zero_run"), MEMBER(zero_run), .fallback = 512, RANGE(1, 1e6),
      ANCHOR("zero filter of Fig. 13 and 18"), .help = "sectors that are zero or not together" },
    { REAL("zero_purity", SC_SHARE), MEMBER(zero_purity), .fallback = 0.97, RANGE(0, 1),
      ANCHOR("zero filter of Fig. 18"),
      .help = "1: arrays are all zero or not at all; 0: all arrays are alike" },
    { REAL("irregular_share", SC_SHARE), MEMBER(irregular_share), .fallback = 0, RANGE(0, 1),
      FACT("prefetch-kernels"), .help = "loads that go anywhere in the footprint" },
    { REAL("footprint", SC_BYTES), MEMBER(footprint_bytes), .fallback = 4e6, RANGE(4096, 1e10),
      FACT("prefetch-kernels"), .help = "bytes that irregular loads of an array go to" },
    { REAL("store_share", SC_SHARE), MEMBER(store_share), .fallback = 0, RANGE(0, 1),
      FACT("prefetch-kernels"), .help = "loads whose data is stored in place after the iteration" },
    { REAL("barriers", SC_SHARE), MEMBER(barriers), .fallback = 0, RANGE(0, 1),
      FACT("prefetch-kernels"), .help = "barriers of a CTA, per iteration" },
    { COUNTED("sharing_sms"), MEMBER(sharing_sms), .fallback = 1, RANGE(1, 4096),
      FACT("prefetch-kernels"), .help = "SMs that read the same data: who comes first finds it in memory, "
                                        "the others in L2" },
    { REAL("idle_registers", SC_BYTES), MEMBER(idle_register_bytes), .fallback = 21504,
      RANGE(0, 1e6), FACT("SnakeCharmer Fig. 6: 21.0 KB on average, at least 8 KB"),
      .help = "registers of an SM that no warp has" },

    /* front end */
    { COUNTED("chain_distance"), MEMBER(chain_distance), .fallback = 10, RANGE(0, 63), FACT(paper),
      .help = "furthest load ahead along the chain" },
    { COUNTED("iteration_distance"), MEMBER(iteration_distance), .fallback = 8, RANGE(0, 63),
      FACT(paper), .help = "furthest iteration ahead" },
    { COUNTED("warp_distance"), MEMBER(warp_distance), .fallback = 63, RANGE(0, 63), FACT(paper),
      .help = "furthest warp ahead" },
    { COUNTED("queue"), MEMBER(queue_entries), .fallback = 128, RANGE(1, 4096), FACT(paper),
      .help = "prefetches that wait for a free load/store cycle; more are refused" },

    /* utility */
    { COUNTED("zero_limit"), MEMBER(zero_limit), .fallback = 3, RANGE(1, 15), FACT(paper),
      .help = "zeros in a row, falling and rising by one, that suppress a pattern" },
    { REAL("zero_reset", SC_CYCLES), MEMBER(zero_reset_cycles), .fallback = 128, RANGE(1, 1e6),
      FACT(paper), .help = "after which a suppressed pattern is tried again" },
    { REAL("zero_cache_share", SC_SHARE), MEMBER(zero_cache_share), .fallback = 0.0625,
      RANGE(0, 0.5), FACT(paper), .help = "part of L1 and of L2 that holds zero metadata" },
    { COUNTED("zero_lines"), MEMBER(zero_lines), .fallback = 32, RANGE(1, 32),
      FACT("a bit for each 4-byte word: 1024 words"), .help = "data lines that one line of metadata covers, and that become known "
              "together" },
    { .key = "zero_learning", CHOICES(learnings), MEMBER(zero_learning),
      .help = "when the zero filter learns" },
    { .key = "zero_fill", CHOICES(zero_fills), MEMBER(zero_fill),
      .help = "where a prefetched zero sector goes" },

    /* timeliness */
    { COUNTED("score_threshold"), MEMBER(score_threshold), .fallback = 4, RANGE(0, 16), FACT(paper),
      .help = "confidence less distance from the best below which a candidate is not issued" },
    { COUNTED("start_distance"), MEMBER(start_distance), .fallback = 1, RANGE(1, 63),
      ANCHOR("SK+SCC in Fig. 12 and 13"),
      .help = "best distance before anything is learnt" },
    { COUNTED("warmup"), MEMBER(warmup_samples), .fallback = 31, RANGE(0, 1e6), FACT(paper),
      .help = "feedback events before a pattern goes by its own distance" },
    { COUNTED("window"), MEMBER(window_samples), .fallback = 15, RANGE(1, 1e6), FACT(paper),
      .help = "feedback events between two moves of a distance" },
    { COUNTED("eviction_buffer"), MEMBER(eviction_entries), .fallback = 64, RANGE(0, 65536),
      FACT(paper), .help = "evicted prefetches that the tuner remembers" },

    /* placement */
    { COUNTED("register_entries"), MEMBER(register_entries), .fallback = 64,
      RANGE(0, 4096), FACT(paper), .help = "entries of 4 x 32 bytes, as far as idle registers go" },
    { .key = "replacement", CHOICES(replacements), MEMBER(replacement),
      .help = "which register entry a new prefetch takes; the paper's text has it both ways" },
    { REAL("register_hold", SC_CYCLES), MEMBER(register_hold_cycles), .fallback = 16000,
      RANGE(1, 1e9), ANCHOR("SK+PRT in Fig. 12 and 13"), .help = "age from which replacement=aged gives an entry up" },

    /* throttle */
    { REAL("throttle_share", SC_SHARE), MEMBER(throttle_share), .fallback = 0.22, RANGE(0, 1),
      ANCHOR("coverage of SK in Fig. 12"),
      .help = "part of L1 with prefetched data not yet used at which prefetching pauses" },
    { REAL("throttle_latency", SC_CYCLES), MEMBER(throttle_cycles), .fallback = 600,
      RANGE(1, 1e9), ANCHOR("zero filter of Fig. 13"),
      .help = "mean latency of fills at which prefetching pauses" },

    COEFFICIENT("residence_factor", residence_factor, 1, "factor on the characteristic time of L1"),
    COEFFICIENT("residence_cv", residence_cv, 0.55, "spread of the residence in L1, over its mean"),
    COEFFICIENT("lead_cv", lead_cv, 0.16, "spread of the lead of a prefetch that scheduling adds, over its mean"),
    COEFFICIENT("late_factor", late_factor, 1.5, "share of the remaining wait for a late prefetch that its warp feels"),
    COEFFICIENT("barrier_factor", barrier_factor, 0.77, "factor on the wait for the last warp, at barriers and ends of CTAs"),
    COEFFICIENT("useless_factor", useless_factor, 0.9, "factor on prefetches that nobody wants"),
    COEFFICIENT("burst_factor", burst_factor, 1.3, "requests of a demand burst at L2 and memory"),
    COEFFICIENT("order_factor", order_factor, 0.3, "factor on how far warps drift apart"),
};

#define ANSWER(name) .offset = offsetof(struct sc_prefetch_answer, name)
#define SHARE(name, text) \
    { .column = #name, .dimension = SC_SHARE, ANSWER(name), .help = text }
#define BRIEF(name, text) \
    { .column = #name, .dimension = SC_SHARE, ANSWER(name), .brief = true, .help = text }
#define STALL(name, word, text) \
    { .column = #name, .dimension = SC_SHARE, ANSWER(name), .stall = word, .help = text }

static const struct sc_metric metrics[] = {
    { .column = "slowdown", .slowdown_power = 1, ANSWER(slowdown), .brief = true,
      .help = "time over the time without prefetches; below 1: prefetching helps" },
    { .column = "speedup", .slowdown_power = -1, ANSWER(speedup), .help = "the reciprocal" },
    { .column = "time_s", .dimension = SC_SECONDS, ANSWER(time_s), .brief = true,
      .help = "of all CTAs of an SM" },
    { .column = "ipc", ANSWER(ipc), .brief = true, .help = "warp instructions per cycle of an SM" },
    SHARE(ipc_gain, "speedup less 1"),
    SHARE(front_end_gain, "the same over the front end alone (sk, apg, stride)"),
    { .column = "front_end_speedup", ANSWER(front_end_speedup),
      .help = "time of the front end alone over the time" },
    SHARE(oracle_gap, "IPC with perfect utility, timeliness and placement over IPC, less 1"),
    { .column = "bound", .text = true, ANSWER(bound), .brief = true,
      .help = "what the largest part of the time is due to" },
    { .column = "worth_fixing_first", .text = true, ANSWER(worth_fixing_first), .brief = true,
      .help = "utility, timeliness or placement: whose oracle gains most; or none" },
    STALL(issue_share, "issue",
          "a scheduler issues, or waits between two instructions of a warp; mean over schedulers"),
    STALL(latency_stall_share, "latency", "all its warps wait for loads"),
    STALL(bandwidth_stall_share, "bandwidth", "the same, while L2 or memory has a queue"),
    STALL(barrier_stall_share, "barrier", "all its warps that do not wait for loads wait for other warps"),
    STALL(queue_stall_share, "queue", "the next load finds no load/store slot or MSHR"),
    BRIEF(on_time_share, "of on time, early and late"),
    SHARE(early_share, "likewise"),
    SHARE(late_share, "likewise"),
    BRIEF(coverage, "on time over on time, late and demand misses"),
    BRIEF(accuracy, "on time over issued"),
    SHARE(issued_share, "prefetches issued over candidates that are not there or under way"),
    SHARE(unused_share, "of issued: nobody came, or another prefetch served"),
    SHARE(dropped_share, "of issued: thrown away on arrival, or overwritten by a store"),
    SHARE(l1_hit_share, "loaded sectors that L1, registers or zero metadata had"),
    { .column = "load_latency_s", .dimension = SC_SECONDS, ANSWER(load_latency_s),
      .help = "mean over all loads" },
    { .column = "l2_per_instruction_bytes", .dimension = SC_BYTES, ANSWER(l2_bytes_per_instruction),
      .help = "read from L2 per warp instruction" },
    { .column = "dram_per_instruction_bytes", .dimension = SC_BYTES,
      ANSWER(dram_bytes_per_instruction), .help = "read from memory per warp instruction" },
    SHARE(l2_traffic_change, "over the front end alone, less 1"),
    SHARE(dram_traffic_change, "likewise"),
    SHARE(demand_evictions_share, "evicted sectors that demand had fetched and a prefetch evicts"),
    { .column = "best_distance", ANSWER(best_distance),
      .help = "where the tuner ends, or the mean distance of on-time prefetches; 0: none" },
    SHARE(zero_false_positive, "non-zero candidates that are suppressed, of all non-zero ones"),
    SHARE(zero_false_negative, "zero candidates that are not suppressed, of all zero ones"),
    SHARE(register_fallback_share, "prefetches that found no register entry"),
    SHARE(register_invalidation_share, "sectors in registers that a store invalidates"),
};

const struct sc_system sc_prefetch_system = {
    .name = "prefetch",
    .title = "hardware prefetching into an SM",
    .question = "how many of a prefetcher's good guesses become speed, and which of utility, "
                "timeliness and placement is worth fixing first?",
    .source = "SnakeCharmer: Orchestrating Utility, Timeliness, and Placement in GPU Prefetching",
    .fields = sc_prefetch_fields,
    .field_count = sizeof sc_prefetch_fields / sizeof sc_prefetch_fields[0],
    .plan_keys = "distance memory_bandwidth l2 warps compute working_set",
    .metrics = metrics,
    .metric_count = sizeof metrics / sizeof metrics[0],
    .scenario_size = sizeof(struct sc_prefetch),
    .answer_size = sizeof(struct sc_prefetch_answer),
    .clock_key = "clock",
    .precision = 1e-4,
    .estimate = sc_prefetch_estimate,
};

_Static_assert(sizeof(struct sc_prefetch) <= SC_SCENARIO_MAX,
               "a scenario must fit the callers' storage");
_Static_assert(sizeof(struct sc_prefetch_answer) <= SC_ANSWER_MAX,
               "an answer must fit the callers' storage");
