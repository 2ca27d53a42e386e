/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "read/import.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "read/import_private.h"

/* More special ones first: a log of UVMSmart is one of GPGPU-Sim too. */
const struct sc_import_kind *const sc_import_kinds[] = {
    &sc_import_uvmsmart, &sc_import_accelsim, &sc_import_dramsim3, &sc_import_ramulator2,
    &sc_import_mqsim,    &sc_import_ncu,      &sc_import_nsys,     &sc_import_nvprof,
};
const size_t sc_import_kind_count = SC_IMPORT_COUNT(sc_import_kinds);

/* clang-format off */
const struct sc_import_column sc_import_first_columns[SC_IMPORT_FIRST] = {
    [SC_IMPORT_FILE] = { .name = "file", .key = "-", .help = "where the row is from" },
    [SC_IMPORT_LINE] = { .name = "file_line", .key = "-", .help = "line on which it begins there; nothing for JSON" },
    [SC_IMPORT_FORMAT] = { .name = "format", .key = "-", .help = "the kind of file" },
    [SC_IMPORT_RUN_ENDED] = { .name = "run_ended", .key = "-",
        .help = "complete, stopped (by a limit) or truncated; nothing where the file does not tell" },
};
/* clang-format on */

enum {
    COLUMNS_MAX = 8192,
    SLOTS = 2 * COLUMNS_MAX, /* of the hash of names; a power of two */
    BUFFER_BYTES = 2 * SC_IMPORT_LINE_MAX,
    HEAD_BYTES = 64 * 1024, /* looked at to tell the kind */
    NAME_BYTES = 256
};

struct column {
    char *name;
    enum sc_dimension dimension;
};

struct input {
    char *name;
    const struct sc_import_kind *kind;
};

/* What a row begins with in the temporary file; cells follow, each with its text. */
struct row_head {
    uint64_t line, run, text_bytes;
    uint32_t file, cells;
};

struct cell_head {
    double number;
    uint32_t column, kind;
    uint64_t length; /* of the text behind it */
};

struct cell {
    enum sc_import_cell_kind kind;
    double number;
    size_t offset, length; /* in row_text */
};

struct sc_import {
    struct sc_import_options options;
    struct sc_pattern *keep, *name;

    struct column *columns;
    size_t column_count, column_capacity;
    uint16_t slots[SLOTS]; /* 1 + column */

    struct cell *row;
    size_t row_capacity;
    uint32_t *set; /* columns that the row has, in the order in which they were set */
    size_t set_count;
    char *row_text;
    size_t row_length, row_text_capacity;

    FILE *spool;
    char *cell_text;
    size_t cell_text_capacity;

    struct input *files;
    size_t file_count;
    const char **runs;
    size_t run_count, run_capacity;

    const struct sc_import_kind *kind;
    size_t *fixed; /* the column that each of the kind's is */
    size_t fixed_capacity;

    FILE *file;
    char *buffer;
    size_t begin, filled, line;
    bool end, cut, skip, long_line; /* skip: the rest of the last line */

    struct sc_import_outcome outcome;
    struct sc_import_error error;
    bool failed, ran;
    bool asked, kept; /* in this file: keys were held against --keep, one matched */
    bool named;       /* its name matches --name */
};

const struct sc_import_kind *sc_import_kind_find(const char *name)
{
    for (size_t i = 0; i < sc_import_kind_count; i++)
        if (strcmp(sc_import_kinds[i]->name, name) == 0)
            return sc_import_kinds[i];
    return NULL;
}

/* ---- remarks and failures ---- */

bool sc_import_fail(struct sc_import *import, size_t line, const char *format, ...)
{
    va_list arguments;
    if (import->failed)
        return false;
    import->failed = true;
    import->error.line = line;
    va_start(arguments, format);
    (void)vsnprintf(import->error.reason, sizeof import->error.reason, format, arguments);
    va_end(arguments);
    return false;
}

bool sc_import_failed(const struct sc_import *import)
{
    return import->failed;
}

static bool fail_memory(struct sc_import *import)
{
    return sc_import_fail(import, 0, "out of memory");
}

static void remark(struct sc_import *import, size_t line, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

static void remark(struct sc_import *import, size_t line, const char *format, va_list arguments)
{
    char text[SC_IMPORT_REASON];
    (void)vsnprintf(text, sizeof text, format, arguments);
    if (import->options.note != NULL)
        import->options.note(import->options.context, import->files[import->file_count - 1].name,
                             line, text);
}

void sc_import_note(struct sc_import *import, size_t line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    remark(import, line, format, arguments);
    va_end(arguments);
}

void sc_import_refuse(struct sc_import *import, size_t line, const char *format, ...)
{
    va_list arguments;
    import->outcome.refused++;
    va_start(arguments, format);
    remark(import, line, format, arguments);
    va_end(arguments);
}

/* ---- columns ---- */

static uint32_t hash_of(struct sc_piece name)
{
    uint32_t hash = 2166136261U; /* FNV-1a */
    for (size_t i = 0; i < name.length; i++)
        hash = (hash ^ (unsigned char)name.text[i]) * 16777619U;
    return hash;
}

static bool grow_columns(struct sc_import *import)
{
    const size_t capacity = import->column_capacity == 0 ? 128 : 2 * import->column_capacity;
    struct column *columns = realloc(import->columns, capacity * sizeof *columns);
    if (columns == NULL)
        return false;
    import->columns = columns;
    struct cell *row = realloc(import->row, capacity * sizeof *row);
    if (row == NULL)
        return false;
    import->row = row;
    uint32_t *set = realloc(import->set, capacity * sizeof *set);
    if (set == NULL)
        return false;
    import->set = set;
    import->column_capacity = capacity;
    return true;
}

/* The column of that name, made if there is none; SIZE_MAX after a failure. */
static size_t column_of(struct sc_import *import, struct sc_piece name, enum sc_dimension dimension)
{
    name.length = name.length < NAME_BYTES ? name.length : NAME_BYTES;
    size_t slot = hash_of(name) % SLOTS;
    for (; import->slots[slot] != 0; slot = (slot + 1) % SLOTS)
        if (sc_piece_is(name, import->columns[import->slots[slot] - 1].name))
            return import->slots[slot] - 1U;
    if (import->column_count == COLUMNS_MAX) {
        (void)sc_import_fail(import, import->line, "expected at most %d columns, got more%s",
                             (int)COLUMNS_MAX,
                             import->keep != NULL ? ": --keep takes too much" : "");
        return SIZE_MAX;
    }
    char *copy = malloc(name.length + 1);
    if (copy == NULL ||
        (import->column_count == import->column_capacity && !grow_columns(import))) {
        free(copy);
        (void)fail_memory(import);
        return SIZE_MAX;
    }
    /* A NUL in a name ends it. */
    memcpy(copy, name.text, name.length);
    copy[name.length] = '\0';
    import->columns[import->column_count] = (struct column){ copy, dimension };
    import->row[import->column_count] = (struct cell){ .kind = SC_IMPORT_NOTHING };
    import->slots[slot] = (uint16_t)++import->column_count;
    return import->column_count - 1;
}

size_t sc_import_column_count(const struct sc_import *import)
{
    return import->column_count;
}

const char *sc_import_column_name(const struct sc_import *import, size_t column)
{
    return import->columns[column].name;
}

enum sc_dimension sc_import_column_dimension(const struct sc_import *import, size_t column)
{
    return import->columns[column].dimension;
}

/* ---- the row ---- */

static struct cell *cell_at(struct sc_import *import, size_t column)
{
    struct cell *const cell = &import->row[column];
    if (cell->kind == SC_IMPORT_NOTHING)
        import->set[import->set_count++] = (uint32_t)column;
    return cell;
}

static void put_number(struct sc_import *import, size_t column, double value)
{
    if (column != SIZE_MAX && isfinite(value))
        *cell_at(import, column) = (struct cell){ .kind = SC_IMPORT_NUMBER, .number = value };
}

static void put_text(struct sc_import *import, size_t column, struct sc_piece text)
{
    if (column == SIZE_MAX || text.length == 0)
        return;
    if (import->row_length + text.length > import->row_text_capacity) {
        const size_t capacity = 2 * (import->row_length + text.length);
        char *grown = realloc(import->row_text, capacity);
        if (grown == NULL) {
            (void)fail_memory(import);
            return;
        }
        import->row_text = grown;
        import->row_text_capacity = capacity;
    }
    memcpy(import->row_text + import->row_length, text.text, text.length);
    *cell_at(import, column) = (struct cell){ .kind = SC_IMPORT_TEXT,
                                              .offset = import->row_length,
                                              .length = text.length };
    import->row_length += text.length;
}

void sc_import_set(struct sc_import *import, size_t column, double value)
{
    put_number(import, import->fixed[column], value);
}

void sc_import_set_text(struct sc_import *import, size_t column, struct sc_piece text)
{
    put_text(import, import->fixed[column], text);
}

void sc_import_unset(struct sc_import *import, size_t column)
{
    const size_t at = import->fixed[column];
    size_t kept = 0;
    for (size_t i = 0; i < import->set_count; i++)
        if (import->set[i] != at)
            import->set[kept++] = import->set[i];
    import->set_count = kept;
    import->row[at].kind = SC_IMPORT_NOTHING;
}

bool sc_import_has(const struct sc_import *import, size_t column, double *value)
{
    const struct cell *const cell = &import->row[import->fixed[column]];
    if (cell->kind == SC_IMPORT_NUMBER)
        *value = cell->number;
    return cell->kind == SC_IMPORT_NUMBER;
}

void sc_import_set_named(struct sc_import *import, struct sc_piece name,
                         enum sc_dimension dimension, double value)
{
    put_number(import, column_of(import, name, dimension), value);
}

/* Text in which some word is no finite number would carry it into the table. */
static bool says_none(struct sc_piece text)
{
    while (text.length > 0) {
        size_t length = 0;
        while (length < text.length && strchr(" \t=,;:/{}", text.text[length]) == NULL)
            length++;
        const struct sc_piece word = { text.text, length };
        if (length > 1 && !sc_piece_is(word, "no") && !sc_piece_is(word, "none") &&
            sc_piece_is_none(word))
            return true;
        text = sc_piece_after(text, length + 1);
    }
    return false;
}

void sc_import_set_kept(struct sc_import *import, struct sc_piece name, struct sc_piece value)
{
    double number = 0.0;
    struct sc_piece rest;
    const size_t column = column_of(import, name, SC_NUMBER);
    value = sc_piece_trim(value);
    if (sc_piece_number(value, &number, &rest) &&
        (rest.length == 0 || *rest.text == '%' ||
         (*rest.text == ' ' && memchr(rest.text, '\t', rest.length) == NULL)))
        put_number(import, column, number);
    else if (!sc_piece_is_none(value) && !says_none(value))
        put_text(import, column, value);
}

bool sc_import_keeps_any(const struct sc_import *import)
{
    return import->keep != NULL;
}

bool sc_import_keeps(struct sc_import *import, struct sc_piece key)
{
    if (import->keep == NULL || key.length == 0)
        return false;
    const bool keeps = sc_pattern_matches(import->keep, key);
    import->asked = true;
    import->kept |= keeps;
    return keeps;
}

static void name_groups(struct sc_import *import)
{
    const struct sc_piece name = sc_piece_of(import->files[import->file_count - 1].name);
    import->named = import->name == NULL || sc_pattern_matches(import->name, name);
    if (import->name == NULL || !import->named)
        return;
    for (size_t i = 0; i < sc_pattern_names(import->name); i++) {
        unsigned group = 0;
        const char *const column = sc_pattern_name(import->name, i, &group);
        const struct sc_piece text = sc_pattern_group(import->name, name, group);
        if (text.length > 0)
            sc_import_set_kept(import, sc_piece_of(column), text);
    }
}

void sc_import_drop(struct sc_import *import)
{
    for (size_t i = 0; i < import->set_count; i++)
        import->row[import->set[i]].kind = SC_IMPORT_NOTHING;
    import->set_count = 0;
    import->row_length = 0;
}

static bool write_row(struct sc_import *import, size_t line)
{
    struct row_head head = { .line = line,
                             .run = import->run_count - 1,
                             .file = (uint32_t)(import->file_count - 1),
                             .cells = (uint32_t)import->set_count };
    for (size_t i = 0; i < import->set_count; i++)
        if (import->row[import->set[i]].kind == SC_IMPORT_TEXT)
            head.text_bytes += import->row[import->set[i]].length;
    bool fine = fwrite(&head, sizeof head, 1, import->spool) == 1;
    for (size_t i = 0; fine && i < import->set_count; i++) {
        const struct cell *const cell = &import->row[import->set[i]];
        struct cell_head out;
        memset(&out, 0, sizeof out);
        out.number = cell->number;
        out.column = import->set[i];
        out.kind = (uint32_t)cell->kind;
        out.length = cell->kind == SC_IMPORT_TEXT ? cell->length : 0;
        fine = fwrite(&out, sizeof out, 1, import->spool) == 1 &&
               (out.length == 0 || fwrite(import->row_text + cell->offset, 1, cell->length,
                                          import->spool) == cell->length);
    }
    return fine;
}

/* Nothing that a kind of file is read for can be below 0: a counter that has run over. */
static void leave_negative(struct sc_import *import, size_t line)
{
    size_t count = 0;
    for (size_t t = 0; t < SC_IMPORT_TABLES; t++)
        count += import->kind->columns[t].count;
    for (size_t i = 0; i < count; i++) {
        const size_t at = import->fixed[i];
        const struct cell *const cell = &import->row[at];
        if (cell->kind != SC_IMPORT_NUMBER || !(cell->number < 0.0))
            continue;
        sc_import_note(import, line, "%s is negative, %.17g: left empty", import->columns[at].name,
                       cell->number);
        sc_import_unset(import, i);
    }
}

void sc_import_row(struct sc_import *import, size_t line)
{
    leave_negative(import, line);
    name_groups(import);
    if (!import->failed && !write_row(import, line))
        (void)sc_import_fail(import, 0, "cannot keep rows in a temporary file: %s",
                             strerror(errno));
    import->outcome.rows++;
    sc_import_drop(import);
}

void sc_import_run(struct sc_import *import)
{
    if (import->run_count == import->run_capacity) {
        const size_t capacity = import->run_capacity == 0 ? 64 : 2 * import->run_capacity;
        const char **runs = realloc(import->runs, capacity * sizeof *runs);
        if (runs == NULL) {
            (void)fail_memory(import);
            return;
        }
        import->runs = runs;
        import->run_capacity = capacity;
    }
    import->runs[import->run_count++] = NULL;
}

void sc_import_run_ended(struct sc_import *import, const char *how)
{
    import->runs[import->run_count - 1] = how;
}

/* ---- the file ---- */

/* More behind what is left in the buffer; nothing more at the end or on a fault. */
static void refill(struct sc_import *import)
{
    memmove(import->buffer, import->buffer + import->begin, import->filled - import->begin);
    import->filled -= import->begin;
    import->begin = 0;
    errno = 0;
    /* A byte is left for a NUL. */
    const size_t room = BUFFER_BYTES - 1 - import->filled;
    const size_t got = room > 0 ? fread(import->buffer + import->filled, 1, room, import->file) : 0;
    import->filled += got;
    import->end = room > 0 && got == 0;
    if (import->end && ferror(import->file))
        (void)sc_import_fail(import, 0, "cannot be read: %s", strerror(errno));
}

/* Leaves out what a line has beyond what is read of one; what is in the buffer is of that line. */
static void skip_line(struct sc_import *import)
{
    const char *newline = NULL;
    import->skip = false;
    do {
        import->begin = import->filled;
        refill(import);
        newline = memchr(import->buffer, '\n', import->filled);
    } while (newline == NULL && !import->end);
    import->begin = newline != NULL ? (size_t)(newline + 1 - import->buffer) : import->filled;
}

bool sc_import_line(struct sc_import *import, struct sc_piece *line)
{
    if (import->skip)
        skip_line(import);
    char *start = import->buffer + import->begin;
    char *newline = import->filled > import->begin
                        ? memchr(start, '\n', import->filled - import->begin)
                        : NULL;
    while (newline == NULL && !import->end && import->filled - import->begin < SC_IMPORT_LINE_MAX) {
        const size_t looked_at = import->filled - import->begin;
        refill(import);
        start = import->buffer;
        newline = memchr(start + looked_at, '\n', import->filled - looked_at);
    }
    if (import->failed || (newline == NULL && import->filled == import->begin))
        return false;
    import->line++;
    import->cut = newline == NULL && import->end;
    if (newline != NULL) {
        *line = (struct sc_piece){ start, (size_t)(newline - start) };
        import->begin += line->length + 1;
    } else if (import->end) {
        *line = (struct sc_piece){ start, import->filled - import->begin };
        import->begin = import->filled;
    } else {
        *line = (struct sc_piece){ start, SC_IMPORT_LINE_MAX };
        import->skip = import->long_line = true;
    }
    if (line->length > 0 && start[line->length - 1] == '\r')
        line->length--;
    start[line->length] = '\0';
    return true;
}

size_t sc_import_line_number(const struct sc_import *import)
{
    return import->line;
}

bool sc_import_line_is_cut(const struct sc_import *import)
{
    return import->cut;
}

bool sc_import_peek(struct sc_import *import, struct sc_piece *text)
{
    for (;;) {
        while (import->begin < import->filled &&
               strchr(" \t\r\n", import->buffer[import->begin]) != NULL) {
            import->line += import->buffer[import->begin] == '\n';
            import->begin++;
        }
        if (import->begin < import->filled || import->end)
            break;
        refill(import);
    }
    *text = (struct sc_piece){ import->buffer + import->begin, import->filled - import->begin };
    return text->length > 0;
}

size_t sc_import_bytes(struct sc_import *import, char *bytes, size_t most)
{
    if (import->begin == import->filled && !import->end) {
        import->begin = import->filled = 0;
        refill(import);
    }
    const size_t left = import->filled - import->begin;
    const size_t count = left < most ? left : most;
    if (count > 0)
        memcpy(bytes, import->buffer + import->begin, count);
    import->begin += count;
    return count;
}

/* ---- the whole ---- */

static struct sc_pattern *make_pattern(const char *text, const char *option,
                                       struct sc_import_error *error)
{
    char reason[SC_IMPORT_REASON];
    struct sc_pattern *pattern = sc_pattern_create(text, reason);
    if (pattern == NULL)
        (void)snprintf(error->reason, sizeof error->reason, "--%s: %.350s", option, reason);
    return pattern;
}

static bool make_first_columns(struct sc_import *import)
{
    for (size_t i = 0; i < SC_IMPORT_FIRST; i++)
        if (column_of(import, sc_piece_of(sc_import_first_columns[i].name), SC_NUMBER) == SIZE_MAX)
            return false;
    return true;
}

bool sc_import_create(struct sc_import **made, const struct sc_import_options *options,
                      struct sc_import_error *error)
{
    struct sc_import *import = calloc(1, sizeof *import);
    *made = NULL;
    *error = (struct sc_import_error){ .reason = "out of memory" };
    if (import == NULL)
        return false;
    import->options = *options;
    import->buffer = malloc(BUFFER_BYTES);
    bool fine = import->buffer != NULL && make_first_columns(import);
    if (fine && options->keep != NULL)
        fine = (import->keep = make_pattern(options->keep, "keep", error)) != NULL;
    if (fine && options->name != NULL)
        fine = (import->name = make_pattern(options->name, "name", error)) != NULL;
    if (fine && import->name != NULL && sc_pattern_names(import->name) == 0) {
        (void)snprintf(error->reason, sizeof error->reason,
                       "--name: expected a pattern with named groups, as in 'w(?<warps>\\d+)', got "
                       "'%.80s'",
                       options->name);
        fine = false;
    }
    if (fine && (import->spool = tmpfile()) == NULL) {
        (void)snprintf(error->reason, sizeof error->reason, "cannot make a temporary file: %s",
                       strerror(errno));
        fine = false;
    }
    if (!fine) {
        sc_import_destroy(import);
        return false;
    }
    *made = import;
    return true;
}

void sc_import_destroy(struct sc_import *import)
{
    if (import == NULL)
        return;
    for (size_t i = 0; i < import->column_count; i++)
        free(import->columns[i].name);
    for (size_t i = 0; i < import->file_count; i++)
        free(import->files[i].name);
    if (import->spool != NULL)
        (void)fclose(import->spool);
    sc_pattern_destroy(import->keep);
    sc_pattern_destroy(import->name);
    free(import->columns);
    free(import->row);
    free(import->set);
    free(import->row_text);
    free(import->cell_text);
    free(import->files);
    free(import->runs);
    free(import->fixed);
    free(import->buffer);
    free(import);
}

static bool add_input(struct sc_import *import, const char *name)
{
    struct input *files = realloc(import->files, (import->file_count + 1) * sizeof *files);
    if (files == NULL)
        return fail_memory(import);
    import->files = files;
    char *copy = malloc(strlen(name) + 1);
    if (copy == NULL)
        return fail_memory(import);
    memcpy(copy, name, strlen(name) + 1);
    import->files[import->file_count++] = (struct input){ .name = copy };
    return true;
}

/* Which kind begins so; its head stays to be read. */
static bool tell_kind(struct sc_import *import, const struct sc_import_kind *told)
{
    while (import->filled < HEAD_BYTES && !import->end)
        refill(import);
    if (import->failed)
        return false;
    const size_t length = import->filled < HEAD_BYTES ? import->filled : HEAD_BYTES;
    if (import->filled == 0)
        return sc_import_fail(import, 0, "is empty");
    if (length >= 2 &&
        (memcmp(import->buffer, "\xFF\xFE", 2) == 0 || memcmp(import->buffer, "\xFE\xFF", 2) == 0))
        return sc_import_fail(import, 0, "is UTF-16 text; expected UTF-8");
    if (length >= 3 && memcmp(import->buffer, "\xEF\xBB\xBF", 3) == 0)
        import->begin = 3;
    import->kind = told;
    for (size_t i = 0; import->kind == NULL && i < sc_import_kind_count; i++)
        if (sc_import_kinds[i]->sniff(import->buffer + import->begin, length - import->begin))
            import->kind = sc_import_kinds[i];
    if (told == NULL && import->kind != NULL)
        sc_import_note(import, 0, "read as %s", import->kind->name);
    return import->kind != NULL ||
           sc_import_fail(import, 0,
                          "is of no kind that is known; expected results of a simulator "
                          "or a profiler");
}

static bool bind_columns(struct sc_import *import)
{
    const struct sc_import_columns *const tables = import->kind->columns;
    size_t count = 0, i = 0;
    for (size_t t = 0; t < SC_IMPORT_TABLES; t++)
        count += tables[t].count;
    if (count > import->fixed_capacity) {
        size_t *fixed = realloc(import->fixed, count * sizeof *fixed);
        if (fixed == NULL)
            return fail_memory(import);
        import->fixed = fixed;
        import->fixed_capacity = count;
    }
    for (size_t t = 0; t < SC_IMPORT_TABLES; t++)
        for (size_t r = 0; r < tables[t].count; r++, i++) {
            const struct sc_import_column *const row = &tables[t].rows[r];
            import->fixed[i] = column_of(import, sc_piece_of(row->name), row->dimension);
            if (import->fixed[i] == SIZE_MAX)
                return false;
        }
    return true;
}

/* What was asked for and not had. */
static void note_shortfalls(struct sc_import *import)
{
    const bool keep_gave_up = sc_pattern_gave_up(import->keep);
    if (keep_gave_up || sc_pattern_gave_up(import->name))
        sc_import_note(import, 0,
                       "--%s: the pattern takes too long on some text, left out for that",
                       keep_gave_up ? "keep" : "name");
    if (import->asked && !import->kept && !keep_gave_up)
        sc_import_note(import, 0, "--keep: matches no statistic of it");
    if (import->outcome.rows > 0 && !import->named && !sc_pattern_gave_up(import->name))
        sc_import_note(import, 0, "--name: does not match it");
    if (import->long_line)
        sc_import_note(import, 0, "of lines above 1 MiB only the first MiB was read");
}

bool sc_import_file(struct sc_import *import, const struct sc_import_kind *kind, FILE *file,
                    const char *name, struct sc_import_outcome *outcome,
                    struct sc_import_error *error)
{
    import->file = file;
    import->begin = import->filled = import->line = 0;
    import->end = import->cut = import->skip = import->long_line = import->failed = false;
    import->asked = import->kept = false;
    import->outcome = (struct sc_import_outcome){ 0 };
    sc_import_drop(import);
    sc_import_run(import);
    bool fine = !import->failed && add_input(import, name) && tell_kind(import, kind) &&
                bind_columns(import) && import->kind->read(import) && !import->failed;
    if (fine && import->outcome.rows == 0 && import->outcome.refused == 0)
        fine = sc_import_fail(import, 0, "expected %s, got none", import->kind->summary);
    sc_import_drop(import);
    if (import->file_count > 0)
        import->files[import->file_count - 1].kind = import->kind;
    if (fine)
        note_shortfalls(import);
    import->outcome.kind = import->kind;
    *outcome = import->outcome;
    *error = import->error;
    return fine;
}

bool sc_import_rewind(struct sc_import *import)
{
    return fflush(import->spool) == 0 && fseek(import->spool, 0, SEEK_SET) == 0;
}

static bool read_text(struct sc_import *import, const struct cell_head *head, size_t *used,
                      struct sc_import_cell *cell)
{
    if (*used + head->length > import->cell_text_capacity)
        return false;
    cell->text = import->cell_text + *used;
    cell->length = head->length;
    *used += head->length;
    return fread(import->cell_text + (*used - head->length), 1, head->length, import->spool) ==
           head->length;
}

/* Texts of a row are in one piece of memory, made large enough before they are read. */
static bool make_text_room(struct sc_import *import, size_t needed)
{
    if (needed <= import->cell_text_capacity)
        return true;
    char *grown = realloc(import->cell_text, needed);
    if (grown == NULL)
        return false;
    import->cell_text = grown;
    import->cell_text_capacity = needed;
    return true;
}

static struct sc_import_cell text_cell(const char *text)
{
    struct sc_import_cell cell = { .kind = SC_IMPORT_NOTHING };
    if (text != NULL)
        cell = (struct sc_import_cell){ .kind = SC_IMPORT_TEXT,
                                        .text = text,
                                        .length = strlen(text) };
    return cell;
}

bool sc_import_next(struct sc_import *import, struct sc_import_cell *cells, bool *any)
{
    struct row_head head;
    struct cell_head cell;
    size_t used = 0;
    *any = fread(&head, sizeof head, 1, import->spool) == 1;
    if (!*any)
        return ferror(import->spool) == 0;
    for (size_t i = 0; i < import->column_count; i++)
        cells[i] = (struct sc_import_cell){ .kind = SC_IMPORT_NOTHING };
    if (!make_text_room(import, head.text_bytes))
        return false;
    for (uint32_t i = 0; i < head.cells; i++) {
        if (fread(&cell, sizeof cell, 1, import->spool) != 1)
            return false;
        struct sc_import_cell *const out = &cells[cell.column];
        *out = (struct sc_import_cell){ .kind = (enum sc_import_cell_kind)cell.kind,
                                        .number = cell.number };
        if (cell.length > 0 && !read_text(import, &cell, &used, out))
            return false;
    }
    const struct input *const file = &import->files[head.file];
    cells[SC_IMPORT_FILE] = text_cell(file->name);
    if (head.line > 0)
        cells[SC_IMPORT_LINE] = (struct sc_import_cell){ .kind = SC_IMPORT_NUMBER,
                                                         .number = (double)head.line };
    cells[SC_IMPORT_FORMAT] = text_cell(file->kind->name);
    cells[SC_IMPORT_RUN_ENDED] = text_cell(import->runs[head.run]);
    return true;
}
