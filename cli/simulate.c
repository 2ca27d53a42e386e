/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stallcast simulate: the same answers from the built-in simulator. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answer.h"
#include "command.h"
#include "filter.h"
#include "product.h"
#include "progress.h"
#include "replay.h"
#include "scenario.h"
#include "sim/event.h"
#include "sim/simulator.h"
#include "sim/stats.h"
#include "sink.h"

/* The share of runs whose mean the interval of --repeat holds. */
static const double confidence = 0.90;

/* Every row of the product, repeated; workers take the next one that is left. */
struct simulation {
    const struct sc_system *system;
    const struct sc_simulator *simulator;
    struct resolver *resolver;
    struct product product;
    struct selection selection;
    struct filter *filter;
    size_t repeats, jobs;
    uint64_t seed;
    bool check;
    unsigned char *scenarios, *answers; /* of row x repeat */
    struct problem *problems;           /* of rows; "" where all went well */
    pthread_mutex_t lock;
    size_t next, steady; /* steady: rows whose repeats are all the same */
    struct progress progress;
    struct sc_warp_trace *replay; /* or NULL */
    FILE *trace;
    int trace_errno; /* why the trace could not be written, or 0 */
};

static void make_scenarios(struct simulation *s)
{
    struct setting *settings =
        calloc(s->product.count + s->system->field_count + 1, sizeof *settings);
    const size_t first = settings != NULL && s->replay != NULL
                             ? replay_defaults(s->simulator, settings)
                             : 0;
    for (size_t row = 0; row < s->product.rows; row++) {
        if (settings == NULL) {
            (void)problem_set(&s->problems[row], "out of memory");
            continue;
        }
        product_row(&s->product, row, settings + first);
        (void)resolver_build(s->resolver, settings, first + s->product.count,
                             s->scenarios + row * s->system->scenario_size, &s->problems[row]);
    }
    free(settings);
}

static void write_record(const struct sc_sim_record *record, void *context)
{
    struct simulation *s = context;
    const uint64_t times_ps[] = { record->asked_ps, record->arrived_ps, record->first_use_ps,
                                  record->last_use_ps, record->evicted_ps };
    if (s->trace_errno != 0)
        return;
    bool fine = fprintf(s->trace, "%s,%lu,%lu", record->kernel, (unsigned long)record->sm,
                        (unsigned long)record->unit) >= 0;
    for (size_t i = 0; fine && i < sizeof times_ps / sizeof times_ps[0]; i++)
        fine = (times_ps[i] == SC_SIM_NEVER_PS
                    ? fputc(',', s->trace)
                    : fprintf(s->trace, ",%.6f", (double)times_ps[i] * 1e-6)) >= 0;
    if (!fine || fputc('\n', s->trace) < 0)
        s->trace_errno = errno;
}

static void run_one(struct simulation *s, size_t index)
{
    const size_t row = index / s->repeats;
    struct sc_sim_report report;
    struct sc_error error = { 0 };
    const struct sc_sim_options options = { .seed = s->seed, .run = index % s->repeats,
                                            .check = s->check,
                                            .record = s->trace != NULL ? write_record : NULL,
                                            .context = s, .replay = s->replay };
    if (s->problems[row].text[0] != '\0')
        return;
    const enum sc_status status =
        s->simulator->simulate(s->scenarios + row * s->system->scenario_size, &options,
                               s->answers + index * s->system->answer_size, &report, &error);
    if (status == SC_OK)
        return;
    (void)pthread_mutex_lock(&s->lock);
    if (s->problems[row].text[0] == '\0')
        scenario_describe_error(s->system, status, &error, &s->problems[row]);
    (void)pthread_mutex_unlock(&s->lock);
}

static void *work(void *argument)
{
    struct simulation *s = argument;
    for (;;) {
        (void)pthread_mutex_lock(&s->lock);
        const size_t index = s->next;
        const bool left = index < s->product.rows * s->repeats;
        s->next += left;
        (void)pthread_mutex_unlock(&s->lock);
        if (!left)
            return NULL;
        run_one(s, index);
        (void)pthread_mutex_lock(&s->lock);
        progress_step(&s->progress);
        (void)pthread_mutex_unlock(&s->lock);
    }
}

static void run_all(struct simulation *s)
{
    const size_t total = s->product.rows * s->repeats;
    const size_t jobs = s->jobs < total ? s->jobs : total;
    pthread_t *threads = calloc(jobs + 1, sizeof *threads);
    size_t started = 0;
    progress_start(&s->progress, "simulate", total);
    if (threads == NULL) {
        (void)work(s);
    } else {
        for (size_t i = 1; i < jobs; i++)
            if (pthread_create(&threads[started], NULL, work, s) == 0)
                started++;
        (void)work(s);
        for (size_t i = 0; i < started; i++)
            (void)pthread_join(threads[i], NULL);
    }
    progress_end(&s->progress);
    free(threads);
}

/* Mean over the repeats into *answer, and the interval of the slowdown. */
static void fold_repeats(struct simulation *s, size_t row, struct repeated_answer *answer)
{
    const unsigned char *first = s->answers + row * s->repeats * s->system->answer_size;
    bool steady = s->repeats > 1;
    memcpy(answer->answer, first, s->system->answer_size);
    for (size_t m = 0; m < s->system->metric_count; m++) {
        const struct sc_metric *metric = &s->system->metrics[m];
        struct sc_sim_moments moments = { 0 };
        double begin;
        if (metric->text)
            continue;
        memcpy(&begin, first + metric->offset, sizeof begin);
        for (size_t i = 0; i < s->repeats; i++) {
            double value;
            memcpy(&value, first + i * s->system->answer_size + metric->offset, sizeof value);
            sc_sim_moments_add(&moments, value);
            steady = steady && !(value < begin || value > begin);
        }
        const double mean = sc_sim_moments_mean(&moments);
        memcpy(answer->answer + metric->offset, &mean, sizeof mean);
        if (m == 0) {
            const struct sc_sim_interval interval = sc_sim_moments_interval(&moments, confidence);
            answer->slowdown_mean_lo = interval.mean - interval.half_width;
            answer->slowdown_mean_hi = interval.mean + interval.half_width;
        }
    }
    s->steady += steady;
}

/* ---- output ---- */

struct layout {
    struct emit_column *columns;
    struct emit_cell *cells;
    char *names;
    struct setting *settings;
    size_t *shown, shown_count, count;
    bool errors;
};

static bool plan(const struct simulation *s, bool table, struct layout *layout,
                 struct problem *problem)
{
    const size_t keys = s->product.count, most = keys + s->selection.count + 2;
    layout->columns = calloc(most, sizeof *layout->columns);
    layout->cells = calloc(most, sizeof *layout->cells);
    layout->names = calloc(keys + 1, FIELD_COLUMN_MAX);
    layout->shown = calloc(keys + 1, sizeof *layout->shown);
    layout->settings = calloc(keys + 1, sizeof *layout->settings);
    if (layout->columns == NULL || layout->cells == NULL || layout->names == NULL ||
        layout->shown == NULL || layout->settings == NULL)
        return problem_set(problem, "out of memory");
    for (size_t i = 0; i < keys; i++) {
        const struct sc_field *field = s->product.sweeps[i].field;
        if ((table && s->product.sweeps[i].count == 1) || selection_has(&s->selection, field))
            continue;
        layout->columns[layout->shown_count] = (struct emit_column){
            .name = field_column(field, layout->names + i * FIELD_COLUMN_MAX),
            .dimension = field->dimension,
        };
        layout->shown[layout->shown_count++] = i;
    }
    selection_columns(&s->selection, layout->columns + layout->shown_count);
    layout->count = layout->shown_count + s->selection.count;
    if (layout->errors)
        layout->columns[layout->count++] = (struct emit_column){ .name = "error" };
    return true;
}

static void fill_row(struct simulation *s, struct layout *layout, size_t row)
{
    const void *scenario = s->scenarios + row * s->system->scenario_size;
    struct emit_cell *cells = layout->cells + layout->shown_count;
    for (size_t i = 0; i < layout->count; i++)
        layout->cells[i] = (struct emit_cell){ .kind = EMIT_EMPTY };
    for (size_t i = 0; i < layout->shown_count; i++) {
        const struct setting *setting = &layout->settings[layout->shown[i]];
        const char *name = setting_name(setting);
        layout->cells[i] = name != NULL ? emit_string(name)
                                        : emit_number(sc_field_get(setting->field, scenario));
    }
    if (s->problems[row].text[0] != '\0') {
        layout->cells[layout->count - 1] = emit_string(s->problems[row].text);
        return;
    }
    struct repeated_answer answer;
    fold_repeats(s, row, &answer);
    selection_cells(&s->selection, scenario, &answer, cells);
}

static bool print_rows(struct simulation *s, const struct options *options,
                       const struct emit_style *style, size_t bad, struct problem *problem)
{
    struct layout layout = { .errors = bad > 0 };
    struct sink sink;
    bool fine = plan(s, !sink_streams(style), &layout, problem);
    if (fine && (fine = sink_open(&sink, style, layout.columns, layout.count, options->output,
                                  problem))) {
        for (size_t row = 0; fine && row < s->product.rows; row++) {
            product_row(&s->product, row, layout.settings);
            fill_row(s, &layout, row);
            fine = sink_row(&sink, layout.cells, problem);
        }
        if (fine)
            fine = sink_close(&sink, problem);
        else
            sink_abandon(&sink);
    }
    free(layout.columns);
    free(layout.cells);
    free(layout.names);
    free(layout.shown);
    free(layout.settings);
    return fine;
}

/* ---- the command ---- */

static bool read_numbers(struct simulation *s, const struct options *options,
                         struct problem *problem)
{
    long value = 1, jobs = sysconf(_SC_NPROCESSORS_ONLN);
    s->seed = 1;
    s->repeats = 1;
    if (options->seed != NULL) {
        if (!options_whole("seed", options->seed, 0, 2147483647L, &value, problem))
            return false;
        s->seed = (uint64_t)value;
    }
    if (options->repeat != NULL) {
        if (!options_whole("repeat", options->repeat, 1, 100000, &value, problem))
            return false;
        s->repeats = (size_t)value;
    }
    if (options->jobs != NULL && !options_whole("jobs", options->jobs, 1, 256, &jobs, problem))
        return false;
    s->jobs = jobs < 1 ? 1 : (size_t)jobs;
    s->check = options->check != NULL;
    return true;
}

static bool allocate(struct simulation *s, struct problem *problem)
{
    const size_t rows = s->product.rows;
    if (rows > SIZE_MAX / s->repeats / SC_SCENARIO_MAX)
        return problem_set(problem, "too many runs");
    s->scenarios = calloc(rows, s->system->scenario_size);
    s->answers = calloc(rows * s->repeats, s->system->answer_size);
    s->problems = calloc(rows, sizeof *s->problems);
    return (s->scenarios != NULL && s->answers != NULL && s->problems != NULL) ||
           problem_set(problem, "out of memory");
}

static bool open_trace(struct simulation *s, const struct options *options, struct output *output,
                       struct problem *problem)
{
    if (options->trace == NULL)
        return true;
    if (s->product.rows * s->repeats != 1)
        return problem_set(problem, "--trace follows one run, not %zu",
                           s->product.rows * s->repeats);
    if (!output_open(output, options->trace, problem))
        return false;
    s->trace = output->file;
    return fputs("kernel,sm,unit,asked_us,arrived_us,first_use_us,last_use_us,evicted_us\n",
                 s->trace) >= 0 ||
           problem_set(problem, "cannot write %s", options->trace);
}

/* Before the runs: the scenario is known to be whole. */
static bool record_kernel(struct simulation *s, const struct options *options,
                          struct problem *problem)
{
    if (options->record == NULL || s->problems[0].text[0] != '\0')
        return true;
    return replay_record(s->simulator, s->scenarios, options->record, problem);
}

/* Reads the trace that stands for the kernel, unless a word says what it cannot have. */
static bool open_replay(struct simulation *s, const struct options *options,
                        struct problem *problem)
{
    const char *const name = options->replay;
    if (options->record != NULL && s->simulator->replay == NULL)
        return problem_set(problem, "--record: %s has no instructions of warps", s->system->name);
    if (options->record != NULL && s->product.rows != 1)
        return problem_set(problem, "--record writes one kernel, not %zu", s->product.rows);
    if (name == NULL)
        return true;
    if (!replay_check(s->simulator, &s->product, problem))
        return false;
    for (size_t i = 0; i < s->selection.count; i++)
        if (s->selection.items[i].field != NULL &&
            replay_replaces(s->simulator->replay, s->selection.items[i].field))
            return problem_set(problem, "--columns: %s says nothing with --replay",
                               s->selection.items[i].field->key);
    return replay_read(name, &s->replay, problem);
}

/* What the repeats add can be asked for, or stands there when there are some. */
static bool select_columns(struct simulation *s, const char *columns, bool table,
                           struct problem *problem)
{
    const bool named = columns != NULL && strcmp(columns, "all") != 0;
    const struct extra_metrics extra = { repeat_metrics,
                                         named || s->repeats > 1 ? REPEAT_METRICS : 0 };
    if (!selection_make(s->system, columns, table, extra, &s->selection, problem))
        return false;
    for (size_t i = 0; i < REPEAT_METRICS; i++)
        if (s->repeats == 1 && selection_has_metric(&s->selection, &repeat_metrics[i]))
            return problem_set(problem, "--columns: %s needs --repeat N, at least 2",
                               repeat_metrics[i].column);
    return true;
}

/* An interval without width is no sign of being sure. */
static void note_steady(const struct simulation *s, size_t answered)
{
    struct problem note;
    if (s->steady == 0)
        return;
    (void)problem_set(&note, "--repeat: in %zu of %zu scenarios all %zu runs are the same: nothing "
                             "is random there, and the interval has no width",
                      s->steady, answered, s->repeats);
    problem_print(&note);
}

/* Keys that were given and change nothing here. */
static void note_unused(const struct simulation *s)
{
    struct text keys = { 0 };
    struct problem note;
    size_t count = 0;
    for (size_t i = 0; i < s->product.count; i++) {
        const struct sc_field *field = s->product.sweeps[i].field;
        if (field->provenance == SC_CALIBRATED || sc_is_word_of(s->simulator->unused, field->key))
            text_printf(&keys, "%s%s", count++ > 0 ? ", " : "", field->key);
    }
    if (count > 0 && !keys.failed) {
        (void)problem_set(&note, "simulate goes without %s: only the closed form knows %s",
                          keys.bytes, count > 1 ? "them" : "it");
        problem_print(&note);
    }
    text_fini(&keys);
}

static int run_simulation(struct simulation *s, const struct options *options,
                          const struct emit_style *style, const char *const *words, size_t count)
{
    struct problem problem = { "" };
    struct output trace = { 0 };
    if (!read_numbers(s, options, &problem) ||
        !product_make(s->resolver, words, count, &s->product, &problem) ||
        !select_columns(s, options->columns, !sink_streams(style), &problem) ||
        !output_check(options->output, &problem) || !allocate(s, &problem) ||
        !open_replay(s, options, &problem))
        return command_fail(&problem);
    make_scenarios(s);
    if (!record_kernel(s, options, &problem) || !open_trace(s, options, &trace, &problem))
        return command_fail(&problem);
    note_unused(s);
    run_all(s);
    size_t bad = 0;
    const struct problem *first = NULL;
    for (size_t row = 0; row < s->product.rows; row++) {
        if (s->problems[row].text[0] == '\0')
            continue;
        bad++;
        first = first == NULL ? &s->problems[row] : first;
    }
    if (s->trace != NULL && (first != NULL || s->trace_errno != 0))
        output_abandon(&trace);
    if (options->trace != NULL && s->trace_errno != 0)
        return command_fail((problem_set(&problem, "cannot write %s: %s",
                                         strcmp(options->trace, "-") == 0 ? "standard output" : options->trace,
                                         strerror(s->trace_errno)), &problem));
    if (s->trace != NULL && first == NULL && !output_commit(&trace, &problem))
        return command_fail(&problem);
    if (first != NULL && s->product.rows == 1)
        return command_fail(first);
    if (!print_rows(s, options, style, bad, &problem))
        return command_fail(&problem);
    note_steady(s, s->product.rows - bad);
    if (first == NULL)
        return EXIT_FINE;
    (void)problem_set(&problem, "%zu of %zu scenarios have no answer; the first: %s", bad,
                      s->product.rows, first->text);
    problem_print(&problem);
    return EXIT_NO;
}

static bool check_files(const struct options *o, struct problem *problem)
{
    return o->record == NULL || o->replay == NULL ||
           problem_set(problem, "--record and --replay: one of them");
}

static int simulate(const struct command *command, const struct options *options,
                    const char *const *words, size_t word_count, struct catalog *catalog)
{
    struct problem problem;
    struct emit_style style;
    struct simulation s = { .system = command_system(command, words, word_count, &problem) };
    if (s.system == NULL || !sink_style(options, &style, &problem))
        return command_fail(&problem);
    if (!check_files(options, &problem))
        return command_fail(&problem);
    s.simulator = sc_simulator_find(s.system);
    if (s.simulator == NULL)
        return command_fail((problem_set(&problem, "%s has no simulator", s.system->name), &problem));
    s.resolver = resolver_create(s.system, catalog, &problem);
    if (s.resolver == NULL)
        return command_fail(&problem);
    (void)pthread_mutex_init(&s.lock, NULL);
    const int code = run_simulation(&s, options, &style, words + 1, word_count - 1);
    (void)pthread_mutex_destroy(&s.lock);
    selection_fini(&s.selection);
    product_fini(&s.product);
    sc_warp_trace_destroy(s.replay);
    resolver_destroy(s.resolver);
    free(s.scenarios);
    free(s.answers);
    free(s.problems);
    return code;
}

static const struct option_row options[] = {
    OPTION(format, 'f', "FORMAT", "table, csv, tsv, json, jsonl or md (default table)"),
    OPTION(output, 'o', "FILE", "write there, whole or not at all"),
    OPTION(columns, 'c', "LIST", "columns of the answer and keys, a,b,c, or all"),
    OPTION(seed, 's', "N", "seed of the random numbers (default 1); same seed, same answer"),
    OPTION(repeat, 'n', "N", "runs per scenario: mean, and 90 % interval of the slowdown's mean"),
    OPTION(jobs, 'j', "N", "runs at a time (default: one per processor)"),
    OPTION(trace, 't', "FILE", "one CSV row per page or load: when asked for, arrived, used, evicted"),
    OPTION(replay, 'r', "FILE", "the memory instructions of warps instead of a kernel's keys (prefetch)"),
    OPTION(record, 0, "FILE", "the kernel as such a file, for --replay (prefetch)"),
    OPTION(check, 0, NULL, "verify conservation and Little's law in every run"),
    OPTION(digits, 0, "N", "significant digits per number, or all (default 6; in table and md 4)"),
    OPTION(delimiter, 0, "CHAR", "of CSV out (default a comma)"),
    OPTION(decimal, 0, "CHAR", "decimal sign of CSV out (default a point)"),
    OPTION(data, 0, "DIR", "tables of GPUs, models, flash instead of the built-in ones"),
    OPTION(help, 'h', NULL, "this text"),
};

const struct command command_simulate = {
    .name = "simulate",
    .usage = "SYSTEM [key=value ...] [options]",
    .summary = "the same answers from the built-in cycle-level simulator",
    .details =
        "The grammar is that of `estimate`, and so are the columns but the interval; every page or load is followed in time.\n\n"
        "  stallcast simulate hbf model=llama-8b policy=h3 buffer=40MB\n"
        "  stallcast simulate hbf model=llama-70b policy=slipstream buffer=8MB:64MB:*2 --repeat 5\n"
        "  stallcast simulate hbf model=llama-8b policy=slipstream --trace pages.csv\n"
        "  stallcast simulate stream gpu=v100-quarter warps_per_sm=8,16,32\n"
        "  stallcast simulate prefetch policy=none,sk,sk+sc --replay warps.csv\n\n"
        "--replay takes CSV, a row per instruction, those of a warp in its order, warps in any; - is\n"
        "standard input; .gz and .zst are unpacked by gzip and zstd.  Its columns, in any order:\n"
        "  cta         x, or x,y,z (may be missing: all in one); every CTA there runs on the one SM,\n"
        "              by z, y, x, as many at a time as warps= (32) has room for\n"
        "  warp        of its CTA, 0 to 63\n"
        "  pc          what tells one load from another: any text\n"
        "  op          load, store, barrier, exit, zero, or as machine code has it: LDG.E.64, STG, BAR\n"
        "  address     of each active lane, a blank between; BASE+STRIDE*LANES stands for several\n"
        "  bytes       of each lane (default: what op says, as the 64 bits above, else 4)\n"
        "  compute     other instructions before this one (default: compute= (8); barrier, exit: 0)\n"
        "  dependence  of a load: instructions to the first that needs it (default: dependence= (4))\n"
        "Lanes are coalesced to 32-byte sectors.  barrier and exit are no instructions; exit has the\n"
        "compute behind a warp's last access.  zero says that bytes from address on are zero in the\n"
        "whole run, and leaves the other cells empty.  Keys of a kernel that the trace says itself\n"
        "are refused.  At most 16777216 instructions, 256 loads (pc), 128 sectors an instruction.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .run = simulate,
};
