"""Marks, charts and days of our own page: what can be told to be wrong of them from the page alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import cache
from itertools import pairwise
from typing import Final

from audit_lib.check.findings import SummaryFinding
from audit_lib.check.own_footer import named_policies
from audit_lib.check.own_tables import STAR, in_all_languages, numbers_in
from audit_lib.page_transcript import PageText
from audit_lib.policies import load_policy, policy_names
from audit_lib.policies.clocks import valid_until
from audit_lib.translation import LANGUAGES, Speaker

_DAY: Final = re.compile(r"(?<![\d-])(\d{4})-(\d{2})-(\d{2})(?![\d-])")
_VALUE: Final = re.compile(r"\d+(?:\.\d+)?%?")


def marks_and_charts(texts: Sequence[PageText]) -> Iterator[SummaryFinding]:
    """Yield marks where none belongs, charts that show other numbers than they say, and days that never were."""
    yield from _marks(texts)
    yield from _charts(texts)
    yield from _days(texts)
    yield from _validity(texts)
    yield from _unknown_people(texts)


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


def _validity(texts: Sequence[PageText]) -> Iterator[SummaryFinding]:
    """The last day of use follows from the day of the audit by the law that the page names."""
    names = named_policies(" ".join(one.words for one in texts if one.part == "footer"))
    known = [name for name in names if name in policy_names()]
    facts: dict[str, str] = {}
    for one, after in pairwise(texts):
        if one.kind == "dt" and after.kind == "dd":
            facts.setdefault(one.words, after.words)
    audited, last = (
        next((words for label, words in facts.items() if label in in_all_languages(english)), "")
        for english in ("Date of the audit", "No use after")
    )
    if not known or not _DAY.fullmatch(audited) or not _DAY.fullmatch(last):
        return
    try:
        until = valid_until(load_policy(known[0]), date.fromisoformat(audited)).isoformat()
    except ValueError:
        return
    if until != last:
        yield SummaryFinding(
            id="number_contradicted", table="header", printed=last, recomputed=until,
            message=f"the last day of use does not follow from the day of the audit, {audited}",
        )  # fmt: skip


_UNKNOWN: Final = (
    "Category unknown: {n} more person, not in this table.",
    "Category unknown: {n} more people, not in this table.",
)


def _unknown_people(texts: Sequence[PageText]) -> Iterator[SummaryFinding]:
    """Known and unknown people are as many in each table of the same people: of three or more, one that differs."""
    people: dict[str, list[tuple[str, int]]] = {}
    caption, known = "", 0
    for one in texts:
        if one.kind == "caption":
            caption, known = one.words, 0
        elif one.kind == "td" and one.of == "n":
            known = (
                known + int(one.words.replace(",", ""))
                if one.words.replace(",", "").isdecimal()
                else -(10**9)
            )
        elif one.kind == "p" and caption:
            found = next((m for p in _unknown_patterns() if (m := p.fullmatch(one.words))), None)
            if found is not None and known >= 0:
                kind = caption.split(",")[0]
                people.setdefault(kind, []).append((one.words, known + int(found[1].replace(",", ""))))
            caption = ""
    for counted in people.values():
        (usual, many), *others = Counter(n for _, n in counted).most_common()
        if len(others) == 1 and others[0][1] == 1 < many:
            words = next(words for words, n in counted if n != usual)
            yield SummaryFinding(
                id="number_contradicted", printed=words, recomputed=f"{usual} people in all",
                message="known and unknown people are not as many as in the other tables",
            )  # fmt: skip


@cache
def _unknown_patterns() -> tuple[re.Pattern[str], ...]:
    found = [Speaker(language).look_up_number(*_UNKNOWN, n) for language in LANGUAGES for n in (1, 2)]
    return tuple(re.compile(re.escape(words).replace(r"\{n\}", r"([\d,]+)")) for words in found)
