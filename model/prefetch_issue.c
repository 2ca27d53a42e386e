/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Attempts to prefetch a sector, and what becomes of it. */
#include <math.h>

#include "prefetch_forms.h"

/* ---- Which triggers predict a sector ---- */

static void add(struct pf_attempt *attempts, size_t *count, struct pf_attempt attempt)
{
    if (!(attempt.available > 1e-4) || *count == SC_PREFETCH_ATTEMPTS)
        return;
    size_t at = (*count)++;
    while (at > 0 && attempts[at - 1].lead < attempt.lead) {
        attempts[at] = attempts[at - 1];
        at--;
    }
    attempts[at] = attempt;
}

/* Groups of distances that are treated alike, so that the work is bounded. */
static double step_of(double reach, double groups)
{
    return fmax(1.0, ceil(reach / groups));
}

static void add_iterations(const struct pf_kernel *k, double first, double reach,
                           struct pf_attempt *attempts, size_t *count)
{
    enum { GROUPS = 8 };
    const double step = step_of(reach - first + 1.0, GROUPS);
    for (double d = first; d <= reach; d += step) {
        const double copies = fmin(step, reach - d + 1.0);
        const double lead = d + 0.5 * (copies - 1.0);
        add(attempts, count,
            (struct pf_attempt){ .pattern = SC_PREFETCH_ITERATION,
                                 .lead = lead,
                                 .copies = copies,
                                 .available = fmax(0.0, 1.0 - lead / k->iterations),
                                 .distance = lead });
    }
}

static void add_chain(const struct pf_kernel *k, double reach, struct pf_attempt *attempts,
                      size_t *count)
{
    enum { GROUPS = 4 };
    const double step = step_of(reach, GROUPS);
    for (double d = 1.0; d <= reach; d += step) {
        const double copies = fmin(step, reach - d + 1.0);
        const double far = d + 0.5 * (copies - 1.0);
        /* Iterations back to the trigger, from the mean place in the body. */
        const double back = far / k->loads;
        add(attempts, count,
            (struct pf_attempt){ .pattern = SC_PREFETCH_CHAIN,
                                 .lead = far / k->loads,
                                 .copies = copies,
                                 .available = fmax(0.0, 1.0 - back / k->iterations),
                                 .distance = far });
    }
}

static void add_warps(const struct pf_kernel *k, double reach, struct pf_attempt *attempts,
                      size_t *count)
{
    enum { GROUPS = 3 };
    const double most = fmin(reach, k->cta_warps - 1.0), step = step_of(most, GROUPS);
    for (double d = 1.0; d <= most; d += step) {
        const double copies = fmin(step, most - d + 1.0);
        const double far = d + 0.5 * (copies - 1.0);
        add(attempts, count,
            (struct pf_attempt){ .pattern = SC_PREFETCH_WARP,
                                 .lead = far / k->warps,
                                 .copies = copies,
                                 .available = 1.0 - far / k->cta_warps,
                                 .distance = far });
    }
}

size_t sc_pf_attempts(const struct pf_kernel *k, const struct sc_prefetch_mechanisms *m,
                      double chain, struct pf_attempt attempts[SC_PREFETCH_ATTEMPTS])
{
    const struct sc_prefetch *s = k->scenario;
    size_t count = 0;
    const double fixed = isnan(s->distance) ? 2.0 : s->distance;
    switch (m->front) {
    case SC_PREFETCH_SNAKE:
        add_iterations(k, 1.0, sc_prefetch_reach(s, SC_PREFETCH_ITERATION), attempts, &count);
        add_chain(k, fmin(chain, sc_prefetch_reach(s, SC_PREFETCH_CHAIN)), attempts, &count);
        add_warps(k, sc_prefetch_reach(s, SC_PREFETCH_WARP), attempts, &count);
        break;
    case SC_PREFETCH_APOGEE:
        /* One candidate: of a later warp, or of a later iteration if all warps load alike. */
        if (s->warp_stride_bytes != 0.0)
            add_warps(k, sc_prefetch_reach(s, SC_PREFETCH_WARP), attempts, &count);
        else
            add_iterations(k, 1.0, sc_prefetch_reach(s, SC_PREFETCH_ITERATION), attempts, &count);
        break;
    case SC_PREFETCH_STRIDE:
    case SC_PREFETCH_KNOWN:
        if (fixed > 0.0)
            add_iterations(k, fixed, fixed, attempts, &count);
        break;
    case SC_PREFETCH_NONE:
    default:
        break;
    }
    return count;
}

/* ---- What becomes of the sector ---- */

/* P(a fetch of `ago` cycles before is still under way or its line there). */
static double alive(double wait, double residence, double cv)
{
    return wait <= 0.0 ? 1.0 : sc_prefetch_retained(wait, residence, cv);
}

/* Both places: a register keeps its data until its hold is over. */
static double alive_anywhere(double wait, const struct pf_life *life)
{
    const double in_l1 = alive(wait, life->residence, life->residence_cv);
    if (life->register_share <= 0.0)
        return in_l1;
    return life->register_share * alive(wait, life->register_hold, life->residence_cv) +
           (1.0 - life->register_share) * in_l1;
}

struct sc_timeliness sc_pf_timeliness(double lead, const struct pf_life *life)
{
    /* Iterations follow one another with the variance of each. */
    const double cv = lead > 0.0 ? sqrt(life->lead_cv * life->lead_cv +
                                        life->variance / (life->iteration * lead) +
                                        life->scatter * life->scatter / (lead * lead))
                                 : 0.0;
    struct sc_timeliness t = sc_prefetch_timeliness(lead, cv, &life->latency, life->residence,
                                                    life->residence_cv);
    if (life->register_share > 0.0) {
        /* A register keeps its data for far longer than leads spread. */
        const double wait = lead - sc_latency_mean(&life->latency);
        const double on_time = fmax(0.0, 1.0 - t.late) *
                               alive(wait, life->register_hold, life->residence_cv);
        t.on_time += life->register_share * (on_time - t.on_time);
        t.early = fmax(0.0, 1.0 - t.late - t.on_time);
    }
    return t;
}

/* P(the throttle lets an attempt go that comes `after` iterations later than the one
 * before).  Within a spell it does as before: what it lets go now went then. */
static double let(double after, const struct pf_life *life)
{
    const double psi = life->throttle;
    const double same = fmax(0.0, 1.0 - after * life->iteration / life->spell);
    return psi * (1.0 - (1.0 - psi) * same);
}

struct pf_fate sc_pf_fate(const struct pf_attempt *attempts, size_t count, const double *pass,
                          const struct pf_life *life)
{
    struct pf_fate fate = { 0 };
    double unseen = 1.0;
    double last[SC_PREFETCH_ATTEMPTS]; /* P(the newest fetch is that of attempt k) */
    const double mean = sc_latency_mean(&life->latency);
    for (size_t j = 0; j < count; j++) {
        const double one = fmin(pass[j] * attempts[j].available, 1.0);
        const double any = attempts[j].copies > 1.0 ? 1.0 - pow(1.0 - one, attempts[j].copies)
                                                    : one;
        const double tried = any * let(j > 0 ? attempts[j - 1].lead - attempts[j].lead : 1e9, life);
        double there = 0.0;
        unseen *= 1.0 - any;
        for (size_t i = 0; i < j; i++) {
            const double ago = (attempts[i].lead - attempts[j].lead) * life->iteration;
            const double kept = last[i] > 1e-6 ? alive_anywhere(ago - mean, life) : 1.0;
            there += last[i] * kept;
            last[i] *= 1.0 - tried * (1.0 - kept);
        }
        last[j] = tried * fmax(0.0, 1.0 - there);
        fate.issued += last[j];
        fate.pattern_issued[attempts[j].pattern] += last[j];
    }
    if (life->just_in_time) {
        const double predicted = 1.0 - unseen;
        return (struct pf_fate){ .issued = predicted * (1.0 - life->known),
                                 .on_time = predicted * (1.0 - life->known) };
    }
    for (size_t j = 0; j < count; j++) {
        if (!(last[j] > 1e-4))
            continue;
        const double lead = attempts[j].lead * life->iteration;
        struct sc_timeliness t = sc_pf_timeliness(lead, life);
        if (life->known > 0.0) {
            /* The metadata answers before L1 does. */
            const double known = life->known;
            fate.known += last[j] * known * (t.on_time + t.early);
            t.on_time *= 1.0 - known;
            t.early *= 1.0 - known;
        }
        fate.on_time += last[j] * t.on_time;
        fate.late += last[j] * t.late;
        fate.early += last[j] * t.early;
        fate.lead += last[j] * t.on_time * attempts[j].distance;
        fate.hold += last[j] * t.on_time * fmax(0.0, lead - mean);
        for (int i = 0; i < SC_LATENCY_POINTS; i++)
            fate.late_wait += last[j] * life->latency.weight[i] *
                              fmax(0.0, life->latency.cycles[i] - lead);
    }
    return fate;
}
