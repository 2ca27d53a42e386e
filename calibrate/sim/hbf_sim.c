/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/hbf_sim.h"

#include <math.h>
#include <stdlib.h>

#include "sim/hbf_engine.h"

/* What the sums are built up from besides the account itself. */
struct totals {
    struct sc_hbf_account account;
    double load_to_use_page_s, useful_page_s, residency_page_s;
    double largest_s;
};

/* What the largest of the stalls is due to, in the words of the closed form. */
static const char *limit_name(const struct sc_hbf_mechanisms *mechanisms,
                              const struct sc_hbf_machine *machine,
                              const struct hbf_engine_result *r)
{
    if (r->capacity_s > r->access_s && r->capacity_s > r->order_s)
        return "buffer";
    if (r->flash_busy > 0.9)
        return "flash bandwidth";
    if (mechanisms->stream == SC_HBF_STREAM_NONE)
        return 2 * r->pool_waits > r->missed ? "miss pool" : "demand window";
    if (r->order_s > r->access_s)
        return "stream order";
    /* Not much more than the first page of each SM has to wait anyway. */
    if (r->access_s < 1.5 * machine->extra_latency_s)
        return "flash latency";
    if (mechanisms->stream == SC_HBF_STREAM_LEAD)
        return "prefetch lead";
    if (mechanisms->stream == SC_HBF_STREAM_SSHR)
        return r->allowance_waits > r->window_waits ? "staging allowance" : "staging window";
    return "flash latency";
}

static void add_kernel(struct totals *t, const struct sc_hbf_mechanisms *mechanisms,
                       const struct sc_hbf_machine *machine, const struct sc_hbf_kernel *kernel,
                       const struct sc_hbf_load *load, const struct hbf_engine_result *r)
{
    struct sc_hbf_account *a = &t->account;
    const double times = kernel->multiplicity, pages = times * (double)r->pages;
    const double stall_s = r->access_s + r->order_s + r->capacity_s;
    a->time_s += times * r->time_s;
    a->ideal_s += times * kernel->ideal_s;
    a->access_s += times * r->access_s;
    a->order_s += times * r->order_s;
    a->capacity_s += times * r->capacity_s;
    a->pages += pages;
    a->discarded += times * (double)r->discarded;
    a->refetched += times * (double)r->refetched;
    a->missed += times * (double)r->missed;
    a->in_flight_page_s += times * r->in_flight * r->time_s;
    a->active_s += times * load->active * r->time_s;
    a->entries = fmax(a->entries, (double)r->most_entries);
    t->load_to_use_page_s += pages * r->load_to_use_s;
    t->useful_page_s += pages * r->useful_s;
    t->residency_page_s += pages * r->residency_s;

    const double own_s = r->time_s - stall_s;
    if (times * fmax(stall_s, own_s) > t->largest_s) {
        t->largest_s = times * fmax(stall_s, own_s);
        a->bound = stall_s > own_s ? limit_name(mechanisms, machine, r) : kernel->bound;
    }
}

static void add_report(struct sc_sim_report *report, const struct hbf_engine_result *r)
{
    report->events += r->events;
    report->units += r->pages;
    report->little_error = fmax(report->little_error, r->little_error);
    report->waiting = r->waiting;
}

static enum sc_status run_kernels(struct hbf_engine *engine, const struct sc_hbf *s,
                                  const struct sc_sim_options *options, struct totals *totals,
                                  const struct sc_hbf_mechanisms *mechanisms,
                                  const struct sc_hbf_machine *machine,
                                  struct sc_sim_report *report)
{
    struct sc_hbf_kernel kernels[SC_HBF_KERNELS];
    const size_t count = sc_hbf_kernels(s, kernels);
    for (size_t i = 0; i < count; i++) {
        const struct sc_hbf_load load =
            sc_hbf_load(&kernels[i], machine, s->launch_s + s->hbm_latency_s);
        struct hbf_engine_input input = {
            .scenario = s,
            .mechanisms = mechanisms,
            .machine = machine,
            .load = &load,
            .name = kernels[i].name,
            .rng = sc_sim_rng_make(options->seed, options->run, i),
            .check = options->check,
            .record = options->record != NULL,
        };
        struct hbf_engine_result result = { 0 };
        enum sc_status status =
            hbf_engine_calibrate(engine, &input, &input.rate_scale, &result.waiting);
        if (status == SC_OK)
            status = hbf_engine_run(engine, &input, &result);
        add_report(report, &result);
        if (status != SC_OK)
            return status;
        if (options->record != NULL)
            hbf_engine_records(engine, options);
        add_kernel(totals, mechanisms, machine, &kernels[i], &load, &result);
    }
    return count > 0 ? SC_OK : SC_EMISSING;
}

static enum sc_status simulate(const void *scenario, const struct sc_sim_options *options,
                               void *answer, struct sc_sim_report *report, struct sc_error *error)
{
    const struct sc_hbf *s = scenario;
    struct totals totals = { 0 };
    *report = (struct sc_sim_report){ 0 };
    enum sc_status status = sc_hbf_check(s, error);
    if (status != SC_OK)
        return status;
    const struct sc_hbf_mechanisms mechanisms = sc_hbf_mechanisms(s);
    const struct sc_hbf_machine machine = sc_hbf_machine(s, &mechanisms);
    struct hbf_engine *engine = hbf_engine_create();
    status = engine == NULL ? SC_ENOSPACE
                            : run_kernels(engine, s, options, &totals, &mechanisms, &machine, report);
    hbf_engine_destroy(engine);
    if (status == SC_EMISSING) {
        *error = (struct sc_error){ .field = "part", .value = s->part,
                                    .reason = "leaves no weight kernel" };
        return SC_EDOMAIN;
    }
    if (status != SC_OK) {
        *error = (struct sc_error){ .field = "simulation", .value = (double)NAN,
                                    .reason = report->waiting != NULL ? report->waiting
                                              : status == SC_ENOSPACE ? "ran out of memory"
                                                                      : "stopped" };
        return status;
    }
    struct sc_hbf_account *a = &totals.account;
    a->load_to_use_s = totals.load_to_use_page_s / a->pages;
    a->useful_s = totals.useful_page_s / a->pages;
    a->residency_s = totals.residency_page_s / a->pages;
    sc_hbf_close(s, &mechanisms, &machine, a, answer);
    return SC_OK;
}

const struct sc_simulator sc_hbf_simulator = {
    .system = &sc_hbf_system,
    .unit = "pages",
    .simulate = simulate,
};
