"""Conditional demographic disparity: is a group a larger part of the rejected than of the selected, like with like?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from audit_lib.documents.parameters import (
    CONDITION,
    PEOPLE_IN_THEM,
    STRATA_OF_ONE_DECISION,
    WITHOUT_CONDITION,
    WITHOUT_DECISION,
)
from audit_lib.errors import SpecError, UndefinedMetricError
from audit_lib.measure.estimates.linear import inferred_from
from audit_lib.measure.inference import Contrast, compare
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.sides import Side, Variable, decision_unit
from audit_lib.metrics.inequality import StrataShares
from audit_lib.policies import Policy
from audit_lib.registry import did_you_mean
from audit_lib.results import Undefined
from audit_lib.spec import AuditSpec


@metric(
    "conditional_demographic_disparity",
    title="Conditional demographic disparity",
    parity=0.0,
    meaning="The group's share of the rejected minus its share of the selected, among those with the same value of "
    "measure.condition, by their numbers.",
    better="parity",
    unit="share",
    cite="Wachter, Mittelstadt and Russell (2021), Computer Law & Security Review 41",
    signed=True,
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute the disparity of every group and its reference, by the column of `measure.condition`.

    Values of it in which nobody, or everybody, of the two groups is selected say nothing; they are left out, and
    counted in the parameters with their people.
    """
    name = spec.measure.condition
    if name not in rows.columns:
        raise SpecError(f"measure.condition: no column {name!r}{did_you_mean(name, sorted(rows.columns))}")
    made, condition = rows.decisions.selected, rows.columns[name].codes
    known = (made >= 0) & (condition >= 0)
    codes = np.where(known, 2 * condition.astype(np.int64) + made, -1)
    parameters: dict[str, int | float | str] = {CONDITION: name, WITHOUT_DECISION: int((made < 0).sum())}
    parameters[WITHOUT_CONDITION] = int(((made >= 0) & (condition < 0)).sum())
    return Measured(
        estimates=compare(
            "conditional_demographic_disparity", Variable.of(rows, codes, decision_unit(spec)), spec, disparity,
            method="share of the rejected less share of the selected, mean over strata by their sizes",
            parameters=parameters,
        )
    )  # fmt: skip


def disparity(group: Side, reference: Side, level: float) -> Contrast:
    """Compare two sides whose values are 2 * stratum + decision."""
    for name, side in (("group", group), ("reference", reference)):
        if not side.values.size:
            raise UndefinedMetricError(f"{name}: nobody with a decision")
    codes = np.concatenate([group.values, reference.values])
    made, condition = codes % 2 == 1, codes // 2
    mine = np.arange(codes.size) < group.values.size
    counts = StrataShares.of(made, condition, mine)
    value = counts.disparity()
    clusters = np.concatenate([group.clusters, reference.clusters])
    influence = _influence(counts, value, made, condition, mine)
    found = inferred_from(value, influence, clusters, level)
    test = found.tests[0] if found.tests else Undefined("no variance: nothing to test")
    left_out = {STRATA_OF_ONE_DECISION: counts.left_out, PEOPLE_IN_THEM: codes.size - int(counts.sizes.sum())}
    return Contrast(
        value=value,
        interval=found.interval,
        test=test,
        standard_error=found.standard_error,
        parameters=left_out,
    )


def _influence(
    counts: StrataShares,
    value: float,
    made: NDArray[np.bool_],
    condition: NDArray[np.int64],
    mine: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Influence of each row: on its stratum's shares, and on what its stratum weighs; 0 of strata left out."""
    place = np.full(int(condition.max()) + 1, -1)
    place[counts.codes] = np.arange(counts.codes.size)
    at = place[condition]
    kept, said = at >= 0, made.astype(np.int64)
    at = np.where(kept, at, 0)
    sizes, total = counts.sizes.sum(axis=0), counts.sizes.sum()
    share = (counts.members / counts.sizes)[said, at]
    own = np.where(made, -1.0, 1.0) * sizes[at] / total * (mine - share) / counts.sizes[said, at]
    return np.where(kept, own + (counts.by_stratum[at] - value) / total, 0.0)
