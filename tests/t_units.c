/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values with units: every unit, every refusal, every rounding. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "tap.h"
#include "units.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static uint64_t random_bits(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* ---- Every unit ---- */

/* Written out here once more, as literals, so that a wrong row shows. */
static const struct {
    enum sc_dimension dimension;
    const char *text;
    double want;
    bool deferred;
} values[] = {
    {SC_NUMBER, "3", 3.0, false},
    {SC_SECONDS, "3ns", 3e-9, false},
    {SC_SECONDS, "3us", 3e-6, false},
    {SC_SECONDS, "3\xc2\xb5s", 3e-6, false},
    {SC_SECONDS, "3\xce\xbcs", 3e-6, false},
    {SC_SECONDS, "3ms", 3e-3, false},
    {SC_SECONDS, "3s", 3.0, false},
    {SC_SECONDS, "3min", 180.0, false},
    {SC_SECONDS, "3h", 10800.0, false},
    {SC_SECONDS, "3cycles", 3.0, true},
    {SC_SECONDS, "1cycle", 1.0, true},
    {SC_BYTES, "3B", 3.0, false},
    {SC_BYTES, "3bytes", 3.0, false},
    {SC_BYTES, "3kB", 3e3, false},
    {SC_BYTES, "3KB", 3e3, false},
    {SC_BYTES, "3MB", 3e6, false},
    {SC_BYTES, "3GB", 3e9, false},
    {SC_BYTES, "3TB", 3e12, false},
    {SC_BYTES, "3PB", 3e15, false},
    {SC_BYTES, "3KiB", 3072.0, false},
    {SC_BYTES, "3MiB", 3145728.0, false},
    {SC_BYTES, "3GiB", 3221225472.0, false},
    {SC_BYTES, "3TiB", 3298534883328.0, false},
    {SC_BYTES_PER_SECOND, "3B/s", 3.0, false},
    {SC_BYTES_PER_SECOND, "3bytes/s", 3.0, false},
    {SC_BYTES_PER_SECOND, "3kB/s", 3e3, false},
    {SC_BYTES_PER_SECOND, "3KB/s", 3e3, false},
    {SC_BYTES_PER_SECOND, "3MB/s", 3e6, false},
    {SC_BYTES_PER_SECOND, "3GB/s", 3e9, false},
    {SC_BYTES_PER_SECOND, "3TB/s", 3e12, false},
    {SC_BYTES_PER_SECOND, "3PB/s", 3e15, false},
    {SC_BYTES_PER_SECOND, "3KiB/s", 3072.0, false},
    {SC_BYTES_PER_SECOND, "3MiB/s", 3145728.0, false},
    {SC_BYTES_PER_SECOND, "3GiB/s", 3221225472.0, false},
    {SC_BYTES_PER_SECOND, "3TiB/s", 3298534883328.0, false},
    {SC_BYTES_PER_SECOND, "3Mbit/s", 375e3, false},
    {SC_BYTES_PER_SECOND, "3Gbit/s", 375e6, false},
    {SC_BYTES_PER_SECOND, "3Tbit/s", 375e9, false},
    {SC_BYTES_PER_SECOND, "3B/cycle", 3.0, true},
    {SC_BYTES_PER_SECOND, "3bytes/cycle", 3.0, true},
    {SC_HERTZ, "3Hz", 3.0, false},
    {SC_HERTZ, "3kHz", 3e3, false},
    {SC_HERTZ, "3MHz", 3e6, false},
    {SC_HERTZ, "3GHz", 3e9, false},
    {SC_SHARE, "0.3", 0.3, false},
    {SC_SHARE, "30%", 0.3, false},
    {SC_SHARE, "30 percent", 0.3, false},
    {SC_BITS, "3", 3.0, false},
    {SC_BITS, "3bits", 3.0, false},
    {SC_BITS, "1bit", 1.0, false},
    {SC_JOULES, "3pJ", 3e-12, false},
    {SC_JOULES, "3nJ", 3e-9, false},
    {SC_JOULES, "3uJ", 3e-6, false},
    {SC_JOULES, "3mJ", 3e-3, false},
    {SC_JOULES, "3J", 3.0, false},
    {SC_JOULES, "3kJ", 3e3, false},
    {SC_JOULES_PER_BIT, "3fJ/bit", 3e-15, false},
    {SC_JOULES_PER_BIT, "3pJ/bit", 3e-12, false},
    {SC_JOULES_PER_BIT, "3J/bit", 3.0, false},
    {SC_JOULE_SECONDS, "3J.s", 3.0, false},
    {SC_WATTS, "3mW", 3e-3, false},
    {SC_WATTS, "3W", 3.0, false},
    {SC_WATTS, "3kW", 3e3, false},
    {SC_FLOPS, "3FLOP/s", 3.0, false},
    {SC_FLOPS, "3GFLOP/s", 3e9, false},
    {SC_FLOPS, "3TFLOP/s", 3e12, false},
    {SC_FLOPS, "3PFLOP/s", 3e15, false},
    {SC_SQUARE_METRES, "3um2", 3e-12, false},
    {SC_SQUARE_METRES, "3mm2", 3e-6, false},
    {SC_SQUARE_METRES, "3mm^2", 3e-6, false},
    {SC_SQUARE_METRES, "3m2", 3.0, false},
    {SC_METRES, "3nm", 3e-9, false},
    {SC_METRES, "3um", 3e-6, false},
    {SC_METRES, "3mm", 3e-3, false},
    {SC_METRES, "3m", 3.0, false},
    {SC_PER_SECOND, "3/s", 3.0, false},
    {SC_PER_SECOND, "3 1/s", 3.0, false},
    {SC_PER_SECOND, "3k/s", 3e3, false},
    {SC_PER_SECOND, "3M/s", 3e6, false},
    {SC_CYCLES, "3", 3.0, false},
    {SC_CYCLES, "3cycles", 3.0, false},
    {SC_CYCLES, "1cycle", 1.0, false},
    /* numerals */
    {SC_SECONDS, "0.1us", 1e-7, false}, /* 0.1 * 1e-6 is another double */
    {SC_SECONDS, "0.3us", 3e-7, false},
    {SC_SECONDS, "  20  us\t", 20e-6, false},
    {SC_SECONDS, "+20us", 20e-6, false},
    {SC_SECONDS, "-20us", -20e-6, false},
    {SC_SECONDS, ".5s", 0.5, false},
    {SC_SECONDS, "5.s", 5.0, false},
    {SC_SECONDS, "2e3ns", 2e-6, false},
    {SC_SECONDS, "2E-3 s", 2e-3, false},
    {SC_SECONDS, "2e+3s", 2e3, false},
    {SC_SECONDS, "0001us", 1e-6, false},
    {SC_SECONDS, "0.1h", 360.0, false},
    {SC_SECONDS, "0e99999s", 0.0, false},
};

static enum sc_units_status parse(const char *text, enum sc_dimension dimension,
                                  struct sc_quantity *q)
{
    return sc_units_parse(text, strlen(text), dimension, NULL, '.', q);
}

static void test_values(void)
{
    for (size_t i = 0; i < COUNT(values); i++) {
        struct sc_quantity q;
        bool good = parse(values[i].text, values[i].dimension, &q) == SC_UNITS_OK;

        ok(good && q.value == values[i].want && q.per_cycle_deferred == values[i].deferred &&
               q.unit->dimension == values[i].dimension,
           "'%s' is %g", values[i].text, values[i].want);
    }
}

/* ---- Every refusal ---- */

static const struct {
    enum sc_dimension dimension;
    const char *text;
    enum sc_units_status want;
    const char *words;
} refusals[] = {
    {SC_SECONDS, "", SC_UNITS_EMPTY, "empty"},
    {SC_SECONDS, " \t ", SC_UNITS_EMPTY, "empty"},
    {SC_SECONDS, "fast", SC_UNITS_NOT_NUMBER, "not a number"},
    {SC_SECONDS, "us", SC_UNITS_NOT_NUMBER, "not a number"},
    {SC_SECONDS, ".us", SC_UNITS_NOT_NUMBER, "not a number"},
    {SC_SECONDS, "-", SC_UNITS_NOT_NUMBER, "not a number"},
    {SC_SECONDS, "--5s", SC_UNITS_NOT_NUMBER, "not a number"},
    {SC_SECONDS, "- 5s", SC_UNITS_NOT_NUMBER, "not a number"},
    {SC_SECONDS, ",5s", SC_UNITS_NOT_NUMBER, "not a number"},
    {SC_SECONDS, "inform", SC_UNITS_NOT_NUMBER, "not a number"},
    {SC_NUMBER, "nan", SC_UNITS_NOT_DECIMAL, "not a finite decimal number"},
    {SC_NUMBER, "-NaN(1)", SC_UNITS_NOT_DECIMAL, "not a finite decimal number"},
    {SC_NUMBER, "inf", SC_UNITS_NOT_DECIMAL, "not a finite decimal number"},
    {SC_SECONDS, "+Infinity s", SC_UNITS_NOT_DECIMAL, "not a finite decimal number"},
    {SC_NUMBER, "0x10", SC_UNITS_NOT_DECIMAL, "not a finite decimal number"},
    {SC_NUMBER, "-0X1p3", SC_UNITS_NOT_DECIMAL, "not a finite decimal number"},
    {SC_BYTES, "1,000MB", SC_UNITS_SEPARATOR,
     "no thousands separators, and the decimal sign is '.'"},
    {SC_BYTES, "1,5MB", SC_UNITS_SEPARATOR,
     "no thousands separators, and the decimal sign is '.'"},
    {SC_BYTES, "1 000 MB", SC_UNITS_SEPARATOR, NULL},
    {SC_NUMBER, "1 000", SC_UNITS_SEPARATOR, NULL},
    {SC_BYTES, "1'000MB", SC_UNITS_SEPARATOR, NULL},
    {SC_BYTES, "1\xe2\x80\x99" "000MB", SC_UNITS_SEPARATOR, NULL},
    {SC_BYTES, "1_000MB", SC_UNITS_SEPARATOR, NULL},
    {SC_BYTES, "1\xc2\xa0" "000MB", SC_UNITS_SEPARATOR, NULL},
    {SC_BYTES, "1\xe2\x80\xaf" "000MB", SC_UNITS_SEPARATOR, NULL},
    {SC_BYTES, "1\xe2\x80\x89" "000MB", SC_UNITS_SEPARATOR, NULL},
    {SC_NUMBER, "1e309", SC_UNITS_RANGE, "too large or too small a number"},
    {SC_BYTES, "1e300TB", SC_UNITS_RANGE, NULL},
    {SC_BYTES, "1e300TiB", SC_UNITS_RANGE, NULL},
    {SC_NUMBER, "1e99999999999", SC_UNITS_RANGE, NULL},
    {SC_NUMBER, "-1e-400", SC_UNITS_RANGE, NULL},
    {SC_SECONDS, "1e-320us", SC_UNITS_RANGE, NULL},
    {SC_SECONDS, "20", SC_UNITS_MISSING_UNIT,
     "no unit; takes ns, us, ms, s, min, h, cycles"},
    {SC_SECONDS, "0", SC_UNITS_MISSING_UNIT, NULL},
    {SC_BYTES, "20", SC_UNITS_MISSING_UNIT,
     "no unit; takes B, kB, MB, GB, TB, PB, KiB, MiB, GiB, TiB"},
    {SC_HERTZ, "20", SC_UNITS_MISSING_UNIT, NULL},
    {SC_JOULES, "20", SC_UNITS_MISSING_UNIT, NULL},
    {SC_PER_SECOND, "20", SC_UNITS_MISSING_UNIT, NULL},
    {SC_BYTES, "40mb", SC_UNITS_UNKNOWN_UNIT,
     "unknown unit, perhaps MB; takes B, kB, MB, GB, TB, PB, KiB, MiB, GiB, TiB"},
    {SC_SECONDS, "40US", SC_UNITS_UNKNOWN_UNIT,
     "unknown unit, perhaps us; takes ns, us, ms, s, min, h, cycles"},
    {SC_BYTES_PER_SECOND, "40Gb/s", SC_UNITS_UNKNOWN_UNIT,
     "unknown unit; takes B/s, kB/s, MB/s, GB/s, TB/s, PB/s, KiB/s, MiB/s, GiB/s, TiB/s, "
     "Mbit/s, Gbit/s, Tbit/s, B/cycle"},
    {SC_SHARE, "40x", SC_UNITS_UNKNOWN_UNIT, "unknown unit; takes a bare number, %"},
    {SC_NUMBER, "40x", SC_UNITS_UNKNOWN_UNIT, "unknown unit; takes a bare number"},
    {SC_NUMBER, "40k", SC_UNITS_UNKNOWN_UNIT, NULL},
    {SC_SECONDS, "1e", SC_UNITS_UNKNOWN_UNIT, NULL},
    {SC_SECONDS, "1e+", SC_UNITS_UNKNOWN_UNIT, NULL},
    {SC_BYTES, "20us", SC_UNITS_WRONG_DIMENSION,
     "a time, not a size; takes B, kB, MB, GB, TB, PB, KiB, MiB, GiB, TiB"},
    {SC_BYTES_PER_SECOND, "20MB", SC_UNITS_WRONG_DIMENSION, NULL},
    {SC_SECONDS, "5m", SC_UNITS_WRONG_DIMENSION,
     "a length, not a time; takes ns, us, ms, s, min, h, cycles"},
    {SC_NUMBER, "5%", SC_UNITS_WRONG_DIMENSION,
     "a share, not a pure number; takes a bare number"},
    {SC_CYCLES, "5\xc2\xb5s", SC_UNITS_WRONG_DIMENSION,
     "a time, not a number of cycles; takes a bare number, cycles"},
    {SC_SECONDS, "20us 5", SC_UNITS_TRAILING,
     "text after the number and its unit; takes ns, us, ms, s, min, h, cycles"},
    {SC_SECONDS, "20 5", SC_UNITS_TRAILING, NULL},
    {SC_SECONDS, "20us x", SC_UNITS_TRAILING, NULL},
    {SC_SECONDS, "20\tus\tx", SC_UNITS_TRAILING, NULL},
    {SC_NUMBER, "1.2.3", SC_UNITS_TRAILING, NULL},
    {SC_NUMBER, "1;2", SC_UNITS_TRAILING, NULL},
    {SC_NUMBER, "5-3", SC_UNITS_TRAILING, NULL},
};

static void test_refusals(void)
{
    char words[SC_UNITS_EXPLAIN_MAX];

    for (size_t i = 0; i < COUNT(refusals); i++) {
        struct sc_quantity q;
        enum sc_units_status status = parse(refusals[i].text, refusals[i].dimension, &q);

        is_int(status, refusals[i].want, "'%s' is refused", refusals[i].text);
        ok(isnan(q.value), "'%s' has no value", refusals[i].text);
        sc_units_explain(status, refusals[i].dimension, &q, '.', words);
        if (refusals[i].words)
            is_str(words, refusals[i].words, "'%s' is explained", refusals[i].text);
        else
            ok(words[0] != '\0', "'%s' has some explanation", refusals[i].text);
    }
}

static void test_too_long(void)
{
    char text[SC_UNITS_TEXT_MAX + 8];
    struct sc_quantity q;

    memset(text, '0', sizeof text);
    text[0] = '5';
    text[SC_UNITS_TEXT_MAX - 5] = 'e';
    text[SC_UNITS_TEXT_MAX - 4] = '-';
    text[SC_UNITS_TEXT_MAX - 3] = '5';
    text[SC_UNITS_TEXT_MAX - 2] = '0';
    text[SC_UNITS_TEXT_MAX - 1] = '7';
    is_int(sc_units_parse(text, SC_UNITS_TEXT_MAX, SC_NUMBER, NULL, '.', &q), SC_UNITS_OK,
           "the longest text");
    near(q.value, 0.5, 0.0, 0.0, "has its value");
    memmove(text + 1, text, SC_UNITS_TEXT_MAX);
    text[0] = '0';
    is_int(sc_units_parse(text, SC_UNITS_TEXT_MAX + 1, SC_NUMBER, NULL, '.', &q),
           SC_UNITS_TOO_LONG, "one byte more is refused");
    memset(text, ' ', sizeof text);
    text[0] = '5';
    is_int(sc_units_parse(text, sizeof text, SC_NUMBER, NULL, '.', &q), SC_UNITS_OK,
           "blanks around do not count");
}

/* ---- Headers, decimal comma, bare units ---- */

static const struct sc_unit *find(enum sc_dimension dimension, const char *name)
{
    return sc_unit_find(dimension, name, strlen(name));
}

static void test_headers(void)
{
    static const struct {
        enum sc_dimension dimension;
        const char *written, *meant;
    } cases[] = {
        {SC_SECONDS, "us", "us"},
        {SC_SECONDS, "cycles", "cycles"},
        {SC_BYTES, "bytes", "bytes"},
        {SC_BYTES_PER_SECOND, "bytes_per_s", "bytes/s"},
        {SC_BYTES_PER_SECOND, "GB/s", "GB/s"},
        {SC_BYTES_PER_SECOND, "GB_per_s", "GB/s"},
        {SC_BYTES_PER_SECOND, "Gbit_per_s", "Gbit/s"},
        {SC_BYTES_PER_SECOND, "bytes_per_cycle", "bytes/cycle"},
        {SC_BYTES_PER_SECOND, "B_per_cycle", "B/cycle"},
        {SC_JOULES_PER_BIT, "pJ_per_bit", "pJ/bit"},
        {SC_JOULE_SECONDS, "J_s", "J_s"},
        {SC_HERTZ, "MHz", "MHz"},
        {SC_FLOPS, "TFLOP_per_s", "TFLOP/s"},
        {SC_PER_SECOND, "per_s", "/s"},
        {SC_PER_SECOND, "k_per_s", "k/s"},
        {SC_SQUARE_METRES, "mm^2", "mm2"},
        {SC_METRES, "\xc2\xb5m", "um"},
        {SC_SHARE, "percent", "percent"},
        {SC_SHARE, "", ""},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct sc_unit *unit = find(cases[i].dimension, cases[i].written);

        is_str(unit ? unit->name : NULL, cases[i].meant, "header %s", cases[i].written);
    }
    ok(!find(SC_SECONDS, "bytes"), "no unit of another dimension");
    ok(!find(SC_SECONDS, ""), "no bare unit for a time");
    ok(!find(SC_SECONDS, "u"), "no part of a name");
    ok(!find(SC_SECONDS, "uss"), "no name with more after it");
    ok(!sc_unit_find(SC_SECONDS, "us\0x", 4), "no name with a NUL in it");
    ok(!find(SC_SECONDS, "_per__per__per__per__per__per__per__per_"), "no very long name");
}

static void test_bare_units(void)
{
    const struct sc_unit *us = find(SC_SECONDS, "us");
    const struct sc_unit *percent = find(SC_SHARE, "%");
    struct sc_quantity q;

    is_int(sc_units_parse("20", 2, SC_SECONDS, us, '.', &q), SC_UNITS_OK, "bare, in us");
    ok(q.value == 20e-6 && q.unit == us, "is 20 us");
    is_int(sc_units_parse("20ms", 4, SC_SECONDS, us, '.', &q), SC_UNITS_OK, "own unit");
    ok(q.value == 20e-3, "is 20 ms");
    is_int(sc_units_parse("50", 2, SC_SHARE, percent, '.', &q), SC_UNITS_OK, "bare, in %%");
    ok(q.value == 0.5, "is 0.5");
    is_int(sc_units_parse("20usxx", 4, SC_SECONDS, us, '.', &q), SC_UNITS_OK,
           "only `length` bytes count");
    ok(q.value == 20e-6, "and make 20 us");
}

static void test_decimal_comma(void)
{
    char words[SC_UNITS_EXPLAIN_MAX];
    struct sc_quantity q;
    enum sc_units_status status;

    is_int(sc_units_parse("1,5 us", 6, SC_SECONDS, NULL, ',', &q), SC_UNITS_OK, "1,5 us");
    ok(q.value == 1.5e-6, "is 1.5 us");
    is_int(sc_units_parse("0,1234567890123456789012us", 26, SC_SECONDS, NULL, ',', &q),
           SC_UNITS_OK, "many digits after a comma");
    ok(q.value == 0.1234567890123456789012e-6, "and their value");
    status = sc_units_parse("1.000,5us", 9, SC_SECONDS, NULL, ',', &q);
    is_int(status, SC_UNITS_SEPARATOR, "1.000,5 is grouped");
    is_str(sc_units_explain(status, SC_SECONDS, &q, ',', words),
           "no thousands separators, and the decimal sign is ','", "and told so");
    is_int(sc_units_parse("1.5us", 5, SC_SECONDS, NULL, ',', &q), SC_UNITS_SEPARATOR,
           "a point is not a comma");
}

/* ---- Rounding: the double nearest to the exact product ---- */

/* Decimal units: the text with the unit's power of ten in its exponent. */
static void test_decimal_rounding(void)
{
    static const struct {
        enum sc_dimension dimension;
        const char *name;
        int exponent10;
    } units[] = {
        {SC_SECONDS, "ns", -9}, {SC_SECONDS, "us", -6}, {SC_SECONDS, "s", 0},
        {SC_BYTES, "PB", 15},   {SC_SHARE, "%", -2},    {SC_JOULES_PER_BIT, "fJ/bit", -15},
    };
    enum { DRAWS = 300000 };
    uint64_t state = UINT64_C(4021);
    char text[64], oracle[64];
    int i;

    for (i = 0; i < DRAWS; i++) {
        size_t u = random_bits(&state) % COUNT(units);
        uint64_t digits = random_bits(&state) >> (random_bits(&state) % 64);
        unsigned fraction = (unsigned)(random_bits(&state) % 1000000);
        struct sc_quantity q;

        snprintf(text, sizeof text, "%llu.%06u %s", (unsigned long long)digits, fraction,
                 units[u].name);
        snprintf(oracle, sizeof oracle, "%llu.%06ue%d", (unsigned long long)digits, fraction,
                 units[u].exponent10);
        if (parse(text, units[u].dimension, &q) != SC_UNITS_OK || q.value != strtod(oracle, NULL))
            break;
    }
    ok(i == DRAWS, "decimal units round once%s%s", i == DRAWS ? "" : ", but not ",
       i == DRAWS ? "" : text);
}

/* Hours: 36 times the digits as a whole number, in two halves that do not
 * overflow. */
static void test_hour_rounding(void)
{
    enum { DRAWS = 200000 };
    const uint64_t half = UINT64_C(1000000000000);
    uint64_t state = UINT64_C(911);
    char text[64], oracle[64];
    int i;

    for (i = 0; i < DRAWS; i++) {
        uint64_t high = random_bits(&state) % (i % 2 ? half : 10);
        uint64_t low = random_bits(&state) % half;
        uint64_t low36 = low * 36, high36 = high * 36 + low36 / half;
        struct sc_quantity q;

        snprintf(text, sizeof text, "%llu%012llue-7h", (unsigned long long)high,
                 (unsigned long long)low);
        snprintf(oracle, sizeof oracle, "%llu%012llue-5", (unsigned long long)high36,
                 (unsigned long long)(low36 % half));
        if (parse(text, SC_SECONDS, &q) != SC_UNITS_OK || q.value != strtod(oracle, NULL))
            break;
    }
    ok(i == DRAWS, "hours round once%s%s", i == DRAWS ? "" : ", but not ",
       i == DRAWS ? "" : text);
}

/* Binary units: a power of two changes no digit. */
static void test_binary_rounding(void)
{
    enum { DRAWS = 200000 };
    uint64_t state = UINT64_C(31337);
    char text[64];
    int i;

    for (i = 0; i < DRAWS; i++) {
        unsigned whole = (unsigned)(random_bits(&state) % 100000);
        unsigned fraction = (unsigned)(random_bits(&state) % 10000);
        struct sc_quantity gib, gbit;

        snprintf(text, sizeof text, "%u.%04uGiB", whole, fraction);
        if (parse(text, SC_BYTES, &gib) != SC_UNITS_OK)
            break;
        snprintf(text, sizeof text, "%u.%04uGbit/s", whole, fraction);
        if (parse(text, SC_BYTES_PER_SECOND, &gbit) != SC_UNITS_OK)
            break;
        snprintf(text, sizeof text, "%u.%04u", whole, fraction);
        if (gib.value != ldexp(strtod(text, NULL), 30))
            break;
        snprintf(text, sizeof text, "%u.%04ue9", whole, fraction);
        if (gbit.value != strtod(text, NULL) / 8.0)
            break;
    }
    ok(i == DRAWS, "binary units round once%s%s", i == DRAWS ? "" : ", but not ",
       i == DRAWS ? "" : text);
}

/* ---- Random bytes ---- */

static bool sane(const char *text, size_t length, enum sc_dimension dimension, char decimal)
{
    char words[SC_UNITS_EXPLAIN_MAX];
    struct sc_quantity q;
    enum sc_units_status status = sc_units_parse(text, length, dimension, NULL, decimal, &q);

    sc_units_explain(status, dimension, &q, decimal, words);
    if (words[0] == '\0' || strlen(words) >= SC_UNITS_EXPLAIN_MAX - 1)
        return false;
    if (status == SC_UNITS_OK)
        return isfinite(q.value) && q.unit && q.unit->dimension == dimension &&
               q.per_cycle_deferred == q.unit->deferred;
    return isnan(q.value);
}

/* Mostly from an alphabet that comes close to values, in storage that ends
 * where the text does, for the sanitizer to watch. */
static void test_random_bytes(void)
{
    static const char alphabet[] =
        "0123456789..,,eE+- \t'_%/1kKMGTPBibtusmnhpJWHzxX\xc2\xb5\xce\xbc^2";
    enum { DRAWS = 500000, LONGEST = 24 };
    uint64_t state = UINT64_C(1234567);
    int i;

    for (i = 0; i < DRAWS; i++) {
        size_t length = random_bits(&state) % LONGEST;
        char *text = malloc(length ? length : 1);
        bool good;

        if (!text)
            bail("no memory");
        for (size_t k = 0; k < length; k++)
            text[k] = i % 4 ? alphabet[random_bits(&state) % (sizeof alphabet - 1)]
                            : (char)(unsigned char)(random_bits(&state) & 255);
        good = sane(text, length, (enum sc_dimension)(random_bits(&state) % SC_DIMENSIONS),
                    i % 2 ? '.' : ',');
        free(text);
        if (!good)
            break;
    }
    ok(i == DRAWS, "random bytes are read or refused");
}

/* ---- Writing ---- */

static void test_display(void)
{
    static const struct {
        enum sc_dimension dimension;
        double largest;
        const char *want;
    } cases[] = {
        {SC_SECONDS, 1e-12, "ns"},   {SC_SECONDS, 9.99e-7, "ns"},
        {SC_SECONDS, 1e-6, "us"},    {SC_SECONDS, 9.99e-4, "us"},
        {SC_SECONDS, 1e-3, "ms"},    {SC_SECONDS, 1.0, "s"},
        {SC_SECONDS, 1e6, "s"},      {SC_SECONDS, 0.0, "s"},
        {SC_BYTES, 4e7, "MB"},       {SC_BYTES, 1.0, "B"},
        {SC_BYTES, 1e30, "PB"},      {SC_BYTES_PER_SECOND, 2e12, "TB/s"},
        {SC_HERTZ, 1.8e9, "GHz"},    {SC_SHARE, 0.5, ""},
        {SC_SHARE, 1e-9, ""},        {SC_NUMBER, 1e9, ""},
        {SC_BITS, 1e9, "bits"},      {SC_JOULES, 2e-6, "uJ"},
        {SC_JOULES_PER_BIT, 4e-12, "pJ/bit"},
        {SC_JOULE_SECONDS, 1e-9, "J.s"},
        {SC_WATTS, 700.0, "W"},      {SC_FLOPS, 1e15, "PFLOP/s"},
        {SC_SQUARE_METRES, 2.5e-6, "mm2"},
        {SC_METRES, 7e-9, "nm"},     {SC_PER_SECOND, 2e3, "k/s"},
        {SC_CYCLES, 1e9, "cycles"},
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        is_str(sc_unit_for_display(cases[i].dimension, cases[i].largest)->name, cases[i].want,
               "%s of %g", sc_dimension_word(cases[i].dimension), cases[i].largest);
    is_str(sc_unit_for_display(SC_SECONDS, (double)NAN)->name, "s", "a time of NaN");
    is_str(sc_unit_for_display(SC_SECONDS, (double)INFINITY)->name, "s", "an infinite time");
}

static void test_factors(void)
{
    near(sc_unit_factor(find(SC_SECONDS, "us")), 1e-6, 0.0, 0.0, "seconds per us");
    near(sc_unit_factor(find(SC_SECONDS, "h")), 3600.0, 0.0, 0.0, "seconds per h");
    near(sc_unit_factor(find(SC_BYTES_PER_SECOND, "Gbit/s")), 1.25e8, 0.0, 0.0,
         "bytes/s per Gbit/s");
    near(sc_unit_factor(find(SC_BYTES, "MiB")), 1048576.0, 0.0, 0.0, "bytes per MiB");
    near(sc_unit_from_si(find(SC_SECONDS, "us"), 4.35e-4), 435.0, 0.0, 0.0, "4.35e-4 s in us");
    near(sc_unit_from_si(find(SC_SECONDS, "min"), 90.0), 1.5, 0.0, 0.0, "90 s in min");
    near(sc_unit_from_si(find(SC_BYTES, "GB"), 4e10), 40.0, 0.0, 0.0, "4e10 bytes in GB");
    near(sc_unit_from_si(find(SC_BYTES_PER_SECOND, "Gbit/s"), 1e9), 8.0, 0.0, 0.0,
         "1e9 bytes/s in Gbit/s");
}

static void test_dimensions(void)
{
    char accepted[SC_UNITS_ACCEPTED_MAX];

    for (int d = 0; d < SC_DIMENSIONS; d++) {
        enum sc_dimension dimension = (enum sc_dimension)d;
        const struct sc_unit *si = sc_unit_for_display(dimension, 0.0);

        ok(sc_dimension_word(dimension)[0] == 'a', "dimension %d has a name", d);
        ok(sc_units_accepted(dimension, accepted)[0] != '\0', "it takes %s", accepted);
        ok(si && sc_unit_factor(si) == 1.0 && si->dimension == dimension, "it shows SI");
    }
    is_str(sc_units_accepted(SC_BITS, accepted), "a bare number, bits", "bits may be bare");
}

int main(void)
{
    plan((int)COUNT(values) + 3 * (int)COUNT(refusals) + 4 + 25 + 8 + 7 + 4 + 28 + 8 +
         3 * SC_DIMENSIONS + 1);
    test_values();
    test_refusals();
    test_too_long();
    test_headers();
    test_bare_units();
    test_decimal_comma();
    test_decimal_rounding();
    test_hour_rounding();
    test_binary_rounding();
    test_random_bytes();
    test_display();
    test_factors();
    test_dimensions();
    return done();
}
