"""Lines that say which position, job or tool the tables below them are about: "Position: analyst"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_LINE: Final = re.compile(
    r"(?P<kind>position|job(?: title| family| category)?|role|title|department|business unit|division|tool|aedt)"
    r"(?: (?:name|title))?\s*[:\u2013\u2014]\s*(?P<name>\S.{0,80})",
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(r"[.!?]\s+\S|[.!?]$|[:;]\s")


class PlaceLines:
    """The last line of each kind among those that were read so far.

    Examples
    --------
    >>> places = PlaceLines()
    >>> places.read(["Tool: Sorter", "Position: analyst", "Role: it ranks. It never rejects.", "Position: clerk"])
    >>> str(places)
    'Tool: Sorter; Position: clerk'
    """

    def __init__(self) -> None:
        self._last: dict[str, str] = {}

    def read(self, lines: Iterable[str]) -> None:
        """Look for such lines."""
        for line in lines:
            found = _LINE.fullmatch(line.strip())
            if found is not None and not _SENTENCE.search(found["name"]):
                self._last[found["kind"].lower()] = found[0]

    def __str__(self) -> str:
        return "; ".join(self._last.values())
