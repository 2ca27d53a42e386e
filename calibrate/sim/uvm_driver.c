/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The driver: one thing after the other. */
#include <stdlib.h>
#include <string.h>

#include "sim/uvm_engine_private.h"

enum sc_status uvm_driver_init(struct uvm_engine *e)
{
    struct uvm_driver *d = &e->driver;
    d->wake_ps = SC_SIM_NEVER_PS;
    d->block = UVM_NO_BLOCK;
    d->queue = calloc(e->slot_count, sizeof *d->queue);
    d->batch = calloc(e->slot_count, sizeof *d->batch);
    d->of = calloc(e->blocks.count, sizeof *d->of);
    return d->queue != NULL && d->batch != NULL && d->of != NULL ? SC_OK : SC_ENOSPACE;
}

void uvm_driver_fini(struct uvm_engine *e)
{
    struct uvm_driver *d = &e->driver;
    free(d->queue);
    free(d->batch);
    free(d->of);
    *d = (struct uvm_driver){ 0 };
}

static void sleep_for(struct uvm_engine *e, double delay_s, enum uvm_driver_state state)
{
    e->driver.state = state;
    e->driver.wake_ps = sc_sim_ps_add(e->now_ps, sc_sim_ps_from_s(delay_s));
}

/* ---- batches ---- */

static void begin_batch(struct uvm_engine *e)
{
    struct uvm_driver *d = &e->driver;
    uint32_t entries = 0;
    d->batch_count = d->batch_at = 0;
    d->batch_number++;
    while (d->count > 0 && (d->batch_count == 0 ||
                            entries + d->queue[d->head].entries <= e->machine->batch_entries)) {
        struct uvm_fault *fault = &d->batch[d->batch_count];
        *fault = d->queue[d->head];
        d->head = d->head + 1 < e->slot_count ? d->head + 1 : 0;
        d->count--;
        entries += fault->entries;
        const uint32_t block = fault->leaf >> e->leaf_shift;
        fault->next = UINT32_MAX;
        if (d->of[block].stamp == d->batch_number) {
            fault->next = d->batch[d->of[block].first].next;
            d->batch[d->of[block].first].next = d->batch_count;
        } else {
            d->of[block].stamp = d->batch_number;
            d->of[block].first = d->batch_count;
        }
        d->batch_count++;
    }
    e->result.batches++;
    e->result.entries += entries;
    sleep_for(e, e->machine->batch_s + entries * e->machine->entry_s, DRIVER_SERVING);
}

static void end_batch(struct uvm_engine *e)
{
    struct uvm_driver *d = &e->driver;
    /* Those whose leaf has come go on; one that found no memory faults again. */
    for (uint32_t i = 0; i < d->batch_count; i++)
        uvm_slot_advance(e, d->batch[i].slot);
    d->state = DRIVER_IDLE;
    if (d->count > 0)
        begin_batch(e);
}

void uvm_driver_fault(struct uvm_engine *e, uint32_t slot, uint32_t leaf, uint32_t entries)
{
    struct uvm_driver *d = &e->driver;
    uint32_t at = d->head + d->count++;
    if (at >= e->slot_count)
        at -= e->slot_count;
    d->queue[at] = (struct uvm_fault){ .slot = slot, .leaf = leaf, .entries = entries };
    if (d->state == DRIVER_IDLE)
        begin_batch(e);
}

/* Leaves of the block that the faults from `at` on want and the tree adds. */
static bool gather(struct uvm_engine *e, uint32_t at, uint32_t block)
{
    struct uvm_driver *d = &e->driver;
    const uint64_t *resident = uvm_mask(&e->blocks, UVM_RESIDENT, block);
    const uint32_t leaf_mask = e->blocks.leaves - 1;
    bool any = false;
    memset(d->wanted, 0, e->blocks.words * sizeof *d->wanted);
    for (uint32_t i = at; i != UINT32_MAX; i = d->batch[i].next) {
        const uint32_t leaf = d->batch[i].leaf & leaf_mask;
        if (uvm_mask_has(resident, leaf) || uvm_mask_has(d->wanted, leaf))
            continue;
        uvm_mask_set(d->wanted, leaf);
        e->result.faults++;
        any = true;
    }
    /* Counted allocations create what was touched and no more. */
    for (uint32_t i = at; any && e->placement[block] != UVM_COUNTED && i != UINT32_MAX;
         i = d->batch[i].next)
        uvm_tree_pull(&e->blocks, block, d->batch[i].leaf & leaf_mask, e->machine->tree_percent,
                      d->wanted);
    return any;
}

/* The block faulted in longest ago that may go: not one that this batch has brought in,
 * or those who wait for it might never get it. */
static uint32_t find_victim(const struct uvm_engine *e)
{
    const struct uvm_driver *d = &e->driver;
    uint32_t block = e->blocks.oldest;
    while (block != UVM_NO_BLOCK &&
           (e->busy[block] || (!d->setting_up && d->of[block].served == d->batch_number)))
        block = e->blocks.places[block].newer;
    return block;
}

static void copy_block(struct uvm_engine *e)
{
    struct uvm_driver *d = &e->driver;
    uint32_t copies;
    const uint64_t bytes = uvm_block_bytes(e, d->block, d->wanted, &copies);
    if (bytes == 0) {
        sleep_for(e, 0.0, DRIVER_MOVING);
        return;
    }
    d->state = DRIVER_MOVING;
    uvm_link_send(&e->to_gpu, UVM_BULK, e->now_ps, (double)bytes * e->in_ps, UVM_JOB_COPY,
                  d->block);
}

/* The block has a chunk: its copies are set up, then go over the link. */
static void prepare_copies(struct uvm_engine *e)
{
    struct uvm_driver *d = &e->driver;
    uint32_t copies;
    (void)uvm_block_bytes(e, d->block, d->wanted, &copies);
    e->busy[d->block] = true;
    if (d->setting_up || copies == 0) {
        copy_block(e);
        return;
    }
    e->result.copies += copies;
    sleep_for(e, copies * e->machine->copy_s, DRIVER_COPYING);
}

/* Gives the block memory.  False: there is none to be had. */
static bool make_room(struct uvm_engine *e, bool pinned)
{
    struct uvm_driver *d = &e->driver;
    if (pinned && e->blocks.used + e->reserve >= e->blocks.chunks)
        return false;
    if (e->blocks.places[d->block].has_chunk || uvm_chunk_take(&e->blocks, d->block, pinned)) {
        prepare_copies(e);
        return true;
    }
    const uint32_t victim = pinned ? UVM_NO_BLOCK : find_victim(e);
    if (victim == UVM_NO_BLOCK)
        return false;
    d->state = DRIVER_EVICTING;
    if (!uvm_block_evict(e, victim, UVM_JOB_EVICT))
        sleep_for(e, 0.0, DRIVER_EVICTING);
    return true;
}

/* Goes to the next block of the batch. */
static void next_of_batch(struct uvm_engine *e)
{
    struct uvm_driver *d = &e->driver;
    while (d->batch_at < d->batch_count) {
        const uint32_t at = d->batch_at++;
        const uint32_t block = d->batch[at].leaf >> e->leaf_shift;
        if (d->of[block].first != at || !gather(e, at, block))
            continue;
        d->block = block;
        if (make_room(e, false))
            return;
        break; /* all memory belongs to this batch: the rest waits for the next one */
    }
    end_batch(e);
}

/* ---- before the first kernel ---- */

static bool is_placed_ahead(const struct uvm_input *in, size_t allocation, uint32_t block)
{
    const struct uvm_allocation *a = &in->allocations[allocation];
    return a->populated &&
           ((a->placement == UVM_AHEAD && (a->ahead_blocks == 0 || block < a->ahead_blocks)) ||
            (a->placement == UVM_PINNED && block >= a->pinned_first &&
             block - a->pinned_first < a->pinned_blocks));
}

static void next_of_setup(struct uvm_engine *e)
{
    struct uvm_driver *d = &e->driver;
    while (d->setup_allocation < e->in->allocation_count) {
        const size_t allocation = d->setup_allocation;
        const uint32_t block = d->setup_block++;
        if (block >= e->in->allocations[allocation].blocks) {
            d->setup_allocation++;
            d->setup_block = 0;
            continue;
        }
        if (!is_placed_ahead(e->in, allocation, block))
            continue;
        d->block = e->allocation_first[allocation] + block;
        memset(d->wanted, 0, e->blocks.words * sizeof *d->wanted);
        uvm_mask_fill(d->wanted, 0, e->blocks.leaves);
        if (make_room(e, e->in->allocations[allocation].placement == UVM_PINNED))
            return;
    }
    d->setting_up = false;
    d->state = DRIVER_IDLE;
    uvm_setup_finish(e);
}

void uvm_driver_setup(struct uvm_engine *e)
{
    e->driver.setting_up = true;
    next_of_setup(e);
}

/* ---- what it waits for ---- */

static void next_block(struct uvm_engine *e)
{
    if (e->driver.setting_up)
        next_of_setup(e);
    else
        next_of_batch(e);
}

void uvm_driver_wake(struct uvm_engine *e)
{
    const enum uvm_driver_state state = e->driver.state;
    e->driver.wake_ps = SC_SIM_NEVER_PS;
    if (state == DRIVER_COPYING)
        copy_block(e);
    else if (state == DRIVER_MOVING)
        uvm_driver_moved(e);
    else if (state == DRIVER_EVICTING)
        uvm_driver_evicted(e);
    else
        next_of_batch(e);
}

void uvm_driver_evicted(struct uvm_engine *e)
{
    /* A promotion may have taken the chunk meanwhile; then one more has to go. */
    if (!make_room(e, false))
        next_block(e);
}

void uvm_driver_moved(struct uvm_engine *e)
{
    struct uvm_driver *d = &e->driver;
    const uint32_t block = d->block;
    e->busy[block] = false;
    d->of[block].served = d->batch_number;
    uvm_block_arrive(e, block, d->wanted);
    d->block = UVM_NO_BLOCK;
    next_block(e);
}
