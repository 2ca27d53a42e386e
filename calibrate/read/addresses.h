/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading a trace: one address, or number of a page or object, or name of one, per access.
 *
 * Text has one on a line: decimal, hexadecimal after 0x, or a name, which is any other text that
 * begins with neither digit nor sign and has no blank, comma or semicolon in it; blanks around
 * it, blank lines and lines that begin with # count for nothing.  CSV has a column of them.  Raw
 * has 8 bytes for each, the lowest first.  Numbers go up to 2^64 - 1.  A name becomes 64 bits of
 * a hash.  The first value says whether all are numbers or names; the other kind is an error.
 *
 * Nothing here prints, and no state is kept outside the reader.
 */
#ifndef SC_READ_ADDRESSES_H
#define SC_READ_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "status.h" /* SC_MUST_CHECK */

enum sc_addresses_form { SC_ADDRESSES_TEXT, SC_ADDRESSES_CSV, SC_ADDRESSES_RAW };

enum { SC_ADDRESSES_LINE_MAX = 64 * 1024 }; /* bytes of a line of text */

/* All zero: text, default sizes. */
struct sc_addresses_options {
    enum sc_addresses_form form;
    const char *column; /* of CSV; NULL: the only one */
    size_t block_bytes; /* of text taken in at a time, 0 for the default; any gives the same */
};

struct sc_addresses_error {
    size_t line;      /* 1-based, 0 when it has none */
    char column[64];  /* of CSV, cut at the end, or "" */
    char reason[256]; /* "expected ..., got ..."; may hold any bytes of the file */
};

struct sc_addresses;

/* Starts reading `file`, which stays the caller's and must outlive the reader, as must
 * options->column.  False: *reader is NULL and *error says why. */
bool sc_addresses_create(struct sc_addresses **reader, FILE *file,
                         const struct sc_addresses_options *options,
                         struct sc_addresses_error *error) SC_MUST_CHECK;
void sc_addresses_destroy(struct sc_addresses *reader);

/* The next 1 to `most` values; *count 0 is the end.  False: values before the fault were
 * delivered by calls before this one, and the reader is of no more use. */
bool sc_addresses_read(struct sc_addresses *reader, uint64_t *value, size_t most, size_t *count,
                       struct sc_addresses_error *error) SC_MUST_CHECK;

/* Whether the values so far were names. */
bool sc_addresses_are_names(const struct sc_addresses *reader);

#endif
