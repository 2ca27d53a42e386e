/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The staging policies of `hbf`, one closed form each.
 *
 * Time of one kernel from its load (pages per SM, supply rate) and the machine.
 * Stalls are the parts of the time that the policy adds, named as SlipStream
 * does: access (the page is on its way), order (the stream had not asked for
 * it), capacity (the buffer had no room for it or lost it).
 */
#include <math.h>

#include "hbf_private.h"

/* L' = L + turn-around: how long a tracking entry is held at least. */
static double round_trip(const struct sc_hbf_machine *m)
{
    return m->latency_s + m->turnaround_s;
}

/* Pages that n SMs can wait for together: each its window, all the shared pool. */
static double demand_outstanding(const struct sc_hbf_machine *m, double window, double active)
{
    return smaller(active * window, m->miss_pool);
}

/* First and second phase of an unevenly loaded grid: all active SMs up to the
 * light load, then the heavy ones alone.  `per_sm` and `shared` are the limits
 * on pages outstanding in each phase. */
static double two_phase_time(const struct sc_hbf_load *k, double latency_s, double phase1, double phase2)
{
    const double first = k->light * k->active * latency_s / phase1;
    const double second = (k->heavy - k->light) * k->heavy_sms * latency_s / phase2;
    return first + (k->heavy > k->light ? second : 0.0);
}

static struct hbf_outcome run_ideal(const struct sc_hbf_mechanisms *policy, const struct sc_hbf_machine *m,
                                    const struct sc_hbf_load *k, struct sc_trace *trace)
{
    (void)policy;
    sc_trace_add(trace, "T", "T_ideal", k->ideal_s, SC_SECONDS, "time with HBM-like latency");
    return (struct hbf_outcome){ .time_s = k->ideal_s, .limit = "flash latency", .in_flight = k->supply * m->turnaround_s };
}

static double on_demand_time(const struct sc_hbf_machine *m, const struct sc_hbf_load *k,
                             struct sc_trace *trace)
{
    const double phase1 = demand_outstanding(m, k->window, k->active);
    const double phase2 = demand_outstanding(m, k->window, k->heavy_sms);
    const double fetch_s = two_phase_time(k, m->latency_s, phase1, phase2);
    sc_trace_add(trace, "Q1", "min(n D, G)", phase1, SC_NUMBER,
                 "pages outstanding while all active SMs run (Little's law: rate = Q / L)");
    sc_trace_binds(trace, m->miss_pool < k->active * k->window);
    sc_trace_add(trace, "Q2", "min(n_h D, G)", phase2, SC_NUMBER,
                 "pages outstanding when only the heavily loaded SMs are left");
    sc_trace_add(trace, "T_fetch", "L (m_lo n / Q1 + (m_hi - m_lo) n_h / Q2)", fetch_s, SC_SECONDS,
                 "every page pays the flash latency, Q at a time");
    const double time_s = larger(k->ideal_s, m->launch_s + fetch_s);
    sc_trace_add(trace, "T", "max(T_ideal, t_launch + T_fetch)", time_s, SC_SECONDS, "kernel time");
    return time_s;
}

static struct hbf_outcome run_on_demand(const struct sc_hbf_mechanisms *policy,
                                        const struct sc_hbf_machine *m, const struct sc_hbf_load *k,
                                        struct sc_trace *trace)
{
    (void)policy;
    const double time_s = on_demand_time(m, k, trace);
    return (struct hbf_outcome){ .time_s = time_s, .order_s = time_s - k->ideal_s,
                                 .limit = m->miss_pool < k->active * k->window ? "miss pool"
                                                                               : "demand window",
                                 .missed = k->pages, .in_flight = k->pages * m->latency_s / time_s };
}

/* Every staged page is gone before its use: the kernel runs on demand. */
static void lose_all(const struct sc_hbf_machine *m, const struct sc_hbf_load *k, struct hbf_outcome *out)
{
    const double time_s = larger(on_demand_time(m, k, NULL), out->time_s);
    out->capacity_s += time_s - out->time_s;
    out->time_s = time_s;
    out->missed = k->pages;
}

/* Seconds that one page takes when a share f of the pages misses: the supply,
 * one SM's window (a stalled window still drains its hits), the miss pool. */
static double page_time(const struct sc_hbf_machine *m, const struct sc_hbf_load *k, double miss)
{
    const double window_s = m->latency_s * k->heavy / k->pages * miss /
                            ((k->window - 1.0) * miss + 1.0);
    return larger(1.0 / k->supply, larger(window_s, miss * m->latency_s / m->miss_pool));
}

/* Integral over the kernel of the page time, with miss share f = 1 - beta e^c
 * at progress c.  In terms of f, dc = -df / (1 - f), which needs no exponential.
 * Gauss-Legendre, 5 points on each of 3 pieces; f is 0 from c = ln(1/beta) on. */
static double misses_time(const struct sc_hbf_machine *m, const struct sc_hbf_load *k, double beta)
{
    static const double node[5] = { 0.0469100770306680, 0.2307653449471585, 0.5,
                                    0.7692346550528415, 0.9530899229693320 };
    static const double weight[5] = { 0.1184634425280945, 0.2393143352496832, 0.2844444444444444,
                                      0.2393143352496832, 0.1184634425280945 };
    const double e = 2.718281828459045;
    const double f_first = 1.0 - beta, f_last = larger(0.0, 1.0 - beta * e);
    const double piece = (f_first - f_last) / 3.0;
    double sum = 0.0;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 5; i++) {
            const double f = f_last + piece * (j + node[i]);
            sum += weight[i] * page_time(m, k, f) / (1.0 - f);
        }
    const double clear = f_last > 0.0 ? 0.0 : larger(0.0, 1.0 + log(beta)); /* progress with f = 0 */
    return k->pages * (sum * piece + clear / k->supply);
}

/* Mean miss share of the same law. */
static double mean_miss(double beta)
{
    const double e = 2.718281828459045;
    if (beta >= 1.0)
        return 0.0;
    return beta * e < 1.0 ? 1.0 - (e - 1.0) * beta : -log(beta) - 1.0 + beta;
}

struct hbf_outcome sc_hbf_run_address_stream(const struct sc_hbf_mechanisms *policy,
                                             const struct sc_hbf_machine *m, const struct sc_hbf_load *k,
                                             struct sc_trace *trace)
{
    (void)policy;
    const double beta = smaller(1.0, m->slots / k->pages);
    const double miss = mean_miss(beta);
    const double fill_s = smaller(m->slots, k->pages) / m->flash_rate;
    const double body_s = beta < 1.0 ? misses_time(m, k, beta) : k->pages / k->supply;
    sc_trace_add(trace, "beta", "min(1, N / P)", beta, SC_SHARE, "share of the tensor that fits");
    sc_trace_add(trace, "f", "mean over c of max(0, 1 - beta e^c)", miss, SC_SHARE,
                 "demand that comes before the address-order stream; c is progress, 0..1");
    sc_trace_add(trace, "T_fill", "min(N, P) / B", fill_s, SC_SECONDS,
                 "the stream fills the buffer with pages that demand does not want yet");
    sc_trace_add(trace, "T_body",
                 "P mean max(1/b, L m_hi/P f/((D-1) f+1), f L/G)", body_s, SC_SECONDS,
                 "page by page: supply, one SM's window of misses, the shared miss pool");
    const double cold_s = m->extra_latency_s;
    const double streamed_s = m->launch_s + m->turnaround_s + cold_s + fill_s + body_s;
    const double bypass_s = on_demand_time(m, k, NULL);
    const double time_s = larger(k->ideal_s, smaller(streamed_s, bypass_s));
    sc_trace_add(trace, "T", "max(T_ideal, min(t_launch + L + T_fill + T_body, T_on-demand))",
                 time_s, SC_SECONDS, "kernel time; demand can always fetch for itself");
    const double stall_s = time_s - k->ideal_s;
    const double access_s = smaller(cold_s, stall_s);
    return (struct hbf_outcome){ .time_s = time_s, .access_s = access_s,
                                 .order_s = stall_s - access_s, .missed = miss * k->pages,
                                 .limit = "stream order",
                                 .in_flight = k->pages * m->latency_s / time_s };
}

/* Stalls of a window that starts at w0 pages and doubles every round trip until
 * it covers the delay: what slow start costs. */
static double ramp_time(double window0, double window_max, double rate, double round_trip_s)
{
    const double needed = smaller(window_max, rate * round_trip_s) * (1.0 - 1e-12);
    double stall_s = 0.0;
    for (double window = window0; window < needed; window = larger(1.0, 2.0 * window))
        stall_s += round_trip_s - window / rate;
    return stall_s;
}

/* Time of a kernel whose pages all come from the stream: launch, cold start,
 * then the slower of the stream and the most loaded SM. */
static double stream_body(const struct sc_hbf_load *k, double rate)
{
    return larger(k->pages / rate, k->heavy / k->sm_rate);
}

struct hbf_outcome sc_hbf_run_demand_stream(const struct sc_hbf_mechanisms *policy,
                                            const struct sc_hbf_machine *m, const struct sc_hbf_load *k,
                                            struct sc_trace *trace)
{
    (void)policy;
    const double fixed_s = m->launch_s + m->turnaround_s + m->extra_latency_s;
    const double clean_s = stream_body(k, k->supply);
    const double excess = k->ctas - m->sms; /* CTAs whose pages come before their turn */
    const double per_cta = k->pages / k->ctas;
    const double clog = excess > 0.0 ? m->slots / excess : (double)INFINITY;
    struct hbf_outcome out = { .time_s = fixed_s + clean_s, .access_s = m->extra_latency_s,
                               .limit = "flash latency", .in_flight = k->supply * m->latency_s };
    sc_trace_add(trace, "p", "P / C", per_cta, SC_NUMBER, "pages of one CTA");
    sc_trace_add(trace, "j", "N / (C - SMs)", isfinite(clog) ? clog : per_cta, SC_NUMBER,
                 "position in each CTA at which pages of CTAs not yet launched fill the buffer");
    sc_trace_binds(trace, clog < per_cta);
    if (clog < per_cta) {
        /* Wave by wave: pages up to `hit` come from the buffer, the others on
         * demand; every wave that ends frees the share of its CTAs. */
        double body_s = 0.0, hit = clog;
        for (double left = k->ctas; left > 0.0; left -= m->sms) {
            const double wave = smaller(left, m->sms), hits = smaller(hit, per_cta);
            body_s += wave * hits / k->supply + (per_cta - hits) * wave * m->latency_s /
                                                    demand_outstanding(m, k->window, wave);
            out.missed += wave * (per_cta - hits);
            hit *= k->ctas / excess;
        }
        sc_trace_add(trace, "f", "misses / P", out.missed / k->pages, SC_SHARE,
                     "pages that the clogged stream leaves to demand");
        sc_trace_add(trace, "T_waves", "sum over waves of hits / b + misses L / Q", body_s,
                     SC_SECONDS, "wave by wave; hits grow by C / (C - SMs) each");
        const double bypass_s = larger(on_demand_time(m, k, NULL), fixed_s + clean_s);
        out.time_s = smaller(fixed_s + larger(body_s, clean_s), bypass_s);
        out.capacity_s = out.time_s - fixed_s - clean_s;
        if (out.capacity_s > out.access_s)
            out.limit = "buffer";
        out.in_flight = k->pages * m->latency_s / out.time_s;
    }
    sc_trace_add(trace, "T", "t_launch + L + max(P / b, m_hi / r, T_waves)", out.time_s, SC_SECONDS,
                 "kernel time");
    return out;
}

/* What a policy of the SSHR family pays for each mechanism that it lacks, laid
 * over the time of the complete one. */
static void pay_for_missing(const struct sc_hbf_mechanisms *policy, const struct sc_hbf_machine *m,
                            const struct sc_hbf_load *k, double window, double rate,
                            struct hbf_outcome *out, struct sc_trace *trace)
{
    if (!policy->paced) {
        /* The launch burst returns at B while demand drains at lambda. */
        out->discarded = larger(0.0, window * (1.0 - rate / m->flash_rate) - m->slots);
        sc_trace_add(trace, "discards", "max(0, W (1 - lambda / B) - N)", out->discarded, SC_NUMBER,
                     "pages of the unpaced launch burst that find no slot");
    }
    if (!policy->release_on_demand) {
        /* Entries freed by the fill let the stream run at B: the surplus over
         * demand that passes the buffer is evicted unread and fetched again. */
        out->refetched = larger(0.0, k->pages * (1.0 - rate / m->flash_rate) - m->slots);
        sc_trace_add(trace, "refetched", "max(0, P (1 - lambda / B) - N)", out->refetched,
                     SC_NUMBER, "pages that the stream outran demand with and the buffer lost");
    }
    out->capacity_s = (out->discarded + out->refetched) / m->flash_rate;
    out->time_s += out->capacity_s;

    if (!policy->evicts_consumed) {
        /* First in, first out: a page lives N / lambda, and demand comes
         * (W - lambda (L + u)) / lambda after its arrival. */
        const double surplus = window - rate * round_trip(m);
        const bool collapses = surplus > m->slots;
        sc_trace_add(trace, "surplus", "W - lambda (L + u)", surplus, SC_NUMBER,
                     "pages arrived and not yet demanded; a FIFO of N loses what is beyond");
        sc_trace_binds(trace, collapses);
        if (collapses)
            lose_all(m, k, out);
    }
}

static struct hbf_outcome run_sshr(const struct sc_hbf_mechanisms *policy, const struct sc_hbf_machine *m,
                                   const struct sc_hbf_load *k, struct sc_trace *trace)
{
    const double trip_s = round_trip(m);
    const double window = smaller(m->flash_rate * m->latency_s, m->tracking_entries * k->active);
    const double demand = demand_outstanding(m, k->window, k->active);
    const double rate = smaller(k->supply, (window + demand) / trip_s);
    const double body_s = stream_body(k, rate);
    sc_trace_add(trace, "W", "min(B L, entries n)", window, SC_NUMBER,
                 "pages that the tracking entries allow on their way: bandwidth x delay");
    sc_trace_add(trace, "lambda", "min(b, (W + min(n D, G)) / (L + u))", rate, SC_PER_SECOND,
                 "pages per second, Little's law; u is the turn-around of a page");
    sc_trace_binds(trace, rate < k->supply);
    sc_trace_add(trace, "T_body", "max(P / lambda, m_hi / r)", body_s, SC_SECONDS,
                 "stream at that rate, or the most loaded SM");

    /* Staging that crosses kernels leaves a tenth of the share to this one. */
    const double share = policy->crosses_kernels ? 0.9 : 1.0;
    const double allowance = isnan(m->s0_pages) ? m->slots : m->s0_pages * k->active;
    const double window0 = policy->paced ? smaller(share * smaller(allowance, m->slots), window) : window;
    const double ramp_s = ramp_time(window0, window, rate, trip_s);
    sc_trace_add(trace, "w0", policy->paced ? "min(n S0, N, W)" : "W", window0, SC_NUMBER,
                 "pages staged before the first demand");
    sc_trace_add(trace, "T_ramp", "sum of max(0, L + u - w_j / lambda), w doubling", ramp_s,
                 SC_SECONDS, "S0 + F grows by one per first demand, so the window doubles per trip");

    const double cold_s = policy->crosses_kernels ? 0.0 : m->extra_latency_s;
    sc_trace_add(trace, "T_cold", policy->crosses_kernels ? "0" : "L - L_hbm", cold_s, SC_SECONDS,
                 policy->crosses_kernels ? "hidden: staging crosses kernel boundaries"
                                         : "the first page of the kernel is a flash read");
    struct hbf_outcome out = {
        .time_s = m->launch_s + m->turnaround_s + cold_s + body_s + ramp_s,
        .access_s = cold_s + ramp_s,
        .in_flight = rate * m->latency_s,
        .entries = round_up(window / k->active),
        .limit = ramp_s > cold_s ? "staging allowance" : "flash latency",
    };
    pay_for_missing(policy, m, k, window, rate, &out, trace);
    if (out.capacity_s > out.access_s)
        out.limit = "buffer";
    sc_trace_add(trace, "T", "t_launch + u + T_cold + T_body + T_ramp + refetches / B", out.time_s,
                 SC_SECONDS, out.missed > 0.0 ? "kernel time: on demand, since FIFO loses every page"
                                              : "kernel time");
    return out;
}

/* Prefetchers that run a fixed number of pages ahead of each SM, without
 * pacing: Little's law with lead plus demand outstanding. */
static struct hbf_outcome run_fixed_lead(const struct sc_hbf_mechanisms *policy,
                                         const struct sc_hbf_machine *m, const struct sc_hbf_load *k,
                                         struct sc_trace *trace)
{
    const double lead = isnan(m->lead_pages) ? policy->lead_pages : m->lead_pages;
    const double phase1 = k->active * lead + demand_outstanding(m, k->window, k->active);
    const double phase2 = k->heavy_sms * lead + demand_outstanding(m, k->window, k->heavy_sms);
    const double fetch_s = two_phase_time(k, m->latency_s, phase1, phase2);
    const double body_s = stream_body(k, k->supply);
    const double streamed_s = m->launch_s + m->turnaround_s + m->extra_latency_s + body_s;
    struct hbf_outcome out = { .time_s = larger(streamed_s, m->launch_s + fetch_s) };
    sc_trace_add(trace, "w", "lead", lead, SC_NUMBER, "pages ahead of each SM's demand");
    sc_trace_add(trace, "Q1", "n w + min(n D, G)", phase1, SC_NUMBER,
                 "pages outstanding: prefetched and demanded");
    sc_trace_add(trace, "T_fetch", "L (m_lo n / Q1 + (m_hi - m_lo) n_h / Q2)", fetch_s, SC_SECONDS,
                 "Little's law over the two phases of the grid");
    sc_trace_binds(trace, m->launch_s + fetch_s > streamed_s);
    out.access_s = out.time_s - streamed_s + m->extra_latency_s;

    /* The launch burst of n w pages comes in blocks, one SM after the other. */
    const double burst = k->active * lead;
    const double issue_s = lead / m->stage_rate;
    const double block_s = burst / m->flash_rate * issue_s / (m->launch_stagger_s + issue_s);
    const double use_s = lead * k->active / k->supply;
    const bool collapses = burst > m->slots && use_s - block_s > m->slots / m->flash_rate;
    sc_trace_add(trace, "burst", "n w", burst, SC_NUMBER, "pages that arrive before they are paced");
    sc_trace_add(trace, "t_use", "w n / b - t_block", use_s - block_s, SC_SECONDS,
                 "how long the last page of a block waits; the buffer keeps it N / B");
    sc_trace_binds(trace, collapses);
    if (collapses)
        lose_all(m, k, &out);
    out.entries = lead;
    out.limit = collapses ? "buffer" : out.access_s > m->extra_latency_s ? "prefetch lead"
                                                                         : "flash latency";
    out.in_flight = smaller(phase1, k->pages * m->latency_s / out.time_s);
    sc_trace_add(trace, "T", "max(t_launch + L + max(P / b, m_hi / r), t_launch + T_fetch)",
                 out.time_s, SC_SECONDS, "kernel time; on demand once the lead has collapsed");
    return out;
}

/* One stream for the whole GPU, not paced by any SM: what it runs ahead beyond
 * the buffer is lost and then fetched by demand. */
static struct hbf_outcome run_global_stream(const struct sc_hbf_mechanisms *policy,
                                            const struct sc_hbf_machine *m, const struct sc_hbf_load *k,
                                            struct sc_trace *trace)
{
    (void)policy;
    const double body_s = stream_body(k, k->supply);
    const double lost = larger(0.0, k->pages * (1.0 - k->supply / m->flash_rate) - m->slots);
    const double again_s = lost * m->latency_s / demand_outstanding(m, k->window, k->active);
    const double streamed_s = m->launch_s + m->turnaround_s + m->extra_latency_s + body_s;
    const double bypass_s = larger(on_demand_time(m, k, NULL), streamed_s);
    const double time_s = smaller(streamed_s + again_s, bypass_s);
    sc_trace_add(trace, "lost", "max(0, P (1 - b / B) - N)", lost, SC_NUMBER,
                 "pages that the stream runs ahead of demand and the buffer loses");
    sc_trace_add(trace, "T_again", "lost L / min(n D, G)", again_s, SC_SECONDS,
                 "lost pages come back on demand");
    sc_trace_add(trace, "T", "t_launch + L + max(P / b, m_hi / r) + T_again", time_s, SC_SECONDS,
                 "kernel time");
    return (struct hbf_outcome){ .time_s = time_s, .access_s = m->extra_latency_s,
                                 .capacity_s = time_s - streamed_s, .missed = lost,
                                 .limit = lost > 0.0 ? "buffer" : "flash latency",
                                 .in_flight = k->supply * m->latency_s };
}

#define POLICY(policy_name, text) .choice = { .name = policy_name, .help = text }
/* What all of SlipStream's own variants have unless they say otherwise. */
#define STAGED \
    .stream = SC_HBF_STREAM_SSHR, .has_buffer = true, .tracks_pages = true, .demand_order = true

/* clang-format off */
const struct sc_hbf_policy sc_hbf_policies[] = {
    { POLICY("ideal", "flash with the latency of HBM: what slowdown is measured against"),
      { .is_ideal = true }, run_ideal },
    { POLICY("on-demand", "no staging: every page is fetched when an SM asks for it"),
      { .stream = SC_HBF_STREAM_NONE }, run_on_demand },
    { POLICY("h3", "tensor stream in address order; fetches when a slot is free, keeps unread pages"),
      { .stream = SC_HBF_STREAM_TENSOR, .has_buffer = true, .evicts_consumed = true },
      sc_hbf_run_address_stream },
    { POLICY("h3-demand-order", "the same stream in profiled demand order"),
      { .stream = SC_HBF_STREAM_TENSOR, .has_buffer = true, .demand_order = true,
        .evicts_consumed = true },
      sc_hbf_run_demand_stream },
    { POLICY("slipstream", "per-SM SSHR window, first-demand release, pacing, consumed pages leave"),
      { STAGED, .paced = true, .weighted = true, .release_on_demand = true,
        .evicts_consumed = true },
      run_sshr },
    { POLICY("slipstream-no-order", "slipstream without the profiled order: address order"),
      { .stream = SC_HBF_STREAM_TENSOR, .has_buffer = true, .tracks_pages = true,
        .evicts_consumed = true },
      sc_hbf_run_address_stream },
    { POLICY("slipstream-no-pacing", "slipstream without demand-paced admission"),
      { STAGED, .weighted = true, .release_on_demand = true, .evicts_consumed = true }, run_sshr },
    { POLICY("slipstream-fifo", "slipstream without consumption-aware eviction: FIFO buffer"),
      { STAGED, .paced = true, .weighted = true, .release_on_demand = true }, run_sshr },
    { POLICY("sshr-fifo", "SSHR window alone: no pacing, no weighting, FIFO buffer"),
      { STAGED, .release_on_demand = true }, run_sshr },
    { POLICY("release-on-fill", "slipstream whose entries are freed by the fill, as MSHRs are"),
      { STAGED, .paced = true, .weighted = true, .evicts_consumed = true }, run_sshr },
    { POLICY("cross-kernel", "slipstream in a megakernel: staging crosses kernel boundaries"),
      { STAGED, .paced = true, .weighted = true, .release_on_demand = true,
        .evicts_consumed = true, .crosses_kernels = true },
      run_sshr },
    { POLICY("line-tracked", "prefetcher that tracks cache lines (CAPS, Snake): 8 pages of lead"),
      { .stream = SC_HBF_STREAM_LEAD, .has_buffer = true, .tracks_pages = true,
        .demand_order = true, .lead_pages = 8 },
      run_fixed_lead },
    { POLICY("warped-pe", "pre-execution on spare registers: 6 pages of lead, or lead=90"),
      { .stream = SC_HBF_STREAM_LEAD, .has_buffer = true, .tracks_pages = true,
        .demand_order = true, .lead_pages = 6 },
      run_fixed_lead },
    { POLICY("cpu-assisted", "the CPU issues one global stream in demand order, not paced"),
      { .stream = SC_HBF_STREAM_GLOBAL, .has_buffer = true, .demand_order = true },
      run_global_stream },
};
/* clang-format on */
_Static_assert(sizeof sc_hbf_policies / sizeof sc_hbf_policies[0] == SC_HBF_POLICIES,
               "every policy has its row");
