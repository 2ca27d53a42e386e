/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The simulator's row for `prefetch`. */
#ifndef SC_SIM_PREFETCH_SIM_H
#define SC_SIM_PREFETCH_SIM_H

#include "sim/simulator.h"

extern const struct sc_simulator sc_prefetch_simulator;

#endif
