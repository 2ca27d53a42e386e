/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the hbf system share among themselves. */
#ifndef SC_HBF_PRIVATE_H
#define SC_HBF_PRIVATE_H

#include "hbf_workload.h"

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

/* Choices of keys that serve has too. */
extern const struct sc_choice sc_hbf_attentions[3], sc_hbf_orders[3], sc_hbf_cold_starts[3];

/* Rotary part that MLA adds to each query head and to the latent key. */
enum { SC_HBF_MLA_ROPE_DIM = 64 };

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

typedef struct hbf_outcome hbf_run(const struct sc_hbf_mechanisms *mechanisms,
                                   const struct sc_hbf_machine *machine,
                                   const struct sc_hbf_load *load, struct sc_trace *trace);

struct sc_hbf_policy {
    struct sc_choice choice; /* first: a policy is a choice */
    struct sc_hbf_mechanisms mechanisms;
    hbf_run *run;
};

enum { SC_HBF_POLICIES = 14 };
extern const struct sc_hbf_policy sc_hbf_policies[SC_HBF_POLICIES];

/* The two tensor streams, which the key `order` can lay over another policy. */
hbf_run sc_hbf_run_address_stream, sc_hbf_run_demand_stream;

/* sc_system.estimate of this system. */
enum sc_status sc_hbf_estimate(const void *scenario, void *answer, struct sc_trace *trace,
                               struct sc_error *error) SC_MUST_CHECK;

/* Columns of one attention head. */
double sc_hbf_head_dim(const struct sc_hbf *scenario);

/* Rows of activations that multiply each weight. */
double sc_hbf_tokens(const struct sc_hbf *scenario);

#endif
