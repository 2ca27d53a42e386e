/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzz target: any bytes as a value with unit.
 *
 * The first byte picks the dimension, the second the decimal sign and whether
 * a unit stands in for bare numbers; the rest is the text.  What is read must
 * be finite and in its dimension and must print and read back the same; what
 * is refused must be explained.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "units.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int condition)
{
    if (!condition)
        abort();
}

/* The value as a bare number in the SI unit is the value. */
static void check_read_back(const struct sc_quantity *q)
{
    const struct sc_unit *si = sc_unit_for_display(q->unit->dimension, 0.0);
    char text[SC_NUMBER_MAX];
    struct sc_quantity again;
    size_t length = sc_number_format(text, q->value, SC_NUMBER_SHORTEST);

    demand(length > 0 && length == strlen(text));
    demand(sc_units_parse(text, length, si->dimension, si, '.', &again) == SC_UNITS_OK);
    demand(again.value == q->value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char words[SC_UNITS_EXPLAIN_MAX];
    enum sc_dimension dimension;
    enum sc_units_status status;
    const struct sc_unit *bare;
    struct sc_quantity q;
    char decimal;

    if (size < 2)
        return 0;
    dimension = (enum sc_dimension)(data[0] % SC_DIMENSIONS);
    decimal = data[1] & 1 ? ',' : '.';
    bare = data[1] & 2 ? sc_unit_for_display(dimension, 1.0) : NULL;
    status = sc_units_parse((const char *)data + 2, size - 2, dimension, bare, decimal, &q);
    sc_units_explain(status, dimension, &q, decimal, words);
    demand(words[0] != '\0' && strlen(words) < SC_UNITS_EXPLAIN_MAX - 1);
    if (status != SC_UNITS_OK) {
        demand(isnan(q.value));
        demand(!q.unit == (status != SC_UNITS_WRONG_DIMENSION) || status == SC_UNITS_UNKNOWN_UNIT);
        return 0;
    }
    demand(isfinite(q.value) && q.unit && q.unit->dimension == dimension);
    check_read_back(&q);
    return 0;
}
