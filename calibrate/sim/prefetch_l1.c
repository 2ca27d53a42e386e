/* SPDX-License-Identifier: GPL-3.0-or-later */
/* L1, the lines it waits for, and what becomes of each prefetched sector. */
#include <stdlib.h>

#include "sim/prefetch_state.h"

enum sc_status prefetch_l1_init(struct engine *e)
{
    e->mshr_size = (uint32_t)e->s->mshrs;
    e->prefetch_mshrs = (uint32_t)e->s->prefetch_mshrs;
    e->mshrs = calloc(e->mshr_size, sizeof *e->mshrs);
    e->part_next = malloc((size_t)e->kernel.body.warps * LOADS_IN_FLIGHT * sizeof *e->part_next
                          << e->part_bits);
    if (e->mshrs == NULL || e->part_next == NULL)
        return SC_ENOSPACE;
    for (uint32_t i = 0; i < e->mshr_size; i++)
        e->mshrs[i].due_next = (uint16_t)(i + 1 < e->mshr_size ? i + 1 : PREFETCH_NONE);
    for (size_t i = 0; i < MSHR_BUCKETS; i++)
        e->mshr_bucket[i] = PREFETCH_NONE;
    for (size_t i = 0; i < FILL_WHEEL; i++)
        e->fills[i] = PREFETCH_NONE;
    enum sc_status status = prefetch_cache_init(&e->l1, e->machine.l1_lines, e->s->l1_ways);
    e->unused_limit = (uint64_t)(e->s->throttle_share * e->l1.sets * e->l1.ways * SC_PREFETCH_SECTORS);
    if (status == SC_OK)
        status = prefetch_zeros_init(&e->l1_zeros, e->machine.l1_zero_lines, e->s->zero_lines);
    if (status == SC_OK)
        status = prefetch_map_init(&e->evicted);
    if (status == SC_OK)
        status = prefetch_map_init(&e->predicted);
    if (status == SC_OK)
        status = prefetch_map_init(&e->aside);
    return status;
}

void prefetch_l1_fini(struct engine *e)
{
    free(e->mshrs);
    free(e->part_next);
    prefetch_cache_fini(&e->l1);
    prefetch_zeros_fini(&e->l1_zeros);
    prefetch_map_fini(&e->evicted);
    prefetch_map_fini(&e->predicted);
    prefetch_map_fini(&e->aside);
}

/* ---- The fate of prefetched sectors ---- */

static unsigned sectors(unsigned mask)
{
    return (unsigned)__builtin_popcount(mask);
}

static void note_set(struct engine *e, struct prefetch_map *map, uint64_t sector, uint64_t when,
                     prefetch_origin origin)
{
    if (prefetch_map_set(map, sector, when, origin) != SC_OK)
        e->failed = true;
}

void prefetch_evicted(struct engine *e, uint64_t sector, prefetch_origin origin)
{
    if (prefetch_map_find(&e->evicted, sector) != NULL)
        e->abandoned++; /* for the second time: only one can be the early one */
    note_set(e, &e->evicted, sector, ++e->back.evicted_number, origin);
}

/* A prefetch has served the sector: an earlier one of the same was useless. */
static void forget_evicted(struct engine *e, uint64_t sector)
{
    e->abandoned += prefetch_map_remove(&e->evicted, sector);
}

static void on_time(struct engine *e, uint64_t sector, prefetch_origin origin)
{
    e->r->on_time++;
    e->r->on_time_distance += origin & 63;
    forget_evicted(e, sector);
    prefetch_back_feedback(e, pattern_of(origin), ON_TIME);
}

static void late(struct engine *e, uint64_t sector, prefetch_origin origin)
{
    e->r->late++;
    forget_evicted(e, sector);
    prefetch_back_feedback(e, pattern_of(origin), LATE);
}

/* A demand miss: was it prefetched, and lost? */
static void missed(struct engine *e, uint64_t sector)
{
    e->r->misses++;
    const struct prefetch_map_entry *entry = prefetch_map_find(&e->evicted, sector);
    if (entry == NULL)
        return;
    e->r->early++;
    /* The tuner knows of it only while its buffer does. */
    if ((double)(e->back.evicted_number - entry->when) < e->s->eviction_entries)
        prefetch_back_feedback(e, pattern_of(entry->origin), EARLY);
    (void)prefetch_map_remove(&e->evicted, sector);
}

/* ---- Lines of L1 ---- */

static void evict(struct engine *e, const struct prefetch_line *victim, bool by_prefetch)
{
    if (victim->tag == 0 || victim->valid == 0)
        return;
    e->r->evictions += sectors(victim->valid);
    if (by_prefetch)
        e->r->demand_evictions += sectors(victim->valid & victim->demand);
    e->unused_sectors -= sectors(victim->waiting);
    for (unsigned i = 0; i < SC_PREFETCH_SECTORS; i++)
        if ((victim->waiting >> i & 1) != 0)
            prefetch_evicted(e, (victim->tag - 1) * SC_PREFETCH_SECTORS + i, victim->origin[i]);
}

void prefetch_l1_insert(struct engine *e, uint64_t line, unsigned mask, bool prefetch,
                        prefetch_origin origin)
{
    if (mask == 0)
        return;
    struct prefetch_line *entry = prefetch_cache_find(&e->l1, line, true);
    if (entry == NULL) {
        entry = prefetch_cache_victim(&e->l1, line);
        evict(e, entry, prefetch);
        prefetch_cache_replace(&e->l1, entry, line);
    }
    if (prefetch) {
        e->abandoned += sectors(mask & entry->valid);
        const unsigned fresh = mask & ~(unsigned)entry->valid;
        for (unsigned i = 0; i < SC_PREFETCH_SECTORS; i++)
            if ((fresh >> i & 1) != 0)
                entry->origin[i] = origin;
        entry->waiting |= (uint8_t)fresh;
        entry->demand &= (uint8_t)~fresh;
        e->unused_sectors += sectors(fresh);
    } else {
        const unsigned lost = mask & entry->waiting;
        e->abandoned += sectors(lost);
        e->unused_sectors -= sectors(lost);
        entry->waiting &= (uint8_t)~mask;
        entry->demand |= (uint8_t)mask;
    }
    entry->valid |= (uint8_t)mask;
}

/* ---- What L1 waits for ---- */

static uint16_t *bucket_of(struct engine *e, uint64_t line)
{
    return &e->mshr_bucket[(line * 0x9e3779b97f4a7c15U) >> 54];
}

_Static_assert(MSHR_BUCKETS == 1 << 10, "the shift of bucket_of");

static void mshr_level(struct engine *e)
{
    e->mshr_area += (e->now - e->mshr_changed) * e->mshr_used;
    e->mshr_changed = e->now;
}

/* What is due beyond the wheel comes up at its rim and is put back. */
static void schedule(struct engine *e, uint16_t index)
{
    struct mshr *m = &e->mshrs[index];
    uint64_t at = m->due > e->now ? m->due : e->now + 1;
    if (at - e->now >= FILL_WHEEL)
        at = e->now + FILL_WHEEL - 1;
    const size_t slot = at % FILL_WHEEL;
    m->due_next = e->fills[slot];
    e->fills[slot] = index;
    e->fill_slots[slot / 64] |= UINT64_C(1) << (slot % 64);
}

/* Requests leave in the order of the port's slots. */
static uint64_t leaves(const struct engine *e)
{
    return (e->port_free > e->now ? e->port_free : e->now) * PREFETCH_TICKS;
}

struct mshr *prefetch_l1_request(struct engine *e, uint64_t line, unsigned mask)
{
    const uint16_t index = e->mshr_free;
    struct mshr *m = &e->mshrs[index];
    uint16_t *bucket = bucket_of(e, line);
    e->mshr_free = m->due_next;
    mshr_level(e);
    e->mshr_used++;
    const uint64_t back = prefetch_memory_read(&e->memory, line, mask, leaves(e));
    *m = (struct mshr){
        .line = line, .mask = (uint8_t)mask, .since = e->now, .next = *bucket, .waiter = NO_PART,
        .due = (back + PREFETCH_TICKS - 1) / PREFETCH_TICKS,
    };
    *bucket = index;
    schedule(e, index);
    return m;
}

static void release(struct engine *e, uint16_t index)
{
    struct mshr *m = &e->mshrs[index];
    uint16_t *link = bucket_of(e, m->line);
    while (*link != index)
        link = &e->mshrs[*link].next;
    *link = m->next;
    mshr_level(e);
    e->mshr_used--;
    e->mshr_waited += e->now - m->since;
    m->due_next = e->mshr_free;
    e->mshr_free = index;
}

unsigned prefetch_l1_present(struct engine *e, uint64_t line, unsigned mask)
{
    unsigned present = 0;
    const struct prefetch_line *entry = prefetch_cache_find(&e->l1, line, false);
    if (entry != NULL)
        present |= entry->valid;
    for (uint16_t i = *bucket_of(e, line); i != PREFETCH_NONE; i = e->mshrs[i].next)
        if (e->mshrs[i].line == line)
            present |= e->mshrs[i].mask & ~(unsigned)e->mshrs[i].killed;
    const struct register_entry *r = prefetch_registers_find(e, line);
    for (unsigned i = 0; r != NULL && i < SC_PREFETCH_SECTORS; i++)
        if (r->state[i] == READY)
            present |= 1U << i;
    if (e->m.oracle_place || e->m.oracle_time)
        for (unsigned i = 0; i < SC_PREFETCH_SECTORS; i++)
            if (prefetch_map_find(&e->aside, line * SC_PREFETCH_SECTORS + i) != NULL ||
                prefetch_map_find(&e->predicted, line * SC_PREFETCH_SECTORS + i) != NULL)
                present |= 1U << i;
    return present & mask;
}

/* ---- Loads and stores ---- */

static unsigned from_registers(struct engine *e, uint64_t line, unsigned mask)
{
    struct register_entry *r = prefetch_registers_find(e, line);
    unsigned found = 0;
    for (unsigned i = 0; r != NULL && i < SC_PREFETCH_SECTORS; i++)
        if ((mask >> i & 1) != 0 && r->state[i] == READY) {
            r->state[i] = CONSUMED;
            found |= 1U << i;
            on_time(e, line * SC_PREFETCH_SECTORS + i, r->origin[i]);
        }
    if (found != 0)
        e->port_free++; /* the refill of L1 takes a slot */
    prefetch_l1_insert(e, line, found, false, 0);
    return found;
}

static unsigned from_l1(struct engine *e, uint64_t line, unsigned mask)
{
    struct prefetch_line *entry = prefetch_cache_find(&e->l1, line, true);
    if (entry == NULL)
        return 0;
    const unsigned found = entry->valid & mask, first = found & entry->waiting;
    for (unsigned i = 0; first != 0 && i < SC_PREFETCH_SECTORS; i++)
        if ((first >> i & 1) != 0)
            on_time(e, line * SC_PREFETCH_SECTORS + i, entry->origin[i]);
    e->unused_sectors -= sectors(first);
    entry->waiting &= (uint8_t)~first;
    entry->demand |= (uint8_t)first;
    return found;
}

/* The oracles' data: aside of L1, or fetched at this very moment. */
static unsigned from_oracles(struct engine *e, uint64_t line, unsigned mask)
{
    unsigned found = 0, fetched = 0;
    for (unsigned i = 0; i < SC_PREFETCH_SECTORS; i++) {
        const uint64_t sector = line * SC_PREFETCH_SECTORS + i;
        const struct prefetch_map_entry *entry;
        if ((mask >> i & 1) == 0)
            continue;
        if ((entry = prefetch_map_find(&e->aside, sector)) != NULL) {
            const prefetch_origin origin = entry->origin;
            (void)prefetch_map_remove(&e->aside, sector);
            on_time(e, sector, origin);
            found |= 1U << i;
        } else if ((entry = prefetch_map_find(&e->predicted, sector)) != NULL) {
            const prefetch_origin origin = entry->origin;
            (void)prefetch_map_remove(&e->predicted, sector);
            e->r->issued++;
            on_time(e, sector, origin);
            fetched |= 1U << i;
        }
    }
    if (fetched != 0)
        (void)prefetch_memory_read(&e->memory, line, fetched, leaves(e));
    prefetch_l1_insert(e, line, found | fetched, false, 0);
    return found | fetched;
}

static void wait_for(struct engine *e, struct mshr *m, unsigned warp, unsigned flight)
{
    struct flight *f = &e->warps[warp].flight[flight];
    const uint32_t part =
        (warp * LOADS_IN_FLIGHT + flight) << e->part_bits | (f->parts++ & ((1U << e->part_bits) - 1));
    e->part_next[part] = m->waiter;
    m->waiter = part;
    f->missing++;
}

static unsigned from_flight(struct engine *e, uint64_t line, unsigned mask, unsigned warp,
                            unsigned flight)
{
    unsigned found = 0;
    for (uint16_t i = *bucket_of(e, line); i != PREFETCH_NONE && mask != found;
         i = e->mshrs[i].next) {
        struct mshr *m = &e->mshrs[i];
        const unsigned here = m->line == line ? m->mask & ~(unsigned)m->killed & mask & ~found : 0;
        if (here == 0)
            continue;
        const unsigned first = here & m->prefetch;
        for (unsigned k = 0; first != 0 && k < SC_PREFETCH_SECTORS; k++)
            if ((first >> k & 1) != 0)
                late(e, line * SC_PREFETCH_SECTORS + k, m->origin);
        e->r->merged += sectors(here & ~first);
        m->prefetch &= (uint8_t)~first;
        found |= here;
        wait_for(e, m, warp, flight);
    }
    return found;
}

void prefetch_l1_load(struct engine *e, uint64_t line, unsigned mask, unsigned warp, unsigned flight)
{
    e->r->accesses += sectors(mask);
    unsigned left = mask;
    if (e->m.oracle_l1) {
        e->r->hits += sectors(mask);
        return;
    }
    if (e->m.zero_cache)
        left &= ~prefetch_zeros_known(&e->l1_zeros, line, left);
    if (left != 0 && e->back.register_count > 0)
        left &= ~from_registers(e, line, left);
    if (left != 0)
        left &= ~from_l1(e, line, left);
    if (left != 0 && (e->m.oracle_place || e->m.oracle_time))
        left &= ~from_oracles(e, line, left);
    e->r->hits += sectors(mask & ~left);
    if (left != 0)
        left &= ~from_flight(e, line, left, warp, flight);
    if (left == 0)
        return;
    for (unsigned i = 0; i < SC_PREFETCH_SECTORS; i++)
        if ((left >> i & 1) != 0)
            missed(e, line * SC_PREFETCH_SECTORS + i);
    wait_for(e, prefetch_l1_request(e, line, left), warp, flight);
}

/* Written through: L1 has the new data, prefetches elsewhere have the old. */
void prefetch_l1_store(struct engine *e, uint64_t line, unsigned mask)
{
    struct register_entry *r = prefetch_registers_find(e, line);
    for (unsigned i = 0; r != NULL && i < SC_PREFETCH_SECTORS; i++)
        if ((mask >> i & 1) != 0 && r->state[i] == READY) {
            r->state[i] = INVALID;
            e->r->dropped++;
            e->r->invalidated++;
        }
    for (uint16_t i = *bucket_of(e, line); i != PREFETCH_NONE; i = e->mshrs[i].next)
        if (e->mshrs[i].line == line)
            e->mshrs[i].killed |= (uint8_t)(e->mshrs[i].prefetch & mask);
    prefetch_memory_write(&e->memory, line, mask, leaves(e));
}

/* ---- Data arrives ---- */

static unsigned zero_mask(const struct engine *e, uint64_t line, unsigned mask)
{
    unsigned zeros = 0;
    for (unsigned i = 0; i < SC_PREFETCH_SECTORS; i++)
        if ((mask >> i & 1) != 0 && prefetch_kernel_is_zero(&e->kernel, line * SC_PREFETCH_SECTORS + i))
            zeros |= 1U << i;
    return zeros;
}

static unsigned to_registers(struct engine *e, const struct mshr *m, unsigned mask)
{
    struct register_entry *r = prefetch_registers_find(e, m->line);
    unsigned placed = 0;
    for (unsigned i = 0; i < SC_PREFETCH_SECTORS; i++)
        if ((mask >> i & 1) != 0 && r != NULL && r->state[i] == WAITING) {
            r->state[i] = READY;
            placed |= 1U << i;
        }
    e->r->dropped += sectors(mask & ~placed);
    return placed;
}

static void prefetched(struct engine *e, const struct mshr *m, unsigned zeros)
{
    const unsigned alive = m->prefetch & ~(unsigned)m->killed;
    e->r->dropped += sectors(m->prefetch & m->killed);
    unsigned left = alive & ~(unsigned)m->registers;
    if (e->m.zero_cache && e->s->zero_fill == SC_PREFETCH_ZERO_METADATA) {
        e->abandoned += sectors(left & zeros);
        left &= ~zeros;
    }
    (void)to_registers(e, m, alive & m->registers);
    if (!e->m.oracle_place) {
        prefetch_l1_insert(e, m->line, left, true, m->origin);
        return;
    }
    for (unsigned i = 0; i < SC_PREFETCH_SECTORS; i++)
        if ((left >> i & 1) != 0)
            note_set(e, &e->aside, m->line * SC_PREFETCH_SECTORS + i, 0, m->origin);
}

/* Registers that were kept for data which demand has taken over. */
static void give_up_registers(struct engine *e, const struct mshr *m)
{
    struct register_entry *r = prefetch_registers_find(e, m->line);
    const unsigned taken = m->registers & ~((unsigned)m->prefetch & ~(unsigned)m->killed);
    for (unsigned i = 0; r != NULL && i < SC_PREFETCH_SECTORS; i++)
        if ((taken >> i & 1) != 0 && r->state[i] == WAITING)
            r->state[i] = CONSUMED;
}

static void fill(struct engine *e, uint16_t index)
{
    const struct mshr m = e->mshrs[index];
    const unsigned zeros = zero_mask(e, m.line, m.mask);
    const double took = (double)(e->now - m.since);
    release(e, index);
    e->back.recent_latency += (took - e->back.recent_latency) / 64;
    if (m.learns)
        prefetch_back_zero_seen(e, pattern_of(m.origin), zeros == m.mask);
    if (e->m.zero_cache && zeros != 0)
        prefetch_zeros_learn(&e->l1_zeros, m.line, prefetch_memory_is_zero, &e->kernel);
    const unsigned demanded = m.mask & ~(unsigned)m.prefetch;
    prefetch_l1_insert(e, m.line, e->m.zero_cache ? demanded & ~zeros : demanded, false, 0);
    if (m.prefetch != 0)
        prefetched(e, &m, zeros);
    if (m.registers != 0)
        give_up_registers(e, &m);
    for (uint32_t part = m.waiter; part != NO_PART;) {
        const uint32_t next = e->part_next[part];
        prefetch_part_arrived(e, part);
        part = next;
    }
}

void prefetch_l1_fills(struct engine *e)
{
    const size_t slot = e->now % FILL_WHEEL;
    uint16_t index = e->fills[slot];
    if (index == PREFETCH_NONE)
        return;
    e->fills[slot] = PREFETCH_NONE;
    e->fill_slots[slot / 64] &= ~(UINT64_C(1) << (slot % 64));
    /* Latest first in the slot; the order of arrival is that of issue. */
    uint16_t reversed = PREFETCH_NONE;
    while (index != PREFETCH_NONE) {
        const uint16_t next = e->mshrs[index].due_next;
        e->mshrs[index].due_next = reversed;
        reversed = index;
        index = next;
    }
    while (reversed != PREFETCH_NONE) {
        const uint16_t next = e->mshrs[reversed].due_next;
        if (e->mshrs[reversed].due > e->now)
            schedule(e, reversed);
        else
            fill(e, reversed);
        reversed = next;
    }
}

/* The first set bit of a ring of words, from `from` on; SIZE_MAX: none. */
static size_t first_slot(const uint64_t *words, size_t count, size_t from)
{
    for (size_t i = 0; i <= count / 64; i++) {
        const size_t word = (from / 64 + i) % (count / 64);
        uint64_t bits = words[word];
        if (i == 0)
            bits &= ~UINT64_C(0) << (from % 64);
        if (bits != 0)
            return word * 64 + (size_t)__builtin_ctzll(bits);
    }
    return SIZE_MAX;
}

uint64_t prefetch_l1_next_fill(const struct engine *e)
{
    if (e->mshr_used == 0)
        return UINT64_MAX;
    const size_t from = (e->now + 1) % FILL_WHEEL;
    const size_t slot = first_slot(e->fill_slots, FILL_WHEEL, from);
    return slot == SIZE_MAX ? UINT64_MAX
                            : e->now + 1 + (slot + FILL_WHEEL - from) % FILL_WHEEL;
}
