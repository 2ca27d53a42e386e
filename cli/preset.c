/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "preset.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read/miss_curve.h"
#include "read/model_config.h"

static void preset_destroy(struct preset *preset)
{
    if (preset == NULL)
        return;
    free(preset->name);
    free(preset->settings);
    free(preset->curve);
    free(preset);
}

size_t preset_slot(const struct resolver *resolver, const struct sc_field *field)
{
    size_t slot = 0;
    while (resolver->lists[slot].field != field)
        slot++;
    return slot;
}

size_t preset_count(const struct resolver *resolver, const struct sc_field *field)
{
    return resolver->lists[preset_slot(resolver, field)].rows.count;
}

const struct preset *preset_at(const struct resolver *resolver, const struct sc_field *field,
                               size_t i)
{
    return resolver->lists[preset_slot(resolver, field)].rows.items[i];
}

const struct sc_field *preset_that_sets(const struct sc_system *system,
                                        const struct sc_field *field)
{
    for (size_t i = 0; field->source != NULL && i < system->field_count; i++) {
        const struct sc_field *const preset = &system->fields[i];
        if (preset->kind == SC_PRESET && preset->table != NULL &&
            strcmp(preset->table, field->source) == 0)
            return preset;
    }
    return NULL;
}

static bool add_preset(struct presets *list, struct preset *preset)
{
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity == 0 ? 32 : 2 * list->capacity;
        struct preset **items = realloc(list->items, capacity * sizeof(struct preset *));
        if (items == NULL)
            return false;
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = preset;
    return true;
}

static void presets_fini(struct presets *list)
{
    for (size_t i = 0; i < list->count; i++)
        preset_destroy(list->items[i]);
    free(list->items);
}

/* ---- rows of a table ---- */

/* Reads cell (row, column) as a setting; false with the place and the reason. */
static bool read_cell(struct resolver *resolver, const struct catalog_table *table, size_t row,
                      size_t column, const struct binding *binding, struct setting *setting,
                      struct problem *problem)
{
    const char *text = catalog_cell(table, row, column);
    if (setting_parse(resolver, binding, text, strlen(text), '.', setting, problem))
        return true;
    const struct problem inner = *problem;
    return problem_set(problem, "%s:%zu: %s: %s", table->shown, catalog_line(table, row),
                       table->columns[column], inner.text);
}

static struct preset *read_row(struct resolver *resolver, const struct catalog_table *table,
                               size_t row, struct problem *problem)
{
    struct preset *preset = calloc(1, sizeof *preset);
    const size_t tags = catalog_column(table, "tags");
    if (preset == NULL || (preset->name = strdup(catalog_cell(table, row, 0))) == NULL ||
        (preset->settings = calloc(table->column_count, sizeof *preset->settings)) == NULL) {
        (void)problem_set(problem, "%s: out of memory", table->shown);
        preset_destroy(preset);
        return NULL;
    }
    preset->tags = tags == SIZE_MAX ? "" : catalog_cell(table, row, tags);
    for (size_t i = 1; i < table->column_count; i++) {
        struct binding binding;
        /* Columns that this system has no key for belong to others. */
        if (*catalog_cell(table, row, i) == '\0' ||
            !resolver_bind(resolver, table->columns[i], &binding, NULL) ||
            binding.field->kind == SC_PRESET)
            continue;
        if (!read_cell(resolver, table, row, i, &binding,
                       &preset->settings[preset->setting_count], problem)) {
            preset_destroy(preset);
            return NULL;
        }
        preset->setting_count++;
    }
    return preset;
}

/* Channels x width x rate must give the stated bandwidth, within a tenth:
 * copied tables are wrong by a factor of four more often than one would think. */
static bool check_bandwidth(const struct catalog_table *table, struct problem *problem)
{
    const size_t column[4] = { catalog_column(table, "memory_channels"),
                               catalog_column(table, "channel_width_bits"),
                               catalog_column(table, "memory_rate_GT/s"),
                               catalog_column(table, "memory_bandwidth_GB/s") };
    for (size_t i = 0; i < 4; i++)
        if (column[i] == SIZE_MAX)
            return true;
    for (size_t row = 0; row < table->row_count; row++) {
        double value[4];
        bool complete = true;
        for (size_t i = 0; i < 4; i++) {
            struct sc_quantity quantity;
            const char *text = catalog_cell(table, row, column[i]);
            complete = complete && sc_units_parse(text, strlen(text), SC_NUMBER, NULL, '.',
                                                  &quantity) == SC_UNITS_OK;
            value[i] = complete ? quantity.value : 0.0;
        }
        const double pins = value[0] * value[1] * value[2] / 8.0;
        if (complete && fabs(pins / value[3] - 1.0) > 0.10)
            return problem_set(problem,
                               "%s:%zu: memory_bandwidth_GB/s: expected %.6g from %g channels x %g "
                               "bit x %g GT/s within 10 %%, got %s",
                               table->shown, catalog_line(table, row), pins, value[0], value[1],
                               value[2], catalog_cell(table, row, column[3]));
    }
    return true;
}

static bool load_list(struct resolver *resolver, struct preset_list *list, struct problem *problem)
{
    if (list->field->table == NULL)
        return true;
    const struct catalog_table *table =
        catalog_table(resolver->catalog, list->field->table, problem);
    if (table == NULL || !check_bandwidth(table, problem))
        return false;
    for (size_t row = 0; row < table->row_count; row++) {
        if (catalog_row(table, catalog_cell(table, row, 0)) != row)
            return problem_set(problem, "%s:%zu: %s: this name stands in an earlier row too",
                               table->shown, catalog_line(table, row), catalog_cell(table, row, 0));
        struct preset *preset = read_row(resolver, table, row, problem);
        if (preset == NULL)
            return false;
        if (!add_preset(&list->rows, preset)) {
            preset_destroy(preset);
            return problem_set(problem, "%s: out of memory", table->shown);
        }
    }
    return true;
}

/* ---- presets named by path ---- */

static struct preset *read_user_row(struct resolver *resolver, const char *name, const char *colon,
                                    struct problem *problem)
{
    char path[4096];
    const size_t length = (size_t)(colon - name);
    if (length >= sizeof path) {
        (void)problem_set(problem, "expected FILE:ROW, got a path of %zu bytes", length);
        return NULL;
    }
    memcpy(path, name, length);
    path[length] = '\0';
    const struct catalog_table *table = catalog_file(resolver->catalog, path, problem);
    if (table == NULL || !check_bandwidth(table, problem))
        return NULL;
    const size_t row = catalog_row(table, colon + 1);
    if (row == SIZE_MAX) {
        (void)problem_set(problem, "expected a row of %s, got '%.60s'", path, colon + 1);
        return NULL;
    }
    return read_row(resolver, table, row, problem);
}

static bool fill_config(struct resolver *resolver, const struct sc_model_config *config,
                        const char *path, struct preset *preset, struct problem *problem)
{
    for (size_t i = 0; i < config->count; i++) {
        const struct sc_model_config_value *value = &config->values[i];
        struct binding binding;
        if (!resolver_bind(resolver, value->key, &binding, NULL))
            continue;
        struct setting *setting = &preset->settings[preset->setting_count++];
        if (value->choice == NULL) {
            *setting = (struct setting){ .field = binding.field, .value = value->number };
        } else if (!setting_parse(resolver, &binding, value->choice, strlen(value->choice), '.',
                                  setting, problem)) {
            const struct problem inner = *problem;
            return problem_set(problem, "%s: %s: %s", path, value->key, inner.text);
        }
    }
    return true;
}

static struct preset *read_config(struct resolver *resolver, const char *path,
                                  struct problem *problem)
{
    struct sc_model_config config;
    struct sc_model_config_error error;
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        (void)problem_set(problem, "expected a config.json, got '%s': %s", path, strerror(errno));
        return NULL;
    }
    const enum sc_model_config_status status = sc_model_config_read(file, &config, &error);
    (void)fclose(file);
    if (status != SC_MODEL_CONFIG_OK) {
        if (error.line > 0)
            (void)problem_set(problem, "%s:%zu:%zu: %s", path, error.line, error.column,
                              error.reason);
        else
            (void)problem_set(problem, "%s: %s", path, error.reason);
        return NULL;
    }
    struct preset *preset = calloc(1, sizeof *preset);
    if (preset == NULL || (preset->settings = calloc(SC_MODEL_CONFIG_VALUES,
                                                     sizeof *preset->settings)) == NULL) {
        (void)problem_set(problem, "%s: out of memory", path);
        preset_destroy(preset);
        return NULL;
    }
    preset->tags = "";
    if (!fill_config(resolver, &config, path, preset, problem)) {
        preset_destroy(preset);
        return NULL;
    }
    return preset;
}

/* The row of the curve that is furthest from the line between those already chosen,
 * in the logarithm of the size; SIZE_MAX when all lie on it. */
static size_t furthest_row(const struct sc_miss_curve *curve, size_t first, const bool *chosen)
{
    size_t worst = SIZE_MAX, low = first;
    double most = 0.0;
    for (size_t high = first + 1; high < curve->count; high++) {
        if (!chosen[high])
            continue;
        const double from = log(curve->cache_bytes[low]), to = log(curve->cache_bytes[high]);
        for (size_t i = low + 1; i < high; i++) {
            const double part = (log(curve->cache_bytes[i]) - from) / (to - from);
            const double line = curve->miss_ratio[low] +
                                part * (curve->miss_ratio[high] - curve->miss_ratio[low]);
            if (fabs(curve->miss_ratio[i] - line) > most) {
                most = fabs(curve->miss_ratio[i] - line);
                worst = i;
            }
        }
        low = high;
    }
    return worst;
}

/* As many points as a scenario holds, those that matter most. */
static bool thin_curve(const struct sc_miss_curve *curve, size_t points, double *out)
{
    size_t first = 0, count = 1;
    bool *chosen = calloc(curve->count, sizeof *chosen);
    if (chosen == NULL)
        return false;
    while (first + 1 < curve->count && !(curve->cache_bytes[first] > 0.0))
        first++;
    chosen[first] = true;
    if (curve->count > first + 1) {
        chosen[curve->count - 1] = true;
        count = 2;
    }
    for (; count < points; count++) {
        const size_t next = furthest_row(curve, first, chosen);
        if (next == SIZE_MAX)
            break;
        chosen[next] = true;
    }
    out[0] = (double)count;
    for (size_t i = first, n = 0; i < curve->count; i++)
        if (chosen[i]) {
            out[1 + n] = curve->cache_bytes[i];
            out[1 + points + n++] = curve->miss_ratio[i];
        }
    out[1 + 2 * points] = curve->block_above;
    out[2 + 2 * points] = isfinite(curve->block_most) ? curve->block_most : 0.0;
    free(chosen);
    return true;
}

static struct preset *read_curve(const struct sc_field *field, const char *path,
                                 struct problem *problem)
{
    struct sc_miss_curve curve;
    struct sc_miss_curve_error error;
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        (void)problem_set(problem, "expected a curve that mrc -f csv wrote, got '%s': %s", path,
                          strerror(errno));
        return NULL;
    }
    const enum sc_status status = sc_miss_curve_read(file, &curve, &error);
    (void)fclose(file);
    if (status != SC_OK) {
        const bool in_column = error.column[0] != '\0';
        if (error.line > 0)
            (void)problem_set(problem, "%s:%zu: %s%s%s", path, error.line, error.column,
                              in_column ? ": " : "", error.reason);
        else
            (void)problem_set(problem, "%s: %s", path, error.reason);
        return NULL;
    }
    if (!(curve.cache_bytes[curve.count - 1] > 0.0)) {
        (void)problem_set(problem, "%s: expected a row with more than 0 bytes", path);
        sc_miss_curve_fini(&curve);
        return NULL;
    }
    struct preset *preset = calloc(1, sizeof *preset);
    if (preset != NULL) {
        preset->tags = "";
        preset->curve = calloc(3 + 2 * field->curve->points, sizeof *preset->curve);
    }
    if (preset == NULL || preset->curve == NULL ||
        !thin_curve(&curve, field->curve->points, preset->curve)) {
        (void)problem_set(problem, "%s: out of memory", path);
        preset_destroy(preset);
        preset = NULL;
    }
    sc_miss_curve_fini(&curve);
    return preset;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), tail = strlen(end);
    return length > tail && strcmp(text + length - tail, end) == 0;
}

static struct preset *presets_find(const struct presets *list, const char *name, size_t length)
{
    for (size_t i = 0; i < list->count; i++)
        if (strncmp(list->items[i]->name, name, length) == 0 &&
            list->items[i]->name[length] == '\0')
            return list->items[i];
    return NULL;
}

static bool is_config(const struct preset_list *list, const char *name)
{
    return ends_with(name, ".json") && list->field->table != NULL &&
           strcmp(list->field->table, "models") == 0;
}

/* FILE:ROW, config.json or a curve; what was read is kept, so that it is read once. */
static const struct preset *find_by_path(struct resolver *resolver, struct preset_list *list,
                                         const char *name, struct problem *problem)
{
    struct preset *preset = presets_find(&list->by_path, name, strlen(name));
    if (preset != NULL)
        return preset;
    preset = list->field->curve != NULL ? read_curve(list->field, name, problem)
             : is_config(list, name)    ? read_config(resolver, name, problem)
                                        : read_user_row(resolver, name, strrchr(name, ':'), problem);
    if (preset == NULL)
        return NULL;
    free(preset->name);
    preset->name = strdup(name);
    if (preset->name == NULL || !add_preset(&list->by_path, preset)) {
        preset_destroy(preset);
        (void)problem_set(problem, "%.60s: out of memory", name);
        return NULL;
    }
    return preset;
}

static const char *preset_name_at(unsigned long i, const void *context)
{
    const struct presets *list = context;
    return list->items[i]->name;
}

const struct preset *preset_find(struct resolver *resolver, const struct sc_field *field,
                                 const char *text, size_t length, struct problem *problem)
{
    struct preset_list *list = &resolver->lists[preset_slot(resolver, field)];
    const struct preset *preset = presets_find(&list->rows, text, length);
    if (preset != NULL)
        return preset;
    char name[4096 + 256];
    if (length >= sizeof name) {
        (void)problem_set(problem, "expected %s%s, got %zu bytes of text",
                          field->table != NULL ? "a row of " : "a file",
                          field->table != NULL ? field->table : "", length);
        return NULL;
    }
    memcpy(name, text, length);
    name[length] = '\0';
    if (field->curve != NULL || strchr(name, ':') != NULL || is_config(list, name)) {
        (void)pthread_mutex_lock(&resolver->lock);
        preset = find_by_path(resolver, list, name, problem);
        (void)pthread_mutex_unlock(&resolver->lock);
        return preset;
    }
    const char *nearest = problem_nearest(name, preset_name_at, list->rows.count, &list->rows);
    if (nearest != NULL)
        (void)problem_set(problem, "expected a row of %s, got '%.60s': did you mean %s?",
                          field->table, name, nearest);
    else
        (void)problem_set(problem, "expected a row of %s, got '%.60s': 'stallcast list %s' shows them",
                          field->table, name, field->table);
    return NULL;
}

/* ---- measured launches ---- */

/* The key behind a column of launches: a value of the kernel that the row names
 * (ctas under kernel gate is gate_ctas), or the key itself. */
static bool bind_value(struct resolver *resolver, const char *kernel, const char *column,
                       struct binding *binding)
{
    char name[128];
    const int length = snprintf(name, sizeof name, "%s_%s", kernel, column);
    return (length > 0 && (size_t)length < sizeof name &&
            resolver_bind(resolver, name, binding, NULL)) ||
           resolver_bind(resolver, column, binding, NULL);
}

static bool read_launch(struct resolver *resolver, const struct catalog_table *table, size_t row,
                        struct launch_row *launch, struct problem *problem)
{
    const char *kernel = catalog_cell(table, row, catalog_column(table, "kernel"));
    const size_t first_value = catalog_column(table, "kernel");
    launch->conditions = calloc(table->column_count, sizeof *launch->conditions);
    launch->limits = calloc(table->column_count, sizeof *launch->limits);
    launch->settings = calloc(table->column_count, sizeof *launch->settings);
    if (launch->conditions == NULL || launch->limits == NULL || launch->settings == NULL)
        return problem_set(problem, "%s: out of memory", table->shown);
    for (size_t i = 0; i < table->column_count; i++) {
        const bool limit = strncmp(table->columns[i], "max_", 4) == 0;
        const char *column = table->columns[i] + (limit ? 4 : 0);
        struct binding binding;
        if (i == first_value || strcmp(column, "source") == 0)
            continue;
        if (!(i < first_value ? resolver_bind(resolver, column, &binding, NULL)
                              : bind_value(resolver, kernel, column, &binding)))
            return problem_set(problem, "%s:%zu: %s is not a key of %s", table->shown,
                               table->header_line, column, resolver->system->name);
        if (binding.field->kind == SC_PRESET) {
            if (launch->named_count == sizeof launch->named / sizeof launch->named[0])
                return problem_set(problem, "%s: too many conditions", table->shown);
            launch->named[launch->named_count].field = binding.field;
            launch->named[launch->named_count++].words = catalog_cell(table, row, i);
            continue;
        }
        struct setting *setting = i < first_value ? &launch->conditions[launch->condition_count]
                                                  : &launch->settings[launch->setting_count];
        if (!read_cell(resolver, table, row, i, &binding, setting, problem))
            return false;
        if (i < first_value)
            launch->limits[launch->condition_count++] = limit;
        else
            launch->setting_count++;
    }
    return true;
}

/* The table of launches, if some key of this system takes its default there. */
static bool load_launches(struct resolver *resolver, struct problem *problem)
{
    static const char name[] = "kernels";
    bool wanted = false;
    for (size_t i = 0; i < resolver->system->field_count; i++) {
        const char *source = resolver->system->fields[i].source;
        wanted = wanted || (source != NULL && strcmp(source, name) == 0);
    }
    if (!wanted)
        return true;
    const struct catalog_table *table = catalog_table(resolver->catalog, name, problem);
    if (table == NULL)
        return false;
    if (catalog_column(table, "kernel") == SIZE_MAX)
        return problem_set(problem, "%s: expected a column named kernel", table->shown);
    resolver->launches = calloc(table->row_count + 1, sizeof *resolver->launches);
    if (resolver->launches == NULL)
        return problem_set(problem, "%s: out of memory", table->shown);
    for (size_t row = 0; row < table->row_count; row++) {
        resolver->launch_count++;
        if (!read_launch(resolver, table, row, &resolver->launches[row], problem))
            return false;
    }
    return true;
}

static bool holds(const struct resolver *resolver, const struct launch_row *launch,
                  const struct preset *const *chosen, const void *scenario)
{
    for (size_t i = 0; i < launch->named_count; i++) {
        const struct preset *preset = chosen[preset_slot(resolver, launch->named[i].field)];
        if (preset == NULL || !sc_is_word_of(launch->named[i].words, preset->name))
            return false;
    }
    for (size_t i = 0; i < launch->condition_count; i++) {
        const double value = sc_field_get(launch->conditions[i].field, scenario);
        const double wanted = launch->conditions[i].value;
        if (launch->limits[i] ? !(value <= wanted) : value != wanted)
            return false;
    }
    return true;
}

/* A key of the model's shape given by hand makes it another model. */
static bool reshapes(const struct setting *settings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (settings[i].field->kind != SC_PRESET && settings[i].field->source != NULL &&
            strcmp(settings[i].field->source, "models") == 0 &&
            settings[i].field->dimension != SC_BITS)
            return true;
    return false;
}

bool preset_is_condition(const struct resolver *resolver, const struct sc_field *field)
{
    for (size_t i = 0; i < resolver->launch_count; i++)
        for (size_t j = 0; j < resolver->launches[i].condition_count; j++)
            if (resolver->launches[i].conditions[j].field == field)
                return true;
    return false;
}

void preset_apply_launches(const struct resolver *resolver, const struct preset *const *chosen,
                           const struct setting *settings, size_t count, void *scenario)
{
    if (resolver->launch_count == 0 || reshapes(settings, count))
        return;
    for (size_t i = 0; i < resolver->launch_count; i++) {
        const struct launch_row *launch = &resolver->launches[i];
        if (!holds(resolver, launch, chosen, scenario))
            continue;
        for (size_t j = 0; j < launch->setting_count; j++)
            if (isnan(sc_field_get(launch->settings[j].field, scenario)))
                sc_field_set(launch->settings[j].field, scenario, launch->settings[j].value);
    }
}

/* ---- resolver ---- */

/* Where the table was read from, for messages. */
static const char *table_shown(const struct resolver *resolver, const struct sc_field *field)
{
    struct problem ignored;
    const struct catalog_table *table = catalog_table(resolver->catalog, field->table, &ignored);
    return table != NULL ? table->shown : field->table;
}

static bool choose_fallbacks(struct resolver *resolver, struct problem *problem)
{
    for (size_t i = 0; i < resolver->slot_count; i++) {
        const struct sc_field *field = resolver->lists[i].field;
        if (field->preset == NULL)
            continue;
        resolver->fallback[i] = presets_find(&resolver->lists[i].rows, field->preset,
                                             strlen(field->preset));
        if (resolver->fallback[i] == NULL)
            return problem_set(problem, "%s: expected the row %s, which %s takes by default",
                               table_shown(resolver, field), field->preset, field->key);
    }
    return true;
}

struct resolver *resolver_create(const struct sc_system *system, struct catalog *catalog,
                                 struct problem *problem)
{
    struct resolver *resolver = calloc(1, sizeof *resolver);
    if (resolver == NULL) {
        (void)problem_set(problem, "out of memory");
        return NULL;
    }
    (void)pthread_mutex_init(&resolver->lock, NULL);
    resolver->system = system;
    resolver->catalog = catalog;
    resolver->clock = system->clock_key != NULL ? sc_system_field(system, system->clock_key) : NULL;
    sc_scenario_init(system, resolver->defaults);
    for (size_t i = 0; i < system->field_count; i++)
        if (system->fields[i].kind == SC_PRESET && resolver->slot_count < RESOLVER_PRESETS)
            resolver->lists[resolver->slot_count++].field = &system->fields[i];
    for (size_t i = 0; i < resolver->slot_count; i++)
        if (!load_list(resolver, &resolver->lists[i], problem))
            goto fail;
    if (!choose_fallbacks(resolver, problem) || !load_launches(resolver, problem))
        goto fail;
    return resolver;
fail:
    resolver_destroy(resolver);
    return NULL;
}

void resolver_destroy(struct resolver *resolver)
{
    if (resolver == NULL)
        return;
    for (size_t i = 0; i < resolver->slot_count; i++) {
        presets_fini(&resolver->lists[i].rows);
        presets_fini(&resolver->lists[i].by_path);
    }
    for (size_t i = 0; i < resolver->launch_count; i++) {
        free(resolver->launches[i].conditions);
        free(resolver->launches[i].limits);
        free(resolver->launches[i].settings);
    }
    free(resolver->launches);
    (void)pthread_mutex_destroy(&resolver->lock);
    free(resolver);
}
