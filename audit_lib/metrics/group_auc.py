"""Do scores tell good outcomes from bad ones equally well for all groups?

Source of the gap over subgroups: Lee, Brooks, Yu and Kizilcec, "AUC Gap" (2023), arXiv:2309.12371.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics._aligned import columns_of, same_rows
from audit_lib.metrics._arrays import as_codes, as_flags, as_numbers, as_scores, in_order
from audit_lib.metrics._frames import frame_of
from audit_lib.metrics._rank_counts import PairCounter
from audit_lib.results import Undefined

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True)
class AucRow:
    """AUC of one subgroup.

    Parameters
    ----------
    group : label
        The subgroup.
    auc : float or Undefined
        Its AUC, or why it has none.
    n, positives : int
        Its members, and those with a positive outcome (with several classes: of the most frequent one).
    """

    group: Hashable
    auc: float | Undefined
    n: int
    positives: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AucTable:
    """AUC by subgroup and the largest difference between two.

    Parameters
    ----------
    overall : float or Undefined
        AUC of everybody.
    rows : tuple of AucRow
        One a subgroup, sorted by label; those without an AUC say why.
    gap : float or Undefined
        Largest minus smallest AUC of the rows that have one.
    highest, lowest : label or None
        The pair that the gap is taken from.
    """

    overall: float | Undefined
    rows: tuple[AucRow, ...]
    gap: float | Undefined
    highest: Hashable | None
    lowest: Hashable | None

    def to_frame(self) -> pd.DataFrame:
        """Return one row a subgroup, and why one has no AUC; how sure they are: `audit_lib.stats.auc_gap_intervals`."""
        return frame_of(
            {"group": row.group, "auc": row.auc, "n": row.n, "positives": row.positives} for row in self.rows
        )


def auc(scores: ArrayLike, outcome: ArrayLike, threshold: float | None = None) -> float:
    """Area under the ROC curve: the chance that a positive outscores a negative, ties counting half.

    Parameters
    ----------
    scores : array_like, shape (n,) or (n, classes)
        Scores, higher for the positive class. With one column a class (in the order of the sorted
        labels), the unweighted mean of the one-vs-rest AUCs.
    outcome : array_like, shape (n,)
        True outcome: bool, 0 or 1; real numbers with `threshold`; labels with several columns of scores.
    threshold : float, optional
        Outcomes at or above it are positive.

    Returns
    -------
    float
        In [0, 1]; 0.5 says that scores do not tell positives from negatives.

    Raises
    ------
    InputError
        If lengths differ, outcomes are neither 0 nor 1, or columns and classes differ in number.
    UndefinedMetricError
        If a class is empty, or a score or outcome is missing.

    Examples
    --------
    >>> auc([0.1, 0.4, 0.4, 0.8], [0, 0, 1, 1])
    0.875
    >>> auc([0.1, 0.4, 0.4, 0.8], [2.0, 2.5, 3.0, 4.5], threshold=3)
    0.875
    """
    scores, outcome = same_rows(scores=scores, outcome=outcome)
    columns = _columns(scores)
    return _mean_auc(columns, _classes(outcome, columns, threshold))


def auc_gap(
    scores: ArrayLike,
    outcome: ArrayLike,
    groups: ArrayLike | Mapping[Hashable, ArrayLike],
    min_n: int = 2,
    threshold: float | None = None,
) -> float:
    """AUC Gap: the largest difference in AUC between any two subgroups.

    ``max over pairs (g, h) of |AUC(g) - AUC(h)|``, over any number of possibly overlapping subgroups.

    Parameters
    ----------
    scores, outcome, threshold
        As in `auc`.
    groups : array_like, shape (n,), mapping of label to array_like of bool, or table of booleans
        Group of each row (None for none), or one membership mask a subgroup, which may overlap.
    min_n : int
        Subgroups with fewer members are left out. A tiny subgroup can have any AUC, so set it.

    Returns
    -------
    float
        In [0, 1]; 0 at parity.

    Raises
    ------
    InputError
        As `auc` does.
    UndefinedMetricError
        If fewer than two subgroups have an AUC. Those with one class or too few members have none;
        `auc_by_group` says which.

    Notes
    -----
    A maximum over pairs is biased upwards in small samples, and an interval for it must allow for the
    selection of the pair.

    Examples
    --------
    >>> auc_gap([1, 2, 3, 4, 1, 2, 3, 4], [0, 0, 1, 1, 0, 1, 0, 1], list("aaaabbbb"))
    0.25
    """
    gap = auc_by_group(scores, outcome, groups, min_n, threshold).gap
    if isinstance(gap, Undefined):
        raise UndefinedMetricError(gap.reason)
    return gap


def auc_by_group(
    scores: ArrayLike,
    outcome: ArrayLike,
    groups: ArrayLike | Mapping[Hashable, ArrayLike],
    min_n: int = 2,
    threshold: float | None = None,
) -> AucTable:
    """AUC of everybody and of each subgroup, with the gap and the pair it is taken from.

    Parameters
    ----------
    scores, outcome, groups, min_n, threshold
        As in `auc_gap`.

    Returns
    -------
    AucTable
        Rows of all subgroups, those left out included, with the reason.

    Raises
    ------
    InputError, UndefinedMetricError
        As `auc` does, but for a class that is empty: that is a value with a reason here.

    Examples
    --------
    >>> table = auc_by_group([1, 2, 3, 4, 5], [0, 1, 0, 1, 1], ["a", "a", "b", "b", "c"])
    >>> [row.auc for row in table.rows]
    [1.0, 1.0, Undefined(reason='1 members, fewer than the minimum of 2')]
    """
    scores, outcome, groups = same_rows(scores=scores, outcome=outcome, groups=columns_of(groups) or groups)
    columns = _columns(scores)
    classes = _classes(outcome, columns, threshold)
    main = max(classes, key=np.count_nonzero) if len(classes) > 1 else classes[0]
    rows = []
    masks = _masks(groups, columns.shape[0])
    for label in in_order(masks):
        mask = masks[label]
        n = int(np.count_nonzero(mask))
        value: float | Undefined
        if n < min_n:
            value = Undefined(f"{n} members, fewer than the minimum of {min_n}")
        else:
            value = _try_auc(columns[mask], [members[mask] for members in classes])
        rows.append(AucRow(group=label, auc=value, n=n, positives=int(np.count_nonzero(main & mask))))
    defined = [(row.auc, row.group) for row in rows if not isinstance(row.auc, Undefined)]
    overall = _try_auc(columns, classes)
    if len(defined) < 2:
        reason = Undefined(f"{len(defined)} of {len(rows)} subgroups have an AUC; a gap needs two")
        return AucTable(overall=overall, rows=tuple(rows), gap=reason, highest=None, lowest=None)
    highest = max(defined, key=lambda item: item[0])
    lowest = min(defined, key=lambda item: item[0])
    return AucTable(
        overall=overall,
        rows=tuple(rows),
        gap=highest[0] - lowest[0],
        highest=highest[1],
        lowest=lowest[1],
    )


def _columns(scores: ArrayLike) -> NDArray[Any]:
    """Scores as (n, columns)."""
    values = as_numbers(np.asarray(scores), "scores")  # a table of them has one column a class
    if values.ndim not in (1, 2):
        raise InputError(f"scores: expected shape (n,) or (n, classes), got {values.shape}")
    as_scores(values.ravel(), "scores")
    return values.reshape(values.shape[0], -1)


def _classes(outcome: ArrayLike, columns: NDArray[Any], threshold: float | None) -> list[NDArray[np.bool_]]:
    """Masks of the positive class, one a column of scores."""
    n, width = columns.shape
    if width > 1:
        if threshold is not None:
            raise InputError("threshold: goes with one column of scores, not with classes")
        codes, levels = as_codes(outcome, "outcome")
        if codes.size != n:
            raise InputError(f"outcome: {codes.size} values where {n} are expected")
        if codes.min() < 0:
            raise UndefinedMetricError(f"outcome: {int((codes < 0).sum())} of {n} are missing")
        if levels.size != width:
            raise InputError(f"scores: {width} columns for {levels.size} classes")
        return [np.asarray(codes == level) for level in range(width)]
    if threshold is None:
        return [as_flags(outcome, "outcome", n)]
    values = as_scores(outcome, "outcome")
    if values.size != n:
        raise InputError(f"outcome: {values.size} values where {n} are expected")
    return [np.asarray(values >= threshold)]


def _mean_auc(columns: NDArray[Any], classes: list[NDArray[np.bool_]]) -> float:
    total = 0.0
    for column, positive in zip(columns.T, classes, strict=True):
        n_positive = int(np.count_nonzero(positive))
        if n_positive in (0, positive.size):
            which = "positive" if n_positive == 0 else "negative"
            raise UndefinedMetricError(f"no {which} outcome among {positive.size}")
        keys = column[positive]
        counter = PairCounter(column[~positive])
        total += counter.count(keys, np.zeros(keys.size, np.int64), 1)[0].auc
    return total / len(classes)


def _try_auc(columns: NDArray[Any], classes: list[NDArray[np.bool_]]) -> float | Undefined:
    try:
        return _mean_auc(columns, classes)
    except UndefinedMetricError as error:
        return Undefined(str(error))


def _masks(groups: ArrayLike | Mapping[Hashable, ArrayLike], n: int) -> dict[Hashable, NDArray[np.bool_]]:
    if isinstance(groups, Mapping):
        return {label: as_flags(mask, f"groups[{label!r}]", n) for label, mask in groups.items()}
    codes, levels = as_codes(groups, "groups")
    if codes.size != n:
        raise InputError(f"groups: {codes.size} labels for {n} scores")
    return {label: np.asarray(codes == code) for code, label in enumerate(levels.tolist())}
