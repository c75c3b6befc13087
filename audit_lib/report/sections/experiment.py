"""A correspondence experiment: effects, what is noise, what the model perceived; and adverse impact of real people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
from audit_lib.report.charts import Dot, forest
from audit_lib.report.content import Content, in_words, undefined_or
from audit_lib.report.numbers import UNDEFINED, count, decimal, interval, p_value, signed
from audit_lib.results import Undefined

Estimate = Mapping[str, Any]

OWN_SECTION: Final = frozenset(
    {"standardised_effect", "noise_floor", "manipulation_agreement", "adverse_impact_ratio"}
)
"""Metrics that this section prints, and no other."""

_EFFECTS: Final = (
    "Effect of each attribute on the score, in standard deviations of the score, with the other attributes held "
    "equal. Errors allow for the versions of one application being answered alike. An effect marked as inside the "
    "noise floor is no larger than what asking the same again did to the scores."
)
_NOISE: Final = (
    "What a change that should change nothing did: the mean difference between a control and the same text as it was "
    "first asked, in the same unit. A control asks the same again; a format sets the same words out otherwise, which "
    "may move all groups alike."
)
_PERCEIVED: Final = (
    "The model was asked for the attribute of each version. Where it cannot tell the groups apart, an effect of zero "
    "says nothing: below the spec's floor the effect is printed as uninterpretable. Answers of doubt, refusals and "
    "answers that could not be read are no mismatches, and are counted apart."
)
_IMPACT: Final = (
    "Real applicants: the share of each group rated at or above each threshold, over the reference's. The reference "
    "is fixed, not the group with the highest share. The thick bar is the 70% interval."
)


def experiment(content: Content) -> Section | None:
    """Make the section, or none where none of its metrics was computed."""
    parts = (
        ("standardised_effect", "Standardised effects", _EFFECTS, _effects),
        ("noise_floor", "Noise floor", _NOISE, _noise),
        ("manipulation_agreement", "Manipulation check", _PERCEIVED, _perceived),
        ("adverse_impact_ratio", "Adverse impact by threshold", _IMPACT, _impact),
    )
    blocks: list[Block] = []
    for metric, title, words, draw in parts:
        by_stratum = _by_stratum(content.estimates(metric))
        if not by_stratum:
            continue
        blocks += [Heading(title), Paragraph(text(words))]
        headline = set(content.spec.measure.strata[0])
        for where, estimates in by_stratum.items():
            if {key for key, _ in where} == headline:
                blocks += draw(content, title, estimates, True)
            else:
                name = f"{title}: {in_words(dict(where))}"
                blocks.append(Fold(name, tuple(draw(content, name, estimates, False))))
    return Section("experiment", "Correspondence experiment", tuple(blocks)) if blocks else None


def _by_stratum(estimates: Iterable[Estimate]) -> dict[tuple[tuple[str, str], ...], list[Estimate]]:
    found: dict[tuple[tuple[str, str], ...], list[Estimate]] = {}
    for e in estimates:
        found.setdefault(tuple(e["stratum"].items()), []).append(e)
    return found


def variation_in_words(name: str) -> str:
    """Return how a variation is printed.

    Examples
    --------
    >>> variation_in_words("none"), variation_in_words("task:resume_only")
    ('as asked', 'task: resume only')
    """
    if name == "none":
        return "as asked"
    return name.replace("_", " ").replace(":", ": ")


def _effects(content: Content, title: str, estimates: Sequence[Estimate], chart: bool) -> Iterable[Block]:
    by: dict[str, list[Estimate]] = {}
    for e in estimates:
        by.setdefault(str(e["parameters"].get("variation", "none")), []).append(e)
    if chart:
        groups = {variation_in_words(name): [_dot(e) for e in found] for name, found in by.items()}
        level = content.spec.measure.level
        yield from _chart(title, groups, 0.0, f"with {level:.0%} intervals; the line at 0 is parity.")
    columns = (
        Column("Group against reference, as asked", numeric=False), Column("Effect"), Column("Interval"),
        Column("p"), Column("p after Holm, whole audit"), Column("n"), Column("Applications"),
    )  # fmt: skip
    rows = [
        Row(
            _against(e),
            (
                Cell(_value(e), mark=_mark(e), note=_reason(e), tone="muted" if _mark(e) else "plain"),
                Cell(_limits(e)),
                *_p(content, e),
                Cell(_n(e["n"])),
                Cell(_n(e["clusters"])),
            ),
            note=variation_in_words(name),
        )
        for name, found in by.items()
        for e in found
    ]
    yield Table(f"{title}: sensitivity", columns, tuple(rows), _method(estimates))


def _noise(content: Content, title: str, estimates: Sequence[Estimate], chart: bool) -> Iterable[Block]:
    columns = (
        Column("Control", numeric=False), Column("Mean difference"), Column("Interval"),
        Column("Mean absolute difference"), Column("Unchanged"), Column("Controls"), Column("Applications"),
    )  # fmt: skip
    rows = []
    for e in estimates:
        own = e["parameters"]
        spread = own.get("mean_absolute_difference")
        same = own.get("unchanged")
        cells = (
            Cell(_value(e), note=_reason(e)),
            Cell(_limits(e)),
            Cell(decimal(float(spread)) if spread is not None else UNDEFINED),
            Cell(count(int(same)) if same is not None else UNDEFINED),
            Cell(_n(e["n"])),
            Cell(_n(e["clusters"])),
        )
        rows.append(Row(variation_in_words(str(own.get("variation", "control"))), cells))
    yield Table(title, columns, tuple(rows), _method(estimates))


def _perceived(content: Content, title: str, estimates: Sequence[Estimate], chart: bool) -> Iterable[Block]:
    floor = content.spec.checks.minimum_agreement
    for axis in dict.fromkeys(str(e["parameters"].get("attribute", "")) for e in estimates):
        found = [e for e in estimates if e["parameters"].get("attribute", "") == axis]
        said = list(dict.fromkeys(key for e in found for key in e["parameters"] if key.startswith("said ")))
        kinds = [*said, "unsure", "refused", "unread"]
        rows = []
        for e in found:
            value = undefined_or(e["value"])
            low = not e["group"] and not isinstance(value, Undefined) and float(value) < floor
            agreed = UNDEFINED if isinstance(value, Undefined) else f"{float(value):.1%}"
            cells = [
                Cell(
                    agreed,
                    mark="below the floor" if low else "",
                    note=_reason(e),
                    tone="flag" if low else "plain",
                ),
                Cell(_limits(e, sign=False)),
                *(
                    Cell(count(int(e["parameters"][kind])) if kind in e["parameters"] else "")
                    for kind in kinds
                ),
            ]
            rows.append(Row(e["group"].get(axis, "all versions"), tuple(cells)))
        columns = (
            Column("Meant", numeric=False), Column("Named as meant"), Column("Interval"),
            *(Column(kind.replace("said ", "said: ")) for kind in kinds),
        )  # fmt: skip
        said_of = (*_method(found), f"The spec's floor is {floor:.0%} (checks.minimum_agreement).")
        yield Table(f"{title}: {axis}", columns, tuple(rows), said_of)


def _impact(content: Content, title: str, estimates: Sequence[Estimate], chart: bool) -> Iterable[Block]:
    by: dict[float, list[Estimate]] = {}
    for e in estimates:
        by.setdefault(float(e["parameters"].get("threshold", 0)), []).append(e)
    if chart:
        groups = {f"rated {at:g} or more": [_dot(e, sign=False) for e in found] for at, found in by.items()}
        yield from _chart(
            title,
            groups,
            1.0,
            f"with {content.spec.measure.level:.0%} (thin) and 70% (thick) intervals; 1 is parity.",
        )
    columns = (
        Column("Rated at least", numeric=True), Column("Group against reference", numeric=False), Column("Ratio"),
        Column("Interval"), Column("70% interval"), Column("p"), Column("p after Holm, whole audit"),
        Column("n, group"), Column("n, reference"),
    )  # fmt: skip
    rows = []
    for at, found in by.items():
        for e in found:
            inner = next(iter(e["intervals"]), {"undefined": ""})
            rows.append(
                Row(
                    f"{at:g}",
                    (
                        Cell(_against(e)),
                        Cell(_value(e, sign=False), note=_reason(e)),
                        Cell(_limits(e, sign=False)),
                        Cell(_limits({"interval": inner}, sign=False) if "low" in inner else UNDEFINED),
                        *_p(content, e),
                        Cell(_n(e["n_group"])),
                        Cell(_n(e["n_reference"])),
                    ),
                )
            )
    yield Table(title, columns, tuple(rows), _method(estimates))


def _dot(e: Estimate, *, sign: bool = True) -> Dot:
    value, limits = undefined_or(e["value"]), e["interval"]
    low = high = inner = None
    if "low" in limits:
        low = -float("inf") if limits["low"] is None else float(limits["low"])
        high = float("inf") if limits["high"] is None else float(limits["high"])
    for one in e["intervals"]:
        if one["low"] is not None and one["high"] is not None:
            inner = (float(one["low"]), float(one["high"]))
    undefined = isinstance(value, Undefined)
    return Dot(
        label=_against(e),
        value=None if undefined else float(value),
        printed=_value(e, sign=sign),
        low=None if undefined else low,
        high=None if undefined else high,
        hollow="within_noise" in e["flags"],
        inner=None if undefined else inner,
    )


def _chart(title: str, groups: Mapping[str, Sequence[Dot]], parity: float, caption: str) -> Iterable[Block]:
    if not any(dot.value is not None for dots in groups.values() for dot in dots):
        return
    ends = [
        x for dots in groups.values() for d in dots for x in (d.value, d.high) if x is not None and x < 1e9
    ]
    span = (0.0, min(max(2.0, *ends, 0.0), 4.0)) if parity == 1.0 else None
    wide, narrow = (forest(groups, title=title, parity=parity, span=span, width=w) for w in (760, 360))
    hollow = any(dot.hollow for dots in groups.values() for dot in dots)
    more = " Open marks are inside the noise floor." if hollow else ""
    yield Chart(wide, narrow, f"{title}, {caption}{more}")


def _against(e: Estimate) -> str:
    group, reference = in_words(e["group"]), in_words(e["reference"])
    return f"{group} against {reference}" if reference else group or "not computed"


def _value(e: Estimate, *, sign: bool = True) -> str:
    value = undefined_or(e["value"])
    if isinstance(value, Undefined):
        return UNDEFINED
    return signed(float(value)) if sign else decimal(float(value))


def _limits(e: Estimate, *, sign: bool = True) -> str:
    limits = e["interval"]
    return interval(limits["low"], limits["high"], 3, sign=sign) if "low" in limits else UNDEFINED


def _n(value: object) -> str:
    """Print a count; a hidden one, or none, is a dash."""
    return count(value) if isinstance(value, int) else "\N{EN DASH}"


def _mark(e: Estimate) -> str:
    if "uninterpretable" in e["flags"]:
        return "uninterpretable"
    return "inside the noise floor" if "within_noise" in e["flags"] else ""


def _reason(e: Estimate) -> str:
    value = undefined_or(e["value"])
    return value.reason if isinstance(value, Undefined) else ""


def _p(content: Content, e: Estimate) -> tuple[Cell, Cell]:
    alpha = content.spec.measure.alpha
    found = (next((t["p_value"] for t in e["tests"]), None), e.get("multiplicity", {}).get("holm"))
    one, other = (Cell(p_value(x, alpha) if isinstance(x, float) else "\N{EN DASH}") for x in found)
    return one, other


def _method(estimates: Sequence[Estimate]) -> tuple[str, ...]:
    methods = dict.fromkeys(
        f"{e['method']}; interval: {e['interval'].get('method', 'none')}" for e in estimates
    )
    return tuple(list(methods)[:2])
