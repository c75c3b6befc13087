"""AUC gap: do scores tell the qualified from the others equally well in all groups?"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit_lib.documents.rate_tables import CategoryLevels
from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.inference import NOBODY_QUALIFIED, Compared
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.scored import Rows, compact
from audit_lib.measure.sides import score_unit
from audit_lib.metrics.group_auc import auc, auc_gap
from audit_lib.policies import Policy
from audit_lib.results import Estimate, Interval, TestResult, Undefined
from audit_lib.spec import AuditSpec
from audit_lib.stats.auc import AucCovariance, auc_covariance, auc_interval
from audit_lib.stats.clusters import t_test
from audit_lib.stats.own_degrees import pair_degrees
from audit_lib.stats.simultaneous import AllPairs, simultaneous_differences


@metric(
    "auc_gap",
    title="AUC gap",
    parity=0.0,
    meaning="How much better the scores tell the qualified from others in one group than in another.",
    better="parity",
    unit="AUC",
    columns=("score", "qualified"),
    cite="Lee, Brooks, Yu and Kizilcec (2023), arXiv:2309.12371; DeLong et al. (1988), Biometrics 44",
    signed=True,
    of_groups="AUC by subgroup",
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute every subgroup's AUC, the largest difference of two, and that of every group from its reference.

    Subgroups overlap: each attribute's levels, the intersections of `groups.also`, those of all attributes, and the
    two sides of each of `groups.masks`. Intervals of differences are DeLong's, with clusters and the covariance of
    overlapping subgroups. The largest difference was picked by the data: its interval is simultaneous over all pairs.
    Subgroups with fewer than ``measure.small_cell`` rows, or two of a class, are left out of the gap, and counted.
    """
    rows.need_scores()
    fit = _Fit.of(rows, spec)
    return Measured(
        estimates=[fit.largest(), *(fit.gap(*pair) for pair in _compared(spec)), *fit.areas_of_all()]
    )


def _compared(spec: AuditSpec) -> list[tuple[CategoryLevels, CategoryLevels]]:
    return [*spec.groups.comparisons(), *spec.groups.mask_sides()]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subgroup:
    cell: CategoryLevels
    members: NDArray[np.bool_]
    n: int
    reason: str | None
    """Why it is not compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fit:
    """AUCs of all groups of a stratum, with their covariance; `used` are those that have one, in its order."""

    rows: Rows
    spec: AuditSpec
    scores: NDArray[np.int32]
    outcome: NDArray[np.int8]
    clusters: NDArray[np.int32]
    subgroups: list[_Subgroup]
    used: list[_Subgroup]
    areas: AucCovariance | Undefined
    pairs: AllPairs | Undefined

    @classmethod
    def of(cls, rows: Rows, spec: AuditSpec) -> _Fit:
        known = (rows.rank >= 0) & (rows.qualified >= 0)
        codes = rows.round if score_unit(spec) == "round" else rows.application
        clusters = compact(codes[known] + 1)[0]  # + 1: rows without a round are one unit together
        scores, outcome = rows.rank[known], rows.qualified[known]
        cells: list[CategoryLevels] = []
        for cell in (cell for pair in _compared(spec) for cell in pair):
            if cell not in cells:
                cells.append(cell)
        subgroups = [_subgroup(cell, rows.members(cell)[known], outcome, clusters, spec) for cell in cells]
        used = [group for group in subgroups if group.reason is None]
        areas: AucCovariance | Undefined
        pairs: AllPairs | Undefined
        areas = pairs = Undefined(
            f"{len(used)} of {len(subgroups)} groups have an AUC and enough members to be compared; a gap needs two"
        )
        if (rows.qualified < 0).all():
            areas = pairs = Undefined(NOBODY_QUALIFIED)
        elif len(used) > 1:
            members = np.column_stack([group.members for group in used])
            areas = auc_covariance(scores, outcome, members, clusters, common=auc(scores, outcome))
            try:
                pairs = simultaneous_differences(areas.auc, areas.covariance, spec.measure.level, df=areas.df)
            except UndefinedMetricError as error:
                pairs = Undefined(str(error))
        return cls(
            rows=rows, spec=spec, scores=scores, outcome=outcome, clusters=clusters, subgroups=subgroups, used=used,
            areas=areas, pairs=pairs,
        )  # fmt: skip

    def largest(self) -> Compared:
        """Return the gap over all pairs of groups."""
        value: float | Undefined
        interval: Interval | Undefined
        parameters: dict[str, int | float | str] = {
            "subgroups": len(self.used),
            "left_out": len(self.subgroups) - len(self.used),
            "minimum": self.spec.measure.small_cell,
        }
        if isinstance(self.areas, Undefined):
            value = interval = self.areas
        else:
            found = self.areas.auc
            value = auc_gap(self.scores, self.outcome, {i: one.members for i, one in enumerate(self.used)})
            interval = self.pairs if isinstance(self.pairs, Undefined) else self.pairs.gap
            parameters["highest"] = self._name(self.used[int(np.argmax(found))].cell)
            parameters["lowest"] = self._name(self.used[int(np.argmin(found))].cell)
        return self._compared(
            value,
            interval,
            Undefined("a maximum has no standard error"),
            np.ones(self.clusters.size, dtype=bool),
            method="largest difference of two groups' AUCs",
            parameters=parameters,
            flags=("undirected", *self._small(self.subgroups)),
        )

    def areas_of_all(self) -> list[Estimate]:
        """Return the AUC of everybody and of each subgroup, also of those that are not compared."""
        everybody = np.ones(self.clusters.size, dtype=bool)
        found = [self._area({}, everybody, left_out=False)]
        return found + [
            self._area(one.cell, one.members, left_out=one.reason is not None) for one in self.subgroups
        ]

    def _area(self, cell: CategoryLevels, members: NDArray[np.bool_], *, left_out: bool) -> Estimate:
        scores, outcome, clusters = self.scores[members], self.outcome[members], self.clusters[members]
        value: float | Undefined
        interval: Interval | Undefined
        try:
            value = auc(scores, outcome)
            interval = auc_interval(scores, outcome, clusters, self.spec.measure.level)
        except UndefinedMetricError as error:
            nothing = Undefined(NOBODY_QUALIFIED if (self.rows.qualified < 0).all() else str(error))
            value, interval = (
                (nothing, nothing) if scores.size < 2 or len({*outcome}) < 2 else (value, nothing)
            )
        n, positives = int(outcome.size), int(np.count_nonzero(outcome))
        flags = {"small_cell": n < self.spec.measure.small_cell, "left_out": left_out}
        return Estimate(
            metric="auc",
            value=value,
            interval=interval,
            n=n,
            n_group=n if cell else None,
            clusters=int(np.unique(clusters).size),
            group=dict(cell),
            stratum=dict(self.rows.levels),
            parameters={"positives": positives, "negatives": n - positives},
            method=f"area under the ROC curve, ties one half; clustered by {score_unit(self.spec)}",
            flags=tuple(flag for flag, holds in flags.items() if holds),
        )

    def _name(self, cell: CategoryLevels) -> str:
        """Return a subgroup in words; a mask's yes and no say nothing alone."""
        axes = self.rows.attributes
        return ", ".join(level if axis in axes else f"{axis}: {level}" for axis, level in cell.items())

    def gap(self, group: CategoryLevels, reference: CategoryLevels) -> Compared:
        """Return the signed difference of a fixed pair; beside its own interval the simultaneous one."""
        a, b = (next(one for one in self.subgroups if one.cell == cell) for cell in (group, reference))
        value: float | Undefined
        interval: Interval | Undefined
        error: float | Undefined
        further: dict[str, Any] = {}
        unusable = {self._name(one.cell): one.reason for one in (a, b) if one.reason}
        reasons = [f"{name}: {unusable[name]}" for name in sorted(unusable)]
        if isinstance(self.areas, Undefined) or reasons:
            nothing = self.areas if isinstance(self.areas, Undefined) else Undefined("; ".join(reasons))
            value = interval = error = nothing
        else:
            i, j = self.used.index(a), self.used.index(b)
            found, v = self.areas.auc, self.areas.covariance
            value = float(found[i] - found[j])
            further["parameters"] = {"auc_group": float(found[i]), "auc_reference": float(found[j])}
            own, wide = self._intervals(i, j)
            if isinstance(own, Undefined) or isinstance(wide, Undefined):
                interval = error = own if isinstance(own, Undefined) else Undefined("no variance")
            else:
                interval, error = own, math.sqrt(float(v[i, i] + v[j, j] - 2 * v[i, j]))
                further["intervals"] = (wide,)
                further["tests"] = (self._test(value, error, a.members | b.members, self._degrees(i, j)),)
        return self._compared(
            value,
            interval,
            error,
            a.members | b.members,
            method="difference of AUCs",
            group=dict(group),
            reference=dict(reference),
            n_group=a.n,
            n_reference=b.n,
            flags=self._small([a, b]),
            **further,
        )

    def _intervals(self, i: int, j: int) -> tuple[Interval | Undefined, Interval | Undefined]:
        """Return the conditional and the simultaneous interval of AUC i less AUC j."""
        if isinstance(self.pairs, Undefined):
            return self.pairs, self.pairs
        (pair,) = (pair for pair in self.pairs.pairs if {pair.first, pair.second} == {i, j})
        both = (pair.conditional, pair.interval)
        if pair.first == i:
            return both
        turned = [
            one if isinstance(one, Undefined) else replace(one, low=-one.high, high=-one.low) for one in both
        ]
        return turned[0], turned[1]

    def _degrees(self, i: int, j: int) -> float:
        assert not isinstance(self.areas, Undefined)
        v, df = self.areas.covariance, self.areas.df
        return pair_degrees((float(v[i, i]), df[i]), (float(v[j, j]), df[j]))

    def _test(self, value: float, error: float, members: NDArray[np.bool_], df: float) -> TestResult:
        return t_test(value, error, df, int(np.unique(self.clusters[members]).size), "DeLong")

    def _small(self, groups: list[_Subgroup]) -> tuple[str, ...]:
        return ("small_cell",) if any(group.n < self.spec.measure.small_cell for group in groups) else ()

    def _compared(
        self,
        value: float | Undefined,
        interval: Interval | Undefined,
        error: float | Undefined,
        members: NDArray[np.bool_],
        *,
        method: str,
        **further: Any,
    ) -> Compared:
        return Compared(
            metric="auc_gap",
            value=value,
            interval=interval,
            standard_error=error,
            n=int(np.count_nonzero(members)),
            clusters=int(np.unique(self.clusters[members]).size),
            method=f"{method}, DeLong; clustered by {score_unit(self.spec)}",
            stratum=dict(self.rows.levels),
            **further,
        )


def _subgroup(
    cell: CategoryLevels,
    members: NDArray[np.bool_],
    outcome: NDArray[np.int8],
    clusters: NDArray[np.int32],
    spec: AuditSpec,
) -> _Subgroup:
    n = int(np.count_nonzero(members))
    units = [int(np.unique(clusters[members & (outcome == side)]).size) for side in (1, 0)]
    reason = None
    if n < spec.measure.small_cell:
        reason = f"{n} rows with a score, fewer than the minimum of {spec.measure.small_cell}"
    elif min(units) < 2:
        reason = f"{units[0]} independent qualified and {units[1]} not; two of each are needed"
    return _Subgroup(cell=cell, members=members, n=n, reason=reason)
