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

/* Where a prefetch puts its data. */
enum place { IN_L1, IN_REGISTERS, PLACES };

/* P(what was fetched `ago` cycles before is still under way or there). */
static double survival(enum place place, double ago, const struct pf_life *life)
{
    const double wait = ago - sc_latency_mean(&life->latency);
    if (wait <= 0.0)
        return 1.0;
    return place == IN_L1 ? sc_prefetch_retained(wait, life->residence, life->residence_cv)
                          : sc_prefetch_retained(wait, life->register_hold, life->register_cv);
}

/* Of what is put in one place. */
static struct sc_timeliness timeliness_in(enum place place, double lead, const struct pf_life *life)
{
    /* Iterations follow one another with the variance of each. */
    const double cv = lead > 0.0 ? sqrt(life->lead_cv * life->lead_cv +
                                        life->variance / (life->iteration * lead) +
                                        life->scatter * life->scatter / (lead * lead))
                                 : 0.0;
    struct sc_timeliness t = sc_prefetch_timeliness(lead, cv, &life->latency, life->residence,
                                                    life->residence_cv);
    if (place == IN_REGISTERS) {
        /* A register keeps its data for far longer than leads spread. */
        t.on_time = fmax(0.0, 1.0 - t.late) * survival(place, lead, life);
        t.early = fmax(0.0, 1.0 - t.late - t.on_time);
    }
    return t;
}

struct sc_timeliness sc_pf_timeliness(double lead, const struct pf_life *life)
{
    struct sc_timeliness t = timeliness_in(IN_L1, lead, life);
    if (life->register_share > 0.0) {
        const struct sc_timeliness r = timeliness_in(IN_REGISTERS, lead, life);
        t.on_time += life->register_share * (r.on_time - t.on_time);
        t.early += life->register_share * (r.early - t.early);
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

double sc_pf_triggers(double count)
{
    return 1.0 + 0.3 * fmax(0.0, count - 1.0);
}

/* The newest fetch of a sector, if it is that of a given attempt and in a given place. */
struct fetch {
    double newest; /* P(it is) */
    double alive;  /* P(it is, and is still there) */
    double kept;   /* P(such a fetch is still there), when last looked at */
};

/* Brings the fetches of attempts before j up to the time of attempt j, which repeats with
 * probability `tried` what is gone; returns P(the sector is there). */
static double look_again(struct fetch fetches[][PLACES], const struct pf_attempt *attempts,
                         size_t j, double tried, const struct pf_life *life)
{
    double there = 0.0;
    for (size_t i = 0; i < j; i++)
        for (int p = 0; p < PLACES; p++) {
            struct fetch *f = &fetches[i][p];
            if (!(f->newest > 1e-6))
                continue;
            const double ago = (attempts[i].lead - attempts[j].lead) * life->iteration;
            const double kept = fmin(f->kept, survival((enum place)p, ago, life));
            f->alive *= f->kept > 0.0 ? kept / f->kept : 0.0;
            f->kept = kept;
            f->newest -= tried * (f->newest - f->alive);
            there += f->alive;
        }
    return there;
}

/* Adds what becomes of a fetch that is the newest when demand comes. */
static void add_outcome(struct pf_fate *fate, const struct pf_attempt *attempt, enum place place,
                        const struct fetch *f, const struct pf_life *life)
{
    const double lead = attempt->lead * life->iteration, mean = sc_latency_mean(&life->latency);
    struct sc_timeliness t = timeliness_in(place, lead, life);
    /* It was there when last looked at, or known to be gone. */
    const double before = f->kept * (1.0 - t.late);
    const double still = before > 0.0 ? fmin(1.0, t.on_time / before) : 0.0;
    double on_time = f->alive * (1.0 - t.late) * still;
    double arrived = f->newest * fmax(0.0, 1.0 - t.late);
    if (place == IN_REGISTERS) {
        arrived *= 1.0 - life->register_drop;
        on_time = fmin(on_time, arrived);
    }
    double early = arrived - on_time;
    if (life->metadata > 0.0) {
        /* The metadata answers before L1 does. */
        const double known = sc_prefetch_retained(fmax(0.0, lead - mean), life->metadata,
                                                  life->residence_cv);
        fate->known += known * (on_time + early);
        fate->parked += place == IN_REGISTERS ? known * on_time : 0.0;
        on_time *= 1.0 - known;
        early *= 1.0 - known;
    }
    fate->on_time += on_time;
    fate->late += f->newest * t.late;
    fate->early += early;
    fate->lead += on_time * attempt->distance;
    fate->hold += on_time * fmax(0.0, lead - mean);
    for (int i = 0; i < SC_LATENCY_POINTS; i++)
        fate->late_wait +=
            f->newest * life->latency.weight[i] * fmax(0.0, life->latency.cycles[i] - lead);
}

struct pf_fate sc_pf_fate(const struct pf_attempt *attempts, size_t count, const double *pass,
                          const struct pf_life *life)
{
    struct pf_fate fate = { 0 };
    struct fetch fetches[SC_PREFETCH_ATTEMPTS][PLACES];
    const double share[PLACES] = { 1.0 - life->register_share, life->register_share };
    double unseen = 1.0;
    for (size_t j = 0; j < count; j++) {
        const double one = fmin(pass[j] * attempts[j].available, 1.0);
        const double copies = attempts[j].pattern == SC_PREFETCH_WARP
                                  ? sc_pf_triggers(attempts[j].copies)
                                  : attempts[j].copies;
        const double any = copies > 1.0 ? 1.0 - pow(1.0 - one, copies) : one;
        const double tried = any * let(j > 0 ? attempts[j - 1].lead - attempts[j].lead : 1e9, life);
        unseen *= 1.0 - any;
        const double there = look_again(fetches, attempts, j, tried, life);
        const double issued = tried * fmax(0.0, 1.0 - there);
        for (int p = 0; p < PLACES; p++)
            fetches[j][p] = (struct fetch){ share[p] * issued, share[p] * issued, 1.0 };
        fate.issued += issued;
        fate.pattern_issued[attempts[j].pattern] += issued;
    }
    if (life->just_in_time) {
        const double predicted = 1.0 - unseen;
        return (struct pf_fate){ .issued = predicted, .on_time = predicted };
    }
    for (size_t j = 0; j < count; j++)
        for (int p = 0; p < PLACES; p++)
            if (fetches[j][p].newest > 1e-4)
                add_outcome(&fate, &attempts[j], (enum place)p, &fetches[j][p], life);
    fate.dropped = fmax(0.0, fate.issued - fate.late) * life->register_share * life->register_drop;
    return fate;
}
