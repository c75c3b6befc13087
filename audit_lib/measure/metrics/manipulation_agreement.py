"""Manipulation agreement: how often the model names the attribute that a version was meant to show."""

from __future__ import annotations

from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.experiment.manipulation import agreement, perceived
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.scored import Rows
from audit_lib.policies import Policy
from audit_lib.spec import AuditSpec


@metric(
    "manipulation_agreement",
    title="Manipulation check",
    parity=None,
    meaning="The share of versions whose attribute the model named as it was meant.",
    better="higher",
    unit="share",
    needs=("checks",),
    cite="Gaebler, Goel, Huq and Tambe (2024), arXiv:2404.03086",
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute the agreement of each attribute that was asked about, over all versions and by level.

    `parameters` holds the confusion table's row: how often each level was said, and what was no answer.

    Raises
    ------
    UndefinedMetricError
        If the model was asked for no attribute.
    """
    asked = [axis for axis in rows.attributes if perceived(rows, axis) is not None]
    if rows.varied is None:
        raise UndefinedMetricError(
            "the model was asked for no attribute; name questions in manipulation.questions"
        )
    return Measured(
        estimates=[
            agreement(rows, spec, axis, level)
            for axis in asked or rows.attributes
            for level in (None, *rows.attributes[axis])
        ]
    )
