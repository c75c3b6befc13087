"""The shipped prompt templates: each can be read, asks for what its task needs, and leads to its answer."""

from __future__ import annotations

import pytest
import yaml

from audit_lib.perturb.pools import read_block, slots_asked_for
from audit_lib.perturb.template import REPLY, read_template
from tests.specs import INCLUDE, load

PROMPTS = sorted(path.stem for path in (INCLUDE / "prompts").glob("*.yaml"))
TASKS = {
    "resume_screening": ("pointwise", {"job_title", "job_description", "resume"}, "Answer:"),
    "resume_rating": ("pointwise", {"job_title", "job_description", "resume"}, None),
    "resume_pairwise": ("pairwise", {"job_title", "job_description", "name", "resume"}, "Answer:"),
    "resume_listwise": ("listwise", {"job_title", "job_description", "name", "resume"}, None),
    "essay_grading": ("pointwise", {"statement", "essay"}, "Score:"),
    "essay_pairwise": ("pairwise", {"statement", "essay"}, "Answer:"),
}


@pytest.mark.parametrize("name", sorted(TASKS))
def test_a_template_shows_what_its_task_needs(name):
    task, slots, begun = TASKS[name]
    content = (INCLUDE / "prompts" / f"{name}.yaml").read_bytes()
    spec = load(
        task=task,
        model={"backend": "openai", "name": "m"},
        decision={"rule": "above_median", "round": "round_id"},
        prompt={"template": "t.yaml"},
    )
    messages = read_template(content)
    assert set(slots_asked_for(content, spec)) == slots
    assert yaml.safe_load(content)["name"] == name
    last = messages[-1]
    assert (last["content"] if last["role"] == "assistant" else None) == begun
    assert [m["role"] for m in messages[:2]] == ["system", "user"]
    if task == "listwise":
        assert "{{number}}" in read_block(content)


def test_all_of_these_are_known():
    assert set(TASKS) <= set(PROMPTS)


def test_the_rating_comes_after_a_summary_and_names_the_key_that_is_read():
    messages = read_template((INCLUDE / "prompts" / "resume_rating.yaml").read_bytes())
    assert [m["content"] == REPLY for m in messages] == [False, False, True, False]
    assert '"overall": 3' in messages[-1]["content"]
