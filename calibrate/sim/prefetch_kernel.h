/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kernel that the simulator of `prefetch` runs: the loop of a descriptor, or a trace. */
#ifndef SC_SIM_PREFETCH_KERNEL_H
#define SC_SIM_PREFETCH_KERNEL_H

#include "prefetch_workload.h"
#include "sim/simulator.h"
#include "sim/warp_trace.h"

struct prefetch_kernel {
    struct sc_prefetch_body body; /* of a trace: its CTAs and warps, the SMs, and what compute and
                                   * sharing the scenario says */
    const struct sc_warp_trace *trace; /* finished; NULL: the body's loop */
};

/* trace may be NULL. */
struct prefetch_kernel prefetch_kernel(const struct sc_prefetch *scenario,
                                       const struct sc_warp_trace *trace);

/* Loads that all warps execute. */
uint64_t prefetch_kernel_loads(const struct prefetch_kernel *kernel);

/* True if the sector (address / 32) holds only zeros. */
static inline bool prefetch_kernel_is_zero(const struct prefetch_kernel *kernel, uint64_t sector)
{
    return kernel->trace != NULL ? sc_warp_trace_is_zero(kernel->trace, sector)
                                 : sc_prefetch_is_zero(&kernel->body, sector);
}

/* The scenario with a finished trace for its kernel: CTAs as large as the trace's, as many at
 * a time as `warps` has room for.  Errors as those of sc_prefetch_check. */
enum sc_status prefetch_kernel_fit(const struct sc_prefetch *scenario,
                                   const struct sc_warp_trace *trace, struct sc_prefetch *fitted,
                                   struct sc_error *error) SC_MUST_CHECK;

/* What traces are to the simulator of `prefetch`. */
extern const struct sc_replay prefetch_replay;

#endif
