"""Noise floor: what a change that should change nothing does to the score."""

from __future__ import annotations

from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.effects import noise_floors
from audit_lib.measure.metric import Measured, metric, needs
from audit_lib.measure.rows import Rows
from audit_lib.policies import Policy
from audit_lib.results import Estimate, Undefined
from audit_lib.spec import AuditSpec

_NONE = "no control was asked, so the noise of the model is not known"


@metric("noise_floor")
@needs("controls")
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compare controls and other formats with the rows whose text they repeat, in the unit of the effects.

    Raises
    ------
    UndefinedMetricError
        If the audit has no control, or no score.
    """
    rows.need_scores()
    if rows.varied is None:
        raise UndefinedMetricError(_NONE)
    return Measured(estimates=[*noise_floors(rows, spec)] or [_nothing(rows)])


def _nothing(rows: Rows) -> Estimate:
    none = Undefined(_NONE)
    return Estimate(
        metric="noise_floor", value=none, interval=none, n=0, method="not computed", stratum=dict(rows.levels),
        flags=("small_cell",),
    )  # fmt: skip
