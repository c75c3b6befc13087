"""Do decisions favour and err equally for all groups? Differences of their rate, and of the four error rates.

Source of the definitions: Bouchard, "An Actionable Framework for Assessing Bias and Fairness in Large
Language Model Use Cases" (2024), arXiv:2407.10853. Of both rates of the selected together: Hardt, Price and Srebro,
"Equality of Opportunity in Supervised Learning" (2016), arXiv:1610.02413 (equalised odds), and Bellamy et al., "AI
Fairness 360" (2018), arXiv:1810.01943 (their average).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.metrics._aligned import same_rows
from audit_lib.metrics._arrays import as_flags

RateGap = Callable[[ArrayLike, ArrayLike, ArrayLike, ArrayLike], float]


def false_negative_rate_gap(
    outcome: ArrayLike, decision: ArrayLike, is_group: ArrayLike, is_reference: ArrayLike
) -> float:
    """False negative rate of the group minus that of the reference: P(decision = 0 given outcome = 1).

    The error that matters where a decision helps: those who should have been helped and were not.

    Parameters
    ----------
    outcome, decision : array_like, shape (n,)
        True outcome and decision of each person: bool, 0 or 1. Series are put into one order by their index.
    is_group, is_reference : array_like of bool, shape (n,)
        Members of the two groups.

    Returns
    -------
    float
        In [-1, 1]; 0 at parity. The framework's difference is its absolute value.

    Raises
    ------
    InputError
        If lengths differ, an entry is neither 0 nor 1, a person is in both groups, or nothing says which row is
        which.
    UndefinedMetricError
        If a side has nobody with outcome 1.

    Notes
    -----
    The published code (LangFair) raises where a rate is exactly 0; a rate of 0 is a rate.

    Examples
    --------
    >>> false_negative_rate_gap([1, 1, 1, 1], [0, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1])
    0.5
    """
    y, d, is_group, is_reference = _decisions(outcome, decision, is_group, is_reference)
    return _rate_gap(~d, y, is_group, is_reference, "with outcome 1")


def false_omission_rate_gap(
    outcome: ArrayLike, decision: ArrayLike, is_group: ArrayLike, is_reference: ArrayLike
) -> float:
    """False omission rate of the group minus that of the reference: P(outcome = 1 given decision = 0).

    Parameters, returns and errors are those of `false_negative_rate_gap`; undefined if a side has nobody
    with decision 0.

    Parameters
    ----------
    outcome, decision, is_group, is_reference
        As in `false_negative_rate_gap`.

    Examples
    --------
    >>> false_omission_rate_gap([1, 0, 0, 0], [0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1])
    0.5
    """
    y, d, is_group, is_reference = _decisions(outcome, decision, is_group, is_reference)
    return _rate_gap(y, ~d, is_group, is_reference, "with decision 0")


def false_positive_rate_gap(
    outcome: ArrayLike, decision: ArrayLike, is_group: ArrayLike, is_reference: ArrayLike
) -> float:
    """False positive rate of the group minus that of the reference: P(decision = 1 given outcome = 0).

    The error that matters where a decision punishes. Parameters, returns and errors are those of
    `false_negative_rate_gap`; undefined if a side has nobody with outcome 0.

    Parameters
    ----------
    outcome, decision, is_group, is_reference
        As in `false_negative_rate_gap`.

    Examples
    --------
    >>> false_positive_rate_gap([0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1])
    0.5
    """
    y, d, is_group, is_reference = _decisions(outcome, decision, is_group, is_reference)
    return _rate_gap(d, ~y, is_group, is_reference, "with outcome 0")


def false_discovery_rate_gap(
    outcome: ArrayLike, decision: ArrayLike, is_group: ArrayLike, is_reference: ArrayLike
) -> float:
    """False discovery rate of the group minus that of the reference: P(outcome = 0 given decision = 1).

    Parameters, returns and errors are those of `false_negative_rate_gap`; undefined if a side has nobody
    with decision 1.

    Parameters
    ----------
    outcome, decision, is_group, is_reference
        As in `false_negative_rate_gap`.

    Examples
    --------
    >>> false_discovery_rate_gap([0, 1, 1, 1], [1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1])
    0.5
    """
    y, d, is_group, is_reference = _decisions(outcome, decision, is_group, is_reference)
    return _rate_gap(~y, d, is_group, is_reference, "with decision 1")


def decision_rate_gap(
    outcome: ArrayLike, decision: ArrayLike, is_group: ArrayLike, is_reference: ArrayLike
) -> float:
    """Demographic parity of a classifier: P(decision = 1) of the group minus that of the reference.

    Parameters, returns and errors are those of `false_negative_rate_gap`. The outcome enters only by its length, so
    that all five gaps are called in one way; undefined if a side has nobody. `demographic_parity_gap` is the same
    number from the selected of each side; of a ranking it is taken at a quota.

    Parameters
    ----------
    outcome, decision, is_group, is_reference
        As in `false_negative_rate_gap`.

    Examples
    --------
    >>> decision_rate_gap([0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1])
    0.5
    """
    y, d, is_group, is_reference = _decisions(outcome, decision, is_group, is_reference)
    return _rate_gap(d, np.ones_like(y), is_group, is_reference, "with a decision")


def average_odds_gap(
    outcome: ArrayLike, decision: ArrayLike, is_group: ArrayLike, is_reference: ArrayLike
) -> float:
    """Mean of the gaps of the true and of the false positive rate, the group minus the reference.

    Parameters
    ----------
    outcome, decision : array_like, shape (n,)
        True outcome and decision of each person: bool, 0 or 1.
    is_group, is_reference : array_like of bool, shape (n,)
        Members of the two groups.

    Returns
    -------
    float
        In [-1, 1]; 0 at parity, and also where the two gaps cancel: `equalised_odds_gap` does not.

    Raises
    ------
    InputError
        If lengths differ or an entry is neither 0 nor 1.
    UndefinedMetricError
        If a side has nobody with outcome 1, or nobody with outcome 0.

    Examples
    --------
    >>> outcome, decision = [1, 1, 0, 0, 1, 1, 0, 0], [1, 0, 1, 0, 1, 1, 1, 0]
    >>> average_odds_gap(outcome, decision, [1] * 4 + [0] * 4, [0] * 4 + [1] * 4)
    -0.25
    """
    true_positive, false_positive = _odds_gaps(outcome, decision, is_group, is_reference)
    return (true_positive + false_positive) / 2


def equalised_odds_gap(
    outcome: ArrayLike, decision: ArrayLike, is_group: ArrayLike, is_reference: ArrayLike
) -> float:
    """Larger of the sizes of the gaps of the true and of the false positive rate.

    Parameters
    ----------
    outcome, decision, is_group, is_reference
        As in `average_odds_gap`, and so are the errors.

    Returns
    -------
    float
        In [0, 1]; 0 where both rates are equal. It has no direction.

    Examples
    --------
    >>> outcome, decision = [1, 1, 0, 0, 1, 1, 0, 0], [1, 0, 1, 1, 1, 1, 1, 0]
    >>> equalised_odds_gap(outcome, decision, [1] * 4 + [0] * 4, [0] * 4 + [1] * 4)
    0.5
    """
    return max(map(abs, _odds_gaps(outcome, decision, is_group, is_reference)))


def _odds_gaps(
    outcome: ArrayLike, decision: ArrayLike, is_group: ArrayLike, is_reference: ArrayLike
) -> tuple[float, float]:
    """Return the gaps of the true and of the false positive rate."""
    y, d, group, reference = _decisions(outcome, decision, is_group, is_reference)
    return (
        _rate_gap(d, y, group, reference, "with outcome 1"),
        _rate_gap(d, ~y, group, reference, "with outcome 0"),
    )


def _decisions(
    outcome: ArrayLike, decision: ArrayLike, is_group: ArrayLike, is_reference: ArrayLike
) -> tuple[NDArray[np.bool_], ...]:
    """Return all four as booleans, row by row of the same people."""
    outcome, decision, is_group, is_reference = same_rows(
        outcome=outcome, decision=decision, is_group=is_group, is_reference=is_reference
    )
    y = as_flags(outcome, "outcome")
    masks = {"decision": decision, "is_group": is_group, "is_reference": is_reference}
    d, group, reference = (as_flags(mask, name, y.size) for name, mask in masks.items())
    if (both := int(np.count_nonzero(group & reference))) > 0:
        raise InputError(
            f"{both} people are in is_group and in is_reference; a group is compared with people outside it, such as "
            "~is_group"
        )
    return y, d, group, reference


def _rate_gap(
    event: NDArray[np.bool_],
    condition: NDArray[np.bool_],
    is_group: NDArray[np.bool_],
    is_reference: NDArray[np.bool_],
    among: str,
) -> float:
    rates = []
    for name, mask in (("group", is_group), ("reference", is_reference)):
        members = mask & condition
        n = int(np.count_nonzero(members))
        if n == 0:
            raise UndefinedMetricError(f"{name}: nobody {among}")
        rates.append(int(np.count_nonzero(event & members)) / n)
    return rates[0] - rates[1]
