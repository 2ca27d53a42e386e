/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stallcast solve: the value of a key at which the answer meets conditions. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "command.h"
#include "product.h"
#include "progress.h"
#include "sink.h"
#include "solve_pair.h"
#include "solving.h"

enum { POINTS_DEFAULT = 128, WHOLE_POINTS_DEFAULT = 1024, POINTS_MIN = 8, POINTS_MAX = 1000000 };
enum { STEPS_DEFAULT = 25, STEPS_MIN = 2 }; /* of the first of two keys */

/* One row of the output. */
struct row {
    size_t point; /* of the product */
    struct solution solution;
};

enum source { FROM_KEY, FROM_FOUND, FROM_CROSSING, FROM_LOW, FROM_HIGH, FROM_NEAREST, FROM_ANSWER };

/* Where the cells of a column come from: which sweep or answer. */
struct origin {
    enum source source;
    size_t which;
};

struct solve {
    const struct options *options;
    const struct sc_field *key;
    const struct sc_field *first; /* of two keys, or NULL */
    struct calibration *calibration;
    struct cost cost;
    struct conditions conditions;
    struct solving solving;
    struct product product; /* of the other keys */
    size_t sides;
    enum solving_end end;
    struct row *rows;
    size_t row_count, row_capacity;
    struct solutions solutions; /* of one point */
    struct selection selection;
    struct origin *origins;
    struct emit_column *columns;
    struct emit_cell *cells, *answers;
    size_t column_count;
    char *names, *answer_names;
    char found_name[FIELD_COLUMN_MAX], low_name[FIELD_COLUMN_MAX + 8],
        high_name[FIELD_COLUMN_MAX + 8], nearest_name[FIELD_COLUMN_MAX + 8];
    size_t none_count, void_count, flat_count, bad_count, many_count;
    struct problem first_bad;
    struct extrapolation extrapolation;
};

/* ---- what is asked for ---- */

static const char *key_at(unsigned long i, const void *context)
{
    const struct sc_system *system = context;
    return system->fields[i].key;
}

/* The number that --find names, or NULL with the reason. */
static const struct sc_field *find_key(const struct sc_system *system, const char *name,
                                       struct problem *problem)
{
    const struct sc_field *field = sc_system_field(system, name);
    if (field == NULL) {
        const char *nearest = problem_nearest(name, key_at, system->field_count, system);
        if (nearest != NULL)
            (void)problem_set(problem, "--find: '%.60s' is not a key of %s: did you mean %s?", name,
                              system->name, nearest);
        else
            (void)problem_set(problem, "--find: '%.60s' is not a key of %s: 'stallcast list fields "
                                       "%s' shows them", name, system->name, system->name);
        return NULL;
    }
    if (field->kind == SC_REAL || field->kind == SC_INTEGER)
        return field;
    (void)problem_set(problem, "--find: expected a number, and %s has names: 'stallcast rank' "
                               "orders those", field->key);
    return NULL;
}

/* "low:high" or "KEY=low:high" */
static bool read_range(struct solving *s, const struct sc_field *field, const char *text,
                       struct problem *problem)
{
    const struct binding binding = { .field = field };
    const char *equals = strchr(text, '='), *values = equals != NULL ? equals + 1 : text;
    const char *colon = strchr(values, ':');
    if (colon == NULL || strchr(colon + 1, ':') != NULL)
        return problem_set(problem, "--range: expected low:high, got '%.60s'", values);
    struct problem inner;
    if (!setting_parse(s->resolver, &binding, values, (size_t)(colon - values), '.', &s->low,
                       &inner) ||
        !setting_parse(s->resolver, &binding, colon + 1, strlen(colon + 1), '.', &s->high, &inner))
        return problem_set(problem, "--range %.60s: %s: %s", text, field->key, inner.text);
    if (s->low.deferred != s->high.deferred)
        return problem_set(problem, "--range %.60s: expected a range all in cycles, or nothing of "
                                    "it", text);
    return s->low.value <= s->high.value ||
           problem_set(problem, "--range %.60s: expected low:high, low not above high", text);
}

/* The key that "KEY=low:high" names; "low:high" names the only one. */
static const struct sc_field *range_key(const struct solve *solve, const char *range,
                                        struct problem *problem)
{
    char key[64] = "";
    const size_t length = strcspn(range, "=");
    const struct sc_field *first = solve->first;
    if (range[length] == '\0' && first == NULL)
        return solve->key;
    if (length < sizeof key && range[length] != '\0') {
        memcpy(key, range, length);
        const struct sc_field *field = sc_system_field(solve->solving.system, key);
        if (field != NULL && (field == solve->key || field == first))
            return field;
    }
    (void)problem_set(problem, "--range: expected %s%s%s=low:high, got '%.60s'",
                      first != NULL ? first->key : "", first != NULL ? "=low:high or " : "",
                      solve->key->key, range);
    return NULL;
}

/* The range of a key: as given, else that of the field table. */
static bool find_range(struct solve *solve, const struct sc_field *field, struct problem *problem)
{
    struct solving *s = &solve->solving;
    const char *const *ranges = solve->options->range;
    const char *given = NULL;
    s->low = (struct setting){ .field = field, .value = field->minimum };
    s->high = (struct setting){ .field = field, .value = field->maximum };
    for (size_t i = 0; i < OPTION_TIMES && ranges[i] != NULL; i++) {
        const struct sc_field *named = range_key(solve, ranges[i], problem);
        if (named == NULL)
            return false;
        if (named != field)
            continue;
        if (given != NULL)
            return problem_set(problem, "--range %.60s: %s is given twice", ranges[i], field->key);
        given = ranges[i];
    }
    return given == NULL || read_range(s, field, given, problem);
}

static bool read_points(struct solve *solve, struct problem *problem)
{
    long points = POINTS_DEFAULT;
    const char *text = solve->options->points;
    if (text != NULL && !options_whole("points", text, POINTS_MIN, POINTS_MAX, &points, problem))
        return false;
    solve->solving.points = (size_t)points;
    solve->solving.whole_points = text != NULL ? (size_t)points : WHOLE_POINTS_DEFAULT;
    return true;
}

static bool read_end(struct solve *solve, struct problem *problem)
{
    const struct options *o = solve->options;
    if (o->largest != NULL && o->smallest != NULL)
        return problem_set(problem, "--largest and --smallest contradict each other");
    solve->end = o->largest != NULL ? END_LARGEST : o->smallest != NULL ? END_SMALLEST : END_ALL;
    return true;
}

/* Interval or not, and what --sure is worth here. */
static bool read_sides(struct solve *solve, struct problem *problem)
{
    const bool some = conditions_paced(&solve->conditions, false);
    solve->sides = some && solve->calibration != NULL ? SEARCH_SIDES : 1;
    if (solve->options->sure == NULL)
        return true;
    if (solve->calibration == NULL)
        return problem_set(problem, "--sure: %s has no calibration, so no intervals",
                           solve->solving.system->name);
    if (!some)
        return problem_set(problem, "--sure: %s has no interval; %s and what goes with it have one",
                           solve->conditions.items[0].metric->column,
                           solve->solving.system->metrics[0].column);
    for (size_t i = 0; i < solve->conditions.count; i++) {
        struct problem note;
        if (solve->conditions.items[i].paced)
            continue;
        (void)problem_set(&note, "--sure: %s has no interval and is taken as it is",
                          solve->conditions.items[i].metric->column);
        problem_print(&note);
    }
    return true;
}

static bool check_words(const struct solve *solve, const struct sc_field *key,
                        struct problem *problem)
{
    for (size_t i = 0; i < solve->product.count; i++)
        if (solve->product.sweeps[i].field == key)
            return problem_set(problem, "%s is what --find looks for: --range %s=low:high limits "
                                        "it", key->key, key->key);
    return true;
}

/* One key, or two and what is to be the least of them. */
static bool read_find(struct solve *solve, struct problem *problem)
{
    const struct options *o = solve->options;
    const char *const *find = o->find;
    const struct sc_system *system = solve->solving.system;
    if (find[0] == NULL || o->until == NULL)
        return problem_set(problem, "solve: expected %s",
                           find[0] == NULL ? "--find KEY" : "--until 'METRIC <= X'");
    const bool two = find[1] != NULL;
    if (two && find[2] != NULL)
        return problem_set(problem, "--find: expected one key or two");
    if (two != (o->minimize != NULL))
        return problem_set(problem, "%s", two ? "--find of two keys: expected --minimize EXPR"
                                              : "--minimize: expected two keys to --find");
    if (!two && (o->plot != NULL || o->grid != NULL))
        return problem_set(problem, "--%s: expected two keys to --find",
                           o->plot != NULL ? "plot" : "grid");
    solve->key = find_key(system, find[two ? 1 : 0], problem);
    if (solve->key == NULL || !two)
        return solve->key != NULL;
    solve->first = find_key(system, find[0], problem);
    if (solve->first == solve->key)
        return problem_set(problem, "--find: %s is given twice", solve->key->key);
    return solve->first != NULL;
}

static bool read_cost(struct solve *solve, struct problem *problem)
{
    solve->cost = (struct cost){ .system = solve->solving.system,
                                 .resolver = solve->solving.resolver,
                                 .calibration = solve->calibration };
    return solve->first == NULL ||
           cost_parse(&solve->cost, "--minimize", solve->options->minimize, problem);
}

/* Everything up to the first scenario. */
static bool prepare(struct solve *solve, const char *const *words, size_t count,
                    struct catalog *catalog, struct problem *problem)
{
    const struct options *o = solve->options;
    struct solving *s = &solve->solving;
    if (!read_find(solve, problem))
        return false;
    s->resolver = resolver_create(s->system, catalog, problem);
    if (s->resolver == NULL ||
        !calibration_load(s->system, catalog, o, &solve->calibration, problem))
        return false;
    calibration_apply(solve->calibration, s->resolver);
    s->calibration = solve->calibration;
    s->conditions = &solve->conditions;
    return conditions_parse(s->system, solve->calibration, o->until, &solve->conditions, problem) &&
           read_cost(solve, problem) && read_sides(solve, problem) &&
           read_points(solve, problem) && read_end(solve, problem) &&
           product_make(s->resolver, words, count, &solve->product, problem) &&
           check_words(solve, solve->key, problem) &&
           (solve->first == NULL || check_words(solve, solve->first, problem)) &&
           find_range(solve, solve->key, problem);
}

/* ---- the search ---- */

static bool add_row(struct solve *solve, size_t point, const struct solution *solution,
                    struct problem *problem)
{
    if (solve->row_count == solve->row_capacity) {
        const size_t capacity = solve->row_capacity == 0 ? 64 : 2 * solve->row_capacity;
        struct row *rows = realloc(solve->rows, capacity * sizeof *rows);
        if (rows == NULL)
            return problem_set(problem, "out of memory");
        solve->rows = rows;
        solve->row_capacity = capacity;
    }
    solve->rows[solve->row_count++] = (struct row){ point, *solution };
    return true;
}

/* Why a scenario has no answer at any value of the key. */
static void explain_bad(const struct solve *solve, size_t point, struct problem *problem)
{
    product_row(&solve->product, point, solve->solving.settings);
    solving_explain(&solve->solving, problem);
}

static bool solve_point(struct solve *solve, size_t point, struct problem *problem)
{
    struct search_spans spans[SEARCH_SIDES];
    struct search_axis axis;
    struct solutions *found = &solve->solutions;
    found->count = 0;
    product_row(&solve->product, point, solve->solving.settings);
    const bool bad = !solving_axis(&solve->solving, &axis, problem) || !(axis.low <= axis.high);
    if (bad) {
        const struct solution none = { .crossing = CROSSING_ERROR, .value = (double)NAN,
                                       .low = (double)NAN, .high = (double)NAN };
        solve->bad_count++;
        return add_row(solve, point, &none, problem);
    }
    bool fine = solving_run(&solve->solving, solve->sides, spans, problem) &&
                solving_ends(&solve->solving, spans, solve->sides, solve->options->sure != NULL,
                             solve->end, found, problem);
    const struct search_spans *chosen =
        &spans[solve->options->sure != NULL && solve->sides > 1 ? SEARCH_WORSE : SEARCH_AS_IS];
    solve->flat_count += chosen->flat && isfinite(chosen->best_margin);
    solve->many_count += chosen->count > 1 ||
                         (chosen->count == 1 && !chosen->items[0].low_is_end &&
                          !chosen->items[0].high_is_end);
    for (size_t i = 0; fine && i < found->count; i++) {
        const enum crossing crossing = found->items[i].crossing;
        solve->none_count += crossing == CROSSING_NONE;
        solve->void_count += crossing == CROSSING_NONE && isnan(found->items[i].value);
        solve->bad_count += crossing == CROSSING_ERROR;
        fine = add_row(solve, point, &found->items[i], problem);
    }
    search_fini(spans, solve->sides);
    return fine;
}

static bool solve_all(struct solve *solve, struct problem *problem)
{
    struct progress progress;
    bool fine = true;
    progress_start(&progress, "solve, scenarios", solve->product.rows);
    for (size_t point = 0; fine && point < solve->product.rows; point++) {
        fine = solve_point(solve, point, problem);
        progress_step(&progress);
    }
    progress_end(&progress);
    for (size_t i = 0; fine && i < solve->row_count && solve->first_bad.text[0] == '\0'; i++)
        if (solve->rows[i].solution.crossing == CROSSING_ERROR)
            explain_bad(solve, solve->rows[i].point, &solve->first_bad);
    return fine;
}

/* ---- columns ---- */

static void add_column(struct solve *solve, enum source source, size_t which,
                       struct emit_column column)
{
    solve->origins[solve->column_count] = (struct origin){ source, which };
    solve->columns[solve->column_count++] = column;
}

static bool is_key(const char *name, const void *context)
{
    const struct solve *solve = context;
    struct binding binding;
    return resolver_bind(solve->solving.resolver, name, &binding, NULL);
}

static bool is_shown(const char *name, const void *context)
{
    const struct solve *solve = context;
    for (size_t i = 0; i < solve->column_count; i++)
        if (strcmp(solve->columns[i].name, name) == 0)
            return true;
    return false;
}

/* What the conditions speak of, and what binds. */
static void default_columns(const struct solve *solve, struct text *list)
{
    const struct conditions *conditions = &solve->conditions;
    for (size_t i = 0; i < conditions->count; i++) {
        bool before = false;
        for (size_t j = 0; j < i; j++)
            before = before || conditions->items[j].metric == conditions->items[i].metric;
        if (!before)
            text_printf(list, "%s%s", list->length > 0 ? "," : "",
                        conditions->items[i].metric->column);
    }
    if (sc_system_metric(solve->solving.system, "bound") != NULL)
        text_add_string(list, ",bound");
}

static bool select_answers(struct solve *solve, bool table, struct problem *problem)
{
    struct text list = { 0 };
    if (solve->options->columns != NULL)
        text_add_string(&list, solve->options->columns);
    else
        default_columns(solve, &list);
    const bool fine = list.failed
                          ? problem_set(problem, "out of memory")
                          : selection_make(solve->solving.system, list.bytes, table,
                                           extra_of_calibration(solve->calibration),
                                           &solve->selection, problem);
    text_fini(&list);
    return fine && (!selection_has(&solve->selection, solve->key) ||
                    problem_set(problem, "--columns: %s is there already", solve->key->key));
}

static bool reserve_columns(struct solve *solve, struct problem *problem)
{
    const size_t keys = solve->product.count, answers = solve->selection.count;
    const size_t most = keys + answers + 8;
    solve->names = calloc(keys + 1, FIELD_COLUMN_MAX);
    solve->answer_names = calloc(answers + 1, ANSWER_NAME_MAX);
    solve->origins = calloc(most, sizeof *solve->origins);
    solve->columns = calloc(most, sizeof *solve->columns);
    solve->cells = calloc(most, sizeof *solve->cells);
    solve->answers = calloc(answers + 1, sizeof *solve->answers);
    return (solve->names != NULL && solve->answer_names != NULL && solve->origins != NULL &&
            solve->columns != NULL && solve->cells != NULL && solve->answers != NULL) ||
           problem_set(problem, "out of memory");
}

/* "buffer_lo_bytes": a name for a number that goes with the key, and ends in its unit. */
static const char *beside(const struct sc_field *field, const char *prefix, const char *suffix,
                          char out[static FIELD_COLUMN_MAX + 8])
{
    char column[FIELD_COLUMN_MAX];
    struct text name = { 0 };
    text_printf(&name, "%s%s%s%s", prefix, field->key, suffix,
                field_column(field, column) + strlen(field->key));
    out[0] = '\0';
    if (!name.failed && name.length < FIELD_COLUMN_MAX + 8)
        memcpy(out, name.bytes, name.length + 1);
    text_fini(&name);
    return out;
}

/* A number of the key that was found: all its digits, unless some are asked for. */
static void add_found(struct solve *solve, enum source source, const char *name)
{
    add_column(solve, source, 0,
               (struct emit_column){ .name = name, .dimension = solve->key->dimension,
                                     .exact = solve->options->digits == NULL });
}

static void add_keys(struct solve *solve, bool table)
{
    for (size_t i = 0; i < solve->product.count; i++) {
        const struct sc_field *field = solve->product.sweeps[i].field;
        /* What is the same in every row only widens a table. */
        if ((table && solve->product.sweeps[i].count == 1) ||
            selection_has(&solve->selection, field))
            continue;
        add_column(solve, FROM_KEY, i,
                   (struct emit_column){
                       .name = field_column(field, solve->names + i * FIELD_COLUMN_MAX),
                       .dimension = field->dimension });
    }
}

static bool plan_columns(struct solve *solve, bool table, struct problem *problem)
{
    if (!select_answers(solve, table, problem) || !reserve_columns(solve, problem))
        return false;
    add_keys(solve, table);
    add_found(solve, FROM_FOUND, field_column(solve->key, solve->found_name));
    add_column(solve, FROM_CROSSING, 0, (struct emit_column){ .name = "crossing" });
    if (solve->sides == SEARCH_SIDES) {
        add_found(solve, FROM_LOW, beside(solve->key, "", "_lo", solve->low_name));
        add_found(solve, FROM_HIGH, beside(solve->key, "", "_hi", solve->high_name));
    }
    if (solve->none_count > 0)
        add_found(solve, FROM_NEAREST, beside(solve->key, "nearest_", "", solve->nearest_name));
    const size_t first = solve->column_count;
    selection_columns(&solve->selection, solve->columns + first);
    for (size_t i = 0; i < solve->selection.count; i++) {
        struct emit_column column = solve->columns[first + i];
        if (solve->selection.items[i].metric != NULL)
            column.name = answer_name(column.name, table ? is_shown : is_key, solve,
                                      solve->answer_names + i * ANSWER_NAME_MAX);
        add_column(solve, FROM_ANSWER, i, column);
    }
    solve->columns[solve->column_count] = (struct emit_column){ .name = "error" };
    return true;
}

/* ---- rows ---- */

static struct emit_cell key_cell(const struct solve *solve, size_t key, const void *scenario)
{
    const struct setting *setting = &solve->solving.settings[key];
    const char *name = setting_name(setting);
    /* What was counted in cycles is shown in seconds like all else. */
    return name != NULL        ? emit_string(name)
           : setting->deferred ? emit_number(sc_field_get(setting->field, scenario))
                               : emit_number(setting->value);
}

static struct emit_cell found_cell(const struct solution *solution, enum source source)
{
    static const char *const words[] = {
        [CROSSING_NONE] = "none",   [CROSSING_FROM] = "from",   [CROSSING_TO] = "to",
        [CROSSING_LIMIT] = "limit", [CROSSING_ERROR] = "error",
    };
    const bool none = solution->crossing == CROSSING_NONE;
    if (source == FROM_CROSSING)
        return emit_string(words[solution->crossing]);
    return emit_number(source == FROM_LOW                ? solution->low
                       : source == FROM_HIGH             ? solution->high
                       : none == (source == FROM_NEAREST) ? solution->value
                                                          : (double)NAN);
}

static bool write_row(struct solve *solve, struct sink *sink, const struct row *row,
                      struct problem *problem)
{
    _Alignas(max_align_t) unsigned char scenario[SC_SCENARIO_MAX];
    struct judged_answer answer;
    struct problem reason = { "" };
    product_row(&solve->product, row->point, solve->solving.settings);
    const bool valued = isfinite(row->solution.value);
    bool fine = row->solution.crossing != CROSSING_ERROR;
    if (fine && valued)
        fine = solving_answer(&solve->solving, row->solution.value, scenario, &answer, &reason);
    else if (!fine)
        explain_bad(solve, row->point, &reason);
    if (fine && valued) {
        extrapolation_add(&solve->extrapolation, solve->calibration, scenario, &answer);
        selection_cells(&solve->selection, scenario, &answer, solve->answers);
    } else {
        (void)resolver_build(solve->solving.resolver, solve->solving.settings,
                             solve->solving.count - 1, scenario, &(struct problem){ "" });
    }
    for (size_t i = 0; i < solve->column_count; i++) {
        const struct origin *origin = &solve->origins[i];
        solve->cells[i] = origin->source == FROM_KEY
                              ? key_cell(solve, origin->which, scenario)
                          : origin->source != FROM_ANSWER
                              ? found_cell(&row->solution, origin->source)
                          : fine && valued ? solve->answers[origin->which]
                                 : emit_string(NULL);
    }
    solve->cells[solve->column_count] = emit_string(fine ? NULL : reason.text);
    return sink_row(sink, solve->cells, problem);
}

/* ---- the whole ---- */

static int report(const struct solve *solve)
{
    struct problem problem;
    const size_t rows = solve->product.rows;
    if (selection_wants_note(&solve->selection, solve->options->columns))
        extrapolation_print(&solve->extrapolation, solve->row_count);
    if (solve->many_count > 0) {
        (void)problem_set(&problem, "%zu of %zu scenario%s: the conditions are not monotone, they "
                                    "start or cease to hold more than once; %s", solve->many_count, rows,
                          rows == 1 ? "" : "s",
                          solve->end == END_ALL ? "both ends of every span are rows, "
                                                  "--smallest and --largest give one"
                                                : "without --smallest or --largest both ends of "
                                                  "every span are rows");
        problem_print(&problem);
    }
    if (solve->none_count > 0) {
        (void)problem_set(&problem, "%zu of %zu scenario%s no %s that meets the conditions",
                          solve->none_count, rows, rows == 1 ? " has" : "s have",
                          solve->key->key);
        problem_print(&problem);
    }
    if (solve->flat_count > 0) {
        (void)problem_set(&problem, "in %zu of %zu scenario%s the conditions do not hang on %s: it "
                                    "changes nothing there", solve->flat_count, rows,
                          rows == 1 ? "" : "s", solve->key->key);
        problem_print(&problem);
    }
    if (solve->void_count > 0) {
        (void)problem_set(&problem, "in %zu of %zu scenario%s a metric of the conditions has no "
                                    "value at any %s", solve->void_count, rows,
                          rows == 1 ? "" : "s", solve->key->key);
        problem_print(&problem);
    }
    if (solve->bad_count > 0) {
        (void)problem_set(&problem, "%zu of %zu scenarios have no answer; the first: %s",
                          solve->bad_count, rows, solve->first_bad.text);
        problem_print(&problem);
    }
    return solve->none_count + solve->bad_count > 0 ? EXIT_NO : EXIT_FINE;
}

static int run_pair(struct solve *solve, struct emit_style *style)
{
    struct problem problem;
    const struct options *o = solve->options;
    long steps = STEPS_DEFAULT;
    struct solving *s = &solve->solving;
    struct pair_job job = {
        .options = o, .solving = s, .product = &solve->product, .first = solve->first,
        .second = solve->key, .worst = o->sure != NULL, .end = solve->end, .cost = &solve->cost,
        .sides = o->sure != NULL ? solve->sides : 1,
    };
    const struct setting low = s->low, high = s->high;
    if ((o->grid != NULL &&
         !options_whole("grid", o->grid, STEPS_MIN, POINTS_MAX, &steps, &problem)) ||
        !find_range(solve, solve->first, &problem))
        return command_fail(&problem);
    job.steps = (size_t)steps;
    job.first_low = s->low;
    job.first_high = s->high;
    s->low = low;
    s->high = high;
    return solve_pair(&job, style);
}

static int run_solve(struct solve *solve, struct emit_style *style)
{
    struct problem problem;
    struct sink sink;
    struct solving *s = &solve->solving;
    style->bar = false;
    s->count = solve->product.count + (solve->first != NULL ? 2 : 1);
    s->settings = calloc(s->count, sizeof *s->settings);
    if (s->settings == NULL)
        return command_fail((problem_set(&problem, "out of memory"), &problem));
    s->settings[s->count - 1].field = solve->key;
    if (solve->first != NULL)
        return run_pair(solve, style);
    if (!solve_all(solve, &problem))
        return command_fail(&problem);
    if (solve->bad_count == solve->row_count)
        return command_fail(&solve->first_bad);
    if (!plan_columns(solve, !sink_streams(style), &problem))
        return command_fail(&problem);
    const size_t columns = solve->column_count + (solve->bad_count > 0 ? 1 : 0);
    if (!sink_open(&sink, style, solve->columns, columns, solve->options->output, &problem))
        return command_fail(&problem);
    bool fine = true;
    for (size_t i = 0; fine && i < solve->row_count; i++)
        fine = write_row(solve, &sink, &solve->rows[i], &problem);
    if (fine)
        fine = sink_close(&sink, &problem);
    else
        sink_abandon(&sink);
    return fine ? report(solve) : command_fail(&problem);
}

static void solve_fini(struct solve *solve)
{
    product_fini(&solve->product);
    selection_fini(&solve->selection);
    free(solve->rows);
    free(solve->solutions.items);
    free(solve->origins);
    free(solve->columns);
    free(solve->cells);
    free(solve->answers);
    free(solve->names);
    free(solve->answer_names);
    free(solve->solving.settings);
    cost_fini(&solve->cost);
    calibration_destroy(solve->calibration);
    resolver_destroy(solve->solving.resolver);
}

static int solve_run(const struct command *command, const struct options *options,
                     const char *const *words, size_t word_count, struct catalog *catalog)
{
    struct problem problem;
    struct emit_style style;
    struct solve solve = { .options = options };
    solve.solving.system = command_system(command, words, word_count, &problem);
    if (solve.solving.system == NULL || !sink_style(options, &style, &problem))
        return command_fail(&problem);
    const int code = prepare(&solve, words + 1, word_count - 1, catalog, &problem)
                         ? run_solve(&solve, &style)
                         : command_fail(&problem);
    solve_fini(&solve);
    return code;
}

#define OPTION_MANY(member, argument_name, text)                  \
    { .name = #member, .argument = argument_name, .times = true, \
      .offset = offsetof(struct options, member), .help = text }

static const struct option_row options[] = {
    OPTION_MANY(find, "KEY", "the number to solve for; a second one with --minimize"),
    OPTION(until, 0, "CONDITIONS", "what the answer must meet: 'METRIC <= X and ...'"),
    OPTION_MANY(range, "[KEY=]LOW:HIGH", "where to look for KEY (default: all that it may be)"),
    OPTION(largest, 0, NULL, "the largest value that meets the conditions"),
    OPTION(smallest, 0, NULL, "the smallest one"),
    OPTION(sure, 0, NULL, "meet them at the worse end of the prediction interval"),
    OPTION(points, 0, "N", "points of the range that are looked at first (default 128)"),
    OPTION(minimize, 0, "EXPR", "of two keys, what is to be the least: keys, metrics, + - * /"),
    OPTION(grid, 0, "N", "values of the first of two keys (default 25)"),
    OPTION(plot, 0, "FILE", "of two keys, the front as .svg, .png or .pdf too"),
    OPTION(format, 'f', "FORMAT", "table, csv, tsv, json, jsonl or md (default table)"),
    OPTION(output, 'o', "FILE", "write there, whole or not at all"),
    OPTION(columns, 'c', "LIST", "columns of the answer, a,b,c, or all (default: of the conditions)"),
    OPTION(level, 0, "P", "probability that the interval holds (default 0.9)"),
    OPTION(params, 0, "FILE", "calibration to use instead of the one that comes with the system"),
    OPTION(digits, 0, "N", "significant digits per number, or all (default 6, in table and md 4)"),
    OPTION(delimiter, 0, "CHAR", "of CSV out (default a comma)"),
    OPTION(decimal, 0, "CHAR", "decimal sign of CSV out (default .)"),
    OPTION(data, 0, "DIR", "tables of GPUs, models, flash instead of the built-in ones"),
    OPTION(help, 'h', NULL, "this text"),
};

const struct command command_solve = {
    .name = "solve",
    .usage = "SYSTEM [key=value ...] --find KEY --until 'METRIC <= X' [options]",
    .summary = "the value of a key at which the answer meets conditions",
    .details =
        "A condition is METRIC (`time` will do for time_s), one of <= >= < >, and a value with its\n"
        "unit; several are joined by `and`.  Keys may be lists or ranges as for estimate, and give\n"
        "a row each:\n\n"
        "  stallcast solve hbf model=llama-70b --find buffer --until 'slowdown <= 1.1'\n"
        "  stallcast solve hbf model=llama-70b policy=all --find latency --until 'slowdown <= 1.2'\n"
        "  stallcast solve uvm app=k-means --find footprint --until 'time_s < 2s and thrash_factor < 2'\n"
        "  stallcast solve hbf model=llama-8b --find buffer --until 'slowdown <= 1.1' --sure\n"
        "  stallcast solve hbf model=llama-70b --find latency --until 'slowdown <= 1.1 and extrapolated < 1'\n\n"
        "crossing says what the value is: conditions hold `from` it on upwards, or up `to` it, or\n"
        "up to it because it is the `limit` of the range.  Whole numbers are exact; others have 6\n"
        "digits, on the side where the conditions hold.  Where conditions hold here and there,\n"
        "both ends of every span are rows, in order.  The range is looked at on a grid first, so\n"
        "what holds only between two of its points may be missed: --points takes more of them, and\n"
        "a range of no more whole numbers than that (1024, unless --points is given) is looked at\n"
        "in full.\n\n"
        "`none` means that no value will do; the column nearest_KEY then names the one that misses\n"
        "by least, and the columns behind it are its answer.  Where a metric has no value, as the time\n"
        "per token of what does not fit, its condition is not met.\n\n"
        "KEY_lo and KEY_hi are the values with both ends of the prediction interval in place of\n"
        "the slowdown (and time_s, performance, speedup, which go with it); nothing stands there if\n"
        "there is no such value in the range.  --sure solves for the worse end.\n\n"
        "Of two keys, values of the first are tried, each with the least of the second (--largest:\n"
        "the largest) that meets the conditions.  place says which pair costs least by EXPR\n"
        "(`best`), which have less of the second key than all with less of the first (`front`),\n"
        "and which do not (`behind`); `none` is a value without a pair, `error` one without an\n"
        "answer.  Names in EXPR are in SI units, or in one at their end:\n\n"
        "  stallcast solve hbf model=llama-70b --find buffer --find hbf_bandwidth \\\n"
        "    --range buffer=6MB:64MB --until 'time_s <= 150ms' --plot front.svg \\\n"
        "    --minimize 'buffer_area_mm2 + 20 * hbf_bandwidth_TB_per_s'\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .run = solve_run,
};
