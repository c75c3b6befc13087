"""Typed slots in texts: ``{{name}}``, ``{{pronoun.subject}}``, ``{{job_description}}``.

Filling is one pass: a value that is put in is never searched for slots again, and every byte
outside the slots stays as it was. A slot that starts with a capital, ``{{Pronoun.subject}}``,
starts a sentence: its value gets a capital too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

import yaml

from audit_lib.errors import SpecError, UnknownSlotError
from audit_lib.registry import did_you_mean

_SLOT: Final = re.compile(r"\{\{([A-Za-z][A-Za-z0-9_.]*)\}\}")
_ROLES: Final = ("system", "user", "assistant")


def slots(text: str) -> list[str]:
    """Return the slots of `text` in order, lower-case, each as often as it stands there.

    Examples
    --------
    >>> slots("{{name}}: {{Pronoun.subject}} leads {{pronoun.possessive}} team.")
    ['name', 'pronoun.subject', 'pronoun.possessive']
    """
    return [_lower_first(match) for match in _SLOT.findall(text)]


def fill(text: str, values: Mapping[str, str]) -> str:
    """Put `values` into the slots of `text`; every other byte stays.

    Raises
    ------
    UnknownSlotError
        If a slot has no value; the message names the nearest one that has.

    Examples
    --------
    >>> fill("{{Pronoun.subject}} says {{name}} is {{name}}.", {"name": "{{x}}", "pronoun.subject": "she"})
    'She says {{x}} is {{x}}.'
    """

    def value(match: re.Match[str]) -> str:
        slot = match.group(1)
        key = _lower_first(slot)
        if key not in values:
            raise UnknownSlotError(f"slot {{{{{slot}}}}} has no value{did_you_mean(key, sorted(values))}")
        filled = values[key]
        return filled[:1].upper() + filled[1:] if slot != key else filled

    return _SLOT.sub(value, text)


def _lower_first(slot: str) -> str:
    return slot[:1].lower() + slot[1:]


def read_template(content: bytes) -> list[dict[str, str]]:
    """Read a prompt template: YAML with ``messages``, each with ``role`` and ``content``.

    A last message of the role ``assistant`` is the start of the answer, which the model continues.

    Raises
    ------
    SpecError
        If it is not one.
    """
    try:
        document = yaml.safe_load(content)
    except yaml.YAMLError as error:
        raise SpecError(f"prompt.template: not YAML: {' '.join(str(error).split())}") from None
    messages = document.get("messages") if isinstance(document, dict) else None
    if not isinstance(messages, list) or not messages:
        raise SpecError("prompt.template: needs a list `messages`, each with `role` and `content`")
    for number, message in enumerate(messages, start=1):
        if not isinstance(message, dict) or set(message) != {"role", "content"}:
            raise SpecError(f"prompt.template: message {number} needs exactly `role` and `content`")
        if message["role"] not in _ROLES:
            raise SpecError(
                f"prompt.template: message {number} has the role {message['role']!r}"
                f"{did_you_mean(str(message['role']), list(_ROLES))}"
            )
        if not isinstance(message["content"], str):
            raise SpecError(f"prompt.template: the content of message {number} is not a text")
    return [{"role": message["role"], "content": message["content"].rstrip("\n")} for message in messages]


def render(template: list[dict[str, str]], fields: Mapping[str, str]) -> str:
    """Return the messages as canonical JSON, with `fields` in the template's slots."""
    messages = [{"role": part["role"], "content": fill(part["content"], fields)} for part in template]
    return json.dumps(messages, ensure_ascii=False, separators=(",", ":"))
