"""A small set of combinations in which every two values of two axes come together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product


def covering(axes: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Return rows so that each pair of values of two axes stands in one of them; the same rows for the same axes.

    Each row takes, of all there are, one that brings the most pairs that are not there yet: the first of equal ones.

    Examples
    --------
    >>> covering([["a", "b"], ["1", "2"], ["x", "y"]])
    [('a', '1', 'x'), ('a', '2', 'y'), ('b', '1', 'y'), ('b', '2', 'x')]
    """
    places = list(combinations(range(len(axes)), 2))
    open_pairs = {(i, j, one, other) for i, j in places for one, other in product(axes[i], axes[j])}
    every = list(product(*axes))
    rows = []
    while open_pairs:
        best = max(every, key=lambda row: sum((i, j, row[i], row[j]) in open_pairs for i, j in places))
        open_pairs -= {(i, j, best[i], best[j]) for i, j in places}
        rows.append(best)
    return rows
