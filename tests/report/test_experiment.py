"""The report's section on experiments: effects with their doubts, and adverse impact with both intervals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.measure.test_experiments import CHECKED, METRICS, RATING, rater
from tests.report.runs import made
from tests.score.audits import open_audit, up_to
from tests.score.fakes import fake


def page_of(folder: Path, seen: bool, **sections: object) -> str:
    fake("rater", rater(0.5, seen=seen))
    run = up_to(
        open_audit(
            folder,
            "pointwise",
            prompt=RATING,
            model={"backend": "rater", "name": "rater", "valid_judge": False},
            perturb={"controls": True},
            manipulation=CHECKED,
            measure={"metrics": METRICS},
            decision={"rule": "threshold", "threshold": 3, "k": None, "round": None},
            sample={"size": 12},
            **sections,
        ),
        "report",
    )
    return run.stage("report").read("report.html").decode()


def test_effects_noise_and_perception_are_printed_with_their_figure(tmp_path: Path) -> None:
    page = page_of(tmp_path, True)
    section = page[page.index('id="experiment"') :]
    section = section[: section.index("</section>")]
    for words in (
        "Standardised effects",
        "Noise floor",
        "Manipulation check: sex",
        "said: female",
        "as asked",
    ):
        assert words in section
    assert '<svg class="chart"' in section and "uninterpretable" not in section.replace(
        "as uninterpretable", ""
    )
    differences = page[page.index('id="differences"') :]
    assert "Score gap" in differences and "Noise floor" not in differences


def test_an_effect_that_cannot_be_read_says_so_and_why(tmp_path: Path) -> None:
    page = page_of(tmp_path, False)
    assert "uninterpretable: the model named the sex that was meant in 50.0% of the versions" in page
    assert "below the floor" in page


def test_adverse_impact_by_threshold_of_real_people(tmp_path: Path) -> None:
    run = made(
        tmp_path,
        groups={"provenance": "self_reported"},
        measure={"metrics": ["impact_ratio", "adverse_impact_ratio"], "thresholds": [-0.5, 0.5]},
    )
    page = run.stage("report").read("report.html").decode()
    assert "Adverse impact by threshold" in page and "rated 0.5 or more" in page and "70% interval" in page
    assert page.count('class="bar inner"') >= 10
    document = json.loads(run.stage("metrics").read("metrics.json"))
    found = [e for e in document["estimates"] if e["metric"] == "adverse_impact_ratio" and not e["stratum"]]
    assert len(found) == 10 and all(e["intervals"][0]["level"] == pytest.approx(0.7) for e in found)
