/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "describe.h"

#include <math.h>

#include "preset.h"

void describe_default(const struct sc_field *field, const void *scenario, struct text *out)
{
    const double value = field->kind == SC_PRESET ? (double)NAN : sc_field_get(field, scenario);
    if (field->kind == SC_PRESET)
        text_add_string(out, field->preset != NULL ? field->preset : "");
    else if (field->kind == SC_CHOICE)
        text_add_string(out, sc_field_choice(field, (size_t)value)->name);
    else if (!isnan(value))
        scenario_quantity(value, field->dimension, out);
    else
        text_add_string(out, field->derived != NULL ? field->derived : "required");
}

void describe_range(const struct sc_field *field, struct text *out)
{
    scenario_quantity(field->minimum, field->dimension, out);
    text_add_string(out, " to ");
    scenario_quantity(field->maximum, field->dimension, out);
}

void describe_choices(const struct sc_field *field, struct text *out)
{
    for (size_t i = 0; i < field->choice_count; i++)
        text_printf(out, "%s%s", i > 0 ? " | " : "", sc_field_choice(field, i)->name);
}
