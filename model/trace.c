/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace.h"

void sc_trace_section(struct sc_trace *trace, const char *heading)
{
    if (trace != NULL)
        trace->section = heading;
}

void sc_trace_add(struct sc_trace *trace, const char *symbol, const char *equation, double value,
                  enum sc_dimension dimension, const char *meaning)
{
    if (trace == NULL)
        return;
    if (trace->count < trace->capacity)
        trace->terms[trace->count] = (struct sc_term){ .section = trace->section,
                                                       .symbol = symbol,
                                                       .equation = equation,
                                                       .meaning = meaning,
                                                       .value = value,
                                                       .dimension = dimension };
    trace->count++;
}

void sc_trace_binds(struct sc_trace *trace, bool binds)
{
    if (trace != NULL && trace->count > 0 && trace->count <= trace->capacity)
        trace->terms[trace->count - 1].binds = binds;
}
