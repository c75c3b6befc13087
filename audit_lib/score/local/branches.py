"""Prompts read piece by piece with the model's own memory: caches of keys, windows of them, recurrent states.

What a model keeps of a beginning is copied for each prompt that goes on from it, and for each label after a prompt.
Labels are read one token a pass, as texts are generated, all labels of a prompt together. Nothing is padded.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Final

import torch

from audit_lib.score.local.plain import log_softmax
from audit_lib.score.local.segments import Segment
from audit_lib.score.local.trie import Tokens

ROWS_TOKENS: Final = 16384
"""Most tokens in the memories of labels that are read together."""
_MEMORIES: Final = ("past_key_values", "cache_params")


@torch.inference_mode()
def read_segments(
    model: Any, segments: Sequence[Segment], at_end: Callable[[Tokens, torch.Tensor, Any], None]
) -> None:
    """Read pieces of prompts in their order.

    Parameters
    ----------
    model : PreTrainedModel
    segments : sequence of Segment
    at_end : callable
        Given each prompt that has been read, the logits after it, shape (vocabulary,), and a memory of its own.
    """
    going_on = [0] * len(segments)
    for segment in segments:
        if segment.before >= 0:
            going_on[segment.before] += 1
    kept: dict[int, Any] = {}
    left = list(going_on)
    for number, segment in enumerate(segments):
        memory = None
        if segment.before >= 0:
            left[segment.before] -= 1
            memory = kept[segment.before]
            memory = copy.deepcopy(memory) if left[segment.before] else kept.pop(segment.before)
        tokens = torch.tensor([segment.prompt[segment.start : segment.stop]])
        logits, memory = read_on(model, tokens, memory)
        if going_on[number]:
            kept[number] = copy.deepcopy(memory) if segment.ends else memory
        if segment.ends:
            at_end(segment.prompt, logits[0], memory)


@torch.inference_mode()
def label_probabilities_after(
    model: Any, prompt: Tokens, logits: torch.Tensor, memory: Any, labels: Sequence[Tokens]
) -> dict[Tokens, float]:
    """Return the probability of each label after a prompt that has been read; its memory is used up."""
    logs: dict[tuple[Tokens, int], float] = {}
    following: dict[Tokens, set[int]] = {}
    for label in labels:
        for place, token in enumerate(label):
            following.setdefault(label[:place], set()).add(token)

    def note(begun: Tokens, row: torch.Tensor) -> None:
        tokens = sorted(following[begun])
        chances = log_softmax(row)[tokens].tolist()
        logs.update(zip([(begun, token) for token in tokens], chances, strict=True))

    note((), logits)
    longer = sorted(label for label in labels if len(label) > 1)
    rows = max(1, ROWS_TOKENS // len(prompt))
    for start in range(0, len(longer), rows):
        last = start + rows >= len(longer)
        own = memory if last else copy.deepcopy(memory)
        _read_labels(model, longer[start : start + rows], own, note)
    return {
        label: float(torch.tensor([logs[label[:n], t] for n, t in enumerate(label)]).double().sum().exp())
        for label in labels
    }


def _read_labels(
    model: Any, labels: Sequence[Tokens], memory: Any, note: Callable[[Tokens, torch.Tensor], None]
) -> None:
    before: list[Tokens] = [()]
    for length in range(1, max(map(len, labels))):
        begun = sorted({label[:length] for label in labels if len(label) > length})
        memory = take_rows(memory, [before.index(one[:-1]) for one in begun], len(before))
        logits, memory = read_on(model, torch.tensor([one[-1:] for one in begun]), memory)
        for one, row in zip(begun, logits, strict=True):
            note(one, row)
        before = begun


def read_on(model: Any, tokens: torch.Tensor, memory: Any) -> tuple[torch.Tensor, Any]:
    """Read tokens, shape (rows, n), after what the memory holds; return the last logits of each row and the memory.

    Raises
    ------
    TypeError
        If the model keeps nothing.
    """
    takes = inspect.signature(model.forward).parameters
    name = next((name for name in _MEMORIES if name in takes), _MEMORIES[0])
    some: dict[str, Any] = {"logits_to_keep": 1} if "logits_to_keep" in takes else {}
    if memory is not None:
        some[name] = memory
    out = model(input_ids=tokens.to(model.device), use_cache=True, **some)
    if (after := getattr(out, name, None)) is None:
        raise TypeError(f"the model gives back no {name}")
    return out.logits[:, -1], after


def take_rows(memory: Any, rows: Sequence[int], count: int) -> Any:
    """Return a memory of `count` rows with these of its rows, some of them perhaps several times."""
    if list(rows) != list(range(count)):
        memory.reorder_cache(torch.tensor(rows))  # as beam search does, which every kind of cache takes
    return memory
