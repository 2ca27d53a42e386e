/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Metrics by the names that a user gives them. */
#ifndef SC_METRIC_H
#define SC_METRIC_H

#include <stdbool.h>
#include <stddef.h>

#include "calibration.h"
#include "problem.h"
#include "system.h"

/* The metrics of a system and, with a calibration, those that it adds. */
struct metrics {
    const struct sc_system *system;
    const struct calibration *calibration; /* or NULL */
};

size_t metrics_count(const struct metrics *metrics);
const struct sc_metric *metrics_at(const struct metrics *metrics, size_t i);

/* The number whose column is `name`, or is that once its unit is left out ("time" for time_s),
 * where no other is; or NULL. */
const struct sc_metric *metrics_match(const struct metrics *metrics, const char *name);

/* The same, or NULL with the reason, which begins with `what`. */
const struct sc_metric *metrics_find(const struct metrics *metrics, const char *what,
                                     const char *name, struct problem *problem);

/* Its column, or "" for a word: what problem_nearest() looks among. */
const char *metrics_number_at(unsigned long i, const void *metrics);

#endif
