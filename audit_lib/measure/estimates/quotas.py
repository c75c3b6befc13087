"""Gaps of the shares of each round's k places, at every quota of the spec."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from audit_lib.measure.estimates.random_rounds import random_round_gaps
from audit_lib.measure.inference import NOBODY_QUALIFIED, PointEstimator, compare, gap_of_means
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.sides import Variable
from audit_lib.results import Estimate
from audit_lib.spec import AuditSpec


def quota_gaps(
    name: str,
    rows: Rows,
    spec: AuditSpec,
    point: PointEstimator,
    *,
    method: str,
    counted: NDArray[np.bool_] | None = None,
) -> list[Estimate]:
    """Compare the shares of the counted rows (all, where `counted` is not given) by a kernel.

    Rounds in which fewer than k places are known are left out at that k. Candidates are ranked in
    their whole round, where they competed, also in a stratum that holds a part of it.
    """
    if rows.drawn is not None:
        return random_round_gaps(name, rows, spec, rows.drawn, method=method, counted=counted)
    competing = rows.pools.places > 0
    size_of_round = np.zeros(int(rows.round.max(initial=-1)) + 1, dtype=np.int32)
    size_of_round[rows.round[competing]] = rows.pools.places[competing]
    rounds = int((size_of_round > 0).sum())
    estimates = []
    for k in sorted(set(spec.measure.quotas)):
        shares = rows.pools.shares(k)
        played = int((size_of_round >= k).sum())
        reason = None
        if counted is not None:
            shares[~counted] = np.nan
            if (rows.qualified < 0).all():
                reason = NOBODY_QUALIFIED
        if played == 0:
            reason = (
                "no round: candidates do not compete"
                if rounds == 0
                else f"no round has {k} scored candidates"
            )
        estimates += compare(
            name, Variable.of(rows, shares, "round"), spec, gap_of_means(point),
            method=method, parameters={"k": k, "rounds": played, "rounds_left_out": rounds - played}, reason=reason,
        )  # fmt: skip
    return estimates
