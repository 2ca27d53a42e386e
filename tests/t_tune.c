/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Closed forms fitted to a handful of rows: planted values are found within the stated
 * intervals, what the rows say nothing of stays, and new rows fall within the quantiles.
 */
#include "design.h"
#include "hbf_scenarios.h"
#include "sim/rng.h"
#include "stallcast.h"
#include "tap.h"
#include "tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 200, NEW_EVERY = 4 };

static const double noise_sd = 0.05;

/* A machine: scenarios of a system, and keys that differ from what is known of them. */
struct bench {
    struct sc_tune tune;
    struct sc_tune_key keys[SC_TUNE_KEYS_MAX];
    struct sc_tune_row rows[ROWS_MAX];
    double truth[SC_TUNE_KEYS_MAX];
    _Alignas(max_align_t) unsigned char scenarios[ROWS_MAX][SC_SCENARIO_MAX];
};

static struct bench *bench_make(const struct sc_system *system, const void *base,
                                const char *const *keys)
{
    struct bench *const b = calloc(1, sizeof *b);
    struct sc_error error;
    if (b == NULL)
        bail("no memory");
    b->tune = (struct sc_tune){ .system = system, .rows = b->rows, .keys = b->keys,
                                .metric = sc_system_metric(system, "slowdown"),
                                .fold_count = 5, .noise_sd = noise_sd };
    if (strcmp(system->name, "stream") == 0)
        b->tune.metric = sc_system_metric(system, "time_s");
    for (size_t k = 0; keys[k] != NULL; k++) {
        const struct sc_field *const field = sc_system_field(system, keys[k]);
        if (sc_tune_key_about(&b->keys[k], field, sc_field_get(field, base), 0.25, &error) != SC_OK)
            bail("%s: %s", error.field, error.reason);
        b->tune.key_count = k + 1;
    }
    return b;
}

/* Draws what is true from the priors. */
static void plant(struct bench *b, struct sc_sim_rng *rng)
{
    for (size_t k = 0; k < b->tune.key_count; k++) {
        const struct sc_fit_parameter *const p = &b->keys[k].parameter;
        const double t = p->prior_mean + p->prior_sd * sc_sim_rng_normal(rng);
        b->truth[k] = p->transform == SC_FIT_LOG ? exp(t)
                                                 : p->low + (p->high - p->low) / (1.0 + exp(-t));
    }
}

/* Rows drawn from the ranges of the field table, those with an answer, measured with noise.
 * One in eight is only known to take longer than half of what it does. */
static void measure(struct bench *b, const void *base, size_t count, uint64_t seed,
                    const char *const *kept, size_t kept_count, bool censored,
                    struct sc_sim_rng *rng)
{
    const struct sc_design_options options = { .seed = seed, .samples = 4 * ROWS_MAX,
                                               .kept = kept, .kept_count = kept_count };
    struct sc_design design;
    struct sc_error error;
    if (sc_design_init(&design, b->tune.system, &options, &error) != SC_OK)
        bail("%s: %s", error.field, error.reason);
    b->tune.row_count = 0;
    for (size_t i = 0; b->tune.row_count < count && i < 4 * ROWS_MAX; i++) {
        struct sc_tune_row *const row = &b->rows[b->tune.row_count];
        unsigned char *const scenario = b->scenarios[b->tune.row_count];
        double log_value = 0.0;
        memcpy(scenario, base, b->tune.system->scenario_size);
        sc_design_sample(&design, i, scenario);
        *row = (struct sc_tune_row){ .scenario = scenario, .fold = b->tune.row_count % 5 };
        if (sc_tune_predict(&b->tune, b->tune.row_count, b->truth, &log_value, &error) != SC_OK)
            continue;
        const bool stopped = censored && b->tune.row_count % 8 == 7;
        row->measured = exp(log_value + noise_sd * sc_sim_rng_normal(rng)) * (stopped ? 0.5 : 1.0);
        row->censoring = stopped ? SC_FIT_AT_LEAST : SC_FIT_EXACT;
        b->tune.row_count++;
    }
}

/* What is counted over trials. */
struct count {
    size_t stated[SC_TUNE_KEYS_MAX], inside[SC_TUNE_KEYS_MAX];
    size_t all_stated, all_inside, new_rows, new_inside;
    double before, after; /* mean |log| error of new rows */
};

/* New rows against the quantile of the cross-validation. */
static void count_new(struct bench *b, const void *base, const struct sc_fit *fit, uint64_t seed,
                      const char *const *kept, size_t kept_count, struct sc_sim_rng *rng,
                      struct count *count)
{
    double predicted[ROWS_MAX], residuals[ROWS_MAX], values[SC_TUNE_KEYS_MAX], q = 0.0;
    struct sc_error error;
    bool student;
    size_t n = 0;
    for (size_t k = 0; k < b->tune.key_count; k++)
        values[k] = fit->estimates[k].value;
    if (sc_tune_cross_validate(&b->tune, predicted, &error) != SC_OK)
        bail("cross-validation: %s: %s", error.field, error.reason);
    for (size_t i = 0; i < b->tune.row_count; i++)
        if (b->rows[i].censoring == SC_FIT_EXACT)
            residuals[n++] = predicted[i] - log(b->rows[i].measured);
    if (sc_tune_quantile(residuals, n, fit, 0.9, &q, &student, &error) != SC_OK)
        bail("quantile: %s", error.reason);
    measure(b, base, 20, seed + 1000000, kept, kept_count, false, rng);
    for (size_t i = 0; i < b->tune.row_count; i++) {
        double now = 0.0, before = 0.0;
        if (sc_tune_predict(&b->tune, i, values, &now, &error) != SC_OK ||
            sc_tune_predict(&b->tune, i, NULL, &before, &error) != SC_OK)
            continue;
        const double actual = log(b->rows[i].measured);
        count->new_rows++;
        count->new_inside += fabs(now - actual) <= q;
        count->after += fabs(now - actual);
        count->before += fabs(before - actual);
    }
}

static void run_trials(struct bench *b, const void *base, size_t trials, uint64_t seed,
                       const char *const *kept, size_t kept_count, struct count *count)
{
    for (size_t trial = 0; trial < trials; trial++) {
        struct sc_sim_rng rng = sc_sim_rng_make(seed, trial, 1);
        struct sc_fit fit;
        struct sc_error error;
        const size_t rows = 6 + (size_t)sc_sim_rng_below(&rng, 30);
        plant(b, &rng);
        measure(b, base, rows, seed + trial, kept, kept_count, true, &rng);
        if (sc_tune_fit(&b->tune, SIZE_MAX, &fit, &error) != SC_OK)
            bail("trial %zu: %s: %s", trial, error.field, error.reason);
        for (size_t k = 0; k < b->tune.key_count; k++) {
            const struct sc_fit_estimate *const e = &fit.estimates[k];
            if (!isfinite(e->low) || !isfinite(e->high))
                continue;
            count->stated[k]++;
            count->inside[k] += e->low <= b->truth[k] && b->truth[k] <= e->high;
        }
        if (trial % NEW_EVERY == 0)
            count_new(b, base, &fit, seed + trial, kept, kept_count, &rng, count);
        sc_fit_fini(&fit);
    }
    for (size_t k = 0; k < b->tune.key_count; k++) {
        count->all_stated += count->stated[k];
        count->all_inside += count->inside[k];
    }
}

static double share(size_t part, size_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0.0;
}

/* `gain`: how much better new rows are to be predicted at least. */
static void report(const struct bench *b, const struct count *count, size_t trials, double gain)
{
    const char *const name = b->tune.system->name;
    for (size_t k = 0; k < b->tune.key_count; k++)
        ok(share(count->inside[k], count->stated[k]) >= 0.85,
           "%s: %s is inside its 95 %% interval in %zu of the %zu trials that state one", name,
           b->keys[k].field->key, count->inside[k], count->stated[k]);
    ok(share(count->all_inside, count->all_stated) >= 0.9,
       "%s: %.1f %% of the planted values are inside their intervals", name,
       100.0 * share(count->all_inside, count->all_stated));
    ok(count->all_stated >= trials * b->tune.key_count / 2, "%s: %zu intervals are stated", name,
       count->all_stated);
    const double covered = share(count->new_inside, count->new_rows);
    ok(covered >= 0.85 && covered <= 0.97, "%s: the 90 %% quantile holds for %.1f %% of new rows",
       name, 100.0 * covered);
    ok(count->after < count->before / gain,
       "%s: new rows are predicted better than before: error %.3f -> %.3f", name,
       count->before / (double)count->new_rows, count->after / (double)count->new_rows);
}

static void test_planted(void)
{
    static const char *const machine[] = { "latency", "bandwidth", NULL };
    static const char *const uvm[] = { "link_rate", "random_factor", "shared_service",
                                       "random_service", NULL };
    static const char *const hbf[] = { "miss_factor", "order_factor", "clog_factor", "ramp_factor",
                                       "block_factor", "refetch_factor", NULL };
    struct sc_stream stream;
    sc_scenario_init(&sc_stream_system, &stream);
    struct bench *b = bench_make(&sc_stream_system, &stream, machine);
    struct count count = { 0 };
    run_trials(b, &stream, 100, 1, machine, 2, &count);
    report(b, &count, 100, 2.0);
    free(b);

    struct sc_uvm run;
    sc_scenario_init(&sc_uvm_system, &run);
    run.pattern = SC_UVM_RANDOM;
    b = bench_make(&sc_uvm_system, &run, uvm);
    count = (struct count){ 0 };
    run_trials(b, &run, 20, 3, uvm, 4, &count);
    report(b, &count, 20, 2.0);
    free(b);

    set_up();
    const struct sc_hbf kernel = scenario("model=llama-8b policy=h3-demand-order buffer=40MB");
    b = bench_make(&sc_hbf_system, &kernel, hbf);
    count = (struct count){ 0 };
    run_trials(b, &kernel, 80, 2, hbf, 6, &count);
    report(b, &count, 80, 1.0);
    free(b);
    tear_down();
}

int main(void)
{
    plan(24);
    test_planted();
    return done();
}
