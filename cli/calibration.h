/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A calibration in use: coefficients of the closed form, and how wide its
 * answers are.
 *
 * An answer that a calibration has judged is followed, in the caller's storage,
 * by three more numbers, which are metrics like all others.
 */
#ifndef SC_CALIBRATION_H
#define SC_CALIBRATION_H

#include <stdbool.h>
#include <stddef.h>

#include "catalog.h"
#include "options.h"
#include "params.h"
#include "problem.h"
#include "scenario.h"

struct calibration {
    const struct sc_system *system;
    const struct sc_field *group; /* choice that the quantiles go by, or NULL */
    double *quantiles;            /* of each row of the choice, or one; of log slowdown */
    double level;                 /* probability that an interval holds */
    struct sc_params params;
    char *name; /* of the file, for messages */
};

/* An answer and what a calibration adds to it. */
struct judged_answer {
    _Alignas(max_align_t) unsigned char answer[SC_ANSWER_MAX];
    double slowdown_lo, slowdown_hi, extrapolated; /* NaN without a calibration */
};

/* The added columns, offsets within struct judged_answer. */
enum { CALIBRATION_METRICS = 3 };
extern const struct sc_metric calibration_metrics[CALIBRATION_METRICS];

/* Reads --params FILE, or else the calibration that comes with the system, at
 * the level of --level (default 0.9).  *calibration is NULL, and all is well,
 * when there is none.  A file that is at fault is an error, never passed over. */
bool calibration_load(const struct sc_system *system, struct catalog *catalog,
                      const struct options *options, struct calibration **calibration,
                      struct problem *problem);
void calibration_destroy(struct calibration *calibration);

/* Writes a calibration file, which appears whole or not at all. */
bool calibration_write(const struct sc_params *params, const char *path, struct problem *problem);

/* Makes its coefficients the defaults of the resolver, and what else it has fitted (latency,
 * bandwidth) count more than presets. */
void calibration_apply(const struct calibration *calibration, struct resolver *resolver);

/* How many answers were extrapolated, and by which keys the first of them. */
struct extrapolation {
    size_t count;
    char keys[160];
};

/* Counts the answer if it is one. */
void extrapolation_add(struct extrapolation *extrapolation, const struct calibration *calibration,
                       const void *scenario, const struct judged_answer *answer);
/* Adds what stands behind it in the order of rows. */
void extrapolation_append(struct extrapolation *extrapolation, const struct extrapolation *later);
/* Says so on standard error, in one line, if there were any among `rows` answers. */
void extrapolation_print(const struct extrapolation *extrapolation, size_t rows);

/* Whether a metric goes with the slowdown, so that its interval is as wide: 1: in proportion;
 * -1: inversely; 0: no. */
int calibration_pace(const struct sc_system *system, const struct sc_metric *metric);

/* Half the width of the interval of log slowdown. */
double calibration_quantile(const struct calibration *calibration, const void *scenario);

/* Fills the added numbers; calibration may be NULL.  Any thread. */
void calibration_judge(const struct calibration *calibration, const void *scenario,
                       struct judged_answer *answer);

#endif
