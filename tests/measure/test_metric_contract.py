"""What every registered metric must do, whoever wrote it."""

from __future__ import annotations

import json
import re
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.metric import METRICS, Measured, record_of
from audit_lib.results import Undefined
from tests.measure.tables import (
    OBSERVED,
    OF_PROBABILITIES,
    POLICY,
    SPEC,
    TEXT_SECTIONS,
    as_rows,
    measured,
    parts,
    table,
)
from tests.specs import load

OF_ONE_BOUND = {
    "decision_flip_share", "decision_rate_gap", "false_discovery_rate_gap", "false_negative_rate_gap",
    "false_omission_rate_gap", "false_positive_rate_gap", "fraction", "probability_of_any", "sentiment_parity_weak",
    "stereotypical_associations",
}  # fmt: skip
"""Shares which, as similarities do, get a limit over clusters where all values lie at one bound."""


def of_everybody(name: str) -> bool:
    """Of all texts together: parity of the groups' answers says nothing about it."""
    return record_of(name).needs == ("words",)


def of_a_cut(name: str) -> bool:
    """Scores at or above a fixed number count, so their unit matters."""
    return record_of(name).provenance == "observed"


@pytest.fixture(params=METRICS.names())
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def numbers(value: Any) -> list[float]:
    if isinstance(value, dict):
        return [x for item in value.values() for x in numbers(item)]
    if isinstance(value, list):
        return [x for item in value for x in numbers(item)]
    return [value] if isinstance(value, float) else []


def values(parts: list[dict[str, Any]]) -> list[Any]:
    rows = [row for part in parts for t in part["tables"] for row in t["rows"]]
    return [e["value"] for part in parts for e in part["estimates"]] + [
        row["impact_ratio"]["value"] for row in rows
    ]


def test_it_gives_something_finite_that_json_can_write(name: str) -> None:
    first = measured(name, table())
    assert json.loads(json.dumps(first, allow_nan=False)) == first
    bounds = [e["imputed"]["bounds"] for part in first for e in part["estimates"] if "imputed" in e]
    assert any(not isinstance(value, dict) for value in [*values(first), *bounds])
    assert np.isfinite(numbers(first)).all()


@pytest.mark.parametrize("cuts", [2, 7, 48])
def test_order_and_shards_change_not_a_bit(name: str, cuts: int) -> None:
    whole = table(ties=True)
    assert measured(name, whole.sample(frac=1, random_state=cuts), cuts) == measured(name, whole)


def test_the_names_of_ids_mean_nothing(name: str) -> None:
    rows = table(ties=True)
    other = rows.assign(
        variant_id="w" + rows["variant_id"].str[1:],
        application_id=[f"z{9999 - int(text[1:])}" for text in rows["application_id"]],
        round_id=[f"q{(int(text[1:]) * 5) % 6}" for text in rows["round_id"]],
    )
    assert numbers(measured(name, other)) == pytest.approx(numbers(measured(name, rows)), abs=1e-12)


def test_the_unit_of_the_scores_cancels_or_carries_over(name: str) -> None:
    if of_a_cut(name) or name in OF_PROBABILITIES:
        return
    rows = table()
    factor = 3.0 if record_of(name).unit == "score" else 1.0
    scaled = values(measured(name, rows.assign(score=3.0 * rows["score"] + 1.0)))
    for value, other in zip(values(measured(name, rows)), scaled, strict=True):
        assert value == other if isinstance(value, dict) else other == pytest.approx(factor * value, abs=1e-9)


@pytest.mark.parametrize("n", [0, 1, 8])
def test_small_cells_are_marked_and_nothing_fails(name: str, n: int) -> None:
    rows = table().head(n)
    for part in measured(name, rows):
        estimates = part["estimates"] + [row["impact_ratio"] for t in part["tables"] for row in t["rows"]]
        for estimate in estimates:
            if (
                (estimate["reference"] and not of_everybody(name))
                or estimate["n"] < 5
                or "n_group" not in estimate
            ):
                assert "small_cell" in estimate["flags"]


def test_an_empty_audit_is_undefined_and_not_zero(name: str) -> None:
    first = values(measured(name, table().head(0))[:1])
    assert first
    assert all("undefined" in value for value in first)


def test_one_class_everybody_ties(name: str) -> None:
    # All are qualified and nobody is selected: no group is ahead, in whatever is measured.
    same = pd.array([True] * 48, dtype="boolean")
    rows = table().assign(
        score=0.5, selected=~same, qualified=same, text="she and he are kind", rude=0.25, mood=0.5
    )
    rows["items"], rows["meaning"] = [["a", "b", "c"]] * 48, [[1.0, 2.0, 3.0, 4.0]] * 48
    if record_of(name).needs == (
        "checks",
    ):  # of questions next to the scores: whether scores tie says nothing
        return
    for part in measured(name, rows):
        assert np.isfinite(numbers(part)).all()
        for e in part["estimates"]:
            parity = record_of(name).parity
            if (e["reference"] and not of_everybody(name)) or "scores" in record_of(name).needs:
                assert e["value"] == parity or "undefined" in e["value"], "everybody ties: no group is ahead"
            limited = name in OF_ONE_BOUND or record_of(name).unit == "similarity"
            if limited and not isinstance(e["value"], dict):
                assert e["interval"]["low"] < e["interval"]["high"], (
                    "nothing varies: a limit, and no certainty"
                )
            else:
                assert "undefined" in e["interval"], "nothing varies: no interval"
            assert not e["tests"]
        for t in part["tables"]:
            assert all("undefined" in row["impact_ratio"]["value"] for row in t["rows"]), "0 / 0 is no ratio"


def test_without_qualifications_it_is_the_same_or_says_why(name: str) -> None:
    rows = table()
    nobody = pd.array([pd.NA] * len(rows), dtype="boolean")
    with_them, without = measured(name, rows), measured(name, rows.assign(qualified=nobody))
    assert (with_them != without) == ("qualified" in record_of(name).columns), "its record says so"
    if with_them != without:
        assert all("map the column `qualified`" in value["undefined"] for value in values(without))


def test_of_decisions_alone_it_is_the_same_or_its_record_asks_for_scores(name: str) -> None:
    if "scores" not in record_of(name).needs:
        return
    rows = as_rows(table())
    spec = OBSERVED if of_a_cut(name) else SPEC
    wants_scores = "score" in record_of(name).columns
    refused = pytest.raises(UndefinedMetricError, match="only decisions were recorded")
    with refused if wants_scores else nullcontext():
        METRICS.get(name)(replace(rows, decisions_only=True), spec, POLICY)


def test_answers_that_are_missing_leave_the_rest_as_it_was(name: str) -> None:
    rows = table()
    extra = table(seed=9).assign(variant_id=lambda f: "x" + f["variant_id"], score=np.nan, round_id="lost")
    extra["selected"] = pd.array([pd.NA] * len(extra), dtype="boolean")
    both = measured(name, pd.concat([rows, extra], ignore_index=True))
    assert [v for v in values(both) if not isinstance(v, dict)] == pytest.approx(
        [v for v in values(measured(name, rows)) if not isinstance(v, dict)]
    )
    for a, b in zip(both, measured(name, rows), strict=True):
        for one, other in zip(a["tables"], b["tables"], strict=True):
            assert [r["n"] for r in one["rows"]] == [r["n"] for r in other["rows"]]
            assert sum(r["missing"]["n"] for r in one["rows"]) == len(extra) // (2 if one["stratum"] else 1)


def test_rows_of_unknown_group_are_in_no_group(name: str) -> None:
    rows = table()
    unknown = table(seed=5).assign(
        variant_id=lambda f: "x" + f["variant_id"], sex=None, race=None, round_id="unknown"
    )
    both = pd.concat([rows, unknown], ignore_index=True)
    for a, b in zip(measured(name, both), measured(name, rows), strict=True):
        assert [e["n_group"] for e in a["estimates"]] == [e["n_group"] for e in b["estimates"]]
        for t in a["tables"]:
            assert t["unknown"] == len(unknown) // (2 if t["stratum"] else 1)


def test_swapping_group_and_reference_swaps_the_sign(name: str) -> None:
    if of_a_cut(name):
        return
    swapped = load(**TEXT_SECTIONS, groups={"reference": {"sex": "female", "race": "Black"}})
    part, mirror = (parts(as_rows(table(ties=True), spec), spec)[0] for spec in (SPEC, swapped))
    ours: Measured = METRICS.get(name)(part, SPEC, POLICY)
    theirs: Measured = METRICS.get(name)(mirror, swapped, POLICY)
    matched = 0
    for estimate in ours.estimates:
        for other in theirs.estimates:
            if other.metric != estimate.metric:
                continue
            if other.group == estimate.reference and other.reference == estimate.group:
                if any(
                    other.parameters.get(x) != estimate.parameters.get(x) for x in ("k", "variation", "word")
                ):
                    continue
                if not estimate.reference and estimate.metric != "auc_gap":
                    continue  # of one group, or of everybody
                matched += 1
                sign = 1 if "undirected" in estimate.flags else -1
                if isinstance(estimate.value, Undefined):
                    assert estimate.value == other.value
                else:
                    assert estimate.value == pytest.approx(sign * other.value)
    assert matched or not [e for e in ours.estimates if e.reference]
    assert [t.as_dict() for t in ours.tables] == [t.as_dict() for t in theirs.tables], (
        "tables know no reference"
    )


def test_the_record_says_everything(name: str) -> None:
    said = record_of(name)
    assert said.title and said.unit and said.cite and said.meaning.endswith(".")
    assert re.search(r"\(\d{4}\)|6 RCNY|arXiv", said.cite), "a year, a rule or a number to look it up by"
    if said.parity is not None and said.provenance != "observed":
        assert (said.better == "higher") == (said.parity == 1.0 and said.unit == "similarity")


def test_requirements_read_the_record(name: str) -> None:
    from audit_lib.errors import SpecError
    from audit_lib.measure.requirements import check_metrics

    said = record_of(name)
    wrong = {"assigned": "self_reported", "observed": "assigned"}.get(said.provenance)
    if wrong is None:
        return
    spec = load(groups={"provenance": wrong}, measure={"metrics": [name]})
    with pytest.raises(SpecError, match=f"measure.metrics: {name}: "):
        check_metrics(spec, {})
