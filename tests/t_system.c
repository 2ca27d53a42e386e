/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of every system, and the functions that read them.
 *
 * What a table must be like is one check per system and rule; the rows that
 * break it are named. */
#include "hbf.h"
#include "system.h"
#include "stream.h"
#include "tap.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool is_text(const char *text)
{
    return text != NULL && *text != '\0' && *text != ' ' && text[strlen(text) - 1] != ' ';
}

/* A line of help: no full stop at its end. */
static bool is_help(const char *text)
{
    return is_text(text) && text[strlen(text) - 1] != '.' && strchr(text, '\n') == NULL;
}

/* Rules of one row; each says whether the row keeps it. */
typedef bool field_rule(const struct sc_system *system, size_t i);
typedef bool metric_rule(const struct sc_system *system, size_t i);

/* ---- Fields ---- */

static bool answers_to(const struct sc_field *field, const char *word)
{
    return strcmp(field->key, word) == 0 || sc_is_word_of(field->aliases, word);
}

/* The n-th name of a field: its key, then its aliases. */
static bool nth_name(const struct sc_field *field, size_t n, char name[64])
{
    if (n == 0)
        return snprintf(name, 64, "%s", field->key) < 64;
    const char *rest = field->aliases;
    while (rest != NULL && *rest != '\0') {
        const size_t span = strcspn(rest, " ");
        if (--n == 0)
            return snprintf(name, 64, "%.*s", (int)span, rest) < 64;
        rest += span + strspn(rest + span, " ");
    }
    return false;
}

static bool has_names_of_its_own(const struct sc_system *system, size_t i)
{
    char name[64];
    for (size_t n = 0; nth_name(&system->fields[i], n, name); n++) {
        size_t owners = 0;
        for (size_t j = 0; j < system->field_count; j++)
            owners += answers_to(&system->fields[j], name);
        if (owners != 1 || sc_system_field(system, name) != &system->fields[i])
            return false;
        if (strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(name) ||
            name[0] == '\0')
            return false;
    }
    return true;
}

static bool has_a_member_of_its_own(const struct sc_system *system, size_t i)
{
    const struct sc_field *field = &system->fields[i];
    if (field->kind == SC_PRESET)
        return true;
    const size_t size = field->kind == SC_CHOICE ? sizeof(int) : sizeof(double);
    if (field->offset % size != 0 || field->offset + size > system->scenario_size)
        return false;
    for (size_t j = 0; j < system->field_count; j++) {
        const struct sc_field *other = &system->fields[j];
        const size_t other_size = other->kind == SC_CHOICE ? sizeof(int) : sizeof(double);
        if (j != i && other->kind != SC_PRESET && field->offset < other->offset + other_size &&
            other->offset < field->offset + size)
            return false;
    }
    return true;
}

static bool has_a_sound_range(const struct sc_system *system, size_t i)
{
    const struct sc_field *f = &system->fields[i];
    if (f->kind == SC_PRESET || f->kind == SC_CHOICE)
        return true;
    if (!(isfinite(f->minimum) && isfinite(f->maximum) && f->minimum < f->maximum))
        return false;
    if (!isnan(f->fallback) && !(f->fallback >= f->minimum && f->fallback <= f->maximum))
        return false;
    return f->kind != SC_INTEGER || ((isnan(f->fallback) || f->fallback == floor(f->fallback)) &&
                                     f->minimum == floor(f->minimum) &&
                                     f->maximum == floor(f->maximum) && f->maximum < 0x1p53);
}

static bool has_sound_octaves(const struct sc_system *system, size_t i)
{
    const struct sc_field *f = &system->fields[i];
    const struct sc_field *other =
        f->octaves_of != NULL ? sc_system_field(system, f->octaves_of) : NULL;
    return f->octaves_of == NULL ||
           (other != NULL && other != f && f->kind == SC_REAL && other->kind == SC_REAL &&
            other->dimension == f->dimension && f->minimum > 0.0);
}

static bool has_a_sound_sample(const struct sc_system *system, size_t i)
{
    const struct sc_field *f = &system->fields[i];
    if (f->sample_low == f->sample_high)
        return f->sample_low == 0 && !f->sample_log;
    return f->sample_low < f->sample_high && f->sample_low >= f->minimum &&
           f->sample_high <= f->maximum && (!f->sample_log || f->sample_low > 0) &&
           (f->kind == SC_REAL || f->kind == SC_INTEGER);
}

static bool has_help(const struct sc_system *system, size_t i)
{
    const struct sc_field *f = &system->fields[i];
    return is_help(f->help) && (f->derived == NULL || is_help(f->derived)) &&
           (f->source == NULL || is_help(f->source));
}

/* A default that is a fact or a fit says whose; a preset's row says so itself. */
static bool has_a_source(const struct sc_system *system, size_t i)
{
    const struct sc_field *f = &system->fields[i];
    const bool needs = f->provenance == SC_FACT || f->provenance == SC_ANCHOR;
    return !needs || f->kind == SC_PRESET || is_text(f->source);
}

/* A derived value says from what, and only a missing default is derived. */
static bool says_how_it_is_derived(const struct sc_system *system, size_t i)
{
    const struct sc_field *f = &system->fields[i];
    if (f->kind == SC_PRESET || f->kind == SC_CHOICE)
        return f->derived == NULL && f->open == NULL;
    return (f->derived == NULL || isnan(f->fallback)) &&
           (f->open == NULL || is_text(f->derived)) && /* a word for what is derived */
           (f->provenance != SC_DERIVED || is_text(f->derived)) &&
           sc_field_required(f) == (isnan(f->fallback) && f->derived == NULL);
}

static bool has_sound_choices(const struct sc_system *system, size_t i)
{
    const struct sc_field *f = &system->fields[i];
    if (f->kind != SC_CHOICE)
        return f->choices == NULL && f->choice_count == 0;
    if (f->choices == NULL || f->choice_count == 0 || f->choice_size < sizeof(struct sc_choice) ||
        f->dimension != SC_NUMBER)
        return false;
    bool default_found = f->preset == NULL;
    for (size_t a = 0; a < f->choice_count; a++) {
        const struct sc_choice *choice = sc_field_choice(f, a);
        if (!is_text(choice->name) || !is_help(choice->help) || strchr(choice->name, ' ') != NULL ||
            strchr(choice->name, ',') != NULL || strcmp(choice->name, "all") == 0)
            return false;
        for (size_t b = 0; b < a; b++)
            if (strcmp(choice->name, sc_field_choice(f, b)->name) == 0)
                return false;
        default_found = default_found || strcmp(choice->name, f->preset) == 0;
    }
    return default_found;
}

static bool names_a_table(const struct sc_system *system, size_t i)
{
    const struct sc_field *f = &system->fields[i];
    return (f->kind == SC_PRESET) == (is_text(f->table) || f->curve != NULL);
}

static bool has_a_dimension(const struct sc_system *system, size_t i)
{
    return system->fields[i].dimension < SC_DIMENSIONS;
}

/* ---- Metrics ---- */

static const struct suffix {
    enum sc_dimension dimension;
    const char *text;
} suffixes[] = {
    { SC_BYTES_PER_SECOND, "_bytes_per_s" },
    { SC_PER_SECOND, "_per_s" },
    { SC_SQUARE_METRES, "_m2" },
    { SC_JOULE_SECONDS, "_js" },
    { SC_JOULES_PER_BIT, "_j_per_bit" },
    { SC_FLOPS, "_flops" },
    { SC_BYTES, "_bytes" },
    { SC_SECONDS, "_s" },
    { SC_HERTZ, "_hz" },
    { SC_BITS, "_bits" },
    { SC_JOULES, "_j" },
    { SC_WATTS, "_w" },
    { SC_METRES, "_m" },
    { SC_CYCLES, "cycles" },
};

static bool ends_in(const char *text, const char *end)
{
    const size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* The unit at the end of a column, longest first; pure numbers and shares have none. */
static bool says_its_unit(const struct sc_system *system, size_t i)
{
    const struct sc_metric *metric = &system->metrics[i];
    for (size_t s = 0; s < COUNT(suffixes); s++)
        if (ends_in(metric->column, suffixes[s].text))
            return !metric->text && metric->dimension == suffixes[s].dimension;
    return metric->dimension == SC_NUMBER || (metric->dimension == SC_SHARE && !metric->text);
}

static bool has_a_column_of_its_own(const struct sc_system *system, size_t i)
{
    const struct sc_metric *metric = &system->metrics[i];
    for (size_t j = 0; j < system->metric_count; j++)
        if (j != i && (strcmp(metric->column, system->metrics[j].column) == 0 ||
                       metric->offset == system->metrics[j].offset))
            return false;
    return metric->offset % sizeof(double) == 0 &&
           metric->offset + sizeof(double) <= system->answer_size &&
           strspn(metric->column, "abcdefghijklmnopqrstuvwxyz0123456789_") ==
               strlen(metric->column) &&
           sc_system_metric(system, metric->column) == metric;
}

static bool metric_has_help(const struct sc_system *system, size_t i)
{
    return is_help(system->metrics[i].help);
}

/* A column and a key of one name would be two columns of one name. */
static bool is_no_key(const struct sc_system *system, size_t i)
{
    return sc_system_field(system, system->metrics[i].column) == NULL;
}

static bool is_a_share_if_a_stall(const struct sc_system *system, size_t i)
{
    const struct sc_metric *metric = &system->metrics[i];
    if (metric->stall == NULL)
        return true;
    for (size_t j = 0; j < i; j++)
        if (system->metrics[j].stall != NULL &&
            strcmp(system->metrics[j].stall, metric->stall) == 0)
            return false;
    return is_text(metric->stall) && metric->dimension == SC_SHARE && !metric->text;
}

/* Every word of the list is a key, and none stands there twice. */
static bool are_keys(const struct sc_system *system, const char *list)
{
    size_t words = list != NULL && *list != '\0';
    size_t keys = 0;
    for (const char *c = list; c != NULL && *c != '\0'; c++)
        words += *c == ' ';
    for (size_t i = 0; i < system->field_count; i++)
        keys += sc_is_word_of(list, system->fields[i].key);
    return keys == words;
}

static void check_fields(const struct sc_system *system, field_rule *rule, const char *name)
{
    size_t wrong = 0;
    for (size_t i = 0; i < system->field_count; i++)
        if (!rule(system, i)) {
            note("%s", system->fields[i].key);
            wrong++;
        }
    ok(wrong == 0 && system->field_count > 0, "%s: every field %s", system->name, name);
}

static void check_metrics(const struct sc_system *system, metric_rule *rule, const char *name)
{
    size_t wrong = 0;
    for (size_t i = 0; i < system->metric_count; i++)
        if (!rule(system, i)) {
            note("%s", system->metrics[i].column);
            wrong++;
        }
    ok(wrong == 0 && system->metric_count > 0, "%s: every column %s", system->name, name);
}

static void test_tables(const struct sc_system *system)
{
    check_fields(system, has_names_of_its_own, "has names of its own, aliases too");
    check_fields(system, has_a_member_of_its_own, "has a member of its own");
    check_fields(system, has_a_sound_range, "has a range that holds its default");
    check_fields(system, has_a_sound_sample, "samples inside its range");
    check_fields(system, has_sound_octaves, "is octaves of another size, if of anything");
    check_fields(system, has_help, "has help without a full stop");
    check_fields(system, has_a_source, "has a source if a fact or an anchor");
    check_fields(system, says_how_it_is_derived, "says how it is derived");
    check_fields(system, has_sound_choices, "has choices of different names");
    check_fields(system, names_a_table, "names a table if a preset");
    check_fields(system, has_a_dimension, "has a dimension");
    check_metrics(system, has_a_column_of_its_own, "has a name and member of its own");
    check_metrics(system, says_its_unit, "ends in its unit");
    check_metrics(system, metric_has_help, "has help without a full stop");
    check_metrics(system, is_no_key, "is no key");
    check_metrics(system, is_a_share_if_a_stall, "is a share if a stall");

    size_t brief = 0, stalls = 0;
    for (size_t i = 0; i < system->metric_count; i++) {
        brief += system->metrics[i].brief;
        stalls += system->metrics[i].stall != NULL;
    }
    ok(brief > 0 && brief < system->metric_count, "%s: some columns are shown unasked",
       system->name);
    ok(stalls > 1, "%s: the time is broken down", system->name);
    static const char *const common[] = { "slowdown", "time_s", "bound" };
    size_t missing = 0;
    for (size_t i = 0; i < COUNT(common); i++)
        missing += sc_system_metric(system, common[i]) == NULL;
    is_int((long long)missing, 0, "%s: answers slowdown, time and bound", system->name);
    const struct sc_field *clock = system->clock_key == NULL
                                       ? NULL
                                       : sc_system_field(system, system->clock_key);
    ok(system->clock_key == NULL || (clock != NULL && clock->dimension == SC_HERTZ),
       "%s: its clock is a key in hertz", system->name);
    ok(are_keys(system, system->plan_keys), "%s: what a plan starts with are keys", system->name);
    ok(is_help(system->title) && is_text(system->question) && is_text(system->source) &&
           system->scenario_size <= SC_SCENARIO_MAX && system->answer_size <= SC_ANSWER_MAX &&
           sc_system_find(system->name) == system,
       "%s: has a title, a question and a source, and fits", system->name);
}
enum { TABLE_TESTS = 22 };

/* ---- Scenarios ---- */

/* Twice the storage it needs, so that a byte written beyond is seen. */
union storage {
    double align;
    unsigned char bytes[2 * SC_SCENARIO_MAX];
};

static void test_init(const struct sc_system *system)
{
    union storage s;
    memset(&s, 0xa5, sizeof s);
    sc_scenario_init(system, &s);
    size_t wrong = 0, beyond = 0;
    for (size_t i = 0; i < system->field_count; i++) {
        const struct sc_field *field = &system->fields[i];
        if (field->kind == SC_PRESET)
            continue;
        const double value = sc_field_get(field, &s);
        if (field->kind == SC_CHOICE) {
            const char *wanted = field->preset == NULL ? sc_field_choice(field, 0)->name
                                                       : field->preset;
            wrong += strcmp(sc_field_choice(field, (size_t)value)->name, wanted) != 0;
        } else {
            const bool right = isnan(field->fallback) ? isnan(value) : value == field->fallback;
            wrong += !right;
        }
    }
    for (size_t i = system->scenario_size; i < sizeof s.bytes; i++)
        beyond += s.bytes[i] != 0xa5;
    is_int((long long)wrong, 0, "%s: a new scenario holds the defaults", system->name);
    is_int((long long)beyond, 0, "%s: and no byte beyond it is touched", system->name);

    size_t lost = 0;
    for (size_t i = 0; i < system->field_count; i++) {
        const struct sc_field *field = &system->fields[i];
        if (field->kind == SC_PRESET)
            continue;
        const double value = field->kind == SC_CHOICE ? (double)(field->choice_count - 1)
                                                      : field->maximum;
        sc_field_set(field, &s, value);
        lost += sc_field_get(field, &s) != value;
    }
    for (size_t i = 0; i < system->field_count; i++) {
        const struct sc_field *field = &system->fields[i];
        if (field->kind != SC_PRESET)
            lost += sc_field_get(field, &s) !=
                    (field->kind == SC_CHOICE ? (double)(field->choice_count - 1) : field->maximum);
    }
    is_int((long long)lost, 0, "%s: what is set is got, whatever else is set", system->name);
}

/* A scenario with every required key at its minimum. */
static void fill(const struct sc_system *system, void *s)
{
    sc_scenario_init(system, s);
    for (size_t i = 0; i < system->field_count; i++)
        if (sc_field_required(&system->fields[i]))
            sc_field_set(&system->fields[i], s, system->fields[i].minimum);
}

static bool is_refused(const struct sc_system *system, const void *s, enum sc_status status,
                       const struct sc_field *field, const char *reason)
{
    struct sc_error error = { 0 };
    const bool right = sc_scenario_check(system, s, &error) == status && error.field != NULL &&
                       strcmp(error.field, field->key) == 0 && strcmp(error.reason, reason) == 0 &&
                       sc_scenario_check(system, s, NULL) == status;
    if (!right)
        note("%s: %s", field->key, reason);
    return right;
}

static void test_check(const struct sc_system *system)
{
    union storage s;
    struct sc_error error;
    size_t accepted = 0, missing = 0, range = 0, whole = 0, choice = 0, required = 0;
    fill(system, &s);
    is_int(sc_scenario_check(system, &s, &error), SC_OK, "%s: a full scenario is taken",
           system->name);
    for (size_t i = 0; i < system->field_count; i++) {
        const struct sc_field *f = &system->fields[i];
        if (f->kind == SC_PRESET)
            continue;
        fill(system, &s);
        if (f->kind == SC_CHOICE) {
            sc_field_set(f, &s, (double)f->choice_count);
            choice += !is_refused(system, &s, SC_ERANGE, f, "is not one of the choices");
            sc_field_set(f, &s, -1);
            choice += !is_refused(system, &s, SC_ERANGE, f, "is not one of the choices");
            continue;
        }
        sc_field_set(f, &s, f->minimum);
        accepted += sc_scenario_check(system, &s, &error) != SC_OK;
        sc_field_set(f, &s, f->maximum);
        accepted += sc_scenario_check(system, &s, &error) != SC_OK;
        sc_field_set(f, &s, nextafter(f->maximum, DBL_MAX));
        range += !is_refused(system, &s, SC_ERANGE, f, "is out of range");
        sc_field_set(f, &s, nextafter(f->minimum, -DBL_MAX));
        range += !is_refused(system, &s, SC_ERANGE, f, "is out of range");
        sc_field_set(f, &s, (double)INFINITY);
        range += !is_refused(system, &s, SC_ERANGE, f, "is out of range");
        sc_field_set(f, &s, (double)NAN);
        if (sc_field_required(f)) {
            required++;
            missing += !is_refused(system, &s, SC_EMISSING, f, "has no value");
        }
        if (f->kind == SC_INTEGER) {
            sc_field_set(f, &s, f->minimum + 0.25);
            whole += !is_refused(system, &s, SC_ERANGE, f, "must be a whole number");
        }
    }
    is_int((long long)accepted, 0, "%s: both ends of a range are taken", system->name);
    is_int((long long)range, 0, "%s: what lies beyond is not", system->name);
    is_int((long long)missing, 0, "%s: each of %zu required keys is missed", system->name,
           required);
    is_int((long long)whole, 0, "%s: a count is whole", system->name);
    is_int((long long)choice, 0, "%s: a choice is one of its rows", system->name);
}
enum { SCENARIO_TESTS = 3 + 6 };

/* ---- Finding ---- */

static void test_find(void)
{
    ok(sc_system_count >= 2, "there are systems");
    ok(sc_system_find("hbf") == &sc_hbf_system && sc_system_find("stream") == &sc_stream_system,
       "found by name");
    ok(sc_system_find("hb") == NULL && sc_system_find("hbff") == NULL &&
           sc_system_find("") == NULL && sc_system_find("HBF") == NULL,
       "and by no other");
    size_t same = 0;
    for (size_t i = 0; i < sc_system_count; i++)
        for (size_t j = 0; j < i; j++)
            same += strcmp(sc_systems[i]->name, sc_systems[j]->name) == 0;
    is_int((long long)same, 0, "no two systems share a name");

    const struct sc_field *sshr = sc_system_field(&sc_hbf_system, "sshr");
    ok(sshr != NULL && sc_system_field(&sc_hbf_system, "sshr_entries") == sshr,
       "a key by its alias");
    ok(sc_system_field(&sc_stream_system, "peak") ==
               sc_system_field(&sc_stream_system, "bandwidth") &&
           sc_system_field(&sc_stream_system, "memory_bandwidth") ==
               sc_system_field(&sc_stream_system, "bandwidth"),
       "by either of two aliases");
    ok(sc_system_field(&sc_stream_system, "peak memory_bandwidth") == NULL &&
           sc_system_field(&sc_stream_system, "") == NULL &&
           sc_system_field(&sc_stream_system, " ") == NULL &&
           sc_system_field(&sc_stream_system, "pea") == NULL &&
           sc_system_field(&sc_stream_system, "eak") == NULL &&
           sc_system_field(&sc_stream_system, "peak ") == NULL,
       "not by both, a part, or nothing");
    ok(sc_system_metric(&sc_hbf_system, "time_s") != NULL &&
           sc_system_metric(&sc_hbf_system, "time") == NULL &&
           sc_system_metric(&sc_hbf_system, "") == NULL,
       "a column by its whole name");
}
enum { FIND_TESTS = 8 };

static void test_words(void)
{
    ok(sc_is_word_of("a bc d", "a") && sc_is_word_of("a bc d", "bc") &&
           sc_is_word_of("a bc d", "d"),
       "first, middle and last word");
    ok(!sc_is_word_of("a bc d", "b") && !sc_is_word_of("a bc d", "c") &&
           !sc_is_word_of("a bc d", "a bc") && !sc_is_word_of("a bc d", "e"),
       "no part and no pair");
    ok(!sc_is_word_of(NULL, "a") && !sc_is_word_of("", "a") && !sc_is_word_of("abc", "abcd"),
       "no word of nothing");
}
enum { WORD_TESTS = 3 };

int main(void)
{
    plan((int)sc_system_count * (TABLE_TESTS + SCENARIO_TESTS) + FIND_TESTS + WORD_TESTS);
    for (size_t i = 0; i < sc_system_count; i++) {
        test_tables(sc_systems[i]);
        test_init(sc_systems[i]);
        test_check(sc_systems[i]);
    }
    test_find();
    test_words();
    return done();
}
