/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Front ends: what a load says of loads to come. */
#include "sim/prefetch_state.h"

enum { TRUSTED = 3, CONFIDENCE_MAX = 7, RIGHT = 1, WRONG = 2 };

static void learn(struct link *link, int64_t stride)
{
    if (link->seen && link->stride == stride) {
        if (link->confidence + RIGHT <= CONFIDENCE_MAX)
            link->confidence += RIGHT;
    } else if (link->seen && link->confidence > WRONG) {
        link->confidence -= WRONG;
    } else {
        *link = (struct link){ .stride = stride, .confidence = 0, .seen = true };
    }
}

static int64_t difference(uint64_t a, uint64_t b)
{
    return (int64_t)(a - b);
}

/* Addresses wrap around, and so does what is between them. */
static uint64_t ahead(const struct link *link, unsigned distance)
{
    return (uint64_t)link->stride * distance;
}

/* Between each two of `warps`, between which there is `all`; false: not the same. */
static bool share_out(int64_t all, int64_t warps, int64_t *each)
{
    if (warps == -1) { /* the one divisor that overflows */
        *each = (int64_t)(0 - (uint64_t)all);
        return true;
    }
    *each = all / warps;
    return all % warps == 0;
}

static void learn_load(struct engine *e, unsigned warp, unsigned load, uint64_t address)
{
    struct front *f = &e->front;
    if (f->head[warp].seen) {
        f->after[f->head[warp].load] = (uint16_t)load;
        learn(&f->link[SC_PREFETCH_CHAIN][load], difference(address, f->head[warp].address));
    }
    f->head[warp].address = address;
    f->head[warp].load = (uint16_t)load;
    f->head[warp].seen = true;
    if (f->last[load][warp] != 0)
        learn(&f->link[SC_PREFETCH_ITERATION][load], difference(address + 1, f->last[load][warp]));
    f->last[load][warp] = address + 1;
    if (f->latest[load].seen && f->latest[load].warp != warp) {
        const int64_t warps = (int64_t)warp - (int64_t)f->latest[load].warp;
        int64_t each;
        if (share_out(difference(address, f->latest[load].address), warps, &each))
            learn(&f->link[SC_PREFETCH_WARP][load], each);
        else if (f->link[SC_PREFETCH_WARP][load].confidence > 0)
            f->link[SC_PREFETCH_WARP][load].confidence--;
    }
    f->latest[load].address = address;
    f->latest[load].warp = (uint16_t)warp;
    f->latest[load].seen = true;
}

/* Of the distances 1 .. most, those that the score gate lets pass: the nearest
 * to the best first.  T - |d - best| >= threshold. */
struct gate {
    unsigned most, best;
    unsigned spread; /* largest |d - best| */
    bool gated, closed;
};

static struct gate gate_of(const struct engine *e, unsigned pattern, unsigned most,
                           unsigned confidence)
{
    struct gate g = { .most = most };
    if (!e->m.tuner)
        return g;
    const double slack = confidence - e->s->score_threshold;
    g.gated = true;
    g.closed = slack < 0;
    g.spread = slack < 0 ? 0 : (unsigned)slack;
    g.best = prefetch_back_best(e, pattern);
    return g;
}

static bool passes(const struct gate *g, unsigned distance)
{
    if (!g->gated)
        return true;
    const unsigned off = distance > g->best ? distance - g->best : g->best - distance;
    return !g->closed && off <= g->spread;
}

/* What the instruction of a trace touches, `shift` sectors further on; sectors of one line that
 * come together are one candidate. */
static void propose_shifted(struct engine *e, const struct sc_warp_access *a, uint64_t shift,
                            unsigned pattern, unsigned distance)
{
    const uint64_t lines = UINT64_MAX / SC_PREFETCH_LINE;
    uint64_t line = 0;
    unsigned mask = 0;
    for (unsigned i = 0; i < a->parts; i++) {
        const uint64_t part = e->kernel.trace->parts[a->part + i];
        const uint64_t sector = line_of_part(part) * SC_PREFETCH_SECTORS + shift;
        const unsigned wide = mask_of_part(part) << (sector % SC_PREFETCH_SECTORS);
        for (unsigned half = 0; half < 2; half++) {
            const uint64_t next = (line_of(sector) + half) & lines;
            const unsigned there = half == 0 ? wide & 15U : wide >> SC_PREFETCH_SECTORS;
            if (there != 0 && mask != 0 && next != line) {
                prefetch_back_candidate(e, line, mask, pattern, distance);
                mask = 0;
            }
            line = there != 0 ? next : line;
            mask |= there;
        }
    }
    if (mask != 0)
        prefetch_back_candidate(e, line, mask, pattern, distance);
}

/* As many sectors as the load of the pattern takes; of a trace, the shape that it had last. */
static void propose(struct engine *e, uint64_t address, unsigned pattern, unsigned distance)
{
    const uint64_t sector = address / SC_PREFETCH_SECTOR;
    if (e->kernel.trace != NULL) {
        const struct sc_warp_access *a = e->front.access[pattern / SC_PREFETCH_PATTERNS];
        propose_shifted(e, a, sector - a->address / SC_PREFETCH_SECTOR, pattern, distance);
        return;
    }
    const unsigned mask = ((1U << e->kernel.body.sectors) - 1) << (sector % SC_PREFETCH_SECTORS);
    prefetch_back_candidate(e, line_of(sector), mask & 15U, pattern, distance);
    if (mask > 15U)
        prefetch_back_candidate(e, line_of(sector) + 1, mask >> SC_PREFETCH_SECTORS, pattern,
                                distance);
}

/* Distances in the order of the score. */
static void propose_line(struct engine *e, uint64_t address, unsigned load,
                         enum sc_prefetch_pattern kind, unsigned most)
{
    const struct link *link = &e->front.link[kind][load];
    if (link->confidence < TRUSTED || link->stride == 0)
        return;
    const unsigned pattern = pattern_id(load, kind);
    const struct gate gate = gate_of(e, pattern, most, link->confidence);
    if (!gate.gated) {
        for (unsigned d = 1; d <= most; d++)
            propose(e, address + ahead(link, d), pattern, d);
        return;
    }
    for (unsigned off = 0; off <= gate.spread && !gate.closed; off++)
        for (int side = 0; side < (off == 0 ? 1 : 2); side++) {
            const int64_t d = (int64_t)gate.best + (side == 0 ? (int64_t)off : -(int64_t)off);
            if (d >= 1 && d <= (int64_t)most)
                propose(e, address + ahead(link, (unsigned)d), pattern, (unsigned)d);
        }
}

/* Along the loads that follow; a chain is as good as its weakest link. */
static void propose_chain(struct engine *e, uint64_t address, unsigned load, unsigned most)
{
    const struct front *f = &e->front;
    unsigned weakest = CONFIDENCE_MAX;
    for (unsigned d = 1; d <= most; d++) {
        const unsigned next = f->after[load];
        if (next == PREFETCH_NONE)
            return;
        const struct link *link = &f->link[SC_PREFETCH_CHAIN][next];
        if (link->confidence < weakest)
            weakest = link->confidence;
        if (weakest < TRUSTED)
            return;
        address += (uint64_t)link->stride;
        load = next;
        const unsigned pattern = pattern_id(load, SC_PREFETCH_CHAIN);
        const struct gate gate = gate_of(e, pattern, most, weakest);
        if (passes(&gate, d))
            propose(e, address, pattern, d);
    }
}

static void snake(struct engine *e, unsigned warp, unsigned load, uint64_t address)
{
    const unsigned *most = e->back.most;
    const unsigned behind = e->kernel.body.warps - 1 - warp;
    propose_chain(e, address, load, most[SC_PREFETCH_CHAIN]);
    propose_line(e, address, load, SC_PREFETCH_ITERATION, most[SC_PREFETCH_ITERATION]);
    propose_line(e, address, load, SC_PREFETCH_WARP,
                 most[SC_PREFETCH_WARP] < behind ? most[SC_PREFETCH_WARP] : behind);
}

/* A fixed offset between warps, or an address that all warps share and that
 * moves from iteration to iteration; one candidate at its distance. */
static void apogee(struct engine *e, unsigned warp, unsigned load, uint64_t address)
{
    const struct link *between = &e->front.link[SC_PREFETCH_WARP][load];
    const struct link *along = &e->front.link[SC_PREFETCH_ITERATION][load];
    if (between->confidence < TRUSTED)
        return;
    const bool invariant = between->stride == 0;
    const enum sc_prefetch_pattern kind = invariant ? SC_PREFETCH_ITERATION : SC_PREFETCH_WARP;
    const struct link *link = invariant ? along : between;
    if (link->confidence < TRUSTED || link->stride == 0)
        return;
    const unsigned behind = e->kernel.body.warps - 1 - warp;
    const unsigned limit = !invariant && behind < e->back.most[kind] ? behind : e->back.most[kind];
    if (e->m.tuner) {
        propose_line(e, address, load, kind, limit);
        return;
    }
    const unsigned distance = prefetch_back_best(e, pattern_id(load, kind));
    if (distance >= 1 && distance <= limit)
        propose(e, address + ahead(link, distance), pattern_id(load, kind),
                distance);
}

static unsigned fixed_distance(const struct engine *e)
{
    return e->back.most[SC_PREFETCH_ITERATION];
}

static void stride(struct engine *e, unsigned load, uint64_t address)
{
    const struct link *link = &e->front.link[SC_PREFETCH_ITERATION][load];
    const unsigned distance = fixed_distance(e);
    if (link->confidence >= TRUSTED && link->stride != 0 && distance > 0)
        propose(e, address + ahead(link, distance),
                pattern_id(load, SC_PREFETCH_ITERATION), distance);
}

/* Where the warp executes the same load of the trace for the distance-th time from now. */
static void known_of_trace(struct engine *e, unsigned load, unsigned distance)
{
    const struct sc_warp_access *a = e->front.access[load];
    for (unsigned d = 0; d < distance; d++) {
        if (a->again == SC_WARP_TRACE_NONE)
            return;
        a = &e->kernel.trace->accesses[a->again];
    }
    if (distance > 0)
        propose_shifted(e, a, 0, pattern_id(load, SC_PREFETCH_ITERATION), distance);
}

static void known(struct engine *e, unsigned warp, unsigned load)
{
    const unsigned distance = fixed_distance(e);
    if (e->kernel.trace != NULL) {
        known_of_trace(e, load, distance);
        return;
    }
    const unsigned iteration = e->warps[warp].iteration + distance;
    if (distance > 0 && iteration < e->kernel.body.iterations)
        propose(e, sc_prefetch_address(&e->kernel.body, load, e->warps[warp].number, iteration),
                pattern_id(load, SC_PREFETCH_ITERATION), distance);
}

void prefetch_front_load(struct engine *e, unsigned warp, unsigned load, uint64_t address)
{
    if (e->m.front == SC_PREFETCH_NONE)
        return;
    learn_load(e, warp, load, address);
    switch (e->m.front) {
    case SC_PREFETCH_SNAKE:
        snake(e, warp, load, address);
        return;
    case SC_PREFETCH_APOGEE:
        apogee(e, warp, load, address);
        return;
    case SC_PREFETCH_STRIDE:
        stride(e, load, address);
        return;
    case SC_PREFETCH_KNOWN:
        known(e, warp, load);
        return;
    case SC_PREFETCH_NONE:
        return;
    }
}
