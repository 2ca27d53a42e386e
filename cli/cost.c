/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "metric.h"

/* While names are bound: what was not found. */
struct binder {
    struct cost *cost;
    char missing[80];
};

static struct metrics metrics_of(const struct cost *cost)
{
    return (struct metrics){ cost->system, cost->calibration };
}

/* "buffer_area_mm2" for buffer_area_m2 */
static bool is_in_unit(const struct sc_metric *metric, const char *name,
                       const struct sc_unit **unit)
{
    for (const char *end = strchr(name, '_'); end != NULL; end = strchr(end + 1, '_')) {
        const size_t stem = (size_t)(end - name);
        const char *own = metric->column + stem;
        if (strncmp(metric->column, name, stem) != 0 || *own != '_')
            continue;
        *unit = sc_unit_find(metric->dimension, end + 1, strlen(end + 1));
        if (end[1] != '\0' && *unit != NULL && !(*unit)->deferred &&
            sc_unit_find(metric->dimension, own + 1, strlen(own + 1)) != NULL)
            return true;
    }
    *unit = NULL;
    return false;
}

static bool find_metric(const struct cost *cost, const char *name, const struct sc_metric **metric,
                        const struct sc_unit **unit)
{
    const struct metrics metrics = metrics_of(cost);
    *unit = NULL;
    for (size_t i = 0; i < metrics_count(&metrics); i++) {
        *metric = metrics_at(&metrics, i);
        if (!(*metric)->text && (strcmp((*metric)->column, name) == 0 ||
                                 is_in_unit(*metric, name, unit)))
            return true;
    }
    return false;
}

static size_t find_operand(void *context, const char *name)
{
    struct binder *binder = context;
    struct cost *cost = binder->cost;
    struct binding binding;
    const struct sc_metric *metric = NULL;
    const struct sc_unit *unit = NULL;
    const size_t which = cost->count;
    memcpy(binder->missing, name, strnlen(name, sizeof binder->missing - 1));
    if (which == COST_OPERANDS_MAX)
        return SIZE_MAX;
    if (find_metric(cost, name, &metric, &unit)) {
        cost->operands[which].metric = metric;
        cost->operands[which].unit = unit;
    } else if (resolver_bind(cost->resolver, name, &binding, NULL) &&
               (binding.field->kind == SC_REAL || binding.field->kind == SC_INTEGER) &&
               (binding.unit == NULL || !binding.unit->deferred)) {
        cost->operands[which].field = binding.field;
        cost->operands[which].unit = strcmp(name, binding.field->key) == 0 ? NULL : binding.unit;
    } else {
        const struct metrics metrics = metrics_of(cost);
        cost->operands[which].metric = metrics_match(&metrics, name);
        if (cost->operands[which].metric == NULL)
            return SIZE_MAX;
    }
    memset(binder->missing, 0, sizeof binder->missing);
    return cost->count++;
}

static const char *name_at(unsigned long i, const void *context)
{
    const struct cost *cost = context;
    const struct metrics metrics = metrics_of(cost);
    if (i < metrics_count(&metrics))
        return metrics_number_at(i, &metrics);
    const struct sc_field *field = &cost->system->fields[i - metrics_count(&metrics)];
    return field->kind == SC_REAL || field->kind == SC_INTEGER ? field->key : "";
}

static bool refuse_name(const struct cost *cost, const char *what, const char *name,
                        struct problem *problem)
{
    const struct metrics metrics = metrics_of(cost);
    const char *nearest = problem_nearest(
        name, name_at, metrics_count(&metrics) + cost->system->field_count, cost);
    if (cost->count == COST_OPERANDS_MAX)
        return problem_set(problem, "%s: more than %d names", what, (int)COST_OPERANDS_MAX);
    return problem_set(problem, "%s: %s has no key and no metric '%s' that is a number%s%s%s", what,
                       cost->system->name, name, nearest != NULL ? ": did you mean " : "",
                       nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
}

bool cost_parse(struct cost *cost, const char *what, const char *text, struct problem *problem)
{
    struct binder binder = { .cost = cost };
    cost->dimension = SC_NUMBER;
    cost->expression = expression_parse(text, strlen(text), what, problem);
    if (cost->expression == NULL)
        return false;
    if (!expression_bind(cost->expression, find_operand, &binder, problem))
        return refuse_name(cost, what, binder.missing, problem);
    const size_t alone = expression_column(cost->expression);
    if (alone != SIZE_MAX && cost->operands[alone].unit == NULL)
        cost->dimension = cost->operands[alone].metric != NULL
                              ? cost->operands[alone].metric->dimension
                              : cost->operands[alone].field->dimension;
    return true;
}

void cost_fini(struct cost *cost)
{
    expression_destroy(cost->expression);
    cost->expression = NULL;
}

struct reading {
    const struct cost *cost;
    const void *scenario;
    const struct judged_answer *answer;
};

static double operand_value(void *context, size_t which)
{
    const struct reading *reading = context;
    const struct sc_metric *metric = reading->cost->operands[which].metric;
    const struct sc_unit *unit = reading->cost->operands[which].unit;
    double value;
    if (metric != NULL)
        memcpy(&value, (const char *)reading->answer + metric->offset, sizeof value);
    else
        value = sc_field_get(reading->cost->operands[which].field, reading->scenario);
    return unit != NULL ? sc_unit_from_si(unit, value) : value;
}

double cost_value(const struct cost *cost, const void *scenario,
                  const struct judged_answer *answer)
{
    struct reading reading = { cost, scenario, answer };
    return expression_value(cost->expression, operand_value, &reading);
}
