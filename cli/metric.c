/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "metric.h"

#include <string.h>

#include "emit.h"

size_t metrics_count(const struct metrics *metrics)
{
    return metrics->system->metric_count +
           (metrics->calibration != NULL ? (size_t)CALIBRATION_METRICS : 0);
}

const struct sc_metric *metrics_at(const struct metrics *metrics, size_t i)
{
    const size_t own = metrics->system->metric_count;
    return i < own ? &metrics->system->metrics[i] : &calibration_metrics[i - own];
}

const char *metrics_number_at(unsigned long i, const void *metrics)
{
    const struct sc_metric *metric = metrics_at(metrics, i);
    return metric->text ? "" : metric->column;
}

static const struct sc_metric *find_column(const struct metrics *metrics, const char *name)
{
    for (size_t i = 0; i < metrics_count(metrics); i++)
        if (strcmp(metrics_at(metrics, i)->column, name) == 0)
            return metrics_at(metrics, i);
    return NULL;
}

static bool is_without_unit(const struct sc_metric *metric, const char *name)
{
    const size_t stem = emit_stem(metric->column, metric->dimension);
    return !metric->text && strlen(name) == stem && strncmp(metric->column, name, stem) == 0;
}

const struct sc_metric *metrics_match(const struct metrics *metrics, const char *name)
{
    const struct sc_metric *found = find_column(metrics, name);
    if (found != NULL)
        return found->text ? NULL : found;
    for (size_t i = 0; i < metrics_count(metrics); i++) {
        const struct sc_metric *metric = metrics_at(metrics, i);
        if (!is_without_unit(metric, name))
            continue;
        if (found != NULL)
            return NULL;
        found = metric;
    }
    return found;
}

const struct sc_metric *metrics_find(const struct metrics *metrics, const char *what,
                                     const char *name, struct problem *problem)
{
    const struct sc_metric *metric = metrics_match(metrics, name);
    const char *system = metrics->system->name;
    if (metric != NULL)
        return metric;
    const char *nearest =
        problem_nearest(name, metrics_number_at, metrics_count(metrics), metrics);
    if (find_column(metrics, name) != NULL)
        (void)problem_set(problem, "%sexpected a metric that is a number, and %s is a word", what,
                          name);
    else if (sc_system_field(metrics->system, name) != NULL)
        (void)problem_set(problem, "%sexpected a metric, and %s is a key: 'stallcast list columns "
                                   "%s' shows metrics", what, name, system);
    else if (nearest != NULL)
        (void)problem_set(problem, "%s%s has no metric '%.60s': did you mean %s?", what, system,
                          name, nearest);
    else
        (void)problem_set(problem, "%s%s has no metric '%.60s': 'stallcast list columns %s' shows "
                                   "them", what, system, name, system);
    return NULL;
}
