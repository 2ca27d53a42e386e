/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/prefetch_kernel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct prefetch_kernel prefetch_kernel(const struct sc_prefetch *s,
                                       const struct sc_warp_trace *trace)
{
    struct prefetch_kernel k = { .body = sc_prefetch_body(s), .trace = trace };
    if (trace != NULL)
        k.body.ctas = (unsigned)trace->cta_count;
    return k;
}

uint64_t prefetch_kernel_loads(const struct prefetch_kernel *k)
{
    const struct sc_prefetch_body *b = &k->body;
    return k->trace != NULL ? k->trace->loads
                            : (uint64_t)b->ctas * b->cta_warps * b->iterations * b->loads;
}

/* ---- A trace instead of the descriptor ---- */

static const double instructions_max = 1e8;

static enum sc_status refuse(struct sc_error *error, const char *field, double value,
                             const char *reason)
{
    if (error != NULL)
        *error = (struct sc_error){ .field = field, .value = value, .reason = reason };
    return SC_EDOMAIN;
}

enum sc_status prefetch_kernel_fit(const struct sc_prefetch *s, const struct sc_warp_trace *trace,
                                   struct sc_prefetch *fitted, struct sc_error *error)
{
    const enum sc_status status = sc_scenario_check(&sc_prefetch_system, s, error);
    const double cta_warps = trace->cta_warps, warps = fmin(s->warps, s->max_warps);
    if (status != SC_OK)
        return status;
    if (s->warps > s->max_warps)
        return refuse(error, "warps", s->warps, "is more than max_warps");
    if (warps < cta_warps)
        return refuse(error, "warps", s->warps, "does not hold a CTA of the trace");
    if (s->mshrs < trace->sectors)
        return refuse(error, "mshrs", s->mshrs,
                      "is fewer than the sectors that one instruction of the trace touches");
    if ((double)trace->instructions + (double)trace->untold * floor(s->compute + 0.5) >
        instructions_max)
        return refuse(error, "compute", s->compute,
                      "makes more than 1e8 instructions with those of the trace");
    *fitted = *s;
    fitted->cta_warps = cta_warps;
    fitted->warps = floor(warps / cta_warps) * cta_warps;
    fitted->ctas = fitted->iterations = fitted->loads = fitted->arrays = 1;
    fitted->store_share = fitted->barriers = fitted->zero_share = fitted->irregular_share = 0;
    return sc_prefetch_check(fitted, error);
}

/* ---- The descriptor as a trace ---- */

/* Rows that a loop is written as; computes are carried over to the instruction behind them. */
struct recording {
    const struct sc_prefetch_body *body;
    struct sc_warp_trace *trace;
    uint64_t cta;
    unsigned warp, compute;
    uint32_t dependence;
};

static enum sc_warp_fault add(struct recording *r, enum sc_warp_op op, const char *name,
                              uint64_t address, uint32_t dependence)
{
    const bool touches = op == SC_WARP_LOAD || op == SC_WARP_STORE;
    const struct sc_warp_instruction in = {
        .cta = r->cta,
        .warp = r->warp,
        .name = name,
        .op = op,
        .address = &address,
        .lanes = touches ? 1 : 0,
        .lane_bytes = r->body->sectors * SC_PREFETCH_SECTOR,
        .compute = r->compute,
        .dependence = (uint16_t)dependence,
    };
    r->compute = 0;
    return sc_warp_trace_add(r->trace, &in);
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static enum sc_warp_fault record_iteration(struct recording *r, uint64_t number, unsigned iteration)
{
    const struct sc_prefetch_body *b = r->body;
    enum sc_warp_fault fault = SC_WARP_FINE;
    for (unsigned load = 0; load < b->loads && fault == SC_WARP_FINE; load++) {
        const uint32_t stores = b->instructions - b->stores - load * (1 + b->compute);
        char name[16];
        (void)snprintf(name, sizeof name, "%u", load);
        fault = add(r, SC_WARP_LOAD, name, sc_prefetch_address(b, load, number, iteration),
                    b->load[load].stored ? smaller(stores, r->dependence) : r->dependence);
        r->compute = b->compute;
    }
    for (unsigned load = 0; load < b->stores && fault == SC_WARP_FINE; load++)
        fault = add(r, SC_WARP_STORE, NULL, sc_prefetch_address(b, load, number, iteration), 0);
    if (fault == SC_WARP_FINE && b->barrier_period > 0 && iteration + 1 < b->iterations &&
        (iteration + 1) % b->barrier_period == 0)
        fault = add(r, SC_WARP_BARRIER, NULL, 0, 0);
    return fault;
}

static enum sc_warp_fault record_warps(struct recording *r)
{
    const struct sc_prefetch_body *b = r->body;
    enum sc_warp_fault fault = SC_WARP_FINE;
    for (unsigned cta = 0; cta < b->ctas; cta++)
        for (unsigned warp = 0; warp < b->cta_warps; warp++) {
            r->cta = cta;
            r->warp = warp;
            r->compute = 0;
            for (unsigned i = 0; i < b->iterations && fault == SC_WARP_FINE; i++)
                fault = record_iteration(r, sc_prefetch_warp(b, cta, warp), i);
            if (fault == SC_WARP_FINE && r->compute > 0)
                fault = add(r, SC_WARP_EXIT, NULL, 0, 0);
            if (fault != SC_WARP_FINE)
                return fault;
        }
    return fault;
}

/* Zeros from `first` up to `end`, run by run within each array; counts the runs. */
static enum sc_warp_fault record_zeros_of(struct recording *r, uint64_t first, uint64_t end,
                                          uint64_t *runs)
{
    const uint64_t array = UINT64_C(1) << 36, run = r->body->zero_run_bytes;
    enum sc_warp_fault fault = SC_WARP_FINE;
    while (first < end && fault == SC_WARP_FINE) {
        uint64_t next = (first / run + 1) * run;
        next = next < (first / array + 1) * array ? next : (first / array + 1) * array;
        next = next < end ? next : end;
        if (++*runs > SC_WARP_TRACE_ACCESSES)
            return SC_WARP_ACCESSES;
        if (sc_prefetch_is_zero(r->body, first / SC_PREFETCH_SECTOR))
            fault = sc_warp_trace_add_zeros(r->trace, first, next - 1);
        first = next;
    }
    return fault;
}

static int compare_parts(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Around all that is touched, as far as a prefetch may go: `reach` bytes to either side. */
static enum sc_warp_fault record_zeros(struct recording *r, uint64_t reach)
{
    const size_t count = r->trace->part_count;
    uint64_t *parts = malloc((count + 1) * sizeof *parts), runs = 0, end = 0;
    enum sc_warp_fault fault = SC_WARP_FINE;
    if (parts == NULL)
        return SC_WARP_NO_MEMORY;
    memcpy(parts, r->trace->parts, count * sizeof *parts);
    qsort(parts, count, sizeof *parts, compare_parts);
    for (size_t i = 0; i < count && fault == SC_WARP_FINE; i++) {
        const uint64_t line = (parts[i] >> SC_PREFETCH_SECTORS) * SC_PREFETCH_LINE;
        const uint64_t low =
            line > reach ? (line - reach) / SC_PREFETCH_LINE * SC_PREFETCH_LINE : 0;
        const uint64_t first = low > end ? low : end;
        end = line + SC_PREFETCH_LINE + reach / SC_PREFETCH_LINE * SC_PREFETCH_LINE;
        fault = record_zeros_of(r, first, end, &runs);
    }
    free(parts);
    return fault;
}

/* The furthest that a stride leads, also one from a CTA's warps to the next one's, and what a
 * line of zero metadata covers. */
static uint64_t reach_of(const struct sc_prefetch *s)
{
    const double cta_stride = fabs(s->warp_stride_bytes) * s->cta_warps * s->sms;
    const double stride = fmax(fmax(cta_stride, fabs(s->iteration_stride_bytes)),
                               fabs(s->load_stride_bytes));
    return (uint64_t)(stride * SC_PREFETCH_WARPS_MAX + s->zero_lines * SC_PREFETCH_LINE);
}

static enum sc_status refuse_recording(struct sc_error *error, const struct sc_prefetch_body *b,
                                       enum sc_warp_fault fault, bool zeros)
{
    if (fault == SC_WARP_NO_MEMORY) {
        (void)refuse(error, "--record", (double)NAN, "needs more memory than there is");
        return SC_ENOSPACE;
    }
    if (zeros)
        return refuse(error, "zero_run", (double)b->zero_run_bytes / SC_PREFETCH_SECTOR,
                      "makes more runs near the loads than a trace holds (16777216)");
    return refuse(error, "iterations", b->iterations,
                  "makes more loads and stores than a trace holds (16777216)");
}

static enum sc_status record(const void *scenario, struct sc_warp_trace **trace,
                             struct sc_error *error)
{
    const struct sc_prefetch *s = scenario;
    enum sc_status status = sc_prefetch_check(s, error);
    *trace = NULL;
    if (status != SC_OK)
        return status;
    const struct sc_prefetch_body body = sc_prefetch_body(s);
    struct recording r = { .body = &body, .trace = sc_warp_trace_create(),
                           .dependence = (uint32_t)s->dependence };
    enum sc_warp_fault fault = SC_WARP_NO_MEMORY, zeros = SC_WARP_FINE;
    if (r.trace != NULL)
        fault = record_warps(&r);
    if (fault == SC_WARP_FINE && s->zero_share > 0)
        zeros = record_zeros(&r, reach_of(s));
    if (fault == SC_WARP_FINE && zeros == SC_WARP_FINE &&
        sc_warp_trace_finish(r.trace) != SC_OK)
        fault = SC_WARP_NO_MEMORY;
    if (fault == SC_WARP_FINE && zeros == SC_WARP_FINE) {
        *trace = r.trace;
        return SC_OK;
    }
    sc_warp_trace_destroy(r.trace);
    return refuse_recording(error, &body, fault != SC_WARP_FINE ? fault : zeros,
                            zeros != SC_WARP_FINE);
}

const struct sc_replay prefetch_replay = {
    .preset = "kernel",
    .replaced = "loads arrays sectors warp_stride iteration_stride load_stride iterations "
                "cta_warps ctas working_set reuse_share zero_share zero_run zero_purity "
                "irregular_share footprint store_share barriers",
    .record = record,
};
