"""The PDF: tagged, without an error of either checker, and the same bytes again."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from audit_lib.errors import InputError
from audit_lib.report import EarlierAudit, pdf, report
from audit_lib.report.content import gather
from audit_lib.report.page import make_page
from audit_lib.run import Run
from tests.report.runs import made

REASON = pdf.why_no_pdf()
CHECKERS = all(importlib.util.find_spec(name) for name in ("pdfua", "outloud"))
needs_pdf = pytest.mark.skipif(REASON is not None, reason=str(REASON))


@pytest.fixture(scope="module")
def content(run: Run, earlier: tuple[EarlierAudit, ...]) -> bytes:
    return pdf.render_pdf(make_page(gather(run, earlier)))


@pytest.mark.slow
@needs_pdf
@pytest.mark.skipif(not CHECKERS, reason="pdfua and outloud are not installed (the extra `dev` has them)")
def test_neither_checker_finds_an_error(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "report.pdf"
    path.write_bytes(content)
    done = subprocess.run(
        [sys.executable, "-m", "pdfua", "check", str(path), "--format", "json"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode in (0, 1, 2), done.stdout[-2000:]
    outloud = Path(sys.executable).parent / "outloud"
    done = subprocess.run(
        [str(outloud), "--quiet", "--json", str(tmp_path / "outloud.json"), str(path)],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    found = json.loads((tmp_path / "outloud.json").read_text(encoding="utf-8"))
    assert done.returncode == 0, json.dumps(found)[:3000]


@pytest.mark.slow
@needs_pdf
def test_again_it_is_the_same_bytes(run: Run, earlier: tuple[EarlierAudit, ...], content: bytes) -> None:
    assert pdf.render_pdf(make_page(gather(run, earlier))) == content


@pytest.mark.slow
@needs_pdf
def test_every_page_says_that_it_is_not_signed(content: bytes, tmp_path: Path) -> None:
    pdfplumber = pytest.importorskip("pdfplumber")
    (tmp_path / "report.pdf").write_bytes(content)
    with pdfplumber.open(tmp_path / "report.pdf") as document:
        texts = [page.extract_text() for page in document.pages]
    assert len(texts) > 5
    assert all("Not signed" in text for text in texts)
    assert "Impact ratio" in " ".join(texts)


@needs_pdf
@pytest.mark.slow
def test_the_stage_makes_it_where_the_spec_asks(tmp_path: Path) -> None:
    run = made(tmp_path, report={"formats": ["pdf"]}, measure={"metrics": ["impact_ratio"], "strata": [[]]})
    assert run.stage("report").read("report.pdf").startswith(b"%PDF-1.7")


def test_without_being_asked_for_there_is_none(run: Run) -> None:
    assert "report.pdf" not in run.stage("report").success().artefacts


def test_where_none_can_be_made_the_stage_says_why(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        pdf, "why_no_pdf", lambda: "WeasyPrint is not installed; pip install 'audit-lib[pdf]'"
    )
    said: list[str] = []
    spec = run.spec.override("report", formats=["pdf"])
    asked = dataclasses.replace(run, spec=spec, notify=said.append)
    assert "report.pdf" not in report(asked).artefacts
    assert said == [
        "report: no report.pdf was made: WeasyPrint is not installed; pip install 'audit-lib[pdf]'"
    ]
    with pytest.raises(InputError, match="WeasyPrint is not installed"):
        pdf.render_pdf(make_page(gather(run)))
