/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct sc_metric repeat_metrics[REPEAT_METRICS] = {
    { .column = "slowdown_mean_lo", .offset = offsetof(struct repeated_answer, slowdown_mean_lo),
      .brief = true, .help = "lower end of the 90 % interval of the mean over the runs of --repeat" },
    { .column = "slowdown_mean_hi", .offset = offsetof(struct repeated_answer, slowdown_mean_hi),
      .brief = true, .help = "upper end of it" },
};

/* Suffix of a header that says the SI unit, in the spelling that a header takes
 * on the way in. */
static const char *const suffixes[SC_DIMENSIONS] = {
    [SC_NUMBER] = "",
    [SC_SECONDS] = "_s",
    [SC_BYTES] = "_bytes",
    [SC_BYTES_PER_SECOND] = "_bytes_per_s",
    [SC_HERTZ] = "_Hz",
    [SC_SHARE] = "",
    [SC_BITS] = "",
    [SC_JOULES] = "_J",
    [SC_JOULES_PER_BIT] = "_J_per_bit",
    [SC_JOULE_SECONDS] = "_J.s",
    [SC_WATTS] = "_W",
    [SC_FLOPS] = "_FLOP_per_s",
    [SC_SQUARE_METRES] = "_m2",
    [SC_METRES] = "_m",
    [SC_PER_SECOND] = "_per_s",
    [SC_CYCLES] = "_cycles",
};

const char *field_column(const struct sc_field *field, char out[static FIELD_COLUMN_MAX])
{
    const bool number = field->kind == SC_REAL || field->kind == SC_INTEGER;
    (void)snprintf(out, FIELD_COLUMN_MAX, "%s%s", field->key,
                   number ? suffixes[field->dimension] : "");
    return out;
}

struct extra_metrics extra_of_calibration(const struct calibration *calibration)
{
    return (struct extra_metrics){ calibration_metrics,
                                   calibration != NULL ? CALIBRATION_METRICS : 0 };
}

/* A metric of the system, or an extra one. */
static const struct sc_metric *find_metric(const struct sc_system *system, const char *name,
                                           struct extra_metrics extra)
{
    for (size_t i = 0; i < extra.count; i++)
        if (strcmp(extra.metrics[i].column, name) == 0)
            return extra.metrics + i;
    return sc_system_metric(system, name);
}

/* Whatever can be a column: metrics, extra metrics, keys. */
struct column_names {
    const struct sc_system *system;
    struct extra_metrics extra;
};

static const char *column_at(unsigned long i, const void *context)
{
    const struct column_names *names = context;
    if (i < names->system->metric_count)
        return names->system->metrics[i].column;
    i -= names->system->metric_count;
    return i < names->extra.count ? names->extra.metrics[i].column
                                  : names->system->fields[i - names->extra.count].key;
}

static bool select_name(const struct sc_system *system, const char *name,
                        struct extra_metrics extra, struct selection *selection,
                        struct problem *problem)
{
    const struct sc_metric *metric = find_metric(system, name, extra);
    const struct sc_field *field = metric == NULL ? sc_system_field(system, name) : NULL;
    if (field != NULL && field->kind == SC_PRESET)
        return problem_set(problem, "--columns: %s names a preset, not a value", name);
    if (metric == NULL && field == NULL) {
        const struct column_names names = { system, extra };
        const char *nearest =
            problem_nearest(name, column_at,
                            system->metric_count + extra.count + system->field_count, &names);
        return problem_set(problem, "--columns: %s has no column '%.60s'%s%s%s", system->name, name,
                           nearest != NULL ? ": did you mean " : "",
                           nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
    }
    for (size_t i = 0; i < selection->count; i++)
        if (selection->items[i].metric == metric && selection->items[i].field == field)
            return problem_set(problem, "--columns: %s is given twice", name);
    selection->items[selection->count].metric = metric;
    selection->items[selection->count++].field = field;
    return true;
}

static void select_metric(const struct sc_metric *metric, bool table, struct selection *selection)
{
    if (table && !metric->brief && metric->stall == NULL)
        return;
    selection->items[selection->count].hidden = table && !metric->brief;
    selection->items[selection->count++].metric = metric;
}

/* What is added stands right behind the slowdown that it speaks of. */
static void select_metrics(const struct sc_system *system, bool table, struct extra_metrics extra,
                           struct selection *selection)
{
    for (size_t i = 0; i < system->metric_count; i++) {
        select_metric(&system->metrics[i], table, selection);
        for (size_t j = 0; i == 0 && j < extra.count; j++)
            select_metric(&extra.metrics[j], table, selection);
    }
}

bool selection_make(const struct sc_system *system, const char *columns, bool table,
                    struct extra_metrics extra, struct selection *selection,
                    struct problem *problem)
{
    *selection = (struct selection){ 0 };
    size_t capacity = system->metric_count + extra.count + 1;
    for (const char *c = columns; c != NULL && *c != '\0'; c++)
        capacity += *c == ',';
    selection->items = calloc(capacity, sizeof *selection->items);
    char *copy = columns != NULL ? strdup(columns) : NULL;
    bool fine = true;
    if (selection->items == NULL || (columns != NULL && copy == NULL)) {
        fine = problem_set(problem, "out of memory");
    } else if (columns == NULL || strcmp(columns, "all") == 0) {
        select_metrics(system, table && columns == NULL, extra, selection);
    } else {
        for (char *name = copy; fine && name != NULL;) {
            char *comma = strchr(name, ',');
            if (comma != NULL)
                *comma = '\0';
            fine = select_name(system, name, extra, selection, problem);
            name = comma != NULL ? comma + 1 : NULL;
        }
    }
    free(copy);
    if (fine && (selection->names = calloc(selection->count + 1, FIELD_COLUMN_MAX)) == NULL)
        fine = problem_set(problem, "out of memory");
    if (!fine)
        selection_fini(selection);
    return fine;
}

void selection_fini(struct selection *selection)
{
    free(selection->items);
    free(selection->names);
    *selection = (struct selection){ 0 };
}

void selection_columns(const struct selection *selection, struct emit_column *columns)
{
    for (size_t i = 0; i < selection->count; i++) {
        const struct sc_metric *metric = selection->items[i].metric;
        const struct sc_field *field = selection->items[i].field;
        if (metric != NULL)
            columns[i] = (struct emit_column){ .name = metric->column,
                                               .dimension = metric->dimension,
                                               .stall = metric->stall,
                                               .hidden = selection->items[i].hidden };
        else
            columns[i] = (struct emit_column){
                .name = field_column(field, selection->names + i * FIELD_COLUMN_MAX),
                .dimension = field->dimension,
            };
    }
}

bool selection_has(const struct selection *selection, const struct sc_field *field)
{
    for (size_t i = 0; i < selection->count; i++)
        if (selection->items[i].field == field)
            return true;
    return false;
}

bool selection_has_metric(const struct selection *selection, const struct sc_metric *metric)
{
    for (size_t i = 0; i < selection->count; i++)
        if (selection->items[i].metric == metric)
            return true;
    return false;
}

bool selection_wants_note(const struct selection *selection, const char *columns)
{
    bool answers = false;
    for (size_t i = 0; i < selection->count; i++) {
        const struct sc_metric *metric = selection->items[i].metric;
        answers = answers || metric != NULL;
        if (columns != NULL && metric != NULL && strcmp(metric->column, "extrapolated") == 0)
            return false;
    }
    return answers;
}

const char *answer_name(const char *name, bool (*taken)(const char *name, const void *context),
                        const void *context, char out[static ANSWER_NAME_MAX])
{
    if (!taken(name, context))
        return name;
    (void)snprintf(out, ANSWER_NAME_MAX, "stallcast_%s", name);
    for (unsigned n = 2; taken(out, context); n++)
        (void)snprintf(out, ANSWER_NAME_MAX, "stallcast%u_%s", n, name);
    return out;
}

void selection_cells(const struct selection *selection, const void *scenario, const void *answer,
                     struct emit_cell *cells)
{
    for (size_t i = 0; i < selection->count; i++) {
        const struct sc_metric *metric = selection->items[i].metric;
        const struct sc_field *field = selection->items[i].field;
        if (metric != NULL && metric->text) {
            const char *text;
            memcpy(&text, (const char *)answer + metric->offset, sizeof text);
            cells[i] = emit_string(text);
        } else if (metric != NULL) {
            double value;
            memcpy(&value, (const char *)answer + metric->offset, sizeof value);
            cells[i] = emit_number(value);
        } else if (field->kind == SC_CHOICE) {
            cells[i] = emit_string(
                sc_field_choice(field, (size_t)sc_field_get(field, scenario))->name);
        } else {
            cells[i] = emit_number(sc_field_get(field, scenario));
        }
    }
}
