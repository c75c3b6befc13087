"""Which next tokens must be looked at, and where, for the probabilities of labels of several tokens.

A sequence's probability is the product of each token's after all before it. So one look at what follows a beginning
serves every label that begins so: labels of one token take a single look, "1" to "10" take two.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from audit_lib.score.local.trie import Tokens

Looks = dict[Tokens, tuple[int, ...]]
"""Beginning of a label -> the tokens whose probability after it is wanted."""


def looks_at(sequences: Iterable[Tokens]) -> Looks:
    """Return what to look at for the probabilities of `sequences`, shortest beginnings first.

    Examples
    --------
    >>> looks_at([(1,), (1, 0), (7,)])
    {(): (1, 7), (1,): (0,)}
    """
    wanted: dict[Tokens, set[int]] = {}
    for sequence in sequences:
        for place, token in enumerate(sequence):
            wanted.setdefault(sequence[:place], set()).add(token)
    return {
        beginning: tuple(sorted(wanted[beginning])) for beginning in sorted(wanted, key=lambda b: (len(b), b))
    }


def probabilities_of(
    sequences: Iterable[Tokens], found: Mapping[tuple[Tokens, int], float]
) -> dict[Tokens, float]:
    """Return the probability of each sequence from the log-probabilities of (beginning, next token).

    Examples
    --------
    >>> logs = {((), 1): math.log(0.5), ((1,), 0): math.log(0.25)}
    >>> {s: round(p, 6) for s, p in probabilities_of([(1,), (1, 0)], logs).items()}
    {(1,): 0.5, (1, 0): 0.125}
    """
    return {s: math.exp(sum(found[s[:place], token] for place, token in enumerate(s))) for s in sequences}
