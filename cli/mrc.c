/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stallcast mrc: reuse distances of a trace, and the miss ratios that follow. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "command.h"
#include "gnuplot.h"
#include "number.h"
#include "output.h"
#include "overwrite.h"
#include "progress.h"
#include "read/addresses.h"
#include "read/packed.h"
#include "reuse_distance.h"
#include "sink.h"
#include "units.h"

enum { CURVE_STEPS = 100 }; /* of the progress line */
enum { VALUES = 32768, SIZES_MAX = 1000000, PROGRESS_BYTES = 1 << 20, FEW_BLOCKS = 200 };

static const struct gnuplot_user user = { "mrc --plot",
                                          "without --plot the curve is written as text" };

/* Sizes of caches, as asked for and in blocks. */
struct sizes {
    double *bytes, *blocks;
    size_t count, room;
};

struct job {
    const char *trace;
    const struct options *options;
    struct emit_style style;
    struct sc_addresses_options form;
    struct sc_reuse_options measured;
    const struct sc_reuse_rule *rule;
    double block_bytes, item_bytes, ways;
    bool bytes_known;  /* how large a block is was told */
    long points;
    struct sizes sizes;
    double *ratios, *errors; /* of each size */
    struct sc_reuse_meter *meter;
    struct sc_reuse_summary summary;
};

static bool refuse_memory(struct problem *problem)
{
    return problem_set(problem, "out of memory");
}

/* ---- options ---- */

static const char *rule_at(unsigned long i, const void *context)
{
    (void)context;
    return sc_reuse_rules[i].name;
}

/* Sizes are whole bytes that a double holds. */
static bool read_size(const char *name, const char *text, double *bytes, struct problem *problem)
{
    char why[SC_UNITS_EXPLAIN_MAX];
    struct sc_quantity q;
    const enum sc_units_status status =
        sc_units_parse(text, strlen(text), SC_BYTES, NULL, '.', &q);
    if (status != SC_UNITS_OK)
        return problem_set(problem, "--%s: %.60s: %s", name, text,
                           sc_units_explain(status, SC_BYTES, &q, '.', why));
    *bytes = q.value;
    return (q.value >= 1.0 && q.value <= 0x1p53 && floor(q.value) == q.value) ||
           problem_set(problem, "--%s: expected a whole number of bytes from 1 B, got '%.60s'", name,
                       text);
}

static bool read_blocks(struct job *job, struct problem *problem)
{
    const struct options *const o = job->options;
    job->item_bytes = 1.0;
    if (o->item != NULL && !read_size("item", o->item, &job->item_bytes, problem))
        return false;
    job->block_bytes = job->item_bytes;
    if (o->block != NULL && !read_size("block", o->block, &job->block_bytes, problem))
        return false;
    job->bytes_known = o->block != NULL || o->item != NULL;
    const double items = job->block_bytes / job->item_bytes;
    if (fmod(job->block_bytes, job->item_bytes) != 0.0)
        return problem_set(problem, "--block: expected a multiple of --item %.40s, got '%.40s'",
                           o->item, o->block);
    job->measured.divisor = (uint64_t)items;
    return true;
}

static bool read_sample(struct job *job, struct problem *problem)
{
    const struct options *const o = job->options;
    struct sc_quantity rate;
    long number = 1;
    if (o->sample != NULL && o->sample_size != NULL)
        return problem_set(problem, "--sample and --sample-size: one of them");
    if (o->sample != NULL) {
        if (sc_units_parse(o->sample, strlen(o->sample), SC_SHARE, NULL, '.', &rate) !=
                SC_UNITS_OK ||
            !(rate.value >= 1e-6 && rate.value < 1.0))
            return problem_set(problem,
                               "--sample: expected a share of the blocks from 1e-6 to below 1, "
                               "got '%.40s'",
                               o->sample);
        job->measured.rate = rate.value;
    }
    if (o->sample_size != NULL) {
        if (!options_whole("sample-size", o->sample_size, 1, 100000000L, &number, problem))
            return false;
        job->measured.sample_blocks = (size_t)number;
    }
    number = 1;
    if (o->seed != NULL && !options_whole("seed", o->seed, 0, 2147483647L, &number, problem))
        return false;
    job->measured.seed = sc_recency_hash((uint64_t)number);
    return true;
}

static bool read_rule(struct job *job, struct problem *problem)
{
    const struct options *const o = job->options;
    const char *const name = o->policy != NULL ? o->policy : sc_reuse_rules[0].name;
    long ways = 0;
    job->rule = sc_reuse_rule_find(name);
    if (job->rule == NULL) {
        const char *nearest = problem_nearest(name, rule_at, sc_reuse_rule_count, NULL);
        return problem_set(problem, "--policy: expected lru, random or aet, got '%.40s'%s%s%s", name,
                           nearest != NULL ? ": did you mean " : "", nearest != NULL ? nearest : "",
                           nearest != NULL ? "?" : "");
    }
    job->measured.times = job->rule->times;
    if (o->ways == NULL)
        return true;
    if (!job->rule->takes_ways)
        return problem_set(problem, "--ways: not with --policy %s", job->rule->name);
    if (!options_whole("ways", o->ways, 1, 65536, &ways, problem))
        return false;
    job->ways = (double)ways;
    return true;
}

/* "text", "csv", "u64", in either case: how the trace is read. */
static bool find_form(const char *name, size_t length, enum sc_addresses_form *form)
{
    static const struct {
        const char *name;
        enum sc_addresses_form form;
    } forms[] = { { "text", SC_ADDRESSES_TEXT },
                  { "csv", SC_ADDRESSES_CSV },
                  { "u64", SC_ADDRESSES_RAW } };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (strlen(forms[i].name) == length && strncasecmp(forms[i].name, name, length) == 0) {
            *form = forms[i].form;
            return true;
        }
    return false;
}

/* As --input says, or --column, or what the name ends in before .gz or .zst. */
static bool read_form(struct job *job, struct problem *problem)
{
    const struct options *const o = job->options;
    size_t length = sc_packed_stem(job->trace), start = length;
    job->form.column = o->column;
    if (o->input != NULL) {
        if (!find_form(o->input, strlen(o->input), &job->form.form))
            return problem_set(problem, "--input: expected text, csv or u64, got '%.40s'", o->input);
    } else if (o->column != NULL) {
        job->form.form = SC_ADDRESSES_CSV;
    } else {
        while (start > 0 && job->trace[start - 1] != '.' && job->trace[start - 1] != '/')
            start--;
        if (start > 0 && job->trace[start - 1] == '.')
            (void)find_form(job->trace + start, length - start, &job->form.form);
    }
    return o->column == NULL || job->form.form == SC_ADDRESSES_CSV ||
           problem_set(problem, "--column: only with CSV");
}

/* ---- sizes ---- */

static bool add_size(struct job *job, double bytes, double blocks, struct problem *problem)
{
    struct sizes *const s = &job->sizes;
    if (s->count == SIZES_MAX && job->options->sizes != NULL)
        return problem_set(problem, "--sizes: more than %d", (int)SIZES_MAX);
    if (s->count == s->room) {
        const size_t room = s->room == 0 ? 64 : 2 * s->room;
        if (room > SIZE_MAX / sizeof *s->bytes)
            return refuse_memory(problem);
        double *grown = realloc(s->bytes, room * sizeof *grown);
        if (grown == NULL)
            return refuse_memory(problem);
        s->bytes = grown;
        grown = realloc(s->blocks, room * sizeof *grown);
        if (grown == NULL)
            return refuse_memory(problem);
        s->blocks = grown;
        s->room = room;
    }
    s->bytes[s->count] = bytes;
    s->blocks[s->count++] = blocks;
    return true;
}

static bool refuse_size(const char *text, size_t length, struct problem *problem)
{
    return problem_set(problem,
                       "--sizes: expected sizes such as 64KiB, bare numbers of blocks, or a range "
                       "low:high:step or low:high:*factor, got '%.*s'",
                       length < 60 ? (int)length : 60, text);
}

/* Bytes: with a unit, or a bare number of blocks. */
static bool read_cache(const struct job *job, const char *text, size_t length, double *bytes)
{
    struct sc_quantity q;
    enum sc_units_status status = sc_units_parse(text, length, SC_BYTES, NULL, '.', &q);
    *bytes = q.value;
    if (status == SC_UNITS_MISSING_UNIT) {
        status = sc_units_parse(text, length, SC_NUMBER, NULL, '.', &q);
        *bytes = q.value * job->block_bytes;
    }
    return status == SC_UNITS_OK && *bytes >= 0.0 && *bytes <= 0x1p62;
}

/* Part of a block holds nothing. */
static bool add_cache(struct job *job, double bytes, struct problem *problem)
{
    const double blocks = floor(bytes / job->block_bytes * (1.0 + 1e-15));
    return add_size(job, bytes, blocks, problem);
}

static bool add_range(struct job *job, const char *text, size_t length, struct problem *problem)
{
    const char *const first = memchr(text, ':', length);
    const size_t after = length - (size_t)(first + 1 - text);
    const char *const second = memchr(first + 1, ':', after);
    if (second == NULL)
        return refuse_size(text, length, problem);
    const size_t tail = after - (size_t)(second + 1 - (first + 1));
    const bool geometric = tail > 0 && second[1] == '*';
    double low = 0.0, high = 0.0, step = 0.0;
    struct sc_quantity factor;
    bool fine = read_cache(job, text, (size_t)(first - text), &low) &&
                read_cache(job, first + 1, (size_t)(second - first - 1), &high);
    if (fine && geometric) {
        fine = sc_units_parse(second + 2, tail - 1, SC_NUMBER, NULL, '.', &factor) == SC_UNITS_OK &&
               factor.value > 1.0 && low > 0.0;
        step = factor.value;
    } else if (fine) {
        fine = read_cache(job, second + 1, tail, &step) && step > 0.0;
    }
    if (!fine || low > high)
        return refuse_size(text, length, problem);
    double bytes = low;
    for (size_t i = 0; bytes <= high * (1.0 + 1e-12); i++) {
        if (!add_cache(job, bytes, problem))
            return false;
        bytes = geometric ? low * pow(step, (double)i + 1.0) : low + step * ((double)i + 1.0);
    }
    return true;
}

static int compare_sizes(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool read_sizes(struct job *job, struct problem *problem)
{
    struct sizes *const s = &job->sizes;
    for (const char *text = job->options->sizes;; text++) {
        const size_t length = strcspn(text, ",");
        double bytes = 0.0;
        if (memchr(text, ':', length) != NULL) {
            if (!add_range(job, text, length, problem))
                return false;
        } else if (!read_cache(job, text, length, &bytes)) {
            return refuse_size(text, length, problem);
        } else if (!add_cache(job, bytes, problem)) {
            return false;
        }
        text += length;
        if (*text == '\0')
            break;
    }
    /* Both in order: blocks follow bytes. */
    qsort(s->bytes, s->count, sizeof *s->bytes, compare_sizes);
    qsort(s->blocks, s->count, sizeof *s->blocks, compare_sizes);
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++)
        if (i == 0 || s->bytes[i] > s->bytes[kept - 1]) {
            s->bytes[kept] = s->bytes[i];
            s->blocks[kept++] = s->blocks[i];
        }
    s->count = kept;
    return true;
}

static bool add_blocks(struct job *job, double blocks, struct problem *problem)
{
    return add_size(job, blocks * job->block_bytes, blocks, problem);
}

/* Whole numbers of blocks, evenly on a logarithmic scale, from one to all that are of use. */
static bool make_points(struct job *job, struct problem *problem)
{
    const double all = job->rule->takes_ways && job->ways == 0.0
                           ? job->summary.cache_most
                           : fmax(job->summary.cache_most, job->summary.blocks);
    const double most = fmax(1.0, ceil(all));
    double last = 0.0;
    for (long i = 0; i < job->points; i++) {
        const double share = job->points > 1 ? (double)i / (double)(job->points - 1) : 1.0;
        const double blocks = rint(pow(most, share));
        if (blocks > last && !add_blocks(job, blocks, problem))
            return false;
        last = fmax(last, blocks);
    }
    return true;
}

/* Every number of blocks from which on something more hits. */
static bool make_steps(struct job *job, struct problem *problem)
{
    struct sc_reuse_histogram h;
    if (sc_reuse_meter_histogram(job->meter, false, &h, NULL) != SC_OK)
        return refuse_memory(problem);
    for (size_t i = 0; i < h.bins; i++)
        if (h.count[i] > 0.0 &&
            !add_blocks(job, h.edge != NULL ? h.edge[i + 1] : (double)i + 1.0, problem))
            return false;
    return job->sizes.count > 0 || add_blocks(job, 1.0, problem);
}

/* What --histogram, --every and the rest ask for at once is told before the trace is read. */
static bool check_together(const struct job *job, struct problem *problem)
{
    const struct options *const o = job->options;
    const int ways_to_ask = (o->sizes != NULL) + (o->points != NULL) + (o->every != NULL) +
                            (o->histogram != NULL);
    if (ways_to_ask > 1)
        return problem_set(problem, "--sizes, --points, --every and --histogram: one of them");
    if (o->every != NULL && (job->rule->times || o->ways != NULL))
        return problem_set(problem, "--every: only for LRU in one set, whose curve has steps");
    if (o->histogram != NULL && (o->plot != NULL || o->ways != NULL))
        return problem_set(problem, "--histogram: not with --%s", o->plot != NULL ? "plot" : "ways");
    return overwrite_check(o, job->trace, problem);
}

static bool read_options(struct job *job, struct problem *problem)
{
    const struct options *const o = job->options;
    job->points = 50;
    return sink_style(o, &job->style, problem) && read_blocks(job, problem) &&
           read_sample(job, problem) && read_rule(job, problem) && read_form(job, problem) &&
           (o->points == NULL ||
            options_whole("points", o->points, 1, 100000, &job->points, problem)) &&
           (o->sizes == NULL || read_sizes(job, problem)) && check_together(job, problem) &&
           (o->plot == NULL ||
            (gnuplot_format("plot", o->plot, problem) != NULL && gnuplot_find(&user, problem)));
}

/* ---- the trace ---- */

static const char *trace_name(const struct job *job)
{
    return strcmp(job->trace, "-") == 0 ? "standard input" : job->trace;
}

static bool refuse_trace(const struct job *job, const struct sc_addresses_error *error,
                         struct problem *problem)
{
    return problem_set_place(problem, trace_name(job), error->line, error->column, error->reason);
}

static void show_progress(struct progress *progress, const struct sc_packed *packed)
{
    const uint64_t done = sc_packed_position(packed) / PROGRESS_BYTES;
    while (packed->size_bytes > 0 && progress->done < done && progress->done < progress->total)
        progress_step(progress);
}

static bool measure(struct job *job, struct sc_addresses *reader, const struct sc_packed *packed,
                    struct problem *problem)
{
    struct sc_addresses_error error;
    struct progress progress;
    size_t count = 0;
    uint64_t *values = malloc(VALUES * sizeof *values);
    bool fine = values != NULL || refuse_memory(problem);
    progress_start(&progress, "mrc, MiB", (size_t)(packed->size_bytes / PROGRESS_BYTES));
    if (packed->size_bytes < PROGRESS_BYTES)
        progress.visible = false;
    do {
        if (!fine)
            break;
        fine = sc_addresses_read(reader, values, VALUES, &count, &error) ||
               refuse_trace(job, &error, problem);
        if (fine && sc_reuse_meter_add(job->meter, values, count, NULL) != SC_OK)
            fine = problem_set(problem,
                               "%s: following every block needs more memory than there is: "
                               "--sample-size limits it",
                               trace_name(job));
        show_progress(&progress, packed);
    } while (count > 0);
    progress_end(&progress);
    free(values);
    return fine;
}

static bool read_trace(struct job *job, struct problem *problem)
{
    char reason[256], later[256];
    struct sc_packed packed;
    struct sc_addresses *reader = NULL;
    struct sc_addresses_error error;
    if (!sc_packed_open(&packed, job->trace, reason))
        return problem_set(problem, "%s: %s", trace_name(job), reason);
    bool fine = sc_addresses_create(&reader, packed.file, &job->form, &error) ||
                refuse_trace(job, &error, problem);
    fine = fine && measure(job, reader, &packed, problem);
    if (fine && sc_addresses_are_names(reader) && job->options->block != NULL)
        fine = problem_set(problem, "--block: %s has names, which have no place: --item says how "
                                    "large each is",
                           trace_name(job));
    sc_addresses_destroy(reader);
    /* What cannot be unpacked is no text either: the first cause is told. */
    if (!sc_packed_close(&packed, later))
        fine = problem_set(problem, "%s: %s", trace_name(job), later);
    if (!fine)
        return false;
    job->summary = sc_reuse_meter_summary(job->meter);
    if (job->summary.accesses == 0)
        return problem_set(problem, "%s: expected at least one access, got none", trace_name(job));
    return job->summary.followed > 0 ||
           problem_set(problem, "%s: none of its %llu accesses is to a block of the sample: take a "
                                "larger --sample, or --sample-size",
                       trace_name(job), (unsigned long long)job->summary.accesses);
}

/* ---- what is written ---- */

static void print_summary(const struct job *job)
{
    const struct sc_reuse_summary *const s = &job->summary;
    struct text size = { 0 };
    emit_quantity(job->block_bytes, SC_BYTES, 6, &size);
    (void)fprintf(stderr, "%llu access%s to %s%.0f block%s", (unsigned long long)s->accesses,
                  s->accesses == 1 ? "" : "es", s->sampled ? "about " : "", s->blocks,
                  rint(s->blocks) == 1.0 ? "" : "s");
    if (job->bytes_known && !size.failed)
        (void)fprintf(stderr, " of %s", size.bytes);
    if (s->sampled)
        (void)fprintf(stderr, "; sample: %llu block%s, %llu access%s, rate %.4g%s",
                      (unsigned long long)s->block_count, s->block_count == 1 ? "" : "s",
                      (unsigned long long)s->followed, s->followed == 1 ? "" : "es", s->rate,
                      s->rate < 1.0 && s->block_count < FEW_BLOCKS
                          ? "; so few that the error is no more than a guess"
                          : "");
    (void)fputc('\n', stderr);
    text_fini(&size);
}

/* The counts beside it are written in full. */
static double rounded(double value)
{
    return sc_number_rounded(value, 6);
}

static bool write_curve(const struct job *job, struct problem *problem)
{
    static const struct emit_column columns[] = {
        { .name = "cache_bytes", .dimension = SC_BYTES }, { .name = "cache_blocks" },
        { .name = "misses" }, { .name = "miss_ratio" }, { .name = "miss_ratio_error" },
    };
    const size_t count = job->summary.sampled ? 5 : 4;
    const bool brief = job->options->digits == NULL && sink_streams(&job->style);
    struct sink sink;
    if (!sink_open(&sink, &job->style, columns, count, job->options->output, problem))
        return false;
    for (size_t i = 0; i < job->sizes.count; i++) {
        const double ratio = job->ratios[i], error = job->errors[i];
        const struct emit_cell cells[] = {
            emit_number(job->sizes.bytes[i]), emit_number(job->sizes.blocks[i]),
            emit_number(rint(ratio * (double)job->summary.accesses)),
            emit_number(brief ? rounded(ratio) : ratio), emit_number(brief ? rounded(error) : error),
        };
        if (!sink_row(&sink, cells, problem)) {
            sink_abandon(&sink);
            return false;
        }
    }
    return sink_close(&sink, problem);
}

static bool write_bins(struct sink *sink, const struct sc_reuse_histogram *h, bool whole,
                       struct problem *problem)
{
    for (size_t i = 0; i <= h->bins; i++) {
        const bool cold = i == h->bins;
        const double count = cold ? h->cold : h->count[i];
        const double low = h->edge == NULL || cold ? (double)i : h->edge[i];
        const double high = h->edge == NULL || cold ? (double)i : h->edge[i + 1] - 1.0;
        struct emit_cell cells[3] = { { .kind = EMIT_EMPTY }, { .kind = EMIT_EMPTY },
                                      emit_number(whole ? rint(count) : count) };
        if (!cold) {
            cells[0] = emit_number(low);
            cells[1] = emit_number(high);
        }
        if (count > 0.0 && !sink_row(sink, cells, problem))
            return false;
    }
    return true;
}

static bool write_histogram(const struct job *job, struct problem *problem)
{
    static const struct emit_column distances[] = { { .name = "distance_from" },
                                                    { .name = "distance_to" },
                                                    { .name = "accesses" } };
    static const struct emit_column times[] = { { .name = "time_from" },
                                                { .name = "time_to" },
                                                { .name = "accesses" } };
    struct sc_reuse_histogram h;
    struct sink sink;
    if (sc_reuse_meter_histogram(job->meter, job->rule->times, &h, NULL) != SC_OK)
        return refuse_memory(problem);
    if (!sink_open(&sink, &job->style, job->rule->times ? times : distances, 3,
                   job->options->output, problem))
        return false;
    if (write_bins(&sink, &h, job->options->digits == NULL, problem))
        return sink_close(&sink, problem);
    sink_abandon(&sink);
    return false;
}

/* axis: what x is; low, high: the ratio and its error. */
static bool write_plotted(const void *context, const char *path, struct problem *problem)
{
    static const struct emit_style style = {
        .format = EMIT_CSV, .digits = 6, .delimiter = ',', .decimal = '.'
    };
    static const struct emit_column columns[] = { { .name = "axis" }, { .name = "policy" },
                                                  { .name = "sampled" }, { .name = "x" },
                                                  { .name = "miss_ratio" }, { .name = "low" },
                                                  { .name = "high" } };
    const struct job *const job = context;
    struct sink sink;
    if (!sink_open(&sink, &style, columns, sizeof columns / sizeof columns[0], path, problem))
        return false;
    for (size_t i = 0; i < job->sizes.count; i++) {
        const double ratio = job->ratios[i], error = job->errors[i];
        const struct emit_cell cells[] = {
            emit_string(job->bytes_known ? "bytes" : "blocks"), emit_string(job->rule->name),
            emit_number(job->summary.sampled ? 1.0 : 0.0),
            emit_number(job->bytes_known ? job->sizes.bytes[i] : job->sizes.blocks[i]),
            emit_number(ratio), emit_number(fmax(0.0, ratio - error)),
            emit_number(fmin(1.0, ratio + error)),
        };
        if (!sink_row(&sink, cells, problem)) {
            sink_abandon(&sink);
            return false;
        }
    }
    return sink_close(&sink, problem);
}

/* Misses at all sizes; in sets each size goes through all distances anew, which may take long. */
static enum sc_status ask_meter(struct job *job, struct sc_error *error)
{
    const size_t count = job->sizes.count;
    const size_t steps = job->ways > 0.0 && count > CURVE_STEPS ? CURVE_STEPS : 1;
    struct progress progress;
    enum sc_status status = SC_OK;
    progress_start(&progress, "mrc, sizes in per cent", steps);
    progress.visible = progress.visible && steps > 1;
    for (size_t step = 0; status == SC_OK && step < steps; step++) {
        const size_t from = count * step / steps, to = count * (step + 1) / steps;
        status = sc_reuse_meter_curve(job->meter, job->rule, job->ways, job->sizes.blocks + from,
                                      to - from, job->ratios + from, job->errors + from, error);
        progress_step(&progress);
    }
    progress_end(&progress);
    return status;
}

static bool make_curve(struct job *job, struct problem *problem)
{
    const bool told = job->options->sizes != NULL;
    struct sc_error error;
    if (!told && !(job->options->every != NULL ? make_steps : make_points)(job, problem))
        return false;
    const size_t count = job->sizes.count;
    job->ratios = calloc(count + 1, sizeof *job->ratios);
    job->errors = calloc(count + 1, sizeof *job->errors);
    if (job->ratios == NULL || job->errors == NULL)
        return refuse_memory(problem);
    const enum sc_status status = ask_meter(job, &error);
    return status == SC_OK || problem_set(problem, "%s: %s", error.field, error.reason);
}

static bool answer(struct job *job, struct problem *problem)
{
    const struct options *const o = job->options;
    if (o->histogram != NULL)
        return write_histogram(job, problem);
    if (!make_curve(job, problem))
        return false;
    if (o->plot != NULL) {
        const struct gnuplot figure = { .name = "mrc",
                                        .format = gnuplot_format("plot", o->plot, problem),
                                        .user = &user, .write = write_plotted, .context = job };
        if (!gnuplot_draw(&figure, o->plot, problem))
            return false;
    }
    return write_curve(job, problem);
}

/* ---- the command ---- */

static bool run(struct job *job, struct problem *problem)
{
    struct sc_error error;
    if (!read_options(job, problem))
        return false;
    /* Everything in full unless told otherwise. */
    if (job->options->digits == NULL && sink_streams(&job->style))
        job->style.digits = 0;
    if (sc_reuse_meter_create(&job->meter, &job->measured, &error) != SC_OK)
        return problem_set(problem, "%s: %s", error.field, error.reason);
    if (!read_trace(job, problem) || !answer(job, problem))
        return false;
    print_summary(job);
    return true;
}

static int mrc(const struct command *command, const struct options *options,
               const char *const *words, size_t word_count, struct catalog *catalog)
{
    struct problem problem;
    struct job job = { .options = options };
    (void)catalog;
    if (word_count == 0)
        return command_fail((problem_set(&problem, "mrc: expected a trace: %s %s", command->name,
                                         command->usage),
                             &problem));
    if (word_count > 1)
        return command_fail(
            (problem_set(&problem, "mrc: '%.60s' is one word too many", words[1]), &problem));
    job.trace = words[0];
    const bool fine = run(&job, &problem);
    sc_reuse_meter_destroy(job.meter);
    free(job.sizes.bytes);
    free(job.sizes.blocks);
    free(job.ratios);
    free(job.errors);
    return fine ? EXIT_FINE : command_fail(&problem);
}

static const struct option_row options[] = {
    OPTION(block, 'b', "SIZE", "what the cache moves as one: groups addresses (default: an item)"),
    OPTION(item, 0, "SIZE", "what a number in the trace counts, or a name stands for (default 1 B)"),
    OPTION(input, 'i', "FORM", "text, csv or u64 (default: as the name ends, else text)"),
    OPTION(column, 'c', "NAME", "column of CSV"),
    OPTION(sample, 's', "RATE", "follow that share of the blocks, such as 0.01"),
    { .name = "sample-size", .letter = 'n', .argument = "N",
      .offset = offsetof(struct options, sample_size),
      .help = "follow at most N blocks: memory does not grow" },
    OPTION(seed, 0, "N", "of the sample (default 1); same seed, same answer"),
    OPTION(sizes, 0, "LIST", "caches: 64KiB,1MiB or ranges low:high:*2; bare numbers are blocks"),
    OPTION(points, 0, "N", "so many sizes, from one block to all of use (default 50)"),
    OPTION(every, 0, NULL, "a row for every size at which something changes"),
    OPTION(policy, 'p', "NAME", "lru, random, or aet (LRU from reuse times) (default lru)"),
    OPTION(ways, 'w', "N", "blocks per set (default: one set)"),
    OPTION(histogram, 0, NULL, "accesses by distance (or time) instead; the row without is cold"),
    OPTION(plot, 0, "FILE", "the curve as .svg, .png or .pdf too"),
    OPTION(output, 'o', "FILE", "write there, whole or not at all"),
    OPTION(format, 'f', "FORMAT", "table, csv, tsv, json, jsonl or md (default table)"),
    OPTION(digits, 0, "N", "significant digits, or all (default: 6 of ratios; 4 in tables)"),
    OPTION(delimiter, 0, "CHAR", "of CSV out (default a comma)"),
    OPTION(decimal, 0, "CHAR", "decimal sign of CSV out (default a point)"),
    OPTION(help, 'h', NULL, "this text"),
};

const struct command command_mrc = {
    .name = "mrc",
    .usage = "TRACE [options]",
    .summary = "reuse distances of a trace, and the miss ratio of every cache size",
    .details =
        "A trace has one address, number or name per access: text (a line each; decimal, or\n"
        "hexadecimal after 0x), a column of CSV, or raw 64-bit numbers (.u64, lowest byte first).\n"
        "- is standard input; .gz and .zst are unpacked by gzip and zstd.\n\n"
        "An access hits an LRU cache that holds more blocks than were accessed since the last time.\n"
        "That is exact.  A sample makes it fast and small, and has a column of its standard error\n"
        "(SHARDS); sizes below 1 / rate blocks are then guesses.  --policy random and aet are\n"
        "estimates from how long ago each block was accessed last, and --ways takes blocks to fall\n"
        "into the sets as if by chance: neither has a column that says how good it is.\n\n"
        "  stallcast mrc trace.txt --block 4KiB\n"
        "  stallcast mrc trace.u64.zst --block 2MiB --sizes 1GiB:64GiB:*2 -f csv -o curve.csv\n"
        "  stallcast mrc accesses.csv --column page --item 4KiB --sample 0.01 --plot curve.svg\n"
        "  zcat trace.gz | stallcast mrc - --block 128B --ways 16 --sizes 64KiB,256KiB\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .run = mrc,
};
