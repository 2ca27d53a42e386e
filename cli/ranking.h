/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of one key, a policy each say, ranked in a scenario by a metric.
 *
 * A `contest` says what is ranked and by what; a `standing` is one row's answer in
 * one scenario and its place.  The scenario comes as settings of all other keys.
 */
#ifndef SC_RANKING_H
#define SC_RANKING_H

#include <stdbool.h>
#include <stddef.h>

#include "best.h"
#include "calibration.h"
#include "problem.h"
#include "scenario.h"

struct contest {
    const struct sc_system *system;
    struct resolver *resolver;
    const struct calibration *calibration; /* or NULL */
    struct sweep rows;                     /* values of the key that is ranked */
    const struct sc_metric *by;
    double sign;             /* 1: smaller is better; -1: larger is */
    struct sc_spread *spreads; /* of log slowdown, as calibration->quantiles; or NULL */
};

struct standing {
    size_t row;   /* of contest->rows */
    double value; /* of the metric; NaN: no answer, for the reason in `problem` */
    size_t rank;  /* from 1, equal ones alike; 0: no answer */
    double margin; /* how many times worse than the best; NaN where there is no such ratio */
    double probability; /* that this one is the best; NaN: not known */
    _Alignas(max_align_t) unsigned char scenario[SC_SCENARIO_MAX];
    struct judged_answer answer;
    struct problem problem;
};

/* By how much x is larger, as a share; exactly -ranking_gap(y, x). */
double ranking_gap(double x, double y);

/* Two values this near to each other are equal: rounding of different formulas. */
extern const double ranking_tie;

/* The metric of `--by WORD`, "min:NAME", "max:NAME", or NAME if it is known which
 * way is better, into contest->by and sign.  Needs system and calibration. */
bool contest_by(struct contest *contest, const char *word, struct problem *problem);

/* Residuals of the calibration as distributions, when the metric goes with the slowdown;
 * contest->spreads stays NULL otherwise. */
bool contest_spreads(struct contest *contest, struct problem *problem);
void contest_fini(struct contest *contest);

/* One row in the scenario settings[0 .. count); settings has room for one more. */
void contest_answer(const struct contest *contest, size_t row, struct setting *settings,
                    size_t count, struct standing *standing);

/* Above 0: `a` is behind `b`, by about that share of the metric; ties go by order of the rows. */
double standing_behind(const struct contest *contest, const struct standing *a,
                       const struct standing *b);

/* Whether they share a rank; false where one has no answer. */
bool standing_ties(const struct standing *a, const struct standing *b);

/* All rows, best first, those without an answer last; `standings` has rows.count items.
 * Returns how many have an answer.  Probabilities only when `surely`. */
bool contest_rank(const struct contest *contest, struct setting *settings, size_t count,
                  bool surely, struct standing *standings, size_t *answered,
                  struct problem *problem);

#endif
