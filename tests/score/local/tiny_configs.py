"""A tiny config of any causal language model that transformers knows, from the default one of its class.

Sizes become small by the names of the settings. What makes an architecture its own stays: kinds of layers, experts,
several heads to a key, states. Windows and chunks become shorter than the prompts of the tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from transformers import CONFIG_MAPPING, PretrainedConfig
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

TYPES: Final = tuple(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)
"""Every type of causal language model of the installed transformers."""

VOCABULARY: Final = 320
WINDOW: Final = 40
SPECIAL_TOKENS: Final = 300  # tokens from here on stand for images, sounds, padding: texts have none of them
_WIDTH, _HEADS, _KEY_HEADS, _HEAD, _LAYERS, _LONGEST = 32, 4, 2, 8, 4, 256

SIZES: Final = (
    (_WIDTH, (
        "hidden_size", "d_model", "n_embd", "embedding_size", "emb_dim", "embedding_dim", "word_embed_proj_dim",
        "input_embedding_size", "output_embedding_size", "attention_hidden_size", "lru_width", "hidden_size_global",
        "dim_model_base", "backbone_hidden_size", "out_hidden_size", "adapter_out_dim", "text_hidden_size",
        "projection_dim", "pronunciation_embed_dim", "shape_embed_dim", "linear_key_dim", "router_hidden_size",
    )),
    (64, (
        "intermediate_size", "ffn_dim", "decoder_ffn_dim", "encoder_ffn_dim", "d_inner", "dff", "dim_ff", "n_inner",
        "ffn_hidden_size", "expert_ffn_hidden_size", "moe_intermediate_size", "shared_expert_intermediate_size",
        "shared_experts_intermediate_size", "shared_intermediate_size", "dense_intermediate_size", "mlp_dim",
        "intermediate_size_mlp", "feed_forward_size", "d_ff", "moe_shared_expert_intermediate_size", "mamba_d_ssm",
    )),
    (_HEADS, (
        "num_attention_heads", "n_head", "n_heads", "num_heads", "decoder_attention_heads", "encoder_attention_heads",
        "attention_heads", "num_decoder_attention_heads", "num_encoder_attention_heads", "swa_num_attention_heads",
        "linear_num_value_heads", "linear_num_heads", "index_n_heads", "mamba_num_heads", "n_routed_experts",
        "num_experts", "num_local_experts", "moe_num_experts", "zero_expert_num", "num_centroids",
    )),
    (_KEY_HEADS, (
        "num_key_value_heads", "num_kv_heads", "kv_n_heads", "swa_num_key_value_heads", "linear_num_key_heads",
        "num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_k", "moe_top_k", "topk_group", "n_group",
        "num_expert_group", "num_query_groups", "centroid_intermediate_top_k", "mamba_n_groups", "n_groups",
        "encoder_layers", "num_encoder_layers", "num_layers_per_stack", "num_codebooks", "depth", "hc_mult", "hc_count",
        "heads_per_ngram", "o_groups", "index_topk_blocks",
    )),
    (_HEAD, (
        "head_dim", "d_head", "dim_head", "attention_head_size", "swa_head_dim", "d_kv", "v_head_dim", "index_head_dim",
        "qk_nope_head_dim", "linear_key_head_dim", "linear_value_head_dim", "linear_head_dim", "kv_channels",
        "query_pre_attn_scalar", "rotary_dim", "state_size", "mamba_d_state", "ssm_state_size", "mamba_dt_rank",
        "time_step_rank", "hidden_size_per_layer_input", "laurel_rank", "d_rel", "global_head_dim", "mamba_d_head",
        "mamba_head_dim", "mamba_n_heads",
    )),
    (4, ("qk_rope_head_dim", "hc_lowrank", "gated_norm_rank", "adapter_rank", "ngram_size")),
    (16, (
        "kv_lora_rank", "q_lora_rank", "o_lora_rank", "rel_extent", "index_topk", "index_block_size", "block_size",
        "local_attn_chunk_length", "lsh_attn_chunk_length", "mamba_chunk_size", "chunk_size", "ple_embed_dim",
        "split_ngram_parts", "prompt_mid_dim",
    )),
    (12, ("qk_head_dim",)),
    (_LAYERS, (
        "num_hidden_layers", "n_layer", "n_layers", "num_layers", "decoder_layers", "num_decoder_layers", "num_blocks",
    )),
    (WINDOW, (
        "sliding_window", "window_size", "sliding_window_size", "attention_window_size", "attention_chunk_size",
        "local_attention", "local_attention_window_len", "keep_window_size", "floor_scale", "log_scaling_n_floor",
    )),
    (_LONGEST, (
        "max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "max_target_positions", "model_max_length",
        "context_length", "seq_length", "max_sequence_length",
    )),
    (VOCABULARY, (
        "vocab_size", "decoder_vocab_size", "vocab_size_per_layer_input", "unpadded_vocab_size",
        "ngram_vocab_size_base",
        "pronunciation_vocab_size", "shape_vocab_size", "audio_vocab_size",
    )),
    (1, ("first_k_dense_replace", "num_dense_layers", "n_shared_experts", "num_shared_experts",
        "moe_num_shared_experts")),
    (2, ("max_window_layers", "sliding_window_pattern", "attn_layer_period", "layer_group_size",
        "global_attn_every_n_layers", "no_rope_layer_interval")),
    (0, ("num_nextn_predict_layers", "attn_layer_offset")),
)  # fmt: skip
_SMALL: Final = {name: size for size, names in SIZES for name in names}
_BY_LAYER: Final = (
    "layer_types", "mlp_layer_types", "layers_block_type", "block_types", "no_rope_layers", "indexer_types",
    "layer_rope_theta", "num_attention_heads_per_layer", "activation_sparsity_pattern", "attention_layers",
    "full_attn_idxs", "moe_layers", "hybrid_layer_ids",
)  # fmt: skip


def tiny_config(model_type: str, **changes: Any) -> PretrainedConfig:
    """Return a tiny config of a type of model."""
    given = {**SPECIAL.get(model_type, {}), **changes}
    return CONFIG_MAPPING[model_type](**_small(CONFIG_MAPPING[model_type], given))


def _small(kind: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    try:
        default = kind()
    except Exception:  # noqa: BLE001 - some have no default that passes their own checks
        return dict(given)
    said: dict[str, Any] = {}
    for name, value in vars(default).items():
        if isinstance(value, PretrainedConfig):
            own = given.get(name)
            said[name] = _small(type(value), own if isinstance(own, Mapping) else {})
        elif name in _SMALL and isinstance(value, int) and not isinstance(value, bool) and value > 0:
            said[name] = _SMALL[name]
        elif name.endswith(("_token_id", "_token_index")) and isinstance(value, int) and value >= VOCABULARY:
            said[name] = SPECIAL_TOKENS + len(name) % (VOCABULARY - SPECIAL_TOKENS)
        elif name in ("intermediate_size",) and isinstance(value, list):
            said[name] = 64
        elif name == "initializer_range":
            said[name] = 0.3
    if "qk_rope_head_dim" in said:  # latent attention: as many keys as queries, positions in a part of each
        said |= {"num_key_value_heads": _HEADS, "head_dim": said["qk_rope_head_dim"]}
    layers = said.get("num_hidden_layers", _LAYERS)
    for name in _BY_LAYER:
        stored = kind.attribute_map.get(name, name)
        value = None if isinstance(getattr(kind, stored, None), property) else getattr(default, name, None)
        if isinstance(value, list | tuple) and value and isinstance(value[0], str):
            kinds = list(dict.fromkeys(value))
            said[name] = [kinds[i % len(kinds)] for i in range(layers)]
    kept = {k: v for k, v in said.items() if not isinstance(getattr(kind, k, None), property)}
    return {**kept, **{k: v for k, v in given.items() if not isinstance(v, Mapping) or k not in kept}}


_NGRAMS: Final = {
    "eos_token_id": 1, "indexer_n_heads": 4, "indexer_kv_heads": 1, "indexer_head_dim": 8, "indexer_budget": 16,
    "indexer_compress_ratio": 4, "ple_layer_ids": [1], "ngram_vocab_size_base": 300, "ngram_size": 3,
    "heads_per_ngram": 2, "ple_embed_dim": 32, "make_ngram_vocab_size_divisible_by": 4, "split_ngram_parts": 4,
}  # fmt: skip
_SHARED_KEYS: Final = {
    "num_hidden_layers": 4, "num_kv_shared_layers": 2, "layer_types": ["sliding_attention", "full_attention"] * 2,
    "activation_sparsity_pattern": [0.5, 0.0, 0.0, 0.0], "hidden_size_per_layer_input": 8,
}  # fmt: skip
_TWO_KINDS_OF_HEADS: Final = {
    "sliding_window": 40, "swa_num_attention_heads": 4, "swa_num_key_value_heads": 4, "swa_q_lora_rank": 16,
    "swa_kv_lora_rank": 16, "swa_head_dim": 12, "swa_qk_nope_head_dim": 8, "swa_v_head_dim": 8,
}  # fmt: skip
_DRAFT: Final = {
    "text_config": {
        "num_kv_shared_layers": 0, "hidden_size_per_layer_input": 0, "vocab_size_per_layer_input": 0,
        "enable_moe_block": False, "use_double_wide_mlp": False,
        "layer_types": ["sliding_attention", "full_attention"] * 2, "num_hidden_layers": 4, "hidden_size": 32,
        "vocab_size": 320, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "intermediate_size": 64,
    },
    "backbone_hidden_size": 32, "num_centroids": 4, "centroid_intermediate_top_k": 2,
}  # fmt: skip
SPECIAL: Final[dict[str, dict[str, Any]]] = {
    "blt": {"encoder_hash_byte_group_vocab": 320},
    "cohere_compass_text": {
        "rope_parameters": {
            kind: {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 1, 1]}
            for kind in ("full_attention", "sliding_attention")
        }
    },
    "dbrx": {"attn_config": {"kv_n_heads": 2, "rope_theta": 10000.0, "clip_qkv": 8}},
    "deepseek_v2": {"topk_method": "greedy", "num_experts_per_tok": 2, "moe_intermediate_size": 32},
    "dots1": {
        "n_routed_experts": 4,
        "n_shared_experts": 1,
        "num_experts_per_tok": 2,
        "n_group": 1,
        "topk_group": 1,
    },
    "dots3_note": {
        "vision_config": {"adapter_in_dim": 32, "adapter_out_dim": 32},
        "audio_config": {"adapter_input_size": 32, "adapter_out_dim": 32},
        "text_config": _TWO_KINDS_OF_HEADS,
    },
    "dots3_note_text": _TWO_KINDS_OF_HEADS,
    "gemma3n_text": _SHARED_KEYS,
    "gemma4_assistant": _DRAFT,
    "gemma4_unified_assistant": _DRAFT,
    "hunyuan_v1_dense": {"head_dim": 8},
    "hunyuan_v1_moe": {"head_dim": 8},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"] * 2},
    "mamba2": {"num_heads": 8, "head_dim": 8},
    "ministral": {"head_dim": 8},
    "nemotron": {"num_key_value_heads": 2},
    "qwen4_exp": {"text_config": _NGRAMS},
    "qwen4_exp_text": _NGRAMS,
    "reformer": {"is_decoder": True, "axial_pos_embds_dim": [8, 24], "axial_pos_shape": [16, 16]},
    "xmod": {"default_language": "en_XX"},
    "zamba": {"attention_hidden_size": 64, "attention_head_dim": 16},
    "zamba2": {"attention_hidden_size": 64, "attention_head_dim": 16, "hybrid_layer_ids": [1, 3]},
    "zaya": {"num_experts_per_tok": 1},
}
"""What the default of a class does not say, or says in names of its own."""
