/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sink.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FLUSH_BYTES = 65536 };

static bool one_char(const char *name, const char *text, const char *allowed, char *value,
                     struct problem *problem)
{
    if (text == NULL)
        return true;
    if (strcmp(text, "\\t") == 0 || strcmp(text, "tab") == 0)
        text = "\t";
    if (strlen(text) != 1 || strchr(allowed, *text) == NULL)
        return problem_set(problem, "--%s: expected one of %s, got '%.20s'", name,
                           strcmp(allowed, ".,") == 0 ? ". ," : ", ; tab |", text);
    *value = *text;
    return true;
}

bool sink_style(const struct options *options, struct emit_style *style, struct problem *problem)
{
    long digits = 0;
    const char *no_colour = getenv("NO_COLOR");
    const bool terminal = options->output == NULL && isatty(STDOUT_FILENO) != 0;
    *style = (struct emit_style){ .format = options->from != NULL ? EMIT_CSV : EMIT_TABLE,
                                  .delimiter = ',', .decimal = '.',
                                  /* Some of the stalls would be taken for all. */
                                  .bar = options->columns == NULL ||
                                         strcmp(options->columns, "all") == 0,
                                  .colour = terminal && (no_colour == NULL || *no_colour == '\0') };
    if (options->format != NULL && !emit_format_find(options->format, &style->format))
        return problem_set(problem, "--format: expected one of %s, got '%.40s'", emit_format_names,
                           options->format);
    style->digits = style->format == EMIT_TABLE || style->format == EMIT_MARKDOWN ? 4 : 6;
    if (options->digits != NULL) {
        if (strcmp(options->digits, "all") != 0 &&
            !options_whole("digits", options->digits, 1, 17, &digits, problem))
            return false;
        style->digits = (int)digits;
    }
    if (style->format == EMIT_CSV && options->delimiter == NULL && options->decimal != NULL &&
        *options->decimal == ',')
        style->delimiter = ';';
    return one_char("delimiter", options->delimiter, ",;\t|", &style->delimiter, problem) &&
           one_char("decimal", options->decimal, ".,", &style->decimal, problem);
}

bool sink_streams(const struct emit_style *style)
{
    return style->format != EMIT_TABLE && style->format != EMIT_MARKDOWN;
}

static bool flush(struct sink *sink, size_t above, struct problem *problem)
{
    if (sink->text.failed)
        return problem_set(problem, "out of memory");
    if (sink->text.length <= above)
        return true;
    const bool fine = output_write(&sink->output, sink->text.bytes, sink->text.length, problem);
    text_clear(&sink->text);
    return fine;
}

bool sink_open(struct sink *sink, const struct emit_style *style, const struct emit_column *columns,
               size_t column_count, const char *path, struct problem *problem)
{
    *sink = (struct sink){ .style = *style, .columns = columns, .column_count = column_count };
    if (!output_open(&sink->output, path, problem))
        return false;
    if (sink_streams(style))
        emit_begin(style, columns, column_count, &sink->text);
    return true;
}

/* A copy of the text that lives as long as the sink. */
static const char *keep_text(struct sink *sink, const char *text, size_t length)
{
    if (sink->arena_count == sink->arena_capacity) {
        const size_t capacity = sink->arena_capacity == 0 ? 64 : 2 * sink->arena_capacity;
        char **arena = realloc(sink->arena, capacity * sizeof *arena);
        if (arena == NULL)
            return NULL;
        sink->arena = arena;
        sink->arena_capacity = capacity;
    }
    char *copy = malloc(length + 1);
    if (copy == NULL)
        return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    sink->arena[sink->arena_count++] = copy;
    return copy;
}

static bool keep_row(struct sink *sink, const struct emit_cell *cells, struct problem *problem)
{
    if (sink->kept_rows == sink->kept_capacity) {
        const size_t capacity = sink->kept_capacity == 0 ? 64 : 2 * sink->kept_capacity;
        const size_t row = sink->column_count * sizeof *sink->kept;
        if (row == 0 || capacity > SIZE_MAX / row)
            return problem_set(problem, "out of memory");
        struct emit_cell *kept = realloc(sink->kept, capacity * row);
        if (kept == NULL)
            return problem_set(problem, "out of memory");
        sink->kept = kept;
        sink->kept_capacity = capacity;
    }
    struct emit_cell *row = sink->kept + sink->kept_rows * sink->column_count;
    for (size_t i = 0; i < sink->column_count; i++) {
        row[i] = cells[i];
        if (cells[i].kind == EMIT_TEXT) {
            row[i].text = keep_text(sink, cells[i].text, cells[i].length);
            if (row[i].text == NULL)
                return problem_set(problem, "out of memory");
        }
    }
    sink->kept_rows++;
    return true;
}

bool sink_row(struct sink *sink, const struct emit_cell *cells, struct problem *problem)
{
    const bool first = !sink->any;
    sink->any = true;
    if (!sink_streams(&sink->style))
        return keep_row(sink, cells, problem);
    emit_row(&sink->style, sink->columns, cells, sink->column_count, first, &sink->text);
    return flush(sink, FLUSH_BYTES, problem);
}

bool sink_text(struct sink *sink, const struct text *text, struct problem *problem)
{
    if (text->failed)
        return problem_set(problem, "out of memory");
    if (text->length == 0)
        return true;
    sink->any = true;
    return flush(sink, 0, problem) &&
           output_write(&sink->output, text->bytes, text->length, problem);
}

static void fini(struct sink *sink)
{
    for (size_t i = 0; i < sink->arena_count; i++)
        free(sink->arena[i]);
    free(sink->arena);
    free(sink->kept);
    text_fini(&sink->text);
    sink->arena = NULL;
    sink->kept = NULL;
    sink->arena_count = 0;
}

bool sink_close(struct sink *sink, struct problem *problem)
{
    if (sink_streams(&sink->style))
        emit_end(&sink->style, sink->any, &sink->text);
    else
        emit_table(&sink->style, sink->columns, sink->kept, sink->kept_rows, sink->column_count,
                   &sink->text);
    const bool flushed = flush(sink, 0, problem);
    if (!flushed)
        sink->output.failed = true;
    struct problem later;
    const bool committed = output_commit(&sink->output, flushed ? problem : &later);
    fini(sink);
    return flushed && committed;
}

void sink_abandon(struct sink *sink)
{
    output_abandon(&sink->output);
    fini(sink);
}
