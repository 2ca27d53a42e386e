/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The constants of mode=fitted: fitted anew to the published run times, held against
 * what data/ has, and judged on what each fit has not seen.
 *
 * `t_uvm_fit.t print` shows the constants as they belong into data/apps.csv and
 * data/gpus.csv, and into the field table. */
#include "catalog.h"
#include "fit.h"
#include "scenario.h"
#include "tap.h"
#include "uvm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define GIB 1073741824.0

enum { ROWS_MAX = 512 };
enum { A40, RTX_5080, H200, GPUS };
enum { PATHFINDER, K_MEANS, CNN, BITONIC, RADIX, BFS, APPS };
enum { LINK, MIGRATION, FAULT, SPEED, GPU_PARAMETERS };
enum { RATE, LINK_PASSES, HOT, REFETCH, HOST, APP_PARAMETERS };
enum { USABLE, OVERHEAD, SHARE, PREFETCH, GLOBALS };
enum { GPU_FIRST = 0, APP_FIRST = GPUS * GPU_PARAMETERS,
       GLOBAL_FIRST = APP_FIRST + APPS * APP_PARAMETERS, PARAMETERS = GLOBAL_FIRST + GLOBALS };

static const char *const gpus[GPUS] = { "a40", "rtx-5080", "h200" };
static const char *const apps[APPS] = { "pathfinder", "k-means", "cnn", "bitonic", "radix", "bfs" };
static const char *const policies[] = { "uvm", "prefetch", "mapped", "ember-static",
                                        "ember-adaptive" };
enum { POLICIES = COUNT(policies) };

struct row {
    struct sc_uvm scenario;
    double time_s;
    bool censored, past;
    int gpu, app, policy;
};

static struct {
    struct catalog *catalog;
    struct resolver *resolver;
    struct row rows[ROWS_MAX];
    size_t count;
    double device_speed[GPUS]; /* ratio of FP32 throughputs */
} world;

/* ---- The published rows ---- */

static int index_of(const char *const *names, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++) {
        const char *found = strstr(text, names[i]);
        const size_t length = strlen(names[i]);
        if (found != NULL && found[-1] == '-' && (found[length] == '-' || found[length] == '\0'))
            return (int)i;
    }
    bail("no such name in %s", text);
}

static struct sc_uvm scenario_of(const char *text)
{
    struct setting settings[16];
    struct problem problem = { "" };
    struct sc_uvm s;
    char copy[512], *rest = NULL;
    size_t count = 0;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        struct sweep sweep;
        if (count == COUNT(settings) || !sweep_parse(world.resolver, word, &sweep, &problem))
            bail("%s: %s", word, problem.text);
        settings[count++] = sweep.values[0];
        sweep_fini(&sweep);
    }
    if (!resolver_build(world.resolver, settings, count, &s, &problem))
        bail("%s", problem.text);
    return s;
}

static const struct catalog_table *published(void)
{
    struct problem problem = { "" };
    const struct catalog_table *table = catalog_table(world.catalog, "published/uvm", &problem);
    if (table == NULL)
        bail("%s", problem.text);
    return table;
}

static const char *cell(const struct catalog_table *table, size_t row, const char *column)
{
    const size_t i = catalog_column(table, column);
    if (i == SIZE_MAX)
        bail("no column %s", column);
    return catalog_cell(table, row, i);
}

static void read_rows(void)
{
    static const char prefix[] = "table4-fitted-";
    const struct catalog_table *table = published();
    for (size_t r = 0; r < table->row_count; r++) {
        const char *id = catalog_cell(table, r, 0);
        if (strncmp(id, prefix, strlen(prefix)) != 0)
            continue;
        if (world.count == ROWS_MAX)
            bail("too many rows");
        struct row *row = &world.rows[world.count++];
        *row = (struct row){ .scenario = scenario_of(cell(table, r, "scenario")),
                             .time_s = strtod(cell(table, r, "value"), NULL),
                             .censored = *cell(table, r, "cap") != '\0',
                             .past = strstr(id, "-1.5-") != NULL,
                             .gpu = index_of(gpus, GPUS, id),
                             .app = index_of(apps, APPS, id) };
        row->policy = row->scenario.policy;
        world.device_speed[row->gpu] = row->scenario.device_speed;
    }
}

/* ---- The model as a function of the constants ---- */

static size_t of_gpu(int gpu, int which)
{
    return (size_t)(GPU_FIRST + gpu * GPU_PARAMETERS + which);
}

static size_t of_app(int app, int which)
{
    return (size_t)(APP_FIRST + app * APP_PARAMETERS + which);
}

static void apply(const double *p, const struct row *row, struct sc_uvm *s)
{
    *s = row->scenario;
    s->link_rate_bytes_per_s = GIB * p[of_gpu(row->gpu, LINK)];
    s->migration_rate_bytes_per_s = GIB * p[of_gpu(row->gpu, MIGRATION)];
    s->fault_rate_bytes_per_s = GIB * p[of_gpu(row->gpu, FAULT)];
    s->fitted_device_speed = p[of_gpu(row->gpu, SPEED)];
    s->fitted_device_rate_bytes_per_s = GIB * p[of_app(row->app, RATE)];
    s->fitted_link_passes = p[of_app(row->app, LINK_PASSES)];
    s->fitted_hot_share = p[of_app(row->app, HOT)];
    s->fitted_refetch = p[of_app(row->app, REFETCH)];
    s->fitted_host_passes = p[of_app(row->app, HOST)];
    s->usable_share = p[GLOBAL_FIRST + USABLE];
    s->adaptive_overhead = p[GLOBAL_FIRST + OVERHEAD];
    s->adaptive_share = p[GLOBAL_FIRST + SHARE];
    s->prefetch_factor = p[GLOBAL_FIRST + PREFETCH];
}

static double time_of(const struct sc_uvm *s)
{
    struct sc_uvm_answer answer;
    struct sc_error error = { 0 };
    return sc_uvm_system.estimate(s, &answer, NULL, &error) == SC_OK ? answer.time_s : (double)NAN;
}

static enum sc_status predict(const double *parameters, double *log_predictions, void *context)
{
    (void)context;
    for (size_t i = 0; i < world.count; i++) {
        struct sc_uvm s;
        apply(parameters, &world.rows[i], &s);
        log_predictions[i] = log(time_of(&s));
    }
    return SC_OK;
}

/* ---- Fits ---- */

static double law_refetch(int app)
{
    for (size_t i = 0; i < world.count; i++) {
        const struct row *row = &world.rows[i];
        struct sc_uvm_answer answer;
        struct sc_uvm s = row->scenario;
        s.mode = SC_UVM_LAW;
        if (row->app == app && row->past && row->policy == 0 &&
            sc_uvm_system.estimate(&s, &answer, NULL, NULL) == SC_OK)
            return answer.thrash_factor;
    }
    return 1.0;
}

static struct sc_fit_parameter free_log(double initial, double low, double high, double prior_sd)
{
    return (struct sc_fit_parameter){ .name = "constant", .initial = initial, .low = low,
                                      .high = high, .transform = SC_FIT_LOG,
                                      .prior_mean = log(initial), .prior_sd = prior_sd };
}

static struct sc_fit_parameter given(double value)
{
    return (struct sc_fit_parameter){ .name = "given", .initial = value, .low = -1e300,
                                      .high = 1e300, .fixed = true };
}

static struct sc_fit_parameter share(double initial, double low, double high)
{
    return (struct sc_fit_parameter){ .name = "share", .initial = initial, .low = low, .high = high,
                                      .transform = SC_FIT_LOGIT };
}

static void plan_fit(struct sc_fit_parameter p[PARAMETERS], int without_gpu)
{
    const int gauge = without_gpu == A40 ? RTX_5080 : A40;
    for (int gpu = 0; gpu < GPUS; gpu++) {
        p[of_gpu(gpu, LINK)] = free_log(20.2, 5, 100, 0.5);
        p[of_gpu(gpu, MIGRATION)] = free_log(22, 5, 100, 0.5);
        p[of_gpu(gpu, FAULT)] = free_log(15, 1, 200, 1);
        p[of_gpu(gpu, SPEED)] = free_log(world.device_speed[gpu], 0.1, 10, 0.5);
        if (gpu == gauge) { /* a rate of the link and passes over it, speed and device rate, go together */
            p[of_gpu(gpu, LINK)] = given(20.2);
            p[of_gpu(gpu, SPEED)] = given(world.device_speed[gpu]);
        }
        for (int i = 0; gpu == without_gpu && i < GPU_PARAMETERS; i++)
            p[of_gpu(gpu, i)] = given(p[of_gpu(gpu, i)].initial);
    }
    for (int app = 0; app < APPS; app++) {
        struct sc_uvm s = { 0 };
        for (size_t i = 0; i < world.count; i++)
            if (world.rows[i].app == app)
                s = world.rows[i].scenario;
        const double refetch = fmax(0.05, law_refetch(app));
        p[of_app(app, RATE)] = free_log(s.device_rate_bytes_per_s / GIB, 1e-3, 1e4, 2);
        p[of_app(app, LINK_PASSES)] = free_log(s.link_passes, 1e-3, 1e6, 2);
        /* Only that of k-means comes near what fits.  cnn's fits at 1.5x: its split
         * runs take as long per byte there as at 0.5x. */
        p[of_app(app, HOT)] = app == K_MEANS ? share(0.69, 0.5, 1.0) : given(app == CNN ? 0.5 : 1.0);
        p[of_app(app, REFETCH)] = free_log(refetch, 1e-3, 1e5, 3);
        p[of_app(app, HOST)] = app == CNN ? free_log(300, 1, 1e4, 2) : given(0.0);
    }
    /* The times leave it open: x1.209 in sample with 0.86, x1.218 with 0.97. */
    p[GLOBAL_FIRST + USABLE] = given(0.90);
    p[GLOBAL_FIRST + OVERHEAD] = free_log(1.13, 0.5, 3, 0.3);
    p[GLOBAL_FIRST + SHARE] = share(0.85, 0.6, 1.0);
    p[GLOBAL_FIRST + PREFETCH] = free_log(1.05, 0.5, 3, 0.3);
}

/* A row that the fit does not see. */
struct hold_out {
    int gpu, app;  /* -1: any */
    bool past_only;
};

static bool is_held_out(const struct hold_out *out, const struct row *row)
{
    return out != NULL && (out->gpu < 0 || row->gpu == out->gpu) &&
           (out->app < 0 || row->app == out->app) && (!out->past_only || row->past);
}

/* What data/ has. */
static void stored_constants(double p[PARAMETERS])
{
    for (size_t i = 0; i < world.count; i++) {
        const struct sc_uvm *s = &world.rows[i].scenario;
        const int gpu = world.rows[i].gpu, app = world.rows[i].app;
        p[of_gpu(gpu, LINK)] = s->link_rate_bytes_per_s / GIB;
        p[of_gpu(gpu, MIGRATION)] = s->migration_rate_bytes_per_s / GIB;
        p[of_gpu(gpu, FAULT)] = s->fault_rate_bytes_per_s / GIB;
        p[of_gpu(gpu, SPEED)] = s->fitted_device_speed;
        p[of_app(app, RATE)] = s->fitted_device_rate_bytes_per_s / GIB;
        p[of_app(app, LINK_PASSES)] = s->fitted_link_passes;
        p[of_app(app, HOT)] = s->fitted_hot_share;
        p[of_app(app, REFETCH)] = s->fitted_refetch;
        p[of_app(app, HOST)] = s->fitted_host_passes;
        p[GLOBAL_FIRST + USABLE] = s->usable_share;
        p[GLOBAL_FIRST + OVERHEAD] = s->adaptive_overhead;
        p[GLOBAL_FIRST + SHARE] = s->adaptive_share;
        p[GLOBAL_FIRST + PREFETCH] = s->prefetch_factor;
    }
}

/* From where data/ has them, or from before anything was fitted. */
static void fit_constants(const struct hold_out *out, bool afresh, double constants[PARAMETERS])
{
    static struct sc_fit_observation observations[ROWS_MAX];
    struct sc_fit_parameter parameters[PARAMETERS];
    struct sc_fit fit;
    struct sc_error error = { 0 };
    plan_fit(parameters, out != NULL && out->app < 0 ? out->gpu : -1);
    if (!afresh) {
        stored_constants(constants);
        for (size_t i = 0; i < PARAMETERS; i++)
            if (!parameters[i].fixed)
                parameters[i].initial = constants[i];
    }
    for (size_t i = 0; i < world.count; i++)
        observations[i] = (struct sc_fit_observation){
            .log_value = log(world.rows[i].time_s),
            .weight = is_held_out(out, &world.rows[i]) ? 0.0 : 1.0,
            .censoring = world.rows[i].censored ? SC_FIT_AT_LEAST : SC_FIT_EXACT,
        };
    const struct sc_fit_problem problem = { parameters, PARAMETERS, observations, world.count,
                                            predict, NULL };
    const struct sc_fit_options options = { .skip_profiles = true, .noise_sd = 0.2,
                                            .noise_weight = 5, .scale_floor = 0.05,
                                            .iterations = 25,
                                            .rounds = out == NULL ? 60 : 6 };
    if (sc_fit_solve(&fit, &problem, &options, &error) != SC_OK)
        bail("fit: %s %s", error.field, error.reason);
    for (size_t i = 0; i < PARAMETERS; i++)
        constants[i] = fit.estimates[i].value;
    note("%zu evaluations, %s, scale %.3f", fit.evaluations, fit.reason, fit.robust_scale);
    sc_fit_fini(&fit);
}

/* ---- Errors ---- */

struct mean {
    double sum;
    size_t n;
};

static void add(struct mean *mean, double value)
{
    mean->sum += value;
    mean->n++;
}

static double factor_of(const struct mean *mean)
{
    return mean->n == 0 ? (double)NAN : exp(mean->sum / (double)mean->n);
}

/* A run that was stopped says only that it takes longer. */
static double log_error(const struct row *row, double predicted_s)
{
    if (row->censored && predicted_s >= row->time_s)
        return 0.0;
    return fabs(log(predicted_s / row->time_s));
}

/* Reported, not gated: see README of data/published. */
static bool is_ungated(const struct row *row)
{
    return row->app == CNN || (row->app == RADIX && row->past && row->policy < 2);
}

static double predicted(const double *constants, const struct row *row)
{
    struct sc_uvm s;
    apply(constants, row, &s);
    return time_of(&s);
}

static const struct row *find_row(int gpu, int app, int policy, bool past)
{
    for (size_t i = 0; i < world.count; i++) {
        const struct row *row = &world.rows[i];
        if (row->gpu == gpu && row->app == app && row->policy == policy && row->past == past)
            return row;
    }
    return NULL;
}

static void print_constants(const double *p)
{
    note("gpu: fitted_device_speed link_rate migration_rate fault_rate");
    for (int gpu = 0; gpu < GPUS; gpu++)
        note("%s,%.4g,%.4g,%.4g,%.4g", gpus[gpu], p[of_gpu(gpu, SPEED)], p[of_gpu(gpu, LINK)],
             p[of_gpu(gpu, MIGRATION)], p[of_gpu(gpu, FAULT)]);
    note("app: fitted_device_rate fitted_link_passes fitted_hot_share fitted_refetch host_passes");
    for (int app = 0; app < APPS; app++)
        note("%s,%.4g,%.4g,%.4g,%.4g,%.4g", apps[app], p[of_app(app, RATE)],
             p[of_app(app, LINK_PASSES)], p[of_app(app, HOT)], p[of_app(app, REFETCH)],
             p[of_app(app, HOST)]);
    note("usable_share %.4g adaptive_overhead %.4g adaptive_share %.4g prefetch_factor %.4g",
         p[GLOBAL_FIRST + USABLE], p[GLOBAL_FIRST + OVERHEAD], p[GLOBAL_FIRST + SHARE],
         p[GLOBAL_FIRST + PREFETCH]);
}

static void test_in_sample(const double *constants, bool print)
{
    struct mean all = { 0 }, gated = { 0 }, by_policy[POLICIES] = { { 0 } };
    for (size_t i = 0; i < world.count; i++) {
        const struct row *row = &world.rows[i];
        const double s = predicted(constants, row), error = log_error(row, s);
        add(&all, error);
        if (!is_ungated(row)) {
            add(&gated, error);
            add(&by_policy[row->policy], error);
        }
        if (print && error > log(1.4))
            note("  %s %s %s %s: %.3g s, published %s%.3g", gpus[row->gpu], apps[row->app],
                 policies[row->policy], row->past ? "1.5x" : "0.5x", s, row->censored ? ">" : "",
                 row->time_s);
    }
    for (int p = 0; p < POLICIES; p++)
        note("  %s: x%.3f", policies[p], factor_of(&by_policy[p]));
    note("in sample: x%.3f of %zu rows, x%.3f of all %zu", factor_of(&gated), gated.n,
         factor_of(&all), all.n);
    ok(factor_of(&gated) <= 1.25, "in sample within x1.25");
}

/* Geometric mean of what the other two GPUs took for the same. */
static double naive_gpu(const struct row *row)
{
    struct mean mean = { 0 };
    for (int gpu = 0; gpu < GPUS; gpu++) {
        const struct row *other = find_row(gpu, row->app, row->policy, row->past);
        if (gpu != row->gpu && other != NULL)
            add(&mean, log(other->time_s));
    }
    return factor_of(&mean);
}

/* Rates of a GPU that was not measured: the others' mean; its speed by FP32. */
static void transfer(double *p, int gpu)
{
    for (int which = 0; which < GPU_PARAMETERS; which++) {
        struct mean mean = { 0 };
        for (int other = 0; other < GPUS; other++)
            if (other != gpu)
                add(&mean, log(p[of_gpu(other, which)] /
                               (which == SPEED ? world.device_speed[other] : 1.0)));
        p[of_gpu(gpu, which)] = factor_of(&mean) * (which == SPEED ? world.device_speed[gpu] : 1.0);
    }
}

static void test_other_gpu(void)
{
    struct mean model = { 0 }, naive = { 0 };
    for (int gpu = 0; gpu < GPUS; gpu++) {
        const struct hold_out out = { .gpu = gpu, .app = -1 };
        struct mean own = { 0 }, own_naive = { 0 };
        double constants[PARAMETERS];
        fit_constants(&out, true, constants);
        transfer(constants, gpu);
        for (size_t i = 0; i < world.count; i++) {
            const struct row *row = &world.rows[i];
            const double rival = naive_gpu(row);
            if (row->gpu != gpu || is_ungated(row) || isnan(rival))
                continue;
            add(&own, log_error(row, predicted(constants, row)));
            add(&own_naive, log_error(row, rival));
        }
        note("without %s: x%.3f on its %zu rows, naive x%.3f", gpus[gpu], factor_of(&own), own.n,
             factor_of(&own_naive));
        add(&model, log(factor_of(&own)));
        add(&naive, log(factor_of(&own_naive)));
    }
    note("a GPU left out: x%.3f, naive x%.3f", factor_of(&model), factor_of(&naive));
    ok(factor_of(&model) <= 1.40, "a GPU left out within x1.40");
    ok(factor_of(&model) < factor_of(&naive), "and better than the mean of the other two");
}

/* The other applications' time at 1.5x over that at 0.5x. */
static double naive_app(const struct row *row)
{
    struct mean mean = { 0 };
    const struct row *half = find_row(row->gpu, row->app, row->policy, false);
    for (int app = 0; app < APPS; app++) {
        const struct row *a = find_row(row->gpu, app, row->policy, false);
        const struct row *b = find_row(row->gpu, app, row->policy, true);
        if (app != row->app && a != NULL && b != NULL)
            add(&mean, log(b->time_s / a->time_s));
    }
    return half == NULL ? (double)NAN : half->time_s * factor_of(&mean);
}

/* Past capacity without having seen the application there: its resident and mapped runs
 * give rates, the law of its pattern gives the rest. */
static void test_other_app(void)
{
    struct mean model = { 0 }, naive = { 0 };
    for (int app = 0; app < APPS; app++) {
        const struct hold_out out = { .gpu = -1, .app = app, .past_only = true };
        struct mean own = { 0 }, own_naive = { 0 };
        double constants[PARAMETERS];
        fit_constants(&out, true, constants);
        constants[of_app(app, REFETCH)] = (double)NAN;
        constants[of_app(app, HOT)] = (double)NAN;
        for (size_t i = 0; i < world.count; i++) {
            const struct row *row = &world.rows[i];
            if (row->app != app || !row->past)
                continue;
            add(&own, log_error(row, predicted(constants, row)));
            add(&own_naive, log_error(row, naive_app(row)));
            if (!is_ungated(row)) {
                add(&model, log_error(row, predicted(constants, row)));
                add(&naive, log_error(row, naive_app(row)));
            }
        }
        note("without %s past capacity: x%.3f on its %zu rows, naive x%.3f", apps[app],
             factor_of(&own), own.n, factor_of(&own_naive));
    }
    note("an application left out: x%.3f, naive x%.3f", factor_of(&model), factor_of(&naive));
    ok(factor_of(&model) < factor_of(&naive),
       "an application left out past capacity: better than the others' ratio");
}

static void test_order(const double *constants)
{
    size_t pairs = 0, right = 0;
    for (size_t i = 0; i < world.count; i++)
        for (size_t j = i + 1; j < world.count; j++) {
            const struct row *a = &world.rows[i], *b = &world.rows[j];
            const double ratio = log(a->time_s / b->time_s);
            if (a->gpu != b->gpu || a->app != b->app || a->past != b->past ||
                fabs(ratio) <= log(1.25))
                continue;
            pairs++;
            right += ratio * log(predicted(constants, a) / predicted(constants, b)) > 0.0;
        }
    note("order of two policies right in %zu of %zu pairs more than 1.25x apart", right, pairs);
    ok((double)right >= 0.95 * (double)pairs, "order right in 95 %% of the pairs");
}

/* Speedup over uvm of the six, runs cut at 1800 s as the paper counts them. */
static void test_speedups(const double *constants)
{
    static const struct {
        int gpu, policy;
        double published;
    } speedups[] = { { RTX_5080, 3, 9.12 }, { RTX_5080, 4, 8.83 }, { A40, 3, 6.83 }, { A40, 4, 5.52 } };
    for (size_t i = 0; i < COUNT(speedups); i++) {
        struct mean mean = { 0 };
        for (int app = 0; app < APPS; app++) {
            const struct row *uvm = find_row(speedups[i].gpu, app, 0, true);
            const struct row *other = find_row(speedups[i].gpu, app, speedups[i].policy, true);
            add(&mean, log(fmin(predicted(constants, uvm), 1800) /
                           fmin(predicted(constants, other), 1800)));
        }
        near(factor_of(&mean), speedups[i].published, 0.25, 0, "%s: mean speedup of %s",
             gpus[speedups[i].gpu], policies[speedups[i].policy]);
    }
}

/* data/ has what the fit gives; radix sort's runs past capacity hardly determine theirs. */
static void test_stored(const double *constants)
{
    double worst = 0.0;
    for (size_t i = 0; i < world.count; i++) {
        const struct row *row = &world.rows[i];
        const double stored = time_of(&row->scenario);
        const double difference = fabs(stored / predicted(constants, row) - 1.0);
        const double allowed = is_ungated(row) ? 0.10 : 0.02;
        if (difference > allowed)
            note("%s on %s by %s: %.4g s in data/, %.4g s fitted", apps[row->app], gpus[row->gpu],
                 policies[row->policy], stored, predicted(constants, row));
        worst = fmax(worst, difference / allowed);
    }
    near(worst, 0, 0, 1, "the constants in data/ are those of the fit");
}

/* ---- Figures outside the fit ---- */

/* Geometric error of the published rows whose names start with that. */
static double error_of(const char *prefix, const char *also, size_t *count)
{
    const struct catalog_table *table = published();
    struct mean mean = { 0 };
    for (size_t r = 0; r < table->row_count; r++) {
        const char *id = catalog_cell(table, r, 0);
        struct sc_uvm_answer answer;
        if (strncmp(id, prefix, strlen(prefix)) != 0 || strstr(id, also) == NULL ||
            strncmp(cell(table, r, "note"), "406 GB/s", 8) == 0)
            continue;
        const struct sc_uvm s = scenario_of(cell(table, r, "scenario"));
        if (sc_uvm_system.estimate(&s, &answer, NULL, NULL) != SC_OK)
            bail("%s has no answer", id);
        const struct sc_metric *metric = sc_system_metric(&sc_uvm_system, cell(table, r, "metric"));
        double got;
        memcpy(&got, (const char *)&answer + metric->offset, sizeof got);
        add(&mean, fabs(log(got / strtod(cell(table, r, "value"), NULL))));
    }
    *count = mean.n;
    return factor_of(&mean);
}

static void test_unseen(void)
{
    static const struct {
        const char *prefix, *also, *what;
        double limit;
    } cases[] = {
        { "table6", "", "LLM tokens/s, with rates from Table 4 alone", 1.25 },
        { "table10", "ember-static", "drift, static", 1.10 },
        { "table10", "-uvm", "drift, uvm", 1.10 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t count;
        const double error = error_of(cases[i].prefix, cases[i].also, &count);
        note("%s: x%.3f on %zu", cases[i].what, error, count);
        ok(error <= cases[i].limit, "%s within x%.2f", cases[i].what, cases[i].limit);
    }
}

/* Refetched over first fetched bytes of a uvm run, from its time by the rates of its GPU. */
static double measured_refetch(const struct row *row)
{
    struct sc_uvm s = row->scenario;
    double low = 0.0, high = 1e5;
    for (int i = 0; i < 200; i++) {
        s.fitted_refetch = 0.5 * (low + high);
        *(time_of(&s) < row->time_s ? &low : &high) = s.fitted_refetch;
    }
    return low;
}

/* What a run takes beyond T_dev over faulting the footprint in once, less 1: thrash
 * and evictions together, and from its time alone. */
static double excess(const struct row *row, const struct sc_uvm_answer *answer, double time_s)
{
    const struct sc_uvm *s = &row->scenario;
    const double once_s = answer->working_set_bytes *
                          (1.0 / s->migration_rate_bytes_per_s + 1.0 / s->fault_rate_bytes_per_s);
    return (time_s - answer->ideal_time_s) / once_s - 1.0;
}

/* No constant per application: bytes that come in, predicted and measured. */
static void test_law(void)
{
    size_t within = 0, excess_within = 0;
    for (int app = 0; app < APPS; app++) {
        bool every = true, every_excess = true;
        for (int gpu = 0; gpu < GPUS; gpu++) {
            const struct row *row = find_row(gpu, app, 0, true);
            if (row == NULL)
                continue;
            struct sc_uvm s = row->scenario;
            struct sc_uvm_answer answer;
            s.mode = SC_UVM_LAW;
            if (sc_uvm_system.estimate(&s, &answer, NULL, NULL) != SC_OK)
                bail("no answer");
            const double in = 1.0 + answer.thrash_factor;
            const double measured = 1.0 + measured_refetch(row);
            const char *least = row->censored ? ">" : "";
            note("law: %s on %s brings in %.3g footprints, measured %s%.3g; excess %.2g, measured "
                 "%s%.2g; %.3g s, published %s%.3g s",
                 apps[app], gpus[gpu], in, least, measured, excess(row, &answer, answer.time_s),
                 least, excess(row, &answer, row->time_s), answer.time_s, least, row->time_s);
            every = every && fabs(log(in / measured)) <= log(2.0) && !row->censored;
            every_excess = every_excess && !row->censored &&
                           fabs(log(excess(row, &answer, answer.time_s) /
                                    excess(row, &answer, row->time_s))) <= log(2.0);
        }
        within += every;
        excess_within += every_excess;
    }
    note("law within 2x on every GPU: bytes for %zu of %d applications, excess for %zu", within, APPS,
         excess_within);
    ok(within >= 4, "four of six applications within 2x without a constant of their own");
}

int main(int argc, char **argv)
{
    struct problem problem = { "" };
    double constants[PARAMETERS];
    const bool print = argc > 1 && strcmp(argv[1], "print") == 0;
    world.catalog = catalog_create(NULL);
    world.resolver = world.catalog == NULL
                         ? NULL : resolver_create(&sc_uvm_system, world.catalog, &problem);
    if (world.resolver == NULL)
        bail("%s", problem.text);
    read_rows();
    plan(15);
    is_int((long long)world.count, 150, "run times of Table 4");
    fit_constants(NULL, print, constants);
    if (print)
        print_constants(constants);
    test_in_sample(constants, print);
    test_stored(constants);
    test_order(constants);
    test_speedups(constants);
    test_other_gpu();
    test_other_app();
    test_unseen();
    test_law();
    resolver_destroy(world.resolver);
    catalog_destroy(world.catalog);
    return done();
}
