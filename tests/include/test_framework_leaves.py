"""Every leaf of the framework leads to metrics that run, and are defined, on a shipped example."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

from audit_lib import pipeline
from audit_lib.cli.main import main
from audit_lib.framework import load_framework, recommend
from audit_lib.measure.availability import availability
from audit_lib.run import Run, Window
from tests.installed import needs_torch
from tests.specs import INCLUDE

WINDOW = Window.parse("2026-01-05", "2026-01-12")
EXAMPLE = {
    "classification": "recorded_classes",
    "generation": "recorded_letters",
    "recommendation": "recorded_lists",
}
"""Task -> the shipped example that measures all that the framework names for it."""


def leaves(task: str) -> list[dict[str, Any]]:
    """Every set of answers for a task."""
    questions = [question for question in load_framework().questions if question.key != "task"]
    return [
        {"task": task} | dict(zip((q.key for q in questions), values, strict=True))
        for values in product(*(question.options for question in questions))
    ]


def measured(spec: Path, folder: Path) -> Run:
    run = pipeline.open_run(spec, WINDOW, str(folder))
    pipeline.run_all(run)
    return run


def assert_defined(run: Run, task: str, *, but: tuple[str, ...] = ()) -> int:
    """Hold every leaf's recommended metrics against what the run measured; return how many there were."""
    looked = 0
    found = {one.metric: one for one in availability(_named(task), run)}
    for answers in leaves(task):
        for name in recommend(answers).metrics():
            if name not in but:
                looked += 1
                assert found[name].status == "measured", (answers, found[name])
                assert "undefined" not in found[name].why, (answers, found[name])
    return looked


def _named(task: str) -> list[str]:
    return list(dict.fromkeys(name for answers in leaves(task) for name in recommend(answers).metrics()))


@pytest.mark.parametrize("task", ["classification", "recommendation"])
def test_every_leaf_is_defined_on_its_example(task: str, tmp_path: Path) -> None:
    run = measured(INCLUDE / "examples" / f"{EXAMPLE[task]}.yaml", tmp_path)
    assert assert_defined(run, task) >= {"classification": 96, "recommendation": 96}[task]


def test_every_leaf_of_texts_is_defined_but_what_needs_weights(tmp_path: Path) -> None:
    spec = yaml.safe_load((INCLUDE / "examples" / "recorded_letters.yaml").read_text(encoding="utf-8"))
    spec["classifiers"] = [one for one in spec["classifiers"] if one["kind"] != "minilm"]
    spec["measure"]["metrics"].remove("counterfactual_cosine")
    content = json.dumps(spec).replace("../demo/", f"{INCLUDE / 'demo'}/")
    path = tmp_path / "letters.yaml"
    path.write_text(content, encoding="utf-8")
    run = measured(path, tmp_path / "store")
    assert assert_defined(run, "generation", but=("counterfactual_cosine",)) > 1_000
    (cosine,) = availability(["counterfactual_cosine"], run)
    assert cosine.status == "possible" and "needs a classifier that measures embedding" in cosine.why


@pytest.mark.slow  # loads the weights of an embedding, 20 s
@needs_torch
def test_every_leaf_of_texts_is_defined_on_its_example(tmp_path: Path) -> None:
    run = measured(INCLUDE / "examples" / "recorded_letters.yaml", tmp_path)
    assert assert_defined(run, "generation") > 1_000


def test_each_family_is_reached_by_a_leaf_and_has_its_example() -> None:
    reached = {
        judged.family
        for task in EXAMPLE
        for answers in leaves(task)
        for judged in recommend(answers).families
        if judged.verdict == "applies"
    }
    assert reached == {family.name for family in load_framework().families}


def test_the_command_says_of_each_metric_what_a_run_has_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = yaml.safe_load((INCLUDE / "examples" / "recorded_classes.yaml").read_text(encoding="utf-8"))
    spec["source"]["paths"] = [str(INCLUDE / "demo" / "loan_decisions.csv")]
    del spec["source"]["columns"]["outcome"], spec["source"]["outcome"]
    spec["measure"] = {"metrics": ["decision_rate_gap"], "strata": [[]]}
    path = tmp_path / "classes.yaml"
    path.write_text(yaml.safe_dump(spec), encoding="utf-8")
    run = measured(path, tmp_path / "store")
    capsys.readouterr()

    def told(*answers: str) -> dict[str, dict[str, Any]]:
        main(["recommend", "--run", run.uri, "--format", "json", "--answers", *answers])
        document = json.loads(capsys.readouterr().out)
        return {one["metric"]: one for one in document["availability"]}

    shares = told("equal_prevalence=yes")
    assert shares["decision_rate_gap"]["status"] == "measured"
    assert shares["decision_rate_gap"]["why"] == "4 of 4 numbers are defined", (
        "of selections and of three classes"
    )
    errors = told("equal_prevalence=no", "intervention=punitive")
    assert {one["status"] for one in errors.values()} == {"possible"}
    assert {tuple(one["columns"]) for one in errors.values()} == {("qualified", "outcome")}
    letters = told("task=generation", "ftu=no", "content_differs=no")
    assert letters["fraction"]["status"] == "not possible"
    assert "which task pointwise does not give" in letters["fraction"]["why"]
    main(["recommend", "--run", run.uri, "--answers", "equal_prevalence=no"])
    printed = capsys.readouterr().out
    assert (
        "false_negative_rate_gap: possible with a further column (qualified or outcome): no row says"
        in printed
    )
