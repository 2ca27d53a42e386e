/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What lies behind the L1 of one SM in the simulator of `prefetch`: a sectored
 * L2 and memory, both at the SM's share.
 *
 * Each is a latency and a server that takes requests first come, first served at
 * its bandwidth; memory adds an exponential part.  Times are in ticks, of which a
 * cycle has PREFETCH_TICKS.  Requests must not come from the past.
 */
#ifndef SC_SIM_PREFETCH_MEMORY_H
#define SC_SIM_PREFETCH_MEMORY_H

#include "sim/prefetch_kernel.h"
#include "sim/prefetch_store.h"
#include "sim/rng.h"
#include "sim/stats.h"

enum { PREFETCH_TICKS = 1024 };

/* A server and, when checked, how many are at it. */
struct prefetch_server {
    uint64_t free_at;
    double ticks_per_sector;
    double fraction; /* of a tick that service times have left over */
    uint64_t sectors;
    uint64_t waited; /* sum of waits and services, ticks */
    /* Departures that are still to come: the second account of the same. */
    uint64_t *departures;
    size_t head, count, capacity;
    uint64_t arrived_at, arrivals;
    sc_sim_wide area; /* requests x ticks */
};

struct prefetch_memory {
    const struct prefetch_kernel *kernel;
    struct prefetch_cache l2;
    struct prefetch_zeros l2_zeros;
    struct prefetch_server l2_port, dram;
    struct sc_sim_rng rng;
    uint64_t l2_latency, dram_latency; /* ticks; the latter after the former's half */
    double jitter;
    uint64_t written; /* sectors written back to memory */
    bool zero_cache, check, failed;
};

enum sc_status prefetch_memory_init(struct prefetch_memory *memory, const struct sc_prefetch *s,
                                    const struct sc_prefetch_mechanisms *mechanisms,
                                    const struct prefetch_kernel *kernel, struct sc_sim_rng rng,
                                    bool check) SC_MUST_CHECK;
void prefetch_memory_fini(struct prefetch_memory *memory);

/* Asks at now for the sectors `mask` of a line; returns when the last is there. */
uint64_t prefetch_memory_read(struct prefetch_memory *memory, uint64_t line, unsigned mask,
                              uint64_t now);
void prefetch_memory_write(struct prefetch_memory *memory, uint64_t line, unsigned mask,
                           uint64_t now);

/* Whether a sector of the kernel is zero, as prefetch_zeros_learn asks. */
bool prefetch_memory_is_zero(const void *kernel, uint64_t sector);

/* Ticks that a request would wait for the slower of the two. */
uint64_t prefetch_memory_backlog(const struct prefetch_memory *memory, uint64_t now);

/* Ends the second account; returns the larger relative difference of the two. */
double prefetch_memory_little(struct prefetch_memory *memory);

#endif
