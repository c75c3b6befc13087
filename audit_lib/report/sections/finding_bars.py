"""The bars of the verdict's findings: numbers of one metric have one scale."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from audit_lib.documents.estimates import defined, limits
from audit_lib.figures import Dot
from audit_lib.measure.metric import record_of
from audit_lib.report.content import Content
from audit_lib.report.finding_bar import finding_bar
from audit_lib.report.findings import EstimateFinding, Finding, RatioFinding
from audit_lib.report.leading import convincing, picked
from audit_lib.report.numbers import guarded
from audit_lib.report.sections.estimates import against, dot_of, scale_of
from audit_lib.report.table_names import category_name
from audit_lib.translation import t

_RATIO_SPAN: Final = (0.0, 1.25)


def finding_bars(content: Content, printed: Iterable[Finding]) -> dict[int, str]:
    """Draw the bar of each finding; numbers of one metric have one scale."""
    found = list(printed)
    by_metric: dict[str, list[float]] = {}
    for one in found:
        if isinstance(one, EstimateFinding):
            ends = limits(one.estimate.interval)
            numbers = [defined(one.estimate.value), *(() if ends is None else (ends.low, ends.high))]
            by_metric.setdefault(one.estimate.metric, []).extend(x for x in numbers if x is not None)
    return {id(one): _bar(content, one, by_metric) for one in found}


def _bar(content: Content, finding: Finding, by_metric: Mapping[str, list[float]]) -> str:
    threshold = content.policy.guidance.threshold
    if isinstance(finding, RatioFinding):
        row, ends = finding.row, picked(finding.row)
        name = category_name(row.label)
        dot = Dot(
            label=name,
            value=float(finding.ratio),
            low=None if ends is None else ends.low,
            high=None if ends is None else ends.high,
            printed=guarded(finding.ratio, content.policy.rounding.ratio, threshold),
            flagged=finding.standing == "shown" and convincing(content, finding.table, row),
        )
        title = t("Impact ratio of {category}", category=name)
        return finding_bar(title, dot, span=_RATIO_SPAN, origin=1.0, guide=float(threshold))
    if not isinstance(finding, EstimateFinding):
        return ""
    e = finding.estimate
    record = record_of(e.metric)
    if record.parity is None or defined(e.value) is None:
        return ""
    parity = record.parity
    reach = max((abs(x - parity) for x in by_metric[e.metric] if abs(x) != float("inf")), default=0.0) * 1.08
    span = scale_of((), parity) if not reach else (parity - reach, parity + reach)
    return finding_bar(
        f"{t(record.title)}, {against(e)}", dot_of(e, sign=record.signed), span=span, origin=parity
    )
