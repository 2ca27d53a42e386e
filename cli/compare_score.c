/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compare_score.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "units.h"

/* ---- the scores ---- */

static double mean_percent(const struct group_score *g)
{
    return 100.0 * g->ratios.mape;
}
static double geometric_error(const struct group_score *g)
{
    return g->ratios.geometric_error;
}
static double bias_percent(const struct group_score *g)
{
    return 100.0 * expm1(g->ratios.bias);
}
static double worst_percent(const struct group_score *g)
{
    return 100.0 * g->ratios.max_error;
}
static double nrmse(const struct group_score *g)
{
    return g->ratios.nrmse;
}
static double pearson_log(const struct group_score *g)
{
    return g->ratios.pearson_log;
}
static double mean_points(const struct group_score *g)
{
    return 100.0 * g->points.mean_error;
}
static double bias_points(const struct group_score *g)
{
    return 100.0 * g->points.bias;
}
static double worst_points(const struct group_score *g)
{
    return 100.0 * g->points.max_error;
}
static double kendall_tau(const struct group_score *g)
{
    return g->in_points ? g->points.kendall_tau : g->ratios.kendall_tau;
}
static double outside_percent(const struct group_score *g)
{
    return g->intervals > 0 ? 100.0 * (double)(g->intervals - g->inside) / (double)g->intervals
                            : (double)NAN;
}

/* Judged by ratios, in points, or both. */
enum { RATIOS = 1, POINTS = 2 };

/* Of counted rows; NaN where they have none. */
static const struct score {
    const char *column, *words, *unit; /* words: NULL where a line says it otherwise */
    const char *limit;                 /* its name in --fail-above, or NULL */
    int judged, digits;
    double (*value)(const struct group_score *group);
} scores_table[] = {
    { "mape_percent", "mean error", " %", "mape", RATIOS, 3, mean_percent },
    { "mean_error_points", "mean error", " points", "points", POINTS, 3, mean_points },
    { "geometric_error", "geometric error", "", "geometric", RATIOS, 4, geometric_error },
    { "bias_percent", "bias", " %", NULL, RATIOS, 3, bias_percent },
    { "bias_points", "bias", " points", NULL, POINTS, 3, bias_points },
    { "worst_percent", "worst", " %", "worst", RATIOS, 3, worst_percent },
    { "worst_points", "worst", " points", "worst", POINTS, 3, worst_points },
    { "nrmse", "NRMSE", "", "nrmse", RATIOS, 3, nrmse },
    { "pearson_log", "Pearson of logs", "", NULL, RATIOS, 4, pearson_log },
    { "kendall_tau", "Kendall tau", "", NULL, RATIOS | POINTS, 3, kendall_tau },
    { "outside_percent", NULL, " %", "outside", RATIOS, 3, outside_percent },
};
enum { SCORES = sizeof scores_table / sizeof scores_table[0] };

static bool applies(const struct score *score, bool in_points)
{
    return (score->judged & (in_points ? POINTS : RATIOS)) != 0;
}

static double score_value(const struct score *score, const struct group_score *group)
{
    return group->standings[STANDING_COUNTED] > 0 ? score->value(group) : (double)NAN;
}

/* ---- groups ---- */

struct arrays {
    double *predicted, *measured, *low, *high;
};

static void count_row(struct group_score *group, const struct compared_row *row)
{
    group->rows++;
    group->standings[row->standing]++;
    group->met += row->standing == STANDING_ONE_SIDED && row->met;
    group->failed_checks += row->failed_checks != NULL;
    if (row->standing == STANDING_COUNTED && comparison_has_inside(row)) {
        group->intervals++;
        group->inside += comparison_inside(row);
    }
}

static bool score_group(const struct comparison *c, const size_t *members, size_t count,
                        const struct arrays *a, struct group_score *score,
                        struct problem *problem)
{
    struct sc_error error = { 0 };
    size_t n = 0;
    score->in_points = c->in_points;
    for (size_t i = 0; i < count; i++) {
        const struct compared_row *const row = &c->rows[members[i]];
        count_row(score, row);
        if (row->standing != STANDING_COUNTED)
            continue;
        a->predicted[n] = row->predicted;
        a->measured[n] = row->row->measured;
        a->low[n] = row->low;
        a->high[n++] = row->high;
    }
    if (n == 0)
        return true;
    const enum sc_status status =
        c->in_points ? sc_score_points(&score->points, a->predicted, a->measured, n)
                     : sc_score_compute(&score->ratios, a->predicted, a->measured, a->low, a->high,
                                        n, &error);
    if (status == SC_ENOSPACE)
        return problem_set(problem, "out of memory");
    return status == SC_OK || problem_set(problem, "%s: %g %s", error.field, error.value,
                                          error.reason);
}

static bool find_groups(struct compare_scores *s, const struct comparison *c, size_t column,
                        struct problem *problem)
{
    size_t *const numbers = calloc(c->count + 1, sizeof *numbers);
    s->group_of = calloc(c->count + 1, sizeof *s->group_of);
    const size_t count = s->group_of != NULL && numbers != NULL && c->count > 0
                             ? comparison_split(c, column, s->group_of) : 0;
    s->groups = calloc(count + 1, sizeof *s->groups);
    const bool fine = s->groups != NULL && s->group_of != NULL && numbers != NULL &&
                      (count > 0 || c->count == 0);
    for (size_t i = 0; fine && i < c->count; i++) {
        const struct observed_row *const row = c->rows[i].row;
        if (s->group_of[i] == i) {
            numbers[i] = s->count;
            s->groups[s->count++].name = column < row->cell_count ? row->cells[column].text : "";
        }
        s->group_of[i] = numbers[s->group_of[i]];
    }
    free(numbers);
    return fine || problem_set(problem, "out of memory");
}

/* Rows by group, each group's as in the file; ends[i] is where group i ends. */
static void sort_members(const struct compare_scores *s, size_t rows, size_t *members, size_t *ends)
{
    for (size_t i = 0; i < rows; i++)
        ends[s->group_of[i]]++;
    for (size_t i = 1; i < s->count; i++)
        ends[i] += ends[i - 1];
    for (size_t i = rows; i-- > 0;)
        members[--ends[s->group_of[i]]] = i;
    for (size_t i = 0; i < s->count; i++)
        ends[i] = i + 1 < s->count ? ends[i + 1] : rows;
}

static bool score_groups(struct compare_scores *s, const struct comparison *c, size_t *members,
                         size_t *ends, const struct arrays *arrays, struct problem *problem)
{
    bool fine = true;
    if (s->group_of != NULL)
        sort_members(s, c->count, members, ends);
    for (size_t i = 0, start = 0; fine && i < s->count; start = ends[i++])
        fine = score_group(c, members + start, ends[i] - start, arrays, &s->groups[i], problem);
    for (size_t i = 0; i < c->count; i++)
        members[i] = i;
    return fine && score_group(c, members, c->count, arrays, &s->groups[s->count++], problem);
}

bool compare_scores_make(struct compare_scores *s, const struct comparison *c, size_t column,
                         struct problem *problem)
{
    const size_t room = c->count + 1;
    *s = (struct compare_scores){ .level = c->level };
    if (column != SIZE_MAX) {
        s->by = sc_csv_columns(c->observed->rows.reader)[column].text;
        if (!find_groups(s, c, column, problem))
            return false;
    } else if ((s->groups = calloc(1, sizeof *s->groups)) == NULL) {
        return problem_set(problem, "out of memory");
    }
    double *const block = calloc(room, 4 * sizeof *block);
    size_t *const members = calloc(room, 2 * sizeof *members);
    const bool got = block != NULL && members != NULL;
    bool fine = got || problem_set(problem, "out of memory");
    if (got) {
        const struct arrays arrays = { block, block + room, block + 2 * room, block + 3 * room };
        fine = score_groups(s, c, members, members + room, &arrays, problem);
    }
    free(block);
    free(members);
    return fine;
}

void compare_scores_fini(struct compare_scores *s)
{
    free(s->groups);
    free(s->group_of);
    *s = (struct compare_scores){ 0 };
}

const struct group_score *compare_scores_all(const struct compare_scores *s)
{
    return &s->groups[s->count - 1];
}

/* ---- lines ---- */

static void add_score(const struct score *score, double value, const char *before,
                      struct text *out)
{
    char number[SC_NUMBER_MAX];
    (void)sc_number_format(number, value, score->digits);
    text_printf(out, "%s%s %s%s", before, score->words, number, score->unit);
}

/* "mean error 1.2 %, ..." of what has a value. */
static void describe_scores(const struct group_score *group, struct text *out)
{
    const char *before = ": ";
    for (size_t i = 0; i < SCORES; i++) {
        const struct score *const score = &scores_table[i];
        const double value = score_value(score, group);
        if (!applies(score, group->in_points) || score->words == NULL || isnan(value))
            continue;
        add_score(score, value, before, out);
        before = ", ";
    }
    if (isnan(kendall_tau(group)))
        text_add_string(out, "; no correlation, which needs two rows that differ");
}

static void describe_others(const struct group_score *group, struct text *out)
{
    if (group->standings[STANDING_ONE_SIDED] > 0)
        text_printf(out, "; %zu known from one side, %zu of them predicted there",
                    group->standings[STANDING_ONE_SIDED], group->met);
    if (group->standings[STANDING_NOT_COUNTED] > 0)
        text_printf(out, "; %zu not counted", group->standings[STANDING_NOT_COUNTED]);
    if (group->standings[STANDING_BAD] > 0)
        text_printf(out, "; %zu bad", group->standings[STANDING_BAD]);
    if (group->failed_checks > 0)
        text_printf(out, "; %zu with counters that cannot be right", group->failed_checks);
}

static void print_group(const struct compare_scores *s, const struct group_score *group,
                        const char *metric)
{
    const size_t counted = group->standings[STANDING_COUNTED];
    struct text line = { 0 };
    if (group->name != NULL)
        text_printf(&line, "%s %s: ", s->by, *group->name != '\0' ? group->name : "(empty)");
    text_printf(&line, "%s of %zu of %zu rows", metric, counted, group->rows);
    if (counted > 0)
        describe_scores(group, &line);
    else
        text_add_string(&line, ": nothing to take a mean of");
    if (group->intervals > 0)
        text_printf(&line, "; %zu of %zu inside their %g %% interval", group->inside,
                    group->intervals, 100.0 * s->level);
    describe_others(group, &line);
    /* Cells are the user's: nothing in them may play with the terminal. */
    for (size_t i = 0; i < line.length; i++)
        if ((unsigned char)line.bytes[i] < 0x20 || line.bytes[i] == 0x7F)
            line.bytes[i] = ' ';
    if (!line.failed)
        (void)fprintf(stderr, "%s\n", line.bytes);
    text_fini(&line);
}

void compare_scores_print(const struct compare_scores *s, const char *metric, size_t most)
{
    const size_t groups = s->count - 1;
    for (size_t i = 0; i < groups && i < most; i++)
        print_group(s, &s->groups[i], metric);
    if (groups > most)
        (void)fprintf(stderr, "%zu values more of %s: --summary has them all\n", groups - most,
                      s->by);
    print_group(s, compare_scores_all(s), metric);
}

/* ---- rows ---- */

size_t compare_scores_columns(const struct compare_scores *s,
                              struct emit_column columns[static COMPARE_SCORE_COLUMNS])
{
    static const char *const heads[] = { "metric", "rows", "counted", "one_sided", "one_sided_met",
                                         "not_counted", "bad", "checks_failed" };
    const bool in_points = compare_scores_all(s)->in_points;
    size_t n = 0;
    if (s->by != NULL)
        columns[n++] = (struct emit_column){ .name = s->by };
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        columns[n++] = (struct emit_column){ .name = heads[i] };
    for (size_t i = 0; i < SCORES; i++)
        if (applies(&scores_table[i], in_points) && scores_table[i].words != NULL)
            columns[n++] = (struct emit_column){ .name = scores_table[i].column };
    columns[n++] = (struct emit_column){ .name = "intervals" };
    columns[n++] = (struct emit_column){ .name = "coverage" };
    columns[n++] = (struct emit_column){ .name = "level" };
    return n;
}

void compare_scores_cells(const struct compare_scores *s, const struct group_score *group,
                          const char *metric, struct emit_cell cells[static COMPARE_SCORE_COLUMNS])
{
    const size_t *const standings = group->standings;
    const size_t counts[] = { group->rows, standings[STANDING_COUNTED],
                              standings[STANDING_ONE_SIDED], group->met,
                              standings[STANDING_NOT_COUNTED], standings[STANDING_BAD],
                              group->failed_checks };
    size_t n = 0;
    if (s->by != NULL)
        cells[n++] = emit_string(group->name != NULL ? group->name : "all");
    cells[n++] = emit_string(metric);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        cells[n++] = emit_number((double)counts[i]);
    for (size_t i = 0; i < SCORES; i++)
        if (applies(&scores_table[i], group->in_points) && scores_table[i].words != NULL)
            cells[n++] = emit_number(score_value(&scores_table[i], group));
    const double outside = outside_percent(group);
    cells[n++] = emit_number((double)group->intervals);
    cells[n++] = emit_number(1.0 - outside / 100.0);
    cells[n++] = emit_number(group->intervals > 0 ? s->level : (double)NAN);
}

/* ---- limits ---- */

static const struct score *find_limit(const char *name, size_t length, bool in_points)
{
    for (size_t i = 0; i < SCORES; i++) {
        const struct score *const score = &scores_table[i];
        if (score->limit != NULL && applies(score, in_points) &&
            (length == 0 || (strlen(score->limit) == length &&
                             strncmp(score->limit, name, length) == 0)))
            return score;
    }
    return NULL;
}

static bool refuse_limit(const char *text, size_t length, bool in_points, struct problem *problem)
{
    struct problem names = { "" };
    for (size_t i = 0; i < SCORES; i++) {
        const struct problem before = names;
        if (scores_table[i].limit != NULL && applies(&scores_table[i], in_points))
            (void)problem_set(&names, "%.200s%s%s", before.text, *before.text != '\0' ? ", " : "",
                              scores_table[i].limit);
    }
    return problem_set(problem, "--fail-above: expected a limit of one of %s, got '%.*s'",
                       names.text, length < 60 ? (int)length : 60, text);
}

bool score_limit_parse(const char *text, bool in_points, struct score_limit *limit,
                       struct problem *problem)
{
    const char *const equals = strchr(text, '=');
    const size_t name = equals != NULL ? (size_t)(equals - text) : 0;
    const char *const number = equals != NULL ? equals + 1 : text;
    size_t length = strlen(number);
    struct sc_quantity quantity;
    if (equals == text)
        return refuse_limit(text, strlen(text), in_points, problem);
    const struct score *const score = find_limit(text, name, in_points);
    if (score == NULL)
        return refuse_limit(text, name, in_points, problem);
    if (length > 0 && number[length - 1] == '%' && strcmp(score->unit, " %") == 0)
        length--;
    if (sc_units_parse(number, length, SC_NUMBER, NULL, '.', &quantity) != SC_UNITS_OK ||
        !(quantity.value >= 0.0))
        return problem_set(problem, "--fail-above: expected a number not below 0%s%s, got '%.40s'",
                           *score->unit != '\0' ? ", of" : "", score->unit, number);
    *limit = (struct score_limit){ (size_t)(score - scores_table), quantity.value, text };
    return true;
}

bool score_limit_keeps(const struct score_limit *limit, const struct group_score *group,
                       struct problem *problem)
{
    const struct score *const score = &scores_table[limit->score];
    const char *const words = score->words != NULL ? score->words : "share outside the interval";
    const double value = score_value(score, group);
    char is[SC_NUMBER_MAX], most[SC_NUMBER_MAX];
    if (isnan(value))
        return problem_set(problem, "--fail-above %s: no row has an interval", limit->text);
    (void)sc_number_format(is, value, 6);
    (void)sc_number_format(most, limit->most, 6);
    return value <= limit->most || problem_set(problem, "%s %s%s is above %s%s", words, is,
                                               score->unit, most, score->unit);
}
