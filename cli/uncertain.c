/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "uncertain.h"

#include <math.h>
#include <string.h>

/* The number that a word sets to a range with ~; false: it is none. */
static bool is_uncertain(const struct resolver *resolver, const char *word,
                         struct binding *binding)
{
    char key[64];
    const size_t length = strcspn(word, "=");
    if (word[length] == '\0' || length >= sizeof key || strchr(word + length, '~') == NULL)
        return false;
    memcpy(key, word, length);
    key[length] = '\0';
    return resolver_bind(resolver, key, binding, NULL) &&
           (binding->field->kind == SC_REAL || binding->field->kind == SC_INTEGER);
}

static bool read_ends(struct resolver *resolver, const struct binding *binding, const char *values,
                      struct uncertain *uncertain, struct problem *problem)
{
    struct setting low, high;
    const char *tilde = strchr(values, '~');
    const struct sc_field *field = binding->field;
    if (!setting_parse(resolver, binding, values, (size_t)(tilde - values), '.', &low, problem) ||
        !setting_parse(resolver, binding, tilde + 1, strlen(tilde + 1), '.', &high, problem))
        return false;
    if (low.deferred != high.deferred)
        return problem_set(problem, "expected low~high all in cycles, or nothing of it");
    if (!(low.value < high.value))
        return problem_set(problem, "expected low~high, low below high");
    if (field->octaves_of != NULL)
        return problem_set(problem, "expected one value: those between differ from %s by no power "
                                    "of two", field->octaves_of);
    *uncertain = (struct uncertain){ .field = field, .low = low.value, .high = high.value,
                                     .deferred = low.deferred,
                                     .logarithmic = field->sample_low < field->sample_high &&
                                                    field->sample_log && low.value > 0.0 };
    return true;
}

static bool add_word(struct resolver *resolver, const char *word, const struct binding *binding,
                     struct uncertain_list *list, struct problem *problem)
{
    struct problem inner;
    if (list->count == UNCERTAIN_MAX)
        return problem_set(problem, "%.60s: more than %d uncertain keys", word,
                           (int)UNCERTAIN_MAX);
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].field == binding->field)
            return problem_set(problem, "%.60s: %s is given twice", word, binding->field->key);
    if (read_ends(resolver, binding, strchr(word, '=') + 1, &list->items[list->count], &inner)) {
        list->count++;
        return true;
    }
    return problem_set(problem, "%.60s: %s", word, inner.text);
}

bool uncertain_take(struct resolver *resolver, const char **words, size_t *count,
                    struct uncertain_list *list, struct problem *problem)
{
    size_t kept = 0;
    *list = (struct uncertain_list){ 0 };
    for (size_t i = 0; i < *count; i++) {
        struct binding binding;
        if (!is_uncertain(resolver, words[i], &binding))
            words[kept++] = words[i];
        else if (!add_word(resolver, words[i], &binding, list, problem))
            return false;
    }
    *count = kept;
    return true;
}

bool uncertain_check(const struct uncertain_list *list, const struct product *product,
                     struct problem *problem)
{
    for (size_t i = 0; i < list->count; i++)
        for (size_t j = 0; j < product->count; j++)
            if (product->sweeps[j].field == list->items[i].field)
                return problem_set(problem, "%s is given twice", list->items[i].field->key);
    return true;
}

struct setting uncertain_setting(const struct uncertain *uncertain, double u)
{
    struct setting setting = { .field = uncertain->field, .deferred = uncertain->deferred };
    const bool whole = uncertain->field->kind == SC_INTEGER && !uncertain->deferred;
    const double low = whole ? uncertain->low - 0.5 : uncertain->low;
    const double high = whole ? uncertain->high + 0.5 : uncertain->high;
    double value = uncertain->logarithmic ? low * pow(high / low, u) : low + u * (high - low);
    if (whole)
        value = floor(value + 0.5);
    setting.value = fmin(fmax(value, uncertain->low), uncertain->high);
    return setting;
}
