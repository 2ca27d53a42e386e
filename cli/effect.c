/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "effect.h"

#include <math.h>

static double probe_of(const struct sc_field *field, double value, double factor)
{
    double other = fmin(field->maximum, fmax(field->minimum, value * factor));
    /* From zero, a step into the range. */
    if (value == 0.0)
        other = fmin(field->maximum, fmax(field->minimum, 1e-6));
    if (field->kind == SC_INTEGER)
        other = value == 0.0 ? fmin(field->maximum, 8.0) : ceil(other);
    return other;
}

size_t effect_probes(const struct sc_field *field, double value, double probes[static EFFECT_PROBES])
{
    static const double factors[] = { 0.5, 2.0, 100.0 };
    size_t count = 0;
    if (field->kind == SC_PRESET)
        return 0;
    if (field->kind == SC_CHOICE) {
        for (size_t i = 0; i < field->choice_count && count < EFFECT_PROBES; i++)
            if (i != (size_t)value)
                probes[count++] = (double)i;
        return count;
    }
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++) {
        const double other = probe_of(field, value, factors[i]);
        if (other < value || other > value)
            probes[count++] = other;
    }
    return count;
}
