"""Imputed impact ratio: what may rates be of the highest one, where groups are known as probabilities only?"""

from __future__ import annotations

from audit_lib.measure.estimates.imputed import ImputedAttribute
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.scored import Rows
from audit_lib.policies import Policy
from audit_lib.spec import AuditSpec


@metric(
    "imputed_impact_ratio",
    title="Impact ratio of imputed groups",
    parity=1.0,
    meaning="All ratios to the highest rate, whichever group has it, that the probabilities of the groups allow. With "
    "more than two groups the upper bound may be higher than what is possible, and never lower.",
    better="parity",
    unit="ratio",
    provenance="observed",
    cite="Kallus, Mao and Zhou (2022), Management Science 68; Imbens and Manski (2004), Econometrica 72",
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Bound the ratio of each level's rate to the highest, as `imputed_rate_gap` bounds rates."""
    return Measured(
        estimates=[one.ratio(level) for one in ImputedAttribute.each(rows, spec) for level in one.levels]
    )
