/* SPDX-License-Identifier: GPL-3.0-or-later */
/* validate uvm --leave-out: what fits make of runs that they have not seen. */
#ifndef SC_LEAVE_OUT_H
#define SC_LEAVE_OUT_H

#include "catalog.h"
#include "options.h"
#include "system.h"

/* Fits without each GPU (--leave-out gpu) or application (app) in turn, and prints a line
 * for each and one for all.  Returns an exit code: EXIT_NO when the naive rival is at
 * least as good over all. */
int leave_out(const struct sc_system *system, const struct options *options,
              struct catalog *catalog);

#endif
