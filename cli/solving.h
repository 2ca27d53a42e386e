/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The value of a key at which the answer meets conditions. */
#ifndef SC_SOLVING_H
#define SC_SOLVING_H

#include <stdbool.h>
#include <stddef.h>

#include "calibration.h"
#include "problem.h"
#include "scenario.h"
#include "search.h"

enum { CONDITIONS_MAX = 16 };

/* METRIC <= X and the like. */
struct condition {
    const struct sc_metric *metric;
    double limit; /* SI */
    bool below;   /* <=, <; else >=, > */
    bool strict;  /* <, > */
    bool paced;   /* the metric has an interval, as the slowdown has */
};

struct conditions {
    struct condition items[CONDITIONS_MAX];
    size_t count;
};

/* Reads "METRIC OP X and METRIC OP X ...", OP one of <= >= < >, X with a unit where the metric
 * has one.  Metrics are those of the system and, with a calibration, those it adds.  Problems
 * name the condition; two that exclude each other are one. */
bool conditions_parse(const struct sc_system *system, const struct calibration *calibration,
                      const char *text, struct conditions *conditions, struct problem *problem);

/* Whether some of them, or all, have an interval. */
bool conditions_paced(const struct conditions *conditions, bool all);

/* What is solved: a scenario in which one key is free. */
struct solving {
    const struct sc_system *system;
    struct resolver *resolver;
    const struct calibration *calibration; /* or NULL */
    const struct conditions *conditions;
    struct setting *settings; /* the last one is of the free key; its value is written to */
    size_t count;
    size_t points;       /* of the grid of the search */
    size_t whole_points; /* a range of no more whole numbers is looked at in full */
    struct setting low, high; /* the range of the key */
};

/* The range of the key in this scenario, in SI or whole numbers: what is counted in cycles is
 * known only with its clock, octaves only with the other key.  False: it has none. */
bool solving_axis(const struct solving *solving, struct search_axis *axis, struct problem *problem);

/* Searches; sides as in search_run().  False: out of memory, or there is no axis. */
bool solving_run(const struct solving *solving, size_t sides, struct search_spans *spans,
                 struct problem *problem);

/* The scenario and its answer at a value of the key; false with the reason. */
bool solving_answer(const struct solving *solving, double value, void *scenario,
                    struct judged_answer *answer, struct problem *problem);

/* Why a scenario has no answer at any value of the key. */
void solving_explain(const struct solving *solving, struct problem *problem);

/* How a row answers. */
enum crossing {
    CROSSING_NONE,  /* nowhere; the value is where least is missing, NaN: a metric has none */
    CROSSING_FROM,  /* the conditions hold from here on upwards */
    CROSSING_TO,    /* they hold up to here */
    CROSSING_LIMIT, /* they hold up to here, which is an end of the range */
    CROSSING_ERROR  /* the scenario has no answer in all of the range */
};

/* Which ends of spans are wanted. */
enum solving_end { END_ALL, END_SMALLEST, END_LARGEST };

struct solution {
    enum crossing crossing;
    double value;
    double low, high; /* the values at both ends of the interval of the answer; NaN: none */
};

/*
 * Appends the solutions of one scenario to *solutions (to be freed), at least one: the ends
 * wanted, or, END_ALL, both ends of every span, of a single span only those at which the
 * conditions start or cease to hold, or, if there is none, the end of the range with the least
 * to spare.  worst: by the worse side.
 */
struct solutions {
    struct solution *items;
    size_t count, capacity;
};
bool solving_ends(const struct solving *solving, const struct search_spans *spans, size_t sides,
                  bool worst, enum solving_end wanted, struct solutions *solutions,
                  struct problem *problem);

#endif
