/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of prefetch's closed form share: the kernel as rates and
 * distributions, the attempts to prefetch a sector, and the fixed point. */
#ifndef SC_PREFETCH_FORMS_H
#define SC_PREFETCH_FORMS_H

#include "prefetch_parts.h"
#include "prefetch_private.h"

/* ---- Demand: where a load finds its data without prefetches ---- */

enum { SC_PREFETCH_CLASSES = 6 };

/* A load of the body.  `before` are the earlier touches of the same sectors,
 * in accesses of all warps; the rest of the shares is touched for the first time. */
struct pf_load {
    struct sc_reuse before[SC_PREFETCH_CLASSES]; /* of its sectors */
    bool other[SC_PREFETCH_CLASSES];             /* that touch was another warp's */
    struct sc_reuse line[SC_PREFETCH_CLASSES];   /* of its lines */
    size_t before_count, line_count;
    double cold;      /* share touched for the first time by this SM */
    double chain;     /* steps back along the chain over which strides hold */
    bool misleads;    /* the next holds for one CTA only */
    double irregular; /* P(an access goes anywhere) */
    double zero;      /* share of zero sectors */
    bool stored;      /* to, at the end of the iteration */
    double new_block; /* share of these that are the first under a line of metadata, and */
    double block_gap; /* accesses between two under the same line, on average */
};

/* The kernel and its machine. */
struct pf_kernel {
    const struct sc_prefetch *scenario;
    struct sc_prefetch_machine machine;
    struct pf_load load[SC_PREFETCH_LOADS_MAX];
    double loads, sectors, warps, cta_warps, iterations, instructions;
    double in_step;   /* iterations that warps run between two barriers, or half the loop */
    double sharers;   /* warps whose sectors lie in one line, and keep it fresh */
    double waves;     /* rounds of CTAs, one after the other in their slots */
    double cold_dram; /* P(data new to this SM is not in L2 either) */
};
void sc_pf_kernel(const struct sc_prefetch *scenario, const struct sc_prefetch_machine *machine,
                  struct pf_kernel *kernel);

/* ---- Attempts: the triggers that predict a given sector ---- */

enum { SC_PREFETCH_ATTEMPTS = 20 };

struct pf_attempt {
    enum sc_prefetch_pattern pattern;
    double lead;      /* iterations before the demand, of the middle one */
    double copies;    /* triggers alike */
    double available; /* P(the trigger exists): not before the loop or outside of the CTA */
    double distance;  /* in steps of its pattern */
};

/* Attempts on a sector of a load that a chain of `chain` strides leads to, furthest
 * lead first; returns how many. */
size_t sc_pf_attempts(const struct pf_kernel *kernel,
                      const struct sc_prefetch_mechanisms *mechanisms, double chain,
                      struct pf_attempt attempts[SC_PREFETCH_ATTEMPTS]);

/* Triggers between warps that are worth as many independent ones: the stride is trusted
 * for a while or not at all. */
double sc_pf_triggers(double count);

/* What becomes of a sector that is not there: shares of its demands. */
struct pf_fate {
    double issued;        /* prefetches per demand, re-issues included */
    double on_time, late; /* the rest finds nothing: missed */
    double known;         /* zero sectors that arrived: demand finds them in the metadata */
    double early;         /* evicted before a demand that then misses */
    double parked;        /* of the known: their data stays in registers, where nobody asks */
    double dropped;       /* thrown away on arrival, re-issues included */
    double late_wait;     /* cycles that a late one still waits, times late */
    double hold;          /* cycles that on-time data waits, times on_time */
    double lead;          /* iterations, mean over on-time ones, times on_time */
    double pattern_issued[SC_PREFETCH_PATTERNS];
};

/* How a fetch and a line in its place live. */
struct pf_life {
    struct sc_latency latency;      /* of a prefetch */
    double scatter;                 /* deviation of it that bursts add, cycles */
    double iteration;               /* cycles of an iteration */
    double variance;                /* of it, cycles^2 */
    double throttle;                /* share of the time that prefetches may go */
    double spell;                   /* how long it lets them, or not, cycles */
    bool just_in_time;              /* the oracle of timeliness */
    double lead_cv;                 /* what scheduling adds */
    double residence, residence_cv; /* cycles */
    double metadata;       /* cycles that zero metadata stays; 0: not of such sectors */
    double register_share; /* of prefetches that find a register */
    double register_hold, register_cv; /* cycles that it keeps them, and their spread over that */
    double register_drop;  /* share of these that have lost it before their data comes */
};

/* What becomes of a fetch that goes out `lead` cycles before its demand. */
struct sc_timeliness sc_pf_timeliness(double lead, const struct pf_life *life);

/* Re-issue: each attempt in turn fetches the sector unless an earlier fetch of it
 * is still under way or there.  pass[k] is P(attempt k is issued if it is needed and
 * the throttle lets it). */
struct pf_fate sc_pf_fate(const struct pf_attempt *attempts, size_t count, const double *pass,
                          const struct pf_life *life);

/* ---- The fixed point ---- */

struct pf_state {
    int steps;        /* rounds of the fixed point */
    double iteration; /* T: cycles of an iteration of a warp */
    double variance;  /* of it, by the loads that wait and those that do not */
    double skew;      /* iterations that warps are apart */
    double active;    /* cycles of an iteration of a warp that has its turn */
    double served;    /* share of the sectors fetched that a prefetch has in time */
    double away;      /* of them, not at the issue port, load waits included */
    double exposed;   /* waiting for loads */
    double barrier;   /* waiting at barriers */
    double bandwidth; /* T that memory, L2 or MSHRs alone would take */
    double unlimited; /* T without that */
    const char *narrowest;
    bool at_port; /* it is the SM's own: MSHRs or the load/store port */
    double latency, fetch_latency, fetch_wait; /* mean of a load, of a fetch, and in queues */
    double residence, metadata;                /* of lines and of zero metadata, cycles */
    double throttle, queue_ratio, register_fallback;
    double register_turn; /* cycles in which all registers are given to others, one by one */
    double burst; /* cycles that a prefetch waits behind others of its burst */
    double on_time, late, early, issued, useless, missed, hits; /* per access */
    double sent, dropped;            /* issued in this round, which `issued` lags behind; of them,
                                      * thrown away on arrival or overwritten by stores */
    double overshoot;                /* of the useless ones: past the end of the loop */
    double passed;                   /* share of the candidates that the queue takes */
    double l2_fetches, dram_fetches; /* per access */
    double distance;                 /* best, in steps of the pattern that issues most */
    double false_positive, false_negative;
    double demand_evictions;
};
/* Until T changes by less than `tolerance`, relative. */
struct pf_state sc_pf_solve(const struct pf_kernel *kernel,
                            const struct sc_prefetch_mechanisms *mechanisms, double tolerance);

#endif
