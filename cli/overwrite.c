/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "overwrite.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "output.h"

static const struct written {
    const char *shown;
    size_t offset;
} written[] = {
    { "-o", offsetof(struct options, output) },      { "--plot", offsetof(struct options, plot) },
    { "--csv", offsetof(struct options, csv) },      { "--trace", offsetof(struct options, trace) },
    { "--record", offsetof(struct options, record) },
};
enum { WRITTEN = sizeof written / sizeof written[0] };

static const char *path_of(const struct options *options, const struct written *row)
{
    const char *path = NULL;
    memcpy(&path, (const char *)options + row->offset, sizeof path);
    return path;
}

bool overwrite_check(const struct options *options, const char *input, struct problem *problem)
{
    for (size_t i = 0; input != NULL && i < WRITTEN; i++)
        if (output_is_input(path_of(options, &written[i]), input))
            return problem_set(problem, "%s: %s would replace what is read", written[i].shown,
                               input);
    return true;
}

/* Standard output is for one of them too. */
static bool check_pairs(const struct options *options, struct problem *problem)
{
    for (size_t i = 0; i < WRITTEN; i++)
        for (size_t j = 0; j < i; j++) {
            const char *const one = path_of(options, &written[i]);
            const char *const other = path_of(options, &written[j]);
            if (one != NULL && other != NULL &&
                (strcmp(one, other) == 0 || output_is_input(one, other)))
                return problem_set(problem, "%s and %s: both are %s", written[i].shown,
                                   written[j].shown, one);
        }
    return true;
}

/* KEY=FILE.json, KEY=FILE.csv:ROW: the names that lists of them have. */
static bool check_value(const struct options *options, const char *value, struct problem *problem)
{
    while (*value != '\0') {
        char path[4096];
        const size_t length = strcspn(value, ",");
        const int size = snprintf(path, sizeof path, "%.*s", (int)length, value);
        value += length + (value[length] == ',');
        if (size < 0 || (size_t)size >= sizeof path || strpbrk(path, "./") == NULL)
            continue;
        char *const row = strrchr(path, ':');
        if (!overwrite_check(options, path, problem))
            return false;
        if (row != NULL)
            *row = '\0';
        if (row != NULL && !overwrite_check(options, path, problem))
            return false;
    }
    return true;
}

bool overwrite_check_line(const struct options *options, const char *const *words, size_t count,
                          struct problem *problem)
{
    for (size_t i = 0; i < count; i++) {
        const char *const equals = strchr(words[i], '=');
        if (equals != NULL && !check_value(options, equals + 1, problem))
            return false;
    }
    return check_pairs(options, problem) && overwrite_check(options, options->params, problem) &&
           overwrite_check(options, options->replay, problem);
}
