r"""Recommendation: the answer is a list of items, best first.

How a list is read, in full:

1. The answer is JSON, alone or in a fenced block: an array of texts is the list.
2. Otherwise the lines that begin with a number (``1.``, ``2)``, ``3:``) are its items, in the order of the
   lines; where there are none, the lines that begin with a bullet (``-``, ``*``, ``•``).
3. Of a line's item, what stands in ``**bold**`` or quotes at its beginning is the item; otherwise what stands
   before a dash with spaces on both sides, which begins a remark.
4. Two items are the same if they differ in case, white space, or punctuation at their ends alone. A
   repeated item counts once, at its first place.
5. Items beyond the K-th are left out. Fewer than K are kept as they are: empty places are lost places.
6. A text without an item is ``unparsed``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from audit_lib.canonical import canonical_json
from audit_lib.score.generation import answer_text, text_requests
from audit_lib.score.requests import Kind, Request, Response, Row, elicitation, score_row

if TYPE_CHECKING:
    import pandas as pd

    from audit_lib.spec import AuditSpec

_FENCED = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL | re.IGNORECASE)
_NUMBERED = re.compile(r"^\s*(?:[#*_>\s]*)\d{1,3}\s*[.):]\s*(?P<item>.*\S)\s*$")
_BULLET = re.compile(r"^\s*[-*•+]\s+(?P<item>.*\S)\s*$")
_MARKED = re.compile(r"^(?:\*\*|__)(?P<bold>.+?)(?:\*\*|__)|^[\"“'‘](?P<quoted>.+?)[\"”'’](?!\w)")
_REMARK = re.compile(r"\s+[-–—]\s+.*$")
_ENDS = " \t\r\n.,;:!\"'“”‘’*_`"


def item_key(item: str) -> str:
    """Return the form in which two items are compared.

    Examples
    --------
    >>> item_key('"The  Matrix".') == item_key("the matrix")
    True
    """
    return " ".join(item.casefold().split()).strip(_ENDS)


def read_items(text: str, k: int) -> list[str]:
    r"""Read a list of at most `k` items from a model's answer, by the rule of this module.

    Returns
    -------
    list of str
        The items as they are written, best first; empty if there is none.

    Examples
    --------
    >>> read_items("Sure!\n1. **Alien** (1979)\n2) Heat - a heist film\n3. alien", 3)
    ['Alien', 'Heat']
    >>> read_items('```json\n["Alien", "Heat", "Up"]\n```', 2)
    ['Alien', 'Heat']
    """
    found: dict[str, str] = {}
    for item in _json_items(text) or _line_items(text):
        if key := item_key(item):
            found.setdefault(key, " ".join(item.split()).strip(_ENDS))
    return list(found.values())[:k]


def _json_items(text: str) -> Sequence[str]:
    fenced = _FENCED.search(text)
    try:
        document = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        return ()
    if not isinstance(document, list) or not all(isinstance(item, str) for item in document):
        return ()
    return document


def _line_items(text: str) -> list[str]:
    lines = text.splitlines()
    for pattern in (_NUMBERED, _BULLET):
        if matches := [match for line in lines if (match := pattern.match(line)) is not None]:
            return [_item(match["item"]) for match in matches]
    return []


def _item(line: str) -> str:
    if (marked := _MARKED.match(line)) is not None:
        return marked["bold"] or marked["quoted"]
    return _REMARK.sub("", line)


@elicitation("recommendation")
class Recommendation:
    """Read a list of ``generation.items`` items from each answer; the text is kept beside it."""

    asks: ClassVar[Kind] = "text"

    def __init__(self, spec: AuditSpec) -> None:
        self.spec = spec

    def requests(self, variants: pd.DataFrame) -> list[Request]:
        """Return one request for each variant."""
        return text_requests(variants, self.spec)

    def rows(self, request: Request, response: Response) -> list[Row]:
        """Return the variant's row; its column ``items`` holds the list as canonical JSON."""
        values: Row = {}
        if response.status == "ok":
            text, why = answer_text(request, response)
            items = [] if text is None else read_items(text, self.spec.generation.items or 1)
            values = {"text": text, "items": canonical_json(items).decode()}
            if not items:
                why = why or "the answer holds no list"
                values = {"text": text, "status": "unparsed", "detail": why}
        return [score_row(request, candidate, response, **values) for candidate in request.candidates]
