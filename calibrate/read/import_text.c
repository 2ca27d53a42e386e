/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <csv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "read/import_private.h"

/* ---- pieces ---- */

struct sc_piece sc_piece_of(const char *string)
{
    return (struct sc_piece){ string, strlen(string) };
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

struct sc_piece sc_piece_trim(struct sc_piece p)
{
    while (p.length > 0 && is_blank(*p.text))
        p = sc_piece_after(p, 1);
    while (p.length > 0 && is_blank(p.text[p.length - 1]))
        p.length--;
    return p;
}

bool sc_piece_is(struct sc_piece p, const char *string)
{
    return strlen(string) == p.length && memcmp(p.text, string, p.length) == 0;
}

bool sc_piece_is_one_of(struct sc_piece p, const char *list)
{
    struct sc_piece rest = sc_piece_of(list);
    while (rest.length > 0) {
        const struct sc_piece item = sc_piece_until(rest, '|', &rest);
        if (item.length == p.length && memcmp(item.text, p.text, p.length) == 0)
            return true;
    }
    return false;
}

bool sc_piece_starts(struct sc_piece p, const char *string)
{
    const size_t length = strlen(string);
    return p.length >= length && memcmp(p.text, string, length) == 0;
}

size_t sc_piece_find(struct sc_piece p, const char *string)
{
    const size_t length = strlen(string);
    for (size_t i = 0; i + length <= p.length; i++) {
        const char *const first = memchr(p.text + i, *string, p.length - length - i + 1);
        if (first == NULL)
            break;
        i = (size_t)(first - p.text);
        if (memcmp(first, string, length) == 0)
            return i;
    }
    return SIZE_MAX;
}

struct sc_piece sc_piece_after(struct sc_piece p, size_t count)
{
    count = count < p.length ? count : p.length;
    return (struct sc_piece){ p.text + count, p.length - count };
}

struct sc_piece sc_piece_until(struct sc_piece p, char end, struct sc_piece *rest)
{
    const char *const found = p.length > 0 ? memchr(p.text, end, p.length) : NULL;
    const size_t length = found != NULL ? (size_t)(found - p.text) : p.length;
    *rest = sc_piece_after(p, found != NULL ? length + 1 : length);
    return (struct sc_piece){ p.text, length };
}

/* ---- numbers ---- */

enum { NUMBER_MAX = 64 };

static bool is_of_number(char c)
{
    return is_digit(c) || c == '.' || c == '+' || c == '-' || c == 'e' || c == 'E';
}

bool sc_piece_number(struct sc_piece p, double *value, struct sc_piece *rest)
{
    char text[NUMBER_MAX], *end;
    size_t length = 0;
    while (p.length > 0 && is_blank(*p.text))
        p = sc_piece_after(p, 1);
    while (length < p.length && length < sizeof text - 1 && is_of_number(p.text[length])) {
        text[length] = p.text[length];
        length++;
    }
    text[length] = '\0';
    const double number = strtod(text, &end);
    if (end == text || !isfinite(number))
        return false;
    *value = number;
    if (rest != NULL)
        *rest = sc_piece_after(p, (size_t)(end - text));
    return true;
}

bool sc_piece_grouped(struct sc_piece p, double *value)
{
    char digits[NUMBER_MAX];
    size_t length = 0, group = 0;
    bool any = false, fraction = false;
    struct sc_piece rest;
    p = sc_piece_trim(p);
    for (size_t i = 0; i < p.length; i++) {
        if (p.text[i] == ',') {
            /* One to three digits before the first comma, three before any other. */
            if (fraction || group == 0 || group > 3 || (any && group != 3))
                return false;
            any = true;
            group = 0;
            continue;
        }
        if (!fraction && any && !is_digit(p.text[i]) && group != 3)
            return false;
        fraction = fraction || !(is_digit(p.text[i]) || (i == 0 && p.text[i] == '-'));
        group += is_digit(p.text[i]);
        if (length == sizeof digits)
            return false;
        digits[length++] = p.text[i];
    }
    if (any && !fraction && group != 3)
        return false;
    return sc_piece_number((struct sc_piece){ digits, length }, value, &rest) && rest.length == 0;
}

bool sc_piece_is_none(struct sc_piece p)
{
    static const char *const words[] = { "",    "-",    "N/A",  "n/a", "nan",      "-nan",
                                         "NaN", "-NaN", "+nan", "inf", "-inf",     "+inf",
                                         "Inf", "-Inf", "none", "no",  "infinity", "-infinity" };
    p = sc_piece_trim(p);
    while (p.length > 0 && (p.text[p.length - 1] == '%' || is_blank(p.text[p.length - 1])))
        p.length--;
    for (size_t i = 0; i < SC_IMPORT_COUNT(words); i++)
        if (sc_piece_is(p, words[i]))
            return true;
    return false;
}

bool sc_piece_product(struct sc_piece p, double *value)
{
    double product = 1.0, factor = 0.0;
    size_t factors = 0;
    while (p.length > 0) {
        if (sc_piece_number(p, &factor, &p)) {
            product *= factor;
            factors++;
        } else {
            p = sc_piece_after(p, 1);
        }
    }
    *value = product;
    return factors > 0 && isfinite(product);
}

double sc_scaled(double value, double factor)
{
    char text[NUMBER_MAX];
    if (factor == 1.0)
        return value;
    (void)snprintf(text, sizeof text, "%.15g", value * factor);
    return strtod(text, NULL);
}

/* ---- units ---- */

/* Prefixes of profilers: K is 1000 but for KiB, and m before second is milli. */
static const struct {
    const char *text;
    double factor;
} prefixes[] = {
    { "", 1 },    { "n", 1e-9 }, { "u", 1e-6 }, { "m", 1e-3 }, { "k", 1e3 },
    { "K", 1e3 }, { "M", 1e6 },  { "G", 1e9 },  { "T", 1e12 },
};

static const struct {
    const char *text;
    enum sc_dimension dimension;
    const char *si;
} bases[] = {
    { "s", SC_SECONDS, "s" }, { "second", SC_SECONDS, "s" }, { "sec", SC_SECONDS, "s" },
    { "B", SC_BYTES, "B" },   { "byte", SC_BYTES, "B" },     { "bytes", SC_BYTES, "B" },
    { "hz", SC_HERTZ, "Hz" }, { "Hz", SC_HERTZ, "Hz" },      { "cycle", SC_CYCLES, "cycles" },
    { "W", SC_WATTS, "W" },
};

static const struct {
    const char *text;
    double factor;
} binaries[] = { { "KiB", 0x1p10 }, { "MiB", 0x1p20 }, { "GiB", 0x1p30 }, { "TiB", 0x1p40 },
                 { "KB", 0x1p10 },  { "MB", 0x1p20 },  { "GB", 0x1p30 },  { "TB", 0x1p40 } };
enum { ALWAYS_BINARY = 4 };

static bool find_simple(struct sc_piece unit, bool binary, struct sc_measure *measure)
{
    for (size_t i = 0; i < (binary ? SC_IMPORT_COUNT(binaries) : ALWAYS_BINARY); i++)
        if (sc_piece_is(unit, binaries[i].text)) {
            *measure = (struct sc_measure){ binaries[i].factor, SC_BYTES, "B" };
            return true;
        }
    for (size_t i = 0; i < SC_IMPORT_COUNT(prefixes); i++) {
        if (!sc_piece_starts(unit, prefixes[i].text))
            continue;
        const struct sc_piece rest = sc_piece_after(unit, strlen(prefixes[i].text));
        for (size_t j = 0; j < SC_IMPORT_COUNT(bases); j++)
            if (sc_piece_is(rest, bases[j].text)) {
                *measure = (struct sc_measure){ prefixes[i].factor, bases[j].dimension,
                                                bases[j].si };
                return true;
            }
    }
    return false;
}

struct sc_measure sc_measure_of(struct sc_piece unit, bool binary)
{
    struct sc_measure measure, per;
    struct sc_piece below;
    unit = sc_piece_trim(unit);
    const struct sc_piece above = sc_piece_until(unit, '/', &below);
    if (sc_piece_is(unit, "%"))
        return (struct sc_measure){ 1.0, SC_NUMBER, "%" };
    if (below.length == 0 && find_simple(unit, binary, &measure))
        return measure;
    if (below.length > 0 && find_simple(above, binary, &measure) &&
        find_simple(below, binary, &per) && per.dimension == SC_SECONDS) {
        if (measure.dimension == SC_BYTES)
            return (struct sc_measure){ measure.factor / per.factor, SC_BYTES_PER_SECOND, "B/s" };
        if (measure.dimension == SC_CYCLES)
            return (struct sc_measure){ measure.factor / per.factor, SC_HERTZ, "Hz" };
    }
    return (struct sc_measure){ 1.0, SC_NUMBER, NULL };
}

/* ---- patterns ---- */

enum { MATCH_LIMIT = 1000000, DEPTH_LIMIT = 10000 };

struct sc_pattern {
    pcre2_code *code;
    pcre2_match_context *context;
    pcre2_match_data *match;
    bool gave_up;
};

struct sc_pattern *sc_pattern_create(const char *text, char reason[static SC_IMPORT_REASON])
{
    int code = 0;
    PCRE2_SIZE offset = 0;
    struct sc_pattern *pattern = calloc(1, sizeof *pattern);
    (void)snprintf(reason, SC_IMPORT_REASON, "out of memory");
    if (pattern == NULL)
        return NULL;
    pattern->code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, 0, &code, &offset, NULL);
    if (pattern->code == NULL) {
        PCRE2_UCHAR message[128];
        (void)pcre2_get_error_message(code, message, sizeof message);
        (void)snprintf(reason, SC_IMPORT_REASON, "%s, at letter %zu of '%.80s'",
                       (const char *)message, (size_t)offset + 1, text);
        sc_pattern_destroy(pattern);
        return NULL;
    }
    /* Without the compiler of PCRE2 it is only slower. */
    (void)pcre2_jit_compile(pattern->code, PCRE2_JIT_COMPLETE);
    pattern->context = pcre2_match_context_create(NULL);
    pattern->match = pcre2_match_data_create_from_pattern(pattern->code, NULL);
    if (pattern->context == NULL || pattern->match == NULL) {
        sc_pattern_destroy(pattern);
        return NULL;
    }
    (void)pcre2_set_match_limit(pattern->context, MATCH_LIMIT);
    (void)pcre2_set_depth_limit(pattern->context, DEPTH_LIMIT);
    return pattern;
}

void sc_pattern_destroy(struct sc_pattern *pattern)
{
    if (pattern == NULL)
        return;
    pcre2_match_data_free(pattern->match);
    pcre2_match_context_free(pattern->context);
    pcre2_code_free(pattern->code);
    free(pattern);
}

bool sc_pattern_matches(struct sc_pattern *pattern, struct sc_piece p)
{
    const int found = pcre2_match(pattern->code, (PCRE2_SPTR)p.text, p.length, 0, 0, pattern->match,
                                  pattern->context);
    pattern->gave_up = pattern->gave_up || (found < 0 && found != PCRE2_ERROR_NOMATCH);
    return found >= 0;
}

struct sc_piece sc_pattern_group(const struct sc_pattern *pattern, struct sc_piece p,
                                 unsigned group)
{
    const PCRE2_SIZE *const at = pcre2_get_ovector_pointer(pattern->match);
    const size_t from = 2 * (size_t)group, to = from + 1;
    if (group >= pcre2_get_ovector_count(pattern->match) || at[from] == PCRE2_UNSET ||
        at[to] < at[from])
        return (struct sc_piece){ p.text, 0 };
    return (struct sc_piece){ p.text + at[from], at[to] - at[from] };
}

size_t sc_pattern_names(const struct sc_pattern *pattern)
{
    uint32_t count = 0;
    (void)pcre2_pattern_info(pattern->code, PCRE2_INFO_NAMECOUNT, &count);
    return count;
}

const char *sc_pattern_name(const struct sc_pattern *pattern, size_t i, unsigned *group)
{
    PCRE2_SPTR table = NULL;
    uint32_t size = 0;
    (void)pcre2_pattern_info(pattern->code, PCRE2_INFO_NAMETABLE, (void *)&table);
    (void)pcre2_pattern_info(pattern->code, PCRE2_INFO_NAMEENTRYSIZE, &size);
    const PCRE2_SPTR entry = table + i * size;
    *group = (unsigned)entry[0] << 8U | entry[1];
    return (const char *)entry + 2;
}

bool sc_pattern_gave_up(const struct sc_pattern *pattern)
{
    return pattern != NULL && pattern->gave_up;
}

/* ---- CSV within other text ---- */

void sc_fields_fini(struct sc_fields *fields)
{
    if (fields->parser != NULL)
        csv_free(fields->parser);
    free(fields->parser);
    free(fields->field);
    free(fields->offset);
    free(fields->text);
    *fields = (struct sc_fields){ 0 };
}

/* Doubles an array until `needed` items of `size` bytes fit. */
static bool make_room(void **array, size_t *capacity, size_t needed, size_t size)
{
    size_t wanted = *capacity > 0 ? *capacity : 64;
    while (wanted < needed)
        wanted *= 2;
    if (wanted == *capacity)
        return true;
    void *grown = realloc(*array, wanted * size);
    if (grown == NULL)
        return false;
    *array = grown;
    *capacity = wanted;
    return true;
}

static void add_field(void *bytes, size_t length, void *context)
{
    struct sc_fields *const f = context;
    size_t offsets = f->capacity;
    if (f->failed || f->count == SC_IMPORT_FIELDS ||
        !make_room((void **)&f->offset, &offsets, f->count + 1, sizeof *f->offset) ||
        !make_room((void **)&f->field, &f->capacity, f->count + 1, sizeof *f->field) ||
        !make_room((void **)&f->text, &f->text_capacity, f->text_length + length + 1, 1)) {
        f->failed = true;
        return;
    }
    if (length > 0)
        memcpy(f->text + f->text_length, bytes, length);
    f->text[f->text_length + length] = '\0';
    f->field[f->count].length = length;
    f->offset[f->count++] = f->text_length;
    f->text_length += length + 1;
}

static bool start_parser(struct sc_fields *f)
{
    f->parser = calloc(1, sizeof *f->parser);
    if (f->parser == NULL)
        return false;
    if (csv_init(f->parser, CSV_STRICT | CSV_STRICT_FINI) == 0)
        return true;
    free(f->parser);
    f->parser = NULL;
    return false;
}

bool sc_fields_split(struct sc_import *import, struct sc_fields *f, struct sc_piece line)
{
    if (f->parser == NULL && !start_parser(f))
        return sc_import_fail(import, 0, "out of memory");
    f->count = f->text_length = 0;
    f->failed = false;
    const bool fine = csv_parse(f->parser, line.text, line.length, add_field, NULL, f) ==
                          line.length &&
                      csv_fini(f->parser, add_field, NULL, f) == 0;
    if (!fine || f->failed) {
        csv_free(f->parser);
        free(f->parser);
        f->parser = NULL;
        return false;
    }
    for (size_t i = 0; i < f->count; i++)
        f->field[i].text = f->text + f->offset[i];
    return true;
}

size_t sc_fields_find(const struct sc_fields *f, const char *name)
{
    for (size_t i = 0; i < f->count; i++)
        if (sc_piece_is(f->field[i], name))
            return i;
    return SIZE_MAX;
}

bool sc_fields_copy(struct sc_import *import, struct sc_fields *to, const struct sc_fields *from)
{
    to->count = to->text_length = 0;
    to->failed = false;
    for (size_t i = 0; i < from->count; i++)
        add_field((void *)(uintptr_t)from->field[i].text, from->field[i].length, to);
    if (to->failed)
        return sc_import_fail(import, 0, "out of memory");
    for (size_t i = 0; i < to->count; i++)
        to->field[i].text = to->text + to->offset[i];
    return true;
}

struct sc_piece sc_header_unit(struct sc_piece header, struct sc_piece *name)
{
    const struct sc_piece none = { header.text, 0 };
    *name = sc_piece_trim(header);
    if (name->length == 0 || name->text[name->length - 1] != ')')
        return none;
    size_t open = name->length - 1;
    while (open > 0 && name->text[open] != '(')
        open--;
    if (open == 0)
        return none;
    const struct sc_piece unit = { name->text + open + 1, name->length - open - 2 };
    *name = sc_piece_trim((struct sc_piece){ name->text, open });
    return unit;
}

void sc_import_set_measured(struct sc_import *import, struct sc_piece name, struct sc_piece unit,
                            bool binary, struct sc_piece value)
{
    char header[256];
    double number = 0.0;
    const struct sc_measure measure = sc_measure_of(unit, binary);
    const struct sc_piece shown = measure.si != NULL ? sc_piece_of(measure.si)
                                                     : sc_piece_trim(unit);
    const int length = shown.length > 0
                           ? snprintf(header, sizeof header, "%.*s (%.*s)",
                                      name.length < 180 ? (int)name.length : 180, name.text,
                                      shown.length < 60 ? (int)shown.length : 60, shown.text)
                           : snprintf(header, sizeof header, "%.*s",
                                      name.length < 250 ? (int)name.length : 250, name.text);
    const struct sc_piece column = { header, (size_t)length };
    if (sc_piece_grouped(value, &number))
        sc_import_set_named(import, column, measure.dimension, sc_scaled(number, measure.factor));
    else
        sc_import_set_kept(import, column, value);
}
