/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers for every row of a CSV file: rows in = rows out, in order. */
#ifndef SC_BATCH_H
#define SC_BATCH_H

#include "calibration.h"
#include "emit.h"
#include "options.h"
#include "problem.h"
#include "scenario.h"

/* `given` are the keys of the command line; a row's own cells win over them.
 * Returns an exit code and prints its own problems. */
int batch_run(struct resolver *resolver, const struct calibration *calibration,
              const struct setting *given, size_t given_count,
              const struct options *options, size_t jobs, const struct emit_style *style);

/* The threads that --jobs asks for; by default one per processor. */
bool batch_jobs(const struct options *options, size_t *jobs, struct problem *problem);

#endif
