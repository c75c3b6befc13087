"""Plain text: tables lined up by spaces, in an element for it or in Courier."""

from __future__ import annotations

import textwrap
from pathlib import Path

from benchmarks.published_fourth.audit import Audit, Row
from benchmarks.published_fourth.draw import Taste
from benchmarks.published_fourth.layout import layout
from benchmarks.published_fourth.markup import escaped
from benchmarks.published_fourth.notation import fraction, percent
from benchmarks.published_fourth.sentences import (
    excluded,
    hispanic,
    median,
    nobody,
    ratio_meaning,
    said,
    source,
    unknown,
)
from benchmarks.published_fourth.tables import Columns

WIDTH = 84
FIRST = 36  # of the column of categories
SHORT = (
    ("Native Hawaiian/Pacific Islander", "NHPI"),
    ("American Indian/Alaska Native", "AIAN"),
    ("Native Hawaiian or Pacific Islander", "NHPI"),
    ("Native American or Alaska Native", "AIAN"),
)


@layout(
    ("html", "pdf-fpdf2"),
    Taste(
        races=("slash", "amp"),
        rates=(fraction(3), fraction(3, leading_zero=False), fraction(2), percent(1)),
        ratios=(fraction(3), fraction(2), fraction(3, leading_zero=False)),
        dates=("iso", "us"),
        separated=(False, True),
        selected=0.9,
    ),
)
def pre_text(audit: Audit, producer: str, path: Path) -> None:
    """Tables lined up by spaces; some with selected and applied as one fraction."""
    text = "\n".join([*text_head(audit), *text_words(audit), *text_tables(audit), *text_end(audit)])
    name = escaped(audit.employer)
    if producer == "html":
        page = (
            f"<html><head><title>Bias Audit - {name}</title></head><body bgcolor=white>\n<pre>\n{escaped(text)}\n"
            f"</pre>\n<hr><address>Webmaster, {name}</address></body></html>\n"
        )
        path.write_text(page, encoding="utf-8")
    else:
        draw_text(text, path)


def wrapped(paragraph: str) -> list[str]:
    """A paragraph and an empty line."""
    return [*(textwrap.wrap(paragraph, WIDTH) or [""]), ""]


def text_head(audit: Audit) -> list[str]:
    independent = " (independent)" if audit.auditor != audit.vendor else ""
    facts = [
        ("Tool", f"{audit.tool} (made by {audit.vendor})"),
        ("Auditor", f"{audit.auditor}{independent}"),
        ("Audit date", audit.audit_date()),
        ("Distribution date", audit.distribution_date()),
        ("In use as of" if audit.in_use else "Updated", audit.page_date()),
    ]
    return [
        audit.employer.upper(),
        "BIAS AUDIT SUMMARY -- AUTOMATED EMPLOYMENT DECISION TOOL",
        "(New York City Local Law 144)",
        "",
        *(f"{f'{name}:':<20}{value}" for name, value in facts if value),
        "",
    ]


def text_words(audit: Audit) -> list[str]:
    group = audit.groups[0]
    data = source(audit, group, 1).replace("Source of data: ", "").replace("Source: ", "")
    paragraphs = said(
        f"Data. {data}",
        median(audit, group, 1),
        ratio_meaning(audit, 1).replace("÷", "divided by"),
        audit.claim,
    )
    return [line for text in paragraphs for line in wrapped(text)]


def text_tables(audit: Audit) -> list[str]:
    group, line = audit.groups[0], "=" if audit.variant % 2 else "-"
    lines = []
    for family, title in (
        ("sex", "BY SEX"),
        ("race", "BY RACE / ETHNICITY"),
        ("intersection", "BY SEX AND RACE / ETHNICITY"),
    ):
        rows = audit.rows(group, family)
        if rows is not None:
            lines += [title, line * WIDTH, *text_table(audit, rows), line * WIDTH, ""]
    if any("NHPI" in text for text in lines):
        lines += [f"NHPI = {audit.races['nhpi']}", f"AIAN = {audit.races['aian']}", ""]
    return lines


def text_table(audit: Audit, rows: list[Row]) -> list[str]:
    columns = Columns(
        {
            "applied": "Applied",
            "selected": "> Median" if audit.scoring else "Selected",
            "rate": "Score Rate" if audit.scoring else "Sel. Rate",
            "ratio": "Imp. Ratio",
            "share": "Pct of All",
        }
    )
    if audit.variant % 3 == 0 and audit.show_selected:
        counts = "Above median/All" if audit.scoring else "Selected/Applied"
        heads, widths = [counts, columns.names["rate"], columns.names["ratio"]], [18, 12, 12]
        values = [
            [f"{row.shown['selected']}/{row.shown['applied']}", row.shown["rate"], row.shown["ratio"]]
            for row in rows
        ]
    else:
        heads = columns.heads(audit)
        widths = [max(10, len(head) + 1) for head in heads]
        values = [columns.values(audit, row) for row in rows]
    lines = zip(["Category", *(text_label(audit, row) for row in rows)], [heads, *values], strict=True)
    head, *body = [
        f"{label:<{FIRST}}" + "".join(f"{text:>{width}}" for text, width in zip(texts, widths, strict=True))
        for label, texts in lines
    ]
    return [head, "-" * WIDTH, *body]


def text_label(audit: Audit, row: Row) -> str:
    label = audit.label(row, "sex dash race")
    if len(label) > FIRST - 1:
        for long, short in SHORT:
            label = label.replace(long, short)
    return label


def text_end(audit: Audit) -> list[str]:
    group, second = audit.groups[0], audit.second_date
    paragraphs = said(
        unknown(audit, group, 2),
        excluded(audit, group, 1),
        nobody(audit, group, 1),
        hispanic(audit, 1),
        audit.lawful,
        f"Most recent bias audit performed {audit.date(second)}." if second else None,
    )
    return [line for text in paragraphs for line in wrapped(text)]


def draw_text(text: str, path: Path) -> None:
    from fpdf import FPDF

    document = FPDF(format="letter")
    document.set_margins(16, 16)
    document.add_page()
    document.set_font("Courier", size=9)
    plain = text.replace("–", "-").replace("—", "--").replace("’", "'")
    for line in plain.encode("latin-1", "replace").decode("latin-1").split("\n"):
        document.cell(0, 4, line, new_x="LMARGIN", new_y="NEXT")
    document.output(str(path))
