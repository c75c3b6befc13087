"""Reliability by group: the bins of scikit-learn, rows that are in none, intervals, and the page that draws them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.calibration import calibration_curve

import audit_lib
from audit_lib.documents.metrics import read_metrics
from audit_lib.figures import ReliabilityPoint, reliability_diagram
from audit_lib.results import Interval
from tests.archive.cases import do, new_run

GROUPS: dict[str, Any] = {
    "provenance": "self_reported",
    "attributes": {"sex": ["female", "male"]},
    "reference": {"sex": "male"},
    "categories": {},
}


def people(n: int = 600) -> dict[str, Any]:
    rng = np.random.Generator(np.random.PCG64(5))
    score = np.round(rng.random(n), 3) * 0.98 + 0.005
    sex = rng.choice(["female", "male"], n)
    return {"sex": sex, "score": score, "true": rng.random(n) < np.where(sex == "male", score, score**2)}


def test_bins_are_scikit_learn_s_in_each_group() -> None:
    table = people()
    found = audit_lib.frame(
        table, groups="sex", score="score", qualified="true", reference="male", metrics=["calibration_gap"]
    ).metrics.reliability
    assert found is not None and [one.group for one in found] == [{"sex": "female"}, {"sex": "male"}]
    for one in found:
        own = table["sex"] == one.group["sex"]
        share, mean = calibration_curve(table["true"][own], table["score"][own], n_bins=10)
        assert [bin.outcome for bin in one.bins] == pytest.approx(list(share))
        assert [bin.score for bin in one.bins] == pytest.approx(list(mean))
        assert sum(bin.n for bin in one.bins) == own.sum()
        for bin in one.bins:
            assert isinstance(bin.interval, Interval)
            exact = binomtest(round(bin.outcome * bin.n), bin.n).proportion_ci(method="wilson")
            assert (bin.interval.low, bin.interval.high) == pytest.approx(tuple(exact), abs=0.04)


def test_versions_of_one_person_are_one_person_s_evidence() -> None:
    table = people(200)
    often = {name: np.repeat(column, 4) for name, column in table.items()}
    often["who"] = np.repeat(np.arange(200), 4).astype(str)
    keywords: dict[str, Any] = {
        "groups": "sex", "score": "score", "qualified": "true", "reference": "male", "metrics": ["calibration_gap"],
    }  # fmt: skip
    once = audit_lib.frame(table, **keywords).metrics.reliability
    four = audit_lib.frame(often, **keywords, clusters="who").metrics.reliability
    assert once is not None and four is not None
    for one, other in zip(once[0].bins, four[0].bins, strict=True):
        assert (
            other.n == 4 * one.n
            and isinstance(one.interval, Interval)
            and isinstance(other.interval, Interval)
        )
        assert (other.interval.low, other.interval.high) == pytest.approx(
            (one.interval.low, one.interval.high)
        )


def test_rows_without_an_outcome_are_in_no_bin_and_other_metrics_have_no_bins() -> None:
    table = people(80)
    unknown = [None if i % 4 == 0 else bool(v) for i, v in enumerate(table["true"])]
    keywords: dict[str, Any] = {"groups": "sex", "score": "score", "qualified": "true"}
    given = {**table, "true": unknown}
    found = audit_lib.frame(given, **keywords, metrics=["calibration_gap"]).metrics.reliability
    assert found is not None and sum(bin.n for one in found for bin in one.bins) == 60
    assert audit_lib.frame(given, **keywords, metrics=["score_gap"]).metrics.reliability is None
    points = {**given, "score": 5 * table["score"]}
    assert audit_lib.frame(points, **keywords, metrics=["calibration_gap"]).metrics.reliability is None


def test_the_page_draws_it_where_calibration_is_measured(tmp_path: Path) -> None:
    table = people(120)
    rows = [
        {"prompt_id": f"p{i}", "application_id": f"a{i}", "position": "cook", "resume": "r", "sex": str(sex),
         "recorded_score": float(score), "qualified": bool(true)}
        for i, (sex, score, true) in enumerate(zip(table["sex"], table["score"], table["true"], strict=True))
    ]  # fmt: skip
    run = do(
        new_run(
            tmp_path, str(tmp_path / "store"), rows=rows, groups=GROUPS, source={"fields": ["resume"]},
            measure={"metrics": ["calibration_gap"], "strata": [[]]}, report={"policy": "generic", "languages": ["es"]},
        )
    )  # fmt: skip
    found = read_metrics(run.stage("metrics").read("metrics.json")).reliability
    assert found is not None
    page, spanish = (run.stage("report").read(f"report{end}.html").decode() for end in ("", ".es"))
    assert page.count("<title>Reliability by group</title>") == 2, "wide and narrow"
    assert "<title>Fiabilidad por grupo</title>" in spanish and "Reliability by group" not in spanish
    bars = re.findall(
        r"<svg.*?</svg>", page[page.index("<title>Reliability by group</title>") - 200 :], re.S
    )[0]
    assert bars.count("<circle") == 1 + sum(len(one.bins) for one in found)


def test_marks_lie_where_the_numbers_say() -> None:
    svg = reliability_diagram({"a": [ReliabilityPoint(score=0.5, outcome=s, n=9) for s in (0.0, 0.5, 1.0)]})
    places = [tuple(map(float, at)) for at in re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', svg)][1:]
    assert len({x for x, _ in places}) == 1
    (_, bottom), (_, middle), (_, top) = places
    assert bottom > middle > top and middle == pytest.approx((bottom + top) / 2, abs=0.2)
