"""Slots: one pass, nothing else touched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.errors import SpecError, UnknownSlotError
from audit_lib.perturb.template import fill, read_template, slots

VALUES = {"name": "Ada {{name}} O'Neil", "pronoun.subject": "she", "pronoun.possessive": "her"}


def test_a_capital_slot_starts_a_sentence() -> None:
    assert fill("{{Pronoun.subject}} and {{pronoun.subject}}", VALUES) == "She and she"


def test_a_value_is_never_searched_for_slots() -> None:
    assert fill("<{{name}}>", VALUES) == "<Ada {{name}} O'Neil>"


def test_an_unknown_slot_names_the_nearest() -> None:
    with pytest.raises(
        UnknownSlotError, match=r"\{\{pronoun.subjct\}\} has no value; did you mean 'pronoun.subject'"
    ):
        fill("{{pronoun.subjct}}", VALUES)


@given(st.lists(st.one_of(st.text(), st.sampled_from(["{{name}}", "{{pronoun.subject}}"]))))
def test_everything_outside_the_slots_stays(parts: list[str]) -> None:
    text = "\x00".join(parts)
    marks = {name: f"\x01{name}\x01" for name in {*VALUES, *slots(text)}}
    filled = fill(text, marks)
    for name, mark in marks.items():
        filled = filled.replace(mark, "{{" + name + "}}").replace(mark.upper(), "{{" + name + "}}")
    assert filled.lower() == text.lower()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"messages: []", "needs a list `messages`"),
        (b"x: 1", "needs a list `messages`"),
        (b"messages: [{role: user}]", "message 1 needs exactly"),
        (b"messages: [{role: usr, content: a}]", "did you mean 'user'"),
        (b"messages: [{role: user, content: 3}]", "content of message 1 is not a text"),
        (b'messages: [{role: user, content: "a \\ud83d"}]', "message 1 holds half of a surrogate pair"),
        (b"messages: [", "not YAML"),
    ],
)
def test_a_template_that_is_none(content: bytes, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        read_template(content)


@pytest.mark.parametrize("slot", ["name.2", "Pronoun.subject.2", "first_name.2.initial", "TITLE.3"])
def test_a_slot_for_a_second_person_is_refused(slot: str) -> None:
    values = VALUES | {"first_name": "Ada", "title": "Ms.", "college": "Reed"}
    with pytest.raises(UnknownSlotError, match="asks for a second person, and a persona is one"):
        fill(f"{{{{{slot}}}}}", values)
    assert fill("{{first_name.form2}}, {{college.2}}", values) == "Ada, Reed"
