/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How fast the simulator's event queue and random numbers are.
 *
 * The hold model: with n events pending, pop one and push it again later by a
 * random, exponential delay (Jones, An empirical comparison of priority-queue
 * and event-set implementations, Commun. ACM 29, 1986).  Side by side with a
 * plain binary heap that does the same work on the same events.
 */
#include "sim/event.h"
#include "sim/rng.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { DELAYS = 1 << 16, ROUNDS = 3 };

struct hold {
    uint64_t delay_ps[DELAYS]; /* drawn beforehand: not what is measured */
    size_t pending, holds;
    uint64_t checksum; /* of the events in their order */
};

static double now_s(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void delays_draw(struct hold *hold)
{
    struct sc_sim_rng rng = sc_sim_rng_make(1, 0, 0);

    for (size_t i = 0; i < DELAYS; i++)
        hold->delay_ps[i] = sc_sim_ps_round(sc_sim_rng_exponential(&rng, 1e6));
}

/* ---- A binary heap as in a textbook ---- */

struct plain {
    struct sc_sim_event event;
    uint64_t number;
};

static bool plain_less(const struct plain *a, const struct plain *b)
{
    if (a->event.time_ps != b->event.time_ps)
        return a->event.time_ps < b->event.time_ps;
    if (a->event.priority != b->event.priority)
        return a->event.priority < b->event.priority;
    return a->number < b->number;
}

static void plain_push(struct plain *heap, size_t *count, struct plain entry)
{
    size_t place = (*count)++;

    for (; place > 0 && plain_less(&entry, &heap[(place - 1) / 2]); place = (place - 1) / 2)
        heap[place] = heap[(place - 1) / 2];
    heap[place] = entry;
}

static struct plain plain_pop(struct plain *heap, size_t *count)
{
    const struct plain top = heap[0], last = heap[--*count];
    size_t place = 0, child;

    for (; (child = 2 * place + 1) < *count; place = child) {
        if (child + 1 < *count && plain_less(&heap[child + 1], &heap[child]))
            child++;
        if (!plain_less(&heap[child], &last))
            break;
        heap[place] = heap[child];
    }
    heap[place] = last;
    return top;
}

static double hold_plain_s(struct hold *hold)
{
    struct plain *const heap = calloc(hold->pending, sizeof *heap);
    uint64_t number = 0;
    double start_s = 0.0;
    size_t count = 0;

    if (heap == NULL)
        return 0.0;
    for (; number < hold->pending; number++)
        plain_push(
            heap, &count,
            (struct plain){ { .time_ps = hold->delay_ps[number % DELAYS], .a = (uint32_t)number },
                            number });
    hold->checksum = 0;
    /* As many holds before as events pending, to mix them. */
    for (size_t i = 0; i < hold->pending + hold->holds; i++) {
        struct plain entry = plain_pop(heap, &count);

        if (i == hold->pending)
            start_s = now_s();
        hold->checksum = hold->checksum * 31 + entry.event.a;
        entry.event.time_ps += hold->delay_ps[i % DELAYS];
        entry.number = number++;
        plain_push(heap, &count, entry);
    }
    free(heap);
    return now_s() - start_s;
}

/* ---- The simulator's ---- */

static double hold_events_s(struct hold *hold)
{
    struct sc_sim_events queue;
    struct sc_sim_event event;
    double start_s = 0.0;

    sc_sim_events_init(&queue);
    for (size_t i = 0; i < hold->pending; i++)
        sc_sim_events_push(&queue, (struct sc_sim_event){ .time_ps = hold->delay_ps[i % DELAYS],
                                                          .a = (uint32_t)i });
    hold->checksum = 0;
    for (size_t i = 0; i < hold->pending + hold->holds; i++) {
        if (i == hold->pending)
            start_s = now_s();
        if (!sc_sim_events_pop(&queue, &event))
            break;
        hold->checksum = hold->checksum * 31 + event.a;
        sc_sim_events_push_after(&queue, hold->delay_ps[i % DELAYS], event);
    }
    sc_sim_events_fini(&queue);
    return now_s() - start_s;
}

/* The best of a few rounds: what else runs on the machine only adds. */
static double best_s(double (*run_s)(struct hold *hold), struct hold *hold)
{
    double best = run_s(hold);

    for (int i = 1; i < ROUNDS; i++) {
        const double took = run_s(hold);

        if (took < best)
            best = took;
    }
    return best;
}

static bool bench_events(struct hold *hold, size_t pending, size_t holds)
{
    double ours_s, plain_s;
    uint64_t ours;

    hold->pending = pending;
    hold->holds = holds;
    ours_s = best_s(hold_events_s, hold);
    ours = hold->checksum;
    plain_s = best_s(hold_plain_s, hold);
    printf("%-28s %8.1f %8.1f %8.1fx\n",
           pending < 1000     ? "100 pending"
           : pending < 100000 ? "10 k pending"
                              : "1 M pending",
           (double)holds * 1e-6 / ours_s, (double)holds * 1e-6 / plain_s, plain_s / ours_s);
    if (ours != hold->checksum)
        fprintf(stderr, "bench_sim: the two queues differ in their order\n");
    return ours == hold->checksum;
}

/* ---- Random numbers ---- */

static double draw_bits(struct sc_sim_rng *rng)
{
    return (double)(sc_sim_rng_next(rng) & 1);
}

static double draw_below(struct sc_sim_rng *rng)
{
    return (double)sc_sim_rng_below(rng, 1000);
}

static double draw_exponential(struct sc_sim_rng *rng)
{
    return sc_sim_rng_exponential(rng, 1.0);
}

static double draw_geometric(struct sc_sim_rng *rng)
{
    return (double)sc_sim_rng_geometric(rng, 0.1);
}

static const struct {
    const char *name;
    double (*draw)(struct sc_sim_rng *rng);
} generators[] = {
    { "64 bits", draw_bits },        { "uniform", sc_sim_rng_uniform },
    { "below 1000", draw_below },    { "exponential", draw_exponential },
    { "normal", sc_sim_rng_normal }, { "geometric", draw_geometric },
};

static void bench_draws(size_t draws)
{
    for (size_t g = 0; g < sizeof generators / sizeof generators[0]; g++) {
        struct sc_sim_rng rng = sc_sim_rng_make(2, 0, 0);
        const double start_s = now_s();
        double sum = 0.0, took_s;

        for (size_t i = 0; i < draws; i++)
            sum += generators[g].draw(&rng);
        took_s = now_s() - start_s;
        printf("%-28s %8.1f   (mean %.4f)\n", generators[g].name, (double)draws * 1e-6 / took_s,
               sum / (double)draws);
    }
}

int main(void)
{
    struct hold *const hold = calloc(1, sizeof *hold);
    bool same;

    if (hold == NULL)
        return EXIT_FAILURE;
    delays_draw(hold);
    printf("%-28s %8s %8s %9s\n", "million holds per second", "ours", "binary", "faster");
    same = bench_events(hold, 100, 10000000);
    same = bench_events(hold, 10000, 10000000) && same;
    same = bench_events(hold, 1000000, 3000000) && same;
    printf("\n%-28s %8s\n", "million numbers per second", "ours");
    bench_draws(50000000);
    free(hold);
    return same ? EXIT_SUCCESS : EXIT_FAILURE;
}
