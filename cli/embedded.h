/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The data files inside the program.
 *
 * The definitions are written at build time, by embed.c, from every CSV below
 * data/ and the scripts of figures and shells.  They are what the program knows
 * when it is given no other data.
 */
#ifndef SC_EMBEDDED_H
#define SC_EMBEDDED_H

#include <stddef.h>

struct sc_embedded {
    const char *name;           /* path from data/, as in published/hbf.csv */
    const unsigned char *bytes; /* the file as it is; a NUL follows, not counted in size */
    size_t size;
};

/* Sorted by name, bytewise. */
extern const struct sc_embedded sc_embedded_files[];
extern const size_t sc_embedded_count;

#endif
