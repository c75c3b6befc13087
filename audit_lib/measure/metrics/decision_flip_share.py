"""Decision flip share: how often is a version decided otherwise because it shows another group?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit_lib.documents.parameters import UNPAIRED, WITHOUT_DECISION
from audit_lib.documents.rate_tables import CategoryLevels
from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.estimates.bounded_means import bounded_mean
from audit_lib.measure.inference import Compared
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.requirements import BY_COMPETITION
from audit_lib.measure.rows.scored import Rows, compact
from audit_lib.measure.rows.variations import PROMPT
from audit_lib.metrics.flips import flips
from audit_lib.policies import Policy
from audit_lib.results import Estimate, Interval, TestResult, Undefined
from audit_lib.spec import AuditSpec
from audit_lib.stats.effective_wilson import flat_limit
from audit_lib.stats.exact import sign_test


@metric(
    "decision_flip_share",
    title="Decision flip share",
    parity=0.0,
    meaning="Share of pairs of versions of one application, one in each group, that are decided differently. Noise "
    "flips decisions too.",
    better="lower",
    unit="share",
    provenance="assigned",
    paired=True,
    cite="Kusner, Loftus, Russell and Silva (2017), arXiv:1703.06856; Garg et al. (2019), arXiv:1809.10610",
    further={
        "net": {
            "title": "Net decision flips",
            "meaning": "Share of pairs in which the group's version alone is selected, minus the share in which the "
            "reference's is.",
            "better": "parity",
            "signed": True,
        }
    },
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compare each version in a group with each of the same application and prompt in the reference.

    All other attributes are known and the same. Each application counts once, however many versions it has. The test
    of the difference between flips for and against a group is the exact sign test over applications: McNemar's, where
    an application has one version in each.
    """
    if spec.decision.rule == "top_k":
        raise UndefinedMetricError(BY_COMPETITION)
    return Measured(
        estimates=[
            one
            for group, reference in spec.groups.comparisons()
            for one in _flips(rows, spec, group, reference)
        ]
    )


def _versions(rows: Rows, group: CategoryLevels) -> NDArray[np.int64]:
    """Number what versions that differ by the group alone share; -1 where another attribute is not known."""
    key = np.zeros(len(rows), dtype=np.int64)
    known = np.ones(len(rows), dtype=bool)
    names = ["application_id", "position", *((PROMPT,) if PROMPT in rows.columns else ())]
    for name in names:
        codes = rows.columns[name].codes
        key = compact(key * (int(codes.max(initial=0)) + 2) + codes + 1)[0].astype(np.int64)
    for axis, levels in rows.attributes.items():
        if axis not in group:
            codes = np.array([rows.columns[axis].code(level) for level in levels])
            known &= np.isin(rows.columns[axis].codes, codes)
            key = compact(key * (len(rows.columns[axis].labels) + 2) + rows.columns[axis].codes + 1)[
                0
            ].astype(np.int64)
    return np.where(known, key, -1)


def _flips(rows: Rows, spec: AuditSpec, group: CategoryLevels, reference: CategoryLevels) -> list[Estimate]:
    key, made = _versions(rows, group), rows.decisions.selected
    sides = [rows.members(cell) & (key >= 0) & (made >= 0) for cell in (group, reference)]
    either = np.flatnonzero(sides[0] | sides[1])
    mine, theirs = (side[either] for side in sides)
    codes = compact(key[either])[0]
    parameters: dict[str, int | float | str] = {WITHOUT_DECISION: int((made < 0).sum())}
    value: float | Undefined
    net: float | Undefined
    interval: Interval | Undefined
    net_interval: Interval | Undefined
    tests: tuple[TestResult, ...] = ()
    units, sizes = 0, (0, 0)
    error: float | Undefined = Undefined("no pair of versions")
    net_error = error
    try:
        found = flips(made[either], codes, mine, theirs)
    except UndefinedMetricError as undefined:
        value = net = interval = net_interval = Undefined(str(undefined))
    else:
        paired = np.isin(codes, found.applications)
        sizes = (int((mine & paired).sum()), int((theirs & paired).sum()))
        application = np.zeros(int(codes.max()) + 1, dtype=np.int32)
        application[codes] = rows.application[either]
        clusters, units = compact(application[found.applications])
        parameters |= {
            "pairs": found.pairs, "for": float(found.toward.mean()), "against": float(found.against.mean()),
            UNPAIRED: int((~paired).sum()),
        }  # fmt: skip
        flipped, leaning = found.toward + found.against, found.toward - found.against
        value, net = float(flipped.mean()), float(leaning.mean())
        own = bounded_mean(flipped, clusters.astype(np.intp), units, spec.measure.level, (0.0, 1.0))
        interval, error = own.interval, own.standard_error
        if value == 0.0:
            reach = flat_limit(units, spec.measure.level)
            method = f"Clopper-Pearson over {units} clusters, conservative"
            net_interval = Interval(low=-reach, high=reach, level=spec.measure.level, method=method)
            net_error = error
        else:
            both = bounded_mean(leaning, clusters.astype(np.intp), units, spec.measure.level, (-1.0, 1.0))
            net_interval, net_error = both.interval, both.standard_error
            by_unit = np.bincount(clusters, leaning, units)
            ways = int((by_unit > 1e-12).sum()), int((by_unit < -1e-12).sum())
            tests = (sign_test(*ways),) if any(ways) else ()
    small = min(sizes) < spec.measure.small_cell
    said: dict[str, Any] = {
        "n": sum(sizes), "n_group": sizes[0], "n_reference": sizes[1], "clusters": units, "group": dict(group),
        "reference": dict(reference), "stratum": dict(rows.levels), "parameters": parameters,
    }  # fmt: skip
    flags = ("small_cell",) if small else ()
    return [
        Compared(
            metric="decision_flip_share", value=value, interval=interval, standard_error=error,
            method="share of pairs decided differently, mean over applications; clustered by application",
            flags=("undirected", *flags), **said,
        ),
        Compared(
            metric="decision_flip_share_net", value=net, interval=net_interval, standard_error=net_error,
            method="share of pairs for the group less those against, mean over applications; clustered by application",
            flags=flags, tests=tests, **said,
        ),
    ]  # fmt: skip
