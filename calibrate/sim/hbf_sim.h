/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The simulator of `hbf`: every kernel of a layer, page by page. */
#ifndef SC_SIM_HBF_SIM_H
#define SC_SIM_HBF_SIM_H

#include "sim/simulator.h"

extern const struct sc_simulator sc_hbf_simulator;

#endif
