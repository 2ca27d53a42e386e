/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scenarios of `hbf` as the tests write them, and scenarios at random. */
#ifndef SC_HBF_SCENARIOS_H
#define SC_HBF_SCENARIOS_H

#include "hbf.h"
#include "scenario.h"

#include <stddef.h>
#include <stdint.h>

enum { GPUS_MAX = 64, POLICIES_MAX = 64 };

/* What the built-in tables hold; read only once set up. */
struct hbf_world {
    struct catalog *catalog;
    struct resolver *resolver;
    size_t gpu_count, policy_count;
    const char *gpus[GPUS_MAX];
    const char *policies[POLICIES_MAX];
};
extern struct hbf_world world;

/* Each bails out where it fails. */
void set_up(void);
void tear_down(void);

/* A scenario as on the command line: blank-separated key=value. */
struct sc_hbf scenario(const char *text);
__attribute__((format(printf, 1, 2))) struct sc_hbf scenario_of(const char *format, ...);

/* splitmix64 from a fixed state, so that every run tests the same scenarios:
 * uniform in [0, 1), and an index below count. */
extern uint64_t random_state;
double random_unit(void);
size_t random_below(size_t count);

#endif
