/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A heap in which every entry has four children: half as deep as a binary one,
 * and the four share two cache lines.  (LaMarca & Ladner, The influence of
 * caches on the performance of heaps, ACM J. Exp. Algorithmics 1, 1996.)
 *
 * Most events that are popped push another one at once.  So pop leaves a hole
 * at the top, and a push that follows fills it from there: one way through the
 * heap instead of two.
 */
#include "sim/event.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define WAYS ((size_t)4)

/* Priority above, number of the push below, which takes centuries to overflow. */
enum { PRIORITY_SHIFT = 56 };

struct sc_sim_entry {
    uint64_t time_ps;
    uint64_t order;
    uint64_t wide;
    uint32_t kind;
};
_Static_assert(sizeof(struct sc_sim_entry) == 32, "two to a cache line");

/* Every four children start at a multiple of this; the top stands just before. */
enum { GROUP_BYTES = 4 * sizeof(struct sc_sim_entry), FIRST_CAPACITY = 64 };

/* Events from which they are fetched ahead: 1 MB of them. */
enum { PREFETCH_FROM = 1 << 15 };

void sc_sim_events_init(struct sc_sim_events *queue)
{
    *queue = (struct sc_sim_events){ .status = SC_OK };
}

void sc_sim_events_fini(struct sc_sim_events *queue)
{
    free(queue->memory);
    sc_sim_events_init(queue);
}

void sc_sim_events_clear(struct sc_sim_events *queue)
{
    *queue = (struct sc_sim_events){ .entries = queue->entries,
                                     .memory = queue->memory,
                                     .capacity = queue->capacity };
}

enum sc_status sc_sim_events_reserve(struct sc_sim_events *queue, size_t count)
{
    struct sc_sim_entry *entries;
    unsigned char *memory;
    size_t misaligned;

    if (count <= queue->capacity)
        return SC_OK;
    if (count > (SIZE_MAX - 2 * (size_t)GROUP_BYTES) / sizeof *entries)
        return SC_ENOSPACE;
    memory = malloc(count * sizeof *entries + 2 * (size_t)GROUP_BYTES);
    if (memory == NULL)
        return SC_ENOSPACE;
    misaligned = (uintptr_t)memory % GROUP_BYTES;
    entries = (void *)(memory + 2 * (size_t)GROUP_BYTES - misaligned - sizeof *entries);
    if (queue->count > 0)
        memcpy(entries, queue->entries, queue->count * sizeof *entries);
    free(queue->memory);
    queue->memory = memory;
    queue->entries = entries;
    queue->capacity = count;
    return SC_OK;
}

enum sc_status sc_sim_events_status(const struct sc_sim_events *queue)
{
    return queue->status;
}

size_t sc_sim_events_count(const struct sc_sim_events *queue)
{
    return queue->count - (queue->hole ? 1 : 0);
}

/*
 * Time and order as one number compare without a jump, which would be
 * mispredicted half of the time: which is less is anyone's guess.
 */
__extension__ typedef unsigned __int128 sc_sim_key;

static inline sc_sim_key entry_key(const struct sc_sim_entry *entry)
{
    return (sc_sim_key)entry->time_ps << 64 | entry->order;
}

static inline bool entry_less(const struct sc_sim_entry *a, const struct sc_sim_entry *b)
{
    return entry_key(a) < entry_key(b);
}

/* The least of the children from `first` on, of which there is at least one. */
static inline size_t least_child(const struct sc_sim_entry *entries, size_t count, size_t first)
{
    size_t left, right;

    if (first + WAYS <= count) {
        left = first + entry_less(&entries[first + 1], &entries[first]);
        right = first + 2 + entry_less(&entries[first + 3], &entries[first + 2]);
        return entry_less(&entries[right], &entries[left]) ? right : left;
    }
    left = first;
    for (right = first + 1; right < count; right++)
        if (entry_less(&entries[right], &entries[left]))
            left = right;
    return left;
}

/*
 * In a queue too large for the near caches the way down waits for memory at
 * every level.  Which children it will meet is not known yet, but they are
 * among the 16 grandchildren, next to each other.
 */
static inline void prefetch_grandchildren(const struct sc_sim_events *queue, size_t place)
{
    const size_t first = WAYS * (WAYS * place + 1) + 1;

    if (queue->count < PREFETCH_FROM || first + WAYS * WAYS > queue->count)
        return;
    for (size_t i = 0; i < WAYS * WAYS; i += 2)
        __builtin_prefetch(&queue->entries[first + i]);
}

/* The top is free: `entry` goes there, or as far below as it must. */
static void sift_down(struct sc_sim_events *queue, struct sc_sim_entry entry)
{
    struct sc_sim_entry *const entries = queue->entries;
    size_t place = 0, child;

    for (; WAYS * place + 1 < queue->count; place = child) {
        prefetch_grandchildren(queue, place);
        child = least_child(entries, queue->count, WAYS * place + 1);
        if (entry_less(&entry, &entries[child]))
            break;
        entries[place] = entries[child];
    }
    entries[place] = entry;
}

/* The last place is free: `entry` goes there, or as far above as it must. */
static void sift_up(struct sc_sim_events *queue, struct sc_sim_entry entry)
{
    struct sc_sim_entry *const entries = queue->entries;
    size_t place = queue->count - 1;

    while (place > 0 && entry_less(&entry, &entries[(place - 1) / WAYS])) {
        entries[place] = entries[(place - 1) / WAYS];
        place = (place - 1) / WAYS;
    }
    entries[place] = entry;
}

static void stop(struct sc_sim_events *queue, enum sc_status why)
{
    queue->status = why;
    queue->count = 0;
    queue->hole = false;
}

/* Room for one more; false: no memory. */
static bool grow(struct sc_sim_events *queue)
{
    size_t wanted = FIRST_CAPACITY;

    if (queue->count < queue->capacity)
        return true;
    if (queue->capacity > SIZE_MAX / 2)
        return false;
    if (queue->capacity > 0)
        wanted = queue->capacity * 2;
    return sc_sim_events_reserve(queue, wanted) == SC_OK;
}

void sc_sim_events_push(struct sc_sim_events *queue, struct sc_sim_event event)
{
    const struct sc_sim_entry entry = {
        .time_ps = event.time_ps,
        .order = (uint64_t)event.priority << PRIORITY_SHIFT | queue->pushed,
        .wide = event.wide,
        .kind = event.kind,
    };

    if (queue->status != SC_OK)
        return;
    if (event.time_ps < queue->now_ps) {
        stop(queue, SC_EDOMAIN);
        return;
    }
    if (event.time_ps == SC_SIM_NEVER_PS) {
        stop(queue, SC_ERANGE);
        return;
    }
    queue->pushed++;
    if (queue->hole) {
        queue->hole = false;
        sift_down(queue, entry);
        return;
    }
    if (!grow(queue)) {
        stop(queue, SC_ENOSPACE);
        return;
    }
    queue->count++;
    sift_up(queue, entry);
}

void sc_sim_events_push_after(struct sc_sim_events *queue, uint64_t delay_ps,
                              struct sc_sim_event event)
{
    event.time_ps = sc_sim_ps_add(queue->now_ps, delay_ps);
    sc_sim_events_push(queue, event);
}

bool sc_sim_events_peek(struct sc_sim_events *queue, struct sc_sim_event *event)
{
    const struct sc_sim_entry *const top = queue->entries;

    if (queue->hole) {
        queue->hole = false;
        queue->count--;
        if (queue->count > 0)
            sift_down(queue, queue->entries[queue->count]);
    }
    if (queue->count == 0)
        return false;
    *event = (struct sc_sim_event){
        .time_ps = top->time_ps,
        .kind = top->kind,
        .priority = (uint8_t)(top->order >> PRIORITY_SHIFT),
        .wide = top->wide,
    };
    return true;
}

bool sc_sim_events_pop(struct sc_sim_events *queue, struct sc_sim_event *event)
{
    if (!sc_sim_events_peek(queue, event))
        return false;
    assert(event->time_ps >= queue->now_ps);
    queue->now_ps = event->time_ps;
    queue->hole = true;
    return true;
}

uint64_t sc_sim_ps_round(double time_ps)
{
    if (time_ps < 0.5)
        return 0;
    /* Above 2^53 there is no fraction to round. */
    if (time_ps < 0x1p53)
        return (uint64_t)(time_ps + 0.5);
    return time_ps < 0x1p64 ? (uint64_t)time_ps : SC_SIM_NEVER_PS;
}

uint64_t sc_sim_ps_from_s(double time_s)
{
    return sc_sim_ps_round(time_s * 1e12);
}
