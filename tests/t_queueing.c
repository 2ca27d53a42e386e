/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Queueing formulas against textbook values, against limits and conservation
 * laws, and against brute force that shares no formula with them: state
 * probabilities summed in long double, convolution, numerical integration.
 *
 * A property that is checked over a grid is one check, of the worst case.
 */
#include "../model/queueing.h"
#include "tap.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { STATIONS_MAX = 8, POPULATION_MAX = 512, STATES_MAX = 2048 };

static const double NOT_A_NUMBER = (double)NAN;
static const double INFINITE = (double)INFINITY;

/* Relative distance; NaN, which fails every bound, when either is no number. */
static double distance(double got, double want)
{
    if (got == want)
        return 0.0;
    return fabs(got - want) / fabs(want);
}

/* fmax() would drop the NaN that says that something went wrong. */
static double worse(double a, double b)
{
    return isnan(a) || isnan(b) ? NOT_A_NUMBER : fmax(a, b);
}

/* ---- Little's law ---- */

static void test_little(void)
{
    near(sc_little_number(2e9, 50e-9), 100.0, 1e-15, 0.0, "2/ns for 50 ns are 100 in flight");
    near(sc_little_rate_per_s(100.0, 50e-9), 2e9, 1e-15, 0.0, "and back to the rate");
    near(sc_little_time_s(100.0, 2e9), 50e-9, 1e-15, 0.0, "and back to the time");
    near(sc_little_rate_per_s(1.0, 0.0), NOT_A_NUMBER, 0.0, 0.0, "no rate from a time of 0");
    near(sc_little_time_s(1.0, 0.0), NOT_A_NUMBER, 0.0, 0.0, "no time from a rate of 0");
    near(sc_little_number(-1.0, 1.0), NOT_A_NUMBER, 0.0, 0.0, "no negative rate");
    near(sc_little_number(INFINITE, 0.0), NOT_A_NUMBER, 0.0, 0.0, "no infinite rate");
}

/* ---- What all open queues share ---- */

static double mmc2_wait_s(double a, double s)
{
    return sc_mmc_wait_s(2.0 * a, s, 2.0);
}

static double mmc2_response_s(double a, double s)
{
    return sc_mmc_response_s(2.0 * a, s, 2.0);
}

static double mmc2_number(double a, double s)
{
    return sc_mmc_number(2.0 * a, s, 2.0);
}

static double mg1_wait_s(double a, double s)
{
    return sc_mg1_wait_s(a, s, 3.0);
}

static double mg1_response_s(double a, double s)
{
    return sc_mg1_response_s(a, s, 3.0);
}

static double mg1_number(double a, double s)
{
    return sc_mg1_number(a, s, 3.0);
}

static const struct open_queue {
    const char *name;
    double servers; /* the rate given to the functions is per server */
    double (*wait_s)(double arrival_per_s, double service_s);
    double (*response_s)(double arrival_per_s, double service_s);
    double (*number)(double arrival_per_s, double service_s);
} open_queues[] = {
    { .name = "M/M/1",
      .servers = 1.0,
      .wait_s = sc_mm1_wait_s,
      .response_s = sc_mm1_response_s,
      .number = sc_mm1_number },
    { .name = "M/D/1",
      .servers = 1.0,
      .wait_s = sc_md1_wait_s,
      .response_s = sc_md1_response_s,
      .number = sc_md1_number },
    { .name = "M/G/1",
      .servers = 1.0,
      .wait_s = mg1_wait_s,
      .response_s = mg1_response_s,
      .number = mg1_number },
    { .name = "M/M/2",
      .servers = 2.0,
      .wait_s = mmc2_wait_s,
      .response_s = mmc2_response_s,
      .number = mmc2_number },
};

static bool is_nan_outside(double (*f)(double, double))
{
    static const double bad[] = { -1.0, (double)NAN, (double)INFINITY };
    bool all = true;

    for (size_t i = 0; i < COUNT(bad); i++)
        all = all && isnan(f(bad[i], 0.5)) && isnan(f(0.5, bad[i]));
    return all;
}

static void test_open_queue(const struct open_queue *q)
{
    double worst_little = 0.0, worst_sum = 0.0, before_s = -1.0;
    bool rising = true;

    for (double rho = 1e-6; rho < 1.0; rho += 0.0101) {
        const double s = 0.25, a = rho / s;
        const double r = q->response_s(a, s);

        worst_little = worse(worst_little, distance(q->number(a, s), q->servers * a * r));
        worst_sum = worse(worst_sum, distance(q->wait_s(a, s) + s, r));
        rising = rising && q->wait_s(a, s) > before_s;
        before_s = q->wait_s(a, s);
    }
    ok(worst_little < 1e-13, "%s: Little's law (worst %.2g)", q->name, worst_little);
    ok(worst_sum < 1e-14, "%s: response is wait and service (worst %.2g)", q->name, worst_sum);
    ok(rising, "%s: the wait grows with the load", q->name);
    near(q->wait_s(0.0, 0.25), 0.0, 0.0, 0.0, "%s: no load, no wait", q->name);
    near(q->response_s(0.0, 0.25), 0.25, 0.0, 0.0, "%s: no load, the response is the service",
         q->name);
    ok(isinf(q->wait_s(4.0, 0.25)) && isinf(q->response_s(4.0, 0.25)) &&
           isinf(q->number(4.0, 0.25)),
       "%s: infinite at load 1", q->name);
    ok(isinf(q->wait_s(9.0, 0.25)) && isinf(q->response_s(9.0, 0.25)) &&
           isinf(q->number(9.0, 0.25)),
       "%s: infinite above it", q->name);
    ok(is_nan_outside(q->wait_s) && is_nan_outside(q->response_s) && is_nan_outside(q->number),
       "%s: NaN outside its domain", q->name);
}

/* ---- One server ---- */

static void test_mm1(void)
{
    near(sc_utilisation(3.0, 0.5, 2.0), 0.75, 1e-15, 0.0, "utilisation");
    near(sc_utilisation(3.0, 1.0, 2.0), 1.5, 1e-15, 0.0, "utilisation is not clamped");
    near(sc_utilisation(3.0, 1.0, 0.0), NOT_A_NUMBER, 0.0, 0.0, "no utilisation of no server");
    near(sc_mm1_number(0.75, 1.0), 3.0, 1e-15, 0.0, "M/M/1 at 3/4 holds 3");
    near(sc_mm1_wait_s(0.75, 1.0), 3.0, 1e-15, 0.0, "and they wait 3 s");
    near(sc_md1_wait_s(0.75, 1.0), 1.5, 1e-15, 0.0, "M/D/1 waits half as long");
    near(sc_mg1_wait_s(0.5, 1.0, -0.1), NOT_A_NUMBER, 0.0, 0.0, "no negative variance");
    near(sc_mm1_response_quantile_s(0.75, 1.0, 0.5), 4.0 * log(2.0), 1e-15, 0.0,
         "the median response is log 2 of the mean");
    near(sc_mm1_response_quantile_s(0.75, 1.0, 0.0), 0.0, 0.0, 0.0, "quantile 0 is 0");
    near(sc_mm1_response_quantile_s(0.75, 1.0, 1.0), NOT_A_NUMBER, 0.0, 0.0,
         "there is no quantile 1");
    near(sc_mm1_response_quantile_s(1.0, 1.0, 0.5), INFINITE, 0.0, 0.0,
         "saturated: any quantile is infinite");
    near(sc_mm1_response_quantile_s(1.0, 1.0, -0.5), NOT_A_NUMBER, 0.0, 0.0,
         "saturated or not, no negative quantile");
}

static void test_pollaczek_special_cases(void)
{
    double as_mm1 = 0.0, as_md1 = 0.0;

    for (double rho = 0.001; rho < 1.0; rho += 0.0173) {
        as_mm1 = worse(as_mm1,
                       distance(sc_mg1_response_s(rho, 1.0, 1.0), sc_mm1_response_s(rho, 1.0)));
        as_mm1 = worse(as_mm1, distance(sc_mg1_number(rho, 1.0, 1.0), sc_mm1_number(rho, 1.0)));
        as_md1 = worse(as_md1, distance(2.0 * sc_md1_wait_s(rho, 1.0), sc_mm1_wait_s(rho, 1.0)));
    }
    ok(as_mm1 < 1e-13, "M/G/1 with c2 = 1 is M/M/1 (worst %.2g)", as_mm1);
    ok(as_md1 < 1e-15, "M/D/1 waits half of M/M/1 (worst %.2g)", as_md1);
}

/*
 * P(j arrivals in one gamma service of mean 1): Poisson when c2 = 0, else
 * negative binomial.
 */
static void arrivals_in_service(long double rho, long double c2, long double *share)
{
    share[0] = c2 == 0.0L ? expl(-rho) : powl(1.0L + c2 * rho, -1.0L / c2);
    for (size_t j = 1; j < STATES_MAX; j++)
        share[j] = share[j - 1] * rho * (1.0L + c2 * (long double)(j - 1)) /
                   ((long double)j * (1.0L + c2 * rho));
}

/*
 * Mean number in M/G/1 from the chain embedded at departures, by Ramaswami's
 * recursion (Stochastic Models 4, 1988), which subtracts nothing.
 */
static double mg1_number_by_chain(double rho, double c2)
{
    static long double share[STATES_MAX], tail[STATES_MAX + 1];
    static long double p[STATES_MAX];
    long double mean = 0.0L;

    arrivals_in_service((long double)rho, (long double)c2, share);
    tail[STATES_MAX] = 0.0L;
    for (size_t j = STATES_MAX; j-- > 0;)
        tail[j] = tail[j + 1] + share[j];
    p[0] = 1.0L - (long double)rho;
    for (size_t j = 1; j < STATES_MAX; j++) {
        long double sum = p[0] * tail[j];

        for (size_t i = 1; i < j; i++)
            sum += p[i] * tail[j - i + 1];
        p[j] = sum / (1.0L - tail[1]);
        mean += (long double)j * p[j];
    }
    return (double)mean;
}

static void test_mg1_by_chain(void)
{
    static const struct {
        double rho, c2;
    } cases[] = {
        { 0.3, 0.0 }, { 0.9, 0.0 }, { 0.7, 0.5 }, { 0.6, 1.0 }, { 0.7, 2.0 }, { 0.5, 4.0 },
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        near(sc_mg1_number(cases[i].rho, 1.0, cases[i].c2),
             mg1_number_by_chain(cases[i].rho, cases[i].c2), 1e-12, 0.0,
             "M/G/1 is its embedded chain: rho %g, c2 %g", cases[i].rho, cases[i].c2);
}

/* ---- Erlang ---- */

static void test_erlang_textbook(void)
{
    near(sc_erlang_b(1.0, 1.0), 0.5, 1e-15, 0.0, "B(1 E, 1) = 1/2");
    near(sc_erlang_b(2.0, 3.0), 4.0 / 19.0, 1e-15, 0.0, "B(2 E, 3) = 4/19");
    near(sc_erlang_c(2.0, 3.0), 4.0 / 9.0, 1e-15, 0.0, "C(2 E, 3) = 4/9");
    near(sc_erlang_b(90.0, 100.0), 0.026957380464359, 1e-13, 0.0, "B(90 E, 100)");
    near(sc_erlang_c(90.0, 100.0), 0.216940480906368, 1e-13, 0.0, "C(90 E, 100)");
    near(sc_erlang_b(3.0, 0.0), 1.0, 0.0, 0.0, "no server loses all");
    near(sc_erlang_b(0.0, 2.0), 0.0, 0.0, 0.0, "no load loses none");
    near(sc_erlang_b(0.0, 0.0), 1.0, 0.0, 0.0, "nor is there a loss of 0/0");
    near(sc_erlang_c(0.0, 2.0), 0.0, 0.0, 0.0, "no load does not wait");
    near(sc_erlang_c(2.0, 2.0), 1.0, 0.0, 0.0, "all wait at load 1");
    near(sc_erlang_c(7.0, 2.0), 1.0, 0.0, 0.0, "all wait above it");
    near(sc_erlang_c(0.0, 0.0), NOT_A_NUMBER, 0.0, 0.0, "C needs a server");
    near(sc_erlang_b(-1.0, 2.0), NOT_A_NUMBER, 0.0, 0.0, "no negative load");
    near(sc_erlang_b(1.0, -0.5), NOT_A_NUMBER, 0.0, 0.0, "no negative servers");
    near(sc_erlang_b(1.0, 2e10), NOT_A_NUMBER, 0.0, 0.0,
         "no more servers than the accuracy is good for");
    near(sc_erlang_c(NOT_A_NUMBER, 2.0), NOT_A_NUMBER, 0.0, 0.0, "NaN in, NaN out");
}

/* log B by the recursion in 1/B, the sum kept as a logarithm. */
static double erlang_b_log_by_recursion(double offered, double servers)
{
    const long double log_a = logl((long double)offered);
    long double log_inverse = 0.0L;

    for (double n = 1.0; n <= servers; n += 1.0) {
        const long double up = log_inverse + logl((long double)n) - log_a;

        log_inverse = up > 0.0L ? up + log1pl(expl(-up)) : log1pl(expl(up));
    }
    return (double)-log_inverse;
}

static void test_erlang_by_recursion(void)
{
    static const double load[] = { 1e-3, 0.3, 1.0, 17.0, 999.5, 31000.0 };
    static const double servers[] = {
        1.0,   2.0,   7.0,    15.0,   16.0,   17.0,    18.0,    100.0,   175.0,
        998.0, 999.0, 1000.0, 1001.0, 1200.0, 30000.0, 31000.0, 32000.0,
    };
    double worst = 0.0, worst_log = 0.0;

    for (size_t i = 0; i < COUNT(load); i++) {
        for (size_t j = 0; j < COUNT(servers); j++) {
            const double want = erlang_b_log_by_recursion(load[i], servers[j]);
            const double got = sc_erlang_b_log(load[i], servers[j]);

            worst_log = worse(worst_log, fabs(got - want) / fmax(1.0, fabs(want)));
            if (want > -500.0)
                worst = worse(worst, distance(sc_erlang_b(load[i], servers[j]), exp(want)));
        }
    }
    ok(worst < 1e-12, "B is the recursion (worst %.2g)", worst);
    ok(worst_log < 1e-13, "log B is the recursion (worst %.2g)", worst_log);
}

static void test_erlang_large(void)
{
    static const double servers[] = { 999000.0, 1e6, 1001000.0, 1005000.0 };
    double worst = 0.0;

    for (size_t j = 0; j < COUNT(servers); j++)
        worst = worse(worst, distance(sc_erlang_b(1e6, servers[j]),
                                      exp(erlang_b_log_by_recursion(1e6, servers[j]))));
    ok(worst < 1e-12, "B at 1e6 erlangs (worst %.2g)", worst);
    near(sc_erlang_b(10.0, 1e6), 0.0, 0.0, 0.0, "B underflows to 0");
    near(sc_erlang_b_log(10.0, 1e6), erlang_b_log_by_recursion(10.0, 1e6), 1e-13, 0.0,
         "its logarithm does not");
    near(sc_erlang_b(1e6, 1.0), 1e6 / 1000001.0, 1e-15, 0.0, "one server loses nearly all");
    near(sc_erlang_b(1e300, 1e6), 1.0, 1e-15, 0.0, "absurd load is lost");
}

/* 1/B as the integral over s > 0 of exp(-s) (1 + s/A)^c, by Simpson's rule. */
static double erlang_b_by_integral(double offered, double servers)
{
    enum { INTERVALS = 200000 };
    const long double a = (long double)offered, c = (long double)servers;
    /* The integrand peaks at c - A, not wider than sqrt(c), and then falls
	 * at least as an exponential does. */
    const long double end = fmaxl(0.0L, c - a) + 20.0L * sqrtl(c) + 100.0L;
    const long double h = end / INTERVALS;
    long double sum = 0.0L;

    for (int i = 0; i <= INTERVALS; i++) {
        const long double s = h * (long double)i;
        const long double weight = i == 0 || i == INTERVALS ? 1.0L : i % 2 == 1 ? 4.0L : 2.0L;

        sum += weight * expl(c * log1pl(s / a) - s);
    }
    return (double)(3.0L / (sum * h));
}

static void test_erlang_real_servers(void)
{
    static const double load[] = { 0.5, 3.0, 15.7, 60.0 };
    static const double servers[] = { 0.25, 1.5, 15.9, 16.1, 55.5 };
    double worst = 0.0, worst_step = 0.0;

    for (size_t i = 0; i < COUNT(load); i++) {
        for (size_t j = 0; j < COUNT(servers); j++) {
            const double a = load[i], c = servers[j];
            const double b = sc_erlang_b(a, c);

            worst = worse(worst, distance(b, erlang_b_by_integral(a, c)));
            worst_step = worse(worst_step,
                               distance(sc_erlang_b(a, c + 1.0), a * b / (c + 1.0 + a * b)));
        }
    }
    ok(worst < 1e-12, "real servers: B is its integral (worst %.2g)", worst);
    ok(worst_step < 1e-13, "real servers: B obeys the recursion (worst %.2g)", worst_step);
}

static void test_erlang_monotone(void)
{
    bool in_servers = true, in_load = true, ordered = true;

    for (double a = 0.1; a < 2e4; a *= 1.7) {
        for (double c = 0.3; c < 2.0 * a + 3.0; c = c * 1.31 + 0.2) {
            const double log_b = sc_erlang_b_log(a, c);

            in_servers = in_servers && sc_erlang_b_log(a, c + 0.1) < log_b;
            in_load = in_load && sc_erlang_b_log(1.01 * a, c) > log_b;
            ordered = ordered && log_b < 0.0 && sc_erlang_c(a, c) >= sc_erlang_b(a, c);
        }
    }
    for (double a = 0.01; a < 1e6; a *= 1.37)
        ordered = ordered && sc_erlang_b_log(a, 1e-17) <= 0.0;
    ok(in_servers, "B falls with the servers");
    ok(in_load, "B grows with the load");
    ok(ordered, "B < 1 and B <= C");
}

/* Targets that are some B, from the recursion, with its own rounding. */
static bool is_tie_met(void)
{
    bool met = true;

    for (double a = 0.5; a < 200.0; a *= 1.3) {
        double b = 1.0;

        for (double c = 1.0; c < 1.5 * a; c += 1.0) {
            b = a * b / (c + a * b);
            met = met && sc_erlang_b_servers(a, b) == c;
        }
    }
    return met;
}

static void test_erlang_servers(void)
{
    bool least = true;

    for (double a = 0.2; a < 1e5; a *= 3.1) {
        for (double target = 0.9; target > 1e-12; target *= 0.11) {
            const double c = sc_erlang_b_servers(a, target);

            least = least && floor(c) == c && c >= 1.0 && sc_erlang_b(a, c) <= target &&
                    sc_erlang_b(a, c - 1.0) > target;
        }
    }
    ok(least, "the least number of servers that meets a target");
    near(sc_erlang_b_servers(10.0, 0.01), 18.0, 0.0, 0.0,
         "10 E at 1 %% takes 18, as in any Erlang table");
    near(sc_erlang_b_servers(1.0, 0.5), 1.0, 0.0, 0.0, "a target that is just met is met");
    ok(is_tie_met(), "whatever its rounding");
    near(sc_erlang_b_servers(5.0, 1.0), 0.0, 0.0, 0.0, "all may be lost: no server");
    near(sc_erlang_b_servers(0.0, 0.1), 1.0, 0.0, 0.0, "no load still needs one");
    near(sc_erlang_b_servers(5.0, 0.0), INFINITE, 0.0, 0.0, "none may be lost: no end of servers");
    near(sc_erlang_b_servers(5.0, 1.5), NOT_A_NUMBER, 0.0, 0.0, "a target is a share");
    near(sc_erlang_b_servers(1e12, 0.01), NOT_A_NUMBER, 0.0, 0.0, "more servers than supported");
}

/* ---- Many servers ---- */

/* State probabilities of M/M/c, summed until they vanish. */
struct mmc_sums {
    long double number, waiting_share;
};

static struct mmc_sums mmc_by_states(long double offered, long double servers)
{
    long double p = 1.0L, total = 1.0L;
    struct mmc_sums sums = { 0.0L, 0.0L };

    for (long double n = 1.0L; n < 20000.0L; n += 1.0L) {
        p *= offered / fminl(n, servers);
        total += p;
        sums.number += n * p;
        if (n >= servers)
            sums.waiting_share += p;
    }
    sums.number /= total;
    sums.waiting_share /= total;
    return sums;
}

static void test_mmc(void)
{
    static const double servers[] = { 1.0, 2.0, 5.0, 40.0, 300.0 };
    double worst_number = 0.0, worst_c = 0.0, as_mm1 = 0.0;

    for (size_t i = 0; i < COUNT(servers); i++) {
        for (double rho = 0.05; rho < 1.0; rho += 0.1) {
            const double a = rho * servers[i];
            const struct mmc_sums want = mmc_by_states((long double)a, (long double)servers[i]);

            worst_number = worse(worst_number, distance(sc_mmc_number(a / 0.5, 0.5, servers[i]),
                                                        (double)want.number));
            worst_c = worse(worst_c,
                            distance(sc_erlang_c(a, servers[i]), (double)want.waiting_share));
        }
    }
    ok(worst_number < 1e-12, "M/M/c number is its state sum (worst %.2g)", worst_number);
    ok(worst_c < 1e-11, "C is its state sum (worst %.2g)", worst_c);
    for (double rho = 0.01; rho < 1.0; rho += 0.01)
        as_mm1 = worse(as_mm1, distance(sc_mmc_wait_s(rho, 1.0, 1.0), sc_mm1_wait_s(rho, 1.0)));
    ok(as_mm1 < 1e-13, "M/M/c with one server is M/M/1 (worst %.2g)", as_mm1);
    /* Gross, sec. 2.3: 6 patients an hour, 20 minutes each, 3 doctors. */
    near(sc_mmc_number(6.0 / 3600.0, 1200.0, 3.0), 26.0 / 9.0, 1e-14, 0.0,
         "the eye clinic holds 26/9");
    near(sc_mmc_wait_s(6.0 / 3600.0, 1200.0, 3.0), 3600.0 * 4.0 / 27.0, 1e-14, 0.0,
         "and makes them wait 4/27 h");
    ok(sc_mmc_wait_s(0.9e6, 1.0, 1e6) < 1e-300, "a million servers at 0.9 do not make anyone wait");
    near(sc_mmc_wait_s(1.0, 1.0, 0.0), NOT_A_NUMBER, 0.0, 0.0, "M/M/c needs a server");
}

/*
 * P(wait > t): a job that finds k waiting goes after k + 1 departures, each
 * at rate c/S, so it still waits at t when at most k came by then.
 */
static double mmc_wait_tail_by_states(double offered, double servers, double t_over_s)
{
    const long double a = (long double)offered, c = (long double)servers;
    const long double mean = c * (long double)t_over_s;
    long double p = 1.0L, total = 1.0L, tail = 0.0L;
    long double poisson = expl(-mean), at_most = 0.0L;

    for (long double n = 1.0L; n < 5000.0L; n += 1.0L) {
        p *= a / fminl(n, c);
        total += p;
        if (n >= c) {
            at_most += poisson;
            poisson *= mean / (n - c + 1.0L);
            tail += p * at_most;
        }
    }
    return (double)(tail / total);
}

static void test_mmc_quantile(void)
{
    const double a = 4.5, c = 5.0, s = 0.2;
    double worst = 0.0;

    for (double p = 0.3; p < 0.9999; p += 0.05) {
        const double t = sc_mmc_wait_quantile_s(a / s, s, c, p);

        worst = worse(worst, distance(mmc_wait_tail_by_states(a, c, t / s), 1.0 - p));
    }
    ok(worst < 1e-12, "M/M/c wait quantiles are its state sums (worst %.2g)", worst);
    near(sc_mmc_wait_quantile_s(a / s, s, c, 0.2), 0.0, 0.0, 0.0, "the lucky fifth does not wait");
    near(sc_mmc_wait_quantile_s(5.0 / s, s, c, 0.2), INFINITE, 0.0, 0.0, "saturated: infinite");
    near(sc_mmc_wait_quantile_s(a / s, s, c, 1.0), NOT_A_NUMBER, 0.0, 0.0,
         "there is no quantile 1");
}

static void test_loss(void)
{
    double worst_kept = 0.0, worst_little = 0.0;
    bool bounded = true;

    for (double a = 0.01; a < 1e5; a *= 2.3) {
        for (double c = 0.5; c < 3e4; c = 2.0 * c + 1.0) {
            const double s = 0.1;
            const double x = sc_loss_throughput_per_s(a / s, s, c);
            const double lost = a / s * sc_loss_blocking(a / s, s, c);
            const double busy = sc_loss_carried(a / s, s, c);

            worst_kept = worse(worst_kept, distance(x + lost, a / s));
            worst_little = worse(worst_little, distance(busy, x * s));
            bounded = bounded && busy <= a * (1.0 + 1e-15) && busy < c;
        }
    }
    ok(worst_kept < 1e-12, "served and lost are all that came (worst %.2g)", worst_kept);
    ok(worst_little < 1e-15, "the busy servers obey Little's law (worst %.2g)", worst_little);
    ok(bounded, "carried is at most what is offered and what there is");
    near(sc_loss_carried(1e9, 1.0, 1.0), 1.0 / (1.0 + 1e-9), 1e-15, 0.0,
         "what one server carries of 1e9 E keeps its digits");
    near(sc_loss_carried(2.0, 1.0, 3.0), 30.0 / 19.0, 1e-15, 0.0, "3 servers carry 30/19 of 2 E");
    near(sc_loss_blocking(-2.0, -1.0, 3.0), NOT_A_NUMBER, 0.0, 0.0,
         "two negative inputs do not cancel");
    near(sc_loss_carried(1.0, 1.0, -1.0), NOT_A_NUMBER, 0.0, 0.0, "no negative servers");
}

/* ---- Closed networks ---- */

struct buzen {
    double throughput_per_s;
    double number[STATIONS_MAX];
};

/*
 * The normalising constants G of Buzen's convolution (Comm. ACM 16, 1973)
 * with a delay station.  Times are in units of `scale`, so that G stays
 * within long double.
 */
static void buzen_fill(const struct sc_network *net, size_t population, long double scale,
                       long double *g)
{
    g[0] = 1.0L;
    for (size_t n = 1; n <= population; n++)
        g[n] = g[n - 1] * (long double)net->think_s / scale / (long double)n;
    for (size_t k = 0; k < net->station_count; k++)
        for (size_t n = 1; n <= population; n++)
            g[n] += (long double)net->demand_s[k] / scale * g[n - 1];
}

static struct buzen buzen_solve(const struct sc_network *net, size_t population)
{
    static long double g[POPULATION_MAX + 1];
    struct buzen out = { 0 };
    long double scale = (long double)net->think_s;

    for (size_t k = 0; k < net->station_count; k++)
        scale = fmaxl(scale, (long double)net->demand_s[k]);
    buzen_fill(net, population, scale, g);
    out.throughput_per_s = (double)(g[population - 1] / g[population] / scale);
    for (size_t k = 0; k < net->station_count; k++) {
        const long double d = (long double)net->demand_s[k] / scale;
        long double power = 1.0L, sum = 0.0L;

        for (size_t n = 1; n <= population; n++) {
            power *= d;
            sum += power * g[population - n];
        }
        out.number[k] = (double)(sum / g[population]);
    }
    return out;
}

static const double demand_one[] = { 0.3 };
static const double demand_three[] = { 0.605, 2.1, 1.35 };
static const double demand_equal[] = { 0.2, 0.2, 0.2, 0.2, 0.2 };
static const double demand_eight[] = {
    0.8, 0.65, 0.5, 0.5, 0.33, 0.2, 0.04, 0.0,
};

static const struct network_case {
    const char *name;
    struct sc_network net;
} networks[] = {
    { "one station", { demand_one, COUNT(demand_one), 4.0 } },
    { "one station, no delay", { demand_one, COUNT(demand_one), 0.0 } },
    { "three stations", { demand_three, COUNT(demand_three), 15.0 } },
    { "five equal", { demand_equal, COUNT(demand_equal), 0.0 } },
    { "five equal, delay", { demand_equal, COUNT(demand_equal), 9.0 } },
    { "eight stations", { demand_eight, COUNT(demand_eight), 5.0 } },
    { "delay only", { NULL, 0, 2.5 } },
};

/* The exact answer, or NaN all over when the library refused. */
static struct sc_closed exact(const struct sc_network *net, double population, double *residence_s,
                              double *number)
{
    struct sc_closed out = {
        NOT_A_NUMBER,
        NOT_A_NUMBER,
        NOT_A_NUMBER,
        NOT_A_NUMBER,
    };

    if (sc_mva_exact(net, population, residence_s, number, &out, NULL) != SC_OK)
        out.throughput_per_s = NOT_A_NUMBER;
    return out;
}

static struct sc_closed schweitzer(const struct sc_network *net, double population,
                                   double *residence_s, double *number)
{
    struct sc_closed out = {
        NOT_A_NUMBER,
        NOT_A_NUMBER,
        NOT_A_NUMBER,
        NOT_A_NUMBER,
    };

    if (sc_mva_schweitzer(net, population, residence_s, number, &out, NULL) != SC_OK)
        out.throughput_per_s = NOT_A_NUMBER;
    return out;
}

/*
 * Little's law for the cycle, for the stations together and for each; the
 * population conserved; the utilisation law.
 */
static double closed_law_error(const struct sc_network *net, double population,
                               const struct sc_closed *got, const double *residence_s,
                               const double *number)
{
    const double x = got->throughput_per_s;
    double worst = distance(x * (net->think_s + got->response_s), population);
    double residences_s = 0.0, numbers = 0.0, max_s = 0.0;

    for (size_t k = 0; k < net->station_count; k++) {
        worst = worse(worst, distance(number[k], x * residence_s[k]));
        residences_s += residence_s[k];
        numbers += number[k];
        max_s = fmax(max_s, net->demand_s[k]);
    }
    worst = worse(worst, distance(residences_s, got->response_s));
    worst = worse(worst, distance(numbers, got->number));
    worst = worse(worst, distance(numbers + x * net->think_s, population));
    return worse(worst, distance(got->utilisation, x * max_s));
}

static void test_mva_exact(const struct network_case *c)
{
    static const size_t population[] = { 1, 2, 3, 10, 57, 200 };
    double residence_s[STATIONS_MAX], number[STATIONS_MAX];
    double worst = 0.0, worst_law = 0.0;

    for (size_t i = 0; i < COUNT(population); i++) {
        const struct buzen want = buzen_solve(&c->net, population[i]);
        const struct sc_closed got = exact(&c->net, (double)population[i], residence_s, number);

        worst = worse(worst, distance(got.throughput_per_s, want.throughput_per_s));
        for (size_t k = 0; k < c->net.station_count; k++)
            worst = worse(worst, distance(number[k], want.number[k]));
        worst_law = worse(
            worst_law, closed_law_error(&c->net, (double)population[i], &got, residence_s, number));
    }
    ok(worst < 1e-12, "%s: exact MVA is convolution (worst %.2g)", c->name, worst);
    ok(worst_law < 1e-13, "%s: exact MVA obeys the laws (worst %.2g)", c->name, worst_law);
}

static void test_mva_exact_values(void)
{
    const struct sc_network three = { demand_three, 3, 15.0 };
    const struct sc_network eight = { demand_eight, 8, 5.0 };
    double residence_s[STATIONS_MAX], number[STATIONS_MAX];
    struct sc_closed got = exact(&three, 1.0, residence_s, number);

    /* The recursion by hand (network of the examples in Lazowska, ch. 6). */
    near(got.throughput_per_s, 1.0 / 19.055, 1e-15, 0.0, "three stations, one customer");
    got = exact(&three, 3.0, residence_s, number);
    near(residence_s[0], 0.644, 0.0, 5e-4, "three customers: residence 1");
    near(residence_s[1], 2.605, 0.0, 5e-4, "three customers: residence 2");
    near(residence_s[2], 1.551, 0.0, 5e-4, "three customers: residence 3");
    near(got.throughput_per_s, 0.1515, 0.0, 5e-5, "three customers: throughput");
    got = exact(&eight, 200.0, residence_s, number);
    near(got.throughput_per_s, 1.25, 1e-14, 0.0, "200 customers saturate 0.8 s");
    got = exact(&three, 0.0, residence_s, number);
    near(got.throughput_per_s, 0.0, 0.0, 0.0, "nobody: no throughput");
    near(got.response_s, 4.055, 1e-15, 0.0, "nobody: the bare demands");
}

/* Between whole populations the answer must not jump, nor turn back. */
static void test_mva_fractional(void)
{
    const struct sc_network net = { demand_eight, 8, 5.0 };
    double residence_s[STATIONS_MAX], number[STATIONS_MAX];
    double before = 0.0, largest_step = 0.0, jump = 0.0;
    bool rising = true;

    for (double n = 0.01; n < 30.0; n += 0.01) {
        const double x = exact(&net, n, residence_s, number).throughput_per_s;

        rising = rising && x > before;
        largest_step = worse(largest_step, x - before);
        before = x;
    }
    ok(rising, "fractional MVA: more customers, more throughput");
    /* No slope exceeds that of a customer alone. */
    ok(largest_step < 1.001 * 0.01 / 8.02, "fractional MVA: no jump (largest step %.3g)",
       largest_step);
    for (double n = 1.0; n < 10.0; n += 1.0)
        jump = worse(jump, distance(exact(&net, n, residence_s, number).throughput_per_s,
                                    exact(&net, n - 1e-12, residence_s, number).throughput_per_s));
    ok(jump < 1e-11, "fractional MVA: continuous at whole populations");
}

/* ---- Schweitzer ---- */

/* The textbook iteration, to the bitter end. */
static double schweitzer_by_iteration(const struct sc_network *net, double population)
{
    double number[STATIONS_MAX], x = 0.0;

    for (size_t k = 0; k < net->station_count; k++)
        number[k] = population / (double)net->station_count;
    for (int round = 0; round < 20000; round++) {
        double response_s = 0.0, residence_s[STATIONS_MAX];

        for (size_t k = 0; k < net->station_count; k++) {
            residence_s[k] = net->demand_s[k] * (1.0 + (population - 1.0) / population * number[k]);
            response_s += residence_s[k];
        }
        x = population / (net->think_s + response_s);
        for (size_t k = 0; k < net->station_count; k++)
            number[k] = x * residence_s[k];
    }
    return x;
}

static void test_schweitzer(const struct network_case *c)
{
    static const double population[] = {
        0.4, 1.0, 1.5, 2.0, 3.7, 10.0, 28.3, 57.0, 200.0,
    };
    double residence_s[STATIONS_MAX], number[STATIONS_MAX];
    double worst = 0.0, worst_law = 0.0, largest_miss = 0.0;
    bool low = true;

    for (size_t i = 0; i < COUNT(population); i++) {
        const double n = population[i];
        const struct sc_closed got = schweitzer(&c->net, n, residence_s, number);
        double truth;

        worst_law = worse(worst_law, closed_law_error(&c->net, n, &got, residence_s, number));
        if (n >= 1.0)
            worst = worse(worst,
                          distance(got.throughput_per_s, schweitzer_by_iteration(&c->net, n)));
        truth = exact(&c->net, n, residence_s, number).throughput_per_s;
        if (floor(n) == n || n < 1.0) {
            low = low && got.throughput_per_s <= truth * (1.0 + 1e-14);
            largest_miss = worse(largest_miss, distance(got.throughput_per_s, truth));
        }
    }
    ok(worst < 1e-12, "%s: Newton finds Schweitzer's fixed point (worst %.2g)", c->name, worst);
    ok(worst_law < 1e-11, "%s: Schweitzer obeys the laws (worst %.2g)", c->name, worst_law);
    ok(low && largest_miss < 0.06, "%s: Schweitzer errs low, by little (worst %.2g)", c->name,
       largest_miss);
}

static void test_schweitzer_limits(void)
{
    const struct sc_network net = { demand_eight, 8, 5.0 };
    double residence_s[STATIONS_MAX], number[STATIONS_MAX];
    double before = 0.0;
    bool rising = true;

    near(schweitzer(&net, 1e9, residence_s, number).throughput_per_s, 1.25, 1e-8, 0.0,
         "Schweitzer: 1e9 customers saturate");
    near(schweitzer(&net, 1.0, residence_s, number).throughput_per_s, 1.0 / 8.02, 1e-15, 0.0,
         "Schweitzer: one customer is exact");
    for (double n = 0.01; n < 1e6; n *= 1.07) {
        const double x = schweitzer(&net, n, residence_s, number).throughput_per_s;

        rising = rising && x > before && x < 1.25;
        before = x;
    }
    ok(rising, "Schweitzer: more customers, more throughput, below 1.25");
}

/* ---- Bounds ---- */

static bool is_within(const struct sc_bounds *b, const struct sc_closed *truth)
{
    const double slack = 1e-13;

    return truth->throughput_per_s >= b->throughput_lo_per_s * (1 - slack) &&
           truth->throughput_per_s <= b->throughput_hi_per_s * (1 + slack) &&
           truth->response_s >= b->response_lo_s * (1 - slack) &&
           truth->response_s <= b->response_hi_s * (1 + slack);
}

static bool is_tighter(const struct sc_bounds *in, const struct sc_bounds *out)
{
    const double slack = 1e-13;

    return in->throughput_lo_per_s >= out->throughput_lo_per_s * (1 - slack) &&
           in->throughput_hi_per_s <= out->throughput_hi_per_s * (1 + slack) &&
           in->response_lo_s >= out->response_lo_s * (1 - slack) &&
           in->response_hi_s <= out->response_hi_s * (1 + slack);
}

static void test_bounds(const struct network_case *c)
{
    double residence_s[STATIONS_MAX], number[STATIONS_MAX];
    bool wide = true, tight = true, nested = true;

    for (double n = 1.0; n <= 200.0; n += 1.0) {
        const struct sc_closed truth = exact(&c->net, n, residence_s, number);
        struct sc_bounds asymptotic, balanced;

        if (sc_bounds_asymptotic(&c->net, n, &asymptotic, NULL) ||
            sc_bounds_balanced_job(&c->net, n, &balanced, NULL)) {
            wide = false;
            break;
        }
        wide = wide && is_within(&asymptotic, &truth);
        tight = tight && is_within(&balanced, &truth);
        nested = nested && is_tighter(&balanced, &asymptotic);
    }
    ok(wide, "%s: within the asymptotic bounds", c->name);
    ok(tight, "%s: within the balanced job bounds", c->name);
    ok(nested, "%s: the balanced job bounds are the tighter", c->name);
}

static void test_bounds_values(void)
{
    const struct sc_network three = { demand_three, 3, 15.0 };
    const struct sc_network equal = { demand_equal, 5, 0.0 };
    const struct sc_network delay = { NULL, 0, 2.5 };
    struct sc_bounds b = { 0 };

    is_int(sc_bounds_asymptotic(&three, 20.0, &b, NULL), SC_OK, "asymptotic bounds");
    near(b.throughput_hi_per_s, 1.0 / 2.1, 1e-15, 0.0, "throughput, high");
    near(b.throughput_lo_per_s, 20.0 / 96.1, 1e-15, 0.0, "throughput, low");
    near(b.response_lo_s, 27.0, 1e-15, 0.0, "response, low");
    near(b.response_hi_s, 81.1, 1e-15, 0.0, "response, high");
    near(b.knee_population, 19.055 / 2.1, 1e-15, 0.0, "knee");
    is_int(sc_bounds_balanced_job(&equal, 7.0, &b, NULL), SC_OK, "balanced job bounds");
    near(b.throughput_lo_per_s, 7.0 / 2.2, 1e-14, 0.0,
         "exact from below where the stations are equal");
    near(b.throughput_hi_per_s, 7.0 / 2.2, 1e-14, 0.0, "and from above");
    is_int(sc_bounds_asymptotic(&delay, 3.0, &b, NULL), SC_OK, "bounds of a delay");
    near(b.throughput_hi_per_s, 1.2, 1e-15, 0.0, "which never saturates");
    near(b.knee_population, INFINITE, 0.0, 0.0, "and has no knee");
}

static void test_bounds_sums(void)
{
    static const double zero_too[] = { 0.2, 0.0, 0.2, 0.2, 0.2, 0.2 };
    static double dust[5001];
    const struct sc_network padded = { zero_too, COUNT(zero_too), 0.0 };
    const struct sc_network dusty = { dust, COUNT(dust), 0.0 };
    struct sc_bounds b = { 0 };

    is_int(sc_bounds_balanced_job(&padded, 7.0, &b, NULL), SC_OK, "a station without a demand");
    near(b.throughput_hi_per_s, 7.0 / 2.2, 1e-14, 0.0, "does not loosen the bound");
    dust[0] = 1.0;
    for (size_t k = 1; k < COUNT(dust); k++)
        dust[k] = 1e-16;
    is_int(sc_bounds_asymptotic(&dusty, 1.0, &b, NULL), SC_OK,
           "5000 demands below the rounding of one");
    near(b.response_lo_s, 1.0 + 5e-13, 1e-15, 0.0, "add up all the same");
}

/* ---- Machine repairman ---- */

struct repairman {
    double throughput_per_s, response_s;
};

/* Global balance in long double, state by state. */
static struct repairman repairman_by_states(double population, double think_s, double service_s,
                                            double servers)
{
    const long double load = (long double)service_s / (long double)think_s;
    const long double most = (long double)population;
    const long double c = (long double)servers;
    long double p = 1.0L, total = 1.0L, busy = 0.0L, number = 0.0L;

    for (long double n = 1.0L; n <= most; n += 1.0L) {
        p *= (most - n + 1.0L) * load / fminl(n, c);
        total += p;
        busy += p * fminl(n, c);
        number += p * n;
    }
    return (struct repairman){
        .throughput_per_s = (double)(busy / total / (long double)service_s),
        .response_s = (double)(number / busy * (long double)service_s),
    };
}

/* The same for so many that the weights overflow: by logarithms. */
static double repairman_log_weight(double population, double load, double servers, double n)
{
    const double in_service = fmin(n, servers);

    return lgamma(population + 1.0) - lgamma(population - n + 1.0) + n * log(load) -
           lgamma(in_service + 1.0) - (n - in_service) * log(servers);
}

static double repairman_busy_by_logs(double population, double load, double servers)
{
    double most = -INFINITE, total = 0.0, busy = 0.0;

    for (double n = 0.0; n <= population; n += 1.0)
        most = fmax(most, repairman_log_weight(population, load, servers, n));
    for (double n = 0.0; n <= population; n += 1.0) {
        const double weight = exp(repairman_log_weight(population, load, servers, n) - most);

        total += weight;
        busy += weight * fmin(n, servers);
    }
    return busy / total;
}

static struct sc_closed repairman(double population, double think_s, double service_s)
{
    struct sc_closed out = {
        NOT_A_NUMBER,
        NOT_A_NUMBER,
        NOT_A_NUMBER,
        NOT_A_NUMBER,
    };

    if (sc_repairman_mm1(population, think_s, service_s, &out, NULL) != SC_OK)
        out.throughput_per_s = NOT_A_NUMBER;
    return out;
}

static struct sc_closed repairmen(double population, double think_s, double service_s,
                                  double servers)
{
    struct sc_closed out = {
        NOT_A_NUMBER,
        NOT_A_NUMBER,
        NOT_A_NUMBER,
        NOT_A_NUMBER,
    };

    if (sc_repairman_mmc(population, think_s, service_s, servers, &out, NULL) != SC_OK)
        out.throughput_per_s = NOT_A_NUMBER;
    return out;
}

static void test_repairman_mm1(void)
{
    double worst_x = 0.0, worst_r = 0.0, as_mva = 0.0;

    for (double z = 0.01; z < 1e5; z *= 3.7) {
        for (double n = 1.0; n < 500.0; n = floor(n * 1.6 + 1.0)) {
            const double s = 0.3;
            const struct sc_network net = { &s, 1, z };
            const struct sc_closed got = repairman(n, z, s);
            const struct repairman want = repairman_by_states(n, z, s, 1.0);
            double residence_s, number;

            worst_x = worse(worst_x, distance(got.throughput_per_s, want.throughput_per_s));
            worst_r = worse(worst_r, distance(got.response_s, want.response_s));
            as_mva = worse(as_mva,
                           distance(got.throughput_per_s,
                                    exact(&net, n, &residence_s, &number).throughput_per_s));
        }
    }
    ok(worst_x < 1e-13, "M/M/1//N throughput is its state sum (worst %.2g)", worst_x);
    ok(worst_r < 1e-11, "M/M/1//N response is its state sum (worst %.2g)", worst_r);
    ok(as_mva < 1e-13, "M/M/1//N is exact MVA (worst %.2g)", as_mva);
    near(repairman(2.0, 1.0, 1.0).throughput_per_s, 0.8, 1e-15, 0.0,
         "two machines, even times: 4/5");
    near(repairman(7.0, 0.0, 0.5).throughput_per_s, 2.0, 1e-15, 0.0, "no thinking: always busy");
    near(repairman(7.0, 0.0, 0.5).response_s, 3.5, 1e-15, 0.0, "no thinking: all are there");
    near(repairman(7.0, 2.0, 0.0).throughput_per_s, 3.5, 1e-15, 0.0, "no service time: a delay");
}

static void test_repairman_real(void)
{
    const double z = 4.0, s = 0.3;
    double before = 0.0, worst = 0.0;
    bool rising = true, bounded = true;

    for (double n = 0.01; n < 60.0; n += 0.01) {
        const struct sc_closed got = repairman(n, z, s);
        const double alone = n / (z + s);

        rising = rising && got.throughput_per_s > before * (n < 20.0 ? 1.0 : 1.0 - 1e-14);
        bounded = bounded && got.response_s >= s * (1.0 - 1e-14) &&
                  got.throughput_per_s <= (1.0 + 1e-14) * fmin(alone, 1.0 / s);
        worst = worse(worst, distance(got.throughput_per_s * (z + got.response_s), n));
        before = got.throughput_per_s;
    }
    ok(rising, "real machines: more of them, more throughput");
    ok(bounded, "real machines: within the asymptotic bounds");
    ok(worst < 1e-13, "real machines: Little's law (worst %.2g)", worst);
    near(repairman(3.5, z, s).throughput_per_s, (1.0 - erlang_b_by_integral(z / s, 3.5)) / s, 1e-12,
         0.0, "real machines: the idle share is Jagerman's integral");
}

static void test_repairman_mmc(void)
{
    static const double servers[] = { 0.5, 1.0, 2.0, 2.5, 7.0, 100.0 };
    double worst_x = 0.0, worst_r = 0.0, worst_law = 0.0;

    for (size_t i = 0; i < COUNT(servers); i++) {
        for (double z = 0.01; z < 1e4; z *= 5.3) {
            for (double n = 1.0; n < 500.0; n += 31.0) {
                const struct sc_closed got = repairmen(n, z, 0.3, servers[i]);
                const struct repairman want = repairman_by_states(n, z, 0.3, servers[i]);

                worst_x = worse(worst_x, distance(got.throughput_per_s, want.throughput_per_s));
                worst_r = worse(worst_r, distance(got.response_s, want.response_s));
                worst_law = worse(worst_law,
                                  distance(got.throughput_per_s * (z + got.response_s), n));
                worst_law = worse(
                    worst_law, distance(got.utilisation * servers[i], got.throughput_per_s * 0.3));
            }
        }
    }
    ok(worst_x < 1e-13, "M/M/c//N throughput is its state sum (worst %.2g)", worst_x);
    ok(worst_r < 1e-13, "M/M/c//N response is its state sum (worst %.2g)", worst_r);
    ok(worst_law < 1e-13, "M/M/c//N obeys the laws (worst %.2g)", worst_law);
}

static void test_repairman_mmc_limits(void)
{
    struct sc_closed got = repairmen(40.0, 2.0, 0.5, 40.0);

    near(got.throughput_per_s, 16.0, 1e-13, 0.0, "a server for each: nobody queues");
    near(got.response_s, 0.5, 1e-14, 0.0, "and the response is the service");
    near(repairmen(9.0, 0.0, 0.5, 3.0).throughput_per_s, 6.0, 1e-15, 0.0,
         "no thinking: all servers busy");
    near(repairmen(2.0, 0.0, 0.5, 3.0).throughput_per_s, 4.0, 1e-15, 0.0,
         "no thinking: a server for each");
    near(repairmen(9.0, 3.0, 0.0, 3.0).throughput_per_s, 3.0, 1e-15, 0.0,
         "no service time: a delay");
    near(repairmen(0.0, 3.0, 0.5, 3.0).throughput_per_s, 0.0, 0.0, 0.0, "nobody: no throughput");
    near(repairmen(0.0, 3.0, 0.5, 0.25).response_s, 2.0, 1e-15, 0.0,
         "nobody: the response of one alone at a quarter of a server");
    near(repairmen(1.0, 3.0, 1e-200, 1.0).response_s, 1e-200, 1e-14, 0.0,
         "a vanishing service time keeps its digits");
    got = repairmen(1e6, 10.0, 1.0, 1e5);
    near(got.throughput_per_s * (10.0 + got.response_s), 1e6, 1e-12, 0.0,
         "a million customers: Little's law");
    near(repairmen(1e5, 10.0, 1.0, 9.1e3).throughput_per_s, repairman_busy_by_logs(1e5, 0.1, 9.1e3),
         1e-9, 0.0, "100,000 customers at the knee: the state sum");
    near(repairmen(1e9, 10.0, 1.0, 1.0).throughput_per_s, 1.0, 1e-15, 0.0,
         "1e9 customers saturate one server");
}

/* ---- General service ---- */

static struct sc_closed general(double population, double think_s, double service_s, double c2)
{
    struct sc_closed out = {
        NOT_A_NUMBER,
        NOT_A_NUMBER,
        NOT_A_NUMBER,
        NOT_A_NUMBER,
    };

    if (sc_repairman_mg1(population, think_s, service_s, c2, &out, NULL) != SC_OK)
        out.throughput_per_s = NOT_A_NUMBER;
    return out;
}

static struct sc_closed two_moment(double population, double think_s, double service_s, double c2)
{
    struct sc_closed out = {
        NOT_A_NUMBER,
        NOT_A_NUMBER,
        NOT_A_NUMBER,
        NOT_A_NUMBER,
    };

    if (sc_mva_two_moment(population, think_s, service_s, c2, &out, NULL) != SC_OK)
        out.throughput_per_s = NOT_A_NUMBER;
    return out;
}

enum { PHASES = 4, MACHINES = 7, CHAIN_STATES = 1 + PHASES * MACHINES };

/* State 0 is idle; else `number` are there and the service is in `phase`. */
static size_t chain_state(size_t number, size_t phase)
{
    return number == 0 ? 0 : 1 + (number - 1) * PHASES + phase;
}

static void erlang_chain_fill(double rate[CHAIN_STATES][CHAIN_STATES], double think_s,
                              double service_s)
{
    for (size_t n = 0; n <= MACHINES; n++) {
        for (size_t j = 0; j < (n == 0 ? 1 : PHASES); j++) {
            double *from = rate[chain_state(n, j)];

            if (n < MACHINES)
                from[chain_state(n + 1, j)] += (double)(MACHINES - n) / think_s;
            if (n == 0)
                continue;
            from[j + 1 < PHASES ? chain_state(n, j + 1) : chain_state(n - 1, 0)] += PHASES /
                                                                                    service_s;
        }
    }
}

/*
 * Throughput of MACHINES customers when the service is PHASES exponential
 * stages in a row (gamma with c2 = 1/PHASES), from the global balance of all
 * states, eliminated as by Grassmann, Taksar and Heyman (1985).
 */
static double erlang_chain_throughput(double think_s, double service_s)
{
    static double rate[CHAIN_STATES][CHAIN_STATES];
    double p[CHAIN_STATES] = { 1.0 }, busy = 0.0;

    memset(rate, 0, sizeof rate);
    erlang_chain_fill(rate, think_s, service_s);
    for (size_t k = CHAIN_STATES - 1; k > 0; k--) {
        double out = 0.0;

        for (size_t j = 0; j < k; j++)
            out += rate[k][j];
        for (size_t i = 0; i < k; i++) {
            rate[i][k] /= out;
            for (size_t j = 0; j < k; j++)
                rate[i][j] += rate[i][k] * rate[k][j];
        }
    }
    for (size_t k = 1; k < CHAIN_STATES; k++) {
        for (size_t i = 0; i < k; i++)
            p[k] += p[i] * rate[i][k];
        busy += p[k];
    }
    return busy / (p[0] + busy) / service_s;
}

static void test_general_exact(void)
{
    double as_mm1 = 0.0, as_chain = 0.0, as_pair = 0.0;

    for (double z = 0.01; z < 1e5; z *= 3.7) {
        for (double n = 1.0; n < 500.0; n = floor(n * 1.6 + 1.0))
            as_mm1 = worse(as_mm1, distance(general(n, z, 0.3, 1.0).throughput_per_s,
                                            repairman(n, z, 0.3).throughput_per_s));
        as_chain = worse(as_chain,
                         distance(general(MACHINES, z, 0.3, 1.0 / PHASES).throughput_per_s,
                                  erlang_chain_throughput(z, 0.3)));
        /* Of two, the other comes during a service or does not, so a
		 * busy period serves 1/P(does not). */
        as_pair = worse(as_pair, distance(1.0 / general(2.0, z, 0.3, 0.0).throughput_per_s,
                                          0.3 + z / 2.0 * exp(-0.3 / z)));
        as_pair = worse(as_pair, distance(1.0 / general(2.0, z, 0.3, 2.0).throughput_per_s,
                                          0.3 + z / 2.0 / sqrt(1.0 + 2.0 * 0.3 / z)));
    }
    ok(as_mm1 < 1e-13, "M/G/1//N with c2 = 1 is M/M/1//N (worst %.2g)", as_mm1);
    ok(as_chain < 1e-13, "M/E4/1//7 is its global balance (worst %.2g)", as_chain);
    ok(as_pair < 1e-13, "M/G/1//2 is the argument by hand (worst %.2g)", as_pair);
    near(general(20.0, 5.0, 0.3, 1e-9).throughput_per_s,
         general(20.0, 5.0, 0.3, 0.0).throughput_per_s, 1e-8, 0.0,
         "M/G/1//N is continuous as c2 goes to 0");
    near(general(1e-320, 5.0, 0.3, 0.0).response_s, 0.3, 0.0, 0.0,
         "M/G/1//N survives a population that underflows");
    near(general(3.5, 1e-3, 1.0, 0.0).response_s, 3.499, 1e-15, 0.0,
         "M/D/1//N is busy for good where the odds of idling overflow");
    near(general(20.0, 5.0, 0.3, 1e-320).throughput_per_s,
         general(20.0, 5.0, 0.3, 0.0).throughput_per_s, 1e-15, 0.0,
         "and survives a c2 that underflows");
}

static const struct general_case {
    const char *name;
    struct sc_closed (*solve)(double population, double think_s, double service_s, double c2);
} general_cases[] = {
    { "M/G/1//N", general },
    { "two moments", two_moment },
};

static void test_general_properties(const struct general_case *c)
{
    static const double spreads[] = { 0.0, 0.5, 1.0, 2.0, 8.0 };
    const double slack = 1e-13;
    bool rising = true, falling = true, bounded = true;
    double worst = 0.0;

    for (size_t i = 0; i < COUNT(spreads); i++) {
        double before = 0.0;

        for (double n = 0.05; n < 60.0; n += 0.05) {
            const double z = 4.0, s = 0.3;
            const struct sc_closed got = c->solve(n, z, s, spreads[i]);
            const double x = got.throughput_per_s;

            rising = rising && x >= before * (1.0 - slack);
            before = x;
            falling = falling &&
                      x * (1.0 - slack) <= c->solve(n, z, s, spreads[i] / 2.0).throughput_per_s;
            bounded = bounded && x * s <= 1.0 + slack && got.response_s >= s * (1.0 - slack);
            worst = worse(worst, distance(x * (z + got.response_s), n));
            worst = worse(worst, distance(got.number, x * got.response_s));
        }
    }
    ok(rising, "%s: more customers, no less throughput", c->name);
    ok(falling, "%s: more variable service, no more throughput", c->name);
    ok(bounded, "%s: within the asymptotic bounds", c->name);
    ok(worst < 1e-13, "%s: Little's law (worst %.2g)", c->name, worst);
    near(c->solve(9.0, 0.0, 0.5, 0.0).throughput_per_s, 2.0, 1e-15, 0.0,
         "%s: no thinking, always busy", c->name);
    near(c->solve(9.0, 0.0, 0.5, 0.0).response_s, 4.5, 1e-15, 0.0, "%s: no thinking, all are there",
         c->name);
    near(c->solve(9.0, 3.0, 0.0, 0.0).throughput_per_s, 3.0, 1e-15, 0.0,
         "%s: no service time, a delay", c->name);
    near(c->solve(1.0, 3.0, 0.5, 7.0).throughput_per_s, 1.0 / 3.5, 1e-15, 0.0,
         "%s: one customer never queues", c->name);
    near(c->solve(5000.0, 3.0, 0.5, 0.0).throughput_per_s, 2.0, 1e-14, 0.0,
         "%s: thousands saturate", c->name);
}

static double two_moment_miss(double c2)
{
    double worst = 0.0;

    for (double z = 1.0; z < 300.0; z *= 1.5)
        for (double n = 1.0; n < 2.0 * z + 10.0; n = floor(1.2 * n + 1))
            worst = worse(worst, distance(two_moment(n, z, 1.0, c2).throughput_per_s,
                                          general(n, z, 1.0, c2).throughput_per_s));
    return worst;
}

static void test_two_moment(void)
{
    /* What the header promises. */
    static const struct {
        double c2, miss;
    } promised[] = {
        { 0.0, 0.09 }, { 0.5, 0.05 }, { 2.0, 0.10 }, { 4.0, 0.21 }, { 16.0, 0.43 },
    };
    double as_mva = 0.0;

    for (double n = 0.7; n < 100.0; n += 1.65) {
        const double s = 0.3;
        const struct sc_network net = { &s, 1, 4.0 };
        double residence_s, number;

        as_mva = worse(as_mva, distance(two_moment(n, 4.0, s, 1.0).response_s,
                                        exact(&net, n, &residence_s, &number).response_s));
    }
    ok(as_mva < 1e-13, "two moments with c2 = 1 are exact MVA (worst %.2g)", as_mva);
    for (size_t i = 0; i < COUNT(promised); i++) {
        const double miss = two_moment_miss(promised[i].c2);

        ok(miss < promised[i].miss, "two moments miss by at most %g at c2 %g (%.4f)",
           promised[i].miss, promised[i].c2, miss);
    }
}

/* ---- What is refused ---- */

static void is_refused(enum sc_status status, const struct sc_error *err, enum sc_status want,
                       const char *field)
{
    is_int(status, want, "status for a bad %s", field);
    is_str(err->field, field, "the field is %s", field);
    ok(err->reason != NULL && err->reason[0] != '\0', "with a reason");
}

static void test_refused_stations(void)
{
    struct sc_closed out = { 1.0, 2.0, 3.0, 4.0 };
    struct sc_error err = { 0 };

    is_refused(sc_repairman_mm1(-1.0, 1.0, 1.0, &out, &err), &err, SC_EDOMAIN, "population");
    near(err.value, -1.0, 0.0, 0.0, "and what it was");
    is_refused(sc_repairman_mm1(2e9, 1.0, 1.0, &out, &err), &err, SC_ERANGE, "population");
    is_refused(sc_repairman_mm1(2.0, NOT_A_NUMBER, 1.0, &out, &err), &err, SC_EDOMAIN, "think_s");
    near(err.value, NOT_A_NUMBER, 0.0, 0.0, "and what it was");
    is_refused(sc_repairman_mm1(2.0, 0.0, 0.0, &out, &err), &err, SC_EDOMAIN, "service_s");
    is_refused(sc_repairman_mmc(2.5, 1.0, 1.0, 1.0, &out, &err), &err, SC_EDOMAIN, "population");
    is_refused(sc_repairman_mmc(2.0, 1.0, 1.0, 0.0, &out, &err), &err, SC_EDOMAIN, "servers");
    is_refused(sc_repairman_mg1(2.0, 1.0, 1.0, -0.1, &out, &err), &err, SC_EDOMAIN, "c2");
    is_refused(sc_mva_two_moment(2.0, 1.0, 1.0, INFINITE, &out, &err), &err, SC_EDOMAIN, "c2");
    is_int(sc_repairman_mm1(-1.0, 1.0, 1.0, &out, NULL), SC_EDOMAIN, "the error may be NULL");
    ok(out.throughput_per_s == 1.0 && out.response_s == 2.0 && out.number == 3.0 &&
           out.utilisation == 4.0,
       "a refusal leaves the result alone");
}

static void test_refused_networks(void)
{
    static const double bad_demand[] = { 0.5, -0.25 };
    static const double no_demand[] = { 0.0, 0.0 };
    const struct sc_network good = { demand_three, 3, 1.0 };
    const struct sc_network missing = { NULL, 3, 1.0 };
    const struct sc_network bad = { bad_demand, 2, 1.0 };
    const struct sc_network still = { no_demand, 2, 0.0 };
    double residence_s[3], number[3];
    struct sc_closed out;
    struct sc_bounds bounds;
    struct sc_error err = { 0 };

    is_refused(sc_mva_exact(&missing, 1.0, residence_s, number, &out, &err), &err, SC_EMISSING,
               "demand_s");
    is_refused(sc_mva_exact(&good, 1.0, NULL, number, &out, &err), &err, SC_EMISSING,
               "residence_s");
    is_refused(sc_mva_schweitzer(&good, 1.0, residence_s, NULL, &out, &err), &err, SC_EMISSING,
               "number");
    is_refused(sc_mva_schweitzer(&bad, 1.0, residence_s, number, &out, &err), &err, SC_EDOMAIN,
               "demand_s");
    near(err.value, -0.25, 0.0, 0.0, "and which it was");
    is_refused(sc_mva_exact(&still, 1.0, residence_s, number, &out, &err), &err, SC_EDOMAIN,
               "think_s");
    is_refused(sc_mva_exact(&good, 2e9, residence_s, number, &out, &err), &err, SC_ERANGE,
               "population");
    is_refused(sc_bounds_asymptotic(&good, 0.5, &bounds, &err), &err, SC_EDOMAIN, "population");
    is_refused(sc_bounds_balanced_job(&good, 0.5, &bounds, &err), &err, SC_EDOMAIN, "population");
}

int main(void)
{
    plan(309);
    test_little();
    for (size_t i = 0; i < COUNT(open_queues); i++)
        test_open_queue(&open_queues[i]);
    test_mm1();
    test_pollaczek_special_cases();
    test_mg1_by_chain();
    test_erlang_textbook();
    test_erlang_by_recursion();
    test_erlang_large();
    test_erlang_real_servers();
    test_erlang_monotone();
    test_erlang_servers();
    test_mmc();
    test_mmc_quantile();
    test_loss();
    for (size_t i = 0; i < COUNT(networks); i++)
        test_mva_exact(&networks[i]);
    test_mva_exact_values();
    test_mva_fractional();
    for (size_t i = 0; i < COUNT(networks); i++)
        test_schweitzer(&networks[i]);
    test_schweitzer_limits();
    for (size_t i = 0; i < COUNT(networks); i++)
        test_bounds(&networks[i]);
    test_bounds_values();
    test_bounds_sums();
    test_repairman_mm1();
    test_repairman_real();
    test_repairman_mmc();
    test_repairman_mmc_limits();
    test_general_exact();
    for (size_t i = 0; i < COUNT(general_cases); i++)
        test_general_properties(&general_cases[i]);
    test_two_moment();
    test_refused_stations();
    test_refused_networks();
    return done();
}
