/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The back end: whether a candidate is issued, when, and where its data goes. */
#include <math.h>
#include <stdlib.h>

#include "sim/prefetch_state.h"

enum { DEFAULT_FIXED_DISTANCE = 2 };

static enum sc_status init_distances(struct engine *e)
{
    for (int p = 0; p < SC_PREFETCH_PATTERNS; p++) {
        e->back.most[p] = (uint32_t)sc_prefetch_reach(e->s, (enum sc_prefetch_pattern)p);
        const uint32_t start = (uint32_t)e->s->start_distance;
        e->back.global[p].best = start < e->back.most[p] ? start : e->back.most[p];
    }
    const bool fixed = e->m.front == SC_PREFETCH_STRIDE || e->m.front == SC_PREFETCH_KNOWN;
    if (fixed && isnan(e->s->distance) &&
        e->back.most[SC_PREFETCH_ITERATION] > DEFAULT_FIXED_DISTANCE)
        e->back.most[SC_PREFETCH_ITERATION] = DEFAULT_FIXED_DISTANCE;
    for (unsigned i = 0; i < PATTERNS; i++)
        e->back.local[i].best = e->back.global[i % SC_PREFETCH_PATTERNS].best;
    return SC_OK;
}

enum sc_status prefetch_back_init(struct engine *e)
{
    struct back *b = &e->back;
    b->queue_size = (uint32_t)e->s->queue_entries;
    b->register_count = (uint32_t)e->machine.register_entries;
    b->queue = calloc(b->queue_size, sizeof *b->queue);
    b->registers = calloc(b->register_count + 1, sizeof *b->registers);
    if (b->queue == NULL || b->registers == NULL)
        return SC_ENOSPACE;
    for (size_t i = 0; i < QUEUE_BUCKETS; i++)
        b->queue_bucket[i] = PREFETCH_NONE;
    for (size_t i = 0; i < REGISTER_BUCKETS; i++)
        b->register_bucket[i] = PREFETCH_NONE;
    return init_distances(e);
}

void prefetch_back_fini(struct engine *e)
{
    free(e->back.queue);
    free(e->back.registers);
}

/* ---- Timeliness: a distance for each pattern, and one for its kind ---- */

static bool tunes(const struct engine *e)
{
    return e->m.tuner || e->m.own_tuner;
}

unsigned prefetch_back_best(const struct engine *e, unsigned pattern)
{
    const struct tuned *local = &e->back.local[pattern];
    return (double)local->samples >= e->s->warmup_samples
               ? local->best
               : e->back.global[pattern % SC_PREFETCH_PATTERNS].best;
}

/* Kept if most were on time, else one towards the larger error. */
static void tune(struct tuned *t, enum outcome outcome, double window, uint32_t most)
{
    t->window[outcome]++;
    t->samples++;
    const uint32_t seen = t->window[ON_TIME] + t->window[EARLY] + t->window[LATE];
    if (seen < window)
        return;
    if (2 * t->window[ON_TIME] <= seen) {
        if (t->window[LATE] >= t->window[EARLY])
            t->best += t->best < most;
        else
            t->best -= t->best > 1;
    }
    t->window[ON_TIME] = t->window[EARLY] = t->window[LATE] = 0;
}

void prefetch_back_feedback(struct engine *e, unsigned pattern, enum outcome outcome)
{
    if (!tunes(e))
        return;
    const unsigned kind = pattern % SC_PREFETCH_PATTERNS;
    tune(&e->back.local[pattern], outcome, e->s->window_samples, e->back.most[kind]);
    tune(&e->back.global[kind], outcome, e->s->window_samples, e->back.most[kind]);
}

double prefetch_back_mean_best(const struct engine *e)
{
    double sum = 0, weight = 0;
    for (unsigned i = 0; i < PATTERNS; i++) {
        sum += (double)e->back.local[i].samples * prefetch_back_best(e, i);
        weight += (double)e->back.local[i].samples;
    }
    return weight > 0 ? sum / weight : 0;
}

/* ---- Utility: patterns that bring zeros ---- */

void prefetch_back_zero_seen(struct engine *e, unsigned pattern, bool zero)
{
    uint8_t *count = &e->back.zero_count[pattern];
    if (!zero) {
        if (*count > 0)
            --*count;
    } else if (*count < e->s->zero_limit && ++*count >= e->s->zero_limit) {
        e->back.zero_reset[pattern] = e->now + (uint64_t)e->s->zero_reset_cycles;
    }
}

static bool suppressed(struct engine *e, unsigned pattern)
{
    if (e->back.zero_count[pattern] < e->s->zero_limit)
        return false;
    if (e->now < e->back.zero_reset[pattern])
        return true;
    e->back.zero_count[pattern] = 0;
    return false;
}

/* True if all sectors of the block are zero: what the candidate would bring. */
static bool is_zero(const struct engine *e, uint64_t line, unsigned mask)
{
    for (unsigned i = 0; i < SC_PREFETCH_SECTORS; i++)
        if ((mask >> i & 1) != 0 && !prefetch_kernel_is_zero(&e->kernel, line * SC_PREFETCH_SECTORS + i))
            return false;
    return true;
}

/* Whether the filter takes the candidate; counts how right that is. */
static bool filtered(struct engine *e, uint64_t line, unsigned mask, unsigned pattern)
{
    const bool zero = is_zero(e, line, mask);
    const bool stops = e->m.oracle_zero ? zero : e->m.zero_filter && suppressed(e, pattern);
    e->r->zero_candidates += zero;
    e->r->zero_issued += zero && !stops;
    e->r->other_candidates += !zero;
    e->r->other_suppressed += !zero && stops;
    return stops;
}

/* The counters learn at once from what the SM knows already. */
static void learn_at_once(struct engine *e, uint64_t line, unsigned mask, unsigned present,
                          unsigned pattern)
{
    if (!e->m.zero_filter || e->s->zero_learning != SC_PREFETCH_LEARN_BOTH)
        return;
    if (e->m.zero_cache && prefetch_zeros_known(&e->l1_zeros, line, mask) == mask) {
        prefetch_back_zero_seen(e, pattern, true);
    } else if (present == mask) {
        const struct prefetch_line *entry = prefetch_cache_find(&e->l1, line, false);
        if (entry != NULL && (entry->valid & mask) == mask)
            prefetch_back_zero_seen(e, pattern, is_zero(e, line, mask));
    }
}

/* ---- The queue ---- */

static uint16_t *queue_bucket(struct engine *e, uint64_t line)
{
    return &e->back.queue_bucket[(line * 0x9e3779b97f4a7c15U) >> 55];
}

_Static_assert(QUEUE_BUCKETS == 1 << 9, "the shift of queue_bucket");

static unsigned in_queue(struct engine *e, uint64_t line)
{
    unsigned found = 0;
    for (uint16_t i = *queue_bucket(e, line); i != PREFETCH_NONE; i = e->back.queue[i].next)
        if (e->back.queue[i].line == line)
            found |= e->back.queue[i].mask;
    return found;
}

static void enqueue(struct engine *e, uint64_t line, unsigned mask, unsigned pattern,
                    unsigned distance)
{
    struct back *b = &e->back;
    const uint16_t index = (uint16_t)((b->queue_head + b->queue_count++) % b->queue_size);
    uint16_t *bucket = queue_bucket(e, line);
    b->queue[index] =
        (struct queued){ line, (uint8_t)mask, origin_of(pattern, distance), *bucket };
    *bucket = index;
}

static struct queued dequeue(struct engine *e)
{
    struct back *b = &e->back;
    const uint16_t index = (uint16_t)b->queue_head;
    uint16_t *link = queue_bucket(e, b->queue[index].line);
    while (*link != index)
        link = &b->queue[*link].next;
    *link = b->queue[index].next;
    b->queue_head = (b->queue_head + 1) % b->queue_size;
    b->queue_count--;
    return b->queue[index];
}

/* ---- Candidates ---- */

static bool paused(const struct engine *e)
{
    return e->m.throttle && (e->unused_sectors > e->unused_limit ||
                             e->back.recent_latency > e->s->throttle_cycles);
}

void prefetch_back_candidate(struct engine *e, uint64_t line, unsigned mask, unsigned pattern,
                             unsigned distance)
{
    const unsigned present = prefetch_l1_present(e, line, mask);
    learn_at_once(e, line, mask, present, pattern);
    const unsigned wanted = mask & ~present & ~in_queue(e, line);
    if (wanted == 0)
        return;
    e->r->candidates++;
    if (filtered(e, line, mask, pattern))
        return;
    if (e->m.oracle_time) {
        for (unsigned i = 0; i < SC_PREFETCH_SECTORS; i++)
            if ((wanted >> i & 1) != 0 &&
                prefetch_map_set(&e->predicted, line * SC_PREFETCH_SECTORS + i, 0,
                                 origin_of(pattern, distance)) != SC_OK)
                e->failed = true;
        return;
    }
    if (paused(e))
        e->r->throttled++;
    else if (e->back.queue_count == e->back.queue_size)
        e->r->refused++;
    else
        enqueue(e, line, wanted, pattern, distance);
}

/* ---- Placement ---- */

static uint16_t *register_bucket(struct engine *e, uint64_t line)
{
    return &e->back.register_bucket[(line * 0x9e3779b97f4a7c15U) >> 56];
}

_Static_assert(REGISTER_BUCKETS == 1 << 8, "the shift of register_bucket");

struct register_entry *prefetch_registers_find(struct engine *e, uint64_t line)
{
    if (e->back.register_count == 0)
        return NULL;
    for (uint16_t i = *register_bucket(e, line); i != PREFETCH_NONE; i = e->back.registers[i].next)
        if (e->back.registers[i].line == line)
            return &e->back.registers[i];
    return NULL;
}

static bool replaceable(const struct engine *e, const struct register_entry *r)
{
    if (!r->used || e->s->replacement == SC_PREFETCH_REPLACE_ANY)
        return true;
    bool waiting = false, ready = false;
    for (unsigned i = 0; i < SC_PREFETCH_SECTORS; i++) {
        waiting = waiting || r->state[i] == WAITING;
        ready = ready || r->state[i] == READY;
    }
    if (!waiting && !ready)
        return true;
    return e->s->replacement == SC_PREFETCH_REPLACE_AGED && !waiting &&
           (double)(e->now - r->since) > e->s->register_hold_cycles;
}

static void vacate(struct engine *e, uint16_t index)
{
    struct register_entry *r = &e->back.registers[index];
    if (!r->used)
        return;
    for (unsigned i = 0; i < SC_PREFETCH_SECTORS; i++)
        if (r->state[i] == READY)
            prefetch_evicted(e, r->line * SC_PREFETCH_SECTORS + i, r->origin[i]);
    uint16_t *link = register_bucket(e, r->line);
    while (*link != index)
        link = &e->back.registers[*link].next;
    *link = r->next;
}

/* Consumed entries come before free ones would, were there any left; so the
 * round goes over both alike. */
static struct register_entry *allocate(struct engine *e, uint64_t line)
{
    struct back *b = &e->back;
    for (uint32_t i = 0; i < b->register_count; i++) {
        const uint16_t index = (uint16_t)((b->register_next + i) % b->register_count);
        if (!replaceable(e, &b->registers[index]))
            continue;
        vacate(e, index);
        b->register_next = (index + 1U) % b->register_count;
        uint16_t *bucket = register_bucket(e, line);
        b->registers[index] =
            (struct register_entry){ .line = line, .since = e->now, .next = *bucket, .used = true };
        *bucket = index;
        return &b->registers[index];
    }
    return NULL;
}

/* Keeps registers for the sectors; returns those that got one. */
static unsigned reserve(struct engine *e, const struct queued *q, unsigned mask)
{
    if (e->back.register_count == 0)
        return 0;
    struct register_entry *r = prefetch_registers_find(e, q->line);
    if (r == NULL)
        r = allocate(e, q->line);
    if (r == NULL) {
        e->r->fallbacks++;
        return 0;
    }
    for (unsigned i = 0; i < SC_PREFETCH_SECTORS; i++)
        if ((mask >> i & 1) != 0) {
            r->state[i] = WAITING;
            r->origin[i] = q->origin;
        }
    e->r->to_registers++;
    e->r->register_sectors += (unsigned)__builtin_popcount(mask);
    return mask;
}

bool prefetch_back_issue(struct engine *e)
{
    if (e->back.queue_count == 0 || e->mshr_used >= e->prefetch_mshrs)
        return false;
    const struct queued q = dequeue(e);
    const unsigned mask = q.mask & ~prefetch_l1_present(e, q.line, q.mask);
    if (mask == 0)
        return true;
    const unsigned registers = reserve(e, &q, mask);
    e->port_free = e->now + 1;
    struct mshr *m = prefetch_l1_request(e, q.line, mask);
    m->prefetch = (uint8_t)mask;
    m->registers = (uint8_t)registers;
    m->origin = q.origin;
    m->learns = e->m.zero_filter;
    e->r->issued += (unsigned)__builtin_popcount(mask);
    return true;
}
