"""Pages of employers and vendors: a careers page and a trust center."""

from __future__ import annotations

import datetime as dt
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
    html_table,
    paragraphs,
    style,
)
from benchmarks.published_fourth.names import EMPLOYERS
from benchmarks.published_fourth.notation import percent, written_date
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
from benchmarks.published_fourth.tables import Columns, flat, nested, spanned


@layout(
    ("html", "pdf-chromium"),
    Taste(
        races=("rule", "amp"),
        rates=(percent(0), percent(1), percent(1)),
        people=(350, 20000),
    ),
)
def corp_careers(audit: Audit, producer: str, path: Path) -> None:
    """A careers page: the law in many words, captions in the tables, half of them in the rule's own form."""
    blocks = [*careers_words(audit), *careers_results(audit), *careers_end(audit)]

    def table(made: Table) -> str:
        return html_table(made, caption=True, row_heads=audit.variant % 2 == 0, scope=True)

    name = escaped(audit.employer)
    nav = (
        f'<nav><a href="/">{name}</a><a href="/jobs">Search jobs</a>'
        f'<a href="/life">Life at {escaped(audit.employer.split()[0])}</a><a href="/students">Students</a></nav>'
    )
    footer = (
        f"<footer>© {name}. All rights reserved. Equal opportunity employer. "
        '<a href="/privacy">Privacy</a> · <a href="/terms">Terms</a></footer>'
    )
    body = f"<main>{html_blocks(blocks, table=table)}</main>"
    css = style(f"corp_careers_{audit.variant % 2}")
    save(html_page(f"AEDT Bias Audit | {audit.employer} Careers", body, css, nav, footer), producer, path)


def careers_words(audit: Audit) -> list[Block]:
    group, day, used = audit.groups[0], audit.audit_date(), audit.distribution_date()
    does = (
        "gives each application a numerical score against the requirements of the posting."
        if audit.scoring
        else "recommends which applications a recruiter should move forward to the interview stage."
    )
    blocks: list[Block] = [
        ("h1", "Automated Employment Decision Tool Notice and Bias Audit Results"),
        (
            "p",
            f"{audit.employer} is committed to a fair and transparent hiring process. Under New York City Local Law "
            "144 of 2021 (N.Y.C. Admin. Code § 20-870 et seq.) and the rules of the Department of Consumer and Worker "
            "Protection (6 RCNY § 5-300 et seq.), employers that use an automated employment decision tool (“AEDT”) to "
            "substantially assist or replace discretionary decision making must have the tool audited each year and "
            "make a summary of the results public.",
        ),
        (
            "p",
            f"When you apply for certain New York City positions, we may use {audit.tool}, a tool developed by "
            f"{audit.vendor}, which {does} Recruiters make the final decision.",
        ),
        ("h2", "About the audit"),
        (
            "p",
            joined(
                f"The most recent bias audit of {audit.tool} was conducted by {audit.auditor}, an independent auditor,"
                + (f" and is dated {day}." if day else " retained for this purpose."),
                f"{audit.employer} began using the tool on {used}." if used else None,
            ),
        ),
        ("p", joined(source(audit, group, 0), median(audit, group, 0), ratio_meaning(audit, 0))),
    ]
    return [*blocks, *([("p", audit.claim)] if audit.claim else [])]


def careers_results(audit: Audit) -> list[Block]:
    group = audit.groups[0]
    columns = Columns(
        {
            "applied": "# of Applicants",
            "selected": "# Above Median" if audit.scoring else "# Selected",
            "rate": rate_name(audit),
            "ratio": "Impact Ratio",
            "share": "% of Applicants",
        }
    )
    last = "Intersectional Categories"
    tables = [
        flat(audit, group, "sex", columns, "Sex", caption="Sex Categories"),
        flat(audit, group, "race", columns, "Race/Ethnicity", caption="Race/Ethnicity Categories"),
        nested(audit, group, columns, last)
        if audit.variant // 2 % 2
        else spanned(audit, group, columns, ["Sex", "Race/Ethnicity"], last),
    ]
    notes = said(
        unknown(audit, group, 0), excluded(audit, group, 0), nobody(audit, group, 0), hispanic(audit, 0)
    )
    shown: list[Block] = [("table", table) for table in tables if table]
    return [("h2", "Summary of results"), *shown, *(("small", note) for note in notes)]


def careers_end(audit: Audit) -> list[Block]:
    blocks: list[Block] = []
    if audit.second_date:
        day = audit.date(audit.second_date)
        blocks.append(
            ("p", f"The audit summarized above was completed on {day} and will be repeated annually.")
        )
    if audit.lawful:
        blocks.append(("p", audit.lawful))
    blocks += [
        ("h2", "Your choices"),
        (
            "p",
            "Candidates who live in New York City may request an alternative selection process or a reasonable "
            f"accommodation by writing to accommodations@{audit.employer.split()[0].lower()}.example. Information on "
            "the type and source of data collected and on our retention policy is available on written request.",
        ),
    ]
    if audit.in_use:
        words = f"We continue to use {audit.tool} for New York City postings as of {audit.page_date()}."
        blocks.append(("p", words))
    elif audit.dated:
        blocks.append(("p", f"Last updated: {audit.page_date()}"))
    return blocks


@layout(
    ("html", "pdf-chromium"),
    Taste(
        races=("slash", "plain"),
        rates=(percent(1), percent(2)),
        dates=("short", "us"),
        test_data=0,
        fold=True,
        sexes=("mf", "mw"),
    ),
)
def vendor_grid(audit: Audit, producer: str, path: Path) -> None:
    """A vendor's page for several customers, its tables made with CSS grid or flex."""
    body = "\n".join(
        [
            vendor_head(audit),
            vendor_data(audit),
            f'<p class="callout">{escaped(audit.claim)}</p>' if audit.claim else "",
            vendor_results(audit),
            vendor_customers(audit),
            f'<p class="fn">Most recent bias audit: {audit.date(audit.second_date)}.</p>'
            if audit.second_date
            else "",
        ]
    )
    save(html_page(f"{audit.tool} bias audit – {audit.vendor}", body, style("vendor_grid")), producer, path)


def vendor_head(audit: Audit) -> str:
    day, page = audit.audit_date(), audit.page_date()
    facts = [
        ("Audit completed", day),
        ("Auditor", audit.auditor),
        ("Tool audited", f"{audit.tool} (developed by {audit.vendor})"),
        ("In use by the customers below as of" if audit.in_use else "Page updated", page),
    ]
    shown = "".join(
        f'<div class="fact"><span class="k">{escaped(name)}</span><span class="x">{escaped(value)}</span></div>'
        for name, value in facts
        if value
    )
    return (
        f'<header class="hero"><p class="eyebrow">Trust Center</p><h1>{escaped(audit.tool)} – NYC bias audit summary'
        "</h1><p>Local Law 144 asks employers to publish the results of an independent bias audit. We host this page "
        f'so that our customers can link to it.</p></header>\n<div class="facts">{shown}</div>'
    )


def vendor_data(audit: Audit) -> str:
    group = audit.groups[0]
    words = audit.synthetic or (
        f"Historical data, pooled: records of {audit.count(group.known)} candidates with known categories, assessed "
        f"with {audit.tool} at employers in our customer base from {audit.date(group.start)} to "
        f"{audit.date(group.end)}. Customers listed on this page either contributed their own records or had not used "
        f"{audit.tool} before the audit. Candidates self-reported sex and race/ethnicity through the customers' "
        "application forms; no values were inferred."
    )
    texts = said(words, median(audit, group, 1), ratio_meaning(audit, 1))
    found = "".join(f"<p>{escaped(text)}</p>" for text in texts)
    return f"<section><h2>Where the data came from</h2>{found}</section>"


def vendor_results(audit: Audit) -> str:
    group = audit.groups[0]
    columns = Columns(
        {
            "applied": "People assessed",
            "selected": "Scored above median" if audit.scoring else "Advanced",
            "rate": "Scoring rate" if audit.scoring else "Selection rate",
            "ratio": "Impact ratio",
            "share": "Share of pool",
        }
    )
    draw = grid_table if audit.variant % 2 else flex_table
    sections = ""
    for family, title, first, order in (
        ("sex", "Results by sex", "Sex", "sex first"),
        ("race", "Results by race and ethnicity", "Race / ethnicity", "sex first"),
        ("intersection", "Results by sex and race/ethnicity combined", "Group", "race first"),
    ):
        table = flat(audit, group, family, columns, first, joined=order)
        if table:
            sections += f'<section class="acc"><h3>{escaped(title)}</h3>{draw(table)}</section>'
    notes = said(
        unknown(audit, group, 1),
        excluded(audit, group, 0),
        nobody(audit, group, 1),
        hispanic(audit, 1),
        audit.lawful,
    )
    return f"<section><h2>Results</h2>{sections}\n{paragraphs(notes, 'fn')}</section>"


def grid_table(table: Table) -> str:
    columns = len(table.head[0]) - 1
    heads = "".join(f'<div class="hd">{escaped(cell.text)}</div>' for cell in table.head[0])
    lines = [f'<div class="tbl" style="grid-template-columns:2.4fr repeat({columns},1fr)">', heads]
    for first, *rest in table.body:
        values = "".join(f'<div class="v">{escaped(cell.text)}</div>' for cell in rest)
        lines.append(f'<div class="lbl">{escaped(first.text)}</div>{values}')
    return "\n".join(lines) + "</div>"


def flex_table(table: Table) -> str:
    lines = ['<div class="ft">']
    for at, (first, *rest) in enumerate([*table.head, *table.body]):
        values = "".join(f"<span>{escaped(cell.text)}</span>" for cell in rest)
        name = "row" if at else "row head"
        lines.append(f'<div class="{name}"><span class="c0">{escaped(first.text)}</span>{values}</div>')
    return "\n".join(lines) + "</div>"


def vendor_customers(audit: Audit) -> str:
    others = audit.rng.sample([name for name in EMPLOYERS if name != audit.employer], 3)
    names = [f"<strong>{escaped(name)}</strong>" for name in (audit.employer, *others)]
    lead = "Customers who asked us to host their summary"
    if audit.distribution_shown:
        lead += ", and the date on which each began using the tool"
        latest = audit.audited - dt.timedelta(days=15)
        near = [audit.distributed + dt.timedelta(days=audit.rng.randint(-200, 200)) for _ in others]
        days = [audit.distributed, *(max(dt.date(2022, 2, 14), min(day, latest)) for day in near)]
        names = [
            f"{name} – distribution date {written_date(day, audit.date_style)}"
            for name, day in zip(names, days, strict=True)
        ]
    listed = "".join(f"<li>{name}</li>" for name in names)
    return f"<section><h2>Who uses it</h2><p>{lead}:</p><ul>{listed}</ul></section>"
