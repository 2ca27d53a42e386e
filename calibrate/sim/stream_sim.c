/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/stream_sim.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "sim/event.h"
#include "sim/rng.h"
#include "sim/stats.h"
#include "stream.h"

/* Times are whole ticks: a sector of a wide memory takes some picoseconds only,
 * and thousands of them, each rounded, must add up. */
static const uint64_t ticks_per_ps = 1024;
static const double ticks_per_s = 1024e12;

/* No single step takes longer than 70 s, so that sums of a few do not overflow. */
static const double longest_ticks = 0x1p56;

/* Bank groups of a channel: nbkgrp of the Accel-Sim SM7_QV100 configuration. */
enum { BANK_GROUPS = 4 };

static const double little_tolerance = 0.005;
static const uint32_t none = UINT32_MAX;

/* ---- The scenario in whole numbers and ticks ---- */

struct design {
    uint32_t sms, warps_per_sm, channels, mshr_entries;
    uint64_t loads;              /* of a warp */
    uint32_t group;              /* loads of a group */
    uint32_t sectors, lines;     /* of a load */
    uint32_t line_sectors;       /* of a whole line */
    bool by_sector;              /* MSHRs can run short: every sector travels for itself */
    uint64_t launch, port, step; /* step: from sector to sector of one line */
    uint64_t before, out, back;  /* pipes */
    uint64_t hold_on;            /* from fill to release of the MSHR */
    double service;              /* of a sector at its channel */
    double burst_factor, c2;
    uint64_t alone, last_alone; /* a group and the last group, each alone in the machine */
};

/* What the keys say of times, in seconds. */
struct parts {
    double port_s, service_s, step_s, alone_s, hold_s;
};

static uint64_t ticks(double time_s)
{
    return sc_sim_ps_round(time_s * ticks_per_s);
}

static struct parts parts_of(const struct sc_stream *s, double line_sectors)
{
    struct parts p = {
        .port_s = s->port_cycles / s->clock_hz,
        .service_s = s->sector_bytes * s->channels / s->bandwidth_bytes_per_s,
        .hold_s = s->mshr_hold_s,
    };
    if (isnan(p.hold_s))
        p.hold_s = fmax(s->latency_s - s->core_cycles / s->clock_hz, 0);
    p.step_s = fmax(fmax(s->sector_gap_cycles / s->clock_hz, p.port_s), p.service_s);
    p.alone_s = fmax(s->latency_s - (line_sectors - 1) * p.step_s, 0);
    return p;
}

/* A sector alone: before, port, out, service, back, port; an MSHR from the first
 * port to the last.  The pipes are what is missing to the times asked for. */
static void lay_pipes(const struct parts *p, struct design *d)
{
    const double fixed_s = 2 * p->port_s + p->service_s;
    const double pipes_s = fmax(fmin(p->hold_s, p->alone_s) - fixed_s, 0);
    d->out = ticks(pipes_s / 2);
    d->back = ticks(pipes_s) - d->out;
    d->before = ticks(fmax(p->alone_s - fixed_s - pipes_s, 0));
    d->hold_on = ticks(fmax(p->hold_s - p->alone_s, 0));
}

static struct design design_of(const struct sc_stream *s)
{
    const double line_sectors = floor(s->line_bytes / s->sector_bytes);
    const struct parts p = parts_of(s, line_sectors);
    struct design d = {
        .sms = (uint32_t)s->sms,
        .warps_per_sm = (uint32_t)s->warps_per_sm,
        .channels = (uint32_t)s->channels,
        .mshr_entries = (uint32_t)s->mshr_entries,
        .loads = (uint64_t)s->loads_per_warp,
        .group = (uint32_t)fmin(s->outstanding_per_warp, s->loads_per_warp),
        .sectors = (uint32_t)ceil(s->bytes_per_load / s->sector_bytes),
        .line_sectors = (uint32_t)line_sectors,
        .launch = ticks(s->launch_s),
        .port = ticks(p.port_s),
        .step = ticks(p.step_s),
        .service = p.service_s * ticks_per_s,
        .burst_factor = s->burst_factor,
        .c2 = s->c2,
    };
    d.lines = (d.sectors + d.line_sectors - 1) / d.line_sectors;
    lay_pipes(&p, &d);
    d.by_sector = (double)d.warps_per_sm * d.group * d.sectors > d.mshr_entries || d.hold_on > 0;
    return d;
}

static enum sc_status refuse(struct sc_error *error, enum sc_status status, const char *field,
                             double value, const char *reason)
{
    *error = (struct sc_error){ .field = field, .value = value, .reason = reason };
    return status;
}

static enum sc_status check(const struct sc_stream *s, struct sc_error *error)
{
    const enum sc_status status = sc_scenario_check(&sc_stream_system, s, error);
    if (status != SC_OK)
        return status;
    if (s->line_bytes < s->sector_bytes)
        return refuse(error, SC_EDOMAIN, "line", s->line_bytes,
                      "must not be smaller than a sector");
    const double line_sectors = floor(s->line_bytes / s->sector_bytes);
    const struct parts p = parts_of(s, line_sectors);
    /* No service that can be drawn is 1000 times the mean. */
    const double slowest = s->burst_factor * (s->c2 > 0 ? 1000 : 1);
    if (p.service_s * slowest * line_sectors * ticks_per_s > longest_ticks)
        return refuse(error, SC_ERANGE, "bandwidth", s->bandwidth_bytes_per_s,
                      "is too small to simulate: a line takes longer than 70 s");
    if (p.step_s * line_sectors * ticks_per_s > longest_ticks)
        return refuse(error, SC_ERANGE, "clock", s->clock_hz,
                      "is too slow to simulate: a line takes longer than 70 s");
    if (s->sms * s->warps_per_sm * s->outstanding_per_warp >= none)
        return refuse(error, SC_ENOSPACE, "outstanding_per_warp", s->outstanding_per_warp,
                      "makes more loads at a time than can be simulated");
    return SC_OK;
}

/* ---- State ---- */

enum event_kind {
    READY,   /* a warp begins a group */
    ISSUE,   /* the port of an SM is free and somebody waits for it */
    SERVE,   /* a channel can begin to serve a packet */
    RETURN,  /* the last sector of a packet is at its SM */
    FILL,    /* the SM has taken it */
    RELEASE, /* its MSHRs are free */
    ARRIVE,  /* it is at its channel: only to check */
    SERVED,  /* it leaves its channel: only to check */
};

struct warp {
    uint64_t begun;        /* loads of all its groups so far */
    uint64_t group_since;  /* when it began the group, */
    uint64_t stall_before; /* what its SM had stalled until then, */
    uint64_t stall_after;  /* and until the last request of the group */
    uint32_t sm;
    uint32_t next;   /* in the queue for the port */
    uint32_t group;  /* loads of the group; */
    uint32_t issued; /* those with all sectors requested, */
    uint32_t open;   /* and those that have not returned */
    uint32_t sent;   /* sectors of the load that is being issued */
};

struct load {
    uint64_t issued_at;
    uint32_t warp;
    uint32_t pending; /* sectors that have not returned */
};

/* Sectors of one line that travel together. */
struct packet {
    uint64_t asked_at;   /* for its MSHRs */
    uint64_t arrives_at; /* at its channel, */
    uint64_t earliest;   /* and leaves it, if it need not wait */
    uint64_t row, order; /* order: of all arrivals */
    double service;      /* of a sector */
    uint32_t load, sectors, channel;
    uint32_t next;  /* on the way to the channel, in its heap, or not in use */
    uint32_t child; /* in the heap */
};

struct sm {
    uint32_t head, tail; /* warps that wait for the port */
    uint32_t mshr_free;
    bool busy;    /* its ISSUE is pending */
    bool stalled; /* the port waits for an MSHR */
    uint64_t port_free, take_free;
    double line_service;    /* of a sector of the line that is being issued */
    uint64_t line_earliest; /* when the sector before it leaves the channel, if it need not wait */
    uint64_t asked_at;      /* when the next request first asked for MSHRs */
    uint64_t stall;         /* all of the time that the port has waited for MSHRs */
    struct sc_sim_little mshrs; /* sectors that wait for or hold one */
};

struct channel {
    uint32_t head, tail;        /* packets on the way, first come first */
    uint32_t heap[BANK_GROUPS]; /* packets that wait, first the oldest row */
    uint64_t bus_free, group_free[BANK_GROUPS];
    uint64_t wake;               /* time of the SERVE to come, or SC_SIM_NEVER_PS */
    struct sc_sim_little little; /* packets */
};

struct tally {
    uint64_t end, events, issued, returned, packets, sent, filled, groups;
    uint64_t held, held_peak;          /* MSHRs of all SMs */
    sc_sim_wide bus_busy;              /* sum over channels */
    sc_sim_wide port_busy, stall;      /* sums over SMs */
    sc_sim_wide group_time;            /* sum over groups, */
    sc_sim_wide load_time;             /* the same times its loads */
    sc_sim_wide mshr_wait;             /* of groups, beyond their time alone: MSHRs, */
    sc_sim_wide first_wait, rest_wait; /* the rest of the first group, of other groups */
    double little_error;
    const char *waiting;
};

struct times {
    uint64_t asked, arrived, used;
};

struct sim {
    const struct design *d;
    bool check;
    uint64_t skew;
    struct sc_sim_rng rng;
    struct sc_sim_events events;
    enum sc_status status;
    struct sm *sms;
    struct warp *warps;
    struct load *loads; /* places for a group of each warp */
    struct channel *channels;
    struct packet *packets;
    size_t packet_count;
    uint32_t unused;                /* packet, or none */
    struct times *times;            /* of each load of each warp, or NULL */
    struct sc_sim_little in_flight; /* loads */
    struct tally tally;
};

static void push(struct sim *sim, uint64_t at, enum event_kind kind, uint32_t subject)
{
    sc_sim_events_push(&sim->events,
                       (struct sc_sim_event){ .time_ps = at, .kind = kind, .a = subject });
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* A packet not in use, or none when memory ran out. */
static uint32_t take_packet(struct sim *sim)
{
    if (sim->unused == none) {
        const size_t count = sim->packet_count > 0 ? 2 * sim->packet_count : 1024;
        if (count >= none || count > SIZE_MAX / sizeof *sim->packets)
            return none;
        struct packet *const packets = realloc(sim->packets, count * sizeof *packets);
        if (packets == NULL)
            return none;
        sim->packets = packets;
        for (size_t i = sim->packet_count; i < count; i++)
            packets[i].next = i + 1 < count ? (uint32_t)(i + 1) : none;
        sim->unused = (uint32_t)sim->packet_count;
        sim->packet_count = count;
    }
    const uint32_t index = sim->unused;
    sim->unused = sim->packets[index].next;
    return index;
}

static struct sm *sm_of(const struct sim *sim, const struct packet *p)
{
    return &sim->sms[sim->warps[sim->loads[p->load].warp].sm];
}

/* ---- Channels ---- */

/* The service of a line over its mean.  Its squared coefficient of variation is
 * c2: an exponential behind a constant up to 1, above it one of two exponentials
 * which have an equal share of the mean. */
static double service_ratio(struct sim *sim)
{
    const double c2 = sim->d->c2;
    if (!(c2 > 0))
        return 1;
    if (c2 <= 1) {
        const double spread = sqrt(c2);
        return 1 - spread + sc_sim_rng_exponential(&sim->rng, spread);
    }
    const double p = 0.5 * (1 + sqrt((c2 - 1) / (c2 + 1)));
    const double branch = sc_sim_rng_bernoulli(&sim->rng, p) ? p : 1 - p;
    return sc_sim_rng_exponential(&sim->rng, 1 / (2 * branch));
}

static uint32_t channel_of(const struct sim *sim, uint64_t line)
{
    const uint64_t channels = sim->d->channels;
    uint64_t state = sim->skew + line / channels;
    const uint64_t shift = (sc_sim_splitmix64(&state) >> 32) * channels >> 32;
    const uint64_t place = line % channels + shift;
    return (uint32_t)(place < channels ? place : place - channels);
}

static bool goes_first(const struct packet *a, const struct packet *b)
{
    return a->row < b->row || (a->row == b->row && a->order < b->order);
}

/* A pairing heap (Fredman, Sedgewick, Sleator & Tarjan, Algorithmica 1, 1986),
 * chained through the packets.  Two of them become one. */
static uint32_t meld(struct packet *packets, uint32_t a, uint32_t b)
{
    if (a == none || b == none)
        return a == none ? b : a;
    const bool swap = goes_first(&packets[b], &packets[a]);
    const uint32_t first = swap ? b : a, second = swap ? a : b;
    packets[second].next = packets[first].child;
    packets[first].child = second;
    return first;
}

/* The heap without its first: its children melded in pairs, then the pairs. */
static uint32_t without_first(struct packet *packets, uint32_t heap)
{
    uint32_t list = packets[heap].child, pairs = none, rest = none;
    while (list != none) {
        const uint32_t a = list, b = packets[a].next;
        list = b == none ? none : packets[b].next;
        const uint32_t pair = meld(packets, a, b);
        packets[pair].next = pairs;
        pairs = pair;
    }
    while (pairs != none) {
        const uint32_t pair = pairs;
        pairs = packets[pair].next;
        rest = meld(packets, rest, pair);
    }
    return rest;
}

/* At the end of time the queue refuses the event, and the run ends. */
static void wake(struct sim *sim, uint32_t channel, uint64_t at)
{
    struct channel *const c = &sim->channels[channel];
    if (at < c->wake || at == SC_SIM_NEVER_PS) {
        c->wake = at;
        push(sim, at, SERVE, channel);
    }
}

/* Who has arrived joins those that wait for its bank group. */
static void admit(const struct sim *sim, struct channel *c, uint64_t now)
{
    while (c->head != none && sim->packets[c->head].arrives_at <= now) {
        const uint32_t index = c->head;
        struct packet *const p = &sim->packets[index];
        uint32_t *const heap = &c->heap[p->row % BANK_GROUPS];
        c->head = p->next;
        p->child = none;
        *heap = meld(sim->packets, *heap, index);
    }
}

/* The bank group to serve now, or BANK_GROUPS when none can be; *soonest is then
 * the first time that one can. */
static unsigned choose(const struct sim *sim, const struct channel *c, uint64_t now,
                       uint64_t *soonest)
{
    unsigned chosen = BANK_GROUPS;
    *soonest = c->head == none ? SC_SIM_NEVER_PS : sim->packets[c->head].arrives_at;
    for (unsigned i = 0; i < BANK_GROUPS; i++) {
        if (c->heap[i] == none)
            continue;
        if (c->group_free[i] > now)
            *soonest = c->group_free[i] < *soonest ? c->group_free[i] : *soonest;
        else if (chosen == BANK_GROUPS ||
                 goes_first(&sim->packets[c->heap[i]], &sim->packets[c->heap[chosen]]))
            chosen = i;
    }
    return chosen;
}

/* To be called again when the bus is free, and somebody there. */
static void call_again(struct sim *sim, uint32_t channel)
{
    const struct channel *c = &sim->channels[channel];
    bool waits = false;
    for (unsigned i = 0; i < BANK_GROUPS; i++)
        waits |= c->heap[i] != none;
    if (waits)
        wake(sim, channel, c->bus_free);
    else if (c->head != none)
        wake(sim, channel, later(c->bus_free, sim->packets[c->head].arrives_at));
}

/* The bus is free: the oldest row of a free bank group is next.  That is the row
 * which is open, so that whoever is behind keeps up with the others. */
static void serve(struct sim *sim, uint32_t channel, uint64_t now)
{
    const struct design *d = sim->d;
    struct channel *const c = &sim->channels[channel];
    uint64_t soonest;
    admit(sim, c, now);
    const unsigned group = choose(sim, c, now, &soonest);
    if (group == BANK_GROUPS) {
        wake(sim, channel, soonest);
        return;
    }
    const uint32_t index = c->heap[group];
    const struct packet *p = &sim->packets[index];
    const double service = p->service * p->sectors;
    c->heap[group] = without_first(sim->packets, index);
    c->bus_free = sc_sim_ps_add(now, sc_sim_ps_round(service));
    c->group_free[group] = sc_sim_ps_add(now, sc_sim_ps_round(service * d->burst_factor));
    sim->tally.bus_busy += c->bus_free - now;

    const uint64_t served = later(c->bus_free, p->earliest);
    if (sim->check)
        push(sim, served, SERVED, index);
    push(sim, sc_sim_ps_add(served, d->back + d->port), RETURN, index);
    call_again(sim, channel);
}

/* Packets come in the order in which they were sent, since the way to the
 * channels is equally long for all. */
static void send(struct sim *sim, uint32_t index)
{
    struct packet *const p = &sim->packets[index];
    struct channel *const c = &sim->channels[p->channel];
    p->next = none;
    if (c->head == none)
        c->head = index;
    else
        sim->packets[c->tail].next = index;
    c->tail = index;
    if (sim->check)
        push(sim, p->arrives_at, ARRIVE, index);
    wake(sim, p->channel, later(c->bus_free, p->arrives_at));
}

/* ---- Requests ---- */

static void enqueue(struct sim *sim, struct sm *sm, uint32_t warp)
{
    sim->warps[warp].next = none;
    if (sm->head == none)
        sm->head = warp;
    else
        sim->warps[sm->tail].next = warp;
    sm->tail = warp;
}

static uint64_t number_of(const struct sim *sim, uint32_t warp, uint32_t of_group)
{
    const struct warp *w = &sim->warps[warp];
    return w->begun - w->group + of_group;
}

static struct times *times_of(const struct sim *sim, uint32_t warp, uint32_t of_group)
{
    return &sim->times[warp * sim->d->loads + number_of(sim, warp, of_group)];
}

static void begin_load(struct sim *sim, uint32_t index, uint32_t of_group, uint64_t now)
{
    struct load *load = &sim->loads[index];
    load->issued_at = now;
    load->pending = sim->d->sectors;
    sim->tally.issued++;
    if (sim->check)
        sc_sim_little_arrive(&sim->in_flight, now);
    if (sim->times != NULL)
        times_of(sim, load->warp, of_group)->asked = now;
}

/* Where the packet goes, and how long it takes there. */
static void address(struct sim *sim, struct sm *sm, struct packet *p, const struct warp *w)
{
    const struct design *d = sim->d;
    const uint64_t line_of_load = w->sent / d->line_sectors;
    const uint64_t warps = (uint64_t)d->sms * d->warps_per_sm;
    const bool goes_on = w->sent % d->line_sectors != 0;
    p->row = number_of(sim, sm->head, w->issued);
    p->channel = channel_of(sim, (p->row * warps + sm->head) * d->lines + line_of_load);
    if (!goes_on)
        sm->line_service = d->service * service_ratio(sim);
    p->service = sm->line_service;
    p->earliest = sc_sim_ps_add(p->arrives_at,
                                sc_sim_ps_round(p->service) + (p->sectors - 1) * d->step);
    if (goes_on)
        p->earliest = later(p->earliest, sc_sim_ps_add(sm->line_earliest, d->step));
    sm->line_earliest = p->earliest;
}

/* The next sectors of the warp at the head go out. */
static void request(struct sim *sim, struct sm *sm, uint32_t sectors, uint64_t now)
{
    const struct design *d = sim->d;
    const struct warp *w = &sim->warps[sm->head];
    struct tally *const t = &sim->tally;
    const uint32_t index = take_packet(sim);
    if (index == none) {
        sim->status = SC_ENOSPACE;
        return;
    }
    struct packet *const p = &sim->packets[index];
    *p = (struct packet){ .asked_at = sm->asked_at,
                          .arrives_at = sc_sim_ps_add(now, d->port + d->out),
                          .order = t->packets++,
                          .load = sm->head * d->group + w->issued,
                          .sectors = sectors };
    if (w->sent == 0)
        begin_load(sim, p->load, w->issued, now);
    address(sim, sm, p, w);
    send(sim, index);
    sm->mshr_free -= sectors;
    t->held += sectors;
    t->held_peak = later(t->held_peak, t->held);
    t->port_busy += (sc_sim_wide)sectors * d->port;
    t->sent += sectors;
}

/* The warp at the head has requested some sectors: whose turn is it next? */
static void advance(struct sim *sim, struct sm *sm, uint32_t sectors)
{
    const uint32_t index = sm->head;
    struct warp *const w = &sim->warps[index];
    w->sent += sectors;
    if (w->sent < sim->d->sectors)
        return;
    w->sent = 0;
    w->issued++;
    sm->head = w->next;
    if (w->issued < w->group)
        enqueue(sim, sm, index);
    else
        w->stall_after = sm->stall;
}

static uint32_t packet_sectors(const struct design *d, const struct warp *w)
{
    const uint32_t of_line = d->line_sectors - w->sent % d->line_sectors;
    const uint32_t of_load = d->sectors - w->sent;
    if (d->by_sector)
        return 1;
    return of_line < of_load ? of_line : of_load;
}

/* The port is free, or will be, and a warp waits for it. */
static void issue(struct sim *sim, uint32_t index, bool asked_before, uint64_t now)
{
    struct sm *const sm = &sim->sms[index];
    if (now >= sm->port_free) {
        const uint32_t sectors = packet_sectors(sim->d, &sim->warps[sm->head]);
        if (!asked_before) {
            sm->asked_at = now;
            for (uint32_t i = 0; sim->check && i < sectors; i++)
                sc_sim_little_arrive(&sm->mshrs, now);
        }
        sm->stalled = sm->mshr_free < sectors;
        if (sm->stalled)
            return;
        request(sim, sm, sectors, now);
        advance(sim, sm, sectors);
        sm->port_free = sc_sim_ps_add(now, sectors * sim->d->port);
    }
    sm->busy = sm->head != none;
    if (sm->busy)
        push(sim, sm->port_free, ISSUE, index);
}

/* ---- Warps ---- */

static void begin_group(struct sim *sim, uint32_t index, uint64_t now)
{
    const struct design *d = sim->d;
    struct warp *const w = &sim->warps[index];
    struct sm *const sm = &sim->sms[w->sm];
    const uint64_t left = d->loads - w->begun;
    w->group = left < d->group ? (uint32_t)left : d->group;
    w->begun += w->group;
    w->open = w->group;
    w->issued = 0;
    w->group_since = now - d->before;
    w->stall_before = sm->stall + (sm->stalled ? now - sm->asked_at : 0);
    enqueue(sim, sm, index);
    if (!sm->busy && !sm->stalled)
        issue(sim, w->sm, false, now);
}

static void end_group(struct sim *sim, uint32_t index, uint64_t now)
{
    const struct design *d = sim->d;
    struct warp *const w = &sim->warps[index];
    struct tally *const t = &sim->tally;
    const uint64_t time = now - w->group_since;
    const uint64_t alone = w->group == d->group ? d->alone : d->last_alone;
    const uint64_t wait = time > alone ? time - alone : 0;
    const uint64_t stall = w->stall_after - w->stall_before;
    const uint64_t mshr = stall < wait ? stall : wait;
    t->end = now;
    t->groups++;
    t->group_time += time;
    t->load_time += (sc_sim_wide)time * w->group;
    t->mshr_wait += mshr;
    *(w->begun == w->group ? &t->first_wait : &t->rest_wait) += wait - mshr;
    if (sim->times != NULL)
        for (uint32_t i = 0; i < w->group; i++)
            times_of(sim, index, i)->used = now;
    if (w->begun < d->loads)
        push(sim, sc_sim_ps_add(now, d->before), READY, index);
}

/* ---- Returns ---- */

static void release(struct sim *sim, uint32_t index, uint64_t now)
{
    struct packet *const p = &sim->packets[index];
    struct sm *const sm = sm_of(sim, p);
    sm->mshr_free += p->sectors;
    sim->tally.held -= p->sectors;
    for (uint32_t i = 0; sim->check && i < p->sectors; i++)
        sc_sim_little_depart(&sm->mshrs, now, p->asked_at);
    p->next = sim->unused;
    sim->unused = index;
    if (sm->stalled) {
        assert(sim->d->by_sector); /* one MSHR is enough to go on */
        sm->stall += now - sm->asked_at;
        sim->tally.stall += now - sm->asked_at;
        issue(sim, (uint32_t)(sm - sim->sms), true, now);
    }
}

static void fill(struct sim *sim, uint32_t index, uint64_t now)
{
    const struct packet p = sim->packets[index];
    struct load *const load = &sim->loads[p.load];
    struct warp *const w = &sim->warps[load->warp];
    if (sim->d->hold_on > 0)
        push(sim, sc_sim_ps_add(now, sim->d->hold_on), RELEASE, index);
    else
        release(sim, index, now);
    sim->tally.filled += p.sectors;
    load->pending -= p.sectors;
    if (load->pending > 0)
        return;
    sim->tally.returned++;
    if (sim->check)
        sc_sim_little_depart(&sim->in_flight, now, load->issued_at);
    if (sim->times != NULL)
        times_of(sim, load->warp, p.load % sim->d->group)->arrived = now;
    if (--w->open == 0)
        end_group(sim, load->warp, now);
}

/* The port took the sectors while they came, unless it had others to take. */
static void come_back(struct sim *sim, uint32_t index, uint64_t now)
{
    const struct packet *p = &sim->packets[index];
    struct sm *const sm = sm_of(sim, p);
    const uint64_t take = p->sectors * sim->d->port;
    sm->take_free = sc_sim_ps_add(later(sm->take_free, now > take ? now - take : 0), take);
    if (sm->take_free > now)
        push(sim, sm->take_free, FILL, index);
    else
        fill(sim, index, now);
}

/* ---- A run ---- */

static void handle(struct sim *sim, const struct sc_sim_event *e)
{
    const uint64_t now = e->time_ps;
    const struct packet *p;
    switch ((enum event_kind)e->kind) {
    case READY:
        begin_group(sim, e->a, now);
        return;
    case ISSUE:
        sim->sms[e->a].busy = false;
        issue(sim, e->a, false, now);
        return;
    case SERVE:
        if (sim->channels[e->a].wake == now) {
            sim->channels[e->a].wake = SC_SIM_NEVER_PS;
            serve(sim, e->a, now);
        }
        return;
    case RETURN:
        come_back(sim, e->a, now);
        return;
    case FILL:
        fill(sim, e->a, now);
        return;
    case RELEASE:
        release(sim, e->a, now);
        return;
    case ARRIVE:
        sc_sim_little_arrive(&sim->channels[sim->packets[e->a].channel].little, now);
        return;
    case SERVED:
        p = &sim->packets[e->a];
        sc_sim_little_depart(&sim->channels[p->channel].little, now, p->arrives_at);
        return;
    }
}

static enum sc_status set_up(struct sim *sim)
{
    const struct design *d = sim->d;
    const size_t warps = (size_t)d->sms * d->warps_per_sm;
    sim->sms = calloc(d->sms, sizeof *sim->sms);
    sim->channels = calloc(d->channels, sizeof *sim->channels);
    sim->warps = calloc(warps, sizeof *sim->warps);
    sim->loads = calloc(warps * d->group, sizeof *sim->loads);
    if (sim->sms == NULL || sim->channels == NULL || sim->warps == NULL || sim->loads == NULL)
        return SC_ENOSPACE;
    for (uint32_t i = 0; i < d->sms; i++) {
        sim->sms[i].head = none;
        sim->sms[i].mshr_free = d->mshr_entries;
    }
    for (uint32_t i = 0; i < d->channels; i++) {
        struct channel *const c = &sim->channels[i];
        c->head = none;
        c->wake = SC_SIM_NEVER_PS;
        for (unsigned j = 0; j < BANK_GROUPS; j++)
            c->heap[j] = none;
    }
    for (uint32_t i = 0; i < warps; i++) {
        sim->warps[i].sm = i / d->warps_per_sm;
        for (uint32_t j = 0; j < d->group; j++)
            sim->loads[i * d->group + j].warp = i;
        push(sim, d->launch + d->before, READY, i);
    }
    return SC_OK;
}

static void tear_down(struct sim *sim)
{
    sc_sim_events_fini(&sim->events);
    free(sim->sms);
    free(sim->channels);
    free(sim->warps);
    free(sim->loads);
    free(sim->packets);
}

/* What the loads that are left wait for. */
static const char *waiting(const struct sim *sim)
{
    for (uint32_t i = 0; i < sim->d->sms; i++)
        if (sim->sms[i].stalled)
            return "mshr";
    return sim->tally.issued > sim->tally.returned ? "channel" : "port";
}

static double worse(double error, const struct sc_sim_little *little, uint64_t now)
{
    return fmax(error, sc_sim_little_report(little, now).error);
}

static double little_error(const struct sim *sim)
{
    const uint64_t now = sim->events.now_ps;
    double error = worse(0, &sim->in_flight, now);
    for (uint32_t i = 0; i < sim->d->sms; i++)
        error = worse(error, &sim->sms[i].mshrs, now);
    for (uint32_t i = 0; i < sim->d->channels; i++)
        error = worse(error, &sim->channels[i].little, now);
    return error;
}

/* Runs the design until all loads have returned.  SC_EDOMAIN: they did not, and
 * tally->waiting says what waits. */
static enum sc_status run(const struct design *d, const struct sc_sim_options *options,
                          struct times *times, struct tally *tally)
{
    struct sim sim = {
        .d = d,
        .check = options->check,
        .skew = sc_sim_rng_hash(options->seed, options->run, 0),
        .rng = sc_sim_rng_make(options->seed, options->run, 1),
        .unused = none,
        .times = times,
    };
    struct sc_sim_event event;
    sc_sim_events_init(&sim.events);
    sim.status = set_up(&sim);
    for (; sim.status == SC_OK && sc_sim_events_pop(&sim.events, &event); sim.tally.events++)
        handle(&sim, &event);
    if (sim.status == SC_OK)
        sim.status = sc_sim_events_status(&sim.events);
    if (sim.status == SC_OK && sim.tally.returned < (uint64_t)d->sms * d->warps_per_sm * d->loads) {
        sim.tally.waiting = waiting(&sim);
        sim.status = SC_EDOMAIN;
    }
    if (sim.status == SC_OK && options->check)
        sim.tally.little_error = little_error(&sim);
    *tally = sim.tally;
    tear_down(&sim);
    return sim.status;
}

/* How long one group of so many loads takes, alone in the machine. */
static enum sc_status run_alone(const struct design *machine, const struct sc_sim_options *options,
                                uint32_t group, uint64_t *time)
{
    const struct sc_sim_options quiet = { .seed = options->seed, .run = options->run };
    struct design d = *machine;
    struct tally tally;
    d.sms = 1;
    d.warps_per_sm = 1;
    d.loads = d.group = group;
    d.mshr_entries = group * d.sectors;
    d.by_sector = false;
    d.launch = 0;
    d.c2 = 0;
    const enum sc_status status = run(&d, &quiet, NULL, &tally);
    *time = tally.end;
    return status;
}

/* ---- The answer ---- */

/* Where the time went, in ticks of the mean warp, SM or channel. */
struct account {
    double launch, running;
    double bus, port, mshr; /* busy; all MSHRs busy and the port waiting */
    double latency;         /* of all groups of a warp, each alone in the machine */
    double mshr_wait, first_wait, rest_wait; /* of groups, beyond that */
};

static struct account account_of(const struct design *d, const struct tally *t)
{
    const double warps = (double)d->sms * d->warps_per_sm;
    const uint64_t groups = d->loads / d->group, last = d->loads % d->group;
    return (struct account){
        .launch = (double)d->launch,
        .running = (double)(t->end - d->launch),
        .bus = (double)t->bus_busy / d->channels,
        .port = (double)t->port_busy / d->sms,
        .mshr = (double)t->stall / d->sms,
        .latency = (double)groups * (double)d->alone + (last > 0 ? (double)d->last_alone : 0),
        .mshr_wait = (double)t->mshr_wait / warps,
        .first_wait = (double)t->first_wait / warps,
        .rest_wait = (double)t->rest_wait / warps,
    };
}

/* What lasted longest. */
static const char *bound_of(const struct account *a)
{
    const double moving = fmax(a->bus, a->port);
    if (a->launch > a->running)
        return "launch";
    if (a->mshr > fmax(moving, a->latency))
        return "mshr";
    if (a->latency >= moving)
        return "latency";
    return a->port > a->bus ? "port" : "bandwidth";
}

/* The busiest resource is busy for a part of the time; latency is what the
 * latencies of a warp add up to beyond that; the rest was lost by waiting, for
 * MSHRs or for others, in the first group or later, in proportion to the waits. */
static void fill_shares(const struct account *a, struct sc_stream_answer *answer)
{
    const double time = a->launch + a->running;
    const double moving = fmin(fmax(a->bus, a->port), a->running);
    const double latency = fmax(fmin(a->latency, a->running) - moving, 0);
    const double waits = a->mshr_wait + a->first_wait + a->rest_wait;
    const double rest = (a->running - moving - latency) / time;
    answer->launch_share = a->launch / time;
    answer->bandwidth_share = moving / time;
    answer->latency_share = latency / time;
    answer->mshr_share = waits > 0 ? rest * (a->mshr_wait / waits) : 0;
    answer->burst_share = waits > 0 ? rest * (a->first_wait / waits) : 0;
    answer->queueing_share = rest - answer->mshr_share - answer->burst_share;
}

static struct sc_stream_answer answer_of(const struct sc_stream *s, const struct design *d,
                                         const struct tally *t)
{
    const struct account account = account_of(d, t);
    const double time_s = (double)t->end / ticks_per_s;
    const double running_s = account.running / ticks_per_s;
    const double useful_bytes = (double)t->returned * s->bytes_per_load;
    const double ideal_s = s->launch_s + useful_bytes / s->bandwidth_bytes_per_s;
    const double ports_bytes_per_s = s->sms * s->sector_bytes * s->clock_hz / s->port_cycles;
    const double load_bytes = d->sectors * s->sector_bytes;
    const double alone_s = (double)d->alone / ticks_per_s;
    const double needed_bytes = fmin(s->bandwidth_bytes_per_s, ports_bytes_per_s) * alone_s;
    struct sc_stream_answer answer = {
        .slowdown = time_s / ideal_s,
        .time_s = time_s,
        .cycles = time_s * s->clock_hz,
        .ideal_time_s = ideal_s,
        .bound = bound_of(&account),
        .bandwidth_bytes_per_s = useful_bytes / time_s,
        .share_of_peak = useful_bytes / time_s / s->bandwidth_bytes_per_s,
        .moved_bytes = (double)t->filled * s->sector_bytes,
        .outstanding_needed_bytes = needed_bytes,
        .outstanding_available_bytes = (double)t->held_peak * s->sector_bytes,
        .in_flight_bytes = (double)t->load_time / ticks_per_s * load_bytes / running_s,
        .knee_loads_per_sm = needed_bytes / (s->sms * load_bytes),
        .unloaded_group_latency_s = alone_s,
        .load_latency_s = (double)t->group_time / ticks_per_s / (double)t->groups,
    };
    fill_shares(&account, &answer);
    return answer;
}

/* ---- Records ---- */

static uint64_t in_ps(uint64_t time_ticks)
{
    return time_ticks / ticks_per_ps;
}

static void report_records(const struct design *d, const struct sc_sim_options *options,
                           const struct times *times)
{
    const uint64_t of_sm = d->warps_per_sm * d->loads;
    for (uint32_t sm = 0; sm < d->sms; sm++)
        for (uint64_t unit = 0; unit < of_sm; unit++) {
            const struct times *t = &times[sm * of_sm + unit];
            options->record(&(struct sc_sim_record){ .kernel = sc_stream_system.name,
                                                     .sm = sm,
                                                     .unit = (uint32_t)unit,
                                                     .asked_ps = in_ps(t->asked),
                                                     .arrived_ps = in_ps(t->arrived),
                                                     .first_use_ps = in_ps(t->used),
                                                     .last_use_ps = in_ps(t->used),
                                                     .evicted_ps = SC_SIM_NEVER_PS },
                            options->context);
        }
}

/* One per load, or NULL when memory ran out. */
static struct times *make_times(const struct design *d)
{
    if (d->loads > UINT32_MAX / d->warps_per_sm)
        return NULL;
    return calloc((size_t)d->sms * d->warps_per_sm * d->loads, sizeof(struct times));
}

/* ---- The simulator ---- */

static enum sc_status run_all(struct design *d, const struct sc_sim_options *options,
                              struct times *times, struct tally *tally)
{
    const uint32_t last = (uint32_t)(d->loads % d->group);
    enum sc_status status = run_alone(d, options, d->group, &d->alone);
    if (status == SC_OK && last > 0)
        status = run_alone(d, options, last, &d->last_alone);
    if (status == SC_OK)
        status = run(d, options, times, tally);
    return status;
}

static enum sc_status explain_failure(enum sc_status status, const struct sc_stream *s,
                                      struct sc_error *error)
{
    if (status == SC_ENOSPACE)
        return refuse(error, status, "warps_per_sm", s->warps_per_sm, "takes too much memory");
    if (status == SC_ERANGE)
        return refuse(error, status, "loads_per_warp", s->loads_per_warp,
                      "takes longer than can be simulated, 5 hours");
    return refuse(error, status, "loads_per_warp", s->loads_per_warp,
                  "not all returned: a bug of the simulator");
}

static enum sc_status verify(const struct sc_stream *s, const struct design *d,
                             const struct tally *t, struct sc_error *error)
{
    if (t->issued != t->returned || t->sent != t->filled || t->held != 0 ||
        t->filled != t->returned * d->sectors)
        return refuse(error, SC_EDOMAIN, "loads_per_warp", s->loads_per_warp,
                      "do not all return once: a bug of the simulator");
    if (!(t->little_error <= little_tolerance))
        return refuse(error, SC_EDOMAIN, "loads_per_warp", s->loads_per_warp,
                      "do not obey Little's law: a bug of the simulator");
    return SC_OK;
}

static enum sc_status simulate(const void *scenario, const struct sc_sim_options *options,
                               void *answer, struct sc_sim_report *report, struct sc_error *error)
{
    const struct sc_stream *s = scenario;
    struct sc_stream_answer *const out = answer;
    struct tally tally = { 0 };
    struct sc_error unseen;
    if (error == NULL)
        error = &unseen;
    if (report != NULL)
        *report = (struct sc_sim_report){ 0 };
    enum sc_status status = check(s, error);
    if (status != SC_OK)
        return status;
    struct design d = design_of(s);
    struct times *const times = options->record != NULL ? make_times(&d) : NULL;
    if (options->record != NULL && times == NULL)
        status = SC_ENOSPACE;
    if (status == SC_OK)
        status = run_all(&d, options, times, &tally);
    if (status != SC_OK)
        status = explain_failure(status, s, error);
    else if (options->check)
        status = verify(s, &d, &tally, error);
    if (status == SC_OK) {
        *out = answer_of(s, &d, &tally);
        if (times != NULL)
            report_records(&d, options, times);
    }
    if (report != NULL)
        *report = (struct sc_sim_report){ .events = tally.events,
                                          .units = tally.returned,
                                          .little_error = tally.little_error,
                                          .waiting = tally.waiting };
    free(times);
    return status;
}

const struct sc_simulator sc_stream_simulator = {
    .system = &sc_stream_system,
    .unit = "loads",
    .simulate = simulate,
};
