/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer of `prefetch`: the fixed point under the policy, without prefetches,
 * and with each oracle in turn. */
#include <math.h>

#include "prefetch_forms.h"

static struct pf_state solve_with(const struct pf_kernel *kernel,
                                  const struct sc_prefetch_mechanisms *mechanisms)
{
    return sc_pf_solve(kernel, mechanisms, 1e-4);
}

static double share_of(double part, double whole)
{
    return whole > 0.0 ? part / whole : 0.0;
}

/* Stall shares: some warp issues or is between two instructions unless all wait;
 * what is left goes by what they wait for. */
static void share_out(const struct pf_kernel *k, const struct pf_state *p,
                      struct sc_prefetch_answer *a)
{
    const double own = fmin(1.0, k->scenario->issue_gap_cycles * k->instructions / p->iteration);
    const double busy = 1.0 - pow(1.0 - own, k->warps);
    const double alone = p->away + k->instructions;
    const double narrow = fmax(0.0, p->bandwidth - alone);
    const double queue = p->latency > 0.0 ? fmin(1.0, share_of(p->fetch_wait, p->latency)) : 0.0;
    const double latency = p->exposed * (1.0 - queue), waits = p->exposed * queue + narrow;
    const double sum = latency + waits + p->barrier;
    const double idle = 1.0 - busy;
    const bool mshrs = p->narrowest[0] == 'm' && p->narrowest[1] == 's';
    a->issue_share = sum > 0.0 ? busy : 1.0;
    a->latency_stall_share = share_of(idle * latency, sum);
    a->bandwidth_stall_share = share_of(idle * (mshrs ? waits - narrow : waits), sum);
    a->queue_stall_share = share_of(idle * (mshrs ? narrow : 0.0), sum);
    a->barrier_stall_share = share_of(idle * p->barrier, sum);
}

static const char *bound_of(const struct pf_state *p, const struct sc_prefetch_answer *a)
{
    if (p->bandwidth >= 0.95 * p->iteration)
        return p->narrowest;
    if (a->issue_share >= 0.5)
        return "issue";
    if (a->barrier_stall_share >= a->latency_stall_share + a->bandwidth_stall_share)
        return "barriers";
    return "latency";
}

/* A CTA gives way to the next when its last warp has ended. */
static double cycles_of(const struct pf_kernel *k, const struct pf_state *p)
{
    const double steps = k->scenario->barriers > 0.0 ? k->in_step : k->iterations;
    const double last = sqrt(2.0 * log(fmax(k->cta_warps, 1.0)) * steps * p->variance);
    return k->waves * (k->iterations * p->iteration + k->scenario->barrier_factor * last);
}

/* Which oracle gains most over the policy; below half a per cent none is worth it. */
static const char *worth(const struct pf_kernel *k, const struct sc_prefetch_mechanisms *m,
                         double iteration)
{
    const char *best = "none";
    double least = iteration / 1.005;
    if (m->front == SC_PREFETCH_NONE)
        return best;
    for (int i = 0; i < 3; i++) {
        struct sc_prefetch_mechanisms o = *m;
        o.oracle_zero = m->oracle_zero || i == 0;
        o.oracle_time = m->oracle_time || i == 1;
        o.oracle_place = m->oracle_place || i == 2;
        const double t = solve_with(k, &o).iteration;
        if (t < least) {
            least = t;
            best = i == 0 ? "utility" : i == 1 ? "timeliness" : "placement";
        }
    }
    return best;
}

enum sc_status sc_prefetch_estimate(const void *scenario, void *answer, struct sc_trace *trace,
                                    struct sc_error *error)
{
    const struct sc_prefetch *s = scenario;
    struct sc_prefetch_answer *a = answer;
    const enum sc_status status = sc_prefetch_check(s, error);
    if (status != SC_OK)
        return status;
    const struct sc_prefetch_mechanisms m = sc_prefetch_mechanisms(s);
    const struct sc_prefetch_machine machine = sc_prefetch_machine(s, &m);
    struct pf_kernel k;
    (void)trace;
    sc_pf_kernel(s, &machine, &k);
    const struct pf_state p = solve_with(&k, &m);
    struct sc_prefetch_mechanisms none = { .front = SC_PREFETCH_NONE, .zero_cache = m.zero_cache };
    struct sc_prefetch_mechanisms bare = { .front = m.front, .throttle = m.front == SC_PREFETCH_SNAKE,
                                           .zero_cache = m.zero_cache };
    struct sc_prefetch_mechanisms all = m;
    all.oracle_zero = all.oracle_time = all.oracle_place = true;
    const struct pf_state base = solve_with(&k, &none), front = solve_with(&k, &bare),
                          oracle = solve_with(&k, &all);
    const double cycles = cycles_of(&k, &p), used = p.on_time + p.late + p.early;
    *a = (struct sc_prefetch_answer){
        .slowdown = cycles / cycles_of(&k, &base),
        .speedup = cycles_of(&k, &base) / cycles,
        .ipc_gain = cycles_of(&k, &base) / cycles - 1.0,
        .front_end_gain = cycles_of(&k, &front) / cycles - 1.0,
        .front_end_speedup = cycles_of(&k, &front) / cycles,
        .oracle_gap = cycles / cycles_of(&k, &oracle) - 1.0,
        .time_s = cycles / s->clock_hz,
        .ipc = k.warps * k.waves * k.iterations * k.instructions / cycles,
        .on_time_share = share_of(p.on_time, used),
        .early_share = share_of(p.early, used),
        .late_share = share_of(p.late, used),
        .coverage = share_of(p.on_time, p.on_time + p.late + p.missed),
        .accuracy = share_of(p.on_time, p.issued),
        .issued_share = share_of(p.issued, p.candidates),
        .unused_share = share_of(p.issued - p.on_time - p.late - p.early, p.issued),
        .dropped_share = share_of(p.dropped, p.issued),
        .l1_hit_share = p.hits,
        .load_latency_s = p.latency / s->clock_hz,
        .l2_bytes_per_instruction = p.l2_fetches * k.loads * k.sectors * SC_PREFETCH_SECTOR / k.instructions,
        .dram_bytes_per_instruction = p.dram_fetches * k.loads * k.sectors * SC_PREFETCH_SECTOR / k.instructions,
        .l2_traffic_change = front.l2_fetches > 0.0 ? p.l2_fetches / front.l2_fetches - 1.0 : 0.0,
        .dram_traffic_change = front.dram_fetches > 0.0 ? p.dram_fetches / front.dram_fetches - 1.0 : 0.0,
        .demand_evictions_share = p.demand_evictions,
        .best_distance = p.distance,
        .zero_false_positive = p.false_positive,
        .zero_false_negative = p.false_negative,
        .register_fallback_share = p.register_fallback,
    };
    share_out(&k, &p, a);
    a->bound = bound_of(&p, a);
    a->worth_fixing_first = worth(&k, &m, p.iteration);
    return SC_OK;
}
