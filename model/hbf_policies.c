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

/* Pages that n SMs can wait for together: each its window, all the shared pool. */
static double demand_outstanding(const struct sc_hbf_machine *m, double window, double active)
{
    return smaller(active * window, m->miss_pool);
}

/* The same when pages that have come still hold their place in the window until
 * the SM has taken them in, but no longer one in the pool. */
static double fetch_outstanding(const struct sc_hbf_machine *m, const struct sc_hbf_load *k,
                                double active)
{
    return smaller(active * k->window / (1.0 + 1.0 / (k->sm_rate * m->latency_s)), m->miss_pool);
}

/* First and second phase of an unevenly loaded grid: all active SMs up to the
 * light load, then the heavy ones alone, with `phase1` and `phase2` pages
 * outstanding.  However few the pages, the first takes the latency. */
static double two_phase_time(const struct sc_hbf_load *k, double latency_s, double factor,
                             double phase1, double phase2)
{
    const double first = k->light * k->active * latency_s / phase1;
    const double second = (k->heavy - k->light) * k->heavy_sms * latency_s / phase2;
    return larger(latency_s, factor * (first + (k->heavy > k->light ? second : 0.0)));
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
    const double phase1 = fetch_outstanding(m, k, k->active);
    const double phase2 = fetch_outstanding(m, k, k->heavy_sms);
    const double fetch_s = two_phase_time(k, m->latency_s, m->miss_factor, phase1, phase2);
    sc_trace_add(trace, "Q1", "min(n D L / (L + 1/r_k), G)", phase1, SC_NUMBER,
                 "pages on their way while all active SMs run (Little's law: rate = Q / L)");
    sc_trace_binds(trace, m->miss_pool <= phase1);
    sc_trace_add(trace, "Q2", "min(n_h D L / (L + 1/r_k), G)", phase2, SC_NUMBER,
                 "pages on their way when only the heavily loaded SMs are left");
    sc_trace_add(trace, "T_fetch", "L max(1, m_lo n / Q1 + (m_hi - m_lo) n_h / Q2)", fetch_s,
                 SC_SECONDS, "every page pays the flash latency, Q at a time");
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
                                 .limit = m->miss_pool <= fetch_outstanding(m, k, k->active)
                                              ? "miss pool"
                                              : "demand window",
                                 .missed = k->pages, .in_flight = k->pages * m->latency_s / time_s };
}

/* Time of a kernel that finds no staged page: on demand, less what pages on their
 * way still spare it. */
static double lost_time(const struct sc_hbf_machine *m, const struct sc_hbf_load *k)
{
    return larger(m->launch_s + m->latency_s, m->lost_factor * on_demand_time(m, k, NULL));
}

/* What staging that runs badly can fall back on. */
static double bypass_time(const struct sc_hbf_machine *m, const struct sc_hbf_load *k)
{
    return smaller(on_demand_time(m, k, NULL), lost_time(m, k));
}

/* Every staged page is gone before its use. */
static void lose_all(const struct sc_hbf_machine *m, const struct sc_hbf_load *k, struct hbf_outcome *out)
{
    const double time_s = larger(lost_time(m, k), out->time_s);
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

/* Integral over the kernel of the page time, with hit share h = beta e^c at
 * progress c.  In terms of h, dc = dh / h, which needs no exponential.
 * Gauss-Legendre, 5 points on each of 3 pieces; h is 1 from c = ln(1/beta) on. */
static double misses_time(const struct sc_hbf_machine *m, const struct sc_hbf_load *k, double beta)
{
    static const double node[5] = { 0.0469100770306680, 0.2307653449471585, 0.5,
                                    0.7692346550528415, 0.9530899229693320 };
    static const double weight[5] = { 0.1184634425280945, 0.2393143352496832, 0.2844444444444444,
                                      0.2393143352496832, 0.1184634425280945 };
    const double e = 2.718281828459045;
    const double last = smaller(1.0, beta * e);
    const double piece = (last - beta) / 3.0;
    double sum = 0.0;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 5; i++) {
            const double hit = beta + piece * (j + node[i]);
            sum += weight[i] * page_time(m, k, 1.0 - hit) / hit;
        }
    const double clear = last < 1.0 ? 0.0 : larger(0.0, 1.0 + log(beta)); /* progress with h = 1 */
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
    const double body_s =
        beta < 1.0 ? m->order_factor * misses_time(m, k, beta) : k->pages / k->supply;
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

/* Stalls of a window that starts at w0 pages and grows every round trip by the
 * pages that came, until with those that demand waits for it covers the delay, or
 * until all pages have come: what slow start costs. */
static double ramp_time(double window0, double demand, double pages, double rate,
                        double round_trip_s)
{
    const double needed = rate * round_trip_s * (1.0 - 1e-12);
    double stall_s = 0.0, left = pages * (1.0 - 1e-12);
    for (double window = window0; larger(window, demand) < smaller(needed, left);) {
        const double round = larger(window, demand);
        stall_s += round_trip_s - round / rate;
        left -= round;
        window += round; /* one more for every first demand */
    }
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
    const double clean_s = stream_body(k, k->drain);
    const double slots_s = larger(0.0, k->pages - m->slots) * m->latency_s / m->slots;
    const double excess = k->ctas - m->sms; /* CTAs whose pages come before their turn */
    const double per_cta = k->pages / k->ctas;
    const bool clogs = m->slots < k->pages && m->clog_factor * m->slots < k->late_pages;
    const double clog = clogs ? m->clog_factor * m->slots / excess : per_cta;
    struct hbf_outcome out = { .time_s = fixed_s + clean_s, .access_s = m->extra_latency_s,
                               .limit = "flash latency",
                               .in_flight = smaller(m->slots, k->supply * m->latency_s) };
    sc_trace_add(trace, "T_slots", "max(0, P - N) L / N", slots_s, SC_SECONDS,
                 "a page on its way holds a slot: N of them per latency (Little's law)");
    sc_trace_binds(trace, slots_s > clean_s);
    sc_trace_add(trace, "p", "P / C", per_cta, SC_NUMBER, "pages of one CTA");
    sc_trace_add(trace, "P_late", "pages of CTAs beyond the first wave", k->late_pages, SC_NUMBER,
                 "the stream fetches them as early as the others; they hold slots until launched");
    sc_trace_add(trace, "j", "N / (C - SMs)", clog, SC_NUMBER,
                 "position in each CTA at which pages of CTAs not yet launched fill the buffer");
    sc_trace_binds(trace, clogs);
    double full_s = slots_s;
    if (clogs) {
        /* Wave by wave: pages up to `hit` come from the buffer, the others on
         * demand; every wave that ends frees the share of its CTAs.  Once a
         * wave finds all its pages, so do those after it. */
        double body_s = 0.0, hit = clog, left = k->ctas;
        for (; left > 0.0 && hit < per_cta; left -= m->sms) {
            const double wave = smaller(left, m->sms);
            body_s += wave * hit / k->drain + (per_cta - hit) * wave * m->latency_s /
                                                   demand_outstanding(m, k->window, wave);
            out.missed += wave * (per_cta - hit);
            hit *= k->ctas / excess;
        }
        body_s += larger(0.0, left) * per_cta / k->drain;
        sc_trace_add(trace, "f", "misses / P", out.missed / k->pages, SC_SHARE,
                     "pages that the clogged stream leaves to demand");
        sc_trace_add(trace, "T_waves", "sum over waves of hits / d + misses L / Q", body_s,
                     SC_SECONDS, "wave by wave; hits grow by C / (C - SMs) each");
        full_s = larger(full_s, body_s);
    }
    if (full_s > clean_s) {
        const double bypass_s = larger(on_demand_time(m, k, NULL), fixed_s + clean_s);
        out.time_s = smaller(fixed_s + full_s, bypass_s);
        out.capacity_s = out.time_s - fixed_s - clean_s;
        if (out.capacity_s > out.access_s)
            out.limit = "buffer";
        out.in_flight = smaller(m->slots, k->pages * m->latency_s / out.time_s);
    }
    sc_trace_add(trace, "T", "t_launch + L + max(P / d, m_hi / r_k, T_slots, T_waves)", out.time_s,
                 SC_SECONDS, "kernel time; demand can always fetch for itself");
    return out;
}

/* Seconds per page on an SM that reads `pages` of the kernel's: its intake, or
 * its part of the window once per latency.  A window shorter than what demand
 * waits for leaves the rest to demand, as far as the miss pool goes. */
static double staged_page_time(const struct sc_hbf_mechanisms *policy,
                               const struct sc_hbf_machine *m, const struct sc_hbf_load *k,
                               double window, double pages)
{
    const double part = policy->weighted ? pages / k->pages : 1.0 / k->active;
    const double entries = larger(1.0, smaller(window * part, m->tracking_entries));
    const double missed = smaller(k->window, m->miss_pool / k->active + entries);
    return larger(1.0 / k->sm_rate, m->latency_s / larger(entries, missed));
}

/* SMs launch one after the other and stage quickly, and the flash serves in the
 * order of issue: so the burst of one SM comes as a block, and the last SM waits
 * for those of the others as far as they do not overlap. */
static double blockiness(const struct sc_hbf_machine *m, const struct sc_hbf_load *k, double burst)
{
    const double issue_s = burst / k->active / m->stage_rate;
    const double sum_s = m->launch_stagger_s + issue_s;
    return sum_s > 0.0 ? m->launch_stagger_s / sum_s : 0.0;
}

static double block_time(const struct sc_hbf_machine *m, const struct sc_hbf_load *k, double burst)
{
    return m->block_factor * smaller(burst, k->pages) / m->flash_rate * blockiness(m, k, burst);
}

/* Pages of an unpaced launch burst that are in the buffer, unread, when all have
 * come: demand drains at `rate` meanwhile, but SMs whose block comes late join
 * late, which on average halves what they drain. */
static double launch_surplus(const struct sc_hbf_machine *m, const struct sc_hbf_load *k,
                             double burst, double rate)
{
    const double drained = smaller(1.0, rate / m->flash_rate) * (1.0 - 0.5 * blockiness(m, k, burst));
    return smaller(burst, k->pages) * (1.0 - drained);
}

/* Time from the first page to the last: the L2, or the slower of a heavily loaded
 * SM and the one that starts last (heavy SMs, with the first CTAs, start first). */
static double staged_body(const struct sc_hbf_mechanisms *policy, const struct sc_hbf_machine *m,
                          const struct sc_hbf_load *k, double window, double block_s,
                          struct sc_trace *trace)
{
    const double heavy_s = k->heavy * staged_page_time(policy, m, k, window, k->heavy);
    const double light_s = k->light * staged_page_time(policy, m, k, window, k->light) + block_s;
    const double body_s = larger(k->pages / k->drain, larger(heavy_s, light_s));
    sc_trace_add(trace, "T_block", "w0 / B tau / (tau + w0 / (n sigma))", block_s, SC_SECONDS,
                 "the launch burst comes SM by SM, at sigma pages/s each, launched within tau: "
                 "how much later the last one starts");
    sc_trace_add(trace, "T_heavy", "m_hi max(1 / r_k, L / w_hi)", heavy_s, SC_SECONDS,
                 "a heavily loaded SM: its intake, or w_hi, its share of W, per round trip (Little's law)");
    sc_trace_binds(trace, heavy_s >= body_s);
    sc_trace_add(trace, "T_light", "m_lo max(1 / r_k, L / w_lo) + T_block", light_s, SC_SECONDS,
                 "the same for the SM that starts last");
    sc_trace_binds(trace, light_s >= body_s);
    sc_trace_add(trace, "T_body", "max(P / d, T_heavy, T_light)", body_s, SC_SECONDS,
                 "the L2 without bursts, or the slowest SM");
    return body_s;
}

/* What a policy of the SSHR family pays for each mechanism that it lacks, laid
 * over the time of the complete one. */
static void pay_for_missing(const struct sc_hbf_mechanisms *policy, const struct sc_hbf_machine *m,
                            const struct sc_hbf_load *k, double window, double rate,
                            struct hbf_outcome *out, struct sc_trace *trace)
{
    const double burst = smaller(window, k->pages);
    if (!policy->paced) {
        /* The launch burst returns at B while demand drains at lambda. */
        out->discarded = larger(0.0, launch_surplus(m, k, window, rate) - m->slots);
        sc_trace_add(trace, "discards", "max(0, W (1 - lambda / B (1 - block / 2)) - N)",
                     out->discarded, SC_NUMBER,
                     "pages of the unpaced launch burst that find no slot");
    }
    if (!policy->release_on_demand) {
        /* Entries freed by the fill let the stream run at B: the surplus over
         * demand that passes the buffer is evicted unread and fetched again. */
        out->refetched = m->refetch_factor *
                         larger(0.0, k->pages * (1.0 - rate / m->flash_rate) - m->slots);
        sc_trace_add(trace, "refetched", "max(0, P (1 - lambda / B) - N)", out->refetched,
                     SC_NUMBER, "pages that the stream outran demand with and the buffer lost");
    }
    const double again_s = (out->discarded + out->refetched) / m->flash_rate;
    out->capacity_s += again_s;
    out->time_s += again_s;

    if (!policy->evicts_consumed) {
        /* First in, first out: what demand has not read when N more have come is
         * lost, and once a lead is lost it stays lost. */
        const double surplus = policy->paced ? burst * (1.0 - rate / m->flash_rate)
                                             : launch_surplus(m, k, window, rate);
        const bool collapses = surplus > m->slots;
        sc_trace_add(trace, "surplus", policy->paced ? "min(W, P) (1 - lambda / B)"
                                                     : "W (1 - lambda / B (1 - block / 2))",
                     surplus, SC_NUMBER,
                     "pages arrived and not yet demanded; a FIFO of N loses what is beyond");
        sc_trace_binds(trace, collapses);
        if (collapses)
            lose_all(m, k, out);
    }
}

/* What a window costs that fills faster than it drains, beyond body_s: what
 * finds no slot goes round again, and what comes through is a window whose
 * surplus just fits.  Of a kernel within one window only what found no slot
 * makes a further trip.  Demand can always fetch for itself. */
static double discard_time(const struct sc_hbf_mechanisms *policy, const struct sc_hbf_machine *m,
                           const struct sc_hbf_load *k, double window, double block_s, double body_s,
                           double bypass_s, struct sc_trace *trace)
{
    const double burst = smaller(window, k->pages);
    const double surplus = burst * (1.0 - k->pages / body_s / m->flash_rate);
    if (surplus <= m->slots)
        return 0.0;

    const double fits = burst * m->slots / surplus;
    const double again_s = window < k->pages ? staged_body(policy, m, k, fits, block_s, NULL)
                                             : body_s + (k->pages / fits - 1.0) * m->latency_s;
    const double full_s = larger(body_s, smaller(again_s, bypass_s));
    sc_trace_add(trace, "W_fit", "N / (1 - lambda / B)", fits, SC_NUMBER,
                 "window whose surplus of arrivals over demand the buffer holds");
    sc_trace_binds(trace, true);
    sc_trace_add(trace, "T_body", "as before, with W_fit", full_s, SC_SECONDS,
                 "the rest is discarded and fetched again");
    return full_s - body_s;
}

static struct hbf_outcome run_sshr(const struct sc_hbf_mechanisms *policy, const struct sc_hbf_machine *m,
                                   const struct sc_hbf_load *k, struct sc_trace *trace)
{
    const double asked = m->flash_rate * m->nominal_latency_s;
    const double own =
        policy->weighted ? m->window_headroom * k->mean_rate * m->nominal_latency_s : asked;
    const double window = smaller(smaller(asked, own), m->tracking_entries * k->active);
    sc_trace_add(trace, "W", policy->weighted ? "min(B, kappa P / (T_ideal - t_launch - L_hbm)) L"
                                              : "B L",
                 window, SC_NUMBER, "pages that may be staged and not yet demanded, SSHRMax of all SMs (kappa: headroom)");

    /* Staging that crosses kernels leaves a tenth of the share to this one. */
    const double share = policy->crosses_kernels ? 0.9 : 1.0;
    const double allowance = isnan(m->s0_pages) ? m->slots : m->s0_pages * k->active;
    const double window0 = policy->paced ? smaller(share * smaller(allowance, m->slots), window) : window;
    sc_trace_add(trace, "w0", policy->paced ? "min(n S0, N, W)" : "W", window0, SC_NUMBER,
                 "pages staged before the first demand");

    const double cold_s = policy->crosses_kernels ? 0.0 : m->extra_latency_s;
    const double fixed_s = m->launch_s + m->turnaround_s + cold_s;
    const double block_s = policy->crosses_kernels ? 0.0 : block_time(m, k, window0);
    double body_s = staged_body(policy, m, k, window, block_s, trace);
    /* What the window holds back, beyond the SMs' own pace. */
    const double pace_s = larger(stream_body(k, k->drain), k->light / k->sm_rate + block_s);
    const double window_s = larger(0.0, body_s - pace_s);
    const double lost_s =
        policy->evicts_consumed
            ? discard_time(policy, m, k, window, block_s, body_s, bypass_time(m, k) - fixed_s, trace)
            : 0.0;
    body_s += lost_s;
    const double rate = k->pages / body_s;
    sc_trace_add(trace, "lambda", "P / T_body", rate, SC_PER_SECOND, "pages per second while streaming");

    const double demand = demand_outstanding(m, k->window, k->active);
    double ramp_s = m->ramp_factor * ramp_time(window0, demand, k->pages, rate, m->latency_s);
    if (ramp_s > 0.0) /* no window need grow where demand is faster by itself */
        ramp_s = smaller(ramp_s, larger(0.0, bypass_time(m, k) - fixed_s - body_s));
    sc_trace_add(trace, "T_ramp", "sum of max(0, L - max(w_j, Q) / lambda), w += max(w, Q)", ramp_s,
                 SC_SECONDS, "per round trip, the window w_j and what demand waits for, Q, bring the next pages");

    sc_trace_add(trace, "T_cold", policy->crosses_kernels ? "0" : "L - L_hbm", cold_s, SC_SECONDS,
                 policy->crosses_kernels ? "hidden: staging crosses kernel boundaries"
                                         : "the first page of the kernel is a flash read");
    struct hbf_outcome out = {
        .time_s = fixed_s + body_s + ramp_s,
        .access_s = cold_s + ramp_s + window_s,
        .capacity_s = lost_s,
        .in_flight = rate * m->latency_s,
        .entries = round_up(window / k->active),
        .limit = window_s > larger(ramp_s, cold_s) ? "staging window"
                 : ramp_s > cold_s                 ? "staging allowance"
                                                   : "flash latency",
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
    /* Without any lead all is left to demand, which needs the pool. */
    const double pool = lead < 1.0 ? m->miss_pool : (double)INFINITY;
    const double phase1 = smaller(k->active * (lead + k->window), pool);
    const double phase2 = smaller(k->heavy_sms * (lead + k->window), pool);
    const double fetch_s = two_phase_time(k, m->latency_s, m->lead_factor, phase1, phase2);
    const double body_s = stream_body(k, k->drain);
    const double streamed_s = m->launch_s + m->turnaround_s + m->extra_latency_s + body_s +
                              block_time(m, k, k->active * lead);
    struct hbf_outcome out = { .time_s = larger(streamed_s, m->launch_s + fetch_s) };
    sc_trace_add(trace, "w", "lead", lead, SC_NUMBER, "pages ahead of each SM's demand");
    sc_trace_add(trace, "Q1", "n (w + D), and without lead at most G", phase1, SC_NUMBER,
                 "pages on their way: ahead of demand, and those demand waits for");
    sc_trace_add(trace, "T_fetch", "L max(1, m_lo n / Q1 + (m_hi - m_lo) n_h / Q2)", fetch_s,
                 SC_SECONDS, "Little's law over the two phases of the grid");
    sc_trace_binds(trace, m->launch_s + fetch_s > streamed_s);
    out.access_s = out.time_s - streamed_s + m->extra_latency_s;

    /* Nothing paces the launch burst of n w pages. */
    const double burst = k->active * lead;
    const double surplus = launch_surplus(m, k, burst, k->pages / body_s);
    const bool collapses = surplus > m->slots;
    sc_trace_add(trace, "surplus", "n w (1 - P / T_body / B (1 - block / 2))", surplus, SC_NUMBER,
                 "pages of the launch burst not yet demanded; a FIFO of N loses what is beyond");
    sc_trace_binds(trace, collapses);
    if (collapses)
        lose_all(m, k, &out);
    out.entries = lead;
    out.limit = collapses ? "buffer" : out.access_s > m->extra_latency_s ? "prefetch lead"
                                                                         : "flash latency";
    out.in_flight = smaller(phase1, k->pages * m->latency_s / out.time_s);
    sc_trace_add(trace, "T", "t_launch + max(L + max(P / d, m_hi / r_k) + T_block, T_fetch)",
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
    const double body_s = stream_body(k, k->drain);
    const double lost = m->overrun_factor *
                        larger(0.0, k->pages * (1.0 - k->pages / body_s / m->flash_rate) - m->slots);
    const double again_s = lost * m->latency_s / demand_outstanding(m, k->window, k->active);
    const double streamed_s = m->launch_s + m->turnaround_s + m->extra_latency_s + body_s;
    const double bypass_s = larger(on_demand_time(m, k, NULL), streamed_s);
    const double time_s = smaller(streamed_s + again_s, bypass_s);
    sc_trace_add(trace, "lost", "max(0, P (1 - b / B) - N)", lost, SC_NUMBER,
                 "pages that the stream runs ahead of demand and the buffer loses");
    sc_trace_add(trace, "T_again", "lost L / min(n D, G)", again_s, SC_SECONDS,
                 "lost pages come back on demand");
    sc_trace_add(trace, "T", "t_launch + L + max(P / b, m_hi / r_k) + T_again", time_s, SC_SECONDS,
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
