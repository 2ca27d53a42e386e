/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/simulator.h"

#include "sim/hbf_sim.h"
#include "sim/prefetch_sim.h"
#include "sim/stream_sim.h"
#include "sim/uvm_sim.h"

const struct sc_simulator *const sc_simulators[] = {
    &sc_hbf_simulator,
    &sc_prefetch_simulator,
    &sc_stream_simulator,
    &sc_uvm_simulator,
};
const size_t sc_simulator_count = sizeof sc_simulators / sizeof sc_simulators[0];

const struct sc_simulator *sc_simulator_find(const struct sc_system *system)
{
    for (size_t i = 0; i < sc_simulator_count; i++)
        if (sc_simulators[i]->system == system)
            return sc_simulators[i];
    return NULL;
}
