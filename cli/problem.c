/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "problem.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "text.h"

bool problem_set(struct problem *problem, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(problem->text, sizeof problem->text, format, arguments);
    va_end(arguments);
    const size_t length = strlen(problem->text);
    for (size_t i = 0; i < length;) {
        char *c = problem->text + i;
        const size_t span = text_character(c, length - i);
        if (span == 0 || (unsigned char)*c < 0x20 || *c == 0x7F)
            *c = '?';
        i += span == 0 ? 1 : span;
    }
    return false;
}

bool problem_set_place(struct problem *problem, const char *file, unsigned long line,
                       const char *column, const char *reason)
{
    char number[32] = "";
    if (line > 0)
        (void)snprintf(number, sizeof number, "%lu: ", line);
    return problem_set(problem, "%s:%s%s%s%s%s", file, line > 0 ? "" : " ", number, column,
                       *column != '\0' ? ": " : "", reason);
}

void problem_print(const struct problem *problem)
{
    (void)fprintf(stderr, "stallcast: %s\n", problem->text);
}

enum { NAME_MAX_LENGTH = 63 };

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Levenshtein distance, whatever the case, with neighbouring letters swapped
 * counted as one slip; names longer than NAME_MAX_LENGTH are far from all. */
static unsigned distance(const char *a, const char *b)
{
    const size_t n = strlen(a), m = strlen(b);
    unsigned before[NAME_MAX_LENGTH + 1], last[NAME_MAX_LENGTH + 1], row[NAME_MAX_LENGTH + 1];
    if (n > NAME_MAX_LENGTH || m > NAME_MAX_LENGTH)
        return UINT_MAX;
    for (size_t j = 0; j <= m; j++)
        before[j] = last[j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            unsigned best = last[j - 1] + (lower(a[i - 1]) != lower(b[j - 1]));
            best = last[j] + 1 < best ? last[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]) && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
        memcpy(before, last, sizeof before);
        memcpy(last, row, sizeof last);
    }
    return last[m];
}

/* The only name of which `name` is some of the words, as cost of random_read_cost; else NULL. */
static const char *longer_name(const char *name,
                               const char *(*at)(unsigned long i, const void *context),
                               unsigned long n, const void *context)
{
    enum { LEAST = 4 };
    const size_t length = strlen(name);
    const char *found = NULL;
    for (unsigned long i = 0; length >= LEAST && i < n; i++) {
        const char *const whole = at(i, context), *const part = strstr(whole, name);
        if (part == NULL || (part > whole && part[-1] != '_') ||
            (part[length] != '_' && part[length] != '\0'))
            continue;
        if (found != NULL)
            return NULL;
        found = whole;
    }
    return found;
}

const char *problem_nearest(const char *name, const char *(*at)(unsigned long i, const void *context),
                            unsigned long n, const void *context)
{
    const size_t length = strlen(name);
    const unsigned allowed = length < 2 ? 1 : (unsigned)(length + 1) / 3;
    unsigned best = allowed + 1;
    const char *nearest = NULL;
    for (unsigned long i = 0; i < n; i++) {
        const unsigned d = distance(name, at(i, context));
        if (d < best && at(i, context)[0] != '\0') {
            best = d;
            nearest = at(i, context);
        }
    }
    return nearest != NULL ? nearest : longer_name(name, at, n, context);
}
