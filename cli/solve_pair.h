/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stallcast solve with two keys: for values of the first the least of the second, and
 * which of these pairs is the cheapest. */
#ifndef SC_SOLVE_PAIR_H
#define SC_SOLVE_PAIR_H

#include "cost.h"
#include "emit.h"
#include "options.h"
#include "product.h"
#include "solving.h"

struct pair_job {
    const struct options *options;
    struct solving *solving; /* low and high are of the second key; settings are made here */
    const struct product *product;
    const struct sc_field *first, *second;
    struct setting first_low, first_high;
    size_t steps;          /* values of the first key, about */
    size_t sides;          /* of the search */
    bool worst;            /* --sure */
    enum solving_end end;  /* END_LARGEST: the largest of the second key, not the least */
    struct cost *cost;
};

/* Returns an exit code and prints its own problems. */
int solve_pair(const struct pair_job *job, struct emit_style *style);

#endif
