/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The parts that every simulation stands on: event order against a sorted
 * list, random numbers against published and independent ones and against the
 * moments they should have, statistics against brute force, resources against
 * what can be worked out by hand.
 *
 * All seeds are fixed.  A statistical check allows five standard errors, or a
 * chi-square between the 1e-5 and the 1 - 1e-5 quantile.
 */
#include "sim/event.h"
#include "sim/rng.h"
#include "sim/station.h"
#include "sim/stats.h"
#include "tap.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const double NOT_A_NUMBER = (double)NAN;
static const double INFINITE = (double)INFINITY;

/* ---- Event queue ---- */

enum { EVENTS = 20000, TIMES = 40, PRIORITIES = 3, KINDS = 7 };

/* What an event should be, `wide` being the number of its push. */
static struct sc_sim_event random_event(struct sc_sim_rng *rng, uint64_t from_ps, uint64_t number)
{
    return (struct sc_sim_event){ .time_ps = from_ps + sc_sim_rng_below(rng, TIMES),
                                  .kind = (uint32_t)sc_sim_rng_below(rng, KINDS),
                                  .priority = (uint8_t)sc_sim_rng_below(rng, PRIORITIES),
                                  .wide = number };
}

static bool same_event(const struct sc_sim_event *a, const struct sc_sim_event *b)
{
    return a->time_ps == b->time_ps && a->kind == b->kind && a->priority == b->priority &&
           a->wide == b->wide;
}

/* The order as the header states it. */
static int by_order(const void *left, const void *right)
{
    const struct sc_sim_event *const a = left, *const b = right;

    if (a->time_ps != b->time_ps)
        return a->time_ps < b->time_ps ? -1 : 1;
    if (a->priority != b->priority)
        return a->priority < b->priority ? -1 : 1;
    return a->wide < b->wide ? -1 : a->wide > b->wide;
}

static struct sc_sim_event *events_new(void)
{
    struct sc_sim_event *const events = calloc(EVENTS, sizeof *events);

    if (events == NULL)
        bail("no memory");
    return events;
}

static void test_order_of_all(void)
{
    struct sc_sim_rng rng = sc_sim_rng_make(1, 0, 0);
    struct sc_sim_event *const wanted = events_new();
    struct sc_sim_events queue;
    struct sc_sim_event event;
    size_t right = 0;

    sc_sim_events_init(&queue);
    for (size_t i = 0; i < EVENTS; i++) {
        wanted[i] = random_event(&rng, 0, i);
        sc_sim_events_push(&queue, wanted[i]);
    }
    is_int((long long)sc_sim_events_count(&queue), EVENTS, "all are pending");
    qsort(wanted, EVENTS, sizeof *wanted, by_order);
    while (sc_sim_events_pop(&queue, &event) && right < EVENTS)
        right += same_event(&event, &wanted[right]);
    is_int((long long)right, EVENTS, "%d events at %d times leave as sorted", EVENTS, TIMES);
    is_int((long long)sc_sim_events_count(&queue), 0, "none is left");
    sc_sim_events_fini(&queue);
    free(wanted);
}

/* Pushes and pops in any order, against a list that is searched whole. */
static size_t mixed_errors(uint64_t push_percent, uint64_t run)
{
    struct sc_sim_rng rng = sc_sim_rng_make(2, run, 0);
    struct sc_sim_event *const list = events_new();
    struct sc_sim_events queue;
    struct sc_sim_event event, seen;
    size_t pending = 0, errors = 0, least;

    sc_sim_events_init(&queue);
    for (uint64_t i = 0; i < EVENTS; i++) {
        if (sc_sim_rng_below(&rng, 100) < push_percent && pending < 200) {
            list[pending] = random_event(&rng, queue.now_ps, i);
            sc_sim_events_push(&queue, list[pending++]);
            continue;
        }
        if (sc_sim_rng_bernoulli(&rng, 0.2))
            errors += sc_sim_events_peek(&queue, &seen) != (pending > 0);
        errors += sc_sim_events_count(&queue) != pending;
        if (sc_sim_events_pop(&queue, &event) != (pending > 0))
            errors++;
        if (pending == 0)
            continue;
        least = 0;
        for (size_t j = 1; j < pending; j++)
            if (by_order(&list[j], &list[least]) < 0)
                least = j;
        errors += !same_event(&event, &list[least]) || queue.now_ps != event.time_ps;
        list[least] = list[--pending];
    }
    sc_sim_events_fini(&queue);
    free(list);
    return errors;
}

static uint64_t run_hash(struct sc_sim_events *queue)
{
    struct sc_sim_rng rng = sc_sim_rng_make(3, 0, 0);
    struct sc_sim_event event;
    uint64_t hash = 0, number = 0;

    for (; number < 100; number++)
        sc_sim_events_push(queue, random_event(&rng, 0, number));
    while (sc_sim_events_pop(queue, &event)) {
        hash = (hash ^ event.wide ^ event.time_ps) * UINT64_C(0x100000001b3);
        for (uint64_t n = sc_sim_rng_below(&rng, 3); n > 0 && number < 5000; n--)
            sc_sim_events_push(queue, random_event(&rng, event.time_ps, number++));
    }
    return hash;
}

static void test_order(void)
{
    struct sc_sim_events queue;
    uint64_t first;

    test_order_of_all();
    is_int((long long)mixed_errors(50, 0), 0, "pushes and pops mixed");
    is_int((long long)mixed_errors(80, 1), 0, "mostly full");
    is_int((long long)mixed_errors(30, 2), 0, "mostly empty");
    sc_sim_events_init(&queue);
    first = run_hash(&queue);
    sc_sim_events_clear(&queue);
    ok(first == run_hash(&queue), "the same run in a cleared queue");
    sc_sim_events_fini(&queue);
    ok(first == run_hash(&queue), "the same run in a new queue");
    sc_sim_events_fini(&queue);
    sc_sim_events_fini(&queue);
}

static void test_peek(void)
{
    struct sc_sim_events queue;
    struct sc_sim_event event;

    sc_sim_events_init(&queue);
    ok(!sc_sim_events_peek(&queue, &event) && !sc_sim_events_pop(&queue, &event),
       "nothing in a new queue");
    sc_sim_events_push_after(&queue, 7, (struct sc_sim_event){ .a = 1, .b = 2, .time_ps = 99 });
    sc_sim_events_push_after(&queue, 8, (struct sc_sim_event){ .kind = 5 });
    ok(sc_sim_events_peek(&queue, &event) && event.time_ps == 7 && event.a == 1 && event.b == 2,
       "peek shows the next");
    ok(queue.now_ps == 0 && sc_sim_events_count(&queue) == 2, "and leaves it there");
    ok(sc_sim_events_pop(&queue, &event) && queue.now_ps == 7, "pop moves the clock");
    ok(sc_sim_events_peek(&queue, &event) && event.kind == 5, "peek after pop");
    sc_sim_events_push_after(&queue, 0, (struct sc_sim_event){ .kind = 6 });
    ok(sc_sim_events_pop(&queue, &event) && event.kind == 6 && event.time_ps == 7,
       "an event at once");
    sc_sim_events_fini(&queue);
}

/* Pops one event at 10, then tries a push; what the queue says then. */
static enum sc_status status_after(uint64_t time_ps)
{
    struct sc_sim_events queue;
    struct sc_sim_event event;
    enum sc_status status;

    sc_sim_events_init(&queue);
    sc_sim_events_push(&queue, (struct sc_sim_event){ .time_ps = 10 });
    sc_sim_events_push(&queue, (struct sc_sim_event){ .time_ps = 30 });
    if (!sc_sim_events_pop(&queue, &event))
        bail("lost an event");
    sc_sim_events_push(&queue, (struct sc_sim_event){ .time_ps = time_ps });
    status = sc_sim_events_status(&queue);
    sc_sim_events_push(&queue, (struct sc_sim_event){ .time_ps = 20 });
    if (status != SC_OK && (sc_sim_events_count(&queue) > 0 || sc_sim_events_pop(&queue, &event) ||
                            sc_sim_events_status(&queue) != status))
        bail("a stopped queue goes on");
    sc_sim_events_fini(&queue);
    return status;
}

static void test_failures(void)
{
    struct sc_sim_events queue;
    struct sc_sim_event event;

    is_int(status_after(10), SC_OK, "an event now");
    is_int(status_after(9), SC_EDOMAIN, "an event before now");
    is_int(status_after(SC_SIM_NEVER_PS), SC_ERANGE, "an event that never comes");
    is_int(status_after(SC_SIM_NEVER_PS - 1), SC_OK, "the last possible event");

    sc_sim_events_init(&queue);
    sc_sim_events_push_after(&queue, 10, (struct sc_sim_event){ .kind = 0 });
    ok(sc_sim_events_pop(&queue, &event), "one event");
    sc_sim_events_push_after(&queue, UINT64_MAX - 5, (struct sc_sim_event){ .kind = 0 });
    is_int(sc_sim_events_status(&queue), SC_ERANGE, "a delay that overflows the clock");
    sc_sim_events_clear(&queue);
    is_int(sc_sim_events_status(&queue), SC_OK, "clear forgets that");
    is_int(sc_sim_events_reserve(&queue, SIZE_MAX / 8), SC_ENOSPACE, "more than a size can say");
    is_int(sc_sim_events_reserve(&queue, 1000), SC_OK, "room for 1000");
    ok(queue.capacity >= 1000 && sc_sim_events_count(&queue) == 0, "that is empty");
    sc_sim_events_fini(&queue);
}

static void test_time(void)
{
    ok(sc_sim_ps_from_s(20e-6) == 20000000, "20 us");
    ok(sc_sim_ps_round(2.5) == 3 && sc_sim_ps_round(2.49) == 2, "to the nearest");
    ok(sc_sim_ps_round(0.49) == 0 && sc_sim_ps_round(-7.0) == 0, "not below 0");
    ok(sc_sim_ps_round(0x1p53 + 2.0) == (UINT64_C(1) << 53) + 2, "no rounding of whole numbers");
    ok(sc_sim_ps_round(0x1p64) == SC_SIM_NEVER_PS && sc_sim_ps_from_s(INFINITE) == SC_SIM_NEVER_PS,
       "never");
    ok(sc_sim_ps_from_s(NOT_A_NUMBER) == SC_SIM_NEVER_PS, "nor at no number");
    ok(sc_sim_ps_add(UINT64_MAX - 1, 2) == SC_SIM_NEVER_PS && sc_sim_ps_add(1, 2) == 3, "sums");
}

/* ---- Random numbers ---- */

static void test_vectors(void)
{
    /* Vectors of xoshiro256** and splitmix64 that other libraries publish. */
    static const uint64_t xoshiro[] = { UINT64_C(11520),
                                        UINT64_C(0),
                                        UINT64_C(1509978240),
                                        UINT64_C(1215971899390074240),
                                        UINT64_C(1216172134540287360),
                                        UINT64_C(607988272756665600),
                                        UINT64_C(16172922978634559625),
                                        UINT64_C(8476171486693032832),
                                        UINT64_C(10595114339597558777),
                                        UINT64_C(2904607092377533576) };
    static const uint64_t splitmix[] = {
        UINT64_C(6457827717110365317), UINT64_C(3203168211198807973), UINT64_C(9817491932198370423),
        UINT64_C(4593380528125082431), UINT64_C(16408922859458223821)
    };
    /* Big integers and shifts, in another language. */
    static const uint64_t made[] = { UINT64_C(17601302194867058639), UINT64_C(18228661720310958946),
                                     UINT64_C(17552638858583509858) };
    struct sc_sim_rng rng = { { 1, 2, 3, 4 } };
    uint64_t state = 1234567, last = 0;
    size_t right = 0;

    for (size_t i = 0; i < COUNT(xoshiro); i++)
        right += sc_sim_rng_next(&rng) == xoshiro[i];
    is_int((long long)right, COUNT(xoshiro), "xoshiro256** from {1, 2, 3, 4}");
    for (size_t i = COUNT(xoshiro); i < 1000000; i++)
        last = sc_sim_rng_next(&rng);
    ok(last == UINT64_C(11664327041153381158), "its millionth number");
    right = 0;
    for (size_t i = 0; i < COUNT(splitmix); i++)
        right += sc_sim_splitmix64(&state) == splitmix[i];
    is_int((long long)right, COUNT(splitmix), "splitmix64 from 1234567");
    ok(sc_sim_rng_hash(1, 2, 3) == UINT64_C(7702586659592502839) &&
           sc_sim_rng_hash(0, 0, 0) == UINT64_C(2558736989570252433),
       "hash of master, run and stream");
    rng = sc_sim_rng_make(1, 2, 3);
    right = 0;
    for (size_t i = 0; i < COUNT(made); i++)
        right += sc_sim_rng_next(&rng) == made[i];
    is_int((long long)right, COUNT(made), "and what comes from it");
}

enum { DRAWS = 200000 };

struct sample {
    double last; /* for the correlation of neighbours */
    struct sc_sim_moments value, square, product;
};

static void sample_add(struct sample *sample, double value, double mean)
{
    const double centred = value - mean;

    sc_sim_moments_add(&sample->value, value);
    sc_sim_moments_add(&sample->square, centred * centred);
    if (sample->value.count > 1)
        sc_sim_moments_add(&sample->product, centred * sample->last);
    sample->last = centred;
}

/* |got - want| in standard errors. */
static double deviation(const struct sc_sim_moments *got, double want)
{
    const double error = sqrt(sc_sim_moments_variance(got) / (double)got->count);

    return fabs(got->mean - want) / error;
}

static void check_sample(const struct sample *sample, double mean, double variance,
                         const char *name)
{
    ok(deviation(&sample->value, mean) < 5.0, "%s: mean", name);
    ok(deviation(&sample->square, variance) < 5.0, "%s: variance", name);
    ok(deviation(&sample->product, 0.0) < 5.0, "%s: neighbours do not correlate", name);
}

static void test_moments_of_draws(void)
{
    struct sc_sim_rng rng = sc_sim_rng_make(6, 0, 0);
    struct sample uniform = { 0 }, exponential = { 0 }, normal = { 0 }, geometric = { 0 };
    struct sample rare = { 0 }, coin = { 0 };

    for (int i = 0; i < DRAWS; i++) {
        sample_add(&uniform, sc_sim_rng_uniform(&rng), 0.5);
        sample_add(&exponential, sc_sim_rng_exponential(&rng, 3.0), 3.0);
        sample_add(&normal, sc_sim_rng_normal(&rng), 0.0);
        sample_add(&geometric, (double)sc_sim_rng_geometric(&rng, 0.3), 0.7 / 0.3);
        sample_add(&rare, (double)sc_sim_rng_geometric(&rng, 1e-12), 1e12);
        sample_add(&coin, sc_sim_rng_bernoulli(&rng, 0.2) ? 1.0 : 0.0, 0.2);
    }
    check_sample(&uniform, 0.5, 1.0 / 12.0, "uniform");
    check_sample(&exponential, 3.0, 9.0, "exponential");
    check_sample(&normal, 0.0, 1.0, "normal");
    check_sample(&geometric, 0.7 / 0.3, 0.7 / 0.09, "geometric");
    check_sample(&rare, 1e12, 1e24, "geometric, rarely");
    check_sample(&coin, 0.2, 0.16, "Bernoulli");
    ok(uniform.value.min >= 0.0 && uniform.value.max < 1.0, "uniform is in [0, 1)");
    ok(exponential.value.min >= 0.0 && exponential.value.max < 3.0 * 36.8, "exponential range");
}

enum { CELLS_MAX = 1000 };

static bool chi_square_ok(const uint64_t *seen, size_t cells)
{
    double total = 0.0, sum = 0.0, p;

    for (size_t i = 0; i < cells; i++)
        total += (double)seen[i];
    for (size_t i = 0; i < cells; i++) {
        const double expected = total / (double)cells, off = (double)seen[i] - expected;

        sum += off * off / expected;
    }
    p = gsl_cdf_chisq_Q(sum, (double)(cells - 1));
    return p > 1e-5 && p < 1.0 - 1e-5;
}

/* Numbers below n by their place in `cells` equal parts, and by remainder; cells divide n. */
static bool below_ok(uint64_t n, size_t cells)
{
    struct sc_sim_rng rng = sc_sim_rng_make(7, n, 0);
    uint64_t parts[CELLS_MAX] = { 0 }, remainders[CELLS_MAX] = { 0 };

    for (int i = 0; i < DRAWS; i++) {
        const uint64_t drawn = sc_sim_rng_below(&rng, n);

        if (drawn >= n)
            return false;
        parts[drawn / (n / cells)]++;
        remainders[drawn % cells]++;
    }
    return chi_square_ok(parts, cells) && chi_square_ok(remainders, cells);
}

/* Whether cdf(draw) is uniform, in 100 cells. */
static bool shape_ok(double (*draw)(struct sc_sim_rng *rng), double (*cdf)(double value))
{
    struct sc_sim_rng rng = sc_sim_rng_make(8, 0, 0);
    uint64_t seen[100] = { 0 };

    for (int i = 0; i < DRAWS; i++)
        seen[(size_t)fmin(99.0, 100.0 * cdf(draw(&rng)))]++;
    return chi_square_ok(seen, COUNT(seen));
}

static double draw_exponential(struct sc_sim_rng *rng)
{
    return sc_sim_rng_exponential(rng, 1.0);
}

static double draw_geometric(struct sc_sim_rng *rng)
{
    return (double)sc_sim_rng_geometric(rng, 0.01);
}

static double cdf_exponential(double value)
{
    return -expm1(-value);
}

/* Two numbers of which the second is from another stream or run. */
static bool pairs_ok(struct sc_sim_rng a, struct sc_sim_rng b)
{
    uint64_t seen[400] = { 0 };

    for (int i = 0; i < DRAWS; i++)
        seen[sc_sim_rng_below(&a, 20) * 20 + sc_sim_rng_below(&b, 20)]++;
    return chi_square_ok(seen, COUNT(seen));
}

static void test_shapes(void)
{
    ok(below_ok(2, 2) && below_ok(3, 3) && below_ok(10, 10) && below_ok(1000, 1000),
       "below a small number");
    /* Without drawing again, a third of these, by part or remainder, comes twice as often. */
    ok(below_ok(UINT64_C(3) << 62, 3), "below 3/4 of 2^64");
    ok(below_ok(UINT64_C(3) << 61, 96), "below 3/8 of 2^64");
    ok(below_ok(UINT64_MAX, 255), "below 2^64 - 1");
    ok(shape_ok(draw_exponential, cdf_exponential), "exponential shape");
    ok(shape_ok(sc_sim_rng_normal, gsl_cdf_ugaussian_P), "normal shape");
    ok(pairs_ok(sc_sim_rng_make(0, 0, 0), sc_sim_rng_make(0, 0, 1)), "streams are independent");
    ok(pairs_ok(sc_sim_rng_make(0, 0, 0), sc_sim_rng_make(0, 1, 0)), "runs are independent");
    ok(pairs_ok(sc_sim_rng_make(0, 1, 0), sc_sim_rng_make(0, 0, 1)), "run 1 is not stream 1");
    ok(pairs_ok(sc_sim_rng_make(1, 0, 0), sc_sim_rng_make(0, 1, 0)), "seed 1 is not run 1");
}

/* From the states whose next number is the least and the largest there is. */
static void test_edges_of_draws(void)
{
    const struct sc_sim_rng zero = { { 1, 0, 2, 3 } },
                            ones = { { 1, UINT64_C(0x4fc71c71c71c71c7), 2, 3 } };
    struct sc_sim_rng rng = zero;
    bool alike = true;

    ok(sc_sim_rng_next(&rng) == 0, "a state whose next number is 0");
    rng = ones;
    ok(sc_sim_rng_next(&rng) == UINT64_MAX, "and one where it is the largest");
    rng = zero;
    near(sc_sim_rng_exponential(&rng, 5.0), 0.0, 0.0, 0.0, "least exponential");
    rng = ones;
    near(sc_sim_rng_exponential(&rng, 5.0), 5.0 * 53.0 * log(2.0), 1e-15, 0.0,
         "largest exponential");
    rng = zero;
    near(sc_sim_rng_normal(&rng), gsl_cdf_ugaussian_Pinv(0x1p-53), 1e-15, 0.0, "least normal");
    rng = ones;
    near(sc_sim_rng_normal(&rng), gsl_cdf_ugaussian_Qinv(0x1p-53), 1e-15, 0.0, "largest normal");
    rng = zero;
    ok(sc_sim_rng_geometric(&rng, 0.1) == 0, "least geometric");
    rng = ones;
    ok(sc_sim_rng_geometric(&rng, 1e-20) == UINT64_MAX, "largest geometric");
    rng = zero;
    ok(!sc_sim_rng_bernoulli(&rng, 0.0), "never");
    rng = ones;
    ok(sc_sim_rng_uniform(&rng) == 1.0 - 0x1p-53, "largest uniform");
    for (int i = 0; i < 1000; i++)
        alike = alike && sc_sim_rng_bernoulli(&rng, 1.0) && sc_sim_rng_geometric(&rng, 1.0) == 0 &&
                sc_sim_rng_below(&rng, 1) == 0;
    ok(alike, "always");
    near(sc_sim_rng_exponential(&rng, 0.0), 0.0, 0.0, 0.0, "exponential of mean 0");
}

/* FNV-1a over the bits of what is drawn: the same with any compiler and C library. */
static uint64_t hash_of_draws(double (*draw)(struct sc_sim_rng *rng))
{
    struct sc_sim_rng rng = sc_sim_rng_make(15, 0, 0);
    uint64_t hash = UINT64_C(0xcbf29ce484222325), bits;

    for (int i = 0; i < DRAWS; i++) {
        const double drawn = draw(&rng);

        memcpy(&bits, &drawn, sizeof bits);
        hash = (hash ^ bits) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static void test_bytes(void)
{
    ok(hash_of_draws(draw_exponential) == UINT64_C(0x7144d3600c4aa04e), "exponential, to the bit");
    ok(hash_of_draws(sc_sim_rng_normal) == UINT64_C(0xa7b7a8e30fa1d610), "normal, to the bit");
    ok(hash_of_draws(draw_geometric) == UINT64_C(0xd24dcfca72598c25), "geometric, to the bit");
}

static void test_normal_quantile(void)
{
    struct sc_sim_rng rng = sc_sim_rng_make(9, 0, 0);
    double worst = 0.0;

    for (int i = 0; i < 20000; i++) {
        const double u = sc_sim_rng_uniform(&rng) + 0x1p-60;
        const double p = i % 2 == 0 ? u : pow(10.0, -300.0 * u);
        const double want = gsl_cdf_ugaussian_Pinv(p);

        worst = fmax(worst, fabs(sc_sim_normal_quantile(p) - want) / fabs(want));
    }
    ok(worst < 2e-15, "normal quantile as GSL's: %.2g", worst);
    near(sc_sim_normal_quantile(0.975), 1.959963984540054, 1e-15, 0.0, "97.5 %%");
    near(sc_sim_normal_quantile(0.5), 0.0, 0.0, 0.0, "the median");
    near(sc_sim_normal_quantile(0.0), -INFINITE, 0.0, 0.0, "nothing below");
    near(sc_sim_normal_quantile(1.0), INFINITE, 0.0, 0.0, "nothing above");
    near(sc_sim_normal_quantile(1.5), NOT_A_NUMBER, 0.0, 0.0, "no probability");
}

/* ---- Statistics ---- */

static void test_moments(void)
{
    enum { N = 1000 };
    struct sc_sim_rng rng = sc_sim_rng_make(10, 0, 0);
    struct sc_sim_moments all = { 0 }, parts[2] = { { 0 }, { 0 } }, none = { 0 };
    double value[N], mean = 0.0, variance = 0.0;

    near(sc_sim_moments_mean(&all), NOT_A_NUMBER, 0.0, 0.0, "no mean of nothing");
    for (int i = 0; i < N; i++) {
        value[i] = 1e9 + sc_sim_rng_exponential(&rng, 1.0);
        mean += (value[i] - 1e9) / N;
        sc_sim_moments_add(&all, value[i]);
        if (i == 0)
            near(sc_sim_moments_variance(&all), NOT_A_NUMBER, 0.0, 0.0, "no variance of one");
        sc_sim_moments_add(&parts[i < 300 ? 0 : 1], value[i]);
    }
    for (int i = 0; i < N; i++)
        variance += (value[i] - 1e9 - mean) * (value[i] - 1e9 - mean) / (N - 1);
    near(sc_sim_moments_mean(&all) - 1e9, mean, 1e-6, 0.0, "mean of large numbers");
    near(sc_sim_moments_variance(&all), variance, 1e-6, 0.0, "their small variance");
    sc_sim_moments_merge(&parts[0], &none);
    sc_sim_moments_merge(&none, &parts[0]);
    sc_sim_moments_merge(&none, &parts[1]);
    near(sc_sim_moments_mean(&none), all.mean, 1e-15, 0.0, "mean of two parts");
    near(sc_sim_moments_variance(&none), variance, 1e-6, 0.0, "variance of two parts");
    ok(none.min == all.min && none.max == all.max && none.count == N, "range of two parts");
}

static void test_level(void)
{
    struct sc_sim_level level = { 0 };
    const uint64_t huge = UINT64_C(1) << 60;

    near(sc_sim_level_mean(&level, 0), NOT_A_NUMBER, 0.0, 0.0, "no mean over no time");
    sc_sim_level_set(&level, 10, 4);
    sc_sim_level_up(&level, 20, 2);
    sc_sim_level_down(&level, 30, 5);
    near(sc_sim_level_mean(&level, 50), (40.0 + 60.0 + 20.0) / 50.0, 0.0, 0.0, "mean over time");
    ok(level.level == 1 && level.peak == 6, "level and peak");
    sc_sim_level_restart(&level, 40);
    near(sc_sim_level_mean(&level, 50), 1.0, 0.0, 0.0, "mean without the warm-up");
    ok(level.peak == 1, "peak without the warm-up");
    sc_sim_level_set(&level, 40, huge);
    ok(sc_sim_level_area(&level, 40 + huge) == (sc_sim_wide)huge * huge, "areas up to 2^128");
}

/* Jobs with random overlapping stays; every `lost`-th is forgotten. */
static struct sc_sim_little_report stays(uint64_t lost, bool stamped)
{
    struct sc_sim_rng rng = sc_sim_rng_make(11, 0, 0);
    struct sc_sim_little little = { 0 };
    struct sc_sim_events queue;
    struct sc_sim_event event;
    uint64_t jobs = 0;

    sc_sim_events_init(&queue);
    sc_sim_events_push(&queue, (struct sc_sim_event){ .kind = 0 });
    while (sc_sim_events_pop(&queue, &event)) {
        if (event.kind == 1) {
            sc_sim_little_depart(&little, event.time_ps, stamped ? event.wide : event.time_ps);
            continue;
        }
        sc_sim_little_arrive(&little, event.time_ps);
        if (++jobs % lost != 0)
            sc_sim_events_push_after(&queue, sc_sim_rng_below(&rng, 5000),
                                     (struct sc_sim_event){ .kind = 1, .wide = event.time_ps });
        if (jobs < 10000)
            sc_sim_events_push_after(&queue, sc_sim_rng_below(&rng, 1000),
                                     (struct sc_sim_event){ .kind = 0 });
    }
    sc_sim_events_fini(&queue);
    return sc_sim_little_report(&little, queue.now_ps > 0 ? queue.now_ps : event.time_ps);
}

static void test_little(void)
{
    struct sc_sim_little little = { 0 };
    struct sc_sim_little_report report = sc_sim_little_report(&little, 0);

    near(report.number, NOT_A_NUMBER, 0.0, 0.0, "nothing over no time");
    report = sc_sim_little_report(&little, 10);
    near(report.error, 0.0, 0.0, 0.0, "nothing came: no error");
    near(report.time_s, NOT_A_NUMBER, 0.0, 0.0, "and no time");
    sc_sim_little_arrive(&little, 10);
    near(sc_sim_little_report(&little, 30).error, 1.0, 0.0, 0.0, "nothing left: an error of 1");
    sc_sim_little_arrive(&little, 20);
    sc_sim_little_depart(&little, 30, 10);
    sc_sim_little_depart(&little, 40, 20);
    report = sc_sim_little_report(&little, 50);
    near(report.number, 40.0 / 50.0, 1e-15, 0.0, "number of two jobs");
    near(report.rate_per_s, 2.0 / 50e-12, 1e-15, 0.0, "their rate");
    near(report.time_s, 20e-12, 1e-15, 0.0, "their time");
    near(report.error, 0.0, 0.0, 0.0, "no error");

    near(stays(20000, true).error, 0.0, 0.0, 1e-15, "10000 jobs: no error at all");
    ok(stays(50, true).error > 0.1, "jobs that are lost are found out");
    ok(stays(20000, false).error > 0.9, "jobs stamped wrongly are found out");
    sc_sim_little_restart(&little, 60);
    near(sc_sim_little_report(&little, 70).number, 0.0, 0.0, 0.0, "nothing after a restart");
}

/* The batches of n values i^2, against sums of the same values. */
static bool batches_right(uint64_t n)
{
    struct sc_sim_batches batches = { { 0.0 }, 0, 0, 0 };
    bool right;

    for (uint64_t i = 0; i < n; i++)
        sc_sim_batches_add(&batches, (double)(i * i));
    right = batches.full * batches.length + batches.partial == n && batches.full < SC_SIM_BATCHES &&
            (n < 32 || batches.full >= 32);
    for (size_t b = 0; b < batches.full; b++) {
        double sum = 0.0;

        for (uint64_t i = b * batches.length; i < (b + 1) * batches.length; i++)
            sum += (double)(i * i);
        right = right && fabs(batches.mean[b] - sum / (double)batches.length) <= 1e-12 * sum;
    }
    return right;
}

/* The share of intervals that hold the true mean 0 of n independent numbers. */
static double coverage(int n, double confidence)
{
    enum { TRIALS = 2000 };
    struct sc_sim_rng rng = sc_sim_rng_make(12, 0, 0);
    int held = 0;

    for (int trial = 0; trial < TRIALS; trial++) {
        struct sc_sim_batches batches = { { 0.0 }, 0, 0, 0 };
        struct sc_sim_interval interval;

        for (int i = 0; i < n; i++)
            sc_sim_batches_add(&batches, sc_sim_rng_normal(&rng));
        interval = sc_sim_batches_interval(&batches, 0, confidence);
        held += fabs(interval.mean) <= interval.half_width;
    }
    return held / (double)TRIALS;
}

static void test_batches(void)
{
    struct sc_sim_rng rng = sc_sim_rng_make(13, 0, 0);
    struct sc_sim_batches batches = { { 0.0 }, 0, 0, 0 };
    struct sc_sim_interval interval = sc_sim_batches_interval(&batches, 0, 0.9);
    size_t warmup;
    bool right = true;

    near(interval.mean, NOT_A_NUMBER, 0.0, 0.0, "no mean without a batch");
    is_int((long long)sc_sim_batches_warmup(&batches), 0, "no warm-up without a batch");
    sc_sim_batches_add(&batches, 3.0);
    interval = sc_sim_batches_interval(&batches, 0, 0.9);
    near(interval.mean, 3.0, 0.0, 0.0, "the mean of one batch");
    near(interval.half_width, NOT_A_NUMBER, 0.0, 0.0, "and no interval");
    sc_sim_batches_add(&batches, 5.0);
    interval = sc_sim_batches_interval(&batches, 0, 0.99);
    near(interval.half_width, 63.656741162871583, 1e-12, 0.0, "two batches: t of one freedom");

    for (uint64_t n = 0; n < 1000; n += 7)
        right = right && batches_right(n);
    ok(right && batches_right(63) && batches_right(64) && batches_right(65) && batches_right(4096),
       "batches of any number");
    near(coverage(10, 0.9), 0.9, 0.0, 5.0 * 0.0067, "90 %% intervals of 10");
    near(coverage(1000, 0.9), 0.9, 0.0, 5.0 * 0.0067, "90 %% intervals of 1000");
    near(coverage(1000, 0.99), 0.99, 0.0, 5.0 * 0.0022, "99 %% intervals of 1000");

    batches = (struct sc_sim_batches){ { 0.0 }, 0, 0, 0 };
    for (int i = 0; i < 5000; i++)
        sc_sim_batches_add(&batches, sc_sim_rng_normal(&rng) + (i < 600 ? 20.0 : 0.0));
    warmup = sc_sim_batches_warmup(&batches);
    interval = sc_sim_batches_interval(&batches, warmup, 0.99);
    ok(warmup * batches.length >= 600 && warmup <= batches.full / 2, "the warm-up is found");
    ok(fabs(interval.mean) < interval.half_width, "and does no harm without it");
}

static void test_student(void)
{
    static const double confidences[] = { 0.01, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999 };
    static const uint64_t freedoms[] = {
        1, 2, 3, 4, 5, 31, 32, 62, 63, 399, 400, 401, 402, 100000
    };
    double worst = 0.0;

    for (size_t i = 0; i < COUNT(confidences); i++)
        for (size_t j = 0; j < COUNT(freedoms); j++) {
            const double want = gsl_cdf_tdist_Qinv(0.5 - 0.5 * confidences[i], (double)freedoms[j]);
            const double got = sc_sim_student_quantile(confidences[i], freedoms[j]);

            worst = fmax(worst, fabs(got - want) / want);
        }
    ok(worst < 1e-9, "Student quantiles as GSL's: %.2g", worst);
    near(sc_sim_student_quantile(0.9, 31), 1.695519, 1e-6, 0.0, "tabled: 90 %%, 31");
    near(sc_sim_student_quantile(0.0, 31), 0.0, 0.0, 1e-15, "0 with probability 0");
    near(sc_sim_student_quantile(1.0, 31), NOT_A_NUMBER, 0.0, 0.0, "no certainty");
    near(sc_sim_student_quantile(0.9, 0), NOT_A_NUMBER, 0.0, 0.0, "no freedom");
}

static int by_value(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

/* The worst relative error of quantiles of numbers below 2^bits on a log scale. */
static double quantile_error(double bits, struct sc_sim_histogram *histogram)
{
    enum { N = 5000 };
    struct sc_sim_rng rng = sc_sim_rng_make(14, 0, 0);
    uint64_t value[N];
    double worst = 0.0;

    for (int i = 0; i < N; i++) {
        value[i] = sc_sim_ps_round(pow(2.0, bits * sc_sim_rng_uniform(&rng)));
        sc_sim_histogram_add(histogram, value[i]);
    }
    qsort(value, N, sizeof value[0], by_value);
    for (int i = 0; i <= 1000; i++) {
        const double p = i / 1000.0;
        const int rank = (int)ceil(p * N);
        const double want = (double)value[rank > 0 ? rank - 1 : 0];

        worst = fmax(worst, fabs(sc_sim_histogram_quantile(histogram, p) - want) / want);
    }
    return worst;
}

static void test_histogram(void)
{
    struct sc_sim_histogram small = { 0 }, wide = { 0 }, both = { 0 };

    near(sc_sim_histogram_quantile(&small, 0.5), NOT_A_NUMBER, 0.0, 0.0, "no median of nothing");
    near(sc_sim_histogram_mean(&small), NOT_A_NUMBER, 0.0, 0.0, "no mean of nothing");
    near(quantile_error(6.9, &small), 0.0, 0.0, 0.0, "quantiles below 128 are exact");
    near(quantile_error(63.9, &wide), 0.0, 0.0, 1.0 / 128.0, "others within 0.8 %%");
    near(sc_sim_histogram_quantile(&wide, 1.0), (double)wide.max, 0.0, 0.0, "the largest");
    near(sc_sim_histogram_quantile(&wide, 0.0), (double)wide.min, 0.0, 0.0, "the least");
    near(sc_sim_histogram_quantile(&wide, -0.1), NOT_A_NUMBER, 0.0, 0.0, "no probability");
    sc_sim_histogram_merge(&both, &small);
    sc_sim_histogram_merge(&both, &wide);
    ok(both.count == 10000 && both.max == wide.max && both.min == small.min, "two together");
    near(sc_sim_histogram_mean(&both),
         0.5 * (sc_sim_histogram_mean(&small) + sc_sim_histogram_mean(&wide)), 1e-15, 0.0,
         "their mean");
    sc_sim_histogram_add(&both, UINT64_MAX);
    sc_sim_histogram_add(&both, 0);
    near(sc_sim_histogram_quantile(&both, 1.0), 0x1p64, 0.0, 0.0, "the largest of all");
    near(sc_sim_histogram_quantile(&both, 0.0), 0.0, 0.0, 0.0, "the least of all");
}

/* ---- Resources ---- */

static void test_station(void)
{
    struct sc_sim_node node[4] = { { 0 } };
    struct sc_sim_station station;
    struct sc_error err = { 0 };

    is_int(sc_sim_station_init(&station, 0, &err), SC_EDOMAIN, "no server is no station");
    is_str(err.field, "servers", "and says so");
    is_int(sc_sim_station_init(&station, 2, NULL), SC_OK, "two servers");
    ok(sc_sim_station_arrive(&station, 0, &node[0]), "the first is served");
    ok(sc_sim_station_arrive(&station, 10, &node[1]), "the second is served");
    ok(!sc_sim_station_is_free(&station), "both servers are busy");
    ok(!sc_sim_station_arrive(&station, 20, &node[2]), "the third waits");
    ok(!sc_sim_station_arrive(&station, 20, &node[3]), "so does the fourth");
    ok(sc_sim_station_next(&station, 20) == NULL, "no server is free");
    sc_sim_station_finish(&station, 30, &node[1]);
    ok(!sc_sim_station_is_free(&station), "a free server is for those that wait");
    ok(sc_sim_station_next(&station, 30) == &node[2], "the third is next");
    ok(sc_sim_station_next(&station, 30) == NULL, "one server, one job");
    sc_sim_station_finish(&station, 40, &node[0]);
    ok(sc_sim_station_next(&station, 40) == &node[3], "the fourth is next");
    sc_sim_station_finish(&station, 50, &node[2]);
    sc_sim_station_finish(&station, 60, &node[3]);
    ok(sc_sim_station_next(&station, 60) == NULL, "nobody waits");
    near(sc_sim_station_utilisation(&station, 100), (40.0 + 20.0 + 20.0 + 20.0) / 200.0, 1e-15, 0.0,
         "utilisation");
    near(sc_sim_station_wait_s(&station), (10e-12 + 20e-12) / 4.0, 1e-15, 0.0, "mean wait");
    near(sc_sim_little_report(&station.little, 100).number, 130.0 / 100.0, 1e-15, 0.0,
         "mean number");
    near(sc_sim_little_report(&station.little, 100).error, 0.0, 0.0, 1e-15, "Little's law");
    sc_sim_station_restart(&station, 100);
    near(sc_sim_station_utilisation(&station, 110), 0.0, 0.0, 0.0, "idle after a restart");
    near(sc_sim_station_wait_s(&station), NOT_A_NUMBER, 0.0, 0.0, "no wait yet");
}

static void test_link(void)
{
    struct sc_sim_link link;
    uint64_t end_ps = 0;
    bool exact = true;

    is_int(sc_sim_link_init(&link, 0, NULL), SC_EDOMAIN, "a link needs bandwidth");
    is_int(sc_sim_link_init(&link, UINT64_C(3000000000000), NULL), SC_OK, "3 bytes per ps");
    for (uint64_t i = 1; i <= 1000; i++) {
        end_ps = sc_sim_link_send(&link, 0, 4);
        exact = exact && end_ps == 4 * i / 3;
    }
    ok(exact && end_ps == 1333, "fractions of a picosecond add up");
    near(sc_sim_link_utilisation(&link, 1000), 1.0, 0.0, 0.0, "busy all the time");
    sc_sim_link_restart(&link, 1000);
    near(sc_sim_link_utilisation(&link, 1666), 0.5, 0.0, 0.0, "then half of the time");
    for (int i = 0; i < 1000; i++)
        sc_sim_link_deliver(&link, 1700, 0);
    ok(sc_sim_link_send(&link, 2000, 2) == 2000, "an idle link owes no fraction");
    ok(sc_sim_link_send(&link, 2000, 4) == 2002, "the next one waits for its");
    near((double)link.bytes, 6.0, 0.0, 0.0, "bytes since the restart");
    near(sc_sim_little_report(&link.little, 2000).number, 0.7 * 1000.0, 1e-15, 0.0, "mean number");
    ok(sc_sim_link_send(&link, 2000, UINT64_C(3000000000000) * 3600) ==
           2002 + UINT64_C(3600000000000000),
       "an hour in one transfer");
    is_int(sc_sim_link_init(&link, 1, NULL), SC_OK, "1 byte per second");
    ok(sc_sim_link_send(&link, 5, UINT64_MAX) == SC_SIM_NEVER_PS, "a transfer that never ends");
    ok(sc_sim_link_send(&link, 5, 1) == SC_SIM_NEVER_PS, "nor does the next");
}

static void test_pool(void)
{
    struct sc_sim_node a = { .tokens = 3 }, b = { .tokens = 4 }, c = { .tokens = 1 };
    struct sc_sim_node d = { .tokens = 1 };
    struct sc_sim_pool pool;

    is_int(sc_sim_pool_init(&pool, 0, NULL), SC_EDOMAIN, "no token is no pool");
    is_int(sc_sim_pool_init(&pool, 5, NULL), SC_OK, "five tokens");
    ok(sc_sim_pool_take(&pool, 0, &a), "three are taken");
    ok(!sc_sim_pool_take(&pool, 10, &b), "four are not there");
    ok(!sc_sim_pool_take(&pool, 20, &c), "one is, but somebody waits already");
    ok(sc_sim_pool_available(&pool) == 2, "two are left");
    sc_sim_pool_give(&pool, 30, &a);
    ok(sc_sim_pool_next(&pool, 30) == &b, "who waits for four gets them");
    ok(sc_sim_pool_next(&pool, 30) == &c, "who waits for one, too");
    ok(sc_sim_pool_next(&pool, 30) == NULL, "nobody else");
    ok(!sc_sim_pool_take(&pool, 30, &d), "all are held");
    sc_sim_pool_give(&pool, 40, &b);
    ok(sc_sim_pool_next(&pool, 40) == &d, "until some are given back");
    near(sc_sim_pool_utilisation(&pool, 40), (3.0 * 30.0 + 5.0 * 10.0) / (5.0 * 40.0), 1e-15, 0.0,
         "share held");
    near(sc_sim_pool_wait_s(&pool), (20e-12 + 10e-12 + 10e-12) / 4.0, 1e-15, 0.0, "mean wait");
    sc_sim_pool_give(&pool, 50, &c);
    sc_sim_pool_give(&pool, 50, &d);
    near(sc_sim_little_report(&pool.little, 50).error, 0.0, 0.0, 1e-15, "Little's law");
    sc_sim_pool_restart(&pool, 50);
    near(sc_sim_pool_utilisation(&pool, 60), 0.0, 0.0, 0.0, "idle after a restart");
}

int main(void)
{
    plan(187);
    test_order();
    test_peek();
    test_failures();
    test_time();
    test_vectors();
    test_moments_of_draws();
    test_shapes();
    test_edges_of_draws();
    test_bytes();
    test_normal_quantile();
    test_moments();
    test_level();
    test_little();
    test_batches();
    test_student();
    test_histogram();
    test_station();
    test_link();
    test_pool();
    return done();
}
