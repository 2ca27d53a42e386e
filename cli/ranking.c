/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ranking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metric.h"

const double ranking_tie = 1e-12;

/* ---- which way is better ---- */

static bool is_added(const struct sc_metric *metric)
{
    return metric >= calibration_metrics && metric < calibration_metrics + CALIBRATION_METRICS;
}

/* 1: smaller, -1: larger, 0: it depends on what one is after. */
static double better_way(const struct sc_system *system, const struct sc_metric *metric)
{
    static const double ways[SC_DIMENSIONS] = {
        [SC_BYTES_PER_SECOND] = -1.0, [SC_FLOPS] = -1.0,        [SC_JOULES] = 1.0,
        [SC_JOULES_PER_BIT] = 1.0,    [SC_JOULE_SECONDS] = 1.0, [SC_WATTS] = 1.0,
        [SC_SQUARE_METRES] = 1.0,
    };
    if (metric->better != 0)
        return metric->better;
    const int pace = calibration_pace(system, metric);
    return pace != 0 ? pace : is_added(metric) ? 1.0 : ways[metric->dimension];
}

bool contest_by(struct contest *contest, const char *word, struct problem *problem)
{
    const bool least = strncmp(word, "min:", 4) == 0, most = strncmp(word, "max:", 4) == 0;
    const char *name = least || most ? word + 4 : word;
    const struct metrics metrics = { contest->system, contest->calibration };
    contest->by = metrics_find(&metrics, "--by: ", name, problem);
    if (contest->by == NULL)
        return false;
    contest->sign = least ? 1.0 : most ? -1.0 : better_way(contest->system, contest->by);
    if (contest->sign == 0.0)
        return problem_set(problem, "--by: expected min:%s or max:%s: which is better depends on "
                                    "what one is after", contest->by->column,
                           contest->by->column);
    return true;
}

/* ---- how surely ---- */

static const struct sc_params_group *find_group(const struct sc_params *params, const char *name)
{
    for (size_t i = 0; name != NULL && i < params->group_count; i++)
        if (strcmp(params->groups[i].name, name) == 0)
            return &params->groups[i];
    return &params->groups[0];
}

/* Levels of the group's table, then those of the pooled one that go on beyond it. */
static bool make_spread(const struct sc_params *params, const char *name, struct sc_spread *spread,
                        struct problem *problem)
{
    double levels[SC_SPREAD_LEVELS_MAX], quantiles[SC_SPREAD_LEVELS_MAX];
    size_t count = 0;
    const struct sc_params_group *tables[] = { find_group(params, name), &params->groups[0] };
    for (size_t t = 0; t < 2; t++)
        for (size_t k = 0; k < tables[t]->count && count < SC_SPREAD_LEVELS_MAX; k++) {
            const struct sc_params_quantile *q = &params->quantiles[tables[t]->first + k];
            if (count > 0 && !(q->level > levels[count - 1]))
                continue;
            levels[count] = q->level;
            quantiles[count++] = q->quantile;
        }
    struct sc_error error;
    return sc_spread_init(spread, levels, quantiles, count, &error) == SC_OK ||
           problem_set(problem, "calibration: %s %s", error.field, error.reason);
}

bool contest_spreads(struct contest *contest, struct problem *problem)
{
    const struct calibration *c = contest->calibration;
    if (c == NULL || calibration_pace(contest->system, contest->by) == 0)
        return true;
    const size_t count = c->group != NULL ? c->group->choice_count : 1;
    contest->spreads = calloc(count, sizeof *contest->spreads);
    if (contest->spreads == NULL)
        return problem_set(problem, "out of memory");
    for (size_t i = 0; i < count; i++) {
        const char *group = c->group != NULL ? sc_field_choice(c->group, i)->name : NULL;
        if (!make_spread(&c->params, group, &contest->spreads[i], problem))
            return false;
    }
    return true;
}

void contest_fini(struct contest *contest)
{
    sweep_fini(&contest->rows);
    free(contest->spreads);
    contest->spreads = NULL;
}

static bool find_probabilities(const struct contest *contest, struct standing *standings,
                               size_t count, struct problem *problem)
{
    const struct sc_field *group = contest->calibration->group;
    double *values = calloc(2 * count, sizeof *values);
    const struct sc_spread **spreads = calloc(count, sizeof(const struct sc_spread *));
    bool fine = values != NULL && spreads != NULL;
    bool positive = true;
    for (size_t i = 0; fine && i < count; i++) {
        const struct standing *s = &standings[i];
        positive = positive && s->value > 0.0;
        values[i] = s->value > 0.0 ? contest->sign * log(s->value) : 0.0;
        spreads[i] =
            &contest->spreads[group != NULL ? (size_t)sc_field_get(group, s->scenario) : 0];
    }
    if (fine && positive) {
        struct sc_error error;
        fine = sc_best(values, spreads, count, values + count, &error) == SC_OK;
        for (size_t i = 0; fine && i < count; i++)
            standings[i].probability = values[count + i];
    }
    free(values);
    free(spreads);
    return fine || problem_set(problem, "out of memory");
}

/* ---- one scenario ---- */

/* What binds is the reason where a system says that nothing is possible. */
static void say_no_value(const struct contest *contest, struct standing *standing)
{
    const struct sc_metric *const bound = sc_system_metric(contest->system, "bound");
    const char *reason = NULL;
    if (bound != NULL)
        memcpy(&reason, (const char *)&standing->answer + bound->offset, sizeof reason);
    (void)problem_set(&standing->problem, "%s has no value here%s%s", contest->by->column,
                      reason != NULL ? ": " : "", reason != NULL ? reason : "");
}

void contest_answer(const struct contest *contest, size_t row, struct setting *settings,
                    size_t count, struct standing *standing)
{
    const struct sc_system *system = contest->system;
    struct sc_error error;
    *standing = (struct standing){ .row = row, .value = (double)NAN, .margin = (double)NAN,
                                   .probability = (double)NAN };
    settings[count] = contest->rows.values[row];
    if (!resolver_build(contest->resolver, settings, count + 1, standing->scenario,
                        &standing->problem))
        return;
    const enum sc_status status =
        system->estimate(standing->scenario, standing->answer.answer, NULL, &error);
    if (status != SC_OK) {
        scenario_describe_error(system, status, &error, &standing->problem);
        return;
    }
    calibration_judge(contest->calibration, standing->scenario, &standing->answer);
    memcpy(&standing->value, (const char *)&standing->answer + contest->by->offset,
           sizeof standing->value);
    if (isfinite(standing->value))
        return;
    standing->value = (double)NAN;
    say_no_value(contest, standing);
}

double ranking_gap(double x, double y)
{
    if (x > 0.0 && y > 0.0)
        return log(x) - log(y);
    return x == y ? 0.0 : (x - y) / fmax(fabs(x), fabs(y));
}

double standing_behind(const struct contest *contest, const struct standing *a,
                       const struct standing *b)
{
    return contest->sign * ranking_gap(a->value, b->value) +
           (a->row > b->row ? ranking_tie : -ranking_tie);
}

bool standing_ties(const struct standing *a, const struct standing *b)
{
    return fabs(ranking_gap(a->value, b->value)) <= ranking_tie;
}

static int compare_rows(const void *a, const void *b)
{
    const struct standing *x = a, *y = b;
    return (x->row > y->row) - (x->row < y->row);
}

/* Compares sign * value, kept in margin until the order is known. */
static int compare_values(const void *a, const void *b)
{
    const struct standing *x = a, *y = b;
    if (isnan(x->margin) || isnan(y->margin))
        return isnan(x->margin) != isnan(y->margin) ? (isnan(x->margin) ? 1 : -1)
                                                    : compare_rows(a, b);
    return x->margin != y->margin ? (x->margin > y->margin ? 1 : -1) : compare_rows(a, b);
}

/* Equal ones share a rank and stand in the order of their rows. */
static void give_ranks(struct standing *standings, size_t count)
{
    for (size_t first = 0, next = 0; first < count; first = next) {
        next = first;
        while (next < count && standing_ties(&standings[first], &standings[next]))
            standings[next++].rank = first + 1;
        qsort(standings + first, next - first, sizeof *standings, compare_rows);
    }
}

static double ratio_to(double best, double value, double sign)
{
    if (value == best)
        return 1.0;
    if (!(best > 0.0 && value > 0.0))
        return (double)NAN;
    return sign > 0.0 ? value / best : best / value;
}

bool contest_rank(const struct contest *contest, struct setting *settings, size_t count,
                  bool surely, struct standing *standings, size_t *answered,
                  struct problem *problem)
{
    const size_t rows = contest->rows.count;
    size_t fine = 0;
    for (size_t i = 0; i < rows; i++) {
        contest_answer(contest, i, settings, count, &standings[i]);
        standings[i].margin = contest->sign * standings[i].value;
        fine += isnan(standings[i].value) ? 0 : 1;
    }
    qsort(standings, rows, sizeof *standings, compare_values);
    const double best = standings[0].value;
    give_ranks(standings, fine);
    for (size_t i = 0; i < rows; i++)
        standings[i].margin = ratio_to(best, standings[i].value, contest->sign);
    *answered = fine;
    return !surely || fine == 0 || contest->spreads == NULL ||
           find_probabilities(contest, standings, fine, problem);
}
