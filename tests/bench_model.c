/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Estimates per second through the library, one core, no text involved. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "stallcast.h"

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

enum { ROUNDS = 7, CALLS = 100000 };

/* Median over rounds; the buffer changes at every call, so that nothing can be
 * carried over from the last one. */
static double rate_hbf(int policy, double *sum)
{
    struct sc_hbf scenario;
    struct sc_hbf_answer answer;
    struct sc_error error;
    double rates[ROUNDS];
    sc_scenario_init(&sc_hbf_system, &scenario);
    scenario.layers = 80;
    scenario.hidden = 8192;
    scenario.heads = 64;
    scenario.kv_heads = 8;
    scenario.head_dim = 128;
    scenario.ffn = 28672;
    scenario.vocab = 128256;
    scenario.policy = policy;
    for (int round = 0; round < ROUNDS; round++) {
        const double start_s = now_s();
        for (int i = 0; i < CALLS; i++) {
            scenario.buffer_bytes = 8e6 + 320.0 * i;
            if (sc_hbf_system.estimate(&scenario, &answer, NULL, &error) != SC_OK)
                exit(1);
            *sum += answer.slowdown;
        }
        rates[round] = CALLS / (now_s() - start_s);
    }
    qsort(rates, ROUNDS, sizeof rates[0], compare);
    return rates[ROUNDS / 2];
}

static double rate_stream(double *sum)
{
    struct sc_error error;
    _Alignas(max_align_t) unsigned char scenario[SC_SCENARIO_MAX], answer[SC_ANSWER_MAX];
    const struct sc_field *warps = sc_system_field(&sc_stream_system, "warps_per_sm");
    double rates[ROUNDS];
    sc_scenario_init(&sc_stream_system, scenario);
    for (int round = 0; round < ROUNDS; round++) {
        const double start_s = now_s();
        for (int i = 0; i < CALLS; i++) {
            sc_field_set(warps, scenario, 1 + i % 64);
            if (sc_stream_system.estimate(scenario, answer, NULL, &error) != SC_OK)
                exit(1);
            *sum += *(const double *)(const void *)answer;
        }
        rates[round] = CALLS / (now_s() - start_s);
    }
    qsort(rates, ROUNDS, sizeof rates[0], compare);
    return rates[ROUNDS / 2];
}

int main(void)
{
    const struct sc_field *policy = sc_system_field(&sc_hbf_system, "policy");
    double sum = 0.0;
    for (size_t i = 0; i < policy->choice_count; i++)
        printf("hbf %-22s %6.2f M estimates/s\n", sc_field_choice(policy, i)->name,
               rate_hbf((int)i, &sum) / 1e6);
    printf("stream %-19s %6.2f M estimates/s\n", "", rate_stream(&sum) / 1e6);
    return sum > 0.0 ? 0 : 1;
}
