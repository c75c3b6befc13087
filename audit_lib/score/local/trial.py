"""What a model itself says of some sequences, which every way of computing is held against at load.

The model is loaded for this alone, with the attention that transformers takes by default. The sequences have labels
that it finds probable, so that a fault shows; they reach past the model's windows, chunks and the limit of its
positions where that is cheap enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch

from audit_lib.score.local.lengths import NO_LIMIT, Lengths, setting
from audit_lib.score.local.plain import log_softmax, plain_logits
from audit_lib.score.local.refusal import refusal, told
from audit_lib.score.local.trie import Tokens

TOLERANCE: Final = 1e-5
"""Most that a probability, and a label's share among labels, may differ from the model's own pass."""
_PER_LOGIT: Final = 1e-6  # more, for each unit of the largest logit: what float32 rounds grows with it
_OPERATIONS: Final = (1e11, 1e14)  # of the linear maps that a trial may take, about: on a processor, on a GPU
_ACROSS: Final = (1e13, 1e15)  # of a trial across a window: without it longer prompts share nothing
_LEAST, _MOST, _FARTHEST = 40, 384, 4096  # tokens of the longest sequence; of one that crosses a limit
_LABELS: Final = 8
_MARKS: Final = ("pad_token_id", "eos_token_id", "bos_token_id")
_MARKED: Final = 7  # of so many words one is such a token
NOT_REPEATABLE: Final = (
    "its scores are not repeatable: name another model, or ask this one several times through a server of its own "
    "(backend http, score.repeats)"
)

LabelProbabilities = Mapping[Tokens, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialProbe:
    """A sequence, labels after it, and their probabilities by the model's own passes.

    Attributes
    ----------
    prompt, labels : tuple
        The last label has two tokens.
    expected : dict
        Label -> probability.
    logits, followed, next_logits : Tensor of shape (vocabulary,)
        After the prompt; the same in a pass in which the first token of the last label follows; and after that token.
    tolerance : float
        Most that a share may differ.
    """

    prompt: Tokens
    labels: tuple[Tokens, ...]
    expected: dict[Tokens, float]
    logits: torch.Tensor
    followed: torch.Tensor
    next_logits: torch.Tensor
    tolerance: float

    def fault(self, found: LabelProbabilities) -> str | None:
        """Return how far the probabilities of some labels are from those expected, or None if they are the same."""
        apart = max(_gap(found[label], self.expected[label]) for label in found)
        mass, expected = sum(found.values()), sum(self.expected[label] for label in found)
        shares = max(_gap(found[one] / mass, self.expected[one] / expected) for one in found) if mass else 1.0
        if apart <= TOLERANCE and shares <= self.tolerance:
            return None
        return f"a label's share is off by {shares:.2g}, a probability by {apart:.2g}"

    def next_fault(self, logits: torch.Tensor) -> str | None:
        """Return how far the logits after the first token of the last label are from those expected."""
        return _fault(logits, self.next_logits, self.tolerance)


@dataclass(frozen=True, slots=True, kw_only=True)
class Probes:
    """Sequences that may share what they begin with, and longer ones that are read alone.

    Attributes
    ----------
    together, across, alone : tuple of TrialProbe
        Those in `across` branch too, and are longer than a window, or the model cannot pad.
    steady : bool
        Whether what the model says of a token stays as it is when tokens follow. If not, only a pass over just what
        stands before a token tells its probability.
    """

    together: tuple[TrialProbe, ...]
    across: tuple[TrialProbe, ...]
    alone: tuple[TrialProbe, ...]
    steady: bool

    @property
    def tried(self) -> tuple[int, int]:
        """Tokens of the longest sequence that was tried with others, and alone."""
        return longest(self.together), longest(self.alone)


def longest(probes: Sequence[TrialProbe]) -> int:
    """Return the tokens of the longest sequence, 0 if there is none."""
    return max((len(probe.prompt) for probe in probes), default=0)


def make_probes(model: Any, lengths: Lengths, weights: int) -> Probes:
    """Ask a model as it was loaded; `weights` multiply each token.

    Raises
    ------
    BackendError
        If what it says of a token changes with what comes after, or from one pass to the next, or is not finite.
    """
    affordable = int(_OPERATIONS[model.device.type != "cpu"] / (2 * max(weights, 1)) / 6)
    fits = min(lengths.longest, _FARTHEST) - 3
    most = max(min(affordable, _MOST, fits), min(_LEAST, fits))
    together = min(most, lengths.shared - 2)
    limits = (lengths.shared, lengths.cached, *lengths.suspects)
    crossing = {limit + limit // 4 + 8 for limit in limits if 0 < limit < NO_LIMIT}
    crossing |= {lengths.cached - 3} - {NO_LIMIT - 3}  # past the windows, and not past the limit of positions
    alone = sorted({most, *(n for n in crossing if n <= min(affordable, fits))})
    far = _across(lengths, most, int(_ACROSS[model.device.type != "cpu"] / (2 * max(weights, 1)) / 10), fits)
    words, marked = _words(model, 4 * max(*alone, far, _LEAST))
    branches = _branches(words, marked, together) if together >= 8 else []
    across = [*branches] if far <= together else _two_branches(words, marked, far)
    longer = [tuple(words[:n]) for n in alone if n > 0]
    longer += [tuple(marked[: alone[0]])] if alone[0] > 0 else []
    known = {prompt: _probe(model, prompt) for prompt in dict.fromkeys([*branches, *across, *longer])}
    steady = [
        _is_steady(model, probe, words[-2:])
        for prompt, probe in known.items()
        if len(prompt) < lengths.cached
    ]
    return Probes(
        together=tuple(known[prompt] for prompt in branches),
        across=tuple(known[prompt] for prompt in across),
        alone=tuple(known[prompt] for prompt in longer),
        steady=all(steady),
    )


def _across(lengths: Lengths, most: int, affordable: int, fits: int) -> int:
    """Return the tokens of sequences that cross as many windows as can be afforded."""
    crossing = [window + window // 4 + 8 for window in lengths.windows]
    far = max([most, *(n for n in crossing if n <= affordable)])
    return min(far, fits, lengths.cached - 3)


def _two_branches(words: Sequence[int], marked: Sequence[int], length: int) -> list[Tokens]:
    """Return two sequences that branch in their middle, the second a little shorter and with marks."""
    first, others = tuple(words[:length]), tuple(marked[length : 2 * length])
    return [first, first[: length // 2] + others[: length // 2 - length // 16]] if length >= 4 else []


def _branches(words: Sequence[int], marked: Sequence[int], length: int) -> list[Tokens]:
    """Return sequences of several lengths that branch early and late, those after the first with marks."""
    first = tuple(words[:length])
    others = tuple(marked[length : 3 * length])
    return [
        first,
        first[: length // 2] + others[: length // 3],
        first[: length // 2] + others[length // 2 : length // 2 + length // 6],
        first[: 3 * length // 4] + others[length : length + length // 8],
    ]


def _words(model: Any, count: int) -> tuple[list[int], list[int]]:
    """Return tokens of words, and the same with marks between them: tokens that pad, begin and end a text.

    Conversations have marks, and some models count no position for one. Others take what pads for the end of a
    sequence and leave out as many tokens, so that a model that reads ahead shows it without marks alone.
    """
    size = model.get_input_embeddings().weight.shape[0]
    config = model.config.get_text_config(decoder=True)
    # A token that stands for an image is no word.
    named = [
        (key, one)
        for key, value in config.to_dict().items()
        if key.endswith(("token_id", "token_index"))
        for one in (value if isinstance(value, list) else [value])
    ]
    special = {one for _, one in named}
    drawn = ((7919 * n * n + 104729 * n + 13) % size for n in range(2 * count + 64))
    words = [word for word in drawn if word not in special][:count]
    marked = list(words)
    marks = sorted({one for key, one in named if key in _MARKS and isinstance(one, int) and 0 <= one < size})
    for turn, place in enumerate(range(_MARKED - 1, len(words) - 2, _MARKED) if marks else ()):
        marked[place] = marks[turn % len(marks)]
    return words, marked


def _probe(model: Any, prompt: Tokens) -> TrialProbe:
    logits = _own(model, prompt, 1)[0]
    chances = log_softmax(logits)
    best = [int(token) for token in chances.topk(min(_LABELS + 1, len(chances))).indices]
    begun = best.pop(1)
    followed, next_logits = _own(model, (*prompt, begun), 2)
    after = log_softmax(next_logits)
    pair = (begun, int(after.argmax()))
    expected: dict[Tokens, float] = {(token,): float(chances[token].exp()) for token in best}
    expected[pair] = float((chances[begun] + after[pair[1]]).exp())
    return TrialProbe(
        prompt=prompt,
        labels=tuple(expected),
        expected=expected,
        logits=logits,
        followed=followed,
        next_logits=next_logits,
        tolerance=TOLERANCE + _PER_LOGIT * float((logits - logits.mean()).abs().max()),
    )


def _is_steady(model: Any, probe: TrialProbe, others: Sequence[int]) -> bool:
    """Return whether the logits after a prompt are the same when a token follows it.

    Raises
    ------
    BackendError
        If they differ from one pass to the next, or with which token follows.
    """
    if _fault(probe.followed, probe.logits, probe.tolerance) is None:
        return True
    again = _fault(_own(model, probe.prompt, 1)[0], probe.logits, probe.tolerance)
    if again is not None:
        raise refusal(model, f"two passes over the same tokens do not say the same ({again})", NOT_REPEATABLE)
    other = next(token for token in reversed(others) if token != probe.labels[-1][0])
    fault = _fault(_own(model, (*probe.prompt, other), 2)[0], probe.followed, probe.tolerance)
    if fault is not None:
        reads = (
            "it is no causal language model: what it says of a token changes with which tokens come after it"
        )
        if setting(model.config, "is_decoder") is False:
            raise refusal(
                model,
                f"{reads} (config.json says is_decoder: false; {fault})",
                "if it was trained to continue a text, set is_decoder to true in config.json; else name one that was",
            )
        raise refusal(
            model,
            f"{reads} ({fault})",
            "name a model that is made to continue a text, or ask this one through its own server (backend http)",
        )
    return False


def _own(model: Any, tokens: Tokens, last: int) -> torch.Tensor:
    try:
        logits = plain_logits(model, tokens, last).float().cpu()
    except Exception as error:
        raise refusal(
            model,
            f"its own forward pass over {len(tokens)} tokens ends with {type(error).__name__}: {told(error)}",
            "it may need other inputs than a text, or another version of transformers; ask it through a server "
            "that knows it (backend openai or http)",
        ) from error
    if not bool(torch.isfinite(logits).all()):
        raise refusal(
            model,
            "its logits are not finite",
            "its weights are damaged, or overflow in float32; download them again",
        )
    return logits


def _fault(logits: torch.Tensor, expected: torch.Tensor, tolerance: float) -> str | None:
    found, wanted = log_softmax(logits), log_softmax(expected)
    top = wanted.topk(min(_LABELS, len(wanted))).indices
    shares = [torch.softmax(one[top], dim=-1) for one in (found, wanted)]
    apart = _gap(0.0, float((found.exp() - wanted.exp()).abs().max()))
    share = _gap(0.0, float((shares[0] - shares[1]).abs().max()))
    if apart <= TOLERANCE and share <= tolerance:
        return None
    return f"a label's share is off by {share:.2g}, a probability by {apart:.2g}"


def _gap(found: float, expected: float) -> float:
    gap = abs(found - expected)
    return gap if gap == gap else float("inf")  # NaN is far from everything
