/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the closed form and the simulator of `hbf` share: the machine, how a grid
 * lies on it, which mechanisms a policy has, and the accounts of an answer.
 *
 * Nothing here says how long a policy takes: of that each of the two has its own
 * account, or one could not check the other.
 */
#ifndef SC_HBF_WORKLOAD_H
#define SC_HBF_WORKLOAD_H

#include "hbf.h"

/* The machine as the policies see it: rates in pages per second. */
struct sc_hbf_machine {
    double flash_rate;      /* B: pages/s that the flash delivers */
    double latency_s;       /* L: demand to data, variance terms included */
    double nominal_latency_s; /* the same without queueing; what windows are sized for */
    double extra_latency_s; /* L beyond HBM latency, what a cold start adds */
    double turnaround_s;    /* from arrival of a page to the release of its entry */
    double launch_s;        /* fixed overhead of a kernel */
    double slots;           /* N: pages that the buffer holds */
    double miss_pool;       /* G: pages that demand misses can have outstanding, all SMs */
    double demand_window;   /* D of a 128-column tile: pages an SM waits for at a time */
    double sm_rate;         /* r: pages/s that one SM can take in */
    double sm_rate_wide;    /* factor on it with 256-column tiles */
    double l2_rate;         /* pages/s that the L2 reads for all SMs when not congested */
    double window_headroom; /* kappa: SSHRMax over what the kernel's own rate needs */
    double miss_factor, order_factor, clog_factor, ramp_factor, block_factor; /* closed form only */
    double lost_factor, lead_factor, refetch_factor, overrun_factor;        /* likewise */
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
struct sc_hbf_load {
    double pages;   /* P */
    double ctas;    /* C */
    double active;  /* n: SMs that have a CTA */
    double light, heavy; /* m_lo, m_hi: pages on a lightly and a heavily loaded SM */
    double heavy_sms;    /* n_h: SMs with one CTA more than the others, or with a main one */
    double late_pages;   /* of CTAs that the first wave leaves waiting */
    double side_ctas, side_pages; /* as in the kernel */
    double window;  /* D: pages that one SM demands at a time */
    double sm_rate; /* r, at least what the ideal time implies */
    double supply;  /* b: pages/s that the kernel draws in the ideal */
    double drain;   /* d: pages/s that it can draw when its reads do not come in bursts */
    double mean_rate; /* P over the ideal's time without its fixed parts */
    double ideal_s;
};

/* Rows of the choices `stale` and `scheduler`. */
enum { SC_HBF_STALE_REFETCH, SC_HBF_STALE_SKIP };
enum { SC_HBF_STATIC, SC_HBF_GREEDY };

/* Who decides which page is asked for next. */
enum sc_hbf_stream {
    SC_HBF_STREAM_NONE,   /* only demand */
    SC_HBF_STREAM_TENSOR, /* one stream for the tensor, as long as slots are free */
    SC_HBF_STREAM_SSHR,   /* a staging warp per SM, bounded by tracking entries */
    SC_HBF_STREAM_LEAD,   /* per SM, a fixed number of pages ahead of demand */
    SC_HBF_STREAM_GLOBAL  /* one stream for the GPU, bounded by bandwidth x latency */
};

/* The mechanisms of a policy, as the scenario's keys leave them. */
struct sc_hbf_mechanisms {
    enum sc_hbf_stream stream;
    bool is_ideal;          /* every page is there when asked for */
    bool has_buffer;
    bool tracks_pages;      /* has SSHR-like entries of its own */
    bool demand_order;      /* the stream follows the demand, not the addresses */
    bool paced;             /* admission U < min(SSHRMax, S0 + F) */
    bool weighted;          /* entries are shared out by the pages of an SM, not evenly */
    bool release_on_demand; /* an entry is held until first demand, not until the fill */
    bool evicts_consumed;   /* only consumed pages leave the buffer; else first in, first out */
    bool crosses_kernels;   /* staging goes on over kernel boundaries */
    double lead_pages;      /* of the lead-bound prefetchers */
};
struct sc_hbf_mechanisms sc_hbf_mechanisms(const struct sc_hbf *scenario);

/* Checks fields and their consistency; what both do first. */
enum sc_status sc_hbf_check(const struct sc_hbf *scenario, struct sc_error *error) SC_MUST_CHECK;

struct sc_hbf_machine sc_hbf_machine(const struct sc_hbf *scenario,
                                     const struct sc_hbf_mechanisms *mechanisms);
struct sc_hbf_load sc_hbf_load(const struct sc_hbf_kernel *kernel,
                               const struct sc_hbf_machine *machine, double fixed_s);

/* Sums over the launches of one pass, weighted by multiplicity. */
struct sc_hbf_account {
    double time_s, ideal_s;
    double access_s, order_s, capacity_s; /* stalls, parts of time_s */
    double pages, discarded, refetched, missed;
    double in_flight_page_s; /* pages on their way, over time */
    double active_s;         /* active SMs, over time */
    double entries;          /* most tracking entries that an SM used */
    double load_to_use_s;    /* mean; NaN: from the missed pages */
    double useful_s, residency_s; /* mean lives of a page; NaN: from the rates */
    const char *bound;
};

/* The answer that the sums amount to: shares, rates, silicon, energy. */
void sc_hbf_close(const struct sc_hbf *scenario, const struct sc_hbf_mechanisms *mechanisms,
                  const struct sc_hbf_machine *machine, const struct sc_hbf_account *account,
                  struct sc_hbf_answer *answer);

#endif
