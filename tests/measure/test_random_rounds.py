"""Rounds drawn at random in an audit: which, of whom, what is counted, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from audit_lib import pipeline
from audit_lib.archive.verify import verify
from audit_lib.errors import SpecError
from audit_lib.measure.remarks import remarks
from audit_lib.metrics.random_pools import expected_shares
from audit_lib.run import Run
from tests.archive.cases import applicants, do, new_run
from tests.specs import load

GAPS = ["demographic_parity_gap", "equal_opportunity_gap"]


def made(
    folder: Path, rows: list[dict[str, Any]] | None = None, until: str = "metrics", **rounds: Any
) -> Run:
    given = {"size": 5, "count": 400} | rounds
    if rows is None:
        rows = [row | {"qualified": index % 3 > 0} for index, row in enumerate(applicants(120))]
    run = new_run(
        folder, str(folder / "store"), rows=rows, decision={"rule": "above_median"}, report={"policy": "generic"},
        measure={"metrics": GAPS, "random_rounds": given, "quotas": [1, 2], "strata": [[], ["qualified"]]},
    )  # fmt: skip
    pipeline.check(run.spec)
    return do(run, until=until)


def gaps(run: Run, metric: str, k: int, **stratum: str) -> dict[str, Any]:
    found = run.stage("metrics").read_json("metrics.json")["estimates"]
    (one,) = [
        e for e in found
        if (e["metric"], e["parameters"]["k"], e["stratum"], e["group"]) == (metric, k, stratum, {"sex": "female"})
    ]  # fmt: skip
    return one


def test_gaps_are_near_their_expectation_and_know_their_candidates(tmp_path: Path) -> None:
    run = made(tmp_path, until="evidence")
    rows = pd.DataFrame(applicants(120)).assign(qualified=lambda f: f.index % 3 > 0)
    rows["share"] = np.nan
    for _, own in rows.groupby("position"):
        above = own["recorded_score"].rank(method="min", ascending=False).astype(int) - 1
        rows.loc[own.index, "share"] = expected_shares(above, np.ones(len(own)), len(own), 5, 2)
        # Each position has as many rounds, so a candidate of a smaller one is in more of them.
        rows.loc[own.index, "weight"] = 1 / len(own)
    for metric, counted in (
        ("demographic_parity_gap", rows),
        ("equal_opportunity_gap", rows[rows["qualified"]]),
    ):
        sides = [counted[counted["sex"] == sex] for sex in ("female", "male")]
        women, men = (np.average(side["share"], weights=side["weight"]) for side in sides)
        one = gaps(run, metric, 2)
        # The draw's own standard error is about 0.02 here.
        assert one["value"] == pytest.approx(women - men, abs=0.07)
        assert one["parameters"] == {"k": 2, "rounds": 800, "rounds_left_out": 0}
        assert one["clusters"] == one["n"] == len(counted), "candidates, and not places in 800 rounds"
        assert one["interval"]["method"].startswith("jackknife of candidates, and variance of the draw, t(")
        assert one["interval"]["low"] < one["value"] < one["interval"]["high"]
    of_qualified = gaps(run, "demographic_parity_gap", 1, qualified="yes")
    assert of_qualified["value"] == gaps(run, "equal_opportunity_gap", 1)["value"], (
        "all compete, the qualified count"
    )
    assert verify(run.uri).ok


def test_the_seed_decides_the_draw_and_nothing_else_does(tmp_path: Path) -> None:
    rows = [row | {"qualified": True} for row in applicants(60)]
    folders = {name: tmp_path / name for name in "abc"}
    for folder in folders.values():
        folder.mkdir()
    first = gaps(made(folders["a"], rows, seed=3), GAPS[0], 1)
    assert gaps(made(folders["b"], rows[::-1], seed=3), GAPS[0], 1) == first
    assert gaps(made(folders["c"], rows, seed=4), GAPS[0], 1)["value"] != first["value"]


def test_who_cannot_be_drawn_is_counted(tmp_path: Path) -> None:
    rows = [row | {"qualified": True} for row in applicants(60)]
    for row in rows[:4]:
        row["position"] = "driver"  # no more than a round
    for index in (10, 20):
        rows[index]["recorded_score"] = None
    run = new_run(
        tmp_path, str(tmp_path / "store"), rows=rows, decision={"rule": "above_median"},
        checks={"minimum_answered_share": 0.5, "maximum_answered_gap": 1.0},
        measure={"metrics": GAPS[:1], "random_rounds": {"size": 4, "count": 50}, "quotas": [1, 5]},
    )  # fmt: skip
    do(run, until="metrics")
    one = gaps(run, GAPS[0], 1)
    assert one["parameters"]["not_drawn"] == 6 and one["parameters"]["rounds"] == 100 and one["n"] == 54
    assert gaps(run, GAPS[0], 5)["value"] == {"undefined": "no round has 5 scored candidates"}


def test_a_small_side_of_whom_few_are_selected_has_no_interval_that_would_be_too_short(
    tmp_path: Path,
) -> None:
    rows = [
        row | {"qualified": True, "sex": "female" if index < 12 else "male", "position": "driver"}
        for index, row in enumerate(applicants(96))
    ]
    one = gaps(made(tmp_path, rows, size=10, count=1000), GAPS[0], 1)
    assert isinstance(one["value"], float) and one["tests"] == []
    assert (
        "12 candidates of the smaller side are selected, next to 84 candidates"
        in one["interval"]["undefined"]
    )


def test_a_small_side_of_whom_many_are_selected_keeps_its_interval(tmp_path: Path) -> None:
    rows = [
        row | {"qualified": True, "sex": "female" if index < 24 else "male", "position": "driver"}
        for index, row in enumerate(applicants(96))
    ]
    one = gaps(made(tmp_path, rows, size=3, count=1000), GAPS[0], 2)
    assert one["interval"]["low"] < one["interval"]["high"]


def test_pools_too_small_for_any_round_are_undefined(tmp_path: Path) -> None:
    one = gaps(made(tmp_path, size=90), GAPS[0], 1)
    assert "no position has more than 90 scored candidates" in one["value"]["undefined"]


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        (
            {"task": "pairwise", "decision": {"rule": "top_k", "k": 1, "round": "round_id"}},
            "task pairwise asks about",
        ),
        ({"measure": {"random_rounds": {"size": 1, "count": 10}}}, r"measure\.random_rounds\.size"),
        ({"measure": {"random_rounds": {"size": 5, "count": 1}}}, r"measure\.random_rounds\.count"),
        ({"measure": {"random_rounds": {"size": 5, "count": 9, "sed": 1}}}, "did you mean 'seed'"),
    ],
)
def test_refusals(sections: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        load(**({"measure": {"random_rounds": {"size": 5, "count": 10}}} | sections))


def test_drawn_rounds_answer_the_remark_that_candidates_do_not_compete() -> None:
    without, with_rounds = (
        remarks(load(measure={"metrics": GAPS[:1], **more}))
        for more in ({}, {"random_rounds": {"size": 5, "count": 10}})
    )
    assert not any("do not compete" in words for words in with_rounds)
    assert load().canonical() == load(measure={"random_rounds": None}).canonical()
    assert without is not None
