"""AUC by subgroup: how well the scores tell the qualified from others in each, and which two differ most."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from audit_lib.documents.comparison import ComparedEstimate
from audit_lib.documents.estimates import defined, limits
from audit_lib.errors import UndefinedMetricError
from audit_lib.figures.auc import ModelAuc, auc_gap_figure
from audit_lib.records import NO_AND_YES
from audit_lib.report.blocks import Block, Cell, Chart, Column, Fold, Paragraph, Row, Section, Table, text
from audit_lib.report.content import Content, in_words
from audit_lib.report.numbers import count, decimal, interval
from audit_lib.report.sections.estimates import limits_of, reason_of
from audit_lib.results import Estimate, Undefined
from audit_lib.translation import Filled, archived, known, mark, t, tn

AUC: Final = "auc"
"""The metric that this section prints, and no other."""

GAP: Final = "auc_gap"
_TITLE: Final = mark("AUC by subgroup")
_WORDS: Final = mark(
    "The AUC is the chance that the scores put somebody qualified above somebody who is not: 0.5 says that they do not "
    "tell the two apart. Subgroups overlap: one person is in several of them. Each interval of an AUC stands by itself."
)
_LARGEST: Final = mark(
    "The scores tell the qualified apart best among {highest} and worst among {lowest}: a gap of {gap} ({interval}). "
    "These two of {subgroups} subgroups were picked by the data; the interval allows for that."
)
_MOST_STRATA: Final = 50
_MOST_PANELS: Final = 8
_MOST_ROWS: Final = 40

SubgroupEstimate = Estimate | ComparedEstimate
StratumItems = tuple[tuple[str, str], ...]


def subgroup_aucs(content: Content) -> Section | None:
    """Make the section, or none where no AUC was measured."""
    by_stratum: dict[StratumItems, list[Estimate]] = {}
    for e in content.estimates(AUC):
        by_stratum.setdefault(tuple(e.stratum.items()), []).append(e)
    if not by_stratum:
        return None
    gaps = {tuple(e.stratum.items()): e for e in content.estimates(GAP) if not e.group}
    headline = set(content.spec.measure.strata[0])
    blocks: list[Block] = [Paragraph(text(t(_WORDS)))]
    folds: list[Block] = []
    for where, own in by_stratum.items():
        words = in_words(dict(where))
        parts = [*_said(gaps.get(where)), _table(words, own)]
        if {key for key, _ in where} == headline:
            blocks += [*parts[:-1], *_charts(content, by_stratum, gaps), parts[-1]]
        else:
            folds.append(Fold(f"{t(_TITLE)}: {words}", tuple(parts)))
    return Section("aucs", t(_TITLE), (*blocks, *folds[:_MOST_STRATA]))


def _said(gap: Estimate | None) -> Iterable[Block]:
    """Name the two subgroups that make the gap, or say why there is none."""
    if gap is None:
        return
    ends = limits(gap.interval)
    if isinstance(gap.value, Undefined) or ends is None:
        yield Paragraph(text(t("The AUC gap is undefined: {reason}.", reason=reason_of(gap))))
        return
    words = t(
        _LARGEST,
        highest=known(str(gap.parameters["highest"])),
        lowest=known(str(gap.parameters["lowest"])),
        gap=decimal(gap.value),
        interval=interval(ends.low, ends.high, 3),
        subgroups=gap.parameters["subgroups"],
    )
    if left_out := int(gap.parameters["left_out"]):
        more = tn(
            "{n} subgroup has too few people to be compared.",
            "{n} subgroups have too few people to be compared.",
            left_out,
        )
        words = f"{words} {more}"
    yield Paragraph(text(words))


def _charts(
    content: Content, by_stratum: Mapping[StratumItems, list[Estimate]], gaps: Mapping[StratumItems, Estimate]
) -> Iterable[Block]:
    """Draw the paper's figure: a panel for everybody, and one for each part of a split, such as models or years."""
    first = sorted(content.spec.measure.strata[0])
    columns = {tuple(sorted(key for key, _ in where)) for where in by_stratum}
    whole = [where for where in by_stratum if sorted(key for key, _ in where) == first]
    for split in sorted(columns - {tuple(first)}) or [tuple(first)]:
        parts = [where for where in by_stratum if tuple(sorted(key for key, _ in where)) == split]
        shown = dict.fromkeys([*whole, *parts] if len(whole) == 1 else parts)
        names = {where: in_words(dict(where)) or t("everybody") for where in shown}
        yield from figure_of_aucs(
            {name: by_stratum[where] for where, name in names.items()},
            {name: gaps[where] for where, name in names.items() if where in gaps},
            content.spec.measure.level,
        )


def figure_of_aucs(
    panels: Mapping[str, Sequence[SubgroupEstimate]], gaps: Mapping[str, SubgroupEstimate], level: float
) -> Iterable[Block]:
    """Draw the AUC of everybody and of each subgroup that is compared, and the gap: a panel a model, year or other.

    Parameters
    ----------
    panels : mapping of str to sequence of Estimate
        Name of the panel -> estimates of the metric `AUC`.
    gaps : mapping of str to Estimate
        Name of the panel -> the largest difference.
    level : float
        Of the intervals.
    """
    groups = [dict(e.group) for own in panels.values() for e in own if e.group]
    name = _names(groups)
    labels = list(dict.fromkeys(map(name, groups)))
    if not labels or len(labels) > _MOST_ROWS or len(panels) > _MOST_PANELS:
        return
    models = [_panel(title, own, gaps.get(title), labels, name) for title, own in panels.items()]
    words = t("{level:%} interval", level=level)
    try:
        wide, narrow = (
            auc_gap_figure(labels, models, interval_name=words, width=width) for width in (760, 360)
        )
    except UndefinedMetricError:
        return
    caption = t(
        "AUC by subgroup and the largest difference, with {level:%} intervals. Subgroups too small to be compared "
        "are not drawn.",
        level=level,
    )
    yield Chart(wide, narrow, caption)


def _panel(
    title: str,
    own: Sequence[SubgroupEstimate],
    gap: SubgroupEstimate | None,
    labels: Sequence[str],
    name: Callable[[Mapping[str, str]], str],
) -> ModelAuc:
    """Return one panel: the subgroups that are compared, in the order of `labels`."""
    values, low, high = (np.full(len(labels), np.nan) for _ in range(3))
    for e in own:
        value = None if not e.group or "left_out" in e.flags else defined(e.value)
        if value is None:
            continue
        place = labels.index(name(e.group))
        values[place] = value
        if (ends := limits(e.interval)) is not None:
            low[place], high[place] = ends.low, ends.high
    everybody = next((e.value for e in own if not e.group), Undefined("not printed"))
    ends = None if gap is None else limits(gap.interval)
    return ModelAuc(
        model=title,
        overall=everybody,
        auc=values,
        low=low,
        high=high,
        gap_low=None if ends is None else ends.low,
        gap_high=None if ends is None else ends.high,
    )


def _names(groups: Sequence[Mapping[str, str]]) -> Callable[[Mapping[str, str]], str]:
    """Return what names a subgroup; a mask's yes and no say nothing alone, nor does a level of two attributes."""
    axes: dict[str, set[str]] = {}
    for group in groups:
        for axis, level in group.items():
            axes.setdefault(level, set()).add(axis)

    def name(group: Mapping[str, str]) -> str:
        words = []
        for axis, level in group.items():
            alone = in_words({axis: level})
            told = len(axes[level]) == 1 and level not in NO_AND_YES
            words.append(alone if told else f"{known(axis.replace('_', ' '))}: {alone}")
        return Filled(", ").join(words)

    return name


def _table(where: str, found: Sequence[Estimate]) -> Table:
    rows, name = [], _names([e.group for e in found])
    for e in found:
        positives, negatives = (e.parameters[side] for side in ("positives", "negatives"))
        cells = (
            Cell(decimal(e.value), note=reason_of(e)),
            Cell(limits_of(e, sign=False)),
            *(Cell(count(int(n))) for n in (e.n, positives, negatives)),
        )
        left_out = t("too few to be compared") if "left_out" in e.flags else ""
        rows.append(Row(name(e.group) if e.group else t("Everybody"), cells, note=left_out))
    columns = (
        Column(t("Subgroup"), numeric=False), Column(t("AUC")), Column(t("Interval")), Column(t("n")),
        Column(t("Qualified")), Column(t("Not qualified")),
    )  # fmt: skip
    methods = dict.fromkeys(archived(ends.method) for e in found if (ends := limits(e.interval)) is not None)
    return Table(
        f"{t(_TITLE)}{f', {where}' if where else ''}",
        columns,
        tuple(rows),
        tuple(t("Interval: {method}.", method=method) for method in list(methods)[:2]),
    )
