/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A line on standard error that tells how far a long command is; nothing when
 * standard error is no terminal. */
#ifndef SC_PROGRESS_H
#define SC_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

struct progress {
    const char *what;
    size_t done, total;
    struct timespec started, shown;
    bool visible;
};

void progress_start(struct progress *progress, const char *what, size_t total);
/* One more is done.  Not for several threads at once. */
void progress_step(struct progress *progress);
/* Clears the line. */
void progress_end(struct progress *progress);

#endif
