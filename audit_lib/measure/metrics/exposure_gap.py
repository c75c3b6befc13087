"""Exposure gap: how high do the group's candidates stand in their rounds, next to the reference's?"""

from __future__ import annotations

import numpy as np

from audit_lib.measure.inference import compare, gap_of_means
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.sides import Side, Variable
from audit_lib.metrics.exposure import exposure_gap, exposures
from audit_lib.policies import Policy
from audit_lib.spec import AuditSpec


@metric(
    "exposure_gap",
    title="Exposure gap",
    parity=0.0,
    meaning="Mean exposure of the group's candidates, 1 / log2(1 + place) in their round, minus that of the reference.",
    better="parity",
    unit="exposure",
    columns=("score", "round_id"),
    cite="Singh and Joachims (2018), arXiv:1802.07281",
    signed=True,
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute the gap of every group against its reference, over the rounds of the data; ties share their places.

    Candidates compete, so the round is the independent unit. A stratum that cuts rounds counts its own candidates by
    their places in the whole round. Rounds of which the first place alone is known are left out, and counted.
    """
    rows.need_scores()
    pools = rows.pools
    ranked = (pools.size > 0) & (pools.places == pools.size)
    values = np.full(len(rows), np.nan)
    values[ranked] = exposures(pools.above[ranked], pools.tied[ranked])
    left_out = np.unique(rows.round[(pools.size > 0) & ~ranked]).size
    parameters = {"rounds": int(np.unique(rows.round[ranked]).size), "rounds_left_out": int(left_out)}

    def point(group: Side, reference: Side) -> float:
        return exposure_gap(group.values, reference.values)

    return Measured(
        estimates=compare(
            "exposure_gap", Variable.of(rows, values, "round"), spec, gap_of_means(point),
            method="difference of mean exposures, ties sharing their places", parameters=parameters,
            reason=None if ranked.any() else "no round: candidates do not compete",
        )
    )  # fmt: skip
