"""How unequally do decisions benefit people, and do like cases fare alike?

Sources: Speicher et al., "A Unified Approach to Quantifying Algorithmic Unfairness" (2018), arXiv:1807.00787; Wachter,
Mittelstadt and Russell, "Why Fairness Cannot Be Automated" (2021), Computer Law & Security Review 41.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics._aligned import same_rows
from audit_lib.metrics._arrays import as_codes, as_flags

Floats = NDArray[np.float64]


def benefits(outcome: ArrayLike, decision: ArrayLike) -> NDArray[np.int64]:
    """Benefit of each person: decision minus outcome plus 1.

    Parameters
    ----------
    outcome, decision : array_like, shape (n,)
        True outcome and decision: bool, 0 or 1.

    Returns
    -------
    ndarray of int
        2 for who is selected and should not be, 1 for who is decided rightly, 0 for who should be selected and is not.

    Raises
    ------
    InputError
        If lengths differ or an entry is neither 0 nor 1.
    UndefinedMetricError
        If an entry is missing.

    Examples
    --------
    >>> benefits([1, 0, 1, 0], [1, 1, 0, 0]).tolist()
    [1, 2, 0, 1]
    """
    outcome, decision = same_rows(outcome=outcome, decision=decision)
    y = as_flags(outcome, "outcome")
    return as_flags(decision, "decision", y.size).astype(np.int64) - y + 1


def theil_index(outcome: ArrayLike, decision: ArrayLike) -> float:
    """Theil index of the benefits: generalised entropy with alpha 1.

    Parameters
    ----------
    outcome, decision : array_like, shape (n,)
        As in `benefits`, and so are the errors.

    Returns
    -------
    float
        0 where everybody has the same benefit; at most the logarithm of the number of people.

    Raises
    ------
    UndefinedMetricError
        If there is nobody, or nobody has a benefit.

    Examples
    --------
    >>> round(theil_index([1, 0, 1, 0], [1, 1, 0, 0]), 4)
    0.3466
    """
    found = np.bincount(benefits(outcome, decision), minlength=3)
    return theil_of_shares(found / max(int(found.sum()), 1))


def theil_of_shares(shares: Floats) -> float:
    """Theil index of people of whom these shares have the benefits 0, 1 and 2.

    Parameters
    ----------
    shares : ndarray of float, shape (3,)
        They sum to 1.

    Raises
    ------
    UndefinedMetricError
        If nobody has a benefit.

    Examples
    --------
    >>> theil_of_shares(np.array([0.0, 1.0, 0.0]))
    0.0
    """
    mean = float(shares[1] + 2 * shares[2])
    if mean == 0.0:
        raise UndefinedMetricError("nobody has a benefit: shares of nothing")
    # Of b = 0, 1, 2: b ln b is 0, 0, 2 ln 2.
    return max(float(2 * np.log(2) * shares[2] / mean - np.log(mean)), 0.0)


def theil_between(outcome: ArrayLike, decision: ArrayLike, groups: ArrayLike) -> float:
    """Part of the Theil index that lies between groups: that of everybody having the mean benefit of the own group.

    Parameters
    ----------
    outcome, decision : array_like, shape (n,)
        As in `benefits`.
    groups : array_like, shape (n,)
        Group of each; rows without one (None) are left out.

    Returns
    -------
    float
        0 where all groups have the same mean benefit.

    Raises
    ------
    InputError
        If lengths differ or an entry is neither 0 nor 1.
    UndefinedMetricError
        If there are fewer than two groups, or nobody has a benefit.

    Examples
    --------
    >>> round(theil_between([1, 1, 1, 1], [1, 1, 1, 0], ["a", "a", "b", "b"]), 4)
    0.0566
    """
    outcome, decision, groups = same_rows(outcome=outcome, decision=decision, groups=groups)
    benefit = benefits(outcome, decision)
    codes = as_codes(groups, "groups")[0]
    if codes.size != benefit.size:
        raise InputError(f"groups: {codes.size} labels for {benefit.size} people")
    sizes = np.bincount(codes[codes >= 0])
    return theil_of_groups(sizes, np.bincount(codes[codes >= 0], benefit[codes >= 0], sizes.size))


def theil_of_groups(sizes: NDArray[Any], totals: NDArray[Any]) -> float:
    """Theil index of groups within which everybody has the group's mean benefit.

    Parameters
    ----------
    sizes, totals : ndarray, shape (groups,)
        People, and the sum of their benefits.

    Raises
    ------
    UndefinedMetricError
        If fewer than two groups have people, or nobody has a benefit.

    Examples
    --------
    >>> theil_of_groups(np.array([2, 4]), np.array([2, 4]))
    0.0
    """
    there = sizes > 0
    if np.count_nonzero(there) < 2:
        raise UndefinedMetricError(f"{np.count_nonzero(there)} groups have people: between groups needs two")
    if totals.sum() == 0:
        raise UndefinedMetricError("nobody has a benefit: shares of nothing")
    of_people = sizes[there] / sizes.sum()
    of_benefit = totals[there] / totals.sum()
    some = of_benefit > 0
    return max(float((of_benefit[some] * np.log(of_benefit[some] / of_people[some])).sum()), 0.0)


def conditional_demographic_disparity(
    decision: ArrayLike, strata: ArrayLike, is_group: ArrayLike, is_reference: ArrayLike
) -> float:
    """Share of the group among the rejected minus that among the selected, within strata, weighted by their sizes.

    Parameters
    ----------
    decision : array_like, shape (n,)
        Who is selected: bool, 0 or 1.
    strata : array_like, shape (n,)
        What like cases have in common, such as the position; rows without one (None) are left out.
    is_group, is_reference : array_like of bool, shape (n,)
        Members of the two groups; only they are counted.

    Returns
    -------
    float
        In [-1, 1]; 0 at parity, above 0 where the group is a larger part of the rejected than of the selected.

    Raises
    ------
    InputError
        If lengths differ or an entry is neither 0 nor 1.
    UndefinedMetricError
        If a side has nobody, or no stratum has both selected and rejected people.

    Notes
    -----
    The definition is that of Amazon SageMaker Clarify (CDDL, CDDPL), with the strata without a selected or without a
    rejected person left out: there the share of nobody does not exist, and Clarify counts it as 0.

    Examples
    --------
    >>> round(conditional_demographic_disparity([1, 0, 1, 0], ["x"] * 4, [1, 1, 0, 0], [0, 0, 1, 1]), 4)
    0.0
    >>> round(conditional_demographic_disparity([1, 0, 0, 1], ["x"] * 4, [0, 1, 1, 0], [1, 0, 0, 1]), 4)
    1.0
    """
    decision, strata, is_group, is_reference = same_rows(
        decision=decision, strata=strata, is_group=is_group, is_reference=is_reference
    )
    made = as_flags(decision, "decision")
    mine, theirs = (
        as_flags(mask, name, made.size)
        for mask, name in ((is_group, "is_group"), (is_reference, "is_reference"))
    )
    if (both := int(np.count_nonzero(mine & theirs))) > 0:
        raise InputError(f"{both} people are in is_group and in is_reference")
    codes = as_codes(strata, "strata")[0]
    if codes.size != made.size:
        raise InputError(f"strata: {codes.size} labels for {made.size} people")
    kept = (mine | theirs) & (codes >= 0)
    for name, mask in (("group", mine), ("reference", theirs)):
        if not (mask & kept).any():
            raise UndefinedMetricError(f"{name}: nobody with a decision")
    return StrataShares.of(made[kept], codes[kept], mine[kept]).disparity()


@dataclass(frozen=True, slots=True, kw_only=True)
class StrataShares:
    """Counts of two groups by stratum and decision, of the strata that have both decisions.

    Parameters
    ----------
    sizes : ndarray of int, shape (2, strata)
        Rejected, and selected.
    members : ndarray of int, shape (2, strata)
        Those of the group among them.
    codes : ndarray of int, shape (strata,)
        The strata.
    left_out : int
        Strata with one decision only.
    """

    sizes: NDArray[np.int64]
    members: NDArray[np.int64]
    codes: NDArray[np.int64]
    left_out: int

    @classmethod
    def of(cls, made: NDArray[np.bool_], codes: NDArray[Any], mine: NDArray[np.bool_]) -> StrataShares:
        """Count people.

        Parameters
        ----------
        made, mine : ndarray of bool, shape (n,)
            Who is selected, and who is of the group; all others are of the reference.
        codes : ndarray of int, shape (n,)
            Stratum of each, none below 0.
        """
        count = int(codes.max(initial=-1)) + 1
        sizes = np.stack([np.bincount(codes[made == said], minlength=count) for said in (False, True)])
        members = np.stack(
            [np.bincount(codes[(made == said) & mine], minlength=count) for said in (False, True)]
        )
        both = (sizes > 0).all(axis=0)
        left_out = int(((sizes > 0).any(axis=0) & ~both).sum())
        return cls(
            sizes=sizes[:, both], members=members[:, both], codes=np.flatnonzero(both), left_out=left_out
        )

    @property
    def by_stratum(self) -> Floats:
        """Demographic disparity of each stratum."""
        shares = self.members / self.sizes
        return np.asarray(shares[0] - shares[1])

    def disparity(self) -> float:
        """Return the mean over strata, by their sizes.

        Raises
        ------
        UndefinedMetricError
            If there is none.
        """
        if not self.codes.size:
            raise UndefinedMetricError("no stratum has both selected and rejected people")
        weights = self.sizes.sum(axis=0)
        return float((weights * self.by_stratum).sum() / weights.sum())
