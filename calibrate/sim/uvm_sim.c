/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/uvm_sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/uvm_engine.h"
#include "uvm.h"

static const double SMALL_VISITS_MAX = 3e7; /* more of them are gone over by region */
static const double FAULT_BYTES = 4096.0, ACCESS_BYTES = 128.0, QUANTUM_BYTES = 65536.0;
static const double IN_FLIGHT_MAX = 65536.0;
static const double REGIONS_MAX = 8e6; /* some 70 bytes each */
enum { WINDOW_PARTS = 64, COLUMNS = 16, PIECES = 8, STEPS_MAX = 1000000, ALLOCATIONS = 2 };
enum { SWEEP_REGIONS = 256 };

/* A scenario made ready for the engine. */
struct bench {
    const struct sc_uvm *scenario;
    struct sc_uvm_load load;
    struct uvm_shape shape;
    struct uvm_step *steps;
    size_t count, room;
    struct uvm_machine machine;
    struct uvm_counter_policy counters;
    struct uvm_allocation allocations[ALLOCATIONS];
    size_t allocation_count;
    struct uvm_input input;
};

/* ---- workloads ---- */

static uint32_t leaves_of(const struct bench *b, double bytes)
{
    return (uint32_t)fmin(fmax(1.0, ceil(bytes / b->scenario->leaf_bytes - 1e-9)), b->shape.leaves);
}

/* Counts of a key, within what an array may have. */
static uint32_t whole(double value)
{
    return (uint32_t)fmin(fmax(1.0, floor(value + 0.5)), 4e9);
}

/* The last `passes` of a bitonic sort: what the keys say, to a part of a pass. */
static size_t build_sort(struct bench *b)
{
    const double n = log2(b->load.footprint_bytes / b->scenario->tile_bytes);
    const uint32_t levels = (uint32_t)fmax(1.0, ceil(n));
    const size_t count = uvm_steps_bitonic(&b->shape, levels, b->steps, b->room);
    const size_t wanted = (size_t)fmax(1.0, ceil(b->load.passes - 1e-9));
    if (count == 0)
        return 0;
    const size_t kept = wanted < count ? wanted : count;
    memmove(b->steps, b->steps + (count - kept), kept * sizeof *b->steps);
    b->steps[0].passes = fmin(1.0, b->load.passes - (double)(kept - 1));
    return kept;
}

static size_t build_strided(struct bench *b)
{
    if (!isnan(b->scenario->tile_bytes))
        return build_sort(b);
    b->steps[0] = uvm_sweep(&b->shape, b->load.passes);
    b->steps[0].order = UVM_STRIDED;
    b->steps[0].stride = whole(b->shape.leaves / (4.0 * b->shape.run_leaves));
    return 1;
}

static size_t build_sweep(struct bench *b)
{
    b->steps[0] = uvm_sweep(&b->shape, b->load.passes);
    return 1;
}

static size_t build_random(struct bench *b)
{
    b->steps[0] = uvm_mixed(&b->shape, b->load.passes, 1.0);
    return 1;
}

static size_t build_mixed(struct bench *b)
{
    const bool mixed = b->scenario->randomness > 0.0;
    b->steps[0] = mixed ? uvm_mixed(&b->shape, b->load.passes, b->scenario->randomness)
                        : uvm_sweep(&b->shape, b->load.passes);
    return 1;
}

static size_t build_hot_prefix(struct bench *b)
{
    return uvm_steps_hot_prefix(&b->shape, b->load.passes, leaves_of(b, b->load.hot_bytes), b->steps,
                                b->room);
}

static size_t build_stream_hot(struct bench *b)
{
    const uint32_t hot = leaves_of(b, b->load.hot_bytes);
    if (hot >= b->shape.leaves)
        return build_sweep(b);
    struct uvm_shape once = b->shape; /* touches are of the hot set */
    once.leaf_bytes = whole(once.leaf_bytes / b->scenario->touches);
    const double visits = b->scenario->touches * hot / (double)(b->shape.leaves - hot);
    return uvm_steps_hot_stream(&once, b->load.passes, hot, visits * once.run_leaves, b->steps,
                                b->room);
}

static size_t build_window(struct bench *b)
{
    b->shape.streams = WINDOW_PARTS;
    return uvm_steps_drift(&b->shape, leaves_of(b, b->load.hot_bytes), b->scenario->drift,
                           whole(b->scenario->phases), b->load.passes, b->steps, b->room);
}

static size_t build_scan(struct bench *b)
{
    const double share = b->load.hot_bytes / b->load.footprint_bytes;
    return uvm_steps_scan(&b->shape, COLUMNS, share, b->load.passes, b->steps, b->room);
}

static size_t build_scatter(struct bench *b)
{
    const double reads = b->load.passes * b->shape.leaves / 2.0;
    const uint32_t pieces = whole(fmin(PIECES, floor(SMALL_VISITS_MAX / reads) - 1.0));
    return uvm_steps_scatter(&b->shape, whole(b->load.passes), whole(b->scenario->streams), pieces,
                             b->steps, b->room);
}

/* One row per pattern: what builds its steps. */
struct workload {
    const char *kernel;
    size_t (*build)(struct bench *bench);
    bool by_leaf; /* visits are of one leaf whatever their number */
};

static const struct workload workloads[SC_UVM_PATTERNS] = {
    [SC_UVM_SWEEP] = { "sweep", build_sweep, false },
    [SC_UVM_STRIDED] = { "strided", build_strided, false },
    [SC_UVM_RANDOM] = { "random", build_random, true },
    [SC_UVM_MIXED] = { "mixed", build_mixed, true },
    [SC_UVM_HOT_PREFIX] = { "hot-prefix", build_hot_prefix, false },
    [SC_UVM_STREAM_HOT] = { "stream-past-hot", build_stream_hot, true },
    [SC_UVM_WINDOW] = { "window", build_window, false },
    [SC_UVM_LAYERS] = { "layers", build_sweep, false },
    [SC_UVM_SCAN] = { "scan", build_scan, false },
    [SC_UVM_STREAMS] = { "streams", build_scatter, true },
};

/* Steps that any pattern of this scenario may need. */
static double steps_needed(const struct bench *b)
{
    const struct sc_uvm *s = b->scenario;
    double most = fmax(2.0, s->phases);
    if (s->pattern == SC_UVM_STREAMS)
        most = fmax(most, ceil(b->load.passes));
    if (s->pattern == SC_UVM_SCAN)
        most = fmax(most, COLUMNS * ceil(b->load.passes));
    if (s->pattern == SC_UVM_STRIDED && !isnan(s->tile_bytes)) {
        const double levels = fmax(1.0, ceil(log2(b->load.footprint_bytes / s->tile_bytes)));
        most = fmax(most, levels * (levels + 1.0) / 2.0 + levels + 1.0);
    }
    return most + 1.0;
}

static enum sc_status refuse(struct sc_error *error, enum sc_status status, const char *field,
                             double value, const char *reason)
{
    *error = (struct sc_error){ .field = field, .value = value, .reason = reason };
    return status;
}

static bool skips_first_sweep(const struct sc_uvm *s)
{
    return s->pattern == SC_UVM_LAYERS || s->placement == SC_UVM_PLACE_NONE;
}

/* A sweep of everything goes before what an earlier pass is said to have placed. */
static void warm_up(struct bench *b)
{
    if (!skips_first_sweep(b->scenario))
        return;
    memmove(b->steps + 1, b->steps, b->count * sizeof *b->steps);
    b->steps[0] = uvm_sweep(&b->shape, 1.0);
    b->steps[0].leaves = leaves_of(b, b->scenario->pattern == SC_UVM_WINDOW
                                          ? b->load.hot_bytes
                                          : b->load.footprint_bytes);
    b->steps[0].barrier = true;
    b->count++;
}

/* So many visits that they are gone over by region, if the pattern lets them. */
static void choose_run(struct bench *b, uint32_t block_leaves)
{
    const struct sc_uvm *s = b->scenario;
    const double phases = s->pattern == SC_UVM_WINDOW ? s->phases : 1.0;
    const double visits = phases * b->load.passes * b->shape.leaves;
    b->shape.run_leaves = 1;
    if (visits > SMALL_VISITS_MAX && !workloads[s->pattern].by_leaf &&
        !(s->pattern == SC_UVM_MIXED && s->randomness > 0.0))
        b->shape.run_leaves = block_leaves;
}

static enum sc_status build_steps(struct bench *b, struct sc_error *error)
{
    const struct sc_uvm *s = b->scenario;
    const double leaves = ceil(b->load.footprint_bytes / s->leaf_bytes - 1e-9);
    const uint32_t block_leaves = whole(s->region_bytes / s->leaf_bytes);
    if (!(leaves < 2e9 && b->load.footprint_bytes / s->region_bytes <= REGIONS_MAX &&
          steps_needed(b) <= STEPS_MAX))
        return refuse(error, SC_ERANGE, "footprint", b->load.footprint_bytes,
                      "is too many pages, regions (8 million) or phases to simulate");
    const double read = s->touches * (isnan(s->access_bytes) ? s->leaf_bytes
                                                             : fmin(s->access_bytes, s->leaf_bytes));
    if (!(read < 4e9))
        return refuse(error, SC_ERANGE, "touches", s->touches,
                      "read more than 4 GB of a leaf in one visit");
    b->shape = (struct uvm_shape){ .leaves = (uint32_t)leaves, .leaf_bytes = whole(read),
                                   .random_bytes = whole(read), .streams = 1,
                                   .write_share = s->write_share };
    choose_run(b, block_leaves);
    b->room = (size_t)steps_needed(b);
    b->steps = calloc(b->room + 1, sizeof *b->steps);
    if (b->steps == NULL)
        return refuse(error, SC_ENOSPACE, "simulation", (double)NAN, "ran out of memory");
    b->count = workloads[s->pattern].build(b);
    if (b->count == 0)
        return refuse(error, SC_EDOMAIN, "footprint", b->load.footprint_bytes,
                      "is too small for this pattern");
    warm_up(b);
    const double visits = uvm_visits(b->steps, b->count);
    if (!(visits <= UVM_VISITS_MAX))
        return refuse(error, SC_ERANGE, "page visits", visits,
                      "are more than the 120 million that are simulated: make fewer passes or "
                      "the footprint smaller");
    return SC_OK;
}

/* ---- machine and policy ---- */

/* Bytes that the measured steps touch. */
static double touched_bytes(const struct bench *b)
{
    double sum = 0.0;
    for (size_t i = skips_first_sweep(b->scenario) ? 1 : 0; i < b->count; i++) {
        const struct uvm_step *step = &b->steps[i];
        const double visits = uvm_step_visits(step);
        const double in_order = step->passes * step->leaves * (double)step->leaf_bytes;
        sum += (1.0 - step->random_share) * in_order +
               visits * (step->random_share * step->random_bytes +
                         step->side_visits * step->side_bytes);
    }
    return sum;
}

/* Visits in flight: a touch in flight is one line of 128 bytes, of which a visit in
 * order takes many; a random one is a touch. */
static double visits_in_flight(const struct bench *b)
{
    const struct sc_uvm *s = b->scenario;
    const double random = s->pattern == SC_UVM_RANDOM  ? 1.0
                          : s->pattern == SC_UVM_MIXED ? s->randomness
                                                       : 0.0;
    const double bytes = fmin(b->shape.leaf_bytes, s->leaf_bytes) * b->shape.run_leaves;
    const double in_order = fmax(1.0, s->in_flight * fmin(1.0, ACCESS_BYTES / bytes));
    return fmin(fmax(in_order, random * s->in_flight), IN_FLIGHT_MAX);
}

/* Share of the touched bytes that go over the busier direction when all is mapped. */
static double busier_share(const struct bench *b)
{
    const bool scatters = b->scenario->pattern == SC_UVM_STREAMS; /* writes all it reads */
    const double written = scatters ? 0.5 + 0.5 * b->scenario->write_share
                                    : b->scenario->write_share;
    return fmax(written, 1.0 - written);
}

/* What link_passes is anchored to is a mapped run of T_dev and its link time, one after
 * the other; here they overlap, so the link takes as long as both.  A window's do
 * overlap.  The key is about the busier direction. */
static double link_rate_scale(const struct bench *b, double touched)
{
    const struct sc_uvm *s = b->scenario;
    if (isnan(b->load.link_bytes))
        return 1.0;
    double bytes = b->load.link_bytes * fmax(s->write_share, 1.0 - s->write_share);
    if (s->pattern != SC_UVM_WINDOW)
        bytes += b->load.device_s * s->link_rate_bytes_per_s;
    return touched * busier_share(b) / bytes;
}

static void set_up_machine(struct bench *b)
{
    const struct sc_uvm *s = b->scenario;
    const double touched = touched_bytes(b);
    const bool given = !isnan(b->load.link_bytes);
    b->machine = (struct uvm_machine){
        .capacity_bytes = b->load.usable_bytes,
        .block_bytes = whole(s->region_bytes),
        .leaf_bytes = whole(s->leaf_bytes),
        .device_bytes_per_s = touched / b->load.device_s,
        .in_bytes_per_s = s->migration_rate_bytes_per_s,
        .out_bytes_per_s = s->migration_rate_bytes_per_s,
        .mapped_bytes_per_s = s->link_rate_bytes_per_s * link_rate_scale(b, touched),
        .random_cost = given ? 1.0 : s->random_read_cost,
        .batch_s = s->fault_group_s,
        .copy_s = s->fault_copy_s,
        .batch_entries = whole(s->fault_batch),
        .fault_bytes = (uint32_t)FAULT_BYTES,
        .access_bytes = (uint32_t)ACCESS_BYTES,
        .quantum_bytes = (uint32_t)QUANTUM_BYTES,
        .in_flight = whole(visits_in_flight(b)),
        .tree_percent = 51,
        .write_back_clean = true,
        .reads_evicted = s->coherent == SC_UVM_YES,
    };
}

/* Scales what a batch and a copy take so that the faults of a sweep, that fits, has as
 * much in flight and walks as many parts, are served at fault_rate. */
static enum sc_status scale_service(struct uvm_engine *engine, struct bench *b)
{
    const struct sc_uvm *s = b->scenario;
    const double bytes = SWEEP_REGIONS * s->region_bytes, wanted_s = bytes / s->fault_rate_bytes_per_s;
    struct uvm_shape shape = b->shape;
    shape.leaves = (uint32_t)(bytes / s->leaf_bytes + 0.5);
    shape.leaf_bytes = b->machine.leaf_bytes;
    shape.write_share = 0.0;
    const struct uvm_step sweep = uvm_sweep(&shape, 1.0);
    const struct uvm_allocation allocation = { .blocks = SWEEP_REGIONS, .populated = true };
    struct uvm_machine machine = b->machine;
    machine.capacity_bytes = bytes;
    const double in_flight = s->in_flight * fmin(1.0, ACCESS_BYTES / s->leaf_bytes) /
                             b->shape.run_leaves;
    machine.in_flight = whole(fmin(fmax(1.0, in_flight), IN_FLIGHT_MAX));
    const struct uvm_input input = { .machine = &machine, .allocations = &allocation,
                                     .allocation_count = 1, .steps = &sweep, .step_count = 1 };
    enum sc_status status = SC_OK;
    double scale = s->fault_group_s + s->fault_copy_s > 0.0 ? 1.0 : 0.0;
    /* How many share a batch depends a little on how long one takes. */
    for (int i = 0; i < 3 && status == SC_OK && scale > 0.0; i++) {
        struct uvm_result result;
        machine.batch_s = scale * s->fault_group_s;
        machine.copy_s = scale * s->fault_copy_s;
        status = uvm_engine_run(engine, &input, &result);
        scale = wanted_s / ((double)result.batches * s->fault_group_s +
                            (double)result.copies * s->fault_copy_s);
    }
    b->machine.batch_s = scale * s->fault_group_s;
    b->machine.copy_s = scale * s->fault_copy_s;
    return status;
}

static void set_up_counters(struct bench *b)
{
    static const enum uvm_replacement replacements[] = {
        [SC_UVM_COUNTER_HOLD] = UVM_COUNTER_HOLD,
        [SC_UVM_COUNTER_LRU] = UVM_COUNTER_LRU,
        [SC_UVM_COUNTER_RANDOM] = UVM_COUNTER_RANDOM,
    };
    const struct sc_uvm *s = b->scenario;
    const double regions = ceil(b->load.footprint_bytes / s->region_bytes);
    /* Of the memory, where the engine takes them of what is usable. */
    const double scale = s->memory_bytes / b->load.usable_bytes;
    b->counters = (struct uvm_counter_policy){
        .counters = whole(fmin(fmin(s->counters, regions), 65534.0)),
        .threshold = whole(s->counter_threshold),
        .replacement = replacements[s->counter_replacement],
        .span_bytes = s->block_promotion > 0.0 ? s->promotion_span_bytes : s->region_bytes,
        .promotes = true,
        .evicts = s->eager_eviction > 0.0,
        .protects = s->aware_eviction > 0.0,
        .high_watermark = fmin(1.0, scale * s->high_watermark),
        .low_watermark = fmin(1.0, scale * s->low_watermark),
        .interval_s = s->eviction_interval_s,
        .eviction_batch = whole(s->eviction_batch),
        .heat_ratio = s->heat_ratio,
        .stale_intervals = whole(s->stale_intervals),
        .base_grace_s = s->base_grace_s,
        .return_window_s = s->return_window_s,
        .score_grace_s = s->score_grace_s,
        .max_grace_s = s->max_grace_s,
        .score_decay_s = s->score_decay_s,
    };
}

/* One allocation, or for a profiled run the hot part and the rest. */
static void set_up_allocations(struct bench *b)
{
    const struct sc_uvm *s = b->scenario;
    const struct sc_uvm_mechanisms m = sc_uvm_mechanisms(s->policy);
    const double region = s->region_bytes;
    const uint32_t blocks = whole(ceil(b->load.footprint_bytes / region - 1e-9));
    const uint32_t hot = whole(ceil(b->load.hot_bytes / region - 1e-9));
    const double wanted = s->pattern == SC_UVM_WINDOW ? b->load.hot_bytes : b->load.footprint_bytes;
    const double pinned = isnan(s->pinned_bytes) ? wanted : s->pinned_bytes;
    b->allocations[0] = (struct uvm_allocation){
        .blocks = blocks,
        .placement = m.counts  ? UVM_COUNTED
                     : m.pins  ? UVM_PINNED
                     : m.ahead ? UVM_AHEAD
                     : m.faults ? UVM_FAULTED
                                : UVM_MAPPED,
        .populated = true,
        .pinned_blocks = (uint32_t)fmin(ceil(pinned / region - 1e-9), blocks),
        .ahead_blocks = s->pattern == SC_UVM_WINDOW ? hot : 0, /* a call for the first window */
    };
    b->allocation_count = 1;
    if (!m.per_allocation || hot >= blocks)
        return;
    b->allocations[0].blocks = hot;
    b->allocations[1] = b->allocations[0];
    b->allocations[1].blocks = blocks - hot;
    b->allocation_count = 2;
}

static enum uvm_skip what_to_skip(const struct bench *b)
{
    if (skips_first_sweep(b->scenario))
        return UVM_SKIP_FIRST_KERNEL;
    return b->scenario->placement == SC_UVM_PLACE_FAULTS ? UVM_SKIP_SETUP : UVM_SKIP_NOTHING;
}

static enum sc_status set_up(struct bench *b, const struct sc_uvm *s, double room,
                             const struct sc_sim_options *options, struct sc_error *error)
{
    *b = (struct bench){ .scenario = s, .load = sc_uvm_load(s) };
    b->load.usable_bytes = fmax(s->region_bytes, room * b->load.usable_bytes);
    if (s->host_passes > 0.0)
        return refuse(error, SC_EDOMAIN, "host_passes", s->host_passes,
                      "must be 0: what host code touches is not simulated");
    const enum sc_status status = build_steps(b, error);
    if (status != SC_OK)
        return status;
    set_up_machine(b);
    set_up_counters(b);
    set_up_allocations(b);
    b->input = (struct uvm_input){
        .machine = &b->machine,
        .counters = &b->counters,
        .allocations = b->allocations,
        .allocation_count = b->allocation_count,
        .steps = b->steps,
        .step_count = b->count,
        .rng = sc_sim_rng_make(options->seed, options->run, 0),
        .skip = what_to_skip(b),
        .check = options->check,
        .record = options->record != NULL,
    };
    return SC_OK;
}

/* ---- runs ---- */

static void add_report(struct sc_sim_report *report, const struct uvm_result *r)
{
    report->events += r->events;
    report->units += r->visits;
    report->little_error = fmax(report->little_error, r->little_error);
    report->waiting = r->waiting;
}

static enum sc_status run_once(struct uvm_engine *engine, struct bench *b,
                               struct sc_sim_report *report, struct uvm_result *result)
{
    const enum sc_status status = uvm_engine_run(engine, &b->input, result);
    add_report(report, result);
    return status;
}

/* Each allocation gets the placement that makes the run shortest, the others as they
 * are; *profile_s: a run with faults, which is what is profiled. */
static enum sc_status choose_placements(struct uvm_engine *engine, struct bench *b,
                                        struct sc_sim_report *report, double *profile_s)
{
    static const enum uvm_placement choices[] = { UVM_AHEAD, UVM_MAPPED, UVM_PINNED };
    struct uvm_result result;
    const bool record = b->input.record;
    b->input.record = false;
    enum sc_status status = run_once(engine, b, report, &result);
    double best_s = result.time_s;
    *profile_s = result.time_s;
    for (size_t i = 0; i < b->allocation_count; i++) {
        struct uvm_allocation *allocation = &b->allocations[i];
        enum uvm_placement best = allocation->placement;
        for (size_t j = 0; j < sizeof choices / sizeof choices[0] && status == SC_OK; j++) {
            allocation->placement = choices[j];
            allocation->pinned_blocks = allocation->blocks;
            status = run_once(engine, b, report, &result);
            if (status == SC_OK && result.time_s < best_s) {
                best_s = result.time_s;
                best = choices[j];
            }
        }
        allocation->placement = best;
    }
    b->input.record = record;
    return status;
}

static enum sc_status run_policy(struct uvm_engine *engine, struct bench *b,
                                 struct sc_sim_report *report, struct uvm_result *result,
                                 double *fixed_s)
{
    const struct sc_uvm *s = b->scenario;
    const struct sc_uvm_mechanisms m = sc_uvm_mechanisms(s->policy);
    double profile_s = 0.0;
    *fixed_s = s->fixed_s + (m.pins ? s->static_setup_s : 0.0);
    if (m.per_allocation) {
        const enum sc_status status = choose_placements(engine, b, report, &profile_s);
        if (status != SC_OK)
            return status;
        *fixed_s += isnan(s->profile_s) ? s->profile_runs * profile_s : s->profile_s;
    }
    return run_once(engine, b, report, result);
}

/* ---- answers ---- */

static const char *bound_of(const struct uvm_result *r, double fixed_s)
{
    const struct {
        double time_s;
        const char *name;
    } parts[] = { { r->activity_s[UVM_DEVICE], "device" },
                  { r->activity_s[UVM_MIGRATING], "migration" },
                  { r->activity_s[UVM_EVICTING], "eviction" },
                  { r->activity_s[UVM_SERVING], "faults" },
                  { r->activity_s[UVM_REMOTE_READ], "mapped reads" },
                  { fixed_s, "fixed cost" } };
    size_t largest = 0;
    for (size_t i = 1; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].time_s > parts[largest].time_s)
            largest = i;
    return parts[largest].name;
}

static void answer_phases(const struct uvm_result *r, size_t first, struct sc_uvm_answer *a)
{
    const size_t last = r->phases - 1;
    a->first_phase_bytes_per_s =
        r->phase_bytes[first] / (r->phase_s[first] - r->phase_placing_s[first]);
    a->last_phase_bytes_per_s = r->phase_bytes[last] / r->phase_s[last];
}

static void answer_of(const struct bench *b, const struct uvm_result *r, double fixed_s,
                      struct sc_uvm_answer *a)
{
    const struct sc_uvm *s = b->scenario;
    const struct sc_uvm_mechanisms m = sc_uvm_mechanisms(s->policy);
    const double time_s = r->time_s + fixed_s, in = (double)r->in_bytes;
    const double must_fit = m.faults ? b->load.touched_bytes : b->load.hot_bytes;
    *a = (struct sc_uvm_answer){
        .time_s = time_s,
        .ideal_time_s = b->load.device_s + s->fixed_s,
        .bound = bound_of(r, fixed_s),
        .device_share = r->activity_s[UVM_DEVICE] / time_s,
        .migration_share = r->activity_s[UVM_MIGRATING] / time_s,
        .eviction_share = r->activity_s[UVM_EVICTING] / time_s,
        .fault_share = r->activity_s[UVM_SERVING] / time_s,
        .mapped_share = r->activity_s[UVM_REMOTE_READ] / time_s,
        .fixed_share = (fixed_s + r->activity_s[UVM_LAUNCHING]) / time_s,
        .in_bytes = in,
        .out_bytes = (double)r->out_bytes,
        .mapped_bytes = (double)r->mapped_bytes,
        .faults = (double)r->faults,
        .thrash_factor = r->first_bytes > 0 ? fmax(0.0, in / (double)r->first_bytes - 1.0) : 0.0,
        .tokens_per_s =
            s->pattern == SC_UVM_LAYERS ? b->load.passes / time_s : (double)NAN,
        .bandwidth_bytes_per_s = (double)r->touched_bytes / time_s,
        .first_phase_bytes_per_s = (double)NAN,
        .last_phase_bytes_per_s = (double)NAN,
        .working_set_bytes = b->load.footprint_bytes,
        .usable_bytes = b->load.usable_bytes,
        .resident_share = fmin(1.0, (double)r->resident_bytes / b->load.footprint_bytes),
        .cliff_bytes = m.maps && !m.pins && !m.counts && !m.faults
                           ? (double)NAN
                           : b->load.usable_bytes * b->load.footprint_bytes / must_fit,
        .time_fits_s = time_s,
        .time_past_s = time_s,
    };
    a->slowdown = time_s / a->ideal_time_s;
    if (s->pattern == SC_UVM_WINDOW)
        answer_phases(r, skips_first_sweep(s) ? 1 : 0, a);
}

static enum sc_status simulate_with(const struct sc_uvm *s, double room,
                                    const struct sc_sim_options *options,
                                    struct sc_uvm_answer *answer, struct sc_sim_report *report,
                                    struct sc_error *error)
{
    struct bench bench;
    struct uvm_result result = { 0 };
    double fixed_s = 0.0;
    enum sc_status status = set_up(&bench, s, room, options, error);
    if (status != SC_OK) {
        free(bench.steps);
        return status;
    }
    struct uvm_engine *engine = uvm_engine_create();
    status = engine == NULL ? SC_ENOSPACE : scale_service(engine, &bench);
    if (status == SC_OK)
        status = run_policy(engine, &bench, report, &result, &fixed_s);
    if (status == SC_OK) {
        answer_of(&bench, &result, fixed_s, answer);
        if (options->record != NULL)
            uvm_engine_records(engine, workloads[s->pattern].kernel, options);
    } else {
        status = refuse(error, status, "simulation", (double)NAN,
                        report->waiting != NULL ? report->waiting
                        : status == SC_ENOSPACE ? "ran out of memory"
                        : status == SC_ERANGE   ? "has too many pages, or moves them too often"
                                                : "stopped");
    }
    uvm_engine_destroy(engine);
    free(bench.steps);
    return status;
}

/* Near the line both sides are possible: with a tenth more room, and a tenth less. */
static enum sc_status answer_branches(const struct sc_uvm *s, const struct sc_sim_options *options,
                                      struct sc_uvm_answer *a, struct sc_sim_report *report,
                                      struct sc_error *error)
{
    const double near_share = 0.10;
    const struct sc_uvm_load load = sc_uvm_load(s);
    const bool near_line = fabs(load.touched_bytes / load.usable_bytes - 1.0) < near_share ||
                           fabs(load.hot_bytes / load.usable_bytes - 1.0) < near_share;
    struct sc_sim_options quiet = *options;
    struct sc_uvm_answer other;
    if (isnan(a->cliff_bytes) || !near_line)
        return SC_OK;
    quiet.record = NULL;
    enum sc_status status = simulate_with(s, 1.0 + near_share, &quiet, &other, report, error);
    if (status != SC_OK)
        return status;
    a->time_fits_s = other.time_s;
    status = simulate_with(s, 1.0 - near_share, &quiet, &other, report, error);
    a->time_past_s = other.time_s;
    a->near_cliff = 1.0;
    return status;
}

static enum sc_status simulate(const void *scenario, const struct sc_sim_options *options,
                               void *answer, struct sc_sim_report *report, struct sc_error *error)
{
    const struct sc_uvm *s = scenario;
    *report = (struct sc_sim_report){ 0 };
    enum sc_status status = sc_uvm_check(s, error);
    if (status == SC_OK)
        status = simulate_with(s, 1.0, options, answer, report, error);
    if (status == SC_OK)
        status = answer_branches(s, options, answer, report, error);
    return status;
}

const struct sc_simulator sc_uvm_simulator = {
    .system = &sc_uvm_system,
    .unit = "page visits",
    .unused = "reuse refetch fitted_refetch adaptive_overhead adaptive_share prefetch_factor "
              "inflight_faults inflight_leaves inflight_power mixed_scale mixed_power "
              "stream_hot_factor window_factor",
    .simulate = simulate,
};
