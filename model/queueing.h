/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Queueing theory: mean values in closed form.
 *
 * The scalar functions take SI units: rates in 1/s, times in s; an offered
 * load is a pure number (erlangs: arrival rate x service time).  All of them
 *
 *  - return NaN when an input is NaN, infinite or negative, or as noted;
 *  - return INFINITY for a time or a number when the queue is saturated
 *    (offered load >= servers), and 1 for a probability of waiting;
 *  - keep their relative accuracy as the load goes to 0 and to 1.
 *
 * The closed-network functions return a status, since they have several
 * results; on failure these are untouched and `err`, unless NULL, names the
 * input at fault.  Nothing here allocates, prints, or keeps state.
 *
 * Sources, cited below by their short names:
 *   Kleinrock     Queueing Systems, vol. 1 (1975), vol. 2 (1976)
 *   Gross         Gross & Harris, Fundamentals of Queueing Theory, 3rd ed.
 *   Lazowska      Lazowska, Zahorjan, Graham & Sevcik, Quantitative System
 *                 Performance (1984)
 *   Harchol       Harchol-Balter, Performance Modeling and Design of Computer
 *                 Systems (2013)
 */
#ifndef SC_QUEUEING_H
#define SC_QUEUEING_H

#include <stddef.h>

#include "status.h"

/* ---- Little's law: number = rate x time (Kleinrock 1, sec. 2.1) ---- */

/* Mean number in a system that jobs pass at rate_per_s, each staying time_s. */
double sc_little_number(double rate_per_s, double time_s);

/* The rate at which `number` jobs in flight complete; time_s > 0 else NaN. */
double sc_little_rate_per_s(double number, double time_s);

/* How long each of `number` jobs stays; rate_per_s > 0 else NaN. */
double sc_little_time_s(double number, double rate_per_s);

/* ---- Open queues with one server, first come first served ---- */

/*
 * Offered load per server, arrival_per_s * service_s / servers; servers > 0.
 * Deliberately not clamped: 1 or more means that the queue is saturated, and
 * by how much.
 */
double sc_utilisation(double arrival_per_s, double service_s, double servers);

/*
 * M/M/1 (Kleinrock 1, sec. 3.2): mean wait before service, mean time in
 * system (wait and service), mean number in system.
 */
double sc_mm1_wait_s(double arrival_per_s, double service_s);
double sc_mm1_response_s(double arrival_per_s, double service_s);
double sc_mm1_number(double arrival_per_s, double service_s);

/*
 * The time in system that a share `p` of the jobs stays within; 0 <= p < 1
 * else NaN.  It is exponential (Gross, sec. 2.2.4).
 */
double sc_mm1_response_quantile_s(double arrival_per_s, double service_s, double p);

/* M/D/1: the same means when every service takes service_s exactly. */
double sc_md1_wait_s(double arrival_per_s, double service_s);
double sc_md1_response_s(double arrival_per_s, double service_s);
double sc_md1_number(double arrival_per_s, double service_s);

/*
 * M/G/1 by Pollaczek and Khinchine (Kleinrock 1, sec. 5.6; Harchol, ch. 23):
 * wait = rho/(1 - rho) * (1 + c2)/2 * service_s, where c2 is the squared
 * coefficient of variation of the service time: 0 is M/D/1, 1 is M/M/1.
 */
double sc_mg1_wait_s(double arrival_per_s, double service_s, double c2);
double sc_mg1_response_s(double arrival_per_s, double service_s, double c2);
double sc_mg1_number(double arrival_per_s, double service_s, double c2);

/* ---- Many servers ---- */

/*
 * Erlang B: the share of arrivals that find all `servers` busy and are lost
 * when offered_erlangs are offered (M/G/c/c; Kleinrock 1, sec. 3.6).
 *
 * `servers` may be any real number >= 0, through Jagerman's continuation
 * 1/B = A * integral over t > 0 of exp(-A t) (1 + t)^c (Bell Syst. Tech. J.
 * 53, 1974), which is the usual B at whole numbers.  0 servers lose all, and
 * offered_erlangs = 0 loses none on any server at all.  Neither overflows;
 * the cost is at most about 9 sqrt(offered) steps.  Relative error below
 * 1e-12 up to 1e6.  NaN above 1e10 servers.
 */
double sc_erlang_b(double offered_erlangs, double servers);

/* Natural logarithm of the same, for when B itself underflows to 0. */
double sc_erlang_b_log(double offered_erlangs, double servers);

/*
 * Erlang C: the share of arrivals that have to wait when they may (M/M/c;
 * Kleinrock 1, sec. 3.5; Gross, sec. 2.3).  servers > 0 else NaN; 1 when
 * offered_erlangs >= servers.  Same range and accuracy as Erlang B.
 */
double sc_erlang_c(double offered_erlangs, double servers);

/*
 * The least whole number of servers whose Erlang B does not exceed
 * blocking_target, 0 <= target <= 1.  INFINITY when the target is 0 and there
 * is load.  A tie counts as met within a relative 1e-12.  NaN when more than
 * 1e10 are needed.
 */
double sc_erlang_b_servers(double offered_erlangs, double blocking_target);

/*
 * M/M/c (Gross, sec. 2.3; Harchol, ch. 14): mean wait, mean time in system,
 * mean number in system.  servers > 0 else NaN; range as Erlang C.
 */
double sc_mmc_wait_s(double arrival_per_s, double service_s, double servers);
double sc_mmc_response_s(double arrival_per_s, double service_s, double servers);
double sc_mmc_number(double arrival_per_s, double service_s, double servers);

/*
 * The wait that a share `p` of the jobs stays within, 0 <= p < 1 else NaN:
 * 0 for the share that does not wait, exponential for the rest.
 */
double sc_mmc_wait_quantile_s(double arrival_per_s, double service_s, double servers, double p);

/*
 * M/G/N/N, the loss system: arrivals that find all `servers` busy go away.
 * Only the mean service time matters (Sevastyanov; Gross, sec. 5.2.2).  It
 * cannot saturate.  Blocking is the share lost, carried the mean number of
 * busy servers, throughput the rate of jobs served.
 */
double sc_loss_blocking(double arrival_per_s, double service_s, double servers);
double sc_loss_carried(double arrival_per_s, double service_s, double servers);
double sc_loss_throughput_per_s(double arrival_per_s, double service_s, double servers);

/* ---- Closed networks: a fixed population, and a delay ---- */

/*
 * Every customer thinks for think_s on average (no queueing), then visits the
 * stations, where it needs demand_s[k] = visits x service time in all.
 * Station means: exponential service first come first served, or processor
 * sharing with any service (product form; Lazowska, ch. 6).  demand_s[k] >= 0;
 * their sum with think_s > 0; no station at all is allowed.
 */
struct sc_network {
    const double *demand_s;
    size_t station_count;
    double think_s;
};

/* Little's law holds within: population = throughput * (think + response). */
struct sc_closed {
    double throughput_per_s; /* cycles completed per second */
    double response_s;       /* mean time per cycle outside thinking */
    double number;           /* mean number of customers not thinking */
    double utilisation;      /* of each server of the busiest station */
};

struct sc_bounds {
    double throughput_lo_per_s, throughput_hi_per_s;
    double response_lo_s, response_hi_s;
    double knee_population; /* where the asymptotes cross; may be INFINITY */
};

/* Largest population of any closed network; more is SC_ERANGE. */
#define SC_POPULATION_MAX 1e9

/*
 * All functions below: SC_EDOMAIN for an input that is negative, NaN or
 * infinite, or for a cycle that takes no time; SC_EMISSING for a NULL array
 * that is needed.  A population of 0 gives throughput 0 and the response of a
 * customer alone.
 */

/*
 * Mean value analysis (Reiser & Lavenberg, J. ACM 27, 1980; Lazowska,
 * sec. 6.4.2), exact at whole populations.  Fractional populations start the
 * recursion at the fraction, where nobody queues: continuous, and exact at
 * both ends.  The caller owns residence_s and number, station_count each, and
 * finds there the time per cycle and the mean number at each station.
 * Costs population x station_count steps.
 */
SC_MUST_CHECK enum sc_status sc_mva_exact(const struct sc_network *net, double population,
                                          double *residence_s, double *number,
                                          struct sc_closed *out, struct sc_error *err);

/*
 * Schweitzer's approximation of the same (Lazowska, sec. 6.4.2): an arrival
 * sees (N - 1)/N of the mean queue.  Any real population; at most 1 is exact.
 * The fixed point is found by Newton's method, so that
 * the cost does not grow with the population; the throughput is to full
 * accuracy, the longest queue to about population x 1e-16.  It errs low:
 * by a few percent near the knee (the tests see 4 %), not at all in the limits.
 */
SC_MUST_CHECK enum sc_status sc_mva_schweitzer(const struct sc_network *net, double population,
                                               double *residence_s, double *number,
                                               struct sc_closed *out, struct sc_error *err);

/*
 * Bounds that need only the sum, the maximum and (balanced) the mean of the
 * demands; population >= 1.  Asymptotic: Lazowska, sec. 5.2, whatever the
 * service distributions.  Balanced job: sec. 5.4, tighter, for product-form
 * networks only; its mean is over the stations with a demand.
 */
SC_MUST_CHECK enum sc_status sc_bounds_asymptotic(const struct sc_network *net, double population,
                                                  struct sc_bounds *out, struct sc_error *err);
SC_MUST_CHECK enum sc_status sc_bounds_balanced_job(const struct sc_network *net, double population,
                                                    struct sc_bounds *out, struct sc_error *err);

/*
 * Machine repairman, M/M/1//N (Kleinrock 1, sec. 3.8; Gross, sec. 2.6): one
 * exponential server and a delay, in closed form, for any real population.
 * The share of time that the server idles is Erlang B of `population` servers
 * offered think_s/service_s.  Exact at whole populations; between them
 * Jagerman's continuation; at most 1 never queues.
 */
SC_MUST_CHECK enum sc_status sc_repairman_mm1(double population, double think_s, double service_s,
                                              struct sc_closed *out, struct sc_error *err);

/*
 * M/M/c//N (Gross, sec. 2.6): the same with `servers` > 0 alike, which work
 * at rate min(number there, servers)/service_s.  The population must be
 * whole.  Costs about 20 sqrt(population) steps.
 */
SC_MUST_CHECK enum sc_status sc_repairman_mmc(double population, double think_s, double service_s,
                                              double servers, struct sc_closed *out,
                                              struct sc_error *err);

/*
 * M/G/1//N, exactly, when the service time is gamma distributed with squared
 * coefficient of variation c2 (Takacs, Introduction to the Theory of Queues,
 * 1962, ch. 5): 0 is deterministic, 1 exponential, and c2 >= 0 any real.
 * Between whole populations throughput and number are interpolated linearly,
 * as if the population were sometimes the one and sometimes the other.  Costs
 * at most twice `population` steps, and fewer once saturated.
 */
SC_MUST_CHECK enum sc_status sc_repairman_mg1(double population, double think_s, double service_s,
                                              double c2, struct sc_closed *out,
                                              struct sc_error *err);

/*
 * The same by two moments, whatever the distribution: mean value analysis
 * where the arrival finds a service in progress with the residual
 * (1 + c2)/2 * service_s rather than the whole of it (Reiser, IEEE Trans.
 * Commun. 27, 1979; Eager, Sorin & Vernon, SIGMETRICS 2000).  c2 = 1 is the
 * exact exponential case.  Held within what is true of any service:
 * throughput at most 1/service_s, and never less for one more customer.
 * Fractional populations as in sc_mva_exact; costs `population` steps.
 *
 * An approximation when c2 is not 1: the arrival theorem no longer holds.
 * Against gamma service its throughput is at most 9 % off at c2 = 0, 5 % at
 * 1/2, 10 % at 2, 21 % at 4 and 43 % at 16, worst around the knee and with
 * think times of a few services.  Prefer sc_repairman_mg1; this one shows
 * what the residual correction is worth.
 */
SC_MUST_CHECK enum sc_status sc_mva_two_moment(double population, double think_s, double service_s,
                                               double c2, struct sc_closed *out,
                                               struct sc_error *err);

#endif
