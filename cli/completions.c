/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stallcast completions: the scripts that make shells ask the program what may come next. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "embedded.h"
#include "output.h"

static const char prefix[] = "../cli/stallcast.";

/* Script i of those inside the program, or NULL. */
static const struct sc_embedded *script_at(size_t i)
{
    for (size_t f = 0; f < sc_embedded_count; f++)
        if (strncmp(sc_embedded_files[f].name, prefix, strlen(prefix)) == 0 && i-- == 0)
            return &sc_embedded_files[f];
    return NULL;
}

static const char *shell_name(size_t i)
{
    const struct sc_embedded *const script = script_at(i);
    return script != NULL ? script->name + strlen(prefix) : NULL;
}

static const char *shell_at(unsigned long i, const void *context)
{
    (void)context;
    return shell_name(i);
}

static const struct sc_embedded *find_script(const char *const *words, size_t word_count,
                                             struct problem *problem)
{
    size_t count = 0;
    for (; shell_name(count) != NULL; count++)
        if (word_count == 1 && strcmp(shell_name(count), words[0]) == 0)
            return script_at(count);
    const char *const nearest = word_count == 1 ? problem_nearest(words[0], shell_at, count, NULL)
                                                : NULL;
    if (word_count != 1)
        (void)problem_set(problem, "completions: expected a shell: completions bash");
    else
        (void)problem_set(problem, "completions: no script for '%.60s'%s%s%s", words[0],
                          nearest != NULL ? ": did you mean "
                                          : ": completions --help shows the shells",
                          nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
    return NULL;
}

static int completions(const struct command *command, const struct options *options,
                       const char *const *words, size_t word_count, struct catalog *catalog)
{
    struct problem problem;
    struct output output;
    (void)command;
    (void)catalog;
    const struct sc_embedded *const script = find_script(words, word_count, &problem);
    if (script == NULL || !output_open(&output, options->output, &problem))
        return command_fail(&problem);
    if (!output_write(&output, (const char *)script->bytes, script->size, &problem)) {
        output_abandon(&output);
        return command_fail(&problem);
    }
    return output_commit(&output, &problem) ? EXIT_FINE : command_fail(&problem);
}

static const struct option_row options[] = {
    OPTION(output, 'o', "FILE", "write there, whole or not at all"),
    OPTION(help, 'h', NULL, "this text"),
};

const struct command command_completions = {
    .name = "completions",
    .usage = "SHELL [options]",
    .summary = "a script that completes command lines in bash, fish or zsh",
    .details =
        "Commands, systems, options, keys of the system at hand, and values of choices and presets:\n"
        "whatever the program knows, with --data what is there.  `make install` puts the scripts where\n"
        "the shells look for them; without it:\n\n"
        "  eval \"$(stallcast completions bash)\"                        # in ~/.bashrc\n"
        "  stallcast completions fish -o ~/.config/fish/completions/stallcast.fish\n"
        "  stallcast completions zsh -o ~/.zfunc/_stallcast              # a folder of $fpath\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .first = shell_name,
    .run = completions,
};
