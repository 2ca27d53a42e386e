/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers as text, against the C library: every digit it prints is ours too. */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* xorshift64: the same sequence everywhere. */
static uint64_t random_bits(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static double from_bits(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- Kinds of doubles ---- */

static double any_double(uint64_t *state)
{
    double value;

    do
        value = from_bits(random_bits(state));
    while (!isfinite(value));
    return value;
}

static double short_decimal(uint64_t *state)
{
    static const unsigned sizes[] = {10, 100, 1000, 10000, 1000000, 1000000000};
    unsigned size = sizes[random_bits(state) % COUNT(sizes)];
    char text[32];

    snprintf(text, sizeof text, "%ue%d", (unsigned)(random_bits(state) % size),
             (int)(random_bits(state) % 40) - 20);
    return strtod(text, NULL);
}

/* Odd multiples of small negative powers of two end in 5: exact ties at the
 * digit before. */
static double tie(uint64_t *state)
{
    int places = (int)(random_bits(state) % 20);
    uint64_t bits = random_bits(state) >> (1 + random_bits(state) % 62);

    return ldexp((double)(bits | 1), -places);
}

/* 1.0005 is not a tie but lies next to one. */
static double near_tie(uint64_t *state)
{
    char text[40];

    snprintf(text, sizeof text, "%u.%0*u5", (unsigned)(random_bits(state) % 100),
             1 + (int)(random_bits(state) % 8), (unsigned)(random_bits(state) % 10));
    return strtod(text, NULL);
}

static double near_power_of_ten(uint64_t *state)
{
    char text[16];
    double value;
    int steps = (int)(random_bits(state) % 9) - 4;

    snprintf(text, sizeof text, "1e%d", (int)(random_bits(state) % 616) - 307);
    value = strtod(text, NULL);
    for (; steps < 0; steps++)
        value = nextafter(value, 0.0);
    for (; steps > 0; steps--)
        value = nextafter(value, (double)INFINITY);
    return value;
}

static double whole_number(uint64_t *state)
{
    return (double)(int64_t)(random_bits(state) >> (random_bits(state) % 63));
}

static double subnormal(uint64_t *state)
{
    return from_bits(random_bits(state) >> 12);
}

static const struct kind {
    const char *name;
    double (*draw)(uint64_t *state);
    int draws;
} kinds[] = {
    {"any doubles", any_double, 600000},
    {"short decimals", short_decimal, 600000},
    {"ties", tie, 400000},
    {"near ties", near_tie, 300000},
    {"near powers of ten", near_power_of_ten, 100000},
    {"whole numbers", whole_number, 200000},
    {"subnormals", subnormal, 50000},
};

/* ---- What the text must be ---- */

/* The layout that number.h promises, made of the digits of "%.*e". */
static void expect_format(char *out, size_t size, double value, int digits)
{
    char text[64], *e, *last;
    int exponent10, count;

    if (value == 0.0) {
        snprintf(out, size, "0");
        return;
    }
    snprintf(text, sizeof text, "%.*e", digits - 1, fabs(value));
    e = strchr(text, 'e');
    exponent10 = (int)strtol(e + 1, NULL, 10);
    last = e;
    while (last[-1] == '0' && last - text > 2)
        last--;
    if (last[-1] == '.')
        last--;
    count = (int)(last - text) - (last - text > 1 ? 1 : 0);
    if (exponent10 < -5 || exponent10 >= 15)
        snprintf(out, size, "%s%.*s%s", value < 0.0 ? "-" : "", (int)(last - text), text, e);
    else if (count - 1 >= exponent10)
        snprintf(out, size, "%.*f", count - 1 - exponent10,
                 strtod(text, NULL) * (value < 0.0 ? -1.0 : 1.0));
    else { /* a whole number below 1e15 is exact */
        snprintf(out, size, "%.0f", strtod(text, NULL) * (value < 0.0 ? -1.0 : 1.0));
    }
}

static void test_agreement(const struct kind *kind)
{
    uint64_t state = UINT64_C(88172645463325252);
    char got[SC_NUMBER_MAX], want[400];
    size_t length = 0;
    int i, digits = 0;
    double value = 0.0;

    for (i = 0; i < kind->draws; i++) {
        value = kind->draw(&state);
        digits = 1 + (int)(random_bits(&state) % SC_NUMBER_EXACT);
        length = sc_number_format(got, value, digits);
        expect_format(want, sizeof want, value, digits);
        if (length != strlen(got) || strcmp(got, want) != 0)
            break;
    }
    if (!ok(i == kind->draws, "%s: same digits as printf", kind->name))
        is_str(got, want, "%a with %d digits, length %zu", value, digits, length);
}

static void test_round_trip(const struct kind *kind)
{
    uint64_t state = UINT64_C(2463534242);
    char exact[SC_NUMBER_MAX], shortest[SC_NUMBER_MAX], want[64];
    int i, digits;
    double value = 0.0;

    for (i = 0; i < kind->draws / 4; i++) {
        value = kind->draw(&state);
        sc_number_format(exact, value, SC_NUMBER_EXACT);
        sc_number_format(shortest, value, SC_NUMBER_SHORTEST);
        for (digits = 15; digits < 17; digits++) {
            snprintf(want, sizeof want, "%.*e", digits - 1, value);
            if (strtod(want, NULL) == value)
                break;
        }
        sc_number_format(want, value, digits);
        if (strtod(exact, NULL) != value || strcmp(shortest, want) != 0)
            break;
    }
    if (!ok(i == kind->draws / 4, "%s: 17 and shortest digits read back", kind->name))
        is_str(shortest, want, "%a, in 17 digits %s", value, exact);
}

static void test_fixed(const struct kind *kind)
{
    uint64_t state = UINT64_C(1181783497276652981);
    char got[SC_NUMBER_MAX], want[400];
    size_t length = 0;
    int i, decimals = 0;
    double value = 0.0;

    for (i = 0; i < kind->draws / 4; i++) {
        do
            value = kind->draw(&state);
        while (fabs(value) >= 1e15);
        decimals = (int)(random_bits(&state) % 18);
        length = sc_number_format_fixed(got, value, decimals);
        snprintf(want, sizeof want, "%.*f", decimals, value);
        if (want[0] == '-' && strspn(want, "-0.") == strlen(want))
            memmove(want, want + 1, strlen(want));
        if (length != strlen(got) || strcmp(got, want) != 0)
            break;
    }
    if (!ok(i == kind->draws / 4, "%s: same decimals as printf", kind->name))
        is_str(got, want, "%a with %d decimals, length %zu", value, decimals, length);
}

/* ---- Layout, corner by corner ---- */

static void test_layout(void)
{
    static const struct {
        double value;
        int digits;
        const char *want;
    } cases[] = {
        {0.0, 6, "0"},
        {-0.0, 6, "0"},
        {1.0, 1, "1"},
        {-1.5, 6, "-1.5"},
        {40000000.0, 6, "40000000"},
        {123456789.0, 6, "123457000"},
        {999999.5, 6, "1000000"},
        {0.99999999, 6, "1"},
        {2e-05, 6, "0.00002"},
        {1e-05, 6, "0.00001"},
        {9.999999e-06, 6, "0.00001"},
        {9.99999e-06, 6, "9.99999e-06"},
        {1.5e-09, 6, "1.5e-09"},
        {-1.1e-09, 17, "-1.0999999999999999e-09"},
        {999999999999999.0, 15, "999999999999999"},
        {999999999999999.0, 6, "1e+15"},
        {1e15, 17, "1e+15"},
        {1.25e+123, 6, "1.25e+123"},
        {0.1, 17, "0.10000000000000001"},
        {0.1, SC_NUMBER_SHORTEST, "0.1"},
        {0.1 + 0.2, SC_NUMBER_SHORTEST, "0.30000000000000004"},
        {0.5, 1, "0.5"},
        {2.5, 1, "2"},
        {3.5, 1, "4"},
        {1.0005, 4, "1"},
        {DBL_MAX, 17, "1.7976931348623157e+308"},
        {DBL_MIN, 17, "2.2250738585072014e-308"},
        {4.9406564584124654e-324, 17, "4.9406564584124654e-324"},
        {4.9406564584124654e-324, 1, "5e-324"},
    };
    char got[SC_NUMBER_MAX];

    for (size_t i = 0; i < COUNT(cases); i++) {
        sc_number_format(got, cases[i].value, cases[i].digits);
        is_str(got, cases[i].want, "%a with %d digits", cases[i].value, cases[i].digits);
    }
}

static void test_fixed_layout(void)
{
    static const struct {
        double value;
        int decimals;
        const char *want;
    } cases[] = {
        {0.0, 0, "0"},
        {-0.0, 2, "0.00"},
        {-0.004, 2, "0.00"},
        {-0.006, 2, "-0.01"},
        {0.125, 2, "0.12"},
        {0.375, 2, "0.38"},
        {99.999, 2, "100.00"},
        {0.5, 0, "0"},
        {1.5, 0, "2"},
        {1e-300, 3, "0.000"},
        {4e-324, 3, "0.000"},
        {123456.0, 1, "123456.0"},
        {999999999999999.875, 3, "999999999999999.875"},
        {0.1, 17, "0.10000000000000001"},
        {1e15, 3, "1e+15"},
        {-1.23456e20, 2, "-1.23e+20"},
        {123456789012345680.0, 17, "1.2345678901234568e+17"},
    };
    char got[SC_NUMBER_MAX];

    for (size_t i = 0; i < COUNT(cases); i++) {
        sc_number_format_fixed(got, cases[i].value, cases[i].decimals);
        is_str(got, cases[i].want, "%a with %d decimals", cases[i].value, cases[i].decimals);
    }
}

static void test_no_decimal(void)
{
    static const double values[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    char got[SC_NUMBER_MAX];

    for (size_t i = 0; i < COUNT(values); i++) {
        snprintf(got, sizeof got, "unchanged");
        is_int((long long)sc_number_format(got, values[i], 6), 0, "%f has no length", values[i]);
        is_str(got, "", "%f has no text", values[i]);
        snprintf(got, sizeof got, "unchanged");
        is_int((long long)sc_number_format_fixed(got, values[i], 2), 0, "%f, fixed", values[i]);
        is_str(got, "", "%f has no fixed text", values[i]);
    }
}

/* ---- Decimals back to numbers ---- */

static void test_from_random_decimals(void)
{
    enum { DRAWS = 1000000 };
    uint64_t state = UINT64_C(5545);
    char text[48];
    int i;

    for (i = 0; i < DRAWS; i++) {
        uint64_t digits = random_bits(&state) >> (random_bits(&state) % 64);
        int spread = i % 2 ? 760 : 60;
        int exponent10 = (int)(random_bits(&state) % (uint64_t)spread) - spread / 2;

        snprintf(text, sizeof text, "%llue%d", (unsigned long long)digits, exponent10);
        if (sc_number_from_decimal(digits, exponent10) != strtod(text, NULL))
            break;
    }
    ok(i == DRAWS, "decimals read as strtod does%s%s", i == DRAWS ? "" : ", but not ",
       i == DRAWS ? "" : text);
}

/* The decimals that printf makes of a double and of the two beside it. */
static void test_from_near_doubles(void)
{
    enum { DRAWS = 300000 };
    uint64_t state = UINT64_C(77031);
    int i;

    for (i = 0; i < DRAWS; i++) {
        double value = fabs(any_double(&state));
        char text[48];
        uint64_t digits = 0;
        const char *p = text;

        snprintf(text, sizeof text, "%.*e", 14 + i % 5, value);
        for (; *p != 'e'; p++)
            if (*p != '.')
                digits = digits * 10 + (uint64_t)(*p - '0');
        if (sc_number_from_decimal(digits, (int)strtol(p + 1, NULL, 10) - 14 - i % 5) != strtod(text, NULL))
            break;
    }
    ok(i == DRAWS, "decimals of 15 to 19 digits near doubles read as strtod does");
}

static void test_from_hard_decimals(void)
{
    static const struct {
        uint64_t digits;
        int exponent10;
        double want;
    } cases[] = {
        {0, 0, 0.0},
        {0, 999, 0.0},
        {0, -999, 0.0},
        {1, 308, 1e308},
        {1, 309, (double)INFINITY},
        {17976931348623158, 292, DBL_MAX},
        {17976931348623159, 292, (double)INFINITY},
        {UINT64_C(9007199254740993), 0, 9007199254740992.0}, /* tie to even, down */
        {UINT64_C(9007199254740995), 0, 9007199254740996.0}, /* and up */
        {UINT64_MAX, 0, 18446744073709551616.0},
        {22250738585072012, -324, DBL_MIN},
        {22250738585072011, -324, 2.2250738585072011e-308}, /* once hung other readers */
        {5, -324, 4.9406564584124654e-324},
        {2, -324, 0.0},
        {UINT64_MAX, -400, 0.0},
        {1, 2000000000, (double)INFINITY},
        {1, -2000000000, 0.0},
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        ok(sc_number_from_decimal(cases[i].digits, cases[i].exponent10) == cases[i].want,
           "%llue%d", (unsigned long long)cases[i].digits, cases[i].exponent10);
}

/* A locale with a decimal comma, if this machine has one.  Values that the
 * library has to settle: ties. */
static void test_locale(void)
{
    char got[SC_NUMBER_MAX];

    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8")) {
        skip(3, "no locale with a decimal comma");
        return;
    }
    sc_number_format(got, 1.5, 6);
    is_str(got, "1.5", "point in a comma locale");
    sc_number_format(got, 1.0625, 4);
    is_str(got, "1.062", "a tie in a comma locale");
    sc_number_format_fixed(got, 1.0625, 3);
    is_str(got, "1.062", "a fixed tie in a comma locale");
    setlocale(LC_ALL, "C");
}

/* As if written and read again: the nearest double, not one beside it. */
static void test_rounded(void)
{
    static const struct {
        double value;
        int digits;
        double want;
    } cases[] = {
        { 5e-6 + 2 * 5e-6, 15, 15e-6 }, { 0.1 + 0.2, 15, 0.3 },       { 1234567.0, 6, 1234570.0 },
        { -8306298.5, 6, -8306300.0 },  { 1.23456789e-300, 3, 1.23e-300 },
        { 9.9999999e22, 3, 1e23 },      { 0.0, 6, 0.0 },
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        ok(sc_number_rounded(cases[i].value, cases[i].digits) == cases[i].want,
           "%.17g to %d digits", cases[i].value, cases[i].digits);
    ok(isnan(sc_number_rounded((double)NAN, 6)), "NaN stays");
}

int main(void)
{
    plan(3 * (int)COUNT(kinds) + 29 + 17 + 12 + 2 + 17 + 3 + 8);
    for (size_t i = 0; i < COUNT(kinds); i++) {
        test_agreement(&kinds[i]);
        test_round_trip(&kinds[i]);
        test_fixed(&kinds[i]);
    }
    test_layout();
    test_fixed_layout();
    test_no_decimal();
    test_from_random_decimals();
    test_from_near_doubles();
    test_from_hard_decimals();
    test_locale();
    test_rounded();
    return done();
}
