"""Printed reports: a consultancy's, and a brief in two columns."""

from __future__ import annotations

from pathlib import Path

from benchmarks.published_fourth.audit import Audit
from benchmarks.published_fourth.draw import Taste
from benchmarks.published_fourth.layout import layout
from benchmarks.published_fourth.markup import (
    Block,
    Table,
    escaped,
    html_blocks,
    html_page,
    style,
)
from benchmarks.published_fourth.notation import bare, fraction, percent
from benchmarks.published_fourth.printed import paragraph, reportlab_table, save
from benchmarks.published_fourth.sentences import (
    excluded,
    hispanic,
    joined,
    median,
    nobody,
    ratio_meaning,
    said,
    source,
    unknown,
)
from benchmarks.published_fourth.tables import Columns, flat

FAMILIES = ("sex", "race", "intersection")


@layout(
    ("pdf-weasyprint", "pdf-reportlab"),
    Taste(
        kinds=("scoring", "selection"),
        races=("rule", "plain"),
        rates=(fraction(3), fraction(2), percent(2), fraction(4)),
        ratios=(fraction(3), fraction(2), fraction(4)),
        dates=("us", "uk"),
        fold=True,
        exclude=0.5,
    ),
)
def consultancy_report(audit: Audit, producer: str, path: Path) -> None:
    """A numbered report with tables without rules and captions below them."""
    blocks = [*report_words(audit), *report_tables(audit), *report_end(audit)]
    title, subtitle = (
        f"Independent Bias Audit of {audit.tool}",
        f"Summary of results prepared for {audit.employer}",
    )
    if producer == "pdf-weasyprint":
        css = style("consultancy_report").replace("AUDITOR", audit.auditor.replace("'", ""))
        heads = f'<h1>{escaped(title)}</h1><div class="sub">{escaped(subtitle)}</div>'
        save(html_page("Bias audit", heads + html_blocks(blocks, "below"), css), producer, path)
    else:
        draw_report(title, subtitle, blocks, path)


def report_words(audit: Audit) -> list[Block]:
    group, day, used = audit.groups[0], audit.audit_date(), audit.distribution_date()
    apart = audit.auditor != audit.vendor
    engagement = joined(
        f"{audit.employer} engaged {audit.auditor} to carry out a bias audit of {audit.tool}, an automated employment "
        f"decision tool provided by {audit.vendor}, as required by New York City Administrative Code § 20-871.",
        f"The audit was completed on {day}." if day else None,
        f"According to {audit.employer}, the tool was first used (distribution date) on {used}."
        if used
        else None,
        f"{audit.auditor} took no part in developing, distributing or using the tool and has no financial interest in "
        f"{audit.employer} or {audit.vendor}."
        if apart
        else None,
    )
    remained = (
        f"After removal of records without demographic information, {audit.count(group.known)} records remained in "
        "the intersectional analysis."
    )
    unknowns = unknown(audit, group, 1)
    return [
        ("h2", "1  Engagement"),
        ("p", engagement),
        ("h2", "2  Data"),
        ("p", joined(source(audit, group, 2), None if audit.unknown_by_axis else remained)),
        *([("p", unknowns)] if unknowns else []),
        ("h2", "3  Method"),
        ("p", joined(median(audit, group, 0), ratio_meaning(audit, 1), hispanic(audit, 1))),
        ("h2", "4  Results"),
    ]


def report_tables(audit: Audit) -> list[Block]:
    group, kind = audit.groups[0], "Scoring" if audit.scoring else "Selection"
    names = {
        "applied": "N",
        "selected": "n > median" if audit.scoring else "n selected",
        "rate": f"{kind} rate",
        "ratio": "Impact ratio",
        "share": "% of sample",
    }
    by = {"sex": "sex", "race": "race/ethnicity", "intersection": "sex and race/ethnicity"}
    blocks: list[Block] = []
    for family in FAMILIES:
        table = flat(audit, group, family, Columns(names), "Category")
        if table:
            table.caption = f"Table {len(blocks) + 1}. {kind} rates and impact ratios by {by[family]}."
            blocks.append(("table", table))
    return blocks


def report_end(audit: Audit) -> list[Block]:
    group, second, page = audit.groups[0], audit.second_date, audit.page_date()
    remarks = joined(
        audit.claim,
        audit.lawful or "The figures are descriptive and relate to the period examined.",
        f"This report was finalised following the audit of {audit.date(second)}, the most recent audit of the tool."
        if second
        else None,
    )
    confirmed = f"{audit.employer} confirmed that the tool was in use on {page}."
    last = (confirmed if audit.in_use else f"Published by {audit.employer} on {page}.") if page else None
    return [
        *(("p", note) for note in said(excluded(audit, group, 0), nobody(audit, group, 1))),
        ("h2", "5  Remarks"),
        *(("p", text) for text in said(remarks, last)),
    ]


def draw_report(title: str, subtitle: str, blocks: list[Block], path: Path) -> None:
    from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
    from reportlab.platypus import KeepTogether, Paragraph, SimpleDocTemplate, Spacer

    sheet = getSampleStyleSheet()
    caption = ParagraphStyle("caption", parent=sheet["BodyText"], fontSize=8.5, alignment=1)

    def rules(head_rows: int) -> list[tuple]:
        last = head_rows - 1
        return [
            ("LINEABOVE", (0, 0), (-1, 0), 1, "black"),
            ("LINEBELOW", (0, last), (-1, last), 0.5, "black"),
            ("LINEBELOW", (0, -1), (-1, -1), 1, "black"),
        ]

    story = [
        Paragraph(escaped(title), sheet["Title"]),
        Paragraph(escaped(subtitle), sheet["Heading3"]),
        Spacer(1, 10),
    ]
    for kind, content in blocks:
        if isinstance(content, Table):
            widths = [190, *[62] * (len(content.head[0]) - 1)]
            drawn = reportlab_table(content, widths, 8.5, 1.5, rules)
            story.append(KeepTogether([drawn, Paragraph(escaped(content.caption), caption), Spacer(1, 8)]))
        else:
            name = {"h2": "Heading2", "p": "BodyText"}[kind]
            story.append(Paragraph(escaped(str(content)), sheet[name]))
    SimpleDocTemplate(str(path), title="Bias audit summary", leftMargin=60, rightMargin=60).build(story)


@layout(
    ("pdf-reportlab",),
    Taste(races=("slash", "amp"), rates=(percent(1), bare(1)), dates=("us", "uk"), selected=0.6),
)
def two_column_brief(audit: Audit, producer: str, path: Path) -> None:
    """Two columns of text, the tables as exhibits, some rates without the percent sign."""
    from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate

    def footer(canvas, _) -> None:
        canvas.setFont("Helvetica", 7)
        words = f"{audit.employer} | NYC Local Law 144 | page {canvas.getPageNumber()}"
        canvas.drawCentredString(306, 24, words)

    document = BaseDocTemplate(str(path), pagesize=(612, 792), title="AEDT bias audit brief")
    frames = [Frame(x, 42, 256, 708, 0, 0, 0, 0) for x in (42, 314)]
    document.addPageTemplates([PageTemplate(frames=frames, onPage=footer)])
    styles = brief_styles()
    story = [paragraph(text, styles[name]) for name, text in brief_words(audit)]
    story += brief_exhibits(audit, styles)
    story += [paragraph(text, styles[name]) for name, text in brief_end(audit)]
    document.build(story)


def brief_styles() -> dict:
    from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet

    body = getSampleStyleSheet()["BodyText"]
    return {
        "title": ParagraphStyle("title", fontName="Times-Bold", fontSize=15, leading=18, spaceAfter=6),
        "heading": ParagraphStyle(
            "heading",
            fontName="Helvetica-Bold",
            fontSize=10.5,
            leading=14,
            textColor="#7b1e1e",
            spaceBefore=8,
        ),
        "body": ParagraphStyle(
            "body", parent=body, fontName="Times-Roman", fontSize=9.5, leading=12, alignment=4
        ),
        "caption": ParagraphStyle(
            "caption", fontName="Helvetica-Oblique", fontSize=8, leading=10, spaceBefore=6, spaceAfter=2
        ),
        "small": ParagraphStyle("small", fontName="Times-Italic", fontSize=8, leading=9.5, spaceBefore=3),
    }


def brief_words(audit: Audit) -> list[tuple[str, str]]:
    group, day, used = audit.groups[0], audit.audit_date(), audit.distribution_date()
    audited = (
        f"{audit.auditor}, acting as independent auditor, completed the most recent bias audit on {day}."
        if day
        else f"{audit.auditor} acted as independent auditor."
    )
    tool = joined(
        f"{audit.tool}, licensed from {audit.vendor}, supports decisions about applications for {audit.positions}.",
        f"{audit.employer} first used it on {used} (the distribution date)." if used else None,
        audited,
        audit.claim,
    )
    return [
        ("title", f"{audit.employer}: Annual AEDT Bias Audit"),
        ("heading", "The tool and the audit"),
        ("body", tool),
        ("heading", "The data"),
        *(("body", text) for text in said(source(audit, group, 0), unknown(audit, group, 3))),
        ("heading", "The measures"),
        ("body", joined(median(audit, group, 1), ratio_meaning(audit, 0), hispanic(audit, 0))),
        ("heading", "The results"),
    ]


def brief_exhibits(audit: Audit, styles: dict) -> list:
    from reportlab.platypus import KeepTogether

    sign = " (%)" if audit.rates.unit == "bare" else ""
    names = {
        "applied": "Appl.",
        "selected": "Above med." if audit.scoring else "Sel.",
        "rate": f"{'Scoring' if audit.scoring else 'Selection'} rate{sign}",
        "ratio": "Impact ratio",
    }
    by = {"sex": "sex", "race": "race or ethnicity", "intersection": "sex and race or ethnicity"}

    def rules(head_rows: int) -> list[tuple]:
        last = head_rows - 1
        lines: list[tuple] = [
            ("LINEBELOW", (0, last), (-1, last), 0.7, "#7b1e1e"),
            ("LINEBELOW", (0, -1), (-1, -1), 0.4, "#7b1e1e"),
        ]
        bands = [("ROWBACKGROUNDS", (0, head_rows), (-1, -1), ["#ffffff", "#f6eeee"])]
        return [*lines, *(bands if audit.variant % 2 else [])]

    exhibits: list = []
    for family in FAMILIES:
        columns = Columns(names, ["applied", "selected", "rate", "ratio"])
        table = flat(audit, audit.groups[0], family, columns, "Group")
        if table:
            caption = f"Exhibit {len(exhibits) + 1} – Applicants by {by[family]}"
            number = len(table.head[0]) - 1
            drawn = reportlab_table(table, [254 - number * 43, *[43] * number], 7.2, 1.2, rules)
            exhibits.append(KeepTogether([paragraph(caption, styles["caption"]), drawn]))
    return exhibits


def brief_end(audit: Audit) -> list[tuple[str, str]]:
    group, second, page = audit.groups[0], audit.second_date, audit.page_date()
    in_use = f"The tool remains in use at the date of this brief, {page}."
    texts = said(
        audit.lawful,
        f"Audit date: {audit.date(second)}." if second else None,
        (in_use if audit.in_use else f"Brief dated {page}.") if page else None,
    )
    notes = said(excluded(audit, group, 1), nobody(audit, group, 1))
    return [*(("small", note) for note in notes), *(("body", text) for text in texts)]
