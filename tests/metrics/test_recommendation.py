"""Similarity of ranked lists: by hand, against slow and independent counts, and at its edges."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics import recommendation
from tests.metrics.means import mean_of_all

jaccard_at_k, serp_at_k, prag_at_k = map(
    mean_of_all, (recommendation.jaccard_at_k, recommendation.serp_at_k, recommendation.prag_at_k)
)

METRICS = [jaccard_at_k, serp_at_k, prag_at_k]
LISTS = st.permutations([f"title {i}" for i in range(6)]).flatmap(
    lambda items: st.integers(1, 6).map(lambda size: list(items)[:size])
)
PAIRS = st.lists(st.tuples(LISTS, LISTS), min_size=1, max_size=6)


def slow(ours: list[str], theirs: list[str], k: int) -> tuple[float, float, float]:
    ours, theirs = ours[:k], theirs[:k]
    jaccard = len({*ours} & {*theirs}) / len({*ours} | {*theirs})

    def serp(a: list[str], b: list[str]) -> float:
        return sum(k - rank + 1 for rank, item in enumerate(a, 1) if item in b) / (k * (k + 1) / 2)

    def prag(a: list[str], b: list[str]) -> float:
        if k == 1:
            return float(a == b)
        count = 0
        for i, upper in enumerate(a):
            for lower in a[i + 1 :]:
                if upper in b and (lower not in b or b.index(upper) < b.index(lower)):
                    count += 1
        return count / (k * (k - 1) / 2)

    return (
        jaccard,
        min(serp(ours, theirs), serp(theirs, ours)),
        min(prag(ours, theirs), prag(theirs, ours)),
    )


def test_by_hand() -> None:
    ours, theirs = ["a", "b", "c", "d"], ["b", "a", "e", "f"]
    assert jaccard_at_k([ours], [theirs], k=4) == pytest.approx(2 / 6)
    assert serp_at_k([ours], [theirs], k=4) == pytest.approx((4 + 3) / 10)
    # a before c, d and b before c, d hold; a before b does not: 4 of 6, and the same from the other side.
    assert prag_at_k([ours], [theirs], k=4) == pytest.approx(4 / 6)


def test_the_smaller_direction_counts() -> None:
    # c stands last in one list and first in the other: SERP 1/6 and 3/6. From the one, c is below all and
    # nothing of it is there: 0 pairs; from the other, c stands before two that are absent.
    assert serp_at_k([["a", "b", "c"]], [["c", "d", "e"]], k=3) == pytest.approx(1 / 6)
    assert serp_at_k([["c", "d", "e"]], [["a", "b", "c"]], k=3) == pytest.approx(1 / 6)
    assert prag_at_k([["a", "b", "c"]], [["c", "d", "e"]], k=3) == 0
    assert prag_at_k([["c", "d", "e"]], [["a", "b", "c"]], k=3) == 0


@pytest.mark.parametrize("k", [2, 3, 5, 20])
def test_the_papers_divisor(k: int) -> None:
    items = [list(range(k))]
    assert prag_at_k(items, items, k) == 1
    assert prag_at_k(items, items, k, divisor="paper") == pytest.approx((k - 1) / (2 * (k + 1)))


@pytest.mark.parametrize("divisor", ["pairs", "paper"])
def test_one_place(divisor: str) -> None:
    assert prag_at_k([["a"], ["a"]], [["a"], ["b"]], 1, divisor=divisor) == 0.5  # type: ignore[arg-type]
    assert serp_at_k([["a"], ["a"]], [["a"], ["b"]], 1) == 0.5


@given(PAIRS, st.integers(1, 8))
def test_against_slow_counts(pairs: list[tuple[list[str], list[str]]], k: int) -> None:
    ours, theirs = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    expected = np.array([slow(*pair, k) for pair in pairs])
    kernels = (recommendation.jaccard_at_k, recommendation.serp_at_k, recommendation.prag_at_k)
    found = np.stack([kernel(ours, theirs, k).values for kernel in kernels], axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose([metric(ours, theirs, k) for metric in METRICS], expected.mean(axis=0))


@given(PAIRS, st.integers(1, 6))
def test_symmetric_bounded_and_1_for_equal_lists(pairs: list[tuple[list[str], list[str]]], k: int) -> None:
    ours, theirs = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    for metric in METRICS:
        value = metric(ours, theirs, k)
        assert 0 <= value <= 1
        assert metric(theirs, ours, k) == value
        full = [items for items in ours if len(items) >= k]
        if full:
            assert metric(full, full, k) == 1
    assert jaccard_at_k(ours, ours, k) == 1


def test_only_the_first_k_items_count() -> None:
    for metric in METRICS:
        assert metric([["a", "b", "c", "c"]], [["a", "b", "d"]], 2) == 1


def test_a_short_list_loses_its_empty_places() -> None:
    assert serp_at_k([["a"]], [["a"]], k=2) == pytest.approx(2 / 3)
    assert prag_at_k([["a", "b"]], [["a", "b"]], k=3) == pytest.approx(1 / 3)
    assert jaccard_at_k([["a"]], [["a"]], k=2) == 1


def test_blocks_do_not_change_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    ours, theirs = ([rng.permutation(9)[:5].tolist() for _ in range(23)] for _ in range(2))
    whole = [metric(ours, theirs, 5) for metric in METRICS]
    monkeypatch.setattr(recommendation, "_BLOCK", 4)
    assert [metric(ours, theirs, 5) for metric in METRICS] == whole


@pytest.mark.parametrize("metric", METRICS)
def test_an_empty_list_scores_0_and_two_have_no_value(metric: Callable[..., float]) -> None:
    assert metric([[], ["a"]], [["a"], []], 1) == 0
    with pytest.raises(
        UndefinedMetricError, match=r"1 of 2 pairs have no value \(row 1: both lists are empty\)"
    ):
        metric([["a"], []], [["a"], []], 1)
    assert recommendation.serp_at_k([["a"], []], [["a"], []], 1).mean == 1
    with pytest.raises(UndefinedMetricError, match="no pairs"):
        metric([], [], 1)


@pytest.mark.parametrize("metric", METRICS)
def test_what_is_refused(metric: Callable[..., float]) -> None:
    with pytest.raises(InputError, match="reference_lists, row 1: an item stands twice among the first 3"):
        metric([["a", "b"]] * 2, [["a", "b"], ["c", "x", "c"]], 3)
    with pytest.raises(InputError, match="group_lists: an item is missing"):
        metric([["a", None]], [["a", "b"]], 2)
    with pytest.raises(InputError, match="1 in the group, 2 in the reference"):
        metric([["a"]], [["a"], ["b"]], 1)
    with pytest.raises(InputError, match="put it into a list"):
        metric(["ab"], ["ab"], 2)
    for k in (0, -1, 1.5, True):
        with pytest.raises(InputError, match="k: expected"):
            metric([["a"]], [["a"]], k)


def test_an_unknown_divisor() -> None:
    with pytest.raises(InputError, match="divisor"):
        prag_at_k([["a"]], [["a"]], 1, divisor="other")  # type: ignore[arg-type]


@pytest.mark.parametrize("item", [None, float("nan"), np.nan, pd.NA, pd.NaT])
def test_a_missing_item_is_refused(item):
    with pytest.raises(InputError, match="an item is missing"):
        jaccard_at_k([["a", item]], [["a", "b"]], k=2)


@pytest.mark.parametrize(
    ("lists", "message"), [([None], "row 0: expected a list"), ([["a", ["b"]]], "hashable")]
)
def test_what_is_no_list_of_items_is_refused(lists, message):
    with pytest.raises(InputError, match=message):
        jaccard_at_k(lists, [["a"]], k=2)


def test_places_that_no_list_fills_cost_nothing():
    ours, theirs = [[1, 2, 3]], [np.array([3, 2, 9])]
    assert jaccard_at_k(ours, theirs, k=10**7) == 0.5
    k = 1000
    # 2 stands second in both, 3 third and first.
    assert serp_at_k(ours, theirs, k) == ((k - 1) + (k - 2)) / (k * (k + 1) // 2)
    assert prag_at_k(ours, ours, k) == 3 / (k * (k - 1) // 2)
    assert prag_at_k([["a"]], [["a"]], k) == 0
