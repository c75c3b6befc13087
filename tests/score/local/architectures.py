"""Tiny random checkpoints of many architectures: each is a shape of attention, positions or memory of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import torch
import transformers
from transformers import AutoModelForCausalLM

from tests.score.conftest import save_tiny_model

SMALL: Final = {
    "vocab_size": 320,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 256,
    "initializer_range": 0.5,
    "pad_token_id": None,
    "bos_token_id": 0,
    "eos_token_id": 1,
}
GPT: Final = {
    "vocab_size": 320,
    "n_positions": 256,
    "n_embd": 32,
    "n_layer": 2,
    "n_head": 4,
    "initializer_range": 0.5,
    "bos_token_id": 0,
    "eos_token_id": 1,
}
FACTORS: Final = {"short_factor": [1.0, 1.1, 1.3, 2.0], "long_factor": [2.0, 4.0, 7.0, 9.0]}
LONGROPE: Final = {
    "rope_type": "longrope",
    "rope_theta": 10000.0,
    "original_max_position_embeddings": 48,
    **FACTORS,
}


def some(names: str) -> dict[str, Any]:
    """Return those settings of a small model."""
    return {name: SMALL[name] for name in names.split()}


CONFIGS: Final[dict[str, Callable[[], Any]]] = {
    "llama": lambda: transformers.LlamaConfig(**SMALL),
    "llama_flat": lambda: transformers.LlamaConfig(**{**SMALL, "initializer_range": 0.02}),
    "llama3_rope": lambda: transformers.LlamaConfig(
        **SMALL,
        rope_parameters={
            "rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "low_freq_factor": 1.0,
            "high_freq_factor": 4.0, "original_max_position_embeddings": 32,
        },
    ),
    "mistral_window": lambda: transformers.MistralConfig(**SMALL, sliding_window=40),
    "qwen2": lambda: transformers.Qwen2Config(**SMALL),
    "qwen2_window": lambda: transformers.Qwen2Config(
        **SMALL, use_sliding_window=True, sliding_window=40, max_window_layers=1
    ),
    "qwen3": lambda: transformers.Qwen3Config(**SMALL),
    "gemma": lambda: transformers.GemmaConfig(**SMALL),
    "gemma2_softcap": lambda: transformers.Gemma2Config(
        **SMALL, sliding_window=40, query_pre_attn_scalar=8, attn_logit_softcapping=5.0, final_logit_softcapping=9.0
    ),
    "gemma3": lambda: transformers.Gemma3TextConfig(**SMALL, sliding_window=40, query_pre_attn_scalar=8),
    "gpt2": lambda: transformers.GPT2Config(**GPT),
    "gpt_neo": lambda: transformers.GPTNeoConfig(
        vocab_size=320, hidden_size=32, num_layers=2, num_heads=4, max_position_embeddings=256, window_size=40,
        attention_types=[[["global", "local"], 1]], initializer_range=0.5, bos_token_id=0, eos_token_id=1,
    ),
    "gpt_neox": lambda: transformers.GPTNeoXConfig(
        **some("vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads"),
        max_position_embeddings=256, initializer_range=0.5,
    ),
    "gptj": lambda: transformers.GPTJConfig(**GPT, rotary_dim=4),
    "opt": lambda: transformers.OPTConfig(
        vocab_size=320, hidden_size=32, ffn_dim=64, num_hidden_layers=2, num_attention_heads=4,
        max_position_embeddings=256, word_embed_proj_dim=32, init_std=0.5, pad_token_id=2, eos_token_id=1,
    ),
    "bloom": lambda: transformers.BloomConfig(
        vocab_size=320, hidden_size=32, n_layer=2, n_head=4, initializer_range=0.5, bos_token_id=0, eos_token_id=1
    ),
    "codegen": lambda: transformers.CodeGenConfig(**GPT, rotary_dim=4),
    "phi": lambda: transformers.PhiConfig(
        **some("vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads"),
        max_position_embeddings=256, initializer_range=0.5,
    ),
    "phi3_longrope": lambda: transformers.Phi3Config(
        **SMALL, original_max_position_embeddings=48, rope_parameters=LONGROPE
    ),
    "gpt_oss": lambda: transformers.GptOssConfig(
        **SMALL, sliding_window=40, num_local_experts=4, num_experts_per_tok=2
    ),
    "mixtral": lambda: transformers.MixtralConfig(**SMALL, num_local_experts=4, num_experts_per_tok=2),
    "falcon_alibi": lambda: transformers.FalconConfig(
        vocab_size=320, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, alibi=True,
        initializer_range=0.5, bos_token_id=0, eos_token_id=1,
    ),
    "falcon": lambda: transformers.FalconConfig(
        vocab_size=320, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, alibi=False,
        initializer_range=0.5, bos_token_id=0, eos_token_id=1,
    ),
    "mpt": lambda: transformers.MptConfig(
        vocab_size=320, d_model=32, n_layers=2, n_heads=4, max_seq_len=256, initializer_range=0.5
    ),
    "stablelm": lambda: transformers.StableLmConfig(**{k: v for k, v in SMALL.items() if k != "head_dim"}),
    "cohere": lambda: transformers.CohereConfig(**{k: v for k, v in SMALL.items() if k != "head_dim"}),
    "olmo2": lambda: transformers.Olmo2Config(**SMALL),
    "granite": lambda: transformers.GraniteConfig(**SMALL),
    "mamba": lambda: transformers.MambaConfig(
        vocab_size=320, hidden_size=32, num_hidden_layers=2, state_size=8, initializer_range=0.5
    ),
    "bert_that_sees_both_ways": lambda: transformers.BertConfig(
        **some("vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads"),
        max_position_embeddings=256, initializer_range=0.5, hidden_dropout_prob=0.0,
    ),
}  # fmt: skip


def save_architecture(folder: Path, name: str) -> None:
    """Write a tiny random checkpoint with a tokenizer and a chat template."""
    save_tiny_model(folder)
    for old in folder.glob("*.safetensors"):
        old.unlink()
    torch.manual_seed(7)
    model = AutoModelForCausalLM.from_config(CONFIGS[name]())
    draw = torch.Generator().manual_seed(8)
    for parameter in model.parameters():  # biases, sinks and norms are constants in a new model
        with torch.no_grad():
            parameter.add_(0.05 * torch.randn(parameter.shape, generator=draw))
    model.save_pretrained(folder)
