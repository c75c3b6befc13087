"""Figures of a frame: its ratios with the guideline, and a forest of any other metric."""

from __future__ import annotations

from collections.abc import Sequence

from audit_lib.dataframe.figure import DrawnFigure
from audit_lib.dataframe.numbers import NumberRow
from audit_lib.documents.estimates import defined, limits
from audit_lib.errors import InputError, UndefinedMetricError
from audit_lib.figures import Dot, forest
from audit_lib.measure.metric import record_of
from audit_lib.policies import Policy
from audit_lib.registry import did_you_mean
from audit_lib.report.numbers import UNDEFINED, decimal, signed
from audit_lib.translation import t


def drawn(numbers: Sequence[NumberRow], metric: str | None, policy: Policy, title: str) -> DrawnFigure:
    """Draw all numbers of one metric with their intervals.

    Parameters
    ----------
    numbers : sequence of NumberRow
        All of a frame.
    metric : str or None
        Which; None for the first that has a value: impact ratios, where there are decisions.
    policy : Policy
        Whose guideline is drawn.
    title : str
        What was measured, for the heading.

    Raises
    ------
    InputError
        If nothing of this name was measured.
    UndefinedMetricError
        If none of it has a value; says why.
    """
    names = list(
        dict.fromkeys(one.estimate.metric for one in numbers if one.kind != "rate" or one.table is None)
    )
    names += [name for name in dict.fromkeys(one.estimate.metric for one in numbers) if name not in names]
    if metric is None:
        there = (
            one for one in names if any(n.estimate.metric == one and n.estimate.is_defined for n in numbers)
        )
        metric = next(there, names[0] if names else None)
    own = [one for one in numbers if one.estimate.metric == metric]
    if metric is None or not own:
        raise InputError(f"plot: {metric!r} was not measured{did_you_mean(str(metric), names)}")
    if not any(one.estimate.is_defined for one in own):
        raise UndefinedMetricError(f"{metric}: {next(iter(_reasons(own)))}")
    of_ratios = own[0].kind == "ratio"
    record = record_of(metric)
    groups: dict[str, list[Dot]] = {}
    for one in own:
        groups.setdefault(_heading(one), []).append(_dot(one, record.signed and one.kind == "gap"))
    parity = 1.0 if of_ratios else (record.parity or 0.0)
    span = None
    if of_ratios or own[0].kind == "rate":
        ends = [x for dots in groups.values() for dot in dots for x in (dot.value, dot.high) if x is not None]
        span = (0.0, min(2.0, max([1.2, *ends]))) if of_ratios else (0.0, max([*ends, 1e-6]) * 1.08)
    guide = (float(policy.guidance.threshold), f"{float(policy.guidance.threshold):g}") if of_ratios else None
    name = (
        t(record.title)
        if own[0].table is None or of_ratios
        else own[0].estimate.metric.replace("_", " ").capitalize()
    )
    wide, narrow = (
        forest(groups, title=f"{name}, {title}", parity=parity, span=span, guide=guide, width=width)
        for width in (760, 360)
    )
    return DrawnFigure(svg=wide, narrow=narrow)


def _heading(one: NumberRow) -> str:
    where = [f"{name}: {level}" for name, level in one.estimate.stratum.items()]
    return ", ".join([one.attribute, *where, *one.at])


def _dot(one: NumberRow, sign: bool) -> Dot:
    estimate, ends = one.estimate, limits(one.interval)
    value = defined(estimate.value)
    compared = one.kind == "gap" and one.against
    itself = one.kind == "ratio" and one.row is not None and one.row.label == one.against
    return Dot(
        label=t("{group} against {reference}", group=one.group, reference=one.against)
        if compared
        else one.group or t("all"),
        value=value,
        printed=t(UNDEFINED) if value is None else signed(value) if sign else decimal(value),
        low=None if value is None or ends is None else ends.low,
        high=None if value is None or ends is None else ends.high,
        hollow=itself,
    )


def _reasons(numbers: Sequence[NumberRow]) -> list[str]:
    return [one.estimate.value.reason for one in numbers if not isinstance(one.estimate.value, float)]
