"""Summaries without tables of a file format: text lined up by spaces, columns of a page, cards, sentences."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

from audit_lib.check import check_report
from audit_lib.check.pdf_page_columns import page_columns
from audit_lib.check.text_tables import text_grids
from tests.check.cases import HEADER, WORDS, Table, counts, html, kinds, save, summary

FACTS = """Audit date:         2023-06-29
Distribution date:  2023-01-05

Data. The employer's applicant tracking system: all requisitions for cashiers that
were opened from 2022-01-01 to 2022-12-31.
0 applicants chose not to say their sex or race.
"""
HEADS = ("Category", "Appl.", "Sel.", "Sel. Rate", "Imp. Ratio")


def lined_up(tables: dict[str, Table], bar: str = " ") -> str:
    """Write tables as a typewriter would, with headers that stand one space apart."""
    parts = [FACTS]
    for caption, rows in tables.items():
        wide = max(len(row[0]) for row in [HEADS, *rows])
        lines = [
            [
                HEADS[0].ljust(wide),
                HEADS[1].rjust(6),
                HEADS[2].rjust(6),
                HEADS[3].rjust(9),
                HEADS[4].rjust(10),
            ]
        ]
        lines += [
            [row[0].ljust(wide), row[1].rjust(6), row[2].rjust(6), row[3].rjust(9), row[4].rjust(10)]
            for row in rows
        ]
        rule = "-" * (wide + 40)
        head, *body = [bar.join(line) for line in lines]
        parts += ["", caption.upper(), rule, head, rule, *body, rule]
    return "\n".join(parts)


@pytest.mark.parametrize("bar", [" ", " | "])
@pytest.mark.parametrize(
    ("name", "before", "after"),
    [("page.html", "<html><body><pre>", "</pre></body></html>"), ("page.txt", "", "")],
)
def test_text_lined_up_by_spaces_is_read(
    name: str, before: str, after: str, bar: str, tmp_path: Path
) -> None:
    text = lined_up(summary(), bar)
    report = check_report(save(tmp_path, before + text + after, name))
    assert kinds(report, notes=False) == []
    assert len(report.tables) == 3 and sum(len(one.conventions) > 0 for one in report.rebuilt) == 46
    wrong = text.replace(summary()["Race/ethnicity categories"][2][4], "0.111", 1)
    faulty = check_report(save(tmp_path, before + wrong + after, name))
    assert "ratio_not_rebuilt" in kinds(faulty)


def test_csv_stays_csv(tmp_path: Path) -> None:
    rows = [
        ["Category", "Applicants", "Selected", "Selection rate", "Impact ratio"],
        *summary()["Sex categories"],
    ]
    text = "\n".join(";".join(row) for row in rows)
    assert check_report(save(tmp_path, text, "sex.csv")).format == "csv"
    assert list(text_grids(text)) == []


def placed(lines: list[tuple[float, float, str]]) -> list[dict[str, object]]:
    """Put words six points a letter to places (left, top, words)."""
    words = []
    for left, top, text in lines:
        for found in re.finditer(r"\S+", text):
            word, at = found[0], left + 6 * found.start()
            words.append(
                {"text": word, "x0": at, "x1": at + 6 * len(word), "top": top, "bottom": top + 10, "size": 10}
            )
    return words


PROSE = [
    "The audit was made for the",
    "employer by people who had no",
    "part in the tool and saw all",
    "of its answers of last year",
]
TABLE = [
    "Female  1,020  35.1%  1.000",
    "Male    1,300  33.0%  0.940",
    "Asian     200  30.0%  0.855",
    "White     900  35.1%  1.000",
]


def test_prose_beside_a_table_or_prose_is_a_column_and_labels_beside_numbers_are_none() -> None:
    left = [(40.0, 20.0 * i, line) for i, line in enumerate(PROSE)]
    beside = [(260.0, 20.0 * i + 3, line) for i, line in enumerate(TABLE)]
    found = page_columns(placed([*left, *beside]))
    assert found is not None and 210 < found[0] < 260
    assert page_columns(placed([*left, *((260.0, top, line) for _, top, line in left)])) is not None
    assert page_columns(placed(beside)) is None
    labels = [(40.0, 20.0 * i, line.split()[0]) for i, line in enumerate(TABLE)]
    numbers = [(260.0, 20.0 * i, " ".join(line.split()[1:])) for i, line in enumerate(TABLE)]
    assert page_columns(placed([*labels, *numbers])) is None


def test_a_page_in_two_columns(tmp_path: Path) -> None:
    weasyprint = pytest.importorskip("weasyprint", reason="makes the PDF")
    pytest.importorskip("pdfplumber", reason="reads the PDF")
    fill = f"<p>{'The employer used the tool to rank applications for positions in its stores. ' * 4}</p>"
    source = html(summary(), WORDS + fill).replace(
        "<body>",
        "<body><style>@page { size: A4 landscape } body { columns: 2; column-gap: 2em; font-size: 8pt } "
        "td { padding: 1px 5px }</style>",
    )
    weasyprint.HTML(string=source).write_pdf(tmp_path / "two.pdf", pdf_tags=False)
    report = check_report(tmp_path / "two.pdf")
    assert [(f.id, f.row, f.message) for f in report.findings if f.severity == "error"] == []
    assert len(report.tables) == 3 and "field_not_found" not in kinds(report)


def drawn(tables: dict[str, Table], cell: str, row: str, table: str) -> str:
    """Write tables without table elements."""
    parts = []
    for caption, rows in tables.items():
        lines = [[*HEADER], *rows]
        made = "".join(row.format("".join(cell.format(text) for text in line)) for line in lines)
        parts.append(f"<h3>{caption}</h3>{table.format(made)}")
    return f"<!DOCTYPE html><html><body>{WORDS}<svg/><br/>{''.join(parts)}</body></html>"


@pytest.mark.parametrize(
    "shape",
    [
        ("<span>{}</span>", "<div class=row>{}</div>", "<div class=table>{}</div>"),
        ("<div><p>{}</p></div>", "<li>{}</li>", "<ul>{}</ul>"),
        ("<div>{}</div>", "{}", "<div class=grid>{}</div>"),
    ],
)
def test_rows_of_elements_that_a_style_sheet_sets_in_columns(
    shape: tuple[str, str, str], tmp_path: Path
) -> None:
    tables = summary()
    report = check_report(save(tmp_path, drawn(tables, *shape)))
    assert kinds(report, notes=False) == [] and len(report.tables) == 3
    tables["Sex categories"][0][3] = "99.9%"
    assert "rate_not_rebuilt" in kinds(check_report(save(tmp_path, drawn(tables, *shape))))


def test_hidden_rows_of_a_drawn_table_are_told(tmp_path: Path) -> None:
    source = drawn(summary(), "<span>{}</span>", "<div class=row>{}</div>", "<div>{}</div>")
    at = source.index("<div class=row>", source.index("Race/ethnicity categories") + 400)
    hidden = source[:at] + source[at:].replace("<div class=row>", "<div class=row style='display:none'>", 1)
    assert "hidden_content" in kinds(check_report(save(tmp_path, hidden)))


def test_words_that_a_style_sheet_sets_apart(tmp_path: Path) -> None:
    words = WORDS.replace(
        "Date of the bias audit: June 29, 2023.", "<span>Audit date</span><b>June 29, 2023</b>"
    )
    report = check_report(save(tmp_path, html(summary(), words)))
    assert kinds(report, notes=False) == []


def test_cards_that_give_selected_of_all(tmp_path: Path) -> None:
    cards = "".join(
        f"<h2>{caption}</h2>"
        + "".join(
            f"<h3>{row[0]}</h3><dl><dt>Selected</dt><dd>{row[2]} of {row[1]} applicants</dd><dt>Selection rate</dt>"
            f"<dd>{row[3]}</dd><dt>Impact ratio</dt><dd>{row[4]}</dd></dl>"
            for row in rows
        )
        for caption, rows in summary().items()
    )
    report = check_report(save(tmp_path, f"<!DOCTYPE html><html><body>{WORDS}{cards}</body></html>"))
    assert kinds(report, notes=False) == [] and len(report.tables) == 3


def test_categories_that_a_sentence_leaves_out_with_their_numbers_belong_to_the_sums(tmp_path: Path) -> None:
    cells = counts() | {("Male", "Asian"): (4, 2), ("Female", "Asian"): (3, 1)}
    tables = summary(cells)
    kept = {caption: [row for row in rows if "Asian" not in row[0]] for caption, rows in tables.items()}
    said = "; ".join(
        f"{row[0]}: {row[1]} applicants, selection rate {row[3]}"
        for rows in tables.values()
        for row in rows
        if "Asian" in row[0]
    )
    words = f"{WORDS}<p>Categories with less than 2% of the data were excluded from the impact ratios: {said}.</p>"
    assert kinds(check_report(save(tmp_path, html(kept, words))), notes=False) == []
    wrong = words.replace("Asian: 7 applicants", "Asian: 70 applicants")
    assert "tables_do_not_add_up" in kinds(check_report(save(tmp_path, html(kept, wrong))))


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ("The most recent bias audit of the Interlude Interview Score was made by the Parallax Assurance Group, a firm "
         "that is independent of both, and is dated July 13, 2022.", "F01"),
        ("Bias audit date: 13-Jul-2022.", "F01"),
        ("Audited by Parallax, Inc. Audit date: July 13th, 2022.", "F01"),
        ("286 applicants chose not to self-identify and are not in the tables.", "F04"),
        ("Blue Lake carried out the bias audit that the law asks for; it was issued on Jul. 13, 2022.", "F01"),
        ("609 persons, for whom sex or race is not known, are left out.", "F04"),
        ("The audit has applications from Apr. 1, 2021 to Apr. 30, 2022.", "F03"),
        ("Data: historical, from our own stores.", "F02"),
        ("We have used it in our stores since March 2, 2022.", "F08"),
    ],
)  # fmt: skip
def test_wordings_of_fields(words: str, field: str, tmp_path: Path) -> None:
    report = check_report(save(tmp_path, html(summary(), f"<p>{words}</p>")))
    missing = {f.column for f in report.findings if f.id == "field_not_found"}
    assert field not in missing and missing


def test_a_tool_that_had_not_been_used_before_its_audit_still_needs_its_date(tmp_path: Path) -> None:
    words = WORDS.replace("Distribution date: January 5, 2023.", "The employer had not yet used the tool.")
    report = check_report(save(tmp_path, html(summary(), words)))
    assert "F08" in {f.column for f in report.findings if f.id == "field_not_found"}


def test_the_date_of_an_earlier_audit_is_no_other_date_of_this_one(tmp_path: Path) -> None:
    words = f"{WORDS}<h2>Previous audit \u2013 January 9, 2022</h2><p>Audit date: January 9, 2022.</p>"
    assert "audit_dates_differ" not in kinds(check_report(save(tmp_path, html(summary(), words))))
    two = f"{WORDS}<p>Audit conducted by Halvorsen Audit Partners on May 9, 2023.</p>"
    assert "audit_dates_differ" in kinds(check_report(save(tmp_path, html(summary(), two))))


def test_the_maker_of_a_tool_that_is_named_beside_it_is_no_independent_auditor(tmp_path: Path) -> None:
    words = (
        f"{WORDS}<p>Vantage Rail uses Sorter by Kinspan. Kinspan carried out the independent bias audit.</p>"
    )
    assert "auditor_not_independent" in kinds(check_report(save(tmp_path, html(summary(), words))))
    looks_alike = words.replace("Kinspan carried", "\N{CYRILLIC CAPITAL LETTER KA}inspan carried")
    assert "auditor_not_independent" in kinds(check_report(save(tmp_path, html(summary(), looks_alike))))
    other = words.replace("Kinspan carried", "Blue Lake carried")
    assert "auditor_not_independent" not in kinds(check_report(save(tmp_path, html(summary(), other))))


def test_facts_side_by_side_on_a_page(tmp_path: Path) -> None:
    weasyprint = pytest.importorskip("weasyprint", reason="makes the PDF")
    pytest.importorskip("pdfplumber", reason="reads the PDF")
    facts = {"Tool": "Sorter from Kinspan", "Audited by": "Kinspan", "Audit date": "June 29th, 2023"}
    cells = "".join(f"<div><small>{name}</small><br>{value}</div>" for name, value in facts.items())
    words = WORDS.replace("Date of the bias audit: June 29, 2023.", "")
    source = html(summary(), f"<div class=facts>{cells}</div>{words}").replace(
        "<body>",
        "<body><style>.facts { display: flex } .facts div { width: 33% } td { padding: 2px 9px }</style>",
    )
    weasyprint.HTML(string=source).write_pdf(tmp_path / "facts.pdf", pdf_tags=False)
    report = check_report(tmp_path / "facts.pdf")
    assert "field_not_found" not in kinds(report) and "auditor_not_independent" in kinds(report)


MARKDOWN = "\n".join(
    [
        "# Summary",
        "Date of the audit: March 5, 2022. The audit was conducted by the vendor of the tool.",
        *(
            line
            for caption, rows in summary().items()
            for line in ("", f"## {caption}", "| " + " | ".join(HEADER) + " |", "|---|---|---|---|---|",
                         *("| " + " | ".join(row) + " |" for row in rows))
        ),
    ]
)  # fmt: skip


@pytest.mark.parametrize("name", ["page.txt", "page.md"])
def test_the_words_around_tables_of_bars_are_heard(name: str, tmp_path: Path) -> None:
    report = check_report(save(tmp_path, MARKDOWN, name), as_of=date(2026, 6, 1))
    assert {"audit_too_old", "auditor_not_independent"} <= set(kinds(report))
    assert sum(len(one.conventions) > 0 for one in report.rebuilt) == 46


def test_a_stated_exclusion_hides_no_table_that_lacks(tmp_path: Path) -> None:
    cells = counts() | {("Male", "Asian"): (4, 2), ("Female", "Asian"): (3, 1)}
    tables = {
        caption: [row for row in rows if row[0] != "Asian"]
        for caption, rows in summary(cells).items()
        if not caption.startswith("Inter")
    }
    words = f"{WORDS}<p>Left out as less than 2%: Asian: 7 applicants, selection rate 42.9%.</p>"
    assert "table_missing" in kinds(check_report(save(tmp_path, html(tables, words))))


@pytest.mark.parametrize(
    "sentence",
    [
        "No category was excluded; of Asian: 30 applicants more than last year.",
        "Categories with less than 2% were left out: Asian (2025 data).",
        "Left out as less than 2%: Asian: 9 applicants.",
    ],
)
def test_a_sentence_without_the_people_who_lack_hides_no_dropped_category(
    sentence: str, tmp_path: Path
) -> None:
    tables = {caption: [row for row in rows if "Asian" not in row[0]] for caption, rows in summary().items()}
    found = kinds(check_report(save(tmp_path, html(tables, f"{WORDS}<p>{sentence}</p>"))))
    assert {"category_left_out", "category_dropped", "tables_do_not_add_up"} & set(found)
    assert "category_without_ratio" not in found


def test_a_rate_of_another_notation_in_a_sentence_is_no_impossible_one(tmp_path: Path) -> None:
    cells = counts() | {("Male", "Asian"): (14, 5), ("Female", "Asian"): (3, 1)}
    tables = summary(cells)
    kept = {caption: [row for row in rows if "Asian" not in row[0]] for caption, rows in tables.items()}
    said = (
        "Left out as less than 2%: Asian: 17 applicants, selection rate 0.35; Male, Asian: 14 applicants; "
        "Female, Asian: 3 people."
    )
    assert kinds(check_report(save(tmp_path, html(kept, f"{WORDS}<p>{said}</p>"))), notes=False) == []


def test_labels_of_many_words_beside_numbers_are_no_column_of_prose() -> None:
    races = [
        "Native Hawaiian or Pacific Islander",
        "Native American or Alaska Native",
        "Black or African American people",
    ]
    left = [(40.0, 20.0 * i, races[i % 3]) for i in range(8)]
    right = [(330.0, 20.0 * i, f"{('Male', 'Female')[i % 2]}   {210 + i}   41.0%  1.000") for i in range(8)]
    assert page_columns(placed([*left, *right])) is None


def test_the_next_audit_is_not_this_one(tmp_path: Path) -> None:
    words = WORDS.replace("June 29, 2023.", "March 5, 2024. Next audit date: May 5, 2026.")
    report = check_report(save(tmp_path, html(summary(), words)), as_of=date(2026, 6, 1))
    assert "audit_too_old" in kinds(report) and "audit_after_as_of" not in kinds(report)


def test_rows_of_fewer_cells_and_footnotes_between_cells_are_read(tmp_path: Path) -> None:
    source = drawn(summary(), "<span>{}</span>", "<div class=row>{}</div>", "<div>{}</div>")
    short = "<div class=row><span>Total</span><span>9,999</span><span>3,000</span><span>30.0%</span></div>"
    at = source.index("</div></div>", source.index("Sex categories")) + len("</div>")
    assert "total_mismatch" in kinds(check_report(save(tmp_path, source[:at] + short + source[at:])))
    noted = source.replace("<span>Asian</span>", "<span>Asian</span><sup>1</sup>", 1)
    assert noted != source and kinds(check_report(save(tmp_path, noted)), notes=False) == []


def test_tables_of_both_kinds_on_one_page(tmp_path: Path) -> None:
    tables = summary()
    first = {"Sex categories": tables.pop("Sex categories")}
    source = drawn(tables, "<span>{}</span>", "<div class=row>{}</div>", "<div>{}</div>")
    whole = html(first).replace("</body>", source.partition("<br/>")[2])
    assert kinds(check_report(save(tmp_path, whole)), notes=False) == []


@pytest.mark.parametrize(
    "words",
    [
        "The audit of the tool was made by Blue Lake LLP. Auditor: Blue Lake LLP.",
        "Bias audit of Sorter by Blue Lake LLP. Auditor: Blue Lake LLP.",
        "This page is provided by Blue Lake LLP. Auditor: Blue Lake LLP.",
        "Audit provider: Blue Lake LLP. Auditor: Blue Lake LLP.",
        "Auditor Vendor Employer",
    ],
)
def test_who_made_the_audit_is_not_who_made_the_tool(words: str, tmp_path: Path) -> None:
    report = check_report(save(tmp_path, html(summary(), f"{WORDS}<p>{words}</p>")))
    assert "auditor_not_independent" not in kinds(report)


def test_an_unbroken_space_within_a_number_of_lined_up_text(tmp_path: Path) -> None:
    text = lined_up(summary()).replace(",", "\N{NO-BREAK SPACE}")
    report = check_report(save(tmp_path, f"<html><body><pre>{text}</pre></body></html>"))
    assert "unreadable_table" not in kinds(report) and len(report.tables) == 3


def test_deep_and_long_pages_end(tmp_path: Path) -> None:
    deep = "<div>" * 3_000 + "x" + "</div>" * 3_000
    page_ = html(summary()).replace(
        "</body>", f"{deep}{'<p>text' * 3_000}<pre>{'word ' * 20_000}</pre></body>"
    )
    assert len(check_report(save(tmp_path, page_)).tables) == 3
