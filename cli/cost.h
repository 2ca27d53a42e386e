/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An expression over the keys of a scenario and the metrics of its answer. */
#ifndef SC_COST_H
#define SC_COST_H

#include "calibration.h"
#include "expression.h"
#include "scenario.h"

enum { COST_OPERANDS_MAX = 64 };

struct cost {
    const struct sc_system *system;
    const struct resolver *resolver;
    const struct calibration *calibration; /* or NULL */
    struct expression *expression;
    /* What names stand for: a metric or a key, in SI or in a unit. */
    struct {
        const struct sc_metric *metric;
        const struct sc_field *field;
        const struct sc_unit *unit;
    } operands[COST_OPERANDS_MAX];
    size_t count;
    enum sc_dimension dimension; /* of the whole: known when it is a name alone */
};

/* Reads `text`, given as the option `what`.  A name is a key or a metric, in SI units, or with a
 * unit at its end in that: buffer, buffer_MB, buffer_area_mm2.  To be freed by cost_fini()
 * whatever the outcome. */
bool cost_parse(struct cost *cost, const char *what, const char *text, struct problem *problem);
void cost_fini(struct cost *cost);

/* Its value; NaN where something in it has none. */
double cost_value(const struct cost *cost, const void *scenario,
                  const struct judged_answer *answer);

#endif
