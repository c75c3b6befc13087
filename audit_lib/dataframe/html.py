"""A frame as a notebook shows it: one piece of HTML without script, every text of the table escaped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import groupby
from typing import Final

from audit_lib.dataframe.figure import DrawnFigure
from audit_lib.dataframe.numbers import NumberRow
from audit_lib.documents.estimates import adjusted_p, limits
from audit_lib.documents.metrics import Metrics, Missingness
from audit_lib.measure.metric import record_of
from audit_lib.policies import Policy
from audit_lib.report.exact_tables import ExactRow, ExactTable, read_table
from audit_lib.report.html import readable
from audit_lib.report.method_words import method_words
from audit_lib.report.numbers import count, decimal, guarded, interval, p_or_dash, percent, signed
from audit_lib.results import Undefined
from audit_lib.translation import archived, t

_MOST_ROWS: Final = 40
_DASH: Final = "\N{EN DASH}"
_STYLE: Final = """\
.audit-frame { font-family: system-ui, sans-serif; font-size: 14px; line-height: 1.45; color-scheme: light dark; background: Canvas; color: CanvasText; padding: .25rem .5rem }
.audit-frame .scroll { overflow-x: auto; margin: 0 0 .75rem }
.audit-frame .scroll:focus-visible { outline: 2px solid currentColor }
.audit-frame table { border-collapse: collapse; margin: 0 }
.audit-frame .caption { font-weight: 600; margin: .9rem 0 .2rem }
.audit-frame th, .audit-frame td { padding: .2rem .5rem; text-align: right; vertical-align: top; white-space: nowrap; border-bottom: 1px solid color-mix(in srgb, CanvasText 25%, Canvas); background: Canvas; color: CanvasText }
.audit-frame thead th { font-weight: 600; vertical-align: bottom }
.audit-frame th[scope=row], .audit-frame thead th:first-child, .audit-frame .words { text-align: left; font-weight: 400 }
.audit-frame .words { white-space: normal; min-width: 10rem }
.audit-frame p, .audit-frame ul { margin: .4rem 0 }
.audit-frame summary { cursor: pointer }
"""  # noqa: E501


def page(
    metrics: Metrics,
    numbers: Sequence[NumberRow],
    policy: Policy,
    notes: Sequence[str],
    figure: DrawnFigure | None,
) -> str:
    """Return the piece of HTML."""
    whole = [one for one in numbers if not one.estimate.stratum]
    parts = [
        f"<style>{_STYLE}</style>",
        *(f"<p>{_said(archived(words))}</p>" for words in [_head(metrics), *notes]),
    ]
    parts += _ratio_tables(metrics, whole, policy)
    if figure is not None:
        parts += [f"<p>{figure._repr_html_()}</p>", f"<p>{_said(_reading(policy))}</p>"]
    parts += _estimate_tables(metrics, whole)
    for names, inside in groupby(
        (one for one in numbers if one.estimate.stratum), key=lambda one: tuple(one.estimate.stratum)
    ):
        own = list(inside)
        more = [*_ratio_tables(metrics, own, policy), *_estimate_tables(metrics, own)]
        parts.append(_folded(t("In each value of {columns}", columns=", ".join(names)), "".join(more)))
    parts += [_missing_table(metrics.missingness), _methods(metrics, numbers)]
    return readable(f'<div class="audit-frame">{"".join(parts)}</div>')


def _ratio_tables(metrics: Metrics, numbers: Sequence[NumberRow], policy: Policy) -> Iterator[str]:
    ratios = [one for one in numbers if one.kind == "ratio"]
    for table in metrics.tables:
        if own := [one for one in ratios if one.table is table]:
            yield _ratio_table(read_table(table, policy), own, policy, metrics.multiplicity.alpha)


def _estimate_tables(metrics: Metrics, numbers: Sequence[NumberRow]) -> Iterator[str]:
    others = [one for one in numbers if one.table is None]
    for metric, group in groupby(others, key=lambda one: one.estimate.metric):
        yield _estimate_table(metric, list(group), metrics.multiplicity.alpha)


def _folded(name: str, content: str) -> str:
    return f"<details><summary>{_said(name)}</summary>{content}</details>"


def _head(metrics: Metrics) -> str:
    rows, family = metrics.rows, metrics.multiplicity
    return t(
        "{rows} rows, {unknown} of unknown group. {tests} tests: {findings} below {alpha:g} after Holm's adjustment.",
        rows=count(rows.total),
        unknown=count(rows.unknown_group),
        tests=count(family.family_size),
        findings=count(family.findings.holm),
        alpha=family.alpha,
    )


def _reading(policy: Policy) -> str:
    return t(
        "Bars are intervals that allow for the highest rate having been picked by the data; open: that group. Dashed: "
        "the {guideline} of {cite}.",
        guideline=t(policy.guidance.name),
        cite=policy.guidance.cite,
    )


def _ratio_table(table: ExactTable, own: Sequence[NumberRow], policy: Policy, alpha: float) -> str:
    where = "".join(f", {name}: {level}" for name, level in table.stratum.items())
    kind, ends = policy.table(table.kind), _interval_head(own)
    unknown = t("{n} of unknown group are in no row", n=count(table.unknown)) if table.unknown else ""
    lines = [
        _ratio_line(number, row, table, policy, alpha) for number, row in zip(own, table.rows, strict=True)
    ]
    heads = [
        t("Group"),
        "n",
        t(kind.count),
        t(kind.rate),
        f"{ends}, %",
        t("Impact ratio"),
        ends,
        "p (Holm)",
        t("Verdict"),
    ]
    caption = (
        f"{t(kind.title)}, {own[0].attribute if own else table.family}{where}{unknown and '; '}{unknown}"
    )
    return _table(caption, heads, lines[:_MOST_ROWS], len(lines))


def _ratio_line(
    number: NumberRow, row: ExactRow, table: ExactTable, policy: Policy, alpha: float
) -> list[str]:
    digits, line = policy.rounding, policy.guidance.threshold
    rate, ratio = row.rate, row.ratio
    of_rate = None if number.row is None else limits(number.row.rate.interval)
    of_ratio = limits(number.interval)
    return [
        number.group,
        count(row.n),
        count(row.selected),
        _undefined(rate) if isinstance(rate, Undefined) else percent(rate, digits.rate_percent),
        _DASH if of_rate is None else interval(100 * of_rate.low, 100 * of_rate.high, 1),
        _undefined(ratio) if isinstance(ratio, Undefined) else guarded(ratio, digits.ratio, line),
        _DASH if of_ratio is None else interval(of_ratio.low, of_ratio.high, 3, line),
        p_or_dash(adjusted_p(number.estimate), alpha),
        number.verdict or (t("highest rate") if row.label == table.comparator else _DASH),
    ]


def _estimate_table(metric: str, own: Sequence[NumberRow], alpha: float) -> str:
    record = record_of(metric)
    said = signed if record.signed else decimal
    lines = []
    for number in own[:_MOST_ROWS]:
        one = number.estimate
        where = [f"{name}: {level}" for name, level in one.stratum.items()]
        who = (
            t("{group} against {reference}", group=number.group, reference=number.against)
            if number.against
            else number.group or t("all")
        )
        none = _undefined(one.value) if isinstance(one.value, Undefined) else None
        why = one.interval.reason if isinstance(one.interval, Undefined) and none is None else None
        lines.append(
            [
                ", ".join([who, *where, *number.at]), count(one.n), none or said(one.value),
                t("none: {reason}", reason=archived(why)) if why else _limits(number, sign=record.signed),
                p_or_dash(adjusted_p(one), alpha),
                number.verdict or _DASH,
            ]
        )  # fmt: skip
    unit = t("{title}, in {unit}", title=t(record.title), unit=t(record.unit))
    title = unit if record.unit not in ("", "index", "score") else t(record.title)
    heads = [
        t("Groups"),
        "n",
        t(record.title),
        _interval_head(own),
        "p (Holm)",
        t("Verdict"),
    ]
    others = any(n.estimate.these_names for n in own)
    scope = t("intervals are for other names like those shown") if others else ""
    inside = "".join(f", {t('in each value of {columns}', columns=name)}" for name in own[0].estimate.stratum)
    return _table(f"{title}{inside}{scope and '; '}{scope}", heads, lines, len(own))


def _interval_head(own: Sequence[NumberRow]) -> str:
    level = next((one.level for number in own if (one := limits(number.interval)) is not None), None)
    return t("Interval") if level is None else t("{level:%} interval", level=level)


def _limits(number: NumberRow, *, sign: bool) -> str:
    ends = limits(number.interval)
    return _DASH if ends is None else interval(ends.low, ends.high, 3, sign=sign)


def _missing_table(found: Sequence[Missingness]) -> str:
    lines = [
        [
            t("unknown group") if one.group is None else ", ".join(one.group.values()),
            count(one.n), count(one.n - one.ok - one.unranked - one.decided_without_score),
            count(one.decided_without_score),
        ]
        for one in found
        if one.n or one.group is not None
    ]  # fmt: skip
    heads = [t("Group"), t("Rows"), t("Without an answer"), t("Decision without a score")]
    return _folded(t("Rows by group"), _table(t("Rows by group"), heads, lines[:_MOST_ROWS], len(lines)))


def _methods(metrics: Metrics, numbers: Sequence[NumberRow]) -> str:
    said = dict.fromkeys(
        f"{one.estimate.metric}: {method_words(one.estimate.method, '' if ends is None else ends.method)}"
        for one in numbers
        if (ends := limits(one.interval)) is not None or one.estimate.is_defined
    )
    items = "".join(f"<li>{_said(words)}</li>" for words in said)
    family = f'<p lang="en">{_said(metrics.multiplicity.rule)}</p>'
    return _folded(t("How these were computed"), f"<ul>{items}</ul>{family}")


def _table(caption: str, heads: Iterable[str], lines: Sequence[Sequence[str]], total: int) -> str:
    head = "".join(f'<th scope="col">{_said(words)}</th>' for words in heads)
    body = "".join(f"<tr>{''.join(_cells(line))}</tr>" for line in lines)
    more = t("the first {n} of {total}; to_frame() has all", n=len(lines), total=total)
    name = _said(f"{caption} ({more})" if total > len(lines) else caption)
    return (
        f'<p class="caption">{name}</p><div class="scroll" role="group" tabindex="0" aria-label="{name}"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cells(line: Sequence[str]) -> Iterator[str]:
    first, *others = line
    yield f'<th scope="row">{_said(first)}</th>'
    for words in others:
        kind = ' class="words"' if len(words) > 30 else ""
        yield f"<td{kind}>{_said(words)}</td>"


def _undefined(value: Undefined) -> str:
    return t("undefined: {reason}", reason=archived(value.reason))


def _said(words: str) -> str:
    return escape(words)
