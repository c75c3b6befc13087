"""Typed slots in texts: ``{{name}}``, ``{{pronoun.subject}}``, ``{{job_description}}``.

Filling is one pass: a value that is put in is never searched for slots again, and every byte
outside the slots stays as it was. A slot that starts with a capital, ``{{Pronoun.subject}}``,
starts a sentence: its value gets a capital too; all capitals, ``{{NAME}}``, become the value's.
Forms such as ``{{first_name.initial}}`` are derived (see ``perturb.derived``), and ``{{open_braces}}``
stands for two braces of the text's own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

import yaml

from audit_lib.canonical import canonical_json
from audit_lib.errors import SpecError
from audit_lib.perturb.derived import OPEN, key_of, slot_value
from audit_lib.registry import did_you_mean

Template = list[dict[str, str]]
"""The turns of a conversation, each with its role and its content, and perhaps images or files.

These are ``parts``, as canonical JSON: objects of the chat API that follow the content, with slots in their texts.
"""

_SLOT: Final = re.compile(r"\{\{([A-Za-z][A-Za-z0-9_.]*)\}\}")
_ROLES: Final = ("system", "user", "assistant")

REPLY: Final = "{{reply}}"
"""All that an assistant's turn holds if the model is asked for it first, with the turns before it."""


def slots(text: str) -> list[str]:
    """Return the keys of the slots of `text` in order, each as often as it stands there.

    Examples
    --------
    >>> slots("{{name}}: {{Pronoun.subject}} leads {{pronoun.possessive}} team.")
    ['name', 'pronoun.subject', 'pronoun.possessive']
    """
    return [key_of(slot) for slot in _SLOT.findall(text) if slot != OPEN]


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
    return _SLOT.sub(lambda match: slot_value(match.group(1), values), text)


def escape(text: str) -> str:
    """Return a template that fills to `text` as it is, whatever slots it seems to hold.

    Examples
    --------
    >>> escape("f'{{user}} of {{1}}'")
    "f'{{open_braces}}user}} of {{1}}'"
    """
    return _SLOT.sub(lambda match: f"{{{{{OPEN}}}}}{match.group(0)[2:]}", text)


def parts(text: str) -> tuple[list[str], list[str]]:
    """Split a template into the texts around its slots (one more than there are slots), and the slots as written.

    Examples
    --------
    >>> parts("Dear {{Name}}, {{x}}")
    (['Dear ', ', ', ''], ['Name', 'x'])
    """
    pieces = _SLOT.split(text)
    return pieces[0::2], pieces[1::2]


def read_template(content: bytes) -> Template:
    """Read a prompt template: YAML with ``messages``, each with ``role`` and ``content``.

    A last message of the role ``assistant`` is the start of the answer, which the model continues. One whose
    content is ``{{reply}}`` is asked for by itself, before what follows it.

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
        if not isinstance(message, dict) or set(message) - {"parts"} != {"role", "content"}:
            raise SpecError(
                f"prompt.template: message {number} needs exactly `role` and `content`, and perhaps `parts`"
            )
        _check_parts(message, number)
        if message["role"] not in _ROLES:
            raise SpecError(
                f"prompt.template: message {number} has the role {message['role']!r}"
                f"{did_you_mean(str(message['role']), list(_ROLES))}"
            )
        if not isinstance(message["content"], str):
            raise SpecError(f"prompt.template: the content of message {number} is not a text")
        if message["content"] != message["content"].encode(errors="replace").decode():
            raise SpecError(
                f"prompt.template: message {number} holds half of a surrogate pair (\\ud800 to \\udfff alone), which "
                "no text holds; write the character itself"
            )
    read = [
        {"role": message["role"], "content": message["content"].rstrip("\n")}
        | ({"parts": canonical_json(message["parts"]).decode()} if message.get("parts") else {})
        for message in messages
    ]
    if is_reply(read[0]) or is_reply(read[-1]):
        raise SpecError(
            f"prompt.template: {REPLY} stands between a question and what follows it; an answer at the end is "
            "what the audit asks for anyway, so leave that turn out"
        )
    return read


def turn_slots(turn: Mapping[str, str]) -> list[str]:
    """Return the keys of the slots of a turn: of its content, and of its images and files."""
    return slots(turn["content"]) + slots(turn.get("parts", ""))


def has_parts(template: Template) -> bool:
    """Tell whether a turn of a template holds an image or a file."""
    return any("parts" in turn for turn in template)


def _check_parts(message: Mapping[str, Any], number: int) -> None:
    parts = message.get("parts")
    if parts is None:
        return
    if message["role"] != "user" or not isinstance(parts, list):
        raise SpecError(f"prompt.template: message {number}: `parts` is a list, of a message of the user")
    for part in parts:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "text" or not isinstance(kind, str):
            raise SpecError(
                f"prompt.template: message {number}: a part is an image or a file with its `type`, such as image_url "
                "or file; texts stand in `content`"
            )


def _filled(part: Any, fields: Mapping[str, str]) -> Any:
    if isinstance(part, dict):
        return {key: _filled(value, fields) for key, value in part.items()}
    if isinstance(part, list):
        return [_filled(value, fields) for value in part]
    return fill(part, fields) if isinstance(part, str) else part


def is_reply(message: Mapping[str, str]) -> bool:
    """Tell whether a turn of a template is one that the model is asked for first."""
    return message["role"] == "assistant" and message["content"].strip() == REPLY


def render(template: Template, fields: Mapping[str, str]) -> str:
    """Return the messages as canonical JSON, with `fields` in the template's slots."""
    messages: list[dict[str, Any]] = [
        {"role": part["role"], "content": REPLY if is_reply(part) else fill(part["content"], fields)}
        | ({"parts": _filled(json.loads(part["parts"]), fields)} if "parts" in part else {})
        for part in template
    ]
    return json.dumps(messages, ensure_ascii=False, separators=(",", ":"))
