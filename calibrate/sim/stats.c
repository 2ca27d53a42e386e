/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/stats.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "sim/rng.h" /* the normal quantile */

static const double PI = 3.14159265358979323846;
static const double S_PER_PS = 1e-12;
static const double NOTHING = (double)NAN;

/* ---- Mean and variance ---- */

void sc_sim_moments_add(struct sc_sim_moments *moments, double value)
{
    const double before = value - moments->mean;

    if (moments->count == 0 || value < moments->min)
        moments->min = value;
    if (moments->count == 0 || value > moments->max)
        moments->max = value;
    moments->count++;
    moments->mean += before / (double)moments->count;
    moments->squares += before * (value - moments->mean);
}

void sc_sim_moments_merge(struct sc_sim_moments *moments, const struct sc_sim_moments *other)
{
    const double n = (double)moments->count, m = (double)other->count;
    const double apart = other->mean - moments->mean;

    if (other->count == 0)
        return;
    if (moments->count == 0) {
        *moments = *other;
        return;
    }
    moments->min = fmin(moments->min, other->min);
    moments->max = fmax(moments->max, other->max);
    moments->squares += other->squares + apart * apart * (n * m / (n + m));
    moments->mean += apart * (m / (n + m));
    moments->count += other->count;
}

double sc_sim_moments_mean(const struct sc_sim_moments *moments)
{
    return moments->count > 0 ? moments->mean : NOTHING;
}

double sc_sim_moments_variance(const struct sc_sim_moments *moments)
{
    return moments->count > 1 ? moments->squares / (double)(moments->count - 1) : NOTHING;
}

/* ---- A level over time ---- */

sc_sim_wide sc_sim_level_area(const struct sc_sim_level *level, uint64_t now_ps)
{
    assert(now_ps >= level->changed_ps);
    return level->area + (sc_sim_wide)level->level * (now_ps - level->changed_ps);
}

void sc_sim_level_set(struct sc_sim_level *level, uint64_t now_ps, uint64_t value)
{
    level->area = sc_sim_level_area(level, now_ps);
    level->changed_ps = now_ps;
    level->level = value;
    if (value > level->peak)
        level->peak = value;
}

void sc_sim_level_up(struct sc_sim_level *level, uint64_t now_ps, uint64_t by)
{
    assert(by <= UINT64_MAX - level->level);
    sc_sim_level_set(level, now_ps, level->level + by);
}

void sc_sim_level_down(struct sc_sim_level *level, uint64_t now_ps, uint64_t by)
{
    assert(by <= level->level);
    sc_sim_level_set(level, now_ps, level->level - by);
}

void sc_sim_level_restart(struct sc_sim_level *level, uint64_t now_ps)
{
    assert(now_ps >= level->changed_ps);
    *level = (struct sc_sim_level){
        .level = level->level, .peak = level->level, .since_ps = now_ps, .changed_ps = now_ps
    };
}

double sc_sim_level_mean(const struct sc_sim_level *level, uint64_t now_ps)
{
    if (now_ps <= level->since_ps)
        return NOTHING;
    return (double)sc_sim_level_area(level, now_ps) / (double)(now_ps - level->since_ps);
}

/* ---- Little's law ---- */

void sc_sim_little_arrive(struct sc_sim_little *little, uint64_t now_ps)
{
    sc_sim_level_up(&little->number, now_ps, 1);
    little->arrivals++;
}

void sc_sim_little_depart(struct sc_sim_little *little, uint64_t now_ps, uint64_t arrived_ps)
{
    assert(arrived_ps <= now_ps);
    sc_sim_level_down(&little->number, now_ps, 1);
    little->departures++;
    little->sojourn_ps += now_ps - arrived_ps;
}

void sc_sim_little_restart(struct sc_sim_little *little, uint64_t now_ps)
{
    sc_sim_level_restart(&little->number, now_ps);
    little->arrivals = 0;
    little->departures = 0;
    little->sojourn_ps = 0;
}

struct sc_sim_little_report sc_sim_little_report(const struct sc_sim_little *little,
                                                 uint64_t now_ps)
{
    struct sc_sim_little_report report = { NOTHING, NOTHING, NOTHING, NOTHING };
    double elapsed_ps, product, larger;

    if (now_ps <= little->number.since_ps)
        return report;
    elapsed_ps = (double)(now_ps - little->number.since_ps);
    report.number = sc_sim_level_mean(&little->number, now_ps);
    report.rate_per_s = (double)little->departures / (elapsed_ps * S_PER_PS);
    if (little->departures > 0)
        report.time_s = (double)little->sojourn_ps * S_PER_PS / (double)little->departures;
    product = (double)little->sojourn_ps / elapsed_ps;
    larger = fmax(report.number, product);
    report.error = larger > 0.0 ? fabs(report.number - product) / larger : 0.0;
    return report;
}

/* ---- Batch means ---- */

/* Pairs of batches become one of twice the length. */
static void batches_halve(struct sc_sim_batches *batches)
{
    batches->full /= 2;
    for (size_t i = 0; i < batches->full; i++)
        batches->mean[i] = 0.5 * batches->mean[2 * i] + 0.5 * batches->mean[2 * i + 1];
    memset(batches->mean + batches->full, 0,
           (SC_SIM_BATCHES - batches->full) * sizeof batches->mean[0]);
    batches->length *= 2;
}

void sc_sim_batches_add(struct sc_sim_batches *batches, double value)
{
    double *const filling = &batches->mean[batches->full];

    if (batches->length == 0)
        batches->length = 1;
    *filling += value;
    if (++batches->partial < batches->length)
        return;
    *filling /= (double)batches->length;
    batches->partial = 0;
    if (++batches->full == SC_SIM_BATCHES)
        batches_halve(batches);
}

size_t sc_sim_batches_warmup(const struct sc_sim_batches *batches)
{
    struct sc_sim_moments kept = { 0 };
    double least = (double)INFINITY;
    size_t best = 0;

    for (size_t first = batches->full; first-- > 0;) {
        double error;

        sc_sim_moments_add(&kept, batches->mean[first]);
        if (first > batches->full / 2)
            continue;
        error = kept.squares / ((double)kept.count * (double)kept.count);
        if (error <= least) {
            least = error;
            best = first;
        }
    }
    return best;
}

struct sc_sim_interval sc_sim_moments_interval(const struct sc_sim_moments *moments,
                                               double confidence)
{
    struct sc_sim_interval interval = { .mean = sc_sim_moments_mean(moments),
                                        .half_width = NOTHING,
                                        .batches = moments->count };

    if (moments->count > 1)
        interval.half_width = sc_sim_student_quantile(confidence, moments->count - 1) *
                              sqrt(sc_sim_moments_variance(moments) / (double)moments->count);
    return interval;
}

struct sc_sim_interval sc_sim_batches_interval(const struct sc_sim_batches *batches, size_t first,
                                               double confidence)
{
    struct sc_sim_moments moments = { 0 };

    for (size_t i = first; i < batches->full; i++)
        sc_sim_moments_add(&moments, batches->mean[i]);
    return sc_sim_moments_interval(&moments, confidence);
}

/* ---- Student's distribution ---- */

/* Above this the series in 1/freedom below is exact enough, and quicker. */
enum { FREEDOM_SUMMED = 400 };

/*
 * P(|T| <= sqrt(freedom) tan(angle)): Abramowitz & Stegun, Handbook of
 * Mathematical Functions, 26.7.3 (odd) and 26.7.4 (even).
 */
static double student_within(double angle, uint64_t freedom)
{
    const double c = cos(angle), c2 = c * c;
    const uint64_t odd = freedom % 2;
    double term = 1.0, sum = 0.0;

    for (uint64_t k = odd; k + 2 <= freedom; k += 2) {
        sum += term;
        term *= c2 * (double)(k + 1) / (double)(k + 2);
    }
    return odd ? 2.0 / PI * (angle + sin(angle) * c * sum) : sin(angle) * sum;
}

/* Cornish and Fisher's expansion about the normal quantile z (A&S 26.7.5). */
static double student_expansion(double z, double freedom)
{
    const double z2 = z * z;
    const double g1 = (z2 + 1.0) / 4.0;
    const double g2 = ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0;
    const double g3 = (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0;
    const double g4 = ((((79.0 * z2 + 776.0) * z2 + 1482.0) * z2 - 1920.0) * z2 - 945.0) / 92160.0;

    return z * (1.0 + (g1 + (g2 + (g3 + g4 / freedom) / freedom) / freedom) / freedom);
}

double sc_sim_student_quantile(double confidence, uint64_t freedom)
{
    double low = 0.0, high = PI / 2.0;

    if (freedom == 0 || !(confidence >= 0.0 && confidence < 1.0))
        return NOTHING;
    if (freedom > FREEDOM_SUMMED)
        return student_expansion(sc_sim_normal_quantile(0.5 + 0.5 * confidence), (double)freedom);
    for (;;) {
        const double middle = 0.5 * (low + high);

        if (middle <= low || middle >= high)
            return sqrt((double)freedom) * tan(low);
        if (student_within(middle, freedom) < confidence)
            low = middle;
        else
            high = middle;
    }
}

/* ---- Quantiles ---- */

/* log2 of the buckets per octave. */
enum { BUCKET_BITS = 6 };
_Static_assert(1 << BUCKET_BITS == SC_SIM_BUCKETS_PER_OCTAVE, "a power of two");
_Static_assert(SC_SIM_BUCKETS == (64 - BUCKET_BITS + 1) << BUCKET_BITS, "up to 2^64 - 1");

/* The top BUCKET_BITS + 1 bits of the value, in the row of its octave. */
static size_t bucket_of(uint64_t value)
{
    const unsigned octave = value < SC_SIM_BUCKETS_PER_OCTAVE
                                ? 0
                                : 63 - (unsigned)__builtin_clzll(value) - BUCKET_BITS;

    return ((size_t)octave << BUCKET_BITS) + (size_t)(value >> octave);
}

/* The middle of what a bucket holds. */
static double bucket_middle(size_t bucket)
{
    const size_t row = bucket >> BUCKET_BITS;
    const size_t octave = row > 0 ? row - 1 : 0;
    const double width = (double)(UINT64_C(1) << octave);

    return (double)(bucket - (octave << BUCKET_BITS)) * width + 0.5 * (width - 1.0);
}

void sc_sim_histogram_add(struct sc_sim_histogram *histogram, uint64_t value)
{
    if (histogram->count == 0 || value < histogram->min)
        histogram->min = value;
    if (value > histogram->max)
        histogram->max = value;
    histogram->count++;
    histogram->sum += value;
    histogram->bucket[bucket_of(value)]++;
}

void sc_sim_histogram_merge(struct sc_sim_histogram *histogram,
                            const struct sc_sim_histogram *other)
{
    if (other->count == 0)
        return;
    if (histogram->count == 0 || other->min < histogram->min)
        histogram->min = other->min;
    if (other->max > histogram->max)
        histogram->max = other->max;
    histogram->count += other->count;
    histogram->sum += other->sum;
    for (size_t i = 0; i < SC_SIM_BUCKETS; i++)
        histogram->bucket[i] += other->bucket[i];
}

double sc_sim_histogram_quantile(const struct sc_sim_histogram *histogram, double p)
{
    const double last = (double)histogram->count;
    double rank, seen = 0.0;
    size_t bucket = 0;

    if (histogram->count == 0 || !(p >= 0.0 && p <= 1.0))
        return NOTHING;
    rank = ceil(p * last);
    if (rank <= 1.0)
        return (double)histogram->min;
    if (rank >= last)
        return (double)histogram->max;
    for (; bucket < SC_SIM_BUCKETS; bucket++) {
        seen += (double)histogram->bucket[bucket];
        if (seen >= rank)
            break;
    }
    return fmin(fmax(bucket_middle(bucket), (double)histogram->min), (double)histogram->max);
}

double sc_sim_histogram_mean(const struct sc_sim_histogram *histogram)
{
    return histogram->count > 0 ? (double)histogram->sum / (double)histogram->count : NOTHING;
}
