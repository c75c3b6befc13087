"""The decision framework: rules as data, each reached, and what the command says."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import audit_lib.metrics
from audit_lib.cli.main import main
from audit_lib.documents.design import Design
from audit_lib.errors import SpecError
from audit_lib.framework import load_framework, recommend, recommend_for
from audit_lib.measure.metric import record_of
from audit_lib.measure.stage import METRICS
from audit_lib.perturb.ftu import ftu_report
from audit_lib.pipeline import run_stage
from tests.perturb.cases import write_lexicons
from tests.perturb.test_substitution import lexicon_run
from tests.specs import LIVE, load, write

FNR = ("false_negative_rate_gap", "false_omission_rate_gap")
FPR = ("false_positive_rate_gap", "false_discovery_rate_gap")


def metrics(**answers: Any) -> set[str]:
    return set(recommend(answers).metrics())


def test_every_metric_named_is_one_of_ours() -> None:
    known = {*METRICS.names(), *audit_lib.metrics.__all__}
    assert {name for family in load_framework().families for name in family.metrics} <= known


def test_every_rule_is_cited_and_asks_only_what_is_asked() -> None:
    rules = load_framework()
    options = {question.key: question.options for question in rules.questions}
    for part in (*rules.notes, *(rule for family in rules.families for rule in family.rules)):
        assert part.cite
        assert all(value in options[key] for key, value in part.when.items())
    for family in rules.families:
        assert {key for rule in family.rules for key in rule.when} <= set(family.asks)


@pytest.mark.parametrize("task", ["generation", "classification", "recommendation"])
def test_every_set_of_answers_is_decided_and_every_rule_is_reached(task: str) -> None:
    rules = load_framework()
    questions = [question for question in rules.questions if question.key != "task"]
    reached: set[tuple[str, str]] = set()
    for values in product(*(question.options for question in questions)):
        answers = {"task": task} | {q.key: v for q, v in zip(questions, values, strict=True)}
        for judged in recommend(answers).families:
            assert judged.verdict != "unanswered"
            reached.add((judged.family, judged.why))
    wanted = {(f.name, rule.why) for f in rules.families if f.task == task for rule in f.rules}
    assert wanted <= reached


def test_texts() -> None:
    aware = metrics(task="generation", ftu=False, content_differs=False)
    assert {
        "expected_maximum",
        "stereotypical_associations",
        "counterfactual_bleu",
        "sentiment_parity_weak",
    } <= aware
    differs = metrics(task="generation", ftu=False, content_differs=True)
    assert "sentiment_parity_strict" in differs and "counterfactual_bleu" not in differs
    assert metrics(task="generation", ftu=True) == {"expected_maximum", "probability_of_any", "fraction"}


def test_classification() -> None:
    person = {"task": "classification", "person_level": True, "ftu": True}
    assert metrics(**person, equal_prevalence=True) == {"decision_rate_gap"}
    assert metrics(**person, equal_prevalence=False, intervention="assistive") == set(FNR)
    assert metrics(**person, equal_prevalence=False, intervention="punitive") == set(FPR)
    assert metrics(**person, equal_prevalence=False, intervention="neither") == set()
    assert metrics(task="classification", person_level=False, ftu=True) == set()
    mentions = {"task": "classification", "person_level": False, "ftu": False}
    assert metrics(**mentions, equal_prevalence=True) == {"decision_rate_gap"}


def test_recommendation() -> None:
    lists = {"jaccard_at_k", "serp_at_k", "prag_at_k"}
    assert metrics(task="recommendation", ftu=False, invariance=True) == lists
    assert metrics(task="recommendation", ftu=False, invariance=False) == set()
    assert metrics(task="recommendation", ftu=True, invariance=True) == set()


def test_what_is_not_answered_is_asked_and_not_guessed() -> None:
    judged = {one.family: one for one in recommend({"task": "classification", "person_level": True}).families}
    assert judged["equal_rates"].verdict == "unanswered"
    assert judged["equal_rates"].needs == ("equal_prevalence",)
    assert recommend({"task": "classification"}).metrics() == ()


def test_a_person_who_reviews_every_output_may_make_it_unnecessary() -> None:
    (note,) = recommend({"task": "recommendation", "human_review": True}).notes
    assert "may be unnecessary" in note and "section 4" in note
    assert recommend({"task": "recommendation", "human_review": False}).notes == ()


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ({"ftu": True}, "task is missing"),
        ({"task": "clasification"}, "One of generation, classification"),
        ({"task": "classification", "ftuu": True}, "did you mean 'ftu'"),
        ({"task": "classification", "ftu": "perhaps"}, "ftu=perhaps"),
    ],
)
def test_wrong_answers_are_named(answers: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError, match=said):
        recommend(answers)


def test_a_spec_is_warned_of_what_it_measures_and_lacks() -> None:
    spec = load(
        framework={"person_level": True, "equal_prevalence": False, "intervention": "assistive"},
        measure={"metrics": ["impact_ratio", "decision_rate_gap", "false_negative_rate_gap"]},
    )
    warnings = recommend_for(spec).warnings
    assert len(warnings) == 2
    assert "has decision_rate_gap, which does not apply" in warnings[0]
    assert "lacks false_omission_rate_gap, which applies" in warnings[1]
    right = load(framework={"person_level": True, "equal_prevalence": True})
    assert recommend_for(right).warnings == (), (
        "of candidates who compete, the gap at each quota answers the same"
    )
    only_ratios = right.override("measure", metrics=["impact_ratio"])
    (lacking,) = recommend_for(only_ratios).warnings
    assert "lacks decision_rate_gap" in lacking, "the impact ratio is the law's, not the framework's"
    with pytest.raises(SpecError, match="no framework section"):
        recommend_for(load())


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    args = ["recommend", "--task", "classification", "--ftu", "no", "--answers", "equal_prevalence=no"]
    assert main([*args, "intervention=punitive", "human_review=yes"]) == 0
    printed = capsys.readouterr().out
    assert "measure.metrics: false_positive_rate_gap, false_discovery_rate_gap" in printed
    assert "may be unnecessary" in printed
    path = write(tmp_path, framework={"person_level": True, "equal_prevalence": False})
    assert main(["recommend", str(path), "--answers", "intervention=assistive", "--format", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["metrics"] == list(FNR)
    assert len(document["warnings"]) == 3
    assert main(["recommend", "--task", "classification", "--answers", "ftu"]) == 2
    assert "key=value" in capsys.readouterr().err


NONE = Design(perturbation="none", groups=(), unknown_group=0, rounds=0, requests=0)
ANSWERS = {
    "generation": {"texts", "words", "embedding", "sentiment", "toxicity", "stereotype", "terms"},
    "classification": {"scores"},
    "recommendation": {"lists"},
}
"""Task of the framework -> what its metrics may be computed from."""


def test_every_metric_of_the_rules_is_registered_and_is_for_their_groups_and_answers() -> None:
    registered = {name for name, _ in METRICS}
    for family in load_framework().families:
        for name in (*family.metrics, *family.ranked):
            assert name in registered, f"{family.name}: {name} is no metric"
            record = record_of(name)
            assert record.provenance == "any", "the rules do not ask whose groups they are"
            assert {*record.needs} <= ANSWERS[family.task], f"{family.name}: {name} is of another task"


LOOKED = replace(NONE, perturbation="lexicon", ftu=ftu_report([set()] * 8, ["sex"], 0.95))


def test_what_was_measured_on_the_prompts_comes_before_the_spec_s_answer() -> None:
    spec = load(framework={"task": "recommendation", "ftu": False, "invariance": True})
    found = recommend_for(spec, design=LOOKED)
    assert found.answers["ftu"] is True and found.metrics() == ()
    assert found.warnings[0].startswith(
        "framework.ftu says that prompts mention a protected word; of 8 prompts 0"
    )
    assert recommend_for(spec).answers["ftu"] is False
    assert recommend_for(spec, {"ftu": False}, LOOKED).answers["ftu"] is False, "an option comes first"
    assert recommend_for(spec, design=NONE).answers["ftu"] is False


def test_the_command_takes_the_measured_answer_of_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = lexicon_run(
        tmp_path, ["She cooks.", "Maps."], framework={"task": "recommendation", "invariance": True}
    )
    run_stage(run, "variants")
    main(["recommend", "--run", run.uri, "--format", "json"])
    document = json.loads(capsys.readouterr().out)
    assert document["answers"]["ftu"] is False and "jaccard" in " ".join(document["metrics"])


@pytest.mark.parametrize(
    ("intervention", "family", "why"),
    [
        ("punitive", "assistive_errors", "The prediction brings no help, so an error withholds none"),
        ("assistive", "punitive_errors", "The prediction does no harm, so an error does none"),
    ],
)
def test_why_the_other_kind_of_error_does_not_apply(intervention: str, family: str, why: str) -> None:
    answers = {
        "task": "classification",
        "person_level": True,
        "equal_prevalence": False,
        "intervention": intervention,
    }
    (one,) = [judged for judged in recommend(answers).families if judged.family == family]
    assert (one.verdict, one.why) == ("does not apply", why)


ASKED = {"person_level": True, "equal_prevalence": True}
ERRORS = {"person_level": True, "equal_prevalence": False, "intervention": "assistive"}


@pytest.mark.parametrize(
    ("sections", "columns", "told"),
    [
        (
            {"framework": ASKED, "measure": {"metrics": ["decision_rate_gap", "demographic_parity_gap"]}},
            {},
            "measure.metrics has demographic_parity_gap, undefined in every group: candidates do not compete",
        ),
        ({"framework": ASKED, "measure": {"metrics": ["decision_rate_gap"]}}, {}, None),
        (
            {"framework": ASKED, "decision": {"rule": "recorded", "round": "round_id"},
             "measure": {"metrics": ["decision_rate_gap", "rabbi", "demographic_parity_gap"]}},
            {"round_id": "r1", "recorded_selected": True},
            "measure.metrics has rabbi, demographic_parity_gap, undefined .*: only decisions are recorded",
        ),
        ({"framework": ERRORS}, {}, "recommends false_negative_rate_gap, .*: no row says who is qualified"),
        ({"framework": ERRORS, "measure": {"metrics": list(FNR)}}, {"qualified": True}, None),
        ({"framework": ERRORS, "measure": {"metrics": list(FNR)}}, {"outcome": 1.0}, None),
        ({"framework": ERRORS}, {"outcome": 1.0}, "measure.metrics lacks false_negative_rate_gap, which applies"),
        ({"framework": ASKED | {"ftu": True}}, {"round_id": "r1"}, "of the first 1 prompts none does, and the run"),
        (
            {"framework": ASKED | {"ftu": True}},
            {"round_id": "r1", "resume": "She cooks."},
            r"of the first 1 prompts 1 do \(sex\); answer false",
        ),
        (
            {"task": "generation", "decision": None, "framework": {"ftu": False, "content_differs": False},
             "measure": {"metrics": ["counterfactual_rouge_l"]}},
            {},
            "recommends counterfactual_cosine, .*: .* needs a classifier that measures embedding",
        ),
        ({}, {}, "measure.metrics has demographic_parity_gap, undefined in every group: candidates do not compete"),
        ({}, {"round_id": "r1"}, None),
    ],
)  # fmt: skip
def test_what_a_spec_leaves_undefined_is_told_at_validate(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    sections: dict[str, Any],
    columns: dict[str, Any],
    told: str | None,
) -> None:
    row = {"prompt_id": "p", "position": "cook", "resume": "x", "sex": "male", "race": "White"} | columns
    (tmp_path / "prompts.jsonl").write_text(json.dumps(row) + "\n")
    assert main(["validate", str(write(tmp_path, **sections))]) == 0
    printed = capsys.readouterr().out
    assert ": valid." in printed
    if told is None:
        assert "note: " not in printed
    else:
        assert re.search(f"note: .*{told}", printed)


def test_unawareness_with_a_persona_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_lexicons(tmp_path)
    row = {"prompt_id": "p", "application_id": "a", "position": "cook", "resume": "{{name}} cooks."}
    (tmp_path / "prompts.jsonl").write_text(json.dumps(row) + "\n")
    spec = write(
        tmp_path,
        framework={"ftu": True},
        perturb={"names": "names.csv"},
        prompt={"template": "template.csv"},
        model=LIVE,
    )
    assert main(["validate", "--offline", str(spec)]) == 0
    assert "note: framework.ftu: true says that no prompt mentions" in capsys.readouterr().out


def test_the_rules_say_that_no_classifier_of_stereotypes_is_shipped() -> None:
    from audit_lib.score.classifiers import classifier

    said = [note for note in recommend({"task": "generation", "ftu": False}).notes if "stereotypes" in note]
    assert len(said) == 1 and "measures: stereotype" in said[0]
    assert not [
        note for note in recommend({"task": "generation", "ftu": True}).notes if "stereotypes" in note
    ]
    shipped = {name for name in classifier.names() if name not in classifier.plugins.names()}
    assert not [name for name in shipped if "stereotyp" in name], "then the note is wrong"
