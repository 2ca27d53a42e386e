/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options of commands, from one table per command that --help prints too. */
#ifndef SC_OPTIONS_H
#define SC_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "problem.h"
#include "text.h"

enum { OPTION_TIMES = 32 }; /* of an option that may be given several times */

/* Every option that a command may take, as it was written; NULL: not given. */
struct options {
    const char *from, *format, *output, *digits, *only, *columns;
    const char *delimiter, *decimal, *data, *jobs;
    const char *seed, *repeat, *trace, *replay, *record, *csv, *samples, *policies, *level, *params;
    const char *by, *over, *leave_out, *measured;
    const char *prior_sd, *noise, *loss, *folds;       /* of fit */
    const char *free[OPTION_TIMES];
    const char *top, *in_order, *summary; /* of compare; the latter given or not */
    const char *fail_above[OPTION_TIMES];
    const char *help_file; /* of template */
    const char *keep, *name, *gpu; /* of import */
    const char *map[OPTION_TIMES]; /* in the order given */
    const char *block, *item, *input, *column, *sample, *sample_size, *sizes, *points; /* of mrc */
    const char *every, *policy, *ways, *histogram, *plot;
    const char *strict, *check, *simulate, *list, *help, *version; /* given or not: NULL or "" */
    const char *winners, *crossover, *no_crossover, *with_ideal;   /* likewise */
    const char *find[OPTION_TIMES], *range[OPTION_TIMES]; /* of solve */
    const char *until, *minimize, *grid, *largest, *smallest, *sure;
    const char *metric; /* of sensitivity */
};

struct option_row {
    const char *name;     /* without the dashes */
    char letter;          /* 'o' for -o, or 0 */
    const char *argument; /* "FILE", or NULL for a switch */
    size_t offset;        /* of the member of struct options */
    const char *help;
    bool times;           /* may be given up to OPTION_TIMES times; others once */
};

#define OPTION(member, short_letter, argument_name, text) \
    { .name = #member, .letter = short_letter, .argument = argument_name, \
      .offset = offsetof(struct options, member), .help = text }

/* Takes the options out of argv (argc entries) and leaves the other words, in
 * order, in words; they number *word_count.  After "--" all is words. */
bool options_parse(const struct option_row *rows, size_t row_count, int argc, char **argv,
                   struct options *options, const char **words, size_t *word_count,
                   struct problem *problem);

/* The row of a word such as --name, --name=value, -n or -nvalue, or NULL; *value is what the
 * word says itself, or NULL. */
const struct option_row *options_row(const struct option_row *rows, size_t row_count,
                                     const char *word, const char **value);

/* A whole number from low to high. */
bool options_whole(const char *name, const char *text, long low, long high, long *value,
                   struct problem *problem);

void options_describe(const struct option_row *rows, size_t row_count, struct text *out);

#endif
