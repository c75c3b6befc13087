"""Categories without a row: of people whom another table holds, or whom a large number of unknown may hide."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from audit_lib.check.findings import SummaryFinding
from audit_lib.check.published_numbers import WHOLE, whole
from audit_lib.check.published_tables import PublishedRow, PublishedTable
from audit_lib.check.row_labels import names_category, without_denied_ethnicity
from audit_lib.check.stated_fields import NEGATED, sentences
from audit_lib.metrics.rounding import round_half_up
from audit_lib.policies import Policy
from audit_lib.policies.policy import Category

_LEFT_OUT: Final = re.compile(
    r"exclu|left out|leav(?:e|es|ing) out|omit|not (?:shown|included|listed|calculated|reported)|"
    r"\b(?:fewer|less) than|\bunder 2|\bbelow 2|\btoo (?:few|small)",
    re.IGNORECASE,
)
_NOBODY: Final = re.compile(
    rf"{NEGATED.pattern}|\bnobody\b|\bzero\b|(?<![\d.,])0(?!\d|%|[.,]\d)", re.IGNORECASE
)
_WHY_NO_ROW: Final = re.compile(f"{_NOBODY.pattern}|{_LEFT_OUT.pattern}", re.IGNORECASE)
_FEWEST: Final = 3  # categories that add up, which is no chance
_PEOPLE: Final = r"(?:\w+ )?(?:applicants|candidates|individuals|people|persons)"
_ALL_PEOPLE: Final = re.compile(
    rf"\b(?:covers?|covered|total(?: number)? of|includes?|included|analy[sz]ed|assessed|examined|evaluated|scored)"
    rf"(?: data (?:on|of|for|from))?(?: a total of)? ({WHOLE}) {_PEOPLE}\b|"
    rf"(?<![\d.,])({WHOLE}) {_PEOPLE} (?:were|have been) (?:assessed|audited|analy[sz]ed|evaluated|scored|screened|"
    r"considered)\b(?![^.;]*\bunknown)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Held:
    """People of a category that has no row: in which table, and how many (None where that is not printed)."""

    category: Category
    table: str
    people: int | None


def left_out(
    group: Mapping[str, PublishedTable], policy: Policy, unknown: int | None, text: str
) -> Iterator[SummaryFinding]:
    """Yield tables without a row for categories of whom another table of the same people holds somebody.

    Parameters
    ----------
    group : mapping of str to PublishedTable
        Tables of the same people, by family.
    unknown : int or None
        People of unknown category, who may be in one table and not in another; None if the page gives no number.
    text : str
        The page's words: they may say why a small category has no row.
    """
    for table in group.values():
        gone = _gone(table, policy)
        others = [other for other in group.values() if other is not table]
        held = [
            one
            for other in others
            for one in (*_in_finer(gone, other), *_in_coarser(table, gone, other, unknown))
            if not _may_be_said(one, text, policy, max(t.people for t in group.values()))
        ]
        elsewhere = [row for row in table.of("category") if not row.label.levels]
        if elsewhere and sum(one.people or 0 for one in held) <= sum(_n(row) or 0 for row in elsewhere):
            continue  # a row of another taxonomy may hold them, which is a finding of its own
        if held:
            yield _finding(table, held, policy)
        elif gone and unknown is not None:
            yield from _fewer_people(table, gone, others, unknown, policy)


def dropped(
    tables: Sequence[PublishedTable],
    policy: Policy,
    unknown: int | None,
    text: str,
    *,
    with_words: bool = True,
) -> Iterator[SummaryFinding]:
    """Yield the categories of an attribute that no table has a row for, and of which no words say why.

    Its people may be among those of unknown category, or among those that a total has beyond rows and unknown. Where
    neither shows them, nothing says that there were none: a category may be left out of the ratios for its size only
    with its number and rate, and nobody assessed is a fact that the page alone can state. `with_words` says whether
    the file holds the page's words at all; tables alone leave open what these say.
    """
    known = max((table.people for table in tables), default=0)
    why = _beyond_rows(tables, policy, unknown, text)
    if unknown and Fraction(unknown, known + unknown) >= policy.exclusion.share:
        share = round_half_up(100 * Fraction(unknown, known + unknown), 1)
        why = (
            f"{unknown} people ({share}% of all) are of unknown category: ask whether they were counted there"
        )
    if not why and not with_words:
        return
    rows = [row for table in tables for row in table.of("category")]
    for attribute in policy.attributes:
        shown = {row.label.levels.get(attribute.name) for row in rows} - {None}
        names = [level.name for level in attribute.categories if level.name not in shown]
        names = [name for name in names if not _is_named(name, _NOBODY if why else _WHY_NO_ROW, text)]
        if shown and names:
            yield SummaryFinding(
                id="category_dropped",
                row="; ".join(names),
                message=f"no table has a row, and {why or 'no words say that nobody was assessed, or how many were'}; "
                "a page should say so if nobody was assessed",
            )


def _beyond_rows(tables: Sequence[PublishedTable], policy: Policy, unknown: int | None, text: str) -> str:
    """Say by how many people a total is more than rows and unknown together; nothing where it is not by many."""
    found: list[tuple[int, int, str]] = []
    for table in tables:
        counts = [_n(row) for row in table.of("category")]
        listed = sum(_n(row) or 0 for row in table.of("unknown"))
        totals = [_n(row) for row in table.of("total") if not row.label.levels]
        if None not in counts:
            there = table.people + max(unknown or 0, listed)
            found += [(n, there, f"the total of table {table.name}") for n in (*totals, *table.total) if n]
    # What words say of all people is of one table only where there is one set of people.
    if unknown is not None and len({table.place for table in tables}) == 1:
        there = max(table.people for table in tables) + unknown
        found += [
            (whole(n), there, "the text") for one in _ALL_PEOPLE.finditer(text) for n in one.groups() if n
        ]
    beyond = max(found, key=lambda one: one[0] - one[1], default=(0, 0, ""))
    if beyond[0] - beyond[1] <= policy.exclusion.share * beyond[0]:
        return ""
    return (
        f"{beyond[2]} has {beyond[0]} people, {beyond[0] - beyond[1]} more than its rows and the unknown: ask where "
        "they are"
    )


def _gone(table: PublishedTable, policy: Policy) -> list[Category]:
    if table.family not in {family.name for family in policy.families}:
        return []
    present = [dict(row.label.levels) for row in table.of("category")]
    return [
        category for category in policy.categories(str(table.family)) if dict(category.levels) not in present
    ]


def _in_finer(gone: Sequence[Category], other: PublishedTable) -> Iterator[_Held]:
    """Yield categories of which a table by more attributes has people."""
    for category in gone:
        rows = [row for row in other.of("category") if category.levels.items() < row.label.levels.items()]
        if any(map(_has_people, rows)):
            counts = [_n(row) for row in rows]
            yield _Held(category, other.name, None if None in counts else sum(filter(None, counts)))


def _in_coarser(
    table: PublishedTable, gone: Sequence[Category], other: PublishedTable, unknown: int | None
) -> Iterator[_Held]:
    """Yield categories that a table by fewer attributes leaves people for, beyond those of unknown category."""
    if _others_add_up(table, other):
        unknown = 0  # nobody is in one table and not in the other
    for row in other.of("category"):
        if row.is_stated:  # the sentence that leaves it out of one table may mean the other, too
            continue
        whole, levels = _n(row), row.label.levels.items()
        lacking = [category for category in gone if levels and levels < category.levels.items()]
        counts = [_n(part) for part in table.of("category") if levels <= part.label.levels.items()]
        # Where the page gives no number of unknown people, only a whole category without any row is sure.
        if not lacking or whole is None or None in counts or (unknown is None and counts):
            continue
        if whole - sum(filter(None, counts)) > (unknown or 0):
            yield from (_Held(category, other.name, None) for category in lacking)


def _others_add_up(table: PublishedTable, other: PublishedTable) -> bool:
    """Whether each category of a coarser table that has rows in the finer one has exactly the people of these rows."""
    sums: list[bool] = []
    for row in other.of("category"):
        levels = row.label.levels.items()
        counts = [_n(part) for part in table.of("category") if levels and levels < part.label.levels.items()]
        if counts:
            sums.append(None not in counts and sum(filter(None, counts)) == _n(row))
    return len(sums) >= _FEWEST and all(sums)


def _fewer_people(
    table: PublishedTable,
    gone: Sequence[Category],
    others: Sequence[PublishedTable],
    unknown: int,
    policy: Policy,
) -> Iterator[SummaryFinding]:
    """Yield a table that has fewer people than another by more than can be of unknown category."""
    fuller = max(others, key=lambda table: table.people, default=table)
    counts = [_n(row) for each in (table, fuller) for row in each.of("category")]
    most = fuller.people
    # A slip in one number is no category: tables that do not add up are a finding of their own.
    if None not in counts and most - table.people - unknown > policy.exclusion.share * most:
        yield _finding(table, [_Held(category, fuller.name, None) for category in gone], policy)


def _finding(table: PublishedTable, held: Sequence[_Held], policy: Policy) -> SummaryFinding:
    where = dict.fromkeys(one.table for one in held)
    people = {one.category.label: one.people for one in held}
    numbers = [f"{label}: {n} people" for label, n in people.items() if n is not None]
    numbers = numbers if len(numbers) == len(people) else []
    return SummaryFinding(
        id="category_left_out",
        table=table.name,
        row="; ".join(people),
        message=f"no row, and table {' and table '.join(where)} holds these people"
        + (f" ({'; '.join(numbers)})" if numbers else ""),
        rule=policy.family(str(table.family)).cite,
    )


def _may_be_said(held: _Held, text: str, policy: Policy, people: int) -> bool:
    """Whether words say why a category too small for a ratio has no row."""
    if held.people is None or not people or Fraction(held.people, people) >= policy.exclusion.share:
        return False
    return all(_is_named(level, _LEFT_OUT, text) for level in held.category.levels.values())


def _is_named(level: str, words: re.Pattern[str], text: str) -> bool:
    said = map(without_denied_ethnicity, sentences(text))
    return any(words.search(sentence) and names_category(sentence, level) for sentence in said)


def _n(row: PublishedRow) -> int | None:
    return row.cell("applicants").count


def _has_people(row: PublishedRow) -> bool:
    if (n := _n(row)) is not None:
        return n > 0
    return any(row.cell(meaning).number is not None for meaning in ("rate", "ratio"))
