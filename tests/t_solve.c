/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search for values at which conditions hold: on functions whose answer is known, and,
 * over scenarios of all systems, against a scan. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hbf_scenarios.h"
#include "solving.h"
#include "tap.h"

/* ---- functions whose answer is known ---- */

typedef double function_of(double x);

static void probe_function(void *context, double value, double margins[SEARCH_SIDES])
{
    function_of *const *f = context;
    margins[SEARCH_AS_IS] = (*f)(value);
}

static struct search_spans run(function_of *f, struct search_axis axis, size_t points)
{
    struct search_spans spans;
    struct problem problem;
    const struct search search = { .axis = axis, .points = points, .sides = 1,
                                   .probe = probe_function, .context = &f };
    if (!search_run(&search, &spans, &problem))
        bail("%s", problem.text);
    return spans;
}

static double from_pi(double x) { return x - 3.14159265358979; }
static double to_pi(double x) { return 3.14159265358979 - x; }
static double step_at_7(double x) { return x >= 7.0 ? 1.0 : -1.0; }
static double sine(double x) { return sin(x) > 0.0 ? sin(x) + 1e-300 : sin(x) - 1e-300; }
static double narrow_dip(double x) { return fabs(x - 50.25) - 0.0078125; }
static double narrow_bump(double x) { return 0.015625 - fabs(x - 50.25); }
static double from_pi_squared(double x) { return x < 0.5 ? (double)NAN : x - 9.8696044; }
static double without_odd(double x) { return fmod(x, 2.0) > 0.0 ? (double)NAN : x - 9.0; }
static double nowhere(double x) { return -1.0 - fabs(x - 41.87654321); }
static double valued_from_pi(double x) { return x < 3.14159265358979 ? -(double)INFINITY : x; }
static double valued_between(double x)
{
    return x < 20.0 || x > 30.0 ? -(double)INFINITY : x > 24.0 && x < 26.0 ? (double)NAN : x;
}
static double never_valued(double x) { return x < 0.0 ? 1.0 : -(double)INFINITY; }
static double no_answer(double x) { return x * (double)NAN; }

static void ends_are(struct search_spans spans, size_t count, const double *ends, const char *name)
{
    bool same = spans.count == count;
    for (size_t i = 0; same && i < count; i++) {
        same = spans.items[i].low == ends[2 * i] && spans.items[i].high == ends[2 * i + 1];
        if (!same)
            note("span %zu: %.17g to %.17g", i, spans.items[i].low, spans.items[i].high);
    }
    ok(same, "%s: %zu spans, want %zu", name, spans.count, count);
    search_fini(&spans, 1);
}

static void test_functions(void)
{
    const struct search_axis to_100 = { .high = 100 }, from_1 = { .low = 1, .high = 1e6 };
    const struct search_axis whole = { .low = 1, .high = 1e9, .whole = true };
    const struct search_axis octaves = { .low = 0.3, .high = 100, .octave = 48 };
    ends_are(run(from_pi, from_1, 64), 1, (double[]){ 3.14160, 1e6 }, "from pi, rounded up");
    ends_are(run(to_pi, from_1, 64), 1, (double[]){ 1, 3.14159 }, "up to pi, rounded down");
    ends_are(run(from_pi, whole, 64), 1, (double[]){ 4, 1e9 }, "whole from pi");
    ends_are(run(to_pi, whole, 64), 1, (double[]){ 1, 3 }, "whole up to pi");
    ends_are(run(from_pi, octaves, 64), 1, (double[]){ 6, 96 }, "octaves of 48 from pi");
    ends_are(run(step_at_7, from_1, 64), 1, (double[]){ 7, 1e6 }, "a jump at a round number");
    ends_are(run(sine, (struct search_axis){ .low = 1, .high = 10 }, 64), 2,
             (double[]){ 1, 3.14159, 6.28319, 9.42477 }, "where a sine is above 0");
    ends_are(run(narrow_dip, to_100, 64), 2, (double[]){ 0, 50.2421, 50.2579, 100 },
             "a dip between points that slopes lead to");
    ends_are(run(narrow_bump, to_100, 64), 1, (double[]){ 50.2344, 50.2656 }, "and a bump");
    struct search_spans valued = run(valued_from_pi, to_100, 64);
    ok(valued.count == 1 && !valued.items[0].low_is_end && valued.items[0].high_is_end,
       "no value is no end of the range");
    ends_are(valued, 1, (double[]){ 3.14160, 100 }, "a value from pi on");
    ends_are(run(valued_between, (struct search_axis){ .low = 1, .high = 100, .whole = true }, 100),
             1, (double[]){ 20, 30 }, "a value in between, and no answer within");
    valued = run(never_valued, to_100, 64);
    ok(valued.count == 0 && !isnan(valued.best) && isinf(valued.best_margin) && valued.flat,
       "a value nowhere");
    search_fini(&valued, 1);
    ends_are(run(from_pi_squared, to_100, 64), 1, (double[]){ 9.86961, 100 }, "no answer at first");
    ends_are(run(without_odd, (struct search_axis){ .low = 1, .high = 20, .whole = true }, 64), 1,
             (double[]){ 10, 20 }, "odd numbers have no answer");
    struct search_spans none = run(nowhere, to_100, 64);
    ok(none.count == 0 && !none.flat, "nowhere");
    near(none.best, 41.8765, 1e-5, 0.0, "the nearest miss");
    search_fini(&none, 1);
    none = run(no_answer, to_100, 64);
    ok(none.count == 0 && isnan(none.best), "no answer at all");
    search_fini(&none, 1);
}

/* ---- scenarios of all systems, against a scan ---- */

enum { SCENARIOS = 200, SCAN = 1500, KEYS = 8, SETTINGS = 5 };

static const struct subject {
    const char *system;
    const char *words[SETTINGS]; /* before the policy; not that of the key */
    const char *keys[KEYS];
    const char *metrics[4];
    size_t share; /* of SCENARIOS, in per cent */
    size_t scan, fine; /* points of the scan, and of a search that misses nothing it sees */
    double noise;  /* relative: a fixed point is good to no more */
    double ripple; /* likewise, on a scale that no scan sees: whole regions of memory */
} subjects[] = {
    { "hbf", { "model=llama-70b" },
      { "buffer", "latency", "hbf_bandwidth", "sshr", "page", "lead", "s0", "batch" },
      { "slowdown", "time_s", "energy_per_token_j", "hbf_utilisation" }, 35, SCAN, 16384,
      1e-11, 1e-11 },
    { "uvm", { "pattern=random", "passes=8", "footprint=24GiB", "memory_capacity=16GiB" },
      { "footprint", "memory_capacity", "migration_rate", "leaf", "hot_share", "fault_rate" },
      { "slowdown", "time_s", "in_bytes", "resident_share" }, 30, SCAN, 16384, 1e-11, 1e-3 },
    { "stream", { "loads=64" },
      { "warps", "latency", "bandwidth", "outstanding", "mshr", "loads", "channels", "sms" },
      { "slowdown", "time_s", "throughput_bytes_per_s", "share_of_peak" }, 30, SCAN, 16384,
      1e-11, 1e-11 },
    { "prefetch", { "kernel=stencil" }, { "distance", "memory_bandwidth", "dram_latency", "warps" },
      { "slowdown", "time_s", "ipc", "coverage" }, 5, 40, 640, 1e-2, 1e-2 },
};

struct machine {
    const struct subject *subject;
    struct solving solving;
    struct conditions conditions;
    struct setting settings[SETTINGS + 2];
};

enum verdict { FAILS, HOLDS, EITHER, NO_ANSWER };

/* Whether the condition holds; either, where the metric is that near to the limit. */
static enum verdict verdict_at(const struct machine *m, double value, double either)
{
    _Alignas(max_align_t) unsigned char scenario[SC_SCENARIO_MAX];
    struct judged_answer answer;
    struct problem problem;
    double metric;
    const struct condition *c = &m->conditions.items[0];
    if (!solving_answer(&m->solving, value, scenario, &answer, &problem))
        return NO_ANSWER;
    memcpy(&metric, (const char *)&answer + c->metric->offset, sizeof metric);
    if (!isfinite(metric))
        return NO_ANSWER;
    if (fabs(metric - c->limit) <= either * fabs(c->limit))
        return EITHER;
    return (c->below ? metric < c->limit : metric > c->limit) ? HOLDS : FAILS;
}

static void add_word(struct machine *m, const char *word)
{
    struct sweep sweep;
    struct problem problem;
    if (!sweep_parse(m->solving.resolver, word, &sweep, &problem))
        bail("%s", problem.text);
    m->settings[m->solving.count++] = sweep.values[0];
    sweep_fini(&sweep);
}

static size_t count_of(const char *const *words, size_t most)
{
    size_t count = 0;
    while (count < most && words[count] != NULL)
        count++;
    return count;
}

static bool sets(const struct sc_system *system, const char *word, const struct sc_field *field)
{
    char key[32] = "";
    memcpy(key, word, strcspn(word, "="));
    return sc_system_field(system, key) == field;
}

/* Another policy, key, range, metric and limit; false: no answer anywhere that was tried. */
static bool draw(struct machine *m)
{
    const struct subject *subject = m->subject;
    struct solving *s = &m->solving;
    const struct sc_field *policy = sc_system_field(s->system, "policy");
    const char *key = subject->keys[random_below(count_of(subject->keys, KEYS))];
    const char *metric = subject->metrics[random_below(count_of(subject->metrics, 4))];
    const struct sc_field *field = sc_system_field(s->system, key);
    s->count = 0;
    for (size_t i = 0; i < SETTINGS && subject->words[i] != NULL; i++)
        if (!sets(s->system, subject->words[i], field))
            add_word(m, subject->words[i]);
    if (policy != NULL)
        m->settings[s->count++] = (struct setting){
            .field = policy, .value = (double)random_below(policy->choice_count) };
    m->settings[s->count++] = (struct setting){ .field = field };
    s->low = (struct setting){ .field = field, .value = field->minimum };
    s->high = (struct setting){ .field = field, .value = field->maximum };
    /* Both what a search in full and what a coarse one sees. */
    if (field->kind == SC_INTEGER && random_unit() < 0.5)
        s->high.value = fmin(field->maximum, 1.0 + (double)random_below(120));
    const struct sc_metric *which = sc_system_metric(s->system, metric);
    m->conditions = (struct conditions){
        .items = { { .metric = which, .below = random_unit() < 0.5 } }, .count = 1 };
    for (int attempt = 0; attempt < 50; attempt++) {
        _Alignas(max_align_t) unsigned char scenario[SC_SCENARIO_MAX];
        struct judged_answer answer;
        struct problem problem;
        double *grid = NULL, limit = 0.0;
        struct search_axis axis;
        size_t count = 0;
        if (!solving_axis(s, &axis, &problem) || !search_grid(&axis, 997, &grid, &count, &problem))
            bail("%s", problem.text);
        const double value = grid[random_below(count)];
        free(grid);
        if (!solving_answer(s, value, scenario, &answer, &problem))
            continue;
        memcpy(&limit, (const char *)&answer + which->offset, sizeof limit);
        m->conditions.items[0].limit = limit;
        return isfinite(limit);
    }
    return false;
}

static bool is_inside(const struct search_spans *spans, double value)
{
    for (size_t i = 0; i < spans->count; i++)
        if (value >= spans->items[i].low && value <= spans->items[i].high)
            return true;
    return false;
}

/* The next value outwards at the resolution of the key. */
static double outwards(const struct search_axis *axis, double value, double way)
{
    if (axis->octave > 0.0)
        return way > 0.0 ? 2.0 * value : 0.5 * value;
    if (axis->whole)
        return value + way;
    return value + way * 1.001 * pow(10.0, floor(log10(fabs(value))) - (SEARCH_DIGITS - 1));
}

static bool end_is_exact(const struct machine *m, const struct search_axis *axis, double value,
                         bool is_end, double way)
{
    const double noise = m->subject->noise;
    const enum verdict here = verdict_at(m, value, noise);
    if (here != HOLDS && here != EITHER)
        return false;
    const double next = outwards(axis, value, way);
    if (value == 0.0 || next < axis->low || next > axis->high)
        return true;
    const enum verdict beyond = verdict_at(m, next, noise);
    return beyond == FAILS || beyond == EITHER ||
           (beyond == NO_ANSWER && (is_end || axis->whole));
}

static size_t count_inexact_ends(const struct machine *m, const struct search_axis *axis,
                                 const struct search_spans *spans)
{
    size_t bad = 0;
    for (size_t i = 0; i < spans->count; i++) {
        const struct search_span *span = &spans->items[i];
        const bool low = end_is_exact(m, axis, span->low, span->low_is_end, -1.0);
        const bool high = end_is_exact(m, axis, span->high, span->high_is_end, 1.0);
        if (!low || !high)
            note("%s %s: %.9g to %.9g of %s: not exact", m->subject->system,
                 m->settings[m->solving.count - 1].field->key, span->low, span->high,
                 m->conditions.items[0].metric->column);
        bad += (size_t)(!low) + (size_t)(!high);
    }
    return bad;
}

/* Values of the scan at which the search and the scan are not of one mind. */
static size_t count_differences(const struct machine *m, const struct search_axis *axis,
                                const struct search_spans *spans)
{
    double *grid = NULL;
    size_t count = 0, differ = 0;
    struct problem problem;
    if (!search_grid(axis, m->subject->scan, &grid, &count, &problem))
        bail("%s", problem.text);
    for (size_t i = 0; i < count; i++) {
        const enum verdict verdict = verdict_at(m, grid[i], m->subject->ripple);
        const bool inside = is_inside(spans, grid[i]);
        differ += verdict == (inside ? FAILS : HOLDS);
    }
    free(grid);
    return differ;
}

/* Whether more points do away with the differences. */
static bool is_found_by_more(struct machine *m, const struct search_axis *axis)
{
    struct search_spans spans;
    struct problem problem;
    const size_t points = m->solving.points;
    m->solving.points = m->subject->fine;
    if (!solving_run(&m->solving, 1, &spans, &problem))
        bail("%s", problem.text);
    const size_t differ = count_differences(m, axis, &spans);
    m->solving.points = points;
    search_fini(&spans, 1);
    if (differ > 0)
        note("%s %s, %s %s %.9g: %zu values differ", m->subject->system,
             m->settings[m->solving.count - 1].field->key,
             m->conditions.items[0].metric->column, m->conditions.items[0].below ? "<=" : ">=",
             m->conditions.items[0].limit, differ);
    return differ == 0;
}

static void test_against_scan(const struct subject *subject, struct catalog *catalog)
{
    static const size_t points = 128;
    struct problem problem;
    struct machine m = { .subject = subject };
    size_t tried = 0, crossings = 0, inexact = 0, missed = 0, wrong = 0;
    m.solving = (struct solving){ .system = sc_system_find(subject->system),
                                  .settings = m.settings, .points = points,
                                  .conditions = &m.conditions };
    m.solving.resolver = resolver_create(m.solving.system, catalog, &problem);
    if (m.solving.resolver == NULL)
        bail("%s", problem.text);
    for (size_t i = 0; i < SCENARIOS * subject->share / 100; i++) {
        struct search_spans spans;
        struct search_axis axis;
        if (!draw(&m))
            continue;
        if (!solving_axis(&m.solving, &axis, &problem) ||
            !solving_run(&m.solving, 1, &spans, &problem))
            bail("%s", problem.text);
        tried++;
        for (size_t k = 0; k < spans.count; k++)
            crossings += (size_t)!spans.items[k].low_is_end + (size_t)!spans.items[k].high_is_end;
        inexact += count_inexact_ends(&m, &axis, &spans);
        if (count_differences(&m, &axis, &spans) > 0) {
            missed++;
            wrong += !is_found_by_more(&m, &axis);
        }
        search_fini(&spans, 1);
    }
    note("%s: %zu scenarios, %zu crossings", subject->system, tried, crossings);
    ok(2 * tried > SCENARIOS * subject->share / 100 && 3 * crossings > tried,
       "%s: scenarios that say something", subject->system);
    is_int((long long)inexact, 0, "%s: ends are exact to the resolution of the key",
           subject->system);
    ok(20 * missed <= tried, "%s: a scan finds the conditions to hold at the same values: not in "
                             "%zu of %zu scenarios", subject->system, missed, tried);
    is_int((long long)wrong, 0, "%s: and there a search with more points does", subject->system);
    resolver_destroy(m.solving.resolver);
}

int main(void)
{
    plan(18 + 4 * 4);
    test_functions();
    struct catalog *catalog = catalog_create(NULL);
    if (catalog == NULL)
        bail("out of memory");
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++)
        test_against_scan(&subjects[i], catalog);
    catalog_destroy(catalog);
    return done();
}
