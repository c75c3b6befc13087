"""What an experiment says of other names and other jobs: each effect both ways, and how much names and jobs differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from audit_lib.documents.effects import NamesExplained, StrataSpread
from audit_lib.documents.metrics import EstimateHeterogeneity
from audit_lib.figures import Dot
from audit_lib.plan.names import FEW_NAMES, LEAST_NAMES
from audit_lib.report.blocks import Block, Cell, Column, Fold, Heading, Paragraph, Row, Table, text
from audit_lib.report.content import Content, in_words
from audit_lib.report.exact_tables import group_in_words
from audit_lib.report.numbers import UNDEFINED, count, decimal, interval, p_or_dash, signed
from audit_lib.report.sections.estimates import against, count_of, forest_chart, limits_of, variation_in_words
from audit_lib.results import Estimate, Interval, TheseNames, Undefined
from audit_lib.translation import Filled, archived, mark, t

MOST: Final = 60
"""Names that are drawn at most; all are in metrics.json."""

_BOTH: Final = mark(
    "Each effect is given twice. For these names: had the names that were shown come with other applications. For "
    "other names like them: had other names been shown too; this is what is said of a group, and what findings, "
    "p-values and the figure rest on. More applications narrow the first; only more names narrow the second. Names "
    "are counted by what they are worth: 1 over the sum of the squares of their shares of a group's rows, which is "
    "their number where all are shown as often. Where those of a group or its reference are worth fewer than {few}, "
    "one variance is estimated for the names of all groups (crossed effects); else each name counts by its own rows "
    "(two-way clustering by application and name). Where they are worth fewer than {least}, nothing is said of other "
    "names. Where each name comes in one application, both are the same."
)
_NAMES: Final = mark(
    "How much names of one group differ, and each name against the others of its group: in standard deviations of the "
    "score, over applications, with what is common to an application taken out. Names are drawn towards 0 by as much "
    "as their estimate is noise (empirical Bayes: effects of names are taken as normal with one variance, and rows as "
    "equally noisy)."
)
_JOBS: Final = mark(
    "How much an effect differs between strata beyond the errors of its estimates. The variance is unbiased whatever "
    "the law of the effects (Kline, Rose and Walters 2022); the value of each stratum is drawn towards the mean of all "
    "by as much as it is noise, with effects taken as normal."
)


def both_scopes(
    content: Content, title: str, by: Mapping[str, Sequence[Estimate]], *, explained: bool
) -> Iterable[Block]:
    """Print each effect for the names that were shown and for other names like them, side by side."""
    rows = [
        Row(against(e), (*_cells(content, e, e.these_names),), note=variation_in_words(name))
        for name, found in by.items()
        for e in found
        if e.these_names is not None
    ]
    if not rows:
        return
    columns = (
        Column(t("Group against reference, as asked"), numeric=False), Column(t("For other names like them")),
        Column("p"), Column(t("For these names")), Column("p"), Column(t("Names, group")),
        Column(t("Names, reference")), Column(t("Applications")),
    )  # fmt: skip
    if explained:
        yield Paragraph(text(t(_BOTH, few=FEW_NAMES, least=LEAST_NAMES)))
    yield Table(t("{title}: these names, and other names", title=title), columns, tuple(rows))


def _cells(content: Content, e: Estimate, these: TheseNames) -> Iterable[Cell]:
    alpha = content.spec.measure.alpha
    other = next((test.p_value for test in e.tests), None)
    fixed = None if these.test is None else these.test.p_value
    yield Cell(limits_of(e), note=archived(e.interval.reason) if isinstance(e.interval, Undefined) else "")
    yield Cell(p_or_dash(None if isinstance(other, Undefined) else other, alpha))
    yield Cell(_limits(these.interval, sign=True))
    yield Cell(p_or_dash(None if isinstance(fixed, Undefined) else fixed, alpha))
    yield Cell(count(these.names_group))
    yield Cell(count(these.names_reference))
    yield Cell(count_of(e.clusters))


def _limits(found: Interval | Undefined, *, sign: bool = False) -> str:
    return t(UNDEFINED) if isinstance(found, Undefined) else interval(found.low, found.high, 3, sign=sign)


def names(content: Content) -> Iterable[Block]:
    """Print how much of the scores names explain, and draw them."""
    found = content.metrics.names
    if found is None:
        return
    yield Heading(t("Names"))
    yield Paragraph(text(t(_NAMES)))
    if isinstance(found, Undefined):
        yield Paragraph(text(archived(found.reason)))
        return
    shares = found.share_interval
    columns = (
        Column(t("Names of one group"), numeric=False), Column(t("SD of their effects")), Column(t("Interval")),
        Column(t("Share of the scores' variance")), Column(t("Interval")), Column(t("Names")),
        Column(t("Applications")), Column(t("Rows")),
    )  # fmt: skip
    cells = (
        Cell(decimal(found.sd)), Cell(_limits(found.sd_interval)), Cell(f"{found.share_of_variance:.1%}"),
        Cell(t("{low:.1%} to {high:.1%}", low=shares.low, high=shares.high)), Cell(count(found.names)),
        Cell(count(found.applications)), Cell(count(found.n)),
    )  # fmt: skip
    yield Table(
        t("What names explain"),
        columns,
        (Row(t("all groups"), cells),),
        (archived(found.method),),
    )
    if isinstance(found.effects, Undefined):
        yield Paragraph(text(archived(found.effects.reason)))
        return
    yield Fold(t("Names one by one"), tuple(_by_name(found)))


def _by_name(found: NamesExplained) -> Iterable[Block]:
    effects = () if isinstance(found.effects, Undefined) else found.effects
    furthest = sorted(effects, key=lambda one: -abs(one.value))[:MOST]
    groups: dict[str, list[Dot]] = {}
    for one in effects:
        if one in furthest:
            label = t("{name} ({applications} applications)", name=one.name, applications=one.applications)
            groups.setdefault(group_in_words(one.group), []).append(
                Dot(
                    label=label, value=one.value, printed=signed(one.value),
                    low=one.interval.low, high=one.interval.high,
                )
            )  # fmt: skip
    for dots in groups.values():
        dots.sort(key=lambda dot: -(dot.value or 0.0))
    caption = t(
        "Each name against the others of its group, with {level:%} intervals, drawn towards 0: the {drawn} of {all} "
        "names that are furthest from it.",
        level=found.sd_interval.level,
        drawn=len(furthest),
        all=len(effects),
    )
    yield from forest_chart(t("Names against their group"), groups, 0.0, caption)


def jobs(content: Content) -> Iterable[Block]:
    """Print how much effects differ between positions or other strata, and draw each, shrunk."""
    for over in dict.fromkeys(e.over for e in content.metrics.heterogeneity):
        entries = [
            e
            for e in content.metrics.heterogeneity
            if e.over == over and isinstance(e, EstimateHeterogeneity) and e.spread is not None
        ]
        if entries:
            yield from _over(Filled(", ").join(over), entries)


def _over(split: str, entries: Sequence[EstimateHeterogeneity]) -> Iterable[Block]:
    title = t("Effects by {column}", column=split)
    yield Heading(title)
    yield Paragraph(text(t(_JOBS)))
    columns = (
        Column(t("Group against reference, as asked"), numeric=False), Column(t("SD between strata")),
        Column(t("Interval")), Column(t("Strata")),
    )  # fmt: skip
    rows, groups = [], {}
    for e in entries:
        spread, label = e.spread, _compared(e)
        asked = variation_in_words(str(e.parameters.get("variation", "none")))
        if isinstance(spread, StrataSpread):
            cells = (Cell(decimal(spread.sd)), Cell(_limits(spread.interval)), Cell(count(spread.n)))
            groups[f"{label}, {asked}"] = _dots(spread)
        else:
            reason = archived(spread.reason) if spread is not None else ""
            cells = (Cell(t(UNDEFINED), note=reason), Cell(t(UNDEFINED)), Cell("\N{EN DASH}"))
        rows.append(Row(label, cells, note=asked))
    notes = tuple(
        dict.fromkeys(archived(e.spread.method) for e in entries if isinstance(e.spread, StrataSpread))
    )
    yield Table(t("{title}: how much they differ", title=title), columns, tuple(rows), notes)
    caption = t("Effect in each stratum, shrunk towards the mean of all; the line at 0 is parity.")
    drawn = tuple(forest_chart(title, groups, 0.0, caption))
    if drawn:
        yield Fold(t("{title}, one by one", title=title), drawn)


def _dots(spread: StrataSpread) -> list[Dot]:
    return [
        Dot(
            label=in_words(one.stratum), value=one.value, printed=signed(one.value),
            low=one.interval.low, high=one.interval.high,
        )
        for one in spread.effects
    ]  # fmt: skip


def _compared(e: EstimateHeterogeneity) -> str:
    return t(
        "{group} against {reference}", group=group_in_words(e.group), reference=group_in_words(e.reference)
    )
