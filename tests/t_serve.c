/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The closed form of `serve`: memory of public models against sums by hand, limits,
 * what must be monotone, layouts against brute force, scenarios at random. */
#include "read/model_config.h"
#include "scenario.h"
#include "serve.h"
#include "tap.h"
#include "uvm.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct catalog *catalog;
static struct resolver *resolver;
static uint64_t state = 11;

static double uniform(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-53;
}

static struct sc_serve scenario(const char *text)
{
    enum { SETTINGS_MAX = 32 };
    struct setting settings[SETTINGS_MAX];
    struct problem problem = { "" };
    struct sc_serve s;
    size_t count = 0;
    char copy[512], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        struct sweep sweep;
        if (count == SETTINGS_MAX || !sweep_parse(resolver, word, &sweep, &problem))
            bail("%s: %s", word, problem.text);
        settings[count++] = sweep.values[0];
        sweep_fini(&sweep);
    }
    if (!resolver_build(resolver, settings, count, &s, &problem))
        bail("%s", problem.text);
    return s;
}

static struct sc_serve_answer answer_to(const struct sc_serve *s)
{
    struct sc_serve_answer answer;
    struct sc_error error = { 0 };
    if (sc_serve_system.estimate(s, &answer, NULL, &error) != SC_OK)
        bail("unexpected error: %s %.17g %s", error.field, error.value, error.reason);
    return answer;
}

static struct sc_serve_answer answer(const char *text)
{
    const struct sc_serve s = scenario(text);
    return answer_to(&s);
}

/* ---- Memory of public models ---- */

/* Files as published, cut to the keys that count.  Parameters as published (config.json or
 * model card); KV bytes per token and per 8192 tokens, 16 bit, by hand from the same files:
 * 2 layers kv_heads head_dim 2 bytes, (kv_lora + 64) layers 2 bytes with latent attention,
 * and the window instead of 8192 in layers that have one. */
static const struct {
    const char *name, *config;
    double parameters;
    double token_kv, sequence_kv;
} models[] = {
    { "Llama 2 7B",
      "{\"model_type\":\"llama\",\"hidden_size\":4096,\"intermediate_size\":11008,"
      "\"num_attention_heads\":32,\"num_hidden_layers\":32,\"num_key_value_heads\":32,"
      "\"vocab_size\":32000,\"torch_dtype\":\"float16\"}",
      6.738e9, 2.0 * 32 * 32 * 128 * 2, 2.0 * 32 * 32 * 128 * 2 * 8192 },
    { "Llama 3 8B",
      "{\"model_type\":\"llama\",\"hidden_size\":4096,\"intermediate_size\":14336,"
      "\"num_attention_heads\":32,\"num_hidden_layers\":32,\"num_key_value_heads\":8,"
      "\"vocab_size\":128256,\"torch_dtype\":\"bfloat16\"}",
      8.030e9, 2.0 * 32 * 8 * 128 * 2, 2.0 * 32 * 8 * 128 * 2 * 8192 },
    { "Llama 3 70B",
      "{\"model_type\":\"llama\",\"hidden_size\":8192,\"intermediate_size\":28672,"
      "\"num_attention_heads\":64,\"num_hidden_layers\":80,\"num_key_value_heads\":8,"
      "\"vocab_size\":128256,\"torch_dtype\":\"bfloat16\"}",
      70.55e9, 2.0 * 80 * 8 * 128 * 2, 2.0 * 80 * 8 * 128 * 2 * 8192 },
    { "Llama 3.1 405B",
      "{\"model_type\":\"llama\",\"hidden_size\":16384,\"intermediate_size\":53248,"
      "\"num_attention_heads\":128,\"num_hidden_layers\":126,\"num_key_value_heads\":8,"
      "\"vocab_size\":128256,\"torch_dtype\":\"bfloat16\"}",
      405.85e9, 2.0 * 126 * 8 * 128 * 2, 2.0 * 126 * 8 * 128 * 2 * 8192 },
    { "Mistral 7B v0.1, a window of 4096 in every layer",
      "{\"model_type\":\"mistral\",\"hidden_size\":4096,\"intermediate_size\":14336,"
      "\"num_attention_heads\":32,\"num_hidden_layers\":32,\"num_key_value_heads\":8,"
      "\"sliding_window\":4096,\"vocab_size\":32000,\"torch_dtype\":\"bfloat16\"}",
      7.242e9, 2.0 * 32 * 8 * 128 * 2, 2.0 * 32 * 8 * 128 * 2 * 4096 },
    { "Mixtral 8x7B",
      "{\"model_type\":\"mixtral\",\"hidden_size\":4096,\"intermediate_size\":14336,"
      "\"num_attention_heads\":32,\"num_hidden_layers\":32,\"num_key_value_heads\":8,"
      "\"num_local_experts\":8,\"num_experts_per_tok\":2,\"sliding_window\":null,"
      "\"vocab_size\":32000,\"torch_dtype\":\"bfloat16\"}",
      46.70e9, 2.0 * 32 * 8 * 128 * 2, 2.0 * 32 * 8 * 128 * 2 * 8192 },
    { "Qwen2.5 32B",
      "{\"model_type\":\"qwen2\",\"hidden_size\":5120,\"intermediate_size\":27648,"
      "\"max_window_layers\":64,\"num_attention_heads\":40,\"num_hidden_layers\":64,"
      "\"num_key_value_heads\":8,\"sliding_window\":131072,\"use_sliding_window\":false,"
      "\"vocab_size\":152064,\"torch_dtype\":\"bfloat16\"}",
      32.76e9, 2.0 * 64 * 8 * 128 * 2, 2.0 * 64 * 8 * 128 * 2 * 8192 },
    { "Qwen2.5 72B",
      "{\"model_type\":\"qwen2\",\"hidden_size\":8192,\"intermediate_size\":29568,"
      "\"num_attention_heads\":64,\"num_hidden_layers\":80,\"num_key_value_heads\":8,"
      "\"vocab_size\":152064,\"torch_dtype\":\"bfloat16\"}",
      72.71e9, 2.0 * 80 * 8 * 128 * 2, 2.0 * 80 * 8 * 128 * 2 * 8192 },
    { "Gemma 2 27B, a window of 4096 in every other layer, one table of embeddings",
      "{\"model_type\":\"gemma2\",\"head_dim\":128,\"hidden_size\":4608,"
      "\"intermediate_size\":36864,\"num_attention_heads\":32,\"num_hidden_layers\":46,"
      "\"num_key_value_heads\":16,\"sliding_window\":4096,\"vocab_size\":256000,"
      "\"torch_dtype\":\"bfloat16\"}",
      27.23e9, 2.0 * 46 * 16 * 128 * 2, 2.0 * 23 * 16 * 128 * 2 * (8192 + 4096) },
    { "DeepSeek V2 236B, latent attention",
      "{\"model_type\":\"deepseek_v2\",\"first_k_dense_replace\":1,\"hidden_size\":5120,"
      "\"intermediate_size\":12288,\"kv_lora_rank\":512,\"moe_intermediate_size\":1536,"
      "\"n_routed_experts\":160,\"n_shared_experts\":2,\"num_attention_heads\":128,"
      "\"num_experts_per_tok\":6,\"num_hidden_layers\":60,\"num_key_value_heads\":128,"
      "\"q_lora_rank\":1536,\"qk_nope_head_dim\":128,\"qk_rope_head_dim\":64,"
      "\"v_head_dim\":128,\"vocab_size\":102400,\"torch_dtype\":\"bfloat16\"}",
      235.7e9, 576.0 * 60 * 2, 576.0 * 60 * 2 * 8192 },
    { "DeepSeek V3 671B, latent attention",
      "{\"model_type\":\"deepseek_v3\",\"first_k_dense_replace\":3,\"hidden_size\":7168,"
      "\"intermediate_size\":18432,\"kv_lora_rank\":512,\"moe_intermediate_size\":2048,"
      "\"n_routed_experts\":256,\"n_shared_experts\":1,\"num_attention_heads\":128,"
      "\"num_experts_per_tok\":8,\"num_hidden_layers\":61,\"num_key_value_heads\":128,"
      "\"q_lora_rank\":1536,\"qk_nope_head_dim\":128,\"qk_rope_head_dim\":64,"
      "\"v_head_dim\":128,\"vocab_size\":129280,\"torch_dtype\":\"bfloat16\"}",
      671.0e9, 576.0 * 61 * 2, 576.0 * 61 * 2 * 8192 },
};

static void set_choice(const struct sc_system *system, void *s, const char *key, const char *name)
{
    const struct sc_field *field = sc_system_field(system, key);
    size_t i = 0;
    while (strcmp(sc_field_choice(field, i)->name, name) != 0)
        i++;
    sc_field_set(field, s, (double)i);
}

/* The scenario of a config.json on one GPU large enough for all of it. */
static struct sc_serve config_scenario(const char *text)
{
    struct sc_serve s = scenario("gpus=1 prompt=8191 generated=1 batch=1");
    struct sc_model_config config;
    struct sc_model_config_error error = { 0 };
    FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    if (file == NULL || sc_model_config_read(file, &config, &error) != SC_MODEL_CONFIG_OK)
        bail("config: %s", error.reason);
    (void)fclose(file);
    for (size_t i = 0; i < config.count; i++) {
        const struct sc_model_config_value *value = &config.values[i];
        if (value->choice != NULL)
            set_choice(&sc_serve_system, &s, value->key, value->choice);
        else
            sc_field_set(sc_system_field(&sc_serve_system, value->key), &s, value->number);
    }
    s.hbm_capacity_bytes = 1e13;
    return s;
}

static void test_public_models(void)
{
    for (size_t i = 0; i < COUNT(models); i++) {
        struct sc_serve s = config_scenario(models[i].config);
        const struct sc_serve_answer a = answer_to(&s);
        near(a.weight_bytes, 2.0 * models[i].parameters, 0.03, 0.0, "%s: weights",
             models[i].name);
        near(a.token_kv_bytes, models[i].token_kv, 1e-12, 0.0, "%s: KV cache of a token",
             models[i].name);
        near(a.kv_bytes, models[i].sequence_kv, 1e-12, 0.0, "%s: KV cache of 8192 tokens",
             models[i].name);
        s.shard.dtype_bits = 8.0;
        near(answer_to(&s).weight_bytes, a.weight_bytes / 2.0, 1e-12, 0.0,
             "%s: half the bits, half the bytes", models[i].name);
    }
}

/* ---- Memory of layouts ---- */

static void test_layout_memory(void)
{
    const struct sc_serve_answer one =
        answer("model=llama-70b gpus=1 tp=1 pp=1 batch=1 hbm_capacity=1TB");
    const struct sc_serve_answer four =
        answer("model=llama-70b gpus=4 tp=4 pp=1 batch=1 hbm_capacity=1TB");
    const struct sc_serve_answer staged =
        answer("model=llama-70b gpus=4 tp=1 pp=4 batch=1 hbm_capacity=1TB");
    const struct sc_serve_answer split =
        answer("model=llama-70b gpus=16 tp=16 pp=1 batch=1 hbm_capacity=1TB");
    near(four.weight_bytes, one.weight_bytes / 4.0, 1e-3, 0.0, "four GPUs share the weights");
    near(staged.weight_bytes, one.weight_bytes / 4.0, 0.03, 0.0,
         "four stages do, but for a table at one end");
    ok(staged.weight_bytes > one.weight_bytes / 4.0, "... which makes that stage the fullest");
    near(four.token_kv_bytes, one.token_kv_bytes / 4.0, 1e-12, 0.0, "they share the KV heads");
    near(staged.token_kv_bytes, one.token_kv_bytes / 4.0, 1e-12, 0.0, "or the layers of the cache");
    near(split.token_kv_bytes, one.token_kv_bytes / 8.0, 1e-12, 0.0,
         "of 8 KV heads, 16 GPUs hold each twice");
    const struct sc_serve_answer latent =
        answer("model=deepseek-v3 gpus=8 tp=8 pp=1 batch=1 hbm_capacity=1TB");
    near(latent.token_kv_bytes, 576.0 * 61 * 2, 1e-12, 0.0, "a latent cache is on every rank");
    const struct sc_serve_answer far =
        answer("model=llama-70b gpus=4 tp=4 pp=1 batch=1 weights_in=hbf");
    near(far.far_bytes + 128256.0 * 8192 * 2 / 4, far.weight_bytes, 1e-3, 0.0,
         "all but the table of embeddings and what is small lies in flash");
    const struct sc_serve_answer full = answer("model=llama-70b gpus=4 tp=4 pp=1");
    ok(full.hbm_bytes <= 0.9 * 80 * 0x1p30 &&
           full.hbm_bytes + full.kv_bytes / full.batch_size > 0.899 * 80 * 0x1p30,
       "the largest batch fills what may be used, and one more would not fit");
}

/* ---- Limits ---- */

static void test_limits(void)
{
    const char *const base = "model=llama-405b gpus=8 tp=8 pp=1 batch=16 hbm_capacity=1TB "
                             "flash_channels=64 ";
    char text[512];
    snprintf(text, sizeof text, "%sweights_in=hbm", base);
    const struct sc_serve_answer hbm = answer(text);
    snprintf(text, sizeof text, "%sweights_in=hbf policy=ideal hbf_bandwidth=2TB/s", base);
    const struct sc_serve_answer ideal = answer(text);
    near(ideal.tpot_s, hbm.tpot_s, 1e-12, 0.0, "flash without its latency is HBM");
    snprintf(text, sizeof text, "%sweights_in=hbf latency=1us hbf_bandwidth=2TB/s buffer=1GB", base);
    const struct sc_serve_answer near_flash = answer(text);
    ok(near_flash.tpot_s <= hbm.tpot_s && near_flash.tpot_s > 0.9 * hbm.tpot_s,
       "at 1 us, staging costs nothing (and takes the bursts out of the reads)");
    near(hbm.slowdown, 1.0, 1e-12, 0.0, "HBM is what slowdown is over");
    snprintf(text, sizeof text, "%sweights_in=host", base);
    const struct sc_serve_answer host = answer(text);
    near(host.weights_share + host.staging_share,
         (405.85e9 * 2 - 128256.0 * 16384 * 2) / 8 / (0.8 * 31.5e9) / host.tpot_s, 0.01, 0.0,
         "weights on the host take their bytes over the link");
    ok(strcmp(host.bound, "host link") == 0, "... which binds");

    const struct sc_serve_answer free_links =
        answer("model=llama-8b gpus=2 tp=2 pp=1 batch=1 collective_latency=0s "
               "gpu_link_bandwidth=99TB/s");
    ok(free_links.exchange_share < 1e-3, "links without latency take no time");
    const struct sc_serve_answer alone = answer("model=llama-8b gpus=1 batch=1");
    near(alone.exchange_share, 0.0, 0.0, 0.0, "one GPU exchanges nothing");
}

/* The weight kernels are those of one GPU's shard, as hbf has them. */
static void test_shard_is_hbf(void)
{
    static const char *const places[] = { "", " weights_in=hbf", " weights_in=hbf policy=h3" };
    for (size_t i = 0; i < COUNT(places); i++) {
        char text[256];
        snprintf(text, sizeof text, "model=llama-70b gpus=4 tp=4 pp=1 batch=24%s", places[i]);
        const struct sc_serve s = scenario(text);
        const struct sc_serve_answer a = answer_to(&s);
        struct sc_hbf shard = s.shard;
        struct sc_hbf_answer kernels;
        struct sc_error error = { 0 };
        shard.tensor_parallel = 4.0;
        shard.batch = 24.0;
        shard.prompt_tokens = 1.0;
        set_choice(&sc_hbf_system, &shard, "lm_head", "yes");
        if (i == 0)
            set_choice(&sc_hbf_system, &shard, "policy", "ideal");
        for (size_t k = 0; k < SC_HBF_KERNELS; k++)
            shard.launch[k] = (struct sc_hbf_launch){ (double)NAN, (double)NAN };
        shard.reference_sms = shard.reference_bandwidth_bytes_per_s = (double)NAN;
        if (sc_hbf_system.estimate(&shard, &kernels, NULL, &error) != SC_OK)
            bail("hbf: %s %s", error.field, error.reason);
        near(a.tpot_s * (a.weights_share + a.staging_share), kernels.time_s, 1e-12, 0.0,
             "%s: weight kernels take what hbf says of the shard", text);
        near(a.slowdown - 1.0, (kernels.time_s - kernels.ideal_time_s) /
                                   (a.tpot_s - kernels.time_s + kernels.ideal_time_s),
             1e-9, 0.0, "%s: which the other parts dilute", text);
    }
}

/* The interconnect law is what the uvm system says of a model read in place. */
static void test_host_is_mapped(void)
{
    const struct sc_serve_answer a =
        answer("model=llama-70b gpus=1 weights_in=host batch=1 host_rate=20GB/s");
    struct sc_uvm u;
    struct sc_uvm_answer mapped;
    struct sc_error error = { 0 };
    sc_scenario_init(&sc_uvm_system, &u);
    set_choice(&sc_uvm_system, &u, "policy", "mapped");
    set_choice(&sc_uvm_system, &u, "pattern", "layers");
    const double read = a.weight_bytes - 128256.0 * 8192 * 2;
    sc_field_set(sc_system_field(&sc_uvm_system, "footprint"), &u, read);
    sc_field_set(sc_system_field(&sc_uvm_system, "link_rate"), &u, 20e9);
    if (sc_uvm_system.estimate(&u, &mapped, NULL, &error) != SC_OK)
        bail("uvm: %s %s", error.field, error.reason);
    near(a.tpot_s * (a.weights_share + a.staging_share), 1.0 / mapped.tokens_per_s, 0.01, 0.0,
         "weights on the host take the time that uvm has for mapped layers");
}

/* ---- Sums ---- */

static void test_sums(void)
{
    const struct sc_serve_answer a =
        answer("model=llama-405b gpus=16 tp=8 pp=1 weights_in=hbf price=2.5");
    near(a.weights_share + a.staging_share + a.attention_share + a.exchange_share +
             a.overhead_share, 1.0, 1e-12, 0.0, "the parts of a step make the step");
    near(a.tokens_per_s, 2.0 * a.batch_size / a.tpot_s, 1e-12, 0.0, "two replicas, a token each step");
    near(a.energy_per_token_j * a.tokens_per_joule, 1.0, 1e-12, 0.0, "energy and tokens per joule");
    near(a.power_w * 16, a.energy_per_token_j * a.tokens_per_s, 1e-12, 0.0, "power");
    near(a.edp_js, a.energy_per_token_j / a.tokens_per_s, 1e-12, 0.0, "energy-delay product");
    near(a.cost_per_million, 2.5 * 16 / 3600 / a.tokens_per_s * 1e6, 1e-12, 0.0, "cost");
    ok(isnan(answer("model=llama-8b gpus=1").cost_per_million), "no price, no cost");

    /* By hand: 16-bit weights of one of 4 GPUs read once, 20 sequences of 4096 + 256 / 2 tokens. */
    const struct sc_serve_answer b = answer("model=llama-70b gpus=4 tp=4 pp=1 batch=20 "
                                            "prompt=4096 generated=256");
    const double layer_bytes = (70.55e9 - 128256.0 * 8192) * 2 / 4;
    const double kv = 20.0 * (4096 + 128) * 2 * 80 * 2 * 128 * 2;
    near(b.energy_per_token_j,
         4 * (336 * b.tpot_s + 8 * 3.97e-12 * (layer_bytes + kv)) / 20, 2e-3, 0.0,
         "energy by hand: die power and bits of HBM");
    near(b.attention_share * b.tpot_s, 80 * 2e-6 + kv / (0.88 * 2e12), 1e-9, 0.0,
         "attention by hand: a launch per layer, the cache at 0.88 of HBM bandwidth");
    near(b.exchange_share * b.tpot_s,
         160 * (10e-6 + 2.0 * 3 / 4 * 20 * 8192 * 2 / 300e9), 1e-9, 0.0,
         "exchanges by hand: two rings per layer over NVLink");
}

static void test_prompts(void)
{
    const char *const base = "model=llama-70b gpus=4 tp=4 pp=1 batch=40 prompt=4096 generated=512 "
                             "prefill_chunk=1024 ";
    char text[256];
    snprintf(text, sizeof text, "%sprefill=here weights_in=hbf policy=h3", base);
    const struct sc_serve_answer here = answer(text);
    snprintf(text, sizeof text, "%sprefill=elsewhere weights_in=hbf policy=h3", base);
    const struct sc_serve_answer elsewhere = answer(text);
    near(here.ttft_s, elsewhere.ttft_s, 1e-12, 0.0, "a prompt takes the same wherever");
    near(here.tpot_s - elsewhere.tpot_s, 40.0 / 512 * here.ttft_s, 1e-9, 0.0,
         "in 512 steps 40 prompts are taken in");
    near(here.weights_share + here.staging_share + here.attention_share + here.exchange_share +
             here.prompt_share + here.overhead_share, 1.0, 1e-12, 0.0, "and are part of the step");
    ok(here.slowdown > 1.0 && here.slowdown < elsewhere.slowdown,
       "prompts lose less to staging than decoding does");
    snprintf(text, sizeof text, "%sprefill=here", base);
    const struct sc_serve_answer hbm = answer(text);
    near(hbm.slowdown, 1.0, 1e-12, 0.0, "in HBM, they are as fast as ideal");
    struct sc_serve s = scenario("model=llama-70b gpus=4 tp=4 pp=1 prompt=4096 generated=512 "
                                 "prefill_chunk=1024 prefill=here");
    s.tpot_limit_s = hbm.tpot_s;
    near(answer_to(&s).max_batch, 40.0, 0.0, 0.0, "a limit on TPOT counts them");
    /* 70.55e9 parameters without the table, 4096 tokens, 4 x 312 TFLOP/s at 0.7; the rest is
     * attention, exchanges and launches. */
    const struct sc_serve_answer four =
        answer("model=llama-70b gpus=4 tp=4 pp=1 batch=1 prompt=4096 generated=1");
    const double gemm_s = 2.0 * (70.55e9 - 2 * 128256.0 * 8192) * 4096 / (4 * 312e12 * 0.7);
    ok(four.ttft_s > gemm_s && four.ttft_s < 1.3 * gemm_s, "a long prompt takes its operations");
}

/* Llama 70B on as many GPUs as stages, over links that take next to no time. */
static struct sc_serve_answer staged(int pp, int batch, const char *more)
{
    char text[512];
    snprintf(text, sizeof text, "model=llama-70b gpus=%d tp=1 pp=%d batch=%d hbm_capacity=1TB "
             "collective_latency=0s gpu_link_bandwidth=99TB/s %s", pp, pp, batch, more);
    return answer(text);
}

static void test_pipeline(void)
{
    /* One stage has `layers` of all times and the head; all stages work at once. */
    static const int stages[] = { 2, 3, 7, 16, 27, 41, 64, 80 };
    const struct sc_serve_answer pass = staged(1, 2, "");
    const struct sc_serve_answer headless = staged(1, 2, "vocab=1");
    const double layer_s = headless.tpot_s / 80, head_s = pass.tpot_s - headless.tpot_s;
    for (size_t i = 0; i < COUNT(stages); i++) {
        const int pp = stages[i];
        const double full_s = ceil(80.0 / pp) * layer_s;
        const double last_s = floor(80.0 / pp) * layer_s + head_s;
        const struct sc_serve_answer a = staged(pp, 2 * pp, "");
        near(a.tpot_s, pp * fmax(full_s, last_s), 2e-3, 0.0,
             "%d stages wait for the slowest of them", pp);
        near(staged(pp, 1, "").tpot_s, staged(1, 1, "").tpot_s, 2e-3, 0.0,
             "a sequence alone waits for none");
        near(a.weights_share + a.staging_share + a.attention_share + a.exchange_share +
                 a.overhead_share, 1.0, 1e-12, 0.0, "and the parts make the step");
    }
    ok(staged(4, 8, "collective_latency=1ms").tpot_s > staged(4, 8, "").tpot_s + 3e-3,
       "rows are handed on three times");
}

/* Whatever the layout, a step reads the model once for each micro-batch, and each cache once. */
static void test_bytes_read(void)
{
    const double one = staged(1, 1, "die_power=0W").energy_per_token_j;
    for (int pp = 2; pp <= 32; pp += 3)
        near(staged(pp, 1, "die_power=0W").energy_per_token_j, one, 1e-9, 0.0,
             "one sequence on %d stages reads what it does on one", pp);
    const double four = staged(1, 4, "die_power=0W").energy_per_token_j;
    for (int pp = 2; pp <= 4; pp++)
        near(staged(pp, 4 * pp, "die_power=0W").energy_per_token_j, four, 1e-9, 0.0,
             "four sequences to each of %d stages", pp);
    const double weights_j = (one - four) * 4.0 / 3.0, cache_j = one - weights_j;
    near(staged(4, 5, "die_power=0W").energy_per_token_j, weights_j * 4 / 5 + cache_j, 1e-9, 0.0,
         "five sequences on four stages are four micro-batches and five caches");
}

static void test_prompts_in_stages(void)
{
    const char *const text = "prompt=8192 prefill_chunk=1024 generated=512 vocab=1";
    const char *const here = "prompt=8192 prefill_chunk=1024 generated=512 vocab=1 prefill=here";
    const double one = staged(1, 1, text).ttft_s; /* eight passes */
    near(staged(4, 8, text).ttft_s, one * (8 + 3) / 8 / 4, 1e-2, 0.0,
         "eight passes through four stages");
    near(staged(80, 80, text).ttft_s, one * (8 + 79) / 8 / 80, 1e-2, 0.0, "or eighty");
    near(staged(3, 3, here).tpot_s - staged(3, 3, text).tpot_s, 3.0 / 512 * one * 27 / 80, 1e-2,
         0.0, "prompts in between wait for the stage of 27 layers");
    near(staged(1, 1, "prompt=100 prefill_chunk=100").activation_bytes,
         staged(1, 1, "prompt=100 prefill_chunk=100000").activation_bytes, 1e-12, 0.0,
         "a chunk is no longer than the prompt");
}

/* ---- What must be monotone ---- */

static double value_of(const struct sc_serve_answer *a, const char *column)
{
    double value;
    memcpy(&value, (const char *)a + sc_system_metric(&sc_serve_system, column)->offset,
           sizeof value);
    return value;
}

static void test_directions(void)
{
    static const struct {
        const char *key, *column;
        double low, high;
        int sign; /* of the column with the key, never the other way */
    } rules[] = {
        { "hbm_capacity", "max_batch", 40e9, 400e9, 1 },
        { "hbm_capacity", "tokens_per_s", 40e9, 400e9, 1 },
        { "prompt_tokens", "max_batch", 64, 1e5, -1 },
        { "kv_bits", "max_batch", 4, 32, -1 },
        { "usable_share", "max_batch", 0.3, 1, 1 },
        { "prefill_chunk", "max_batch", 64, 1e5, -1 },
        { "collective_latency", "tpot_s", 0, 1e-4, 1 },
        { "gpu_link_bandwidth", "tpot_s", 1e9, 1e12, -1 },
        { "latency", "tpot_s", 2e-6, 1e-4, 1 },
        { "hbf_bandwidth", "tpot_s", 0.2e12, 4e12, -1 },
        { "step_overhead", "tpot_s", 0, 0.1, 1 },
        { "tpot_limit", "max_batch", 0.02, 0.5, 1 },
        { "tpot_limit", "tpot_s", 0.06, 0.5, 1 },
        { "price", "cost_per_million", 0.1, 10, 1 },
        { "die_power", "energy_per_token_j", 1, 1000, 1 },
        { "hbm_energy", "energy_per_token_j", 1e-13, 1e-10, 1 },
        { "prompt_tokens", "ttft_s", 64, 1e5, 1 },
        { "sliding_window", "kv_bytes", 64, 4096, 1 },
    };
    for (size_t i = 0; i < COUNT(rules); i++) {
        const struct sc_field *field = sc_system_field(&sc_serve_system, rules[i].key);
        const bool held = strcmp(rules[i].column, "tpot_s") == 0 ||
                          strcmp(rules[i].column, "kv_bytes") == 0;
        double last = -rules[i].sign * (double)INFINITY;
        size_t wrong = 0, moved = 0;
        for (size_t j = 0; j <= 40; j++) {
            struct sc_serve s = scenario("model=llama-70b gpus=8 tp=8 pp=1 weights_in=hbf price=1");
            const bool limit = strcmp(rules[i].key, "tpot_limit") == 0;
            double x = rules[i].low + (double)j / 40.0 * (rules[i].high - rules[i].low);
            if (held && !limit)
                s.batch = 24;
            sc_field_set(field, &s, field->kind == SC_INTEGER ? floor(x) : x);
            const struct sc_serve_answer a = answer_to(&s);
            const double value = value_of(&a, rules[i].column);
            wrong += rules[i].sign * (value - last) < -1e-12 * fabs(value);
            moved += j > 0 && fabs(value - last) > 1e-9 * fabs(value);
            last = value;
        }
        ok(wrong == 0 && moved > 0, "%s: %s never %s", rules[i].key, rules[i].column,
           rules[i].sign > 0 ? "falls" : "rises");
    }
}

/* What one place of the weights is short of does not turn against another. */
static void test_stages_of_faster_parts(void)
{
    static const char *const keys[] = { "hbm_bandwidth", "peak_flops", "gpu_link_bandwidth",
                                        "link_bandwidth" };
    static const char *const places[] = { "hbm", "hbf policy=ideal", "host" };
    for (size_t i = 0; i < COUNT(keys); i++)
        for (size_t j = 0; j < COUNT(places); j++) {
            const struct sc_field *field = sc_system_field(&sc_serve_system, keys[i]);
            char text[256];
            size_t slower = 0;
            double last = (double)INFINITY;
            snprintf(text, sizeof text, "model=phi-4 gpu=v100 gpus=64 tp=4 pp=16 batch=16 prompt=512 "
                     "prefill=here weights_in=%s", places[j]);
            struct sc_serve s = scenario(text);
            double start;
            memcpy(&start, (const char *)&s + field->offset, sizeof start);
            for (int step = -8; step <= 8; step++) {
                sc_field_set(field, &s, start * pow(1.7, step));
                const double tpot_s = answer_to(&s).tpot_s;
                slower += tpot_s > last * (1.0 + 1e-12);
                last = tpot_s;
            }
            ok(slower == 0 && isfinite(last), "%s: never slower with %s", places[j], keys[i]);
        }
}

/* ---- Layouts ---- */

/* The best of all layouts that share heads evenly, each asked for by itself. */
static double best_by_hand(struct sc_serve s, double *best_tp, double *best_pp)
{
    double best = 0.0;
    for (int tp = 1; tp <= (int)s.gpus; tp++)
        for (int pp = 1; tp * pp <= (int)s.gpus; pp++) {
            struct sc_serve_answer a;
            s.tensor_parallel = tp;
            s.pipeline_stages = pp;
            if ((int)s.shard.heads % tp != 0 ||
                sc_serve_system.estimate(&s, &a, NULL, NULL) != SC_OK || !(a.fits > 0.0) ||
                !(a.tokens_per_s > best))
                continue;
            best = a.tokens_per_s;
            *best_tp = tp;
            *best_pp = pp;
        }
    return best;
}

static void test_layouts(void)
{
    static const char *const cases[] = {
        "model=llama-405b gpus=16", "model=llama-405b gpus=24 weights_in=hbf",
        "model=llama-70b gpus=12 gpu=h100", "model=llama-8b gpus=8 batch=4",
        "model=mixtral-8x7b gpus=6", "model=deepseek-v3 gpus=16 gpu=h200",
        "model=llama-70b gpus=8 weights_in=hbf tpot_limit=40ms", "model=llama-70b gpus=7",
        "model=llama-405b gpus=31 prefill=here", "model=qwen2.5-7b gpus=29 gpu=rtx-5080",
        "model=llama-70b gpus=23 gpu=v100 batch=9",
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct sc_serve s = scenario(cases[i]);
        const struct sc_serve_answer a = answer_to(&s);
        double tp = 0.0, pp = 0.0;
        const double best = best_by_hand(s, &tp, &pp);
        near(a.tokens_per_s, best, 1e-12, 0.0, "%s: no layout is faster", cases[i]);
        ok(fabs(a.layout_tp - tp) < 0.5 && fabs(a.layout_pp - pp) < 0.5, "%s: and it is named",
           cases[i]);
    }
    near(answer("model=llama-8b gpus=6 tp=6").layout_tp, 6.0, 0.0, 0.0,
         "a tp that does not divide heads is taken when given");
}

/* GPUs from one up: the fewest that serve, and what more of them bring. */
static void test_more_gpus(void)
{
    static const char *const cases[] = {
        "model=llama-405b pp=1", "model=llama-405b", "model=llama-70b batch=64",
        "model=deepseek-v3 gpu=h100", "model=llama-70b gpu=h100 tpot_limit=12ms",
        "model=llama-70b tp=4 tpot_limit=40ms batch=40", "model=llama-8b weights_in=hbf tpot_limit=9ms",
        "model=mixtral-8x22b weights_in=hbf batch=7 tpot_limit=30ms",
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sc_serve s = scenario(cases[i]);
        const double least = answer_to(&s).least_gpus;
        double last = 0.0;
        size_t early = 0, missing = 0, slower = 0, lost = 0;
        for (s.gpus = isnan(s.tensor_parallel) ? 1.0 : s.tensor_parallel; s.gpus <= 40.0; s.gpus++) {
            const struct sc_serve_answer a = answer_to(&s);
            const double rate = a.fits > 0.0 ? a.tokens_per_s : 0.0;
            early += a.fits > 0.0 && s.gpus < least;
            missing += !(a.fits > 0.0) && s.gpus >= least;
            slower += rate < last;
            lost += fabs(a.replicas * a.layout_tp * a.layout_pp + a.idle_gpus - s.gpus) > 0.5;
            last = rate;
        }
        ok(least > 1.0 && least <= 40.0, "%s: %.0f GPUs", cases[i], least);
        ok(early == 0 && missing == 0, "%s: are the fewest, and more do too", cases[i]);
        ok(slower == 0, "%s: more GPUs are never slower", cases[i]);
        ok(lost == 0, "%s: each is in a replica or idle", cases[i]);
    }
    ok(isnan(answer("model=llama-70b tpot_limit=1us").least_gpus),
       "no number of GPUs answers within a microsecond");
}

static void test_limit(void)
{
    struct sc_serve s = scenario("model=llama-70b gpus=8 tp=8 pp=1 gpu=h100 tpot_limit=20ms");
    const struct sc_serve_answer a = answer_to(&s);
    ok(a.tpot_s <= 20e-3 && a.fits > 0.0, "the batch keeps to the limit");
    s.tpot_limit_s = (double)NAN;
    const struct sc_serve_answer all = answer_to(&s);
    ok(all.max_batch > a.max_batch && all.tpot_s > 20e-3, "which memory alone would not");
    s.batch = a.batch_size + 1.0;
    ok(answer_to(&s).tpot_s > 20e-3, "one more sequence passes it");
    s.tpot_limit_s = 20e-3;
    const struct sc_serve_answer more = answer_to(&s);
    ok(!(more.fits > 0.0) && strcmp(more.bound, "TPOT limit") == 0 && isnan(more.tokens_per_s),
       "and does not fit, by reason of the limit");
    s.batch = all.max_batch + 1.0;
    ok(strcmp(answer_to(&s).bound, "HBM capacity") == 0, "more than memory holds: by that");
    struct sc_serve far = scenario("model=llama-405b gpus=1 weights_in=hbf hbf_capacity=500GB");
    const struct sc_serve_answer none = answer_to(&far);
    ok(!(none.fits > 0.0) && strcmp(none.bound, "HBF capacity") == 0, "flash can be too small, too");
}

/* ---- Errors and random scenarios ---- */

static void test_errors(void)
{
    static const struct {
        const char *text, *field;
    } cases[] = {
        { "model=llama-8b gpus=6 tp=8", "tensor_parallel" },
        { "model=llama-8b gpus=8 tp=2 pp=5", "pipeline_stages" },
        { "model=llama-8b gpus=3 pp=4", "pipeline_stages" },
        { "model=llama-8b gpus=64 tp=64", "tensor_parallel" },
        { "model=llama-8b gpus=64 pp=64", "pipeline_stages" },
        { "model=llama-8b sliding_window=100 sliding_layers=33", "sliding_layers" },
        { "model=llama-8b experts=8", "experts_per_token" },
        { "model=llama-8b latency=500ns weights_in=hbf", "latency" },
        { "gpus=1", "layers" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct sc_serve s = scenario(cases[i].text);
        struct sc_serve_answer a;
        struct sc_error error = { 0 };
        const enum sc_status status = sc_serve_system.estimate(&s, &a, NULL, &error);
        ok(status != SC_OK && error.field != NULL, "%s: refused", cases[i].text);
        is_str(error.field, cases[i].field, "%s: by name", cases[i].text);
    }
}

static double random_value(const struct sc_field *field)
{
    if (field->kind == SC_CHOICE)
        return floor(uniform() * (double)field->choice_count);
    if (isnan(field->fallback) && field->derived != NULL && uniform() < 0.5)
        return field->fallback;
    const double x = field->minimum > 0.0
                         ? field->minimum * pow(field->maximum / field->minimum, uniform())
                         : field->maximum * pow(uniform(), 8.0);
    return field->kind == SC_INTEGER ? floor(x) : x;
}

/* Every key anywhere in its range: an answer is whole, or a key is named. */
static void test_random(void)
{
    size_t unnamed = 0, unsound = 0, answered = 0, fitted = 0;
    for (size_t i = 0; i < 4000; i++) {
        struct sc_serve s = scenario(i % 2 == 0 ? "model=llama-70b" : "model=deepseek-v3");
        for (size_t f = 0; f < sc_serve_system.field_count; f++)
            if (sc_serve_system.fields[f].kind != SC_PRESET && uniform() < 0.15)
                sc_field_set(&sc_serve_system.fields[f], &s,
                             random_value(&sc_serve_system.fields[f]));
        s.gpus = fmin(s.gpus, 64.0);
        struct sc_serve_answer a;
        struct sc_error error = { 0 };
        if (sc_serve_system.estimate(&s, &a, NULL, &error) != SC_OK) {
            unnamed += error.field == NULL || sc_system_field(&sc_serve_system, error.field) == NULL;
            continue;
        }
        answered++;
        const bool fits = a.fits > 0.0;
        fitted += fits;
        unsound += a.bound == NULL || *a.bound == '\0';
        for (size_t m = 0; m < sc_serve_system.metric_count; m++) {
            const struct sc_metric *metric = &sc_serve_system.metrics[m];
            const double value = metric->text ? 0.0 : value_of(&a, metric->column);
            const bool optional = !fits || strcmp(metric->column, "cost_per_million") == 0 ||
                                  strcmp(metric->column, "least_gpus") == 0;
            if (isinf(value) || value < 0.0 || (isnan(value) && !optional)) {
                note("%s %g", metric->column, value);
                unsound++;
            }
        }
    }
    ok(unnamed == 0, "every refusal names a key");
    ok(unsound == 0 && fitted > 300, "%zu answers are whole, of them %zu with a batch", answered,
       fitted);
}

int main(void)
{
    struct problem problem = { "" };
    catalog = catalog_create(NULL);
    resolver = catalog != NULL ? resolver_create(&sc_serve_system, catalog, &problem) : NULL;
    if (resolver == NULL)
        bail("%s", problem.text);
    plan(4 * (int)COUNT(models) + 9 + 7 + 6 + 1 + 10 + 7 + 25 + 15 + 4 + 18 +
         12 + 23 + 33 + 6 + 18 + 2);
    test_public_models();
    test_layout_memory();
    test_limits();
    test_shard_is_hbf();
    test_host_is_mapped();
    test_sums();
    test_prompts();
    test_pipeline();
    test_bytes_read();
    test_prompts_in_stages();
    test_directions();
    test_stages_of_faster_parts();
    test_layouts();
    test_more_gpus();
    test_limit();
    test_errors();
    test_random();
    resolver_destroy(resolver);
    catalog_destroy(catalog);
    return done();
}
