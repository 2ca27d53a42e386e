/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One direction of the link between host and GPU.
 *
 * Two kinds of traffic want it: bulk (migrations, evictions) and mapped accesses.
 * Each kind is served first come, first served; while both wait, they get the same
 * share of the time (start-time fair queueing: Goyal, Vin & Cheng, SIGCOMM 1996).
 * So a job contends only while its bytes move, and many small mapped accesses
 * cannot lock a migration out.
 *
 * The caller looks at done_ps for when the job in service ends, and then calls
 * uvm_link_finish.
 */
#ifndef SC_SIM_UVM_LINK_H
#define SC_SIM_UVM_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/stats.h"
#include "status.h"

enum { UVM_BULK, UVM_REMOTE, UVM_CLASSES };

struct uvm_job {
    uint64_t arrived_ps;
    double cost_ps; /* time that it takes on the link */
    uint32_t kind, id;
};

struct uvm_link {
    struct uvm_queue {
        struct uvm_job *jobs; /* a ring; capacity is a power of two */
        uint32_t head, count, capacity;
        double served_ps; /* virtual time */
    } queues[UVM_CLASSES];
    struct uvm_job job; /* in service if done_ps is not SC_SIM_NEVER_PS */
    uint64_t done_ps;
    double free_ps; /* the same, not rounded: jobs back to back lose nothing */
    double busy_ps;
    struct sc_sim_little little;
    enum sc_status failed; /* SC_ENOSPACE: a queue could not grow, a job is lost */
};

/* Keeps the memory of the queues. */
void uvm_link_clear(struct uvm_link *link);
void uvm_link_fini(struct uvm_link *link);

void uvm_link_send(struct uvm_link *link, int class, uint64_t now_ps, double cost_ps,
                   uint32_t kind, uint32_t id);

/* Takes the job whose service ends now and starts the next. */
struct uvm_job uvm_link_finish(struct uvm_link *link);

/* Jobs that wait or are served. */
uint32_t uvm_link_jobs(const struct uvm_link *link);

/* Little's law: |number - rate x time| over the larger of the two, with the time that
 * jobs still here have spent so far. */
double uvm_link_error(const struct uvm_link *link, uint64_t now_ps);

#endif
