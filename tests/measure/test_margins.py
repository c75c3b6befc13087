"""Margins: inside only where the whole interval is, by two one-sided tests computed a second time."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from audit_lib.errors import SpecError
from audit_lib.measure.margins import is_ratio
from audit_lib.measure.metric import METRICS, record_of
from audit_lib.measure.rows.load import make_rows
from audit_lib.measure.stage import measure_rows
from audit_lib.plan.hypotheses import RATIOS, WITHOUT_VERDICT
from audit_lib.results import Estimate
from tests.archive.cases import do, new_run
from tests.measure.tables import POLICY, scores, variants
from tests.specs import load, write

GROUPS = {"attributes": {"sex": ["female", "male"]}, "reference": {"sex": "male"},
          "categories": {"sex": {"female": "Female"}}, "provenance": "self_reported"}  # fmt: skip


def gap(selected: np.ndarray, ours: np.ndarray, margin: float) -> Estimate:
    """What the audit says of these decisions, of people who do not depend on each other."""
    n = selected.size
    frame = pd.DataFrame(
        {
            "variant_id": [f"v{i:05d}" for i in range(n)],
            "application_id": [f"a{i:05d}" for i in range(n)],
            "position": "cook", "round_id": None, "race": None, "score": 0.0,
            "sex": np.where(ours, "female", "male"),
            "selected": pd.array(selected, dtype="boolean"),
            "qualified": pd.array([pd.NA] * n, dtype="boolean"),
        }
    )  # fmt: skip
    spec = load(
        groups=GROUPS,
        decision={"rule": "recorded"},
        measure={"metrics": ["decision_rate_gap"], "strata": [[]], "margins": {"decision_rate_gap": margin}},
    )
    rows, _ = make_rows(variants(frame), [scores(frame)], spec)
    (one,) = measure_rows(rows, spec, POLICY).estimates
    return one


def place(one: Estimate) -> str:
    """Where the verdict puts the number."""
    assert one.verdict is not None
    if one.verdict.kind == "equivalent" or one.verdict.size == "within":
        return "within"
    return "outside" if one.verdict.size == "beyond" else "unknown"


def tost(selected: np.ndarray, ours: np.ndarray, margin: float) -> str:
    """Schuirmann's two tests at 5% and, of the opposite, that the gap is beyond the margin at 5%."""
    a, b, n = selected[ours].astype(float), selected[~ours].astype(float), selected.size
    value = a.mean() - b.mean()
    error = np.sqrt(n / (n - 1) * (a.var() / a.size + b.var() / b.size))

    def p(t: float) -> float:
        return float(stats.t.sf(t, n - 1))

    if max(p((value + margin) / error), p((margin - value) / error)) < 0.05:
        return "within"
    return "outside" if p((abs(value) - margin) / error) < 0.05 else "unknown"


@pytest.mark.parametrize("shift", [0.0, 0.03, 0.06, 0.1, 0.2])
def test_the_verdict_is_that_of_two_one_sided_tests(shift: float) -> None:
    said = set()
    for seed in range(40):
        rng = np.random.default_rng([seed, int(100 * shift)])
        ours = rng.random(1_500) < 0.5
        selected = rng.random(1_500) < np.where(ours, 0.4 + shift, 0.4)
        found = gap(selected, ours, 0.06)
        assert found.held is not None and found.held.level == pytest.approx(0.9)
        assert place(found) == tost(selected, ours, 0.06)
        said.add(place(found))
    if shift in (0.0, 0.2):
        assert {"within" if shift == 0 else "outside"} <= said


def test_at_the_edge_of_the_margin_one_in_twenty_is_called_inside() -> None:
    called = 0
    for seed in range(300):
        rng = np.random.default_rng([9, seed])
        ours = np.arange(1_000) % 2 == 0
        selected = rng.random(1_000) < np.where(ours, 0.5, 0.4)
        called += place(gap(selected, ours, 0.1)) == "within"
    assert stats.binomtest(called, 300, 0.05).pvalue > 0.001, called


def test_the_plan_knows_which_metrics_are_ratios() -> None:
    for name in METRICS.names():
        record_of(name)
    assert {name for name in METRICS.names() if is_ratio(name)} == {*RATIOS, WITHOUT_VERDICT}


@pytest.mark.parametrize(
    ("measure", "told"),
    [
        ({"metrics": ["rabbi"], "margins": {"score_gap": 1}}, "score_gap is not in measure.metrics"),
        ({"metrics": ["impact_ratio"], "margins": {"impact_ratio": 0.2}}, "distance of 0.2 from 1 write 0.8"),
        (
            {"metrics": ["impact_ratio"], "margins": {"impact_ratio": 1.25}},
            "below 1, such as 0.8, and not 1.25",
        ),
        ({"metrics": ["impact_ratio"], "margins": {"impact_ratio": 80}}, "below 1, such as 0.8, and not 80"),
        ({"metrics": ["rabbi"], "margins": {"rabbi": 0}}, "greater than 0"),
        ({"metrics": ["rabbi"], "margins": {"rabbi": -0.1}}, "a distance from parity, without a sign"),
        ({"metrics": ["rabbi"], "margins": {"rabbi": 5}}, "nothing could fail a margin of 5.*write 0.05"),
        ({"metrics": ["rabbi"], "alpha": 0.3}, "less than 0.25"),
    ],
)
def test_a_margin_that_nothing_could_be_held_against_is_refused(
    tmp_path: Path, measure: dict[str, Any], told: str
) -> None:
    from audit_lib import pipeline
    from audit_lib.spec import AuditSpec

    with pytest.raises(SpecError, match=told):
        pipeline.check(AuditSpec.load(write(tmp_path, measure=measure)))


def test_the_page_prints_the_verdict_next_to_the_number(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = [
        {"prompt_id": f"p{i}", "position": "cook", "resume": "x", "sex": ["female", "male"][i % 2],
         "recorded_selected": bool(rng.random() < 0.5)}
        for i in range(400)
    ]  # fmt: skip
    sections = {
        "groups": GROUPS, "decision": {"rule": "recorded"}, "report": {"policy": "generic"},
        "measure": {"metrics": ["decision_rate_gap"], "margins": {"decision_rate_gap": 0.02}},
    }  # fmt: skip
    run = do(new_run(tmp_path, str(tmp_path / "store"), rows=rows, **sections), until="report")
    (planned,) = run.stage("plan").read_json("plan.json")["verdicts"]["hypotheses"]
    assert planned == {
        "metric": "decision_rate_gap", "question": "selected", "compared": "each_group_with_its_reference",
        "margin": 0.02,
    }  # fmt: skip
    (one, *_) = run.stage("metrics").read_json("metrics.json")["estimates"]
    assert one["verdict"]["kind"] == "undecided" and one["verdict"]["reason"].startswith("too little data: ")
    page = run.stage("report").read("report.html").decode()
    part = page[page.index('id="margins"') :]
    assert "undecided" in part and "too little data" in part and "\N{PLUS-MINUS SIGN}0.02" in part
    assert "passes" not in part
    lines = list(csv.DictReader(io.StringIO(run.stage("report").read("estimates.csv").decode())))
    (line,) = [e for e in lines if e["metric"] == "decision_rate_gap"]
    assert line["margin"] == "0.02" and line["verdict"] == "undecided"
    assert line["verdict_reason"] == one["verdict"]["reason"]
    assert float(line["margin_low"]) == one["held"]["interval"]["low"]
