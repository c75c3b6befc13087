"""Which impact ratio leads a page: the one with the most evidence, and never one that rests on too few people.

The smallest of many ratios is most often that of the smallest cell. A ratio can lead only where both of its groups
have as many people as the policy and the spec ask for, and where the policy's own tests do not call it too few to tell.
Of these the first is the one whose difference survives most checks, then the one whose interval ends lowest (what the
ratio is at most, with allowance for the comparator being picked by the data), then the one with the smallest p-value.
Where the highest rate of a table is that of too few people, its larger categories are compared with each other too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, NamedTuple

from audit_lib.documents.earlier import Smallest
from audit_lib.documents.estimates import adjusted_p, first_p
from audit_lib.plan.hypotheses import fewest_people
from audit_lib.report.adverse import finding
from audit_lib.report.content import Content, ExactRow, ExactTable
from audit_lib.report.verdict_words import shown_verdict
from audit_lib.results import Interval


class Rank(NamedTuple):
    """How much evidence is behind a ratio; the smaller, the more."""

    survived: int
    aside: bool
    limit: float
    p_value: float
    ratio: Fraction


_LAST: Final = Rank(1, True, math.inf, math.inf, Fraction(2))


class Best(NamedTuple):
    """A ratio, its row and its table."""

    table: ExactTable
    row: ExactRow
    ratio: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Leading:
    """What can be said first of some tables.

    Parameters
    ----------
    best : Best or None
        The ratio that leads, the first of equal ones; None where none can.
    rank : Rank
        By which it leads.
    few, few_below : int
        Ratios that rest on too few people to lead, and those of them below the guideline.
    untold, least : int
        Ratios that the policy's tests call too few to tell; and how many people both groups of a ratio must have.
    """

    best: Best | None
    rank: Rank
    few: int
    few_below: int
    untold: int
    least: int


def leading(content: Content, tables: Iterable[ExactTable]) -> Leading:
    """Return the ratio that leads these tables, and how many others cannot."""
    ranked: list[tuple[Rank, Best | None]] = []
    few = few_below = untold = 0
    both = [one for table in tables for one in (table, table.larger) if one is not None]
    for table, row in ((one, row) for one in both for row in one.rows):
        if not isinstance(row.ratio, Fraction) or row.label == table.comparator:
            continue
        if rests_on(content, table, row) is not None:
            few, few_below = few + 1, few_below + bool(row.below)
        elif too_few_to_tell(content, row):
            untold += 1
        else:
            ranked.append((rank_of(content, table, row, row.ratio), Best(table, row, row.ratio)))
    rank, best = min(ranked, key=lambda entry: entry[0], default=(_LAST, None))
    return Leading(best=best, rank=rank, few=few, few_below=few_below, untold=untold, least=least(content))


def rank_of(content: Content, table: ExactTable, row: ExactRow, ratio: Fraction) -> Rank:
    """Return by what a ratio comes before others."""
    survived = distinguishable(row) + _after_adjustment(content, row)
    interval = picked(row)
    limit = math.inf if interval is None else interval.high
    return Rank(-survived, table.aside is not None, limit, _p(row), ratio)


def headline(content: Content, kind: str) -> Smallest | None:
    """Return the ratio that leads the headline tables of a kind, as later reports read it; None where none can."""
    best = leading(content, (table for table in content.headline if table.kind == kind)).best
    if best is None:
        return None
    top = best.table.row(str(best.table.comparator))
    return Smallest(
        label=best.row.label,
        selected=best.row.selected,
        n=best.row.n,
        comparator_selected=top.selected,
        comparator_n=top.n,
    )


def least(content: Content) -> int:
    """Return how many people both groups of a ratio must have for it to lead."""
    return fewest_people(content.spec, content.policy)


def rests_on(content: Content, table: ExactTable, row: ExactRow) -> ExactRow | None:
    """Return the smaller of the two groups of a ratio if it has too few people, else None."""
    both = [one for one in table.rows if one.label in (row.label, table.comparator)]
    fewer = min(both, key=lambda one: one.n)
    return fewer if fewer.n < least(content) else None


def picked(row: ExactRow) -> Interval | None:
    """Return the interval of a ratio that allows for the comparator being picked by the data; None where none is."""
    return next((one for one in row.estimate.intervals if one.kind == "simultaneous"), None)


def distinguishable(row: ExactRow) -> bool:
    """Whether that interval ends below 1."""
    interval = picked(row)
    return interval is not None and interval.high < 1


def convincing(content: Content, table: ExactTable, row: ExactRow) -> bool:
    """Whether a ratio may have the flag's colour: below the guideline, on enough people, and shown to differ from 1.

    By its verdict; where the row is in no planned comparison, or the verdict is hidden, by its interval and its test.
    """
    verdict = shown_verdict(row.estimate)
    return (
        bool(row.below)
        and (distinguishable(row) and holds_unplanned(content, row) if verdict is None else verdict.found)
        and rests_on(content, table, row) is None
        and not too_few_to_tell(content, row)
    )


def holds_unplanned(content: Content, row: ExactRow) -> bool:
    """Whether the test of a ratio that has no verdict holds for all tables, which have half of the error between them.

    The larger categories of a table are compared because of what the data showed, and are in no family of tests.
    """
    p = first_p(row.estimate)
    return p is None or 2 * p * len(content.tables) < content.spec.measure.alpha


def _p(row: ExactRow) -> float:
    p = first_p(row.estimate)
    return math.inf if p is None else p


def _after_adjustment(content: Content, row: ExactRow) -> bool:
    adjusted = adjusted_p(row.estimate)
    return adjusted is not None and adjusted < content.spec.measure.alpha


def too_few_to_tell(content: Content, row: ExactRow) -> bool:
    """Whether the policy's practical tests, where it has any, call the row too few to tell."""
    found = finding(content, row)
    return found is not None and found.verdict == "too few to tell"
