/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several keys, each with its values: the scenarios of a sweep. */
#ifndef SC_PRODUCT_H
#define SC_PRODUCT_H

#include "scenario.h"

struct product {
    struct sweep *sweeps;
    size_t count;
    size_t rows; /* of the product of all values */
};

/* Reads words of the form key=VALUES; a key given twice is refused.  To be
 * freed by product_fini() whatever the outcome. */
bool product_make(struct resolver *resolver, const char *const *words, size_t count,
                  struct product *product, struct problem *problem);
/* Says on standard error, in one line, that a machine is named by the sweep but that a key of its
 * own is as it was fitted, unless that key is given. */
void product_note_fitted(const struct resolver *resolver, const struct product *given,
                         const struct sweep *sweep);
void product_fini(struct product *product);

/* Settings of one row, into settings[0 .. product->count); the first key
 * changes slowest. */
void product_row(const struct product *product, size_t row, struct setting *settings);

#endif
