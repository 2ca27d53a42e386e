/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --only REGEX: keeps rows whose text matches (PCRE2, with match limits). */
#ifndef SC_FILTER_H
#define SC_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "problem.h"

struct filter;

/* NULL with the reason when the pattern is faulty.  pattern NULL: a filter that
 * keeps everything. */
struct filter *filter_create(const char *pattern, struct problem *problem);
void filter_destroy(struct filter *filter);
/* May run in several threads.  A match that exceeds its limits does not keep, and
 * is remembered. */
bool filter_keeps(struct filter *filter, const char *text, size_t length);
/* True, with a line on standard error, if some match exceeded its limits: what was
 * kept is then not all that should have been. */
bool filter_gave_up(const struct filter *filter);
bool filter_keeps_all(const struct filter *filter);

#endif
