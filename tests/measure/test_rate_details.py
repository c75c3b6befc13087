"""What stands beside a ratio: bounds for the missing, shortfall, flip-flop, what could have been found."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from audit_lib.documents.rate_tables import FlipFlop, Shortfall
from audit_lib.measure.statutory.rate_details import ITSELF, adverse_impact, bounds
from audit_lib.metrics.impact import impact_ratios
from audit_lib.results import Undefined
from audit_lib.stats.intervals import wilson
from tests.measure.tables import POLICY, SPEC, measured, table

ROWS = impact_ratios({"a": 40, "b": 50, "c": 0}, {"a": 90, "b": 100, "c": 0})


def test_bounds_by_hand() -> None:
    found = bounds(ROWS["a"], ROWS["b"], 10)
    assert found.n == 10
    assert found.rate_bounds == (pytest.approx(40 / 100), pytest.approx(50 / 100))
    assert found.ratio_bounds == (pytest.approx(0.8), pytest.approx(1.0))


def test_nothing_missing_bounds_nothing() -> None:
    found = bounds(ROWS["a"], ROWS["b"], 0)
    assert found.rate_bounds == (40 / 90, 40 / 90)
    assert found.ratio_bounds == (pytest.approx(80 / 90),) * 2


def test_the_comparator_and_the_empty_say_why() -> None:
    assert bounds(ROWS["b"], ITSELF, 3).ratio_bounds == Undefined("the comparator itself")
    assert bounds(ROWS["c"], ROWS["b"], 3).rate_bounds == (0.0, 1.0)
    assert isinstance(bounds(ROWS["c"], ROWS["b"], 0).rate_bounds, Undefined)
    for name in ("shortfall", "flip_flop"):
        assert getattr(adverse_impact(ROWS["b"], ITSELF, SPEC, POLICY), name) == ITSELF


def test_adverse_impact_by_hand() -> None:
    rows = impact_ratios({"a": 47, "b": 60}, {"a": 60, "b": 60})
    found = adverse_impact(rows["a"], rows["b"], SPEC, POLICY)
    # 107 of 120 selected: 53.5 of 60 expected; at the comparator's rate all 60.
    assert found.shortfall == Shortfall(pooled=6.5, comparator=13.0)
    # One selection moved: 48/60 over 59/60 is above four fifths.
    assert isinstance(found.flip_flop, FlipFlop) and found.flip_flop.below_threshold is True
    assert found.flip_flop.threshold_reverses is True


def rates_of(frame: pd.DataFrame) -> dict[str, dict[str, Any]]:
    (table_of_sex,) = [t for t in measured("impact_ratio", frame)[0]["tables"] if t["family"] == "sex"]
    return {row["label"]: row["rate"] for row in table_of_sex["rows"] if row["n"]}


def test_a_rates_interval_allows_for_what_people_share() -> None:
    rows = table(160)
    shared = rates_of(rows)
    # One row an application: people are independent, and Wilson's interval holds.
    apart = rates_of(rows.assign(application_id=rows["variant_id"]))
    assert set(shared) == set(apart)
    assert len(shared) == 2
    for label, one in apart.items():
        selected = round(one["value"] * one["n"])
        plain = wilson(selected, one["n"], SPEC.measure.level)
        assert (one["interval"]["low"], one["interval"]["high"], one["interval"]["method"]) == (
            plain.low,
            plain.high,
            "Wilson score",
        )
        assert (one["method"], one.get("clusters")) == ("count / count", None)
        assert shared[label]["value"] == one["value"]
        assert "design effect of 80 clusters" in shared[label]["interval"]["method"]
        assert shared[label]["clusters"] == 80
        assert shared[label]["method"] == "count / count; clustered by application"
    # Every person four times over, in one application: the rate is no surer, and the interval says so.
    copies = pd.concat(
        [rows.assign(variant_id=f"{k}" + rows["variant_id"], position="cook") for k in range(4)]
    )
    for label, one in rates_of(copies).items():
        found = one["interval"]
        assert found["high"] - found["low"] == pytest.approx(
            shared[label]["interval"]["high"] - shared[label]["interval"]["low"], rel=1e-9
        )
        selected = round(one["value"] * one["n"])
        naive = wilson(selected, one["n"], SPEC.measure.level)
        assert naive.high - naive.low < 0.6 * (found["high"] - found["low"])
