/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stallcast compare: rows of a CSV file with something measured, against the closed form. */
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "compare_plot.h"
#include "compare_score.h"
#include "compare_table.h"
#include "comparison.h"
#include "overwrite.h"
#include "product.h"
#include "sink.h"

enum { GROUPS_PRINTED = 20 };

struct job {
    const struct options *options;
    const char *path;
    struct emit_style style;
    struct resolver *resolver;
    struct calibration *calibration;
    struct product product;
    struct setting *settings;
    struct observed observed;
    struct comparison comparison;
    struct compare_scores scores;
    struct score_limit limits[OPTION_TIMES];
    size_t limit_count, by; /* by: a column of the file, or SIZE_MAX */
    long top;
};

/* ---- what was asked for ---- */

/* What can be wrong is told before anything is read. */
static bool check_options(struct job *job, struct problem *problem)
{
    const struct options *const o = job->options;
    struct options style = *o;
    style.from = NULL; /* a table unless told otherwise, however the file was named */
    if (!sink_style(&style, &job->style, problem))
        return false;
    if (o->top != NULL && !options_whole("top", o->top, 1, LONG_MAX, &job->top, problem))
        return false;
    if (o->summary != NULL && (o->top != NULL || o->in_order != NULL || o->columns != NULL))
        return problem_set(problem, "--summary: not with --%s, which is about rows",
                           o->top != NULL        ? "top"
                           : o->in_order != NULL ? "in-order"
                                                 : "columns");
    return overwrite_check(o, job->path, problem) && output_check(o->output, problem) &&
           (o->plot == NULL || compare_plot_check(o->plot, problem));
}

static const char *column_at(unsigned long i, const void *context)
{
    const struct rows *const rows = context;
    return sc_csv_columns(rows->reader)[i].text;
}

static bool find_by(struct job *job, struct problem *problem)
{
    const struct rows *const rows = &job->observed.rows;
    const char *const name = job->options->by;
    job->by = name != NULL ? rows_column(rows, name) : SIZE_MAX;
    if (name == NULL || job->by != SIZE_MAX)
        return true;
    const char *const nearest = problem_nearest(name, column_at, rows->column_count, rows);
    return problem_set(problem, "--by: %s has no column '%.60s'%s%s%s", rows->name, name,
                       nearest != NULL ? ": did you mean " : "", nearest != NULL ? nearest : "",
                       nearest != NULL ? "?" : "");
}

static bool read_limits(struct job *job, struct problem *problem)
{
    const char *const *const texts = job->options->fail_above;
    for (size_t i = 0; i < OPTION_TIMES && texts[i] != NULL; i++)
        if (!score_limit_parse(texts[i], job->comparison.in_points,
                               &job->limits[job->limit_count++], problem))
            return false;
    return true;
}

static bool set_up(struct job *job, const struct sc_system *system, const char *const *keys,
                   size_t key_count, struct catalog *catalog, struct problem *problem)
{
    job->resolver = resolver_create(system, catalog, problem);
    if (job->resolver == NULL ||
        !calibration_load(system, catalog, job->options, &job->calibration, problem))
        return false;
    calibration_apply(job->calibration, job->resolver);
    if (!product_make(job->resolver, keys, key_count, &job->product, problem))
        return false;
    if (job->product.rows != 1)
        return problem_set(problem, "compare answers each row once: a list or range on the command "
                                    "line has no place there");
    job->settings = calloc(job->product.count + 1, sizeof *job->settings);
    if (job->settings == NULL)
        return problem_set(problem, "out of memory");
    product_row(&job->product, 0, job->settings);
    return true;
}

/* ---- writing ---- */

static bool write_summary(struct job *job, struct problem *problem)
{
    struct emit_column columns[COMPARE_SCORE_COLUMNS] = { { 0 } };
    struct emit_cell cells[COMPARE_SCORE_COLUMNS] = { { 0 } };
    struct sink sink;
    const char *const metric = job->observed.metric->column;
    const size_t count = compare_scores_columns(&job->scores, columns);
    if (!sink_open(&sink, &job->style, columns, count, job->options->output, problem))
        return false;
    for (size_t i = 0; i < job->scores.count; i++) {
        compare_scores_cells(&job->scores, &job->scores.groups[i], metric, cells);
        if (!sink_row(&sink, cells, problem)) {
            sink_abandon(&sink);
            return false;
        }
    }
    return sink_close(&sink, problem);
}

static int compare_indices(const void *a, const void *b)
{
    const size_t p = *(const size_t *)a, q = *(const size_t *)b;
    return (p > q) - (p < q);
}

static bool write_rows(struct job *job, struct problem *problem)
{
    const struct comparison *const c = &job->comparison;
    size_t count = c->count;
    size_t *const order = calloc(count + 1, sizeof *order);
    if (order == NULL || !comparison_order(c, order)) {
        free(order);
        return problem_set(problem, "out of memory");
    }
    if (job->top > 0 && (unsigned long)job->top < count)
        count = (size_t)job->top;
    if (job->options->in_order != NULL)
        qsort(order, count, sizeof *order, compare_indices);
    const bool fine = compare_table_write(c, job->options, &job->style, order, count, problem);
    free(order);
    return fine;
}

/* ---- the verdict ---- */

static void print_bad(const struct comparison *c)
{
    struct problem line;
    for (size_t i = 0; i < c->count; i++) {
        if (c->rows[i].standing != STANDING_BAD)
            continue;
        (void)problem_set(&line, "%zu of %zu rows cannot be compared; the first: %s",
                          c->standings[STANDING_BAD], c->count, c->rows[i].reason);
        problem_print(&line);
        return;
    }
}

static void print_checks(const struct comparison *c)
{
    struct problem line;
    size_t count = 0, first = 0;
    for (size_t i = c->count; i-- > 0;)
        if (c->rows[i].failed_checks != NULL) {
            first = i;
            count++;
        }
    if (count == 0)
        return;
    (void)problem_set(&line,
                      "%zu of %zu rows have counters that cannot be right; the first: %s:%zu: %s",
                      count, c->count, c->observed->rows.name, c->rows[first].row->line,
                      c->rows[first].failed_checks);
    problem_print(&line);
}

/* A check that compares nothing must not pass. */
static bool print_nothing(const struct comparison *c)
{
    struct problem line;
    if (c->standings[STANDING_COUNTED] > 0)
        return false;
    const char *const name = c->observed->rows.name;
    if (c->count == 0)
        (void)problem_set(&line, "%s: nothing was compared: there is no row", name);
    else if (c->rows[0].standing == STANDING_BAD) /* whose reason was just told */
        (void)problem_set(&line, "%s: nothing was compared: none of %zu rows counts", name,
                          c->count);
    else
        (void)problem_set(&line, "%s: nothing was compared: none of %zu rows counts; the first: %s",
                          name, c->count, c->rows[0].reason);
    problem_print(&line);
    return true;
}

static int conclude(struct job *job)
{
    const struct comparison *const c = &job->comparison;
    struct problem problem;
    bool fine = true;
    if (job->options->summary == NULL)
        compare_scores_print(&job->scores, job->observed.metric->column, GROUPS_PRINTED);
    extrapolation_print(&c->extrapolation, c->count);
    print_checks(c);
    if (job->options->plot != NULL && !compare_plot_has_points(c)) {
        (void)problem_set(&problem, "--plot: no row has both a measurement and a prediction");
        problem_print(&problem);
        fine = false;
    }
    if (c->standings[STANDING_BAD] > 0) {
        print_bad(c);
        fine = false;
    }
    if (print_nothing(c))
        return EXIT_NO;
    for (size_t i = 0; i < job->limit_count; i++)
        if (!score_limit_keeps(&job->limits[i], compare_scores_all(&job->scores), &problem)) {
            problem_print(&problem);
            fine = false;
        }
    return fine && !filter_gave_up(job->observed.filter) ? EXIT_FINE : EXIT_NO;
}

static bool stop_at_bad(const struct comparison *c, struct problem *problem)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->rows[i].standing == STANDING_BAD)
            return problem_set(problem, "%s", c->rows[i].reason);
    return true;
}

static bool run(struct job *job, struct problem *problem)
{
    const struct options *const o = job->options;
    const struct comparison *const c = &job->comparison;
    return observed_read(&job->observed, job->resolver, job->path, o, &job->style, job->settings,
                         job->product.count, problem) &&
           find_by(job, problem) &&
           comparison_make(&job->comparison, &job->observed, job->calibration, problem) &&
           read_limits(job, problem) && (o->strict == NULL || stop_at_bad(c, problem)) &&
           compare_scores_make(&job->scores, c, job->by, problem) &&
           (o->plot == NULL || !compare_plot_has_points(c) ||
            compare_plot_draw(c, &job->scores, o->plot, problem)) &&
           (o->summary != NULL ? write_summary : write_rows)(job, problem);
}

/* A file alone says by its columns what it is about. */
static bool names_file(const char *word)
{
    return sc_system_find(word) == NULL && strchr(word, '=') == NULL &&
           (strchr(word, '.') != NULL || strchr(word, '/') != NULL);
}

/* The system that the first word names; *first is where the other words begin. */
static const struct sc_system *find_system(const struct command *command,
                                           const struct options *options, const char *const *words,
                                           size_t count, size_t *first, struct catalog *catalog,
                                           struct problem *problem)
{
    *first = 0;
    if (count > 0 && names_file(words[0]))
        return observed_system(words[0], catalog, options, problem);
    if (count == 0 && options->from != NULL && strcmp(options->from, "-") != 0)
        return observed_system(options->from, catalog, options, problem);
    *first = 1;
    return command_system(command, words, count, problem);
}

static int compare(const struct command *command, const struct options *options,
                   const char *const *words, size_t word_count, struct catalog *catalog)
{
    struct problem problem;
    struct job job = { .options = options };
    size_t first = 0;
    const struct sc_system *const system =
        find_system(command, options, words, word_count, &first, catalog, &problem);
    int code = EXIT_USAGE;
    if (system == NULL)
        return command_fail(&problem);
    size_t key_count = word_count - first;
    const char **const keys = calloc(word_count + 1, sizeof *keys);
    if (keys == NULL)
        return command_fail((problem_set(&problem, "out of memory"), &problem));
    memcpy(keys, words + first, key_count * sizeof *keys);
    if (!observed_file(command, options, keys, &key_count, &job.path, &problem) || !check_options(&job, &problem) ||
        !set_up(&job, system, keys, key_count, catalog, &problem) || !run(&job, &problem))
        code = command_fail(&problem);
    else
        code = conclude(&job);
    compare_scores_fini(&job.scores);
    comparison_fini(&job.comparison);
    observed_fini(&job.observed);
    product_fini(&job.product);
    free(job.settings);
    free(keys);
    calibration_destroy(job.calibration);
    resolver_destroy(job.resolver);
    return code;
}

static const struct option_row options[] = {
    OPTION(from, 'i', "FILE", "the same as FILE; - is standard input"),
    OPTION(measured, 'm', "COLUMN", "what was measured, or COLUMN=METRIC (default: by its name)"),
    OPTION(by, 0, "COLUMN", "a summary for each value of that column of the file"),
    OPTION(summary, 0, NULL, "scores as rows, instead of the rows of the file"),
    OPTION(top, 0, "N", "only the worst N rows"),
    { .name = "in-order", .offset = offsetof(struct options, in_order),
      .help = "rows as in the file, not the worst first" },
    { .name = "fail-above", .argument = "LIMIT", .offset = offsetof(struct options, fail_above),
      .help = "exit status 1 if the mean error is above, in per cent; or SCORE=LIMIT",
      .times = true },
    OPTION(plot, 0, "FILE", "predicted against measured as .svg, .png or .pdf too"),
    OPTION(columns, 'c', "LIST", "columns of the file to write (default all; in tables see above)"),
    OPTION(only, 0, "REGEX", "keep rows whose CSV fields match"),
    OPTION(format, 'f', "FORMAT", "table, csv, tsv, json, jsonl or md (default table)"),
    OPTION(output, 'o', "FILE", "write there, whole or not at all"),
    OPTION(level, 0, "P", "probability that an interval holds (default 0.9)"),
    OPTION(params, 0, "FILE", "calibration to use instead of the one that comes with the system"),
    OPTION(digits, 0, "N", "significant digits per number, or all (default 6; in table and md 4)"),
    OPTION(strict, 0, NULL, "stop at the first bad row, with exit status 2"),
    OPTION(delimiter, 0, "CHAR", "of CSV in and out (default: found out, and a comma out)"),
    OPTION(decimal, 0, "CHAR", "decimal sign of CSV in and out (default: found out, and kept)"),
    OPTION(data, 0, "DIR", "tables of GPUs, models, flash instead of the built-in ones"),
    OPTION(help, 'h', NULL, "this text"),
};

const struct command command_compare = {
    .name = "compare",
    .usage = "[SYSTEM] FILE [key=value ...] [options]",
    .summary = "your measurements in a CSV file against the closed form",
    .details =
        "Columns that name a key (buffer, latency_us, 'latency (us)') make a row a scenario, as for\n"
        "estimate --from; without SYSTEM it is the one most of whose keys there are.  The measurement\n"
        "is the column measured_METRIC, else time_s, cycles or slowdown, in the unit of its name or of\n"
        "the cell; --measured names another.  >300s is a run that was stopped: at least that.  Rows out\n"
        "are rows in, the worst first; `ratio` is predicted over measured.  A table shows the columns\n"
        "of the file that tell its rows apart, other formats all of them.\n\n"
        "Not counted, that is shown and in no mean: rows without a measurement, with text in a column\n"
        "not_counted (import --map stream writes one), with kernel_whole 0, and those known from one\n"
        "side, which are no error where the prediction lies on that side.  Bad rows keep their place\n"
        "with the reason; the exit status is then 1, as it is when no row counts.\n\n"
        "predicted_lo and _hi are the interval of slowdown, scaled, where the metric is slowdown or its\n"
        "reciprocal times what the scenario gives: time_s and layer_time_s (not of prefetch, whose\n"
        "baseline is an answer too), cycles, performance, speedup, tokens_per_s, share_of_peak,\n"
        "throughput_bytes_per_s of stream, bandwidth_bytes_per_s of uvm.  Other metrics have none.\n"
        "Other shares are compared in points (hundredths), since 1 % for 2 % is no factor of 2.\n"
        "Scores of --fail-above: mape, geometric, worst, nrmse, outside (of the interval, per cent);\n"
        "of shares in points: points, worst.\n\n"
        "Counters that import gives are checked in each row: Little's law, limits of the machine,\n"
        "conservation (hits and misses, reads, bandwidth, time).  What fails is in the column checks.\n\n"
        "  stallcast import accelsim run*.log --map stream > runs.csv\n"
        "  stallcast compare stream runs.csv --by kernel --plot parity.svg\n"
        "  stallcast compare hbf mine.csv model=llama-70b --measured 'run (ms)=time_s' --top 10\n"
        "  stallcast compare stream runs.csv --summary -f json --fail-above 5%\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .run = compare,
};
