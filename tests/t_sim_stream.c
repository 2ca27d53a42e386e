/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The simulator of the streaming kernel: against a cycle-level simulator,
 * against queueing theory where that is exact, and against the closed form.
 *
 * A property that is checked over many scenarios is one check. */
#include "sim/stream_sim.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "queueing.h"
#include "sim/event.h"
#include "sim/stats.h"
#include "stream.h"
#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define CLOCK_HZ 1132e6

static struct sc_stream defaults(void)
{
    struct sc_stream s;
    sc_scenario_init(&sc_stream_system, &s);
    return s;
}

/* The answer to an admissible scenario; zeros, and a failed check, otherwise. */
static struct sc_stream_answer answer_with(const struct sc_stream *s,
                                           const struct sc_sim_options *options,
                                           struct sc_sim_report *report)
{
    struct sc_stream_answer answer;
    struct sc_error error = { 0 };
    memset(&answer, 0, sizeof answer);
    if (sc_stream_simulator.simulate(s, options, &answer, report, &error) != SC_OK) {
        ok(false, "unexpected error: %s %g %s", error.field, error.value, error.reason);
        memset(&answer, 0, sizeof answer);
    }
    return answer;
}

static struct sc_stream_answer answer_to(struct sc_stream s)
{
    return answer_with(&s, &(struct sc_sim_options){ .seed = 1 }, NULL);
}

static double time_of(struct sc_stream s)
{
    return answer_to(s).time_s;
}

/* ---- The cycle simulator ---- */

/* data/published/stream.csv, and two runs that are not in it: Accel-Sim,
 * quarter-size V100, and the whole of it. */
static const struct row {
    const char *name;
    double machine, warps, loads, outstanding, bytes, latency_cycles, mshr, cycles;
} sweep[] = {
    { "w1", 1, 1, 48, 1, 128, 331, 512, 20728 },
    { "w2", 1, 2, 48, 1, 128, 331, 512, 20768 },
    { "w8 base", 1, 8, 48, 1, 128, 331, 512, 21272 },
    { "w32", 1, 32, 48, 1, 128, 331, 512, 26055 },
    { "w8 l96", 1, 8, 96, 1, 128, 331, 512, 37157 },
    { "w8 dram300", 1, 8, 48, 1, 128, 531, 512, 30806 },
    { "w8 rop320", 1, 8, 48, 1, 128, 491, 512, 28876 },
    { "w8 mlp2", 1, 8, 48, 2, 128, 331, 512, 13903 },
    { "w8 b32", 1, 8, 48, 1, 32, 331, 512, 20511 },
    { "w8 b512", 1, 8, 48, 1, 512, 331, 512, 26524 },
    { "w8 mshr32", 1, 8, 48, 1, 128, 331, 32, 21272 },
    { "w8 mshr8", 1, 8, 48, 1, 128, 331, 8, 61544 },
    { "w8 mlp8, not in the sweep", 1, 8, 48, 8, 128, 331, 512, 11301 },
    { "w8 on four times the machine", 4, 8, 64, 1, 128, 331, 512, 26478 },
};

static struct sc_stream scenario_of(const struct row *row)
{
    struct sc_stream s = defaults();
    s.sms = 20 * row->machine;
    s.channels = 8 * row->machine;
    s.bandwidth_bytes_per_s = 192.2 * CLOCK_HZ * row->machine;
    s.warps_per_sm = row->warps;
    s.loads_per_warp = row->loads;
    s.outstanding_per_warp = row->outstanding;
    s.bytes_per_load = row->bytes;
    s.latency_s = row->latency_cycles / CLOCK_HZ;
    s.mshr_entries = row->mshr;
    return s;
}

static void test_cycle_simulator(void)
{
    double sum = 0;
    for (size_t i = 0; i < COUNT(sweep); i++) {
        const double cycles = answer_to(scenario_of(&sweep[i])).cycles;
        near(cycles, sweep[i].cycles, 0.03, 0, "%s within 3 %%", sweep[i].name);
        sum += fabs(cycles / sweep[i].cycles - 1);
    }
    near(sum / COUNT(sweep), 0, 0, 0.015, "mean error within 1.5 %%");
}

/* ---- Exact ---- */

/* Sectors that queue for nothing but one channel. */
static struct sc_stream one_channel(double warps, double services_of_latency)
{
    struct sc_stream s = defaults();
    s.sms = warps;
    s.warps_per_sm = 1;
    s.channels = 1;
    s.bytes_per_load = s.line_bytes = s.sector_bytes = 32;
    s.bandwidth_bytes_per_s = 32 / 1e-9;
    s.latency_s = services_of_latency * 1e-9;
    s.port_cycles = s.sector_gap_cycles = 0;
    s.mshr_entries = 1e6;
    s.burst_factor = 1;
    s.loads_per_warp = 1000;
    return s;
}

static void test_alone(void)
{
    struct sc_stream s = defaults();
    s.sms = s.warps_per_sm = 1;
    const struct sc_stream_answer a = answer_to(s);
    near(a.time_s, s.launch_s + s.loads_per_warp * s.latency_s, 1e-7, 0,
         "one warp pays the latency of each load and nothing else");
    near(a.unloaded_group_latency_s, s.latency_s, 1e-7, 0, "which is the one asked for");
    near(a.queueing_share + a.burst_share + a.mshr_share, 0, 0, 1e-9, "nobody to wait for");
    is_str(a.bound, "latency", "latency binds");
    s.launch_s = 1;
    is_str(answer_to(s).bound, "launch", "a long launch binds");

    s = defaults();
    s.sms = s.warps_per_sm = s.mshr_entries = 1;
    s.mshr_hold_s = 2e-6;
    near(time_of(s), s.launch_s + s.loads_per_warp * 4 * s.mshr_hold_s, 0.01, 0,
         "one MSHR fetches four sectors one by one");
    is_str(answer_to(s).bound, "mshr", "which binds");
    near(answer_to(s).outstanding_available_bytes, 32, 0, 0, "with one sector in flight");
}

static void test_deterministic(void)
{
    struct sc_stream s = one_channel(20, 100);
    near(time_of(s), s.launch_s + s.loads_per_warp * s.latency_s + 19e-9, 1e-9, 0,
         "D/D/1: below the knee only the first burst waits");
    s.burst_factor = 3;
    near(time_of(s), s.launch_s + s.loads_per_warp * s.latency_s + 3 * 19e-9, 1e-9, 0,
         "longer by burst_factor");
    s = one_channel(20, 10);
    near(time_of(s), s.launch_s + s.loads_per_warp * 20e-9 + 9e-9, 1e-9, 0,
         "above it the channel never rests");
    is_str(answer_to(s).bound, "bandwidth", "and binds");
}

/* Exponential service: the repairman is exact, think times may have any
 * distribution, also the constant here. */
static void test_repairman(void)
{
    static const double latency[] = { 5, 20, 60 };
    for (size_t i = 0; i < COUNT(latency); i++) {
        struct sc_stream s = one_channel(20, latency[i]);
        struct sc_sim_moments cycle = { 0 };
        struct sc_closed theory = { 0 };
        s.c2 = 1;
        for (uint64_t run = 0; run < 12; run++) {
            const struct sc_sim_options options = { .seed = 5, .run = run };
            sc_sim_moments_add(&cycle, answer_with(&s, &options, NULL).load_latency_s);
        }
        const enum sc_status status = sc_repairman_mm1(20, s.latency_s - 1e-9, 1e-9, &theory, NULL);
        const struct sc_sim_interval interval = sc_sim_moments_interval(&cycle, 0.99);
        const double want_s = status == SC_OK ? 20 / theory.throughput_per_s : (double)NAN;
        near(interval.mean, want_s, 0, interval.half_width,
             "M/M/1//20, latency %g services: cycle time within the 99 %% interval", latency[i]);
        ok(interval.half_width < 0.01 * want_s, "which is narrower than 1 %%");
    }
}

static void test_saturated(void)
{
    struct sc_stream s = defaults();
    s.warps_per_sm = 128;
    s.loads_per_warp = 100;
    s.mshr_entries = 1e6;
    s.launch_s = 0;
    struct sc_stream_answer a = answer_to(s);
    near(a.slowdown, 1, 0.01, 0, "much concurrency reaches the roofline");
    near(a.share_of_peak, 1, 0.01, 0, "and the peak bandwidth");
    is_str(a.bound, "bandwidth", "which binds");
    s.port_cycles = 4;
    s.bandwidth_bytes_per_s = 1e13;
    a = answer_to(s);
    is_str(a.bound, "port", "unless the SMs cannot take it");
    near(a.bandwidth_bytes_per_s, s.sms * 8 * s.clock_hz, 0.01, 0, "8 B/cycle and SM");
}

/* ---- Many scenarios ---- */

/* Points that fill the cube evenly: multiples of the powers of the root of
 * x^(n+1) = x + 1, modulo 1 (a Kronecker sequence). */
static double even(size_t point, size_t axis)
{
    double root = 1;
    for (int i = 0; i < 60; i++)
        root = pow(1 + root, 1.0 / 15);
    const double x = 0.5 + (double)(point + 1) * pow(root, -(double)(axis + 1));
    return x - floor(x);
}

static struct sc_stream sampled(size_t point)
{
    struct sc_stream s = defaults();
    size_t axis = 0;
    for (size_t i = 0; i < sc_stream_system.field_count; i++) {
        const struct sc_field *f = &sc_stream_system.fields[i];
        if (f->kind == SC_PRESET || !(f->sample_low < f->sample_high))
            continue;
        const double u = even(point, axis++);
        const double value = f->sample_log ? f->sample_low * pow(f->sample_high / f->sample_low, u)
                                           : f->sample_low + u * (f->sample_high - f->sample_low);
        sc_field_set(f, &s, f->kind == SC_INTEGER ? floor(value + 0.5) : value);
    }
    s.burst_rounds = defaults().burst_rounds;
    return s;
}

static bool is_share(double share)
{
    return share > -1e-12 && share < 1 + 1e-12;
}

static bool shares_add_up(const struct sc_stream_answer *a)
{
    const double shares[] = { a->launch_share,   a->bandwidth_share, a->latency_share,
                              a->queueing_share, a->burst_share,     a->mshr_share };
    double sum = 0;
    for (size_t i = 0; i < COUNT(shares); i++) {
        if (!is_share(shares[i]))
            return false;
        sum += shares[i];
    }
    return fabs(sum - 1) < 1e-12;
}

/* Warps and loads are cut short to save time. */
static struct sc_stream small(size_t point)
{
    struct sc_stream s = sampled(point);
    s.sms = fmin(s.sms, 16);
    s.loads_per_warp = fmin(s.loads_per_warp, 40);
    s.warps_per_sm = fmin(s.warps_per_sm, 16);
    return s;
}

static void test_conservation(void)
{
    double little = 0;
    int units = 0, moved = 0, shares = 0, faster = 0, same = 0;
    for (size_t i = 0; i < 40; i++) {
        const struct sc_stream s = small(i);
        const double loads = s.sms * s.warps_per_sm * s.loads_per_warp;
        struct sc_sim_report report;
        const struct sc_sim_options options = { .seed = 3, .run = i, .check = true };
        const struct sc_sim_options careless = { .seed = 3, .run = i };
        const struct sc_stream_answer a = answer_with(&s, &options, &report);
        const struct sc_stream_answer b = answer_with(&s, &careless, NULL);
        little = fmax(little, report.little_error);
        units += (double)report.units != loads;
        moved += a.moved_bytes != loads * ceil(s.bytes_per_load / 32) * 32;
        shares += !shares_add_up(&a);
        faster += a.slowdown < 1 && s.c2 == 0;
        same += memcmp(&a, &b, sizeof a) != 0;
    }
    ok(little <= 0.005, "Little's law holds for MSHRs, channels and loads: %g", little);
    is_int(units, 0, "all loads return");
    is_int(moved, 0, "as whole sectors");
    is_int(shares, 0, "shares are shares and add up to 1");
    is_int(faster, 0, "nothing is faster than the roofline");
    is_int(same, 0, "checking changes nothing");
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void test_closed_form(void)
{
    double error[50];
    for (size_t i = 0; i < COUNT(error); i++) {
        struct sc_stream s = sampled(i);
        struct sc_stream_answer closed = { 0 };
        s.loads_per_warp = fmin(s.loads_per_warp, 64);
        s.warps_per_sm = fmin(s.warps_per_sm, 16);
        s.sms = fmin(s.sms, 24);
        error[i] = (double)INFINITY;
        if (sc_stream_system.estimate(&s, &closed, NULL, NULL) == SC_OK)
            error[i] = fabs(closed.time_s / time_of(s) - 1);
    }
    qsort(error, COUNT(error), sizeof error[0], compare);
    near(error[COUNT(error) / 2], 0, 0, 0.02, "median within 2 %% of the closed form");
    near(error[COUNT(error) * 9 / 10], 0, 0, 0.07, "nine of ten within 7 %%");
}

static void test_monotone(void)
{
    struct sc_stream s = defaults();
    double before = (double)INFINITY;
    int worse = 0;
    for (s.mshr_entries = 1; s.mshr_entries <= 64; s.mshr_entries *= 2) {
        const double now = time_of(s);
        worse += now > before * 1.001;
        before = now;
    }
    is_int(worse, 0, "more MSHRs do not hurt");
    s = defaults();
    worse = 0;
    for (before = 0, s.latency_s = 1e-7; s.latency_s < 1e-6; s.latency_s *= 1.3) {
        const double now = time_of(s);
        worse += now < before;
        before = now;
    }
    is_int(worse, 0, "latency does not help");
    s = defaults();
    const double base = time_of(s);
    s.mshr_entries = s.warps_per_sm * 4;
    near(time_of(s), base, 0, 0, "as many MSHRs as sectors cost nothing");
    s.sector_gap_cycles = s.port_cycles = 0;
    s.burst_factor = 1;
    ok(time_of(s) < base, "no gaps, ports and bursts: faster");
}

/* ---- Keys, runs, records, errors ---- */

static void test_keys(void)
{
    struct sc_stream base = defaults();
    int ignored = 0;
    base.loads_per_warp = 8;
    base.outstanding_per_warp = 2;
    base.warps_per_sm = 16;
    base.mshr_entries = 16;
    base.mshr_hold_s = base.latency_s * 0.8;
    base.c2 = 0.5;
    for (size_t i = 0; i < sc_stream_system.field_count; i++) {
        const struct sc_field *f = &sc_stream_system.fields[i];
        struct sc_stream s = base;
        if (f->kind == SC_PRESET || f->offset == offsetof(struct sc_stream, burst_rounds))
            continue;
        if (f->offset == offsetof(struct sc_stream, core_cycles))
            s.mshr_hold_s = base.mshr_hold_s = (double)NAN;
        sc_field_set(f, &s, 2 * sc_field_get(f, &base));
        if (time_of(s) == time_of(base)) {
            ignored++;
            ok(false, "%s is looked at", f->key);
        }
    }
    is_int(ignored, 0, "every key matters");
}

static void test_runs(void)
{
    struct sc_stream s = defaults();
    s.c2 = 0.3;
    const struct sc_sim_options first = { .seed = 7, .run = 1 }, seed = { .seed = 8, .run = 1 };
    const struct sc_sim_options run = { .seed = 7, .run = 2 };
    const struct sc_stream_answer a = answer_with(&s, &first, NULL);
    struct sc_stream_answer b = answer_with(&s, &first, NULL);
    ok(memcmp(&a, &b, sizeof a) == 0, "the same seed and run, the same bytes");
    b = answer_with(&s, &seed, NULL);
    ok(a.time_s != b.time_s, "another seed, another time");
    near(b.time_s, a.time_s, 0.02, 0, "but not very much");
    b = answer_with(&s, &run, NULL);
    ok(a.time_s != b.time_s, "another run, too");
}

struct notes {
    uint64_t count, disorder, faults, last_ps;
    uint32_t sm, unit;
};

static void keep_record(const struct sc_sim_record *r, void *context)
{
    struct notes *n = context;
    if (n->count > 0 && (r->sm < n->sm || (r->sm == n->sm && r->unit != n->unit + 1)))
        n->disorder++;
    if (!(r->asked_ps < r->arrived_ps && r->arrived_ps <= r->first_use_ps &&
          r->first_use_ps <= r->last_use_ps && r->evicted_ps == SC_SIM_NEVER_PS))
        n->faults++;
    if (r->last_use_ps > n->last_ps)
        n->last_ps = r->last_use_ps;
    n->sm = r->sm;
    n->unit = r->unit;
    n->count++;
}

static void test_records(void)
{
    struct sc_stream s = defaults();
    struct notes notes = { 0 };
    struct sc_sim_report report;
    s.outstanding_per_warp = 5;
    const struct sc_sim_options options = { .record = keep_record, .context = &notes };
    const struct sc_stream_answer a = answer_with(&s, &options, &report);
    is_int((long long)notes.count, 20 * 8 * 48, "a record for every load");
    is_int((long long)report.units, 20 * 8 * 48, "as many as reported");
    is_int((long long)notes.disorder, 0, "in order");
    is_int((long long)notes.faults, 0, "asked, arrived and used one after the other");
    near((double)notes.last_ps * 1e-12, a.time_s, 1e-7, 0, "the last ends the kernel");
    ok(report.waiting == NULL, "nothing was left waiting");
    ok(report.events > report.units, "some events were needed");
}

static enum sc_status status_of(struct sc_stream s, struct sc_error *error)
{
    struct sc_stream_answer answer;
    return sc_stream_simulator.simulate(&s, &(struct sc_sim_options){ 0 }, &answer, NULL, error);
}

static void test_errors(void)
{
    struct sc_error error = { 0 };
    struct sc_stream s = defaults();
    s.line_bytes = 16;
    is_int(status_of(s, &error), SC_EDOMAIN, "a line must hold a sector");
    is_str(error.field, "line", "is said of the line");
    is_int(status_of(s, NULL), SC_EDOMAIN, "also when nobody asks");
    s = defaults();
    s.sms = 0;
    is_int(status_of(s, &error), SC_ERANGE, "no SM is out of range");
    is_str(error.field, "sms", "which is named");
    s = defaults();
    s.bandwidth_bytes_per_s = 1e6;
    s.sector_bytes = s.line_bytes = 4096;
    s.channels = 65536;
    is_int(status_of(s, &error), SC_ERANGE, "lines of minutes cannot be simulated");
    is_str(error.field, "bandwidth", "for lack of bandwidth");
    s = defaults();
    s.sms = s.warps_per_sm = 1;
    s.latency_s = s.launch_s = 1;
    s.loads_per_warp = 1e9;
    is_int(status_of(s, &error), SC_ERANGE, "nor kernels of days");
    s = defaults();
    s.sms = 4096;
    s.warps_per_sm = s.outstanding_per_warp = s.loads_per_warp = 1024;
    is_int(status_of(s, &error), SC_ENOSPACE, "nor billions of loads at a time");
}

/* Little time for a transfer, or none, is the hard case for whole numbers. */
static void test_extremes(void)
{
    struct sc_stream s = defaults();
    s.bandwidth_bytes_per_s = 1e16;
    s.warps_per_sm = 64;
    struct sc_stream_answer a = answer_to(s);
    ok(shares_add_up(&a), "endless bandwidth: shares");
    s = defaults();
    s.latency_s = 1e-9;
    a = answer_to(s);
    ok(shares_add_up(&a) && a.slowdown >= 1, "no latency to speak of: shares");
    s = defaults();
    s.mshr_hold_s = 1e-5;
    a = answer_to(s);
    ok(shares_add_up(&a), "MSHRs that are held on: shares");
    s = defaults();
    s.mshr_hold_s = 1e-10;
    s.c2 = 4;
    a = answer_to(s);
    ok(shares_add_up(&a), "MSHRs that are hardly held, wild service: shares");
    s = defaults();
    s.bytes_per_load = 1000;
    s.line_bytes = 100;
    s.channels = 3;
    s.outstanding_per_warp = 7;
    a = answer_to(s);
    near(a.moved_bytes, 20 * 8 * 48 * 1024, 0, 0, "odd lines and channels: all sectors");
}

int main(void)
{
    plan(78);
    test_cycle_simulator();
    test_alone();
    test_deterministic();
    test_repairman();
    test_saturated();
    test_conservation();
    test_closed_form();
    test_monotone();
    test_keys();
    test_runs();
    test_records();
    test_errors();
    test_extremes();
    ok(sc_simulator_find(&sc_stream_system) == &sc_stream_simulator, "the table knows it");
    ok(sc_simulator_find(NULL) == NULL, "and nothing else");
    return done();
}
