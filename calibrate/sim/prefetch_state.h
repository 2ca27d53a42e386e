/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of a run, shared by the files of the simulator of `prefetch`. */
#ifndef SC_SIM_PREFETCH_STATE_H
#define SC_SIM_PREFETCH_STATE_H

#include "sim/prefetch_engine.h"
#include "sim/prefetch_kernel.h"
#include "sim/prefetch_memory.h"
#include "sim/prefetch_store.h"

enum { PREFETCH_NONE = 0xffff };

/* ---- Wheels: what is due in which cycle ---- */

enum { WARP_WHEEL = 2048, FILL_WHEEL = 8192 };

/* ---- Lines that L1 waits for ---- */

enum { MSHR_BUCKETS = 1024 };

struct mshr {
    uint64_t line, since, due; /* cycles */
    uint8_t mask;              /* sectors that are asked for */
    uint8_t prefetch;          /* of them, those of a prefetch that nobody has demanded */
    uint8_t killed;            /* of them, those that a store has overtaken */
    uint8_t registers;         /* of them, those that go to registers */
    bool learns; /* the zero filter learns from it */
    prefetch_origin origin;
    uint16_t next, due_next; /* in its bucket; in its slot of the wheel, or free */
    uint32_t waiter;         /* first part of a load that waits for it, or NO_PART */
};

/* ---- Warps ---- */

enum { LOADS_IN_FLIGHT = 64 };
#define NO_PART UINT32_MAX

/* A load under way: due once no part of it is missing any more. */
struct flight {
    uint32_t needed_at; /* dynamic instruction that needs it */
    uint8_t missing;    /* parts that wait for an MSHR */
    uint8_t parts;      /* that have waited */
    uint32_t number;    /* among the loads of the kernel */
    uint64_t since, ready; /* cycles */
};

struct warp {
    uint64_t number;     /* in the grid */
    uint32_t order;      /* among those of this SM */
    uint64_t age;        /* smaller: older */
    uint32_t done;       /* instructions issued */
    uint32_t iteration;
    uint16_t position;   /* in the body */
    uint16_t load;       /* next load */
    uint32_t compute;    /* other instructions until it */
    uint16_t stores;     /* that are still to come in this iteration */
    /* of a trace; none: SC_WARP_TRACE_NONE and NULL */
    uint32_t access;     /* next instruction */
    uint32_t loads;      /* with those of the warps before it, so far */
    const struct sc_warp_stream *stream;
    uint16_t first, count; /* loads in flight, a ring */
    uint16_t cta;        /* slot */
    bool running;
    struct flight flight[LOADS_IN_FLIGHT];
};

/* ---- Front end ---- */

struct link { /* a stride and its confidence, 0 .. 7 */
    int64_t stride;
    uint8_t confidence;
    bool seen;
};

/* Load instructions, of a loop's body or a trace. */
enum { LOADS = SC_WARP_TRACE_LOADS };
_Static_assert((int)LOADS >= (int)SC_PREFETCH_LOADS_MAX, "a body must fit");

struct front {
    struct { uint64_t address; uint16_t load; bool seen; } head[SC_PREFETCH_WARPS_MAX];
    uint64_t last[LOADS][SC_PREFETCH_WARPS_MAX]; /* address + 1 */
    struct { uint64_t address; uint16_t warp; bool seen; } latest[LOADS];
    struct link link[SC_PREFETCH_PATTERNS][LOADS];
    uint16_t after[LOADS]; /* the load that followed this one last */
    const struct sc_warp_access *access[LOADS]; /* of a trace: the latest */
};

/* ---- Back end ---- */

/* One pattern: a load and how it was predicted. */
enum { PATTERNS = LOADS * SC_PREFETCH_PATTERNS };
_Static_assert(PATTERNS <= 1 << 10, "an origin must hold a pattern and a distance");

enum outcome { ON_TIME, EARLY, LATE, OUTCOMES };

struct tuned {
    uint32_t window[OUTCOMES];
    uint64_t samples;
    uint32_t best;
};

struct queued {
    uint64_t line;
    uint8_t mask;
    prefetch_origin origin;
    uint16_t next; /* in its bucket */
};

enum register_state { INVALID, WAITING, READY, CONSUMED };

struct register_entry {
    uint64_t line, since;
    uint8_t state[SC_PREFETCH_SECTORS];
    prefetch_origin origin[SC_PREFETCH_SECTORS];
    uint16_t next; /* in its bucket */
    bool used;
};

enum { QUEUE_BUCKETS = 512, REGISTER_BUCKETS = 256 };

struct back {
    uint8_t zero_count[PATTERNS];
    uint64_t zero_reset[PATTERNS]; /* cycle from which a suppressed pattern starts over */
    struct tuned local[PATTERNS], global[SC_PREFETCH_PATTERNS];
    uint32_t most[SC_PREFETCH_PATTERNS];
    struct queued *queue; /* a ring */
    uint32_t queue_size, queue_head, queue_count;
    uint16_t queue_bucket[QUEUE_BUCKETS];
    struct register_entry *registers;
    uint32_t register_count, register_next;
    uint16_t register_bucket[REGISTER_BUCKETS];
    double recent_latency; /* of fills, moving mean */
    uint64_t evicted_number; /* prefetched sectors evicted before use, ever */
};

/* ---- All of it ---- */

struct engine {
    const struct sc_prefetch *s;
    struct sc_prefetch_mechanisms m;
    struct sc_prefetch_machine machine;
    struct prefetch_kernel kernel;
    struct prefetch_result *r;
    bool failed; /* out of memory */
    const struct sc_sim_options *options;

    uint64_t now; /* cycles */
    uint32_t l1_latency, issue_gap;

    struct prefetch_cache l1;
    struct prefetch_zeros l1_zeros;
    struct prefetch_memory memory;
    uint64_t unused_sectors; /* in L1, prefetched and not demanded */
    uint64_t unused_limit;
    struct prefetch_map evicted;   /* prefetched, evicted before use, not demanded since */
    struct prefetch_map predicted; /* oracle of timeliness: predicted and not demanded yet */
    struct prefetch_map aside;     /* oracle of placement: prefetched data */

    struct mshr *mshrs;
    uint32_t mshr_size, mshr_used, prefetch_mshrs;
    uint16_t mshr_free;
    uint16_t mshr_bucket[MSHR_BUCKETS];
    uint64_t abandoned; /* prefetched sectors that nothing tracks any more: unused */
    uint64_t mshr_waited; /* entries x cycles, by residence */
    uint64_t mshr_area, mshr_changed;
    uint16_t fills[FILL_WHEEL];
    uint64_t fill_slots[FILL_WHEEL / 64];
    uint32_t *part_next; /* of each load in flight 1 << part_bits: of one, its sectors */
    unsigned part_bits;

    struct warp warps[SC_PREFETCH_WARPS_MAX];
    uint64_t ready, gap, loading, at_barrier, at_port, at_mshr; /* masks: why a warp waits */
    uint32_t mshrs_wanted; /* the fewest that one at_mshr waits for */
    uint64_t wheel[WARP_WHEEL];
    uint64_t wheel_slots[WARP_WHEEL / 64];
    uint64_t scheduled[4]; /* warps of each scheduler */
    int last[4];           /* that issued there */
    uint64_t ages;
    uint32_t next_cta, running;
    uint32_t barrier_count[SC_PREFETCH_WARPS_MAX]; /* by CTA slot */
    uint32_t cta_running[SC_PREFETCH_WARPS_MAX];
    uint64_t port_free; /* cycle in which the load/store port has a free slot */

    struct front front;
    struct back back;
};

static inline uint64_t line_of(uint64_t sector)
{
    return sector / SC_PREFETCH_SECTORS;
}

/* A line that an instruction of a trace touches, and which sectors of it. */
static inline uint64_t line_of_part(uint64_t part)
{
    return part >> SC_PREFETCH_SECTORS;
}

static inline unsigned mask_of_part(uint64_t part)
{
    return part & 15U;
}

/* An origin is a pattern and a distance. */
static inline prefetch_origin origin_of(unsigned pattern, unsigned distance)
{
    return (prefetch_origin)(pattern << 6 | distance);
}

static inline unsigned pattern_of(prefetch_origin origin)
{
    return origin >> 6;
}

static inline unsigned pattern_id(unsigned load, enum sc_prefetch_pattern pattern)
{
    return load * SC_PREFETCH_PATTERNS + (unsigned)pattern;
}

/* ---- L1 and its MSHRs: prefetch_l1.c ---- */

/* Sectors of the line that are in L1 or registers, or under way; metadata of
 * zeros does not count. */
unsigned prefetch_l1_present(struct engine *e, uint64_t line, unsigned mask);
/* Loads sectors for a load in flight of a warp, which is made to wait for those
 * that are not there.  As many MSHRs as sectors must be free. */
void prefetch_l1_load(struct engine *e, uint64_t line, unsigned mask, unsigned warp,
                      unsigned flight);
void prefetch_l1_store(struct engine *e, uint64_t line, unsigned mask);
/* Asks L2; an MSHR must be free. */
struct mshr *prefetch_l1_request(struct engine *e, uint64_t line, unsigned mask);
enum sc_status prefetch_l1_init(struct engine *e) SC_MUST_CHECK;
void prefetch_l1_fini(struct engine *e);
/* Takes the data that is due now. */
void prefetch_l1_fills(struct engine *e);
/* The cycle of the next fill, or UINT64_MAX. */
uint64_t prefetch_l1_next_fill(const struct engine *e);
/* Puts sectors into L1; of a prefetch if origin is one. */
void prefetch_l1_insert(struct engine *e, uint64_t line, unsigned mask, bool prefetch,
                        prefetch_origin origin);
/* A prefetched sector is gone before anyone came. */
void prefetch_evicted(struct engine *e, uint64_t sector, prefetch_origin origin);

/* ---- Warps: prefetch_engine.c ---- */

void prefetch_part_arrived(struct engine *e, uint32_t part);

/* ---- Front end: prefetch_front.c ---- */

/* Learns from a load and hands its candidates to the back end; of a trace, front.access[load]
 * is the load itself. */
void prefetch_front_load(struct engine *e, unsigned warp, unsigned load, uint64_t address);

/* ---- Back end: prefetch_back.c ---- */

enum sc_status prefetch_back_init(struct engine *e) SC_MUST_CHECK;
void prefetch_back_fini(struct engine *e);
/* One candidate: sectors of a line, predicted `distance` ahead. */
void prefetch_back_candidate(struct engine *e, uint64_t line, unsigned mask, unsigned pattern,
                             unsigned distance);
/* Issues the next of the queue if it can be; false: nothing to do until a fill. */
bool prefetch_back_issue(struct engine *e);
/* The best distance that the tuner knows for a pattern. */
unsigned prefetch_back_best(const struct engine *e, unsigned pattern);
void prefetch_back_feedback(struct engine *e, unsigned pattern, enum outcome outcome);
void prefetch_back_zero_seen(struct engine *e, unsigned pattern, bool zero);
struct register_entry *prefetch_registers_find(struct engine *e, uint64_t line);
double prefetch_back_mean_best(const struct engine *e);

#endif
