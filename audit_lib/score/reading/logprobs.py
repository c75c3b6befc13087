"""Labels from the log-probabilities of an answer's first token: the few most probable tokens are shown, no others.

A label is read in two spellings, as written and after a space (servers that show a vocabulary's own sign for it write
``▁Yes`` or ``ĠYes``), as the local engine reads it. Where the labels have more of the probability in other case than
as written, the model answers in other case (``yes`` for Yes), and all cases are read; not of a label of one letter,
because ``a`` begins a sentence. A spelling that is not shown, of any label, has at most the probability of the least
token shown, and all of them together at most what is left of 1. From these limits follows by how much the share of a
label, among the labels, can be off. Up to `TOLERANCE` what is hidden counts as 0. Beyond it the answer is marked: to
call a label impossible because 20 other tokens came before it would move the score of whoever the model is surest of.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, Final

TOLERANCE: Final = 0.01
"""Most that a label's share may be off because spellings of labels are not shown."""
BELOW: Final = "label_below_top"
"""With this begins the detail of an answer of which too much is not shown."""
SEVERAL: Final = (
    "an answer's first token is only the beginning of a label: labels of several tokens cannot be read by "
    "logprobs; use model.options.method: sampled, or answers of one token (prompt.answer: letter)"
)
_SPACE: Final = re.compile(
    "^[\u2581\u0120]"
)  # SentencePiece's and byte-level BPE's signs of a space before a word
_SLACK: Final = 1e-3
"""More than 1 that probabilities may add up to: servers round their logarithms. They are divided by their sum then."""


def read_top(top: Sequence[Any], labels: Sequence[str]) -> tuple[tuple[float, ...] | None, str | None]:
    """Return the probability of each label in the spellings shown, and what is to be said of it.

    None with `SEVERAL` if a hidden label may be cut into several tokens whose first one is shown with more than
    `TOLERANCE` of the probability, beside the labels'. A detail that begins with `BELOW` if the spellings that are
    not shown may move a share by more than that: the shares are not to be trusted, and None stands for them where
    even the most probable label may be another than that of the shares.

    Parameters
    ----------
    top : sequence of mapping
        ``token`` and ``logprob`` of each token shown.
    labels : sequence of str

    Raises
    ------
    ValueError
        If a log-probability is not one, or the labels have more than all the probability.

    Examples
    --------
    >>> shown = [{"token": "Yes", "logprob": -0.005}, {"token": "no", "logprob": -7.0}]
    >>> shares, detail = read_top(shown, ["No", "Yes"])
    >>> [round(share, 3) for share in shares], detail
    ([0.0, 0.995], None)
    >>> shown = [{"token": "Yes", "logprob": -0.7}, {"token": "Perhaps", "logprob": -3.0}]
    >>> shares, detail = read_top(shown, ["No", "Yes"])
    >>> [round(share, 3) for share in shares], detail.split(":")[0]
    ([0.0, 0.497], 'label_below_top')
    """
    found: dict[str, float] = {}
    for token in top:
        # The same text may stand for several tokens; a token is shown once.
        text = _SPACE.sub(" ", token["token"])
        found[text] = found.get(text, 0.0) + math.exp(float(token["logprob"]))
    if not all(map(math.isfinite, found.values())) or max(found.values()) > 1 + _SLACK:
        raise ValueError("a log-probability is not one")
    spellings = [(label.strip(), f" {label.strip()}") for label in labels]
    shares = tuple(math.fsum(found.get(written, 0.0) for written in both) for both in spellings)
    in_any_case = tuple(
        math.fsum(p for token, p in found.items() if _folds(token, both)) for both in spellings
    )
    if math.fsum(in_any_case) > 2 * math.fsum(shares):
        shares = in_any_case
    mass = math.fsum(shares)
    if mass > 1 + _SLACK:
        raise ValueError("more than all the probability")
    shares, mass = tuple(share / max(mass, 1.0) for share in shares), min(mass, 1.0)
    unshown = [sum(written not in found for written in both) for both in spellings]
    hidden = [both for both, count in zip(spellings, unshown, strict=True) if count == len(both)]
    begun = math.fsum(found[token] for token in found if _begins(token, hidden, spellings, found))
    if begun > TOLERANCE * (mass + begun):
        return None, SEVERAL
    least, left = min(found.values()), max(1 - math.fsum(found.values()), 0.0) + begun
    more = [min(count * least + begun, left) if count else 0.0 for count in unshown]
    if mass > 0 and (off := _off(shares, more, left)) > TOLERANCE:
        said = (
            f"{BELOW}: {sum(unshown)} of {2 * len(labels)} spellings of labels are not among the {len(found)} tokens "
            f"shown, so that a label's share may be off by {off:.2g}; use model.options.method: sampled"
        )
        first = max(range(len(shares)), key=lambda i: shares[i])
        at_most = (share + hidden for share, hidden in zip(shares, more, strict=True))
        sure = all(most <= shares[first] for i, most in enumerate(at_most) if i != first)
        return shares if sure else None, said
    return shares, None


def not_shown(top: Sequence[Any], labels: Sequence[str]) -> list[str]:
    """Return the labels of which no spelling is among the tokens shown.

    Examples
    --------
    >>> not_shown([{"token": " Yes", "logprob": -0.1}], ["No", "Yes"])
    ['No']
    """
    found = {_SPACE.sub(" ", token["token"]).strip().casefold() for token in top}
    return [label for label in labels if label.strip().casefold() not in found]


Spellings = Sequence[tuple[str, str]]


def _folds(token: str, spellings: tuple[str, str]) -> bool:
    """Whether a token is a label in one of its spellings, in any case if it has more than a letter."""
    written = spellings[0]
    if len(written) == 1:
        return token in spellings
    return token.casefold() in (spelling.casefold() for spelling in spellings)


def _off(shares: Sequence[float], more: Sequence[float], left: float) -> float:
    """Return by how much a label's share among the labels can be off if each had up to `more`, all up to `left`."""
    mass = math.fsum(shares)
    found = [0.0]
    for share, own in zip(shares, more, strict=True):
        others = min(math.fsum(more) - own, left)
        found += [(share + own) / (mass + own) - share / mass, share / mass - share / (mass + others)]
    return max(found)


def _begins(token: str, hidden: Spellings, every: Spellings, found: dict[str, float]) -> bool:
    """Whether a token may be the first of several of a label: of a hidden one, or a space before any."""
    if not token.strip():
        return token == " " and any(spaced not in found for _, spaced in every)
    return any(written.startswith(token) for both in hidden for written in both)
