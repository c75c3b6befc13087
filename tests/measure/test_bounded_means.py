"""Means of bounded values: at a bound, near one, and far from both."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from scipy.stats import beta

from audit_lib.measure.estimates.bounded_means import CLIPPED, bounded_gap, bounded_mean
from audit_lib.measure.inference import mean_gap
from audit_lib.measure.sides import Side
from audit_lib.results import Interval, TestResult, Undefined
from audit_lib.stats import cluster_interval, wilson

SHARE = (0.0, 1.0)


def side(values: list[float], clusters: np.ndarray | None = None) -> Side:
    own = np.arange(len(values), dtype=np.int32) if clusters is None else clusters.astype(np.int32)
    units = int(own.max()) + 1
    occurs = np.zeros(units, dtype=bool)
    occurs[own] = True
    return Side(values=np.array(values, dtype=float), clusters=own, units=units, occurs=occurs)


def interval_of(values: np.ndarray, clusters: np.ndarray, bounds: tuple[float, float] = SHARE) -> Interval:
    interval = bounded_mean(values, clusters, int(clusters.max()) + 1, 0.95, bounds).interval
    assert isinstance(interval, Interval)
    return interval


def test_none_and_all_of_a_rate_have_the_limits_of_their_clusters() -> None:
    clusters = np.arange(60) // 3
    none, everything = (interval_of(np.full(60, value), clusters) for value in (0.0, 1.0))
    limit = beta.ppf(0.975, 1, 20)
    assert (none.low, none.high) == (0.0, pytest.approx(limit))
    assert (everything.low, everything.high) == (pytest.approx(1 - limit), 1.0)
    assert "Clopper-Pearson over 20 clusters" in none.method
    same = interval_of(np.full(60, 1.0 - 1e-14), clusters, (-1.0, 1.0))  # cosines of equal vectors
    assert (same.low, same.high) == (pytest.approx(1 - 2 * limit), 1.0)
    between = bounded_mean(np.full(60, 0.25), clusters, 20, 0.95, SHARE).interval
    assert isinstance(between, Undefined)


def test_a_rate_of_people_apart_is_nearly_wilsons() -> None:
    values = (np.arange(200) < 30).astype(float)
    found, plain = interval_of(values, np.arange(200)), wilson(30, 200)
    assert (found.low, found.high) == (
        pytest.approx(plain.low, rel=0.02),
        pytest.approx(plain.high, rel=0.02),
    )
    assert "Wilson" in found.method
    # Each person five times over says no more than once.
    five = interval_of(np.repeat(values, 5), np.repeat(np.arange(200), 5))
    assert (five.low, five.high) == (pytest.approx(found.low), pytest.approx(found.high))


def test_limits_beyond_a_bound_are_cut_and_marked() -> None:
    values = np.array([1.0] * 18 + [0.95, 0.2])
    found = bounded_mean(values, np.arange(20), 20, 0.95, SHARE)
    plain = cluster_interval((values - values.mean()) / 20, np.arange(20), values.mean())
    assert plain.high > 1.0
    assert isinstance(found.interval, Interval)
    assert (found.interval.low, found.interval.high) == (plain.low, 1.0)
    assert found.flags == (CLIPPED,)
    inside = bounded_mean(np.linspace(0.3, 0.6, 20), np.arange(20), 20, 0.95, SHARE)
    assert inside.flags == ()
    # A classifier whose scores leave [0, 1] has no such bounds.
    wild = bounded_mean(values * 3, np.arange(20), 20, 0.95, SHARE)
    assert isinstance(wild.interval, Interval)
    assert wild.interval.high > 3.0
    assert wild.flags == ()


def test_a_gap_from_nobody_allows_for_both_sides() -> None:
    group, nobody = side([1.0] * 6 + [0.0] * 34), side([0.0] * 40)
    found, plain = bounded_gap(SHARE)(group, nobody, 0.95), mean_gap(group, nobody, 0.95)
    assert isinstance(found.interval, Interval)
    assert isinstance(plain.interval, Interval)
    upper, zero = interval_of(group.values, np.arange(40)), beta.ppf(0.975, 1, 40)
    below = np.hypot(0.15 - upper.low, zero)
    assert found.interval.low == pytest.approx(0.15 - below)
    assert found.interval.high == pytest.approx(upper.high)
    assert "MOVER" in found.interval.method
    swapped = bounded_gap(SHARE)(nobody, group, 0.95).interval
    assert isinstance(swapped, Interval)
    assert (swapped.low, swapped.high) == pytest.approx((-found.interval.high, -found.interval.low))


@pytest.mark.parametrize("flagged", [1, 3, 6, 20])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_the_test_of_a_gap_from_nobody_agrees_with_its_interval(flagged: int, level: float) -> None:
    sides = side([1.0] * flagged + [0.0] * (40 - flagged)), side([0.0] * 40)
    found = bounded_gap(SHARE)(*sides, level)
    assert isinstance(found.test, TestResult)
    assert isinstance(found.test.p_value, float)
    assert isinstance(found.interval, Interval)
    assert (found.test.p_value < 1 - level) == (found.interval.low > 0)


def test_nobody_on_both_sides_is_no_certainty_and_others_are_as_before() -> None:
    nobody = side([0.0] * 40)
    found = bounded_gap(SHARE)(nobody, nobody, 0.95)
    assert isinstance(found.interval, Interval)
    limit = beta.ppf(0.975, 1, 40)
    assert (found.interval.low, found.interval.high) == pytest.approx((-limit, limit))
    assert isinstance(found.test, Undefined)
    rng = np.random.Generator(np.random.PCG64(1))
    sides = side(list(rng.random(40))), side(list(rng.random(40)))
    found, plain = bounded_gap(SHARE)(*sides, 0.95), mean_gap(*sides, 0.95)
    for field in fields(plain):  # arrays among them
        np.testing.assert_equal(getattr(found, field.name), getattr(plain, field.name))


def test_a_round_that_always_goes_the_same_way_has_limits_of_both_sides() -> None:
    # Who wins the place of a round takes it from the other: 1 against 0 in all of 30 rounds.
    wins, losses = (side([value] * 30, np.arange(30)) for value in (1.0, 0.0))
    found = bounded_gap(SHARE, opposed=True)(wins, losses, 0.95)
    assert isinstance(found.interval, Interval) and isinstance(found.test, TestResult)
    # If the share of rounds won is above 1 - L, the gap, which is twice that less 1, is above 1 - 2 L.
    limit = beta.ppf(0.975, 1, 30)
    assert (found.value, found.interval.low) == (1.0, pytest.approx(1 - 2 * limit))
    assert found.interval.low < bounded_gap(SHARE)(wins, losses, 0.95).interval.low  # type: ignore[union-attr]
    # At 1 - p the interval ends at 0: 2 L = 1 with (p / 2)^(1/30) = 1/2, the sign test of the rounds.
    assert found.test.p_value == pytest.approx(2 * 0.5**30, rel=0.1, abs=1e-9)


def test_of_people_apart_opposed_changes_nothing() -> None:
    ones, none = np.arange(40), np.arange(40, 80)
    group, nobody = side([1.0] * 6 + [0.0] * 34, ones), side([0.0] * 40, none)
    group, nobody = (
        Side(values=s.values, clusters=s.clusters, units=80, occurs=np.isin(np.arange(80), s.clusters))
        for s in (group, nobody)
    )
    plain, opposed = (bounded_gap(SHARE, opposed=o)(group, nobody, 0.95) for o in (False, True))
    assert plain.interval == opposed.interval and plain.test == opposed.test
