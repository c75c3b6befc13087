"""Files as text and grids: HTML as browsers lay it out, CSV as spreadsheets write it, and what is neither."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit_lib.check import check_report
from audit_lib.check.document_reader import read_document
from audit_lib.check.html_tables import html_document
from audit_lib.errors import CorruptFileError, InputError
from tests.check.cases import HEADER, html, save, summary


def test_spans_are_filled_where_browsers_fill_them() -> None:
    page = """<table><thead><tr><th colspan=2 rowspan=2>Group<th colspan=2>Numbers
    <tr><th>n<th>rate</thead>
    <tbody><tr><th rowspan=0>Hispanic<td>Male<td>1<td>2<tr><td>Female<td>3<td>4</tbody>
    <tbody><tr><td>Other<td>All<td>5<td>6</tbody></table>"""
    assert html_document(page).grids[0].rows == (
        ("Group", "Group", "Numbers", "Numbers"),
        ("Group", "Group", "n", "rate"),
        ("Hispanic", "Male", "1", "2"),
        ("Hispanic", "Female", "3", "4"),
        ("Other", "All", "5", "6"),
    )


def test_footnote_marks_and_remarks_are_not_part_of_a_number() -> None:
    page = "<table><tr><td>0.97<sup>1</sup><td>48%<small>40% to 55%</small><td><small>12</small></table>"
    assert html_document(page).grids[0].rows == (("0.97", "48%", "12"),)


def test_captions_headings_and_tables_in_tables() -> None:
    page = """<h1>Audit</h1><h2>Cook</h2><table><tr><td><h3>Inner</h3>
    <table><caption>Sex <b>categories</b></caption><tr><td>1</table></table><h2>Driver</h2><table><tr><td>2</table>"""
    inner, outer, last = html_document(page).grids
    assert (inner.caption, inner.trail, inner.rows) == (
        "Sex categories",
        ("Audit", "Cook", "Inner"),
        (("1",),),
    )
    assert outer.trail == ("Audit", "Cook")
    assert last.trail == ("Audit", "Driver")


def test_scripts_and_styles_are_not_text() -> None:
    page = "<html><style>p{}</style><script>var x='<table>'</script><p>Seen &amp; read</p><svg><text>no</text></svg>"
    document = html_document(page)
    assert document.text == "Seen & read"
    assert document.grids == ()


def test_the_content_says_what_a_file_is_and_not_its_name(tmp_path: Path) -> None:
    assert read_document(save(tmp_path, html(summary()), "page.csv")).format == "html"
    assert read_document(save(tmp_path, "a,b\n1,2\n", "table.html")).format == "csv"


CSV = "Category;# Applicants;# Selected;Selection rate;Impact ratio\nMale;80;40;50%;1.00\nFemale;60;24;40%;0.80\n"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_csv_of_every_spreadsheet(tmp_path: Path, delimiter: str, encoding: str) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(CSV.replace(";", delimiter).replace("\n", "\r\n").encode(encoding))
    report = check_report(path)
    assert len(report.rebuilt) == 4 and report.ok


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"  \n", "empty"),
        (b"\x7fELF\x00\x01", "binary and no PDF"),
        (b"\x89PNG\x00\x01", "a picture that does not open"),
        (b'a,"b\n1,2', "not CSV"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(CorruptFileError, match=words):
        read_document(path)


def test_a_broken_pdf_is_named_as_such(tmp_path: Path) -> None:
    path = tmp_path / "Summary.PDF"
    path.write_bytes(b"%%PF-1.4 category, applicants\n1,2\n")
    with pytest.raises(CorruptFileError, match="not a PDF despite its name"):
        check_report(path)


CELL_TEXTS = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        ["Male", "White", "Unknown", "Total", "12", "0", "-3", "1e99", ".", "%", "50%", "1.000", "9" * 5000]
    ),
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.lists(CELL_TEXTS, min_size=1, max_size=6), max_size=6),
    header=st.permutations(HEADER),
    span=st.integers(0, 2**70),
)
def test_any_table_is_checked_or_refused(
    tmp_path: Path, rows: list[list[str]], header: list[str], span: int
) -> None:
    page = html({"Table": rows, "Other": rows[::-1]}, header=header).replace(
        "<td>", f"<td rowspan={span}>", 1
    )
    try:
        report = check_report(save(tmp_path, page))
    except InputError:
        return
    assert report.as_dict()["findings"]


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
def test_any_bytes_are_read_or_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(InputError):
        check_report(path)


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_document(tmp_path / "none.html")


SEPARATORS = (",", "'", "\N{NO-BREAK SPACE}", "\N{NARROW NO-BREAK SPACE}", "\N{THIN SPACE}")


@pytest.mark.parametrize("separator", SEPARATORS)
def test_thousands_are_read_however_they_are_parted(tmp_path: Path, separator: str) -> None:
    rows = [["Male", "6,000", "3,300", "55%", "1.00"], ["Female", "4,000", "1,760", "44%", "0.80"]]
    rows = [[cell.replace(",", separator) for cell in row] for row in rows]
    words = f"<p>1{separator}250 individuals were of an unknown category.</p>"
    report = check_report(save(tmp_path, html({"Sex": rows}, words)))
    assert report.conventions() == {"counts, half up": 4}
    (found,) = [f for f in report.findings if f.id == "unknown_without_bounds"]
    assert found.printed == "1250"
    assert [r.recomputed for r in report.rebuilt] == ["55%", "44%", "1.00", "0.80"]


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("<tr><th>Sex<th>Applicants<th>Hired<tr><td>Male<td>8<td>4", "'Hired' (selected) found, a rate or"),
        ("<tr><th>Sex<th>Impact ratio<tr><td>Male<td>1.0", "'Impact ratio' (ratio) found, a second column"),
        ("<tr><th>Sex<th>N<th>Rate<tr><td>Male<td>eight<td>half", "below it no row with a label and a number"),
        ("<tr><th>Shift<th>N<th>Rate<tr><td>Night<td>8<td>50%", "rates of 'Night': no category of"),
    ],
)  # fmt: skip
def test_a_table_that_is_none_says_what_it_has_and_what_it_lacks(
    tmp_path: Path, page: str, words: str
) -> None:
    with pytest.raises(InputError) as error:
        check_report(save(tmp_path, f"<html><table>{page}</table>"))
    assert "Table 1: " in str(error.value) and words in str(error.value)


def test_a_page_without_a_table_of_rates_says_what_was_looked_for(tmp_path: Path) -> None:
    path = save(tmp_path, "<html><table><tr><th>Name<th>Price<tr><td>Tea<td>3</table>")
    with pytest.raises(InputError, match=r"among 1 table.*impact ratio.*number of applicants"):
        check_report(path)


def test_more_selected_than_nobody_is_a_finding_and_no_exception(tmp_path: Path) -> None:
    rows = [["0", "00"], ["", "1", "0", "0"]]
    header = ["Category", "Selection rate", "# selected", "# of applicants", "Impact ratio"]
    lines = [header, *rows]
    path = tmp_path / "page.html"
    cells = ("".join(f"<td>{cell}</td>" for cell in line) for line in lines)
    path.write_text("<table>" + "".join(f"<tr>{line}</tr>" for line in cells) + "</table>", encoding="utf-8")
    assert not check_report(str(path)).ok
