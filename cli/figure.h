/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures: which scenarios each one shows, and what is laid side by side.
 *
 * A figure is a row of `figures`: series of scenarios in the grammar of the
 * command line, answered by closed form and simulator, beside those published
 * figures that are about the same scenarios.  Which these are is found out by
 * comparing scenarios, so that a row added to data/published/ appears wherever
 * it belongs.
 *
 * The table of a figure has one row per source, series, group and x, and three
 * columns per metric: NAME, NAME_lo and NAME_hi.  The two ends are the
 * calibration's interval in rows of the closed form, and the least and greatest
 * value over several models in published rows; empty where there is none.  A
 * published run that was stopped at a cap has no value, but an end.
 */
#ifndef SC_FIGURE_H
#define SC_FIGURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calibration.h"
#include "catalog.h"
#include "problem.h"
#include "scenario.h"

enum { FIGURE_METRICS = 5, FIGURE_SERIES = 20 };

struct figure_series {
    const char *name;
    const char *group;    /* the one group that it is about, or NULL: a group per model */
    const char *scenario; /* key=value, blank-separated, one value each */
    const char *over;     /* likewise: its metrics are those of the scenario over those of
                             this one, at the same x and model; or NULL */
};

/* What the simulator answers is less of the same, with these keys divided.  Only for
 * ratios and rates, which stay about the same. */
struct figure_shrink {
    double by;         /* 0: nothing is shrunk */
    const char *keys;  /* blank-separated */
    const char *group; /* only in this group; NULL: in all */
};

/* Where the scenarios of a figure come from. */
enum figure_kind {
    FIGURE_GRID,     /* series x values of x x models */
    FIGURE_MEASURED, /* the scenarios of data/published/SYSTEM.csv */
    FIGURE_SAMPLES   /* drawn from the ranges of the field table */
};

/* Geometric mean over models: of each x, or over all x too; or the arithmetic one of
 * each x, for shares, which may be 0. */
enum figure_mean { FIGURE_NO_MEAN, FIGURE_MEAN, FIGURE_MEAN_OF_ALL, FIGURE_ARITHMETIC_MEAN };

struct figure {
    const char *name; /* of the script, too: plots/NAME.gp */
    const char *summary;
    const char *system;
    const char *where; /* the paper's own name for it, or NULL */
    enum figure_kind kind;
    struct figure_series series[FIGURE_SERIES]; /* up to the first without a name */
    const char *common; /* key=value of every series, or NULL; of samples key=VALUES, too */
    const char *models; /* key=VALUES of what makes the groups, mostly model */
    const char *x;                              /* key=VALUES, or NULL */
    const char *curve; /* the same, closer together, for the closed form; or NULL */
    enum figure_mean mean;
    bool only_means; /* no rows of single models */
    struct figure_shrink shrink;
    const char *metrics[FIGURE_METRICS];
};

extern const struct figure figures[];
extern const size_t figure_count;

/* By name, or NULL. */
const struct figure *figure_find(const char *name);

enum figure_source { FIGURE_PUBLISHED, FIGURE_SIMULATOR, FIGURE_CLOSED_FORM, FIGURE_SOURCES };
extern const char *const figure_source_names[FIGURE_SOURCES];

struct figure_value {
    double value, low, high; /* NaN: none */
};

struct figure_row {
    enum figure_source source;
    const char *series, *group; /* belong to the figure, the resolver or the catalog */
    size_t position;            /* of the group, from 1; the mean comes last */
    double x;                   /* NaN: none */
    struct figure_value values[FIGURE_METRICS];
};

struct figure_table {
    struct figure_row *rows;
    size_t count, capacity, metric_count;
    const struct sc_field *x; /* or NULL */
};

/* What answers, and how. */
struct figure_tools {
    const struct sc_system *system;
    struct resolver *resolver;             /* with the coefficients of the calibration */
    const struct calibration *calibration; /* or NULL */
    struct catalog *catalog;
    uint64_t seed;
    size_t jobs, samples;
};

/* Fills the table; to be freed by figure_table_fini() whatever the outcome. */
bool figure_answer(const struct figure *figure, const struct figure_tools *tools,
                   struct figure_table *table, struct problem *problem);
void figure_table_fini(struct figure_table *table);

#endif
