"""`audit report RUN --format ...`: forms of any sealed run, beside its evidence, each naming the evidence's digest."""

from __future__ import annotations

import csv
import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from audit_lib import pipeline
from audit_lib.archive.verify import verify
from audit_lib.cli.main import main
from audit_lib.errors import IncompleteRunError, ValidationFailedError
from audit_lib.report_forms import report_forms
from audit_lib.run import Run
from audit_lib.signoff import AuditorAnswers, attestations, generate_key, load_private_key, sign_off
from audit_lib.signoff.verification import verify_signed
from audit_lib.site import publish
from tests.archive.cases import do, new_run
from tests.inputs import recorded_audit
from tests.report.runs import WINDOW

FORMS = "html,json,csv,card"


def manifest(run: Run) -> str:
    return hashlib.sha256(run.stage("evidence").read("manifest.json")).hexdigest()


def state(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def sign(run: Run, folder: Path) -> Path:
    generate_key(folder / "a.key")
    who = AuditorAnswers(
        auditor="Ada Auditor", organisation="Independent LLP", attested=tuple(attestations(run))
    )
    sign_off(run, who, load_private_key(folder / "a.key"))
    return folder / "a.key.pub"


def test_each_form_names_the_evidence_and_the_run_stays(sealed_run: Run, tmp_path: Path) -> None:
    pytest.importorskip("trestle", reason="writes OSCAL")
    before, out = state(Path(sealed_run.uri)), tmp_path / "out"
    assert main(["report", sealed_run.uri, "--format", f"{FORMS},oscal", "--out", str(out)]) == 0
    made = state(out)
    assert set(made) == {
        "report.html", "summary.html", "applicant.html", "report.json", "tables.csv", "estimates.csv", "answers.csv",
        "oscal.json", "card.html", "card.json", "badge.svg",
    }  # fmt: skip
    digest = manifest(sealed_run)
    for name, content in made.items():
        if name.endswith(".csv"):
            rows = list(csv.DictReader(content.decode().splitlines()))
            assert rows and {row["evidence_sha256"] for row in rows} == {digest}
        else:
            assert digest in content.decode(), name
    assert json.loads(made["card.json"])["evidence_sha256"] == digest
    assert state(Path(sealed_run.uri)) == before and verify(sealed_run.uri).ok
    assert main(["report", sealed_run.uri, "--format", f"{FORMS},oscal", "--out", str(out)]) == 0
    assert state(out) == made, "the same bytes again"


def test_numbers_are_those_of_the_archived_tables(sealed_run: Run, tmp_path: Path) -> None:
    assert main(["report", sealed_run.uri, "--format", "csv,json", "--out", str(tmp_path / "out")]) == 0
    folder = sealed_run.stage("report")
    for name in ("tables.csv", "estimates.csv", "answers.csv"):
        made = list(csv.DictReader((tmp_path / "out" / name).read_text(encoding="utf-8").splitlines()))
        archived = list(csv.DictReader(folder.read(name).decode().splitlines()))
        assert [{k: v for k, v in row.items() if k != "evidence_sha256"} for row in made] == archived
    document, sealed = (
        json.loads(one) for one in ((tmp_path / "out/report.json").read_bytes(), folder.read("report.json"))
    )
    assert document.pop("inputs") == sealed.pop("inputs") | {"evidence/manifest.json": manifest(sealed_run)}
    changed = {key for key in document["digests"] if document["digests"][key] != sealed["digests"][key]}
    assert changed == {"inputs"}
    assert document | {"digests": {}} == sealed | {"digests": {}}


def test_of_a_signed_run_it_says_that_the_signature_is_of_another_file(
    sealed_run: Run, tmp_path: Path
) -> None:
    sign(sealed_run, tmp_path)
    assert main(["report", sealed_run.uri, "--format", "html", "--out", str(tmp_path / "out")]) == 0
    page = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    assert "The signature is of the report that lies in the run, and not of this copy." in page
    assert "Ada Auditor" in (tmp_path / "out/summary.html").read_text(encoding="utf-8")


def test_another_pack_has_the_forms_too_and_no_signature(
    sealed_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sign(sealed_run, tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["report", sealed_run.uri, "--policy", "california_crd", "--format", "html,card"]) == 0
    folder = tmp_path / "report-california_crd"
    assert json.loads((folder / "card.json").read_bytes())["status"] == "not signed"
    summary = (folder / "summary.html").read_text(encoding="utf-8")
    assert "Another law than the one that was planned" in summary and "Ada Auditor" not in summary
    assert main(["report", sealed_run.uri, "--policy", "california_crd", "--format", "oscal"]) == 2
    assert "own pack" in capsys.readouterr().err


def test_spanish_pages_when_asked_for(sealed_run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert (
        main(["report", sealed_run.uri, "--format", "html,card", "--language", "es", "--out", str(out)]) == 0
    )
    assert {"summary.es.html", "applicant.es.html", "report.es.html", "card.es.html", "badge.es.svg"} < set(
        state(out)
    )
    assert "summary.html" not in state(out)


def test_what_is_not_sealed_failed_or_was_changed_is_refused(
    sealed_run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, command = str(tmp_path / "out"), ["--format", "card", "--out"]
    assert main(["report", sealed_run.uri, *command, f"{sealed_run.uri}/new"]) == 2
    assert "lies in the run" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["report", sealed_run.uri, "--format", "card,docx"])
    for name in ("unsealed", "failed"):
        (tmp_path / name).mkdir()
    unsealed = do(new_run(tmp_path / "unsealed", str(tmp_path / "unsealed/store")), until="report")
    capsys.readouterr()
    assert main(["report", unsealed.uri, *command, out]) == 2
    assert "not a sealed run" in capsys.readouterr().err
    spec = recorded_audit(tmp_path / "failed", checks={"minimum_answered_share": 0.99})
    failed = pipeline.open_run(spec, WINDOW, str(tmp_path / "failed/store"))
    with pytest.raises(ValidationFailedError):
        pipeline.run_all(failed)
    capsys.readouterr()
    assert main(["report", failed.uri, *command, out]) == 1
    assert "failed its validation" in capsys.readouterr().err
    with pytest.raises(IncompleteRunError, match="sealed without a report, and ended as: validation failed"):
        report_forms(failed, ["card"])
    path = Path(sealed_run.uri) / "metrics/metrics.json"
    path.write_bytes(path.read_bytes().replace(b'"total"', b'"totaI"', 1))
    assert main(["report", sealed_run.uri, *command, out]) == 1
    assert "does not verify" in capsys.readouterr().err and not Path(out).exists()


def test_they_are_signed_published_and_checked_alone(
    sealed_run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "store"
    publish(str(store))
    site = store / "site"
    (draft,) = site.glob("small/2*/*/summary.html")
    assert "Draft calculation" in draft.read_text(encoding="utf-8")
    assert manifest(sealed_run) in draft.read_text(encoding="utf-8")
    key = sign(sealed_run, tmp_path)
    assert verify_signed(sealed_run.uri).ok
    publish(str(store), base="https://audits.example.org/")
    for name in ("summary.html", "applicant.html", "card.json", "badge.svg"):
        capsys.readouterr()
        assert main(["verify-page", str(draft.parent / name), "--trust", str(key)]) == 0, name
    assert "summary.html" in (site / "small/index.html").read_text(encoding="utf-8")
    assert "latest/summary.html" in (site / "sitemap.xml").read_text(encoding="utf-8")
    assert "card.html" not in (site / "sitemap.xml").read_text(encoding="utf-8")
    assert (site / "small/latest/summary.html").read_bytes() == draft.read_bytes()


def test_a_changed_summary_is_found(sealed_run: Run, tmp_path: Path) -> None:
    sign(sealed_run, tmp_path)
    path = Path(sealed_run.uri) / "signoff/1/summary.html"
    path.write_bytes(path.read_bytes().replace(b"not", b"nor", 1))
    assert not verify_signed(sealed_run.uri).ok


def test_a_sign_off_from_before_there_were_any_still_holds(
    sealed_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as before:
        before.setattr("audit_lib.signoff.signed_report.readings_of", lambda run, content: {})
        sign(sealed_run, tmp_path)
    assert "summary.html" not in sealed_run.stage("signoff/1").success().artefacts
    assert verify_signed(replace(sealed_run).uri).ok
    publish(str(tmp_path / "store"))
    (made,) = (tmp_path / "store/site").glob("small/2*/*/summary.html")
    assert "Ada Auditor" in made.read_text(encoding="utf-8")
