/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stallcast validate: every published figure beside what stallcast says of it. */
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "calibration.h"
#include "filter.h"
#include "leave_out.h"
#include "product.h"
#include "progress.h"
#include "score.h"
#include "sim/simulator.h"
#include "sink.h"
#include "text.h"

/* One published figure, from data/published/SYSTEM.csv. */
struct figure {
    const char *id, *where, *scenario, *metric, *aggregate, *value, *tolerance, *sim_tolerance;
    const char *kind, *note;
    const char *over; /* scenario whose metric the other is divided by, or "" */
    const char *set, *set_target; /* figures judged together, and the geometric error they may have */
    const char *cap;  /* where the measurement was stopped, or "": answers are cut there too */
    size_t line;
};

/* Scenarios that the figures ask the simulator for, each run once. */
struct memo {
    unsigned char *scenarios, *answers;
    size_t count, capacity, next;
    size_t too_large; /* scenarios that are not simulated; their answers are unknown */
    struct problem fault;
    struct progress progress;
    pthread_mutex_t lock;
};

/* Figures of one kind that were compared with one of the two. */
struct score {
    size_t count, ratios, gates, missed_gates; /* ratios: an answer of 0 has none */
    double relative_sum, log_sum, worst;
    double *published, *answers; /* of performance: do they rank alike? */
    size_t ranked;
};

/* Figures that are judged by their geometric error together. */
struct set {
    const char *name;
    double log_sum[2], target; /* by source; NaN: no target */
    size_t count[2];
};
enum { SETS_MAX = 64 };

enum { CLOSED_FORM, SIMULATOR, SOURCES };
static const char *const source_names[SOURCES] = { [CLOSED_FORM] = "closed form",
                                                   [SIMULATOR] = "simulator" };
enum { KIND_ANCHOR, KIND_CHECK, KINDS };
static const char *const kind_names[KINDS] = { [KIND_ANCHOR] = "anchor", [KIND_CHECK] = "check" };

struct validation {
    const struct sc_system *system;
    struct resolver *resolver;
    struct calibration *calibration;
    const struct catalog_table *table;
    bool has_means; /* of scenarios */
    struct filter *filter;
    struct sink sink;
    struct score scores[SOURCES][KINDS];
    struct set sets[SETS_MAX];
    size_t set_count;
    const struct sc_simulator *simulator; /* NULL: not asked for */
    struct memo memo;
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
        { "simulator_tolerance", &figure->sim_tolerance },
        { "kind", &figure->kind },
        { "note", &figure->note },
        { "over", &figure->over },
        { "cap", &figure->cap },
        { "set", &figure->set },
        { "set_target", &figure->set_target },
    };
    figure->line = catalog_line(table, row);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const size_t column = catalog_column(table, parts[i].column);
        /* Few tables have all of these. */
        if (column == SIZE_MAX &&
            (parts[i].part == &figure->sim_tolerance || parts[i].part == &figure->over ||
             parts[i].part == &figure->cap || parts[i].part == &figure->set ||
             parts[i].part == &figure->set_target))
            continue;
        if (column == SIZE_MAX)
            return problem_set(problem, "%s: expected a column named %s", table->shown,
                               parts[i].column);
        *parts[i].part = catalog_cell(table, row, column);
    }
    return true;
}

/* "3%" of the value, "0.02" as it stands; NaN: no gate. */
static bool read_tolerance(const char *text, double value, double *tolerance,
                           struct problem *problem)
{
    char number[32];
    const size_t length = strlen(text);
    *tolerance = (double)NAN;
    if (length == 0)
        return true;
    const bool relative = text[length - 1] == '%';
    if (length - relative >= sizeof number)
        return problem_set(problem, "tolerance: expected a number, got %zu bytes of text", length);
    memcpy(number, text, length - relative);
    number[length - relative] = '\0';
    if (!catalog_number("tolerance", number, tolerance, problem))
        return false;
    if (relative)
        *tolerance *= fabs(value) / 100.0;
    return true;
}

/* Where the simulator's answer to the scenario is; it is put on the list first. */
static unsigned char *memo_answer(struct validation *v, const unsigned char *scenario,
                                  struct problem *problem)
{
    struct memo *memo = &v->memo;
    const size_t size = v->system->scenario_size, answer = v->system->answer_size;
    for (size_t i = 0; i < memo->count; i++)
        if (memcmp(memo->scenarios + i * size, scenario, size) == 0)
            return memo->answers + i * answer;
    if (memo->count == memo->capacity) {
        const size_t capacity = memo->capacity == 0 ? 64 : 2 * memo->capacity;
        unsigned char *scenarios = realloc(memo->scenarios, capacity * size);
        memo->scenarios = scenarios != NULL ? scenarios : memo->scenarios;
        unsigned char *answers = realloc(memo->answers, capacity * answer);
        memo->answers = answers != NULL ? answers : memo->answers;
        if (scenarios == NULL || answers == NULL) {
            (void)problem_set(problem, "out of memory");
            return NULL;
        }
        memo->capacity = capacity;
    }
    memcpy(memo->scenarios + memo->count * size, scenario, size);
    memset(memo->answers + memo->count * answer, 0, answer);
    return memo->answers + memo->count++ * answer;
}

static void forget_answer(const struct sc_system *system, unsigned char *answer)
{
    const double unknown = (double)NAN;
    for (size_t i = 0; i < system->metric_count; i++)
        if (!system->metrics[i].text)
            memcpy(answer + system->metrics[i].offset, &unknown, sizeof unknown);
}

static void *simulate_memo(void *argument)
{
    struct validation *v = argument;
    struct memo *memo = &v->memo;
    for (;;) {
        const struct sc_sim_options options = { .seed = 1 };
        struct sc_sim_report report = { 0 };
        struct sc_error error = { 0 };
        (void)pthread_mutex_lock(&memo->lock);
        const size_t i = memo->next++;
        const bool stop = i >= memo->count || memo->fault.text[0] != '\0';
        (void)pthread_mutex_unlock(&memo->lock);
        if (stop)
            return NULL;
        const enum sc_status status = v->simulator->simulate(
            memo->scenarios + i * v->system->scenario_size, &options,
            memo->answers + i * v->system->answer_size, &report, &error);
        (void)pthread_mutex_lock(&memo->lock);
        if (status == SC_ERANGE) {
            memo->too_large++;
            forget_answer(v->system, memo->answers + i * v->system->answer_size);
        } else if (status != SC_OK)
            scenario_describe_error(v->system, status, &error, &memo->fault);
        progress_step(&memo->progress);
        (void)pthread_mutex_unlock(&memo->lock);
    }
}

static bool metric_of(struct validation *v, const struct setting *settings, size_t count, int source,
                      const struct sc_metric *metric, double *value, struct problem *problem)
{
    _Alignas(max_align_t) unsigned char scenario[SC_SCENARIO_MAX], answer[SC_ANSWER_MAX];
    struct sc_error error;
    if (!resolver_build(v->resolver, settings, count, scenario, problem))
        return false;
    if (source == SIMULATOR) {
        const unsigned char *simulated = memo_answer(v, scenario, problem);
        if (simulated != NULL)
            memcpy(value, simulated + metric->offset, sizeof *value);
        return simulated != NULL;
    }
    const enum sc_status status = v->system->estimate(scenario, answer, NULL, &error);
    if (status != SC_OK) {
        scenario_describe_error(v->system, status, &error, problem);
        return false;
    }
    memcpy(value, answer + metric->offset, sizeof *value);
    return true;
}

/* How much a mean owes to single scenarios: the median, and the least and the greatest
 * mean when one of them is left out.  NaN where it is not asked for. */
struct spread {
    double median, low, high;
};
static const struct spread no_spread = { (double)NAN, (double)NAN, (double)NAN };

/* What one source says of a figure. */
struct answered {
    double value;
    struct spread spread;
};

static struct spread spread_of(double *values, size_t count)
{
    double sum = 0.0;
    if (count < 2)
        return no_spread;
    const double middle = sc_median(values, count); /* and sorts them */
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    const double rest = (double)count - 1.0;
    return (struct spread){ middle, (sum - values[count - 1]) / rest, (sum - values[0]) / rest };
}

/* The metric of each scenario of a product; values above cap, unless NaN, count as cap. */
static bool list_values(struct validation *v, int source, const struct product *product,
                        const struct sc_metric *metric, double cap, double *values,
                        struct problem *problem)
{
    struct setting *settings = calloc(product->count + 1, sizeof *settings);
    if (settings == NULL)
        return problem_set(problem, "out of memory");
    bool fine = true;
    for (size_t row = 0; fine && row < product->rows; row++) {
        product_row(product, row, settings);
        fine = metric_of(v, settings, product->count, source, metric, &values[row], problem);
        if (!isnan(values[row]))
            values[row] = fmin(values[row], cap);
    }
    free(settings);
    return fine;
}

/* A mean of the values, the median, least, greatest; of one unknown value all are. */
static bool aggregate(const char *name, double *values, size_t count, double *result,
                      struct spread *spread, struct problem *problem)
{
    double logs = 0.0, sum = 0.0, least = (double)INFINITY, most = -(double)INFINITY;
    bool unknown = false;
    *spread = no_spread;
    for (size_t i = 0; i < count; i++) {
        unknown = unknown || isnan(values[i]);
        sum += values[i];
        logs += log(values[i]);
        least = fmin(least, values[i]);
        most = fmax(most, values[i]);
    }
    if (strcmp(name, "geomean") == 0)
        *result = exp(logs / (double)count);
    else if (strcmp(name, "mean") == 0)
        *result = sum / (double)count;
    else if (strcmp(name, "median") == 0)
        *result = sc_median(values, count);
    else if (strcmp(name, "min") == 0)
        *result = least;
    else if (strcmp(name, "max") == 0 || (strcmp(name, "each") == 0 && count == 1))
        *result = most;
    else
        return problem_set(problem, "aggregate: expected geomean, mean, median, min, max, or each of "
                                    "one scenario, got '%.20s' of %zu", name, count);
    if (unknown)
        *result = (double)NAN;
    else if (strcmp(name, "mean") == 0)
        *spread = spread_of(values, count);
    return true;
}

static bool aggregate_product(struct validation *v, const struct figure *figure, int source,
                              const struct product *product, const struct sc_metric *metric,
                              double cap, struct answered *answered, struct problem *problem)
{
    double *values = calloc(product->rows + 1, sizeof *values);
    if (values == NULL)
        return problem_set(problem, "out of memory");
    const bool fine = list_values(v, source, product, metric, cap, values, problem) &&
                      aggregate(figure->aggregate, values, product->rows, &answered->value,
                                &answered->spread, problem);
    free(values);
    return fine;
}

static bool answer_scenario(struct validation *v, const struct figure *figure, const char *scenario,
                            int source, double cap, struct answered *answered,
                            struct problem *problem)
{
    enum { WORDS_MAX = 64 };
    const char *words[WORDS_MAX];
    struct product product = { 0 };
    const struct sc_metric *metric = sc_system_metric(v->system, figure->metric);
    char *text = strdup(scenario);
    bool fine = text != NULL || problem_set(problem, "out of memory");
    if (fine && (metric == NULL || metric->text))
        fine = problem_set(problem, "metric: %s has no column '%.40s'", v->system->name,
                           figure->metric);
    if (fine)
        fine = product_make(v->resolver, words, text_split(text, words, WORDS_MAX), &product, problem) &&
               aggregate_product(v, figure, source, &product, metric, cap, answered, problem);
    product_fini(&product);
    free(text);
    return fine;
}

static bool answer_figure(struct validation *v, const struct figure *figure, int source,
                          struct answered *answered, struct problem *problem)
{
    double cap = (double)NAN;
    struct answered over = { 1.0, no_spread };
    if (*figure->cap != '\0' && !catalog_number("cap", figure->cap, &cap, problem))
        return false;
    if (!answer_scenario(v, figure, figure->scenario, source, cap, answered, problem) ||
        (*figure->over != '\0' &&
         !answer_scenario(v, figure, figure->over, source, cap, &over, problem)))
        return false;
    if (*figure->over != '\0')
        answered->spread = no_spread;
    answered->value /= over.value;
    return true;
}

/* "file:line: figure: reason" */
static bool place(const struct validation *v, const struct figure *figure, struct problem *problem)
{
    const struct problem inner = *problem;
    return problem_set(problem, "%s:%zu: %s: %s", v->table->shown, figure->line, figure->id,
                       inner.text);
}

static void count_figure(struct score *score, const struct figure *figure, double published,
                         double answer, double tolerance)
{
    const double relative = fabs(answer / published - 1.0);
    score->count++;
    score->relative_sum += relative;
    if (answer > 0.0 && published > 0.0) {
        score->log_sum += fabs(log(answer / published));
        score->ratios++;
    }
    score->worst = fmax(score->worst, relative);
    if (strcmp(figure->metric, "performance") == 0) {
        score->published[score->ranked] = published;
        score->answers[score->ranked++] = answer;
    }
    if (!isnan(tolerance)) {
        score->gates++;
        score->missed_gates += fabs(answer - published) > tolerance;
    }
}

static bool count_in_set(struct validation *v, const struct figure *figure, int source,
                         double published, double answer, struct problem *problem)
{
    size_t i = 0;
    if (*figure->set == '\0' || !(answer > 0.0 && published > 0.0))
        return true;
    while (i < v->set_count && strcmp(v->sets[i].name, figure->set) != 0)
        i++;
    struct set *set = &v->sets[i];
    if (i == v->set_count) {
        if (i == SETS_MAX)
            return problem_set(problem, "set: more than %d", (int)SETS_MAX);
        v->set_count++;
        *set = (struct set){ .name = figure->set, .target = (double)NAN };
        if (*figure->set_target != '\0' &&
            !catalog_number("set_target", figure->set_target, &set->target, problem))
            return false;
    }
    set->count[source]++;
    set->log_sum[source] += fabs(log(answer / published));
    return true;
}

static const char *verdict_of(double published, double answer, double tolerance)
{
    if (isnan(tolerance) || isnan(answer))
        return NULL;
    return fabs(answer - published) <= tolerance ? "within" : "MISS";
}

/* Columns of the answer, and those of the figure around them. */
enum { HEAD_COLUMNS = 5, SOURCE_COLUMNS = 7, TAIL_COLUMNS = 3,
       COLUMNS_MAX = HEAD_COLUMNS + SOURCES * SOURCE_COLUMNS + TAIL_COLUMNS };

static bool print_figure(struct validation *v, const struct figure *figure, double published,
                         const struct answered answers[SOURCES], const double tolerances[SOURCES],
                         struct problem *problem)
{
    struct emit_cell cells[COLUMNS_MAX] = {
        emit_string(figure->id),        emit_string(figure->where),
        emit_string(figure->metric),    emit_string(figure->aggregate),
        emit_number(published),
    };
    size_t at = HEAD_COLUMNS;
    for (int source = SOURCES; source-- > 0;) {
        const struct answered *a = &answers[source];
        if (source == SIMULATOR && v->simulator == NULL)
            continue;
        cells[at++] = emit_number(a->value);
        if (v->has_means) {
            cells[at++] = emit_number(a->spread.median);
            cells[at++] = emit_number(a->spread.low);
            cells[at++] = emit_number(a->spread.high);
        }
        cells[at++] = emit_number(100.0 * (a->value / published - 1.0));
        cells[at++] = emit_number(tolerances[source]);
        cells[at++] = emit_string(verdict_of(published, a->value, tolerances[source]));
    }
    cells[at++] = emit_string(figure->kind);
    cells[at++] = emit_string(figure->scenario);
    cells[at++] = emit_string(figure->note);
    return sink_row(&v->sink, cells, problem);
}

/* One figure: a row of the table, or, while the simulator's work is collected,
 * its scenarios put on the list. */
static bool compare_figure(struct validation *v, size_t row, bool collect, struct problem *problem)
{
    struct figure figure = { "", "", "", "", "", "", "", "", "", "", "", "", "", "", 0 };
    double published = 0.0, tolerances[SOURCES] = { (double)NAN, (double)NAN };
    struct answered answers[SOURCES] = { { 0.0, no_spread }, { (double)NAN, no_spread } };
    if (!read_figure(v->table, row, &figure, problem))
        return false;
    if (!filter_keeps(v->filter, figure.id, strlen(figure.id)))
        return true;
    if (!catalog_number("value", figure.value, &published, problem) ||
        !read_tolerance(figure.tolerance, published, &tolerances[CLOSED_FORM], problem) ||
        !read_tolerance(figure.sim_tolerance, published, &tolerances[SIMULATOR], problem) ||
        !answer_figure(v, &figure, CLOSED_FORM, &answers[CLOSED_FORM], problem) ||
        (v->simulator != NULL &&
         !answer_figure(v, &figure, SIMULATOR, &answers[SIMULATOR], problem)))
        return place(v, &figure, problem);
    if (collect)
        return true;
    const int kind = strcmp(figure.kind, kind_names[KIND_ANCHOR]) == 0 ? KIND_ANCHOR : KIND_CHECK;
    for (int source = 0; source < (v->simulator != NULL ? SOURCES : 1); source++) {
        const double answer = answers[source].value;
        if (isnan(answer))
            continue;
        count_figure(&v->scores[source][kind], &figure, published, answer, tolerances[source]);
        if (!count_in_set(v, &figure, source, published, answer, problem))
            return place(v, &figure, problem);
    }
    return print_figure(v, &figure, published, answers, tolerances, problem);
}

/* One line per set; how many miss their target. */
static size_t print_sets(const struct validation *v)
{
    size_t missed = 0;
    for (size_t i = 0; i < v->set_count; i++)
        for (int source = 0; source < SOURCES; source++) {
            const struct set *set = &v->sets[i];
            if (set->count[source] == 0)
                continue;
            const double error = exp(set->log_sum[source] / (double)set->count[source]);
            (void)fprintf(stderr, "%s: %zu figures, %s: geometric error %.3f", set->name,
                          set->count[source], source_names[source], error);
            if (!isnan(set->target))
                (void)fprintf(stderr, ", target %.4g: %s", set->target,
                              error <= set->target ? "within" : "MISS");
            (void)fputc('\n', stderr);
            missed += source == CLOSED_FORM && error > set->target;
        }
    return missed;
}

static bool print_summary(const struct validation *v)
{
    size_t missed = print_sets(v);
    if (v->memo.too_large > 0)
        (void)fprintf(stderr, "%zu scenarios are too large to simulate; what depends on them is not counted\n",
                      v->memo.too_large);
    for (int source = 0; source < SOURCES; source++)
        for (int kind = 0; kind < KINDS; kind++) {
            const struct score *score = &v->scores[source][kind];
            const double n = (double)score->count;
            double tau = (double)NAN;
            missed += score->missed_gates;
            if (score->count == 0)
                continue;
            (void)fprintf(stderr,
                          "%zu %s figures%s, %s: mean error %.1f %%, geometric error %.3f, worst "
                          "%.0f %%; %zu of %zu with a target within it",
                          score->count, kind_names[kind],
                          kind == KIND_ANCHOR ? " (fitted, not validated)" : "",
                          source_names[source], 100.0 * score->relative_sum / n,
                          exp(score->log_sum / fmax((double)score->ratios, 1.0)),
                          100.0 * score->worst,
                          score->gates - score->missed_gates, score->gates);
            if (sc_kendall_tau(score->published, score->answers, score->ranked, &tau) == SC_OK &&
                isfinite(tau))
                (void)fprintf(stderr, "; Kendall tau of performance %.2f", tau);
            (void)fputc('\n', stderr);
        }
    return missed == 0;
}

static bool reserve_scores(struct validation *v, struct problem *problem)
{
    for (int source = 0; source < SOURCES; source++)
        for (int kind = 0; kind < KINDS; kind++) {
            struct score *score = &v->scores[source][kind];
            score->published = calloc(v->table->row_count + 1, sizeof *score->published);
            score->answers = calloc(v->table->row_count + 1, sizeof *score->answers);
            if (score->published == NULL || score->answers == NULL)
                return problem_set(problem, "out of memory");
        }
    return true;
}

/* Runs everything that the figures will ask the simulator for. */
static bool simulate_figures(struct validation *v, const struct options *options,
                             struct problem *problem)
{
    long jobs = sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t threads[64];
    size_t started = 0;
    v->simulator = options->simulate != NULL ? sc_simulator_find(v->system) : NULL;
    if (options->simulate != NULL && v->simulator == NULL)
        return problem_set(problem, "%s has no simulator", v->system->name);
    if (v->simulator == NULL)
        return true;
    if (options->jobs != NULL && !options_whole("jobs", options->jobs, 1, 64, &jobs, problem))
        return false;
    for (size_t row = 0; row < v->table->row_count; row++)
        if (!compare_figure(v, row, true, problem))
            return false;
    progress_start(&v->memo.progress, "simulate", v->memo.count);
    for (long i = 1; i < jobs && i < 64; i++)
        if (pthread_create(&threads[started], NULL, simulate_memo, v) == 0)
            started++;
    (void)simulate_memo(v);
    for (size_t i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
    progress_end(&v->memo.progress);
    *problem = v->memo.fault;
    return v->memo.fault.text[0] == '\0';
}

/* Whether a table has means of scenarios: of these the spread is shown too. */
static bool has_means(const struct catalog_table *table)
{
    const size_t column = catalog_column(table, "aggregate");
    for (size_t row = 0; column != SIZE_MAX && row < table->row_count; row++)
        if (strcmp(catalog_cell(table, row, column), "mean") == 0)
            return true;
    return false;
}

static size_t plan_columns(const struct validation *v, bool table,
                           struct emit_column columns[COLUMNS_MAX])
{
    static const char *const names[SOURCES][SOURCE_COLUMNS] = {
        [CLOSED_FORM] = { "closed_form", "median", "without_one_low", "without_one_high",
                          "error_percent", "target", "verdict" },
        [SIMULATOR] = { "simulator", "sim_median", "sim_without_one_low", "sim_without_one_high",
                        "sim_error_percent", "sim_target", "sim_verdict" },
    };
    static const char *const heads[HEAD_COLUMNS] = { "figure", "where", "metric", "of",
                                                     "published" };
    size_t count = 0;
    for (size_t i = 0; i < HEAD_COLUMNS; i++)
        columns[count++].name = heads[i];
    for (int source = SOURCES; source-- > 0;)
        for (size_t i = 0; (source == CLOSED_FORM || v->simulator != NULL) && i < SOURCE_COLUMNS;
             i++)
            if (v->has_means || i < 1 || i > 3)
                columns[count++].name = names[source][i];
    columns[count++].name = "kind";
    /* Tables leave out what only a machine would read. */
    if (table)
        return count;
    columns[count++].name = "scenario";
    columns[count++].name = "note";
    return count;
}

static int run_validation(struct validation *v, const struct options *options,
                          struct catalog *catalog)
{
    struct emit_column columns[COLUMNS_MAX] = { { 0 } };
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
    v->has_means = v->table != NULL && has_means(v->table);
    v->resolver = v->table == NULL ? NULL : resolver_create(v->system, catalog, &problem);
    if (v->resolver != NULL &&
        !calibration_load(v->system, catalog, options, &v->calibration, &problem))
        return command_fail(&problem);
    if (v->resolver != NULL)
        calibration_apply(v->calibration, v->resolver);
    v->filter = filter_create(options->only, &problem);
    if (v->resolver == NULL || v->filter == NULL)
        return command_fail(&problem);
    if (!reserve_scores(v, &problem) || !simulate_figures(v, options, &problem))
        return command_fail(&problem);
    const size_t count = plan_columns(v, !sink_streams(&style), columns);
    if (!sink_open(&v->sink, &style, columns, count, options->output, &problem))
        return command_fail(&problem);
    bool fine = true, any = false;
    for (size_t row = 0; fine && row < v->table->row_count; row++)
        fine = compare_figure(v, row, false, &problem);
    for (int kind = 0; kind < KINDS; kind++)
        any = any || v->scores[CLOSED_FORM][kind].count > 0;
    if (fine && !any && !filter_gave_up(v->filter))
        fine = problem_set(&problem, "--only: no figure of %s is named like that", v->system->name);
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
    if (options->leave_out != NULL)
        return leave_out(v.system, options, catalog);
    (void)pthread_mutex_init(&v.memo.lock, NULL);
    const int code = run_validation(&v, options, catalog);
    (void)pthread_mutex_destroy(&v.memo.lock);
    for (int source = 0; source < SOURCES; source++)
        for (int kind = 0; kind < KINDS; kind++) {
            free(v.scores[source][kind].published);
            free(v.scores[source][kind].answers);
        }
    free(v.memo.scenarios);
    free(v.memo.answers);
    filter_destroy(v.filter);
    calibration_destroy(v.calibration);
    resolver_destroy(v.resolver);
    return code;
}

static const struct option_row options[] = {
    OPTION(format, 'f', "FORMAT", "table, csv, tsv, json, jsonl or md (default table)"),
    OPTION(output, 'o', "FILE", "write there, whole or not at all"),
    OPTION(simulate, 0, NULL, "the simulator's answers too (about half a minute for hbf)"),
    { .name = "leave-out", .argument = "gpu|app", .offset = offsetof(struct options, leave_out),
      .help = "uvm: fits without each in turn, beside a naive rival" },
    OPTION(params, 0, "FILE", "calibration to use instead of the one that comes with the system"),
    OPTION(jobs, 'j', "N", "runs of the simulator at a time (default: one per processor)"),
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
               "constant was fitted to; it is shown but validates nothing.  Figures of one set are also\n"
               "judged by their geometric error together.  Exit status 1 when a figure or a set misses\n"
               "its target.\n\n"
               "One scenario can carry a mean: beside a mean over several (of kernels, say) stand their\n"
               "median and the least and the greatest mean when one of them is left out.\n\n"
               "--leave-out asks what mode=fitted of uvm is worth for what it has not seen: the constants\n"
               "are fitted to the published run times without those of one GPU, or without those of one\n"
               "application past capacity, and predict these.  Beside it a naive rival, which knows times\n"
               "alone: the mean of the other GPUs, or the other applications' ratio of times past capacity\n"
               "and within.  A run that was stopped is no error where more is predicted.  Lines with in_all\n"
               "`no` are shown and not in the last one.  Exit status 1 when the rival is as good.\n\n"
               "  stallcast validate hbf\n"
               "  stallcast validate hbf --simulate --only '^fig8-.*mb$'\n"
               "  stallcast validate uvm --leave-out gpu\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .run = validate,
};
