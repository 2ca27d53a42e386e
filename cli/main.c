/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stallcast: dispatch to commands, general help, exit codes. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "complete.h"
#include "manual.h"
#include "output.h"
#include "overwrite.h"

static const struct command *const commands[] = {
    &command_estimate,
    &command_explain,
    &command_list,
    &command_rank,
    &command_solve,
    &command_sensitivity,
    &command_simulate,
    &command_calibrate,
    &command_validate,
    &command_import,
    &command_compare,
    &command_fit,
    &command_plot,
    &command_mrc,
    &command_template,
    &command_completions,
};
static const size_t command_count = sizeof commands / sizeof commands[0];

int command_fail(const struct problem *problem)
{
    problem_print(problem);
    return EXIT_USAGE;
}

static const char *system_at(unsigned long i, const void *context)
{
    (void)context;
    return sc_systems[i]->name;
}

const struct sc_system *command_system(const struct command *command, const char *const *words,
                                       size_t word_count, struct problem *problem)
{
    if (word_count == 0) {
        (void)problem_set(problem, "%s: expected a system first: %s %s", command->name,
                          command->name, command->usage);
        return NULL;
    }
    const struct sc_system *system = sc_system_find(words[0]);
    if (system != NULL)
        return system;
    const char *nearest = problem_nearest(words[0], system_at, sc_system_count, NULL);
    (void)problem_set(problem, "no system '%.60s'%s%s%s", words[0],
                      nearest != NULL ? ": did you mean " : ": 'stallcast list systems' shows them",
                      nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
    return NULL;
}

static const char *command_at(unsigned long i, const void *context)
{
    (void)context;
    return commands[i]->name;
}

/* Text for the user is written like any result: a full disk is an error. */
static int print(struct text *text)
{
    struct output output;
    struct problem problem;
    const bool fine = !text->failed && output_open(&output, NULL, &problem) &&
                      output_write(&output, text->bytes, text->length, &problem) &&
                      output_commit(&output, &problem);
    if (text->failed)
        (void)problem_set(&problem, "out of memory");
    text_fini(text);
    return fine ? EXIT_FINE : command_fail(&problem);
}

static int print_help(void)
{
    struct text out = { 0 };
    text_add_string(&out, "usage: stallcast COMMAND [SYSTEM] [key=value ...] [options]\n\n"
                          "Forecasts how much a GPU kernel slows down when its data sits in a far, slow\n"
                          "or small memory, and why.\n\ncommands:\n");
    for (size_t i = 0; i < command_count; i++)
        text_printf(&out, "  %-11s %s\n", commands[i]->name, commands[i]->summary);
    text_add_string(&out, "\nsystems:\n");
    for (size_t i = 0; i < sc_system_count; i++)
        text_printf(&out, "  %-11s %s\n", sc_systems[i]->name, sc_systems[i]->title);
    text_add_string(&out,
                    "\n'stallcast COMMAND --help' explains a command, 'stallcast list fields SYSTEM' its\n"
                    "keys.  To begin with:\n\n"
                    "  stallcast estimate hbf model=llama-70b policy=all\n"
                    "  stallcast estimate hbf model=llama-70b buffer=8MB:64MB:*2\n"
                    "  stallcast explain hbf model=llama-70b policy=slipstream buffer=16MB\n"
                    "  stallcast estimate hbf --from plan.csv --format csv > answers.csv\n\n"
                    "exit status: 0 fine; 1 the answer is no, or some rows are bad; 2 usage or\n"
                    "unreadable input.\n");
    return print(&out);
}

static int print_command_help(const struct command *command)
{
    struct text out = { 0 };
    text_printf(&out, "usage: stallcast %s %s\n\n%s\n", command->name, command->usage,
                command->summary);
    if (command->details != NULL)
        text_printf(&out, "\n%s", command->details);
    text_add_string(&out, "\noptions:\n");
    options_describe(command->options, command->option_count, &out);
    return print(&out);
}

/* An empty variable is as good as none. */
static const char *data_directory(void)
{
    const char *directory = getenv("STALLCAST_DATA");
    return directory != NULL && *directory != '\0' ? directory : NULL;
}

static int run_command(const struct command *command, int argc, char **argv)
{
    struct problem problem;
    struct options options = { 0 };
    size_t word_count = 0;
    int code = EXIT_USAGE;
    const char **words = calloc((size_t)argc + 1, sizeof *words);
    struct catalog *catalog = NULL;
    if (words == NULL) {
        (void)problem_set(&problem, "out of memory");
        return command_fail(&problem);
    }
    if (!options_parse(command->options, command->option_count, argc, argv, &options, words,
                       &word_count, &problem)) {
        code = command_fail(&problem);
        goto done;
    }
    if (options.help != NULL) {
        code = print_command_help(command);
        goto done;
    }
    if (!overwrite_check_line(&options, words, word_count, &problem)) {
        code = command_fail(&problem);
        goto done;
    }
    catalog = catalog_create(options.data != NULL ? options.data : data_directory());
    if (catalog == NULL) {
        (void)problem_set(&problem, "out of memory");
        code = command_fail(&problem);
        goto done;
    }
    code = command->run(command, &options, words, word_count, catalog);
done:
    catalog_destroy(catalog);
    free(words);
    return code;
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < command_count; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static int refuse_command(const char *name)
{
    struct problem problem;
    const char *nearest = problem_nearest(name, command_at, command_count, NULL);
    if (nearest != NULL)
        (void)problem_set(&problem, "no command '%.60s': did you mean %s?", name, nearest);
    else
        (void)problem_set(&problem, "no command '%.60s': 'stallcast --help' lists them", name);
    return command_fail(&problem);
}

/* "help", "help COMMAND" */
static int help(const char *name)
{
    if (name == NULL)
        return print_help();
    const struct command *command = find_command(name);
    return command != NULL ? print_command_help(command) : refuse_command(name);
}

/* stallcast(1), or the page of a command. */
static int print_manual(const char *name)
{
    struct text out = { 0 };
    const struct command *command = name != NULL ? find_command(name) : NULL;
    if (name != NULL && command == NULL)
        return refuse_command(name);
    if (command != NULL)
        manual_write_command(command, &out);
    else
        manual_write(commands, command_count, &out);
    return print(&out);
}

/* What may follow the words of a command line, for shells; the last is being written. */
static int complete(const char *const *words, size_t count)
{
    struct text out = { 0 };
    complete_words(commands, command_count, words, count, data_directory(), &out);
    return print(&out);
}

int main(int argc, char **argv)
{
    struct problem problem;
    /* A reader that went away and a limit on the size of files are reported like
     * any other write error. */
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
    if (argc < 2) {
        (void)problem_set(&problem, "expected a command: 'stallcast --help' lists them");
        return command_fail(&problem);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0)
        return help(argv[2]);
    if (strcmp(argv[1], "--version") == 0) {
        struct text out = { 0 };
        text_printf(&out, "stallcast %s\n", SC_VERSION);
        return print(&out);
    }
    if (strcmp(argv[1], "--manual") == 0) /* for the Makefile */
        return print_manual(argv[2]);
    if (strcmp(argv[1], "--complete") == 0) /* for the completions of shells */
        return complete((const char *const *)argv + 2, (size_t)argc - 2);
    const struct command *command = find_command(argv[1]);
    return command != NULL ? run_command(command, argc - 2, argv + 2) : refuse_command(argv[1]);
}
