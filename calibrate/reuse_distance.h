/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reuse distances of a trace, measured: every access, or those to a sample of the blocks.
 *
 * A meter takes accesses in pieces of any size and keeps two histograms, by distance and, if
 * asked, by time (see reuse.h).  Exact: every block is followed; memory is 24 to 70 bytes per
 * distinct block.
 *
 * Sampled: a block is followed when a hash of its number lies below a threshold, so that all of
 * its accesses are or none.  At rate R a distance d among followed blocks stands for the
 * distances from d / R up to (d + 1) / R, and an access for 1 / R accesses.  Where the weights do
 * not add up to the accesses there were, the difference hits every cache (SHARDS-adj).  With a
 * fixed size the rate starts at 1, and whenever there are too many blocks the one with the
 * highest hash is forgotten and the threshold comes down to it.  Distances below 1 / R cannot be
 * told from each other: the curve is a line there.
 * Source: Waldspurger, Park, Garthwaite & Ahmad, USENIX FAST 2015.
 *
 * Nothing here prints, and no state is kept outside the meter.
 */
#ifndef SC_REUSE_DISTANCE_H
#define SC_REUSE_DISTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recency.h"
#include "reuse.h"
#include "status.h"

/* All zero but `divisor`: every access to every block, distances only. */
struct sc_reuse_options {
    uint64_t divisor;     /* block = number in the trace / divisor; at least 1 */
    double rate;          /* share of the blocks to follow, 1e-6 to below 1; 0: all */
    size_t sample_blocks; /* at most so many blocks are followed; 0: no limit.  Not with a rate */
    uint64_t seed;        /* of the sample */
    bool times;           /* reuse times too */
    enum sc_recency_code code;
};

struct sc_reuse_meter;

/* SC_EDOMAIN: an option without meaning.  SC_ENOSPACE: no memory.  The caller destroys *meter. */
enum sc_status sc_reuse_meter_create(struct sc_reuse_meter **meter,
                                     const struct sc_reuse_options *options,
                                     struct sc_error *error) SC_MUST_CHECK;
void sc_reuse_meter_destroy(struct sc_reuse_meter *meter);

/* The next n accesses.  SC_ENOSPACE: no memory, or too many blocks to follow; the meter is then
 * of no more use. */
enum sc_status sc_reuse_meter_add(struct sc_reuse_meter *meter, const uint64_t *number, size_t n,
                                  struct sc_error *error) SC_MUST_CHECK;

/* What was seen so far. */
struct sc_reuse_summary {
    uint64_t accesses;
    double blocks;     /* distinct; an estimate when sampled */
    double cache_most; /* blocks of the smallest LRU cache that no larger one does better than */
    bool sampled;
    double rate;        /* of the sample, now; 1 when exact */
    uint64_t followed;  /* accesses to blocks of the sample */
    uint64_t block_count; /* blocks in the sample now */
};

struct sc_reuse_summary sc_reuse_meter_summary(const struct sc_reuse_meter *meter);

/*
 * The histogram by distance, or by time.  Its arrays are the meter's, until more is added to it
 * or it is destroyed.  SC_EMISSING: times were not asked for.  SC_ENOSPACE: no memory.
 * SC_EDOMAIN: nothing was added.
 */
enum sc_status sc_reuse_meter_histogram(struct sc_reuse_meter *meter, bool times,
                                        struct sc_reuse_histogram *histogram,
                                        struct sc_error *error) SC_MUST_CHECK;

/* ---- curves ---- */

/* How a cache chooses what goes; one row each. */
struct sc_reuse_rule {
    const char *name, *help;
    bool times;     /* made from reuse times: the meter must keep them */
    bool takes_ways;
    enum sc_status (*curve)(const struct sc_reuse_histogram *histogram, double ways,
                            const double *capacity, size_t n, double *miss_ratio,
                            struct sc_error *error);
};

extern const struct sc_reuse_rule sc_reuse_rules[];
extern const size_t sc_reuse_rule_count;

/* The rule of that name, or NULL. */
const struct sc_reuse_rule *sc_reuse_rule_find(const char *name);

/*
 * The miss ratio at n capacities in blocks, which must not fall.  ways 0: one set.  std_error,
 * unless NULL, becomes what one standard deviation of the sampling error is estimated at, 0
 * when exact: the spread over sixteenths of the sample (delete-a-group jackknife), and for rules
 * made from distances what the curve changes over one standard deviation of the distance,
 * sqrt(C (1 - R) / R), both in quadrature; where nearly all misses, at least that of how many
 * accesses the sample stands for.
 * SC_EDOMAIN, SC_EMISSING: as above, or of the rule.  SC_ENOSPACE: no memory.
 */
enum sc_status sc_reuse_meter_curve(struct sc_reuse_meter *meter, const struct sc_reuse_rule *rule,
                                    double ways, const double *capacity, size_t n,
                                    double *miss_ratio, double *std_error,
                                    struct sc_error *error) SC_MUST_CHECK;

#endif
