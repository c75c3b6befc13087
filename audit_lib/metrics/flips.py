"""How often is a version of one application decided otherwise than its counterpart in the reference group?

Source: Kusner, Loftus, Russell and Silva, "Counterfactual Fairness" (2017), arXiv:1703.06856; Garg et al.,
"Counterfactual Fairness in Text Classification through Robustness" (2019), arXiv:1809.10610 (the flips).
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Flips:
    """Pairs of versions that are decided differently, by application.

    Parameters
    ----------
    toward : ndarray of float, shape (applications,)
        Share of the pairs in which the group's version is selected and the reference's is not.
    against : ndarray of float, shape (applications,)
        Share of those in which it is the other way round.
    pairs : int
        Pairs of versions, in all applications together.
    applications : ndarray of int, shape (applications,)
        Their codes.
    """

    toward: Floats
    against: Floats
    pairs: int
    applications: NDArray[np.int64]


def flips(
    made: NDArray[Any], application: NDArray[Any], mine: NDArray[np.bool_], theirs: NDArray[np.bool_]
) -> Flips:
    """Compare each version of the group with each of the reference, of the same application.

    Parameters
    ----------
    made : ndarray of bool or int, shape (n,)
        Who is selected.
    application : ndarray of int, shape (n,)
        Code of what the versions are of, none below 0.
    mine, theirs : ndarray of bool, shape (n,)
        Versions of the group and of the reference.

    Raises
    ------
    UndefinedMetricError
        If no application has a version of each.

    Examples
    --------
    >>> yes = np.array([True, False])
    >>> flips(np.array([1, 0]), np.zeros(2, int), yes, ~yes).toward.tolist()
    [1.0]
    """
    count = int(application.max(initial=-1)) + 1
    sizes = np.stack([np.bincount(application[side], minlength=count) for side in (mine, theirs)])
    selected = np.stack(
        [np.bincount(application[side & (made > 0)], minlength=count) for side in (mine, theirs)]
    )
    both = np.flatnonzero((sizes > 0).all(axis=0))
    if not both.size:
        raise UndefinedMetricError("no application has a version in each of the two groups")
    (n, m), (a, b) = sizes[:, both], selected[:, both]
    pairs = n * m
    return Flips(
        toward=a * (m - b) / pairs, against=(n - a) * b / pairs, pairs=int(pairs.sum()), applications=both
    )


def decision_flip_share(
    decision: ArrayLike, application: ArrayLike, is_group: ArrayLike, is_reference: ArrayLike
) -> float:
    """Share of pairs of versions of one application, one of each group, that are decided differently.

    Parameters
    ----------
    decision : array_like, shape (n,)
        Who is selected: bool, 0 or 1.
    application : array_like, shape (n,)
        What each row is a version of.
    is_group, is_reference : array_like of bool, shape (n,)
        Versions of the two groups.

    Returns
    -------
    float
        In [0, 1]: the mean over applications that have a version of each, each application counted once.

    Raises
    ------
    InputError
        If lengths differ, an entry is neither 0 nor 1, or a row is in both groups.
    UndefinedMetricError
        If no application has a version of each.

    Examples
    --------
    >>> decision_flip_share([1, 0, 1, 1], ["x", "x", "y", "y"], [1, 0, 1, 0], [0, 1, 0, 1])
    0.5
    """
    decision, application, is_group, is_reference = same_rows(
        decision=decision, application=application, is_group=is_group, is_reference=is_reference
    )
    made = as_flags(decision, "decision")
    mine, theirs = (
        as_flags(mask, name, made.size)
        for mask, name in ((is_group, "is_group"), (is_reference, "is_reference"))
    )
    if (both := int(np.count_nonzero(mine & theirs))) > 0:
        raise InputError(f"{both} rows are in is_group and in is_reference")
    codes = as_codes(application, "application")[0]
    if codes.size != made.size or (codes < 0).any():
        raise InputError("application: one label a row is needed, none missing")
    found = flips(made, codes, mine, theirs)
    return float((found.toward + found.against).mean())
