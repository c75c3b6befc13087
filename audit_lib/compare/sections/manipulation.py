"""Whether each model named the attributes that the versions were meant to show."""

from __future__ import annotations

from typing import Final

from audit_lib.compare.sections.estimates import in_headline, plain
from audit_lib.documents.comparison import ComparedEstimate, Comparison
from audit_lib.documents.parameters import ATTRIBUTE
from audit_lib.report.blocks import Cell, Column, Paragraph, Row, Section, Table, text
from audit_lib.report.numbers import count
from audit_lib.report.sections.estimates import limits_of, reason_of, value_of
from audit_lib.translation import t

METRIC: Final = "manipulation_agreement"
_OUTCOMES: Final = ("asked", "agreed", "unsure", "refused", "unread", "error")


def manipulation(document: Comparison) -> list[Section]:
    """Make a table with a line for each model, attribute and level; none where no model was asked."""
    found = [
        e
        for e in document.estimates
        if e.metric == METRIC and in_headline(document, e) and "asked" in e.parameters
    ]
    if not found:
        return []
    columns = (
        Column(t("Model"), numeric=False),
        Column(t("Meant to show"), numeric=False),
        Column(t("Named as meant")),
        Column(t("Interval")),
        Column(t("Asked")),
        Column(t("As meant")),
        Column(t("Unsure")),
        Column(t("Refused")),
        Column(t("Not readable")),
        Column(t("Errors")),
    )
    ordered = sorted(found, key=lambda e: (str(e.parameters[ATTRIBUTE]), tuple(e.group.values()), e.run))
    rows = tuple(_row(document, e) for e in ordered)
    words = t(
        "Each model was asked which attributes it perceives in the versions. The share is of the versions that it "
        "named at all. A model that does not perceive an attribute cannot show that it treats it equally."
    )
    return [
        Section(
            "manipulation",
            t("Manipulation check"),
            (Paragraph(text(words)), Table(t("Manipulation check"), columns, rows)),
        )
    ]


def _row(document: Comparison, e: ComparedEstimate) -> Row:
    attribute, one = str(e.parameters[ATTRIBUTE]), plain(e)
    level = next(iter(e.group.values()), "")
    return Row(
        document.runs[e.run].label,
        (
            Cell(f"{attribute}: {level}" if level else t("{attribute}, all levels", attribute=attribute)),
            Cell(value_of(one, sign=False), note=reason_of(one)),
            Cell(limits_of(one, sign=False)),
            *(Cell(count(int(e.parameters[name]))) for name in _OUTCOMES),
        ),
    )
