"""Texts from a local model: greedy or sampled, in fixed batches with a shared beginning and a cache.

A text's draws are its own, so neighbours in a batch do not enter it, but for the last digits of float32: two
tokens that are equally probable to 6 digits, or a draw on the border of two, may go either way in another
batch. Batches follow from the pack alone, so a run repeats its texts exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch

from audit_lib.score.local.memory import in_halves
from audit_lib.score.local.plain import plain_logits
from audit_lib.score.local.plan import shared_beginning
from audit_lib.score.local.prefix import beginning, follow, read_rests
from audit_lib.score.local.trie import Tokens

BATCH_TOKENS: Final = 16384
"""Most tokens in the caches of one batch: prompts and answers together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A prompt to go on from.

    Attributes
    ----------
    prompt : tuple of int
    max_tokens : int
    temperature : float
        0 takes the most probable token.
    seed : int
        Of this text's own draws: one for each token, whoever else is in the batch.
    """

    prompt: Tokens
    max_tokens: int
    temperature: float
    seed: int


@torch.inference_mode()
def generate(
    model: Any, drafts: Sequence[Draft], stop: frozenset[int], share_up_to: int, read_up_to: int
) -> tuple[list[Tokens], int]:
    """Return the tokens that follow each prompt, without the one that ends them.

    Parameters
    ----------
    model : PreTrainedModel
    drafts : sequence of Draft
    stop : frozenset of int
        Tokens that end a text.
    share_up_to : int
        Longer prompts cannot be padded on this model: each is a batch of its own.
    read_up_to : int
        Longer ones cannot be read piece by piece either: each token takes a pass over all before it.

    Returns
    -------
    texts : list of tuple of int
    halved : int
        How often a batch was halved for want of memory.
    """
    texts: dict[int, Tokens] = {}
    halved = 0
    for batch in _batches(drafts, share_up_to):

        def work(numbers: Sequence[int]) -> list[tuple[int, Tokens]]:
            some = [drafts[n] for n in numbers]
            longest = max(len(draft.prompt) + draft.max_tokens for draft in some)
            found = _go_on(model, some, stop) if longest <= read_up_to else _go_on_plainly(model, some, stop)
            return list(zip(numbers, found, strict=True))

        found, times = in_halves(batch, work)
        texts |= dict(found)
        halved += times
    return [texts[n] for n in range(len(drafts))], halved


def _batches(drafts: Sequence[Draft], share_up_to: int) -> Iterator[list[int]]:
    batch: list[int] = []
    longest = 0
    for n in sorted(range(len(drafts)), key=lambda n: (drafts[n].prompt, n)):
        length = len(drafts[n].prompt) + drafts[n].max_tokens
        longest = max(longest, length)
        if batch and (longest * (len(batch) + 1) > BATCH_TOKENS or longest > share_up_to):
            yield batch
            batch, longest = [], length
        batch.append(n)
    if batch:
        yield batch


def _go_on(model: Any, drafts: Sequence[Draft], stop: frozenset[int]) -> list[Tokens]:
    prompts = [draft.prompt for draft in drafts]
    shared = shared_beginning(prompts) if len(prompts) > 1 else ()
    begun = read_rests(model, prompts, shared, beginning(model, shared))
    draws = [np.random.Generator(np.random.PCG64(draft.seed)) for draft in drafts]
    texts: list[list[int]] = [[] for _ in drafts]
    going = set(range(len(drafts)))
    logits = begun.logits
    while True:
        step = [_next(row, draft, draw) for row, draft, draw in zip(logits, drafts, draws, strict=True)]
        for n in sorted(going):
            if step[n] in stop:
                going.discard(n)
                continue
            texts[n].append(step[n])
            if len(texts[n]) == drafts[n].max_tokens:
                going.discard(n)
        if not going:
            return [tuple(text) for text in texts]
        logits = follow(model, begun, torch.tensor(step)[:, None])[:, -1]


def _go_on_plainly(model: Any, drafts: Sequence[Draft], stop: frozenset[int]) -> list[Tokens]:
    texts = []
    for draft in drafts:
        draw = np.random.Generator(np.random.PCG64(draft.seed))
        text: Tokens = ()
        while len(text) < draft.max_tokens:
            token = _next(plain_logits(model, draft.prompt + text, 1)[0], draft, draw)
            if token in stop:
                break
            text += (token,)
        texts.append(text)
    return texts


def _next(logits: torch.Tensor, draft: Draft, draw: np.random.Generator) -> int:
    if draft.temperature == 0:
        return int(logits.argmax())
    chances = torch.softmax(logits.double().cpu() / draft.temperature, dim=-1).numpy()
    reached = np.cumsum(chances)
    return int(min(np.searchsorted(reached, draw.random() * reached[-1], side="right"), len(reached) - 1))
