/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer of `prefetch`: the fixed point under the policy, without prefetches,
 * of the front end alone, and with each dimension made perfect. */
#include "prefetch.h"

#include <math.h>

#include "prefetch_forms.h"

static void solve_all(const struct pf_kernel *k, struct pf_state states[SC_PREFETCH_RUNS])
{
    struct sc_prefetch_mechanisms m[SC_PREFETCH_RUNS];
    for (int i = 0; i < SC_PREFETCH_RUNS; i++) {
        const int twin = sc_prefetch_run(k->scenario, i, m);
        /* What is only compared with need not be as exact. */
        const double accuracy = i <= SC_PREFETCH_RUN_FRONT_END ? 1e-4 : 1e-3;
        states[i] = twin < i ? states[twin] : sc_pf_solve(k, &m[i], accuracy);
    }
}

static double over(double part, double whole)
{
    return whole > 0.0 ? part / whole : 0.0;
}

/* A CTA gives way to the next when its last warp has ended. */
static double round_of(const struct pf_kernel *k, const struct pf_state *p, double iteration)
{
    const double steps = k->scenario->barriers > 0.0 ? k->in_step : k->iterations;
    const double last = sqrt(2.0 * log(fmax(k->cta_warps, 1.0)) * steps * p->variance);
    return k->iterations * iteration + k->scenario->barrier_factor * last;
}

/* Rounds of CTAs; the last may leave slots empty, and so more of the machine to those
 * that are left. */
static double cycles_of(const struct pf_kernel *k, const struct pf_state *p)
{
    const double full = floor(k->waves + 1e-9), rest = fmax(0.0, k->waves - full);
    const double whole = full * round_of(k, p, p->iteration);
    if (rest < 1e-6)
        return whole;
    const double alone = sc_prefetch_iteration(rest * k->warps / k->scenario->issue_width,
                                               k->instructions, p->away, 0.0);
    const double iteration = fmin(p->iteration, fmax(alone, rest * p->bandwidth));
    return whole + round_of(k, p, iteration);
}

/* ---- What the fixed point amounts to ---- */

/* Some warp of a scheduler issues, or is between two instructions, unless all wait; what is left
 * goes by what they wait for. */
static void answer_stalls(const struct pf_kernel *k, const struct pf_state *p,
                          struct sc_prefetch_answer *a)
{
    static const char *const names[] = { "issue", "memory latency", "bandwidth", "barrier",
                                         "load/store queue" };
    double *const shares[] = { &a->issue_share, &a->latency_stall_share, &a->bandwidth_stall_share,
                               &a->barrier_stall_share, &a->queue_stall_share };
    const double own = fmin(1.0, k->scenario->issue_gap_cycles * k->instructions / p->iteration);
    const double idle = pow(1.0 - own, fmax(1.0, k->warps / k->scenario->issue_width));
    const double narrow = fmax(0.0, p->bandwidth - p->away - k->instructions);
    const double queued = p->latency > 0.0 ? fmin(1.0, p->fetch_wait / p->latency) : 0.0;
    const double waits[] = { 0.0, p->exposed * (1.0 - queued),
                             p->exposed * queued + (p->at_port ? 0.0 : narrow), p->barrier,
                             p->at_port ? narrow : 0.0 };
    double sum = 0.0;
    size_t largest = 0;
    for (size_t i = 1; i < 5; i++)
        sum += waits[i];
    *shares[0] = sum > 0.0 ? 1.0 - idle : 1.0;
    for (size_t i = 1; i < 5; i++) {
        *shares[i] = idle * over(waits[i], sum);
        if (*shares[i] > *shares[largest])
            largest = i;
    }
    a->bound = names[largest];
}

static double clamp_share(double x)
{
    return fmin(1.0, fmax(0.0, x));
}

/* Whether there is one prefetch at least in the whole kernel. */
static bool prefetches(const struct pf_kernel *k, const struct pf_state *p)
{
    return p->sent * k->warps * k->waves * k->iterations * k->loads * k->sectors >= 1.0;
}

static void answer_prefetches(struct sc_prefetch_answer *a, const struct pf_kernel *k,
                              const struct pf_state *p)
{
    const double consumed = p->on_time + p->late + p->early;
    a->issued_share = p->sent > 0.0 ? p->throttle * p->passed : 0.0;
    if (!prefetches(k, p))
        return;
    a->on_time_share = over(p->on_time, consumed);
    a->early_share = over(p->early, consumed);
    a->late_share = over(p->late, consumed);
    a->coverage = over(p->on_time, p->on_time + p->late + p->missed);
    a->accuracy = clamp_share(over(p->on_time, p->sent));
    a->dropped_share = clamp_share(over(p->dropped, p->sent));
    a->unused_share = clamp_share(over(p->sent - consumed - p->dropped, p->sent));
    a->demand_evictions_share = p->demand_evictions;
    a->best_distance = p->distance;
    a->zero_false_positive = p->false_positive;
    a->zero_false_negative = p->false_negative;
    a->register_fallback_share = clamp_share(p->register_fallback);
    const double placed = p->sent * (1.0 - p->register_fallback);
    a->register_invalidation_share = clamp_share(over(p->dropped, placed));
}

/* Gains below a hundredth are not worth anything. */
static const char *worth_fixing(const struct pf_kernel *k, const struct pf_state states[SC_PREFETCH_RUNS])
{
    static const char *const names[] = {
        [SC_PREFETCH_RUN_UTILITY] = "utility",
        [SC_PREFETCH_RUN_TIMELINESS] = "timeliness",
        [SC_PREFETCH_RUN_PLACEMENT] = "placement",
    };
    double least = cycles_of(k, &states[SC_PREFETCH_RUN_OWN]) / 1.01;
    const char *name = "none";
    for (int i = SC_PREFETCH_RUN_UTILITY; i <= SC_PREFETCH_RUN_PLACEMENT; i++)
        if (cycles_of(k, &states[i]) < least) {
            least = cycles_of(k, &states[i]);
            name = names[i];
        }
    return name;
}

static struct sc_prefetch_answer answer_of(const struct pf_kernel *k,
                                           const struct pf_state states[SC_PREFETCH_RUNS])
{
    const struct pf_state *p = &states[SC_PREFETCH_RUN_OWN], *front = &states[SC_PREFETCH_RUN_FRONT_END];
    const double cycles = cycles_of(k, p), clock_hz = k->scenario->clock_hz;
    const double bytes = k->loads * k->sectors * SC_PREFETCH_SECTOR / k->instructions;
    struct sc_prefetch_answer a = {
        .slowdown = cycles / cycles_of(k, &states[SC_PREFETCH_RUN_NONE]),
        .time_s = cycles / clock_hz,
        .ipc = k->warps * k->waves * k->iterations * k->instructions / cycles,
        .front_end_speedup = cycles_of(k, front) / cycles,
        .oracle_gap = cycles / cycles_of(k, &states[SC_PREFETCH_RUN_ORACLE]) - 1.0,
        .worth_fixing_first = worth_fixing(k, states),
        .l1_hit_share = p->hits,
        .load_latency_s = p->latency / clock_hz,
        .l2_bytes_per_instruction = p->l2_fetches * bytes,
        .dram_bytes_per_instruction = p->dram_fetches * bytes,
    };
    a.speedup = 1.0 / a.slowdown;
    a.ipc_gain = a.speedup - 1.0;
    a.front_end_gain = a.front_end_speedup - 1.0;
    if (front->l2_fetches > 1e-9)
        a.l2_traffic_change = p->l2_fetches / front->l2_fetches - 1.0;
    if (front->dram_fetches > 1e-9)
        a.dram_traffic_change = p->dram_fetches / front->dram_fetches - 1.0;
    answer_stalls(k, p, &a);
    answer_prefetches(&a, k, p);
    return a;
}

/* ---- Explanation ---- */

static void explain_kernel(const struct pf_kernel *k, struct sc_trace *t)
{
    double cold = 0.0, irregular = 0.0, zero = 0.0;
    for (unsigned j = 0; j < (unsigned)k->loads; j++) {
        cold += k->load[j].cold / k->loads;
        irregular += k->load[j].irregular / k->loads;
        zero += k->load[j].zero / k->loads;
    }
    sc_trace_section(t, "the kernel on one SM");
    sc_trace_add(t, "W", NULL, k->warps, SC_NUMBER, "warps that run at a time");
    sc_trace_add(t, "n", NULL, k->loads, SC_NUMBER, "loads of an iteration");
    sc_trace_add(t, "I", "n (1 + compute) + stores", k->instructions, SC_NUMBER,
                 "instructions of an iteration");
    sc_trace_add(t, "new", NULL, cold, SC_SHARE,
                 "accesses to sectors that the SM has not touched before");
    sc_trace_add(t, "x", NULL, irregular, SC_SHARE, "accesses that nobody can predict");
    sc_trace_add(t, "z", NULL, zero, SC_SHARE, "sectors that are zero");
    sc_trace_add(t, "C", "l1 l1_data_share / 128, less zero metadata", k->machine.l1_lines,
                 SC_NUMBER, "lines of L1 for data");
}

static void explain_memory(const struct pf_kernel *k, const struct pf_state *p, struct sc_trace *t)
{
    sc_trace_section(t, "L1 and memory");
    sc_trace_add(t, "A", "W n / T", k->warps * k->loads / p->iteration, SC_NUMBER,
                 "accesses per cycle");
    sc_trace_add(t, "tau", "c0 Tc / A, C = int P(reuse > t) dt + useless Tc + held min(lead, Tc)",
                 p->residence, SC_CYCLES, "how long L1 keeps a line");
    sc_trace_add(t, "R", "L2 + W_L2 + p_D (DRAM - L2 + W_D)", p->fetch_latency, SC_CYCLES,
                 "mean fetch, queues and bursts included");
    sc_trace_add(t, "W_q", "min(b s rho / (2 (1 - rho)), 0.7 N s), and bursts met", p->fetch_wait,
                 SC_CYCLES, "of it waiting in queues");
    sc_trace_add(t, "W_b", "(s - 1 / (1 - busy)) 1.2 MSHRs / 2, while throttled", p->burst,
                 SC_CYCLES, "what a prefetch waits behind others of its burst");
}

static void explain_prefetches(const struct pf_state *p, struct sc_trace *t)
{
    sc_trace_section(t, "prefetches, per access");
    sc_trace_add(t, "psi", NULL, p->throttle, SC_SHARE,
                 "share of the time that the throttle lets them go");
    sc_trace_add(t, "q", "sum of q^k = free slots", p->queue_ratio, SC_NUMBER,
                 "ratio by which the queue thins a burst, place by place");
    sc_trace_add(t, "FP", "Markov renewal: counter x zero state", p->false_positive, SC_SHARE,
                 "candidates that are not zero and suppressed all the same");
    sc_trace_add(t, "FN", NULL, p->false_negative, SC_SHARE, "zero ones that are issued");
    sc_trace_add(t, "B", "Erlang B(rate x hold, registers)", p->register_fallback, SC_SHARE,
                 "prefetches that find no register");
    sc_trace_add(t, "issued", "each attempt in turn, unless the sector is there", p->issued,
                 SC_NUMBER, "re-issues and useless ones included");
    sc_trace_add(t, "useless", "past the loop's end, of other CTAs", p->useless, SC_NUMBER,
                 "that nobody will come for");
    sc_trace_add(t, "dropped", "known zeros of stored loads, in registers", p->dropped, SC_NUMBER,
                 "that stores overwrite");
    sc_trace_add(t, "on_time", "P(R < lead < R + tau)", p->on_time, SC_NUMBER,
                 "there when demand comes");
    sc_trace_add(t, "late", "P(lead < R)", p->late, SC_NUMBER, "still under way");
    sc_trace_add(t, "early", "P(lead > R + tau)", p->early, SC_NUMBER,
                 "gone, and fetched again by demand");
    sc_trace_add(t, "missed", NULL, p->missed, SC_NUMBER, "demand that goes to L2 itself");
}

static void explain_time(const struct pf_kernel *k, const struct pf_state states[SC_PREFETCH_RUNS],
                         struct sc_trace *t)
{
    const struct pf_state *p = &states[SC_PREFETCH_RUN_OWN];
    const bool narrow = p->bandwidth >= p->iteration * (1.0 - 1e-3);
    sc_trace_section(t, "time of an iteration");
    sc_trace_add(t, "stall", "n E[(wait - dependence x gap)+]", p->exposed, SC_CYCLES,
                 "a warp waits for its loads");
    sc_trace_add(t, "barrier", "b sqrt(2 ln C_cta Var / period)", p->barrier, SC_CYCLES,
                 "and for the last of its CTA");
    sc_trace_add(t, "T_issue", "repairman(W / schedulers, I, (gap - 1) I + stall + barrier)",
                 p->unlimited, SC_CYCLES, "with the schedulers shared");
    sc_trace_binds(t, !narrow);
    sc_trace_add(t, "T_narrow", "W n bytes / bandwidth, of the narrowest", p->bandwidth, SC_CYCLES,
                 p->narrowest);
    sc_trace_binds(t, narrow);
    sc_trace_add(t, "T", "max(T_issue, T_narrow)", p->iteration, SC_CYCLES, "iteration of a warp");
    sc_trace_section(t, "the kernel's time");
    sc_trace_add(t, "cycles", "rounds of CTAs (M T + b sqrt(2 ln C_cta M Var))", cycles_of(k, p), SC_CYCLES,
                 "with the policy");
    const double none = cycles_of(k, &states[SC_PREFETCH_RUN_NONE]);
    sc_trace_add(t, "none", NULL, none, SC_CYCLES, "without prefetches");
    sc_trace_add(t, "utility", NULL, cycles_of(k, &states[SC_PREFETCH_RUN_UTILITY]), SC_CYCLES,
                 "with no zero candidate issued, and no other suppressed");
    sc_trace_add(t, "timeliness", NULL, cycles_of(k, &states[SC_PREFETCH_RUN_TIMELINESS]), SC_CYCLES,
                 "with all that is predicted there just in time");
    sc_trace_add(t, "placement", NULL, cycles_of(k, &states[SC_PREFETCH_RUN_PLACEMENT]), SC_CYCLES,
                 "with prefetched data taking no room");
    sc_trace_add(t, "slowdown", "cycles / none", cycles_of(k, p) / none,
                 SC_NUMBER, "time over the time without prefetches");
}

enum sc_status sc_prefetch_estimate(const void *scenario, void *answer, struct sc_trace *trace,
                                    struct sc_error *error)
{
    const struct sc_prefetch *s = scenario;
    struct sc_prefetch_answer *out = answer;
    const enum sc_status status = sc_prefetch_check(s, error);
    if (status != SC_OK)
        return status;
    const struct sc_prefetch_mechanisms own = sc_prefetch_mechanisms(s);
    const struct sc_prefetch_machine machine = sc_prefetch_machine(s, &own);
    struct pf_kernel kernel;
    struct pf_state states[SC_PREFETCH_RUNS] = { 0 };
    sc_pf_kernel(s, &machine, &kernel);
    solve_all(&kernel, states);
    if (trace != NULL) {
        explain_kernel(&kernel, trace);
        explain_memory(&kernel, &states[SC_PREFETCH_RUN_OWN], trace);
        explain_prefetches(&states[SC_PREFETCH_RUN_OWN], trace);
        explain_time(&kernel, states, trace);
    }
    *out = answer_of(&kernel, states);
    return SC_OK;
}
