"""How an estimate is printed and drawn, wherever it stands: in the report of one run, or beside those of others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Final

from audit_lib.documents.estimates import defined, limits
from audit_lib.documents.metrics import LeakageEstimate
from audit_lib.documents.parameters import REPEATS
from audit_lib.figures import Dot, forest
from audit_lib.records import CHECK, CONTROL, FORMAT
from audit_lib.report.blocks import Block, Chart, Tone
from audit_lib.report.exact_tables import group_in_words
from audit_lib.report.numbers import UNDEFINED, count, decimal, interval, signed
from audit_lib.results import Estimate, Undefined
from audit_lib.translation import Filled, archived, mark, t

_KINDS: Final = {
    CONTROL: mark("control"),
    FORMAT.removesuffix(":"): mark("format"),
    CHECK.removesuffix(":"): mark("check"),
    REPEATS: mark("repeats"),
    "prompt": mark("prompt"),
    "task": mark("task"),
}
"""Kinds of what is asked otherwise, as they are printed."""


def variation_in_words(name: str) -> str:
    """Return how a variation is printed.

    Examples
    --------
    >>> variation_in_words("none"), variation_in_words("task:resume_only")
    ('as asked', 'task: resume only')
    """
    if name == "none":
        return t("as asked")
    kind, _, own = name.partition(":")
    # The kinds are this library's words; the name after one is the spec's.
    return Filled(": ").join(
        [t(_KINDS.get(kind, kind.replace("_", " "))), *([own.replace("_", " ")] if own else [])]
    )


def dot_of(e: Estimate, *, sign: bool = True, label: str | None = None) -> Dot:
    """Make the row of a forest plot; its inner interval is the estimate's last further one."""
    value, ends = defined(e.value), limits(e.interval)
    inner = None
    for one in e.intervals:
        if isfinite(one.low) and isfinite(one.high):
            inner = (one.low, one.high)
    undefined = value is None
    return Dot(
        label=against(e) if label is None else label,
        value=value,
        printed=value_of(e, sign=sign),
        low=None if undefined or ends is None else ends.low,
        high=None if undefined or ends is None else ends.high,
        hollow="within_noise" in e.flags,
        inner=None if undefined else inner,
    )


def scale_of(dots: Iterable[Dot], parity: float) -> tuple[float, float]:
    """Return the ends of a scale that holds what is finite: even about 0, or from 0 to at most 4 for ratios."""
    ends = [x for d in dots for x in (d.value, d.low, d.high) if x is not None and isfinite(x)]
    if parity == 1.0:
        return 0.0, min(max(2.0, *ends, 0.0), 4.0)
    reach = max(*(abs(x) for x in ends), 1e-6, 1e-6) * 1.08
    return -reach, reach


def forest_chart(
    title: str,
    groups: Mapping[str, Sequence[Dot]],
    parity: float,
    caption: str,
    span: tuple[float, float] | None = None,
) -> Iterable[Block]:
    """Draw groups of rows over one scale, their own unless `span` gives one; or nothing without a value."""
    dots = [dot for own in groups.values() for dot in own]
    if not any(dot.value is not None for dot in dots):
        return
    span = span or scale_of(dots, parity)
    wide, narrow = (forest(groups, title=title, parity=parity, span=span, width=w) for w in (760, 360))
    hollow = any(dot.hollow for dot in dots)
    more = [t("Open marks are inside the noise floor.")] if hollow else []
    yield Chart(wide, narrow, Filled(" ").join([caption, *more]))


def against(e: Estimate) -> str:
    """Say which group is compared with which."""
    group, reference = group_in_words(e.group), group_in_words(e.reference)
    if reference:
        return t("{group} against {reference}", group=group, reference=reference)
    return group or t("not computed")


def value_of(e: Estimate | LeakageEstimate, *, sign: bool = True) -> str:
    """Print the value, or the bounds where there is none."""
    if isinstance(e, Estimate) and e.imputed is not None:
        return interval(*e.imputed.bounds, 3, sign=sign and bool(e.reference))
    return signed(e.value) if sign else decimal(e.value)


def limits_of(e: Estimate | LeakageEstimate, *, sign: bool = True) -> str:
    """Print the interval."""
    ends = limits(e.interval)
    return t(UNDEFINED) if ends is None else interval(ends.low, ends.high, 3, sign=sign)


def count_of(value: object) -> str:
    """Print a count; a hidden one, or none, is a dash."""
    return count(value) if isinstance(value, int) else "\N{EN DASH}"


def mark_of(e: Estimate) -> str:
    """Say what people must see beside an effect."""
    named = t("not named as meant") if "unperceived" in e.flags and e.metric == "standardised_effect" else ""
    null = t("uninterpretable") if "uninterpretable" in e.flags else ""
    return Filled(", ").join(
        filter(None, [null, named, t("inside the noise floor") if "within_noise" in e.flags else ""])
    )


def tone_of(e: Estimate) -> Tone:
    """Muted where an effect says nothing: a null of groups that were not told apart, or what noise alone gives."""
    return "muted" if {"uninterpretable", "within_noise"} & {*e.flags} else "plain"


def reason_of(e: Estimate | LeakageEstimate) -> str:
    """Say why there is no value, if there is none."""
    return archived(e.value.reason) if isinstance(e.value, Undefined) else ""


def remarks_of(estimates: Iterable[Estimate]) -> tuple[str, ...]:
    """Say, each thing once, why nulls among these cannot be read; a mark at each says of which."""
    return tuple(archived(words) for words in dict.fromkeys(e.remark for e in estimates) if words is not None)
