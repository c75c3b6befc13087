"""Reliability by group: in each bin of scores the mean score, and the share of outcome 1 with its interval."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from audit_lib.documents.reliability import Reliability, ReliabilityBin
from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.sides import Side, Variable, score_unit
from audit_lib.metrics.calibration import ReliabilityRow, reliability_table
from audit_lib.results import Interval, Undefined
from audit_lib.spec import AuditSpec
from audit_lib.stats import ClusteredRates

BINS: Final = 10


def reliability_of(rows: Rows, spec: AuditSpec) -> list[Reliability]:
    """Return the bins of every group that calibration compares, in the order in which they are compared.

    Rows without a score or an outcome are in no bin: `calibration_gap` counts them.

    Parameters
    ----------
    rows : Rows
        A stratum.
    spec : AuditSpec
        Its groups and the level of the intervals.

    Returns
    -------
    list of Reliability
        Of groups that have anybody; none where scores are no probabilities, of which `calibration_gap` has the reason.
    """
    known = np.isfinite(rows.score) & (rows.qualified >= 0)
    variable = Variable.of(rows, np.where(known, rows.score, np.nan), score_unit(spec))
    found: list[Reliability] = []
    for pair in spec.groups.comparisons():
        for cell in pair:
            if any(dict(cell) == one.group for one in found):
                continue
            side = variable.side(cell)
            try:
                bins = _bins(side, rows, spec.measure.level)
            except UndefinedMetricError:
                continue
            found.append(Reliability(stratum=dict(rows.levels), group=dict(cell), bins=bins))
    return found


def _bins(side: Side, rows: Rows, level: float) -> tuple[ReliabilityBin, ...]:
    outcomes = rows.qualified[side.index]
    return tuple(
        ReliabilityBin(
            low=row.low, high=row.high, n=row.n, score=row.score, outcome=row.outcome,
            interval=_interval(row, side, outcomes, level),
        )
        for row in reliability_table(side.values, outcomes, BINS)
    )  # fmt: skip


def _interval(
    row: ReliabilityRow, side: Side, outcomes: NDArray[np.int8], level: float
) -> Interval | Undefined:
    last = row.high == 1.0
    own = (side.values >= row.low) & ((side.values <= row.high) if last else (side.values < row.high))
    people = np.bincount(side.clusters[own], minlength=side.units)
    won = np.bincount(side.clusters[own][outcomes[own] == 1], minlength=side.units)
    there = people > 0
    try:
        return ClusteredRates.of(won[None, there], people[None, there]).rate(0, level)
    except UndefinedMetricError as error:
        return Undefined(str(error))
