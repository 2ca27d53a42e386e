/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The simulator of `stream`: every load of every warp, in time.
 *
 * What the machine is made of, and what the keys of the scenario are in it:
 *
 *   warp      begins a group of outstanding_per_warp loads and goes on when the
 *             last of them has returned; its last group may be a short one
 *   port      of an SM: requests one sector in `port` cycles, load by load in
 *             turn of the warps; takes what returns at the same rate
 *   MSHR      mshr_entries per SM, one for a sector from its turn at the port to
 *             its fill.  When none is free the port waits, and who is behind too
 *   pipes     before the port, to the channel and back: as long as makes a line
 *             alone in the machine take `latency`, and a sector alone keep its
 *             MSHR for mshr_hold (latency - core / clock)
 *   channel   a line takes its turn on the bus, bytes x channels / bandwidth,
 *             drawn with c2 for each line, and keeps its bank group busy
 *             burst_factor times as long; its sectors follow one another after
 *             sector_gap at the earliest.  Of those that wait, the oldest row
 *             goes first, since it is open (FR-FCFS): who is behind catches up
 *
 * The first loads of all warps are a row of adjacent lines, their second loads
 * the next row.  Adjacent lines are on different channels, shifted from one
 * stripe of lines to the next by a hash of the seed.  A row is in one of four
 * bank groups: in step, all warps want the same one, until they have spread.
 * (So a burst_factor above four would keep a channel below its bandwidth.)
 *
 * burst_rounds is not looked at, since that is what comes out.  All SMs are
 * simulated.  The columns are measured, see account_of and answer_of in
 * stream_sim.c; the ideal and what is needed to fill the memory follow from
 * their definitions, outstanding_available_bytes is the most that MSHRs held.
 *
 * Longer than 5 hours of simulated time, or 70 s for a line, is SC_ERANGE.
 */
#ifndef SC_SIM_STREAM_SIM_H
#define SC_SIM_STREAM_SIM_H

#include "sim/simulator.h"

extern const struct sc_simulator sc_stream_simulator;

#endif
