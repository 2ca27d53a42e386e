/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One weight kernel, page by page.
 *
 * SMs walk the pages of their CTAs in order, a window of D at a time; a page is
 * read through the L2 (one FIFO for the GPU), taken in at the SM's rate, and
 * leaves the window in order.  Pages that are not in the staging buffer come
 * from flash: requests are served in the order of their issue at the flash
 * rate, and the data returns a latency later.  Who issues them, when, and what
 * the buffer keeps is the policy.
 *
 * Times are whole picoseconds from the start of the kernel.  Memory is about 20
 * bytes per page, 60 with records; it is kept from kernel to kernel.
 */
#ifndef SC_SIM_HBF_ENGINE_H
#define SC_SIM_HBF_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "hbf_workload.h"
#include "sim/event.h"
#include "sim/rng.h"
#include "sim/simulator.h"
#include "sim/stats.h"

struct hbf_engine;

/* What a kernel is run with. */
struct hbf_engine_input {
    const struct sc_hbf *scenario;
    const struct sc_hbf_mechanisms *mechanisms;
    const struct sc_hbf_machine *machine;
    const struct sc_hbf_load *load;
    const char *name; /* of the kernel, for records */
    struct sc_sim_rng rng;
    double rate_scale; /* on the rates that the ideal time implies; see hbf_engine_calibrate */
    bool check, record;
};

/* What came of it.  Pages are counts, times seconds. */
struct hbf_engine_result {
    double time_s;
    double access_s, order_s, capacity_s; /* stalls, mean over active SMs */
    uint64_t pages, staged, missed, discarded, refetched, stale, left;
    uint64_t pool_waits; /* misses that had to wait for an entry of the miss pool */
    uint64_t window_waits, allowance_waits; /* times that staging stopped at either limit */
    double flash_busy;  /* share of the time that the flash delivers, refetches included */
    double in_flight;   /* mean pages on their way */
    double load_to_use_s, useful_s, residency_s;
    uint64_t most_entries; /* tracking entries that one SM held at a time */
    uint64_t events;
    double little_error;
    const char *waiting; /* SC_EDOMAIN: what was left waiting */
};

struct hbf_engine *hbf_engine_create(void);
void hbf_engine_destroy(struct hbf_engine *engine);

/* SC_ENOSPACE: no memory.  SC_EDOMAIN: events ran dry with pages left, or a
 * check failed: a bug, named in result->waiting.  SC_ERANGE: too many pages, or
 * the kernel takes longer than the clock's 213 days or 20,000 events per page;
 * result->waiting says which. */
enum sc_status hbf_engine_run(struct hbf_engine *engine, const struct hbf_engine_input *input,
                              struct hbf_engine_result *result) SC_MUST_CHECK;

/* The rate scale with which the ideal takes its time: a first guess of the rates
 * leaves out how SMs start and end, so it is corrected by a run or two.  Errors
 * as those of these runs; *waiting then says what hbf_engine_run would. */
enum sc_status hbf_engine_calibrate(struct hbf_engine *engine, const struct hbf_engine_input *input,
                                    double *rate_scale, const char **waiting) SC_MUST_CHECK;

/* Records of the kernel that ran last, in order of page. */
void hbf_engine_records(const struct hbf_engine *engine, const struct sc_sim_options *options);

#endif
