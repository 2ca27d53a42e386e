/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Units: text such as 40MB, 20us, 2TB/s to SI doubles, and which unit to show. */
#include "units.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

#define KIBI 1024.0
#define MEBI (KIBI * KIBI)
#define GIBI (KIBI * MEBI)
#define TEBI (KIBI * GIBI)

#define ROW(d, text, m, e, b, needs_clock, other, shown)                                     \
    {                                                                                        \
        .name = (text), .dimension = (d), .multiplier = (m), .exponent10 = (e),              \
        .binary = (b), .deferred = (needs_clock), .alias = (other), .displayed = (shown)     \
    }

/* A unit for tables, one that is only read, and other spellings. */
#define SHOWN(d, text, e) ROW(d, text, 1, e, 1.0, false, false, true)
#define READ(d, text, m, e, b) ROW(d, text, m, e, b, false, false, false)
#define ALIAS(d, text, e) ROW(d, text, 1, e, 1.0, false, true, false)
#define CLOCKED(d, text) ROW(d, text, 1, 0, 1.0, true, false, false)
#define CLOCKED_ALIAS(d, text) ROW(d, text, 1, 0, 1.0, true, true, false)

/* Within a dimension the shown units are in ascending order. */

static const struct sc_unit numbers[] = {
    SHOWN(SC_NUMBER, "", 0),
};

static const struct sc_unit seconds[] = {
    SHOWN(SC_SECONDS, "ns", -9),
    SHOWN(SC_SECONDS, "us", -6),
    SHOWN(SC_SECONDS, "ms", -3),
    SHOWN(SC_SECONDS, "s", 0),
    READ(SC_SECONDS, "min", 6, 1, 1.0),
    READ(SC_SECONDS, "h", 36, 2, 1.0),
    CLOCKED(SC_SECONDS, "cycles"),
    CLOCKED_ALIAS(SC_SECONDS, "cycle"),
};

static const struct sc_unit bytes[] = {
    SHOWN(SC_BYTES, "B", 0),
    SHOWN(SC_BYTES, "kB", 3),
    SHOWN(SC_BYTES, "MB", 6),
    SHOWN(SC_BYTES, "GB", 9),
    SHOWN(SC_BYTES, "TB", 12),
    SHOWN(SC_BYTES, "PB", 15),
    READ(SC_BYTES, "KiB", 1, 0, KIBI),
    READ(SC_BYTES, "MiB", 1, 0, MEBI),
    READ(SC_BYTES, "GiB", 1, 0, GIBI),
    READ(SC_BYTES, "TiB", 1, 0, TEBI),
    ALIAS(SC_BYTES, "KB", 3),
    ALIAS(SC_BYTES, "bytes", 0),
};

static const struct sc_unit bandwidths[] = {
    SHOWN(SC_BYTES_PER_SECOND, "B/s", 0),
    SHOWN(SC_BYTES_PER_SECOND, "kB/s", 3),
    SHOWN(SC_BYTES_PER_SECOND, "MB/s", 6),
    SHOWN(SC_BYTES_PER_SECOND, "GB/s", 9),
    SHOWN(SC_BYTES_PER_SECOND, "TB/s", 12),
    SHOWN(SC_BYTES_PER_SECOND, "PB/s", 15),
    READ(SC_BYTES_PER_SECOND, "KiB/s", 1, 0, KIBI),
    READ(SC_BYTES_PER_SECOND, "MiB/s", 1, 0, MEBI),
    READ(SC_BYTES_PER_SECOND, "GiB/s", 1, 0, GIBI),
    READ(SC_BYTES_PER_SECOND, "TiB/s", 1, 0, TEBI),
    READ(SC_BYTES_PER_SECOND, "Mbit/s", 1, 6, 0.125),
    READ(SC_BYTES_PER_SECOND, "Gbit/s", 1, 9, 0.125),
    READ(SC_BYTES_PER_SECOND, "Tbit/s", 1, 12, 0.125),
    CLOCKED(SC_BYTES_PER_SECOND, "B/cycle"),
    CLOCKED_ALIAS(SC_BYTES_PER_SECOND, "bytes/cycle"),
    ALIAS(SC_BYTES_PER_SECOND, "KB/s", 3),
    ALIAS(SC_BYTES_PER_SECOND, "bytes/s", 0),
};

static const struct sc_unit hertz[] = {
    SHOWN(SC_HERTZ, "Hz", 0),
    SHOWN(SC_HERTZ, "kHz", 3),
    SHOWN(SC_HERTZ, "MHz", 6),
    SHOWN(SC_HERTZ, "GHz", 9),
};

static const struct sc_unit shares[] = {
    SHOWN(SC_SHARE, "", 0),
    READ(SC_SHARE, "%", 1, -2, 1.0),
    ALIAS(SC_SHARE, "percent", -2),
};

static const struct sc_unit bits[] = {
    SHOWN(SC_BITS, "bits", 0),
    ALIAS(SC_BITS, "bit", 0),
};

static const struct sc_unit joules[] = {
    SHOWN(SC_JOULES, "pJ", -12),
    SHOWN(SC_JOULES, "nJ", -9),
    SHOWN(SC_JOULES, "uJ", -6),
    SHOWN(SC_JOULES, "mJ", -3),
    SHOWN(SC_JOULES, "J", 0),
    SHOWN(SC_JOULES, "kJ", 3),
};

static const struct sc_unit joules_per_bit[] = {
    SHOWN(SC_JOULES_PER_BIT, "fJ/bit", -15),
    SHOWN(SC_JOULES_PER_BIT, "pJ/bit", -12),
    SHOWN(SC_JOULES_PER_BIT, "J/bit", 0),
};

static const struct sc_unit joule_seconds[] = {
    SHOWN(SC_JOULE_SECONDS, "J.s", 0),
    ALIAS(SC_JOULE_SECONDS, "J_s", 0),
};

static const struct sc_unit watts[] = {
    SHOWN(SC_WATTS, "mW", -3),
    SHOWN(SC_WATTS, "W", 0),
    SHOWN(SC_WATTS, "kW", 3),
};

static const struct sc_unit flops[] = {
    SHOWN(SC_FLOPS, "FLOP/s", 0),
    SHOWN(SC_FLOPS, "GFLOP/s", 9),
    SHOWN(SC_FLOPS, "TFLOP/s", 12),
    SHOWN(SC_FLOPS, "PFLOP/s", 15),
};

static const struct sc_unit square_metres[] = {
    SHOWN(SC_SQUARE_METRES, "um2", -12),
    SHOWN(SC_SQUARE_METRES, "mm2", -6),
    SHOWN(SC_SQUARE_METRES, "m2", 0),
};

static const struct sc_unit metres[] = {
    SHOWN(SC_METRES, "nm", -9),
    SHOWN(SC_METRES, "um", -6),
    SHOWN(SC_METRES, "mm", -3),
    SHOWN(SC_METRES, "m", 0),
};

static const struct sc_unit rates[] = {
    SHOWN(SC_PER_SECOND, "1/s", 0),
    SHOWN(SC_PER_SECOND, "k/s", 3),
    SHOWN(SC_PER_SECOND, "M/s", 6),
    ALIAS(SC_PER_SECOND, "/s", 0),
};

static const struct sc_unit cycles[] = {
    SHOWN(SC_CYCLES, "cycles", 0),
    ALIAS(SC_CYCLES, "cycle", 0),
};

struct dimension {
    const char *word;
    const struct sc_unit *units;
    size_t count;
    const struct sc_unit *bare; /* unit of numbers without one, or NULL */
};

#define UNITS(array) .units = (array), .count = COUNT(array)

static const struct dimension dimensions[] = {
    [SC_NUMBER] = {.word = "a pure number", UNITS(numbers), .bare = &numbers[0]},
    [SC_SECONDS] = {.word = "a time", UNITS(seconds)},
    [SC_BYTES] = {.word = "a size", UNITS(bytes)},
    [SC_BYTES_PER_SECOND] = {.word = "a bandwidth", UNITS(bandwidths)},
    [SC_HERTZ] = {.word = "a frequency", UNITS(hertz)},
    [SC_SHARE] = {.word = "a share", UNITS(shares), .bare = &shares[0]},
    [SC_BITS] = {.word = "a number of bits", UNITS(bits), .bare = &bits[0]},
    [SC_JOULES] = {.word = "an energy", UNITS(joules)},
    [SC_JOULES_PER_BIT] = {.word = "an energy per bit", UNITS(joules_per_bit)},
    [SC_JOULE_SECONDS] = {.word = "an energy-delay product", UNITS(joule_seconds)},
    [SC_WATTS] = {.word = "a power", UNITS(watts)},
    [SC_FLOPS] = {.word = "a computing rate", UNITS(flops)},
    [SC_SQUARE_METRES] = {.word = "an area", UNITS(square_metres)},
    [SC_METRES] = {.word = "a length", UNITS(metres)},
    [SC_PER_SECOND] = {.word = "a rate", UNITS(rates)},
    [SC_CYCLES] = {.word = "a number of cycles", UNITS(cycles), .bare = &cycles[0]},
};
_Static_assert(COUNT(dimensions) == SC_DIMENSIONS, "every dimension has its row");

static const struct dimension *dimension_row(enum sc_dimension dimension)
{
    assert((size_t)dimension < COUNT(dimensions));
    return &dimensions[dimension];
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* ---- Finding units ---- */

static bool same(const char *name, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (name[i] != text[i] || name[i] == '\0')
            return false;
    return name[length] == '\0';
}

static bool same_but_case(const char *name, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (lower(name[i]) != lower(text[i]) || name[i] == '\0')
            return false;
    return name[length] == '\0';
}

static const struct sc_unit *find_exact(const struct dimension *d, const char *name,
                                        size_t length)
{
    for (size_t i = 0; i < d->count; i++)
        if (same(d->units[i].name, name, length))
            return &d->units[i];
    return NULL;
}

/* Ways to write a part of a name that all units share. */
static const struct spelling {
    const char *written, *meant;
} spellings[] = {
    {"_per_", "/"},    {"per_", "/"},     {"^2", "2"},
    {"\xc2\xb5", "u"}, {"\xce\xbc", "u"}, /* micro sign U+00B5, Greek mu U+03BC */
};

static const struct spelling *spelling_at(const char *text, size_t length)
{
    for (size_t i = 0; i < COUNT(spellings); i++) {
        size_t size = strlen(spellings[i].written);

        if (size <= length && memcmp(text, spellings[i].written, size) == 0)
            return &spellings[i];
    }
    return NULL;
}

/* Writes the name as the tables spell it and returns its length, which is no
 * greater; 0 when nothing had to be changed. */
static size_t respell(const char *name, size_t length, char *out)
{
    size_t used = 0;
    bool changed = false;

    for (size_t i = 0; i < length;) {
        const struct spelling *s = spelling_at(name + i, length - i);

        out[used++] = s ? s->meant[0] : name[i];
        i += s ? strlen(s->written) : 1;
        changed = changed || s;
    }
    return changed ? used : 0;
}

const struct sc_unit *sc_unit_find(enum sc_dimension dimension, const char *name, size_t length)
{
    const struct dimension *d = dimension_row(dimension);
    const struct sc_unit *unit;
    char respelt[32];

    if (length == 0)
        return d->bare;
    unit = find_exact(d, name, length);
    if (unit || length > sizeof respelt)
        return unit;
    length = respell(name, length, respelt);
    return length ? find_exact(d, respelt, length) : NULL;
}

/* A unit of this name in any other dimension. */
static const struct sc_unit *find_elsewhere(enum sc_dimension dimension, const char *name,
                                            size_t length)
{
    for (size_t i = 0; i < COUNT(dimensions); i++) {
        const struct sc_unit *unit = NULL;

        if (i != (size_t)dimension)
            unit = sc_unit_find((enum sc_dimension)i, name, length);
        if (unit)
            return unit;
    }
    return NULL;
}

/* The unit that was meant if only the case is wrong.  Gb/s gets no hint: it is
 * more likely bits than bytes, and the list that follows names both. */
static const struct sc_unit *find_likeness(enum sc_dimension dimension, const char *name,
                                           size_t length)
{
    const struct dimension *d = dimension_row(dimension);

    if (dimension == SC_BYTES_PER_SECOND && memchr(name, 'b', length))
        return NULL;
    for (size_t i = 0; i < d->count; i++)
        if (same_but_case(d->units[i].name, name, length))
            return &d->units[i];
    return NULL;
}

/* ---- Numerals ---- */

/* A decimal numeral in a text: mantissa * 10^exponent10 if dropped is 0. */
struct numeral {
    uint64_t mantissa; /* its first 19 significant digits */
    int exponent10;    /* of the mantissa's last digit */
    int dropped;       /* digits after those */
    bool negative;
    const char *digits, *digits_end; /* digits and decimal sign, without sign and exponent */
};

/* Exponents beyond this are all the same: no double is that large or small. */
enum { EXPONENT_LIMIT = 9999 };

/* Takes a run of digits; `place` is 1 after the decimal sign. */
static const char *scan_digits(const char *p, const char *end, int place, struct numeral *n)
{
    for (; p < end && is_digit(*p); p++) {
        if (n->mantissa < UINT64_C(1000000000000000000)) {
            n->mantissa = n->mantissa * 10 + (uint64_t)(*p - '0');
            n->exponent10 -= place;
        } else {
            n->dropped++;
            n->exponent10 += 1 - place;
        }
    }
    return p;
}

/* Takes e5, E+5, e-5 if it is one: an e may also start a unit. */
static const char *scan_exponent(const char *p, const char *end, struct numeral *n)
{
    const char *q = p;
    bool negative = false;
    int exponent10 = 0;

    if (q == end || lower(*q) != 'e')
        return p;
    q++;
    if (q < end && (*q == '+' || *q == '-'))
        negative = *q++ == '-';
    if (q == end || !is_digit(*q))
        return p;
    for (; q < end && is_digit(*q); q++)
        if (exponent10 < EXPONENT_LIMIT)
            exponent10 = exponent10 * 10 + (*q - '0');
    n->exponent10 += negative ? -exponent10 : exponent10;
    return q;
}

/* Returns the end of the numeral at p, or NULL if there is none. */
static const char *scan_numeral(const char *p, const char *end, char decimal, struct numeral *n)
{
    bool any;

    *n = (struct numeral){0};
    if (p < end && (*p == '+' || *p == '-'))
        n->negative = *p++ == '-';
    n->digits = p;
    p = scan_digits(p, end, 0, n);
    any = p > n->digits;
    if (p < end && *p == decimal) {
        const char *fraction = p + 1;

        p = scan_digits(fraction, end, 1, n);
        any = any || p > fraction;
    }
    n->digits_end = p;
    return any ? scan_exponent(p, end, n) : NULL;
}

/* multiplier * numeral * 10^exponent10 with all its digits, rounded once: for
 * the rare numerals whose product does not fit the mantissa's 64 bits. */
static double long_numeral(const struct numeral *n, int multiplier, int exponent10)
{
    enum { ROOM_FOR_CARRY = 8, ROOM_FOR_EXPONENT = 16 };
    char text[ROOM_FOR_CARRY + SC_UNITS_TEXT_MAX + ROOM_FOR_EXPONENT];
    char *digits_end = text + ROOM_FOR_CARRY + SC_UNITS_TEXT_MAX;
    char *out = digits_end;
    int carry = 0;

    for (const char *p = n->digits_end; p > n->digits; p--) {
        if (!is_digit(p[-1]))
            continue;
        carry += multiplier * (p[-1] - '0');
        *--out = (char)('0' + carry % 10);
        carry /= 10;
    }
    for (; carry > 0; carry /= 10)
        *--out = (char)('0' + carry % 10);
    snprintf(digits_end, ROOM_FOR_EXPONENT, "e%d", exponent10 + n->exponent10 - n->dropped);
    return strtod(out, NULL);
}

/* The numeral in SI units. */
static double numeral_value(const struct numeral *n, const struct sc_unit *unit)
{
    uint64_t multiplier = (uint64_t)unit->multiplier;
    double value;

    if (n->dropped || (multiplier > 1 && n->mantissa > UINT64_MAX / multiplier))
        value = long_numeral(n, unit->multiplier, unit->exponent10);
    else
        value = sc_number_from_decimal(n->mantissa * multiplier,
                                       n->exponent10 + unit->exponent10);
    value *= unit->binary;
    return n->negative ? -value : value;
}

/* ---- What is wrong with a text ---- */

static bool starts_with(const char *p, const char *end, const char *prefix)
{
    size_t length = strlen(prefix);

    return (size_t)(end - p) >= length && memcmp(p, prefix, length) == 0;
}

/* The text is no numeral: is it one that C would take? */
static enum sc_units_status refuse_numeral(const char *p, const char *end)
{
    static const char *const words[] = {"nan", "inf", "infinity"};
    const char *word_end;

    if (p < end && (*p == '+' || *p == '-'))
        p++;
    for (word_end = p; word_end < end && lower(*word_end) >= 'a' && lower(*word_end) <= 'z';)
        word_end++;
    for (size_t i = 0; i < COUNT(words); i++)
        if (same_but_case(words[i], p, (size_t)(word_end - p)))
            return SC_UNITS_NOT_DECIMAL;
    return SC_UNITS_NOT_NUMBER;
}

/* True if p continues a numeral with a thousands separator or the decimal sign
 * of the other convention.  A blank separates only a group of three. */
static bool continues_grouped(const char *p, const char *end, char decimal)
{
    /* The last four: no-break, narrow no-break and thin space, apostrophe. */
    static const char *const separators[] = {
        ",", ".", "'", "_", "\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x89", "\xe2\x80\x99",
    };

    if (end - p >= 4 && is_blank(p[0]) && is_digit(p[1]) && is_digit(p[2]) && is_digit(p[3]))
        return end - p == 4 || !is_digit(p[4]);
    for (size_t i = 0; i < COUNT(separators); i++) {
        const char *after = p + strlen(separators[i]);

        if (separators[i][0] != decimal && starts_with(p, end, separators[i]) && after < end &&
            is_digit(*after))
            return true;
    }
    return false;
}

/* True if a character may begin the name of a unit. */
static bool begins_unit(const char *p, const char *end)
{
    return (lower(*p) >= 'a' && lower(*p) <= 'z') || *p == '%' || *p == '/' ||
           (unsigned char)*p >= 0x80 || starts_with(p, end, "1/");
}

/* The text from p on, after a numeral that began at n->digits, is no unit. */
static enum sc_units_status refuse_unit(const char *p, const char *end,
                                        enum sc_dimension dimension, char decimal,
                                        const struct numeral *n, struct sc_quantity *out)
{
    const char *unit = p;
    size_t length;

    if (n->digits_end - n->digits == 1 && n->digits[0] == '0' && lower(*p) == 'x')
        return SC_UNITS_NOT_DECIMAL;
    if (continues_grouped(p, end, decimal))
        return SC_UNITS_SEPARATOR;
    while (is_blank(*unit))
        unit++;
    length = (size_t)(end - unit);
    if (!begins_unit(unit, end) || memchr(unit, ' ', length) || memchr(unit, '\t', length))
        return SC_UNITS_TRAILING;
    out->unit = find_elsewhere(dimension, unit, length);
    if (out->unit)
        return SC_UNITS_WRONG_DIMENSION;
    out->unit = find_likeness(dimension, unit, length);
    return SC_UNITS_UNKNOWN_UNIT;
}

/* ---- Reading ---- */

/* The unit in [p, end), which is blanks and a name, or the bare one. */
static const struct sc_unit *read_unit(const char *p, const char *end,
                                       enum sc_dimension dimension,
                                       const struct sc_unit *bare_unit)
{
    while (p < end && is_blank(*p))
        p++;
    if (p == end && bare_unit)
        return bare_unit;
    return sc_unit_find(dimension, p, (size_t)(end - p));
}

enum sc_units_status sc_units_parse(const char *text, size_t length, enum sc_dimension dimension,
                                    const struct sc_unit *bare_unit, char decimal,
                                    struct sc_quantity *out)
{
    const char *end = text + length, *rest;
    const struct sc_unit *unit;
    struct numeral n;
    double value;

    assert(decimal == '.' || decimal == ',');
    assert(!bare_unit || bare_unit->dimension == dimension);
    *out = (struct sc_quantity){.value = (double)NAN};
    while (text < end && is_blank(*text))
        text++;
    while (end > text && is_blank(end[-1]))
        end--;
    if (text == end)
        return SC_UNITS_EMPTY;
    if (end - text > SC_UNITS_TEXT_MAX)
        return SC_UNITS_TOO_LONG;
    rest = scan_numeral(text, end, decimal, &n);
    if (!rest)
        return refuse_numeral(text, end);
    unit = read_unit(rest, end, dimension, bare_unit);
    if (!unit && rest == end)
        return SC_UNITS_MISSING_UNIT;
    if (!unit)
        return refuse_unit(rest, end, dimension, decimal, &n, out);
    value = numeral_value(&n, unit);
    if (!isfinite(value) || (value == 0.0 && n.mantissa != 0))
        return SC_UNITS_RANGE;
    *out = (struct sc_quantity){value, unit, unit->deferred};
    return SC_UNITS_OK;
}

/* ---- Writing ---- */

double sc_unit_factor(const struct sc_unit *unit)
{
    return sc_number_from_decimal((uint64_t)unit->multiplier, unit->exponent10) * unit->binary;
}

double sc_unit_from_si(const struct sc_unit *unit, double value)
{
    double power = sc_number_from_decimal(1, abs(unit->exponent10));

    /* The power is a whole number and exact, 10^-6 would not be. */
    value /= unit->binary;
    value = unit->exponent10 < 0 ? value * power : value / power;
    return value / unit->multiplier;
}

const struct sc_unit *sc_unit_for_display(enum sc_dimension dimension, double largest_abs)
{
    const struct dimension *d = dimension_row(dimension);
    const struct sc_unit *best = NULL;

    /* Written so that NaN takes the SI unit as well. */
    if (!(largest_abs > 0.0 && isfinite(largest_abs)))
        largest_abs = 1.0;
    for (size_t i = 0; i < d->count; i++)
        if (d->units[i].displayed && (!best || sc_unit_factor(&d->units[i]) <= largest_abs))
            best = &d->units[i];
    return best;
}

const char *sc_units_accepted(enum sc_dimension dimension, char out[static SC_UNITS_ACCEPTED_MAX])
{
    const struct dimension *d = dimension_row(dimension);
    const char *comma = d->bare ? ", " : "";
    size_t used = 0;

    out[0] = '\0';
    if (d->bare)
        used = (size_t)snprintf(out, SC_UNITS_ACCEPTED_MAX, "a bare number");
    for (size_t i = 0; i < d->count; i++) {
        if (d->units[i].alias || d->units[i].name[0] == '\0')
            continue;
        used += (size_t)snprintf(out + used, SC_UNITS_ACCEPTED_MAX - used, "%s%s", comma,
                                 d->units[i].name);
        assert(used < SC_UNITS_ACCEPTED_MAX);
        comma = ", ";
    }
    return out;
}

const char *sc_dimension_word(enum sc_dimension dimension)
{
    return dimension_row(dimension)->word;
}

/* What each error is called, and whether the units that are taken help. */
static const struct reason {
    const char *words;
    bool lists_units;
} reasons[] = {
    [SC_UNITS_OK] = {"fine", false},
    [SC_UNITS_EMPTY] = {"empty", false},
    [SC_UNITS_NOT_NUMBER] = {"not a number", false},
    [SC_UNITS_NOT_DECIMAL] = {"not a finite decimal number", false},
    [SC_UNITS_SEPARATOR] = {"no thousands separators, and the decimal sign is ", false},
    [SC_UNITS_TOO_LONG] = {"too long for a number", false},
    [SC_UNITS_RANGE] = {"too large or too small a number", false},
    [SC_UNITS_MISSING_UNIT] = {"no unit", true},
    [SC_UNITS_UNKNOWN_UNIT] = {"unknown unit", true},
    [SC_UNITS_WRONG_DIMENSION] = {"", true},
    [SC_UNITS_TRAILING] = {"text after the number and its unit", true},
};

const char *sc_units_explain(enum sc_units_status status, enum sc_dimension dimension,
                             const struct sc_quantity *q, char decimal,
                             char out[static SC_UNITS_EXPLAIN_MAX])
{
    const size_t size = SC_UNITS_EXPLAIN_MAX;
    size_t used;

    assert((size_t)status < COUNT(reasons));
    used = (size_t)snprintf(out, size, "%s", reasons[status].words);
    if (status == SC_UNITS_SEPARATOR)
        used += (size_t)snprintf(out + used, size - used, "'%c'", decimal);
    if (status == SC_UNITS_UNKNOWN_UNIT && q->unit)
        used += (size_t)snprintf(out + used, size - used, ", perhaps %s", q->unit->name);
    if (status == SC_UNITS_WRONG_DIMENSION)
        used += (size_t)snprintf(out + used, size - used, "%s, not %s",
                                 sc_dimension_word(q->unit->dimension),
                                 sc_dimension_word(dimension));
    if (reasons[status].lists_units) {
        char taken[SC_UNITS_ACCEPTED_MAX];

        snprintf(out + used, size - used, "; takes %s", sc_units_accepted(dimension, taken));
    }
    return out;
}
