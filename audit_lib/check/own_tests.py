"""What our own page says beside its rates, held against their counts: limits, p-values, bounds, sums, charts.

Which method a column was made by is read from its header, in any language: exact p-values stand where people are
counted one by one, and there an interval with the comparator held fixed is Koopman's and a rate's is Wilson's.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from statistics import NormalDist
from typing import Final

from audit_lib.check.findings import SummaryFinding
from audit_lib.check.own_estimates import fisher, koopman
from audit_lib.check.own_tables import OwnRow, OwnTable, half_up, in_all_languages, numbers_in
from audit_lib.page_transcript import PageText

_SLACK: Final = 1e-6
"""Beyond the half of the last printed digit: what limits that are found by iteration may be off."""
_STATUSES: Final = ("Answered", "Left out of the ranking", "Refused", "Not readable", "Error")


@dataclass(slots=True)
class _Beside:
    """A table beside those of rates: a row's label -> a header -> what the cell says."""

    caption: str
    rows: dict[str, dict[str, str]] = field(default_factory=dict)
    notes: dict[str, dict[str, str]] = field(default_factory=dict)
    marked: set[tuple[str, str]] = field(default_factory=set)


def beside_the_rates(texts: Sequence[PageText], tables: Sequence[OwnTable]) -> Iterator[SummaryFinding]:
    """Yield the numbers beside the rates of a page that do not follow from its counts."""
    beside = _tables(texts)
    exact = set()
    for one in beside:
        yield from _of_answers(one)
        yield from _of_signs(one)
        yield from _leading(one)
        yield from _never_negative(one)
        for main, check in _about(one, tables):
            yield from check(one, main)
            if _column(one, "Exact p, comparator held fixed"):
                exact.add(main.caption)
    uncertain = {
        main.caption for one in beside for main, check in _about(one, tables) if check is _uncertainty
    }
    level = _level(beside)
    if exact and exact == uncertain and level is not None:
        for table in tables:
            yield from _wilson(table, level)


def _tables(texts: Sequence[PageText]) -> list[_Beside]:
    found: list[_Beside] = []
    for one in texts:
        if one.kind == "caption":
            found.append(_Beside(one.words))
        elif found and one.table and one.row:
            if one.kind == "td":
                found[-1].rows.setdefault(one.row, {}).setdefault(one.column, one.words)
            elif one.kind == "small":
                found[-1].notes.setdefault(one.row, {}).setdefault(one.column, one.words)
            elif one.kind == "mark":
                found[-1].marked.add((one.row, one.column))
    return found


@cache
def _templates(english: str) -> tuple[re.Pattern[str], ...]:
    """A text with one place, at its begin or within it."""
    said = (re.escape(words) for words in sorted(in_all_languages(english)))
    place = re.compile(r"\\\{\w+(?::[^}]*)?\\\}")
    return tuple(re.compile(place.sub("(.+?)", words)) for words in said)


def _column(table: _Beside, english: str) -> str:
    """The header of a column, in the language of the page; empty where the table has no such column."""
    headers = {header for cells in table.rows.values() for header in cells}
    if "{" not in english:
        return next(iter(headers & in_all_languages(english)), "")
    return next((one for one in headers for pattern in _templates(english) if pattern.fullmatch(one)), "")


def _about(
    one: _Beside, tables: Sequence[OwnTable]
) -> Iterator[tuple[OwnTable, Callable[[_Beside, OwnTable], Iterator[SummaryFinding]]]]:
    """Find the table of rates that a table is about, and how the two are held against each other."""
    kinds = (
        ("{table}: uncertainty", _uncertainty),
        ("{table}: how firm", _how_firm),
        ("{table}: missing-data bounds", _bounds),
    )
    for english, check in kinds:
        for pattern in _templates(english):
            if (found := pattern.fullmatch(one.caption)) is not None:
                yield from ((table, check) for table in tables if table.caption == found[1])
                return


def _level(beside: Sequence[_Beside]) -> float | None:
    for one in beside:
        header = _column(one, "{level:%} interval, comparator held fixed")
        if header and (found := re.search(r"\d+(?:\.\d+)?", header)) is not None:
            return float(found[0]) / 100
    return None


# --- Numbers as they are printed. ---


def _prints(stated: tuple[Fraction, int], value: float | Fraction) -> bool:
    """Whether a number prints as it stands, or as nearly as an iteration can tell."""
    return (
        math.isfinite(value) and abs(float(stated[0] - Fraction(value))) <= 0.5 * 10.0 ** -stated[1] + _SLACK
    )


def _finding(table: _Beside | OwnTable, row: str, column: str, printed: str, value: object) -> SummaryFinding:
    return SummaryFinding(
        id="number_contradicted",
        table=table.caption,
        row=row,
        column=column,
        printed=printed,
        recomputed=f"{float(value):.6g}" if isinstance(value, float | Fraction) else str(value),
        message="it does not follow from the counts of the page's tables",
    )


def _counts(row: OwnRow) -> tuple[int, int] | None:
    n, selected = row.count("n"), row.count("selected")
    return (selected, n) if n and selected is not None and selected <= n else None


def _pairs(one: _Beside, main: OwnTable) -> Iterator[tuple[str, dict[str, str], tuple[int, int] | None]]:
    """Each row of a table with the counts of the row that it is about, once its people are those."""
    rows = {row.label: row for row in main.rows}
    for label, cells in one.rows.items():
        if (row := rows.get(label)) is not None:
            yield label, cells, _counts(row)


def _people(one: _Beside, main: OwnTable) -> Iterator[SummaryFinding]:
    header = _column(one, "Assessed")
    for row in main.rows:
        n = row.count("n")
        stated = numbers_in(one.rows.get(row.label, {}).get(header, ""))
        if n is not None and len(stated) == 1 and stated[0][0] != n:
            yield _finding(one, row.label, header, one.rows[row.label][header], n)


def _highest(main: OwnTable) -> list[tuple[int, int]]:
    """Counts of the rows with the highest rate, one of which the others are compared with."""
    return [
        counts
        for row in main.rows
        if row.value("ratio") is not None
        and (counts := _counts(row)) is not None
        and Fraction(*counts) == main.top
        and counts[0]
    ]


# --- Tables. ---


def _uncertainty(one: _Beside, main: OwnTable) -> Iterator[SummaryFinding]:
    yield from _people(one, main)
    exact = _column(one, "Exact p, comparator held fixed")
    deviations = _column(one, "Standard deviations")
    fixed = _column(one, "{level:%} interval, comparator held fixed")
    level, best = _level([one]), _highest(main)
    yield from _as_there(one, main)
    for label, cells, counts in _pairs(one, main):
        if counts is None or not best:
            continue
        stated = numbers_in(cells.get(deviations, ""))
        if stated and not any(_prints(stated[0], _deviations(counts, top)) for top in best):
            yield _finding(one, label, deviations, cells[deviations], _deviations(counts, best[0]))
        if not exact:
            continue
        if stated := numbers_in(cells.get(exact, "")):
            values = [p for top in best if (p := _fisher(counts, top)) is not None]
            below = cells[exact].lstrip().startswith("<")
            fine = any(p < stated[0][0] if below else _prints(stated[0], p) for p in values)
            if values and not fine:
                yield _finding(one, label, exact, cells[exact], values[0])
        limits = numbers_in(cells.get(fixed, ""))
        if level is not None and len(limits) == 2:
            fits = [_koopman(counts, top, level) for top in best]
            if not any(all(map(_prints, limits, ends)) for ends in fits):
                yield _finding(one, label, fixed, cells[fixed], f"{fits[0][0]:.4f}, {fits[0][1]:.4f}")


def _as_there(one: _Beside, main: OwnTable) -> Iterator[SummaryFinding]:
    """The interval under a ratio, and the side of the guideline that it is on, are those of the table of ratios."""
    picked, verdict = (
        _column(one, "{level:%} interval, comparator picked by the data"),
        _column(one, "Verdict"),
    )
    for row in main.rows:
        cells, note = one.rows.get(row.label, {}), one.notes.get(row.label, {}).get(verdict, "")
        there = row.notes.get("ratio", "")
        if len(numbers_in(there)) == 2 and " ".join(cells.get(picked, there).split()) != " ".join(
            there.split()
        ):
            yield _finding(one, row.label, picked, cells[picked], there)
        for english, below in (("not below {threshold:g}", False), ("below {threshold:g}", True)):
            found = next((m for p in _templates(english) if (m := p.fullmatch(note))), None)
            if found is not None and row.value("ratio") is not None:
                if (found[1], below) != ("0.8", row.star):
                    yield _finding(one, row.label, verdict, note, row.cells["ratio"])
                break


def _deviations(counts: tuple[int, int], top: tuple[int, int]) -> float:
    (x1, n1), (x2, n2) = counts, top
    pooled = (x1 + x2) / (n1 + n2)
    spread = math.sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n2))
    return (x1 / n1 - x2 / n2) / spread if spread else 0.0


def _fisher(counts: tuple[int, int], top: tuple[int, int]) -> Fraction | None:
    (x1, n1), (x2, n2) = counts, top
    return fisher(x1, n1 - x1, x2, n2 - x2)


def _koopman(counts: tuple[int, int], top: tuple[int, int], level: float) -> tuple[float, float]:
    """Both limits, by bisection of his equation."""
    (x1, n1), (x2, n2) = counts, top
    critical = NormalDist().inv_cdf(0.5 + level / 2) ** 2
    middle = (x1 * n2) / (n1 * x2)
    ends = []
    for far in (1e-9, 1e9):
        near = middle or 1e-9
        if not x1 and far < 1:
            ends.append(0.0)
            continue
        for _ in range(200):
            half = math.sqrt(near * far)
            near, far = (half, far) if koopman(half, x1, n1, x2, n2) < critical else (near, half)
        ends.append(near)
    return ends[0], ends[1]


def _how_firm(one: _Beside, main: OwnTable) -> Iterator[SummaryFinding]:
    yield from _people(one, main)
    header, best = _column(one, "More or fewer selected than expected"), _highest(main)
    for label, cells, counts in _pairs(one, main):
        stated = numbers_in(cells.get(header, ""))
        if counts is None or not best or not stated:
            continue
        x1, n1 = counts
        values = [x1 - Fraction(n1 * (x1 + x2), n1 + n2) for x2, n2 in best]
        if not any(_prints(stated[0], value) for value in values):
            yield _finding(one, label, header, cells[header], values[0])


def _bounds(one: _Beside, main: OwnTable) -> Iterator[SummaryFinding]:
    yield from _people(one, main)
    for missing, ratio in (
        ("Without an answer", "Ratio if all or none of these had been selected"),
        ("Of unknown category", "Ratio if all of these were in the category"),
    ):
        people, header = _column(one, missing), _column(one, ratio)
        for label, cells, counts in _pairs(one, main):
            more, limits = numbers_in(cells.get(people, "")), numbers_in(cells.get(header, ""))
            if counts is None or len(more) != 1 or len(limits) != 2 or not main.top:
                continue
            (x, n), m = counts, int(more[0][0])
            ends = [Fraction(selected, n + m) / main.top for selected in (x, x + m)]
            if not all(map(_prints, limits, ends)):
                yield _finding(
                    one, label, header, cells[header], f"{float(ends[0]):.4f}, {float(ends[1]):.4f}"
                )


def _wilson(table: OwnTable, level: float) -> Iterator[SummaryFinding]:
    z = NormalDist().inv_cdf(0.5 + level / 2)
    for row in table.rows:
        counts, limits = _counts(row), numbers_in(row.notes.get("rate", ""))
        if counts is None or len(limits) != 2:
            continue
        x, n = counts
        middle, half = x + z * z / 2, z * math.sqrt(x * (n - x) / n + z * z / 4)
        ends = [100 * min(max((middle + side * half) / (n + z * z), 0.0), 1.0) for side in (-1, 1)]
        if not all(map(_prints, limits, ends)):
            yield _finding(table, row.label, "rate", row.notes["rate"], f"{ends[0]:.3f}%, {ends[1]:.3f}%")


def _of_answers(one: _Beside) -> Iterator[SummaryFinding]:
    """Rows of a group are those of its statuses."""
    total, share = _column(one, "Rows"), _column(one, "With a score")
    columns = [_column(one, status) for status in _STATUSES]
    if not total or not all(columns):
        return
    for label, cells in one.rows.items():
        n, *parts = (numbers_in(cells.get(column, "")) for column in (total, *columns))
        if any(len(part) != 1 for part in (n, *parts)):
            continue
        sums = sum(part[0][0] for part in parts)
        if n[0][0] != sums:
            yield _finding(one, label, total, cells[total], sums)
        elif (stated := numbers_in(cells.get(share, ""))) and n[0][0]:
            answered = [parts[0][0][0], parts[0][0][0] + parts[1][0][0]]
            if all(half_up(100 * a / n[0][0], stated[0][1]) != stated[0][0] for a in answered):
                yield _finding(one, label, share, cells[share], 100 * answered[0] / n[0][0])


def _of_signs(one: _Beside) -> Iterator[SummaryFinding]:
    """Strata in which a rate is lower, equal and higher are all strata."""
    strata = _column(one, "Strata")
    signs = _column(one, "Strata where it is lower, equal, higher")
    for label, cells in one.rows.items():
        total, parts = numbers_in(cells.get(strata, "")), numbers_in(cells.get(signs, ""))
        if signs and len(total) == 1 and len(parts) == 3 and sum(part[0] for part in parts) > total[0][0]:
            yield _finding(one, label, signs, cells[signs], f"at most {total[0][0]} strata")


def _leading(one: _Beside) -> Iterator[SummaryFinding]:
    """Of each stratum the ratio that leads: marked if it is below, and never above 1."""
    header = _column(one, "Ratio with the most evidence (* if below)")
    for label, cells in one.rows.items():
        stated = numbers_in(cells.get(header, ""))
        if header and len(stated) == 1:
            ratio = stated[0][0]
            if not 0 <= ratio <= 1 or (ratio < Fraction(4, 5)) != ((label, header) in one.marked):
                yield _finding(one, label, header, cells[header], "from 0 to 1, marked if below 0.8")


_NOT_NEGATIVE: Final = (
    "Assessed", "Rows", "Answered", "p, comparator picked by the data", "p adjusted for all tests", "Clusters", "SD",
    "Exact p, comparator held fixed", "p, comparator held fixed", "Breslow-Day p", "Smallest difference found", "p",
    "Rate of the others",
)  # fmt: skip
_AT_MOST_ONE: Final = frozenset(
    {"p, comparator picked by the data", "p adjusted for all tests", "Exact p, comparator held fixed", "p",
     "p, comparator held fixed", "Breslow-Day p", "Rate of the others"}
)  # fmt: skip


def _never_negative(one: _Beside) -> Iterator[SummaryFinding]:
    """Counts, p-values and rates, and what a difference is at least."""
    headers = {header for cells in one.rows.values() for header in cells}
    for english in _NOT_NEGATIVE:
        for header in headers & in_all_languages(english):
            for label, cells in one.rows.items():
                stated = [number for number, _ in numbers_in(cells.get(header, ""))]
                if stated and (min(stated) < 0 or (english in _AT_MOST_ONE and max(stated) > 1)):
                    yield _finding(
                        one, label, header, cells[header], "from 0" if min(stated) < 0 else "at most 1"
                    )
