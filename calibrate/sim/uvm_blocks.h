/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the pages are: blocks of 2 MiB, which of their leaves (64 KiB) the GPU
 * holds, and in which order the driver would give blocks up.
 *
 * Device memory is handed out in whole chunks of a block, from its first resident
 * leaf on.  A fault brings in its leaf and, as the tree over the leaves of a block
 * says, more: a node of the tree of which more than a share is resident pulls in
 * the rest, from the leaves upwards, what was pulled in below counting above
 * (Ganguly and others, ISCA 2019; Ember sec. 2.1).
 *
 * Blocks with a chunk are in a list by their last fault-in: the driver sees no hits.
 * A mask is `words` 64-bit words, leaf 0 first.
 */
#ifndef SC_SIM_UVM_BLOCKS_H
#define SC_SIM_UVM_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

enum { UVM_WORDS_MAX = 8 }; /* 512 leaves: 4 KiB pages in 2 MiB */

#define UVM_NO_BLOCK UINT32_MAX

enum uvm_mask {
    UVM_RESIDENT,  /* on the GPU */
    UVM_POPULATED, /* there is a copy somewhere */
    UVM_DIRTY,     /* written on the GPU since it came */
    UVM_USED,      /* touched on the GPU since it came */
    UVM_SEEN,      /* has been brought in before */
    UVM_MASKS
};

struct uvm_blocks {
    uint32_t count, leaves, words; /* blocks; leaves and words of a block */
    uint32_t chunks, used;         /* of device memory; handed out */
    uint64_t full;                 /* last word of a mask with every leaf */
    uint64_t *masks;               /* all of a block side by side */
    struct uvm_place {
        uint32_t older, newer; /* the list, UVM_NO_BLOCK at either end */
        bool has_chunk, pinned; /* pinned: not in the list */
    } *places;
    uint32_t oldest, newest;
};

/* SC_ENOSPACE: no memory.  `leaves` is a power of two up to 512. */
enum sc_status uvm_blocks_init(struct uvm_blocks *blocks, uint32_t count, uint32_t leaves,
                               uint32_t chunks) SC_MUST_CHECK;
void uvm_blocks_fini(struct uvm_blocks *blocks);

/* ---- masks ---- */

static inline uint64_t *uvm_mask(const struct uvm_blocks *blocks, enum uvm_mask mask,
                                 uint32_t block)
{
    return blocks->masks + ((size_t)block * UVM_MASKS + mask) * blocks->words;
}

static inline bool uvm_mask_has(const uint64_t *mask, uint32_t leaf)
{
    return (mask[leaf / 64] >> (leaf % 64) & 1) != 0;
}

static inline void uvm_mask_set(uint64_t *mask, uint32_t leaf)
{
    mask[leaf / 64] |= UINT64_C(1) << (leaf % 64);
}

/* Leaves in all; runs of neighbouring leaves. */
uint32_t uvm_mask_count(const uint64_t *mask, uint32_t words);
uint32_t uvm_mask_runs(const uint64_t *mask, uint32_t words);
/* How many leaves from this one on, at most `most`, are in the mask if this one is,
 * or are not if it is not. */
uint32_t uvm_mask_alike(const uint64_t *mask, uint32_t leaf, uint32_t most);
/* Leaves from this one on are put into the mask. */
void uvm_mask_fill(uint64_t *mask, uint32_t leaf, uint32_t leaves);

/* Adds to `wanted` what the tree pulls in, given what is resident; only the leaf's
 * own ancestors are looked at.  percent: more than that share of a node. */
void uvm_tree_pull(const struct uvm_blocks *blocks, uint32_t block, uint32_t leaf,
                   uint32_t percent, uint64_t *wanted);

/* ---- chunks ---- */

/* Takes a chunk for the block, if one is free: at the young end of the list, or
 * pinned outside it. */
bool uvm_chunk_take(struct uvm_blocks *blocks, uint32_t block, bool pinned);
/* Takes the block out of the list; its chunk stays handed out until _give. */
void uvm_chunk_leave(struct uvm_blocks *blocks, uint32_t block);
void uvm_chunk_give(struct uvm_blocks *blocks);
/* To the young end. */
void uvm_chunk_renew(struct uvm_blocks *blocks, uint32_t block);

#endif
