/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibration.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformal.h"
#include "output.h"
#include "preset.h"
#include "text.h"

const struct sc_metric calibration_metrics[CALIBRATION_METRICS] = {
    { .column = "slowdown_lo", .offset = offsetof(struct judged_answer, slowdown_lo), .brief = true,
      .help = "lower end of the prediction interval of slowdown" },
    { .column = "slowdown_hi", .offset = offsetof(struct judged_answer, slowdown_hi), .brief = true,
      .help = "upper end of it" },
    { .column = "extrapolated", .offset = offsetof(struct judged_answer, extrapolated),
      .help = "1: the scenario lies outside what the calibration has seen; 0: inside" },
};

static bool describe(const char *name, const struct sc_params_error *error, struct problem *problem)
{
    if (error->system_errno != 0)
        return problem_set(problem, "%s: %s", name, strerror(error->system_errno));
    struct text where = { 0 };
    text_add_string(&where, name);
    if (error->line > 0)
        text_printf(&where, ":%zu", error->line);
    if (error->column != NULL)
        text_printf(&where, ": %s", error->column);
    (void)problem_set(problem, "%s: %s%s%s%s", where.failed ? name : where.bytes, error->reason,
                      error->found[0] != '\0' ? ", got '" : "", error->found,
                      error->found[0] != '\0' ? "'" : "");
    text_fini(&where);
    return false;
}

/* Every coefficient of the file must be one of the system, and be in its range. */
static bool check_parameters(const struct calibration *c, struct problem *problem)
{
    for (size_t i = 0; i < c->params.parameter_count; i++) {
        const struct sc_params_parameter *parameter = &c->params.parameters[i];
        const struct sc_field *field = sc_system_field(c->system, parameter->name);
        if (field == NULL || field->kind != SC_REAL)
            return problem_set(problem, "%s: %s is no coefficient of %s", c->name, parameter->name,
                               c->system->name);
        if (!(parameter->value >= field->minimum && parameter->value <= field->maximum))
            return problem_set(problem, "%s: %s: expected a value from %g to %g, got %g", c->name,
                               parameter->name, field->minimum, field->maximum, parameter->value);
    }
    return true;
}

static bool find_quantiles(struct calibration *c, struct problem *problem)
{
    const size_t count = c->group != NULL ? c->group->choice_count : 1;
    c->quantiles = calloc(count, sizeof *c->quantiles);
    if (c->quantiles == NULL)
        return problem_set(problem, "out of memory");
    for (size_t i = 0; i < count; i++) {
        struct sc_error error;
        const char *group = c->group != NULL ? sc_field_choice(c->group, i)->name : NULL;
        if (sc_params_quantile(&c->params, group, c->level, &c->quantiles[i], &error) != SC_OK)
            return problem_set(problem, "%s: too few samples were set aside for --level %g", c->name,
                               c->level);
    }
    return true;
}

static bool read_level(const struct options *options, double *level, struct problem *problem)
{
    struct sc_quantity quantity;
    *level = 0.9;
    if (options->level == NULL)
        return true;
    if (sc_units_parse(options->level, strlen(options->level), SC_SHARE, NULL, '.', &quantity) !=
            SC_UNITS_OK ||
        !(quantity.value >= 0.5 && quantity.value <= 0.99))
        return problem_set(problem, "--level: expected a probability from 0.5 to 0.99, got '%.40s'",
                           options->level);
    *level = quantity.value;
    return true;
}

static FILE *open_params(struct calibration *c, struct catalog *catalog,
                         const struct options *options, struct problem *problem)
{
    if (options->params != NULL) {
        FILE *file = fopen(options->params, "rb");
        c->name = strdup(options->params);
        if (file == NULL)
            (void)problem_set(problem, "%s: %s", options->params, strerror(errno));
        return file;
    }
    struct text name = { 0 };
    text_printf(&name, "params/%s", c->system->name);
    FILE *file = name.failed ? NULL : catalog_open(catalog, name.bytes, problem);
    c->name = name.failed ? NULL : strdup(name.bytes);
    text_fini(&name);
    return file;
}

bool calibration_load(const struct sc_system *system, struct catalog *catalog,
                      const struct options *options, struct calibration **calibration,
                      struct problem *problem)
{
    struct calibration *c = calloc(1, sizeof *c);
    const struct sc_params_wanted wanted = { .system = system };
    struct sc_params_error error = { 0 };
    *calibration = NULL;
    if (c == NULL)
        return problem_set(problem, "out of memory");
    c->system = system;
    c->group = sc_system_field(system, "policy");
    problem->text[0] = '\0';
    FILE *file = read_level(options, &c->level, problem) ? open_params(c, catalog, options, problem)
                                                         : NULL;
    if (file == NULL) {
        /* No calibration is shipped for this system; all other reasons count. */
        const bool none = problem->text[0] == '\0';
        calibration_destroy(c);
        return none;
    }
    bool fine = c->name != NULL;
    if (sc_params_read(&c->params, file, c->name, &wanted, &error) != SC_OK)
        fine = describe(c->name, &error, problem);
    else
        fine = check_parameters(c, problem) && find_quantiles(c, problem);
    (void)fclose(file);
    if (!fine) {
        calibration_destroy(c);
        return false;
    }
    *calibration = c;
    return true;
}

void calibration_destroy(struct calibration *c)
{
    if (c == NULL)
        return;
    sc_params_fini(&c->params);
    free(c->quantiles);
    free(c->name);
    free(c);
}

bool calibration_write(const struct sc_params *params, const char *path, struct problem *problem)
{
    struct sc_params_error error = { 0 };
    struct output output;
    if (!output_open(&output, path, problem))
        return false;
    if (sc_params_write(params, output.file, &error) == SC_OK)
        return output_commit(&output, problem);
    output_abandon(&output);
    return problem_set(problem, "%s: %s%s%s", path, error.reason,
                       error.system_errno != 0 ? ": " : "",
                       error.system_errno != 0 ? strerror(error.system_errno) : "");
}

void calibration_apply(const struct calibration *c, struct resolver *resolver)
{
    for (size_t i = 0; c != NULL && i < c->params.parameter_count; i++) {
        const struct sc_params_parameter *const parameter = &c->params.parameters[i];
        const struct sc_field *const field = sc_system_field(c->system, parameter->name);
        if (field->provenance == SC_CALIBRATED ||
            !resolver_add_fitted(resolver, field, parameter->value))
            sc_field_set(field, resolver->defaults, parameter->value);
    }
}

int calibration_pace(const struct sc_system *system, const struct sc_metric *metric)
{
    static const struct {
        const char *column;
        int pace;
    } others[] = { { "time_s", 1 }, { "performance", -1 }, { "speedup", -1 } };
    if (metric == &system->metrics[0])
        return 1;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(others[i].column, metric->column) == 0)
            return others[i].pace;
    return 0;
}

double calibration_quantile(const struct calibration *c, const void *scenario)
{
    return c->quantiles[c->group != NULL ? (size_t)sc_field_get(c->group, scenario) : 0];
}

void calibration_judge(const struct calibration *c, const void *scenario,
                       struct judged_answer *answer)
{
    answer->slowdown_lo = answer->slowdown_hi = answer->extrapolated = (double)NAN;
    if (c == NULL)
        return;
    double slowdown;
    memcpy(&slowdown, answer->answer + c->system->metrics[0].offset, sizeof slowdown);
    const struct sc_conformal_interval interval =
        sc_conformal_interval(slowdown, calibration_quantile(c, scenario), 1.0);
    answer->slowdown_lo = interval.low;
    answer->slowdown_hi = interval.high;
    answer->extrapolated = sc_params_outside(&c->params, c->system, scenario) != NULL;
}

/* "latency, batch, ...": as many as there is room for. */
static void list_outside(const struct calibration *c, const void *scenario, char *out, size_t size)
{
    size_t row = 0, used = 0;
    const struct sc_field *field;
    while ((field = sc_params_outside_next(&c->params, c->system, scenario, &row)) != NULL) {
        const bool fits = used + strlen(field->key) + sizeof ", , ..." < size;
        const int length = snprintf(out + used, size - used, "%s%s", used > 0 ? ", " : "",
                                    fits ? field->key : "...");
        if (!fits || length < 0)
            return;
        used += (size_t)length;
    }
}

void extrapolation_add(struct extrapolation *extrapolation, const struct calibration *c,
                       const void *scenario, const struct judged_answer *answer)
{
    if (c == NULL || !(answer->extrapolated > 0.0))
        return;
    if (extrapolation->count++ == 0)
        list_outside(c, scenario, extrapolation->keys, sizeof extrapolation->keys);
}

void extrapolation_append(struct extrapolation *extrapolation, const struct extrapolation *later)
{
    if (extrapolation->count == 0)
        *extrapolation = *later;
    else
        extrapolation->count += later->count;
}

void extrapolation_print(const struct extrapolation *extrapolation, size_t rows)
{
    struct problem note;
    if (extrapolation->count == 0)
        return;
    if (rows == 1)
        (void)problem_set(&note, "extrapolated, the interval may not hold: outside of what was "
                                 "sampled: %s", extrapolation->keys);
    else
        (void)problem_set(&note, "%zu of %zu rows are extrapolated, their intervals may not hold; "
                                 "outside of what was sampled in the first: %s",
                          extrapolation->count, rows, extrapolation->keys);
    problem_print(&note);
}
