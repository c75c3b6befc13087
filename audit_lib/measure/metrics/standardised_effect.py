"""Standardised effect of each assigned attribute on the score."""

from __future__ import annotations

from audit_lib.measure.experiment.effects import effects, experiment_only
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.scored import Rows
from audit_lib.policies import Policy
from audit_lib.spec import AuditSpec


@metric(
    "standardised_effect",
    title="Standardised effect",
    parity=0.0,
    meaning="In standard deviations of the score.",
    better="parity",
    unit="standard deviations",
    provenance="assigned",
    columns=("score",),
    cite="Gaebler, Goel, Huq and Tambe (2024), arXiv:2404.03086",
    signed=True,
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Estimate the main effects by least squares, per SD of the score, in each variation of the rows.

    ``score = constant + effects of each attribute's levels + error``; CR1 errors by application, a t interval with
    applications less one degrees of freedom. With ``measure.application_effects``, and by default in blocks, each
    application has its own constant. An effect no larger than the controls' (`noise_floor`) is flagged
    ``within_noise``; a null of an attribute that the model does not perceive (`manipulation_agreement`) is flagged
    ``uninterpretable``, with a remark.

    Range: the unit is the SD of this sample's scores, taken as fixed, as the paper takes it. In the unit of the
    population's, simulated 95% intervals hold in 94 to 95% where half of the scores' variance is within applications,
    but in 79% at an effect of 0.3 and 42% at 1 where 5% is.

    Raises
    ------
    UndefinedMetricError
        If demographics are observed, not assigned, or there is no score.
    """
    experiment_only(spec)
    rows.need_scores()
    return Measured(estimates=list(effects(rows, spec)))
