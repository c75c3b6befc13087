"""The law by which each planned comparison has its verdict, whatever its metric.

In this order:

1. *undecided* where there is no number, or one of the two groups has fewer people than the policy and the spec ask for;
2. *below the line* where the test, adjusted for all tests of the audit, is below alpha, and the interval that is held
   against the margin of a ratio ends below it; *difference* where that test is below alpha, with what the same interval
   shows of its size: within the margin, beyond it, or neither. A number without a test against parity differs where its
   interval lies beyond the margin;
3. *uninterpretable* where nothing of this holds and the model did not tell the groups apart when asked: a failed
   manipulation check qualifies what finds no difference, and nothing else;
4. *equivalent* where the interval lies inside the margin (`audit_lib.measure.margins`);
5. *undecided* otherwise, with why.

What several metrics ask of the same two groups is made consistent in `audit_lib.measure.questions`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

from audit_lib.measure.margins import is_ratio, region
from audit_lib.results import HeldToMargin, Undefined, Verdict
from audit_lib.translation import mark

FEW: Final = mark(
    "one of the two groups has {n} people, fewer than the {least} that a finding has to rest on"
)
_NO_MARGIN: Final = mark(
    "no difference is found, and without a margin (measure.margins) none could be called too small to matter"
)
_NO_TEST: Final = mark("there is no test of this number, and no margin to hold it against (measure.margins)")
_UNDEFINED_TEST: Final = mark("the test of this number is undefined, so that no difference could be found")
_BEYOND: Final = mark(
    "too little data: the interval lies beyond the margin, and the test, adjusted for all tests, finds no difference"
)
_TOO_LITTLE: Final = mark("too little data: the interval is neither inside the margin nor beyond it")
_TIMES: Final = mark(
    "too little data: the interval is neither inside the margin nor beyond it; with at most about {times} times as "
    "many people it would leave out parity or the margin"
)
_BOUNDED: Final = mark(
    "groups are known as probabilities only, and what these allow is neither all beyond parity nor all inside a "
    "margin; more people narrow the interval to the bounds and no more"
)
_UNPERCEIVED: Final = mark(
    "the model did not tell these groups apart when asked, so that no difference found shows no equal treatment"
)
_MOST_TIMES: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All that a verdict depends on.

    Parameters
    ----------
    metric : str
        Of which kind the number is.
    value : float or Undefined
        The number.
    tested : bool
        Whether it has a test against parity.
    p : float or None
        Of that test, adjusted for all tests; None where it is undefined.
    held : HeldToMargin or None
        The interval that is held against the margin; None without a margin.
    fewest, least : int
        People of the smaller group, and how many there must be.
    told_apart : bool
        Whether the model told the groups apart when asked, or nobody asked.
    bounded : bool
        Whether there are bounds in place of a value, since the groups are known as probabilities only.
    """

    metric: str
    value: float | Undefined
    tested: bool
    p: float | None
    held: HeldToMargin | None
    fewest: int
    least: int
    told_apart: bool = True
    bounded: bool = False


def verdict_of(found: Evidence, alpha: float) -> Verdict:
    """Give the verdict on one planned comparison by the law above.

    Examples
    --------
    >>> from audit_lib.results import Interval
    >>> def said(p, low, high, told_apart=True):
    ...     held = HeldToMargin(margin=0.8, level=0.9, interval=Interval(low=low, high=high, method="-", level=0.9))
    ...     found = Evidence(metric="impact_ratio", value=0.9, tested=True, p=p, held=held, fewest=99, least=5,
    ...                      told_apart=told_apart)
    ...     return verdict_of(found, 0.05)
    >>> said(0.001, 0.4, 0.7).kind, said(0.001, 0.85, 0.95).size, said(0.3, 0.85, 1.0).kind
    ('below_the_line', 'within', 'equivalent')
    >>> said(0.3, 0.85, 1.0, told_apart=False).kind, said(0.001, 0.4, 0.9, told_apart=False).kind
    ('uninterpretable', 'difference')
    """
    if isinstance(found.value, Undefined) and not found.bounded:
        return Verdict(kind="undecided", reason=found.value.reason)
    if found.fewest < found.least:
        return Verdict(kind="undecided", reason=FEW.format(n=found.fewest, least=found.least))
    within, beyond, below = _place(found)
    if (found.p is not None and found.p < alpha) or (not found.tested and beyond):
        size: Literal["within", "beyond"] | None = "within" if within else "beyond" if beyond else None
        return Verdict(kind="below_the_line" if below else "difference", size=size)
    if not found.told_apart:
        return Verdict(kind="uninterpretable", reason=_UNPERCEIVED)
    if within:
        return Verdict(kind="equivalent")
    return Verdict(kind="undecided", reason=_why(found, beyond=beyond))


def _place(found: Evidence) -> tuple[bool, bool, bool]:
    """Tell whether the interval lies inside the margin, beyond it, and below that of a ratio."""
    if found.held is None or isinstance(found.held.interval, Undefined):
        return False, False, False
    low, high = region(found.metric, found.held.margin)
    own = found.held.interval
    within = low < own.low <= own.high < high
    return within, own.high < low or own.low > high, is_ratio(found.metric) and own.high < low


def _why(found: Evidence, *, beyond: bool) -> str:
    if found.tested and found.p is None:
        return _UNDEFINED_TEST
    if found.bounded:
        return _BOUNDED
    if found.held is None:
        return _NO_MARGIN if found.tested else _NO_TEST
    if isinstance(found.held.interval, Undefined):
        return found.held.interval.reason
    if beyond:
        return _BEYOND
    times = _times(found, found.held)
    return _TOO_LITTLE if times is None else _TIMES.format(times=times)


def _times(found: Evidence, held: HeldToMargin) -> int | None:
    """At most how many times as many people make the interval so short that it cannot hold both parity and the margin.

    Its length goes with the root of their number. That of a ratio is on the log scale, twice the way from the number to
    its lower limit: the upper one of a ratio to the highest rate is cut off at 1.
    """
    own, value = held.interval, found.value
    if isinstance(own, Undefined) or isinstance(value, Undefined):
        return None
    if is_ratio(found.metric):
        if min(own.low, value) <= 0:
            return None
        length, way = 2 * math.log(value / own.low), -math.log(held.margin)
    else:
        length, way = own.high - own.low, held.margin
    if not math.isfinite(length) or length <= way:
        return None
    times = math.ceil((length / way) ** 2)
    return times if 1 < times <= _MOST_TIMES else None
