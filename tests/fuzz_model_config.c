/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fuzz target of the reader of config.json, for libFuzzer.
 *
 * Checked: the same text gives the same twice; what is delivered is finite, in range and named
 * once; a fault comes with clean text and nothing else.
 */
#include "read/model_config.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void require_clean(const char *text, size_t size)
{
    require(memchr(text, '\0', size) != NULL);
    for (; *text != '\0'; text++)
        require(*text >= 0x20 && *text <= 0x7e);
}

static enum sc_model_config_status text_read(const uint8_t *data, size_t size,
                                             struct sc_model_config *config,
                                             struct sc_model_config_error *error)
{
    FILE *const file = fmemopen((void *)(uintptr_t)data, size, "rb");
    require(file != NULL);
    memset(config, 0xa5, sizeof *config);
    const enum sc_model_config_status status = sc_model_config_read(file, config, error);
    fclose(file);
    return status;
}

static double number_of(const struct sc_model_config *config, const char *key)
{
    for (size_t i = 0; i < config->count; i++) {
        if (strcmp(config->values[i].key, key) == 0)
            return config->values[i].number;
    }
    return (double)NAN;
}

static void config_check(const struct sc_model_config *config)
{
    require(config->count >= 9 && config->count <= SC_MODEL_CONFIG_VALUES);
    require_clean(config->name, sizeof config->name);
    for (size_t i = 0; i < config->count; i++) {
        const struct sc_model_config_value *const value = &config->values[i];
        const bool is_bits = strcmp(value->key, "dtype_bits") == 0;
        require((value->choice != NULL) == isnan(value->number));
        require(value->choice != NULL || (value->number >= 0.0 && value->number <= 1e8));
        require(value->choice != NULL || is_bits || floor(value->number) == value->number);
        for (size_t j = 0; j < i; j++)
            require(strcmp(config->values[j].key, value->key) != 0);
    }
    require(fmod(number_of(config, "heads"), number_of(config, "kv_heads")) == 0.0);
    if (number_of(config, "experts") > 0.0) {
        require(number_of(config, "experts_per_token") <= number_of(config, "experts"));
        require(number_of(config, "dense_layers") <= number_of(config, "layers"));
        require(number_of(config, "expert_ffn") >= 1.0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sc_model_config config, again;
    struct sc_model_config_error error = { .reason = "" };
    if (size == 0)
        return 0;
    const enum sc_model_config_status status = text_read(data, size, &config, &error);
    require(text_read(data, size, &again, NULL) == status);
    require(config.count == again.count && strcmp(config.name, again.name) == 0);
    if (status == SC_MODEL_CONFIG_OK) {
        require(error.reason[0] == '\0');
        config_check(&config);
        return 0;
    }
    require(config.count == 0 && error.reason[0] != '\0');
    require((error.line > 0) == (status == SC_MODEL_CONFIG_ESYNTAX));
    require_clean(error.key, sizeof error.key);
    require_clean(error.reason, sizeof error.reason);
    return 0;
}
