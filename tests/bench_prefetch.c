/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How fast the simulator of `prefetch` is, on one core: warp instructions per
 * second of processor time over the kernels of the table, the best of a few rounds. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "prefetch_scenarios.h"
#include "sim/prefetch_engine.h"

enum { ROUNDS = 3 };

static double now_s(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Instructions of all kernels, or 0 when one did not run. */
static double run_all(const struct prefetch_world *world, const char *keys)
{
    double instructions = 0.0;

    for (size_t k = 0; k < world->kernel_count; k++) {
        const struct sc_prefetch s =
            prefetch_scenario(world, "kernel=%s %s", world->kernels[k], keys);
        const struct sc_prefetch_mechanisms m = sc_prefetch_mechanisms(&s);
        struct prefetch_result r;

        if (prefetch_engine_run(&s, &m, sc_sim_rng_make(1, 0, 0), false, &r) != SC_OK)
            return 0.0;
        instructions += (double)r.instructions;
    }
    return instructions;
}

static bool bench(const struct prefetch_world *world, const char *name, const char *keys,
                  double target)
{
    double best_s = 0.0, instructions = 0.0;

    for (int i = 0; i < ROUNDS; i++) {
        const double start_s = now_s();
        double took_s;

        instructions = run_all(world, keys);
        took_s = now_s() - start_s;
        if (i == 0 || took_s < best_s)
            best_s = took_s;
    }
    printf("%-36s %8.1f   (target %.0f)\n", name, 1e-6 * instructions / best_s, target);
    return instructions > 0.0;
}

int main(void)
{
    struct prefetch_world world;
    bool fine;

    prefetch_world_init(&world);
    printf("%-36s %8s\n", "million warp instructions per second", "ours");
    fine = bench(&world, "no prefetches", "policy=none", 5.0);
    fine = bench(&world, "Snake", "policy=sk", 2.0) && fine;
    fine = bench(&world, "Snake, never throttled", "policy=sk throttle=off", 2.0) && fine;
    fine = bench(&world, "SnakeCharmer", "policy=sk+sc", 2.0) && fine;
    prefetch_world_fini(&world);
    return fine ? EXIT_SUCCESS : EXIT_FAILURE;
}
