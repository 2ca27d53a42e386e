/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Traces of warps as files: CSV, a row for each instruction, those of a warp in its order.
 *
 *   cta         x, or x,y,z as a grid has them (default: all in one); they run in the order of
 *               z, y, x
 *   warp        of its CTA, from 0
 *   pc          what tells one load instruction from another: any text; only of loads
 *   op          load, store, barrier, exit or zero, or as machine code has it (LDG.E.64, ST, BAR)
 *   address     of each active lane, separated by blanks; BASE+STRIDE*LANES stands for several
 *   bytes       of each lane (default: what op says behind a point, else 4)
 *   compute     other instructions of the warp before this one (default: the scenario's; of
 *               barrier and exit 0)
 *   dependence  of a load: instructions to the first that needs it (default: the scenario's)
 *
 * Columns may stand in any order; cta, bytes, compute and dependence may be missing.  Barrier
 * and exit are no instructions themselves: exit is for the compute behind a warp's last access.
 * A row with op zero says of bytes, from each address on, that they are zero in the whole run;
 * its other cells are empty.
 *
 * Nothing here prints, and no state is kept outside the caller's structs.
 */
#ifndef SC_READ_WARP_TRACE_FILE_H
#define SC_READ_WARP_TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "sim/warp_trace.h"
#include "status.h" /* SC_MUST_CHECK */

struct sc_warp_trace_error {
    size_t line;      /* 1-based, 0 when it has none */
    char column[64];  /* or "" */
    char reason[256]; /* "expected ..., got ..."; may hold any bytes of the file */
};

/* The whole file, finished; to be destroyed by the caller.  It has at least one load.
 * block_bytes: of the file taken in at a time, 0 for the default; any gives the same.
 * False: *trace is NULL and *error says why. */
bool sc_warp_trace_read(struct sc_warp_trace **trace, FILE *file, size_t block_bytes,
                        struct sc_warp_trace_error *error) SC_MUST_CHECK;

/* A finished trace as such a file, warp by warp: what is read back is the same.  False: errno
 * says why it could not be written. */
bool sc_warp_trace_write(const struct sc_warp_trace *trace, FILE *file) SC_MUST_CHECK;

#endif
