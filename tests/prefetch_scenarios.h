/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scenarios of `prefetch` as the tests write them. */
#ifndef SC_PREFETCH_SCENARIOS_H
#define SC_PREFETCH_SCENARIOS_H

#include "prefetch_workload.h"
#include "scenario.h"

#include <stddef.h>

enum { PREFETCH_KERNELS_MAX = 64 };

/* The built-in tables, and the names of the kernels in them. */
struct prefetch_world {
    struct catalog *catalog;
    struct resolver *resolver;
    size_t kernel_count;
    const char *kernels[PREFETCH_KERNELS_MAX];
};

/* Each bails out where it fails. */
void prefetch_world_init(struct prefetch_world *world);
void prefetch_world_fini(struct prefetch_world *world);

/* A scenario as on the command line: blank-separated key=value. */
__attribute__((format(printf, 2, 3))) struct sc_prefetch
prefetch_scenario(const struct prefetch_world *world, const char *format, ...);

#endif
