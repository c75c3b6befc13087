"""Audits of made-up people with the planned design: their scores, and who is selected.

A score is the application's merit (standard deviation 1), what the version of it adds (`version_sd`, assumed), and in
one category a difference. Candidates of a pool are of different applications; versions of one application share its
merit. The same draws serve for every size of the difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from audit_lib.plan.power.planned_design import PlannedDesign
from audit_lib.seeds import generator

Floats = NDArray[np.float64]

Chosen = dict[int, NDArray[np.bool_]]
"""k -> who is among the best k of each round."""

_CELLS: Final = 2_000_000
"""Scores that are drawn at a time."""


@dataclass(frozen=True, slots=True)
class SimulatedSides:
    """What a group and its reference have: (audits, units, values of a unit) each.

    Parameters
    ----------
    group, reference : ndarray
        The values.
    shared : bool
        Whether each unit is on both sides, so that a unit has the same place in both.
    """

    group: Floats
    reference: Floats
    shared: bool


@dataclass(frozen=True, slots=True)
class Selected:
    """Who is selected: of each category and unit, in several audits, and how many people there are."""

    selected: Floats
    people: Floats

    @property
    def rates(self) -> tuple[float, float]:
        """Mean rate of the category with the difference, and of the others."""
        found = self.selected.sum(axis=(0, 2)) / (len(self.selected) * self.people.sum(axis=1))
        return float(found[0]), float(found[1:].mean())


@dataclass(frozen=True, slots=True)
class SimulatedAudits:
    """Audits in which one category of the table of `axes` is lower by some standard deviations of merit.

    Parameters
    ----------
    design : PlannedDesign
        What is planned.
    axes : tuple of str
        Attributes of the comparison. Its group is the first of its categories, and the last is the reference.
    """

    design: PlannedDesign
    axes: tuple[str, ...]

    def parts(self, audits: int) -> Iterator[tuple[np.random.Generator, int]]:
        """Yield a generator and a number of audits, until all have come; the same ones each time."""
        step = max(_CELLS // max(self.design.rows, 1), 1)
        for start in range(0, audits, step):
            made = generator(self.design.seed, "plan", "power", *self.axes, start)
            yield made, min(step, audits - start)

    def scores(self, rng: np.random.Generator, audits: int) -> Floats:
        """Draw scores of (audit, application, copy, group), or of one group where each application has one."""
        design = self.design
        merit = rng.standard_normal((audits, design.applications, 1, 1))
        size = (audits, design.applications, design.copies, design.groups if design.within else 1)
        return np.asarray(merit + design.version_sd * rng.standard_normal(size), dtype=np.float64)

    def lowered(self, scores: Floats, lower: float) -> Floats:
        """Move the scores of the category down."""
        of = self.design.categories(self.axes) == 0
        if self.design.within:
            return np.asarray(scores - lower * of, dtype=np.float64)
        return np.asarray(scores - lower * of[self._group_of_application()][:, None, None], dtype=np.float64)

    def sides(self, scores: Floats, axes: tuple[str, ...]) -> SimulatedSides:
        """Take the scores of the first category of a table, and of its last one, by unit."""
        if self.design.by_round:
            return self._of_rounds(self._competing(scores), axes)
        of = self.design.categories(axes)
        if self.design.within:
            group, reference = (
                scores[:, :, :, of == one].reshape(len(scores), scores.shape[1], -1) for one in (0, of.max())
            )
            return SimulatedSides(group, reference, shared=True)
        own = of[self._group_of_application()]
        return SimulatedSides(scores[:, own == 0][..., 0], scores[:, own == of.max()][..., 0], shared=False)

    def fewest(self, axes: tuple[str, ...]) -> int:
        """Return the applications of the category of a table that has the fewest."""
        if self.design.within:
            return self.design.applications
        of = self.design.categories(axes)
        return int(np.bincount(of[self._group_of_application()], minlength=int(of.max()) + 1).min())

    def shares(
        self, scores: Floats, axes: tuple[str, ...], k: int, kept: Chosen | None = None
    ) -> SimulatedSides:
        """Tell who of the two categories is among the best `k` of each round; `kept` are those of other calls."""
        return self._of_rounds(self._chosen(scores, k, kept).astype(np.float64), axes)

    def selected(self, scores: Floats, axes: tuple[str, ...], kept: Chosen | None = None) -> Selected:
        """Tell who is selected, in the table of some attributes; `kept` are those of other calls."""
        audits, design, of = len(scores), self.design, self.design.categories(axes)
        if design.competes is not None:
            chosen = self._chosen(scores, design.k, kept)
            by_group = chosen.reshape(audits, chosen.shape[1], -1, of.size).sum(axis=2)
        elif design.within:
            by_group = self._over(scores).sum(axis=2)
        else:
            own = self._group_of_application()[:, None] == np.arange(of.size)
            by_group = self._over(scores).sum(axis=(2, 3))[:, :, None] * own
        table = (of == np.arange(int(of.max()) + 1)[:, None]).astype(np.float64)
        return Selected(
            selected=np.ascontiguousarray(np.einsum("cg,aug->acu", table, by_group)),
            people=self._people(table, by_group.shape[1]),
        )

    def _chosen(self, scores: Floats, k: int, kept: Chosen | None) -> NDArray[np.bool_]:
        """Tell who is among the best `k` of each round, once for all metrics and attributes of the same scores."""
        kept = {} if kept is None else kept
        if k not in kept:
            kept[k] = _best(self._competing(scores), k)
        return kept[k]

    def _of_rounds(self, values: Floats, axes: tuple[str, ...]) -> SimulatedSides:
        of = self.design.categories(axes)
        of = np.tile(of, values.shape[2] // of.size)
        return SimulatedSides(values[:, :, of == 0], values[:, :, of == of.max()], shared=True)

    def _people(self, table: Floats, units: int) -> Floats:
        design = self.design
        if not design.within:
            own = self._group_of_application()[:, None] == np.arange(design.groups)
            return np.asarray(table @ (design.copies * own.T.astype(np.float64)))
        each = 1 if design.competes == "one_per_group" else design.copies
        return np.repeat(table.sum(axis=1)[:, None] * each, units, axis=1)

    def _competing(self, scores: Floats) -> Floats:
        """Return scores by (audit, round, candidate). A pool has candidates of different applications."""
        audits, applications, copies, groups = scores.shape
        if self.design.competes == "application_id":
            return scores.reshape(audits, applications, copies * groups)
        pools = scores.reshape(audits, applications * copies, groups)
        dealt = generator(self.design.seed, "plan", "power", "pools")
        return np.stack(
            [pools[:, dealt.permutation(pools.shape[1]), group] for group in range(groups)], axis=2
        )

    def _over(self, scores: Floats) -> NDArray[np.bool_]:
        if self.design.rule == "above_median":
            return scores > np.median(scores.reshape(len(scores), -1), axis=1)[:, None, None, None]
        rate = 0.5 if self.design.rate is None else self.design.rate
        return scores >= self.design.score_sd * float(ndtri(1 - rate))

    def _group_of_application(self) -> NDArray[np.intp]:
        return np.asarray(np.arange(self.design.applications) % self.design.groups, dtype=np.intp)


def _best(scores: Floats, k: int) -> NDArray[np.bool_]:
    """Tell who is among the k highest of each round."""
    if k >= scores.shape[2]:
        return np.ones(scores.shape, dtype=bool)
    least = np.partition(scores, scores.shape[2] - k, axis=2)[:, :, scores.shape[2] - k]
    return np.asarray(scores >= least[:, :, None])
