/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stallcast sensitivity: which keys a metric hangs on, at a point or over ranges. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "elasticity.h"
#include "gnuplot.h"
#include "metric.h"
#include "product.h"
#include "sink.h"
#include "sobol.h"
#include "uncertain.h"

enum { SAMPLES_DEFAULT = 4096, BARS_MAX = 15 };

static const struct gnuplot_user user = { "sensitivity --plot",
                                          "without --plot the numbers are written as text" };

/* A key and what the metric has of it. */
struct influence {
    const struct sc_field *field;
    struct text value; /* "20us", or "15us~25us" */
    double elasticity;
    bool jump;
    struct sc_sobol_index index;
};

struct sensitivity {
    const struct options *options;
    const struct sc_system *system;
    struct resolver *resolver;
    struct calibration *calibration;
    const struct sc_metric *metric;
    struct product product;
    struct uncertain_list uncertain;
    struct elasticity_job job;
    struct influence *influences;
    size_t count, jumps, kinds[ELASTICITY_KINDS];
    struct sc_sobol sobol;
    uint64_t seed;
    size_t samples;
    struct problem failure; /* of an answer among the samples */
};

/* ---- what is asked for ---- */

static bool find_metric(struct sensitivity *s, struct problem *problem)
{
    const char *usual = sc_system_metric(s->system, "time_s") != NULL
                            ? "time_s"
                            : s->system->metrics[0].column;
    const char *name = s->options->metric != NULL ? s->options->metric : usual;
    const struct metrics metrics = { s->system, s->calibration };
    s->metric = metrics_find(&metrics, "--metric: ", name, problem);
    return s->metric != NULL;
}

static bool read_numbers(struct sensitivity *s, struct problem *problem)
{
    const struct options *o = s->options;
    long samples = SAMPLES_DEFAULT, seed = 1;
    if (s->uncertain.count == 0 && (o->samples != NULL || o->seed != NULL))
        return problem_set(problem, "--%s: expected a key given as low~high",
                           o->samples != NULL ? "samples" : "seed");
    if ((o->samples != NULL && !options_whole("samples", o->samples, SC_SOBOL_SAMPLES_MIN,
                                              SC_SOBOL_SAMPLES_MAX, &samples, problem)) ||
        (o->seed != NULL && !options_whole("seed", o->seed, 0, 2147483647L, &seed, problem)))
        return false;
    s->samples = (size_t)samples;
    s->seed = (uint64_t)seed;
    return (s->samples & (s->samples - 1)) == 0 ||
           problem_set(problem, "--samples: expected a power of two, got '%s'", o->samples);
}

static bool read_words(struct sensitivity *s, const char **words, size_t count,
                       struct problem *problem)
{
    if (!uncertain_take(s->resolver, words, &count, &s->uncertain, problem) ||
        !product_make(s->resolver, words, count, &s->product, problem) ||
        !uncertain_check(&s->uncertain, &s->product, problem))
        return false;
    for (size_t i = 0; i < s->product.count; i++)
        if (s->product.sweeps[i].count > 1)
            return problem_set(problem, "%s: sensitivity takes one scenario, not %zu", words[i],
                               s->product.sweeps[i].count);
    const size_t settings = s->product.count + UNCERTAIN_MAX;
    s->job = (struct elasticity_job){
        .system = s->system, .resolver = s->resolver, .calibration = s->calibration,
        .metric = s->metric, .settings = calloc(settings, sizeof *s->job.settings),
        .count = s->product.count };
    s->influences = calloc(s->system->field_count, sizeof *s->influences);
    if (s->job.settings == NULL || s->influences == NULL)
        return problem_set(problem, "out of memory");
    product_row(&s->product, 0, s->job.settings);
    return true;
}

static bool check_plot(const struct options *o, struct problem *problem)
{
    if (o->plot == NULL)
        return true;
    if (o->output != NULL && strcmp(o->plot, o->output) == 0)
        return problem_set(problem, "--plot and -o: both are %s", o->plot);
    return gnuplot_format("plot", o->plot, problem) != NULL && gnuplot_find(&user, problem);
}

/* ---- at a point ---- */

static int compare_elasticities(const void *a, const void *b)
{
    const struct influence *x = a, *y = b;
    const double p = fabs(x->elasticity), q = fabs(y->elasticity);
    return p != q ? (p < q ? 1 : -1) : (x->field > y->field) - (x->field < y->field);
}

/* "20us", as it can be given. */
static void write_value(double value, enum sc_dimension dimension, struct text *out)
{
    struct text shown = { 0 };
    emit_quantity(value, dimension, 6, &shown);
    for (size_t i = 0; !shown.failed && i < shown.length; i++)
        if (shown.bytes[i] != ' ')
            text_add_char(out, shown.bytes[i]);
    out->failed = out->failed || shown.failed;
    text_fini(&shown);
}

static bool find_elasticities(struct sensitivity *s, struct problem *problem)
{
    _Alignas(max_align_t) unsigned char scenario[SC_SCENARIO_MAX];
    double base = 0.0;
    if (!elasticity_metric(&s->job, 0, &base, problem) ||
        !resolver_build(s->resolver, s->job.settings, s->job.count, scenario, problem))
        return false;
    if (!(base > 0.0))
        return problem_set(problem, "--metric: expected one above 0, and %s is %g here",
                           s->metric->column, base);
    for (size_t i = 0; i < s->system->field_count; i++) {
        const struct sc_field *field = &s->system->fields[i];
        if (field->kind != SC_REAL && field->kind != SC_INTEGER)
            continue;
        const struct elasticity e = elasticity_find(&s->job, field, scenario, base);
        s->kinds[e.kind]++;
        if (e.kind != ELASTICITY_FOUND)
            continue;
        struct influence *influence = &s->influences[s->count++];
        influence->field = field;
        influence->elasticity = e.elasticity;
        influence->jump = e.jump;
        s->jumps += e.jump;
        write_value(e.value, field->dimension, &influence->value);
    }
    qsort(s->influences, s->count, sizeof *s->influences, compare_elasticities);
    return true;
}

/* ---- over ranges ---- */

/* "15us" of a range, as it would be written. */
static void write_of_range(const struct uncertain *uncertain, double value, struct text *out)
{
    const enum sc_dimension dimension = uncertain->field->dimension;
    write_value(value, uncertain->deferred ? SC_NUMBER : dimension, out);
    if (uncertain->deferred)
        text_add_string(out, dimension == SC_SECONDS ? "cycles" : "B/cycle");
}

/* "15us~25us" */
static void describe_range(const struct uncertain *uncertain, struct text *out)
{
    write_of_range(uncertain, uncertain->low, out);
    text_add_char(out, '~');
    write_of_range(uncertain, uncertain->high, out);
}

/* ", with latency=17.5us buffer=20MB" behind why the sample has no answer. */
static void describe_sample(struct sensitivity *s)
{
    struct text sample = { 0 };
    const struct problem why = s->failure;
    for (size_t i = 0; i < s->uncertain.count; i++) {
        const struct uncertain *uncertain = &s->uncertain.items[i];
        text_printf(&sample, " %s=", uncertain->field->key);
        write_of_range(uncertain, s->job.settings[s->job.count + i].value, &sample);
    }
    if (!sample.failed)
        (void)problem_set(&s->failure, "%s, with%s", why.text, sample.bytes);
    text_fini(&sample);
}

static bool output_at(void *context, const double *x, double *y)
{
    struct sensitivity *s = context;
    for (size_t i = 0; i < s->uncertain.count; i++)
        s->job.settings[s->job.count + i] = uncertain_setting(&s->uncertain.items[i], x[i]);
    if (elasticity_metric(&s->job, s->uncertain.count, y, &s->failure))
        return true;
    describe_sample(s);
    return false;
}

static int compare_totals(const void *a, const void *b)
{
    const struct influence *x = a, *y = b;
    const double p = x->index.total, q = y->index.total;
    return p != q ? (p < q ? 1 : -1) : (x->field > y->field) - (x->field < y->field);
}

static bool find_indices(struct sensitivity *s, struct problem *problem)
{
    struct sc_error error;
    const struct sc_sobol_problem sobol = {
        .inputs = s->uncertain.count, .samples = s->samples, .seed = s->seed,
        .output = output_at, .context = s,
    };
    const enum sc_status status = sc_sobol(&sobol, &s->sobol, &error);
    if (status == SC_EMISSING)
        return problem_set(problem, "a sample has no answer: %s", s->failure.text);
    if (status == SC_EDOMAIN)
        return problem_set(problem, "%s is the same all over the range%s", s->metric->column,
                           s->uncertain.count > 1 ? "s" : "");
    if (status != SC_OK)
        return problem_set(problem, "%s %s", error.field, error.reason);
    for (size_t i = 0; i < s->uncertain.count; i++) {
        struct influence *influence = &s->influences[s->count++];
        influence->field = s->uncertain.items[i].field;
        influence->index = s->sobol.indices[i];
        describe_range(&s->uncertain.items[i], &influence->value);
    }
    qsort(s->influences, s->count, sizeof *s->influences, compare_totals);
    return true;
}

/* ---- output ---- */

static const char *const kinds[] = {
    [SC_SETTING] = "setting", [SC_FACT] = "fact",       [SC_ANCHOR] = "anchor",
    [SC_CALIBRATED] = "calibrated", [SC_DERIVED] = "derived",
};

static bool write_rows(const struct sensitivity *s, const struct emit_style *style,
                       struct problem *problem)
{
    static const struct emit_column at_point[] = {
        { .name = "key" }, { .name = "value" }, { .name = "elasticity" }, { .name = "kind" },
        { .name = "jump" },
    };
    static const struct emit_column over_ranges[] = {
        { .name = "key" },         { .name = "range" },   { .name = "first_order" },
        { .name = "first_order_se" }, { .name = "total" }, { .name = "total_se" },
    };
    const bool ranges = s->uncertain.count > 0;
    struct sink sink;
    /* The last column of a table is there if it says something. */
    const size_t point_columns = s->jumps > 0 || sink_streams(style) ? 5 : 4;
    if (!sink_open(&sink, style, ranges ? over_ranges : at_point, ranges ? 6 : point_columns,
                   s->options->output, problem))
        return false;
    for (size_t i = 0; i < s->count; i++) {
        const struct influence *x = &s->influences[i];
        const struct emit_cell point_cells[] = {
            emit_string(x->field->key), emit_string(x->value.bytes), emit_number(x->elasticity),
            emit_string(kinds[x->field->provenance]), emit_string(x->jump ? "jump" : NULL),
        };
        const struct emit_cell range_cells[] = {
            emit_string(x->field->key),  emit_string(x->value.bytes),
            emit_number(x->index.first), emit_number(x->index.first_se),
            emit_number(x->index.total), emit_number(x->index.total_se),
        };
        if (!sink_row(&sink, ranges ? range_cells : point_cells, problem)) {
            sink_abandon(&sink);
            return false;
        }
    }
    return sink_close(&sink, problem);
}

/* mode: what low .. high is, from `zero` on; low, high: of first-order and total indices. */
static bool write_plotted(const void *context, const char *path, struct problem *problem)
{
    static const struct emit_style style = {
        .format = EMIT_CSV, .digits = 6, .delimiter = ',', .decimal = '.'
    };
    static const struct emit_column columns[] = {
        { .name = "mode" },  { .name = "metric" }, { .name = "name" },  { .name = "place" },
        { .name = "first" }, { .name = "total" },  { .name = "error" },
    };
    const struct sensitivity *s = context;
    const bool ranges = s->uncertain.count > 0;
    struct sink sink;
    if (!sink_open(&sink, &style, columns, sizeof columns / sizeof columns[0], path, problem))
        return false;
    bool fine = true;
    for (size_t i = 0; fine && i < s->count && i < BARS_MAX; i++) {
        const struct influence *x = &s->influences[i];
        struct text name = { 0 };
        text_printf(&name, "%s = %s", x->field->key, x->value.failed ? "?" : x->value.bytes);
        const struct emit_cell cells[] = {
            emit_string(ranges ? "indices" : "elasticities"), emit_string(s->metric->column),
            emit_string(name.failed ? "?" : name.bytes), emit_number((double)i),
            emit_number(ranges ? x->index.first : x->elasticity),
            emit_number(ranges ? x->index.total : x->elasticity),
            emit_number(ranges ? x->index.total_se : 0.0),
        };
        fine = sink_row(&sink, cells, problem);
        text_fini(&name);
    }
    if (fine)
        return sink_close(&sink, problem);
    sink_abandon(&sink);
    return false;
}

static bool draw(const struct sensitivity *s, struct problem *problem)
{
    const char *plot = s->options->plot;
    if (plot == NULL || s->count == 0)
        return true;
    const struct gnuplot figure = { .name = "sensitivity-tornado",
                                    .format = gnuplot_format("plot", plot, problem),
                                    .user = &user, .write = write_plotted, .context = s };
    return gnuplot_draw(&figure, plot, problem);
}

/* "37 keys have no effect here, 5 are 0, ..." */
static void note_others(const struct sensitivity *s)
{
    static const char *const words[ELASTICITY_KINDS] = {
        [ELASTICITY_NONE] = "without effect here",
        [ELASTICITY_ZERO] = "at 0, which has no per cent",
        [ELASTICITY_DERIVED] = "not given, which follow from others",
        [ELASTICITY_ALONE] = "of which no value nearby has an answer",
    };
    struct text others = { 0 };
    struct problem note;
    for (size_t k = 0; k < ELASTICITY_KINDS; k++)
        if (words[k] != NULL && s->kinds[k] > 0)
            text_printf(&others, "%s%zu %s", others.length > 0 ? ", " : "", s->kinds[k], words[k]);
    if (others.length > 0 && !others.failed) {
        (void)problem_set(&note, "left out: keys %s", others.bytes);
        problem_print(&note);
    }
    text_fini(&others);
}

static void note_variance(const struct sensitivity *s)
{
    struct text mean = { 0 }, deviation = { 0 };
    struct problem note;
    emit_quantity(s->sobol.mean, s->metric->dimension, 4, &mean);
    emit_quantity(sqrt(s->sobol.variance), s->metric->dimension, 3, &deviation);
    (void)problem_set(&note, "%s: mean %s, standard deviation %s; first-order indices sum to %.3f "
                             "+- %.3f", s->metric->column, mean.failed ? "?" : mean.bytes,
                      deviation.failed ? "?" : deviation.bytes, s->sobol.first_sum,
                      s->sobol.first_sum_se);
    problem_print(&note);
    text_fini(&mean);
    text_fini(&deviation);
}

/* ---- the whole ---- */

static bool answer(struct sensitivity *s, const struct emit_style *style, struct problem *problem)
{
    const bool ranges = s->uncertain.count > 0;
    if (!(ranges ? find_indices : find_elasticities)(s, problem) || !draw(s, problem) ||
        !write_rows(s, style, problem))
        return false;
    (ranges ? note_variance : note_others)(s);
    return true;
}

static bool prepare(struct sensitivity *s, const char **words, size_t count,
                    struct catalog *catalog, struct problem *problem)
{
    s->resolver = resolver_create(s->system, catalog, problem);
    if (s->resolver == NULL ||
        !calibration_load(s->system, catalog, s->options, &s->calibration, problem))
        return false;
    calibration_apply(s->calibration, s->resolver);
    return find_metric(s, problem) && read_words(s, words, count, problem) &&
           read_numbers(s, problem) && check_plot(s->options, problem);
}

static void sensitivity_fini(struct sensitivity *s)
{
    for (size_t i = 0; i < s->count; i++)
        text_fini(&s->influences[i].value);
    free(s->influences);
    free(s->job.settings);
    product_fini(&s->product);
    calibration_destroy(s->calibration);
    resolver_destroy(s->resolver);
}

static int sensitivity_run(const struct command *command, const struct options *options,
                           const char *const *words, size_t word_count, struct catalog *catalog)
{
    struct problem problem;
    struct emit_style style;
    struct sensitivity s = { .options = options };
    s.system = command_system(command, words, word_count, &problem);
    if (s.system == NULL || !sink_style(options, &style, &problem))
        return command_fail(&problem);
    const char **keys = calloc(word_count, sizeof *keys);
    if (keys == NULL)
        return command_fail((problem_set(&problem, "out of memory"), &problem));
    for (size_t i = 1; i < word_count; i++)
        keys[i - 1] = words[i];
    const bool fine = prepare(&s, keys, word_count - 1, catalog, &problem) &&
                      answer(&s, &style, &problem);
    free(keys);
    sensitivity_fini(&s);
    return fine ? EXIT_FINE : command_fail(&problem);
}

static const struct option_row options[] = {
    OPTION(metric, 0, "METRIC", "what is looked at (default time_s)"),
    OPTION(samples, 'n', "N", "with ranges: samples, a power of two (default 4096)"),
    OPTION(seed, 's', "N", "with ranges: seed of the samples (default 1)"),
    OPTION(plot, 0, "FILE", "a tornado figure as .svg, .png or .pdf too"),
    OPTION(format, 'f', "FORMAT", "table, csv, tsv, json, jsonl or md (default table)"),
    OPTION(output, 'o', "FILE", "write there, whole or not at all"),
    OPTION(level, 0, "P", "probability of slowdown_lo and slowdown_hi (default 0.9)"),
    OPTION(params, 0, "FILE", "calibration to use instead of the one that comes with the system"),
    OPTION(digits, 0, "N", "significant digits per number, or all (default 6; in table and md 4)"),
    OPTION(delimiter, 0, "CHAR", "of CSV out (default a comma)"),
    OPTION(decimal, 0, "CHAR", "decimal sign of CSV out (default .)"),
    OPTION(data, 0, "DIR", "tables of GPUs, models, flash instead of the built-in ones"),
    OPTION(help, 'h', NULL, "this text"),
};

const struct command command_sensitivity = {
    .name = "sensitivity",
    .usage = "SYSTEM [key=value ...] [options]",
    .summary = "which keys a metric hangs on, at a point or over ranges",
    .details =
        "At a point: by how many per cent the metric changes when a key changes by one (its\n"
        "elasticity), largest first; keys without effect are left out and counted.  It is local:\n"
        "1 % to either side, for whole numbers at least one.  `jump` marks a step of the metric right\n"
        "there, as where loads are rounded up to sectors: the per cent are then those of the step.\n\n"
        "  stallcast sensitivity hbf model=llama-70b policy=h3\n"
        "  stallcast sensitivity uvm app=k-means --metric in_bytes --plot tornado.svg\n\n"
        "With keys given as low~high: which of them the variance of the metric comes from, by\n"
        "Sobol's indices.  first_order is the share that would go if the key were known,\n"
        "total the share that would stay if only the key were not; they differ by what it does\n"
        "together with others.  _se are standard errors.  A range is sampled as for estimate.\n\n"
        "  stallcast sensitivity hbf model=llama-70b latency=15us~25us buffer=8MB~64MB\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .run = sensitivity_run,
};
