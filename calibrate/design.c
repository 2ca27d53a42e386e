/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scrambled Sobol points as samples of fields, and the division into sets. */
#include "design.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sim/rng.h"

enum { STREAM_SPLIT = 0x591175 };

static enum sc_status refuse(struct sc_error *error, enum sc_status status, const char *field,
                             double value, const char *reason)
{
    if (error != NULL)
        *error = (struct sc_error){ .field = field, .value = value, .reason = reason };
    return status;
}

/* --- Dimensions ---------------------------------------------------------------- */

static bool is_kept(const struct sc_design_options *options, const struct sc_field *field,
                    const struct sc_system *system)
{
    for (size_t i = 0; i < options->kept_count; i++)
        if (sc_system_field(system, options->kept[i]) == field)
            return true;
    return false;
}

static bool is_sampled(const struct sc_field *field)
{
    return (field->kind == SC_REAL || field->kind == SC_INTEGER) &&
           field->sample_low < field->sample_high;
}

static enum sc_status add_dimension(struct sc_design *design, const struct sc_field *field,
                                    const struct sc_design_choice *choice, struct sc_error *error)
{
    for (size_t k = 0; k < design->dimension_count; k++)
        if (design->dimensions[k].field == field)
            return refuse(error, SC_EDOMAIN, field->key, (double)NAN, "is sampled twice");
    if (design->dimension_count == SC_DESIGN_DIMENSIONS_MAX)
        return refuse(error, SC_ERANGE, field->key, SC_DESIGN_DIMENSIONS_MAX,
                      "is one dimension more than a Sobol sequence of GSL has");
    design->dimensions[design->dimension_count++] =
        (struct sc_design_dimension){ .field = field, .choice = choice };
    return SC_OK;
}

static enum sc_status add_choice(struct sc_design *design, const struct sc_design_choice *choice,
                                 struct sc_error *error)
{
    const struct sc_field *field = sc_system_field(design->system, choice->key);
    if (field == NULL)
        return refuse(error, SC_EMISSING, choice->key, (double)NAN, "is no field of the system");
    if (field->kind != SC_CHOICE && field->kind != SC_PRESET)
        return refuse(error, SC_EDOMAIN, choice->key, (double)NAN, "is not a choice");
    if (choice->index_count == 0)
        return refuse(error, SC_EDOMAIN, choice->key, 0.0, "has nothing to choose from");
    for (size_t i = 0; i < choice->index_count; i++) {
        const int index = choice->indices[i];
        if (index < 0 || (field->kind == SC_CHOICE && (size_t)index >= field->choice_count))
            return refuse(error, SC_EDOMAIN, choice->key, index, "is not one of the choices");
    }
    return add_dimension(design, field, choice, error);
}

static enum sc_status add_range(struct sc_design *design, const struct sc_field *field,
                                struct sc_error *error)
{
    const double low = field->sample_low, high = field->sample_high;
    if (!isfinite(low) || !isfinite(high))
        return refuse(error, SC_EDOMAIN, field->key, low, "has no finite range to sample");
    if (field->sample_log && !(low > 0.0))
        return refuse(error, SC_EDOMAIN, field->key, low, "has no logarithm to sample");
    if (field->kind == SC_INTEGER && ceil(low) > floor(high))
        return refuse(error, SC_EDOMAIN, field->key, low, "has no whole number in its range");
    return add_dimension(design, field, NULL, error);
}

static enum sc_status add_dimensions(struct sc_design *design,
                                     const struct sc_design_options *options,
                                     struct sc_error *error)
{
    enum sc_status status = SC_OK;
    for (size_t i = 0; i < options->kept_count; i++)
        if (sc_system_field(design->system, options->kept[i]) == NULL)
            return refuse(error, SC_EMISSING, options->kept[i], (double)NAN,
                          "is no field of the system");
    for (size_t i = 0; i < options->choice_count && status == SC_OK; i++)
        status = add_choice(design, &options->choices[i], error);
    for (size_t i = 0; i < design->system->field_count && status == SC_OK; i++) {
        const struct sc_field *field = &design->system->fields[i];
        if (is_sampled(field) && !is_kept(options, field, design->system))
            status = add_range(design, field, error);
    }
    return status;
}

/* --- Points -------------------------------------------------------------------- */

enum sc_status sc_design_init(struct sc_design *design, const struct sc_system *system,
                              const struct sc_design_options *options, struct sc_error *error)
{
    *design = (struct sc_design){ .system = system, .samples = options->samples };
    if (options->samples == 0 || options->samples > SC_DESIGN_SAMPLES_MAX)
        return refuse(error, SC_ERANGE, "samples", (double)options->samples,
                      "must be from 1 to 16777216");
    const enum sc_status status = add_dimensions(design, options, error);
    if (status != SC_OK || design->dimension_count == 0)
        return status;
    return sc_points_init(&design->points, design->dimension_count, options->samples,
                          options->seed, error);
}

double sc_design_coordinate(const struct sc_design *design, uint64_t i, size_t k)
{
    return sc_points_coordinate(&design->points, i, k);
}

int sc_design_drawn(const struct sc_design *design, uint64_t i, size_t c)
{
    const struct sc_design_choice *choice = design->dimensions[c].choice;
    const double place = sc_design_coordinate(design, i, c) * (double)choice->index_count;
    return choice->indices[(size_t)place];
}

/* u in [0, 1) to the field's range; whole numbers take equal shares of it. */
static double range_value(const struct sc_field *field, double u)
{
    double low = field->sample_low, high = field->sample_high;
    const bool whole = field->kind == SC_INTEGER;
    if (whole) {
        low = ceil(low) - 0.5;
        high = floor(high) + 0.5;
    }
    const double x = field->sample_log ? low * pow(high / low, u) : low + u * (high - low);
    if (whole)
        return fmin(fmax(floor(x + 0.5), low + 0.5), high - 0.5);
    return fmin(fmax(x, low), high);
}

void sc_design_sample(const struct sc_design *design, uint64_t i, void *scenario)
{
    for (size_t k = 0; k < design->dimension_count; k++) {
        const struct sc_design_dimension *d = &design->dimensions[k];
        if (d->choice == NULL)
            sc_field_set(d->field, scenario,
                         range_value(d->field, sc_design_coordinate(design, i, k)));
        else if (d->field->kind == SC_CHOICE)
            sc_field_set(d->field, scenario, sc_design_drawn(design, i, k));
    }
}

/* --- Sets ------------------------------------------------------------------------ */

struct member {
    size_t group, index;
    uint64_t hash;
};

static int compare_members(const void *a, const void *b)
{
    const struct member *p = a, *q = b;
    if (p->group != q->group)
        return p->group < q->group ? -1 : 1;
    if (p->hash != q->hash)
        return p->hash < q->hash ? -1 : 1;
    return (p->index > q->index) - (p->index < q->index);
}

/* n in the proportion of the shares: rounded down, and what is then left goes to
 * the largest remainders, earlier sets first. */
static void apportion(const double share[SC_SETS], size_t n, size_t counts[SC_SETS])
{
    double remainder[SC_SETS];
    size_t left = n;
    for (size_t s = 0; s < SC_SETS; s++) {
        const double exact = (double)n * share[s];
        const size_t whole = (size_t)exact;
        counts[s] = whole < left ? whole : left;
        remainder[s] = exact - (double)counts[s];
        left -= counts[s];
    }
    for (; left > 0; left--) {
        size_t largest = 0;
        for (size_t s = 1; s < SC_SETS; s++)
            if (remainder[s] > remainder[largest])
                largest = s;
        counts[largest]++;
        remainder[largest] = -1.0;
    }
}

static enum sc_status split_groups(uint64_t seed, const double share[SC_SETS],
                                   const size_t *groups, size_t n, enum sc_set *sets,
                                   struct sc_error *error)
{
    struct member *members = n < SIZE_MAX / sizeof *members
                                 ? malloc((n + 1) * sizeof *members) : NULL;
    if (members == NULL)
        return refuse(error, SC_ENOSPACE, "samples", (double)n, "need more memory than there is");
    for (size_t i = 0; i < n; i++)
        members[i] = (struct member){ groups[i], i, sc_sim_rng_hash(seed, i, STREAM_SPLIT) };
    qsort(members, n, sizeof *members, compare_members);
    for (size_t start = 0, end; start < n; start = end) {
        size_t counts[SC_SETS];
        for (end = start; end < n && members[end].group == members[start].group;)
            end++;
        apportion(share, end - start, counts);
        size_t next = start;
        for (size_t s = 0; s < SC_SETS; s++)
            for (size_t k = 0; k < counts[s]; k++)
                sets[members[next++].index] = (enum sc_set)s;
    }
    free(members);
    return SC_OK;
}

static enum sc_set split_alone(uint64_t seed, const double share[SC_SETS], size_t i)
{
    const double u = ldexp((double)(sc_sim_rng_hash(seed, i, STREAM_SPLIT) >> 11), -53);
    double below = 0.0;
    size_t last = 0;
    for (size_t s = 0; s < SC_SETS; s++) {
        if (!(share[s] > 0.0))
            continue;
        below += share[s];
        last = s;
        if (u < below)
            break;
    }
    return (enum sc_set)last;
}

enum sc_status sc_split(uint64_t seed, const struct sc_shares *shares, const size_t *groups,
                        size_t n, enum sc_set *sets, struct sc_error *error)
{
    double share[SC_SETS], sum = 0.0;
    for (size_t s = 0; s < SC_SETS; s++) {
        if (!(isfinite(shares->share[s]) && shares->share[s] >= 0.0))
            return refuse(error, SC_EDOMAIN, "shares", shares->share[s],
                          "is not a finite number from 0 on");
        sum += shares->share[s];
    }
    if (!(sum > 0.0 && isfinite(sum)))
        return refuse(error, SC_EDOMAIN, "shares", sum, "leave nothing to any set");
    for (size_t s = 0; s < SC_SETS; s++)
        share[s] = shares->share[s] / sum;
    if (groups != NULL)
        return split_groups(seed, share, groups, n, sets, error);
    for (size_t i = 0; i < n; i++)
        sets[i] = split_alone(seed, share, i);
    return SC_OK;
}
