"""Demographic parity gap: difference of the shares selected when the best k of each round go forward."""

from __future__ import annotations

import numpy as np

from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.inference import compare
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows import Rows
from audit_lib.measure.selection import demographic_parity_gap, selection_shares
from audit_lib.policies import Policy
from audit_lib.results import Estimate
from audit_lib.spec import AuditSpec
from audit_lib.stats.clusters import mean_difference


@metric("demographic_parity_gap")
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute the gap at every quota of the spec, ties split fractionally.

    Rounds in which fewer than k candidates have a score are left out at that k, and counted in the
    parameters (``rounds_left_out``). Candidates of a round compete, so the round is the independent unit.
    """
    estimates = [
        one
        for k in sorted(set(spec.measure.quotas))
        for one in _at_quota(rows, spec, k)
    ]
    return Measured(estimates=estimates)


def _at_quota(rows: Rows, spec: AuditSpec, k: int) -> list[Estimate]:
    scored = ~np.isnan(rows.score) & (rows.round >= 0)
    sizes = np.bincount(rows.round[scored], minlength=max(int(rows.round.max(initial=-1)) + 1, 1))
    in_play = scored & (sizes[rows.round] >= k)
    rounds, played = int((sizes > 0).sum()), int((sizes >= k).sum())
    shares = np.full(rows.score.shape, np.nan)
    reason = "no round: candidates do not compete" if rounds == 0 else f"no round has {k} scored candidates"
    if in_play.any():
        shares[in_play] = selection_shares(rows.score[in_play], rows.round[in_play], k=k)
    parameters = {"k": k, "rounds": played, "rounds_left_out": rounds - played}

    def gap(group: np.ndarray, reference: np.ndarray) -> float:
        if not in_play.any():
            raise UndefinedMetricError(reason)
        return demographic_parity_gap(group, reference)

    return [
        compare(
            "demographic_parity_gap", rows, spec, group, reference,
            values=shares, clusters=rows.round, unit="round", kernel=gap, interval=mean_difference,
            method="difference of selected shares, ties split fractionally", parameters=parameters,
        )
        for group, reference in spec.groups.comparisons()
    ]  # fmt: skip
