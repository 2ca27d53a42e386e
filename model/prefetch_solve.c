/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fixed point of `prefetch`: load on L1 and memory against the time of an
 * iteration. */
#include <math.h>

#include "prefetch_forms.h"
#include "queueing.h"

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

/* What an iteration of the fixed point works on. */
struct work {
    const struct pf_kernel *k;
    const struct sc_prefetch_mechanisms *m;
    struct kind {
        struct pf_attempt attempt[SC_PREFETCH_ATTEMPTS];
        size_t attempts;
        double regular; /* P(a stride into the load holds) */
        double chain;
        double score[SC_PREFETCH_PATTERNS][9]; /* P(its confidence >= the index) */
        struct pf_fate other, zero; /* of sectors that are not zero, and of those that are */
    } kind[SC_PREFETCH_LOADS_MAX];
    size_t kinds;
    size_t kind_of[SC_PREFETCH_LOADS_MAX];
    bool has_zeros;
    double mean_zero;
    double in_step; /* P(a stride between warps is trusted), and P(it is the one before) */
    double rightness;
    struct sc_reuse line[SC_PREFETCH_LOADS_MAX * SC_PREFETCH_CLASSES];
    size_t lines;
    struct sc_reuse block[3 * SC_PREFETCH_LOADS_MAX]; /* of what a line of zero metadata covers */
    size_t blocks;
    double new_blocks; /* lines of metadata that an access starts */
    double fresh_lines; /* new lines per new sector run */
    double furthest;    /* iterations that the first attempt is ahead */
    double regular;     /* share of the accesses that can be predicted */
    double derailed;    /* likewise: chains between arrays that start over and others, which
                         * hold for one CTA and mislead the next */
    double tuned[SC_PREFETCH_PATTERNS]; /* best distances */
    double pass_rank[SC_PREFETCH_PATTERNS];
};

static void collect_lines(struct work *w)
{
    const struct pf_kernel *k = w->k;
    double cold_lines = 0.0, cold = 0.0;
    for (unsigned j = 0; j < (unsigned)k->loads; j++) {
        /* Zero sectors that demand brings take no line. */
        const double demanded = w->m->zero_cache ? 1.0 - k->load[j].zero : 1.0;
        double left = 1.0;
        for (size_t c = 0; c < k->load[j].line_count; c++) {
            w->line[w->lines] = k->load[j].line[c];
            w->line[w->lines].share *= demanded / k->loads;
            left -= k->load[j].line[c].share;
            w->lines++;
        }
        cold_lines += fmax(0.0, left);
        cold += k->load[j].cold;
        if (left > 0.0 && k->load[j].line_count < SC_PREFETCH_CLASSES)
            w->line[w->lines++] = (struct sc_reuse){ left * demanded / k->loads, HUGE_VAL, 0 };
    }
    w->fresh_lines = cold > 0.0 ? clamp(cold_lines / cold, 0.05, 1.0) : 1.0;
}

static void collect_blocks(struct work *w)
{
    const struct pf_kernel *k = w->k;
    for (unsigned j = 0; j < (unsigned)k->loads; j++) {
        const struct pf_load *l = &k->load[j];
        const double share = l->zero / k->loads;
        if (!(share > 0.0))
            continue;
        /* Half in the order of the body, half in any. */
        for (int cyclic = 0; cyclic < 2; cyclic++)
            w->block[w->blocks++] =
                (struct sc_reuse){ 0.5 * share * (1.0 - l->new_block), l->block_gap, cyclic };
        w->block[w->blocks++] = (struct sc_reuse){ share * l->new_block, HUGE_VAL, 0 };
        w->new_blocks += l->new_block * share;
    }
}

/* P(a stride between warps is trusted).  It is while one CTA executes a load after
 * the other in step: barriers see to that, and little else. */
static double in_step(const struct sc_prefetch *s)
{
    return fmax(0.1, -expm1(-4.5 * s->barriers));
}

/* The share of right guesses for which a counter of confidence is trusted that often. */
static double rightness(double trusted)
{
    enum { STEPS = 20 };
    double low = 0.0, high = 1.0;
    for (int i = 0; i < STEPS; i++) {
        const double middle = 0.5 * (low + high);
        *(sc_prefetch_confidence(middle, 3.0) < trusted ? &low : &high) = middle;
    }
    return low;
}

/* Loads that are as regular and at the end of as long a chain share their fate. */
static size_t kind_of(struct work *w, const struct pf_load *load)
{
    const double regular = (1.0 - load->irregular) * (1.0 - load->irregular);
    const double chain = fmin(load->chain, w->k->scenario->chain_distance);
    for (size_t i = 0; i < w->kinds; i++)
        if (w->kind[i].regular == regular && w->kind[i].chain == chain)
            return i;
    struct kind *kind = &w->kind[w->kinds];
    *kind = (struct kind){ .regular = regular, .chain = chain };
    kind->attempts = sc_pf_attempts(w->k, w->m, chain, kind->attempt);
    for (int t = 0; t < 9; t++) {
        const double score = regular > 0.0 ? sc_prefetch_confidence(regular, t) : 0.0;
        kind->score[SC_PREFETCH_CHAIN][t] = kind->score[SC_PREFETCH_ITERATION][t] = score;
        kind->score[SC_PREFETCH_WARP][t] = score * sc_prefetch_confidence(w->rightness, t);
    }
    return w->kinds++;
}

static void prepare(struct work *w, const struct pf_kernel *k,
                    const struct sc_prefetch_mechanisms *m)
{
    const double trusted = in_step(k->scenario);
    *w = (struct work){ .k = k, .m = m, .in_step = trusted, .rightness = rightness(trusted) };
    collect_lines(w);
    collect_blocks(w);
    for (unsigned j = 0; j < (unsigned)k->loads; j++) {
        w->kind_of[j] = kind_of(w, &k->load[j]);
        const struct kind *kind = &w->kind[w->kind_of[j]];
        w->has_zeros = w->has_zeros || k->load[j].zero > 0.0;
        w->mean_zero += k->load[j].zero / k->loads;
        if (kind->attempts > 0)
            w->furthest = fmax(w->furthest, kind->attempt[0].lead);
        w->regular += kind->regular / k->loads;
        w->derailed += k->load[j].misleads * kind->regular / k->loads;
    }
    for (int p = 0; p < SC_PREFETCH_PATTERNS; p++)
        w->tuned[p] = k->scenario->start_distance;
}

/* P(a candidate of this pattern and distance passes training and score). */
static double trusted(const struct work *w, const struct kind *kind, const struct pf_attempt *a)
{
    const double most = 8.0, *score = kind->score[a->pattern];
    if (w->m->front == SC_PREFETCH_KNOWN)
        return 1.0;
    if (w->m->own_tuner) /* at one distance, or between two */
        return score[3] * fmax(0.0, 1.0 - fmax(0.0, fabs(a->distance - w->tuned[a->pattern]) -
                                                        0.5 * (a->copies - 1.0)));
    if (!w->m->tuner)
        return score[3];
    const double off = fmax(0.0,
                            fabs(a->distance - w->tuned[a->pattern]) - 0.5 * (a->copies - 1.0));
    /* Between two whole thresholds the share of each. */
    const double need = fmin(w->k->scenario->score_threshold + off, most), low = floor(need);
    const double p = score[(int)low], next = low < most ? score[(int)low + 1] : 0.0;
    return p + (need - low) * (next - p);
}

static void add_fate(struct pf_fate *sum, const struct pf_fate *f, double weight)
{
    sum->issued += weight * f->issued;
    sum->on_time += weight * f->on_time;
    sum->late += weight * f->late;
    sum->early += weight * f->early;
    sum->known += weight * f->known;
    sum->parked += weight * f->parked;
    sum->dropped += weight * f->dropped;
    sum->late_wait += weight * f->late_wait;
    sum->hold += weight * f->hold;
    sum->lead += weight * f->lead;
    for (int p = 0; p < SC_PREFETCH_PATTERNS; p++)
        sum->pattern_issued[p] += weight * f->pattern_issued[p];
}

/* The fate of sectors of each kind. */
static void foretell(struct work *w, const struct pf_state *state, const struct pf_life *life)
{
    double zero[SC_PREFETCH_ATTEMPTS], other[SC_PREFETCH_ATTEMPTS];
    const bool filtered = state->false_negative < 1.0 || state->false_positive > 0.0;
    for (size_t i = 0; i < w->kinds; i++) {
        struct kind *kind = &w->kind[i];
        for (size_t n = 0; n < kind->attempts; n++) {
            const enum sc_prefetch_pattern pattern = kind->attempt[n].pattern;
            const double pass = trusted(w, kind, &kind->attempt[n]) * w->pass_rank[pattern];
            zero[n] = pass * state->false_negative;
            other[n] = pass * (1.0 - state->false_positive);
        }
        kind->other = sc_pf_fate(kind->attempt, kind->attempts, other, life);
        kind->zero = kind->other;
        if (!w->has_zeros || !(filtered || w->m->zero_cache))
            continue;
        struct pf_life of_zero = *life;
        of_zero.metadata = w->m->zero_cache ? state->metadata : 0.0;
        kind->zero = sc_pf_fate(kind->attempt, kind->attempts, zero, &of_zero);
        if (w->m->zero_cache)
            continue;
        /* All sectors are alike to the caches: the mean of both. */
        const double z = w->mean_zero;
        struct pf_fate mean = { 0 };
        add_fate(&mean, &kind->other, 1.0 - z);
        add_fate(&mean, &kind->zero, z);
        kind->other = mean;
    }
}

/* How long an access takes: what becomes of it. */
enum { WAIT_HIT, WAIT_MERGED, WAIT_LATE, WAIT_MISS, WAITS = WAIT_MISS + SC_LATENCY_POINTS };

struct tally {
    struct pf_fate fate; /* per access */
    double waits[SC_PREFETCH_LOADS_MAX][WAITS]; /* shares of each load's accesses */
    double merged_wait, late_wait;              /* cycles, sums over these */
    double exposed;                             /* per iteration */
    double hits, missed, merged, cold_fetches, fetches;
    double latency;
    double zero_issued, dropped;
    double aimed;    /* accesses that prefetches can serve */
    double variance; /* of the waits of an iteration */
};

/* Cycles that a warp waits for a load that takes `cycles`, after the instructions
 * that do not need it. */
static double exposed(const struct work *w, double cycles)
{
    const struct sc_prefetch *s = w->k->scenario;
    return fmax(0.0, cycles - s->dependence * s->issue_gap_cycles);
}

/* ---- What warps wait ---- */

/* Cycles that each kind of access makes a warp wait, shortest first. */
struct wait_scale {
    double cycles[WAITS];
    int kind[WAITS];
};

static struct wait_scale scale_of(const struct work *w, const struct tally *t,
                                  const struct sc_latency *latency)
{
    const struct sc_prefetch *s = w->k->scenario;
    double merged = 0.0, late = 0.0, cycles[WAITS];
    for (unsigned j = 0; j < (unsigned)w->k->loads; j++) {
        merged += t->waits[j][WAIT_MERGED];
        late += t->waits[j][WAIT_LATE];
    }
    const double l1 = s->l1_latency_cycles;
    cycles[WAIT_HIT] = exposed(w, l1);
    cycles[WAIT_MERGED] = exposed(w, l1 + (merged > 1e-9 ? t->merged_wait / merged : 0.0));
    cycles[WAIT_LATE] = exposed(w, l1 + (late > 1e-9 ? s->late_factor * t->late_wait / late : 0.0));
    for (int i = 0; i < SC_LATENCY_POINTS; i++)
        cycles[WAIT_MISS + i] = exposed(w, latency->cycles[i]);
    struct wait_scale scale = { 0 };
    for (int n = 0; n < WAITS; n++) {
        int at = n;
        for (; at > 0 && scale.cycles[at - 1] > cycles[n]; at--) {
            scale.cycles[at] = scale.cycles[at - 1];
            scale.kind[at] = scale.kind[at - 1];
        }
        scale.cycles[at] = cycles[n];
        scale.kind[at] = n;
    }
    return scale;
}

/* Mean and mean square of the longest wait among `count` loads from load `first` on. */
static void longest_of(const struct work *w, const struct tally *t, const struct wait_scale *scale,
                       unsigned first, unsigned count, double *mean, double *square)
{
    const unsigned loads = (unsigned)w->k->loads;
    double below[SC_PREFETCH_LOADS_MAX] = { 0 }, before = 0.0;
    *mean = *square = 0.0;
    for (int i = 0; i < WAITS; i++) {
        double all = 1.0;
        for (unsigned m = 0; m < count; m++) {
            const unsigned j = (first + m) % loads;
            if (m < loads)
                below[j] = fmin(1.0, below[j] + t->waits[j][scale->kind[i]]);
            all *= below[j];
        }
        *mean += (all - before) * scale->cycles[i];
        *square += (all - before) * scale->cycles[i] * scale->cycles[i];
        before = all;
    }
}

/* Loads that are under way before the first is needed wait together, one after the
 * other if they keep their order: between the mean of them and the longest, of which
 * a window that slides on sees two thirds. */
static void expose(const struct work *w, struct tally *t, const struct sc_latency *latency)
{
    const double overlap = 2.0 / 3.0;
    const struct sc_prefetch *s = w->k->scenario;
    const unsigned loads = (unsigned)w->k->loads;
    const double most = s->store_share > 0.0 ? w->k->loads : 16.0;
    const unsigned together =
        (unsigned)fmax(1.0, fmin(ceil(s->dependence / (1.0 + floor(s->compute + 0.5))), most));
    const struct wait_scale scale = scale_of(w, t, latency);
    t->exposed = t->variance = 0.0;
    for (unsigned j = 0; j < loads; j++) {
        double one, one2, longest, longest2;
        longest_of(w, t, &scale, j, 1, &one, &one2);
        longest_of(w, t, &scale, j, together, &longest, &longest2);
        const double mean = one + overlap * (longest - one);
        t->exposed += mean / together;
        t->variance += fmax(0.0, longest2 - longest * longest) / together;
    }
}

/* Cycles since a touch. */
struct touch {
    double ago;
    bool exact; /* else on average, exponentially */
};

static struct touch touch_of(const struct pf_kernel *k, const struct pf_state *state,
                             const struct sc_reuse *r, bool other)
{
    const double rate = k->warps * k->loads / state->iteration;
    /* Between warps the order of the touches is anybody's. */
    const bool exact = r->cyclic && !other;
    const double apart = exact ? 0.0 : state->skew * state->active;
    return (struct touch){ fmax(r->reuse / rate * state->active / state->iteration, apart), exact };
}

/* P(it was within the last `cycles`, or for exact ones with a spread of cv cycles). */
static double touch_within(const struct touch *t, double cycles, double cv)
{
    if (!t->exact)
        return -expm1(-cycles / t->ago);
    return cv > 0.0 ? sc_prefetch_retained(t->ago, cycles, cv) : t->ago < cycles;
}

/* Where a sector that is not zero stands without prefetches, shares of its demands. */
struct standing {
    double there, merged, merged_wait, gone;
};

static struct standing standing_of(const struct pf_kernel *k, const struct pf_load *l,
                                   const struct pf_state *state, const struct pf_life *life,
                                   double fetch)
{
    struct standing s = { .gone = l->cold };
    for (size_t c = 0; c < l->before_count; c++) {
        const struct sc_reuse *r = &l->before[c];
        const struct touch touch = touch_of(k, state, r, l->other[c]);
        const double kept = touch_within(&touch, life->residence, life->residence_cv);
        /* What demand fetched last may still be under way. */
        const double near = fmin(kept, touch_within(&touch, fetch, 0.0));
        const double joined = r->share * near * (1.0 - state->served);
        s.merged += joined;
        s.merged_wait += joined * fmax(0.0, touch.exact ? fetch - touch.ago : 0.5 * fetch);
        s.there += r->share * kept - joined;
        s.gone += r->share * (1.0 - kept);
    }
    s.there = fmax(0.0, s.there);
    s.gone = clamp(s.gone, 0.0, 1.0);
    return s;
}

/* L1 keeps no zero sector that demand has brought, but its metadata does, from when
 * the first of its line came. */
static struct standing standing_of_zero(const struct pf_kernel *k, const struct pf_load *l,
                                        const struct pf_state *state, double fetch)
{
    const double gap = l->block_gap * state->iteration / (k->warps * k->loads); /* cycles */
    const double learnt = fmax(0.0, 1.0 - l->new_block * (1.0 + fetch / gap));
    const double in_order = sc_prefetch_retained(gap, state->metadata, k->scenario->residence_cv);
    const double known = learnt * 0.5 * (in_order - expm1(-state->metadata / gap));
    return (struct standing){ .there = known, .gone = 1.0 - known };
}

/* Adds the share `weight` of the accesses of load j that stand like `s` and whose
 * prefetches fare like `f`. */
static void tally_part(const struct work *w, unsigned j, double weight,
                       const struct standing *s, const struct pf_fate *f, double absent, bool zero,
                       const struct pf_life *life, const struct sc_latency *latency,
                       struct tally *t)
{
    const struct pf_load *l = &w->k->load[j];
    const double share = weight / w->k->loads, l1 = w->k->scenario->l1_latency_cycles;
    const double mean = sc_latency_mean(latency);
    const double regular = w->m->front == SC_PREFETCH_KNOWN ? 1.0 : 1.0 - l->irregular;
    const double aimed = fmin(s->gone, regular), served = f->on_time + f->known;
    const double missed = fmax(0.0, s->gone - aimed * (served + f->late));
    /* Metadata does not keep zero sectors from being fetched ahead again and again, unless
     * they are fetched as demand comes. */
    const double tried = w->m->oracle_time ? aimed : fmax(aimed, fmin(absent, regular));
    add_fate(&t->fate, f, aimed * share);
    t->fate.issued += (tried - aimed) * share * f->issued;
    t->fate.dropped += (tried - aimed) * share * f->dropped;
    const double known = (tried - aimed) * share * (f->issued * life->register_share - f->dropped);
    t->fate.parked += known;
    if (l->stored)
        t->dropped += known + aimed * share * f->parked;
    for (int p = 0; p < SC_PREFETCH_PATTERNS; p++)
        t->fate.pattern_issued[p] += (tried - aimed) * share * f->pattern_issued[p];
    t->aimed += aimed * share;
    t->hits += (s->there + aimed * served) * share;
    t->missed += missed * share;
    t->fetches += (missed + tried * f->issued) * share;
    t->cold_fetches += fmin(l->cold, s->gone) * (zero ? l->new_block : 1.0) * share;
    t->zero_issued += zero ? tried * f->issued * share : 0.0;
    t->latency += share * (l1 * (s->there + s->merged + aimed * (served + f->late)) +
                           s->merged_wait + aimed * f->late_wait + missed * mean);
    double *const waits = t->waits[j];
    waits[WAIT_HIT] += weight * (s->there + aimed * served);
    waits[WAIT_MERGED] += weight * s->merged;
    waits[WAIT_LATE] += weight * aimed * f->late;
    for (int i = 0; i < SC_LATENCY_POINTS; i++)
        waits[WAIT_MISS + i] += weight * missed * latency->weight[i];
    t->merged_wait += weight * s->merged_wait;
    t->late_wait += weight * aimed * f->late_wait;
}

/* Demand of load j, everything at the present state. */
static void tally_load(const struct work *w, unsigned j, const struct pf_state *state,
                       const struct pf_life *life, const struct sc_latency *latency,
                       struct tally *t)
{
    const struct pf_load *l = &w->k->load[j];
    const struct kind *kind = &w->kind[w->kind_of[j]];
    struct pf_life of_demand = *life;
    of_demand.residence = state->residence;
    const struct standing s = standing_of(w->k, l, state, &of_demand, sc_latency_mean(latency));
    const double z = w->m->zero_cache ? l->zero : 0.0;
    tally_part(w, j, 1.0 - z, &s, &kind->other, s.gone, false, life, latency, t);
    if (z > 0.0) {
        const struct standing of_zero =
            standing_of_zero(w->k, l, state, sc_latency_mean(latency));
        tally_part(w, j, z, &of_zero, &kind->zero, s.gone, true, life, latency, t);
    }
}

/* ---- Load on the machine ---- */

/* Time of an iteration that the narrowest resource alone would take. */
static double bandwidth_of(const struct pf_kernel *k, const struct tally *t, double dram_share,
                           double latency, struct pf_state *state)
{
    const double accesses = k->warps * k->loads, bytes = k->sectors * SC_PREFETCH_SECTOR;
    const double fetched = accesses * t->fetches;
    const struct {
        const char *name;
        double cycles;
    } each[] = {
        { "memory bandwidth", fetched * bytes * dram_share / k->machine.dram_bytes_per_cycle },
        { "L2 bandwidth", fetched * bytes / k->scenario->l2_bytes_per_cycle },
        { "mshrs", fetched * latency / k->scenario->mshrs },
        { "load/store port", accesses + k->warps * (k->scenario->store_share * k->loads) },
    };
    size_t most = 0;
    for (size_t i = 1; i < sizeof each / sizeof each[0]; i++)
        if (each[i].cycles > each[most].cycles)
            most = i;
    state->narrowest = each[most].name;
    state->at_port = most >= 2;
    return each[most].cycles;
}

/* Wait of the mean warp for the last of its CTA, per iteration. */
static double barrier_of(const struct pf_kernel *k, const struct tally *t)
{
    const struct sc_prefetch *s = k->scenario;
    if (!(s->barriers > 0.0) || k->cta_warps < 2.0)
        return 0.0;
    const double period = fmax(1.0, floor(1.0 / s->barriers + 0.5));
    return s->barrier_factor * sqrt(2.0 * log(k->cta_warps) * t->variance / period);
}

/* Both queues, and the latency that they make. */
static struct sc_latency latency_of(const struct pf_kernel *k, const struct pf_state *state,
                                    double *wait)
{
    const struct sc_prefetch *s = k->scenario;
    const double bytes = k->sectors * SC_PREFETCH_SECTOR;
    const double rate = k->warps * k->loads / state->iteration;
    const double l2 = bytes / s->l2_bytes_per_cycle, dram = bytes / k->machine.dram_bytes_per_cycle;
    const double customers = fmin(s->mshrs, k->warps * (1.0 + state->issued * k->loads));
    const double l2_wait = sc_prefetch_wait(l2, rate * state->l2_fetches * l2, s->burst_factor,
                                            customers);
    const double dram_wait = sc_prefetch_wait(dram, rate * state->dram_fetches * dram,
                                              s->burst_factor, customers);
    const double share = state->l2_fetches > 0.0 ? state->dram_fetches / state->l2_fetches : 0.0;
    /* Demand comes upon a burst for as long as there is one. */
    const double met = 0.6 * state->burst *
                       fmin(1.0, rate * state->issued * fmax(l2, share * dram));
    *wait = l2_wait + share * dram_wait + met;
    return sc_prefetch_latency(
        s->l2_latency_cycles + l2_wait + met, clamp(share, 0.0, 1.0),
        fmax(0.0, s->dram_latency_cycles - s->l2_latency_cycles - s->dram_jitter_cycles),
        s->dram_jitter_cycles + dram_wait);
}

static struct sc_latency delayed(const struct sc_latency *latency, double cycles)
{
    struct sc_latency l = *latency;
    for (int i = 0; i < SC_LATENCY_POINTS; i++)
        l.cycles[i] += cycles;
    return l;
}

/* Mean wait of a prefetch behind the others of its burst.  A throttle lets them go
 * in bursts that fill the MSHRs; the port lets one out in each free cycle, L2 or
 * memory takes `service` for it. */
static double burst_of(const struct pf_kernel *k, const struct pf_state *state)
{
    const struct sc_prefetch *s = k->scenario;
    const double bytes = k->sectors * SC_PREFETCH_SECTOR;
    const double share = state->l2_fetches > 0.0 ? state->dram_fetches / state->l2_fetches : 0.0;
    const double service = fmax(bytes / s->l2_bytes_per_cycle,
                                share * bytes / k->machine.dram_bytes_per_cycle);
    const double busy = clamp(k->warps * k->loads * (1.0 + s->store_share) / state->iteration, 0.0,
                              0.9);
    const double queued = 1.2 * s->prefetch_mshrs * fmin(1.0, 2.0 * (1.0 - state->throttle));
    return 0.5 * queued * fmax(0.0, service - 1.0 / (1.0 - busy));
}

static void mix(double *old, double fresh, double weight)
{
    *old += weight * (fresh - *old);
}

enum { TUNED_MOST = 63 };

/* What becomes of prefetches of one pattern at each distance.  The tuner learns of an
 * early one only while its buffer has it. */
static void outcomes_of(const struct pf_kernel *k, const struct pf_state *state,
                        const struct pf_life *life, double unit, size_t reach,
                        struct sc_timeliness outcome[TUNED_MOST])
{
    const double evicted = k->warps * k->loads * k->sectors / state->iteration *
                           (state->early + state->useless);
    const double fill = sc_latency_mean(&life->latency);
    for (size_t d = 0; d < reach; d++) {
        const double lead = ((double)d + 1.0) * unit * life->iteration;
        outcome[d] = sc_pf_timeliness(lead, life);
        const double gone = fmax(0.0, lead - fill - fmin(life->residence, 1e9)) * evicted /
                            fmax(k->scenario->eviction_entries, 1e-3);
        outcome[d].early /= 1.0 + gone * gone;
    }
}

/* The gate lets pass what is `gate` around the best distance, the furthest first: the
 * nearer ones are what the throttle has held up. */
static struct sc_timeliness gated_outcome(const struct sc_timeliness *outcome, size_t reach,
                                          size_t best, size_t gate, double psi)
{
    struct sc_timeliness sum = { 0 };
    const size_t nearest = best > gate ? best - gate : 1;
    double left = 1.0;
    for (size_t d = best + gate < reach ? best + gate : reach; d >= nearest && d > 0; d--) {
        const double share = d == nearest ? left : left * psi;
        sum.on_time += share * outcome[d - 1].on_time;
        sum.late += share * outcome[d - 1].late;
        sum.early += share * outcome[d - 1].early;
        left -= share;
    }
    return sum;
}

/* The tuner of each pattern goes on until its outcomes balance, or no window is
 * left. */
static void tune(struct work *w, const struct pf_state *state, const struct pf_life *life)
{
    const struct pf_kernel *k = w->k;
    const struct sc_prefetch *s = k->scenario;
    struct sc_timeliness at[TUNED_MOST], outcome[TUNED_MOST];
    const double unit[SC_PREFETCH_PATTERNS] = { 1.0 / k->loads, 1.0, 1.0 / k->warps };
    const size_t gate = w->m->tuner ? (size_t)fmax(0.0, 7.0 - s->score_threshold) : 0;
    const double events = k->warps * k->iterations * k->waves * clamp(state->issued, 0.01, 1.0);
    for (int p = 0; p < SC_PREFETCH_PATTERNS; p++) {
        const enum sc_prefetch_pattern pattern = (enum sc_prefetch_pattern)p;
        double most = sc_prefetch_reach(s, pattern);
        if (pattern == SC_PREFETCH_WARP)
            most = fmin(most, k->cta_warps - 1.0);
        const size_t reach = (size_t)fmax(0.0, fmin(most, TUNED_MOST));
        if (reach < 1)
            continue;
        outcomes_of(k, state, life, unit[p], reach, at);
        for (size_t d = 0; d < reach; d++)
            outcome[d] = gated_outcome(at, reach, d + 1, gate, state->throttle);
        const double settled = sc_prefetch_settle(
            outcome, reach, (int)fmin(63.0, s->window_samples), 0.5 * events / s->window_samples,
            s->start_distance);
        mix(&w->tuned[p], settled, 0.5);
    }
}

/* Positions in the queue: chains go first, then iterations, then warps. */
static void rank(struct work *w, struct pf_state *state, const struct tally *t, double useless)
{
    const struct pf_kernel *k = w->k;
    const double rate = k->warps * k->loads / state->iteration;
    const double busy = clamp(
        k->warps * k->loads * (1.0 + k->scenario->store_share) / state->iteration, 0.0, 0.98);
    const double slots = (1.0 - busy) / rate;
    double wanted[SC_PREFETCH_PATTERNS], all = 0.0, ahead = 0.0, passed = 0.0;
    for (int p = 0; p < SC_PREFETCH_PATTERNS; p++) {
        wanted[p] = (t->fate.pattern_issued[p] + (p == SC_PREFETCH_ITERATION ? useless : 0.0)) /
                    fmax(w->pass_rank[p], 1e-3);
        all += wanted[p];
    }
    mix(&state->queue_ratio, sc_prefetch_queue_ratio(all, slots), 0.5);
    for (int p = 0; p < SC_PREFETCH_PATTERNS; p++) {
        mix(&w->pass_rank[p], sc_prefetch_queue_share(state->queue_ratio, ahead, wanted[p]), 0.5);
        ahead += wanted[p];
        passed += wanted[p] * w->pass_rank[p];
    }
    state->passed = all > 0.0 ? passed / all : 1.0;
}

/* Data that waits in L1 while prefetching goes on for the share psi of the time, over
 * the limit above which it pauses.  What is under way when it pauses comes in all the
 * same, `pipeline` limits of it at full rate; a load that swings meets the limit before
 * its mean does.  The three constants are those of on-off control with this delay in the
 * simulator, of 234 runs. */
static double unused_over_limit(double psi, double pipeline)
{
    return 1.0 + 0.38 * fmin(pipeline, 2.0) * (1.0 - psi) - 0.42 * fmax(0.0, 2.0 * psi - 1.0);
}

static void throttle(const struct pf_kernel *k, struct pf_state *state, double unused_lines,
                     double latency)
{
    const struct sc_prefetch *s = k->scenario;
    const double limit = fmax(s->throttle_share * k->machine.l1_lines, 0.25);
    const double rate = k->warps * k->loads * k->sectors / 4.0 / state->iteration;
    const double pipeline = rate * state->issued / state->throttle * latency / limit;
    const double room = limit * unused_over_limit(state->throttle, pipeline);
    const double by_room = unused_lines > 0.0 ? room / unused_lines : HUGE_VAL;
    const double by_latency = s->throttle_cycles / latency;
    const double next = state->throttle * fmin(fmin(by_room, by_latency * by_latency), 4.0);
    mix(&state->throttle, clamp(next, 0.01, 1.0), 0.5);
}

static void filter(const struct pf_kernel *k, const struct sc_prefetch_mechanisms *m,
                   struct pf_state *state, double latency)
{
    const struct sc_prefetch *s = k->scenario;
    if (m->oracle_zero) {
        state->false_positive = state->false_negative = 0.0;
        return;
    }
    state->false_positive = 0.0;
    state->false_negative = 1.0;
    if (!m->zero_filter)
        return;
    /* A row of the table sees its load's candidates, several for each trigger. */
    const double rate = 4.0 * k->warps / state->iteration;
    const double run = fmax(1.0, s->zero_run / k->sectors);
    const double known = s->zero_learning == SC_PREFETCH_LEARN_BOTH && m->zero_cache ? 0.95 : 0.0;
    const double delay = rate * latency * (1.0 - known);
    double zeros = 0.0, others = 0.0, negative = 0.0, positive = 0.0;
    for (unsigned j = 0; j < (unsigned)k->loads; j++) {
        const double z = k->load[j].zero;
        const struct sc_zero_filter f = sc_prefetch_zero_filter(z, run / fmax(1.0 - z, 0.02), delay,
                                                                rate * s->zero_reset_cycles);
        zeros += z;
        others += 1.0 - z;
        negative += z * f.false_negative;
        positive += (1.0 - z) * f.false_positive;
    }
    if (zeros > 0.0)
        state->false_negative = negative / zeros;
    if (others > 0.0)
        state->false_positive = positive / others;
}

/* Share of the accesses that touch a sector first: of others the prediction is
 * of what is there. */
static double new_share(const struct pf_kernel *k)
{
    double sum = 0.0;
    for (unsigned j = 0; j < (unsigned)k->loads; j++)
        sum += k->load[j].cold / k->loads;
    return sum;
}

/* Largest distance of a pattern that passes the gate. */
static double reach_of(const struct work *w, enum sc_prefetch_pattern pattern)
{
    const struct sc_prefetch *s = w->k->scenario;
    const double most = w->m->front == SC_PREFETCH_SNAKE || w->m->front == SC_PREFETCH_APOGEE
                            ? sc_prefetch_reach(s, pattern)
                            : w->furthest;
    if (w->m->tuner)
        return fmin(most, w->tuned[pattern] + fmax(0.0, 7.0 - s->score_threshold));
    return w->m->own_tuner ? fmin(most, w->tuned[pattern]) : most;
}

/* Sectors per access that are predicted for warps of the next slots, whose CTAs are
 * elsewhere in the grid; unless it is where this one will be itself. */
static double astray_of(const struct work *w)
{
    const struct pf_kernel *k = w->k;
    const struct sc_prefetch *s = k->scenario;
    const double reach = reach_of(w, SC_PREFETCH_WARP), wide = fabs(s->warp_stride_bytes);
    const double step = fabs(s->iteration_stride_bytes);
    double sum = 0.0;
    for (double behind = k->warps - k->cta_warps; behind > 0.0; behind -= k->cta_warps)
        sum += fmin(reach, behind);
    const double own = k->warps * wide > step && step > 0.0 ? fmin(1.0, k->cta_warps * wide / step)
                                                            : 0.0;
    return wide > 0.0 ? sum / k->warps * (1.0 - own) : 0.0;
}

/* P(a stride between warps is trusted enough for a candidate), mean over the distances that the
 * gate lets pass. */
static double gated(const struct work *w, enum sc_prefetch_pattern pattern)
{
    const double reach = reach_of(w, pattern), need = w->k->scenario->score_threshold;
    double sum = 0.0, count = 0.0;
    if (!w->m->tuner)
        return w->in_step;
    for (double d = fmax(1.0, 2.0 * w->tuned[pattern] - reach); d <= reach; d++, count++)
        sum += sc_prefetch_confidence(w->rightness, need + fabs(d - w->tuned[pattern]));
    return count > 0.0 ? sum / count : 0.0;
}

/* Sectors past the end of the loop per access that are fetched: each is proposed by several
 * triggers, as long as it is not there. */
static double overshoot_of(const struct work *w, const struct pf_state *state,
                           const struct pf_life *life)
{
    const double reach = reach_of(w, SC_PREFETCH_ITERATION);
    const double free = state->throttle * w->pass_rank[SC_PREFETCH_ITERATION];
    const double again = 0.5 * fmax(0.0, reach - 1.0); /* by later iterations */
    const double in_l1 = sc_prefetch_retained(
        fmax(0.0, life->iteration - sc_latency_mean(&life->latency)), life->residence,
        life->residence_cv);
    const double kept = in_l1 + life->register_share * (1.0 - in_l1);
    const double once = 1.0 - pow(1.0 - free, 1.0 + again);
    const bool apart = w->m->front == SC_PREFETCH_APOGEE &&
                       w->k->scenario->warp_stride_bytes != 0.0; /* predicts for other warps */
    if (apart || w->m->front == SC_PREFETCH_KNOWN)
        return 0.0;
    return w->regular * sc_prefetch_overshoot(reach, w->k->iterations) *
           (once + (1.0 - kept) * (free * (1.0 + again) - once));
}

/* Likewise sectors of other CTAs, by strides between warps and by chains. */
static double strays_of(const struct work *w, const struct pf_state *state)
{
    const struct pf_kernel *k = w->k;
    if (w->m->front == SC_PREFETCH_APOGEE)
        return k->scenario->warp_stride_bytes != 0.0 ? w->regular * astray_of(w) * w->in_step : 0.0;
    if (w->m->front != SC_PREFETCH_SNAKE)
        return 0.0;
    const double warps = gated(w, SC_PREFETCH_WARP) * w->pass_rank[SC_PREFETCH_WARP];
    const double chains = gated(w, SC_PREFETCH_CHAIN) * w->pass_rank[SC_PREFETCH_CHAIN];
    const double triggers = sc_pf_triggers(fmin(k->cta_warps, reach_of(w, SC_PREFETCH_WARP)));
    const double by_warps = w->regular * astray_of(w) * (1.0 - pow(1.0 - warps, triggers));
    const double by_chains =
        w->derailed * (1.0 - pow(1.0 - chains, fmin(4.0, reach_of(w, SC_PREFETCH_CHAIN))));
    return state->throttle * (by_warps + by_chains);
}

/* Both, but for sectors that are there anyway and what the zero filter stops. */
static void find_useless(const struct work *w, const struct pf_life *life, struct pf_state *state)
{
    const double z = w->mean_zero;
    const double passed = (1.0 - z) * (1.0 - state->false_positive) + z * state->false_negative;
    const double share = w->m->oracle_time
                             ? 0.0
                             : w->k->scenario->useless_factor * new_share(w->k) * passed;
    state->overshoot = share * overshoot_of(w, state, life);
    state->useless = state->overshoot + share * strays_of(w, state);
}

/* Warps drift apart by the waits that one has and another has not, and, unless
 * barriers hold them together, as a greedy scheduler prefers one to another. */
static double skew_of(const struct pf_kernel *k, const struct pf_state *state)
{
    const struct sc_prefetch *s = k->scenario;
    const double busy = k->warps * k->instructions / s->issue_width / state->iteration;
    const double greedy = s->scheduler == SC_PREFETCH_GREEDY_OLDEST && !(s->barriers > 0.0)
                              ? 0.5 * fmin(1.0, busy)
                              : 0.0;
    return s->order_factor * (sqrt(k->in_step * state->variance) / state->active + greedy);
}

/* Where the tuner is, or the mean distance of on-time prefetches. */
static double best_distance(const struct work *w, const struct tally *t)
{
    double sum = 0.0, weight = 0.0;
    if (!w->m->tuner && !w->m->own_tuner)
        return t->fate.on_time > 1e-6 ? t->fate.lead / t->fate.on_time : 0.0;
    for (int p = 0; p < SC_PREFETCH_PATTERNS; p++) {
        sum += w->tuned[p] * t->fate.pattern_issued[p];
        weight += t->fate.pattern_issued[p];
    }
    return weight > 0.0 ? sum / weight : 0.0;
}

/* Cycles that a line of zero metadata stays: prefetches bring it `ahead` cycles before
 * its first demand. */
static double metadata_of(const struct work *w, double ahead, double rate)
{
    if (!w->m->zero_cache || w->blocks == 0 || w->k->machine.l1_zero_lines < 1.0)
        return 0.0;
    return fmin(1e9, sc_reuse_characteristic(w->block, w->blocks, 0.0, w->new_blocks, ahead * rate,
                                             w->k->machine.l1_zero_lines) / rate);
}

static struct pf_life life_of(const struct work *w, const struct pf_state *state,
                              const struct sc_latency *demand)
{
    const struct sc_prefetch *s = w->k->scenario;
    struct pf_life life = {
        .latency = delayed(demand, state->burst),
        .scatter = 0.58 * state->burst,
        .iteration = state->active,
        .throttle = state->throttle,
        .variance = state->variance,
        .lead_cv = s->lead_cv,
        .residence = state->residence * (1.0 + 0.15 * (w->k->sharers - 1.0)),
        .residence_cv = s->residence_cv,
        .just_in_time = w->m->oracle_time,
        .register_share = w->m->registers ? fmax(0.0, 1.0 - state->register_fallback) : 0.0,
        .register_hold = s->replacement == SC_PREFETCH_REPLACE_AGED ? s->register_hold_cycles : 1e6,
        .register_cv = s->residence_cv
    };
    if (w->m->oracle_place)
        life.residence = HUGE_VAL;
    life.spell = sc_latency_mean(&life.latency);
    if (s->replacement == SC_PREFETCH_REPLACE_ANY && w->m->registers) {
        /* As many others come in turn as there are registers, at random. */
        life.register_cv = 1.0 / sqrt(fmax(1.0, w->k->machine.register_entries));
        life.register_hold = fmax(0.0, state->register_turn - life.spell);
        life.register_drop =
            1.0 - sc_prefetch_retained(life.spell, state->register_turn, life.register_cv);
    }
    return life;
}

/* What becomes of all accesses at the present state. */
static struct tally tally_all(struct work *w, const struct pf_state *state,
                              const struct pf_life *life, const struct sc_latency *demand)
{
    const double l1 = w->k->scenario->l1_latency_cycles;
    struct tally t = { 0 };
    foretell(w, state, life);
    for (unsigned j = 0; j < (unsigned)w->k->loads; j++)
        tally_load(w, j, state, life, demand, &t);
    expose(w, &t, demand);
    if (w->m->oracle_l1)
        t = (struct tally){ .hits = 1.0, .latency = l1, .exposed = w->k->loads * exposed(w, l1) };
    return t;
}

/* P(no register is free).  What points past the loop's end comes with the end of each
 * round of CTAs, and is in the way of the next one for as long as registers hold it. */
static double fallback_of(const struct work *w, const struct pf_state *state, double busy,
                          double hold)
{
    const struct pf_kernel *k = w->k;
    const double registers = k->machine.register_entries;
    const double round = k->iterations * state->iteration;
    const double left = state->overshoot * w->fresh_lines * k->warps * k->loads * k->iterations;
    const double share = fmin(1.0, hold / round) * fmax(0.0, 1.0 - 1.0 / k->waves);
    const double most = sc_erlang_b(busy, registers);
    return most + share * (sc_erlang_b(busy, fmax(0.0, registers - left)) - most);
}

/* Room that prefetches take: in L1, of which the throttle minds what waits, and in
 * registers. */
static void occupy(const struct work *w, struct pf_state *state, const struct tally *t,
                   const struct pf_life *life, double latency, double weight)
{
    const struct pf_kernel *k = w->k;
    const double rate = k->warps * k->loads / state->iteration;
    const double fill = sc_latency_mean(&life->latency);
    const double in_l1 = w->m->oracle_place ? 0.0 : 1.0 - life->register_share;
    const double hold = t->fate.on_time > 1e-9 ? t->fate.hold / t->fate.on_time : 0.0;
    const double zeros = w->m->zero_cache ? t->zero_issued : 0.0;
    const double lost = fmax(0.0, t->fate.issued - t->fate.on_time - t->fate.late - t->zero_issued);
    const double in_vain = state->useless + lost + zeros;
    const double lines = sc_reuse_characteristic(w->line, w->lines, in_vain * w->fresh_lines * in_l1,
                                                 t->fate.on_time * w->fresh_lines * in_l1,
                                                 hold * rate, k->machine.l1_lines);
    const double residence = fmin(1e9, k->scenario->residence_factor * lines / rate);
    const double unused = rate * k->sectors / 4.0 * in_l1 *
                          (t->fate.hold + in_vain * fmin(residence, 1e5));
    const double mean = t->fetches > 0.0
                            ? (t->missed * latency + state->issued * fill) / t->fetches
                            : latency;
    if (w->m->throttle)
        mix(&state->burst, burst_of(k, state), weight);
    if (w->m->throttle && !w->m->oracle_time)
        throttle(k, state, unused, mean);
    if (w->m->registers && k->scenario->replacement == SC_PREFETCH_REPLACE_ANY) {
        const double taken = rate * w->fresh_lines * fmax(state->sent, 1e-6);
        mix(&state->register_turn, fmin(1e9, k->machine.register_entries / taken), weight);
    } else if (w->m->registers) {
        const double strays = state->useless - state->overshoot;
        const double idle = strays + fmax(0.0, t->fate.parked - t->dropped);
        const double busy = rate * w->fresh_lines *
                            (t->fate.issued * (fill + hold) + idle * life->register_hold);
        mix(&state->register_fallback, fallback_of(w, state, busy, life->register_hold), 0.5);
    }
    const double ahead = t->fate.issued > 0.0 ? state->false_negative * w->furthest * state->active
                                              : 0.0;
    mix(&state->metadata, metadata_of(w, ahead, rate), weight);
    mix(&state->residence, residence, weight);
    const double prefetched = state->issued / fmax(state->issued + t->missed, 1e-9);
    state->demand_evictions = in_l1 * prefetched * (1.0 - prefetched);
}

/* The time that all this takes; returns its relative change. */
static double advance(const struct work *w, struct pf_state *state, const struct tally *t,
                      double latency, double weight)
{
    const struct pf_kernel *k = w->k;
    const struct sc_prefetch *s = k->scenario;
    const double cold = t->cold_fetches + state->useless;
    const double dram = t->fetches > 0.0 ? k->cold_dram * clamp(cold / t->fetches, 0.0, 1.0) : 0.0;
    state->barrier = barrier_of(k, t);
    state->exposed = t->exposed;
    state->away = (s->issue_gap_cycles - 1.0) * k->instructions + t->exposed + state->barrier;
    state->bandwidth = bandwidth_of(k, t, dram, latency, state);
    state->unlimited = sc_prefetch_iteration(k->warps / s->issue_width, k->instructions,
                                             state->away, 0.0);
    const double iteration = fmax(state->unlimited, state->bandwidth);
    const double change = fmax(fabs(iteration / state->iteration - 1.0),
                               0.05 * fabs(state->sent - state->issued));
    mix(&state->iteration, iteration, weight);
    mix(&state->variance, t->variance, weight);
    state->skew = skew_of(k, state);
    /* A greedy scheduler keeps no more warps going than it can issue from. */
    const double own = fmin(state->away + k->instructions, state->iteration);
    mix(&state->active, s->scheduler == SC_PREFETCH_GREEDY_OLDEST ? own : state->iteration, weight);
    mix(&state->served, t->aimed > 0.0 ? (t->fate.on_time + t->fate.known) / t->aimed : 0.0, weight);
    mix(&state->l2_fetches, t->fetches, weight);
    mix(&state->dram_fetches, t->fetches * dram, weight);
    mix(&state->issued, state->sent, weight);
    return change;
}

/* One round of the fixed point; returns the relative change of T. */
static double step(struct work *w, struct pf_state *state, double weight)
{
    const struct pf_kernel *k = w->k;
    const struct sc_latency demand = latency_of(k, state, &state->fetch_wait);
    const struct pf_life life = life_of(w, state, &demand);
    const double latency = sc_latency_mean(&demand);
    filter(k, w->m, state, life.spell);
    if (w->m->tuner || w->m->own_tuner)
        tune(w, state, &life);
    struct tally t = tally_all(w, state, &life, &demand);
    find_useless(w, &life, state);
    t.fetches += state->useless;
    state->sent = t.fate.issued + state->useless;
    rank(w, state, &t, state->useless);
    occupy(w, state, &t, &life, latency, weight);
    state->fetch_latency = latency;
    state->latency = t.latency;
    state->on_time = t.fate.on_time;
    state->late = t.fate.late;
    state->early = t.fate.early;
    state->dropped = t.dropped + t.fate.dropped + life.register_share * life.register_drop *
                                                     state->useless;
    state->hits = t.hits;
    state->missed = t.missed;
    state->distance = best_distance(w, &t);
    return advance(w, state, &t, latency, weight);
}

struct pf_state sc_pf_solve(const struct pf_kernel *k, const struct sc_prefetch_mechanisms *m,
                            double tolerance)
{
    enum { STEPS = 40 };
    const struct sc_prefetch *s = k->scenario;
    struct work w;
    prepare(&w, k, m);
    /* From the optimistic side: nobody waits. */
    struct pf_state state = { .iteration = s->issue_gap_cycles * k->instructions +
                                           k->loads * s->l1_latency_cycles,
                              .residence = 1e4,
                              .metadata = 1e4,
                              .register_turn = 1e5,
                              .throttle = 1.0,
                              .queue_ratio = 1.0,
                              .narrowest = "issue" };
    state.active = state.iteration;
    state.iteration = fmax(state.iteration, k->warps * k->instructions / s->issue_width);
    for (int p = 0; p < SC_PREFETCH_PATTERNS; p++)
        w.pass_rank[p] = 1.0;
    while (state.steps++ < STEPS)
        if (step(&w, &state, 0.5) < tolerance && state.steps > 6)
            break;
    return state;
}
