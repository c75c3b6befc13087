"""What an answer can be, and how often it was that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from audit_lib.typed_json import Count, Typed

AnswerStatus = Literal["ok", "unranked", "refused", "unparsed", "error"]
STATUSES: Final[tuple[AnswerStatus, ...]] = ("ok", "unranked", "refused", "unparsed", "error")
"""In the order of the columns."""
ANSWERED: Final[tuple[AnswerStatus, ...]] = ("ok", "unranked")
"""Statuses that carry a score. A candidate whom a ranking leaves out is ranked last, and counted."""


class StatusCounts:
    """Base of the documents that have a count for each status."""

    __slots__ = ()

    @property
    def statuses(self) -> dict[str, int]:
        """Status -> how many have it."""
        return {name: getattr(self, name) for name in STATUSES}

    @property
    def answered(self) -> int:
        """How many have an answer that can be measured."""
        return sum(getattr(self, name) for name in ANSWERED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statuses(StatusCounts, Typed):
    """How many answers have which status."""

    n: Count
    ok: Count
    unranked: Count
    refused: Count
    unparsed: Count
    error: Count
