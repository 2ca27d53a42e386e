/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which scenarios to simulate, and which of them to fit, to set aside for the
 * interval, and to hold out.
 *
 * A design spreads its samples evenly over all fields that the table of a
 * system samples (sample_low < sample_high), together with choices that the
 * caller names.  Sample i is made from the design and i alone, so that a run can
 * stop, resume and be divided among machines; it does not depend on how many
 * samples there are.
 *
 * Points are scrambled Sobol points (points.h).
 */
#ifndef SC_DESIGN_H
#define SC_DESIGN_H

#include <stddef.h>
#include <stdint.h>

#include "points.h"
#include "status.h"
#include "system.h"

enum {
    SC_DESIGN_DIMENSIONS_MAX = SC_POINTS_DIMENSIONS_MAX,
    SC_DESIGN_SAMPLES_MAX = SC_POINTS_MAX
};

/* A choice or a preset to draw.  The index of a choice is set in the scenario;
 * what a row of a preset means is up to the caller, who asks sc_design_drawn. */
struct sc_design_choice {
    const char *key;
    const int *indices; /* to draw from, all equally often */
    size_t index_count; /* 1 or more */
};

struct sc_design_options {
    uint64_t seed;
    size_t samples; /* at least 1; samples i below this can be made */
    const struct sc_design_choice *choices;
    size_t choice_count;
    const char *const *kept; /* keys that stay as they are although the table samples them */
    size_t kept_count;
};

struct sc_design_dimension {
    const struct sc_field *field;
    const struct sc_design_choice *choice; /* NULL: a range */
};

/* Holds no memory of its own; points to the system and to the caller's choices. */
struct sc_design {
    const struct sc_system *system;
    size_t samples;
    size_t dimension_count; /* choices first, in the caller's order, then fields in table order */
    struct sc_design_dimension dimensions[SC_DESIGN_DIMENSIONS_MAX];
    struct sc_points points;
};

/*
 * Makes a design.  error names the key: SC_EMISSING: no such field; SC_EDOMAIN:
 * a choice that is none or has an index out of range, a key twice, a range that
 * cannot be sampled (logarithm of 0); SC_ERANGE: more than 40 dimensions or too
 * many samples; SC_ENOSPACE: no memory.
 */
enum sc_status sc_design_init(struct sc_design *design, const struct sc_system *system,
                              const struct sc_design_options *options,
                              struct sc_error *error) SC_MUST_CHECK;

/* Coordinate k of point i in [0, 1); i < samples, k < dimension_count. */
double sc_design_coordinate(const struct sc_design *design, uint64_t i, size_t k);

/* The index drawn for choice c of the options in sample i. */
int sc_design_drawn(const struct sc_design *design, uint64_t i, size_t c);

/* Sets the drawn fields of a scenario and touches no other. */
void sc_design_sample(const struct sc_design *design, uint64_t i, void *scenario);

/* Three disjoint sets: for the coefficients, for the interval, for the reported error. */
enum sc_set { SC_SET_FIT, SC_SET_CONFORMAL, SC_SET_HOLDOUT, SC_SETS };

/* Shares of the sets, each >= 0, normalised to sum 1; all 0 is an error. */
struct sc_shares {
    double share[SC_SETS];
};

/*
 * The set of each of n samples.  groups NULL: from hash(seed, i) alone, so that a
 * sample stays in its set when n grows; set sizes vary like coin tosses.  Else
 * samples with the same label are divided exactly (largest remainder), in the
 * order of their hash: every group is in every set as far as its size allows.
 * SC_EDOMAIN: shares without meaning; SC_ENOSPACE: no memory.
 */
enum sc_status sc_split(uint64_t seed, const struct sc_shares *shares, const size_t *groups,
                        size_t n, enum sc_set *sets, struct sc_error *error) SC_MUST_CHECK;

#endif
