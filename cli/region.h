/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What scenarios have seen: the ranges of their keys, and which keys matter to the answer. */
#ifndef SC_REGION_H
#define SC_REGION_H

#include <stdbool.h>
#include <stddef.h>

#include "system.h"

/* Scenarios of a system, one after the other, `stride` bytes apart. */
struct scenarios {
    const struct sc_system *system;
    const unsigned char *first;
    size_t stride, count;
};

/* The range of a numeric key over all of them; false when some scenario leaves it open. */
bool region_range(const struct scenarios *scenarios, const struct sc_field *field, double *low,
                  double *high);

/* Whether the slowdown depends on a key at all: energy and silicon do not change it. */
bool region_matters(const struct scenarios *scenarios, const struct sc_field *field);

/* Whether a calibration has a range of the key: it is a number, no coefficient, adds to the time
 * as everywhere, and is no name of a measured launch. */
bool region_has_range(const struct sc_field *field);

#endif
