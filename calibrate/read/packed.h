/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opening a file that may be packed: names that end in .gz or .zst, in either case, are read
 * through gzip or zstd, started without a shell, which must be in PATH.
 *
 * Nothing here prints, and no state is kept outside the caller's struct.
 */
#ifndef SC_READ_PACKED_H
#define SC_READ_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "status.h" /* SC_MUST_CHECK */

struct sc_packed {
    FILE *file;          /* to read from; for the caller to look at, not to close */
    const char *program; /* that unpacks it, or NULL */
    int descriptor;      /* of the file as it lies on disk */
    pid_t child;
    uint64_t size_bytes; /* as it lies on disk; 0: not known */
};

/* How many bytes of a name are before .gz or .zst; all of them when it has no such end. */
size_t sc_packed_stem(const char *name);

/* Opens it; "-" is standard input, which is never packed.  False: reason says why, to stand after
 * the name. */
bool sc_packed_open(struct sc_packed *packed, const char *name, char reason[static 256])
    SC_MUST_CHECK;

/* How far the file on disk has been read, in bytes; 0 when it cannot be told. */
uint64_t sc_packed_position(const struct sc_packed *packed);

/* Closes it, before its end too.  False: all of it was read, and what unpacks it says that there
 * is something wrong with it. */
bool sc_packed_close(struct sc_packed *packed, char reason[static 256]);

#endif
