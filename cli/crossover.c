/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "crossover.h"

#include <math.h>
#include <stdlib.h>

#include "root.h"

/* A difference of log metrics that is no slope any more across a place that is known. */
static const double jump_least = 1e-6;
/* Share of a stretch next to its end: what is a tie at that end may be told apart only here. */
static const double end_share = 1e-5;
enum { DEPTH_MAX = 64 };

struct search {
    const struct contest *contest;
    const struct stretch *stretch; /* or part of it */
    size_t from, to;
};

static void set_key(const struct stretch *stretch, double value)
{
    stretch->settings[stretch->key].value = value;
}

static void answer_both(const struct search *search, double value, struct standing *from,
                        struct standing *to)
{
    const struct stretch *stretch = search->stretch;
    set_key(stretch, value);
    contest_answer(search->contest, search->from, stretch->settings, stretch->count, from);
    contest_answer(search->contest, search->to, stretch->settings, stretch->count, to);
}

/* Above 0 where `to` is ahead; NaN where one of them has no answer. */
static double lead(const struct search *search, double value)
{
    struct standing from, to;
    answer_both(search, value, &from, &to);
    return isnan(from.value) || isnan(to.value) ? (double)NAN
                                                : standing_behind(search->contest, &from, &to);
}

static bool is_tie(const struct search *search, double value)
{
    struct standing from, to;
    answer_both(search, value, &from, &to);
    return standing_ties(&from, &to);
}

static double lead_at(void *context, double value)
{
    return lead(context, value);
}

/* low and high move together, until `from` is ahead at one and `to` at the other. */
static bool narrow(struct search *search, bool whole, double *low, double *high)
{
    const struct root root = { .value = lead_at, .context = search };
    return (whole ? root_narrow_whole : root_narrow)(&root, low, high);
}

/* First in the ranking at a value of the key; false: none has an answer. */
static bool find_winner(const struct contest *contest, const struct stretch *stretch, double value,
                        size_t *winner, struct problem *problem)
{
    size_t answered;
    set_key(stretch, value);
    if (!contest_rank(contest, stretch->settings, stretch->count, false, stretch->scratch,
                      &answered, problem))
        return false;
    *winner = stretch->scratch[0].row;
    return answered > 0 || problem_set(problem, "%s", stretch->scratch[0].problem.text);
}

/* The end of the stretch, where both are equal there and the place is that near to it, as a
 * share of the stretch. */
static double end_or(const struct search *search, double place, double near)
{
    const double low = search->stretch->ends[0], high = search->stretch->ends[1];
    const bool logarithmic = low > 0.0 && high > 0.0;
    const double width = fabs(logarithmic ? log(high / low) : high - low);
    for (size_t i = 0; i < 2; i++) {
        const double end = search->stretch->ends[i];
        const double away = fabs(logarithmic ? log(place / end) : place - end);
        if (away <= near * width && is_tie(search, end))
            return end;
    }
    return place;
}

static bool add_change(struct search *search, double low, double high, struct changes *changes,
                       struct problem *problem)
{
    if (changes->count == changes->capacity) {
        const size_t capacity = changes->capacity == 0 ? 16 : 2 * changes->capacity;
        struct change *items = realloc(changes->items, capacity * sizeof *items);
        if (items == NULL)
            return problem_set(problem, "out of memory");
        changes->items = items;
        changes->capacity = capacity;
    }
    const struct stretch *stretch = search->stretch;
    const bool whole = stretch->settings[stretch->key].field->kind == SC_INTEGER;
    /* Where one of them is nothing at the end, any gap next to it is a whole one. */
    const bool leaps = !whole && fabs(lead(search, high) - lead(search, low)) > jump_least;
    const double near = leaps ? root_narrow_enough : end_share;
    const double place = whole ? high : end_or(search, high, near);
    const bool jumps = leaps && place == high;
    changes->items[changes->count++] =
        (struct change){ .point = stretch->point, .value = place, .from = search->from,
                         .to = search->to, .kind = jumps ? CHANGE_JUMP : CHANGE_CROSSOVER };
    return true;
}

static bool find(const struct contest *contest, const struct stretch *stretch, int depth,
                 struct changes *changes, struct problem *problem);

/* Down to DEPTH_MAX. */
// NOLINTBEGIN(misc-no-recursion)
/* The part of a stretch between two values with other winners. */
static bool find_in_part(const struct contest *contest, const struct stretch *stretch, double low,
                         size_t first, double high, size_t last, int depth,
                         struct changes *changes, struct problem *problem)
{
    struct stretch part = *stretch;
    part.low = low;
    part.high = high;
    part.first = first;
    part.last = last;
    return find(contest, &part, depth, changes, problem);
}

/* Where the winners of both ends are equal, a third may be ahead of both: then it
 * has two changes of its own. */
static bool find(const struct contest *contest, const struct stretch *stretch, int depth,
                 struct changes *changes, struct problem *problem)
{
    struct search search = { .contest = contest, .stretch = stretch, .from = stretch->first,
                             .to = stretch->last };
    double low = stretch->low, high = stretch->high;
    if (stretch->first == stretch->last)
        return true;
    const bool whole = stretch->settings[stretch->key].field->kind == SC_INTEGER;
    const bool straddles = lead(&search, low) <= 0.0 && lead(&search, high) > 0.0;
    if (depth == 0 || !straddles || !narrow(&search, whole, &low, &high))
        return problem_set(problem, "an answer in between is missing");
    size_t before, after;
    if (!find_winner(contest, stretch, low, &before, problem) ||
        !find_winner(contest, stretch, high, &after, problem))
        return false;
    /* Which of the two it is has just been settled. */
    before = before == search.to ? search.from : before;
    after = after == search.from ? search.to : after;
    if (!find_in_part(contest, stretch, stretch->low, stretch->first, low, before, depth - 1,
                      changes, problem))
        return false;
    search.from = before;
    search.to = after;
    if (before != after && !add_change(&search, low, high, changes, problem))
        return false;
    return find_in_part(contest, stretch, high, after, stretch->high, stretch->last, depth - 1,
                        changes, problem);
}
// NOLINTEND(misc-no-recursion)

bool crossover_find(const struct contest *contest, const struct stretch *stretch,
                    struct changes *changes, struct problem *problem)
{
    const struct setting key = stretch->settings[stretch->key];
    struct stretch whole = *stretch;
    whole.ends[0] = stretch->low;
    whole.ends[1] = stretch->high;
    const bool fine = find(contest, &whole, DEPTH_MAX, changes, problem);
    stretch->settings[stretch->key] = key;
    return fine;
}
