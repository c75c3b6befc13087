"""How much a number changed between two runs, and whether both intervals explain it."""

from __future__ import annotations

import math
from typing import cast

from audit_lib.documents.drift import EstimateChange
from audit_lib.results import Estimate, Interval, Undefined

METHOD = "MOVER from both intervals, the runs taken as independent"


def change_interval(
    previous: float, previous_limits: tuple[float, float], current: float, current_limits: tuple[float, float]
) -> tuple[float, float]:
    r"""Confidence limits of the change of a number between two independent runs.

    .. math::

        L = (c - p) - \sqrt{(c - l_c)^2 + (u_p - p)^2}, \qquad
        U = (c - p) + \sqrt{(u_c - c)^2 + (p - l_p)^2}

    (method of variance estimates recovery). It keeps the asymmetry of the intervals; from two Wilson
    intervals it is Newcombe's hybrid score interval, from two symmetric ones the usual
    :math:`d \pm z \sqrt{s_p^2 + s_c^2}`. Where both runs saw the same prompts their errors rise and fall
    together, and the limits are wider than they need be: a change is then shown less readily.

    Parameters
    ----------
    previous, current : float
        Estimates :math:`p` and :math:`c`, in the same unit.
    previous_limits, current_limits : tuple of float
        Their limits, low first, at one level; may be infinite.

    Returns
    -------
    tuple of float
        Low and high limit of the change, at that level.

    References
    ----------
    Zou and Donner (2008), Construction of confidence intervals about effect measures: a general
    approach. Statistics in Medicine 27, 1693-1702.

    Examples
    --------
    Newcombe (1998), 48 of 80 and then 56 of 70, from their Wilson intervals:

    >>> low, high = change_interval(48 / 80, (0.4904, 0.7003), 56 / 70, (0.6918, 0.8773))
    >>> round(low, 3), round(high, 3)
    (0.052, 0.334)
    """

    def room(inner: float, outer: float) -> float:
        return max(outer - inner, 0.0)

    change = current - previous
    below = math.hypot(room(current_limits[0], current), room(previous, previous_limits[1]))
    above = math.hypot(room(current, current_limits[1]), room(previous_limits[0], previous))
    return change - below, change + above


def compare_estimates(previous: Estimate, current: Estimate) -> EstimateChange:
    """Compare two estimates of one number; the change is current minus previous."""
    change, interval = _change(previous, current)
    return EstimateChange(
        previous=previous.value,
        current=current.value,
        change=change,
        interval=interval,
        exceeds=None if isinstance(interval, Undefined) else not interval.low <= 0 <= interval.high,
        n_previous=previous.n,
        n_current=current.n,
    )


def _change(previous: Estimate, current: Estimate) -> tuple[float | Undefined, Interval | Undefined]:
    for name, value in (("previous", previous.value), ("current", current.value)):
        if isinstance(value, Undefined):
            missing = Undefined(f"{name} run: {value.reason}")
            return missing, missing
    before, now = (float(cast(float, one.value)) for one in (previous, current))
    change = now - before
    if previous.parameters.get("comparator") != current.parameters.get("comparator"):
        return change, Undefined("the runs compare with different groups")
    first, second = previous.interval, current.interval
    if isinstance(first, Undefined):
        return change, Undefined(f"no interval in the previous run: {first.reason}")
    if isinstance(second, Undefined):
        return change, Undefined(f"no interval in the current run: {second.reason}")
    if (first.level, first.kind) != (second.level, second.kind):
        return change, Undefined("the runs give intervals of another level or kind")
    low, high = change_interval(before, (first.low, first.high), now, (second.low, second.high))
    return change, Interval(low=low, high=high, method=METHOD, level=first.level, kind=first.kind)
