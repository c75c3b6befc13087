"""Calibration gap: are scores as right on average for the group as for its reference?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from audit_lib.documents.parameters import WITHOUT_OUTCOME
from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.estimates.missing_outcomes import OutcomeRates, with_missing_outcomes
from audit_lib.measure.inference import NOBODY_QUALIFIED, compare, gap_of_means
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.sides import Side, Variable, score_unit
from audit_lib.metrics.calibration import calibration_gap, require_probabilities
from audit_lib.policies import Policy
from audit_lib.results import Estimate
from audit_lib.spec import AuditSpec


@metric(
    "calibration_gap",
    title="Calibration gap",
    parity=0.0,
    meaning="Mean of score less outcome of the group, minus that of the reference: above 0, the group's scores are too "
    "high next to the reference's.",
    better="parity",
    unit="share",
    columns=("score", "qualified"),
    cite="Kleinberg, Mullainathan and Raghavan (2016), arXiv:1609.05807",
    signed=True,
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute the gap of every group against its reference, of rows with a score and an outcome.

    Scores that are no probabilities, in [0, 1], have no calibration. `calibration_group` and `calibration_reference`
    among the parameters are the two means.
    """
    rows.need_scores()
    known = np.isfinite(rows.score) & (rows.qualified >= 0)
    values = np.where(known, rows.score - rows.qualified, np.nan)
    reason = _why_not(rows)

    def point(group: Side, reference: Side) -> float:
        ours, theirs = group.index, reference.index
        return calibration_gap(
            rows.score[ours], rows.qualified[ours], rows.score[theirs], rows.qualified[theirs]
        )

    variable = Variable.of(rows, values, score_unit(spec))
    estimates = compare(
        "calibration_gap", variable, spec, gap_of_means(point), method="difference of means of score less outcome",
        parameters={WITHOUT_OUTCOME: int((np.isfinite(rows.score) & (rows.qualified < 0)).sum())}, reason=reason,
    )  # fmt: skip
    estimates = [_with_means(one, variable) for one in estimates]
    if reason is None:
        there = np.isfinite(rows.score)
        rates = OutcomeRates(
            shares=[lambda true: rows.score - true], there=there, made=rows.decisions.selected,
            true=rows.qualified, unit=score_unit(spec),
        )  # fmt: skip
        estimates = with_missing_outcomes(estimates, rows, spec, rates)
    return Measured(estimates=estimates)


def _why_not(rows: Rows) -> str | None:
    if (rows.qualified < 0).all():
        return NOBODY_QUALIFIED
    try:
        require_probabilities(rows.score[np.isfinite(rows.score)])
    except UndefinedMetricError as error:
        return str(error)
    return None


def _with_means(one: Estimate, variable: Variable) -> Estimate:
    if not one.is_defined:
        return one
    means = {
        f"calibration_{side}": float(variable.side(cell).values.mean())
        for side, cell in (("group", one.group), ("reference", one.reference))
    }
    return replace(one, parameters={**one.parameters, **means})
