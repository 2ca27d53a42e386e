/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the closed form and the simulator of `prefetch` share: what a kernel
 * loads and where, the SM's share of the machine, and which mechanisms a policy
 * has.
 *
 * Nothing here says how long anything takes: of that each of the two has its own
 * account, or one could not check the other.
 */
#ifndef SC_PREFETCH_WORKLOAD_H
#define SC_PREFETCH_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "prefetch.h"

enum { SC_PREFETCH_SECTOR = 32, SC_PREFETCH_LINE = 128 };

/* Largest kernels that the tables hold. */
enum { SC_PREFETCH_LOADS_MAX = 16, SC_PREFETCH_WARPS_MAX = 64 };

/* Rows of the choices. */
enum { SC_PREFETCH_ROUND_ROBIN, SC_PREFETCH_GREEDY_OLDEST };
enum { SC_PREFETCH_AUTO, SC_PREFETCH_OFF, SC_PREFETCH_ON };
enum { SC_PREFETCH_LEARN_BOTH, SC_PREFETCH_LEARN_RETURN };
enum { SC_PREFETCH_ZERO_LINE, SC_PREFETCH_ZERO_METADATA };
enum { SC_PREFETCH_REPLACE_AGED, SC_PREFETCH_REPLACE_CONSUMED, SC_PREFETCH_REPLACE_ANY };

/* Who predicts. */
enum sc_prefetch_front {
    SC_PREFETCH_NONE,
    SC_PREFETCH_SNAKE,  /* chains of loads, iterations of a warp, warps behind it */
    SC_PREFETCH_APOGEE, /* fixed offsets and thread-invariant addresses, one candidate a load */
    SC_PREFETCH_STRIDE, /* iterations of a warp, one fixed distance */
    SC_PREFETCH_KNOWN   /* knows every address: the load of `distance` iterations ahead */
};

/* The patterns that a snake learns; a tuner keeps one distance for each. */
enum sc_prefetch_pattern {
    SC_PREFETCH_CHAIN,     /* inter-PC: the loads that follow */
    SC_PREFETCH_ITERATION, /* intra-warp: the same load in later iterations */
    SC_PREFETCH_WARP,      /* inter-warp: the same load of later warps */
    SC_PREFETCH_PATTERNS
};

/* The mechanisms of a policy, as the scenario's keys leave them. */
struct sc_prefetch_mechanisms {
    enum sc_prefetch_front front;
    bool zero_filter; /* utility */
    bool tuner;       /* timeliness: learns the distance and gates by score */
    bool registers;   /* placement in idle registers */
    bool own_tuner;   /* APOGEE's one distance per load, moved by early and late */
    bool throttle;
    bool zero_cache;  /* zero metadata in front of L1 and L2; every evaluated policy has it */
    bool oracle_zero; /* no candidate that is all zero, and all others */
    bool oracle_time; /* what was predicted arrives just before its demand */
    bool oracle_place; /* prefetched data takes no room; no throttle either */
    bool oracle_l1;   /* every load hits in L1 */
};
struct sc_prefetch_mechanisms sc_prefetch_mechanisms(const struct sc_prefetch *scenario);

/* The runs that one answer is made of: the policy's own, what it is compared with, and
 * each of its dimensions made perfect. */
enum {
    SC_PREFETCH_RUN_OWN,
    SC_PREFETCH_RUN_NONE,
    SC_PREFETCH_RUN_FRONT_END,
    SC_PREFETCH_RUN_UTILITY,
    SC_PREFETCH_RUN_TIMELINESS,
    SC_PREFETCH_RUN_PLACEMENT,
    SC_PREFETCH_RUN_ORACLE,
    SC_PREFETCH_RUNS
};
/* Fills runs[run], those before it being filled, and returns the first that is the same. */
int sc_prefetch_run(const struct sc_prefetch *scenario, int run,
                    struct sc_prefetch_mechanisms runs[SC_PREFETCH_RUNS]);

/* One policy. */
struct sc_prefetch_policy {
    struct sc_choice choice; /* first: a policy is a choice */
    struct sc_prefetch_mechanisms mechanisms;
};
enum { SC_PREFETCH_POLICIES = 18 };
extern const struct sc_prefetch_policy sc_prefetch_policies[SC_PREFETCH_POLICIES];

/* Checks fields and their consistency; what both do first. */
enum sc_status sc_prefetch_check(const struct sc_prefetch *scenario,
                                 struct sc_error *error) SC_MUST_CHECK;

/* Largest distance of a pattern: its maximum, or the key `distance` below it. */
double sc_prefetch_reach(const struct sc_prefetch *scenario, enum sc_prefetch_pattern pattern);

/* ---- The machine as one SM sees it; cycles and bytes per cycle ---- */

struct sc_prefetch_machine {
    double l1_lines;        /* of data, zero metadata taken off when there is any */
    double l1_zero_lines;   /* lines of zero metadata; each covers zero_lines data lines */
    double l2_lines;        /* this SM's share, likewise */
    double l2_zero_lines;
    double dram_bytes_per_cycle; /* this SM's share */
    double register_entries;     /* of 128 bytes, as far as idle registers go */
};
struct sc_prefetch_machine sc_prefetch_machine(const struct sc_prefetch *scenario,
                                               const struct sc_prefetch_mechanisms *mechanisms);

/* ---- The kernel ---- */

/* One load of the body. */
struct sc_prefetch_load {
    uint64_t base;          /* bytes; arrays lie 2^36 bytes apart */
    int64_t warp_stride, iteration_stride; /* bytes */
    uint64_t working_set;   /* bytes after which it starts over; 0: never */
    double irregular;       /* probability that an access goes anywhere in the footprint */
    unsigned array;
    bool stored;            /* the sectors are stored to at the end of the iteration */
};

/* Instructions of one iteration: each load is followed by its `compute`; stores
 * and barrier stand at the end. */
struct sc_prefetch_body {
    struct sc_prefetch_load load[SC_PREFETCH_LOADS_MAX];
    unsigned loads, sectors;
    unsigned compute;       /* between one load and the next */
    unsigned stores;
    unsigned instructions;  /* of one iteration, loads and stores included */
    unsigned iterations;
    unsigned warps, cta_warps; /* resident; a multiple of cta_warps */
    unsigned ctas;          /* that this SM runs, one after the other in its slots */
    unsigned barrier_period; /* iterations between barriers; 0: none */
    uint64_t footprint;     /* bytes that irregular accesses go to */
    uint64_t sms, sharing; /* of the device; that read the same data */
    double zero[SC_PREFETCH_LOADS_MAX]; /* share of zero runs, per array */
    uint64_t zero_run_bytes;
};
struct sc_prefetch_body sc_prefetch_body(const struct sc_prefetch *scenario);

/* First byte that a warp loads, a multiple of the sector; `warp` counts over all
 * CTAs of the grid. */
uint64_t sc_prefetch_address(const struct sc_prefetch_body *body, unsigned load, uint64_t warp,
                             unsigned iteration);

/* The grid's number of the warp w of the n-th CTA on this SM. */
uint64_t sc_prefetch_warp(const struct sc_prefetch_body *body, unsigned cta, unsigned warp);

/* True if the sector (address / 32) holds only zeros: runs of zero_run sectors. */
bool sc_prefetch_is_zero(const struct sc_prefetch_body *body, uint64_t sector);

/* A number that looks random, the same for the same argument. */
uint64_t sc_prefetch_hash(uint64_t value);

#endif
