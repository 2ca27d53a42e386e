/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of `uvm`: keys of a scenario, columns of an answer. */
#include <math.h>

#include "uvm_private.h"

static const struct sc_choice yes_no[] = {
    [SC_UVM_NO] = { "no", "left out" },
    [SC_UVM_YES] = { "yes", "counted" },
};
static const struct sc_choice modes[SC_UVM_MODES] = {
    [SC_UVM_LAW] = { "law", "predicts from what the algorithm does" },
    [SC_UVM_FITTED] = { "fitted", "constants of the application fitted to the paper's tables" },
};
static const struct sc_choice placements[] = {
    [SC_UVM_PLACE_ALL] = { "counted", "the time counts all of the first placement" },
    [SC_UVM_PLACE_FAULTS] = { "faults", "what the run brings in itself, not calls before it" },
    [SC_UVM_PLACE_NONE] = { "none", "an earlier pass has placed the data" },
};
static const struct sc_choice replacements[] = {
    [SC_UVM_COUNTER_HOLD] = { "hold", "a counter keeps its region until the threshold" },
    [SC_UVM_COUNTER_LRU] = { "lru", "the counter longest without an access takes the new region" },
    [SC_UVM_COUNTER_RANDOM] = { "random", "any counter takes the new region" },
};

#define MEMBER(name) .offset = offsetof(struct sc_uvm, name)
#define CHOICES(rows) .kind = SC_CHOICE, .choices = rows, .choice_size = sizeof rows[0], \
                      .choice_count = sizeof rows / sizeof rows[0], .minimum = 0, .maximum = 0
#define RANGE(low, high) .minimum = low, .maximum = high
#define SAMPLE(low, high, logarithmic) \
    .sample_low = low, .sample_high = high, .sample_log = logarithmic
#define FROM(text) .fallback = (double)NAN, .derived = text, .provenance = SC_DERIVED
#define COEFFICIENT(key_name, member, value, what) \
    { .key = key_name, .kind = SC_REAL, .dimension = SC_NUMBER, MEMBER(member), .fallback = value, \
      RANGE(0.01, 100), .provenance = SC_CALIBRATED, .source = "params/uvm", \
      .help = "closed form: " what }
#define FITTED(key_name, member, unit, low, high, what) \
    { .key = key_name, .kind = SC_REAL, .dimension = unit, MEMBER(member), .fallback = (double)NAN, \
      .derived = "as in mode=law", RANGE(low, high), .provenance = SC_ANCHOR, \
      .source = "fitted to Ember (arXiv 2610.13408) Table 4", .help = "mode=fitted: " what }
#define ANCHORED(key_name, member, unit, value, low, high, what) \
    { .key = key_name, .kind = SC_REAL, .dimension = unit, MEMBER(member), .fallback = value, \
      RANGE(low, high), .provenance = SC_ANCHOR, .source = fit_4, .help = what }
#define COUNTED(key_name, member, value, what) \
    { .key = key_name, .kind = SC_REAL, .dimension = SC_NUMBER, MEMBER(member), .fallback = value, \
      RANGE(0.01, 100), .provenance = SC_ANCHOR, .source = "a driver followed touch by touch", \
      .help = "closed form: " what }
/* A parameter of the driver, by Table 1 of the paper. */
#define EMBER(key_name, other, member_kind, unit, member, value, low, high, what) \
    { .key = key_name, .aliases = other, .kind = member_kind, .dimension = unit, MEMBER(member), \
      .fallback = value, RANGE(low, high), .provenance = SC_FACT, .source = table_1, .help = what }
#define DRIVER(key_name, member_kind, unit, member, value, low, high, from, what) \
    { .key = key_name, .kind = member_kind, .dimension = unit, MEMBER(member), .fallback = value, \
      RANGE(low, high), .provenance = SC_FACT, .source = from, .help = what }

/* A power of two apart from the other key. */
#define OCTAVES(key_name, member, other, value, low, high, what) \
    { .key = key_name, .kind = SC_REAL, .dimension = SC_BYTES, MEMBER(member), .fallback = value, \
      RANGE(low, high), .octaves_of = other, .provenance = SC_FACT, .source = section_2, \
      .help = what }

#define GIB 1073741824.0
#define MIB 1048576.0

static const char seed_paper[] = "Ember (arXiv 2610.13408)";
static const char table_1[] = "Ember (arXiv 2610.13408) Table 1";
static const char section_2[] = "Ember (arXiv 2610.13408) section 2";
static const char fit_4[] = "fitted to Ember (arXiv 2610.13408) Table 4";

static const struct sc_curve_place curve_place = {
    .capacities = offsetof(struct sc_uvm, curve_capacity_bytes),
    .ratios = offsetof(struct sc_uvm, curve_miss_ratio),
    .count = offsetof(struct sc_uvm, curve_count),
    .points = SC_UVM_CURVE_POINTS,
    .block_above = offsetof(struct sc_uvm, curve_block_above_bytes),
    .block_most = offsetof(struct sc_uvm, curve_block_most_bytes),
};

static const struct sc_field fields[] = {
    { .key = "gpu", .kind = SC_PRESET, .table = "gpus", .preset = "a40", .provenance = SC_FACT,
      .help = "GPU and its link: a row of gpus, or FILE:ROW" },
    { .key = "app", .kind = SC_PRESET, .table = "apps", .provenance = SC_FACT,
      .help = "application: a row of apps, or FILE:ROW" },
    { .key = "policy", CHOICES(sc_uvm_policies), MEMBER(policy), .preset = "uvm",
      .help = "where a region lives, and who decides it when" },
    { .key = "mode", CHOICES(modes), MEMBER(mode), .preset = "law",
      .help = "predict, or reproduce with constants fitted to the application" },
    /* GPU and link */
    { .key = "memory_capacity", .aliases = "capacity cap", .kind = SC_REAL, .dimension = SC_BYTES,
      MEMBER(memory_bytes), .fallback = 16 * GIB, RANGE(4 * MIB, 1e14), SAMPLE(GIB, 100 * GIB, true),
      .provenance = SC_FACT, .source = "gpus",
      .help = "memory that the run may use: of the GPU, or what a reservation leaves" },
    { .key = "usable_share", .kind = SC_REAL, .dimension = SC_SHARE, MEMBER(usable_share),
      .fallback = 0.90, RANGE(0.01, 1), .provenance = SC_ANCHOR,
      .source = "Ember (arXiv 2610.13408) Table 4, which leaves 0.86 to 0.97 open",
      .help = "part of memory_capacity that regions can have" },
    { .key = "link_rate", .kind = SC_REAL, .dimension = SC_BYTES_PER_SECOND,
      MEMBER(link_rate_bytes_per_s), .fallback = 21 * GIB, RANGE(1e6, 1e14),
      SAMPLE(8 * GIB, 100 * GIB, true), .provenance = SC_ANCHOR, .source = "gpus",
      .help = "zero-copy reads of host memory, as measured; not the link's nominal rate" },
    { .key = "migration_rate", .kind = SC_REAL, .dimension = SC_BYTES_PER_SECOND,
      MEMBER(migration_rate_bytes_per_s), .fallback = 21 * GIB, RANGE(1e6, 1e14),
      SAMPLE(8 * GIB, 100 * GIB, true), .provenance = SC_ANCHOR, .source = "gpus",
      .help = "bulk migration, in either direction" },
    { .key = "fault_rate", .kind = SC_REAL, .dimension = SC_BYTES_PER_SECOND,
      MEMBER(fault_rate_bytes_per_s), .fallback = 24 * GIB, RANGE(1e6, 1e14),
      SAMPLE(5 * GIB, 50 * GIB, true), .provenance = SC_ANCHOR, .source = "gpus",
      .help = "bytes whose faults the driver serves in a second, transfer left out" },
    { .key = "device_speed", .kind = SC_REAL, .dimension = SC_NUMBER, MEMBER(device_speed),
      .fallback = 1, RANGE(1e-3, 1e3), SAMPLE(0.5, 5, true), .provenance = SC_FACT,
      .source = "gpus", .help = "compute speed over that of the A40: ratio of FP32 throughputs" },
    { .key = "fitted_device_speed", .kind = SC_REAL, .dimension = SC_NUMBER,
      MEMBER(fitted_device_speed), .fallback = (double)NAN, .derived = "device_speed",
      RANGE(1e-3, 1e3), .provenance = SC_ANCHOR, .source = fit_4,
      .help = "mode=fitted: the same, fitted" },
    { .key = "memory_bandwidth", .kind = SC_REAL, .dimension = SC_BYTES_PER_SECOND,
      MEMBER(memory_bandwidth_bytes_per_s), .fallback = 696e9, RANGE(1e9, 1e15), SAMPLE(0.3e12, 5e12, true),
      .provenance = SC_FACT, .source = "gpus", .help = "bandwidth of the GPU's own memory" },
    { .key = "peak_flops", .kind = SC_REAL, .dimension = SC_FLOPS, MEMBER(peak_flops),
      FROM("not a limit"), RANGE(1e6, 1e18), .source = "gpus",
      .help = "peak arithmetic rate, against intensity" },
    { .key = "coherent", CHOICES(yes_no), MEMBER(coherent), .preset = "no",
      .help = "coherent link: what was evicted is read in place, not faulted on again" },
    /* workload */
    { .key = "pattern", CHOICES(sc_uvm_patterns), MEMBER(pattern), .preset = "sweep",
      .help = "how the footprint is gone over" },
    { .key = "footprint", .kind = SC_REAL, .dimension = SC_BYTES, MEMBER(footprint_bytes),
      FROM("oversubscription x memory_capacity"), RANGE(4 * MIB, 1e15),
      .help = "managed memory that the run goes over" },
    { .key = "oversubscription", .aliases = "ratio", .kind = SC_REAL, .dimension = SC_NUMBER,
      MEMBER(oversubscription), .fallback = 1.5, RANGE(0.001, 1000), SAMPLE(0.5, 4, true),
      .help = "footprint over memory_capacity, when footprint is not given" },
    { .key = "passes", .aliases = "tokens", .kind = SC_REAL, .dimension = SC_NUMBER, MEMBER(passes),
      .fallback = 1, RANGE(1, 1e6), SAMPLE(1, 8, true),
      .help = "sweeps; for random patterns touches of each leaf; tokens for layers" },
    { .key = "touches", .kind = SC_REAL, .dimension = SC_NUMBER,
      MEMBER(touches), .fallback = 1, RANGE(1, 1e6),
      .help = "accesses to a leaf each time that a pass comes by it" },
    { .key = "access_bytes", .aliases = "access", .kind = SC_REAL, .dimension = SC_BYTES,
      MEMBER(access_bytes), FROM("leaf"), RANGE(1, 1e9),
      .help = "bytes of a leaf that one touch reads" },
    { .key = "hot_share", .kind = SC_REAL, .dimension = SC_SHARE, MEMBER(hot_share), .fallback = 1,
      RANGE(1e-6, 1), SAMPLE(0.05, 1, false),
      .help = "part of the footprint that is hot: prefix, constant set, window, columns of a scan" },
    { .key = "randomness", .kind = SC_REAL, .dimension = SC_SHARE, MEMBER(randomness),
      .fallback = 0, RANGE(0, 1), SAMPLE(0, 1, false),
      .help = "share of the data that a pass of mixed touches in random order" },
    { .key = "write_share", .kind = SC_REAL, .dimension = SC_SHARE, MEMBER(write_share),
      .fallback = 0, RANGE(0, 1), .help = "share of the mapped bytes that are written" },
    { .key = "device_rate", .kind = SC_REAL, .dimension = SC_BYTES_PER_SECOND,
      MEMBER(device_rate_bytes_per_s),
      FROM("passes of memory_bandwidth, or intensity of peak_flops"), RANGE(1e3, 1e16),
      .help = "footprint over its time when resident, at device_speed 1" },
    { .key = "intensity", .kind = SC_REAL, .dimension = SC_NUMBER, MEMBER(intensity), .fallback = 0,
      RANGE(0, 1e9), .help = "operations per byte of the footprint in all, without device_rate" },
    { .key = "growth", CHOICES(yes_no), MEMBER(growth), .preset = "no",
      .help = "whether passes grow with the squared logarithm of the elements (sorting network)" },
    { .key = "tile", .kind = SC_REAL, .dimension = SC_BYTES, MEMBER(tile_bytes),
      FROM("passes as given"), RANGE(64, 1e9),
      .help = "strided: what a CTA sorts on chip, which gives the passes; streams: what it scatters at once" },
    { .key = "link_passes", .kind = SC_REAL, .dimension = SC_NUMBER, MEMBER(link_passes),
      FROM("passes x touches x access_bytes / leaf of the pattern"), RANGE(1e-4, 1e9),
      .help = "footprints that cross the link when all is mapped" },
    { .key = "reuse", .kind = SC_PRESET, .curve = &curve_place,
      .provenance = SC_FACT,
      .help = "file of a miss-ratio curve (mrc -f csv) on regions, of touches in the order of their "
              "faults: past capacity, the share of what passes= reads that comes in (not for simulate)" },
    { .key = "refetch", .kind = SC_REAL, .dimension = SC_NUMBER, MEMBER(refetch),
      FROM("the pattern's law"), RANGE(0, 1e9),
      .help = "bytes brought in again over bytes brought in first, past capacity" },
    { .key = "streams", .kind = SC_INTEGER, .dimension = SC_NUMBER, MEMBER(streams),
      .fallback = 256, RANGE(1, 1e9), .help = "output streams that a pass has open at once" },
    { .key = "phases", .kind = SC_INTEGER, .dimension = SC_NUMBER, MEMBER(phases), .fallback = 8,
      RANGE(1, 10000), .help = "of the moving window" },
    { .key = "drift", .kind = SC_REAL, .dimension = SC_SHARE, MEMBER(drift), .fallback = 0,
      RANGE(0, 1), SAMPLE(0, 1, false), .help = "part of the window that is new in each phase" },
    { .key = "host_passes", .kind = SC_REAL, .dimension = SC_NUMBER, MEMBER(host_passes),
      .fallback = 0, RANGE(0, 1e9),
      .help = "footprints that host code touches between kernels, which migration brings back" },
    { .key = "in_flight", .kind = SC_REAL, .dimension = SC_NUMBER, MEMBER(in_flight),
      .fallback = 4032, RANGE(0, 1e9), .provenance = SC_FACT,
      .source = "84 SMs x 48 warps (RTX 5080, A40)",
      .help = "touches under way at once: warps that have not exited" },
    { .key = "fixed", .kind = SC_REAL, .dimension = SC_SECONDS, MEMBER(fixed_s), .fallback = 0,
      RANGE(0, 1e6), .adds_alike = true, .help = "time of a run that does not depend on its footprint" },
    { .key = "placement", CHOICES(placements), MEMBER(placement), .preset = "counted",
      .help = "what of the first placement the time counts" },
    { .key = "profile_runs", .kind = SC_REAL, .dimension = SC_NUMBER, MEMBER(profile_runs),
      .fallback = 1, RANGE(0, 1000), .help = "profiled: runs under uvm before the run" },
    { .key = "profile_time", .kind = SC_REAL, .dimension = SC_SECONDS, MEMBER(profile_s),
      FROM("profile_runs x time under uvm"), RANGE(0, 1e9),
      .help = "profiled: profiling, metrics and selection" },
    FITTED("fitted_link_passes", fitted_link_passes, SC_NUMBER, 1e-4, 1e9, "link_passes"),
    FITTED("fitted_device_rate", fitted_device_rate_bytes_per_s, SC_BYTES_PER_SECOND, 1e3, 1e16,
           "device_rate"),
    FITTED("fitted_hot_share", fitted_hot_share, SC_SHARE, 1e-6, 1,
           "hot share, as far as what must be resident goes"),
    FITTED("fitted_refetch", fitted_refetch, SC_NUMBER, 0, 1e9, "refetch"),
    FITTED("fitted_host_passes", fitted_host_passes, SC_NUMBER, 0, 1e9, "host_passes"),
    /* driver */
    { .key = "pinned", .aliases = "hot_size", .kind = SC_REAL, .dimension = SC_BYTES,
      MEMBER(pinned_bytes), FROM("the hot set, else what is usable"), RANGE(0, 1e15),
      .help = "ember-static: what is made resident before the run" },
    OCTAVES("region", region_bytes, "leaf", 2 * MIB, 65536, GIB,
            "VA block: unit of residency and eviction"),
    OCTAVES("leaf", leaf_bytes, "region", 65536, 4096, GIB,
            "leaf of the prefetcher's tree: what a fault brings in"),
    DRIVER("fault_batch", SC_INTEGER, SC_NUMBER, fault_batch, 256, 1, 1e6,
           "NVIDIA open-gpu-kernel-modules, uvm_perf_fault_batch_count",
           "faults that are served together"),
    DRIVER("fault_group", SC_REAL, SC_SECONDS, fault_group_s, 129e-6, 0, 1,
           "measured on a GTX 1080 Ti: fits 21 of 21 runs within 2x",
           "simulator: service of one batch"),
    DRIVER("fault_copy", SC_REAL, SC_SECONDS, fault_copy_s, 8.6e-6, 0, 1,
           "measured on a GTX 1080 Ti: fits 21 of 21 runs within 2x",
           "simulator: service of one copy to the device, transfer left out"),
    DRIVER("counters", SC_INTEGER, SC_NUMBER, counters, 256, 1, 1e9,
           "Ember (arXiv 2610.13408) section 2.3", "hardware access counters"),
    { .key = "counter_replacement", CHOICES(replacements), MEMBER(counter_replacement),
      .preset = "hold", .help = "simulator: which counter a new region takes (not in the paper)" },
    EMBER("mapped_default", "cpu_preferred_blocks_enable", SC_INTEGER, SC_NUMBER, mapped_default, 0,
          0, 1, "ember-adaptive is on: its policy row says so whatever this is"),
    EMBER("block_promotion", "cpu_preferred_block_promotion_enable", SC_INTEGER, SC_NUMBER,
          block_promotion, 1, 0, 1, "promote whole regions"),
    EMBER("promotion_span", "cpu_preferred_prefetch_chunk_mb", SC_REAL, SC_BYTES,
          promotion_span_bytes, 64 * MIB, 65536, 1e12,
          "promoted around a region that crosses the threshold"),
    EMBER("counter_threshold", "perf_access_counter_threshold", SC_INTEGER, SC_NUMBER,
          counter_threshold, 256, 1, 1e9, "accesses before a notification"),
    EMBER("eager_eviction", "perf_eager_eviction_enable", SC_INTEGER, SC_NUMBER, eager_eviction, 1,
          0, 1, "reclaim before memory fills; 0: the resident set freezes when it is full"),
    EMBER("high_watermark", "perf_eager_eviction_high_watermark", SC_REAL, SC_SHARE, high_watermark,
          0.90, 0.01, 1, "usage that forces eviction and stops promotion"),
    EMBER("low_watermark", "perf_eager_eviction_low_watermark", SC_REAL, SC_SHARE, low_watermark,
          0.85, 0.01, 1, "usage that eviction aims at"),
    EMBER("eviction_interval", "perf_eager_eviction_interval_ms", SC_REAL, SC_SECONDS,
          eviction_interval_s, 25e-3, 1e-6, 1e3, "between passes; demand halves at each"),
    EMBER("eviction_batch", "perf_eager_eviction_batch_count", SC_INTEGER, SC_NUMBER,
          eviction_batch, 16, 1, 1e6, "regions evicted per pass"),
    EMBER("heat_ratio", "perf_eager_eviction_heat_ratio", SC_REAL, SC_NUMBER, heat_ratio, 2, 1, 1e6,
          "demand of hottest over coldest from which on one replaces the other"),
    EMBER("stale_intervals", "perf_eager_eviction_stale_intervals", SC_INTEGER, SC_NUMBER,
          stale_intervals, 5, 1, 1e6, "passes without demand until a region is cold"),
    EMBER("aware_eviction", "perf_migration_aware_eviction_enable", SC_INTEGER, SC_NUMBER,
          aware_eviction, 1, 0, 1, "protect regions that came back"),
    EMBER("base_grace", "perf_migration_eviction_base_grace_ms", SC_REAL, SC_SECONDS, base_grace_s,
          0.1, 0, 1e3, "protection after arrival"),
    EMBER("return_window", "perf_migration_eviction_return_window_ms", SC_REAL, SC_SECONDS,
          return_window_s, 0.5, 0, 1e3, "a return within this scores"),
    EMBER("score_grace", "perf_migration_eviction_score_grace_ms", SC_REAL, SC_SECONDS,
          score_grace_s, 0.25, 0, 1e3, "protection per point of score"),
    EMBER("max_grace", "perf_migration_eviction_max_grace_ms", SC_REAL, SC_SECONDS, max_grace_s, 2,
          0, 1e3, "longest protection"),
    EMBER("score_decay", "perf_migration_eviction_decay_ms", SC_REAL, SC_SECONDS, score_decay_s, 1,
          1e-6, 1e6, "the score halves in this time"),
    { .key = "static_setup", .kind = SC_REAL, .dimension = SC_SECONDS, MEMBER(static_setup_s),
      .fallback = 0, RANGE(0, 1e4), .adds_alike = true,
      .help = "ember-static: advice and prefetch calls, added to the time" },
    { .key = "random_read_cost", .kind = SC_REAL, .dimension = SC_NUMBER, MEMBER(random_read_cost),
      .fallback = 1, RANGE(1, 32),
      .help = "link bytes of a random mapped read over a linear one: 4 when 8 of 32 bytes are used" },
    COUNTED("inflight_faults", inflight_faults, 14,
            "touches in flight per region short at which random faults halve"),
    COUNTED("inflight_leaves", inflight_leaves, 20, "the same for the leaves that come in"),
    COUNTED("inflight_power", inflight_power, 1.9, "how sharply they do"),
    COUNTED("mixed_scale", mixed_scale, 8.8,
            "a of z = (a r / (1 - r) (1 - kappa) / kappa)^b, random touches among a sweep"),
    COUNTED("mixed_power", mixed_power, 1.7, "b of it"),
    COUNTED("stream_hot_factor", stream_hot_factor, 1,
            "factor on a stream's refetches past a hot set"),
    COEFFICIENT("random_factor", random_factor, 1.06, "factor on the leaves that random touches bring in"),
    COEFFICIENT("shared_service", shared_service, 0.65,
                "fault service of fronts side by side, which share batches, over that of one"),
    COEFFICIENT("random_service", random_service, 0.58,
                "copies for each leaf that the tree adds to a random fault"),
    { .key = "window_factor", .kind = SC_REAL, .dimension = SC_NUMBER, MEMBER(window_factor),
      .fallback = 0.5, RANGE(0.01, 100), .provenance = SC_ANCHOR,
      .source = "stallcast's simulator: median of windows of 0.8 to 1 of what is usable, 0.05 to 1.6",
      .help = "closed form: returns of a region in each further phase that a window as large as "
              "what is usable keeps it" },
    COEFFICIENT("streams_kept", streams_kept, 0.95,
                "part of what a scatter has written that is still there to be read"),
    COEFFICIENT("lag_share", lag_share, 0.84,
                "ember-adaptive: bytes read in place while as many could have been promoted"),
    COEFFICIENT("adaptive_factor", adaptive_factor, 0.99,
                "mode=law: factor on the time of ember-adaptive"),
    ANCHORED("adaptive_overhead", adaptive_overhead, SC_NUMBER, 1.16, 0.01, 100,
             "time of ember-adaptive over that of the split it keeps"),
    ANCHORED("adaptive_share", adaptive_share, SC_SHARE, 0.8791, 0.01, 1,
             "part of memory_capacity that ember-adaptive fills"),
    ANCHORED("prefetch_factor", prefetch_factor, SC_NUMBER, 1.108, 1, 100,
             "transfers of prefetch past capacity over those of uvm"),
};

#define ANSWER(name) .offset = offsetof(struct sc_uvm_answer, name)

static const struct sc_metric metrics[] = {
    { .column = "slowdown", .slowdown_power = 1, ANSWER(slowdown), .brief = true,
      .help = "time over that of the same run with all data resident" },
    { .column = "time_s", .slowdown_power = 1, .dimension = SC_SECONDS,
      ANSWER(time_s), .brief = true,
      .help = "the run, with what placement= says of the first placement" },
    { .column = "ideal_time_s", .dimension = SC_SECONDS, ANSWER(ideal_time_s),
      .help = "the same with all data resident beforehand" },
    { .column = "bound", .text = true, ANSWER(bound), .brief = true,
      .help = "what the largest part of the time is due to" },
    { .column = "device_share", .dimension = SC_SHARE, ANSWER(device_share), .stall = "device",
      .help = "share of the time that the GPU works from its own memory" },
    { .column = "migration_share", .dimension = SC_SHARE, ANSWER(migration_share), .stall = "in",
      .help = "bringing data in" },
    { .column = "eviction_share", .dimension = SC_SHARE, ANSWER(eviction_share), .stall = "out",
      .help = "writing evicted data back" },
    { .column = "fault_share", .dimension = SC_SHARE, ANSWER(fault_share), .stall = "faults",
      .help = "fault service" },
    { .column = "mapped_share", .dimension = SC_SHARE, ANSWER(mapped_share), .stall = "mapped",
      .help = "reading host memory in place" },
    { .column = "fixed_share", .dimension = SC_SHARE, ANSWER(fixed_share), .stall = "fixed",
      .help = "fixed costs, profiling, and the overhead of the policy" },
    { .column = "in_bytes", .dimension = SC_BYTES, ANSWER(in_bytes), .brief = true,
      .help = "migrated to the GPU" },
    { .column = "out_bytes", .dimension = SC_BYTES, ANSWER(out_bytes),
      .help = "evicted; what is left of in_bytes is resident at the end" },
    { .column = "mapped_bytes", .dimension = SC_BYTES, ANSWER(mapped_bytes),
      .help = "read or written in place over the link" },
    { .column = "faults", ANSWER(faults), .help = "faults of leaves, repeats not counted" },
    { .column = "thrash_factor", ANSWER(thrash_factor), .brief = true,
      .help = "bytes that come in again over bytes that come in first" },
    { .column = "tokens_per_s", .slowdown_power = -1, .dimension = SC_PER_SECOND,
      ANSWER(tokens_per_s),
      .help = "pattern=layers: passes over time" },
    { .column = "bandwidth_bytes_per_s", .slowdown_power = -1, .dimension = SC_BYTES_PER_SECOND,
      ANSWER(bandwidth_bytes_per_s), .help = "bytes that the kernel reads over time" },
    { .column = "first_phase_bytes_per_s", .dimension = SC_BYTES_PER_SECOND,
      ANSWER(first_phase_bytes_per_s), .help = "pattern=window: the same in the first phase, placed" },
    { .column = "last_phase_bytes_per_s", .dimension = SC_BYTES_PER_SECOND,
      ANSWER(last_phase_bytes_per_s), .help = "pattern=window: the same in the last phase" },
    { .column = "working_set_bytes", .dimension = SC_BYTES, ANSWER(working_set_bytes),
      .help = "managed memory that the run goes over" },
    { .column = "usable_bytes", .dimension = SC_BYTES, ANSWER(usable_bytes),
      .help = "what the GPU holds of it at most, in whole regions" },
    { .column = "resident_share", .dimension = SC_SHARE, ANSWER(resident_share), .brief = true,
      .help = "part of the footprint resident at the end" },
    { .column = "cliff_bytes", .dimension = SC_BYTES, ANSWER(cliff_bytes),
      .help = "footprint from which on the run thrashes or leaves hot data out" },
    { .column = "near_cliff", ANSWER(near_cliff), .brief = true,
      .help = "1: what must fit is within 10 % of what does, or streams past capacity: two branches" },
    { .column = "time_fits_s", .dimension = SC_SECONDS, ANSWER(time_fits_s),
      .help = "near_cliff: with 10 % more room, or if the streams do not thrash; else time_s" },
    { .column = "time_past_s", .dimension = SC_SECONDS, ANSWER(time_past_s),
      .help = "near_cliff: with 10 % less room, or if the streams thrash; else time_s" },
};

const struct sc_system sc_uvm_system = {
    .name = "uvm",
    .title = "working sets larger than GPU memory",
    .question = "what does each placement policy cost when a working set is larger than GPU memory, "
                "and where is the cliff?",
    .source = seed_paper,
    .fields = fields,
    .field_count = sizeof fields / sizeof fields[0],
    .plan_keys = "memory_capacity link_rate footprint oversubscription passes hot_share",
    .metrics = metrics,
    .metric_count = sizeof metrics / sizeof metrics[0],
    .scenario_size = sizeof(struct sc_uvm),
    .answer_size = sizeof(struct sc_uvm_answer),
    .estimate = sc_uvm_estimate,
};

_Static_assert(sizeof(struct sc_uvm) <= SC_SCENARIO_MAX, "a scenario must fit the callers' storage");
_Static_assert(sizeof(struct sc_uvm_answer) <= SC_ANSWER_MAX, "an answer must fit the callers' storage");
