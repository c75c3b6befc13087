"""The median that scores are split at: one definition for the audit, the decision rule and the library."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.rows.decision import decide
from audit_lib.measure.rows.pools import Pools
from audit_lib.metrics import scoring_rates
from audit_lib.metrics.median import Median
from audit_lib.spec import Decision
from tests.measure.tables import measured, table

LOW = float(np.nextafter(0.5, 0))
CLOSE = [0.0, LOW, 0.5, float(np.nextafter(0.5, 1)), 1.0, 5e-324, -5e-324, 1e308, -1e308]


def exact(scores: list[float]) -> tuple[list[bool], int]:
    """The definition in whole fractions: who is above the mean of the two middle scores, and how many equal it."""
    ordered = sorted(map(Fraction, scores))
    middle = (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
    return [Fraction(score) > middle for score in scores], sum(Fraction(score) == middle for score in scores)


@given(st.lists(st.sampled_from(CLOSE) | st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_the_split_is_that_of_exact_arithmetic(scores: list[float]) -> None:
    median = Median.of(scores)
    above, tied = exact(scores)
    assert median.above(scores).tolist() == above
    if median.lower == median.upper:
        assert int(median.tied(scores).sum()) == tied
    else:
        assert int(median.tied(scores).sum()) == 0


@settings(max_examples=25)
@given(st.lists(st.sampled_from([*CLOSE[:7], np.nan]), min_size=48, max_size=48))
def test_audit_decision_and_library_count_alike(scores: list[float]) -> None:
    if np.isnan(scores).all():
        return
    rows = table().assign(score=scores)
    whole = measured("scoring_rate_impact_ratio", rows)[0]["tables"]
    by_sex = next(t for t in whole if t["family"] == "sex")
    library = {row.category: row for row in scoring_rates(scores, rows["sex"]).rows}
    for row in by_sex["rows"]:
        category = row["category"]["sex"].lower()
        assert (row["selected"], row["n"]) == (library[category].above, library[category].total)
    assert by_sex["median"] == scoring_rates(scores, rows["sex"]).median
    ranked, one = np.array(scores), np.zeros(len(scores), int)
    decided = decide(ranked, one, Pools.of(ranked, one), one - 1, Decision(rule="above_median"), seed=1)
    assert int((decided.selected == 1).sum()) == scoring_rates(scores, rows["sex"]).above


def test_scoring_tables_have_an_interval_at_the_population_s_median() -> None:
    """The comparator has none, tables of selections have none, and coarse scores say why they have none."""
    rng = np.random.Generator(np.random.PCG64(2))
    rows = table()
    fine = rows.assign(score=rng.normal(size=len(rows)))
    for scoring in measured("scoring_rate_impact_ratio", fine)[0]["tables"]:
        for row in scoring["rows"]:
            own, other = row.get("population"), row["impact_ratio"]["interval"]
            assert (own is None) == (row["label"] == scoring["comparator"])
            if own is not None:
                assert (
                    own["kind"] == "simultaneous"
                    and own["low"] < row["impact_ratio"]["value"] <= own["high"] <= 1
                )
                assert own["method"] != other["method"]
    assert "population" not in measured("impact_ratio", fine)[0]["tables"][0]["rows"][0]
    coarse = rows.assign(score=np.tile([1.0, 2.0], len(rows) // 2))
    found = [
        row.get("population")
        for t in measured("scoring_rate_impact_ratio", coarse)[0]["tables"]
        for row in t["rows"]
    ]
    why = [one["undefined"] for one in found if one]
    assert any("scores near the median are equal: it may be one value or another" in reason for reason in why)


def test_two_of_two_are_above_a_median_between_neighbouring_floats() -> None:
    scores = [0.0, LOW, float(np.nextafter(LOW, 1)), 1.0]
    rows = table(4).assign(score=scores, sex=["female", "female", "male", "male"])
    by_sex = next(t for t in measured("scoring_rate_impact_ratio", rows)[0]["tables"] if t["family"] == "sex")
    assert {row["category"]["sex"].lower(): (row["selected"], row["n"]) for row in by_sex["rows"]} == {
        "female": (0, 2),
        "male": (2, 2),
    }


def test_there_is_no_median_of_nothing_or_of_both_infinities() -> None:
    with pytest.raises(UndefinedMetricError, match="no score"):
        Median.of([])
    with pytest.raises(UndefinedMetricError, match="infinity"):
        Median.of([-np.inf, np.inf])
