/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "solving.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metric.h"
#include "number.h"
#include "ranking.h"

/* ---- conditions ---- */

struct operator_row {
    const char *text;
    bool below, strict;
};

/* Longer ones first. */
static const struct operator_row operators[] = {
    { "<=", true, false }, { ">=", false, false }, { "<", true, true }, { ">", false, true },
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

static void trim(const char **text, size_t *length)
{
    while (*length > 0 && is_blank(**text)) {
        (*text)++;
        (*length)--;
    }
    while (*length > 0 && is_blank((*text)[*length - 1]))
        (*length)--;
}

static const struct operator_row *operator_at(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        const size_t size = strlen(operators[i].text);
        if (size <= length && memcmp(operators[i].text, text, size) == 0)
            return &operators[i];
    }
    return NULL;
}

/* The first operator in the text, or `length`. */
static size_t find_operator(const char *text, size_t length)
{
    size_t at = 0;
    while (at < length && operator_at(text + at, length - at) == NULL)
        at++;
    return at;
}

/* "METRIC OP X" */
static bool parse_condition(const struct metrics *metrics, const char *text, size_t length,
                            struct condition *condition, struct problem *problem)
{
    char name[64];
    const size_t at = find_operator(text, length);
    if (at == length)
        return problem_set(problem, "expected METRIC, one of <= >= < >, and a value");
    const struct operator_row *operator = operator_at(text + at, length - at);
    const char *value = text + at + strlen(operator->text);
    size_t value_length = length - (size_t)(value - text), name_length = at;
    trim(&text, &name_length);
    trim(&value, &value_length);
    if (find_operator(value, value_length) < value_length)
        return problem_set(problem, "expected one of <= >= < > once: conditions are joined by "
                                    "`and`");
    if (name_length == 0 || name_length >= sizeof name || strchr("0123456789.-+", *text) != NULL)
        return problem_set(problem, "expected a metric before %s", operator->text);
    memcpy(name, text, name_length);
    name[name_length] = '\0';
    const struct sc_metric *metric = metrics_find(metrics, "", name, problem);
    if (metric == NULL)
        return false;
    *condition = (struct condition){ .metric = metric, .below = operator->below,
                                     .strict = operator->strict,
                                     .paced = calibration_pace(metrics->system, metric) != 0 };
    return quantity_parse(metric->dimension, value, value_length, &condition->limit, problem);
}

/* Where the next word `and` begins, or the end. */
static size_t find_and(const char *text)
{
    for (size_t i = 0; text[i] != '\0'; i++)
        if ((i == 0 || is_blank(text[i - 1])) && strncmp(text + i, "and", 3) == 0 &&
            (is_blank(text[i + 3]) || text[i + 3] == '\0'))
            return i;
    return strlen(text);
}

static bool contradict(const struct condition *a, const struct condition *b)
{
    if (a->metric != b->metric || a->below == b->below)
        return false;
    const double most = a->below ? a->limit : b->limit, least = a->below ? b->limit : a->limit;
    return least > most || (least == most && (a->strict || b->strict));
}

/* "--until: TEXT: " before what it says. */
static bool name_condition(const char *text, size_t length, struct problem *problem)
{
    const struct problem inner = *problem;
    return problem_set(problem, "--until: %.*s: %s", (int)(length < 80 ? length : 80), text,
                       inner.text);
}

bool conditions_parse(const struct sc_system *system, const struct calibration *calibration,
                      const char *text, struct conditions *conditions, struct problem *problem)
{
    const struct metrics metrics = { system, calibration };
    conditions->count = 0;
    for (;;) {
        const char *one = text;
        size_t length = find_and(text);
        const bool last = text[length] == '\0';
        text += length + (last ? 0 : sizeof "and" - 1);
        trim(&one, &length);
        struct condition *condition = &conditions->items[conditions->count];
        if (conditions->count == CONDITIONS_MAX)
            return problem_set(problem, "--until: more than %d conditions", (int)CONDITIONS_MAX);
        if (length == 0 && last && conditions->count == 0)
            return problem_set(problem, "--until: expected METRIC, one of <= >= < >, and a value");
        if (length == 0)
            return problem_set(problem, "--until: expected a condition on either side of `and`");
        if (!parse_condition(&metrics, one, length, condition, problem))
            return name_condition(one, length, problem);
        for (size_t i = 0; i < conditions->count; i++)
            if (contradict(&conditions->items[i], condition))
                return problem_set(problem, "--until: %.*s: no %s can meet this and the condition "
                                            "before", (int)(length < 80 ? length : 80), one,
                                   condition->metric->column);
        conditions->count++;
        if (last)
            return true;
    }
}

bool conditions_paced(const struct conditions *conditions, bool all)
{
    size_t paced = 0;
    for (size_t i = 0; i < conditions->count; i++)
        paced += conditions->items[i].paced;
    return all ? paced == conditions->count : paced > 0;
}

/* Above 0 where it holds, by about that share of the metric; never 0. */
static double margin_of(const struct condition *condition, double value)
{
    const double gap = condition->below ? ranking_gap(condition->limit, value)
                                        : ranking_gap(value, condition->limit);
    if (fabs(gap) <= ranking_tie)
        return condition->strict ? -DBL_MIN : DBL_MIN;
    return gap;
}

/* ---- one scenario ---- */

static bool build(const struct solving *s, double value, void *scenario, struct problem *problem)
{
    s->settings[s->count - 1].value = value;
    return resolver_build(s->resolver, s->settings, s->count, scenario, problem);
}

bool solving_answer(const struct solving *s, double value, void *scenario,
                    struct judged_answer *answer, struct problem *problem)
{
    struct sc_error error;
    if (!build(s, value, scenario, problem))
        return false;
    const enum sc_status status = s->system->estimate(scenario, answer->answer, NULL, &error);
    if (status != SC_OK)
        scenario_describe_error(s->system, status, &error, problem);
    else
        calibration_judge(s->calibration, scenario, answer);
    return status == SC_OK;
}

static double value_of(const struct condition *condition, const struct judged_answer *answer)
{
    double value;
    memcpy(&value, (const char *)answer + condition->metric->offset, sizeof value);
    return isfinite(value) ? value : (double)NAN;
}

static bool wants_judgement(const struct conditions *conditions)
{
    for (size_t i = 0; i < conditions->count; i++)
        if (conditions->items[i].metric >= calibration_metrics &&
            conditions->items[i].metric < calibration_metrics + CALIBRATION_METRICS)
            return true;
    return false;
}

static void probe(void *context, double value, double margins[SEARCH_SIDES])
{
    const struct solving *s = context;
    _Alignas(max_align_t) unsigned char scenario[SC_SCENARIO_MAX];
    struct judged_answer answer;
    struct problem problem;
    struct sc_error error;
    for (size_t side = 0; side < SEARCH_SIDES; side++)
        margins[side] = (double)NAN;
    if (!build(s, value, scenario, &problem) ||
        s->system->estimate(scenario, answer.answer, NULL, &error) != SC_OK)
        return;
    if (wants_judgement(s->conditions))
        calibration_judge(s->calibration, scenario, &answer);
    const double width =
        s->calibration != NULL ? exp(calibration_quantile(s->calibration, scenario)) : 1.0;
    double least[SEARCH_SIDES] = { (double)INFINITY, (double)INFINITY, (double)INFINITY };
    for (size_t i = 0; i < s->conditions->count; i++) {
        const struct condition *condition = &s->conditions->items[i];
        const double as_is = value_of(condition, &answer);
        const double factor = !condition->paced ? 1.0 : condition->below ? width : 1.0 / width;
        if (isnan(as_is)) {
            for (size_t side = 0; side < SEARCH_SIDES; side++)
                margins[side] = -(double)INFINITY;
            return;
        }
        least[SEARCH_AS_IS] = fmin(least[SEARCH_AS_IS], margin_of(condition, as_is));
        least[SEARCH_BETTER] = fmin(least[SEARCH_BETTER], margin_of(condition, as_is / factor));
        least[SEARCH_WORSE] = fmin(least[SEARCH_WORSE], margin_of(condition, as_is * factor));
    }
    memcpy(margins, least, sizeof least);
}

/* An end of the range in SI. */
static bool end_of(const struct solving *s, const struct setting *end, double *value,
                   struct problem *problem)
{
    _Alignas(max_align_t) unsigned char scenario[SC_SCENARIO_MAX];
    const struct setting key = s->settings[s->count - 1];
    *value = end->value;
    if (!end->deferred)
        return true;
    s->settings[s->count - 1] = *end;
    const bool fine = resolver_build(s->resolver, s->settings, s->count, scenario, problem);
    s->settings[s->count - 1] = key;
    if (fine)
        *value = fmin(end->field->maximum,
                      fmax(end->field->minimum, sc_field_get(end->field, scenario)));
    return fine;
}

static bool find_octave(const struct solving *s, const struct sc_field *field,
                        struct search_axis *axis, struct problem *problem)
{
    _Alignas(max_align_t) unsigned char scenario[SC_SCENARIO_MAX];
    if (field->octaves_of == NULL)
        return true;
    if (!resolver_build(s->resolver, s->settings, s->count - 1, scenario, problem))
        return false;
    axis->octave = sc_field_get(sc_system_field(s->system, field->octaves_of), scenario);
    return true;
}

bool solving_axis(const struct solving *s, struct search_axis *axis, struct problem *problem)
{
    const struct sc_field *field = s->settings[s->count - 1].field;
    *axis = (struct search_axis){ .whole = field->kind == SC_INTEGER };
    if (!end_of(s, &s->low, &axis->low, problem) || !end_of(s, &s->high, &axis->high, problem))
        return false;
    if (axis->whole) {
        axis->low = ceil(axis->low);
        axis->high = floor(axis->high);
    }
    return find_octave(s, field, axis, problem);
}

bool solving_run(const struct solving *s, size_t sides, struct search_spans *spans,
                 struct problem *problem)
{
    struct solving own = *s;
    struct search search = { .points = s->points, .sides = sides, .probe = probe,
                             .context = &own };
    for (size_t i = 0; i < sides; i++)
        spans[i] = (struct search_spans){ 0 };
    if (!solving_axis(s, &search.axis, problem))
        return false;
    if (search.axis.whole && search.axis.high - search.axis.low < (double)s->whole_points)
        search.points = s->whole_points;
    return search_run(&search, spans, problem);
}

void solving_explain(const struct solving *s, struct problem *problem)
{
    _Alignas(max_align_t) unsigned char scenario[SC_SCENARIO_MAX];
    struct judged_answer answer;
    struct search_axis axis;
    if (!solving_axis(s, &axis, problem))
        return;
    if (!(axis.low <= axis.high))
        (void)problem_set(problem, "--range: expected a whole number in it");
    else
        (void)solving_answer(s, axis.high, scenario, &answer, problem);
}

/* ---- which ends ---- */

static bool add_solution(struct solutions *solutions, struct solution solution,
                         struct problem *problem)
{
    if (solutions->count == solutions->capacity) {
        const size_t capacity = solutions->capacity == 0 ? 16 : 2 * solutions->capacity;
        struct solution *items = realloc(solutions->items, capacity * sizeof *items);
        if (items == NULL)
            return problem_set(problem, "out of memory");
        solutions->items = items;
        solutions->capacity = capacity;
    }
    solutions->items[solutions->count++] = solution;
    return true;
}

/* The same end of another side: of span i of as many, or of the outermost. */
static double end_like(const struct search_spans *spans, bool low, size_t i, size_t count)
{
    if (spans->count == 0)
        return (double)NAN;
    if (spans->count == count)
        return low ? spans->items[i].low : spans->items[i].high;
    if (low && i == 0)
        return spans->items[0].low;
    return !low && i + 1 == count ? spans->items[spans->count - 1].high : (double)NAN;
}

struct ends {
    const struct search_spans *spans;
    size_t sides;
    const struct search_spans *chosen; /* of spans */
};

static bool add_end(const struct ends *ends, size_t i, bool low, struct solutions *solutions,
                    struct problem *problem)
{
    const struct search_span *span = &ends->chosen->items[i];
    const bool is_end = low ? span->low_is_end : span->high_is_end;
    struct solution solution = {
        .crossing = is_end ? CROSSING_LIMIT : low ? CROSSING_FROM : CROSSING_TO,
        .value = low ? span->low : span->high, .low = (double)NAN, .high = (double)NAN,
    };
    if (ends->sides == SEARCH_SIDES) {
        const size_t count = ends->chosen->count;
        const double better = end_like(&ends->spans[SEARCH_BETTER], low, i, count);
        const double worse = end_like(&ends->spans[SEARCH_WORSE], low, i, count);
        /* Less is asked for at the better end: it holds from further down, or up to further up. */
        solution.low = low ? better : worse;
        solution.high = low ? worse : better;
    }
    return add_solution(solutions, solution, problem);
}

/* Both ends of each span, or, of a single one, those that are none of the range. */
static bool add_ends(const struct ends *ends, struct solutions *solutions, struct problem *problem)
{
    const bool several = ends->chosen->count > 1;
    for (size_t i = 0; i < ends->chosen->count; i++) {
        const struct search_span *span = &ends->chosen->items[i];
        const bool low = several || !span->low_is_end, high = several || !span->high_is_end;
        if ((low && !add_end(ends, i, true, solutions, problem)) ||
            (high && !add_end(ends, i, false, solutions, problem)))
            return false;
    }
    return true;
}

/* They hold in all of the range: the end with the least to spare. */
static bool add_tighter_end(const struct solving *s, const struct ends *ends,
                            struct solutions *solutions, struct problem *problem)
{
    const struct search_span *span = &ends->chosen->items[0];
    const size_t side = (size_t)(ends->chosen - ends->spans);
    struct solving own = *s;
    double low[SEARCH_SIDES], high[SEARCH_SIDES];
    probe(&own, span->low, low);
    probe(&own, span->high, high);
    return add_end(ends, 0, low[side] <= high[side], solutions, problem);
}

bool solving_ends(const struct solving *s, const struct search_spans *spans, size_t sides,
                  bool worst, enum solving_end wanted, struct solutions *solutions,
                  struct problem *problem)
{
    const struct ends ends = { spans, sides, &spans[worst && sides > 1 ? SEARCH_WORSE
                                                                       : SEARCH_AS_IS] };
    const size_t count = ends.chosen->count, before = solutions->count;
    if (count == 0) {
        const bool near = isfinite(ends.chosen->best_margin);
        return add_solution(solutions,
                            (struct solution){
                                .crossing = isnan(ends.chosen->best) ? CROSSING_ERROR
                                                                     : CROSSING_NONE,
                                .value = near ? ends.chosen->best : (double)NAN,
                                .low = (double)NAN, .high = (double)NAN },
                            problem);
    }
    if (wanted == END_SMALLEST)
        return add_end(&ends, 0, true, solutions, problem);
    if (wanted == END_LARGEST)
        return add_end(&ends, count - 1, false, solutions, problem);
    return add_ends(&ends, solutions, problem) &&
           (solutions->count > before || add_tighter_end(s, &ends, solutions, problem));
}
