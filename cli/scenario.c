/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scenario.h"

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "number.h"
#include "preset.h"
#include "text.h"

const struct sc_system *resolver_system(const struct resolver *resolver)
{
    return resolver->system;
}

/* ---- names ---- */

static void trim(const char **text, size_t *length)
{
    while (*length > 0 && (**text == ' ' || **text == '\t')) {
        (*text)++;
        (*length)--;
    }
    while (*length > 0 && ((*text)[*length - 1] == ' ' || (*text)[*length - 1] == '\t'))
        (*length)--;
}

static bool is_field(const struct sc_system *system, const char *name, size_t length,
                     const struct sc_field **field)
{
    char key[64];
    if (length == 0 || length >= sizeof key)
        return false;
    memcpy(key, name, length);
    key[length] = '\0';
    *field = sc_system_field(system, key);
    return *field != NULL;
}

/* The unit that a header carries behind its key.  One without a name is none: tp_
 * is not tp. */
static bool bind_unit(const struct sc_field *field, const char *unit, size_t length,
                      struct binding *binding)
{
    if (length == 0 || (field->kind != SC_REAL && field->kind != SC_INTEGER))
        return false;
    binding->unit = sc_unit_find(field->dimension, unit, length);
    return binding->unit != NULL;
}

static bool bind_bracketed(const struct sc_system *system, const char *name, size_t length,
                           struct binding *binding)
{
    const size_t before = strcspn(name, "([");
    const char *open = name + before;
    if (before + 2 > length || name[length - 1] != (*open == '(' ? ')' : ']'))
        return false;
    size_t key = before;
    while (key > 0 && name[key - 1] == ' ')
        key--;
    return is_field(system, name, key, &binding->field) &&
           bind_unit(binding->field, open + 1, length - 2 - before, binding);
}

static bool bind_suffixed(const struct sc_system *system, const char *name, size_t length,
                          struct binding *binding)
{
    for (size_t key = length; key-- > 1;)
        if (name[key] == '_' && is_field(system, name, key, &binding->field) &&
            bind_unit(binding->field, name + key + 1, length - key - 1, binding))
            return true;
    binding->field = NULL;
    return false;
}

static const char *key_at(unsigned long i, const void *context)
{
    const struct sc_system *system = context;
    return system->fields[i].key;
}

static bool is_letter_or_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* The same letters and digits, whatever their case and whatever is between them. */
static bool same_letters(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t i = 0, j = 0;
    for (;; i++, j++) {
        while (i < a_length && !is_letter_or_digit(a[i]))
            i++;
        while (j < b_length && !is_letter_or_digit(b[j]))
            j++;
        if (i == a_length || j == b_length)
            return i == a_length && j == b_length && b_length > 0;
        if (strncasecmp(&a[i], &b[j], 1) != 0)
            return false;
    }
}

static bool is_spelling_of(const struct sc_field *field, const char *name, size_t length)
{
    if (same_letters(name, length, field->key, strlen(field->key)))
        return true;
    for (const char *alias = field->aliases; alias != NULL && *alias != '\0';) {
        const size_t span = strcspn(alias, " ");
        if (same_letters(name, length, alias, span))
            return true;
        alias += span + strspn(alias + span, " ");
    }
    return false;
}

static bool is_any_unit(const char *name, size_t length)
{
    bool found = false;
    for (int d = 0; d < SC_DIMENSIONS && length > 0 && !found; d++)
        found = sc_unit_find((enum sc_dimension)d, name, length) != NULL;
    return found;
}

/* The key that `name` is but for case, underscores and the like, alone or before a
 * unit, be it one of the wrong kind; or NULL. */
static const char *respelt_key(const struct sc_system *system, const char *name)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i < system->field_count; i++) {
        const struct sc_field *field = &system->fields[i];
        if (is_spelling_of(field, name, length))
            return field->key;
        for (size_t stem = length; stem-- > 1;)
            if (name[stem] == '_' && is_any_unit(name + stem + 1, length - stem - 1) &&
                is_spelling_of(field, name, stem))
                return field->key;
    }
    return NULL;
}

enum { SLIP_MIN = 3 }; /* shorter names are near too many */

/* The key that `name` is a slip of, a unit behind it aside, or NULL. */
static const char *nearest_key(const struct sc_system *system, const char *name)
{
    const size_t length = strlen(name);
    const char *nearest = respelt_key(system, name);
    char text[64];
    if (nearest == NULL && length >= SLIP_MIN)
        nearest = problem_nearest(name, key_at, system->field_count, system);
    for (size_t stem = length; nearest == NULL && stem-- > 1;) {
        if ((name[stem] != '_' && name[stem] != '(' && name[stem] != '[') || stem >= sizeof text)
            continue;
        struct binding binding = { 0 };
        snprintf(text, sizeof text, "%.*s", (int)stem, name);
        text[strcspn(text, " ")] = '\0';
        const char *key = problem_nearest(text, key_at, system->field_count, system);
        if (key == NULL || snprintf(text, sizeof text, "%s%s", key, name + stem) >= (int)sizeof text)
            continue;
        if (bind_suffixed(system, text, strlen(text), &binding) ||
            bind_bracketed(system, text, strlen(text), &binding))
            nearest = key;
    }
    return nearest;
}

bool resolver_bind(const struct resolver *resolver, const char *name, struct binding *binding,
                   const char **nearest)
{
    *binding = (struct binding){ 0 };
    if (nearest != NULL)
        *nearest = NULL;
    size_t length = strlen(name);
    trim(&name, &length);
    struct binding suffixed = { 0 };
    if (is_field(resolver->system, name, length, &binding->field)) {
        /* The alias line_bytes of line also says the unit of bare numbers. */
        if (bind_suffixed(resolver->system, name, length, &suffixed) &&
            suffixed.field == binding->field)
            *binding = suffixed;
        return true;
    }
    if (bind_suffixed(resolver->system, name, length, binding) ||
        bind_bracketed(resolver->system, name, length, binding))
        return true;
    if (nearest != NULL)
        *nearest = nearest_key(resolver->system, name);
    return false;
}

/* ---- values ---- */

enum { SHOWN_MAX = 60 };

/* "got 'text'", cut when long. */
static const char *got(const char *text, size_t length, char out[static SHOWN_MAX + 16])
{
    const size_t shown = length < SHOWN_MAX ? length : SHOWN_MAX - 3;
    char *end = out;
    *end++ = '\'';
    memcpy(end, text, shown);
    end += shown;
    memcpy(end, length < SHOWN_MAX ? "'" : "...'", length < SHOWN_MAX ? 2 : 5);
    return out;
}

/* "10us,20us", "10us~20us", "1:8:1": what stands for several values elsewhere. */
static bool is_several(const char *text, size_t length)
{
    for (size_t i = 1; i + 1 < length; i++)
        if (strchr(",~:", text[i]) != NULL)
            return text[0] >= '0' && text[0] <= '9';
    return false;
}

static bool refuse_units(enum sc_units_status status, enum sc_dimension dimension,
                         const struct sc_quantity *quantity, const char *text, size_t length,
                         struct problem *problem)
{
    char shown[SHOWN_MAX + 16], accepted[SC_UNITS_ACCEPTED_MAX];
    const char *word = sc_dimension_word(dimension);
    (void)sc_units_accepted(dimension, accepted);
    if (dimension == SC_NUMBER)
        accepted[0] = '\0';
    const bool has_units = accepted[0] != '\0';
    (void)got(text, length, shown);
    const char *open = has_units ? " (" : "", *close = has_units ? ")" : "";
    switch (status) {
    case SC_UNITS_MISSING_UNIT:
        return problem_set(problem, "expected %s with a unit (%s), got %s", word, accepted, shown);
    case SC_UNITS_WRONG_DIMENSION:
        return problem_set(problem, "expected %s%s%s%s, got %s, %s", word, open, accepted, close,
                           shown, sc_dimension_word(quantity->unit->dimension));
    case SC_UNITS_UNKNOWN_UNIT:
        if (quantity->unit != NULL)
            return problem_set(problem, "expected %s%s%s%s, got %s: did you mean %s?", word, open,
                               accepted, close, shown, quantity->unit->name);
        return problem_set(problem, "expected %s%s%s%s, got %s: %s", word, open, accepted, close,
                           shown, is_several(text, length) ? "one value only" : "no such unit");
    case SC_UNITS_SEPARATOR:
        return problem_set(problem, "expected %s without thousands separators, got %s", word, shown);
    case SC_UNITS_RANGE:
        return problem_set(problem, "expected %s, got %s: too large or too small for a number", word,
                           shown);
    case SC_UNITS_TOO_LONG:
        return problem_set(problem, "expected %s, got %zu bytes of text", word, length);
    case SC_UNITS_OK:
    case SC_UNITS_EMPTY:
    case SC_UNITS_NOT_NUMBER:
    case SC_UNITS_NOT_DECIMAL:
    case SC_UNITS_TRAILING:
        break;
    }
    return problem_set(problem, "expected %s%s%s%s, got %s%s", word, open, accepted, close, shown,
                       is_several(text, length) ? ": one value only" : "");
}

static bool refuse_range(const struct sc_field *field, const char *shown, struct problem *problem)
{
    struct text low = { 0 }, high = { 0 };
    scenario_quantity(field->minimum, field->dimension, &low);
    scenario_quantity(field->maximum, field->dimension, &high);
    (void)problem_set(problem, "expected a value from %s to %s, got %s",
                      low.failed ? "?" : low.bytes, high.failed ? "?" : high.bytes, shown);
    text_fini(&low);
    text_fini(&high);
    return false;
}

static bool check_range(const struct sc_field *field, double value, const char *text, size_t length,
                        struct problem *problem)
{
    char shown[SHOWN_MAX + 16];
    if (field->kind == SC_INTEGER && value != floor(value))
        return problem_set(problem, "expected a whole number, got %s", got(text, length, shown));
    if (value >= field->minimum && value <= field->maximum)
        return true;
    return refuse_range(field, got(text, length, shown), problem);
}

void scenario_value(double value, enum sc_dimension dimension, struct text *out)
{
    char buffer[SC_NUMBER_MAX];
    const bool bare = dimension == SC_NUMBER || dimension == SC_SHARE || dimension == SC_BITS;
    const struct sc_unit *unit = bare ? NULL : sc_unit_for_display(dimension, 0.0);
    const double shown = unit != NULL ? sc_unit_from_si(unit, value) : value;
    text_add(out, buffer, sc_number_format(buffer, shown, SC_NUMBER_SHORTEST));
    if (unit != NULL)
        text_add_string(out, unit->name);
}

void scenario_quantity(double value, enum sc_dimension dimension, struct text *out)
{
    char buffer[SC_NUMBER_MAX];
    const bool bare = dimension == SC_NUMBER || dimension == SC_SHARE || dimension == SC_BITS;
    const struct sc_unit *unit = bare ? NULL : sc_unit_for_display(dimension, fabs(value));
    const double shown = unit != NULL ? sc_unit_from_si(unit, value) : value;
    text_add(out, buffer, sc_number_format(buffer, shown, 6));
    if (unit != NULL)
        text_printf(out, " %s", unit->name);
}

static const char *choice_at(unsigned long i, const void *context)
{
    const struct sc_field *field = context;
    return sc_field_choice(field, i)->name;
}

static bool parse_choice(const struct sc_field *field, const char *text, size_t length,
                         struct setting *setting, struct problem *problem)
{
    for (size_t i = 0; i < field->choice_count; i++) {
        const char *name = sc_field_choice(field, i)->name;
        if (strncmp(name, text, length) == 0 && name[length] == '\0') {
            setting->value = (double)i;
            return true;
        }
    }
    char shown[SHOWN_MAX + 16], name[SHOWN_MAX + 1];
    const size_t copied = length < SHOWN_MAX ? length : SHOWN_MAX;
    memcpy(name, text, copied);
    name[copied] = '\0';
    const char *near = problem_nearest(name, choice_at, field->choice_count, field);
    if (near != NULL)
        return problem_set(problem, "expected one of its choices, got %s: did you mean %s?",
                           got(text, length, shown), near);
    struct text names = { 0 };
    for (size_t i = 0; i < field->choice_count; i++)
        text_printf(&names, "%s%s", i > 0 ? ", " : "", sc_field_choice(field, i)->name);
    (void)problem_set(problem, "expected one of %s, got %s", names.failed ? "?" : names.bytes,
                      got(text, length, shown));
    text_fini(&names);
    return false;
}

bool quantity_parse(enum sc_dimension dimension, const char *text, size_t length, double *value,
                    struct problem *problem)
{
    struct sc_quantity quantity;
    const enum sc_units_status status =
        sc_units_parse(text, length, dimension, NULL, '.', &quantity);
    if (status != SC_UNITS_OK)
        return refuse_units(status, dimension, &quantity, text, length, problem);
    *value = quantity.value;
    return !quantity.per_cycle_deferred ||
           problem_set(problem, "expected %s without cycles", sc_dimension_word(dimension));
}

bool setting_parse(struct resolver *resolver, const struct binding *binding, const char *text,
                   size_t length, char decimal, struct setting *setting, struct problem *problem)
{
    const struct sc_field *field = binding->field;
    *setting = (struct setting){ .field = field };
    if (field->open != NULL && strlen(field->open) == length &&
        memcmp(field->open, text, length) == 0) {
        setting->value = field->fallback;
        return true;
    }
    if (field->kind == SC_REAL || field->kind == SC_INTEGER) {
        struct sc_quantity quantity;
        const enum sc_units_status status =
            sc_units_parse(text, length, field->dimension, binding->unit, decimal, &quantity);
        if (status != SC_UNITS_OK)
            return refuse_units(status, field->dimension, &quantity, text, length, problem);
        setting->value = quantity.value;
        setting->deferred = quantity.per_cycle_deferred;
        if (setting->deferred && resolver->clock == NULL)
            return problem_set(problem, "cycles have no meaning here: %s has no clock",
                               resolver->system->name);
        return setting->deferred || check_range(field, setting->value, text, length, problem);
    }
    trim(&text, &length);
    if (field->kind == SC_CHOICE)
        return parse_choice(field, text, length, setting, problem);
    setting->preset = preset_find(resolver, field, text, length, problem);
    return setting->preset != NULL;
}

const char *setting_name(const struct setting *setting)
{
    if (setting->field->kind == SC_PRESET)
        return setting->preset->name;
    if (setting->field->kind == SC_CHOICE)
        return sc_field_choice(setting->field, (size_t)setting->value)->name;
    return isnan(setting->value) ? setting->field->open : NULL;
}

/* ---- lists and ranges ---- */

static bool sweep_add(struct sweep *sweep, const struct setting *setting, struct problem *problem)
{
    if (sweep->count == SWEEP_VALUES_MAX)
        return problem_set(problem, "%s: more than %d values", sweep->field->key,
                           (int)SWEEP_VALUES_MAX);
    if (sweep->count == sweep->capacity) {
        const size_t capacity = sweep->capacity == 0 ? 16 : 2 * sweep->capacity;
        struct setting *values = realloc(sweep->values, capacity * sizeof *values);
        if (values == NULL)
            return problem_set(problem, "%s: out of memory", sweep->field->key);
        sweep->values = values;
        sweep->capacity = capacity;
    }
    sweep->values[sweep->count++] = *setting;
    return true;
}

/* problem = "key=text: " + what it said before. */
static bool name_key(struct problem *problem, const char *argument)
{
    const struct problem inner = *problem;
    char shown[SHOWN_MAX + 4];
    const size_t length = strlen(argument), kept = length <= SHOWN_MAX ? length : SHOWN_MAX;
    memcpy(shown, argument, kept);
    memcpy(shown + kept, length <= SHOWN_MAX ? "" : "...", length <= SHOWN_MAX ? 1 : 4);
    return problem_set(problem, "%s: %s", shown, inner.text);
}

static bool parse_end(struct resolver *resolver, const struct binding *binding, const char *text,
                      size_t length, struct setting *setting, struct problem *problem)
{
    return setting_parse(resolver, binding, text, length, '.', setting, problem);
}

/* The step of lo:hi:step is a difference, so the field's range does not bind it. */
static bool parse_step(const struct binding *binding, const char *text, size_t length,
                       bool deferred, double *step, struct problem *problem)
{
    struct sc_quantity quantity;
    const enum sc_units_status status =
        sc_units_parse(text, length, binding->field->dimension, binding->unit, '.', &quantity);
    if (status != SC_UNITS_OK)
        return refuse_units(status, binding->field->dimension, &quantity, text, length, problem);
    if (quantity.per_cycle_deferred != deferred)
        return problem_set(problem, "expected a range all in cycles, or nothing of it");
    *step = quantity.value;
    return true;
}

enum { SURE_DIGITS = 15 }; /* of a sum or a product of doubles */

/* Values from low to high; both ends included when the step meets high. */
static bool add_range(struct sweep *sweep, const struct setting *low, double high, double step,
                      bool geometric, struct problem *problem)
{
    const double span = geometric ? log(high / low->value) / log(step) : (high - low->value) / step;
    if (!(span >= 0.0))
        return problem_set(problem, "expected a range that its step can walk, low:high:step");
    const double last = floor(span * (1.0 + 1e-12) + 1e-9);
    if (last >= SWEEP_VALUES_MAX)
        return problem_set(problem, "%s: more than %d values", sweep->field->key,
                           (int)SWEEP_VALUES_MAX);
    for (size_t i = 0; (double)i <= last; i++) {
        struct setting setting = *low;
        const double n = (double)i;
        if (i > 0)
            setting.value = sc_number_rounded(geometric ? low->value * pow(step, n)
                                                        : low->value + step * n, SURE_DIGITS);
        if (fabs(setting.value - high) <= 1e-12 * fabs(high))
            setting.value = high;
        if (setting.field->kind == SC_INTEGER && setting.value != floor(setting.value))
            return problem_set(problem, "expected steps that stay whole numbers");
        if (!sweep_add(sweep, &setting, problem))
            return false;
    }
    return true;
}

static bool parse_range(struct resolver *resolver, const struct binding *binding, const char *text,
                        size_t length, struct sweep *sweep, struct problem *problem)
{
    const char *first = memchr(text, ':', length);
    const char *second = memchr(first + 1, ':', length - (size_t)(first + 1 - text));
    if (second == NULL)
        return problem_set(problem, "expected a range low:high:step or low:high:*factor");
    struct setting low, high;
    const size_t tail = length - (size_t)(second + 1 - text);
    if (!parse_end(resolver, binding, text, (size_t)(first - text), &low, problem) ||
        !parse_end(resolver, binding, first + 1, (size_t)(second - first - 1), &high, problem))
        return false;
    if (isnan(low.value) || isnan(high.value))
        return problem_set(problem, "expected a number at either end of a range, got '%s'",
                           binding->field->open);
    if (low.deferred != high.deferred)
        return problem_set(problem, "expected a range all in cycles, or nothing of it");
    if (tail > 1 && second[1] == '*') {
        struct sc_quantity factor;
        if (sc_units_parse(second + 2, tail - 1, SC_NUMBER, NULL, '.', &factor) != SC_UNITS_OK ||
            !(factor.value > 0.0) || factor.value == 1.0 || !(low.value > 0.0) || !(high.value > 0.0))
            return problem_set(problem, "expected a factor such as *2 between values above zero");
        return add_range(sweep, &low, high.value, factor.value, true, problem);
    }
    double step = 0.0;
    if (!parse_step(binding, second + 1, tail, low.deferred, &step, problem))
        return false;
    if (step == 0.0)
        return problem_set(problem, "expected a step that is not zero");
    return add_range(sweep, &low, high.value, step, false, problem);
}

static bool add_all(struct resolver *resolver, const struct sc_field *field, const char *tag,
                    struct sweep *sweep, struct problem *problem)
{
    if (field->kind == SC_CHOICE) {
        for (size_t i = 0; i < field->choice_count; i++) {
            const struct setting setting = { .field = field, .value = (double)i };
            if (!sweep_add(sweep, &setting, problem))
                return false;
        }
        return true;
    }
    const size_t before = sweep->count;
    for (size_t i = 0; i < preset_count(resolver, field); i++) {
        const struct preset *preset = preset_at(resolver, field, i);
        const struct setting setting = { .field = field, .preset = preset };
        if ((tag == NULL || sc_is_word_of(preset->tags, tag)) &&
            !sweep_add(sweep, &setting, problem))
            return false;
    }
    if (sweep->count == before)
        return problem_set(problem, "no row of %s carries the tag %s", field->table,
                           tag == NULL ? "" : tag);
    return true;
}

static bool parse_item(struct resolver *resolver, const struct binding *binding, const char *text,
                       size_t length, struct sweep *sweep, struct problem *problem)
{
    const struct sc_field *field = binding->field;
    const bool filed = field->kind == SC_PRESET && field->table == NULL;
    const bool named = field->kind == SC_CHOICE || (field->kind == SC_PRESET && !filed);
    trim(&text, &length);
    if (named && length == 3 && memcmp(text, "all", 3) == 0)
        return add_all(resolver, field, NULL, sweep, problem);
    if (named && field->kind == SC_PRESET && length > 1 && text[0] == '@') {
        char tag[64];
        if (length > sizeof tag)
            return problem_set(problem, "expected a tag of at most %zu letters", sizeof tag - 1);
        memcpy(tag, text + 1, length - 1);
        tag[length - 1] = '\0';
        return add_all(resolver, field, tag, sweep, problem);
    }
    if (!named && !filed && memchr(text, ':', length) != NULL)
        return parse_range(resolver, binding, text, length, sweep, problem);
    struct setting setting;
    return parse_end(resolver, binding, text, length, &setting, problem) &&
           sweep_add(sweep, &setting, problem);
}

bool sweep_parse(struct resolver *resolver, const char *argument, struct sweep *sweep,
                 struct problem *problem)
{
    *sweep = (struct sweep){ 0 };
    const char *equals = strchr(argument, '=');
    char key[64];
    if (equals == NULL || equals == argument)
        return problem_set(problem, "expected key=value, got '%.60s'", argument);
    const size_t length = (size_t)(equals - argument);
    if (length >= sizeof key)
        return problem_set(problem, "no key of %s is as long as '%.60s'", resolver->system->name,
                           argument);
    memcpy(key, argument, length);
    key[length] = '\0';
    struct binding binding;
    const char *nearest = NULL;
    if (!resolver_bind(resolver, key, &binding, &nearest)) {
        if (nearest != NULL)
            return problem_set(problem, "%s is not a key of %s: did you mean %s?", key,
                               resolver->system->name, nearest);
        return problem_set(problem, "%s is not a key of %s: 'stallcast list fields %s' shows them",
                           key, resolver->system->name, resolver->system->name);
    }
    sweep->field = binding.field;
    for (const char *item = equals + 1;; item++) {
        const size_t span = strcspn(item, ",");
        if (!parse_item(resolver, &binding, item, span, sweep, problem)) {
            sweep_fini(sweep);
            return name_key(problem, argument);
        }
        item += span;
        if (*item == '\0')
            return true;
    }
}

void sweep_fini(struct sweep *sweep)
{
    free(sweep->values);
    *sweep = (struct sweep){ 0 };
}

/* ---- scenarios ---- */

/* Returns whether some setting is left for when the clock is known. */
static bool apply(const struct setting *settings, size_t count, void *scenario)
{
    bool deferred = false;
    for (size_t i = 0; i < count; i++) {
        deferred = deferred || settings[i].deferred;
        if (settings[i].field->kind != SC_PRESET && !settings[i].deferred)
            sc_field_set(settings[i].field, scenario, settings[i].value);
    }
    return deferred;
}

/* Once more in the same order, now that all settings have left a clock: cycles
 * become seconds, and bytes per cycle bytes per second. */
static bool apply_deferred(const struct resolver *resolver, const struct setting *settings,
                           size_t count, double clock_hz, void *scenario, struct problem *problem)
{
    for (size_t i = 0; i < count; i++) {
        const struct sc_field *field = settings[i].field;
        if (!settings[i].deferred) {
            if (field->kind != SC_PRESET)
                sc_field_set(field, scenario, settings[i].value);
            continue;
        }
        if (!(clock_hz > 0.0))
            return problem_set(problem, "%s is counted in cycles, but %s has no value", field->key,
                               resolver->clock->key);
        sc_field_set(field, scenario, field->dimension == SC_SECONDS
                                          ? settings[i].value / clock_hz
                                          : settings[i].value * clock_hz);
    }
    return true;
}

static void apply_curve(const double *curve, const struct sc_curve_place *place, void *scenario)
{
    unsigned char *bytes = scenario;
    memcpy(bytes + place->count, curve, sizeof *curve);
    memcpy(bytes + place->capacities, curve + 1, place->points * sizeof *curve);
    memcpy(bytes + place->ratios, curve + 1 + place->points, place->points * sizeof *curve);
    memcpy(bytes + place->block_above, curve + 1 + 2 * place->points, sizeof *curve);
    memcpy(bytes + place->block_most, curve + 2 + 2 * place->points, sizeof *curve);
}

/* Fitted keys, but for those that were given. */
static void apply_fitted(const struct resolver *resolver, const struct setting *settings,
                         size_t count, void *scenario)
{
    for (size_t i = 0; i < resolver->fitted_count; i++) {
        const struct setting *const fitted = &resolver->fitted[i];
        bool given = false;
        for (size_t j = 0; j < count; j++)
            given = given || settings[j].field == fitted->field;
        if (!given)
            sc_field_set(fitted->field, scenario, fitted->value);
    }
}

bool resolver_add_fitted(struct resolver *resolver, const struct sc_field *field, double value)
{
    if (resolver->fitted_count == RESOLVER_FITTED)
        return false;
    resolver->fitted[resolver->fitted_count++] = (struct setting){ .field = field, .value = value };
    return true;
}

const struct sc_field *resolver_fitted_over(const struct resolver *resolver,
                                            const struct setting *setting)
{
    const struct preset *const preset = setting->preset;
    for (size_t i = 0; preset != NULL && i < preset->setting_count; i++)
        for (size_t j = 0; j < resolver->fitted_count; j++)
            if (preset->settings[i].field == resolver->fitted[j].field)
                return resolver->fitted[j].field;
    return NULL;
}

bool resolver_build(const struct resolver *resolver, const struct setting *settings, size_t count,
                    void *scenario, struct problem *problem)
{
    const struct preset *chosen[RESOLVER_PRESETS];
    memcpy(chosen, resolver->fallback, sizeof chosen);
    for (size_t i = 0; i < count; i++)
        if (settings[i].field->kind == SC_PRESET)
            chosen[preset_slot(resolver, settings[i].field)] = settings[i].preset;
    memcpy(scenario, resolver->defaults, resolver->system->scenario_size);
    bool deferred = false;
    for (size_t i = 0; i < resolver->slot_count; i++)
        if (chosen[i] != NULL)
            deferred |= apply(chosen[i]->settings, chosen[i]->setting_count, scenario);
    deferred |= apply(settings, count, scenario);
    apply_fitted(resolver, settings, count, scenario);
    for (size_t i = 0; i < resolver->slot_count; i++)
        if (chosen[i] != NULL && chosen[i]->curve != NULL)
            apply_curve(chosen[i]->curve, resolver->lists[i].field->curve, scenario);
    const double clock_hz = deferred ? sc_field_get(resolver->clock, scenario) : 0.0;
    for (size_t i = 0; deferred && i < resolver->slot_count; i++)
        if (chosen[i] != NULL &&
            !apply_deferred(resolver, chosen[i]->settings, chosen[i]->setting_count, clock_hz,
                            scenario, problem))
            return false;
    apply_fitted(resolver, settings, count, scenario);
    if (deferred && !apply_deferred(resolver, settings, count, clock_hz, scenario, problem))
        return false;
    preset_apply_launches(resolver, chosen, settings, count, scenario);
    return true;
}

static void describe_missing(const struct sc_system *system, const struct sc_field *field,
                             struct problem *problem)
{
    const struct sc_field *const preset = preset_that_sets(system, field);
    if (preset != NULL)
        (void)problem_set(problem, "%s: expected a value, got none: give %s=NAME or %s=VALUE",
                          field->key, preset->key, field->key);
    else
        (void)problem_set(problem, "%s: expected a value, got none", field->key);
}

void scenario_describe_error(const struct sc_system *system, enum sc_status status,
                             const struct sc_error *error, struct problem *problem)
{
    const struct sc_field *field = error->field != NULL ? sc_system_field(system, error->field)
                                                        : NULL;
    if (status == SC_EMISSING && field != NULL) {
        describe_missing(system, field, problem);
        return;
    }
    const char *const name = error->field != NULL ? error->field : system->name;
    if (isnan(error->value)) {
        (void)problem_set(problem, "%s %s", name, error->reason);
        return;
    }
    struct text value = { 0 };
    if (field == NULL) { /* no key but a number that follows from them */
        scenario_quantity(error->value, SC_NUMBER, &value);
        (void)problem_set(problem, "%s: %s %s", name, value.failed ? "?" : value.bytes,
                          error->reason);
        text_fini(&value);
        return;
    }
    if (status == SC_ERANGE && field->kind == SC_REAL &&
        !(error->value >= field->minimum && error->value <= field->maximum)) {
        /* Counted in cycles, it could not be checked when it was read. */
        scenario_quantity(error->value, field->dimension, &value);
        (void)refuse_range(field, value.failed ? "?" : value.bytes, problem);
        const struct problem inner = *problem;
        (void)problem_set(problem, "%s: %s", field->key, inner.text);
        text_fini(&value);
        return;
    }
    if (field->kind == SC_CHOICE && error->value >= 0.0 &&
        error->value < (double)field->choice_count)
        text_add_string(&value, sc_field_choice(field, (size_t)error->value)->name);
    else
        scenario_quantity(error->value, field->dimension, &value);
    (void)problem_set(problem, "%s: %s %s", field->key, value.failed ? "?" : value.bytes,
                      error->reason);
    text_fini(&value);
}
