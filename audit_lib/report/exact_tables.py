"""A statutory table, typed and checked: rates and ratios are made again from its whole numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from audit_lib.documents.rate_tables import AdverseImpact, Bounds, HiddenEstimate, RateRow, RateTable
from audit_lib.errors import EvidenceError
from audit_lib.policies import Policy
from audit_lib.records import NO_AND_YES
from audit_lib.results import Estimate, Interval, Multiplicity, TestResult, Undefined
from audit_lib.translation import Filled, known, mark, t

_CLOSE = 1e-9


WHOLE: Final = mark("all positions together")
"""What the stratum of the whole audit is called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactRow:
    """A category's row of a statutory table.

    Parameters
    ----------
    n, selected : int
        People assessed in the category, and those selected (or scored above the median).
    rate, ratio : Fraction or Undefined
        Made from the counts; exact.
    below : bool or None
        Whether the ratio is under the policy's guideline; None where there is no ratio.
    estimate : Estimate or HiddenEstimate
        The impact ratio's estimate as the measure stage wrote it: intervals, tests, method.
    missing, unknown : Bounds or None
        Missing-data bounds; None where they are hidden.
    adverse_impact : AdverseImpact or None
        Shortfall, flip-flop and power; None where they are hidden.
    population : Interval or Undefined or None
        Of scoring rates: the ratio's interval at the population's median; None where it is hidden.
    hidden : bool
        Whether the policy hides the row's numbers; they are then not here either.
    ratio_hidden : bool
        Whether it hides the ratio alone, because a hidden row is the comparator.
    """

    label: str
    levels: Mapping[str, str]
    n: int
    selected: int
    share: Fraction | Undefined
    rate: Fraction | Undefined
    rate_estimate: Estimate | HiddenEstimate
    ratio: Fraction | Undefined
    below: bool | None
    small: bool
    excluded: str | None
    estimate: Estimate | HiddenEstimate
    missing: Bounds | None
    unknown: Bounds | None
    adverse_impact: AdverseImpact | None
    population: Interval | Undefined | None = None
    hidden: bool = False
    ratio_hidden: bool = False

    @property
    def empty(self) -> bool:
        """Whether nobody is in the category."""
        return self.n == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactTable:
    """A statutory table: one kind of rate, one family of categories, one stratum."""

    kind: str
    family: str
    stratum: Mapping[str, str]
    total: int
    unknown: int
    median: float | None
    median_ties: int | None
    tied_rounds: int | None
    undersized_rounds: int | None
    comparator: str | Undefined
    rows: tuple[ExactRow, ...]
    equal_rates: TestResult | Undefined | None = None
    """Whether all its rates could be equal; None where it is hidden."""
    multiplicity: Multiplicity | None = None
    """Its p-value, adjusted for the other tests of the audit."""
    larger: ExactTable | None = None
    """Where the comparator has too few people for a ratio to lead: the larger categories, compared with each other."""
    aside: ExactRow | None = None
    """Of such a table: the comparator that it sets aside."""

    @property
    def where(self) -> str:
        """The stratum in words."""
        return in_words(self.stratum) or t(WHOLE)

    def row(self, label: str) -> ExactRow:
        """Return the row of a category."""
        return next(row for row in self.rows if row.label == label)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Impact ratios of tables: those below the guideline, of those compared, and how many are hidden.

    A comparator is not compared with itself: its ratio is 1 by definition.
    """

    below: int
    compared: int
    hidden: int


def tally(tables: Iterable[ExactTable]) -> Tally:
    """Count the ratios that say something."""
    rows = [(table, row) for table in tables for row in table.rows]
    compared = [row for table, row in rows if row.below is not None and row.label != table.comparator]
    return Tally(
        below=sum(row.below is True for row in compared),
        compared=len(compared),
        hidden=sum(row.hidden or row.ratio_hidden for _, row in rows),
    )


def read_table(table: RateTable[RateRow], policy: Policy) -> ExactTable:
    """Type one table of ``metrics.json`` and check it against its own counts.

    Raises
    ------
    EvidenceError
        If a rate, ratio or flag does not follow from the counts, or more were selected than assessed.
    """
    comparator = table.comparator
    where = f"metrics.json: {table.kind} {table.family} {in_words(table.stratum)}".rstrip()
    counts = {row.label: (row.n, row.selected) for row in table.rows}
    if len(counts) != len(table.rows):
        raise EvidenceError(f"{where}: two rows have one label; categories must differ")
    if isinstance(comparator, str) and comparator not in counts:
        raise EvidenceError(f"{where}: the comparator {comparator!r} is not a row of the table")
    base = counts[comparator] if isinstance(comparator, str) else None
    rows = tuple(_row(row, base, comparator, policy, where) for row in table.rows)
    larger = None
    if table.larger is not None:
        larger = read_table(table.larger, policy)
        if any(counts.get(row.label) != (row.n, row.selected) for row in larger.rows):
            raise EvidenceError(f"{where}: the larger categories are not as in the whole table")
        larger = replace(larger, aside=next(row for row in rows if row.label == comparator))
    return ExactTable(
        kind=table.kind,
        family=table.family,
        stratum=table.stratum,
        total=table.total,
        unknown=table.unknown,
        median=table.median,
        median_ties=table.median_ties,
        tied_rounds=table.tied_rounds,
        undersized_rounds=table.undersized_rounds,
        comparator=comparator,
        rows=rows,
        equal_rates=table.equal_rates,
        multiplicity=table.multiplicity,
        larger=larger,
    )


def _row(
    row: RateRow,
    base: tuple[int, int] | None,
    comparator: str | Undefined,
    policy: Policy,
    where: str,
) -> ExactRow:
    n, selected, label = row.n, row.selected, row.label
    if not 0 <= selected <= n:
        raise EvidenceError(f"{where}, row {label!r}: {selected} of {n} were selected; that cannot be")
    rate = Fraction(selected, n) if n else Undefined("nobody in this category was assessed")
    stated = row.impact_ratio.value
    ratio: Fraction | Undefined
    if isinstance(stated, Undefined) or row.excluded is not None:
        ratio = stated if isinstance(stated, Undefined) else Undefined(str(row.excluded))
    elif base is None or base[1] == 0 or n == 0:
        raise EvidenceError(
            f"{where}, row {label!r}: a ratio is given, but the counts define none ({comparator})"
        )
    else:
        ratio = Fraction(selected * base[0], n * base[1])
        _agree(stated, ratio, f"{where}, row {label!r}: impact ratio")
    if isinstance(rate, Fraction):
        _agree(row.rate.value, rate, f"{where}, row {label!r}: rate")
    below = ratio < policy.guidance.threshold if isinstance(ratio, Fraction) else None
    if row.four_fifths_flag not in (below, None):
        raise EvidenceError(
            f"{where}, row {label!r}: the flag {row.four_fifths_flag} is not what the counts give"
        )
    return ExactRow(
        label=label,
        levels=row.category,
        n=n,
        selected=selected,
        share=_share(row.share_of_data, n),
        rate=rate,
        rate_estimate=row.rate,
        ratio=ratio,
        below=below,
        small="small_cell" in (*row.rate.flags, *row.impact_ratio.flags),
        excluded=row.excluded,
        estimate=row.impact_ratio,
        missing=row.missing,
        unknown=row.unknown,
        adverse_impact=row.adverse_impact,
        population=row.population,
    )


def _share(stated: float, n: int) -> Fraction:
    """Return the share as a fraction: the stated float, 0.5125 of 160, would print as 51.2%."""
    return Fraction(n, round(n / stated)) if stated else Fraction(0)


def _agree(stated: float | Undefined, exact: Fraction, what: str) -> None:
    if isinstance(stated, Undefined) or not math.isclose(stated, exact, rel_tol=_CLOSE, abs_tol=_CLOSE):
        raise EvidenceError(f"{what} is stated as {stated}, but its counts give {exact} = {float(exact):.6g}")


def in_words(levels: Mapping[str, str]) -> str:
    """Print attribute levels or a stratum for people: the levels, underscores as spaces.

    Examples
    --------
    >>> in_words({"sex": "female", "race": "Black"}), in_words({"position": "software_engineer"})
    ('female, Black', 'software engineer')
    """
    return Filled(", ").join(known(str(level).replace("_", " ")) for level in levels.values())


def group_in_words(levels: Mapping[str, str]) -> str:
    """Print a group's levels for people; a yes or no, which says nothing alone, with the name of its column.

    Examples
    --------
    >>> group_in_words({"sex": "female", "race": "Black"}), group_in_words({"first_generation": "yes"})
    ('female, Black', 'first generation: yes')
    """
    said = []
    for column, level in levels.items():
        alone = in_words({column: level})
        said.append(f"{known(column.replace('_', ' '))}: {alone}" if level in NO_AND_YES else alone)
    return Filled(", ").join(said)
