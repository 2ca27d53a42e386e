/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces of warps on the command line: read instead of a kernel's keys, or written from them. */
#ifndef SC_REPLAY_H
#define SC_REPLAY_H

#include "problem.h"
#include "product.h"
#include "sim/simulator.h"
#include "sim/warp_trace.h"

/* Reads the trace, - for standard input; to be destroyed by the caller.  False: *trace is NULL. */
bool replay_read(const char *name, struct sc_warp_trace **trace, struct problem *problem);

/* False, with the reason, when the simulator replays nothing, or a key of the product says what
 * a trace says. */
bool replay_check(const struct sc_simulator *simulator, const struct product *product,
                  struct problem *problem);
/* Whether the key says what a trace says. */
bool replay_replaces(const struct sc_replay *replay, const struct sc_field *field);

/* The keys that a kernel's preset would set, at the default of their field: into settings, which
 * has room for all fields of the system.  Returns how many. */
size_t replay_defaults(const struct sc_simulator *simulator, struct setting *settings);

/* Writes the kernel of a scenario as a trace, whole or not at all. */
bool replay_record(const struct sc_simulator *simulator, const void *scenario, const char *name,
                   struct problem *problem);

#endif
