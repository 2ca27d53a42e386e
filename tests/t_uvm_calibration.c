/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The calibration of uvm that comes with the program, held against runs of the
 * simulator that it has not seen: its intervals hold, its coefficients come out of a
 * fit to them alone, and of two policies it knows which one is faster. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog.h"
#include "design.h"
#include "fit.h"
#include "params.h"
#include "scenario.h"
#include "sim/uvm_sim.h"
#include "tap.h"
#include "uvm.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Every scenario under every policy. */
enum { SCENARIOS = 60, POLICIES = 6, RUNS = SCENARIOS * POLICIES, COEFFICIENTS_MAX = 16 };

static const double GIB = 1073741824.0;
static const double FAR_APART = 1.25; /* what a pair has to differ by */

struct set {
    struct sc_uvm scenarios[RUNS];
    double log_slowdowns[RUNS];
    double values[COEFFICIENTS_MAX]; /* shipped */
    struct sc_fit_parameter coefficients[COEFFICIENTS_MAX];
    const struct sc_field *fields[COEFFICIENTS_MAX];
    size_t count;
};

static void list_coefficients(struct set *set)
{
    for (size_t i = 0; i < sc_uvm_system.field_count; i++) {
        const struct sc_field *field = &sc_uvm_system.fields[i];
        if (field->provenance != SC_CALIBRATED)
            continue;
        if (set->count == COEFFICIENTS_MAX)
            bail("more coefficients than expected");
        set->fields[set->count] = field;
        set->coefficients[set->count++] = (struct sc_fit_parameter){
            .name = field->key, .initial = field->fallback, .transform = SC_FIT_LOG,
            .low = 0.05 * field->fallback, .high = 20 * field->fallback };
    }
}

/* As a calibration draws them, but of a memory that is quick to simulate. */
static void draw(struct set *set, const struct sc_uvm *base)
{
    int patterns[SC_UVM_PATTERNS];
    const struct sc_design_choice choice = { .key = "pattern", .indices = patterns,
                                             .index_count = SC_UVM_PATTERNS };
    const char *const kept[] = { "memory_capacity" };
    const struct sc_design_options options = { .seed = 23, .samples = SCENARIOS,
                                               .choices = &choice, .choice_count = 1,
                                               .kept = kept, .kept_count = 1 };
    struct sc_design design;
    struct sc_error error;
    for (int i = 0; i < SC_UVM_PATTERNS; i++)
        patterns[i] = i;
    if (sc_design_init(&design, &sc_uvm_system, &options, &error) != SC_OK)
        bail("%s: %s", error.field, error.reason);
    for (size_t i = 0; i < RUNS; i++) {
        set->scenarios[i] = *base;
        set->scenarios[i].memory_bytes = 2 * GIB;
        sc_design_sample(&design, i / POLICIES, &set->scenarios[i]);
        set->scenarios[i].policy = (int)(i % POLICIES);
    }
}

static void simulate(struct set *set)
{
    for (size_t i = 0; i < RUNS; i++) {
        const struct sc_sim_options options = { .seed = 7, .run = i };
        struct sc_uvm_answer answer;
        struct sc_sim_report report;
        struct sc_error error = { 0 };
        if (sc_uvm_simulator.simulate(&set->scenarios[i], &options, &answer, &report, &error) != SC_OK)
            bail("run %zu: %s: %s", i, error.field, error.reason);
        set->log_slowdowns[i] = log(answer.slowdown);
    }
}

static double log_estimate(const struct set *set, size_t i, const double *values)
{
    struct sc_uvm s = set->scenarios[i];
    struct sc_uvm_answer answer;
    for (size_t k = 0; k < set->count; k++)
        sc_field_set(set->fields[k], &s, values[k]);
    return sc_uvm_system.estimate(&s, &answer, NULL, NULL) == SC_OK ? log(answer.slowdown)
                                                                    : (double)NAN;
}

static enum sc_status predict(const double *values, double *log_predictions, void *context)
{
    for (size_t i = 0; i < RUNS; i++)
        log_predictions[i] = log_estimate(context, i, values);
    return SC_OK;
}

static void read_shipped(struct catalog *catalog, struct sc_params *params)
{
    struct problem problem = { "" };
    struct sc_params_error error;
    const struct sc_params_wanted wanted = { .system = &sc_uvm_system };
    FILE *file = catalog_open(catalog, "params/uvm", &problem);
    if (file == NULL)
        bail("%s", problem.text);
    if (sc_params_read(params, file, "params/uvm", &wanted, &error) != SC_OK)
        bail("params/uvm:%zu: %s", error.line, error.reason);
    (void)fclose(file);
}

static void test_coefficients(struct set *set, const struct sc_params *params)
{
    size_t missing = 0, off = 0;
    for (size_t k = 0; k < set->count; k++) {
        const struct sc_params_parameter *p = sc_params_find(params, set->fields[k]->key);
        missing += p == NULL;
        set->values[k] = p != NULL ? p->value : set->fields[k]->fallback;
        off += fabs(set->values[k] / set->fields[k]->fallback - 1) > 0.02;
    }
    is_int((long long)missing, 0, "it has every coefficient");
    is_int((long long)off, 0, "and what is used without it is the same, rounded");
}

static void test_intervals(const struct set *set, const struct sc_params *params)
{
    const struct sc_field *policy = sc_system_field(&sc_uvm_system, "policy");
    size_t covered = 0, of_policy[POLICIES] = { 0 };
    double sum = 0;
    for (size_t i = 0; i < RUNS; i++) {
        double quantile = 0;
        const double residual = log_estimate(set, i, set->values) - set->log_slowdowns[i];
        const char *group = sc_field_choice(policy, (size_t)set->scenarios[i].policy)->name;
        if (sc_params_quantile(params, group, 0.9, &quantile, NULL) != SC_OK)
            bail("no interval for %s", group);
        const bool inside = fabs(residual) <= fmax(quantile, 0.005);
        covered += inside;
        of_policy[i % POLICIES] += inside;
        sum += fabs(residual);
    }
    for (size_t p = 0; p < POLICIES; p++)
        note("%s: %zu of %d", sc_field_choice(policy, p)->name, of_policy[p], SCENARIOS);
    ok(covered >= RUNS * 8 / 10, "its 90 %% intervals hold for at least 80 %% of %d fresh runs (%.1f %%)",
       RUNS, 100.0 * (double)covered / RUNS);
    ok(sum / RUNS < 0.08, "its mean error there is below 8 %% (%.1f %%)", 100 * sum / RUNS);
}

static void test_order(const struct set *set)
{
    size_t pairs = 0, right = 0;
    for (size_t i = 0; i < RUNS; i++)
        for (size_t j = i + 1; j < i - i % POLICIES + POLICIES; j++) {
            const double simulated = set->log_slowdowns[i] - set->log_slowdowns[j];
            if (fabs(simulated) <= log(FAR_APART))
                continue;
            const double said = log_estimate(set, i, set->values) - log_estimate(set, j, set->values);
            pairs++;
            right += said * simulated > 0;
        }
    ok(pairs > (size_t)RUNS / 2 && (double)right >= 0.95 * (double)pairs,
       "of two policies more than 1.25x apart it knows the faster one: %zu of %zu", right, pairs);
}

static void test_refit(struct set *set)
{
    /* Those that many policies and patterns have a say in. */
    static const char *const judged[] = { "shared_service", "lag_share", "adaptive_factor" };
    static struct sc_fit_observation observations[RUNS];
    struct sc_error error = { 0 };
    struct sc_fit fit;
    size_t off = 0;
    for (size_t i = 0; i < RUNS; i++)
        observations[i] = (struct sc_fit_observation){ .log_value = set->log_slowdowns[i], .weight = 1 };
    const struct sc_fit_problem problem = { .parameters = set->coefficients,
                                            .parameter_count = set->count,
                                            .observations = observations,
                                            .observation_count = RUNS,
                                            .predict = predict,
                                            .context = set };
    const struct sc_fit_options options = { .starts = 1 };
    if (sc_fit_solve(&fit, &problem, &options, &error) != SC_OK)
        bail("fit: %s: %s", error.field, error.reason);
    for (size_t k = 0; k < set->count; k++) {
        const double value = fit.estimates[k].value;
        note("%-16s %.3f, here %.3f", set->coefficients[k].name, set->values[k], value);
        for (size_t i = 0; i < COUNT(judged); i++)
            off += strcmp(judged[i], set->coefficients[k].name) == 0 &&
                   !(fabs(log(value / set->values[k])) < log(1.3));
    }
    is_int((long long)off, 0, "a fit to these runs alone comes out near it");
    sc_fit_fini(&fit);
}

int main(void)
{
    static struct set set;
    struct problem problem = { "" };
    struct sc_params params;
    struct sc_uvm base;
    struct sweep pattern;
    struct catalog *catalog = catalog_create(NULL);
    if (catalog == NULL)
        bail("out of memory");
    struct resolver *resolver = resolver_create(&sc_uvm_system, catalog, &problem);
    if (resolver == NULL || !sweep_parse(resolver, "pattern=sweep", &pattern, &problem) ||
        !resolver_build(resolver, pattern.values, 1, &base, &problem))
        bail("%s", problem.text);
    list_coefficients(&set);
    read_shipped(catalog, &params);
    plan(6);
    test_coefficients(&set, &params);
    draw(&set, &base);
    simulate(&set);
    test_intervals(&set, &params);
    test_order(&set);
    test_refit(&set);
    sc_params_fini(&params);
    sweep_fini(&pattern);
    resolver_destroy(resolver);
    catalog_destroy(catalog);
    return done();
}
