/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The streaming kernel: against a cycle-level simulator, against limits and
 * conservation laws, and over the whole admissible range.
 *
 * A property that is checked over many scenarios is one check. */
#include "../model/stream.h"
#include "tap.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define CLOCK_HZ 1132e6

enum { TERMS_MAX = 64 };

/* splitmix64, so that every run tests the same scenarios. */
static uint64_t random_state = 1;

static double random_unit(void)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static struct sc_stream defaults(void)
{
    struct sc_stream s;
    sc_scenario_init(&sc_stream_system, &s);
    return s;
}

/* The answer to an admissible scenario; zeros, and a failed check, otherwise. */
static struct sc_stream_answer answer_to(struct sc_stream s)
{
    struct sc_stream_answer answer;
    struct sc_error error = { 0 };
    memset(&answer, 0, sizeof answer);
    if (sc_stream_system.estimate(&s, &answer, NULL, &error) != SC_OK) {
        ok(false, "unexpected error: %s %s", error.field, error.reason);
        memset(&answer, 0, sizeof answer);
    }
    return answer;
}

static double time_of(struct sc_stream s)
{
    return answer_to(s).time_s;
}

/* ---- The simulator ---- */

/* data/published/stream.csv: Accel-Sim, quarter-size V100, 192.2 B/cycle,
 * 5000 cycles of launch. */
static const struct row {
    const char *name;
    double warps, loads, outstanding, bytes, latency_cycles, mshr, cycles;
} sweep[] = {
    { "w1", 1, 48, 1, 128, 331, 512, 20728 },
    { "w2", 2, 48, 1, 128, 331, 512, 20768 },
    { "w8 base", 8, 48, 1, 128, 331, 512, 21272 },
    { "w32", 32, 48, 1, 128, 331, 512, 26055 },
    { "w8 l96", 8, 96, 1, 128, 331, 512, 37157 },
    { "w8 dram300", 8, 48, 1, 128, 531, 512, 30806 },
    { "w8 rop320", 8, 48, 1, 128, 491, 512, 28876 },
    { "w8 mlp2", 8, 48, 2, 128, 331, 512, 13903 },
    { "w8 b32", 8, 48, 1, 32, 331, 512, 20511 },
    { "w8 b512", 8, 48, 1, 512, 331, 512, 26524 },
    { "w8 mshr32", 8, 48, 1, 128, 331, 32, 21272 },
    { "w8 mshr8", 8, 48, 1, 128, 331, 8, 61544 },
};

static struct sc_stream scenario_of(const struct row *row, double clock_hz)
{
    struct sc_stream s = defaults();
    s.warps_per_sm = row->warps;
    s.loads_per_warp = row->loads;
    s.outstanding_per_warp = row->outstanding;
    s.bytes_per_load = row->bytes;
    s.latency_s = row->latency_cycles / clock_hz;
    s.mshr_entries = row->mshr;
    s.launch_s = 5000 / clock_hz;
    s.bandwidth_bytes_per_s = 192.2 * clock_hz;
    s.clock_hz = clock_hz;
    return s;
}

static void test_simulator(void)
{
    double sum = 0;
    for (size_t i = 0; i < COUNT(sweep); i++) {
        const double cycles = answer_to(scenario_of(&sweep[i], CLOCK_HZ)).cycles;
        near(cycles, sweep[i].cycles, 0.03, 0, "%s within 3 %% of the simulator", sweep[i].name);
        sum += fabs(cycles / sweep[i].cycles - 1);
    }
    near(sum / COUNT(sweep), 0, 0, 0.015, "mean error within 1.5 %%");
}

/* Runs outside the sweep.  burst_rounds was set with an eye on the first. */
static void test_other_runs(void)
{
    const struct row eight = { "", 8, 48, 8, 128, 331, 512, 11301 };
    const struct row wide = { "", 8, 64, 1, 128, 331, 512, 26478 };
    struct sc_stream s = scenario_of(&eight, CLOCK_HZ);
    near(answer_to(s).cycles, eight.cycles, 0.03, 0, "eight outstanding within 3 %%");
    const double eight_s = time_of(s);
    s.outstanding_per_warp = 4;
    ok(time_of(s) < eight_s, "eight outstanding are slower than four: bursts drain in between");
    s = scenario_of(&wide, CLOCK_HZ);
    s.sms = 80;
    s.channels = 32;
    s.bandwidth_bytes_per_s *= 4;
    near(answer_to(s).cycles, wide.cycles, 0.03, 0, "four times the machine within 3 %%");
}

static void test_clock(void)
{
    double worst = 0;
    for (size_t i = 0; i < COUNT(sweep); i++)
        for (double clock_hz = 1e8; clock_hz < 1e10; clock_hz *= 1.7) {
            const double a = answer_to(scenario_of(&sweep[i], CLOCK_HZ)).cycles;
            const double b = answer_to(scenario_of(&sweep[i], clock_hz)).cycles;
            worst = fmax(worst, fabs(b / a - 1));
        }
    near(worst, 0, 0, 1e-12, "in cycles, the clock does not matter");
}

/* ---- Limits ---- */

static void test_one_warp(void)
{
    struct sc_stream s = defaults();
    s.sms = 1;
    s.warps_per_sm = 1;
    struct sc_stream_answer a = answer_to(s);
    near(a.time_s, s.launch_s + s.loads_per_warp * s.latency_s, 1e-14, 0,
         "one warp pays the latency of each load and nothing else");
    is_str(a.bound, "latency", "and says so");
    near(a.queueing_share + a.burst_share + a.mshr_share, 0, 0, 1e-14, "nobody to wait for");
    s.launch_s = 1;
    is_str(answer_to(s).bound, "launch", "a long launch binds");
}

static void test_knee(void)
{
    struct sc_stream s = defaults();
    const double knee = answer_to(s).knee_loads_per_sm;
    near(knee, s.bandwidth_bytes_per_s * s.latency_s / (s.sms * 128), 1e-14, 0,
         "the knee is Little's law");
    s.warps_per_sm = floor(knee);
    is_str(answer_to(s).bound, "latency", "just below it latency binds");
    s.warps_per_sm = ceil(knee);
    is_str(answer_to(s).bound, "bandwidth", "just above it bandwidth");
    ok(answer_to(s).queueing_share > 0.02, "and both queue");
}

static void test_saturated(void)
{
    struct sc_stream s = defaults();
    s.warps_per_sm = 1024;
    s.loads_per_warp = 1e6;
    s.mshr_entries = 1e6;
    struct sc_stream_answer a = answer_to(s);
    near(a.slowdown, 1, 1e-3, 0, "endless concurrency reaches the roofline");
    near(a.share_of_peak, 1, 1e-3, 0, "and the peak bandwidth");
    is_str(a.bound, "bandwidth", "which binds");
    s.port_cycles = 2;
    s.bandwidth_bytes_per_s = 1e13;
    a = answer_to(s);
    is_str(a.bound, "port", "unless the SMs cannot take it");
    near(a.bandwidth_bytes_per_s, s.sms * 16 * s.clock_hz, 1e-3, 0, "16 B/cycle and SM");
}

static void test_mshr(void)
{
    struct sc_stream s = defaults();
    s.sms = 1;
    s.warps_per_sm = 1;
    s.mshr_entries = 1;
    struct sc_stream_answer a = answer_to(s);
    near(a.time_s, s.launch_s + s.loads_per_warp * 4 * (s.latency_s - s.core_cycles / s.clock_hz),
         1e-14, 0, "one MSHR fetches the four sectors of a load one by one");
    is_str(a.bound, "mshr", "which binds");
    near(a.outstanding_available_bytes, 32, 1e-14, 0, "with one sector in flight");
    s.mshr_hold_s = 1e-6;
    near(time_of(s), s.launch_s + s.loads_per_warp * 4e-6, 1e-14, 0, "the hold time can be given");

    s = defaults();
    const double free_s = time_of(s);
    s.mshr_entries = s.warps_per_sm * 4;
    near(time_of(s), free_s, 0, 0, "as many MSHRs as sectors cost nothing");
    s.mshr_entries = 1e6;
    near(time_of(s), free_s, 0, 0, "and more gain nothing");
}

static void test_groups(void)
{
    struct sc_stream s = defaults();
    s.loads_per_warp = 5;
    s.outstanding_per_warp = 5;
    const double all_s = time_of(s);
    s.outstanding_per_warp = 1000;
    near(time_of(s), all_s, 0, 0, "no more outstanding than there are loads");
    s.outstanding_per_warp = 2;
    near(answer_to(s).moved_bytes, 20 * 8 * 5 * 128, 1e-14, 0, "a short last group moves no more");
    s.bytes_per_load = 33;
    near(answer_to(s).moved_bytes, 20 * 8 * 5 * 64, 1e-14, 0, "bytes are rounded up to sectors");
}

/* ---- Conservation and monotony over the admissible range ---- */

/* A scenario from the whole range of every field, or from its sample region. */
static struct sc_stream random_scenario(bool whole)
{
    struct sc_stream s = defaults();
    for (size_t i = 0; i < sc_stream_system.field_count; i++) {
        const struct sc_field *f = &sc_stream_system.fields[i];
        const double low = whole ? f->minimum : f->sample_low;
        const double high = whole ? f->maximum : f->sample_high;
        if (f->kind == SC_PRESET || !(low < high))
            continue;
        const double u = random_unit();
        double value = low > 0 ? low * pow(high / low, u) : low + u * (high - low);
        if (f->kind == SC_INTEGER)
            value = floor(value);
        sc_field_set(f, &s, fmin(fmax(value, low), high));
    }
    s.line_bytes = fmax(s.line_bytes, s.sector_bytes);
    if (random_unit() < 0.5)
        s.mshr_hold_s = defaults().mshr_hold_s;
    return s;
}

static bool is_finite(const struct sc_stream_answer *a)
{
    for (size_t i = 0; i < sc_stream_system.metric_count; i++) {
        const struct sc_metric *m = &sc_stream_system.metrics[i];
        double value;
        if (m->text)
            continue;
        memcpy(&value, (const char *)a + m->offset, sizeof value);
        if (!isfinite(value) || value < 0)
            return false;
    }
    return true;
}

static double stall_sum(const struct sc_stream_answer *a, double *least)
{
    double sum = 0;
    for (size_t i = 0; i < sc_stream_system.metric_count; i++) {
        const struct sc_metric *m = &sc_stream_system.metrics[i];
        double value;
        if (m->stall == NULL)
            continue;
        memcpy(&value, (const char *)a + m->offset, sizeof value);
        *least = fmin(*least, value);
        sum += value;
    }
    return sum;
}

static void test_range(void)
{
    double share_error = 0, least = 0, little_error = 0, over_peak = 0, under_ideal = 1;
    int not_finite = 0;
    for (int i = 0; i < 200000; i++) {
        const struct sc_stream s = random_scenario(i % 2 == 0);
        const struct sc_stream_answer a = answer_to(s);
        not_finite += !is_finite(&a);
        share_error = fmax(share_error, fabs(stall_sum(&a, &least) - 1));
        /* a time much shorter than the launch has lost its digits in the sum */
        const double running_s = a.time_s - s.launch_s;
        if (running_s > 1e-3 * a.time_s) {
            const double rate = a.moved_bytes / running_s;
            const double in_flight_bytes = rate * a.load_latency_s;
            little_error = fmax(little_error, fabs(in_flight_bytes / a.in_flight_bytes - 1));
        }
        over_peak = fmax(over_peak, a.share_of_peak);
        under_ideal = fmin(under_ideal, a.slowdown);
    }
    is_int(not_finite, 0, "every number is finite and not negative");
    near(share_error, 0, 0, 1e-12, "stall shares sum to 1");
    ok(least >= 0, "and none is negative");
    near(little_error, 0, 0, 1e-10, "in flight = rate x latency");
    ok(over_peak <= 1 + 1e-12, "never above the peak");
    ok(under_ideal >= 1 - 1e-12, "never below the roofline");
}

/* The worst relative step of the time in the wrong direction. */
static double wrong_way(size_t offset, bool whole_number, int direction)
{
    double worst = 0;
    for (int i = 0; i < 20000; i++) {
        struct sc_stream s = random_scenario(i % 2 == 0);
        double value;
        memcpy(&value, (char *)&s + offset, sizeof value);
        const double before_s = time_of(s);
        const double more = value * (1 + random_unit());
        value = whole_number ? ceil(more) : more;
        memcpy((char *)&s + offset, &value, sizeof value);
        struct sc_error error;
        if (sc_scenario_check(&sc_stream_system, &s, &error) != SC_OK)
            continue;
        worst = fmax(worst, direction * (before_s - time_of(s)) / before_s);
    }
    return worst;
}

static void test_monotone(void)
{
    static const struct {
        const char *what;
        size_t offset;
        bool whole_number;
        int direction; /* of the time when the key grows */
    } keys[] = {
        { "more SMs with work of their own", offsetof(struct sc_stream, sms), true, 1 },
        { "more warps with work of their own", offsetof(struct sc_stream, warps_per_sm), true, 1 },
        { "more loads", offsetof(struct sc_stream, loads_per_warp), true, 1 },
        { "more bytes", offsetof(struct sc_stream, bytes_per_load), false, 1 },
        { "more latency", offsetof(struct sc_stream, latency_s), false, 1 },
        { "a longer launch", offsetof(struct sc_stream, launch_s), false, 1 },
        { "a longer hold", offsetof(struct sc_stream, mshr_hold_s), false, 1 },
        { "a slower port", offsetof(struct sc_stream, port_cycles), false, 1 },
        { "more variable service", offsetof(struct sc_stream, c2), false, 1 },
        { "more bandwidth", offsetof(struct sc_stream, bandwidth_bytes_per_s), false, -1 },
        { "more MSHRs", offsetof(struct sc_stream, mshr_entries), true, -1 },
        { "fewer cycles in the core", offsetof(struct sc_stream, core_cycles), false, -1 },
    };
    for (size_t i = 0; i < COUNT(keys); i++)
        near(wrong_way(keys[i].offset, keys[i].whole_number, keys[i].direction), 0, 0, 1e-9,
             "%s: never %s", keys[i].what, keys[i].direction > 0 ? "faster" : "slower");
}

/* The same work spread over more warps can only gain from the latency side.
 * The start in step may take back its burst, and a warp more to wait for
 * (the share 1/(s w) of a round) counts when there are few. */
static void test_more_warps_same_work(void)
{
    double worst = 0;
    for (int i = 0; i < 20000; i++) {
        struct sc_stream s = random_scenario(false);
        s.loads_per_warp = s.outstanding_per_warp * 2 * ceil(s.loads_per_warp);
        const struct sc_stream_answer few = answer_to(s);
        s.warps_per_sm *= 2;
        s.loads_per_warp /= 2;
        const struct sc_stream_answer many = answer_to(s);
        worst = fmax(worst, (many.time_s * (1 - many.burst_share) - few.time_s) / few.time_s);
    }
    near(worst, 0, 0, 0.02, "the same work on twice the warps: no slower, but for its burst");
}

static void test_convergence_to_bounds(void)
{
    double worst = 0;
    for (int i = 0; i < 20000; i++) {
        struct sc_stream s = random_scenario(false);
        s.channels = 1;
        s.loads_per_warp = 1e9;
        s.outstanding_per_warp = 1;
        s.bytes_per_load = 32;
        s.sms = 4096;
        s.mshr_entries = 1e6;
        s.c2 = 0;
        const struct sc_stream_answer a = answer_to(s);
        const double round_s = a.moved_bytes / s.loads_per_warp / s.bandwidth_bytes_per_s;
        const double bound_s = fmax(a.unloaded_group_latency_s, round_s) * s.loads_per_warp;
        if (strcmp(a.bound, "latency") == 0 || strcmp(a.bound, "bandwidth") == 0)
            worst = fmax(worst, fabs(a.time_s / bound_s - 1));
    }
    near(worst, 0, 0, 0.03, "with very many customers the knee is sharp, at its bounds");
}

/* ---- Errors and the trace ---- */

static void test_errors(void)
{
    struct sc_stream s = defaults();
    struct sc_stream_answer a;
    struct sc_error error;
    s.warps_per_sm = 0;
    is_int(sc_stream_system.estimate(&s, &a, NULL, &error), SC_ERANGE, "no warps: out of range");
    is_str(error.field, "warps_per_sm", "which names the key");
    s = defaults();
    s.warps_per_sm = 1.5;
    is_int(sc_stream_system.estimate(&s, &a, NULL, &error), SC_ERANGE, "no half warps");
    s = defaults();
    s.latency_s = 2;
    is_int(sc_stream_system.estimate(&s, &a, NULL, &error), SC_ERANGE, "two seconds are too long");
    is_str(error.field, "latency", "which names the key");
    s = defaults();
    s.bandwidth_bytes_per_s = (double)INFINITY;
    is_int(sc_stream_system.estimate(&s, &a, NULL, &error), SC_ERANGE, "no infinite bandwidth");
    s = defaults();
    s.line_bytes = 16;
    is_int(sc_stream_system.estimate(&s, &a, NULL, &error), SC_EDOMAIN, "line below sector");
    is_str(error.field, "line", "which names the key");
    near(error.value, 16, 0, 0, "and its value");
    is_int(sc_stream_system.estimate(&s, &a, NULL, NULL), SC_EDOMAIN, "errors need no reader");
}

static void test_trace(void)
{
    struct sc_term terms[TERMS_MAX];
    struct sc_trace trace = { .terms = terms, .capacity = TERMS_MAX };
    const struct row *row = &sweep[11];
    const struct sc_stream s = scenario_of(row, CLOCK_HZ);
    struct sc_stream_answer with, without = answer_to(s);
    struct sc_error error;
    memset(&with, 0, sizeof with);
    is_int(sc_stream_system.estimate(&s, &with, &trace, &error), SC_OK, "explained");
    near(with.time_s, without.time_s, 0, 0, "to the same answer");
    ok(trace.count > 20 && trace.count <= TERMS_MAX, "in %zu terms", trace.count);
    const struct sc_term *bound = NULL;
    size_t binding = 0;
    for (size_t i = 0; i < trace.count && i < TERMS_MAX; i++)
        if (terms[i].binds) {
            binding++;
            bound = &terms[i];
        }
    is_int((long long)binding, 1, "one of them binds");
    is_str(bound != NULL ? bound->symbol : NULL, "C_mshr", "the MSHRs");
    is_str(terms[trace.count - 1].symbol, "slowdown", "the last is the answer");
    near(terms[trace.count - 1].value, with.slowdown, 0, 0, "with its value");
    struct sc_trace small = { .terms = terms, .capacity = 3 };
    is_int(sc_stream_system.estimate(&s, &with, &small, &error), SC_OK, "a short trace will do");
    is_int((long long)small.count, (long long)trace.count, "and counts what it could not keep");
}

/* The header of the sweep's file works as keys. */
static void test_keys(void)
{
    static const char *const keys[] = {
        "gpu", "sms", "warps_per_sm", "loads_per_warp", "outstanding_per_warp", "bytes_per_load",
        "latency", "unloaded_latency", "bandwidth", "peak", "memory_bandwidth", "mshr_entries",
        "launch", "clock",
    };
    size_t missing = 0;
    for (size_t i = 0; i < COUNT(keys); i++)
        missing += sc_system_field(&sc_stream_system, keys[i]) == NULL;
    is_int((long long)missing, 0, "every key of the sweep is known");

    int bad = 0;
    for (size_t i = 0; i < sc_stream_system.field_count; i++) {
        const struct sc_field *f = &sc_stream_system.fields[i];
        if (f->kind == SC_PRESET)
            continue;
        bad += !isnan(f->fallback) && !(f->fallback >= f->minimum && f->fallback <= f->maximum);
        bad += f->sample_low < f->sample_high &&
               !(f->sample_low >= f->minimum && f->sample_high <= f->maximum);
        bad += (f->provenance == SC_FACT || f->provenance == SC_ANCHOR) && f->source == NULL;
        bad += f->help == NULL;
    }
    is_int(bad, 0, "defaults and samples lie in range; facts and anchors have a source");
    is_str(sc_stream_system.clock_key, "clock", "cycles are of the key clock");
}

int main(void)
{
    plan(81);
    test_simulator();
    test_other_runs();
    test_clock();
    test_one_warp();
    test_knee();
    test_saturated();
    test_mshr();
    test_groups();
    test_range();
    test_monotone();
    test_more_warps_same_work();
    test_convergence_to_bounds();
    test_errors();
    test_trace();
    test_keys();
    return done();
}
