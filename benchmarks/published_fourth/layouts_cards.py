"""Pages that lay categories out in two directions: a matrix, and cards."""

from __future__ import annotations

from pathlib import Path

from benchmarks.published_fourth.audit import Audit, Group, Row
from benchmarks.published_fourth.draw import Taste
from benchmarks.published_fourth.layout import layout
from benchmarks.published_fourth.markup import (
    Cell,
    Table,
    cells,
    escaped,
    html_page,
    html_table,
    paragraphs,
    style,
)
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
    ("html", "pdf-weasyprint"),
    Taste(
        races=("plain", "slash"),
        rates=(percent(1), percent(0)),
        ratios=(fraction(2), percent(0), fraction(3)),
        dates=("us", "uk"),
        sexes=("mf", "mw"),
        selected=0.5,
        marks=("none", "highest"),
    ),
)
def matrix_side(audit: Audit, producer: str, path: Path) -> None:
    """Sex and race side by side, and below them a matrix of both under two header rows."""
    group = audit.groups[0]
    order = ["applied", "selected", "rate", "ratio"]
    selected = "Above median" if audit.scoring else "Moved forward"
    names = {
        "applied": "Candidates",
        "selected": selected,
        "rate": rate_name(audit).capitalize(),
        "ratio": "Impact ratio",
    }
    short = names | {"rate": "Rate", "ratio": "Ratio"}
    sides = [
        flat(audit, group, "sex", Columns(names, order), "", caption="By sex"),
        flat(audit, group, "race", Columns(names, order), "", caption="By race or ethnicity"),
    ]
    columns = "".join(
        f'<div class="w-col"><h4>{escaped(table.caption)}</h4>{html_table(table, "w-table")}</div>'
        for table in sides
        if table
    )
    below = ""
    rows = audit.rows(group, "intersection")
    if rows is not None:
        table = matrix(audit, rows, Columns(short, order))
        below = f'<div class="w-full"><h4>{escaped(table.caption)}</h4>{html_table(table, "w-table matrix")}</div>'
    body = (
        f'{matrix_words(audit)}\n<div class="w-row">{columns}</div>\n{below}\n'
        f"{paragraphs(matrix_notes(audit), 'tiny')}\n</div></div>"
    )
    save(html_page(f"Bias audit summary – {audit.employer}", body, style("matrix_side")), producer, path)


def matrix(audit: Audit, rows: list[Row], columns: Columns) -> Table:
    sexes = list(dict.fromkeys(row.sex for row in rows))
    found = {(row.sex, row.race): row for row in rows}
    heads = columns.heads(audit)
    body = []
    for race in dict.fromkeys(row.race for row in rows):
        values = [
            value
            for sex in sexes
            for value in (
                columns.values(audit, found[sex, race]) if (sex, race) in found else [""] * len(heads)
            )
        ]
        body.append([Cell(audit.races[str(race)], head=True), *cells(values)])
    first = [
        Cell("Race or ethnicity", rows=2),
        *(Cell(audit.sexes[str(sex)], columns=len(heads)) for sex in sexes),
    ]
    return Table([first, cells(heads * len(sexes))], body, "Sex and race or ethnicity together")


def matrix_words(audit: Audit) -> str:
    group, used, day = audit.groups[0], audit.distribution_date(), audit.audit_date()
    lead = joined(
        "New York City asks employers to have automated hiring tools audited every year.",
        f"{audit.tool} is built by {audit.vendor}" + (f"; we have used it since {used}." if used else "."),
        f"{audit.auditor} audited it independently" + (f"; the audit date is {day}." if day else "."),
    )
    rate = "scoring rate" if audit.scoring else "selection rate"
    meaning = f'"Rate" is the {rate}; "Ratio" is the impact ratio.'
    explained = joined(median(audit, group, 2), ratio_meaning(audit, 2), meaning)
    return (
        '<div class="w-section"><div class="w-container"><div class="kicker">Responsible hiring</div>'
        f'<h1>How we audit {escaped(audit.tool)}</h1>\n<p class="lead">{escaped(lead)}</p>\n'
        f"<p>{escaped(source(audit, group, 3))}</p><p>{escaped(explained)}</p>"
        + (f"<p><b>{escaped(audit.claim)}</b></p>" if audit.claim else "")
    )


def matrix_notes(audit: Audit) -> list[str]:
    group, second, page = audit.groups[0], audit.second_date, audit.page_date()
    use = f"We still use {audit.tool} today, {page}." if audit.in_use else f"Page updated {page}."
    return said(
        unknown(audit, group, 3),
        excluded(audit, group, 2),
        nobody(audit, group, 2),
        hispanic(audit, 2),
        audit.lawful,
        f"Date of most recent audit: {audit.date(second)}." if second else None,
        use if page else None,
    )


@layout(
    ("html", "pdf-chromium"),
    Taste(
        races=("amp", "plain"),
        rates=(percent(1), percent(0), percent(2)),
        ratios=(fraction(2), fraction(3), percent(1)),
        dates=("us", "ordinal"),
        sexes=("mf", "mw"),
        selected=0.7,
    ),
)
def dl_cards(audit: Audit, producer: str, path: Path) -> None:
    """No table: a card with a list of terms for each category."""
    sections = "".join(
        card_section(audit, audit.groups[0], family, title)
        for family, title in (
            ("sex", "Sex"),
            ("race", "Race / ethnicity"),
            ("intersection", "Intersectional groups"),
        )
    )
    group, second = audit.groups[0], audit.second_date
    notes = said(
        excluded(audit, group, 0),
        nobody(audit, group, 2),
        audit.lawful,
        f"The above findings are those of the most recent bias audit ({audit.date(second)})."
        if second
        else None,
    )
    body = (
        f"<main><h1>Bias audit of our hiring technology</h1>{cards_head(audit)}\n"
        f"<h2>Findings</h2>{sections}\n{paragraphs(notes, 's')}</main>"
    )
    save(html_page(f"Bias audit – {audit.employer}", body, style("dl_cards")), producer, path)


def cards_head(audit: Audit) -> str:
    group = audit.groups[0]
    facts = [
        ("Tool", f"{audit.tool} from {audit.vendor}"),
        ("Audited by", audit.auditor),
        ("Audit date", audit.audit_date()),
        ("Used by us since", audit.distribution_date()),
        ("Currently in use (checked)" if audit.in_use else "Page last changed", audit.page_date()),
    ]
    shown = "".join(
        f"<div><dt>{escaped(name)}</dt><dd>{escaped(value)}</dd></div>" for name, value in facts if value
    )
    data = joined(
        f"{audit.tool} helps our recruiters review applications for {audit.positions}.",
        source(audit, group, 2),
    )
    explained = joined(median(audit, group, 0), ratio_meaning(audit, 0), hispanic(audit, 2))
    texts = said(data, unknown(audit, group, 1), explained, audit.claim)
    return f'<dl class="meta">{shown}</dl>\n<h2>What was audited, and with which data</h2>' + "".join(
        f"<p>{escaped(text)}</p>" for text in texts
    )


def card_section(audit: Audit, group: Group, family: str, title: str) -> str:
    rows = audit.rows(group, family)
    if rows is None:
        return ""
    cards = "".join(card(audit, row) for row in rows)
    return f'<section><h3>{title}</h3><div class="cards">{cards}</div></section>'


def card(audit: Audit, row: Row) -> str:
    selected = "Above median" if audit.scoring else "Selected"
    if audit.show_selected and audit.variant % 2:
        terms = [(selected, f"{row.shown['selected']} of {row.shown['applied']} applicants")]
    else:
        terms = [("Applicants", row.shown["applied"])]
        terms += [(selected, row.shown["selected"])] if audit.show_selected else []
    terms += [(rate_name(audit).capitalize(), row.shown["rate"]), ("Impact ratio", row.shown["ratio"])]
    listed = "".join(f"<dt>{escaped(name)}</dt><dd>{escaped(value)}</dd>" for name, value in terms)
    name = escaped(audit.label(row, "race dash sex"))
    return f'<article class="card"><h4>{name}</h4><dl>{listed}</dl></article>'
