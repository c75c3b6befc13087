"""Adverse impact ratio of real applicants' ratings at each threshold, against a fixed reference."""

from __future__ import annotations

from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.statutory.thresholds import adverse_impact_ratios, applicants_only
from audit_lib.policies import Policy
from audit_lib.spec import AuditSpec


@metric(
    "adverse_impact_ratio",
    title="Adverse impact ratio",
    parity=1.0,
    meaning="The share of the group at or above a threshold, divided by its reference's.",
    better="parity",
    unit="ratio",
    provenance="observed",
    columns=("score",),
    cite="Gaebler, Goel, Huq and Tambe (2024), arXiv:2404.03086",
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute P(score >= t | group) / P(score >= t | reference) at each of ``measure.thresholds``.

    Koopman's score interval, at the clusters' design effect where an application has several rows, at the level of
    the spec and at 70%; the reference is the spec's, not the group with the highest rate (that is `impact_ratio`).

    Raises
    ------
    UndefinedMetricError
        If demographics are assigned, or there is no score.
    """
    applicants_only(spec)
    rows.need_scores()
    return Measured(estimates=adverse_impact_ratios(rows, spec))
