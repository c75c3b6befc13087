"""Sign-offs in copies that hold less than was signed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audit_lib.canonical import pretty_json
from audit_lib.documents.privacy import PrivacyLevel
from audit_lib.run import Run
from audit_lib.signoff import generate_key, load_private_key, verify_signed
from tests.privacy.test_levels import handed_on
from tests.signoff.test_sign_off import signed


@pytest.fixture
def key(tmp_path: Path) -> Path:
    generate_key(tmp_path / "auditor.key")
    return tmp_path / "auditor.key"


@pytest.fixture
def run(sealed_run: Run) -> Run:
    return sealed_run


@pytest.mark.parametrize("level", ["redacted", "digests"])
def test_a_copy_that_withholds_what_was_signed_verifies(
    run: Run, key: Path, tmp_path: Path, level: PrivacyLevel
) -> None:
    signed(run, key)
    signed(run, key, supersede="a typing error")
    copy = handed_on(run, tmp_path / "copy", level)
    checked = verify_signed(str(copy), [load_private_key(key).public_key()])
    assert checked.ok and len(checked.signed) == 2, checked.summary()


def test_a_withheld_file_must_have_the_digest_that_was_signed(run: Run, key: Path, tmp_path: Path) -> None:
    """The sealing's record is written anew for another file; the statement still names the first."""
    signed(run, key)
    copy = handed_on(run, tmp_path / "copy", "digests")
    path = copy / "evidence/_SUCCESS"
    record = json.loads(path.read_bytes())
    held = "redacted/metrics/decisions.parquet"
    assert not (copy / f"evidence/{held}").exists()
    record["artefacts"][held]["sha256"] = "0" * 64
    path.chmod(0o644)
    path.write_bytes(pretty_json(record))
    (finding,) = (one for one in verify_signed(str(copy)).findings if one.kind == "sign-off")
    assert finding.detail == f"evidence/{held} is not the file that was signed"
