"""Differences of scores and ranks, beyond the statutory ratios."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from audit_lib.report.blocks import (
    Block,
    Cell,
    Chart,
    Column,
    Fold,
    Heading,
    Paragraph,
    Row,
    Section,
    Table,
    text,
)
from audit_lib.report.charts import Dot, dot_chart
from audit_lib.report.content import Content, in_words, undefined_or
from audit_lib.report.numbers import UNDEFINED, count, interval, signed
from audit_lib.results import Undefined

_NAMES: Final = {
    "rabbi": (
        "RABBI",
        "Share of pairs that the group wins, minus the share it loses, against the reference. 0 is parity; "
        "\N{MINUS SIGN}1 and 1 are the ends.",
    ),
    "score_gap": ("Score gap", "Mean score of the group minus that of the reference."),
    "demographic_parity_gap": (
        "Demographic parity gap",
        "Share of the group among the best k of each round, minus that of the reference.",
    ),
}


def beyond(content: Content) -> Section | None:
    """Make the section, or none where nothing was measured."""
    blocks: list[Block] = []
    metrics = list(dict.fromkeys(e["metric"] for e in content.metrics["estimates"]))
    for name in metrics:
        blocks += _metric(content, name)
    if not blocks:
        return None
    lead = (
        "Every difference is the group minus its reference, with its interval. An interval that holds 0 does "
        "not show a difference; it does not show that there is none. Each interval stands by itself: among many, some "
        "miss 0 by chance alone."
    )
    return Section("differences", "Differences of scores and ranks", (Paragraph(text(lead)), *blocks))


def _metric(content: Content, name: str) -> Iterable[Block]:
    title, meaning = _NAMES.get(name, (name.replace("_", " ").capitalize(), ""))
    estimates = content.estimates(name)
    headline = set(content.spec.measure.strata[0])
    yield Heading(title)
    if meaning:
        yield Paragraph(text(meaning))
    for where in dict.fromkeys(tuple(e["stratum"].items()) for e in estimates):
        chosen = [e for e in estimates if tuple(e["stratum"].items()) == where]
        words = in_words(dict(where))
        blocks: list[Block] = []
        if len({e["parameters"].get("k") for e in chosen}) == 1:
            chart = _forest(content, title, words, chosen)
            blocks += [chart] if chart else []
            blocks.append(_table(title, words, chosen))
        else:
            blocks.append(_by_quota(title, words, chosen))
        if {key for key, _ in where} == headline:
            yield from blocks
        else:
            yield Fold(f"{title}: {words}", tuple(b for b in blocks if not isinstance(b, Chart)))


def _label(estimate: Mapping[str, Any]) -> str:
    return f"{in_words(estimate['group'])} against {in_words(estimate['reference'])}"


def _printed(estimate: Mapping[str, Any]) -> str:
    value = undefined_or(estimate["value"])
    return UNDEFINED if isinstance(value, Undefined) else signed(float(value))


def _limits(estimate: Mapping[str, Any]) -> str:
    limits = estimate["interval"]
    if "low" not in limits:
        return f"{UNDEFINED}: {limits['undefined']}"
    return interval(limits["low"], limits["high"], 3, sign=True)


def _table(title: str, where: str, estimates: list[Mapping[str, Any]]) -> Table:
    rows = tuple(
        Row(
            _label(e),
            (
                Cell(_printed(e)),
                Cell(_limits(e)),
                Cell(count(e["n_group"])),
                Cell(count(e["n_reference"])),
                Cell(count(e["clusters"])),
            ),
            note="few rows" if "small_cell" in e["flags"] else "",
        )
        for e in estimates
    )
    methods = dict.fromkeys(
        f"{e['method']}; interval: {e['interval'].get('method', 'none')}" for e in estimates
    )
    return Table(
        f"{title}{f', {where}' if where else ''}",
        (
            Column("Group against reference", numeric=False),
            Column("Value"),
            Column("Interval"),
            Column("n, group"),
            Column("n, reference"),
            Column("Clusters"),
        ),
        rows,
        tuple(list(methods)[:2]),
    )


def _by_quota(title: str, where: str, estimates: list[Mapping[str, Any]]) -> Table:
    quotas = list(dict.fromkeys(e["parameters"]["k"] for e in estimates))
    rows = []
    for label in dict.fromkeys(_label(e) for e in estimates):
        chosen = {e["parameters"]["k"]: e for e in estimates if _label(e) == label}
        first = next(iter(chosen.values()))
        cells = [Cell(count(first["n_group"])), Cell(count(first["n_reference"]))]
        cells += [Cell(_printed(chosen[k]), note=_limits(chosen[k])) for k in quotas]
        rows.append(Row(label, tuple(cells)))
    left_out = max(int(e["parameters"].get("rounds_left_out", 0)) for e in estimates)
    notes = [f"{estimates[0]['method']}; interval: {estimates[0]['interval'].get('method', 'none')}"]
    if left_out:
        notes.append(
            f"Up to {count(left_out)} rounds had fewer scored candidates than k and were left out at that k."
        )
    columns = (
        Column("Group against reference", numeric=False),
        Column("n, group"),
        Column("n, reference"),
        *(Column(f"k = {k}") for k in quotas),
    )
    return Table(f"{title}{f', {where}' if where else ''}", columns, tuple(rows), tuple(notes))


def _forest(content: Content, title: str, where: str, estimates: list[Mapping[str, Any]]) -> Chart | None:
    dots = []
    for e in estimates:
        value, limits = undefined_or(e["value"]), e["interval"]
        if isinstance(value, Undefined):
            continue
        dots.append(
            Dot(
                label=_label(e),
                value=float(value),
                printed=_printed(e),
                low=limits.get("low"),
                high=limits.get("high"),
            )
        )
    if not dots:
        return None
    edges = [
        abs(x) for d in dots for x in (d.value, d.low, d.high) if x is not None and abs(x) != float("inf")
    ]
    reach = max(max(edges) * 1.08, 1e-6)
    description = "; ".join(f"{d.label}: {d.printed}" for d in dots)
    wide, narrow = (
        dot_chart(
            f"{title} {where}".strip(),
            description,
            dots,
            span=(-reach, reach),
            origin=0.0,
            width=width,
            names=names,
        )
        for width, names in ((760, 270), (360, 0))
    )
    return Chart(
        wide,
        narrow,
        f"{title} of each group against its reference, with {content.spec.measure.level:.0%} intervals. The line "
        f"at 0 is parity.",
    )
