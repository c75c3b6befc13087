"""Selection rates, scoring rates and impact ratios of bias-audit law, from integer counts.

Formulae: 6 RCNY 5-300 and 5-301 (New York City Local Law 144). Nothing is rounded before it is printed:
a rate is a `Fraction`, a ratio of rates is one too, and flags compare fractions. Thresholds and
exclusions are the policy's, passed in by the caller; none is a constant here.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics._aligned import same_rows
from audit_lib.metrics._arrays import as_codes, as_counts, as_numbers
from audit_lib.metrics._frames import frame_of
from audit_lib.metrics.median import median_split
from audit_lib.metrics.rounding import as_fraction
from audit_lib.results import Undefined

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True)
class ImpactRow:
    """One category of an impact ratio table.

    Parameters
    ----------
    category : label
        The category.
    selected, total : int
        How many were selected (or scored above the median), of how many.
    rate : Fraction or Undefined
        ``selected / total``.
    ratio : Fraction or Undefined
        Rate over the comparator's rate.
    is_comparator : bool
        Whether this row has the rate that the others are divided by.
    """

    category: Hashable
    selected: int
    total: int
    rate: Fraction | Undefined
    ratio: Fraction | Undefined
    is_comparator: bool

    def is_below(self, threshold: Fraction | str | float) -> bool:
        """Whether the ratio is strictly below the threshold, compared as fractions.

        Raises
        ------
        UndefinedMetricError
            If the ratio is undefined, with the same reason.

        Examples
        --------
        >>> impact_ratios([48, 60], [80, 80]).rows[0].is_below("0.8")
        False
        """
        if isinstance(self.ratio, Undefined):
            raise UndefinedMetricError(self.ratio.reason)
        return self.ratio < as_fraction(threshold)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImpactRatios:
    """An impact ratio table.

    Parameters
    ----------
    rows : tuple of ImpactRow
        In the order given.
    comparators : tuple of label
        Categories whose rate the others are divided by; several if they tie; none if undefined.
    """

    rows: tuple[ImpactRow, ...]
    comparators: tuple[Hashable, ...]

    @property
    def ratios(self) -> dict[Any, float | Undefined]:
        """Ratios by category, as floats for arithmetic; compare and print the fractions instead."""
        return {row.category: _as_float(row.ratio) for row in self.rows}

    @property
    def rates(self) -> dict[Any, float | Undefined]:
        """Rates by category, as floats."""
        return {row.category: _as_float(row.rate) for row in self.rows}

    def to_frame(self) -> pd.DataFrame:
        """Return one row a category: counts, rate and ratio as floats, and why one is undefined.

        How sure they are depends on how the people were drawn: `audit_lib.stats.ratio_of_proportions` for independent
        ones and a comparator fixed beforehand, `audit_lib.frame` for all that an audit prints.
        """
        return frame_of(
            {
                "category": row.category,
                "selected": row.selected,
                "n": row.total,
                "rate": row.rate,
                "ratio": row.ratio,
                "is_comparator": row.is_comparator,
            }
            for row in self.rows
        )

    def __getitem__(self, category: Hashable) -> ImpactRow:
        for row in self.rows:
            if row.category == category:
                return row
        raise KeyError(category)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringRow:
    """One category of a scoring rate table.

    Parameters
    ----------
    category : label
        The category.
    above, total, tied : int
        Members with a score strictly above the median, with any score, and with exactly the median.
    unscored : int
        Members without a score, in no other count.
    rate, tie_share : Fraction or Undefined
        ``above / total`` and ``tied / total``.
    """

    category: Hashable
    above: int
    total: int
    tied: int
    unscored: int
    rate: Fraction | Undefined
    tie_share: Fraction | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringRates:
    """A scoring rate table.

    Parameters
    ----------
    rows : tuple of ScoringRow
        Sorted by category.
    median : float
        The median that scores were compared with.
    median_of : {"all", "known"}
        Whose median it is: everybody assessed, or those with a known category.
    sample : int
        Scores that the median was taken of.
    above, tied : int
        Scores of that sample strictly above the median, and equal to it.
    unknown : int
        People without a known category: in no row.
    unscored : int
        People without a score, known category or not.
    """

    rows: tuple[ScoringRow, ...]
    median: float
    median_of: Literal["all", "known"]
    sample: int
    above: int
    tied: int
    unknown: int
    unscored: int

    @property
    def tie_share(self) -> Fraction:
        """Share of the sample that scored exactly the median, and so counts as not above it."""
        return Fraction(self.tied, self.sample)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a category: counts, rate and share at the median as floats, and why one is undefined."""
        return frame_of(
            {
                "category": row.category,
                "above": row.above,
                "n": row.total,
                "tied": row.tied,
                "unscored": row.unscored,
                "rate": row.rate,
                "tie_share": row.tie_share,
            }
            for row in self.rows
        )

    def impact_ratios(self, exclude: Collection[Hashable] = ()) -> ImpactRatios:
        """Impact ratios of the scoring rates; `exclude` as in `audit_lib.metrics.impact_ratios`."""
        return impact_ratios(
            {row.category: row.above for row in self.rows},
            {row.category: row.total for row in self.rows},
            exclude=exclude,
        )


def impact_ratios(
    selected: Mapping[Hashable, int] | Sequence[int] | ArrayLike,
    total: Mapping[Hashable, int] | Sequence[int] | ArrayLike,
    comparator: Hashable | None = None,
    exclude: Collection[Hashable] = (),
    compare_excluded: bool = False,
) -> ImpactRatios:
    """Impact ratio of each category: its selection rate over that of the most selected one.

    Parameters
    ----------
    selected, total : mapping of category to int, or sequence of int
        Selected members of each category, of how many; 3.0 is 3. Sequences number their categories 0, 1, ...
    comparator : label, optional
        The category to divide by. By default the one with the highest rate, as bias-audit law asks; a
        fixed one, such as men, gives the adverse impact ratio of Gaebler, Goel, Huq and Tambe (2024), arXiv:2404.03086.
    exclude : collection of label
        Categories that policy leaves out of the calculation (under 2% of the data, 5-301(d)): they keep
        their rate and get no ratio.
    compare_excluded : bool
        Whether an excluded category can still be the highest that the others are compared with. The
        rule is silent.

    Returns
    -------
    ImpactRatios
        Exact fractions. A rate is Undefined for a category without members; ratios are Undefined where
        a rate is, and all of them where the comparator's rate is 0 or undefined: never 0, never 1.

    Raises
    ------
    InputError
        If a count is negative or not whole, exceeds its total, or categories differ; the message names
        the row.

    Examples
    --------
    >>> table = impact_ratios({"male": 667, "female": 555}, {"male": 1390, "female": 1181})
    >>> table["female"].ratio, table.comparators
    (Fraction(771450, 787727), ('male',))
    >>> impact_ratios([0, 0], [10, 20]).rows[0].ratio
    Undefined(reason='the highest rate is 0')
    """
    chosen, all_ = as_counts(selected, "selected"), as_counts(total, "total")
    if list(chosen) != list(all_) and set(chosen) != set(all_):
        raise InputError("selected and total do not have the same categories")
    for category, n in all_.items():
        if chosen[category] > n:
            raise InputError(
                f"category {category!r}: {chosen[category]} selected of {n} (columns selected and total); "
                "nobody is selected without having been assessed (5-300, Selection Rate)"
            )
    unknown = [category for category in exclude if category not in all_]
    if comparator is not None and comparator not in all_:
        unknown.append(comparator)
    if unknown:
        raise InputError(f"no category is named {unknown[0]!r}")
    rates: dict[Hashable, Fraction | Undefined] = {
        category: Fraction(chosen[category], n) if n else Undefined("no member in this category")
        for category, n in all_.items()
    }
    eligible = {
        category: rate
        for category, rate in rates.items()
        if isinstance(rate, Fraction) and (compare_excluded or category not in exclude)
    }
    if comparator is None:
        base: Fraction | Undefined = (
            max(eligible.values()) if eligible else Undefined("no category to compare with has a rate")
        )
        comparators = tuple(category for category, rate in eligible.items() if rate == base)
    else:
        base, comparators = rates[comparator], (comparator,)
        if isinstance(base, Undefined):
            base = Undefined("the comparator has no member")
    if base == 0:
        base = Undefined("the highest rate is 0" if comparator is None else "the comparator's rate is 0")
    if isinstance(base, Undefined):
        comparators = ()
    rows = tuple(
        ImpactRow(
            category=category,
            selected=chosen[category],
            total=n,
            rate=rates[category],
            ratio=_ratio(rates[category], base, category in exclude),
            is_comparator=category in comparators,
        )
        for category, n in all_.items()
    )
    return ImpactRatios(rows=rows, comparators=comparators)


def scoring_rates(
    scores: ArrayLike, groups: ArrayLike, median: Literal["all", "known"] = "all"
) -> ScoringRates:
    """Scoring rate of each category: the share of it that scored strictly above the sample's median.

    Parameters
    ----------
    scores : array_like, shape (n,)
        Scores; NaN for those who have none. They are counted and enter no rate.
    groups : array_like, shape (n,)
        Category of each; None (or NaN) where unknown. They are counted and in no row.
    median : {"all", "known"}
        Whose median: everybody assessed ("the full sample", 5-301(c)(1)), or those with a known category.

    Returns
    -------
    ScoringRates
        Exact counts and fractions, with the share of scores that equal the median: coarse scores put
        much mass there, and then far less than half of the sample is above it.

    Raises
    ------
    InputError
        If lengths differ or `median` is something else.
    UndefinedMetricError
        If there is no score to take the median of.

    Examples
    --------
    >>> rates = scoring_rates([1, 2, 3, 3, 3, 4], ["a", "a", "a", "b", "b", None])
    >>> rates.median, rates.tie_share, [row.rate for row in rates.rows], rates.unknown
    (3.0, Fraction(1, 2), [Fraction(0, 1), Fraction(0, 1)], 1)
    """
    scores, groups = same_rows(scores=scores, groups=groups)
    values = as_numbers(scores, "scores")
    codes, levels = as_codes(groups, "groups")
    if values.shape != codes.shape:
        raise InputError(f"groups: {codes.size} labels for scores of shape {values.shape}")
    known = codes >= 0
    split = median_split(values, known, median)
    scored, above, tied = split.scored, split.above, split.tied

    def tally(mask: np.ndarray[Any, np.dtype[np.bool_]]) -> list[int]:
        return [int(count) for count in np.bincount(codes[mask & known], minlength=levels.size)]

    rows = tuple(
        ScoringRow(
            category=category,
            above=n_above,
            total=n,
            tied=n_tied,
            unscored=n_unscored,
            rate=Fraction(n_above, n) if n else Undefined("no member with a score"),
            tie_share=Fraction(n_tied, n) if n else Undefined("no member with a score"),
        )
        for category, n_above, n, n_tied, n_unscored in zip(
            levels.tolist(), tally(above), tally(scored), tally(tied), tally(~scored), strict=True
        )
    )
    return ScoringRates(
        rows=rows,
        median=split.median.value,
        median_of=median,
        sample=int(np.count_nonzero(split.sample)),
        above=int(np.count_nonzero(above & split.sample)),
        tied=int(np.count_nonzero(tied & split.sample)),
        unknown=int(np.count_nonzero(~known)),
        unscored=int(np.count_nonzero(~scored)),
    )


def _ratio(rate: Fraction | Undefined, base: Fraction | Undefined, excluded: bool) -> Fraction | Undefined:
    if excluded:
        return Undefined("excluded from the calculation")
    if isinstance(rate, Undefined):
        return rate
    return base if isinstance(base, Undefined) else rate / base


def _as_float(value: Fraction | Undefined) -> float | Undefined:
    return value if isinstance(value, Undefined) else float(value)
