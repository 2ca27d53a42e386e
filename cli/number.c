/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers to decimal text, and decimals back to numbers.
 *
 * Both ways need a significand times a power of ten.  It is computed in 64-bit
 * integers with a known error; when the error cannot change how the result
 * rounds, that is the answer, and otherwise (an exact tie, or a few values in a
 * hundred at 17 digits, ever fewer below) the C library decides.  The idea is
 * that of Grisu: F. Loitsch, "Printing floating-point numbers quickly and
 * accurately with integers", PLDI 2010; for the small cases of reading,
 * W. D. Clinger, "How to read floating point numbers accurately", PLDI 1990.
 */
#include "number.h"

#include <assert.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(DBL_MANT_DIG == 53 && DBL_MAX_EXP == 1024, "IEEE 754 doubles are assumed");

/* A power of ten is 10^i * 10^(POWER_STEP * j); the first factor is exact in
 * 64 bits, the second is rounded to nearest. */
enum { POWER_STEP = 28, POWER_LOWEST = -13, POWER_HIGHEST = 12 };

/* 10^i, i = 0 .. 27, scaled by a power of two into [2^63, 2^64). */
static const uint64_t small_powers[POWER_STEP] = {
    UINT64_C(0x8000000000000000), UINT64_C(0xa000000000000000), UINT64_C(0xc800000000000000),
    UINT64_C(0xfa00000000000000), UINT64_C(0x9c40000000000000), UINT64_C(0xc350000000000000),
    UINT64_C(0xf424000000000000), UINT64_C(0x9896800000000000), UINT64_C(0xbebc200000000000),
    UINT64_C(0xee6b280000000000), UINT64_C(0x9502f90000000000), UINT64_C(0xba43b74000000000),
    UINT64_C(0xe8d4a51000000000), UINT64_C(0x9184e72a00000000), UINT64_C(0xb5e620f480000000),
    UINT64_C(0xe35fa931a0000000), UINT64_C(0x8e1bc9bf04000000), UINT64_C(0xb1a2bc2ec5000000),
    UINT64_C(0xde0b6b3a76400000), UINT64_C(0x8ac7230489e80000), UINT64_C(0xad78ebc5ac620000),
    UINT64_C(0xd8d726b7177a8000), UINT64_C(0x878678326eac9000), UINT64_C(0xa968163f0a57b400),
    UINT64_C(0xd3c21bcecceda100), UINT64_C(0x84595161401484a0), UINT64_C(0xa56fa5b99019a5c8),
    UINT64_C(0xcecb8f27f4200f3a),
};

/* 10^(28 j), j = -13 .. 12, scaled likewise and rounded to nearest. */
static const uint64_t large_powers[POWER_HIGHEST - POWER_LOWEST + 1] = {
    UINT64_C(0xe1afa13afbd14d6e), UINT64_C(0xe3e27a444d8d98b8), UINT64_C(0xe61acf033d1a45df),
    UINT64_C(0xe858ad248f5c22ca), UINT64_C(0xea9c227723ee8bcb), UINT64_C(0xece53cec4a314ebe),
    UINT64_C(0xef340a98172aace5), UINT64_C(0xf18899b1bc3f8ca2), UINT64_C(0xf3e2f893dec3f126),
    UINT64_C(0xf64335bcf065d37d), UINT64_C(0xf8a95fcf88747d94), UINT64_C(0xfb158592be068d2f),
    UINT64_C(0xfd87b5f28300ca0e), UINT64_C(0x8000000000000000), UINT64_C(0x813f3978f8940984),
    UINT64_C(0x82818f1281ed44a0), UINT64_C(0x83c7088e1aab65db), UINT64_C(0x850fadc09923329e),
    UINT64_C(0x865b86925b9bc5c2), UINT64_C(0x87aa9aff79042287), UINT64_C(0x88fcf317f22241e2),
    UINT64_C(0x8a5296ffe33cc930), UINT64_C(0x8bab8eefb6409c1a), UINT64_C(0x8d07e33455637eb3),
    UINT64_C(0x8e679c2f5e44ff8f), UINT64_C(0x8fcac257558ee4e6),
};

/* 10^k, exact. */
static const uint64_t integer_powers[] = {
    1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000,
    UINT64_C(10000000000), UINT64_C(100000000000), UINT64_C(1000000000000),
    UINT64_C(10000000000000), UINT64_C(100000000000000), UINT64_C(1000000000000000),
    UINT64_C(10000000000000000), UINT64_C(100000000000000000), UINT64_C(1000000000000000000),
};

/* 10^k, as far as doubles hold it exactly. */
enum { EXACT_DOUBLE_POWER = 22 };
static const double double_powers[EXACT_DOUBLE_POWER + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

/* A positive value, in two parts: high / 2^shift, where the true numerator is
 * less than SCALED_ERROR away from `high`. */
struct scaled {
    uint64_t high;
    uint64_t power; /* significand of the power of ten used */
    int shift;
};

/* The power of ten is off by less than 2 (half of the rounding of the large
 * power, doubled when it is normalised, and one truncation), so `high` is off
 * by less than 2 plus its own truncation. */
enum { SCALED_ERROR = 4 };

/* Significant digits of a positive value: digits = d1d2d3..., value near
 * d1.d2d3... * 10^exponent10. */
struct decimal {
    uint64_t digits;
    int exponent10;
};

struct product {
    uint64_t high, low;
};

static struct product multiply(uint64_t a, uint64_t b)
{
    uint64_t a1 = a >> 32, a0 = a & UINT32_MAX;
    uint64_t b1 = b >> 32, b0 = b & UINT32_MAX;
    uint64_t low = a0 * b0;
    uint64_t middle = a1 * b0 + (low >> 32);
    uint64_t cross = a0 * b1 + (middle & UINT32_MAX);

    return (struct product){a1 * b1 + (middle >> 32) + (cross >> 32),
                            cross << 32 | (low & UINT32_MAX)};
}

/* Moves the leading one to the top bit; a product of normalised factors lacks
 * at most one place. */
static uint64_t normalise(struct product p)
{
    return p.high >> 63 ? p.high : p.high << 1 | p.low >> 63;
}

/* floor(log2(10^k)), |k| <= 400; the bias keeps the shifted number positive. */
static int power_exponent2(int k)
{
    return ((k * 217706 + (2000 << 16)) >> 16) - 2000;
}

static uint64_t power_significand(int k)
{
    int offset = k - POWER_STEP * POWER_LOWEST;

    assert(offset >= 0 && offset < POWER_STEP * (POWER_HIGHEST - POWER_LOWEST + 1));
    if (k >= 0 && k < POWER_STEP)
        return small_powers[k];
    return normalise(multiply(large_powers[offset / POWER_STEP],
                              small_powers[offset % POWER_STEP]));
}

static uint64_t double_bits(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* magnitude * 10^k for a normal, positive magnitude. */
static struct scaled scale(double magnitude, int k)
{
    uint64_t bits = double_bits(magnitude);
    uint64_t significand = (bits << 11) | UINT64_C(1) << 63;
    int exponent2 = (int)(bits >> 52) - 1023;
    uint64_t power = power_significand(k);

    return (struct scaled){
        .high = multiply(significand, power).high,
        .power = power,
        .shift = 62 - exponent2 - power_exponent2(k),
    };
}

/* Rounds to the nearest whole number; false when the error does not let us. */
static bool round_scaled(struct scaled s, uint64_t *whole)
{
    uint64_t half, rest;

    if (s.shift > 64) {
        *whole = 0;
        return true;
    }
    if (s.shift < 5 || s.shift == 64)
        return false;
    half = UINT64_C(1) << (s.shift - 1);
    rest = s.high & (2 * half - 1);
    *whole = (s.high >> s.shift) + (rest >= half);
    return rest + SCALED_ERROR < half || rest > half + SCALED_ERROR;
}

/* floor(log10(magnitude)), at times one too low or too high.  The top bits of
 * a double, read as a fixed-point number, are log2 with the mantissa's part
 * made linear; 315653 / 2^20 is log10(2). */
static int exponent10_estimate(double magnitude)
{
    int64_t log2_fixed = (int64_t)(double_bits(magnitude) >> 42) - (1023 << 10);
    int64_t bias = INT64_C(400) << 30;

    return (int)((log2_fixed * 315653 + bias) >> 30) - 400;
}

/* The first `precision` digits of a normal magnitude before rounding, as the
 * whole part of *s. */
static int scale_to_digits(double magnitude, int precision, struct scaled *s)
{
    int exponent10 = exponent10_estimate(magnitude);
    uint64_t whole;

    *s = scale(magnitude, precision - 1 - exponent10);
    whole = s->shift < 64 ? s->high >> s->shift : 0;
    if (whole >= integer_powers[precision])
        *s = scale(magnitude, precision - 1 - ++exponent10);
    else if (whole < integer_powers[precision - 1])
        *s = scale(magnitude, precision - 1 - --exponent10);
    return exponent10;
}

/* What printf makes of it, whatever its decimal sign. */
static struct decimal decimal_by_library(double magnitude, int precision)
{
    char text[SC_NUMBER_MAX];
    struct decimal d = {0, 0};
    const char *p = text;

    snprintf(text, sizeof text, "%.*e", precision - 1, magnitude);
    for (; *p != 'e'; p++)
        if (*p >= '0' && *p <= '9')
            d.digits = d.digits * 10 + (uint64_t)(*p - '0');
    d.exponent10 = (int)strtol(p + 1, NULL, 10);
    return d;
}

/* Rounding up may have made one digit too many, all zeros but the first. */
static struct decimal carry(struct decimal d, int precision)
{
    if (d.digits == integer_powers[precision]) {
        d.digits /= 10;
        d.exponent10++;
    }
    return d;
}

static struct decimal decimal_rounded(double magnitude, int precision)
{
    struct scaled s;
    struct decimal d;

    if (magnitude < DBL_MIN)
        return decimal_by_library(magnitude, precision);
    d.exponent10 = scale_to_digits(magnitude, precision, &s);
    if (!round_scaled(s, &d.digits))
        return decimal_by_library(magnitude, precision);
    return carry(d, precision);
}

enum verdict { SAME, DIFFERENT, UNSURE };

/* Whether the digits, the rounded s, are nearer to the magnitude than half a
 * unit in its last place, so that they read back as it.  In the units of s.high
 * that half is 2^10 * power / 2^64: the significand was shifted left by 11. */
static enum verdict reads_back(double magnitude, struct scaled s, uint64_t digits)
{
    uint64_t distance = (digits << s.shift) - s.high;
    uint64_t half = s.power >> 54;
    bool power_of_two = (double_bits(magnitude) & ((UINT64_C(1) << 52) - 1)) == 0;

    if (distance >> 63)
        distance = -distance;
    /* Below a power of two doubles lie twice as dense. */
    if (!power_of_two && distance + SCALED_ERROR + 2 < half)
        return SAME;
    return distance > half + SCALED_ERROR + 2 ? DIFFERENT : UNSURE;
}

/* Rounds as decimal_rounded(); true if the result reads back. */
static bool decimal_survives(double magnitude, int precision, struct decimal *d)
{
    struct scaled s;
    enum verdict verdict = UNSURE;

    if (magnitude < DBL_MIN) {
        *d = decimal_by_library(magnitude, precision);
    } else {
        d->exponent10 = scale_to_digits(magnitude, precision, &s);
        if (round_scaled(s, &d->digits)) {
            verdict = reads_back(magnitude, s, d->digits);
            *d = carry(*d, precision);
        } else {
            *d = decimal_by_library(magnitude, precision);
        }
    }
    if (verdict != UNSURE)
        return verdict == SAME;
    return sc_number_from_decimal(d->digits, d->exponent10 - precision + 1) == magnitude;
}

/* As many of 15, 16 or 17 digits as needed, set in *precision. */
static struct decimal decimal_shortest(double magnitude, int *precision)
{
    struct decimal d;

    for (*precision = 15; *precision < SC_NUMBER_EXACT; ++*precision)
        if (decimal_survives(magnitude, *precision, &d))
            return d;
    return decimal_rounded(magnitude, *precision);
}

/* Writes exactly `count` digits, with leading zeros. */
static void put_digits(char *out, uint64_t digits, int count)
{
    while (count >= 2) {
        unsigned pair = (unsigned)(digits % 100);

        digits /= 100;
        count -= 2;
        out[count] = (char)('0' + pair / 10);
        out[count + 1] = (char)('0' + pair % 10);
    }
    if (count)
        out[0] = (char)('0' + digits % 10);
}

static char *put_zeros(char *out, int count)
{
    for (; count > 0; count--)
        *out++ = '0';
    return out;
}

static char *put_text(char *out, const char *text, int length)
{
    for (int i = 0; i < length; i++)
        *out++ = text[i];
    return out;
}

static char *put_scientific(char *out, const char *digits, int count, int exponent10)
{
    int size = abs(exponent10);
    int width = size >= 100 ? 3 : 2;

    *out++ = digits[0];
    if (count > 1) {
        *out++ = '.';
        out = put_text(out, digits + 1, count - 1);
    }
    *out++ = 'e';
    *out++ = exponent10 < 0 ? '-' : '+';
    put_digits(out, (uint64_t)size, width);
    return out + width;
}

static char *put_plain(char *out, const char *digits, int count, int exponent10)
{
    int whole = exponent10 + 1; /* digits before the point */

    if (whole <= 0) {
        *out++ = '0';
        *out++ = '.';
        out = put_zeros(out, -whole);
        return put_text(out, digits, count);
    }
    if (count <= whole) {
        out = put_text(out, digits, count);
        return put_zeros(out, whole - count);
    }
    out = put_text(out, digits, whole);
    *out++ = '.';
    return put_text(out, digits + whole, count - whole);
}

size_t sc_number_format(char out[static SC_NUMBER_MAX], double value, int digits)
{
    char text[SC_NUMBER_EXACT];
    double magnitude = fabs(value);
    char *end = out;
    struct decimal d;
    int count = digits;

    assert(digits >= 0 && digits <= SC_NUMBER_EXACT);
    out[0] = '\0';
    if (!isfinite(value))
        return 0;
    if (magnitude == 0.0) {
        memcpy(out, "0", 2);
        return 1;
    }
    if (digits == SC_NUMBER_SHORTEST)
        d = decimal_shortest(magnitude, &count);
    else
        d = decimal_rounded(magnitude, digits);
    put_digits(text, d.digits, count);
    while (count > 1 && text[count - 1] == '0')
        count--;
    if (value < 0.0)
        *end++ = '-';
    if (d.exponent10 >= -5 && d.exponent10 < 15)
        end = put_plain(end, text, count, d.exponent10);
    else
        end = put_scientific(end, text, count, d.exponent10);
    *end = '\0';
    return (size_t)(end - out);
}

/* What printf makes of it, with '.' for whatever its decimal sign is. */
static size_t fixed_by_library(char *out, double magnitude, int decimals)
{
    char text[2 * SC_NUMBER_MAX];
    size_t length = 0;
    bool in_sign = false;

    snprintf(text, sizeof text, "%.*f", decimals, magnitude);
    for (const char *p = text; *p; p++) {
        bool digit = *p >= '0' && *p <= '9';

        if (digit || !in_sign)
            out[length++] = digit ? *p : '.';
        in_sign = !digit;
    }
    return length;
}

/* magnitude < 1e15, without its sign. */
static size_t put_fixed(char *out, double magnitude, int decimals)
{
    uint64_t whole = 0, unit = integer_powers[decimals], integer;
    int count = 1;

    if (magnitude != 0.0 &&
        (magnitude < DBL_MIN || !round_scaled(scale(magnitude, decimals), &whole)))
        return fixed_by_library(out, magnitude, decimals);
    integer = whole / unit;
    while (integer >= integer_powers[count])
        count++;
    put_digits(out, integer, count);
    if (decimals == 0)
        return (size_t)count;
    out[count] = '.';
    put_digits(out + count + 1, whole - integer * unit, decimals);
    return (size_t)count + 1U + (size_t)decimals;
}

static bool all_zeros(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] != '0' && text[i] != '.')
            return false;
    return true;
}

size_t sc_number_format_fixed(char out[static SC_NUMBER_MAX], double value, int decimals)
{
    double magnitude = fabs(value);
    size_t sign = value < 0.0 ? 1 : 0;
    size_t length;

    assert(decimals >= 0 && decimals <= 17);
    out[0] = '\0';
    if (!isfinite(value))
        return 0;
    if (magnitude >= 1e15)
        return sc_number_format(out, value, decimals < 17 ? decimals + 1 : 17);
    out[0] = '-';
    length = put_fixed(out + sign, magnitude, decimals);
    if (sign && all_zeros(out + 1, length)) {
        memmove(out, out + 1, length);
        sign = 0;
    }
    out[sign + length] = '\0';
    return sign + length;
}

/* No decimal sign is in the text, so the locale does not matter. */
static double from_decimal_by_library(uint64_t digits, int exponent10)
{
    char text[SC_NUMBER_MAX];

    snprintf(text, sizeof text, "%" PRIu64 "e%d", digits, exponent10);
    return strtod(text, NULL);
}

/* A 64-bit product rounded to 53 bits; false near a tie or out of the normal
 * range.  The error of SCALED_ERROR may have been doubled by normalising. */
static bool from_decimal_scaled(uint64_t digits, int exponent10, double *value)
{
    int lead = __builtin_clzll(digits);
    struct product p = multiply(digits << lead, power_significand(exponent10));
    int exponent2 = 63 - lead + power_exponent2(exponent10) + (p.high >> 63 ? 1 : 0);
    uint64_t high = normalise(p);
    uint64_t rest = high & 2047;
    uint64_t bits;

    const uint64_t margin = 2U * (uint64_t)SCALED_ERROR;
    if (rest + margin >= 1024 && rest <= 1024 + margin)
        return false;
    if (exponent2 <= -1022 || exponent2 >= 1023)
        return false;
    /* The hidden one adds 1 to the exponent; so does a carry out of the
     * significand, which is then zero. */
    bits = (high >> 11) + (rest > 1024) + ((uint64_t)(exponent2 + 1022) << 52);
    memcpy(value, &bits, sizeof bits);
    return true;
}

double sc_number_from_decimal(uint64_t digits, int exponent10)
{
    double value;

    /* Both numbers are exact, so one operation rounds once, unless the machine
     * keeps intermediate results wider. */
    if (FLT_EVAL_METHOD == 0 && digits <= UINT64_C(1) << 53 &&
        abs(exponent10) <= EXACT_DOUBLE_POWER) {
        value = (double)digits;
        return exponent10 < 0 ? value / double_powers[-exponent10]
                              : value * double_powers[exponent10];
    }
    if (digits == 0 || exponent10 < -350)
        return 0.0;
    if (exponent10 > DBL_MAX_10_EXP)
        return (double)INFINITY;
    if (from_decimal_scaled(digits, exponent10, &value))
        return value;
    return from_decimal_by_library(digits, exponent10);
}

double sc_number_rounded(double value, int digits)
{
    char text[SC_NUMBER_MAX];
    uint64_t mantissa = 0;
    int exponent10 = 0;
    const char *p = text;
    if (sc_number_format(text, value, digits) == 0)
        return value;
    const bool negative = *p == '-';
    for (p += negative; *p != '\0' && *p != 'e'; p++)
        if (*p != '.')
            mantissa = mantissa * 10 + (uint64_t)(*p - '0');
    const char *point = strchr(text, '.');
    exponent10 = point != NULL ? -(int)(p - point - 1) : 0;
    exponent10 += *p == 'e' ? (int)strtol(p + 1, NULL, 10) : 0;
    const double rounded = sc_number_from_decimal(mantissa, exponent10);
    return negative ? -rounded : rounded;
}
