"""Which ways of computing are exact on a model: each is tried at load, against the model's own forward pass.

Exact means: to the last digits of float32. The sequences of the trial have labels that the model finds probable, so
that a fault shows; they reach past the model's window or the limit of its positions where that is cheap enough.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch

from audit_lib.errors import BackendError
from audit_lib.score.local.lengths import NO_LIMIT, Lengths
from audit_lib.score.local.plain import log_softmax, plain_logits
from audit_lib.score.local.trie import Tokens

TOLERANCE: Final = 1e-5
"""Most that a probability, and a label's share among labels, may differ from the model's own pass."""
_PER_LOGIT: Final = 1e-6  # more, for each unit of the largest logit: what float32 rounds grows with it
_OPERATIONS: Final = 4e10  # of the linear maps that a trial may take, about; a few seconds of two cores
_LEAST, _MOST, _FARTHEST = 40, 384, 4096  # tokens of the longest sequence; of one that crosses a limit
_LABELS: Final = 8

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
    next_logits : Tensor of shape (vocabulary,)
        After the prompt and the first token of the last label.
    tolerance : float
        Most that a share may differ.
    """

    prompt: Tokens
    labels: tuple[Tokens, ...]
    expected: dict[Tokens, float]
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
    """Sequences that may share what they begin with, and longer ones that are read alone."""

    together: tuple[TrialProbe, ...]
    alone: tuple[TrialProbe, ...]


def make_probes(model: Any, lengths: Lengths, weights: int) -> Probes:
    """Ask the model itself, as it was loaded; `weights` multiply each token.

    Raises
    ------
    BackendError
        If what it says of a token changes with what comes after, or is not finite.
    """
    affordable = int(_OPERATIONS / (2 * max(weights, 1)) / 6)
    fits = min(lengths.longest, _FARTHEST) - 3
    most = max(min(affordable, _MOST, fits), min(_LEAST, fits))
    together = min(most, lengths.shared - 2)
    crossing = {limit + limit // 4 + 8 for limit in (lengths.shared, lengths.cached) if 0 < limit < NO_LIMIT}
    alone = sorted({most, *(n for n in crossing if n <= min(affordable, fits))})
    words = _words(model, 4 * max(*alone, _LEAST))
    ask = [_probe(model, lengths, prompt) for prompt in _branches(words, together)] if together >= 8 else []
    known = {probe.prompt: probe for probe in ask}
    longer = [tuple(words[:n]) for n in alone if n > 0]
    return Probes(
        together=tuple(ask),
        alone=tuple(known.get(prompt) or _probe(model, lengths, prompt) for prompt in longer),
    )


def tried(what: Callable[[], str | None]) -> str | None:
    """Return the fault that a trial finds, or the error that it ends with: the model cannot be asked this way."""
    try:
        return what()
    except Exception as error:  # noqa: BLE001 - a strange model may raise anything
        said = str(error).strip().splitlines() if isinstance(error, BackendError) else []
        return said[0] if said else f"it ends with {type(error).__name__}"


def first_fault(probes: Sequence[TrialProbe], found: Sequence[LabelProbabilities]) -> str | None:
    """Return the first fault of several sequences."""
    return next((fault for p, f in zip(probes, found, strict=True) if (fault := p.fault(f))), None)


def _branches(words: Sequence[int], length: int) -> list[Tokens]:
    """Return sequences of several lengths that branch early and late."""
    first = tuple(words[:length])
    others = tuple(words[length : 3 * length])
    return [
        first,
        first[: length // 2] + others[: length // 3],
        first[: length // 2] + others[length // 2 : length // 2 + length // 6],
        first[: 3 * length // 4] + others[length : length + length // 8],
    ]


def _words(model: Any, count: int) -> list[int]:
    size = model.get_input_embeddings().weight.shape[0]
    config = model.config.get_text_config()
    # A token that pads or ends may count for no position.
    special = {getattr(config, f"{name}_token_id", None) for name in ("pad", "bos", "eos")}
    drawn = ((7919 * n * n + 104729 * n + 13) % size for n in range(2 * count + 64))
    return [word for word in drawn if word not in special][:count]


def _probe(model: Any, lengths: Lengths, prompt: Tokens) -> TrialProbe:
    logits = plain_logits(model, prompt, 1)[0].float().cpu()
    if not bool(torch.isfinite(logits).all()):
        raise BackendError(
            "the model's logits are not finite; its weights are damaged or overflow in float32"
        )
    chances = log_softmax(logits)
    best = [int(token) for token in chances.topk(min(_LABELS + 1, len(chances))).indices]
    begun = best.pop(1)
    again = plain_logits(model, (*prompt, begun), 2).float().cpu()
    tolerance = TOLERANCE + _PER_LOGIT * float((logits - logits.mean()).abs().max())
    if len(prompt) < lengths.cached and (fault := _fault(again[0], logits, tolerance)) is not None:
        raise BackendError(
            "what the model says of a token changes with the tokens after it, or from one pass to the next "
            f"({fault}): it is no causal language model, or not repeatable"
        )
    after = log_softmax(again[1])
    pair = (begun, int(after.argmax()))
    expected: dict[Tokens, float] = {(token,): float(chances[token].exp()) for token in best}
    expected[pair] = float((chances[begun] + after[pair[1]]).exp())
    return TrialProbe(
        prompt=prompt, labels=tuple(expected), expected=expected, next_logits=again[1], tolerance=tolerance
    )


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
