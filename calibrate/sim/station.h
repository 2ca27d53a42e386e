/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What jobs queue for: servers, bandwidth, tokens.
 *
 *   sc_sim_station  servers alike, one queue, first come first served
 *   sc_sim_link     bytes go one after the other at a fixed rate
 *   sc_sim_pool     tokens (MSHRs, slots, bytes of a buffer) that are held
 *
 * They know the time only as they are told it, and no event queue: the caller
 * draws the service times and pushes the events, so that any distribution and
 * any event loop will do.  A station, say:
 *
 *	case ARRIVAL:
 *		if (sc_sim_station_arrive(&station, now_ps, &job->node))
 *			push(now_ps + service(job), DONE, job->node.id);
 *		break;
 *	case DONE:
 *		sc_sim_station_finish(&station, now_ps, &job->node);
 *		while ((node = sc_sim_station_next(&station, now_ps)) != NULL)
 *			push(now_ps + service(node), DONE, node->id);
 *		break;
 *
 * Who waits is chained through a node in the caller's own struct, so waiting
 * costs no memory.  A node belongs to one resource from arrive to finish (or
 * take to give) and must stay in place meanwhile; a job that holds two
 * resources at once has two nodes.
 *
 * Each keeps the two accounts of Little's law (see sim/stats.h) over waiting
 * and service together.  All times are in picoseconds, and never go back.
 * The _restart functions forget what was measured, not what is going on.
 */
#ifndef SC_SIM_STATION_H
#define SC_SIM_STATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/stats.h"
#include "status.h"

struct sc_sim_node {
    struct sc_sim_node *next; /* private */
    uint64_t arrived_ps;      /* set on arrival */
    uint64_t tokens;          /* of a pool that are wanted: the caller's */
    uint32_t id;              /* whose node this is: the caller's, not looked at */
};

/* First in, first out.  All zero is empty. */
struct sc_sim_fifo {
    struct sc_sim_node *head, *tail;
};

void sc_sim_fifo_put(struct sc_sim_fifo *fifo, struct sc_sim_node *node);
/* NULL when empty. */
struct sc_sim_node *sc_sim_fifo_take(struct sc_sim_fifo *fifo);

/* ---- Servers ---- */

struct sc_sim_station {
    uint64_t servers;
    struct sc_sim_fifo waiting;
    struct sc_sim_level busy;    /* servers */
    struct sc_sim_little little; /* waiting and in service */
    sc_sim_wide wait_ps;         /* of all that were started */
    uint64_t started;
};

/* servers >= 1, else SC_EDOMAIN. */
SC_MUST_CHECK enum sc_status sc_sim_station_init(struct sc_sim_station *station, uint64_t servers,
                                                 struct sc_error *err);

/* True: service starts now.  False: the node waits for sc_sim_station_next. */
SC_MUST_CHECK bool sc_sim_station_arrive(struct sc_sim_station *station, uint64_t now_ps,
                                         struct sc_sim_node *node);

/* Whether an arrival now would start at once: a loss system turns away others. */
bool sc_sim_station_is_free(const struct sc_sim_station *station);

/* The service of `node` ends.  Then call _next until it returns NULL. */
void sc_sim_station_finish(struct sc_sim_station *station, uint64_t now_ps,
                           const struct sc_sim_node *node);

/* The node whose service starts now because a server is free, or NULL. */
SC_MUST_CHECK struct sc_sim_node *sc_sim_station_next(struct sc_sim_station *station,
                                                      uint64_t now_ps);

void sc_sim_station_restart(struct sc_sim_station *station, uint64_t now_ps);

/* Share of the servers' time spent serving, NaN when no time has passed. */
double sc_sim_station_utilisation(const struct sc_sim_station *station, uint64_t now_ps);

/* Mean wait of those that started, those that did not wait included; or NaN. */
double sc_sim_station_wait_s(const struct sc_sim_station *station);

/* ---- Bandwidth ---- */

/*
 * A transfer begins when the one before has ended.  Whole picoseconds are
 * handed out, and the fraction left over goes to the next transfer: n
 * transfers back to back take as long as one of n times the size.
 */
struct sc_sim_link {
    uint64_t bytes_per_s;
    uint64_t free_ps;   /* when the last transfer accepted ends ... */
    uint64_t remainder; /* ... and how much later exactly, in ps/bytes_per_s */
    uint64_t since_ps;
    sc_sim_wide busy_ps; /* transferring since then, also if yet to come */
    sc_sim_wide bytes;   /* accepted since then */
    struct sc_sim_little little;
};

/* bytes_per_s >= 1, else SC_EDOMAIN. */
SC_MUST_CHECK enum sc_status sc_sim_link_init(struct sc_sim_link *link, uint64_t bytes_per_s,
                                              struct sc_error *err);

/*
 * Accepts a transfer and says when its last byte is through: the time to push
 * the event for, plus any latency of the caller's.  SC_SIM_NEVER_PS when that
 * overflows.
 */
SC_MUST_CHECK uint64_t sc_sim_link_send(struct sc_sim_link *link, uint64_t now_ps, uint64_t bytes);

/* To be called at that time, with the time when it was sent. */
void sc_sim_link_deliver(struct sc_sim_link *link, uint64_t now_ps, uint64_t sent_ps);

void sc_sim_link_restart(struct sc_sim_link *link, uint64_t now_ps);

/* Share of the time spent transferring, NaN when no time has passed. */
double sc_sim_link_utilisation(const struct sc_sim_link *link, uint64_t now_ps);

/* ---- Tokens ---- */

/*
 * First come, first served, also when the one that waits wants many tokens
 * and one behind it could have its few: nobody starves.
 */
struct sc_sim_pool {
    uint64_t tokens;
    struct sc_sim_fifo waiting;
    struct sc_sim_level held;    /* tokens */
    struct sc_sim_little little; /* nodes that wait or hold */
    sc_sim_wide wait_ps;         /* of all that were granted */
    uint64_t granted;
};

/* tokens >= 1, else SC_EDOMAIN. */
SC_MUST_CHECK enum sc_status sc_sim_pool_init(struct sc_sim_pool *pool, uint64_t tokens,
                                              struct sc_error *err);

/*
 * Wants node->tokens, 1 to all there are.  True: it holds them now.  False: it
 * waits for sc_sim_pool_next.
 */
SC_MUST_CHECK bool sc_sim_pool_take(struct sc_sim_pool *pool, uint64_t now_ps,
                                    struct sc_sim_node *node);

/* Gives all of node->tokens back.  Then call _next until it returns NULL. */
void sc_sim_pool_give(struct sc_sim_pool *pool, uint64_t now_ps, const struct sc_sim_node *node);

/* The node that holds its tokens from now on because there are enough, or NULL. */
SC_MUST_CHECK struct sc_sim_node *sc_sim_pool_next(struct sc_sim_pool *pool, uint64_t now_ps);

/* Tokens not held.  Take succeeds only if nobody waits, too. */
uint64_t sc_sim_pool_available(const struct sc_sim_pool *pool);

void sc_sim_pool_restart(struct sc_sim_pool *pool, uint64_t now_ps);

/* Mean share of the tokens held, NaN when no time has passed. */
double sc_sim_pool_utilisation(const struct sc_sim_pool *pool, uint64_t now_ps);

/* Mean wait of those that were granted, those that did not wait included; or NaN. */
double sc_sim_pool_wait_s(const struct sc_sim_pool *pool);

#endif
