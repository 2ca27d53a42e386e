/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "manual.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "answer.h"
#include "calibration.h"
#include "describe.h"
#include "preset.h"
#include "scenario.h"

/* Characters that roff would take for its own, or print as what cannot be
 * copied to a shell. */
static const struct {
    char plain;
    const char *escaped;
} escapes[] = {
    { '\\', "\\e" },  { '-', "\\-" },   { '\'', "\\(aq" },
    { '`', "\\(ga" }, { '^', "\\(ha" }, { '~', "\\(ti" },
};

static void add_character(struct text *out, char c)
{
    for (size_t i = 0; i < sizeof escapes / sizeof escapes[0]; i++)
        if (escapes[i].plain == c) {
            text_add_string(out, escapes[i].escaped);
            return;
        }
    text_add_char(out, c);
}

/* Text as it stands; a point at the start of a line is no request. */
static void add_plain(struct text *out, const char *text, size_t length)
{
    const bool starts_line = out->length == 0 || out->bytes[out->length - 1] == '\n';
    if (starts_line && length > 0 && *text == '.')
        text_add_string(out, "\\&");
    for (size_t i = 0; i < length; i++)
        add_character(out, text[i]);
}

static void add_string(struct text *out, const char *text)
{
    add_plain(out, text, strlen(text));
}

/* One line in a font, B or I. */
static void add_in_font(struct text *out, char font, const char *text)
{
    text_printf(out, "\\f%c", font);
    add_string(out, text);
    text_add_string(out, "\\fR");
}

static void add_heading(struct text *out, const char *request, const char *title)
{
    text_printf(out, ".%s ", request);
    add_string(out, title);
    text_add_char(out, '\n');
}

/* A tagged paragraph: the tag in bold, then the text. */
static void add_item(struct text *out, const char *tag, const char *text)
{
    text_add_string(out, ".TP\n");
    add_in_font(out, 'B', tag);
    text_add_char(out, '\n');
    add_string(out, text);
    text_add_char(out, '\n');
}

/* Lines of --help that belong together: prose, or an example, whose lines begin with blanks. */
struct block {
    const char *text;
    size_t length;
    bool example;
};

static bool next_block(const char **text, struct block *block)
{
    *text += strspn(*text, "\n");
    *block = (struct block){ .text = *text, .example = **text == ' ' };
    while (**text != '\0' && **text != '\n' && (**text == ' ') == block->example) {
        const size_t length = strcspn(*text, "\n");
        *text += length + ((*text)[length] == '\n');
    }
    block->length = (size_t)(*text - block->text);
    return block->length > 0;
}

/* Prose is filled, an example keeps its lines. */
static void add_block(struct text *out, const struct block *block)
{
    text_add_string(out, block->example ? ".in +2n\n.nf\n" : "");
    for (const char *line = block->text; line < block->text + block->length;) {
        const size_t length = strcspn(line, "\n");
        const size_t indent = strncmp(line, "  ", 2) == 0 ? 2 : 0;
        add_plain(out, line + indent, length - indent);
        text_add_char(out, '\n');
        line += length + (line[length] == '\n');
    }
    text_add_string(out, block->example ? ".fi\n.in\n" : "");
}

static void add_paragraphs(struct text *out, const char *text)
{
    struct block block;
    for (bool first = true; next_block(&text, &block); first = false) {
        text_add_string(out, first ? "" : ".PP\n");
        add_block(out, &block);
    }
}

static void add_options(struct text *out, const struct command *command)
{
    for (size_t i = 0; i < command->option_count; i++) {
        const struct option_row *row = &command->options[i];
        if (row->offset == offsetof(struct options, help))
            continue; /* it says "this text" */
        text_add_string(out, ".TP\n");
        if (row->letter != '\0')
            text_printf(out, "\\fB\\-%c\\fR, ", row->letter);
        text_add_string(out, "\\fB\\-\\-");
        add_string(out, row->name);
        text_add_string(out, "\\fR");
        if (row->argument != NULL) {
            text_add_char(out, ' ');
            add_in_font(out, 'I', row->argument);
        }
        text_add_char(out, '\n');
        add_string(out, row->help);
        text_add_char(out, '\n');
    }
}

static void add_commands(struct text *out, const struct command *const *commands, size_t count)
{
    add_heading(out, "SH", "COMMANDS");
    text_add_string(out, "Each has a page of its own.\n");
    for (size_t i = 0; i < count; i++) {
        text_printf(out, ".TP\n\\fBstallcast\\-%s\\fR(1)\n", commands[i]->name);
        add_string(out, commands[i]->summary);
        text_add_char(out, '\n');
    }
}

/* ---- keys of a system ---- */

static void add_default(struct text *out, const struct sc_system *system,
                        const struct sc_field *field)
{
    const struct sc_field *preset = preset_that_sets(system, field);
    if (preset != NULL && preset->preset != NULL)
        text_printf(out, "that of %s, else ", preset->key);
    if (field->kind == SC_CHOICE && field->preset == NULL)
        text_add_string(out, sc_field_choice(field, 0)->name);
    else if (field->kind == SC_CHOICE || field->kind == SC_PRESET)
        text_add_string(out, field->preset != NULL ? field->preset : "none");
    else if (!isnan(field->fallback))
        scenario_quantity(field->fallback, field->dimension, out);
    else
        text_add_string(out, field->derived);
}

/* Values whose origin is worth a word; the rest are the user's to choose. */
static const char *const origins[] = {
    [SC_SETTING] = NULL,
    [SC_FACT] = "A fact",
    [SC_ANCHOR] = "An anchor, fitted once to published figures",
    [SC_CALIBRATED] = "Calibrated against the simulator",
    [SC_DERIVED] = NULL,
};

static bool is_table(const struct sc_system *system, const char *name)
{
    for (size_t i = 0; i < system->field_count; i++)
        if (system->fields[i].kind == SC_PRESET && system->fields[i].table != NULL &&
            strcmp(system->fields[i].table, name) == 0)
            return true;
    return false;
}

static void add_origin(struct text *out, const struct sc_system *system,
                       const struct sc_field *field)
{
    const char *origin = origins[field->provenance];
    if (origin == NULL || field->kind == SC_PRESET)
        return;
    text_printf(out, " %s", origin);
    if (field->source != NULL)
        text_printf(out, "%s%s", is_table(system, field->source) ? " of the table " : ": ",
                    field->source);
    text_add_char(out, '.');
}

/* "Help; default 20 us; 100 ns to 10 ms.  A fact: where from." */
static void describe_field(const struct sc_system *system, const struct sc_field *field,
                           struct text *line)
{
    text_add_string(line, field->help);
    if (sc_field_required(field)) {
        text_add_string(line, "; required");
    } else {
        text_add_string(line, "; default ");
        add_default(line, system, field);
    }
    if (field->kind == SC_PRESET) {
        if (field->table != NULL)
            text_printf(line, "; 'stallcast list %s' shows them", field->table);
    } else if (field->kind != SC_CHOICE) {
        text_add_string(line, "; ");
        describe_range(field, line);
    }
    text_add_char(line, '.');
    add_origin(line, system, field);
    if (field->aliases != NULL)
        text_printf(line, " Also written: %s.", field->aliases);
}

static void add_choices(struct text *out, const struct sc_field *field)
{
    text_add_string(out, ".RS\n");
    for (size_t i = 0; i < field->choice_count; i++) {
        const struct sc_choice *choice = sc_field_choice(field, i);
        add_item(out, choice->name, choice->help != NULL ? choice->help : "");
    }
    text_add_string(out, ".RE\n");
}

static void add_fields(struct text *out, const struct sc_system *system)
{
    for (size_t i = 0; i < system->field_count; i++) {
        const struct sc_field *field = &system->fields[i];
        struct text line = { 0 };
        describe_field(system, field, &line);
        out->failed = out->failed || line.failed;
        add_item(out, field->key, line.failed ? "" : line.bytes);
        text_fini(&line);
        if (field->kind == SC_CHOICE)
            add_choices(out, field);
    }
}

static void add_system(struct text *out, const struct sc_system *system)
{
    struct text title = { 0 };
    text_printf(&title, "SYSTEM %s", system->name);
    out->failed = out->failed || title.failed;
    add_heading(out, "SH", title.failed ? "" : title.bytes);
    text_fini(&title);
    add_string(out, system->title);
    text_add_string(out, ": ");
    add_string(out, system->question);
    text_add_string(out, "\n.PP\nSource: ");
    add_string(out, system->source);
    text_add_string(out, ".\n");
    add_heading(out, "SS", "Keys");
    add_fields(out, system);
    add_heading(out, "SS", "Columns of the answer");
    for (size_t i = 0; i < system->metric_count; i++)
        add_item(out, system->metrics[i].column, system->metrics[i].help);
    for (size_t i = 0; i < CALIBRATION_METRICS; i++)
        add_item(out, calibration_metrics[i].column, calibration_metrics[i].help);
    for (size_t i = 0; i < REPEAT_METRICS; i++)
        add_item(out, repeat_metrics[i].column, repeat_metrics[i].help);
}

/* ---- what belongs to all systems ---- */

static void add_grammar(struct text *out)
{
    add_heading(out, "SH", "SCENARIOS");
    add_paragraphs(
        out, "A scenario is a set of key=value pairs: on the command line, or one row of a CSV "
             "file.  A key that is not given has its default.  A key given on the command "
             "line stands over what a preset (model, gpu, flash) says of it.\n"
             "\n"
             "A column of a CSV file sets a key when its header is the key, with the unit "
             "of bare numbers if need be: buffer, buffer_MB, \"buffer (MB)\" or \"buffer [MB]\".  "
             "A cell may carry a unit of its own.\n"
             "\n"
             "model=PATH.json reads the config.json of a model on Hugging Face; gpu=FILE:ROW and "
             "flash=FILE:ROW read a row of a CSV file with the columns of 'stallcast list "
             "gpus' or 'stallcast list flash', of which it needs only some.\n");
    add_heading(out, "SH", "UNITS");
    text_add_string(out, "Case matters, MB is 10^6 bytes and MiB 2^20.\n");
    for (int d = 0; d < SC_DIMENSIONS; d++) {
        char accepted[SC_UNITS_ACCEPTED_MAX];
        (void)sc_units_accepted((enum sc_dimension)d, accepted);
        if (*accepted != '\0')
            add_item(out, sc_dimension_word((enum sc_dimension)d), accepted);
    }
}

static void add_exit_status(struct text *out)
{
    add_heading(out, "SH", "EXIT STATUS");
    add_item(out, "0", "fine");
    add_item(out, "1",
             "the answer is no: a published figure misses its target, or some rows of a "
             "file are bad");
    add_item(out, "2", "usage, or unreadable input");
}

static void add_environment(struct text *out, bool tables)
{
    add_heading(out, "SH", "ENVIRONMENT");
    if (tables)
        add_item(out, "STALLCAST_DATA",
                 "directory of tables that take the place of the built-in ones; "
                 "--data goes before it");
    add_item(out, "NO_COLOR", "if set and not empty, no colour on a terminal either");
}

static void add_surroundings(struct text *out)
{
    add_exit_status(out);
    add_environment(out, true);
    add_heading(out, "SH", "FILES");
    text_add_string(out,
                    "The tables are built into the program.  A directory given with \\-\\-data or "
                    "STALLCAST_DATA holds files of the same names:\n");
    add_item(out, "gpus.csv, models.csv, flash.csv", "presets, one row each, with their sources");
    add_item(out, "kernels.csv", "measured kernel launches of some models on some GPUs");
    add_item(out, "prefetch-kernels.csv", "kernels described by how they load, for prefetch");
    add_item(out, "params/SYSTEM.csv", "calibrations: coefficients and how wide answers are");
    add_item(out, "published/SYSTEM.csv", "figures that 'stallcast validate SYSTEM' compares with");
    add_heading(out, "SH", "EXAMPLES");
    add_paragraphs(out, "  stallcast estimate hbf model=llama-70b policy=all\n"
                        "  stallcast estimate hbf model=llama-70b buffer=8MB:64MB:*2\n"
                        "  stallcast explain hbf model=llama-70b policy=slipstream buffer=16MB\n"
                        "  stallcast estimate hbf --from plan.csv --format csv > answers.csv\n"
                        "  stallcast estimate stream warps_per_sm=1:64:*2\n"
                        "  stallcast validate hbf\n");
}

static void add_title(struct text *out, const char *name)
{
    text_add_string(out, ".TH STALLCAST");
    for (const char *c = name; *c != '\0'; c++)
        text_add_char(out, (char)toupper((unsigned char)*c));
    text_add_string(out, " 1 \"\" \"stallcast " SC_VERSION "\" \"User Commands\"\n.nh\n.ad l\n");
}

void manual_write(const struct command *const *commands, size_t command_count, struct text *out)
{
    add_title(out, "");
    add_heading(out, "SH", "NAME");
    text_add_string(out,
                    "stallcast \\- forecast how much a GPU kernel slows down when its data is far, "
                    "slow or small\n");
    add_heading(out, "SH", "SYNOPSIS");
    text_add_string(
        out, "\\fBstallcast\\fR \\fICOMMAND\\fR [\\fISYSTEM\\fR] [\\fIkey\\fR=\\fIvalue\\fR ...] "
             "[\\fIoptions\\fR]\n");
    add_heading(out, "SH", "DESCRIPTION");
    text_add_string(
        out, "Forecasts how much a GPU kernel slows down when its data sits in a far, slow or "
             "small memory, and why.  Answers come from closed forms, about a microsecond "
             "each.  A system is a question with its keys and its closed form:\n");
    for (size_t i = 0; i < sc_system_count; i++)
        add_item(out, sc_systems[i]->name, sc_systems[i]->title);
    add_commands(out, commands, command_count);
    add_grammar(out);
    for (size_t i = 0; i < sc_system_count; i++)
        add_system(out, sc_systems[i]);
    add_surroundings(out);
}

/* ---- the page of a command ---- */

static bool takes(const struct command *command, size_t offset)
{
    for (size_t i = 0; i < command->option_count; i++)
        if (command->options[i].offset == offset)
            return true;
    return false;
}

/* Each line calls the program: it belongs among the examples. */
static bool is_call(const struct block *block)
{
    bool calls = block->example;
    for (const char *line = block->text; calls && line < block->text + block->length;) {
        const char *const end = strchr(line, '\n');
        const char *const call = strstr(line, "stallcast ");
        calls = call != NULL && (end == NULL || call < end);
        line = end != NULL ? end + 1 : block->text + block->length;
    }
    return calls;
}

/* The details of --help but for the calls; what led to these with a colon ends there. */
static void add_description(struct text *out, const struct command *command)
{
    const char *text = command->details != NULL ? command->details : "";
    struct block block;
    add_heading(out, "SH", "DESCRIPTION");
    const size_t start = out->length;
    while (next_block(&text, &block)) {
        if (is_call(&block)) {
            if (!out->failed && out->length > start + 1 && out->bytes[out->length - 2] == ':')
                out->bytes[out->length - 2] = '.';
            continue;
        }
        text_add_string(out, out->length > start ? ".PP\n" : "");
        add_block(out, &block);
    }
    text_add_string(out, out->length > start ? ".PP\n" : "");
    text_add_string(out, "Systems, their keys, the grammar of scenarios and units are in "
                         "\\fBstallcast\\fR(1).\n");
}

static void add_files(struct text *out, const struct command *command)
{
    add_heading(out, "SH", "FILES");
    text_add_string(out, takes(command, offsetof(struct options, output))
                             ? "What is written to a file appears there whole or not at all.\n"
                             : "None is written.\n");
    if (takes(command, offsetof(struct options, data)))
        add_item(out, "DIR/*.csv",
                 "tables as stallcast(1) lists them, in the directory of --data or STALLCAST_DATA; "
                 "without either they are those built into the program");
    if (takes(command, offsetof(struct options, params)))
        add_item(out, "params/SYSTEM.csv",
                 "the calibration that comes with the system, unless --params names another");
}

static void add_examples(struct text *out, const struct command *command)
{
    const char *text = command->details != NULL ? command->details : "";
    struct block block;
    bool first = true;
    add_heading(out, "SH", "EXAMPLES");
    while (next_block(&text, &block)) {
        if (!is_call(&block))
            continue;
        text_add_string(out, first ? "" : ".PP\n");
        add_block(out, &block);
        first = false;
    }
}

void manual_write_command(const struct command *command, struct text *out)
{
    struct text name = { 0 };
    text_printf(&name, "-%s", command->name);
    add_title(out, name.failed ? "" : name.bytes);
    add_heading(out, "SH", "NAME");
    text_printf(out, "stallcast\\%s \\- ", name.failed ? "" : name.bytes);
    text_fini(&name);
    add_string(out, command->summary);
    text_add_char(out, '\n');
    add_heading(out, "SH", "SYNOPSIS");
    text_printf(out, "\\fBstallcast %s\\fR ", command->name);
    add_in_font(out, 'I', command->usage);
    text_add_char(out, '\n');
    add_description(out, command);
    add_heading(out, "SH", "OPTIONS");
    add_options(out, command);
    add_exit_status(out);
    add_environment(out, takes(command, offsetof(struct options, data)));
    add_files(out, command);
    add_examples(out, command);
    add_heading(out, "SH", "SEE ALSO");
    text_add_string(out, "\\fBstallcast\\fR(1)\n");
}
