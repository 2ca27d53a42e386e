/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commands: one file and one row of the table in main.c each. */
#ifndef SC_COMMAND_H
#define SC_COMMAND_H

#include <stddef.h>

#include "catalog.h"
#include "options.h"
#include "problem.h"
#include "system.h"

struct command {
    const char *name;
    const char *usage; /* what follows the name */
    const char *summary;
    const char *details; /* paragraphs for --help, each line as printed */
    const struct option_row *options;
    size_t option_count;
    const char *(*first)(size_t i); /* what the first word may be, NULL at the end; or NULL: a
                                     * system or a file, as `usage` says */
    /* Returns an exit code; prints its own problems. */
    int (*run)(const struct command *command, const struct options *options,
               const char *const *words, size_t word_count, struct catalog *catalog);
};

extern const struct command command_calibrate,
    command_compare,
    command_completions,
    command_estimate,
    command_explain,
    command_fit,
    command_import,
    command_list,
    command_mrc,
    command_plot,
    command_rank,
    command_sensitivity,
    command_simulate,
    command_solve,
    command_template,
    command_validate;

/* Prints the problem and returns EXIT_USAGE. */
int command_fail(const struct problem *problem);

/* The system named by words[0], or NULL with the reason. */
const struct sc_system *command_system(const struct command *command, const char *const *words,
                                       size_t word_count, struct problem *problem);

#endif
