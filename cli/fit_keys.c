/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fit_keys.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "emit.h"
#include "preset.h"
#include "text.h"
#include "units.h"

static const double key_sd = 0.5; /* what is known of a key that is no coefficient */
static const char all_coefficients[] = "coefficients";

struct reading {
    const struct observed *observed;
    const struct sc_system *system;
    const struct sc_tune_row *rows;
    size_t row_count;
    double prior_sd;
    struct sc_tune_key *keys;
    size_t count;
    struct problem *problem;
};

bool fit_share(const char *name, const char *text, double low, double high, double *value,
               struct problem *problem)
{
    struct sc_quantity quantity;
    if (text == NULL)
        return true;
    if (sc_units_parse(text, strlen(text), SC_SHARE, NULL, '.', &quantity) != SC_UNITS_OK ||
        !(quantity.value >= low && quantity.value <= high))
        return problem_set(problem, "--%s: expected a share from %g to %g, got '%.40s'", name, low,
                           high, text);
    *value = quantity.value;
    return true;
}

static bool refuse_value(const struct reading *r, const struct sc_field *field,
                         const struct sc_error *error)
{
    struct text value = { 0 };
    if (!isnan(error->value))
        emit_quantity(error->value, field->dimension, 6, &value);
    (void)problem_set(r->problem, "--free: %s%s%s %s", field->key, value.length > 0 ? ": " : "",
                      value.length > 0 ? value.bytes : "", error->reason);
    text_fini(&value);
    return false;
}

/* What a row of the file says is not fitted. */
static bool check_free(const struct reading *r, const struct sc_field *field)
{
    const struct rows *const rows = &r->observed->rows;
    for (size_t i = 0; i < r->count; i++)
        if (r->keys[i].field == field)
            return problem_set(r->problem, "--free: %s is given twice", field->key);
    for (size_t i = 0; i < rows->source_count; i++)
        if (rows->sources[i].binding.field == field)
            return problem_set(r->problem, "--free: %s is a column of %s: what the rows say is not "
                                           "fitted", field->key, rows->name);
    if (preset_is_condition(rows->resolver, field))
        return problem_set(r->problem, "--free: %s decides which measured launches hold, so it is "
                                       "not fitted", field->key);
    return r->count < SC_TUNE_KEYS_MAX ||
           problem_set(r->problem, "--free: more than %d keys", (int)SC_TUNE_KEYS_MAX);
}

/* The value that all rows have. */
static bool common_value(const struct reading *r, const struct sc_field *field, double *value)
{
    *value = sc_field_get(field, r->rows[0].scenario);
    for (size_t i = 1; i < r->row_count; i++) {
        const double other = sc_field_get(field, r->rows[i].scenario);
        if (other < *value || other > *value)
            return problem_set(r->problem, "--free: %s differs from row to row; one value is fitted "
                                           "to all: say where it is, %s=LOW~HIGH",
                               field->key, field->key);
    }
    return !isnan(*value) ||
           problem_set(r->problem, "--free: %s follows from other keys: say where it is, "
                                   "%s=LOW~HIGH", field->key, field->key);
}

static bool add_key(struct reading *r, const struct sc_field *field)
{
    const double sd = field->provenance == SC_CALIBRATED ? r->prior_sd : key_sd;
    struct sc_error error;
    double value = 0.0;
    if (!check_free(r, field))
        return false;
    if (field->kind != SC_REAL)
        return problem_set(r->problem, "--free: %s is no real number, so it is not fitted",
                           field->key);
    if (!common_value(r, field, &value))
        return false;
    if (sc_tune_key_about(&r->keys[r->count], field, value, sd, &error) != SC_OK)
        return refuse_value(r, field, &error);
    r->count++;
    return true;
}

/* KEY=LOW~HIGH */
static bool add_range(struct reading *r, const struct binding *binding, const char *text,
                      size_t length)
{
    const char *const tilde = memchr(text, '~', length);
    struct resolver *const resolver = r->observed->rows.resolver;
    struct setting low, high;
    struct problem inner;
    struct sc_error error;
    if (!check_free(r, binding->field))
        return false;
    if (tilde == NULL)
        return problem_set(r->problem, "--free: %s: expected LOW~HIGH, got '%.*s'",
                           binding->field->key, length < 60 ? (int)length : 60, text);
    const size_t first = (size_t)(tilde - text);
    if (!setting_parse(resolver, binding, text, first, '.', &low, &inner) ||
        !setting_parse(resolver, binding, tilde + 1, length - first - 1, '.', &high, &inner))
        return problem_set(r->problem, "--free: %s: %s", binding->field->key, inner.text);
    if (low.deferred || high.deferred)
        return problem_set(r->problem, "--free: %s: expected an end in %s, not in cycles",
                           binding->field->key, sc_dimension_word(binding->field->dimension));
    if (sc_tune_key_between(&r->keys[r->count], binding->field, low.value, high.value, &error) !=
        SC_OK)
        return refuse_value(r, binding->field, &error);
    r->count++;
    return true;
}

static bool add_coefficients(struct reading *r)
{
    const size_t before = r->count;
    for (size_t i = 0; i < r->system->field_count; i++)
        if (r->system->fields[i].provenance == SC_CALIBRATED && !add_key(r, &r->system->fields[i]))
            return false;
    return r->count > before ||
           problem_set(r->problem, "--free: %s has no coefficients: say which keys are to be "
                                   "fitted, --free KEY,KEY", r->system->name);
}

/* KEY, KEY=LOW~HIGH or `coefficients`. */
static bool add_item(struct reading *r, const char *item, size_t length)
{
    char name[80];
    struct binding binding;
    const char *nearest = NULL;
    const char *const equals = memchr(item, '=', length);
    const size_t size = equals != NULL ? (size_t)(equals - item) : length;
    (void)snprintf(name, sizeof name, "%.*s", (int)(size < sizeof name ? size : sizeof name - 1),
                   item);
    if (strcmp(name, all_coefficients) == 0 && equals == NULL)
        return add_coefficients(r);
    if (!resolver_bind(r->observed->rows.resolver, name, &binding, &nearest))
        return problem_set(r->problem, "--free: no key '%s' of %s%s%s%s", name, r->system->name,
                           nearest != NULL ? ": did you mean " : "",
                           nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
    if (equals == NULL)
        return add_key(r, binding.field);
    return add_range(r, &binding, equals + 1, length - size - 1);
}

static bool add_list(struct reading *r, const char *list)
{
    for (;; list++) {
        const size_t length = strcspn(list, ",");
        if (!add_item(r, list, length))
            return false;
        list += length;
        if (*list == '\0')
            return true;
    }
}

bool fit_keys_read(const struct observed *observed, const struct sc_tune_row *rows, size_t row_count,
                   const struct options *options, struct sc_tune_key *keys, size_t *count,
                   struct problem *problem)
{
    struct reading r = { .observed = observed, .rows = rows, .row_count = row_count,
                         .system = resolver_system(observed->rows.resolver), .prior_sd = 0.3,
                         .keys = keys, .problem = problem };
    bool fine = fit_share("prior-sd", options->prior_sd, 0.001, 10.0, &r.prior_sd, problem);
    if (fine && options->free[0] == NULL)
        fine = add_coefficients(&r);
    for (size_t i = 0; fine && i < OPTION_TIMES && options->free[i] != NULL; i++)
        fine = add_list(&r, options->free[i]);
    *count = r.count;
    return fine;
}
