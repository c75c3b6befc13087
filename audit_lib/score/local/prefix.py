"""Shared-prefix expansion: what all prompts begin with is computed once, and its cache given to each.

The rests are padded on the left, between the shared beginning and themselves, so that every prompt ends in
the last column; padding is masked and positions count real tokens only.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from audit_lib.score.local.trie import Tokens


@dataclass(slots=True, kw_only=True)
class Begun:
    """Prompts that have been read.

    Attributes
    ----------
    logits : Tensor of shape (rows, vocabulary)
        After the last token of each.
    cache : Cache
    seen : Tensor of shape (rows, columns)
        1 where a column of the cache is a token of the prompt, 0 where it is padding.
    """

    logits: torch.Tensor
    cache: Any
    seen: torch.Tensor


def beginning(model: Any, shared: Tokens) -> Any:
    """Return the cache of a shared beginning, or None if there is none."""
    return forward(model, torch.tensor([shared]), None, None, None, 1).past_key_values if shared else None


def read_rests(model: Any, prompts: Sequence[Tokens], shared: Tokens, cache: Any) -> Begun:
    """Read what follows the shared beginning, whose cache is left as it is."""
    if cache is not None:
        cache = copy.deepcopy(cache)
        cache.batch_repeat_interleave(len(prompts))
    width = max(map(len, prompts)) - len(shared)
    rows, mask = [], []
    for prompt in prompts:
        rest = prompt[len(shared) :]
        padding = width - len(rest)
        # What stands in the padding is never seen; a token of the prompt is always a valid one.
        rows.append((prompt[-1],) * padding + rest)
        mask.append([1] * len(shared) + [0] * padding + [1] * len(rest))
    seen = torch.tensor(mask)
    positions = (seen.cumsum(1) - 1).clamp(min=0)[:, len(shared) :]
    out = forward(model, torch.tensor(rows), cache, seen, positions, 1)
    return Begun(logits=out.logits[:, -1], cache=out.past_key_values, seen=seen)


def follow(model: Any, begun: Begun, tokens: torch.Tensor) -> torch.Tensor:
    """Read further tokens, shape (rows, n), and return their logits; `begun` goes on from after them."""
    begun.seen = torch.cat([begun.seen, torch.ones_like(tokens)], dim=1)
    positions = (begun.seen.cumsum(1) - 1)[:, -tokens.shape[1] :]
    out = forward(model, tokens, begun.cache, begun.seen, positions, tokens.shape[1])
    begun.cache = out.past_key_values
    logits: torch.Tensor = out.logits
    return logits


def step_back(begun: Begun, tokens: int) -> None:
    """Forget the last tokens read."""
    begun.seen = begun.seen[:, :-tokens]
    begun.cache.crop(-tokens)


def forward(
    model: Any,
    tokens: torch.Tensor,
    cache: Any,
    mask: torch.Tensor | None,
    positions: torch.Tensor | None,
    keep: int,
) -> Any:
    """Run the model on a batch, with a cache."""
    return model(
        input_ids=tokens.to(model.device),
        past_key_values=cache,
        attention_mask=None if mask is None else mask.to(model.device),
        position_ids=None if positions is None else positions.to(model.device),
        use_cache=True,
        logits_to_keep=keep,
    )
