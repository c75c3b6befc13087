"""A run put where another was, or made to look like one that failed, by both verifiers."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from audit_lib.archive.attempts import fault_of, seal
from audit_lib.documents.journal import entry_bytes, entry_digest
from audit_lib.errors import EvidenceError
from audit_lib.journal import read_journal
from audit_lib.pipeline import load_run
from audit_lib.signing.trust import read_trust
from audit_lib.signoff import verify_signed
from audit_lib.store import LocalStore
from tests.signing.conftest import Signed
from tests.verifier.conftest import found_here

pytest.importorskip("rfc3161_client", reason="of the extra sign: time stamps")


def folder_of(signed: Signed) -> Path:
    (folder,) = (path for path in signed.store.glob("small/*_*/*") if path.is_dir())
    return folder


def both(signed: Signed, folder: Path, *required: Any) -> tuple[list[str], list[str]]:
    """Return what each verifier finds, under a trust file that requires this."""
    path = signed.write(signed.trust(required=required))
    there = verify_signed(str(folder), trust=read_trust([path], datetime.now(UTC)), recompute={})
    return list(map(str, there.findings)), found_here(folder, "--trust", path, "--stamps-checked")


def forge_failure(folder: Path, *kept: str) -> None:
    """Let the library seal, without any key, that a run failed of which only these folders are left."""
    run = load_run(str(folder))
    for path in folder.iterdir():
        if path.name not in ("attempts", *kept):
            shutil.rmtree(path)
    for path in folder.glob("signatures/result.*"):
        path.unlink()
    seal(run, 1, [fault_of("plan" if not kept else "scores/0", EvidenceError("no answer"))])


@pytest.mark.parametrize(
    "kept", [(), ("plan", "sample", "variants", "signatures")], ids=["before its plan", "after its plan"]
)
def test_a_completed_run_that_is_made_to_look_failed(signed: Signed, kept: tuple[str, ...]) -> None:
    folder = folder_of(signed)
    forge_failure(folder, *kept)
    for found in both(signed, folder, "result", "journal"):
        assert any("says that it was sealed, and it is gone" in one for one in found), found
        assert any("whose end was never entered" in one for one in found), found


def test_who_requires_a_signed_result_needs_the_journal_of_a_failure(signed: Signed, tmp_path: Path) -> None:
    forge_failure(folder_of(signed))
    copy = shutil.copytree(folder_of(signed), tmp_path / "copy")
    for found in both(signed, copy, "result"):
        assert any("the journal cannot be checked from a copy" in one for one in found), found
    assert both(signed, copy) == ([], []), "nothing in a copy contradicts it, and nobody requires more"


def test_a_run_in_the_place_of_another(signed: Signed) -> None:
    other = signed.store / "large" / folder_of(signed).parent.name / "0123456789abcdef"
    shutil.copytree(signed.run, other)
    for found in both(signed, other, "result"):
        assert any("lies in the place of large/" in one for one in found), found
    assert both(signed, signed.run, "result") == ([], [])


def test_who_requires_stamps_requires_what_is_stamped(signed: Signed) -> None:
    shutil.rmtree(signed.run / "signatures")
    for found in both(signed, signed.run, "time stamps"):
        assert [one.split(":")[0] for one in found] == [
            "signatures/plan.dsse.json",
            "signatures/result.dsse.json",
        ]
    assert both(signed, signed.run) == ([], [])


def test_a_time_beyond_all_years_hides_no_finding(signed: Signed) -> None:
    folder = folder_of(signed)
    last = read_journal(LocalStore(str(signed.store)), "small")[-1]
    far = replace(
        last,
        number=last.number + 1,
        previous=entry_digest(last),
        window="20260112T000000Z_20260119T000000Z",
        event="asked",
        outcome=None,
        sealed_sha256=None,
        at="9999-12-31T23:59:59.000+00:00",
    )
    (signed.store / "small/journal" / f"{far.number:06d}.json").write_bytes(entry_bytes(far))
    assert both(signed, folder, "journal") == ([], [])
    record = folder / "scores/0/_SUCCESS"
    text = record.read_text()
    started = text.split('"started_at": "')[1].split('"')[0]
    record.write_text(text.replace(started, "0001-01-01T00:00:00.000+23:59"))
    for found in both(signed, folder, "journal"):
        assert any("scores/0/_SUCCESS: is not the record that the manifest lists" in one for one in found)
        assert not any("undecided" in one for one in found)
