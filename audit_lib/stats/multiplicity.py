"""Adjustment of p-values for the number of tests in the audit's whole family."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import InputError
from audit_lib.results import Undefined
from audit_lib.typed_json import as_json

__all__ = ["AdjustedPValues", "benjamini_hochberg", "holm"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjustedPValues:
    """P-values of a family of tests, adjusted for its size.

    Parameters
    ----------
    p_values : tuple of float or Undefined
        Adjusted, in the order given; compare each with alpha. Undefined ones stay as they were.
    family_size : int
        Number of tests that have a p-value.
    method : str
        Whose steps they were adjusted by. What that controls depends on the p-values: they have to hold for hypotheses
        that were fixed beforehand.
    """

    p_values: tuple[float | Undefined, ...]
    family_size: int
    method: str

    def as_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {f.name: as_json(getattr(self, f.name)) for f in fields(self)}


def holm(p_values: Sequence[float | Undefined], tables: Sequence[Hashable] | None = None) -> AdjustedPValues:
    r"""Control the probability of any false finding, whatever the dependence of the tests, where each p-value is valid.

    .. math:: \tilde p_{(i)} = \max_{j \le i} \min\{1, m_j p_{(j)}\}

    with :math:`m_j` the tests whose p-value is not below :math:`p_{(j)}`. P-values of one table hold together already,
    as those of :func:`audit_lib.stats.equal_rates` do: then it is the tables that still have such a test.

    Parameters
    ----------
    p_values : sequence of float or Undefined
        Of all tests of the family; an undefined one is not counted.
    tables : sequence of hashable, optional
        What each is part of; each test is alone unless it is given.

    Raises
    ------
    InputError
        If there is not one table a p-value, or one is no probability.

    Notes
    -----
    At the first false finding each table with a true hypothesis still has one, so these are at most :math:`m_j`; and
    that a table of theirs has a p-value of a true hypothesis below alpha over their number has at most that chance.

    References
    ----------
    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scand. J. Stat. 6,
    65-70.

    Examples
    --------
    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03, 0.005]).p_values]
    [0.03, 0.06, 0.06, 0.02]
    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03, 0.005], ["sex", "race", "race", "race"]).p_values]
    [0.02, 0.04, 0.03, 0.01]
    """

    def adjust(ordered: NDArray[np.float64], order: NDArray[np.intp]) -> NDArray[np.float64]:
        defined = [i for i, p in enumerate(p_values) if not isinstance(p, Undefined)]
        parts = [defined[place] if tables is None else tables[defined[place]] for place in order]
        last = {part: place for place, part in enumerate(parts)}  # where a table has nothing left to find
        ended = np.bincount(np.array(list(last.values())), minlength=len(parts))
        left = len(last) - np.concatenate([[0], np.cumsum(ended)[:-1]])
        return np.maximum.accumulate(ordered * left)

    if tables is not None and len(tables) != len(p_values):
        raise InputError(f"{len(tables)} tables for {len(p_values)} p-values; give one each")
    return _adjusted(p_values, adjust, "Holm")


def benjamini_hochberg(p_values: Sequence[float | Undefined]) -> AdjustedPValues:
    r"""Control the expected share of false findings among all findings, where each p-value is valid.

    .. math:: \tilde p_{(i)} = \min_{j \ge i} \min\{1, m p_{(j)} / j\}

    Holds for independent tests and for those with positive regression dependence; comparisons with
    one common comparator are of the latter kind when one-sided. Those of an audit (overlapping tables, metrics of one
    score) are shown to be neither, so no audit prints it.

    Parameters
    ----------
    p_values : sequence of float or Undefined
        Of all tests of the family; an undefined one is not counted.

    References
    ----------
    Benjamini, Y. & Hochberg, Y. (1995). Controlling the false discovery rate: a practical and
    powerful approach to multiple testing. JRSS B 57, 289-300.

    Examples
    --------
    >>> [round(p, 3) for p in benjamini_hochberg([0.01, 0.04, 0.03, 0.005]).p_values]
    [0.02, 0.04, 0.04, 0.02]
    """

    def adjust(ordered: NDArray[np.float64], order: NDArray[np.intp]) -> NDArray[np.float64]:
        scaled = ordered * ordered.size / np.arange(1, ordered.size + 1)
        return np.minimum.accumulate(scaled[::-1])[::-1]

    return _adjusted(p_values, adjust, "Benjamini-Hochberg")


def _adjusted(
    p_values: Sequence[float | Undefined],
    adjust: Callable[[NDArray[np.float64], NDArray[np.intp]], NDArray[np.float64]],
    method: str,
) -> AdjustedPValues:
    defined = [(i, float(p)) for i, p in enumerate(p_values) if not isinstance(p, Undefined)]
    for i, p in defined:
        if not 0.0 <= p <= 1.0:
            raise InputError(f"p-value {i} of the family is {p}; it must lie in [0, 1]")
    out: list[float | Undefined] = list(p_values)
    raw = np.array([p for _, p in defined])
    order = np.argsort(raw, kind="stable")
    if raw.size:
        adjusted = np.minimum(adjust(raw[order], order), 1.0)
        for rank, p in zip(order, adjusted, strict=True):
            out[defined[int(rank)][0]] = float(p)
    return AdjustedPValues(p_values=tuple(out), family_size=len(defined), method=method)
