/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "filter.h"

#include <stdatomic.h>
#include <stdlib.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

struct filter {
    pcre2_code *code; /* NULL: keeps everything */
    pcre2_match_context *context;
    atomic_bool gave_up;
};

/* Enough for any honest pattern on one row, little enough to end soon. */
enum { MATCH_LIMIT = 1000000, DEPTH_LIMIT = 10000 };

struct filter *filter_create(const char *pattern, struct problem *problem)
{
    struct filter *filter = calloc(1, sizeof *filter);
    if (filter == NULL) {
        (void)problem_set(problem, "out of memory");
        return NULL;
    }
    if (pattern == NULL)
        return filter;
    int code = 0;
    PCRE2_SIZE offset = 0;
    filter->code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, 0, &code, &offset,
                                 NULL);
    filter->context = pcre2_match_context_create(NULL);
    if (filter->code == NULL) {
        PCRE2_UCHAR message[128];
        (void)pcre2_get_error_message(code, message, sizeof message);
        (void)problem_set(problem, "--only: %s, at letter %zu of '%.80s'", (const char *)message,
                          (size_t)offset + 1, pattern);
        filter_destroy(filter);
        return NULL;
    }
    if (filter->context == NULL) {
        (void)problem_set(problem, "out of memory");
        filter_destroy(filter);
        return NULL;
    }
    (void)pcre2_set_match_limit(filter->context, MATCH_LIMIT);
    (void)pcre2_set_depth_limit(filter->context, DEPTH_LIMIT);
    return filter;
}

void filter_destroy(struct filter *filter)
{
    if (filter == NULL)
        return;
    pcre2_code_free(filter->code);
    pcre2_match_context_free(filter->context);
    free(filter);
}

bool filter_keeps(struct filter *filter, const char *text, size_t length)
{
    if (filter->code == NULL)
        return true;
    pcre2_match_data *match = pcre2_match_data_create_from_pattern(filter->code, NULL);
    if (match == NULL) {
        filter->gave_up = true;
        return false;
    }
    const int found = pcre2_match(filter->code, (PCRE2_SPTR)text, length, 0, 0, match,
                                  filter->context);
    pcre2_match_data_free(match);
    if (found < 0 && found != PCRE2_ERROR_NOMATCH)
        filter->gave_up = true;
    return found >= 0;
}

bool filter_gave_up(const struct filter *filter)
{
    struct problem problem;
    if (!filter->gave_up)
        return false;
    (void)problem_set(&problem, "--only: the pattern takes too long on some rows, left out for that");
    problem_print(&problem);
    return true;
}

bool filter_keeps_all(const struct filter *filter)
{
    return filter->code == NULL;
}
