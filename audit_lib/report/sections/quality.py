"""How complete and sound the answers are: missing ones by group, label mass, validation."""

from __future__ import annotations

from fractions import Fraction

from audit_lib.records import STATUSES
from audit_lib.report.blocks import Block, Cell, Column, Fold, Paragraph, Row, Section, Table, text
from audit_lib.report.content import Content, in_words
from audit_lib.report.numbers import UNDEFINED, count, half_up, percent

_WORDS = {
    "ok": "Answered",
    "unranked": "Left out of the ranking",
    "refused": "Refused",
    "unparsed": "Not readable",
    "error": "Error",
}


def quality(content: Content) -> Section:
    """Make the section."""
    lead = (
        "Answers can go missing more often for one group than for another, and that alone moves a rate. "
        "Nothing is dropped in silence: each row without an answer is counted here, by group."
    )
    blocks: list[Block] = [Paragraph(text(lead)), _missing(content)]
    if any(entry["n"] for entry in content.metrics["label_mass"]):
        blocks.append(_mass(content))
    blocks.append(_scores(content))
    blocks.append(_validation(content))
    return Section("answers", "Missing answers and soundness", tuple(blocks))


def _where(stratum: dict[str, str], group: dict[str, str] | None) -> str:
    name = in_words(group) if group else "group unknown"
    return f"{name} ({in_words(stratum)})" if stratum else name


def _missing(content: Content) -> Table:
    entries = [e for e in content.metrics["missingness"] if e["group"] is not None or e["n"]]
    digits = content.policy.rounding.rate_percent
    rows = []
    for entry in entries:
        answered = entry["ok"] + entry["unranked"]
        share = percent(Fraction(answered, entry["n"]), digits) if entry["n"] else UNDEFINED
        cells = (Cell(count(entry["n"])), *(Cell(count(entry[s])) for s in STATUSES), Cell(share))
        rows.append(Row(_where(entry["stratum"], entry["group"]), cells))
    columns = (
        Column("Group", numeric=False),
        Column("Rows"),
        *(Column(_WORDS[s]) for s in STATUSES),
        Column("With a score"),
    )
    notes: tuple[str, ...] = ()
    if any(entry["unranked"] for entry in entries):
        notes = (
            "A candidate whom a ranking leaves out, or names otherwise than shown, ranks last in the order "
            "shown; such rows have a score and are counted.",
        )
    return Table("Answers by group", columns, tuple(rows), notes)


def _mass(content: Content) -> Table:
    rows = tuple(
        Row(
            _where(e["stratum"], e["group"]),
            (
                Cell(count(e["n"])),
                Cell(UNDEFINED if e["mean"] is None else half_up(Fraction(e["mean"]), 3)),
                Cell(UNDEFINED if e["minimum"] is None else half_up(Fraction(e["minimum"]), 3)),
            ),
        )
        for e in content.metrics["label_mass"]
    )
    note = (
        "Label mass: how much of the model's probability fell on the allowed answers. Scores are normalised "
        "over these answers."
    )
    return Table(
        "Label mass by group",
        (Column("Group", numeric=False), Column("Rows"), Column("Mean"), Column("Smallest")),
        rows,
        (note,),
    )


def _scores(content: Content) -> Fold:
    rows = []
    headline = set(content.spec.measure.strata[0])
    for e in content.metrics["scores"]:
        if set(e["stratum"]) != headline:
            continue
        numbers = [e["mean"], e["sd"], *(e["quantiles"] or [None] * 5)]
        cells = [Cell(UNDEFINED if x is None else half_up(Fraction(x), 4)) for x in numbers]
        rows.append(Row(_where(e["stratum"], e["group"]), (Cell(count(e["n"])), *cells)))
    columns = ("Scored", "Mean", "SD", "Smallest", "Quarter", "Median", "Three quarters", "Largest")
    table = Table(
        "Scores by group", (Column("Group", numeric=False), *(Column(c) for c in columns)), tuple(rows)
    )
    return Fold("Scores by group", (table,))


def _validation(content: Content) -> Fold:
    validation = content.validation
    rows = []
    for suite in validation["suites"]:
        for e in suite["expectations"]:
            observed = ", ".join(
                f"{key.replace('_', ' ')} {value}"
                for key, value in e["observed"].items()
                if value is not None
            )
            cells = (
                Cell(e["column"] or ""),
                Cell(e["severity"]),
                Cell("met" if e["success"] else "not met", tone="plain" if e["success"] else "flag"),
                Cell(observed),
            )
            rows.append(
                Row(f"{suite['table']}: {e['expectation'].removeprefix('expect_').replace('_', ' ')}", cells)
            )
    failed = sum(not e["success"] for suite in validation["suites"] for e in suite["expectations"])
    title = f"Validation: {len(rows)} expectations, {failed} not met"
    columns = tuple(
        Column(c, numeric=False) for c in ("Expectation", "Column", "Severity", "Result", "Observed")
    )
    return Fold(title, (Table("Expectations on the tables", columns, tuple(rows)),))
