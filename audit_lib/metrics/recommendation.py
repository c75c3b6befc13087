"""Do two groups get the same recommendations? Similarity of ranked lists, over counterfactual pairs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from itertools import chain, count
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import InputError
from audit_lib.metrics.pair_scores import PairScores, check_aligned

_BLOCK = 1 << 13  # pairs at a time, so that intermediate arrays stay in the processor's cache

Lists = Sequence[Sequence[Hashable]]
Divisor = Literal["pairs", "paper"]


def jaccard_at_k(group_lists: Lists, reference_lists: Lists, k: int) -> PairScores:
    """Return Jaccard-K: the mean over pairs of the items in both lists over the items in either.

    Parameters
    ----------
    group_lists, reference_lists : sequence of sequences of hashable items, shape (pairs,)
        Recommendations, best first, to prompts that differ by group alone; row i of both is one pair. Only
        the first k items of a list count. Items are the same if they are equal: bring titles to one form
        (case, white space) first.
    k : int
        How many places a list has. A list with fewer items leaves its last places empty.

    Returns
    -------
    PairScores
        Its ``mean`` is the metric, in [0, 1]; 1 = the same items.

    Raises
    ------
    InputError
        If the sides differ in length, k is not a whole number of at least 1, an item is missing (None) or
        stands twice among the first k of a list.
    UndefinedMetricError
        If there is no pair, or both lists of one are empty (listed in `undefined`; `mean_of_all` refuses them). A
        list against an empty one scores 0.

    References
    ----------
    Bouchard (2024), An actionable framework for assessing bias and fairness in large language model use
    cases; Zhang et al. (2023), Is ChatGPT fair for recommendation?

    Examples
    --------
    >>> jaccard_at_k([["a", "b", "c"]], [["b", "a", "d"]], k=3).mean
    0.5
    """
    return _Pairs(group_lists, reference_lists, k).jaccard()


def serp_at_k(group_lists: Lists, reference_lists: Lists, k: int) -> PairScores:
    """Return SERP-K: shared items, weighted by their place.

    The mean over pairs of the smaller of both directions of
    ``sum over shared items of (k - rank + 1) / (k (k + 1) / 2)``, the rank being that in the one list.

    Parameters
    ----------
    group_lists, reference_lists, k
        As for `jaccard_at_k`. Two equal lists of fewer than k items score below 1: the empty places are lost.

    Returns
    -------
    PairScores
        Its ``mean`` is the metric, in [0, 1]; equal lists of k items give 1, and so do lists of the same k items in
        any order.

    Raises
    ------
    InputError, UndefinedMetricError
        As for `jaccard_at_k`.

    References
    ----------
    As for `jaccard_at_k`; after Tomlein et al. (2021), An audit of misinformation filter bubbles on YouTube.

    Notes
    -----
    LangFair departs: its weights are one too high, it divides by 2 k (k + 1), and the second direction is
    never evaluated.

    Examples
    --------
    >>> serp_at_k([["a", "b", "c"]], [["a", "d", "e"]], k=3).mean
    0.5
    """
    return _Pairs(group_lists, reference_lists, k).serp()


def prag_at_k(
    group_lists: Lists, reference_lists: Lists, k: int, *, divisor: Divisor = "pairs"
) -> PairScores:
    """Return PRAG-K: pairs of items that both lists rank the same way.

    For each two items of one list, the upper before the lower, it counts whether the other list has the
    upper one and has it before the lower; a lower item that is absent there ranks last. Divided by
    k (k - 1) / 2; the mean over pairs of lists of the smaller of both directions. For k = 1: 1 for the same
    item, 0 for another.

    Parameters
    ----------
    group_lists, reference_lists, k
        As for `jaccard_at_k`. Two equal lists of fewer than k items score below 1: the empty places are lost.
    divisor : {"pairs", "paper"}
        ``pairs`` divides by k (k - 1) / 2, the number of pairs of items, so that equal lists of k items give
        1. ``paper`` divides by k (k + 1) as printed in the paper, which gives (k - 1) / (2 (k + 1)) for
        them; only to compare with numbers published so. It does not touch k = 1.

    Returns
    -------
    PairScores
        Its ``mean`` is the metric, in [0, 1].

    Raises
    ------
    InputError, UndefinedMetricError
        As for `jaccard_at_k`; also if the divisor is unknown.

    References
    ----------
    As for `jaccard_at_k`; after Beutel et al. (2019), Fairness in recommendation ranking through pairwise
    comparisons.

    Notes
    -----
    LangFair departs: it has the paper's divisor, and the second direction is never evaluated.

    Examples
    --------
    >>> prag_at_k([["a", "b", "c"]], [["a", "c", "b"]], k=3).mean
    0.6666666666666666
    """
    return _Pairs(group_lists, reference_lists, k).prag(divisor)


class _Pairs:
    """Pairs of lists as places: where each item of one list stands in the other.

    ``places[s][r, i]`` is the place (from 0) in the other list of the item at place r of side s's list i, k
    if it is absent there, and -1 if the place r is empty. Places come first, so that one comparison runs
    over many pairs at once.
    """

    def __init__(self, group_lists: Lists, reference_lists: Lists, k: int) -> None:
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
            raise InputError(f"k: expected a whole number of at least 1, got {k!r}")
        self.n = check_aligned(group_lists, reference_lists, "lists")
        self.k = int(k)  # what the weights and divisors are made of
        # Places beyond the longest list are empty in all, so they are not held.
        width = min(self.k, max(1, *(_length(items) for items in chain(group_lists, reference_lists))))
        numbers: defaultdict[Hashable, int] = defaultdict(count().__next__)
        ours = _codes(group_lists, width, numbers, "group_lists")
        theirs = _codes(reference_lists, width, numbers, "reference_lists")
        self.sizes = [(side >= 0).sum(axis=0) for side in (ours, theirs)]
        self.places = [_places(ours, theirs), _places(theirs, ours)]
        self.shared = [(side >= 0) & (side < width) for side in self.places]

    def jaccard(self) -> PairScores:
        both = self.shared[0].sum(axis=0)
        either = self.sizes[0] + self.sizes[1] - both
        return self._scores("jaccard_at_k", both / np.maximum(either, 1))

    def serp(self) -> PairScores:
        weights = self.k - np.arange(len(self.shared[0]))
        ours, theirs = (weights @ side for side in self.shared)
        return self._scores("serp_at_k", np.minimum(ours, theirs) / (self.k * (self.k + 1) // 2))

    def prag(self, divisor: Divisor) -> PairScores:
        if divisor not in ("pairs", "paper"):
            raise InputError(f"divisor: expected pairs or paper, got {divisor!r}")
        if self.k == 1:
            return self._scores("prag_at_k", self.shared[0][0].astype(np.float64))
        divide_by = self.k * (self.k - 1) // 2 if divisor == "pairs" else self.k * (self.k + 1)
        ours, theirs = (_ranked_alike(*side) for side in zip(self.places, self.shared, strict=True))
        return self._scores("prag_at_k", np.minimum(ours, theirs) / divide_by)

    def _scores(self, metric: str, values: NDArray[np.float64]) -> PairScores:
        empty = (self.sizes[0] == 0) & (self.sizes[1] == 0)
        undefined = dict.fromkeys(np.flatnonzero(empty).tolist(), "both lists are empty")
        return PairScores(metric=metric, values=np.where(empty, np.nan, values), undefined=undefined)


def _length(items: object) -> int:
    return len(items) if isinstance(items, Sequence | np.ndarray) else 0  # others are refused by row


def _codes(lists: Lists, k: int, numbers: defaultdict[Hashable, int], name: str) -> NDArray[np.int32]:
    """Number the items in each list's first k places, as an array (k, lists); -1 stands for an empty place."""
    for row, items in enumerate(lists):
        if isinstance(items, str) or not isinstance(items, Sequence | np.ndarray):
            what = "a text" if isinstance(items, str) else type(items).__name__
            raise InputError(f"{name}, row {row}: expected a list of items, got {what}; put it into a list")
    lengths = np.fromiter(map(len, lists), np.int64, len(lists))
    sizes = np.minimum(lengths, k)
    firsts = chain.from_iterable(lists if (lengths <= k).all() else (items[:k] for items in lists))
    try:
        found = np.fromiter(map(numbers.__getitem__, firsts), np.int32, int(sizes.sum()))
    except TypeError:
        raise InputError(f"{name}: an item is not hashable; give titles or ids") from None
    if any(_is_missing(item) for item in numbers if not isinstance(item, str)):
        raise InputError(f"{name}: an item is missing (None or NaN); leave it out of its list")
    by_list = np.full((len(lists), k), -1, np.int32)
    by_list[np.arange(k) < sizes[:, None]] = found
    codes = np.ascontiguousarray(by_list.T)
    for place in range(1, k):
        twice = ((codes[place] == codes[:place]) & (codes[place] >= 0)).any(axis=0)
        if twice.any():
            row = int(twice.argmax())
            raise InputError(f"{name}, row {row}: an item stands twice among the first {k}; keep its first")
    return codes


def _is_missing(item: object) -> bool:
    try:
        return item is None or bool(item != item)  # a NaN or NaT is not equal to itself
    except TypeError:
        return True  # pandas.NA is neither equal nor unequal


def _places(own: NDArray[np.int32], other: NDArray[np.int32]) -> NDArray[Any]:
    k = len(own)
    small = np.min_scalar_type(-k - 1)  # the smallest integers that hold -1 to k
    places = np.where(own >= 0, k, -1).astype(small)
    for start in range(0, places.shape[1], _BLOCK):
        block = slice(start, start + _BLOCK)
        here, there = own[:, block], other[:, block]
        for place in range(k):
            places[:, block][(here == there[place]) & (here >= 0)] = place
    return places


def _ranked_alike(places: NDArray[Any], shared: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Count the pairs of items, upper before lower, that the other list ranks so too."""
    total = np.zeros(places.shape[1], np.int64)
    for start in range(0, total.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        for upper in range(len(places) - 1):
            below = (places[upper, block] < places[upper + 1 :, block]) & shared[upper, block]
            total[block] += below.sum(axis=0, dtype=np.int32)
    return total
