/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/hbf_engine.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- state ---- */

/* What a page is: one of the first, plus marks. */
enum {
    ABSENT,   /* in flash, not asked for */
    FLYING,   /* on its way */
    RESIDENT, /* in the buffer, not yet asked for */
    READING,  /* an SM is reading it */
    GONE,     /* read */
    LOST,     /* was in the buffer and left it unread */
    STATE = 7,
    WAITED = 8,  /* an SM waits for it */
    MISSED = 16, /* demand fetched it, past the buffer */
    RETRY = 32,  /* came to a full buffer before */
    TRACKED = 64, /* holds a tracking entry of its SM */
    HELD = 128   /* holds a slot */
};

enum { PAGES_MAX = 1 << 30 };
/* A run with more events than that does little but fetch and discard. */
enum { EVENTS_PER_PAGE = 20000, EVENTS_MAX = 10000000 };
static const uint32_t NO_CTA = UINT32_MAX;

/* Why an SM waits for the page at the head of its window. */
enum { CAUSE_NONE, CAUSE_ACCESS, CAUSE_ORDER, CAUSE_CAPACITY, CAUSES };

enum { EVENT_DEMAND, EVENT_STAGE, EVENT_RETIRE, EVENT_ARRIVE, EVENT_STREAM };

struct cursor {
    uint32_t cta, offset;
};

/* One page in the window of an SM. */
struct slot {
    uint64_t asked_ps;
    uint32_t page;
    uint8_t cause;
    bool ready;
};

struct sm {
    struct cursor demand, stage;
    uint32_t last_cta;
    struct slot *window; /* a ring of `size` */
    uint32_t size, head, used;
    uint32_t entries, held, first_demands; /* SSHRMax, U, F */
    double lead; /* pages ahead of demand, of a prefetcher that has one */
    uint32_t allowance;                    /* S0 */
    uint32_t demanded, staged;             /* positions in its stream */
    uint64_t service_ps, free_ps;          /* time to take in a page; when the last was */
    uint64_t stage_ps;                     /* earliest next STAGE */
    uint64_t finish_ps;
    bool retire_pending, stage_pending, done;
    uint64_t stall_ps[CAUSES];
};

/* Events that come in the order in which they were made need no heap. */
struct lane {
    struct lane_item {
        uint64_t time_ps;
        uint32_t page;
    } *items;
    uint32_t head, count, capacity; /* capacity is a power of two */
};

struct hbf_engine {
    const struct hbf_engine_input *in;
    struct sc_sim_events events;
    struct lane flights, fills, hits; /* arrivals; reads of pages waited for; of resident ones */
    enum sc_status failed;            /* in the middle: out of memory, or of the clock's range */
    uint64_t now_ps, handled;

    uint32_t pages, ctas, sm_count;
    uint32_t main_pages, main_ctas; /* the first ones; what is left belongs to side GEMMs */
    bool greedy;                    /* CTAs come to SMs as those come free */
    struct sm *sms;
    struct slot *slots;
    uint32_t *next_cta, *owner; /* of CTAs */
    uint32_t next_claim;
    uint8_t *state;
    uint64_t *arrived_ps;
    uint32_t *order; /* of a stream of the whole tensor */
    uint32_t order_at;
    size_t page_capacity, cta_capacity, sm_capacity, slot_capacity;

    /* flash */
    double flash_free_ps, flash_period_ps, latency_ps;
    double *subarray_free_ps;
    uint32_t channels, subarrays;
    uint64_t flying, flown;
    sc_sim_wide flight_area;
    uint64_t flight_changed_ps;
    double flight_sum_ps;

    /* L2 */
    double l2_free_ps, l2_fast_ps, l2_slow_ps, l2_congested;
    uint32_t reading;

    /* demand misses */
    uint32_t pool;
    uint32_t *waiting; /* a ring of pages that wait for a token */
    uint32_t waiting_head, waiting_count;
    size_t waiting_capacity;

    /* buffer */
    uint64_t slots_total, slots_used; /* used: unread pages, or reserved ones */
    uint64_t retries;                 /* on their way for the second time */
    uint32_t *resident;               /* arrivals in order: a stack, or the ring of a FIFO */
    size_t resident_capacity, resident_count;
    uint64_t arrivals;
    uint64_t kept;                    /* read, but still in the buffer */
    uint32_t *kept_ring;
    size_t kept_capacity, kept_head;
    uint64_t stream_flying, stream_window;

    struct sc_sim_rng rng;
    struct hbf_engine_result result;
    double load_sum_ps, useful_sum_ps, residency_sum_ps;
    uint64_t useful_count, residency_count;

    struct record {
        uint64_t asked_ps, first_use_ps, evicted_ps;
    } *records; /* only when asked for */
    size_t record_capacity;
};

struct hbf_engine *hbf_engine_create(void)
{
    struct hbf_engine *e = calloc(1, sizeof *e);
    if (e != NULL)
        sc_sim_events_init(&e->events);
    return e;
}

void hbf_engine_destroy(struct hbf_engine *e)
{
    if (e == NULL)
        return;
    sc_sim_events_fini(&e->events);
    free(e->flights.items);
    free(e->fills.items);
    free(e->hits.items);
    free(e->sms);
    free(e->slots);
    free(e->next_cta);
    free(e->owner);
    free(e->state);
    free(e->arrived_ps);
    free(e->order);
    free(e->subarray_free_ps);
    free(e->waiting);
    free(e->resident);
    free(e->kept_ring);
    free(e->records);
    free(e);
}

/* Makes room for `count` items of `size` bytes, contents lost. */
static bool reserve(void **memory, size_t *capacity, size_t count, size_t size)
{
    if (count <= *capacity)
        return true;
    if (count > SIZE_MAX / size)
        return false;
    free(*memory);
    *memory = malloc(count * size);
    *capacity = *memory != NULL ? count : 0;
    return *memory != NULL;
}

/* ---- lanes ---- */

static bool lane_grow(struct lane *lane)
{
    const uint32_t capacity = lane->capacity == 0 ? 1024 : 2 * lane->capacity;
    if (capacity > PAGES_MAX)
        return false;
    struct lane_item *items = malloc(capacity * sizeof *items);
    if (items == NULL)
        return false;
    for (uint32_t i = 0; lane->items != NULL && i < lane->count; i++)
        items[i] = lane->items[(lane->head + i) & (lane->capacity - 1)];
    free(lane->items);
    lane->items = items;
    lane->head = 0;
    lane->capacity = capacity;
    return true;
}

static void lane_push(struct hbf_engine *e, struct lane *lane, uint64_t time_ps, uint32_t page)
{
    if (time_ps == SC_SIM_NEVER_PS || (lane->count == lane->capacity && !lane_grow(lane))) {
        e->failed = time_ps == SC_SIM_NEVER_PS ? SC_ERANGE : SC_ENOSPACE;
        if (e->failed == SC_ERANGE)
            e->result.waiting = "has a kernel that takes longer than 213 days, the range of the clock";
        return;
    }
    lane->items[(lane->head + lane->count++) & (lane->capacity - 1)] =
        (struct lane_item){ time_ps, page };
}

static struct lane_item lane_pop(struct lane *lane)
{
    const struct lane_item item = lane->items[lane->head];
    lane->head = (lane->head + 1) & (lane->capacity - 1);
    lane->count--;
    return item;
}

static uint64_t lane_time(const struct lane *lane)
{
    return lane->count > 0 ? lane->items[lane->head].time_ps : SC_SIM_NEVER_PS;
}

/* ---- pages, CTAs, cursors ---- */

static uint32_t cta_first(const struct hbf_engine *e, uint32_t cta)
{
    if (cta <= e->main_ctas)
        return (uint32_t)((uint64_t)cta * e->main_pages / e->main_ctas);
    return e->main_pages + (uint32_t)((uint64_t)(cta - e->main_ctas) *
                                      (e->pages - e->main_pages) / (e->ctas - e->main_ctas));
}

static uint32_t cta_pages(const struct hbf_engine *e, uint32_t cta)
{
    return cta_first(e, cta + 1) - cta_first(e, cta);
}

static uint32_t cta_of(const struct hbf_engine *e, uint32_t page)
{
    uint32_t cta = page < e->main_pages
                       ? (uint32_t)((uint64_t)page * e->main_ctas / e->main_pages)
                       : e->main_ctas + (uint32_t)((uint64_t)(page - e->main_pages) *
                                                   (e->ctas - e->main_ctas) /
                                                   (e->pages - e->main_pages));
    while (cta_first(e, cta + 1) <= page)
        cta++;
    return cta;
}

static struct sm *sm_of(struct hbf_engine *e, uint32_t page)
{
    const uint32_t owner = e->owner[cta_of(e, page)];
    return owner == NO_CTA ? NULL : &e->sms[owner];
}

/* Gives the SM the next CTA of a greedy grid, if any is left. */
static bool claim(struct hbf_engine *e, struct sm *sm)
{
    if (!e->greedy || e->next_claim >= e->ctas)
        return false;
    const uint32_t cta = e->next_claim++;
    e->next_cta[sm->last_cta] = cta;
    e->next_cta[cta] = NO_CTA;
    e->owner[cta] = (uint32_t)(sm - e->sms);
    sm->last_cta = cta;
    return true;
}

/* The page under the cursor, false at the end of the SM's work. */
static bool cursor_page(struct hbf_engine *e, struct sm *sm, struct cursor *cursor, uint32_t *page)
{
    while (cursor->offset >= cta_pages(e, cursor->cta)) {
        if (e->next_cta[cursor->cta] == NO_CTA && !claim(e, sm))
            return false;
        cursor->cta = e->next_cta[cursor->cta];
        cursor->offset = 0;
    }
    *page = cta_first(e, cursor->cta) + cursor->offset;
    return true;
}

/* ---- flash ---- */

static void count_flight(struct hbf_engine *e, int change)
{
    e->flight_area += (sc_sim_wide)e->flying * (e->now_ps - e->flight_changed_ps);
    e->flight_changed_ps = e->now_ps;
    e->flying = change > 0 ? e->flying + 1 : e->flying - 1;
}

/* Extra sensing steps: each 1.75 t_R, each 100 times less likely than the last. */
static double retry_time(struct hbf_engine *e)
{
    const double read_ps = e->in->machine->read_time_s * 1e12;
    double time_ps = 0.0, p = e->in->machine->retry_probability;
    while (p > 0.0 && sc_sim_rng_bernoulli(&e->rng, p)) {
        time_ps += 1.75 * read_ps;
        p *= 0.01;
    }
    return time_ps;
}

/* When the data of a request made now is there: requests leave the channels in
 * the order of their issue; with sensing times, a subarray reads one at a time. */
static uint64_t flash_read(struct hbf_engine *e, uint32_t page)
{
    const double now_ps = (double)e->now_ps;
    const double read_ps = e->in->machine->read_time_s * 1e12;
    double start_ps = now_ps;
    if (read_ps > 0.0) {
        const uint32_t channel = (page + page / e->channels) % e->channels;
        const uint32_t row = page / e->channels;
        const uint32_t subarray = (row + row / e->subarrays) % e->subarrays;
        double *free_ps = &e->subarray_free_ps[(size_t)channel * e->subarrays + subarray];
        start_ps = fmax(now_ps, *free_ps);
        *free_ps = start_ps + read_ps;
    }
    start_ps = fmax(start_ps, e->flash_free_ps);
    e->flash_free_ps = fmax(now_ps, e->flash_free_ps) + e->flash_period_ps;
    return sc_sim_ps_round(start_ps + e->latency_ps + retry_time(e));
}

static void fetch(struct hbf_engine *e, uint32_t page)
{
    const uint64_t arrival_ps = flash_read(e, page);
    count_flight(e, 1);
    e->flight_sum_ps += (double)(arrival_ps - e->now_ps);
    e->flown++;
    if (e->in->machine->read_time_s > 0.0)
        sc_sim_events_push(&e->events, (struct sc_sim_event){ .time_ps = arrival_ps,
                                                              .kind = EVENT_ARRIVE, .a = page });
    else
        lane_push(e, &e->flights, arrival_ps, page);
}

/* ---- L2 ---- */

/* One FIFO for all reads; it slows down when more of them are waiting than the
 * L2 has miss entries for, which is what an unmetered burst does to it. */
static uint64_t l2_read(struct hbf_engine *e)
{
    const bool congested = e->in->mechanisms->is_ideal || e->reading > e->l2_congested;
    e->reading++;
    e->l2_free_ps = fmax((double)e->now_ps, e->l2_free_ps) +
                    (congested ? e->l2_slow_ps : e->l2_fast_ps);
    return sc_sim_ps_round(e->l2_free_ps);
}

/* ---- the buffer ---- */

static void note_eviction(struct hbf_engine *e, uint32_t page)
{
    e->residency_sum_ps += (double)(e->now_ps - e->arrived_ps[page]);
    e->residency_count++;
    if (e->in->record)
        e->records[page].evicted_ps = e->now_ps;
}

/* A page comes into the buffer; pages that have been read make room first. */
static void install(struct hbf_engine *e, uint32_t page)
{
    if (e->slots_used + e->kept >= e->slots_total && e->kept > 0) {
        note_eviction(e, e->kept_ring[e->kept_head]);
        e->kept_head = (e->kept_head + 1) % e->kept_capacity;
        e->kept--;
    }
    e->slots_used++;
    e->state[page] |= HELD;
}

/* A page that was read stays until its slot is needed. */
static void keep_read_page(struct hbf_engine *e, uint32_t page)
{
    e->state[page] &= (uint8_t)~HELD;
    e->slots_used--;
    if (e->kept_capacity == 0)
        return;
    e->kept_ring[(e->kept_head + e->kept) % e->kept_capacity] = page;
    e->kept++;
}

/* Takes the slot of the youngest page that nobody has asked for yet; that page
 * goes back to flash.  False: there is none. */
static bool preempt_youngest(struct hbf_engine *e)
{
    while (e->resident_count > 0) {
        const uint32_t page = e->resident[--e->resident_count];
        if ((e->state[page] & STATE) != RESIDENT)
            continue;
        e->state[page] = (uint8_t)((e->state[page] & ~(STATE | HELD)) | FLYING | RETRY);
        e->slots_used--;
        e->retries++;
        e->result.discarded++;
        fetch(e, page);
        return true;
    }
    return false;
}

/* First in, first out: the arrival N before this one leaves, read or not. */
static void fifo_install(struct hbf_engine *e, uint32_t page)
{
    const size_t at = (size_t)(e->arrivals % e->slots_total);
    if (e->arrivals >= e->slots_total) {
        const uint32_t victim = e->resident[at];
        note_eviction(e, victim);
        if ((e->state[victim] & STATE) == RESIDENT)
            e->state[victim] = (uint8_t)((e->state[victim] & ~STATE) | LOST);
    }
    e->resident[at] = page;
    e->arrivals++;
}

static void set_state(struct hbf_engine *e, uint32_t page, int state)
{
    e->state[page] = (uint8_t)((e->state[page] & ~STATE) | state);
}

/* A page that arrived for a waiting SM is read at once. */
static void read_waited(struct hbf_engine *e, uint32_t page)
{
    set_state(e, page, READING);
    lane_push(e, &e->fills, l2_read(e), page);
}

static void discard(struct hbf_engine *e, uint32_t page)
{
    e->result.discarded++;
    if ((e->state[page] & RETRY) == 0) {
        e->state[page] |= RETRY;
        e->retries++;
    }
    fetch(e, page);
}

/* Slot on arrival; a page that finds none is fetched again, the second time in
 * the place of the youngest page that can wait. */
static void arrive_consumption_aware(struct hbf_engine *e, uint32_t page)
{
    const bool retry = (e->state[page] & RETRY) != 0;
    const bool waited = (e->state[page] & WAITED) != 0;
    const uint64_t reserved = retry ? 0 : e->retries - 0;
    bool room = e->slots_used + reserved < e->slots_total;
    if (!room && (retry || waited)) {
        room = preempt_youngest(e) || e->slots_used < e->slots_total;
        /* All slots are being read right now: data for a waiting SM passes by. */
        room = room || waited;
    }
    if (!room) {
        discard(e, page);
        return;
    }
    if (retry) {
        e->state[page] &= (uint8_t)~RETRY;
        e->retries--;
    }
    install(e, page);
    if (waited) {
        read_waited(e, page);
        return;
    }
    set_state(e, page, RESIDENT);
    e->resident[e->resident_count++] = page;
    if (e->resident_count == e->resident_capacity) {
        /* Forget those that are no longer in question. */
        size_t kept = 0;
        for (size_t i = 0; i < e->resident_count; i++)
            if ((e->state[e->resident[i]] & STATE) == RESIDENT)
                e->resident[kept++] = e->resident[i];
        e->resident_count = kept;
    }
}

/* ---- issue: who asks the flash ---- */

static void try_demand(struct hbf_engine *e, struct sm *sm);

static bool may_stage(struct hbf_engine *e, const struct sm *sm)
{
    const struct sc_hbf_mechanisms *m = e->in->mechanisms;
    if (m->stream == SC_HBF_STREAM_LEAD)
        return sm->staged < (double)sm->demanded + sm->lead;
    uint32_t limit = sm->entries;
    if (m->paced && sm->allowance + sm->first_demands < limit)
        limit = sm->allowance + sm->first_demands;
    if (sm->held < limit)
        return true;
    e->result.window_waits += limit == sm->entries;
    e->result.allowance_waits += limit < sm->entries;
    return false;
}

/* The staging warp of an SM goes on as far as it may; STAGE after STAGE. */
static void try_stage(struct hbf_engine *e, struct sm *sm)
{
    const enum sc_hbf_stream stream = e->in->mechanisms->stream;
    uint32_t page;
    if ((stream != SC_HBF_STREAM_SSHR && stream != SC_HBF_STREAM_LEAD) || sm->stage_pending)
        return;
    while (may_stage(e, sm) && cursor_page(e, sm, &sm->stage, &page)) {
        if (sm->stage_ps > e->now_ps) {
            sm->stage_pending = true;
            sc_sim_events_push(&e->events,
                               (struct sc_sim_event){ .time_ps = sm->stage_ps, .kind = EVENT_STAGE,
                                                      .priority = 1, .a = (uint32_t)(sm - e->sms) });
            return;
        }
        sm->stage.offset++;
        sm->staged++;
        if ((e->state[page] & STATE) != ABSENT)
            continue; /* demand was here first */
        e->state[page] = FLYING;
        if (e->in->mechanisms->tracks_pages && stream == SC_HBF_STREAM_SSHR) {
            e->state[page] |= TRACKED;
            sm->held++;
            if (sm->held > e->result.most_entries)
                e->result.most_entries = sm->held;
        }
        e->result.staged++;
        fetch(e, page);
        sm->stage_ps = e->now_ps + sc_sim_ps_from_s(1.0 / e->in->machine->stage_rate);
    }
}

static bool stream_may_go(const struct hbf_engine *e)
{
    return e->in->mechanisms->stream == SC_HBF_STREAM_GLOBAL
               ? e->stream_flying < e->stream_window
               : e->slots_used < e->slots_total;
}

/* A stream of the whole tensor: of H3 as long as slots are free, of the CPU as
 * long as its window is. */
static void try_stream(struct hbf_engine *e)
{
    const bool tensor = e->in->mechanisms->stream == SC_HBF_STREAM_TENSOR;
    if (!tensor && e->in->mechanisms->stream != SC_HBF_STREAM_GLOBAL)
        return;
    while (e->order_at < e->pages && stream_may_go(e)) {
        const uint32_t page = e->order[e->order_at++];
        if ((e->state[page] & STATE) != ABSENT) {
            if (!tensor || e->in->scenario->stale == SC_HBF_STALE_SKIP)
                continue;
            /* It does not know, fetches the page, and nobody will take it out. */
            e->slots_used++;
            e->result.stale++;
            e->flash_free_ps = fmax((double)e->now_ps, e->flash_free_ps) + e->flash_period_ps;
            continue;
        }
        e->state[page] = FLYING;
        if (tensor) {
            e->slots_used++;
            e->state[page] |= HELD;
        }
        e->stream_flying++;
        e->result.staged++;
        fetch(e, page);
    }
}

static void fetch_by_demand(struct hbf_engine *e, uint32_t page)
{
    e->state[page] = (uint8_t)((e->state[page] & TRACKED) | FLYING | WAITED | MISSED);
    if (e->in->record) /* of its second life */
        e->records[page].evicted_ps = SC_SIM_NEVER_PS;
    if (e->pool > 0) {
        e->pool--;
        fetch(e, page);
        return;
    }
    e->result.pool_waits++;
    e->waiting[(e->waiting_head + e->waiting_count++) % e->waiting_capacity] = page;
}

/* An SM asks for its next page. */
static void demand_page(struct hbf_engine *e, struct sm *sm, uint32_t page)
{
    const struct sc_hbf_mechanisms *m = e->in->mechanisms;
    struct slot *slot = &sm->window[(sm->head + sm->used++) % sm->size];
    *slot = (struct slot){ .asked_ps = e->now_ps, .page = page };
    const int state = e->state[page] & STATE;
    if (m->is_ideal || state == RESIDENT) {
        set_state(e, page, READING);
        lane_push(e, &e->hits,
                  sc_sim_ps_add(l2_read(e), sc_sim_ps_from_s(e->in->machine->turnaround_s)), page);
    } else if (state == FLYING) {
        slot->cause = (e->state[page] & RETRY) != 0 ? CAUSE_CAPACITY : CAUSE_ACCESS;
        e->state[page] |= WAITED;
    } else {
        const bool ordered = m->stream == SC_HBF_STREAM_TENSOR && m->demand_order;
        const bool full = ordered && e->slots_used >= e->slots_total;
        slot->cause = state == LOST || full ? CAUSE_CAPACITY
                      : ordered || m->stream == SC_HBF_STREAM_LEAD ||
                              m->stream == SC_HBF_STREAM_SSHR
                          ? CAUSE_ACCESS
                          : CAUSE_ORDER;
        e->result.missed++;
        e->result.refetched += state == LOST;
        fetch_by_demand(e, page);
    }
}

/* A window of 8.8 pages is one of 9 four times out of five, and of 8 else. */
static uint32_t window_limit(const struct hbf_engine *e, const struct sm *sm)
{
    const double golden = 0.6180339887498949 * sm->demanded;
    const double limit = floor(e->in->load->window + golden - floor(golden));
    return limit < 1.0 ? 1 : (uint32_t)limit < sm->size ? (uint32_t)limit : sm->size;
}

static void try_demand(struct hbf_engine *e, struct sm *sm)
{
    uint32_t page;
    bool moved = false;
    while (sm->used < window_limit(e, sm) && cursor_page(e, sm, &sm->demand, &page)) {
        sm->demand.offset++;
        sm->demanded++;
        moved = true;
        demand_page(e, sm, page);
    }
    if (moved && e->in->mechanisms->stream == SC_HBF_STREAM_LEAD)
        try_stage(e, sm);
}

/* ---- what happens ---- */

static void arrive(struct hbf_engine *e, uint32_t page)
{
    const struct sc_hbf_mechanisms *m = e->in->mechanisms;
    count_flight(e, -1);
    e->arrived_ps[page] = e->now_ps;
    if ((e->state[page] & MISSED) != 0) {
        if (e->waiting_count > 0) {
            const uint32_t next = e->waiting[e->waiting_head];
            e->waiting_head = (uint32_t)((e->waiting_head + 1) % e->waiting_capacity);
            e->waiting_count--;
            fetch(e, next);
        } else {
            e->pool++;
        }
        read_waited(e, page);
        return;
    }
    if ((e->state[page] & TRACKED) != 0 && !m->release_on_demand) {
        struct sm *sm = sm_of(e, page);
        assert(sm != NULL); /* a tracked page was staged by its SM */
        e->state[page] &= (uint8_t)~TRACKED;
        sm->held--;
        try_stage(e, sm);
    }
    if (m->stream == SC_HBF_STREAM_GLOBAL || m->stream == SC_HBF_STREAM_TENSOR)
        e->stream_flying--;
    if (m->stream == SC_HBF_STREAM_SSHR && m->evicts_consumed) {
        arrive_consumption_aware(e, page);
    } else {
        if (m->stream != SC_HBF_STREAM_TENSOR)
            fifo_install(e, page);
        if ((e->state[page] & WAITED) != 0)
            read_waited(e, page);
        else
            set_state(e, page, RESIDENT);
    }
    if (m->stream == SC_HBF_STREAM_GLOBAL)
        try_stream(e);
}

static void retire(struct hbf_engine *e, struct sm *sm)
{
    while (sm->used > 0 && sm->window[sm->head].ready) {
        const struct slot *slot = &sm->window[sm->head];
        const uint64_t able_ps = sc_sim_ps_add(sm->free_ps, sm->service_ps);
        if (able_ps > e->now_ps) {
            if (!sm->retire_pending) {
                sm->retire_pending = true;
                sc_sim_events_push(&e->events, (struct sc_sim_event){
                                                   .time_ps = able_ps,
                                                   .kind = EVENT_RETIRE,
                                                   .a = (uint32_t)(sm - e->sms) });
            }
            return;
        }
        const uint64_t from_ps = able_ps > slot->asked_ps ? able_ps : slot->asked_ps;
        if (slot->cause != CAUSE_NONE && e->now_ps > from_ps)
            sm->stall_ps[slot->cause] += e->now_ps - from_ps;
        sm->free_ps = e->now_ps;
        sm->head = (sm->head + 1) % sm->size;
        sm->used--;
        try_demand(e, sm);
    }
    uint32_t page;
    if (sm->used == 0 && !sm->done && !cursor_page(e, sm, &sm->demand, &page)) {
        sm->done = true;
        sm->finish_ps = e->now_ps;
    }
}

static void release_entry(struct hbf_engine *e, struct sm *sm, uint32_t page)
{
    if ((e->state[page] & TRACKED) != 0) {
        e->state[page] &= (uint8_t)~TRACKED;
        sm->held--;
    }
    sm->first_demands++;
    try_stage(e, sm);
}

/* The data of a page is at its SM. */
static void read_done(struct hbf_engine *e, uint32_t page)
{
    struct sm *sm = sm_of(e, page);
    e->reading--;
    set_state(e, page, GONE);
    if ((e->state[page] & MISSED) == 0 && !e->in->mechanisms->is_ideal) {
        e->useful_sum_ps += (double)(e->now_ps - e->arrived_ps[page]);
        e->useful_count++;
    }
    if ((e->state[page] & HELD) != 0) {
        if (e->in->mechanisms->stream == SC_HBF_STREAM_TENSOR) {
            e->slots_used--;
            note_eviction(e, page);
            try_stream(e);
        } else {
            keep_read_page(e, page);
        }
    }
    assert(sm != NULL); /* only an SM asks for a page to be read */
    for (uint32_t i = 0; i < sm->used; i++) {
        struct slot *slot = &sm->window[(sm->head + i) % sm->size];
        if (slot->page != page)
            continue;
        slot->ready = true;
        e->load_sum_ps += (double)(e->now_ps - slot->asked_ps);
        if (e->in->record)
            e->records[page] = (struct record){ slot->asked_ps, e->now_ps,
                                                e->records[page].evicted_ps };
        break;
    }
    release_entry(e, sm, page);
    retire(e, sm);
}

static void handle(struct hbf_engine *e, const struct sc_sim_event *event)
{
    struct sm *sm = &e->sms[event->kind == EVENT_ARRIVE || event->kind == EVENT_STREAM ? 0 : event->a];
    switch (event->kind) {
    case EVENT_DEMAND:
        try_demand(e, sm);
        retire(e, sm); /* done at once when its CTAs have no page */
        break;
    case EVENT_STAGE:
        sm->stage_pending = false;
        try_stage(e, sm);
        break;
    case EVENT_RETIRE:
        sm->retire_pending = false;
        retire(e, sm);
        break;
    case EVENT_ARRIVE:
        arrive(e, event->a);
        break;
    default:
        try_stream(e);
        break;
    }
}

/* The next event: at the same time arrivals come before reads, reads before the rest. */
static bool step(struct hbf_engine *e)
{
    struct sc_sim_event event = { .time_ps = SC_SIM_NEVER_PS };
    const bool any = sc_sim_events_peek(&e->events, &event);
    const uint64_t heap_ps = any ? event.time_ps : SC_SIM_NEVER_PS;
    const uint64_t flight_ps = lane_time(&e->flights), fill_ps = lane_time(&e->fills),
                   hit_ps = lane_time(&e->hits);
    if (flight_ps != SC_SIM_NEVER_PS && flight_ps <= fill_ps && flight_ps <= hit_ps &&
        flight_ps <= heap_ps) {
        e->now_ps = flight_ps;
        arrive(e, lane_pop(&e->flights).page);
    } else if (fill_ps != SC_SIM_NEVER_PS && fill_ps <= hit_ps && fill_ps <= heap_ps) {
        e->now_ps = fill_ps;
        read_done(e, lane_pop(&e->fills).page);
    } else if (hit_ps != SC_SIM_NEVER_PS && hit_ps <= heap_ps) {
        e->now_ps = hit_ps;
        read_done(e, lane_pop(&e->hits).page);
    } else if (sc_sim_events_pop(&e->events, &event)) {
        e->now_ps = event.time_ps;
        handle(e, &event);
    } else {
        return false;
    }
    if (++e->handled > EVENTS_MAX + (uint64_t)EVENTS_PER_PAGE * e->pages) {
        e->failed = SC_ERANGE;
        e->result.waiting = "takes more than 20,000 events per page: nearly all pages are discarded";
    }
    return e->failed == SC_OK;
}

/* ---- set-up ---- */

static bool reserve_all(struct hbf_engine *e, uint32_t window)
{
    const size_t pages = e->pages, ctas = (size_t)e->ctas + 1;
    const size_t slots = (size_t)e->sm_count * window;
    const struct sc_hbf_mechanisms *m = e->in->mechanisms;
    const bool ordered = m->stream == SC_HBF_STREAM_TENSOR || m->stream == SC_HBF_STREAM_GLOBAL;
    const bool fifo = m->has_buffer && !m->evicts_consumed;
    const size_t ring = fifo && e->slots_total < pages ? (size_t)e->slots_total : pages + 1;
    size_t page_capacity = e->page_capacity, cta_capacity = e->cta_capacity;
    if (pages > page_capacity) {
        size_t grown[3] = { 0, 0, 0 };
        if (!reserve((void **)&e->state, &grown[0], pages, sizeof *e->state) ||
            !reserve((void **)&e->arrived_ps, &grown[1], pages, sizeof *e->arrived_ps))
            return false;
        free(e->order);
        e->order = NULL;
        e->page_capacity = pages;
    }
    if (ordered && e->order == NULL &&
        (e->order = malloc(e->page_capacity * sizeof *e->order)) == NULL)
        return false;
    if (ctas > cta_capacity) {
        size_t grown = 0, other = 0;
        if (!reserve((void **)&e->next_cta, &grown, ctas, sizeof *e->next_cta) ||
            !reserve((void **)&e->owner, &other, ctas, sizeof *e->owner))
            return false;
        e->cta_capacity = ctas;
    }
    return reserve((void **)&e->sms, &e->sm_capacity, e->sm_count, sizeof *e->sms) &&
           reserve((void **)&e->slots, &e->slot_capacity, slots, sizeof *e->slots) &&
           reserve((void **)&e->waiting, &e->waiting_capacity, slots + 1, sizeof *e->waiting) &&
           reserve((void **)&e->resident, &e->resident_capacity, ring, sizeof *e->resident) &&
           reserve((void **)&e->kept_ring, &e->kept_capacity, pages + 1, sizeof *e->kept_ring) &&
           (!e->in->record ||
            reserve((void **)&e->records, &e->record_capacity, pages, sizeof *e->records));
}

/* Address order as seen from the demand order: tiles of concurrent CTAs lie all
 * over the tensor, so any order is as good as a shuffled one. */
static void shuffle_order(struct hbf_engine *e)
{
    for (uint32_t i = 0; i < e->pages; i++)
        e->order[i] = i;
    for (uint32_t i = e->pages; i > 1; i--) {
        const uint32_t j = (uint32_t)sc_sim_rng_below(&e->rng, i);
        const uint32_t page = e->order[i - 1];
        e->order[i - 1] = e->order[j];
        e->order[j] = page;
    }
}

/* Page j of every CTA before page j + 1 of any: what a profile of the whole
 * grid gives, running CTAs or not. */
static void merge_ctas(struct hbf_engine *e)
{
    uint32_t at = 0;
    for (uint32_t j = 0; at < e->pages; j++)
        for (uint32_t cta = 0; cta < e->ctas; cta++)
            if (j < cta_pages(e, cta))
                e->order[at++] = cta_first(e, cta) + j;
}

/* Position j of every SM's stream before position j + 1 of any. */
static void merge_sms(struct hbf_engine *e)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < e->sm_count; i++)
        e->sms[i].stage = (struct cursor){ i, 0 };
    while (at < e->pages) {
        const uint32_t before = at;
        for (uint32_t i = 0; i < e->sm_count; i++) {
            uint32_t page;
            if (!cursor_page(e, &e->sms[i], &e->sms[i].stage, &page))
                continue;
            e->sms[i].stage.offset++;
            e->order[at++] = page;
        }
        if (at == before)
            break;
    }
    e->pages = at > e->pages ? at : e->pages;
}

static void deal_ctas(struct hbf_engine *e)
{
    const bool greedy = e->greedy;
    for (uint32_t cta = 0; cta < e->ctas; cta++) {
        e->next_cta[cta] = !greedy && cta + e->sm_count < e->ctas ? cta + e->sm_count : NO_CTA;
        e->owner[cta] = cta < e->sm_count || !greedy ? cta % e->sm_count : NO_CTA;
    }
    e->next_claim = greedy ? e->sm_count : e->ctas;
}

/* Pages that an SM can count on: in a greedy grid, its first CTA or an even share. */
static uint32_t sm_pages(const struct hbf_engine *e, uint32_t sm)
{
    uint32_t pages = 0;
    if (e->main_ctas < e->ctas && e->main_ctas < e->sm_count) {
        const uint32_t share = (e->pages - e->main_pages) / (e->sm_count - e->main_ctas);
        const uint32_t even = e->pages / e->sm_count;
        if (share >= e->main_pages / e->main_ctas)
            return even;
        return sm < e->main_ctas ? e->main_pages / e->main_ctas : share;
    }
    if (e->greedy)
        return e->pages / e->sm_count;
    for (uint32_t cta = sm; cta < e->ctas; cta += e->sm_count)
        pages += cta_pages(e, cta);
    return pages;
}

/* SSHRMax of one SM: its part of what keeps the flash busy, by pages or evenly. */
static uint32_t sm_entries(const struct hbf_engine *e, uint32_t sm)
{
    const struct sc_hbf_machine *machine = e->in->machine;
    const struct sc_hbf_mechanisms *m = e->in->mechanisms;
    const double most = machine->tracking_entries;
    double window = machine->flash_rate * machine->latency_s;
    if (m->weighted) {
        const double own = e->in->load->mean_rate * machine->latency_s;
        window = fmin(window, machine->window_headroom * own);
        window *= (double)sm_pages(e, sm) / (double)e->pages;
    } else {
        window /= (double)e->sm_count;
    }
    return (uint32_t)fmax(1.0, floor(fmin(window, most) + 0.5));
}

static void set_up_sm(struct hbf_engine *e, uint32_t i, uint32_t window)
{
    const struct sc_hbf_machine *machine = e->in->machine;
    const double n = (double)e->sm_count;
    const double spread = e->sm_count > 1 ? 2.0 * i / (n - 1.0) - 1.0 : 0.0;
    const struct sc_hbf_load *load = e->in->load;
    /* What the ideal time implies is fitted; what the machine can do is not. */
    const double implied = load->heavy / (load->ideal_s - machine->launch_s - machine->turnaround_s);
    const double own = load->sm_rate > implied * (1.0 + 1e-9) ? load->sm_rate : 0.0;
    const double rate = fmax(own, implied * e->in->rate_scale) *
                        (1.0 + e->in->scenario->sm_skew * spread);
    struct sm *sm = &e->sms[i];
    *sm = (struct sm){ .demand = { i, 0 }, .stage = { i, 0 }, .last_cta = i,
                       .window = e->slots + (size_t)i * window, .size = window,
                       .service_ps = sc_sim_ps_from_s(1.0 / rate) };
    sm->entries = sm_entries(e, i);
    sm->lead = fmin(4e9, isnan(machine->lead_pages) ? e->in->mechanisms->lead_pages
                                                    : machine->lead_pages);
    const double even = e->in->mechanisms->has_buffer ? floor(machine->slots / n) : 0.0;
    sm->allowance = (uint32_t)fmin(4e9, fmax(1.0, isnan(machine->s0_pages) ? even : machine->s0_pages));
}

/* SMs start one after the other; each stages half a launch before it demands. */
static void start_sms(struct hbf_engine *e)
{
    const struct sc_hbf_machine *machine = e->in->machine;
    for (uint32_t i = 0; i < e->sm_count; i++) {
        const double stagger_s = machine->launch_stagger_s * ((i + 0.5) / (double)e->sm_count - 0.5);
        const double demand_s = fmax(0.0, machine->launch_s + stagger_s);
        const double stage_s = fmax(0.0, demand_s - 0.5 * machine->launch_s);
        struct sm *sm = &e->sms[i];
        sm->free_ps = sc_sim_ps_from_s(demand_s);
        sm->stage_ps = sc_sim_ps_from_s(stage_s);
        sm->stage_pending = true;
        sc_sim_events_push(&e->events, (struct sc_sim_event){ .time_ps = sm->stage_ps,
                                                              .kind = EVENT_STAGE, .a = i });
        sc_sim_events_push(&e->events, (struct sc_sim_event){ .time_ps = sm->free_ps,
                                                              .kind = EVENT_DEMAND, .priority = 2,
                                                              .a = i });
    }
    sc_sim_events_push(&e->events,
                       (struct sc_sim_event){ .time_ps = sc_sim_ps_from_s(0.5 * machine->launch_s),
                                              .kind = EVENT_STREAM });
}

/* A megakernel finds its first pages staged: what the operation before left it
 * is a tenth less than its share of the buffer. */
static void prestage(struct hbf_engine *e)
{
    for (uint32_t i = 0; i < e->sm_count; i++) {
        struct sm *sm = &e->sms[i];
        const uint32_t share = (uint32_t)(0.9 * sm->allowance);
        uint32_t page;
        while (sm->held < share && sm->held < sm->entries && e->slots_used < e->slots_total &&
               cursor_page(e, sm, &sm->stage, &page)) {
            sm->stage.offset++;
            sm->staged++;
            sm->held++;
            e->state[page] = TRACKED;
            install(e, page);
            set_state(e, page, RESIDENT);
            e->arrived_ps[page] = 0;
            if (e->resident_count + 1 < e->resident_capacity)
                e->resident[e->resident_count++] = page;
            e->result.staged++;
        }
    }
}

static void set_up_rates(struct hbf_engine *e)
{
    const struct sc_hbf_machine *machine = e->in->machine;
    const struct sc_hbf_load *load = e->in->load;
    e->flash_period_ps = 1e12 / machine->flash_rate;
    e->latency_ps = e->in->scenario->latency_s * 1e12;
    const double supply = load->supply * e->in->rate_scale;
    e->l2_slow_ps = 1e12 / supply;
    e->l2_fast_ps = 1e12 / fmax(supply, machine->l2_rate);
    e->l2_congested = machine->miss_pool;
    e->pool = (uint32_t)fmin(4e9, fmax(1.0, floor(machine->miss_pool + 0.5)));
    e->stream_window = (uint64_t)fmax(1.0, machine->flash_rate * machine->latency_s);
    e->slots_total = (uint64_t)fmax(1.0, floor(machine->slots));
    /* Those beyond the last page are never read. */
    e->channels = (uint32_t)fmin(e->in->scenario->flash_channels, e->pages);
    const uint32_t pages_per_channel = (e->pages - 1) / e->channels + 1;
    e->subarrays = (uint32_t)fmin(e->in->scenario->subarrays, pages_per_channel);
}

/* All that a run changes, back to its beginning; memory is kept. */
static void clear(struct hbf_engine *e)
{
    sc_sim_events_clear(&e->events);
    e->flights.head = e->flights.count = e->fills.head = e->fills.count = 0;
    e->hits.head = e->hits.count = 0;
    e->failed = SC_OK;
    e->now_ps = e->handled = 0;
    e->order_at = 0;
    e->flash_free_ps = e->l2_free_ps = 0.0;
    e->flying = e->flown = 0;
    e->flight_area = 0;
    e->flight_changed_ps = 0;
    e->flight_sum_ps = 0.0;
    e->reading = 0;
    e->waiting_head = e->waiting_count = 0;
    e->slots_used = e->retries = e->arrivals = e->kept = e->stream_flying = 0;
    e->resident_count = e->kept_head = 0;
    e->load_sum_ps = e->useful_sum_ps = e->residency_sum_ps = 0.0;
    e->useful_count = e->residency_count = 0;
    e->result = (struct hbf_engine_result){ 0 };
}

/* Slots in the window of an SM: D, or all pages that can be its own. */
static uint32_t window_size(const struct hbf_engine *e)
{
    const uint64_t ctas_per_sm = (e->ctas - 1) / e->sm_count + 1;
    const uint64_t pages_per_cta = (e->pages - 1) / e->ctas + 1;
    const uint64_t own = e->greedy ? e->pages : ctas_per_sm * pages_per_cta;
    return (uint32_t)fmax(1.0, fmin((double)own, ceil(e->in->load->window)));
}

static enum sc_status set_up(struct hbf_engine *e)
{
    const struct sc_hbf_load *load = e->in->load;
    clear(e);
    if (!(load->pages < PAGES_MAX)) {
        e->result.waiting = "has a kernel of more than 2^30 pages, the most that is simulated";
        return SC_ERANGE;
    }
    e->pages = (uint32_t)fmax(1.0, floor(load->pages + 0.5));
    e->ctas = (uint32_t)fmin(load->ctas, (double)e->pages);
    e->sm_count = (uint32_t)fmin(load->active, (double)e->ctas);
    e->main_ctas = e->ctas;
    e->main_pages = e->pages;
    if (load->side_ctas > 0.0 && load->side_ctas < (double)e->ctas) {
        e->main_ctas = (uint32_t)((double)e->ctas - load->side_ctas);
        e->main_pages = e->pages - (uint32_t)fmin((double)e->pages, floor(load->side_pages + 0.5));
    }
    e->greedy = e->in->scenario->scheduler == SC_HBF_GREEDY || e->main_ctas < e->ctas;
    e->rng = e->in->rng;
    const uint32_t window = window_size(e);
    set_up_rates(e);
    if (!reserve_all(e, window))
        return SC_ENOSPACE;
    free(e->subarray_free_ps);
    e->subarray_free_ps = NULL;
    if (e->in->machine->read_time_s > 0.0 &&
        (e->subarray_free_ps = calloc((size_t)e->channels * e->subarrays,
                                      sizeof *e->subarray_free_ps)) == NULL)
        return SC_ENOSPACE;
    memset(e->state, ABSENT, e->pages);
    if (e->in->record)
        for (uint32_t i = 0; i < e->pages; i++)
            e->records[i] = (struct record){ SC_SIM_NEVER_PS, SC_SIM_NEVER_PS, SC_SIM_NEVER_PS };
    deal_ctas(e);
    for (uint32_t i = 0; i < e->sm_count; i++)
        set_up_sm(e, i, window);
    if (e->in->mechanisms->stream == SC_HBF_STREAM_TENSOR)
        (e->in->mechanisms->demand_order ? merge_ctas : shuffle_order)(e);
    else if (e->in->mechanisms->stream == SC_HBF_STREAM_GLOBAL)
        merge_sms(e);
    for (uint32_t i = 0; i < e->sm_count; i++)
        e->sms[i].stage = (struct cursor){ i, 0 };
    if (e->in->mechanisms->crosses_kernels && e->in->mechanisms->stream == SC_HBF_STREAM_SSHR &&
        e->in->mechanisms->evicts_consumed)
        prestage(e);
    start_sms(e);
    return sc_sim_events_status(&e->events);
}

/* ---- results ---- */

static const char *what_waits(const struct hbf_engine *e)
{
    if (e->waiting_count > 0)
        return "demand misses that wait for a miss entry";
    if (e->flying > 0)
        return "pages on their way";
    return "SMs that wait for pages nobody fetches";
}

static enum sc_status check_accounts(struct hbf_engine *e)
{
    const struct hbf_engine_result *r = &e->result;
    uint64_t gone = 0, unread = 0;
    for (uint32_t i = 0; i < e->pages; i++) {
        gone += (e->state[i] & STATE) == GONE;
        unread += (e->state[i] & STATE) == RESIDENT || (e->state[i] & STATE) == FLYING;
    }
    if (gone != e->pages)
        e->result.waiting = "check failed: pages read differ from pages of the kernel";
    else if (!e->in->mechanisms->is_ideal && r->staged + r->missed - r->refetched != gone + unread)
        e->result.waiting = "check failed: pages staged and missed differ from pages read and left";
    else if (!(r->little_error <= 0.005))
        e->result.waiting = "check failed: Little's law on the way from flash";
    return e->result.waiting == NULL ? SC_OK : SC_EDOMAIN;
}

static void measure(struct hbf_engine *e)
{
    struct hbf_engine_result *r = &e->result;
    uint64_t end_ps = 0, stalls_ps[CAUSES] = { 0 };
    for (uint32_t i = 0; i < e->sm_count; i++) {
        end_ps = e->sms[i].finish_ps > end_ps ? e->sms[i].finish_ps : end_ps;
        for (int cause = 0; cause < CAUSES; cause++)
            stalls_ps[cause] += e->sms[i].stall_ps[cause];
    }
    const double share = 1e-12 / e->sm_count;
    r->pages = e->pages;
    r->time_s = (double)end_ps * 1e-12;
    r->access_s = (double)stalls_ps[CAUSE_ACCESS] * share;
    r->order_s = (double)stalls_ps[CAUSE_ORDER] * share;
    r->capacity_s = (double)stalls_ps[CAUSE_CAPACITY] * share;
    r->load_to_use_s = e->load_sum_ps / e->pages * 1e-12;
    r->useful_s = e->useful_count > 0 ? e->useful_sum_ps / (double)e->useful_count * 1e-12
                                      : (double)NAN;
    r->residency_s = e->residency_count > 0
                         ? e->residency_sum_ps / (double)e->residency_count * 1e-12
                         : (double)NAN;
    r->flash_busy = end_ps > 0
                        ? (double)(e->flown + r->stale) * e->flash_period_ps / (double)end_ps
                        : 0.0;
    r->in_flight = end_ps > 0 ? (double)e->flight_area / (double)end_ps : 0.0;
    r->little_error = e->flight_sum_ps > 0.0
                          ? fabs((double)e->flight_area / e->flight_sum_ps - 1.0)
                          : 0.0;
    r->events = e->handled;
}

enum sc_status hbf_engine_run(struct hbf_engine *e, const struct hbf_engine_input *input,
                              struct hbf_engine_result *result)
{
    e->in = input;
    enum sc_status status = set_up(e);
    *result = (struct hbf_engine_result){ .waiting = e->result.waiting };
    if (status != SC_OK)
        return status;
    while (step(e)) {
    }
    status = e->failed != SC_OK ? e->failed : sc_sim_events_status(&e->events);
    result->waiting = e->result.waiting;
    if (status != SC_OK)
        return status;
    for (uint32_t i = 0; i < e->sm_count; i++)
        if (!e->sms[i].done && e->result.waiting == NULL)
            e->result.waiting = what_waits(e);
    measure(e);
    if (e->result.waiting != NULL)
        status = SC_EDOMAIN;
    if (status == SC_OK && input->check)
        status = check_accounts(e);
    *result = e->result;
    return status;
}

enum sc_status hbf_engine_calibrate(struct hbf_engine *e, const struct hbf_engine_input *input,
                                    double *rate_scale, const char **waiting)
{
    const struct sc_hbf_mechanisms ideal = { .is_ideal = true };
    const double fixed_s = input->machine->launch_s + input->machine->turnaround_s;
    const double body_s = input->load->ideal_s - fixed_s;
    struct hbf_engine_input trial = *input;
    struct hbf_engine_result result;
    trial.mechanisms = &ideal;
    trial.check = trial.record = false;
    /* Less than a page is simulated as one. */
    *rate_scale = trial.rate_scale = fmax(1.0, 1.0 / input->load->pages);
    for (int i = 0; i < 4; i++) {
        const enum sc_status status = hbf_engine_run(e, &trial, &result);
        *waiting = result.waiting;
        if (status != SC_OK)
            return status;
        const double error_s = result.time_s - input->load->ideal_s;
        /* A kernel of launch and latency only has no rate to correct. */
        if (fabs(error_s) <= 1e-3 * input->load->ideal_s || !(body_s > 0.0))
            break;
        trial.rate_scale *= body_s / fmax(0.5 * body_s, body_s - error_s);
    }
    *rate_scale = trial.rate_scale;
    return SC_OK;
}

void hbf_engine_records(const struct hbf_engine *e, const struct sc_sim_options *options)
{
    for (uint32_t page = 0; page < e->pages && e->in->record; page++) {
        const struct record *r = &e->records[page];
        const struct sc_sim_record record = {
            .kernel = e->in->name,
            .sm = e->owner[cta_of(e, page)],
            .unit = page,
            .asked_ps = r->asked_ps,
            .arrived_ps = e->in->mechanisms->is_ideal ? SC_SIM_NEVER_PS : e->arrived_ps[page],
            .first_use_ps = r->first_use_ps,
            .last_use_ps = r->first_use_ps,
            .evicted_ps = r->evicted_ps,
        };
        options->record(&record, options->context);
    }
}
