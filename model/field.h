/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fields: what a scenario is made of.
 *
 * A scenario is a plain struct of doubles (real and integer keys) and ints
 * (choices).  One constant table of `struct sc_field` per system says, for each
 * member, the key that sets it, its dimension, range, default and meaning.  The
 * parser, the help, the CSV header, the sweep and the sampler read that table
 * and nothing else: adding a key is adding a row.
 */
#ifndef SC_FIELD_H
#define SC_FIELD_H

#include <stdbool.h>
#include <stddef.h>

#include "status.h"

/* What a number measures.  Text with units is read and written outside this
 * library; inside, every value is in the SI unit named here. */
enum sc_dimension {
    SC_NUMBER,           /* pure number */
    SC_SECONDS,          /* s */
    SC_BYTES,            /* byte */
    SC_BYTES_PER_SECOND, /* byte/s */
    SC_HERTZ,            /* 1/s */
    SC_SHARE,            /* ratio, also written in per cent */
    SC_BITS,             /* bit */
    SC_JOULES,           /* J */
    SC_JOULES_PER_BIT,   /* J/bit */
    SC_JOULE_SECONDS,    /* J s, energy-delay product */
    SC_WATTS,            /* W */
    SC_FLOPS,            /* floating-point operations/s */
    SC_SQUARE_METRES,    /* m^2, silicon area */
    SC_METRES,           /* m, process node */
    SC_PER_SECOND,       /* events/s */
    SC_CYCLES,           /* cycles of the scenario's clock */
    SC_DIMENSIONS
};

enum sc_field_kind {
    SC_REAL,    /* double */
    SC_INTEGER, /* double that holds a whole number */
    SC_CHOICE,  /* int, an index into `choices` */
    SC_PRESET   /* names a row of a table in data/, which sets other keys, or a file (`curve`) */
};

/* Where the value of a key comes from when the user leaves it out. */
enum sc_provenance {
    SC_SETTING,    /* a setting of the experiment, free to choose */
    SC_FACT,       /* datasheet or paper, see `source` */
    SC_ANCHOR,     /* structural constant fitted once to a published figure, see `source` */
    SC_CALIBRATED, /* least squares against the simulator */
    SC_DERIVED     /* follows from other keys, see `derived` */
};

/* One admissible value of a choice; larger rows (a policy) start with one. */
struct sc_choice {
    const char *name;
    const char *help;
};

/* Where a scenario keeps a miss-ratio curve that is read from a file. */
struct sc_curve_place {
    size_t capacities, ratios; /* offsets of arrays of `points` doubles */
    size_t count;              /* offset of a double: how many of them are used */
    size_t points;
    size_t block_above, block_most; /* offsets of doubles: bounds of the curve's block, or 0 */
};

struct sc_field {
    const char *key;
    const char *aliases; /* other spellings, separated by blanks, or NULL */
    enum sc_field_kind kind;
    enum sc_dimension dimension;
    size_t offset;   /* of the member in the scenario struct; unused for presets */
    double fallback; /* default value; NaN: see `derived`, or required if that is NULL too */
    const char *derived;        /* how the value follows from other keys when not given */
    double minimum, maximum;    /* admissible range, both ends included */
    double sample_low, sample_high; /* region that calibration samples; equal: not sampled */
    bool sample_log;            /* sample the logarithm evenly */
    bool adds_alike;            /* the same addend of the time in closed form and simulator: it
                                 * brings them nearer, and none is outside of what was sampled */
    const char *table;          /* SC_PRESET: name of the table in data/, or NULL and: */
    const struct sc_curve_place *curve; /* the value is a file with a curve, as mrc writes it */
    const char *preset;         /* row taken when the key is not given: of the table (NULL:
                                 * none), or of the choices (NULL: the first) */
    const void *choices;        /* SC_CHOICE: array of rows that start with struct sc_choice */
    size_t choice_count, choice_size;
    enum sc_provenance provenance;
    const char *source;         /* of the default value, for facts and anchors */
    const char *help;
};

/* Row i of a choice; i must be below field->choice_count. */
const struct sc_choice *sc_field_choice(const struct sc_field *field, size_t i);

/* The value of a numeric field in a scenario. */
double sc_field_get(const struct sc_field *field, const void *scenario);
void sc_field_set(const struct sc_field *field, void *scenario, double value);

/* True if `word` is one of the blank-separated words of `list`, which may be NULL. */
bool sc_is_word_of(const char *list, const char *word);

/* True if the key must be given, directly or by a preset. */
bool sc_field_required(const struct sc_field *field);

#endif
