"""Who made an audit and when, where the words could be of something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit_lib.check import check_report
from audit_lib.check.auditor_independence import auditors
from audit_lib.check.document_reader import read_document
from tests.check.cases import WORDS, html, kinds, save, summary


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
    ],
)
def test_a_company_elsewhere_is_the_vendor_or_the_employer(text: str) -> None:
    assert [finding.id for finding in auditors(text)] == ["auditor_not_independent"]


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


def test_text_that_speaks_of_a_table_is_no_page(tmp_path: Path) -> None:
    path = tmp_path / "summary.csv"
    path.write_text(
        "Category,Applicants,Selected,Selection rate,Impact ratio\nMale <Table 2,100,50,50%,1.00\n"
    )
    assert read_document(path).format == "csv"
    path.write_text("<TABLE border=1><tr><td>Male</td></tr></TABLE>")
    assert read_document(path).format == "html"
