/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --free: which keys `fit` fits, and what is known of them beforehand. */
#ifndef SC_FIT_KEYS_H
#define SC_FIT_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include "observed.h"
#include "options.h"
#include "problem.h"
#include "tune.h"

/* Into keys[0 .. *count), at most SC_TUNE_KEYS_MAX.  `rows` are what is fitted to: a key without
 * LOW~HIGH starts from what they all have.  Coefficients are known to --prior-sd of their value,
 * other keys to a half. */
bool fit_keys_read(const struct observed *observed, const struct sc_tune_row *rows, size_t row_count,
                   const struct options *options, struct sc_tune_key *keys, size_t *count,
                   struct problem *problem);

/* A share of an option, as in 30 % or 0.3, between low and high; stays as it is when the option
 * was not given. */
bool fit_share(const char *name, const char *text, double low, double high, double *value,
               struct problem *problem);

#endif
