"""Estimates from texts: means by group, gaps to the reference, and means over counterfactual pairs.

One path for all metrics of texts and lists: the application is the independent unit, an interval comes from
influence values summed by it (`bounded`), and what a number lacks is counted beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from audit_lib.documents.rate_tables import CategoryLevels
from audit_lib.errors import UndefinedMetricError
from audit_lib.languages import ENGLISH, not_english
from audit_lib.measure.estimates.bounded_means import BoundedMean, MeanBounds, bounded_gap, bounded_mean
from audit_lib.measure.inference import Compared, compare
from audit_lib.measure.rows.counterfactual_pairs import Pairs, text_pairs
from audit_lib.measure.rows.scored import Rows, compact
from audit_lib.measure.rows.texts import ClassifiedAnswers, TextRows
from audit_lib.measure.sides import ClusterUnit, Side, Variable
from audit_lib.metrics.pair_scores import PairScores
from audit_lib.results import Estimate, Interval, TestResult, Undefined
from audit_lib.segmentation import segmenter, unspaced_script
from audit_lib.spec import AuditSpec
from audit_lib.spec import TextMeasure as Measures

Floats = NDArray[np.float64]
Parameters = Mapping[str, int | float | str]

NO_TEXTS: Final = "no texts: the task asks for scores"
NO_PAIR: Final = "no answer of the group has a counterpart of the reference"
FLAGGED: Final[tuple[Measures, ...]] = ("toxicity", "stereotype", "terms")
"""What a classifier may measure for the rates of flagged texts."""
SHARE: Final[MeanBounds] = (0.0, 1.0)


def need_texts(rows: Rows) -> TextRows:
    """Return the texts of a stratum.

    Raises
    ------
    UndefinedMetricError
        If the audit has none.
    """
    if rows.texts is None:
        raise UndefinedMetricError(NO_TEXTS)
    return rows.texts


def judged(texts: TextRows, *measures: Measures) -> list[ClassifiedAnswers]:
    """Return what classifiers of these kinds say.

    Raises
    ------
    UndefinedMetricError
        If the spec names no such classifier, or one of them cannot read the language of an answer: what is left
        would be a choice of answers, and may be one by group.
    """
    found = [one for one in texts.judged if one.measures in measures]
    if not found:
        raise UndefinedMetricError(f"no classifier of the spec measures {' or '.join(measures)}")
    for one in found:
        missing = np.isnan(one.values)
        blank = missing if missing.ndim == 1 else missing.all(axis=1)
        languages = Counter(filter(None, (_unread(one, str(text)) for text in texts.text[blank])))
        if languages:
            named = ", ".join(f"{language} {n}" for language, n in sorted(languages.items()))
            raise UndefinedMetricError(
                f"classifier {one.name!r} cannot read {languages.total()} of {len(texts)} answers ({named}): "
                f"{one.kind} reads {one.reads}; name a classifier that reads them"
            )
    return found


def _unread(one: ClassifiedAnswers, text: str) -> str:
    """Return the language of an answer that a classifier said nothing of, where that is why."""
    return one.reads.unread(text) or (not_english(text) if one.reads == ENGLISH else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class OfRows:
    """A value for some rows, or several for one: what `inference.compare` compares.

    Parameters
    ----------
    rows : Rows
        The stratum.
    values : ndarray of float, shape (n,)
        Without NaN.
    row : ndarray of int, shape (n,)
        The row of each value.
    clusters, units, unit
        As of `sides.Variable`.
    kept : ndarray of int, shape (n,)
        Where each value stands among those that it was taken from.
    """

    rows: Rows
    values: Floats
    row: NDArray[np.int64]
    clusters: NDArray[np.int32]
    units: int
    kept: NDArray[np.int64]
    unit: ClusterUnit = "application"

    @classmethod
    def of(cls, rows: Rows, values: Floats, row: NDArray[np.int64]) -> OfRows:
        """Take values of rows; NaN is left out."""
        kept = np.flatnonzero(~np.isnan(values))
        clusters, units = compact(rows.application[row[kept]])
        return cls(rows=rows, values=values[kept], row=row[kept], clusters=clusters, units=units, kept=kept)

    def side(self, cell: CategoryLevels) -> Side:
        """Return the values of the rows that have all levels of `cell`."""
        mine = np.flatnonzero(self.rows.members(cell)[self.row])
        occurs = np.zeros(self.units, dtype=bool)
        occurs[self.clusters[mine]] = True
        return Side(
            values=self.values[mine],
            clusters=self.clusters[mine],
            units=self.units,
            occurs=occurs,
            slices=(slice(0, mine.size),),
            kept=self.kept[mine],
        )


def by_row(texts: TextRows, values: Floats, rows: int) -> Floats:
    """Return the largest value of each row's answers; NaN for a row without one."""
    known = ~np.isnan(values)
    out = np.full(rows, -np.inf)
    np.maximum.at(out, texts.row[known], values[known])
    return np.where(np.isinf(out), np.nan, out)


def answers_of(texts: TextRows, values: Floats, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return which answers that have a value belong to some of the rows."""
    mine = np.zeros(int(max(texts.row.max(initial=-1), rows.max(initial=-1))) + 1, dtype=bool)
    mine[rows] = True
    return np.flatnonzero(mine[texts.row] & ~np.isnan(values))


def flagged(scores: Floats, threshold: float) -> Floats:
    """Return 1 where a score reaches the threshold, 0 where not, NaN where there is none."""
    return np.where(np.isnan(scores), np.nan, scores >= threshold)


def levels_and_gaps(
    name: str,
    variable: OfRows,
    spec: AuditSpec,
    point: Callable[[Side], float],
    *,
    method: str,
    parameters: Parameters,
) -> list[Estimate]:
    """Return what a kernel gives for all, for each group, and each group's difference from its reference.

    The differences are called ``<name>_gap``. Influence values are those of the means of `variable`.
    """
    cells: list[CategoryLevels] = [{}]
    for pair in spec.groups.comparisons():
        cells += [cell for cell in pair if cell not in cells]
    levels: list[Estimate] = []
    for cell in cells:
        side = variable.side(cell)
        value = point(side) if side.values.size else None
        found = mean_of(side.values, side.clusters, spec, value=value, nothing="no text with a score")
        own = Sides(group=cell, own=bool(cell))
        levels.append(
            described(name, found, variable.rows, spec, sides=own, method=method, parameters=parameters)
        )
    gaps = compare(
        f"{name}_gap",
        cast(Variable, variable),  # it has all that is asked of one
        spec,
        bounded_gap(SHARE, lambda group, reference: point(group) - point(reference)),
        method=f"difference of two groups: {method}",
        parameters=parameters,
    )
    return levels + gaps


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """Whom an estimate is of: a group, a group against its reference, or everybody.

    Parameters
    ----------
    group, reference : mapping of str to str
        Levels; empty for none.
    own : bool
        Whether the texts or pairs are the group's, not those of everybody.
    """

    group: CategoryLevels = field(default_factory=dict)
    reference: CategoryLevels = field(default_factory=dict)
    own: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TextMean:
    """What was found over `n` texts or pairs of so many independent clusters."""

    value: float | Undefined
    interval: Interval | Undefined
    standard_error: float | Undefined
    n: int
    clusters: int
    tests: tuple[TestResult, ...] = ()
    flags: tuple[str, ...] = ()


def mean_of(
    values: Floats,
    clusters: NDArray[np.int32],
    spec: AuditSpec,
    *,
    value: float | None,
    nothing: str,
    bounds: MeanBounds = SHARE,
) -> TextMean:
    """Return a mean, its interval clustered by application.

    Parameters
    ----------
    values, clusters : ndarray, shape (n,)
        Values and the application of each.
    value : float or None
        Their mean, as its kernel computes it; None for none.
    nothing : str
        Why there is no value, where there is none.
    bounds : pair of float
        What a value cannot be below and above.
    """
    found = BoundedMean(interval=Undefined(nothing), standard_error=Undefined(nothing))
    codes, units = compact(clusters)
    if values.size:
        found = bounded_mean(values, codes.astype(np.intp), units, spec.measure.level, bounds)
    return TextMean(
        value=Undefined(nothing) if value is None else value,
        interval=found.interval,
        standard_error=found.standard_error,
        n=values.size,
        clusters=units,
        flags=found.flags,
    )


def described(
    name: str,
    found: TextMean,
    rows: Rows,
    spec: AuditSpec,
    *,
    sides: Sides,
    method: str,
    parameters: Parameters | None = None,
    flags: tuple[str, ...] = (),
) -> Compared:
    """Return an estimate of a stratum: marked if it rests on few texts or pairs."""
    small = ("small_cell",) if found.n < spec.measure.small_cell else ()
    return Compared(
        metric=name,
        value=found.value,
        interval=found.interval,
        standard_error=found.standard_error,
        n=int(found.n),
        n_group=int(found.n) if sides.own else None,
        n_reference=int(found.n) if sides.own and sides.reference else None,
        clusters=int(found.clusters),
        method=f"{method}; clustered by application",
        group=dict(sides.group),
        reference=dict(sides.reference),
        stratum=dict(rows.levels),
        parameters=dict(parameters or {}),
        flags=(*flags, *found.flags, *small),
        tests=found.tests,
    )


def word_similarity(
    name: str,
    rows: Rows,
    spec: AuditSpec,
    similarity: Callable[[list[str], list[str], list[str] | None], PairScores],
    method: str,
) -> list[Estimate]:
    """Estimate a similarity of words over counterfactual pairs, protected words masked first."""
    texts = need_texts(rows)
    lexicon, parameters, flags = masking(texts)
    if any(unspaced_script(str(text)) for text in texts.text):
        parameters = {**parameters, "segmenter": segmenter() or "none"}
    return over_pairs(
        name,
        rows,
        spec,
        lambda pairs: similarity(
            texts.text[pairs.group].tolist(), texts.text[pairs.reference].tolist(), lexicon
        ),
        method=method,
        parameters=parameters,
        flags=("undirected", *flags),
    )


def over_pairs(
    name: str,
    rows: Rows,
    spec: AuditSpec,
    score: Callable[[Pairs], PairScores],
    *,
    method: str,
    bounds: MeanBounds = SHARE,
    parameters: Parameters | None = None,
    flags: tuple[str, ...] = ("undirected",),
) -> list[Estimate]:
    """Return, for each group and its reference, the mean of a value over their counterfactual pairs.

    Pairs without a value, and answers without a counterpart, are counted in the parameters.
    """
    texts = need_texts(rows)
    found: list[Estimate] = []
    for group, reference, pairs in paired(texts, rows, spec):
        values, clusters = np.empty(0), np.empty(0, dtype=np.int32)
        value, undefined = None, 0
        if pairs.group.size:
            scores = score(pairs)
            value = scores.mean if scores.n else None
            known = ~np.isnan(scores.values)
            undefined = len(scores.undefined)
            values = scores.values[known]
            clusters = rows.application[texts.row[pairs.group[known]]]
        nothing = f"none of {undefined} pairs has a value" if undefined else NO_PAIR
        mean = mean_of(values, clusters, spec, value=value, nothing=nothing, bounds=bounds)
        counted = {**(parameters or {}), "undefined_pairs": undefined, "unpaired": pairs.unpaired}
        sides = Sides(group=group, reference=reference)
        found.append(
            described(name, mean, rows, spec, sides=sides, method=method, parameters=counted, flags=flags)
        )
    return found


def paired(
    texts: TextRows, rows: Rows, spec: AuditSpec
) -> Iterator[tuple[CategoryLevels, CategoryLevels, Pairs]]:
    """Yield every group, its reference (another group, where `groups.pairs` is all), and their counterfactual pairs."""
    for group, reference in spec.groups.counterfactuals():
        yield group, reference, text_pairs(rows, texts, group, reference)


def masking(texts: TextRows) -> tuple[list[str] | None, Parameters, tuple[str, ...]]:
    """Return the words to mask (None without any), the parameter that says how many, and a flag without any."""
    words = texts.words.masked()
    return words or None, {"masked_words": len(words)}, () if words else ("unmasked",)
