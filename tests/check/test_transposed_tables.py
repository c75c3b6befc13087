"""Tables on their side, and tables that say by their roles that they are: read like any other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from audit_lib.check import check_report
from audit_lib.check.html_tables import html_document
from tests.check.cases import HEADER, WORDS, Table, html, kinds, save, summary


def on_its_side(rows: Table, *, split: bool = False) -> Table:
    labels = [row[0] for row in rows]
    heads = [["Category", *labels]]
    if split:
        heads = [
            ["Sex", *(text.split(", ")[0] for text in labels)],
            ["Race", *(text.split(", ")[1] for text in labels)],
        ]
    return [*heads, *([name, *(row[i + 1] for row in rows)] for i, name in enumerate(HEADER[1:]))]


def page(tables: dict[str, Table]) -> str:
    parts = []
    for caption, rows in tables.items():
        lines = "".join("<tr>" + "".join(f"<td>{text}</td>" for text in row) + "</tr>" for row in rows)
        parts.append(f"<h2>{caption}</h2><table>{lines}</table>")
    return f"<html><body>{WORDS}{''.join(parts)}</body></html>"


def turned(**changes: Table) -> dict[str, Table]:
    return {caption: on_its_side(rows) for caption, rows in (summary() | changes).items()}


def test_categories_as_columns(tmp_path: Path) -> None:
    report = check_report(save(tmp_path, page(turned())))
    assert kinds(report) == [] and report.conventions() == {"counts, half up": 46}


def test_two_rows_of_categories(tmp_path: Path) -> None:
    tables = turned()
    tables["Intersectional categories"] = on_its_side(summary()["Intersectional categories"], split=True)
    report = check_report(save(tmp_path, page(tables)))
    assert kinds(report) == [] and report.conventions() == {"counts, half up": 46}


def test_several_in_one_sheet(tmp_path: Path) -> None:
    lines = [line for caption, rows in turned().items() for line in ([caption], *rows, [""])]
    path = save(tmp_path, "\n".join(",".join(f'"{text}"' for text in line) for line in lines), "sheet.csv")
    report = check_report(path)
    assert kinds(report) == [] and len(report.tables) == 3


def test_a_fault_in_a_column_is_found_at_its_category(tmp_path: Path) -> None:
    rows = summary()["Race/ethnicity categories"]
    rows[4][4] = "0.111"
    report = check_report(save(tmp_path, page(turned(**{"Race/ethnicity categories": rows}))))
    assert [(f.id, f.row, f.printed) for f in report.findings] == [("ratio_not_rebuilt", "Asian", "0.111")]


def by_roles(text: str) -> str:
    """Divisions that say what they are, as scripts draw tables."""
    text = re.sub(r"<table>", '<div role="table">', text).replace("</table>", "</div></div>")
    text = re.sub(r"<caption>(.*?)</caption>", r'<div role="caption">\1</div><div role="rowgroup">', text)
    text = re.sub(r"<tr>", '<div role="row">', text).replace("</tr>", "</div>")
    text = re.sub(r"<th>(.*?)</th>", r'<span role="columnheader"><div>\1</div></span>', text)
    return re.sub(r"<td>(.*?)</td>", r'<span role="cell"><div>\1</div></span>', text)


@pytest.mark.parametrize("fault", [False, True])
def test_tables_by_their_roles(fault: bool, tmp_path: Path) -> None:
    tables = summary()
    if fault:
        tables["Sex categories"][1][4] = "0.111"
    text = by_roles(html(tables))
    assert "<table" not in text and "<td" not in text
    report = check_report(save(tmp_path, text))
    assert kinds(report) == (["ratio_not_rebuilt"] if fault else [])
    assert len(report.rebuilt) == 46


def test_spans_and_names_by_attributes() -> None:
    text = """<html><div role=grid aria-label="Sex"><div role=row><b role=columnheader aria-colspan=2>n</b></div>
    <div role=row><i role=gridcell>1</i><i role=gridcell>2</i></div></div><p>after</p></html>"""
    document = html_document(text)
    assert [(g.caption, g.rows) for g in document.grids] == [("Sex", (("n", "n"), ("1", "2")))]
    assert document.text.endswith("after")


def test_lines_of_the_file_are_no_lines_of_the_page() -> None:
    assert (
        html_document("<html><p>No\nbias\r\nwas found.</p><pre>a\nb</pre>").text == "No bias was found.\na\nb"
    )


@pytest.mark.parametrize("tagged", [True, False])
def test_ruled_and_tagged_tables_of_a_pdf(tagged: bool, tmp_path: Path) -> None:
    weasyprint = pytest.importorskip("weasyprint", reason="makes the PDF")
    pytest.importorskip("pdfplumber", reason="reads the PDF")
    tables = turned()
    tables["Intersectional categories"] = on_its_side(summary()["Intersectional categories"], split=True)
    style = "@page { size: A3 landscape } table { border-collapse: collapse; font-size: 6pt } td { border: 1px solid }"
    weasyprint.HTML(string=page(tables).replace("<body>", f"<body><style>{style}</style>")).write_pdf(
        tmp_path / "page.pdf", pdf_tags=tagged
    )
    report = check_report(tmp_path / "page.pdf")
    assert kinds(report) == [] and report.conventions() == {"counts, half up": 46}
