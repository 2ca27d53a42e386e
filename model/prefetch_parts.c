/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "prefetch_parts.h"

#include <math.h>

#include "queueing.h"

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

/* ---- Residence ---- */

static double survival_of(const struct sc_reuse *c, double t)
{
    if (!(c->reuse < HUGE_VAL))
        return 1.0;
    if (c->cyclic)
        return t < c->reuse ? 1.0 : 0.0;
    return c->reuse > 0.0 ? exp(-t / c->reuse) : 0.0;
}

double sc_reuse_survival(const struct sc_reuse *classes, size_t count, double t)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += classes[i].share * survival_of(&classes[i], t);
    return sum;
}

/* Integral of the survival over [0, t]: mean occupancy that a class causes. */
static double occupancy_of(const struct sc_reuse *c, double t)
{
    if (!(c->reuse < HUGE_VAL))
        return t;
    if (c->cyclic)
        return fmin(t, c->reuse);
    return c->reuse > 0.0 ? -c->reuse * expm1(-t / c->reuse) : 0.0;
}

/* The occupancy is concave in T: Newton from the left never passes the root. */
double sc_reuse_characteristic(const struct sc_reuse *classes, size_t count, double useless,
                               double held, double hold, double lines)
{
    enum { STEPS = 60 };
    double t = 0.0;
    for (int i = 0; i < STEPS; i++) {
        double filled = useless * t + held * fmin(hold, t);
        double slope = useless + (t < hold ? held : 0.0);
        for (size_t k = 0; k < count; k++) {
            filled += classes[k].share * occupancy_of(&classes[k], t);
            slope += classes[k].share * survival_of(&classes[k], t);
        }
        const double step = lines - filled;
        if (step <= 1e-9 * lines)
            return t;
        if (!(slope > 1e-12) || t > 1e12)
            return HUGE_VAL;
        t += step / slope;
    }
    return t;
}

/* ---- Latency ---- */

double sc_prefetch_wait(double service, double rho, double burst, double customers)
{
    const double most = 0.7 * customers * service;
    if (rho >= 1.0)
        return most;
    return fmin(burst * service * rho / (2.0 * (1.0 - rho)), most);
}

struct sc_latency sc_prefetch_latency(double l2, double dram_share, double dram, double dram_wait)
{
    const double root = sqrt(2.0);
    return (struct sc_latency){
        .cycles = { l2, l2 + dram + (2.0 - root) * dram_wait,
                    l2 + dram + (2.0 + root) * dram_wait },
        .weight = { 1.0 - dram_share, dram_share * (2.0 + root) / 4.0,
                    dram_share * (2.0 - root) / 4.0 },
    };
}

double sc_latency_mean(const struct sc_latency *latency)
{
    double sum = 0.0;
    for (int i = 0; i < SC_LATENCY_POINTS; i++)
        sum += latency->weight[i] * latency->cycles[i];
    return sum;
}

double sc_latency_variance(const struct sc_latency *latency)
{
    const double mean = sc_latency_mean(latency);
    double sum = 0.0;
    for (int i = 0; i < SC_LATENCY_POINTS; i++) {
        const double d = latency->cycles[i] - mean;
        sum += latency->weight[i] * d * d;
    }
    return sum;
}

/* ---- Timeliness ---- */

/* A cubic step in place of a distribution function: its deviation is 0.447 of
 * its half-width, sqrt(1/5). */
static double cubic_step(double x)
{
    const double y = clamp(x, 0.0, 1.0);
    return y * y * (3.0 - 2.0 * y);
}

/* Survival of a gamma distribution of the mean `residence` and the deviation residence_cv
 * times that: the cube root is nearly normal (Wilson & Hilferty, PNAS 17, 1931). */
struct retention {
    double scale, top, steep; /* 1 / residence; the step's argument at 0, and its slope */
    double whole, gone;       /* waits up to which all is there, and from which on nothing is */
};

static struct retention retention_of(double residence, double residence_cv)
{
    const double variance = residence_cv * residence_cv / 9.0;
    const double steep = 1.0 / (2.0 * (sqrt(5.0 * variance) + 1e-9));
    const double top = 0.5 + (1.0 - variance) * steep;
    const double first = fmax(0.0, top - 1.0) / steep, last = top / steep; /* cube roots */
    if (!(residence < HUGE_VAL))
        return (struct retention){ 0.0, 1.0, 0.0, HUGE_VAL, HUGE_VAL };
    return (struct retention){ 1.0 / fmax(residence, 1e-9), top, steep,
                               residence * first * first * first, residence * last * last * last };
}

static double retained(const struct retention *r, double wait)
{
    if (wait <= r->whole)
        return 1.0;
    return wait < r->gone ? cubic_step(r->top - r->steep * exp(log(wait * r->scale) / 3.0)) : 0.0;
}

double sc_prefetch_retained(double wait, double residence, double residence_cv)
{
    const struct retention r = retention_of(residence, residence_cv);
    return retained(&r, wait);
}

/* Leads at the edges of bins of equal probability; a bin counts as uniform. */
enum { LEAD_BINS = 8 };

struct sc_timeliness sc_prefetch_timeliness(double lead, double lead_cv,
                                            const struct sc_latency *latency, double residence,
                                            double residence_cv)
{
    /* ln(u/(1-u)) at u = 1/2, 5/8, 3/4, 7/8, 0.99, over pi / sqrt(3): log-logistic. */
    static const double upper[LEAD_BINS / 2 + 1] = { 0.0, 0.281637, 0.605690, 1.07284, 2.53342 };
    struct sc_timeliness t = { 0 };
    const double spread2 = log1p(lead_cv * lead_cv), spread = sqrt(spread2);
    const double median = lead * exp(-0.5 * spread2);
    double edge[LEAD_BINS + 1];
    for (int b = 0; b <= LEAD_BINS / 2; b++) {
        const double factor = exp(spread * upper[b]);
        edge[LEAD_BINS / 2 + b] = median * factor;
        edge[LEAD_BINS / 2 - b] = median / factor;
    }
    const struct retention kept = retention_of(residence, residence_cv);
    for (int b = 0; b < LEAD_BINS; b++) {
        const double from = edge[b], to = edge[b + 1];
        const double inverse = to > from ? 1.0 / (to - from) : 1e12;
        for (int i = 0; i < SC_LATENCY_POINTS; i++) {
            const double r = latency->cycles[i], weight = latency->weight[i] / LEAD_BINS;
            const double late = clamp((r - from) * inverse, 0.0, 1.0);
            const double wait = 0.5 * ((from > r ? from : r) + to) - r;
            t.late += weight * late;
            if (late < 1.0)
                t.on_time += weight * (1.0 - late) * retained(&kept, wait);
        }
    }
    t.early = fmax(0.0, 1.0 - t.late - t.on_time);
    return t;
}

/* ---- Issue ---- */

/* Cut equations: what goes up from k to k + 1 comes down from k + 1 and k + 2. */
double sc_prefetch_confidence(double success, double threshold)
{
    enum { TOP = 7 };
    const double p = clamp(success, 1e-9, 1.0), ratio = (1.0 - p) / p;
    double weight[TOP + 2] = { [TOP] = 1.0 };
    double all = 1.0, passed = threshold <= TOP ? 1.0 : 0.0;
    for (int k = TOP - 1; k >= 0; k--) {
        weight[k] = ratio * (weight[k + 1] + weight[k + 2]);
        all += weight[k];
        if (k >= threshold)
            passed += weight[k];
    }
    return passed / all;
}

/* Sum of ratio^k for k = 1..n, n any real. */
static double geometric_sum(double ratio, double n)
{
    const double gap = 1.0 - ratio;
    return gap < 1e-9 ? n : ratio * -expm1(n * log(ratio)) / gap;
}

double sc_prefetch_queue_ratio(double candidates, double slots)
{
    enum { STEPS = 40 };
    double low = 1e-9, high = 1.0;
    if (slots >= candidates)
        return 1.0;
    for (int i = 0; i < STEPS; i++) {
        const double middle = 0.5 * (low + high);
        if (geometric_sum(middle, candidates) < slots)
            low = middle;
        else
            high = middle;
    }
    return low;
}

double sc_prefetch_queue_share(double ratio, double ahead, double count)
{
    if (ratio >= 1.0)
        return 1.0;
    return pow(ratio, ahead) * (count > 1e-9 ? geometric_sum(ratio, count) / count : ratio);
}

double sc_prefetch_duty(double idle_load, double full_load, double limit)
{
    if (full_load <= limit)
        return 1.0;
    if (idle_load >= limit)
        return 0.0;
    return (limit - idle_load) / (full_load - idle_load);
}

double sc_prefetch_overshoot(double distance, double iterations)
{
    return fmin(distance, iterations) / fmax(iterations, 1.0);
}

/* ---- Distance tuner ---- */

enum { WINDOW_MOST = 63 };

/* Probabilities p of k successes among n, k = 0..n.  The success is kept off 0 and
 * 1 by as much as keeps the smallest power normal. */
static void binomial(int n, double success, double p[WINDOW_MOST + 1])
{
    const double s = clamp(success, 1e-4, 1.0 - 1e-4), odds = s / (1.0 - s);
    p[0] = pow(1.0 - s, n);
    for (int k = 0; k < n; k++)
        p[k + 1] = p[k] * odds * (n - k) / (k + 1.0);
}

/* Of m outcomes that were not on time, P(more late than early), P(fewer);
 * an even split moves nothing. */
static void majority(int m, double late, double *up, double *down)
{
    double p[WINDOW_MOST + 1];
    *up = *down = 0.0;
    binomial(m, late, p);
    for (int k = 0; k <= m; k++) {
        if (2 * k > m)
            *up += p[k];
        else if (2 * k < m)
            *down += p[k];
    }
}

static void moves(const struct sc_timeliness *o, int window, double *up, double *down)
{
    double on[WINDOW_MOST + 1];
    const double wrong = o->late + o->early;
    *up = *down = 0.0;
    binomial(window, o->on_time, on);
    for (int k = 0; 2 * k <= window; k++) {
        double more, fewer;
        majority(window - k, wrong > 0.0 ? o->late / wrong : 0.5, &more, &fewer);
        *up += on[k] * more;
        *down += on[k] * fewer;
    }
}

void sc_prefetch_tune(const struct sc_timeliness *outcome, size_t count, int window, double *share)
{
    const double least = 1e-9; /* so that no state is left out */
    const int n = window < 1 ? 1 : window > WINDOW_MOST ? WINDOW_MOST : window;
    double up_before = 0.0, log_share = 0.0, largest = 0.0, sum = 0.0;
    for (size_t d = 0; d < count; d++) {
        double up, down;
        moves(&outcome[d], n, &up, &down);
        if (d > 0)
            log_share += log(up_before + least) - log(down + least);
        share[d] = log_share;
        largest = fmax(largest, log_share);
        up_before = up;
    }
    for (size_t d = 0; d < count; d++) {
        share[d] = exp(share[d] - largest);
        sum += share[d];
    }
    for (size_t d = 0; d < count; d++)
        share[d] /= sum;
}

double sc_prefetch_settle(const struct sc_timeliness *outcome, size_t count, int window,
                          double windows, double start)
{
    const int n = window < 1 ? 1 : window > WINDOW_MOST ? WINDOW_MOST : window;
    double left = windows, distance = clamp(start, 1.0, (double)count);
    int direction = 0;
    for (size_t step = 0; step < count; step++) {
        double up, down;
        moves(&outcome[(size_t)distance - 1], n, &up, &down);
        const int sign = up > down ? 1 : -1;
        const double drift = fabs(up - down), next = distance + sign;
        if (next < 1.0 || next > (double)count || left * drift < 1e-3)
            break;
        if (direction == -sign)
            return distance + 0.5 * sign;
        if (left * drift < 1.0)
            return distance + sign * left * drift;
        left -= 1.0 / drift;
        distance = next;
        direction = sign;
    }
    return distance;
}

/* ---- Zero filter ---- */

/* Expected number of zero candidates among the n that follow a zero one, in a
 * two-state chain of memory lambda. */
static double zeros_after_zero(double zero_share, double lambda, double n)
{
    const double memory = lambda < 1.0 - 1e-12 ? lambda * (1.0 - pow(lambda, n)) / (1.0 - lambda)
                                               : n;
    return zero_share * n + (1.0 - zero_share) * memory;
}

/* Visits to other [0] and to zero [1] candidates until the counter has climbed
 * from 0 to 3.  It falls one level at a time and climbs one at a time, always on
 * a zero candidate: so each level is climbed in turn, and a fall from level k
 * costs the climb from k - 1 first. */
static void climb(double start, double stay_zero, double turn_zero, double visits[2])
{
    double below[2] = { 1.0 / turn_zero, 1.0 }; /* climb of level 0 from an other candidate */
    visits[1] = start + (1.0 - start) * below[1];
    visits[0] = (1.0 - start) * below[0];
    for (int level = 1; level < 3; level++) {
        double from_other[2];
        for (int kind = 0; kind < 2; kind++) {
            const double fallen = turn_zero * kind + (1.0 - turn_zero) * below[kind];
            from_other[kind] = ((1 - kind) + fallen + stay_zero * kind) / stay_zero;
            visits[kind] += stay_zero * kind + (1.0 - stay_zero) * from_other[kind];
        }
        below[0] = from_other[0];
        below[1] = from_other[1];
    }
}

struct sc_zero_filter sc_prefetch_zero_filter(double zero_share, double run, double delay,
                                              double timeout)
{
    const double z = clamp(zero_share, 0.0, 1.0), least = 1e-6;
    if (z < least)
        return (struct sc_zero_filter){ 0.0, 1.0 };
    const double length = fmax(run, 1.0 / fmax(1.0 - z, least));
    const double stay = clamp(1.0 - 1.0 / length, least, 1.0);
    const double turn = clamp(z / fmax(1.0 - z, least) / length, least, 1.0);
    const double lambda = clamp(stay - turn, 0.0, 1.0 - least);
    const double start = z + (1.0 - z) * pow(lambda, delay + timeout);
    double visits[2];
    climb(start, stay, turn, visits);
    const double late_zeros = zeros_after_zero(z, lambda, delay);
    const double all_zeros = zeros_after_zero(z, lambda, delay + timeout);
    const double zeros = visits[1] + all_zeros, others = visits[0] + delay + timeout - all_zeros;
    return (struct sc_zero_filter){
        .false_positive = others > 0.0 ? (timeout - (all_zeros - late_zeros)) / others : 0.0,
        .false_negative = zeros > 0.0 ? (visits[1] + late_zeros) / zeros : 1.0,
    };
}

/* ---- Throughput ---- */

double sc_prefetch_iteration(double warps, double issue, double away, double bottleneck)
{
    struct sc_closed closed;
    const double alone = fmax(issue + away, warps * fmax(issue, bottleneck));
    if (sc_repairman_mg1(warps, away, issue, 0.0, &closed, NULL) != SC_OK)
        return alone;
    return fmax(alone, away + closed.response_s);
}
