/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The working of an answer, term by term.
 *
 * A closed form that is handed a trace writes down each quantity it computes,
 * in order: symbol, equation, value, meaning.  The same code computes the
 * answer with and without a trace, so that an explanation cannot drift away
 * from what it explains.  All strings are constants; the caller owns the array.
 */
#ifndef SC_TRACE_H
#define SC_TRACE_H

#include <stdbool.h>
#include <stddef.h>

#include "field.h"

struct sc_term {
    const char *section;  /* heading that the term stands under */
    const char *symbol;   /* short name used in later equations */
    const char *equation; /* right-hand side, or NULL for a given value */
    const char *meaning;  /* one line for the reader */
    double value;
    enum sc_dimension dimension;
    bool binds;           /* this term decided a minimum or maximum */
};

struct sc_trace {
    struct sc_term *terms;
    size_t count, capacity; /* count may pass capacity: the surplus was not stored */
    const char *section;
};

/* Both do nothing when trace is NULL. */
void sc_trace_section(struct sc_trace *trace, const char *heading);
void sc_trace_add(struct sc_trace *trace, const char *symbol, const char *equation, double value,
                  enum sc_dimension dimension, const char *meaning);
/* Marks the newest term as the one that decides. */
void sc_trace_binds(struct sc_trace *trace, bool binds);

#endif
