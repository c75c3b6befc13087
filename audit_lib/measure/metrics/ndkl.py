"""NDKL: how far is the mix of groups among the first places from that of the round?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from audit_lib.documents.parameters import ATTRIBUTE, UNKNOWN_GROUP
from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.estimates.linear import Inferred, inferred_from
from audit_lib.measure.inference import Compared
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.pools import Pools
from audit_lib.measure.rows.scored import Rows
from audit_lib.metrics.exposure import Divergences, divergences, require_order
from audit_lib.policies import Policy
from audit_lib.results import Estimate, Undefined
from audit_lib.spec import AuditSpec


@metric(
    "ndkl",
    title="Normalised discounted KL divergence (NDKL)",
    parity=None,
    meaning="Distance of the groups' shares among the first places from those of the round; above 0 in any order, so "
    "read it next to its excess over an order drawn at random.",
    better="lower",
    unit="nats",
    columns=("score", "round_id"),
    cite="Geyik, Ambler and Kenthapadi (2019), arXiv:1905.01989",
    further={
        "excess": {
            "title": "NDKL beyond that of an order drawn at random",
            "meaning": "Mean over rounds of the divergence less what the same candidates have on average in an order "
            "drawn at random.",
            "parity": 0.0,
            "better": "parity",
        }
    },
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute the divergence of every attribute, the mean over rounds, and its excess over chance.

    Desired shares are those of the round, among its candidates with a score and a known level. Rounds of one level
    only are left out, and counted. What an order drawn at random gives is exact, by the hypergeometric law.
    """
    rows.need_scores()
    estimates: list[Estimate] = []
    for axis in spec.groups.attributes:
        own, levels = _known(rows, axis)
        pools = Pools.of(rows.score[own], rows.round[own])
        found = divergences(pools.above, pools.tied, rows.round[own], levels)
        estimates += _of_attribute(rows, spec, axis, own, found)
    return Measured(estimates=estimates)


def _known(rows: Rows, axis: str) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the scored candidates of rounds whose level is one of the spec's, and its code."""
    column = rows.columns[axis]
    places = {level: number for number, level in enumerate(rows.attributes[axis])}
    codes = np.array([*(places.get(label, -1) for label in column.labels), -1], dtype=np.int32)[column.codes]
    own = np.flatnonzero((rows.pools.size > 0) & (rows.pools.places == rows.pools.size) & (codes >= 0))
    return own, codes[own]


def _of_attribute(
    rows: Rows, spec: AuditSpec, axis: str, own: NDArray[np.int64], found: Divergences
) -> list[Compared]:
    count = np.unique(rows.round[own]).size
    kept = np.isin(rows.round[own], found.rounds)
    parameters: dict[str, int | float | str] = {
        ATTRIBUTE: axis, "rounds": int(found.value.size), "rounds_left_out": count - int(found.value.size),
        UNKNOWN_GROUP: int((rows.pools.size > 0).sum()) - own.size,
    }  # fmt: skip
    values: dict[str, NDArray[np.float64]] = {
        "ndkl": found.value, "ndkl_excess": found.value - found.at_random,
    }  # fmt: skip
    nothing: Undefined | None = None
    try:
        require_order(found)
        parameters["at_random"] = float(found.at_random.mean())
    except UndefinedMetricError as error:
        nothing = Undefined(str(error))
    estimates = []
    for name, of_rounds in values.items():
        estimates.append(_mean(name, of_rounds, nothing, rows, spec, parameters, int(kept.sum())))
    return estimates


def _mean(
    name: str,
    values: NDArray[np.float64],
    nothing: Undefined | None,
    rows: Rows,
    spec: AuditSpec,
    parameters: dict[str, int | float | str],
    n: int,
) -> Compared:
    units = int(values.size)
    value: float | Undefined = nothing if nothing is not None else float(values.mean())
    if isinstance(value, Undefined):
        found = Inferred(interval=value, standard_error=value, tests=(), clusters=units)
    else:
        influence = (values - value) / units
        found = inferred_from(value, influence, np.arange(units, dtype=np.int32), spec.measure.level)
    return Compared(
        metric=name,
        value=value,
        interval=found.interval,
        standard_error=found.standard_error,
        n=n,
        clusters=units,
        method="mean over rounds, ties averaged over all orders; clustered by round",
        stratum=dict(rows.levels),
        parameters=parameters,
        flags=("small_cell",) if units < spec.measure.small_cell else (),
        # That a divergence is 0 is no hypothesis: it is above 0 in any order.
        tests=found.tests if name == "ndkl_excess" else (),
    )
