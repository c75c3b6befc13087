"""Adjustment of p-values for the number of tests in the audit's whole family."""

from __future__ import annotations

from collections import Counter
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


def holm(
    p_values: Sequence[float | Undefined],
    tables: Sequence[Hashable] | None = None,
    families: Sequence[Hashable] | None = None,
) -> AdjustedPValues:
    r"""Control the probability of any false finding, whatever the dependence of the tests, where each p-value is valid.

    .. math:: \tilde p_{(i)} = \max_{j \le i} \min\{1, m_j p_{(j)}\}

    with :math:`m_j` the tests whose p-value is not below :math:`p_{(j)}`. P-values of one table hold together already,
    as those of :func:`audit_lib.stats.equal_rates` do: then it is the tables that still have such a test. Families
    share the error equally, and each shares its part among its tables: with a weight :math:`w` of each table, tests are
    taken in the order of :math:`p / w`, and :math:`m_j p` is :math:`p / w` times the weights of the tables that have a
    test left. What a family no longer needs goes to the others.

    Parameters
    ----------
    p_values : sequence of float or Undefined
        Of all tests of the family; an undefined one is not counted.
    tables : sequence of hashable, optional
        What each is part of; each test is alone unless it is given.
    families : sequence of hashable, optional
        Which family each is of; all are one unless it is given. A table is of one family.

    Raises
    ------
    InputError
        If there is not one table and one family a p-value, or one is no probability.

    Notes
    -----
    At the first false finding each table with a true hypothesis still has one, so these are at most :math:`m_j`; and
    that a table of theirs has a p-value of a true hypothesis below alpha over their number has at most that chance.
    With weights the same holds of a table's share of the weights that are left.

    References
    ----------
    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scand. J. Stat. 6,
    65-70. Bretz, F., Maurer, W., Brannath, W. & Posch, M. (2009). A graphical approach to sequentially rejective
    multiple test procedures. Stat. Med. 28, 586-604.

    Examples
    --------
    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03, 0.005]).p_values]
    [0.03, 0.06, 0.06, 0.02]
    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03, 0.005], ["sex", "race", "race", "race"]).p_values]
    [0.02, 0.04, 0.03, 0.01]

    One table, and three tests that share the other half of the error:

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03, 0.005], families=["law", "rest", "rest", "rest"]).p_values]
    [0.02, 0.06, 0.06, 0.02]
    """
    for words, given in (("tables", tables), ("families", families)):
        if given is not None and len(given) != len(p_values):
            raise InputError(f"{len(given)} {words} for {len(p_values)} p-values; give one each")
    defined = [i for i, p in enumerate(p_values) if not isinstance(p, Undefined)]
    table_of = {i: i if tables is None else tables[i] for i in defined}
    family_of = {table_of[i]: None if families is None else families[i] for i in defined}
    sizes = Counter(family_of.values())
    # Divided by the least, so that a family alone has weights of exactly 1.
    weight = {table: min(sizes.values()) / sizes[family] for table, family in family_of.items()}

    def adjust(p: NDArray[np.float64]) -> NDArray[np.float64]:
        own = np.array([weight[table_of[i]] for i in defined])
        order = np.argsort(p / own, kind="stable")
        last = {table_of[defined[place]]: rank for rank, place in enumerate(order)}
        ended = np.zeros(p.size)  # the weight of tables that have nothing left to find
        for table, rank in last.items():
            ended[rank] += weight[table]
        left = np.cumsum(ended[::-1])[::-1]
        found = np.empty(p.size)
        found[order] = np.maximum.accumulate((p / own)[order] * left)
        return found

    return _adjusted(p_values, adjust, "Holm" if len(sizes) < 2 else "Holm, weighted by family")


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

    def adjust(p: NDArray[np.float64]) -> NDArray[np.float64]:
        order = np.argsort(p, kind="stable")
        scaled = p[order] * p.size / np.arange(1, p.size + 1)
        found = np.empty(p.size)
        found[order] = np.minimum.accumulate(scaled[::-1])[::-1]
        return found

    return _adjusted(p_values, adjust, "Benjamini-Hochberg")


def _adjusted(
    p_values: Sequence[float | Undefined],
    adjust: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    method: str,
) -> AdjustedPValues:
    defined = [(i, float(p)) for i, p in enumerate(p_values) if not isinstance(p, Undefined)]
    for i, p in defined:
        if not 0.0 <= p <= 1.0:
            raise InputError(f"p-value {i} of the family is {p}; it must lie in [0, 1]")
    out: list[float | Undefined] = list(p_values)
    if defined:
        adjusted = np.minimum(adjust(np.array([p for _, p in defined])), 1.0)
        for (i, _), p in zip(defined, adjusted.tolist(), strict=True):
            out[i] = p
    return AdjustedPValues(p_values=tuple(out), family_size=len(defined), method=method)
