"""Rates above an estimated median: against the bootstrap, ties, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.results import Interval
from audit_lib.stats.estimated_median import rates_above_median


def log_ratio(scores: np.ndarray, group: np.ndarray) -> float:
    """By its definition, sharing nothing with the code."""
    above = scores > np.median(scores)
    return float(np.log(above[group == 0].mean() / above[group == 1].mean()))


@pytest.mark.parametrize("each", [1, 5])
def test_the_error_is_the_bootstrap_s(each: int) -> None:
    rng = np.random.Generator(np.random.PCG64(3))
    people = 400 // each
    own = [np.repeat(rng.normal(size=people), each) + rng.normal(size=people * each) for _ in range(2)]
    scores = np.concatenate([own[0], 0.5 + 6 * own[1]])
    group, person = np.repeat([0, 1], people * each), np.repeat(np.arange(2 * people), each)
    found = rates_above_median(scores, group, 2, person if each > 1 else None)
    rates, cov = np.array(found.above) / found.totals, found.covariance
    variance = cov[0, 0] / rates[0] ** 2 + cov[1, 1] / rates[1] ** 2 - 2 * cov[0, 1] / rates.prod()
    rows = np.arange(scores.size).reshape(2, people, each)
    drawn = []
    for _ in range(1000):
        index = np.concatenate([side[rng.integers(0, people, people)].ravel() for side in rows])
        drawn.append(log_ratio(scores[index], group[index]))
    assert np.sqrt(variance) == pytest.approx(np.std(drawn), rel=0.1)
    # Taken as fixed, the error is far smaller: the test would see it.
    fixed = sum((1 - p) / (p * n) for p, n in zip(rates, found.totals, strict=True))
    assert variance > 1.3 * fixed


def test_a_median_beyond_doubt_adds_no_error() -> None:
    """Ratings of which most are 3: the median is 3 in any sample, and the rates are binomial."""
    scores, group = np.tile([3.0] * 8 + [4.0, 1.0], 40), np.repeat([0, 1], 200)
    found = rates_above_median(scores, group, 2)
    assert not found.local.any()
    assert np.diag(found.covariance) == pytest.approx([0.1 * 0.9 / 199] * 2)
    assert found.covariance[0, 1] == 0.0


def test_a_median_that_may_be_one_value_or_another_is_refused() -> None:
    scores, group = np.tile([1.0, 2.0], 100), np.repeat([0, 1], 100)
    with pytest.raises(UndefinedMetricError, match="100 of 200 scores near the median are equal"):
        rates_above_median(scores, group, 2)


def test_people_of_unknown_category_are_in_the_median_only() -> None:
    rng = np.random.Generator(np.random.PCG64(5))
    scores, group = rng.normal(size=300), np.repeat([0, 1, -1], 100)
    found = rates_above_median(scores, group, 2)
    assert found.totals == (100, 100)
    median = np.median(scores)
    assert found.above == tuple(int((scores[group == side] > median).sum()) for side in (0, 1))


def test_what_cannot_be_told_is_refused() -> None:
    rng = np.random.Generator(np.random.PCG64(5))
    scores = rng.normal(size=40)
    with pytest.raises(InputError, match="give one of each a person"):
        rates_above_median(scores, [0, 1], 2)
    with pytest.raises(UndefinedMetricError, match="nobody was assessed"):
        rates_above_median(scores, np.zeros(40, int), 2)
    with pytest.raises(UndefinedMetricError, match="one person, or one cluster"):
        rates_above_median(scores, np.repeat([0, 1], 20), 2, np.repeat([0, 1, 2, 3], [20, 10, 5, 5]))


@pytest.mark.parametrize("spread", [1.0, 15.0])
def test_it_holds_the_ratio_at_the_population_s_median(spread: float) -> None:
    """A hundredth of the study in docs/coverage.md."""
    rng = np.random.Generator(np.random.PCG64(17))
    group, held = np.repeat([0, 1], 150), 0
    for _ in range(300):  # symmetric about 0: the median is 0, and both rates are one half
        scores = np.concatenate([rng.normal(size=150), spread * rng.normal(size=150)])
        found = rates_above_median(scores, group, 2).ratios().pairs[0].interval
        assert isinstance(found, Interval)
        held += found.low <= 1.0 <= found.high
    assert 0.91 <= held / 300 <= 0.985


@pytest.mark.parametrize(
    "name", [lambda code: 3 * code + 5, lambda code: code - 40, lambda code: code * 10**9]
)
def test_what_clusters_are_called_changes_nothing(name: Callable[[np.ndarray], np.ndarray]) -> None:
    rng = np.random.default_rng(8)
    scores, category = rng.normal(size=400).round(3), np.repeat([0, 1], 200)
    clusters = rng.integers(0, 80, 400)
    found = rates_above_median(scores, category, 2, clusters)
    other = rates_above_median(scores, category, 2, name(clusters))
    units = [len(set(clusters[category == j].tolist())) for j in (0, 1)]
    assert found.units == other.units == min(units)
    assert found.covariance.tolist() == other.covariance.tolist()
    assert found.local.tolist() == other.local.tolist()
