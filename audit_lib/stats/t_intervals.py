"""The interval of an estimate that is divided by its own standard error."""

from __future__ import annotations

from audit_lib.results import Interval
from audit_lib.stats._checks import t_quantile

__all__ = ["t_interval"]


def t_interval(
    estimate: float, standard_error: float, df: float, level: float = 0.95, method: str = ""
) -> Interval:
    r"""Interval :math:`\hat\theta \pm t_{df} \cdot se`; the one that goes with `t_test`.

    Parameters
    ----------
    estimate, standard_error : float
        On one scale.
    df : float
        Degrees of freedom.
    level : float
        Nominal coverage.
    method : str
        Where the standard error comes from.

    Examples
    --------
    >>> interval = t_interval(2.0, 0.8, df=30, method="cluster-robust")
    >>> round(interval.low, 3), round(interval.high, 3), interval.method
    (0.366, 3.634, 'cluster-robust, t(30)')
    """
    half = t_quantile(level, df) * standard_error
    return Interval(
        low=estimate - half, high=estimate + half, level=level, method=f"{method}, t({df:.4g})".lstrip(", ")
    )
