/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A key in words, for lists, manual pages and the key sheets of templates. */
#ifndef SC_DESCRIBE_H
#define SC_DESCRIBE_H

#include "field.h"
#include "text.h"

/* The value of the key in a scenario that nothing was given for, as one would write it: "40 MB",
 * a name, how it follows from other keys, or "required". */
void describe_default(const struct sc_field *field, const void *scenario, struct text *out);

/* "4.096 kB to 1 TB"; of a number. */
void describe_range(const struct sc_field *field, struct text *out);

/* "a | b | c"; of a choice. */
void describe_choices(const struct sc_field *field, struct text *out);

#endif
