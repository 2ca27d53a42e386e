/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/uvm_link.h"

#include <math.h>
#include <stdlib.h>

#include "sim/event.h"

enum { QUEUE_FIRST = 64, QUEUE_MAX = 1 << 28 };

void uvm_link_clear(struct uvm_link *link)
{
    for (int i = 0; i < UVM_CLASSES; i++) {
        struct uvm_queue *queue = &link->queues[i];
        queue->head = queue->count = 0;
        queue->served_ps = 0.0;
    }
    link->done_ps = SC_SIM_NEVER_PS;
    link->free_ps = link->busy_ps = 0.0;
    link->little = (struct sc_sim_little){ 0 };
    link->failed = SC_OK;
}

void uvm_link_fini(struct uvm_link *link)
{
    for (int i = 0; i < UVM_CLASSES; i++)
        free(link->queues[i].jobs);
    *link = (struct uvm_link){ .done_ps = SC_SIM_NEVER_PS };
}

static bool grow(struct uvm_queue *queue)
{
    const uint32_t capacity = queue->capacity == 0 ? QUEUE_FIRST : 2 * queue->capacity;
    struct uvm_job *jobs = capacity > QUEUE_MAX ? NULL : malloc(capacity * sizeof *jobs);
    if (jobs == NULL)
        return false;
    for (uint32_t i = 0; queue->jobs != NULL && i < queue->count; i++)
        jobs[i] = queue->jobs[(queue->head + i) & (queue->capacity - 1)];
    free(queue->jobs);
    queue->jobs = jobs;
    queue->head = 0;
    queue->capacity = capacity;
    return true;
}

static void start(struct uvm_link *link, struct uvm_queue *queue, double now_ps)
{
    link->job = queue->jobs[queue->head];
    queue->head = (queue->head + 1) & (queue->capacity - 1);
    queue->count--;
    queue->served_ps += link->job.cost_ps;
    /* The fraction of a picosecond left over from the job before is not lost. */
    const double from_ps = link->free_ps + 1.0 > now_ps ? link->free_ps : now_ps;
    link->free_ps = from_ps + link->job.cost_ps;
    link->busy_ps += link->job.cost_ps;
    link->done_ps = sc_sim_ps_round(fmax(now_ps, link->free_ps));
}

void uvm_link_send(struct uvm_link *link, int class, uint64_t now_ps, double cost_ps,
                   uint32_t kind, uint32_t id)
{
    struct uvm_queue *queue = &link->queues[class], *other = &link->queues[1 - class];
    if (queue->count == queue->capacity && !grow(queue)) {
        link->failed = SC_ENOSPACE;
        return;
    }
    /* Time not used is not saved up. */
    if (queue->count == 0 && queue->served_ps < other->served_ps)
        queue->served_ps = other->served_ps;
    queue->jobs[(queue->head + queue->count++) & (queue->capacity - 1)] =
        (struct uvm_job){ now_ps, cost_ps, kind, id };
    sc_sim_little_arrive(&link->little, now_ps);
    if (link->done_ps == SC_SIM_NEVER_PS)
        start(link, queue, (double)now_ps);
}

struct uvm_job uvm_link_finish(struct uvm_link *link)
{
    const struct uvm_job job = link->job;
    const uint64_t now_ps = link->done_ps;
    struct uvm_queue *bulk = &link->queues[UVM_BULK], *remote = &link->queues[UVM_REMOTE];
    sc_sim_little_depart(&link->little, now_ps, job.arrived_ps);
    link->done_ps = SC_SIM_NEVER_PS;
    if (bulk->count > 0 && (remote->count == 0 || bulk->served_ps <= remote->served_ps))
        start(link, bulk, (double)now_ps);
    else if (remote->count > 0)
        start(link, remote, (double)now_ps);
    return job;
}

uint32_t uvm_link_jobs(const struct uvm_link *link)
{
    return link->queues[UVM_BULK].count + link->queues[UVM_REMOTE].count +
           (link->done_ps != SC_SIM_NEVER_PS);
}

double uvm_link_error(const struct uvm_link *link, uint64_t now_ps)
{
    const double area = (double)sc_sim_level_area(&link->little.number, now_ps);
    double stayed = (double)link->little.sojourn_ps;
    if (link->done_ps != SC_SIM_NEVER_PS)
        stayed += (double)(now_ps - link->job.arrived_ps);
    for (int i = 0; i < UVM_CLASSES; i++)
        for (uint32_t j = 0; j < link->queues[i].count; j++) {
            const struct uvm_queue *queue = &link->queues[i];
            stayed += (double)(now_ps -
                               queue->jobs[(queue->head + j) & (queue->capacity - 1)].arrived_ps);
        }
    const double larger = fmax(area, stayed);
    return larger > 0.0 ? fabs(area - stayed) / larger : 0.0;
}
