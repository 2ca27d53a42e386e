/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tune.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "conformal.h"

const double sc_tune_noise_rows = 3.0;

static enum sc_status refuse(struct sc_error *error, enum sc_status status, const char *field,
                             double value, const char *reason)
{
    *error = (struct sc_error){ .field = field, .value = value, .reason = reason };
    return status;
}

/* ---- keys ---- */

static bool is_share(const struct sc_field *field)
{
    return field->dimension == SC_SHARE && field->minimum >= 0.0 && isfinite(field->maximum);
}

static double transform(const struct sc_field *field, double value)
{
    return is_share(field) ? log((value - field->minimum) / (field->maximum - value)) : log(value);
}

static double back(const struct sc_field *field, double t)
{
    return is_share(field) ? field->minimum + (field->maximum - field->minimum) / (1.0 + exp(-t))
                           : exp(t);
}

static enum sc_status check_value(const struct sc_field *field, double value,
                                  struct sc_error *error)
{
    if (field->kind != SC_REAL)
        return refuse(error, SC_EDOMAIN, field->key, value, "is no real number, so it is not fitted");
    if (!(value >= field->minimum && value <= field->maximum))
        return refuse(error, SC_EDOMAIN, field->key, value, "is outside of its range");
    if (!isfinite(transform(field, value)))
        return refuse(error, SC_EDOMAIN, field->key, value,
                      "is at an end of what it may be: a fit needs a value inside");
    return SC_OK;
}

static struct sc_fit_parameter parameter_of(const struct sc_field *field, double mean, double sd)
{
    const double value = back(field, mean), spread = 20.0;
    struct sc_fit_parameter parameter = { .name = field->key, .initial = value,
                                          .prior_mean = mean, .prior_sd = sd };
    if (is_share(field)) {
        parameter.transform = SC_FIT_LOGIT;
        parameter.low = field->minimum;
        parameter.high = field->maximum;
    } else {
        parameter.transform = SC_FIT_LOG;
        parameter.low = fmax(field->minimum, value / spread);
        parameter.high = fmin(field->maximum, value * spread);
    }
    return parameter;
}

enum sc_status sc_tune_key_about(struct sc_tune_key *key, const struct sc_field *field,
                                 double value, double relative_sd, struct sc_error *error)
{
    const double widest_logit = 1.0; /* of a share near an end, whose slope has no bound */
    const enum sc_status status = check_value(field, value, error);
    if (status != SC_OK)
        return status;
    if (!(relative_sd > 0.0) || !isfinite(relative_sd))
        return refuse(error, SC_EDOMAIN, field->key, relative_sd, "is no sd");
    double sd = relative_sd;
    if (is_share(field)) {
        const double slope = 1.0 / (value - field->minimum) + 1.0 / (field->maximum - value);
        sd = fmin(widest_logit, relative_sd * value * slope);
    }
    *key = (struct sc_tune_key){ field, parameter_of(field, transform(field, value), sd) };
    return SC_OK;
}

enum sc_status sc_tune_key_between(struct sc_tune_key *key, const struct sc_field *field,
                                   double low, double high, struct sc_error *error)
{
    const double sds = gsl_cdf_ugaussian_Pinv(0.975);
    enum sc_status status = check_value(field, low, error);
    if (status == SC_OK)
        status = check_value(field, high, error);
    if (status != SC_OK)
        return status;
    if (!(low < high))
        return refuse(error, SC_EDOMAIN, field->key, low, "is not below the upper end");
    const double from = transform(field, low), to = transform(field, high);
    *key = (struct sc_tune_key){ field, parameter_of(field, 0.5 * (from + to),
                                                     0.5 * (to - from) / sds) };
    return SC_OK;
}

/* ---- predictions ---- */

bool sc_tune_is_plain(const struct sc_metric *metric)
{
    return metric->dimension == SC_SHARE && metric->slowdown_power == 0;
}

static double scaled(const struct sc_tune *tune, double value)
{
    return sc_tune_is_plain(tune->metric) ? value : log(value);
}

enum sc_status sc_tune_predict(const struct sc_tune *tune, size_t row, const double *values,
                               double *predicted, struct sc_error *error)
{
    _Alignas(max_align_t) unsigned char scenario[SC_SCENARIO_MAX], answer[SC_ANSWER_MAX];
    double value;
    memcpy(scenario, tune->rows[row].scenario, tune->system->scenario_size);
    for (size_t k = 0; values != NULL && k < tune->key_count; k++)
        sc_field_set(tune->keys[k].field, scenario, values[k]);
    const enum sc_status status = tune->system->estimate(scenario, answer, NULL, error);
    if (status != SC_OK)
        return status;
    memcpy(&value, answer + tune->metric->offset, sizeof value);
    *predicted = scaled(tune, value);
    if (isfinite(*predicted))
        return SC_OK;
    return refuse(error, SC_EDOMAIN, tune->metric->column, value, "has no logarithm");
}

static void initial_values(const struct sc_tune *tune, double *values)
{
    for (size_t k = 0; k < tune->key_count; k++)
        values[k] = tune->keys[k].parameter.initial;
}

bool sc_tune_has_effect(const struct sc_tune *tune, size_t key)
{
    static const double steps[] = { -0.1, 0.1, 0.7 };
    const struct sc_tune_key *const k = &tune->keys[key];
    double values[SC_TUNE_KEYS_MAX];
    initial_values(tune, values);
    for (size_t i = 0; i < tune->row_count; i++) {
        struct sc_error error;
        double before = 0.0, after = 0.0;
        values[key] = k->parameter.initial;
        if (sc_tune_predict(tune, i, values, &before, &error) != SC_OK)
            continue;
        for (size_t s = 0; s < sizeof steps / sizeof steps[0]; s++) {
            values[key] = back(k->field, transform(k->field, k->parameter.initial) + steps[s]);
            if (sc_tune_predict(tune, i, values, &after, &error) != SC_OK || after < before ||
                after > before)
                return true;
        }
    }
    return false;
}

/* ---- the fit ---- */

struct subset {
    const struct sc_tune *tune;
    const size_t *rows;
    size_t count;
};

static enum sc_status predict(const double *values, double *predictions, void *context)
{
    const struct subset *const subset = context;
    for (size_t i = 0; i < subset->count; i++) {
        struct sc_error error;
        if (sc_tune_predict(subset->tune, subset->rows[i], values, &predictions[i], &error) !=
            SC_OK)
            predictions[i] = (double)NAN;
    }
    return SC_OK;
}

static struct sc_fit_options options_of(const struct sc_tune *tune)
{
    /* A prediction that is good to some digits only needs wider differences, and its small
     * steps are no use. */
    const double differences = 300.0;
    struct sc_fit_options options = { .loss = tune->squares ? SC_FIT_SQUARES : SC_FIT_HUBER,
                                      .noise_sd = tune->noise_sd,
                                      .noise_weight = sc_tune_noise_rows };
    if (tune->system->precision > 0.0) {
        options.difference_step = differences * tune->system->precision;
        options.iterations = options.rounds = 12;
        options.skip_profiles = true;
    }
    return options;
}

enum sc_status sc_tune_fit(const struct sc_tune *tune, size_t without, struct sc_fit *fit,
                           struct sc_error *error)
{
    struct sc_fit_parameter parameters[SC_TUNE_KEYS_MAX];
    enum sc_status status = SC_ENOSPACE;
    size_t *rows = calloc(tune->row_count + 1, sizeof *rows);
    struct sc_fit_observation *observations = calloc(tune->row_count + 1, sizeof *observations);
    struct subset subset = { .tune = tune, .rows = rows };
    if (rows == NULL || observations == NULL || tune->key_count > SC_TUNE_KEYS_MAX) {
        (void)refuse(error, SC_ENOSPACE, "rows", (double)tune->row_count, "no memory");
        goto done;
    }
    for (size_t i = 0; i < tune->row_count; i++) {
        const struct sc_tune_row *const row = &tune->rows[i];
        if (row->fold == without)
            continue;
        observations[subset.count] = (struct sc_fit_observation){
            .log_value = scaled(tune, row->measured), .weight = 1.0, .censoring = row->censoring };
        rows[subset.count++] = i;
    }
    for (size_t k = 0; k < tune->key_count; k++)
        parameters[k] = tune->keys[k].parameter;
    const struct sc_fit_problem problem = { .parameters = parameters,
                                            .parameter_count = tune->key_count,
                                            .observations = observations,
                                            .observation_count = subset.count,
                                            .predict = predict,
                                            .context = &subset };
    struct sc_fit_options options = options_of(tune);
    /* Profiles test the intervals of what is reported; folds report none. */
    options.skip_profiles = options.skip_profiles || without != SIZE_MAX;
    status = sc_fit_solve(fit, &problem, &options, error);
done:
    free(rows);
    free(observations);
    return status;
}

/* ---- cross-validation ---- */

enum sc_status sc_tune_predict_fold(const struct sc_tune *tune, size_t fold, double *predicted,
                                    struct sc_error *error)
{
    double values[SC_TUNE_KEYS_MAX];
    struct sc_fit fit;
    const enum sc_status status = sc_tune_fit(tune, fold, &fit, error);
    if (status != SC_OK)
        return status;
    for (size_t k = 0; k < tune->key_count; k++)
        values[k] = fit.estimates[k].value;
    sc_fit_fini(&fit);
    for (size_t i = 0; i < tune->row_count; i++) {
        struct sc_error ignored;
        if (tune->rows[i].fold == fold &&
            sc_tune_predict(tune, i, values, &predicted[i], &ignored) != SC_OK)
            predicted[i] = (double)NAN;
    }
    return SC_OK;
}

enum sc_status sc_tune_cross_validate(const struct sc_tune *tune, double *predicted,
                                      struct sc_error *error)
{
    enum sc_status status = SC_OK;
    for (size_t fold = 0; status == SC_OK && fold < tune->fold_count; fold++)
        status = sc_tune_predict_fold(tune, fold, predicted, error);
    return status;
}

enum sc_status sc_tune_quantile(const double *residuals, size_t n, const struct sc_fit *fit,
                                double level, double *quantile, bool *student,
                                struct sc_error *error)
{
    struct sc_conformal conformal;
    struct sc_conformal_quantile found;
    *student = n < sc_conformal_needed(level);
    if (*student) {
        const double learnt = fit->exact_count > 0 ? fit->effective_parameters /
                                                         (double)fit->exact_count : 0.0;
        *quantile = fit->noise_sd * sqrt(1.0 + learnt) *
                    gsl_cdf_tdist_Pinv(0.5 + 0.5 * level, fit->degrees_of_freedom);
        return SC_OK;
    }
    enum sc_status status = sc_conformal_init(&conformal, residuals, NULL, NULL, n, 0, 0, error);
    if (status != SC_OK)
        return status;
    status = sc_conformal_find(&conformal, SIZE_MAX, level, &found, error);
    *quantile = found.quantile;
    sc_conformal_fini(&conformal);
    return status;
}
