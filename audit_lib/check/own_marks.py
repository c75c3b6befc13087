"""Marks, charts and days of our own page: what can be told to be wrong of them from the page alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Final

from audit_lib.check.findings import SummaryFinding
from audit_lib.check.own_tables import STAR, numbers_in
from audit_lib.page_transcript import PageText

_DAY: Final = re.compile(r"(?<![\d-])(\d{4})-(\d{2})-(\d{2})(?![\d-])")
_VALUE: Final = re.compile(r"\d+(?:\.\d+)?%?")


def marks_and_charts(texts: Sequence[PageText]) -> Iterator[SummaryFinding]:
    """Yield marks where none belongs, charts that show other numbers than they say, and days that never were."""
    yield from _marks(texts)
    yield from _charts(texts)
    yield from _days(texts)


def _marks(texts: Sequence[PageText]) -> Iterator[SummaryFinding]:
    """Only a ratio is marked as below the guideline, and nothing in a table of rates is negative."""
    for one in texts:
        if one.kind in ("td", "small") and one.of and any(number < 0 for number, _ in numbers_in(one.words)):
            yield SummaryFinding(
                id="number_contradicted", table=one.table, row=one.row, column=one.column, printed=one.words,
                message="people, rates and ratios are never negative",
            )  # fmt: skip
        if one.kind == "mark" and one.table and one.of not in ("", "ratio") and one.words == STAR:
            yield SummaryFinding(
                id="number_contradicted", table=one.table, row=one.row, column=one.column, printed=one.words,
                message="only a ratio can be below the guideline",
            )  # fmt: skip


_ALONE: Final = " "
"""What stands for the label of a chart of one number."""


def _charts(texts: Sequence[PageText]) -> Iterator[SummaryFinding]:
    """A chart shows the numbers that its description says."""
    told: Mapping[str, str] = {}
    awaited = ""
    for one in texts:
        if one.kind == "desc":
            pairs = [pair.rpartition(": ") for pair in one.words.split("; ")]
            told = {label: value for label, _, value in pairs}
            awaited = "" if len(pairs) > 1 or pairs[0][0] else _ALONE
            told = {_ALONE: one.words} if awaited else told
        elif one.kind != "text":
            continue
        elif awaited:
            if _VALUE.fullmatch(one.words) and told[awaited] != one.words:
                yield SummaryFinding(
                    id="number_contradicted", table=one.part, row=awaited, printed=one.words,
                    recomputed=told[awaited], message="a chart shows another number than its description says",
                )  # fmt: skip
            awaited = ""
        elif one.words in told:
            awaited = one.words


def _days(texts: Sequence[PageText]) -> Iterator[SummaryFinding]:
    for one in texts:
        for found in _DAY.finditer(one.words):
            try:
                date(*map(int, found.groups()))
            except ValueError:
                yield SummaryFinding(
                    id="number_contradicted", table=one.table or one.part, row=one.row, column=one.column,
                    printed=found[0], message="there is no such day",
                )  # fmt: skip
