/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/uvm_engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/uvm_engine_private.h"

/* A run with more of it does little but move the same blocks. */
enum { WORK_PER_LEAF = 64, WORK_LEAST = 100000000 };
static const double WORK_MAX = 4e9;

enum { BLOCKS_MAX = 1 << 26, SLOTS_MAX = 1 << 20 };

/* ---- blocks ---- */

uint64_t uvm_block_bytes(const struct uvm_engine *e, uint32_t block, const uint64_t *leaves,
                         uint32_t *copies)
{
    const uint64_t *populated = uvm_mask(&e->blocks, UVM_POPULATED, block);
    const uint64_t *resident = uvm_mask(&e->blocks, UVM_RESIDENT, block);
    uint64_t moved[UVM_WORDS_MAX];
    for (uint32_t i = 0; i < e->blocks.words; i++)
        moved[i] = leaves[i] & populated[i] & ~resident[i];
    *copies = uvm_mask_runs(moved, e->blocks.words);
    return (uint64_t)uvm_mask_count(moved, e->blocks.words) * e->machine->leaf_bytes;
}

void uvm_block_arrive(struct uvm_engine *e, uint32_t block, const uint64_t *leaves)
{
    struct uvm_blocks *b = &e->blocks;
    uint64_t *resident = uvm_mask(b, UVM_RESIDENT, block);
    uint64_t *populated = uvm_mask(b, UVM_POPULATED, block);
    uint64_t *dirty = uvm_mask(b, UVM_DIRTY, block), *seen = uvm_mask(b, UVM_SEEN, block);
    uint64_t moved = 0, again = 0, created = 0, before = 0;
    for (uint32_t i = 0; i < b->words; i++) {
        const uint64_t came = leaves[i] & populated[i], made = leaves[i] & ~populated[i];
        before |= resident[i];
        moved += (uint64_t)__builtin_popcountll(came);
        again += (uint64_t)__builtin_popcountll(came & seen[i]);
        created += (uint64_t)__builtin_popcountll(made);
        resident[i] |= leaves[i];
        populated[i] |= made;
        dirty[i] |= made; /* the host has no copy of it */
        seen[i] |= leaves[i];
    }
    const uint64_t leaf = e->machine->leaf_bytes;
    e->result.in_bytes += moved * leaf;
    e->result.refetched_bytes += again * leaf;
    e->result.first_bytes += (moved - again) * leaf;
    e->result.created_bytes += created * leaf;
    e->result.resident_bytes += (moved + created) * leaf;
    uvm_chunk_renew(b, block);
    if (b->used > e->result.most_chunks)
        e->result.most_chunks = b->used;
    if (before == 0 && e->placement[block] == UVM_COUNTED)
        uvm_adaptive_arrived(e, block);
    if (e->records != NULL && e->records[block].arrived_ps == SC_SIM_NEVER_PS)
        e->records[block].arrived_ps = e->now_ps;
}

bool uvm_block_evict(struct uvm_engine *e, uint32_t block, enum uvm_job_kind kind)
{
    struct uvm_blocks *b = &e->blocks;
    uint64_t *resident = uvm_mask(b, UVM_RESIDENT, block), *dirty = uvm_mask(b, UVM_DIRTY, block);
    uint64_t *used = uvm_mask(b, UVM_USED, block);
    uint64_t leaves = 0, written = 0, unused = 0;
    for (uint32_t i = 0; i < b->words; i++) {
        leaves += (uint64_t)__builtin_popcountll(resident[i]);
        written += (uint64_t)__builtin_popcountll(resident[i] & dirty[i]);
        unused += (uint64_t)__builtin_popcountll(resident[i] & ~used[i]);
        resident[i] = dirty[i] = used[i] = 0;
    }
    const uint64_t leaf = e->machine->leaf_bytes;
    const uint64_t copied = e->machine->write_back_clean ? leaves : written;
    e->result.evictions++;
    e->result.resident_bytes -= leaves * leaf;
    e->result.unused_bytes += unused * leaf;
    e->result.dropped_bytes += (leaves - copied) * leaf;
    if (e->records != NULL)
        e->records[block].evicted_ps = e->now_ps;
    uvm_chunk_leave(b, block);
    if (copied == 0) {
        uvm_chunk_give(b);
        return false;
    }
    e->result.leaving_bytes += copied * leaf;
    e->leaving[block] += (uint32_t)(copied * leaf);
    uvm_link_send(&e->to_host, UVM_BULK, e->now_ps, (double)(copied * leaf) * e->out_ps,
                  (uint32_t)kind, block);
    return true;
}

void uvm_block_gone(struct uvm_engine *e, uint32_t block)
{
    e->result.leaving_bytes -= e->leaving[block];
    e->result.out_bytes += e->leaving[block];
    e->leaving[block] = 0;
    uvm_chunk_give(&e->blocks);
}

/* ---- visits ---- */

/* The next visit of the kernel for a slot; false: it has exited. */
static bool take_visit(struct uvm_engine *e, struct uvm_slot *slot)
{
    if (!uvm_source_next(&e->source, &slot->visit))
        return false;
    slot->at = 0;
    slot->left = slot->visit.leaf_bytes;
    e->result.visits++;
    return true;
}

/* Bytes of the next `leaves` leaves of the visit. */
static uint64_t bytes_ahead(const struct uvm_slot *slot, uint32_t leaves)
{
    return slot->left + (uint64_t)(leaves - 1) * slot->visit.leaf_bytes;
}

/* The device works on the bytes of the slot's job. */
static void work_on_job(struct uvm_engine *e, uint32_t id)
{
    const struct uvm_slot *slot = &e->slots[id];
    struct uvm_lane *lane = &e->device;
    const double now_ps = (double)e->now_ps;
    e->device_free_ps = (e->device_free_ps + 1.0 > now_ps ? e->device_free_ps : now_ps) +
                        (double)slot->job_bytes * e->device_ps;
    const uint64_t done_ps = sc_sim_ps_round(fmax(now_ps, e->device_free_ps));
    lane->items[(lane->head + lane->count++) & (lane->capacity - 1)] =
        (struct uvm_lane_item){ done_ps, id };
}

static void touch_device(struct uvm_engine *e, uint32_t id, uint32_t block, uint32_t leaf,
                         uint32_t leaves)
{
    struct uvm_slot *slot = &e->slots[id];
    slot->job_leaves = leaves;
    slot->job_bytes = bytes_ahead(slot, leaves);
    uvm_mask_fill(uvm_mask(&e->blocks, UVM_USED, block), leaf, leaves);
    if (slot->visit.write)
        uvm_mask_fill(uvm_mask(&e->blocks, UVM_DIRTY, block), leaf, leaves);
    work_on_job(e, id);
}

static void touch_mapped(struct uvm_engine *e, uint32_t id, uint32_t block, uint32_t most)
{
    struct uvm_slot *slot = &e->slots[id];
    const uint32_t quantum = e->machine->quantum_bytes;
    if (slot->left >= quantum) {
        slot->job_leaves = slot->left == quantum ? 1 : 0;
        slot->job_bytes = quantum;
    } else {
        const uint32_t more = (quantum - slot->left) / slot->visit.leaf_bytes;
        slot->job_leaves = more + 1 < most ? more + 1 : most;
        slot->job_bytes = bytes_ahead(slot, slot->job_leaves);
    }
    const double cost = slot->visit.random ? e->machine->random_cost : 1.0;
    e->remote++;
    uvm_link_send(slot->visit.write ? &e->to_host : &e->to_gpu, UVM_REMOTE, e->now_ps,
                  (double)slot->job_bytes * e->mapped_ps * cost, UVM_JOB_VISIT, id);
    e->result.mapped_bytes += slot->job_bytes;
    if (e->placement[block] == UVM_COUNTED)
        uvm_adaptive_count(e, block,
                           (slot->job_bytes - 1) / e->machine->access_bytes + 1);
}

static void fault(struct uvm_engine *e, uint32_t id, uint32_t leaf)
{
    struct uvm_slot *slot = &e->slots[id];
    const uint32_t touched =
        slot->left < e->machine->leaf_bytes ? slot->left : e->machine->leaf_bytes;
    const uint32_t entries = slot->visit.random ? 1 : (touched - 1) / e->machine->fault_bytes + 1;
    uvm_driver_fault(e, id, leaf, entries);
}

static void note_touch(struct uvm_engine *e, uint32_t block)
{
    struct uvm_record *record = &e->records[block];
    if (record->asked_ps == SC_SIM_NEVER_PS)
        record->asked_ps = e->now_ps;
}

void uvm_slot_advance(struct uvm_engine *e, uint32_t id)
{
    struct uvm_slot *slot = &e->slots[id];
    if (slot->at == slot->visit.leaves && !take_visit(e, slot)) {
        e->active--;
        return;
    }
    const uint32_t leaf = slot->visit.leaf + slot->at, most = slot->visit.leaves - slot->at;
    const uint32_t block = leaf >> e->leaf_shift, in_block = leaf & (e->blocks.leaves - 1);
    const uint64_t *resident = uvm_mask(&e->blocks, UVM_RESIDENT, block);
    const uint32_t alike = most == 1 ? 1 : uvm_mask_alike(resident, in_block, most);
    if (e->records != NULL)
        note_touch(e, block);
    if (uvm_mask_has(resident, in_block)) {
        touch_device(e, id, block, in_block, alike);
        return;
    }
    const int placement = e->placement[block];
    if (placement == UVM_FAULTED || placement == UVM_AHEAD) {
        if (e->machine->reads_evicted &&
            uvm_mask_has(uvm_mask(&e->blocks, UVM_SEEN, block), in_block))
            touch_mapped(e, id, block, 1);
        else
            fault(e, id, leaf);
    } else if (placement == UVM_COUNTED && uvm_adaptive_wait(e, block, id)) {
        return;
    } else if (placement == UVM_COUNTED && !e->all_populated) {
        if (uvm_mask_has(uvm_mask(&e->blocks, UVM_POPULATED, block), in_block))
            touch_mapped(e, id, block, 1);
        else
            fault(e, id, leaf);
    } else {
        touch_mapped(e, id, block, alike);
    }
}

void uvm_slot_finish(struct uvm_engine *e, uint32_t id)
{
    struct uvm_slot *slot = &e->slots[id];
    e->kernel_bytes += slot->job_bytes;
    e->sample_bytes += slot->job_bytes;
    if (e->records != NULL) {
        struct uvm_record *record =
            &e->records[(slot->visit.leaf + slot->at) >> e->leaf_shift];
        if (record->first_use_ps == SC_SIM_NEVER_PS)
            record->first_use_ps = e->now_ps;
        record->last_use_ps = e->now_ps;
    }
    if (slot->job_leaves == 0) {
        slot->left -= (uint32_t)slot->job_bytes;
    } else {
        slot->at += slot->job_leaves;
        slot->left = slot->visit.leaf_bytes;
    }
    uvm_slot_advance(e, id);
}

/* ---- kernels ---- */

static void launch(struct uvm_engine *e)
{
    e->launch_ps = sc_sim_ps_add(e->now_ps, sc_sim_ps_from_s(e->machine->launch_s));
}

void uvm_setup_finish(struct uvm_engine *e)
{
    e->result.setup_s = (double)e->now_ps * 1e-12;
    e->result.setup_bytes = e->result.in_bytes;
    launch(e);
}

/* What was before is not measured: it is taken off at the end. */
static void start_measuring(struct uvm_engine *e)
{
    e->before = e->result;
    e->before_ps = e->now_ps;
    memcpy(e->before_activity_ps, e->activity_ps, sizeof e->activity_ps);
}

static uint64_t placing_ps(const struct uvm_engine *e)
{
    return e->activity_ps[UVM_SERVING] + e->activity_ps[UVM_EVICTING] +
           e->activity_ps[UVM_MIGRATING];
}

static void start_kernel(struct uvm_engine *e)
{
    if (e->in->skip != UVM_SKIP_NOTHING &&
        e->kernels == (e->in->skip == UVM_SKIP_FIRST_KERNEL ? 1 : 0))
        start_measuring(e);
    e->kernels++;
    e->kernel_placing_ps = placing_ps(e);
    e->launch_ps = SC_SIM_NEVER_PS;
    e->kernel_ps = e->now_ps;
    e->kernel_bytes = 0;
    e->active = e->slot_count;
    for (uint32_t i = 0; i < e->slot_count; i++) {
        e->slots[i].at = e->slots[i].visit.leaves = 0;
        uvm_slot_advance(e, i);
    }
}

static void end_kernel(struct uvm_engine *e)
{
    struct uvm_result *r = &e->result;
    const uint32_t at = r->phases < UVM_PHASES_MAX ? r->phases++ : UVM_PHASES_MAX - 1;
    r->phase_s[at] = (double)(e->now_ps - e->kernel_ps) * 1e-12;
    r->phase_bytes[at] = (double)e->kernel_bytes;
    r->phase_placing_s[at] = (double)(placing_ps(e) - e->kernel_placing_ps) * 1e-12;
    r->touched_bytes += e->kernel_bytes;
    if (uvm_source_advance(&e->source))
        launch(e);
    else
        e->finished = true;
}

/* ---- time ---- */

static enum uvm_activity activity(const struct uvm_engine *e)
{
    if (e->device.count > 0)
        return UVM_DEVICE;
    if (e->driver.state == DRIVER_EVICTING)
        return UVM_EVICTING;
    if (e->driver.state == DRIVER_MOVING)
        return UVM_MIGRATING;
    if (e->driver.state != DRIVER_IDLE)
        return UVM_SERVING;
    if (e->remote > 0)
        return UVM_REMOTE_READ;
    return e->adaptive.waiting_count > 0 ? UVM_MIGRATING : UVM_LAUNCHING;
}

static void sample(struct uvm_engine *e, uint64_t until_ps)
{
    while (e->sample_next_ps <= until_ps) {
        if (e->result.sample_count < e->in->sample_room)
            e->in->samples[e->result.sample_count++] = (double)e->sample_bytes;
        e->sample_bytes = 0;
        e->sample_next_ps = e->result.sample_count < e->in->sample_room
                                ? sc_sim_ps_add(e->sample_next_ps, e->sample_ps)
                                : SC_SIM_NEVER_PS;
        if (e->sample_next_ps == SC_SIM_NEVER_PS)
            return;
    }
}

static void move_clock(struct uvm_engine *e, uint64_t to_ps)
{
    e->activity_ps[activity(e)] += to_ps - e->now_ps;
    if (e->sample_next_ps <= to_ps)
        sample(e, to_ps);
    e->now_ps = to_ps;
}

static void finish_job(struct uvm_engine *e, struct uvm_link *link)
{
    const struct uvm_job job = uvm_link_finish(link);
    switch ((enum uvm_job_kind)job.kind) {
    case UVM_JOB_VISIT:
        e->remote--;
        work_on_job(e, job.id);
        break;
    case UVM_JOB_COPY:
        uvm_driver_moved(e);
        break;
    case UVM_JOB_EVICT:
        uvm_block_gone(e, job.id);
        uvm_driver_evicted(e);
        break;
    case UVM_JOB_PROMOTE:
        uvm_adaptive_promoted(e, job.id);
        break;
    case UVM_JOB_RECLAIM:
        uvm_adaptive_reclaimed(e, job.id);
        break;
    }
}

enum event { NOTHING, DEVICE, TO_GPU, TO_HOST, DRIVER, LAUNCH, TICK };

/* The next event and when it is; of those at the same time, in this order. */
static enum event next_event(const struct uvm_engine *e, uint64_t *at_ps)
{
    enum event what = NOTHING;
    *at_ps = SC_SIM_NEVER_PS;
    if (e->device.count > 0)
        *at_ps = e->device.items[e->device.head].time_ps, what = DEVICE;
    if (e->to_gpu.done_ps < *at_ps)
        *at_ps = e->to_gpu.done_ps, what = TO_GPU;
    if (e->to_host.done_ps < *at_ps)
        *at_ps = e->to_host.done_ps, what = TO_HOST;
    if (e->driver.wake_ps < *at_ps)
        *at_ps = e->driver.wake_ps, what = DRIVER;
    if (e->launch_ps < *at_ps)
        *at_ps = e->launch_ps, what = LAUNCH;
    /* A tick alone is no progress. */
    if (what != NOTHING && e->adaptive.tick_ps < *at_ps)
        *at_ps = e->adaptive.tick_ps, what = TICK;
    return what;
}

static void finish_device(struct uvm_engine *e)
{
    struct uvm_lane *lane = &e->device;
    const uint32_t slot = lane->items[lane->head].slot;
    lane->head = (lane->head + 1) & (lane->capacity - 1);
    lane->count--;
    uvm_slot_finish(e, slot);
}

static void handle(struct uvm_engine *e, enum event what)
{
    switch (what) {
    case DEVICE:
        finish_device(e);
        break;
    case TO_GPU:
        finish_job(e, &e->to_gpu);
        break;
    case TO_HOST:
        finish_job(e, &e->to_host);
        break;
    case DRIVER:
        uvm_driver_wake(e);
        break;
    case LAUNCH:
        start_kernel(e);
        break;
    case TICK:
        uvm_adaptive_tick(e);
        break;
    case NOTHING:
        break;
    }
}

/* False: the run has ended, or nothing is left that could happen. */
static bool step(struct uvm_engine *e)
{
    uint64_t at_ps;
    const enum event what = next_event(e, &at_ps);
    if (what == NOTHING || ++e->work > e->work_max)
        return false;
    move_clock(e, at_ps);
    handle(e, what);
    e->result.events++;
    if (e->active == 0 && e->launch_ps == SC_SIM_NEVER_PS && !e->driver.setting_up && !e->finished)
        end_kernel(e);
    return !e->finished;
}

/* ---- beginning ---- */

static const char *fault_of_machine(const struct uvm_input *in)
{
    const struct uvm_machine *m = in->machine;
    const struct uvm_counter_policy *c = in->counters;
    if (m->leaf_bytes == 0 || m->block_bytes % m->leaf_bytes != 0 ||
        m->block_bytes / m->leaf_bytes > 64 * UVM_WORDS_MAX ||
        (m->block_bytes / m->leaf_bytes & (m->block_bytes / m->leaf_bytes - 1)) != 0)
        return "the leaves of a region are not 1, 2, 4, ... 512";
    if (!(m->capacity_bytes >= m->block_bytes))
        return "the memory does not hold a region";
    if (!(m->device_bytes_per_s > 0.0 && m->in_bytes_per_s > 0.0 && m->out_bytes_per_s > 0.0 &&
          m->mapped_bytes_per_s > 0.0 && m->random_cost > 0.0))
        return "a rate is not above 0";
    if (m->batch_entries == 0 || m->fault_bytes == 0 || m->access_bytes == 0 ||
        m->quantum_bytes == 0 || m->in_flight == 0 || m->in_flight > SLOTS_MAX)
        return "a size or number of the machine is 0, or too many touches are in flight";
    for (size_t i = 0; c == NULL && i < in->allocation_count; i++)
        if (in->allocations[i].placement == UVM_COUNTED)
            return "counters have no policy";
    if (c != NULL && (c->counters == 0 || c->counters >= UINT16_MAX || c->threshold == 0 ||
                      !(c->interval_s > 0.0) || !(c->score_decay_s > 0.0)))
        return "counters, their threshold or an interval is 0";
    return NULL;
}

static enum sc_status set_up_places(struct uvm_engine *e, uint32_t blocks)
{
    const struct uvm_input *in = e->in;
    bool shared = false;
    e->placement = calloc(blocks, sizeof *e->placement);
    e->allocation_of = calloc(blocks, sizeof *e->allocation_of);
    e->busy = calloc(blocks, sizeof *e->busy);
    e->leaving = calloc(blocks, sizeof *e->leaving);
    e->allocation_first = calloc(in->allocation_count, sizeof *e->allocation_first);
    e->allocation_end = calloc(in->allocation_count, sizeof *e->allocation_end);
    if (e->placement == NULL || e->allocation_of == NULL || e->busy == NULL ||
        e->leaving == NULL || e->allocation_first == NULL || e->allocation_end == NULL)
        return SC_ENOSPACE;
    e->all_populated = true;
    uint32_t block = 0;
    for (uint32_t i = 0; i < in->allocation_count; i++) {
        const struct uvm_allocation *a = &in->allocations[i];
        e->allocation_first[i] = block;
        e->allocation_end[i] = block + a->blocks;
        /* What is mapped is created with the host. */
        const bool populated = a->populated || a->placement == UVM_MAPPED ||
                               a->placement == UVM_PINNED;
        e->all_populated = e->all_populated && populated;
        e->counts = e->counts || a->placement == UVM_COUNTED;
        shared = shared || (a->placement != UVM_PINNED && a->placement != UVM_MAPPED);
        for (; block < e->allocation_end[i]; block++) {
            e->placement[block] = (uint8_t)a->placement;
            e->allocation_of[block] = i;
            if (populated)
                uvm_mask_fill(uvm_mask(&e->blocks, UVM_POPULATED, block), 0, e->blocks.leaves);
        }
    }
    e->reserve = shared ? 1 : 0;
    return SC_OK;
}

static enum sc_status set_up_slots(struct uvm_engine *e)
{
    const double visits = uvm_visits(e->in->steps, e->in->step_count);
    e->slot_count = (uint32_t)fmax(1.0, fmin(visits, e->machine->in_flight));
    e->device.capacity = 1;
    while (e->device.capacity < e->slot_count)
        e->device.capacity *= 2;
    e->slots = calloc(e->slot_count, sizeof *e->slots);
    e->device.items = calloc(e->device.capacity, sizeof *e->device.items);
    return e->slots != NULL && e->device.items != NULL ? SC_OK : SC_ENOSPACE;
}

static enum sc_status set_up_records(struct uvm_engine *e)
{
    if (!e->in->record)
        return SC_OK;
    e->records = malloc(e->blocks.count * sizeof *e->records);
    if (e->records == NULL)
        return SC_ENOSPACE;
    e->recorded = e->blocks.count;
    for (uint32_t i = 0; i < e->recorded; i++)
        e->records[i] = (struct uvm_record){ SC_SIM_NEVER_PS, SC_SIM_NEVER_PS, SC_SIM_NEVER_PS,
                                             SC_SIM_NEVER_PS, SC_SIM_NEVER_PS };
    return SC_OK;
}

static void set_up_rates(struct uvm_engine *e)
{
    const struct uvm_machine *m = e->machine;
    e->device_ps = 1e12 / m->device_bytes_per_s;
    e->in_ps = 1e12 / m->in_bytes_per_s;
    e->out_ps = 1e12 / m->out_bytes_per_s;
    e->mapped_ps = 1e12 / m->mapped_bytes_per_s;
    const double visits = uvm_visits(e->in->steps, e->in->step_count);
    e->work_max = (uint64_t)fmin(WORK_MAX, WORK_LEAST + WORK_PER_LEAF * visits * e->blocks.leaves);
    e->launch_ps = e->sample_next_ps = SC_SIM_NEVER_PS;
    if (e->in->sample_room > 0) {
        e->sample_ps = sc_sim_ps_from_s(e->in->sample_s);
        e->sample_next_ps = e->sample_ps > 0 ? e->sample_ps : SC_SIM_NEVER_PS;
    }
}

static bool ranges_fit(const struct uvm_input *in, double leaves)
{
    for (size_t i = 0; i < in->step_count; i++)
        if ((double)in->steps[i].first_leaf + in->steps[i].leaves > leaves ||
            (in->steps[i].side_visits > 0.0 &&
             (double)in->steps[i].side_first + in->steps[i].side_leaves > leaves))
            return false;
    return true;
}

static enum sc_status set_up(struct uvm_engine *e)
{
    const struct uvm_input *in = e->in;
    const uint32_t leaves = e->machine->block_bytes / e->machine->leaf_bytes;
    double blocks = 0.0;
    for (size_t i = 0; i < in->allocation_count; i++)
        blocks += in->allocations[i].blocks;
    if (!(blocks <= BLOCKS_MAX && blocks * leaves < UINT32_MAX))
        return SC_ERANGE;
    if (!(blocks >= 1.0) || !ranges_fit(in, blocks * leaves)) {
        e->result.waiting = "a step that leaves the allocations";
        return SC_EDOMAIN;
    }
    const double chunks = fmin(UINT32_MAX, floor(e->machine->capacity_bytes / e->machine->block_bytes));
    enum sc_status status = uvm_blocks_init(&e->blocks, (uint32_t)blocks, leaves, (uint32_t)chunks);
    e->leaf_shift = (uint32_t)__builtin_ctz(leaves);
    if (status == SC_OK)
        status = uvm_source_init(&e->source, in->steps, in->step_count, leaves, in->rng);
    if (status == SC_OK)
        status = set_up_places(e, (uint32_t)blocks);
    if (status == SC_OK)
        status = set_up_slots(e);
    if (status == SC_OK)
        status = set_up_records(e);
    if (status == SC_OK)
        status = uvm_driver_init(e);
    if (status == SC_OK)
        status = uvm_adaptive_init(e);
    set_up_rates(e);
    return status;
}

/* Frees what a run has; its records stay until the next one. */
static void tear_down(struct uvm_engine *e)
{
    uvm_blocks_fini(&e->blocks);
    uvm_source_fini(&e->source);
    uvm_driver_fini(e);
    uvm_adaptive_fini(e);
    free(e->placement);
    free(e->allocation_of);
    free(e->allocation_first);
    free(e->allocation_end);
    free(e->busy);
    free(e->leaving);
    free(e->slots);
    free(e->device.items);
    e->placement = NULL;
    e->allocation_of = e->allocation_first = e->allocation_end = e->leaving = NULL;
    e->busy = NULL;
    e->slots = NULL;
    e->device = (struct uvm_lane){ 0 };
}

struct uvm_engine *uvm_engine_create(void)
{
    return calloc(1, sizeof(struct uvm_engine));
}

void uvm_engine_destroy(struct uvm_engine *e)
{
    if (e == NULL)
        return;
    tear_down(e);
    uvm_link_fini(&e->to_gpu);
    uvm_link_fini(&e->to_host);
    free(e->records);
    free(e);
}

/* ---- results ---- */

static const char *what_waits(const struct uvm_engine *e)
{
    if (e->driver.setting_up)
        return "placement before the first kernel";
    if (e->driver.count > 0 || e->driver.batch_at < e->driver.batch_count)
        return "faults that the driver does not serve";
    if (e->remote > 0)
        return "mapped accesses that the link does not serve";
    if (e->adaptive.waiting_count > 0)
        return "touches of a block that is promoted";
    return "touches in flight";
}

static void measure(struct uvm_engine *e)
{
    struct uvm_result *r = &e->result;
    const double time_s = (double)e->now_ps * 1e-12;
    r->time_s = time_s;
    for (int i = 0; i < UVM_ACTIVITIES; i++)
        r->activity_s[i] = (double)e->activity_ps[i] * 1e-12;
    if (e->now_ps > 0) {
        r->little_error = fmax(uvm_link_error(&e->to_gpu, e->now_ps),
                               uvm_link_error(&e->to_host, e->now_ps));
        r->link_in_busy = e->to_gpu.busy_ps / (double)e->now_ps;
        r->link_out_busy = e->to_host.busy_ps / (double)e->now_ps;
    }
}

/* The measured part of the whole: what adds up is less what was before. */
static void cut_to_measured(struct uvm_engine *e)
{
    struct uvm_result *r = &e->result;
    const struct uvm_result *b = &e->before;
    r->time_s -= (double)e->before_ps * 1e-12;
    for (int i = 0; i < UVM_ACTIVITIES; i++)
        r->activity_s[i] = (double)(e->activity_ps[i] - e->before_activity_ps[i]) * 1e-12;
    r->visits -= b->visits;
    r->touched_bytes -= b->touched_bytes;
    r->in_bytes -= b->in_bytes;
    r->out_bytes -= b->out_bytes;
    r->created_bytes -= b->created_bytes;
    r->dropped_bytes -= b->dropped_bytes;
    r->unused_bytes -= b->unused_bytes;
    r->mapped_bytes -= b->mapped_bytes;
    r->entries -= b->entries;
    r->faults -= b->faults;
    r->batches -= b->batches;
    r->copies -= b->copies;
    r->evictions -= b->evictions;
    r->reclaimed -= b->reclaimed;
    r->promotions -= b->promotions;
    r->notifications -= b->notifications;
    r->halted -= b->halted;
}

static const char *failed_check(const struct uvm_engine *e)
{
    const struct uvm_result *r = &e->result;
    uint64_t leaves = 0, chunks = 0, active_ps = 0;
    for (uint32_t i = 0; i < e->blocks.count; i++) {
        const uint32_t here = uvm_mask_count(uvm_mask(&e->blocks, UVM_RESIDENT, i), e->blocks.words);
        leaves += here;
        chunks += e->blocks.places[i].has_chunk;
        if (here > 0 && !e->blocks.places[i].has_chunk)
            return "check failed: a resident leaf has no memory";
        chunks += e->leaving[i] > 0;
    }
    for (int i = 0; i < UVM_ACTIVITIES; i++)
        active_ps += e->activity_ps[i];
    if (leaves * e->machine->leaf_bytes != r->resident_bytes)
        return "check failed: resident bytes differ from resident leaves";
    if (r->in_bytes + r->created_bytes !=
        r->out_bytes + r->leaving_bytes + r->dropped_bytes + r->resident_bytes)
        return "check failed: bytes in differ from bytes out and resident";
    if (r->first_bytes + r->refetched_bytes != r->in_bytes)
        return "check failed: bytes in differ from those fetched first and again";
    if (chunks != e->blocks.used || r->most_chunks > e->blocks.chunks)
        return "check failed: memory handed out differs from memory held";
    if (active_ps != e->now_ps)
        return "check failed: the parts of the time do not sum to it";
    if (!(r->little_error <= 0.005))
        return "check failed: Little's law on the link";
    return NULL;
}

static enum sc_status conclude(struct uvm_engine *e)
{
    if (e->to_gpu.failed != SC_OK || e->to_host.failed != SC_OK)
        return SC_ENOSPACE;
    if (e->work > e->work_max || e->now_ps >= SC_SIM_NEVER_PS / 2)
        return SC_ERANGE;
    if (!e->finished) {
        e->result.waiting = what_waits(e);
        return SC_EDOMAIN;
    }
    measure(e);
    if (e->in->check)
        e->result.waiting = failed_check(e);
    cut_to_measured(e);
    return e->result.waiting == NULL ? SC_OK : SC_EDOMAIN;
}

enum sc_status uvm_engine_run(struct uvm_engine *e, const struct uvm_input *input,
                              struct uvm_result *result)
{
    enum sc_status status = SC_EDOMAIN;
    tear_down(e);
    free(e->records);
    const struct uvm_link to_gpu = e->to_gpu, to_host = e->to_host; /* their memory is kept */
    *e = (struct uvm_engine){ .in = input, .machine = input->machine, .to_gpu = to_gpu,
                              .to_host = to_host };
    uvm_link_clear(&e->to_gpu);
    uvm_link_clear(&e->to_host);
    e->rng = sc_sim_rng_make(input->rng.state[0], input->rng.state[1], 1);
    e->result.waiting = fault_of_machine(input);
    if (e->result.waiting == NULL)
        status = set_up(e);
    if (status == SC_OK) {
        uvm_driver_setup(e);
        while (step(e)) {
        }
        status = conclude(e);
    }
    *result = e->result;
    tear_down(e);
    return status;
}

void uvm_engine_records(const struct uvm_engine *e, const char *name,
                        const struct sc_sim_options *options)
{
    for (uint32_t i = 0; i < e->recorded; i++) {
        const struct uvm_record *r = &e->records[i];
        const struct sc_sim_record record = { .kernel = name, .unit = i, .asked_ps = r->asked_ps,
                                              .arrived_ps = r->arrived_ps,
                                              .first_use_ps = r->first_use_ps,
                                              .last_use_ps = r->last_use_ps,
                                              .evicted_ps = r->evicted_ps };
        options->record(&record, options->context);
    }
}
