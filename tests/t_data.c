/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The data files in the program: whole, sourced, consistent with themselves and
 * with public figures, and good for an answer of every system. */
#include "catalog.h"
#include "embedded.h"
#include "hbf.h"
#include "scenario.h"
#include "tap.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct catalog_table *table_of(struct catalog *catalog, const char *name)
{
    struct problem problem = { "" };
    const struct catalog_table *table = catalog_table(catalog, name, &problem);
    if (table == NULL)
        bail("%s", problem.text);
    return table;
}

static const char *cell(const struct catalog_table *table, size_t row, const char *column)
{
    const size_t i = catalog_column(table, column);
    if (i == SIZE_MAX)
        bail("%s has no column %s", table->name, column);
    return catalog_cell(table, row, i);
}

/* The number in a cell, NaN when it is empty. */
static double number(const struct catalog_table *table, size_t row, const char *column)
{
    const char *text = cell(table, row, column);
    char *end = NULL;
    const double value = strtod(text, &end);
    if (*text == '\0')
        return (double)NAN;
    if (*end != '\0')
        bail("%s: %s of row %zu is no number: %s", table->name, column, row, text);
    return value;
}

static bool is_bare(const char *text)
{
    const size_t length = strlen(text);
    return length == 0 || (text[0] != ' ' && text[length - 1] != ' ' &&
                           strchr(text, '\t') == NULL && strchr(text, '\n') == NULL);
}

/* ---- Every table ---- */

static bool is_top_level(const struct sc_embedded *file)
{
    return strchr(file->name, '/') == NULL;
}

static void test_files(struct catalog *catalog)
{
    static const char *const wanted[] = {
        "apps.csv",           "flash.csv",            "gpus.csv",          "kernels.csv",
        "models.csv",         "prefetch-kernels.csv", "published/hbf.csv", "published/prefetch.csv",
        "published/stream.csv", "published/uvm.csv"
    };
    size_t found = 0, unsorted = 0, unended = 0, unsourced = 0, blanks = 0, doubles = 0, rows = 0;
    for (size_t i = 0; i < sc_embedded_count; i++) {
        const struct sc_embedded *file = &sc_embedded_files[i];
        for (size_t w = 0; w < COUNT(wanted); w++)
            found += strcmp(file->name, wanted[w]) == 0;
        unsorted += i > 0 && strcmp(sc_embedded_files[i - 1].name, file->name) >= 0;
        unended += file->size == 0 || file->bytes[file->size] != 0 ||
                   file->bytes[file->size - 1] != '\n';
        if (!is_top_level(file))
            continue;
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)(strlen(file->name) - 4), file->name);
        const struct catalog_table *table = table_of(catalog, name);
        const bool repeats = strcmp(name, "kernels") == 0; /* rows of one model each */
        for (size_t r = 0; r < table->row_count; r++, rows++) {
            const bool sourced = strlen(cell(table, r, "source")) > 10;
            unsourced += !sourced;
            if (!sourced)
                note("%s:%zu has no source", file->name, catalog_line(table, r));
            for (size_t c = 0; c < table->column_count; c++)
                blanks += !is_bare(catalog_cell(table, r, c));
            doubles += !repeats && catalog_row(table, catalog_cell(table, r, 0)) != r;
        }
    }
    is_int((long long)found, (long long)COUNT(wanted), "the tables are there");
    is_int((long long)unsorted, 0, "sorted by name, each once");
    is_int((long long)unended, 0, "each ends its last line, then a NUL");
    is_int((long long)unsourced, 0, "every row of %zu names its source", rows);
    is_int((long long)blanks, 0, "no cell is padded with blanks");
    is_int((long long)doubles, 0, "no two rows share a name");
}
enum { FILE_TESTS = 6 };

/* ---- GPUs ---- */

/* What the board draws but for reads of memory at full rate, as `hbm_energy` has them. */
static void test_gpu_power(const struct catalog_table *gpus)
{
    size_t wrong = 0, silent = 0;
    for (size_t r = 0; r < gpus->row_count; r++) {
        const double read_w = number(gpus, r, "memory_bandwidth_GB/s") * 1e9 * 8 * 3.97e-12;
        const double board_w = number(gpus, r, "tdp_W"), die_w = number(gpus, r, "die_power_W");
        silent += !isnan(board_w) && isnan(die_w);
        if (!isnan(board_w) && fabs(die_w + read_w - board_w) > 0.6) {
            note("%s: %g W and %g W to read", catalog_cell(gpus, r, 0), die_w, read_w);
            wrong++;
        }
    }
    is_int((long long)silent, 0, "the power of a die follows where that of the board is known");
    is_int((long long)wrong, 0, "and with that of memory at full rate is the board's");
}

static void test_gpus(struct catalog *catalog)
{
    const struct catalog_table *gpus = table_of(catalog, "gpus");
    size_t bandwidth = 0, sizes = 0, flops = 0, link = 0;
    for (size_t r = 0; r < gpus->row_count; r++) {
        const char *name = catalog_cell(gpus, r, 0);
        const double bus_GB_per_s = number(gpus, r, "memory_channels") *
                                    number(gpus, r, "channel_width_bits") / 8 *
                                    number(gpus, r, "memory_rate_GT/s");
        if (!(fabs(bus_GB_per_s / number(gpus, r, "memory_bandwidth_GB/s") - 1) <= 0.1)) {
            note("%s: %g GB/s from the bus", name, bus_GB_per_s);
            bandwidth++;
        }
        const double sms = number(gpus, r, "sms"), clock = number(gpus, r, "clock_MHz");
        const double l1 = number(gpus, r, "l1_KiB"), shared = number(gpus, r, "shared_memory_KiB");
        const double warps = number(gpus, r, "max_warps");
        if (!(sms >= 1 && sms <= 256 && sms == floor(sms) && shared <= l1 && warps >= 32 &&
              warps <= 64 && (isnan(clock) || (clock > 500 && clock < 4000)))) {
            note("%s: implausible", name);
            sizes++;
        }
        /* Dense 16-bit tensor operations per SM and cycle: a power of two, but for
         * what a boost clock rounds. */
        const double per_cycle = number(gpus, r, "peak_flops_TFLOP/s") * 1e6 / sms / clock;
        if (!isnan(per_cycle) && fabs(per_cycle / exp2(round(log2(per_cycle))) - 1) > 0.03) {
            note("%s: %g operations per SM and cycle", name, per_cycle);
            flops++;
        }
        link += (*cell(gpus, r, "link") == '\0') != isnan(number(gpus, r, "link_bandwidth_GB/s"));
    }
    ok(gpus->row_count >= 10, "there are GPUs");
    is_int((long long)bandwidth, 0, "channels x width x rate is the bandwidth, within 10 %%");
    is_int((long long)sizes, 0, "SMs, clocks and on-chip sizes are plausible");
    is_int((long long)flops, 0, "peak rates are a power of two per SM and cycle");
    is_int((long long)link, 0, "a link has a bandwidth, and the other way round");
    test_gpu_power(gpus);
}
enum { GPU_TESTS = 7 };

/* ---- Models ---- */

/* Parameters in all, embeddings included, and at work on one token, in 1e9, as
 * published with the model. */
static const struct size {
    const char *name;
    double total, active;
} model_sizes[] = {
    { "llama-8b", 8.03, 0 },       { "mistral-24b", 23.6, 0 },     { "qwen2.5-32b", 32.8, 0 },
    { "deepseek-67b", 67.4, 0 },   { "llama-70b", 70.6, 0 },       { "qwen2.5-72b", 72.7, 0 },
    { "llama-405b", 405.9, 0 },    { "qwen3-30b-a3b", 30.5, 3.3 }, { "qwen3-235b-a22b", 235, 22 },
    { "llama-3.2-1b", 1.24, 0 },   { "llama-3.2-3b", 3.21, 0 },    { "llama-3.3-70b", 70.6, 0 },
    { "llama-2-7b", 6.74, 0 },     { "llama-2-13b", 13.0, 0 },     { "mistral-7b", 7.25, 0 },
    { "mistral-large", 122.6, 0 }, { "mixtral-8x7b", 46.7, 12.9 }, { "mixtral-8x22b", 140.6, 39.1 },
    { "qwen2.5-7b", 7.62, 0 },     { "qwen2.5-14b", 14.8, 0 },     { "qwen3-8b", 8.19, 0 },
    { "qwen3-14b", 14.8, 0 },      { "qwen3-32b", 32.8, 0 },       { "gemma-2-27b", 27.2, 0 },
    { "gemma-3-27b", 27.0, 0 },    { "phi-4", 14.7, 0 },           { "command-r-plus", 103.8, 0 },
    { "gpt-oss-20b", 20.9, 3.6 },  { "gpt-oss-120b", 116.8, 5.1 }, { "deepseek-v3", 671, 37 },
    { "kimi-k2", 1026, 32 },
};

static struct sc_hbf hbf_scenario(struct resolver *resolver, const char *words[], size_t count)
{
    struct setting settings[8];
    struct problem problem = { "" };
    struct sc_hbf s;
    for (size_t i = 0; i < count; i++) {
        struct sweep sweep;
        if (i == COUNT(settings) || !sweep_parse(resolver, words[i], &sweep, &problem))
            bail("%s", problem.text);
        settings[i] = sweep.values[0];
        sweep_fini(&sweep);
    }
    if (!resolver_build(resolver, settings, count, &s, &problem))
        bail("%s", problem.text);
    return s;
}

/* Weights that the kernels of a pass read, LM head included. */
static double weights_read(const struct sc_hbf *s)
{
    struct sc_hbf_kernel kernels[SC_HBF_KERNELS];
    const size_t count = sc_hbf_kernels(s, kernels);
    double weights = 0;
    for (size_t i = 0; i < count; i++)
        weights += kernels[i].pages * s->page_bytes * 8 / s->dtype_bits * kernels[i].multiplicity;
    return weights;
}

static void test_models(struct catalog *catalog, struct resolver *resolver)
{
    const struct catalog_table *models = table_of(catalog, "models");
    for (size_t i = 0; i < COUNT(model_sizes); i++) {
        const struct size *size = &model_sizes[i];
        char word[64];
        snprintf(word, sizeof word, "model=%s", size->name);
        const char *many[] = { word, "lm_head=yes", "batch=1000000", "routing_exponent=1" };
        const struct sc_hbf all = hbf_scenario(resolver, many, COUNT(many));
        const bool tied = number(models, catalog_row(models, size->name), "tied_embeddings") == 1;
        const double total = weights_read(&all) + (tied ? 0 : all.vocab * all.hidden);
        near(total, size->total * 1e9, 0.01, 0, "%s: parameters", size->name);
        if (size->active > 0) {
            const char *one[] = { word, "lm_head=yes", "batch=1" };
            const struct sc_hbf token = hbf_scenario(resolver, one, COUNT(one));
            /* Published with the embeddings, without, or with one of the two. */
            const double least = weights_read(&token), most = least + all.vocab * all.hidden;
            near(fmin(fmax(size->active * 1e9, least), most), size->active * 1e9, 0.05, 0,
                 "%s: at work on a token", size->name);
        }
    }
    size_t listed = 0, heads = 0;
    for (size_t r = 0; r < models->row_count; r++) {
        for (size_t i = 0; i < COUNT(model_sizes); i++)
            listed += strcmp(model_sizes[i].name, catalog_cell(models, r, 0)) == 0;
        heads += fmod(number(models, r, "heads"), number(models, r, "kv_heads")) != 0;
    }
    is_int((long long)listed, (long long)models->row_count, "the size of every model is checked");
    is_int((long long)heads, 0, "heads come in whole groups");
}
enum { ACTIVE_MODELS = 8, MODEL_TESTS = COUNT(model_sizes) + ACTIVE_MODELS + 2 };

/* ---- Measured kernels ---- */

static bool all_words_are_rows(const struct catalog_table *table, const char *words)
{
    char copy[256];
    snprintf(copy, sizeof copy, "%s", words);
    char *rest = NULL;
    size_t count = 0;
    for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        if (catalog_row(table, word) == SIZE_MAX)
            return false;
        count++;
    }
    return count > 0;
}

static size_t launches_set(const struct sc_hbf *s)
{
    size_t set = 0;
    for (size_t i = 0; i < SC_HBF_KERNELS; i++)
        set += !isnan(s->launch[i].ctas) && !isnan(s->launch[i].time_s);
    return set;
}

static void test_kernels(struct catalog *catalog, struct resolver *resolver)
{
    const struct catalog_table *kernels = table_of(catalog, "kernels");
    const struct catalog_table *models = table_of(catalog, "models");
    const struct catalog_table *gpus = table_of(catalog, "gpus");
    static const char *const names[] = { "qkv", "o", "gate", "up", "down" };
    is_int((long long)kernels->row_count, 35, "five kernels of seven models");
    size_t unknown = 0, again = 0, wrong = 0;
    for (size_t r = 0; r < kernels->row_count; r++) {
        const char *model = cell(kernels, r, "model"), *kernel = cell(kernels, r, "kernel");
        unknown += catalog_row(models, model) == SIZE_MAX ||
                   !all_words_are_rows(gpus, cell(kernels, r, "gpu"));
        for (size_t q = 0; q < r; q++)
            again += strcmp(cell(kernels, q, "model"), model) == 0 &&
                     strcmp(cell(kernels, q, "kernel"), kernel) == 0;
        char word[64];
        snprintf(word, sizeof word, "model=%s", model);
        const char *words[] = { word, "gpu=a100-sim" };
        const struct sc_hbf s = hbf_scenario(resolver, words, COUNT(words));
        for (size_t i = 0; i < COUNT(names); i++)
            if (strcmp(names[i], kernel) == 0)
                wrong += s.launch[i].ctas != number(kernels, r, "ctas") ||
                         fabs(s.launch[i].time_s - number(kernels, r, "time_us") * 1e-6) > 1e-18;
    }
    is_int((long long)unknown, 0, "models and GPUs of the measured kernels exist");
    is_int((long long)again, 0, "each kernel of a model is measured once");
    is_int((long long)wrong, 0, "a scenario of such a model takes them over");

    static const struct {
        const char *word;
        size_t set;
    } cases[] = {
        { "gpu=a100", 5 },  { "batch=1", 5 },           { "gpu=h100", 0 },      { "batch=65", 0 },
        { "bits=8", 0 },    { "tensor_parallel=2", 0 }, { "phase=prefill", 0 }, { "ffn=14080", 0 },
        { "policy=h3", 5 }, { "qkv_ctas=100", 5 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *words[] = { "model=llama-8b", cases[i].word };
        const struct sc_hbf s = hbf_scenario(resolver, words, COUNT(words));
        is_int((long long)launches_set(&s), (long long)cases[i].set, "measured launches with %s",
               cases[i].word);
    }
    const char *words[] = { "model=llama-8b", "qkv_ctas=100" };
    const struct sc_hbf s = hbf_scenario(resolver, words, COUNT(words));
    ok(s.launch[SC_HBF_QKV].ctas == 100 && fabs(s.launch[SC_HBF_QKV].time_s - 50.3e-6) < 1e-18,
       "what is given goes before what was measured");
}
enum { KERNEL_TESTS = 4 + 10 + 1 };

/* ---- Every preset, every system ---- */

/* Estimates a scenario; false, with a note, when it fails or is unsound. */
static bool answers(const struct sc_system *system, struct resolver *resolver,
                    const struct setting *settings, size_t count)
{
    union {
        double align;
        unsigned char bytes[SC_SCENARIO_MAX];
    } scenario;
    union {
        double align;
        unsigned char bytes[SC_ANSWER_MAX];
    } answer;
    struct problem problem = { "" };
    struct sc_error error = { 0 };
    if (!resolver_build(resolver, settings, count, &scenario, &problem)) {
        note("%s: %s", system->name, problem.text);
        return false;
    }
    const enum sc_status status = system->estimate(&scenario, &answer, NULL, &error);
    if (status != SC_OK) {
        scenario_describe_error(system, status, &error, &problem);
        note("%s: %s", system->name, problem.text);
        return false;
    }
    double time_s, slowdown;
    memcpy(&time_s, answer.bytes + sc_system_metric(system, "time_s")->offset, sizeof time_s);
    memcpy(&slowdown, answer.bytes + sc_system_metric(system, "slowdown")->offset, sizeof slowdown);
    return isfinite(time_s) && time_s > 0 && isfinite(slowdown) && slowdown > 0.1;
}

static struct sweep sweep_of(struct resolver *resolver, const char *key, const char *value)
{
    char word[64];
    struct sweep sweep;
    struct problem problem = { "" };
    snprintf(word, sizeof word, "%s=%s", key, value);
    if (!sweep_parse(resolver, word, &sweep, &problem))
        bail("%s", problem.text);
    return sweep;
}

/* Each row of each table behind a preset key; the other presets are the first
 * rows of theirs where a system has no default. */
static void test_presets(const struct sc_system *system, struct resolver *resolver)
{
    size_t failed = 0, seen = 0;
    for (size_t i = 0; i < system->field_count; i++) {
        const struct sc_field *field = &system->fields[i];
        if (field->kind != SC_PRESET || field->table == NULL)
            continue;
        struct sweep sweep = sweep_of(resolver, field->key, "all");
        for (size_t j = 0; j < sweep.count; j++, seen++) {
            struct setting settings[16];
            size_t count = 0;
            settings[count++] = sweep.values[j];
            for (size_t k = 0; k < system->field_count; k++) {
                const struct sc_field *other = &system->fields[k];
                if (k == i || other->kind != SC_PRESET || other->preset != NULL ||
                    other->table == NULL)
                    continue;
                struct sweep first = sweep_of(resolver, other->key, "all");
                settings[count++] = first.values[0];
                sweep_fini(&first);
            }
            if (!answers(system, resolver, settings, count)) {
                note("%s=%s", field->key, setting_name(&sweep.values[j]));
                failed++;
            }
        }
        sweep_fini(&sweep);
    }
    ok(failed == 0 && seen > 5, "%s: all of %zu presets answer", system->name, seen);
}

static void test_models_on_gpus(struct resolver *resolver)
{
    const struct sc_system *system = resolver_system(resolver);
    struct sweep models = sweep_of(resolver, "model", "all"),
                 gpus = sweep_of(resolver, "gpu", "all");
    struct sweep flash = sweep_of(resolver, "flash", "all");
    struct sweep policies = sweep_of(resolver, "policy", "all");
    size_t failed = 0, seen = 0;
    for (size_t m = 0; m < models.count; m++)
        for (size_t g = 0; g < gpus.count; g++)
            for (size_t f = 0; f < flash.count; f++)
                for (size_t p = 0; p < policies.count; p++, seen++) {
                    const struct setting settings[] = { models.values[m], gpus.values[g],
                                                        flash.values[f], policies.values[p] };
                    if (answers(system, resolver, settings, COUNT(settings)))
                        continue;
                    if (failed++ < 5)
                        note("%s on %s, %s, %s", setting_name(&models.values[m]),
                             setting_name(&gpus.values[g]), setting_name(&flash.values[f]),
                             setting_name(&policies.values[p]));
                }
    ok(failed == 0 && seen == models.count * gpus.count * flash.count * policies.count &&
           seen > 10000,
       "every model on every GPU and flash by every policy: %zu answers", seen);
    sweep_fini(&models);
    sweep_fini(&gpus);
    sweep_fini(&flash);
    sweep_fini(&policies);
}

/* Where a table has a cell, the scenario has its value, in SI. */
static void test_cells_arrive(struct catalog *catalog, struct resolver *resolver)
{
    const struct catalog_table *gpus = table_of(catalog, "gpus");
    const struct catalog_table *flash = table_of(catalog, "flash");
    size_t wrong = 0;
    for (size_t r = 0; r < gpus->row_count; r++) {
        char word[64];
        snprintf(word, sizeof word, "gpu=%s", catalog_cell(gpus, r, 0));
        const char *words[] = { "model=llama-8b", word };
        const struct sc_hbf s = hbf_scenario(resolver, words, COUNT(words));
        const double peak = number(gpus, r, "peak_flops_TFLOP/s") * 1e12;
        wrong += s.sms != number(gpus, r, "sms") ||
                 fabs(s.hbm_bandwidth_bytes_per_s /
                          (number(gpus, r, "memory_bandwidth_GB/s") * 1e9) -
                      1) > 1e-12 ||
                 (isnan(peak) ? !isnan(s.peak_flops) : fabs(s.peak_flops / peak - 1) > 1e-12);
    }
    for (size_t r = 0; r < flash->row_count; r++) {
        char word[64];
        snprintf(word, sizeof word, "flash=%s", catalog_cell(flash, r, 0));
        const char *words[] = { "model=llama-8b", word };
        const struct sc_hbf s = hbf_scenario(resolver, words, COUNT(words));
        const double latency_s = number(flash, r, "latency_us") * 1e-6;
        wrong += fabs(s.hbf_bandwidth_bytes_per_s /
                          (number(flash, r, "hbf_bandwidth_TB/s") * 1e12) -
                      1) > 1e-12 ||
                 (!isnan(latency_s) && fabs(s.latency_s / latency_s - 1) > 1e-12);
    }
    is_int((long long)wrong, 0, "rates, latencies and SMs arrive in SI");
}

/* ---- Published figures ---- */

static bool is_one_of(const char *text, const char *words)
{
    return sc_is_word_of(words, text);
}

static bool is_embedded(const char *name)
{
    for (size_t i = 0; i < sc_embedded_count; i++)
        if (strncmp(sc_embedded_files[i].name, name, strlen(name)) == 0 &&
            strcmp(sc_embedded_files[i].name + strlen(name), ".csv") == 0)
            return true;
    return false;
}

/* How many words of a scenario cannot be read. */
static size_t unreadable_words(struct resolver *resolver, const char *scenario)
{
    char copy[512];
    char *rest = NULL;
    size_t unreadable = 0;
    snprintf(copy, sizeof copy, "%s", scenario);
    for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        struct sweep sweep = { 0 };
        struct problem problem = { "" };
        if (!sweep_parse(resolver, word, &sweep, &problem)) {
            note("%s", problem.text);
            unreadable++;
        }
        sweep_fini(&sweep);
    }
    return unreadable;
}

static void test_published(const struct sc_system *system, struct catalog *catalog,
                           struct resolver *resolver)
{
    char name[64];
    snprintf(name, sizeof name, "published/%s", system->name);
    if (!is_embedded(name)) {
        skip(2, "nothing published about %s", system->name);
        return;
    }
    const struct catalog_table *table = table_of(catalog, name);
    size_t wrong = 0, unreadable = 0;
    for (size_t r = 0; r < table->row_count; r++) {
        const char *tolerance = cell(table, r, "tolerance");
        const bool sound = catalog_row(table, catalog_cell(table, r, 0)) == r &&
                           sc_system_metric(system, cell(table, r, "metric")) != NULL &&
                           is_one_of(cell(table, r, "aggregate"), "each geomean mean median min max") &&
                           is_one_of(cell(table, r, "kind"), "anchor check") &&
                           number(table, r, "value") > 0 &&
                           (*tolerance == '\0' || strtod(tolerance, NULL) > 0) &&
                           *cell(table, r, "figure") != '\0';
        if (!sound)
            note("%s", catalog_cell(table, r, 0));
        wrong += !sound;
        unreadable += unreadable_words(resolver, cell(table, r, "scenario"));
    }
    ok(wrong == 0 && table->row_count > 0, "%s: published figures have columns, aggregates, kinds",
       system->name);
    is_int((long long)unreadable, 0, "%s: every scenario of theirs can be read", system->name);
}
enum { PUBLISHED_TESTS = 2 };

int main(void)
{
    struct problem problem = { "" };
    struct resolver *resolvers[16] = { NULL };
    struct resolver *hbf = NULL;
    struct catalog *catalog = catalog_create(NULL);
    if (catalog == NULL || sc_system_count > COUNT(resolvers))
        bail("no catalog, or too many systems");
    for (size_t i = 0; i < sc_system_count; i++) {
        resolvers[i] = resolver_create(sc_systems[i], catalog, &problem);
        if (resolvers[i] == NULL)
            bail("%s: %s", sc_systems[i]->name, problem.text);
        if (sc_systems[i] == &sc_hbf_system)
            hbf = resolvers[i];
    }

    plan(FILE_TESTS + GPU_TESTS + (int)MODEL_TESTS + KERNEL_TESTS + 2 +
         (int)sc_system_count * (1 + PUBLISHED_TESTS));
    test_files(catalog);
    test_gpus(catalog);
    test_models(catalog, hbf);
    test_kernels(catalog, hbf);
    for (size_t i = 0; i < sc_system_count; i++)
        test_presets(sc_systems[i], resolvers[i]);
    test_models_on_gpus(hbf);
    test_cells_arrive(catalog, hbf);
    for (size_t i = 0; i < sc_system_count; i++)
        test_published(sc_systems[i], catalog, resolvers[i]);

    for (size_t i = 0; i < sc_system_count; i++)
        resolver_destroy(resolvers[i]);
    catalog_destroy(catalog);
    return done();
}
