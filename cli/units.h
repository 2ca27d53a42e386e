/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Units: text such as 40MB, 20us, 2TB/s to SI doubles, and which unit to show.
 *
 * This is the only place that knows unit names.  One table of units per
 * dimension serves the reading of values, the units in CSV headers, the lists
 * in messages and the choice of a unit for tables.  Names are case-sensitive:
 * mb could be anything, so it is refused, with MB as a hint.
 *
 * A unit is multiplier * 10^exponent10 * binary SI units, kept apart so that
 * reading rounds once: the result is the double nearest to the exact product of
 * the decimal as written and the unit.  0.1us is the double 1e-7, not
 * 0.1 * 1e-6.  (Only KiB and its kin, and bits, near 1e-308 round twice.)
 *
 * Cycles are a time, and bytes per cycle a bandwidth, only once a clock is
 * known, and that is another key.  For them the value is the bare count and
 * `deferred` is set: seconds = count / clock, bytes/s = count * clock.
 *
 * Nothing is allocated, all strings and units are static, no locale matters.
 */
#ifndef SC_UNITS_H
#define SC_UNITS_H

#include <stdbool.h>
#include <stddef.h>

#include "field.h"

struct sc_unit {
    const char *name;
    enum sc_dimension dimension;
    int multiplier, exponent10;
    double binary;  /* a power of two */
    bool deferred;  /* counts cycles or is per cycle; needs a clock */
    bool alias;     /* one more spelling: read, never written or listed */
    bool displayed; /* may be chosen for a table */
};

struct sc_quantity {
    double value;               /* SI, or the bare count when deferred */
    const struct sc_unit *unit; /* that of the text, or the bare unit */
    bool per_cycle_deferred;    /* unit->deferred */
};

enum sc_units_status {
    SC_UNITS_OK = 0,
    SC_UNITS_EMPTY,           /* nothing but blanks */
    SC_UNITS_NOT_NUMBER,      /* does not start with a number */
    SC_UNITS_NOT_DECIMAL,     /* nan, inf, or hexadecimal */
    SC_UNITS_SEPARATOR,       /* 1,000 or 1 000 or 1'000, or the other decimal sign */
    SC_UNITS_TOO_LONG,        /* longer than SC_UNITS_TEXT_MAX bytes */
    SC_UNITS_RANGE,           /* beyond the largest double, or not zero but rounded to it */
    SC_UNITS_MISSING_UNIT,    /* a bare number, and no bare unit */
    SC_UNITS_UNKNOWN_UNIT,    /* out->unit: the same but for case, or NULL */
    SC_UNITS_WRONG_DIMENSION, /* out->unit: a unit of that name in another dimension */
    SC_UNITS_TRAILING,        /* a number, perhaps a unit, and then something else */
};

enum {
    SC_UNITS_TEXT_MAX = 512,     /* bytes of text that are read as one value */
    SC_UNITS_ACCEPTED_MAX = 160, /* bytes for any list of accepted units */
    SC_UNITS_EXPLAIN_MAX = 256   /* bytes for any explanation */
};

/* Reads text[0 .. length), which needs no NUL: blanks, a decimal number, blanks,
 * a unit of the dimension, blanks.  A number without unit is in `bare_unit` (of
 * the same dimension, such as the header of its column says), or, when that is
 * NULL, in the dimension's own: pure numbers, shares, bits and cycles have one.
 * `decimal` is '.' or ','.  The sign is not checked: ranges are the field's.
 * On error out->value is NaN and out->unit is NULL unless said above. */
enum sc_units_status sc_units_parse(const char *text, size_t length, enum sc_dimension dimension,
                                    const struct sc_unit *bare_unit, char decimal,
                                    struct sc_quantity *out) SC_MUST_CHECK;

/* Says in `out` what an error of sc_units_parse() means, in words that follow
 * "key=text: ": "a time, not a size; takes B, kB, MB, ...".  `q` and `decimal`
 * are those of that call.  Returns out. */
const char *sc_units_explain(enum sc_units_status status, enum sc_dimension dimension,
                             const struct sc_quantity *q, char decimal,
                             char out[static SC_UNITS_EXPLAIN_MAX]);

/* The unit of that name, or NULL.  CSV headers may spell '/' as _per_ or per_:
 * us, GB_per_s, pJ_per_bit, bytes_per_cycle.  Length 0 is the dimension's bare
 * unit, if it has one. */
const struct sc_unit *sc_unit_find(enum sc_dimension dimension, const char *name, size_t length);

/* SI units per unit; 1 for deferred units. */
double sc_unit_factor(const struct sc_unit *unit);

/* An SI value in that unit, the inverse of reading; one rounding for units that
 * are a power of ten or of two. */
double sc_unit_from_si(const struct sc_unit *unit, double value);

/* The unit in which values up to largest_abs (SI) read well: the largest that
 * does not exceed it, else the smallest; the SI unit for 0, NaN and infinity. */
const struct sc_unit *sc_unit_for_display(enum sc_dimension dimension, double largest_abs);

/* Lists the units taken, "ns, us, ms, s", in `out`, and returns it. */
const char *sc_units_accepted(enum sc_dimension dimension, char out[static SC_UNITS_ACCEPTED_MAX]);

/* What a dimension is called: "a time". */
const char *sc_dimension_word(enum sc_dimension dimension);

#endif
