/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "uvm_constants.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit.h"
#include "score.h"

#define GIB 1073741824.0

/* Of a GPU, of an application, of the driver. */
enum { LINK, MIGRATION, FAULT, SPEED, GPU_CONSTANTS };
enum { RATE, LINK_PASSES, HOT, REFETCH, HOST, APP_CONSTANTS };
enum { USABLE, OVERHEAD, SHARE, PREFETCH, DRIVER_CONSTANTS };
/* The same as one run has them. */
enum { APP_AT = GPU_CONSTANTS, DRIVER_AT = APP_AT + APP_CONSTANTS,
       RUN_CONSTANTS = DRIVER_AT + DRIVER_CONSTANTS };

enum { MEMORIES = 2 }; /* a central difference goes back and forth between the two */

/* What a run is predicted to take, by the constants it was last asked with. */
struct memory {
    double constants[RUN_CONSTANTS], log_s;
};

struct names {
    const char **names;
    size_t count;
};

struct sc_uvm_constants {
    const struct sc_uvm_run *runs;
    size_t run_count, count; /* runs, constants in all */
    struct names owners[SC_UVM_OWNERS];
    size_t *owner_of[SC_UVM_OWNERS]; /* of each run */
    double *values;
    struct memory *memories; /* of each run, MEMORIES */
    size_t *next_memory;
    struct sc_fit_parameter *parameters;
    struct sc_fit_observation *observations;
};

/* Whose runs a fit does not see; owner SC_UVM_OWNERS: it sees all. */
struct hold_out {
    enum sc_uvm_owner owner;
    size_t which;
};

static enum sc_status refuse(struct sc_error *error, enum sc_status status, const char *field,
                             double value, const char *reason)
{
    if (error != NULL)
        *error = (struct sc_error){ .field = field, .value = value, .reason = reason };
    return status;
}

/* ---- Runs ---- */

bool sc_uvm_run_is_past(const struct sc_uvm_run *run)
{
    return sc_uvm_footprint_bytes(&run->scenario) > sc_uvm_usable_bytes(&run->scenario);
}

double sc_uvm_run_log_error(const struct sc_uvm_run *run, double predicted_s)
{
    if (run->stopped && predicted_s >= run->time_s)
        return 0.0;
    return fabs(log(predicted_s / run->time_s));
}

/* Migration by faults and nothing else. */
static bool only_faults(const struct sc_uvm_run *run)
{
    const struct sc_uvm_mechanisms m = sc_uvm_mechanisms(run->scenario.policy);
    return m.faults && !m.ahead && !m.maps;
}

static size_t index_of(struct names *names, const char *name)
{
    size_t i = 0;
    while (i < names->count && strcmp(names->names[i], name) != 0)
        i++;
    if (i == names->count)
        names->names[names->count++] = name;
    return i;
}

static enum sc_status check_run(const struct sc_uvm_run *run, struct sc_error *error)
{
    const enum sc_status status = sc_uvm_check(&run->scenario, error);
    if (status != SC_OK)
        return status;
    if (run->scenario.mode != SC_UVM_FITTED)
        return refuse(error, SC_EDOMAIN, "mode", (double)NAN, "must be fitted");
    if (!(run->time_s > 0.0 && isfinite(run->time_s)))
        return refuse(error, SC_EDOMAIN, "time_s", run->time_s, "must be above 0");
    if (isnan(run->scenario.device_rate_bytes_per_s))
        return refuse(error, SC_EMISSING, "device_rate", (double)NAN, "must be known");
    if (isnan(run->scenario.link_passes))
        return refuse(error, SC_EMISSING, "link_passes", (double)NAN, "must be known");
    return SC_OK;
}

static bool allocate(struct sc_uvm_constants *c, size_t runs)
{
    bool fine = true;
    for (int owner = 0; owner < SC_UVM_OWNERS; owner++) {
        c->owners[owner].names = calloc(runs, sizeof *c->owners[owner].names);
        c->owner_of[owner] = calloc(runs, sizeof *c->owner_of[owner]);
        fine = fine && c->owners[owner].names != NULL && c->owner_of[owner] != NULL;
    }
    c->memories = calloc(runs * MEMORIES, sizeof *c->memories);
    c->next_memory = calloc(runs, sizeof *c->next_memory);
    c->observations = calloc(runs, sizeof *c->observations);
    return fine && c->memories != NULL && c->next_memory != NULL && c->observations != NULL;
}

struct sc_uvm_constants *sc_uvm_constants_create(const struct sc_uvm_run *runs, size_t count,
                                                 struct sc_error *error)
{
    struct sc_uvm_constants *c = NULL;
    enum sc_status status = count == 0 ? refuse(error, SC_EMISSING, "runs", 0.0, "there is none")
                                       : SC_OK;
    for (size_t i = 0; status == SC_OK && i < count; i++)
        status = check_run(&runs[i], error);
    if (status != SC_OK)
        return NULL;
    c = calloc(1, sizeof *c);
    if (c == NULL || !allocate(c, count))
        goto no_memory;
    c->runs = runs;
    c->run_count = count;
    memset(c->memories, 0xff, count * MEMORIES * sizeof *c->memories); /* NaNs: of no constants */
    for (size_t i = 0; i < count; i++) {
        c->owner_of[SC_UVM_OF_GPU][i] = index_of(&c->owners[SC_UVM_OF_GPU], runs[i].gpu);
        c->owner_of[SC_UVM_OF_APP][i] = index_of(&c->owners[SC_UVM_OF_APP], runs[i].app);
    }
    c->count = c->owners[SC_UVM_OF_GPU].count * GPU_CONSTANTS +
               c->owners[SC_UVM_OF_APP].count * APP_CONSTANTS + DRIVER_CONSTANTS;
    c->values = calloc(c->count, sizeof *c->values);
    c->parameters = calloc(c->count, sizeof *c->parameters);
    if (c->values != NULL && c->parameters != NULL)
        return c;
no_memory:
    sc_uvm_constants_destroy(c);
    (void)refuse(error, SC_ENOSPACE, "runs", (double)NAN, "need more memory than there is");
    return NULL;
}

void sc_uvm_constants_destroy(struct sc_uvm_constants *c)
{
    if (c == NULL)
        return;
    for (int owner = 0; owner < SC_UVM_OWNERS; owner++) {
        free(c->owners[owner].names);
        free(c->owner_of[owner]);
    }
    free(c->values);
    free(c->memories);
    free(c->next_memory);
    free(c->parameters);
    free(c->observations);
    free(c);
}

size_t sc_uvm_owner_count(const struct sc_uvm_constants *c, enum sc_uvm_owner owner)
{
    return c->owners[owner].count;
}

const char *sc_uvm_owner_name(const struct sc_uvm_constants *c, enum sc_uvm_owner owner,
                              size_t which)
{
    return c->owners[owner].names[which];
}

/* ---- The model as a function of the constants ---- */

static size_t of_gpu(size_t gpu, size_t constant)
{
    return gpu * GPU_CONSTANTS + constant;
}

static size_t of_app(const struct sc_uvm_constants *c, size_t app, size_t constant)
{
    return c->owners[SC_UVM_OF_GPU].count * GPU_CONSTANTS + app * APP_CONSTANTS + constant;
}

static size_t of_driver(const struct sc_uvm_constants *c, size_t constant)
{
    return c->count - DRIVER_CONSTANTS + constant;
}

/* Those that run i has, of all. */
static void pick(const struct sc_uvm_constants *c, size_t i, const double *all,
                 double own[RUN_CONSTANTS])
{
    const size_t gpu = c->owner_of[SC_UVM_OF_GPU][i], app = c->owner_of[SC_UVM_OF_APP][i];
    memcpy(own, all + of_gpu(gpu, 0), GPU_CONSTANTS * sizeof *own);
    memcpy(own + APP_AT, all + of_app(c, app, 0), APP_CONSTANTS * sizeof *own);
    memcpy(own + DRIVER_AT, all + of_driver(c, 0), DRIVER_CONSTANTS * sizeof *own);
}

static struct sc_uvm with_constants(const struct sc_uvm_run *run, const double own[RUN_CONSTANTS])
{
    const double *app = own + APP_AT, *driver = own + DRIVER_AT;
    struct sc_uvm s = run->scenario;
    s.link_rate_bytes_per_s = GIB * own[LINK];
    s.migration_rate_bytes_per_s = GIB * own[MIGRATION];
    s.fault_rate_bytes_per_s = GIB * own[FAULT];
    s.fitted_device_speed = own[SPEED];
    s.fitted_device_rate_bytes_per_s = GIB * app[RATE];
    s.fitted_link_passes = app[LINK_PASSES];
    s.fitted_hot_share = app[HOT];
    s.fitted_refetch = app[REFETCH];
    s.fitted_host_passes = app[HOST];
    s.usable_share = driver[USABLE];
    s.adaptive_overhead = driver[OVERHEAD];
    s.adaptive_share = driver[SHARE];
    s.prefetch_factor = driver[PREFETCH];
    return s;
}

static void stored_of(const struct sc_uvm *s, double own[RUN_CONSTANTS])
{
    double *app = own + APP_AT, *driver = own + DRIVER_AT;
    own[LINK] = s->link_rate_bytes_per_s / GIB;
    own[MIGRATION] = s->migration_rate_bytes_per_s / GIB;
    own[FAULT] = s->fault_rate_bytes_per_s / GIB;
    own[SPEED] = s->fitted_device_speed;
    app[RATE] = s->fitted_device_rate_bytes_per_s / GIB;
    app[LINK_PASSES] = s->fitted_link_passes;
    app[HOT] = s->fitted_hot_share;
    app[REFETCH] = s->fitted_refetch;
    app[HOST] = s->fitted_host_passes;
    driver[USABLE] = s->usable_share;
    driver[OVERHEAD] = s->adaptive_overhead;
    driver[SHARE] = s->adaptive_share;
    driver[PREFETCH] = s->prefetch_factor;
}

static double time_of(const struct sc_uvm *s)
{
    struct sc_uvm_answer answer;
    return sc_uvm_system.estimate(s, &answer, NULL, NULL) == SC_OK ? answer.time_s : (double)NAN;
}

struct sc_uvm sc_uvm_constants_apply(const struct sc_uvm_constants *c, const struct sc_uvm_run *run)
{
    double own[RUN_CONSTANTS];
    pick(c, (size_t)(run - c->runs), c->values, own);
    return with_constants(run, own);
}

double sc_uvm_constants_time_s(const struct sc_uvm_constants *c, const struct sc_uvm_run *run)
{
    const struct sc_uvm s = sc_uvm_constants_apply(c, run);
    return time_of(&s);
}

/* Most constants are none of a run's, and a difference in one of those leaves it as it was. */
static double log_time_of(struct sc_uvm_constants *c, size_t i, const double *all)
{
    struct memory *memories = c->memories + i * MEMORIES;
    double own[RUN_CONSTANTS];
    pick(c, i, all, own);
    for (size_t m = 0; m < MEMORIES; m++)
        if (sc_are_equal(memories[m].constants, own, RUN_CONSTANTS))
            return memories[m].log_s;
    struct memory *memory = &memories[c->next_memory[i]];
    const struct sc_uvm s = with_constants(&c->runs[i], own);
    c->next_memory[i] = (c->next_memory[i] + 1) % MEMORIES;
    memcpy(memory->constants, own, sizeof own);
    memory->log_s = log(time_of(&s));
    return memory->log_s;
}

static enum sc_status predict(const double *parameters, double *log_predictions, void *context)
{
    struct sc_uvm_constants *c = context;
    for (size_t i = 0; i < c->run_count; i++)
        log_predictions[i] = log_time_of(c, i, parameters);
    return SC_OK;
}

/* ---- What is free, and where it starts ---- */

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

static const struct sc_uvm *run_of(const struct sc_uvm_constants *c, enum sc_uvm_owner owner,
                                   size_t which)
{
    size_t i = 0;
    while (c->owner_of[owner][i] != which)
        i++;
    return &c->runs[i].scenario;
}

/* Refetches of an application by the law of its pattern. */
static double law_refetch(const struct sc_uvm_constants *c, size_t app)
{
    for (size_t i = 0; i < c->run_count; i++) {
        const struct sc_uvm_run *run = &c->runs[i];
        struct sc_uvm_answer answer;
        struct sc_uvm s = run->scenario;
        s.mode = SC_UVM_LAW;
        if (c->owner_of[SC_UVM_OF_APP][i] == app && sc_uvm_run_is_past(run) && only_faults(run) &&
            sc_uvm_system.estimate(&s, &answer, NULL, NULL) == SC_OK)
            return answer.thrash_factor;
    }
    return 1.0;
}

/* A rate of the link and passes over it go together, and a GPU's speed and device rates:
 * one GPU's are held.  Rates of applications are about speed 1. */
static size_t gauge_of(const struct sc_uvm_constants *c, const struct hold_out *out)
{
    size_t best = 0;
    double nearest = (double)INFINITY;
    for (size_t gpu = 0; gpu < c->owners[SC_UVM_OF_GPU].count; gpu++) {
        const double distance = fabs(log(run_of(c, SC_UVM_OF_GPU, gpu)->device_speed));
        if (distance < nearest && !(out->owner == SC_UVM_OF_GPU && out->which == gpu)) {
            nearest = distance;
            best = gpu;
        }
    }
    return best;
}

static void plan_gpu(struct sc_uvm_constants *c, size_t gpu, const struct hold_out *out)
{
    struct sc_fit_parameter *p = c->parameters + of_gpu(gpu, 0);
    const double speed = run_of(c, SC_UVM_OF_GPU, gpu)->device_speed;
    p[LINK] = free_log(20.2, 5, 100, 0.5);
    p[MIGRATION] = free_log(22, 5, 100, 0.5);
    p[FAULT] = free_log(15, 1, 200, 1);
    p[SPEED] = free_log(speed, 0.1, 10, 0.5);
    if (gpu == gauge_of(c, out)) {
        p[LINK] = given(20.2);
        p[SPEED] = given(speed);
    }
    for (size_t i = 0; out->owner == SC_UVM_OF_GPU && out->which == gpu && i < GPU_CONSTANTS; i++)
        p[i] = given(p[i].initial);
}

static void plan_app(struct sc_uvm_constants *c, size_t app)
{
    struct sc_fit_parameter *p = c->parameters + of_app(c, app, 0);
    const struct sc_uvm *stored = run_of(c, SC_UVM_OF_APP, app);
    struct sc_uvm law = *stored;
    law.mode = SC_UVM_LAW;
    const struct sc_uvm_load load = sc_uvm_load(&law);
    const double hot = load.hot_bytes / load.footprint_bytes;
    const double fixed_hot = isnan(stored->fitted_hot_share) ? 1.0 : stored->fitted_hot_share;
    p[RATE] = free_log(stored->device_rate_bytes_per_s / GIB, 1e-3, 1e4, 2);
    p[LINK_PASSES] = free_log(stored->link_passes, 1e-3, 1e6, 2);
    /* Without a hot part it stays as stored: 1, or less where runs past capacity take as
     * long per byte as those that fit. */
    p[HOT] = hot < 1.0 ? share(0.5 * (hot + 1.0), hot, 1.0) : given(fixed_hot);
    p[REFETCH] = free_log(fmax(0.05, law_refetch(c, app)), 1e-3, 1e5, 3);
    p[HOST] = stored->fitted_host_passes > 0.0 ? free_log(300, 1, 1e4, 2) : given(0.0);
}

static void plan_fit(struct sc_uvm_constants *c, const struct hold_out *out)
{
    struct sc_fit_parameter *driver = c->parameters + of_driver(c, 0);
    for (size_t gpu = 0; gpu < c->owners[SC_UVM_OF_GPU].count; gpu++)
        plan_gpu(c, gpu, out);
    for (size_t app = 0; app < c->owners[SC_UVM_OF_APP].count; app++)
        plan_app(c, app);
    /* Run times leave it open: those of Ember's Table 4 come out within x1.209 with 0.86,
     * x1.218 with 0.97. */
    driver[USABLE] = given(0.90);
    driver[OVERHEAD] = free_log(1.13, 0.5, 3, 0.3);
    driver[SHARE] = share(0.85, 0.6, 1.0);
    driver[PREFETCH] = free_log(1.05, 0.5, 3, 0.3);
}

/* The constants that the runs come with. */
static void start_from_stored(struct sc_uvm_constants *c)
{
    for (size_t i = 0; i < c->run_count; i++) {
        const size_t gpu = c->owner_of[SC_UVM_OF_GPU][i], app = c->owner_of[SC_UVM_OF_APP][i];
        double own[RUN_CONSTANTS];
        stored_of(&c->runs[i].scenario, own);
        memcpy(c->values + of_gpu(gpu, 0), own, GPU_CONSTANTS * sizeof *own);
        memcpy(c->values + of_app(c, app, 0), own + APP_AT, APP_CONSTANTS * sizeof *own);
        memcpy(c->values + of_driver(c, 0), own + DRIVER_AT, DRIVER_CONSTANTS * sizeof *own);
    }
    for (size_t i = 0; i < c->count; i++)
        if (!c->parameters[i].fixed)
            c->parameters[i].initial = c->values[i];
}

/* ---- Fits ---- */

static bool is_held_out(const struct sc_uvm_constants *c, const struct hold_out *out, size_t i)
{
    return out->owner < SC_UVM_OWNERS && c->owner_of[out->owner][i] == out->which &&
           (out->owner == SC_UVM_OF_GPU || sc_uvm_run_is_past(&c->runs[i]));
}

static enum sc_status solve(struct sc_uvm_constants *c, const struct hold_out *out,
                            struct sc_error *error)
{
    struct sc_fit fit;
    for (size_t i = 0; i < c->run_count; i++)
        c->observations[i] = (struct sc_fit_observation){
            .log_value = log(c->runs[i].time_s),
            .weight = is_held_out(c, out, i) ? 0.0 : 1.0,
            .censoring = c->runs[i].stopped ? SC_FIT_AT_LEAST : SC_FIT_EXACT,
        };
    const struct sc_fit_problem problem = { c->parameters,  c->count, c->observations,
                                            c->run_count, predict,  c };
    const struct sc_fit_options options = { .skip_profiles = true, .noise_sd = 0.2,
                                            .noise_weight = 5, .scale_floor = 0.05,
                                            .iterations = 25,
                                            .rounds = out->owner == SC_UVM_OWNERS ? 60 : 6 };
    const enum sc_status status = sc_fit_solve(&fit, &problem, &options, error);
    if (status != SC_OK)
        return status;
    for (size_t i = 0; i < c->count; i++)
        c->values[i] = fit.estimates[i].value;
    sc_fit_fini(&fit);
    return SC_OK;
}

enum sc_status sc_uvm_constants_fit(struct sc_uvm_constants *c, bool afresh, struct sc_error *error)
{
    const struct hold_out nothing = { .owner = SC_UVM_OWNERS };
    plan_fit(c, &nothing);
    if (!afresh)
        start_from_stored(c);
    return solve(c, &nothing, error);
}

/* ---- Runs that a fit has not seen ---- */

/* Rates of a GPU that was not measured: the others' mean; its speed by FP32. */
static void transfer_rates(struct sc_uvm_constants *c, size_t gpu)
{
    for (size_t i = 0; i < GPU_CONSTANTS; i++) {
        struct sc_geometric_mean mean = { 0 };
        for (size_t other = 0; other < c->owners[SC_UVM_OF_GPU].count; other++) {
            const double speed = run_of(c, SC_UVM_OF_GPU, other)->device_speed;
            if (other != gpu)
                sc_geometric_mean_add(&mean, log(c->values[of_gpu(other, i)] /
                                                 (i == SPEED ? speed : 1.0)));
        }
        const double own = run_of(c, SC_UVM_OF_GPU, gpu)->device_speed;
        c->values[of_gpu(gpu, i)] = sc_geometric_mean(&mean) * (i == SPEED ? own : 1.0);
    }
}

static const struct sc_uvm_run *find_run(const struct sc_uvm_constants *c, size_t gpu, size_t app,
                                         int policy, bool past)
{
    for (size_t i = 0; i < c->run_count; i++)
        if (c->owner_of[SC_UVM_OF_GPU][i] == gpu && c->owner_of[SC_UVM_OF_APP][i] == app &&
            c->runs[i].scenario.policy == policy && sc_uvm_run_is_past(&c->runs[i]) == past)
            return &c->runs[i];
    return NULL;
}

/* The geometric mean of what the other GPUs take for the same. */
static double naive_gpu_s(const struct sc_uvm_constants *c, size_t i)
{
    const struct sc_uvm_run *run = &c->runs[i];
    struct sc_geometric_mean mean = { 0 };
    for (size_t gpu = 0; gpu < c->owners[SC_UVM_OF_GPU].count; gpu++) {
        const struct sc_uvm_run *other =
            find_run(c, gpu, c->owner_of[SC_UVM_OF_APP][i], run->scenario.policy,
                     sc_uvm_run_is_past(run));
        if (gpu != c->owner_of[SC_UVM_OF_GPU][i] && other != NULL)
            sc_geometric_mean_add(&mean, log(other->time_s));
    }
    return sc_geometric_mean(&mean);
}

/* What it takes where it fits, times the mean ratio of the other applications. */
static double naive_app_s(const struct sc_uvm_constants *c, size_t i)
{
    const size_t gpu = c->owner_of[SC_UVM_OF_GPU][i], own = c->owner_of[SC_UVM_OF_APP][i];
    const int policy = c->runs[i].scenario.policy;
    const struct sc_uvm_run *half = find_run(c, gpu, own, policy, false);
    struct sc_geometric_mean mean = { 0 };
    for (size_t app = 0; app < c->owners[SC_UVM_OF_APP].count; app++) {
        const struct sc_uvm_run *fits = find_run(c, gpu, app, policy, false);
        const struct sc_uvm_run *past = find_run(c, gpu, app, policy, true);
        if (app != own && fits != NULL && past != NULL)
            sc_geometric_mean_add(&mean, log(past->time_s / fits->time_s));
    }
    return half == NULL ? (double)NAN : half->time_s * sc_geometric_mean(&mean);
}

enum sc_status sc_uvm_leave_out(struct sc_uvm_constants *c, enum sc_uvm_owner owner, size_t which,
                                struct sc_uvm_left_out *result, struct sc_error *error)
{
    const struct hold_out out = { owner, which };
    *result = (struct sc_uvm_left_out){ 0 };
    if (c->owners[owner].count < 2)
        return refuse(error, SC_EMISSING, owner == SC_UVM_OF_GPU ? "gpu" : "app",
                      (double)c->owners[owner].count, "must be two at least");
    plan_fit(c, &out);
    const enum sc_status status = solve(c, &out, error);
    if (status != SC_OK)
        return status;
    if (owner == SC_UVM_OF_GPU) {
        transfer_rates(c, which);
    } else {
        c->values[of_app(c, which, REFETCH)] = (double)NAN;
        c->values[of_app(c, which, HOT)] = (double)NAN;
    }
    for (size_t i = 0; i < c->run_count; i++) {
        const struct sc_uvm_run *run = &c->runs[i];
        const double rival_s = owner == SC_UVM_OF_GPU ? naive_gpu_s(c, i) : naive_app_s(c, i);
        if (!is_held_out(c, &out, i) || isnan(rival_s))
            continue;
        struct sc_uvm_errors *errors = run->counted ? &result->counted : &result->shown;
        errors->runs++;
        errors->stopped += run->stopped;
        errors->log_sum += sc_uvm_run_log_error(run, sc_uvm_constants_time_s(c, run));
        errors->naive_log_sum += sc_uvm_run_log_error(run, rival_s);
    }
    return SC_OK;
}
