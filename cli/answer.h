/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The columns of an answer, and an answer as cells. */
#ifndef SC_ANSWER_H
#define SC_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

#include "calibration.h"
#include "emit.h"
#include "problem.h"
#include "system.h"

/* What --columns selects, in order: metrics of the answer, keys of the scenario. */
struct selection {
    struct {
        const struct sc_metric *metric; /* or */
        const struct sc_field *field;
        bool hidden; /* only there for the bar of a table */
    } *items;
    size_t count;
    char *names; /* headers of keys, made up with their units */
};

/* Metrics that stand beside those of the system, right behind the first of them:
 * what a calibration or repeated runs add.  Their offsets are within the struct
 * that the caller then takes for an answer. */
struct extra_metrics {
    const struct sc_metric *metrics;
    size_t count;
};

/* What a calibration adds to answers; none if it is NULL. */
struct extra_metrics extra_of_calibration(const struct calibration *calibration);

/* An answer that is the mean of several runs, and how sure that mean is. */
struct repeated_answer {
    _Alignas(max_align_t) unsigned char answer[SC_ANSWER_MAX];
    double slowdown_mean_lo, slowdown_mean_hi;
};

/* The added columns, offsets within struct repeated_answer. */
enum { REPEAT_METRICS = 2 };
extern const struct sc_metric repeat_metrics[REPEAT_METRICS];

/* `columns` is a list a,b,c, "all" (every metric), or NULL: the brief metrics
 * plus the bar's for a table, every metric otherwise. */
bool selection_make(const struct sc_system *system, const char *columns, bool table,
                    struct extra_metrics extra, struct selection *selection,
                    struct problem *problem);
void selection_fini(struct selection *selection);
/* Whether to say that answers are extrapolated: not if the columns are keys alone,
 * nor if --columns asks for `extrapolated`, which says it all. */
bool selection_wants_note(const struct selection *selection, const char *columns);
/* Headers, into columns[0 .. selection->count). */
void selection_columns(const struct selection *selection, struct emit_column *columns);
bool selection_has(const struct selection *selection, const struct sc_field *field);
bool selection_has_metric(const struct selection *selection, const struct sc_metric *metric);

/* The name, or, where taken(name, context), the first of stallcast_NAME,
 * stallcast2_NAME, ... that is not, in out. */
enum { ANSWER_NAME_MAX = 128 };
const char *answer_name(const char *name, bool (*taken)(const char *name, const void *context),
                        const void *context, char out[static ANSWER_NAME_MAX]);
void selection_cells(const struct selection *selection, const void *scenario, const void *answer,
                     struct emit_cell *cells);

/* Header of a key as a column: buffer_bytes, latency_s, policy. */
enum { FIELD_COLUMN_MAX = 96 };
const char *field_column(const struct sc_field *field, char out[static FIELD_COLUMN_MAX]);

#endif
