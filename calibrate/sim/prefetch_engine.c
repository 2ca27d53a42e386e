/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Warps, their schedulers, and the clock. */
#include "sim/prefetch_engine.h"

#include <math.h>
#include <stdlib.h>

#include "sim/event.h"
#include "sim/prefetch_state.h"

/* Loads that may wait for the port before a warp with another has to. */
enum { PORT_QUEUE = 8 };

/* ---- Waking ---- */

static void wake_at(struct engine *e, unsigned warp, uint64_t cycle)
{
    uint64_t at = cycle > e->now ? cycle : e->now + 1;
    if (at - e->now >= WARP_WHEEL)
        at = e->now + WARP_WHEEL - 1;
    const size_t slot = at % WARP_WHEEL;
    e->wheel[slot] |= UINT64_C(1) << warp;
    e->wheel_slots[slot / 64] |= UINT64_C(1) << (slot % 64);
}

static void wake_due(struct engine *e)
{
    const size_t slot = e->now % WARP_WHEEL;
    const uint64_t due = e->wheel[slot];
    if (due == 0)
        return;
    e->wheel[slot] = 0;
    e->wheel_slots[slot / 64] &= ~(UINT64_C(1) << (slot % 64));
    e->ready |= due;
    e->gap &= ~due;
    e->loading &= ~due;
    e->at_port &= ~due;
}

static uint64_t next_wake(const struct engine *e)
{
    const size_t from = (e->now + 1) % WARP_WHEEL, words = WARP_WHEEL / 64;
    for (size_t i = 0; i <= words; i++) {
        const size_t word = (from / 64 + i) % words;
        uint64_t bits = e->wheel_slots[word];
        if (i == 0)
            bits &= ~UINT64_C(0) << (from % 64);
        if (bits != 0) {
            const size_t slot = word * 64 + (size_t)__builtin_ctzll(bits);
            return e->now + 1 + (slot + WARP_WHEEL - from) % WARP_WHEEL;
        }
    }
    return UINT64_MAX;
}

/* ---- Loads in flight ---- */

static struct flight *oldest(struct warp *w)
{
    return &w->flight[w->first];
}

static uint64_t to_ps(const struct engine *e, uint64_t cycle)
{
    return (uint64_t)((double)cycle * 1e12 / e->s->clock_hz + 0.5);
}

static void record(const struct engine *e, const struct flight *f)
{
    const struct sc_sim_record record = {
        .kernel = "loop",
        .unit = f->number,
        .asked_ps = to_ps(e, f->since),
        .arrived_ps = to_ps(e, f->ready),
        .first_use_ps = to_ps(e, e->now),
        .last_use_ps = to_ps(e, e->now),
        .evicted_ps = SC_SIM_NEVER_PS,
    };
    e->options->record(&record, e->options->context);
}

static void retire(struct engine *e, struct warp *w)
{
    const struct flight *f = oldest(w);
    if (e->options->record != NULL)
        record(e, f);
    e->r->load_latency += (double)(f->ready - f->since);
    e->r->loads++;
    w->first = (uint16_t)((w->first + 1) % LOADS_IN_FLIGHT);
    w->count--;
}

/* Whether the next instruction has what it needs; else puts the warp to sleep. */
static bool has_data(struct engine *e, unsigned warp, uint32_t instruction)
{
    struct warp *w = &e->warps[warp];
    while (w->count > 0 && (oldest(w)->needed_at <= instruction || w->count == LOADS_IN_FLIGHT)) {
        const struct flight *f = oldest(w);
        if (f->missing > 0 || f->ready > e->now) {
            e->ready &= ~(UINT64_C(1) << warp);
            e->loading |= UINT64_C(1) << warp;
            if (f->missing == 0)
                wake_at(e, warp, f->ready);
            return false;
        }
        retire(e, w);
    }
    return true;
}

void prefetch_part_arrived(struct engine *e, uint32_t part)
{
    const unsigned flight = (part >> e->part_bits) % LOADS_IN_FLIGHT;
    const unsigned warp = (part >> e->part_bits) / LOADS_IN_FLIGHT;
    struct warp *w = &e->warps[warp];
    struct flight *f = &w->flight[flight];
    f->missing--;
    if (f->ready < e->now)
        f->ready = e->now;
    if (f->missing == 0 && flight == w->first && (e->loading >> warp & 1) != 0) {
        if (f->ready > e->now) {
            wake_at(e, warp, f->ready);
            return;
        }
        e->loading &= ~(UINT64_C(1) << warp);
        e->ready |= UINT64_C(1) << warp;
    }
}

/* ---- CTAs ---- */

/* Of a trace: the warp is at that instruction, or at what follows its last. */
static void go_to(const struct engine *e, struct warp *w, uint32_t access)
{
    w->access = access;
    if (access == SC_WARP_TRACE_NONE) {
        w->compute = w->stream != NULL ? w->stream->compute : 0;
        return;
    }
    const uint32_t compute = e->kernel.trace->accesses[access].compute;
    w->compute = compute != SC_WARP_TRACE_UNTOLD ? compute : e->kernel.body.compute;
}

static void start_warp(struct engine *e, unsigned warp, unsigned cta)
{
    struct warp *w = &e->warps[warp];
    const struct sc_warp_trace *trace = e->kernel.trace;
    const unsigned own = warp % e->kernel.body.cta_warps;
    *w = (struct warp){
        .number = sc_prefetch_warp(&e->kernel.body, cta, own),
        .order = cta * e->kernel.body.cta_warps + own,
        .age = e->ages++,
        .stores = 0,
        .cta = (uint16_t)(warp / e->kernel.body.cta_warps),
        .running = true,
        .access = SC_WARP_TRACE_NONE,
        .stream = trace != NULL ? sc_warp_trace_stream(trace, cta, own) : NULL,
    };
    if (w->stream != NULL) {
        w->loads = w->stream->loads;
        go_to(e, w, w->stream->first);
    }
    e->ready |= UINT64_C(1) << warp;
    e->running++;
}

static void start_cta(struct engine *e, unsigned slot)
{
    if (e->next_cta == e->kernel.body.ctas)
        return;
    const unsigned cta = e->next_cta++;
    e->barrier_count[slot] = 0;
    e->cta_running[slot] = e->kernel.body.cta_warps;
    for (unsigned i = 0; i < e->kernel.body.cta_warps; i++)
        start_warp(e, slot * e->kernel.body.cta_warps + i, cta);
}

static void release_barrier(struct engine *e, unsigned slot)
{
    if (e->barrier_count[slot] == 0 || e->barrier_count[slot] < e->cta_running[slot])
        return;
    e->barrier_count[slot] = 0;
    const unsigned warps = e->kernel.body.cta_warps;
    const uint64_t cta = (warps == 64 ? ~UINT64_C(0) : (UINT64_C(1) << warps) - 1)
                         << (slot * warps);
    e->ready |= e->at_barrier & cta;
    e->at_barrier &= ~cta;
}

static void wait_at_barrier(struct engine *e, unsigned warp)
{
    const unsigned slot = e->warps[warp].cta;
    e->ready &= ~(UINT64_C(1) << warp);
    e->at_barrier |= UINT64_C(1) << warp;
    e->barrier_count[slot]++;
    release_barrier(e, slot);
}

static void end_warp(struct engine *e, unsigned warp)
{
    struct warp *w = &e->warps[warp];
    w->running = false;
    e->ready &= ~(UINT64_C(1) << warp);
    e->running--;
    const unsigned slot = w->cta;
    if (--e->cta_running[slot] == 0)
        start_cta(e, slot);
    else
        release_barrier(e, slot);
}

/* ---- Instructions ---- */

static void sleep_until(struct engine *e, unsigned warp, uint64_t *why, uint64_t cycle)
{
    e->ready &= ~(UINT64_C(1) << warp);
    *why |= UINT64_C(1) << warp;
    wake_at(e, warp, cycle);
}

/* Whether the load/store port takes another access, and L1 has an MSHR for each of its sectors. */
static bool port_takes(struct engine *e, unsigned warp, unsigned sectors)
{
    if (e->port_free > e->now + PORT_QUEUE) {
        sleep_until(e, warp, &e->at_port, e->port_free - PORT_QUEUE);
        return false;
    }
    if (e->mshr_used + sectors > e->mshr_size) {
        e->ready &= ~(UINT64_C(1) << warp);
        e->at_mshr |= UINT64_C(1) << warp;
        if (sectors < e->mshrs_wanted)
            e->mshrs_wanted = sectors;
        return false;
    }
    return true;
}

static void wake_for_mshrs(struct engine *e)
{
    if (e->at_mshr == 0 || e->mshr_used + e->mshrs_wanted > e->mshr_size)
        return;
    e->ready |= e->at_mshr;
    e->at_mshr = 0;
    e->mshrs_wanted = UINT32_MAX;
}

static void take_port(struct engine *e)
{
    e->port_free = (e->port_free > e->now ? e->port_free : e->now) + 1;
}

/* Data is waited for in the order of the loads: none before this is needed later. */
static void need_earlier(struct warp *w, uint32_t needed)
{
    for (unsigned i = w->count; i > 0; i--) {
        struct flight *f = &w->flight[(w->first + i - 1U) % LOADS_IN_FLIGHT];
        if (f->needed_at <= needed)
            return;
        f->needed_at = needed;
    }
}

/* Returns the load's place among those in flight. */
static unsigned start_load(struct engine *e, struct warp *w, uint32_t needed, uint32_t number)
{
    const unsigned flight = (unsigned)(w->first + w->count) % LOADS_IN_FLIGHT;
    need_earlier(w, needed);
    w->count++;
    w->flight[flight] =
        (struct flight){ .needed_at = needed, .number = number, .since = e->now };
    return flight;
}

/* Its lines have been asked for. */
static void end_load(struct engine *e, unsigned warp, unsigned flight, unsigned load,
                     uint64_t address)
{
    e->warps[warp].flight[flight].ready = e->port_free - 1 + e->l1_latency;
    prefetch_front_load(e, warp, load, address);
}

/* ---- Instructions of a loop ---- */

static void issue_load(struct engine *e, unsigned warp)
{
    const struct sc_prefetch_body *b = &e->kernel.body;
    struct warp *w = &e->warps[warp];
    const unsigned load = w->load;
    const uint64_t address = sc_prefetch_address(b, load, w->number, w->iteration);
    const uint64_t sector = address / SC_PREFETCH_SECTOR;
    const unsigned mask = ((1U << b->sectors) - 1) << (sector % SC_PREFETCH_SECTORS);
    uint32_t needed = w->done + (uint32_t)e->s->dependence;
    const uint32_t stores = w->done - w->position + b->instructions - b->stores;
    if (b->load[load].stored && stores < needed)
        needed = stores;
    const unsigned flight =
        start_load(e, w, needed, (w->order * b->iterations + w->iteration) * b->loads + load);
    take_port(e);
    prefetch_l1_load(e, line_of(sector), mask & 15U, warp, flight);
    if (mask > 15U) {
        e->port_free++;
        prefetch_l1_load(e, line_of(sector) + 1, mask >> SC_PREFETCH_SECTORS, warp, flight);
    }
    end_load(e, warp, flight, load, address);
    w->load++;
    w->compute = b->compute;
}

static void issue_store(struct engine *e, unsigned warp)
{
    const struct sc_prefetch_body *b = &e->kernel.body;
    struct warp *w = &e->warps[warp];
    const unsigned load = b->stores - w->stores;
    const uint64_t sector =
        sc_prefetch_address(b, load, w->number, w->iteration) / SC_PREFETCH_SECTOR;
    const unsigned mask = ((1U << b->sectors) - 1) << (sector % SC_PREFETCH_SECTORS);
    take_port(e);
    prefetch_l1_store(e, line_of(sector), mask & 15U);
    if (mask > 15U)
        prefetch_l1_store(e, line_of(sector) + 1, mask >> SC_PREFETCH_SECTORS);
    w->stores--;
}

/* False if the warp has to wait after all. */
static bool issue_of_loop(struct engine *e, unsigned warp)
{
    const struct sc_prefetch_body *b = &e->kernel.body;
    struct warp *w = &e->warps[warp];
    if (!port_takes(e, warp, b->sectors))
        return false;
    if (w->load < b->loads) {
        issue_load(e, warp);
        if (w->load == b->loads)
            w->stores = (uint16_t)b->stores;
    } else {
        issue_store(e, warp);
    }
    return true;
}

/* Ends an iteration; true if the warp goes on at once. */
static bool end_iteration(struct engine *e, unsigned warp)
{
    const struct sc_prefetch_body *b = &e->kernel.body;
    struct warp *w = &e->warps[warp];
    w->position = 0;
    w->load = 0;
    w->iteration++;
    if (w->iteration == b->iterations || b->barrier_period == 0 ||
        w->iteration % b->barrier_period != 0)
        return true;
    wait_at_barrier(e, warp);
    return false;
}

/* ---- Instructions of a trace ---- */

static void replay_load(struct engine *e, unsigned warp, const struct sc_warp_access *a)
{
    const uint64_t *parts = &e->kernel.trace->parts[a->part];
    struct warp *w = &e->warps[warp];
    const uint32_t dependence = a->dependence > 0 ? a->dependence : (uint32_t)e->s->dependence;
    const unsigned flight = start_load(e, w, w->done + dependence, w->loads++);
    for (unsigned i = 0; i < a->parts; i++) {
        take_port(e);
        prefetch_l1_load(e, line_of_part(parts[i]), mask_of_part(parts[i]), warp, flight);
    }
    e->front.access[a->load] = a;
    end_load(e, warp, flight, a->load, a->address);
}

/* Written through, a line's worth of sectors at a time. */
static void replay_store(struct engine *e, const struct sc_warp_access *a)
{
    const uint64_t *parts = &e->kernel.trace->parts[a->part];
    take_port(e);
    e->port_free += (a->sectors - 1U) / SC_PREFETCH_SECTORS;
    for (unsigned i = 0; i < a->parts; i++)
        prefetch_l1_store(e, line_of_part(parts[i]), mask_of_part(parts[i]));
}

/* False if the warp has to wait after all. */
static bool issue_of_trace(struct engine *e, unsigned warp)
{
    struct warp *w = &e->warps[warp];
    const struct sc_warp_access *a = &e->kernel.trace->accesses[w->access];
    if (!port_takes(e, warp, a->sectors))
        return false;
    if (a->op == SC_WARP_LOAD)
        replay_load(e, warp, a);
    else
        replay_store(e, a);
    go_to(e, w, a->next);
    return true;
}

/* A barrier is no instruction: the warp meets it after the one before. */
static bool meets_barrier(struct engine *e, unsigned warp)
{
    struct warp *w = &e->warps[warp];
    if (w->compute > 0 || w->access == SC_WARP_TRACE_NONE)
        return false;
    const struct sc_warp_access *a = &e->kernel.trace->accesses[w->access];
    if (a->op != SC_WARP_BARRIER)
        return false;
    go_to(e, w, a->next);
    wait_at_barrier(e, warp);
    return true;
}

/* ---- Any instruction ---- */

static void go_on(struct engine *e, unsigned warp)
{
    sleep_until(e, warp, &e->gap, e->now + e->issue_gap);
}

/* Ends the warp as soon as all its data is there; false, as it issues nothing. */
static bool run_out(struct engine *e, unsigned warp)
{
    if (has_data(e, warp, UINT32_MAX))
        end_warp(e, warp);
    return false;
}

static bool issue_next_of_loop(struct engine *e, unsigned warp)
{
    struct warp *w = &e->warps[warp];
    if (w->iteration == e->kernel.body.iterations)
        return run_out(e, warp);
    if (!has_data(e, warp, w->done))
        return false;
    if (w->compute > 0)
        w->compute--;
    else if (!issue_of_loop(e, warp))
        return false;
    w->position++;
    w->done++;
    e->r->instructions++;
    if (w->position < e->kernel.body.instructions || end_iteration(e, warp))
        go_on(e, warp);
    return true;
}

/* Apart, so that the registers of the loop over warps are not spent on it. */
static __attribute__((noinline)) bool issue_next_of_trace(struct engine *e, unsigned warp)
{
    struct warp *w = &e->warps[warp];
    if (meets_barrier(e, warp))
        return false;
    if (w->compute == 0 && w->access == SC_WARP_TRACE_NONE)
        return run_out(e, warp);
    if (!has_data(e, warp, w->done))
        return false;
    if (w->compute > 0)
        w->compute--;
    else if (!issue_of_trace(e, warp))
        return false;
    w->done++;
    e->r->instructions++;
    if (!meets_barrier(e, warp))
        go_on(e, warp);
    return true;
}

/* Issues the warp's next instruction; false if it has to wait after all. */
static bool issue(struct engine *e, unsigned warp)
{
    return e->kernel.trace != NULL ? issue_next_of_trace(e, warp) : issue_next_of_loop(e, warp);
}

/* ---- Schedulers ---- */

static unsigned pick(const struct engine *e, unsigned scheduler, uint64_t candidates)
{
    const int last = e->last[scheduler];
    if (e->s->scheduler == SC_PREFETCH_ROUND_ROBIN) {
        const uint64_t after = last < 0 || last == 63 ? candidates
                                                      : candidates & (~UINT64_C(0) << (last + 1));
        return (unsigned)__builtin_ctzll(after != 0 ? after : candidates);
    }
    if (last >= 0 && (candidates >> last & 1) != 0)
        return (unsigned)last;
    unsigned best = (unsigned)__builtin_ctzll(candidates);
    for (uint64_t rest = candidates & (candidates - 1); rest != 0; rest &= rest - 1) {
        const unsigned warp = (unsigned)__builtin_ctzll(rest);
        if (e->warps[warp].age < e->warps[best].age)
            best = warp;
    }
    return best;
}

/* Returns a mask of the schedulers that have issued. */
static unsigned issue_all(struct engine *e)
{
    unsigned which = 0;
    const unsigned width = (unsigned)e->s->issue_width;
    for (unsigned k = 0; k < width; k++) {
        uint64_t candidates;
        while ((candidates = e->ready & e->scheduled[k]) != 0) {
            const unsigned warp = pick(e, k, candidates);
            if (issue(e, warp)) {
                e->last[k] = (int)warp;
                which |= 1U << k;
                break;
            }
        }
    }
    return which;
}

/* ---- The clock ---- */

static double share(uint64_t part, uint64_t other)
{
    const double a = (double)__builtin_popcountll(part), b = (double)__builtin_popcountll(other);
    return a / (a + b);
}

/* What `span` cycles of a scheduler are due to that has not issued. */
static void account_wait(struct engine *e, uint64_t warps, double span, bool queued)
{
    const uint64_t loading = e->loading & warps, at_barrier = e->at_barrier & warps;
    if (((e->at_port | e->at_mshr) & warps) != 0) {
        e->r->queue += span;
    } else if ((loading | at_barrier) == 0) {
        e->r->issue += span; /* a warp or CTA starts */
    } else {
        const double barrier = share(at_barrier, loading) * span;
        e->r->barrier += barrier;
        *(queued ? &e->r->bandwidth : &e->r->latency) += span - barrier;
    }
}

/* Shares the cycles out among the schedulers that have warps. */
static void account(struct engine *e, unsigned issued, uint64_t cycles)
{
    const unsigned width = (unsigned)e->s->issue_width;
    const uint64_t waiting = e->loading | e->at_barrier | e->at_port | e->at_mshr;
    const uint64_t here = e->ready | e->gap | waiting;
    unsigned issues = 0, waits = 0;
    for (unsigned k = 0; k < width; k++) {
        if ((issued >> k & 1) != 0 || ((e->ready | e->gap) & e->scheduled[k]) != 0)
            issues++;
        else
            waits += (here & e->scheduled[k]) != 0;
    }
    if (waits == 0) {
        e->r->issue += (double)cycles;
        return;
    }
    const double span = (double)cycles / (issues + waits);
    const uint64_t backlog = prefetch_memory_backlog(&e->memory, e->now * PREFETCH_TICKS);
    e->r->issue += issues * span;
    for (unsigned k = 0; k < width; k++) {
        const uint64_t warps = e->scheduled[k];
        if ((issued >> k & 1) == 0 && ((e->ready | e->gap) & warps) == 0 && (here & warps) != 0)
            account_wait(e, warps, span, backlog > e->memory.l2_latency / 2);
    }
}

static void cycle(struct engine *e)
{
    prefetch_l1_fills(e);
    wake_due(e);
    wake_for_mshrs(e);
    const unsigned issued = issue_all(e);
    bool prefetching = false;
    if (e->port_free <= e->now && e->back.queue_count > 0)
        prefetching = prefetch_back_issue(e);
    else
        prefetching = e->back.queue_count > 0;
    uint64_t next = e->now + 1;
    if (e->ready == 0 && !prefetching) {
        const uint64_t fill = prefetch_l1_next_fill(e), wake = next_wake(e);
        next = fill < wake ? fill : wake;
        if (next == UINT64_MAX)
            next = e->now + 1;
    }
    account(e, issued, next - e->now);
    e->now = next;
}

/* ---- A run ---- */

static enum sc_status init(struct engine *e)
{
    const unsigned width = (unsigned)e->s->issue_width;
    /* Looking into the registers first takes a cycle. */
    e->l1_latency = (uint32_t)e->s->l1_latency_cycles + e->m.registers;
    e->issue_gap = (uint32_t)e->s->issue_gap_cycles;
    e->mshrs_wanted = UINT32_MAX;
    const unsigned sectors =
        e->kernel.trace != NULL ? e->kernel.trace->sectors : e->kernel.body.sectors;
    while (1U << e->part_bits < sectors)
        e->part_bits++;
    for (unsigned i = 0; i < e->kernel.body.warps; i++)
        e->scheduled[i % width] |= UINT64_C(1) << i;
    for (unsigned i = 0; i < 4; i++)
        e->last[i] = -1;
    for (unsigned i = 0; i < LOADS; i++)
        e->front.after[i] = PREFETCH_NONE;
    for (unsigned slot = 0; slot < e->kernel.body.warps / e->kernel.body.cta_warps; slot++)
        start_cta(e, slot);
    const enum sc_status status = prefetch_l1_init(e);
    return status == SC_OK ? prefetch_back_init(e) : status;
}

static uint64_t still_unused(const struct engine *e)
{
    uint64_t unused = e->abandoned + e->unused_sectors + e->evicted.count + e->aside.count;
    for (uint32_t i = 0; i < e->back.register_count; i++)
        for (unsigned k = 0; k < SC_PREFETCH_SECTORS; k++)
            unused += e->back.registers[i].used && e->back.registers[i].state[k] == READY;
    for (uint32_t i = 0; i < MSHR_BUCKETS; i++)
        for (uint16_t k = e->mshr_bucket[i]; k != PREFETCH_NONE; k = e->mshrs[k].next)
            unused += (unsigned)__builtin_popcount(e->mshrs[k].prefetch);
    return unused;
}

/* Entries x cycles that lines still under way have been there. */
static uint64_t still_waiting(const struct engine *e)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < MSHR_BUCKETS; i++)
        for (uint16_t k = e->mshr_bucket[i]; k != PREFETCH_NONE; k = e->mshrs[k].next)
            sum += e->now - e->mshrs[k].since;
    return sum;
}

static uint64_t waiting_in_l1(const struct engine *e)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < (size_t)e->l1.sets * e->l1.ways; i++)
        sum += (unsigned)__builtin_popcount(e->l1.lines[i].waiting);
    return sum;
}

static const char *broken_identity(struct engine *e)
{
    const struct prefetch_result *r = e->r;
    const double cycles = r->issue + r->latency + r->bandwidth + r->barrier + r->queue;
    if (r->issued != r->on_time + r->late + r->early + r->dropped + r->unused)
        return "prefetches issued are not on time + late + early + dropped + unused";
    if (r->accesses != r->hits + r->misses + r->late + r->merged)
        return "loaded sectors are not hits + misses + late + merged";
    if (r->loads != prefetch_kernel_loads(&e->kernel))
        return "loads are not those of the kernel";
    if (fabs(cycles - (double)r->cycles) > 1e-6 * (double)r->cycles)
        return "the shares of time do not sum to it";
    if (e->unused_sectors != waiting_in_l1(e))
        return "the throttle's count is not what L1 holds";
    if (r->little_error > 0.005)
        return "Little's law does not hold at a queue";
    return NULL;
}

static void finish(struct engine *e)
{
    struct prefetch_result *r = e->r;
    r->cycles = e->now;
    r->unused = still_unused(e);
    r->l2_reads = e->memory.l2_port.sectors;
    r->dram_reads = e->memory.dram.sectors - e->memory.written;
    r->best_distance = e->m.tuner || e->m.own_tuner ? prefetch_back_mean_best(e)
                       : r->on_time > 0 ? (double)r->on_time_distance / (double)r->on_time
                                        : 0.0;
    if (!e->options->check)
        return;
    e->mshr_area += (e->now - e->mshr_changed) * e->mshr_used;
    const double waited = (double)(e->mshr_waited + still_waiting(e));
    r->little_error = fmax(prefetch_memory_little(&e->memory),
                           fabs((double)e->mshr_area - waited) / fmax(1.0, waited));
    r->fault = broken_identity(e);
}

enum sc_status prefetch_engine_run(const struct sc_prefetch *scenario,
                                   const struct sc_prefetch_mechanisms *mechanisms,
                                   struct sc_sim_rng rng, bool check,
                                   struct prefetch_result *result)
{
    const struct sc_sim_options options = { .check = check };
    return prefetch_engine_trace(scenario, mechanisms, rng, &options, result);
}

enum sc_status prefetch_engine_trace(const struct sc_prefetch *scenario,
                                     const struct sc_prefetch_mechanisms *mechanisms,
                                     struct sc_sim_rng rng, const struct sc_sim_options *options,
                                     struct prefetch_result *result)
{
    struct engine *e = calloc(1, sizeof *e);
    *result = (struct prefetch_result){ 0 };
    if (e == NULL)
        return SC_ENOSPACE;
    e->s = scenario;
    e->m = *mechanisms;
    e->machine = sc_prefetch_machine(scenario, mechanisms);
    e->kernel = prefetch_kernel(scenario, options->replay);
    e->r = result;
    e->options = options;
    enum sc_status status = init(e);
    if (status == SC_OK)
        status = prefetch_memory_init(&e->memory, scenario, mechanisms, &e->kernel, rng,
                                      options->check);
    while (status == SC_OK && e->running > 0 && !e->failed)
        cycle(e);
    if (e->failed || e->memory.failed)
        status = SC_ENOSPACE;
    if (status == SC_OK)
        finish(e);
    if (result->fault != NULL)
        status = SC_EDOMAIN;
    prefetch_memory_fini(&e->memory);
    prefetch_l1_fini(e);
    prefetch_back_fini(e);
    free(e);
    return status;
}
