/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "product.h"

#include <stdlib.h>

void product_note_fitted(const struct resolver *resolver, const struct product *given,
                         const struct sweep *sweep)
{
    for (size_t j = 0; j < sweep->count; j++) {
        const struct setting *const setting = &sweep->values[j];
        const struct sc_field *const field = resolver_fitted_over(resolver, setting);
        bool is_given = false;
        for (size_t k = 0; k < given->count; k++)
            is_given = is_given || given->sweeps[k].field == field;
        if (field == NULL || is_given)
            continue;
        struct problem note;
        (void)problem_set(&note, "%s=%s, but %s is as it was fitted: give %s=VALUE for another "
                                 "machine",
                          setting->field->key, setting_name(setting), field->key, field->key);
        problem_print(&note);
        return;
    }
}

bool product_make(struct resolver *resolver, const char *const *words, size_t count,
                  struct product *product, struct problem *problem)
{
    *product = (struct product){ .sweeps = calloc(count + 1, sizeof *product->sweeps), .rows = 1 };
    if (product->sweeps == NULL)
        return problem_set(problem, "out of memory");
    for (size_t i = 0; i < count; i++) {
        struct sweep *sweep = &product->sweeps[product->count];
        if (!sweep_parse(resolver, words[i], sweep, problem))
            return false;
        product->count++;
        for (size_t j = 0; j + 1 < product->count; j++)
            if (product->sweeps[j].field == sweep->field)
                return problem_set(problem, "%s: %s is given twice", words[i], sweep->field->key);
        if (product->rows > SWEEP_VALUES_MAX / sweep->count)
            return problem_set(problem, "%s: more than %d scenarios in all", words[i],
                               (int)SWEEP_VALUES_MAX);
        product->rows *= sweep->count;
    }
    for (size_t i = 0; i < product->count; i++)
        product_note_fitted(resolver, product, &product->sweeps[i]);
    return true;
}

void product_fini(struct product *product)
{
    for (size_t i = 0; i < product->count; i++)
        sweep_fini(&product->sweeps[i]);
    free(product->sweeps);
}

void product_row(const struct product *product, size_t row, struct setting *settings)
{
    for (size_t i = product->count; i-- > 0;) {
        const struct sweep *sweep = &product->sweeps[i];
        settings[i] = sweep->values[row % sweep->count];
        row /= sweep->count;
    }
}
