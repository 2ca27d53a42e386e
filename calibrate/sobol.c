/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sobol.h"

#include <math.h>
#include <stdlib.h>

#include "sim/rng.h"

enum { STREAM_BATCH = 0x50b01ba7 };

/* Variance below this share of the mean's square is rounding. */
static const double least_spread = 1e-24;

/* Outputs, row by row: of A, of B, and of A with each column of B. */
struct outputs {
    const struct sc_sobol_problem *problem;
    size_t width;
    double *y;
};

/* Sums over the rows of a batch, of outputs less the mean of all. */
struct sums {
    double rows, squares; /* of A and B */
    double values;
    double first[SC_SOBOL_INPUTS_MAX], total[SC_SOBOL_INPUTS_MAX];
};

static enum sc_status refuse(struct sc_error *error, enum sc_status status, const char *field,
                             double value, const char *reason)
{
    if (error != NULL)
        *error = (struct sc_error){ .field = field, .value = value, .reason = reason };
    return status;
}

static enum sc_status check(const struct sc_sobol_problem *p, struct sc_error *error)
{
    if (p->inputs == 0 || p->inputs > SC_SOBOL_INPUTS_MAX)
        return refuse(error, SC_ERANGE, "inputs", (double)p->inputs, "must be from 1 to 20");
    if (p->samples < SC_SOBOL_SAMPLES_MIN || p->samples > SC_SOBOL_SAMPLES_MAX ||
        (p->samples & (p->samples - 1)) != 0)
        return refuse(error, SC_ERANGE, "samples", (double)p->samples,
                      "must be a power of two from 256 to 16777216");
    return SC_OK;
}

/* One row: A, B, and A with each column of B. */
static enum sc_status ask_row(const struct sc_sobol_problem *p, const struct sc_points *points,
                              uint64_t i, double *row, struct sc_error *error)
{
    double a[SC_SOBOL_INPUTS_MAX], b[SC_SOBOL_INPUTS_MAX], x[SC_SOBOL_INPUTS_MAX];
    for (size_t k = 0; k < p->inputs; k++) {
        a[k] = sc_points_coordinate(points, i, k);
        b[k] = sc_points_coordinate(points, i, p->inputs + k);
    }
    for (size_t which = 0; which < p->inputs + 2; which++) {
        for (size_t k = 0; k < p->inputs; k++)
            x[k] = which == 1 || which == k + 2 ? b[k] : a[k];
        if (!p->output(p->context, x, &row[which]))
            return refuse(error, SC_EMISSING, "output", (double)NAN, "has no value for an input");
        if (!isfinite(row[which]))
            return refuse(error, SC_EDOMAIN, "output", (double)NAN, "is not finite");
    }
    return SC_OK;
}

static enum sc_status ask_all(struct outputs *o, struct sc_error *error)
{
    const struct sc_sobol_problem *p = o->problem;
    const size_t rows = p->samples / SC_SOBOL_BATCHES;
    enum sc_status status = SC_OK;
    double *row = o->y;
    for (size_t batch = 0; batch < SC_SOBOL_BATCHES && status == SC_OK; batch++) {
        struct sc_points points;
        status = sc_points_init(&points, 2 * p->inputs, rows,
                                sc_sim_rng_hash(p->seed, batch, STREAM_BATCH), error);
        for (size_t i = 0; i < rows && status == SC_OK; i++, row += o->width)
            status = ask_row(p, &points, i, row, error);
    }
    return status;
}

static double mean_of(const struct outputs *o)
{
    double sum = 0.0;
    for (size_t i = 0; i < o->problem->samples; i++)
        sum += o->y[i * o->width] + o->y[i * o->width + 1];
    return sum / (2.0 * (double)o->problem->samples);
}

static struct sums add_up(const struct outputs *o, size_t batch, double mean)
{
    const size_t rows = o->problem->samples / SC_SOBOL_BATCHES;
    struct sums sums = { .rows = (double)rows };
    const double *row = o->y + batch * rows * o->width;
    for (size_t i = 0; i < rows; i++, row += o->width) {
        const double a = row[0] - mean, b = row[1] - mean;
        sums.values += a + b;
        sums.squares += a * a + b * b;
        for (size_t k = 0; k < o->problem->inputs; k++) {
            const double change = row[2 + k] - row[0];
            sums.first[k] += b * change;
            sums.total[k] += 0.5 * change * change;
        }
    }
    return sums;
}

static void accumulate(struct sums *all, const struct sums *some, double sign, size_t inputs)
{
    all->rows += sign * some->rows;
    all->values += sign * some->values;
    all->squares += sign * some->squares;
    for (size_t k = 0; k < inputs; k++) {
        all->first[k] += sign * some->first[k];
        all->total[k] += sign * some->total[k];
    }
}

static double variance_of(const struct sums *s)
{
    const double mean = s->values / (2.0 * s->rows);
    return s->squares / (2.0 * s->rows) - mean * mean;
}

/* Indices from the sums of some batches. */
static void index_from(const struct sums *s, size_t inputs, struct sc_sobol *sobol)
{
    sobol->variance = variance_of(s);
    sobol->first_sum = 0.0;
    for (size_t k = 0; k < inputs; k++) {
        sobol->indices[k].first = s->first[k] / s->rows / sobol->variance;
        sobol->indices[k].total = s->total[k] / s->rows / sobol->variance;
        sobol->first_sum += sobol->indices[k].first;
    }
}

/* Jackknife: `without` holds what comes out without each batch. */
static double error_of(const double without[SC_SOBOL_BATCHES])
{
    double mean = 0.0, squares = 0.0;
    for (size_t i = 0; i < SC_SOBOL_BATCHES; i++)
        mean += without[i] / SC_SOBOL_BATCHES;
    for (size_t i = 0; i < SC_SOBOL_BATCHES; i++)
        squares += (without[i] - mean) * (without[i] - mean);
    return sqrt(squares * (SC_SOBOL_BATCHES - 1) / SC_SOBOL_BATCHES);
}

static void find_errors(const struct sums *all, const struct sums batches[SC_SOBOL_BATCHES],
                        size_t inputs, struct sc_sobol *sobol)
{
    struct sc_sobol without[SC_SOBOL_BATCHES];
    double values[SC_SOBOL_BATCHES];
    for (size_t i = 0; i < SC_SOBOL_BATCHES; i++) {
        struct sums rest = *all;
        accumulate(&rest, &batches[i], -1.0, inputs);
        index_from(&rest, inputs, &without[i]);
        values[i] = without[i].first_sum;
    }
    sobol->first_sum_se = error_of(values);
    for (size_t k = 0; k < inputs; k++) {
        for (size_t i = 0; i < SC_SOBOL_BATCHES; i++)
            values[i] = without[i].indices[k].first;
        sobol->indices[k].first_se = error_of(values);
        for (size_t i = 0; i < SC_SOBOL_BATCHES; i++)
            values[i] = without[i].indices[k].total;
        sobol->indices[k].total_se = error_of(values);
    }
}

static enum sc_status make_indices(const struct outputs *o, struct sc_sobol *sobol,
                                   struct sc_error *error)
{
    struct sums batches[SC_SOBOL_BATCHES], all = { 0 };
    const size_t inputs = o->problem->inputs;
    sobol->mean = mean_of(o);
    for (size_t i = 0; i < SC_SOBOL_BATCHES; i++) {
        batches[i] = add_up(o, i, sobol->mean);
        accumulate(&all, &batches[i], 1.0, inputs);
    }
    if (!(variance_of(&all) > least_spread * sobol->mean * sobol->mean))
        return refuse(error, SC_EDOMAIN, "output", sobol->mean, "does not vary");
    index_from(&all, inputs, sobol);
    find_errors(&all, batches, inputs, sobol);
    return SC_OK;
}

enum sc_status sc_sobol(const struct sc_sobol_problem *problem, struct sc_sobol *sobol,
                        struct sc_error *error)
{
    *sobol = (struct sc_sobol){ 0 };
    enum sc_status status = check(problem, error);
    if (status != SC_OK)
        return status;
    struct outputs o = { .problem = problem, .width = problem->inputs + 2 };
    o.y = calloc(problem->samples, o.width * sizeof *o.y);
    if (o.y == NULL)
        return refuse(error, SC_ENOSPACE, "samples", (double)problem->samples,
                      "need more memory than there is");
    status = ask_all(&o, error);
    if (status == SC_OK)
        status = make_indices(&o, sobol, error);
    free(o.y);
    return status;
}
