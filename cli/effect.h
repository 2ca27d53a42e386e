/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Other values of a key, to find out whether it matters to an answer. */
#ifndef SC_EFFECT_H
#define SC_EFFECT_H

#include <stddef.h>

#include "system.h"

enum { EFFECT_PROBES = 32 };

/* Values in the range of the field that differ from `value` (SI, or the index of a
 * choice), into probes: of a number half, twice and 100 times of it, from zero a
 * step; of a choice the others.  Returns how many; 0 for a preset. */
size_t effect_probes(const struct sc_field *field, double value, double probes[static EFFECT_PROBES]);

#endif
