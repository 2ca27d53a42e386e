/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fitting the coefficients of a closed form to logarithms of observations.
 *
 * The caller gives parameters, observations and a function that predicts the
 * logarithm of every observation; what comes back says how sure each
 * parameter is, and names those that the observations cannot determine.
 *
 * Minimised over the transformed parameters t (log, logit or the value itself):
 *
 *	s^2 sum rho(r_i sqrt(w_i) / s) + s^2 sum ((t_j - mean_j) / sd_j)^2
 *
 * with r_i = log prediction - log observation, rho Huber's loss and s the
 * scale of the residuals, estimated along the way.  The inner problem is
 * gsl_multifit_nlinear's trust region; around it weights and scale are renewed
 * until nothing moves (iteratively reweighted least squares).
 *
 * A censored observation is known from one side only, as when a simulation was
 * stopped: it adds its likelihood -2 s^2 log Phi(distance / s) (Tobin,
 * Econometrica 26, 1958), and takes no part in s, R2 and AICc.
 *
 * One thread at a time: GSL's error handler belongs to the process.  It is
 * off during the call and put back afterwards.
 */
#ifndef SC_FIT_H
#define SC_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

enum sc_fit_transform {
    SC_FIT_IDENTITY, /* t = value, anywhere */
    SC_FIT_LOG,      /* t = log(value), above 0 */
    SC_FIT_LOGIT,    /* t = log((value - low) / (high - value)), strictly between them */
    SC_FIT_TRANSFORMS
};

struct sc_fit_parameter {
    const char *name;
    double initial;
    /* Finite, low < high.  For logit the open range of the value; for the others
     * where further starts are drawn, and an estimate that ends outside is marked. */
    double low, high;
    enum sc_fit_transform transform;
    double prior_mean, prior_sd; /* Gaussian, on the transformed scale; sd 0: no prior */
    bool fixed;                  /* stays at `initial` and has no error */
};

enum sc_fit_censoring {
    SC_FIT_EXACT,    /* the value is log_value */
    SC_FIT_AT_LEAST, /* it is log_value or more */
    SC_FIT_AT_MOST   /* it is log_value or less */
};

struct sc_fit_observation {
    double log_value; /* finite */
    double weight;    /* inverse variance, relative to the others; 0 leaves it out */
    enum sc_fit_censoring censoring;
};

/* Fills log_predictions, one per observation, from all parameters (fixed ones
 * too) in their own units.  Pure: the same parameters give the same bytes. */
typedef enum sc_status sc_fit_predict(const double *parameters, double *log_predictions,
                                      void *context);

struct sc_fit_problem {
    const struct sc_fit_parameter *parameters;
    size_t parameter_count;
    const struct sc_fit_observation *observations;
    size_t observation_count;
    sc_fit_predict *predict;
    void *context;
};

enum sc_fit_method { SC_FIT_LEVENBERG_MARQUARDT, SC_FIT_DOGLEG, SC_FIT_METHODS };
enum sc_fit_loss { SC_FIT_HUBER, SC_FIT_SQUARES, SC_FIT_LOSSES };

/* All zero: every default. */
struct sc_fit_options {
    enum sc_fit_method method;
    enum sc_fit_loss loss;
    double huber_k;   /* residuals above k scales count linearly; 0: 1.345 (95 % efficiency) */
    size_t starts;    /* starting points: the initial one, then Sobol points; 0: 1 */
    uint64_t seed;    /* of the further starting points */
    /* What is known of the residuals beforehand: their sd on the log scale, and how
     * many observations that is worth; 0: nothing.  Needed when there are no more
     * observations than free parameters. */
    double noise_sd, noise_weight;
    double scale_floor;        /* smallest scale to believe; 0: 1e-6 */
    double singular_limit;     /* of scaled singular values to the largest; 0: 1e-6 */
    double std_error_limit;    /* of log and logit, transformed; 0: 2.  Identity: high - low */
    double prior_share_limit;  /* see sc_fit_estimate; 0: 0.9 */
    /* Of finite differences, relative to the transformed parameter and its unit; 0: what suits
     * a prediction that is exact to rounding.  Larger for one that is only good to some
     * digits; the fit then settles to a hundredth of it. */
    double difference_step;
    size_t iterations, rounds; /* limits of inner and outer loop; 0: 200 and 60 */
    bool skip_profiles;        /* do not test intervals by fits with one parameter held */
};

/* What the observations say about a parameter. */
enum sc_fit_verdict {
    SC_FIT_GIVEN,      /* fixed */
    SC_FIT_IDENTIFIED, /* they determine it */
    SC_FIT_PRIOR,      /* they add little to its prior */
    SC_FIT_NO_EFFECT,  /* no prediction depends on it */
    SC_FIT_SINGULAR,   /* only a combination with others matters, see `with` */
    SC_FIT_WIDE,       /* its standard error is above the limit */
    SC_FIT_OPEN,       /* on one side the sum of squares never rises enough to bound it */
    SC_FIT_VERDICTS
};

struct sc_fit_estimate {
    const char *name; /* the parameter's own */
    double value;     /* always finite */
    double std_error; /* by the delta method; 0 when given, NaN when singular or without effect */
    double low, high; /* 95 % interval, mapped back from the transformed scale; an end where
                       * the profile of the sum of squares is too flat for it is moved out.
                       * NaN likewise, the value itself when given */
    double transformed, transformed_std_error; /* of t; NaN where a fixed value has none */
    double prior_share; /* posterior over prior variance: 1 when the data say nothing; 0 if none */
    enum sc_fit_verdict verdict;
    bool identified;   /* given or identified */
    const char *why;   /* when not identified: why, else NULL.  A constant. */
    const char *with;  /* the parameter that it cannot be told from, or NULL */
    bool out_of_range; /* the estimate lies outside low .. high */
};

struct sc_fit {
    struct sc_fit_estimate *estimates; /* parameter_count */
    size_t parameter_count, free_count;
    /* parameter_count squared, row by row.  Covariances: 0 for fixed parameters and
     * for singular ones, which count as held.  Correlation: 1 on the diagonal. */
    double *covariance;             /* in the parameters' own units (delta method) */
    double *transformed_covariance; /* of t, where they are closest to Gaussian */
    double *correlation;            /* of t */
    size_t unidentified_count;
    double condition; /* of the Jacobian with columns of length 1 (Belsley, Kuh & Welsch 1980),
                       * priors included; 1 / DBL_EPSILON when singular, NaN without columns */

    double *log_predictions, *residuals; /* observation_count: prediction - observation */
    double *robust_weights;              /* 1 inside Huber's k, below 1 outside */
    size_t observation_count, exact_count, censored_count, outlier_count;

    double effective_parameters; /* sum of the leverages of the exact observations */
    double degrees_of_freedom;   /* of the intervals' t distribution */
    double residual_sd;  /* of the exact residuals, each counted in full; NaN without freedom */
    double robust_scale; /* 1.4826 x median |residual|, or the floor */
    double noise_sd;     /* what the standard errors rest on */
    double r_squared;    /* of the log observations; NaN when those are all equal */
    double aicc;         /* Gaussian, up to a constant; NaN with too few observations */

    size_t iterations, rounds, evaluations; /* inner, outer, calls of predict */
    size_t refused_steps;                   /* trial steps where predict gave no number */
    size_t best_start, failed_starts;
    bool converged;
    const char *reason; /* why it ended, a constant */
};

/*
 * Fits.  SC_OK also when it did not converge: see fit->converged.  Then, and only
 * then, fit is to be released by sc_fit_fini; else it is all zero.  Errors:
 * SC_EDOMAIN, field "observation" and its index: predict gave NaN or infinity
 * there at every starting point, or all around a point that was reached (a trial
 * step that lands on one is shortened instead), or its value or weight makes no sense; field a
 * parameter's name: its entry makes no sense.  SC_EMISSING: fewer observations
 * and priors than free parameters ("observations"), or noise_sd is needed
 * ("noise_sd").  SC_ENOSPACE: no memory.  Whatever predict returned, with field
 * "predict".
 */
enum sc_status sc_fit_solve(struct sc_fit *fit, const struct sc_fit_problem *problem,
                            const struct sc_fit_options *options,
                            struct sc_error *error) SC_MUST_CHECK;

/* Frees what sc_fit_solve allocated and leaves it all zero. */
void sc_fit_fini(struct sc_fit *fit);

#endif
