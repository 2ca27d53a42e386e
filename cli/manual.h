/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The manual pages, made of the tables that --help and `list` read. */
#ifndef SC_MANUAL_H
#define SC_MANUAL_H

#include "command.h"
#include "text.h"

/* Appends stallcast(1) as roff for the man macros. */
void manual_write(const struct command *const *commands, size_t command_count, struct text *out);

/* Appends stallcast-COMMAND(1). */
void manual_write_command(const struct command *command, struct text *out);

#endif
