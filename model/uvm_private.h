/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the uvm system share among themselves. */
#ifndef SC_UVM_PRIVATE_H
#define SC_UVM_PRIVATE_H

#include "uvm.h"

/* In which order the footprint is gone over, as far as promotion can follow it. */
enum uvm_order {
    UVM_ONE_FRONT,   /* what is promoted around a front is read next */
    UVM_MANY_FRONTS, /* promotion serves one of them, and lags behind the others */
    UVM_NO_ORDER     /* touches at random */
};

/* A scenario reduced to what the laws are about.  Bytes unless the name says else. */
struct uvm_case {
    const struct sc_uvm *scenario;
    const struct sc_uvm_pattern *pattern;
    double footprint, usable;
    double touched;  /* distinct bytes that the run comes by */
    double hot;      /* what must be resident for nothing to come again */
    double passes;
    double read;     /* bytes that the kernel reads in all */
    double mapped;   /* bytes that the busier direction of the link carries when all is mapped */
    double device_s; /* T_dev */
    double migration_rate, link_rate, fault_rate; /* bytes per second */
    double refetch;  /* refetched over first fetched past capacity; NaN: the law's */
    bool scattered;  /* of a doubtful pattern the branch that thrashes */
    enum uvm_order order;
    bool fitted;     /* mode=fitted */
    bool hides;      /* what is read over the link goes on beside what is not */
    double host;     /* bytes that host code pulls back and migration brings again */
};

/* What a fault-driven run moves past capacity. */
struct uvm_traffic {
    double in;     /* bytes */
    double faults; /* leaves faulted on */
};

/* One way of going over the footprint. */
struct sc_uvm_pattern {
    struct sc_choice choice; /* first: a pattern is a choice */
    bool has_hot;    /* hot_share of the footprint, else all of it, is what must be resident */
    bool partial;    /* nothing but the hot part is touched */
    bool random;     /* mapped reads come in random order */
    bool generates;  /* a pass makes a token */
    bool moves;      /* a window that drifts */
    bool strides;    /* passes may follow from the tile */
    bool doubtful;   /* past capacity either branch is possible, however far */
    bool concurrent; /* only reads: resident and mapped parts are read at the same time */
    bool splits;     /* reads one half and writes the other */
    enum uvm_order order;
    bool shares;     /* fronts share fault batches */
    struct uvm_traffic (*law)(const struct uvm_case *c); /* fault-driven, touched > usable */
    double (*read)(const struct uvm_case *c);            /* bytes that the kernel reads */
};
extern const struct sc_uvm_pattern sc_uvm_patterns[SC_UVM_PATTERNS];

/* Time of a run by what it is spent on, and what moved. */
struct uvm_outcome {
    double device_s, in_s, out_s, fault_s, mapped_s, fixed_s;
    double in, out, mapped, faults; /* bytes, faults */
    double first, host;             /* of in: what comes first, what host code had pulled back */
    double resident;                       /* at the end */
    double cliff;                          /* footprint; NaN: none */
    double first_phase_s, last_phase_s;    /* of a moving window */
    const char *fixed_name;                /* what the fixed part is, when that is the largest */
};

typedef struct uvm_outcome uvm_run(const struct uvm_case *c);

struct sc_uvm_policy {
    struct sc_choice choice; /* first: a policy is a choice */
    struct sc_uvm_mechanisms mechanisms;
    uvm_run *run;
};
enum { SC_UVM_POLICIES = 6 };
extern const struct sc_uvm_policy sc_uvm_policies[SC_UVM_POLICIES];

double sc_uvm_outcome_s(const struct uvm_outcome *outcome);

/* Whether the time leaves out what is placed first, by a call before the run or by the run. */
bool sc_uvm_leaves_out(const struct uvm_case *c, bool by_call);

/* Time to serve faults that bring that in, on data in host memory. */
double sc_uvm_service_s(const struct uvm_case *c, const struct uvm_traffic *traffic);
/* Faults until a footprint that fits is resident. */
double sc_uvm_first_faults(const struct uvm_case *c);

/* What sweeps read that is not among the first `resident` bytes; the last one may be cut. */
double sc_uvm_swept_past(const struct uvm_case *c, double resident);

/* Nothing but reads in place. */
struct uvm_outcome sc_uvm_run_mapped(const struct uvm_case *c);

/* ember-adaptive in mode=law. */
struct uvm_outcome sc_uvm_follow_counters(const struct uvm_case *c);

/* sc_system.estimate of this system. */
enum sc_status sc_uvm_estimate(const void *scenario, void *answer, struct sc_trace *trace,
                               struct sc_error *error) SC_MUST_CHECK;

#endif
