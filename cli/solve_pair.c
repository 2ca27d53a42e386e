/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "solve_pair.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "command.h"
#include "gnuplot.h"
#include "number.h"
#include "progress.h"
#include "sink.h"

enum { SERIES_MAX = 6 }; /* of a figure that can be read */

static const struct gnuplot_user user = { "solve --plot",
                                          "without --plot the pairs are written as text" };

/* Where a pair stands; words of the column of that name. */
enum place { PLACE_BEST, PLACE_FRONT, PLACE_BEHIND, PLACE_NONE, PLACE_ERROR };
static const char *const places[] = {
    [PLACE_BEST] = "best", [PLACE_FRONT] = "front", [PLACE_BEHIND] = "behind",
    [PLACE_NONE] = "none", [PLACE_ERROR] = "error",
};

/* A value of the first key, and what goes with it. */
struct pair {
    size_t point; /* of the product */
    double first, second, cost;
    enum place place;
};

struct pairs {
    const struct pair_job *job;
    struct pair *items;
    size_t count, capacity;
    struct selection selection;
    struct emit_column *columns;
    struct emit_cell *cells;
    size_t *keys; /* sweeps that are columns */
    size_t key_count, column_count;
    char *names, *answer_names;
    char first_name[FIELD_COLUMN_MAX], second_name[FIELD_COLUMN_MAX];
    struct extrapolation extrapolation;
    size_t empty_points;    /* scenarios without any pair */
    size_t uncosted_points; /* with pairs, none of which has a cost */
    size_t bad_count;       /* values of the first key without an answer */
    struct problem first_bad;
};

/* ---- the pairs ---- */

static struct solving of_first(const struct pair_job *job)
{
    struct solving first = *job->solving;
    first.count = job->product->count + 1;
    first.low = job->first_low;
    first.high = job->first_high;
    return first;
}

/* Values of the first key, with few digits. */
static bool list_first(const struct pair_job *job, double **values, size_t *count,
                       struct problem *problem)
{
    const struct solving first = of_first(job);
    struct search_axis axis;
    *values = NULL;
    *count = 0;
    if (!solving_axis(&first, &axis, problem))
        return false;
    if (!(axis.low <= axis.high))
        return problem_set(problem, "--range: expected a whole number in it");
    if (!search_grid(&axis, job->steps, values, count, problem))
        return false;
    for (size_t i = 0; i < *count && !axis.whole && !(axis.octave > 0.0); i++) {
        const double brief = sc_number_rounded((*values)[i], 4);
        if (brief >= axis.low && brief <= axis.high)
            (*values)[i] = brief;
    }
    return true;
}

static bool add_pair(struct pairs *pairs, struct pair pair, struct problem *problem)
{
    if (pairs->count == pairs->capacity) {
        const size_t capacity = pairs->capacity == 0 ? 64 : 2 * pairs->capacity;
        struct pair *items = realloc(pairs->items, capacity * sizeof *items);
        if (items == NULL)
            return problem_set(problem, "out of memory");
        pairs->items = items;
        pairs->capacity = capacity;
    }
    pairs->items[pairs->count++] = pair;
    return true;
}

static void set_first(const struct pair_job *job, double value)
{
    job->solving->settings[job->product->count] =
        (struct setting){ .field = job->first, .value = value };
}

/* A pair that meets the conditions. */
static bool is_pair(const struct pair *pair)
{
    return pair->place != PLACE_NONE && pair->place != PLACE_ERROR;
}

/* The least value of the second key that goes with one of the first, and what both cost. */
static bool find_pair(struct pairs *pairs, size_t point, double first, struct problem *problem)
{
    const struct pair_job *job = pairs->job;
    struct search_spans spans[SEARCH_SIDES];
    _Alignas(max_align_t) unsigned char scenario[SC_SCENARIO_MAX];
    struct judged_answer answer;
    struct problem ignored;
    struct pair pair = { .point = point, .first = first, .second = (double)NAN,
                         .cost = (double)NAN, .place = PLACE_NONE };
    set_first(job, first);
    if (!solving_run(job->solving, job->sides, spans, problem)) {
        search_fini(spans, job->sides);
        return false;
    }
    const struct search_spans *chosen = &spans[job->worst ? SEARCH_WORSE : SEARCH_AS_IS];
    if (chosen->count > 0) {
        pair.second = job->end == END_LARGEST ? chosen->items[chosen->count - 1].high
                                              : chosen->items[0].low;
        pair.place = PLACE_BEHIND;
        if (solving_answer(job->solving, pair.second, scenario, &answer, &ignored))
            pair.cost = cost_value(job->cost, scenario, &answer);
    } else if (isnan(chosen->best)) {
        pair.place = PLACE_ERROR;
        if (pairs->bad_count++ == 0)
            solving_explain(job->solving, &pairs->first_bad);
    }
    search_fini(spans, job->sides);
    return add_pair(pairs, pair, problem);
}

/* The front of pairs of one scenario, in order of the first key: less of the second than all
 * before it (or more, when the largest is wanted); and the cheapest. */
static void place_pairs(struct pair *pairs, size_t count, bool largest)
{
    double most = (double)NAN;
    struct pair *best = NULL;
    for (size_t i = 0; i < count; i++) {
        struct pair *pair = &pairs[i];
        if (!is_pair(pair))
            continue;
        if (isnan(most) || (largest ? pair->second > most : pair->second < most)) {
            pair->place = PLACE_FRONT;
            most = pair->second;
        }
        if (!isnan(pair->cost) && (best == NULL || pair->cost < best->cost))
            best = pair;
    }
    if (best != NULL)
        best->place = PLACE_BEST;
}

/* All pairs of one scenario. */
static bool find_point(struct pairs *pairs, size_t point, struct progress *progress,
                       struct problem *problem)
{
    const struct pair_job *job = pairs->job;
    const size_t before = pairs->count;
    double *values = NULL;
    size_t count = 0;
    product_row(job->product, point, job->solving->settings);
    set_first(job, 0.0);
    bool fine = list_first(job, &values, &count, problem);
    bool any = false, costed = false, answered = false;
    progress->total = count * job->product->rows;
    for (size_t i = 0; fine && i < count; i++) {
        fine = find_pair(pairs, point, values[i], problem);
        progress_step(progress);
    }
    free(values);
    place_pairs(pairs->items + before, pairs->count - before, job->end == END_LARGEST);
    for (size_t i = before; i < pairs->count; i++) {
        any = any || is_pair(&pairs->items[i]);
        answered = answered || pairs->items[i].place != PLACE_ERROR;
        costed = costed || pairs->items[i].place == PLACE_BEST;
    }
    pairs->empty_points += answered && !any;
    pairs->uncosted_points += any && !costed;
    return fine;
}

static bool find_pairs(struct pairs *pairs, struct problem *problem)
{
    struct progress progress;
    bool fine = true;
    progress_start(&progress, "solve, pairs", pairs->job->product->rows);
    for (size_t point = 0; fine && point < pairs->job->product->rows; point++)
        fine = find_point(pairs, point, &progress, problem);
    progress_end(&progress);
    return fine;
}

/* ---- columns and rows ---- */

static void add_column(struct pairs *pairs, const char *name, enum sc_dimension dimension,
                       bool exact)
{
    pairs->columns[pairs->column_count++] = (struct emit_column){
        .name = name, .dimension = dimension,
        .exact = exact && pairs->job->options->digits == NULL };
}

static void add_keys(struct pairs *pairs, bool table)
{
    const struct product *product = pairs->job->product;
    for (size_t i = 0; i < product->count; i++) {
        const struct sc_field *field = product->sweeps[i].field;
        if ((table && product->sweeps[i].count == 1) || selection_has(&pairs->selection, field))
            continue;
        pairs->keys[pairs->key_count++] = i;
        add_column(pairs, field_column(field, pairs->names + i * FIELD_COLUMN_MAX),
                   field->dimension, false);
    }
}

static bool has_column(const struct pairs *pairs, const char *name)
{
    for (size_t i = 0; i < pairs->column_count; i++)
        if (strcmp(pairs->columns[i].name, name) == 0)
            return true;
    return false;
}

static bool is_key(const char *name, const void *context)
{
    const struct pairs *pairs = context;
    struct binding binding;
    return resolver_bind(pairs->job->solving->resolver, name, &binding, NULL);
}

static bool is_shown(const char *name, const void *context)
{
    return has_column(context, name);
}

/* Answers can be fed back as scenarios: a metric never goes by the name of a key. */
static bool add_answers(struct pairs *pairs, bool table, struct problem *problem)
{
    const struct selection *selection = &pairs->selection;
    const struct pair_job *job = pairs->job;
    const struct sc_field *twice = selection_has(selection, job->first)    ? job->first
                                   : selection_has(selection, job->second) ? job->second
                                                                           : NULL;
    if (twice != NULL)
        return problem_set(problem, "--columns: %s is there already", twice->key);
    struct emit_column *answers = pairs->columns + pairs->column_count;
    selection_columns(selection, answers);
    for (size_t i = 0; i < selection->count; i++) {
        struct emit_column column = answers[i];
        if (selection->items[i].metric != NULL)
            column.name = answer_name(column.name, table ? is_shown : is_key, pairs,
                                      pairs->answer_names + i * ANSWER_NAME_MAX);
        pairs->columns[pairs->column_count++] = column;
    }
    return true;
}

static bool plan_columns(struct pairs *pairs, bool table, struct problem *problem)
{
    const struct pair_job *job = pairs->job;
    const struct sc_system *system = job->solving->system;
    const char *columns = job->options->columns;
    const struct conditions *conditions = job->solving->conditions;
    if (!selection_make(system, columns != NULL ? columns : conditions->items[0].metric->column,
                        table, extra_of_calibration(job->solving->calibration), &pairs->selection,
                        problem))
        return false;
    const size_t most = job->product->count + pairs->selection.count + 8;
    pairs->columns = calloc(most, sizeof *pairs->columns);
    pairs->cells = calloc(most, sizeof *pairs->cells);
    pairs->keys = calloc(job->product->count + 1, sizeof *pairs->keys);
    pairs->names = calloc(job->product->count + 1, FIELD_COLUMN_MAX);
    pairs->answer_names = calloc(pairs->selection.count + 1, ANSWER_NAME_MAX);
    if (pairs->columns == NULL || pairs->cells == NULL || pairs->keys == NULL ||
        pairs->names == NULL || pairs->answer_names == NULL)
        return problem_set(problem, "out of memory");
    add_keys(pairs, table);
    add_column(pairs, field_column(job->first, pairs->first_name), job->first->dimension, true);
    add_column(pairs, field_column(job->second, pairs->second_name), job->second->dimension, true);
    const char *what = job->options->minimize;
    add_column(pairs, has_column(pairs, what) ? "minimize" : what, job->cost->dimension, false);
    add_column(pairs, "place", SC_NUMBER, false);
    return add_answers(pairs, table, problem);
}

static bool write_pair(struct pairs *pairs, struct sink *sink, const struct pair *pair,
                       struct problem *problem)
{
    _Alignas(max_align_t) unsigned char scenario[SC_SCENARIO_MAX];
    struct judged_answer answer;
    struct problem ignored;
    const struct pair_job *job = pairs->job;
    struct emit_cell *cells = pairs->cells;
    size_t at = 0;
    product_row(job->product, pair->point, job->solving->settings);
    set_first(job, pair->first);
    const bool fine = is_pair(pair) &&
                      solving_answer(job->solving, pair->second, scenario, &answer, &ignored);
    for (size_t i = 0; i < pairs->key_count; i++) {
        const struct setting *setting = &job->solving->settings[pairs->keys[i]];
        const char *name = setting_name(setting);
        cells[at++] = name != NULL ? emit_string(name) : emit_number(setting->value);
    }
    cells[at++] = emit_number(pair->first);
    cells[at++] = emit_number(pair->second);
    cells[at++] = emit_number(pair->cost);
    cells[at++] = emit_string(places[pair->place]);
    for (size_t i = 0; i < pairs->selection.count; i++)
        cells[at + i] = emit_string(NULL);
    if (fine) {
        extrapolation_add(&pairs->extrapolation, job->solving->calibration, scenario, &answer);
        selection_cells(&pairs->selection, scenario, &answer, cells + at);
    }
    return sink_row(sink, cells, problem);
}

static bool write_pairs(struct pairs *pairs, const struct emit_style *style,
                        struct problem *problem)
{
    struct sink sink;
    if (!sink_open(&sink, style, pairs->columns, pairs->column_count,
                   pairs->job->options->output, problem))
        return false;
    for (size_t i = 0; i < pairs->count; i++)
        if (!write_pair(pairs, &sink, &pairs->items[i], problem)) {
            sink_abandon(&sink);
            return false;
        }
    return sink_close(&sink, problem);
}

/* ---- the figure ---- */

/* The unit in which a key reads well, from its largest value; NULL: none. */
static const struct sc_unit *unit_of(const struct pairs *pairs, const struct sc_field *field,
                                     bool first)
{
    double largest = 0.0;
    for (size_t i = 0; i < pairs->count; i++) {
        const double value = first ? pairs->items[i].first : pairs->items[i].second;
        if (!isnan(value) && is_pair(&pairs->items[i]))
            largest = fmax(largest, fabs(value));
    }
    const bool bare = field->dimension == SC_NUMBER || field->dimension == SC_SHARE;
    return bare ? NULL : sc_unit_for_display(field->dimension, largest);
}

/* "buffer (MB)" */
static void name_axis(const struct sc_field *field, const struct sc_unit *unit, struct text *out)
{
    text_add_string(out, field->key);
    if (unit != NULL)
        text_printf(out, " (%s)", unit->name);
}

/* "h3, 20 us": what the scenario of a pair is called among the others. */
static void name_series(const struct pairs *pairs, size_t point, struct text *out)
{
    const struct pair_job *job = pairs->job;
    product_row(job->product, point, job->solving->settings);
    for (size_t i = 0; i < job->product->count; i++) {
        const struct setting *setting = &job->solving->settings[i];
        const char *name = setting_name(setting);
        if (job->product->sweeps[i].count == 1)
            continue;
        text_add_string(out, out->length > 0 ? ", " : "");
        if (name != NULL)
            text_add_string(out, name);
        else
            emit_quantity(setting->value, setting->deferred ? SC_NUMBER : setting->field->dimension,
                          4, out);
    }
}

static double shown(const struct sc_unit *unit, double value)
{
    return unit != NULL ? sc_unit_from_si(unit, value) : value;
}

static bool write_plotted_row(const struct pairs *pairs, const struct pair *pair,
                              struct sink *sink, const struct sc_unit *units[2],
                              const char *const axes[2], struct problem *problem)
{
    struct text series = { 0 }, cost = { 0 };
    name_series(pairs, pair->point, &series);
    emit_quantity(pair->cost, pairs->job->cost->dimension, 3, &cost);
    const bool fine = !series.failed && !cost.failed;
    const struct emit_cell cells[] = {
        emit_number((double)pair->point), emit_string(series.length > 0 ? series.bytes : ""),
        emit_string(axes[0]), emit_string(axes[1]), emit_string(pairs->job->options->minimize),
        emit_number(shown(units[0], pair->first)), emit_number(shown(units[1], pair->second)),
        emit_string(cost.length > 0 ? cost.bytes : ""), emit_string(places[pair->place]),
    };
    const bool written = fine ? sink_row(sink, cells, problem)
                              : problem_set(problem, "out of memory");
    text_fini(&series);
    text_fini(&cost);
    return written;
}

static bool write_plotted(const void *context, const char *path, struct problem *problem)
{
    static const struct emit_style style = {
        .format = EMIT_CSV, .digits = 6, .delimiter = ',', .decimal = '.'
    };
    static const struct emit_column columns[] = {
        { .name = "series" }, { .name = "name" }, { .name = "x_axis" },  { .name = "y_axis" },
        { .name = "minimize" }, { .name = "x" },  { .name = "y" }, { .name = "cost" },
        { .name = "place" },
    };
    const struct pairs *const pairs = context;
    const struct sc_unit *units[] = { unit_of(pairs, pairs->job->first, true),
                                      unit_of(pairs, pairs->job->second, false) };
    struct text x = { 0 }, y = { 0 };
    struct sink sink;
    name_axis(pairs->job->first, units[0], &x);
    name_axis(pairs->job->second, units[1], &y);
    bool fine = !x.failed && !y.failed &&
                sink_open(&sink, &style, columns, sizeof columns / sizeof columns[0], path,
                          problem);
    if (fine) {
        const char *const axes[] = { x.bytes, y.bytes };
        for (size_t i = 0; fine && i < pairs->count; i++)
            if (is_pair(&pairs->items[i]))
                fine = write_plotted_row(pairs, &pairs->items[i], &sink, units, axes, problem);
        if (fine)
            fine = sink_close(&sink, problem);
        else
            sink_abandon(&sink);
    } else if (x.failed || y.failed) {
        (void)problem_set(problem, "out of memory");
    }
    text_fini(&x);
    text_fini(&y);
    return fine;
}

static bool draw(struct pairs *pairs, struct problem *problem)
{
    const char *plot = pairs->job->options->plot;
    bool any = false;
    for (size_t i = 0; i < pairs->count; i++)
        any = any || is_pair(&pairs->items[i]);
    if (plot == NULL || !any)
        return true;
    const struct gnuplot figure = { .name = "solve-pareto",
                                    .format = gnuplot_format("plot", plot, problem),
                                    .user = &user, .write = write_plotted, .context = pairs };
    return gnuplot_draw(&figure, plot, problem);
}

static bool check_plot(const struct pair_job *job, struct problem *problem)
{
    const struct options *o = job->options;
    if (o->plot == NULL)
        return true;
    if (o->output != NULL && strcmp(o->plot, o->output) == 0)
        return problem_set(problem, "--plot and -o: both are %s", o->plot);
    if (job->product->rows > SERIES_MAX)
        return problem_set(problem, "--plot: expected at most %d scenarios in a figure, got %zu",
                           (int)SERIES_MAX, job->product->rows);
    return gnuplot_format("plot", o->plot, problem) != NULL && gnuplot_find(&user, problem);
}

/* ---- the whole ---- */

static int report(const struct pairs *pairs)
{
    struct problem problem;
    const size_t rows = pairs->job->product->rows;
    if (selection_wants_note(&pairs->selection, pairs->job->options->columns))
        extrapolation_print(&pairs->extrapolation, pairs->count);
    if (pairs->empty_points > 0) {
        (void)problem_set(&problem, "%zu of %zu scenario%s no %s and %s that meet the conditions%s",
                          pairs->empty_points, rows, rows == 1 ? " has" : "s have",
                          pairs->job->first->key, pairs->job->second->key,
                          pairs->job->options->plot != NULL && pairs->empty_points == rows
                              ? ": there is no figure"
                              : "");
        problem_print(&problem);
    }
    if (pairs->uncosted_points > 0) {
        (void)problem_set(&problem, "--minimize: in %zu of %zu scenario%s no pair has a cost, so "
                                    "none is the best", pairs->uncosted_points, rows,
                          rows == 1 ? "" : "s");
        problem_print(&problem);
    }
    if (pairs->bad_count > 0) {
        (void)problem_set(&problem, "%zu of %zu values of %s have no answer; the first: %s",
                          pairs->bad_count, pairs->count, pairs->job->first->key,
                          pairs->first_bad.text);
        problem_print(&problem);
    }
    return pairs->empty_points + pairs->uncosted_points + pairs->bad_count > 0 ? EXIT_NO
                                                                               : EXIT_FINE;
}

int solve_pair(const struct pair_job *job, struct emit_style *style)
{
    struct problem problem;
    struct pairs pairs = { .job = job };
    style->bar = false;
    const bool fine = check_plot(job, &problem) && find_pairs(&pairs, &problem) &&
                      (pairs.bad_count < pairs.count ||
                       problem_set(&problem, "%s", pairs.first_bad.text)) &&
                      plan_columns(&pairs, !sink_streams(style), &problem) &&
                      draw(&pairs, &problem) && write_pairs(&pairs, style, &problem);
    const int code = fine ? report(&pairs) : command_fail(&problem);
    selection_fini(&pairs.selection);
    free(pairs.items);
    free(pairs.columns);
    free(pairs.cells);
    free(pairs.keys);
    free(pairs.names);
    free(pairs.answer_names);
    return code;
}
