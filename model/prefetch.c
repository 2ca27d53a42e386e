/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "prefetch_private.h"

enum sc_status sc_prefetch_estimate(const void *scenario, void *answer, struct sc_trace *trace,
                                    struct sc_error *error)
{
    (void)answer;
    (void)trace;
    const enum sc_status status = sc_prefetch_check(scenario, error);
    if (status != SC_OK)
        return status;
    if (error != NULL)
        *error = (struct sc_error){ .field = "policy", .value = (double)NAN,
                                    .reason = "has no closed form" };
    return SC_EDOMAIN;
}
