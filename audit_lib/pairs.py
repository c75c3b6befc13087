"""What the two answers about a pair are worth: each pair is asked in both orders.

The rule is that of Chen, Ji and Evans, arXiv:2408.01285. Scoring and measuring both read it here.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit_lib.errors import InputError

ANSWERS: Final = ("first", "second", "tie", "unparsed")
"""An answer names the candidate shown first, or second, or calls both equally good, or cannot be read."""
FIRST, SECOND, TIE, UNPARSED = range(4)


def pair_points(one_shown_first: ArrayLike, other_shown_first: ArrayLike) -> NDArray[np.float64]:
    """Points of one candidate of each pair; the other gets what is left of 1.

    Parameters
    ----------
    one_shown_first, other_shown_first : array_like of int
        Codes of the answer (places in ``ANSWERS``) with this candidate shown first, and with the other.

    Returns
    -------
    ndarray of float
        Named in both orders 1, in one of them and the other candidate in the other 0.5, and 0.25 for each order
        whose answer is a tie. An answer that cannot be read counts as a tie, since it favours nobody.

    Raises
    ------
    InputError
        If a code is not one of an answer.

    Examples
    --------
    >>> pair_points([FIRST, FIRST, TIE, FIRST], [SECOND, FIRST, TIE, UNPARSED]).tolist()
    [1.0, 0.5, 0.5, 0.75]
    """
    # Quarter points are exact in floats: a win in one order is worth two, a tie or no answer one.
    worth = np.array([2.0, 0.0, 1.0, 1.0])
    one, other = _codes(one_shown_first), _codes(other_shown_first)
    return np.asarray((worth[one] + worth[mirrored(other)]) / 4)


def mirrored(answer: NDArray[Any]) -> NDArray[np.int64]:
    """Say answers from the side of the candidate shown second.

    Examples
    --------
    >>> mirrored(np.array([FIRST, TIE])).tolist()
    [1, 2]
    """
    return np.asarray(np.array([SECOND, FIRST, TIE, UNPARSED])[answer])


def _codes(answers: ArrayLike) -> NDArray[Any]:
    codes = np.asarray(answers)
    if codes.size and (codes.dtype.kind not in "iu" or codes.min() < 0 or codes.max() >= len(ANSWERS)):
        raise InputError(f"answers: expected codes 0 to {len(ANSWERS) - 1}, the places in ANSWERS")
    return codes.astype(np.int64, copy=False)
