/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What access counters cause: promotions and eager evictions. */
#include <math.h>
#include <stdlib.h>

#include "sim/uvm_engine_private.h"

static const uint16_t NO_COUNTER = UINT16_MAX;
static const uint64_t SCORE_BYTES = 2097152; /* that come back make a point */

enum { VICTIMS_MAX = 4096 };

/* ---- counters ---- */

static void take_out(struct uvm_adaptive *a, uint16_t i)
{
    const uint16_t older = a->counters[i].older, newer = a->counters[i].newer;
    *(older != NO_COUNTER ? &a->counters[older].newer : &a->oldest) = newer;
    *(newer != NO_COUNTER ? &a->counters[newer].older : &a->newest) = older;
}

static void append(struct uvm_adaptive *a, uint16_t i)
{
    a->counters[i].older = a->newest;
    a->counters[i].newer = NO_COUNTER;
    *(a->newest != NO_COUNTER ? &a->counters[a->newest].newer : &a->oldest) = i;
    a->newest = i;
}

static void release(struct uvm_adaptive *a, uint16_t i)
{
    take_out(a, i);
    a->counter_of[a->counters[i].block] = NO_COUNTER;
    a->counters[i].newer = a->unused;
    a->unused = i;
}

/* A counter for a block that has none, or NO_COUNTER. */
static uint16_t assign(struct uvm_engine *e, uint32_t block)
{
    struct uvm_adaptive *a = &e->adaptive;
    if (a->unused == NO_COUNTER) {
        if (a->policy->replacement == UVM_COUNTER_HOLD)
            return NO_COUNTER;
        release(a, a->policy->replacement == UVM_COUNTER_LRU
                       ? a->oldest
                       : (uint16_t)sc_sim_rng_below(&e->rng, a->policy->counters));
    }
    const uint16_t i = a->unused;
    a->unused = a->counters[i].newer;
    a->counters[i].block = block;
    a->counters[i].count = 0;
    a->counter_of[block] = i;
    append(a, i);
    return i;
}

/* ---- demand ---- */

static uint32_t demand_now(const struct uvm_adaptive *a, uint32_t block)
{
    const uint64_t ticks = a->tick - a->demand_tick[block];
    return ticks < 32 ? a->demand[block] >> ticks : 0;
}

static void demand_add(struct uvm_adaptive *a, uint32_t block, uint32_t count)
{
    const uint32_t now = demand_now(a, block);
    a->demand[block] = count > UINT32_MAX - now ? UINT32_MAX : now + count;
    a->demand_tick[block] = a->tick;
}

/* Silent for so many intervals since its demand has become nothing. */
static bool is_stale(const struct uvm_adaptive *a, uint32_t block)
{
    const uint32_t demand = a->demand[block];
    const uint64_t until_none = demand == 0 ? 0 : 32 - (uint64_t)__builtin_clz(demand);
    return a->tick - a->demand_tick[block] >= until_none + a->policy->stale_intervals;
}

/* ---- migration score ---- */

static double score_now(const struct uvm_engine *e, uint32_t block)
{
    const struct uvm_adaptive *a = &e->adaptive;
    const double decay_ps = a->policy->score_decay_s * 1e12;
    const double passed_ps = (double)(e->now_ps - a->score_ps[block]);
    if (!(a->score[block] > 0.0))
        return 0.0;
    return ldexp(a->score[block], -(int)fmin(2000.0, floor(passed_ps / decay_ps)));
}

static void note_return(struct uvm_engine *e, uint32_t block, uint64_t bytes)
{
    struct uvm_adaptive *a = &e->adaptive;
    const uint64_t window_ps = sc_sim_ps_from_s(a->policy->return_window_s);
    double score = score_now(e, block);
    if (a->evicted_ps[block] != SC_SIM_NEVER_PS &&
        e->now_ps - a->evicted_ps[block] <= window_ps) {
        score += (double)bytes / (double)SCORE_BYTES;
        a->score[block] = score;
        a->score_ps[block] = e->now_ps;
    }
    const double grace_s = fmin(a->policy->max_grace_s,
                                a->policy->base_grace_s + score * a->policy->score_grace_s);
    a->protected_ps[block] = sc_sim_ps_add(e->now_ps, sc_sim_ps_from_s(grace_s));
}

/* ---- promotion ---- */

/* Whether there is something of the block to bring in, and nothing under way. */
static bool is_promotable(const struct uvm_engine *e, uint32_t block)
{
    const uint64_t *resident = uvm_mask(&e->blocks, UVM_RESIDENT, block);
    const uint64_t *populated = uvm_mask(&e->blocks, UVM_POPULATED, block);
    if (e->busy[block] || e->leaving[block] > 0)
        return false;
    for (uint32_t i = 0; i < e->blocks.words; i++)
        if ((populated[i] & ~resident[i]) != 0)
            return true;
    return false;
}

static bool has_room(const struct uvm_engine *e)
{
    const double most = e->adaptive.policy->high_watermark * e->blocks.chunks;
    return (double)e->blocks.used + 1.0 <= most;
}

/* The blocks around the notified one, shifted where the allocation ends. */
static void begin_span(struct uvm_engine *e, uint32_t block)
{
    struct uvm_adaptive *a = &e->adaptive;
    const uint32_t allocation = e->allocation_of[block];
    const uint32_t first = e->allocation_first[allocation], end = e->allocation_end[allocation];
    const double blocks = floor(a->policy->span_bytes / e->machine->block_bytes);
    const uint32_t span = (uint32_t)fmin((double)(end - first), fmax(1.0, blocks));
    const uint32_t before = span / 2;
    uint32_t from = block - first > before ? block - before : first;
    if (end - from < span)
        from = end - span;
    a->in_span = true;
    a->centre = block;
    a->span_at = from;
    a->span_end = from + span;
}

/* Promotes a block; false: the span has to stop. */
static bool promote(struct uvm_engine *e, uint32_t block)
{
    struct uvm_adaptive *a = &e->adaptive;
    uint64_t wanted[UVM_WORDS_MAX] = { 0 };
    uint32_t copies;
    if (!e->blocks.places[block].has_chunk &&
        !(has_room(e) && uvm_chunk_take(&e->blocks, block, false)))
        return false;
    uvm_mask_fill(wanted, 0, e->blocks.leaves);
    e->busy[block] = true;
    a->moving = block;
    uvm_link_send(&e->to_gpu, UVM_BULK, e->now_ps,
                  (double)uvm_block_bytes(e, block, wanted, &copies) * e->in_ps,
                  UVM_JOB_PROMOTE, block);
    return true;
}

/* Starts the next promotion, if there is one to start: the notified block first,
 * then its span. */
static void go_on(struct uvm_engine *e)
{
    struct uvm_adaptive *a = &e->adaptive;
    while (a->moving == UVM_NO_BLOCK) {
        if (!a->in_span) {
            if (a->queue_count == 0)
                return;
            const uint32_t block = a->queue[a->queue_head];
            a->queue_head = a->queue_head + 1 < e->blocks.count ? a->queue_head + 1 : 0;
            a->queue_count--;
            a->queued[block] = false;
            begin_span(e, block);
            if (is_promotable(e, block) && !promote(e, block)) {
                a->in_span = false;
                e->result.halted++;
            }
            continue;
        }
        const uint32_t block = a->span_at++;
        if (a->span_at >= a->span_end)
            a->in_span = false;
        if (is_promotable(e, block) && !promote(e, block)) {
            a->in_span = false;
            e->result.halted++;
        }
    }
}

static void notify(struct uvm_engine *e, uint32_t block, uint32_t count)
{
    struct uvm_adaptive *a = &e->adaptive;
    e->result.notifications++;
    if (!a->policy->promotes)
        return;
    if (e->blocks.places[block].has_chunk)
        demand_add(a, block, count);
    else
        a->pending[block] = count;
    if (a->queued[block] || a->queue_count == e->blocks.count)
        return;
    /* A queue that could not promote the block anyway is not joined. */
    if (!e->blocks.places[block].has_chunk && !has_room(e)) {
        e->result.halted++;
        return;
    }
    uint32_t at = a->queue_head + a->queue_count++;
    if (at >= e->blocks.count)
        at -= e->blocks.count;
    a->queue[at] = block;
    a->queued[block] = true;
    go_on(e);
}

bool uvm_adaptive_wait(struct uvm_engine *e, uint32_t block, uint32_t slot)
{
    struct uvm_adaptive *a = &e->adaptive;
    if (a->moving != block)
        return false;
    a->waiting[a->waiting_count++] = slot;
    return true;
}

void uvm_adaptive_count(struct uvm_engine *e, uint32_t block, uint64_t touches)
{
    struct uvm_adaptive *a = &e->adaptive;
    uint16_t i = a->counter_of[block];
    if (i == NO_COUNTER && (i = assign(e, block)) == NO_COUNTER)
        return;
    struct uvm_counter *counter = &a->counters[i];
    const uint64_t count = counter->count + touches;
    counter->count = count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
    if (counter->count >= a->policy->threshold) {
        const uint32_t reached = counter->count;
        release(a, i);
        notify(e, block, reached);
    } else if (a->newest != i) {
        take_out(a, i);
        append(a, i);
    }
}

void uvm_adaptive_arrived(struct uvm_engine *e, uint32_t block)
{
    struct uvm_adaptive *a = &e->adaptive;
    a->demand[block] = 0;
    a->demand_tick[block] = a->tick;
    demand_add(a, block, a->pending[block]);
    a->pending[block] = 0;
}

void uvm_adaptive_promoted(struct uvm_engine *e, uint32_t block)
{
    struct uvm_adaptive *a = &e->adaptive;
    uint64_t wanted[UVM_WORDS_MAX] = { 0 };
    const uint64_t *resident = uvm_mask(&e->blocks, UVM_RESIDENT, block);
    const uint64_t *populated = uvm_mask(&e->blocks, UVM_POPULATED, block);
    uint32_t copies;
    for (uint32_t i = 0; i < e->blocks.words; i++)
        wanted[i] = populated[i] & ~resident[i];
    const uint64_t bytes = uvm_block_bytes(e, block, wanted, &copies);
    e->busy[block] = false;
    a->moving = UVM_NO_BLOCK;
    e->result.promotions++;
    uvm_block_arrive(e, block, wanted);
    if (a->policy->protects)
        note_return(e, block, bytes);
    /* Those that waited go on before another one can be on its way. */
    const uint32_t waiting = a->waiting_count;
    a->waiting_count = 0;
    a->moving = block;
    for (uint32_t i = 0; i < waiting; i++)
        uvm_slot_advance(e, a->waiting[i]);
    a->moving = UVM_NO_BLOCK;
    go_on(e);
}

/* ---- reclamation ---- */

void uvm_adaptive_reclaimed(struct uvm_engine *e, uint32_t block)
{
    e->adaptive.leaving--;
    uvm_block_gone(e, block);
    go_on(e);
}

/* Whether block a goes before block b, both unprotected: by score, then by arrival,
 * in which order they are looked at, then by demand. */
static bool goes_before(const struct uvm_engine *e, uint32_t a, uint32_t b)
{
    return score_now(e, a) < score_now(e, b);
}

static uint32_t hottest_demand(const struct uvm_engine *e)
{
    uint32_t hottest = 0;
    for (uint32_t i = e->blocks.oldest; i != UVM_NO_BLOCK; i = e->blocks.places[i].newer) {
        const uint32_t demand = demand_now(&e->adaptive, i);
        hottest = demand > hottest ? demand : hottest;
    }
    return hottest;
}

static bool is_cold(const struct uvm_engine *e, uint32_t block, uint32_t hottest)
{
    const struct uvm_adaptive *a = &e->adaptive;
    return is_stale(a, block) ||
           (hottest > 0 && a->policy->heat_ratio * demand_now(a, block) <= (double)hottest);
}

/* At most `most` unprotected blocks into victims, the first to go first; forced: cold
 * or not. */
static uint32_t choose(struct uvm_engine *e, uint32_t most, bool forced)
{
    struct uvm_adaptive *a = &e->adaptive;
    const uint32_t hottest = forced ? 0 : hottest_demand(e);
    uint32_t count = 0;
    for (uint32_t i = e->blocks.oldest; i != UVM_NO_BLOCK; i = e->blocks.places[i].newer) {
        e->work++;
        if (e->busy[i] || e->placement[i] != UVM_COUNTED ||
            (a->policy->protects && a->protected_ps[i] > e->now_ps) ||
            (!forced && !is_cold(e, i, hottest)))
            continue;
        if (count == most && !goes_before(e, i, a->victims[count - 1])) {
            if (!(score_now(e, a->victims[count - 1]) > 0.0))
                break; /* no score is lower, and nobody older follows */
            continue;
        }
        uint32_t at = count < most ? count++ : count - 1;
        for (; at > 0 && goes_before(e, i, a->victims[at - 1]); at--)
            a->victims[at] = a->victims[at - 1];
        a->victims[at] = i;
    }
    return count;
}

/* All are protected: the first whose protection ends, or UVM_NO_BLOCK. */
static uint32_t first_to_expire(const struct uvm_engine *e)
{
    uint32_t first = UVM_NO_BLOCK;
    for (uint32_t i = e->blocks.oldest; i != UVM_NO_BLOCK; i = e->blocks.places[i].newer)
        if (!e->busy[i] && e->placement[i] == UVM_COUNTED &&
            (first == UVM_NO_BLOCK ||
             e->adaptive.protected_ps[i] < e->adaptive.protected_ps[first]))
            first = i;
    return first;
}

static void reclaim(struct uvm_engine *e, uint32_t block)
{
    struct uvm_adaptive *a = &e->adaptive;
    e->result.reclaimed++;
    a->evicted_ps[block] = e->now_ps;
    a->leaving++;
    if (!uvm_block_evict(e, block, UVM_JOB_RECLAIM))
        a->leaving--;
}

void uvm_adaptive_tick(struct uvm_engine *e)
{
    struct uvm_adaptive *a = &e->adaptive;
    const double high = a->policy->high_watermark * e->blocks.chunks;
    const double low = a->policy->low_watermark * e->blocks.chunks;
    const double used = (double)e->blocks.used - (double)a->leaving;
    a->tick++;
    a->tick_ps = sc_sim_ps_add(a->tick_ps, a->interval_ps);
    if (used + 1.0 > high)
        a->reclaiming = true;
    else if (used <= low)
        a->reclaiming = false;
    if (used <= low)
        return;
    uint32_t most = a->policy->eviction_batch < VICTIMS_MAX ? a->policy->eviction_batch
                                                            : (uint32_t)VICTIMS_MAX;
    if (used - low < most)
        most = (uint32_t)ceil(used - low);
    uint32_t count = choose(e, most, a->reclaiming);
    if (count == 0 && a->reclaiming && (a->victims[0] = first_to_expire(e)) != UVM_NO_BLOCK)
        count = 1;
    for (uint32_t i = 0; i < count; i++)
        reclaim(e, a->victims[i]);
    go_on(e);
}

/* ---- beginning and end ---- */

enum sc_status uvm_adaptive_init(struct uvm_engine *e)
{
    struct uvm_adaptive *a = &e->adaptive;
    const size_t blocks = e->blocks.count;
    a->policy = e->counts ? e->in->counters : NULL;
    a->moving = UVM_NO_BLOCK;
    a->tick_ps = SC_SIM_NEVER_PS;
    if (a->policy == NULL)
        return SC_OK;
    a->counters = calloc(a->policy->counters, sizeof *a->counters);
    a->counter_of = malloc(blocks * sizeof *a->counter_of);
    a->queued = calloc(blocks, sizeof *a->queued);
    a->pending = calloc(blocks, sizeof *a->pending);
    a->queue = calloc(blocks, sizeof *a->queue);
    a->demand = calloc(blocks, sizeof *a->demand);
    a->demand_tick = calloc(blocks, sizeof *a->demand_tick);
    a->score = calloc(blocks, sizeof *a->score);
    a->score_ps = calloc(blocks, sizeof *a->score_ps);
    a->evicted_ps = malloc(blocks * sizeof *a->evicted_ps);
    a->protected_ps = calloc(blocks, sizeof *a->protected_ps);
    a->victims = calloc(VICTIMS_MAX, sizeof *a->victims);
    a->waiting = calloc(e->slot_count, sizeof *a->waiting);
    if (a->counters == NULL || a->counter_of == NULL || a->queued == NULL || a->pending == NULL ||
        a->queue == NULL || a->demand == NULL || a->demand_tick == NULL || a->score == NULL ||
        a->score_ps == NULL || a->evicted_ps == NULL || a->protected_ps == NULL ||
        a->victims == NULL || a->waiting == NULL)
        return SC_ENOSPACE;
    a->oldest = a->newest = a->unused = NO_COUNTER;
    for (uint32_t i = a->policy->counters; i-- > 0;) {
        a->counters[i].newer = a->unused;
        a->unused = (uint16_t)i;
    }
    for (size_t i = 0; i < blocks; i++) {
        a->counter_of[i] = NO_COUNTER;
        a->evicted_ps[i] = SC_SIM_NEVER_PS;
    }
    a->interval_ps = sc_sim_ps_from_s(a->policy->interval_s);
    if (a->policy->evicts)
        a->tick_ps = a->interval_ps;
    return SC_OK;
}

void uvm_adaptive_fini(struct uvm_engine *e)
{
    struct uvm_adaptive *a = &e->adaptive;
    free(a->counters);
    free(a->counter_of);
    free(a->queued);
    free(a->pending);
    free(a->queue);
    free(a->demand);
    free(a->demand_tick);
    free(a->score);
    free(a->score_ps);
    free(a->evicted_ps);
    free(a->protected_ps);
    free(a->victims);
    free(a->waiting);
    *a = (struct uvm_adaptive){ 0 };
}
