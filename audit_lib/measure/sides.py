"""The rows that a metric compares: a value each, their independent units, and the two sides of a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from audit_lib.measure.rows.scored import Rows, numbered
from audit_lib.spec import AuditSpec
from audit_lib.stats.cluster_worth import ClusterWorth
from audit_lib.stats.two_sided import SideSums

ClusterUnit = Literal["application", "round"]


@dataclass(frozen=True, kw_only=True)
class Side:
    """One side of a comparison: values and clusters of the rows that have a value.

    What is computed of one side alone is computed once, however many groups are compared with it.

    Parameters
    ----------
    values : ndarray, shape (n,)
        What is compared.
    clusters : ndarray of int32, shape (n,)
        Independent unit of each row, 0 .. units - 1.
    units : int
        Independent units of the stratum.
    occurs : ndarray of bool, shape (units,)
        Which of them have rows on this side.
    slices : sequence of slice
        Where they stand among the rows that have a value.
    kept : ndarray of int or None
        As of `Variable`.
    """

    values: NDArray[Any]
    clusters: NDArray[np.int32]
    units: int
    occurs: NDArray[np.bool_]
    slices: Sequence[slice] = ()
    kept: NDArray[np.int64] | None = None

    @property
    def index(self) -> NDArray[np.int64]:
        """Where the rows stand in the stratum."""
        rows = [
            np.arange(one.start, one.stop) if self.kept is None else self.kept[one] for one in self.slices
        ]
        return np.concatenate([np.zeros(0, dtype=np.int64), *rows])

    @property
    def people(self) -> NDArray[np.float64]:
        """How many rows each unit has on this side."""
        return np.bincount(self.clusters, minlength=self.units).astype(np.float64)

    @cached_property
    def present(self) -> int:
        """How many units have rows on this side."""
        return int(np.count_nonzero(self.occurs))

    @cached_property
    def worth(self) -> ClusterWorth:
        """What the units are worth.

        Raises
        ------
        UndefinedMetricError
            If that is fewer than two of one size.
        """
        alone = self.present == self.clusters.size  # one row each: where they are says it all
        return ClusterWorth.of(self.occurs if alone else np.bincount(self.clusters, minlength=self.units))

    @cached_property
    def above_mean(self) -> NDArray[np.float64]:
        """How far each unit moves the mean of the values."""
        values = self.values - float(self.values.mean())
        values /= self.values.size
        return self.sums(values)

    @cached_property
    def below_mean(self) -> NDArray[np.float64]:
        """The same, taken away from it."""
        values = float(self.values.mean()) - self.values
        values /= self.values.size
        return self.sums(values)

    @cached_property
    def moved_up(self) -> SideSums:
        """What each unit moves a difference from whose reference this side is not; `worth` is there."""
        return SideSums.of(self.above_mean, self.occurs, self.worth)

    @cached_property
    def moved_down(self) -> SideSums:
        """The same of the reference."""
        return SideSums.of(self.below_mean, self.occurs, self.worth)

    @cached_property
    def standing(self) -> SideRanks:
        """Where ranks stand among the values of this side, which are ranks."""
        return SideRanks.among(self.values)

    def sums(self, influence: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of each unit's values of `influence`."""
        return np.bincount(self.clusters, influence, self.units).astype(np.float64, copy=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SideRanks:
    """Where ranks stand among those of a side, by counting.

    Parameters
    ----------
    below : ndarray of int, shape (ranks + 2,)
        How many of the side are below each rank up to the highest of them, the one after it, and any after that.
    own : ndarray of int, shape (n,)
        How many of the side are below each of them.
    """

    below: NDArray[Any]
    own: NDArray[Any]

    @classmethod
    def among(cls, ranks: NDArray[Any]) -> SideRanks:
        """Count a side of some ranks.

        Examples
        --------
        >>> SideRanks.among(np.array([0, 2, 2])).below.tolist()
        [0, 1, 1, 3, 3]
        """
        held = np.bincount(ranks)
        below = np.zeros(held.size + 2, dtype=np.int32 if ranks.size < 2**30 else np.int64)
        np.cumsum(held, out=below[1:-1])
        below[-1] = ranks.size
        return cls(below=below, own=below[ranks])

    def twice_won(self, ranks: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return, for each rank, twice how many of the side are below it plus how many equal it; and the opposite.

        Returns
        -------
        ndarray of int, shape (ranks,)
            Of the ranks given.
        ndarray of int, shape (n,)
            Of each of the side: twice how many of the ranks given are below it plus how many equal it.

        Examples
        --------
        >>> won, lost = SideRanks.among(np.array([0, 2, 2])).twice_won(np.array([2, 1, 7]))
        >>> won.tolist(), lost.tolist()
        ([4, 2, 6], [0, 3, 3])
        """
        ranks = np.minimum(ranks, self.below.size - 2)
        below, most = self.below[ranks], self.below[ranks + 1]
        # One of the side is as high as a rank, or higher, from the place on that the rank has among them.
        places = np.bincount(below, minlength=self.own.size + 1)
        places += np.bincount(most, minlength=self.own.size + 1)
        return below + most, np.cumsum(places, out=places)[self.own]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A value a row, ready to be compared between groups.

    Parameters
    ----------
    rows : Rows
        The stratum.
    values : ndarray, shape (known,)
        Values of the rows that have one.
    clusters : ndarray of int32, shape (known,)
        Their independent units.
    units : int
        Number of units.
    unit : {"application", "round"}
        What they are.
    kept : ndarray of int or None
        Which rows have a value; None for all.
    """

    rows: Rows
    values: NDArray[Any]
    clusters: NDArray[np.int32]
    units: int
    unit: ClusterUnit
    kept: NDArray[np.int64] | None

    @classmethod
    def of(cls, rows: Rows, values: NDArray[Any], unit: ClusterUnit) -> Variable:
        """Take values of all rows: NaN, or a negative integer, leaves a row out."""
        known = ~np.isnan(values) if values.dtype.kind == "f" else values >= 0
        if known.all():
            kept, (clusters, units) = None, rows.units(unit)
        else:
            kept = np.flatnonzero(known)
            values = values[kept]
            clusters, units = numbered((rows.round if unit == "round" else rows.application)[kept])
        return cls(rows=rows, values=values, clusters=clusters, units=units, unit=unit, kept=kept)

    def unit_names(self) -> NDArray[Any]:
        """Return what the tables call each unit; the rows without a round are one unit, called nothing."""
        column = self.rows.columns["round_id" if self.unit == "round" else "application_id"]
        codes = column.codes if self.kept is None else column.codes[self.kept]
        names = np.full(self.units, "", dtype=object)
        known = codes >= 0
        names[self.clusters[known]] = np.asarray(column.labels, dtype=object)[codes[known]]
        return names

    def side(self, cell: Mapping[str, str]) -> Side:
        """Return the rows that have all levels of `cell`."""
        slices = self.rows.slices(cell)
        if self.kept is not None:
            ends = [np.searchsorted(self.kept, (rows.start, rows.stop)).tolist() for rows in slices]
            slices = [slice(*pair) for pair in ends]
        clusters = _joined(self.clusters, slices)
        occurs = np.zeros(self.units, dtype=bool)
        occurs[clusters] = True
        return Side(
            values=_joined(self.values, slices),
            clusters=clusters,
            units=self.units,
            occurs=occurs,
            slices=slices,
            kept=self.kept,
        )


def score_unit(spec: AuditSpec) -> ClusterUnit:
    """Return the independent unit of the scores."""
    return "round" if spec.task in ("listwise", "pairwise") else "application"


def decision_unit(spec: AuditSpec) -> ClusterUnit:
    """Return the independent unit of the decisions: candidates of a round compete."""
    return "round" if spec.decision.rule == "top_k" else score_unit(spec)


def _joined(values: NDArray[Any], slices: list[slice]) -> NDArray[Any]:
    if len(slices) == 1:
        return values[slices[0]]
    return np.concatenate([values[rows] for rows in slices]) if slices else values[:0]
