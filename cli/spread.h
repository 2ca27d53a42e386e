/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers where keys are uncertain: median, 5 % and 95 % of each metric. */
#ifndef SC_SPREAD_H
#define SC_SPREAD_H

#include "answer.h"
#include "options.h"
#include "uncertain.h"

struct spread;

/* How many samples and which seed, from --samples and --seed. */
bool spread_options(const struct options *options, size_t *samples, uint64_t *seed,
                    struct problem *problem);

/* NULL with the reason.  What is passed must outlive it. */
struct spread *spread_create(const struct resolver *resolver, const struct calibration *calibration,
                             const struct uncertain_list *list, const struct selection *selection,
                             size_t samples, uint64_t seed, struct problem *problem);
void spread_destroy(struct spread *spread);

/* Columns: three of a number (METRIC_p5, METRIC, METRIC_p95, the unit last), one of a word. */
size_t spread_column_count(const struct selection *selection);
/* Headers from those of the selection; valid as long as the spread. */
void spread_columns(struct spread *spread, const struct emit_column *plain,
                    struct emit_column *columns);

/* Samples the scenario settings[0 .. count), which has room for the uncertain keys.  A word is the
 * most frequent one.  False with the reason: some sample has no answer. */
bool spread_answer(struct spread *spread, struct setting *settings, size_t count,
                   struct extrapolation *extrapolation, struct emit_cell *cells,
                   struct problem *problem);

#endif
