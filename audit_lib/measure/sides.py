"""The rows that a metric compares: a value each, their independent units, and the two sides of a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from audit_lib.measure.rows.scored import Rows, compact
from audit_lib.spec import AuditSpec

ClusterUnit = Literal["application", "round"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One side of a comparison: values and clusters of the rows that have a value.

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

    def sums(self, influence: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of each unit's values of `influence`."""
        return np.bincount(self.clusters, influence, self.units).astype(np.float64, copy=False)


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
        codes = rows.round if unit == "round" else rows.application
        known = ~np.isnan(values) if values.dtype.kind == "f" else values >= 0
        kept = None if known.all() else np.flatnonzero(known)
        if kept is not None:
            values, codes = values[kept], codes[kept]
        clusters, units = compact(codes)
        if codes.size and codes.min() < 0:  # rows without a round are one unit together
            clusters, units = np.where(clusters < 0, np.int32(units), clusters), units + 1
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
