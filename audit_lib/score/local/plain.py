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
    """Return log-probabilities over the full vocabulary, in float64, for the processor to read."""
    if logits.device.type == "mps":  # it has no float64
        logits = logits.cpu()
    return torch.log_softmax(logits.double(), dim=-1).cpu()


def plain_probabilities(
    model: Any, prompt: Tokens, sequences: Sequence[Tokens], *, token_by_token: bool
) -> dict[Tokens, float]:
    """Return the probability of each sequence after a prompt.

    Parameters
    ----------
    model : PreTrainedModel
    prompt : tuple of int
    sequences : sequence of tuple of int
    token_by_token : bool
        A pass for each beginning of a sequence, for models whose passes depend on their length; else one for all of
        it. What several sequences begin with takes one pass in either case.
    """
    rows: dict[Tokens, torch.Tensor] = {}

    def after(begun: Tokens) -> torch.Tensor:
        if begun not in rows:
            rows[begun] = log_softmax(plain_logits(model, prompt + begun, 1)[0])
        return rows[begun]

    found = {}
    for sequence in sequences:
        if token_by_token or len(sequence) == 1:
            steps = [after(sequence[:place])[token] for place, token in enumerate(sequence)]
            found[sequence] = float(torch.stack(steps).sum().exp())
        else:
            whole = log_softmax(plain_logits(model, prompt + sequence[:-1], len(sequence)))
            found[sequence] = float(whole[range(len(sequence)), list(sequence)].sum().exp())
    return found
