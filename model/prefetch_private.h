/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the prefetch system share among themselves. */
#ifndef SC_PREFETCH_PRIVATE_H
#define SC_PREFETCH_PRIVATE_H

#include "prefetch_workload.h"

/* sc_system.estimate of this system. */
enum sc_status sc_prefetch_estimate(const void *scenario, void *answer, struct sc_trace *trace,
                                    struct sc_error *error) SC_MUST_CHECK;

#endif
