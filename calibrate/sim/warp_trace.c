/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/warp_trace.h"

#include <stdlib.h>
#include <string.h>

#include "prefetch_workload.h"

_Static_assert((int)SC_WARP_TRACE_WARPS == (int)SC_PREFETCH_WARPS_MAX, "a CTA must fit an SM");
_Static_assert(SC_WARP_TRACE_SECTORS <= UINT8_MAX && SC_WARP_TRACE_DEPENDENCE <= UINT16_MAX,
               "the members of struct sc_warp_access hold them");

struct sc_warp_trace *sc_warp_trace_create(void)
{
    struct sc_warp_trace *t = calloc(1, sizeof *t);
    if (t == NULL || prefetch_map_init(&t->ctas) != SC_OK ||
        prefetch_map_init(&t->warps) != SC_OK) {
        sc_warp_trace_destroy(t);
        return NULL;
    }
    return t;
}

void sc_warp_trace_destroy(struct sc_warp_trace *t)
{
    if (t == NULL)
        return;
    free(t->accesses);
    free(t->parts);
    free(t->streams);
    free(t->cta_streams);
    free(t->zeros);
    prefetch_map_fini(&t->ctas);
    prefetch_map_fini(&t->warps);
    free(t);
}

/* Room for `count` more items behind those used, in the array whose address is at `items`;
 * false: out of memory. */
static bool make_room(void *items, size_t size, size_t used, size_t count, size_t *capacity)
{
    size_t wanted = *capacity > 0 ? *capacity : 256;
    void *array;
    while (wanted < used + count)
        wanted *= 2;
    if (wanted == *capacity)
        return true;
    memcpy(&array, items, sizeof array);
    array = wanted <= SIZE_MAX / size ? realloc(array, wanted * size) : NULL;
    if (array == NULL)
        return false;
    memcpy(items, &array, sizeof array);
    *capacity = wanted;
    return true;
}

#define MAKE_ROOM(items, used, count, capacity) \
    make_room(&(items), sizeof *(items), used, count, &(capacity))

/* ---- Names of loads ---- */

enum { SLOTS = 2 * SC_WARP_TRACE_LOADS };

/* FNV-1a. */
static size_t name_home(const char *name)
{
    uint64_t hash = 0xcbf29ce484222325U;
    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3U;
    return (size_t)(sc_prefetch_hash(hash) % SLOTS);
}

/* The number of the name, which is entered if it is new; SC_WARP_TRACE_LOADS: no room. */
static unsigned name_number(struct sc_warp_trace *t, const char *name)
{
    size_t slot = name_home(name);
    while (t->name_slots[slot] != 0) {
        const unsigned number = t->name_slots[slot] - 1U;
        if (strcmp(t->names[number], name) == 0)
            return number;
        slot = (slot + 1) % SLOTS;
    }
    if (t->name_count == SC_WARP_TRACE_LOADS)
        return SC_WARP_TRACE_LOADS;
    memcpy(t->names[t->name_count], name, strlen(name) + 1);
    t->name_slots[slot] = (uint16_t)++t->name_count;
    return t->name_count - 1;
}

/* ---- Warps ---- */

/* The number that a key has got, or *count, which is then taken; UINT64_MAX: no memory. */
static uint64_t number_of(struct prefetch_map *map, uint64_t key)
{
    const struct prefetch_map_entry *entry = prefetch_map_find(map, key);
    if (entry != NULL)
        return entry->when;
    const uint64_t number = map->count;
    return prefetch_map_set(map, key, number, 0) == SC_OK ? number : UINT64_MAX;
}

static struct sc_warp_stream *stream_of(struct sc_warp_trace *t, uint64_t cta, unsigned warp)
{
    const uint64_t number = number_of(&t->ctas, cta);
    if (number == UINT64_MAX ||
        !MAKE_ROOM(t->streams, t->stream_count, 1, t->stream_capacity))
        return NULL;
    const uint64_t stream = number_of(&t->warps, number * SC_WARP_TRACE_WARPS + warp);
    if (stream == UINT64_MAX)
        return NULL;
    if (stream == t->stream_count) {
        t->streams[t->stream_count++] = (struct sc_warp_stream){
            .cta = cta, .warp = warp, .first = SC_WARP_TRACE_NONE, .last = SC_WARP_TRACE_NONE,
        };
        if (warp >= t->cta_warps)
            t->cta_warps = warp + 1;
    }
    return &t->streams[stream];
}

/* ---- Coalescing ---- */

struct coalesced {
    uint64_t part[SC_WARP_TRACE_SECTORS];
    unsigned parts, sectors;
};

static bool touch(struct coalesced *c, uint64_t sector)
{
    const uint64_t line = sector / SC_PREFETCH_SECTORS;
    const uint64_t bit = UINT64_C(1) << (sector % SC_PREFETCH_SECTORS);
    unsigned i = c->parts;
    while (i > 0 && c->part[i - 1] >> SC_PREFETCH_SECTORS != line)
        i--;
    if (i > 0 && (c->part[i - 1] & bit) != 0)
        return true;
    if (c->sectors == SC_WARP_TRACE_SECTORS)
        return false;
    c->sectors++;
    if (i > 0)
        c->part[i - 1] |= bit;
    else
        c->part[c->parts++] = line << SC_PREFETCH_SECTORS | bit;
    return true;
}

static enum sc_warp_fault coalesce(struct coalesced *c, const struct sc_warp_instruction *in)
{
    c->parts = c->sectors = 0;
    for (size_t i = 0; i < in->lanes; i++) {
        const uint64_t first = in->address[i], last = first + (in->lane_bytes - 1);
        if (last < first)
            return SC_WARP_WRAPS;
        for (uint64_t sector = first / SC_PREFETCH_SECTOR; sector <= last / SC_PREFETCH_SECTOR;
             sector++)
            if (!touch(c, sector))
                return SC_WARP_WIDE;
    }
    return SC_WARP_FINE;
}

/* ---- Adding ---- */

static void append(struct sc_warp_trace *t, struct sc_warp_stream *stream,
                   const struct sc_warp_instruction *in, const struct coalesced *c, unsigned load)
{
    const uint32_t index = (uint32_t)t->access_count++;
    t->accesses[index] = (struct sc_warp_access){
        .address = in->lanes > 0 ? in->address[0] : 0,
        .next = SC_WARP_TRACE_NONE,
        .again = SC_WARP_TRACE_NONE,
        .compute = in->compute,
        .part = (uint32_t)t->part_count,
        .load = (uint16_t)load,
        .dependence = in->dependence,
        .op = (uint8_t)in->op,
        .parts = (uint8_t)c->parts,
        .sectors = (uint8_t)c->sectors,
    };
    for (unsigned i = 0; i < c->parts; i++)
        t->parts[t->part_count++] = c->part[i];
    if (stream->last == SC_WARP_TRACE_NONE)
        stream->first = index;
    else
        t->accesses[stream->last].next = index;
    stream->last = index;
    t->loads += in->op == SC_WARP_LOAD;
    if (c->sectors > t->sectors)
        t->sectors = c->sectors;
}

enum sc_warp_fault sc_warp_trace_add(struct sc_warp_trace *t, const struct sc_warp_instruction *in)
{
    struct coalesced c;
    unsigned load = 0;
    const enum sc_warp_fault fault = coalesce(&c, in);
    if (fault != SC_WARP_FINE)
        return fault;
    if (t->access_count == SC_WARP_TRACE_ACCESSES || t->part_count + c.parts > SC_WARP_TRACE_PARTS)
        return SC_WARP_ACCESSES;
    if (!MAKE_ROOM(t->accesses, t->access_count, 1, t->access_capacity) ||
        !MAKE_ROOM(t->parts, t->part_count, c.parts, t->part_capacity))
        return SC_WARP_NO_MEMORY;
    struct sc_warp_stream *stream = stream_of(t, in->cta, in->warp);
    if (stream == NULL)
        return SC_WARP_NO_MEMORY;
    if (stream->ended)
        return SC_WARP_ENDED;
    if (in->op == SC_WARP_LOAD && (load = name_number(t, in->name)) == SC_WARP_TRACE_LOADS)
        return SC_WARP_NAMES;
    t->instructions += in->op == SC_WARP_LOAD || in->op == SC_WARP_STORE;
    if (in->compute == SC_WARP_TRACE_UNTOLD)
        t->untold++;
    else
        t->instructions += in->compute;
    if (in->op == SC_WARP_EXIT) {
        stream->ended = true;
        stream->compute = in->compute;
    } else {
        append(t, stream, in, &c, load);
    }
    return SC_WARP_FINE;
}

enum sc_warp_fault sc_warp_trace_add_zeros(struct sc_warp_trace *t, uint64_t first, uint64_t last)
{
    if (t->zero_count == SC_WARP_TRACE_ACCESSES)
        return SC_WARP_ACCESSES;
    if (!MAKE_ROOM(t->zeros, t->zero_count, 1, t->zero_capacity))
        return SC_WARP_NO_MEMORY;
    t->zeros[t->zero_count++] = (struct sc_warp_zeros){ first, last };
    return SC_WARP_FINE;
}

/* ---- Finishing ---- */

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_streams(const void *a, const void *b)
{
    const struct sc_warp_stream *x = a, *y = b;
    return x->cta != y->cta ? compare(x->cta, y->cta) : compare(x->warp, y->warp);
}

static int compare_zeros(const void *a, const void *b)
{
    const struct sc_warp_zeros *x = a, *y = b;
    return compare(x->first, y->first);
}

/* Joins the regions that overlap or meet, and keeps the sectors that lie in them whole. */
static void finish_zeros(struct sc_warp_trace *t)
{
    size_t joined = 0, kept = 0;
    if (t->zero_count == 0)
        return;
    qsort(t->zeros, t->zero_count, sizeof *t->zeros, compare_zeros);
    for (size_t i = 1; i < t->zero_count; i++) {
        struct sc_warp_zeros *end = &t->zeros[joined];
        if (t->zeros[i].first > end->last && t->zeros[i].first - 1 > end->last)
            t->zeros[++joined] = t->zeros[i];
        else if (t->zeros[i].last > end->last)
            end->last = t->zeros[i].last;
    }
    for (size_t i = 0; i <= joined; i++) {
        const struct sc_warp_zeros z = t->zeros[i];
        const uint64_t first = z.first / SC_PREFETCH_SECTOR + (z.first % SC_PREFETCH_SECTOR != 0);
        const uint64_t end = z.last / SC_PREFETCH_SECTOR +
                             (z.last % SC_PREFETCH_SECTOR == SC_PREFETCH_SECTOR - 1);
        if (first < end)
            t->zeros[kept++] = (struct sc_warp_zeros){ first, end - 1 };
    }
    t->zero_count = kept;
}

static enum sc_status finish_ctas(struct sc_warp_trace *t)
{
    t->cta_streams = calloc(t->ctas.count + 1, sizeof *t->cta_streams);
    if (t->cta_streams == NULL)
        return SC_ENOSPACE;
    for (size_t i = 0; i < t->stream_count; i++)
        if (i == 0 || t->streams[i].cta != t->streams[i - 1].cta)
            t->cta_streams[t->cta_count++] = (uint32_t)i;
    t->cta_streams[t->cta_count] = (uint32_t)t->stream_count;
    return SC_OK;
}

/* Counts the loads before each warp, and links each load with its next time. */
static void finish_loads(struct sc_warp_trace *t)
{
    uint32_t latest[SC_WARP_TRACE_LOADS], loads = 0;
    for (size_t i = 0; i < t->stream_count; i++) {
        for (unsigned k = 0; k < t->name_count; k++)
            latest[k] = SC_WARP_TRACE_NONE;
        t->streams[i].loads = loads;
        for (uint32_t k = t->streams[i].first; k != SC_WARP_TRACE_NONE; k = t->accesses[k].next) {
            const struct sc_warp_access *a = &t->accesses[k];
            if (a->op != SC_WARP_LOAD)
                continue;
            if (latest[a->load] != SC_WARP_TRACE_NONE)
                t->accesses[latest[a->load]].again = k;
            latest[a->load] = k;
            loads++;
        }
    }
}

enum sc_status sc_warp_trace_finish(struct sc_warp_trace *t)
{
    if (t->stream_count > 0)
        qsort(t->streams, t->stream_count, sizeof *t->streams, compare_streams);
    if (finish_ctas(t) != SC_OK)
        return SC_ENOSPACE;
    finish_loads(t);
    finish_zeros(t);
    prefetch_map_fini(&t->ctas);
    prefetch_map_fini(&t->warps);
    return SC_OK;
}

/* ---- Of a finished trace ---- */

const struct sc_warp_stream *sc_warp_trace_stream(const struct sc_warp_trace *t, size_t cta,
                                                  unsigned warp)
{
    for (uint32_t i = t->cta_streams[cta]; i < t->cta_streams[cta + 1]; i++)
        if (t->streams[i].warp == warp)
            return &t->streams[i];
    return NULL;
}

bool sc_warp_trace_is_zero(const struct sc_warp_trace *t, uint64_t sector)
{
    size_t low = 0, high = t->zero_count; /* the first region that ends at or behind it */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (t->zeros[middle].last < sector)
            low = middle + 1;
        else
            high = middle;
    }
    return low < t->zero_count && t->zeros[low].first <= sector;
}
