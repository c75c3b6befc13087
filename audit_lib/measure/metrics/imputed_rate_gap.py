"""Imputed rate gap: how differently are groups selected whose members are known as probabilities only?"""

from __future__ import annotations

from audit_lib.measure.estimates.imputed import ImputedAttribute
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.scored import Rows
from audit_lib.policies import Policy
from audit_lib.spec import AuditSpec


@metric(
    "imputed_rate_gap",
    title="Decision rate gap of imputed groups",
    parity=0.0,
    meaning="All differences of the shares of favourable decisions that the probabilities of the groups allow: bounds, "
    "and an interval that holds what lies between them.",
    better="parity",
    unit="share",
    provenance="observed",
    cite="Kallus, Mao and Zhou (2022), Management Science 68; Imbens and Manski (2004), Econometrica 72",
    signed=True,
    of_groups="Decision rate of imputed groups",
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Bound the rate of each level of the imputed attributes, and its difference from the reference's.

    Of people with a decision and probabilities (or a label); others are counted. The probabilities are taken as right
    in each stratum: of people with the same ones, that share belongs to the group. No rate is assumed to be the same
    in a group and outside it.
    """
    found = []
    for one in ImputedAttribute.each(rows, spec):
        reference = spec.groups.reference[one.axis]
        found += [one.rate(level) for level in one.levels]
        found += [one.gap(level) for level in one.levels if level != reference]
    return Measured(estimates=found)
