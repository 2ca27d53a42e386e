/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool store(struct options *options, const struct option_row *row, const char *value,
                  struct problem *problem)
{
    const size_t places = row->times ? OPTION_TIMES : 1;
    char *place = (char *)options + row->offset;
    for (size_t i = 0; i < places; i++, place += sizeof value) {
        const char *there = NULL;
        memcpy(&there, place, sizeof there);
        if (there == NULL) {
            memcpy(place, &value, sizeof value);
            return true;
        }
    }
    if (!row->times)
        return problem_set(problem, "--%s is given twice", row->name);
    return problem_set(problem, "--%s: more than %d of them", row->name, (int)OPTION_TIMES);
}

struct option_names {
    const struct option_row *rows;
};

static const char *name_at(unsigned long i, const void *context)
{
    const struct option_names *names = context;
    return names->rows[i].name;
}

static const struct option_row *find_long(const struct option_row *rows, size_t count,
                                          const char *name, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(rows[i].name, name, length) == 0 && rows[i].name[length] == '\0')
            return &rows[i];
    return NULL;
}

static const struct option_row *find_short(const struct option_row *rows, size_t count, char letter)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].letter != '\0' && rows[i].letter == letter)
            return &rows[i];
    return NULL;
}

const struct option_row *options_row(const struct option_row *rows, size_t row_count,
                                     const char *word, const char **value)
{
    const bool is_long = word[0] == '-' && word[1] == '-';
    const size_t length = is_long ? strcspn(word + 2, "=") : 0;
    const char *const rest = word + 2 + length;
    *value = NULL;
    if (word[0] != '-' || word[1] == '\0')
        return NULL;
    if (is_long)
        *value = *rest == '=' ? rest + 1 : NULL;
    else
        *value = *rest != '\0' ? rest : NULL;
    return is_long ? find_long(rows, row_count, word + 2, length)
                   : find_short(rows, row_count, word[1]);
}

static bool refuse_long(const struct option_row *rows, size_t count, const char *word, size_t length,
                        struct problem *problem)
{
    char name[64];
    const struct option_names names = { rows };
    const size_t kept = length < sizeof name ? length : sizeof name - 1;
    memcpy(name, word, kept);
    name[kept] = '\0';
    const char *nearest = problem_nearest(name, name_at, count, &names);
    if (nearest != NULL)
        return problem_set(problem, "no option --%s: did you mean --%s?", name, nearest);
    return problem_set(problem, "no option --%s: --help lists those there are", name);
}

/* "--name", "--name=value": the row, and the value if it is in the word. */
static const struct option_row *read_long(const struct option_row *rows, size_t count,
                                          const char *word, const char **value,
                                          struct problem *problem)
{
    const size_t length = strcspn(word + 2, "=");
    const struct option_row *row = find_long(rows, count, word + 2, length);
    if (row == NULL) {
        (void)refuse_long(rows, count, word + 2, length, problem);
        return NULL;
    }
    *value = word[2 + length] == '=' ? word + 3 + length : NULL;
    if (*value != NULL && row->argument == NULL) {
        (void)problem_set(problem, "--%s takes no value", row->name);
        return NULL;
    }
    return row;
}

/* "-o", "-ofile": the same. */
static const struct option_row *read_short(const struct option_row *rows, size_t count,
                                           const char *word, const char **value,
                                           struct problem *problem)
{
    const struct option_row *row = find_short(rows, count, word[1]);
    if (row == NULL) {
        (void)problem_set(problem, "no option %.60s: --help lists those there are", word);
        return NULL;
    }
    *value = word[2] != '\0' ? word + 2 : NULL;
    if (*value != NULL && row->argument == NULL) {
        (void)problem_set(problem, "-%c takes no value", row->letter);
        return NULL;
    }
    return row;
}

/* One option at argv[*i]; *i moves on past an argument in the next word. */
static bool parse_option(const struct option_row *rows, size_t row_count, int argc, char **argv,
                         int *i, struct options *options, struct problem *problem)
{
    const char *value = NULL;
    const struct option_row *row =
        (argv[*i][1] == '-' ? read_long : read_short)(rows, row_count, argv[*i], &value, problem);
    if (row == NULL)
        return false;
    if (row->argument == NULL)
        return store(options, row, "", problem);
    if (value == NULL && *i + 1 < argc)
        value = argv[++*i];
    /* An unset shell variable is no value. */
    if (value == NULL || *value == '\0')
        return problem_set(problem, "--%s needs a value: --%s %s", row->name, row->name,
                           row->argument);
    return store(options, row, value, problem);
}

bool options_parse(const struct option_row *rows, size_t row_count, int argc, char **argv,
                   struct options *options, const char **words, size_t *word_count,
                   struct problem *problem)
{
    bool only_words = false;
    *word_count = 0;
    for (int i = 0; i < argc; i++) {
        if (only_words || argv[i][0] != '-' || argv[i][1] == '\0')
            words[(*word_count)++] = argv[i];
        else if (strcmp(argv[i], "--") == 0)
            only_words = true;
        else if (!parse_option(rows, row_count, argc, argv, &i, options, problem))
            return false;
    }
    return true;
}

bool options_whole(const char *name, const char *text, long low, long high, long *value,
                   struct problem *problem)
{
    char *end;
    const char *digits = *text == '-' ? text + 1 : text;
    errno = 0;
    *value = strtol(text, &end, 10);
    /* strtol would skip blanks and take a plus sign. */
    if (errno != 0 || *digits < '0' || *digits > '9' || *end != '\0' || *value < low || *value > high)
        return problem_set(problem, "--%s: expected a whole number from %ld to %ld, got '%.40s'",
                           name, low, high, text);
    return true;
}

void options_describe(const struct option_row *rows, size_t row_count, struct text *out)
{
    for (size_t i = 0; i < row_count; i++) {
        struct text left = { 0 };
        if (rows[i].letter != '\0')
            text_printf(&left, "-%c, ", rows[i].letter);
        else
            text_add_string(&left, "    ");
        text_printf(&left, "--%s%s%s", rows[i].name, rows[i].argument != NULL ? " " : "",
                    rows[i].argument != NULL ? rows[i].argument : "");
        text_printf(out, "  %-24s %s\n", left.failed ? "?" : left.bytes, rows[i].help);
        text_fini(&left);
    }
}
