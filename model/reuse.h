/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reuse distances to miss ratios.
 *
 * A cache holds `capacity` blocks; a block is whatever the cache moves as one: a page, a
 * sector.  The reuse distance of an access is how many other blocks were accessed since the
 * last access to its own block, each counted once; the reuse time is how many accesses ago that
 * was, 1 for the very next.  Distance d hits a cache of C blocks under LRU if and only if
 * d < C (Mattson, Gecsei, Slutz & Traiger, IBM Syst. J. 9, 1970).  A first access, a cold one,
 * has neither and never hits.
 *
 * The miss ratio is misses over accesses, from 0 to 1, the cold ones among them.  Counts are
 * doubles, exact up to 2^53; they may be estimates.  Capacities may lie between whole numbers.
 *
 * Nothing here allocates, prints, or keeps state.
 *
 * Sources, cited below by their short names:
 *   Berg      Berg & Hagersten, StatCache, ISPASS 2004
 *   Che       Che, Tung & Wang, IEEE J. Sel. Areas Commun. 20, 2002
 *   Fagin     Fagin, J. ACM 24, 1977: the same for LRU in the limit
 *   Gelenbe   Gelenbe, IEEE Trans. Comput. 22, 1973: random replacement, FIFO
 *   Hu        Hu and others, Kinetic modeling of data eviction in cache, USENIX ATC 2016
 *   Martina   Martina, Garetto & Leonardi, INFOCOM 2014
 *   Smith     Smith, IEEE Trans. Softw. Eng. 4, 1978; Hill & Smith, IEEE Trans. Comput. 38, 1989
 */
#ifndef SC_REUSE_H
#define SC_REUSE_H

#include <stddef.h>

#include "status.h"

/*
 * Accesses by distance or by time.  Bin i holds the whole numbers from edge[i] up to below
 * edge[i + 1], evenly; edge NULL: bin i holds the number i alone.  Counts that add up, with the
 * cold ones, to less than `accesses` mean that the rest hits every cache.
 */
struct sc_reuse_histogram {
    const double *edge;  /* bins + 1 values >= 0 that rise, or NULL */
    const double *count; /* bins values >= 0 */
    size_t bins;
    double cold;     /* >= 0 */
    double accesses; /* > 0 */
};

/*
 * The miss ratio at each of n capacities >= 0, which must not fall.
 * SC_EDOMAIN: a histogram or capacities without meaning; error, unless NULL, names the member.
 */

/* Least recently used out, from distances: exact at whole capacities where every bin is one
 * number, linear within wider bins and between capacities. */
enum sc_status sc_reuse_lru(const struct sc_reuse_histogram *distances, const double *capacity,
                            size_t n, double *miss_ratio, struct sc_error *error) SC_MUST_CHECK;

/* LRU within sets of `ways` blocks, from distances.  Blocks fall into sets as if by chance, so
 * that distance d misses when `ways` or more of d blocks fall into the same of capacity / ways
 * sets (Smith).  A capacity up to `ways` is one set, and exact.  ways >= 1, whole. */
enum sc_status sc_reuse_set_associative(const struct sc_reuse_histogram *distances, double ways,
                                        const double *capacity, size_t n, double *miss_ratio,
                                        struct sc_error *error) SC_MUST_CHECK;

/* A block chosen at random out, from times: every eviction between two accesses takes the block
 * with probability 1 / capacity, and misses, once the cache is full, are evictions (Berg).  A
 * histogram without cold accesses is taken for a cache that is full from the start.  Below one
 * block nothing hits. */
enum sc_status sc_reuse_random(const struct sc_reuse_histogram *times, const double *capacity,
                               size_t n, double *miss_ratio, struct sc_error *error) SC_MUST_CHECK;

/* LRU, from times: the average eviction time T of a cache is where the probabilities that the
 * reuse time is above 0, 1, ... T - 1 add up to the capacity, and accesses with a longer time
 * miss (Hu; Che's characteristic time, of a trace).  Approximate, and too high where the trace
 * is not long against the time that it takes to fill the cache: it is taken for a piece of an
 * endless one. */
enum sc_status sc_reuse_eviction_time(const struct sc_reuse_histogram *times,
                                      const double *capacity, size_t n, double *miss_ratio,
                                      struct sc_error *error) SC_MUST_CHECK;

/* ---- Access patterns in closed form, in the steady state ---- */

enum sc_reuse_policy { SC_REUSE_LRU, SC_REUSE_RANDOM };

/*
 * All of these return the miss ratio, and NaN when an input is not finite, the capacity is
 * negative, or as noted.  Accesses to uniform, skewed and two-class blocks are independent of
 * each other; LRU is then Che's approximation, random replacement Gelenbe's (Martina).
 */

/* `blocks` >= 1 blocks in turn, over and over.  LRU: exact, all or nothing. */
double sc_reuse_cyclic(enum sc_reuse_policy policy, double blocks, double capacity);

/* `blocks` >= 1 blocks, each as likely.  Exact, for any policy that does not look ahead. */
double sc_reuse_uniform(double blocks, double capacity);

/* Block i of 1 ... `blocks` with a probability as i^-exponent; exponent from 0 to 10. */
double sc_reuse_zipf(enum sc_reuse_policy policy, double blocks, double exponent, double capacity);

/* hot_share of all accesses, 0 to 1, goes to hot_blocks >= 1 blocks, the rest to cold_blocks >= 1. */
double sc_reuse_hot_cold(enum sc_reuse_policy policy, double hot_blocks, double hot_share,
                         double cold_blocks, double capacity);

/* Every block is accessed accesses_per_block >= 1 times in a row, then never again; capacity of
 * at least one block. */
double sc_reuse_stream(double accesses_per_block);

#endif
