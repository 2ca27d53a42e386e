/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "progress.h"

#include <stdio.h>
#include <unistd.h>

enum { BAR_CELLS = 30 };

static double seconds_between(const struct timespec *from, const struct timespec *to)
{
    return (double)(to->tv_sec - from->tv_sec) + 1e-9 * (double)(to->tv_nsec - from->tv_nsec);
}

void progress_start(struct progress *progress, const char *what, size_t total)
{
    *progress = (struct progress){ .what = what, .total = total,
                                   .visible = isatty(STDERR_FILENO) != 0 };
    (void)clock_gettime(CLOCK_MONOTONIC, &progress->started);
    progress->shown = progress->started;
}

static void draw(const struct progress *progress, const struct timespec *now)
{
    const double share = progress->total > 0 ? (double)progress->done / (double)progress->total : 1.0;
    const double passed_s = seconds_between(&progress->started, now);
    const int cells = (int)(share * BAR_CELLS);
    (void)fprintf(stderr, "\r%s [", progress->what);
    for (int i = 0; i < BAR_CELLS; i++)
        (void)fputc(i < cells ? '#' : '.', stderr);
    (void)fprintf(stderr, "] %zu of %zu, %.0f s left ", progress->done, progress->total,
                  share > 0.0 ? passed_s / share - passed_s : 0.0);
}

void progress_step(struct progress *progress)
{
    struct timespec now;
    progress->done++;
    if (!progress->visible)
        return;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    if (seconds_between(&progress->shown, &now) < 0.1 && progress->done < progress->total)
        return;
    progress->shown = now;
    draw(progress, &now);
}

void progress_end(struct progress *progress)
{
    if (progress->visible)
        (void)fprintf(stderr, "\r\033[K");
}
