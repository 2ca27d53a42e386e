/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "hbf_workload.h"

#include <math.h>

#include "hbf_private.h"
#include "silicon.h"

static enum sc_status refuse(struct sc_error *error, const char *field, double value,
                             const char *reason)
{
    if (error != NULL)
        *error = (struct sc_error){ .field = field, .value = value, .reason = reason };
    return SC_EDOMAIN;
}

static enum sc_status check_consistent(const struct sc_hbf *s, bool has_buffer,
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
    if (has_buffer && s->buffer_bytes < s->page_bytes)
        return refuse(error, "buffer", s->buffer_bytes, "holds less than one page");
    return SC_OK;
}

enum sc_status sc_hbf_check(const struct sc_hbf *s, struct sc_error *error)
{
    const enum sc_status status = sc_scenario_check(&sc_hbf_system, s, error);
    if (status != SC_OK)
        return status;
    return check_consistent(s, sc_hbf_policies[s->policy].mechanisms.has_buffer, error);
}

/* The policy's mechanisms with the scenario's order and cold start laid over. */
struct sc_hbf_mechanisms sc_hbf_mechanisms(const struct sc_hbf *s)
{
    struct sc_hbf_mechanisms m = sc_hbf_policies[s->policy].mechanisms;
    if ((s->order == SC_HBF_ORDER_ADDRESS && m.demand_order) ||
        (s->order == SC_HBF_ORDER_DEMAND && m.has_buffer && !m.demand_order)) {
        /* Only a stream of the whole tensor can follow an order of its own. */
        m.stream = SC_HBF_STREAM_TENSOR;
        m.demand_order = s->order == SC_HBF_ORDER_DEMAND;
    }
    if (s->cold_start != SC_HBF_COLD_AUTO)
        m.crosses_kernels = s->cold_start == SC_HBF_COLD_HIDDEN;
    return m;
}

/* Anchors that scale with the machine; each names its figure in hbf_fields.c.
 * Demand misses: bytes outstanding over HBM bandwidth x HBM latency.  One SM:
 * intake over its even share of HBM bandwidth. */
static const double miss_pool_ratio = 1.372, sm_rate_ratio = 0.9732;

/* Expected further sensing steps: each is 100 times less likely than the one
 * before and takes 1.75 t_R (SlipStream, section VI-F). */
static const double retry_step = 1.75, retry_decay = 0.01;

struct sc_hbf_machine sc_hbf_machine(const struct sc_hbf *s,
                                     const struct sc_hbf_mechanisms *mechanisms)
{
    const double page = s->page_bytes;
    const double share = s->hbm_bandwidth_bytes_per_s / s->sms;
    struct sc_hbf_machine m = {
        .flash_rate = s->hbf_bandwidth_bytes_per_s / page,
        .turnaround_s = s->hbm_latency_s,
        .launch_s = s->launch_s,
        .slots = mechanisms->has_buffer ? s->buffer_bytes / page : 0.0,
        .miss_pool = larger(1.0, (isnan(s->miss_pool_bytes)
                                      ? miss_pool_ratio * s->hbm_bandwidth_bytes_per_s * s->hbm_latency_s
                                      : s->miss_pool_bytes) /
                                     page * s->mshr_scale),
        .demand_window = larger(1.0, s->demand_window_bytes / page),
        .sm_rate = (isnan(s->sm_rate_bytes_per_s) ? sm_rate_ratio * share
                                                  : s->sm_rate_bytes_per_s) /
                   page,
        .sm_rate_wide = s->sm_rate_wide,
        .l2_rate = s->l2_rate_share * s->hbf_bandwidth_bytes_per_s / page,
        .window_headroom = s->window_headroom,
        .miss_factor = s->miss_factor,
        .order_factor = s->order_factor,
        .clog_factor = s->clog_factor,
        .ramp_factor = s->ramp_factor,
        .block_factor = s->block_factor,
        .lost_factor = s->lost_factor,
        .lead_factor = s->lead_factor,
        .refetch_factor = s->refetch_factor,
        .overrun_factor = s->overrun_factor,
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
    if (m.read_time_s > 0.0)
        m.flash_rate = smaller(m.flash_rate, m.subarrays / m.read_time_s);
    const double retry_s = m.retry_probability * retry_step * m.read_time_s / (1.0 - retry_decay);
    m.nominal_latency_s = m.latency_s = s->latency_s + retry_s;
    m.extra_latency_s = m.latency_s - s->hbm_latency_s;
    return m;
}

/* Supply b: pages per second that the kernel draws when nothing stalls, so that
 * the ideal time comes out (light phase on all SMs, heavy ones finish alone). */
static double supply_rate(const struct sc_hbf_load *k, const struct sc_hbf_machine *m,
                          double fixed_s)
{
    const double busy_s = k->ideal_s - fixed_s;
    const double mean = k->pages / busy_s;
    if (k->ctas <= m->sms || k->heavy_sms * k->sm_rate > mean)
        return smaller(mean, m->flash_rate);
    const double light_s = busy_s - (k->heavy - k->light) / k->sm_rate;
    return smaller(larger(mean, k->active * k->light / light_s), m->flash_rate);
}

struct sc_hbf_load sc_hbf_load(const struct sc_hbf_kernel *kernel, const struct sc_hbf_machine *m,
                               double fixed_s)
{
    const double per_cta = kernel->pages / kernel->ctas;
    const double waves = round_down(kernel->ctas / m->sms);
    const double rest = kernel->ctas - waves * m->sms;
    struct sc_hbf_load k = { .pages = kernel->pages,
                             .ctas = kernel->ctas,
                             .ideal_s = kernel->ideal_s,
                             .active = smaller(kernel->ctas, m->sms),
                             .window = m->demand_window * kernel->tile_columns / 128.0 };
    const double main_ctas = kernel->ctas - kernel->side_ctas, idle = m->sms - main_ctas;
    if (kernel->side_ctas > idle && idle > 0.0) {
        /* SMs without a main CTA share those of the side GEMMs, as they come free. */
        const double main_pages = (kernel->pages - kernel->side_pages) / main_ctas;
        const double side_pages = kernel->side_pages / idle;
        const bool even = side_pages >= main_pages;
        k.side_ctas = kernel->side_ctas;
        k.side_pages = kernel->side_pages;
        k.light = even ? kernel->pages / m->sms : side_pages;
        k.heavy = even ? k.light : main_pages;
        k.heavy_sms = even ? m->sms : main_ctas;
        k.late_pages = kernel->side_pages * (1.0 - idle / kernel->side_ctas);
    } else if (kernel->ctas <= m->sms) {
        k.light = k.heavy = per_cta;
        k.heavy_sms = kernel->ctas;
    } else {
        k.light = waves * per_cta;
        k.heavy = rest > 0.0 ? (waves + 1.0) * per_cta : k.light;
        k.heavy_sms = rest > 0.0 ? rest : m->sms;
        k.late_pages = (kernel->ctas - m->sms) * per_cta;
    }
    k.mean_rate = k.pages / (k.ideal_s - fixed_s);
    const double intake = m->sm_rate * (kernel->tile_columns > 128.0 ? m->sm_rate_wide : 1.0);
    k.sm_rate = larger(smaller(intake, k.window / m->turnaround_s), /* its window per latency */
                       k.heavy / (k.ideal_s - fixed_s));
    k.supply = smaller(supply_rate(&k, m, fixed_s), kernel->pages / kernel->compute_s);
    k.drain = smaller(larger(k.supply, smaller(m->l2_rate, m->flash_rate)),
                      kernel->pages / kernel->compute_s);
    return k;
}

static void fill_costs(const struct sc_hbf *s, const struct sc_hbf_mechanisms *mechanisms,
                       const struct sc_hbf_machine *m, struct sc_hbf_answer *a)
{
    const struct sc_silicon_cost cost = sc_silicon_cost(&(struct sc_silicon_request){
        .buffer_bytes = mechanisms->has_buffer ? s->buffer_bytes : 0.0,
        .stacks = s->stacks,
        .in_flight_pages = m->flash_rate * m->latency_s,
        .page_bytes = s->page_bytes,
        .tracking_entries = mechanisms->tracks_pages ? s->sshr_entries : 0.0,
        .sms = s->sms,
        .node_m = s->buffer_node_m,
        .utilisation = smaller(1.0, a->hbf_utilisation),
    });
    a->buffer_area_m2 = cost.buffer_area_m2;
    a->tracking_area_m2 = cost.tracking_area_m2;
    a->leakage_w = cost.leakage_w;
    a->dynamic_w = cost.dynamic_w;
    a->buffer_access_s = mechanisms->has_buffer ? cost.access_s : (double)NAN;
    /* Weights only: cache traffic of keys and values is not counted here. */
    const double step_j = s->tensor_parallel *
                          (a->time_s * (s->die_power_w + cost.leakage_w + cost.dynamic_w) +
                           a->weight_bytes * 8.0 * s->hbf_energy_j_per_bit);
    a->energy_per_token_j = step_j / sc_hbf_tokens(s);
    a->edp_js = a->energy_per_token_j * a->time_s;
}

void sc_hbf_close(const struct sc_hbf *scenario, const struct sc_hbf_mechanisms *mechanisms,
                  const struct sc_hbf_machine *machine, const struct sc_hbf_account *account,
                  struct sc_hbf_answer *answer)
{
    const double stall_s = account->access_s + account->order_s + account->capacity_s;
    const double rate = account->pages / account->time_s;
    const double page = scenario->page_bytes;
    *answer = (struct sc_hbf_answer){
        .slowdown = account->time_s / account->ideal_s,
        .performance = account->ideal_s / account->time_s,
        .time_s = account->time_s,
        .ideal_time_s = account->ideal_s,
        .layer_time_s = account->time_s / scenario->layers,
        .bound = account->bound,
        .stall_free_share = 1.0 - stall_s / account->time_s,
        .access_stall_share = account->access_s / account->time_s,
        .order_stall_share = account->order_s / account->time_s,
        .capacity_stall_share = account->capacity_s / account->time_s,
        .hbf_utilisation = rate * page / scenario->hbf_bandwidth_bytes_per_s,
        .bandwidth_bytes_per_s = rate * page,
        .in_flight_needed_bytes = scenario->hbf_bandwidth_bytes_per_s * scenario->latency_s,
        .in_flight_bytes = account->in_flight_page_s / account->time_s * page,
        .tracking_entries_per_sm = account->entries,
        .discarded_share = account->discarded / account->pages,
        .refetched_share = account->refetched / account->pages,
        .load_to_use_s = isnan(account->load_to_use_s)
                             ? scenario->hbm_latency_s +
                                   account->missed / account->pages *
                                       (machine->latency_s - scenario->hbm_latency_s)
                             : account->load_to_use_s,
        .useful_lifetime_s = !mechanisms->has_buffer ? (double)NAN
                             : isnan(account->useful_s)
                                 ? scenario->hbm_latency_s + account->active_s / account->pages
                                 : account->useful_s,
        .residency_s = !mechanisms->has_buffer       ? (double)NAN
                       : isnan(account->residency_s) ? machine->slots / rate
                                                     : account->residency_s,
        .weight_bytes = account->pages * page,
    };
    fill_costs(scenario, mechanisms, machine, answer);
}
