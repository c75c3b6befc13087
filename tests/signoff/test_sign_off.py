"""Sign-off: what is signed, what refuses to be, and what an attacker can not do unseen."""

from __future__ import annotations

import json
import shutil
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from audit_lib.archive.verify import verify
from audit_lib.canonical import pretty_json, sha256
from audit_lib.cli.main import main
from audit_lib.errors import ConflictError, EvidenceError, IncompleteRunError, InputError
from audit_lib.run import Run
from audit_lib.signing import keys
from audit_lib.signing.keys import key_id
from audit_lib.signoff import (
    AuditorAnswers,
    SignOff,
    attestations,
    generate_key,
    load_private_key,
    load_public_key,
    read_sign_offs,
    sign_off,
    verify_sign_offs,
    verify_signed,
)
from audit_lib.site import publish
from audit_lib.window import Window
from tests.archive.cases import do, new_run

AT = datetime(2126, 2, 2, 9, 30, tzinfo=UTC)  # later than any seal of a test


@pytest.fixture
def key(tmp_path: Path) -> Path:
    generate_key(tmp_path / "auditor.key")
    return tmp_path / "auditor.key"


@pytest.fixture
def run(sealed_run: Run) -> Run:
    return sealed_run


def answers(run: Run, **changes: Any) -> AuditorAnswers:
    given: dict[str, Any] = {
        "auditor": "Ada Auditor", "organisation": "Independent LLP", "attested": tuple(attestations(run)),
    }  # fmt: skip
    return AuditorAnswers(**given | changes)


def signed(run: Run, key: Path, **options: Any) -> SignOff:
    return sign_off(run, answers(run), load_private_key(key), at=AT, **options)


def test_a_signed_report_says_who_signed_and_the_sealed_one_stays(run: Run, key: Path) -> None:
    sealed = run.stage("report").read("report.html")
    made = signed(run, key)
    page = made.folder.read("report.html").decode()
    assert b"Not signed" in sealed and run.stage("report").read("report.html") == sealed
    assert "Not signed" not in page and "Signed 2126-02-02" in page
    assert "Ada Auditor, Independent LLP" in page
    for sentence in attestations(run).values():
        assert sentence in page
    document = made.folder.read_json("report.json")
    assert document["status"] == "signed" and document["signature"]["auditor"] == "Ada Auditor"


def test_the_statement_names_the_manifest_and_every_report_file(run: Run, key: Path) -> None:
    subject = {e.name: e.digest.sha256 for e in signed(run, key).statement.subject}
    assert subject["evidence/manifest.json"] == sha256(run.stage("evidence").read("manifest.json"))
    assert {"report/report.html", "report/report.json", "signoff/1/report.html"} <= set(subject)


def test_signing_is_deterministic(run: Run, key: Path, tmp_path: Path) -> None:
    shutil.copytree(tmp_path / "store", tmp_path / "copy")
    other = Run.load(run.uri.replace("store", "copy"))
    first, second = signed(run, key), signed(other, key)
    names = first.folder.success().artefacts
    assert names == second.folder.success().artefacts


def test_the_evidence_still_verifies_and_so_does_the_sign_off(run: Run, key: Path) -> None:
    signed(run, key)
    assert verify(run.uri).ok, verify(run.uri).summary()
    checked = verify_sign_offs(run)
    assert checked.ok and "Ada Auditor" in checked.summary()


def test_an_unsigned_run_says_so(run: Run) -> None:
    checked = verify_sign_offs(run)
    assert checked.ok and checked.summary().startswith("no sign-off")


@pytest.mark.parametrize("missing", ["no_part_in_tool", "no_employment", "no_financial_interest"])
def test_every_attestation_is_needed_and_the_paragraph_is_named(run: Run, key: Path, missing: str) -> None:
    given = tuple(name for name in attestations(run) if name != missing)
    with pytest.raises(InputError, match=rf"{missing}.*5-300"):
        sign_off(run, answers(run, attested=given), load_private_key(key))
    assert read_sign_offs(run) == []


@pytest.mark.parametrize(("change", "message"), [
    ({"auditor": " "}, "auditor: a sign-off names who signs"),
    ({"organisation": ""}, "organisation"),
    ({"attested": ("no_such",)}, "'no_such' is not one of the policy's"),
])  # fmt: skip
def test_answers_that_make_no_sign_off(run: Run, key: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        sign_off(run, answers(run, **change), load_private_key(key))


def test_a_run_that_is_not_sealed_is_not_signed(tmp_path: Path, key: Path) -> None:
    unsealed = do(new_run(tmp_path, str(tmp_path / "store")), until="report")
    with pytest.raises(IncompleteRunError, match="evidence is not complete"):
        signed(unsealed, key)


def test_nobody_signs_what_does_not_verify(run: Run, key: Path) -> None:
    path = Path(run.uri) / "metrics" / "metrics.json"
    path.write_bytes(path.read_bytes().replace(b'"total"', b'"totaI"', 1))
    with pytest.raises(EvidenceError, match="nobody signs"):
        signed(run, key)


def test_a_second_statement_needs_a_reason_and_names_the_first(run: Run, key: Path) -> None:
    first = signed(run, key)
    with pytest.raises(InputError, match="A signed report is never changed"):
        signed(run, key)
    second = signed(run, key, supersede="the organisation's name was wrong")
    assert second.predicate.supersedes.run == f"{run.key.prefix}/signoff/1"
    assert second.number == 2 and second.predicate.supersedes.statement_sha256 == first.digest
    assert first.folder.read("report.html") != second.folder.read("report.html")
    assert "takes the place of an earlier one" in second.folder.read("report.html").decode()
    checked = verify_sign_offs(run)
    assert checked.ok and "superseded by statement 2" in checked.summary()


def test_nothing_to_supersede(run: Run, key: Path) -> None:
    with pytest.raises(InputError, match="nothing to supersede"):
        signed(run, key, supersede="why not")


def test_a_corrected_run_takes_the_place_of_a_signed_one(run: Run, key: Path, tmp_path: Path) -> None:
    first = signed(run, key)
    folder = tmp_path / "corrected"
    folder.mkdir()
    other = do(new_run(folder, str(tmp_path / "store"), measure={"small_cell": 6}), until="evidence")
    made = signed(other, key, supersede="the small-cell rule was wrong", corrects=run)
    assert made.number == 1
    assert made.predicate.supersedes.as_dict() == {
        "statement_sha256": first.digest,
        "run": f"{run.key.prefix}/signoff/1",
        "reason": "the small-cell rule was wrong",
    }
    assert verify_sign_offs(other).ok


def test_only_a_trusted_key_passes_where_keys_are_given(run: Run, key: Path, tmp_path: Path) -> None:
    signed(run, key)
    stranger = load_public_key(generate_key(tmp_path / "other.key"))
    own = load_public_key(tmp_path / "auditor.key.pub")
    assert verify_sign_offs(run, [own]).ok
    assert "none of the keys given" in verify_sign_offs(run, [stranger]).summary()
    assert not verify_sign_offs(run, [stranger]).ok


def forged(run: Run, name: str, content: bytes) -> None:
    """Rewrite a file of sign-off 1 and the record that lists it, as whoever owns the store can."""
    folder = Path(run.uri) / "signoff" / "1"
    (folder / name).write_bytes(content)
    record = json.loads((folder / "_SUCCESS").read_bytes())
    record["artefacts"][name] = {"sha256": sha256(content), "bytes": len(content)}
    (folder / "_SUCCESS").write_bytes(pretty_json(record))


def test_a_changed_statement_is_found(run: Run, key: Path) -> None:
    import base64

    signed(run, key)
    envelope = json.loads((Path(run.uri) / "signoff/1/statement.dsse.json").read_bytes())
    payload = base64.b64decode(envelope["payload"]).replace(b"Ada Auditor", b"Eve Auditor")
    envelope["payload"] = base64.b64encode(payload).decode()
    forged(run, "statement.dsse.json", pretty_json(envelope))
    assert "the signature is not one of key" in verify_sign_offs(run).summary()


def test_a_changed_signed_report_is_found(run: Run, key: Path) -> None:
    signed(run, key)
    page = (Path(run.uri) / "signoff/1/report.html").read_bytes()
    forged(run, "report.html", page.replace(b"Ada Auditor", b"Ada Aud1tor"))
    assert "signoff/1/report.html is not the file that was signed" in verify_sign_offs(run).summary()


def test_a_file_slipped_into_a_sign_off_is_found(run: Run, key: Path) -> None:
    signed(run, key)
    (Path(run.uri) / "signoff/1/report2.html").write_text("<p>all well</p>")
    assert "report2.html" in verify_sign_offs(run).summary()


def test_a_statement_moved_to_another_run_is_found(run: Run, key: Path, tmp_path: Path) -> None:
    signed(run, key)
    folder = tmp_path / "other"
    folder.mkdir()
    later = Window.parse("2026-01-12", "2026-01-19")
    other = do(new_run(folder, str(tmp_path / "store"), later), until="evidence")
    shutil.copytree(Path(run.uri) / "signoff", Path(other.uri) / "signoff")
    assert "about another run" in verify_sign_offs(other).summary()


def test_evidence_and_sign_offs_have_one_verdict(
    run: Run, key: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A sign-off copied from another run: the first line, the exit code and the list say the same."""
    signed(run, key)
    folder = tmp_path / "other"
    folder.mkdir()
    other = do(
        new_run(folder, str(tmp_path / "store"), Window.parse("2026-01-12", "2026-01-19")), until="evidence"
    )
    assert main(["verify", other.uri]) == 0
    before = capsys.readouterr().out
    assert before.startswith(f"VERIFIED, no sign-off  {other.uri}\n")
    shutil.copytree(Path(run.uri) / "signoff", Path(other.uri) / "signoff")
    assert verify(other.uri).ok
    assert main(["verify", other.uri]) == 1
    first, *rest = capsys.readouterr().out.splitlines()
    assert first == f"NOT VERIFIED: 1 finding  {other.uri}"
    assert "  finding: signoff/1: the statement is about another run [sign-off]" in rest
    both = Path(other.uri) / "metrics" / "metrics.json"
    both.write_bytes(both.read_bytes().replace(b'"total"', b'"totaI"', 1))
    found = verify_signed(other.uri)
    assert {"sign-off", "changed"} <= {finding.kind for finding in found.findings}
    shutil.rmtree(Path(other.uri) / "plan")
    assert not verify_signed(other.uri).ok and "without the design" in verify_signed(other.uri).summary()


def test_taking_the_last_statement_away_is_only_seen_by_its_digest(run: Run, key: Path) -> None:
    """What lies in the store can be removed by its owner: the limit that the documentation states."""
    signed(run, key)
    shutil.rmtree(Path(run.uri) / "signoff")
    assert verify_sign_offs(run).summary().startswith("no sign-off")


def test_who_gives_keys_expects_a_signature(
    run: Run, key: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A sign-off that was taken away whole is in the journal; of a copy without one, who has the key knows better."""
    signed(run, key)
    trusted = load_public_key(Path(f"{key}.pub"))
    assert verify_signed(run.uri, [trusted]).ok
    shutil.rmtree(Path(run.uri) / "signoff")
    assert main(["verify", run.uri, "--trust", f"{key}.pub"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("NOT VERIFIED: 2 findings") and "finding: signoff: no auditor has signed" in out
    assert [one.kind for one in verify_signed(run.uri).findings] == ["journal"]
    assert len(publish(run.store.root, trusted=[trusted]).left_out) == 1
    copy = str(shutil.copytree(run.uri, tmp_path / "copy"))
    assert [one.kind for one in verify_signed(copy, [trusted]).findings] == ["sign-off"]
    assert verify_signed(copy).ok and verify_signed(copy, [trusted], allow_unsigned=True).ok


def test_a_date_that_is_still_to_come_is_noted(
    run: Run, key: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    signed(run, key)
    note = "signoff/1: says that it was signed 2126-02-02 09:30:00+00:00, which is after this machine's clock"
    assert main(["verify", run.uri]) == 0
    assert f"  note: {note}\n" in capsys.readouterr().out
    assert verify_sign_offs(run, now=AT).notes == ()


def test_taking_the_first_of_two_statements_away_is_found(run: Run, key: Path) -> None:
    signed(run, key)
    signed(run, key, supersede="name")
    shutil.rmtree(Path(run.uri) / "signoff" / "1")
    assert "the statement that it supersedes" in verify_sign_offs(run).summary()


def test_a_killed_signing_does_not_block_the_next(run: Run, key: Path) -> None:
    left = Path(run.uri) / "signoff" / "1" / "report.html"
    left.parent.mkdir(parents=True)
    left.write_text("half a signed report")
    assert signed(run, key).number == 2
    assert verify_sign_offs(run).ok


def test_two_who_sign_at_once(run: Run, key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("audit_lib.signoff.sign.next_number", lambda run: 1)
    signed(run, key)
    monkeypatch.setattr("audit_lib.signoff.sign.read_sign_offs", lambda run: [])
    with pytest.raises(ConflictError, match="another sign-off was made at the same time"):
        sign_off(run, answers(run), load_private_key(key))


def test_a_run_of_another_window_is_no_correction(run: Run, key: Path, tmp_path: Path) -> None:
    signed(run, key)
    folder = tmp_path / "other"
    folder.mkdir()
    later = do(
        new_run(folder, str(tmp_path / "store"), Window.parse("2026-01-12", "2026-01-19")), until="evidence"
    )
    with pytest.raises(InputError, match="another audit or window"):
        signed(later, key, supersede="why", corrects=run)


def test_a_private_key_is_private_and_never_overwritten(key: Path) -> None:
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    with pytest.raises(InputError, match="never overwritten"):
        generate_key(key)


@pytest.mark.parametrize("lacking", ["cryptography", "securesystemslib"])
def test_without_the_extra_no_key_is_made_read_or_believed(
    run: Run,
    key: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    lacking: str,
) -> None:
    signed(run, key)
    there = keys.find_spec
    monkeypatch.setattr(keys, "find_spec", lambda name: None if name == lacking else there(name))
    said = f"signatures need {lacking}; pip install 'audit-lib[sign]'"
    for command in (
        ["keygen", str(tmp_path / "new.key")],
        [
            "sign",
            run.uri,
            "--key",
            str(key),
            "--auditor",
            "A",
            "--organisation",
            "B",
            "--attest",
            *attestations(run),
        ],
        ["verify", run.uri, "--trust", f"{key}.pub"],
        ["verify", run.uri],
    ):
        assert main(command) == 2
        assert said in capsys.readouterr().err


def test_an_encrypted_key_needs_its_passphrase(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDIT_SIGNING_PASSPHRASE", "correct horse")
    public = generate_key(tmp_path / "locked.key")
    assert key_id(load_private_key(tmp_path / "locked.key").public_key()) == key_id(load_public_key(public))
    monkeypatch.setenv("AUDIT_SIGNING_PASSPHRASE", "wrong")
    with pytest.raises(InputError, match="another passphrase"):
        load_private_key(tmp_path / "locked.key")
    monkeypatch.delenv("AUDIT_SIGNING_PASSPHRASE")
    with pytest.raises(InputError, match="AUDIT_SIGNING_PASSPHRASE must be set"):
        load_private_key(tmp_path / "locked.key")


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = do(new_run(tmp_path, str(tmp_path / "store")), until="evidence")
    key = tmp_path / "my.key"
    assert main(["keygen", str(key)]) == 0
    who = ["--key", str(key), "--auditor", "Ada Auditor", "--organisation", "Independent LLP"]
    assert main(["sign", run.uri, *who]) == 2
    assert "no_part_in_tool" in capsys.readouterr().err
    assert main(["sign", run.uri, *who, "--attest", *attestations(run)]) == 0
    capsys.readouterr()
    assert main(["verify", run.uri, "--trust", f"{key}.pub"]) == 0
    assert "a key given as trusted" in capsys.readouterr().out
    assert main(["keygen", str(tmp_path / "other.key")]) == 0
    assert main(["verify", run.uri, "--trust", str(tmp_path / "other.key.pub")]) == 1
