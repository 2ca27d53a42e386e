/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/prefetch_memory.h"

#include <math.h>
#include <stdlib.h>

/* ---- Servers ---- */

static void leave_until(struct prefetch_server *server, uint64_t now)
{
    while (server->count > 0 && server->departures[server->head] <= now) {
        const uint64_t then = server->departures[server->head];
        server->area += (sc_sim_wide)(then - server->arrived_at) * server->count;
        server->arrived_at = then;
        server->head = (server->head + 1) % server->capacity;
        server->count--;
    }
    server->area += (sc_sim_wide)(now - server->arrived_at) * server->count;
    server->arrived_at = now;
}

static bool note_departure(struct prefetch_server *server, uint64_t departure)
{
    if (server->count == server->capacity) {
        const size_t capacity = server->capacity == 0 ? 256 : 2 * server->capacity;
        uint64_t *departures = malloc(capacity * sizeof *departures);
        if (departures == NULL)
            return false;
        for (size_t i = 0; i < server->count; i++)
            departures[i] = server->departures[(server->head + i) % server->capacity];
        free(server->departures);
        server->departures = departures;
        server->capacity = capacity;
        server->head = 0;
    }
    server->departures[(server->head + server->count) % server->capacity] = departure;
    server->count++;
    return true;
}

/* Serves a request that comes at now; returns when its service starts. */
static uint64_t serve(struct prefetch_memory *memory, struct prefetch_server *server,
                      unsigned sectors, uint64_t now)
{
    const uint64_t start = server->free_at > now ? server->free_at : now;
    const double exact = sectors * server->ticks_per_sector + server->fraction;
    const uint64_t service = (uint64_t)exact;
    server->fraction = exact - (double)service;
    server->free_at = start + service;
    server->sectors += sectors;
    server->waited += server->free_at - now;
    if (memory->check) {
        leave_until(server, now);
        server->arrivals++;
        if (!note_departure(server, server->free_at))
            memory->failed = true;
    }
    return start;
}

static double little(struct prefetch_server *server)
{
    if (server->arrivals == 0)
        return 0.0;
    leave_until(server, server->free_at > server->arrived_at ? server->free_at : server->arrived_at);
    return fabs((double)server->area - (double)server->waited) / fmax(1.0, (double)server->waited);
}

/* ---- L2 and memory ---- */

enum sc_status prefetch_memory_init(struct prefetch_memory *memory, const struct sc_prefetch *s,
                                    const struct sc_prefetch_mechanisms *mechanisms,
                                    const struct prefetch_kernel *kernel, struct sc_sim_rng rng,
                                    bool check)
{
    const struct sc_prefetch_machine machine = sc_prefetch_machine(s, mechanisms);
    const double ticks = PREFETCH_TICKS;
    *memory = (struct prefetch_memory){
        .kernel = kernel,
        .rng = rng,
        .l2_latency = (uint64_t)(s->l2_latency_cycles * ticks),
        .jitter = s->dram_jitter_cycles * ticks,
        .zero_cache = mechanisms->zero_cache,
        .check = check,
    };
    memory->dram_latency =
        (uint64_t)(fmax(0.0, s->dram_latency_cycles - s->dram_jitter_cycles -
                                 s->l2_latency_cycles / 2) * ticks);
    memory->l2_port.ticks_per_sector = SC_PREFETCH_SECTOR / s->l2_bytes_per_cycle * ticks;
    memory->dram.ticks_per_sector = SC_PREFETCH_SECTOR / machine.dram_bytes_per_cycle * ticks;
    enum sc_status status = prefetch_cache_init(&memory->l2, machine.l2_lines, s->l2_ways);
    if (status == SC_OK)
        status = prefetch_zeros_init(&memory->l2_zeros, machine.l2_zero_lines, s->zero_lines);
    return status;
}

void prefetch_memory_fini(struct prefetch_memory *memory)
{
    prefetch_cache_fini(&memory->l2);
    prefetch_zeros_fini(&memory->l2_zeros);
    free(memory->l2_port.departures);
    free(memory->dram.departures);
    *memory = (struct prefetch_memory){ 0 };
}

/* True if another SM has brought the line into L2. */
static bool brought_by_others(const struct prefetch_memory *memory, uint64_t line)
{
    const uint64_t sharing = memory->kernel->body.sharing;
    return sharing > 1 && sc_prefetch_hash(line) % sharing != 0;
}

static struct prefetch_line *l2_line(struct prefetch_memory *memory, uint64_t line, uint64_t now)
{
    struct prefetch_line *entry = prefetch_cache_find(&memory->l2, line, true);
    if (entry != NULL)
        return entry;
    entry = prefetch_cache_victim(&memory->l2, line);
    if (entry->dirty != 0) {
        const unsigned sectors = (unsigned)__builtin_popcount(entry->dirty);
        (void)serve(memory, &memory->dram, sectors, now);
        memory->written += sectors;
    }
    prefetch_cache_replace(&memory->l2, entry, line);
    return entry;
}

bool prefetch_memory_is_zero(const void *kernel, uint64_t sector)
{
    return prefetch_kernel_is_zero(kernel, sector);
}

static unsigned zero_sectors(const struct prefetch_memory *memory, uint64_t line, unsigned mask)
{
    unsigned zeros = 0;
    for (unsigned i = 0; i < SC_PREFETCH_SECTORS; i++)
        if ((mask >> i & 1) != 0 &&
            prefetch_kernel_is_zero(memory->kernel, line * SC_PREFETCH_SECTORS + i))
            zeros |= 1U << i;
    return zeros;
}

uint64_t prefetch_memory_read(struct prefetch_memory *memory, uint64_t line, unsigned mask,
                              uint64_t now)
{
    const uint64_t start =
        serve(memory, &memory->l2_port, (unsigned)__builtin_popcount(mask), now);
    const uint64_t at_l2 = start + memory->l2_latency / 2, back = start + memory->l2_latency;
    unsigned missing = mask;
    if (memory->zero_cache)
        missing &= ~prefetch_zeros_known(&memory->l2_zeros, line, mask);
    if (missing == 0)
        return back;
    struct prefetch_line *entry = prefetch_cache_find(&memory->l2, line, true);
    if (entry != NULL)
        missing &= ~(unsigned)entry->valid;
    if (missing == 0)
        return back;
    const unsigned zeros = memory->zero_cache ? zero_sectors(memory, line, missing) : 0;
    if (zeros != 0)
        prefetch_zeros_learn(&memory->l2_zeros, line, prefetch_memory_is_zero, memory->kernel);
    if ((missing & ~zeros) != 0)
        l2_line(memory, line, at_l2)->valid |= (uint8_t)(missing & ~zeros);
    if (brought_by_others(memory, line))
        return back;
    const uint64_t served = serve(memory, &memory->dram, (unsigned)__builtin_popcount(missing), at_l2);
    return served + memory->dram_latency +
           (uint64_t)sc_sim_rng_exponential(&memory->rng, memory->jitter);
}

void prefetch_memory_write(struct prefetch_memory *memory, uint64_t line, unsigned mask,
                           uint64_t now)
{
    const uint64_t start =
        serve(memory, &memory->l2_port, (unsigned)__builtin_popcount(mask), now);
    memory->l2_port.sectors -= (unsigned)__builtin_popcount(mask); /* not read */
    struct prefetch_line *entry = l2_line(memory, line, start + memory->l2_latency / 2);
    entry->valid |= (uint8_t)mask;
    entry->dirty |= (uint8_t)mask;
}

uint64_t prefetch_memory_backlog(const struct prefetch_memory *memory, uint64_t now)
{
    const uint64_t later = memory->l2_port.free_at > memory->dram.free_at ? memory->l2_port.free_at
                                                                          : memory->dram.free_at;
    return later > now ? later - now : 0;
}

double prefetch_memory_little(struct prefetch_memory *memory)
{
    return fmax(little(&memory->l2_port), little(&memory->dram));
}
