"""What whoever owns the store, or even the auditor's key, cannot sign unseen: a false report, order or statement."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from audit_lib.canonical import pretty_json, sha256
from audit_lib.cli.main import main
from audit_lib.errors import EvidenceError, InputError
from audit_lib.report import pdf
from audit_lib.run import Run
from audit_lib.signoff import (
    AuditorAnswers,
    attestations,
    generate_key,
    load_private_key,
    read_sign_offs,
    sign_off,
    verify_sign_offs,
)
from audit_lib.signoff.envelope import seal
from audit_lib.site import publish
from tests.archive.cases import do, new_run

AT = datetime(2126, 2, 2, 9, 30, tzinfo=UTC)
Change = Callable[[dict[str, Any]], object]


def answers(run: Run, **changes: Any) -> AuditorAnswers:
    given: dict[str, Any] = {
        "auditor": "Ada Auditor", "organisation": "Independent LLP", "attested": tuple(attestations(run)),
    }  # fmt: skip
    return AuditorAnswers(**given | changes)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one run that was signed twice, and the key."""
    folder = tmp_path_factory.mktemp("forged")
    run = do(new_run(folder, str(folder / "store")), until="evidence")
    generate_key(folder / "auditor.key")
    key = load_private_key(folder / "auditor.key")
    sign_off(run, answers(run), key, at=AT)
    sign_off(run, answers(run), key, at=AT + timedelta(days=1), supersede="a typing error")
    return folder


@pytest.fixture
def run(made: Path, tmp_path: Path) -> Run:
    shutil.copytree(made / "store", tmp_path / "store")
    for name in ("auditor.key", "auditor.key.pub"):
        shutil.copy(made / name, tmp_path / name)
    (uri,) = (tmp_path / "store" / "small").glob("*_*/*")
    return Run.load(str(uri))


def own_key(run: Run) -> Ed25519PrivateKey:
    return load_private_key(Path(run.store.root).parent / "auditor.key")


def record(run: Run, number: int, *names: str) -> None:
    """Make the record of a sign-off agree with files as they are now."""
    folder = Path(run.uri) / "signoff" / str(number)
    document = json.loads((folder / "_SUCCESS").read_bytes())
    for name in names:
        content = (folder / name).read_bytes()
        document["artefacts"][name] = {"sha256": sha256(content), "bytes": len(content)}
    (folder / "_SUCCESS").write_bytes(pretty_json(document))


def sign_again(run: Run, change: Change, number: int = 2) -> None:
    """Change a statement and sign it with the auditor's own key."""
    path = Path(run.uri) / "signoff" / str(number) / "statement.dsse.json"
    statement = json.loads(base64.b64decode(json.loads(path.read_bytes())["payload"]))
    change(statement)
    path.write_bytes(seal(statement, own_key(run)))
    record(run, number, "statement.dsse.json")


def forge(run: Run, name: str, change: Callable[[bytes], bytes]) -> None:
    """Change a file of the signed report, and sign the report that it is now."""
    path = Path(run.uri) / "signoff" / "2" / name
    before = path.read_bytes()
    path.write_bytes(change(before))
    assert path.read_bytes() != before
    record(run, 2, name)

    def digest(statement: dict[str, Any]) -> None:
        (entry,) = (one for one in statement["subject"] if one["name"] == f"signoff/2/{name}")
        entry["digest"]["sha256"] = sha256(path.read_bytes())

    sign_again(run, digest)


def found(run: Run) -> str:
    return verify_sign_offs(run).summary()


def test_what_was_signed_twice_verifies(run: Run) -> None:
    checked = verify_sign_offs(run)
    assert checked.ok and len(checked.lines) == 2 and not checked.notes


@pytest.mark.parametrize(("name", "change"), [
    ("report.html", lambda page: page.replace(b"0.8", b"0.9")),
    ("report.json", lambda page: page.replace(b'"n": 1', b'"n": 2', 1)),
    ("tables.csv", lambda page: page.replace(b"0.", b"1.", 1)),
])  # fmt: skip
def test_an_auditor_cannot_sign_other_numbers(
    run: Run, name: str, change: Callable[[bytes], bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    forge(run, name, change)
    trusted = str(Path(run.store.root).parent / "auditor.key.pub")
    assert main(["verify", run.uri, "--trust", trusted]) == 1
    out = capsys.readouterr().out
    assert out.startswith("NOT VERIFIED: 2 findings")
    assert f"{name} is not the report that follows from the evidence" in out
    assert "was signed, says entry 5 of the journal, and is gone" in out


@pytest.mark.slow
@pytest.mark.skipif(pdf.why_no_pdf() is not None, reason=str(pdf.why_no_pdf()))
def test_an_auditor_cannot_sign_another_pdf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = new_run(tmp_path, str(tmp_path / "store"), report={"formats": ["pdf"]})
    do(run, until="evidence")
    generate_key(tmp_path / "auditor.key")
    key = load_private_key(tmp_path / "auditor.key")
    sign_off(run, answers(run), key, at=AT)
    sign_off(run, answers(run), key, at=AT, supersede="why")
    assert verify_sign_offs(run).ok
    forge(run, "report.pdf", lambda page: page + b"\n")
    assert "report.pdf is not the report that follows from the evidence" in found(run)
    monkeypatch.setattr("audit_lib.signoff.signed_report.why_no_pdf", lambda: "no library")
    notes = verify_sign_offs(run).notes
    assert len(notes) == 2 and all(
        "report.pdf, summary.pdf: were not made again: no library" in note for note in notes
    )


@pytest.mark.parametrize("name", ["report.json", "tables.csv"])
def test_other_numbers_are_not_published(run: Run, name: str) -> None:
    forge(run, name, lambda page: page.replace(b"1", b"2"))
    (reason,) = publish(run.store.root).left_out
    assert f"{name} says another thing than the sealed report" in reason


@pytest.mark.parametrize(("changes", "message"), [
    ({"auditor": "Famous Auditor"}, "is not the report that follows"),
    ({"organisation": "Famous LLP"}, "is not the report that follows"),
    ({"remarks": "All is well."}, "is not the report that follows"),
    ({"attestations": []}, "does not hold the attestations that the policy asks for"),
    ({"policy": {"name": "generic", "version": "1"}}, "another policy than the run's"),
    ({"signed_at": "2020-01-01T00:00:00+00:00"}, "before the run was sealed"),
    ({"signed_at": "2126-02-01T00:00:00+00:00"}, "signed before statement 1"),
    ({"number": 3}, "the statement is number 3"),
    ({"supersedes": None}, "does not name statement 1"),
])  # fmt: skip
def test_a_statement_that_is_not_of_its_run_and_place(
    run: Run, changes: dict[str, Any], message: str
) -> None:
    sign_again(run, lambda statement: statement["predicate"].update(changes))
    assert message in found(run)


def test_a_superseded_statement_is_named_with_its_place(run: Run) -> None:
    place = {"run": f"{run.key.prefix}/signoff/7"}
    sign_again(run, lambda statement: statement["predicate"]["supersedes"].update(place))
    assert "does not name statement 1" in found(run)


def of_the_predicate(**changes: Any) -> Change:
    return lambda statement: statement["predicate"].update(changes)


@pytest.mark.parametrize("change", [
    of_the_predicate(supersedes="abc"),
    of_the_predicate(supersedes={}),
    of_the_predicate(auditor=5),
    of_the_predicate(auditor="Ada\n\x1b[2JVERIFIED"),
    of_the_predicate(organisation="\u202eLLP"),
    of_the_predicate(account="\u2066x"),
    of_the_predicate(auditor="Ada Auditor\u3164"),
    of_the_predicate(auditor="\u200d"),
    of_the_predicate(signed_at="2126-11-21T00:00:00"),
    of_the_predicate(signed_at="yesterday"),
    of_the_predicate(more="words"),
    lambda statement: statement.pop("subject"),
    lambda statement: statement["subject"].clear(),
    lambda statement: statement["subject"].append({"name": "x", "digest": {"sha256": "0"}}),
    lambda statement: statement["predicate"].pop("number"),
    lambda statement: statement["predicate"].pop("organisation"),
    lambda statement: statement.update(_type="x"),
    lambda statement: statement.update(predicateType="y"),
    lambda statement: statement.update({"\x1b[2J": 1}),
])  # fmt: skip
def test_what_has_not_the_shape_of_a_statement_is_a_finding(
    run: Run, change: Change, capsys: pytest.CaptureFixture[str]
) -> None:
    sign_again(run, change)
    assert "not a signed statement" in found(run)
    with pytest.raises(EvidenceError, match="not a signed statement"):
        read_sign_offs(run)
    (reason,) = publish(run.store.root).left_out
    assert "not a signed statement" in reason
    print(reason, found(run))
    assert not {"\x1b", "\u202e", "\u2066"} & set(capsys.readouterr().out)


@pytest.mark.parametrize("content", [b"[" * 100_000, b"[]", b"{}", b'{"payload": "e30="}', b"\xff", b"null"])
def test_bytes_that_are_no_statement_are_a_finding(run: Run, content: bytes) -> None:
    (Path(run.uri) / "signoff/2/statement.dsse.json").write_bytes(content)
    record(run, 2, "statement.dsse.json")
    assert "not a signed statement" in found(run)


@pytest.mark.parametrize(("name", "content"), [
    ("signer.pub", b"x"), ("statement.dsse.json", b'{"signatures": 5}'), ("_SUCCESS", b"5"),
])  # fmt: skip
def test_whatever_lies_there_is_a_finding_and_stops_no_site(run: Run, name: str, content: bytes) -> None:
    path = Path(run.uri) / "signoff/2" / name
    if name == "statement.dsse.json":
        content = pretty_json(json.loads(path.read_bytes()) | json.loads(content))
    path.write_bytes(content)
    if name != "_SUCCESS":
        record(run, 2, name)
    assert not verify_sign_offs(run).ok
    assert len(publish(run.store.root).left_out) == 1


@pytest.mark.parametrize("changes", [
    {"auditor": "Ann\x0b\x1b[2J\nVERIFIED"},
    {"auditor": "Ann\nVERIFIED"},
    {"auditor": "nnA\u202e"},
    {"organisation": "L\u2028LP"},
    {"organisation": "\udcff"},
    {"remarks": "well\x1b[2J"},
    {"account": "a\tb"},
    {"auditor": "Ada\u3164"},
    {"auditor": "\u115f\u1160Ada"},
    {"organisation": "LLP\uffa0"},
    {"organisation": "L\u2800LP"},
    {"remarks": "\u034f"},
])  # fmt: skip
def test_names_that_do_not_show_as_they_are_cannot_be_signed(run: Run, changes: dict[str, str]) -> None:
    (what,) = changes
    key = own_key(run)
    with pytest.raises(InputError, match=f"{what}: holds a control, formatting or invisible character"):
        sign_off(run, answers(run, **changes), key, supersede="why")
    with pytest.raises(InputError, match="reason to supersede: holds a control"):
        sign_off(run, answers(run), key, supersede="why\x1b")


def test_a_name_is_not_taken_for_what_the_check_says(run: Run) -> None:
    name = 'Ada Auditor", signed with a key given as trusted'
    sign_off(run, answers(run, auditor=name), own_key(run), supersede="the name", at=AT + timedelta(days=2))
    line = verify_sign_offs(run).lines[-1]
    assert line.startswith(
        'signed by "Ada Auditor\\", signed with a key given as trusted", "Independent LLP", on '
    )
    publish(run.store.root)
    (item,) = json.loads((Path(run.store.root) / "site/feed.json").read_bytes())["items"]
    assert item["_audit"]["status"].startswith('signed by "Ada Auditor\\", signed with')


def test_names_of_any_script_and_remarks_of_many_lines_can_be_signed(run: Run) -> None:
    key = own_key(run)
    who = answers(run, auditor="\u0dc1\u0dca\u200d\u0dbb\u0dd3", remarks="one\ntwo")
    sign_off(run, who, key, supersede="the name", at=AT + timedelta(days=2))
    assert verify_sign_offs(run).ok


def test_a_sign_off_whose_record_is_gone_is_found(run: Run) -> None:
    (Path(run.uri) / "signoff/2/_SUCCESS").unlink()
    assert "signoff/2/statement.dsse.json: lies in no complete sign-off" in found(run)
    assert not verify_sign_offs(run).ok and len(publish(run.store.root).left_out) == 1
    with pytest.raises(EvidenceError, match="nobody signs"):
        sign_off(run, answers(run), own_key(run), supersede="x", at=AT + timedelta(days=2))


@pytest.mark.parametrize("folder", ["x1", "01", "0", "2/again", "\u0663"])
def test_a_statement_in_another_folder_is_found(run: Run, folder: str) -> None:
    shutil.copytree(Path(run.uri) / "signoff/1", Path(run.uri) / "signoff" / folder)
    assert f"signoff/{folder}/statement.dsse.json: lies in no complete sign-off" in found(run)


def test_a_record_that_does_not_list_a_signed_file_is_found(run: Run) -> None:
    path = Path(run.uri) / "signoff/2/_SUCCESS"
    document = json.loads(path.read_bytes())
    del document["artefacts"]["tables.csv"]
    path.write_bytes(pretty_json(document))
    assert "not in the record: signoff/2/tables.csv" in found(run)


def test_verifying_says_nothing_of_files_that_were_checked(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", run.uri]) == 0
    assert "part of the evidence" not in capsys.readouterr().out
    (Path(run.uri) / "signoff" / "readme.txt").write_text("mine")
    assert main(["verify", run.uri]) == 1
    said = [line for line in capsys.readouterr().out.splitlines() if "part of the evidence" in line]
    assert [line.split(": is no part")[0] for line in said] == ["  finding: signoff/readme.txt"]


def test_the_record_of_a_sign_off_has_no_time_of_its_own(run: Run) -> None:
    path = Path(run.uri) / "signoff/2/_SUCCESS"
    content = path.read_bytes()
    for name in ("started_at", "finished_at"):
        document = json.loads(content)
        document[name] = document[name].replace("T", "T", 1).replace(":00.000", ":01.000")
        path.write_bytes(pretty_json(document))
        assert "its record has another time than the statement" in found(run)


def test_nobody_signs_before_the_seal_or_the_statement_before(run: Run) -> None:
    key = own_key(run)
    for at in (datetime(2020, 1, 1, tzinfo=UTC), AT):
        with pytest.raises(InputError, match="look at this machine's clock"):
            sign_off(run, answers(run), key, supersede="why", at=at)


def corrected(run: Run, folder: Path, cell: int) -> Run:
    folder.mkdir()
    return do(new_run(folder, run.store.root, measure={"small_cell": cell}), until="evidence")


def test_one_statement_is_superseded_once(run: Run, tmp_path: Path) -> None:
    key = load_private_key(tmp_path / "auditor.key")
    later = {"at": AT + timedelta(days=3), "supersede": "a wrong rule"}
    first, second = (corrected(run, tmp_path / str(cell), cell) for cell in (6, 7))
    sign_off(first, answers(first), key, corrects=run, **later)  # type: ignore[arg-type]
    by = f"superseded already, by {first.key.prefix}/signoff/1"
    for again, options in ((second, {"corrects": run}), (run, {}), (Run.from_bundle(run.uri), {})):
        with pytest.raises(InputError, match=by):
            sign_off(again, answers(again), key, **later, **options)  # type: ignore[arg-type]
    assert publish(run.store.root).left_out == ()
    sign_off(second, answers(second), key, corrects=first, **later)  # type: ignore[arg-type]
    assert publish(run.store.root).left_out == ()


def test_who_signs_the_same_correction_twice_is_published_with_neither(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As two auditors may who sign at the same moment."""
    key = load_private_key(tmp_path / "auditor.key")
    monkeypatch.setattr("audit_lib.signoff.sign._siblings", lambda run: [])
    rivals = [corrected(run, tmp_path / str(cell), cell) for cell in (6, 7)]
    for one in rivals:
        at = AT + timedelta(days=3)
        sign_off(one, answers(one), key, supersede="a wrong rule", corrects=run, at=at)
    done = publish(run.store.root)
    assert [reason.split(":")[0] for reason in done.left_out] == sorted(one.key.prefix for one in rivals)
    for reason in done.left_out:
        assert "superseded more than once" in reason and all(one.key.prefix in reason for one in rivals)
    page = (tmp_path / "store/site/small/index.html").read_text("utf-8")
    assert "superseded, but by more than one later signed audit" in page
    assert not (tmp_path / "store/site/small/latest").exists() and done.validity == ()
    sign_off(run, answers(run), key, supersede="again", at=AT + timedelta(days=4))
    assert len(publish(run.store.root).left_out) == 3
