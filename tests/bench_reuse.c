/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reuse distances: our meter beside the textbook's tree, in the same run, in processor time (one
 * thread), which other work on the machine disturbs less than wall time.
 *
 * usage: bench_reuse [FOLDER]; with a folder the Zipf trace is left there as zipf.u64 and
 * zipf.txt, for the command line. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "reuse_distance.h"
#include "sim/rng.h"

enum { ACCESSES = 10000000, IDS = 1000000, ROUNDS = 3, POINTS = 1000 };

static double now_s(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *must(void *memory)
{
    if (memory == NULL)
        exit(1);
    return memory;
}

static double median(double *times)
{
    for (int i = 1; i < ROUNDS; i++)
        for (int j = i; j > 0 && times[j] < times[j - 1]; j--) {
            const double t = times[j];
            times[j] = times[j - 1];
            times[j - 1] = t;
        }
    return times[ROUNDS / 2];
}

/* ---- traces ---- */

/* Walker's alias method; ids are spread over the address space. */
static void make_zipf(uint64_t *trace, double exponent)
{
    double *share = must(malloc(IDS * sizeof *share)), sum = 0.0;
    uint32_t *alias = must(malloc(IDS * sizeof *alias)), *stack = must(malloc(IDS * sizeof *stack));
    size_t small = 0, large = IDS;
    struct sc_sim_rng rng = sc_sim_rng_make(1, 0, 0);
    for (uint32_t i = 0; i < IDS; i++)
        sum += share[i] = pow(i + 1.0, -exponent);
    for (uint32_t i = 0; i < IDS; i++) {
        share[i] *= IDS / sum;
        stack[share[i] < 1.0 ? small++ : --large] = i;
    }
    while (small > 0 && large < IDS) {
        const uint32_t poor = stack[--small], rich = stack[large];
        alias[poor] = rich;
        share[rich] -= 1.0 - share[poor];
        if (share[rich] < 1.0) {
            large++;
            stack[small++] = rich;
        }
    }
    for (size_t i = 0; i < ACCESSES; i++) {
        const uint32_t id = (uint32_t)sc_sim_rng_below(&rng, IDS);
        const double u = sc_sim_rng_uniform(&rng);
        trace[i] = sc_recency_hash(u < share[id] || share[id] >= 1.0 ? id : alias[id]) >> 16;
    }
    free(share);
    free(alias);
    free(stack);
}

static void make_uniform(uint64_t *trace)
{
    struct sc_sim_rng rng = sc_sim_rng_make(2, 0, 0);
    for (size_t i = 0; i < ACCESSES; i++)
        trace[i] = sc_sim_rng_below(&rng, IDS) * 64;
}

/* Tiles of 16 x 16 words of C = A B, n = 208: the loads of A and B and the store. */
static void make_gemm(uint64_t *trace)
{
    enum { N = 208, TILE = 16 };
    size_t count = 0;
    for (unsigned bi = 0; count + 3 <= ACCESSES; bi = (bi + TILE) % N)
        for (unsigned bj = 0; bj < N; bj += TILE)
            for (unsigned bk = 0; bk < N; bk += TILE)
                for (unsigned i = bi; i < bi + TILE; i++)
                    for (unsigned j = bj; j < bj + TILE; j++)
                        for (unsigned k = bk; k < bk + TILE && count + 3 <= ACCESSES; k++) {
                            trace[count++] = i * N + k;
                            trace[count++] = N * N + k * N + j;
                            trace[count++] = 2 * N * N + i * N + j;
                        }
    for (size_t i = count; i < ACCESSES; i++)
        trace[i] = 0;
}

/* ---- the rival: a table of last times and a Fenwick tree over all of time ---- */

struct rival {
    uint64_t *keys;
    uint32_t *last, *tree;
    size_t mask;
};

static uint32_t tree_sum(const uint32_t *tree, size_t i)
{
    uint32_t sum = 0;
    for (; i > 0; i &= i - 1)
        sum += tree[i];
    return sum;
}

static void tree_add(uint32_t *tree, size_t n, size_t i, uint32_t by)
{
    for (; i <= n; i += i & (~i + 1))
        tree[i] += by;
}

static double run_rival(const uint64_t *trace, size_t n, double *histogram)
{
    const size_t slots = (size_t)1 << 21;
    uint64_t *keys = must(calloc(slots, sizeof *keys));
    uint32_t *last = must(calloc(slots, sizeof *last)), *tree = must(calloc(n + 1, sizeof *tree));
    uint32_t live = 0;
    const double start_s = now_s();
    for (size_t i = 0; i < n; i++) {
        size_t at = sc_recency_hash(trace[i]) & (slots - 1);
        while (last[at] != 0 && keys[at] != trace[i])
            at = (at + 1) & (slots - 1);
        if (last[at] != 0) {
            histogram[live - tree_sum(tree, last[at])] += 1.0;
            tree_add(tree, n, last[at], UINT32_MAX);
        } else {
            live++;
        }
        keys[at] = trace[i];
        last[at] = (uint32_t)(i + 1);
        tree_add(tree, n, i + 1, 1);
    }
    const double time_s = now_s() - start_s;
    free(keys);
    free(last);
    free(tree);
    return time_s;
}

/* ---- ours ---- */

static struct sc_reuse_meter *measure(const uint64_t *trace, size_t n,
                                      const struct sc_reuse_options *options)
{
    struct sc_reuse_meter *meter;
    if (sc_reuse_meter_create(&meter, options, NULL) != SC_OK)
        exit(1);
    for (size_t i = 0; i < n; i += 65536)
        if (sc_reuse_meter_add(meter, trace + i, n - i < 65536 ? n - i : 65536, NULL) != SC_OK)
            exit(1);
    return meter;
}

static double run_ours(const uint64_t *trace, size_t n, const struct sc_reuse_options *options)
{
    const double start_s = now_s();
    struct sc_reuse_meter *meter = measure(trace, n, options);
    const double time_s = now_s() - start_s;
    sc_reuse_meter_destroy(meter);
    return time_s;
}

static void compare_histograms(const uint64_t *trace, const double *histogram)
{
    struct sc_reuse_meter *meter = measure(trace, ACCESSES, &(struct sc_reuse_options){ .divisor = 1 });
    struct sc_reuse_histogram ours;
    if (sc_reuse_meter_histogram(meter, false, &ours, NULL) != SC_OK)
        exit(1);
    for (size_t i = 0; i < IDS; i++)
        if ((i < ours.bins ? ours.count[i] : 0.0) != histogram[i]) {
            printf("histograms differ at %zu\n", i);
            exit(1);
        }
    sc_reuse_meter_destroy(meter);
}

static void bench_exact(const char *name, const uint64_t *trace, const char *published)
{
    static const enum sc_recency_code codes[] = { SC_RECENCY_FASTEST, SC_RECENCY_PORTABLE };
    double ours_s[2][ROUNDS], rival_s[ROUNDS];
    double *histogram = must(calloc(IDS + 1, sizeof *histogram));
    for (int r = 0; r < ROUNDS; r++) {
        for (int c = 0; c < 2; c++)
            ours_s[c][r] = run_ours(trace, ACCESSES,
                                    &(struct sc_reuse_options){ .divisor = 1, .code = codes[c] });
        memset(histogram, 0, (IDS + 1) * sizeof *histogram);
        rival_s[r] = run_rival(trace, ACCESSES, histogram);
    }
    const double a = median(ours_s[0]), b = median(rival_s);
    compare_histograms(trace, histogram);
    printf("exact, %-10s %5.1f M/s (portable %.1f)   Fenwick tree %.2f M/s, same "
           "histogram   speed ratio %.1f%s%s\n",
           name, ACCESSES / a / 1e6, ACCESSES / median(ours_s[1]) / 1e6,
           ACCESSES / b / 1e6, b / a,
           published != NULL ? "   libCacheSim, published: " : "", published != NULL ? published : "");
    free(histogram);
}

/* ---- samples ---- */

static void bench_sample(const char *name, const uint64_t *trace,
                         const struct sc_reuse_options *options, const char *published)
{
    double times_s[ROUNDS], capacity[POINTS], exact[POINTS], sampled[POINTS], error[POINTS];
    double sum = 0.0, told = 0.0;
    for (int r = 0; r < ROUNDS; r++)
        times_s[r] = run_ours(trace, ACCESSES, options);
    struct sc_reuse_meter *all = measure(trace, ACCESSES, &(struct sc_reuse_options){ .divisor = 1 });
    struct sc_reuse_meter *some = measure(trace, ACCESSES, options);
    const double most = sc_reuse_meter_summary(all).cache_most;
    for (int i = 0; i < POINTS; i++)
        capacity[i] = most * (i + 1) / POINTS;
    if (sc_reuse_meter_curve(all, sc_reuse_rule_find("lru"), 0, capacity, POINTS, exact, NULL, NULL) != SC_OK ||
        sc_reuse_meter_curve(some, sc_reuse_rule_find("lru"), 0, capacity, POINTS, sampled, error, NULL) != SC_OK)
        exit(1);
    for (int i = 0; i < POINTS; i++) {
        sum += fabs(exact[i] - sampled[i]) / POINTS;
        told += error[i] / POINTS;
    }
    printf("%-24s %5.0f M/s   mean absolute error %.4f, estimated %.4f%s%s\n", name,
           ACCESSES / median(times_s) / 1e6, sum, told,
           published != NULL ? "   libCacheSim, published: " : "", published != NULL ? published : "");
    sc_reuse_meter_destroy(all);
    sc_reuse_meter_destroy(some);
}

static void leave(const uint64_t *trace, const char *folder)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/zipf.u64", folder);
    FILE *raw = must(fopen(path, "wb"));
    if (fwrite(trace, sizeof *trace, ACCESSES, raw) != ACCESSES || fclose(raw) != 0)
        exit(1);
    (void)snprintf(path, sizeof path, "%s/zipf.txt", folder);
    FILE *text = must(fopen(path, "w"));
    for (size_t i = 0; i < ACCESSES; i++)
        if (fprintf(text, "%llu\n", (unsigned long long)trace[i] % 10000000) < 0)
            exit(1);
    if (fclose(text) != 0)
        exit(1);
}

int main(int argc, char **argv)
{
    uint64_t *trace = must(malloc(ACCESSES * sizeof *trace));
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    printf("10 M accesses, 1 M ids, one thread, processor time\n");
    make_zipf(trace, 0.99);
    if (argc > 1)
        leave(trace, argv[1]);
    bench_exact("Zipf 0.99", trace, "0.85 M/s");
    bench_sample("SHARDS, rate 0.01", trace, &(struct sc_reuse_options){ .divisor = 1, .rate = 0.01 },
                 "29 to 35 M/s");
    bench_sample("SHARDS, 8192 blocks", trace,
                 &(struct sc_reuse_options){ .divisor = 1, .sample_blocks = 8192 }, NULL);
    make_uniform(trace);
    bench_exact("uniform", trace, "0.43 M/s");
    make_gemm(trace);
    bench_exact("tiled GEMM", trace, NULL);
    free(trace);
    return 0;
}
