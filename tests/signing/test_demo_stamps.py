"""`tools/demo_stamps.py`: the demo's own signer and authority, and going on without where openssl is not there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from shutil import which

import pytest

from audit_lib.cli.main import main
from tests.inputs import recorded_audit
from tests.specs import REPOSITORY
from verifier.command import main as packed_verifier

TOOL = REPOSITORY / "tools" / "demo_stamps.py"
TOLD = "import os; print('child', os.environ.get('AUDIT_TIMESTAMP_URL'), os.environ.get('AUDIT_SIGNER'))"


def run(folder: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    bare = {name: value for name, value in os.environ.items() if not name.startswith("AUDIT_")}
    return subprocess.run(
        [sys.executable, str(TOOL), str(folder), *command],
        env=bare | {"PYTHONPATH": str(REPOSITORY)} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow  # a whole audit in a process of its own, verified twice
@pytest.mark.skipif(which("openssl") is None, reason="openssl is not installed")
def test_the_demo_is_stamped_and_everything_says_that_nobody_independent_did_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("rfc3161_client", reason="of the extra sign: time stamps")
    spec, stamps = recorded_audit(tmp_path, n=64), tmp_path / "stamps"
    audit = ["-m", "audit_lib.cli", "run", str(spec), "--window", "2026-01-05", "2026-01-12"]
    done = run(stamps, sys.executable, *audit, "--store", str(tmp_path / "store"))
    assert done.returncode == 0, done.stderr
    assert "of this machine, not independent" in done.stdout
    (sealed,) = (path.parent.parent for path in (tmp_path / "store").rglob("evidence/manifest.json"))
    assert main(["verify", str(sealed), "--trust", str(stamps / "trust.json")]) == 0
    said = capsys.readouterr().out
    assert len(re.findall(r"\(not independent\)\W{1,2}, not independent", said)) == 2
    assert main(["verify", str(sealed)]) == 0
    assert capsys.readouterr().out.count("its signer's own by the statement, not independent") == 2
    for trusted in ([], ["--trust", str(stamps / "trust.json"), "--stamps-checked"]):
        assert packed_verifier([str(sealed), *trusted]) == 0
        assert capsys.readouterr().out.count("not checked here; not an independent authority)") == 2
    page = (sealed / "report" / "report.html").read_text()
    assert "an authority that whoever ran the audit runs too, which is not independent" in page
    keys = (stamps / "root.key").read_bytes()
    assert run(stamps, sys.executable, "-c", TOLD).stdout.count("http://127.0.0.1:") == 1
    assert (stamps / "root.key").read_bytes() == keys, "the keys are made once"


def test_without_openssl_it_says_so_and_goes_on_unsigned(tmp_path: Path) -> None:
    done = run(tmp_path / "stamps", sys.executable, "-c", f"{TOLD}; raise SystemExit(3)", PATH=str(tmp_path))
    assert done.returncode == 3 and "child None None" in done.stdout
    assert "get no time stamps: " in done.stdout and not (tmp_path / "stamps").exists()


def test_a_signer_that_is_configured_is_left_alone(tmp_path: Path) -> None:
    done = run(tmp_path / "stamps", sys.executable, "-c", TOLD, AUDIT_SIGNER="env:MINE")
    assert "child None env:MINE" in done.stdout and not (tmp_path / "stamps").exists()
