/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scores of a comparison: of all rows, or of those alike in a column. */
#ifndef SC_COMPARE_SCORE_H
#define SC_COMPARE_SCORE_H

#include <stdbool.h>
#include <stddef.h>

#include "comparison.h"
#include "emit.h"
#include "problem.h"
#include "score.h"

/* Of the rows of one group. */
struct group_score {
    const char *name; /* the cell that they share; NULL: all rows */
    size_t rows, standings[STANDINGS];
    size_t met;           /* one-sided ones */
    size_t failed_checks; /* rows with a check that fails */
    size_t intervals, inside;
    bool in_points;
    struct sc_score ratios;       /* unless in_points, and some row is counted */
    struct sc_point_score points; /* likewise, if in_points */
};

struct compare_scores {
    struct group_score *groups; /* in the order in which they come up, and then all */
    size_t count;
    const char *by; /* the column, or NULL: only all */
    double level;
    size_t *group_of; /* of each row; NULL without a column */
};

/* column SIZE_MAX: only all.  compare_scores_fini() whatever the outcome. */
bool compare_scores_make(struct compare_scores *scores, const struct comparison *comparison,
                         size_t column, struct problem *problem);
void compare_scores_fini(struct compare_scores *scores);
const struct group_score *compare_scores_all(const struct compare_scores *scores);

/* As lines on standard error, at most so many groups. */
void compare_scores_print(const struct compare_scores *scores, const char *metric, size_t most);

/* As rows: columns and cells of a group. */
enum { COMPARE_SCORE_COLUMNS = 24 };
size_t compare_scores_columns(const struct compare_scores *scores,
                              struct emit_column columns[static COMPARE_SCORE_COLUMNS]);
void compare_scores_cells(const struct compare_scores *scores, const struct group_score *group,
                          const char *metric, struct emit_cell cells[static COMPARE_SCORE_COLUMNS]);

/* --fail-above [SCORE=]LIMIT: a limit that all rows must keep. */
struct score_limit {
    size_t score; /* of a table of its own */
    double most;
    const char *text; /* as given */
};

bool score_limit_parse(const char *text, bool in_points, struct score_limit *limit,
                       struct problem *problem);
/* False with the reason: it is above, or there is no such score. */
bool score_limit_keeps(const struct score_limit *limit, const struct group_score *group,
                       struct problem *problem);

#endif
