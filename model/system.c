/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "system.h"

#include <math.h>
#include <string.h>

#include "hbf.h"
#include "prefetch.h"
#include "serve.h"
#include "stream.h"
#include "uvm.h"

const struct sc_system *const sc_systems[] = { &sc_hbf_system, &sc_stream_system, &sc_uvm_system,
                                               &sc_prefetch_system, &sc_serve_system };
const size_t sc_system_count = sizeof sc_systems / sizeof sc_systems[0];

const struct sc_choice *sc_field_choice(const struct sc_field *field, size_t i)
{
    const char *rows = field->choices;
    return (const struct sc_choice *)(const void *)(rows + i * field->choice_size);
}

double sc_field_get(const struct sc_field *field, const void *scenario)
{
    const char *member = (const char *)scenario + field->offset;
    double value;
    int index;
    if (field->kind == SC_CHOICE) {
        memcpy(&index, member, sizeof index);
        return index;
    }
    memcpy(&value, member, sizeof value);
    return value;
}

void sc_field_set(const struct sc_field *field, void *scenario, double value)
{
    char *member = (char *)scenario + field->offset;
    if (field->kind == SC_CHOICE) {
        const int index = (int)value;
        memcpy(member, &index, sizeof index);
    } else {
        memcpy(member, &value, sizeof value);
    }
}

bool sc_field_required(const struct sc_field *field)
{
    return field->kind != SC_PRESET && isnan(field->fallback) && field->derived == NULL;
}

const struct sc_system *sc_system_find(const char *name)
{
    for (size_t i = 0; i < sc_system_count; i++)
        if (strcmp(sc_systems[i]->name, name) == 0)
            return sc_systems[i];
    return NULL;
}

bool sc_is_word_of(const char *list, const char *word)
{
    const size_t length = strlen(word);
    while (list != NULL && *list != '\0') {
        const size_t span = strcspn(list, " ");
        if (span == length && memcmp(list, word, length) == 0)
            return true;
        list += span + (list[span] == ' ');
    }
    return false;
}

const struct sc_field *sc_system_field(const struct sc_system *system, const char *key)
{
    for (size_t i = 0; i < system->field_count; i++)
        if (strcmp(system->fields[i].key, key) == 0)
            return &system->fields[i];
    if (*key == '\0')
        return NULL;
    for (size_t i = 0; i < system->field_count; i++)
        if (sc_is_word_of(system->fields[i].aliases, key))
            return &system->fields[i];
    return NULL;
}

const struct sc_metric *sc_system_metric(const struct sc_system *system, const char *column)
{
    for (size_t i = 0; i < system->metric_count; i++)
        if (strcmp(system->metrics[i].column, column) == 0)
            return &system->metrics[i];
    return NULL;
}

static size_t default_choice(const struct sc_field *field)
{
    for (size_t i = 0; field->preset != NULL && i < field->choice_count; i++)
        if (strcmp(sc_field_choice(field, i)->name, field->preset) == 0)
            return i;
    return 0;
}

void sc_scenario_init(const struct sc_system *system, void *scenario)
{
    memset(scenario, 0, system->scenario_size);
    for (size_t i = 0; i < system->field_count; i++) {
        const struct sc_field *field = &system->fields[i];
        if (field->kind == SC_CHOICE)
            sc_field_set(field, scenario, (double)default_choice(field));
        else if (field->kind != SC_PRESET)
            sc_field_set(field, scenario, field->fallback);
    }
}

static enum sc_status refuse(struct sc_error *error, enum sc_status status,
                             const struct sc_field *field, double value, const char *reason)
{
    if (error != NULL)
        *error = (struct sc_error){ .field = field->key, .value = value, .reason = reason };
    return status;
}

enum sc_status sc_scenario_check(const struct sc_system *system, const void *scenario,
                                 struct sc_error *error)
{
    for (size_t i = 0; i < system->field_count; i++) {
        const struct sc_field *field = &system->fields[i];
        if (field->kind == SC_PRESET)
            continue;
        const double value = sc_field_get(field, scenario);
        if (isnan(value)) {
            if (sc_field_required(field))
                return refuse(error, SC_EMISSING, field, value, "has no value");
        } else if (field->kind == SC_CHOICE) {
            if (value < 0 || value >= (double)field->choice_count)
                return refuse(error, SC_ERANGE, field, value, "is not one of the choices");
        } else if (!(value >= field->minimum && value <= field->maximum)) {
            return refuse(error, SC_ERANGE, field, value, "is out of range");
        } else if (field->kind == SC_INTEGER && value != (double)(long long)value) {
            /* All ranges of integers are far below 2^63. */
            return refuse(error, SC_ERANGE, field, value, "must be a whole number");
        }
    }
    return SC_OK;
}
