/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stallcast estimate: closed-form answers for scenarios, sweeps and CSV files. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "batch.h"
#include "command.h"
#include "filter.h"
#include "product.h"
#include "scenario.h"
#include "sink.h"
#include "spread.h"

/* A run of the product: which keys are columns, and storage for one row. */
struct run {
    const struct sc_system *system;
    struct resolver *resolver;
    struct calibration *calibration;
    struct product product;
    struct uncertain_list uncertain; /* keys given as low~high */
    struct spread *spread;           /* of the answers then, or NULL */
    struct selection selection;
    struct filter *filter;
    size_t *shown; /* indices of the sweeps that are columns of their own */
    size_t shown_count, answer_count;
    struct emit_column *columns;
    struct emit_cell *cells;
    char *names, *answer_names;
    struct setting *settings;
    struct text described;
    size_t column_count, kept_rows, bad_rows;
    struct problem first_bad;
    struct extrapolation extrapolation;
};

/* Answers can be fed back as scenarios: a metric never goes by the name of a key. */
static bool is_key(const char *name, const void *context)
{
    const struct run *run = context;
    struct binding binding;
    return resolver_bind(run->resolver, name, &binding, NULL);
}

static bool is_key_column(const char *name, const void *context)
{
    const struct run *run = context;
    for (size_t i = 0; i < run->shown_count; i++)
        if (strcmp(run->columns[i].name, name) == 0)
            return true;
    return false;
}

static void name_answers(struct run *run, bool table, struct emit_column *columns)
{
    for (size_t i = 0; i < run->selection.count; i++) {
        struct emit_column *column = &columns[i];
        if (run->selection.items[i].metric != NULL)
            column->name = answer_name(column->name, table ? is_key_column : is_key, run,
                                       run->answer_names + i * ANSWER_NAME_MAX);
    }
}

/* Three columns of each number are too many for a table: a few numbers then. */
static bool select_answers(struct run *run, const char *columns, bool table,
                           struct problem *problem)
{
    struct text brief = { 0 };
    if (run->uncertain.count > 0 && table && columns == NULL) {
        text_printf(&brief, "%s,time_s,bound", run->system->metrics[0].column);
        columns = brief.failed ? NULL : brief.bytes;
    }
    const bool fine = selection_make(run->system, columns, table,
                                     extra_of_calibration(run->calibration), &run->selection,
                                     problem);
    text_fini(&brief);
    return fine;
}

/* Headers of the answers, and what is needed to sample them. */
static bool plan_answers(struct run *run, const struct options *options, bool table,
                         struct problem *problem)
{
    struct emit_column *answers = run->columns + run->shown_count;
    struct emit_column *plain = calloc(run->selection.count + 1, sizeof *plain);
    size_t samples = 0;
    uint64_t seed = 0;
    if (plain == NULL)
        return problem_set(problem, "out of memory");
    selection_columns(&run->selection, plain);
    name_answers(run, table, plain);
    run->answer_count = run->selection.count;
    bool fine = true;
    if (run->uncertain.count == 0) {
        memcpy(answers, plain, run->selection.count * sizeof *plain);
    } else {
        fine = spread_options(options, &samples, &seed, problem) &&
               (run->spread = spread_create(run->resolver, run->calibration, &run->uncertain,
                                            &run->selection, samples, seed, problem)) != NULL;
        run->answer_count = spread_column_count(&run->selection);
        if (fine)
            spread_columns(run->spread, plain, answers);
    }
    free(plain);
    return fine;
}

static bool run_plan(struct run *run, const struct options *options, bool table,
                     struct problem *problem)
{
    const size_t keys = run->product.count;
    run->filter = filter_create(options->only, problem);
    if (run->filter == NULL || !select_answers(run, options->columns, table, problem))
        return false;
    const size_t most = keys + 3 * run->selection.count + 1;
    run->shown = calloc(keys + 1, sizeof *run->shown);
    run->names = calloc(keys + 1, FIELD_COLUMN_MAX);
    run->columns = calloc(most, sizeof *run->columns);
    run->cells = calloc(most, sizeof *run->cells);
    run->settings = calloc(keys + UNCERTAIN_MAX, sizeof *run->settings);
    run->answer_names = calloc(run->selection.count + 1, ANSWER_NAME_MAX);
    if (run->shown == NULL || run->names == NULL || run->columns == NULL || run->cells == NULL ||
        run->settings == NULL || run->answer_names == NULL)
        return problem_set(problem, "out of memory");
    for (size_t i = 0; i < keys; i++) {
        const struct sc_field *field = run->product.sweeps[i].field;
        /* What is the same in every row only widens a table; what is asked for stands
         * where it was asked for. */
        if ((table && run->product.sweeps[i].count == 1) || selection_has(&run->selection, field))
            continue;
        run->columns[run->shown_count] = (struct emit_column){
            .name = field_column(field, run->names + i * FIELD_COLUMN_MAX),
            .dimension = field->dimension,
        };
        run->shown[run->shown_count++] = i;
    }
    if (!plan_answers(run, options, table, problem))
        return false;
    run->column_count = run->shown_count + run->answer_count;
    run->columns[run->column_count] = (struct emit_column){ .name = "error" };
    return true;
}

static void run_fini(struct run *run)
{
    filter_destroy(run->filter);
    spread_destroy(run->spread);
    selection_fini(&run->selection);
    product_fini(&run->product);
    free(run->shown);
    free(run->names);
    free(run->answer_names);
    text_fini(&run->described);
    free(run->columns);
    free(run->cells);
    free(run->settings);
}

static void key_cells(const struct run *run, const void *scenario)
{
    for (size_t i = 0; i < run->shown_count; i++) {
        const struct setting *setting = &run->settings[run->shown[i]];
        const char *name = setting_name(setting);
        /* What was counted in cycles is shown in seconds like all else. */
        run->cells[i] = name != NULL         ? emit_string(name)
                        : setting->deferred ? emit_number(sc_field_get(setting->field, scenario))
                                             : emit_number(setting->value);
    }
}

static void describe_cycles(const struct setting *setting, struct text *out)
{
    emit_quantity(setting->value, SC_NUMBER, 6, out);
    text_add_string(out, setting->field->dimension == SC_SECONDS ? " cycles" : " B/cycle");
}

/* "key=value key=value": what --only sees of a row. */
static void describe_row(const struct run *run, struct text *out)
{
    text_clear(out);
    for (size_t i = 0; i < run->product.count; i++) {
        const char *name = setting_name(&run->settings[i]);
        text_printf(out, "%s%s=", i > 0 ? " " : "", run->settings[i].field->key);
        if (name != NULL)
            text_add_string(out, name);
        else if (run->settings[i].deferred)
            describe_cycles(&run->settings[i], out);
        else
            emit_quantity(run->settings[i].value, run->settings[i].field->dimension, 6, out);
    }
}

static bool row_is_kept(struct run *run)
{
    if (filter_keeps_all(run->filter))
        return true;
    describe_row(run, &run->described);
    return filter_keeps(run->filter, run->described.length > 0 ? run->described.bytes : "",
                        run->described.length);
}

/* One scenario into run->cells; a failure fills the error cell.  Counts it if it
 * is extrapolated. */
static bool answer_row(struct run *run, struct extrapolation *extrapolation,
                       struct problem *problem)
{
    _Alignas(max_align_t) unsigned char scenario[SC_SCENARIO_MAX];
    struct judged_answer answer;
    struct sc_error error;
    struct emit_cell *cells = run->cells + run->shown_count;
    bool fine = resolver_build(run->resolver, run->settings, run->product.count, scenario, problem);
    key_cells(run, scenario);
    if (fine && run->spread != NULL) {
        fine = spread_answer(run->spread, run->settings, run->product.count, extrapolation, cells,
                             problem);
    } else if (fine) {
        const enum sc_status status = run->system->estimate(scenario, answer.answer, NULL, &error);
        fine = status == SC_OK;
        if (!fine)
            scenario_describe_error(run->system, status, &error, problem);
    }
    if (fine && run->spread == NULL) {
        calibration_judge(run->calibration, scenario, &answer);
        extrapolation_add(extrapolation, run->calibration, scenario, &answer);
        selection_cells(&run->selection, scenario, &answer, cells);
    }
    for (size_t i = 0; !fine && i < run->answer_count; i++)
        cells[i] = (struct emit_cell){ .kind = EMIT_EMPTY };
    run->cells[run->column_count] = emit_string(fine ? NULL : problem->text);
    return fine;
}

/* The error column is there only when some row needs it: whether one does is
 * known before the first row is written. */
static bool has_bad_row(struct run *run)
{
    struct problem problem;
    for (size_t row = 0; row < run->product.rows; row++) {
        product_row(&run->product, row, run->settings);
        if (!row_is_kept(run))
            continue;
        run->kept_rows++;
        if (!answer_row(run, &run->extrapolation, &problem)) {
            if (run->bad_rows++ == 0)
                run->first_bad = problem;
        }
    }
    return run->bad_rows > 0;
}

static int run_product(struct run *run, const struct options *options,
                       const struct emit_style *style)
{
    struct problem problem;
    struct sink sink;
    if (!run_plan(run, options, !sink_streams(style), &problem))
        return command_fail(&problem);
    const bool bad = has_bad_row(run);
    if (bad && (options->strict != NULL || run->product.rows == 1))
        return command_fail(&run->first_bad);
    if (!sink_open(&sink, style, run->columns, run->column_count + bad, options->output, &problem))
        return command_fail(&problem);
    bool fine = true;
    for (size_t row = 0; fine && row < run->product.rows; row++) {
        struct problem ignored;
        struct extrapolation counted = { 0 };
        product_row(&run->product, row, run->settings);
        if (!row_is_kept(run))
            continue;
        (void)answer_row(run, &counted, &ignored);
        fine = sink_row(&sink, run->cells, &problem);
    }
    if (fine)
        fine = sink_close(&sink, &problem);
    else
        sink_abandon(&sink);
    if (!fine)
        return command_fail(&problem);
    if (selection_wants_note(&run->selection, options->columns))
        extrapolation_print(&run->extrapolation, run->kept_rows);
    const bool gave_up = filter_gave_up(run->filter);
    if (bad) {
        (void)problem_set(&problem, "%zu of %zu scenarios have no answer; the first: %s",
                          run->bad_rows, run->kept_rows, run->first_bad.text);
        problem_print(&problem);
    }
    return bad || gave_up ? EXIT_NO : EXIT_FINE;
}

static bool read_words(struct run *run, const struct options *options, const char *const *words,
                       size_t count, struct problem *problem)
{
    const char **rest = calloc(count + 1, sizeof *rest);
    if (rest == NULL)
        return problem_set(problem, "out of memory");
    for (size_t i = 0; i < count; i++)
        rest[i] = words[i];
    const bool fine = uncertain_take(run->resolver, rest, &count, &run->uncertain, problem) &&
                      product_make(run->resolver, rest, count, &run->product, problem) &&
                      uncertain_check(&run->uncertain, &run->product, problem);
    free(rest);
    if (fine && run->uncertain.count == 0 && (options->samples != NULL || options->seed != NULL))
        return problem_set(problem, "--%s: expected a key given as low~high",
                           options->samples != NULL ? "samples" : "seed");
    return fine;
}

static int estimate(const struct command *command, const struct options *options,
                    const char *const *words, size_t word_count, struct catalog *catalog)
{
    struct problem problem;
    struct run run = { .system = command_system(command, words, word_count, &problem) };
    struct emit_style style;
    size_t jobs = 0;
    int code = EXIT_USAGE;
    if (run.system == NULL || !sink_style(options, &style, &problem) ||
        !batch_jobs(options, &jobs, &problem))
        return command_fail(&problem);
    run.resolver = resolver_create(run.system, catalog, &problem);
    if (run.resolver == NULL)
        return command_fail(&problem);
    if (!calibration_load(run.system, catalog, options, &run.calibration, &problem)) {
        resolver_destroy(run.resolver);
        return command_fail(&problem);
    }
    calibration_apply(run.calibration, run.resolver);
    if (!read_words(&run, options, words + 1, word_count - 1, &problem))
        code = command_fail(&problem);
    else if (options->from == NULL)
        code = run_product(&run, options, &style);
    else if (run.product.rows != 1 || run.uncertain.count > 0)
        code = command_fail((problem_set(&problem, "--from answers each row once: a list or range "
                                                   "on the command line has no place there"),
                             &problem));
    else if ((run.settings = calloc(run.product.count + 1, sizeof *run.settings)) == NULL)
        code = command_fail((problem_set(&problem, "out of memory"), &problem));
    else {
        product_row(&run.product, 0, run.settings);
        code = batch_run(run.resolver, run.calibration, run.settings, run.product.count, options, jobs, &style);
    }
    run_fini(&run);
    calibration_destroy(run.calibration);
    resolver_destroy(run.resolver);
    return code;
}

static const struct option_row options[] = {
    OPTION(from, 'i', "FILE", "read scenarios from a CSV file, or - for standard input"),
    OPTION(format, 'f', "FORMAT", "table, csv, tsv, json, jsonl or md (default table; csv with --from)"),
    OPTION(output, 'o', "FILE", "write there, whole or not at all"),
    OPTION(columns, 'c', "LIST", "columns of the answer and keys, a,b,c, or all"),
    OPTION(only, 0, "REGEX", "keep rows whose key=value text (or CSV fields) matches"),
    OPTION(level, 0, "P", "probability that slowdown_lo .. slowdown_hi holds (default 0.9)"),
    OPTION(params, 0, "FILE", "calibration to use instead of the one that comes with the system"),
    OPTION(samples, 'n', "N", "samples of keys that are given as low~high (default 1024)"),
    OPTION(seed, 's', "N", "seed of those samples (default 1)"),
    OPTION(digits, 0, "N", "significant digits per number, or all (default 6; in table and md 4)"),
    OPTION(strict, 0, NULL, "stop at the first bad row"),
    OPTION(jobs, 'j', "N", "threads for --from (default: one per processor)"),
    OPTION(delimiter, 0, "CHAR", "of CSV in and out (default: found out, and a comma out)"),
    OPTION(decimal, 0, "CHAR", "decimal sign of CSV in and out (default: found out, and kept)"),
    OPTION(data, 0, "DIR", "tables of GPUs, models, flash instead of the built-in ones"),
    OPTION(help, 'h', NULL, "this text"),
};

const struct command command_estimate = {
    .name = "estimate",
    .usage = "SYSTEM [key=value ...] [options]",
    .summary = "closed-form answers for a scenario, a sweep, or every row of a CSV file",
    .details =
        "A value may be a list a,b, a range low:high:step or low:high:*factor, `all`, or @TAG for\n"
        "the rows of a table that carry the tag; several of them make the product:\n\n"
        "  stallcast estimate hbf model=llama-70b policy=all buffer=8MB:64MB:*2\n"
        "  stallcast estimate hbf model=@slipstream7 policy=slipstream latency=5us:20us:5us\n"
        "  stallcast estimate hbf --from plan.csv > answers.csv\n\n"
        "A number known only to lie between two values is given as low~high.  The columns are then\n"
        "the median of each metric over samples, and what 5 and 95 of 100 stay below (_p5, _p95);\n"
        "`bound` is the most frequent one; a table shows few metrics unless -c asks.  Values are\n"
        "uniform in the range, or their logarithm is where calibration samples the key so; several\n"
        "keys are independent.  These are no intervals of the closed form: slowdown_lo and slowdown_hi\n"
        "have quantiles of their own.\n\n"
        "  stallcast estimate hbf model=llama-70b latency=15us~25us hbf_bandwidth=1.5TB/s~2TB/s\n\n"
        "With --from every column that names a key (buffer, latency_us, 'latency (us)') sets it,\n"
        "other columns travel through, keys on the command line fill what a row leaves empty, and\n"
        "a bad row keeps its place with the reason in the column `error`.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .run = estimate,
};
