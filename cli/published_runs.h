/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The published run times that the constants of mode=fitted were fitted to. */
#ifndef SC_PUBLISHED_RUNS_H
#define SC_PUBLISHED_RUNS_H

#include "scenario.h"
#include "uvm_constants.h"

struct published_runs {
    struct sc_uvm_run *runs; /* names in them belong to the resolver */
    size_t count;
};

/* The run times of Ember's Table 4 in data/published/uvm.csv.  One counts in means if its
 * set has a target.  resolver: of uvm.  To be freed by
 * published_runs_fini whatever the outcome. */
bool published_runs_read(struct resolver *resolver, struct catalog *catalog,
                         struct published_runs *published, struct problem *problem);
void published_runs_fini(struct published_runs *published);

#endif
