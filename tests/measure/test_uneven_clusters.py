"""A category whose people are mostly in one application has no interval, and does not take those of the others."""

from __future__ import annotations

import numpy as np
import pytest

from audit_lib.measure.statutory.intervals import AMONG, Clusters
from audit_lib.metrics.impact import impact_ratios
from audit_lib.results import Interval, Undefined
from audit_lib.stats import ClusteredRates

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
