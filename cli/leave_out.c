/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "leave_out.h"

#include <math.h>
#include <string.h>

#include "calibration.h"
#include "command.h"
#include "filter.h"
#include "progress.h"
#include "published_runs.h"
#include "sink.h"

static const struct {
    const char *name;  /* of --leave-out */
    const char *what;  /* was left out */
    const char *rival; /* what the naive one goes by */
} owners[SC_UVM_OWNERS] = {
    [SC_UVM_OF_GPU] = { "gpu", "GPU", "the mean time of the other GPUs" },
    [SC_UVM_OF_APP] = { "app", "application",
                        "the other applications' ratio of times past capacity and within" },
};

static const struct emit_column columns[] = {
    { .name = "left_out" },
    { .name = "runs" },
    { .name = "stopped" },
    { .name = "geometric_error" },
    { .name = "naive_geometric_error" },
    { .name = "in_all" },
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

struct leaving {
    enum sc_uvm_owner owner;
    struct resolver *resolver;
    struct calibration *calibration;
    struct filter *filter;
    struct published_runs published;
    struct sc_uvm_constants *constants;
    struct sink sink;
    struct sc_uvm_errors all;
    size_t kept; /* that were left out, one after the other */
};

static bool find_owner(const char *text, enum sc_uvm_owner *owner, struct problem *problem)
{
    for (int i = 0; i < SC_UVM_OWNERS; i++)
        if (strcmp(text, owners[i].name) == 0) {
            *owner = (enum sc_uvm_owner)i;
            return true;
        }
    return problem_set(problem, "--leave-out: expected gpu or app, got '%.40s'", text);
}

static bool set_up(struct leaving *l, const struct sc_system *system, const struct options *options,
                   struct catalog *catalog, struct problem *problem)
{
    struct sc_error error = { 0 };
    if (system != &sc_uvm_system)
        return problem_set(problem, "--leave-out: %s has no constants fitted to published runs; "
                                    "%s has", system->name, sc_uvm_system.name);
    if (options->simulate != NULL)
        return problem_set(problem, "--leave-out: the simulator has no constants to fit; leave "
                                    "--simulate out");
    if (!find_owner(options->leave_out, &l->owner, problem))
        return false;
    l->filter = filter_create(options->only, problem);
    l->resolver = l->filter == NULL ? NULL : resolver_create(system, catalog, problem);
    if (l->resolver == NULL ||
        !calibration_load(system, catalog, options, &l->calibration, problem))
        return false;
    calibration_apply(l->calibration, l->resolver);
    if (!published_runs_read(l->resolver, catalog, &l->published, problem))
        return false;
    l->constants = sc_uvm_constants_create(l->published.runs, l->published.count, &error);
    if (l->constants == NULL)
        return problem_set(problem, "published/uvm: %s: %s", error.field, error.reason);
    return true;
}

static bool print_errors(struct leaving *l, const char *name, const struct sc_uvm_errors *e,
                         const char *in_all, struct problem *problem)
{
    const double n = (double)e->runs;
    const struct emit_cell cells[COLUMNS] = {
        emit_string(name),
        emit_number(n),
        emit_number((double)e->stopped),
        emit_number(exp(e->log_sum / n)),
        emit_number(exp(e->naive_log_sum / n)),
        emit_string(in_all),
    };
    return e->runs == 0 || sink_row(&l->sink, cells, problem);
}

static bool keeps(const struct leaving *l, size_t which)
{
    const char *name = sc_uvm_owner_name(l->constants, l->owner, which);
    return filter_keeps(l->filter, name, strlen(name));
}

static bool leave_one_out(struct leaving *l, size_t which, struct problem *problem)
{
    const char *name = sc_uvm_owner_name(l->constants, l->owner, which);
    struct sc_uvm_left_out out;
    struct sc_error error = { 0 };
    if (sc_uvm_leave_out(l->constants, l->owner, which, &out, &error) != SC_OK)
        return problem_set(problem, "without %s: %s: %s", name, error.field, error.reason);
    l->all.runs += out.counted.runs;
    l->all.stopped += out.counted.stopped;
    l->all.log_sum += out.counted.log_sum;
    l->all.naive_log_sum += out.counted.naive_log_sum;
    return print_errors(l, name, &out.counted, "yes", problem) &&
           print_errors(l, name, &out.shown, "no", problem);
}

static bool leave_each_out(struct leaving *l, struct problem *problem)
{
    const size_t count = sc_uvm_owner_count(l->constants, l->owner);
    struct progress progress;
    bool fine = true;
    for (size_t i = 0; i < count; i++)
        l->kept += keeps(l, i);
    if (l->kept == 0 && !filter_gave_up(l->filter))
        return problem_set(problem, "--only: no %s of the runs is named like that",
                           owners[l->owner].what);
    progress_start(&progress, "fit", l->kept);
    for (size_t i = 0; fine && i < count; i++) {
        if (!keeps(l, i))
            continue;
        fine = leave_one_out(l, i, problem);
        progress_step(&progress);
    }
    progress_end(&progress);
    return fine && print_errors(l, "all", &l->all, "yes", problem);
}

static int conclude(const struct leaving *l)
{
    const double n = (double)l->all.runs;
    if (l->all.runs == 0) {
        (void)fprintf(stderr, "none of these runs counts: nothing is judged\n");
        return filter_gave_up(l->filter) ? EXIT_NO : EXIT_FINE;
    }
    const bool better = l->all.log_sum < l->all.naive_log_sum;
    (void)fprintf(stderr,
                  "%zu runs, the %s left out of the fit: geometric error %.3f; naive rival "
                  "(%s) %.3f: %s\n", l->all.runs, owners[l->owner].what, exp(l->all.log_sum / n),
                  owners[l->owner].rival, exp(l->all.naive_log_sum / n),
                  better ? "better" : "NO BETTER");
    return better && !filter_gave_up(l->filter) ? EXIT_FINE : EXIT_NO;
}

static bool run(struct leaving *l, const struct sc_system *system, const struct options *options,
                struct catalog *catalog, struct problem *problem)
{
    struct emit_style style;
    if (!sink_style(options, &style, problem) || !set_up(l, system, options, catalog, problem))
        return false;
    if (options->digits == NULL && !sink_streams(&style))
        style.digits = 4;
    if (!sink_open(&l->sink, &style, columns, COLUMNS, options->output, problem))
        return false;
    if (!leave_each_out(l, problem)) {
        sink_abandon(&l->sink);
        return false;
    }
    return sink_close(&l->sink, problem);
}

int leave_out(const struct sc_system *system, const struct options *options, struct catalog *catalog)
{
    struct leaving l = { 0 };
    struct problem problem;
    const int code = run(&l, system, options, catalog, &problem) ? conclude(&l)
                                                                 : command_fail(&problem);
    sc_uvm_constants_destroy(l.constants);
    published_runs_fini(&l.published);
    calibration_destroy(l.calibration);
    resolver_destroy(l.resolver);
    filter_destroy(l.filter);
    return code;
}
