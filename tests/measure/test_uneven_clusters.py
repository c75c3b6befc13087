"""A category whose people are mostly in one application has no interval, and does not take those of the others."""

from __future__ import annotations

import numpy as np
import pytest

from audit_lib.measure.statutory.intervals import AMONG, Clusters, counted_rows, ratio_intervals
from audit_lib.metrics.impact import impact_ratios
from audit_lib.results import Interval, Undefined
from audit_lib.stats import ClusteredRates, ratio_of_proportions, simultaneous_ratios

LABELS = ("a", "b", "c")


def table(large: int) -> tuple[Clusters, list]:
    """Three categories in applications of five people; one of them has another of 3,000, all of the category's."""
    people = np.zeros((3, 91), dtype=int)
    for category in range(3):
        people[category, 30 * category : 30 * (category + 1)] = 5
    people[large, 90] = 3000
    won = np.random.default_rng(2).binomial(people, np.array([0.5, 0.4, 0.3])[:, None])
    rates = ClusteredRates.of(won, people)
    law = impact_ratios(
        dict(zip(LABELS, rates.selected, strict=True)), dict(zip(LABELS, rates.totals, strict=True))
    )
    places = {label: place for place, label in enumerate(LABELS)}
    return Clusters(unit="application", places=places, rates=rates, units=91, level=0.95), list(law.rows)


def test_a_category_that_is_not_the_highest_is_left_out_and_the_others_say_so() -> None:
    clusters, rows = table(large=2)
    found = clusters.to_highest(rows)
    assert set(found) == {"a", "b"} and {one.method for one in found.values()} == {AMONG}
    reason = clusters.ratio(rows[2], rows[0])
    assert isinstance(reason, Undefined) and "the largest holds 95% of the people" in reason.reason
    assert clusters.rate("c", rows[2].selected, rows[2].total) == reason
    assert isinstance(clusters.ratio(rows[1], rows[0]), Interval)


@pytest.mark.parametrize("place", [1, 2])
def test_where_the_highest_rate_is_not_told_nobody_is_held_against_another(place: int) -> None:
    clusters, rows = table(large=0)
    assert clusters.to_highest(rows) == {}
    assert isinstance(clusters.ratio(rows[place], rows[0]), Undefined)


def test_tables_whose_limits_are_found_together_have_those_that_each_has_alone() -> None:
    """Of people, of clusters, of one category and of nobody selected; in any order."""
    counted = [
        {"a": (48, 60), "b": (30, 50), "c": (24, 48)},
        {"a": (3, 9)},
        {"a": (0, 9), "b": (0, 8)},
        {"a": (0, 9), "b": (7, 7), "c": (2, 30), "d": (900, 1000)},
    ]
    clusters, rows = table(large=2)
    asked = [(clusters, rows, rows[0])]
    for counts in counted:
        own = counted_rows(counts)
        alone = Clusters(unit="application", places={}, rates=None, units=9, level=0.9)
        asked.append((alone, own, max(own, key=lambda row: row.selected / row.total)))
    together = ratio_intervals(asked)
    assert together == [ratio_intervals([one])[0] for one in asked]
    assert together[::-1] == ratio_intervals(asked[::-1])
    for counts, found, (_, _, top) in zip(counted, together[1:], asked[1:], strict=True):
        for label, interval in found.fixed.items():
            expected = ratio_of_proportions(*counts[label], *counts[str(top.category)], 0.9, method="koopman")
            assert (interval.low, interval.high) == (expected.low, expected.high)
        if len(counts) > 1:
            expected = simultaneous_ratios(*map(list, zip(*counts.values(), strict=True)), 0.9).to_highest
            assert found.to_highest == dict(zip(counts, expected, strict=True))
