"""The plan: what is fixed before the model is asked, and the effect that the design can find."""

from __future__ import annotations

import hashlib
import json
import shutil
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from audit_lib.archive.verify import verify
from audit_lib.errors import IncompleteRunError
from audit_lib.pipeline import run_stage, shards
from audit_lib.plan import plan
from audit_lib.policies import load_policy
from audit_lib.run import Run
from audit_lib.window import Window
from tests.archive.cases import do, new_run
from tests.perturb.cases import persona_run

TOP_1 = {"rule": "top_k", "k": 1, "round": "one_per_group"}


def planned(run: Run) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(plan(run).artefacts["plan.json"])
    return document


@pytest.mark.parametrize(("each", "size"), [(1, 200), pytest.param(3, 150, marks=pytest.mark.slow)])
def test_rows_and_power_of_a_fixed_design(tmp_path: Path, each: int, size: int) -> None:
    measure = {"alpha": 0.1, "power": 0.9}
    run = persona_run(
        tmp_path, decision=TOP_1, sample={"size": size}, perturb={"names_per_cell": each}, measure=measure
    )
    document = planned(run)
    design = document["design"]
    assert (design["planned_prompts"], design["variants_per_prompt"]) == (size, 4 * each)
    assert design["planned_per_group"] == size * each
    entries = [entry for entry in document["power"] if entry["metric"] == "impact_ratio"]
    assert [(entry["attributes"], entry["categories"]) for entry in entries] == [
        (["sex"], 2), (["race"], 2), (["sex", "race"], 4),
    ]  # fmt: skip
    assert [entry["n"] for entry in entries] == [2 * size * each] * 2 + [size * each]
    assert {entry["metric"] for entry in document["power"]} == {
        "impact_ratio", "rabbi", "score_gap", "demographic_parity_gap",
    }  # fmt: skip
    for entry in entries:
        assert 0.2 < entry["rate"] < 0.4 and 0 < entry["monte_carlo_error"] < 0.02 and entry["audits"] >= 200
    assert entries[2]["smallest_detectable"] < entries[0]["smallest_detectable"] < 1
    basis = document["power_basis"]
    assert basis["tests_of_tables"] == 6 and basis["strata_assumed"] == 4 and basis["not_simulated"] is None


@pytest.mark.parametrize(
    ("decision", "rates"),
    [
        ({"rule": "above_median"}, None),
        (TOP_1 | {"k": 3}, None),
        (TOP_1 | {"k": 4}, None),
        (TOP_1 | {"round": "application_id"}, None),
        ({"rule": "threshold", "threshold": 0.5}, {0.1, 0.25, 0.5}),
    ],
)
def test_rates_are_assumed_where_the_rule_fixes_none(
    tmp_path: Path, decision: dict[str, Any], rates: set[float] | None
) -> None:
    measure = {"metrics": ["impact_ratio"]}
    document = planned(persona_run(tmp_path, decision=decision, sample={"size": 30}, measure=measure))
    found = [entry["rate"] for entry in document["power"]]
    if rates is None:
        assert len(found) == 3, "one for each table"
    else:
        assert set(found) >= rates or {round(rate, 1) for rate in found} <= {0.1, 0.2, 0.3, 0.5}


def test_a_grid_of_sizes_where_the_design_fixes_none(tmp_path: Path) -> None:
    document = planned(new_run(tmp_path, str(tmp_path / "store")))
    assert document["design"]["planned_per_group"] is None
    assert document["design"]["variants_per_prompt"] == 1
    assert [entry["n"] for entry in document["power"]] == [25, 50, 100, 250, 500, 1000]
    assert {entry["categories"] for entry in document["power"]} == {4}
    ratios = [entry["smallest_detectable"] for entry in document["power"]]
    assert all(isinstance(ratio, float) for ratio in ratios) and ratios == sorted(ratios)
    assert "not known before the sample" in document["power_basis"]["not_simulated"]


def test_too_few_rows_for_any_effect_is_said(tmp_path: Path) -> None:
    document = planned(persona_run(tmp_path, sample={"size": 3}))
    for entry in document["power"]:
        if entry["metric"] == "impact_ratio":
            assert "even a difference of 6 standard deviations" in entry["smallest_detectable"]["undefined"]
            assert entry["monte_carlo_error"] is None


def test_thresholds_policy_and_inputs(tmp_path: Path) -> None:
    run = persona_run(
        tmp_path,
        measure={"small_cell": 9, "level": 0.9},
        checks={"minimum_answered_share": 0.7, "maximum_answered_gap": 0.2, "minimum_label_mass": 0.3},
    )
    document = planned(run)
    assert document["thresholds"] == {
        "guidance_ratio": "4/5",
        "alpha": 0.05,
        "power": 0.8,
        "level": 0.9,
        "small_cell": 9,
        "minimum_answered_share": 0.7,
        "maximum_answered_gap": 0.2,
        "minimum_label_mass": 0.3,
    }
    policy = load_policy("nyc_ll144")
    assert document["policy"] == {"name": "nyc_ll144", "version": policy.version}
    assert document["inputs"] == {
        key: hashlib.sha256((tmp_path / f"{key.split('.')[1]}.csv").read_bytes()).hexdigest()
        for key in ("perturb.names", "perturb.pronouns", "perturb.titles", "prompt.template")
    }
    for key in document["inputs"]:
        assert run.design_file(key) == (tmp_path / f"{key.split('.')[1]}.csv").read_bytes()
    assert document["spec_digest"] == run.spec.digest()


def test_no_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = persona_run(tmp_path)
    first = plan(run).artefacts
    import time

    monkeypatch.setattr(time, "time", lambda: 0.0)
    assert plan(run).artefacts == first == {n: run.stage("plan").read(n) for n in first}
    today = datetime.now().astimezone().date().isoformat()
    assert today.encode() not in first["plan.json"]


def test_nothing_is_scored_before_the_plan_is_written(tmp_path: Path) -> None:
    run = new_run(tmp_path, str(tmp_path / "store"))
    for stage, number in (("sample", None), ("variants", None)):
        with pytest.raises(IncompleteRunError):
            run_stage(run, stage, shard=number)
    do(run, until="scores")
    written = run.stage("plan").success().finished
    for shard in shards(run):
        assert written <= datetime.fromisoformat(run.stage(f"scores/{shard}").success().started_at)


def test_earlier_audits_are_archived_with_the_plan_and_printed(tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    do(new_run(tmp_path, store), until="evidence")
    later = do(new_run(tmp_path, store, Window.parse("2026-01-12", "2026-01-19")), until="evidence")
    (earlier,) = later.stage("plan").read_json("earlier.json")
    assert earlier["window"]["end"].startswith("2026-01-12") and earlier["status"] == "not signed"
    page = later.stage("report").read("report.html").decode()
    assert "no earlier one of this tool" not in page and "2026-01-05 to 2026-01-12" in page
    # Whole and by itself: a copy verifies where the store is not at hand.
    shutil.copytree(later.uri, tmp_path / "copy")
    shutil.rmtree(tmp_path / "store")
    assert verify(str(tmp_path / "copy")).ok


def test_a_first_run_has_no_earlier_audits_nor_has_one_of_the_same_window(tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    do(new_run(tmp_path, store), until="evidence")
    again = do(new_run(tmp_path, store, measure={"small_cell": 6}), until="plan")
    assert "earlier.json" not in again.stage("plan").success().artefacts
