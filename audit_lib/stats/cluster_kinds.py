"""Clusters by what is in them: of a million clusters few differ, and each kind is computed and added up once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["ClusterKinds"]

Floats = NDArray[np.float64]

_FEW: Final = 256
"""Clusters that are taken one by one: finding out which are alike would cost more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterKinds:
    """The clusters of a category, alike where as many people are in them and as many of these are selected.

    Parameters
    ----------
    selected, people : ndarray of float, shape (kinds,)
        Of a cluster of each kind.
    clusters : ndarray of int, shape (kinds,)
        How many clusters there are of each.
    of_cluster : ndarray of int, shape (clusters,)
        The kind of each cluster, in the smallest type that holds it.
    """

    selected: Floats
    people: Floats
    clusters: NDArray[np.int64]
    of_cluster: NDArray[Any]

    @classmethod
    def of(cls, selected: NDArray[Any], people: NDArray[Any]) -> ClusterKinds:
        """Tell which clusters are alike.

        Parameters
        ----------
        selected, people : ndarray of float or int, shape (clusters,)
            Whole numbers.

        Examples
        --------
        >>> kinds = ClusterKinds.of(np.tile([0.0, 1.0], 500), np.full(1000, 2.0))
        >>> kinds.selected.tolist(), kinds.people.tolist(), kinds.clusters.tolist()
        ([0.0, 1.0], [2.0, 2.0], [500, 500])
        """
        size = people.size
        width = int(selected.max(initial=0.0)) + 1
        if size < _FEW or (int(people.max(initial=0.0)) + 1) * width > 4 * size:
            return cls(
                selected=selected.astype(np.float64),
                people=people.astype(np.float64),
                clusters=np.ones(size, np.int64),
                of_cluster=np.arange(size),
            )
        key = people.astype(np.int64)
        key *= width
        key += selected.astype(np.int64, copy=False)
        counts = np.bincount(key)
        found = np.flatnonzero(counts)
        place = np.zeros(counts.size, np.min_scalar_type(found.size))
        place[found] = np.arange(found.size)
        return cls(
            selected=(found % width).astype(np.float64),
            people=(found // width).astype(np.float64),
            clusters=counts[found],
            of_cluster=place[key],
        )

    @property
    def all_people(self) -> float:
        """People of all clusters."""
        return float((self.people * self.clusters).sum())

    @property
    def all_selected(self) -> float:
        """Selected people of all clusters."""
        return float((self.selected * self.clusters).sum())

    @property
    def occupied(self) -> int:
        """Clusters that hold anybody."""
        return int(self.clusters[self.people > 0].sum())

    def total(self, values: Floats) -> float:
        """Add up a value of each kind over all clusters, rounded once: the order of clusters changes nothing.

        Parameters
        ----------
        values : ndarray of float, shape (kinds,)
            What a cluster of each kind has.

        Examples
        --------
        >>> kinds = ClusterKinds.of(np.zeros(1000), np.ones(1000))
        >>> kinds.total(np.array([0.1])), sum([0.1] * 1000)
        (100.0, 99.9999999999986)
        """
        # A number times a power of two is exact, and so is what fsum adds up before it rounds.
        bits = range(int(self.clusters.max(initial=0)).bit_length())
        parts = [values[self.clusters >> bit & 1 > 0] * 2.0**bit for bit in bits]
        return math.fsum(value for part in parts for value in part.tolist())
