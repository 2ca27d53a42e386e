/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the hbf system share among themselves. */
#ifndef SC_HBF_PRIVATE_H
#define SC_HBF_PRIVATE_H

#include "hbf.h"

/* fmin, fmax, floor and ceil are calls into the C library unless the compiler
 * may assume more than it may here; these are an instruction or two, for numbers
 * that are no NaN and, rounded, fit 63 bits. */
static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

static inline double smaller(double a, double b)
{
    return a < b ? a : b;
}

static inline double round_down(double x)
{
    const double whole = (double)(long long)x;
    return whole > x ? whole - 1.0 : whole;
}

static inline double round_up(double x)
{
    const double whole = (double)(long long)x;
    return whole < x ? whole + 1.0 : whole;
}

/* Rows of the choices; the order is that of the tables in hbf_fields.c. */
enum { SC_HBF_DECODE, SC_HBF_PREFILL };
enum { SC_HBF_PART_ALL, SC_HBF_PART_ATTENTION, SC_HBF_PART_FFN };
enum { SC_HBF_NO, SC_HBF_YES };
enum { SC_HBF_GQA, SC_HBF_MHA, SC_HBF_MLA };
enum { SC_HBF_ORDER_AUTO, SC_HBF_ORDER_ADDRESS, SC_HBF_ORDER_DEMAND };
enum { SC_HBF_COLD_AUTO, SC_HBF_COLD_EXPOSED, SC_HBF_COLD_HIDDEN };

/* The machine as the policies see it: rates in pages per second. */
struct hbf_machine {
    double flash_rate;      /* B: pages/s that the flash delivers */
    double latency_s;       /* L: demand to data, variance terms included */
    double extra_latency_s; /* L beyond HBM latency, what a cold start adds */
    double turnaround_s;    /* from arrival of a page to the release of its entry */
    double launch_s;        /* fixed overhead of a kernel */
    double slots;           /* N: pages that the buffer holds */
    double miss_pool;       /* G: pages that demand misses can have outstanding, all SMs */
    double demand_window;   /* D of a 128-column tile: pages an SM waits for at a time */
    double sm_rate;         /* r: pages/s that one SM can take in */
    double sms;
    double tracking_entries; /* per SM */
    double s0_pages;        /* per SM, NaN: an even share of the buffer */
    double lead_pages;      /* per SM */
    double stage_rate;      /* STAGE instructions per second and SM */
    double launch_stagger_s;
    double read_time_s;     /* t_R */
    double subarrays;       /* of all channels */
    double retry_probability;
};

/* One kernel on that machine. */
struct hbf_load {
    double pages;   /* P */
    double ctas;    /* C */
    double active;  /* n: SMs that have a CTA */
    double light, heavy; /* m_lo, m_hi: pages on a lightly and a heavily loaded SM */
    double heavy_sms;    /* n_h: SMs with one CTA more than the others */
    double window;  /* D: pages that one SM demands at a time */
    double sm_rate; /* r, at least what the ideal time implies */
    double supply;  /* b: pages/s that the kernel draws when nothing stalls */
    double ideal_s;
};

/* What a policy makes of the kernel. */
struct hbf_outcome {
    double time_s;
    double access_s, order_s, capacity_s; /* stalls, parts of time_s */
    double discarded, refetched;          /* pages */
    double missed;                        /* pages fetched by demand itself */
    double in_flight;                     /* pages on their way, on average while streaming */
    double entries;                       /* tracking entries that one SM uses */
    const char *limit;                    /* what the larger part of the stalls is due to */
};

struct sc_hbf_policy {
    struct sc_choice choice; /* first: a policy is a choice */
    bool has_buffer;
    bool tracks_pages;       /* has SSHR-like entries of its own */
    bool demand_order;       /* the stream follows the demand, not the addresses */
    bool paced;              /* admission U < min(SSHRMax, S0 + F) */
    bool release_on_demand;  /* an entry is held until first demand, not until the fill */
    bool evicts_consumed;    /* only consumed pages leave the buffer; else first in, first out */
    bool crosses_kernels;    /* staging goes on over kernel boundaries */
    double lead_pages;       /* default lead of the lead-bound prefetchers */
    struct hbf_outcome (*run)(const struct sc_hbf_policy *policy, const struct hbf_machine *machine,
                              const struct hbf_load *load, struct sc_trace *trace);
};

enum { SC_HBF_POLICIES = 14 };
extern const struct sc_hbf_policy sc_hbf_policies[SC_HBF_POLICIES];

/* The two tensor streams, which the key `order` can lay over another policy. */
struct hbf_outcome sc_hbf_run_address_stream(const struct sc_hbf_policy *policy,
                                             const struct hbf_machine *machine,
                                             const struct hbf_load *load, struct sc_trace *trace);
struct hbf_outcome sc_hbf_run_demand_stream(const struct sc_hbf_policy *policy,
                                            const struct hbf_machine *machine,
                                            const struct hbf_load *load, struct sc_trace *trace);

/* sc_system.estimate of this system. */
enum sc_status sc_hbf_estimate(const void *scenario, void *answer, struct sc_trace *trace,
                               struct sc_error *error) SC_MUST_CHECK;

/* Rows of activations that multiply each weight. */
double sc_hbf_tokens(const struct sc_hbf *scenario);

#endif
