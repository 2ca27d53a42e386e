/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the closed form of `prefetch`: each against a brute-force run with
 * a fixed seed, a textbook value, or its limits. */
#include "prefetch_parts.h"
#include "tap.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static uint64_t state = 1;

static double uniform(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-53;
}

/* ---- Residence ---- */

enum { LINES_MOST = 4096 };

/* Miss ratio of an LRU cache of `lines` lines: with probability `streamed` a line
 * never seen again, else a random one of `set`.  Times of last use make the stack. */
static double lru_misses(int lines, int set, double streamed, int accesses)
{
    static int stack[LINES_MOST];
    int used = 0, fresh = set, misses = 0, counted = 0;
    for (int i = 0; i < accesses; i++) {
        const int line = uniform() < streamed ? fresh++ : (int)(uniform() * set);
        int at = 0;
        while (at < used && stack[at] != line)
            at++;
        if (i > accesses / 4 && line < set) {
            misses += at == used;
            counted++;
        }
        if (at == used && used < lines)
            used++;
        if (at == used)
            at--;
        memmove(stack + 1, stack, (size_t)at * sizeof stack[0]);
        stack[0] = line;
    }
    return (double)misses / counted;
}

static void residence(void)
{
    struct sc_reuse half[] = { { 0.5, 200, 0 }, { 0.5, HUGE_VAL, 0 } };
    /* set = 100 lines, each used every 200 accesses, among as many new ones */
    const double t = sc_reuse_characteristic(half, 2, 0, 0, 0, 128);
    near(sc_reuse_survival(half, 1, t) / 0.5, lru_misses(128, 100, 0.5, 200000), 0.03, 0,
         "a random set beside a stream misses as an LRU cache does");
    struct sc_reuse loop[] = { { 1.0, 300, 1 } };
    ok(sc_reuse_survival(loop, 1, sc_reuse_characteristic(loop, 1, 0, 0, 0, 299)) > 0.999,
       "a cyclic sweep over one line more than fits misses always");
    ok(!(sc_reuse_characteristic(loop, 1, 0, 0, 0, 301) < HUGE_VAL),
       "and one that fits is never evicted");
    struct sc_reuse stream[] = { { 1.0, HUGE_VAL, 0 } };
    near(sc_reuse_characteristic(stream, 1, 0, 0, 0, 256), 256, 1e-9, 0,
         "a stream keeps each line for as many accesses as there are lines");
    near(sc_reuse_characteristic(stream, 1, 0.6, 0, 0, 256), 160, 1e-9, 0,
         "useless insertions shorten that");
    near(sc_reuse_characteristic(stream, 1, 0, 0.5, 40, 256), 236, 1e-9, 0,
         "lines that wait for their use take their hold");
    struct sc_reuse nothing[] = { { 0.0, 10, 0 } };
    ok(!(sc_reuse_characteristic(nothing, 1, 0, 0, 0, 1) < HUGE_VAL), "no insertion, no eviction");
}

/* ---- Latency ---- */

static void latency(void)
{
    near(sc_prefetch_wait(2, 0.5, 1, 1e9), 1.0, 1e-12, 0,
         "M/D/1 at half load waits half a service");
    near(sc_prefetch_wait(2, 5, 1.6, 10), 14, 1e-12, 0, "a saturated queue holds 0.7 of all");
    const struct sc_latency l = sc_prefetch_latency(200, 0.25, 100, 40);
    near(sc_latency_mean(&l), 200 + 0.25 * 140, 1e-12, 0, "mean latency");
    /* of a mixture: E[X^2] with an exponential part of mean 40 */
    near(sc_latency_variance(&l), 0.25 * (140.0 * 140 + 40 * 40) - 35.0 * 35, 1e-9, 0,
         "variance of a hit, or a miss with an exponential wait");
}

/* ---- Timeliness ---- */

static struct sc_timeliness drawn(double lead, double cv, const struct sc_latency *l, double stay,
                                  double stay_cv, int draws)
{
    struct sc_timeliness t = { 0 };
    for (int i = 0; i < draws; i++) {
        const double u = uniform(), v = uniform();
        const double s2 = log1p(cv * cv);
        const double x = lead * exp(-0.5 * s2 + sqrt(3.0 * s2) / acos(-1.0) * log(u / (1 - u)));
        const double r = v < l->weight[0]                  ? l->cycles[0]
                         : v < l->weight[0] + l->weight[1] ? l->cycles[1]
                                                           : l->cycles[2];
        /* the cubic step's own distribution: x^2 (3 - 2 x) is Beta(2, 2), the
         * median of three uniforms */
        const double a = uniform(), b = uniform(), c = uniform();
        const double beta = fmax(fmin(a, b), fmin(fmax(a, b), c));
        const double keeps = stay * (1 + stay_cv * sqrt(5.0) * (2 * beta - 1));
        t.late += x < r;
        t.on_time += x >= r && x - r < keeps;
    }
    t.late /= draws;
    t.on_time /= draws;
    t.early = 1 - t.late - t.on_time;
    return t;
}

static void timeliness(void)
{
    const struct sc_latency l = sc_prefetch_latency(250, 0.4, 200, 60);
    double worst = 0, sum = 0;
    bool falls = true;
    double late = 2;
    for (double lead = 100; lead < 3000; lead *= 1.2) {
        const struct sc_timeliness t = sc_prefetch_timeliness(lead, 0.2, &l, 600, 0.2);
        const struct sc_timeliness d = drawn(lead, 0.2, &l, 600, 0.2, 40000);
        worst = fmax(worst, fmax(fabs(t.late - d.late), fabs(t.early - d.early)));
        sum = fmax(sum, fabs(t.late + t.early + t.on_time - 1));
        falls = falls && t.late <= late;
        late = t.late;
    }
    ok(worst < 0.03, "shares agree with 40000 draws at each of 19 leads (worst %.3f)", worst);
    ok(sum < 1e-12 && falls, "they sum to 1, and more lead is never later");
    const struct sc_timeliness none = sc_prefetch_timeliness(0, 0.2, &l, 600, 0.2);
    near(none.late, 1, 1e-12, 0, "no lead is late");
    const struct sc_timeliness ever = sc_prefetch_timeliness(1e6, 0.2, &l, HUGE_VAL, 0.2);
    near(ever.on_time, 1, 1e-12, 0, "what is never evicted is on time");
    near(sc_prefetch_timeliness(1e5, 0.2, &l, 600, 0.2).early, 1, 1e-9, 0, "far too early");
}

/* ---- Issue ---- */

static double counted_confidence(double success, double threshold)
{
    int counter = 0, passed = 0;
    const int steps = 400000;
    for (int i = 0; i < steps; i++) {
        passed += counter >= threshold;
        counter = uniform() < success ? counter + (counter < 7) : counter > 2 ? counter - 2 : 0;
    }
    return (double)passed / steps;
}

static void issue(void)
{
    double worst = 0;
    for (double p = 0.1; p < 1; p += 0.2)
        for (double threshold = 1; threshold <= 7; threshold += 2)
            worst = fmax(worst, fabs(sc_prefetch_confidence(p, threshold) -
                                     counted_confidence(p, threshold)));
    ok(worst < 0.006, "confidence agrees with a counter (worst %.4f)", worst);
    near(sc_prefetch_confidence(1, 7), 1, 1e-8, 0, "a stride that never fails is trusted");
    ok(sc_prefetch_confidence(0, 3) < 1e-12, "one that never holds is not");
    ok(sc_prefetch_confidence(1, 8) == 0, "and a threshold above the counter gates all");
    const double r = sc_prefetch_queue_ratio(20, 6);
    double sum = 0;
    for (int k = 1; k <= 20; k++)
        sum += pow(r, k);
    near(sum, 6, 1e-6, 0, "a burst of 20 through 6 slots");
    near(sc_prefetch_queue_ratio(6, 20), 1, 0, 0, "enough slots");
    near(sc_prefetch_duty(0.4, 1.4, 0.9), 0.5, 1e-12, 0, "half the time throttled");
    near(sc_prefetch_queue_share(0.5, 1, 2), 0.5 * (0.5 + 0.25) / 2, 1e-9, 0,
         "places 2 and 3 of a queue that halves");
    near(sc_prefetch_overshoot(4, 16), 0.25, 1e-12, 0, "a quarter points past the end");
    near(sc_prefetch_overshoot(40, 16), 1, 1e-12, 0, "all of them");
}

/* ---- Tuner ---- */

enum { DISTANCES = 24 };

static void drawn_distances(const struct sc_timeliness *o, double *share)
{
    const int windows = 400000;
    int d = 1;
    for (int i = 0; i < DISTANCES; i++)
        share[i] = 0;
    for (int i = 0; i < windows; i++) {
        int on = 0, late = 0;
        for (int k = 0; k < 15; k++) {
            const double u = uniform();
            on += u < o[d - 1].on_time;
            late += u >= o[d - 1].on_time && u < o[d - 1].on_time + o[d - 1].late;
        }
        share[d - 1] += 1.0 / windows;
        if (2 * on <= 15)
            d += 2 * late > 15 - on ? d < DISTANCES : 2 * late < 15 - on ? -(d > 1) : 0;
    }
}

static void tuner(void)
{
    const struct sc_latency l = sc_prefetch_latency(250, 0.6, 200, 100);
    struct sc_timeliness o[DISTANCES];
    double share[DISTANCES], want[DISTANCES], on = 0, best = 0, off = 0, sum = 0;
    for (int d = 1; d <= DISTANCES; d++)
        o[d - 1] = sc_prefetch_timeliness(60 * d, 0.3, &l, 700, 0.3);
    sc_prefetch_tune(o, DISTANCES, 15, share);
    drawn_distances(o, want);
    for (int d = 0; d < DISTANCES; d++) {
        on += share[d] * o[d].on_time;
        best = fmax(best, o[d].on_time);
        off += 0.5 * fabs(share[d] - want[d]);
        sum += share[d];
    }
    near(sum, 1, 1e-12, 0, "shares of the distances sum to 1");
    ok(off < 0.03, "they agree with 400000 windows (total variation %.4f)", off);
    struct sc_timeliness late[4] = { { 0, 0, 1 }, { 0, 0, 1 }, { 1, 0, 0 }, { 1, 0, 0 } };
    near(sc_prefetch_settle(late, 4, 15, 100, 1), 3, 1e-6, 0,
         "it goes up while all is late, and stays where it is content");
    near(sc_prefetch_settle(late, 4, 15, 100, 4), 4, 1e-6, 0, "wherever that is");
    near(sc_prefetch_settle(late, 4, 15, 1.5, 1), 2.5, 1e-2, 0, "or as far as its windows last");
    ok(on > 0.8 * best, "the tuner finds a good distance (%.2f of at best %.2f)", on, best);
}

/* ---- Zero filter ---- */

static struct sc_zero_filter counted_filter(double z, double run, int delay, int timeout)
{
    enum { PENDING = 64 };
    int pending[PENDING] = { 0 }, counter = 0, left = 0;
    bool zero = uniform() < z;
    double zeros = 0, others = 0, issued_zero = 0, suppressed_other = 0;
    const double stay = 1 - 1 / run, turn = z / (1 - z) / run;
    for (int i = 0; i < 1000000; i++) {
        zero = uniform() < (zero ? stay : turn);
        zeros += zero;
        others += !zero;
        /* what was issued `delay` candidates ago is learnt now, unless suppressed */
        if (left > 0) {
            suppressed_other += !zero;
            left--;
            for (int k = 0; k < PENDING; k++)
                pending[k] = 0;
            continue;
        }
        issued_zero += zero;
        pending[i % PENDING] = zero ? 1 : -1;
        const int learnt = pending[(i - delay + PENDING) % PENDING];
        pending[(i - delay + PENDING) % PENDING] = 0;
        counter += learnt;
        counter = counter < 0 ? 0 : counter;
        if (counter >= 3) {
            left = timeout;
            counter = 0;
        }
    }
    return (struct sc_zero_filter){ suppressed_other / others, issued_zero / zeros };
}

static void zero_filter(void)
{
    double worst = 0;
    for (double z = 0.1; z < 0.95; z += 0.2)
        for (double run = 12; run < 200; run *= 4)
            for (int delay = 0; delay <= 8; delay += 4) {
                const struct sc_zero_filter got = sc_prefetch_zero_filter(z, run, delay, 16);
                const struct sc_zero_filter want = counted_filter(z, run, delay, 16);
                worst = fmax(worst, fmax(fabs(got.false_positive - want.false_positive),
                                         fabs(got.false_negative - want.false_negative)));
            }
    ok(worst < 0.03, "errors of the filter agree with a run of it (worst %.3f)", worst);
    ok(sc_prefetch_zero_filter(0, 1, 0, 16).false_positive == 0,
       "without zeros nothing is suppressed");
    near(sc_prefetch_zero_filter(1, 1e9, 0, 1e6).false_negative, 3e-6, 0.01, 0,
         "with zeros alone 3 pass, and then a time-out's worth does not");
    const struct sc_zero_filter late = sc_prefetch_zero_filter(0.5, 64, 40, 16);
    ok(late.false_negative > sc_prefetch_zero_filter(0.5, 64, 0, 16).false_negative,
       "what is learnt late is suppressed less");
}

/* ---- Throughput ---- */

static void throughput(void)
{
    near(sc_prefetch_iteration(1, 10, 300, 0), 310, 1e-12, 0, "one warp never waits for the port");
    near(sc_prefetch_iteration(64, 10, 300, 0), 640, 1e-6, 0, "many wait for it all the time");
    near(sc_prefetch_iteration(8, 10, 300, 100), 800, 1e-12, 0, "or for another bottleneck");
    const double t = sc_prefetch_iteration(31, 10, 300, 0);
    ok(t > 310 && t < 1.4 * 310, "at the knee a little more than either (%.1f)", t);
    ok(sc_prefetch_iteration(0, 0, 0, 0) >= 0, "nothing to do");
}

/* P(fewer than `ways` of a stream of lines at random sets have come to that of a line): it is
 * then still there, under LRU.  `x` are the mean arrivals. */
static double still_in_set(int ways, double x)
{
    double term = exp(-x), sum = 0.0;
    for (int k = 0; k < ways; k++) {
        sum += term;
        term *= x / (k + 1);
    }
    return sum;
}

static void retained(void)
{
    static const int ways[] = { 4, 8, 16 };
    for (size_t i = 0; i < 3; i++) {
        const double n = ways[i];
        double worst = 0.0;
        for (double wait = 0.0; wait < 3.0; wait += 0.05)
            worst = fmax(worst, fabs(sc_prefetch_retained(600 * wait, 600, 1.0 / sqrt(n)) -
                                     still_in_set(ways[i], n * wait)));
        ok(worst < 0.035, "%d ways: a line stays as long as in a set of LRU (%.3f off at most)",
           ways[i], worst);
    }
    near(sc_prefetch_retained(0, 600, 0.8), 1, 0, 0, "what has not waited is there");
    near(sc_prefetch_retained(1e5, 600, 0.8), 0, 0, 0, "and does not stay for ever");
    near(sc_prefetch_retained(1e9, HUGE_VAL, 0.3), 1, 0, 0, "unless nothing evicts it");
}

int main(void)
{
    plan(41 + 6);
    retained();
    residence();
    latency();
    timeliness();
    issue();
    tuner();
    zero_filter();
    throughput();
    return done();
}
