"""What the models' answers look like, and which of them the papers would leave out."""

from __future__ import annotations

from fractions import Fraction

from audit_lib.documents.comparison import Comparison, ModelExclusion
from audit_lib.report.blocks import (
    Block,
    Bullets,
    Cell,
    Column,
    Heading,
    Paragraph,
    Row,
    Section,
    Table,
    Text,
    text,
)
from audit_lib.report.numbers import count, decimal, percent, signed
from audit_lib.results import Undefined
from audit_lib.translation import archived, t

_DASH = "\N{EN DASH}"


def answers(document: Comparison) -> list[Section]:
    """Make the tables of output statistics over models, and count the exclusions."""
    blocks: list[Block] = [_statuses(document)]
    if any(isinstance(run.statistics.pairs, Undefined) is False for run in document.runs):
        blocks += [Heading(t("Answers about pairs")), _pairs(document)]
    blocks += [
        Heading(t("Whom the papers would leave out")),
        Bullets(tuple(_excluded(document, one) for one in document.exclusions)),
    ]
    words = t("What the answers look like, all groups together. Scores are each model's own.")
    return [Section("answers", t("Output statistics over models"), (Paragraph(text(words)), *blocks))]


def _statuses(document: Comparison) -> Table:
    columns = (
        Column(t("Model"), numeric=False),
        Column(t("Answered")),
        Column(t("Refused")),
        Column(t("Not readable")),
        Column(t("Errors")),
        Column(t("Probability on the answers")),
        Column(t("Mean score")),
        Column(t("SD")),
        Column(t("Skewness")),
        Column(t("Excess kurtosis")),
    )
    rows = []
    for run in document.runs:
        one = run.statistics
        total = sum(one.by_status.values())
        counts = [
            one.by_status.get("ok", 0) + one.by_status.get("unranked", 0),
            *(one.by_status.get(name, 0) for name in ("refused", "unparsed", "error")),
        ]
        cells = [_share(n, total) for n in counts]
        cells += [Cell(_DASH if x is None else decimal(x)) for x in (one.label_mass, one.mean, one.sd)]
        cells += [
            Cell(_DASH, note=archived(x.reason)) if isinstance(x, Undefined) else Cell(signed(x))
            for x in (one.skewness, one.excess_kurtosis)
        ]
        rows.append(Row(run.label, tuple(cells)))
    return Table(t("Answers and scores"), columns, tuple(rows))


def _pairs(document: Comparison) -> Table:
    columns = (
        Column(t("Model"), numeric=False),
        Column(t("Questions")),
        Column(t("One named")),
        Column(t("Both equal")),
        Column(t("Not readable")),
        Column(t("Pairs")),
        Column(t("Flipped")),
        Column(t("Not consistent")),
    )
    rows = []
    for run in document.runs:
        one = run.statistics.pairs
        if isinstance(one, Undefined):
            rows.append(
                Row(run.label, (Cell(_DASH, note=archived(one.reason)), *(Cell(_DASH) for _ in columns[2:])))
            )
            continue
        rows.append(
            Row(
                run.label,
                (
                    Cell(count(one.prompts)),
                    *(_share(n, one.prompts) for n in (one.regular, one.tie, one.unparsed)),
                    Cell(count(one.pairs)),
                    *(_share(n, one.pairs) for n in (one.flipped, one.inconsistent)),
                ),
            )
        )
    return Table(t("Answers about pairs"), columns, tuple(rows))


def _excluded(document: Comparison, one: ModelExclusion) -> Text:
    if isinstance(one.excluded, Undefined):
        return text(
            t(
                "{of} (more than {limit} of the pairs not consistent; {cite}): undefined, {reason}.",
                of=t(one.of).capitalize(),
                limit=f"{one.limit:.0%}",
                cite=one.cite,
                reason=archived(one.excluded.reason),
            )
        )
    names = "; ".join(document.runs[place].label for place in one.excluded)
    return text(
        t(
            "{of}: {n} of {models} models have more than {limit} of their pairs not consistent and would be left out "
            "({cite}){names}. Here they stay, marked by this line.",
            of=t(one.of).capitalize(),
            n=count(len(one.excluded)),
            models=count(len(document.runs)),
            limit=f"{one.limit:.0%}",
            cite=one.cite,
            names=f": {names}" if names else "",
        )
    )


def _share(part: int, whole: int) -> Cell:
    return Cell(percent(Fraction(part, whole), 1) if whole else _DASH, note=count(part))
