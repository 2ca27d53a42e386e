/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reuse.h"

#include <math.h>
#include <stdbool.h>

/* ---- what is checked ---- */

static enum sc_status refuse(struct sc_error *error, const char *field, double value,
                             const char *reason)
{
    if (error != NULL)
        *error = (struct sc_error){ .field = field, .value = value, .reason = reason };
    return SC_EDOMAIN;
}

static bool is_count(double value)
{
    return isfinite(value) && value >= 0.0;
}

static double lower_edge(const struct sc_reuse_histogram *h, size_t i)
{
    return h->edge != NULL ? h->edge[i] : (double)i;
}

static enum sc_status check(const struct sc_reuse_histogram *h, const double *capacity, size_t n,
                            struct sc_error *error)
{
    if (!(isfinite(h->accesses) && h->accesses > 0.0))
        return refuse(error, "accesses", h->accesses, "expected more than none");
    if (!is_count(h->cold))
        return refuse(error, "cold", h->cold, "expected a count");
    for (size_t i = 0; i < h->bins; i++) {
        if (!is_count(h->count[i]))
            return refuse(error, "count", h->count[i], "expected a count");
        if (h->edge != NULL &&
            !(is_count(h->edge[i]) && isfinite(h->edge[i + 1]) && h->edge[i] < h->edge[i + 1]))
            return refuse(error, "edge", h->edge[i], "expected values that rise");
    }
    for (size_t k = 0; k < n; k++) {
        if (!is_count(capacity[k]))
            return refuse(error, "capacity", capacity[k], "expected blocks");
        if (k > 0 && capacity[k] < capacity[k - 1])
            return refuse(error, "capacity", capacity[k], "expected values that do not fall");
    }
    return SC_OK;
}

static double ratio(double misses, double accesses)
{
    return fmin(1.0, misses / accesses);
}

/* ---- LRU ---- */

/* From the largest capacity down: what lies at or above it has been added up. */
enum sc_status sc_reuse_lru(const struct sc_reuse_histogram *distances, const double *capacity,
                            size_t n, double *miss_ratio, struct sc_error *error)
{
    const enum sc_status status = check(distances, capacity, n, error);
    if (status != SC_OK)
        return status;
    double above = distances->cold;
    size_t i = distances->bins;
    for (size_t k = n; k-- > 0;) {
        double part = 0.0;
        while (i > 0 && lower_edge(distances, i - 1) >= capacity[k])
            above += distances->count[--i];
        if (i > 0 && lower_edge(distances, i) > capacity[k])
            part = distances->count[i - 1] * (lower_edge(distances, i) - capacity[k]) /
                   (lower_edge(distances, i) - lower_edge(distances, i - 1));
        miss_ratio[k] = ratio(above + part, distances->accesses);
    }
    return SC_OK;
}

/* ---- sets ---- */

/* Below this exp() has no full precision left. */
static const double log_tiny = -600.0;

/* Sum of the terms k = top ... 0 of the binomial distribution of d draws, each with probability
 * p, from the top term down: they need not start at a number too small for a double. */
static double binomial_from_above(double d, double p, double top, double log_none)
{
    const double odds = p / (1.0 - p), mean = d * p;
    /* More than 12 standard deviations off is certain. */
    if (top >= mean + 12.0 * sqrt(mean))
        return 1.0;
    double log_term = log_none;
    for (double k = 1.0; k <= top; k += 1.0)
        log_term += log((d - k + 1.0) / k * odds);
    double term = exp(log_term), sum = term;
    for (double k = top; k >= 1.0 && (k > mean || term > 1e-18 * sum); k -= 1.0) {
        term *= k / ((d - k + 1.0) * odds);
        sum += term;
    }
    return fmin(1.0, sum);
}

/* Probability that fewer than `ways` of d blocks fall into one set of 1 / p. */
static double set_hit_probability(double d, double ways, double p)
{
    if (d < ways)
        return 1.0;
    const double log_none = d * log1p(-p);
    if (log_none < log_tiny)
        return binomial_from_above(d, p, ways - 1.0, log_none);
    const double odds = p / (1.0 - p);
    double term = exp(log_none), sum = term;
    for (double k = 1.0; k < ways; k += 1.0) {
        term *= (d - k + 1.0) / k * odds;
        sum += term;
    }
    return fmin(1.0, sum);
}

/* The middle of the whole numbers in a bin. */
static double middle(const struct sc_reuse_histogram *h, size_t i)
{
    return h->edge == NULL ? (double)i : fmax(h->edge[i], 0.5 * (h->edge[i] + h->edge[i + 1] - 1.0));
}

static double misses_in_sets(const struct sc_reuse_histogram *h, double ways, double capacity)
{
    double misses = h->cold;
    bool hopeless = false; /* no such distance hits, nor does a longer one */
    for (size_t i = 0; i < h->bins; i++) {
        double hit = 0.0;
        if (h->count[i] <= 0.0)
            continue;
        if (!hopeless)
            hit = set_hit_probability(middle(h, i), ways, ways / capacity);
        hopeless = hit < 1e-15;
        misses += h->count[i] * (1.0 - hit);
    }
    return misses;
}

enum sc_status sc_reuse_set_associative(const struct sc_reuse_histogram *distances, double ways,
                                        const double *capacity, size_t n, double *miss_ratio,
                                        struct sc_error *error)
{
    if (!(isfinite(ways) && ways >= 1.0 && floor(ways) == ways))
        return refuse(error, "ways", ways, "expected a whole number from 1");
    const enum sc_status status = sc_reuse_lru(distances, capacity, n, miss_ratio, error);
    if (status != SC_OK)
        return status;
    for (size_t k = 0; k < n; k++)
        if (capacity[k] > ways)
            miss_ratio[k] = ratio(misses_in_sets(distances, ways, capacity[k]),
                                  distances->accesses);
    return SC_OK;
}

/* ---- random replacement ---- */

/* Misses per access when there are so many evictions per access, and its derivative. */
struct tangent {
    double value, slope;
};

static struct tangent misses_at(const struct sc_reuse_histogram *h, double capacity,
                                double evictions)
{
    const double log_stay = log1p(-1.0 / capacity);
    struct tangent misses = { .value = h->cold };
    for (size_t i = 0; i < h->bins; i++) {
        const double between = fmax(0.0, middle(h, i) - 1.0);
        if (h->count[i] <= 0.0 || between <= 0.0)
            continue;
        const double exponent = between * log_stay;
        misses.value -= h->count[i] * expm1(exponent * evictions);
        misses.slope -= h->count[i] * exponent * exp(exponent * evictions);
    }
    misses.value /= h->accesses;
    misses.slope /= h->accesses;
    return misses;
}

/* One block: whatever comes between evicts it. */
static double random_one_block(const struct sc_reuse_histogram *h)
{
    double misses = h->cold;
    for (size_t i = 0; i < h->bins; i++)
        if (middle(h, i) > 1.0)
            misses += h->count[i];
    return ratio(misses, h->accesses);
}

/* The largest m with m = misses(m - filling): misses() is concave, so Newton's method comes
 * down to it from above without passing it. */
static double random_miss_ratio(const struct sc_reuse_histogram *h, double capacity)
{
    enum { STEPS = 100 };
    if (capacity < 1.0)
        return 1.0;
    if (h->cold > 0.0 && h->cold <= capacity)
        return ratio(h->cold, h->accesses);
    if (capacity < 1.0 + 1e-9)
        return random_one_block(h);
    const double filling = fmin(capacity, h->cold) / h->accesses;
    double m = 1.0;
    for (int i = 0; i < STEPS; i++) {
        const struct tangent misses = misses_at(h, capacity, fmax(0.0, m - filling));
        if (misses.slope >= 1.0)
            break;
        const double step = (m - misses.value) / (1.0 - misses.slope);
        m -= step;
        if (step <= 1e-14 * m)
            break;
    }
    return fmin(1.0, fmax(m, h->cold / h->accesses));
}

enum sc_status sc_reuse_random(const struct sc_reuse_histogram *times, const double *capacity,
                               size_t n, double *miss_ratio, struct sc_error *error)
{
    const enum sc_status status = check(times, capacity, n, error);
    for (size_t k = 0; status == SC_OK && k < n; k++)
        miss_ratio[k] = random_miss_ratio(times, capacity[k]);
    return status;
}

/* ---- average eviction time ---- */

/* Between two times the probability of a longer reuse time falls in a line. */
struct segment {
    double steps;      /* whole times in it */
    double start, end; /* probability at its ends */
};

/* Sum of the probabilities of `x` times from the start of the segment. */
static double filled(const struct segment *s, double x)
{
    const double slope = (s->end - s->start) / s->steps;
    return x * s->start + 0.5 * slope * x * (x - 1.0);
}

/* The probability where that sum is `wanted`, which is no more than that of the whole. */
static double probability_at(const struct segment *s, double wanted)
{
    const double slope = (s->end - s->start) / s->steps, linear = s->start - 0.5 * slope;
    const double root = sqrt(fmax(0.0, linear * linear + 2.0 * slope * wanted));
    const double x = linear + root > 0.0 ? 2.0 * wanted / (linear + root) : s->steps;
    return fmax(s->end, fmin(s->start, s->start + slope * x));
}

enum sc_status sc_reuse_eviction_time(const struct sc_reuse_histogram *times,
                                      const double *capacity, size_t n, double *miss_ratio,
                                      struct sc_error *error)
{
    const enum sc_status status = check(times, capacity, n, error);
    if (status != SC_OK)
        return status;
    double left = times->cold, time = 0.0, probability = 1.0, sum = 0.0;
    size_t k = 0;
    for (size_t i = 0; i < times->bins; i++)
        left += times->count[i];
    for (size_t i = 0; i <= times->bins && k < n; i++) {
        /* First up to where the bin begins, then through it. */
        const double next = i == 0 ? lower_edge(times, 0) - 1.0 : lower_edge(times, i) - 1.0;
        left = i == 0 ? left : fmax(times->cold, left - times->count[i - 1]);
        const struct segment segment = { next - time, probability,
                                         i == 0 ? 1.0 : ratio(left, times->accesses) };
        if (!(segment.steps > 0.0))
            continue;
        const double whole = filled(&segment, segment.steps);
        for (; k < n && capacity[k] <= sum + whole; k++)
            miss_ratio[k] = probability_at(&segment, capacity[k] - sum);
        sum += whole;
        time = next;
        probability = segment.end;
    }
    for (; k < n; k++)
        miss_ratio[k] = ratio(times->cold, times->accesses);
    return SC_OK;
}

/* ---- independent accesses ---- */

/* Blocks that share a probability. */
struct block_class {
    double blocks, probability;
};

/* Who is accessed: a few classes, or ranks by Zipf's law when exponent >= 0. */
struct population {
    struct block_class classes[2];
    double blocks, exponent, scale;
};

/* Over all blocks, at characteristic time T: blocks held, its derivative, and hits. */
struct occupancy {
    double held, slope, hits, share;
};

static void add_class(struct occupancy *o, enum sc_reuse_policy policy, double blocks,
                      double probability, double time)
{
    const double x = probability * time;
    const double out = policy == SC_REUSE_LRU ? exp(-x) : 1.0 / (1.0 + x);
    const double in = policy == SC_REUSE_LRU ? -expm1(-x) : x * out;
    o->held += blocks * in;
    o->slope += blocks * probability * (policy == SC_REUSE_LRU ? out : out * out);
    o->hits += blocks * probability * in;
    o->share += blocks * probability;
}

/* Ranks one by one at first, then in groups 2 % wide, each by two points (Gauss) of the integral
 * from half a rank before its first to half a rank after its last. */
static void add_ranks(struct occupancy *o, enum sc_reuse_policy policy,
                      const struct population *p, double time)
{
    enum { SINGLE = 256 };
    static const double gauss = 0.57735026918962576; /* 1 / sqrt(3) */
    double rank = 1.0;
    for (; rank <= p->blocks && rank <= SINGLE; rank += 1.0)
        add_class(o, policy, 1.0, p->scale * pow(rank, -p->exponent), time);
    while (rank <= p->blocks) {
        const double next = fmin(ceil(rank * 1.02), floor(p->blocks) + 1.0);
        const double half = 0.5 * (next - rank), centre = rank - 0.5 + half;
        for (double side = -1.0; side <= 1.0; side += 2.0)
            add_class(o, policy, half,
                      p->scale * pow(centre + side * gauss * half, -p->exponent), time);
        rank = next;
    }
}

static struct occupancy occupancy_at(const struct population *p, enum sc_reuse_policy policy,
                                     double time)
{
    struct occupancy o = { 0 };
    if (p->exponent >= 0.0) {
        add_ranks(&o, policy, p, time);
        return o;
    }
    for (size_t i = 0; i < sizeof p->classes / sizeof p->classes[0]; i++)
        add_class(&o, policy, p->classes[i].blocks, p->classes[i].probability, time);
    return o;
}

/* The characteristic time at which the blocks held are `capacity`: held(T) is concave and no
 * more than T, so Newton's method climbs to it from T = capacity. */
static double independent_miss_ratio(const struct population *p, enum sc_reuse_policy policy,
                                     double capacity)
{
    enum { STEPS = 500 };
    double time = capacity;
    if (capacity >= p->blocks)
        return 0.0;
    for (int i = 0; i < STEPS; i++) {
        const struct occupancy o = occupancy_at(p, policy, time);
        const double step = (capacity - o.held) / o.slope;
        if (!isfinite(step) || step <= 1e-13 * time)
            break;
        time += step;
    }
    return fmin(1.0, fmax(0.0, 1.0 - occupancy_at(p, policy, time).hits));
}

/* ---- patterns ---- */

double sc_reuse_cyclic(enum sc_reuse_policy policy, double blocks, double capacity)
{
    if (!(isfinite(blocks) && blocks >= 1.0 && is_count(capacity)))
        return (double)NAN;
    if (capacity >= blocks)
        return 0.0;
    if (policy == SC_REUSE_LRU)
        return 1.0;
    /* Every access has the reuse time `blocks`. */
    const double edge[] = { blocks, blocks + 1.0 }, count[] = { 1.0 };
    const struct sc_reuse_histogram times = { edge, count, 1, 0.0, 1.0 };
    return random_miss_ratio(&times, capacity);
}

double sc_reuse_uniform(double blocks, double capacity)
{
    if (!(isfinite(blocks) && blocks >= 1.0 && is_count(capacity)))
        return (double)NAN;
    return capacity >= blocks ? 0.0 : 1.0 - capacity / blocks;
}

double sc_reuse_zipf(enum sc_reuse_policy policy, double blocks, double exponent, double capacity)
{
    if (!(isfinite(blocks) && blocks >= 1.0 && exponent >= 0.0 && exponent <= 10.0 &&
          is_count(capacity)))
        return (double)NAN;
    struct population p = { .blocks = floor(blocks), .exponent = exponent, .scale = 1.0 };
    p.scale = 1.0 / occupancy_at(&p, SC_REUSE_LRU, 0.0).share;
    return independent_miss_ratio(&p, policy, capacity);
}

double sc_reuse_hot_cold(enum sc_reuse_policy policy, double hot_blocks, double hot_share,
                         double cold_blocks, double capacity)
{
    if (!(isfinite(hot_blocks) && hot_blocks >= 1.0 && isfinite(cold_blocks) &&
          cold_blocks >= 1.0 && hot_share >= 0.0 && hot_share <= 1.0 && is_count(capacity)))
        return (double)NAN;
    /* Blocks that are never accessed take no room. */
    const double hot = hot_share > 0.0 ? hot_blocks : 0.0;
    const double cold = hot_share < 1.0 ? cold_blocks : 0.0;
    const struct population p = { .classes = { { hot, hot_share / hot_blocks },
                                               { cold, (1.0 - hot_share) / cold_blocks } },
                                  .blocks = hot + cold,
                                  .exponent = -1.0 };
    return independent_miss_ratio(&p, policy, capacity);
}

double sc_reuse_stream(double accesses_per_block)
{
    return isfinite(accesses_per_block) && accesses_per_block >= 1.0 ? 1.0 / accesses_per_block
                                                                     : (double)NAN;
}
