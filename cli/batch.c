/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One reader, several workers, one writer, all in the same threads: a worker
 * takes the next batch of rows under a lock, answers it into text of its own,
 * and writes when its turn comes.  Memory does not grow with the file. */
#include "batch.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answer.h"
#include "command.h"
#include "filter.h"
#include "rows.h"
#include "sink.h"

enum { BATCH_ROWS = 1024, JOBS_MAX = 256 };

struct batch {
    const struct calibration *calibration;
    const struct sc_system *system;
    const struct options *options;

    struct rows input;
    struct selection selection;
    struct emit_column *columns; /* input, answer, error */
    size_t column_count;
    char *names;
    struct text input_names; /* one after the other, each with its NUL; for JSON */
    struct filter *filter;
    struct emit_style style; /* the sink's, once the input is known */
    struct sink sink;
    bool streams;

    pthread_mutex_t in, out;
    pthread_cond_t turn;
    size_t next_in, next_out; /* numbers of batches */
    bool ended;               /* nothing more to read */
    bool stopped;             /* --strict or a write error: leave the rest */
    size_t row_count, bad_count;
    struct extrapolation extrapolation;
    struct problem first_bad, write_fault, read_fault; /* read_fault: under `in` */
    bool has_write_fault, has_read_fault;
};

/* What one worker owns. */
struct worker {
    struct batch *batch;
    struct sc_csv_batch rows;
    struct text text, line;
    struct row_reader reader;
    struct emit_cell *cells;
    struct problem first_bad;
    size_t bad_count, row_count;
    struct extrapolation extrapolation;
    bool strict_stop;
};

/* ---- the plan ---- */

static bool is_in_file(const char *name, const void *context)
{
    const struct batch *batch = context;
    return rows_column(&batch->input, name) != SIZE_MAX;
}

/* In the file, or to be taken for a key when answers are read again. */
static bool is_in_file_or_key(const char *name, const void *context)
{
    const struct batch *batch = context;
    struct binding binding;
    return is_in_file(name, context) || resolver_bind(batch->input.resolver, name, &binding, NULL);
}

/* Answers stand behind the columns of the file; where a name is taken there
 * (a measured slowdown, say), ours gets a prefix and nothing is lost. */
static bool plan_columns(struct batch *batch, struct problem *problem)
{
    const size_t answers = batch->selection.count + 1;
    batch->column_count = batch->input.column_count + answers;
    batch->columns = calloc(batch->column_count, sizeof *batch->columns);
    batch->names = calloc(answers, ANSWER_NAME_MAX);
    if (batch->columns == NULL || batch->names == NULL)
        return problem_set(problem, "out of memory");
    if (!rows_name_columns(&batch->input, batch->style.format, &batch->input_names, batch->columns,
                           problem))
        return false;
    selection_columns(&batch->selection, batch->columns + batch->input.column_count);
    batch->columns[batch->column_count - 1].name = "error";
    for (size_t i = 0; i < answers; i++) {
        struct emit_column *column = &batch->columns[batch->input.column_count + i];
        const bool metric = i < batch->selection.count && batch->selection.items[i].metric != NULL;
        column->name = answer_name(column->name, metric ? is_in_file_or_key : is_in_file, batch,
                                   batch->names + i * ANSWER_NAME_MAX);
    }
    return true;
}

/* ---- rows ---- */

static bool answer_row(struct worker *worker, const struct sc_csv_row *row, struct problem *problem)
{
    _Alignas(max_align_t) unsigned char scenario[SC_SCENARIO_MAX];
    struct judged_answer answer;
    const struct batch *batch = worker->batch;
    struct sc_error error;
    if (!row_scenario(&worker->reader, row, worker->rows.fields + row->first_field, scenario,
                      problem))
        return false;
    const enum sc_status status = batch->system->estimate(scenario, answer.answer, NULL, &error);
    if (status != SC_OK) {
        scenario_describe_error(batch->system, status, &error, problem);
        return rows_place(&batch->input, row->line, NULL, problem);
    }
    calibration_judge(batch->calibration, scenario, &answer);
    extrapolation_add(&worker->extrapolation, batch->calibration, scenario, &answer);
    selection_cells(&batch->selection, scenario, &answer, worker->cells + batch->input.column_count);
    return true;
}

/* Answers one row into worker->cells; a bad row gets its reason. */
static void make_row(struct worker *worker, const struct sc_csv_row *row, struct text *error)
{
    const struct batch *batch = worker->batch;
    struct emit_cell *cells = worker->cells;
    struct problem problem;
    const struct sc_csv_field *const fields = worker->rows.fields + row->first_field;
    rows_cells(&batch->input, fields, row->field_count, cells);
    text_clear(error);
    worker->row_count++;
    if (answer_row(worker, row, &problem)) {
        cells[batch->column_count - 1] = (struct emit_cell){ .kind = EMIT_EMPTY };
        return;
    }
    for (size_t i = batch->input.column_count; i < batch->column_count; i++)
        cells[i] = (struct emit_cell){ .kind = EMIT_EMPTY };
    text_add_string(error, problem.text);
    rows_add_surplus(&batch->input, fields, row->field_count, error);
    cells[batch->column_count - 1] = (struct emit_cell){ .kind = EMIT_TEXT,
                                                         .text = error->failed ? "" : error->bytes,
                                                         .length = error->length };
    if (worker->bad_count++ == 0)
        worker->first_bad = problem;
    worker->strict_stop = batch->options->strict != NULL;
}

/* All rows of the worker's batch as text, or straight into the table. */
static bool make_rows(struct worker *worker, struct problem *problem)
{
    struct batch *batch = worker->batch;
    struct text error = { 0 };
    bool fine = true;
    text_clear(&worker->text);
    for (size_t i = 0; fine && i < worker->rows.row_count && !worker->strict_stop; i++) {
        const struct sc_csv_row *row = &worker->rows.rows[i];
        if (!rows_keep(batch->filter, worker->rows.fields + row->first_field, row->field_count,
                       &worker->line))
            continue;
        make_row(worker, row, &error);
        if (worker->strict_stop)
            break;
        if (batch->streams)
            emit_row(&batch->style, batch->columns, worker->cells, batch->column_count, false,
                     &worker->text);
        else
            fine = sink_row(&batch->sink, worker->cells, problem);
    }
    text_fini(&error);
    return fine;
}

/* ---- workers ---- */

/* Takes the next batch; false when there is none.  *number is its place. */
static bool take_rows(struct worker *worker, size_t *number)
{
    struct batch *batch = worker->batch;
    struct sc_csv_error error = { 0 };
    bool taken = false;
    (void)pthread_mutex_lock(&batch->in);
    if (!batch->ended) {
        const enum sc_csv_status status =
            sc_csv_read(batch->input.reader, &worker->rows, BATCH_ROWS, &error);
        taken = status == SC_CSV_OK;
        batch->ended = !taken;
        if (!taken && status != SC_CSV_END) {
            (void)rows_describe_fault(&batch->input, &error, &batch->read_fault);
            batch->has_read_fault = true;
        }
        *number = batch->next_in;
        batch->next_in += taken;
    }
    (void)pthread_mutex_unlock(&batch->in);
    return taken;
}

static void end_reading(struct batch *batch)
{
    (void)pthread_mutex_lock(&batch->in);
    batch->ended = true;
    (void)pthread_mutex_unlock(&batch->in);
}

/* Writes the worker's rows when all before them are written. */
static void hand_in(struct worker *worker, size_t number, bool fine, const struct problem *problem)
{
    struct batch *batch = worker->batch;
    struct problem fault = *problem;
    (void)pthread_mutex_lock(&batch->out);
    while (batch->next_out != number)
        (void)pthread_cond_wait(&batch->turn, &batch->out);
    if (!batch->stopped) {
        if (fine && batch->streams)
            fine = sink_text(&batch->sink, &worker->text, &fault);
        batch->row_count += worker->row_count;
        if (worker->bad_count > 0 && batch->bad_count == 0)
            batch->first_bad = worker->first_bad;
        batch->bad_count += worker->bad_count;
        extrapolation_append(&batch->extrapolation, &worker->extrapolation);
        batch->stopped = !fine || worker->strict_stop;
        if (!fine) {
            batch->write_fault = fault;
            batch->has_write_fault = true;
        }
    }
    const bool stopped = batch->stopped;
    batch->next_out++;
    (void)pthread_cond_broadcast(&batch->turn);
    (void)pthread_mutex_unlock(&batch->out);
    if (stopped)
        end_reading(batch);
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    size_t number = 0;
    while (take_rows(worker, &number)) {
        struct problem problem = { "" };
        worker->bad_count = worker->row_count = 0;
        worker->extrapolation.count = 0;
        const bool fine = make_rows(worker, &problem);
        hand_in(worker, number, fine, &problem);
    }
    return NULL;
}

static bool worker_init(struct worker *worker, struct batch *batch)
{
    *worker = (struct worker){ .batch = batch };
    worker->cells = calloc(batch->column_count, sizeof *worker->cells);
    return row_reader_init(&worker->reader, &batch->input) && worker->cells != NULL;
}

static void worker_fini(struct worker *worker)
{
    sc_csv_batch_fini(&worker->rows);
    text_fini(&worker->text);
    text_fini(&worker->line);
    row_reader_fini(&worker->reader);
    free(worker->cells);
}

/* Workers in `count` threads, the first in this one; without the others all
 * still gets done. */
static void run_threads(struct worker *workers, pthread_t *threads, size_t count)
{
    size_t started = 0;
    for (size_t i = 1; i < count; i++)
        if (pthread_create(&threads[started], NULL, work, &workers[i]) == 0)
            started++;
    (void)work(&workers[0]);
    for (size_t i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
}

static bool run_workers(struct batch *batch, size_t jobs, struct problem *problem)
{
    struct worker *workers = calloc(jobs, sizeof *workers);
    pthread_t *threads = calloc(jobs, sizeof *threads);
    bool fine = workers != NULL && threads != NULL;
    if (workers != NULL && threads != NULL) {
        for (size_t i = 0; fine && i < jobs; i++)
            fine = worker_init(&workers[i], batch);
        if (fine)
            run_threads(workers, threads, jobs);
        for (size_t i = 0; i < jobs; i++)
            worker_fini(&workers[i]);
    }
    free(workers);
    free(threads);
    return fine || problem_set(problem, "out of memory");
}

/* ---- the whole ---- */

bool batch_jobs(const struct options *options, size_t *jobs, struct problem *problem)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    if (options->jobs != NULL &&
        !options_whole("jobs", options->jobs, 1, JOBS_MAX, &count, problem))
        return false;
    *jobs = count < 1 ? 1 : count > JOBS_MAX ? JOBS_MAX : (size_t)count;
    return true;
}

static bool plan(struct batch *batch, const struct setting *given, size_t given_count,
                 struct problem *problem)
{
    return rows_bind(&batch->input, SIZE_MAX, given, given_count, problem) &&
           selection_make(batch->system, batch->options->columns, !sink_streams(&batch->style),
                          extra_of_calibration(batch->calibration), &batch->selection, problem) &&
           plan_columns(batch, problem) &&
           (batch->filter = filter_create(batch->options->only, problem)) != NULL;
}

static int report(struct batch *batch)
{
    struct problem problem;
    if (batch->has_write_fault)
        return (problem_print(&batch->write_fault), EXIT_USAGE);
    if (batch->has_read_fault)
        return (problem_print(&batch->read_fault), EXIT_USAGE);
    if (selection_wants_note(&batch->selection, batch->options->columns))
        extrapolation_print(&batch->extrapolation, batch->row_count);
    const bool gave_up = filter_gave_up(batch->filter);
    if (batch->bad_count == 0)
        return gave_up ? EXIT_NO : EXIT_FINE;
    if (batch->options->strict != NULL)
        return (problem_print(&batch->first_bad), EXIT_USAGE);
    (void)problem_set(&problem, "%zu of %zu rows have no answer; the first: %s", batch->bad_count,
                      batch->row_count, batch->first_bad.text);
    problem_print(&problem);
    return EXIT_NO;
}

static int run_open(struct batch *batch, size_t jobs)
{
    struct problem problem;
    if (!sink_open(&batch->sink, &batch->style, batch->columns, batch->column_count,
                   batch->options->output, &problem))
        return command_fail(&problem);
    bool fine = run_workers(batch, jobs, &problem);
    if (!fine || batch->has_write_fault ||
        (batch->options->output != NULL && (batch->has_read_fault || batch->stopped))) {
        /* A file appears whole or not at all. */
        sink_abandon(&batch->sink);
    } else if (!sink_close(&batch->sink, &problem)) {
        fine = false;
    }
    return fine ? report(batch) : command_fail(&problem);
}

int batch_run(struct resolver *resolver, const struct calibration *calibration,
              const struct setting *given, size_t given_count,
              const struct options *options, size_t jobs, const struct emit_style *style)
{
    struct problem problem;
    struct batch batch = { .calibration = calibration,
                           .system = resolver_system(resolver),
                           .options = options,
                           .style = *style };
    int code;
    (void)pthread_mutex_init(&batch.in, NULL);
    (void)pthread_mutex_init(&batch.out, NULL);
    (void)pthread_cond_init(&batch.turn, NULL);
    /* Tables are kept in one place, and JSON has commas between its rows. */
    batch.streams = sink_streams(style) && style->format != EMIT_JSON;
    if (rows_open(&batch.input, resolver, options->from, options, &batch.style, &problem) &&
        plan(&batch, given, given_count, &problem))
        code = run_open(&batch, batch.streams ? jobs : 1);
    else
        code = command_fail(&problem);
    (void)pthread_cond_destroy(&batch.turn);
    (void)pthread_mutex_destroy(&batch.out);
    (void)pthread_mutex_destroy(&batch.in);
    filter_destroy(batch.filter);
    selection_fini(&batch.selection);
    rows_close(&batch.input);
    free(batch.columns);
    free(batch.names);
    text_fini(&batch.input_names);
    return code;
}
