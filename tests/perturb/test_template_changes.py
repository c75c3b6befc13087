"""A task that changes several things at once is told before the run and on the page: its effect has no single cause."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit_lib import pipeline
from audit_lib.documents.design import TemplateChange
from audit_lib.perturb.template import read_template
from audit_lib.perturb.template_changes import template_changes
from tests.measure.test_experiments import RATING, rater
from tests.score.audits import open_audit, up_to
from tests.score.fakes import fake

PROMPT = Path(RATING["template"])
BASE = PROMPT.read_text(encoding="utf-8")
PLACE = ("{{job_title}}.", "{{job_title}} in another district.")
SUMMARY = ('"Answer:"', '"After a summary of the resume, the answer is:"')


def task(folder: Path, name: str, *swaps: tuple[str, str]) -> str:
    words = BASE
    for old, new in swaps:
        assert words.count(old) == 1, old
        words = words.replace(old, new)
    (folder / f"{name}.yaml").write_text(words, encoding="utf-8")
    return str(folder / f"{name}.yaml")


def test_a_task_of_two_changes_is_told_and_one_of_one_is_not(tmp_path: Path) -> None:
    tasks = {
        "other_place": task(tmp_path, "other_place", PLACE),
        "both": task(tmp_path, "both", PLACE, SUMMARY),
        "same": task(tmp_path, "same"),
    }
    fake("rater", rater(0.5))
    run = open_audit(
        tmp_path,
        "pointwise",
        prompt=RATING,
        model={"backend": "rater", "name": "rater", "valid_judge": False},
        robustness={"tasks": tasks},
        measure={"metrics": ["standardised_effect"]},
        decision={"rule": "threshold", "threshold": 3, "k": None, "round": None},
        sample={"size": 4},
    )
    said = [one for one in pipeline.remarks(run.spec) if one.startswith("robustness")]
    assert [one.split()[0] for one in said] == ["robustness.tasks.both", "robustness.tasks.same"]
    assert "in 2 places" in said[0] and "another district" in said[0] and "summary of the resume" in said[0]
    page = up_to(run, "report").stage("report").read("report.html").decode()
    told = {name: page[page.index(f">task: {name}<") :] for name in ("other place", "both", "same")}
    assert "differs from the prompt in one place: " in told["other place"][:200]
    assert "in 2 places, so that what an effect changes by has no single cause" in told["both"][:200]
    assert "word for word" in told["same"][:200]


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ("one two three four five six", "one two three four five six", []),
        ("a b c d e f g h", "a B c d e F g h", [("b c d e f", "B c d e F")]),
        ("a b c d e f g h", "A b c d e f g H", [("a", "A"), ("h", "H")]),
        ("a b", "a b c", [("", "c")]),
        ("a b c", "a b", [("c", "")]),
    ],
)
def test_places_are_counted_where_words_between_them_stay(
    old: str, new: str, changes: list[tuple[str, str]]
) -> None:
    made = [[{"role": "user", "content": words}] for words in (old, new)]
    assert template_changes(*made) == [TemplateChange(taken=taken, put=put) for taken, put in changes]


def test_a_step_more_and_an_image_more_are_changes() -> None:
    base = read_template(b"messages:\n- {role: user, content: 'Rate {{resume}}.'}\n")
    step = read_template(
        b"messages:\n- {role: user, content: 'Sum up {{resume}}.'}\n- {role: assistant, content: '{{reply}}'}\n"
        b"- {role: user, content: 'Rate {{resume}}.'}\n"
    )
    image = read_template(
        b"messages:\n- role: user\n  content: 'Rate {{resume}}.'\n"
        b"  parts: [{type: image_url, image_url: {url: '{{photo}}'}}]\n"
    )
    assert len(template_changes(base, step)) == 1 and "{{reply}}" in template_changes(base, step)[0].put
    assert len(template_changes(base, image)) == 1 and "{{photo}}" in template_changes(base, image)[0].put
