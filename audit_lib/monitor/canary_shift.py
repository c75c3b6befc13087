"""Whether canaries moved by more than they do by themselves: their noise floor is how earlier windows differ."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import Final

import numpy as np
from numpy.typing import NDArray

from audit_lib.documents.attribution import CanaryShift
from audit_lib.documents.window_cells import KeptCanary, WindowCells
from audit_lib.results import Undefined
from audit_lib.seeds import generator

_DRAWS: Final = 999
_ALPHA: Final = 0.01
_FEWEST_WAYS: Final = 200
"""Ways to exchange windows below which a level of 1% is hardly reached."""
_FAR: Final = 2.0


def canary_shift(before: Sequence[WindowCells], after: Sequence[WindowCells]) -> CanaryShift:
    """Compare the answers to canaries that every window asked, window by window.

    The level is that of exchanging windows between the sides. Where there are too few windows for that, they moved
    where the nearest two windows of different sides are more than twice as far apart as any two windows before.
    """
    sets = [{one.request_digest: one for one in window.canaries} for window in (*before, *after)]
    asked = sorted(set.intersection(*map(set, sets))) if sets else []
    sizes = (len(before), len(after))
    none = Undefined("no canary was asked in all of these windows")
    if not asked:
        return CanaryShift(compared=0, windows=sizes, between=none, noise=none, p_value=none, moved=None)
    distance = np.zeros((len(sets), len(sets)))
    for one, other in combinations(range(len(sets)), 2):
        apart = float(np.mean([_distance(sets[one][key], sets[other][key]) for key in asked]))
        distance[one, other] = distance[other, one] = apart
    first = np.arange(len(sets)) < len(before)
    between = float(distance[np.ix_(first, ~first)].mean())
    pairs = [distance[one, other] for one, other in combinations(range(len(before)), 2)]
    few = Undefined("one window before: how far canaries move by themselves is not known")
    if not pairs:
        return CanaryShift(
            compared=len(asked), windows=sizes, between=between, noise=few, p_value=few,
            moved=False if between == 0 else None,
        )  # fmt: skip
    p_value: float | Undefined
    if comb(len(sets), len(before)) < _FEWEST_WAYS:
        p_value = Undefined("too few windows to exchange them")
        moved = float(distance[np.ix_(first, ~first)].min()) > _FAR * max(pairs)
    else:
        p_value = _by_exchange(distance, first)
        moved = p_value <= _ALPHA
    return CanaryShift(
        compared=len(asked), windows=sizes, between=between, noise=float(np.mean(pairs)), p_value=p_value,
        moved=moved,
    )  # fmt: skip


def _by_exchange(distance: NDArray[np.float64], first: NDArray[np.bool_]) -> float:
    """Share of the ways to deal windows to the sides that keep them as far apart, these included."""
    random = generator(0, "canary shift")
    ways = np.stack([first, *(random.permutation(first) for _ in range(_DRAWS))])
    # Twice the mean distance between the sides, less those within them.
    sides = ways / first.sum() - ~ways / (~first).sum()
    energy = -np.einsum("wi,ij,wj->w", sides, distance, sides, optimize=True)
    return float((energy >= energy[0] - 1e-12).mean())


def _distance(one: KeptCanary, other: KeptCanary) -> float:
    """0 for the same answer; how far probabilities or scores are apart; 1 for another status or text."""
    if one.status != other.status:
        return 1.0
    if one.label_probabilities is not None and other.label_probabilities is not None:
        pairs = zip(one.label_probabilities, other.label_probabilities, strict=True)
        return max((abs(a - b) for a, b in pairs), default=0.0)
    if one.score is not None and other.score is not None:
        return abs(one.score - other.score)
    return float(one.text_sha256 != other.text_sha256)
