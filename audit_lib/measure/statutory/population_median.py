"""Intervals of a scoring table's ratios at the population's median; the table takes the sample's as fixed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.rows.scored import Rows, compact
from audit_lib.measure.sides import ClusterUnit
from audit_lib.measure.statutory.intervals import category_of_rows
from audit_lib.metrics.impact import ImpactRow
from audit_lib.results import Interval, Undefined
from audit_lib.stats.estimated_median import rates_above_median


@dataclass(frozen=True, slots=True, kw_only=True)
class MedianSample:
    """The people whose scores made the median of a table.

    Parameters
    ----------
    scores : ndarray of float, shape (n,)
        Theirs.
    categories : ndarray of int, shape (n,)
        Place of each one's category among the table's; -1 for none.
    clusters : ndarray of int, shape (n,), or None
        Who shares a round or an application; None where nobody does.
    places : mapping of str to int
        Category's label -> its place.
    """

    scores: NDArray[np.float64]
    categories: NDArray[np.int32]
    clusters: NDArray[np.int32] | None
    places: Mapping[str, int]

    @classmethod
    def of(
        cls,
        rows: Rows,
        sample: NDArray[np.bool_],
        categories: Sequence[int],
        labels: Sequence[str],
        unit: ClusterUnit,
    ) -> MedianSample:
        """Take the rows of a sample; `categories` has the place of each profile's category in `labels`."""
        kept = slice(None) if sample.all() else sample
        codes = (rows.round if unit == "round" else rows.application)[kept]
        clusters, units = compact(codes + 1)  # + 1: rows without a round are one unit together
        return cls(
            scores=rows.score[kept],
            categories=category_of_rows(rows, categories)[kept],
            clusters=None if units == codes.size else clusters,
            places={label: place for place, label in enumerate(labels)},
        )

    def to_highest(
        self, compared: Sequence[ImpactRow], top: ImpactRow, level: float
    ) -> dict[str, Interval | Undefined]:
        """Return simultaneous intervals of each rate over the highest, by category; the comparator has none."""
        nobody = {
            str(row.category): Undefined("nobody of the category is above the median")
            for row in compared
            if not row.selected
        }
        kept = [row for row in compared if row.selected]
        others = [str(row.category) for row in compared if row is not top]
        try:
            if not np.isfinite(self.scores).all():
                raise UndefinedMetricError("a score is infinite")
            if len(kept) < 2:
                raise UndefinedMetricError("fewer than two categories: there is nothing to compare with")
            number = np.full(len(self.places) + 1, -1, dtype=np.int32)
            number[[self.places[str(row.category)] for row in kept]] = np.arange(len(kept))
            rates = rates_above_median(self.scores, number[self.categories], len(kept), self.clusters)
            found = [
                replace(one, method=f"{one.method}, the median estimated") for one in rates.to_highest(level)
            ]
        except UndefinedMetricError as error:
            nothing = Undefined(str(error))
            return {label: nobody.get(label, nothing) for label in others}
        by = {str(row.category): one for row, one in zip(kept, found, strict=True)} | nobody
        return {label: by[label] for label in others}
