/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "queueing.h"

#include <math.h>
#include <stdbool.h>

/* NAN and INFINITY are floats; these are what the house returns. */
static const double UNDEFINED = (double)NAN;
static const double SATURATED = (double)INFINITY;

static const double SERVERS_MAX = 1e10;
static const double HALF_LOG_2PI = 0.91893853320467274178;

static bool is_amount(double x)
{
    return isfinite(x) && x >= 0.0;
}

static bool is_share_below_one(double p)
{
    return p >= 0.0 && p < 1.0;
}

/* Compensated summation: Neumaier, ZAMM 54 (1974). */
struct sum {
    double total;
    double carry;
};

static struct sum sum_add(struct sum s, double term)
{
    const double total = s.total + term;
    const double lost = fabs(s.total) >= fabs(term) ? (s.total - total) + term
                                                    : (term - total) + s.total;

    return (struct sum){ .total = total, .carry = s.carry + lost };
}

static double sum_value(struct sum s)
{
    return s.total + s.carry;
}

/* ---- Little's law ---- */

double sc_little_number(double rate_per_s, double time_s)
{
    if (!is_amount(rate_per_s) || !is_amount(time_s))
        return UNDEFINED;
    return rate_per_s * time_s;
}

double sc_little_rate_per_s(double number, double time_s)
{
    if (!is_amount(number) || !is_amount(time_s) || time_s == 0.0)
        return UNDEFINED;
    return number / time_s;
}

double sc_little_time_s(double number, double rate_per_s)
{
    if (!is_amount(number) || !is_amount(rate_per_s) || rate_per_s == 0.0)
        return UNDEFINED;
    return number / rate_per_s;
}

/* ---- One server ---- */

double sc_utilisation(double arrival_per_s, double service_s, double servers)
{
    if (!is_amount(arrival_per_s) || !is_amount(service_s) || !is_amount(servers) || servers == 0.0)
        return UNDEFINED;
    return arrival_per_s * service_s / servers;
}

double sc_mg1_wait_s(double arrival_per_s, double service_s, double c2)
{
    const double rho = sc_utilisation(arrival_per_s, service_s, 1.0);

    if (isnan(rho) || !is_amount(c2))
        return UNDEFINED;
    if (rho >= 1.0)
        return SATURATED;
    return rho / (1.0 - rho) * (0.5 + 0.5 * c2) * service_s;
}

double sc_mg1_response_s(double arrival_per_s, double service_s, double c2)
{
    return service_s + sc_mg1_wait_s(arrival_per_s, service_s, c2);
}

double sc_mg1_number(double arrival_per_s, double service_s, double c2)
{
    const double rho = sc_utilisation(arrival_per_s, service_s, 1.0);

    if (isnan(rho) || !is_amount(c2))
        return UNDEFINED;
    if (rho >= 1.0)
        return SATURATED;
    return rho + rho * rho / (1.0 - rho) * (0.5 + 0.5 * c2);
}

double sc_mm1_wait_s(double arrival_per_s, double service_s)
{
    return sc_mg1_wait_s(arrival_per_s, service_s, 1.0);
}

double sc_mm1_response_s(double arrival_per_s, double service_s)
{
    const double rho = sc_utilisation(arrival_per_s, service_s, 1.0);

    if (rho >= 1.0)
        return SATURATED;
    return service_s / (1.0 - rho);
}

double sc_mm1_number(double arrival_per_s, double service_s)
{
    const double rho = sc_utilisation(arrival_per_s, service_s, 1.0);

    if (rho >= 1.0)
        return SATURATED;
    return rho / (1.0 - rho);
}

double sc_mm1_response_quantile_s(double arrival_per_s, double service_s, double p)
{
    const double mean_s = sc_mm1_response_s(arrival_per_s, service_s);

    if (isnan(mean_s) || !is_share_below_one(p))
        return UNDEFINED;
    if (isinf(mean_s))
        return SATURATED;
    return -log1p(-p) * mean_s;
}

double sc_md1_wait_s(double arrival_per_s, double service_s)
{
    return sc_mg1_wait_s(arrival_per_s, service_s, 0.0);
}

double sc_md1_response_s(double arrival_per_s, double service_s)
{
    return sc_mg1_response_s(arrival_per_s, service_s, 0.0);
}

double sc_md1_number(double arrival_per_s, double service_s)
{
    return sc_mg1_number(arrival_per_s, service_s, 0.0);
}

/* ---- Erlang ---- */

/* What Stirling's formula for log(n!) leaves out; n > 15 (Loader 2000). */
static double stirling_error(double n)
{
    const double nn = n * n;

    return (1.0 / 12.0 -
            (1.0 / 360.0 - (1.0 / 1260.0 - (1.0 / 1680.0 - 1.0 / 1188.0 / nn) / nn) / nn) / nn) /
           n;
}

/*
 * x log(x/mean) + mean - x without the cancellation that it has near
 * x = mean (Loader, Fast and accurate computation of binomial probabilities,
 * 2000): log(x/mean) = 2 artanh(v), summed past its first term.
 */
static double poisson_deviance(double x, double mean)
{
    const double v = (x - mean) / (x + mean);
    double sum, power;

    if (fabs(v) > 0.1)
        return x * log(x / mean) + mean - x;
    sum = (x - mean) * v;
    power = 2.0 * x * v;
    for (int j = 1; j < 100; j++) {
        double next;

        power *= v * v;
        next = sum + power / (2 * j + 1);
        if (next == sum)
            break;
        sum = next;
    }
    return sum;
}

/* log(exp(-mean) mean^x / x!) for real x >= 0 and mean > 0. */
static double poisson_log_pmf(double mean, double x)
{
    if (x <= 15.0)
        return x * log(mean) - mean - log(tgamma(x + 1.0));
    return -stirling_error(x) - poisson_deviance(x, mean) - HALF_LOG_2PI - 0.5 * log(x);
}

/*
 * For A <= c + 1.  B = pmf(c) / cdf(c) of the Poisson distribution, and
 * 1 - cdf(c) = pmf(c) * (A/(c+1) + A^2/((c+1)(c+2)) + ...), where all terms
 * are positive and fall.  This is the series of the incomplete gamma function
 * (Abramowitz & Stegun 6.5.29), so c need not be whole.
 */
static double erlang_b_log_light(double offered, double servers)
{
    const double log_pmf = poisson_log_pmf(offered, servers);
    struct sum tail = { 0.0, 0.0 };
    double term = 1.0, n = servers;

    while (term > 1e-18 * tail.total) {
        n += 1.0;
        term *= offered / n;
        tail = sum_add(tail, term);
    }
    return log_pmf - log1p(-exp(log_pmf) * sum_value(tail));
}

/*
 * For A > c + 1.  1/B is A times Legendre's continued fraction of the
 * incomplete gamma function (Abramowitz & Stegun 6.5.31), here by Lentz's
 * method.  It ends by itself when c is whole.
 */
static double erlang_b_log_heavy(double offered, double servers)
{
    double b = offered - servers;
    double numerator_ratio = (double)INFINITY;
    double denominator_ratio = 1.0 / b;
    double fraction = denominator_ratio;
    double factor, i = 0.0;

    do {
        double a;

        i += 1.0;
        a = i * (servers + 1.0 - i);
        b += 2.0;
        denominator_ratio = 1.0 / (a * denominator_ratio + b);
        numerator_ratio = b + a / numerator_ratio;
        factor = numerator_ratio * denominator_ratio;
        fraction *= factor;
    } while (fabs(factor - 1.0) > 3e-16 && i <= SERVERS_MAX);
    return -log(offered * fraction);
}

double sc_erlang_b_log(double offered_erlangs, double servers)
{
    if (!is_amount(offered_erlangs) || !(servers >= 0.0 && servers <= SERVERS_MAX))
        return UNDEFINED;
    if (servers == 0.0)
        return 0.0;
    if (offered_erlangs == 0.0)
        return -(double)INFINITY;
    /* Rounding must not make a probability exceed 1. */
    return fmin(0.0, offered_erlangs <= servers + 1.0
                         ? erlang_b_log_light(offered_erlangs, servers)
                         : erlang_b_log_heavy(offered_erlangs, servers));
}

double sc_erlang_b(double offered_erlangs, double servers)
{
    return exp(sc_erlang_b_log(offered_erlangs, servers));
}

/*
 * 1 - B, which is all rounding error when computed so and B is near 1.  The
 * recursion B(c) = A B(c-1) / (c + A B(c-1)) (Gross, sec. 2.5) gives it as a
 * quotient of positive terms.
 */
static double erlang_b_complement(double offered, double servers)
{
    if (servers < 1.0)
        return -expm1(sc_erlang_b_log(offered, servers));
    return servers / (servers + offered * sc_erlang_b(offered, servers - 1.0));
}

double sc_erlang_c(double offered_erlangs, double servers)
{
    const double b = sc_erlang_b(offered_erlangs, servers);

    if (isnan(b) || servers == 0.0)
        return UNDEFINED;
    if (offered_erlangs >= servers)
        return 1.0;
    return servers * b / (servers - offered_erlangs + offered_erlangs * b);
}

double sc_erlang_b_servers(double offered_erlangs, double blocking_target)
{
    double too_few = 0.0, enough = 1.0, log_target;

    if (!is_amount(offered_erlangs) || !(blocking_target >= 0.0 && blocking_target <= 1.0))
        return UNDEFINED;
    if (blocking_target == 1.0)
        return 0.0;
    if (offered_erlangs == 0.0)
        return 1.0;
    if (blocking_target == 0.0)
        return (double)INFINITY;
    /* Rounding in B must not cost a server when the target is just met. */
    log_target = log(blocking_target) + 1e-12;
    while (sc_erlang_b_log(offered_erlangs, enough) > log_target) {
        too_few = enough;
        enough *= 2.0;
    }
    if (enough > SERVERS_MAX)
        return UNDEFINED;
    while (enough - too_few > 1.0) {
        const double middle = floor(too_few + (enough - too_few) / 2.0);

        if (sc_erlang_b_log(offered_erlangs, middle) > log_target)
            too_few = middle;
        else
            enough = middle;
    }
    return enough;
}

/* ---- Many servers ---- */

double sc_mmc_wait_s(double arrival_per_s, double service_s, double servers)
{
    const double rho = sc_utilisation(arrival_per_s, service_s, servers);
    const double offered = arrival_per_s * service_s;

    if (isnan(rho))
        return UNDEFINED;
    if (rho >= 1.0)
        return SATURATED;
    return sc_erlang_c(offered, servers) * service_s / (servers - offered);
}

double sc_mmc_response_s(double arrival_per_s, double service_s, double servers)
{
    return service_s + sc_mmc_wait_s(arrival_per_s, service_s, servers);
}

double sc_mmc_number(double arrival_per_s, double service_s, double servers)
{
    const double wait_s = sc_mmc_wait_s(arrival_per_s, service_s, servers);

    if (!isfinite(wait_s))
        return wait_s;
    return arrival_per_s * (service_s + wait_s);
}

double sc_mmc_wait_quantile_s(double arrival_per_s, double service_s, double servers, double p)
{
    const double rho = sc_utilisation(arrival_per_s, service_s, servers);
    const double offered = arrival_per_s * service_s;
    double log_excess;

    if (isnan(rho) || !is_share_below_one(p))
        return UNDEFINED;
    if (rho >= 1.0)
        return SATURATED;
    /* P(wait > t) = C exp(-(c - A) t/S); set it to 1 - p. */
    log_excess = log(sc_erlang_c(offered, servers)) - log1p(-p);
    return fmax(0.0, log_excess) * service_s / (servers - offered);
}

double sc_loss_blocking(double arrival_per_s, double service_s, double servers)
{
    if (!is_amount(arrival_per_s) || !is_amount(service_s))
        return UNDEFINED;
    return sc_erlang_b(arrival_per_s * service_s, servers);
}

double sc_loss_throughput_per_s(double arrival_per_s, double service_s, double servers)
{
    const double offered = arrival_per_s * service_s;

    if (isnan(sc_loss_blocking(arrival_per_s, service_s, servers)))
        return UNDEFINED;
    return arrival_per_s * erlang_b_complement(offered, servers);
}

double sc_loss_carried(double arrival_per_s, double service_s, double servers)
{
    return service_s * sc_loss_throughput_per_s(arrival_per_s, service_s, servers);
}

/* ---- Closed networks ---- */

static enum sc_status fail(struct sc_error *err, enum sc_status status, const char *field,
                           double value, const char *reason)
{
    if (err != NULL)
        *err = (struct sc_error){
            .field = field,
            .value = value,
            .reason = reason,
        };
    return status;
}

static enum sc_status check_amount(const char *field, double value, struct sc_error *err)
{
    if (is_amount(value))
        return SC_OK;
    return fail(err, SC_EDOMAIN, field, value, "must be finite and >= 0");
}

static enum sc_status check_population(double population, struct sc_error *err)
{
    const enum sc_status status = check_amount("population", population, err);

    if (status != SC_OK)
        return status;
    if (population > SC_POPULATION_MAX)
        return fail(err, SC_ERANGE, "population", population, "must be at most 1e9");
    return SC_OK;
}

/* What the closed forms need to know of all the demands together. */
struct demands {
    double total_s;
    double max_s;
    double mean_s; /* over the stations with a demand */
};

static enum sc_status check_network(const struct sc_network *net, double population,
                                    struct demands *out, struct sc_error *err)
{
    struct sum total = { 0.0, 0.0 };
    double used = 0.0;
    enum sc_status status = check_population(population, err);

    if (status == SC_OK)
        status = check_amount("think_s", net->think_s, err);
    if (status != SC_OK)
        return status;
    if (net->demand_s == NULL && net->station_count > 0)
        return fail(err, SC_EMISSING, "demand_s", UNDEFINED, "must not be NULL");
    *out = (struct demands){ 0 };
    for (size_t k = 0; k < net->station_count; k++) {
        status = check_amount("demand_s", net->demand_s[k], err);
        if (status != SC_OK)
            return status;
        total = sum_add(total, net->demand_s[k]);
        out->max_s = fmax(out->max_s, net->demand_s[k]);
        used += net->demand_s[k] > 0.0 ? 1.0 : 0.0;
    }
    out->total_s = sum_value(total);
    out->mean_s = used > 0.0 ? out->total_s / used : 0.0;
    if (!(out->total_s + net->think_s > 0.0))
        return fail(err, SC_EDOMAIN, "think_s", net->think_s,
                    "must be > 0 where no station has a demand");
    return SC_OK;
}

/* The same for one station, whose demand goes by the name of service_s. */
static enum sc_status check_station(double population, double think_s, double service_s,
                                    struct sc_error *err)
{
    enum sc_status status = check_population(population, err);

    if (status == SC_OK)
        status = check_amount("think_s", think_s, err);
    if (status == SC_OK)
        status = check_amount("service_s", service_s, err);
    if (status == SC_OK && !(think_s + service_s > 0.0))
        status = fail(err, SC_EDOMAIN, "service_s", service_s, "must be > 0 where think_s is 0");
    return status;
}

static enum sc_status check_arrays(const struct sc_network *net, const double *residence_s,
                                   const double *number, struct sc_error *err)
{
    if (net->station_count == 0)
        return SC_OK;
    if (residence_s == NULL)
        return fail(err, SC_EMISSING, "residence_s", UNDEFINED, "must not be NULL");
    if (number == NULL)
        return fail(err, SC_EMISSING, "number", UNDEFINED, "must not be NULL");
    return SC_OK;
}

/*
 * One more customer: the arrival theorem turns the queues that population - 1
 * leaves in number[] into residence times, and those into the new queues.
 */
static struct sc_closed mva_step(const struct sc_network *net, double population, double max_s,
                                 double *residence_s, double *number)
{
    struct sum response = { 0.0, 0.0 };
    struct sc_closed out;

    for (size_t k = 0; k < net->station_count; k++) {
        residence_s[k] = net->demand_s[k] * (1.0 + number[k]);
        response = sum_add(response, residence_s[k]);
    }
    out.response_s = sum_value(response);
    out.throughput_per_s = population / (net->think_s + out.response_s);
    out.number = out.throughput_per_s * out.response_s;
    out.utilisation = out.throughput_per_s * max_s;
    for (size_t k = 0; k < net->station_count; k++)
        number[k] = out.throughput_per_s * residence_s[k];
    return out;
}

enum sc_status sc_mva_exact(const struct sc_network *net, double population, double *residence_s,
                            double *number, struct sc_closed *out, struct sc_error *err)
{
    struct demands demands;
    long whole;
    enum sc_status status = check_network(net, population, &demands, err);

    if (status == SC_OK)
        status = check_arrays(net, residence_s, number, err);
    if (status != SC_OK)
        return status;
    for (size_t k = 0; k < net->station_count; k++)
        number[k] = 0.0;
    whole = (long)population;
    for (long left = whole; left >= 0; left--)
        *out = mva_step(net, population - (double)left, demands.max_s, residence_s, number);
    return SC_OK;
}

/*
 * A queue of which an arrival sees the share `seen` holds, at throughput X,
 * q = X D / (1 - seen X D).  Returns the population that so many queues and
 * the delay hold together, and its slope in X.
 */
static double schweitzer_population(const struct sc_network *net, double seen,
                                    double throughput_per_s, double *slope_s)
{
    struct sum total = { 0.0, 0.0 }, slope = { 0.0, 0.0 };

    total = sum_add(total, throughput_per_s * net->think_s);
    slope = sum_add(slope, net->think_s);
    for (size_t k = 0; k < net->station_count; k++) {
        const double demand_s = net->demand_s[k];
        const double busy = throughput_per_s * demand_s;
        const double room = 1.0 - seen * busy;

        total = sum_add(total, busy / room);
        slope = sum_add(slope, demand_s / room / room);
    }
    *slope_s = sum_value(slope);
    return sum_value(total);
}

/*
 * The population grows with the throughput and is convex in it, so Newton's
 * steps from above the root never pass it.  The start is the lesser of both
 * asymptotes: there the population is at least the one wanted, and room is at
 * least 1/population.  Near the pole each step doubles the room.
 */
static double schweitzer_throughput(const struct sc_network *net, const struct demands *demands,
                                    double seen, double population)
{
    double x = population / (net->think_s + demands->total_s);

    if (demands->max_s > 0.0)
        x = fmin(x, 1.0 / demands->max_s);
    for (int step = 0; step < 200; step++) {
        double slope_s, next;

        next = schweitzer_population(net, seen, x, &slope_s);
        next = x - (next - population) / slope_s;
        if (!(next < x))
            break;
        x = next;
    }
    return x;
}

enum sc_status sc_mva_schweitzer(const struct sc_network *net, double population,
                                 double *residence_s, double *number, struct sc_closed *out,
                                 struct sc_error *err)
{
    struct sum response = { 0.0, 0.0 };
    struct demands demands;
    double seen, x;
    enum sc_status status = check_network(net, population, &demands, err);

    if (status == SC_OK)
        status = check_arrays(net, residence_s, number, err);
    if (status != SC_OK)
        return status;
    seen = population > 1.0 ? (population - 1.0) / population : 0.0;
    x = schweitzer_throughput(net, &demands, seen, population);
    for (size_t k = 0; k < net->station_count; k++) {
        residence_s[k] = net->demand_s[k] / (1.0 - seen * x * net->demand_s[k]);
        number[k] = x * residence_s[k];
        response = sum_add(response, residence_s[k]);
    }
    out->throughput_per_s = x;
    out->response_s = sum_value(response);
    out->number = x * out->response_s;
    out->utilisation = x * demands.max_s;
    return SC_OK;
}

/* ---- Bounds ---- */

static enum sc_status check_bounds(const struct sc_network *net, double population,
                                   struct demands *demands, struct sc_error *err)
{
    const enum sc_status status = check_network(net, population, demands, err);

    if (status == SC_OK && population < 1.0)
        return fail(err, SC_EDOMAIN, "population", population, "must be >= 1");
    return status;
}

/* Both kinds bound the response, and the throughput by Little's law. */
static struct sc_bounds bounds_from_response(const struct sc_network *net,
                                             const struct demands *demands, double population,
                                             double lo_s, double hi_s)
{
    const double capacity_per_s = demands->max_s > 0.0 ? 1.0 / demands->max_s : (double)INFINITY;
    const double cycle_s = net->think_s + demands->total_s;
    struct sc_bounds out;

    out.throughput_lo_per_s = population / (net->think_s + hi_s);
    out.throughput_hi_per_s = fmin(capacity_per_s, population / (net->think_s + lo_s));
    out.response_lo_s = fmax(lo_s, population * demands->max_s - net->think_s);
    out.response_hi_s = hi_s;
    out.knee_population = demands->max_s > 0.0 ? cycle_s / demands->max_s : (double)INFINITY;
    return out;
}

enum sc_status sc_bounds_asymptotic(const struct sc_network *net, double population,
                                    struct sc_bounds *out, struct sc_error *err)
{
    struct demands demands;
    const enum sc_status status = check_bounds(net, population, &demands, err);

    if (status != SC_OK)
        return status;
    *out = bounds_from_response(net, &demands, population, demands.total_s,
                                population * demands.total_s);
    return SC_OK;
}

enum sc_status sc_bounds_balanced_job(const struct sc_network *net, double population,
                                      struct sc_bounds *out, struct sc_error *err)
{
    struct demands demands;
    double total_s, all_s, queue_lo_s, queue_hi_s;
    const enum sc_status status = check_bounds(net, population, &demands, err);

    if (status != SC_OK)
        return status;
    total_s = demands.total_s;
    all_s = population * total_s;
    /* As in the book, but rid of a quotient by a total demand of 0. */
    queue_lo_s = (population - 1.0) * demands.mean_s * total_s / (total_s + net->think_s);
    queue_hi_s = (population - 1.0) * demands.max_s * all_s / (all_s + net->think_s);
    *out = bounds_from_response(net, &demands, population, total_s + queue_lo_s,
                                total_s + queue_hi_s);
    return SC_OK;
}

/* ---- Machine repairman ---- */

/* Nobody queues: at most one customer, or a service that takes no time. */
static struct sc_closed closed_alone(double population, double think_s, double service_s)
{
    const double x = population / (think_s + service_s);

    return (struct sc_closed){
        .throughput_per_s = x,
        .response_s = service_s,
        .number = x * service_s,
        .utilisation = x * service_s,
    };
}

enum sc_status sc_repairman_mm1(double population, double think_s, double service_s,
                                struct sc_closed *out, struct sc_error *err)
{
    double offered, others;
    const enum sc_status status = check_station(population, think_s, service_s, err);

    if (status != SC_OK)
        return status;
    offered = think_s / service_s;
    if (population <= 1.0 || isinf(offered)) {
        *out = closed_alone(population, think_s, service_s);
        return SC_OK;
    }
    /*
	 * 1 - B(N) over service_s, by the recursion of B.  The response, which
	 * is population/throughput - think, is written through the complement
	 * so that a long think time does not cancel.
	 */
    others = population - 1.0;
    out->throughput_per_s = population /
                            (population * service_s + think_s * sc_erlang_b(offered, others));
    out->response_s = population * service_s - think_s * erlang_b_complement(offered, others);
    out->number = out->throughput_per_s * out->response_s;
    out->utilisation = out->throughput_per_s * service_s;
    return SC_OK;
}

/* The finite-source birth-death chain: all that its steps depend on. */
struct chain {
    double population;
    double servers;
    double load; /* service_s/think_s */
};

/* P(n + 1 at the station)/P(n at the station); falls as n grows. */
static double chain_ratio(struct chain c, double n)
{
    return (c.population - n) * c.load / fmin(n + 1.0, c.servers);
}

/* The likeliest number at the station: the first whose next is no likelier. */
static double chain_mode(struct chain c)
{
    double lo = 0.0, hi = c.population;

    while (lo < hi) {
        const double middle = floor(lo + (hi - lo) / 2.0);

        if (chain_ratio(c, middle) <= 1.0)
            hi = middle;
        else
            lo = middle + 1.0;
    }
    return lo;
}

struct chain_sums {
    struct sum weight, number, busy;
};

static void chain_visit(struct chain_sums *sums, struct chain c, double n, double weight)
{
    sums->weight = sum_add(sums->weight, weight);
    sums->number = sum_add(sums->number, weight * n);
    sums->busy = sum_add(sums->busy, weight * fmin(n, c.servers));
}

/*
 * The sums run from the mode outwards with the mode's weight as 1.  This is
 * what logarithms would be for, nothing overflows, and loses no digits; past
 * the mode the weights fall ever faster, so few of them count.
 */
static struct chain_sums chain_sum(struct chain c)
{
    const double negligible = 1e-30;
    const double mode = chain_mode(c);
    struct chain_sums sums = { 0 };
    double weight = 1.0, n;

    chain_visit(&sums, c, mode, weight);
    n = mode;
    while (n < c.population && weight > negligible) {
        weight *= chain_ratio(c, n);
        n += 1.0;
        chain_visit(&sums, c, n, weight);
    }
    weight = 1.0;
    n = mode;
    while (n > 0.0 && weight > negligible) {
        n -= 1.0;
        weight /= chain_ratio(c, n);
        chain_visit(&sums, c, n, weight);
    }
    return sums;
}

enum sc_status sc_repairman_mmc(double population, double think_s, double service_s, double servers,
                                struct sc_closed *out, struct sc_error *err)
{
    struct chain chain;
    struct chain_sums sums;
    double busy;
    const enum sc_status status = check_station(population, think_s, service_s, err);

    if (status != SC_OK)
        return status;
    if (floor(population) != population)
        return fail(err, SC_EDOMAIN, "population", population, "must be a whole number");
    if (!is_amount(servers) || servers == 0.0)
        return fail(err, SC_EDOMAIN, "servers", servers, "must be finite and > 0");
    chain = (struct chain){
        .population = population,
        .servers = servers,
        .load = service_s / think_s,
    };
    if (population == 0.0 || chain.load == 0.0) {
        *out = closed_alone(population, think_s, service_s / fmin(servers, 1.0));
        return SC_OK;
    }
    sums = chain_sum(chain);
    busy = sum_value(sums.busy) / sum_value(sums.weight);
    out->throughput_per_s = busy / service_s;
    out->number = sum_value(sums.number) / sum_value(sums.weight);
    out->response_s = sum_value(sums.number) / sum_value(sums.busy) * service_s;
    out->utilisation = busy / servers;
    return SC_OK;
}

/* 1/f(1/interval_s) - 1, f the transform of a gamma service time. */
static double gamma_service_odds(double services_per_interval, double c2)
{
    const double spread = c2 * services_per_interval;

    /* As c2 goes to 0, log1p(spread)/c2 is services_per_interval. */
    if (spread < 1e-17)
        return expm1(services_per_interval);
    return expm1(log1p(spread) / c2);
}

/*
 * Mean number served in a busy period, less the one that starts it: the sum
 * over 0 < n < N of C(N-1, n) times the odds against none of i thinkers
 * coming during a service, for all i <= n.  Terms are positive.  Past
 * `enough` the server never idles to double precision, so that the rest of a
 * sum that may overflow is not needed.
 */
static double busy_period_followers(double population, double load, double c2, double enough)
{
    struct sum served = { 0.0, 0.0 };
    double term = 1.0, i = 1.0;

    while (i < population && served.total < enough) {
        term *= (population - i) / i * gamma_service_odds(i * load, c2);
        i += 1.0;
        served = sum_add(served, fmin(term, enough));
    }
    return sum_value(served);
}

static struct sc_closed mg1_whole(double population, double think_s, double service_s, double c2)
{
    const double load = service_s / think_s;
    double followers, idle_s;
    struct sc_closed out;

    if (population <= 1.0 || load == 0.0)
        return closed_alone(population, think_s, service_s);
    followers = think_s > 0.0
                    ? busy_period_followers(population, load, c2, 1e20 * fmax(1.0, 1.0 / load))
                    : SATURATED;
    /* An idle period lasts think/population, once per busy period. */
    idle_s = think_s / population / (1.0 + followers);
    out.throughput_per_s = 1.0 / (service_s + idle_s);
    /* population/throughput - think, without its cancellation. */
    out.response_s = population * service_s - think_s / (1.0 + 1.0 / followers);
    out.number = out.throughput_per_s * out.response_s;
    out.utilisation = out.throughput_per_s * service_s;
    return out;
}

enum sc_status sc_repairman_mg1(double population, double think_s, double service_s, double c2,
                                struct sc_closed *out, struct sc_error *err)
{
    const double whole = floor(population);
    const double part = population - whole;
    struct sc_closed more;
    enum sc_status status = check_station(population, think_s, service_s, err);

    if (status == SC_OK)
        status = check_amount("c2", c2, err);
    if (status != SC_OK)
        return status;
    if (part == 0.0 || population < 1.0) {
        *out = mg1_whole(population, think_s, service_s, c2);
        return SC_OK;
    }
    *out = mg1_whole(whole, think_s, service_s, c2);
    more = mg1_whole(whole + 1.0, think_s, service_s, c2);
    out->throughput_per_s += part * (more.throughput_per_s - out->throughput_per_s);
    out->number += part * (more.number - out->number);
    out->utilisation = out->throughput_per_s * service_s;
    out->response_s = out->number / out->throughput_per_s;
    return SC_OK;
}

enum sc_status sc_mva_two_moment(double population, double think_s, double service_s, double c2,
                                 struct sc_closed *out, struct sc_error *err)
{
    struct sc_closed now = { 0 };
    enum sc_status status = check_station(population, think_s, service_s, err);

    if (status == SC_OK)
        status = check_amount("c2", c2, err);
    if (status != SC_OK)
        return status;
    for (long left = (long)population; left >= 0; left--) {
        const double n = population - (double)left;
        const double before_per_s = now.throughput_per_s;
        /* The one in service keeps (1 + c2)/2 of it, not all of it. */
        const double found = now.number + now.utilisation * 0.5 * (c2 - 1.0);
        double response_s = service_s * (1.0 + found);

        if (before_per_s > 0.0)
            response_s = fmin(response_s, n / before_per_s - think_s);
        response_s = fmax(response_s, n * service_s - think_s);
        now.response_s = response_s;
        now.throughput_per_s = n / (think_s + response_s);
        now.number = now.throughput_per_s * response_s;
        now.utilisation = now.throughput_per_s * service_s;
    }
    *out = now;
    return SC_OK;
}
