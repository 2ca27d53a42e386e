/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Logs of GPGPU-Sim 3.x and 4.x, alone or within Accel-Sim, and of what is built on them.
 *
 * A kernel block begins with kernel_name and ends with gpgpu_simulation_rate in cycles.  Counters
 * of caches and DRAM go on from kernel to kernel; a row has what the kernel added.  A log ends
 * with "exit detected"; without, it is cut, and a block that is not whole is left out.
 */
#ifndef SC_READ_IMPORT_GPGPUSIM_H
#define SC_READ_IMPORT_GPGPUSIM_H

#include "read/import_private.h"

/* The first table of columns of such a kind. */
enum { GPGPUSIM_COLUMNS = 41 };
extern const struct sc_import_column gpgpusim_columns[GPGPUSIM_COLUMNS];

/* What a log has besides kernel blocks. */
struct gpgpusim_extension {
    /* True: the line is taken care of. */
    bool (*line)(void *context, struct sc_import *import, struct sc_piece line);
    /* A row of a kernel is about to be added. */
    void (*kernel)(void *context, struct sc_import *import);
    /* The run has ended; rows of it may be added. */
    void (*end)(void *context, struct sc_import *import, size_t line);
    void *context;
};

/* Reads a log of the kind that is being imported; extension NULL: kernel blocks alone. */
bool gpgpusim_read(struct sc_import *import, const struct gpgpusim_extension *extension);

/* Whether a log begins as one of GPGPU-Sim. */
bool gpgpusim_sniff(const char *head, size_t length);

#endif
