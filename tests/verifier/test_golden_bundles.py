"""Bundles that were kept: each goes on verifying with both verifiers, and a change of it is found by both.

Where this fails after a change of the manifest, `verifier/documents.py` does not know what is new in it.
"""

from __future__ import annotations

import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from audit_lib.signing.trust import read_trust
from audit_lib.signoff import verify_signed
from tests.archive.test_mutations import unpacked
from tests.verifier.conftest import Told, found_here


@pytest.fixture
def bundles(tmp_path: Path) -> Path:
    return unpacked("format-2.zip", tmp_path)


def run_of(bag: Path) -> Path:
    """Unpack a bag and return the run in it."""
    with zipfile.ZipFile(bag) as archive:
        archive.extractall(bag.with_suffix(""))
    (plan,) = bag.with_suffix("").glob("*/data/*/*/*/plan")
    return plan.parent


@pytest.mark.parametrize("kind", ["sealed", "failed"])
def test_format_1(kind: str, tmp_path: Path, told: Told) -> None:
    code, said = told(unpacked("format-1.zip", tmp_path) / kind)
    assert (code, said["findings"], said["undecided"]) == (0, [], [])


@pytest.mark.parametrize("level", ["full", "redacted"])
def test_format_2(level: str, bundles: Path, told: Told) -> None:
    trust = bundles / "trust.json"
    code, said = told(bundles / f"{level}.zip", "--trust", trust)
    assert (code, said["findings"], said["undecided"], said["level"]) == (0, [], [], level)
    assert "impact ratios" in said["computed_again"]
    assert [line.split(" signed with key")[0] for line in said["signatures"][:2]] == ["plan", "result"]
    assert "2 attempts (1 completed, 1 failed)" in said["signatures"][2]
    run = run_of(bundles / f"{level}.zip")
    found = verify_signed(str(run), trust=read_trust([trust], datetime.now(UTC)), recompute={})
    assert found.findings == ()


@pytest.mark.parametrize(
    "path", ["report/report.html", "evidence/manifest.json", "journal.jsonl", "plan/spec.json"]
)
def test_a_change_of_it_is_found(path: str, bundles: Path) -> None:
    run = run_of(bundles / "redacted.zip")
    (run / path).write_bytes((run / path).read_bytes()[:-30])
    assert found_here(run)
    assert verify_signed(str(run), recompute={}).findings
