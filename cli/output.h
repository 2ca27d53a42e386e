/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where results go: standard output, or a file that appears whole or not at all. */
#ifndef SC_OUTPUT_H
#define SC_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "problem.h"

struct output {
    FILE *file;
    const char *path;  /* NULL: standard output */
    char *target;      /* the file behind path, which may be a link to it */
    char *temporary;   /* written instead of it until output_commit */
    bool failed;
};

/* path NULL or "-": standard output.  A file is written under a temporary name
 * in the same directory. */
bool output_open(struct output *output, const char *path, struct problem *problem);
/* Whether that would work now and a byte could be written, as far as it shows
 * without writing one; leaves nothing behind.  Before what takes long. */
bool output_check(const char *path, struct problem *problem);
/* Whether it is a file, there or to be, and not standard output or a device. */
bool output_is_file(const char *path);
/* Whether both names lead to one and the same file that is there; not to a device or a pipe. */
bool output_is_input(const char *path, const char *input);
/* After a failure, later writes do nothing. */
bool output_write(struct output *output, const char *bytes, size_t length, struct problem *problem);
/* Flushes, checks, and gives a file its name.  False: nothing was left behind. */
bool output_commit(struct output *output, struct problem *problem);
/* Gives up; the file that stood there before still stands. */
void output_abandon(struct output *output);

#endif
