/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For madvise.  NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
#define _DEFAULT_SOURCE

#include "recency.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    WORD_BITS = 6,   /* a word has 2^6 bits */
    GROUP_BITS = 12, /* a group 2^6 words */
    REGION_BITS = 18, /* a region 2^6 groups */
    FAN = 64,
    AHEAD = 24,              /* accesses between asking for a cache line and its use */
    HUGE_PAGE = 1 << 21,     /* a table from this size on is aligned to it */
    FIRST_TABLE = 4 * SC_RECENCY_BATCH,
    TIME_PER_KEY = 4
};

/* Bits of time, and how many set bits come before each part of it.  Counts of parts that lie in
 * the future are of no meaning: they are made when time gets there. */
struct order {
    uint64_t *bits;
    uint16_t *before_word;   /* within its group */
    uint32_t *before_group;  /* within its region */
    uint32_t *before_region; /* in all */
    uint32_t size, next;     /* bits there are; the first that is unused */
    uint32_t set;            /* bits that are set */
};

/* place: 1 + its bit, so that 0 is a slot without a key and bit 0 is a place like any other. */
struct slot {
    uint64_t key;
    uint32_t place;
    uint32_t unused;
};

typedef void count_batch(struct order *order, const uint32_t *place, size_t n, uint32_t *distance);

struct sc_recency {
    struct slot *slots;
    uint64_t *last; /* time of the last access, by slot; or NULL */
    size_t mask;    /* slots - 1 */
    size_t count;
    bool times;
    struct order order;
    count_batch *count_places;
    uint32_t places[SC_RECENCY_BATCH];
    uint64_t homes[SC_RECENCY_BATCH];
};

/* ---- bits in the order of time ---- */

/* 0 up to the middle, minus one from there: the 64 values from FAN - 1 - i on are minus one
 * where their place is above i. */
#define ZEROS_8 0, 0, 0, 0, 0, 0, 0, 0
#define ZEROS_64 ZEROS_8, ZEROS_8, ZEROS_8, ZEROS_8, ZEROS_8, ZEROS_8, ZEROS_8, ZEROS_8
#define ONES_8(T) (T)-1, (T)-1, (T)-1, (T)-1, (T)-1, (T)-1, (T)-1, (T)-1
#define ONES_64(T) \
    ONES_8(T), ONES_8(T), ONES_8(T), ONES_8(T), ONES_8(T), ONES_8(T), ONES_8(T), ONES_8(T)
static const uint16_t above_16[2 * FAN] = { ZEROS_64, ONES_64(uint16_t) };
static const uint32_t above_32[2 * FAN] = { ZEROS_64, ONES_64(uint32_t) };

/* Several numbers at once, at any address; compilers make of it what the processor has. */
typedef uint16_t many_16 __attribute__((vector_size(64), aligned(2), may_alias));
typedef uint32_t many_32 __attribute__((vector_size(64), aligned(4), may_alias));

#define INLINE static inline __attribute__((always_inline))

INLINE void decrement_words(uint16_t *group, unsigned above)
{
    const uint16_t *const less = above_16 + (FAN - 1) - above;
    for (unsigned i = 0; i < FAN; i += 32)
        *(many_16 *)(group + i) += *(const many_16 *)(less + i);
}

INLINE void decrement_groups(uint32_t *region, unsigned above)
{
    const uint32_t *const less = above_32 + (FAN - 1) - above;
    for (unsigned i = 0; i < FAN; i += 16)
        *(many_32 *)(region + i) += *(const many_32 *)(less + i);
}

INLINE uint32_t ones(uint64_t word)
{
    return (uint32_t)__builtin_popcountll(word);
}

/* Bits before this one.  bits & words & groups & regions */
INLINE uint32_t rank(const struct order *o, uint32_t bit)
{
    const uint32_t word = bit >> WORD_BITS;
    return o->before_region[bit >> REGION_BITS] + o->before_group[bit >> GROUP_BITS] +
           o->before_word[word] + ones(o->bits[word] & ((UINT64_C(1) << (bit & (FAN - 1))) - 1));
}

INLINE void clear_bit(struct order *o, uint32_t bit)
{
    const uint32_t word = bit >> WORD_BITS, group = bit >> GROUP_BITS, region = bit >> REGION_BITS;
    const uint32_t last = (o->next - 1) >> REGION_BITS;
    o->bits[word] &= ~(UINT64_C(1) << (bit & (FAN - 1)));
    o->set--;
    decrement_words(o->before_word + (size_t)group * FAN, word % FAN);
    decrement_groups(o->before_group + (size_t)region * FAN, group % FAN);
    for (uint32_t i = region + 1; i <= last; i++)
        o->before_region[i]--;
}

/* Time comes to the first bit of a word, not of the first. */
INLINE void enter_word(struct order *o, uint32_t word)
{
    const uint32_t group = word / FAN, region = group / FAN;
    const uint32_t in_group = o->before_word[word - 1] + ones(o->bits[word - 1]);
    if (word % FAN != 0) {
        o->before_word[word] = (uint16_t)in_group;
        return;
    }
    o->before_word[word] = 0;
    const uint32_t in_region = o->before_group[group - 1] + in_group;
    if (group % FAN != 0) {
        o->before_group[group] = in_region;
        return;
    }
    o->before_group[group] = 0;
    o->before_region[region] = o->before_region[region - 1] + in_region;
}

INLINE void append_bit(struct order *o)
{
    const uint32_t bit = o->next++, word = bit >> WORD_BITS;
    if (bit % FAN == 0 && word > 0)
        enter_word(o, word);
    o->bits[word] |= UINT64_C(1) << (bit % FAN);
    o->set++;
}

INLINE void prefetch_bit(const struct order *o, uint32_t bit)
{
    const uint32_t word = bit >> WORD_BITS;
    const uint16_t *const group = o->before_word + (size_t)(bit >> GROUP_BITS) * FAN;
    __builtin_prefetch(o->bits + word, 1);
    __builtin_prefetch(group, 1);
    __builtin_prefetch(group + FAN / 2, 1);
}

INLINE void count_in_turn(struct order *shared, const uint32_t *place, size_t n, uint32_t *distance)
{
    struct order o = *shared; /* that no store into its arrays makes it be loaded again */
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n && place[i + AHEAD] != 0)
            prefetch_bit(&o, place[i + AHEAD] - 1);
        if (place[i] == 0) {
            distance[i] = SC_RECENCY_COLD;
        } else {
            const uint32_t bit = place[i] - 1;
            distance[i] = o.set - rank(&o, bit) - 1;
            clear_bit(&o, bit);
        }
        append_bit(&o);
    }
    *shared = o;
}

static void count_portable(struct order *order, const uint32_t *place, size_t n, uint32_t *distance)
{
    count_in_turn(order, place, n, distance);
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("popcnt,bmi,bmi2,avx2"))) static void
count_avx2(struct order *order, const uint32_t *place, size_t n, uint32_t *distance)
{
    count_in_turn(order, place, n, distance);
}

static count_batch *choose_code(enum sc_recency_code code)
{
    const bool avx2 = __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("bmi") &&
                      __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("avx2");
    return avx2 && code != SC_RECENCY_PORTABLE ? count_avx2 : count_portable;
}
#else
static count_batch *choose_code(enum sc_recency_code code)
{
    (void)code;
    return count_portable;
}
#endif

static void order_fini(struct order *o)
{
    free(o->bits);
    free(o->before_word);
    free(o->before_group);
    free(o->before_region);
    *o = (struct order){ 0 };
}

/* Room for `size` bits, a multiple of a region, all of them unused. */
static bool order_init(struct order *o, uint32_t size)
{
    *o = (struct order){ .size = size };
    o->bits = calloc(size >> WORD_BITS, sizeof *o->bits);
    o->before_word = calloc(size >> WORD_BITS, sizeof *o->before_word);
    o->before_group = calloc(size >> GROUP_BITS, sizeof *o->before_group);
    o->before_region = calloc(size >> REGION_BITS, sizeof *o->before_region);
    if (o->bits != NULL && o->before_word != NULL && o->before_group != NULL &&
        o->before_region != NULL)
        return true;
    order_fini(o);
    return false;
}

/* The bits of `set` keys, the first of all. */
static void order_fill(struct order *o, uint32_t set)
{
    memset(o->bits, 0, (size_t)(o->size >> WORD_BITS) * sizeof *o->bits);
    o->next = o->set = 0;
    while (o->next < set)
        append_bit(o);
}

/* ---- the table ---- */

static struct slot *make_slots(size_t count)
{
    const size_t bytes = count * sizeof(struct slot);
    if (count > SIZE_MAX / sizeof(struct slot))
        return NULL;
    if (bytes < HUGE_PAGE)
        return calloc(count, sizeof(struct slot));
    struct slot *slots = aligned_alloc(HUGE_PAGE, bytes);
    if (slots == NULL)
        return NULL;
#ifdef MADV_HUGEPAGE
    (void)madvise(slots, bytes, MADV_HUGEPAGE); /* only faster */
#endif
    return memset(slots, 0, bytes);
}

/* Where the key is, or the empty slot where it belongs. */
static inline size_t find_slot(const struct sc_recency *s, uint64_t key, uint64_t home)
{
    size_t at = home & s->mask;
    while (s->slots[at].place != 0 && s->slots[at].key != key)
        at = (at + 1) & s->mask;
    return at;
}

static bool table_resize(struct sc_recency *s, size_t count)
{
    struct sc_recency grown = { .slots = make_slots(count), .mask = count - 1 };
    if (grown.slots == NULL)
        return false;
    if (s->times && (grown.last = calloc(count, sizeof *grown.last)) == NULL) {
        free(grown.slots);
        return false;
    }
    for (size_t i = 0; s->slots != NULL && i <= s->mask; i++) {
        if (s->slots[i].place == 0)
            continue;
        const size_t at = find_slot(&grown, s->slots[i].key, sc_recency_hash(s->slots[i].key));
        grown.slots[at] = s->slots[i];
        if (grown.last != NULL)
            grown.last[at] = s->last[i];
    }
    free(s->slots);
    free(s->last);
    s->slots = grown.slots;
    s->last = grown.last;
    s->mask = grown.mask;
    return true;
}

/* Numbers the keys anew, in order, so that there is time again. */
static bool compact(struct sc_recency *s)
{
    const uint64_t wanted = TIME_PER_KEY * ((uint64_t)s->order.set + SC_RECENCY_BATCH);
    uint64_t size = s->order.size;
    while (size < wanted)
        size *= 2;
    if (size > UINT32_MAX)
        return false;
    for (size_t i = 0; i <= s->mask; i++)
        if (s->slots[i].place != 0)
            s->slots[i].place = 1 + rank(&s->order, s->slots[i].place - 1);
    const uint32_t set = s->order.set;
    if (size > s->order.size) {
        struct order larger;
        if (!order_init(&larger, (uint32_t)size))
            return false;
        order_fini(&s->order);
        s->order = larger;
    }
    order_fill(&s->order, set);
    return true;
}

static bool make_room(struct sc_recency *s)
{
    const size_t slots = s->mask + 1;
    if (s->count + SC_RECENCY_BATCH > slots - slots / 4 && !table_resize(s, 2 * slots))
        return false;
    return s->order.size - s->order.next >= SC_RECENCY_BATCH || compact(s);
}

/* ---- the set ---- */

void sc_recency_destroy(struct sc_recency *set)
{
    if (set == NULL)
        return;
    free(set->slots);
    free(set->last);
    order_fini(&set->order);
    free(set);
}

struct sc_recency *sc_recency_create(bool times, enum sc_recency_code code)
{
    struct sc_recency *set = calloc(1, sizeof *set);
    if (set == NULL)
        return NULL;
    set->times = times;
    set->count_places = choose_code(code);
    if (order_init(&set->order, 1U << REGION_BITS) && table_resize(set, FIRST_TABLE))
        return set;
    sc_recency_destroy(set);
    return NULL;
}

size_t sc_recency_count(const struct sc_recency *set)
{
    return set->count;
}

/* The place of each key's last access, and the new one into the table. */
static void look_up(struct sc_recency *s, const uint64_t *key, size_t n, uint64_t *time)
{
    const uint32_t now = s->order.next + 1;
    size_t added = 0;
    for (size_t i = 0; i < n; i++)
        s->homes[i] = sc_recency_hash(key[i]) & s->mask;
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n) {
            __builtin_prefetch(&s->slots[s->homes[i + AHEAD]], 1);
            if (time != NULL)
                __builtin_prefetch(&s->last[s->homes[i + AHEAD]], 1);
        }
        const size_t at = find_slot(s, key[i], s->homes[i]);
        struct slot *const slot = &s->slots[at];
        const bool cold = slot->place == 0;
        s->places[i] = slot->place;
        slot->key = key[i];
        slot->place = now + (uint32_t)i;
        added += cold;
        if (time != NULL) {
            const uint64_t before = cold ? time[i] : s->last[at];
            s->last[at] = time[i];
            time[i] = before;
        }
    }
    s->count += added;
}

enum sc_status sc_recency_access(struct sc_recency *set, const uint64_t *key, size_t n,
                                 uint32_t *distance, uint64_t *time)
{
    if (n > SC_RECENCY_BATCH || set->count > SC_RECENCY_MOST - SC_RECENCY_BATCH || !make_room(set))
        return SC_ENOSPACE;
    look_up(set, key, n, set->times ? time : NULL);
    set->count_places(&set->order, set->places, n, distance);
    return SC_OK;
}

/* Closes the gap at an empty slot: what stands behind it, and could not be put there, moves up. */
static void close_gap(struct sc_recency *s, size_t gap)
{
    for (size_t at = (gap + 1) & s->mask; s->slots[at].place != 0; at = (at + 1) & s->mask) {
        const size_t home = sc_recency_hash(s->slots[at].key) & s->mask;
        if (((at - home) & s->mask) < ((at - gap) & s->mask))
            continue;
        s->slots[gap] = s->slots[at];
        if (s->times)
            s->last[gap] = s->last[at];
        s->slots[at].place = 0;
        gap = at;
    }
}

bool sc_recency_remove(struct sc_recency *set, uint64_t key)
{
    const size_t at = find_slot(set, key, sc_recency_hash(key));
    if (set->slots[at].place == 0)
        return false;
    clear_bit(&set->order, set->slots[at].place - 1);
    set->slots[at].place = 0;
    set->count--;
    close_gap(set, at);
    return true;
}
