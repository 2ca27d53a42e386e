/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rows.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "preset.h"

struct row_memory {
    char text[48];
    size_t length;
    struct setting setting;
    bool valid;
};

bool rows_describe_fault(const struct rows *rows, const struct sc_csv_error *error,
                         struct problem *problem)
{
    if (error->system_errno != 0)
        return problem_set(problem, "%s: %s", rows->name, strerror(error->system_errno));
    if (error->line == 0)
        return problem_set(problem, "%s: %s", rows->name, error->reason);
    if (error->quote_line != 0 && error->quote_line != error->line)
        return problem_set(problem, "%s:%zu: %s (its quote opens on line %zu)", rows->name,
                           error->line, error->reason, error->quote_line);
    return problem_set(problem, "%s:%zu: %s", rows->name, error->line, error->reason);
}

bool rows_place(const struct rows *rows, size_t line, const char *column, struct problem *problem)
{
    const struct problem inner = *problem;
    if (column == NULL)
        return problem_set(problem, "%s:%zu: %s", rows->name, line, inner.text);
    return problem_set(problem, "%s:%zu: %s: %s", rows->name, line, column, inner.text);
}

/* ---- what each column of the file is ---- */

static bool open_reader(struct rows *rows, const struct options *options, struct emit_style *style,
                        struct problem *problem)
{
    const struct sc_csv_options dialect = {
        .delimiter = options->delimiter == NULL ? '\0' : style->delimiter,
        .decimal = options->decimal == NULL ? '\0' : style->decimal,
    };
    struct sc_csv_error error = { 0 };
    const enum sc_csv_status status =
        sc_csv_create(&rows->reader, rows->file, rows->name, &dialect, &error);
    if (status == SC_CSV_EMPTY)
        return problem_set(problem, "%s: expected a header line with the names of keys, got nothing",
                           rows->name);
    if (status != SC_CSV_OK)
        return rows_describe_fault(rows, &error, problem);
    rows->decimal = sc_csv_decimal(rows->reader);
    /* Cells travel through as they are, so answers take the decimal sign that
     * stands beside them, and then need the delimiter too. */
    if (rows->decimal == ',' && options->decimal == NULL) {
        style->decimal = ',';
        if (options->delimiter == NULL)
            style->delimiter = sc_csv_delimiter(rows->reader);
    }
    rows->column_count = sc_csv_column_count(rows->reader);
    return true;
}

bool rows_open(struct rows *rows, struct resolver *resolver, const char *path,
               const struct options *options, struct emit_style *style, struct problem *problem)
{
    const bool standard = strcmp(path, "-") == 0;
    *rows = (struct rows){ .resolver = resolver, .name = standard ? "standard input" : path };
    rows->file = standard ? stdin : fopen(path, "rb");
    if (rows->file == NULL)
        return problem_set(problem, "%s: %s", path, strerror(errno));
    return open_reader(rows, options, style, problem);
}

void rows_close(struct rows *rows)
{
    sc_csv_destroy(rows->reader);
    free(rows->sources);
    if (rows->file != NULL && rows->file != stdin)
        (void)fclose(rows->file);
}

size_t rows_column(const struct rows *rows, const char *name)
{
    const struct sc_csv_field *const columns = sc_csv_columns(rows->reader);
    for (size_t i = 0; i < rows->column_count; i++)
        if (strcmp(columns[i].text, name) == 0)
            return i;
    return SIZE_MAX;
}

/* One after the other, each with its NUL. */
static bool make_unique(const struct rows *rows, struct text *names, struct emit_column *columns)
{
    const struct sc_csv_field *const input = sc_csv_columns(rows->reader);
    for (size_t i = 0; i < rows->column_count; i++) {
        size_t same = 1;
        for (size_t j = 0; j < i; j++)
            same += strcmp(input[j].text, input[i].text) == 0;
        text_add(names, input[i].text, input[i].length);
        if (same > 1)
            text_printf(names, "_%zu", same);
        text_add_char(names, '\0');
    }
    const char *name = names->bytes;
    for (size_t i = 0; !names->failed && i < rows->column_count; i++, name += strlen(name) + 1)
        columns[i].name = name;
    return !names->failed;
}

bool rows_name_columns(const struct rows *rows, enum emit_format format, struct text *names,
                       struct emit_column *columns, struct problem *problem)
{
    const struct sc_csv_field *const input = sc_csv_columns(rows->reader);
    for (size_t i = 0; i < rows->column_count; i++)
        columns[i].name = input[i].text;
    return (format != EMIT_JSON && format != EMIT_JSONL) || make_unique(rows, names, columns) ||
           problem_set(problem, "out of memory");
}

void rows_cells(const struct rows *rows, const struct sc_csv_field *fields, size_t field_count,
                struct emit_cell *cells)
{
    for (size_t i = 0; i < rows->column_count; i++)
        cells[i] = i < field_count ? (struct emit_cell){ .kind = EMIT_TEXT, .text = fields[i].text,
                                                         .length = fields[i].length }
                                   : (struct emit_cell){ .kind = EMIT_EMPTY };
}

void rows_add_surplus(const struct rows *rows, const struct sc_csv_field *fields,
                      size_t field_count, struct text *error)
{
    for (size_t i = rows->column_count; i < field_count; i++) {
        text_add_string(error, i == rows->column_count ? ": beyond the header: " : ", ");
        text_add(error, fields[i].text, fields[i].length);
    }
}

bool rows_keep(struct filter *filter, const struct sc_csv_field *fields, size_t field_count,
               struct text *line)
{
    if (filter_keeps_all(filter))
        return true;
    text_clear(line);
    for (size_t i = 0; i < field_count; i++) {
        if (i > 0)
            text_add_char(line, ',');
        text_add(line, fields[i].text, fields[i].length);
    }
    return filter_keeps(filter, line->bytes, line->length);
}

/* A column that is no key travels through; one that looks like a slip is named. */
static void warn_of_slip(const struct rows *rows, const char *column, const char *nearest)
{
    const struct sc_system *const system = resolver_system(rows->resolver);
    struct problem note;
    if (nearest == NULL || sc_system_metric(system, column) != NULL)
        return;
    (void)problem_set(&note, "%s: column '%.60s' is no key of %s and travels through: "
                             "did you mean %s?",
                      rows->name, column, system->name, nearest);
    problem_print(&note);
}

/* "latency (furlongs)" */
static bool refuse_unit(const struct rows *rows, const struct sc_csv_field *column,
                        const struct sc_field *field, struct problem *problem)
{
    char accepted[SC_UNITS_ACCEPTED_MAX] = "";
    if ((field->kind == SC_REAL || field->kind == SC_INTEGER) && field->dimension != SC_NUMBER)
        (void)sc_units_accepted(field->dimension, accepted);
    const size_t line = sc_csv_header_line(rows->reader);
    if (*accepted == '\0')
        return problem_set(problem, "%s:%zu: %.60s: expected %s without brackets", rows->name,
                           line, column->text, field->key);
    return problem_set(problem, "%s:%zu: %.60s: expected one of %s in the brackets", rows->name,
                       line, column->text, accepted);
}

static bool bind_column(struct rows *rows, size_t column, struct problem *problem)
{
    const struct sc_csv_field *const name = &sc_csv_columns(rows->reader)[column];
    struct row_source *const source = &rows->sources[rows->source_count];
    const char *nearest = NULL;
    if (!resolver_bind(rows->resolver, name->text, &source->binding, &nearest)) {
        if (source->binding.field != NULL)
            return refuse_unit(rows, name, source->binding.field, problem);
        warn_of_slip(rows, name->text, nearest);
        return true;
    }
    source->column = column;
    for (size_t j = 0; j < rows->source_count; j++)
        if (rows->sources[j].binding.field == source->binding.field)
            return problem_set(problem, "%s:%zu: %s: column %zu and column %zu both give %s",
                               rows->name, sc_csv_header_line(rows->reader), name->text,
                               rows->sources[j].column + 1, column + 1,
                               source->binding.field->key);
    rows->source_count++;
    return true;
}

/* Machines are named row by row, but a key of theirs is as it was fitted. */
static void note_fitted(const struct rows *rows)
{
    for (size_t i = 0; i < rows->source_count; i++) {
        const struct sc_field *const field = rows->sources[i].binding.field;
        if (field == NULL || field->kind != SC_PRESET ||
            preset_count(rows->resolver, field) == 0)
            continue;
        const struct setting first = { .field = field,
                                       .preset = preset_at(rows->resolver, field, 0) };
        const struct sc_field *const fitted = resolver_fitted_over(rows->resolver, &first);
        bool given = false;
        for (size_t j = 0; j < rows->source_count; j++)
            given = given || rows->sources[j].binding.field == fitted;
        for (size_t j = 0; j < rows->given_count; j++)
            given = given || rows->given[j].field == fitted;
        if (fitted == NULL || given)
            continue;
        struct problem note;
        (void)problem_set(&note, "%s: column %s names machines, but %s is as it was fitted in all "
                                 "rows: give it for another machine",
                          rows->name, field->key, fitted->key);
        problem_print(&note);
    }
}

bool rows_bind(struct rows *rows, size_t apart, const struct setting *given, size_t given_count,
               struct problem *problem)
{
    const struct sc_system *const system = resolver_system(rows->resolver);
    rows->given = given;
    rows->given_count = given_count;
    rows->sources = calloc(rows->column_count + 1, sizeof *rows->sources);
    if (rows->sources == NULL)
        return problem_set(problem, "out of memory");
    for (size_t i = 0; i < rows->column_count; i++)
        if (i != apart && !bind_column(rows, i, problem))
            return false;
    if (rows->source_count == 0 && given_count == 0)
        return problem_set(problem,
                           "%s:%zu: no column names a key of %s: 'stallcast list fields %s' shows them",
                           rows->name, sc_csv_header_line(rows->reader), system->name,
                           system->name);
    note_fitted(rows);
    return true;
}

/* ---- rows ---- */

bool row_reader_init(struct row_reader *reader, const struct rows *rows)
{
    *reader = (struct row_reader){ .rows = rows };
    reader->settings = calloc(rows->source_count + rows->given_count + 1, sizeof *reader->settings);
    reader->counts = calloc(rows->given_count + 1, sizeof *reader->counts);
    reader->memory = calloc(rows->source_count + 1, sizeof *reader->memory);
    return reader->settings != NULL && reader->counts != NULL && reader->memory != NULL;
}

void row_reader_fini(struct row_reader *reader)
{
    free(reader->settings);
    free(reader->counts);
    free(reader->memory);
}

/* Reads the cell, or takes over what the same text meant in the row before. */
static bool read_cell(struct row_reader *reader, size_t source, const struct sc_csv_field *cell,
                      struct setting *setting, struct problem *problem)
{
    const struct rows *const rows = reader->rows;
    struct row_memory *const memory = &reader->memory[source];
    if (memory->valid && memory->length == cell->length &&
        memcmp(memory->text, cell->text, cell->length) == 0) {
        *setting = memory->setting;
        return true;
    }
    if (!setting_parse(rows->resolver, &rows->sources[source].binding, cell->text, cell->length,
                       rows->decimal, setting, problem))
        return false;
    if (cell->length < sizeof memory->text) {
        memcpy(memory->text, cell->text, cell->length);
        memory->length = cell->length;
        memory->setting = *setting;
        memory->valid = true;
    }
    return true;
}

bool row_is_blank(const struct sc_csv_field *cell)
{
    for (size_t i = 0; i < cell->length; i++)
        if (cell->text[i] != ' ' && cell->text[i] != '\t')
            return false;
    return true;
}

/* The settings of a row: its own cells, then what the command line adds. */
static bool row_settings(struct row_reader *reader, size_t line, const struct sc_csv_field *cells,
                         size_t *count, struct problem *problem)
{
    const struct rows *const rows = reader->rows;
    *count = 0;
    memset(reader->counts, 0, rows->given_count * sizeof *reader->counts);
    for (size_t i = 0; i < rows->source_count; i++) {
        const struct row_source *source = &rows->sources[i];
        if (row_is_blank(&cells[source->column]))
            continue;
        if (!read_cell(reader, i, &cells[source->column], &reader->settings[*count], problem))
            return rows_place(rows, line, sc_csv_columns(rows->reader)[source->column].text,
                              problem);
        (*count)++;
        for (size_t j = 0; j < rows->given_count; j++)
            reader->counts[j] =
                reader->counts[j] || rows->given[j].field == source->binding.field;
    }
    for (size_t j = 0; j < rows->given_count; j++)
        if (!reader->counts[j])
            reader->settings[(*count)++] = rows->given[j];
    return true;
}

bool row_scenario(struct row_reader *reader, const struct sc_csv_row *row,
                  const struct sc_csv_field *cells, void *scenario, struct problem *problem)
{
    const struct rows *const rows = reader->rows;
    size_t count = 0;
    if (row->field_count != rows->column_count)
        return problem_set(problem, "%s:%zu: expected %zu fields, got %zu", rows->name, row->line,
                           rows->column_count, row->field_count);
    if (!row_settings(reader, row->line, cells, &count, problem))
        return false;
    return resolver_build(rows->resolver, reader->settings, count, scenario, problem) ||
           rows_place(rows, row->line, NULL, problem);
}
