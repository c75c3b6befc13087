"""Builds the wheel, installs it alone into a fresh virtual environment, and audits with it: `make wheel-test`.

What somebody has who types `pip install audit-lib` and nothing else: no extra, no folder of this repository.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

REPOSITORY = Path(__file__).parent.parent
ABSENT = ("airflow", "boto3", "great_expectations", "httpx2", "openai", "torch", "transformers", "weasyprint")
"""Packages of extras: with one of them here, the test would show nothing."""

SUITE = "expectations: [{type: expect_column_to_exist, kwargs: {column: score}}]\n"


def run(*command: str | Path, folder: Path, expect: int = 0) -> str:
    """Run a command outside the repository, and stop with all that it said if its exit code is another."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("AUDIT_", "PYTHON", "UV_COM"))
    }
    done = subprocess.run(
        list(map(str, command)), cwd=folder, env=kept, capture_output=True, text=True, check=False
    )
    if done.returncode != expect:
        sys.exit(
            f"wheel-test: exit code {done.returncode} instead of {expect}: {' '.join(map(str, command))}\n"
            f"{done.stdout}{done.stderr}"
        )
    return done.stdout + done.stderr


def expect(what: bool, said: str) -> None:
    """Stop if something does not hold."""
    if not what:
        sys.exit(f"wheel-test: {said}")


def main() -> None:
    """Build, install, look and audit."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="audit-wheel-") as name:
        folder = Path(name)
        run("uv", "build", "--wheel", "--quiet", "--out-dir", folder, REPOSITORY, folder=folder)
        (wheel,) = folder.glob("audit_lib-*.whl")
        environment = folder / "environment"
        venv.create(environment)
        python, audit = environment / "bin" / "python", environment / "bin" / "audit"
        constraints = REPOSITORY / "constraints.txt"
        run("uv", "pip", "install", "--quiet", "--python", python, "-c", constraints, wheel, folder=folder)
        looked = f"import importlib.util as u; print([n for n in {ABSENT} if u.find_spec(n)])"
        there = run(python, "-c", looked, folder=folder).strip()
        expect(there == "[]", f"not the core alone: {there} can be imported")
        print(f"wheel-test: {wheel.name} alone in a fresh environment ({time.monotonic() - begun:.0f} s)")
        recorded(folder, audit)
        refused(folder, audit)
    print(f"wheel-test: passed in {time.monotonic() - begun:.0f} s")


def recorded(folder: Path, audit: Path) -> None:
    """Write the first audit, run it, and verify its report."""
    run(audit, "init", "x", folder=folder)
    run(audit, "validate", "x/audit.yaml", folder=folder)
    said = run(audit, "run", "x/audit.yaml", folder=folder)
    (uri,) = (line.split()[-1] for line in said.splitlines() if line.startswith("evidence  audit verify "))
    page = Path(uri, "report", "report.html").read_text(encoding="utf-8")
    expect("480 decisions of our screening tool" in page, f"{uri}: the report is not that of the example")
    verified = run(audit, "verify", uri, folder=folder)
    expect(verified.startswith("VERIFIED"), verified)
    print("wheel-test: init, validate, run and verify of recorded decisions end with a verified report")


def refused(folder: Path, audit: Path) -> None:
    """What needs an extra says which one, before anything is asked or written."""
    run(audit, "init", "--demo", "model", "y", folder=folder)
    suite = folder / "x" / "suite.yaml"
    suite.write_text(SUITE, encoding="utf-8")
    spec = folder / "x" / "suited.yaml"
    text = (folder / "x" / "audit.yaml").read_text(encoding="utf-8")
    spec.write_text(f"{text}\nchecks: {{suites: {{scores: suite.yaml}}}}\n", encoding="utf-8")
    for path, extra in (("y/audit.yaml", "local"), ("x/suited.yaml", "gx")):
        for command in ("validate", "run"):
            said = run(audit, command, path, folder=folder, expect=2)
            expect(f"audit-lib[{extra}]" in said, f"audit {command} {path} names no extra {extra}: {said}")
    print("wheel-test: a model and a suite of Great Expectations are refused with the extra that they need")


if __name__ == "__main__":
    main()
