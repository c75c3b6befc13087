"""Labels of clusters: one a row, none missing, and two of them the same only if they are equal."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import InputError


def cluster_codes(clusters: ArrayLike, rows: int) -> tuple[NDArray[np.intp], int]:
    """Return the clusters as codes 0 .. G - 1 in sorted order of their labels, and G.

    Numbers are sorted by size, anything else by its text; 1 and "1" are two clusters.
    """
    labels = cluster_labels(clusters, rows)
    if labels.dtype.kind != "O":
        levels, codes = np.unique(labels, return_inverse=True)
        return codes, levels.size
    from pandas import factorize

    found, uniques = factorize(labels)
    numeric = all(isinstance(label, int | float | np.number) for label in uniques)
    keys = list(uniques) if numeric else [(str(label), type(label).__name__) for label in uniques]
    place = np.empty(len(keys), np.intp)
    place[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
    return place[found], len(keys)


def cluster_labels(clusters: ArrayLike | None, rows: int, what: str = "") -> NDArray[Any]:
    """Return one label a row, none of them missing; labels of several types stay apart, as objects.

    Raises
    ------
    InputError
        If there are more or fewer than `rows`, or one is missing; the message names its row.
    """
    where = f"clusters of {what}" if what else "clusters"
    labels = np.asarray(clusters)
    if labels.dtype.kind in "USf" and not hasattr(clusters, "dtype") and not _of_one_type(clusters):
        labels = np.array(clusters, dtype=object)  # numpy would write 1 as "1"
    if labels.shape != (rows,):
        raise InputError(f"{where} have shape {labels.shape} for {rows} rows; give one label a row")
    if labels.dtype.kind in "OfcMm":
        from pandas import isna

        missing = np.flatnonzero(isna(labels))
        if missing.size:
            raise InputError(f"{where}, row {missing[0]}: no label ({missing.size} such rows)")
    return labels


def join_labels(*parts: NDArray[Any]) -> NDArray[Any]:
    """Concatenate labels; those of different types stay apart."""
    alike = len({part.dtype.kind for part in parts}) == 1
    return np.concatenate(parts if alike else [part.astype(object) for part in parts])


def _of_one_type(labels: Any) -> bool:
    return len(set(map(type, labels))) <= 1
