"""What is in a file and not shown is told with its place, and neither read as shown nor passed over."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit_lib.check import CheckResult, check_report
from audit_lib.check.html_tables import html_document
from tests.check.cases import WORDS, save

HEAD = "<tr><th>Sex<th># of applicants<th># selected<th>Selection rate<th>Impact ratio"
MALE = "<tr{}><td>Male<td>6000<td>3300<td>55.0%<td>1.00"
FEMALE = "<tr{}><td>Female<td>4000<td>1760<td>44.0%<td>0.80"


def hidden(report: CheckResult) -> list[tuple[str, str, str, str]]:
    return [(f.severity, f.table, f.row, f.printed) for f in report.findings if f.id == "hidden_content"]


def page(folder: Path, male: str = "", female: str = "", style: str = "") -> CheckResult:
    rows = MALE.format(male) + FEMALE.format(female)
    text = f"<html><style>{style}</style>{WORDS}<table>{HEAD}{rows}</table>"
    return check_report(save(folder, text, "page.html"))


@pytest.mark.parametrize(
    ("attributes", "style"),
    [
        (" hidden", ""),
        (" style='color: red; DISPLAY : none'", ""),
        (" style='visibility:collapse'", ""),
        (" class='row old'", "table { color: red } .old, #other { display: none }"),
        (" class='old'", "tr.old { visibility: hidden }"),
    ],
)
def test_a_hidden_row_is_told_and_not_read(attributes: str, style: str, tmp_path: Path) -> None:
    report = page(tmp_path, female=attributes, style=style)
    assert hidden(report) == [("warning", "table 1 of the file", "Male", "Female 4000 1760 44.0% 0.80")]
    assert not report.ok and [record.row for record in report.rebuilt] == ["Male", "Male"]


@pytest.mark.parametrize(
    "style",
    ["@media print { .old { display: none } }", ".new .old { display: none }", ".older {display: none}"],
)
def test_rules_for_other_media_or_elements_hide_nothing(style: str, tmp_path: Path) -> None:
    report = page(tmp_path, female=" class=old", style=style)
    assert hidden(report) == [] and len(report.rebuilt) == 4


def test_a_row_that_is_kept_from_screen_readers_is_read_and_told(tmp_path: Path) -> None:
    report = page(tmp_path, female=" aria-hidden=true")
    ((severity, _, row, words),) = hidden(report)
    assert (severity, row, words) == ("warning", "Male", "Female 4000 1760 44.0% 0.80")
    (message,) = [f.message for f in report.findings if f.id == "hidden_content"]
    assert len(report.rebuilt) == 4 and "as it is shown" in message


def test_cells_that_are_not_shown_leave_their_place_only_where_a_browser_leaves_it() -> None:
    text = "<table><tr><td>A<td style='visibility:hidden'>1<td>2<tr><td>B<td hidden>3</td><td>4</table>"
    document = html_document(text)
    assert document.grids[0].rows == (("A", "", "2"), ("B", "4", ""))
    assert [part.words for part in document.hidden] == ["1", "3"]


def test_a_hidden_table_is_told_and_a_hidden_menu_is_not() -> None:
    text = f"<div hidden><p>x<table>{HEAD}{MALE}</table></div><nav hidden><a>Jobs 12</a></nav><p>Seen</p>"
    document = html_document(text)
    (part,) = document.hidden
    assert (part.table, document.grids, document.text) == ("a table", (), "Seen")
    assert part.words.startswith("x Sex") and part.words.endswith("1.00")


def test_hidden_in_what_is_kept_from_screen_readers() -> None:
    text = "<table><tr aria-hidden=true><td>A<td><span style='display:none'>9</span>1</table>"
    document = html_document(text)
    assert document.grids[0].rows == (("A", "1"),)
    assert [(part.words, part.is_shown) for part in document.hidden] == [("A", True), ("9", False)]


def test_hidden_rows_and_columns_of_a_sheet(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="writes the workbook")
    book = openpyxl.Workbook()
    sheet = book.active
    for line in (
        ["Sex", "# of applicants", "# selected", "Note", "Selection rate", "Impact ratio"],
        ["Male", 600, 300, "a", "50.0%", "1.00"],
        ["Unknown", 12, 3, "b", "", ""],
        ["Female", 400, 160, "c", "40.0%", "0.80"],
    ):
        sheet.append(line)
    sheet.row_dimensions[3].hidden = True
    sheet.column_dimensions["D"].hidden = True
    path = tmp_path / "summary.xlsx"
    book.save(path)
    report = check_report(path)
    assert hidden(report) == [
        ("warning", "row 3 of the sheet 'Sheet'", "", "Unknown 12 3 b"),
        ("warning", "column D of the sheet 'Sheet'", "", "Note a c"),
    ]
    assert len(report.rebuilt) == 4


def panels(tabs: str) -> str:
    grid = "".join(
        f'<div role="row">{"".join(f"<div role=cell>{cell}</div>" for cell in row.split("|"))}</div>'
        for row in (
            "Sex|# of applicants|# selected|Selection rate|Impact ratio",
            "Male|6000|3300|55.0%|1.00",
            "Female|4000|1760|44.0%|0.80",
        )
    )
    table = f'<div role="table">{grid}</div>'
    return (
        f"<html>{WORDS}<div role=tablist>{tabs}</div>"
        f"<div role=tabpanel><p>About</p></div><div role=tabpanel hidden>{table}</div>"
    )


TAB = "<button role=tab>{}</button>"


def test_a_panel_that_a_tab_shows_is_read(tmp_path: Path) -> None:
    text = panels(TAB.format("About") + TAB.format("Sex"))
    report = check_report(save(tmp_path, text, "page.html"))
    assert len(report.rebuilt) == 4 and hidden(report) == []


@pytest.mark.parametrize(
    "second", ["", "<button role=tab disabled>Sex</button>", "<button role=tab hidden>Sex</button>"]
)
def test_a_panel_without_a_tab_is_hidden_from_everybody(second: str) -> None:
    document = html_document(panels(TAB.format("About") + second))
    assert document.grids == ()
    (part,) = document.hidden
    assert part.words.startswith("Sex # of applicants") and part.matters
