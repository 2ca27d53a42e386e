/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading config.json.  A case is the text of a file and all that must come of it in one string:
 * the keys with their values, or the fault.  The expected numbers of models that data/models.csv
 * has are those of its row; the texts are the published files cut down to what matters and to a
 * few keys that must be passed over.
 */
#include "read/model_config.h"
#include "tap.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A dense shape without what a case is about. */
#define SIZES "\"num_hidden_layers\":4,\"hidden_size\":64,\"num_attention_heads\":8," \
              "\"intermediate_size\":256,\"vocab_size\":100"
#define SHAPE SIZES ",\"model_type\":\"llama\""
#define SHAPE_VALUES "layers=4 hidden=64 heads=8 kv_heads=8 attention=mha ffn=256 " \
                     "ffn_matrices=3 vocab=100 experts=0"
#define MOE SIZES ",\"model_type\":\"qwen3_moe\",\"num_key_value_heads\":8"
#define EXPERTS ",\"num_experts\":16,\"num_experts_per_tok\":2,\"moe_intermediate_size\":32"
#define MOE_VALUES "layers=4 hidden=64 heads=8 kv_heads=8 attention=mha ffn=256 ffn_matrices=3 " \
                   "vocab=100 experts=16 experts_per_token=2 expert_ffn=32 "
#define LATENT SIZES ",\"model_type\":\"deepseek_v3\",\"kv_lora_rank\":32"

struct model {
    const char *name, *text, *display, *values;
};

static const struct model models[] = {
    { "Llama 3.1 8B",
      "{\"architectures\":[\"LlamaForCausalLM\"],\"eos_token_id\":128001,\"hidden_act\":\"silu\","
      "\"hidden_size\":4096,\"initializer_range\":0.02,\"intermediate_size\":14336,"
      "\"max_position_embeddings\":131072,\"model_type\":\"llama\",\"num_attention_heads\":32,"
      "\"num_hidden_layers\":32,\"num_key_value_heads\":8,\"rms_norm_eps\":1e-05,"
      "\"rope_scaling\":{\"factor\":8.0,\"rope_type\":\"llama3\"},\"rope_theta\":500000.0,"
      "\"torch_dtype\":\"bfloat16\",\"vocab_size\":128256}",
      "llama",
      "layers=32 hidden=4096 heads=32 kv_heads=8 attention=gqa ffn=14336 ffn_matrices=3 "
      "vocab=128256 experts=0 dtype_bits=16" },
    { "Llama 3.1 70B",
      "{\"_name_or_path\":\"meta-llama/Llama-3.1-70B\",\"hidden_act\":\"silu\","
      "\"hidden_size\":8192,\"intermediate_size\":28672,\"is_encoder_decoder\":false,"
      "\"model_type\":\"llama\",\"num_attention_heads\":64,\"num_hidden_layers\":80,"
      "\"num_key_value_heads\":8,\"dtype\":\"bfloat16\",\"vocab_size\":128256,"
      "\"quantization_config\":null,\"num_experts\":null}",
      "meta-llama/Llama-3.1-70B",
      "layers=80 hidden=8192 heads=64 kv_heads=8 attention=gqa ffn=28672 ffn_matrices=3 "
      "vocab=128256 experts=0 dtype_bits=16" },
    { "Llama 2 7B, whose file has no kv heads",
      "{\"hidden_act\":\"silu\",\"hidden_size\":4096,\"intermediate_size\":11008,"
      "\"model_type\":\"llama\",\"num_attention_heads\":32,\"num_hidden_layers\":32,"
      "\"torch_dtype\":\"float16\",\"vocab_size\":32000}",
      "llama",
      "layers=32 hidden=4096 heads=32 kv_heads=32 attention=mha ffn=11008 ffn_matrices=3 "
      "vocab=32000 experts=0 dtype_bits=16" },
    { "Mistral Small 3 24B",
      "{\"head_dim\":128,\"hidden_act\":\"silu\",\"hidden_size\":5120,"
      "\"intermediate_size\":32768,\"model_type\":\"mistral\",\"num_attention_heads\":32,"
      "\"num_hidden_layers\":40,\"num_key_value_heads\":8,\"sliding_window\":null,"
      "\"torch_dtype\":\"bfloat16\",\"vocab_size\":131072}",
      "mistral",
      "layers=40 hidden=5120 heads=32 kv_heads=8 head_dim=128 attention=gqa ffn=32768 "
      "ffn_matrices=3 vocab=131072 experts=0 dtype_bits=16" },
    { "Mistral Small 3.1, under text_config",
      "{\"image_token_index\":10,\"model_type\":\"mistral3\",\"text_config\":{\"head_dim\":128,"
      "\"hidden_act\":\"silu\",\"hidden_size\":5120,\"intermediate_size\":32768,"
      "\"model_type\":\"mistral\",\"num_attention_heads\":32,\"num_hidden_layers\":40,"
      "\"sliding_window\":null,\"num_key_value_heads\":8,\"vocab_size\":131072},\"torch_dtype\":\"bfloat16\","
      "\"vision_config\":{\"hidden_size\":1024,\"num_hidden_layers\":24}}",
      "mistral3",
      "layers=40 hidden=5120 heads=32 kv_heads=8 head_dim=128 attention=gqa ffn=32768 "
      "ffn_matrices=3 vocab=131072 experts=0 dtype_bits=16" },
    { "Qwen2.5 32B",
      "{\"hidden_act\":\"silu\",\"hidden_size\":5120,\"intermediate_size\":27648,"
      "\"max_window_layers\":64,\"model_type\":\"qwen2\",\"num_attention_heads\":40,"
      "\"num_hidden_layers\":64,\"num_key_value_heads\":8,\"torch_dtype\":\"bfloat16\","
      "\"use_sliding_window\":false,\"vocab_size\":152064}",
      "qwen2",
      "layers=64 hidden=5120 heads=40 kv_heads=8 attention=gqa ffn=27648 ffn_matrices=3 "
      "vocab=152064 experts=0 dtype_bits=16" },
    { "Qwen3 30B-A3B",
      "{\"decoder_sparse_step\":1,\"head_dim\":128,\"hidden_act\":\"silu\",\"hidden_size\":2048,"
      "\"intermediate_size\":6144,\"mlp_only_layers\":[],\"model_type\":\"qwen3_moe\","
      "\"moe_intermediate_size\":768,\"norm_topk_prob\":true,\"num_attention_heads\":32,"
      "\"num_experts\":128,\"num_experts_per_tok\":8,\"num_hidden_layers\":48,"
      "\"num_key_value_heads\":4,\"torch_dtype\":\"bfloat16\",\"vocab_size\":151936}",
      "qwen3_moe",
      "layers=48 hidden=2048 heads=32 kv_heads=4 head_dim=128 attention=gqa ffn=6144 "
      "ffn_matrices=3 vocab=151936 experts=128 experts_per_token=8 expert_ffn=768 "
      "shared_experts=0 dense_layers=0 dtype_bits=16" },
    { "Qwen1.5 MoE A2.7B, with the width of its shared experts",
      "{\"decoder_sparse_step\":1,\"hidden_act\":\"silu\",\"hidden_size\":2048,"
      "\"intermediate_size\":5632,\"model_type\":\"qwen2_moe\",\"moe_intermediate_size\":1408,"
      "\"num_attention_heads\":16,\"num_experts\":60,\"num_experts_per_tok\":4,"
      "\"num_hidden_layers\":24,\"num_key_value_heads\":16,"
      "\"shared_expert_intermediate_size\":5632,\"torch_dtype\":\"bfloat16\","
      "\"vocab_size\":151936}",
      "qwen2_moe",
      "layers=24 hidden=2048 heads=16 kv_heads=16 attention=mha ffn=5632 ffn_matrices=3 "
      "vocab=151936 experts=60 experts_per_token=4 expert_ffn=1408 shared_experts=4 "
      "dense_layers=0 dtype_bits=16" },
    { "Mixtral 8x7B",
      "{\"hidden_act\":\"silu\",\"hidden_size\":4096,\"intermediate_size\":14336,"
      "\"model_type\":\"mixtral\",\"num_attention_heads\":32,\"num_experts_per_tok\":2,"
      "\"num_hidden_layers\":32,\"num_key_value_heads\":8,\"num_local_experts\":8,"
      "\"router_aux_loss_coef\":0.02,\"torch_dtype\":\"bfloat16\",\"vocab_size\":32000}",
      "mixtral",
      "layers=32 hidden=4096 heads=32 kv_heads=8 attention=gqa ffn=14336 ffn_matrices=3 "
      "vocab=32000 experts=8 experts_per_token=2 expert_ffn=14336 shared_experts=0 "
      "dense_layers=0 dtype_bits=16" },
    { "DeepSeek V3",
      "{\"ep_size\":1,\"first_k_dense_replace\":3,\"hidden_act\":\"silu\",\"hidden_size\":7168,"
      "\"intermediate_size\":18432,\"kv_lora_rank\":512,\"model_type\":\"deepseek_v3\","
      "\"moe_intermediate_size\":2048,\"moe_layer_freq\":1,\"n_group\":8,"
      "\"n_routed_experts\":256,\"n_shared_experts\":1,\"num_attention_heads\":128,"
      "\"num_experts_per_tok\":8,\"num_hidden_layers\":61,\"num_key_value_heads\":128,"
      "\"num_nextn_predict_layers\":1,\"q_lora_rank\":1536,\"qk_nope_head_dim\":128,"
      "\"qk_rope_head_dim\":64,\"quantization_config\":{\"activation_scheme\":\"dynamic\","
      "\"fmt\":\"e4m3\",\"quant_method\":\"fp8\",\"weight_block_size\":[128,128]},"
      "\"topk_group\":4,\"torch_dtype\":\"bfloat16\",\"v_head_dim\":128,\"vocab_size\":129280}",
      "deepseek_v3",
      "layers=61 hidden=7168 heads=128 kv_heads=128 head_dim=128 q_lora=1536 kv_lora=512 "
      "attention=mla ffn=18432 ffn_matrices=3 vocab=129280 experts=256 experts_per_token=8 "
      "expert_ffn=2048 shared_experts=1 dense_layers=3 dtype_bits=8" },
    { "DeepSeek V2 Lite, without query compression",
      "{\"first_k_dense_replace\":1,\"hidden_act\":\"silu\",\"hidden_size\":2048,"
      "\"head_dim\":64,\"intermediate_size\":10944,\"kv_lora_rank\":512,"
      "\"model_type\":\"deepseek_v2\",\"moe_intermediate_size\":1408,\"n_routed_experts\":64,"
      "\"n_shared_experts\":2,\"num_attention_heads\":16,\"num_experts_per_tok\":6,"
      "\"num_hidden_layers\":27,\"num_key_value_heads\":16,\"q_lora_rank\":null,"
      "\"qk_nope_head_dim\":128,\"qk_rope_head_dim\":64,\"torch_dtype\":\"bfloat16\","
      "\"v_head_dim\":128,\"vocab_size\":102400}",
      "deepseek_v2",
      "layers=27 hidden=2048 heads=16 kv_heads=16 head_dim=128 q_lora=0 kv_lora=512 "
      "attention=mla ffn=10944 ffn_matrices=3 vocab=102400 experts=64 experts_per_token=6 "
      "expert_ffn=1408 shared_experts=2 dense_layers=1 dtype_bits=16" },
    { "gpt-oss 20B",
      "{\"attention_bias\":true,\"experts_per_token\":4,\"head_dim\":64,\"hidden_act\":\"silu\","
      "\"hidden_size\":2880,\"intermediate_size\":2880,\"layer_types\":[\"sliding_attention\","
      "\"full_attention\"],\"model_type\":\"gpt_oss\",\"num_attention_heads\":64,"
      "\"num_experts_per_tok\":4,\"num_hidden_layers\":24,\"num_key_value_heads\":8,"
      "\"num_local_experts\":32,\"quantization_config\":{\"modules_to_not_convert\":"
      "[\"lm_head\"],\"quant_method\":\"mxfp4\"},\"vocab_size\":201088}",
      "gpt_oss",
      "layers=24 hidden=2880 heads=64 kv_heads=8 head_dim=64 attention=gqa ffn=2880 "
      "ffn_matrices=3 vocab=201088 experts=32 experts_per_token=4 expert_ffn=2880 "
      "shared_experts=0 dense_layers=0 dtype_bits=4.25 sliding_window=128 sliding_layers=12" },
    { "Gemma 3 27B, whose text_config has no vocabulary",
      "{\"architectures\":[\"Gemma3ForConditionalGeneration\"],\"model_type\":\"gemma3\","
      "\"text_config\":{\"head_dim\":128,\"hidden_size\":5376,\"intermediate_size\":21504,"
      "\"model_type\":\"gemma3_text\",\"num_attention_heads\":32,\"num_hidden_layers\":62,"
      "\"num_key_value_heads\":16,\"sliding_window\":1024},\"torch_dtype\":\"bfloat16\","
      "\"vision_config\":{\"hidden_size\":1152,\"intermediate_size\":4304}}",
      "gemma3",
      "layers=62 hidden=5376 heads=32 kv_heads=16 head_dim=128 attention=gqa ffn=21504 "
      "ffn_matrices=3 vocab=262208 experts=0 dtype_bits=16 sliding_window=1024 "
      "sliding_layers=52 tied_embeddings=1" },
    { "Gemma 3 4B, whose text_config has no heads either",
      "{\"model_type\":\"gemma3\",\"text_config\":{\"hidden_size\":2560,"
      "\"intermediate_size\":10240,\"model_type\":\"gemma3_text\",\"num_hidden_layers\":34},"
      "\"torch_dtype\":\"bfloat16\"}",
      "gemma3",
      "layers=34 hidden=2560 heads=8 kv_heads=4 head_dim=256 attention=gqa ffn=10240 "
      "ffn_matrices=3 vocab=262208 experts=0 dtype_bits=16 sliding_window=4096 "
      "sliding_layers=29 tied_embeddings=1" },
    { "Llama 4 Scout",
      "{\"model_type\":\"llama4\",\"text_config\":{\"head_dim\":128,\"hidden_act\":\"silu\","
      "\"hidden_size\":5120,\"interleave_moe_layer_step\":1,\"intermediate_size\":8192,"
      "\"intermediate_size_mlp\":16384,\"model_type\":\"llama4_text\",\"moe_layers\":null,"
      "\"num_attention_heads\":40,\"num_experts_per_tok\":1,\"num_hidden_layers\":48,"
      "\"num_key_value_heads\":8,\"num_local_experts\":16,\"torch_dtype\":\"bfloat16\","
      "\"vocab_size\":202048}}",
      "llama4",
      "layers=48 hidden=5120 heads=40 kv_heads=8 head_dim=128 attention=gqa ffn=16384 "
      "ffn_matrices=3 vocab=202048 experts=16 experts_per_token=1 expert_ffn=8192 "
      "shared_experts=1 dense_layers=0 dtype_bits=16" },
    { "Falcon 7B, multi-query in spite of its number of kv heads",
      "{\"alibi\":false,\"hidden_size\":4544,\"model_type\":\"falcon\",\"multi_query\":true,"
      "\"new_decoder_architecture\":false,\"num_attention_heads\":71,\"num_hidden_layers\":32,"
      "\"num_kv_heads\":71,\"torch_dtype\":\"bfloat16\",\"vocab_size\":65024}",
      "falcon",
      "layers=32 hidden=4544 heads=71 kv_heads=1 attention=gqa ffn=18176 ffn_matrices=2 "
      "vocab=65024 experts=0 dtype_bits=16 tied_embeddings=1" },
    { "Falcon 40B, of the later kind",
      "{\"hidden_size\":8192,\"model_type\":\"falcon\",\"multi_query\":true,"
      "\"new_decoder_architecture\":true,\"num_attention_heads\":128,\"num_hidden_layers\":60,"
      "\"num_kv_heads\":8,\"torch_dtype\":\"bfloat16\",\"vocab_size\":65024}",
      "falcon",
      "layers=60 hidden=8192 heads=128 kv_heads=8 attention=gqa ffn=32768 ffn_matrices=2 "
      "vocab=65024 experts=0 dtype_bits=16 tied_embeddings=1" },
    { "GPT-2, with spellings of its own",
      "{\"activation_function\":\"gelu_new\",\"model_type\":\"gpt2\",\"n_ctx\":1024,"
      "\"n_embd\":768,\"n_head\":12,\"n_inner\":null,\"n_layer\":12,\"vocab_size\":50257,"
      "\"task_specific_params\":{\"text-generation\":{\"top_k\":50}},\"top_k\":50}",
      "gpt2",
      "layers=12 hidden=768 heads=12 kv_heads=12 attention=mha ffn=3072 ffn_matrices=2 "
      "vocab=50257 experts=0 tied_embeddings=1" },
    { "StarCoder 2, GELU without a gate",
      "{\"hidden_act\":\"gelu_pytorch_tanh\",\"hidden_size\":3072,\"intermediate_size\":12288,"
      "\"model_type\":\"starcoder2\",\"num_attention_heads\":24,\"num_hidden_layers\":30,"
      "\"num_key_value_heads\":2,\"torch_dtype\":\"float32\",\"vocab_size\":49152}",
      "starcoder2",
      "layers=30 hidden=3072 heads=24 kv_heads=2 attention=gqa ffn=12288 ffn_matrices=2 "
      "vocab=49152 experts=0 dtype_bits=32 tied_embeddings=1" },
    { "Llama 3.1 8B in GPTQ",
      "{\"hidden_act\":\"silu\",\"hidden_size\":4096,\"intermediate_size\":14336,"
      "\"model_type\":\"llama\",\"num_attention_heads\":32,\"num_hidden_layers\":32,"
      "\"num_key_value_heads\":8,\"quantization_config\":{\"bits\":4,\"damp_percent\":0.1,"
      "\"desc_act\":true,\"group_size\":128,\"quant_method\":\"gptq\",\"sym\":true},"
      "\"torch_dtype\":\"float16\",\"vocab_size\":128256}",
      "llama",
      "layers=32 hidden=4096 heads=32 kv_heads=8 attention=gqa ffn=14336 ffn_matrices=3 "
      "vocab=128256 experts=0 dtype_bits=4" },
};

/* Texts that differ from a plain shape in one thing. */
static const struct {
    const char *text, *values;
} variants[] = {
    { "{" SHAPE "}", SHAPE_VALUES },
    { " \n{" SHAPE "}\n\n", SHAPE_VALUES },
    { "{" SHAPE ",\"n_layer\":4.0}", SHAPE_VALUES },
    { "{" SHAPE ",\"num_key_value_heads\":null}", SHAPE_VALUES },
    { "{" SIZES ",\"hidden_act\":\"silu\"}", SHAPE_VALUES },
    { "{" SIZES ",\"hidden_act\":null,\"activation\":\"swiglu\",\"model_type\":\"other\"}",
      SHAPE_VALUES },
    { "{" SHAPE ",\"multi_query\":true}",
      "layers=4 hidden=64 heads=8 kv_heads=1 attention=gqa ffn=256 ffn_matrices=3 vocab=100 "
      "experts=0" },
    { "{" SIZES ",\"model_type\":\"mistral\"}", SHAPE_VALUES " sliding_window=4096 sliding_layers=4" },
    { "{" SIZES ",\"model_type\":\"gemma2\"}",
      "layers=4 hidden=64 heads=8 kv_heads=4 head_dim=256 attention=gqa ffn=256 ffn_matrices=3 "
      "vocab=100 experts=0 sliding_window=4096 sliding_layers=2 tied_embeddings=1" },
    { "{" SIZES ",\"model_type\":\"mistral\",\"sliding_window\":null}", SHAPE_VALUES },
    { "{" SIZES ",\"model_type\":\"qwen2\",\"num_key_value_heads\":8,\"sliding_window\":32,"
      "\"max_window_layers\":3,\"use_sliding_window\":false}", SHAPE_VALUES },
    { "{" SIZES ",\"model_type\":\"qwen2\",\"num_key_value_heads\":8,\"sliding_window\":32,"
      "\"max_window_layers\":3,\"use_sliding_window\":true}",
      SHAPE_VALUES " sliding_window=32 sliding_layers=1" },
    { "{" SHAPE ",\"sliding_window\":32,\"layer_types\":[\"sliding_attention\","
      "\"sliding_attention\",\"full_attention\",\"sliding_attention\"]}",
      SHAPE_VALUES " sliding_window=32 sliding_layers=3" },
    { "{" SHAPE ",\"sliding_window\":32,\"sliding_window_pattern\":4}",
      SHAPE_VALUES " sliding_window=32 sliding_layers=3" },
    { "{" SHAPE ",\"tie_word_embeddings\":true}", SHAPE_VALUES " tied_embeddings=1" },
    { "{\"tie_word_embeddings\":true,\"text_config\":{" SHAPE ",\"tie_word_embeddings\":false}}",
      SHAPE_VALUES },
    { "{" SHAPE ",\"head_dim\":null,\"q_lora_rank\":null,\"kv_lora_rank\":null}", SHAPE_VALUES },
    { "{" SHAPE ",\"num_experts\":0,\"num_experts_per_tok\":0}", SHAPE_VALUES },
    { "{" SHAPE ",\"n_routed_experts\":null,\"moe_layer_freq\":1}", SHAPE_VALUES },
    { "{" SHAPE ",\"torch_dtype\":null}", SHAPE_VALUES },
    { "{" SHAPE ",\"torch_dtype\":\"torch.float8_e4m3fn\"}", SHAPE_VALUES " dtype_bits=8" },
    { "{" SHAPE ",\"dtype\":\"float16\"}", SHAPE_VALUES " dtype_bits=16" },
    { "{" SHAPE ",\"quantization_config\":{\"quant_method\":\"awq\",\"bits\":4}}",
      SHAPE_VALUES " dtype_bits=4" },
    { "{" SHAPE ",\"quantization_config\":{\"quant_method\":\"awq\",\"w_bit\":3}}",
      SHAPE_VALUES " dtype_bits=3" },
    { "{" SHAPE ",\"quantization_config\":{\"load_in_4bit\":false,\"load_in_8bit\":true}}",
      SHAPE_VALUES " dtype_bits=8" },
    { "{" SHAPE ",\"quantization_config\":{\"quant_method\":\"bitsandbytes\","
      "\"load_in_4bit\":true,\"load_in_8bit\":false},\"torch_dtype\":\"bfloat16\"}",
      SHAPE_VALUES " dtype_bits=4" },
    { "{" SHAPE ",\"compression_config\":{\"quant_method\":\"compressed-tensors\","
      "\"config_groups\":{\"group_0\":{\"weights\":{\"num_bits\":8,\"type\":\"float\"}},"
      "\"group_1\":{\"weights\":null}}}}", SHAPE_VALUES " dtype_bits=8" },
    { "{" MOE EXPERTS "}", MOE_VALUES "shared_experts=0 dense_layers=0" },
    { "{" MOE EXPERTS ",\"mlp_only_layers\":[0,3]}", MOE_VALUES "shared_experts=0 dense_layers=2" },
    { "{" MOE EXPERTS ",\"first_k_dense_replace\":1,\"num_shared_experts\":2,"
      "\"mlp_layer_types\":[\"dense\",\"sparse\",\"sparse\",\"sparse\"]}",
      MOE_VALUES "shared_experts=2 dense_layers=1" },
    { "{\"llm_config\":{" SHAPE "},\"vision_config\":{\"hidden_size\":9}}", SHAPE_VALUES },
    { "{" SHAPE ",\"text_config\":{\"num_hidden_layers\":99}}", SHAPE_VALUES },
    { "{\"model_type\":\"x\",\"text_config\":{" SHAPE ",\"dtype\":\"float32\","
      "\"quantization_config\":{\"quant_method\":\"fp8\"}}}", SHAPE_VALUES " dtype_bits=8" },
};

#define VALUE SC_MODEL_CONFIG_EVALUE
#define MISSING SC_MODEL_CONFIG_EMISSING
#define UNSUPPORTED SC_MODEL_CONFIG_EUNSUPPORTED
#define SYNTAX SC_MODEL_CONFIG_ESYNTAX
#define QUANTIZATION(members) "{" SHAPE ",\"quantization_config\":{" members "}}"

static const struct {
    const char *text;
    enum sc_model_config_status status;
    size_t line, column;
    const char *key, *reason;
} faults[] = {
    /* the file */
    { "", SC_MODEL_CONFIG_EEMPTY, 0, 0, "", "is empty" },
    { " \n\t\r\n", SC_MODEL_CONFIG_EEMPTY, 0, 0, "", "is empty" },
    { "[1]", SC_MODEL_CONFIG_EOBJECT, 0, 0, "", "is not a JSON object, but an array" },
    { "\"llama\"", SC_MODEL_CONFIG_EOBJECT, 0, 0, "", "is not a JSON object, but \"llama\"" },
    { "null", SC_MODEL_CONFIG_EOBJECT, 0, 0, "", "is not a JSON object, but null" },
    { "{\"a\": 1,\n \"b\": }", SYNTAX, 2, 7, "",
      "is not valid JSON: unexpected token near '}'" },
    { "{\"a\": 1", SYNTAX, 1, 7, "", "is not valid JSON: '}' expected near end of file" },
    { "{\"a\": 1} x", SYNTAX, 1, 10, "", "is not valid JSON: end of file expected near 'x'" },
    { "{\"a\": 1,\n\"a\": 2}", SYNTAX, 2, 3, "",
      "is not valid JSON: duplicate object key near '\"a\"'" },
    { "{\"a\": NaN}", SYNTAX, 1, 9, "", "is not valid JSON: invalid token near 'NaN'" },
    { "{\"a\": 1e400}", SYNTAX, 1, 11, "",
      "is not valid JSON: real number overflow near '1e400'" },
    { "{\"a\": \"\x1b[2J\"}", SYNTAX, 1, 7, "",
      "is not valid JSON: control character 0x1b near '\"'" },
    { "{\"\xff\": 1}", SYNTAX, 1, 2, "",
      "is not valid JSON: unable to decode byte 0xff near '\"'" },
    /* missing keys */
    { "{}", MISSING, 0, 0, "num_hidden_layers",
      "has no num_hidden_layers (or n_layer, num_layers, n_layers)" },
    { "{\"num_hidden_layers\":null}", MISSING, 0, 0, "num_hidden_layers",
      "has no num_hidden_layers (or n_layer, num_layers, n_layers)" },
    { "{\"n_layer\":1}", MISSING, 0, 0, "hidden_size",
      "has no hidden_size (or n_embd, d_model, n_embed)" },
    { "{\"n_layer\":1,\"n_embd\":8}", MISSING, 0, 0, "num_attention_heads",
      "has no num_attention_heads (or n_head, n_heads, num_heads)" },
    { "{\"n_layer\":1,\"n_embd\":8,\"n_head\":2}", MISSING, 0, 0, "hidden_act",
      "has no hidden_act (or hidden_activation, activation_function, activation)" },
    { "{\"n_layer\":1,\"n_embd\":8,\"n_head\":2,\"activation\":\"silu\"}", MISSING, 0, 0,
      "vocab_size", "has no vocab_size" },
    { "{\"n_layer\":1,\"n_embd\":8,\"n_head\":2,\"activation\":\"silu\",\"vocab_size\":9}",
      MISSING, 0, 0, "intermediate_size",
      "has no intermediate_size (or n_inner, ffn_dim, ffn_hidden_size)" },
    { "{\"text_config\":{}}", MISSING, 0, 0, "text_config.num_hidden_layers",
      "text_config has no num_hidden_layers (or n_layer, num_layers, n_layers)" },
    { "{" SIZES ",\"model_type\":\"mixtral\"}", MISSING, 0, 0, "num_experts",
      "has no num_experts (or num_local_experts, n_routed_experts)" },
    { "{" MOE ",\"num_experts\":16}", MISSING, 0, 0, "num_experts_per_tok",
      "has no num_experts_per_tok (or experts_per_token, num_experts_per_token, moe_topk)" },
    { "{" MOE ",\"num_experts\":16,\"moe_topk\":2}", MISSING, 0, 0, "moe_intermediate_size",
      "has no moe_intermediate_size" },
    { "{" LATENT "}", MISSING, 0, 0, "qk_nope_head_dim", "has no qk_nope_head_dim" },
    { "{" LATENT ",\"qk_nope_head_dim\":8}", MISSING, 0, 0, "v_head_dim", "has no v_head_dim" },
    { "{" LATENT ",\"qk_nope_head_dim\":8,\"v_head_dim\":8}", MISSING, 0, 0,
      "qk_rope_head_dim", "has no qk_rope_head_dim" },
    { "{" LATENT ",\"qk_nope_head_dim\":8,\"v_head_dim\":8,\"qk_rope_head_dim\":64}", MISSING, 0,
      0, "q_lora_rank", "has no q_lora_rank" },
    { "{" SHAPE ",\"q_lora_rank\":8}", MISSING, 0, 0, "kv_lora_rank", "has no kv_lora_rank" },
    { QUANTIZATION(""), MISSING, 0, 0, "quantization_config.quant_method",
      "quantization_config has no quant_method" },
    { QUANTIZATION("\"quant_method\":\"gptq\""), MISSING, 0, 0, "quantization_config.bits",
      "quantization_config has no bits (or w_bit)" },
    { QUANTIZATION("\"quant_method\":\"compressed-tensors\""), MISSING, 0, 0,
      "quantization_config.num_bits", "quantization_config has no num_bits" },
    /* strange values */
    { "{\"num_hidden_layers\":-3}", VALUE, 0, 0, "num_hidden_layers",
      "num_hidden_layers is -3; expected a whole number from 1 to 100000" },
    { "{\"n_layer\":0}", VALUE, 0, 0, "n_layer",
      "n_layer is 0; expected a whole number from 1 to 100000" },
    { "{\"n_layer\":1.5}", VALUE, 0, 0, "n_layer",
      "n_layer is 1.5; expected a whole number from 1 to 100000" },
    { "{\"n_layer\":\"12\"}", VALUE, 0, 0, "n_layer",
      "n_layer is \"12\"; expected a whole number from 1 to 100000" },
    { "{\"n_layer\":\"\\u001b[2J\\u00e9\"}", VALUE, 0, 0, "n_layer",
      "n_layer is \"?[2J\?\?\"; expected a whole number from 1 to 100000" },
    { "{\"n_layer\":true}", VALUE, 0, 0, "n_layer",
      "n_layer is true; expected a whole number from 1 to 100000" },
    { "{\"n_layer\":[12]}", VALUE, 0, 0, "n_layer",
      "n_layer is an array; expected a whole number from 1 to 100000" },
    { "{\"n_layer\":{}}", VALUE, 0, 0, "n_layer",
      "n_layer is an object; expected a whole number from 1 to 100000" },
    { "{\"n_layer\":99999999999999999999999}", VALUE, 0, 0, "n_layer",
      "n_layer is 1e+23; expected a whole number from 1 to 100000" },
    { "{\"text_config\":{\"hidden_size\":0.5}}", VALUE, 0, 0, "text_config.hidden_size",
      "text_config.hidden_size is 0.5; expected a whole number from 1 to 10000000" },
    { "{" SHAPE ",\"n_layer\":5}", VALUE, 0, 0, "n_layer",
      "n_layer is 5, but num_hidden_layers is 4; expected them to agree" },
    { "{" SHAPE ",\"n_head_kv\":3}", VALUE, 0, 0, "n_head_kv",
      "n_head_kv is 3; expected a divisor of num_attention_heads, 8" },
    { "{\"n_layer\":1,\"n_embd\":9,\"n_head\":2,\"activation\":\"silu\"}", VALUE, 0, 0, "n_embd",
      "n_embd is 9; expected a multiple of n_head, 2" },
    { "{" SHAPE ",\"multi_query\":1}", VALUE, 0, 0, "multi_query",
      "multi_query is 1; expected true or false" },
    { "{" SIZES ",\"model_type\":7}", VALUE, 0, 0, "model_type",
      "model_type is 7; expected a string" },
    { "{" SIZES ",\"hidden_act\":[]}", VALUE, 0, 0, "hidden_act",
      "hidden_act is an empty array; expected a string" },
    { "{" LATENT ",\"qk_rope_head_dim\":32}", VALUE, 0, 0, "qk_rope_head_dim",
      "qk_rope_head_dim is 32; expected 64" },
    { "{" LATENT ",\"qk_nope_head_dim\":192,\"v_head_dim\":256,\"qk_rope_head_dim\":64}", VALUE,
      0, 0, "v_head_dim", "v_head_dim is 256; expected the same as qk_nope_head_dim, 192" },
    { "{" MOE EXPERTS ",\"decoder_sparse_step\":2}", VALUE, 0, 0, "decoder_sparse_step",
      "decoder_sparse_step is 2; expected 1" },
    { "{" MOE ",\"num_experts\":2,\"moe_topk\":3}", VALUE, 0, 0, "moe_topk",
      "moe_topk is 3; expected no more than num_experts, 2" },
    { "{" MOE ",\"num_experts\":2,\"moe_topk\":0}", VALUE, 0, 0, "moe_topk",
      "moe_topk is 0; expected from 1 to num_experts, 2" },
    { "{" MOE EXPERTS ",\"shared_expert_intermediate_size\":40}", VALUE, 0, 0,
      "shared_expert_intermediate_size",
      "shared_expert_intermediate_size is 40; expected a multiple of moe_intermediate_size, 32" },
    { "{" MOE EXPERTS ",\"first_k_dense_replace\":5}", VALUE, 0, 0, "first_k_dense_replace",
      "first_k_dense_replace is 5; expected no more than num_hidden_layers, 4" },
    { "{" MOE EXPERTS ",\"mlp_only_layers\":2}", VALUE, 0, 0, "mlp_only_layers",
      "mlp_only_layers is 2; expected an array" },
    { "{" MOE EXPERTS ",\"mlp_only_layers\":[1,1]}", VALUE, 0, 0, "mlp_only_layers",
      "mlp_only_layers has 1; expected layers from 0 to 3 in ascending order" },
    { "{" MOE EXPERTS ",\"mlp_only_layers\":[4]}", VALUE, 0, 0, "mlp_only_layers",
      "mlp_only_layers has 4; expected layers from 0 to 3 in ascending order" },
    { "{" MOE EXPERTS ",\"mlp_only_layers\":[1],\"first_k_dense_replace\":1}", VALUE, 0, 0,
      "mlp_only_layers", "has both mlp_only_layers and first_k_dense_replace; expected one of "
      "them" },
    { "{" MOE EXPERTS ",\"moe_layers\":[1,3]}", VALUE, 0, 0, "moe_layers",
      "moe_layers is an array; expected an array of the layers with experts" },
    { "{" MOE EXPERTS ",\"mlp_layer_types\":[\"dense\",\"sparse\"]}", VALUE, 0, 0,
      "mlp_layer_types", "mlp_layer_types is an array; expected \"sparse\" for each layer with "
      "experts" },
    { "{" SHAPE ",\"torch_dtype\":\"int8\"}", VALUE, 0, 0, "torch_dtype",
      "torch_dtype is \"int8\"; expected float32, float16, bfloat16 or float8_..." },
    { "{" SHAPE ",\"quantization_config\":4}", VALUE, 0, 0, "quantization_config",
      "quantization_config is 4; expected an object" },
    { QUANTIZATION("\"quant_method\":\"awq\",\"bits\":0"), VALUE, 0, 0,
      "quantization_config.bits",
      "quantization_config.bits is 0; expected a whole number from 1 to 16" },
    { QUANTIZATION("\"quant_method\":\"bitsandbytes\""), VALUE, 0, 0,
      "quantization_config.load_in_4bit",
      "quantization_config has neither of load_in_4bit and load_in_8bit set; expected one of "
      "them" },
    { QUANTIZATION("\"load_in_8bit\":true,\"load_in_4bit\":true"), VALUE, 0, 0,
      "quantization_config.load_in_4bit",
      "quantization_config has both load_in_4bit and load_in_8bit set; expected one of them" },
    /* what cannot be expressed */
    { "{" SHAPE ",\"is_encoder_decoder\":true}", UNSUPPORTED, 0, 0, "is_encoder_decoder",
      "is_encoder_decoder is true: encoder-decoder models are not supported" },
    { "{\"model_type\":\"mamba2\"}", UNSUPPORTED, 0, 0, "model_type",
      "model_type mamba2 is not supported: it has state-space or linear-attention layers" },
    { "{\"model_type\":\"gemma3n\"}", UNSUPPORTED, 0, 0, "model_type",
      "model_type gemma3n is not supported: its layers differ from each other" },
    { "{\"text_config\":{\"model_type\":\"jamba\"}}", UNSUPPORTED, 0, 0, "text_config.model_type",
      "model_type jamba is not supported: it has state-space or linear-attention layers" },
    { "{" SHAPE ",\"mamba_d_state\":16}", UNSUPPORTED, 0, 0, "mamba_d_state",
      "has mamba_d_state: state-space layers are not supported" },
    { "{" SHAPE ",\"layer_types\":[\"full_attention\",\"linear_attention\"]}", UNSUPPORTED, 0, 0,
      "layer_types", "layer_types has linear_attention: such layers are not supported" },
    { "{" SIZES ",\"model_type\":\"bert\",\"hidden_act\":\"gelu\"}", UNSUPPORTED, 0, 0,
      "hidden_act",
      "model_type \"bert\" with hidden_act \"gelu\" is not known to be gated or not" },
    { "{" SHAPE ",\"moe_num_experts\":64}", UNSUPPORTED, 0, 0, "moe_num_experts",
      "has moe_num_experts, but no num_experts (or num_local_experts, n_routed_experts)" },
    { QUANTIZATION("\"quant_method\":\"aqlm\""), UNSUPPORTED, 0, 0,
      "quantization_config.quant_method",
      "quant_method \"aqlm\" is not supported: bits per weight unknown" },
    { QUANTIZATION("\"quant_method\":\"compressed-tensors\",\"config_groups\":{"
                   "\"a\":{\"weights\":{\"num_bits\":4}},\"b\":{\"weights\":{\"num_bits\":8}}}"),
      UNSUPPORTED, 0, 0, "quantization_config.num_bits",
      "config_groups has groups of 4 and of 8 bits: one width is supported" },
};

enum {
    MODELS = sizeof models / sizeof models[0],
    VARIANTS = sizeof variants / sizeof variants[0],
    FAULTS = sizeof faults / sizeof faults[0],
};

/* --- checks -------------------------------------------------------------------------------- */

static FILE *file_of(const char *text, size_t length)
{
    FILE *const file = tmpfile();
    if (file == NULL || fwrite(text, 1, length, file) != length || fseek(file, 0, SEEK_SET) != 0)
        bail("no temporary file");
    return file;
}

static enum sc_model_config_status text_read(const char *text, size_t length,
                                             struct sc_model_config *config,
                                             struct sc_model_config_error *error)
{
    FILE *const file = file_of(text, length);
    memset(config, 0xa5, sizeof *config);
    const enum sc_model_config_status status = sc_model_config_read(file, config, error);
    fclose(file);
    return status;
}

/* "key=value key=value ..." */
static void values_write(const struct sc_model_config *config, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < config->count && length < size; i++) {
        const struct sc_model_config_value *const value = &config->values[i];
        const char *const space = i == 0 ? "" : " ";
        if (value->choice != NULL && isnan(value->number))
            length += (size_t)snprintf(text + length, size - length, "%s%s=%s", space, value->key,
                                       value->choice);
        else
            length += (size_t)snprintf(text + length, size - length, "%s%s=%.15g", space,
                                       value->key, value->number);
    }
}

static void values_check(const char *name, const char *text, const char *want)
{
    struct sc_model_config config;
    struct sc_model_config_error error = { .reason = "" };
    char got[512];
    const enum sc_model_config_status status = text_read(text, strlen(text), &config, &error);
    values_write(&config, got, sizeof got);
    is_str(status == SC_MODEL_CONFIG_OK ? got : error.reason, want, "%s", name);
}

static void model_check(const struct model *model)
{
    struct sc_model_config config;
    values_check(model->name, model->text, model->values);
    if (text_read(model->text, strlen(model->text), &config, NULL) != SC_MODEL_CONFIG_OK)
        config.name[0] = '\0';
    is_str(config.name, model->display, "%s: name", model->name);
}

static bool is_zero(const struct sc_model_config *config)
{
    static const struct sc_model_config zero;
    return config->count == 0 && config->name[0] == '\0' &&
           memcmp(config->values, zero.values, sizeof zero.values) == 0;
}

static void fault_check(size_t i)
{
    struct sc_model_config config;
    struct sc_model_config_error error;
    char got[320], want[320];
    const enum sc_model_config_status status = text_read(faults[i].text, strlen(faults[i].text),
                                                         &config, &error);
    if (status == SC_MODEL_CONFIG_OK)
        error = (struct sc_model_config_error){ .reason = "no fault" };
    snprintf(got, sizeof got, "%d %zu:%zu [%s] %s", (int)status, error.line, error.column,
             error.key, error.reason);
    snprintf(want, sizeof want, "%d %zu:%zu [%s] %s", (int)faults[i].status, faults[i].line,
             faults[i].column, faults[i].key, faults[i].reason);
    is_str(got, want, "%s", faults[i].reason);
    ok(is_zero(&config), "nothing of a file that %s", faults[i].reason);
}

static char *repeat(const char *piece, size_t count)
{
    const size_t length = strlen(piece);
    char *const text = malloc(count * length + 1);
    if (text == NULL)
        bail("out of memory");
    for (size_t i = 0; i < count; i++)
        memcpy(text + i * length, piece, length);
    text[count * length] = '\0';
    return text;
}

/* A million brackets are a fault, not a crash. */
static void deep_check(void)
{
    static const char *const pieces[] = { "[", "{\"a\":" };
    for (size_t i = 0; i < 2; i++) {
        struct sc_model_config config;
        struct sc_model_config_error error = { .reason = "" };
        char *const text = repeat(pieces[i], 1000000);
        is_int(text_read(text, strlen(text), &config, &error), SYNTAX, "a million %s", pieces[i]);
        ok(strstr(error.reason, "maximum parsing depth reached") != NULL && error.line == 1,
           "says that %s is too deep", pieces[i]);
        free(text);
    }
}

/* The limit itself is read, a byte more is not. */
static void size_check(void)
{
    struct sc_model_config config;
    struct sc_model_config_error error = { .reason = "" };
    char *const text = repeat(" ", SC_MODEL_CONFIG_MAX_BYTES + 1);
    memcpy(text, "{" SHAPE "}", strlen("{" SHAPE "}"));
    is_int(text_read(text, SC_MODEL_CONFIG_MAX_BYTES, &config, &error), SC_MODEL_CONFIG_OK,
           "16 MiB are read");
    is_int(text_read(text, SC_MODEL_CONFIG_MAX_BYTES + 1, &config, &error),
           SC_MODEL_CONFIG_ELARGE, "a byte more is not");
    is_str(error.reason, "is larger than 16 MiB", "and says so");
    free(text);
}

static void read_error_check(void)
{
    struct sc_model_config config;
    struct sc_model_config_error error = { .reason = "" };
    FILE *const directory = fopen("/", "rb");
    if (directory == NULL) {
        skip(2, "a directory cannot be opened");
        return;
    }
    is_int(sc_model_config_read(directory, &config, &error), SC_MODEL_CONFIG_EREAD,
           "a directory cannot be read");
    is_str(error.reason, "cannot be read: Is a directory", "and says so");
    fclose(directory);
}

/* Allocations of jansson that still succeed. */
static size_t allocations_left;

static void *scarce_malloc(size_t size)
{
    if (allocations_left == 0)
        return NULL;
    allocations_left--;
    return malloc(size);
}

/* Whichever allocation fails first, the file is refused and nothing leaks. */
static void memory_check(void)
{
    static const char text[] = "{" MOE EXPERTS ",\"mlp_only_layers\":[0,3]}";
    struct sc_model_config config;
    struct sc_model_config_error error = { .reason = "" };
    enum sc_model_config_status status = SC_MODEL_CONFIG_ENOMEMORY;
    bool are_refused = true, is_first = false;
    size_t count = 0;
    json_set_alloc_funcs(scarce_malloc, free);
    for (; status != SC_MODEL_CONFIG_OK && count < 1000; count++) {
        allocations_left = count;
        status = text_read(text, strlen(text), &config, &error);
        is_first = is_first || (count == 0 && status == SC_MODEL_CONFIG_ENOMEMORY);
        are_refused = are_refused &&
                      (status == SC_MODEL_CONFIG_OK ||
                       ((status == SC_MODEL_CONFIG_ENOMEMORY || status == SYNTAX) &&
                        is_zero(&config) && error.reason[0] != '\0'));
    }
    json_set_alloc_funcs(malloc, free);
    ok(is_first, "want of memory is named");
    ok(are_refused && status == SC_MODEL_CONFIG_OK && count > 20,
       "each of %zu allocations may fail", count - 1);
}

/* Names, keys and NUL bytes of any length and kind. */
static void text_check(void)
{
    struct sc_model_config config;
    struct sc_model_config_error error = { .reason = "" };
    char *const long_key = repeat("expert", 1000);
    char text[8192], nul[] = "{" SHAPE "} ";

    snprintf(text, sizeof text, "{" SHAPE ",\"_name_or_path\":\"\\u001b%s\"}", long_key);
    is_int(text_read(text, strlen(text), &config, &error), SC_MODEL_CONFIG_OK, "a long name");
    ok(strlen(config.name) == sizeof config.name - 1 && config.name[0] == '?',
       "is cut and cleaned");
    snprintf(text, sizeof text, "{" SHAPE ",\"%s\":1}", long_key);
    is_int(text_read(text, strlen(text), &config, &error), UNSUPPORTED, "a long key");
    ok(strlen(error.key) == sizeof error.key - 1 &&
           strstr(error.reason, "but no num_experts") != NULL,
       "is cut");
    nul[sizeof nul - 2] = '\0';
    is_int(text_read(nul, sizeof nul - 1, &config, &error), SYNTAX, "a NUL byte is a fault");
    free(long_key);
}

int main(void)
{
    plan(2 * MODELS + VARIANTS + 2 * FAULTS + 4 + 3 + 2 + 2 + 5);
    for (size_t i = 0; i < MODELS; i++)
        model_check(&models[i]);
    for (size_t i = 0; i < VARIANTS; i++)
        values_check(variants[i].text, variants[i].text, variants[i].values);
    for (size_t i = 0; i < FAULTS; i++)
        fault_check(i);
    deep_check();
    size_check();
    read_error_check();
    memory_check();
    text_check();
    return done();
}
