/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stallcast calibrate: fits the closed form to sampled runs of the simulator. */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calibration.h"
#include "command.h"
#include "conformal.h"
#include "design.h"
#include "emit.h"
#include "fit.h"
#include "journal.h"
#include "number.h"
#include "preset.h"
#include "product.h"
#include "progress.h"
#include "region.h"
#include "scenario.h"
#include "score.h"
#include "sim/simulator.h"
#include "sink.h"
#include "text.h"

/* Half of the samples for the coefficients, but no more than a handful of these can
 * use; the others are shared evenly between interval and report, which never have
 * enough: the coverage of 14 policies is known to 2 per cent with 350 samples each. */
static const double fit_share = 0.5;
enum { FIT_MOST = 2000 }; /* observations */

/* What is fitted besides the slowdown, as it is, and the preset whose rows are held out
 * whole: what is learnt of some kernels is to hold for others. */
enum { OBSERVED_MAX = 4 };
static const struct also_fitted {
    const char *system, *whole, *metrics[OBSERVED_MAX];
} also_fitted[] = {
    { "prefetch", "kernel", { "ipc", "on_time_share", "coverage", "accuracy" } },
};
/* What counts as reported: the interval's level in the table of scores. */
static const double report_level = 0.9;

enum { KEYS_MAX = 32, COEFFICIENTS_MAX = 32 };

struct calibrate {
    const struct sc_system *system;
    const struct sc_simulator *simulator;
    struct resolver *resolver;
    uint64_t seed;
    size_t samples, jobs;
    bool to_standard_output; /* the calibration: -o - */

    struct sweep sweeps[KEYS_MAX]; /* keys of the command line, and what is drawn by default */
    size_t sweep_count;
    int *indices[KEYS_MAX];
    struct sc_design_choice choices[KEYS_MAX]; /* the sweeps that are drawn from */
    size_t choice_sweep[KEYS_MAX], choice_count;
    const char *kept[KEYS_MAX];
    size_t kept_count;
    struct sc_design design;

    unsigned char *scenarios; /* of each sample */
    double *slowdowns;        /* simulated; NaN: not yet; 0: the scenario has no answer */
    const struct sc_metric *observed[OBSERVED_MAX + 1]; /* the slowdown first */
    size_t observed_count;
    double *values;           /* of these, of each sample */
    const char *whole;        /* preset whose rows are held out whole, or NULL */
    size_t *groups;           /* row of the policy, or 0 */
    enum sc_set *sets;
    const struct sc_field *group_field;

    struct journal journal;
    pthread_mutex_t lock;
    size_t next, run_now;
    struct problem fault;
    struct progress progress;

    struct sc_fit_parameter parameters[COEFFICIENTS_MAX];
    const struct sc_field *fields[COEFFICIENTS_MAX];
    double coefficients[COEFFICIENTS_MAX]; /* as fitted */
    size_t parameter_count;
    size_t *fit_rows, fit_count; /* samples of the fit set */
    struct sc_fit fit;
    struct sc_conformal conformal;
    double *predicted, *residuals; /* of every sample, with the fitted coefficients */
};

/* ---- what is sampled ---- */

static bool is_given(const struct calibrate *c, const char *key)
{
    for (size_t i = 0; i < c->sweep_count; i++)
        if (strcmp(c->sweeps[i].field->key, key) == 0)
            return true;
    return false;
}

static bool add_sweep(struct calibrate *c, const char *word, struct problem *problem)
{
    if (c->sweep_count == KEYS_MAX)
        return problem_set(problem, "more than %d keys", (int)KEYS_MAX);
    if (!sweep_parse(c->resolver, word, &c->sweeps[c->sweep_count], problem))
        return false;
    const char *key = c->sweeps[c->sweep_count].field->key;
    const bool twice = is_given(c, key);
    c->sweep_count++;
    return !twice || problem_set(problem, "%s: %s is given twice", word, key);
}

/* What is drawn unless the command line says otherwise. */
static bool add_defaults(struct calibrate *c, struct problem *problem)
{
    static const struct {
        const char *key, *needs, *word;
    } defaults[] = { { "policy", "policy", "policy=all" },
                     { "kernel", "issue_width", "kernel=all" },
                     { "gpu", "issue_width", "gpu=a100-40gb,v100" },
                     { "model", "model", "model=@dense" },
                     { "gpu", "model", "gpu=a100-sim,a100,h100,h200,b200" } };
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++)
        if (sc_system_field(c->system, defaults[i].key) != NULL &&
            sc_system_field(c->system, defaults[i].needs) != NULL &&
            !is_given(c, defaults[i].key) && !add_sweep(c, defaults[i].word, problem))
            return false;
    return true;
}

/* Keys with several values are drawn from, keys with one are kept. */
static bool plan_design(struct calibrate *c, struct problem *problem)
{
    struct sc_error error;
    for (size_t i = 0; i < c->sweep_count; i++) {
        struct sweep *sweep = &c->sweeps[i];
        const bool named = sweep->field->kind == SC_PRESET || sweep->field->kind == SC_CHOICE;
        if (sweep->count == 1) {
            c->kept[c->kept_count++] = sweep->field->key;
            continue;
        }
        if (!named)
            return problem_set(problem, "%s: the range of a number comes from the field table; give "
                                        "one value to hold it", sweep->field->key);
        c->indices[i] = calloc(sweep->count, sizeof *c->indices[i]);
        if (c->indices[i] == NULL)
            return problem_set(problem, "out of memory");
        for (size_t j = 0; j < sweep->count; j++)
            c->indices[i][j] = sweep->field->kind == SC_CHOICE ? (int)sweep->values[j].value : (int)j;
        c->choice_sweep[c->choice_count] = i;
        c->choices[c->choice_count++] = (struct sc_design_choice){
            .key = sweep->field->key, .indices = c->indices[i], .index_count = sweep->count };
    }
    const struct sc_design_options options = { .seed = c->seed, .samples = c->samples,
                                               .choices = c->choices,
                                               .choice_count = c->choice_count,
                                               .kept = c->kept, .kept_count = c->kept_count };
    if (sc_design_init(&c->design, c->system, &options, &error) == SC_OK)
        return true;
    return problem_set(problem, "%s: %s", error.field, error.reason);
}

static bool make_sample(struct calibrate *c, size_t i, struct problem *problem)
{
    struct setting settings[KEYS_MAX];
    unsigned char *scenario = c->scenarios + i * c->system->scenario_size;
    for (size_t k = 0; k < c->sweep_count; k++)
        settings[k] = c->sweeps[k].values[0];
    for (size_t d = 0; d < c->choice_count; d++) {
        const size_t k = c->choice_sweep[d];
        const int drawn = sc_design_drawn(&c->design, i, d);
        for (size_t j = 0; j < c->sweeps[k].count; j++)
            if (c->indices[k][j] == drawn)
                settings[k] = c->sweeps[k].values[j];
    }
    if (!resolver_build(c->resolver, settings, c->sweep_count, scenario, problem))
        return false;
    sc_design_sample(&c->design, i, scenario);
    c->groups[i] = c->group_field != NULL ? (size_t)sc_field_get(c->group_field, scenario) : 0;
    c->slowdowns[i] = (double)NAN;
    return true;
}

static void list_observed(struct calibrate *c)
{
    c->observed[c->observed_count++] = &c->system->metrics[0];
    for (size_t i = 0; i < sizeof also_fitted / sizeof also_fitted[0]; i++) {
        const struct also_fitted *row = &also_fitted[i];
        if (strcmp(row->system, c->system->name) != 0)
            continue;
        c->whole = row->whole;
        for (size_t m = 0; m < OBSERVED_MAX && row->metrics[m] != NULL; m++)
            c->observed[c->observed_count++] = sc_system_metric(c->system, row->metrics[m]);
    }
}

/* The place among the choices of the preset that is held out whole; SIZE_MAX: none, or too
 * few of its rows are drawn to have some in each set. */
static size_t whole_choice(const struct calibrate *c)
{
    enum { LEAST = 6 };
    for (size_t d = 0; c->whole != NULL && d < c->choice_count; d++) {
        const struct sweep *sweep = &c->sweeps[c->choice_sweep[d]];
        if (strcmp(sweep->field->key, c->whole) == 0)
            return sweep->count >= LEAST ? d : SIZE_MAX;
    }
    return SIZE_MAX;
}

/* Half of the rows to fit, a quarter for intervals, a quarter to report on. */
static bool split_whole(struct calibrate *c, size_t choice, struct problem *problem)
{
    struct sc_error error;
    const size_t rows = c->sweeps[c->choice_sweep[choice]].count;
    const struct sc_shares shares = { { 0.5, 0.25, 0.25 } };
    enum sc_set *of_row = calloc(rows, sizeof *of_row);
    size_t *labels = calloc(rows, sizeof *labels); /* all alike: divided exactly */
    const bool fine = of_row != NULL && labels != NULL &&
                      sc_split(c->seed, &shares, labels, rows, of_row, &error) == SC_OK;
    for (size_t i = 0; fine && i < c->samples; i++)
        c->sets[i] = of_row[sc_design_drawn(&c->design, i, choice)];
    free(of_row);
    free(labels);
    return fine || problem_set(problem, "out of memory");
}

static bool split(struct calibrate *c, struct problem *problem)
{
    struct sc_error error;
    const size_t choice = whole_choice(c);
    if (choice != SIZE_MAX)
        return split_whole(c, choice, problem);
    const double fit = fmin(fit_share, FIT_MOST / (double)c->samples);
    const struct sc_shares shares = { { fit, 0.5 * (1.0 - fit), 0.5 * (1.0 - fit) } };
    return sc_split(c->seed, &shares, c->groups, c->samples, c->sets, &error) == SC_OK ||
           problem_set(problem, "%s: %s", error.field, error.reason);
}

static bool make_samples(struct calibrate *c, struct problem *problem)
{
    list_observed(c);
    c->group_field = sc_system_field(c->system, "policy");
    c->scenarios = calloc(c->samples, c->system->scenario_size);
    c->slowdowns = calloc(c->samples, sizeof *c->slowdowns);
    c->values = calloc(c->samples * c->observed_count, sizeof *c->values);
    c->groups = calloc(c->samples, sizeof *c->groups);
    c->sets = calloc(c->samples, sizeof *c->sets);
    c->predicted = calloc(c->samples, sizeof *c->predicted);
    c->residuals = calloc(c->samples, sizeof *c->residuals);
    c->fit_rows = calloc(c->samples, sizeof *c->fit_rows);
    if (c->scenarios == NULL || c->slowdowns == NULL || c->values == NULL ||
        c->groups == NULL || c->sets == NULL || c->predicted == NULL || c->residuals == NULL || c->fit_rows == NULL)
        return problem_set(problem, "out of memory");
    for (size_t i = 0; i < c->samples; i++)
        if (!make_sample(c, i, problem))
            return false;
    return split(c, problem);
}

/* ---- runs ---- */

/* Two calibrations may share runs only if every scenario is the same. */
static uint64_t identity(const struct calibrate *c)
{
    uint64_t hash = 14695981039346656037U;
    for (size_t i = 0; i < c->samples * c->system->scenario_size; i++)
        hash = (hash ^ c->scenarios[i]) * 1099511628211U;
    return hash;
}

/* Nothing is kept beside what is no file, standard output or a device. */
static bool open_runs(struct calibrate *c, const char *output, struct problem *problem)
{
    char heading[JOURNAL_HEADING_MAX];
    if (!output_check(output, problem))
        return false;
    if (!output_is_file(output))
        return true;
    (void)snprintf(heading, sizeof heading, "%s,%s,%" PRIu64 ",%zu,%016" PRIx64, SC_SIM_VERSION,
                   c->system->name, c->seed, c->samples * c->observed_count, identity(c));
    const size_t width = c->observed_count;
    for (size_t v = 0; v < c->samples * width; v++)
        c->values[v] = (double)NAN;
    if (!journal_open(&c->journal, output, heading, c->values, c->samples * width, problem))
        return false;
    for (size_t i = 0; i < c->samples; i++) {
        bool whole = true;
        for (size_t m = 0; m < width; m++)
            whole = whole && !isnan(c->values[i * width + m]);
        if (whole)
            c->slowdowns[i] = c->values[i * width];
    }
    return true;
}

/* What went wrong, and the sample as one would give it to `simulate`. */
static bool describe_sample(const struct calibrate *c, size_t i, enum sc_status status,
                            const struct sc_error *error, struct problem *problem)
{
    struct text drawn = { 0 };
    const void *scenario = c->scenarios + i * c->system->scenario_size;
    for (size_t d = 0; d < c->choice_count; d++) {
        const struct sweep *sweep = &c->sweeps[c->choice_sweep[d]];
        for (size_t j = 0; j < sweep->count; j++)
            if (c->indices[c->choice_sweep[d]][j] == sc_design_drawn(&c->design, i, d))
                text_printf(&drawn, " %s=%s", sweep->field->key, setting_name(&sweep->values[j]));
    }
    for (size_t k = 0; k < c->design.dimension_count; k++) {
        const struct sc_field *field = c->design.dimensions[k].field;
        if (c->design.dimensions[k].choice != NULL)
            continue;
        text_printf(&drawn, " %s=", field->key);
        scenario_value(sc_field_get(field, scenario), field->dimension, &drawn);
    }
    scenario_describe_error(c->system, status, error, problem);
    const struct problem inner = *problem;
    (void)problem_set(problem, "%s: %s%s", inner.text, c->system->name,
                      drawn.failed ? "" : drawn.bytes);
    text_fini(&drawn);
    return false;
}

static double metric_of(const struct sc_metric *metric, const unsigned char *answer)
{
    double value;
    memcpy(&value, answer + metric->offset, sizeof value);
    return value;
}

/* What is simulated; all 0 when the sampled values contradict each other, or are more than
 * is simulated. */
static bool simulate(struct calibrate *c, size_t i, double *values, struct problem *problem)
{
    _Alignas(max_align_t) unsigned char answer[SC_ANSWER_MAX];
    const void *scenario = c->scenarios + i * c->system->scenario_size;
    const struct sc_sim_options options = { .seed = c->seed, .run = i };
    struct sc_sim_report report = { 0 };
    struct sc_error error = { 0 };
    for (size_t m = 0; m < c->observed_count; m++)
        values[m] = 0.0;
    if (c->system->estimate(scenario, answer, NULL, &error) != SC_OK)
        return true;
    const enum sc_status status =
        c->simulator->simulate(scenario, &options, answer, &report, &error);
    if (status == SC_ERANGE)
        return true;
    if (status != SC_OK)
        return describe_sample(c, i, status, &error, problem);
    for (size_t m = 0; m < c->observed_count; m++)
        values[m] = metric_of(c->observed[m], answer);
    return true;
}

/* Keeps what a run came to.  Under the lock. */
static void keep(struct calibrate *c, size_t i)
{
    const size_t width = c->observed_count;
    c->slowdowns[i] = c->values[i * width];
    for (size_t m = 0; m < width && c->fault.text[0] == '\0'; m++)
        (void)journal_add(&c->journal, i * width + m, c->values[i * width + m], &c->fault);
}

static void *work(void *argument)
{
    struct calibrate *c = argument;
    for (;;) {
        struct problem problem = { "" };
        (void)pthread_mutex_lock(&c->lock);
        while (c->next < c->samples && !isnan(c->slowdowns[c->next]))
            c->next++;
        const size_t i = c->next++;
        const bool stop = i >= c->samples || c->fault.text[0] != '\0';
        (void)pthread_mutex_unlock(&c->lock);
        if (stop)
            return NULL;
        const bool fine = simulate(c, i, &c->values[i * c->observed_count], &problem);
        (void)pthread_mutex_lock(&c->lock);
        if (!fine && c->fault.text[0] == '\0')
            (void)problem_set(&c->fault, "sample %zu: %s", i, problem.text);
        if (fine)
            keep(c, i);
        c->run_now++;
        progress_step(&c->progress);
        (void)pthread_mutex_unlock(&c->lock);
    }
}

static bool run_samples(struct calibrate *c, struct problem *problem)
{
    pthread_t *threads = calloc(c->jobs + 1, sizeof *threads);
    size_t started = 0, left = 0;
    for (size_t i = 0; i < c->samples; i++)
        left += isnan(c->slowdowns[i]) ? 1 : 0;
    progress_start(&c->progress, "simulate", left);
    if (threads == NULL) {
        (void)work(c);
    } else {
        for (size_t i = 1; i < c->jobs; i++)
            if (pthread_create(&threads[started], NULL, work, c) == 0)
                started++;
        (void)work(c);
        for (size_t i = 0; i < started; i++)
            (void)pthread_join(threads[i], NULL);
    }
    progress_end(&c->progress);
    free(threads);
    *problem = c->fault;
    return c->fault.text[0] == '\0';
}

/* ---- samples without an answer ---- */

/* How many there are, how many for the reason of the first of them, and how many that
 * the closed form has an answer for. */
struct voids {
    size_t count, alike, too_large;
    struct problem first;
};

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static void find_voids(const struct calibrate *c, struct voids *voids)
{
    _Alignas(max_align_t) unsigned char answer[SC_ANSWER_MAX];
    struct sc_error first = { 0 };
    *voids = (struct voids){ 0 };
    for (size_t i = 0; i < c->samples; i++) {
        const void *scenario = c->scenarios + i * c->system->scenario_size;
        struct sc_error error = { 0 };
        if (isnan(c->slowdowns[i]) || c->slowdowns[i] > 0.0)
            continue;
        voids->count++;
        const enum sc_status status = c->system->estimate(scenario, answer, NULL, &error);
        if (status == SC_OK) {
            voids->too_large++;
            continue;
        }
        if (voids->alike == 0) {
            first = error;
            scenario_describe_error(c->system, status, &error, &voids->first);
        }
        voids->alike += same_text(first.field, error.field) && same_text(first.reason, error.reason);
    }
}

/* "4 without an answer, 3 of them since ..." */
static void describe_voids(const struct voids *voids, struct text *out)
{
    text_printf(out, "%zu without an answer", voids->count);
    if (voids->alike > 0)
        text_printf(out, ", %zu of them since %s", voids->alike, voids->first.text);
    if (voids->too_large > 0)
        text_printf(out, ", %zu of them too large to simulate", voids->too_large);
}

/* A fit that fails may lack the samples that have no answer. */
static bool blame_voids(const struct calibrate *c, struct problem *problem)
{
    const struct problem inner = *problem;
    struct text said = { 0 };
    struct voids voids;
    find_voids(c, &voids);
    describe_voids(&voids, &said);
    if (voids.count > 0 && !said.failed)
        (void)problem_set(problem, "%s; of %zu samples %s", inner.text, c->samples, said.bytes);
    text_fini(&said);
    return false;
}

static bool check_voids(const struct calibrate *c, struct problem *problem)
{
    struct voids voids;
    find_voids(c, &voids);
    if (voids.count < c->samples)
        return true;
    struct text said = { 0 };
    describe_voids(&voids, &said);
    const char *reasons = said.failed ? NULL : strchr(said.bytes, ',');
    (void)problem_set(problem, "none of %zu samples has an answer%s", voids.count,
                      reasons != NULL ? reasons : "");
    text_fini(&said);
    return false;
}

/* ---- the fit ---- */

static bool is_share(const struct sc_metric *metric)
{
    return metric->dimension == SC_SHARE;
}

/* Logarithms, but shares as they are: a tenth more or less of either counts alike. */
static void scale_observed(const struct calibrate *c, double *values)
{
    for (size_t m = 0; m < c->observed_count; m++)
        if (!is_share(c->observed[m]))
            values[m] = log(values[m]);
}

static bool predict_all(const struct calibrate *c, size_t i, const double *coefficients,
                        double *values)
{
    _Alignas(max_align_t) unsigned char scenario[SC_SCENARIO_MAX], answer[SC_ANSWER_MAX];
    struct sc_error error;
    memcpy(scenario, c->scenarios + i * c->system->scenario_size, c->system->scenario_size);
    for (size_t k = 0; k < c->parameter_count; k++)
        sc_field_set(c->fields[k], scenario, coefficients[k]);
    if (c->system->estimate(scenario, answer, NULL, &error) != SC_OK)
        return false;
    for (size_t m = 0; m < c->observed_count; m++)
        values[m] = metric_of(c->observed[m], answer);
    scale_observed(c, values);
    return true;
}

static bool predict_one(const struct calibrate *c, size_t i, const double *coefficients,
                        double *log_slowdown)
{
    double values[OBSERVED_MAX + 1] = { 0 };
    const bool fine = predict_all(c, i, coefficients, values);
    *log_slowdown = fine ? values[0] : (double)NAN;
    return fine;
}

static enum sc_status predict(const double *parameters, double *log_predictions, void *context)
{
    const struct calibrate *c = context;
    const size_t width = c->observed_count;
    for (size_t i = 0; i < c->fit_count; i++)
        if (!predict_all(c, c->fit_rows[i], parameters, &log_predictions[i * width]))
            for (size_t m = 0; m < width; m++)
                log_predictions[i * width + m] = (double)NAN;
    return SC_OK;
}

/* A system without coefficients only gets its intervals. */
static void list_coefficients(struct calibrate *c)
{
    for (size_t i = 0; i < c->system->field_count; i++) {
        const struct sc_field *field = &c->system->fields[i];
        if (field->provenance != SC_CALIBRATED || is_given(c, field->key) ||
            c->parameter_count == COEFFICIENTS_MAX)
            continue;
        c->fields[c->parameter_count] = field;
        c->parameters[c->parameter_count++] = (struct sc_fit_parameter){
            .name = field->key, .initial = field->fallback, .transform = SC_FIT_LOG,
            .low = fmax(field->minimum, 0.05 * field->fallback),
            .high = fmin(field->maximum, 20.0 * field->fallback) };
    }
}

/* What the samples say nothing about stays as it was, wherever the search left it. */
static void restore_unused(struct calibrate *c)
{
    for (size_t k = 0; k < c->parameter_count; k++) {
        struct sc_fit_estimate *estimate = &c->fit.estimates[k];
        double coefficients[COEFFICIENTS_MAX] = { 0 };
        double before[OBSERVED_MAX + 1] = { 0 }, after[OBSERVED_MAX + 1] = { 0 };
        bool same = estimate->verdict == SC_FIT_NO_EFFECT;
        for (size_t j = 0; j < c->parameter_count; j++)
            coefficients[j] = c->fit.estimates[j].value;
        for (size_t i = 0; same && i < c->fit_count; i++) {
            coefficients[k] = estimate->value;
            same = predict_all(c, c->fit_rows[i], coefficients, before);
            coefficients[k] = c->parameters[k].initial;
            same = same && predict_all(c, c->fit_rows[i], coefficients, after) &&
                   sc_are_equal(before, after, c->observed_count);
        }
        if (same)
            estimate->value = c->parameters[k].initial;
    }
}

/* Where next to nothing is covered there is but a handful of prefetches, of which it says
 * little when they came or how many were of use. */
static double weight_of(const struct calibrate *c, size_t m, const double *values)
{
    const double few = 0.01;
    for (size_t k = 1; k < c->observed_count; k++)
        if (strcmp(c->observed[k]->column, "coverage") == 0 && is_share(c->observed[m]) && k != m)
            return values[k] > few ? 1.0 : 0.0;
    return 1.0;
}

static bool fit_coefficients(struct calibrate *c, struct problem *problem)
{
    struct sc_error error = { 0 };
    if (c->parameter_count == 0)
        return true;
    const size_t width = c->observed_count;
    struct sc_fit_observation *observations = calloc(c->samples * width, sizeof *observations);
    if (observations == NULL)
        return problem_set(problem, "out of memory");
    for (size_t i = 0; i < c->samples; i++) {
        if (c->sets[i] != SC_SET_FIT || !(c->slowdowns[i] > 0.0) ||
            (c->fit_count + 1) * width > FIT_MOST)
            continue;
        double values[OBSERVED_MAX + 1];
        memcpy(values, &c->values[i * width], width * sizeof *values);
        scale_observed(c, values);
        for (size_t m = 0; m < width; m++)
            observations[c->fit_count * width + m] = (struct sc_fit_observation){
                .log_value = values[m], .weight = weight_of(c, m, &c->values[i * width]) };
        c->fit_rows[c->fit_count++] = i;
    }
    const struct sc_fit_problem fit = { .parameters = c->parameters,
                                        .parameter_count = c->parameter_count,
                                        .observations = observations,
                                        .observation_count = c->fit_count * width,
                                        .predict = predict,
                                        .context = c };
    const struct sc_fit_options thorough = { .starts = 4, .seed = c->seed };
    /* Where an estimate is a fixed point it takes a thousand times as long, and its small
     * steps keep the last digits from settling. */
    const struct sc_fit_options brief = { .starts = 1, .seed = c->seed, .iterations = 12,
                                          .rounds = 12, .difference_step = 0.03,
                                          .skip_profiles = true };
    const struct sc_fit_options options = c->whole != NULL ? brief : thorough;
    const enum sc_status status = sc_fit_solve(&c->fit, &fit, &options, &error);
    free(observations);
    if (status != SC_OK)
        return problem_set(problem, "fit: %s: %s", error.field != NULL ? error.field : "failed",
                           error.reason != NULL ? error.reason : "no reason given");
    restore_unused(c);
    return true;
}

/* Predictions for all samples, and quantiles from the set that is for them. */
static bool find_intervals(struct calibrate *c, struct problem *problem)
{
    struct sc_error error = { 0 };
    double *residuals = calloc(c->samples, sizeof *residuals);
    size_t *groups = calloc(c->samples, sizeof *groups), n = 0;
    if (residuals == NULL || groups == NULL) {
        free(residuals);
        free(groups);
        return problem_set(problem, "out of memory");
    }
    for (size_t k = 0; k < c->parameter_count; k++)
        c->coefficients[k] = c->fit.estimates[k].value;
    for (size_t i = 0; i < c->samples; i++) {
        double log_slowdown = 0.0;
        if (!(c->slowdowns[i] > 0.0) || !predict_one(c, i, c->coefficients, &log_slowdown)) {
            c->slowdowns[i] = 0.0;
            continue;
        }
        c->predicted[i] = exp(log_slowdown);
        c->residuals[i] = log_slowdown - log(c->slowdowns[i]);
        if (c->sets[i] != SC_SET_CONFORMAL)
            continue;
        residuals[n] = c->residuals[i];
        groups[n++] = c->groups[i];
    }
    const size_t group_count = c->group_field != NULL ? c->group_field->choice_count : 0;
    const enum sc_status status = sc_conformal_init(&c->conformal, residuals, NULL,
                                                    group_count > 0 ? groups : NULL, n, group_count,
                                                    20, &error);
    free(residuals);
    free(groups);
    return status == SC_OK || problem_set(problem, "interval: %s", error.reason);
}

/* ---- the report ---- */

static const char *group_name(const struct calibrate *c, size_t group)
{
    return c->group_field != NULL ? sc_field_choice(c->group_field, group)->name : c->system->name;
}

/* Scores of one group of the hold-out set; group SIZE_MAX: of all. */
static bool score_group(const struct calibrate *c, size_t group, struct sc_score *score,
                        struct problem *problem)
{
    struct sc_error error;
    size_t n = 0;
    double *columns = calloc(4 * c->samples + 1, sizeof *columns);
    if (columns == NULL)
        return problem_set(problem, "out of memory");
    double *predicted = columns, *actual = columns + c->samples, *low = actual + c->samples,
           *high = low + c->samples;
    for (size_t i = 0; i < c->samples; i++) {
        struct sc_conformal_quantile quantile;
        if (c->sets[i] != SC_SET_HOLDOUT || !(c->slowdowns[i] > 0.0) ||
            (group != SIZE_MAX && c->groups[i] != group))
            continue;
        predicted[n] = c->predicted[i];
        actual[n] = c->slowdowns[i];
        low[n] = high[n] = (double)NAN;
        if (sc_conformal_find(&c->conformal, c->group_field != NULL ? c->groups[i] : SIZE_MAX,
                              report_level, &quantile, &error) == SC_OK) {
            const struct sc_conformal_interval interval =
                sc_conformal_interval(predicted[n], quantile.quantile, 1.0);
            low[n] = interval.low;
            high[n] = interval.high;
        }
        n++;
    }
    const enum sc_status status = sc_score_compute(score, predicted, actual, low, high, n, &error);
    free(columns);
    return status == SC_OK || problem_set(problem, "score: %s", error.reason);
}

/* Beside the calibration on standard output the report would be read as part of it. */
static bool print_table(const struct calibrate *c, const struct emit_style *style,
                        const struct emit_column *columns, const struct emit_cell *cells,
                        size_t rows, size_t count, struct problem *problem)
{
    struct text out = { 0 };
    struct output output;
    emit_table(style, columns, cells, rows, count, &out);
    text_add_char(&out, '\n');
    bool fine = !out.failed || problem_set(problem, "out of memory");
    if (fine && c->to_standard_output) {
        (void)fputs(out.bytes, stderr);
    } else if (fine && (fine = output_open(&output, NULL, problem))) {
        (void)output_write(&output, out.bytes, out.length, problem);
        fine = output_commit(&output, problem);
    }
    text_fini(&out);
    return fine;
}

static bool print_coefficients(const struct calibrate *c, const struct emit_style *style,
                               struct problem *problem)
{
    static const struct emit_column columns[] = { { .name = "coefficient" }, { .name = "estimate" },
                                                  { .name = "std_error" },   { .name = "low_95" },
                                                  { .name = "high_95" },     { .name = "verdict" } };
    struct emit_cell *cells = calloc(6 * c->parameter_count, sizeof *cells);
    if (cells == NULL)
        return problem_set(problem, "out of memory");
    for (size_t k = 0; k < c->parameter_count; k++) {
        const struct sc_fit_estimate *estimate = &c->fit.estimates[k];
        struct emit_cell *row = cells + 6 * k;
        row[0] = emit_string(estimate->name);
        row[1] = emit_number(estimate->value);
        row[2] = emit_number(estimate->identified ? estimate->std_error : (double)NAN);
        row[3] = emit_number(estimate->identified ? estimate->low : (double)NAN);
        row[4] = emit_number(estimate->identified ? estimate->high : (double)NAN);
        row[5] = emit_string(estimate->identified ? "identified" : estimate->why);
    }
    const bool fine = print_table(c, style, columns, cells, c->parameter_count, 6, problem);
    free(cells);
    return fine;
}

static bool print_scores(const struct calibrate *c, const struct emit_style *style,
                         struct problem *problem)
{
    static const struct emit_column columns[] = {
        { .name = "hold-out" },       { .name = "n" },        { .name = "median_error_percent" },
        { .name = "mape_percent" },   { .name = "bias_percent" }, { .name = "worst_percent" },
        { .name = "kendall_tau" },    { .name = "coverage_90" }, { .name = "interval_ratio" },
    };
    enum { COLUMNS = sizeof columns / sizeof columns[0] };
    const size_t groups = c->group_field != NULL ? c->group_field->choice_count : 0;
    struct emit_cell *cells = calloc(COLUMNS * (groups + 1), sizeof *cells);
    size_t rows = 0;
    bool fine = true;
    if (cells == NULL)
        return problem_set(problem, "out of memory");
    for (size_t g = 0; fine && g <= groups; g++) {
        struct sc_score score = { 0 };
        fine = score_group(c, g < groups ? g : SIZE_MAX, &score, problem);
        if (!fine || score.n == 0)
            continue;
        struct emit_cell *row = cells + COLUMNS * rows++;
        row[0] = emit_string(g < groups ? group_name(c, g) : "all");
        row[1] = emit_number((double)score.n);
        row[2] = emit_number(100.0 * score.median_error);
        row[3] = emit_number(100.0 * score.mape);
        row[4] = emit_number(100.0 * expm1(score.bias));
        row[5] = emit_number(100.0 * score.max_error);
        row[6] = emit_number(score.kendall_tau);
        row[7] = emit_number(score.coverage);
        row[8] = emit_number(score.interval_ratio);
    }
    fine = fine && print_table(c, style, columns, cells, rows, COLUMNS, problem);
    bool unknown = false;
    for (size_t i = 0; i < COLUMNS * rows; i++)
        unknown = unknown || cells[i].kind == EMIT_EMPTY;
    if (fine && unknown)
        (void)fputs("- in a column: unknown, from too few held-out samples or from values that are "
                    "all alike\n", stderr);
    free(cells);
    return fine;
}

/* Mean absolute errors of what is fitted, over the held-out samples of one row of the
 * preset that is held out whole; choice SIZE_MAX: of all. */
static size_t errors_of(const struct calibrate *c, size_t choice, int row, double *errors)
{
    size_t n = 0;
    for (size_t m = 0; m < c->observed_count; m++)
        errors[m] = 0.0;
    for (size_t i = 0; i < c->samples; i++) {
        double actual[OBSERVED_MAX + 1], predicted[OBSERVED_MAX + 1];
        if (c->sets[i] != SC_SET_HOLDOUT || !(c->slowdowns[i] > 0.0) ||
            (row >= 0 && sc_design_drawn(&c->design, i, choice) != row) ||
            !predict_all(c, i, c->coefficients, predicted))
            continue;
        memcpy(actual, &c->values[i * c->observed_count], sizeof *actual * c->observed_count);
        scale_observed(c, actual);
        for (size_t m = 0; m < c->observed_count; m++) {
            const double error = predicted[m] - actual[m];
            errors[m] += fabs(is_share(c->observed[m]) ? error : expm1(error));
        }
        n++;
    }
    for (size_t m = 0; m < c->observed_count && n > 0; m++)
        errors[m] *= 100.0 / (double)n;
    return n;
}

/* What was held out whole, row by row: shares in points, all else in per cent. */
static bool print_whole(const struct calibrate *c, const struct emit_style *style,
                        struct problem *problem)
{
    const size_t choice = whole_choice(c), columns = c->observed_count + 2;
    if (choice == SIZE_MAX)
        return true;
    const struct sweep *sweep = &c->sweeps[c->choice_sweep[choice]];
    struct emit_column names[OBSERVED_MAX + 3] = { { .name = "held out" }, { .name = "n" } };
    struct emit_cell *cells = calloc(columns * (sweep->count + 1), sizeof *cells);
    if (cells == NULL)
        return problem_set(problem, "out of memory");
    struct text titles[OBSERVED_MAX + 1] = { { 0 } };
    for (size_t m = 0; m < c->observed_count; m++) {
        text_printf(&titles[m], "%s_%s", c->observed[m]->column,
                    is_share(c->observed[m]) ? "points" : "percent");
        names[m + 2].name = titles[m].failed ? "" : titles[m].bytes;
    }
    size_t rows = 0;
    for (size_t r = 0; r <= sweep->count; r++) {
        double errors[OBSERVED_MAX + 1];
        const bool all = r == sweep->count;
        const size_t n = errors_of(c, choice, all ? -1 : (int)r, errors);
        if (n == 0)
            continue;
        struct emit_cell *row = cells + columns * rows++;
        row[0] = emit_string(all ? "all" : setting_name(&sweep->values[r]));
        row[1] = emit_number((double)n);
        for (size_t m = 0; m < c->observed_count; m++)
            row[m + 2] = emit_number(errors[m]);
    }
    const bool fine = print_table(c, style, names, cells, rows, columns, problem);
    for (size_t m = 0; m < c->observed_count; m++)
        text_fini(&titles[m]);
    free(cells);
    return fine;
}

static void print_counts(const struct calibrate *c)
{
    size_t counts[SC_SETS] = { 0 };
    struct text said = { 0 };
    struct voids voids;
    for (size_t i = 0; i < c->samples; i++)
        counts[c->sets[i]]++;
    find_voids(c, &voids);
    describe_voids(&voids, &said);
    (void)fprintf(stderr, "%zu samples (%zu run now): %zu to fit, %zu for intervals, %zu held out; %s\n",
                  c->samples, c->run_now, counts[SC_SET_FIT], counts[SC_SET_CONFORMAL],
                  counts[SC_SET_HOLDOUT], said.failed ? "out of memory" : said.bytes);
    text_fini(&said);
}

/* "; NAME 1.25", or why it has no value. */
static void add_statistic(struct text *out, const char *name, double value, int digits,
                          const char *why)
{
    char number[SC_NUMBER_MAX];
    text_printf(out, "; %s ", name);
    if (isfinite(value))
        text_add(out, number, sc_number_format(number, value, digits));
    else
        text_printf(out, "unknown (%s)", why);
}

static void print_fit(const struct sc_fit *fit)
{
    struct text out = { 0 };
    text_printf(&out, "%s after %zu rounds", fit->converged ? "converged" : "did not converge",
                fit->rounds);
    add_statistic(&out, "condition number", fit->condition, 3,
                  "the samples determine no coefficient");
    add_statistic(&out, "residual sd", fit->residual_sd, 3, "no more samples than coefficients");
    add_statistic(&out, "robust scale", fit->robust_scale, 3, "too few samples");
    add_statistic(&out, "R2", fit->r_squared, 4, "all slowdowns are alike");
    if (fit->r_squared < 0.0)
        text_add_string(&out, " (below 0: one slowdown for all would fit better)");
    (void)fprintf(stderr, "%s\n", out.failed ? "out of memory" : out.bytes);
    text_fini(&out);
}

static bool print_report(const struct calibrate *c, struct problem *problem)
{
    const struct emit_style style = { .format = EMIT_TABLE, .digits = 3, .decimal = '.' };
    print_counts(c);
    if (c->parameter_count == 0)
        return print_scores(c, &style, problem) && print_whole(c, &style, problem);
    print_fit(&c->fit);
    for (size_t k = 0; k < c->parameter_count; k++)
        for (size_t j = 0; j < k; j++) {
            const double r = c->fit.correlation[k * c->parameter_count + j];
            if (fabs(r) > 0.5)
                (void)fprintf(stderr, "%s and %s are correlated: %.2f\n", c->parameters[k].name,
                              c->parameters[j].name, r);
        }
    return print_coefficients(c, &style, problem) && print_scores(c, &style, problem) &&
           print_whole(c, &style, problem);
}

/* ---- the file ---- */

/* Storage of what sc_params only points to. */
struct filing {
    struct sc_params params;
    struct sc_params_parameter parameters[COEFFICIENTS_MAX];
    double covariance[COEFFICIENTS_MAX * COEFFICIENTS_MAX];
    struct sc_params_group *groups;
    struct sc_params_quantile *quantiles;
    struct sc_params_region *regions;
    struct sc_params_score *scores;
    struct text whole_names[OBSERVED_MAX + 2];
};

static void file_parameters(const struct calibrate *c, struct filing *f)
{
    for (size_t k = 0; k < c->parameter_count; k++) {
        const struct sc_fit_estimate *e = &c->fit.estimates[k];
        const bool known = e->identified && isfinite(e->std_error);
        f->parameters[k] = (struct sc_params_parameter){
            .name = e->name, .value = e->value,
            .std_error = known ? e->std_error : (double)NAN,
            .low = known ? e->low : (double)NAN,
            .high = known ? e->high : (double)NAN,
            .kind = known ? SC_PARAMS_FITTED : SC_PARAMS_UNIDENTIFIED,
            .note = e->why != NULL ? e->why : "" };
    }
    for (size_t k = 0; k < c->parameter_count; k++)
        for (size_t j = 0; j < c->parameter_count; j++) {
            const bool known = f->parameters[k].kind == SC_PARAMS_FITTED &&
                               f->parameters[j].kind == SC_PARAMS_FITTED;
            f->covariance[k * c->parameter_count + j] =
                known ? c->fit.covariance[k * c->parameter_count + j] : 0.0;
        }
    f->params.parameters = f->parameters;
    f->params.parameter_count = c->parameter_count;
    f->params.covariance = f->covariance;
}

static size_t points_of(const struct calibrate *c, size_t group)
{
    size_t n = 0;
    for (size_t i = 0; i < c->samples; i++)
        n += c->sets[i] == SC_SET_CONFORMAL && c->slowdowns[i] > 0.0 &&
             (group == SIZE_MAX || c->groups[i] == group);
    return n;
}

/* Levels of one group that its own points are enough for. */
static void file_group(const struct calibrate *c, size_t group, struct filing *f)
{
    struct sc_params_group *out = &f->groups[f->params.group_count];
    const size_t first = f->params.quantile_count;
    for (size_t i = 0; i < sc_conformal_level_count; i++) {
        struct sc_conformal_quantile quantile;
        struct sc_error error;
        if (sc_conformal_find(&c->conformal, group, sc_conformal_levels[i], &quantile, &error) !=
                SC_OK ||
            (group != SIZE_MAX && quantile.pooled))
            continue;
        f->quantiles[f->params.quantile_count++] =
            (struct sc_params_quantile){ .level = sc_conformal_levels[i],
                                         .quantile = quantile.quantile };
    }
    if (f->params.quantile_count == first)
        return;
    *out = (struct sc_params_group){
        .name = group == SIZE_MAX ? SC_PARAMS_POOLED : group_name(c, group),
        .points = points_of(c, group), .first = first,
        .count = f->params.quantile_count - first };
    f->params.group_count++;
}

/* What the samples have seen: the ranges that were drawn from, and of every other
 * number what it was, one value or those of the models and GPUs drawn. */
static void file_regions(const struct calibrate *c, struct filing *f)
{
    const struct scenarios scenarios = { c->system, c->scenarios, c->system->scenario_size,
                                         c->samples };
    for (size_t i = 0; i < c->system->field_count; i++) {
        const struct sc_field *field = &c->system->fields[i];
        struct sc_params_region region = { .field = field->key };
        bool kept = false;
        for (size_t k = 0; k < c->kept_count; k++)
            kept = kept || strcmp(c->kept[k], field->key) == 0;
        if (!region_has_range(field) ||
            !region_range(&scenarios, field, &region.low, &region.high) ||
            !region_matters(&scenarios, field))
            continue;
        if (field->sample_low < field->sample_high && !kept) {
            region.low = field->sample_low;
            region.high = field->sample_high;
        }
        f->regions[f->params.region_count++] = region;
    }
    for (size_t k = 0; k < c->sweep_count; k++)
        for (size_t j = 0; c->sweeps[k].field->kind == SC_CHOICE && j < c->sweeps[k].count; j++)
            f->regions[f->params.region_count++] = (struct sc_params_region){
                .field = c->sweeps[k].field->key, .choice = setting_name(&c->sweeps[k].values[j]),
                .low = (double)NAN, .high = (double)NAN };
}

static void file_score(struct filing *f, const char *name, const char *key, double value,
                       const char *note)
{
    if (isfinite(value))
        f->scores[f->params.score_count++] =
            (struct sc_params_score){ .name = name, .key = key, .value = value, .note = note };
}

/* What was held out whole, row by row and all together, as print_whole has it. */
static bool file_whole(const struct calibrate *c, struct filing *f, struct problem *problem)
{
    const size_t choice = whole_choice(c), count = c->observed_count;
    if (choice == SIZE_MAX)
        return true;
    const struct sweep *sweep = &c->sweeps[c->choice_sweep[choice]];
    text_printf(&f->whole_names[count], "%s_points", c->whole);
    for (size_t m = 0; m < count; m++)
        text_printf(&f->whole_names[m], "%s_%s_error", c->whole, c->observed[m]->column);
    for (size_t m = 0; m <= count; m++)
        if (f->whole_names[m].failed)
            return problem_set(problem, "out of memory");
    for (size_t r = 0; r <= sweep->count; r++) {
        double errors[OBSERVED_MAX + 1];
        const bool all = r == sweep->count;
        const size_t n = errors_of(c, choice, all ? -1 : (int)r, errors);
        const char *key = all ? SC_PARAMS_POOLED : setting_name(&sweep->values[r]);
        if (n == 0)
            continue;
        file_score(f, f->whole_names[count].bytes, key, (double)n, "held out");
        for (size_t m = 0; m < count; m++)
            file_score(f, f->whole_names[m].bytes, key, errors[m] / 100.0,
                       is_share(c->observed[m]) ? "mean |closed form - simulator|"
                                                : "mean |closed form / simulator - 1|");
    }
    return true;
}

static bool file_scores(const struct calibrate *c, struct filing *f, struct problem *problem)
{
    const size_t groups = c->group_field != NULL ? c->group_field->choice_count : 0;
    for (size_t g = 0; g <= groups; g++) {
        struct sc_score score = { 0 };
        if (!score_group(c, g < groups ? g : SIZE_MAX, &score, problem))
            return false;
        const char *key = g < groups ? group_name(c, g) : SC_PARAMS_POOLED;
        if (score.n == 0)
            continue;
        file_score(f, "holdout_points", key, (double)score.n, "");
        file_score(f, "median_error", key, score.median_error, "");
        file_score(f, "mape", key, score.mape, "");
        file_score(f, "coverage_90", key, score.coverage, "");
    }
    return file_whole(c, f, problem);
}

/* How many rows of scores there may be. */
static size_t score_rows(const struct calibrate *c)
{
    const size_t choice = whole_choice(c);
    const size_t groups = c->group_field != NULL ? c->group_field->choice_count : 0;
    const size_t whole = choice != SIZE_MAX ? c->sweeps[c->choice_sweep[choice]].count + 1 : 0;
    return 4 * (groups + 1) + (OBSERVED_MAX + 2) * whole;
}

static void free_filing(struct filing *f)
{
    if (f == NULL)
        return;
    for (size_t i = 0; i < sizeof f->whole_names / sizeof f->whole_names[0]; i++)
        text_fini(&f->whole_names[i]);
    free(f->groups);
    free(f->quantiles);
    free(f->regions);
    free(f->scores);
    free(f);
}

static struct filing *make_filing(const struct calibrate *c)
{
    const size_t groups = c->group_field != NULL ? c->group_field->choice_count : 0;
    struct filing *f = calloc(1, sizeof *f);
    if (f == NULL)
        return NULL;
    f->groups = calloc(groups + 1, sizeof *f->groups);
    f->quantiles = calloc((groups + 1) * sc_conformal_level_count, sizeof *f->quantiles);
    f->regions = calloc(c->system->field_count + 256, sizeof *f->regions);
    f->scores = calloc(score_rows(c), sizeof *f->scores);
    if (f->groups != NULL && f->quantiles != NULL && f->regions != NULL && f->scores != NULL)
        return f;
    free_filing(f);
    return NULL;
}

static bool fill_filing(const struct calibrate *c, struct filing *f, struct problem *problem)
{
    const size_t groups = c->group_field != NULL ? c->group_field->choice_count : 0;
    f->params.system = c->system->name;
    f->params.simulator = SC_SIM_VERSION;
    f->params.tool = SC_VERSION;
    f->params.seed = c->seed;
    for (size_t i = 0; i < c->samples; i++)
        f->params.samples[c->sets[i]]++;
    f->params.groups = f->groups;
    f->params.quantiles = f->quantiles;
    f->params.regions = f->regions;
    f->params.scores = f->scores;
    file_parameters(c, f);
    file_group(c, SIZE_MAX, f);
    for (size_t g = 0; g < groups; g++)
        file_group(c, g, f);
    file_regions(c, f);
    return file_scores(c, f, problem);
}

static bool write_file(const struct calibrate *c, const char *path, struct problem *problem)
{
    struct filing *const f = make_filing(c);
    if (f == NULL)
        return problem_set(problem, "out of memory");
    const bool fine =
        fill_filing(c, f, problem) && calibration_write(&f->params, path, problem);
    free_filing(f);
    return fine;
}

/* ---- the command ---- */

static bool read_options(struct calibrate *c, const struct options *options,
                         struct problem *problem)
{
    long value = 1000, jobs = sysconf(_SC_NPROCESSORS_ONLN);
    c->seed = 1;
    if (options->output == NULL)
        return problem_set(problem, "calibrate: expected -o FILE, where the calibration goes");
    if (options->samples != NULL &&
        !options_whole("samples", options->samples, 40, 1000000, &value, problem))
        return false;
    c->samples = (size_t)value;
    c->to_standard_output = strcmp(options->output, "-") == 0;
    if (options->seed != NULL) {
        if (!options_whole("seed", options->seed, 0, 2147483647L, &value, problem))
            return false;
        c->seed = (uint64_t)value;
    }
    if (options->jobs != NULL && !options_whole("jobs", options->jobs, 1, 256, &jobs, problem))
        return false;
    c->jobs = jobs < 1 ? 1 : (size_t)jobs;
    return true;
}

static bool calibrate_all(struct calibrate *c, const struct options *options,
                          const char *const *words, size_t count, struct problem *problem)
{
    if (!read_options(c, options, problem))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!add_sweep(c, words[i], problem))
            return false;
    list_coefficients(c);
    return add_defaults(c, problem) && plan_design(c, problem) && make_samples(c, problem) &&
           open_runs(c, options->output, problem) &&
           run_samples(c, problem) && check_voids(c, problem) &&
           ((fit_coefficients(c, problem) && find_intervals(c, problem)) || blame_voids(c, problem)) &&
           write_file(c, options->output, problem) && print_report(c, problem);
}

static int calibrate(const struct command *command, const struct options *options,
                     const char *const *words, size_t word_count, struct catalog *catalog)
{
    struct problem problem = { "" };
    struct calibrate *c = calloc(1, sizeof *c);
    if (c == NULL)
        return command_fail((problem_set(&problem, "out of memory"), &problem));
    c->system = command_system(command, words, word_count, &problem);
    c->simulator = c->system != NULL ? sc_simulator_find(c->system) : NULL;
    bool fine = c->simulator != NULL;
    if (c->system != NULL && !fine)
        (void)problem_set(&problem, "%s has no simulator", c->system->name);
    if (fine) {
        c->resolver = resolver_create(c->system, catalog, &problem);
        fine = c->resolver != NULL;
    }
    (void)pthread_mutex_init(&c->lock, NULL);
    fine = fine && calibrate_all(c, options, words + 1, word_count - 1, &problem);
    journal_close(&c->journal);
    (void)pthread_mutex_destroy(&c->lock);
    sc_conformal_fini(&c->conformal);
    sc_fit_fini(&c->fit);
    for (size_t i = 0; i < c->sweep_count; i++) {
        sweep_fini(&c->sweeps[i]);
        free(c->indices[i]);
    }
    free(c->scenarios);
    free(c->slowdowns);
    free(c->values);
    free(c->groups);
    free(c->sets);
    free(c->fit_rows);
    free(c->predicted);
    free(c->residuals);
    resolver_destroy(c->resolver);
    free(c);
    return fine ? EXIT_FINE : command_fail(&problem);
}

static const struct option_row options[] = {
    OPTION(samples, 'n', "N", "scenarios to simulate (default 1000)"),
    OPTION(seed, 's', "N", "seed of the samples and of every run (default 1)"),
    OPTION(output, 'o', "FILE", "the calibration; finished runs are kept beside it in FILE.runs (not of -)"),
    OPTION(jobs, 'j', "N", "runs at a time (default: one per processor)"),
    OPTION(data, 0, "DIR", "tables of GPUs, models, flash instead of the built-in ones"),
    OPTION(help, 'h', NULL, "this text"),
};

const struct command command_calibrate = {
    .name = "calibrate",
    .usage = "SYSTEM -o FILE [key=value ...] [options]",
    .summary = "fit the closed form's coefficients and intervals to runs of the simulator",
    .details =
        "Samples the ranges of the field table (Sobol points), simulates each, fits the coefficients\n"
        "by robust least squares on half of them (at most 2000), takes the intervals from half of the rest and\n"
        "reports on the rest.  A key given one value is held; a list of names is drawn from.  Stopped\n"
        "in the middle, the same command goes on where it was.  Same seed, same file.\n\n"
        "  stallcast calibrate hbf --samples 2000 -o hbf.params.csv\n"
        "  stallcast calibrate hbf policy=slipstream,h3 model=llama-8b,llama-70b -o mine.csv\n"
        "  stallcast estimate hbf model=llama-8b --params mine.csv\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .run = calibrate,
};
