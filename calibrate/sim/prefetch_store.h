/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What holds data in the simulator of `prefetch`: sectored caches, metadata of
 * zeros, and a map of sectors without bounds.
 *
 * A line has SC_PREFETCH_SECTORS sectors of 32 bytes; masks have a bit for each.
 * All are created empty; SC_ENOSPACE when there is no memory.
 */
#ifndef SC_SIM_PREFETCH_STORE_H
#define SC_SIM_PREFETCH_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

enum { SC_PREFETCH_SECTORS = 4 };

/* What a prefetched sector remembers of where it came from. */
typedef uint16_t prefetch_origin;

/* ---- A cache: sets of ways, least recently used goes ---- */

struct prefetch_line {
    uint64_t tag;   /* line number + 1; 0: empty */
    uint64_t stamp; /* of the last use */
    uint8_t valid;
    uint8_t waiting; /* brought by a prefetch and not demanded yet */
    uint8_t demand;  /* brought by a demand */
    uint8_t dirty;
    prefetch_origin origin[SC_PREFETCH_SECTORS];
};

struct prefetch_cache {
    struct prefetch_line *lines;
    uint32_t sets, ways;
    uint64_t uses;
};

/* More than 2^21 lines are as good as 2^21: no kernel touches more. */
enum sc_status prefetch_cache_init(struct prefetch_cache *cache, double lines,
                                   double ways) SC_MUST_CHECK;
void prefetch_cache_fini(struct prefetch_cache *cache);

/* The line, or NULL; `use` makes it the most recent. */
struct prefetch_line *prefetch_cache_find(struct prefetch_cache *cache, uint64_t line, bool use);

/* A line that may be overwritten for `line`, which is not in the cache. */
struct prefetch_line *prefetch_cache_victim(struct prefetch_cache *cache, uint64_t line);

/* Makes the victim hold `line`, without any sector, as the most recent. */
void prefetch_cache_replace(struct prefetch_cache *cache, struct prefetch_line *victim,
                            uint64_t line);

/* ---- Metadata of zeros: one bit for each sector known to be zero ---- */

struct prefetch_zeros {
    struct prefetch_zero_line {
        uint64_t tag, stamp;
        uint64_t known[2];
    } *lines;
    uint32_t sets, ways;
    uint32_t covers; /* data lines for each line of metadata, at most 32 */
    uint64_t uses;
};

/* No lines: nothing is ever known. */
enum sc_status prefetch_zeros_init(struct prefetch_zeros *zeros, double lines,
                                   double covers) SC_MUST_CHECK;
void prefetch_zeros_fini(struct prefetch_zeros *zeros);

/* Which sectors of `mask` of the line are known to be zero. */
unsigned prefetch_zeros_known(struct prefetch_zeros *zeros, uint64_t line, unsigned mask);
/* A zero sector of the line has come: the line of metadata that covers it comes
 * with it, and says of all its sectors what `is_zero` does. */
void prefetch_zeros_learn(struct prefetch_zeros *zeros, uint64_t line,
                          bool (*is_zero)(const void *context, uint64_t sector),
                          const void *context);

/* ---- A map from sectors, without bounds ---- */

struct prefetch_map {
    struct prefetch_map_entry {
        uint64_t key;  /* sector + 1; 0: empty */
        uint64_t when; /* a number of the owner's */
        prefetch_origin origin;
    } *entries;
    size_t capacity, count;
};

enum sc_status prefetch_map_init(struct prefetch_map *map) SC_MUST_CHECK;
void prefetch_map_fini(struct prefetch_map *map);
/* NULL if absent; the pointer holds until the next change. */
const struct prefetch_map_entry *prefetch_map_find(const struct prefetch_map *map, uint64_t sector);
/* Sets or overwrites.  SC_ENOSPACE: unchanged. */
enum sc_status prefetch_map_set(struct prefetch_map *map, uint64_t sector, uint64_t when,
                                prefetch_origin origin) SC_MUST_CHECK;
/* Whether it was there. */
bool prefetch_map_remove(struct prefetch_map *map, uint64_t sector);

#endif
