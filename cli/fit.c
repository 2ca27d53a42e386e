/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stallcast fit: the closed form fitted to the user's own measurements. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibration.h"
#include "command.h"
#include "conformal.h"
#include "fit_keys.h"
#include "number.h"
#include "observed.h"
#include "output.h"
#include "overwrite.h"
#include "product.h"
#include "progress.h"
#include "region.h"
#include "score.h"
#include "sink.h"
#include "text.h"
#include "tune.h"

enum { FOLDS_DEFAULT = 10, FOLDS_BY = 50, FOLDS_MAX = 1000 };
static const double shown_level = 0.9;

/* Predictions of the rows, on the scale of the fit. */
enum stage { BEFORE, FITTED, CROSS_VALIDATED, STAGES };

struct job {
    const struct sc_system *system;
    const struct options *options;
    struct resolver *resolver;
    struct calibration *calibration; /* what it starts from, or NULL */
    const char **words; /* keys of the command line */
    struct product product;
    struct setting *given;
    struct observed observed;
    struct emit_style style;

    struct sc_tune tune;
    struct sc_tune_key keys[SC_TUNE_KEYS_MAX];
    struct sc_tune_row *rows;
    size_t one_sided, left_out;
    struct problem first_left_out;
    struct sc_fit fit;
    double *predicted[STAGES];
    double *residuals; /* of cross-validation, of rows that are known from both sides */
    size_t residual_count;
};

/* ---- rows ---- */

static void leave_out(struct job *job, const struct observed_row *row, const char *reason)
{
    if (job->left_out++ > 0)
        return;
    if (row->bad != NULL)
        (void)problem_set(&job->first_left_out, "%s", reason);
    else
        (void)problem_set(&job->first_left_out, "%s:%zu: %s", job->observed.rows.name, row->line,
                          reason);
}

/* Why the row is not fitted to, or NULL. */
static const char *reason_against(struct job *job, const struct observed_row *row,
                                  struct problem *problem)
{
    struct sc_error error = { 0 };
    double predicted = 0.0;
    if (row->bad != NULL)
        return row->bad;
    const bool may_be_zero = sc_tune_is_plain(job->observed.metric);
    if (row->not_counted != NULL && !(may_be_zero && row->not_counted == observed_zero))
        return row->not_counted;
    const struct sc_tune_row alone = { .scenario = row->scenario, .measured = row->measured };
    const struct sc_tune tune = { .system = job->system, .metric = job->observed.metric,
                                  .rows = &alone, .row_count = 1 };
    const enum sc_status status = sc_tune_predict(&tune, 0, NULL, &predicted, &error);
    if (status == SC_OK)
        return NULL;
    scenario_describe_error(job->system, status, &error, problem);
    return problem->text;
}

static enum sc_fit_censoring censoring_of(enum observed_kind kind)
{
    return kind == OBSERVED_AT_LEAST  ? SC_FIT_AT_LEAST
           : kind == OBSERVED_AT_MOST ? SC_FIT_AT_MOST
                                      : SC_FIT_EXACT;
}

static bool take_rows(struct job *job, struct problem *problem)
{
    const struct observed *const observed = &job->observed;
    job->rows = calloc(observed->count + 1, sizeof *job->rows);
    if (job->rows == NULL)
        return problem_set(problem, "out of memory");
    for (size_t i = 0; i < observed->count; i++) {
        const struct observed_row *const row = &observed->items[i];
        struct problem reason;
        const char *const against = reason_against(job, row, &reason);
        if (against != NULL && row->bad != NULL && job->options->strict != NULL)
            return problem_set(problem, "%s", against);
        if (against != NULL) {
            leave_out(job, row, against);
            continue;
        }
        job->rows[job->tune.row_count++] = (struct sc_tune_row){
            .scenario = row->scenario, .measured = row->measured,
            .censoring = censoring_of(row->kind), .fold = i };
        job->one_sided += row->kind != OBSERVED_EXACT;
    }
    job->tune.rows = job->rows;
    if (job->tune.row_count >= job->one_sided + 2)
        return true;
    return problem_set(problem, "%s: a fit needs two rows with a measurement at least, known from "
                                "both sides, got %zu of %zu rows%s%s",
                       observed->rows.name, job->tune.row_count - job->one_sided, observed->count,
                       job->left_out > 0 ? "; the first that is left out: " : "",
                       job->left_out > 0 ? job->first_left_out.text : "");
}

struct labelled {
    const char *label;
    size_t row;
};

static int by_label(const void *a, const void *b)
{
    const struct labelled *const x = a, *const y = b;
    const int order = strcmp(x->label, y->label);
    return order != 0 ? order : (x->row > y->row) - (x->row < y->row);
}

/* Rows with the same text in a column go to the same fold; `fold` is the number of the row so
 * far.  More texts than folds are dealt out. */
static bool fold_by(struct job *job, const char *name, long folds, struct problem *problem)
{
    const struct observed *const observed = &job->observed;
    const size_t column = observed_column(observed, name), count = job->tune.row_count;
    size_t labels = 0;
    if (column == SIZE_MAX)
        return problem_set(problem, "--by: no column '%.60s' in %s", name, observed->rows.name);
    struct labelled *const rows = calloc(count + 1, sizeof *rows);
    if (rows == NULL)
        return problem_set(problem, "out of memory");
    for (size_t i = 0; i < count; i++)
        rows[i] = (struct labelled){ observed->items[job->rows[i].fold].cells[column].text, i };
    qsort(rows, count, sizeof *rows, by_label);
    for (size_t i = 0; i < count; i++) {
        labels += i == 0 || strcmp(rows[i - 1].label, rows[i].label) != 0;
        job->rows[rows[i].row].fold = (labels - 1) % (size_t)folds;
    }
    free(rows);
    job->tune.fold_count = labels < (size_t)folds ? labels : (size_t)folds;
    return labels > 1 ||
           problem_set(problem, "--by: all rows have the same '%.60s', so none can be left out", name);
}

/* Neighbours in the file go to different folds. */
static void fold_evenly(struct job *job, long folds)
{
    const size_t count = job->tune.row_count;
    job->tune.fold_count = (size_t)folds < count ? (size_t)folds : count;
    for (size_t i = 0; i < count; i++)
        job->rows[i].fold = i % job->tune.fold_count;
}

static bool reserve(struct job *job, struct problem *problem)
{
    bool fine = true;
    for (int stage = 0; stage < STAGES; stage++) {
        job->predicted[stage] = calloc(job->tune.row_count + 1, sizeof *job->predicted[stage]);
        fine = fine && job->predicted[stage] != NULL;
    }
    job->residuals = calloc(job->tune.row_count + 1, sizeof *job->residuals);
    return (fine && job->residuals != NULL) || problem_set(problem, "out of memory");
}

static bool make_folds(struct job *job, struct problem *problem)
{
    const char *const by = job->options->by;
    long folds = by != NULL ? FOLDS_BY : FOLDS_DEFAULT;
    if (job->options->folds != NULL &&
        !options_whole("folds", job->options->folds, 2, FOLDS_MAX, &folds, problem))
        return false;
    if (by != NULL)
        return fold_by(job, by, folds, problem);
    fold_evenly(job, folds);
    return true;
}

/* ---- the fit ---- */

/* Keys that no row depends on are not fitted. */
static bool hold_unused(struct job *job, struct problem *problem)
{
    size_t used = 0;
    for (size_t k = 0; k < job->tune.key_count; k++) {
        job->keys[k].parameter.fixed = !sc_tune_has_effect(&job->tune, k);
        used += !job->keys[k].parameter.fixed;
    }
    return used > 0 ||
           problem_set(problem, "%s: no row's %s depends on any of the keys that are to be fitted: "
                                "say which they are, --free KEY,KEY",
                       job->observed.rows.name, job->observed.metric->column);
}

static bool refuse_fit(const struct sc_error *error, struct problem *problem)
{
    return problem_set(problem, "fit: %s: %s", error->field != NULL ? error->field : "failed",
                       error->reason != NULL ? error->reason : "no reason given");
}

static void predict_stage(const struct job *job, enum stage stage, const double *values)
{
    for (size_t i = 0; i < job->tune.row_count; i++) {
        struct sc_error error;
        if (sc_tune_predict(&job->tune, i, values, &job->predicted[stage][i], &error) != SC_OK)
            job->predicted[stage][i] = (double)NAN;
    }
}

static double measured_of(const struct job *job, size_t row)
{
    const double measured = job->rows[row].measured;
    return sc_tune_is_plain(job->tune.metric) ? measured : log(measured);
}

static void keep_residuals(struct job *job)
{
    for (size_t i = 0; i < job->tune.row_count; i++) {
        const double residual = job->predicted[CROSS_VALIDATED][i] - measured_of(job, i);
        if (job->rows[i].censoring == SC_FIT_EXACT && isfinite(residual))
            job->residuals[job->residual_count++] = residual;
    }
}

static bool solve(struct job *job, struct problem *problem)
{
    struct sc_error error = { 0 };
    double values[SC_TUNE_KEYS_MAX];
    if (sc_tune_fit(&job->tune, SIZE_MAX, &job->fit, &error) != SC_OK)
        return refuse_fit(&error, problem);
    for (size_t k = 0; k < job->tune.key_count; k++)
        values[k] = job->fit.estimates[k].value;
    predict_stage(job, BEFORE, NULL);
    predict_stage(job, FITTED, values);
    struct progress progress;
    enum sc_status status = SC_OK;
    progress_start(&progress, "cross-validate", job->tune.fold_count);
    for (size_t fold = 0; status == SC_OK && fold < job->tune.fold_count; fold++) {
        status = sc_tune_predict_fold(&job->tune, fold, job->predicted[CROSS_VALIDATED], &error);
        progress_step(&progress);
    }
    progress_end(&progress);
    if (status != SC_OK)
        return refuse_fit(&error, problem);
    keep_residuals(job);
    return true;
}

/* ---- the report ---- */

static double mean_error(const struct job *job, enum stage stage)
{
    double sum = 0.0;
    size_t n = 0;
    for (size_t i = 0; i < job->tune.row_count; i++) {
        const double residual = job->predicted[stage][i] - measured_of(job, i);
        if (job->rows[i].censoring != SC_FIT_EXACT || !isfinite(residual))
            continue;
        sum += fabs(sc_tune_is_plain(job->tune.metric) ? residual : expm1(residual));
        n++;
    }
    return n > 0 ? sum / (double)n : (double)NAN;
}

static const char *verdict_of(const struct sc_fit *fit, const struct sc_fit_estimate *estimate,
                              char out[static 160])
{
    if (estimate->verdict == SC_FIT_GIVEN)
        return "held: no row depends on it";
    if (estimate->verdict == SC_FIT_IDENTIFIED && !fit->converged)
        return "where the fit stopped, not settled";
    if (estimate->verdict == SC_FIT_IDENTIFIED)
        return estimate->out_of_range ? "fitted, far from where it was" : "fitted";
    if (estimate->verdict == SC_FIT_PRIOR)
        return "the rows say little of it";
    (void)snprintf(out, 160, "%s%s%s", estimate->why, estimate->with != NULL ? ": " : "",
                   estimate->with != NULL ? estimate->with : "");
    return out;
}

enum { KEY, BEFORE_VALUE, ESTIMATE, STD_ERROR, LOW, HIGH, LEARNT, VERDICT, COLUMNS };
static const struct emit_column columns[COLUMNS] = {
    [KEY] = { .name = "key" },           [BEFORE_VALUE] = { .name = "before" },
    [ESTIMATE] = { .name = "estimate" }, [STD_ERROR] = { .name = "std_error" },
    [LOW] = { .name = "low_95" },        [HIGH] = { .name = "high_95" },
    [LEARNT] = { .name = "learnt", .dimension = SC_SHARE }, [VERDICT] = { .name = "verdict" },
};

/* A number with its unit in a table, in SI elsewhere. */
static struct emit_cell quantity_cell(const struct job *job, double value,
                                      const struct sc_field *field, struct text *out)
{
    if (sink_streams(&job->style) || field->dimension == SC_NUMBER || !isfinite(value))
        return emit_number(value);
    emit_quantity(value, field->dimension, job->style.digits, out);
    return out->failed ? emit_number(value) : emit_string(out->bytes);
}

static bool write_key(const struct job *job, size_t k, struct sink *sink, struct problem *problem)
{
    const struct sc_fit_estimate *const e = &job->fit.estimates[k];
    const struct sc_field *const field = job->keys[k].field;
    const bool stated = e->verdict == SC_FIT_IDENTIFIED || e->verdict == SC_FIT_PRIOR;
    const double none = (double)NAN;
    const double numbers[] = { [BEFORE_VALUE] = job->keys[k].parameter.initial,
                               [ESTIMATE] = e->value,
                               [STD_ERROR] = stated ? e->std_error : none,
                               [LOW] = stated ? e->low : none,
                               [HIGH] = stated ? e->high : none };
    struct emit_cell cells[COLUMNS];
    struct text texts[COLUMNS] = { { 0 } };
    char verdict[160];
    cells[KEY] = emit_string(e->name);
    for (int c = BEFORE_VALUE; c <= HIGH; c++)
        cells[c] = quantity_cell(job, numbers[c], field, &texts[c]);
    /* Of the variance that the prior leaves. */
    cells[LEARNT] = emit_number(stated ? 1.0 - e->prior_share : none);
    cells[VERDICT] = emit_string(verdict_of(&job->fit, e, verdict));
    const bool fine = sink_row(sink, cells, problem);
    for (int c = 0; c < COLUMNS; c++)
        text_fini(&texts[c]);
    return fine;
}

/* To standard output, which is the calibration's when that was asked for with -o -. */
static bool print_keys(const struct job *job, struct problem *problem)
{
    struct sink sink;
    if (job->options->output != NULL && strcmp(job->options->output, "-") == 0)
        return true;
    if (!sink_open(&sink, &job->style, columns, COLUMNS, NULL, problem))
        return false;
    bool fine = true;
    for (size_t k = 0; fine && k < job->tune.key_count; k++)
        fine = write_key(job, k, &sink, problem);
    if (fine)
        return sink_close(&sink, problem);
    sink_abandon(&sink);
    return false;
}

static void print_rows(const struct job *job)
{
    struct text out = { 0 };
    text_printf(&out, "%zu rows: %zu fitted to", job->observed.count, job->tune.row_count);
    if (job->one_sided > 0)
        text_printf(&out, ", %zu of them known from one side", job->one_sided);
    if (job->left_out > 0)
        text_printf(&out, "; %zu left out, the first: %s", job->left_out,
                    job->first_left_out.text);
    (void)fprintf(stderr, "%s\n", out.failed ? "out of memory" : out.bytes);
    text_fini(&out);
}

static void add_error(struct text *out, const struct job *job, enum stage stage, const char *name)
{
    char number[SC_NUMBER_MAX];
    const double error = 100.0 * mean_error(job, stage);
    if (isfinite(error))
        text_add(out, number, sc_number_format(number, error, 3));
    else
        text_add_string(out, "unknown");
    text_printf(out, " %s %s", sc_tune_is_plain(job->tune.metric) ? "points" : "%", name);
}

static void print_errors(const struct job *job)
{
    struct text out = { 0 };
    text_printf(&out, "mean error of %s: ", job->tune.metric->column);
    add_error(&out, job, BEFORE, "before, ");
    add_error(&out, job, FITTED, "fitted, ");
    add_error(&out, job, CROSS_VALIDATED, "cross-validated");
    text_printf(&out, " (%zu folds)", job->tune.fold_count);
    (void)fprintf(stderr, "%s\n", out.failed ? "out of memory" : out.bytes);
    text_fini(&out);
    if (mean_error(job, CROSS_VALIDATED) >= mean_error(job, BEFORE))
        (void)fputs("rows that a fit has not seen are predicted no better than before: these rows "
                    "do not bear it\n", stderr);
    if (!job->fit.converged)
        (void)fprintf(stderr, "the fit did not converge: %s\n", job->fit.reason);
}

static bool find_quantile(const struct job *job, double level, double *quantile, bool *student,
                          struct problem *problem)
{
    const double widest = 230.0; /* a factor of 1e100: more says no more, and has no exponential */
    struct sc_error error = { 0 };
    if (sc_tune_quantile(job->residuals, job->residual_count, &job->fit, level, quantile, student,
                         &error) != SC_OK)
        return problem_set(problem, "interval: %s", error.reason);
    *quantile = fmin(*quantile, widest);
    return true;
}

static bool print_interval(const struct job *job, struct problem *problem)
{
    double quantile = 0.0;
    bool student = false;
    if (!find_quantile(job, shown_level, &quantile, &student, problem))
        return false;
    if (sc_tune_is_plain(job->tune.metric))
        (void)fprintf(stderr, "90 %% of new rows within %.3g points", 100.0 * quantile);
    else
        (void)fprintf(stderr, "90 %% of new rows within a factor of %.3g", exp(quantile));
    (void)fprintf(stderr, student ? ", by Student's t: %zu rows are too few for their quantile\n"
                                  : ", by %zu residuals of cross-validation\n",
                  job->residual_count);
    return true;
}

static void print_doubts(const struct job *job)
{
    const double alike = 0.95;
    const size_t count = job->tune.key_count;
    for (size_t k = 0; k < count; k++)
        for (size_t j = 0; j < k; j++) {
            const double r = job->fit.correlation[k * count + j];
            if (fabs(r) > alike)
                (void)fprintf(stderr, "the rows can hardly tell %s from %s (correlation %.3f): "
                                      "measure where they differ, or leave one out of --free\n",
                              job->keys[j].field->key, job->keys[k].field->key, r);
        }
}

/* ---- the file ---- */

/* Storage of what sc_params only points to. */
struct filing {
    struct sc_params params;
    struct sc_params_group group;
    struct sc_params_parameter *parameters;
    double *covariance;
    struct sc_params_quantile *quantiles;
    struct sc_params_region *regions;
    struct sc_params_score scores[8];
};

static struct sc_params_parameter parameter_of(const struct sc_fit_estimate *e)
{
    const bool stated = e->verdict == SC_FIT_IDENTIFIED || e->verdict == SC_FIT_PRIOR;
    struct sc_params_parameter out = { .name = e->name, .value = e->value,
                                       .std_error = (double)NAN, .low = (double)NAN,
                                       .high = (double)NAN, .note = "" };
    out.kind = e->verdict == SC_FIT_GIVEN        ? SC_PARAMS_FIXED
               : e->verdict == SC_FIT_IDENTIFIED ? SC_PARAMS_FITTED
               : e->verdict == SC_FIT_PRIOR      ? SC_PARAMS_PRIOR
                                                 : SC_PARAMS_UNIDENTIFIED;
    if (stated && isfinite(e->std_error) && e->std_error > 0.0) {
        out.std_error = e->std_error;
        out.low = e->low;
        out.high = e->high;
    } else if (stated) {
        out.kind = SC_PARAMS_UNIDENTIFIED;
    }
    if (e->why != NULL)
        out.note = e->why;
    return out;
}

static bool is_key(const struct job *job, const char *name)
{
    for (size_t k = 0; k < job->tune.key_count; k++)
        if (strcmp(job->keys[k].field->key, name) == 0)
            return true;
    return false;
}

static bool has_error(const struct sc_params_parameter *parameter)
{
    return parameter->kind == SC_PARAMS_FITTED || parameter->kind == SC_PARAMS_PRIOR;
}

/* A key that no row depends on is none of the machine's. */
static bool is_filed(const struct job *job, size_t key)
{
    return !job->keys[key].parameter.fixed ||
           job->keys[key].field->provenance == SC_CALIBRATED;
}

/* The keys that were fitted, then what the calibration before has besides. */
static void file_parameters(const struct job *job, struct filing *f)
{
    const size_t keys = job->tune.key_count;
    const struct sc_params *const base = job->calibration != NULL ? &job->calibration->params : NULL;
    size_t filed[SC_TUNE_KEYS_MAX], fitted = 0;
    for (size_t k = 0; k < keys; k++)
        if (is_filed(job, k)) {
            f->parameters[fitted] = parameter_of(&job->fit.estimates[k]);
            filed[fitted++] = k;
        }
    size_t count = fitted;
    for (size_t i = 0; base != NULL && i < base->parameter_count; i++)
        if (!is_key(job, base->parameters[i].name))
            f->parameters[count++] = (struct sc_params_parameter){
                .name = base->parameters[i].name, .value = base->parameters[i].value,
                .std_error = (double)NAN, .low = (double)NAN, .high = (double)NAN,
                .kind = SC_PARAMS_FIXED, .note = "as it was" };
    for (size_t k = 0; k < fitted; k++)
        for (size_t j = 0; j < fitted; j++)
            if (has_error(&f->parameters[k]) && has_error(&f->parameters[j]))
                f->covariance[k * count + j] = job->fit.covariance[filed[k] * keys + filed[j]];
    f->params.parameters = f->parameters;
    f->params.parameter_count = count;
    f->params.covariance = f->covariance;
}

static bool file_quantiles(const struct job *job, struct filing *f, struct problem *problem)
{
    const struct sc_params *const base = job->calibration != NULL ? &job->calibration->params : NULL;
    if (job->tune.metric->slowdown_power == 0 && base != NULL) {
        f->params.simulator = base->simulator; /* the interval's */
        f->params.groups = base->groups;
        f->params.group_count = base->group_count;
        f->params.quantiles = base->quantiles;
        f->params.quantile_count = base->quantile_count;
        (void)fprintf(stderr, "the interval of the slowdown stays as it was: %s does not tell it\n",
                      job->tune.metric->column);
        return true;
    }
    f->group = (struct sc_params_group){ .name = SC_PARAMS_POOLED, .points = job->residual_count,
                                         .count = sc_conformal_level_count };
    double last = 0.0;
    for (size_t i = 0; i < sc_conformal_level_count; i++) {
        struct sc_params_quantile *const out = &f->quantiles[i];
        out->level = sc_conformal_levels[i];
        if (!find_quantile(job, out->level, &out->quantile, &out->student, problem))
            return false;
        last = out->quantile = fmax(last, out->quantile);
    }
    f->params.groups = &f->group;
    f->params.group_count = 1;
    f->params.quantiles = f->quantiles;
    f->params.quantile_count = sc_conformal_level_count;
    return true;
}

static bool has_choice(const struct filing *f, const char *key, const char *choice)
{
    for (size_t i = 0; i < f->params.region_count; i++)
        if (f->regions[i].choice != NULL && strcmp(f->regions[i].field, key) == 0 &&
            strcmp(f->regions[i].choice, choice) == 0)
            return true;
    return false;
}

static void file_choices(const struct job *job, const struct sc_field *field, struct filing *f)
{
    for (size_t i = 0; i < job->tune.row_count; i++) {
        const size_t index = (size_t)sc_field_get(field, job->rows[i].scenario);
        const char *const name = sc_field_choice(field, index)->name;
        if (!has_choice(f, field->key, name))
            f->regions[f->params.region_count++] = (struct sc_params_region){
                .field = field->key, .choice = name, .low = (double)NAN, .high = (double)NAN };
    }
}

/* What the rows have seen: ranges first. */
static bool file_regions(const struct job *job, struct filing *f)
{
    const size_t size = job->system->scenario_size;
    unsigned char *const scenarios = calloc(job->tune.row_count, size);
    if (scenarios == NULL)
        return false;
    for (size_t i = 0; i < job->tune.row_count; i++)
        memcpy(scenarios + i * size, job->rows[i].scenario, size);
    const struct scenarios all = { job->system, scenarios, size, job->tune.row_count };
    for (size_t i = 0; i < job->system->field_count; i++) {
        const struct sc_field *const field = &job->system->fields[i];
        struct sc_params_region region = { .field = field->key };
        if (region_has_range(field) && !is_key(job, field->key) &&
            region_range(&all, field, &region.low, &region.high) && region_matters(&all, field))
            f->regions[f->params.region_count++] = region;
    }
    free(scenarios);
    for (size_t i = 0; i < job->system->field_count; i++)
        if (job->system->fields[i].kind == SC_CHOICE)
            file_choices(job, &job->system->fields[i], f);
    return true;
}

static void file_scores(const struct job *job, struct filing *f)
{
    const struct {
        const char *name;
        double value;
    } rows[] = { { "rows", (double)job->tune.row_count },
                 { "error_before", mean_error(job, BEFORE) },
                 { "error_fitted", mean_error(job, FITTED) },
                 { "error_cross_validated", mean_error(job, CROSS_VALIDATED) } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (isfinite(rows[i].value))
            f->scores[f->params.score_count++] = (struct sc_params_score){
                .name = rows[i].name, .key = job->tune.metric->column, .value = rows[i].value,
                .note = "" };
}

static bool filing_init(const struct job *job, struct filing *f)
{
    const size_t base = job->calibration != NULL ? job->calibration->params.parameter_count : 0;
    const size_t parameters = job->tune.key_count + base + 1;
    size_t choices = 0;
    for (size_t i = 0; i < job->system->field_count; i++)
        choices += job->system->fields[i].choice_count;
    *f = (struct filing){ .params = { .system = job->system->name, .simulator = SC_PARAMS_MEASURED,
                                      .tool = SC_VERSION } };
    f->parameters = calloc(parameters, sizeof *f->parameters);
    f->covariance = calloc(parameters * parameters, sizeof *f->covariance);
    f->quantiles = calloc(sc_conformal_level_count + 1, sizeof *f->quantiles);
    f->regions = calloc(job->system->field_count + choices + 1, sizeof *f->regions);
    f->params.samples[SC_SET_FIT] = job->tune.row_count;
    f->params.samples[SC_SET_CONFORMAL] = job->residual_count;
    f->params.regions = f->regions;
    f->params.scores = f->scores;
    return f->parameters != NULL && f->covariance != NULL && f->quantiles != NULL &&
           f->regions != NULL;
}

static void filing_fini(struct filing *f)
{
    free(f->parameters);
    free(f->covariance);
    free(f->quantiles);
    free(f->regions);
}

static bool write_file(const struct job *job, struct problem *problem)
{
    struct filing f;
    if (job->options->output == NULL)
        return true;
    bool fine = filing_init(job, &f) || problem_set(problem, "out of memory");
    if (fine) {
        file_parameters(job, &f);
        file_scores(job, &f);
        fine = file_quantiles(job, &f, problem) &&
               (file_regions(job, &f) || problem_set(problem, "out of memory")) &&
               calibration_write(&f.params, job->options->output, problem);
    }
    filing_fini(&f);
    return fine;
}

/* ---- the command ---- */

static bool read_loss(struct job *job, struct problem *problem)
{
    const char *const loss = job->options->loss;
    job->tune.squares = loss != NULL && strcmp(loss, "squares") == 0;
    return loss == NULL || job->tune.squares || strcmp(loss, "huber") == 0 ||
           problem_set(problem, "--loss: expected huber or squares, got '%.40s'", loss);
}

static bool read_keys(struct job *job, const char *const *words, size_t count,
                      struct problem *problem)
{
    if (!product_make(job->resolver, words, count, &job->product, problem))
        return false;
    if (job->product.rows != 1)
        return problem_set(problem, "fit takes each row once: a list or range on the command line "
                                    "has no place there");
    job->given = calloc(job->product.count + 1, sizeof *job->given);
    if (job->given == NULL)
        return problem_set(problem, "out of memory");
    product_row(&job->product, 0, job->given);
    return true;
}

static bool prepare(struct job *job, const struct command *command, const char *const *words,
                    size_t count, struct catalog *catalog, struct problem *problem)
{
    const struct options *const options = job->options;
    struct emit_style style; /* of the file; the report keeps its own */
    const char *path = NULL;
    job->tune = (struct sc_tune){ .system = job->system, .keys = job->keys, .noise_sd = 0.05 };
    if (!sink_style(options, &job->style, problem) || !read_loss(job, problem) ||
        !fit_share("noise", options->noise, 1e-4, 1.0, &job->tune.noise_sd, problem) ||
        (options->output != NULL && !output_check(options->output, problem)))
        return false;
    style = job->style;
    if (!sink_streams(&job->style)) {
        job->style.decimal = '.';
        job->style.digits = options->digits != NULL ? job->style.digits : 4;
    }
    job->resolver = resolver_create(job->system, catalog, problem);
    if (job->resolver == NULL ||
        !calibration_load(job->system, catalog, options, &job->calibration, problem))
        return false;
    calibration_apply(job->calibration, job->resolver);
    job->words = calloc(count + 1, sizeof *job->words);
    if (job->words == NULL)
        return problem_set(problem, "out of memory");
    memcpy(job->words, words, count * sizeof *words);
    if (!observed_file(command, options, job->words, &count, &path, problem) ||
        !read_keys(job, job->words, count, problem) ||
        !overwrite_check(options, path, problem) ||
        !observed_read(&job->observed, job->resolver, path, options, &style, job->given,
                       job->product.count, problem))
        return false;
    job->tune.metric = job->observed.metric;
    return take_rows(job, problem);
}

static bool run(struct job *job, struct problem *problem)
{
    return fit_keys_read(&job->observed, job->rows, job->tune.row_count, job->options, job->keys,
                         &job->tune.key_count, problem) &&
           hold_unused(job, problem) && reserve(job, problem) && make_folds(job, problem) &&
           solve(job, problem);
}

static bool report(const struct job *job, struct problem *problem)
{
    if (!write_file(job, problem) || !print_keys(job, problem))
        return false;
    print_rows(job);
    print_errors(job);
    if (!print_interval(job, problem))
        return false;
    print_doubts(job);
    return true;
}

static void job_fini(struct job *job)
{
    sc_fit_fini(&job->fit);
    for (int stage = 0; stage < STAGES; stage++)
        free(job->predicted[stage]);
    free(job->residuals);
    free(job->rows);
    free(job->given);
    free(job->words);
    observed_fini(&job->observed);
    product_fini(&job->product);
    calibration_destroy(job->calibration);
    resolver_destroy(job->resolver);
}

static int fit(const struct command *command, const struct options *options,
               const char *const *words, size_t word_count, struct catalog *catalog)
{
    struct problem problem = { "" };
    struct job job = { .system = command_system(command, words, word_count, &problem),
                       .options = options };
    int code = EXIT_USAGE;
    if (job.system == NULL)
        return command_fail(&problem);
    if (!prepare(&job, command, words + 1, word_count - 1, catalog, &problem) || !run(&job, &problem) ||
        !report(&job, &problem))
        code = command_fail(&problem);
    else
        code = job.observed.bad_count > 0 || filter_gave_up(job.observed.filter) ? EXIT_NO
                                                                                 : EXIT_FINE;
    job_fini(&job);
    return code;
}

static const struct option_row options[] = {
    OPTION(output, 'o', "FILE", "the fitted calibration, for --params; without it only the report"),
    { .name = "free", .argument = "KEYS", .offset = offsetof(struct options, free), .times = true,
      .help = "keys to fit: KEY, KEY=LOW~HIGH, or coefficients (default), with commas" },
    OPTION(measured, 0, "COLUMN[=METRIC]", "what was measured (default: measured_METRIC, or time_s, cycles, slowdown)"),
    { .name = "prior-sd", .argument = "SHARE", .offset = offsetof(struct options, prior_sd),
      .help = "how far coefficients may be from what they were (default 30 %)" },
    OPTION(noise, 0, "SHARE", "what of a measurement no fit explains, as far as known (default 5 %)"),
    OPTION(loss, 0, "huber|squares", "robust (default), or least squares"),
    OPTION(by, 0, "COLUMN", "cross-validation leaves out rows with the same text there"),
    OPTION(folds, 0, "N", "fits of the cross-validation (default 10, with --by at most 50)"),
    OPTION(params, 0, "FILE", "calibration to start from (default: the one that comes with the system)"),
    OPTION(from, 'i', "FILE", "the same as FILE"),
    OPTION(only, 0, "REGEX", "rows whose CSV fields match"),
    OPTION(strict, 0, NULL, "stop at the first bad row"),
    OPTION(format, 'f', "FORMAT", "of the report: table, csv, tsv, json, jsonl or md (default table)"),
    OPTION(digits, 0, "N", "significant digits of the report, or all (default 6; 4 in tables)"),
    OPTION(delimiter, 0, "CHAR", "of CSV in and out (default: found out, and a comma out)"),
    OPTION(decimal, 0, "CHAR", "decimal sign of CSV in and out (default: found out, and kept)"),
    OPTION(data, 0, "DIR", "tables of GPUs, models, flash instead of the built-in ones"),
    OPTION(help, 'h', NULL, "this text"),
};

const struct command command_fit = {
    .name = "fit",
    .usage = "SYSTEM FILE [key=value ...] [options]",
    .summary = "fit the closed form to your own measurements",
    .details =
        "FILE is a CSV with a column for what was measured and columns for the keys that differ from\n"
        "row to row, as `compare` reads it; key=value says what all rows share.  A cell that begins\n"
        "with > or < is known from one side only.\n\n"
        "Keys are held to what is known of them: coefficients to --prior-sd of the calibration that\n"
        "comes with the system, other keys to half of the value that the rows have, or between LOW\n"
        "and HIGH with 95 %; so five rows already help.  `learnt` is the part of that doubt that the\n"
        "rows took away.  The error that counts is the cross-validated one; from it come the intervals.\n\n"
        "  stallcast fit uvm runs.csv gpu=a40 -o a40.params.csv\n"
        "  stallcast fit stream sweep.csv --free latency,bandwidth=500GB/s~900GB/s -o mine.params.csv\n"
        "  stallcast estimate uvm gpu=a40 footprint=60GB --params a40.params.csv\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .run = fit,
};
