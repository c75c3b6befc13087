"""Gaps of the rate of decisions and of their four error rates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from audit_lib.documents.parameters import CLASS, WITHOUT_DECISION, WITHOUT_OUTCOME
from audit_lib.measure.estimates.bounded_means import bounded_gap
from audit_lib.measure.estimates.missing_outcomes import OutcomeRates, with_missing_outcomes
from audit_lib.measure.estimates.weighted import weighted_gaps
from audit_lib.measure.inference import NOBODY_QUALIFIED, compare
from audit_lib.measure.rows.coded import Coded
from audit_lib.measure.rows.scored import Floats, Rows
from audit_lib.measure.rows.split_columns import CLASSIFICATION, TRUE_CLASS
from audit_lib.measure.sides import ClusterUnit, Side, Variable, decision_unit, score_unit
from audit_lib.metrics.error_rates import RateGap
from audit_lib.results import Estimate
from audit_lib.spec import AuditSpec

NO_TRUE_CLASS: Final = (
    "no row says which class is true; map the column `outcome`, and list its classes in source.outcome"
)

NOBODY_ABOVE: Final = (
    "nobody is selected: decision.rule is above_median, and half of the scores or more are the highest one; choose "
    "threshold"
)
NOBODY_REACHES: Final = (
    "nobody is selected: no score reaches decision.threshold, so that no rate could differ"
)
ALL_REACH: Final = (
    "everybody is selected: every score reaches decision.threshold, so that no rate could differ"
)
BinaryOutcomes = NDArray[np.int8]
"""1, 0, or -1 where it is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRate:
    """The share of `event` among the rows of `among`.

    Parameters
    ----------
    kernel : callable
        What computes the gap from outcomes, decisions and the members of the two groups.
    method : str
        The gap in words.
    event, among : callable
        From decisions and true outcomes to what is counted, and of whom: influence values are those of this share.
    of_truth : bool
        Whether it asks for the true outcome; then only rows that have one count.
    """

    kernel: RateGap
    method: str
    event: Callable[[BinaryOutcomes, BinaryOutcomes], NDArray[np.bool_]]
    among: Callable[[BinaryOutcomes, BinaryOutcomes], NDArray[np.bool_]]
    of_truth: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """Decisions and true outcomes of the rows, each 1, 0 or -1; of one class against all others where `of` names it.

    Parameters
    ----------
    made, true : ndarray of int8, shape (rows,)
        Decisions and outcomes.
    unit : {"application", "round"}
        Independent unit of the decisions.
    unknown : str
        Why there is no rate where no outcome is known.
    of : str, optional
        The class.
    """

    made: BinaryOutcomes
    true: BinaryOutcomes
    unit: ClusterUnit
    unknown: str
    of: str | None = None


def rate_gaps(name: str, rows: Rows, spec: AuditSpec, rate: ErrorRate) -> list[Estimate]:
    """Compare a rate of decisions between every group and its reference, of rows with a decision.

    Where the tool puts people into several classes, the rate of each class is compared too, that class against all
    others; and nothing but these where nobody is known to be qualified, or nobody is selected.
    """
    labels = all_labels(rows, spec, of_truth=rate.of_truth)
    return [one for each in labels for one in _gaps(name, rows, spec, rate, each)]


def all_labels(rows: Rows, spec: AuditSpec, *, of_truth: bool) -> list[Labels]:
    """Return the decisions that there are: those of the selected, and of each class against all others."""
    by_class = [] if of_truth and TRUE_CLASS not in rows.columns else list(_classes(rows, spec))
    return [*([] if by_class and _is_mute(rows, of_truth) else [_selected(rows, spec)]), *by_class]


def _selected(rows: Rows, spec: AuditSpec) -> Labels:
    return Labels(
        made=rows.decisions.selected, true=rows.qualified, unit=decision_unit(spec), unknown=NOBODY_QUALIFIED
    )


def _classes(rows: Rows, spec: AuditSpec) -> Iterator[Labels]:
    made, true = rows.columns.get(CLASSIFICATION), rows.columns.get(TRUE_CLASS)
    for name in spec.decision.classes if made is not None else ():
        yield Labels(
            made=_one_against_rest(made, name, len(rows)), true=_one_against_rest(true, name, len(rows)),
            unit=score_unit(spec), unknown=NO_TRUE_CLASS, of=name,
        )  # fmt: skip


def _one_against_rest(column: Coded | None, name: str, n: int) -> BinaryOutcomes:
    if column is None:
        return np.full(n, -1, dtype=np.int8)
    return np.where(column.codes < 0, -1, column.codes == column.code(name)).astype(np.int8)


def _is_mute(rows: Rows, of_truth: bool) -> bool:
    """Tell whether no row says what the rate of all decisions together is made of."""
    return bool((rows.decisions.selected < 0).all() or (of_truth and (rows.qualified < 0).all()))


def _one_decision(rows: Rows, spec: AuditSpec) -> str | None:
    """Say why rates would be equal whatever the model had answered: the rule decides alike about the whole audit."""
    made, rule = rows.decisions.selected[rows.decisions.selected >= 0], spec.decision.rule
    if rows.levels or made.size < 2 or (made != made[0]).any():
        return None
    reason = None
    if rule == "above_median" and not made[0]:
        reason = NOBODY_ABOVE
    if rule == "threshold" and not made[0]:
        reason = NOBODY_REACHES
    if rule == "threshold" and made[0]:
        reason = ALL_REACH
    return reason


def _gaps(name: str, rows: Rows, spec: AuditSpec, rate: ErrorRate, labels: Labels) -> list[Estimate]:
    made, true = labels.made, labels.true
    decided = made >= 0
    reason = labels.unknown if rate.of_truth and (true < 0).all() else None
    if labels.of is None and not rate.of_truth:
        reason = _one_decision(rows, spec)
    known = decided & (true >= 0) if rate.of_truth else decided
    values = np.where(known & rate.among(made, true), rate.event(made, true), np.nan)
    outcomes = true if rate.of_truth else np.zeros_like(made)

    def point(group: Side, reference: Side) -> float:
        index = np.concatenate([group.index, reference.index])
        ours = np.arange(index.size) < group.values.size
        return rate.kernel(outcomes[index], made[index], ours, ~ours)

    parameters: dict[str, int | float | str] = {} if labels.of is None else {CLASS: labels.of}
    parameters[WITHOUT_DECISION] = int((~decided).sum())
    if rate.of_truth:
        parameters[WITHOUT_OUTCOME] = int((decided & (true < 0)).sum())
    variable = Variable.of(rows, values, labels.unit)
    if rows.weights is not None:
        return weighted_gaps(
            name, variable, spec, method="difference of P(selected) by sampling weights", rates=True,
            parameters=parameters, reason=reason,
        )  # fmt: skip
    estimator = bounded_gap((0.0, 1.0), point, opposed=True)
    found = compare(name, variable, spec, estimator, method=rate.method, parameters=parameters, reason=reason)
    if not rate.of_truth or reason is not None:
        return list(found)

    def share(outcomes: BinaryOutcomes) -> Floats:
        return np.where(rate.among(made, outcomes), rate.event(made, outcomes), np.nan).astype(np.float64)

    return with_missing_outcomes(
        found, rows, spec,
        OutcomeRates(shares=[share], there=decided, made=made, true=true, unit=labels.unit),
    )  # fmt: skip
