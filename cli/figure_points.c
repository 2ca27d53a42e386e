/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "figure_points.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "design.h"
#include "product.h"
#include "progress.h"
#include "sim/simulator.h"
#include "text.h"

enum { WORDS_MAX = 64 };

static bool allocate(struct figure_points *points, size_t series, size_t xs, size_t groups,
                     bool has_over, struct problem *problem)
{
    points->series = series;
    points->xs = xs;
    points->groups = groups;
    points->all = series * xs * groups * (has_over ? 2 : 1);
    /* A figure has some hundred points; --samples and the tables have their own limits. */
    points->items = calloc(points->all + 1, sizeof *points->items);
    return points->items != NULL || problem_set(problem, "out of memory");
}

/* ---- a grid ---- */

static size_t count_series(const struct figure *figure)
{
    size_t count = 0;
    while (count < FIGURE_SERIES && figure->series[count].name != NULL)
        count++;
    return count;
}

/* Groups that series name come in the order of the table. */
static size_t position_of(const struct figure *figure, size_t series)
{
    size_t position = 1;
    for (size_t i = 0; figure->series[series].group != NULL && i < series; i++) {
        size_t earlier = 0;
        while (earlier < i && strcmp(figure->series[earlier].group, figure->series[i].group) != 0)
            earlier++;
        if (strcmp(figure->series[i].group, figure->series[series].group) == 0)
            return position;
        position += earlier == i;
    }
    return position;
}

static bool any_over(const struct figure *figure)
{
    for (size_t s = 0; s < count_series(figure); s++)
        if (figure->series[s].over != NULL)
            return true;
    return false;
}

static bool fill_series(const struct figure *figure, size_t s, size_t first,
                        const struct product *product, const struct figure_tools *tools,
                        struct figure_points *points, struct problem *problem)
{
    struct setting settings[WORDS_MAX];
    for (size_t row = 0; row < product->rows; row++) {
        struct figure_point *point = &points->items[first + s * product->rows + row];
        product_row(product, row, settings);
        if (!resolver_build(tools->resolver, settings, product->count, point->scenario, problem))
            return false;
        point->series = figure->series[s].name;
        point->group = figure->series[s].group;
        point->position = position_of(figure, s);
        if (point->group == NULL) {
            point->group = setting_name(&settings[product->count - 1]);
            point->position = row % points->groups + 1;
        }
        point->x = points->x_field != NULL ? sc_field_get(points->x_field, point->scenario)
                                           : (double)NAN;
    }
    return true;
}

/* The words of a series, then x, then the models: those change fastest.  They become
 * its points, or those that these are over. */
static bool make_series(const struct figure *figure, const char *x, size_t s, bool over,
                        const struct figure_tools *tools, struct figure_points *points,
                        struct problem *problem)
{
    const char *words[WORDS_MAX];
    struct product product = { 0 };
    struct text text = { 0 };
    text_printf(&text, "%s %s", over ? figure->series[s].over : figure->series[s].scenario,
                figure->common != NULL ? figure->common : "");
    if (text.failed)
        return problem_set(problem, "out of memory");
    size_t count = text_split(text.bytes, words, WORDS_MAX - 2);
    if (x != NULL)
        words[count++] = x;
    words[count++] = figure->models;
    bool fine = product_make(tools->resolver, words, count, &product, problem);
    if (fine && points->items == NULL) {
        const size_t models = product.sweeps[product.count - 1].count;
        points->x_field = x != NULL ? product.sweeps[product.count - 2].field : NULL;
        fine = allocate(points, count_series(figure), product.rows / models, models,
                        any_over(figure), problem);
    }
    fine = fine && fill_series(figure, s, over ? points->all / 2 : 0, &product, tools, points,
                               problem);
    product_fini(&product);
    text_fini(&text);
    return fine;
}

static bool make_grid(const struct figure *figure, const char *x, const struct figure_tools *tools,
                      struct figure_points *points, struct problem *problem)
{
    for (size_t s = 0; s < count_series(figure); s++)
        if (!make_series(figure, x, s, false, tools, points, problem) ||
            (figure->series[s].over != NULL &&
             !make_series(figure, x, s, true, tools, points, problem)))
            return false;
    const size_t count = points->series * points->xs * points->groups;
    for (size_t i = count; i < points->all; i++) {
        points->items[i].omitted = points->items[i].series == NULL;
        points->items[i - count].over = points->items[i].omitted ? NULL : &points->items[i];
    }
    return true;
}

/* ---- measured scenarios ---- */

static bool make_measured_point(const struct catalog_table *table, size_t row, size_t column,
                                const struct figure_tools *tools, struct figure_point *point,
                                struct problem *problem)
{
    const char *words[WORDS_MAX];
    struct setting settings[WORDS_MAX];
    struct product product = { 0 };
    char *text = strdup(catalog_cell(table, row, column));
    if (text == NULL)
        return problem_set(problem, "out of memory");
    bool fine = product_make(tools->resolver, words, text_split(text, words, WORDS_MAX), &product,
                             problem);
    if (fine) {
        product_row(&product, 0, settings);
        fine = resolver_build(tools->resolver, settings, product.count, point->scenario, problem);
    }
    product_fini(&product);
    free(text);
    return fine;
}

static bool make_measured(const struct figure *figure, const struct catalog_table *table,
                          const struct figure_tools *tools, struct figure_points *points,
                          struct problem *problem)
{
    const size_t column = catalog_column(table, "scenario");
    if (column == SIZE_MAX)
        return problem_set(problem, "%s: expected a column named scenario", table->shown);
    if (!allocate(points, 1, 1, table->row_count, false, problem))
        return false;
    for (size_t row = 0; row < table->row_count; row++) {
        struct figure_point *point = &points->items[row];
        if (!make_measured_point(table, row, column, tools, point, problem)) {
            const struct problem inner = *problem;
            return problem_set(problem, "%s:%zu: %s", table->shown, catalog_line(table, row),
                               inner.text);
        }
        point->series = figure->series[0].name;
        point->group = catalog_cell(table, row, 0);
        point->position = row + 1;
        point->x = (double)NAN;
    }
    return true;
}

/* ---- samples ---- */

/* The rows of a sweep as indices to draw from: of choices their own, of presets
 * that in the sweep. */
static int *indices_of(const struct sweep *sweep)
{
    int *indices = calloc(sweep->count, sizeof *indices);
    for (size_t i = 0; indices != NULL && i < sweep->count; i++)
        indices[i] = sweep->field->kind == SC_CHOICE ? (int)sweep->values[i].value : (int)i;
    return indices;
}

static size_t drawn_value(const struct sweep *sweep, int drawn)
{
    if (sweep->field->kind != SC_CHOICE)
        return (size_t)drawn;
    size_t i = 0;
    while (i + 1 < sweep->count && (int)sweep->values[i].value != drawn)
        i++;
    return i;
}

/* Keys with several values are drawn from, keys with one are kept. */
struct drawing {
    struct product product;
    int *indices[WORDS_MAX]; /* of each sweep; NULL: kept */
    struct sc_design_choice choices[WORDS_MAX];
    const char *kept[WORDS_MAX];
    size_t choice_count, kept_count;
};

static void drawing_fini(struct drawing *drawing)
{
    for (size_t k = 0; k < drawing->product.count; k++)
        free(drawing->indices[k]);
    product_fini(&drawing->product);
}

/* Series and group come first, since they name the sample. */
static bool drawing_make(const struct figure *figure, const struct figure_tools *tools,
                         struct drawing *drawing, struct problem *problem)
{
    const char *words[WORDS_MAX];
    struct text text = { 0 };
    text_printf(&text, "%s %s %s", figure->series[0].scenario, figure->models,
                figure->common != NULL ? figure->common : "");
    bool fine = (!text.failed || problem_set(problem, "out of memory")) &&
                product_make(tools->resolver, words, text_split(text.bytes, words, WORDS_MAX),
                             &drawing->product, problem);
    for (size_t k = 0; fine && k < drawing->product.count; k++) {
        const struct sweep *sweep = &drawing->product.sweeps[k];
        if (sweep->count == 1) {
            drawing->kept[drawing->kept_count++] = sweep->field->key;
            continue;
        }
        drawing->indices[k] = indices_of(sweep);
        if (drawing->indices[k] == NULL)
            fine = problem_set(problem, "out of memory");
        else
            drawing->choices[drawing->choice_count++] =
                (struct sc_design_choice){ .key = sweep->field->key,
                                           .indices = drawing->indices[k],
                                           .index_count = sweep->count };
    }
    text_fini(&text);
    return fine;
}

static bool fill_samples(const struct drawing *drawing, const struct sc_design *design,
                         const struct figure_tools *tools, struct figure_points *points,
                         struct problem *problem)
{
    for (size_t i = 0; i < tools->samples; i++) {
        struct figure_point *point = &points->items[i];
        struct setting settings[WORDS_MAX];
        size_t choice = 0;
        for (size_t k = 0; k < drawing->product.count; k++) {
            const struct sweep *sweep = &drawing->product.sweeps[k];
            const bool drawn = drawing->indices[k] != NULL;
            settings[k] = sweep->values[drawn ? drawn_value(sweep, sc_design_drawn(design, i,
                                                                                   choice))
                                              : 0];
            choice += drawn;
        }
        if (!resolver_build(tools->resolver, settings, drawing->product.count, point->scenario,
                            problem))
            return false;
        sc_design_sample(design, i, point->scenario);
        point->series = setting_name(&settings[0]);
        point->group = setting_name(&settings[1]);
        point->position = i + 1;
        point->x = (double)NAN;
    }
    return true;
}

static bool make_samples(const struct figure *figure, const struct figure_tools *tools,
                         struct figure_points *points, struct problem *problem)
{
    struct drawing drawing = { 0 };
    struct sc_design design;
    struct sc_error error;
    bool fine = allocate(points, 1, 1, tools->samples, false, problem) &&
                drawing_make(figure, tools, &drawing, problem);
    if (fine) {
        /* No calibration has such a large seed: none was fitted to these very samples. */
        const uint64_t seed = tools->seed ^ UINT64_C(0x9e3779b97f4a7c15);
        const struct sc_design_options options = {
            .seed = seed, .samples = tools->samples,
            .choices = drawing.choices, .choice_count = drawing.choice_count,
            .kept = drawing.kept, .kept_count = drawing.kept_count
        };
        fine = sc_design_init(&design, tools->system, &options, &error) == SC_OK ||
               problem_set(problem, "%s: %s", error.field, error.reason);
    }
    fine = fine && fill_samples(&drawing, &design, tools, points, problem);
    drawing_fini(&drawing);
    return fine;
}

bool figure_points_make(const struct figure *figure, const char *x,
                        const struct figure_tools *tools, struct figure_points *points,
                        struct problem *problem)
{
    *points = (struct figure_points){ 0 };
    if (figure->kind == FIGURE_GRID)
        return make_grid(figure, x, tools, points, problem);
    if (figure->kind == FIGURE_SAMPLES)
        return make_samples(figure, tools, points, problem);
    char name[64] = "published/";
    (void)strncat(name, tools->system->name, sizeof name - strlen(name) - 1);
    const struct catalog_table *table = catalog_table(tools->catalog, name, problem);
    return table != NULL && make_measured(figure, table, tools, points, problem);
}

void figure_points_fini(struct figure_points *points)
{
    free(points->items);
    points->items = NULL;
}

/* ---- answers ---- */

bool figure_points_estimate(struct figure_points *points, const struct figure_tools *tools,
                            bool may_omit, struct problem *problem)
{
    for (size_t i = 0; i < points->all; i++) {
        struct figure_point *point = &points->items[i];
        struct sc_error error = { 0 };
        if (point->omitted)
            continue;
        const enum sc_status status = tools->system->estimate(
            point->scenario, point->closed_form.answer, NULL, &error);
        point->omitted = may_omit && status != SC_OK;
        if (status == SC_OK) {
            calibration_judge(tools->calibration, point->scenario, &point->closed_form);
        } else if (!may_omit) {
            scenario_describe_error(tools->system, status, &error, problem);
            return false;
        }
    }
    return true;
}

/* Points to simulate; workers take the next one that is left. */
struct pool {
    const struct figure_tools *tools;
    const struct sc_simulator *simulator;
    struct figure_point *items;
    unsigned char *scenarios; /* of each, as it is simulated */
    bool *refused;            /* each that has no answer */
    size_t next, count;
    bool may_omit;
    struct problem fault;
    struct progress progress;
    pthread_mutex_t lock;
};

static unsigned char *pool_scenario(const struct pool *pool, size_t i)
{
    return pool->scenarios + i * SC_SCENARIO_MAX;
}

/* The first point with the scenario of this one, which is simulated for both. */
static size_t same_point(const struct pool *pool, size_t i)
{
    size_t first = 0;
    while (pool->items[first].omitted ||
           memcmp(pool_scenario(pool, first), pool_scenario(pool, i),
                  pool->tools->system->scenario_size) != 0)
        first++;
    return first;
}

static bool shrink_scenario(const struct figure_shrink *shrink, const struct sc_system *system,
                            void *scenario, struct problem *problem)
{
    const char *words[WORDS_MAX];
    char *text = strdup(shrink->keys);
    if (text == NULL)
        return problem_set(problem, "out of memory");
    const size_t count = text_split(text, words, WORDS_MAX);
    for (size_t k = 0; k < count; k++) {
        const struct sc_field *field = sc_system_field(system, words[k]);
        sc_field_set(field, scenario, sc_field_get(field, scenario) / shrink->by);
    }
    free(text);
    return true;
}

/* What is simulated of each point. */
static bool fill_pool(const struct figure *figure, struct pool *pool, struct problem *problem)
{
    const struct figure_shrink *shrink = &figure->shrink;
    pool->scenarios = calloc(pool->count + 1, SC_SCENARIO_MAX);
    pool->refused = calloc(pool->count + 1, sizeof *pool->refused);
    if (pool->scenarios == NULL || pool->refused == NULL)
        return problem_set(problem, "out of memory");
    for (size_t i = 0; i < pool->count; i++) {
        const struct figure_point *point = &pool->items[i];
        memcpy(pool_scenario(pool, i), point->scenario, SC_SCENARIO_MAX);
        if (shrink->by > 0 && !point->omitted &&
            (shrink->group == NULL || strcmp(shrink->group, point->group) == 0) &&
            !shrink_scenario(shrink, pool->tools->system, pool_scenario(pool, i), problem))
            return false;
    }
    return true;
}

static void simulate_one(struct pool *pool, size_t i)
{
    struct figure_point *point = &pool->items[i];
    struct sc_sim_report report = { 0 };
    struct sc_error error = { 0 };
    /* Run 0, as `simulate` makes it: each value can be had again by itself. */
    const struct sc_sim_options options = { .seed = pool->tools->seed };
    if (point->omitted || same_point(pool, i) != i)
        return;
    const enum sc_status status = pool->simulator->simulate(pool_scenario(pool, i), &options,
                                                            point->simulated, &report, &error);
    if (status == SC_OK)
        return;
    (void)pthread_mutex_lock(&pool->lock);
    pool->refused[i] = pool->may_omit;
    if (!pool->may_omit && pool->fault.text[0] == '\0')
        scenario_describe_error(pool->tools->system, status, &error, &pool->fault);
    (void)pthread_mutex_unlock(&pool->lock);
}

static void *work(void *argument)
{
    struct pool *pool = argument;
    for (;;) {
        (void)pthread_mutex_lock(&pool->lock);
        const size_t i = pool->next;
        const bool left = i < pool->count && pool->fault.text[0] == '\0';
        pool->next += left;
        (void)pthread_mutex_unlock(&pool->lock);
        if (!left)
            return NULL;
        simulate_one(pool, i);
        (void)pthread_mutex_lock(&pool->lock);
        progress_step(&pool->progress);
        (void)pthread_mutex_unlock(&pool->lock);
    }
}

static void pool_fini(struct pool *pool)
{
    free(pool->scenarios);
    free(pool->refused);
}

/* From the points that were simulated to all. */
static void copy_same(struct pool *pool)
{
    for (size_t i = pool->count; i-- > 0;) {
        if (pool->items[i].omitted)
            continue;
        const size_t from = same_point(pool, i);
        memmove(pool->items[i].simulated, pool->items[from].simulated,
                sizeof pool->items[i].simulated);
        pool->refused[i] = pool->refused[from];
    }
    for (size_t i = 0; i < pool->count; i++)
        pool->items[i].omitted = pool->items[i].omitted || pool->refused[i];
}

bool figure_points_simulate(const struct figure *figure, struct figure_points *points,
                            const struct figure_tools *tools, bool may_omit,
                            struct problem *problem)
{
    struct pool pool = { .tools = tools,
                         .simulator = sc_simulator_find(tools->system),
                         .items = points->items,
                         .count = points->all,
                         .may_omit = may_omit };
    pthread_t *threads = calloc(tools->jobs + 1, sizeof *threads);
    size_t started = 0;
    if (pool.simulator == NULL) {
        free(threads);
        return problem_set(problem, "%s has no simulator", tools->system->name);
    }
    if (!fill_pool(figure, &pool, problem)) {
        pool_fini(&pool);
        free(threads);
        return false;
    }
    (void)pthread_mutex_init(&pool.lock, NULL);
    progress_start(&pool.progress, "simulate", pool.count);
    for (size_t i = 1; threads != NULL && i < tools->jobs && i < pool.count; i++)
        if (pthread_create(&threads[started], NULL, work, &pool) == 0)
            started++;
    (void)work(&pool);
    for (size_t i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
    progress_end(&pool.progress);
    (void)pthread_mutex_destroy(&pool.lock);
    copy_same(&pool);
    pool_fini(&pool);
    free(threads);
    *problem = pool.fault;
    return pool.fault.text[0] == '\0';
}
