"""The JSON body of a request to a user's own endpoint: a template whose slots are filled."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from audit_lib.score.remote.credentials import NAMED

SLOT: Final = re.compile(r"\{\{\s*([a-z_]+)\s*\}\}")
SLOTS: Final = ("system", "user", "assistant", "messages", "labels", "model", "repeat")


def names_in(content: Any) -> list[str]:
    """Return the environment variables that texts of a JSON value stand for, each as a whole."""
    return [name for text in texts_in(content) if NAMED.fullmatch(text) for name in NAMED.findall(text)]


def texts_in(content: Any) -> list[str]:
    """Return the texts that a JSON value holds, apart from its fields' names."""
    if isinstance(content, dict):
        return [text for value in content.values() for text in texts_in(value)]
    if isinstance(content, list):
        return [text for value in content for text in texts_in(value)]
    return [content] if isinstance(content, str) else []


def filled(
    template: Any, values: Mapping[str, str], lists: Mapping[str, Any], named: Mapping[str, str]
) -> Any:
    """Return a JSON template with its slots filled: once, so that a text with braces stays as it is."""
    if isinstance(template, dict):
        return {key: filled(value, values, lists, named) for key, value in template.items()}
    if isinstance(template, list):
        return [filled(value, values, lists, named) for value in template]
    if not isinstance(template, str):
        return template
    if (secret := NAMED.fullmatch(template)) is not None:
        return named[secret[1]]
    whole = SLOT.fullmatch(template)
    if whole is not None and whole[1] in lists:
        return lists[whole[1]]
    return SLOT.sub(lambda m: values[m[1]] if m[1] in values else json.dumps(lists[m[1]]), template)
