/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "elasticity.h"

#include <math.h>
#include <string.h>

enum { TRIES_MAX = 64 };
static const double step_share = 0.01;
/* At a step of the metric, ten times nearer is ten times steeper; from this many on it is one. */
static const double jump_ratio = 4.0;
/* An elasticity below this is rounding. */
static const double least = 1e-9;

bool elasticity_metric(const struct elasticity_job *job, size_t more, double *value,
                       struct problem *problem)
{
    _Alignas(max_align_t) unsigned char scenario[SC_SCENARIO_MAX];
    struct judged_answer answer;
    struct sc_error error;
    if (!resolver_build(job->resolver, job->settings, job->count + more, scenario, problem))
        return false;
    const enum sc_status status = job->system->estimate(scenario, answer.answer, NULL, &error);
    if (status != SC_OK) {
        scenario_describe_error(job->system, status, &error, problem);
        return false;
    }
    calibration_judge(job->calibration, scenario, &answer);
    memcpy(value, (const char *)&answer + job->metric->offset, sizeof *value);
    return isfinite(*value) || problem_set(problem, "%s has no value here", job->metric->column);
}

static bool metric_with(const struct elasticity_job *job, const struct sc_field *field, double key,
                        double *value)
{
    struct problem ignored;
    job->settings[job->count] = (struct setting){ .field = field, .value = key };
    return key >= field->minimum && key <= field->maximum &&
           elasticity_metric(job, 1, value, &ignored) && *value > 0.0;
}

/* A value of the key beside its own, `share` away on the side of the sign, that has an answer. */
static bool step_to(const struct elasticity_job *job, const struct sc_field *field, double own,
                    double share, double sign, double *key, double *value)
{
    if (field->octaves_of != NULL)
        *key = sign > 0.0 ? 2.0 * own : 0.5 * own;
    else
        *key = own * exp(sign * share);
    if (field->kind != SC_INTEGER)
        return metric_with(job, field, *key, value);
    const double first = fmax(1.0, round(share * own));
    for (int i = 0; i < TRIES_MAX; i++) {
        *key = own + sign * (first + i);
        if (*key > 0.0 && metric_with(job, field, *key, value))
            return true;
    }
    return false;
}

/* The slope between a value on either side, or one and the key's own; NaN: neither has an
 * answer. */
static double slope(const struct elasticity_job *job, const struct sc_field *field, double own,
                    double base, double share)
{
    double low = own, high = own, below = base, above = base;
    const bool down = step_to(job, field, own, share, -1.0, &low, &below);
    const bool up = step_to(job, field, own, share, 1.0, &high, &above);
    if (!down && !up)
        return (double)NAN;
    return log((up ? above : base) / (down ? below : base)) /
           log((up ? high : own) / (down ? low : own));
}

struct elasticity elasticity_find(const struct elasticity_job *job, const struct sc_field *field,
                                  const void *scenario, double base)
{
    struct elasticity e = { .field = field, .value = sc_field_get(field, scenario) };
    e.kind = isnan(e.value) ? ELASTICITY_DERIVED : ELASTICITY_ZERO;
    if (!(e.value > 0.0))
        return e;
    e.elasticity = slope(job, field, e.value, base, step_share);
    e.kind = isnan(e.elasticity)           ? ELASTICITY_ALONE
             : fabs(e.elasticity) > least ? ELASTICITY_FOUND
                                          : ELASTICITY_NONE;
    if (e.kind == ELASTICITY_FOUND && field->kind == SC_REAL && field->octaves_of == NULL)
        e.jump = fabs(slope(job, field, e.value, base, 0.1 * step_share)) >
                 jump_ratio * fabs(e.elasticity);
    return e;
}
