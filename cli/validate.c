/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stallcast validate: every published figure beside what stallcast says of it. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "calibration.h"
#include "filter.h"
#include "product.h"
#include "sink.h"
#include "text.h"

/* One published figure, from data/published/SYSTEM.csv. */
struct figure {
    const char *id, *where, *scenario, *metric, *aggregate, *value, *tolerance, *kind, *note;
    size_t line;
};

/* Figures of one kind that were compared. */
struct score {
    size_t count, gates, missed_gates;
    double relative_sum, log_sum, worst;
};

enum { KIND_ANCHOR, KIND_CHECK, KINDS };
static const char *const kind_names[KINDS] = { [KIND_ANCHOR] = "anchor", [KIND_CHECK] = "check" };

struct validation {
    const struct sc_system *system;
    struct resolver *resolver;
    struct calibration *calibration;
    const struct catalog_table *table;
    struct filter *filter;
    struct sink sink;
    struct score scores[KINDS];
};

static bool read_figure(const struct catalog_table *table, size_t row, struct figure *figure,
                        struct problem *problem)
{
    const struct {
        const char *column;
        const char **part;
    } parts[] = {
        { "id", &figure->id },
        { "figure", &figure->where },
        { "scenario", &figure->scenario },
        { "metric", &figure->metric },
        { "aggregate", &figure->aggregate },
        { "value", &figure->value },
        { "tolerance", &figure->tolerance },
        { "kind", &figure->kind },
        { "note", &figure->note },
    };
    figure->line = catalog_line(table, row);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const size_t column = catalog_column(table, parts[i].column);
        if (column == SIZE_MAX)
            return problem_set(problem, "%s: expected a column named %s", table->shown,
                               parts[i].column);
        *parts[i].part = catalog_cell(table, row, column);
    }
    return true;
}

static bool read_number(const char *column, const char *text, double *value,
                        struct problem *problem)
{
    struct sc_quantity quantity;
    if (sc_units_parse(text, strlen(text), SC_NUMBER, NULL, '.', &quantity) != SC_UNITS_OK)
        return problem_set(problem, "%s: expected a number, got '%.40s'", column, text);
    *value = quantity.value;
    return true;
}

/* "3%" of the value, "0.02" as it stands; NaN: no gate. */
static bool read_tolerance(const struct figure *figure, double value, double *tolerance,
                           struct problem *problem)
{
    char number[32];
    const size_t length = strlen(figure->tolerance);
    *tolerance = (double)NAN;
    if (length == 0)
        return true;
    const bool relative = figure->tolerance[length - 1] == '%';
    if (length - relative >= sizeof number)
        return problem_set(problem, "tolerance: expected a number, got %zu bytes of text", length);
    memcpy(number, figure->tolerance, length - relative);
    number[length - relative] = '\0';
    if (!read_number("tolerance", number, tolerance, problem))
        return false;
    if (relative)
        *tolerance *= fabs(value) / 100.0;
    return true;
}

/* Splits at blanks, in place. */
static size_t split(char *text, const char **words, size_t most)
{
    size_t count = 0;
    for (char *word = strtok_r(text, " ", &text); word != NULL && count < most;
         word = strtok_r(NULL, " ", &text))
        words[count++] = word;
    return count;
}

static bool metric_of(const struct validation *v, const struct setting *settings, size_t count,
                      const struct sc_metric *metric, double *value, struct problem *problem)
{
    _Alignas(max_align_t) unsigned char scenario[SC_SCENARIO_MAX], answer[SC_ANSWER_MAX];
    struct sc_error error;
    if (!resolver_build(v->resolver, settings, count, scenario, problem))
        return false;
    const enum sc_status status = v->system->estimate(scenario, answer, NULL, &error);
    if (status != SC_OK) {
        scenario_describe_error(v->system, status, &error, problem);
        return false;
    }
    memcpy(value, answer + metric->offset, sizeof *value);
    return true;
}

/* The metric over the scenarios of a product: geometric mean, least, greatest. */
static bool aggregate(const struct validation *v, const struct figure *figure,
                      const struct product *product, const struct sc_metric *metric, double *result,
                      struct problem *problem)
{
    struct setting *settings = calloc(product->count + 1, sizeof *settings);
    double logs = 0.0, least = (double)INFINITY, most = -(double)INFINITY;
    bool fine = settings != NULL || problem_set(problem, "out of memory");
    for (size_t row = 0; fine && row < product->rows; row++) {
        double value = 0.0;
        product_row(product, row, settings);
        fine = metric_of(v, settings, product->count, metric, &value, problem);
        logs += log(value);
        least = fmin(least, value);
        most = fmax(most, value);
    }
    free(settings);
    if (strcmp(figure->aggregate, "geomean") == 0)
        *result = exp(logs / (double)product->rows);
    else if (strcmp(figure->aggregate, "min") == 0)
        *result = least;
    else if (strcmp(figure->aggregate, "max") == 0 ||
             (strcmp(figure->aggregate, "each") == 0 && product->rows == 1))
        *result = most;
    else
        fine = problem_set(problem, "aggregate: expected geomean, min, max, or each of one "
                                    "scenario, got '%.20s' of %zu",
                           figure->aggregate, product->rows);
    return fine;
}

static bool answer_figure(const struct validation *v, const struct figure *figure, double *result,
                          struct problem *problem)
{
    enum { WORDS_MAX = 64 };
    const char *words[WORDS_MAX];
    struct product product = { 0 };
    const struct sc_metric *metric = sc_system_metric(v->system, figure->metric);
    char *text = strdup(figure->scenario);
    bool fine = text != NULL || problem_set(problem, "out of memory");
    if (fine && (metric == NULL || metric->text))
        fine = problem_set(problem, "metric: %s has no column '%.40s'", v->system->name,
                           figure->metric);
    if (fine)
        fine = product_make(v->resolver, words, split(text, words, WORDS_MAX), &product, problem) &&
               aggregate(v, figure, &product, metric, result, problem);
    product_fini(&product);
    free(text);
    return fine;
}

/* "file:line: figure: reason" */
static bool place(const struct validation *v, const struct figure *figure, struct problem *problem)
{
    const struct problem inner = *problem;
    return problem_set(problem, "%s:%zu: %s: %s", v->table->shown, figure->line, figure->id,
                       inner.text);
}

static void count_figure(struct score *score, double published, double answer, double tolerance)
{
    const double relative = fabs(answer / published - 1.0);
    score->count++;
    score->relative_sum += relative;
    score->log_sum += fabs(log(answer / published));
    score->worst = fmax(score->worst, relative);
    if (!isnan(tolerance)) {
        score->gates++;
        score->missed_gates += fabs(answer - published) > tolerance;
    }
}

static bool compare_figure(struct validation *v, size_t row, struct problem *problem)
{
    struct figure figure = { "", "", "", "", "", "", "", "", "", 0 };
    double published = 0.0, answer = 0.0, tolerance = 0.0;
    if (!read_figure(v->table, row, &figure, problem))
        return false;
    if (!filter_keeps(v->filter, figure.id, strlen(figure.id)))
        return true;
    if (!read_number("value", figure.value, &published, problem) ||
        !read_tolerance(&figure, published, &tolerance, problem) ||
        !answer_figure(v, &figure, &answer, problem))
        return place(v, &figure, problem);
    const int kind = strcmp(figure.kind, kind_names[KIND_ANCHOR]) == 0 ? KIND_ANCHOR : KIND_CHECK;
    count_figure(&v->scores[kind], published, answer, tolerance);
    const char *verdict = isnan(tolerance)                          ? NULL
                          : fabs(answer - published) <= tolerance ? "within"
                                                                    : "MISS";
    const struct emit_cell cells[] = {
        emit_string(figure.id),
        emit_string(figure.where),
        emit_string(figure.metric),
        emit_string(figure.aggregate),
        emit_number(published),
        emit_number(answer),
        emit_number(answer - published),
        emit_number(100.0 * (answer / published - 1.0)),
        isnan(tolerance) ? emit_string(NULL) : emit_number(tolerance),
        emit_string(verdict),
        emit_string(figure.kind),
        emit_string(figure.scenario),
        emit_string(figure.note),
    };
    return sink_row(&v->sink, cells, problem);
}

static bool print_summary(const struct validation *v)
{
    size_t missed = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        const struct score *score = &v->scores[kind];
        const double n = (double)score->count;
        missed += score->missed_gates;
        if (score->count == 0)
            continue;
        (void)fprintf(stderr,
                      "%zu %s figures%s: mean error %.1f %%, geometric error %.3f, worst %.0f %%; "
                      "%zu of %zu with a target within it\n",
                      score->count, kind_names[kind],
                      kind == KIND_ANCHOR ? " (fitted, not validated)" : "",
                      100.0 * score->relative_sum / n, exp(score->log_sum / n), 100.0 * score->worst,
                      score->gates - score->missed_gates, score->gates);
    }
    return missed == 0;
}

static int run_validation(struct validation *v, const struct options *options,
                          struct catalog *catalog)
{
    static const struct emit_column columns[] = {
        { .name = "figure" },     { .name = "where" },      { .name = "metric" },
        { .name = "of" },         { .name = "published" },  { .name = "stallcast" },
        { .name = "difference" }, { .name = "error_percent" }, { .name = "target" },
        { .name = "verdict" },    { .name = "kind" },       { .name = "scenario" },
        { .name = "note" },
    };
    struct problem problem;
    struct emit_style style;
    struct text name = { 0 };
    if (!sink_style(options, &style, &problem))
        return command_fail(&problem);
    if (options->digits == NULL && !sink_streams(&style))
        style.digits = 3;
    text_printf(&name, "published/%s", v->system->name);
    v->table = name.failed ? NULL : catalog_table(catalog, name.bytes, &problem);
    text_fini(&name);
    v->resolver = v->table == NULL ? NULL : resolver_create(v->system, catalog, &problem);
    if (v->resolver != NULL &&
        !calibration_load(v->system, catalog, options, &v->calibration, &problem))
        return command_fail(&problem);
    if (v->resolver != NULL)
        calibration_apply(v->calibration, v->resolver);
    v->filter = filter_create(options->only, &problem);
    if (v->resolver == NULL || v->filter == NULL)
        return command_fail(&problem);
    /* Tables leave out what only a machine would read. */
    const size_t count = sink_streams(&style) ? 13 : 11;
    if (!sink_open(&v->sink, &style, columns, count, options->output, &problem))
        return command_fail(&problem);
    bool fine = true;
    for (size_t row = 0; fine && row < v->table->row_count; row++)
        fine = compare_figure(v, row, &problem);
    if (!fine) {
        sink_abandon(&v->sink);
        return command_fail(&problem);
    }
    if (!sink_close(&v->sink, &problem))
        return command_fail(&problem);
    const bool gave_up = filter_gave_up(v->filter);
    return print_summary(v) && !gave_up ? EXIT_FINE : EXIT_NO;
}

static int validate(const struct command *command, const struct options *options,
                    const char *const *words, size_t word_count, struct catalog *catalog)
{
    struct problem problem;
    struct validation v = { .system = command_system(command, words, word_count, &problem) };
    if (v.system == NULL)
        return command_fail(&problem);
    if (word_count > 1)
        return command_fail((problem_set(&problem, "validate: '%.60s' is one word too many",
                                         words[1]), &problem));
    const int code = run_validation(&v, options, catalog);
    filter_destroy(v.filter);
    calibration_destroy(v.calibration);
    resolver_destroy(v.resolver);
    return code;
}

static const struct option_row options[] = {
    OPTION(format, 'f', "FORMAT", "table, csv, tsv, json, jsonl or md (default table)"),
    OPTION(output, 'o', "FILE", "write there, whole or not at all"),
    OPTION(only, 0, "REGEX", "figures whose name matches"),
    OPTION(digits, 0, "N", "significant digits, or all (default 6; 3 in tables)"),
    OPTION(delimiter, 0, "CHAR", "of CSV out (default a comma)"),
    OPTION(decimal, 0, "CHAR", "decimal sign of CSV out (default a point)"),
    OPTION(data, 0, "DIR", "tables of GPUs, models, flash instead of the built-in ones"),
    OPTION(help, 'h', NULL, "this text"),
};

const struct command command_validate = {
    .name = "validate",
    .usage = "SYSTEM [options]",
    .summary = "published figures beside stallcast's answers, misses included",
    .details = "Each figure of data/published/SYSTEM.csv: what was published, what stallcast says, the\n"
               "difference, and whether it meets its target.  An anchor is a figure that a structural\n"
               "constant was fitted to; it is shown but validates nothing.  Exit status 1 when a figure\n"
               "misses its target.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .run = validate,
};
