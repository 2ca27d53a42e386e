/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The simulator of `uvm`: every page visit, fault, copy and eviction, in time.
 *
 * What the keys of a scenario are in the engine (sim/uvm_engine.h):
 *
 *   pattern      the visits, one leaf each; a footprint that takes many is gone over in
 *                whole regions.  randomness is the share of the visits of a sweep that go to a
 *                leaf of the footprint at random instead.  stream-past-hot touches the hot set in order,
 *                evenly among the visits of the stream.  window walks 64 parts of its
 *                window side by side, scan 16 columns of the same size one after the
 *                other, the first hot_share of each.  streams reads one half of the
 *                footprint and writes the other, in pieces of an eighth of a leaf, or
 *                larger ones when there are many
 *   in_flight    touches of 128 bytes: so many random visits, or as many visits in order
 *                as make up those bytes
 *   device_rate  the visits together take as long on the device as T_dev says
 *   link_passes  if it is given, a run that is all mapped takes T_dev more than what they
 *                take on the link (of a window: the longer of both), which is how the key
 *                is anchored; else a random mapped read costs random_read_cost of its bytes
 *   fault_group, fault_copy   scaled together, so that the faults of a sweep that fits,
 *                with as much in flight, are served at fault_rate; what other patterns pay
 *                follows.  A fault batch holds fault_batch entries, one for each 4 KiB that a
 *                visit in order touches, one for a random touch
 *   counters     at most one per region.  An access is 128 bytes
 *   watermarks   of memory_capacity, but no more than is usable
 *   placement    none: one sweep of everything goes before, and is not counted; nor is
 *                it for layers.  faults: what calls place before is not counted
 *   coherent     what was evicted is read in place
 *   profiled     hot part and rest are an allocation each; after a run under uvm, which
 *                profile_runs counts, each in turn gets the placement that is fastest
 *
 * Regions have up to 512 leaves.  Not looked at: refetch, miss-ratio curves and the
 * coefficients of the closed form, since that is what comes out; growth but for T_dev
 * and link_passes.  host_passes is SC_EDOMAIN.
 *
 * Columns are measured, but for usable_bytes and cliff_bytes, which say what was given.
 * first_phase_bytes_per_s leaves out the time in which the GPU waited for the driver.  near_cliff: two more runs with 10 % more and less memory.
 *
 * More page visits than UVM_VISITS_MAX (sim/uvm_workload.h) are SC_ERANGE, with their
 * number as the error's value.
 */
#ifndef SC_SIM_UVM_SIM_H
#define SC_SIM_UVM_SIM_H

#include "sim/simulator.h"

extern const struct sc_simulator sc_uvm_simulator;

#endif
