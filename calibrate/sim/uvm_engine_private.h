/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of the region simulator, which its three actors share: the GPU
 * (uvm_engine.c), the driver that serves faults (uvm_driver.c), and what counters
 * cause (uvm_adaptive.c). */
#ifndef SC_SIM_UVM_ENGINE_PRIVATE_H
#define SC_SIM_UVM_ENGINE_PRIVATE_H

#include "sim/event.h"
#include "sim/uvm_blocks.h"
#include "sim/uvm_engine.h"
#include "sim/uvm_link.h"

/* What a job of a link was for; its id is a block, of a visit its slot. */
enum uvm_job_kind { UVM_JOB_VISIT, UVM_JOB_COPY, UVM_JOB_EVICT, UVM_JOB_PROMOTE, UVM_JOB_RECLAIM };

/* A touch in flight and the visit it is part of. */
struct uvm_slot {
    struct uvm_visit visit;
    uint32_t at, left;      /* leaf of the visit; bytes of it still to touch */
    uint32_t job_leaves;    /* that are done when what it waits for is */
    uint64_t job_bytes;
};

enum uvm_driver_state { DRIVER_IDLE, DRIVER_SERVING, DRIVER_EVICTING, DRIVER_COPYING, DRIVER_MOVING };

struct uvm_fault {
    uint32_t slot, leaf, entries;
    uint32_t next; /* of the same block in the batch */
};

struct uvm_driver {
    enum uvm_driver_state state;
    uint64_t wake_ps;          /* end of a delay */
    struct uvm_fault *queue;   /* a ring of as many as there are slots */
    uint32_t head, count;
    struct uvm_fault *batch;
    uint32_t batch_count, batch_at, batch_number;
    struct uvm_batched {       /* per block */
        uint32_t stamp, first; /* the batch it is in, its first fault there */
        uint32_t served;       /* the batch that brought something of it in */
    } *of;
    uint32_t block;
    uint64_t wanted[UVM_WORDS_MAX];
    bool setting_up;
    size_t setup_allocation;
    uint32_t setup_block; /* within the allocation */
};

struct uvm_counter {
    uint32_t block, count;
    uint16_t older, newer; /* a list by last use; newer also chains free ones */
};

struct uvm_adaptive {
    const struct uvm_counter_policy *policy;
    struct uvm_counter *counters;
    uint16_t oldest, newest, unused;
    uint16_t *counter_of;      /* per block */
    bool *queued;              /* to be promoted */
    uint32_t *pending;         /* counts that its chunk will be given */
    uint32_t *queue;           /* a ring of all blocks */
    uint32_t queue_head, queue_count;
    bool in_span;
    uint32_t centre, span_at, span_end, moving; /* moving: UVM_NO_BLOCK or the one on its way */
    uint32_t *waiting, waiting_count;           /* slots that want the one on its way */
    uint64_t interval_ps, tick_ps, tick;
    bool reclaiming;           /* from the high watermark down to the low one */
    uint32_t leaving;          /* chunks on their way out */
    /* per block */
    uint32_t *demand;          /* as of the tick below, halving each tick */
    uint64_t *demand_tick;
    double *score;
    uint64_t *score_ps, *evicted_ps, *protected_ps;
    uint32_t *victims;
};

struct uvm_engine {
    const struct uvm_input *in;
    const struct uvm_machine *machine;
    struct uvm_blocks blocks;
    struct uvm_source source;
    struct sc_sim_rng rng;
    struct uvm_link to_gpu, to_host;
    struct uvm_driver driver;
    struct uvm_adaptive adaptive;

    uint64_t now_ps;
    uint32_t leaf_shift; /* leaf to block */
    uint8_t *placement;  /* per block */
    uint32_t *allocation_first, *allocation_end; /* per allocation, in blocks */
    uint32_t *allocation_of;                     /* per block */
    bool *busy;          /* blocks that are being moved in */
    uint32_t *leaving;   /* per block: bytes on their way out */
    bool counts;         /* some placement is by counters */
    bool all_populated;
    uint32_t reserve;    /* chunks that may not be pinned */

    struct uvm_slot *slots;
    uint32_t slot_count, active; /* active: with a visit */
    uint32_t remote;             /* waiting for mapped data */
    struct uvm_lane {
        struct uvm_lane_item {
            uint64_t time_ps;
            uint32_t slot;
        } *items;
        uint32_t head, count, capacity;
    } device; /* visits come out in the order in which they went in */
    double device_free_ps;
    double device_ps, in_ps, out_ps, mapped_ps; /* per byte */

    uint64_t launch_ps, kernel_ps; /* when a kernel starts; started */
    uint64_t kernel_bytes;
    uint64_t sample_ps, sample_next_ps, sample_bytes;
    uint64_t activity_ps[UVM_ACTIVITIES];
    uint32_t kernels;            /* started */
    uint64_t kernel_placing_ps;  /* of activity_ps when the kernel started */
    struct uvm_result before;    /* what is not measured */
    uint64_t before_ps, before_activity_ps[UVM_ACTIVITIES];
    uint64_t work, work_max; /* events, and what is counted as such */
    bool finished;
    enum sc_status failed;
    struct uvm_result result;

    struct uvm_record {
        uint64_t asked_ps, arrived_ps, first_use_ps, last_use_ps, evicted_ps;
    } *records;
    uint32_t recorded; /* blocks */
};

/* ---- the GPU ---- */

/* Goes on with the visit of a slot, or the next one. */
void uvm_slot_advance(struct uvm_engine *engine, uint32_t id);
/* The slot has touched what its job was for. */
void uvm_slot_finish(struct uvm_engine *engine, uint32_t id);
/* What was to be placed before the first kernel is. */
void uvm_setup_finish(struct uvm_engine *engine);

/* ---- blocks ---- */

/* Leaves of the block come to the GPU: those with a copy somewhere were moved, the
 * others are created. */
void uvm_block_arrive(struct uvm_engine *engine, uint32_t block, const uint64_t *leaves);
/* Bytes of those leaves that have a copy to be moved; its runs go to *copies. */
uint64_t uvm_block_bytes(const struct uvm_engine *engine, uint32_t block, const uint64_t *leaves,
                         uint32_t *copies);
/* Takes the block off the GPU; when its bytes are with the host, the job of that
 * kind ends.  False: there was nothing to copy, and the chunk is free already. */
bool uvm_block_evict(struct uvm_engine *engine, uint32_t block, enum uvm_job_kind kind);
/* That job has ended. */
void uvm_block_gone(struct uvm_engine *engine, uint32_t block);

/* ---- the driver ---- */

enum sc_status uvm_driver_init(struct uvm_engine *engine) SC_MUST_CHECK;
void uvm_driver_fini(struct uvm_engine *engine);
void uvm_driver_setup(struct uvm_engine *engine);
void uvm_driver_fault(struct uvm_engine *engine, uint32_t slot, uint32_t leaf, uint32_t entries);
/* Its delay, its eviction, its copy has ended. */
void uvm_driver_wake(struct uvm_engine *engine);
void uvm_driver_evicted(struct uvm_engine *engine);
void uvm_driver_moved(struct uvm_engine *engine);

/* ---- counters ---- */

enum sc_status uvm_adaptive_init(struct uvm_engine *engine) SC_MUST_CHECK;
void uvm_adaptive_fini(struct uvm_engine *engine);
/* Whether the block is on its way; then the slot goes on when it has come. */
bool uvm_adaptive_wait(struct uvm_engine *engine, uint32_t block, uint32_t slot);
/* Mapped touches of a block. */
void uvm_adaptive_count(struct uvm_engine *engine, uint32_t block, uint64_t touches);
void uvm_adaptive_arrived(struct uvm_engine *engine, uint32_t block);
void uvm_adaptive_promoted(struct uvm_engine *engine, uint32_t block);
void uvm_adaptive_reclaimed(struct uvm_engine *engine, uint32_t block);
void uvm_adaptive_tick(struct uvm_engine *engine);

#endif
