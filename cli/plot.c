/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stallcast plot: figures of the papers, redrawn from our own answers.
 *
 * The scripts in plots/ are inside the program.  They read data.csv and write
 * figure.FORMAT in the current directory, which is a temporary one here, so
 * that no name of the user's ever comes into a script.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#include "answer.h"
#include "batch.h"
#include "command.h"
#include "embedded.h"
#include "figure.h"
#include "sink.h"
#include "text.h"

static const char program[] = "gnuplot";
static const char data_name[] = "data.csv", style_name[] = "style.gp", log_name[] = "log";
static const char sample_column[] = "simulated_slowdown";

static const char *figure_at(unsigned long i, const void *context)
{
    (void)context;
    return figures[i].name;
}

static const struct figure *named_figure(const char *const *words, size_t count,
                                         struct problem *problem)
{
    if (count == 0) {
        (void)problem_set(problem, "plot: expected a figure: 'stallcast plot --list' shows them");
        return NULL;
    }
    if (count > 1) {
        (void)problem_set(problem, "plot: '%.60s' is one word too many", words[1]);
        return NULL;
    }
    const struct figure *figure = figure_find(words[0]);
    if (figure != NULL)
        return figure;
    const char *nearest = problem_nearest(words[0], figure_at, figure_count, NULL);
    (void)problem_set(problem, "no figure '%.60s'%s%s%s", words[0],
                      nearest != NULL ? ": did you mean " : ": 'stallcast plot --list' shows them",
                      nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
    return NULL;
}

static bool print_list(const struct options *options, struct problem *problem)
{
    static const struct emit_column columns[] = { { .name = "figure" },
                                                  { .name = "published" },
                                                  { .name = "shows" } };
    struct emit_style style;
    struct sink sink;
    if (!sink_style(options, &style, problem) ||
        !sink_open(&sink, &style, columns, 3, options->output, problem))
        return false;
    for (size_t i = 0; i < figure_count; i++) {
        const struct emit_cell cells[] = { emit_string(figures[i].name),
                                           emit_string(figures[i].where),
                                           emit_string(figures[i].summary) };
        if (!sink_row(&sink, cells, problem)) {
            sink_abandon(&sink);
            return false;
        }
    }
    return sink_close(&sink, problem);
}

/* ---- what is written where ---- */

/* "svg", "png" or "pdf": the ending of the name, in any case; an ending alone is
 * a hidden file of no format. */
static const char *format_of(const char *path, struct problem *problem)
{
    static const char *const formats[] = { "svg", "png", "pdf" };
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot != NULL && dot != name && i < sizeof formats / sizeof formats[0]; i++)
        if (strcasecmp(dot + 1, formats[i]) == 0)
            return formats[i];
    (void)problem_set(
        problem, "--output: expected a name that ends in .svg, .png or .pdf, got '%.60s'", path);
    return NULL;
}

enum { FIXED_COLUMNS = 4 };

/* source, series, group, position, NAME NAME_lo NAME_hi ..., x */
static bool write_rows(const struct figure *figure, const struct figure_table *table,
                       const char *path, struct problem *problem)
{
    static const struct emit_style style = {
        .format = EMIT_CSV, .digits = 6, .delimiter = ',', .decimal = '.'
    };
    static const char *const endings[] = { "", "_lo", "_hi" };
    struct emit_column columns[FIXED_COLUMNS + 3 * FIGURE_METRICS + 1] = {
        { .name = "source" }, { .name = "series" }, { .name = "group" }, { .name = "position" }
    };
    char names[3 * FIGURE_METRICS][64], x_name[FIELD_COLUMN_MAX];
    struct sink sink;
    size_t count = FIXED_COLUMNS;
    for (size_t m = 0; m < 3 * table->metric_count; m++) {
        (void)snprintf(names[m], sizeof names[m], "%s%s", figure->metrics[m / 3], endings[m % 3]);
        columns[count++].name = names[m];
    }
    if (figure->kind == FIGURE_SAMPLES)
        columns[count++].name = sample_column;
    else if (table->x != NULL)
        columns[count++].name = field_column(table->x, x_name);
    if (!sink_open(&sink, &style, columns, count, path, problem))
        return false;
    for (size_t r = 0; r < table->count; r++) {
        const struct figure_row *row = &table->rows[r];
        struct emit_cell cells[sizeof columns / sizeof columns[0]] = {
            emit_string(figure_source_names[row->source]), emit_string(row->series),
            emit_string(row->group), emit_number((double)row->position)
        };
        for (size_t m = 0; m < table->metric_count; m++) {
            struct emit_cell *cell = &cells[FIXED_COLUMNS + 3 * m];
            cell[0] = emit_number(row->values[m].value);
            cell[1] = emit_number(row->values[m].low);
            cell[2] = emit_number(row->values[m].high);
        }
        cells[FIXED_COLUMNS + 3 * table->metric_count] = emit_number(row->x);
        if (!sink_row(&sink, cells, problem)) {
            sink_abandon(&sink);
            return false;
        }
    }
    return sink_close(&sink, problem);
}

/* ---- gnuplot ---- */

/* Runs gnuplot in a directory (NULL: this one), its talk in the directory's log or
 * nowhere, and returns its wait status; -1 with errno when it cannot be started. */
static int run_gnuplot(const char *directory, char *const *arguments)
{
    int report[2], reason = 0, status = 0;
    if (pipe(report) != 0)
        return -1;
    (void)fcntl(report[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(report[1], F_SETFD, FD_CLOEXEC);
    const pid_t child = fork();
    if (child == 0) {
        int talk = -1;
        /* gnuplot may not look at what its writes return. */
        (void)signal(SIGPIPE, SIG_DFL);
        (void)signal(SIGXFSZ, SIG_DFL);
        if (directory == NULL || chdir(directory) == 0)
            talk = open(directory == NULL ? "/dev/null" : log_name, O_WRONLY | O_CREAT | O_TRUNC,
                        0600);
        if (talk >= 0 && dup2(talk, STDOUT_FILENO) >= 0 && dup2(talk, STDERR_FILENO) >= 0)
            (void)execvp(program, arguments);
        reason = errno;
        (void)!write(report[1], &reason, sizeof reason);
        _exit(127);
    }
    const int forked = errno;
    (void)close(report[1]);
    ssize_t got = 0;
    while (child > 0 && (got = read(report[0], &reason, sizeof reason)) < 0 && errno == EINTR)
        continue;
    const bool started = child > 0 && got != sizeof reason;
    (void)close(report[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    errno = child < 0 ? forked : reason;
    return started ? status : -1;
}

static bool refuse_gnuplot(struct problem *problem)
{
    if (errno == ENOENT)
        return problem_set(problem, "plot needs gnuplot, which is not in PATH (Debian: the package "
                                    "gnuplot-nox)");
    return problem_set(problem, "cannot run gnuplot: %s", strerror(errno));
}

/* problem = what it said, and where the numbers are without a picture. */
static bool add_data(const char *path, struct problem *problem)
{
    const struct problem inner = *problem;
    if (path == NULL)
        return problem_set(problem, "%s; --csv FILE alone writes the data", inner.text);
    return problem_set(problem, "%s; the data is written: %s", inner.text,
                       strcmp(path, "-") == 0 ? "standard output" : path);
}

/* Before the long part: the answers. */
static bool find_gnuplot(struct problem *problem)
{
    char name[] = "gnuplot", version[] = "--version";
    char *const arguments[] = { name, version, NULL };
    return run_gnuplot(NULL, arguments) != -1 || refuse_gnuplot(problem);
}

static bool in_directory(const char *directory, const char *name, struct text *path)
{
    text_clear(path);
    text_printf(path, "%s/%s", directory, name);
    return !path->failed;
}

/* A file of the program, which stands there under its path from data/. */
static const struct sc_embedded *find_script(const char *name)
{
    static const char folder[] = "../plots/";
    const size_t length = sizeof folder - 1;
    for (size_t i = 0; i < sc_embedded_count; i++)
        if (strncmp(sc_embedded_files[i].name, folder, length) == 0 &&
            strcmp(sc_embedded_files[i].name + length, name) == 0)
            return &sc_embedded_files[i];
    return NULL;
}

static bool put_script(const char *directory, const char *name, struct text *path,
                       struct problem *problem)
{
    const struct sc_embedded *script = find_script(name);
    if (script == NULL)
        return problem_set(problem, "plot: %s is not part of this program", name);
    if (!in_directory(directory, name, path))
        return problem_set(problem, "out of memory");
    FILE *file = fopen(path->bytes, "wb");
    bool fine = file != NULL && fwrite(script->bytes, 1, script->size, file) == script->size;
    fine = (file == NULL || fclose(file) == 0) && fine;
    return fine || problem_set(problem, "cannot write %s: %s", path->bytes, strerror(errno));
}

/* The last line in which gnuplot names a line of the script: that is the error. */
static bool explain_failure(const char *directory, struct text *path, struct problem *problem)
{
    char line[256], said[256] = "";
    FILE *file = in_directory(directory, log_name, path) ? fopen(path->bytes, "rb") : NULL;
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strstr(line, " line ") != NULL && strstr(line, "warning:") == NULL)
            memcpy(said, line, sizeof said);
    if (file != NULL)
        (void)fclose(file);
    said[strcspn(said, "\n")] = '\0';
    return problem_set(problem, "gnuplot failed%s%s", *said != '\0' ? ": " : "", said);
}

/* The finished picture to where it is wanted. */
static bool deliver(const char *directory, const char *name, const char *to, struct text *path,
                    struct problem *problem)
{
    char block[65536];
    struct output output;
    FILE *file = in_directory(directory, name, path) ? fopen(path->bytes, "rb") : NULL;
    if (file == NULL)
        return problem_set(problem, "gnuplot wrote no picture");
    bool fine = output_open(&output, to, problem);
    size_t length = 0, all = 0;
    while (fine && (length = fread(block, 1, sizeof block, file)) > 0) {
        all += length;
        fine = output_write(&output, block, length, problem);
    }
    if (fine && (ferror(file) || all == 0))
        fine = problem_set(problem, "gnuplot wrote no picture");
    (void)fclose(file);
    if (fine)
        return output_commit(&output, problem);
    output_abandon(&output);
    return false;
}

static bool draw_in(const char *directory, const struct figure *figure,
                    const struct figure_table *table, const char *format, const char *to,
                    struct text *path, struct problem *problem)
{
    char name[] = "gnuplot", defaults[] = "-d", execute[] = "-e";
    char script[64], picture[32], assignment[32];
    char *const arguments[] = { name, defaults, execute, assignment, script, NULL };
    (void)snprintf(script, sizeof script, "%s.gp", figure->name);
    (void)snprintf(picture, sizeof picture, "figure.%s", format);
    (void)snprintf(assignment, sizeof assignment, "format='%s'", format);
    if (!put_script(directory, style_name, path, problem) ||
        !put_script(directory, script, path, problem))
        return false;
    if (!in_directory(directory, data_name, path))
        return problem_set(problem, "out of memory");
    if (!write_rows(figure, table, path->bytes, problem))
        return false;
    const int status = run_gnuplot(directory, arguments);
    if (status == -1)
        return refuse_gnuplot(problem);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return explain_failure(directory, path, problem);
    return deliver(directory, picture, to, path, problem);
}

static void remove_directory(const char *directory, const struct figure *figure, const char *format,
                             struct text *path)
{
    char script[64], picture[32];
    const char *const names[] = { data_name, style_name, log_name, script, picture };
    (void)snprintf(script, sizeof script, "%s.gp", figure->name);
    (void)snprintf(picture, sizeof picture, "figure.%s", format);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (in_directory(directory, names[i], path))
            (void)unlink(path->bytes);
    (void)rmdir(directory);
}

static bool draw(const struct figure *figure, const struct figure_table *table, const char *format,
                 const char *to, struct problem *problem)
{
    const char *parent = getenv("TMPDIR");
    struct text directory = { 0 }, path = { 0 };
    text_printf(&directory, "%s/stallcast-XXXXXX",
                parent != NULL && *parent != '\0' ? parent : "/tmp");
    bool fine = !directory.failed || problem_set(problem, "out of memory");
    if (fine && mkdtemp(directory.bytes) == NULL)
        fine = problem_set(problem, "cannot make a directory in %s: %s",
                           parent != NULL && *parent != '\0' ? parent : "/tmp", strerror(errno));
    else if (fine) {
        fine = draw_in(directory.bytes, figure, table, format, to, &path, problem);
        remove_directory(directory.bytes, figure, format, &path);
    }
    text_fini(&directory);
    text_fini(&path);
    return fine;
}

/* ---- the command ---- */

static bool read_numbers(const struct options *options, struct figure_tools *tools,
                         struct problem *problem)
{
    long seed = 1, samples = 300;
    if (options->seed != NULL &&
        !options_whole("seed", options->seed, 0, 2147483647L, &seed, problem))
        return false;
    if (options->samples != NULL &&
        !options_whole("samples", options->samples, 1, 100000, &samples, problem))
        return false;
    tools->seed = (uint64_t)seed;
    tools->samples = (size_t)samples;
    return batch_jobs(options, &tools->jobs, problem);
}

static bool plot_figure(const struct figure *figure, const struct options *options,
                        struct figure_tools *tools, const char *format, struct problem *problem)
{
    struct calibration *calibration = NULL;
    struct figure_table table = { 0 };
    tools->resolver = resolver_create(tools->system, tools->catalog, problem);
    bool fine = tools->resolver != NULL &&
                calibration_load(tools->system, tools->catalog, options, &calibration, problem);
    if (fine) {
        calibration_apply(calibration, tools->resolver);
        tools->calibration = calibration;
        fine = figure_answer(figure, tools, &table, problem) &&
               (options->csv == NULL || write_rows(figure, &table, options->csv, problem));
        if (fine && format != NULL && !draw(figure, &table, format, options->output, problem))
            fine = options->csv != NULL && add_data(options->csv, problem);
    }
    figure_table_fini(&table);
    calibration_destroy(calibration);
    resolver_destroy(tools->resolver);
    return fine;
}

static int plot(const struct command *command, const struct options *options,
                const char *const *words, size_t word_count, struct catalog *catalog)
{
    struct problem problem, missing;
    struct figure_tools tools = { .catalog = catalog };
    const char *format = NULL;
    (void)command;
    if (options->list != NULL && word_count > 0)
        return command_fail(
            (problem_set(&problem, "plot: '%.60s' is one word too many", words[0]), &problem));
    if (options->list != NULL)
        return print_list(options, &problem) ? EXIT_FINE : command_fail(&problem);
    const struct figure *figure = named_figure(words, word_count, &problem);
    if (figure == NULL || !read_numbers(options, &tools, &problem))
        return command_fail(&problem);
    if (options->output == NULL && options->csv == NULL)
        return command_fail((problem_set(&problem, "plot: expected -o FILE.svg, .png or .pdf, or "
                                                   "--csv FILE"),
                             &problem));
    if (options->output != NULL && options->csv != NULL &&
        strcmp(options->output, options->csv) == 0)
        return command_fail((problem_set(&problem, "-o and --csv: both are %s", options->csv),
                             &problem));
    if (options->output != NULL &&
        ((format = format_of(options->output, &problem)) == NULL ||
         !output_check(options->output, &problem)))
        return command_fail(&problem);
    if (options->csv != NULL && !output_check(options->csv, &problem))
        return command_fail(&problem);
    const bool lacks_gnuplot = format != NULL && !find_gnuplot(&missing);
    if (lacks_gnuplot && options->csv == NULL)
        return command_fail((add_data(NULL, &missing), &missing));
    tools.system = sc_system_find(figure->system);
    if (!plot_figure(figure, options, &tools, lacks_gnuplot ? NULL : format, &problem))
        return command_fail(&problem);
    return lacks_gnuplot ? command_fail((add_data(options->csv, &missing), &missing)) : EXIT_FINE;
}

static const struct option_row options[] = {
    OPTION(output, 'o', "FILE", "the figure, as .svg, .png or .pdf; whole or not at all"),
    OPTION(csv, 0, "FILE", "the numbers in it; without -o nothing is drawn"),
    OPTION(list, 'l', NULL, "what figures there are"),
    OPTION(format, 'f', "FORMAT", "of --list: table, csv, tsv, json, jsonl or md"),
    OPTION(samples, 'n', "N", "scenarios of calibration-parity (default 300)"),
    OPTION(seed, 's', "N", "seed of the samples and of every run (default 1)"),
    OPTION(jobs, 'j', "N", "runs at a time (default: one per processor)"),
    OPTION(level, 0, "P", "probability that the band of the closed form holds (default 0.9)"),
    OPTION(params, 0, "FILE", "calibration to use instead of the one that comes with the system"),
    OPTION(data, 0, "DIR", "tables of GPUs, models, flash instead of the built-in ones"),
    OPTION(help, 'h', NULL, "this text"),
};

const struct command command_plot = {
    .name = "plot",
    .usage = "FIGURE -o FILE [options]",
    .summary = "figures of the papers: published points, simulator and closed form",
    .details =
        "Every scenario of the figure is answered by simulator and closed form; published figures\n"
        "about the same scenarios are drawn as diamonds, and nothing is drawn where nothing was\n"
        "published.  With a calibration the closed form has its prediction interval; that of a\n"
        "mean is the mean of the models' ends, so rather wide.  Needs gnuplot.\n\n"
        "  stallcast plot --list\n"
        "  stallcast plot hbf-buffer -o buffer.svg\n"
        "  stallcast plot hbf-policies -o policies.pdf --csv policies.csv\n"
        "  stallcast plot calibration-parity --params mine.csv --seed 7 -o parity.png\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .run = plot,
};
