/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures by gnuplot.
 *
 * The scripts in plots/ are inside the program.  They read data.csv and write
 * figure.FORMAT in the current directory, which is a temporary one here, so
 * that no name of the user's ever comes into a script.
 */
#ifndef SC_GNUPLOT_H
#define SC_GNUPLOT_H

#include <stdbool.h>

#include "problem.h"

/* Who needs gnuplot, and what can be had without it (or NULL): for messages. */
struct gnuplot_user {
    const char *name, *otherwise;
};

struct gnuplot {
    const char *name;   /* of the script: plots/NAME.gp */
    const char *format; /* from gnuplot_format() */
    const struct gnuplot_user *user;
    /* Writes the data to a file of that name. */
    bool (*write)(const void *context, const char *path, struct problem *problem);
    const void *context;
};

/* "svg", "png" or "pdf": the ending, in any case, of the name that the option was given;
 * or NULL.  An ending alone is a hidden file of no format. */
const char *gnuplot_format(const char *option, const char *path, struct problem *problem);
/* Whether there is a gnuplot: to be asked before anything that takes long. */
bool gnuplot_find(const struct gnuplot_user *user, struct problem *problem);
/* Draws the figure into a file that appears whole or not at all. */
bool gnuplot_draw(const struct gnuplot *figure, const char *to, struct problem *problem);

#endif
