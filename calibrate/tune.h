/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A closed form fitted to measurements: of the user's machine or simulator, where there are
 * tens of rows and not thousands.
 *
 * Keys that are to be fitted start from what is known of them and are held to it by a
 * Gaussian prior, on the logarithm (log) or, for shares, on log(x / (1 - x)) (logit); so a
 * handful of rows moves what it has something to say about and leaves the rest.  Residuals
 * are those of fit.h: logarithms, but shares as they are.
 *
 * How good it is comes from cross-validation: every row is predicted by a fit without the
 * rows of its fold.  Residuals of that are also what intervals of new answers rest on
 * (Stone, J. R. Stat. Soc. B 36, 1974; Barber et al., Ann. Stat. 49, 2021).  Where rows are
 * too few for a quantile of theirs, it is Student's t with the sd and the degrees of freedom
 * of the fit.
 *
 * As for fit.h: one thread at a time.
 */
#ifndef SC_TUNE_H
#define SC_TUNE_H

#include <stdbool.h>
#include <stddef.h>

#include "fit.h"
#include "status.h"
#include "system.h"

enum { SC_TUNE_KEYS_MAX = 40 };

struct sc_tune_row {
    const void *scenario;
    double measured; /* SI, above 0 */
    enum sc_fit_censoring censoring;
    size_t fold; /* below fold_count: rows that are left out together */
};

/* A key that is fitted. */
struct sc_tune_key {
    const struct sc_field *field; /* a real number */
    struct sc_fit_parameter parameter;
};

struct sc_tune {
    const struct sc_system *system;
    const struct sc_metric *metric; /* what was measured */
    const struct sc_tune_row *rows;
    size_t row_count, fold_count;
    const struct sc_tune_key *keys;
    size_t key_count;
    double noise_sd; /* of what no fit can explain, in logarithms: what is known beforehand */
    bool squares;    /* least squares; else Huber's loss */
};

/* How much the sd known beforehand counts, in rows. */
extern const double sc_tune_noise_rows;

/* A key at `value`, known to about `relative_sd` of it.  SC_EDOMAIN: not a real number, or a
 * value that has no logarithm (logit); the field and the value say which. */
enum sc_status sc_tune_key_about(struct sc_tune_key *key, const struct sc_field *field,
                                 double value, double relative_sd,
                                 struct sc_error *error) SC_MUST_CHECK;
/* A key that is between low and high with a probability of 95 %. */
enum sc_status sc_tune_key_between(struct sc_tune_key *key, const struct sc_field *field,
                                   double low, double high, struct sc_error *error) SC_MUST_CHECK;

/* Whether the metric is taken as it is, not its logarithm: a share of something, but for those
 * that are the reciprocal of a slowdown. */
bool sc_tune_is_plain(const struct sc_metric *metric);

/* What the closed form says of the row, on the scale of the fit, with the values of the keys;
 * values NULL: as the scenario has it. */
enum sc_status sc_tune_predict(const struct sc_tune *tune, size_t row, const double *values,
                               double *predicted, struct sc_error *error) SC_MUST_CHECK;

/* Whether any row depends on the key. */
bool sc_tune_has_effect(const struct sc_tune *tune, size_t key);

/* Fits to all rows but those of a fold (SIZE_MAX: to all).  Errors as of sc_fit_solve; SC_OK:
 * sc_fit_fini. */
enum sc_status sc_tune_fit(const struct sc_tune *tune, size_t without, struct sc_fit *fit,
                           struct sc_error *error) SC_MUST_CHECK;

/* Predictions, on the scale of the fit, of the rows of a fold by a fit without them; NaN: that fit
 * has none.  Errors as of sc_fit_solve.  There must be another fold. */
enum sc_status sc_tune_predict_fold(const struct sc_tune *tune, size_t fold, double *predicted,
                                    struct sc_error *error) SC_MUST_CHECK;
/* Those of all folds. */
enum sc_status sc_tune_cross_validate(const struct sc_tune *tune, double *predicted,
                                      struct sc_error *error) SC_MUST_CHECK;

/*
 * The quantile q at `level`, so that a new measurement is within prediction +- q on the scale of
 * the fit, from n residuals of cross-validation.  *student: that of Student's t, since n is too
 * few.  SC_ENOSPACE: no memory.
 */
enum sc_status sc_tune_quantile(const double *residuals, size_t n, const struct sc_fit *fit,
                                double level, double *quantile, bool *student,
                                struct sc_error *error) SC_MUST_CHECK;

#endif
