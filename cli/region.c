/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "region.h"

#include <math.h>
#include <string.h>

#include "effect.h"

static const void *scenario_at(const struct scenarios *scenarios, size_t i)
{
    return scenarios->first + i * scenarios->stride;
}

bool region_range(const struct scenarios *scenarios, const struct sc_field *field, double *low,
                  double *high)
{
    *low = (double)INFINITY;
    *high = -(double)INFINITY;
    for (size_t i = 0; i < scenarios->count; i++) {
        const double value = sc_field_get(field, scenario_at(scenarios, i));
        if (isnan(value))
            return false;
        *low = fmin(*low, value);
        *high = fmax(*high, value);
    }
    return scenarios->count > 0;
}

/* False: there is no answer. */
static bool slowdown_of(const struct sc_system *system, const void *scenario, double *slowdown)
{
    _Alignas(max_align_t) unsigned char answer[SC_ANSWER_MAX];
    struct sc_error error;
    if (system->estimate(scenario, answer, NULL, &error) != SC_OK)
        return false;
    memcpy(slowdown, answer + system->metrics[0].offset, sizeof *slowdown);
    return true;
}

bool region_matters(const struct scenarios *scenarios, const struct sc_field *field)
{
    enum { SCENARIOS = 64 };
    for (size_t i = 0; i < scenarios->count && i < SCENARIOS; i++) {
        _Alignas(max_align_t) unsigned char scenario[SC_SCENARIO_MAX];
        double before = 0.0, after = 0.0, probes[EFFECT_PROBES];
        memcpy(scenario, scenario_at(scenarios, i), scenarios->system->scenario_size);
        if (!slowdown_of(scenarios->system, scenario, &before))
            continue;
        const size_t count = effect_probes(field, sc_field_get(field, scenario), probes);
        for (size_t k = 0; k < count; k++) {
            sc_field_set(field, scenario, probes[k]);
            if (!slowdown_of(scenarios->system, scenario, &after) || after < before ||
                after > before)
                return true;
        }
    }
    return false;
}

bool region_has_range(const struct sc_field *field)
{
    const bool is_number = field->kind == SC_REAL || field->kind == SC_INTEGER;
    return is_number && field->provenance != SC_CALIBRATED && !field->adds_alike &&
           !(field->source != NULL && strcmp(field->source, "kernels") == 0);
}
