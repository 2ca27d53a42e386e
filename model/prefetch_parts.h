/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of the closed form of `prefetch`: small laws, each of which stands alone.
 *
 * Times are in cycles of the SM's clock unless the name says otherwise; reuse
 * and residence are counted in accesses to the cache.  All functions are pure,
 * and finite for finite inputs within the ranges given; outside of them the
 * value is unspecified but neither NaN nor a trap.
 *
 * Sources, cited by their short names:
 *   AET       Hu et al., Kinetic Modeling of Data Eviction in Cache (USENIX ATC 2016)
 *   Che       Che, Tung & Wang, Hierarchical Web Caching Systems (IEEE JSAC 20, 2002)
 *   Kleinrock Queueing Systems, vol. 2 (1976)
 *   paper     SnakeCharmer, sections III-A to III-C
 */
#ifndef SC_PREFETCH_PARTS_H
#define SC_PREFETCH_PARTS_H

#include <stddef.h>

/* ---- Residence: how long a line stays in the cache ---- */

/* A class of accesses: `share` of all, whose line is used again after `reuse`
 * accesses, exactly so (cyclic) or on average, exponentially; INFINITY: never. */
struct sc_reuse {
    double share, reuse;
    int cyclic;
};

/* P(reuse > t): the miss ratio of a cache that keeps a line for t accesses. */
double sc_reuse_survival(const struct sc_reuse *classes, size_t count, double t);

/* Characteristic time (AET, Che): the accesses for which a cache of `lines`
 * lines keeps one, from
 *
 *   lines = integral over [0, T] of P(reuse > t) dt + useless T + held min(hold, T)
 *
 * where per access `useless` lines enter that nobody uses and `held` enter early
 * and wait `hold` accesses for their use.  INFINITY: everything fits. */
double sc_reuse_characteristic(const struct sc_reuse *classes, size_t count, double useless,
                               double held, double hold, double lines);

/* ---- Latency: two queues in a row ---- */

/* A distribution on a few points. */
enum { SC_LATENCY_POINTS = 3 };
struct sc_latency {
    double cycles[SC_LATENCY_POINTS], weight[SC_LATENCY_POINTS];
};

/* Mean wait at a server whose requests come in bursts of `customers` at most:
 * min(burst service rho / (2 (1 - rho)), 0.7 customers service), rho >= 0 any;
 * the first is M/D/1 for burst 1, the second holds when the queue saturates. */
double sc_prefetch_wait(double service, double rho, double burst, double customers);

/* L2 hits take l2; the share dram_share goes on to DRAM, for `dram` more and an
 * exponential wait of mean dram_wait (Gauss-Laguerre, two points). */
struct sc_latency sc_prefetch_latency(double l2, double dram_share, double dram, double dram_wait);
double sc_latency_mean(const struct sc_latency *latency);
double sc_latency_variance(const struct sc_latency *latency);

/* ---- Timeliness ---- */

/* Shares of the prefetches that have a use: they sum to 1. */
struct sc_timeliness {
    double on_time, early, late;
};

/* Lead is spread log-logistically with about the mean `lead` and the coefficient
 * of variation lead_cv, which match a log-normal's; a line that waits w for its use is still
 * there with probability G(w), the survival of a gamma distribution of the mean `residence`
 * and the deviation residence_cv x residence: in an LRU set of n ways a line lives until n
 * others have come, so that 1/residence_cv^2 is n where lines come at random.  late: lead <
 * latency.  residence may be INFINITY.  lead >= 0; 0 is late. */
struct sc_timeliness sc_prefetch_timeliness(double lead, double lead_cv,
                                            const struct sc_latency *latency, double residence,
                                            double residence_cv);

/* P(a line that waits `wait` is still there), as above. */
double sc_prefetch_retained(double wait, double residence, double residence_cv);

/* ---- Issue ---- */

/* Stationary P(counter >= threshold) of a counter on 0..7 that gains 1 with
 * probability `success` and loses 2 otherwise (the training confidence). */
double sc_prefetch_confidence(double success, double threshold);

/* A burst of `candidates` meets a queue that lets `slots` of them through in all;
 * the one that stands k-th (from 1) passes with probability ratio^k, where the
 * sum of ratio^k is slots.  Returns the ratio, 1 when there are slots for all. */
double sc_prefetch_queue_ratio(double candidates, double slots);

/* Mean of ratio^k over the `count` candidates that follow the first `ahead`. */
double sc_prefetch_queue_share(double ratio, double ahead, double count);

/* Duty cycle of a throttle that stops prefetching while the load is above
 * `limit`: between 0 and 1, so that idle + duty (full - idle) = limit. */
double sc_prefetch_duty(double idle_load, double full_load, double limit);

/* Share of the prefetches `distance` iterations ahead that point past the end of
 * a loop of `iterations`. */
double sc_prefetch_overshoot(double distance, double iterations);

/* ---- Distance tuner ---- */

/* Birth-death chain over the distances 1..count: every `window` outcomes it
 * stays if more than half were on time, else it goes up if late ones are more
 * than early ones, or down.  outcome[d-1] are the shares at distance d; share[]
 * receives the stationary distribution.  window from 1 to 63. */
void sc_prefetch_tune(const struct sc_timeliness *outcome, size_t count, int window, double *share);

/* Where the same chain is after `windows` windows from distance `start`, by its mean
 * drift; a real number from 1 to count.  It turns back nowhere. */
double sc_prefetch_settle(const struct sc_timeliness *outcome, size_t count, int window,
                          double windows, double start);

/* ---- Zero filter ---- */

struct sc_zero_filter {
    double false_positive; /* suppressed share of the non-zero candidates */
    double false_negative; /* issued share of the zero ones */
};

/* Markov renewal: candidates are zero with share zero_share in runs of mean
 * length `run`; a 2-bit counter, +1 on zero and -1 otherwise, learns each issued
 * one `delay` candidates later; at 3 it suppresses the next `timeout`
 * candidates and starts again from 0.  run >= 1, raised so that the runs between
 * have length 1 at least. */
struct sc_zero_filter sc_prefetch_zero_filter(double zero_share, double run, double delay,
                                              double timeout);

/* ---- Throughput ---- */

/* Time of an iteration of `warps` warps that take turns at one issue port: each
 * needs it for `issue` cycles, in one go, and is away `away` cycles; the machine
 * repairman with fixed service.  At least warps x bottleneck. */
double sc_prefetch_iteration(double warps, double issue, double away, double bottleneck);

#endif
