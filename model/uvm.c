/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer of `uvm`: the scenario as bytes, what the policy makes of it, the working. */
#include "uvm.h"

#include <math.h>

#include "uvm_private.h"

#define GIB 1073741824.0

/* Room within this share of what must fit: the answer is given for either side. */
static const double near_share = 0.10;

double sc_uvm_footprint_bytes(const struct sc_uvm *s)
{
    return isnan(s->footprint_bytes) ? s->oversubscription * s->memory_bytes : s->footprint_bytes;
}

double sc_uvm_usable_bytes(const struct sc_uvm *s)
{
    return floor(s->usable_share * s->memory_bytes / s->region_bytes) * s->region_bytes;
}

double sc_uvm_passes(const struct sc_uvm *s)
{
    if (!sc_uvm_patterns[s->pattern].strides || isnan(s->tile_bytes))
        return sc_uvm_patterns[s->pattern].splits ? fmax(1.0, floor(s->passes + 0.5)) : s->passes;
    const double n = fmax(0.0, log2(sc_uvm_footprint_bytes(s) / s->tile_bytes));
    return n * (n + 1.0) / 2.0 + n + 1.0;
}

/* Compare steps of a sorting network over those at 8 GiB, where the rates were
 * measured: 28 = log2 of the 4-byte elements of a GiB. */
static double network_growth(double footprint)
{
    const double elements = fmax(1.0, log2(footprint / GIB) + 28.0);
    return elements * elements / (31.0 * 31.0);
}

static bool is_fitted(const struct sc_uvm *s)
{
    return s->mode == SC_UVM_FITTED;
}

/* The application's fitted constant if it has one and they are asked for. */
static double constant(const struct sc_uvm *s, double fitted, double own)
{
    return is_fitted(s) && !isnan(fitted) ? fitted : own;
}

static double device_time_s(const struct uvm_case *c, double growth)
{
    const struct sc_uvm *s = c->scenario;
    const double rate = constant(s, s->fitted_device_rate_bytes_per_s, s->device_rate_bytes_per_s);
    const double speed = constant(s, s->fitted_device_speed, s->device_speed);
    if (!isnan(rate)) {
        const double phases = c->pattern->moves ? s->phases : 1.0;
        const double passes = c->pattern->moves || c->pattern->generates ? c->passes : 1.0;
        const double bytes = c->pattern->moves ? c->hot : c->footprint;
        return phases * passes * bytes * growth / (rate * speed);
    }
    const double work_s = isnan(s->peak_flops) ? 0.0 : s->intensity * c->footprint / s->peak_flops;
    return fmax(c->read / s->memory_bandwidth_bytes_per_s, work_s) * growth;
}

static double mapped_bytes(const struct uvm_case *c, double growth)
{
    const struct sc_uvm *s = c->scenario;
    const double n = constant(s, s->fitted_link_passes, s->link_passes);
    const double random = c->pattern->random          ? 1.0
                          : s->pattern == SC_UVM_MIXED ? s->randomness
                                                       : 0.0;
    const double cost = 1.0 + random * (s->random_read_cost - 1.0);
    const double written =
        c->pattern->splits && isnan(n) ? 0.5 * (1.0 + s->write_share) : s->write_share;
    const double busier = fmax(written, 1.0 - written);
    return busier * (isnan(n) ? c->read * cost : n * c->footprint * growth);
}

static struct uvm_case case_of(const struct sc_uvm *s, double room)
{
    struct uvm_case c = {
        .scenario = s,
        .pattern = &sc_uvm_patterns[s->pattern],
        .footprint = sc_uvm_footprint_bytes(s),
        .passes = sc_uvm_passes(s),
        .migration_rate = s->migration_rate_bytes_per_s,
        .link_rate = s->link_rate_bytes_per_s,
        .fault_rate = s->fault_rate_bytes_per_s,
        .refetch = constant(s, s->fitted_refetch, s->refetch),
    };
    c.fitted = is_fitted(s);
    /* Batches and copies are what service is made of. */
    if (!c.fitted && s->fault_group_s + s->fault_copy_s <= 0.0)
        c.fault_rate = (double)INFINITY;
    c.order = c.pattern->order;
    if (s->pattern == SC_UVM_MIXED && s->randomness <= 0.0)
        c.order = UVM_ONE_FRONT;
    c.hides = c.pattern->concurrent || (!c.fitted && isnan(s->link_passes));
    c.usable = fmax(s->region_bytes, room * sc_uvm_usable_bytes(s));
    const double own = c.pattern->has_hot ? s->hot_share : 1.0;
    c.hot = constant(s, s->fitted_hot_share, own) * c.footprint;
    c.touched = c.pattern->partial ? c.hot
                : c.pattern->moves
                    ? fmin(c.footprint, c.hot * (1.0 + (s->phases - 1.0) * s->drift))
                    : c.footprint;
    c.host = constant(s, s->fitted_host_passes, s->host_passes) * c.footprint;
    const double part = isnan(s->access_bytes) ? 1.0 : fmin(1.0, s->access_bytes / s->leaf_bytes);
    const double growth = s->growth == SC_UVM_YES ? network_growth(c.footprint) : 1.0;
    c.read = part * c.pattern->read(&c);
    c.device_s = device_time_s(&c, growth);
    c.mapped = mapped_bytes(&c, growth);
    return c;
}

static const char *bound_of(const struct uvm_outcome *o)
{
    const struct {
        double time_s;
        const char *name;
    } parts[] = { { o->device_s, "device" },
                  { o->in_s, "migration" },
                  { o->out_s, "eviction" },
                  { o->fault_s, "faults" },
                  { o->mapped_s, "mapped reads" },
                  { o->fixed_s, o->fixed_name != NULL ? o->fixed_name : "fixed cost" } };
    size_t largest = 0;
    for (size_t i = 1; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].time_s > parts[largest].time_s)
            largest = i;
    return parts[largest].name;
}

/* What comes in again because it was evicted, over what comes in first. */
static double thrash_of(const struct uvm_outcome *o)
{
    return o->first > 0.0 ? fmax(0.0, (o->in - o->host - o->first) / o->first) : 0.0;
}

static struct uvm_outcome run(const struct sc_uvm *s, const struct uvm_case *c)
{
    struct uvm_outcome o = sc_uvm_policies[s->policy].run(c);
    o.fixed_s += s->fixed_s;
    return o;
}

static bool is_near(double bytes, double room)
{
    return fabs(bytes / room - 1.0) < near_share;
}

/* Both sides of a line that what must fit is near to. */
static void answer_branches(const struct sc_uvm *s, const struct uvm_case *c, struct sc_uvm_answer *a)
{
    const bool doubtful = c->pattern->doubtful && c->touched > c->usable && isnan(c->refetch);
    a->near_cliff = 0.0;
    a->time_fits_s = a->time_past_s = a->time_s;
    if (isnan(a->cliff_bytes) ||
        !(doubtful || is_near(c->hot, c->usable) || is_near(c->touched, c->usable)))
        return;
    const struct uvm_case more = doubtful ? *c : case_of(s, 1.0 + near_share);
    struct uvm_case less = doubtful ? *c : case_of(s, 1.0 - near_share);
    less.scattered = doubtful;
    const struct uvm_outcome fits = run(s, &more), past = run(s, &less);
    a->near_cliff = 1.0;
    a->time_fits_s = sc_uvm_outcome_s(&fits);
    a->time_past_s = sc_uvm_outcome_s(&past);
}

static void answer_of(const struct sc_uvm *s, const struct uvm_case *c, const struct uvm_outcome *o,
                      struct sc_uvm_answer *a)
{
    const double time_s = sc_uvm_outcome_s(o);
    const double phase_bytes = c->read / s->phases;
    const bool moves = c->pattern->moves;
    *a = (struct sc_uvm_answer){
        .time_s = time_s,
        .ideal_time_s = c->device_s + s->fixed_s,
        .bound = bound_of(o),
        .device_share = o->device_s / time_s,
        .migration_share = o->in_s / time_s,
        .eviction_share = o->out_s / time_s,
        .fault_share = o->fault_s / time_s,
        .mapped_share = o->mapped_s / time_s,
        .fixed_share = o->fixed_s / time_s,
        .in_bytes = o->in,
        .out_bytes = o->out,
        .mapped_bytes = o->mapped,
        .faults = o->faults,
        .thrash_factor = thrash_of(o),
        .tokens_per_s = c->pattern->generates ? c->passes / time_s : (double)NAN,
        .bandwidth_bytes_per_s = c->read / time_s,
        .first_phase_bytes_per_s = moves ? phase_bytes / o->first_phase_s : (double)NAN,
        .last_phase_bytes_per_s = moves ? phase_bytes / o->last_phase_s : (double)NAN,
        .working_set_bytes = c->footprint,
        .usable_bytes = c->usable,
        .resident_share = o->resident / c->footprint,
        .cliff_bytes = o->cliff,
    };
    a->slowdown = time_s / a->ideal_time_s;
    answer_branches(s, c, a);
}

/* ---- Explanation ---- */

static void explain_room(const struct uvm_case *c, struct sc_trace *t)
{
    const struct sc_uvm *s = c->scenario;
    sc_trace_section(t, "what must fit, and where");
    sc_trace_add(t, "F", isnan(s->footprint_bytes) ? "oversubscription x memory_capacity" : NULL,
                 c->footprint, SC_BYTES, "footprint");
    sc_trace_add(t, "C", "usable_share x memory_capacity", c->usable, SC_BYTES,
                 "in whole regions, which are given out at the first touch");
    sc_trace_add(t, "H", "hot_share x F", c->hot, SC_BYTES, "what must be resident");
    sc_trace_binds(t, c->hot > c->usable);
    sc_trace_add(t, "U", "F, a window's trail or a scan's columns", c->touched,
                 SC_BYTES, "distinct bytes that the run comes by");
    sc_trace_binds(t, c->touched > c->usable);
    sc_trace_add(t, "p", s->pattern == SC_UVM_STRIDED && !isnan(s->tile_bytes)
                             ? "n(n + 1)/2 + n + 1, n = log2(F/tile)" : NULL,
                 c->passes, SC_NUMBER, "passes, or touches of each leaf");
    sc_trace_add(t, "T_dev", "F / device_rate / device_speed",
                 c->device_s, SC_SECONDS, "all data resident; without device_rate, reads / memory_bandwidth");
    sc_trace_add(t, "n F", isnan(s->link_passes) ? "reads x random_read_cost" : "link_passes x F",
                 c->mapped, SC_BYTES, "over the link when all is mapped");
}

static void explain_random(const struct uvm_case *c, struct sc_trace *t)
{
    const struct sc_uvm *s = c->scenario;
    if (c->touched <= c->usable || !(c->pattern->random || s->pattern == SC_UVM_MIXED))
        return;
    const double kappa = c->usable / c->footprint;
    const struct sc_uvm_random law =
        sc_uvm_random_law((size_t)(s->region_bytes / s->leaf_bytes + 0.5), kappa);
    sc_trace_section(t, "a random touch");
    sc_trace_add(t, "kappa", "C / F", kappa, SC_SHARE, "share of the regions that can be resident");
    sc_trace_add(t, "Phi", "(1 - kappa) sum V_r", law.faults, SC_NUMBER,
                 "faults per touch, by the characteristic time of last fault-in");
    sc_trace_add(t, "B", "(1 - kappa) (1 + sum V_r q_r (r' - r))", law.leaves, SC_NUMBER,
                 "leaves that come in per touch: a fault's own and the tree's");
    sc_trace_add(t, "y", "in_flight / ((F - C) / region)",
                 s->in_flight / ((c->footprint - c->usable) / s->region_bytes), SC_NUMBER,
                 "touches under way per region short; both above over 1 + (y / c)^e");
}

static void explain_time(const struct uvm_case *c, const struct uvm_outcome *o, struct sc_trace *t)
{
    const double time_s = sc_uvm_outcome_s(o);
    sc_trace_section(t, "what moves");
    sc_trace_add(t, "in", NULL, o->in, SC_BYTES, "migrated to the GPU");
    sc_trace_add(t, "thrash", "in / first - 1", thrash_of(o), SC_NUMBER, "again, over what comes first");
    sc_trace_add(t, "out", "in - resident", o->out, SC_BYTES, "evicted, always copied back");
    sc_trace_add(t, "mapped", NULL, o->mapped, SC_BYTES, "read in place");
    sc_trace_section(t, "time");
    sc_trace_add(t, "T_dev", NULL, o->device_s, SC_SECONDS, "from device memory");
    sc_trace_add(t, "T_in", "in / migration_rate", o->in_s,
                 SC_SECONDS, "migration in, what placement= leaves out aside");
    sc_trace_add(t, "T_fault", "in / fault_rate", o->fault_s, SC_SECONDS,
                 "fault service of what comes by faults");
    sc_trace_add(t, "T_out", "out / migration_rate", o->out_s, SC_SECONDS, "eviction");
    sc_trace_add(t, "T_map", "mapped / link_rate", o->mapped_s, SC_SECONDS, "reads over the link");
    sc_trace_add(t, "T_fix", NULL, o->fixed_s, SC_SECONDS, "fixed costs and overhead of the policy");
    sc_trace_add(t, "T", "sum of these", time_s, SC_SECONDS, "time");
    sc_trace_add(t, "slowdown", "T / (T_dev + fixed)",
                 time_s / (c->device_s + c->scenario->fixed_s), SC_NUMBER, "over resident data");
}

static void explain_line(const struct sc_uvm_answer *a, struct sc_trace *t)
{
    if (a->near_cliff == 0.0)
        return;
    sc_trace_section(t, "near the line, or a scatter: either is possible");
    sc_trace_add(t, "T_fits", "T with 1.1 C", a->time_fits_s, SC_SECONDS,
                 "if what must be resident just is; streams: if none thrashes");
    sc_trace_add(t, "T_past", "T with 0.9 C",
                 a->time_past_s, SC_SECONDS, "if it just is not; streams: if every segment is a random touch");
}

/* ---- Checks beyond the ranges of single keys ---- */

static enum sc_status refuse(struct sc_error *error, const char *field, double value,
                             const char *reason)
{
    *error = (struct sc_error){ .field = field, .value = value, .reason = reason };
    return SC_EDOMAIN;
}

/* Whether the curve may be one of regions, as far as its numbers, rounded maybe, tell. */
static bool is_of_regions(const struct sc_uvm *s)
{
    const double rounding = 0.05;
    return s->curve_count == 0.0 || s->curve_block_most_bytes == 0.0 ||
           (s->region_bytes > s->curve_block_above_bytes * (1.0 - rounding) &&
            s->region_bytes <= s->curve_block_most_bytes * (1.0 + rounding));
}

static enum sc_status check_curve(const struct sc_uvm *s, struct sc_error *error)
{
    const double count = s->curve_count;
    if (!(count >= 0.0 && count <= SC_UVM_CURVE_POINTS && count == floor(count)))
        return refuse(error, "curve_count", count, "must be a number of points of the curve");
    for (size_t i = 0; i < (size_t)count; i++) {
        const double ratio = s->curve_miss_ratio[i], capacity = s->curve_capacity_bytes[i];
        if (!(ratio >= 0.0 && ratio <= 1.0))
            return refuse(error, "curve_miss_ratio", ratio, "must be a share");
        if (!(capacity > (i > 0 ? s->curve_capacity_bytes[i - 1] : 0.0) && isfinite(capacity)))
            return refuse(error, "curve_capacity_bytes", capacity, "must ascend from above 0");
    }
    if (!is_of_regions(s))
        return refuse(error, "region", s->region_bytes,
                      "is not the block of the curve in reuse (mrc --block)");
    return SC_OK;
}

static enum sc_status check(const struct sc_uvm *s, struct sc_error *error)
{
    const enum sc_status status = sc_scenario_check(&sc_uvm_system, s, error);
    if (status != SC_OK)
        return status;
    const double leaves = s->region_bytes / s->leaf_bytes;
    if (!(leaves >= 1.0 && leaves <= SC_UVM_TREE_LEAVES_MAX && log2(leaves) == floor(log2(leaves))))
        return refuse(error, "leaf", s->leaf_bytes,
                      "must be the region or a half, quarter, ... 32nd of it");
    if (sc_uvm_usable_bytes(s) < s->region_bytes)
        return refuse(error, "memory_capacity", s->memory_bytes,
                      "leaves no room for a single region");
    if (s->low_watermark > s->high_watermark)
        return refuse(error, "low_watermark", s->low_watermark, "must not be above high_watermark");
    return check_curve(s, error);
}

enum sc_status sc_uvm_check(const struct sc_uvm *s, struct sc_error *error)
{
    struct sc_error unseen;
    return check(s, error != NULL ? error : &unseen);
}

struct sc_uvm_load sc_uvm_load(const struct sc_uvm *s)
{
    const struct uvm_case c = case_of(s, 1.0);
    const double n = constant(s, s->fitted_link_passes, s->link_passes);
    const double growth = s->growth == SC_UVM_YES ? network_growth(c.footprint) : 1.0;
    return (struct sc_uvm_load){
        .footprint_bytes = c.footprint,
        .usable_bytes = c.usable,
        .hot_bytes = c.hot,
        .touched_bytes = c.touched,
        .passes = c.passes,
        .device_s = c.device_s,
        .link_bytes = isnan(n) ? (double)NAN : n * c.footprint * growth,
    };
}

enum sc_status sc_uvm_estimate(const void *scenario, void *answer, struct sc_trace *trace,
                               struct sc_error *error)
{
    const struct sc_uvm *s = scenario;
    struct sc_uvm_answer *a = answer;
    struct sc_error unseen;
    const enum sc_status status = check(s, error != NULL ? error : &unseen);
    if (status != SC_OK)
        return status;
    const struct uvm_case c = case_of(s, 1.0);
    const struct uvm_outcome outcome = run(s, &c);
    answer_of(s, &c, &outcome, a);
    if (trace != NULL) {
        explain_room(&c, trace);
        explain_random(&c, trace);
        explain_time(&c, &outcome, trace);
        explain_line(a, trace);
    }
    return SC_OK;
}
