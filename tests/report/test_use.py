"""What the sections `use` and `framework` of a spec add to the page."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from audit_lib.documents.design import Design
from audit_lib.framework import recommend_for
from audit_lib.policies import load_policy, policy_names
from audit_lib.policies.clocks import valid_until
from audit_lib.report import report
from audit_lib.report.content import gather
from audit_lib.report.page import make_page
from audit_lib.report.sections.framework import framework
from audit_lib.report.sections.periods import periods
from audit_lib.run import Run
from tests.report.runs import made, signature
from tests.specs import load

USE: dict[str, Any] = {
    "data": "test",
    "months": 9,
    "own_data_sufficient": False,
    "earlier_audits": ["2025-12-01"],
    "test_data": {"why": "Few have applied so far.", "how": "Written by the vendor from adverts."},
    "last_used": "2026-08-31",
    "posted_until": "2127-03-31",
    "notice": {"given": "2026-01-02", "used_from": "2026-01-20"},
}
ANSWERS = {"ftu": False, "person_level": True, "equal_prevalence": False, "intervention": "assistive"}


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> Run:
    groups = {"provenance": "self_reported"}
    return made(tmp_path_factory.mktemp("use"), groups=groups, use=USE, framework=ANSWERS)


def words(run: Run) -> str:
    return text_of(run.stage("report").read("report.html"))


def text_of(content: bytes) -> str:
    page = content.decode()
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page[page.index("<main") :])).split())


def test_the_periods_are_on_the_page_with_their_days(audit: Run) -> None:
    said, content = words(audit), gather(audit)
    until = valid_until(content.policy, content.measured_at.date())
    assert (
        "Use of the tool after its latest bias audit 1 year not begun by this page, which is no signed audit"
        in said
    )
    assert "no use after" not in said.lower() and "valid until" not in said.lower()
    signed = text_of(report(audit, signature=signature()).artefacts["report.html"])
    assert f"Use of the tool after its latest bias audit 1 year no use after {until}" in signed
    assert "6 months until 2027-02-28; stays until 2127-03-31 latest use" in said
    assert "10 business days use from 2026-01-16; used from 2026-01-20" in said
    assert "sets a period not set no period" in said, "New York sets none on the audit's own data"


def test_days_of_earlier_audits_are_on_the_page_as_stated(audit: Run, tmp_path: Path) -> None:
    assert "before this one, as its user states them (not checked here): 2025-12-01." in words(audit)
    none = text_of(made(tmp_path).stage("report").read("report.html"))
    assert "There was no earlier audit of this tool in the store" in none and "as its user states" not in none


def test_an_experiment_is_valid_for_no_time_here_either(tmp_path: Path) -> None:
    said = words(made(tmp_path, use={"human_review": "none"}))
    assert "This page is no bias audit and starts none of them" in said
    assert "runs on: the use has not ended" in said and "no notice is stated" in said
    assert "no use after" not in said.lower()


def test_without_facts_there_is_nothing_to_say(run: Run) -> None:
    content = gather(run)
    assert (periods(content), framework(content)) == (None, None)


def test_why_and_how_of_test_data_stand_with_the_data(audit: Run) -> None:
    said = words(audit)
    assert "Why no historical data were used Few have applied so far." in said
    assert "How the test data were generated and obtained Written by the vendor from adverts." in said


def test_the_page_says_which_metrics_apply_as_the_command_does(audit: Run) -> None:
    design = audit.stage("variants").read_document(Design, "design.json")
    said, found = words(audit), recommend_for(audit.spec, design=design)
    assert "of 320 prompts 0 mention one of the library's lists" in found.warnings[0], (
        "and the spec says otherwise"
    )
    assert found.warnings, "the default metrics lack error rates"
    for line in (*found.warnings, *found.notes, *(one.title for one in found.families)):
        assert line in said
    applying = next(one for one in found.families if one.verdict == "applies")
    assert f"applies {applying.metrics[0]} (not measured)" in said


@pytest.mark.parametrize("name", policy_names())
def test_the_periods_of_every_pack_can_be_printed(name: str, audit: Run) -> None:
    policy = load_policy(name)
    spec = load(use=USE, report={"policy": name}, groups={"provenance": "self_reported"})
    section = periods(replace(gather(audit), policy=policy, spec=spec))
    assert section is not None
    (table,) = [block for block in section.blocks if block.kind == "table"]
    assert [row.header for row in table.rows] == [clock.what for clock in policy.clocks]
    assert all(cell.text for row in table.rows for cell in row.cells)


def test_every_place_to_link_to_is_there_once(audit: Run) -> None:
    names = [section.id for section in make_page(gather(audit)).sections]
    assert {"framework", "periods"} <= set(names) and len(names) == len(set(names))
