/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The grammar of scenarios: names, lists, ranges, presets, cycles, launches. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "preset.h"
#include "product.h"
#include "tap.h"

enum { SYSTEMS_MAX = 32, WORDS_MAX = 8 };

static struct catalog *catalog;
static struct resolver *resolvers[SYSTEMS_MAX];

static struct resolver *resolver_of(const char *name)
{
    struct problem problem;
    size_t i = 0;
    while (i < sc_system_count && strcmp(sc_systems[i]->name, name) != 0)
        i++;
    if (i == sc_system_count || i >= SYSTEMS_MAX)
        bail("no system %s", name);
    if (resolvers[i] == NULL)
        resolvers[i] = resolver_create(sc_system_find(name), catalog, &problem);
    if (resolvers[i] == NULL)
        bail("%s: %s", name, problem.text);
    return resolvers[i];
}

/* The values of key=VALUES against those wanted, in SI. */
static void values_are(const char *system, const char *argument, const double *want, size_t count)
{
    struct sweep sweep;
    struct problem problem = { "" };
    if (!sweep_parse(resolver_of(system), argument, &sweep, &problem)) {
        ok(false, "%s: %s", argument, problem.text);
        return;
    }
    bool same = sweep.count == count;
    for (size_t i = 0; same && i < count; i++)
        same = sweep.values[i].value == want[i] && sweep.values[i].field == sweep.field;
    if (!ok(same, "%s", argument))
        for (size_t i = 0; i < sweep.count; i++)
            near(sweep.values[i].value, i < count ? want[i] : (double)NAN, 0, 0, "value %zu", i);
    sweep_fini(&sweep);
}

#define VALUES(system, argument, ...)                                        \
    do {                                                                     \
        const double want_[] = { __VA_ARGS__ };                              \
        values_are(system, argument, want_, sizeof want_ / sizeof want_[0]); \
    } while (0)

/* The names of key=VALUES, separated by blanks. */
static void names_are(const char *argument, const char *want)
{
    struct sweep sweep;
    struct problem problem = { "" };
    struct text names = { 0 };
    if (!sweep_parse(resolver_of("hbf"), argument, &sweep, &problem)) {
        ok(false, "%s: %s", argument, problem.text);
        return;
    }
    for (size_t i = 0; i < sweep.count; i++)
        text_printf(&names, "%s%s", i > 0 ? " " : "", setting_name(&sweep.values[i]));
    is_str(names.bytes, want, "%s", argument);
    text_fini(&names);
    sweep_fini(&sweep);
}

static void refused(const char *system, const char *argument, const char *want)
{
    struct sweep sweep = { 0 };
    struct problem problem = { "" };
    const bool read = sweep_parse(resolver_of(system), argument, &sweep, &problem);
    is_str(read ? "read" : problem.text, want, "%s is refused", argument);
    sweep_fini(&sweep);
}

static void test_lists(void)
{
    VALUES("hbf", "buffer=8MB", 8e6);
    VALUES("hbf", "buffer= 8 MB , 1 GiB ", 8e6, 1073741824.0);
    VALUES("hbf", "batch=4,1,4", 4, 1, 4);
    VALUES("hbf", "latency_us=5,20,1ms", 5e-6, 20e-6, 1e-3);
    VALUES("hbf", "latency (us)=5", 5e-6);
    VALUES("hbf", "latency[us]=5", 5e-6);
    VALUES("hbf", "retry=10%,0.2", 0.1, 0.2);
    VALUES("hbf", "tp=2", 2);
    VALUES("stream", "line_bytes=64", 64);
    VALUES("stream", "sector_gap_cycles=3", 3);
    VALUES("hbf", "phase=prefill,decode", 1, 0);
    names_are("phase=all", "decode prefill");
    names_are("model=llama-8b,llama-70b", "llama-8b llama-70b");
    names_are("model= llama-8b , llama-8b", "llama-8b llama-8b");
    refused("hbf", "phase=@slipstream7", "phase=@slipstream7: expected one of decode, prefill, "
                                         "got '@slipstream7'");
    refused("hbf", "batch=all", "batch=all: expected a pure number, got 'all'");
}

/* Rows of the table that carry the tag, in the order of the table. */
static void test_tags(void)
{
    const struct catalog_table *models = catalog_table(catalog, "models", &(struct problem){ "" });
    struct text all = { 0 }, tagged = { 0 };
    if (models == NULL)
        bail("no table of models");
    const size_t tags = catalog_column(models, "tags");
    for (size_t i = 0; i < models->row_count; i++) {
        const char *name = catalog_cell(models, i, 0);
        text_printf(&all, "%s%s", i > 0 ? " " : "", name);
        if (sc_is_word_of(catalog_cell(models, i, tags), "slipstream7"))
            text_printf(&tagged, "%s%s", tagged.length > 0 ? " " : "", name);
    }
    names_are("model=all", all.bytes);
    names_are("model=@slipstream7", tagged.bytes);
    ok(tagged.length > 0 && tagged.length < all.length, "some carry the tag, some do not");
    text_fini(&all);
    text_fini(&tagged);
    refused("hbf", "model=@slipstream", "model=@slipstream: no row of models carries the tag slipstream");
}

static void test_ranges(void)
{
    VALUES("hbf", "latency=5us:20us:5us", 5e-6, 10e-6, 15e-6, 20e-6);
    VALUES("hbf", "latency=5us:19us:5us", 5e-6, 10e-6, 15e-6);
    VALUES("hbf", "latency=20us:5us:-5us", 20e-6, 15e-6, 10e-6, 5e-6);
    VALUES("hbf", "latency=5us:5us:1us", 5e-6);
    VALUES("hbf", "latency=0.1us:0.5us:0.1us", 0.1e-6, 0.2e-6, 0.3e-6, 0.4e-6, 0.5e-6);
    VALUES("hbf", "latency_us=5:10:5,30", 5e-6, 10e-6, 30e-6);
    VALUES("hbf", "buffer=8MB:64MB:*2", 8e6, 16e6, 32e6, 64e6);
    VALUES("hbf", "buffer=8MB:63MB:*2", 8e6, 16e6, 32e6);
    VALUES("hbf", "buffer=64MB:8MB:*0.5", 64e6, 32e6, 16e6, 8e6);
    VALUES("hbf", "buffer=1MiB:3MiB:1MiB", 1048576.0, 2097152.0, 3145728.0);
    VALUES("hbf", "batch=1:1000:*10", 1, 10, 100, 1000);
    VALUES("hbf", "batch=1:9:4,64", 1, 5, 9, 64);
    VALUES("hbf", "retry=0:0.3:0.1", 0, 0.1, 0.2, 0.3);
    VALUES("hbf", "retry=0%:20%:10%", 0, 0.1, 0.2);
    VALUES("stream", "latency=100cycles:300cycles:100cycles", 100, 200, 300);

    /* A step that meets the end but for rounding. */
    struct sweep sweep;
    struct problem problem = { "" };
    ok(sweep_parse(resolver_of("hbf"), "latency=1us:1000us:0.1us", &sweep, &problem) &&
           sweep.count == 9991,
       "ten thousand steps end where they should");
    bool written = sweep.count == 9991;
    for (size_t i = 0; written && i < sweep.count; i++) {
        struct setting setting;
        struct binding binding;
        char text[32];
        (void)snprintf(text, sizeof text, "%zu.%zuus", 1 + i / 10, i % 10);
        written = resolver_bind(resolver_of("hbf"), "latency", &binding, NULL) &&
                  setting_parse(resolver_of("hbf"), &binding, text, strlen(text), '.', &setting,
                                &problem) &&
                  setting.value == sweep.values[i].value;
        if (!written)
            (void)printf("# %s is %.17g\n", text, sweep.values[i].value);
    }
    ok(written, "and each is the number that one would write");
    sweep_fini(&sweep);
}

/* ---- scenarios ---- */

/* Builds the scenario of those words; false, with a failed check, if it cannot. */
static bool build(const char *system, const char *const *words, size_t count, void *scenario)
{
    struct product product;
    struct problem problem = { "" };
    struct setting settings[WORDS_MAX];
    bool built = product_make(resolver_of(system), words, count, &product, &problem);
    if (built) {
        product_row(&product, 0, settings);
        built = resolver_build(resolver_of(system), settings, product.count, scenario, &problem);
    }
    product_fini(&product);
    return built || ok(false, "%s: %s", count > 0 ? words[0] : system, problem.text);
}

static void key_is(const char *system, const char *const *words, size_t count, const char *key,
                   double want)
{
    _Alignas(max_align_t) unsigned char scenario[SC_SCENARIO_MAX];
    struct text name = { 0 };
    for (size_t i = 0; i < count; i++)
        text_printf(&name, "%s ", words[i]);
    if (build(system, words, count, scenario))
        near(sc_field_get(sc_system_field(sc_system_find(system), key), scenario), want, 1e-15, 0,
             "%s%s", name.length > 0 ? name.bytes : "", key);
    text_fini(&name);
}

#define KEY(system, key, want, ...)                                                \
    do {                                                                           \
        static const char *const words_[] = { __VA_ARGS__ };                       \
        key_is(system, words_, sizeof words_ / sizeof words_[0], key, (want));     \
    } while (0)

static void test_presets(void)
{
    KEY("hbf", "latency", 10e-6, "model=llama-8b", "flash=hbf-10us");
    KEY("hbf", "latency", 7e-6, "latency=7us", "flash=hbf-10us");
    KEY("hbf", "latency", 7e-6, "flash=hbf-10us", "latency=7us");
    KEY("hbf", "layers", 32, "model=llama-8b");
    KEY("hbf", "layers", 5, "layers=5", "model=llama-8b");
    KEY("hbf", "layers", (double)NAN, "batch=1");
    KEY("hbf", "sms", 132, "gpu=h100");
    KEY("hbf", "policy", 0, "policy=ideal");
}

static void test_cycles(void)
{
    KEY("stream", "latency", 1000 / 1132e6, "latency=1000cycles");
    KEY("stream", "latency", 1e-6, "latency=1000cycles", "clock=1GHz");
    KEY("stream", "latency", 1e-6, "clock=1GHz", "latency=1000cycles");
    KEY("stream", "bandwidth", 2e11, "bandwidth=200B/cycle", "clock=1GHz");
    KEY("stream", "latency", 1000 / 1410e6, "latency=1000cycles", "gpu=a100");
    KEY("stream", "latency", 1e-6, "latency=1000cycles", "gpu=a100", "clock=1GHz");
    refused("hbf", "latency=1000cycles",
            "latency=1000cycles: cycles have no meaning here: hbf has no clock");
    refused("stream", "latency=100cycles:200cycles:1us",
            "latency=100cycles:200cycles:1us: expected a range all in cycles, or nothing of it");
    refused("stream", "latency=1us:2us:10cycles",
            "latency=1us:2us:10cycles: expected a range all in cycles, or nothing of it");

    /* Without a clock there is no telling. */
    _Alignas(max_align_t) unsigned char scenario[SC_SCENARIO_MAX];
    struct resolver *resolver = resolver_of("stream");
    struct binding latency, clock;
    struct setting settings[2];
    struct problem problem = { "" };
    ok(resolver_bind(resolver, "latency", &latency, NULL) &&
           resolver_bind(resolver, "clock", &clock, NULL) &&
           setting_parse(resolver, &latency, "5cycles", 7, '.', &settings[0], &problem),
       "cycles are read before there is a clock");
    settings[1] = (struct setting){ .field = clock.field, .value = (double)NAN };
    ok(!resolver_build(resolver, settings, 2, scenario, &problem), "but not built");
    is_str(problem.text, "latency is counted in cycles, but clock has no value", "and told why");
}

/* llama-8b on an a100 at batch 64, 16 bits, one GPU, decode, was measured. */
static void test_launches(void)
{
    static const double none = (double)NAN;
    KEY("hbf", "qkv_ctas", 256, "model=llama-8b");
    KEY("hbf", "qkv_time", 50.3e-6, "model=llama-8b");
    KEY("hbf", "reference_sms", 108, "model=llama-8b");
    KEY("hbf", "qkv_ctas", 256, "model=llama-8b", "gpu=a100");
    KEY("hbf", "qkv_ctas", 256, "model=llama-8b", "batch=1");
    KEY("hbf", "qkv_ctas", 256, "model=llama-8b", "bits=16", "tp=1", "phase=decode");
    KEY("hbf", "qkv_ctas", none, "model=llama-8b", "gpu=h100");
    KEY("hbf", "qkv_ctas", none, "model=llama-8b", "batch=65");
    KEY("hbf", "qkv_ctas", none, "model=llama-8b", "bits=8");
    KEY("hbf", "qkv_ctas", none, "model=llama-8b", "tp=2");
    KEY("hbf", "qkv_ctas", none, "model=llama-8b", "phase=prefill");
    KEY("hbf", "qkv_ctas", none, "model=llama-8b", "layers=32");
    KEY("hbf", "qkv_ctas", none, "batch=1");
    KEY("hbf", "qkv_ctas", 7, "model=llama-8b", "qkv_ctas=7");
    KEY("hbf", "qkv_time", 50.3e-6, "model=llama-8b", "qkv_ctas=7");
    KEY("hbf", "o_ctas", 64, "model=llama-8b", "qkv_ctas=7");
}

/* ---- names ---- */

static const char *word_at(unsigned long i, const void *context)
{
    return ((const char *const *)context)[i];
}

static void test_nearest(void)
{
    static const char *const words[] = { "buffer", "latency", "s0", "policy", "llama-8b" };
    char far[400];
    memset(far, 'x', sizeof far - 1);
    far[sizeof far - 1] = '\0';
    is_str(problem_nearest("bufer", word_at, 5, words), "buffer", "a letter lost");
    is_str(problem_nearest("buffeer", word_at, 5, words), "buffer", "a letter twice");
    is_str(problem_nearest("bufefr", word_at, 5, words), "buffer", "letters swapped");
    is_str(problem_nearest("LATENCY", word_at, 5, words), "latency", "another case");
    is_str(problem_nearest("Llama8B", word_at, 5, words), "llama-8b", "a dash forgotten");
    is_str(problem_nearest("abacus", word_at, 5, words), NULL, "nothing near");
    is_str(problem_nearest("", word_at, 5, words), NULL, "nothing at all");
    is_str(problem_nearest(far, word_at, 5, words), NULL, "a very long name");
    is_str(problem_nearest("name", word_at, 1, (const char *const[]){ "page" }), NULL,
           "half of a short name is no slip");
}

/* True if a bare number under that header means SI. */
static bool is_si(const struct binding *binding)
{
    const struct sc_field *field = binding->field;
    if (field->kind == SC_CHOICE || field->kind == SC_PRESET)
        return binding->unit == NULL;
    const struct sc_unit *unit = binding->unit != NULL ? binding->unit
                                                       : sc_unit_find(field->dimension, "", 0);
    return unit != NULL && sc_unit_factor(unit) == 1.0 && !unit->deferred;
}

/* Every key of every system by its header, so that answers are scenarios. */
static void test_headers(void)
{
    const char *wrong = NULL;
    for (size_t s = 0; s < sc_system_count; s++) {
        const struct sc_system *system = sc_systems[s];
        for (size_t i = 0; i < system->field_count; i++) {
            const struct sc_field *field = &system->fields[i];
            char header[FIELD_COLUMN_MAX];
            struct binding binding;
            if (!resolver_bind(resolver_of(system->name), field_column(field, header), &binding,
                               NULL) ||
                binding.field != field || !is_si(&binding))
                wrong = field->key;
        }
    }
    is_str(wrong, NULL, "every header is read as its key, in SI");
}

static void test_words(void)
{
    struct problem problem;
    char longer[2 * PROBLEM_MAX];
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    ok(!problem_set(&problem, "%s", longer) && strlen(problem.text) == PROBLEM_MAX - 1,
       "a problem is cut at its end");
    (void)problem_set(&problem, "a\nb\033[c\x7f \xc3\xa9 \xff \xe2\x82");
    is_str(problem.text, "a?b?[c? \xc3\xa9 ? ??", "and shows nothing but text");
}

int main(void)
{
    plan(85);
    catalog = catalog_create(NULL);
    if (catalog == NULL)
        bail("out of memory");
    test_lists();
    test_tags();
    test_ranges();
    test_presets();
    test_cycles();
    test_launches();
    test_nearest();
    test_headers();
    test_words();
    for (size_t i = 0; i < SYSTEMS_MAX; i++)
        resolver_destroy(resolvers[i]);
    catalog_destroy(catalog);
    return done();
}
