"""What the counts of shards add up to: statuses, distributions, selection rates, and who scores higher.

Ranks take two passes: the first gathers the distinct scores of all shards, the second puts each group's scores on
them. Every number is one of whole numbers, or of scores in their order, and so the same for any cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from audit_lib.documents.metrics import Missingness, RowCounts
from audit_lib.documents.rate_tables import CategoryLevels
from audit_lib.documents.shard_totals import ScorePairs, SelectedCount, ShardTotals
from audit_lib.documents.statuses import ANSWERED, STATUSES
from audit_lib.measure.partials.value_counts import ValueCounts
from audit_lib.measure.score_summary import summary_of
from audit_lib.metrics._rank_counts import RankCounts
from audit_lib.metrics.impact import impact_ratios
from audit_lib.metrics.median import Median
from audit_lib.results import Undefined
from audit_lib.spec import RECORDED, UNDECIDED, AuditSpec

_Mask = NDArray[np.bool_]


def totals(counts: ValueCounts, spec: AuditSpec, planned: int) -> ShardTotals:
    """Return what the counts add up to, of `planned` shards in all.

    Groups are those that the stage ``metrics`` compares, strata the whole audit and each position.
    """
    lines = _Lines.of(counts, spec)
    groups = [] if spec.groups.axes_of_probabilities else spec.groups.cells()
    known = lines.known()
    everywhere = np.ones(lines.n.size, dtype=bool)
    strata: list[tuple[CategoryLevels, _Mask]] = [({}, everywhere)]
    if len(lines.positions) > 1:
        strata += [({"position": name}, lines.position == code) for code, name in enumerate(lines.positions)]
    undecided = _undecided(spec)
    return ShardTotals(
        run=counts.run,
        shards=tuple(counts.shards),
        planned=planned,
        rows=RowCounts(
            total=lines.rows(everywhere),
            answered=lines.rows(lines.answered),
            unknown_group=lines.rows(~known),
            by_status=lines.by_status(everywhere),
            decided_without_score=lines.decided_without_score(everywhere),
        ),
        missingness=(
            *(lines.missingness(group, lines.of_group(group)) for group in groups),
            lines.missingness(None, ~known),
        ),
        scores=tuple(
            summary_of(stratum, group, lines.scores(where & lines.of_group(group)))
            for stratum, where in strata
            for group in groups
        ),
        selection=Undefined(undecided)
        if undecided is not None
        else tuple(
            one for stratum, where in strata for one in lines.selection(stratum, where, groups)
        ),
        pairs=tuple(
            one for stratum, where in strata for one in lines.pairs(stratum, where, spec)
        ),
    )  # fmt: skip


def _undecided(spec: AuditSpec) -> str | None:
    """Return why nobody's selection can be counted shard by shard."""
    if spec.task in UNDECIDED or spec.decision.rule == "none":
        return "the audit decides nothing"
    if spec.decision.rule == "top_k":
        return "top_k compares the candidates of a round, who may lie in several shards"
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lines:
    """The lines of all shards as arrays."""

    positions: tuple[str, ...]
    position: NDArray[np.int32]
    levels: Mapping[str, tuple[tuple[str, ...], NDArray[np.int32]]]
    """Attribute -> its levels, and the code of each line; -1 for none."""
    status: NDArray[np.int8]
    answered: _Mask
    selected: NDArray[np.int8]
    score: NDArray[np.float64]
    n: NDArray[np.int64]

    @classmethod
    def of(cls, counts: ValueCounts, spec: AuditSpec) -> _Lines:
        """Read the lines, and decide where a rule looks at one row alone, or at the median of all."""
        lines = counts.lines
        positions = sorted(pc.unique(lines["position"]).to_pylist())
        n, status = lines["n"].to_numpy(), _codes(lines["status"], STATUSES).astype(np.int8)
        score = lines["score"].to_numpy().astype(np.float64)
        recorded = lines["selected"].cast(pa.int8()).fill_null(-1).to_numpy()
        rule = spec.decision
        known = ~np.isnan(score)
        if rule.rule == RECORDED and spec.model.decides and known.any() and (score == recorded)[known].all():
            score = np.full_like(score, np.nan)  # a decision written as 1 or 0 says nothing beside it
            answered = _has_answer(status)
        else:
            answered = _has_answer(status) if spec.task in UNDECIDED else known
        if rule.rule == RECORDED:
            selected = recorded
        elif rule.rule == "threshold":
            selected = score >= (np.inf if rule.threshold is None else rule.threshold)
        elif rule.rule == "above_median" and known.any():
            selected = _median(score[known], n[known]).above(score)
        else:
            selected, known = known, np.zeros_like(known)
        if rule.rule != RECORDED:
            selected = np.where(known, selected, -1).astype(np.int8)
        levels = {
            axis: (tuple(names), _codes(lines[axis], tuple(names)))
            for axis, names in spec.groups.attributes.items()
        }
        return cls(
            positions=tuple(positions), position=_codes(lines["position"], tuple(positions)), levels=levels,
            status=status, answered=answered, selected=selected, score=score, n=n,
        )  # fmt: skip

    def rows(self, where: _Mask) -> int:
        """Count rows."""
        return int(self.n[where].sum())

    def known(self) -> _Mask:
        """Tell which lines have a level of every attribute."""
        found = np.ones(self.n.size, dtype=bool)
        for _, codes in self.levels.values():
            found &= codes >= 0
        return found

    def of_group(self, group: CategoryLevels) -> _Mask:
        """Tell which lines have all levels of a group."""
        found = np.ones(self.n.size, dtype=bool)
        for axis, level in group.items():
            names, codes = self.levels[axis]
            found &= codes == names.index(level)
        return found

    def by_status(self, where: _Mask) -> dict[str, int]:
        """Count rows by their status."""
        return {name: self.rows(where & (self.status == code)) for code, name in enumerate(STATUSES)}

    def decided_without_score(self, where: _Mask) -> int:
        """Count rows with a decision and without an answer."""
        return self.rows(where & ~_has_answer(self.status) & (self.selected >= 0))

    def missingness(self, group: CategoryLevels | None, where: _Mask) -> Missingness:
        """Statuses of the rows of a group; of those whose group is not known where it is None."""
        return Missingness(
            stratum={},
            group=None if group is None else dict(group),
            n=self.rows(where),
            **self.by_status(where),
            decided_without_score=self.decided_without_score(where),
            repeats=None,
        )

    def scores(self, where: _Mask) -> NDArray[np.float64]:
        """Return the scores of rows, from the lowest to the highest."""
        own = where & ~np.isnan(self.score)
        return np.sort(np.repeat(self.score[own], self.n[own]))

    def selection(
        self, stratum: CategoryLevels, where: _Mask, groups: list[dict[str, str]]
    ) -> Iterator[SelectedCount]:
        """Count the selected of each group."""
        members = [where & self.of_group(group) for group in groups]
        chosen = [self.rows(own & (self.selected == 1)) for own in members]
        decided = [self.rows(own & (self.selected >= 0)) for own in members]
        for group, row in zip(groups, impact_ratios(chosen, decided).rows, strict=True):
            rate, ratio = (one if isinstance(one, Undefined) else float(one) for one in (row.rate, row.ratio))
            yield SelectedCount(
                stratum=dict(stratum), group=group, n=row.total, selected=row.selected, rate=rate, ratio=ratio
            )

    def pairs(self, stratum: CategoryLevels, where: _Mask, spec: AuditSpec) -> Iterator[ScorePairs]:
        """Compare the scores of each group with those of its reference."""
        where = where & ~np.isnan(self.score)
        distinct, place = np.unique(self.score[where], return_inverse=True)

        def held(group: CategoryLevels) -> NDArray[np.int64]:
            own = self.of_group(group)[where]
            found: NDArray[np.int64] = np.zeros(distinct.size, dtype=np.int64)
            np.add.at(found, place[own], self.n[where][own])
            return found

        for group, reference in spec.groups.comparisons():
            ours, theirs = held(group), held(reference)
            below = np.cumsum(theirs) - theirs
            wins, ties = int((ours * below).sum()), int((ours * theirs).sum())
            found = RankCounts(wins=wins, losses=int(ours.sum()) * int(theirs.sum()) - wins - ties, ties=ties)
            yield ScorePairs(
                stratum=dict(stratum), group=group, reference=reference,
                wins=found.wins, losses=found.losses, ties=found.ties,
                index=found.index if found.pairs else Undefined("no pair to compare"),
            )  # fmt: skip


def _has_answer(status: NDArray[np.int8]) -> _Mask:
    return np.isin(status, [STATUSES.index(name) for name in ANSWERED])


def _codes(column: pa.ChunkedArray, labels: tuple[str, ...]) -> NDArray[Any]:
    found = pc.index_in(column, value_set=pa.array(labels, pa.string())).fill_null(-1)
    return np.asarray(found.to_numpy(), dtype=np.int32)


def _median(score: NDArray[np.float64], n: NDArray[np.int64]) -> Median:
    """Return the median of scores that occur n times each."""
    order = np.argsort(score, kind="stable")
    ends = np.cumsum(n[order])
    middle = np.searchsorted(ends, [(int(ends[-1]) - 1) // 2, int(ends[-1]) // 2], side="right")
    lower, upper = score[order][middle].tolist()
    return Median(lower=lower, upper=upper)
