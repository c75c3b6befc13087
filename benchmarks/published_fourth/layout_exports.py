"""Documents of Google Docs and of Notion, as these programs export them."""

from __future__ import annotations

from pathlib import Path

from benchmarks.published_fourth.audit import Audit
from benchmarks.published_fourth.draw import Taste
from benchmarks.published_fourth.layout import layout
from benchmarks.published_fourth.markup import Table, escaped, style
from benchmarks.published_fourth.notation import fraction, percent
from benchmarks.published_fourth.printed import save
from benchmarks.published_fourth.sentences import (
    excluded,
    hispanic,
    joined,
    median,
    nobody,
    rate_name,
    ratio_meaning,
    said,
    source,
    unknown,
)
from benchmarks.published_fourth.tables import Columns, flat


@layout(
    ("html-gdocs", "html-notion", "pdf-chromium"),
    Taste(
        kinds=("selection", "scoring"),
        races=("rule", "slash"),
        rates=(fraction(3), fraction(4), percent(1)),
        ratios=(fraction(3), fraction(4), fraction(2)),
        dates=("us", "uk"),
        people=(320, 24000),
    ),
)
def gdocs_notion(audit: Audit, producer: str, path: Path) -> None:
    """A list of facts, the tables under headings or in toggles, notes."""
    notion = producer == "html-notion" or (producer == "pdf-chromium" and audit.variant % 2 == 1)
    save((notion_page if notion else google_page)(audit), producer, path)


def facts(audit: Audit) -> list[str]:
    day, used, page = audit.audit_date(), audit.distribution_date(), audit.page_date()
    return said(
        f"Tool: {audit.tool}",
        f"Vendor: {audit.vendor}",
        f"Employer: {audit.employer}",
        f"Independent auditor: {audit.auditor}",
        f"Bias audit date: {day}" if day else None,
        f"AEDT distribution date: {used}" if used else None,
        f"{'Tool in use as of' if audit.in_use else 'Last edited'}: {page}" if page else None,
    )


def notes(audit: Audit) -> list[str]:
    group, second = audit.groups[0], audit.second_date
    return said(
        unknown(audit, group, 0),
        excluded(audit, group, 0),
        nobody(audit, group, 1),
        hispanic(audit, 0),
        audit.lawful,
        audit.claim,
        f"Most recent bias audit: {audit.date(second)}" if second else None,
    )


def meaning(audit: Audit) -> str:
    return joined(median(audit, audit.groups[0], 1), ratio_meaning(audit, 1))


def titled_tables(audit: Audit, order: str) -> list[tuple[str, Table]]:
    columns = Columns(
        {
            "applied": "Applicant count",
            "selected": "Count above median" if audit.scoring else "Selected count",
            "rate": rate_name(audit),
            "ratio": "Impact Ratio (IR)",
            "share": "Share of data",
        },
        ["applied", "selected", "share", "rate", "ratio"],
    )
    found = [
        (title, flat(audit, audit.groups[0], family, columns, first, joined=order))
        for family, title, first in (
            ("sex", "Gender (sex)", "Sex category"),
            ("race", "Race and ethnicity", "Race/ethnicity category"),
            ("intersection", "Gender × race and ethnicity", "Intersectional category"),
        )
    ]
    return [(title, table) for title, table in found if table]


def notion_page(audit: Audit) -> str:
    shown = "<br/>".join(escaped(fact) for fact in facts(audit))
    toggles = "".join(
        f'<ul class="toggle"><li><details open=""><summary>{escaped(title)}</summary>{notion_table(table)}</details>'
        "</li></ul>"
        for title, table in titled_tables(audit, "race first")
    )
    listed = "".join(
        f'<ul class="bulleted-list"><li style="list-style-type:disc">{escaped(note)}</li></ul>'
        for note in notes(audit)
    )
    data = escaped(source(audit, audit.groups[0], 1))
    return (
        '<html><head><meta http-equiv="Content-Type" content="text/html; charset=utf-8"/>'
        f"<title>AEDT bias audit summary</title><style>{style('notion')}</style></head><body>"
        '<article class="page sans"><header><div class="page-header-icon"><span class="icon">⚖️</span></div>'
        '<h1 class="page-title">AEDT bias audit summary</h1><p class="page-description"></p></header>'
        '<div class="page-body"><figure class="callout" style="white-space:pre-wrap;display:flex">'
        f'<div style="width:100%">{shown}</div></figure><h2>📊 Data</h2><p>{data}</p>'
        f"<p>{escaped(meaning(audit))}</p>{toggles}<h2>Notes</h2>{listed}</div></article></body></html>"
    )


def notion_table(table: Table) -> str:
    heads = "".join(
        f'<th class="simple-table-header-color simple-table-header" style="width:120px">{escaped(cell.text)}</th>'
        for cell in table.head[0]
    )
    rows = "".join(
        "<tr>" + "".join(f'<td style="width:120px">{escaped(cell.text)}</td>' for cell in row) + "</tr>"
        for row in table.body
    )
    return (
        f'<table class="simple-table"><thead class="simple-table-header"><tr>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def google_page(audit: Audit) -> str:
    data = [source(audit, audit.groups[0], 1), meaning(audit)]
    tables = "".join(
        google_heading(title) + google_table(table) for title, table in titled_tables(audit, "sex first")
    )
    first, words, last = ("".join(map(google_text, texts)) for texts in (facts(audit), data, notes(audit)))
    return (
        '<html><head><meta content="text/html; charset=UTF-8" http-equiv="content-type">'
        f'<style type="text/css">{style("google_docs")}</style></head><body class="c0 doc-content">'
        '<h1 class="c10" id="h.x1"><span class="c11">AEDT Bias Audit Summary</span></h1>'
        f"{first}{google_heading('Data used')}{words}{tables}{last}</body></html>"
    )


def google_heading(text: str) -> str:
    return f'<h2 class="c12"><span>{escaped(text)}</span></h2>'


def google_text(text: str, css_class: str = "c2") -> str:
    return f'<p class="c1"><span class="{css_class}">{escaped(text)}</span></p>'


def google_table(table: Table) -> str:
    rows = ""
    for row, place, words in [
        *((row, "c8", "c7") for row in table.head),
        *((row, "c6", "c2") for row in table.body),
    ]:
        inside = "".join(
            f'<td class="{place}" colspan="1" rowspan="1">{google_text(cell.text, words)}</td>'
            for cell in row
        )
        rows += f'<tr class="c5">{inside}</tr>'
    return f'<table class="c9">{rows}</table><p class="c1 c3"><span class="c2"></span></p>'
