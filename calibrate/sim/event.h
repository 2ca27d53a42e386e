/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The event queue of the simulator, and its clock.
 *
 * Events leave in a total order: by time, then by priority (0 first), then
 * first come, first out.  Nothing else decides, so a run repeats exactly.
 * Time is in whole picoseconds, which never round: two events are at the same
 * time or they are not.
 *
 * An event is a few plain numbers.  What they mean is between those who push
 * and those who switch on `kind`:
 *
 *	struct sc_sim_events queue;
 *	struct sc_sim_event event;
 *
 *	sc_sim_events_init(&queue);
 *	sc_sim_events_push(&queue, (struct sc_sim_event){ .kind = ARRIVAL, .a = 7 });
 *	while (sc_sim_events_pop(&queue, &event))
 *		switch (event.kind) ...
 *	status = sc_sim_events_status(&queue);
 *	sc_sim_events_fini(&queue);
 *
 * A run pushes millions of events and can do nothing about one that cannot be
 * pushed.  So the first failure is kept, as ferror() does: from then on pushes
 * do nothing, nothing is left to pop, the loop ends, and the status says why.
 *
 * The memory grows by doubling and is kept until _fini; no event costs an
 * allocation of its own.
 */
#ifndef SC_SIM_EVENT_H
#define SC_SIM_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

/* Later than every event: 213 days.  Times that overflow end up here. */
#define SC_SIM_NEVER_PS UINT64_MAX

struct sc_sim_event {
    uint64_t time_ps;
    uint32_t kind;
    uint8_t priority; /* among events at the same time, the least goes first */
    union {
        struct {
            uint32_t a, b;
        };
        uint64_t wide; /* instead of a and b, not together with them */
    };
};

struct sc_sim_events {
    struct sc_sim_entry *entries; /* a heap, private */
    void *memory;                 /* what to free: entries stand aligned in it */
    size_t count, capacity;       /* count includes the hole */
    bool hole;                    /* the first entry has been popped */
    uint64_t now_ps;              /* time of the event popped last, at first 0 */
    uint64_t pushed;              /* so far: the number of the next to come */
    enum sc_status status;
};

/* Empty, at time 0.  Allocates nothing. */
void sc_sim_events_init(struct sc_sim_events *queue);

/* Frees the memory and leaves the queue as _init does; all zero is fine too. */
void sc_sim_events_fini(struct sc_sim_events *queue);

/* As _init does, but keeps the memory for the next run. */
void sc_sim_events_clear(struct sc_sim_events *queue);

/* Room for `count` pending events; SC_ENOSPACE: no memory, nothing changed. */
SC_MUST_CHECK enum sc_status sc_sim_events_reserve(struct sc_sim_events *queue, size_t count);

/* Why the queue stopped, SC_OK if it did not.
 *   SC_EDOMAIN  an event was to happen before now
 *   SC_ERANGE   an event was to happen at SC_SIM_NEVER_PS or later
 *   SC_ENOSPACE no memory */
SC_MUST_CHECK enum sc_status sc_sim_events_status(const struct sc_sim_events *queue);

/* Pending events: 0 once the queue has stopped. */
size_t sc_sim_events_count(const struct sc_sim_events *queue);

/* The event happens at its time_ps, which may be now but not before. */
void sc_sim_events_push(struct sc_sim_events *queue, struct sc_sim_event event);

/* The event happens delay_ps from now; its own time_ps is not looked at. */
void sc_sim_events_push_after(struct sc_sim_events *queue, uint64_t delay_ps,
                              struct sc_sim_event event);

/* Takes the next event and moves the clock to it; false: there is none. */
bool sc_sim_events_pop(struct sc_sim_events *queue, struct sc_sim_event *event);

/* The same event, left where it is, and the clock too. */
bool sc_sim_events_peek(struct sc_sim_events *queue, struct sc_sim_event *event);

/*
 * A time in seconds or picoseconds to the nearest whole picosecond;
 * SC_SIM_NEVER_PS above its range and for NaN, 0 below 0.
 */
uint64_t sc_sim_ps_from_s(double time_s);
uint64_t sc_sim_ps_round(double time_ps);

/* a + b, SC_SIM_NEVER_PS when that overflows. */
static inline uint64_t sc_sim_ps_add(uint64_t a_ps, uint64_t b_ps)
{
    return a_ps > SC_SIM_NEVER_PS - b_ps ? SC_SIM_NEVER_PS : a_ps + b_ps;
}

#endif
