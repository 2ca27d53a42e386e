/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "observed.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sink.h"
#include "text.h"

enum { READ_ROWS = 1024 };

static const char measured_prefix[] = "measured_";
const char observed_zero[] = "ratios need a measurement above 0";

/* ---- which column ---- */

/* "_ms", " (ms)" or "[ms]" behind the stem of a metric. */
static bool read_unit(const char *text, enum sc_dimension dimension, const struct sc_unit **unit)
{
    const size_t blanks = strspn(text, " \t");
    const char *const open = text + blanks;
    const size_t length = strlen(open);
    if (blanks == 0 && *text == '_')
        *unit = sc_unit_find(dimension, text + 1, length - 1);
    else if (length > 2 && ((*open == '(' && open[length - 1] == ')') ||
                            (*open == '[' && open[length - 1] == ']')))
        *unit = sc_unit_find(dimension, open + 1, length - 2);
    else
        return false;
    return *unit != NULL;
}

/* The SI unit that ends the name of a metric, in whatever case; NULL: bare numbers need none. */
static const struct sc_unit *si_unit(enum sc_dimension dimension)
{
    const struct sc_unit *const unit = sc_unit_for_display(dimension, 0.0);
    return unit != NULL && !unit->deferred && sc_unit_factor(unit) == 1.0 ? unit : NULL;
}

const struct sc_metric *observed_metric(const struct sc_system *system, const char *column,
                                        const struct sc_unit **unit)
{
    const size_t prefix = sizeof measured_prefix - 1;
    const char *const name =
        strncmp(column, measured_prefix, prefix) == 0 ? column + prefix : column;
    const struct sc_metric *const exact = sc_system_metric(system, name);
    *unit = NULL;
    for (size_t i = 0; i < system->metric_count; i++) {
        const struct sc_metric *const metric = &system->metrics[i];
        const size_t stem = emit_stem(metric->column, metric->dimension);
        if (metric->text || (exact != NULL && metric != exact) ||
            strncmp(metric->column, name, stem) != 0)
            continue;
        if (read_unit(name + stem, metric->dimension, unit))
            return metric;
        if (metric == exact) {
            *unit = si_unit(metric->dimension);
            return metric;
        }
    }
    if (strcmp(name, "cycles") != 0 || system->clock_key == NULL)
        return NULL;
    *unit = sc_unit_find(SC_SECONDS, name, strlen(name));
    return sc_system_metric(system, "time_s");
}

struct names {
    const struct sc_csv_field *columns;
    const struct sc_system *system;
};

static const char *column_at(unsigned long i, const void *context)
{
    const struct names *const names = context;
    return names->columns[i].text;
}

static const char *metric_at(unsigned long i, const void *context)
{
    const struct names *const names = context;
    return names->system->metrics[i].column;
}

/* One without its unit, or a slip. */
static const char *nearest_metric(const struct names *names, const char *name)
{
    for (size_t i = 0; i < names->system->metric_count; i++) {
        const struct sc_metric *const metric = &names->system->metrics[i];
        const size_t stem = emit_stem(metric->column, metric->dimension);
        if (strlen(name) == stem && strncmp(metric->column, name, stem) == 0)
            return metric->column;
    }
    return problem_nearest(name, metric_at, names->system->metric_count, names);
}

static bool refuse_name(const char *what, const char *name, const char *nearest,
                        struct problem *problem)
{
    return problem_set(problem, "--measured: no %s '%.60s'%s%s%s", what, name,
                       nearest != NULL ? ": did you mean " : "", nearest != NULL ? nearest : "",
                       nearest != NULL ? "?" : "");
}

/* The unit that a column names in brackets or behind a _, whatever it is called otherwise. */
static const struct sc_unit *unit_of_header(const char *column, enum sc_dimension dimension)
{
    const struct sc_unit *unit = NULL;
    for (const char *end = column; *end != '\0'; end++)
        if (strchr(" \t([_", *end) != NULL && read_unit(end, dimension, &unit))
            return unit;
    return NULL;
}

/* METRIC for a column that has another name, whose unit it may tell all the same. */
static bool take_metric(struct observed *observed, const char *column, const char *metric,
                        struct problem *problem)
{
    const struct sc_system *const system = resolver_system(observed->rows.resolver);
    const struct names names = { sc_csv_columns(observed->rows.reader), system };
    observed->metric = observed_metric(system, metric, &observed->unit);
    if (observed->metric == NULL)
        return refuse_name("metric", metric, nearest_metric(&names, metric), problem);
    const struct sc_unit *const own = unit_of_header(column, observed->metric->dimension);
    if (own != NULL)
        observed->unit = own;
    return true;
}

/* COLUMN[=METRIC]: a column may have a = in its own name. */
static bool take_told(struct observed *observed, const char *told, struct problem *problem)
{
    const struct sc_system *const system = resolver_system(observed->rows.resolver);
    const struct names names = { sc_csv_columns(observed->rows.reader), system };
    const char *const equals = strrchr(told, '=');
    char column[256];
    observed->column = rows_column(&observed->rows, told);
    if (observed->column != SIZE_MAX) {
        observed->metric = observed_metric(system, told, &observed->unit);
        return observed->metric != NULL ||
               problem_set(problem, "--measured: column '%.60s' is not called after a metric of %s: "
                                    "say which it is, --measured '%.60s=METRIC'",
                           told, system->name, told);
    }
    const size_t length = equals != NULL ? (size_t)(equals - told) : strlen(told);
    (void)snprintf(column, sizeof column, "%.*s",
                   (int)(length < sizeof column ? length : sizeof column - 1), told);
    observed->column = rows_column(&observed->rows, column);
    if (equals == NULL || observed->column == SIZE_MAX)
        return refuse_name("column", column,
                           problem_nearest(column, column_at, observed->rows.column_count, &names),
                           problem);
    return take_metric(observed, column, equals + 1, problem);
}

static const char *const usual[] = { "slowdown", "cycles", "time_s" };
enum { USUAL = sizeof usual / sizeof usual[0] };

/* How surely a column is the measurement, from its name alone; 0: it is not. */
static int rank_of(const struct sc_system *system, const char *column, const struct sc_unit **unit)
{
    const struct sc_metric *const metric = observed_metric(system, column, unit);
    if (metric == NULL)
        return 0;
    if (strncmp(column, measured_prefix, sizeof measured_prefix - 1) == 0)
        return USUAL + 1;
    for (int i = 0; i < USUAL; i++)
        if (strcmp(column, usual[i]) == 0 || strcmp(metric->column, usual[i]) == 0)
            return i + 1;
    return 0;
}

static bool find_column(struct observed *observed, struct problem *problem)
{
    const struct rows *const rows = &observed->rows;
    const struct sc_csv_field *const columns = sc_csv_columns(rows->reader);
    const struct sc_system *const system = resolver_system(rows->resolver);
    size_t found = SIZE_MAX, others = 0, rivals = 0;
    int best = 0;
    for (size_t i = 0; i < rows->column_count; i++) {
        const struct sc_unit *unit;
        const int rank = rank_of(system, columns[i].text, &unit);
        rivals = rank > best ? 0 : rivals + (rank == best);
        others += rank > 0;
        if (rank <= best)
            continue;
        best = rank;
        found = i;
    }
    if (found == SIZE_MAX)
        return problem_set(problem,
                           "%s:%zu: no column measured_METRIC, time_s, cycles or slowdown: say what "
                           "was measured, --measured COLUMN[=METRIC]",
                           rows->name, sc_csv_header_line(rows->reader));
    observed->column = found;
    observed->metric = observed_metric(system, columns[found].text, &observed->unit);
    /* A name that says it is measured leaves no doubt, unless there are two. */
    if (best > USUAL ? rivals > 0 : others > 1) {
        struct problem note;
        (void)problem_set(&note, "%s: column '%.60s' is taken for the measurement; --measured "
                                 "takes another",
                          rows->name, columns[found].text);
        problem_print(&note);
    }
    return true;
}

/* ---- rows ---- */

static bool keep_reason(struct observed *observed, struct observed_row *row,
                        const struct problem *problem)
{
    row->bad = malloc(strlen(problem->text) + 1);
    if (row->bad == NULL)
        return false;
    memcpy(row->bad, problem->text, strlen(problem->text) + 1);
    observed->bad_count++;
    return true;
}

/* What cannot be a measurement: nothing in SI is that large or that small, and with more the
 * squares of the scores are no numbers. */
static bool check_size(double measured, enum sc_dimension dimension, const char *text,
                       struct problem *problem)
{
    const double largest = 1e30, largest_share = 1.5;
    const bool may_be_zero = dimension == SC_NUMBER || dimension == SC_SHARE;
    if (dimension == SC_SHARE && measured > largest_share)
        return problem_set(problem, "expected a share of 1, or one in per cent with a %% sign, "
                                    "got '%.60s'", text);
    if (measured > largest || (measured > 0.0 && measured < 1.0 / largest))
        return problem_set(problem, "expected %s, got '%.60s': too large or too small to be measured",
                           sc_dimension_word(dimension), text);
    if (measured > 0.0 || (may_be_zero && !(measured < 0.0)))
        return true;
    return problem_set(problem, "expected %s %s 0, got '%.60s'", sc_dimension_word(dimension),
                       may_be_zero ? "not below" : "above", text);
}

/* The cell of the measurement, whose place the problem then names. */
static bool read_measurement(const struct observed *observed, struct observed_row *row,
                             struct problem *problem)
{
    const struct rows *const rows = &observed->rows;
    const enum sc_dimension dimension = observed->metric->dimension;
    const struct sc_csv_field *const cell = &row->cells[observed->column];
    const char *text = cell->text + strspn(cell->text, " \t");
    struct sc_quantity quantity;
    char explanation[SC_UNITS_EXPLAIN_MAX];
    if (*text == '>' || *text == '<') {
        row->kind = *text == '>' ? OBSERVED_AT_LEAST : OBSERVED_AT_MOST;
        text += text[1] == '=' ? 2 : 1;
    }
    const enum sc_units_status status =
        sc_units_parse(text, strlen(text), dimension, observed->unit, rows->decimal, &quantity);
    if (status != SC_UNITS_OK)
        return problem_set(problem, "expected %s, got '%.60s': %s",
                           sc_dimension_word(dimension), cell->text,
                           sc_units_explain(status, dimension, &quantity, rows->decimal,
                                            explanation));
    row->measured = quantity.value;
    if (quantity.per_cycle_deferred && observed->clock == NULL)
        return problem_set(problem, "expected %s, got '%.60s': there is no clock to count cycles of",
                           sc_dimension_word(dimension), cell->text);
    if (quantity.per_cycle_deferred) {
        const double clock_hz = sc_field_get(observed->clock, row->scenario);
        row->measured = dimension == SC_SECONDS ? row->measured / clock_hz
                                                : row->measured * clock_hz;
    }
    return check_size(row->measured, dimension, cell->text, problem);
}

static const char *why_not_counted(const struct observed *observed, const struct observed_row *row)
{
    const size_t reason = observed->reason_column, whole = observed->whole_column;
    if (row_is_blank(&row->cells[observed->column]))
        return "nothing was measured";
    if (reason != SIZE_MAX && !row_is_blank(&row->cells[reason]))
        return row->cells[reason].text;
    if (whole != SIZE_MAX && strcmp(row->cells[whole].text, "0") == 0)
        return "the run was stopped within the kernel";
    return NULL;
}

/* From one scenario to the next, aligned for any type. */
static size_t scenario_stride(const struct observed *observed)
{
    const size_t size = resolver_system(observed->rows.resolver)->scenario_size;
    const size_t alignment = _Alignof(max_align_t);
    return (size + alignment - 1) / alignment * alignment;
}

/* False: no memory. */
static bool read_row(struct observed *observed, struct row_reader *reader,
                     const struct sc_csv_row *from, const struct sc_csv_field *cells,
                     struct observed_row *row)
{
    struct problem problem;
    void *const scenario = observed->scenarios +
                           (size_t)(row - observed->items) * scenario_stride(observed);
    *row = (struct observed_row){ .line = from->line, .cells = cells,
                                  .cell_count = from->field_count, .measured = (double)NAN };
    if (!row_scenario(reader, from, cells, scenario, &problem))
        return keep_reason(observed, row, &problem);
    row->scenario = scenario;
    row->not_counted = why_not_counted(observed, row);
    if (row_is_blank(&cells[observed->column]))
        return true;
    if (read_measurement(observed, row, &problem)) {
        if (row->not_counted == NULL && !(row->measured > 0.0))
            row->not_counted = observed_zero;
        return true;
    }
    row->measured = (double)NAN;
    (void)rows_place(&observed->rows, row->line,
                     sc_csv_columns(observed->rows.reader)[observed->column].text, &problem);
    return keep_reason(observed, row, &problem);
}

static bool add_batch(struct observed *observed)
{
    if (observed->batch_count == observed->batch_capacity) {
        const size_t capacity = 2 * observed->batch_capacity + 4;
        void *const larger = realloc(observed->batches, capacity * sizeof *observed->batches);
        if (larger == NULL)
            return false;
        observed->batches = larger;
        observed->batch_capacity = capacity;
    }
    observed->batches[observed->batch_count++] = (struct sc_csv_batch){ 0 };
    return true;
}

/* All batches of the file; *total is how many rows they have. */
static bool read_batches(struct observed *observed, size_t *total, struct problem *problem)
{
    struct sc_csv_error error = { 0 };
    for (;;) {
        if (!add_batch(observed))
            return problem_set(problem, "out of memory");
        struct sc_csv_batch *const batch = &observed->batches[observed->batch_count - 1];
        const enum sc_csv_status status =
            sc_csv_read(observed->rows.reader, batch, READ_ROWS, &error);
        if (status == SC_CSV_END)
            return true;
        if (status != SC_CSV_OK)
            return rows_describe_fault(&observed->rows, &error, problem);
        *total += batch->row_count;
    }
}

static bool read_rows(struct observed *observed, size_t total, struct problem *problem)
{
    struct row_reader reader;
    struct text line = { 0 };
    observed->items = calloc(total + 1, sizeof *observed->items);
    observed->scenarios = calloc(total + 1, scenario_stride(observed));
    bool fine = row_reader_init(&reader, &observed->rows) && observed->items != NULL &&
                observed->scenarios != NULL;
    for (size_t b = 0; fine && b < observed->batch_count; b++) {
        const struct sc_csv_batch *const batch = &observed->batches[b];
        for (size_t i = 0; fine && i < batch->row_count; i++) {
            const struct sc_csv_row *const row = &batch->rows[i];
            const struct sc_csv_field *const cells = batch->fields + row->first_field;
            if (rows_keep(observed->filter, cells, row->field_count, &line))
                fine = read_row(observed, &reader, row, cells, &observed->items[observed->count++]);
        }
    }
    text_fini(&line);
    row_reader_fini(&reader);
    return fine || problem_set(problem, "out of memory");
}

bool observed_read(struct observed *observed, struct resolver *resolver, const char *path,
                   const struct options *options, struct emit_style *style,
                   const struct setting *given, size_t given_count, struct problem *problem)
{
    const struct sc_system *const system = resolver_system(resolver);
    size_t total = 0;
    *observed = (struct observed){ 0 };
    if (!rows_open(&observed->rows, resolver, path, options, style, problem))
        return false;
    observed->filter = filter_create(options->only, problem);
    if (observed->filter == NULL ||
        !(options->measured != NULL ? take_told(observed, options->measured, problem)
                                    : find_column(observed, problem)) ||
        !rows_bind(&observed->rows, observed->column, given, given_count, problem))
        return false;
    observed->reason_column = rows_column(&observed->rows, "not_counted");
    observed->whole_column = rows_column(&observed->rows, "kernel_whole");
    if (system->clock_key != NULL)
        observed->clock = sc_system_field(system, system->clock_key);
    return read_batches(observed, &total, problem) && read_rows(observed, total, problem);
}

void observed_fini(struct observed *observed)
{
    for (size_t i = 0; i < observed->count; i++)
        free(observed->items[i].bad);
    for (size_t i = 0; i < observed->batch_count; i++)
        sc_csv_batch_fini(&observed->batches[i]);
    free(observed->items);
    free(observed->batches);
    free(observed->scenarios);
    filter_destroy(observed->filter);
    rows_close(&observed->rows);
}

double observed_value(const struct observed *observed, const void *answer)
{
    double value;
    memcpy(&value, (const unsigned char *)answer + observed->metric->offset, sizeof value);
    return value;
}

/* ---- which file, and which system ---- */

bool observed_file(const struct command *command, const struct options *options,
                   const char **words, size_t *count, const char **path, struct problem *problem)
{
    size_t kept = 0;
    *path = options->from;
    for (size_t i = 0; i < *count; i++) {
        if (strchr(words[i], '=') != NULL)
            words[kept++] = words[i];
        else if (*path == NULL)
            *path = words[i];
        else
            return problem_set(problem, "%s: '%.60s' is one file too many", command->name,
                               words[i]);
    }
    *count = kept;
    return *path != NULL || problem_set(problem, "%s: expected a file: %s %s", command->name,
                                        command->name, command->usage);
}

/* How many columns of the file name a key; false: the file cannot be read. */
static bool count_keys(const struct sc_system *system, const char *path, struct catalog *catalog,
                       const struct options *options, size_t *count, struct problem *problem)
{
    struct emit_style style;
    struct rows rows = { 0 };
    struct resolver *const resolver = resolver_create(system, catalog, problem);
    *count = 0;
    const bool fine =
        resolver != NULL && sink_style(options, &style, problem) &&
        rows_open(&rows, resolver, path, options, &style, problem);
    for (size_t i = 0; fine && i < rows.column_count; i++) {
        struct binding binding;
        *count += resolver_bind(resolver, sc_csv_columns(rows.reader)[i].text, &binding, NULL);
    }
    rows_close(&rows);
    resolver_destroy(resolver);
    return fine;
}

static void say_system(const char *path, const struct sc_system *system, size_t keys)
{
    struct problem note;
    (void)problem_set(&note, "%s: taken for %s, %zu of whose keys it has", path, system->name, keys);
    problem_print(&note);
}

const struct sc_system *observed_system(const char *path, struct catalog *catalog,
                                        const struct options *options, struct problem *problem)
{
    const struct sc_system *best = NULL, *second = NULL;
    size_t most = 0;
    for (size_t i = 0; i < sc_system_count; i++) {
        size_t count = 0;
        if (!count_keys(sc_systems[i], path, catalog, options, &count, problem))
            return NULL;
        if (count > most) {
            best = sc_systems[i];
            second = NULL;
            most = count;
        } else if (count > 0 && count == most && second == NULL) {
            second = sc_systems[i];
        }
    }
    if (best == NULL)
        (void)problem_set(problem, "%s: no column names a key of any system: say which it is about, "
                                   "as in 'compare SYSTEM %s'", path, path);
    else if (second != NULL)
        (void)problem_set(problem, "%s: its columns name as many keys of %s as of %s: say which it "
                                   "is about, as in 'compare %s %s'",
                          path, best->name, second->name, best->name, path);
    else
        say_system(path, best, most);
    return second == NULL ? best : NULL;
}
