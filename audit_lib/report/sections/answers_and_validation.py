"""How complete and sound the answers are: missing ones by group, label mass, validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final

from audit_lib.documents.statuses import STATUSES
from audit_lib.documents.validation import Expected, VariationCompleteness
from audit_lib.figures import Dot, dot_chart, score_boxes
from audit_lib.report.blocks import (
    Block,
    Cell,
    Chart,
    Column,
    Fold,
    Paragraph,
    Row,
    Section,
    Table,
    code,
    filled,
    text,
)
from audit_lib.report.content import Content, in_words
from audit_lib.report.numbers import UNDEFINED, count, half_up, percent
from audit_lib.report.sections.estimates import variation_in_words
from audit_lib.report.sections.sampling_errors import sampling_errors
from audit_lib.report.sections.what_could_change import bounds
from audit_lib.report.shared_notes import with_notes_once
from audit_lib.translation import Filled, mark, t, tp
from audit_lib.validate.expectations import (
    BETWEEN,
    DIFFERENT_VALUES,
    FILLED,
    IN_SET,
    ROW_COUNT,
    UNIQUE,
    UNIQUE_TOGETHER,
)

_MOST_DOTS = 40
_STATUSES: Final = {
    "ok": mark("Answered"),
    "unranked": mark("Left out of the ranking"),
    "refused": mark("Refused"),
    "unparsed": mark("Not readable"),
    "error": mark("Error"),
}
_SEVERITIES: Final = {"error": mark("error"), "warning": mark("warning")}
_TABLES: Final = {
    "prompts": mark("prompts"),
    "variants": mark("variants"),
    "scores": mark("scores"),
    "completeness": mark("completeness"),
    "beside": mark("asked in addition"),
    "beside, by variation": mark("asked in addition, by variation"),
}
_EXPECTATIONS: Final = {
    FILLED: mark("column values to not be null"),
    UNIQUE: mark("column values to be unique"),
    UNIQUE_TOGETHER: mark("compound columns to be unique"),
    IN_SET: mark("column values to be in set"),
    BETWEEN: mark("column values to be between"),
    ROW_COUNT: mark("table row count to be between"),
    DIFFERENT_VALUES: mark("column unique value count to be between"),
}
"""What this library expects itself; a suite that the spec brings has any of Great Expectations' names."""
_OBSERVED: Final = {
    "element_count": mark("element count {value}"),
    "missing_count": mark("missing count {value}"),
    "unexpected_count": mark("unexpected count {value}"),
    "observed_value": mark("observed value {value}"),
    "rows": mark("rows {value}"),
}


def answers_and_validation(content: Content) -> Section:
    """Make the section."""
    lead = [
        t("Answers can go missing more often for one group than for another, and that alone moves a rate."),
        t("Nothing is dropped in silence: each row without an answer is counted here, by group."),
    ]
    beside = content.validation.beside
    if beside:
        lead.append(t("So are those of controls, other prompts and tasks, and manipulation checks."))
    blocks: list[Block] = [Paragraph(text(Filled(" ").join(lead)))]
    blocks += [chart] if (chart := _missing_chart(content)) else []
    answers, rows = _missing(content), content.metrics.rows
    blocks.append(
        Fold(t("Answers by group: none is missing"), (answers,)) if rows.answered == rows.total else answers
    )
    if beside:
        blocks.append(_beside(content, beside))
    if could_be := with_notes_once(bounds(content)):
        blocks.append(
            Fold(t("What the ratios could be, had missing answers and categories been known"), could_be)
        )
    blocks += [chart] if (chart := _score_chart(content)) else []
    blocks += [_scores(content)] if any(e.n for e in content.metrics.scores) else []
    if any(entry.n for entry in content.metrics.label_mass):
        blocks.append(_mass(content))
    blocks += [table] if (table := sampling_errors(content)) is not None else []
    blocks.append(_validation(content))
    return Section("answers", t("Missing answers and soundness"), tuple(blocks))


def _where(stratum: Mapping[str, str], group: Mapping[str, str] | None) -> str:
    name = in_words(group) if group else t("group unknown")
    return f"{name} ({in_words(stratum)})" if stratum else name


def _missing(content: Content) -> Table:
    entries = [e for e in content.metrics.missingness if e.group is not None or e.n]
    digits = content.policy.rounding.rate_percent
    rows = []
    for entry in entries:
        answered = entry.answered
        share = percent(Fraction(answered, entry.n), digits) if entry.n else tp("of a rate", "undefined")
        cells = (Cell(count(entry.n)), *(Cell(count(n)) for n in entry.statuses.values()), Cell(share))
        rows.append(Row(_where(entry.stratum, entry.group), cells))
    columns = (
        Column(t("Group"), numeric=False),
        Column(t("Rows")),
        *(Column(t(_STATUSES[s])) for s in STATUSES),
        Column(t("With a score")),
    )
    notes: list[str] = []
    if any(entry.unranked for entry in entries):
        notes.append(
            t(
                "A candidate whom a ranking leaves out, or names otherwise than shown, ranks last in the order shown; "
                "such rows have a score and are counted."
            )
        )
    if content.hidden:
        notes.append(t("Groups whose numbers are hidden are in no table of groups, nor are empty ones."))
    return Table(t("Answers by group"), columns, tuple(rows), tuple(notes))


def _beside(content: Content, varied: Sequence[VariationCompleteness]) -> Fold:
    """Answers to what is asked beside the question, each variation by itself."""
    columns = (
        Column(t("Asked beside the question, group"), numeric=False),
        Column(t("Asked")),
        *(Column(t(_STATUSES[s])) for s in STATUSES),
        Column(t("With an answer")),
    )
    digits, most = content.policy.rounding.rate_percent, content.spec.checks.maximum_answered_gap
    rows = []
    for one in varied:
        wide = one.answered_gap is not None and one.answered_gap > most
        for entry in (e for e in one.groups if e.n):
            share = percent(Fraction(entry.answered, entry.n), digits)
            answered = Cell(share, mark=t("gap") if wide else "", tone="flag" if wide else "plain")
            levels = {axis: level or t("unknown") for axis, level in entry.group.items()}
            cells = (Cell(count(entry.n)), *(Cell(count(n)) for n in entry.statuses.values()), answered)
            rows.append(Row(in_words(levels), cells, note=variation_in_words(one.variation)))
    title = t("Answers beside the question, by group")
    notes = (
        t(
            "Each repeat is counted. Marked: shares of two groups more than {gap:g} apart "
            "(checks.maximum_answered_gap). Effects in that variation are of those who were answered.",
            gap=most,
        ),
    )
    return Fold(title, (Table(title, columns, tuple(rows), notes),))


def _missing_chart(content: Content) -> Chart | None:
    """Share of rows without a score, by group; none where nothing is missing."""
    entries = [e for e in content.metrics.missingness if e.group is not None and e.n]
    missing = {id(e): e.n - e.answered for e in entries}
    if not any(missing.values()) or len(entries) > _MOST_DOTS:
        return None
    digits = content.policy.rounding.rate_percent
    dots = [
        Dot(
            label=_where(e.stratum, e.group),
            value=100 * missing[id(e)] / e.n,
            printed=percent(Fraction(missing[id(e)], e.n), digits),
        )
        for e in entries
    ]
    reach = max(d.value or 0.0 for d in dots) * 1.15
    description = "; ".join(f"{d.label}: {d.printed}" for d in dots)
    wide, narrow = (
        dot_chart(
            t("Share of rows without a score, in percent"),
            description,
            dots,
            span=(0.0, reach),
            width=width,
            names=names,
        )
        for width, names in ((760, 270), (360, 0))
    )
    return Chart(
        wide,
        narrow,
        t("Share of rows without a score by group, in percent. The table below has the counts."),
    )


def _score_chart(content: Content) -> Chart | None:
    """Five numbers of the scores of each group in the headline."""
    headline = set(content.spec.measure.strata[0])
    entries = [e for e in content.metrics.scores if set(e.stratum) == headline and e.n]
    if not entries or len(entries) > _MOST_DOTS:
        return None
    boxes = {_where(e.stratum, e.group): e.quantiles for e in entries if e.quantiles is not None}
    medians = {table.median for table in content.headline if table.kind == "scoring"} - {None}
    median = medians.pop() if len(medians) == 1 else None
    guide = (median, t("median of the full sample")) if median is not None else None
    wide, narrow = (score_boxes(boxes, guide=guide, width=width) for width in (760, 360))
    return Chart(wide, narrow, t("Scores by group: the middle half, the median, and the whole range."))


def _mass(content: Content) -> Table:
    rows = tuple(
        Row(
            _where(e.stratum, e.group),
            (
                Cell(count(e.n)),
                Cell(t(UNDEFINED) if e.mean is None else half_up(Fraction(e.mean), 3)),
                Cell(t(UNDEFINED) if e.minimum is None else half_up(Fraction(e.minimum), 3)),
            ),
        )
        for e in content.metrics.label_mass
    )
    note = t(
        "Label mass: how much of the model's probability fell on the allowed answers. Scores are normalised "
        "over these answers."
    )
    return Table(
        t("Label mass by group"),
        (Column(t("Group"), numeric=False), Column(t("Rows")), Column(t("Mean")), Column(t("Smallest"))),
        rows,
        (note,),
    )


def _scores(content: Content) -> Fold:
    rows = []
    headline = set(content.spec.measure.strata[0])
    for e in content.metrics.scores:
        if set(e.stratum) != headline or not e.n:
            continue
        numbers = [e.mean, e.sd, *(e.quantiles or [None] * 5)]
        cells = [Cell(t(UNDEFINED) if x is None else half_up(Fraction(x), 4)) for x in numbers]
        rows.append(Row(_where(e.stratum, e.group), (Cell(count(e.n)), *cells)))
    heads = (
        t("Scored"),
        t("Mean"),
        t("SD"),
        t("Smallest"),
        t("Quarter"),
        t("Median"),
        t("Three quarters"),
        t("Largest"),
    )
    columns = (Column(t("Group"), numeric=False), *map(Column, heads))
    return Fold(t("Scores by group"), (Table(t("Scores by group"), columns, tuple(rows)),))


def _validation(content: Content) -> Fold:
    """What was not met, and of how many; all of them, with what was observed, are in the run."""
    suites = content.validation.suites
    total = sum(len(suite.expectations) for suite in suites)
    failures = tuple(
        _failure(_table_name(suite.table), e) for suite in suites for e in suite.expectations if not e.success
    )
    by_table: dict[str, list[int]] = {}
    for suite in suites:
        counted = by_table.setdefault(_table_name(suite.table), [0, 0])
        counted[0] += len(suite.expectations)
        counted[1] += sum(not e.success for e in suite.expectations)
    each = Filled("; ").join(
        t("{table}: {met:,} of {total:,} met", table=name, met=total - failed, total=total)
        for name, (total, failed) in by_table.items()
    )
    words = t(
        "{tables}. Each of them, with what was observed, is in {file} of the run.", tables=each, file="{file}"
    )
    blocks: list[Block] = [Paragraph(filled(words, file=code("validation/validation.json")))]
    if content.hidden:
        blocks.append(
            Paragraph(
                text(
                    t(
                        "Expectations about single groups, and those of suites that the spec names, are left out here: "
                        "whether they are met would tell of hidden counts."
                    )
                )
            )
        )
    if failures:
        columns = tuple(
            Column(head, numeric=False)
            for head in (t("Expectation"), t("Column"), t("Severity"), t("Observed"))
        )
        blocks.append(Table(t("Expectations that are not met"), columns, failures))
    title = t(
        "Validation: {expectations} expectations, {failed} not met", expectations=total, failed=len(failures)
    )
    return Fold(title, tuple(blocks))


def _table_name(table: str) -> str:
    return t(_TABLES[table]) if table in _TABLES else table


def _failure(table: str, e: Expected) -> Row:
    observed = Filled(", ").join(
        t(_OBSERVED[key], value=value) if key in _OBSERVED else f"{key.replace('_', ' ')} {value}"
        for key, value in e.observed.items()
        if value is not None
    )
    words = e.expectation.removeprefix("expect_").replace("_", " ")
    named = t(_EXPECTATIONS[e.expectation]) if e.expectation in _EXPECTATIONS else words
    cells = (
        Cell(e.column or ""),
        Cell(t(_SEVERITIES.get(e.severity, e.severity)), tone="flag"),
        Cell(observed),
    )
    return Row(f"{table}: {named}", cells)
