/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The closed form of `prefetch`: limits, what must be monotone, sums, scenarios at
 * random over the whole admissible range, and the simulator. */
#include "prefetch.h"
#include "prefetch_scenarios.h"
#include "sim/prefetch_engine.h"
#include "tap.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static struct prefetch_world world;
static uint64_t state = 7;

static double uniform(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-53;
}

static struct sc_prefetch_answer answer_to(const struct sc_prefetch *s)
{
    struct sc_prefetch_answer answer;
    struct sc_error error = { 0 };
    if (sc_prefetch_system.estimate(s, &answer, NULL, &error) != SC_OK)
        bail("unexpected error: %s %.17g %s", error.field, error.value, error.reason);
    return answer;
}

static double time_of(const struct sc_prefetch *s)
{
    return answer_to(s).time_s;
}

/* ---- Sound answers ---- */

static bool is_share(double x)
{
    return x >= 0.0 && x <= 1.0;
}

static const char *fault_of(const struct sc_prefetch_answer *a)
{
    for (size_t i = 0; i < sc_prefetch_system.metric_count; i++) {
        const struct sc_metric *m = &sc_prefetch_system.metrics[i];
        double value;
        if (m->text)
            continue;
        memcpy(&value, (const char *)a + m->offset, sizeof value);
        if (!isfinite(value))
            return m->column;
    }
    const double stalls = a->issue_share + a->latency_stall_share + a->bandwidth_stall_share +
                          a->barrier_stall_share + a->queue_stall_share;
    const double timely = a->on_time_share + a->early_share + a->late_share;
    if (fabs(stalls - 1.0) > 1e-9)
        return "stall shares do not sum to 1";
    if (timely != 0.0 && fabs(timely - 1.0) > 1e-9)
        return "shares of timeliness do not sum to 1";
    /* Issued prefetches are on time, late, early, dropped or unused. */
    const double consumed = a->on_time_share > 0.0 ? a->accuracy / a->on_time_share : 0.0;
    if (a->on_time_share > 1e-3 && fabs(consumed + a->unused_share + a->dropped_share - 1.0) > 1e-6)
        return "fates of prefetches do not sum to what is issued";
    const struct {
        const char *name;
        double share;
    } shares[] = {
        { "dropped_share", a->dropped_share },
        { "register_invalidation_share", a->register_invalidation_share },
        { "coverage", a->coverage },
        { "accuracy", a->accuracy },
        { "l1_hit_share", a->l1_hit_share },
        { "unused_share", a->unused_share },
        { "issued_share", a->issued_share },
        { "zero_false_positive", a->zero_false_positive },
        { "zero_false_negative", a->zero_false_negative },
        { "register_fallback_share", a->register_fallback_share },
        { "demand_evictions_share", a->demand_evictions_share },
    };
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++)
        if (!is_share(shares[i].share)) {
            note("%s %.17g", shares[i].name, shares[i].share);
            return "a share is outside of 0 .. 1";
        }
    if (!(a->time_s > 0.0) || !(a->ipc > 0.0) || !(a->slowdown > 0.0) ||
        !(a->load_latency_s > 0.0) || !(a->l2_bytes_per_instruction >= 0.0))
        return "something is not positive";
    return NULL;
}

/* A value anywhere in the range of the field; evenly in the logarithm where the
 * range is wide. */
static double drawn(const struct sc_field *f)
{
    const double low = f->minimum, high = f->maximum, u = uniform();
    double value = low + u * (high - low);
    if (low >= 0.0 && high > 100.0 * fmax(low, 1.0))
        value = fmax(low, exp(log(fmax(low, 1e-3)) + u * log(high / fmax(low, 1e-3))));
    if (u < 0.03)
        value = low;
    if (u > 0.97)
        value = high;
    return f->kind == SC_INTEGER ? floor(value) : fmin(high, value);
}

static struct sc_prefetch random_scenario(void)
{
    struct sc_prefetch s = prefetch_scenario(
        &world, "kernel=%s", world.kernels[(size_t)(uniform() * (double)world.kernel_count)]);
    const double changed = uniform();
    for (size_t i = 0; i < sc_prefetch_system.field_count; i++) {
        const struct sc_field *f = &sc_prefetch_system.fields[i];
        if (f->kind == SC_PRESET || uniform() > changed)
            continue;
        if (f->kind == SC_CHOICE)
            sc_field_set(f, &s, floor(uniform() * (double)f->choice_count));
        else
            sc_field_set(f, &s, drawn(f));
    }
    /* Most are made to agree with themselves. */
    if (uniform() < 0.1)
        return s;
    s.max_warps = fmax(s.max_warps, s.cta_warps);
    s.warps = s.cta_warps * floor(fmax(1.0, fmin(s.warps, s.max_warps) / s.cta_warps));
    s.arrays = fmin(s.arrays, s.loads);
    s.prefetch_mshrs = fmin(s.prefetch_mshrs, s.mshrs);
    s.l2_latency_cycles = fmax(s.l2_latency_cycles, s.l1_latency_cycles);
    s.dram_latency_cycles = fmax(s.dram_latency_cycles, s.l2_latency_cycles);
    s.l1_bytes = fmax(s.l1_bytes, 1024.0 / s.l1_data_share + 1.0);
    while (s.ctas * s.cta_warps * s.iterations * s.loads * (2.0 + s.compute) > 1e8) {
        s.ctas = ceil(s.ctas / 8.0);
        s.iterations = ceil(s.iterations / 8.0);
        s.compute = floor(s.compute / 2.0);
    }
    return s;
}

static void test_random(void)
{
    enum { SCENARIOS = 4000 };
    size_t answered = 0, refused = 0, unsound = 0;
    for (int i = 0; i < SCENARIOS; i++) {
        const struct sc_prefetch s = random_scenario();
        struct sc_prefetch_answer a;
        struct sc_error error = { 0 };
        const enum sc_status status = sc_prefetch_system.estimate(&s, &a, NULL, &error);
        if (status != SC_OK) {
            refused++;
            unsound += error.field == NULL || error.reason == NULL;
            continue;
        }
        answered++;
        const char *fault = fault_of(&a);
        if (fault != NULL && ++unsound < 10)
            note("scenario %d: %s", i, fault);
    }
    ok(unsound == 0, "%zu random scenarios are answered soundly, %zu refused with a reason",
       answered, refused);
    ok(answered > SCENARIOS / 2, "of random scenarios enough are admissible");
}

static void test_rows(void)
{
    size_t unsound = 0, seen = 0;
    for (size_t i = 0; i < world.kernel_count; i++)
        for (int policy = 0; policy < SC_PREFETCH_POLICIES; policy++, seen++) {
            struct sc_prefetch s = prefetch_scenario(&world, "kernel=%s", world.kernels[i]);
            s.policy = policy;
            const struct sc_prefetch_answer a = answer_to(&s);
            const char *fault = fault_of(&a);
            if (fault != NULL && ++unsound < 10)
                note("%s %s: %s", world.kernels[i], sc_prefetch_policies[policy].choice.name,
                     fault);
        }
    ok(unsound == 0, "every kernel under every policy: %zu sound answers", seen);
}

/* ---- Limits ---- */

static void test_limits(void)
{
    bool none = true, still = true, far = true, certain = true, loud = true;
    for (size_t i = 0; i < world.kernel_count; i++) {
        const char *kernel = world.kernels[i];
        struct sc_prefetch s = prefetch_scenario(&world, "kernel=%s policy=none", kernel);
        const struct sc_prefetch_answer a = answer_to(&s);
        none = none && a.slowdown == 1.0 && a.accuracy == 0.0 && a.coverage == 0.0 &&
               strcmp(a.worth_fixing_first, "none") == 0;
        s = prefetch_scenario(&world, "kernel=%s policy=sk distance=0", kernel);
        still = still && fabs(answer_to(&s).slowdown - 1.0) < 1e-6;
        s = prefetch_scenario(&world, "kernel=%s policy=stride distance=60 iterations=32", kernel);
        far = far && answer_to(&s).coverage < 1e-6;
        s = prefetch_scenario(&world, "kernel=%s policy=o-time", kernel);
        certain = certain && answer_to(&s).on_time_share > 0.999;
        s = prefetch_scenario(&world, "kernel=%s policy=sk irregular_share=1", kernel);
        loud = loud && answer_to(&s).coverage < 1e-6;
    }
    ok(none, "without prefetches nothing is gained, issued or worth fixing");
    ok(still, "at distance 0 a snake changes nothing");
    ok(far, "a distance beyond the loop covers nothing");
    ok(certain, "the oracle of timeliness is on time");
    ok(loud, "nobody predicts what has no stride");
}

static void test_oracles(void)
{
    bool fastest = true;
    double gain[4] = { 0 }; /* o-zf, o-time, o-place, o-sc over sk */
    static const char *const oracles[] = { "o-zf", "o-time", "o-place", "o-sc" };
    for (size_t i = 0; i < world.kernel_count; i++) {
        struct sc_prefetch s = prefetch_scenario(&world, "kernel=%s policy=o-l1", world.kernels[i]);
        const double bound = time_of(&s);
        s = prefetch_scenario(&world, "kernel=%s policy=sk", world.kernels[i]);
        const double own = time_of(&s);
        for (size_t k = 0; k < 4; k++) {
            s = prefetch_scenario(&world, "kernel=%s policy=%s", world.kernels[i], oracles[k]);
            const double t = time_of(&s);
            gain[k] += own / t / (double)world.kernel_count;
            fastest = fastest && bound <= t;
        }
        fastest = fastest && bound <= own;
    }
    ok(fastest, "hits in L1 alone are faster than any oracle of the back end");
    ok(gain[1] > 1.0 && gain[2] > 1.0 && gain[3] > 1.0 && gain[0] > 0.97,
       "oracles gain over Snake on average (%.3f %.3f %.3f %.3f)", gain[0], gain[1], gain[2],
       gain[3]);
}

/* ---- Monotone ---- */

/* Whether more of the key never raises the time, by more than the last digits. */
static bool never_slower(const char *policy, const char *key, const double *values, size_t count)
{
    size_t worse = 0;
    const struct sc_field *field = sc_system_field(&sc_prefetch_system, key);
    for (size_t i = 0; i < world.kernel_count; i++) {
        double before = HUGE_VAL;
        for (size_t v = 0; v < count; v++) {
            struct sc_prefetch s = prefetch_scenario(&world, "kernel=%s policy=%s",
                                                     world.kernels[i], policy);
            sc_field_set(field, &s, values[v]);
            const double t = time_of(&s);
            if (t > before * 1.003) {
                worse++;
                note("%s %s=%g: %g after %g", world.kernels[i], key, values[v], t, before);
            }
            before = t;
        }
    }
    return worse == 0;
}

static void test_monotone(void)
{
    const double bandwidth[] = { 0.4e12, 0.8e12, 1.6e12, 3.2e12, 6.4e12 };
    const double latency[] = { 1200, 900, 700, 500, 300 };
    const double l1[] = { 0.03, 0.06, 0.12, 0.25, 0.5, 1.0 };
    const double compute[] = { 40, 20, 10, 5, 2 };
    const double width[] = { 1, 2, 3, 4 };
    ok(never_slower("none", "memory_bandwidth", bandwidth, 5), "more bandwidth is never slower");
    ok(never_slower("none", "dram_latency", latency, 5), "nor is a shorter latency");
    ok(never_slower("none", "l1_data_share", l1, 6), "nor a larger L1");
    ok(never_slower("none", "compute", compute, 5), "nor less compute");
    ok(never_slower("none", "issue_width", width, 4), "nor more schedulers");
    ok(never_slower("o-l1", "compute", compute, 5), "nor less compute when all hits");
}

/* ---- Explanation ---- */

static void test_trace(void)
{
    struct sc_term terms[64];
    struct sc_trace trace = { .terms = terms, .capacity = 64 };
    struct sc_prefetch_answer with, without;
    struct sc_prefetch s = prefetch_scenario(&world, "kernel=conv policy=sk+sc");
    struct sc_error error = { 0 };
    const bool answered = sc_prefetch_system.estimate(&s, &with, &trace, &error) == SC_OK &&
                          sc_prefetch_system.estimate(&s, &without, NULL, &error) == SC_OK;
    ok(answered && memcmp(&with, &without, sizeof with) == 0, "a trace changes no answer");
    size_t binding = 0;
    bool finite = true;
    for (size_t i = 0; i < trace.count && i < 64; i++) {
        binding += terms[i].binds;
        finite = finite && isfinite(terms[i].value);
    }
    ok(trace.count > 20 && trace.count <= 64 && binding == 1 && finite,
       "%zu finite terms, one of which decides", trace.count);
}

/* ---- Against the simulator ---- */

struct errors {
    double ipc, slowdown, on_time, coverage, accuracy; /* sums of absolute ones */
    size_t count;
};

static void compare_one(const struct sc_prefetch *s, struct errors *sum)
{
    const struct sc_prefetch_mechanisms m = sc_prefetch_mechanisms(s);
    const struct sc_prefetch_mechanisms none = { .front = SC_PREFETCH_NONE,
                                                 .zero_cache = m.zero_cache };
    struct prefetch_result r, base;
    const struct sc_sim_rng rng = sc_sim_rng_make(1, 0, 0);
    if (prefetch_engine_run(s, &m, rng, false, &r) != SC_OK ||
        prefetch_engine_run(s, &none, rng, false, &base) != SC_OK)
        bail("the simulator does not run");
    const struct sc_prefetch_answer a = answer_to(s);
    const double on_time = (double)r.on_time, late = (double)r.late;
    const double consumed = fmax(1.0, on_time + late + (double)r.early);
    const double cycles = (double)r.cycles;
    sum->ipc += fabs(a.ipc * cycles / (double)r.instructions - 1.0);
    sum->slowdown += fabs(a.slowdown * (double)base.cycles / cycles - 1.0);
    sum->on_time += fabs(a.on_time_share - on_time / consumed);
    sum->coverage += fabs(a.coverage - on_time / fmax(1.0, on_time + late + (double)r.misses));
    sum->accuracy += fabs(a.accuracy - on_time / fmax(1.0, (double)r.issued));
    sum->count++;
}

/* Means over all kernels.  The default coefficients were set with these kernels in
 * view; the bounds leave a quarter to the figures noted. */
static void test_simulator(void)
{
    static const char *const policies[] = { "none", "stride", "sk", "sk+scc", "sk+sc", "o-l1" };
    for (size_t p = 0; p < sizeof policies / sizeof policies[0]; p++) {
        struct errors sum = { 0 };
        for (size_t i = 0; i < world.kernel_count; i++) {
            const struct sc_prefetch s = prefetch_scenario(&world, "kernel=%s policy=%s",
                                                           world.kernels[i], policies[p]);
            compare_one(&s, &sum);
        }
        const double n = (double)sum.count;
        note("%s: IPC %.1f %%, slowdown %.1f %%, on time %.1f, coverage %.1f, accuracy %.1f points",
             policies[p], 100 * sum.ipc / n, 100 * sum.slowdown / n, 100 * sum.on_time / n,
             100 * sum.coverage / n, 100 * sum.accuracy / n);
        ok(sum.ipc / n < 0.105 && sum.slowdown / n < 0.095 && sum.coverage / n < 0.055 &&
               sum.on_time / n < 0.14 && sum.accuracy / n < 0.12,
           "%s: near the simulator over %zu kernels", policies[p], sum.count);
    }
}

/* ---- Dropped prefetches ---- */

/* What is dropped of issued, simulated and computed. */
static void dropped_of(const struct sc_prefetch *s, double *simulated, double *computed)
{
    const struct sc_prefetch_mechanisms m = sc_prefetch_mechanisms(s);
    struct prefetch_result r;
    if (prefetch_engine_run(s, &m, sc_sim_rng_make(1, 0, 0), false, &r) != SC_OK)
        bail("the simulator does not run");
    *simulated = (double)r.dropped / fmax(1.0, (double)r.issued);
    *computed = answer_to(s).dropped_share;
}

static void dropped_by_stores(const char *kernel, double zero_share, double *simulated,
                              double *computed)
{
    const struct sc_prefetch s = prefetch_scenario(
        &world, "kernel=%s policy=sk+sc store_share=0.5 zero_share=%g", kernel, zero_share);
    dropped_of(&s, simulated, computed);
}

/* Demand takes known zeros from the metadata; their data waits in registers in vain, until the
 * store at the end of the iteration overwrites it. */
static void test_stores(void)
{
    bool none = true, some = true;
    double error = 0.0;
    for (size_t i = 0; i < world.kernel_count; i++) {
        double simulated, computed;
        dropped_by_stores(world.kernels[i], 0.0, &simulated, &computed);
        none = none && simulated < 0.01 && computed < 0.01;
        dropped_by_stores(world.kernels[i], 0.5, &simulated, &computed);
        some = some && computed > 0.0;
        error += fabs(computed - simulated) / (double)world.kernel_count;
    }
    note("dropped: %.1f points off", 100.0 * error);
    ok(none, "without zeros stores overwrite next to nothing that waits");
    ok(some && error < 0.2, "of zeros they do, about as much as simulated");
}

/* Where any register may be taken, data often finds that its own has been given away. */
static void test_replacement(void)
{
    double error = 0.0, most = 0.0;
    bool placed = true;
    for (size_t i = 0; i < world.kernel_count; i++) {
        const struct sc_prefetch s = prefetch_scenario(
            &world, "kernel=%s policy=sk+prt replacement=any", world.kernels[i]);
        double simulated, computed;
        dropped_of(&s, &simulated, &computed);
        placed = placed && answer_to(&s).register_fallback_share <= 0.0;
        error += fabs(computed - simulated) / (double)world.kernel_count;
        most = fmax(most, simulated);
    }
    note("dropped under replacement=any: %.1f points off, %.0f at most", 100.0 * error, 100.0 * most);
    ok(placed, "replacement=any: a register for each prefetch");
    ok(most > 0.5 && error < 0.25, "and dropped is what comes too late for it");
}

/* ---- Cliffs: where a fixed distance becomes too early ---- */

enum { DISTANCES = 12 };

/* The distance at which half of the prefetches are still on time, beyond which
 * fewer are; 0: nowhere. */
static double cliff_of(const double on_time[DISTANCES])
{
    for (int d = 1; d < DISTANCES; d++)
        if (on_time[d - 1] >= 0.5 && on_time[d] < 0.5)
            return d + (on_time[d - 1] - 0.5) / (on_time[d - 1] - on_time[d]);
    return 0.0;
}

/* On-time shares of both at each distance. */
static void on_time_by_distance(const char *kernel, double simulated[DISTANCES],
                                double computed[DISTANCES])
{
    for (int d = 1; d <= DISTANCES; d++) {
        const struct sc_prefetch s = prefetch_scenario(
            &world, "kernel=%s policy=stride iteration_distance=63 distance=%d", kernel, d);
        const struct sc_prefetch_mechanisms m = sc_prefetch_mechanisms(&s);
        struct prefetch_result r;
        if (prefetch_engine_run(&s, &m, sc_sim_rng_make(1, 0, 0), false, &r) != SC_OK)
            bail("the simulator does not run");
        const double consumed = (double)r.on_time + (double)r.late + (double)r.early;
        simulated[d - 1] = (double)r.on_time / fmax(1.0, consumed);
        computed[d - 1] = answer_to(&s).on_time_share;
    }
}

/* Steps between distances of more than a tenth are a cliff's slope. */
static bool is_slope(const double on_time[DISTANCES], int d)
{
    return (d > 0 && fabs(on_time[d] - on_time[d - 1]) > 0.1) ||
           (d < DISTANCES - 1 && fabs(on_time[d + 1] - on_time[d]) > 0.1);
}

static void test_cliffs(void)
{
    double error = 0.0;
    size_t flat = 0, cliffs = 0, found = 0;
    for (size_t i = 0; i < world.kernel_count; i++) {
        double simulated[DISTANCES], computed[DISTANCES];
        on_time_by_distance(world.kernels[i], simulated, computed);
        const double want = cliff_of(simulated), got = cliff_of(computed);
        cliffs += want > 0.0;
        found += want > 0.0 && fabs(got / want - 1.0) <= 0.25;
        for (int d = 0; d < DISTANCES; d++)
            if (!is_slope(simulated, d)) {
                error += fabs(computed[d] - simulated[d]);
                flat++;
            }
    }
    note("cliffs %zu, found within 25 %%: %zu; away from them on time %.1f points off", cliffs,
         found, 100 * error / (double)flat);
    ok(cliffs >= 8 && 4 * found >= 3 * cliffs, "three cliffs of four are where they are");
    ok(error / (double)flat < 0.08, "away from them the on-time share is within 8 points");
}

int main(void)
{
    prefetch_world_init(&world);
    plan(2 + 1 + 5 + 2 + 6 + 2 + 6 + 2 + 2 + 2);
    test_random();
    test_rows();
    test_limits();
    test_oracles();
    test_monotone();
    test_trace();
    test_simulator();
    test_stores();
    test_replacement();
    test_cliffs();
    prefetch_world_fini(&world);
    return done();
}
