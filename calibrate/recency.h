/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A set of keys in the order of their last access: how many lie above one when it is accessed
 * again is its reuse distance.
 *
 * A bit per access, in order of time, is set while that access is the last to its key.  Its
 * distance is the number of bits after it.  Words of 64 bits know how many bits of their group
 * (64 words) come before them, groups likewise in their region (64 groups), and regions before
 * them in all; clearing a bit takes one off everything behind it, two short vectors and a few
 * regions.  When time runs out of bits, the keys are numbered anew from 0.  A table by open
 * addressing finds the bit of a key.  Keys come in batches, so that the table can be looked up
 * ahead of its use.
 *
 * Costs per access: O(1) and n / 2^18 for n distinct keys, whatever the distance.  Memory:
 * 16 bytes per slot of the table (at most 3/4 and, once grown, at least 3/8 full), 8 more where
 * times are kept, and 1.3 bits per bit of time, of which there are 4 to 8 per key.
 */
#ifndef SC_RECENCY_H
#define SC_RECENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

enum { SC_RECENCY_BATCH = 1024 };
#define SC_RECENCY_COLD UINT32_MAX            /* the distance of a first access */
#define SC_RECENCY_MOST ((1UL << 29U) - 4096) /* keys in a set */

struct sc_recency;

/* Which code counts: for one and the same result, at different speed. */
enum sc_recency_code {
    SC_RECENCY_FASTEST, /* of those that this processor runs */
    SC_RECENCY_PORTABLE /* what any processor runs */
};

/* times: remember when each key was last accessed, too.  NULL: no memory. */
struct sc_recency *sc_recency_create(bool times, enum sc_recency_code code) SC_MUST_CHECK;
void sc_recency_destroy(struct sc_recency *set);

/* Keys now in the set. */
size_t sc_recency_count(const struct sc_recency *set);

/*
 * Accesses up to SC_RECENCY_BATCH keys in turn; any 64 bits are a key.  distance[i]: of key[i],
 * or SC_RECENCY_COLD.  Only where times are kept: time[i] is now, and becomes the time of the
 * access before (itself for a cold one); else NULL.
 * SC_ENOSPACE: no memory, or too many keys; the set is then of no more use.
 */
enum sc_status sc_recency_access(struct sc_recency *set, const uint64_t *key, size_t n,
                                 uint32_t *distance, uint64_t *time) SC_MUST_CHECK;

/* Forgets a key; false if it was not there. */
bool sc_recency_remove(struct sc_recency *set, uint64_t key);

/* Spreads the bits of a key evenly (the finalizer of splitmix64: a bijection). */
static inline uint64_t sc_recency_hash(uint64_t key)
{
    key = (key ^ (key >> 30U)) * 0xbf58476d1ce4e5b9U;
    key = (key ^ (key >> 27U)) * 0x94d049bb133111ebU;
    return key ^ (key >> 31U);
}

#endif
