/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ember-adaptive from its mechanism: what is read in place until it is promoted, and
 * what stays so because memory is full and is reclaimed no faster than it is. */
#include <math.h>

#include "uvm_private.h"

static const double ACCESS_BYTES = 128.0; /* that a counter counts as one */
static const double COLUMNS = 16.0;       /* of a scan */

/* What promotion goes at. */
struct ramp {
    double room;        /* bytes that may be resident */
    double wanted;      /* bytes that promotion goes at: what is touched, and its neighbours */
    double useful;      /* share of those that is touched */
    double in_s, map_s; /* per promoted byte, per byte read in place */
    double per_byte;    /* read in place while a byte is promoted: the link is shared evenly */
    double reclaim;     /* bytes per second */
};

/* What was read in place and promoted until memory was full or the run at its end. */
struct progress {
    double mapped, promoted;
    double reads; /* of the pattern's */
};

static struct ramp ramp_of(const struct uvm_case *c)
{
    const struct sc_uvm *s = c->scenario;
    struct ramp r = {
        .room = fmax(s->region_bytes, fmin(c->usable, s->high_watermark * s->memory_bytes)),
        .wanted = c->touched,
        .in_s = 1.0 / c->migration_rate,
        .map_s = c->mapped / c->read / c->link_rate,
    };
    /* A span goes on beyond the ends of a column. */
    if (c->pattern->partial && s->block_promotion > 0.0)
        r.wanted = fmin(c->footprint, c->touched + COLUMNS * s->promotion_span_bytes);
    r.useful = c->touched / r.wanted;
    r.per_byte = r.in_s / r.map_s;
    if (s->eager_eviction > 0.0)
        r.reclaim = fmin(0.5 / r.in_s,
                         s->eviction_batch * s->region_bytes / s->eviction_interval_s);
    return r;
}

/* Bytes that touches read before a region's counter says so for the first time. */
static double before_threshold(const struct uvm_case *c)
{
    const struct sc_uvm *s = c->scenario;
    const double touch = s->touches * (isnan(s->access_bytes) ? s->leaf_bytes : s->access_bytes);
    const double touches = ceil(s->counter_threshold / fmax(1.0, touch / ACCESS_BYTES));
    return (touches - 1.0) * touch * c->touched / s->region_bytes;
}

/* Touches at random: those on their way were sent before what they read was promoted. */
static struct progress ramp_at_random(const struct uvm_case *c, const struct ramp *r)
{
    const struct sc_uvm *s = c->scenario;
    const double part = s->pattern == SC_UVM_MIXED ? s->randomness : 1.0;
    const double on_way = part * s->in_flight * s->leaf_bytes;
    const double late = fmin(c->read, on_way + before_threshold(c));
    const double room = fmin(r->room, c->touched), whole = r->per_byte * c->touched;
    const double until_full =
        room < c->touched ? late - whole * log1p(-room / c->touched) : (double)INFINITY;
    struct progress p = { .reads = c->read, .promoted = room };
    if (until_full < c->read) {
        p.reads = until_full;
        p.mapped = late + r->per_byte * room;
    } else {
        p.mapped = late - whole * expm1(-(c->read - late) / whole);
        p.promoted = fmin(room, p.mapped / r->per_byte);
    }
    return p;
}

/* About the lesser of two limits that each hold on average: less where they are close. */
static double lesser(double a, double b)
{
    const double low = fmin(a, b), high = fmax(a, b);
    return low > 0.0 ? low / pow(1.0 + pow(low / high, 6.0), 1.0 / 6.0) : 0.0;
}

/* Promotion of what some fronts have passed by already: a pass reads in place what the
 * ones before it left, and promotes as much. */
static struct progress ramp_behind(const struct uvm_case *c, const struct ramp *r)
{
    const struct sc_uvm *s = c->scenario;
    const double room = fmin(r->room, r->wanted), wanted = r->useful * room;
    const double passes = c->pattern->moves ? c->passes * s->phases : c->passes;
    const double part = c->read / (passes * c->touched); /* of a byte that a pass reads */
    const double gone = fmin(1.0, r->useful * part / r->per_byte);
    const double lag = s->lag_share;
    const double most = wanted * part * (1.0 - pow(1.0 - gone, passes)) / gone;
    double all = lag * r->per_byte * room;
    /* In each column promotion starts a span behind, and catches up if it is faster. */
    if (c->pattern->partial && r->per_byte < 1.0)
        all = fmin(all, COLUMNS * s->promotion_span_bytes * r->per_byte / (1.0 - r->per_byte));
    return (struct progress){ .mapped = lesser(most, all),
                              .promoted = room * fmin(1.0, most / all) };
}

/* ---- Patterns that stay where they are ---- */

/* What the passes read in place that memory has no room for. */
static double mapped_past(const struct uvm_case *c, const struct ramp *r,
                          const struct progress *p)
{
    const struct sc_uvm *s = c->scenario;
    const double resident = r->useful * fmin(r->room, r->wanted);
    const double past = 1.0 - resident / c->touched;
    if (past <= 0.0)
        return 0.0;
    if (c->order == UVM_NO_ORDER)
        return past * (c->read - p->reads);
    if (s->pattern == SC_UVM_HOT_PREFIX) {
        /* The cold part drives out what came first, which is the prefix. */
        const double cold = c->footprint - fmax(c->hot, resident);
        const double driven = fmin(c->hot, r->reclaim * s->touches * cold * r->map_s);
        const double missing = fmin(c->hot, fmax(0.0, c->hot - resident) + driven);
        return c->read / c->pattern->read(c) * s->touches *
               (c->footprint - resident + (c->passes - 1.0) * missing);
    }
    if (c->order == UVM_ONE_FRONT)
        return sc_uvm_swept_past(c, resident);
    return past * c->read;
}

/* Of a scatter the busier direction: one half is read while the other is written. */
static double scatter_mapped(const struct uvm_case *c, const struct ramp *r, struct progress *p)
{
    const double whole = 0.5 * c->touched, room = fmin(r->room, c->touched);
    const double past = fmin(whole, c->touched - room);
    /* Of what fits the first pass reads no more than goes by, one half of it read and the
     * other written, until all is promoted. */
    const double first =
        past + fmin(whole - past, 0.5 * c->scenario->lag_share * r->per_byte * room);
    /* While a byte is read another is promoted, as the link goes, and in turn one written. */
    p->promoted = fmin(room, -c->touched * expm1(-0.7 * c->passes / r->per_byte));
    return c->mapped / (c->passes * whole) * (first + (c->passes - 1.0) * past);
}

/* Of the reads in place; takes off o->device_s what is done beside them. */
static double link_time_s(const struct uvm_case *c, const struct ramp *r, struct uvm_outcome *o)
{
    struct progress p = { .promoted = fmin(r->room, r->wanted) };
    /* What an earlier pass has promoted needs no ramp. */
    if (sc_uvm_leaves_out(c, false) && !c->pattern->splits)
        p.reads = 0.0;
    else if (c->order == UVM_NO_ORDER)
        p = ramp_at_random(c, r);
    else if (c->order == UVM_MANY_FRONTS)
        p = ramp_behind(c, r);
    double past_s, ramp_s;
    if (c->pattern->splits) {
        o->mapped = scatter_mapped(c, r, &p);
        ramp_s = 0.0;
        past_s = o->mapped / c->link_rate;
    } else {
        const double past = mapped_past(c, r, &p);
        ramp_s = p.mapped * r->map_s;
        past_s = past * r->map_s;
        o->mapped = (p.mapped + past) * c->mapped / c->read;
    }
    o->in = o->first = p.promoted;
    o->resident = p.promoted;
    /* Past the watermark the next promotion has to wait for the next reclamation; both
     * go on as long as reads in place do, which they make longer. */
    if (r->wanted > r->room) {
        past_s /= 1.0 - r->reclaim * r->in_s;
        o->in += r->reclaim * past_s;
        past_s -= r->reclaim * past_s * r->in_s;
    }
    if (c->hides && c->order == UVM_NO_ORDER) {
        o->device_s -= fmin(p.mapped / c->read * c->device_s, ramp_s) +
                       fmin((1.0 - p.reads / c->read) * c->device_s, past_s);
    } else if (c->hides) {
        o->device_s -= fmin(fmin(1.0, o->mapped / c->mapped) * c->device_s, ramp_s + past_s);
    }
    return ramp_s + past_s;
}

static struct uvm_outcome stay(const struct uvm_case *c, const struct ramp *r)
{
    struct uvm_outcome o = { .device_s = c->device_s, .fixed_name = "counters and reclamation" };
    o.mapped_s = link_time_s(c, r, &o);
    o.out = o.in - o.resident;
    /* Layers: an earlier pass has promoted what there is room for. */
    const double placed = sc_uvm_leaves_out(c, false) ? o.resident : 0.0;
    o.in_s = (o.in - placed) * r->in_s;
    o.cliff = r->room * c->footprint / c->hot;
    o.first_phase_s = o.last_phase_s = sc_uvm_outcome_s(&o) / c->scenario->phases;
    return o;
}

/* ---- A window that moves ---- */

/* In each phase promotion gets what room there is, at once, and then what reclamation
 * makes, bit by bit; the rest is read in place in every pass.  Linear in the phase's
 * time, which both depend on. */
static struct uvm_outcome follow_window(const struct uvm_case *c, const struct ramp *r)
{
    const struct sc_uvm *s = c->scenario;
    const double reads = c->read / s->phases / c->hot, device_s = c->device_s / s->phases;
    const double full = r->room;
    double missing = c->hot, free = full, start = 0.0;
    struct uvm_outcome o = { .fixed_name = "counters and reclamation" };
    for (double k = 0.0; k < s->phases; k++) {
        const double at_once = fmin(missing, free), left = missing - at_once;
        const double ramp = at_once * lesser(s->lag_share * r->per_byte, reads);
        const double ramp_s = ramp * r->map_s + at_once * r->in_s;
        /* x = reclaim t promoted by the end, half of the phase's reads of it in place. */
        const double gain = 0.5 * reads * r->map_s - r->in_s;
        const double t = left * reads * r->map_s / (1.0 + fmax(0.0, gain) * r->reclaim);
        const double x = fmin(left, r->reclaim * (t + ramp_s));
        /* Without a trail behind the window, what makes way is still wanted. */
        const double stale = fmax(0.0, full - free - (c->hot - missing));
        const double won = fmin(x, stale);
        const double mapped = ramp + reads * (left - 0.5 * won);
        const double resident = 1.0 - left / c->hot;
        const double link_s = mapped * r->map_s + (at_once + x) * r->in_s;
        const double phase_s = fmax(link_s, resident * device_s);
        o.device_s += resident * device_s;
        o.mapped_s += fmax(0.0, phase_s - resident * device_s - (at_once + x) * r->in_s);
        o.mapped += mapped * c->mapped / c->read;
        o.in += at_once + x;
        o.last_phase_s = phase_s;
        o.first_phase_s = k > 0.0 ? o.first_phase_s : fmax(phase_s - ramp_s, device_s);
        free -= at_once;
        const double next = fmin(start + s->drift * c->hot, c->footprint - c->hot);
        missing = fmin(c->hot, left - won + (next - start));
        start = next;
    }
    o.first = fmin(c->touched, o.in);
    o.resident = fmin(o.in, r->room);
    o.out = o.in - o.resident;
    o.in_s = (o.in - (sc_uvm_leaves_out(c, false) ? fmin(c->hot, r->room) : 0.0)) * r->in_s;
    o.cliff = r->room * c->footprint / c->hot;
    return o;
}

/* What a counter can count at most: accesses to the hottest region in all of the run. */
static double counted_at_most(const struct uvm_case *c)
{
    const struct sc_uvm *s = c->scenario;
    const double touch = isnan(s->access_bytes) ? s->leaf_bytes : fmin(s->access_bytes, s->leaf_bytes);
    const double phases = c->pattern->moves ? s->phases : 1.0;
    return phases * ceil(c->passes) * fmax(1.0, s->touches * touch / ACCESS_BYTES) *
           s->region_bytes / s->leaf_bytes;
}

static struct uvm_outcome read_in_place(const struct uvm_case *c, double room)
{
    struct uvm_outcome o = sc_uvm_run_mapped(c);
    o.cliff = room * c->footprint / c->hot;
    return o;
}

struct uvm_outcome sc_uvm_follow_counters(const struct uvm_case *c)
{
    const struct ramp r = ramp_of(c);
    if (counted_at_most(c) < c->scenario->counter_threshold)
        return read_in_place(c, r.room);
    return c->pattern->moves ? follow_window(c, &r) : stay(c, &r);
}
