/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stallcast template: a spreadsheet to begin with, which estimate --from answers as it is. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "describe.h"
#include "number.h"
#include "preset.h"
#include "product.h"
#include "scenario.h"
#include "sink.h"

enum {
    TELLING_ROWS = 5, /* of a system without policies */
    WORD_MAX = 256,
    ADDED_WORDS = RESOLVER_PRESETS + 1 /* required presets, and what the rows differ in */
};

/* A key as a column, and the unit that its header says. */
struct key_column {
    const struct sc_field *field;
    const struct sweep *sweep;  /* what was given for it, or NULL */
    const struct sc_unit *unit; /* NULL: none to be said */
    char header[128];
};

struct sheet {
    const struct sc_system *system;
    const struct options *options;
    struct resolver *resolver;
    const char **words; /* key=VALUES given, then those added */
    size_t word_count;
    char added[ADDED_WORDS][WORD_MAX];
    size_t added_count;
    struct product product;
    struct setting *settings;                                      /* of the row at hand */
    _Alignas(max_align_t) unsigned char scenario[SC_SCENARIO_MAX]; /* of it */
    _Alignas(max_align_t) unsigned char defaults[SC_SCENARIO_MAX]; /* when nothing is given */
    struct key_column *columns;
    size_t column_count;
};

/* ---- the rows ---- */

static bool read_words(struct sheet *t, struct problem *problem)
{
    product_fini(&t->product);
    t->product = (struct product){ 0 };
    free(t->settings);
    t->settings = NULL;
    if (!product_make(t->resolver, t->words, t->word_count, &t->product, problem))
        return false;
    t->settings = calloc(t->product.count + 1, sizeof *t->settings);
    return t->settings != NULL || problem_set(problem, "out of memory");
}

static bool build_row(struct sheet *t, size_t row, struct problem *problem)
{
    product_row(&t->product, row, t->settings);
    return resolver_build(t->resolver, t->settings, t->product.count, t->scenario, problem);
}

static const struct sweep *given(const struct sheet *t, const struct sc_field *field)
{
    for (size_t i = 0; i < t->product.count; i++)
        if (t->product.sweeps[i].field == field)
            return &t->product.sweeps[i];
    return NULL;
}

static void add_word(struct sheet *t, const char *key, const char *values)
{
    char *const word = t->added[t->added_count++];
    (void)snprintf(word, WORD_MAX, "%s=%s", key, values);
    t->words[t->word_count++] = word;
}

/* What has no default and was not given comes from the first row of its table. */
static bool add_required(struct sheet *t, struct problem *problem)
{
    for (size_t i = 0; i < t->system->field_count && t->added_count + 1 < ADDED_WORDS; i++) {
        const struct sc_field *const field = &t->system->fields[i];
        if (!sc_field_required(field) || !isnan(sc_field_get(field, t->scenario)))
            continue;
        const struct sc_field *const preset = preset_that_sets(t->system, field);
        if (preset == NULL || given(t, preset) != NULL || preset_count(t->resolver, preset) == 0)
            continue;
        add_word(t, preset->key, preset_at(t->resolver, preset, 0)->name);
        if (!read_words(t, problem) || !build_row(t, 0, problem))
            return false;
    }
    return true;
}

/* The first setting that calibrations sample: its ends, and values between. */
static const struct sc_field *telling_key(const struct sc_system *system)
{
    for (size_t i = 0; i < system->field_count; i++) {
        const struct sc_field *const field = &system->fields[i];
        if (field->provenance == SC_SETTING && field->sample_high > field->sample_low &&
            (field->kind == SC_REAL || field->kind == SC_INTEGER))
            return field;
    }
    return NULL;
}

/* To three digits: values between two ends need be no more exact. */
static double round_off(double value)
{
    char digits[SC_NUMBER_MAX];
    (void)sc_number_format(digits, value, 3);
    return strtod(digits, NULL);
}

static void add_telling(struct sheet *t, const struct sc_field *field)
{
    struct text values = { 0 };
    for (int i = 0; i < TELLING_ROWS; i++) {
        const double part = (double)i / (TELLING_ROWS - 1);
        const double low = field->sample_low, high = field->sample_high;
        const double value = field->sample_log ? low * pow(high / low, part)
                                               : low + part * (high - low);
        if (i > 0)
            text_add_char(&values, ',');
        scenario_value(field->kind == SC_INTEGER ? round(value) : round_off(value),
                       field->dimension, &values);
    }
    if (!values.failed)
        add_word(t, field->key, values.bytes);
    text_fini(&values);
}

/* A row for each policy, or a few that tell something, unless the words say which rows. */
static bool choose_rows(struct sheet *t, struct problem *problem)
{
    const struct sc_field *const policy = sc_system_field(t->system, "policy");
    const struct sc_field *const telling = policy == NULL ? telling_key(t->system) : NULL;
    if (policy != NULL && policy->kind == SC_CHOICE && given(t, policy) == NULL)
        add_word(t, policy->key, "all");
    else if (telling != NULL && t->product.rows == 1 && given(t, telling) == NULL)
        add_telling(t, telling);
    return read_words(t, problem) && build_row(t, 0, problem) && add_required(t, problem);
}

/* ---- what a cell says ---- */

static bool is_number(const struct sc_field *field)
{
    return field->kind == SC_REAL || field->kind == SC_INTEGER;
}

/* Some row of some preset's table sets the key. */
static bool is_of_table(const struct sheet *t, const struct sc_field *field)
{
    for (size_t p = 0; p < t->system->field_count; p++) {
        const struct sc_field *const preset = &t->system->fields[p];
        if (preset->kind != SC_PRESET)
            continue;
        for (size_t i = 0; i < preset_count(t->resolver, preset); i++) {
            const struct preset *const row = preset_at(t->resolver, preset, i);
            for (size_t j = 0; j < row->setting_count; j++)
                if (row->settings[j].field == field)
                    return true;
        }
    }
    return false;
}

/* A cell that is filled counts more than a preset, and more than what was fitted: what these
 * say stays empty, so that they still count once the sheet names others. */
static bool shows_default(const struct sheet *t, const struct sc_field *field)
{
    return field->kind != SC_PRESET && field->provenance == SC_SETTING &&
           preset_that_sets(t->system, field) == NULL && !is_of_table(t, field);
}

static const struct setting *setting_of(const struct sheet *t, const struct key_column *column)
{
    return column->sweep != NULL ? &t->settings[column->sweep - t->product.sweeps] : NULL;
}

/* NaN: an empty cell, or a name. */
static double column_value(const struct sheet *t, const struct key_column *column)
{
    if (!is_number(column->field) || (column->sweep == NULL && !shows_default(t, column->field)))
        return (double)NAN;
    return sc_field_get(column->field, t->scenario);
}

static struct emit_cell column_cell(const struct sheet *t, const struct key_column *column)
{
    const struct setting *const setting = setting_of(t, column);
    const struct sc_field *const field = column->field;
    if (setting != NULL && setting_name(setting) != NULL)
        return emit_string(setting_name(setting));
    if (field->kind == SC_PRESET)
        return emit_string(field->preset);
    if (field->kind == SC_CHOICE && shows_default(t, field))
        return emit_string(sc_field_choice(field, (size_t)sc_field_get(field, t->scenario))->name);
    const double value = column_value(t, column);
    return emit_number(column->unit != NULL ? sc_unit_from_si(column->unit, value) : value);
}

/* ---- units ---- */

/* Whether the value in that unit, written with all its digits, is read as the same again. */
static bool reads_back(const struct sc_unit *unit, double value)
{
    char text[SC_NUMBER_MAX];
    struct sc_quantity quantity;
    const size_t length = sc_number_format(text, sc_unit_from_si(unit, value), SC_NUMBER_SHORTEST);
    return sc_units_parse(text, length, unit->dimension, unit, '.', &quantity) == SC_UNITS_OK &&
           quantity.value == value;
}

/* A value that is of the size that the key's values have. */
static double typical_value(const struct sheet *t, const struct sc_field *field)
{
    const double value = sc_field_get(field, t->scenario);
    if (isfinite(value) && fabs(value) > 0.0)
        return fabs(value);
    return field->minimum > 0.0 ? sqrt(field->minimum * field->maximum) : field->maximum;
}

/* The unit in which the largest of the rows reads well, if all of them survive it. */
static bool find_unit(struct sheet *t, struct key_column *column, struct problem *problem)
{
    const enum sc_dimension dimension = column->field->dimension;
    const struct sc_unit *const si = sc_unit_for_display(dimension, 0.0);
    double largest = (double)NAN;
    if (!is_number(column->field) || dimension == SC_BITS || si == NULL || *si->name == '\0')
        return true;
    const size_t rows = column->sweep != NULL ? t->product.rows : 1;
    for (size_t row = 0; row < rows; row++) {
        if (!build_row(t, row, problem))
            return false;
        largest = fmax(largest, fabs(column_value(t, column)));
    }
    column->unit = sc_unit_for_display(
        dimension, largest > 0.0 ? largest : typical_value(t, column->field));
    for (size_t row = 0; row < rows; row++) {
        if (!build_row(t, row, problem))
            return false;
        const double value = column_value(t, column);
        if (!isnan(value) && !reads_back(column->unit, value))
            column->unit = si;
    }
    return true;
}

/* bandwidth_GB_per_s: names that need no quotes anywhere. */
static void name_column(struct key_column *column)
{
    struct text name = { 0 };
    text_add_string(&name, column->field->key);
    if (column->unit != NULL) {
        text_add_char(&name, '_');
        const char *const unit = column->unit->name;
        for (const char *c = strncmp(unit, "1/", 2) == 0 ? unit + 1 : unit; *c != '\0'; c++) {
            if (*c == '/')
                text_add_string(&name, name.bytes[name.length - 1] == '_' ? "per_" : "_per_");
            else
                text_add_char(&name, *c);
        }
    }
    (void)snprintf(column->header, sizeof column->header, "%s", name.failed ? "?" : name.bytes);
    text_fini(&name);
}

static bool describe_column(struct sheet *t, const struct sc_field *field,
                            struct key_column *column, struct problem *problem)
{
    *column = (struct key_column){ .field = field, .sweep = given(t, field) };
    if (!find_unit(t, column, problem))
        return false;
    name_column(column);
    return true;
}

/* ---- which keys ---- */

/* Of a plan: presets, and the few keys that the system says; else what has a value to show. */
static bool is_brief(const struct sheet *t, const struct sc_field *field)
{
    if (field->kind == SC_PRESET)
        return field->table != NULL;
    return t->system->plan_keys != NULL ? sc_is_word_of(t->system->plan_keys, field->key)
                                        : shows_default(t, field);
}

static bool select_names(const struct sheet *t, bool *selected, struct problem *problem)
{
    char *const names = strdup(t->options->columns);
    if (names == NULL)
        return problem_set(problem, "out of memory");
    bool fine = true;
    for (char *name = names; fine && name != NULL;) {
        char *const comma = strchr(name, ',');
        if (comma != NULL)
            *comma = '\0';
        struct binding binding;
        const char *nearest = NULL;
        if (resolver_bind(t->resolver, name, &binding, &nearest))
            selected[binding.field - t->system->fields] = true;
        else
            fine = problem_set(problem, "--columns: %.60s is not a key of %s%s%s%s", name,
                               t->system->name, nearest != NULL ? ": did you mean " : "",
                               nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
        name = comma != NULL ? comma + 1 : NULL;
    }
    free(names);
    return fine;
}

static bool is_selected(const struct sheet *t, const struct sc_field *field, bool by_name)
{
    const char *const wanted = t->options->columns;
    if (by_name || given(t, field) != NULL)
        return true;
    return wanted == NULL ? is_brief(t, field) : strcmp(wanted, "all") == 0;
}

/* What the rows differ in and what was given stands there whatever else is asked for. */
static bool add_columns(struct sheet *t, bool *by_name, struct problem *problem)
{
    const char *const wanted = t->options->columns;
    if (wanted != NULL && strcmp(wanted, "all") != 0 && !select_names(t, by_name, problem))
        return false;
    for (size_t i = 0; i < t->system->field_count; i++) {
        const struct sc_field *const field = &t->system->fields[i];
        if (is_selected(t, field, by_name[i]) &&
            !describe_column(t, field, &t->columns[t->column_count++], problem))
            return false;
    }
    return true;
}

static bool select_columns(struct sheet *t, struct problem *problem)
{
    bool *const by_name = calloc(t->system->field_count, sizeof *by_name);
    t->columns = calloc(t->system->field_count, sizeof *t->columns);
    const bool fine = by_name != NULL && t->columns != NULL ? add_columns(t, by_name, problem)
                                                            : problem_set(problem, "out of memory");
    free(by_name);
    return fine;
}

/* ---- writing ---- */

static bool write_row(struct sheet *t, size_t row, struct sink *sink, struct emit_cell *cells,
                      struct problem *problem)
{
    if (!build_row(t, row, problem))
        return false;
    for (size_t i = 0; i < t->column_count; i++)
        cells[i] = column_cell(t, &t->columns[i]);
    return sink_row(sink, cells, problem);
}

static bool write_sheet(struct sheet *t, const struct emit_style *style,
                        struct emit_column *columns, struct emit_cell *cells,
                        struct problem *problem)
{
    struct sink sink;
    for (size_t i = 0; i < t->column_count; i++)
        columns[i].name = t->columns[i].header;
    if (!sink_open(&sink, style, columns, t->column_count, t->options->output, problem))
        return false;
    for (size_t row = 0; row < t->product.rows; row++)
        if (!write_row(t, row, &sink, cells, problem)) {
            sink_abandon(&sink);
            return false;
        }
    return sink_close(&sink, problem);
}

static bool write_rows(struct sheet *t, const struct emit_style *style, struct problem *problem)
{
    struct emit_column *const columns = calloc(t->column_count + 1, sizeof *columns);
    struct emit_cell *const cells = calloc(t->column_count + 1, sizeof *cells);
    const bool fine = columns != NULL && cells != NULL
                          ? write_sheet(t, style, columns, cells, problem)
                          : problem_set(problem, "out of memory");
    free(columns);
    free(cells);
    return fine;
}

/* Names of the rows of a preset's table, or of a choice. */
static void describe_names(const struct sheet *t, const struct sc_field *field, struct text *out)
{
    if (field->kind == SC_CHOICE)
        describe_choices(field, out);
    for (size_t i = 0; field->kind == SC_PRESET && i < preset_count(t->resolver, field); i++)
        text_printf(out, "%s%s", i > 0 ? " | " : "", preset_at(t->resolver, field, i)->name);
}

static bool add_help_row(struct sheet *t, const struct sc_field *field, struct sink *sink,
                         struct problem *problem)
{
    struct key_column column;
    struct text range = { 0 }, fallback = { 0 }, names = { 0 };
    if (!describe_column(t, field, &column, problem))
        return false;
    if (is_number(field))
        describe_range(field, &range);
    describe_default(field, t->defaults, &fallback);
    describe_names(t, field, &names);
    const struct emit_cell cells[] = {
        emit_string(field->key),    emit_string(column.unit != NULL ? column.unit->name : NULL),
        emit_string(range.bytes),   emit_string(fallback.bytes),
        emit_string(names.bytes),   emit_string(field->help),
        emit_string(field->source),
    };
    bool fine = !(range.failed || fallback.failed || names.failed);
    fine = fine ? sink_row(sink, cells, problem) : problem_set(problem, "out of memory");
    text_fini(&range);
    text_fini(&fallback);
    text_fini(&names);
    return fine;
}

/* Every key of the system, in the units of the template. */
static bool write_help(struct sheet *t, const struct emit_style *style, struct problem *problem)
{
    static const struct emit_column columns[] = {
        { .name = "key" },     { .name = "unit" }, { .name = "range" },  { .name = "default" },
        { .name = "choices" }, { .name = "help" }, { .name = "source" },
    };
    struct sink sink;
    if (!sink_open(&sink, style, columns, sizeof columns / sizeof columns[0], t->options->help_file,
                   problem))
        return false;
    bool fine = true;
    for (size_t i = 0; fine && i < t->system->field_count; i++)
        fine = add_help_row(t, &t->system->fields[i], &sink, problem);
    if (fine)
        return sink_close(&sink, problem);
    sink_abandon(&sink);
    return false;
}

/* Neither is written if the other could not be. */
static bool check_outputs(const struct options *options, struct problem *problem)
{
    const char *const output = options->output != NULL ? options->output : "-";
    if (options->help_file == NULL)
        return true;
    if (strcmp(options->help_file, output) == 0)
        return problem_set(problem, "--help-file and the template cannot both go to %s",
                           strcmp(output, "-") == 0 ? "standard output" : output);
    return output_check(options->output, problem) && output_check(options->help_file, problem);
}

static bool make_template(struct sheet *t, const struct emit_style *style, struct problem *problem)
{
    return resolver_build(t->resolver, NULL, 0, t->defaults, problem) && read_words(t, problem) &&
           choose_rows(t, problem) && select_columns(t, problem) &&
           check_outputs(t->options, problem) &&
           (t->options->help_file == NULL || write_help(t, style, problem)) &&
           write_rows(t, style, problem);
}

static int template_run(const struct command *command, const struct options *options,
                        const char *const *words, size_t word_count, struct catalog *catalog)
{
    struct problem problem;
    struct emit_style style;
    struct options chosen = *options;
    if (chosen.format == NULL)
        chosen.format = "csv";
    if (chosen.digits == NULL)
        chosen.digits = "all";
    struct sheet t = { .system = command_system(command, words, word_count, &problem),
                       .options = &chosen };
    if (t.system == NULL || !sink_style(&chosen, &style, &problem))
        return command_fail(&problem);
    style.bar = false;
    t.resolver = resolver_create(t.system, catalog, &problem);
    if (t.resolver == NULL)
        return command_fail(&problem);
    bool fine = false;
    t.words = calloc(word_count + ADDED_WORDS, sizeof *t.words);
    if (t.words == NULL) {
        (void)problem_set(&problem, "out of memory");
    } else {
        memcpy(t.words, words + 1, (word_count - 1) * sizeof *t.words);
        t.word_count = word_count - 1;
        fine = make_template(&t, &style, &problem);
    }
    product_fini(&t.product);
    free(t.settings);
    free(t.columns);
    free(t.words);
    resolver_destroy(t.resolver);
    return fine ? EXIT_FINE : command_fail(&problem);
}

static const struct option_row options[] = {
    OPTION(columns, 'c', "KEYS", "keys that are columns, a,b,c, or all (default: those of a plan)"),
    { .name = "help-file",
      .argument = "FILE",
      .offset = offsetof(struct options, help_file),
      .help = "write there what each key is: unit, range, default, choices, help, source" },
    OPTION(format, 'f', "FORMAT", "table, csv, tsv, json, jsonl or md (default csv), of both"),
    OPTION(output, 'o', "FILE", "write there, whole or not at all"),
    OPTION(digits, 0, "N", "significant digits per number, or all (default all)"),
    OPTION(delimiter, 0, "CHAR", "of CSV out (default a comma)"),
    OPTION(decimal, 0, "CHAR", "decimal sign of CSV out (default a point)"),
    OPTION(data, 0, "DIR", "tables of GPUs, models, flash instead of the built-in ones"),
    OPTION(help, 'h', NULL, "this text"),
};

const struct command command_template = {
    .name = "template",
    .usage = "SYSTEM [key=value ...] [options]",
    .summary = "a spreadsheet of scenarios to begin with, for estimate --from",
    .details =
        "A header whose names carry their units, and a row for each policy, or for the values of\n"
        "key=value.  A cell holds what was given, or the default of a setting; an empty cell takes\n"
        "what the preset of its row says, else the default.\n\n"
        "  stallcast template hbf model=llama-70b > plan.csv\n"
        "  stallcast template uvm app=k-means footprint=8GiB:32GiB:8GiB --help-file keys.csv -o plan.csv\n"
        "  stallcast template stream --delimiter ';' --decimal , -o plan.csv\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .run = template_run,
};
