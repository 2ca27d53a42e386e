/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows to an output: streamed where the format allows, kept until the end where
 * it does not (tables, Markdown). */
#ifndef SC_SINK_H
#define SC_SINK_H

#include <stdbool.h>
#include <stddef.h>

#include "emit.h"
#include "options.h"
#include "output.h"
#include "problem.h"

struct sink {
    struct emit_style style;
    const struct emit_column *columns; /* the caller's, until sink_close */
    size_t column_count;
    struct output output;
    struct text text;
    struct emit_cell *kept; /* rows of a table; their texts are copies in `arena` */
    size_t kept_rows, kept_capacity;
    char **arena; /* blocks of text */
    size_t arena_count, arena_capacity;
    bool any;
};

/* Style from --format, --digits, --delimiter and --decimal: by default a table,
 * or CSV for answers to a CSV file, whatever the destination. */
bool sink_style(const struct options *options, struct emit_style *style, struct problem *problem);

bool sink_open(struct sink *sink, const struct emit_style *style, const struct emit_column *columns,
               size_t column_count, const char *path, struct problem *problem);
/* True if rows may be made to text elsewhere, in several threads, by emit_row(). */
bool sink_streams(const struct emit_style *style);
bool sink_row(struct sink *sink, const struct emit_cell *cells, struct problem *problem);
/* Text of whole rows; only when sink_streams(), and not for EMIT_JSON. */
bool sink_text(struct sink *sink, const struct text *text, struct problem *problem);
bool sink_close(struct sink *sink, struct problem *problem);
/* Leaves no file behind. */
void sink_abandon(struct sink *sink);

#endif
