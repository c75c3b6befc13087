"""Tolerance: within only where the whole interval is, by two one-sided tests computed a second time."""

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
from audit_lib.measure.equivalence import equivalence, held_to_tolerance
from audit_lib.measure.metric import METRICS
from audit_lib.measure.rows.load import make_rows
from audit_lib.results import Estimate, Interval, Undefined
from tests.archive.cases import do, new_run
from tests.measure.tables import POLICY, scores, variants
from tests.specs import load, write

GROUPS = {"attributes": {"sex": ["female", "male"]}, "reference": {"sex": "male"},
          "categories": {"sex": {"female": "Female"}}, "provenance": "self_reported"}  # fmt: skip


def gap(selected: np.ndarray, ours: np.ndarray, tolerance: float) -> Estimate:
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
        measure={"metrics": ["decision_rate_gap"], "tolerance": {"decision_rate_gap": tolerance}},
    )
    rows, _ = make_rows(variants(frame), [scores(frame)], spec)
    metric = METRICS.get("decision_rate_gap")
    found = held_to_tolerance(
        "decision_rate_gap", metric(rows, spec, POLICY), spec, lambda other: metric(rows, other, POLICY)
    )
    (one,) = found.estimates
    return one


def tost(selected: np.ndarray, ours: np.ndarray, tolerance: float) -> str:
    """Schuirmann's two tests at 5% and, of the opposite, that the gap is beyond the tolerance at 5%."""
    a, b, n = selected[ours].astype(float), selected[~ours].astype(float), selected.size
    value = a.mean() - b.mean()
    error = np.sqrt(n / (n - 1) * (a.var() / a.size + b.var() / b.size))

    def p(t: float) -> float:
        return float(stats.t.sf(t, n - 1))

    if max(p((value + tolerance) / error), p((tolerance - value) / error)) < 0.05:
        return "within"
    return "outside" if p((abs(value) - tolerance) / error) < 0.05 else "unknown"


@pytest.mark.parametrize("shift", [0.0, 0.03, 0.06, 0.1, 0.2])
def test_the_verdict_is_that_of_two_one_sided_tests(shift: float) -> None:
    said = set()
    for seed in range(40):
        rng = np.random.default_rng([seed, int(100 * shift)])
        ours = rng.random(1_500) < 0.5
        selected = rng.random(1_500) < np.where(ours, 0.4 + shift, 0.4)
        found = gap(selected, ours, 0.06).equivalence
        assert found is not None and found.level == pytest.approx(0.9)
        verdict = "unknown" if isinstance(found.verdict, Undefined) else found.verdict
        assert verdict == tost(selected, ours, 0.06)
        said.add(verdict)
    if shift in (0.0, 0.2):
        assert {"within" if shift == 0 else "outside"} <= said


def test_at_the_edge_of_the_tolerance_one_in_twenty_is_called_within() -> None:
    called = 0
    for seed in range(300):
        rng = np.random.default_rng([9, seed])
        ours = np.arange(1_000) % 2 == 0
        selected = rng.random(1_000) < np.where(ours, 0.5, 0.4)
        found = gap(selected, ours, 0.1).equivalence
        assert found is not None
        called += found.verdict == "within"
    assert stats.binomtest(called, 300, 0.05).pvalue > 0.001, called


INSIDE = Interval(low=-0.01, high=0.01, method="-", level=0.9)


@pytest.mark.parametrize(
    ("fields", "interval", "said"),
    [
        ({}, INSIDE, "within"),
        ({"value": 0.0}, Undefined("no value differs"), "no value differs"),
        ({"value": Undefined("group: nobody")}, INSIDE, "nobody"),
        ({"flags": ("small_cell",)}, INSIDE, "smaller than"),
        ({"flags": ("unperceived",)}, INSIDE, "did not tell"),
        ({"flags": ("unperceived",)}, Interval(low=0.1, high=0.2, method="-"), "outside"),
        ({"metric": "impact_ratio"}, Interval(low=0.96, high=1.01, method="-"), "within"),
        ({}, Interval(low=-0.01, high=0.051, method="-"), "reaches beyond"),
        ({}, Interval(low=-0.06, high=0.06, method="-"), "reaches beyond"),
    ],
)
def test_nothing_is_called_within_that_is_not_shown(fields: dict[str, Any], interval: Any, said: str) -> None:
    whole: dict[str, Any] = {"metric": "score_gap", "value": 0.0, "interval": interval, "n": 9, "method": "-"}
    found = equivalence(Estimate(**(whole | fields)), interval, 0.05, 0.9).verdict
    assert said in (found.reason if isinstance(found, Undefined) else found)


@pytest.mark.parametrize(
    ("measure", "told"),
    [
        ({"metrics": ["rabbi"], "tolerance": {"score_gap": 1}}, "score_gap is not in measure.metrics"),
        ({"metrics": ["impact_ratio"], "tolerance": {"impact_ratio": 0.2}}, "table of ratios"),
        ({"metrics": ["rabbi"], "tolerance": {"rabbi": 0}}, "greater than 0"),
        ({"metrics": ["rabbi"], "tolerance": {"rabbi": 5}}, "nothing could fail a tolerance of 5"),
        ({"metrics": ["rabbi"], "tolerance": {"rabbi": 0.1}, "alpha": 0.3}, "alpha below 0.25"),
    ],
)
def test_a_tolerance_that_nothing_could_be_held_against_is_refused(
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
        "measure": {"metrics": ["decision_rate_gap"], "tolerance": {"decision_rate_gap": 0.02}},
    }  # fmt: skip
    run = do(new_run(tmp_path, str(tmp_path / "store"), rows=rows, **sections), until="report")
    (one, *_) = run.stage("metrics").read_json("metrics.json")["estimates"]
    assert "reaches beyond" in one["equivalence"]["verdict"]["undefined"]
    page = run.stage("report").read("report.html").decode()
    part = page[page.index('id="tolerance"') :]
    assert "cannot be told" in part and "reaches beyond" in part and "\N{PLUS-MINUS SIGN}0.02" in part
    assert "passes" not in part
    lines = list(csv.DictReader(io.StringIO(run.stage("report").read("estimates.csv").decode())))
    (line,) = [e for e in lines if e["metric"] == "decision_rate_gap"]
    assert line["tolerance"] == "0.02"
    assert line["tolerance_verdict"] == f"cannot be told: {one['equivalence']['verdict']['undefined']}"
