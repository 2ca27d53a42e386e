/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The simulator of weights in flash: against the published table and figures,
 * against laws and limits that hold for every policy, and over the whole
 * admissible range, where no run may stop half-way or answer with no number.
 *
 * A property that is checked over many scenarios is one check. */
#include "sim/hbf_sim.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "hbf.h"
#include "hbf_scenarios.h"
#include "hbf_workload.h"
#include "sim/event.h"
#include "sim/hbf_engine.h"
#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

static const char *const seven[] = { "llama-8b",  "mistral-24b", "qwen2.5-32b", "deepseek-67b",
                                     "llama-70b", "qwen2.5-72b", "llama-405b" };
enum { MODELS = COUNT(seven) };

/* ---- Scenarios ---- */

/* One run with all its checks.  False, with a note, when it failed. */
static bool run(const struct sc_hbf *s, uint64_t seed, struct sc_hbf_answer *answer,
                struct sc_sim_report *report)
{
    const struct sc_sim_options options = { .seed = seed, .check = true };
    struct sc_error error = { 0 };
    memset(answer, 0, sizeof *answer);
    const enum sc_status status =
        sc_hbf_simulator.simulate(s, &options, answer, report, &error);
    if (status != SC_OK)
        note("policy %s: status %d, %s %g: %s", world.policies[s->policy], (int)status, error.field,
             error.value, error.reason);
    return status == SC_OK;
}

/* The answer to an admissible scenario; zeros, and a failed check, otherwise. */
static struct sc_hbf_answer answer_to(const struct sc_hbf *s)
{
    struct sc_hbf_answer answer;
    struct sc_sim_report report;
    if (!run(s, 1, &answer, &report))
        ok(false, "an admissible scenario has an answer");
    return answer;
}

/* ---- One kernel at a time ---- */

/* What the ideal's rates have to be scaled by does not depend on the policy, the
 * buffer or the latency: it is found once per kernel of the seven models. */
static struct {
    size_t count;
    double scale[SC_HBF_KERNELS], ideal_error[SC_HBF_KERNELS];
} calibrated[MODELS];

/* Runs all kernels of a model; scales are read, or found if `ideal`. */
static bool run_model(struct hbf_engine *engine, const struct sc_hbf *s, size_t model, bool ideal,
                      double *performance)
{
    struct sc_hbf_kernel kernels[SC_HBF_KERNELS];
    const struct sc_hbf_mechanisms mechanisms = sc_hbf_mechanisms(s);
    const struct sc_hbf_machine machine = sc_hbf_machine(s, &mechanisms);
    const size_t count = sc_hbf_kernels(s, kernels);
    double time_s = 0, ideal_s = 0;
    for (size_t i = 0; i < count; i++) {
        const struct sc_hbf_load load =
            sc_hbf_load(&kernels[i], &machine, s->launch_s + s->hbm_latency_s);
        struct hbf_engine_input input = { .scenario = s, .mechanisms = &mechanisms,
                                          .machine = &machine, .load = &load,
                                          .name = kernels[i].name,
                                          .rng = sc_sim_rng_make(1, 0, i), .check = true };
        struct hbf_engine_result result;
        if (ideal &&
            hbf_engine_calibrate(engine, &input, &calibrated[model].scale[i], &result.waiting) != SC_OK)
            return false;
        input.rate_scale = calibrated[model].scale[i];
        if (hbf_engine_run(engine, &input, &result) != SC_OK)
            return false;
        if (ideal)
            calibrated[model].ideal_error[i] = result.time_s / kernels[i].ideal_s - 1;
        time_s += kernels[i].multiplicity * result.time_s;
        ideal_s += kernels[i].multiplicity * kernels[i].ideal_s;
    }
    calibrated[model].count = count;
    *performance = ideal_s / time_s;
    return true;
}

/* ---- Published geometric means ---- */

enum figure_id { SS_40, SS_16, SS_40_10US, SS_16_10US, SS_40_5US, ON_DEMAND, ON_DEMAND_20X, H3_40,
                 H3_320, ORDER_40, ORDER_320, SSHR_40, LEAD_16, LEAD_40, FIGURES };

static const struct {
    const char *name, *keys;
    double percent, tolerance;
} figures[] = {
    [SS_40] = { "SlipStream, 40 MB", "policy=slipstream buffer=40MB", 92.4, 2 },
    [SS_16] = { "SlipStream, 16 MB", "policy=slipstream buffer=16MB", 88.8, 2 },
    [SS_40_10US] = { "SlipStream, 40 MB, 10 us", "policy=slipstream buffer=40MB latency=10us",
                     100.7, 3 },
    [SS_16_10US] = { "SlipStream, 16 MB, 10 us", "policy=slipstream buffer=16MB latency=10us",
                     101.2, 3 },
    [SS_40_5US] = { "SlipStream, 40 MB, 5 us", "policy=slipstream buffer=40MB latency=5us", 103.7,
                    3 },
    [ON_DEMAND] = { "on-demand", "policy=on-demand", 9.2, 0.5 },
    [ON_DEMAND_20X] = { "on-demand, 20x MSHRs", "policy=on-demand mshr_scale=20", 14.6, 0.5 },
    [H3_40] = { "H3, 40 MB", "policy=h3 buffer=40MB", 10.6, 1.5 },
    [H3_320] = { "H3, 320 MB", "policy=h3 buffer=320MB", 43.1, 3 },
    [ORDER_40] = { "H3 in demand order, 40 MB", "policy=h3-demand-order buffer=40MB", 32.8, 2 },
    /* A slowdown of 1.48 within 0.1. */
    [ORDER_320] = { "H3 in demand order, 320 MB", "policy=h3-demand-order buffer=320MB",
                    100 / 1.48, 4.5 },
    [SSHR_40] = { "SSHR with FIFO, 40 MB", "policy=sshr-fifo buffer=40MB", 88.1, 2 },
    [LEAD_16] = { "lead of 90, 16 MB", "policy=warped-pe lead=90 buffer=16MB", 18.8, 6.2 },
    [LEAD_40] = { "lead of 90, 40 MB", "policy=warped-pe lead=90 buffer=40MB", 80.3, 10 },
};
_Static_assert(COUNT(figures) == FIGURES, "every figure has its row");

/* Models are shared out among threads: first their ideal, then every figure. */
static struct {
    pthread_mutex_t lock;
    struct sc_hbf scenarios[FIGURES + 1][MODELS];
    double performance[FIGURES + 1][MODELS];
    size_t next, end, failed;
} work = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void *work_through(void *unused)
{
    struct hbf_engine *engine = hbf_engine_create();
    for (;;) {
        (void)pthread_mutex_lock(&work.lock);
        const size_t at = work.next < work.end ? work.next++ : SIZE_MAX;
        (void)pthread_mutex_unlock(&work.lock);
        if (at == SIZE_MAX || engine == NULL)
            break;
        const size_t row = at / MODELS, model = MODELS - 1 - at % MODELS;
        const bool fine = run_model(engine, &work.scenarios[row][model], model, row == 0,
                                    &work.performance[row][model]);
        (void)pthread_mutex_lock(&work.lock);
        work.failed += !fine;
        (void)pthread_mutex_unlock(&work.lock);
    }
    hbf_engine_destroy(engine);
    return unused;
}

static void work_up_to(size_t end)
{
    pthread_t other;
    work.end = end;
    const bool started = pthread_create(&other, NULL, work_through, NULL) == 0;
    (void)work_through(NULL);
    if (started)
        (void)pthread_join(other, NULL);
}

static double geomean_percent(size_t figure)
{
    double sum = 0;
    for (size_t m = 0; m < MODELS; m++)
        sum += log(work.performance[figure + 1][m]);
    return 100 * exp(sum / MODELS);
}

static void test_ideal(void)
{
    for (size_t m = 0; m < MODELS; m++) {
        double worst = 0;
        for (size_t i = 0; i < calibrated[m].count; i++)
            worst = fmax(worst, fabs(calibrated[m].ideal_error[i]));
        ok(calibrated[m].count == 5 && worst <= 0.005,
           "%s: ideal within 0.5 %% of Table II for each of five kernels (worst %.2f %%)", seven[m],
           100 * worst);
    }
}
enum { IDEAL_TESTS = MODELS };

static void test_figures(void)
{
    is_int((long long)work.failed, 0, "every kernel runs to its end and passes its checks");
    for (size_t i = 0; i < FIGURES; i++) {
        near(geomean_percent(i), figures[i].percent, 0, figures[i].tolerance,
             "%s: published %.1f %%, simulated %.1f", figures[i].name, figures[i].percent,
             geomean_percent(i));
    }
    ok(geomean_percent(LEAD_16) < 25 && geomean_percent(LEAD_40) > 80,
       "a lead of 90 pages collapses at 16 MB and not at 40 MB");
}
enum { FIGURE_TESTS = FIGURES + 2 };

/* The demand order clogs the buffer where more CTAs than SMs leave laggards. */
static void test_split(void)
{
    static const char *const clogged[] = { "mistral-24b", "llama-70b", "qwen2.5-72b", "llama-405b" };
    for (size_t m = 0; m < MODELS; m++) {
        bool is_clogged = false;
        for (size_t i = 0; i < COUNT(clogged); i++)
            is_clogged = is_clogged || strcmp(seven[m], clogged[i]) == 0;
        const double percent = 100 * work.performance[ORDER_40 + 1][m];
        if (is_clogged)
            ok(percent < 20, "demand order: %s clogs (%.1f %%)", seven[m], percent);
        else
            ok(percent > 50, "demand order: %s is fast (%.1f %%)", seven[m], percent);
    }
}
enum { SPLIT_TESTS = MODELS };

static void run_figures(void)
{
    for (size_t m = 0; m < MODELS; m++) {
        work.scenarios[0][m] = scenario_of("model=%s policy=ideal", seven[m]);
        for (size_t i = 0; i < FIGURES; i++)
            work.scenarios[i + 1][m] = scenario_of("model=%s %s", seven[m], figures[i].keys);
    }
    work_up_to(MODELS);
    work_up_to((FIGURES + 1) * MODELS);
}

/* The shortcut above must give what the simulator answers. */
static void test_shortcut(void)
{
    const struct sc_hbf_answer a = answer_to(&work.scenarios[SS_40 + 1][0]);
    near(work.performance[SS_40 + 1][0], a.performance, 1e-15, 0,
         "kernel by kernel is what the simulator does");
}
enum { SHORTCUT_TESTS = 1 };

static double performance_of(const char *model, const char *keys)
{
    const struct sc_hbf s = scenario_of("model=%s %s", model, keys);
    return answer_to(&s).performance;
}

/* Fig. 12: each mechanism on top of the one before. */
static void test_ablation(void)
{
    static const char *const models[] = { "llama-8b", "qwen2.5-32b" };
    ok(geomean_percent(ON_DEMAND) < geomean_percent(H3_40) &&
           geomean_percent(H3_40) < geomean_percent(ORDER_40) &&
           geomean_percent(ORDER_40) < geomean_percent(SSHR_40) &&
           geomean_percent(SSHR_40) < geomean_percent(SS_40),
       "40 MB: on-demand < H3 < demand order < SSHR window < pacing");
    for (size_t i = 0; i < COUNT(models); i++) {
        const char *m = models[i];
        const double window = performance_of(m, "policy=sshr-fifo buffer=16MB");
        const double paced = performance_of(m, "policy=slipstream-fifo buffer=16MB");
        const double aware = performance_of(m, "policy=slipstream buffer=16MB");
        ok(window < 0.5 * paced && paced <= aware + 1e-9,
           "%s, 16 MB: the window alone collapses, pacing saves it", m);
        ok(performance_of(m, "policy=slipstream-no-order buffer=16MB") < 0.5 * aware &&
               performance_of(m, "policy=release-on-fill buffer=16MB") < aware,
           "%s, 16 MB: address order and release on the fill cost", m);
    }
}
enum { ABLATION_TESTS = 5 };

/* ---- Whatever the scenario ---- */

/* A number in every column, shares that are shares, a time that is one. */
static const char *fault_of(const struct sc_hbf *s, const struct sc_hbf_answer *a,
                            const struct sc_sim_report *report)
{
    const struct sc_hbf_mechanisms m = sc_hbf_mechanisms(s);
    const double shares[] = { a->stall_free_share, a->access_stall_share, a->order_stall_share,
                              a->capacity_stall_share };
    double sum = 0;
    for (size_t i = 0; i < COUNT(shares); i++) {
        if (!(shares[i] >= -1e-12 && shares[i] <= 1 + 1e-12))
            return "a stall share is outside 0 to 1";
        sum += shares[i];
    }
    if (!(fabs(sum - 1) <= 1e-9))
        return "the stall shares do not sum to 1";
    for (size_t i = 0; i < sc_hbf_system.metric_count; i++) {
        const struct sc_metric *metric = &sc_hbf_system.metrics[i];
        double value;
        if (metric->text)
            continue;
        memcpy(&value, (const char *)a + metric->offset, sizeof value);
        const bool of_buffer = metric->offset == offsetof(struct sc_hbf_answer, residency_s) ||
                               metric->offset == offsetof(struct sc_hbf_answer, useful_lifetime_s) ||
                               metric->offset == offsetof(struct sc_hbf_answer, buffer_access_s);
        if (!isfinite(value) && !(of_buffer && !m.has_buffer))
            return metric->column;
        if (value < -1e-12)
            return metric->column;
    }
    if (!(a->slowdown > 0 && a->time_s > 0 && a->ideal_time_s > 0))
        return "a time is not above 0";
    if (fabs(a->slowdown * a->performance - 1) > 1e-12)
        return "performance is not 1 / slowdown";
    if (a->bound == NULL)
        return "nothing binds";
    if (report->waiting != NULL)
        return report->waiting;
    if (report->units == 0 || report->events < report->units)
        return "fewer events than pages";
    if (!(report->little_error <= 0.005))
        return "Little's law";
    return NULL;
}

/* The scenario with every policy; says how many of them are at fault. */
static size_t faults_with_all_policies(const char *text)
{
    struct sc_hbf s = scenario(text);
    size_t faults = 0;
    for (size_t i = 0; i < world.policy_count; i++) {
        struct sc_hbf_answer answer;
        struct sc_sim_report report;
        s.policy = (int)i;
        const bool fine = run(&s, 1, &answer, &report);
        const char *fault = fine ? fault_of(&s, &answer, &report) : "no answer";
        if (fault != NULL)
            note("%s policy=%s: %s", text, world.policies[i], fault);
        faults += fault != NULL;
    }
    return faults;
}

/* Shorter kernels than those of the seven models, and buffers to match. */
static const char *const variants[] = {
    "buffer=8MB",
    "buffer=4096B",
    "buffer=4096B sshr=1",
    "buffer=4096B lead=1e6 s0=1e6",
    "buffer=300kB scheduler=greedy",
    "buffer=500kB stale=skip",
    "buffer=500kB sm_skew=0.5",
    "buffer=2MB latency=50us",
    "buffer=2MB latency=1ms",
    "buffer=2MB latency=1us",
    "buffer=1GB latency=5us",
    "buffer=1TB",
    "buffer=3MB scheduler=greedy stale=skip sm_skew=0.2",
    "buffer=3MB page=1024B",
    "buffer=3MB page=16384B scheduler=greedy",
    "buffer=3MB page=1MiB",
    "buffer=1MiB page=1MiB sms=4096 scheduler=greedy",
    "buffer=5MB read_time=3us retry=1e-4",
    "buffer=1MB read_time=20us retry=50% subarrays=2",
    "buffer=1MB read_time=3us retry=10% flash_channels=1 scheduler=greedy",
    "buffer=1MB read_time=3us retry=10% flash_channels=1e6 subarrays=1e6",
    "buffer=3MB sshr=1",
    "buffer=3MB sshr=1e6 s0=1e6",
    "buffer=3MB lead=0 s0=0",
    "buffer=3MB lead=90",
    "buffer=3MB lead=1e6",
    "buffer=1MB order=address",
    "buffer=1MB order=demand sm_skew=0.9",
    "buffer=3MB cold_start=hidden",
    "buffer=1MB cold_start=hidden s0=1e6",
    "buffer=3MB cold_start=exposed sms=1",
    "buffer=3MB phase=prefill prompt_tokens=4096 scheduler=greedy",
    "buffer=3MB launch=0us launch_stagger=0us",
    "buffer=3MB launch_stagger=1ms sms=7",
    "buffer=3MB miss_pool=4096B demand_window=1024B",
    "buffer=3MB demand_window=1e8B mshr_scale=1e6",
    "buffer=3MB stage_rate=1e5/s",
    "buffer=3MB hbf_bandwidth=1e14B/s",
    "buffer=3MB hbf_bandwidth=1e10B/s",
};

static void test_variants(void)
{
    for (size_t i = 0; i < COUNT(variants); i++) {
        char text[256];
        snprintf(text, sizeof text, "model=llama-3.2-1b tp=4 %s", variants[i]);
        is_int((long long)faults_with_all_policies(text), 0,
               "every policy: conservation, Little's law, shares: %s", variants[i]);
    }
}
enum { VARIANT_TESTS = COUNT(variants) };

/* Other shapes: experts, latent attention, one CTA per SM, many waves. */
static const char *const shapes[] = {
    "model=llama-8b buffer=16MB",
    "model=qwen3-30b-a3b batch=1 part=ffn buffer=16MB",
    "model=qwen3-30b-a3b batch=1 tp=4 buffer=2MB scheduler=greedy",
    "model=gpt-oss-20b batch=1 tp=8 buffer=8MB sm_skew=0.3",
    "model=deepseek-v3 tp=128 batch=1 buffer=4MB page=16384B",
    "model=llama-3.2-1b lm_head=yes tp=8 page=16384B buffer=4MB",
    "model=llama-405b tp=128 part=attention page=16384B buffer=4MB latency=5us",
    "model=mistral-24b tp=32 page=16384B buffer=1MB",
    "model=llama-8b layers=1 hidden=64 heads=1 kv_heads=1 ffn=64 vocab=64 buffer=40MB",
};

static void test_shapes(void)
{
    for (size_t i = 0; i < COUNT(shapes); i++)
        is_int((long long)faults_with_all_policies(shapes[i]), 0, "every policy: %s", shapes[i]);
}
enum { SHAPE_TESTS = COUNT(shapes) };

/* ---- Over the whole admissible range ---- */

/* Shapes stay small, so that a run ends soon; all else is drawn from all that the
 * table of fields admits. */
static const struct {
    const char *key;
    double low, high;
} bounds[] = {
    { "hidden", 1, 2048 },      { "heads", 1, 64 },   { "kv_heads", 1, 64 }, { "head_dim", 1, 128 },
    { "ffn", 1, 4096 },         { "vocab", 1, 4096 }, { "experts", 0, 64 },  { "expert_ffn", 1, 256 },
    { "shared_experts", 0, 2 }, { "q_lora", 0, 64 },  { "kv_lora", 0, 64 },
};

/* Evenly, or evenly in the logarithm, or at an end. */
static double draw(double low, double high, bool whole)
{
    const double kind = random_unit(), u = random_unit();
    double value = low + (high - low) * u;
    if (kind < 0.05)
        value = low;
    else if (kind < 0.1)
        value = high;
    else if (kind < 0.8 && low >= 0 && high > 1e3 * fmax(low, 1e-9)) {
        const double from = low > 0 ? low : 1e-9 * high;
        value = from * pow(high / from, u);
    }
    value = whole ? floor(value + 0.5) : value;
    return fmin(high, fmax(low, value));
}

static struct sc_hbf random_scenario(double change)
{
    struct sc_hbf s;
    sc_scenario_init(&sc_hbf_system, &s);
    for (size_t i = 0; i < sc_hbf_system.field_count; i++) {
        const struct sc_field *field = &sc_hbf_system.fields[i];
        double low = field->minimum, high = field->maximum;
        bool bounded = false;
        for (size_t b = 0; b < COUNT(bounds); b++)
            if (strcmp(bounds[b].key, field->key) == 0) {
                low = bounds[b].low;
                high = bounds[b].high;
                bounded = true;
            }
        if (field->kind == SC_PRESET)
            continue;
        if (field->kind == SC_CHOICE)
            sc_field_set(field, &s, (double)random_below(field->choice_count));
        else if (sc_field_required(field) || (bounded && random_unit() < 0.7) ||
                 random_unit() < change)
            sc_field_set(field, &s, draw(low, high, field->kind == SC_INTEGER));
    }
    return s;
}

/* How much there is to simulate: pages of all kernels, ideal time of the longest. */
static double pages_of(const struct sc_hbf *s, double *longest_s)
{
    struct sc_hbf_kernel kernels[SC_HBF_KERNELS];
    const size_t count = sc_hbf_kernels(s, kernels);
    double pages = 0;
    *longest_s = 0;
    for (size_t i = 0; i < count; i++) {
        pages += kernels[i].pages;
        *longest_s = fmax(*longest_s, kernels[i].ideal_s);
    }
    return pages;
}

enum { RANDOM_RUNS = 3000, RANDOM_PAGES = 3000 };

static void test_random(void)
{
    size_t faults = 0, runs = 0;
    while (runs < RANDOM_RUNS) {
        static const double changes[] = { 0.05, 0.3, 0.9 };
        struct sc_hbf_answer answer;
        struct sc_sim_report report;
        double longest_s;
        const uint64_t state = random_state;
        const struct sc_hbf s = random_scenario(changes[runs % COUNT(changes)]);
        if (sc_hbf_check(&s, NULL) != SC_OK || !(pages_of(&s, &longest_s) < RANDOM_PAGES) ||
            longest_s > 1e6)
            continue;
        runs++;
        const char *fault = run(&s, runs, &answer, &report) ? fault_of(&s, &answer, &report)
                                                            : "no answer";
        if (fault != NULL)
            note("scenario %zu (state %#llx), policy %s: %s", runs, (unsigned long long)state,
                 world.policies[s.policy], fault);
        faults += fault != NULL;
    }
    is_int((long long)faults, 0, "%d scenarios from the whole range have an answer in order",
           RANDOM_RUNS);
}

/* What cannot be simulated is refused, not answered. */
static void test_refused(void)
{
    struct sc_hbf s = scenario("model=llama-3.2-1b layers=1 policy=on-demand");
    struct sc_hbf_answer answer;
    struct sc_sim_report report;
    struct sc_error error = { 0 };
    const struct sc_sim_options options = { .seed = 1 };
    s.latency_s = 1;
    ok(sc_hbf_simulator.simulate(&s, &options, &answer, &report, &error) == SC_ERANGE &&
           strcmp(error.field, "latency") == 0,
       "a value out of range is refused by its key");
    s = scenario("model=llama-3.2-1b policy=on-demand part=ffn hidden=1e6 ffn=1e7 page=64B");
    ok(sc_hbf_simulator.simulate(&s, &options, &answer, &report, &error) == SC_ERANGE &&
           strcmp(error.reason, "has a kernel of more than 2^30 pages, the most that is simulated") == 0,
       "more than 2^30 pages are too many");
    s = scenario("model=llama-3.2-1b tp=32 policy=ideal o_time=10s o_ctas=1"
                 " sms=4096 reference_sms=1 hbm_bandwidth=1e9B/s reference_bandwidth=1e15B/s");
    ok(sc_hbf_simulator.simulate(&s, &options, &answer, &report, &error) == SC_ERANGE &&
           strcmp(error.reason, "has a kernel that takes longer than 213 days, the range of the clock") == 0,
       "a kernel of more than 213 days takes too long");
}
enum { RANDOM_TESTS = 1 + 3 };

/* ---- Conservation, kernel by kernel ---- */

static void test_conservation(void)
{
    struct hbf_engine *engine = hbf_engine_create();
    if (engine == NULL)
        bail("out of memory");
    for (size_t p = 0; p < world.policy_count; p++) {
        const struct sc_hbf s = scenario_of("model=llama-8b policy=%s buffer=2MB", world.policies[p]);
        const struct sc_hbf_mechanisms mechanisms = sc_hbf_mechanisms(&s);
        const struct sc_hbf_machine machine = sc_hbf_machine(&s, &mechanisms);
        struct sc_hbf_kernel kernels[SC_HBF_KERNELS];
        const size_t count = sc_hbf_kernels(&s, kernels);
        size_t faults = 0;
        for (size_t i = 0; i < count; i++) {
            const struct sc_hbf_load load =
                sc_hbf_load(&kernels[i], &machine, s.launch_s + s.hbm_latency_s);
            const struct hbf_engine_input input = { .scenario = &s, .mechanisms = &mechanisms,
                                                    .machine = &machine, .load = &load,
                                                    .name = kernels[i].name,
                                                    .rng = sc_sim_rng_make(1, 0, i),
                                                    .rate_scale = 1, .check = true };
            struct hbf_engine_result r;
            if (hbf_engine_run(engine, &input, &r) != SC_OK) {
                faults++;
                continue;
            }
            const bool once = mechanisms.is_ideal || r.staged + r.missed - r.refetched == r.pages;
            /* Little's law at the flash: data on its way, from the rate of fetches
             * and the time of one; in order of issue, so queueing only adds. */
            const double fetches = mechanisms.is_ideal
                                       ? 0
                                       : (double)(r.staged + r.missed + r.discarded);
            const double unloaded = fetches * s.latency_s / r.time_s;
            faults += !once || r.in_flight < 0.8 * unloaded ||
                      (double)r.refetched > (double)r.staged ||
                      (mechanisms.evicts_consumed && r.refetched > 0) ||
                      (!mechanisms.evicts_consumed && r.discarded > 0) || r.little_error > 0.005;
        }
        is_int((long long)faults, 0, "%s, 2 MB: every page is staged or missed once, none is lost",
               world.policies[p]);
    }
    hbf_engine_destroy(engine);
}
enum { CONSERVATION_TESTS = 14 };

/* On demand, nothing but Little's law sets the rate. */
static void test_little(void)
{
    const struct sc_hbf s = scenario("model=llama-8b policy=on-demand");
    const struct sc_hbf_answer a = answer_to(&s);
    near(a.in_flight_bytes, a.bandwidth_bytes_per_s * s.latency_s, 0.03, 0,
         "on-demand: bytes on their way are bandwidth x latency");
    ok(a.in_flight_bytes <= 1.372 * s.hbm_bandwidth_bytes_per_s * s.hbm_latency_s * 1.001,
       "and no more than the miss pool holds");
}
enum { LITTLE_TESTS = 2 };

/* ---- The same again ---- */

struct twin {
    const struct sc_hbf *scenario;
    struct sc_hbf_answer answer;
    bool fine;
};

static void *run_twin(void *argument)
{
    struct twin *twin = argument;
    struct sc_sim_report report;
    twin->fine = run(twin->scenario, 42, &twin->answer, &report);
    return NULL;
}

static void test_determinism(void)
{
    struct sc_hbf s = scenario("model=llama-3.2-1b tp=4 buffer=1MB read_time=3us retry=10% sm_skew=0.1");
    size_t same = 0, same_threads = 0;
    for (size_t p = 0; p < world.policy_count; p++) {
        struct twin twins[3] = { { .scenario = &s }, { .scenario = &s }, { .scenario = &s } };
        pthread_t threads[2];
        bool started[2];
        s.policy = (int)p;
        for (size_t i = 0; i < 2; i++)
            started[i] = pthread_create(&threads[i], NULL, run_twin, &twins[i]) == 0;
        (void)run_twin(&twins[2]);
        for (size_t i = 0; i < 2; i++)
            if (started[i])
                (void)pthread_join(threads[i], NULL);
        same_threads += started[0] && started[1] && twins[0].fine && twins[1].fine &&
                        memcmp(&twins[0].answer, &twins[1].answer, sizeof twins[0].answer) == 0;
        same += twins[2].fine &&
                memcmp(&twins[0].answer, &twins[2].answer, sizeof twins[0].answer) == 0;
    }
    is_int((long long)same_threads, (long long)world.policy_count,
           "every policy: the same bytes in two threads at once");
    is_int((long long)same, (long long)world.policy_count, "and alone");
}

/* Whether another seed changes the time. */
static bool seed_matters(const struct sc_hbf *s)
{
    struct sc_hbf_answer a, b;
    struct sc_sim_report report;
    return run(s, 1, &a, &report) && run(s, 2, &b, &report) && memcmp(&a, &b, sizeof a) != 0;
}

static void test_seeds(void)
{
    struct sc_hbf s = scenario("model=llama-3.2-1b buffer=4MB");
    for (size_t p = 0; p < world.policy_count; p++) {
        s.policy = (int)p;
        const struct sc_hbf_mechanisms m = sc_hbf_mechanisms(&s);
        const bool shuffled = m.stream == SC_HBF_STREAM_TENSOR && !m.demand_order;
        is_int(seed_matters(&s), shuffled, "%s: the seed %s", world.policies[p],
               shuffled ? "changes the order" : "changes nothing");
    }
    s = scenario("model=llama-3.2-1b buffer=4MB read_time=3us");
    is_int(seed_matters(&s), false, "sensing times are not random");
    s = scenario("model=llama-3.2-1b buffer=4MB read_time=3us retry=1%");
    is_int(seed_matters(&s), true, "repeated sensing is");
}
enum { REPEAT_TESTS = 2 + 14 + 2 };

/* ---- Limits ---- */

static void test_limits(void)
{
    struct sc_hbf s = scenario("model=llama-8b latency=1us");
    for (size_t p = 0; p < world.policy_count; p++) {
        s.policy = (int)p;
        const struct sc_hbf_mechanisms m = sc_hbf_mechanisms(&s);
        const double slowdown = answer_to(&s).slowdown;
        /* A stream in address order takes bandwidth for pages that demand had had
         * before; reads that do not come in bursts are up to a tenth faster. */
        if (m.stream == SC_HBF_STREAM_TENSOR && !m.demand_order)
            ok(slowdown > 0.9 && slowdown < 1.5, "latency of HBM: %s loses less than half (%.3f)",
               world.policies[p], slowdown);
        else
            near(slowdown, 0.96, 0, 0.06, "latency of HBM: %s is about ideal", world.policies[p]);
    }
    s = scenario("model=llama-8b buffer=10GB");
    size_t stalls = 0, discards = 0;
    for (size_t p = 0; p < world.policy_count; p++) {
        s.policy = (int)p;
        const struct sc_hbf_answer a = answer_to(&s);
        stalls += a.capacity_stall_share != 0;
        discards += a.discarded_share != 0 || a.refetched_share != 0;
    }
    is_int((long long)stalls, 0, "huge buffer: no policy stalls for capacity");
    is_int((long long)discards, 0, "huge buffer: nothing is discarded or lost");
}
enum { LIMIT_TESTS = 14 + 2 };

static void test_monotone(void)
{
    static const char *const settings[] = { "model=llama-8b latency=5us", "model=llama-8b",
                                            "model=llama-3.2-1b latency=50us",
                                            "model=qwen2.5-32b tp=4",
                                            "model=llama-8b scheduler=greedy" };
    for (size_t i = 0; i < COUNT(settings); i++) {
        double before = (double)INFINITY;
        bool fine = true;
        for (double megabytes = 1; megabytes < 200; megabytes *= 2) {
            const struct sc_hbf s = scenario_of("%s buffer=%.3fMB", settings[i], megabytes);
            const double slowdown = answer_to(&s).slowdown;
            if (slowdown > 1.02 * before)
                note("%s: %g at %g MB after %g", settings[i], slowdown, megabytes, before);
            fine = fine && slowdown <= 1.02 * before;
            before = slowdown;
        }
        ok(fine, "SlipStream: more buffer never hurts by more than 2 %%: %s", settings[i]);
    }
    const double fast = performance_of("llama-8b", "latency=5us"),
                 slow = performance_of("llama-8b", "latency=20us"),
                 slower = performance_of("llama-8b", "latency=50us");
    ok(fast > slow && slow > slower, "SlipStream: less latency helps");
    const struct sc_hbf all = scenario("model=llama-8b"),
                        quarter = scenario("model=llama-8b hbf_bandwidth=0.5TB/s");
    ok(answer_to(&quarter).time_s > 1.5 * answer_to(&all).time_s, "a quarter of the bandwidth costs");
}
enum { MONOTONE_TESTS = 5 + 2 };

/* ---- Against the closed form, away from where its coefficients were fitted ---- */

/* Limits that the calibration never samples: windows shorter than what demand
 * waits for, flash that queues at its subarrays, huge pages, little lead, few SMs. */
static const struct {
    const char *keys, *bound;
    double most; /* ratio of the two times */
} limits[] = {
    { "model=llama-8b policy=slipstream sshr=1", "staging window", 1.1 },
    { "model=llama-8b policy=slipstream sshr=4", "staging window", 1.1 },
    { "model=llama-8b policy=slipstream sshr=16", "staging window", 1.1 },
    { "model=llama-8b policy=slipstream hbf_bandwidth=200GB/s", "flash bandwidth", 1.1 },
    { "model=llama-8b policy=on-demand read_time=20us subarrays=1", "flash bandwidth", 1.15 },
    { "model=llama-8b policy=on-demand read_time=20us", "miss pool", 1.15 },
    { "model=llama-8b policy=on-demand page=256KiB", "miss pool", 1.25 },
    { "model=llama-8b policy=on-demand mshr_scale=20", "demand window", 1.15 },
    { "model=llama-8b policy=h3", "stream order", 1.15 },
    { "model=llama-70b policy=h3-demand-order", "buffer", 1.25 },
    { "model=llama-8b policy=line-tracked", "prefetch lead", 1.15 },
    { "model=llama-8b policy=line-tracked lead=1", "prefetch lead", 1.2 },
    { "model=llama-8b policy=line-tracked lead=0", "prefetch lead", 1.2 },
    { "model=llama-8b policy=ideal sms=1", "SM demand", 1.2 },
};

static void test_beyond(void)
{
    for (size_t i = 0; i < COUNT(limits); i++) {
        const struct sc_hbf s = scenario(limits[i].keys);
        struct sc_hbf_answer closed = { .bound = "none" };
        const struct sc_hbf_answer simulated = answer_to(&s);
        const bool answered = sc_hbf_system.estimate(&s, &closed, NULL, NULL) == SC_OK;
        const double ratio = closed.time_s / simulated.time_s;
        ok(answered && ratio < limits[i].most && 1 / ratio < limits[i].most,
           "%s: closed form over simulator %.3f", limits[i].keys, ratio);
        is_str(closed.bound, limits[i].bound, "%s: closed form binds there", limits[i].keys);
        is_str(simulated.bound, limits[i].bound, "%s: so does the simulator", limits[i].keys);
    }
}
enum { BEYOND_TESTS = 3 * COUNT(limits) };

/* ---- Records ---- */

struct log {
    const char *kernel;
    size_t kernels, pages, disorder, evicted, sms;
    bool ideal, fifo;
};

static void log_record(const struct sc_sim_record *r, void *context)
{
    struct log *log = context;
    if (log->kernel == NULL || strcmp(log->kernel, r->kernel) != 0) {
        log->kernels++;
        log->kernel = r->kernel;
        log->disorder += r->unit != 0;
        log->pages = 0;
    }
    log->disorder += r->unit != log->pages++;
    log->disorder += r->sm >= log->sms;
    log->disorder += r->asked_ps == SC_SIM_NEVER_PS || r->first_use_ps < r->asked_ps ||
                     r->first_use_ps == SC_SIM_NEVER_PS || r->last_use_ps != r->first_use_ps;
    if (log->ideal)
        log->disorder += r->arrived_ps != SC_SIM_NEVER_PS;
    else
        log->disorder += r->arrived_ps >= r->first_use_ps;
    if (r->evicted_ps != SC_SIM_NEVER_PS) {
        /* First in, first out, a page may leave while it is being read. */
        log->disorder += r->evicted_ps < (log->fifo ? r->arrived_ps : r->first_use_ps);
        log->evicted++;
    }
}

static void test_records(void)
{
    static const char *const texts[] = { "model=llama-3.2-1b buffer=1MB",
                                         "model=llama-3.2-1b tp=4 buffer=4096B scheduler=greedy",
                                         "model=llama-3.2-1b tp=4 buffer=1GB read_time=3us retry=10%" };
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct sc_hbf s = scenario(texts[i]);
        size_t faults = 0;
        for (size_t p = 0; p < world.policy_count; p++) {
            struct sc_hbf_answer with, without;
            struct sc_sim_report report;
            struct sc_error error;
            s.policy = (int)p;
            const struct sc_hbf_mechanisms m = sc_hbf_mechanisms(&s);
            struct log log = { .ideal = m.is_ideal, .fifo = !m.evicts_consumed, .sms = (size_t)s.sms };
            const struct sc_sim_options options = { .seed = 1, .record = log_record,
                                                    .context = &log };
            struct sc_hbf_kernel kernels[SC_HBF_KERNELS];
            const size_t count = sc_hbf_kernels(&s, kernels);
            memset(&with, 0, sizeof with);
            const bool fine = sc_hbf_simulator.simulate(&s, &options, &with, &report, &error) ==
                                  SC_OK &&
                              run(&s, 1, &without, &report) &&
                              memcmp(&with, &without, sizeof with) == 0 && log.disorder == 0 &&
                              log.kernels == count &&
                              log.pages == (size_t)kernels[count - 1].pages &&
                              (m.has_buffer || log.evicted == 0);
            if (!fine)
                note("%s policy=%s: %zu out of order, %zu kernels", texts[i], world.policies[p],
                     log.disorder, log.kernels);
            faults += !fine;
        }
        is_int((long long)faults, 0,
               "records, every policy: each page once, in order, asked and arrived before use: %s",
               texts[i]);
    }
}
enum { RECORD_TESTS = 3 };

/* ---- Memory ---- */

static void test_memory(void)
{
    struct sc_hbf s = scenario("model=llama-3.2-1b tp=4 buffer=1MB");
    struct rusage before, after;
    for (int i = 0; i < 140; i++) {
        struct sc_hbf_answer answer;
        struct sc_sim_report report;
        s.policy = (int)((size_t)i % world.policy_count);
        if (i == 40)
            (void)getrusage(RUSAGE_SELF, &before);
        if (!run(&s, (uint64_t)i, &answer, &report)) {
            ok(false, "run %d has an answer", i);
            return;
        }
    }
    (void)getrusage(RUSAGE_SELF, &after);
#ifdef SANITIZED
    skip(1, "sanitizers keep freed memory, and look for leaks themselves");
#else
    ok(after.ru_maxrss - before.ru_maxrss <= 1024, "100 runs take no more memory than the 40 before");
#endif
}
enum { MEMORY_TESTS = 1 };

int main(void)
{
    set_up();
    plan(IDEAL_TESTS + FIGURE_TESTS + SPLIT_TESTS + SHORTCUT_TESTS + ABLATION_TESTS + VARIANT_TESTS +
         SHAPE_TESTS + RANDOM_TESTS + CONSERVATION_TESTS + LITTLE_TESTS + REPEAT_TESTS + LIMIT_TESTS +
         MONOTONE_TESTS + BEYOND_TESTS + RECORD_TESTS + MEMORY_TESTS);
    test_memory(); /* before anything larger has raised the high-water mark */
    run_figures();
    test_ideal();
    test_figures();
    test_split();
    test_shortcut();
    test_ablation();
    test_variants();
    test_shapes();
    test_random();
    test_refused();
    test_conservation();
    test_little();
    test_determinism();
    test_seeds();
    test_limits();
    test_monotone();
    test_beyond();
    test_records();
    tear_down();
    return done();
}
