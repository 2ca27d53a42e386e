/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "embedded.h"
#include "units.h"

enum { TABLES_MAX = 64, TABLE_ROWS_MAX = 1000000 };

struct catalog {
    char *directory;
    struct catalog_table *tables[TABLES_MAX];
    size_t table_count;
};

struct catalog *catalog_create(const char *directory)
{
    struct catalog *catalog = calloc(1, sizeof *catalog);
    if (catalog != NULL && directory != NULL) {
        catalog->directory = strdup(directory);
        if (catalog->directory == NULL) {
            free(catalog);
            return NULL;
        }
    }
    return catalog;
}

static void table_destroy(struct catalog_table *table)
{
    if (table == NULL)
        return;
    for (size_t i = 0; table->columns != NULL && i < table->column_count; i++)
        free(table->columns[i]);
    free(table->columns);
    free(table->name);
    free(table->shown);
    sc_csv_batch_fini(&table->rows);
    free(table);
}

void catalog_destroy(struct catalog *catalog)
{
    if (catalog == NULL)
        return;
    for (size_t i = 0; i < catalog->table_count; i++)
        table_destroy(catalog->tables[i]);
    free(catalog->directory);
    free(catalog);
}

static bool describe(const struct sc_csv_error *error, const char *shown, struct problem *problem)
{
    if (error->system_errno != 0)
        return problem_set(problem, "%s: %s: %s", shown, error->reason,
                           strerror(error->system_errno));
    if (error->line > 0)
        return problem_set(problem, "%s:%zu: %s", shown, error->line, error->reason);
    return problem_set(problem, "%s: %s", shown, error->reason);
}

static bool copy_columns(struct catalog_table *table, const struct sc_csv *reader)
{
    const struct sc_csv_field *columns = sc_csv_columns(reader);
    table->columns = calloc(sc_csv_column_count(reader), sizeof *table->columns);
    if (table->columns == NULL)
        return false;
    table->column_count = sc_csv_column_count(reader);
    table->header_line = sc_csv_header_line(reader);
    for (size_t i = 0; i < table->column_count; i++)
        if ((table->columns[i] = strdup(columns[i].text)) == NULL)
            return false;
    return true;
}

static bool check_rows(const struct catalog_table *table, const char *shown, struct problem *problem)
{
    for (size_t r = 0; r < table->row_count; r++)
        if (table->rows.rows[r].field_count != table->column_count)
            return problem_set(problem, "%s:%zu: expected %zu fields, got %zu", shown,
                               table->rows.rows[r].line, table->column_count,
                               table->rows.rows[r].field_count);
    return true;
}

/* Reads a whole table; `shown` is its name in messages. */
static struct catalog_table *read_table(FILE *file, const char *name, const char *shown,
                                        struct problem *problem)
{
    struct sc_csv *reader = NULL;
    struct sc_csv_error error = { 0 };
    bool done = false;
    struct catalog_table *table = calloc(1, sizeof *table);
    if (table == NULL || (table->name = strdup(name)) == NULL ||
        (table->shown = strdup(shown)) == NULL) {
        (void)problem_set(problem, "%s: out of memory", shown);
        goto end;
    }
    if (sc_csv_create(&reader, file, shown, NULL, &error) != SC_CSV_OK) {
        (void)describe(&error, shown, problem);
        goto end;
    }
    if (!copy_columns(table, reader)) {
        (void)problem_set(problem, "%s: out of memory", shown);
        goto end;
    }
    const enum sc_csv_status status = sc_csv_read(reader, &table->rows, TABLE_ROWS_MAX, &error);
    if (status != SC_CSV_OK && status != SC_CSV_END) {
        (void)describe(&error, shown, problem);
        goto end;
    }
    table->row_count = table->rows.row_count;
    struct sc_csv_batch rest = { 0 };
    const enum sc_csv_status after = sc_csv_read(reader, &rest, 1, &error);
    sc_csv_batch_fini(&rest);
    if (after == SC_CSV_OK) {
        (void)problem_set(problem, "%s: too large for a table of presets", shown);
        goto end;
    }
    if (after != SC_CSV_END) {
        (void)describe(&error, shown, problem);
        goto end;
    }
    done = check_rows(table, shown, problem);
end:
    sc_csv_destroy(reader);
    if (!done) {
        table_destroy(table);
        table = NULL;
    }
    return table;
}

static struct catalog_table *read_path(const char *path, const char *name, struct problem *problem)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        (void)problem_set(problem, "%s: %s", path, strerror(errno));
        return NULL;
    }
    struct catalog_table *table = read_table(file, name, path, problem);
    (void)fclose(file);
    return table;
}

static struct catalog_table *read_embedded(const char *file_name, const char *name,
                                           struct problem *problem)
{
    for (size_t i = 0; i < sc_embedded_count; i++) {
        if (strcmp(sc_embedded_files[i].name, file_name) != 0)
            continue;
        /* fmemopen takes a writable pointer, but mode "r" never writes. */
        FILE *file = fmemopen((void *)(uintptr_t)sc_embedded_files[i].bytes,
                              sc_embedded_files[i].size, "r");
        if (file == NULL) {
            (void)problem_set(problem, "%s: %s", file_name, strerror(errno));
            return NULL;
        }
        struct catalog_table *table = read_table(file, name, file_name, problem);
        (void)fclose(file);
        return table;
    }
    (void)problem_set(problem, "%s: there is no such table", file_name);
    return NULL;
}

static const struct catalog_table *known(const struct catalog *catalog, const char *name, bool file)
{
    for (size_t i = 0; i < catalog->table_count; i++)
        if (catalog->tables[i]->file == file && strcmp(catalog->tables[i]->name, name) == 0)
            return catalog->tables[i];
    return NULL;
}

static const struct catalog_table *keep(struct catalog *catalog, struct catalog_table *table,
                                        struct problem *problem)
{
    if (table == NULL)
        return NULL;
    if (catalog->table_count == TABLES_MAX) {
        (void)problem_set(problem, "%s: more than %d tables in use", table->shown, (int)TABLES_MAX);
        table_destroy(table);
        return NULL;
    }
    catalog->tables[catalog->table_count++] = table;
    return table;
}

const struct catalog_table *catalog_table(struct catalog *catalog, const char *name,
                                          struct problem *problem)
{
    const struct catalog_table *table = known(catalog, name, false);
    if (table != NULL)
        return table;
    char path[4096];
    const int length = catalog->directory != NULL
                           ? snprintf(path, sizeof path, "%s/%s.csv", catalog->directory, name)
                           : snprintf(path, sizeof path, "%s.csv", name);
    if (length < 0 || (size_t)length >= sizeof path) {
        (void)problem_set(problem, "%s: the path is too long", name);
        return NULL;
    }
    return keep(catalog,
                catalog->directory != NULL ? read_path(path, name, problem)
                                           : read_embedded(path, name, problem),
                problem);
}

const struct catalog_table *catalog_file(struct catalog *catalog, const char *path,
                                         struct problem *problem)
{
    const struct catalog_table *table = known(catalog, path, true);
    if (table != NULL)
        return table;
    struct catalog_table *read = read_path(path, path, problem);
    if (read != NULL)
        read->file = true;
    return keep(catalog, read, problem);
}

FILE *catalog_open(const struct catalog *catalog, const char *name, struct problem *problem)
{
    char path[4096];
    const char *directory = catalog->directory;
    const int length = snprintf(path, sizeof path, "%s%s%s.csv", directory != NULL ? directory : "",
                                directory != NULL ? "/" : "", name);
    problem->text[0] = '\0';
    if (length < 0 || (size_t)length >= sizeof path) {
        (void)problem_set(problem, "%s: the path is too long", name);
        return NULL;
    }
    if (directory != NULL) {
        FILE *file = fopen(path, "rb");
        if (file == NULL && errno != ENOENT)
            (void)problem_set(problem, "%s: %s", path, strerror(errno));
        return file;
    }
    for (size_t i = 0; i < sc_embedded_count; i++)
        if (strcmp(sc_embedded_files[i].name, path) == 0)
            return fmemopen((void *)(uintptr_t)sc_embedded_files[i].bytes,
                            sc_embedded_files[i].size, "r");
    return NULL;
}

const char *catalog_cell(const struct catalog_table *table, size_t row, size_t column)
{
    return table->rows.fields[table->rows.rows[row].first_field + column].text;
}

bool catalog_number(const char *column, const char *cell, double *value, struct problem *problem)
{
    struct sc_quantity quantity;
    if (sc_units_parse(cell, strlen(cell), SC_NUMBER, NULL, '.', &quantity) != SC_UNITS_OK)
        return problem_set(problem, "%s: expected a number, got '%.40s'", column, cell);
    *value = quantity.value;
    return true;
}

size_t catalog_column(const struct catalog_table *table, const char *name)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i], name) == 0)
            return i;
    return SIZE_MAX;
}

size_t catalog_row(const struct catalog_table *table, const char *name)
{
    for (size_t r = 0; r < table->row_count; r++)
        if (strcmp(catalog_cell(table, r, 0), name) == 0)
            return r;
    return SIZE_MAX;
}

size_t catalog_line(const struct catalog_table *table, size_t row)
{
    return table->rows.rows[row].line;
}
