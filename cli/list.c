/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stallcast list: what the tool knows: systems, keys, columns, tables, constants. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "calibration.h"
#include "command.h"
#include "describe.h"
#include "filter.h"
#include "preset.h"
#include "scenario.h"
#include "sink.h"
#include "text.h"

/* What all lists share: where rows go and which are kept. */
struct listing {
    const struct options *options;
    struct catalog *catalog;
    const struct sc_system *system; /* NULL: not told */
    /* of the system when no key is given, with the presets that are then taken */
    _Alignas(max_align_t) unsigned char scenario[SC_SCENARIO_MAX];
    struct filter *filter;
    struct sink sink;
    struct emit_cell *cells;
    struct problem problem;
};

static bool open_list(struct listing *list, const struct emit_column *columns, size_t count)
{
    struct emit_style style;
    if (!sink_style(list->options, &style, &list->problem))
        return false;
    style.bar = false;
    /* Facts are shown as they stand. */
    if (list->options->digits == NULL)
        style.digits = 0;
    list->cells = calloc(count, sizeof *list->cells);
    if (list->cells == NULL)
        return problem_set(&list->problem, "out of memory");
    return sink_open(&list->sink, &style, columns, count, list->options->output, &list->problem);
}

/* Adds list->cells if --only keeps it. */
static bool add_row(struct listing *list)
{
    struct text line = { 0 };
    for (size_t i = 0; i < list->sink.column_count; i++) {
        if (i > 0)
            text_add_char(&line, ' ');
        if (list->cells[i].kind == EMIT_TEXT)
            text_add(&line, list->cells[i].text, list->cells[i].length);
    }
    const bool kept = filter_keeps(list->filter, line.bytes == NULL ? "" : line.bytes, line.length);
    text_fini(&line);
    return !kept || sink_row(&list->sink, list->cells, &list->problem);
}

static bool close_list(struct listing *list, bool fine)
{
    if (fine)
        fine = sink_close(&list->sink, &list->problem);
    else
        sink_abandon(&list->sink);
    free(list->cells);
    list->cells = NULL;
    return fine;
}

static bool list_systems(struct listing *list)
{
    static const struct emit_column columns[] = { { .name = "system" }, { .name = "title" },
                                                  { .name = "question" }, { .name = "source" } };
    bool fine = open_list(list, columns, 4);
    for (size_t i = 0; fine && i < sc_system_count; i++) {
        list->cells[0] = emit_string(sc_systems[i]->name);
        list->cells[1] = emit_string(sc_systems[i]->title);
        list->cells[2] = emit_string(sc_systems[i]->question);
        list->cells[3] = emit_string(sc_systems[i]->source);
        fine = add_row(list);
    }
    return close_list(list, fine);
}

static const char *const kinds[] = {
    [SC_SETTING] = "setting", [SC_FACT] = "fact",       [SC_ANCHOR] = "anchor",
    [SC_CALIBRATED] = "calibrated", [SC_DERIVED] = "derived",
};

static void describe_values(const struct sc_field *field, struct text *out)
{
    if (field->kind == SC_PRESET) {
        if (field->table != NULL)
            text_printf(out, "row of %s", field->table);
        else
            text_add_string(out, "a file that mrc -f csv wrote");
        return;
    }
    if (field->kind == SC_CHOICE)
        describe_choices(field, out);
    else
        describe_range(field, out);
}

static bool field_row(struct listing *list, const struct sc_field *field, bool constants)
{
    struct text value = { 0 }, range = { 0 };
    struct emit_cell *cells = list->cells;
    describe_default(field, list->scenario, &value);
    describe_values(field, &range);
    cells[0] = emit_string(field->key);
    cells[1] = emit_string(value.bytes);
    cells[2] = constants ? emit_string(kinds[field->provenance]) : emit_string(range.bytes);
    cells[3] = constants ? emit_string(field->source) : emit_string(kinds[field->provenance]);
    cells[4] = emit_string(field->help);
    if (!constants) {
        cells[5] = emit_string(field->aliases);
        cells[6] = emit_string(field->source);
    }
    const bool fine = add_row(list);
    text_fini(&value);
    text_fini(&range);
    return fine;
}

static bool need_system(struct listing *list, const char *what)
{
    return list->system != NULL ||
           problem_set(&list->problem, "list %s: expected a system: list %s hbf", what, what);
}

static bool need_defaults(struct listing *list, const char *what)
{
    if (!need_system(list, what))
        return false;
    struct resolver *resolver = resolver_create(list->system, list->catalog, &list->problem);
    const bool fine = resolver != NULL &&
                      resolver_build(resolver, NULL, 0, list->scenario, &list->problem);
    resolver_destroy(resolver);
    return fine;
}

static bool list_fields(struct listing *list)
{
    static const struct emit_column columns[] = {
        { .name = "key" },  { .name = "default" }, { .name = "values" }, { .name = "kind" },
        { .name = "help" }, { .name = "aliases" }, { .name = "source" },
    };
    if (!need_defaults(list, "fields"))
        return false;
    const bool machine = list->options->format != NULL &&
                         strcmp(list->options->format, "table") != 0 &&
                         strcmp(list->options->format, "md") != 0;
    bool fine = open_list(list, columns, machine ? 7 : 5);
    for (size_t i = 0; fine && i < list->system->field_count; i++) {
        struct emit_cell spare[7];
        struct emit_cell *cells = list->cells;
        if (!machine)
            list->cells = spare;
        fine = field_row(list, &list->system->fields[i], false);
        list->cells = cells;
    }
    return close_list(list, fine);
}

/* Facts and structural constants: what is not the user's to choose freely. */
static bool list_parameters(struct listing *list)
{
    static const struct emit_column columns[] = { { .name = "key" }, { .name = "value" },
                                                  { .name = "kind" }, { .name = "source" },
                                                  { .name = "help" } };
    if (!need_defaults(list, "parameters"))
        return false;
    bool fine = open_list(list, columns, 5);
    for (size_t i = 0; fine && i < list->system->field_count; i++) {
        const struct sc_field *field = &list->system->fields[i];
        if (field->kind != SC_PRESET &&
            (field->provenance == SC_ANCHOR || field->provenance == SC_FACT ||
             field->provenance == SC_CALIBRATED))
            fine = field_row(list, field, true);
    }
    return close_list(list, fine);
}

/* How good the calibration is for what it was not fitted to. */
static bool list_scores(struct listing *list)
{
    static const struct emit_column columns[] = { { .name = "score" }, { .name = "of" },
                                                  { .name = "value" }, { .name = "note" } };
    struct calibration *calibration = NULL;
    if (!need_system(list, "scores") ||
        !calibration_load(list->system, list->catalog, list->options, &calibration,
                          &list->problem))
        return false;
    if (calibration == NULL)
        return problem_set(&list->problem, "list scores: no calibration comes with %s",
                           list->system->name);
    bool fine = open_list(list, columns, 4);
    for (size_t i = 0; fine && i < calibration->params.score_count; i++) {
        const struct sc_params_score *score = &calibration->params.scores[i];
        list->cells[0] = emit_string(score->name);
        list->cells[1] = emit_string(strcmp(score->key, SC_PARAMS_POOLED) == 0 ? "all" : score->key);
        list->cells[2] = emit_number(score->value);
        list->cells[3] = emit_string(*score->note != '\0' ? score->note : NULL);
        fine = add_row(list);
    }
    fine = close_list(list, fine);
    calibration_destroy(calibration);
    return fine;
}

static bool list_columns(struct listing *list)
{
    static const struct emit_column columns[] = { { .name = "column" }, { .name = "shown" },
                                                  { .name = "help" } };
    if (!need_system(list, "columns"))
        return false;
    bool fine = open_list(list, columns, 3);
    for (size_t i = 0; fine && i < list->system->metric_count; i++) {
        const struct sc_metric *metric = &list->system->metrics[i];
        list->cells[0] = emit_string(metric->column);
        list->cells[1] = emit_string(metric->brief ? "table" : metric->stall != NULL ? "bar" : "all");
        list->cells[2] = emit_string(metric->help);
        fine = add_row(list);
    }
    for (size_t i = 0; fine && i < CALIBRATION_METRICS; i++) {
        list->cells[0] = emit_string(calibration_metrics[i].column);
        list->cells[1] = emit_string(calibration_metrics[i].brief ? "table" : "asked for");
        list->cells[2] = emit_string(calibration_metrics[i].help);
        fine = add_row(list);
    }
    for (size_t i = 0; fine && i < REPEAT_METRICS; i++) {
        list->cells[0] = emit_string(repeat_metrics[i].column);
        list->cells[1] = emit_string("repeated");
        list->cells[2] = emit_string(repeat_metrics[i].help);
        fine = add_row(list);
    }
    return close_list(list, fine);
}

static bool list_policies(struct listing *list)
{
    static const struct emit_column columns[] = { { .name = "system" }, { .name = "policy" },
                                                  { .name = "help" } };
    bool fine = open_list(list, columns, 3);
    for (size_t s = 0; fine && s < sc_system_count; s++) {
        const struct sc_field *field = sc_system_field(sc_systems[s], "policy");
        if (field == NULL || (list->system != NULL && list->system != sc_systems[s]))
            continue;
        for (size_t i = 0; fine && i < field->choice_count; i++) {
            list->cells[0] = emit_string(sc_systems[s]->name);
            list->cells[1] = emit_string(sc_field_choice(field, i)->name);
            list->cells[2] = emit_string(sc_field_choice(field, i)->help);
            fine = add_row(list);
        }
    }
    return close_list(list, fine);
}

static bool list_units(struct listing *list)
{
    static const struct emit_column columns[] = { { .name = "what" }, { .name = "units" } };
    bool fine = open_list(list, columns, 2);
    for (int d = 0; fine && d < SC_DIMENSIONS; d++) {
        char accepted[SC_UNITS_ACCEPTED_MAX];
        (void)sc_units_accepted((enum sc_dimension)d, accepted);
        if (*accepted == '\0')
            continue;
        list->cells[0] = emit_string(sc_dimension_word((enum sc_dimension)d));
        list->cells[1] = emit_string(accepted);
        fine = add_row(list);
    }
    return close_list(list, fine);
}

/* A table of data/ as it stands; its sources only where there is room. */
static bool list_table(struct listing *list, const char *name)
{
    const struct catalog_table *table = catalog_table(list->catalog, name, &list->problem);
    if (table == NULL)
        return false;
    struct emit_style style;
    if (!sink_style(list->options, &style, &list->problem))
        return false;
    size_t count = table->column_count;
    if (!sink_streams(&style) && count > 1 && strcmp(table->columns[count - 1], "source") == 0)
        count--;
    struct emit_column *columns = calloc(count, sizeof *columns);
    if (columns == NULL)
        return problem_set(&list->problem, "out of memory");
    for (size_t i = 0; i < count; i++)
        columns[i].name = table->columns[i];
    bool fine = open_list(list, columns, count);
    for (size_t row = 0; fine && row < table->row_count; row++) {
        for (size_t i = 0; i < count; i++) {
            const char *text = catalog_cell(table, row, i);
            struct sc_quantity quantity;
            /* The first column is names, even of a GPU called 4090. */
            const bool number = i > 0 && sc_units_parse(text, strlen(text), SC_NUMBER, NULL, '.',
                                                        &quantity) == SC_UNITS_OK;
            list->cells[i] = number ? emit_number(quantity.value)
                                    : emit_string(*text != '\0' ? text : NULL);
        }
        fine = add_row(list);
    }
    fine = close_list(list, fine);
    free(columns);
    return fine;
}

static const struct {
    const char *name;
    bool (*run)(struct listing *list); /* NULL: a table of data/ */
    const char *help;
} subjects[] = {
    { "systems", list_systems, "what can be asked" },
    { "fields", list_fields, "keys of a system: default, values, kind, help" },
    { "columns", list_columns, "columns of a system's answer" },
    { "policies", list_policies, "policies, of one system or all" },
    { "parameters", list_parameters, "facts and structural constants of a system, with source" },
    { "scores", list_scores, "errors of the closed form on simulated runs held out of its calibration" },
    { "units", list_units, "units that values may carry" },
    { "gpus", NULL, "GPUs" },
    { "models", NULL, "language models" },
    { "flash", NULL, "flash devices" },
    { "apps", NULL, "applications" },
    { "kernels", NULL, "measured kernel launches" },
    { "prefetch-kernels", NULL, "kernels described by how they load" },
};
static const size_t subject_count = sizeof subjects / sizeof subjects[0];

static const char *subject_at(unsigned long i, const void *context)
{
    (void)context;
    return subjects[i].name;
}

static const char *subject_name(size_t i)
{
    return i < subject_count ? subjects[i].name : NULL;
}

static int list_run(const struct command *command, const struct options *options,
                    const char *const *words, size_t word_count, struct catalog *catalog)
{
    struct listing list = { .options = options, .catalog = catalog };
    size_t subject = 0;
    if (word_count == 0)
        return command_fail((problem_set(&list.problem, "list: expected one of systems, fields, "
                                                        "columns, policies, parameters, scores, "
                                                        "units, gpus, models, flash, apps, "
                                                        "kernels, prefetch-kernels"),
                             &list.problem));
    while (subject < subject_count && strcmp(subjects[subject].name, words[0]) != 0)
        subject++;
    if (subject == subject_count) {
        const char *nearest = problem_nearest(words[0], subject_at, subject_count, NULL);
        (void)problem_set(&list.problem, "nothing to list under '%.60s'%s%s%s", words[0],
                          nearest != NULL ? ": did you mean " : ": list --help shows the subjects",
                          nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
        return command_fail(&list.problem);
    }
    if (word_count > 2)
        return command_fail((problem_set(&list.problem, "list: '%.60s' is one word too many",
                                         words[2]), &list.problem));
    if (word_count == 2) {
        list.system = command_system(command, words + 1, 1, &list.problem);
        if (list.system == NULL)
            return command_fail(&list.problem);
    }
    if (options->params != NULL && subjects[subject].run != list_scores)
        return command_fail((problem_set(&list.problem, "list %s: --params is for scores only",
                                         subjects[subject].name), &list.problem));
    list.filter = filter_create(options->only, &list.problem);
    const bool fine = list.filter != NULL &&
                      (subjects[subject].run != NULL ? subjects[subject].run(&list)
                                                     : list_table(&list, subjects[subject].name));
    const bool gave_up = fine && filter_gave_up(list.filter);
    filter_destroy(list.filter);
    if (!fine)
        return command_fail(&list.problem);
    return gave_up ? EXIT_NO : EXIT_FINE;
}

static const struct option_row options[] = {
    OPTION(format, 'f', "FORMAT", "table, csv, tsv, json, jsonl or md (default table)"),
    OPTION(output, 'o', "FILE", "write there, whole or not at all"),
    OPTION(only, 0, "REGEX", "keep rows whose text matches"),
    OPTION(digits, 0, "N", "significant digits per number, or all (default all)"),
    OPTION(delimiter, 0, "CHAR", "of CSV out (default a comma)"),
    OPTION(decimal, 0, "CHAR", "decimal sign of CSV out (default a point)"),
    OPTION(params, 0, "FILE", "scores: of this calibration, not the one that comes with the system"),
    OPTION(data, 0, "DIR", "tables of GPUs, models, flash instead of the built-in ones"),
    OPTION(help, 'h', NULL, "this text"),
};

const struct command command_list = {
    .name = "list",
    .usage = "SUBJECT [SYSTEM] [options]",
    .summary = "systems, keys, columns, policies, constants, units, GPUs, models, flash devices",
    .details = "  stallcast list systems\n"
               "  stallcast list fields hbf --only latency\n"
               "  stallcast list columns hbf\n"
               "  stallcast list parameters hbf      # facts and structural constants, with source\n"
               "  stallcast list scores prefetch     # how far off on runs that were held out\n"
               "  stallcast list models --format csv\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .first = subject_name,
    .run = list_run,
};
