/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Simulators: the calibrating layer's part of the row of each system.
 *
 * A simulator answers the same scenario with the same columns as the closed
 * form, but by letting every page, load or access happen in time.  It shares
 * with the closed form the plain types, the field tables and the description of
 * the workload (which kernels, how many pages, what grid), never a formula.
 *
 * The same scenario, seed and run give the same bytes of answer, on any machine
 * and with any number of threads.
 */
#ifndef SC_SIM_SIMULATOR_H
#define SC_SIM_SIMULATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "system.h"

/* Changes whenever a simulator may answer differently; calibrations name it. */
#define SC_SIM_VERSION "2"

/* One unit of work (a page, a load) and when what happened to it.  Times are in
 * picoseconds from the start of its kernel; SC_SIM_NEVER_PS: it never did. */
struct sc_sim_record {
    const char *kernel;
    uint32_t sm, unit;
    uint64_t asked_ps, arrived_ps, first_use_ps, last_use_ps, evicted_ps;
};

struct sc_warp_trace;

struct sc_sim_options {
    uint64_t seed, run; /* replayable: stream k of run r is hash(seed, r, k) */
    bool check;         /* verify conservation and Little's law; costs some time */
    /* Called for every unit when its kernel ends, in order; NULL: no records. */
    void (*record)(const struct sc_sim_record *record, void *context);
    void *context;
    /* Instructions to replay instead of the scenario's kernel, finished; NULL: none.  Only for
     * a simulator that replays. */
    const struct sc_warp_trace *replay;
};

/* What traces of warps are to a simulator. */
struct sc_replay {
    const char *preset;   /* the key that names a kernel, which a trace replaces */
    const char *replaced; /* the other keys that say what a trace says, separated by blanks */
    /* The kernel of a scenario as a trace, finished, which is the caller's.  Errors as those
     * of the closed form; SC_ENOSPACE: no memory. */
    enum sc_status (*record)(const void *scenario, struct sc_warp_trace **trace,
                             struct sc_error *error) SC_MUST_CHECK;
};

/* What a run tells of itself besides the answer. */
struct sc_sim_report {
    uint64_t events, units; /* handled; pages or loads simulated */
    double little_error;    /* largest relative difference of number and rate x time */
    const char *waiting;    /* what was waiting when the events ran dry, or NULL */
};

struct sc_simulator {
    const struct sc_system *system;
    const char *unit; /* "pages", "loads" */
    const char *unused; /* keys that only the closed form goes by, separated by blanks, or NULL;
                         * coefficients fitted to the simulator are so anyway */
    /* Errors as those of the closed form; also SC_ENOSPACE when memory ran out and
     * SC_EDOMAIN when the events ran dry with work left (report->waiting names
     * what waited): a bug of the simulator, never a result. */
    enum sc_status (*simulate)(const void *scenario, const struct sc_sim_options *options,
                               void *answer, struct sc_sim_report *report,
                               struct sc_error *error) SC_MUST_CHECK;
    const struct sc_replay *replay; /* NULL: it replays nothing */
};

extern const struct sc_simulator *const sc_simulators[];
extern const size_t sc_simulator_count;

/* By the system that it simulates, or NULL. */
const struct sc_simulator *sc_simulator_find(const struct sc_system *system);

#endif
