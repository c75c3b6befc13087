"""Who made an audit and when, where the words could be of something else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from audit_lib.check import check_report
from audit_lib.check.auditor_independence import auditors
from audit_lib.check.document_reader import read_document
from audit_lib.check.stated_fields import words_of
from tests.check.cases import HEADER, WORDS, counts, html, kinds, save, summary


@pytest.mark.parametrize(
    "text",
    [
        "Auditor\nCompany: Blue Lake LLP\nAddress: 1 Main St\nAuditor: Blue Lake LLP",
        "Audit firm:\nCompany: Blue Lake LLP\nThe audit was done by Blue Lake LLP on May 3.",
        "The bias audit of Sorter\nMade by: Blue Lake LLP\nAuditor: Blue Lake LLP",
        "Who made the audit? Blue Lake LLP. The audit was conducted by Blue Lake LLP.",
    ],
)
def test_a_company_under_the_auditors_heading_is_the_auditor(text: str) -> None:
    assert list(auditors(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "Company: Acme Inc\nAuditor: Acme Inc",
        "Summary of the bias audit\nCompany: Acme Inc\nAuditor: Acme Inc",
        "Tool: Sorter\nMade by: Acme Inc\nAuditor: Acme Inc",
        "Sorter is made by Acme Inc. Auditor: Acme Inc.",
        "The audit was conducted by Acme Hiring. The tool is provided by Acme Hiring Inc.",
    ],
)
def test_a_company_elsewhere_is_the_vendor_or_the_employer(text: str) -> None:
    assert [finding.id for finding in auditors(text)] == ["auditor_not_independent"]


USES = "This page is about Sorter, which Acme Stores uses to rank people."


@pytest.mark.parametrize(
    "text",
    [
        f"Auditor\nthe People Analytics group of Acme Stores\n{USES}",
        f"Auditor: People Analytics team at Acme Stores\n{USES}",
        f"{USES} The bias audit was carried out by the Data Science department of Acme Stores on May 4, 2026.",
        "The audit was made by Acme Stores's own analytics team. Acme Stores began using Sorter on May 4, 2024.",
    ],
)
def test_a_department_of_the_employer_is_no_auditor(text: str) -> None:
    assert [finding.id for finding in auditors(text)] == ["auditor_not_independent"]


@pytest.mark.parametrize(
    "text",
    [
        f"Auditor: the People Analytics group of Blue Lake LLP\n{USES}",
        f"{USES} The audit was carried out by the analytics team of Blue Lake LLP, which used records of Acme Stores.",
        f"{USES} The audit is of data that the hiring department of Acme Stores gave.",
        f"{USES} The auditor is independent of every department of Acme Stores.",
        f"{USES} The independent auditor was engaged by the legal department of Acme Stores.",
    ],
)
def test_a_department_that_did_not_make_the_audit(text: str) -> None:
    assert list(auditors(text)) == []


def test_a_name_that_styling_cuts_is_one_word(tmp_path: Path) -> None:
    words = "<p>Vendor: <b>Hire</b><b>View</b> Inc.</p><p>Auditor: HireView Inc.</p>"
    assert "auditor_not_independent" in kinds(
        check_report(save(tmp_path, html(summary(), f"{WORDS}{words}")))
    )


def test_a_day_that_is_called_this_audits_is_no_earlier_one(tmp_path: Path) -> None:
    earlier = "<p>Previous audit: January 9, 2022.</p>"
    told = f"{WORDS}{earlier}<p>This audit was completed on January 9, 2022.</p>"
    assert "audit_dates_differ" in kinds(check_report(save(tmp_path, html(summary(), told))))
    told = f"{WORDS}{earlier}<p>The audit was completed on January 9, 2022.</p>"
    assert "audit_dates_differ" not in kinds(check_report(save(tmp_path, html(summary(), told))))


@pytest.mark.parametrize(
    "words",
    [
        "Before this one, bias audits were conducted on January 9, 2021 and January 7, 2022.",
        "Previously, the audit was completed on January 7, 2022.",
    ],
)
def test_audits_before_this_one_are_no_other_dates_of_it(words: str, tmp_path: Path) -> None:
    report = check_report(save(tmp_path, html(summary(), f"{WORDS}<p>{words}</p>")))
    assert "audit_dates_differ" not in kinds(report)
    told = f"{WORDS}<p>Before this one nothing was published. The bias audit was conducted on January 9, 2021.</p>"
    assert "audit_dates_differ" in kinds(check_report(save(tmp_path, html(summary(), told))))


def test_why_a_category_is_excluded_may_be_told_by_its_size_alone() -> None:
    told = re.compile(words_of("F09"), re.IGNORECASE)
    assert told.search(
        "They represent little of the data. The independent auditor excluded them from the impact ratio calculations "
        "since a ratio drawn from so few people would be unstable."
    )
    assert not told.search("The auditor excluded them from the impact ratio calculations since it wished to.")


@pytest.mark.parametrize("below", [True, False])
def test_what_is_left_out_of_several_positions_is_said_below_each_table_or_in_their_order(
    below: bool, tmp_path: Path
) -> None:
    parts, sentences = [], []
    for position, men in (("Cook", 4), ("Driver", 5)):
        cells = counts() | {("Male", "Asian"): (men, 2), ("Female", "Asian"): (3, 1)}
        parts.append(f"<h2>{position}</h2>")
        for caption, rows in summary(cells).items():
            kept = [row for row in rows if "Asian" not in row[0]]
            gone = [row for row in rows if "Asian" in row[0]]
            parts.append(re.findall("<table.*</table>", html({caption: kept}), re.DOTALL)[0])
            said = "; ".join(f"{row[0]}: {row[1]} applicants, selection rate {row[3]}" for row in gone)
            sentences.append(
                f"<p>Left out of the impact ratios as under 2% of the data: {said}.</p>" if gone else ""
            )
            parts.append(sentences[-1] if below else "")
    source = f"<!DOCTYPE html><html><body>{WORDS}{''.join(parts)}<h2>Notes</h2>"
    source += "".join([] if below else sentences)
    assert kinds(check_report(save(tmp_path, source)), notes=False) == []
    other = source.replace("Asian: 8 applicants", "Asian: 80 applicants")
    assert other != source and "tables_do_not_add_up" in kinds(check_report(save(tmp_path, other)))


def test_text_that_speaks_of_a_table_is_no_page(tmp_path: Path) -> None:
    path = tmp_path / "summary.csv"
    path.write_text(
        "Category,Applicants,Selected,Selection rate,Impact ratio\nMale <Table 2,100,50,50%,1.00\n"
    )
    assert read_document(path).format == "csv"
    path.write_text("<TABLE border=1><tr><td>Male</td></tr></TABLE>")
    assert read_document(path).format == "html"


@pytest.mark.parametrize("column", ["Group", "Type", "Analysis"])
def test_a_column_whose_cells_name_breakdowns_is_one_whatever_its_header(column: str, tmp_path: Path) -> None:
    names = ("Gender", "Race/Ethnicity", "Race/Ethnicity by Sex")
    rows = [
        f"<tr><td>{name}</td>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>"
        for name, table in zip(names, summary().values(), strict=True)
        for row in table
    ]
    head = "".join(f"<th>{text}</th>" for text in (column, *HEADER))
    source = f"<!DOCTYPE html><html><body>{WORDS}<table><tr>{head}</tr>{''.join(rows)}</table></body></html>"
    report = check_report(save(tmp_path, source))
    assert kinds(report, notes=False) == [] and len(report.tables) == 3
    fewer = [row for row in rows if "Gender" not in row]
    report = check_report(save(tmp_path, source.replace("".join(rows), "".join(fewer))))
    assert "table_missing" in kinds(report)


def test_a_tool_named_like_its_auditor_is_asked_about(tmp_path: Path) -> None:
    def found(words: str) -> list[str]:
        return kinds(check_report(save(tmp_path, html(summary(), f"{WORDS}<p>{words}</p>"))))

    assert "auditor_may_be_related" in found("The bias audit of Kinspan Sorter was carried out by Kinspan.")
    assert "auditor_may_be_related" not in found(
        "The bias audit of Kinspan Sorter was carried out by Blue Lake LLP."
    )
    who = "Kinspan makes Kinspan Sorter.</p><p>Who conducted the audit?</p><p>"
    engaged = f"{who}Kinspan engaged Blue Lake LLP as auditor of the audit."
    assert "auditor_not_independent" not in found(engaged)
    assert "auditor_not_independent" in found(f"{who}Kinspan.")


def test_a_line_over_facts_is_heard(tmp_path: Path) -> None:
    facts = "<table><tr><td>Kinspan Sorter bias audit summary<tr><td>Auditor<td>Kinspan</table>"
    report = check_report(save(tmp_path, html(summary(), f"{WORDS}{facts}")))
    assert "auditor_may_be_related" in kinds(report)
