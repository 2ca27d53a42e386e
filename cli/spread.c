/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

enum { SAMPLES_DEFAULT = 1024, SAMPLES_MIN = 16, SAMPLES_MAX = 1 << 20, WORDS_MAX = 64 };
enum { NAME_MAX_LENGTH = ANSWER_NAME_MAX };

struct spread {
    const struct resolver *resolver;
    const struct sc_system *system;
    const struct calibration *calibration;
    const struct uncertain_list *list;
    const struct selection *selection;
    struct sc_points points;
    struct emit_cell *cells; /* of one sample */
    double *values;          /* item by item, of all samples */
    const char **texts;
    char *names;
};

bool spread_options(const struct options *options, size_t *samples, uint64_t *seed,
                    struct problem *problem)
{
    long count = SAMPLES_DEFAULT, number = 1;
    if ((options->samples != NULL &&
         !options_whole("samples", options->samples, SAMPLES_MIN, SAMPLES_MAX, &count, problem)) ||
        (options->seed != NULL &&
         !options_whole("seed", options->seed, 0, 2147483647L, &number, problem)))
        return false;
    *samples = (size_t)count;
    *seed = (uint64_t)number;
    return true;
}

static bool is_word(const struct selection *selection, size_t i)
{
    const struct sc_metric *metric = selection->items[i].metric;
    return metric != NULL ? metric->text : selection->items[i].field->kind == SC_CHOICE;
}

size_t spread_column_count(const struct selection *selection)
{
    size_t count = 0;
    for (size_t i = 0; i < selection->count; i++)
        count += is_word(selection, i) ? 1 : 3;
    return count;
}

struct spread *spread_create(const struct resolver *resolver, const struct calibration *calibration,
                             const struct uncertain_list *list, const struct selection *selection,
                             size_t samples, uint64_t seed, struct problem *problem)
{
    struct spread *s = calloc(1, sizeof *s);
    struct sc_error error = { .field = "samples", .reason = "need more memory than there is" };
    if (s == NULL) {
        (void)problem_set(problem, "out of memory");
        return NULL;
    }
    *s = (struct spread){ .resolver = resolver, .system = resolver_system(resolver),
                          .calibration = calibration, .list = list, .selection = selection };
    s->cells = calloc(selection->count + 1, sizeof *s->cells);
    s->values = calloc(selection->count * samples + 1, sizeof *s->values);
    s->texts = calloc(selection->count * samples + 1, sizeof(const char *));
    s->names = calloc(3 * selection->count + 1, NAME_MAX_LENGTH);
    if (s->cells != NULL && s->values != NULL && s->texts != NULL && s->names != NULL &&
        sc_points_init(&s->points, list->count, samples, seed, &error) == SC_OK)
        return s;
    spread_destroy(s);
    (void)problem_set(problem, "%s %s", error.field, error.reason);
    return NULL;
}

void spread_destroy(struct spread *s)
{
    if (s == NULL)
        return;
    free(s->cells);
    free(s->values);
    free(s->texts);
    free(s->names);
    free(s);
}

/* "time_p5_s" of time_s */
static const char *name_quantile(const struct emit_column *column, const char *quantile,
                                 char out[static NAME_MAX_LENGTH])
{
    const size_t stem = emit_stem(column->name, column->dimension);
    struct text name = { 0 };
    text_add(&name, column->name, stem);
    text_printf(&name, "_%s%s", quantile, column->name + stem);
    if (!name.failed && name.length < NAME_MAX_LENGTH)
        memcpy(out, name.bytes, name.length + 1);
    text_fini(&name);
    return out;
}

void spread_columns(struct spread *s, const struct emit_column *plain, struct emit_column *columns)
{
    char *name = s->names;
    for (size_t i = 0; i < s->selection->count; i++, name += (size_t)3 * NAME_MAX_LENGTH) {
        const struct emit_column middle = { .name = plain[i].name,
                                            .dimension = plain[i].dimension };
        struct emit_column low = middle, high = middle;
        low.name = name_quantile(&middle, "p5", name);
        high.name = name_quantile(&middle, "p95", name + NAME_MAX_LENGTH);
        if (!is_word(s->selection, i))
            *columns++ = low;
        *columns++ = middle;
        if (!is_word(s->selection, i))
            *columns++ = high;
    }
}

/* One sample into the values and texts. */
static bool ask(struct spread *s, size_t sample, struct setting *settings, size_t count,
                struct extrapolation *extrapolation, struct problem *problem)
{
    _Alignas(max_align_t) unsigned char scenario[SC_SCENARIO_MAX];
    struct judged_answer answer;
    struct sc_error error;
    for (size_t k = 0; k < s->list->count; k++)
        settings[count + k] = uncertain_setting(&s->list->items[k],
                                                sc_points_coordinate(&s->points, sample, k));
    if (!resolver_build(s->resolver, settings, count + s->list->count, scenario, problem))
        return false;
    const enum sc_status status = s->system->estimate(scenario, answer.answer, NULL, &error);
    if (status != SC_OK) {
        scenario_describe_error(s->system, status, &error, problem);
        return false;
    }
    calibration_judge(s->calibration, scenario, &answer);
    if (extrapolation->count == 0)
        extrapolation_add(extrapolation, s->calibration, scenario, &answer);
    selection_cells(s->selection, scenario, &answer, s->cells);
    for (size_t i = 0; i < s->selection->count; i++) {
        const struct emit_cell *cell = &s->cells[i];
        s->values[i * s->points.count + sample] =
            cell->kind == EMIT_NUMBER ? cell->number : (double)NAN;
        s->texts[i * s->points.count + sample] = cell->kind == EMIT_TEXT ? cell->text : NULL;
    }
    return true;
}

/* The most frequent word, the first of equals. */
static const char *usual_text(const char *const *texts, size_t count)
{
    const char *words[WORDS_MAX];
    size_t times[WORDS_MAX] = { 0 }, used = 0, best = 0;
    for (size_t i = 0; i < count; i++) {
        size_t w = 0;
        while (texts[i] != NULL && w < used && strcmp(words[w], texts[i]) != 0)
            w++;
        if (texts[i] == NULL || w == WORDS_MAX)
            continue;
        if (w == used)
            words[used++] = texts[i];
        times[w]++;
    }
    for (size_t w = 1; w < used; w++)
        best = times[w] > times[best] ? w : best;
    return used > 0 ? words[best] : NULL;
}

/* Numbers that are there, in order. */
static size_t sort_values(double *values, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i]))
            values[kept++] = values[i];
    gsl_sort(values, 1, kept);
    return kept;
}

bool spread_answer(struct spread *s, struct setting *settings, size_t count,
                   struct extrapolation *extrapolation, struct emit_cell *cells,
                   struct problem *problem)
{
    static const double shares[] = { 0.05, 0.5, 0.95 };
    struct extrapolation any = { 0 };
    struct problem first;
    const size_t samples = s->points.count;
    size_t missing = 0;
    for (size_t i = 0; i < samples; i++)
        if (!ask(s, i, settings, count, &any, missing == 0 ? &first : problem))
            missing++;
    if (missing > 0)
        return problem_set(problem, "%zu of %zu samples have no answer; the first: %s", missing,
                           samples, first.text);
    extrapolation_append(extrapolation, &any);
    for (size_t i = 0; i < s->selection->count; i++) {
        if (is_word(s->selection, i)) {
            *cells++ = emit_string(usual_text(s->texts + i * samples, samples));
            continue;
        }
        double *values = s->values + i * samples;
        const size_t kept = sort_values(values, samples);
        for (size_t q = 0; q < sizeof shares / sizeof shares[0]; q++)
            *cells++ = emit_number(
                kept > 0 ? gsl_stats_quantile_from_sorted_data(values, 1, kept, shares[q])
                         : (double)NAN);
    }
    return true;
}
