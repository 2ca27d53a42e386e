/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `uvm`: working sets larger than the memory of the GPU.
 *
 * A run goes over a footprint F of managed memory that the host has populated;
 * the GPU holds C = usable share x memory, in whole regions (2 MiB) that are given
 * out at their first touch.  A policy says where a region lives: brought in by
 * faults and evicted in the order of the last fault-in (`uvm`), brought in ahead
 * (`prefetch`), read over the link where it is (`mapped`), a fixed split
 * (`ember-static`), a split that follows the access counters (`ember-adaptive`),
 * or the best single policy per allocation (`profiled`).
 *
 *     T = T_dev + in (1/migration rate + 1/fault rate) + out/migration rate
 *           + mapped/link rate + fixed
 *
 * T_dev is the same run with all data resident, what slowdown is measured
 * against.  How many bytes come in is the law of the pattern: every sweep past
 * capacity brings all of it again, random touches bring neighbours with them
 * that leave unread (the tree prefetcher), and a hot set that the driver sees no
 * hits on ages out.
 *
 * Two modes.  `law` predicts from what the algorithm does; no number of it was
 * fitted to an application's times past capacity.  `fitted` takes passes over the
 * link, device rate, hot share and thrash factor of an application from constants
 * fitted to the paper's tables, and so reproduces more than it predicts.
 *
 * Sources: mechanisms and published figures, Ember (arXiv 2610.13408); tree
 * prefetcher, Ganguly et al. (ISCA 2019); the closed forms are this library's own.
 */
#ifndef SC_UVM_H
#define SC_UVM_H

#include "system.h"

/* Rows of the choices; the order is that of the tables in uvm_fields.c. */
enum { SC_UVM_NO, SC_UVM_YES };
enum { SC_UVM_LAW, SC_UVM_FITTED, SC_UVM_MODES };

/* How the footprint is gone over. */
enum {
    SC_UVM_SWEEP,       /* passes times from end to end */
    SC_UVM_STRIDED,     /* the same in strides: every pass touches all of it */
    SC_UVM_RANDOM,      /* passes touches per leaf, in random order */
    SC_UVM_MIXED,       /* passes by every leaf, a share `randomness` of the data in random order */
    SC_UVM_HOT_PREFIX,  /* one sweep, then passes - 1 over the first hot_share */
    SC_UVM_STREAM_HOT,  /* a stream of passes x the cold part past a hot set in constant use */
    SC_UVM_WINDOW,      /* phases over a window of hot_share that moves on by drift each time */
    SC_UVM_LAYERS,      /* LLM generation: a pass reads every weight once and makes a token */
    SC_UVM_SCAN,        /* passes over the columns of a query, hot_share of the footprint */
    SC_UVM_STREAMS,     /* one pass over the input, scattered into `streams` open outputs */
    SC_UVM_PATTERNS
};

/* What of the first placement the time counts. */
enum {
    SC_UVM_PLACE_ALL,    /* all of it */
    SC_UVM_PLACE_FAULTS, /* what the run brings in itself, not what calls before it did */
    SC_UVM_PLACE_NONE    /* none: an earlier pass has placed the data */
};

enum { SC_UVM_COUNTER_HOLD, SC_UVM_COUNTER_LRU, SC_UVM_COUNTER_RANDOM };

enum { SC_UVM_CURVE_POINTS = 16 };

/* The scenario.  Keys, ranges and defaults: sc_uvm_system.fields. */
struct sc_uvm {
    /* GPU and link */
    double memory_bytes, usable_share;
    double link_rate_bytes_per_s;      /* of zero-copy reads, as measured */
    double migration_rate_bytes_per_s; /* of bulk migration, each way */
    double fault_rate_bytes_per_s;     /* bytes whose faults the driver serves in a second */
    double device_speed;               /* of compute, over the A40 */
    double fitted_device_speed;        /* the same as fitted to Table 4; NaN: device_speed */
    double memory_bandwidth_bytes_per_s, peak_flops;
    int coherent;                      /* a non-resident page is read in place, not faulted on */
    /* workload */
    int pattern;
    double footprint_bytes, oversubscription; /* NaN footprint: oversubscription x memory */
    double passes, touches;     /* touches: of a page within a pass */
    double access_bytes;        /* read of a leaf by a touch */
    double hot_share, randomness, write_share;
    double device_rate_bytes_per_s; /* footprint over T_dev on a GPU of device_speed 1; NaN: see intensity */
    double intensity;           /* operations per byte of footprint */
    int growth;                 /* yes: device passes grow with log^2 of the elements (a sorting network) */
    double tile_bytes;          /* strided: what a CTA keeps on chip; NaN: passes as given */
    double link_passes;         /* footprints that cross the link when mapped; NaN: the pattern's */
    double refetch;             /* refetched over first fetched bytes; NaN: the pattern's law */
    double streams;             /* open output streams */
    double phases, drift;       /* of the moving window */
    double host_passes;         /* footprints that host code touches between kernels */
    double in_flight;           /* touches under way at once */
    double fixed_s;             /* per run, whatever the policy */
    int placement;              /* what of it the time counts */
    double profile_runs, profile_s; /* of `profiled`; NaN profile_s: profile_runs x the run under uvm */
    /* constants of an application fitted to the paper's tables, for mode=fitted */
    int mode;
    double fitted_link_passes, fitted_device_rate_bytes_per_s, fitted_hot_share, fitted_refetch,
        fitted_host_passes;
    /* policy and driver */
    int policy;
    double pinned_bytes;        /* of ember-static; NaN: as much as fits, hot part first */
    double region_bytes, leaf_bytes;
    double fault_batch;         /* faults served together */
    double fault_group_s, fault_copy_s; /* of one batch, of one copy in it (simulator) */
    double counters;
    int counter_replacement;
    /* Ember, Table 1 */
    double mapped_default, block_promotion, promotion_span_bytes, counter_threshold;
    double eager_eviction, high_watermark, low_watermark, eviction_interval_s, eviction_batch;
    double heat_ratio, stale_intervals;
    double aware_eviction, base_grace_s, return_window_s, score_grace_s, max_grace_s, score_decay_s;
    double static_setup_s;      /* advice and prefetch calls, outside the run time */
    double random_read_cost;    /* link bytes of a random mapped read over those of a linear one */
    /* coefficients of the closed form */
    double inflight_faults, inflight_leaves, inflight_power, mixed_scale, mixed_power;
    double stream_hot_factor, random_factor, adaptive_factor;
    double shared_service, random_service, window_factor, streams_kept, lag_share;
    double adaptive_overhead, adaptive_share, prefetch_factor; /* anchors */
    /* A miss-ratio curve on regions ordered by faults (an access-ordered one is
     * wrong by 1.3 to 3.5): share of touches of distinct regions that miss with
     * that capacity, capacities ascending.  curve_count 0: none.  No keys: the
     * caller fills them. */
    double curve_capacity_bytes[SC_UVM_CURVE_POINTS], curve_miss_ratio[SC_UVM_CURVE_POINTS];
    double curve_count;
    /* Its blocks are to be regions: larger than the one, at most the other; 0: not known. */
    double curve_block_above_bytes, curve_block_most_bytes;
};

/* The answer.  Columns and units: sc_uvm_system.metrics. */
struct sc_uvm_answer {
    double slowdown, time_s, ideal_time_s;
    const char *bound;
    double device_share, migration_share, eviction_share, fault_share, mapped_share, fixed_share;
    double in_bytes, out_bytes, mapped_bytes, faults, thrash_factor;
    double tokens_per_s, bandwidth_bytes_per_s;
    double first_phase_bytes_per_s, last_phase_bytes_per_s;
    double working_set_bytes, usable_bytes, resident_share, cliff_bytes;
    double near_cliff, time_fits_s, time_past_s; /* with 10 % more and less room */
};

/* Which mechanisms a policy has; what a simulator of it is built from. */
struct sc_uvm_mechanisms {
    bool faults;    /* a touch of a non-resident region migrates it */
    bool ahead;     /* bulk migration before the run */
    bool maps;      /* non-resident data is read over the link */
    bool pins;      /* a fixed part is made resident before the run */
    bool counts;    /* access counters promote regions */
    bool per_allocation; /* the best of the others for each allocation, after a profiling run */
};

/* Mechanisms of a row of the policies (struct sc_uvm.policy). */
struct sc_uvm_mechanisms sc_uvm_mechanisms(int policy);

/* Bytes of the scenario's footprint, and what the GPU can hold of it (whole regions). */
double sc_uvm_footprint_bytes(const struct sc_uvm *scenario);
double sc_uvm_usable_bytes(const struct sc_uvm *scenario);

/* Sweeps over the footprint: `passes`, or for a strided sort with tile_bytes
 * n (n + 1)/2 + n + 1, n = log2(footprint / tile): merge steps whose stride leaves
 * the tile, plus the local ones.  streams makes whole passes. */
double sc_uvm_passes(const struct sc_uvm *scenario);

/* Share of touches of distinct regions that misses with that capacity, by the scenario's
 * curve, log-linear between points and constant beyond; NaN without a curve. */
double sc_uvm_curve_miss_ratio(const struct sc_uvm *scenario, double capacity_bytes);

/* What a run is, for those who let it happen instead of asking for its law. */
struct sc_uvm_load {
    double footprint_bytes, usable_bytes; /* usable: in whole regions */
    double hot_bytes;     /* what must be resident for nothing to come again */
    double touched_bytes; /* distinct bytes that the run comes by */
    double passes;
    double device_s;      /* T_dev: the run with all data resident */
    double link_bytes;    /* over the link when all is mapped, both ways; NaN: what is touched */
};

/* Presence and range of every key, and that they do not contradict each other. */
enum sc_status sc_uvm_check(const struct sc_uvm *scenario, struct sc_error *error) SC_MUST_CHECK;

/* The scenario must have passed the check. */
struct sc_uvm_load sc_uvm_load(const struct sc_uvm *scenario);

/* ---- The law of random touches ---- */

enum { SC_UVM_TREE_LEAVES_MAX = 32 };

/* Leaves of a region that are resident after 1, 2, ... random faults, each on a
 * leaf that is not, when a node of the binary tree that is more than half resident
 * brings in the rest.  growth[j - 1] for j faults; returns after how many the
 * region is whole.  leaves: a power of two, at most SC_UVM_TREE_LEAVES_MAX. */
size_t sc_uvm_tree_growth(size_t leaves, double growth[SC_UVM_TREE_LEAVES_MAX]);

/* Per random touch, in the steady state with a share kappa of the footprint's
 * regions resident, evicted in the order of their last fault: faults (Phi) and
 * leaves that come in (B), within 1 % of a driver that does so touch by touch.
 * 0 < kappa; 0 and 0 when kappa is 1 or more.  Some 20 us. */
struct sc_uvm_random {
    double faults, leaves;
};
struct sc_uvm_random sc_uvm_random_law(size_t leaves, double kappa);

/* Per touch of passes that go by every leaf once, a share r of them in random order
 * among the others, which are a sweep; each random touch by itself brings
 * random_leaves.  Far past the line a sweep fills what the random touches left out of
 * its way, and that has gone before they come: S(1 - r) / leaves + r B, S what the
 * tree makes of a region that is touched in part.  Just past it every leaf comes
 * once: 1.  Between, z / (1 + z) of the difference, z = (scale r / (1 - r)
 * (1 - kappa) / kappa)^power.  With 8.8 and 1.7 within 21 % of a driver touch by
 * touch, from F/C = 1.25 on, and mostly within 5 %. */
double sc_uvm_mixed_leaves(size_t leaves, double kappa, double r, double random_leaves,
                           double scale, double power);

extern const struct sc_system sc_uvm_system;

#endif
