/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finished runs, kept in a file so that none is made twice.
 *
 * The file has a heading that says of which runs it is, and a row
 * sample,slowdown,hash for each; the hash is over heading and row, so that a row
 * counts only as it was written and under the heading it was written to.  It is
 * locked while it is open: two processes never write to one.  A file of anything
 * else is never changed.
 */
#ifndef SC_JOURNAL_H
#define SC_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "problem.h"
#include "text.h"

enum { JOURNAL_HEADING_MAX = 200 };

struct journal {
    FILE *file; /* NULL: nothing is kept */
    struct text path;
    char heading[JOURNAL_HEADING_MAX]; /* without line end */
};

/* Opens OUTPUT.runs, makes it if need be, and puts what it holds into
 * values[0 .. count); others stay as they are.  A last row that was cut off is no
 * row.  On failure too, release by journal_close(). */
bool journal_open(struct journal *journal, const char *output, const char *heading,
                  double *values, size_t count, struct problem *problem);
/* Adds a finite value >= 0 and flushes; not from two threads at a time. */
bool journal_add(struct journal *journal, size_t sample, double value, struct problem *problem);
void journal_close(struct journal *journal);

#endif
