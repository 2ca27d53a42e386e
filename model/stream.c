/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream.h"

#include <math.h>

/* ---- Keys ---- */

#define MEMBER(name) .offset = offsetof(struct sc_stream, name)
#define RANGE(low, high) .minimum = low, .maximum = high
#define SAMPLE(low, high, logarithmic) \
    .sample_low = low, .sample_high = high, .sample_log = logarithmic
#define FROM(text) .fallback = (double)NAN, .derived = text, .provenance = SC_DERIVED
#define FACT(text) .provenance = SC_FACT, .source = text
#define ANCHOR .provenance = SC_ANCHOR, .source = "cycle simulator sweep, quarter-size V100"
#define CONFIG "Accel-Sim SM7_QV100 configuration"
#define V100_CLOCK_HZ 1132e6

static const struct sc_field fields[] = {
    { .key = "gpu", .kind = SC_PRESET, .table = "gpus", .preset = "v100-quarter",
      .provenance = SC_FACT, .help = "GPU: a row of gpus, or FILE:ROW" },
    { .key = "sms", .kind = SC_INTEGER, .dimension = SC_NUMBER, MEMBER(sms), .fallback = 20,
      RANGE(1, 4096), SAMPLE(10, 132, true), FACT("gpus"), .help = "streaming multiprocessors" },
    { .key = "warps_per_sm", .aliases = "warps", .kind = SC_INTEGER, .dimension = SC_NUMBER,
      MEMBER(warps_per_sm), .fallback = 8, RANGE(1, 1024), SAMPLE(1, 64, true),
      .help = "warps that run on each SM; more of them read more in all" },
    { .key = "loads_per_warp", .aliases = "loads", .kind = SC_INTEGER, .dimension = SC_NUMBER,
      MEMBER(loads_per_warp), .fallback = 48, RANGE(1, 1e9), SAMPLE(16, 512, true),
      .help = "loads that each warp makes in all" },
    { .key = "outstanding_per_warp", .aliases = "outstanding", .kind = SC_INTEGER,
      .dimension = SC_NUMBER, MEMBER(outstanding_per_warp), .fallback = 1, RANGE(1, 1024),
      SAMPLE(1, 8, true), .help = "loads that a warp issues before it waits for them" },
    { .key = "bytes_per_load", .aliases = "bytes", .kind = SC_REAL, .dimension = SC_BYTES,
      MEMBER(bytes_per_load), .fallback = 128, RANGE(1, 65536), SAMPLE(32, 512, true),
      .help = "bytes that one load of a warp reads, all lanes together" },
    { .key = "latency", .aliases = "unloaded_latency", .kind = SC_REAL, .dimension = SC_SECONDS,
      MEMBER(latency_s), .fallback = 331 / V100_CLOCK_HZ, RANGE(1e-9, 1), SAMPLE(2e-7, 2e-6, true),
      FACT("331 cycles: cycle simulator, quarter-size V100"),
      .help = "from issue to use of one line of an idle memory" },
    { .key = "bandwidth", .aliases = "peak memory_bandwidth", .kind = SC_REAL,
      .dimension = SC_BYTES_PER_SECOND, MEMBER(bandwidth_bytes_per_s),
      .fallback = 192.2 * V100_CLOCK_HZ, RANGE(1e6, 1e16), SAMPLE(1e11, 4e12, true), FACT("gpus"),
      .help = "peak bandwidth of the memory" },
    { .key = "channels", .aliases = "memory_channels", .kind = SC_INTEGER, .dimension = SC_NUMBER,
      MEMBER(channels), .fallback = 8, RANGE(1, 65536), FACT("gpus"),
      .help = "memory channels, each a queue of its own" },
    { .key = "mshr_entries", .aliases = "mshr", .kind = SC_INTEGER, .dimension = SC_NUMBER,
      MEMBER(mshr_entries), .fallback = 512, RANGE(1, 1e6), SAMPLE(8, 512, true), FACT(CONFIG),
      .help = "miss-status holding registers per SM, one sector each" },
    { .key = "launch", .kind = SC_REAL, .dimension = SC_SECONDS, MEMBER(launch_s),
      .fallback = 5000 / V100_CLOCK_HZ, RANGE(0, 1), SAMPLE(0, 1e-5, false), FACT(CONFIG),
      .help = "from launch of the kernel to its first instruction" },
    { .key = "clock", .kind = SC_REAL, .dimension = SC_HERTZ, MEMBER(clock_hz),
      .fallback = V100_CLOCK_HZ, RANGE(1e6, 1e11), FACT("gpus"), .help = "clock of the SMs" },
    { .key = "sector", .aliases = "sector_bytes", .kind = SC_REAL, .dimension = SC_BYTES,
      MEMBER(sector_bytes), .fallback = 32, RANGE(1, 4096), FACT(CONFIG),
      .help = "what one MSHR fetches; loads are rounded up to it" },
    { .key = "line", .aliases = "line_bytes", .kind = SC_REAL, .dimension = SC_BYTES,
      MEMBER(line_bytes), .fallback = 128, RANGE(1, 65536), FACT(CONFIG),
      .help = "what stays together on one channel, and what `latency` was measured with" },
    { .key = "mshr_hold", .kind = SC_REAL, .dimension = SC_SECONDS, MEMBER(mshr_hold_s),
      FROM("latency - core / clock"), RANGE(1e-10, 1),
      .help = "how long an idle memory keeps an MSHR busy" },
    { .key = "core", .aliases = "core_cycles", .kind = SC_REAL, .dimension = SC_CYCLES,
      MEMBER(core_cycles), .fallback = 36, RANGE(0, 1e6), ANCHOR,
      .help = "part of `latency` inside the SM, where no MSHR is held" },
    { .key = "port", .aliases = "port_cycles", .kind = SC_REAL, .dimension = SC_CYCLES,
      MEMBER(port_cycles), .fallback = 1, RANGE(0, 1e6), FACT(CONFIG),
      .help = "cycles that an SM needs to request or take one sector" },
    { .key = "sector_gap", .aliases = "sector_gap_cycles", .kind = SC_REAL, .dimension = SC_CYCLES,
      MEMBER(sector_gap_cycles), .fallback = 2 * 1132.0 / 850.0, RANGE(0, 1e6),
      FACT(CONFIG ": tCCDL = 2 cycles of the 850 MHz memory clock"),
      .help = "from one sector of a line to the next, all in one bank group" },
    { .key = "c2", .kind = SC_REAL, .dimension = SC_NUMBER, MEMBER(c2), .fallback = 0,
      RANGE(0, 10), SAMPLE(0, 1, false), ANCHOR,
      .help = "squared coefficient of variation of a channel's service time" },
    { .key = "burst_factor", .kind = SC_REAL, .dimension = SC_NUMBER, MEMBER(burst_factor),
      .fallback = 2, RANGE(1, 16), FACT(CONFIG ": tCCDL / tCCD"),
      .help = "how much slower than the peak a burst of all warps in step drains" },
    { .key = "burst_rounds", .kind = SC_REAL, .dimension = SC_NUMBER, MEMBER(burst_rounds),
      .fallback = 2.5, RANGE(0, 1000), SAMPLE(1, 4, false), ANCHOR,
      .help = "rounds for which groups of many loads stay in step" },
};

/* ---- Columns ---- */

#define ANSWER(name) .offset = offsetof(struct sc_stream_answer, name)

static const struct sc_metric metrics[] = {
    { .column = "slowdown", .slowdown_power = 1, ANSWER(slowdown), .brief = true,
      .help = "time over the roofline, launch + bytes / bandwidth" },
    { .column = "time_s", .slowdown_power = 1, .dimension = SC_SECONDS,
      ANSWER(time_s), .brief = true,
      .help = "time of the kernel, launch included" },
    { .column = "cycles", .slowdown_power = 1, .dimension = SC_CYCLES,
      ANSWER(cycles), .brief = true,
      .help = "the same in cycles of the clock" },
    { .column = "ideal_time_s", .dimension = SC_SECONDS, ANSWER(ideal_time_s),
      .help = "launch + bytes / bandwidth" },
    { .column = "bound", .text = true, ANSWER(bound), .brief = true,
      .help = "what binds: latency, bandwidth, port (of the SMs), mshr or launch" },
    { .column = "throughput_bytes_per_s", .slowdown_power = -1, .dimension = SC_BYTES_PER_SECOND,
      ANSWER(bandwidth_bytes_per_s), .brief = true, .help = "bytes asked for over time_s" },
    { .column = "share_of_peak", .slowdown_power = -1, .dimension = SC_SHARE,
      ANSWER(share_of_peak), .brief = true,
      .help = "the same over the peak bandwidth" },
    { .column = "moved_bytes", .dimension = SC_BYTES, ANSWER(moved_bytes),
      .help = "bytes that the memory delivers, whole sectors" },
    { .column = "outstanding_needed_bytes", .dimension = SC_BYTES,
      ANSWER(outstanding_needed_bytes), .brief = true,
      .help = "bandwidth x unloaded latency: what must be in flight to fill the memory" },
    { .column = "outstanding_available_bytes", .dimension = SC_BYTES,
      ANSWER(outstanding_available_bytes), .brief = true,
      .help = "what warps, loads and MSHRs can have in flight" },
    { .column = "in_flight_bytes", .dimension = SC_BYTES, ANSWER(in_flight_bytes),
      .help = "what waits at a time, for an MSHR too: rate x load latency" },
    { .column = "knee_loads_per_sm", ANSWER(knee_loads_per_sm),
      .help = "warps x loads per SM at which latency and bandwidth bind alike" },
    { .column = "unloaded_group_latency_s", .dimension = SC_SECONDS,
      ANSWER(unloaded_group_latency_s), .help = "a warp's group of loads in an idle machine" },
    { .column = "load_latency_s", .dimension = SC_SECONDS, ANSWER(load_latency_s),
      .help = "the same in this kernel, mean over its rounds" },
    { .column = "launch_share", .dimension = SC_SHARE, ANSWER(launch_share), .stall = "launch",
      .help = "share of the time before the first instruction" },
    { .column = "bandwidth_share", .dimension = SC_SHARE, ANSWER(bandwidth_share),
      .stall = "transfer", .help = "moving bytes at full bandwidth" },
    { .column = "latency_share", .dimension = SC_SHARE, ANSWER(latency_share),
      .stall = "latency", .help = "waiting for an idle memory to answer" },
    { .column = "queueing_share", .dimension = SC_SHARE, ANSWER(queueing_share),
      .stall = "queueing", .help = "waiting behind other loads at a channel" },
    { .column = "burst_share", .dimension = SC_SHARE, ANSWER(burst_share), .stall = "burst",
      .help = "first rounds, which all warps begin in step" },
    { .column = "mshr_share", .dimension = SC_SHARE, ANSWER(mshr_share), .stall = "mshr",
      .help = "waiting for a free MSHR, beyond all of these" },
};

/* ---- Closed form ---- */

/* One round: every warp issues a group of loads and waits for the last. */
struct round {
    double rounds;      /* per kernel */
    double group_loads; /* loads of a group; the last one is not left short */
    double sectors;     /* of one load */
    double lines;       /* of one group */
    double line_sectors;
    double round_bytes; /* moved in one round by the whole GPU */
};

/* What a group meets in the network of delay and channels. */
struct passage {
    double latency_s;  /* alone */
    double ahead_s;    /* transfer of all other groups in flight */
    double service_s;  /* of one line at one channel */
    double c2;
};

static struct round round_of(const struct sc_stream *s)
{
    const double loads = s->loads_per_warp;
    const double rounds = ceil(loads / fmin(s->outstanding_per_warp, loads));
    const double group = loads / rounds;
    const double sectors = ceil(s->bytes_per_load / s->sector_bytes);
    const double line_sectors = fmin(sectors, s->line_bytes / s->sector_bytes);
    return (struct round){ .rounds = rounds,
                           .group_loads = group,
                           .sectors = sectors,
                           .lines = group * sectors / line_sectors,
                           .line_sectors = line_sectors,
                           .round_bytes = s->sms * s->warps_per_sm * group * sectors *
                                          s->sector_bytes };
}

/* Mean time of a round in the closed network of a delay and M equal channels.
 *
 * Schweitzer (Lazowska, sec. 6.4.2): a line finds at its channel the mean queue
 * of the others, W = S + a W/(Z + W) with a = S (lines of others)/M; what is in
 * service has only its residual (1 + c2)/2 left (Pollaczek and Khinchine).  With
 * L = Z + S the positive root of the quadratic for C = Z + W is a smooth
 * maximum of L and a.  No cancellation: the radicand is a sum of squares. */
static double network_round_s(const struct passage *p)
{
    const double l = p->latency_s, a = p->ahead_s;
    return 0.5 * (l + a + sqrt((l - a) * (l - a) + 2 * a * p->service_s * (1 + p->c2)));
}

/* What the start in step adds.  The first burst drains at the slow rate of one
 * bank group, unless the latency is shorter: then only the memory's idle time
 * before its first answer is lost.  A group of one line spreads out at once; a
 * group of n lines ends with its last, so that (n - 1)/n of the gap comes back
 * for some rounds more, as many as there are. */
static double burst_s(const struct sc_stream *s, const struct round *r, const struct passage *p)
{
    const double again = fmin(s->burst_rounds, r->rounds - 1) * (1 - 1 / r->lines);
    return fmin(p->latency_s, s->burst_factor * p->ahead_s) * (1 + again);
}

/* Everything that the answer is made of, in the order of the explanation. */
struct working {
    struct round round;
    double narrow_bytes_per_s; /* of memory and SM ports */
    double latency_s, transfer_s, network_s, burst_s;
    double hold_s, mshr_free, mshr_round_s, mshr_burst_s; /* mshr_free: MSHRs over sectors wanted */
    double network_total_s, mshr_total_s, time_s, useful_bytes, ideal_s;
};

/* Unloaded latency of a group: the latency is that of one whole line; a shorter
 * line is complete sooner, and more lines follow one another through the SM's
 * port or the memory, whichever is the slower for a sector. */
static double group_latency_s(const struct sc_stream *s, const struct round *r, double service_s)
{
    const double missing = s->line_bytes / s->sector_bytes - r->line_sectors;
    const double step_s = fmax(s->port_cycles / s->clock_hz,
                               s->sector_bytes / s->bandwidth_bytes_per_s);
    const double one_line_s = s->latency_s - missing * s->sector_gap_cycles / s->clock_hz;
    return fmax(one_line_s, service_s) + (r->lines - 1) * r->line_sectors * step_s;
}

static struct working work_out(const struct sc_stream *s)
{
    struct working w = { .round = round_of(s) };
    const struct round *r = &w.round;
    const double others = 1 - 1 / (s->sms * s->warps_per_sm);
    const double port_bytes_per_s = s->sms * s->sector_bytes * s->clock_hz / s->port_cycles;
    w.narrow_bytes_per_s = fmin(s->bandwidth_bytes_per_s, port_bytes_per_s);

    const double service_s = r->line_sectors * s->sector_bytes * s->channels /
                             s->bandwidth_bytes_per_s;
    w.latency_s = group_latency_s(s, r, service_s);
    w.transfer_s = r->round_bytes / w.narrow_bytes_per_s;
    struct passage passage = { w.latency_s, w.transfer_s * others, service_s, s->c2 };
    w.network_s = fmax(network_round_s(&passage), w.transfer_s);
    w.burst_s = burst_s(s, r, &passage);
    w.network_total_s = s->launch_s + r->rounds * w.network_s + w.burst_s;

    /* The same network with no more sectors in it than MSHRs. */
    w.hold_s = isnan(s->mshr_hold_s)
                   ? fmax(s->latency_s - s->core_cycles / s->clock_hz, 0)
                   : s->mshr_hold_s;
    w.mshr_free = fmin(1, s->mshr_entries / (s->warps_per_sm * r->group_loads * r->sectors));
    passage.latency_s = w.hold_s;
    passage.ahead_s *= w.mshr_free;
    w.mshr_round_s = network_round_s(&passage) / w.mshr_free;
    w.mshr_burst_s = burst_s(s, r, &passage);
    w.mshr_total_s = s->launch_s + r->rounds * w.mshr_round_s + w.mshr_burst_s;

    w.time_s = fmax(w.network_total_s, w.mshr_total_s);
    w.useful_bytes = s->sms * s->warps_per_sm * s->loads_per_warp * s->bytes_per_load;
    w.ideal_s = s->launch_s + w.useful_bytes / s->bandwidth_bytes_per_s;
    return w;
}

static const char *bound_of(const struct sc_stream *s, const struct working *w)
{
    if (s->launch_s > w->time_s - s->launch_s)
        return "launch";
    if (w->mshr_total_s > w->network_total_s)
        return "mshr";
    if (w->latency_s >= w->transfer_s)
        return "latency";
    return w->narrow_bytes_per_s < s->bandwidth_bytes_per_s ? "port" : "bandwidth";
}

static struct sc_stream_answer answer_of(const struct sc_stream *s, const struct working *w)
{
    const struct round *r = &w->round;
    const double running_s = w->time_s - s->launch_s;
    const double longest_s = fmax(w->latency_s, w->transfer_s);
    const double sector_rate = s->sms * s->sector_bytes;
    const double share = 1 / w->time_s;
    return (struct sc_stream_answer){
        .slowdown = w->time_s / w->ideal_s,
        .time_s = w->time_s,
        .cycles = w->time_s * s->clock_hz,
        .ideal_time_s = w->ideal_s,
        .bound = bound_of(s, w),
        .bandwidth_bytes_per_s = w->useful_bytes / w->time_s,
        .share_of_peak = w->useful_bytes / w->time_s / s->bandwidth_bytes_per_s,
        .moved_bytes = r->rounds * r->round_bytes,
        .outstanding_needed_bytes = w->narrow_bytes_per_s * w->latency_s,
        .outstanding_available_bytes = w->mshr_free * r->round_bytes,
        .in_flight_bytes = r->round_bytes,
        .knee_loads_per_sm = w->narrow_bytes_per_s * w->latency_s / (sector_rate * r->sectors),
        .unloaded_group_latency_s = w->latency_s,
        .load_latency_s = running_s / r->rounds,
        .launch_share = s->launch_s * share,
        .bandwidth_share = r->rounds * w->transfer_s * share,
        .latency_share = r->rounds * (longest_s - w->transfer_s) * share,
        .queueing_share = r->rounds * (w->network_s - longest_s) * share,
        .burst_share = w->burst_s * share,
        .mshr_share = (w->time_s - w->network_total_s) * share,
    };
}

/* ---- Explanation ---- */

static void explain_round(const struct sc_stream *s, const struct working *w, struct sc_trace *t)
{
    const struct round *r = &w->round;
    sc_trace_section(t, "one round: every warp issues a group of loads and waits");
    sc_trace_add(t, "s", NULL, s->sms, SC_NUMBER, "streaming multiprocessors");
    sc_trace_add(t, "w", NULL, s->warps_per_sm, SC_NUMBER, "warps per SM");
    sc_trace_add(t, "G", "ceil(loads_per_warp / outstanding_per_warp)", r->rounds, SC_NUMBER,
                 "rounds of the kernel");
    sc_trace_add(t, "o", "loads_per_warp / G", r->group_loads, SC_NUMBER, "loads of a group");
    sc_trace_add(t, "k", "ceil(bytes_per_load / sector)", r->sectors, SC_NUMBER,
                 "sectors of a load");
    sc_trace_add(t, "k_line", "min(k, line / sector)", r->line_sectors, SC_NUMBER,
                 "sectors that one line of it takes");
    sc_trace_add(t, "n", "o k / k_line", r->lines, SC_NUMBER, "lines of a group");
    sc_trace_add(t, "A", "s w o k sector", r->round_bytes, SC_BYTES, "bytes of a round");
}

static void explain_bounds(const struct sc_stream *s, const struct working *w, struct sc_trace *t)
{
    const bool mshr = w->mshr_total_s > w->network_total_s;
    sc_trace_section(t, "bounds of a round (Little's law)");
    sc_trace_add(t, "R", NULL, s->latency_s, SC_SECONDS, "latency of a line, idle memory");
    sc_trace_add(t, "L",
                 "R - (line/sector - k_line) sector_gap"
                 " + (n - 1) k_line max(port, sector/bandwidth)",
                 w->latency_s, SC_SECONDS, "latency bound: a group alone");
    sc_trace_binds(t, !mshr && w->latency_s >= w->transfer_s);
    sc_trace_add(t, "B", "min(bandwidth, s sector / port)", w->narrow_bytes_per_s,
                 SC_BYTES_PER_SECOND, "the narrower of the memory and all SM ports");
    sc_trace_add(t, "D", "A / B", w->transfer_s, SC_SECONDS, "bandwidth bound: all groups");
    sc_trace_binds(t, !mshr && w->latency_s < w->transfer_s);
    sc_trace_add(t, "B L", "B x L", w->narrow_bytes_per_s * w->latency_s, SC_BYTES,
                 "must be in flight to fill the memory; a round has A");
}

static void explain_network(const struct sc_stream *s, const struct working *w,
                            struct sc_trace *t)
{
    const double service_s = w->round.line_sectors * s->sector_bytes * s->channels /
                             s->bandwidth_bytes_per_s;
    const double warps = s->sms * s->warps_per_sm;
    sc_trace_section(t, "queueing near the knee (closed network, Schweitzer)");
    sc_trace_add(t, "S", "k_line sector channels / bandwidth", service_s, SC_SECONDS,
                 "service of a line at its channel");
    sc_trace_add(t, "a", "D (1 - 1/(s w))", w->transfer_s * (1 - 1 / warps), SC_SECONDS,
                 "transfer of the groups of others");
    sc_trace_add(t, "C", "max(D, (L + a + sqrt((L - a)^2 + 2 a S (1 + c2))) / 2)", w->network_s,
                 SC_SECONDS, "mean round, a smooth maximum of L and D");
    sc_trace_add(t, "X", "min(L, burst_factor a) (1 + min(burst_rounds, G - 1) (1 - 1/n))",
                 w->burst_s, SC_SECONDS, "all warps start in step");
    sc_trace_add(t, "T_net", "launch + G C + X", w->network_total_s, SC_SECONDS,
                 "time with MSHRs without end");
}

static void explain_mshr(const struct working *w, struct sc_trace *t)
{
    sc_trace_section(t, "miss-status holding registers");
    sc_trace_add(t, "f", "min(1, mshr_entries / (w o k))", w->mshr_free, SC_SHARE,
                 "share of a round that may be in flight");
    sc_trace_add(t, "H", "mshr_hold, else R - core", w->hold_s, SC_SECONDS,
                 "a sector holds its MSHR");
    sc_trace_add(t, "C_mshr", "C(L = H, a = f a) / f", w->mshr_round_s, SC_SECONDS,
                 "round when MSHRs admit the sectors");
    sc_trace_binds(t, w->mshr_total_s > w->network_total_s);
    sc_trace_add(t, "X_mshr", "X(L = H, a = f a)", w->mshr_burst_s, SC_SECONDS,
                 "start in step, of those admitted");
    sc_trace_add(t, "T_mshr", "launch + G C_mshr + X_mshr", w->mshr_total_s, SC_SECONDS,
                 "time that the MSHRs allow");
}

static void explain_time(const struct sc_stream *s, const struct working *w, struct sc_trace *t)
{
    sc_trace_section(t, "the kernel");
    sc_trace_add(t, "launch", NULL, s->launch_s, SC_SECONDS, "before the first instruction");
    sc_trace_binds(t, s->launch_s > w->time_s - s->launch_s);
    sc_trace_add(t, "T", "max(T_net, T_mshr)", w->time_s, SC_SECONDS, "time");
    sc_trace_add(t, "T_ideal", "launch + s w loads_per_warp bytes_per_load / bandwidth",
                 w->ideal_s, SC_SECONDS, "roofline: no latency, MSHRs without end");
    sc_trace_add(t, "slowdown", "T / T_ideal", w->time_s / w->ideal_s, SC_NUMBER,
                 "over the roofline");
}

static enum sc_status estimate(const void *scenario, void *answer, struct sc_trace *trace,
                               struct sc_error *error)
{
    const struct sc_stream *s = scenario;
    struct sc_stream_answer *out = answer;
    struct sc_error unseen;
    if (error == NULL)
        error = &unseen;
    const enum sc_status status = sc_scenario_check(&sc_stream_system, scenario, error);
    if (status != SC_OK)
        return status;
    if (s->line_bytes < s->sector_bytes) {
        *error = (struct sc_error){ "line", s->line_bytes, "must not be smaller than a sector" };
        return SC_EDOMAIN;
    }
    const struct working w = work_out(s);
    if (trace != NULL) {
        explain_round(s, &w, trace);
        explain_bounds(s, &w, trace);
        explain_network(s, &w, trace);
        explain_mshr(&w, trace);
        explain_time(s, &w, trace);
    }
    *out = answer_of(s, &w);
    return SC_OK;
}

const struct sc_system sc_stream_system = {
    .name = "stream",
    .title = "a kernel that only loads",
    .question = "how long does a streaming kernel take, given warps, loads in flight, latency, "
                "bandwidth and MSHRs, and where is the knee?",
    .source = "Little's law and closed queueing networks (Lazowska et al. 1984)",
    .fields = fields,
    .field_count = sizeof fields / sizeof fields[0],
    .plan_keys = "warps_per_sm loads_per_warp outstanding_per_warp bytes_per_load "
                 "latency bandwidth",
    .metrics = metrics,
    .metric_count = sizeof metrics / sizeof metrics[0],
    .scenario_size = sizeof(struct sc_stream),
    .answer_size = sizeof(struct sc_stream_answer),
    .clock_key = "clock",
    .estimate = estimate,
};

_Static_assert(sizeof(struct sc_stream) <= SC_SCENARIO_MAX,
               "a scenario must fit the callers' storage");
_Static_assert(sizeof(struct sc_stream_answer) <= SC_ANSWER_MAX,
               "an answer must fit the callers' storage");
