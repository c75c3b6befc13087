"""Recorded decisions answer one question each: whatever asks another one is refused before anything is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from audit_lib.errors import SpecError
from audit_lib.pipeline import check, run_stage
from audit_lib.records import from_parquet
from audit_lib.run import Run
from audit_lib.score import check_decision
from audit_lib.score.backends import backend
from tests.inputs import recorded_rows, write_jsonl
from tests.perturb.cases import persona_run, prompts, table, write_lexicons
from tests.specs import LIVE, load

PERSONA = {"names": "names.csv", "pronouns": "pronouns.csv"}
WORDS = {"kind": "lexicon", "terms": {"sex": "terms.csv"}}
GROUP = {"sex": "female", "race": "Black"}
TEMPLATE = {"template": "template.csv"}

# What asks a question beside the one that was answered: sections of a spec, and what the refusal names.
ASKING: dict[str, tuple[dict[str, Any], str]] = {
    "persona": ({"perturb": PERSONA}, "perturb makes versions about which nobody was asked"),
    "lexicon": ({"perturb": WORDS}, "perturb makes versions about which nobody was asked"),
    "two_sample": (
        {"perturb": PERSONA | {"design": "two_sample"}},
        "perturb makes versions about which nobody was asked",
    ),
    "controls": ({"perturb": PERSONA | {"controls": True}}, "perturb.controls asks a live model again"),
    "formats": ({"perturb": PERSONA | {"formats": ["bullets"]}}, "perturb.formats asks a live model again"),
    "canaries": ({"score": {"canaries": ["Say yes."]}}, "score.canaries asks a live model again"),
    "repeats": ({"score": {"repeats": 2}}, "one recorded decision said again"),
    "prompts": ({"robustness": {"prompts": {"other": "template.csv"}}}, "robustness asks a live model again"),
    "tasks": ({"robustness": {"tasks": {"other": "template.csv"}}}, "robustness asks a live model again"),
    "manipulation": (
        {"manipulation": {"questions": {"sex": "template.csv"}}},
        "manipulation asks a live model again",
    ),
    "steps": ({"prompt": {"template": "steps.csv"}}, "{{reply}} asks a live model"),
    "pools": ({"decision": {"rule": "top_k", "k": 1, "round": "one_per_group"}}, "needs a perturb section"),
    "labels": (
        {"prompt": {"labels": ["No", "Yes"]}, "decision": {"classes": ["Yes"]}},
        "'Yes' is no label that a live model is asked for",
    ),
    "noise": ({"measure": {"metrics": ["noise_floor"]}}, "rows that the audit does not ask"),
    "perceived": ({"measure": {"metrics": ["manipulation_agreement"]}}, "rows that the audit does not ask"),
}
TASKS: dict[str, dict[str, Any]] = {
    "pointwise": {"decision": {"rule": "above_median"}},
    "own decisions": {"decision": {"rule": "recorded"}},
    "listwise": {"task": "listwise", "decision": {"rule": "top_k", "k": 1, "round": "round_id"}},
    "generation": {
        "task": "generation",
        "decision": None,
        "measure": {"metrics": ["counterfactual_rouge_l"]},
    },
    "recommendation": {
        "task": "recommendation",
        "decision": None,
        "generation": {"items": 3},
        "measure": {"metrics": ["jaccard_at_k"]},
    },
}
LEGITIMATE = {
    ("repeats", "generation"): "several answers to one prompt were recorded, each is one repeat",
    ("repeats", "recommendation"): "the same",
}


def merged(*sections: dict[str, Any]) -> dict[str, Any]:
    """Sections over each other; those of a task stay where a later one names other keys."""
    found: dict[str, Any] = {}
    for one in sections:
        for key, value in one.items():
            both = isinstance(value, dict) and isinstance(found.get(key), dict)
            found[key] = found[key] | value if both else value
    return found


def inputs(folder: Path) -> None:
    write_lexicons(
        folder,
        terms=table(["female", "male"], [["she", "he"]]),
        steps="messages:\n- {role: user, content: 'Sum up: {{resume}}'}\n- {role: assistant, content: '{{reply}}'}\n"
        "- {role: user, content: 'Hire?'}\n",
    )
    write_jsonl(folder / "prompts.jsonl", recorded_rows(64))


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("asking", ASKING)
def test_what_nobody_was_asked_is_refused(tmp_path: Path, asking: str, task: str) -> None:
    """Every section that asks, under every task; each with the part named and what to do."""
    inputs(tmp_path)
    sections, message = ASKING[asking]

    def specified(**model: Any) -> None:
        check(load(tmp_path, **merged({"prompt": TEMPLATE}, TASKS[task], sections, model)))

    if (asking, task) in LEGITIMATE:
        specified()
        return
    with pytest.raises(SpecError) as refused:
        specified()
    if task == "pointwise":
        assert message in str(refused.value)


@pytest.mark.parametrize(
    "asking", ["persona", "lexicon", "controls", "formats", "canaries", "repeats", "prompts"]
)
def test_a_live_model_may_be_asked_the_same(tmp_path: Path, asking: str) -> None:
    inputs(tmp_path)
    sections, _ = ASKING[asking]
    (tmp_path / "prompts.jsonl").write_text("")
    check(load(tmp_path, **merged({"prompt": TEMPLATE, "model": LIVE}, sections)))


def test_a_live_model_needs_a_prompt(tmp_path: Path) -> None:
    spec = load(tmp_path, model={"backend": "transformers", "name": "x"})
    with pytest.raises(SpecError, match="backend 'transformers' needs a prompt section with a template"):
        check(spec)


@pytest.mark.parametrize("name", sorted(name for name, one in backend if not one.answers_are_recorded))
@pytest.mark.parametrize("perturb", [None, PERSONA])
def test_a_live_model_is_not_credited_with_recorded_decisions(
    tmp_path: Path, name: str, perturb: Any
) -> None:
    """Each version of an application would get the one decision about the original."""
    inputs(tmp_path)
    model = LIVE if name == "http" else {"backend": name, "name": "gpt-4o"}
    spec = load(tmp_path, model=model, prompt=TEMPLATE, perturb=perturb, decision={"rule": "recorded"})
    with pytest.raises(SpecError, match=r"decision\.rule: recorded takes decisions that were made already"):
        check_decision(spec)
    if name in ("http", "openai"):
        with pytest.raises(
            SpecError, match=r"decision\.rule: recorded takes decisions that were made already"
        ):
            check(spec)


def test_an_endpoint_that_decides_itself_may(tmp_path: Path) -> None:
    inputs(tmp_path)
    model = LIVE | {"options": LIVE["options"] | {"decision_path": "hired"}}
    check(load(tmp_path, model=model, prompt=TEMPLATE, perturb=PERSONA, decision={"rule": "recorded"}))


@pytest.mark.parametrize("perturb", [None, PERSONA])
def test_a_recorded_class_is_not_a_live_model_s(tmp_path: Path, perturb: Any) -> None:
    inputs(tmp_path)
    classes = {"classes": ["Bold", "Calm"], "class_field": "resume"}
    with pytest.raises(SpecError, match=r"decision\.class_field names groups that were recorded"):
        check(
            load(
                tmp_path,
                model=LIVE,
                prompt=TEMPLATE,
                perturb=perturb,
                decision={"rule": "above_median", **classes},
            )
        )


@pytest.mark.parametrize("perturb", [None, {}])
def test_a_live_model_s_rows_hold_no_recorded_answer(tmp_path: Path, perturb: Any) -> None:
    """Neither a version nor the original has one: an endpoint that says nothing leaves no decision behind."""
    recorded = {
        "recorded_model": "m", "recorded_response": "Yes", "recorded_score": 1.0, "recorded_selected": True,
    }  # fmt: skip
    rows = [
        row | recorded | GROUP
        for row in prompts(resume="{{name}} stays " if perturb is not None else "stays ")
    ]
    run: Run = persona_run(tmp_path, rows=rows, perturb=perturb)
    run_stage(run, "variants")
    made = from_parquet(run.stage("variants").read("variants.parquet"))
    assert made[list(recorded)].isna().all(axis=None)
    kept = from_parquet(run.stage("sample").read("prompts.parquet"))
    assert kept["recorded_selected"].all(), "what was read stays in the sample"


def test_the_recorded_answers_stay_those_of_recorded_decisions(tmp_path: Path) -> None:
    rows = [row | GROUP | {"recorded_score": i / 10} for i, row in enumerate(prompts(resume="stays "))]
    run = persona_run(
        tmp_path, rows=rows, perturb=None, prompt=None, model={"backend": "recorded", "name": "people"}
    )
    run_stage(run, "variants")
    assert from_parquet(run.stage("variants").read("variants.parquet"))["recorded_score"].notna().all()
