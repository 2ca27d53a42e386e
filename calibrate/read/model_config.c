/* SPDX-License-Identifier: GPL-3.0-or-later */
/* config.json of Hugging Face Transformers to keys of a scenario.
 *
 * All numbers that may matter are read first, by a table of their spellings; then each part of the
 * shape is made of them.  What a model_type does in its own way is a field of its row in
 * `architectures`.  Keys and defaults are those of the configuration_*.py files of Transformers.
 */
#include "read/model_config.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef enum sc_model_config_status result;

/* --- tables -------------------------------------------------------------------------------- */

enum number {
    LAYERS,
    HIDDEN,
    HEADS,
    KV_HEADS,
    HEAD_DIM,
    FFN,
    DENSE_FFN,
    VOCAB,
    EXPERTS,
    EXPERTS_PER_TOKEN,
    EXPERT_FFN,
    SHARED_EXPERTS,
    SHARED_FFN,
    DENSE_LAYERS,
    EXPERT_STEP,
    Q_LORA,
    KV_LORA,
    NOPE_DIM,
    VALUE_DIM,
    ROPE_DIM,
    WINDOW,
    WINDOW_PERIOD,
    WINDOW_START,
    NUMBERS
};

enum { SPELLINGS = 4 };

/* A whole number of the file.  top_k is no spelling of experts_per_token: older files have it as an
 * option of text generation. */
struct rule {
    const char *spellings[SPELLINGS]; /* fewer end in NULL */
    double minimum, maximum;
};

#define RULE(low, high, ...) { .spellings = { __VA_ARGS__ }, .minimum = (low), .maximum = (high) }

static const struct rule rules[] = {
    [LAYERS] = RULE(1, 1e5, "num_hidden_layers", "n_layer", "num_layers", "n_layers"),
    [HIDDEN] = RULE(1, 1e7, "hidden_size", "n_embd", "d_model", "n_embed"),
    [HEADS] = RULE(1, 1e5, "num_attention_heads", "n_head", "n_heads", "num_heads"),
    [KV_HEADS] = RULE(1, 1e5, "num_key_value_heads", "num_kv_heads", "n_head_kv", "n_kv_heads"),
    [HEAD_DIM] = RULE(1, 1e5, "head_dim"),
    [FFN] = RULE(1, 1e7, "intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"),
    [DENSE_FFN] = RULE(1, 1e7, "intermediate_size_mlp"),
    [VOCAB] = RULE(1, 1e8, "vocab_size"),
    [EXPERTS] = RULE(0, 1e5, "num_experts", "num_local_experts", "n_routed_experts"),
    [EXPERTS_PER_TOKEN] = RULE(0, 1e5, "num_experts_per_tok", "experts_per_token",
                               "num_experts_per_token", "moe_topk"),
    [EXPERT_FFN] = RULE(0, 1e7, "moe_intermediate_size"),
    [SHARED_EXPERTS] = RULE(0, 1e5, "n_shared_experts", "num_shared_experts", "num_shared_expert"),
    [SHARED_FFN] = RULE(0, 1e7, "shared_expert_intermediate_size", "shared_intermediate_size"),
    [DENSE_LAYERS] = RULE(0, 1e5, "first_k_dense_replace"),
    [EXPERT_STEP] = RULE(1, 1, "decoder_sparse_step", "interleave_moe_layer_step",
                         "moe_layer_freq"),
    [Q_LORA] = RULE(0, 1e6, "q_lora_rank"),
    [KV_LORA] = RULE(0, 1e6, "kv_lora_rank"),
    [NOPE_DIM] = RULE(1, 1e5, "qk_nope_head_dim"),
    [VALUE_DIM] = RULE(1, 1e5, "v_head_dim"),
    [ROPE_DIM] = RULE(64, 64, "qk_rope_head_dim"), /* built into the kernels of latent attention */
    [WINDOW] = RULE(1, 1e8, "sliding_window"),
    [WINDOW_PERIOD] = RULE(1, 1e5, "sliding_window_pattern"), /* one layer in so many has none */
    [WINDOW_START] = RULE(0, 1e5, "max_window_layers"),       /* the layers before have none */
};
_Static_assert(sizeof rules / sizeof rules[0] == NUMBERS, "every number has its rule");

/* What a model_type does in its own way; zero where the file says it all. */
struct architecture {
    const char *model_type;
    const char *refusal;   /* why it cannot be expressed, NULL when it can */
    double ffn_matrices;   /* 0: the activation tells */
    double ffn_per_hidden; /* ffn over hidden where the file has no ffn, 0: it must */
    double shared_experts; /* that the file does not speak of */
    bool experts_use_ffn;  /* has experts, and intermediate_size is one expert's */
    bool multi_query;      /* default of `multi_query` */
    bool tied;             /* default of `tie_word_embeddings` */
    bool window_is_asked;  /* has a window only if use_sliding_window says so */
    double defaults[NUMBERS]; /* of keys that files leave out, 0: none */
};

#define GATED(type) .model_type = (type), .ffn_matrices = 3
#define PLAIN(type) .model_type = (type), .ffn_matrices = 2
#define GEMMA3 .tied = true, \
               .defaults = { [HEADS] = 8, [KV_HEADS] = 4, [HEAD_DIM] = 256, [VOCAB] = 262208, \
                             [WINDOW] = 4096, [WINDOW_PERIOD] = 6 }
#define REFUSED(type, why) { .model_type = (type), .refusal = (why) }

static const char state_space[] = "it has state-space or linear-attention layers";
static const char layers_differ[] = "its layers differ from each other";

static const struct architecture architectures[] = {
    { GATED("llama") },
    { GATED("llama4_text"), .experts_use_ffn = true, .shared_experts = 1,
      .defaults = { [KV_HEADS] = 8, [HEAD_DIM] = 128, [VOCAB] = 202048 } },
    { GATED("mistral"), .defaults = { [KV_HEADS] = 8, [WINDOW] = 4096 } },
    { GATED("mixtral"), .experts_use_ffn = true, .defaults = { [KV_HEADS] = 8 } },
    { GATED("qwen2"), .window_is_asked = true, .defaults = { [KV_HEADS] = 32 } },
    { GATED("qwen2_moe"), .window_is_asked = true, .defaults = { [KV_HEADS] = 16 } },
    { GATED("qwen3"), .window_is_asked = true, .defaults = { [KV_HEADS] = 32, [HEAD_DIM] = 128 } },
    { GATED("qwen3_moe"), .window_is_asked = true, .defaults = { [KV_HEADS] = 4 } },
    { GATED("gemma"), .tied = true, .defaults = { [KV_HEADS] = 16, [HEAD_DIM] = 256 } },
    { GATED("gemma2"), .tied = true,
      .defaults = { [KV_HEADS] = 4, [HEAD_DIM] = 256, [WINDOW] = 4096, [WINDOW_PERIOD] = 2 } },
    { GATED("gemma3"), GEMMA3 },
    { GATED("gemma3_text"), GEMMA3 },
    { GATED("phi3") },
    { GATED("phimoe"), .experts_use_ffn = true, .defaults = { [KV_HEADS] = 8 } },
    { GATED("gpt_oss"), .experts_use_ffn = true,
      .defaults = { [KV_HEADS] = 8, [HEAD_DIM] = 64, [WINDOW] = 128, [WINDOW_PERIOD] = 2 } },
    { GATED("cohere"), .tied = true },
    { GATED("cohere2"), .tied = true, .defaults = { [WINDOW] = 4096, [WINDOW_PERIOD] = 4 } },
    { GATED("deepseek_v2"), .defaults = { [KV_LORA] = 512 } },
    { GATED("deepseek_v3"), .defaults = { [KV_LORA] = 512 } },
    { GATED("olmoe"), .experts_use_ffn = true },
    { GATED("granitemoe"), .experts_use_ffn = true },
    { GATED("granitemoeshared"), .experts_use_ffn = true },
    { PLAIN("gpt2"), .ffn_per_hidden = 4, .tied = true },
    { PLAIN("gpt_neo"), .ffn_per_hidden = 4, .tied = true },
    { PLAIN("gptj"), .ffn_per_hidden = 4 },
    { PLAIN("codegen"), .ffn_per_hidden = 4 },
    { PLAIN("gpt_bigcode"), .ffn_per_hidden = 4, .multi_query = true, .tied = true },
    { PLAIN("bloom"), .ffn_per_hidden = 4, .tied = true },
    { PLAIN("falcon"), .ffn_per_hidden = 4, .multi_query = true, .tied = true },
    { PLAIN("gpt_neox") },
    { PLAIN("opt"), .tied = true },
    { PLAIN("phi") },
    { PLAIN("nemotron") },
    { PLAIN("persimmon") },
    { PLAIN("starcoder2"), .tied = true, .defaults = { [KV_HEADS] = 2 } },
    REFUSED("mamba", state_space),
    REFUSED("mamba2", state_space),
    REFUSED("falcon_mamba", state_space),
    REFUSED("falcon_h1", state_space),
    REFUSED("jamba", state_space),
    REFUSED("zamba", state_space),
    REFUSED("zamba2", state_space),
    REFUSED("bamba", state_space),
    REFUSED("granitemoehybrid", state_space),
    REFUSED("nemotron_h", state_space),
    REFUSED("qwen3_next", state_space),
    REFUSED("kimi_linear", state_space),
    REFUSED("minimax", state_space),
    REFUSED("minimax_text_01", state_space),
    REFUSED("minimax_m1", state_space),
    REFUSED("recurrent_gemma", state_space),
    REFUSED("rwkv", state_space),
    REFUSED("xlstm", state_space),
    REFUSED("lfm2", "it has convolution layers"),
    REFUSED("mllama", "some of its layers attend to images"),
    REFUSED("mllama_text_model", "some of its layers attend to images"),
    REFUSED("gemma3n", layers_differ),
    REFUSED("gemma3n_text", layers_differ),
    REFUSED("nemotron-nas", layers_differ),
    REFUSED("openelm", layers_differ),
    REFUSED("qwen", "its intermediate_size counts two matrices"),
};

/* Keys that tell of layers which cannot be expressed, whatever the model_type. */
static const struct {
    const char *prefix, *reason;
} strange_keys[] = {
    { "mamba_", "state-space layers are not supported" },
    { "ssm_", "state-space layers are not supported" },
    { "linear_attn_", "linear attention is not supported" },
    { "linear_num_", "linear attention is not supported" },
    { "layers_block_type", "layers of several kinds are not supported" },
    { "block_configs", "layers that differ from each other are not supported" },
    { "cross_attention_layers", "cross-attention layers are not supported" },
};

/* Objects that a shape may lie in when it is not at the top. */
static const char *const nests[] = { "text_config", "llm_config", "language_config" };

static const char *const activations[] = { "hidden_act", "hidden_activation",
                                           "activation_function", "activation" };

/* Bits of a weight that is not quantised. */
static const struct {
    const char *name;
    double bits;
} dtypes[] = {
    { "float32", 32 },    { "float", 32 },         { "float16", 16 },
    { "half", 16 },       { "bfloat16", 16 },      { "float8_e4m3fn", 8 },
    { "float8_e5m2", 8 }, { "float8_e4m3fnuz", 8 }, { "float8_e5m2fnuz", 8 },
    { "float8", 8 },
};

/* --- faults -------------------------------------------------------------------------------- */

struct reader {
    json_t *root;                            /* the file */
    json_t *shape;                           /* the object that has the shape: root, or in it */
    const char *nest;                        /* key of root that shape lies under, or NULL */
    const char *model_type;                  /* of the shape, else of the root, or "" */
    const struct architecture *architecture; /* never NULL */
    double number[NUMBERS];                  /* NaN where the file has none */
    bool is_null[NUMBERS];                   /* ... but says so */
    const char *spelling[NUMBERS];           /* as the file has it, else the first */
    struct sc_model_config *out;
    struct sc_model_config_error *error;
};

/* A key: `parent` is the key of the object it lies in, NULL at the top. */
struct path {
    const char *parent, *key;
};

/* Leave nothing in the text that could play with a terminal. */
static void text_clean(char *text)
{
    for (; *text != '\0'; text++) {
        if (*text < 0x20 || *text > 0x7e)
            *text = '?';
    }
}

__attribute__((format(printf, 4, 5)))
static result fail(struct sc_model_config_error *error, result status, struct path path,
                   const char *format, ...)
{
    va_list args;
    memset(error, 0, sizeof *error);
    if (path.key != NULL)
        snprintf(error->key, sizeof error->key, "%s%s%s", path.parent == NULL ? "" : path.parent,
                 path.parent == NULL ? "" : ".", path.key);
    va_start(args, format);
    vsnprintf(error->reason, sizeof error->reason, format, args);
    va_end(args);
    text_clean(error->key);
    text_clean(error->reason);
    return status;
}

static result fail_file(struct sc_model_config_error *error, result status, const char *reason)
{
    return fail(error, status, (struct path){ NULL, NULL }, "%s", reason);
}

enum { DESCRIPTION_SIZE = 48 };

/* A value in words. */
static const char *describe(const json_t *value, char text[DESCRIPTION_SIZE])
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return json_array_size(value) == 0 ? "an empty array" : "an array";
    case JSON_STRING:
        snprintf(text, DESCRIPTION_SIZE, "\"%.40s\"", json_string_value(value));
        return text;
    case JSON_INTEGER:
    case JSON_REAL:
        snprintf(text, DESCRIPTION_SIZE, "%.15g", json_number_value(value));
        return text;
    case JSON_TRUE:
        return "true";
    case JSON_FALSE:
        return "false";
    case JSON_NULL:
        return "null";
    }
    return "unknown";
}

/* The value of a key is none of what was expected. */
static result fail_value(const struct reader *r, struct path path, const json_t *value,
                         const char *expected)
{
    char text[DESCRIPTION_SIZE];
    return fail(r->error, SC_MODEL_CONFIG_EVALUE, path, "%s%s%.40s is %s; expected %s",
                path.parent == NULL ? "" : path.parent, path.parent == NULL ? "" : ".", path.key,
                describe(value, text), expected);
}

/* A key is not there under any of its spellings. */
static result fail_missing(const struct reader *r, const char *parent,
                           const char *const *spellings, size_t count)
{
    char others[96] = "";
    size_t length = 0;
    for (size_t i = 1; i < count && spellings[i] != NULL && length < sizeof others; i++)
        length += (size_t)snprintf(others + length, sizeof others - length, "%s%s",
                                   i == 1 ? " (or " : ", ", spellings[i]);
    return fail(r->error, SC_MODEL_CONFIG_EMISSING, (struct path){ parent, spellings[0] },
                "%s%shas no %s%s%s", parent == NULL ? "" : parent, parent == NULL ? "" : " ",
                spellings[0], others, length > 0 ? ")" : "");
}

/* --- reading single keys ------------------------------------------------------------------- */

static json_t *present(const json_t *object, const char *key)
{
    json_t *const value = json_object_get(object, key);
    return json_is_null(value) ? NULL : value;
}

/* *text stays as it is without the key. */
static result text_read(const struct reader *r, const json_t *object, struct path path,
                        const char **text)
{
    const json_t *const value = present(object, path.key);
    if (value == NULL)
        return SC_MODEL_CONFIG_OK;
    if (!json_is_string(value))
        return fail_value(r, path, value, "a string");
    *text = json_string_value(value);
    return SC_MODEL_CONFIG_OK;
}

/* *flag stays as it is without the key. */
static result flag_read(const struct reader *r, const json_t *object, struct path path,
                        bool *flag)
{
    const json_t *const value = present(object, path.key);
    if (value == NULL)
        return SC_MODEL_CONFIG_OK;
    if (!json_is_boolean(value))
        return fail_value(r, path, value, "true or false");
    *flag = json_is_true(value);
    return SC_MODEL_CONFIG_OK;
}

static result whole_read(const struct reader *r, struct path path, const json_t *value,
                         double minimum, double maximum, double *number)
{
    char expected[64];
    *number = json_is_number(value) ? json_number_value(value) + 0.0 : (double)NAN; /* no -0 */
    if (*number >= minimum && *number <= maximum && floor(*number) == *number)
        return SC_MODEL_CONFIG_OK;
    if (minimum == maximum)
        snprintf(expected, sizeof expected, "%.0f", minimum);
    else
        snprintf(expected, sizeof expected, "a whole number from %.0f to %.0f", minimum, maximum);
    return fail_value(r, path, value, expected);
}

/* One number of the shape under any of its spellings. */
static result number_read(struct reader *r, enum number id)
{
    const struct rule *const rule = &rules[id];
    r->number[id] = (double)NAN;
    r->is_null[id] = false;
    r->spelling[id] = rule->spellings[0];
    for (size_t i = 0; i < SPELLINGS && rule->spellings[i] != NULL; i++) {
        const struct path path = { r->nest, rule->spellings[i] };
        const json_t *const value = json_object_get(r->shape, path.key);
        double number;
        if (value == NULL)
            continue;
        if (json_is_null(value)) {
            r->is_null[id] = true;
            continue;
        }
        const result status = whole_read(r, path, value, rule->minimum, rule->maximum, &number);
        if (status != SC_MODEL_CONFIG_OK)
            return status;
        if (!isnan(r->number[id]) && number != r->number[id])
            return fail(r->error, SC_MODEL_CONFIG_EVALUE, path,
                        "%s is %.0f, but %s is %.0f; expected them to agree", path.key, number,
                        r->spelling[id], r->number[id]);
        r->spelling[id] = path.key;
        r->number[id] = number;
    }
    return SC_MODEL_CONFIG_OK;
}

static result numbers_read(struct reader *r)
{
    result status = SC_MODEL_CONFIG_OK;
    for (size_t id = 0; id < NUMBERS && status == SC_MODEL_CONFIG_OK; id++) {
        status = number_read(r, (enum number)id);
        const double fallback = r->architecture->defaults[id];
        if (isnan(r->number[id]) && !r->is_null[id] && fallback > 0.0)
            r->number[id] = fallback;
    }
    return status;
}

static result require(const struct reader *r, enum number id)
{
    if (!isnan(r->number[id]))
        return SC_MODEL_CONFIG_OK;
    return fail_missing(r, r->nest, rules[id].spellings, SPELLINGS);
}

/* The numbers are each possible, but not together. */
static result fail_relation(const struct reader *r, enum number id, const char *relation,
                            enum number other)
{
    const struct path path = { r->nest, r->spelling[id] };
    return fail(r->error, SC_MODEL_CONFIG_EVALUE, path, "%s%s%s is %.0f; expected %s %s, %.0f",
                path.parent == NULL ? "" : path.parent, path.parent == NULL ? "" : ".", path.key,
                r->number[id], relation, r->spelling[other], r->number[other]);
}

static void put(struct reader *r, const char *key, double number)
{
    r->out->values[r->out->count++] = (struct sc_model_config_value){ .key = key,
                                                                      .number = number };
}

static void put_choice(struct reader *r, const char *key, const char *choice)
{
    r->out->values[r->out->count++] = (struct sc_model_config_value){ .key = key,
                                                                      .number = (double)NAN,
                                                                      .choice = choice };
}

/* --- which model it is --------------------------------------------------------------------- */

static const struct architecture *architecture_find(const char *model_type)
{
    static const struct architecture unknown = { .model_type = "" };
    for (size_t i = 0; i < sizeof architectures / sizeof architectures[0]; i++) {
        if (strcmp(architectures[i].model_type, model_type) == 0)
            return &architectures[i];
    }
    return &unknown;
}

/* The shape is where the number of layers is. */
static void shape_find(struct reader *r)
{
    const struct rule *const layers = &rules[LAYERS];
    r->shape = r->root;
    for (size_t i = 0; i < SPELLINGS && layers->spellings[i] != NULL; i++) {
        if (json_object_get(r->root, layers->spellings[i]) != NULL)
            return;
    }
    for (size_t i = 0; i < sizeof nests / sizeof nests[0]; i++) {
        json_t *const inner = json_object_get(r->root, nests[i]);
        if (json_is_object(inner)) {
            r->shape = inner;
            r->nest = nests[i];
            return;
        }
    }
}

/* Refuse what one object says of itself as a whole. */
static result object_check(struct reader *r, const json_t *object, const char *parent)
{
    bool is_encoder_decoder = false;
    const char *model_type = r->model_type;
    result status = flag_read(r, object, (struct path){ parent, "is_encoder_decoder" },
                                &is_encoder_decoder);
    if (status == SC_MODEL_CONFIG_OK)
        status = text_read(r, object, (struct path){ parent, "model_type" }, &model_type);
    if (status != SC_MODEL_CONFIG_OK)
        return status;
    r->model_type = model_type;
    r->architecture = architecture_find(model_type);
    if (is_encoder_decoder)
        return fail(r->error, SC_MODEL_CONFIG_EUNSUPPORTED,
                    (struct path){ parent, "is_encoder_decoder" },
                    "is_encoder_decoder is true: encoder-decoder models are not supported");
    if (r->architecture->refusal != NULL)
        return fail(r->error, SC_MODEL_CONFIG_EUNSUPPORTED, (struct path){ parent, "model_type" },
                    "model_type %s is not supported: %s", model_type, r->architecture->refusal);
    return SC_MODEL_CONFIG_OK;
}

/* Layers may differ in what they attend to, not in their weights. */
static result layer_types_check(const struct reader *r)
{
    static const char *const same_weights[] = { "full_attention", "sliding_attention",
                                                "chunked_attention" };
    const struct path path = { r->nest, "layer_types" };
    const json_t *const types = present(r->shape, path.key);
    for (size_t i = 0; i < json_array_size(types); i++) {
        const char *const type = json_string_value(json_array_get(types, i));
        bool is_known = false;
        for (size_t j = 0; j < sizeof same_weights / sizeof same_weights[0]; j++)
            is_known = is_known || (type != NULL && strcmp(type, same_weights[j]) == 0);
        if (!is_known)
            return fail(r->error, SC_MODEL_CONFIG_EUNSUPPORTED, path,
                        "layer_types has %.40s: such layers are not supported",
                        type == NULL ? "no names" : type);
    }
    return SC_MODEL_CONFIG_OK;
}

static result keys_check(const struct reader *r)
{
    const char *key;
    json_t *value;
    json_object_foreach(r->shape, key, value) {
        if (json_is_null(value))
            continue;
        for (size_t i = 0; i < sizeof strange_keys / sizeof strange_keys[0]; i++) {
            if (strncmp(key, strange_keys[i].prefix, strlen(strange_keys[i].prefix)) == 0)
                return fail(r->error, SC_MODEL_CONFIG_EUNSUPPORTED, (struct path){ r->nest, key },
                            "has %.60s: %s", key, strange_keys[i].reason);
        }
    }
    return SC_MODEL_CONFIG_OK;
}

static result model_find(struct reader *r)
{
    const char *name = "";
    shape_find(r);
    result status = object_check(r, r->root, NULL);
    if (status == SC_MODEL_CONFIG_OK)
        status = text_read(r, r->root, (struct path){ NULL, "_name_or_path" }, &name);
    if (status != SC_MODEL_CONFIG_OK)
        return status;
    snprintf(r->out->name, sizeof r->out->name, "%s", name[0] != '\0' ? name : r->model_type);
    text_clean(r->out->name);
    if (r->nest != NULL)
        status = object_check(r, r->shape, r->nest);
    if (status == SC_MODEL_CONFIG_OK)
        status = layer_types_check(r);
    if (status == SC_MODEL_CONFIG_OK)
        status = keys_check(r);
    return status;
}

/* --- attention ----------------------------------------------------------------------------- */

/* Multi-query models have one head of keys and values, whatever number they give, except the later
 * Falcon models, which set both flags and mean the number. */
static result kv_heads_find(struct reader *r)
{
    bool multi_query = r->architecture->multi_query, is_grouped = false;
    result status = flag_read(r, r->shape, (struct path){ r->nest, "multi_query" }, &multi_query);
    if (status == SC_MODEL_CONFIG_OK)
        status = flag_read(r, r->shape, (struct path){ r->nest, "new_decoder_architecture" },
                           &is_grouped);
    if (status != SC_MODEL_CONFIG_OK)
        return status;
    if (multi_query && !is_grouped)
        r->number[KV_HEADS] = 1.0;
    else if (isnan(r->number[KV_HEADS]))
        r->number[KV_HEADS] = r->number[HEADS];
    if (fmod(r->number[HEADS], r->number[KV_HEADS]) != 0.0)
        return fail_relation(r, KV_HEADS, "a divisor of", HEADS);
    return SC_MODEL_CONFIG_OK;
}

/* Latent attention is modelled with keys and values of one width and a rotary part of 64. */
static result latent_check(struct reader *r)
{
    static const enum number needed[] = { NOPE_DIM, VALUE_DIM, ROPE_DIM };
    result status = SC_MODEL_CONFIG_OK;
    for (size_t i = 0; i < sizeof needed / sizeof needed[0] && status == SC_MODEL_CONFIG_OK; i++)
        status = require(r, needed[i]);
    if (status != SC_MODEL_CONFIG_OK)
        return status;
    if (r->number[NOPE_DIM] != r->number[VALUE_DIM])
        return fail_relation(r, VALUE_DIM, "the same as", NOPE_DIM);
    if (r->is_null[Q_LORA])
        r->number[Q_LORA] = 0.0;
    r->number[HEAD_DIM] = r->number[NOPE_DIM];
    return require(r, Q_LORA);
}

static result attention_find(struct reader *r)
{
    static const enum number needed[] = { LAYERS, HIDDEN, HEADS };
    result status = SC_MODEL_CONFIG_OK;
    for (size_t i = 0; i < sizeof needed / sizeof needed[0] && status == SC_MODEL_CONFIG_OK; i++)
        status = require(r, needed[i]);
    if (status == SC_MODEL_CONFIG_OK)
        status = kv_heads_find(r);
    const bool is_latent = r->number[KV_LORA] > 0.0;
    if (status == SC_MODEL_CONFIG_OK && is_latent)
        status = latent_check(r);
    if (status == SC_MODEL_CONFIG_OK && !is_latent && r->number[Q_LORA] > 0.0)
        status = require(r, KV_LORA);
    if (status != SC_MODEL_CONFIG_OK)
        return status;
    if (isnan(r->number[HEAD_DIM]) && fmod(r->number[HIDDEN], r->number[HEADS]) != 0.0)
        return fail_relation(r, HIDDEN, "a multiple of", HEADS);

    put(r, "layers", r->number[LAYERS]);
    put(r, "hidden", r->number[HIDDEN]);
    put(r, "heads", r->number[HEADS]);
    put(r, "kv_heads", r->number[KV_HEADS]);
    if (!isnan(r->number[HEAD_DIM]))
        put(r, "head_dim", r->number[HEAD_DIM]);
    if (is_latent) {
        put(r, "q_lora", r->number[Q_LORA]);
        put(r, "kv_lora", r->number[KV_LORA]);
    }
    put_choice(r, "attention", is_latent                                    ? "mla"
                               : r->number[KV_HEADS] == r->number[HEADS] ? "mha"
                                                                           : "gqa");
    return SC_MODEL_CONFIG_OK;
}

/* Of the layers, how many look back no further than the window: by name, by a period whose last
 * layer has none, or from some layer on. */
static double window_layers(const struct reader *r)
{
    const json_t *const types = present(r->shape, "layer_types");
    const double layers = r->number[LAYERS];
    double count = 0.0;
    if ((double)json_array_size(types) == layers) {
        for (size_t i = 0; i < json_array_size(types); i++)
            count += strcmp(json_string_value(json_array_get(types, i)), "sliding_attention") == 0;
        return count;
    }
    if (r->architecture->window_is_asked && !isnan(r->number[WINDOW_START]))
        return fmax(0.0, layers - r->number[WINDOW_START]);
    return layers - (isnan(r->number[WINDOW_PERIOD]) ? 0.0 : floor(layers / r->number[WINDOW_PERIOD]));
}

static result window_find(struct reader *r)
{
    bool is_used = !r->architecture->window_is_asked;
    const result status = flag_read(r, r->shape, (struct path){ r->nest, "use_sliding_window" },
                                    &is_used);
    if (status != SC_MODEL_CONFIG_OK || !is_used || isnan(r->number[WINDOW]))
        return status;
    const double layers = window_layers(r);
    if (layers > 0.0) {
        put(r, "sliding_window", r->number[WINDOW]);
        put(r, "sliding_layers", layers);
    }
    return SC_MODEL_CONFIG_OK;
}

static result tied_find(struct reader *r)
{
    static const char key[] = "tie_word_embeddings";
    bool is_tied = r->architecture->tied;
    result status = flag_read(r, r->root, (struct path){ NULL, key }, &is_tied);
    if (status == SC_MODEL_CONFIG_OK && r->nest != NULL)
        status = flag_read(r, r->shape, (struct path){ r->nest, key }, &is_tied);
    if (status == SC_MODEL_CONFIG_OK && is_tied)
        put(r, "tied_embeddings", 1.0);
    return status;
}

/* --- feed-forward -------------------------------------------------------------------------- */

/* SiLU has no use outside gated layers; other activations need a model_type that is known. */
static result matrices_find(const struct reader *r, double *matrices)
{
    static const char *const gated[] = { "silu", "swish", "swiglu" };
    const size_t spellings = sizeof activations / sizeof activations[0];
    const char *activation = NULL;
    struct path path = { r->nest, NULL };

    *matrices = r->architecture->ffn_matrices;
    if (*matrices > 0.0)
        return SC_MODEL_CONFIG_OK;
    for (size_t i = 0; i < spellings && activation == NULL; i++) {
        path.key = activations[i];
        const result status = text_read(r, r->shape, path, &activation);
        if (status != SC_MODEL_CONFIG_OK)
            return status;
    }
    if (activation == NULL)
        return fail_missing(r, r->nest, activations, spellings);
    for (size_t i = 0; i < sizeof gated / sizeof gated[0]; i++) {
        if (strcmp(activation, gated[i]) == 0) {
            *matrices = 3.0;
            return SC_MODEL_CONFIG_OK;
        }
    }
    return fail(r->error, SC_MODEL_CONFIG_EUNSUPPORTED, path,
                "model_type \"%.32s\" with %s \"%.32s\" is not known to be gated or not",
                r->model_type, path.key, activation);
}

static result feed_forward_find(struct reader *r)
{
    double matrices;
    result status = matrices_find(r, &matrices);
    if (status == SC_MODEL_CONFIG_OK)
        status = require(r, VOCAB);
    if (status != SC_MODEL_CONFIG_OK)
        return status;
    if (isnan(r->number[FFN]) && r->architecture->ffn_per_hidden > 0.0)
        r->number[FFN] = r->architecture->ffn_per_hidden * r->number[HIDDEN];
    status = require(r, FFN);
    if (status != SC_MODEL_CONFIG_OK)
        return status;
    put(r, "ffn", isnan(r->number[DENSE_FFN]) ? r->number[FFN] : r->number[DENSE_FFN]);
    put(r, "ffn_matrices", matrices);
    put(r, "vocab", r->number[VOCAB]);
    return SC_MODEL_CONFIG_OK;
}

/* A file without a number of experts must not speak of experts elsewhere: it would be answered as a
 * dense model for a spelling that is not known here. */
static result dense_check(const struct reader *r)
{
    const char *key;
    json_t *value;
    if (r->architecture->experts_use_ffn && isnan(r->number[EXPERTS]))
        return require(r, EXPERTS);
    if (r->is_null[EXPERTS] || !isnan(r->number[EXPERTS]))
        return SC_MODEL_CONFIG_OK;
    json_object_foreach(r->shape, key, value) {
        const bool is_set = json_number_value(value) > 0.0 || json_array_size(value) > 0 ||
                            json_object_size(value) > 0;
        if (is_set && (strstr(key, "expert") != NULL || strncmp(key, "moe_", 4) == 0))
            return fail(r->error, SC_MODEL_CONFIG_EUNSUPPORTED, (struct path){ r->nest, key },
                        "has %.40s, but no %s (or %s, %s)", key, rules[EXPERTS].spellings[0],
                        rules[EXPERTS].spellings[1], rules[EXPERTS].spellings[2]);
    }
    return SC_MODEL_CONFIG_OK;
}

/* The list of layers without experts; it must ascend, so that none is counted twice. */
static result dense_list_read(const struct reader *r, const json_t *list, struct path path)
{
    double previous = -1.0;
    if (list != NULL && !json_is_array(list))
        return fail_value(r, path, list, "an array");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *const item = json_array_get(list, i);
        const double layer = json_is_number(item) ? json_number_value(item) : (double)NAN;
        if (!(layer > previous && layer < r->number[LAYERS] && floor(layer) == layer)) {
            char text[DESCRIPTION_SIZE];
            return fail(r->error, SC_MODEL_CONFIG_EVALUE, path,
                        "%s has %s; expected layers from 0 to %.0f in ascending order", path.key,
                        describe(item, text), r->number[LAYERS] - 1.0);
        }
        previous = layer;
    }
    return SC_MODEL_CONFIG_OK;
}

/* Layers without experts: a number or a list. */
static result dense_layers_find(struct reader *r)
{
    const struct path path = { r->nest, "mlp_only_layers" };
    const json_t *const list = present(r->shape, path.key);
    const result status = dense_list_read(r, list, path);
    if (status != SC_MODEL_CONFIG_OK)
        return status;
    if (isnan(r->number[DENSE_LAYERS]))
        r->number[DENSE_LAYERS] = (double)json_array_size(list);
    else if (json_array_size(list) > 0)
        return fail(r->error, SC_MODEL_CONFIG_EVALUE, path,
                    "has both %s and %s; expected one of them", path.key,
                    r->spelling[DENSE_LAYERS]);
    if (r->number[DENSE_LAYERS] > r->number[LAYERS])
        return fail_relation(r, DENSE_LAYERS, "no more than", LAYERS);
    return SC_MODEL_CONFIG_OK;
}

/* Lists that newer files have of the layers with experts must say what the numbers say. */
static result expert_lists_check(const struct reader *r)
{
    const struct path indices = { r->nest, "moe_layers" }, kinds = { r->nest, "mlp_layer_types" };
    const double sparse = r->number[LAYERS] - r->number[DENSE_LAYERS];
    const json_t *const moe_layers = present(r->shape, indices.key);
    const json_t *const types = present(r->shape, kinds.key);
    if (moe_layers != NULL && (double)json_array_size(moe_layers) != sparse)
        return fail_value(r, indices, moe_layers, "an array of the layers with experts");
    if (types == NULL)
        return SC_MODEL_CONFIG_OK;
    double count = 0.0;
    for (size_t i = 0; i < json_array_size(types); i++) {
        const char *const type = json_string_value(json_array_get(types, i));
        count += type != NULL && strcmp(type, "sparse") == 0 ? 1.0 : 0.0;
    }
    if (count != sparse)
        return fail_value(r, kinds, types, "\"sparse\" for each layer with experts");
    return SC_MODEL_CONFIG_OK;
}

/* Shared experts: a number, or the width of all of them together. */
static result shared_experts_find(struct reader *r)
{
    double *const shared = &r->number[SHARED_EXPERTS];
    if (!isnan(*shared))
        return SC_MODEL_CONFIG_OK;
    *shared = r->architecture->shared_experts;
    if (isnan(r->number[SHARED_FFN]))
        return SC_MODEL_CONFIG_OK;
    if (fmod(r->number[SHARED_FFN], r->number[EXPERT_FFN]) != 0.0)
        return fail_relation(r, SHARED_FFN, "a multiple of", EXPERT_FFN);
    *shared = r->number[SHARED_FFN] / r->number[EXPERT_FFN];
    return SC_MODEL_CONFIG_OK;
}

static result expert_sizes_find(struct reader *r)
{
    result status = require(r, EXPERTS_PER_TOKEN);
    if (status != SC_MODEL_CONFIG_OK)
        return status;
    if (!(r->number[EXPERTS_PER_TOKEN] > 0.0))
        return fail_relation(r, EXPERTS_PER_TOKEN, "from 1 to", EXPERTS);
    if (r->number[EXPERTS_PER_TOKEN] > r->number[EXPERTS])
        return fail_relation(r, EXPERTS_PER_TOKEN, "no more than", EXPERTS);
    if (!(r->number[EXPERT_FFN] > 0.0))
        r->number[EXPERT_FFN] = r->architecture->experts_use_ffn ? r->number[FFN] : (double)NAN;
    status = require(r, EXPERT_FFN);
    if (status == SC_MODEL_CONFIG_OK)
        status = shared_experts_find(r);
    if (status == SC_MODEL_CONFIG_OK)
        status = dense_layers_find(r);
    if (status == SC_MODEL_CONFIG_OK)
        status = expert_lists_check(r);
    return status;
}

static result experts_find(struct reader *r)
{
    const bool is_dense = !(r->number[EXPERTS] > 0.0);
    const result status = is_dense ? dense_check(r) : expert_sizes_find(r);
    if (status != SC_MODEL_CONFIG_OK)
        return status;
    put(r, "experts", is_dense ? 0.0 : r->number[EXPERTS]);
    if (is_dense)
        return SC_MODEL_CONFIG_OK;
    put(r, "experts_per_token", r->number[EXPERTS_PER_TOKEN]);
    put(r, "expert_ffn", r->number[EXPERT_FFN]);
    put(r, "shared_experts", r->number[SHARED_EXPERTS]);
    put(r, "dense_layers", r->number[DENSE_LAYERS]);
    return SC_MODEL_CONFIG_OK;
}

/* --- bits of a weight ---------------------------------------------------------------------- */

struct quantization {
    const char *method;
    double bits; /* of every weight, where `read` is NULL */
    result (*read)(const struct reader *r, const json_t *object, const char *parent,
                     double *bits);
};

static const double least_bits = 1, most_bits = 16;

static result bits_read(const struct reader *r, const json_t *object, const char *parent,
                        double *bits)
{
    static const char *const spellings[] = { "bits", "w_bit" };
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
        const struct path path = { parent, spellings[i] };
        const json_t *const value = present(object, path.key);
        if (value != NULL)
            return whole_read(r, path, value, least_bits, most_bits, bits);
    }
    return fail_missing(r, parent, spellings, sizeof spellings / sizeof spellings[0]);
}

static result bitsandbytes_read(const struct reader *r, const json_t *object, const char *parent,
                                double *bits)
{
    static const char *const spellings[] = { "load_in_4bit", "load_in_8bit" };
    bool is_4bit = false, is_8bit = false;
    result status = flag_read(r, object, (struct path){ parent, spellings[0] }, &is_4bit);
    if (status == SC_MODEL_CONFIG_OK)
        status = flag_read(r, object, (struct path){ parent, spellings[1] }, &is_8bit);
    if (status != SC_MODEL_CONFIG_OK)
        return status;
    if (is_4bit == is_8bit)
        return fail(r->error, SC_MODEL_CONFIG_EVALUE, (struct path){ parent, spellings[0] },
                    "%s has %s load_in_4bit and load_in_8bit set; expected one of them", parent,
                    is_4bit ? "both" : "neither of");
    *bits = is_4bit ? 4.0 : 8.0;
    return SC_MODEL_CONFIG_OK;
}

/* compressed-tensors: groups of layers, each with its number of bits; groups that leave the weights
 * alone do not count. */
static result groups_read(const struct reader *r, const json_t *object, const char *parent,
                          double *bits)
{
    static const char *const key = "config_groups", *const member = "num_bits";
    const char *name;
    json_t *group;
    *bits = (double)NAN;
    json_object_foreach(json_object_get(object, key), name, group) {
        const struct path path = { parent, member };
        const json_t *const value = present(present(group, "weights"), member);
        double group_bits;
        if (value == NULL)
            continue;
        const result status = whole_read(r, path, value, least_bits, most_bits, &group_bits);
        if (status != SC_MODEL_CONFIG_OK)
            return status;
        if (!isnan(*bits) && group_bits != *bits)
            return fail(r->error, SC_MODEL_CONFIG_EUNSUPPORTED, path,
                        "%s has groups of %.0f and of %.0f bits: one width is supported", key,
                        *bits, group_bits);
        *bits = group_bits;
    }
    if (isnan(*bits))
        return fail_missing(r, parent, &member, 1);
    return SC_MODEL_CONFIG_OK;
}

static const struct quantization quantizations[] = {
    { .method = "gptq", .read = bits_read },
    { .method = "awq", .read = bits_read },
    { .method = "auto-round", .read = bits_read },
    { .method = "bitsandbytes", .read = bitsandbytes_read },
    { .method = "compressed-tensors", .read = groups_read },
    { .method = "fp8", .bits = 8 },
    { .method = "fbgemm_fp8", .bits = 8 },
    { .method = "mxfp4", .bits = 4.25 }, /* 4 and an 8-bit scale for 32 weights */
};

static result quantization_read(const struct reader *r, const json_t *object, const char *parent,
                                double *bits)
{
    static const char *const method_key = "quant_method";
    const char *method = NULL;
    const result status = text_read(r, object, (struct path){ parent, method_key }, &method);
    if (status != SC_MODEL_CONFIG_OK)
        return status;
    /* Transformers takes the loading flags for bitsandbytes, too. */
    if (method == NULL && (json_is_true(json_object_get(object, "load_in_4bit")) ||
                           json_is_true(json_object_get(object, "load_in_8bit"))))
        method = "bitsandbytes";
    if (method == NULL)
        return fail_missing(r, parent, &method_key, 1);
    for (size_t i = 0; i < sizeof quantizations / sizeof quantizations[0]; i++) {
        if (strcmp(quantizations[i].method, method) != 0)
            continue;
        *bits = quantizations[i].bits;
        return quantizations[i].read == NULL ? SC_MODEL_CONFIG_OK
                                             : quantizations[i].read(r, object, parent, bits);
    }
    return fail(r->error, SC_MODEL_CONFIG_EUNSUPPORTED, (struct path){ parent, method_key },
                "quant_method \"%.40s\" is not supported: bits per weight unknown", method);
}

static result dtype_read(const struct reader *r, const json_t *value, struct path path,
                         double *bits)
{
    static const char prefix[] = "torch.";
    const char *name = json_string_value(value);
    if (name != NULL && strncmp(name, prefix, sizeof prefix - 1) == 0)
        name += sizeof prefix - 1;
    for (size_t i = 0; name != NULL && i < sizeof dtypes / sizeof dtypes[0]; i++) {
        if (strcmp(dtypes[i].name, name) == 0) {
            *bits = dtypes[i].bits;
            return SC_MODEL_CONFIG_OK;
        }
    }
    return fail_value(r, path, value, "float32, float16, bfloat16 or float8_...");
}

/* Quantisation, at the top or with the shape, goes before the type of the other weights. */
static result bits_find(struct reader *r)
{
    static const char *const quantization_keys[] = { "quantization_config", "compression_config" };
    static const char *const dtype_keys[] = { "torch_dtype", "dtype" };
    const json_t *const objects[] = { r->root, r->shape };
    double bits = (double)NAN;
    result status = SC_MODEL_CONFIG_OK;

    for (size_t i = 0; i < 4 && isnan(bits) && status == SC_MODEL_CONFIG_OK; i++) {
        const char *const key = quantization_keys[i % 2];
        const json_t *const value = present(objects[i / 2], key);
        if (value != NULL && !json_is_object(value))
            status = fail_value(r, (struct path){ i < 2 ? NULL : r->nest, key }, value,
                                "an object");
        else if (value != NULL)
            status = quantization_read(r, value, key, &bits);
    }
    for (size_t i = 0; i < 4 && isnan(bits) && status == SC_MODEL_CONFIG_OK; i++) {
        const struct path path = { i < 2 ? NULL : r->nest, dtype_keys[i % 2] };
        const json_t *const value = present(objects[i / 2], path.key);
        if (value != NULL)
            status = dtype_read(r, value, path, &bits);
    }
    if (status == SC_MODEL_CONFIG_OK && !isnan(bits))
        put(r, "dtype_bits", bits);
    return status;
}

/* --- the file ------------------------------------------------------------------------------ */

static result config_read(struct reader *r)
{
    if (!json_is_object(r->root)) {
        char text[DESCRIPTION_SIZE];
        return fail(r->error, SC_MODEL_CONFIG_EOBJECT, (struct path){ NULL, NULL },
                    "is not a JSON object, but %s", describe(r->root, text));
    }
    result status = model_find(r);
    if (status == SC_MODEL_CONFIG_OK)
        status = numbers_read(r);
    if (status == SC_MODEL_CONFIG_OK)
        status = attention_find(r);
    if (status == SC_MODEL_CONFIG_OK)
        status = feed_forward_find(r);
    if (status == SC_MODEL_CONFIG_OK)
        status = experts_find(r);
    if (status == SC_MODEL_CONFIG_OK)
        status = bits_find(r);
    if (status == SC_MODEL_CONFIG_OK)
        status = window_find(r);
    if (status == SC_MODEL_CONFIG_OK)
        status = tied_find(r);
    return status;
}

static bool is_blank(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\0' || strchr(" \t\r\n", text[i]) == NULL)
            return false;
    }
    return true;
}

/* All of the file; *text is to be freed whatever the status. */
static result text_load(FILE *file, char **text, size_t *length,
                        struct sc_model_config_error *error)
{
    size_t capacity = 0, got;
    *text = NULL;
    *length = 0;
    do {
        if (*length == capacity) {
            capacity = capacity == 0 ? 65536 : 2 * capacity;
            char *const larger = realloc(*text, capacity);
            if (larger == NULL)
                return fail_file(error, SC_MODEL_CONFIG_ENOMEMORY, "does not fit in memory");
            *text = larger;
        }
        errno = 0;
        got = fread(*text + *length, 1, capacity - *length, file);
        *length += got;
        if (*length > SC_MODEL_CONFIG_MAX_BYTES)
            return fail_file(error, SC_MODEL_CONFIG_ELARGE, "is larger than 16 MiB");
    } while (got > 0);
    if (ferror(file))
        return fail(error, SC_MODEL_CONFIG_EREAD, (struct path){ NULL, NULL },
                    "cannot be read: %s", errno != 0 ? strerror(errno) : "unknown reason");
    if (is_blank(*text, *length))
        return fail_file(error, SC_MODEL_CONFIG_EEMPTY, "is empty");
    return SC_MODEL_CONFIG_OK;
}

/* Numbers come as reals, so that one too large is a fault of its key and not of the file. */
static result text_parse(const char *text, size_t length, json_t **root,
                         struct sc_model_config_error *error)
{
    json_error_t fault;
    *root = json_loadb(text, length,
                       JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, &fault);
    if (*root != NULL)
        return SC_MODEL_CONFIG_OK;
    if (json_error_code(&fault) == json_error_out_of_memory || fault.text[0] == '\0')
        return fail_file(error, SC_MODEL_CONFIG_ENOMEMORY, "does not fit in memory");
    const result status = fail(error, SC_MODEL_CONFIG_ESYNTAX, (struct path){ NULL, NULL },
                                 "is not valid JSON: %s", fault.text);
    error->line = fault.line > 0 ? (size_t)fault.line : 0;
    error->column = fault.column > 0 ? (size_t)fault.column : 0;
    return status;
}

enum sc_model_config_status sc_model_config_read(FILE *file, struct sc_model_config *out,
                                                 struct sc_model_config_error *error)
{
    struct sc_model_config_error unused = { .line = 0 };
    struct reader reader = { .model_type = "", .out = out,
                             .error = error != NULL ? error : &unused };
    char *text = NULL;
    size_t length;

    memset(out, 0, sizeof *out);
    result status = text_load(file, &text, &length, reader.error);
    if (status == SC_MODEL_CONFIG_OK)
        status = text_parse(text, length, &reader.root, reader.error);
    if (status == SC_MODEL_CONFIG_OK)
        status = config_read(&reader);
    if (status != SC_MODEL_CONFIG_OK)
        memset(out, 0, sizeof *out);
    json_decref(reader.root);
    free(text);
    return status;
}
