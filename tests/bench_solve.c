/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Solves per second: a search of the whole range of a key, interval included, one core. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "solving.h"

static double now_s(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

enum { ROUNDS = 5, POINTS = 128 };

static const struct bench {
    const char *system, *word, *key, *condition;
    double limit; /* changes a little from call to call */
    size_t calls;
} benches[] = {
    { "hbf", "model=llama-70b", "buffer", "slowdown <= 1", 1.1, 200 },
    { "uvm", "app=k-means", "footprint", "time_s <= 1s", 2.0, 200 },
    { "stream", "loads=64", "bandwidth", "slowdown <= 1", 1.5, 200 },
    { "prefetch", "kernel=stencil", "memory_bandwidth", "slowdown <= 1", 0.8, 2 },
};

static void give_up(const struct problem *problem)
{
    problem_print(problem);
    exit(1);
}

/* Median over rounds. */
static double rate_of(const struct bench *bench, struct solving *solving,
                      struct conditions *conditions)
{
    double rates[ROUNDS];
    struct problem problem;
    for (size_t round = 0; round < ROUNDS; round++) {
        const double start_s = now_s();
        for (size_t i = 0; i < bench->calls; i++) {
            struct search_spans spans[SEARCH_SIDES];
            conditions->items[0].limit = bench->limit * (1.0 + 1e-4 * (double)i);
            if (!solving_run(solving, SEARCH_SIDES, spans, &problem))
                give_up(&problem);
            search_fini(spans, SEARCH_SIDES);
        }
        rates[round] = (double)bench->calls / (now_s() - start_s);
    }
    qsort(rates, ROUNDS, sizeof rates[0], compare);
    return rates[ROUNDS / 2];
}

static void run(const struct bench *bench, struct catalog *catalog)
{
    static const struct options none = { 0 };
    const struct sc_system *system = sc_system_find(bench->system);
    const struct sc_field *field = sc_system_field(system, bench->key);
    struct problem problem;
    struct conditions conditions;
    struct sweep sweep;
    struct calibration *calibration = NULL;
    struct resolver *resolver = resolver_create(system, catalog, &problem);
    if (resolver == NULL || !calibration_load(system, catalog, &none, &calibration, &problem) ||
        !conditions_parse(system, calibration, bench->condition, &conditions, &problem) ||
        !sweep_parse(resolver, bench->word, &sweep, &problem))
        give_up(&problem);
    calibration_apply(calibration, resolver);
    struct setting settings[] = { sweep.values[0], { .field = field } };
    struct solving solving = {
        .system = system, .resolver = resolver, .calibration = calibration,
        .conditions = &conditions, .settings = settings, .count = 2, .points = POINTS,
        .low = { .field = field, .value = field->minimum },
        .high = { .field = field, .value = field->maximum },
    };
    printf("solve %-10s %-18s %8.4g /s\n", bench->system, bench->key,
           rate_of(bench, &solving, &conditions));
    sweep_fini(&sweep);
    calibration_destroy(calibration);
    resolver_destroy(resolver);
}

int main(void)
{
    struct catalog *catalog = catalog_create(NULL);
    if (catalog == NULL)
        return 1;
    for (size_t i = 0; i < sizeof benches / sizeof benches[0]; i++)
        run(&benches[i], catalog);
    catalog_destroy(catalog);
    return 0;
}
