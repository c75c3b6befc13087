"""Theil index: how unequally do decisions benefit people, and how much of that lies between groups?"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from audit_lib.documents.parameters import ATTRIBUTE, WITHOUT_DECISION, WITHOUT_OUTCOME
from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.estimates.linear import Inferred, inferred_from
from audit_lib.measure.inference import NOBODY_QUALIFIED, Compared
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.scored import Rows, compact
from audit_lib.measure.sides import decision_unit
from audit_lib.metrics.inequality import theil_of_groups, theil_of_shares
from audit_lib.policies import Policy
from audit_lib.results import Estimate, Interval, TestResult, Undefined
from audit_lib.seeds import derive_seed
from audit_lib.spec import AuditSpec
from audit_lib.stats.distances import distance_interval, distance_test
from audit_lib.stats.group_shares import group_share_errors
from audit_lib.stats.two_sided import cluster_sums


@metric(
    "theil_index",
    title="Theil index of benefits",
    parity=None,
    meaning="Inequality of the benefits of all people: 1 where a decision is right, 2 where somebody is selected who "
    "should not be, 0 where somebody is missed.",
    better="lower",
    unit="nats",
    columns=("qualified",),
    cite="Speicher et al. (2018), arXiv:1807.00787",
    further={
        "between": {
            "title": "Theil index between groups",
            "meaning": "What of the inequality would be left if everybody had the mean benefit of the own group; a "
            "distance: above 0 on any sample.",
            "parity": 0.0,
        }
    },
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute the index of all people with a decision and an outcome, and the part between each attribute's levels.

    The first rises with wrong decisions, whoever they are about; the second with groups that fare differently.
    """
    made, true = rows.decisions.selected, rows.qualified
    known = (made >= 0) & (true >= 0)
    benefit = (made[known].astype(np.int64) - true[known] + 1).astype(np.float64)
    codes = rows.round if decision_unit(spec) == "round" else rows.application
    clusters = compact(codes[known] + 1)[0]  # + 1: rows without a round are one unit together
    counted = {
        WITHOUT_DECISION: int((made < 0).sum()),
        WITHOUT_OUTCOME: int(((made >= 0) & (true < 0)).sum()),
    }
    nothing = Undefined(NOBODY_QUALIFIED) if (true < 0).all() else None
    estimates: list[Estimate] = [_of_all(rows, spec, benefit, clusters, nothing, counted)]
    for axis in spec.groups.attributes:
        own = _levels(rows, axis)[known]
        there = own >= 0
        estimates.append(_between(rows, spec, axis, (benefit[there], own[there], clusters[there]), nothing))
    return Measured(estimates=estimates)


def _levels(rows: Rows, axis: str) -> NDArray[np.int32]:
    column = rows.columns[axis]
    places = {level: number for number, level in enumerate(rows.attributes[axis])}
    own = np.array([*(places.get(label, -1) for label in column.labels), -1], dtype=np.int32)
    return own.take(column.codes)


def index_of(
    benefit: NDArray[np.float64], clusters: NDArray[np.int32], level: float
) -> tuple[float, Inferred]:
    """Return the index of some benefits, and what their influence says of it."""
    value = theil_of_shares(np.bincount(benefit.astype(np.int64), minlength=3) / max(benefit.size, 1))
    mean = float(benefit.mean())
    own = np.where(benefit == 2, 2 * math.log(2), 0.0)  # b ln b
    influence = (own - own.mean()) / mean - (own.mean() / mean + 1) * (benefit - mean) / mean
    return value, inferred_from(value, influence / benefit.size, clusters, level)


def _of_all(
    rows: Rows,
    spec: AuditSpec,
    benefit: NDArray[np.float64],
    clusters: NDArray[np.int32],
    nothing: Undefined | None,
    counted: dict[str, int],
) -> Compared:
    value: float | Undefined
    units = int(np.unique(clusters).size)
    try:
        if nothing is not None:
            raise UndefinedMetricError(nothing.reason)
        value, found = index_of(benefit, clusters, spec.measure.level)
    except UndefinedMetricError as error:
        value = Undefined(str(error))
        found = Inferred(interval=value, standard_error=value, tests=(), clusters=units)
    interval = found.interval
    if isinstance(interval, Interval):
        interval = Interval(
            low=max(interval.low, 0.0), high=interval.high, level=interval.level, method=interval.method
        )
    return Compared(
        metric="theil_index", value=value, interval=interval, standard_error=found.standard_error,
        n=int(benefit.size), clusters=units, stratum=dict(rows.levels), parameters=counted,
        method=f"generalised entropy of decision less outcome plus 1; clustered by {decision_unit(spec)}",
        flags=("small_cell",) if benefit.size < spec.measure.small_cell or units < spec.measure.small_cell else (),
    )  # fmt: skip


def _between(
    rows: Rows,
    spec: AuditSpec,
    axis: str,
    people: tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]],
    nothing: Undefined | None,
) -> Compared:
    benefit, level, clusters = people
    value: float | Undefined
    interval: Interval | Undefined
    units = int(np.unique(clusters).size)
    tests: tuple[TestResult, ...] = ()
    sizes = np.bincount(level, minlength=len(rows.attributes[axis]))
    try:
        if nothing is not None:
            raise UndefinedMetricError(nothing.reason)
        value = theil_of_groups(sizes, np.bincount(level, benefit, sizes.size))
    except UndefinedMetricError as error:
        value = interval = Undefined(str(error))
    else:
        try:
            own = compact(clusters)[0].astype(np.intp)
            members = [(level == code).astype(np.float64) for code in np.flatnonzero(sizes).tolist()]
            counted, totals = (
                np.column_stack([cluster_sums(weight * one, own, units) for one in members])
                for weight in (np.ones(benefit.size), benefit)
            )
            seed = derive_seed(spec.seed, "measure", "theil_index", axis)
            errors = group_share_errors(counted, totals, seed=seed)
            interval = distance_interval(value, errors, spec.measure.level)
            tests = (distance_test(value, errors),)
        except UndefinedMetricError as error:
            interval = Undefined(str(error))
    return Compared(
        metric="theil_index_between", value=value, interval=interval,
        standard_error=Undefined("a distance is biased away from 0: no standard error describes it; see its interval"),
        n=int(benefit.size), clusters=units, stratum=dict(rows.levels), parameters={ATTRIBUTE: axis},
        method=f"Theil index of the groups' mean benefits; clustered by {decision_unit(spec)}",
        flags=("undirected", *(("small_cell",) if min(sizes[sizes > 0], default=0) < spec.measure.small_cell else ())),
        tests=tests,
    )  # fmt: skip
