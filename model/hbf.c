/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer of `hbf`: kernels, what the policy makes of each, and their sum. */
#include "hbf.h"

#include <math.h>

#include "hbf_private.h"
#include "queueing.h"
#include "silicon.h"

static void trace_machine(const struct sc_hbf *s, const struct sc_hbf_machine *machine,
                          struct sc_trace *trace)
{
    const struct sc_hbf_machine m = *machine;
    const double page = s->page_bytes;
    sc_trace_section(trace, "machine");
    sc_trace_add(trace, "B", "HBF bandwidth / page", m.flash_rate, SC_PER_SECOND,
                 "pages per second that the flash delivers");
    sc_trace_add(trace, "L", "latency + retries", m.latency_s, SC_SECONDS,
                 "from a request to its data, unloaded");
    sc_trace_add(trace, "B L", "B L page", m.flash_rate * m.latency_s * page, SC_BYTES,
                 "Little's law: what must be on its way to keep the flash busy");
    sc_trace_add(trace, "N", "buffer / page", m.slots, SC_NUMBER, "pages that the buffer holds");
    sc_trace_add(trace, "G", isnan(s->miss_pool_bytes) ? "1.372 HBM bandwidth x latency / page" : NULL,
                 m.miss_pool, SC_NUMBER, "pages that demand misses of all SMs can wait for (anchor)");
    sc_trace_add(trace, "r", isnan(s->sm_rate_bytes_per_s) ? "0.973 HBM bandwidth / SMs / page" : NULL,
                 m.sm_rate, SC_PER_SECOND, "pages per second that one SM takes in (anchor)");
}

static void trace_load(const struct sc_hbf_kernel *kernel, const struct sc_hbf_machine *m,
                       const struct sc_hbf_load *load, struct sc_trace *trace)
{
    const struct sc_hbf_load k = *load;
    sc_trace_section(trace, kernel->name);
    sc_trace_add(trace, "P", "K N bits / 8 / page", k.pages, SC_NUMBER, "weight pages of the kernel");
    sc_trace_add(trace, "C", NULL, k.ctas, SC_NUMBER, "CTAs of its grid");
    sc_trace_add(trace, "n", "min(C, SMs)", k.active, SC_NUMBER, "SMs that have work");
    sc_trace_add(trace, "m_lo", "floor(C / SMs) P / C, or P_side / (SMs - C_main)", k.light,
                 SC_NUMBER, "pages on a lightly loaded SM; the latter when two GEMMs run side by side");
    sc_trace_add(trace, "m_hi", "ceil(C / SMs) P / C, or P_main / C_main", k.heavy, SC_NUMBER,
                 "pages on a heavily loaded SM; the latter when two GEMMs run side by side");
    sc_trace_add(trace, "r_k", "max(min(r, D / L_hbm), m_hi / (T_ideal - t_launch - L_hbm)), r higher for wide tiles",
                 k.sm_rate, SC_PER_SECOND, "pages per second that one SM takes in from this kernel");
    sc_trace_add(trace, "D", "demand window x tile / 128", k.window, SC_NUMBER,
                 "pages that one SM waits for at a time (anchor)");
    sc_trace_add(trace, "T_ideal", NULL, k.ideal_s, SC_SECONDS, "time with HBM-like latency");
    sc_trace_add(trace, "b", "P / (T_ideal - t_launch - L_hbm), or the light phase's", k.supply,
                 SC_PER_SECOND, "pages per second that the kernel draws when nothing stalls");
    sc_trace_binds(trace, k.supply >= m->flash_rate);
    sc_trace_add(trace, "d", "max(b, L2 rate)", k.drain, SC_PER_SECOND,
                 "pages per second that it can draw when its reads do not come in bursts");
}

/* The machine as a kernel finds it that draws `rate` pages/s: they queue at
 * subarrays that sense for t_R each, and before them the launch burst. */
static struct sc_hbf_machine with_contention(const struct sc_hbf_machine *machine, double rate,
                                             double burst)
{
    struct sc_hbf_machine m = *machine;
    const double wait_s = sc_md1_wait_s(rate / m.subarrays, m.read_time_s);
    m.latency_s += wait_s;
    m.extra_latency_s += wait_s + burst / m.subarrays / 2.0 * m.read_time_s;
    return m;
}

/* Latency variance of real flash.  The wait follows from the rate and the rate,
 * through the policy, from the wait: the rate at which both agree is bracketed,
 * since more wait never makes a kernel draw faster. */
static struct sc_hbf_machine contended(const struct sc_hbf_mechanisms *mechanisms, hbf_run *run,
                                       const struct sc_hbf_machine *machine,
                                       const struct sc_hbf_load *k, double burst,
                                       struct sc_trace *trace)
{
    enum { STEPS = 24 };
    if (!(machine->read_time_s > 0.0))
        return *machine;
    double low = 0.0, high = smaller(k->drain, machine->subarrays / machine->read_time_s);
    for (int i = 0; i < STEPS; i++) {
        const double rate = 0.5 * (low + high);
        const struct sc_hbf_machine m = with_contention(machine, rate, burst);
        if (k->pages / run(mechanisms, &m, k, NULL).time_s > rate)
            low = rate;
        else
            high = rate;
    }
    const struct sc_hbf_machine m = with_contention(machine, low, burst);
    sc_trace_add(trace, "wait", "rho t_R / (2 (1 - rho))", m.latency_s - machine->latency_s,
                 SC_SECONDS, "M/D/1 queue at a subarray, rho = P / T t_R / subarrays");
    sc_trace_add(trace, "burst", "w0 / subarrays / 2 t_R", burst / m.subarrays / 2.0 * m.read_time_s,
                 SC_SECONDS, "pages of the launch burst ahead in the same subarray");
    return m;
}

/* What no mechanism of the policy accounts for is the flash's own bandwidth; and
 * with the flash nearly always busy, no mechanism is to blame. */
static void add_bandwidth_stall(const struct sc_hbf_machine *m, const struct sc_hbf_load *k,
                                double ideal_s, struct hbf_outcome *out)
{
    const double busy_s = k->pages / m->flash_rate;
    const double rest_s = out->time_s - ideal_s - out->access_s - out->order_s - out->capacity_s;
    const double bandwidth_s = smaller(rest_s, busy_s - k->pages / k->mean_rate);
    if (bandwidth_s > 0.0)
        out->access_s += bandwidth_s;
    if (busy_s > 0.9 * out->time_s && out->capacity_s <= larger(out->access_s, out->order_s))
        out->limit = "flash bandwidth";
}

static void add_outcome(struct sc_hbf_account *sum, double *largest_s, const struct sc_hbf_kernel *kernel,
                        const struct sc_hbf_load *k, const struct hbf_outcome *out)
{
    const double times = kernel->multiplicity;
    const double stall_s = times * (out->access_s + out->order_s + out->capacity_s);
    const double own_s = times * out->time_s - stall_s;
    sum->time_s += times * out->time_s;
    sum->ideal_s += times * kernel->ideal_s;
    sum->access_s += times * out->access_s;
    sum->order_s += times * out->order_s;
    sum->capacity_s += times * out->capacity_s;
    sum->pages += times * k->pages;
    sum->discarded += times * out->discarded;
    sum->refetched += times * out->refetched;
    sum->missed += times * out->missed;
    sum->in_flight_page_s += times * out->in_flight * out->time_s;
    sum->active_s += times * k->active * out->time_s;
    sum->entries = larger(sum->entries, out->entries);
    if (larger(stall_s, own_s) > *largest_s) {
        *largest_s = larger(stall_s, own_s);
        sum->bound = stall_s > own_s ? out->limit : kernel->bound;
    }
}

enum sc_status sc_hbf_estimate(const void *scenario, void *answer, struct sc_trace *trace,
                               struct sc_error *error)
{
    const struct sc_hbf *s = scenario;
    const enum sc_status status = sc_hbf_check(s, error);
    if (status != SC_OK)
        return status;
    const struct sc_hbf_mechanisms mechanisms = sc_hbf_mechanisms(s);
    hbf_run *const run = mechanisms.stream != SC_HBF_STREAM_TENSOR ? sc_hbf_policies[s->policy].run
                         : mechanisms.demand_order                 ? sc_hbf_run_demand_stream
                                                                   : sc_hbf_run_address_stream;
    const struct sc_hbf_machine machine = sc_hbf_machine(s, &mechanisms);
    const double burst = mechanisms.has_buffer
                             ? smaller(machine.slots, machine.flash_rate * machine.latency_s)
                             : 0.0;
    struct sc_hbf_kernel kernels[SC_HBF_KERNELS];
    const size_t count = sc_hbf_kernels(s, kernels);
    struct sc_hbf_account account = { .load_to_use_s = (double)NAN,
                                      .useful_s = (double)NAN,
                                      .residency_s = (double)NAN };
    double largest_s = 0.0;
    if (count == 0) {
        if (error != NULL)
            *error = (struct sc_error){ .field = "part", .value = s->part,
                                        .reason = "leaves no weight kernel" };
        return SC_EDOMAIN;
    }
    trace_machine(s, &machine, trace);
    for (size_t i = 0; i < count; i++) {
        const struct sc_hbf_load load =
            sc_hbf_load(&kernels[i], &machine, s->launch_s + s->hbm_latency_s);
        trace_load(&kernels[i], &machine, &load, trace);
        const struct sc_hbf_machine m =
            contended(&mechanisms, run, &machine, &load, burst, trace);
        struct hbf_outcome out = run(&mechanisms, &m, &load, trace);
        add_bandwidth_stall(&m, &load, kernels[i].ideal_s, &out);
        add_outcome(&account, &largest_s, &kernels[i], &load, &out);
    }
    sc_hbf_close(s, &mechanisms, &machine, &account, answer);
    return SC_OK;
}
