/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is written does not replace what is read, nor what else is written. */
#ifndef SC_OVERWRITE_H
#define SC_OVERWRITE_H

#include <stdbool.h>
#include <stddef.h>

#include "options.h"
#include "problem.h"

/* Of the files that options and keys of the command line name.  Not of --from, which `estimate`
 * may answer in place: a command that may not, and one whose words are files, asks for each. */
bool overwrite_check_line(const struct options *options, const char *const *words, size_t count,
                          struct problem *problem);
/* Whether no option writes to that file.  NULL: there is none. */
bool overwrite_check(const struct options *options, const char *input, struct problem *problem);

#endif
