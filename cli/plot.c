/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stallcast plot: figures of the papers, redrawn from our own answers. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "batch.h"
#include "command.h"
#include "figure.h"
#include "gnuplot.h"
#include "sink.h"

static const struct gnuplot_user user = { .name = "plot" };
static const char sample_column[] = "simulated_slowdown";

static const char *figure_at(unsigned long i, const void *context)
{
    (void)context;
    return figures[i].name;
}

static const char *figure_name(size_t i)
{
    return i < figure_count ? figures[i].name : NULL;
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

/* ---- what is written ---- */

enum { FIXED_COLUMNS = 4 };

/* What a figure shows. */
struct shown {
    const struct figure *figure;
    const struct figure_table *table;
};

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

static bool write_shown(const void *context, const char *path, struct problem *problem)
{
    const struct shown *shown = context;
    return write_rows(shown->figure, shown->table, path, problem);
}

static bool draw(const struct figure *figure, const struct figure_table *table, const char *format,
                 const char *to, struct problem *problem)
{
    const struct shown shown = { figure, table };
    const struct gnuplot plotted = { .name = figure->name, .format = format, .user = &user,
                                     .write = write_shown, .context = &shown };
    return gnuplot_draw(&plotted, to, problem);
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
    if (options->output != NULL &&
        ((format = gnuplot_format("output", options->output, &problem)) == NULL ||
         !output_check(options->output, &problem)))
        return command_fail(&problem);
    if (options->csv != NULL && !output_check(options->csv, &problem))
        return command_fail(&problem);
    const bool lacks_gnuplot = format != NULL && !gnuplot_find(&user, &missing);
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
    OPTION(samples, 'n', "N", "scenarios of the parity figures (default 300)"),
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
        "mean is the mean of the models' ends, so rather wide.  Ratios of two scenarios have the\n"
        "ratio of their answers; a run that was stopped is drawn as at least that.  Where a figure\n"
        "shows ratios or rates only, some of its simulations have less to do: uvm-random a sixth of\n"
        "the memory, bitonic sort in uvm-apps and uvm-winner-across a 32nd, uvm-llm an eighth of the\n"
        "tokens.  Needs gnuplot.\n\n"
        "  stallcast plot --list\n"
        "  stallcast plot hbf-buffer -o buffer.svg\n"
        "  stallcast plot hbf-policies -o policies.pdf --csv policies.csv\n"
        "  stallcast plot calibration-parity --params mine.csv --seed 7 -o parity.png\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .first = figure_name,
    .run = plot,
};
