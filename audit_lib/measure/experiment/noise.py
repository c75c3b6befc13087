"""What moves scores though nothing that matters was changed: the same asked again, or set out otherwise."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.experiment.regression import inferred, known_levels
from audit_lib.measure.inference import Compared
from audit_lib.measure.rows.scored import Rows, Varied, compact
from audit_lib.records import CONTROL, FORMAT
from audit_lib.results import Interval, Undefined
from audit_lib.spec import AuditSpec
from audit_lib.stats._checks import t_quantile
from audit_lib.stats.spread import left_out_error, spread_without_each

REPEATS: Final = "repeats"
"""In the place of a variation: the answers to one version, asked `score.repeats` times."""

_PLACEBO: Final = (CONTROL, FORMAT)
_LEFT_OUT: Final = "leaving out each application in turn, also of the SD"


def noise_floors(rows: Rows, spec: AuditSpec) -> list[Compared]:
    """Estimate what repeats, controls and other formats do to the score, in the unit of the effects.

    Repeats first: the SD of the answers to one version, pooled over versions, over the SD of the scores. Controls and
    formats are paired with the ordinary row of the same text: the floor is the mean of the differences over the SD of
    the ordinary scores, its variance that of the applications' mean differences, ``G / (G - 1) sum u_g^2`` with
    ``u_g = sum over g of (d - mean) / n``. Intervals take the SD of the scores as fixed: they are in the unit of this
    sample, as the effects that the floor is held against, and too short in that of the population (docs/coverage.md).
    """
    found = [] if rows.within is None else [_repeats(rows, rows.within, spec)]
    if rows.varied is not None:
        names = [name for name in rows.varied.names() if name.startswith(_PLACEBO)]
        found += [_floor(rows, rows.varied.only(name), spec, name) for name in names]
    return found


def spread(rows: Rows) -> float:
    """Return the sample SD of the scores of rows with a known attribute: the unit of the effects.

    Raises
    ------
    UndefinedMetricError
        If there are fewer than two scores, or all are equal.
    """
    scores = rows.score[_scores(rows)]
    if scores.size < 2:
        raise UndefinedMetricError(f"{scores.size} scores: no spread to take as the unit")
    if scores.min() == scores.max():
        raise UndefinedMetricError("all outcomes are equal: the effect has no unit")
    return float(scores.std(ddof=1))


def _repeats(rows: Rows, within: NDArray[np.float64], spec: AuditSpec) -> Compared:
    kept = within[:, 1] > 0
    squares, df = math.fsum(within[kept, 0].tolist()), int(within[kept, 1].sum())
    parameters: dict[str, int | float | str] = {
        "variation": REPEATS, "repeats": spec.score.repeats, "degrees_of_freedom": df,
        "unchanged": int((within[kept, 0] == 0).sum()),
    }  # fmt: skip
    value: float | Undefined
    interval: Interval | Undefined
    try:
        if df == 0:
            raise UndefinedMetricError("no version has two answers with a score")
        sd = spread(rows)
        parameters["outcome_sd"] = sd
        value = math.sqrt(squares / df) / sd
    except UndefinedMetricError as undefined:
        value = interval = Undefined(str(undefined))
    else:
        try:
            scored = _scores(rows)
            interval = repeats_interval(
                within[scored], rows.score[scored], rows.application[scored], spec.measure.level
            )
        except UndefinedMetricError as undefined:
            interval = Undefined(str(undefined))
    return Compared(
        metric="noise_floor",
        value=value,
        interval=interval,
        standard_error=Undefined("the interval of a spread is not symmetric"),
        n=int(kept.sum()),
        clusters=compact(rows.application[kept])[1],
        method="SD of the answers to one version, pooled over versions, per SD of the score, which is the mean of a "
        "version's answers and has their noise over the root of their number",
        stratum=dict(rows.levels),
        parameters=parameters,
        flags=("small_cell",) if kept.sum() < spec.measure.small_cell else (),
    )


def repeats_interval(
    within: NDArray[np.float64], scores: NDArray[np.float64], of: NDArray[Any], level: float
) -> Interval:
    """Return the interval of the SD of repeats per SD of the score, both without each application in turn.

    Parameters
    ----------
    within : ndarray, shape (versions, 2)
        Sum of squares of the answers to each version, and its degrees of freedom.
    scores : ndarray, shape (versions,)
        Means of the answers.
    of : ndarray of int, shape (versions,)
        Application of each.
    level : float
        Nominal coverage.

    Raises
    ------
    UndefinedMetricError
        With one application, or if all repeats are alike, also without one application.

    Examples
    --------
    >>> within = np.array([[0.1, 2.0], [0.2, 2.0], [0.3, 2.0]])
    >>> found = repeats_interval(within, np.array([1.0, 2.0, 4.0]), np.arange(3), 0.95)
    >>> round(found.low, 3), round(found.high, 3)
    (0.016, 2.709)
    """
    if not within[:, 0].any():
        raise UndefinedMetricError("all repeats are alike: no spread to give an interval of")
    codes, count = compact(of)
    squares, df = (np.bincount(codes, one, count) for one in within.T)
    left = df.sum() - df
    if (left < 1).any() or (squares.sum() - squares <= 0.0).any():
        raise UndefinedMetricError("without one application no spread of repeats is left")
    value = math.sqrt(squares.sum() / df.sum()) / float(scores.std(ddof=1))
    without = np.sqrt((squares.sum() - squares) / left) / spread_without_each(scores, codes)
    error, degrees = left_out_error(math.log(value), np.log(without), np.bincount(codes))
    reach = math.exp(t_quantile(level, degrees) * error)
    method = f"logarithm, leaving out each application in turn, also of the SD, t({degrees:.4g})"
    return Interval(low=value / reach, high=value * reach, level=level, method=method)


def _scores(rows: Rows) -> NDArray[np.bool_]:
    """Return which scores the unit is of."""
    return np.asarray(np.isfinite(rows.score) & np.logical_or.reduce(list(known_levels(rows).values())))


def _floor(rows: Rows, varied: Varied, spec: AuditSpec, name: str) -> Compared:
    differences = varied.rows.score - varied.twin
    kept = np.isfinite(differences)
    d = differences[kept]
    clusters = _applications(varied.rows, rows)[kept]
    count, df = int(np.unique(clusters).size), 0.0
    value: float | Undefined
    error: float | Undefined
    parameters: dict[str, int | float | str] = {"variation": name}
    try:
        if d.size == 0:
            raise UndefinedMetricError("no control has a score beside the row that it repeats")
        sd = spread(rows)
        value = float(d.mean()) / sd + 0.0
        parameters |= {
            "mean_absolute_difference": float(np.abs(d).mean()) / sd,
            "unchanged": int((d == 0).sum()),
            "outcome_sd": sd,
        }
    except UndefinedMetricError as undefined:
        value = error = Undefined(str(undefined))
    else:
        try:
            scores = _scores(rows)
            error, df = floor_error(d, clusters, rows.score[scores], rows.application[scores])
        except UndefinedMetricError as undefined:
            error = Undefined(str(undefined))
    interval, tests = inferred(value, error, df, spec.measure.level, _LEFT_OUT, count)
    return Compared(
        metric="noise_floor",
        value=value,
        interval=interval,
        standard_error=error,
        n=int(d.size),
        clusters=count,
        method=f"mean difference of {name} and the same text unchanged, per SD of the score; clustered by application",
        stratum=dict(rows.levels),
        parameters=parameters,
        flags=("small_cell",) if d.size < spec.measure.small_cell else (),
        tests=tests,
    )


def _applications(varied: Rows, rows: Rows) -> NDArray[np.int64]:
    """Return the application of each varied row, as the ordinary rows number them."""
    place = {label: code for code, label in enumerate(rows.columns["application_id"].labels)}
    labels = varied.columns["application_id"].labels
    codes = np.array([place.get(label, len(place) + at) for at, label in enumerate(labels)], dtype=np.int64)
    return np.asarray(codes[varied.columns["application_id"].codes])


def floor_error(
    d: NDArray[np.float64], of: NDArray[Any], scores: NDArray[np.float64], of_scores: NDArray[Any]
) -> tuple[float, float]:
    """Return the error of a mean difference per SD of the score, and its degrees of freedom.

    Parameters
    ----------
    d, scores : ndarray of float
        Differences, and the scores whose SD is the unit.
    of, of_scores : ndarray of int
        Application of each.

    Raises
    ------
    UndefinedMetricError
        With one application, or if every control differs alike.

    Examples
    --------
    >>> error, df = floor_error(np.array([0.0, 0.1, 0.2]), np.arange(3), np.array([1.0, 2.0, 4.0]), np.arange(3))
    >>> round(error, 3), df
    (0.037, 2.0)
    """
    if (count := np.unique(of).size) < 2:
        raise UndefinedMetricError(f"{count} application: no variance between applications to measure")
    if d.min() == d.max():
        raise UndefinedMetricError("every control differs alike from the row that it repeats: no spread")
    codes, units = compact(np.concatenate([of, of_scores]))
    own, theirs = codes[: d.size], codes[d.size :]
    people = np.bincount(own, minlength=units)
    means = (d.sum() - np.bincount(own, d, units)) / (d.size - people)
    value = float(d.mean() / scores.std(ddof=1))
    without = means / spread_without_each(scores, theirs, units)
    return left_out_error(value, without, np.maximum(people, np.bincount(theirs, minlength=units)))
