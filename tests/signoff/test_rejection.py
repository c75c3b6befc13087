"""Rejection: it is signed, entered, shown wherever the run is shown, and stands for good."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from audit_lib.canonical import sha256
from audit_lib.cli.main import main
from audit_lib.errors import IncompleteRunError, InputError
from audit_lib.journal import read_journal
from audit_lib.oscal import assessment_results
from audit_lib.run import Run
from audit_lib.signoff import (
    AuditorAnswers,
    RejectionAnswers,
    attestations,
    generate_key,
    load_private_key,
    load_public_key,
    read_rejection,
    read_sign_offs,
    reject,
    sign_off,
    verify_signed,
)
from audit_lib.signoff.archived_report import archived_report
from audit_lib.site import publish
from audit_lib.windows import begun_runs
from audit_lib.windows.run_index import read_index
from tests.archive.cases import do, new_run
from verifier.findings import Verdict
from verifier.run import Given, check_run
from verifier.source import open_source
from verifier.trust import Trust

AT = datetime(2126, 2, 2, 9, 30, tzinfo=UTC)
WHY = "The 1,204 applications of May are missing from the export."
SAID = RejectionAnswers(auditor="Ada Auditor", organisation="Independent LLP", reason=WHY)


@pytest.fixture
def key(tmp_path: Path) -> Path:
    generate_key(tmp_path / "auditor.key")
    return tmp_path / "auditor.key"


@pytest.fixture
def run(sealed_run: Run) -> Run:
    return sealed_run


def rejected(run: Run, key: Path, **options: datetime) -> Run:
    reject(run, SAID, load_private_key(key), **({"at": AT} | options))
    return run


def own(run: Run) -> Path:
    return Path(run.uri.removeprefix("file://"))


def other_verifier(run: Run) -> Verdict:
    verdict = Verdict(run.uri)
    given = Given(
        Trust.of([]) if hasattr(Trust, "of") else Trust(),
        [],
        "",
        datetime(2127, 1, 1, tzinfo=UTC),
        stamps=True,
    )
    check_run(open_source(str(own(run))), verdict, given)
    return verdict


def test_a_rejection_is_signed_entered_and_shown(
    run: Run, key: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sealed = run.stage("report").read("report.html")
    rejected(run, key)
    found = read_rejection(run)
    assert found is not None and found.predicate.reason == WHY
    (subject,) = found.statement.subject
    assert subject.digest.sha256 == sha256(run.stage("evidence").read("manifest.json"))
    assert run.stage("report").read("report.html") == sealed
    last = read_journal(run.store, run.key.audit)[-1]
    assert (last.event, last.sealed_sha256) == ("rejected", found.digest)
    assert main(["show", run.uri]) == 0
    assert (
        f"REJECTED by 'Ada Auditor', 'Independent LLP', on 2126-02-02: '{WHY}'"
        in capsys.readouterr().out.replace('"', "'")
    )
    page = archived_report(run, "html").decode()
    assert "Rejected 2126-02-02" in page and WHY in page and "Not signed<" not in page
    assert json.loads(assessment_results(run))["assessment-results"]["results"][0]["props"]


def test_it_verifies_and_the_verdict_says_so(run: Run, key: Path) -> None:
    rejected(run, key)
    checked = verify_signed(run.uri)
    assert checked.ok and checked.rejected and not checked.keys, checked.summary()
    assert checked.summary().startswith("VERIFIED, rejected by its auditor")
    assert WHY in checked.summary() and not any("rejection" in note for note in checked.notes)
    (line,) = [line for line in other_verifier(run).signatures if line.startswith("REJECTED")]
    assert WHY in line and not other_verifier(run).findings


def test_with_trusted_keys_a_rejected_run_is_no_signed_one(run: Run, key: Path, tmp_path: Path) -> None:
    rejected(run, key)
    own_key = [load_public_key(key.with_name(f"{key.name}.pub"))]
    (finding,) = verify_signed(run.uri, own_key, recompute={}).findings
    assert "an auditor rejected this run" in finding.detail
    generate_key(tmp_path / "other.key")
    other = [load_public_key(tmp_path / "other.key.pub")]
    said = [one.detail for one in verify_signed(run.uri, other, recompute={}, allow_unsigned=True).findings]
    assert len(said) == 1 and "none of the keys given" in said[0]


def test_nobody_signs_what_was_rejected_or_rejects_it_twice(run: Run, key: Path) -> None:
    rejected(run, key)
    answers = AuditorAnswers(auditor="Bob", organisation="Other LLP", attested=tuple(attestations(run)))
    with pytest.raises(
        InputError, match=r"Ada Auditor, Independent LLP, rejected it on 2126-02-02: The 1,204"
    ):
        sign_off(run, answers, load_private_key(key), at=AT + timedelta(days=1))
    with pytest.raises(InputError, match="rejected it on"):
        reject(run, SAID, load_private_key(key), at=AT + timedelta(days=1))
    assert read_sign_offs(run) == []


def test_what_is_signed_is_superseded_and_not_rejected(run: Run, key: Path) -> None:
    answers = AuditorAnswers(auditor="Bob", organisation="Other LLP", attested=tuple(attestations(run)))
    sign_off(run, answers, load_private_key(key), at=AT)
    with pytest.raises(InputError, match="Bob signed it on 2126-02-02"):
        reject(run, SAID, load_private_key(key), at=AT)


@pytest.mark.parametrize("lacks", ["auditor", "organisation", "reason"])
def test_a_rejection_says_who_and_why(run: Run, key: Path, lacks: str) -> None:
    given = {"auditor": "Ada", "organisation": "LLP", "reason": WHY} | {lacks: " - "}
    with pytest.raises(InputError, match=f"^{lacks}: a rejection"):
        reject(run, RejectionAnswers(**given), load_private_key(key), at=AT)
    assert run.list("rejection") == []


def test_only_a_sealed_run_is_rejected_and_not_before_its_seal(run: Run, key: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="before it was sealed"):
        rejected(run, key, at=datetime(2020, 1, 1, tzinfo=UTC))
    (tmp_path / "open").mkdir()
    unsealed = do(new_run(tmp_path / "open", str(tmp_path / "open")), until="report")
    with pytest.raises(IncompleteRunError, match="only a sealed run is rejected"):
        rejected(unsealed, key)


def test_evidence_that_does_not_verify_can_be_rejected(run: Run, key: Path) -> None:
    page = own(run) / "report" / "tables.csv"
    page.chmod(0o644)
    page.write_bytes(page.read_bytes() + b"x")
    rejected(run, key)
    assert not verify_signed(run.uri, recompute={}).ok and read_rejection(run) is not None


def _drop(name: str) -> Callable[[Run], None]:
    def change(run: Run) -> None:
        (own(run) / "rejection" / name).unlink()

    return change


def _reason(run: Run) -> None:
    path = own(run) / "rejection" / "statement.dsse.json"
    document = json.loads(path.read_text())
    payload = base64.b64decode(document["payload"]).replace(b"1,204", b"0,000")
    path.chmod(0o644)
    path.write_text(json.dumps(document | {"payload": base64.b64encode(payload).decode()}))


def _more(run: Run) -> None:
    (own(run) / "rejection" / "more.txt").write_text("x")


def _time(run: Run) -> None:
    path = own(run) / "rejection" / "_SUCCESS"
    path.chmod(0o644)
    path.write_bytes(path.read_bytes().replace(b"2126-02-02", b"2126-02-03"))


CHANGES = [_drop("statement.dsse.json"), _drop("signer.pub"), _drop("_SUCCESS"), _reason, _more, _time]


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_rejection_is_found_by_both_verifiers_and_nothing_is_published(
    run: Run, key: Path, change: Callable[[Run], None]
) -> None:
    change(rejected(run, key))
    assert not verify_signed(run.uri, recompute={}).ok
    assert other_verifier(run).findings
    done = publish(run.uri.removesuffix(f"/{run.key.prefix}"))
    assert len(done.left_out) == 1


def test_a_rejection_that_is_gone_is_missed_by_the_journal(run: Run, key: Path) -> None:
    rejected(run, key)
    for path in (own(run) / "rejection").iterdir():
        path.unlink()
    (finding,) = verify_signed(run.uri, recompute={}).findings
    assert finding.kind == "journal" and "made to reject the run" in finding.detail


def test_a_run_that_is_rejected_and_signed_does_not_verify(run: Run, key: Path) -> None:
    answers = AuditorAnswers(auditor="Bob", organisation="Other LLP", attested=tuple(attestations(run)))
    sign_off(run, answers, load_private_key(key), at=AT)
    aside = own(run) / "signoff"
    aside.rename(own(run).parent / "aside")
    rejected(run, key)
    (own(run).parent / "aside").rename(aside)
    assert any("signed as well" in one.detail for one in verify_signed(run.uri, recompute={}).findings)
    assert any("signed as well" in one.detail for one in other_verifier(run).findings)


def test_the_site_shows_it_as_rejected_and_never_as_the_latest(run: Run, key: Path) -> None:
    rejected(run, key)
    root = run.uri.removesuffix(f"/{run.key.prefix}")
    done = publish(root)
    assert not done.left_out
    site = Path(root.removeprefix("file://")) / "site"
    page = (site / run.key.prefix / "report.html").read_text("utf-8")
    audit = (site / run.key.audit / "index.html").read_text("utf-8")
    summary = (site / run.key.prefix / "summary.html").read_text("utf-8")
    for shown in (page, audit, summary):
        assert WHY in shown and "Ada Auditor" in shown
    assert "Rejected 2126-02-02" in page and not (site / run.key.audit / "latest" / "report.html").exists()
    assert (site / run.key.prefix / "rejection" / "statement.dsse.json").exists()
    assert not (site / run.key.prefix / "statement.dsse.json").exists()
    card = json.loads((site / run.key.prefix / "card.json").read_text())
    assert card["status"] == "not signed" and "rejected" in card["why_no_audit"]
    assert "rejected by" in (site / "feed.json").read_text()
    assert publish(root).written == 0


def test_what_is_kept_of_the_store_says_it(run: Run, key: Path) -> None:
    before = read_index(run.store, run.key.audit).latest
    rejected(run, key)
    after = read_index(run.store, run.key.audit).latest
    assert before is not None and before.rejected_by is None
    assert after is not None and after.rejected_by == "Ada Auditor" and WHY in (after.why_no_audit or "")
    assert [(one.signed, one.rejected) for one in begun_runs(run.store, run.key.audit)] == [(False, True)]


def test_the_command_rejects(run: Run, key: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--auditor", "Ada Auditor", "--organisation", "Independent LLP", "--reason", WHY]
    with pytest.raises(SystemExit):
        main(["reject", run.uri, "--key", str(key), *given[:4]])
    assert main(["reject", run.uri, "--key", str(key), *given]) == 0
    assert f"rejected  {run.uri}" in capsys.readouterr().out
    assert read_rejection(run) is not None
