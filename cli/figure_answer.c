/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of a figure's table: answers, their means, published figures. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "figure.h"
#include "figure_points.h"
#include "product.h"
#include "sim/simulator.h"

enum { WORDS_MAX = 64 };

/* The group of a row with the mean; in published tables what the value is of, too. */
static const char *const mean_names[] = {
    [FIGURE_NO_MEAN] = "",
    [FIGURE_MEAN] = "geomean",
    [FIGURE_MEAN_OF_ALL] = "geomean",
    [FIGURE_ARITHMETIC_MEAN] = "mean",
};

static const struct figure_value no_value = { (double)NAN, (double)NAN, (double)NAN };

/* ---- rows ---- */

static struct figure_row *add_row(struct figure_table *table, enum figure_source source,
                                  const char *series, const char *group, size_t position, double x)
{
    if (table->count == table->capacity) {
        const size_t capacity = table->capacity > 0 ? 2 * table->capacity : 256;
        struct figure_row *rows = realloc(table->rows, capacity * sizeof *rows);
        if (rows == NULL)
            return NULL;
        table->rows = rows;
        table->capacity = capacity;
    }
    struct figure_row *row = &table->rows[table->count++];
    *row = (struct figure_row){
        .source = source, .series = series, .group = group, .position = position, .x = x
    };
    for (size_t m = 0; m < FIGURE_METRICS; m++)
        row->values[m] = no_value;
    return row;
}

void figure_table_fini(struct figure_table *table)
{
    free(table->rows);
    *table = (struct figure_table){ 0 };
}

/* ---- answers ---- */

/* Power of the slowdown that a metric goes with when only the time changes. */
static int power_of_slowdown(const char *metric)
{
    static const char *const with[] = { "slowdown", "cycles", "time_s" };
    static const char *const against[] = { "performance", "hbf_utilisation", "tokens_per_s" };
    for (size_t i = 0; i < sizeof with / sizeof with[0]; i++)
        if (strcmp(metric, with[i]) == 0)
            return 1;
    for (size_t i = 0; i < sizeof against / sizeof against[0]; i++)
        if (strcmp(metric, against[i]) == 0)
            return -1;
    return 0;
}

static double metric_of(const struct sc_system *system, const char *metric, const void *answer)
{
    double value;
    memcpy(&value, (const char *)answer + sc_system_metric(system, metric)->offset, sizeof value);
    return value;
}

/* What the interval of the slowdown says of another metric. */
static struct figure_value with_interval(const struct sc_system *system, const char *metric,
                                         const struct judged_answer *answer)
{
    struct figure_value value = { metric_of(system, metric, answer->answer), (double)NAN,
                                  (double)NAN };
    const double slowdown = metric_of(system, system->metrics[0].column, answer->answer);
    const double low = answer->slowdown_lo / slowdown, high = answer->slowdown_hi / slowdown;
    const int power = power_of_slowdown(metric);
    if (power != 0) {
        value.low = value.value * (power > 0 ? low : 1.0 / high);
        value.high = value.value * (power > 0 ? high : 1.0 / low);
    }
    return value;
}

/* A metric that is less when there is less to do, and no rate. */
static bool is_amount(const char *metric)
{
    static const char *const kept[] = { "slowdown", "performance", "_share", "_per_s" };
    const size_t length = strlen(metric);
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        if (length >= strlen(kept[i]) && strcmp(metric + length - strlen(kept[i]), kept[i]) == 0)
            return false;
    return true;
}

/* Of the ends too: as if both were off in opposite directions, so rather wide. */
static struct figure_value ratio(const struct figure_value *value, const struct figure_value *over)
{
    return over->value > 0 ? (struct figure_value){ value->value / over->value,
                                                    value->low / over->high,
                                                    value->high / over->low }
                           : no_value;
}

static struct figure_value value_alone(const struct figure_tools *tools, const char *metric,
                                       const struct figure_point *point,
                                       enum figure_source source)
{
    if (source == FIGURE_CLOSED_FORM)
        return with_interval(tools->system, metric, &point->closed_form);
    return (struct figure_value){ metric_of(tools->system, metric, point->simulated), (double)NAN,
                                  (double)NAN };
}

static struct figure_value value_of(const struct figure *figure, const struct figure_tools *tools,
                                    const struct figure_point *point, enum figure_source source,
                                    size_t metric)
{
    const char *name = figure->metrics[metric];
    const struct figure_value value = value_alone(tools, name, point, source);
    if (point->over != NULL) {
        const struct figure_value over = value_alone(tools, name, point->over, source);
        return ratio(&value, &over);
    }
    return figure->shrink.by > 0 && source == FIGURE_SIMULATOR && is_amount(name) ? no_value
                                                                                  : value;
}

/* Of the ends too: as if all were off in the same direction, so rather wide. */
static struct figure_value mean_of(const struct figure *figure, const struct figure_tools *tools,
                                   const struct figure_point *points, size_t count,
                                   enum figure_source source, size_t metric)
{
    const bool arithmetic = figure->mean == FIGURE_ARITHMETIC_MEAN;
    const double n = (double)count;
    struct figure_value sum = { 0.0, 0.0, 0.0 };
    for (size_t i = 0; i < count; i++) {
        const struct figure_value value = value_of(figure, tools, &points[i], source, metric);
        sum.value += arithmetic ? value.value : log(value.value);
        sum.low += arithmetic ? value.low : log(value.low);
        sum.high += arithmetic ? value.high : log(value.high);
    }
    return arithmetic
               ? (struct figure_value){ sum.value / n, sum.low / n, sum.high / n }
               : (struct figure_value){ exp(sum.value / n), exp(sum.low / n), exp(sum.high / n) };
}

static bool add_point(const struct figure *figure, const struct figure_tools *tools,
                      const struct figure_point *point, enum figure_source source,
                      struct figure_table *table)
{
    struct figure_row *row = add_row(table, source, point->series, point->group, point->position,
                                     point->x);
    for (size_t m = 0; row != NULL && m < table->metric_count; m++)
        row->values[m] = value_of(figure, tools, point, source, m);
    return row != NULL;
}

/* A group that the series of a point is about alone. */
static bool has_own_group(const struct figure *figure, const struct figure_points *points,
                          size_t index)
{
    const size_t per_series = points->xs * points->groups;
    return per_series > 0 && figure->series[index / per_series].group != NULL;
}

/* A series whose group is its own has its mean there, others after their models. */
static bool add_mean(const struct figure *figure, const struct figure_tools *tools,
                     const struct figure_points *points, size_t first, size_t count,
                     enum figure_source source, struct figure_table *table)
{
    const struct figure_point *point = &points->items[first];
    const bool own = has_own_group(figure, points, first);
    struct figure_row *row = add_row(table, source, point->series, own ? point->group : mean_names[figure->mean],
                                     own ? point->position : points->groups + 1,
                                     count > points->groups ? (double)NAN : point->x);
    for (size_t m = 0; row != NULL && m < table->metric_count; m++)
        row->values[m] = mean_of(figure, tools, point, count, source, m);
    return row != NULL;
}

/* Points that one mean is taken over. */
static size_t points_per_mean(const struct figure *figure, const struct figure_points *points)
{
    return figure->mean == FIGURE_MEAN_OF_ALL ? points->xs * points->groups : points->groups;
}

static bool add_answers(const struct figure *figure, const struct figure_tools *tools,
                        const struct figure_points *points, enum figure_source source,
                        struct figure_table *table)
{
    const size_t all = points->series * points->xs * points->groups;
    const size_t step = points_per_mean(figure, points);
    for (size_t first = 0; first < all; first += step) {
        for (size_t i = first; !figure->only_means && i < first + step; i++)
            if (!points->items[i].omitted &&
                !add_point(figure, tools, &points->items[i], source, table))
                return false;
        if (figure->mean != FIGURE_NO_MEAN &&
            !add_mean(figure, tools, points, first, step, source, table))
            return false;
    }
    return true;
}

/* Of samples there is one row each, with the simulator's answer as x. */
static bool add_samples(const struct figure *figure, const struct figure_tools *tools,
                        struct figure_points *points, struct figure_table *table)
{
    for (size_t i = 0; i < points->groups; i++) {
        struct figure_point *point = &points->items[i];
        if (point->omitted)
            continue;
        point->x = metric_of(tools->system, figure->metrics[0], point->simulated);
        if (!add_point(figure, tools, point, FIGURE_CLOSED_FORM, table))
            return false;
    }
    return true;
}

/* ---- published figures ---- */

struct scenarios {
    unsigned char *items;
    size_t count;
};

/* One row of data/published/SYSTEM.csv, and the scenarios that it is about. */
struct publication {
    const char *where, *metric, *aggregate;
    double value;
    bool capped; /* the run was stopped: at least the value */
    struct scenarios scenarios, over; /* over: none, or it is a ratio */
};

struct publications {
    struct publication *items;
    size_t count;
};

static void publications_fini(struct publications *all)
{
    for (size_t i = 0; i < all->count; i++) {
        free(all->items[i].scenarios.items);
        free(all->items[i].over.items);
    }
    free(all->items);
}

static bool build_scenarios(const struct figure_tools *tools, const char *text,
                            struct scenarios *scenarios, struct problem *problem)
{
    const char *words[WORDS_MAX];
    struct setting settings[WORDS_MAX];
    struct product product = { 0 };
    char *copy = strdup(text);
    if (copy == NULL)
        return problem_set(problem, "out of memory");
    bool fine = product_make(tools->resolver, words, text_split(copy, words, WORDS_MAX), &product,
                             problem);
    if (fine) {
        scenarios->count = product.rows;
        scenarios->items = calloc(product.rows, SC_SCENARIO_MAX);
        fine = scenarios->items != NULL || problem_set(problem, "out of memory");
    }
    for (size_t row = 0; fine && row < product.rows; row++) {
        product_row(&product, row, settings);
        fine = resolver_build(tools->resolver, settings, product.count,
                              scenarios->items + row * SC_SCENARIO_MAX, problem);
    }
    product_fini(&product);
    free(copy);
    return fine;
}

static bool read_publication(const struct catalog_table *table, size_t row,
                             const struct figure_tools *tools, struct publication *publication,
                             struct problem *problem)
{
    const char *value = "", *scenario = "", *over = "", *cap = "";
    *publication = (struct publication){ .where = "", .metric = "", .aggregate = "" };
    const struct {
        const char *column;
        const char **part;
    } parts[] = { { "figure", &publication->where },
                  { "metric", &publication->metric },
                  { "aggregate", &publication->aggregate },
                  { "value", &value },
                  { "scenario", &scenario },
                  { "over", &over },
                  { "cap", &cap } };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const size_t column = catalog_column(table, parts[i].column);
        /* Few tables have these two. */
        if (column == SIZE_MAX && (parts[i].part == &over || parts[i].part == &cap))
            continue;
        if (column == SIZE_MAX)
            return problem_set(problem, "%s: expected a column named %s", table->shown,
                               parts[i].column);
        *parts[i].part = catalog_cell(table, row, column);
    }
    struct problem inner;
    double limit = (double)INFINITY;
    bool fine = catalog_number("value", value, &publication->value, &inner) &&
                (*cap == '\0' || catalog_number("cap", cap, &limit, &inner)) &&
                build_scenarios(tools, scenario, &publication->scenarios, &inner) &&
                (*over == '\0' || build_scenarios(tools, over, &publication->over, &inner));
    publication->capped = fine && publication->value >= limit;
    return fine ||
           problem_set(problem, "%s:%zu: %s", table->shown, catalog_line(table, row), inner.text);
}

static bool read_publications(const struct figure_tools *tools, struct publications *all,
                              struct problem *problem)
{
    char name[64] = "published/";
    (void)strncat(name, tools->system->name, sizeof name - strlen(name) - 1);
    const struct catalog_table *table = catalog_table(tools->catalog, name, problem);
    if (table == NULL)
        return false;
    all->items = calloc(table->row_count + 1, sizeof *all->items);
    if (all->items == NULL)
        return problem_set(problem, "out of memory");
    for (all->count = 0; all->count < table->row_count; all->count++)
        if (!read_publication(table, all->count, tools, &all->items[all->count], problem)) {
            all->count++; /* what there is of it is freed with the others */
            return false;
        }
    return true;
}

static bool has_scenario(const struct scenarios *scenarios, const struct figure_point *point,
                         size_t scenario_size)
{
    for (size_t i = 0; i < scenarios->count; i++)
        if (memcmp(scenarios->items + i * SC_SCENARIO_MAX, point->scenario, scenario_size) == 0)
            return true;
    return false;
}

enum about { NOT_ABOUT, ABOUT, ABOUT_INVERSE };

/* Whether the publication is, perhaps among others, about the point, or of a ratio
 * about its inverse. */
static enum about is_about(const struct publication *publication, const struct figure_point *point,
                           size_t scenario_size)
{
    const struct figure_point *over = point->over;
    if ((over != NULL) != (publication->over.count > 0))
        return NOT_ABOUT;
    if (has_scenario(&publication->scenarios, point, scenario_size) &&
        (over == NULL || has_scenario(&publication->over, over, scenario_size)))
        return ABOUT;
    return over != NULL && has_scenario(&publication->scenarios, over, scenario_size) &&
                   has_scenario(&publication->over, point, scenario_size)
               ? ABOUT_INVERSE
               : NOT_ABOUT;
}

/* What a publication says of a metric of the figure; false: nothing. */
static bool published_value(const struct publication *publication, const char *metric,
                            struct figure_value *value)
{
    const char *aggregate = publication->aggregate;
    const bool same = strcmp(publication->metric, metric) == 0;
    const bool reciprocal = (strcmp(publication->metric, "slowdown") == 0 &&
                             strcmp(metric, "performance") == 0) ||
                            (strcmp(publication->metric, "performance") == 0 &&
                             strcmp(metric, "slowdown") == 0);
    const double number = same ? publication->value : 1.0 / publication->value;
    const bool least = strcmp(aggregate, "min") == 0, greatest = strcmp(aggregate, "max") == 0;
    *value = no_value;
    if (publication->capped && !greatest)
        *(same ? &value->low : &value->high) = number;
    else if (least || greatest)
        *(least == same ? &value->low : &value->high) = number;
    else
        value->value = number;
    return same || reciprocal;
}

/* What is there already came from a better place. */
static void merge(struct figure_value *into, const struct figure_value *value)
{
    into->value = isnan(into->value) ? value->value : into->value;
    into->low = isnan(into->low) ? value->low : into->low;
    into->high = isnan(into->high) ? value->high : into->high;
}

static bool same_x(double a, double b)
{
    return (isnan(a) && isnan(b)) || a == b;
}

/* Into the published row of that place, which is made if need be. */
static bool put(struct figure_table *table, const char *series, const char *group, size_t position,
                double x, size_t metric, const struct figure_value *value)
{
    struct figure_row *row = NULL;
    for (size_t i = 0; row == NULL && i < table->count; i++)
        if (table->rows[i].source == FIGURE_PUBLISHED && table->rows[i].position == position &&
            strcmp(table->rows[i].series, series) == 0 && same_x(table->rows[i].x, x))
            row = &table->rows[i];
    if (row == NULL)
        row = add_row(table, FIGURE_PUBLISHED, series, group, position, x);
    if (row != NULL)
        merge(&row->values[metric], value);
    return row != NULL;
}

static struct figure_value inverse(const struct figure_value *value)
{
    return (struct figure_value){ 1.0 / value->value, 1.0 / value->high, 1.0 / value->low };
}

/* One number for several scenarios. */
static bool is_statistic(const char *aggregate)
{
    static const char *const names[] = { "geomean", "mean", "median" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(aggregate, names[i]) == 0)
            return true;
    return false;
}

/* A value of a single scenario goes to its point, a mean to the mean of the same kind and
 * scenarios, a range to each of its points and, if it is of all, to their mean. */
static bool place(const struct figure *figure, const struct figure_points *points, size_t first,
                  size_t scenario_size, const struct publication *publication, size_t metric,
                  const struct figure_value *stated, struct figure_table *table)
{
    const size_t step = points_per_mean(figure, points);
    const struct figure_point *point = &points->items[first];
    const bool single = strcmp(publication->aggregate, "each") == 0;
    const bool statistic = is_statistic(publication->aggregate);
    const bool mean = strcmp(publication->aggregate, mean_names[figure->mean]) == 0;
    size_t members = 0, inverses = 0;
    for (size_t i = 0; i < step; i++) {
        const enum about about = is_about(publication, &point[i], scenario_size);
        members += about != NOT_ABOUT;
        inverses += about == ABOUT_INVERSE;
    }
    if (members != publication->scenarios.count)
        return true;
    const struct figure_value other = inverse(stated), *value = inverses > 0 ? &other : stated;
    for (size_t i = 0; i < step && !statistic && !figure->only_means; i++)
        if (is_about(publication, &point[i], scenario_size) != NOT_ABOUT &&
            !put(table, point[i].series, point[i].group, point[i].position, point[i].x, metric,
                 value))
            return false;
    if (members != step || single || (statistic && !mean) || figure->mean == FIGURE_NO_MEAN)
        return true;
    const bool own = has_own_group(figure, points, first);
    return put(table, point->series, own ? point->group : mean_names[figure->mean],
               own ? point->position : points->groups + 1,
               step > points->groups ? (double)NAN : point->x, metric, value);
}

static bool add_publication(const struct figure *figure, const struct figure_points *points,
                            size_t scenario_size, const struct publication *publication,
                            struct figure_table *table)
{
    const size_t all = points->series * points->xs * points->groups;
    const size_t step = points_per_mean(figure, points);
    struct figure_value value;
    for (size_t m = 0; m < table->metric_count; m++)
        for (size_t first = 0; first < all; first += step)
            if (published_value(publication, figure->metrics[m], &value) &&
                !place(figure, points, first, scenario_size, publication, m, &value, table))
                return false;
    return true;
}

/* The first single publication of a metric about a scenario by itself, or NULL. */
static const struct publication *published_alone(const struct publications *all,
                                                 const char *metric,
                                                 const struct figure_point *point,
                                                 size_t scenario_size)
{
    for (size_t i = 0; i < all->count; i++) {
        const struct publication *publication = &all->items[i];
        if (publication->over.count == 0 && publication->scenarios.count == 1 &&
            strcmp(publication->aggregate, "each") == 0 &&
            strcmp(publication->metric, metric) == 0 &&
            has_scenario(&publication->scenarios, point, scenario_size))
            return publication;
    }
    return NULL;
}

/* Ratios of two published figures, where no ratio is published. */
static bool add_published_ratios(const struct figure *figure, const struct figure_points *points,
                                 size_t scenario_size, const struct publications *all,
                                 struct figure_table *table)
{
    const size_t count = points->series * points->xs * points->groups;
    for (size_t i = 0; i < count; i++)
        for (size_t m = 0; points->items[i].over != NULL && m < table->metric_count; m++) {
            const struct figure_point *point = &points->items[i];
            const struct publication *upper =
                published_alone(all, figure->metrics[m], point, scenario_size);
            const struct publication *lower =
                published_alone(all, figure->metrics[m], point->over, scenario_size);
            if (upper == NULL || lower == NULL || (upper->capped && lower->capped))
                continue;
            const double number = upper->value / lower->value;
            struct figure_value value = no_value;
            *(upper->capped ? &value.low : lower->capped ? &value.high : &value.value) = number;
            if (!put(table, point->series, point->group, point->position, point->x, m, &value))
                return false;
        }
    return true;
}

/* What the figure of the paper itself says goes before what is said elsewhere. */
static bool add_published(const struct figure *figure, const struct figure_tools *tools,
                          const struct figure_points *points, struct figure_table *table,
                          struct problem *problem)
{
    struct publications all = { 0 };
    bool fine = read_publications(tools, &all, problem);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; fine && i < all.count; i++) {
            const bool own = figure->where == NULL ||
                             strcmp(all.items[i].where, figure->where) == 0;
            if (own == (pass == 0) && !add_publication(figure, points, tools->system->scenario_size,
                                                       &all.items[i], table))
                fine = problem_set(problem, "out of memory");
        }
    if (fine && !figure->only_means &&
        !add_published_ratios(figure, points, tools->system->scenario_size, &all, table))
        fine = problem_set(problem, "out of memory");
    publications_fini(&all);
    return fine;
}

/* ---- the table ---- */

static bool fill(const struct figure *figure, const struct figure_tools *tools,
                 struct figure_points *marks, struct figure_points *curve,
                 struct figure_table *table, struct problem *problem)
{
    const bool samples = figure->kind == FIGURE_SAMPLES;
    const bool simulated = sc_simulator_find(tools->system) != NULL;
    if (!figure_points_make(figure, figure->x, tools, marks, problem) ||
        !figure_points_estimate(marks, tools, samples, problem) ||
        ((simulated || samples) &&
         !figure_points_simulate(figure, marks, tools, samples, problem)))
        return false;
    if (figure->curve != NULL &&
        (!figure_points_make(figure, figure->curve, tools, curve, problem) ||
         !figure_points_estimate(curve, tools, false, problem)))
        return false;
    table->x = marks->x_field;
    if (samples)
        return add_samples(figure, tools, marks, table) || problem_set(problem, "out of memory");
    if (!add_published(figure, tools, marks, table, problem))
        return false;
    return ((!simulated || add_answers(figure, tools, marks, FIGURE_SIMULATOR, table)) &&
            add_answers(figure, tools, figure->curve != NULL ? curve : marks, FIGURE_CLOSED_FORM,
                        table)) ||
           problem_set(problem, "out of memory");
}

bool figure_answer(const struct figure *figure, const struct figure_tools *tools,
                   struct figure_table *table, struct problem *problem)
{
    struct figure_points marks = { 0 }, curve = { 0 };
    *table = (struct figure_table){ 0 };
    while (table->metric_count < FIGURE_METRICS && figure->metrics[table->metric_count] != NULL)
        table->metric_count++;
    const bool fine = fill(figure, tools, &marks, &curve, table, problem);
    figure_points_fini(&marks);
    figure_points_fini(&curve);
    return fine;
}
