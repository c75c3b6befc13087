"""A model's own forward pass: one sequence, its default attention, no cache, no padding, nothing shared.

What every other way of computing is held against.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import torch

from audit_lib.score.local.trie import Tokens


@torch.inference_mode()
def plain_logits(model: Any, tokens: Sequence[int], last: int) -> torch.Tensor:
    """Return the logits after each of the `last` tokens of a sequence, shape (last, vocabulary)."""
    some = {"logits_to_keep": last} if "logits_to_keep" in inspect.signature(model.forward).parameters else {}
    out = model(input_ids=torch.tensor([tuple(tokens)], device=model.device), use_cache=False, **some)
    logits: torch.Tensor = out.logits[0, -last:]
    return logits


def log_softmax(logits: torch.Tensor) -> torch.Tensor:
    """Return log-probabilities over the full vocabulary, in float64."""
    return torch.log_softmax(logits.double().cpu(), dim=-1)


def plain_probability(model: Any, prompt: Tokens, sequence: Tokens, *, token_by_token: bool) -> float:
    """Return the probability of a sequence after a prompt.

    Parameters
    ----------
    model : PreTrainedModel
    prompt, sequence : tuple of int
    token_by_token : bool
        One pass for each token of the sequence, for models whose passes depend on their length; else one in all.
    """
    if not token_by_token:
        steps = log_softmax(plain_logits(model, prompt + sequence[:-1], len(sequence)))
        return float(steps[range(len(sequence)), list(sequence)].sum().exp())
    total = torch.zeros((), dtype=torch.float64)
    for place, token in enumerate(sequence):
        total = total + log_softmax(plain_logits(model, prompt + sequence[:place], 1))[0, token]
    return float(total.exp())
