/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stallcast: closed forms for GPU kernels whose data is far, slow or small.
 *
 * The library is pure: no input or output, no allocation, no writable globals;
 * any function may be called from any thread.  A scenario is a struct, filled
 * with defaults by sc_scenario_init() and changed member by member or by key:
 *
 *     struct sc_hbf scenario;
 *     struct sc_hbf_answer answer;
 *     struct sc_error error;
 *     sc_scenario_init(&sc_hbf_system, &scenario);
 *     scenario.layers = 80;  ...
 *     if (sc_hbf_system.estimate(&scenario, &answer, NULL, &error) == SC_OK)
 *         use(answer.slowdown);
 */
#ifndef STALLCAST_H
#define STALLCAST_H

#include "field.h"
#include "hbf.h"
#include "queueing.h"
#include "reuse.h"
#include "serve.h"
#include "silicon.h"
#include "status.h"
#include "stream.h"
#include "system.h"
#include "trace.h"
#include "uvm.h"

#endif
