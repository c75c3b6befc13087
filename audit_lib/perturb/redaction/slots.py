"""Which slot a span becomes, so that the original values fill it to what stood there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from audit_lib.perturb.derived import slot_value

_FORM: Final = re.compile(r"\.form[0-9]+$")
_NUMBER: Final = re.compile(r"\.([0-9]+)$")
_LOWER: Final = frozenset(
    {"name", "first_name", "last_name", "middle_name", "nickname", "first_name.initial", "last_name.initial"}
)
_WORDS: Final = frozenset(
    {"pronoun", "spouse", "parent", "grandparent", "stepparent", "parenthood", "partner", "fiance", "widowed"}
)
_CASED: Final = _LOWER | _WORDS | {"title", "honorific", "ethnicity"}
"""Slots whose value takes the capitals of its place; a college's initials are capitals of its own."""


def family(key: str) -> tuple[str, int]:
    """Return the slot that a key is a form of, and its number among several of the kind.

    Examples
    --------
    >>> family("college.2.form3"), family("first_name.lower.form2"), family("pronoun.object")
    (('college', 2), ('first_name.lower', 1), ('pronoun.object', 1))
    """
    base = _FORM.sub("", key)
    number = _NUMBER.search(base)
    return (base[: number.start()], int(number.group(1))) if number else (base, 1)


class Slots:
    """The slots of one dossier, and the original value of each.

    One slot has one original value: a second way of writing the same thing (*Kate* beside *Katherine*) becomes a
    form of it, ``{{first_name.form2}}``, which a persona fills as it fills the slot itself. Capitals are the slot's
    case and no form.
    """

    def __init__(self, seeds: Mapping[str, str]) -> None:
        self._forms: dict[str, list[str]] = {slot: [value] for slot, value in seeds.items()}
        self.originals: dict[str, str] = {}

    def slot_for(self, slot: str, shown: str) -> str:
        """Return the slot for what is shown, as the template writes it."""
        if slot in _LOWER and shown.islower():
            slot = f"{slot}.lower"
        forms = self._forms.setdefault(slot, [])
        for number, value in enumerate(forms, start=1):
            if written := self._written(slot, number, value, shown):
                return written
        plain = self._plain(slot, shown)
        for value in (plain, shown):
            if written := self._written(slot, len(forms) + 1, value, shown):
                forms.append(value)
                return written
        raise AssertionError("a value is always a form of itself")  # pragma: no cover

    def _written(self, slot: str, number: int, value: str, shown: str) -> str:
        """Return the slot in the case in which this value fills it to what is shown, or nothing."""
        key = slot if number == 1 else f"{slot}.form{number}"
        orders = [key]
        if slot.split(".")[0] in _CASED:
            upper, first = key.upper(), key[:1].upper() + key[1:]
            orders = [upper, key, first] if _capitals(shown) else [key, first]
        for cased in orders:
            if slot_value(cased, {key: value}) == shown:
                self.originals[key] = value
                return cased
        return ""

    @staticmethod
    def _plain(slot: str, shown: str) -> str:
        """Return how the word would be written without the capitals that a sentence or a heading gives it."""
        base = slot.split(".")[0]
        if base in _WORDS:
            return shown.lower()
        return shown.title() if _capitals(shown) and base in _LOWER | {"title", "honorific"} else shown


def _capitals(text: str) -> bool:
    return text.isupper() and sum(map(str.isalpha, text)) > 1
