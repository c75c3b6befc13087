"""Estimates of every metric beyond the statutory ratios, whatever the metric: group against reference."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Final

from audit_lib.documents.estimates import adjusted_p, first_p, interval_method, limits
from audit_lib.documents.parameters import (
    ATTRIBUTE,
    GENERATIONS,
    GENERATIONS_MOST,
    ROUNDS_LEFT_OUT,
    WORD,
    K,
)
from audit_lib.figures import Dot
from audit_lib.figures.by_metric import MetricFigure, draw
from audit_lib.measure.metric import record_of
from audit_lib.report.blocks import (
    Block,
    Cell,
    Chart,
    Column,
    Fold,
    Heading,
    Notice,
    Paragraph,
    Row,
    Section,
    Table,
    code,
    filled,
    text,
)
from audit_lib.report.content import Content, in_words
from audit_lib.report.method_words import method_words
from audit_lib.report.numbers import UNDEFINED, count, interval, p_or_dash, signed
from audit_lib.report.sections.experiment import OWN_SECTION
from audit_lib.report.sections.imputed_bounds import imputed_bounds
from audit_lib.report.sections.left_out import left_out
from audit_lib.report.sections.missing_outcomes import missing_outcomes
from audit_lib.report.sections.reliability import OF, reliability
from audit_lib.report.sections.subgroup_aucs import AUC
from audit_lib.report.sections.weighted import weighted
from audit_lib.report.sections.what_was_varied import comparison_words
from audit_lib.report.shared_notes import notes_of, without_notes
from audit_lib.report.verdict_words import verdict_cell, verdict_words
from audit_lib.results import Estimate, Undefined
from audit_lib.translation import Filled, archived, known, mark, t, tn

_UNPERCEIVED: Final = mark(
    "Numbers marked as not perceived do not differ from parity, and compare groups of an attribute that the model did "
    "not tell as it was meant, by the manipulation check: they do not show that it treats these groups alike. A "
    "difference is one whatever the model says when asked, and is not marked."
)
_AGAINST: Final = mark("{title} of each group against its reference, with {level:%} intervals.")
_OF_EVERY_TWO: Final = mark("{title} of every two groups, with {level:%} intervals.")
_OF_EACH: Final = mark("{title} of each group, with {level:%} intervals.")
_OF_ALL: Final = mark("{title} of all groups together, with {level:%} intervals.")
MOST_STRATA: Final = 50
"""Strata that are printed in full; the tables of more are in the CSV files."""
_MOST_DOTS = 40
_MOST_OPEN_ROWS: Final = 8
_PARAMETERS: Final = {
    "attribute": mark("attribute"),
    "bins": mark("bins"),
    "classifier": mark("classifier"),
    "generations": mark("generations"),
    "generations_most": mark("most generations"),
    "highest": mark("highest"),
    "items": mark("items"),
    "label": mark("label"),
    "losses": mark("losses"),
    "lowest": mark("lowest"),
    "repeats": mark("repeats"),
    "rounds": mark("rounds"),
    "rounds_left_out": mark("rounds left out"),
    "threshold": mark("threshold"),
    "undefined_pairs": mark("undefined pairs"),
    "unpaired": mark("unpaired"),
    "variation": mark("variation"),
    "window": mark("window"),
    "wins": mark("wins"),
    "words": mark("words"),
    "words_defined": mark("words defined"),
}
"""Names of parameters as pages print them; others print as they are, with spaces."""


def metric_estimates(content: Content) -> Section | None:
    """Make the section, or none where nothing was measured."""
    blocks: list[Block] = []
    elsewhere = {*OWN_SECTION, AUC}
    for name in dict.fromkeys(e.metric for e in content.metrics.estimates if e.metric not in elsewhere):
        blocks += _metric(content, name)
    if not blocks:
        return None
    lead = t(
        "Each estimate stands with its interval. For a difference, an interval that holds 0 does not show one; it does "
        "not show that there is none. Each interval stands by itself: among many, some miss parity by chance alone."
    )
    varied = content.spec.perturb is not None
    title = t("Counterfactual results") if varied else t("Differences of scores and ranks")
    words = [text(lead)]
    if varied:
        words.append(text(comparison_words(content)))
        if any("unperceived" in e.flags for e in content.metrics.estimates):
            words.append(text(t(_UNPERCEIVED)))
    return Section("differences", title, (*map(Paragraph, words), *blocks))


def _metric(content: Content, name: str) -> Iterable[Block]:
    title, meaning = t(record_of(name).title), _meaning(name)
    estimates = content.estimates(name)
    headline = set(content.spec.measure.strata[0])
    figure = partial(draw, record_of(name).figure)
    yield Heading(title)
    if meaning:
        yield Paragraph(text(meaning))
    yield from _generations(estimates)
    by_stratum: dict[tuple[tuple[str, str], ...], list[Estimate]] = {}
    for e in estimates:
        by_stratum.setdefault(tuple(e.stratum.items()), []).append(e)
    folded, said = 0, set[str]()
    for where, chosen in by_stratum.items():
        words = in_words(dict(where))
        if {key for key, _ in where} == headline:
            whole = tuple(_blocks(content, title, words, chosen, figure=figure))
            said |= notes_of(whole)
            yield from whole
        elif folded < MOST_STRATA:
            folded += 1
            own = _blocks(content, title, words, chosen)
            yield Fold(f"{title}: {words}", without_notes(own, said))
        else:
            folded += 1
    if folded > MOST_STRATA:
        words = t(
            "{title} in {strata} more strata: {file}, beside this page.",
            title=title,
            strata=count(folded - MOST_STRATA),
            file="{file}",
        )
        yield Paragraph(filled(words, file=code("estimates.csv")))
    if name == OF:
        yield from reliability(content)


def _generations(estimates: Iterable[Estimate]) -> Iterable[Block]:
    """Say how many answers each prompt has, where a metric grows with them; a warning where they are too few."""
    told = [e for e in estimates if GENERATIONS in e.parameters]
    if not told:
        return
    usual = record_of(told[0].metric).generations
    fewest = min(int(e.parameters[GENERATIONS]) for e in told)
    most = max(int(e.parameters[GENERATIONS_MOST]) for e in told)
    said = (
        tn("Each prompt has {n} generation (m = {n}).", "Each prompt has {n} generations (m = {n}).", most)
        if fewest == most
        else t("Prompts have from {fewest} to {most} generations (m).", fewest=fewest, most=most)
    )
    if fewest >= usual:
        yield Paragraph(text(said))
        return
    warning = t(
        "The number grows with m, and {usual} are usual: hold it against no number of another m, published ones "
        "included.",
        usual=usual,
    )
    yield Notice(t("Few generations of each prompt"), text(said + " " + warning))


def _meaning(name: str) -> str:
    said = record_of(name)
    parity = "" if said.parity is None else t("Parity: {parity:g}.", parity=said.parity)
    cite = t("Defined in {cite}.", cite=t(said.cite)) if said.cite else ""
    return Filled(" ").join(filter(None, [t(said.meaning), parity, cite]))


def _blocks(
    content: Content, title: str, where: str, estimates: list[Estimate], figure: MetricFigure | None = None
) -> Iterable[Block]:
    if any(e.imputed is not None for e in estimates):
        name = f"{title}{f', {where}' if where else ''}"
        yield from imputed_bounds(content, name, estimates, _label, leading=figure is not None)
        return
    if len({e.parameters.get(K) for e in estimates}) > 1:
        by_quota = _by_quota(title, where, estimates)
        long = figure is not None and len(by_quota.rows) > _MOST_OPEN_ROWS
        yield Fold(t("{table}: table", table=by_quota.caption), (by_quota,)) if long else by_quota
        return
    drawn = False
    if figure is not None:
        # What compares groups has a parity; what is of one group, or of all together, may have none.
        for own in ([e for e in estimates if e.reference], [e for e in estimates if not e.reference]):
            if forest := _forest(content, title, where, own, figure):
                drawn = True
                yield forest
    table = _table(content, title, where, estimates)
    # A chart has the numbers; of what is not drawn the table stays open.
    yield Fold(t("{table}: table", table=table.caption), (table,)) if drawn else table
    yield from weighted(f"{title}{f', {where}' if where else ''}", estimates, _label)
    yield from missing_outcomes(f"{title}{f', {where}' if where else ''}", estimates, _label)


def _label(estimate: Estimate) -> str:
    group, reference = in_words(estimate.group), in_words(estimate.reference)
    if WORD in estimate.parameters:
        return t(
            "{word}: {group} against {reference}",
            word=estimate.parameters[WORD],
            group=group,
            reference=reference,
        )
    if not group:
        attribute = estimate.parameters.get(ATTRIBUTE)
        return (
            t("All groups")
            if attribute is None
            else t("All levels of {attribute}", attribute=known(str(attribute)))
        )
    return t("{group} against {reference}", group=group, reference=reference) if reference else group


def _details(estimates: list[Estimate]) -> dict[int, str]:
    """Notes that tell estimates of one label apart: the parameters in which they differ."""
    labels = [_label(e) for e in estimates]
    if len(set(labels)) == len(labels):
        return {}
    keys = dict.fromkeys(key for e in estimates for key in e.parameters if key != K)
    varied = [key for key in keys if len({str(e.parameters.get(key)) for e in estimates}) > 1]
    return {
        id(e): ", ".join(
            f"{t(_PARAMETERS.get(key, key.replace('_', ' ')))} {known(str(e.parameters[key]))}"
            for key in varied
            if key in e.parameters
        )
        for e in estimates
    }


def _signed(estimate: Estimate) -> bool:
    return record_of(estimate.metric).signed and bool(estimate.reference)


def _parity(estimates: list[Estimate]) -> float | None:
    """Return where the estimates of one metric show no difference; a group's own rate has no such place."""
    own = [e for e in estimates if e.group and not e.reference]
    return None if own else record_of(estimates[0].metric).parity


def _printed(estimate: Estimate) -> str:
    if isinstance(estimate.value, Undefined):
        return t(UNDEFINED)
    words = signed(estimate.value)
    return words if _signed(estimate) else words.removeprefix("+")


def _value(estimate: Estimate, note: str) -> Cell:
    doubted = "unperceived" in estimate.flags
    return Cell(
        _printed(estimate),
        note=note,
        mark=t("not perceived") if doubted else "",
        tone="muted" if doubted else "plain",
    )


def _with_verdict(estimate: Estimate, note: str) -> Cell:
    """The value with what its verdict finds; a table of quotas has no room to say of each that it is undecided."""
    cell, verdict = _value(estimate, note), estimate.verdict
    if verdict is None or verdict.kind == "undecided":
        return cell
    return replace(cell, mark=Filled(", ").join(filter(None, [cell.mark, verdict_words(verdict)])))


def _limits(estimate: Estimate) -> str:
    found = estimate.interval
    if isinstance(found, Undefined):
        # Why there is no value is said once, at the value.
        own = archived(found.reason)
        return t("undefined: {reason}", reason=own) if own != _reason(estimate) else t(UNDEFINED)
    return interval(found.low, found.high, 3, sign=_signed(estimate))


def _n(value: object) -> str:
    return count(value) if isinstance(value, int) else "\N{EN DASH}"


def _table(content: Content, title: str, where: str, estimates: list[Estimate]) -> Table:
    details = _details(estimates)
    tested = any(e.tests for e in estimates)
    sided = any(e.n_group is not None for e in estimates)
    judged = any(e.verdict is not None for e in estimates)
    rows = []
    for e in estimates:
        cells = [_value(e, _reason(e)), Cell(_limits(e))]
        if tested:
            cells += [Cell(p_or_dash(x, content.spec.measure.alpha)) for x in (first_p(e), adjusted_p(e))]
        if judged:
            cells.append(verdict_cell(e))
        sizes = (e.n_group, e.n_reference) if sided else (e.n,)
        cells += [Cell(_n(n)) for n in (*sizes, e.clusters)]
        notes = [details.get(id(e), ""), t("few rows") if "small_cell" in e.flags else ""]
        rows.append(Row(_label(e), tuple(cells), note=Filled(", ").join(filter(None, notes))))
    methods = dict.fromkeys(method_words(e.method, interval_method(e)) for e in estimates)
    first = t("Group against reference") if sided else t("Groups")
    columns = [Column(first, numeric=False), Column(t("Value")), Column(t("Interval"))]
    columns += [Column("p"), Column(t("p adjusted for all tests"))] if tested else []
    columns += [Column(t("Verdict"), numeric=False)] if judged else []
    columns += [Column(t("n, group")), Column(t("n, reference"))] if sided else [Column("n")]
    columns.append(Column(t("Clusters")))
    return Table(
        f"{title}{f', {where}' if where else ''}", tuple(columns), tuple(rows),
        (*list(methods)[:2], *left_out(estimates)),
    )  # fmt: skip


def _reason(estimate: Estimate) -> str:
    return archived(estimate.value.reason) if isinstance(estimate.value, Undefined) else ""


def _by_quota(title: str, where: str, estimates: list[Estimate]) -> Table:
    quotas = list(dict.fromkeys(e.parameters[K] for e in estimates))
    rows = []
    for label in dict.fromkeys(_label(e) for e in estimates):
        chosen = {e.parameters[K]: e for e in estimates if _label(e) == label}
        first = next(iter(chosen.values()))
        cells = [Cell(_n(first.n_group)), Cell(_n(first.n_reference))]
        cells += [
            _with_verdict(chosen[k], _reason(chosen[k]) or _limits(chosen[k])) if k in chosen else Cell("")
            for k in quotas
        ]
        rows.append(Row(label, tuple(cells)))
    short = max(int(e.parameters.get(ROUNDS_LEFT_OUT, 0)) for e in estimates)
    notes = [method_words(estimates[0].method, interval_method(estimates[0]))]
    if any(e.verdict is not None for e in estimates):
        notes.append(t("Where no verdict is given next to a number, it is undecided."))
    if short:
        notes.append(
            t(
                "Up to {rounds} rounds had fewer scored candidates than k and were left out at that k.",
                rounds=count(short),
            )
        )
    columns = (
        Column(t("Group against reference"), numeric=False),
        Column(t("n, group")),
        Column(t("n, reference")),
        *(Column(f"k = {k}") for k in quotas),
    )
    return Table(f"{title}{f', {where}' if where else ''}", columns, tuple(rows), tuple(notes))


def _forest(
    content: Content, title: str, where: str, estimates: list[Estimate], figure: MetricFigure
) -> Chart | None:
    dots = []
    for e in estimates:
        if isinstance(e.value, Undefined):
            continue
        ends = limits(e.interval)
        low, high = (None, None) if ends is None else (ends.low, ends.high)
        dots.append(Dot(label=_label(e), value=float(e.value), printed=_printed(e), low=low, high=high))
    if not dots or len(dots) > _MOST_DOTS or len({d.label for d in dots}) < len(dots):
        return None
    edges = [x for d in dots for x in (d.value, d.low, d.high) if x is not None and abs(x) != float("inf")]
    parity = _parity(estimates)
    if parity is not None and any(map(_signed, estimates)):
        reach = max(*(abs(x - parity) for x in edges), 1e-6) * 1.08
        low_end, high_end = parity - reach, parity + reach
    else:
        # A rate, ratio, similarity or distance: from 0 on, so that its size can be seen.
        low_end, high_end = min(0.0, *edges), max(*edges, parity or 0.0, 1e-6) * 1.08
    description = "; ".join(f"{d.label}: {d.printed}" for d in dots)
    wide, narrow = (
        figure(
            f"{title} {where}".strip(),
            description,
            dots,
            span=(low_end, high_end),
            origin=parity,
            width=width,
        )
        for width in (760, 360)
    )
    references = {
        axis: {e.reference[axis] for e in estimates if axis in e.reference}
        for axis in content.spec.groups.axes
    }
    of_two = _OF_EVERY_TWO if any(len(levels) > 1 for levels in references.values()) else _AGAINST
    said = of_two if all(e.reference for e in estimates) else _OF_EACH
    said = said if any(e.group for e in estimates) else _OF_ALL
    caption = [t(said, title=title, level=content.spec.measure.level)]
    if parity is not None:
        caption.append(t("The line at {parity:g} is parity.", parity=parity))
    return Chart(wide, narrow, Filled(" ").join(caption))
