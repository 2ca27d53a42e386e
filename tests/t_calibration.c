/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calibrating the closed form of hbf, end to end: planted coefficients come
 * back, and a small calibration of one's own agrees with the one that comes with
 * the program, whose intervals hold for scenarios that it has not seen. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog.h"
#include "conformal.h"
#include "design.h"
#include "fit.h"
#include "hbf.h"
#include "params.h"
#include "scenario.h"
#include "sim/hbf_sim.h"
#include "sim/rng.h"
#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { SAMPLES = 200, PLANTED_SAMPLES = 400, REPEATS = 4, COEFFICIENTS_MAX = 16, POLICIES_MAX = 64 };

static struct sc_fit_parameter coefficients[COEFFICIENTS_MAX];
static const struct sc_field *coefficient_fields[COEFFICIENTS_MAX];
static size_t coefficient_count;

static void note_estimate(const char *name, double planted, const struct sc_fit_estimate *e)
{
    printf("# %-15s %8.4f, fitted %8.4f +- %.4f, %.4f to %.4f%s%s\n", name, planted, e->value,
           e->std_error, e->low, e->high, e->identified ? "" : ": ", e->identified ? "" : e->why);
}

static void list_coefficients(void)
{
    for (size_t i = 0; i < sc_hbf_system.field_count; i++) {
        const struct sc_field *field = &sc_hbf_system.fields[i];
        if (field->provenance != SC_CALIBRATED)
            continue;
        if (coefficient_count == COEFFICIENTS_MAX)
            bail("more coefficients than expected");
        coefficient_fields[coefficient_count] = field;
        coefficients[coefficient_count++] = (struct sc_fit_parameter){
            .name = field->key, .initial = field->fallback, .transform = SC_FIT_LOG,
            .low = 0.05 * field->fallback, .high = 20 * field->fallback };
    }
}

/* Scenarios to fit, and the logarithm of what is to come out for each. */
struct set {
    struct sc_hbf *scenarios;
    double *log_slowdowns;
    size_t count;
};

/* Llama-8B, every policy in turn, all else as a calibration draws it. */
static void draw_set(struct set *set, const struct sc_hbf *base, size_t count, uint64_t seed)
{
    static int policies[POLICIES_MAX];
    const struct sc_field *policy = sc_system_field(&sc_hbf_system, "policy");
    const struct sc_design_choice choice = { .key = "policy", .indices = policies,
                                             .index_count = policy->choice_count };
    const struct sc_design_options options = { .seed = seed, .samples = count, .choices = &choice,
                                               .choice_count = 1 };
    struct sc_design design;
    struct sc_error error;
    if (policy->choice_count > POLICIES_MAX)
        bail("more policies than expected");
    for (size_t i = 0; i < policy->choice_count; i++)
        policies[i] = (int)i;
    if (sc_design_init(&design, &sc_hbf_system, &options, &error) != SC_OK)
        bail("%s: %s", error.field, error.reason);
    set->scenarios = calloc(count, sizeof *set->scenarios);
    set->log_slowdowns = calloc(count, sizeof *set->log_slowdowns);
    if (set->scenarios == NULL || set->log_slowdowns == NULL)
        bail("out of memory");
    set->count = count;
    for (size_t i = 0; i < count; i++) {
        set->scenarios[i] = *base;
        sc_design_sample(&design, i, &set->scenarios[i]);
    }
}

static void free_set(struct set *set)
{
    free(set->scenarios);
    free(set->log_slowdowns);
    *set = (struct set){ 0 };
}

static double log_estimate(const struct sc_hbf *scenario, const double *values)
{
    struct sc_hbf s = *scenario;
    struct sc_hbf_answer answer;
    for (size_t k = 0; k < coefficient_count; k++)
        sc_field_set(coefficient_fields[k], &s, values[k]);
    return sc_hbf_system.estimate(&s, &answer, NULL, NULL) == SC_OK ? log(answer.slowdown)
                                                                    : (double)NAN;
}

static enum sc_status predict(const double *values, double *log_predictions, void *context)
{
    const struct set *set = context;
    for (size_t i = 0; i < set->count; i++)
        log_predictions[i] = log_estimate(&set->scenarios[i], values);
    return SC_OK;
}

static void fit_set(struct set *set, struct sc_fit *fit)
{
    struct sc_fit_observation *observations = calloc(set->count, sizeof *observations);
    struct sc_error error = { 0 };
    if (observations == NULL)
        bail("out of memory");
    for (size_t i = 0; i < set->count; i++)
        observations[i] = (struct sc_fit_observation){ .log_value = set->log_slowdowns[i],
                                                       .weight = 1 };
    const struct sc_fit_problem problem = { .parameters = coefficients,
                                            .parameter_count = coefficient_count,
                                            .observations = observations,
                                            .observation_count = set->count,
                                            .predict = predict,
                                            .context = set };
    const struct sc_fit_options options = { .starts = 1 };
    if (sc_fit_solve(fit, &problem, &options, &error) != SC_OK)
        bail("fit: %s: %s", error.field, error.reason);
    free(observations);
}

/* ---- Planted coefficients ---- */

/* The closed form itself stands in for the simulator, with coefficients that are
 * not those that the fit starts from, and with noise of 2 %. */
static void test_planted(const struct sc_hbf *base)
{
    double planted[COEFFICIENTS_MAX];
    struct set set;
    struct sc_fit fit;
    size_t exact = 0, covered = 0, judged = 0, near_enough = 0;
    draw_set(&set, base, PLANTED_SAMPLES, 3);
    for (size_t k = 0; k < coefficient_count; k++)
        planted[k] = coefficients[k].initial * (k % 2 == 0 ? 1.1 : 0.9);
    (void)predict(planted, set.log_slowdowns, &set);
    fit_set(&set, &fit);
    for (size_t k = 0; k < coefficient_count; k++) {
        const bool same = fabs(fit.estimates[k].value / planted[k] - 1) < 1e-3;
        if (!same)
            note_estimate(coefficients[k].name, planted[k], &fit.estimates[k]);
        exact += same;
    }
    ok(fit.converged, "without noise the fit converges");
    is_int((long long)exact, (long long)coefficient_count,
           "and every planted coefficient comes back within 0.1 %%");
    sc_fit_fini(&fit);

    for (uint64_t repeat = 0; repeat < REPEATS; repeat++) {
        struct sc_sim_rng rng = sc_sim_rng_make(11, repeat, 0);
        (void)predict(planted, set.log_slowdowns, &set);
        for (size_t i = 0; i < set.count; i++)
            set.log_slowdowns[i] += 0.02 * sc_sim_rng_normal(&rng);
        fit_set(&set, &fit);
        for (size_t k = 0; k < coefficient_count; k++) {
            const struct sc_fit_estimate *e = &fit.estimates[k];
            const bool inside = e->low <= planted[k] && planted[k] <= e->high;
            if (!e->identified)
                continue;
            if (!inside)
                note_estimate(coefficients[k].name, planted[k], e);
            judged++;
            covered += inside;
            near_enough += fabs(log(e->value / planted[k])) < 4 * e->transformed_std_error;
        }
        sc_fit_fini(&fit);
    }
    printf("# %zu of %zu intervals hold\n", covered, judged);
    ok(judged >= REPEATS * (coefficient_count - 1), "with noise nearly all are identified (%zu of %zu)",
       judged, REPEATS * coefficient_count);
    ok((double)covered >= 0.88 * (double)judged, "and lie in their 95 %% intervals (%zu of %zu)", covered,
       judged);
    is_int((long long)near_enough, (long long)judged, "none is more than 4 standard errors off");
    free_set(&set);
}
enum { PLANTED_TESTS = 5 };

/* ---- The calibration that comes with the program ---- */

static bool read_shipped(struct catalog *catalog, struct sc_params *params)
{
    struct problem problem = { "" };
    struct sc_params_error error;
    const struct sc_params_wanted wanted = { .system = &sc_hbf_system };
    FILE *file = catalog_open(catalog, "params/hbf", &problem);
    if (file == NULL)
        return false;
    if (sc_params_read(params, file, "params/hbf", &wanted, &error) != SC_OK)
        bail("params/hbf:%zu: %s", error.line, error.reason);
    (void)fclose(file);
    return true;
}

/* Those that many policies have a say in.  Two hundred samples of one model leave a
 * dozen each for the others (a clogged stream, an overrun), which differ by model. */
static const char *const judged_coefficients[] = { "miss_factor", "order_factor", "block_factor",
                                                   "lost_factor", "lead_factor" };

static bool is_judged(const char *name)
{
    for (size_t i = 0; i < COUNT(judged_coefficients); i++)
        if (strcmp(judged_coefficients[i], name) == 0)
            return true;
    return false;
}

static void test_shipped(struct catalog *catalog, const struct sc_hbf *base)
{
    struct sc_params params;
    struct set set;
    struct sc_fit fit;
    double shipped[COEFFICIENTS_MAX];
    size_t missing = 0, off = 0, identified = 0, covered = 0, known = 0;
    if (!read_shipped(catalog, &params)) {
        skip(5, "no calibration of hbf comes with the program");
        return;
    }
    for (size_t k = 0; k < coefficient_count; k++) {
        const struct sc_params_parameter *p = sc_params_find(&params, coefficients[k].name);
        missing += p == NULL;
        shipped[k] = p != NULL ? p->value : coefficients[k].initial;
    }
    is_int((long long)missing, 0, "it has every coefficient");

    draw_set(&set, base, SAMPLES, 77);
    double sum = 0;
    for (size_t i = 0; i < set.count; i++) {
        const struct sc_sim_options options = { .seed = 5, .run = i };
        struct sc_hbf_answer answer;
        struct sc_sim_report report;
        struct sc_error error = { 0 };
        double quantile = 0;
        if (sc_hbf_simulator.simulate(&set.scenarios[i], &options, &answer, &report, &error) != SC_OK)
            bail("sample %zu: %s: %s", i, error.field, error.reason);
        set.log_slowdowns[i] = log(answer.slowdown);
        const double residual = log_estimate(&set.scenarios[i], shipped) - set.log_slowdowns[i];
        const struct sc_field *policy = sc_system_field(&sc_hbf_system, "policy");
        const char *group = sc_field_choice(policy, (size_t)set.scenarios[i].policy)->name;
        if (sc_params_quantile(&params, group, 0.9, &quantile, NULL) != SC_OK)
            bail("no interval for %s", group);
        known += sc_params_outside(&params, &sc_hbf_system, &set.scenarios[i]) == NULL;
        covered += fabs(residual) <= quantile;
        sum += fabs(residual);
    }
    is_int((long long)known, SAMPLES, "it speaks for all of %d fresh samples", SAMPLES);
    ok(covered >= SAMPLES * 83 / 100, "its 90 %% intervals hold for at least 83 %% of them (%.1f %%)",
       100.0 * (double)covered / SAMPLES);
    ok(sum / SAMPLES < 0.15, "its mean error there is below 15 %% (%.1f %%)", 100 * sum / SAMPLES);

    fit_set(&set, &fit);
    for (size_t k = 0; k < coefficient_count; k++) {
        const struct sc_fit_estimate *e = &fit.estimates[k];
        if (!e->identified)
            continue;
        note_estimate(coefficients[k].name, shipped[k], e);
        identified += is_judged(coefficients[k].name);
        off += is_judged(coefficients[k].name) && fabs(log(e->value / shipped[k])) > log(1.25);
    }
    ok(identified == COUNT(judged_coefficients) && off == 0,
       "coefficients fitted to them are near: %zu identified, %zu off by more than a quarter",
       identified, off);
    sc_fit_fini(&fit);
    free_set(&set);
    sc_params_fini(&params);
}
enum { SHIPPED_TESTS = 5 };

int main(void)
{
    struct problem problem = { "" };
    struct sc_hbf base;
    struct sweep model;
    struct catalog *catalog = catalog_create(NULL);
    if (catalog == NULL)
        bail("out of memory");
    struct resolver *resolver = resolver_create(&sc_hbf_system, catalog, &problem);
    if (resolver == NULL || !sweep_parse(resolver, "model=llama-8b", &model, &problem) ||
        !resolver_build(resolver, model.values, 1, &base, &problem))
        bail("%s", problem.text);
    list_coefficients();
    plan(PLANTED_TESTS + SHIPPED_TESTS);
    test_planted(&base);
    test_shipped(catalog, &base);
    sweep_fini(&model);
    resolver_destroy(resolver);
    catalog_destroy(catalog);
    return done();
}
