/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "comparison.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check_counters.h"
#include "text.h"
#include "tune.h"

/* ---- one row ---- */

static const char *text_metric(const struct sc_system *system, const char *column,
                               const void *answer)
{
    const struct sc_metric *const metric = sc_system_metric(system, column);
    const char *text = NULL;
    if (metric != NULL && metric->text)
        memcpy(&text, (const unsigned char *)answer + metric->offset, sizeof text);
    return text;
}

/* What goes with slowdown, or with its reciprocal, has its interval. */
static void scale_interval(const struct comparison *c, const struct judged_answer *answer,
                           struct compared_row *row)
{
    const struct sc_system *const system = resolver_system(c->observed->rows.resolver);
    const int power = c->observed->metric->slowdown_power;
    double slowdown;
    memcpy(&slowdown, answer->answer + system->metrics[0].offset, sizeof slowdown);
    if (power == 0 || isnan(answer->slowdown_lo) || !(slowdown > 0.0))
        return;
    const double lower = answer->slowdown_lo / slowdown, upper = answer->slowdown_hi / slowdown;
    row->low = power > 0 ? row->predicted * lower : row->predicted / upper;
    row->high = power > 0 ? row->predicted * upper : row->predicted / lower;
}

/* The reason becomes the row's. */
static bool make_bad(struct compared_row *row, const char *reason)
{
    row->standing = STANDING_BAD;
    row->owned = strdup(reason);
    row->reason = row->owned;
    return row->owned != NULL;
}

/* False: no memory. */
static bool predict(struct comparison *c, const struct calibration *calibration,
                    struct compared_row *row)
{
    const struct sc_system *const system = resolver_system(c->observed->rows.resolver);
    struct judged_answer answer;
    struct sc_error error;
    struct problem problem;
    const enum sc_status status =
        system->estimate(row->row->scenario, answer.answer, NULL, &error);
    if (status != SC_OK) {
        if (row->standing == STANDING_BAD)
            return true;
        scenario_describe_error(system, status, &error, &problem);
        (void)rows_place(&c->observed->rows, row->row->line, NULL, &problem);
        return make_bad(row, problem.text);
    }
    calibration_judge(calibration, row->row->scenario, &answer);
    extrapolation_add(&c->extrapolation, calibration, row->row->scenario, &answer);
    const double predicted = observed_value(c->observed, answer.answer);
    row->predicted = isfinite(predicted) ? predicted : (double)NAN;
    row->bound = text_metric(system, "bound", answer.answer);
    scale_interval(c, &answer, row);
    return true;
}

static const char *why_not_counted(const struct comparison *c, const struct compared_row *row)
{
    const char *const told = row->row->not_counted;
    if (told != NULL && !(told == observed_zero && c->in_points))
        return told;
    if (isnan(row->predicted))
        return "the closed form has no such answer";
    return c->in_points || row->predicted > 0.0 ? NULL : "ratios need a prediction above 0";
}

static void judge_one_sided(struct compared_row *row)
{
    const bool at_least = row->row->kind == OBSERVED_AT_LEAST;
    row->standing = STANDING_ONE_SIDED;
    row->met = at_least ? row->predicted >= row->row->measured
                        : row->predicted <= row->row->measured;
    row->reason = at_least ? row->met ? "measured: at least that, and so is predicted"
                                      : "measured: at least that, and predicted is below"
                  : row->met ? "measured: at most that, and so is predicted"
                             : "measured: at most that, and predicted is above";
}

/* No error where the prediction is on the side on which the measurement is known to be. */
static void judge(const struct comparison *c, struct compared_row *row)
{
    const double measured = row->row->measured;
    const char *const reason = why_not_counted(c, row);
    if (row->standing == STANDING_BAD)
        return;
    row->reason = reason;
    row->standing = reason != NULL ? STANDING_NOT_COUNTED : STANDING_COUNTED;
    if (reason == NULL && row->row->kind != OBSERVED_EXACT)
        judge_one_sided(row);
    if (isnan(measured) || isnan(row->predicted) || row->met)
        return;
    if (c->in_points) {
        row->error = row->predicted - measured;
    } else if (measured > 0.0 && row->predicted > 0.0) {
        row->ratio = row->predicted / measured;
        row->error = row->ratio - 1.0;
    }
}

static bool check_counters(const struct counter_checks *checks, struct compared_row *row,
                           struct text *failed)
{
    text_clear(failed);
    counter_checks_row(checks, row->row->cells, row->row->cell_count, failed);
    if (failed->failed)
        return false;
    row->failed_checks = failed->length > 0 ? strdup(failed->bytes) : NULL;
    return failed->length == 0 || row->failed_checks != NULL;
}

static bool compare_row(struct comparison *c, const struct calibration *calibration,
                        const struct observed_row *observed, struct compared_row *row)
{
    *row = (struct compared_row){ .row = observed, .predicted = (double)NAN, .low = (double)NAN,
                                  .high = (double)NAN, .ratio = (double)NAN,
                                  .error = (double)NAN };
    if (observed->bad != NULL) {
        row->standing = STANDING_BAD;
        row->reason = observed->bad;
    }
    if (observed->scenario != NULL && !predict(c, calibration, row))
        return false;
    judge(c, row);
    c->has_intervals = c->has_intervals || !isnan(row->low);
    c->standings[row->standing]++;
    return true;
}

bool comparison_make(struct comparison *c, const struct observed *observed,
                     const struct calibration *calibration, struct problem *problem)
{
    const struct sc_metric *const metric = observed->metric;
    struct text failed = { 0 };
    *c = (struct comparison){ .observed = observed,
                              .in_points = sc_tune_is_plain(metric),
                              .level = calibration != NULL ? calibration->level : (double)NAN };
    struct counter_checks *const checks = counter_checks_create(&observed->rows, problem);
    if (checks == NULL)
        return false;
    c->rows = calloc(observed->count + 1, sizeof *c->rows);
    bool fine = c->rows != NULL;
    for (size_t i = 0; fine && i < observed->count; i++) {
        c->count++;
        fine = compare_row(c, calibration, &observed->items[i], &c->rows[i]) &&
               check_counters(checks, &c->rows[i], &failed);
    }
    text_fini(&failed);
    counter_checks_destroy(checks);
    return fine || problem_set(problem, "out of memory");
}

void comparison_fini(struct comparison *c)
{
    for (size_t i = 0; i < c->count; i++) {
        free(c->rows[i].owned);
        free(c->rows[i].failed_checks);
    }
    free(c->rows);
    *c = (struct comparison){ 0 };
}

bool comparison_has_inside(const struct compared_row *row)
{
    return row->row->kind == OBSERVED_EXACT && !isnan(row->low) && !isnan(row->row->measured);
}

bool comparison_inside(const struct compared_row *row)
{
    return row->low <= row->row->measured && row->row->measured <= row->high;
}

/* ---- order and likeness ---- */

struct place {
    enum standing standing;
    double distance;
    size_t index;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *const p = a, *const q = b;
    if (p->standing != q->standing)
        return p->standing < q->standing ? -1 : 1;
    if (p->distance > q->distance || p->distance < q->distance)
        return p->distance > q->distance ? -1 : 1;
    return (p->index > q->index) - (p->index < q->index);
}

bool comparison_order(const struct comparison *c, size_t *order)
{
    struct place *const places = calloc(c->count + 1, sizeof *places);
    if (places == NULL)
        return false;
    for (size_t i = 0; i < c->count; i++) {
        const struct compared_row *const row = &c->rows[i];
        const double distance = c->in_points ? fabs(row->error) : fabs(log(row->ratio));
        places[i] = (struct place){ row->standing,
                                    row->standing == STANDING_COUNTED ? distance : 0.0, i };
        /* Behind what counts there is one group, as in the file, and then bad rows. */
        if (row->standing == STANDING_NOT_COUNTED)
            places[i].standing = STANDING_ONE_SIDED;
    }
    qsort(places, c->count, sizeof *places, compare_places);
    for (size_t i = 0; i < c->count; i++)
        order[i] = places[i].index;
    free(places);
    return true;
}

struct likeness {
    size_t class, index;
    const char *text;
};

static int compare_likeness(const void *a, const void *b)
{
    const struct likeness *const p = a, *const q = b;
    const int text = p->class == q->class ? strcmp(p->text, q->text) : 0;
    if (text != 0)
        return text;
    if (p->class != q->class)
        return p->class < q->class ? -1 : 1;
    return (p->index > q->index) - (p->index < q->index);
}

size_t comparison_split(const struct comparison *c, size_t column, size_t *classes)
{
    struct likeness *const sorted = calloc(c->count + 1, sizeof *sorted);
    size_t count = 0;
    if (sorted == NULL)
        return 0;
    for (size_t i = 0; i < c->count; i++) {
        const struct observed_row *const row = c->rows[i].row;
        sorted[i] = (struct likeness){ classes[i], i,
                                       column < row->cell_count ? row->cells[column].text : "" };
    }
    qsort(sorted, c->count, sizeof *sorted, compare_likeness);
    for (size_t i = 0, first = 0; i < c->count; i++) {
        if (i == 0 || sorted[i].class != sorted[i - 1].class ||
            strcmp(sorted[i].text, sorted[i - 1].text) != 0) {
            first = sorted[i].index;
            count++;
        }
        classes[sorted[i].index] = first;
    }
    free(sorted);
    return count;
}
