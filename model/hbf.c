/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer of `hbf`: kernels, what the policy makes of each, and their sum. */
#include "hbf.h"

#include <math.h>

#include "hbf_private.h"
#include "queueing.h"
#include "silicon.h"

/* Anchors that scale with the machine; each names its figure in hbf_fields.c.
 * Demand misses: bytes outstanding over HBM bandwidth x HBM latency.  One SM:
 * intake over its even share of HBM bandwidth. */
static const double miss_pool_ratio = 1.372, sm_rate_ratio = 1.4377;

/* Expected further sensing steps: each is 100 times less likely than the one
 * before and takes 1.75 t_R (SlipStream, section VI-F). */
static const double retry_step = 1.75, retry_decay = 0.01;

static struct hbf_machine make_machine(const struct sc_hbf *s, const struct sc_hbf_policy *policy,
                                       struct sc_trace *trace)
{
    const double page = s->page_bytes;
    const double share = s->hbm_bandwidth_bytes_per_s / s->sms;
    struct hbf_machine m = {
        .flash_rate = s->hbf_bandwidth_bytes_per_s / page,
        .turnaround_s = s->hbm_latency_s,
        .launch_s = s->launch_s,
        .slots = policy->has_buffer ? s->buffer_bytes / page : 0.0,
        .miss_pool = (isnan(s->miss_pool_bytes)
                          ? miss_pool_ratio * s->hbm_bandwidth_bytes_per_s * s->hbm_latency_s
                          : s->miss_pool_bytes) / page * s->mshr_scale,
        .demand_window = larger(1.0, s->demand_window_bytes / page),
        .sm_rate = (isnan(s->sm_rate_bytes_per_s) ? sm_rate_ratio * share
                                                  : s->sm_rate_bytes_per_s) / page,
        .sms = s->sms,
        .tracking_entries = s->sshr_entries,
        .s0_pages = s->s0_pages,
        .lead_pages = s->lead_pages,
        .stage_rate = s->stage_rate_per_s,
        .launch_stagger_s = s->launch_stagger_s,
        .read_time_s = s->read_time_s,
        .subarrays = s->flash_channels * s->subarrays,
        .retry_probability = s->retry_probability,
    };
    const double sensing = m.subarrays / larger(m.read_time_s, 1e-12);
    m.flash_rate = smaller(m.flash_rate, sensing);
    const double retry_s = m.retry_probability * retry_step * m.read_time_s / (1.0 - retry_decay);
    m.latency_s = s->latency_s + retry_s;
    m.extra_latency_s = m.latency_s - s->hbm_latency_s;

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
    sc_trace_add(trace, "r", isnan(s->sm_rate_bytes_per_s) ? "1.438 HBM bandwidth / SMs / page" : NULL,
                 m.sm_rate, SC_PER_SECOND, "pages per second that one SM takes in (anchor)");
    return m;
}

/* Supply b: pages per second that the kernel draws when nothing stalls, so that
 * the ideal time comes out (light phase on all SMs, heavy ones finish alone). */
static double supply_rate(const struct hbf_load *k, const struct hbf_machine *m, double fixed_s)
{
    const double busy_s = k->ideal_s - fixed_s;
    const double mean = k->pages / busy_s;
    if (k->ctas <= m->sms || k->heavy_sms * k->sm_rate > mean)
        return smaller(mean, m->flash_rate);
    const double light_s = busy_s - (k->heavy - k->light) / k->sm_rate;
    return smaller(larger(mean, k->active * k->light / light_s), m->flash_rate);
}

static struct hbf_load make_load(const struct sc_hbf_kernel *kernel, const struct hbf_machine *m,
                                 double fixed_s, struct sc_trace *trace)
{
    const double per_cta = kernel->pages / kernel->ctas;
    const double waves = round_down(kernel->ctas / m->sms);
    const double rest = kernel->ctas - waves * m->sms;
    struct hbf_load k = { .pages = kernel->pages, .ctas = kernel->ctas, .ideal_s = kernel->ideal_s,
                          .active = smaller(kernel->ctas, m->sms),
                          .window = m->demand_window * kernel->tile_columns / 128.0 };
    if (kernel->ctas <= m->sms) {
        k.light = k.heavy = per_cta;
        k.heavy_sms = kernel->ctas;
    } else {
        k.light = waves * per_cta;
        k.heavy = rest > 0.0 ? (waves + 1.0) * per_cta : k.light;
        k.heavy_sms = rest > 0.0 ? rest : m->sms;
    }
    k.sm_rate = larger(m->sm_rate, k.heavy / (k.ideal_s - fixed_s));
    k.supply = supply_rate(&k, m, fixed_s);

    sc_trace_section(trace, kernel->name);
    sc_trace_add(trace, "P", "K N bits / 8 / page", k.pages, SC_NUMBER, "weight pages of the kernel");
    sc_trace_add(trace, "C", NULL, k.ctas, SC_NUMBER, "CTAs of its grid");
    sc_trace_add(trace, "n", "min(C, SMs)", k.active, SC_NUMBER, "SMs that have work");
    sc_trace_add(trace, "m_lo", "round_down(C / SMs) P / C", k.light, SC_NUMBER, "pages on a lightly loaded SM");
    sc_trace_add(trace, "m_hi", "round_up(C / SMs) P / C", k.heavy, SC_NUMBER, "pages on a heavily loaded SM");
    sc_trace_add(trace, "D", "demand window x tile / 128", k.window, SC_NUMBER,
                 "pages that one SM waits for at a time (anchor)");
    sc_trace_add(trace, "T_ideal", NULL, k.ideal_s, SC_SECONDS, "time with HBM-like latency");
    sc_trace_add(trace, "b", "P / (T_ideal - t_launch - L_hbm), or the light phase's", k.supply,
                 SC_PER_SECOND, "pages per second that the kernel draws when nothing stalls");
    sc_trace_binds(trace, k.supply >= m->flash_rate);
    return k;
}

/* Latency variance of real flash: the launch burst and the steady stream queue
 * at subarrays that sense for t_R each. */
static struct hbf_machine with_contention(const struct hbf_machine *machine,
                                          const struct hbf_load *k, double burst,
                                          struct sc_trace *trace)
{
    struct hbf_machine m = *machine;
    if (!(m.read_time_s > 0.0))
        return m;
    const double ahead = burst / m.subarrays / 2.0;
    const double wait_s =
        smaller(sc_md1_wait_s(k->supply / m.subarrays, m.read_time_s), m.latency_s);
    m.latency_s += wait_s;
    m.extra_latency_s += wait_s + ahead * m.read_time_s;
    sc_trace_add(trace, "wait", "rho t_R / (2 (1 - rho))", wait_s, SC_SECONDS,
                 "M/D/1 queue at a subarray, rho = b t_R / subarrays");
    sc_trace_add(trace, "burst", "w0 / subarrays / 2 t_R", ahead * m.read_time_s, SC_SECONDS,
                 "pages of the launch burst ahead in the same subarray");
    return m;
}

/* Sums over the launches of one pass. */
struct hbf_sum {
    double time_s, ideal_s, access_s, order_s, capacity_s;
    double pages, discarded, refetched, missed, in_flight_page_s, entries, active_s;
    double largest_s; /* time that the binding limit accounts for */
    const char *bound;
};

static void add_outcome(struct hbf_sum *sum, const struct sc_hbf_kernel *kernel,
                        const struct hbf_load *k, const struct hbf_outcome *out)
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
    if (larger(stall_s, own_s) > sum->largest_s) {
        sum->largest_s = larger(stall_s, own_s);
        sum->bound = stall_s > own_s ? out->limit : kernel->bound;
    }
}

static void fill_costs(const struct sc_hbf *s, const struct sc_hbf_policy *policy,
                       const struct hbf_machine *m, struct sc_hbf_answer *a)
{
    const struct sc_silicon_cost cost = sc_silicon_cost(&(struct sc_silicon_request){
        .buffer_bytes = policy->has_buffer ? s->buffer_bytes : 0.0,
        .stacks = s->stacks,
        .in_flight_pages = m->flash_rate * m->latency_s,
        .page_bytes = s->page_bytes,
        .tracking_entries = policy->tracks_pages ? s->sshr_entries : 0.0,
        .sms = s->sms,
        .node_m = s->buffer_node_m,
        .utilisation = smaller(1.0, a->hbf_utilisation),
    });
    a->buffer_area_m2 = cost.buffer_area_m2;
    a->tracking_area_m2 = cost.tracking_area_m2;
    a->leakage_w = cost.leakage_w;
    a->dynamic_w = cost.dynamic_w;
    a->buffer_access_s = policy->has_buffer ? cost.access_s : (double)NAN;
    /* Weights only: cache traffic of keys and values is not counted here. */
    const double step_j = s->tensor_parallel *
                          (a->time_s * (s->die_power_w + cost.leakage_w + cost.dynamic_w) +
                           a->weight_bytes * 8.0 * s->hbf_energy_j_per_bit);
    a->energy_per_token_j = step_j / sc_hbf_tokens(s);
    a->edp_js = a->energy_per_token_j * a->time_s;
}

static void fill_answer(const struct sc_hbf *s, const struct sc_hbf_policy *policy,
                        const struct hbf_machine *m, const struct hbf_sum *sum,
                        struct sc_hbf_answer *a)
{
    const double stall_s = sum->access_s + sum->order_s + sum->capacity_s;
    const double rate = sum->pages / sum->time_s;
    const double page = s->page_bytes;
    *a = (struct sc_hbf_answer){
        .slowdown = sum->time_s / sum->ideal_s,
        .performance = sum->ideal_s / sum->time_s,
        .time_s = sum->time_s,
        .ideal_time_s = sum->ideal_s,
        .layer_time_s = sum->time_s / s->layers,
        .bound = sum->bound,
        .stall_free_share = 1.0 - stall_s / sum->time_s,
        .access_stall_share = sum->access_s / sum->time_s,
        .order_stall_share = sum->order_s / sum->time_s,
        .capacity_stall_share = sum->capacity_s / sum->time_s,
        .hbf_utilisation = rate * page / s->hbf_bandwidth_bytes_per_s,
        .bandwidth_bytes_per_s = rate * page,
        .in_flight_needed_bytes = s->hbf_bandwidth_bytes_per_s * s->latency_s,
        .in_flight_bytes = sum->in_flight_page_s / sum->time_s * page,
        .tracking_entries_per_sm = sum->entries,
        .discarded_share = sum->discarded / sum->pages,
        .refetched_share = sum->refetched / sum->pages,
        .load_to_use_s = s->hbm_latency_s + sum->missed / sum->pages * (m->latency_s - s->hbm_latency_s),
        .useful_lifetime_s = policy->has_buffer ? s->hbm_latency_s + sum->active_s / sum->pages : (double)NAN,
        .residency_s = policy->has_buffer ? m->slots / rate : (double)NAN,
        .weight_bytes = sum->pages * page,
    };
    fill_costs(s, policy, m, a);
}

/* The policy's row with the scenario's order and cold start laid over it. */
static struct sc_hbf_policy effective_policy(const struct sc_hbf *s)
{
    struct sc_hbf_policy policy = sc_hbf_policies[s->policy];
    if (s->order == SC_HBF_ORDER_ADDRESS && policy.demand_order)
        policy.run = sc_hbf_run_address_stream;
    if (s->order == SC_HBF_ORDER_DEMAND && policy.has_buffer && !policy.demand_order)
        policy.run = sc_hbf_run_demand_stream;
    if (s->cold_start != SC_HBF_COLD_AUTO)
        policy.crosses_kernels = s->cold_start == SC_HBF_COLD_HIDDEN;
    return policy;
}

static enum sc_status refuse(struct sc_error *error, const char *field, double value,
                             const char *reason)
{
    *error = (struct sc_error){ .field = field, .value = value, .reason = reason };
    return SC_EDOMAIN;
}

static enum sc_status check_consistent(const struct sc_hbf *s, const struct sc_hbf_policy *policy,
                                       struct sc_error *error)
{
    if (s->experts > 0.0 && isnan(s->experts_per_token))
        return refuse(error, "experts_per_token", s->experts_per_token, "is needed with experts");
    if (s->experts > 0.0 && isnan(s->expert_ffn))
        return refuse(error, "expert_ffn", s->expert_ffn, "is needed with experts");
    if (s->experts_per_token > s->experts && s->experts > 0.0)
        return refuse(error, "experts_per_token", s->experts_per_token, "is more than experts");
    if (s->dense_layers > s->layers)
        return refuse(error, "dense_layers", s->dense_layers, "is more than layers");
    if (s->attention == SC_HBF_MLA && !(s->kv_lora > 0.0))
        return refuse(error, "kv_lora", s->kv_lora, "is needed with attention=mla");
    if (s->kv_heads > s->heads)
        return refuse(error, "kv_heads", s->kv_heads, "is more than heads");
    if (s->tensor_parallel > s->heads)
        return refuse(error, "tensor_parallel", s->tensor_parallel, "is more than heads");
    if (s->latency_s < s->hbm_latency_s)
        return refuse(error, "latency", s->latency_s, "is below hbm_latency, the ideal's latency");
    if (policy->has_buffer && s->buffer_bytes < s->page_bytes)
        return refuse(error, "buffer", s->buffer_bytes, "holds less than one page");
    return SC_OK;
}

enum sc_status sc_hbf_estimate(const void *scenario, void *answer, struct sc_trace *trace,
                               struct sc_error *error)
{
    const struct sc_hbf *s = scenario;
    enum sc_status status = sc_scenario_check(&sc_hbf_system, scenario, error);
    if (status != SC_OK)
        return status;
    const struct sc_hbf_policy policy = effective_policy(s);
    status = check_consistent(s, &policy, error);
    if (status != SC_OK)
        return status;

    const struct hbf_machine machine = make_machine(s, &policy, trace);
    struct sc_hbf_kernel kernels[SC_HBF_KERNELS];
    const size_t count = sc_hbf_kernels(s, kernels);
    if (count == 0)
        return refuse(error, "part", s->part, "leaves no weight kernel");
    struct hbf_sum sum = { 0 };
    for (size_t i = 0; i < count; i++) {
        const struct hbf_load load =
            make_load(&kernels[i], &machine, s->launch_s + s->hbm_latency_s, trace);
        const double burst = policy.has_buffer ? smaller(machine.slots, machine.flash_rate * machine.latency_s)
                                               : 0.0;
        const struct hbf_machine m = with_contention(&machine, &load, burst, trace);
        const struct hbf_outcome out = policy.run(&policy, &m, &load, trace);
        add_outcome(&sum, &kernels[i], &load, &out);
    }
    fill_answer(s, &policy, &machine, &sum, answer);
    return SC_OK;
}
