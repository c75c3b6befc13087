"""Skew at k: is a group as frequent among the first k of each round as among its candidates?"""

from __future__ import annotations

import numpy as np

from audit_lib.documents.parameters import ROUNDS_LEFT_OUT, K
from audit_lib.documents.rate_tables import CategoryLevels
from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.estimates.linear import inferred_from
from audit_lib.measure.inference import Compared
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.scored import Floats, Rows
from audit_lib.metrics.exposure import skew_of_shares
from audit_lib.policies import Policy
from audit_lib.results import Undefined
from audit_lib.spec import AuditSpec


@metric(
    "skew_at_k",
    title="Skew at k",
    parity=0.0,
    meaning="Logarithm of the group's share of the first k places over its share of the candidates; ln 2 is twice as "
    "many.",
    better="parity",
    unit="log ratio",
    columns=("score", "round_id"),
    cite="Geyik, Ambler and Kenthapadi (2019), arXiv:1905.01989",
    signed=True,
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute the skew of every group and of every reference, at every quota of the spec; ties share the places.

    The desired share is that of the round. Places won and places due are added up over the rounds before the
    logarithm is taken; rounds in which fewer than k candidates have a score are left out, and counted.
    """
    rows.need_scores()
    cells: list[CategoryLevels] = []
    for cell in (cell for pair in spec.groups.comparisons() for cell in pair):
        if cell not in cells:
            cells.append(cell)
    return Measured(
        estimates=[_skew(rows, spec, k, cell) for k in sorted(set(spec.measure.quotas)) for cell in cells]
    )


def _skew(rows: Rows, spec: AuditSpec, k: int, cell: CategoryLevels) -> Compared:
    shares: Floats = rows.pools.shares(k)
    playing = ~np.isnan(shares)
    own = rows.members(cell) & playing
    won, due, rounds = shares[own], k / rows.pools.size[own], rows.round[own]
    played, there = (np.unique(rows.round[mask]).size for mask in (playing, rows.pools.places > 0))
    value: float | Undefined
    nothing: Undefined | None = None
    if not there:
        nothing = Undefined("no round: candidates do not compete")
    elif not played:
        nothing = Undefined(f"no round has {k} scored candidates")
    try:
        value = skew_of_shares(won, due, k) if nothing is None else nothing
    except UndefinedMetricError as error:
        value = Undefined(str(error))
    if isinstance(value, Undefined):
        found = inferred_from(0.0, np.zeros(0), np.zeros(0, dtype=np.int32), spec.measure.level)
    else:
        influence = won / float(won.sum()) - due / float(due.sum())
        found = inferred_from(value, influence, rounds, spec.measure.level)
    undefined = isinstance(value, Undefined)
    return Compared(
        metric="skew_at_k",
        value=value,
        interval=value if isinstance(value, Undefined) else found.interval,
        standard_error=value if isinstance(value, Undefined) else found.standard_error,
        n=int(own.sum()),
        n_group=int(own.sum()),
        clusters=found.clusters if not undefined else int(np.unique(rounds).size),
        method="logarithm of places won over places due by the rounds' shares; clustered by round",
        group=dict(cell),
        stratum=dict(rows.levels),
        parameters={K: k, "rounds": int(played), ROUNDS_LEFT_OUT: int(there - played)},
        flags=("small_cell",) if own.sum() < spec.measure.small_cell else (),
        tests=() if undefined else found.tests,
    )
