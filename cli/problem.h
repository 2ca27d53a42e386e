/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What went wrong, in one line for the user. */
#ifndef SC_PROBLEM_H
#define SC_PROBLEM_H

#include <stdbool.h>

enum { PROBLEM_MAX = 512 };

/* Exit codes of the tool. */
enum { EXIT_FINE = 0, EXIT_NO = 1, EXIT_USAGE = 2 };

struct problem {
    char text[PROBLEM_MAX];
};

/* Writes the line, cut at the end if need be; control characters and
 * what is not UTF-8 in it are shown as '?', so that no input can play with the
 * terminal.  Returns false,
 * so that a caller can `return problem_set(...)`. */
bool problem_set(struct problem *problem, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "FILE:LINE: COLUMN: reason"; line 0 and column "" are left out.  Returns false. */
bool problem_set_place(struct problem *problem, const char *file, unsigned long line,
                       const char *column, const char *reason);

/* Prints "stallcast: ..." to standard error. */
void problem_print(const struct problem *problem);

/* The nearest of n names to `name` by edit distance, else the only one of which it is
 * some of the words (cost of random_read_cost), or NULL when none is near enough to be meant;
 * never "".  at(i, context) gives name i. */
const char *problem_nearest(const char *name, const char *(*at)(unsigned long i, const void *context),
                            unsigned long n, const void *context);

#endif
