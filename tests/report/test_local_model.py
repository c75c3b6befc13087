"""The page says how a local model was asked, in both languages."""

from __future__ import annotations

import json

import pytest

from audit_lib.report.sections.local_model import how_it_was_asked
from audit_lib.translation import speaking

OWN = {
    "sha256": "ab",
    "system": "own",
    "turns": "own",
    "begun_answer": "continued",
    "thinking": "none",
    "kwargs": {},
}
CHANGED = {
    "sha256": "cd", "system": "folded", "turns": "merged", "begun_answer": "appended", "thinking": "off",
    "kwargs": {"enable_thinking": False, "level": "low"}, "date": "2025-01-01",
}  # fmt: skip


def told(model: dict[str, object]) -> dict[str, str]:
    return {
        label: json.dumps(said, default=str, ensure_ascii=False) for label, said in how_it_was_asked(model)
    }


def test_a_remote_model_has_no_such_facts():
    assert told({"backend": "openai", "name": "gpt-4"}) == {}


def test_what_a_template_asked_for_is_told():
    own, changed = told({"template": OWN, "ways": ["tree", "alone"]}), told({"template": CHANGED})
    assert "As the model's own chat template writes them." in own["How prompts were written"]
    assert "Given to the chat template" not in own
    ways = own["Ways of computing that agree with the model's own attention"]
    assert "shared beginnings packed into a tree; one request a pass" in ways
    said = changed["How prompts were written"]
    assert (
        "has no system role" in said
        and "turns of one role in a row were joined" in said
        and "is begun" in said
    )
    assert "enable_thinking: false; level: low" in changed["Given to the chat template"]
    assert "own switch" in changed["Thinking before the answer"]


@pytest.mark.parametrize("choice", ["none", "off", "closed", "final", "on", "unknown"])
def test_every_choice_is_told_in_spanish_too(choice):
    model = {"template": {**CHANGED, "thinking": choice}, "ways": ["tree", "prefix", "cache", "alone"]}
    english = told(model)
    with speaking("es") as speaker:
        spanish = told(model)
    assert not speaker.untranslated and len(spanish) == len(english) == 6
    assert not set(english.values()) & set(spanish.values()) - {english["Chat template, SHA-256"]} - {
        english["Given to the chat template"]
    } - {english["Date that the chat template writes"]}
