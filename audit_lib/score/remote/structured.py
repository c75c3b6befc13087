"""Answers that a server keeps to a form: the JSON schema of one of the labels, and how it is asked for and read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from audit_lib.score.reading.json_values import once
from audit_lib.score.reading.labels import read_label
from audit_lib.score.reading.thinking import without_thinking

_FENCED: Final = re.compile(r"```\w*\s*\n(.*?)\n?```", re.DOTALL)
KEY: Final = "answer"


def label_schema(labels: Sequence[str]) -> dict[str, Any]:
    """Return the schema of an answer that is one of the labels.

    Examples
    --------
    >>> label_schema(["No", "Yes"])["properties"]
    {'answer': {'type': 'string', 'enum': ['No', 'Yes']}}
    """
    return _object({KEY: {"type": "string", "enum": list(labels)}})


def ranking_schema(names: Sequence[str]) -> dict[str, Any]:
    """Return the schema of a ranking: all the names, best first.

    Examples
    --------
    >>> ranking_schema(["Ann", "Bo"])["properties"]["ranking"]["maxItems"]
    2
    """
    item = {"type": "string", "enum": sorted(set(names))}
    order = {"type": "array", "items": item, "minItems": len(names), "maxItems": len(names)}
    return _object({"ranking": order})


def rating_schema(path: Sequence[str], labels: Sequence[str]) -> dict[str, Any]:
    """Return the schema of an object that holds one of the labels at a path; whole numbers are written as such.

    Examples
    --------
    >>> rating_schema(["overall"], ["1", "2"])["properties"]
    {'overall': {'type': 'integer', 'enum': [1, 2]}}
    """
    whole = all(label.strip().isdecimal() for label in labels)
    found: dict[str, Any] = (
        {"type": "integer", "enum": [int(label) for label in labels]}
        if whole
        else {"type": "string", "enum": list(labels)}
    )
    for key in reversed(path):
        found = _object({key: found})
    return found


def response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the field of a chat body that asks for a schema.

    References
    ----------
    OpenAI, Structured model outputs, https://platform.openai.com/docs/guides/structured-outputs; vLLM, Mistral and
    others take the same field.
    """
    return {"type": "json_schema", "json_schema": {"name": KEY, "strict": True, "schema": dict(schema)}}


def chosen_label(text: str | None, labels: Sequence[str]) -> int | None:
    """Return the index of the label that an answer gives: as a JSON object with the one key ``answer``, or in words.

    The object may stand alone in a fenced block.

    Examples
    --------
    >>> chosen_label('{"answer": "Yes"}', ["No", "Yes"]), chosen_label("No.", ["No", "Yes"])
    (1, 0)
    >>> chosen_label('{"answer": "Yes or no"}', ["No", "Yes"]) is None
    True
    >>> chosen_label('{"answer": "Yes", "answer": "No"}', ["No", "Yes"]) is None  # which of them is not to be known
    True
    """
    answer = without_thinking(text or "").strip()
    if (fenced := _FENCED.fullmatch(answer)) is not None:
        answer = fenced[1].strip()
    if answer.startswith("{"):
        try:
            value = json.loads(answer, object_pairs_hook=once)
        except (ValueError, RecursionError):
            return None
        given = value[KEY] if set(value) == {KEY} else None
        if isinstance(given, bool) or not isinstance(given, str | int):
            return None
        plain = [label.strip().casefold() for label in labels]
        said = str(given).strip().casefold()
        return plain.index(said) if said in plain else None
    return read_label(text, labels)


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
