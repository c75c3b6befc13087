"""What the page says was varied: by the kind of perturbation, and with the prompts that got no variant."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

from audit_lib import pipeline
from audit_lib.run import Run
from tests.inputs import write_jsonl
from tests.measure.test_experiments import RATING, rater
from tests.perturb.cases import WEEK
from tests.perturb.test_lexicon_audit import answer
from tests.score.audits import open_audit, up_to
from tests.score.fakes import fake
from tests.specs import INCLUDE, write

TERMS = INCLUDE / "lexicons" / "terms"


def audited(folder: Path, texts: list[str], level: float = 0.95, **perturb: Any) -> Run:
    fake("by_words", answer)
    rows = [
        {"prompt_id": f"p{i}", "application_id": f"a{i}", "position": "any", "resume": f"{text} {i}"}
        for i, text in enumerate(texts)
    ]
    write_jsonl(folder / "prompts.jsonl", rows)
    (folder / "t.yaml").write_text("messages:\n- {role: user, content: '{{resume}}'}\n")
    lexicon = {"kind": "lexicon", "terms": {"sex": str(TERMS / "sex.csv")}} | perturb
    spec = write(
        folder,
        perturb=lexicon,
        framework={"ftu": True, "person_level": True, "equal_prevalence": True},
        groups={
            "attributes": {"sex": ["female", "male"]},
            "categories": {"sex": {"female": "Female", "male": "Male"}},
            "reference": {"sex": "male"},
        },
        prompt={"template": "t.yaml"},
        model={"backend": "by_words", "name": "by words"},
        decision={"rule": "above_median", "k": None, "round": None},
        measure={"metrics": ["score_gap", "impact_ratio"], "strata": [[]], "level": level},
        report={"policy": "generic", "tool": "Scores texts."},
    )
    return up_to(pipeline.open_run(spec, WEEK, str(folder / "store")), "report")


def page(run: Run) -> str:
    shown = run.stage("report").read("report.html").decode()
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", shown)))


def test_words_exchanged_and_prompts_without_a_variant(tmp_path: Path) -> None:
    texts = ["She cooks.", "A man drives.", "He/she writes.", "Somebody bakes."] * 3
    shown = page(audited(tmp_path, texts))
    assert "exchanged for those of every other group in 6 prompts" in shown
    assert "6 mention no group in what is exchanged: they got no variant" in shown
    assert "6 words were left alone" in shown
    assert "of 12 prompts, sex: 6 (50.0%, 95% interval" in shown
    assert "different names" not in shown and "names, titles or pronouns" not in shown
    assert "framework.ftu says that no prompt mentions a protected word; of 12 prompts 6 mention" in shown


def test_nothing_was_varied(tmp_path: Path) -> None:
    shown = page(audited(tmp_path, ["Somebody bakes."] * 6, no_mention="as_is"))
    assert "nothing: no prompt has a word of a group that could be exchanged" in shown
    assert "again and again" not in shown and "versions of it is" not in shown
    assert "The model is told no group (fairness through unawareness)" in shown


def experiment(folder: Path, size: int, **perturb: Any) -> Run:
    fake("rater", rater(0.5, seen=True))
    return up_to(
        open_audit(
            folder,
            "pointwise",
            prompt=RATING,
            model={"backend": "rater", "name": "rater", "valid_judge": False},
            perturb=perturb,
            measure={"metrics": ["score_gap"]},
            decision={"rule": "threshold", "threshold": 3, "k": None, "round": None},
            sample={"size": size},
        ),
        "report",
    )


def test_a_full_design_is_named(tmp_path: Path) -> None:
    run = experiment(tmp_path, 6)
    shown = page(run)
    assert "Design full: every application in all 8 groups; 6 applications a group " in shown
    assert "put before the model again and again with different names" in shown
    assert run.stage("report").read_json("report.json")["design"] == {
        "kind": "full", "groups": 8, "block_size": None, "exactly_balanced": True, "fewest_applications": 6,
        "most_applications": 6,
    }  # fmt: skip


def test_applications_shown_once_are_not_said_to_be_compared_with_themselves(tmp_path: Path) -> None:
    run = experiment(tmp_path, 5, design="two_sample")
    shown = page(run)
    assert "again and again" not in shown and "The same application was answered" not in shown
    assert "Each application was put before the model for one group only, with names, " in shown
    assert "two groups are compared by different applications" in shown
    assert "Design two-sample: every application in one of 8 groups only" in shown
    assert (
        "from 0 to 1 application a group; not exactly balanced. Groups that no application was shown in"
        in shown
    )
    found = run.stage("report").read_json("report.json")["design"]
    assert (found["fewest_applications"], found["most_applications"]) == (0, 1)


def test_blocks_are_named_with_their_size(tmp_path: Path) -> None:
    shown = page(experiment(tmp_path, 14, design="balanced_incomplete", block_size=4))
    assert (
        "Design balanced incomplete: every application in 4 of 8 groups; 7 applications a group; exactly balanced"
        in shown
    )
    assert "again and again, each in 4 of 8 groups, with different names" in shown
    assert "titles or pronouns of 4 groups: what differs" in shown
