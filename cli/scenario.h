/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The grammar of scenarios: key=value pairs and CSV columns to scenario structs.
 *
 * A `resolver` knows one system and the tables in data/.  It binds names to
 * keys, reads values, expands lists and ranges, and builds scenarios: defaults,
 * then presets in the order of the field table, then what was fitted, then what was
 * given, then measured launches where the scenario matches them, then what is counted in
 * cycles.  Everything it knows of keys comes from the field table.
 *
 * After resolver_create, resolver_build and setting_parse may run in several
 * threads at once, each with its own `memory`.
 */
#ifndef SC_SCENARIO_H
#define SC_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>

#include "catalog.h"
#include "problem.h"
#include "system.h"
#include "units.h"

struct resolver;
struct preset; /* a row of a table, read as settings */

/* NULL with the reason when a table is unreadable.  catalog must outlive it. */
struct resolver *resolver_create(const struct sc_system *system, struct catalog *catalog,
                                 struct problem *problem);
void resolver_destroy(struct resolver *resolver);
const struct sc_system *resolver_system(const struct resolver *resolver);

/* A name that stands for a key, with the unit of bare numbers under it. */
struct binding {
    const struct sc_field *field;
    const struct sc_unit *unit; /* NULL: a bare number needs no unit or is an error */
};

/* Binds "buffer", "latency_us", "latency (us)" or "latency [us]", whatever blanks
 * are around it, and nothing but these spellings; false if the name is no key.
 * nearest, unless NULL, is then set to the key that it may be a slip of, or to
 * NULL; and binding->field is set if the name is a key with something in brackets
 * that is none of its units. */
bool resolver_bind(const struct resolver *resolver, const char *name, struct binding *binding,
                   const char **nearest);

/* One key given one value. */
struct setting {
    const struct sc_field *field;
    double value;                /* SI, or index of the choice */
    bool deferred;               /* counted in cycles, or per cycle */
    const struct preset *preset; /* SC_PRESET: the row */
};

/* Reads a number in a unit of the dimension, not in cycles, into SI.  On failure
 * problem says "expected ..., got ...". */
bool quantity_parse(enum sc_dimension dimension, const char *text, size_t length, double *value,
                    struct problem *problem);

/* Reads one value.  On failure problem says "expected ..., got ...", without
 * file or key. */
bool setting_parse(struct resolver *resolver, const struct binding *binding, const char *text,
                   size_t length, char decimal, struct setting *setting, struct problem *problem);

/* Values of one key on the command line, in order. */
struct sweep {
    const struct sc_field *field;
    struct setting *values;
    size_t count, capacity;
};

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { SWEEP_VALUES_MAX = 10000 }; /* a fuzzer would spend its time on long ranges */
#else
enum { SWEEP_VALUES_MAX = 10000000 };
#endif

/* Reads key=VALUES: a list a,b, a range lo:hi:step or lo:hi:*factor, `all`, or
 * @TAG for the rows of a table that carry the tag.  Problems name the key. */
bool sweep_parse(struct resolver *resolver, const char *argument, struct sweep *sweep,
                 struct problem *problem);
void sweep_fini(struct sweep *sweep);

/* Builds a scenario (resolver_system()->scenario_size bytes). */
bool resolver_build(const struct resolver *resolver, const struct setting *settings, size_t count,
                    void *scenario, struct problem *problem);

/* Takes a fitted value for a key, which then counts more than what presets say, and less than
 * what is given.  False: too many. */
bool resolver_add_fitted(struct resolver *resolver, const struct sc_field *field, double value);

/* A fitted key that counts more than what the preset of the setting says of it, or NULL. */
const struct sc_field *resolver_fitted_over(const struct resolver *resolver,
                                            const struct setting *setting);

/* What the value of a setting is called: the name of a preset or choice, or
 * NULL for a number. */
const char *setting_name(const struct setting *setting);

/* "key has no value: ..." and the like, from the model's error. */
void scenario_describe_error(const struct sc_system *system, enum sc_status status,
                             const struct sc_error *error, struct problem *problem);

#endif
