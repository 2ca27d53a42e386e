/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The calibration file: what was fitted, how surely, from what, and how good it is.
 *
 * A CSV with the header
 *
 *	record,name,key,value,se,low,high,kind,note
 *
 * and one fact a row; cells that a record does not use are empty:
 *
 *	record      name       key            value      the rest
 *	meta        format                    1          first row; version of this layout
 *	meta        system                    a name
 *	meta        seed                      integer
 *	meta        samples    fit            integer    likewise conformal, holdout
 *	meta        simulator                 text       version or hash of what was simulated with
 *	meta        tool                      text       version of what wrote the file
 *	parameter   name                      estimate   se; low, high: 95 % interval; kind: fitted,
 *	                                                 prior, unidentified, fixed; note
 *	covariance  parameter  parameter      number     each pair once, both in file order; own units
 *	conformal   group      points         integer    group * is all together, and comes first
 *	conformal   group      level          quantile   ascending levels, quantiles >= 0; kind: empty, or
 *	                                                 student: of Student's t, points being too few
 *	region      field                                low, high: range that was sampled
 *	region      field      choice                    a choice that was sampled
 *	score       name       what of        number     as mape of a group, or the error of what was
	                                                 held out whole; * is all together; note
 *	meta        hash                      16 digits  last row: FNV-1a of the rows before, as written
 *
 * Fitted and prior parameters have se, interval and covariances; the other two
 * have none: they count as known.  Numbers are the shortest of 15 to 17 digits
 * that read back the same, with a point whatever the locale.  What was read is
 * written back byte for byte; there is no time and no place in it.
 *
 * Whatever does not fit this description is refused with its line.
 */
#ifndef SC_PARAMS_H
#define SC_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "design.h"
#include "read/csv.h"
#include "status.h"
#include "system.h"

enum { SC_PARAMS_FORMAT = 1, SC_PARAMS_ROWS_MAX = 65536, SC_PARAMS_PARAMETERS_MAX = 200 };

/* What stands for the simulator in a calibration that was fitted to measurements. */
#define SC_PARAMS_MEASURED "measured"

/* Name of the group that holds all points. */
#define SC_PARAMS_POOLED "*"

enum sc_params_kind {
    SC_PARAMS_FITTED,       /* by the data */
    SC_PARAMS_PRIOR,        /* the data added little to what was assumed */
    SC_PARAMS_UNIDENTIFIED, /* the data cannot tell it: not a finding */
    SC_PARAMS_FIXED,        /* given */
    SC_PARAMS_KINDS
};

struct sc_params_parameter {
    const char *name;
    double value;
    double std_error, low, high; /* NaN for unidentified and fixed ones */
    enum sc_params_kind kind;
    const char *note; /* "" when there is none */
};

struct sc_params_group {
    const char *name;
    size_t points;
    size_t first, count; /* its rows in `quantiles` */
};

struct sc_params_quantile {
    double level, quantile;
    bool student; /* not of the points */
};

struct sc_params_region {
    const char *field;  /* key */
    const char *choice; /* NULL: a range */
    double low, high;   /* NaN for a choice */
    const struct sc_field *of; /* set by sc_params_read, of the wanted system; else NULL */
};

struct sc_params_score {
    const char *name, *key;
    double value;
    const char *note;
};

/* Strings and arrays belong to the caller who filled it, or, after
 * sc_params_read, to the struct. */
struct sc_params {
    const char *system, *simulator, *tool;
    uint64_t seed;
    uint64_t samples[SC_SETS];
    struct sc_params_parameter *parameters;
    size_t parameter_count;
    double *covariance; /* parameter_count squared, row by row; 0 where one counts as known */
    struct sc_params_group *groups; /* the pooled one first */
    size_t group_count;
    struct sc_params_quantile *quantiles;
    size_t quantile_count;
    struct sc_params_region *regions;
    size_t region_count;
    struct sc_params_score *scores;
    size_t score_count;
    struct sc_csv_batch text; /* sc_params_read's */
};

/* What the reader of a file counts on.  NULL: whatever the file says. */
struct sc_params_wanted {
    const struct sc_system *system; /* also: regions name its fields and choices */
    const char *simulator;
    const char *const *parameters; /* exactly these, in any order */
    size_t parameter_count;
};

struct sc_params_error {
    size_t line;        /* 1-based; 0: the file as a whole, or it was being written */
    const char *column; /* at fault, or NULL */
    char found[64];     /* what was there, cut at the end; "" when nothing was */
    const char *reason; /* a constant: what is wrong, or what was expected */
    int system_errno;   /* of a read or write that failed, else 0 */
};

/*
 * Reads `file` to its end.  SC_OK: release by sc_params_fini, else all zero and
 * error filled: SC_EDOMAIN: not such a file, or one that contradicts itself or what
 * is wanted; SC_ERANGE: another format version; SC_EMISSING: a record is not
 * there; SC_ENOSPACE: no memory, or too long.  wanted may be NULL.
 */
enum sc_status sc_params_read(struct sc_params *params, FILE *file, const char *name,
                              const struct sc_params_wanted *wanted,
                              struct sc_params_error *error) SC_MUST_CHECK;

/* Writes what sc_params_read would accept, or nothing: SC_EDOMAIN, SC_EMISSING as
 * there, SC_ENOSPACE: no memory or the write failed (system_errno).  Flushes. */
enum sc_status sc_params_write(const struct sc_params *params, FILE *file,
                               struct sc_params_error *error) SC_MUST_CHECK;

/* Frees what sc_params_read allocated and leaves it all zero. */
void sc_params_fini(struct sc_params *params);

/* By name, or NULL. */
const struct sc_params_parameter *sc_params_find(const struct sc_params *params, const char *name);

/* 64-bit FNV-1a (Fowler, Noll, Vo) of the rows as they would be written, without
 * the last.  Tells two calibrations apart; no protection against intent. */
uint64_t sc_params_hash(const struct sc_params *params);

/*
 * The conformal quantile of a group (NULL or unknown: pooled) at any level that its
 * table spans, linear between two levels; in the tails, where quantiles bend
 * upwards, that errs on the wide side.  A group whose table ends below the level
 * takes the pooled one.  SC_ERANGE: too few points were set aside for this level, or
 * it is below the table.
 */
enum sc_status sc_params_quantile(const struct sc_params *params, const char *group, double level,
                                  double *quantile, struct sc_error *error) SC_MUST_CHECK;

/*
 * A field of a scenario of params' system that lies outside the region, the first
 * by the order of the rows, or NULL: then the calibration speaks for it.  Not judged are a
 * field that the scenario leaves to be derived (NaN), and one that adds alike (field.h).
 */
const struct sc_field *sc_params_outside(const struct sc_params *params,
                                         const struct sc_system *system, const void *scenario);

/* The same from *row on, which is 0 at first and then where to go on: each such
 * field once, then NULL. */
const struct sc_field *sc_params_outside_next(const struct sc_params *params,
                                              const struct sc_system *system,
                                              const void *scenario, size_t *row);

#endif
