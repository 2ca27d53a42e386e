/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "complete.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "calibration.h"
#include "emit.h"
#include "preset.h"
#include "scenario.h"

struct completion {
    const struct command *command;
    const char *current; /* the word that is being written */
    size_t kept;         /* bytes of it that stay as they are */
    const char **words;  /* before it, options left out; the command is none of them */
    size_t word_count;
    const struct option_row *awaited; /* option whose value the current word is, or NULL */
    const char *data;                 /* directory of tables, or NULL */
    struct catalog *catalog;
    const struct sc_system *system; /* or NULL */
    struct resolver *resolver;      /* of the system, or NULL */
    struct text *out;
};

/* `name` with `end` behind it, if the current word may become that. */
static void add(const struct completion *c, const char *name, const char *end, const char *help)
{
    const char *const begun = c->current + c->kept;
    if (strncmp(name, begun, strlen(begun)) != 0)
        return;
    text_add(c->out, c->current, c->kept);
    text_printf(c->out, "%s%s", name, end);
    if (help != NULL)
        text_printf(c->out, "\t%s", help);
    text_add_char(c->out, '\n');
}

static void add_files(struct completion *c)
{
    text_add_string(c->out, ":files\n");
}

/* Keeps what stands before the last `separator` in the rest of the word. */
static void keep_list(struct completion *c)
{
    const char *const comma = strrchr(c->current + c->kept, ',');
    if (comma != NULL)
        c->kept = (size_t)(comma - c->current) + 1;
}

/* The items of "a, b, c" or "a|b|c". */
static void add_items(struct completion *c, const char *items)
{
    char *const copy = strdup(items);
    char *rest = NULL;
    for (char *item = copy != NULL ? strtok_r(copy, ", |", &rest) : NULL; item != NULL;
         item = strtok_r(NULL, ", |", &rest))
        add(c, item, "", NULL);
    free(copy);
}

/* ---- keys and values ---- */

static bool is_given(const struct completion *c, const struct sc_field *field)
{
    for (size_t i = 0; i < c->word_count; i++) {
        const size_t length = strcspn(c->words[i], "=");
        char key[64];
        if (c->words[i][length] != '=' || length >= sizeof key)
            continue;
        memcpy(key, c->words[i], length);
        key[length] = '\0';
        if (sc_system_field(c->system, key) == field)
            return true;
    }
    return false;
}

enum fields { FIELDS_ALL, FIELDS_NUMBERS, FIELDS_NAMES };

static void add_fields(const struct completion *c, enum fields which, const char *end)
{
    for (size_t i = 0; c->system != NULL && i < c->system->field_count; i++) {
        const struct sc_field *const field = &c->system->fields[i];
        const bool number = field->kind == SC_REAL || field->kind == SC_INTEGER;
        if (which != FIELDS_ALL && number != (which == FIELDS_NUMBERS))
            continue;
        if (*end == '\0' || !is_given(c, field))
            add(c, field->key, end, field->help);
    }
}

/* Some row before the i-th has the tag. */
static bool is_tag_before(const struct completion *c, const struct sc_field *field, size_t i,
                          const char *tag)
{
    bool seen = false;
    for (size_t j = 0; j < i && !seen; j++)
        seen = sc_is_word_of(preset_at(c->resolver, field, j)->tags, tag);
    return seen;
}

static void add_tags(const struct completion *c, const struct sc_field *field)
{
    for (size_t i = 0; i < preset_count(c->resolver, field); i++) {
        char *const tags = strdup(preset_at(c->resolver, field, i)->tags);
        char *rest = NULL;
        for (char *tag = tags != NULL ? strtok_r(tags, " ", &rest) : NULL; tag != NULL;
             tag = strtok_r(NULL, " ", &rest)) {
            char name[64];
            (void)snprintf(name, sizeof name, "@%s", tag);
            if (!is_tag_before(c, field, i, tag))
                add(c, name, "", "every row with this tag");
        }
        free(tags);
    }
}

static void add_values(struct completion *c, const struct sc_field *field)
{
    keep_list(c);
    for (size_t i = 0; field->kind == SC_CHOICE && i < field->choice_count; i++)
        add(c, sc_field_choice(field, i)->name, "", sc_field_choice(field, i)->help);
    if (field->kind == SC_PRESET) {
        for (size_t i = 0; i < preset_count(c->resolver, field); i++)
            add(c, preset_at(c->resolver, field, i)->name, "", NULL);
        add_tags(c, field);
        add_files(c);
    }
    if (field->kind == SC_CHOICE || (field->kind == SC_PRESET && field->table != NULL))
        add(c, "all", "", "every value");
}

static void add_keys(struct completion *c)
{
    char key[64];
    struct binding binding;
    const size_t length = strcspn(c->current, "=");
    if (c->resolver == NULL)
        return;
    if (c->current[length] != '=') {
        add_fields(c, FIELDS_ALL, "=");
        return;
    }
    if (length >= sizeof key)
        return;
    memcpy(key, c->current, length);
    key[length] = '\0';
    c->kept = length + 1;
    if (resolver_bind(c->resolver, key, &binding, NULL))
        add_values(c, binding.field);
}

/* ---- values of options ---- */

static void add_metric(const struct completion *c, const struct sc_metric *metric, bool words)
{
    if (words || !metric->text)
        add(c, metric->column, "", metric->help);
}

static void add_metrics_of(const struct completion *c, bool words)
{
    for (size_t i = 0; c->system != NULL && i < c->system->metric_count; i++)
        add_metric(c, &c->system->metrics[i], words);
    for (size_t i = 0; c->system != NULL && i < CALIBRATION_METRICS; i++)
        add_metric(c, &calibration_metrics[i], words);
}

/* Also what a condition begins with. */
static void add_metrics(struct completion *c)
{
    add_metrics_of(c, false);
}

static void add_formats(struct completion *c)
{
    add_items(c, emit_format_names);
}

static void add_key_names(struct completion *c)
{
    keep_list(c);
    add_fields(c, FIELDS_ALL, "");
}

static void add_numbers(struct completion *c)
{
    add_fields(c, FIELDS_NUMBERS, "");
}

static void add_names(struct completion *c)
{
    add_fields(c, FIELDS_NAMES, "");
}

static void add_ranges(struct completion *c)
{
    add_fields(c, FIELDS_NUMBERS, "=");
}

static void add_columns(struct completion *c)
{
    keep_list(c);
    add_metrics_of(c, true);
    add_fields(c, FIELDS_ALL, "");
}

/* What an option takes, by the word that --help has for it, and, where that is not enough, by
 * its own name. */
static const struct {
    const char *argument, *option;
    void (*add)(struct completion *c);
} arguments[] = {
    { "FILE", NULL, add_files },
    { "DIR", NULL, add_files },
    { "FORMAT", NULL, add_formats },
    { "KEY", "find", add_numbers },
    { "KEY", "over", add_names },
    { "KEYS", NULL, add_key_names },
    { "METRIC", NULL, add_metrics },
    { "CONDITIONS", NULL, add_metrics },
    { "[KEY=]LOW:HIGH", NULL, add_ranges },
    { "LIST", NULL, add_columns },
};

static void add_argument(struct completion *c, const struct option_row *row)
{
    if (strchr(row->argument, '|') != NULL)
        add_items(c, row->argument);
    for (size_t i = 0; i < sizeof arguments / sizeof arguments[0]; i++)
        if (strcmp(arguments[i].argument, row->argument) == 0 &&
            (arguments[i].option == NULL || strcmp(arguments[i].option, row->name) == 0))
            arguments[i].add(c);
}

static void add_options(struct completion *c)
{
    const char *value = NULL;
    const struct option_row *const rows = c->command->options;
    const struct option_row *const row = options_row(rows, c->command->option_count, c->current,
                                                     &value);
    if (row != NULL && row->argument != NULL && value != NULL) {
        c->kept = (size_t)(value - c->current);
        add_argument(c, row);
        return;
    }
    for (size_t i = 0; i < c->command->option_count; i++) {
        struct text name = { 0 };
        text_printf(&name, "--%s", rows[i].name);
        if (!name.failed)
            add(c, name.bytes, "", rows[i].help);
        text_fini(&name);
    }
}

/* ---- words ---- */

/* Word `position` of the usage, of those that are neither options nor their values; the last
 * one when it is repeated. */
static size_t usage_word(const struct command *command, size_t position, const char **word)
{
    const char *text = command->usage;
    size_t length = 0;
    *word = "";
    for (size_t i = 0; *text != '\0'; text += length + strspn(text + length, " ")) {
        length = strcspn(text, " ");
        if (*text == '-') { /* its value goes with it */
            text += length + strspn(text + length, " ");
            length = strcspn(text, " ");
            continue;
        }
        *word = text;
        const bool repeats = length > 3 && strncmp(text + length - 3, "...", 3) == 0;
        if (i++ == position || repeats)
            return length;
    }
    return 0;
}

static bool says(const char *word, size_t length, const char *what)
{
    const size_t brackets = *word == '[';
    return strncmp(word + brackets, what, strlen(what)) == 0 && length >= brackets + strlen(what);
}

static bool takes_keys(const struct command *command)
{
    return strstr(command->usage, "key=value") != NULL;
}

static void add_systems(struct completion *c)
{
    for (size_t i = 0; i < sc_system_count; i++)
        add(c, sc_systems[i]->name, "", sc_systems[i]->title);
}

static void add_word(struct completion *c)
{
    const char *word = NULL;
    const size_t length = usage_word(c->command, c->word_count, &word);
    if (c->word_count == 0 && c->command->first != NULL)
        for (size_t i = 0; c->command->first(i) != NULL; i++)
            add(c, c->command->first(i), "", NULL);
    else if (says(word, length, "SYSTEM"))
        add_systems(c);
    else if (says(word, length, "FILE") || says(word, length, "TRACE"))
        add_files(c);
    if (takes_keys(c->command))
        add_keys(c);
}

/* Words before the current one: those of options are taken out, and the system is found. */
static void read_words(struct completion *c, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *const word = words[i];
        const char *value = NULL, *usage = NULL;
        const struct option_row *const row = options_row(c->command->options,
                                                         c->command->option_count, word, &value);
        if (row != NULL && row->argument != NULL && value == NULL) {
            i++;
            value = i < count ? words[i] : NULL;
            c->awaited = value == NULL ? row : NULL;
        }
        if (row != NULL && row->offset == offsetof(struct options, data) && value != NULL)
            c->data = value;
        if (row != NULL || (*word == '-' && word[1] != '\0'))
            continue;
        const size_t length = usage_word(c->command, c->word_count, &usage);
        if (c->system == NULL && says(usage, length, "SYSTEM"))
            c->system = sc_system_find(word);
        c->words[c->word_count++] = word;
    }
}

static void add_commands(struct completion *c, const struct command *const *commands, size_t count,
                         bool helped)
{
    for (size_t i = 0; i < count; i++)
        add(c, commands[i]->name, "", commands[i]->summary);
    if (helped)
        return;
    add(c, "help", "", "explains a command");
    if (*c->current == '-') {
        add(c, "--help", "", "what there is");
        add(c, "--version", "", NULL);
    }
}

static void add_for_command(struct completion *c, const char *const *words, size_t count)
{
    struct problem ignored;
    read_words(c, words, count);
    c->catalog = catalog_create(c->data);
    if (c->system != NULL && c->catalog != NULL)
        c->resolver = resolver_create(c->system, c->catalog, &ignored);
    if (c->awaited != NULL)
        add_argument(c, c->awaited);
    else if (*c->current == '-')
        add_options(c);
    else
        add_word(c);
    resolver_destroy(c->resolver);
    catalog_destroy(c->catalog);
}

void complete_words(const struct command *const *commands, size_t command_count,
                    const char *const *words, size_t count, const char *data_directory,
                    struct text *out)
{
    struct completion c = { .current = count > 0 ? words[count - 1] : "",
                            .words = calloc(count + 1, sizeof *c.words),
                            .data = data_directory,
                            .out = out };
    const bool helped = count == 2 && strcmp(words[0], "help") == 0;
    for (size_t i = 0; count > 1 && i < command_count; i++)
        if (strcmp(commands[i]->name, words[0]) == 0)
            c.command = commands[i];
    if (c.words == NULL)
        out->failed = true;
    else if (count <= 1 || helped)
        add_commands(&c, commands, command_count, helped);
    else if (c.command != NULL)
        add_for_command(&c, words + 1, count - 2);
    free(c.words);
}
