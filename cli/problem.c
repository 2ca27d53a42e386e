/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "problem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool problem_set(struct problem *problem, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(problem->text, sizeof problem->text, format, arguments);
    va_end(arguments);
    for (char *c = problem->text; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F)
            *c = '?';
    return false;
}

void problem_print(const struct problem *problem)
{
    (void)fprintf(stderr, "stallcast: %s\n", problem->text);
}

enum { NAME_MAX_LENGTH = 63 };

/* Levenshtein distance with neighbouring letters swapped counted as one slip;
 * names longer than NAME_MAX_LENGTH count as far. */
static unsigned distance(const char *a, const char *b)
{
    const size_t n = strlen(a), m = strlen(b);
    unsigned before[NAME_MAX_LENGTH + 1], last[NAME_MAX_LENGTH + 1], row[NAME_MAX_LENGTH + 1];
    if (n > NAME_MAX_LENGTH || m > NAME_MAX_LENGTH)
        return NAME_MAX_LENGTH;
    for (size_t j = 0; j <= m; j++)
        before[j] = last[j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            unsigned best = last[j - 1] + (a[i - 1] != b[j - 1]);
            best = last[j] + 1 < best ? last[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
        memcpy(before, last, sizeof before);
        memcpy(last, row, sizeof last);
    }
    return last[m];
}

const char *problem_nearest(const char *name, const char *(*at)(unsigned long i, const void *context),
                            unsigned long n, const void *context)
{
    const unsigned allowed = (unsigned)(strlen(name) / 3) + 1;
    unsigned best = allowed + 1;
    const char *nearest = NULL;
    for (unsigned long i = 0; i < n; i++) {
        const unsigned d = distance(name, at(i, context));
        if (d < best) {
            best = d;
            nearest = at(i, context);
        }
    }
    return nearest;
}
