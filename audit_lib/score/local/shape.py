"""What a model's arithmetic costs, from its weights and its config."""

from __future__ import annotations

from typing import Any

from audit_lib.score.local.lengths import setting
from audit_lib.score.local.plan import Shape


def shape_of(model: Any) -> Shape:
    """Return a model's shape; where its config names no heads, as many operations as one head of its width."""
    config = model.config.get_text_config(decoder=True)
    embeddings = model.get_input_embeddings().weight
    head = getattr(model.get_output_embeddings(), "weight", embeddings)
    outside = {id(embeddings), id(head)}
    hidden = int(setting(config, "hidden_size", "d_model") or embeddings.shape[-1])
    heads = int(_one(setting(config, "num_attention_heads")) or 1)
    width = int(_one(setting(config, "head_dim")) or hidden // heads)
    return Shape(
        linear=sum(p.numel() for p in model.parameters() if p.ndim > 1 and id(p) not in outside),
        attention=int(setting(config, "num_hidden_layers", "n_layer", "num_layers") or 1) * heads * width,
        head=head.numel(),
    )


def _one(value: Any) -> Any:
    return max(value) if isinstance(value, list | tuple) and value else value
