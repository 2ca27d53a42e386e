/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys that are known only to lie between two values: key=low~high. */
#ifndef SC_UNCERTAIN_H
#define SC_UNCERTAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "points.h"
#include "product.h"
#include "scenario.h"

enum { UNCERTAIN_MAX = 20 };

struct uncertain {
    const struct sc_field *field;
    double low, high;
    bool deferred;    /* counted in cycles, or per cycle */
    bool logarithmic; /* the logarithm is uniform: a key that calibration samples so */
};

struct uncertain_list {
    struct uncertain items[UNCERTAIN_MAX];
    size_t count;
};

/* Moves words of the form NUMBER_KEY=LOW~HIGH out of words[0 .. *count) into the list.
 * Problems name the word. */
bool uncertain_take(struct resolver *resolver, const char **words, size_t *count,
                    struct uncertain_list *list, struct problem *problem);

/* No key of the list may be given a value too. */
bool uncertain_check(const struct uncertain_list *list, const struct product *product,
                     struct problem *problem);

/* The value at u in [0, 1); whole numbers take equal shares of the range. */
struct setting uncertain_setting(const struct uncertain *uncertain, double u);

#endif
