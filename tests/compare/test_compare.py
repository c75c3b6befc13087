"""Runs of one design side by side: what was planted in each stands beside the others; other designs are refused."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audit_lib.cli.main import main
from audit_lib.compare import compare
from audit_lib.errors import IncompleteRunError, InputError
from audit_lib.run import Run
from audit_lib.stats.multiplicity import holm
from tests.compare.cases import PLANTED, applicants, sealed, versions
from tests.measure.test_experiments import RATING, rater
from tests.report.axe import assert_accessible, needs_axe
from tests.report.runs import made
from tests.score.audits import open_audit, up_to
from tests.score.fakes import fake
from tests.specs import INCLUDE

RATIOS: dict[str, Any] = {
    "groups": {"provenance": "self_reported"},
    "measure": {"metrics": ["adverse_impact_ratio"], "thresholds": [3.0, 4.0], "strata": [[]]},
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    folder = tmp_path_factory.mktemp("compare")
    return [sealed(folder, model) for model in PLANTED]


def read(runs: Sequence[Run]) -> dict[str, Any]:
    return dict(json.loads(compare(runs)["comparison.json"]))


def test_what_was_planted_in_each_model_is_found_in_it(runs: list[Run]) -> None:
    document = read(runs)
    assert [run["label"] for run in document["runs"]] == list(PLANTED)
    women = [e for e in document["estimates"] if e["group"] == {"sex": "female"} and not e["stratum"]]
    assert len(women) == 3
    for e, (model, planted) in zip(women, PLANTED.items(), strict=True):
        metrics = runs[e["run"]].stage("metrics").read_json("metrics.json")
        (own,) = [
            x
            for x in metrics["estimates"]
            if x["group"] == {"sex": "female"} and x["metric"] == "standardised_effect" and not x["stratum"]
        ]
        assert e["value"] == own["value"] and e["interval"] == own["interval"]
        assert e["value"] * own["parameters"]["outcome_sd"] == pytest.approx(planted, abs=0.1), model
        assert (e["p_holm"] < 0.001) == (planted != 0)


def test_all_tests_of_all_runs_are_one_family(runs: list[Run]) -> None:
    document = read(runs)
    p = [e["p_value"] for e in document["estimates"]]
    # Three models, two attributes, the whole and two positions.
    assert len(p) == 18 == document["multiplicity"]["family_size"]
    assert [e["p_holm"] for e in document["estimates"]] == list(holm(p).p_values)
    assert document["multiplicity"]["findings"]["p_holm"] == sum(x < 0.05 for x in holm(p).p_values)


def test_the_page_draws_each_contrast_with_every_model(runs: list[Run]) -> None:
    page = compare(runs)["comparison.html"].decode()
    assert page.count('<svg class="chart"') == 4  # two contrasts, wide and narrow
    start = page.index("<title>female against male</title>")
    svg = page[start : page.index("</svg>", start)]
    assert svg.count('class="dot"') == 3 and all(model in svg for model in PLANTED)
    assert "Not a bias audit" in page and "<script" not in page
    for run in runs:
        assert run.key.prefix in page


@pytest.mark.slow
@needs_axe
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing_on_the_page(runs: list[Run], tmp_path: Path, dark: bool) -> None:
    assert_accessible(compare(runs)["comparison.html"].decode(), tmp_path, dark)


def test_runs_whose_numbers_are_all_the_same_are_named(runs: list[Run], tmp_path: Path) -> None:
    same = [{**one, "recorded_model": "new-1"} for one in versions("fair-1")]
    again = sealed(tmp_path, "new-1", rows=same)
    page = compare([*runs, again])["comparison.html"].decode()
    assert "fair-1, new-1 have the same value in each estimate" in page
    assert "The same numbers" not in compare(runs)["comparison.html"].decode()


def test_the_csv_has_a_line_an_estimate(runs: list[Run]) -> None:
    lines = list(csv.DictReader(io.StringIO(compare(runs)["comparison.csv"].decode())))
    document = read(runs)
    assert len(lines) == len(document["estimates"])
    for line, e in zip(lines, document["estimates"], strict=True):
        assert float(line["value"]) == e["value"] and float(line["p_holm"]) == e["p_holm"]
        assert line["run"] == document["runs"][e["run"]]["label"]


def test_the_same_runs_give_the_same_bytes_and_their_order_is_kept(runs: list[Run]) -> None:
    assert compare(runs) == compare(runs)
    assert [run["label"] for run in read(runs[::-1])["runs"]] == list(PLANTED)[::-1]


def test_impact_ratios_of_real_applicants_by_model(tmp_path: Path) -> None:
    found = read([sealed(tmp_path, model, applicants(model), **RATIOS) for model in PLANTED])
    women = {
        (e["run"], e["parameters"]["threshold"]): e
        for e in found["estimates"]
        if e["group"] == {"sex": "female"} and not e["stratum"]
    }
    assert len(women) == 6 and not found["experiment"]
    for threshold in (3.0, 4.0):
        fair, harsh, kind = (women[run, threshold]["value"] for run in range(3))
        assert harsh < fair < kind
        assert harsh < 0.6 and kind > 1.15
        assert women[1, threshold]["intervals"][0]["level"] == pytest.approx(0.7)


def test_a_mask_is_compared_under_the_name_of_its_column(tmp_path: Path) -> None:
    """Of two masks, *yes against no* stood there twice."""
    runs = []
    for model in ("fair-1", "harsh-1"):
        rows = [
            row | {"qualified": i % 3 > 0, "first_generation": ("yes", "no")[i % 2]}
            for i, row in enumerate(versions(model))
        ]
        sections: dict[str, Any] = {
            "groups": {"masks": ["first_generation"]},
            "measure": {"metrics": ["auc_gap"]},
            "source": {"paths": [f"{model}.jsonl"], "fields": ["resume", "first_generation"]},
        }
        runs.append(sealed(tmp_path, model, rows, **sections))
    page = compare(runs)["comparison.html"].decode()
    assert "first generation: yes against first generation: no" in page
    assert ">yes against no<" not in page


def test_aucs_by_subgroup_stand_next_to_each_other_by_model(tmp_path: Path) -> None:
    runs = []
    for model in ("fair-1", "harsh-1"):
        # The harsh model's scores say nothing of women.
        rows = [row | {"qualified": row["recorded_score"] > 0} for row in versions("fair-1")]
        draw = np.random.default_rng(3)
        for row in rows:
            blind = model == "harsh-1" and row["sex"] == "female"
            row |= {
                "recorded_model": model,
                "recorded_score": float(draw.normal()) if blind else row["recorded_score"],
            }
        runs.append(sealed(tmp_path, model, rows, measure={"metrics": ["auc_gap"]}))
    page = compare(runs)["comparison.html"].decode()
    section = page[page.index('id="aucs"') :]
    section = section[: section.index("</section>")]
    figure = section[section.index("<svg") : section.index("</svg>")]
    assert figure.count("AUC gap") and "fair-1" in figure and "harsh-1" in figure
    assert "fair-1: overall 1.000; female 1.000, male 1.000, " in figure
    found = re.search(
        r"harsh-1: overall 0\.\d+; female (0\.\d+), male 1\.000, .*gap (0\.\d+) \[(0\.\d+), ", figure
    )
    assert found is not None and float(found[1]) < 0.65 and float(found[2]) > 0.35 and float(found[3]) > 0


@pytest.mark.parametrize(
    ("sections", "rows", "message"),
    [
        ({"measure": {"metrics": ["standardised_effect"], "level": 0.9}}, None, r"measure.level \(0.95, here 0.9\)"),
        ({"seed": 8}, None, r"seed \(7, here 8\)"),
        ({"groups": {"reference": {"sex": "female", "race": "White"}}}, None, "groups.reference.sex"),
        ({}, [{**row, "resume": row["resume"] + "!"} for row in versions("kind-1")], "not the applications"),
        ({}, versions("kind-1", 59), "not the applications"),
        ({}, [{**row, "sex": {"female": "male", "male": "female"}[row["sex"]]} for row in versions("kind-1")],
         "not the applications"),
    ],
    ids=["level", "seed", "reference", "text", "sample", "groups"],
)  # fmt: skip
def test_another_design_is_refused_and_says_in_what(
    tmp_path: Path, runs: list[Run], sections: dict[str, Any], rows: list[dict[str, Any]] | None, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        compare([runs[0], sealed(tmp_path, "kind-1", rows, **sections)])


def test_what_is_no_comparison_is_refused(tmp_path: Path, runs: list[Run]) -> None:
    with pytest.raises(InputError, match="two or more"):
        compare(runs[:1])
    with pytest.raises(InputError, match="listed twice"):
        compare([runs[0], runs[1], runs[0]])
    with pytest.raises(IncompleteRunError, match="not a sealed run"):
        compare([runs[0], made(tmp_path)])
    measured = [{"measure": {"metrics": [name]}} for name in ("score_gap", "rabbi")]
    with pytest.raises(InputError, match="nothing to compare; the runs have no metric in common"):
        compare(
            [sealed(tmp_path / "plain", m, **s) for m, s in zip(("fair-1", "kind-1"), measured, strict=True)]
        )


def test_prompts_and_tasks_stand_beside_the_models(tmp_path: Path) -> None:
    runs = []
    for name, effect in (("rater", 0.5), ("other_rater", -0.5)):
        fake(name, rater(effect))
        sections: dict[str, Any] = {
            "audit": f"of_{name}",
            "prompt": RATING,
            "model": {"backend": name, "name": name, "valid_judge": False},
            "robustness": {"prompts": {"second": str(INCLUDE / "prompts" / "resume_screening_second.yaml")}},
            "measure": {"metrics": ["standardised_effect"], "strata": [[]]},
            "decision": {"rule": "threshold", "threshold": 3, "k": None, "round": None},
            "sample": {"size": 12},
        }
        runs.append(up_to(open_audit(tmp_path / name, "pointwise", **sections), "evidence"))
    document = read(runs)
    women = {
        (e["run"], e["parameters"]["variation"]): e["value"]
        for e in document["estimates"]
        if e["group"] == {"sex": "female"}
    }
    assert set(women) == {(0, "none"), (0, "prompt:second"), (1, "none"), (1, "prompt:second")}
    assert all((value > 0) == (run == 0) for (run, _), value in women.items())
    page = compare(runs)["comparison.html"].decode()
    assert "prompt: second" in page and "Not fit to judge" in page


def test_the_command_writes_files_and_overwrites_none(
    tmp_path: Path, runs: list[Run], capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    arguments = ["compare", *(run.uri for run in runs), "--out", str(out)]
    assert main(arguments) == 0
    assert (out / "comparison.json").read_bytes() == compare(runs)["comparison.json"]
    assert main(arguments) == 0, "the same bytes again are no conflict"
    assert main(["compare", runs[0].uri, runs[1].uri, "--out", str(out)]) == 2
    assert "name another folder" in capsys.readouterr().err
    assert (out / "comparison.json").read_bytes() == compare(runs)["comparison.json"]
