/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stallcast explain: the working of one answer, term by term. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "calibration.h"
#include "command.h"
#include "effect.h"
#include "preset.h"
#include "scenario.h"
#include "sink.h"
#include "text.h"

enum { TERMS_MAX = 2048, SECTIONS_MAX = 64, KEYS_MAX = 256 };

struct explanation {
    const struct sc_system *system;
    struct resolver *resolver;
    struct calibration *calibration;
    struct setting settings[KEYS_MAX];
    size_t setting_count;
    _Alignas(max_align_t) unsigned char scenario[SC_SCENARIO_MAX];
    struct judged_answer answer;
    struct sc_term terms[TERMS_MAX];
    struct sc_trace trace;
};

static bool read_settings(struct explanation *e, const char *const *words, size_t count,
                          struct problem *problem)
{
    for (size_t i = 0; i < count; i++) {
        struct sweep sweep;
        if (e->setting_count == KEYS_MAX)
            return problem_set(problem, "more than %d keys", (int)KEYS_MAX);
        if (!sweep_parse(e->resolver, words[i], &sweep, problem))
            return false;
        const size_t values = sweep.count;
        e->settings[e->setting_count] = sweep.values[0];
        sweep_fini(&sweep);
        if (values != 1)
            return problem_set(problem, "%s: explain takes one scenario, not %zu", words[i], values);
        for (size_t j = 0; j < e->setting_count; j++)
            if (e->settings[j].field == e->settings[e->setting_count].field)
                return problem_set(problem, "%s: %s is given twice", words[i],
                                   e->settings[j].field->key);
        e->setting_count++;
    }
    return true;
}

static bool work_out(struct explanation *e, struct problem *problem)
{
    struct sc_error error;
    e->trace = (struct sc_trace){ .terms = e->terms, .capacity = TERMS_MAX };
    if (!resolver_build(e->resolver, e->settings, e->setting_count, e->scenario, problem))
        return false;
    const enum sc_status status =
        e->system->estimate(e->scenario, e->answer.answer, &e->trace, &error);
    if (status != SC_OK)
        scenario_describe_error(e->system, status, &error, problem);
    else
        calibration_judge(e->calibration, e->scenario, &e->answer);
    return status == SC_OK;
}

/* Whether the two answers are the same in every number. */
static bool same_answer(const struct sc_system *system, const unsigned char *a,
                        const unsigned char *b)
{
    bool same = true;
    for (size_t i = 0; i < system->metric_count && same; i++) {
        double x = 0.0, y = 0.0;
        if (system->metrics[i].text)
            continue;
        memcpy(&x, a + system->metrics[i].offset, sizeof x);
        memcpy(&y, b + system->metrics[i].offset, sizeof y);
        same = (isnan(x) && isnan(y)) || !(x < y || x > y || isnan(x) || isnan(y));
    }
    return same;
}

/* Whether no other value of the key would change this answer.  Of a preset, and of
 * cycles, nothing is said. */
static bool is_idle(const struct explanation *e, size_t given)
{
    _Alignas(max_align_t) unsigned char scenario[SC_SCENARIO_MAX], answer[SC_ANSWER_MAX] = { 0 };
    struct setting settings[KEYS_MAX];
    struct problem problem;
    struct sc_error error;
    double probes[EFFECT_PROBES];
    memcpy(settings, e->settings, e->setting_count * sizeof *settings);
    const size_t count = settings[given].deferred ? 0
                                                  : effect_probes(settings[given].field,
                                                                  settings[given].value, probes);
    bool same = count > 0;
    for (size_t k = 0; same && k < count; k++) {
        settings[given].value = probes[k];
        same = resolver_build(e->resolver, settings, e->setting_count, scenario, &problem) &&
               e->system->estimate(scenario, answer, NULL, &error) == SC_OK &&
               same_answer(e->system, e->answer.answer, answer);
    }
    return same;
}

/* Whether the answer is the same without a curve that was given. */
static bool is_idle_curve(const struct explanation *e, size_t given)
{
    _Alignas(max_align_t) unsigned char scenario[SC_SCENARIO_MAX], answer[SC_ANSWER_MAX] = { 0 };
    struct setting settings[KEYS_MAX];
    struct problem problem;
    struct sc_error error;
    if (e->settings[given].field->curve == NULL)
        return false;
    memcpy(settings, e->settings, e->setting_count * sizeof *settings);
    settings[given] = settings[e->setting_count - 1];
    return resolver_build(e->resolver, settings, e->setting_count - 1, scenario, &problem) &&
           e->system->estimate(scenario, answer, NULL, &error) == SC_OK &&
           same_answer(e->system, e->answer.answer, answer);
}

/* ---- prose ---- */

static void add_idle(const struct explanation *e, struct text *out)
{
    bool any = false;
    for (size_t i = 0; i < e->setting_count; i++) {
        if (!is_idle(e, i))
            continue;
        text_printf(out, "%s %s", any ? "," : "  no effect here:", e->settings[i].field->key);
        any = true;
    }
    if (any)
        text_add_string(out, " (half, twice and 100 times of it, or another choice,\n"
                             "  give the same closed-form answer)\n");
    for (size_t i = 0; i < e->setting_count; i++)
        if (is_idle_curve(e, i))
            text_printf(out, "  no effect here: %s (the closed-form answer is the same without)\n",
                        e->settings[i].field->key);
}

static void add_scenario(const struct explanation *e, struct text *out)
{
    text_printf(out, "%s: %s\n%s\n\n", e->system->name, e->system->title, e->system->question);
    text_add_string(out, "given\n");
    for (size_t i = 0; i < e->setting_count; i++) {
        const struct sc_field *field = e->settings[i].field;
        const char *name = setting_name(&e->settings[i]);
        struct text value = { 0 };
        if (name != NULL)
            text_add_string(&value, name);
        else
            scenario_quantity(sc_field_get(field, e->scenario), field->dimension, &value);
        text_printf(out, "  %-22s %-14s %s\n", field->key, value.failed ? "?" : value.bytes,
                    field->help);
        text_fini(&value);
    }
    add_idle(e, out);
}

/* One term on a line of its own: sections that stand alone. */
static void add_single(const struct sc_term *term, struct text *out)
{
    struct text left = { 0 }, value = { 0 };
    text_printf(&left, "%s%s%s", term->symbol, term->equation != NULL ? " = " : "",
                term->equation != NULL ? term->equation : "");
    emit_quantity(term->value, term->dimension, 4, &value);
    text_printf(out, "%c %-44s %12s  %s\n", term->binds ? '*' : ' ',
                left.failed ? "?" : left.bytes, value.failed ? "?" : value.bytes, term->meaning);
    text_fini(&left);
    text_fini(&value);
}

/* Sections that show the same terms, one per kernel, become columns. */
struct block {
    size_t first[SECTIONS_MAX], count[SECTIONS_MAX]; /* ranges of terms */
    size_t sections;
};

static size_t section_length(const struct explanation *e, size_t first)
{
    size_t count = 1;
    while (first + count < e->trace.count &&
           e->terms[first + count].section == e->terms[first].section)
        count++;
    return count;
}

static const struct sc_term *find_term(const struct explanation *e, size_t first, size_t count,
                                       const char *symbol, const char *equation)
{
    for (size_t i = 0; i < count; i++) {
        const struct sc_term *term = &e->terms[first + i];
        if (strcmp(term->symbol, symbol) == 0 &&
            (term->equation == equation ||
             (term->equation != NULL && equation != NULL && strcmp(term->equation, equation) == 0)))
            return term;
    }
    return NULL;
}

/* Following sections that begin with the same symbol form one block. */
static size_t gather(const struct explanation *e, size_t first, struct block *block)
{
    const char *opening = e->terms[first].symbol;
    *block = (struct block){ 0 };
    while (first < e->trace.count && block->sections < SECTIONS_MAX &&
           strcmp(e->terms[first].symbol, opening) == 0) {
        const size_t count = section_length(e, first);
        block->first[block->sections] = first;
        block->count[block->sections++] = count;
        first += count;
    }
    return first;
}

static bool is_first_of_kind(const struct explanation *e, const struct block *block, size_t section,
                             const struct sc_term *term)
{
    for (size_t s = 0; s < section; s++)
        if (find_term(e, block->first[s], block->count[s], term->symbol, term->equation) != NULL)
            return false;
    return true;
}

static void add_term_row(const struct explanation *e, const struct block *block,
                         const struct sc_term *term, struct text *out)
{
    double largest = 0.0;
    const struct sc_term *cells[SECTIONS_MAX];
    for (size_t s = 0; s < block->sections; s++) {
        cells[s] = find_term(e, block->first[s], block->count[s], term->symbol, term->equation);
        if (cells[s] != NULL && isfinite(cells[s]->value))
            largest = fmax(largest, fabs(cells[s]->value));
    }
    const bool bare = term->dimension == SC_NUMBER || term->dimension == SC_SHARE;
    const struct sc_unit *unit = bare ? NULL : sc_unit_for_display(term->dimension, largest);
    struct text label = { 0 };
    text_printf(&label, "%s%s%s%s", term->symbol, unit != NULL ? " (" : "",
                unit != NULL ? unit->name : "", unit != NULL ? ")" : "");
    text_printf(out, "  %-18s", label.failed ? "?" : label.bytes);
    text_fini(&label);
    for (size_t s = 0; s < block->sections; s++) {
        struct text value = { 0 };
        if (cells[s] == NULL)
            text_add_char(&value, '.');
        else if (unit != NULL && isfinite(cells[s]->value))
            emit_quantity(sc_unit_from_si(unit, cells[s]->value), SC_NUMBER, 4, &value);
        else
            emit_quantity(cells[s]->value, SC_NUMBER, 4, &value);
        text_printf(out, " %9s%c", value.failed ? "?" : value.bytes,
                    cells[s] != NULL && cells[s]->binds ? '*' : ' ');
        text_fini(&value);
    }
    text_printf(out, "  %s%s%s\n", term->equation != NULL ? "= " : "",
                term->equation != NULL ? term->equation : "", term->equation != NULL ? "" : "given");
    text_printf(out, "  %-18s %s\n", "", term->meaning);
}

static void add_block(const struct explanation *e, const struct block *block, struct text *out)
{
    text_printf(out, "\n  %-18s", "");
    for (size_t s = 0; s < block->sections; s++)
        text_printf(out, " %9s ", e->terms[block->first[s]].section);
    text_add_char(out, '\n');
    for (size_t s = 0; s < block->sections; s++)
        for (size_t i = 0; i < block->count[s]; i++) {
            const struct sc_term *term = &e->terms[block->first[s] + i];
            if (is_first_of_kind(e, block, s, term))
                add_term_row(e, block, term, out);
        }
}

static void add_terms(const struct explanation *e, struct text *out)
{
    bool binds = false;
    for (size_t first = 0; first < e->trace.count;) {
        struct block block;
        const size_t next = gather(e, first, &block);
        if (block.sections > 1) {
            add_block(e, &block, out);
        } else {
            const char *section = e->terms[first].section;
            text_printf(out, "\n%s\n", section != NULL ? section : "working");
            for (size_t i = first; i < next; i++)
                add_single(&e->terms[i], out);
        }
        for (size_t i = first; i < next; i++)
            binds = binds || e->terms[i].binds;
        first = next;
    }
    if (binds)
        text_add_string(out, "\n* this term decides: it is the smaller or larger of its equation's parts\n");
}

static void add_answer(const struct explanation *e, struct text *out)
{
    text_add_string(out, "\nanswer\n");
    for (size_t i = 0; i < e->system->metric_count; i++) {
        const struct sc_metric *metric = &e->system->metrics[i];
        struct text value = { 0 };
        if (metric->text) {
            const char *text;
            memcpy(&text, (const char *)&e->answer + metric->offset, sizeof text);
            text_add_string(&value, text);
        } else {
            double number;
            memcpy(&number, (const char *)&e->answer + metric->offset, sizeof number);
            emit_quantity(number, metric->dimension, 4, &value);
        }
        text_printf(out, "  %-26s %14s  %s\n", metric->column, value.failed ? "?" : value.bytes,
                    metric->help);
        text_fini(&value);
    }
}

static const struct sc_params_score *find_score(const struct sc_params *params, const char *name,
                                                const char *key)
{
    for (size_t i = 0; i < params->score_count; i++)
        if (strcmp(params->scores[i].name, name) == 0 && strcmp(params->scores[i].key, key) == 0)
            return &params->scores[i];
    return NULL;
}

static void add_parameter(const struct sc_system *system, const struct sc_params_parameter *p,
                          struct text *out)
{
    const enum sc_dimension dimension = sc_system_field(system, p->name)->dimension;
    text_printf(out, "  %-22s ", p->name);
    emit_quantity(p->value, dimension, 4, out);
    if (p->kind == SC_PARAMS_FITTED) {
        text_add_string(out, ", standard error ");
        emit_quantity(p->std_error, dimension, 2, out);
        text_add_char(out, '\n');
    } else {
        text_printf(out, ", %s\n", *p->note != '\0' ? p->note : "not determined by the samples");
    }
}

/* Where the interval comes from, and what speaks against it. */
static void add_uncertainty(const struct explanation *e, struct text *out)
{
    const struct calibration *c = e->calibration;
    if (c == NULL) {
        text_add_string(out, "\nhow sure\n  no calibration is loaded: the answer has no interval\n");
        return;
    }
    const struct sc_field *outside = sc_params_outside(&c->params, e->system, e->scenario);
    const char *key = c->group != NULL
                          ? sc_field_choice(c->group, (size_t)sc_field_get(c->group, e->scenario))->name
                          : SC_PARAMS_POOLED;
    const struct sc_params_score *error = find_score(&c->params, "median_error", key);
    const struct sc_params_score *coverage = find_score(&c->params, "coverage_90", key);
    const bool measured = strcmp(c->params.simulator, SC_PARAMS_MEASURED) == 0;
    text_printf(out, "\nhow sure\n  slowdown from %.4g to %.4g: %g of 100 %s of scenarios like the\n"
                     "  %s ones lie this near to the closed form (%s, %s)\n",
                e->answer.slowdown_lo, e->answer.slowdown_hi, 100.0 * c->level,
                measured ? "measurements" : "simulator runs", measured ? "measured" : "sampled",
                measured ? "cross-validation" : "split-conformal", c->name);
    if (error != NULL && coverage != NULL)
        text_printf(out, "  held-out runs of %s: median error %.2g %%, %.3g of 100 inside their 90 %% interval\n",
                    key, 100.0 * error->value, 100.0 * coverage->value);
    for (size_t i = 0; i < c->params.parameter_count; i++)
        add_parameter(e->system, &c->params.parameters[i], out);
    if (outside != NULL)
        text_printf(out, "  extrapolated: %s lies outside of what was sampled\n", outside->key);
    if (!measured)
        text_add_string(out, "  the interval is against the simulator; `validate` holds both against published figures\n");
}

/* Structural constants that were not given but by a preset: the reader should know. */
static void add_anchors(const struct explanation *e, struct text *out)
{
    text_add_string(out, "\nfitted once to a published figure (anchors)\n");
    for (size_t i = 0; i < e->system->field_count; i++) {
        const struct sc_field *field = &e->system->fields[i];
        bool given = false;
        for (size_t j = 0; j < e->setting_count; j++)
            given = given || e->settings[j].field == field;
        if (field->provenance != SC_ANCHOR || given)
            continue;
        struct text value = { 0 };
        const double taken = sc_field_get(field, e->scenario);
        if (isnan(taken))
            text_add_string(&value, field->derived);
        else
            scenario_quantity(taken, field->dimension, &value);
        text_printf(out, "  %-22s %-36s %s\n", field->key, value.failed ? "?" : value.bytes,
                    field->source);
        text_fini(&value);
    }
}

static bool print_prose(const struct explanation *e, const struct options *options,
                        struct problem *problem)
{
    struct text out = { 0 };
    struct output output;
    add_scenario(e, &out);
    add_terms(e, &out);
    add_answer(e, &out);
    add_uncertainty(e, &out);
    add_anchors(e, &out);
    bool fine = !out.failed || problem_set(problem, "out of memory");
    if (fine && (fine = output_open(&output, options->output, problem))) {
        (void)output_write(&output, out.bytes, out.length, problem);
        fine = output_commit(&output, problem);
    }
    text_fini(&out);
    return fine;
}

/* ---- the same as rows ---- */

static bool print_rows(const struct explanation *e, const struct options *options,
                       const struct emit_style *style, struct problem *problem)
{
    static const struct emit_column columns[] = { { .name = "section" }, { .name = "symbol" },
                                                  { .name = "equation" }, { .name = "value" },
                                                  { .name = "unit" },     { .name = "binds" },
                                                  { .name = "meaning" } };
    struct sink sink;
    if (!sink_open(&sink, style, columns, 7, options->output, problem))
        return false;
    bool fine = true;
    for (size_t i = 0; fine && i < e->trace.count; i++) {
        const struct sc_term *term = &e->terms[i];
        const bool bare = term->dimension == SC_NUMBER || term->dimension == SC_SHARE;
        const struct sc_unit *unit = bare ? NULL : sc_unit_for_display(term->dimension, (double)NAN);
        const struct emit_cell cells[] = {
            emit_string(term->section), emit_string(term->symbol), emit_string(term->equation),
            emit_number(term->value),   emit_string(unit != NULL ? unit->name : NULL),
            emit_number(term->binds),   emit_string(term->meaning),
        };
        fine = sink_row(&sink, cells, problem);
    }
    if (fine)
        return sink_close(&sink, problem);
    sink_abandon(&sink);
    return false;
}

static int explain(const struct command *command, const struct options *options,
                   const char *const *words, size_t word_count, struct catalog *catalog)
{
    struct problem problem;
    struct emit_style style;
    const struct sc_system *system = command_system(command, words, word_count, &problem);
    if (system == NULL || !sink_style(options, &style, &problem))
        return command_fail(&problem);
    struct explanation *e = calloc(1, sizeof *e);
    if (e == NULL)
        return command_fail((problem_set(&problem, "out of memory"), &problem));
    e->system = system;
    e->resolver = resolver_create(system, catalog, &problem);
    bool fine = e->resolver != NULL &&
                calibration_load(system, catalog, options, &e->calibration, &problem);
    if (fine)
        calibration_apply(e->calibration, e->resolver);
    fine = fine && read_settings(e, words + 1, word_count - 1, &problem) &&
                work_out(e, &problem);
    if (fine && e->trace.count > TERMS_MAX)
        fine = problem_set(&problem, "more than %d terms", (int)TERMS_MAX);
    if (fine)
        fine = style.format == EMIT_TABLE ? print_prose(e, options, &problem)
                                          : print_rows(e, options, &style, &problem);
    calibration_destroy(e->calibration);
    resolver_destroy(e->resolver);
    free(e);
    return fine ? EXIT_FINE : command_fail(&problem);
}

static const struct option_row options[] = {
    OPTION(format, 'f', "FORMAT", "table (prose), csv, tsv, json, jsonl or md"),
    OPTION(output, 'o', "FILE", "write there, whole or not at all"),
    OPTION(level, 0, "P", "probability that slowdown_lo .. slowdown_hi holds (default 0.9)"),
    OPTION(params, 0, "FILE", "calibration to use instead of the one that comes with the system"),
    OPTION(digits, 0, "N", "significant digits per number, or all (default 6); the prose has 4"),
    OPTION(delimiter, 0, "CHAR", "of CSV out (default a comma)"),
    OPTION(decimal, 0, "CHAR", "decimal sign of CSV out (default a point)"),
    OPTION(data, 0, "DIR", "tables of GPUs, models, flash instead of the built-in ones"),
    OPTION(help, 'h', NULL, "this text"),
};

const struct command command_explain = {
    .name = "explain",
    .usage = "SYSTEM [key=value ...] [options]",
    .summary = "every term of one answer: equation, value, unit, what binds",
    .details = "  stallcast explain hbf model=llama-70b policy=slipstream buffer=16MB\n"
               "  stallcast explain stream warps_per_sm=32 outstanding_per_warp=2\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .run = explain,
};
