/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/uvm_blocks.h"

#include <stdlib.h>

enum sc_status uvm_blocks_init(struct uvm_blocks *b, uint32_t count, uint32_t leaves,
                               uint32_t chunks)
{
    const uint32_t words = (leaves + 63) / 64;
    *b = (struct uvm_blocks){ .count = count, .leaves = leaves, .words = words, .chunks = chunks,
                              .oldest = UVM_NO_BLOCK, .newest = UVM_NO_BLOCK };
    b->full = leaves % 64 == 0 ? UINT64_MAX : (UINT64_C(1) << leaves % 64) - 1;
    b->masks = calloc((size_t)count * UVM_MASKS * words, sizeof *b->masks);
    b->places = calloc(count, sizeof *b->places);
    if (b->masks == NULL || b->places == NULL) {
        uvm_blocks_fini(b);
        return SC_ENOSPACE;
    }
    return SC_OK;
}

void uvm_blocks_fini(struct uvm_blocks *b)
{
    free(b->masks);
    free(b->places);
    *b = (struct uvm_blocks){ 0 };
}

/* ---- masks ---- */

uint32_t uvm_mask_count(const uint64_t *mask, uint32_t words)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < words; i++)
        count += (uint32_t)__builtin_popcountll(mask[i]);
    return count;
}

uint32_t uvm_mask_runs(const uint64_t *mask, uint32_t words)
{
    uint32_t runs = 0;
    uint64_t before = 0; /* whether the leaf before the word is in the mask */
    for (uint32_t i = 0; i < words; i++) {
        runs += (uint32_t)__builtin_popcountll(mask[i] & ~(mask[i] << 1 | before));
        before = mask[i] >> 63;
    }
    return runs;
}

uint32_t uvm_mask_alike(const uint64_t *mask, uint32_t leaf, uint32_t most)
{
    const uint64_t flip = uvm_mask_has(mask, leaf) ? UINT64_MAX : 0;
    uint32_t alike = 0;
    while (alike < most) {
        const uint32_t at = (leaf + alike) % 64;
        const uint64_t differ = (mask[(leaf + alike) / 64] ^ flip) >> at;
        if (differ != 0) {
            alike += (uint32_t)__builtin_ctzll(differ);
            break;
        }
        alike += 64 - at;
    }
    return alike < most ? alike : most;
}

/* `leaves` ones from bit `at` on, both within a word. */
static uint64_t ones(uint32_t at, uint32_t leaves)
{
    return (leaves >= 64 ? UINT64_MAX : (UINT64_C(1) << leaves) - 1) << at;
}

void uvm_mask_fill(uint64_t *mask, uint32_t leaf, uint32_t leaves)
{
    while (leaves > 0) {
        const uint32_t at = leaf % 64;
        const uint32_t here = leaves < 64 - at ? leaves : 64 - at;
        mask[leaf / 64] |= ones(at, here);
        leaf += here;
        leaves -= here;
    }
}

/* Leaves of an aligned node that are in either mask. */
static uint32_t node_count(const uint64_t *a, const uint64_t *b, uint32_t first, uint32_t size)
{
    uint32_t count = 0;
    if (size < 64)
        return (uint32_t)__builtin_popcountll((a[first / 64] | b[first / 64]) &
                                              ones(first % 64, size));
    for (uint32_t i = first / 64; i < (first + size) / 64; i++)
        count += (uint32_t)__builtin_popcountll(a[i] | b[i]);
    return count;
}

void uvm_tree_pull(const struct uvm_blocks *b, uint32_t block, uint32_t leaf, uint32_t percent,
                   uint64_t *wanted)
{
    const uint64_t *resident = uvm_mask(b, UVM_RESIDENT, block);
    for (uint32_t size = 2; size <= b->leaves; size *= 2) {
        const uint32_t first = leaf / size * size;
        if (node_count(resident, wanted, first, size) * 100 > percent * size)
            uvm_mask_fill(wanted, first, size);
    }
    for (uint32_t i = 0; i < b->words; i++)
        wanted[i] &= ~resident[i];
}

/* ---- chunks ---- */

static void append(struct uvm_blocks *b, uint32_t block)
{
    b->places[block].older = b->newest;
    b->places[block].newer = UVM_NO_BLOCK;
    if (b->newest != UVM_NO_BLOCK)
        b->places[b->newest].newer = block;
    else
        b->oldest = block;
    b->newest = block;
}

static void take_out(struct uvm_blocks *b, uint32_t block)
{
    const uint32_t older = b->places[block].older, newer = b->places[block].newer;
    if (older != UVM_NO_BLOCK)
        b->places[older].newer = newer;
    else
        b->oldest = newer;
    if (newer != UVM_NO_BLOCK)
        b->places[newer].older = older;
    else
        b->newest = older;
}

bool uvm_chunk_take(struct uvm_blocks *b, uint32_t block, bool pinned)
{
    if (b->used >= b->chunks)
        return false;
    b->used++;
    b->places[block].has_chunk = true;
    b->places[block].pinned = pinned;
    if (!pinned)
        append(b, block);
    return true;
}

void uvm_chunk_leave(struct uvm_blocks *b, uint32_t block)
{
    b->places[block].has_chunk = false;
    take_out(b, block);
}

void uvm_chunk_give(struct uvm_blocks *b)
{
    b->used--;
}

void uvm_chunk_renew(struct uvm_blocks *b, uint32_t block)
{
    if (b->places[block].pinned || b->newest == block)
        return;
    take_out(b, block);
    append(b, block);
}
