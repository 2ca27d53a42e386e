/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each placement policy makes of a run. */
#include <math.h>

#include "uvm_private.h"

double sc_uvm_outcome_s(const struct uvm_outcome *o)
{
    return o->device_s + o->in_s + o->out_s + o->fault_s + o->mapped_s + o->fixed_s;
}

bool sc_uvm_leaves_out(const struct uvm_case *c, bool by_call)
{
    const int placement = c->scenario->placement;
    return placement == SC_UVM_PLACE_NONE || c->pattern->generates ||
           (placement == SC_UVM_PLACE_FAULTS && by_call);
}

/* The part of the window that a resident prefix of `pinned` bytes covers in phase k.  At the
 * end of the footprint the window stays. */
static double covered(const struct uvm_case *c, double pinned, double k)
{
    const double start = fmin(k * c->scenario->drift * c->hot, c->footprint - c->hot);
    return fmin(fmax(pinned - start, 0.0), c->hot) / c->hot;
}

/* Time on the link beyond what the device works meanwhile. */
static double beside(const struct uvm_case *c, double mapped)
{
    const double link_s = mapped / c->link_rate;
    if (!c->hides || c->mapped <= 0.0)
        return link_s;
    /* Of touches without order some of either kind are always under way. */
    const double device_s = c->device_s * (c->order == UVM_NO_ORDER ? 1.0 : mapped / c->mapped);
    return fmax(0.0, link_s - device_s);
}

double sc_uvm_swept_past(const struct uvm_case *c, double resident)
{
    const double whole = floor(c->passes), cut = c->passes - whole;
    const double part = c->read / c->passes / c->footprint; /* of a byte that a pass reads */
    return part * (whole * (c->footprint - resident) + fmax(0.0, cut * c->footprint - resident));
}

/* Reads over the link when `pinned` bytes are resident, hot data first.  Of n F in
 * all, cold data are read once (less, if n < 1) and the rest is the hot set's. */
static double mapped_past(const struct uvm_case *c, double pinned)
{
    const double hot_part = fmax(0.0, 1.0 - pinned / c->hot);
    if (c->pattern->moves || c->pattern->partial)
        return c->mapped * hot_part;
    const bool own = c->fitted || !isnan(c->scenario->link_passes);
    if (!own && c->order == UVM_ONE_FRONT && !c->pattern->has_hot)
        return c->mapped / c->read * sc_uvm_swept_past(c, pinned);
    const double cold = c->footprint - c->hot;
    /* A link_passes of one's own says no more than the sum. */
    const double cold_read =
        own
            ? cold * fmin(1.0, c->mapped / c->footprint)
            : c->mapped * fmax(0.0, 1.0 - c->passes * c->scenario->touches * c->hot /
                                          c->pattern->read(c));
    const double cold_part =
        cold > 0.0 ? 1.0 - fmin(fmax(pinned - c->hot, 0.0) / cold, 1.0) : 0.0;
    return hot_part * (c->mapped - cold_read) + cold_part * cold_read;
}

/* ---- Migration on faults ---- */

/* What comes in by faults when nothing was placed before. */
static struct uvm_traffic fault_traffic(const struct uvm_case *c)
{
    struct uvm_traffic traffic = c->pattern->law(c);
    const double miss = sc_uvm_curve_miss_ratio(c->scenario, c->usable);
    if (c->touched <= c->usable)
        traffic = (struct uvm_traffic){ c->touched, sc_uvm_first_faults(c) };
    else if (!isnan(c->refetch))
        traffic = (struct uvm_traffic){ c->touched * (1.0 + c->refetch),
                                        traffic.faults * c->touched * (1.0 + c->refetch) /
                                            traffic.in };
    else if (!isnan(miss)) {
        const double in = fmax(c->touched, miss * fmax(c->read, c->touched));
        traffic = (struct uvm_traffic){ in, traffic.faults * in / traffic.in };
    }
    return traffic;
}

static struct uvm_outcome run_uvm(const struct uvm_case *c)
{
    const struct uvm_traffic traffic = fault_traffic(c);
    /* Over a coherent link what is not resident any more is read in place. */
    const bool in_place = c->scenario->coherent == SC_UVM_YES && c->touched > c->usable;
    const double in = c->host + (in_place ? c->touched : traffic.in);
    /* Past capacity a pass before the run leaves nothing that the run finds. */
    const bool nothing = !c->fitted && !in_place && c->touched > c->usable;
    const double kept = nothing ? 0.0 : fmin(c->touched, c->usable);
    const double counted = in - (sc_uvm_leaves_out(c, false) ? kept : 0.0);
    const struct uvm_traffic served = { counted, traffic.faults * counted / traffic.in };
    struct uvm_outcome o = {
        .device_s = c->device_s,
        .in = in,
        .first = c->touched,
        .host = c->host,
        .mapped = in_place ? mapped_past(c, c->usable) : 0.0,
        .faults = traffic.faults * (in - c->host) / traffic.in,
        .resident = fmin(c->touched, c->usable),
        .cliff = c->usable * c->footprint / c->touched,
    };
    o.out = o.in - o.resident;
    o.in_s = counted / c->migration_rate;
    o.fault_s = sc_uvm_service_s(c, &served);
    o.out_s = (o.out + (nothing && sc_uvm_leaves_out(c, false) ? o.resident : 0.0)) / c->migration_rate;
    o.mapped_s = beside(c, o.mapped);
    const double phase_s = c->device_s / c->scenario->phases;
    o.first_phase_s = phase_s;
    o.last_phase_s = phase_s + (in - c->hot) / fmax(c->scenario->phases - 1.0, 1.0) *
                                   (1.0 / c->migration_rate + 1.0 / c->fault_rate);
    return o;
}

/* What was fetched ahead is evicted before its use, and comes again by faults. */
static struct uvm_outcome thrash_ahead(const struct uvm_case *c)
{
    struct uvm_outcome o = run_uvm(c);
    const double factor = c->scenario->prefetch_factor;
    const double more = (factor - 1.0) * o.in;
    o.in += more;
    o.out += more;
    o.in_s *= factor;
    o.fault_s *= factor;
    o.out_s *= factor;
    return o;
}

/* The call has left the end of the footprint resident, oldest first in the order of the
 * addresses.  Faults in the run push the beginning of that out. */
static double after_call(const struct uvm_case *c, double in)
{
    const struct sc_uvm *s = c->scenario;
    const double short_bytes = c->footprint - c->usable, share = c->touched / c->footprint;
    /* Columns: the scan catches up with what goes out, if that is before the end. */
    if (c->pattern->partial && c->touched <= c->usable)
        return share < 1.0 ? share * fmin(c->footprint, short_bytes / (1.0 - share)) : in;
    /* Two fronts: the second one keeps ahead of it. */
    const double second = s->pattern == SC_UVM_STREAM_HOT ? c->hot
                          : s->pattern == SC_UVM_STRIDED && isnan(s->tile_bytes)
                              ? 0.25 * c->footprint
                              : 0.0;
    return short_bytes < second && second >= 0.25 * c->footprint ? fmin(in, 1.3 * c->passes * second) : in;
}

/* All of the footprint comes in by the call, in order, and goes out again as far as it
 * does not fit; then the run finds what is left. */
static struct uvm_outcome ahead_past(const struct uvm_case *c)
{
    struct uvm_outcome o = run_uvm(c);
    const double in = o.in - c->host, run = after_call(c, in), share = run / in;
    const double bulk = sc_uvm_leaves_out(c, true) ? 0.0 : c->footprint;
    o.in_s = (bulk + c->host + run) / c->migration_rate;
    o.fault_s *= share;
    o.out_s = (fmax(0.0, bulk - c->usable) + c->host + run) / c->migration_rate;
    o.faults *= share;
    o.in = c->footprint + c->host + run;
    o.first = c->footprint;
    o.resident = c->usable;
    o.out = o.in - o.resident;
    o.cliff = c->usable;
    return o;
}

static struct uvm_outcome run_prefetch(const struct uvm_case *c)
{
    const bool window_fits = c->pattern->moves && c->hot <= c->usable;
    if (c->fitted && c->touched > c->usable && !window_fits)
        return thrash_ahead(c);
    if (!c->fitted && !window_fits && c->footprint > c->usable &&
        c->scenario->coherent != SC_UVM_YES)
        return ahead_past(c);
    struct uvm_outcome o = run_uvm(c);
    /* In bulk what the run starts with; the trail of a window still faults. */
    const double bulk = c->pattern->moves ? fmin(c->hot, c->touched) : c->touched;
    const double all =
        c->fitted || c->pattern->moves || c->footprint > c->usable ? bulk : c->footprint;
    const double later = c->touched + c->host - bulk;
    o.in_s = (later + (sc_uvm_leaves_out(c, true) ? 0.0 : all)) / c->migration_rate;
    o.fault_s = later / c->fault_rate;
    o.faults *= later / o.in;
    o.in += all - bulk;
    o.first += all - bulk;
    o.resident += all - bulk;
    return o;
}

/* ---- Reading in place ---- */

struct uvm_outcome sc_uvm_run_mapped(const struct uvm_case *c)
{
    struct uvm_outcome o = {
        .device_s = c->device_s,
        .mapped = c->mapped,
        .mapped_s = beside(c, c->mapped),
        .cliff = (double)NAN,
    };
    o.first_phase_s = o.last_phase_s = (o.device_s + o.mapped_s) / c->scenario->phases;
    return o;
}

/* ---- A split ---- */

/* A window that only reads: the link works beside the GPU, and a phase takes as long as the
 * slower of the two, never less than with all of it resident. */
static void split_window(const struct uvm_case *c, double pinned, struct uvm_outcome *o)
{
    const double phases = c->scenario->phases;
    const double device_s = c->device_s / phases, link_s = c->mapped / c->link_rate / phases;
    double mapped = 0.0;
    for (double k = 0.0; k < phases; k++) {
        const double part = covered(c, pinned, k);
        const double extra_s = fmax(0.0, (1.0 - part) * link_s - device_s);
        o->mapped_s += extra_s;
        mapped += 1.0 - part;
        o->last_phase_s = device_s + extra_s;
        o->first_phase_s = k > 0.0 ? o->first_phase_s : o->last_phase_s;
    }
    o->mapped = c->mapped * mapped / phases;
}

static struct uvm_outcome split(const struct uvm_case *c, double room, bool by_call)
{
    const struct sc_uvm *s = c->scenario;
    /* Calls pin a prefix of the footprint, counters what is read of it. */
    const bool blind = c->pattern->partial && by_call;
    const double wanted =
        c->pattern->moves || (c->pattern->partial && !by_call) ? c->hot : c->footprint;
    const double pinned = fmin(fmin(room, c->footprint),
                               by_call && !isnan(s->pinned_bytes) ? s->pinned_bytes : wanted);
    struct uvm_outcome o = {
        .device_s = c->device_s,
        .in = pinned,
        .first = pinned,
        .resident = pinned,
        .cliff = room * c->footprint / c->hot,
    };
    o.in_s = sc_uvm_leaves_out(c, by_call) ? 0.0 : pinned / c->migration_rate;
    if (c->pattern->concurrent) {
        split_window(c, pinned, &o);
    } else {
        o.mapped = blind ? c->mapped * (1.0 - pinned / c->footprint) : mapped_past(c, pinned);
        /* Of what is read and what is written the larger part, neither all of its half. */
        if (c->pattern->splits && !c->fitted && isnan(s->link_passes))
            o.mapped = c->mapped * fmin(1.0, 2.0 * (1.0 - pinned / c->footprint));
        o.mapped_s = beside(c, o.mapped);
    }
    return o;
}

static struct uvm_outcome run_static(const struct uvm_case *c)
{
    struct uvm_outcome o = split(c, c->usable, true);
    o.fixed_s += c->scenario->static_setup_s;
    o.fixed_name = "placement calls";
    return o;
}

/* ---- A split that follows the access counters ---- */

/* Promotes the trail of a window, as long as the counters say so. */
static struct uvm_outcome follow_window(const struct uvm_case *c, double room)
{
    struct uvm_outcome o = { .device_s = c->device_s, .in = c->touched, .first = c->touched };
    o.resident = fmin(c->touched, room);
    o.out = o.in - o.resident;
    o.in_s = (sc_uvm_leaves_out(c, false) ? o.in - c->hot : o.in) / c->migration_rate;
    o.cliff = room * c->footprint / c->hot;
    o.first_phase_s = o.last_phase_s = c->device_s / c->scenario->phases;
    return o;
}

static void scale_times(struct uvm_outcome *o, double factor)
{
    o->device_s *= factor;
    o->in_s *= factor;
    o->out_s *= factor;
    o->fault_s *= factor;
    o->mapped_s *= factor;
    o->fixed_s *= factor;
}

/* Each pass demotes regions that the next promotes again, as fast as reclamation
 * goes.  It happens beside the run; its cost is in the overhead. */
static double exchanged_bytes(const struct uvm_case *c, double room, double time_s)
{
    const struct sc_uvm *s = c->scenario;
    const double most = fmax(0.0, c->passes - 1.0) * fmax(0.0, c->hot - room);
    const double rate = s->eviction_batch * s->region_bytes / s->eviction_interval_s;
    return s->eager_eviction > 0.0 && !c->pattern->moves ? fmin(most, rate * time_s) : 0.0;
}

static struct uvm_outcome adaptive_as_fitted(const struct uvm_case *c)
{
    const struct sc_uvm *s = c->scenario;
    const double room = fmin(c->usable, s->adaptive_share * s->memory_bytes);
    struct uvm_outcome o = c->pattern->moves && c->hot <= room ? follow_window(c, room)
                                                               : split(c, room, false);
    /* What is not worth its migration stays mapped. */
    const struct uvm_outcome mapped = sc_uvm_run_mapped(c);
    const double cliff = o.cliff;
    if (sc_uvm_outcome_s(&mapped) < sc_uvm_outcome_s(&o))
        o = mapped;
    o.cliff = cliff;
    const double overhead = s->adaptive_overhead;
    if (overhead > 1.0)
        o.fixed_s += (overhead - 1.0) * sc_uvm_outcome_s(&o);
    else
        scale_times(&o, overhead);
    o.fixed_name = "counters and reclamation";
    if (o.in > 0.0) {
        const double exchanged = exchanged_bytes(c, room, sc_uvm_outcome_s(&o));
        o.in += exchanged;
        o.out += exchanged;
    }
    return o;
}

static struct uvm_outcome run_adaptive(const struct uvm_case *c)
{
    if (c->fitted)
        return adaptive_as_fitted(c);
    struct uvm_outcome o = sc_uvm_follow_counters(c);
    scale_times(&o, c->scenario->adaptive_factor);
    /* Never faster than with all of it resident. */
    o.device_s += fmax(0.0, c->device_s - sc_uvm_outcome_s(&o));
    return o;
}

/* ---- The best single policy per allocation ---- */

/* The hot part and the rest are an allocation each. */
static struct uvm_outcome run_profiled(const struct uvm_case *c)
{
    const struct sc_uvm *s = c->scenario;
    const struct uvm_outcome uvm = run_uvm(c);
    struct uvm_outcome all[5] = { uvm, run_prefetch(c), sc_uvm_run_mapped(c) };
    size_t count = 3, best = 0;
    /* Both allocations pinned: as much as fits of either, from the first address on. */
    struct sc_uvm both = *s;
    struct uvm_case pinned = *c;
    both.pinned_bytes = c->usable;
    pinned.scenario = &both;
    if (!c->fitted)
        all[count++] = split(&pinned, c->usable, true);
    if (c->hot <= c->usable) {
        struct uvm_case hot_only = *c;
        hot_only.usable = c->hot;
        all[count++] = split(&hot_only, c->hot, true);
    }
    for (size_t i = 1; i < count; i++)
        if (sc_uvm_outcome_s(&all[i]) < sc_uvm_outcome_s(&all[best]))
            best = i;
    struct uvm_outcome o = all[best];
    o.fixed_s += isnan(s->profile_s) ? s->profile_runs * sc_uvm_outcome_s(&uvm) : s->profile_s;
    o.fixed_name = "profiling";
    return o;
}

#define POLICY(policy_name, text) .choice = { .name = policy_name, .help = text }

/* clang-format off */
const struct sc_uvm_policy sc_uvm_policies[] = {
    { POLICY("uvm", "faults migrate regions; the tree prefetches; evicted by last fault-in"),
      { .faults = true }, run_uvm },
    { POLICY("prefetch", "cudaMemPrefetchAsync of all data before the run, then as uvm"),
      { .faults = true, .ahead = true }, run_prefetch },
    { POLICY("mapped", "zero copy: host memory is read in place, nothing migrates"),
      { .maps = true }, sc_uvm_run_mapped },
    { POLICY("ember-static", "mapped, with a prefix or the hot set pinned before the run"),
      { .maps = true, .pins = true }, run_static },
    { POLICY("ember-adaptive", "mapped; access counters promote, cold regions are reclaimed early"),
      { .maps = true, .counts = true }, run_adaptive },
    { POLICY("profiled", "HELM: the best single policy for each allocation, after profiling runs"),
      { .faults = true, .maps = true, .per_allocation = true }, run_profiled },
};
/* clang-format on */
_Static_assert(sizeof sc_uvm_policies / sizeof sc_uvm_policies[0] == SC_UVM_POLICIES,
               "every policy has its row");

struct sc_uvm_mechanisms sc_uvm_mechanisms(int policy)
{
    return sc_uvm_policies[policy].mechanisms;
}
