/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A comparison as a parity plot: predicted against measured, by gnuplot. */
#ifndef SC_COMPARE_PLOT_H
#define SC_COMPARE_PLOT_H

#include <stdbool.h>

#include "compare_score.h"
#include "comparison.h"
#include "problem.h"

/* Whether the file can be drawn, and there is a gnuplot: before anything is read. */
bool compare_plot_check(const char *to, struct problem *problem);
/* Whether any row has both a measurement and a prediction. */
bool compare_plot_has_points(const struct comparison *comparison);
/* Groups of the scores, if they are few, have a colour each. */
bool compare_plot_draw(const struct comparison *comparison, const struct compare_scores *scores,
                       const char *to, struct problem *problem);

#endif
