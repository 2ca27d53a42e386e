/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One kernel on one SM, instruction by instruction.
 *
 * Warps issue in order: a load holds up its warp only at the instruction that
 * needs it.  Loads go through a sectored L1 with MSHRs, behind which L2 and
 * memory answer at this SM's share (prefetch_memory.h).  A front end turns each
 * load into candidates (prefetch_front.c), a back end decides which are issued
 * and where their data goes (prefetch_back.c).
 *
 * The clock is the cycle; a cycle takes in turn: data that arrives, warps that
 * wake, one instruction for each scheduler, one prefetch if the load/store port
 * is free.
 */
#ifndef SC_SIM_PREFETCH_ENGINE_H
#define SC_SIM_PREFETCH_ENGINE_H

#include <stdint.h>

#include "prefetch_workload.h"
#include "sim/rng.h"
#include "sim/simulator.h"

/* What came of it.  Sectors unless the name says else. */
struct prefetch_result {
    uint64_t cycles, instructions;
    double issue, latency, bandwidth, barrier, queue; /* cycles, mean over schedulers; they sum
                                                       * to `cycles` */
    /* demand */
    uint64_t accesses, hits, misses, merged; /* hits + misses + late + merged */
    uint64_t loads;
    double load_latency; /* sum, cycles */
    /* prefetches: issued = on_time + late + early + dropped + unused */
    uint64_t candidates, refused, throttled; /* not there or under way yet; of them */
    uint64_t issued, on_time, late, early, dropped, unused;
    uint64_t on_time_distance; /* sum of the distances */
    /* zero filter, in candidates */
    uint64_t zero_candidates, zero_issued, other_candidates, other_suppressed;
    /* placement */
    uint64_t evictions, demand_evictions; /* of L1; by prefetches, of demand data */
    uint64_t to_registers, fallbacks;       /* prefetches */
    uint64_t register_sectors, invalidated; /* that got registers; of them, by stores */
    /* traffic */
    uint64_t l2_reads, dram_reads;
    double best_distance;
    double little_error;
    const char *fault; /* SC_EDOMAIN: which identity does not hold */
};

/* Runs a checked scenario.  SC_ENOSPACE: no memory.  SC_EDOMAIN: an identity of
 * the accounts fails, a bug: result->fault names it. */
enum sc_status prefetch_engine_run(const struct sc_prefetch *scenario,
                                   const struct sc_prefetch_mechanisms *mechanisms,
                                   struct sc_sim_rng rng, bool check,
                                   struct prefetch_result *result) SC_MUST_CHECK;

/* The same, with a record of each load as the warp is done with it: unit counts the
 * loads of a warp on from those of the warps before it, sm is 0; asked when it
 * issues, arrived when all its sectors are there, used by the first instruction
 * that has to have it.  options: check, record and its context. */
enum sc_status prefetch_engine_trace(const struct sc_prefetch *scenario,
                                     const struct sc_prefetch_mechanisms *mechanisms,
                                     struct sc_sim_rng rng, const struct sc_sim_options *options,
                                     struct prefetch_result *result) SC_MUST_CHECK;

#endif
