"""Intervals of bounds: what they hold, where the plain estimate of the bounds holds nothing."""

from __future__ import annotations

import numpy as np
import pytest

from audit_lib.errors import UndefinedMetricError
from audit_lib.metrics import imputed_rate_bounds
from audit_lib.stats.imputed import CellShares, ImputedRates


def rates(share: np.ndarray, selected: np.ndarray, **given: object) -> ImputedRates:
    """Of two groups, each row its own cell and cluster unless told otherwise."""
    n = selected.size
    known = {
        "cells": np.arange(n), "clusters": np.arange(n), "shares": CellShares(value=np.column_stack([share, 1 - share]))
    }  # fmt: skip
    return ImputedRates(selected=selected.astype(float), seed=3, **{**known, **given})


def test_large_cells_have_the_sharp_bounds() -> None:
    rng = np.random.default_rng(1)
    share, rate = np.array([0.1, 0.4, 0.8, 0.95]), np.array([0.3, 0.2, 0.6, 0.5])
    cells = np.repeat(np.arange(4), 2_000)
    selected = rng.random(cells.size) < rate[cells]
    found = rates(share, selected, cells=cells)
    won, people = np.bincount(cells, selected), np.bincount(cells)
    exact = imputed_rate_bounds({0: share, 1: 1 - share}, won, people)
    for group in (0, 1):
        assert found.bounds(group) == pytest.approx(exact[group], abs=1e-12)


def test_people_with_probabilities_of_their_own_have_bounds_all_the_same() -> None:
    """With one person a cell the sample's rates are 0 and 1, and the plain bounds meet at the weighted estimate."""
    rng = np.random.default_rng(2)
    share = rng.random(4_000)
    selected = rng.random(4_000) < 0.3 + 0.2 * share
    plain = imputed_rate_bounds({0: share, 1: 1 - share}, selected, np.ones(4_000))
    found = rates(share, selected)
    assert plain[0][0] == pytest.approx(plain[0][1]) == pytest.approx(found.weighted(0))
    grid = np.linspace(0, 1, 100_001)
    rate = 0.3 + 0.2 * grid
    true = np.maximum(0, grid + rate - 1).mean() / 0.5, np.minimum(grid, rate).mean() / 0.5
    assert found.bounds(0) == pytest.approx(true, abs=0.03)
    low, high = found.interval(0, 0.95).low, found.interval(0, 0.95).high
    assert low < true[0] < true[1] < high


def test_where_membership_is_certain_the_bounds_are_the_rate() -> None:
    share = np.repeat([1.0, 0.0], 200)
    selected = np.tile([1, 0, 0, 0, 1, 0, 0, 1, 0, 0], 40)
    found = rates(share, selected, cells=np.repeat([0, 1], 200), shares=CellShares(value=np.eye(2)))
    assert found.bounds(0) == pytest.approx((0.3, 0.3)) and found.weighted(0) == pytest.approx(0.3)
    interval = found.gap_interval(0, 1, 0.95)
    assert interval.low < -0.08 and interval.high > 0.08


def test_counted_shares_widen_the_interval_and_more_counted_people_less() -> None:
    rng = np.random.default_rng(4)
    cells = np.repeat([0, 1], 500)
    selected = rng.random(1_000) < np.where(cells == 0, 0.3, 0.5)
    right = CellShares(value=np.array([[0.9, 0.1], [0.1, 0.9]]))
    widths = []
    for shares in (right, *(CellShares.of_counts(k * np.array([[9, 1], [1, 9]])) for k in (1_000, 10))):
        one = rates(np.empty(0), selected, cells=cells, shares=shares).interval(0, 0.95)
        widths.append(one.high - one.low)
    assert widths[0] < widths[1] < widths[2]
    other = rates(np.empty(0), selected, cells=cells, shares=right).interval(0, 0.99)
    assert other.high - other.low > widths[0]


def test_shares_reach_what_their_counts_allow_together() -> None:
    shares = CellShares.of_counts(np.array([[8, 2], [0, 20]]))
    low, high = shares.reach(0, 0.05, 1)
    assert low[0] < 0.8 < high[0] and low[1] == 0.0 and 0.15 < high[1] < 0.2  # 1 - 0.0125^(1/20)
    wider = shares.reach(0, 0.05, 2)
    assert (wider[0] <= low).all() and (wider[1] > high).all()


def test_applications_with_several_rows_count_once() -> None:
    rng = np.random.default_rng(5)
    share, selected = rng.choice([0.2, 0.5, 0.9], 200), rng.random(200) < 0.4
    once = rates(share, selected).interval(0, 0.95)
    four = np.tile(np.arange(200), 4)
    again = rates(np.tile(share, 4), np.tile(selected, 4), clusters=four).interval(0, 0.95)
    assert again.high - again.low == pytest.approx(once.high - once.low, rel=0.1)


def test_what_cannot_be_known_is_undefined() -> None:
    with pytest.raises(UndefinedMetricError, match="nobody belongs"):
        rates(np.zeros(50), np.arange(50) % 2).bounds(0)
    with pytest.raises(UndefinedMetricError, match="no spread"):
        rates(np.full(50, 0.5), np.zeros(50)).interval(0, 0.95)
    with pytest.raises(UndefinedMetricError, match="1 cluster"):
        rates(np.full(50, 0.5), np.arange(50) % 2, clusters=np.zeros(50, dtype=int)).interval(0, 0.95)


@pytest.mark.parametrize("end", ["low", "high"])
def test_the_intervals_hold_truths_that_lie_at_an_end(end: str) -> None:
    """200 draws of 300 people with a probability each; the group is selected as seldom, or as often, as it can be."""
    held, draws = np.zeros(4), 200
    grid = np.linspace(0.0005, 0.9995, 1_000)
    rate = 0.25 + 0.3 * grid
    both = np.maximum(0, grid + rate - 1) if end == "low" else np.minimum(grid, rate)
    own, other = both.mean() / grid.mean(), (rate - both).mean() / (1 - grid).mean()
    truth = own, own - other, own / max(own, other), other / max(own, other)
    for number in range(draws):
        rng = np.random.default_rng([7, number])
        share = rng.random(300)
        one = rates(share, rng.random(300) < 0.25 + 0.3 * share)
        found = (
            one.interval(0, 0.95),
            one.gap_interval(0, 1, 0.95),
            one.ratio_interval(0, 0.95),
            one.ratio_interval(1, 0.95),
        )
        held += [low.low <= true <= low.high for low, true in zip(found, truth, strict=True)]
    assert (held / draws >= 0.92).all(), held / draws  # 0.95, less two Monte Carlo errors


def test_a_group_without_members_is_left_out_of_ratios() -> None:
    cells, units = np.repeat([0, 1], 100), np.arange(200)
    selected = np.tile([1.0, 0.0, 1.0, 0.0, 0.0], 40)
    two = np.array([[0.9, 0.1], [0.1, 0.9]])
    three = np.column_stack([two, [0.0, 0.0]])
    of_two, of_three = (
        ImputedRates(selected, cells, units, CellShares(value=own), 7) for own in (two, three)
    )
    assert of_three.ratio(0) == of_two.ratio(0)
    assert of_three.ratio_interval(0, 0.95) == of_two.ratio_interval(0, 0.95)
    with pytest.raises(UndefinedMetricError):
        of_three.ratio(2)


def test_clusters_count_by_the_members_that_they_are_expected_to_hold() -> None:
    clusters = np.repeat(np.arange(40), 5)
    selected = (np.arange(200) % 3 == 0).astype(float)
    shares = CellShares(value=np.array([[0.9, 0.1], [0.001, 0.999]]))
    few = ImputedRates(selected, np.where(clusters < 2, 0, 1), clusters, shares, seed=7)
    with pytest.raises(UndefinedMetricError, match="are worth 2"):
        few.interval(0, 0.95)
    assert few.interval(1, 0.95).high <= 1.0  # the other group is everywhere
    many = ImputedRates(selected, np.where(clusters < 4, 0, 1), clusters, shares, seed=7)
    assert many.interval(0, 0.95).low >= 0.0
