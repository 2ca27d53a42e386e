/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stallcast import: results of simulators and profilers as one tidy table. */
#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "import_map.h"
#include "output.h"
#include "overwrite.h"
#include "read/import.h"
#include "read/packed.h"
#include "sink.h"

enum { NOTES_MAX = 20 }; /* of a file; more are counted */

struct job {
    const struct options *options;
    struct catalog *catalog;
    const struct sc_import_kind *kind; /* NULL: found out */
    struct emit_style style;
    struct sc_import *table;
    struct import_map *map;
    size_t *selected; /* columns of the answer */
    size_t selected_count, refused;
    char *checked_file;              /* whose bandwidth was looked at last */
    struct problem notes[NOTES_MAX]; /* on the file at hand */
    size_t note_count;               /* may be more */
};

static bool refuse_memory(struct problem *problem)
{
    return problem_set(problem, "out of memory");
}

static const char *shown_name(const char *file)
{
    return strcmp(file, "-") == 0 ? "standard input" : file;
}

/* ---- reading ---- */

static void keep_note(void *context, const char *file, size_t line, const char *text)
{
    struct job *const job = context;
    if (job->note_count++ >= NOTES_MAX)
        return;
    struct problem *const note = &job->notes[job->note_count - 1];
    if (line > 0)
        (void)problem_set(note, "%s:%zu: %s", file, line, text);
    else
        (void)problem_set(note, "%s: %s", file, text);
}

/* Once the file is known to be of use: else the failure says it all. */
static void print_notes(struct job *job, const char *file)
{
    for (size_t i = 0; i < job->note_count && i < NOTES_MAX; i++)
        problem_print(&job->notes[i]);
    if (job->note_count > NOTES_MAX) {
        struct problem more;
        (void)problem_set(&more, "%s: %zu remarks more", file, job->note_count - NOTES_MAX);
        problem_print(&more);
    }
}

static bool read_file(struct job *job, const char *path, struct problem *problem)
{
    char reason[256], later[256];
    const char *const name = shown_name(path);
    struct sc_packed packed;
    struct sc_import_outcome outcome;
    struct sc_import_error error;
    if (!sc_packed_open(&packed, path, reason))
        return problem_set(problem, "%s: %s", name, reason);
    job->note_count = 0;
    const bool fine = sc_import_file(job->table, job->kind, packed.file, name, &outcome, &error);
    /* What cannot be unpacked is no log either: the first cause is told. */
    if (!sc_packed_close(&packed, later))
        return problem_set(problem, "%s: %s", name, later);
    if (!fine && error.line > 0)
        return problem_set(problem, "%s:%zu: %s", name, error.line, error.reason);
    if (!fine)
        return problem_set(problem, "%s: %s", name, error.reason);
    print_notes(job, name);
    job->refused += outcome.refused;
    return true;
}

/* ---- the bandwidth of a configuration ---- */

enum { TOLERANCE_PER_CENT = 25 };

static double gpu_fact(const struct catalog_table *gpus, size_t row, const char *column)
{
    const size_t at = catalog_column(gpus, column);
    char *end = NULL;
    if (at == SIZE_MAX)
        return (double)NAN;
    const char *const text = catalog_cell(gpus, row, at);
    const double value = strtod(text, &end);
    return end != text && *end == '\0' ? value : (double)NAN;
}

/* Whether the word stands in the text between other characters, in whatever case. */
static bool has_word(const char *text, size_t length, const char *word)
{
    const size_t size = strlen(word);
    for (size_t i = 0; i + size <= length; i++) {
        size_t same = 0;
        while (same < size && tolower((unsigned char)text[i + same]) == word[same])
            same++;
        if (same == size && (i == 0 || !isalnum((unsigned char)text[i - 1])) &&
            (i + size == length || !isalnum((unsigned char)text[i + size])))
            return true;
    }
    return false;
}

/* The GPU that --gpu names, or, of those with a bandwidth, the one with the longest name in the
 * path of the file; SIZE_MAX: none. */
static size_t find_gpu(const struct job *job, const struct catalog_table *gpus,
                       const struct sc_import_cell *file)
{
    size_t found = SIZE_MAX, longest = 0;
    if (job->options->gpu != NULL)
        return catalog_row(gpus, job->options->gpu);
    for (size_t row = 0; row < gpus->row_count; row++) {
        const char *const name = catalog_cell(gpus, row, 0);
        if (strlen(name) > longest && has_word(file->text, file->length, name)) {
            found = row;
            longest = strlen(name);
        }
    }
    return found;
}

static double cell_number(const struct job *job, const struct sc_import_cell *row, const char *name)
{
    for (size_t i = 0; i < sc_import_column_count(job->table); i++)
        if (strcmp(sc_import_column_name(job->table, i), name) == 0)
            return row[i].kind == SC_IMPORT_NUMBER ? row[i].number : (double)NAN;
    return (double)NAN;
}

static void print_bandwidth(const struct job *job, const struct sc_import_cell *row, double peak,
                            const struct catalog_table *gpus, size_t gpu)
{
    struct problem line;
    struct text is = { 0 }, known = { 0 }, width = { 0 }, rate = { 0 };
    const double fact = gpu_fact(gpus, gpu, "memory_bandwidth_GB/s") * 1e9;
    emit_quantity(peak, SC_BYTES_PER_SECOND, 4, &is);
    emit_quantity(fact, SC_BYTES_PER_SECOND, 4, &known);
    emit_quantity(cell_number(job, row, "channel_bytes"), SC_BYTES, 4, &width);
    emit_quantity(cell_number(job, row, "memory_rate_Hz"), SC_HERTZ, 4, &rate);
    if (!is.failed && !known.failed && !width.failed && !rate.failed) {
        (void)problem_set(&line,
                          "%.*s: %.4g channels x %s x %s are %s, %.3g times the %s of %s (%g "
                          "channels x %g bits x %g GT/s): is the configuration right?",
                          (int)row[SC_IMPORT_FILE].length, row[SC_IMPORT_FILE].text,
                          cell_number(job, row, "memory_channels"), width.bytes, rate.bytes,
                          is.bytes, peak / fact, known.bytes, catalog_cell(gpus, gpu, 0),
                          gpu_fact(gpus, gpu, "memory_channels"),
                          gpu_fact(gpus, gpu, "channel_width_bits"),
                          gpu_fact(gpus, gpu, "memory_rate_GT/s"));
        problem_print(&line);
    }
    text_fini(&is);
    text_fini(&known);
    text_fini(&width);
    text_fini(&rate);
}

/* Once per file: the configuration against what is known of the GPU. */
static bool check_bandwidth(struct job *job, const struct sc_import_cell *row,
                            struct problem *problem)
{
    const struct sc_import_cell *const file = &row[SC_IMPORT_FILE];
    const double peak = cell_number(job, row, "bandwidth_bytes_per_s");
    if (!(peak > 0.0) || (job->checked_file != NULL && strlen(job->checked_file) == file->length &&
                          memcmp(job->checked_file, file->text, file->length) == 0))
        return true;
    free(job->checked_file);
    job->checked_file = malloc(file->length + 1);
    if (job->checked_file == NULL)
        return refuse_memory(problem);
    memcpy(job->checked_file, file->text, file->length);
    job->checked_file[file->length] = '\0';
    const struct catalog_table *const gpus = catalog_table(job->catalog, "gpus", problem);
    if (gpus == NULL)
        return false;
    const size_t gpu = find_gpu(job, gpus, file);
    if (gpu == SIZE_MAX)
        return true;
    const double ratio = peak / (gpu_fact(gpus, gpu, "memory_bandwidth_GB/s") * 1e9);
    if (ratio > 1.0 + TOLERANCE_PER_CENT / 100.0 ||
        ratio < 1.0 / (1.0 + TOLERANCE_PER_CENT / 100.0))
        print_bandwidth(job, row, peak, gpus, gpu);
    return true;
}

static const char *gpu_at(unsigned long i, const void *context)
{
    return catalog_cell(context, i, 0);
}

static bool check_gpu(struct job *job, struct problem *problem)
{
    if (job->options->gpu == NULL)
        return true;
    const struct catalog_table *const gpus = catalog_table(job->catalog, "gpus", problem);
    if (gpus == NULL)
        return false;
    if (catalog_row(gpus, job->options->gpu) != SIZE_MAX)
        return true;
    const char *const nearest = problem_nearest(job->options->gpu, gpu_at, gpus->row_count, gpus);
    return problem_set(problem, "--gpu: expected a row of gpus, got '%.60s'%s%s%s",
                       job->options->gpu, nearest != NULL ? ": did you mean " : "",
                       nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
}

/* ---- columns of the answer ---- */

static const char *column_at(unsigned long i, const void *context)
{
    return import_map_column(context, i).name;
}

static bool select_column(struct job *job, const char *name, size_t length, struct problem *problem)
{
    char text[128];
    for (size_t i = 0; i < import_map_columns(job->map); i++) {
        const char *const column = import_map_column(job->map, i).name;
        if (strlen(column) == length && strncmp(column, name, length) == 0) {
            job->selected[job->selected_count++] = i;
            return true;
        }
    }
    (void)snprintf(text, sizeof text, "%.*s", length < 100 ? (int)length : 100, name);
    const char *const nearest = problem_nearest(text, column_at, import_map_columns(job->map),
                                                job->map);
    return problem_set(problem, "--columns: no column '%s'%s%s%s", text,
                       nearest != NULL ? ": did you mean " : "", nearest != NULL ? nearest : "",
                       nearest != NULL ? "?" : "");
}

/* "a,b,c", or all of them. */
static bool select_columns(struct job *job, struct problem *problem)
{
    const char *list = job->options->columns;
    size_t most = import_map_columns(job->map);
    for (const char *c = list; c != NULL && *c != '\0'; c++)
        most += *c == ',';
    job->selected = calloc(most + 1, sizeof *job->selected);
    if (job->selected == NULL)
        return refuse_memory(problem);
    if (list == NULL || strcmp(list, "all") == 0) {
        for (size_t i = 0; i < import_map_columns(job->map); i++)
            job->selected[job->selected_count++] = i;
        return true;
    }
    for (;; list++) {
        const size_t length = strcspn(list, ",");
        if (!select_column(job, list, length, problem))
            return false;
        list += length;
        if (*list == '\0')
            return true;
    }
}

/* ---- writing ---- */

struct row_room {
    struct sc_import_cell *row;
    struct emit_cell *cells, *out;
    struct emit_column *columns;
};

static void row_room_fini(struct row_room *room)
{
    free(room->row);
    free(room->cells);
    free(room->out);
    free(room->columns);
}

static bool row_room_init(const struct job *job, struct row_room *room, struct problem *problem)
{
    const size_t all = import_map_columns(job->map) + 1, chosen = job->selected_count + 1;
    room->row = calloc(all, sizeof *room->row);
    room->cells = calloc(all, sizeof *room->cells);
    room->out = calloc(chosen, sizeof *room->out);
    room->columns = calloc(chosen, sizeof *room->columns);
    if (room->row == NULL || room->cells == NULL || room->out == NULL || room->columns == NULL)
        return refuse_memory(problem);
    for (size_t i = 0; i < job->selected_count; i++)
        room->columns[i] = import_map_column(job->map, job->selected[i]);
    return true;
}

static bool write_rows(struct job *job, struct row_room *room, struct sink *sink,
                       struct problem *problem)
{
    bool any = true;
    while (sc_import_next(job->table, room->row, &any)) {
        if (!any)
            return true;
        if (!check_bandwidth(job, room->row, problem))
            return false;
        import_map_row(job->map, room->row, room->cells);
        for (size_t i = 0; i < job->selected_count; i++)
            room->out[i] = room->cells[job->selected[i]];
        if (!sink_row(sink, room->out, problem))
            return false;
    }
    return problem_set(problem, "the temporary file with the rows cannot be read");
}

static bool write_table(struct job *job, struct problem *problem)
{
    struct row_room room = { 0 };
    struct sink sink;
    bool fine = row_room_init(job, &room, problem);
    if (fine && !sc_import_rewind(job->table))
        fine = problem_set(problem, "the temporary file with the rows cannot be read");
    if (fine && (fine = sink_open(&sink, &job->style, room.columns, job->selected_count,
                                  job->options->output, problem))) {
        fine = write_rows(job, &room, &sink, problem);
        if (fine)
            fine = sink_close(&sink, problem);
        else
            sink_abandon(&sink);
    }
    row_room_fini(&room);
    return fine;
}

/* ---- --list ---- */

static bool list_row(struct sink *sink, const char *kind, const char *name, const char *key,
                     const char *help, struct problem *problem)
{
    const struct emit_cell cells[] = { emit_string(kind), emit_string(name), emit_string(key),
                                       emit_string(help) };
    return sink_row(sink, cells, problem);
}

static bool list_kind(struct sink *sink, const struct sc_import_kind *kind, struct problem *problem)
{
    for (size_t t = 0; t < SC_IMPORT_TABLES; t++)
        for (size_t i = 0; i < kind->columns[t].count; i++) {
            const struct sc_import_column *const column = &kind->columns[t].rows[i];
            if (!list_row(sink, kind->name, column->name, column->key, column->help, problem))
                return false;
        }
    return kind->more == NULL || list_row(sink, kind->name, "...", "", kind->more, problem);
}

static bool list_columns(struct job *job, struct problem *problem)
{
    static const struct emit_column columns[] = {
        { .name = "kind" }, { .name = "column" }, { .name = "key" }, { .name = "help" }
    };
    struct sink sink;
    struct emit_style style;
    if (!sink_style(job->options, &style, problem) ||
        !sink_open(&sink, &style, columns, sizeof columns / sizeof columns[0], job->options->output,
                   problem))
        return false;
    bool fine = true;
    for (size_t i = 0; fine && i < SC_IMPORT_FIRST; i++)
        fine = list_row(&sink, "all", sc_import_first_columns[i].name,
                        sc_import_first_columns[i].key, sc_import_first_columns[i].help, problem);
    for (size_t i = 0; fine && i < sc_import_kind_count; i++)
        if (job->kind == NULL || job->kind == sc_import_kinds[i])
            fine = list_kind(&sink, sc_import_kinds[i], problem);
    if (fine)
        return sink_close(&sink, problem);
    sink_abandon(&sink);
    return false;
}

/* ---- the command ---- */

static const char *kind_at(unsigned long i, const void *context)
{
    (void)context;
    return i < sc_import_kind_count ? sc_import_kinds[i]->name : "auto";
}

static const char *kind_name(size_t i)
{
    return i <= sc_import_kind_count ? kind_at(i, NULL) : NULL;
}

static bool find_kind(struct job *job, const char *name, struct problem *problem)
{
    job->kind = sc_import_kind_find(name);
    if (job->kind != NULL || strcmp(name, "auto") == 0)
        return true;
    struct problem kinds = { "auto" };
    for (size_t i = 0; i < sc_import_kind_count; i++) {
        const struct problem before = kinds;
        (void)problem_set(&kinds, "%.300s, %s", before.text, sc_import_kinds[i]->name);
    }
    const char *const nearest = problem_nearest(name, kind_at, sc_import_kind_count + 1, NULL);
    return problem_set(problem, "import: expected a kind (%.200s), got '%.60s'%s%s%s", kinds.text,
                       name, nearest != NULL ? ": did you mean " : "",
                       nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
}

/* Options that can be wrong are told before anything is read. */
static bool prepare(struct job *job, const char *const *files, size_t count,
                    struct problem *problem)
{
    const struct sc_import_options options = {
        .keep = job->options->keep, .name = job->options->name, .note = keep_note, .context = job
    };
    struct sc_import_error error;
    struct options csv = *job->options;
    if (csv.format == NULL)
        csv.format = "csv";
    if (!sink_style(&csv, &job->style, problem) || !check_gpu(job, problem) ||
        !output_check(job->options->output, problem))
        return false;
    if (job->options->digits == NULL && sink_streams(&job->style))
        job->style.digits = 0;
    job->map = import_map_create(job->options->map, OPTION_TIMES, problem);
    if (job->map == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!overwrite_check(job->options, files[i], problem))
            return false;
    return sc_import_create(&job->table, &options, &error) ||
           problem_set(problem, "%s", error.reason);
}

static bool run(struct job *job, const char *const *files, size_t count, struct problem *problem)
{
    if (!prepare(job, files, count, problem))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!read_file(job, files[i], problem))
            return false;
    if (!import_map_bind(job->map, job->table, problem) || !select_columns(job, problem) ||
        !write_table(job, problem))
        return false;
    import_map_report(job->map);
    return true;
}

static int import(const struct command *command, const struct options *options,
                  const char *const *words, size_t word_count, struct catalog *catalog)
{
    struct problem problem;
    struct job job = { .options = options, .catalog = catalog };
    bool fine = word_count == 0 || find_kind(&job, words[0], &problem);
    if (fine && options->list != NULL)
        return list_columns(&job, &problem) ? EXIT_FINE : command_fail(&problem);
    if (fine && word_count < 2)
        fine = problem_set(&problem, "import: expected a kind and files: %s %s", command->name,
                           command->usage);
    fine = fine && run(&job, words + 1, word_count - 1, &problem);
    sc_import_destroy(job.table);
    import_map_destroy(job.map);
    free(job.selected);
    free(job.checked_file);
    if (!fine)
        return command_fail(&problem);
    return job.refused == 0 ? EXIT_FINE : EXIT_NO;
}

static const struct option_row options[] = {
    { .name = "map",
      .letter = 'm',
      .argument = "MAP",
      .offset = offsetof(struct options, map),
      .help = "columns to compute: 'NAME=EXPRESSION; ...' or stream; may be repeated",
      .times = true },
    OPTION(keep, 'k', "REGEX", "other statistics of the file to keep, under their own names"),
    OPTION(name, 0, "REGEX", "named groups of file names to columns: 'w(?<warps_per_sm>\\d+)'"),
    OPTION(gpu, 0, "GPU", "row of gpus to check a configuration's bandwidth against"),
    OPTION(columns, 'c', "LIST", "columns to write: a,b,c (default all)"),
    OPTION(list, 'l', NULL, "the columns that each kind (or KIND) gives, and their keys"),
    OPTION(output, 'o', "FILE", "write there, whole or not at all"),
    OPTION(format, 'f', "FORMAT", "table, csv, tsv, json, jsonl or md (default csv)"),
    OPTION(digits, 0, "N", "significant digits, or all (default all; 4 in tables)"),
    OPTION(delimiter, 0, "CHAR", "of CSV out (default a comma)"),
    OPTION(decimal, 0, "CHAR", "decimal sign of CSV out (default a point)"),
    OPTION(data, 0, "DIR", "tables of GPUs instead of the built-in ones"),
    OPTION(help, 'h', NULL, "this text"),
};

const struct command command_import = {
    .name = "import",
    .usage = "KIND FILE... [options]",
    .summary = "results of simulators and profilers as one tidy CSV table",
    .details =
        "Kinds: accelsim (GPGPU-Sim 3.x and 4.x, Accel-Sim), uvmsmart, dramsim3 (text, JSON),\n"
        "ramulator2, mqsim (XML), ncu, nsys, nvprof; auto finds out and says which.  - is standard\n"
        "input; .gz and .zst are unpacked by gzip and zstd.\n\n"
        "A row is a kernel launch, or a channel or device where there are no kernels, with the file\n"
        "and line it is from; columns are the union over the files.  Counters that a simulator lets\n"
        "run on from kernel to kernel are differences.  What was printed as nan or inf is empty.  A\n"
        "run that was stopped or cut is said so, and is in the column run_ended; what cannot be read\n"
        "is left out with a reason, and the exit status is then 1.\n\n"
        "Expressions of --map have + - * / ( ), min, max, ceil, floor, round, numbers and columns\n"
        "(other names than letters, digits and _ in double quotes); later items see earlier ones, and\n"
        "NAME?=EXPRESSION leaves what is there.\n"
        "--map stream makes a kernel of accelsim a scenario of the system stream; its column not_counted\n"
        "says why a row is unfit for `compare`, if it is.\n\n"
        "  stallcast import accelsim sweep*.log --map stream | stallcast estimate stream --from -\n"
        "  stallcast import accelsim run.log --keep '^gpu_stall' --map 'gb=dram_read_bytes/1e9'\n"
        "  stallcast import auto results/* --name 'w(?<warps_per_sm>\\d+)' -o rows.csv\n"
        "  stallcast import --list ncu\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .first = kind_name,
    .run = import,
};
