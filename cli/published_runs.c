/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "published_runs.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "product.h"
#include "text.h"

enum { WORDS_MAX = 32 };

/* What the set of such runs is called; a part of them may have more of a name. */
static const char set_name[] = "Table 4, mode=fitted";

/* Columns of the table that say what a run is. */
enum { SCENARIO, VALUE, CAP, SET, SET_TARGET, COLUMNS };
static const char *const column_names[COLUMNS] = {
    [SCENARIO] = "scenario", [VALUE] = "value", [CAP] = "cap", [SET] = "set",
    [SET_TARGET] = "set_target",
};

static bool find_columns(const struct catalog_table *table, size_t columns[COLUMNS],
                         struct problem *problem)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        columns[i] = catalog_column(table, column_names[i]);
        if (columns[i] == SIZE_MAX)
            return problem_set(problem, "%s: expected a column named %s", table->shown,
                               column_names[i]);
    }
    return true;
}

static const char *name_of(const struct setting *settings, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(settings[i].field->key, key) == 0)
            return setting_name(&settings[i]);
    return NULL;
}

/* The scenario in the grammar of the command line, and whose GPU and application it is. */
static bool read_scenario(struct resolver *resolver, const char *text, struct sc_uvm_run *run,
                          struct problem *problem)
{
    const char *words[WORDS_MAX];
    struct setting settings[WORDS_MAX];
    struct product product = { 0 };
    char *copy = strdup(text);
    bool fine = copy != NULL || problem_set(problem, "out of memory");
    fine = fine && product_make(resolver, words, text_split(copy, words, WORDS_MAX), &product, problem);
    if (fine && product.rows != 1)
        fine = problem_set(problem, "scenario: expected one, got %zu", product.rows);
    if (fine) {
        product_row(&product, 0, settings);
        run->gpu = name_of(settings, product.count, "gpu");
        run->app = name_of(settings, product.count, "app");
        fine = (run->gpu != NULL && run->app != NULL) ||
               problem_set(problem, "scenario: expected gpu= and app=, got '%.60s'", text);
    }
    fine = fine && resolver_build(resolver, settings, product.count, &run->scenario, problem);
    product_fini(&product);
    free(copy);
    return fine;
}

/* *kept: whether the row is such a run. */
static bool read_run(struct resolver *resolver, const char *const cells[COLUMNS],
                     struct sc_uvm_run *run, bool *kept, struct problem *problem)
{
    struct sc_quantity quantity;
    *kept = false;
    if (strncmp(cells[SET], set_name, strlen(set_name)) != 0)
        return true;
    if (sc_units_parse(cells[VALUE], strlen(cells[VALUE]), SC_NUMBER, NULL, '.', &quantity) !=
        SC_UNITS_OK)
        return problem_set(problem, "value: expected a number, got '%.40s'", cells[VALUE]);
    *kept = true;
    run->time_s = quantity.value;
    run->stopped = *cells[CAP] != '\0';
    run->counted = *cells[SET_TARGET] != '\0';
    return read_scenario(resolver, cells[SCENARIO], run, problem);
}

bool published_runs_read(struct resolver *resolver, struct catalog *catalog,
                         struct published_runs *published, struct problem *problem)
{
    size_t columns[COLUMNS] = { 0 };
    *published = (struct published_runs){ 0 };
    const struct catalog_table *table = catalog_table(catalog, "published/uvm", problem);
    if (table == NULL || !find_columns(table, columns, problem))
        return false;
    published->runs = calloc(table->row_count + 1, sizeof *published->runs);
    if (published->runs == NULL)
        return problem_set(problem, "out of memory");
    for (size_t row = 0; row < table->row_count; row++) {
        const char *cells[COLUMNS];
        struct problem inner;
        bool kept;
        for (size_t i = 0; i < COLUMNS; i++)
            cells[i] = catalog_cell(table, row, columns[i]);
        if (!read_run(resolver, cells, &published->runs[published->count], &kept, &inner))
            return problem_set(problem, "%s:%zu: %s", table->shown, catalog_line(table, row),
                               inner.text);
        published->count += kept;
    }
    return published->count > 0 ||
           problem_set(problem, "%s: expected run times of the set %s, got none", table->shown,
                       set_name);
}

void published_runs_fini(struct published_runs *published)
{
    free(published->runs);
    *published = (struct published_runs){ 0 };
}
