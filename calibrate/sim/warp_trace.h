/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the warps of a kernel do to memory, instruction by instruction: a trace that a
 * simulator replays.
 *
 * Instructions are added in the order in which each warp executes them; how those of
 * different warps interleave makes no difference.  What an instruction touches is coalesced
 * to sectors of 32 bytes as it is added, line by line in the order of its lanes.  Then the
 * trace is finished: CTAs stand in the order of their numbers, warps in that of theirs, and
 * nothing is added or changed any more, so that any number of threads may read it.
 *
 * Memory: about 32 bytes an instruction and 8 a line that it touches; twice as much while
 * instructions are added.
 */
#ifndef SC_SIM_WARP_TRACE_H
#define SC_SIM_WARP_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/prefetch_store.h"
#include "status.h"

enum {
    SC_WARP_TRACE_WARPS = 64,         /* of a CTA */
    SC_WARP_TRACE_LOADS = 256,        /* load instructions, told apart by name */
    SC_WARP_TRACE_NAME = 64,          /* bytes of a name, with its end */
    SC_WARP_TRACE_SECTORS = 128,      /* that an instruction touches */
    SC_WARP_TRACE_LANES = 128,        /* addresses of an instruction */
    SC_WARP_TRACE_LANE_BYTES = 128,
    SC_WARP_TRACE_COMPUTE = 1000000,  /* instructions before one */
    SC_WARP_TRACE_DEPENDENCE = 10000,
    SC_WARP_TRACE_ACCESSES = 1 << 24, /* instructions, and likewise regions of zeros */
    SC_WARP_TRACE_PARTS = 1 << 26     /* lines that all instructions touch */
};
#define SC_WARP_TRACE_UNTOLD UINT32_MAX /* compute: as the scenario says */
#define SC_WARP_TRACE_NONE UINT32_MAX   /* no further instruction */

/* The last two touch nothing.  exit is no instruction: its compute are the warp's last. */
enum sc_warp_op { SC_WARP_LOAD, SC_WARP_STORE, SC_WARP_BARRIER, SC_WARP_EXIT };

/* One instruction as it is added. */
struct sc_warp_instruction {
    uint64_t cta;         /* below UINT64_MAX */
    unsigned warp;        /* of its CTA */
    const char *name;     /* of a load: where it stands in the program; not kept */
    enum sc_warp_op op;
    const uint64_t *address; /* of each active lane */
    size_t lanes;
    unsigned lane_bytes;
    uint32_t compute;     /* other instructions before it, or SC_WARP_TRACE_UNTOLD */
    uint16_t dependence;  /* of a load: instructions to the first that needs it; 0: untold */
};

/* One instruction as it is kept. */
struct sc_warp_access {
    uint64_t address; /* of the first lane */
    uint32_t next;    /* instruction of the warp, or SC_WARP_TRACE_NONE */
    uint32_t again;   /* the next time that the warp executes this load, or likewise */
    uint32_t compute;
    uint32_t part;    /* the first line it touches: of parts[] */
    uint16_t load;    /* number of the load's name */
    uint16_t dependence;
    uint8_t op, parts, sectors;
};

struct sc_warp_stream {
    uint64_t cta;
    uint32_t warp;
    uint32_t first, last; /* instructions, or SC_WARP_TRACE_NONE */
    uint32_t compute;     /* instructions behind the last */
    uint32_t loads;       /* of all warps before */
    bool ended;           /* by an exit */
};

struct sc_warp_trace {
    struct sc_warp_access *accesses;
    size_t access_count, access_capacity;
    uint64_t *parts; /* line << 4 | mask of its sectors */
    size_t part_count, part_capacity;
    struct sc_warp_stream *streams; /* by CTA and warp once finished */
    size_t stream_count, stream_capacity;
    uint32_t *cta_streams; /* finished: the first of each CTA, and the end */
    size_t cta_count;
    struct sc_warp_zeros {
        uint64_t first, last; /* bytes; finished: whole sectors, apart and in order */
    } *zeros;
    size_t zero_count, zero_capacity;
    char names[SC_WARP_TRACE_LOADS][SC_WARP_TRACE_NAME];
    uint16_t name_slots[2 * SC_WARP_TRACE_LOADS]; /* number + 1 */
    unsigned name_count;
    unsigned cta_warps;           /* the highest warp number + 1 */
    unsigned sectors;             /* the most that an instruction touches */
    uint64_t loads;
    uint64_t instructions, untold; /* with all that is told; without as many computes */
    struct prefetch_map ctas, warps; /* while instructions are added */
};

/* What keeps an instruction out of the trace, which is then of no more use. */
enum sc_warp_fault {
    SC_WARP_FINE,
    SC_WARP_NO_MEMORY,
    SC_WARP_ENDED,    /* the warp has exited */
    SC_WARP_WRAPS,    /* a lane's bytes go beyond 2^64 */
    SC_WARP_WIDE,     /* more than SC_WARP_TRACE_SECTORS */
    SC_WARP_NAMES,    /* more than SC_WARP_TRACE_LOADS names */
    SC_WARP_ACCESSES, /* more than SC_WARP_TRACE_ACCESSES, or _PARTS */
};

/* NULL: out of memory. */
struct sc_warp_trace *sc_warp_trace_create(void);
void sc_warp_trace_destroy(struct sc_warp_trace *trace);

/* Numbers must be within the limits above; loads and stores have at least one lane. */
enum sc_warp_fault sc_warp_trace_add(struct sc_warp_trace *trace,
                                     const struct sc_warp_instruction *instruction) SC_MUST_CHECK;

/* These bytes hold zeros, all the time; `last` is one of them. */
enum sc_warp_fault sc_warp_trace_add_zeros(struct sc_warp_trace *trace, uint64_t first,
                                           uint64_t last) SC_MUST_CHECK;

/* SC_ENOSPACE: of no more use. */
enum sc_status sc_warp_trace_finish(struct sc_warp_trace *trace) SC_MUST_CHECK;

/* ---- Of a finished trace ---- */

/* The warp of the n-th CTA, or NULL when it does nothing. */
const struct sc_warp_stream *sc_warp_trace_stream(const struct sc_warp_trace *trace, size_t cta,
                                                  unsigned warp);

/* True if the sector (address / 32) is known to hold only zeros. */
bool sc_warp_trace_is_zero(const struct sc_warp_trace *trace, uint64_t sector);

#endif
