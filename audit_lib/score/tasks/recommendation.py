r"""Recommendation: the answer is a list of items, best first.

How a list is read, in full:

1. JSON, alone, in a fenced block or beginning a line after prose: an array of texts is the list, and so is one of
   objects that each have one text called "title", "name" or "item", unless ranks in them are not in order; of an
   object, its one value that is such an array. Two lists that differ, or an object that gives a key twice, are
   no list. JSON amid a line counts only where there are no lines by rules 2 to 4.
2. Otherwise the lines that begin with a number (``1.``, ``2)``, ``3:``, ``4 -``) are its items; where there are
   none, the lines that begin with a bullet (``-``, ``*``, ``•``); where there are none, two or more lines
   whose beginning is in ``**bold**``. A line further in than the first one belongs to a remark. If no two
   numbers are the same, the numbers are the order, otherwise the lines are.
3. Nothing counts from a line on that begins with "honourable mentions" or "runners-up". After a line that ends
   in a colon, a list ends where its numbers do not go on from those before.
4. Of a line's item, what stands in ``**bold**`` or quotes at its beginning is the item; otherwise what stands
   before a dash with spaces on both sides, which begins a remark.
5. Two items are the same if they differ in case, white space, or punctuation at their ends alone. A
   repeated item counts once, at its first place.
6. Items beyond the K-th are left out. Fewer than K are kept as they are: empty places are lost places.
7. A text without an item is ``unparsed``; so is one that was cut at its most tokens: the last item may be half.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from audit_lib.canonical import canonical_json
from audit_lib.score.reading.json_values import json_values
from audit_lib.score.reading.ratings import CUT
from audit_lib.score.reading.thinking import readable
from audit_lib.score.requests import AnswerKind, AnswerRecord, Request, Response, elicitation, score_row
from audit_lib.score.tasks.generation import answer_text, text_requests

if TYPE_CHECKING:
    import pandas as pd

    from audit_lib.spec import AuditSpec

_NUMBERED = re.compile(
    r"^(?P<indent>\s*)[#*_>\s]*?(?P<open>\*\*|__)?(?P<number>\d{1,3})(?:\s*[.):]|\s+[-–—]\s)(?P<item>.*\S)\s*$"
)
_BULLET = re.compile(r"^(?P<indent>\s*)[-*•+]\s+(?P<item>.*\S)\s*$")
_BOLD = re.compile(r"^(?P<indent>\s*)(?P<item>(?:\*\*[^*]+(?<!:)\*\*|__[^_]+(?<!:)__)(?!:)(?:\s.*)?)$")
_MENTIONS = re.compile(r"^[ \t#*_>+•\d.)-]*(?:honou?rable[ \t]+mentions?|runners?[- ]up)\b", re.I | re.M)
_CALLED = ("title", "name", "item")
_RANKS = ("rank", "ranking", "position", "place")
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

    Raises
    ------
    ValueError
        If the answer holds several lists that differ, or a JSON object that gives a key twice, or is longer than
        is read (`thinking.MOST_READ`).

    Examples
    --------
    >>> read_items("Sure!\n1. **Alien** (1979)\n2) Heat - a heist film\n3. alien", 3)
    ['Alien', 'Heat']
    >>> read_items('```json\n["Alien", "Heat", "Up"]\n```', 2)
    ['Alien', 'Heat']
    """
    text = _MENTIONS.split(readable(text))[0]
    found: dict[str, str] = {}
    for item in _json_items(text, begins_line=True) or _line_items(text) or _json_items(text):
        if key := item_key(item):
            found.setdefault(key, " ".join(item.split()).strip(_ENDS))
    return list(found.values())[:k]


def _json_items(text: str, *, begins_line: bool = False) -> Sequence[str]:
    lists = [
        items
        for at, value in json_values(text)
        if (items := _one_list(value)) and not (begins_line and text[:at].rpartition("\n")[2].strip())
    ]
    if any(other != lists[0] for other in lists):
        raise ValueError("the answer holds several lists that differ")
    return lists[0] if lists else ()


def _one_list(value: Any) -> list[str]:
    """Return an array of texts or of objects that name one, or an object's only one; otherwise nothing."""
    if isinstance(value, dict):
        lists = [one for one in value.values() if isinstance(one, list)]
        return _one_list(lists[0]) if len(lists) == 1 else []
    items = value if isinstance(value, list) else []
    texts = [text for item in items if (text := _text_of(item)) is not None]
    return texts if len(texts) == len(items) and _in_order(items) else []


def _text_of(item: Any) -> str | None:
    if isinstance(item, dict):
        said = [one for key, one in item.items() if key.casefold() in _CALLED and isinstance(one, str)]
        return said[0] if len(said) == 1 else None
    return item if isinstance(item, str) else None


def _in_order(items: Sequence[Any]) -> bool:
    """Whether the ranks that the objects of an array have, if any, go up."""
    ranks = [
        int(one)
        for item in items
        if isinstance(item, dict)
        for key, one in item.items()
        if key.casefold() in _RANKS and isinstance(one, int | str) and re.fullmatch(r"\d{1,3}", str(one))
    ]
    return ranks == sorted(ranks)


def _line_items(text: str) -> list[str]:
    lines = text.splitlines()
    for pattern in (_NUMBERED, _BULLET, _BOLD):
        if len(matches := _listed(lines, pattern)) >= (2 if pattern is _BOLD else 1):
            if pattern is _NUMBERED and len({match["number"] for match in matches}) == len(matches):
                matches.sort(key=lambda match: int(match["number"]))
            return [_item(match) for match in matches]
    return []


def _listed(lines: Sequence[str], pattern: re.Pattern[str]) -> list[re.Match[str]]:
    """Return the lines of one list, and no remarks further in."""
    found: list[re.Match[str]] = []
    after_heading = False
    for line in lines:
        match = pattern.match(line)
        if match is None:
            after_heading = after_heading or (bool(found) and line.rstrip(" *_").endswith(":"))
            continue
        if found and len(match["indent"]) > len(found[0]["indent"]) + 1:  # 9. and 10. may be set flush
            continue
        if after_heading and "number" in match.groupdict():
            numbers = [int(one["number"]) for one in (*found, match)]
            if numbers[-1] - numbers[-2] != (-1 if numbers[0] > numbers[-2] else 1):  # a countdown goes down
                break
            after_heading = False
        found.append(match)
    return found


def _item(match: re.Match[str]) -> str:
    # Bold that began before the number ends after the item.
    line: str = (match.groupdict().get("open") or "") + match["item"].strip()
    if (marked := _MARKED.match(line)) is not None:
        return marked["bold"] or marked["quoted"]
    return _REMARK.sub("", line)


@elicitation("recommendation")
class RecommendationTask:
    """Read a list of ``generation.items`` items from each answer; the text is kept beside it."""

    asks: ClassVar[AnswerKind] = "text"
    planned_by: ClassVar[tuple[str, str]] = ("position", "prompt_id")

    def __init__(self, spec: AuditSpec) -> None:
        self.spec = spec

    def requests(self, variants: pd.DataFrame) -> list[Request]:
        """Return one request for each variant."""
        return text_requests(variants, self.spec)

    def rows(self, request: Request, response: Response) -> list[AnswerRecord]:
        """Return the variant's row; its column ``items`` holds the list as canonical JSON."""
        values: AnswerRecord = {}
        if response.status == "ok":
            text, why = answer_text(request, response)
            items: list[str] = []
            try:
                if response.detail == CUT:
                    raise ValueError(CUT)
                items = [] if text is None or why else read_items(text, self.spec.generation.items or 1)
            except ValueError as error:
                why = str(error)
            values = {"text": text, "items": canonical_json(items).decode()}
            if not items:
                why = why or "the answer holds no list"
                values = {"text": text, "status": "unparsed", "detail": why}
        return [score_row(request, candidate, response, **values) for candidate in request.candidates]
