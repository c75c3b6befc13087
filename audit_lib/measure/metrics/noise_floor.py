"""Noise floor: what a change that should change nothing does to the score."""

from __future__ import annotations

from audit_lib.measure.experiment.noise import noise_floors
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.scored import Rows
from audit_lib.policies import Policy
from audit_lib.results import Estimate, Undefined
from audit_lib.spec import AuditSpec

_NONE = "nothing was asked again, so the noise of the model is not known"


@metric(
    "noise_floor",
    title="Noise floor",
    parity=0.0,
    meaning="What a change that should change nothing does to the score.",
    better="lower",
    unit="standard deviations",
    needs=("controls",),
    columns=("score",),
    cite="Gaebler, Goel, Huq and Tambe (2024), arXiv:2404.03086",
    signed=True,
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Pool the spread of repeats, and compare controls and other formats with the rows whose text they repeat.

    In the unit of the effects.

    Raises
    ------
    UndefinedMetricError
        If the audit has neither, or no score.
    """
    rows.need_scores()
    return Measured(estimates=[*noise_floors(rows, spec)] or [_nothing(rows)])


def _nothing(rows: Rows) -> Estimate:
    none = Undefined(_NONE)
    return Estimate(
        metric="noise_floor", value=none, interval=none, n=0, method="not computed", stratum=dict(rows.levels),
        flags=("small_cell",),
    )  # fmt: skip
