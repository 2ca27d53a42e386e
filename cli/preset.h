/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of the tables in data/ as settings of a system; inside of a resolver. */
#ifndef SC_PRESET_H
#define SC_PRESET_H

#include <pthread.h>

#include "scenario.h"
#include "text.h"

struct preset {
    char *name;
    const char *tags; /* blank-separated, or "" */
    struct setting *settings;
    size_t setting_count;
    double *curve; /* NULL, or how many points, capacities, miss ratios: place->points each, and
                    * the bounds of its block */
};

/* A row of measured launches: where it holds and what it sets. */
struct launch_row {
    struct setting *conditions; /* equal to, or (limit) at most, these */
    bool *limits;
    size_t condition_count;
    struct {
        const struct sc_field *field;
        const char *words; /* names of presets that the row holds for */
    } named[4];
    size_t named_count;
    struct setting *settings;
    size_t setting_count;
};

enum { RESOLVER_PRESETS = 8, RESOLVER_FITTED = 64 };

/* Presets in the order they were added. */
struct presets {
    struct preset **items;
    size_t count, capacity;
};

/* What one preset key can be. */
struct preset_list {
    const struct sc_field *field;
    struct presets rows;   /* of its table; never changes once the resolver is made */
    struct presets by_path; /* FILE:ROW, config.json and curves, read when first named; under the lock */
};

struct resolver {
    const struct sc_system *system;
    struct catalog *catalog;
    unsigned char defaults[SC_SCENARIO_MAX];
    const struct sc_field *clock; /* or NULL */
    /* Keys of the machine at hand that were fitted: they count more than presets. */
    struct setting fitted[RESOLVER_FITTED];
    size_t fitted_count;
    struct preset_list lists[RESOLVER_PRESETS];
    const struct preset *fallback[RESOLVER_PRESETS]; /* default row of each key, or NULL */
    size_t slot_count;
    struct launch_row *launches;
    size_t launch_count;
    pthread_mutex_t lock; /* on by_path and the catalog */
};

size_t preset_slot(const struct resolver *resolver, const struct sc_field *field);
size_t preset_count(const struct resolver *resolver, const struct sc_field *field);
const struct preset *preset_at(const struct resolver *resolver, const struct sc_field *field,
                               size_t i);

/* The preset whose table the field takes its default from, or NULL. */
const struct sc_field *preset_that_sets(const struct sc_system *system,
                                        const struct sc_field *field);

/* The preset of that name, of a FILE:ROW, of a config.json or of a curve; or NULL with
 * the reason as "expected ..., got ...". */
const struct preset *preset_find(struct resolver *resolver, const struct sc_field *field,
                                 const char *text, size_t length, struct problem *problem);

/* Sets measured launches that hold for the scenario and were not given. */
void preset_apply_launches(const struct resolver *resolver, const struct preset *const *chosen,
                           const struct setting *settings, size_t count, void *scenario);

/* Whether measured launches hold at some values of the key only. */
bool preset_is_condition(const struct resolver *resolver, const struct sc_field *field);

/* "40MB", exactly, as it is written on the command line. */
void scenario_value(double value, enum sc_dimension dimension, struct text *out);

/* "40 MB" */
void scenario_quantity(double value, enum sc_dimension dimension, struct text *out);

#endif
