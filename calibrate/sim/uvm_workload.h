/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a GPU touches, in which order: the workloads of the region simulator.
 *
 * A workload is a list of steps.  A step walks a range of leaves (64 KiB pages)
 * so many times in some order, one page visit after the other; a page visit is a
 * run of touches to neighbouring leaves of one block.  Everything that is
 * simulated, from a sweep to a query, is such a list:
 *
 *	struct uvm_step steps[8];
 *	size_t count = uvm_steps_drift(&geometry, window, 0.1, 8, steps);
 *	struct uvm_source source;
 *	status = uvm_source_init(&source, steps, count, rng);
 *	while (uvm_source_next(&source, &visit)) ...
 *	if (uvm_source_advance(&source)) ...       the next kernel
 *	uvm_source_fini(&source);
 *
 * Sources: Ember (arXiv 2610.13408), sec. 7, for the moving window, the phase
 * shift, reuse against randomness, generation and queries; the number of passes
 * of a bitonic sort is n(n+1)/2 (Batcher, AFIPS 1968).
 */
#ifndef SC_SIM_UVM_WORKLOAD_H
#define SC_SIM_UVM_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/rng.h"
#include "status.h"

/* No more page visits than that in one run; thrashing in whole regions they
 * take a minute or two. */
#define UVM_VISITS_MAX 1.2e8

enum uvm_order {
    UVM_LINEAR,  /* in order of address; `streams` parts of the range side by side */
    UVM_STRIDED  /* pairs that are `stride` runs apart, as a butterfly takes them */
};

struct uvm_step {
    enum uvm_order order;
    uint32_t first_leaf, leaves; /* the range; leaves >= 1 */
    uint32_t run_leaves;         /* of one visit; divides the leaves of a block */
    uint32_t streams, stride;    /* stride in runs; both >= 1 */
    double passes;               /* > 0, over the range; parts of a pass too */
    double random_share;         /* of the visits go to a leaf of the range at random instead */
    uint32_t leaf_bytes;         /* touched in each leaf of a visit in order, >= 1 */
    uint32_t random_bytes;       /* touched by a visit at random, >= 1 */
    double write_share;          /* of the visits */
    /* So many visits, on average, to a second range come after each visit: a hot set
     * that is touched in order all the time while a stream passes, or, with
     * side_streams, places in so many parts of an output, which are drawn at random
     * and each written from end to end. */
    double side_visits;
    uint32_t side_first, side_leaves, side_streams, side_bytes; /* bytes of a visit */
    bool side_write;
    bool barrier; /* the step after this one is another kernel */
};

struct uvm_visit {
    uint32_t leaf, leaves; /* within one block */
    uint32_t leaf_bytes;   /* touched in each of them */
    bool random, write;
};

struct uvm_source {
    const struct uvm_step *steps;
    size_t count, at;
    uint64_t left;           /* visits of this step */
    uint32_t unit, part;     /* where the sweep is: run within the part, part */
    double side_left;        /* visits to the second range that are due */
    uint32_t side_at;
    uint32_t *positions;     /* bytes so far in the parts of the second range */
    struct sc_sim_rng rng;
};

/* Visits of one step and of a whole list, as a double: it may be huge. */
double uvm_step_visits(const struct uvm_step *step);
double uvm_visits(const struct uvm_step *steps, size_t count);

/* The steps must stay in place.  SC_ENOSPACE: no memory; SC_ERANGE: more than
 * UVM_VISITS_MAX; SC_EDOMAIN: a step that walks nothing, or runs that do not divide blocks. */
enum sc_status uvm_source_init(struct uvm_source *source, const struct uvm_step *steps,
                               size_t count, uint32_t block_leaves,
                               struct sc_sim_rng rng) SC_MUST_CHECK;
void uvm_source_fini(struct uvm_source *source);

/* The next visit of this kernel; false: there is none. */
bool uvm_source_next(struct uvm_source *source, struct uvm_visit *visit);

/* After the last visit of a kernel: goes to the next one; false: that was the last. */
bool uvm_source_advance(struct uvm_source *source);

/* ---- Workloads ---- */

/* What the builders need to know; `leaves` is the footprint. */
struct uvm_shape {
    uint32_t leaves;
    uint32_t leaf_bytes;   /* touched in each leaf of a sweep */
    uint32_t run_leaves;  /* of the visits of a sweep */
    uint32_t random_bytes; /* touched by a visit at random */
    uint32_t streams;     /* parts that a sweep walks side by side */
    double write_share;
};

/* One step over the whole footprint, which the others vary. */
struct uvm_step uvm_sweep(const struct uvm_shape *shape, double passes);
/* `touches` touches to random leaves. */
struct uvm_step uvm_random(const struct uvm_shape *shape, double touches);
/* Sweeps whose visits go with probability `random_share` to a random leaf instead. */
struct uvm_step uvm_mixed(const struct uvm_shape *shape, double passes, double random_share);

/* These write their steps and return how many.  `room`: of the array; if it is too
 * small, 0. */
/* One sweep of everything, then passes - 1 of the first hot_leaves. */
size_t uvm_steps_hot_prefix(const struct uvm_shape *shape, double passes, uint32_t hot_leaves,
                            struct uvm_step *steps, size_t room);
/* The first hot_leaves are touched all the time while the rest is streamed through
 * `passes` times; hot_visits of one leaf for each visit of the stream. */
size_t uvm_steps_hot_stream(const struct uvm_shape *shape, double passes, uint32_t hot_leaves,
                            double hot_visits, struct uvm_step *steps, size_t room);
/* Reads one half of the footprint and scatters it, `pieces` to a leaf, over `streams`
 * parts of the other half; the halves change places with each of `passes`. */
size_t uvm_steps_scatter(const struct uvm_shape *shape, uint32_t passes, uint32_t streams,
                         uint32_t pieces, struct uvm_step *steps, size_t room);
/* A window that slides by `drift` of its size between `phases` kernels (sec. 7.2), each
 * of `passes` over it. */
size_t uvm_steps_drift(const struct uvm_shape *shape, uint32_t window_leaves, double drift,
                       uint32_t phases, double passes, struct uvm_step *steps, size_t room);
/* Array A `passes` times, then array B: halves of the footprint (Fig. 7). */
size_t uvm_steps_shift(const struct uvm_shape *shape, double passes, struct uvm_step *steps,
                       size_t room);
/* All merges of a bitonic sort of 2^levels tiles: each a strided pass, and one more
 * pass per level within tiles and one to begin with. */
size_t uvm_steps_bitonic(const struct uvm_shape *shape, uint32_t levels, struct uvm_step *steps,
                         size_t room);
size_t uvm_bitonic_count(uint32_t levels);
/* Reads the first `share` of each of so many columns of the same size, one column after
 * the other, `passes` times. */
size_t uvm_steps_scan(const struct uvm_shape *shape, uint32_t columns, double share, double passes,
                      struct uvm_step *steps, size_t room);

#endif
