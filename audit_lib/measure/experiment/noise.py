"""What moves scores though nothing that matters was changed: the same asked again, or set out otherwise."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.experiment.regression import inferred, known_levels
from audit_lib.measure.inference import Compared
from audit_lib.measure.rows.scored import Rows, Varied, compact
from audit_lib.records import CONTROL, FORMAT
from audit_lib.results import Interval, Undefined
from audit_lib.spec import AuditSpec
from audit_lib.stats.spread import pooled_sd_interval

REPEATS: Final = "repeats"
"""In the place of a variation: the answers to one version, asked `score.repeats` times."""

_PLACEBO: Final = (CONTROL, FORMAT)


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
    scores = rows.score[np.isfinite(rows.score) & np.logical_or.reduce(list(known_levels(rows).values()))]
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
            interval = pooled_sd_interval(squares / sd**2, df, spec.measure.level)
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


def _floor(rows: Rows, varied: Varied, spec: AuditSpec, name: str) -> Compared:
    differences = varied.rows.score - varied.twin
    kept = np.isfinite(differences)
    d = differences[kept]
    clusters, count = compact(varied.rows.application[kept])
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
        error = _paired_error(d / sd, clusters, count)
    except UndefinedMetricError as undefined:
        value = error = Undefined(str(undefined))
    interval, tests = inferred(value, error, count - 1, spec.measure.level, "clustered errors (CR1)", count)
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


def _paired_error(d: NDArray[np.float64], clusters: NDArray[np.int32], count: int) -> float | Undefined:
    if count < 2:
        return Undefined(f"{count} application: no variance between applications to measure")
    if d.min() == d.max():
        return Undefined("every control differs alike from the row that it repeats: no spread")
    sums = np.bincount(clusters, (d - d.mean()) / d.size, count)
    variance = count / (count - 1) * float(np.square(sums).sum())
    return math.sqrt(variance) if variance > 1e-24 else Undefined("no spread between applications")
