/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The scenarios of a figure and their answers; inside of figure_answer(). */
#ifndef SC_FIGURE_POINTS_H
#define SC_FIGURE_POINTS_H

#include "figure.h"

struct figure_point {
    _Alignas(max_align_t) unsigned char scenario[SC_SCENARIO_MAX];
    struct judged_answer closed_form;
    _Alignas(max_align_t) unsigned char simulated[SC_ANSWER_MAX];
    const char *series, *group;
    size_t position; /* of the group, from 1 */
    double x;        /* NaN: none */
    bool omitted;    /* a drawn scenario without an answer, or no scenario at all */
    const struct figure_point *over; /* what its metrics are divided by, or NULL */
};

/* series x xs x groups points, the group changing fastest; if any series is over
 * another scenario, as many follow for those, omitted where there is none. */
struct figure_points {
    struct figure_point *items;
    size_t series, xs, groups;
    size_t all; /* with those that follow */
    const struct sc_field *x_field; /* or NULL */
};

/* Makes the points of a grid along `x` ("key=VALUES" or NULL), those of the
 * measured scenarios, or samples.  To be freed whatever the outcome. */
bool figure_points_make(const struct figure *figure, const char *x,
                        const struct figure_tools *tools, struct figure_points *points,
                        struct problem *problem);
void figure_points_fini(struct figure_points *points);

/* Answers every point; with may_omit those without an answer are omitted. */
bool figure_points_estimate(struct figure_points *points, const struct figure_tools *tools,
                            bool may_omit, struct problem *problem);
/* Likewise.  Simulations run in several threads. */
bool figure_points_simulate(const struct figure *figure, struct figure_points *points,
                            const struct figure_tools *tools, bool may_omit,
                            struct problem *problem);

#endif
