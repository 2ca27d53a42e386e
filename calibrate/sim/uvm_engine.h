/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A GPU whose data does not fit, region by region.
 *
 * So many touches are in flight at once.  Each takes the next page visit of the
 * workload and goes through its leaves: resident ones at the rate of the device
 * (one queue for all), mapped ones over the link and then at that rate too, and one
 * that is neither is a fault, which waits for the driver.  A visit looks again where its leaves are after
 * every quantum of mapped bytes and at every run of resident ones.
 *
 * The driver serves faults in batches: it takes what has been queued when it comes
 * free, pays for the batch and for each entry, and then goes from block to block:
 * evict the block that was faulted in longest ago if there is no chunk left, pay
 * for each copy, copy what the tree of the block says.  Whoever faulted goes on when
 * the batch ends.  A leaf that has no copy anywhere is created without one.
 *
 * With access counters, mapped touches are counted by block; who reaches the
 * threshold has the blocks around it promoted, one after the other, up to the high
 * watermark.  Every interval a pass of at most so many evictions makes room.
 *
 * Where the paper leaves it open (Ember, arXiv 2610.13408, sec. 5.3 and 6.1):
 *   - the notified block is promoted first, then its span in order of address;
 *   - a block that is being promoted is locked: who wants it waits until it has come;
 *   - the driver serves one thing after the other: evictions are on the way of
 *     faults (C1), promotions and eager evictions are not;
 *   - below the high watermark colder regions are replaced only above the low
 *     watermark, where room is scarce, or the data that fits would leave too;
 *   - the score halves at whole periods since it last changed.
 *
 * Times are whole picoseconds from the start; the kernel begins after what is placed
 * before it.  Independent of scenarios: plain structs in, plain structs out.
 */
#ifndef SC_SIM_UVM_ENGINE_H
#define SC_SIM_UVM_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/simulator.h"
#include "sim/uvm_workload.h"

struct uvm_engine;

struct uvm_machine {
    double capacity_bytes; /* usable; handed out in whole blocks */
    uint32_t block_bytes, leaf_bytes; /* powers of two, 1 to 512 leaves in a block */
    double device_bytes_per_s;
    double in_bytes_per_s, out_bytes_per_s; /* migration to the GPU and back */
    double mapped_bytes_per_s;              /* of linear zero-copy accesses */
    double random_cost;   /* link time of a random mapped access over that of a linear one */
    double batch_s;       /* of a fault batch */
    double entry_s;       /* of an entry of the fault buffer */
    double copy_s;        /* of a copy to the GPU, besides its bytes */
    uint32_t batch_entries; /* of one batch, at most */
    uint32_t fault_bytes; /* a visit in order makes an entry for each of these it touches */
    uint32_t access_bytes; /* counted as one access */
    uint32_t quantum_bytes; /* of mapped data, before a visit looks again */
    uint32_t in_flight;   /* touches */
    double launch_s;      /* before each kernel */
    uint32_t tree_percent; /* more than that share of a node resident pulls in the rest */
    bool write_back_clean; /* evictions copy all back, not only what was written */
    bool reads_evicted; /* coherent link: what was evicted is read in place, not faulted on */
};

enum uvm_replacement {
    UVM_COUNTER_HOLD,  /* a counter keeps its block until the threshold */
    UVM_COUNTER_LRU,   /* the one that has not counted for longest takes a new block */
    UVM_COUNTER_RANDOM /* any of them does */
};

/* Table 1, in SI units; eviction_batch: chunks per pass. */
struct uvm_counter_policy {
    uint32_t counters, threshold;
    enum uvm_replacement replacement;
    double span_bytes;
    bool promotes, evicts, protects;
    double high_watermark, low_watermark, interval_s;
    uint32_t eviction_batch;
    double heat_ratio;
    uint32_t stale_intervals;
    double base_grace_s, return_window_s, score_grace_s, max_grace_s, score_decay_s;
};

enum uvm_placement {
    UVM_FAULTED,  /* faults migrate it */
    UVM_AHEAD,    /* brought in before the first kernel, then as faulted */
    UVM_MAPPED,   /* stays with the host */
    UVM_PINNED,   /* a part is brought in before the first kernel and stays, the rest mapped */
    UVM_COUNTED   /* mapped, promoted by access counters */
};

struct uvm_allocation {
    uint32_t blocks; /* they follow one another */
    enum uvm_placement placement;
    bool populated;  /* the host has written it; else the first touch creates a page */
    uint32_t pinned_first, pinned_blocks; /* within it */
    uint32_t ahead_blocks; /* of UVM_AHEAD: how many of the first ones are called for; 0: all */
};

/* Kernels whose time is kept; the last of the run is in the last place used. */
enum { UVM_PHASES_MAX = 64 };

/* What of a run is not measured: nothing, what is placed before the first kernel, or
 * that and the first kernel. */
enum uvm_skip { UVM_SKIP_NOTHING, UVM_SKIP_SETUP, UVM_SKIP_FIRST_KERNEL };

struct uvm_input {
    const struct uvm_machine *machine;
    const struct uvm_counter_policy *counters; /* may be NULL if nothing is counted */
    const struct uvm_allocation *allocations;
    size_t allocation_count;
    const struct uvm_step *steps;
    size_t step_count;
    struct sc_sim_rng rng;
    enum uvm_skip skip;
    bool check, record;
    /* Bytes touched in each interval from the start on; samples beyond the room are
     * not kept.  NULL: none. */
    double sample_s;
    double *samples;
    size_t sample_room;
};

/* Where the time of a run goes: shares of one whole, by what was under way. */
enum uvm_activity {
    UVM_DEVICE,     /* data is touched on the GPU, whatever else goes on */
    UVM_SERVING,    /* else: the driver works on faults */
    UVM_EVICTING,   /* else: it waits for an eviction */
    UVM_MIGRATING,  /* else: it waits for a copy to the GPU */
    UVM_REMOTE_READ, /* else: mapped accesses cross the link */
    UVM_LAUNCHING,  /* else: a kernel is launched */
    UVM_ACTIVITIES
};

/* Of the measured part; setup_s, first_bytes, refetched_bytes, phases, what is at the
 * end, and busy shares are of the whole run. */
struct uvm_result {
    double time_s, setup_s;  /* of all; of what was placed before the first kernel */
    double activity_s[UVM_ACTIVITIES]; /* sums to time_s */
    uint64_t visits, touched_bytes;
    uint64_t in_bytes, out_bytes, created_bytes, dropped_bytes; /* dropped: clean, not copied */
    uint64_t resident_bytes, leaving_bytes;   /* at the end; leaving: still on the way */
    uint64_t first_bytes, refetched_bytes;    /* of in_bytes: for the first time, again */
    uint64_t setup_bytes;                     /* of in_bytes, before the first kernel */
    uint64_t unused_bytes;                    /* evicted without having been touched */
    uint64_t mapped_bytes;                    /* touched over the link */
    uint64_t entries, faults, batches, copies; /* faults: leaves faulted on, each once a batch */
    uint64_t evictions, reclaimed, promotions, notifications, halted; /* blocks; halted: spans */
    uint64_t most_chunks;
    uint32_t phases;                          /* kernels kept in phase_s and phase_bytes */
    double phase_s[UVM_PHASES_MAX], phase_bytes[UVM_PHASES_MAX];
    double phase_placing_s[UVM_PHASES_MAX];   /* of phase_s: the GPU waits for the driver */
    uint64_t sample_count;
    double link_in_busy, link_out_busy;       /* shares of the time */
    uint64_t events;
    double little_error;
    const char *waiting; /* SC_EDOMAIN: what waits, or which check failed */
};

struct uvm_engine *uvm_engine_create(void);
void uvm_engine_destroy(struct uvm_engine *engine);

/* SC_EDOMAIN: the events ran dry with work left, or a check failed (a bug, named in
 * result->waiting), or numbers that make no machine (waiting says which).
 * SC_ERANGE: more page visits than UVM_VISITS_MAX, or more events or time than are
 * simulated.  SC_ENOSPACE: no memory. */
enum sc_status uvm_engine_run(struct uvm_engine *engine, const struct uvm_input *input,
                              struct uvm_result *result) SC_MUST_CHECK;

/* Records of the last run, in order of block; `name` of its kernel. */
void uvm_engine_records(const struct uvm_engine *engine, const char *name,
                        const struct sc_sim_options *options);

#endif
