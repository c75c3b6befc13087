"""Bounds of imputed groups in an audit: from columns of probabilities, from a label with counted errors, or refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from audit_lib import pipeline
from audit_lib.archive.verify import verify
from audit_lib.documents.metrics import read_metrics
from audit_lib.errors import AuditError, InputError, SpecError
from audit_lib.measure.requirements import check_metrics
from audit_lib.metrics import imputed_gap_bounds, imputed_rate_bounds, imputed_ratio_bounds
from audit_lib.results import Estimate, Interval, Undefined
from audit_lib.run import Run, Window
from audit_lib.sample.values import imputed_shares
from tests.measure.tables import measured, table
from tests.specs import load

METRICS = ["imputed_rate_gap", "imputed_impact_ratio"]
COUNTS = {"female": {"female": 45, "male": 5}, "male": {"female": 8, "male": 72}}
PEOPLE = 400
SPEC = """
audit: imputed
title: Imputed
task: pointwise
seed: 3
source:
  kind: files
  paths: [people.csv]
  columns: {prompt_id: person, recorded_selected: decision, position: {value: nurse}}
  fields: [p_a, p_b]
  windowed: false
groups:
  provenance: inferred
  attributes: {race: [a, b]}
  reference: {race: b}
  imputed: {race: {probabilities: {a: p_a, b: p_b}}}
model: {backend: recorded, name: a tool}
decision: {rule: recorded}
measure: {metrics: [imputed_rate_gap, imputed_impact_ratio], strata: [[]], MARGINS}
report: {policy: generic}
"""


def people(rates: tuple[float, float] = (0.2, 0.6)) -> pd.DataFrame:
    """Four kinds of people; those of the first group are mostly told from the others."""
    rng = np.random.default_rng(8)
    share = rng.choice([0.02, 0.05, 0.95, 0.98], PEOPLE)
    member = rng.random(PEOPLE) < share
    selected = rng.random(PEOPLE) < np.where(member, *rates)
    return pd.DataFrame(
        {"person": [f"p{n:03}" for n in range(PEOPLE)], "decision": selected, "p_a": share, "p_b": 1 - share}
    )


def run_of(folder: Path, rows: pd.DataFrame, margins: str = "alpha: 0.05") -> Run:
    rows.to_csv(folder / "people.csv", index=False)
    (folder / "spec.yaml").write_text(SPEC.replace("MARGINS", margins), encoding="utf-8")
    run = pipeline.open_run(
        folder / "spec.yaml", Window.parse("2026-01-05", "2026-01-12"), str(folder / "store")
    )
    pipeline.run_all(run)
    return run


def found(run: Run) -> dict[tuple[str, str], Estimate]:
    estimates = read_metrics(run.stage("metrics").read("metrics.json")).estimates
    return {(one.metric, one.group["race"]): one for one in estimates}


def test_a_run_prints_bounds_that_hold_the_truth_and_verifies(tmp_path: Path) -> None:
    rows = people()
    run = run_of(tmp_path, rows)
    known = found(run)
    cells = rows.groupby("p_a").agg(won=("decision", "sum"), n=("decision", "size")).reset_index()
    exact = imputed_rate_bounds({"a": cells["p_a"], "b": 1 - cells["p_a"]}, cells["won"], cells["n"])
    for level, rate in (("a", 0.2), ("b", 0.6)):
        one = known["imputed_rate", level]
        assert (
            isinstance(one.value, Undefined)
            and isinstance(one.interval, Interval)
            and one.imputed is not None
        )
        assert one.imputed.bounds == pytest.approx(exact[level], abs=1e-9)
        assert one.interval.low < min(rate, one.imputed.bounds[0])
        assert one.interval.high > max(rate, one.imputed.bounds[1])
    gap, ratio = known["imputed_rate_gap", "a"], known["imputed_impact_ratio", "a"]
    assert gap.imputed is not None and ratio.imputed is not None
    assert gap.imputed.bounds == pytest.approx(imputed_gap_bounds(exact["a"], exact["b"]), abs=1e-9)
    assert ratio.imputed.bounds == pytest.approx(imputed_ratio_bounds(exact)["a"], abs=1e-9)
    assert gap.verdict is not None and gap.verdict.kind == "difference" and gap.tests[0].p_value < 0.001
    page = run.stage("report").read("report.html").decode()
    assert "One thing is assumed, and these data cannot show it" in page and "Weighted estimate" in page
    lines = run.stage("report").read("estimates.csv").decode().splitlines()
    assert lines[0].endswith("bounds_low,bounds_high,weighted_estimate")
    assert verify(run.uri).ok


def test_what_the_probabilities_allow_may_decide_nothing(tmp_path: Path) -> None:
    run = run_of(tmp_path, people((0.4, 0.4)), "margins: {imputed_rate_gap: 0.1}")
    verdict = found(run)["imputed_rate_gap", "a"].verdict
    assert verdict is not None and verdict.kind == "undecided" and "probabilities only" in str(verdict.reason)
    page = run.stage("report").read("report.html").decode()
    assert "Undecided: groups are imputed" in page and "too little data to say more" not in page
    assert "impact ratios have bounds and no value" in page and "No impact ratio is defined" not in page


def test_bounds_inside_a_margin_are_equivalent(tmp_path: Path) -> None:
    run = run_of(tmp_path, people((0.4, 0.4)), "margins: {imputed_rate_gap: 0.6}")
    verdict = found(run)["imputed_rate_gap", "a"].verdict
    assert verdict is not None and verdict.kind == "equivalent"


def test_rows_without_probabilities_are_counted_and_wrong_ones_stop_the_sample(tmp_path: Path) -> None:
    rows = people()
    rows.loc[:6, ["p_a", "p_b"]] = np.nan
    one = found(run_of(tmp_path, rows))["imputed_rate", "a"]
    assert one.parameters["without_probabilities"] == 7 and one.n == PEOPLE - 7
    rows.loc[9, "p_a"] = 0.5
    (tmp_path / "again").mkdir()
    with pytest.raises(AuditError, match="1 of 393 do not sum to 1"):
        run_of(tmp_path / "again", rows)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([["0.5", "0.2"], ["0.5", "0.7"]], "1 of 2 do not sum to 1"),
        (
            [["0.5", "-0.2"], ["0.5", "1.2"]],
            "1 of 2 have a probability that is missing, no number, below 0 or above 1",
        ),
        ([["0.5", ""], ["0.5", "1"]], "1 of 2 have a probability that is missing, no number"),
        ([["0.5", "much"], ["0.5", "0.5"]], "1 of 2 have a probability that is missing, no number"),
        ([["0.5", "nan"], ["0.5", "0.5"]], "1 of 2 have a probability that is missing, no number"),
    ],
)
def test_probabilities_that_are_none_are_refused(values: list[list[str]], said: str) -> None:
    with pytest.raises(InputError, match=f"{said}.*the columns of 'a', 'b'"):
        imputed_shares({"a": values[0], "b": values[1]}, "race")


def labelled(metrics: list[str], counts: dict[str, Any] = COUNTS, **groups: Any) -> Any:
    return load(
        decision={"rule": "recorded"},
        groups={"provenance": "inferred", "imputed": {"sex": {"counts": counts}}, **groups},
        measure={"metrics": metrics},
    )


def test_a_label_with_counted_errors_gives_wider_intervals_than_the_same_shares_counted_often() -> None:
    rows, widths = table(480), []
    often = {label: {level: 1_000 * n for level, n in own.items()} for label, own in COUNTS.items()}
    for counts in (COUNTS, often):
        estimates = measured("imputed_rate_gap", rows, spec=labelled(["imputed_rate_gap"], counts))[0][
            "estimates"
        ]
        one = next(e for e in estimates if e["metric"] == "imputed_rate" and e["group"] == {"sex": "female"})
        assert one["imputed"]["counted"] == sum(n for own in counts.values() for n in own.values())
        widths.append(one["interval"]["high"] - one["interval"]["low"])
        won, n = (rows.groupby("sex")["selected"].agg(["sum", "size"])[key] for key in ("sum", "size"))
        shares = [COUNTS[label]["female"] / sum(COUNTS[label].values()) for label in ("female", "male")]
        exact = imputed_rate_bounds(
            {"female": shares, "male": [1 - share for share in shares]},
            won.to_numpy(float),
            n.to_numpy(float),
        )
        assert one["imputed"]["bounds"] == pytest.approx(exact["female"], abs=1e-9)
    assert widths[0] > widths[1]


def test_labels_that_are_no_level_are_counted() -> None:
    rows = table(480)
    rows.loc[:9, "sex"] = None
    one = measured("imputed_impact_ratio", rows, spec=labelled(["imputed_impact_ratio"]))[0]["estimates"][0]
    assert one["parameters"]["without_probabilities"] == 10 and one["n"] == 470


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"provenance": "self_reported"}, "provenance inferred"),
    ({"imputed": {"age": {"counts": COUNTS}}}, "'age' is not an attribute"),
    ({"imputed": {"sex": {}}}, "one of probabilities and counts"),
    ({"imputed": {"sex": {"counts": {"female": COUNTS["female"]}}}}, "says nothing of male"),
    ({"imputed": {"sex": {"counts": {**COUNTS, "man": {"male": 3}}}}}, "'man' is not a level"),
    ({"imputed": {"sex": {"counts": {**COUNTS, "male": {"male": 0}}}}}, "nobody was counted"),
    ({"imputed": {"sex": {"probabilities": {"female": "p"}}}}, "says nothing of male"),
    ({"imputed": {"sex": {"probabilities": {"female": "p", "male": "p"}}}}, "twice"),
]


@pytest.mark.parametrize(("groups", "said"), REFUSED)
def test_a_spec_that_does_not_fit_is_refused(groups: dict[str, Any], said: str) -> None:
    with pytest.raises((SpecError, ValidationError), match=said):
        labelled(METRICS, **groups)


@pytest.mark.parametrize(
    ("metrics", "groups", "said"),
    [
        (["score_gap"], {}, "only imputed_rate_gap and imputed_impact_ratio use it"),
        (
            METRICS,
            {"imputed": {"sex": {"probabilities": {"female": "p", "male": "q"}}}},
            "not in source.fields",
        ),
        (METRICS, {"imputed": {}}, "say in groups.imputed"),
    ],
)
def test_metrics_that_do_not_fit_are_refused(metrics: list[str], groups: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError, match=said):
        check_metrics(labelled(metrics, **groups), {})


@pytest.mark.parametrize(
    ("metrics", "attributes", "said"),
    [
        (METRICS, {"sex": ["f", "m"], "age": ["old", "young"]}, "cannot be crossed with other attributes"),
        (
            [*METRICS, "impact_ratio"],
            {"sex": ["f", "m"]},
            "impact_ratio: compares people whose group is known",
        ),
    ],
)
def test_members_are_not_asked_for_where_there_are_probabilities(
    metrics: list[str], attributes: dict[str, list[str]], said: str
) -> None:
    spec = load(
        source={"fields": ["p", "q"]},
        groups={
            "provenance": "inferred", "attributes": attributes, "categories": {},
            "reference": {axis: levels[0] for axis, levels in attributes.items()},
            "imputed": {"sex": {"probabilities": {"f": "p", "m": "q"}}},
        },
        measure={"metrics": metrics},
    )  # fmt: skip
    with pytest.raises(SpecError, match=said):
        check_metrics(spec, {})


def test_numbers_in_json_are_read(tmp_path: Path) -> None:
    rows = people()
    (tmp_path / "people.jsonl").write_text(
        "\n".join(json.dumps(row) for row in rows.to_dict("records")), encoding="utf-8"
    )
    spec = SPEC.replace("people.csv", "people.jsonl").replace("MARGINS", "alpha: 0.05")
    (tmp_path / "spec.yaml").write_text(spec, encoding="utf-8")
    run = pipeline.open_run(
        tmp_path / "spec.yaml", Window.parse("2026-01-05", "2026-01-12"), str(tmp_path / "store")
    )
    pipeline.run_all(run)
    (tmp_path / "csv").mkdir()
    again = found(run_of(tmp_path / "csv", rows))
    assert {key: one.imputed for key, one in found(run).items()} == {
        key: one.imputed for key, one in again.items()
    }
