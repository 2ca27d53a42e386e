/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compare_table.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "sink.h"
#include "units.h"

/* ---- what stands beside the columns of the file ---- */

enum beside_kind {
    BESIDE_LINE,
    BESIDE_MEASURED,
    BESIDE_PREDICTED,
    BESIDE_LOW,
    BESIDE_HIGH,
    BESIDE_RATIO,
    BESIDE_ERROR,
    BESIDE_INSIDE,
    BESIDE_BOUND,
    BESIDE_COUNTED,
    BESIDE_CHECKS,
    BESIDE_REASON,
    BESIDES
};

/* Name: %s is the metric, or the end of its name that is the unit. */
static const struct {
    const char *name;
    enum { NAME_PLAIN, NAME_METRIC, NAME_UNIT } naming;
} besides[] = {
    [BESIDE_LINE] = { "line", NAME_PLAIN },
    [BESIDE_MEASURED] = { "measured_%s", NAME_METRIC },
    [BESIDE_PREDICTED] = { "predicted_%s", NAME_METRIC },
    [BESIDE_LOW] = { "predicted_lo%s", NAME_UNIT },
    [BESIDE_HIGH] = { "predicted_hi%s", NAME_UNIT },
    [BESIDE_RATIO] = { "ratio", NAME_PLAIN },
    [BESIDE_ERROR] = { "error_percent", NAME_PLAIN },
    [BESIDE_INSIDE] = { "inside", NAME_PLAIN },
    [BESIDE_BOUND] = { "bound", NAME_PLAIN },
    [BESIDE_COUNTED] = { "counted", NAME_PLAIN },
    [BESIDE_CHECKS] = { "checks", NAME_PLAIN },
    [BESIDE_REASON] = { "reason", NAME_PLAIN },
};
_Static_assert(sizeof besides / sizeof besides[0] == BESIDES, "a row for each");

struct beside_name {
    char text[ANSWER_NAME_MAX], own[ANSWER_NAME_MAX];
};

struct table {
    const struct comparison *c;
    const struct rows *rows;
    bool shown;    /* for people, not machines */
    size_t *input; /* columns of the file */
    size_t input_count;
    bool *numeric; /* of all columns of the file: shown as numbers */
    enum beside_kind beside[BESIDES];
    size_t beside_count;
    struct text input_names;
    struct beside_name names[BESIDES];
    struct emit_column *columns, *all_columns;
    struct emit_cell *cells, *all_cells;
    struct text reason;
};

static struct emit_cell flag(bool value)
{
    return emit_number(value ? 1.0 : 0.0);
}

/* Why a row is not counted, and what a bad row has beyond its columns. */
static struct emit_cell reason_cell(struct table *t, const struct compared_row *row)
{
    text_clear(&t->reason);
    if (row->reason == NULL)
        return emit_string(NULL);
    text_add_string(&t->reason, row->reason);
    rows_add_surplus(t->rows, row->row->cells, row->row->cell_count, &t->reason);
    return emit_string(t->reason.failed ? row->reason : t->reason.bytes);
}

static struct emit_cell beside_cell(struct table *t, enum beside_kind kind,
                                    const struct compared_row *row)
{
    switch (kind) {
    case BESIDE_LINE:
        return emit_number((double)row->row->line);
    case BESIDE_MEASURED:
        return emit_number(row->row->measured);
    case BESIDE_PREDICTED:
        return emit_number(row->predicted);
    case BESIDE_LOW:
        return emit_number(row->low);
    case BESIDE_HIGH:
        return emit_number(row->high);
    case BESIDE_RATIO:
        return emit_number(row->ratio);
    case BESIDE_ERROR:
        return emit_number(100.0 * row->error);
    case BESIDE_INSIDE:
        return comparison_has_inside(row) ? flag(comparison_inside(row)) : emit_string(NULL);
    case BESIDE_BOUND:
        return emit_string(row->bound);
    case BESIDE_COUNTED:
        return flag(row->standing == STANDING_COUNTED);
    case BESIDE_CHECKS:
        return emit_string(row->failed_checks);
    case BESIDE_REASON:
        return reason_cell(t, row);
    case BESIDES:
        break;
    }
    return emit_string(NULL);
}

static bool is_empty_beside(struct table *t, enum beside_kind kind)
{
    for (size_t i = 0; i < t->c->count; i++)
        if (beside_cell(t, kind, &t->c->rows[i]).kind != EMIT_EMPTY)
            return false;
    return true;
}

static void choose_besides(struct table *t)
{
    const bool all_counted = t->c->standings[STANDING_COUNTED] == t->c->count;
    for (size_t i = 0; i < BESIDES; i++) {
        const enum beside_kind kind = (enum beside_kind)i;
        if (kind == BESIDE_RATIO && t->c->in_points)
            continue;
        if (t->shown && ((kind == BESIDE_COUNTED && all_counted) ||
                         (t->c->count > 0 && is_empty_beside(t, kind))))
            continue;
        t->beside[t->beside_count++] = kind;
    }
}

/* In the file, or to be taken for a key when the answer is read again. */
static bool is_taken(const char *name, const void *context)
{
    const struct table *const t = context;
    struct binding binding;
    return rows_column(t->rows, name) != SIZE_MAX ||
           resolver_bind(t->rows->resolver, name, &binding, NULL);
}

static bool is_shown(const char *name, const void *context)
{
    const struct table *const t = context;
    for (size_t i = 0; i < t->input_count; i++)
        if (strcmp(t->columns[i].name, name) == 0)
            return true;
    return false;
}

/* Of what is measured and predicted, so that both stand in one unit. */
static double largest_value(const struct table *t)
{
    double largest = 0.0;
    for (size_t i = 0; i < t->c->count; i++)
        largest = fmax(largest, fmax(t->c->rows[i].row->measured, t->c->rows[i].predicted));
    return largest;
}

static void name_beside(struct table *t, size_t which, double largest)
{
    const enum beside_kind kind = t->beside[which];
    const struct sc_metric *const metric = t->c->observed->metric;
    const char *const unit = metric->column + emit_stem(metric->column, metric->dimension);
    struct beside_name *const name = &t->names[which];
    struct emit_column *const column = &t->columns[t->input_count + which];
    const char *const plain = kind == BESIDE_ERROR && t->c->in_points ? "error_points"
                                                                      : besides[kind].name;
    const int before = (int)strcspn(plain, "%");
    (void)snprintf(name->own, sizeof name->own, "%.*s%s", before, plain,
                   besides[kind].naming == NAME_PLAIN    ? ""
                   : besides[kind].naming == NAME_METRIC ? metric->column
                                                         : unit);
    column->name = answer_name(name->own, t->shown ? is_shown : is_taken, t, name->text);
    if (besides[kind].naming == NAME_PLAIN)
        return;
    column->dimension = metric->dimension;
    column->largest = largest;
}

/* ---- which columns of the file ---- */

enum { KEYS_SHOWN = 4, TEXTS_SHOWN = 2 };

static bool is_number(const struct table *t, size_t column)
{
    struct sc_quantity quantity;
    for (size_t i = 0; i < t->c->count; i++) {
        const struct observed_row *const row = t->c->rows[i].row;
        if (column < row->cell_count && !row_is_blank(&row->cells[column]) &&
            sc_units_parse(row->cells[column].text, row->cells[column].length, SC_NUMBER, NULL,
                           t->rows->decimal, &quantity) != SC_UNITS_OK)
            return false;
    }
    return true;
}

static const struct sc_field *key_of(const struct table *t, size_t column)
{
    for (size_t i = 0; i < t->rows->source_count; i++)
        if (t->rows->sources[i].column == column)
            return t->rows->sources[i].binding.field;
    return NULL;
}

/* Takes columns that tell rows apart which those taken before do not, at most so many: text, or
 * keys that are numbers. */
static bool take_distinct(struct table *t, bool text, size_t most, bool *taken, size_t *count)
{
    size_t *const classes = calloc(t->c->count + 1, sizeof *classes);
    size_t *const finer = calloc(t->c->count + 1, sizeof *finer);
    size_t parts = 1;
    bool fine = classes != NULL && finer != NULL;
    for (size_t i = 0; fine && i < t->rows->column_count && *count < most; i++) {
        if (i == t->c->observed->column || i == t->c->observed->reason_column || taken[i] ||
            t->numeric[i] == text || (!text && key_of(t, i) == NULL))
            continue;
        memcpy(finer, classes, t->c->count * sizeof *finer);
        const size_t split = comparison_split(t->c, i, finer);
        fine = split > 0;
        if (split <= parts)
            continue;
        memcpy(classes, finer, t->c->count * sizeof *finer);
        parts = split;
        taken[i] = true;
        (*count)++;
    }
    free(classes);
    free(finer);
    return fine;
}

static bool choose_distinct(struct table *t, struct problem *problem)
{
    bool *const taken = calloc(t->rows->column_count + 1, sizeof *taken);
    size_t count = 0;
    bool fine = taken != NULL;
    if (fine && t->c->count > 1)
        fine = take_distinct(t, true, TEXTS_SHOWN, taken, &count) &&
               take_distinct(t, false, KEYS_SHOWN, taken, &count);
    for (size_t i = 0; fine && i < t->rows->column_count; i++)
        if (taken[i])
            t->input[t->input_count++] = i;
    free(taken);
    return fine || problem_set(problem, "out of memory");
}

static const char *column_at(unsigned long i, const void *context)
{
    const struct table *const t = context;
    return sc_csv_columns(t->rows->reader)[i].text;
}

static bool choose_named(struct table *t, const char *list, struct problem *problem)
{
    for (;; list++) {
        char name[256];
        const size_t length = strcspn(list, ",");
        (void)snprintf(name, sizeof name, "%.*s",
                       (int)(length < sizeof name ? length : sizeof name - 1), list);
        const size_t column = rows_column(t->rows, name);
        const char *const nearest =
            column == SIZE_MAX ? problem_nearest(name, column_at, t->rows->column_count, t) : NULL;
        if (column == SIZE_MAX)
            return problem_set(problem, "--columns: %s has no column '%.60s'%s%s%s", t->rows->name,
                               name, nearest != NULL ? ": did you mean " : "",
                               nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
        t->input[t->input_count++] = column;
        list += length;
        if (*list == '\0')
            return true;
    }
}

static bool choose_input(struct table *t, const char *columns, struct problem *problem)
{
    size_t most = t->rows->column_count + 1;
    for (const char *c = columns; c != NULL && *c != '\0'; c++)
        most += *c == ',';
    t->input = calloc(most, sizeof *t->input);
    t->numeric = calloc(t->rows->column_count + 1, sizeof *t->numeric);
    if (t->input == NULL || t->numeric == NULL)
        return problem_set(problem, "out of memory");
    for (size_t i = 0; t->shown && i < t->rows->column_count; i++)
        t->numeric[i] = is_number(t, i);
    if (columns != NULL && strcmp(columns, "all") != 0)
        return choose_named(t, columns, problem);
    if (columns == NULL && t->shown)
        return choose_distinct(t, problem);
    for (size_t i = 0; i < t->rows->column_count; i++)
        t->input[t->input_count++] = i;
    return true;
}

/* ---- writing ---- */

static bool plan(struct table *t, const struct options *options, enum emit_format format,
                 struct problem *problem)
{
    if (!choose_input(t, options->columns, problem))
        return false;
    const size_t most = t->input_count + BESIDES, all = t->rows->column_count + 1;
    t->columns = calloc(most, sizeof *t->columns);
    t->cells = calloc(most, sizeof *t->cells);
    t->all_columns = calloc(all, sizeof *t->all_columns);
    t->all_cells = calloc(all, sizeof *t->all_cells);
    if (t->columns == NULL || t->cells == NULL || t->all_columns == NULL || t->all_cells == NULL)
        return problem_set(problem, "out of memory");
    if (!rows_name_columns(t->rows, format, &t->input_names, t->all_columns, problem))
        return false;
    for (size_t i = 0; i < t->input_count; i++)
        t->columns[i] = t->all_columns[t->input[i]];
    choose_besides(t);
    const double largest = largest_value(t);
    for (size_t i = 0; i < t->beside_count; i++)
        name_beside(t, i, largest);
    return true;
}

static void make_number(const struct table *t, struct emit_cell *cell)
{
    struct sc_quantity quantity;
    if (cell->kind == EMIT_TEXT && sc_units_parse(cell->text, cell->length, SC_NUMBER, NULL,
                                                  t->rows->decimal, &quantity) == SC_UNITS_OK)
        *cell = emit_number(quantity.value);
    else if (cell->kind == EMIT_TEXT && cell->length == 0)
        cell->kind = EMIT_EMPTY;
}

static void make_row(struct table *t, const struct compared_row *row)
{
    rows_cells(t->rows, row->row->cells, row->row->cell_count, t->all_cells);
    for (size_t i = 0; i < t->input_count; i++) {
        t->cells[i] = t->all_cells[t->input[i]];
        if (t->numeric[t->input[i]])
            make_number(t, &t->cells[i]);
    }
    for (size_t i = 0; i < t->beside_count; i++)
        t->cells[t->input_count + i] = beside_cell(t, t->beside[i], row);
}

static void table_fini(struct table *t)
{
    free(t->input);
    free(t->numeric);
    free(t->columns);
    free(t->all_columns);
    free(t->cells);
    free(t->all_cells);
    text_fini(&t->input_names);
    text_fini(&t->reason);
}

bool compare_table_write(const struct comparison *c, const struct options *options,
                         const struct emit_style *style, const size_t *order, size_t count,
                         struct problem *problem)
{
    struct table t = { .c = c, .rows = &c->observed->rows, .shown = !sink_streams(style) };
    struct sink sink;
    bool fine = plan(&t, options, style->format, problem) &&
                sink_open(&sink, style, t.columns, t.input_count + t.beside_count, options->output,
                          problem);
    if (fine) {
        for (size_t i = 0; fine && i < count; i++) {
            make_row(&t, &c->rows[order[i]]);
            fine = sink_row(&sink, t.cells, problem);
        }
        if (fine)
            fine = sink_close(&sink, problem);
        else
            sink_abandon(&sink);
    }
    table_fini(&t);
    return fine;
}
