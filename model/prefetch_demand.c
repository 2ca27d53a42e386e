/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kernel of `prefetch` as reuse distances: who touched a sector, or a line,
 * last before a load does, and how long ago. */
#include <math.h>

#include "prefetch_forms.h"

/* Loops longer than this are searched no further back; a working set that is
 * longer counts as swept evenly. */
enum { LOOK_BACK = 64 };

/* The place of an earlier touch relative to a later one. */
struct gap {
    double loads, iterations, slots;
};

static double positive_mod(double x, double period)
{
    const double rest = x - period * floor(x / period);
    return rest > 0.5 * period ? rest - period : rest;
}

/* Share of the accesses of load j whose `span` bytes load i touched in the warps
 * of the CTA `slots` further, `iterations` earlier; *warps is how far off. */
static double overlap(const struct pf_kernel *k, const struct sc_prefetch_body *b, unsigned j,
                      unsigned i, const struct gap *g, double span, double *warps)
{
    const struct sc_prefetch_load *later = &b->load[j], *earlier = &b->load[i];
    const double stride = (double)later->warp_stride;
    const double apart = (double)(int64_t)(earlier->base - later->base) -
                         g->iterations * (double)later->iteration_stride +
                         g->slots * (double)b->sms * k->cta_warps * stride;
    const double period = (double)later->working_set;
    const double offset = period > 0.0 ? positive_mod(apart, period) : apart;
    *warps = 0.0;
    double miss = fabs(offset);
    if (stride != 0.0 && miss >= 0.5 * fabs(stride)) {
        *warps = -rint(offset / stride);
        miss = fabs(offset + *warps * stride);
    }
    /* In the same round and load the earlier one is the warp before. */
    if (i == j && g->iterations == 0.0 && g->slots == 0.0) {
        *warps = stride < 0.0 ? 1.0 : -1.0;
        miss = fabs(stride);
    }
    if (fabs(*warps) >= k->cta_warps || miss >= span)
        return 0.0;
    return (1.0 - miss / span) * (1.0 - fabs(*warps) / k->cta_warps);
}

/* Adds a class unless nothing is left; equal distances are one class. */
static void add_class(struct sc_reuse *classes, bool *other, size_t *count, struct sc_reuse fresh,
                      bool is_other)
{
    if (!(fresh.share > 1e-3))
        return;
    const size_t last = *count - (*count > 0);
    const bool alike = *count > 0 && other[last] == is_other &&
                       fabs(classes[last].reuse - fresh.reuse) <= 1e-9 * fresh.reuse;
    if (alike || *count == SC_PREFETCH_CLASSES) {
        classes[last].share += fresh.share;
        return;
    }
    other[*count] = is_other;
    classes[(*count)++] = fresh;
}

/* Fills the classes of load j at a granularity of `span` bytes; returns the share
 * that nobody touched before. */
static double search(const struct pf_kernel *k, const struct sc_prefetch_body *b, unsigned j,
                     double span, struct sc_reuse *classes, bool *other, size_t *count)
{
    const double slots = k->warps / k->cta_warps; /* a whole number, by the check */
    const double most = fmin(k->iterations - 1.0, LOOK_BACK);
    const double per_iteration = k->warps * k->loads;
    double left = 1.0 - b->load[j].irregular;
    *count = 0;
    for (double back = 0.0; back <= most && left > 1e-3; back++)
        for (unsigned n = 0; n < b->loads && left > 1e-3; n++) {
            /* Nearest first: the loads just before, then those that follow. */
            const unsigned i = (j + b->loads - n) % b->loads;
            const double iterations = back + (i > j);
            if (b->load[i].array != b->load[j].array ||
                (b->load[i].working_set == 0) != (b->load[j].working_set == 0))
                continue;
            const double ago = iterations * k->loads + (double)j - (double)i;
            double found = 0.0, warps;
            bool by_other = false;
            for (double slot = 1.0 - slots; slot < slots; slot++) {
                const struct gap g = { ago, iterations, slot };
                if (slot != 0.0 && i == j && iterations == 0.0 && slot > 0.0)
                    continue;
                const double part = overlap(k, b, j, i, &g, span, &warps) *
                                    (1.0 - fabs(slot) / slots);
                by_other = by_other || (part > 0.0 && (warps != 0.0 || slot != 0.0));
                found += part;
            }
            const double exists = 1.0 - fmin(1.0, iterations / k->iterations);
            const double share = left * fmin(1.0, found * exists) * (1.0 - b->load[i].irregular);
            add_class(classes, other, count,
                      (struct sc_reuse){ share, fmax(ago * k->warps, 1.0), 1 }, by_other);
            left -= share;
        }
    if (b->load[j].working_set != 0 && left > 1e-3) {
        const double swept = fmax(
            span, fmin(k->warps * fabs((double)b->load[j].warp_stride), k->warps * span));
        const double reuse = fmax(1.0, (double)b->load[j].working_set / swept) * per_iteration;
        const double again = left *
                             fmin(1.0, k->iterations * k->waves * per_iteration / reuse - 1.0);
        add_class(classes, other, count, (struct sc_reuse){ fmax(0.0, again), reuse, 0 }, true);
        left -= fmax(0.0, again);
    }
    return left;
}

/* Irregular accesses meet one another in the footprint. */
static double add_irregular(const struct pf_kernel *k, const struct sc_prefetch_body *b, unsigned j,
                            double span, struct sc_reuse *classes, bool *other, size_t *count)
{
    double touching = 0.0;
    const double x = b->load[j].irregular;
    if (!(x > 0.0))
        return 0.0;
    for (unsigned i = 0; i < b->loads; i++)
        if (b->load[i].array == b->load[j].array)
            touching += b->load[i].irregular;
    const double per_iteration = k->warps * touching * span / (double)b->footprint;
    const double reuse = k->warps * k->loads / per_iteration;
    const double touched = k->iterations * k->waves * k->warps * k->loads / reuse;
    const double again = 1.0 + expm1(-touched) / touched; /* mean over the run */
    add_class(classes, other, count, (struct sc_reuse){ x * again, reuse, 0 }, true);
    return x * (1.0 - again);
}

/* Strides hold between loads that start over alike; a chain goes back along them.
 * Between others they hold for one CTA, and mislead the next. */
static double chain_of(const struct sc_prefetch_body *b, unsigned j, bool *misleads)
{
    enum { MOST = 63 };
    unsigned at = j;
    *misleads = false;
    for (int steps = 0; steps < MOST; steps++) {
        const unsigned before = (at + b->loads - 1) % b->loads;
        if (b->load[at].irregular > 0.3 || b->load[before].irregular > 0.3)
            return steps;
        if (b->load[at].working_set != b->load[before].working_set) {
            *misleads = true;
            return steps;
        }
        at = before;
    }
    return MOST;
}

/* What a line of zero metadata covers is a block of memory: each CTA is at one of each
 * array at a time, or more if its warps are far apart, and moves on by the stride of
 * the iterations. */
static void find_blocks(const struct pf_kernel *k, const struct sc_prefetch_body *b, unsigned j,
                        struct pf_load *l)
{
    const struct sc_prefetch_load *load = &b->load[j];
    const double span = k->scenario->zero_lines * SC_PREFETCH_LINE;
    const double wide = fmax(1.0, k->cta_warps * fabs((double)load->warp_stride) / span);
    double alike = 0.0;
    for (unsigned i = 0; i < b->loads; i++)
        alike += b->load[i].array == load->array &&
                 fabs((double)(int64_t)(b->load[i].base - load->base)) < span;
    double blocks = load->warp_stride != 0 ? wide * k->warps / k->cta_warps : 1.0;
    double fresh = fmin(wide, fabs((double)load->iteration_stride) / span) / (k->cta_warps * alike);
    double most = HUGE_VAL; /* blocks there are */
    if (load->irregular > 0.5)
        most = blocks = fmax(1.0, (double)b->footprint / span);
    else if (load->working_set > 0)
        most = fmax(1.0, (double)load->working_set / span);
    blocks = fmin(blocks, most);
    const double touches = k->warps * k->waves * k->iterations * alike;
    if (load->irregular > 0.5)
        fresh = most / touches * -expm1(-touches / most);
    l->new_block = fmin(fmin(fresh, most / touches), 1.0);
    l->block_gap = blocks * k->loads / alike;
}

/* Share of zero sectors among those that a load really goes to: a small array holds
 * few runs, and is all zero or not at all as those happen to be. */
static double zero_of(const struct sc_prefetch_body *b, unsigned j)
{
    enum { SAMPLES = 96 };
    const double warp = 0.6180339887498949, iteration = 0.7548776662466927,
                 cta = 0.5698402909980532; /* additive recurrences */
    unsigned zeros = 0;
    if (!(b->zero[b->load[j].array] > 0.0))
        return 0.0;
    for (unsigned i = 0; i < SAMPLES; i++) {
        const double u = fmod(i * warp, 1.0), v = fmod(i * iteration, 1.0), w = fmod(i * cta, 1.0);
        const uint64_t number = sc_prefetch_warp(b, (unsigned)(w * b->ctas),
                                                 (unsigned)(u * b->cta_warps));
        const uint64_t address = sc_prefetch_address(b, j, number, (unsigned)(v * b->iterations));
        zeros += sc_prefetch_is_zero(b, address / SC_PREFETCH_SECTOR);
    }
    return (double)zeros / SAMPLES;
}

void sc_pf_kernel(const struct sc_prefetch *s, const struct sc_prefetch_machine *machine,
                  struct pf_kernel *k)
{
    const struct sc_prefetch_body b = sc_prefetch_body(s);
    *k = (struct pf_kernel){ .scenario = s,
                             .machine = *machine,
                             .loads = (double)b.loads,
                             .sectors = (double)b.sectors,
                             .warps = fmin((double)b.warps, (double)b.ctas * (double)b.cta_warps),
                             .cta_warps = (double)b.cta_warps,
                             .iterations = (double)b.iterations,
                             .instructions = (double)b.instructions,
                             .waves = fmax(1.0, s->ctas * s->cta_warps / s->warps) };
    const double span = k->sectors * SC_PREFETCH_SECTOR;
    k->sharers = s->warp_stride_bytes != 0.0
                     ? fmax(1.0, SC_PREFETCH_LINE / fmax(span, fabs(s->warp_stride_bytes)))
                     : 1.0;
    k->sharers = fmin(k->sharers, k->cta_warps);
    k->in_step = fmin(0.5 * k->iterations, b.barrier_period > 0 ? b.barrier_period : HUGE_VAL);
    k->cold_dram = 1.0 / s->sharing_sms;
    for (unsigned j = 0; j < b.loads; j++) {
        struct pf_load *l = &k->load[j];
        l->irregular = b.load[j].irregular;
        l->stored = b.load[j].stored;
        l->zero = zero_of(&b, j);
        bool of_line[SC_PREFETCH_CLASSES];
        const double line = fmax(span, SC_PREFETCH_LINE);
        l->cold = search(k, &b, j, span, l->before, l->other, &l->before_count);
        l->cold += add_irregular(k, &b, j, span, l->before, l->other, &l->before_count);
        (void)search(k, &b, j, line, l->line, of_line, &l->line_count);
        (void)add_irregular(k, &b, j, line, l->line, of_line, &l->line_count);
        l->chain = chain_of(&b, j, &l->misleads);
    }
    for (unsigned j = 0; j < b.loads; j++)
        if (k->load[j].zero > 0.0)
            find_blocks(k, &b, j, &k->load[j]);
}
