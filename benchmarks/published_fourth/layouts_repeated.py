"""Pages with one set of tables after another: of job families, and of years."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks.published_fourth import word
from benchmarks.published_fourth.audit import Audit, Group
from benchmarks.published_fourth.draw import Taste
from benchmarks.published_fourth.layout import layout
from benchmarks.published_fourth.markup import Block, escaped, html_blocks, html_page, html_table, style
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
    ("html", "pdf-chromium", "docx"),
    Taste(
        races=("plain", "slash"),
        rates=(percent(1), percent(2)),
        dates=("us", "short"),
        groups=(2, 3),
        test_data=0,
        people=(900, 9000),
        selected=0.85,
    ),
)
def job_families(audit: Audit, producer: str, path: Path) -> None:
    """Two or three job families, each with its tables; on the web only the first is open."""
    families = [(group.name, family_blocks(audit, group)) for group in audit.groups]
    first, last = families_words(audit), families_end(audit)
    if producer == "docx":
        style_of_tables = "Light List Accent 1" if audit.variant % 2 else "Table Grid"
        parts = [block for name, blocks in families for block in (("h2", name), *blocks)]
        word.save([*first, *parts, *last], path, word.Look("Arial", style_of_tables))
        return
    folds = ""
    for at, (name, blocks) in enumerate(families):
        inside = html_blocks(blocks, "heading", partial(html_table, scope=True))
        state = " open" if producer != "html" or at == 0 else ""
        folds += f"<details{state}><summary>{escaped(name)}</summary>{inside}</details>"
    body = html_blocks(first) + folds + html_blocks(last)
    save(html_page(f"Bias audit | {audit.employer}", body, style("job_families")), producer, path)


def families_words(audit: Audit) -> list[Block]:
    day, used = audit.audit_date(), audit.distribution_date()
    audited = (
        f"{audit.auditor} carried out the independent bias audit required by New York City Local Law 144"
    )
    data = source(audit, audit.groups[0], 0)
    if not audit.synthetic:
        data = data.replace(audit.positions, "positions in these job families")
    words = joined(
        f"{audit.employer} uses {audit.tool} by {audit.vendor} in the hiring processes named below.",
        f"{audited}; it was issued on {day}." if day else f"{audited}.",
        f"Our distribution date, meaning the day we began using the tool, was {used}." if used else None,
    )
    apart = "Each job family was analyzed on its own because the tool uses a different model for each."
    return [
        ("h1", "AI in hiring: our bias audit"),
        ("p", words),
        ("p", joined(ratio_meaning(audit, 0), apart, audit.claim)),
        ("p", data),
    ]


def family_blocks(audit: Audit, group: Group) -> list[Block]:
    columns = Columns(
        {
            "applied": "Total applicants",
            "selected": "Above median score" if audit.scoring else "Advanced by tool",
            "rate": "Scoring rate" if audit.scoring else "Selection rate",
            "ratio": "Impact ratio",
        },
        ["applied", "selected", "rate", "ratio"],
    )
    meaning = median(audit, group, 0)
    blocks: list[Block] = [("p", meaning)] if meaning else []
    for family, title, first in (
        ("sex", "Sex", "Sex"),
        ("race", "Race/ethnicity", "Race/ethnicity"),
        ("intersection", "Intersectional", "Sex and race/ethnicity"),
    ):
        table = flat(audit, group, family, columns, first, caption=f"{group.name}: {title}")
        if table:
            blocks.append(("table", table))
    notes = said(unknown(audit, group, 1), excluded(audit, group, 2), nobody(audit, group, 1))
    return [*blocks, *(("small", note) for note in notes)]


def families_end(audit: Audit) -> list[Block]:
    second, page = audit.second_date, audit.page_date()
    in_use = f"Applies to applications considered with the tool as of {page}."
    texts = said(
        hispanic(audit, 1),
        audit.lawful,
        f"The most recent audit was issued on {audit.date(second)}." if second else None,
        (in_use if audit.in_use else f"Posted {page}.") if page else None,
    )
    return [("p", text) for text in texts]


@layout(
    ("html", "pdf-weasyprint"),
    Taste(
        races=("slash", "amp"),
        rates=(percent(1), fraction(3), percent(0)),
        dates=("us", "uk", "short"),
        groups=(2, 2, 3),
        years=True,
        test_data=0,
        selected=0.85,
        dated=True,
    ),
)
def years_archive(audit: Audit, producer: str, path: Path) -> None:
    """This year's audit above those of earlier years."""
    used, page = audit.distribution_date(), audit.page_date()
    words = joined(
        f"{audit.employer} reviews {audit.tool} ({audit.vendor}) every year.",
        f"We have used the tool since {used} (distribution date)." if used else None,
        "The current results come first; results of earlier years are kept below for reference.",
        audit.claim,
    )
    blocks: list[Block] = [
        ("h1", "Bias audit results"),
        ("p", words),
        ("p", joined(ratio_meaning(audit, 2), hispanic(audit, 0))),
    ]
    for at, group in enumerate(audit.groups):
        blocks += year_blocks(audit, group, at)
    in_use = f"{audit.tool} is in use at {audit.employer} as of {page}."
    last = in_use if audit.in_use else f"This page was last reviewed on {page}."
    blocks += [("p", text) for text in said(audit.lawful, last)]
    body = html_blocks(blocks, "above")
    save(html_page("Bias audit results", body, style("years_archive")), producer, path)


def year_blocks(audit: Audit, group: Group, at: int) -> list[Block]:
    """An audit; what is said to be wrong is in the current one."""
    name = ("current", "previous", "earlier")[min(at, 2)]
    day = audit.date(group.audited) if at else audit.audit_date()
    current = at == 0 and audit.source == "synthetic"
    data = source(audit if current else replace(audit, source="own"), group, 3 if at else 0)
    words = joined(
        f"Audit date: {day}." if day else None,
        f"Auditor: {audit.auditor}.",
        data,
        median(audit, group, 0),
    )
    blocks: list[Block] = [("h2", f"{name.capitalize()} audit{f' – {day}' if day else ''}"), ("p", words)]
    columns = Columns(
        {
            "applied": "No. applied",
            "selected": "No. above median" if audit.scoring else "No. selected",
            "rate": rate_name(audit).capitalize(),
            "ratio": "Impact ratio",
            "share": "% of applicants",
        }
    )
    for family, title in (
        ("sex", "Sex"),
        ("race", "Race and ethnicity"),
        ("intersection", "Sex × race and ethnicity"),
    ):
        caption = f"{title}, {name} audit" if at else title
        table = flat(audit, group, family, columns, title, joined="slash", caption=caption)
        if table:
            blocks.append(("table", table))
    notes = said(unknown(audit, group, 4), excluded(audit, group, 1), nobody(audit, group, 0))
    blocks += [("small", note) for note in notes]
    if at == 0 and audit.second_date:
        second = audit.date(audit.second_date)
        blocks.append(("p", f"The most recent bias audit was performed on {second}."))
    return blocks
