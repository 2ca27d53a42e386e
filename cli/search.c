/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search.h"

#include <math.h>
#include <stdlib.h>

#include "number.h"
#include "root.h"

enum { HUNT_STEPS = 40 };
/* A range spans less than this factor: its points are spaced evenly, not by factors. */
static const double narrow_range = 8.0;
/* From 0 the logarithmic part of a grid starts at this share of the other end. */
static const double log_floor = 1e-9;
/* A margin nearly changes its sign where it is so many times less than what it moves by
 * from point to point. */
static const double near_enough = 2.0;
/* Golden section: Kiefer, Proc. AMS 4 (1953). */
static const double golden = 0.61803398874989485;

struct point {
    double value, margins[SEARCH_SIDES];
};

struct points {
    struct point *items;
    size_t count, capacity;
};

/* ---- the grid ---- */

static int compare_values(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double on_axis(const struct search_axis *axis, double value)
{
    if (axis->whole)
        value = round(value);
    return fmin(axis->high, fmax(axis->low, value));
}

static size_t add_even(const struct search_axis *axis, size_t points, double *values)
{
    for (size_t i = 0; i < points; i++) {
        const double t = (double)i / (double)(points - 1);
        values[i] = on_axis(axis, i + 1 == points ? axis->high
                                                  : axis->low + t * (axis->high - axis->low));
    }
    return points;
}

/* From low to high by factors, both above 0, on the side of the sign. */
static size_t add_factors(const struct search_axis *axis, double low, double high, double sign,
                          size_t points, double *values)
{
    for (size_t i = 0; i < points; i++) {
        const double t = (double)i / (double)(points - 1);
        values[i] = on_axis(axis, sign * (i == 0            ? low
                                          : i + 1 == points ? high
                                                            : low * pow(high / low, t)));
    }
    return points;
}

static size_t add_octaves(const struct search_axis *axis, size_t most, double *values)
{
    size_t count = 0;
    double value = axis->octave * exp2(ceil(log2(axis->low / axis->octave) - 1e-9));
    for (; value <= axis->high && count < most; value *= 2.0)
        values[count++] = value;
    return count;
}

static size_t fill_grid(const struct search_axis *axis, size_t points, double *values)
{
    const double low = axis->low, high = axis->high;
    if (axis->octave > 0.0)
        return add_octaves(axis, 3 * points, values);
    if (axis->whole && high - low < (double)points)
        return add_even(axis, (size_t)(high - low) + 1 > 1 ? (size_t)(high - low) + 1 : 2, values);
    if (low > 0.0)
        return high / low < narrow_range ? add_even(axis, points, values)
                                         : add_factors(axis, low, high, 1.0, points, values);
    size_t count = add_even(axis, points, values);
    if (high > 0.0)
        count += add_factors(axis, axis->whole ? 1.0 : log_floor * high, high, 1.0, points,
                             values + count);
    if (low < 0.0)
        count += add_factors(axis, axis->whole ? 1.0 : -log_floor * low, -low, -1.0, points,
                             values + count);
    return count;
}

bool search_grid(const struct search_axis *axis, size_t points, double **values, size_t *count,
                 struct problem *problem)
{
    *values = calloc(3 * points + 2, sizeof **values);
    *count = 0;
    if (*values == NULL)
        return problem_set(problem, "out of memory");
    const size_t all = fill_grid(axis, points, *values);
    qsort(*values, all, sizeof **values, compare_values);
    for (size_t i = 0; i < all; i++)
        if (*count == 0 || (*values)[i] > (*values)[*count - 1])
            (*values)[(*count)++] = (*values)[i];
    return true;
}

/* ---- what is between the points ---- */

static bool add_point(const struct search *search, double value, struct points *points,
                      struct problem *problem)
{
    if (points->count == points->capacity) {
        const size_t capacity = points->capacity == 0 ? 64 : 2 * points->capacity;
        struct point *items = realloc(points->items, capacity * sizeof *items);
        if (items == NULL)
            return problem_set(problem, "out of memory");
        points->items = items;
        points->capacity = capacity;
    }
    struct point *point = &points->items[points->count++];
    *point = (struct point){ .value = value };
    search->probe(search->context, value, point->margins);
    return true;
}

static int compare_points(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

/* The way to walk between two values, of which neither has another sign. */
static double between(double low, double high, double share)
{
    return low > 0.0 ? low * pow(high / low, share) : low + share * (high - low);
}

static double margin_at(const struct search *search, size_t side, double value)
{
    double margins[SEARCH_SIDES] = { 0 };
    search->probe(search->context, value, margins);
    return margins[side];
}

/* A search for the largest of sign * margin between low and high. */
struct hunt {
    const struct search *search;
    size_t side;
    double sign, low, high;
    double most, best; /* margin and value, so far */
};

static double look_at(struct hunt *hunt, double share)
{
    const double value = on_axis(&hunt->search->axis, between(hunt->low, hunt->high, share));
    const double margin = hunt->sign * margin_at(hunt->search, hunt->side, value);
    if (margin > hunt->most) {
        hunt->most = margin;
        hunt->best = value;
    }
    return isnan(margin) ? -(double)INFINITY : margin;
}

/* Golden section until it is above 0; the best that was seen, NaN if nothing has an answer. */
static double run_hunt(struct hunt *hunt)
{
    double a = 0.0, b = 1.0, left = 1.0 - golden, right = golden;
    hunt->most = -(double)INFINITY;
    hunt->best = (double)NAN;
    double at_left = look_at(hunt, left), at_right = look_at(hunt, right);
    for (int step = 0; step < HUNT_STEPS && b - a > 1e-6 && !(hunt->most > 0.0); step++) {
        if (at_left >= at_right) {
            b = right;
            right = left;
            at_right = at_left;
            left = b - golden * (b - a);
            at_left = look_at(hunt, left);
        } else {
            a = left;
            left = right;
            at_left = at_right;
            right = a + golden * (b - a);
            at_right = look_at(hunt, right);
        }
    }
    return hunt->best;
}

/* Whether the margin at a point may pass 0 next to it: all three have one sign, and it is
 * nearest to 0 here, by about as much as it moves. */
static bool nearly_turns(double before, double here, double after)
{
    const double sign = here > 0.0 ? 1.0 : -1.0;
    const double left = sign * (before - here), right = sign * (after - here);
    return sign * before > 0.0 && sign * after > 0.0 && left >= 0.0 && right >= 0.0 &&
           left + right > 0.0 && fabs(here) <= near_enough * fmax(left, right);
}

/* The index where most is to spare; `count` if there is no answer at all. */
static size_t find_best(const struct points *points, size_t count, size_t side)
{
    size_t best = count;
    for (size_t i = 0; i < count; i++) {
        const double margin = points->items[i].margins[side];
        if (!isnan(margin) && (best == count || margin > points->items[best].margins[side]))
            best = i;
    }
    return best;
}

/* Whether the margin is the same wherever there is an answer, and there is more than one. */
static bool is_flat(const struct points *points, size_t side)
{
    double first = (double)NAN;
    size_t answers = 0;
    for (size_t i = 0; i < points->count; i++) {
        const double margin = points->items[i].margins[side];
        if (isnan(margin))
            continue;
        if (answers++ == 0)
            first = margin;
        else if (margin < first || margin > first)
            return false;
    }
    return answers > 1;
}

/* Adds points at which some side does what it does at no point of the grid. */
static bool add_turns(const struct search *search, size_t side, size_t count, struct points *points,
                      struct problem *problem)
{
    const size_t best = find_best(points, count, side);
    const bool none = best < count && !(points->items[best].margins[side] > 0.0);
    for (size_t i = 0; i < count; i++) {
        const struct point *here = &points->items[i];
        const struct point *before = i > 0 ? here - 1 : here;
        const struct point *after = i + 1 < count ? here + 1 : here;
        const double margin = here->margins[side];
        const bool inner = before < here && after > here;
        if (!(none && i == best) &&
            !(inner && nearly_turns(before->margins[side], margin, after->margins[side])))
            continue;
        struct hunt hunt = { .search = search, .side = side, .sign = margin > 0.0 ? -1.0 : 1.0,
                             .low = before->value, .high = after->value };
        const double value = run_hunt(&hunt);
        if (!isnan(value) && !add_point(search, value, points, problem))
            return false;
    }
    return true;
}

static bool look(const struct search *search, struct points *points, struct problem *problem)
{
    double *values = NULL;
    size_t count = 0;
    bool fine = search_grid(&search->axis, search->points, &values, &count, problem);
    for (size_t i = 0; fine && i < count; i++)
        fine = add_point(search, values[i], points, problem);
    free(values);
    const bool full = search->axis.octave > 0.0 ||
                      (search->axis.whole &&
                       search->axis.high - search->axis.low < (double)search->points);
    for (size_t side = 0; fine && !full && side < search->sides; side++)
        fine = add_turns(search, side, count, points, problem);
    if (fine && points->items != NULL)
        qsort(points->items, points->count, sizeof *points->items, compare_points);
    return fine;
}

/* ---- the ends of spans ---- */

struct side {
    const struct search *search;
    size_t side;
};

/* What has no answer does not hold. */
static double sign_at(void *context, double value)
{
    const struct side *side = context;
    const double margin = margin_at(side->search, side->side, value);
    return isfinite(margin) ? margin : -1.0;
}

/* The value of SEARCH_DIGITS digits next to `value`, at which the conditions hold, in the
 * direction in which they do; `value` itself where they hold at none. */
static double tidy(struct side *side, double value, double inward)
{
    const struct search_axis *axis = &side->search->axis;
    if (axis->whole || value == 0.0)
        return value;
    const double step = inward * pow(10.0, floor(log10(fabs(value))) - (SEARCH_DIGITS - 1));
    for (int k = 0; k < 3; k++) {
        const double rounded = sc_number_rounded(value + k * step, SEARCH_DIGITS);
        if (rounded >= axis->low && rounded <= axis->high && sign_at(side, rounded) > 0.0)
            return rounded;
    }
    return value;
}

/* The value with SEARCH_DIGITS digits, where that has an answer. */
static double brief(const struct side *side, double value)
{
    const struct search_axis *axis = &side->search->axis;
    const double rounded = sc_number_rounded(value, SEARCH_DIGITS);
    const bool fits = !axis->whole && !(axis->octave > 0.0) && rounded >= axis->low &&
                      rounded <= axis->high;
    return fits && isfinite(margin_at(side->search, side->side, rounded)) ? rounded : value;
}

/* The last value at which the conditions hold, on the way to one where they do not. */
static double find_end(struct side *side, double holds, double fails)
{
    const struct root root = { .value = sign_at, .context = side };
    const struct search_axis *axis = &side->search->axis;
    double last = holds;
    if (axis->octave > 0.0)
        return holds;
    if (axis->whole)
        (void)root_narrow_whole(&root, &last, &fails);
    else if (root_narrow(&root, &last, &fails))
        last = tidy(side, last, holds > fails ? 1.0 : -1.0);
    return last;
}

static bool add_span(struct search_spans *spans, struct search_span span, struct problem *problem)
{
    if (spans->count == spans->capacity) {
        const size_t capacity = spans->capacity == 0 ? 4 : 2 * spans->capacity;
        struct search_span *items = realloc(spans->items, capacity * sizeof *items);
        if (items == NULL)
            return problem_set(problem, "out of memory");
        spans->items = items;
        spans->capacity = capacity;
    }
    spans->items[spans->count++] = span;
    return true;
}

/* Beyond a point at which they hold, to its neighbour on that side, if it has one. */
static double end_beyond(struct side *side, const struct points *points, size_t i, bool up)
{
    const struct point *items = points->items;
    if (up ? i + 1 == points->count : i == 0)
        return items[i].value;
    return find_end(side, items[i].value, items[up ? i + 1 : i - 1].value);
}

/* Values without an answer between two at which the conditions hold part nothing. */
static bool find_spans(struct side *side, const struct points *points, struct search_spans *spans,
                       struct problem *problem)
{
    struct search_span span = { 0 };
    bool held = false, fine = true, any = false;
    size_t last = 0; /* with an answer */
    for (size_t i = 0; fine && i < points->count; i++) {
        const double margin = points->items[i].margins[side->side];
        if (isnan(margin))
            continue;
        if (margin > 0.0 && !held) {
            span.low = end_beyond(side, points, i, false);
            span.low_is_end = !any;
        } else if (held && !(margin > 0.0)) {
            span.high = end_beyond(side, points, last, true);
            span.high_is_end = false;
            fine = add_span(spans, span, problem);
        }
        held = margin > 0.0;
        any = true;
        last = i;
    }
    if (!fine || !held)
        return fine;
    span.high = end_beyond(side, points, last, true);
    span.high_is_end = true;
    return add_span(spans, span, problem);
}

bool search_run(const struct search *search, struct search_spans *spans, struct problem *problem)
{
    struct points points = { 0 };
    for (size_t i = 0; i < search->sides; i++)
        spans[i] = (struct search_spans){ .best = (double)NAN, .best_margin = (double)NAN };
    bool fine = look(search, &points, problem);
    for (size_t i = 0; fine && i < search->sides; i++) {
        struct side side = { .search = search, .side = i };
        const size_t best = find_best(&points, points.count, i);
        if (best < points.count) {
            spans[i].best = brief(&side, points.items[best].value);
            spans[i].best_margin = margin_at(search, i, spans[i].best);
        }
        spans[i].flat = is_flat(&points, i);
        fine = find_spans(&side, &points, &spans[i], problem);
    }
    free(points.items);
    return fine;
}

void search_fini(struct search_spans *spans, size_t sides)
{
    for (size_t i = 0; i < sides; i++)
        free(spans[i].items);
}
