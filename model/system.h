/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Systems: everything the tool can answer about, one row each. */
#ifndef SC_SYSTEM_H
#define SC_SYSTEM_H

#include <stddef.h>

#include "field.h"
#include "status.h"
#include "trace.h"

/* One column of an answer. */
struct sc_metric {
    const char *column; /* header, ends in its unit: time_s */
    enum sc_dimension dimension;
    size_t offset; /* of a double in the answer, or of a const char * when `text` */
    bool text;
    bool brief;        /* shown in a table when no columns are asked for */
    int slowdown_power; /* 1 or -1: slowdown or its reciprocal times what closed form and simulator
                         * share, so that its interval is that of slowdown; 0: neither */
    int better;        /* 1: smaller, -1: larger, whoever asks; 0: by its dimension, or it depends */
    const char *stall; /* share of the time, drawn in the bar under this name, or NULL */
    const char *help;
};

/* Upper bounds for callers that keep scenarios and answers of any system. */
enum { SC_SCENARIO_MAX = 2048, SC_ANSWER_MAX = 512 };

struct sc_system {
    const char *name;
    const char *title;    /* a few words */
    const char *question; /* what it answers */
    const char *source;   /* the paper or textbook behind it */
    const struct sc_field *fields;
    size_t field_count;
    const char *plan_keys; /* those that a plan starts with besides presets and the policy,
                            * blanks between; NULL: all settings */
    const struct sc_metric *metrics;
    size_t metric_count;
    size_t scenario_size, answer_size;
    const char *clock_key; /* key that turns cycles into seconds, or NULL */
    double precision;      /* relative, of an answer that is iterated to; 0: to rounding */

    /* Answers the scenario (scenario_size bytes) into answer (answer_size
     * bytes).  Pure; about a microsecond.  trace may be NULL.
     * SC_EMISSING: a required key has no value; SC_ERANGE: a value outside its
     * field's range; SC_EDOMAIN: values that contradict each other.  error then
     * names the field, its value and the reason; answer is left unspecified. */
    enum sc_status (*estimate)(const void *scenario, void *answer, struct sc_trace *trace,
                               struct sc_error *error) SC_MUST_CHECK;
};

/* The table of systems and its length. */
extern const struct sc_system *const sc_systems[];
extern const size_t sc_system_count;

/* By name, or NULL. */
const struct sc_system *sc_system_find(const char *name);
/* By key or alias, or NULL. */
const struct sc_field *sc_system_field(const struct sc_system *system, const char *key);
const struct sc_metric *sc_system_metric(const struct sc_system *system, const char *column);

/* Fills a scenario with the defaults of the field table. */
void sc_scenario_init(const struct sc_system *system, void *scenario);

/* Checks presence and range of every field; what estimate does first. */
enum sc_status sc_scenario_check(const struct sc_system *system, const void *scenario,
                                 struct sc_error *error) SC_MUST_CHECK;

#endif
