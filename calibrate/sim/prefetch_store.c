/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/prefetch_store.h"

#include <stdlib.h>
#include <string.h>

/* Multiplication by the golden ratio; the high bits are the good ones. */
static inline uint32_t scatter(uint64_t value)
{
    return (uint32_t)((value * 0x9e3779b97f4a7c15U) >> 32);
}

static inline uint32_t set_of(uint64_t line, uint32_t sets)
{
    return (uint32_t)(((uint64_t)scatter(line) * sets) >> 32);
}

/* ---- Caches ---- */

static const double lines_max = 2097152;

enum sc_status prefetch_cache_init(struct prefetch_cache *cache, double lines, double ways)
{
    *cache = (struct prefetch_cache){ 0 };
    if (lines > lines_max)
        lines = lines_max;
    if (ways > lines)
        ways = lines;
    cache->ways = (uint32_t)ways;
    cache->sets = (uint32_t)(lines / ways);
    cache->lines = calloc((size_t)cache->sets * cache->ways, sizeof *cache->lines);
    return cache->lines == NULL ? SC_ENOSPACE : SC_OK;
}

void prefetch_cache_fini(struct prefetch_cache *cache)
{
    free(cache->lines);
    *cache = (struct prefetch_cache){ 0 };
}

struct prefetch_line *prefetch_cache_find(struct prefetch_cache *cache, uint64_t line, bool use)
{
    struct prefetch_line *set = &cache->lines[(size_t)set_of(line, cache->sets) * cache->ways];
    for (uint32_t i = 0; i < cache->ways; i++)
        if (set[i].tag == line + 1) {
            if (use)
                set[i].stamp = ++cache->uses;
            return &set[i];
        }
    return NULL;
}

struct prefetch_line *prefetch_cache_victim(struct prefetch_cache *cache, uint64_t line)
{
    struct prefetch_line *set = &cache->lines[(size_t)set_of(line, cache->sets) * cache->ways];
    struct prefetch_line *oldest = set;
    for (uint32_t i = 0; i < cache->ways; i++) {
        if (set[i].valid == 0)
            return &set[i];
        if (set[i].stamp < oldest->stamp)
            oldest = &set[i];
    }
    return oldest;
}

void prefetch_cache_replace(struct prefetch_cache *cache, struct prefetch_line *victim,
                            uint64_t line)
{
    *victim = (struct prefetch_line){ .tag = line + 1, .stamp = ++cache->uses };
}

/* ---- Zeros ---- */

enum { ZERO_WAYS = 16 };

enum sc_status prefetch_zeros_init(struct prefetch_zeros *zeros, double lines, double covers)
{
    *zeros = (struct prefetch_zeros){ .covers = (uint32_t)covers };
    if (lines < 1)
        return SC_OK;
    if (lines > lines_max)
        lines = lines_max;
    zeros->ways = lines < ZERO_WAYS ? (uint32_t)lines : ZERO_WAYS;
    zeros->sets = (uint32_t)lines / zeros->ways;
    zeros->lines = calloc((size_t)zeros->sets * zeros->ways, sizeof *zeros->lines);
    return zeros->lines == NULL ? SC_ENOSPACE : SC_OK;
}

void prefetch_zeros_fini(struct prefetch_zeros *zeros)
{
    free(zeros->lines);
    *zeros = (struct prefetch_zeros){ 0 };
}

static struct prefetch_zero_line *zero_set(const struct prefetch_zeros *zeros, uint64_t region)
{
    return &zeros->lines[(size_t)set_of(region, zeros->sets) * zeros->ways];
}

unsigned prefetch_zeros_known(struct prefetch_zeros *zeros, uint64_t line, unsigned mask)
{
    if (zeros->sets == 0)
        return 0;
    const uint64_t region = line / zeros->covers;
    const unsigned bit = (unsigned)(line % zeros->covers) * SC_PREFETCH_SECTORS;
    struct prefetch_zero_line *set = zero_set(zeros, region);
    for (uint32_t i = 0; i < zeros->ways; i++)
        if (set[i].tag == region + 1) {
            set[i].stamp = ++zeros->uses;
            return (unsigned)(set[i].known[bit / 64] >> (bit % 64)) & mask;
        }
    return 0;
}

void prefetch_zeros_learn(struct prefetch_zeros *zeros, uint64_t line,
                          bool (*is_zero)(const void *context, uint64_t sector),
                          const void *context)
{
    if (zeros->sets == 0)
        return;
    const uint64_t region = line / zeros->covers;
    struct prefetch_zero_line *set = zero_set(zeros, region), *place = set;
    for (uint32_t i = 0; i < zeros->ways; i++) {
        if (set[i].tag == region + 1) {
            set[i].stamp = ++zeros->uses;
            return;
        }
        if (set[i].stamp < place->stamp)
            place = &set[i];
    }
    *place = (struct prefetch_zero_line){ .tag = region + 1, .stamp = ++zeros->uses };
    const unsigned sectors = zeros->covers * SC_PREFETCH_SECTORS;
    for (unsigned i = 0; i < sectors; i++)
        if (is_zero(context, region * sectors + i))
            place->known[i / 64] |= UINT64_C(1) << (i % 64);
}

/* ---- The map: open addressing, linear probing, backward shift ---- */

enum { MAP_FIRST = 1024 };

enum sc_status prefetch_map_init(struct prefetch_map *map)
{
    *map = (struct prefetch_map){ .capacity = MAP_FIRST };
    map->entries = calloc(map->capacity, sizeof *map->entries);
    return map->entries == NULL ? SC_ENOSPACE : SC_OK;
}

void prefetch_map_fini(struct prefetch_map *map)
{
    free(map->entries);
    *map = (struct prefetch_map){ 0 };
}

static size_t home(const struct prefetch_map *map, uint64_t key)
{
    return scatter(key) & (map->capacity - 1);
}

static size_t place_of(const struct prefetch_map *map, uint64_t key)
{
    size_t i = home(map, key);
    while (map->entries[i].key != 0 && map->entries[i].key != key)
        i = (i + 1) & (map->capacity - 1);
    return i;
}

const struct prefetch_map_entry *prefetch_map_find(const struct prefetch_map *map, uint64_t sector)
{
    const size_t i = place_of(map, sector + 1);
    return map->entries[i].key != 0 ? &map->entries[i] : NULL;
}

static enum sc_status grow(struct prefetch_map *map)
{
    struct prefetch_map larger = { .capacity = 2 * map->capacity, .count = map->count };
    larger.entries = calloc(larger.capacity, sizeof *larger.entries);
    if (larger.entries == NULL)
        return SC_ENOSPACE;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->entries[i].key != 0)
            larger.entries[place_of(&larger, map->entries[i].key)] = map->entries[i];
    free(map->entries);
    *map = larger;
    return SC_OK;
}

enum sc_status prefetch_map_set(struct prefetch_map *map, uint64_t sector, uint64_t when,
                                prefetch_origin origin)
{
    if (2 * map->count >= map->capacity && grow(map) != SC_OK)
        return SC_ENOSPACE;
    const size_t i = place_of(map, sector + 1);
    map->count += map->entries[i].key == 0;
    map->entries[i] = (struct prefetch_map_entry){ sector + 1, when, origin };
    return SC_OK;
}

bool prefetch_map_remove(struct prefetch_map *map, uint64_t sector)
{
    const size_t mask = map->capacity - 1;
    size_t hole = place_of(map, sector + 1);
    if (map->entries[hole].key == 0)
        return false;
    map->count--;
    for (size_t i = (hole + 1) & mask; map->entries[i].key != 0; i = (i + 1) & mask) {
        /* An entry may move back to the hole if its home is not after it. */
        const size_t distance = (i - home(map, map->entries[i].key)) & mask;
        if (distance >= ((i - hole) & mask)) {
            map->entries[hole] = map->entries[i];
            hole = i;
        }
    }
    map->entries[hole].key = 0;
    return true;
}
