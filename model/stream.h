/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `stream`: a kernel that only loads, the base case of every other system.
 *
 * Every warp reads loads_per_warp times bytes_per_load, outstanding_per_warp at
 * once: it issues a group of loads, waits for the last of them, and goes on.
 * With all s*w warps at it, a round of groups cannot be shorter than
 *
 *     L                   the latency of one group alone
 *     D = s w o b / B     the transfer of everybody's group
 *     H / f               what the MSHRs let through, f = MSHRs / sectors wanted
 *
 * (Little's law three times; Lazowska et al., Quantitative System Performance
 * (1984), ch. 5).  Near the knee, L = D, the round is longer than either: the
 * balanced closed network of M memory channels, solved by Schweitzer's
 * approximation, is a smooth maximum whose width is the service time of a
 * channel.  A kernel starts with all warps in step, which costs a burst, and
 * groups of several loads stay in step for a few more rounds.
 *
 * `slowdown` is over the roofline: launch + bytes / bandwidth, i.e. the same
 * kernel with no latency and MSHRs without end.
 *
 * All constants are facts of the simulated machine except three anchors (c2,
 * core, burst_rounds), set once on a sweep of a cycle-level simulator.
 */
#ifndef SC_STREAM_H
#define SC_STREAM_H

#include "system.h"

/* The scenario.  Keys, ranges and defaults: sc_stream_system.fields. */
struct sc_stream {
    /* kernel */
    double warps_per_sm, loads_per_warp, outstanding_per_warp, bytes_per_load;
    /* machine */
    double sms, latency_s, bandwidth_bytes_per_s, channels, mshr_entries, launch_s, clock_hz;
    double sector_bytes, line_bytes;
    /* structural constants */
    double mshr_hold_s, core_cycles, port_cycles, sector_gap_cycles;
    double c2, burst_factor, burst_rounds;
};

/* The answer.  Columns and units: sc_stream_system.metrics. */
struct sc_stream_answer {
    double slowdown, time_s, cycles, ideal_time_s;
    const char *bound;
    double bandwidth_bytes_per_s, share_of_peak, moved_bytes;
    double outstanding_needed_bytes, outstanding_available_bytes, in_flight_bytes;
    double knee_loads_per_sm, unloaded_group_latency_s, load_latency_s;
    double launch_share, bandwidth_share, latency_share, queueing_share, burst_share, mshr_share;
};

extern const struct sc_system sc_stream_system;

#endif
