/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Nonlinear least squares with robust weights, priors, censoring, and an honest
 * account of what the observations determine.
 *
 * Rows of the problem are the observations, then one row (t - mean) / sd for each
 * prior, and a last one that is 0 but for profiles.  Columns are the free
 * parameters on their transformed scale.
 *
 * Jacobian: central differences of our own.  Those of gsl_multifit_nlinear take a
 * step in proportion to |t|, which vanishes for the logarithm of a parameter near 1.
 */
#include "fit.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_blas.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <gsl/gsl_qrng.h>
#include <gsl/gsl_sf_erf.h>

#include "sim/rng.h"

/* Median of |N(0, 1)|, inverted. */
static const double mad_to_sd = 1.482602218505602;
/* Relative to (|t| + unit): truncation h^2 and rounding eps / h of central differences balance. */
static const double difference_step = 6.055454452393343e-06; /* cbrt(DBL_EPSILON) */
/* Inner loop: step relative to (|t| + unit), and cosine between residuals and a column. */
static const double step_tolerance = 1e-8, loose_cosine = 1e-4, cosine_tolerance = 1e-8;
static const double exact_fit = 1e-10; /* root mean square of rows that is rounding */
/* Outer loop: t relative to (|t| + unit) or to its standard error, and scale relative. */
static const double round_tolerance = 1e-7, error_share = 1e-4, scale_tolerance = 1e-5;
static const double refused_row = 1e100; /* makes the solver shorten its step */
static const double column_share = 0.01; /* of a singular direction: the parameter is in it */
static const double close_correlation = 0.95;
/* Profiles: stiffness of a hold to a column's; the share of the rise of a parabola
 * with which it still counts as one; how much further to look else. */
static const double hold_stiffness = 1e3, parabola_share = 0.5, profile_stretch = 1.5;
enum { SCALE_ROUNDS = 20, STREAM_STARTS = 0x57a27 };

static const char *const verdicts[] = {
    [SC_FIT_GIVEN] = NULL,
    [SC_FIT_IDENTIFIED] = NULL,
    [SC_FIT_PRIOR] = "the observations add little to its prior",
    [SC_FIT_NO_EFFECT] = "no prediction depends on it where it ended",
    [SC_FIT_SINGULAR] = "only its combination with others matters",
    [SC_FIT_WIDE] = "its standard error is above the limit",
    [SC_FIT_OPEN] = "the observations do not bound it on both sides",
};
_Static_assert(sizeof verdicts / sizeof verdicts[0] == SC_FIT_VERDICTS, "every verdict has words");

struct fault {
    enum sc_status status; /* of predict, or SC_EDOMAIN */
    size_t observation;    /* SIZE_MAX: predict itself */
    double value;
};

struct fitter {
    const struct sc_fit_problem *problem;
    struct sc_fit_options options; /* defaults filled in */
    size_t *columns, free_count;   /* free column -> parameter */
    size_t *priors, prior_count;   /* prior row - n -> column */
    size_t n, rows;                /* n observations */
    double *values, *log_predictions, *robust, *sorted;
    double scale;          /* s of fit.h */
    double weighted_scale; /* the s that is in the weights of priors */
    gsl_vector *t, *best_t, *before_t, *weights, *f, *plus, *minus, *trial;
    gsl_matrix *u, *v;           /* of the Jacobian with columns of length 1: u diag(s) v' */
    gsl_vector *s, *work, *norm; /* norm: of columns, 0 for a column without effect */
    gsl_multifit_nlinear_workspace *solver;
    gsl_multifit_nlinear_fdf fdf;
    size_t evaluations, refused, iterations;
    size_t held; /* column that the last row holds at held_t, or SIZE_MAX */
    double held_t, held_weight;
    struct fault fault;
};

/* How the inner or outer loop ended. */
struct ending {
    bool converged;
    const char *reason;
};

static enum sc_status refuse(struct sc_error *error, enum sc_status status, const char *field,
                             double value, const char *reason)
{
    if (error != NULL)
        *error = (struct sc_error){ .field = field, .value = value, .reason = reason };
    return status;
}

static enum sc_status no_memory(struct sc_error *error)
{
    return refuse(error, SC_ENOSPACE, "observations", (double)NAN,
                  "need more memory than there is");
}

/* --- Transforms ----------------------------------------------------------------- */

static double identity_value(const struct sc_fit_parameter *p, double t)
{
    (void)p;
    return t;
}

static double identity_slope(const struct sc_fit_parameter *p, double t)
{
    (void)p;
    (void)t;
    return 1.0;
}

static double identity_unit(const struct sc_fit_parameter *p)
{
    return 1e-3 * (p->high - p->low);
}

static double log_transformed(const struct sc_fit_parameter *p, double value)
{
    (void)p;
    return log(value);
}

static double log_value(const struct sc_fit_parameter *p, double t)
{
    (void)p;
    return exp(t);
}

static double log_unit(const struct sc_fit_parameter *p)
{
    (void)p;
    return 1.0;
}

static double logit_transformed(const struct sc_fit_parameter *p, double value)
{
    return log((value - p->low) / (p->high - value));
}

/* Strictly inside the range, however far out t is. */
static double logit_value(const struct sc_fit_parameter *p, double t)
{
    const double value = t < 0.0 ? p->low + (p->high - p->low) * (exp(t) / (1.0 + exp(t)))
                                 : p->high - (p->high - p->low) * (exp(-t) / (1.0 + exp(-t)));
    return fmin(fmax(value, nextafter(p->low, p->high)), nextafter(p->high, p->low));
}

static double logit_slope(const struct sc_fit_parameter *p, double t)
{
    const double e = exp(-fabs(t));
    return (p->high - p->low) * e / ((1.0 + e) * (1.0 + e));
}

/* value <-> t, dvalue/dt, and the change of t that counts as one where t is 0. */
struct transform {
    double (*transformed)(const struct sc_fit_parameter *p, double value);
    double (*value)(const struct sc_fit_parameter *p, double t);
    double (*slope)(const struct sc_fit_parameter *p, double t);
    double (*unit)(const struct sc_fit_parameter *p);
    double largest_t; /* exp() of twice as much is finite, for products of slopes */
};

static const struct transform transforms[] = {
    [SC_FIT_IDENTITY] = { identity_value, identity_value, identity_slope, identity_unit,
                          1e150 },
    [SC_FIT_LOG] = { log_transformed, log_value, log_value, log_unit, 300.0 },
    [SC_FIT_LOGIT] = { logit_transformed, logit_value, logit_slope, log_unit, 300.0 },
};
_Static_assert(sizeof transforms / sizeof transforms[0] == SC_FIT_TRANSFORMS,
               "every transform has its functions");

static const struct sc_fit_parameter *parameter_of(const struct fitter *f, size_t column)
{
    return &f->problem->parameters[f->columns[column]];
}

static double unit_of(const struct fitter *f, size_t column)
{
    const struct sc_fit_parameter *p = parameter_of(f, column);
    return transforms[p->transform].unit(p);
}

/* --- What makes sense ------------------------------------------------------------ */

static const char *fault_of_parameter(const struct sc_fit_parameter *p, bool more_starts)
{
    if ((unsigned)p->transform >= SC_FIT_TRANSFORMS)
        return "has no such transform";
    if (!isfinite(p->initial))
        return "has no finite initial value";
    if (p->fixed)
        return NULL;
    if (!(isfinite(p->low) && isfinite(p->high) && p->low < p->high))
        return "needs a finite low below high";
    if (p->transform == SC_FIT_LOG && !(p->initial > 0.0))
        return "must start above 0";
    if (p->transform == SC_FIT_LOG && more_starts && !(p->low > 0.0))
        return "needs low above 0 for further starts";
    if (p->transform == SC_FIT_LOGIT && !(p->low < p->initial && p->initial < p->high))
        return "must start strictly between low and high";
    if (!(isfinite(p->prior_sd) && p->prior_sd >= 0.0))
        return "has a prior without a meaning";
    if (p->prior_sd > 0.0 && !isfinite(p->prior_mean))
        return "has a prior without a mean";
    return NULL;
}

static enum sc_status check_observations(const struct fitter *f, struct sc_error *error)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct sc_fit_observation *o = &f->problem->observations[i];
        if (!(isfinite(o->weight) && o->weight >= 0.0))
            return refuse(error, SC_EDOMAIN, "observation", (double)i,
                          "has a weight that is not a finite number from 0 on");
        if (o->weight > 0.0 && !isfinite(o->log_value))
            return refuse(error, SC_EDOMAIN, "observation", (double)i, "is not a finite number");
    }
    return SC_OK;
}

static enum sc_status check_options(const struct sc_fit_options *o, struct sc_error *error)
{
    if ((unsigned)o->method >= SC_FIT_METHODS || (unsigned)o->loss >= SC_FIT_LOSSES)
        return refuse(error, SC_EDOMAIN, "method", (double)o->method, "is none that there is");
    const double numbers[] = { o->huber_k,        o->noise_sd,        o->noise_weight,
                               o->scale_floor,    o->singular_limit,  o->std_error_limit,
                               o->prior_share_limit, o->difference_step };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (!(isfinite(numbers[i]) && numbers[i] >= 0.0))
            return refuse(error, SC_EDOMAIN, "options", numbers[i],
                          "must be finite numbers from 0 on");
    if (o->noise_weight > 0.0 && !(o->noise_sd > 0.0))
        return refuse(error, SC_EDOMAIN, "noise_sd", o->noise_sd, "must be above 0");
    return SC_OK;
}

static double given_or(double option, double fallback)
{
    return option > 0.0 ? option : fallback;
}

static struct sc_fit_options with_defaults(const struct sc_fit_options *options)
{
    struct sc_fit_options o = options != NULL ? *options : (struct sc_fit_options){ 0 };
    o.huber_k = given_or(o.huber_k, 1.345);
    o.starts = o.starts > 0 ? o.starts : 1;
    o.scale_floor = given_or(o.scale_floor, 1e-6);
    o.singular_limit = given_or(o.singular_limit, 1e-6);
    o.std_error_limit = given_or(o.std_error_limit, 2.0);
    o.prior_share_limit = given_or(o.prior_share_limit, 0.9);
    o.difference_step = given_or(o.difference_step, difference_step);
    o.iterations = o.iterations > 0 ? o.iterations : 200;
    o.rounds = o.rounds > 0 ? o.rounds : 60;
    return o;
}

static size_t used_observations(const struct fitter *f)
{
    size_t used = 0;
    for (size_t i = 0; i < f->n; i++)
        used += f->problem->observations[i].weight > 0.0;
    return used;
}

static enum sc_status check_counts(const struct fitter *f, struct sc_error *error)
{
    const size_t used = used_observations(f);
    if (used + f->prior_count < f->free_count)
        return refuse(error, SC_EMISSING, "observations", (double)used,
                      "and priors are fewer than the free parameters");
    if (used <= f->free_count && !(f->options.noise_weight > 0.0))
        return refuse(error, SC_EMISSING, "noise_sd", (double)NAN,
                      "must be told when there are no more observations than free parameters");
    if (f->options.starts > 1 && f->free_count > 40)
        return refuse(error, SC_ERANGE, "starts", (double)f->options.starts,
                      "must be 1 with more than 40 free parameters");
    return SC_OK;
}

/* --- Rows -------------------------------------------------------------------------- */

static void set_values(const struct fitter *f, const gsl_vector *t)
{
    for (size_t j = 0; j < f->free_count; j++) {
        const struct sc_fit_parameter *p = parameter_of(f, j);
        f->values[f->columns[j]] = transforms[p->transform].value(p, gsl_vector_get(t, j));
    }
}

static bool within_reach(const struct fitter *f, const gsl_vector *t)
{
    for (size_t j = 0; j < f->free_count; j++)
        if (!(fabs(gsl_vector_get(t, j)) <= transforms[parameter_of(f, j)->transform].largest_t))
            return false;
    return true;
}

/*
 * s sqrt(-2 log Phi(z)): squared and divided by s^2, twice the negative log
 * likelihood of lying beyond a point that is z scales short of the prediction.
 */
static double one_sided(double distance, double scale)
{
    const double z = distance / scale;
    const double log_phi = z > 0.0 ? log1p(-0.5 * erfc(z * M_SQRT1_2))
                                   : gsl_sf_log_erfc(-z * M_SQRT1_2) - M_LN2;
    return scale * sqrt(fmax(0.0, -2.0 * log_phi));
}

static double row_of(const struct sc_fit_observation *o, double log_prediction, double scale)
{
    const double residual = log_prediction - o->log_value;
    switch (o->censoring) {
    case SC_FIT_AT_LEAST:
        return -one_sided(residual, scale);
    case SC_FIT_AT_MOST:
        return one_sided(-residual, scale);
    case SC_FIT_EXACT:
        break;
    }
    return residual;
}

/* Fills the rows, without weights, at t.  False: f->fault says what was no number. */
static bool evaluate(struct fitter *f, const gsl_vector *t, gsl_vector *rows)
{
    const struct sc_fit_problem *problem = f->problem;
    f->fault = (struct fault){ SC_EDOMAIN, SIZE_MAX, (double)NAN };
    if (!within_reach(f, t))
        return false;
    set_values(f, t);
    f->evaluations++;
    const enum sc_status status = problem->predict(f->values, f->log_predictions, problem->context);
    if (status != SC_OK) {
        f->fault.status = status;
        return false;
    }
    for (size_t i = 0; i < f->n; i++) {
        const struct sc_fit_observation *o = &problem->observations[i];
        const double prediction = f->log_predictions[i];
        if (o->weight > 0.0 && !isfinite(prediction)) {
            f->fault = (struct fault){ SC_EDOMAIN, i, prediction };
            return false;
        }
        gsl_vector_set(rows, i, o->weight > 0.0 ? row_of(o, prediction, f->scale) : 0.0);
    }
    for (size_t k = 0; k < f->prior_count; k++) {
        const struct sc_fit_parameter *p = parameter_of(f, f->priors[k]);
        gsl_vector_set(rows, f->n + k,
                       (gsl_vector_get(t, f->priors[k]) - p->prior_mean) / p->prior_sd);
    }
    gsl_vector_set(rows, f->rows - 1,
                   f->held != SIZE_MAX ? gsl_vector_get(t, f->held) - f->held_t : 0.0);
    return true;
}

static int residual_callback(const gsl_vector *t, void *context, gsl_vector *rows)
{
    struct fitter *f = context;
    if (!evaluate(f, t, rows)) {
        f->refused++;
        gsl_vector_set_all(rows, refused_row);
    }
    return GSL_SUCCESS;
}

/* One column: a central difference, or a one-sided one where predict ends. */
static int difference(struct fitter *f, size_t column, const gsl_vector *t, gsl_vector *out)
{
    const double t_j = gsl_vector_get(t, column);
    const double h = f->options.difference_step * (fabs(t_j) + unit_of(f, column));
    double above = t_j + h, below = t_j - h;

    gsl_vector_memcpy(f->trial, t);
    gsl_vector_set(f->trial, column, above);
    const bool has_above = evaluate(f, f->trial, f->plus);
    gsl_vector_set(f->trial, column, below);
    const bool has_below = evaluate(f, f->trial, f->minus);
    if (!has_above && !has_below)
        return GSL_EBADFUNC;
    if (!has_above || !has_below) {
        if (!evaluate(f, t, has_above ? f->minus : f->plus))
            return GSL_EBADFUNC;
        *(has_above ? &below : &above) = t_j;
    }
    for (size_t i = 0; i < f->rows; i++)
        gsl_vector_set(out, i, (gsl_vector_get(f->plus, i) - gsl_vector_get(f->minus, i)) /
                                   (above - below));
    return GSL_SUCCESS;
}

static int jacobian_callback(const gsl_vector *t, void *context, gsl_matrix *jacobian)
{
    struct fitter *f = context;
    for (size_t j = 0; j < f->free_count; j++) {
        gsl_vector_view column = gsl_matrix_column(jacobian, j);
        const int status = difference(f, j, t, &column.vector);
        if (status != GSL_SUCCESS)
            return status;
    }
    return GSL_SUCCESS;
}

/* Weight of observations: the caller's times Huber's; of priors: s squared. */
static void set_weights(struct fitter *f)
{
    f->weighted_scale = f->scale;
    for (size_t i = 0; i < f->n; i++)
        gsl_vector_set(f->weights, i, f->problem->observations[i].weight * f->robust[i]);
    for (size_t k = 0; k < f->prior_count; k++)
        gsl_vector_set(f->weights, f->n + k, f->scale * f->scale);
    gsl_vector_set(f->weights, f->rows - 1, f->held != SIZE_MAX ? f->held_weight : 1.0);
}

/* --- Inner loop: GSL's trust region --------------------------------------------------- */

/* The largest cosine between the residuals and a column of the Jacobian: 0 at a
 * minimum, whatever the units (More, Garbow & Hillstrom, MINPACK-1, 1980, gtol). */
static double largest_cosine(const gsl_multifit_nlinear_workspace *solver)
{
    const double length = gsl_blas_dnrm2(solver->f);
    double largest = 0.0;
    for (size_t j = 0; j < solver->x->size; j++) {
        gsl_vector_const_view column = gsl_matrix_const_column(solver->J, j);
        const double norm = gsl_blas_dnrm2(&column.vector);
        if (norm > 0.0 && length > 0.0)
            largest = fmax(largest, fabs(gsl_vector_get(solver->g, j)) / norm / length);
    }
    return largest;
}

/* A tolerance, or what the steps of differences can resolve. */
static double fineness(const struct fitter *f, double tolerance)
{
    const double coarse = 0.01 * f->options.difference_step;
    return f->options.difference_step > difference_step ? fmax(tolerance, coarse) : tolerance;
}

static bool is_small_step(const struct fitter *f, const gsl_vector *step, const gsl_vector *t,
                          double tolerance)
{
    for (size_t j = 0; j < f->free_count; j++)
        if (!(fabs(gsl_vector_get(step, j)) <=
              tolerance * (fabs(gsl_vector_get(t, j)) + unit_of(f, j))))
            return false;
    return true;
}

static bool is_settled(const struct fitter *f)
{
    const gsl_multifit_nlinear_workspace *w = f->solver;
    if (gsl_blas_dnrm2(w->f) <= exact_fit * sqrt((double)f->rows))
        return true;
    const double cosine = largest_cosine(w);
    return cosine <= cosine_tolerance ||
           (cosine <= loose_cosine && is_small_step(f, w->dx, w->x, fineness(f, step_tolerance)));
}

/* From t to the nearest minimum, which replaces t.  A GSL status other than
 * success: the Jacobian could not be had (f->fault), or GSL failed. */
static int minimise(struct fitter *f, struct ending *ending)
{
    gsl_multifit_nlinear_workspace *w = f->solver;
    size_t stalls = 0;
    int status = gsl_multifit_nlinear_winit(f->t, f->weights, &f->fdf, w);
    *ending = (struct ending){ false, "the limit of iterations was reached" };
    for (size_t i = 0; status == GSL_SUCCESS && i < f->options.iterations; i++) {
        status = gsl_multifit_nlinear_iterate(w);
        f->iterations++;
        if (status == GSL_ENOPROG) {
            status = GSL_SUCCESS;
            if (++stalls == 2) {
                *ending = (struct ending){ largest_cosine(w) <= loose_cosine,
                                           "no step improves any further" };
                break;
            }
        } else if (status == GSL_SUCCESS) {
            stalls = 0;
            if (is_settled(f)) {
                *ending = (struct ending){ true, "step and gradient are small" };
                break;
            }
        }
    }
    if (status == GSL_SUCCESS)
        gsl_vector_memcpy(f->t, w->x);
    return status;
}

/* What a failure of the inner loop means. */
static enum sc_status explain(const struct fitter *f, int gsl_status, struct sc_error *error)
{
    if (gsl_status == GSL_ENOMEM)
        return no_memory(error);
    if (gsl_status != GSL_EBADFUNC)
        return refuse(error, SC_EDOMAIN, "observations", gsl_status,
                      "cannot be fitted: GSL's solver failed");
    if (f->fault.status != SC_EDOMAIN)
        return refuse(error, f->fault.status, "predict", (double)NAN, "could not predict");
    if (f->fault.observation == SIZE_MAX)
        return refuse(error, SC_EDOMAIN, "predict", (double)NAN,
                      "could not predict, or a parameter ran out of all bounds");
    return refuse(error, SC_EDOMAIN, "observation", (double)f->fault.observation,
                  "is predicted as no finite number");
}

/* --- Starting points ---------------------------------------------------------------- */

/* Start 0 is the initial point.  `point` in [0, 1) places the others in low .. high. */
static void set_start(const struct fitter *f, const double *point)
{
    for (size_t j = 0; j < f->free_count; j++) {
        const struct sc_fit_parameter *p = parameter_of(f, j);
        const struct transform *transform = &transforms[p->transform];
        double low = p->low, high = p->high;
        if (p->transform == SC_FIT_LOGIT) { /* its ends are infinitely far away */
            low += 0.02 * (p->high - p->low);
            high -= 0.02 * (p->high - p->low);
        }
        const double t_low = transform->transformed(p, low);
        const double t_high = transform->transformed(p, high);
        gsl_vector_set(f->t, j, point == NULL ? transform->transformed(p, p->initial)
                                              : t_low + point[j] * (t_high - t_low));
    }
}

/* A first idea of s: what was told, or the residuals where it starts, which say
 * more of the starting point than of the noise when they are large. */
static double first_scale(const struct fitter *f)
{
    size_t m = 0;
    double sum = 0.0;
    for (size_t i = 0; i < f->n; i++) {
        const struct sc_fit_observation *o = &f->problem->observations[i];
        if (o->weight > 0.0 && o->censoring == SC_FIT_EXACT) {
            const double r = f->log_predictions[i] - o->log_value;
            sum += r * r * o->weight;
            m++;
        }
    }
    if (f->options.noise_weight > 0.0)
        return fmax(f->options.noise_sd, f->options.scale_floor);
    return m > 0 ? fmax(fmin(sqrt(sum / (double)m), 0.1), f->options.scale_floor) : 0.1;
}

/* One start from f->t: its sum of squares, or a GSL status. */
static int try_start(struct fitter *f, double *squares, struct ending *ending)
{
    f->scale = 1.0;
    if (!evaluate(f, f->t, f->f))
        return GSL_EBADFUNC;
    f->scale = first_scale(f);
    for (size_t i = 0; i < f->n; i++)
        f->robust[i] = 1.0;
    set_weights(f);
    const int status = minimise(f, ending);
    if (status == GSL_SUCCESS)
        gsl_blas_ddot(f->solver->f, f->solver->f, squares);
    return status;
}

/* Leaves f->t at the best end of all starts.  Status of the first start if none succeeds. */
static int find_start(struct fitter *f, struct sc_fit *fit)
{
    double point[40] = { 0 }, shift[40] = { 0 }, best = (double)INFINITY;
    struct sc_sim_rng rng = sc_sim_rng_make(f->options.seed, 0, STREAM_STARTS);
    int first_status = GSL_SUCCESS;
    struct fault first_fault = f->fault;
    gsl_qrng *qrng = NULL;
    if (f->options.starts > 1) {
        qrng = gsl_qrng_alloc(gsl_qrng_sobol, (unsigned)f->free_count);
        if (qrng == NULL)
            return GSL_ENOMEM;
        for (size_t j = 0; j < f->free_count; j++)
            shift[j] = sc_sim_rng_uniform(&rng);
    }
    for (size_t k = 0; k < f->options.starts; k++) {
        double squares = (double)INFINITY;
        struct ending ending;
        if (k > 0 && gsl_qrng_get(qrng, point) != GSL_SUCCESS)
            break;
        for (size_t j = 0; k > 0 && j < f->free_count; j++)
            point[j] = fmod(point[j] + shift[j], 1.0);
        set_start(f, k > 0 ? point : NULL);
        const int status = try_start(f, &squares, &ending);
        fit->failed_starts += status != GSL_SUCCESS;
        if (k == 0) {
            first_status = status;
            first_fault = f->fault;
        }
        if (status == GSL_SUCCESS && squares < best) {
            best = squares;
            fit->best_start = k;
            gsl_vector_memcpy(f->best_t, f->t);
        }
    }
    gsl_qrng_free(qrng);
    f->fault = first_fault;
    if (!isfinite(best))
        return first_status != GSL_SUCCESS ? first_status : GSL_EFAILED;
    gsl_vector_memcpy(f->t, f->best_t);
    return GSL_SUCCESS;
}

/* --- Singular values --------------------------------------------------------------- */

static bool is_kept_direction(const struct fitter *f, size_t k)
{
    return gsl_vector_get(f->s, k) > 0.0 &&
           gsl_vector_get(f->s, k) >= f->options.singular_limit * gsl_vector_get(f->s, 0);
}

/*
 * Singular values of the solver's last Jacobian, with the caller's weights but not
 * Huber's, priors counted against noise of `noise_sd`, columns of length 1.
 */
static int decompose(struct fitter *f, double noise_sd)
{
    gsl_matrix_memcpy(f->u, f->solver->J);
    for (size_t i = 0; i < f->rows; i++) {
        gsl_vector_view row = gsl_matrix_row(f->u, i);
        gsl_vector_scale(&row.vector,
                         i < f->n ? 1.0 / sqrt(f->robust[i]) : noise_sd / f->weighted_scale);
    }
    for (size_t j = 0; j < f->free_count; j++) {
        gsl_vector_view column = gsl_matrix_column(f->u, j);
        const double norm = gsl_blas_dnrm2(&column.vector);
        gsl_vector_set(f->norm, j, norm);
        if (norm > 0.0)
            gsl_vector_scale(&column.vector, 1.0 / norm);
    }
    return gsl_linalg_SV_decomp_jacobi(f->u, f->v, f->s);
}

/* noise^2 (J' W J)^-1 for two columns, along the directions that are kept. */
static double covariance_of(const struct fitter *f, size_t i, size_t j, double noise_sd)
{
    double sum = 0.0;
    for (size_t k = 0; k < f->free_count; k++) {
        const double s = gsl_vector_get(f->s, k);
        if (is_kept_direction(f, k))
            sum += gsl_matrix_get(f->v, i, k) * gsl_matrix_get(f->v, j, k) / (s * s);
    }
    return noise_sd * noise_sd * sum / gsl_vector_get(f->norm, i) / gsl_vector_get(f->norm, j);
}

static bool is_exact(const struct fitter *f, size_t i)
{
    const struct sc_fit_observation *o = &f->problem->observations[i];
    return o->weight > 0.0 && o->censoring == SC_FIT_EXACT;
}

/* Parameters that the exact observations pay for: the sum of their leverages. */
static double effective_parameters(const struct fitter *f)
{
    double sum = 0.0;
    for (size_t i = 0; i < f->n; i++)
        for (size_t k = 0; k < f->free_count && is_exact(f, i); k++)
            if (is_kept_direction(f, k))
                sum += gsl_matrix_get(f->u, i, k) * gsl_matrix_get(f->u, i, k);
    return sum;
}

/* --- Scale ---------------------------------------------------------------------------- */

/* What the residuals say about the noise; all refer to an observation of weight 1. */
struct noise {
    size_t exact;
    double effective;   /* parameters */
    double freedom;     /* exact - effective */
    double squares;     /* weighted sum over exact residuals */
    double robust;      /* scale by the median */
    double scale;       /* s: robust or not, with what was known beforehand */
    double noise_sd;    /* for standard errors */
};

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Scaled median of |residual|, without the smallest ones, as many as there are
 * parameters: those the fit has made small (DuMouchel & O'Brien 1989). */
static double robust_scale(const struct fitter *f, double effective)
{
    size_t m = 0;
    for (size_t i = 0; i < f->n; i++)
        if (is_exact(f, i))
            f->sorted[m++] = fabs(gsl_vector_get(f->f, i)) *
                             sqrt(f->problem->observations[i].weight);
    if (m == 0)
        return f->options.scale_floor;
    qsort(f->sorted, m, sizeof *f->sorted, compare_doubles);
    const size_t skip = (size_t)fmin(floor(effective + 0.5), (double)(m - 1));
    const size_t left = m - skip;
    const double *rest = f->sorted + skip;
    const double median =
        left % 2 == 1 ? rest[left / 2] : 0.5 * (rest[left / 2 - 1] + rest[left / 2]);
    return fmax(mad_to_sd * median, f->options.scale_floor);
}

/* A variance with f->options' earlier knowledge of it (scaled inverse chi squared). */
static double with_known(const struct fitter *f, double variance, double freedom)
{
    const double known = f->options.noise_sd * f->options.noise_sd;
    const double weight = f->options.noise_weight;
    return (weight * known + freedom * variance) / (weight + freedom);
}

/*
 * Variance that makes M-estimates' standard errors right: K^2 s^2 sum(psi^2) /
 * freedom / mean(psi')^2, K = 1 + p/n var(psi') / mean(psi')^2 (Huber, Robust
 * Statistics, 1981, eq. 6.5 and 6.6 of chapter 7).
 */
static double huber_variance(const struct fitter *f, const struct noise *noise, double scale)
{
    double psi_squares = 0.0, inside = 0.0;
    for (size_t i = 0; i < f->n; i++) {
        if (!is_exact(f, i))
            continue;
        const double u = fabs(gsl_vector_get(f->f, i)) *
                         sqrt(f->problem->observations[i].weight) / scale;
        const double psi = fmin(u, f->options.huber_k);
        psi_squares += psi * psi;
        inside += u <= f->options.huber_k;
    }
    if (!(inside > 0.0))
        return noise->squares / noise->freedom;
    const double n = (double)noise->exact;
    const double mean = inside / n;
    const double k = 1.0 + noise->effective / n * (1.0 - mean) / mean;
    return k * k * scale * scale * psi_squares / noise->freedom / (mean * mean);
}

/* Needs f->f at the solution and decompose().  False: no degrees of freedom. */
static bool find_noise(const struct fitter *f, struct noise *out)
{
    struct noise noise = { .effective = f->free_count > 0 ? effective_parameters(f) : 0.0 };
    for (size_t i = 0; i < f->n; i++) {
        if (!is_exact(f, i))
            continue;
        const double row = gsl_vector_get(f->f, i);
        noise.squares += row * row * f->problem->observations[i].weight;
        noise.exact++;
    }
    noise.freedom = fmax(0.0, (double)noise.exact - noise.effective);
    noise.robust = robust_scale(f, noise.effective);
    const bool has_freedom = noise.freedom > 1e-9;
    if (!has_freedom && !(f->options.noise_weight > 0.0))
        return false;
    const double freedom = has_freedom ? noise.freedom : 0.0;
    const double plain = has_freedom ? noise.squares / freedom : 0.0;
    const double floor_squared = f->options.scale_floor * f->options.scale_floor;
    if (f->options.loss == SC_FIT_HUBER) {
        noise.scale = sqrt(with_known(f, noise.robust * noise.robust, freedom));
        const double huber = has_freedom ? huber_variance(f, &noise, noise.scale) : 0.0;
        noise.noise_sd = sqrt(with_known(f, huber, freedom));
    } else {
        noise.noise_sd = sqrt(with_known(f, plain, freedom));
        noise.scale = sqrt(fmax(noise.noise_sd * noise.noise_sd, floor_squared));
    }
    *out = noise;
    return true;
}

static void set_robust_weights(const struct fitter *f)
{
    for (size_t i = 0; i < f->n; i++) {
        const double u = fabs(gsl_vector_get(f->f, i)) *
                         sqrt(f->problem->observations[i].weight) / f->scale;
        f->robust[i] = f->options.loss == SC_FIT_HUBER && u > f->options.huber_k
                           ? f->options.huber_k / u : 1.0;
    }
}

/* --- Outer loop: weights and scale ------------------------------------------------------ */

/* Whether weights or rows depend on s, so that one pass is not enough. */
static bool depends_on_scale(const struct fitter *f)
{
    if (f->options.loss == SC_FIT_HUBER || f->prior_count > 0)
        return true;
    for (size_t i = 0; i < f->n; i++)
        if (f->problem->observations[i].censoring != SC_FIT_EXACT)
            return true;
    return false;
}

static bool has_settled(const struct fitter *f, double scale_before, double noise_sd)
{
    for (size_t j = 0; j < f->free_count; j++) {
        const double t = gsl_vector_get(f->t, j);
        const double moved = fabs(t - gsl_vector_get(f->before_t, j));
        if (moved <= fineness(f, round_tolerance) * (fabs(t) + unit_of(f, j)))
            continue;
        if (!(moved <= error_share * sqrt(covariance_of(f, j, j, noise_sd))))
            return false;
    }
    return fabs(f->scale - scale_before) <= scale_tolerance * f->scale;
}

/* One round: minimise with the weights at hand, then renew noise, s and weights. */
static enum sc_status round_once(struct fitter *f, bool renew_scale, struct noise *noise,
                                 struct ending *ending, struct sc_error *error)
{
    set_weights(f);
    int status = minimise(f, ending);
    if (status == GSL_SUCCESS && !evaluate(f, f->t, f->f))
        status = GSL_EBADFUNC;
    if (status == GSL_SUCCESS)
        status = decompose(f, f->scale);
    if (status != GSL_SUCCESS)
        return explain(f, status, error);
    if (!find_noise(f, noise))
        return refuse(error, SC_EMISSING, "noise_sd", (double)NAN,
                      "must be told: the exact observations leave no degree of freedom");
    if (renew_scale)
        f->scale = noise->scale;
    return SC_OK;
}

static enum sc_status solve_rounds(struct fitter *f, struct sc_fit *fit, struct noise *noise,
                                   struct sc_error *error)
{
    struct ending ending = { false, "" };
    const bool once = !depends_on_scale(f);
    bool settled = false;
    while (!settled && fit->rounds < f->options.rounds) {
        const double scale_before = f->scale;
        gsl_vector_memcpy(f->before_t, f->t);
        /* Were s renewed for ever, it and the weights could chase each other. */
        const enum sc_status status =
            round_once(f, fit->rounds < SCALE_ROUNDS, noise, &ending, error);
        if (status != SC_OK)
            return status;
        settled = once || (fit->rounds > 0 && has_settled(f, scale_before, noise->noise_sd));
        fit->rounds++;
        if (!settled && fit->rounds < f->options.rounds)
            set_robust_weights(f);
    }
    fit->converged = settled && ending.converged;
    fit->reason = settled ? ending.reason : "weights and scale still moved at the limit of rounds";
    return SC_OK;
}

/* --- What is known -------------------------------------------------------------------- */

/* Whether any prediction depends on a column. */
static bool has_effect(const struct fitter *f, size_t column)
{
    for (size_t i = 0; i < f->n; i++)
        if (gsl_matrix_get(f->solver->J, i, column) != 0.0)
            return true;
    return false;
}

/* The lost direction that a column is part of, or SIZE_MAX. */
static size_t lost_direction(const struct fitter *f, size_t column)
{
    for (size_t k = 0; k < f->free_count; k++) {
        const double share = gsl_matrix_get(f->v, column, k);
        if (!is_kept_direction(f, k) && share * share > column_share)
            return k;
    }
    return SIZE_MAX;
}

/* The other parameter with the largest part in a direction. */
static const char *companion(const struct fitter *f, size_t column, size_t direction)
{
    size_t best = SIZE_MAX;
    double largest = column_share;
    for (size_t j = 0; j < f->free_count; j++) {
        const double share = gsl_matrix_get(f->v, j, direction);
        if (j != column && gsl_vector_get(f->norm, j) > 0.0 && share * share > largest) {
            largest = share * share;
            best = j;
        }
    }
    return best == SIZE_MAX ? NULL : parameter_of(f, best)->name;
}

/* Columns whose error cannot be stated: no effect and no prior, or singular. */
static void find_lost(const struct fitter *f, struct sc_fit *fit)
{
    for (size_t j = 0; j < f->free_count; j++) {
        struct sc_fit_estimate *e = &fit->estimates[f->columns[j]];
        const bool has_prior = parameter_of(f, j)->prior_sd > 0.0;
        e->verdict = SC_FIT_IDENTIFIED;
        if (!has_effect(f, j)) {
            e->verdict = has_prior ? SC_FIT_PRIOR : SC_FIT_NO_EFFECT;
            if (has_prior)
                continue;
        } else if (lost_direction(f, j) != SIZE_MAX) {
            e->verdict = SC_FIT_SINGULAR;
            e->with = companion(f, j, lost_direction(f, j));
        }
    }
}

static bool is_lost(const struct sc_fit_estimate *e)
{
    return e->verdict == SC_FIT_NO_EFFECT || e->verdict == SC_FIT_SINGULAR;
}

static double kept_finite(double x)
{
    return fmax(-DBL_MAX, fmin(DBL_MAX, x));
}

static void fill_matrices(const struct fitter *f, struct sc_fit *fit, double noise_sd)
{
    const size_t m = fit->parameter_count;
    for (size_t i = 0; i < m; i++)
        fit->correlation[i * m + i] = 1.0;
    for (size_t a = 0; a < f->free_count; a++) {
        for (size_t b = 0; b <= a; b++) {
            const size_t i = f->columns[a], j = f->columns[b];
            const struct sc_fit_parameter *p = parameter_of(f, a), *q = parameter_of(f, b);
            if (is_lost(&fit->estimates[i]) || is_lost(&fit->estimates[j]))
                continue;
            const double c = kept_finite(covariance_of(f, a, b, noise_sd));
            const double slopes = transforms[p->transform].slope(p, gsl_vector_get(f->t, a)) *
                                  transforms[q->transform].slope(q, gsl_vector_get(f->t, b));
            fit->transformed_covariance[i * m + j] = fit->transformed_covariance[j * m + i] = c;
            fit->covariance[i * m + j] = fit->covariance[j * m + i] = kept_finite(c * slopes);
        }
    }
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++) {
            const double *c = fit->transformed_covariance;
            const double scale = sqrt(c[i * m + i]) * sqrt(c[j * m + j]);
            if (i != j && scale > 0.0)
                fit->correlation[i * m + j] = fmax(-1.0, fmin(1.0, c[i * m + j] / scale));
        }
}

static const char *most_correlated(const struct sc_fit *fit, size_t i)
{
    const size_t m = fit->parameter_count;
    double largest = close_correlation;
    const char *name = NULL;
    for (size_t j = 0; j < m; j++)
        if (j != i && fabs(fit->correlation[i * m + j]) > largest) {
            largest = fabs(fit->correlation[i * m + j]);
            name = fit->estimates[j].name;
        }
    return name;
}

/* Back from t, kept finite. */
static double bound_of(const struct sc_fit_parameter *p, double t)
{
    const double largest = transforms[p->transform].largest_t;
    return transforms[p->transform].value(p, fmax(-largest, fmin(largest, t)));
}

static double error_limit(const struct fitter *f, const struct sc_fit_parameter *p)
{
    return p->transform == SC_FIT_IDENTITY ? p->high - p->low : f->options.std_error_limit;
}

static void fill_free(const struct fitter *f, struct sc_fit *fit, size_t column, double quantile)
{
    const size_t i = f->columns[column], m = fit->parameter_count;
    const struct sc_fit_parameter *p = parameter_of(f, column);
    struct sc_fit_estimate *e = &fit->estimates[i];
    e->transformed = gsl_vector_get(f->t, column);
    e->value = bound_of(p, e->transformed);
    e->out_of_range = e->value < p->low || e->value > p->high;
    if (is_lost(e)) {
        e->std_error = e->transformed_std_error = e->low = e->high = (double)NAN;
        return;
    }
    e->transformed_std_error = sqrt(fit->transformed_covariance[i * m + i]);
    e->std_error = sqrt(fit->covariance[i * m + i]);
    e->low = bound_of(p, e->transformed - quantile * e->transformed_std_error);
    e->high = bound_of(p, e->transformed + quantile * e->transformed_std_error);
    if (p->prior_sd > 0.0) {
        const double share = e->transformed_std_error / p->prior_sd;
        e->prior_share = fmin(1.0, share * share);
    }
    if (e->prior_share > f->options.prior_share_limit)
        e->verdict = SC_FIT_PRIOR;
    else if (e->verdict == SC_FIT_IDENTIFIED && e->transformed_std_error > error_limit(f, p))
        e->verdict = SC_FIT_WIDE;
    if (e->verdict == SC_FIT_WIDE)
        e->with = most_correlated(fit, i);
}

static double interval_quantile(const struct sc_fit *fit)
{
    return gsl_cdf_tdist_Pinv(0.975, fmax(1.0, fit->degrees_of_freedom));
}

static void fill_estimates(const struct fitter *f, struct sc_fit *fit)
{
    const double quantile = interval_quantile(fit);
    for (size_t i = 0; i < fit->parameter_count; i++) {
        const struct sc_fit_parameter *p = &f->problem->parameters[i];
        struct sc_fit_estimate *e = &fit->estimates[i];
        e->name = p->name;
        if (p->fixed) {
            e->value = e->low = e->high = p->initial;
            const double t = transforms[p->transform].transformed(p, p->initial);
            e->transformed = isfinite(t) ? t : (double)NAN;
            e->verdict = SC_FIT_GIVEN;
        }
    }
    for (size_t j = 0; j < f->free_count; j++)
        fill_free(f, fit, j, quantile);
}

static void fill_words(struct sc_fit *fit)
{
    for (size_t i = 0; i < fit->parameter_count; i++) {
        struct sc_fit_estimate *e = &fit->estimates[i];
        e->identified = e->verdict == SC_FIT_GIVEN || e->verdict == SC_FIT_IDENTIFIED;
        e->why = verdicts[e->verdict];
        fit->unidentified_count += !e->identified;
    }
}

static double condition_of(const struct fitter *f)
{
    size_t count = 0;
    for (size_t j = 0; j < f->free_count; j++)
        count += gsl_vector_get(f->norm, j) > 0.0;
    if (count == 0)
        return (double)NAN;
    /* Columns without effect have the smallest singular values, all 0. */
    const double smallest = gsl_vector_get(f->s, count - 1), largest = gsl_vector_get(f->s, 0);
    return smallest > largest * DBL_EPSILON ? largest / smallest : 1.0 / DBL_EPSILON;
}

static void fill_observations(const struct fitter *f, struct sc_fit *fit)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct sc_fit_observation *o = &f->problem->observations[i];
        fit->log_predictions[i] = f->log_predictions[i];
        fit->residuals[i] = f->log_predictions[i] - o->log_value;
        fit->robust_weights[i] = f->robust[i];
        fit->censored_count += o->weight > 0.0 && o->censoring != SC_FIT_EXACT;
        fit->outlier_count += o->weight > 0.0 && f->robust[i] < 1.0;
    }
}

/* R2 of the weighted log observations; Akaike's criterion corrected for few of
 * them (Hurvich & Tsai, Biometrika 76, 1989), s counted as a parameter. */
static void fill_quality(const struct fitter *f, struct sc_fit *fit, const struct noise *noise)
{
    double weight = 0.0, mean = 0.0, total = 0.0;
    for (size_t i = 0; i < f->n; i++)
        if (is_exact(f, i)) {
            const struct sc_fit_observation *o = &f->problem->observations[i];
            weight += o->weight;
            mean += (o->log_value - mean) * o->weight / weight;
        }
    for (size_t i = 0; i < f->n; i++)
        if (is_exact(f, i)) {
            const struct sc_fit_observation *o = &f->problem->observations[i];
            total += o->weight * (o->log_value - mean) * (o->log_value - mean);
        }
    const double n = (double)noise->exact, k = (double)f->free_count + 1.0;
    fit->r_squared = total > 0.0 ? 1.0 - noise->squares / total : (double)NAN;
    fit->aicc = n - k - 1.0 > 0.0 && noise->squares > 0.0
                    ? n * log(noise->squares / n) + 2.0 * k + 2.0 * k * (k + 1.0) / (n - k - 1.0)
                    : (double)NAN;
    fit->exact_count = noise->exact;
    fit->effective_parameters = noise->effective;
    fit->degrees_of_freedom = noise->freedom + f->options.noise_weight;
    fit->residual_sd = noise->freedom > 1e-9 ? sqrt(noise->squares / noise->freedom)
                                             : (double)NAN;
    fit->robust_scale = noise->robust;
    fit->noise_sd = noise->noise_sd;
}

/* --- Profiles --------------------------------------------------------------------------- */

/*
 * An interval of standard errors supposes that the sum of squares rises like a
 * parabola: by (quantile noise)^2 at its ends, the other parameters following.  A
 * parameter that saturates (a knee beyond the data) breaks that on one side, where
 * the true rise may never come.  So the rise is looked at (Bates & Watts, Nonlinear
 * Regression Analysis, 1988, section 6.1); where it is too small, the end is moved
 * outwards to where it is large enough, and a parameter without such a place is open.
 */
struct profile {
    size_t column;
    double best;         /* t of the solution */
    double base, wanted; /* sum of squares there, and its rise at an end */
    double reach;        /* furthest distance in t to look at */
    double noise_sd;
};

/* The rise at t; infinite where there is no prediction. */
static double rise_at(struct fitter *f, const struct sc_fit *fit, const struct profile *profile,
                      double t)
{
    const size_t m = fit->parameter_count, own = f->columns[profile->column];
    const double *c = fit->transformed_covariance;
    const double stiffness = hold_stiffness * profile->noise_sd / sqrt(c[own * m + own]);
    double squares = (double)INFINITY;
    struct ending ending;
    for (size_t j = 0; j < f->free_count; j++) /* where a parabola would have the others */
        gsl_vector_set(f->t, j, gsl_vector_get(f->best_t, j) +
                                    c[f->columns[j] * m + own] / c[own * m + own] *
                                        (t - profile->best));
    f->held = profile->column;
    f->held_t = t;
    f->held_weight = stiffness * stiffness;
    set_weights(f);
    if (evaluate(f, f->t, f->f) && minimise(f, &ending) == GSL_SUCCESS)
        gsl_blas_ddot(f->solver->f, f->solver->f, &squares);
    f->held = SIZE_MAX;
    return squares - profile->base;
}

/* The end of the interval on one side, from where the parabola has it.  False: open. */
static bool find_end(struct fitter *f, const struct sc_fit *fit, const struct profile *profile,
                     double distance, double *end)
{
    *end = profile->best + distance;
    if (rise_at(f, fit, profile, *end) >= parabola_share * profile->wanted)
        return true;
    while (fabs(distance) < profile->reach) {
        distance *= profile_stretch;
        *end = profile->best + distance;
        if (rise_at(f, fit, profile, *end) >= profile->wanted)
            return true;
    }
    return false;
}

static void profile_column(struct fitter *f, struct sc_fit *fit, size_t column, double base)
{
    const struct sc_fit_parameter *p = parameter_of(f, column);
    struct sc_fit_estimate *e = &fit->estimates[f->columns[column]];
    const double quantile = interval_quantile(fit);
    const double wanted = quantile * fit->noise_sd;
    const struct profile profile = { column, e->transformed, base, wanted * wanted,
                                     quantile * error_limit(f, p), fit->noise_sd };
    double low, high;
    if (e->verdict != SC_FIT_IDENTIFIED || !(e->transformed_std_error > 0.0))
        return;
    const double distance = quantile * e->transformed_std_error;
    const bool has_low = find_end(f, fit, &profile, -distance, &low);
    const bool has_high = find_end(f, fit, &profile, distance, &high);
    e->low = bound_of(p, low);
    e->high = bound_of(p, high);
    if (!has_low || !has_high) {
        e->verdict = SC_FIT_OPEN;
        e->with = most_correlated(fit, f->columns[column]);
    }
}

/* Overwrites f->t and the solver. */
static void profile_all(struct fitter *f, struct sc_fit *fit)
{
    double base = 0.0;
    gsl_vector_memcpy(f->best_t, f->t);
    set_weights(f);
    if (!evaluate(f, f->t, f->f))
        return;
    for (size_t i = 0; i < f->rows; i++)
        base += gsl_vector_get(f->weights, i) * gsl_vector_get(f->f, i) * gsl_vector_get(f->f, i);
    for (size_t j = 0; j < f->free_count; j++)
        profile_column(f, fit, j, base);
}

/* --- Storage ------------------------------------------------------------------------------ */

static void fitter_fini(struct fitter *f)
{
    gsl_vector *const vectors[] = { f->t,   f->best_t, f->before_t, f->weights, f->f,
                                    f->plus, f->minus,  f->trial,    f->s,       f->norm };
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++)
        gsl_vector_free(vectors[i]);
    gsl_matrix_free(f->u);
    gsl_matrix_free(f->v);
    gsl_multifit_nlinear_free(f->solver);
    free(f->columns);
    free(f->priors);
    free(f->values);
    free(f->log_predictions);
    free(f->robust);
    free(f->sorted);
}

static void list_columns(struct fitter *f)
{
    for (size_t i = 0; i < f->problem->parameter_count; i++) {
        const struct sc_fit_parameter *p = &f->problem->parameters[i];
        f->values[i] = p->initial;
        if (p->fixed)
            continue;
        if (p->prior_sd > 0.0)
            f->priors[f->prior_count++] = f->free_count;
        f->columns[f->free_count++] = i;
    }
    f->rows = f->n + f->prior_count + 1;
    f->held = SIZE_MAX;
}

/* GSL's part; needs at least one free parameter. */
static bool solver_init(struct fitter *f)
{
    const size_t m = f->free_count;
    gsl_multifit_nlinear_parameters settings = gsl_multifit_nlinear_default_parameters();
    settings.trs = f->options.method == SC_FIT_DOGLEG ? gsl_multifit_nlinear_trs_dogleg
                                                      : gsl_multifit_nlinear_trs_lm;
    f->fdf = (gsl_multifit_nlinear_fdf){ .f = residual_callback, .df = jacobian_callback,
                                         .n = f->rows, .p = m, .params = f };
    f->solver = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &settings, f->rows, m);
    f->best_t = gsl_vector_alloc(m);
    f->before_t = gsl_vector_alloc(m);
    f->trial = gsl_vector_alloc(m);
    f->s = gsl_vector_alloc(m);
    f->norm = gsl_vector_alloc(m);
    f->weights = gsl_vector_alloc(f->rows);
    f->plus = gsl_vector_alloc(f->rows);
    f->minus = gsl_vector_alloc(f->rows);
    f->u = gsl_matrix_alloc(f->rows, m);
    f->v = gsl_matrix_alloc(m, m);
    return f->solver != NULL && f->best_t != NULL && f->before_t != NULL && f->trial != NULL &&
           f->s != NULL && f->norm != NULL && f->weights != NULL && f->plus != NULL &&
           f->minus != NULL && f->u != NULL && f->v != NULL;
}

static bool fitter_init(struct fitter *f)
{
    const size_t m = f->problem->parameter_count, n = f->problem->observation_count;
    if (n > SIZE_MAX / 16 / sizeof(double) || m > SIZE_MAX / 16 / sizeof(double))
        return false;
    f->n = n;
    f->columns = calloc(m + 1, sizeof *f->columns);
    f->priors = calloc(m + 1, sizeof *f->priors);
    f->values = calloc(m + 1, sizeof *f->values);
    f->log_predictions = calloc(n + 1, sizeof *f->log_predictions);
    f->robust = calloc(n + 1, sizeof *f->robust);
    f->sorted = calloc(n + 1, sizeof *f->sorted);
    if (f->columns == NULL || f->priors == NULL || f->values == NULL ||
        f->log_predictions == NULL || f->robust == NULL || f->sorted == NULL)
        return false;
    list_columns(f);
    for (size_t i = 0; i < n; i++)
        f->robust[i] = 1.0;
    f->t = gsl_vector_calloc(f->free_count);
    f->f = gsl_vector_calloc(f->rows);
    return f->t != NULL && f->f != NULL;
}

static bool fit_init(struct sc_fit *fit, size_t m, size_t n)
{
    if (m > 0 && m > SIZE_MAX / sizeof(double) / m)
        return false;
    fit->parameter_count = m;
    fit->observation_count = n;
    fit->estimates = calloc(m + 1, sizeof *fit->estimates);
    fit->covariance = calloc(m * m + 1, sizeof *fit->covariance);
    fit->transformed_covariance = calloc(m * m + 1, sizeof *fit->transformed_covariance);
    fit->correlation = calloc(m * m + 1, sizeof *fit->correlation);
    fit->log_predictions = calloc(n + 1, sizeof *fit->log_predictions);
    fit->residuals = calloc(n + 1, sizeof *fit->residuals);
    fit->robust_weights = calloc(n + 1, sizeof *fit->robust_weights);
    return fit->estimates != NULL && fit->covariance != NULL &&
           fit->transformed_covariance != NULL && fit->correlation != NULL &&
           fit->log_predictions != NULL && fit->residuals != NULL && fit->robust_weights != NULL;
}

void sc_fit_fini(struct sc_fit *fit)
{
    free(fit->estimates);
    free(fit->covariance);
    free(fit->transformed_covariance);
    free(fit->correlation);
    free(fit->log_predictions);
    free(fit->residuals);
    free(fit->robust_weights);
    *fit = (struct sc_fit){ 0 };
}

/* --- The whole ------------------------------------------------------------------------------ */

/* Nothing to fit: residuals and their scale only. */
static enum sc_status judge_given(struct fitter *f, struct sc_fit *fit, struct noise *noise,
                                  struct sc_error *error)
{
    f->scale = 1.0;
    if (!evaluate(f, f->t, f->f))
        return explain(f, GSL_EBADFUNC, error);
    f->scale = first_scale(f);
    if (!evaluate(f, f->t, f->f))
        return explain(f, GSL_EBADFUNC, error);
    if (!find_noise(f, noise))
        return refuse(error, SC_EMISSING, "noise_sd", (double)NAN,
                      "must be told: no observation has an exact value");
    fit->converged = true;
    fit->reason = "there is no free parameter";
    fit->condition = (double)NAN;
    return SC_OK;
}

static enum sc_status judge_free(struct fitter *f, struct sc_fit *fit, struct noise *noise,
                                 struct sc_error *error)
{
    int gsl_status = solver_init(f) ? find_start(f, fit) : GSL_ENOMEM;
    if (gsl_status != GSL_SUCCESS)
        return explain(f, gsl_status, error);
    const enum sc_status status = solve_rounds(f, fit, noise, error);
    if (status != SC_OK)
        return status;
    gsl_status = decompose(f, noise->noise_sd);
    if (gsl_status != GSL_SUCCESS)
        return explain(f, gsl_status, error);
    fit->condition = condition_of(f);
    find_lost(f, fit);
    fill_matrices(f, fit, noise->noise_sd);
    return SC_OK;
}

static enum sc_status solve(struct fitter *f, struct sc_fit *fit, struct sc_error *error)
{
    struct noise noise = { 0 };
    enum sc_status status = check_observations(f, error);
    if (status == SC_OK)
        status = check_counts(f, error);
    if (status == SC_OK)
        status = f->free_count > 0 ? judge_free(f, fit, &noise, error)
                                   : judge_given(f, fit, &noise, error);
    if (status != SC_OK)
        return status;
    fit->free_count = f->free_count;
    fit->iterations = f->iterations;
    fit->refused_steps = f->refused;
    fill_observations(f, fit);
    fill_quality(f, fit, &noise);
    fill_estimates(f, fit);
    if (f->free_count > 0 && !f->options.skip_profiles)
        profile_all(f, fit);
    fill_words(fit);
    fit->evaluations = f->evaluations;
    return SC_OK;
}

enum sc_status sc_fit_solve(struct sc_fit *fit, const struct sc_fit_problem *problem,
                            const struct sc_fit_options *options, struct sc_error *error)
{
    struct fitter f = { .problem = problem, .options = with_defaults(options) };
    *fit = (struct sc_fit){ 0 };
    enum sc_status status = check_options(&f.options, error);
    for (size_t i = 0; i < problem->parameter_count && status == SC_OK; i++) {
        const struct sc_fit_parameter *p = &problem->parameters[i];
        const char *reason = fault_of_parameter(p, f.options.starts > 1);
        if (reason != NULL)
            status = refuse(error, SC_EDOMAIN, p->name, p->initial, reason);
    }
    if (status != SC_OK)
        return status;

    gsl_error_handler_t *handler = gsl_set_error_handler_off();
    if (!fit_init(fit, problem->parameter_count, problem->observation_count) || !fitter_init(&f))
        status = no_memory(error);
    else
        status = solve(&f, fit, error);
    fitter_fini(&f);
    gsl_set_error_handler(handler);
    if (status != SC_OK)
        sc_fit_fini(fit);
    return status;
}
