/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzz target: any lines as the words of a scenario.
 *
 * The first byte picks the system, every line is one key=value word.  What is
 * refused must be explained in one clean line; what is read must be in its
 * range, must build, and its answer must have no infinities and must be
 * written in every format.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "emit.h"
#include "product.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORDS_MAX = 32, ROWS_MAX = 16, COLUMNS_MAX = 128 };

static void demand(bool condition)
{
    if (!condition)
        abort();
}

/* One clean line, not empty. */
static void demand_words(const struct problem *problem)
{
    const size_t length = strlen(problem->text);
    demand(length > 0 && length < PROBLEM_MAX);
    for (size_t i = 0; i < length;) {
        const size_t span = text_character(problem->text + i, length - i);
        demand(span > 0 && (unsigned char)problem->text[i] >= 0x20 && problem->text[i] != 0x7F);
        i += span;
    }
}

/* Made once; what it holds is freed at the end of the process. */
static struct resolver *resolver_of(size_t system)
{
    static struct catalog *catalog;
    static struct resolver *resolvers[16];
    struct problem problem;
    if (catalog == NULL)
        catalog = catalog_create(NULL);
    demand(catalog != NULL && sc_system_count <= 16);
    if (resolvers[system] == NULL)
        resolvers[system] = resolver_create(sc_systems[system], catalog, &problem);
    demand(resolvers[system] != NULL);
    return resolvers[system];
}

/* Words that would open files of the machine that this runs on. */
static bool opens_file(const struct resolver *resolver, const char *word)
{
    const size_t key = strcspn(word, "=");
    char name[64];
    struct binding binding;
    if (word[key] == '\0' || key >= sizeof name)
        return false;
    memcpy(name, word, key);
    name[key] = '\0';
    return resolver_bind(resolver, name, &binding, NULL) && binding.field->kind == SC_PRESET &&
           (strchr(word + key, ':') != NULL || strstr(word + key, ".json") != NULL);
}

static size_t split(const struct resolver *resolver, char *text, const char **words)
{
    size_t count = 0;
    for (char *word = text; word != NULL && count < WORDS_MAX;) {
        char *end = strchr(word, '\n');
        if (end != NULL)
            *end = '\0';
        if (*word != '\0' && !opens_file(resolver, word))
            words[count++] = word;
        word = end != NULL ? end + 1 : NULL;
    }
    return count;
}

static struct emit_cell cell_of(const struct sc_metric *metric, const void *answer)
{
    const char *member = (const char *)answer + metric->offset;
    const char *text;
    double value;
    if (metric->text) {
        memcpy(&text, member, sizeof text);
        return emit_string(text);
    }
    memcpy(&value, member, sizeof value);
    demand(!isinf(value));
    return emit_number(value);
}

static void write_answer(const struct sc_system *system, const void *answer)
{
    struct emit_column columns[COLUMNS_MAX];
    struct emit_cell cells[COLUMNS_MAX];
    const size_t count = system->metric_count;
    demand(count <= COLUMNS_MAX);
    for (size_t i = 0; i < count; i++) {
        const struct sc_metric *metric = &system->metrics[i];
        columns[i] = (struct emit_column){ .name = metric->column, .dimension = metric->dimension,
                                           .stall = metric->stall };
        cells[i] = cell_of(metric, answer);
    }
    for (int format = EMIT_TABLE; format <= EMIT_MARKDOWN; format++) {
        const struct emit_style style = { .format = (enum emit_format)format, .digits = 4,
                                          .delimiter = ',', .decimal = '.', .bar = true };
        struct text out = { 0 };
        if (format == EMIT_TABLE || format == EMIT_MARKDOWN)
            emit_table(&style, columns, cells, 1, count, &out);
        else
            emit_row(&style, columns, cells, count, true, &out);
        demand(!out.failed && strstr(out.bytes, "nan") == NULL);
        text_fini(&out);
    }
}

static void demand_range(const struct setting *setting)
{
    const struct sc_field *field = setting->field;
    if (field->kind == SC_PRESET)
        demand(setting->preset != NULL);
    else if (field->kind == SC_CHOICE)
        demand(setting->value >= 0 && setting->value < (double)field->choice_count);
    else if (!setting->deferred)
        demand(setting->value >= field->minimum && setting->value <= field->maximum);
}

static void answer_row(const struct resolver *resolver, const struct product *product, size_t row)
{
    _Alignas(max_align_t) unsigned char scenario[SC_SCENARIO_MAX], answer[SC_ANSWER_MAX];
    const struct sc_system *system = resolver_system(resolver);
    struct setting settings[WORDS_MAX];
    struct problem problem;
    struct sc_error error;
    product_row(product, row, settings);
    for (size_t i = 0; i < product->count; i++)
        demand_range(&settings[i]);
    if (!resolver_build(resolver, settings, product->count, scenario, &problem)) {
        demand_words(&problem);
        return;
    }
    const enum sc_status status = system->estimate(scenario, answer, NULL, &error);
    if (status == SC_OK) {
        write_answer(system, answer);
        return;
    }
    scenario_describe_error(system, status, &error, &problem);
    demand_words(&problem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *words[WORDS_MAX];
    struct product product;
    struct problem problem;
    if (size < 1)
        return 0;
    struct resolver *resolver = resolver_of(data[0] % sc_system_count);
    char *text = malloc(size);
    demand(text != NULL);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    const size_t count = split(resolver, text, words);
    if (product_make(resolver, words, count, &product, &problem)) {
        for (size_t row = 0; row < product.rows && row < ROWS_MAX; row++)
            answer_row(resolver, &product, row);
    } else {
        demand_words(&problem);
    }
    product_fini(&product);
    free(text);
    return 0;
}
