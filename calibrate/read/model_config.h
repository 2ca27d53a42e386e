/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The shape of a language model from the config.json of Hugging Face Transformers.
 *
 * What is read becomes keys of a scenario, as a row of data/models.csv has them: layers, hidden,
 * heads, kv_heads, head_dim, ffn, ffn_matrices, vocab, experts, experts_per_token, expert_ffn,
 * shared_experts, dense_layers, q_lora, kv_lora, attention, dtype_bits, sliding_window,
 * sliding_layers, tied_embeddings.  Keys that the file says nothing of and that have a meaning of
 * their own when absent are left out: head_dim (hidden / heads), dtype_bits, everything of experts
 * but `experts` itself in a dense model, q_lora and kv_lora without latent attention, the window
 * where all layers look back on all, tied_embeddings where there are two tables.
 *
 * A model may spell a key in several ways; when two spellings are there they must agree.  A shape
 * that lies one level down (text_config, llm_config, language_config) is followed.  Where
 * Transformers fills in a key that files of a model_type leave out (kv_heads of Mistral, vocab of
 * Gemma 3), the same default is taken, from the configuration_*.py of that model_type.
 *
 * A model that the weight kernels cannot express is refused by name, never answered by the nearest
 * one that they can: encoder-decoder, state-space and hybrid models, layers that differ from each
 * other in more than having experts or not, experts under keys not known here, a model_type and
 * activation that together do not tell whether the feed-forward layer is gated.
 *
 * Nothing here prints, and no state is kept outside the caller's structs.
 */
#ifndef SC_READ_MODEL_CONFIG_H
#define SC_READ_MODEL_CONFIG_H

#include <stddef.h>
#include <stdio.h>

#include "status.h" /* SC_MUST_CHECK */

enum {
    SC_MODEL_CONFIG_VALUES = 20,                  /* room for the keys of one model */
    SC_MODEL_CONFIG_MAX_BYTES = 16 * 1024 * 1024, /* of a file; real ones have a few thousand */
};

enum sc_model_config_status {
    SC_MODEL_CONFIG_OK = 0,
    SC_MODEL_CONFIG_EREAD,        /* the system could not read the file */
    SC_MODEL_CONFIG_ENOMEMORY,    /* jansson may call want of memory in a token ESYNTAX */
    SC_MODEL_CONFIG_EEMPTY,       /* no bytes but white space */
    SC_MODEL_CONFIG_ELARGE,       /* above SC_MODEL_CONFIG_MAX_BYTES */
    SC_MODEL_CONFIG_ESYNTAX,      /* not JSON, a key twice, a number above a double, too deep */
    SC_MODEL_CONFIG_EOBJECT,      /* JSON, but not an object */
    SC_MODEL_CONFIG_EMISSING,     /* a key that is needed is not there */
    SC_MODEL_CONFIG_EVALUE,       /* a key has a value of the wrong kind or out of range */
    SC_MODEL_CONFIG_EUNSUPPORTED, /* a model or format that cannot be expressed */
};

/* One key of a scenario.  The strings are constants. */
struct sc_model_config_value {
    const char *key;
    double number;      /* finite, NaN when it is a choice; dtype_bits in bits, the rest counts */
    const char *choice; /* gqa, mha or mla for attention, else NULL */
};

struct sc_model_config {
    struct sc_model_config_value values[SC_MODEL_CONFIG_VALUES];
    size_t count;
    char name[64]; /* for display, cut at the end: _name_or_path, else model_type, else "" */
};

/* All text is printable ASCII; other bytes of the file are shown as '?'. */
struct sc_model_config_error {
    size_t line, column; /* 1-based place of SC_MODEL_CONFIG_ESYNTAX, else 0; the column counts
                          * characters and may be 0 at the start of a line */
    char key[64];        /* key at fault, as in quantization_config.bits; the first spelling of a
                          * missing one; "" when it is the file as a whole */
    char reason[160];    /* what is wrong with the file, to stand after its name: "has no
                          * vocab_size", "hidden_size is -1; expected ..." */
};

/*
 * Read `file` from where it stands to its end; it stays the caller's.  On success *out is filled
 * and *error untouched; on any other status *out is all zero and *error says why.  `error` may be
 * NULL.  Neither holds anything to be freed.
 */
enum sc_model_config_status sc_model_config_read(FILE *file, struct sc_model_config *out,
                                                 struct sc_model_config_error *error) SC_MUST_CHECK;

#endif
