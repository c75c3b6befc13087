"""What a slot takes: a value as it is, in another case, or derived from a person's name.

``{{Slot}}`` starts with a capital and ``{{SLOT}}`` is all capitals, and so becomes the value. Where nothing is given
for a slot itself, a form of it takes the value of what it is a form of:

==================== ==============================================================================
slot                 value
==================== ==============================================================================
``x.2``, ``x.form2`` that of ``x``; of a name, title or pronoun there is no second
``x.lower``          that of ``x`` in lower case, as in file names
``x.initial``        the first letter of ``x``
``x.possessive``     that of ``x`` with 's
``name``             first and last name
``nickname``         the first name; so ``middle_name``
``email``            first.last@example.com
==================== ==============================================================================
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from audit_lib.errors import UnknownSlotError
from audit_lib.registry import did_you_mean

OPEN: Final = "open_braces"
"""The slot that stands for two opening braces, so that a text with braces of its own can be a template."""

_NUMBERED: Final = re.compile(r"(?:form)?[0-9]+")
_FORMS: Final[dict[str, Callable[[str], str]]] = {
    "lower": str.lower,
    "initial": lambda value: value[:1].upper(),
    "possessive": lambda value: f"{value}'s",
}
_PERSON: Final = frozenset({"name", "first_name", "last_name", "middle_name", "nickname", "title", "pronoun"})
_SAME_AS: Final = {"nickname": "first_name", "middle_name": "first_name"}


def key_of(slot: str) -> str:
    """Return the key under which the values name a slot.

    Examples
    --------
    >>> [key_of(slot) for slot in ("name", "Pronoun.subject", "LAST_NAME", "jobTitle")]
    ['name', 'pronoun.subject', 'last_name', 'jobTitle']
    """
    return _written(slot)[0]


@lru_cache(maxsize=1024)  # templates have few slots, and fill them for every persona
def _written(slot: str) -> tuple[str, Callable[[str], str] | None]:
    """Return a slot's key, and what its case does to the value."""
    if slot.isupper() and len(slot) > 1:
        return slot.lower(), str.upper
    key = slot[:1].lower() + slot[1:]
    return key, None if key == slot else _capitalised


def _capitalised(value: str) -> str:
    return value[:1].upper() + value[1:]


def slot_value(slot: str, values: Mapping[str, str]) -> str:
    """Return what a slot takes, in the slot's case.

    Raises
    ------
    UnknownSlotError
        If nothing gives it a value; the message names the nearest slot that has one.

    Examples
    --------
    >>> values = {"first_name": "Ana", "last_name": "Ruiz", "pronoun.subject": "she"}
    >>> [slot_value(slot, values) for slot in ("NAME", "Pronoun.subject", "first_name.initial", "email")]
    ['ANA RUIZ', 'She', 'A', 'ana.ruiz@example.com']
    """
    if slot == OPEN:
        return "{{"
    key, cased = _written(slot)
    value = values[key] if key in values else _lookup(key, values)
    if value is None:
        raise UnknownSlotError(f"slot {{{{{slot}}}}} has no value{did_you_mean(key, sorted(values))}")
    return value if cased is None else cased(value)


def _lookup(key: str, values: Mapping[str, str]) -> str | None:
    if key in values:
        return values[key]
    base, _, form = key.rpartition(".")
    if form.isdigit() and base.split(".")[0] in _PERSON:
        raise UnknownSlotError(
            f"slot {{{{{key}}}}} asks for a second person, and a persona is one; write another person out, or "
            f"{{{{{base}.form{form}}}}} for another way of writing the same"
        )
    if base and (_NUMBERED.fullmatch(form) or form in _FORMS):
        value = _lookup(base, values)
        return _FORMS[form](value) if value is not None and form in _FORMS else value
    if key in _SAME_AS:
        return _lookup(_SAME_AS[key], values)
    if key in ("name", "email") and values.get("first_name") and values.get("last_name"):
        parts = [values["first_name"], values["last_name"]]
        return " ".join(parts) if key == "name" else ".".join(map(_ascii, parts)) + "@example.com"
    return None


@lru_cache(maxsize=4096)
def _ascii(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]", "", plain) or "x"
