"""`audit report RUN --format`: one form of a sealed run's report, and the run stays as it is."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from audit_lib.cli.main import main
from audit_lib.report import page as page_module
from audit_lib.report import pdf
from audit_lib.report.blocks import Page
from audit_lib.report.content import Content
from audit_lib.run import Run
from audit_lib.signoff import AuditorAnswers, attestations, generate_key, load_private_key, sign_off
from audit_lib.signoff import archived_report as module
from tests.archive.cases import do, new_run

needs_pdf = pytest.mark.skipif(pdf.why_no_pdf() is not None, reason=str(pdf.why_no_pdf()))


@pytest.fixture
def run(sealed_run: Run) -> Run:
    return sealed_run


def sign(run: Run, folder: Path) -> None:
    generate_key(folder / "a.key")
    who = AuditorAnswers(
        auditor="Ada Auditor", organisation="Independent LLP", attested=tuple(attestations(run))
    )
    sign_off(run, who, load_private_key(folder / "a.key"))


def state(run: Run) -> dict[str, str]:
    root = Path(run.uri)
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def words(path: Path, pages: int | None = None) -> str:
    plumber = pytest.importorskip("pdfplumber", reason="reads the PDF")
    with plumber.open(path) as document:
        return " ".join(" ".join((page.extract_text() or "").split()) for page in document.pages[:pages])


@needs_pdf
def test_a_pdf_of_a_sealed_run_that_has_none(run: Run, tmp_path: Path) -> None:
    before, out = state(run), tmp_path / "out.pdf"
    assert "report/report.pdf" not in before
    assert main(["report", run.uri, "--format", "pdf", "--output", str(out)]) == 0
    assert out.read_bytes().startswith(b"%PDF") and "Draft calculation" in words(out, pages=1)
    assert state(run) == before


@pytest.mark.slow  # sets 27 pages three times
@needs_pdf
def test_the_pdf_is_the_same_again_and_of_a_signed_run_the_signed_one(run: Run, tmp_path: Path) -> None:
    out, again = tmp_path / "out.pdf", tmp_path / "again.pdf"
    for path in (out, again):
        assert main(["report", run.uri, "--format", "pdf", "--output", str(path)]) == 0
    assert again.read_bytes() == out.read_bytes()
    sign(run, tmp_path)
    signed = state(run)
    assert main(["report", run.uri, "--format", "pdf", "--output", str(out)]) == 0
    said = words(out)
    assert "Ada Auditor, Independent LLP" in said and "Summary of results of a bias audit" in said
    assert state(run) == signed


@pytest.mark.parametrize(
    ("form", "name"), [("html", "report.html"), ("json", "report.json"), ("csv", "tables.csv")]
)
def test_other_forms_are_the_archived_bytes(form: str, name: str, run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert main(["report", run.uri, "--format", form, "--output", str(out)]) == 0
    assert out.read_bytes() == run.stage("report").read(name)
    sign(run, tmp_path)
    assert main(["report", run.uri, "--format", form, "--output", str(out)]) == 0
    assert out.read_bytes() == run.stage("signoff/1").read(name)


def test_it_refuses_what_does_not_verify_and_what_is_not_sealed(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "out.html")
    assert main(["report", run.uri, "--format", "html", "--output", f"{run.uri}/report/new.html"]) == 2
    assert "lies in the run" in capsys.readouterr().err
    assert main(["report", run.uri, "--output", out]) == 2
    path = Path(run.uri) / "metrics/metrics.json"
    path.write_bytes(path.read_bytes().replace(b'"total"', b'"totaI"', 1))
    assert main(["report", run.uri, "--format", "html", "--output", out]) == 1
    assert "does not verify" in capsys.readouterr().err and not Path(out).exists()
    other = tmp_path / "other"
    other.mkdir()
    unsealed = do(new_run(other, str(other / "store")), until="report")
    assert main(["report", unsealed.uri, "--format", "html", "--output", out]) == 2
    assert "not a sealed run" in capsys.readouterr().err


@needs_pdf
def test_a_pdf_says_nothing_that_the_archived_page_does_not(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = page_module.make_page

    def changed(content: Content) -> Page:
        return replace(real(content), subtitle="Another title")

    monkeypatch.setattr(module, "make_page", changed)
    assert main(["report", run.uri, "--format", "pdf", "--output", str(tmp_path / "o.pdf")]) == 1
    assert "makes another page than the archived one" in capsys.readouterr().err
