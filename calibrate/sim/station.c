/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/station.h"

#include <assert.h>
#include <math.h>

static const double S_PER_PS = 1e-12;
static const uint64_t PS_PER_S = UINT64_C(1000000000000);

/* ---- First in, first out ---- */

void sc_sim_fifo_put(struct sc_sim_fifo *fifo, struct sc_sim_node *node)
{
    node->next = NULL;
    if (fifo->head == NULL)
        fifo->head = node;
    else
        fifo->tail->next = node;
    fifo->tail = node;
}

struct sc_sim_node *sc_sim_fifo_take(struct sc_sim_fifo *fifo)
{
    struct sc_sim_node *const node = fifo->head;

    if (node != NULL) {
        fifo->head = node->next;
        node->next = NULL;
    }
    return node;
}

/* What all of them need one of at least. */
static enum sc_status at_least_one(const char *field, uint64_t value, struct sc_error *err)
{
    if (value >= 1)
        return SC_OK;
    if (err != NULL)
        *err = (struct sc_error){ .field = field, .value = (double)value, .reason = "at least 1" };
    return SC_EDOMAIN;
}

static double mean_s(sc_sim_wide sum_ps, uint64_t count)
{
    return count > 0 ? (double)sum_ps * S_PER_PS / (double)count : (double)NAN;
}

/* ---- Servers ---- */

enum sc_status sc_sim_station_init(struct sc_sim_station *station, uint64_t servers,
                                   struct sc_error *err)
{
    *station = (struct sc_sim_station){ .servers = servers };
    return at_least_one("servers", servers, err);
}

static void station_start(struct sc_sim_station *station, uint64_t now_ps,
                          const struct sc_sim_node *node)
{
    sc_sim_level_up(&station->busy, now_ps, 1);
    station->wait_ps += now_ps - node->arrived_ps;
    station->started++;
}

bool sc_sim_station_is_free(const struct sc_sim_station *station)
{
    return station->busy.level < station->servers && station->waiting.head == NULL;
}

bool sc_sim_station_arrive(struct sc_sim_station *station, uint64_t now_ps,
                           struct sc_sim_node *node)
{
    node->arrived_ps = now_ps;
    sc_sim_little_arrive(&station->little, now_ps);
    if (!sc_sim_station_is_free(station)) {
        sc_sim_fifo_put(&station->waiting, node);
        return false;
    }
    station_start(station, now_ps, node);
    return true;
}

void sc_sim_station_finish(struct sc_sim_station *station, uint64_t now_ps,
                           const struct sc_sim_node *node)
{
    sc_sim_level_down(&station->busy, now_ps, 1);
    sc_sim_little_depart(&station->little, now_ps, node->arrived_ps);
}

struct sc_sim_node *sc_sim_station_next(struct sc_sim_station *station, uint64_t now_ps)
{
    struct sc_sim_node *node;

    if (station->busy.level == station->servers)
        return NULL;
    node = sc_sim_fifo_take(&station->waiting);
    if (node != NULL)
        station_start(station, now_ps, node);
    return node;
}

void sc_sim_station_restart(struct sc_sim_station *station, uint64_t now_ps)
{
    sc_sim_level_restart(&station->busy, now_ps);
    sc_sim_little_restart(&station->little, now_ps);
    station->wait_ps = 0;
    station->started = 0;
}

double sc_sim_station_utilisation(const struct sc_sim_station *station, uint64_t now_ps)
{
    return sc_sim_level_mean(&station->busy, now_ps) / (double)station->servers;
}

double sc_sim_station_wait_s(const struct sc_sim_station *station)
{
    return mean_s(station->wait_ps, station->started);
}

/* ---- Bandwidth ---- */

enum sc_status sc_sim_link_init(struct sc_sim_link *link, uint64_t bytes_per_s,
                                struct sc_error *err)
{
    *link = (struct sc_sim_link){ .bytes_per_s = bytes_per_s };
    return at_least_one("bytes_per_s", bytes_per_s, err);
}

/*
 * How long `bytes` take after `remainder`, which is updated.  Transfers below
 * 18 MB, that is nearly all, need no division of 128 bits.
 */
static sc_sim_wide transfer_ps(uint64_t bytes, uint64_t bytes_per_s, uint64_t *remainder)
{
    const sc_sim_wide scaled = (sc_sim_wide)bytes * PS_PER_S + *remainder;
    sc_sim_wide time_ps;

    if (scaled <= UINT64_MAX)
        time_ps = (uint64_t)scaled / bytes_per_s;
    else
        time_ps = scaled / bytes_per_s;
    *remainder = (uint64_t)(scaled - time_ps * bytes_per_s);
    return time_ps;
}

uint64_t sc_sim_link_send(struct sc_sim_link *link, uint64_t now_ps, uint64_t bytes)
{
    sc_sim_wide time_ps;

    if (link->free_ps < now_ps) {
        link->free_ps = now_ps;
        link->remainder = 0;
    }
    time_ps = transfer_ps(bytes, link->bytes_per_s, &link->remainder);
    if (time_ps > UINT64_MAX - link->free_ps)
        time_ps = UINT64_MAX - link->free_ps;
    link->free_ps += (uint64_t)time_ps;
    link->busy_ps += time_ps;
    link->bytes += bytes;
    sc_sim_little_arrive(&link->little, now_ps);
    return link->free_ps;
}

void sc_sim_link_deliver(struct sc_sim_link *link, uint64_t now_ps, uint64_t sent_ps)
{
    sc_sim_little_depart(&link->little, now_ps, sent_ps);
}

/* What has been accepted and is still to be transferred, in time. */
static uint64_t link_backlog_ps(const struct sc_sim_link *link, uint64_t now_ps)
{
    return link->free_ps > now_ps ? link->free_ps - now_ps : 0;
}

void sc_sim_link_restart(struct sc_sim_link *link, uint64_t now_ps)
{
    link->since_ps = now_ps;
    link->busy_ps = link_backlog_ps(link, now_ps);
    link->bytes = 0;
    sc_sim_little_restart(&link->little, now_ps);
}

double sc_sim_link_utilisation(const struct sc_sim_link *link, uint64_t now_ps)
{
    if (now_ps <= link->since_ps)
        return (double)NAN;
    return (double)(link->busy_ps - link_backlog_ps(link, now_ps)) /
           (double)(now_ps - link->since_ps);
}

/* ---- Tokens ---- */

enum sc_status sc_sim_pool_init(struct sc_sim_pool *pool, uint64_t tokens, struct sc_error *err)
{
    *pool = (struct sc_sim_pool){ .tokens = tokens };
    return at_least_one("tokens", tokens, err);
}

uint64_t sc_sim_pool_available(const struct sc_sim_pool *pool)
{
    return pool->tokens - pool->held.level;
}

static void pool_grant(struct sc_sim_pool *pool, uint64_t now_ps, const struct sc_sim_node *node)
{
    sc_sim_level_up(&pool->held, now_ps, node->tokens);
    pool->wait_ps += now_ps - node->arrived_ps;
    pool->granted++;
}

bool sc_sim_pool_take(struct sc_sim_pool *pool, uint64_t now_ps, struct sc_sim_node *node)
{
    assert(node->tokens >= 1 && node->tokens <= pool->tokens);
    node->arrived_ps = now_ps;
    sc_sim_little_arrive(&pool->little, now_ps);
    if (pool->waiting.head != NULL || node->tokens > sc_sim_pool_available(pool)) {
        sc_sim_fifo_put(&pool->waiting, node);
        return false;
    }
    pool_grant(pool, now_ps, node);
    return true;
}

void sc_sim_pool_give(struct sc_sim_pool *pool, uint64_t now_ps, const struct sc_sim_node *node)
{
    sc_sim_level_down(&pool->held, now_ps, node->tokens);
    sc_sim_little_depart(&pool->little, now_ps, node->arrived_ps);
}

struct sc_sim_node *sc_sim_pool_next(struct sc_sim_pool *pool, uint64_t now_ps)
{
    struct sc_sim_node *node = pool->waiting.head;

    if (node == NULL || node->tokens > sc_sim_pool_available(pool))
        return NULL;
    node = sc_sim_fifo_take(&pool->waiting);
    pool_grant(pool, now_ps, node);
    return node;
}

void sc_sim_pool_restart(struct sc_sim_pool *pool, uint64_t now_ps)
{
    sc_sim_level_restart(&pool->held, now_ps);
    sc_sim_little_restart(&pool->little, now_ps);
    pool->wait_ps = 0;
    pool->granted = 0;
}

double sc_sim_pool_utilisation(const struct sc_sim_pool *pool, uint64_t now_ps)
{
    return sc_sim_level_mean(&pool->held, now_ps) / (double)pool->tokens;
}

double sc_sim_pool_wait_s(const struct sc_sim_pool *pool)
{
    return mean_s(pool->wait_ps, pool->granted);
}
