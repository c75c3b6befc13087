"""The example of recorded decisions runs to a verified report, also as `audit init` writes it."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from audit_lib.cli.main import main
from audit_lib.spec import AuditSpec
from tests.specs import INCLUDE, REPOSITORY

EXAMPLE = INCLUDE / "examples" / "recorded_decisions.yaml"


@pytest.mark.parametrize("window", [[], ["--window", "2026-01-05", "2026-01-12"]])
def test_init_runs_to_a_verified_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], window: list[str]
) -> None:
    assert main(["init", str(tmp_path)]) == 0
    monkeypatch.chdir(tmp_path)
    assert main(["validate", "audit.yaml"]) == 0
    assert main(["run", "audit.yaml", *window, "--store", "store"]) == 0
    (report,) = (tmp_path / "store").glob("recorded_decisions/*/*/report/report.html")
    page = report.read_text(encoding="utf-8")
    assert "480 decisions of our screening tool (answered by v3.1) were examined" in page
    capsys.readouterr()
    assert main(["verify", str(report.parent.parent)]) == 0
    assert "VERIFIED" in capsys.readouterr().out


def test_the_numbers_are_those_of_the_export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted by hand from the file that is shipped, without our reader."""
    with (INCLUDE / "demo" / "decisions.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    women = [row for row in rows if row["Gender"] == "Female"]
    chosen = sum(row["Outcome"] in ("Advance", "Hired") for row in women)
    assert main(["run", str(EXAMPLE), "--window", "2026-01-05", "2026-01-12", "--store", str(tmp_path)]) == 0
    (table,) = tmp_path.glob("recorded_decisions/*/*/report/tables.csv")
    with table.open(encoding="utf-8", newline="") as file:
        lines = file.read()
    assert re.search(rf"Female,[^\n]*\b{len(women)}\b[^\n]*\b{chosen}\b", lines), lines[:2000]


def test_only_what_validation_needs(tmp_path: Path) -> None:
    spec = AuditSpec.load(EXAMPLE)
    assert spec.model.backend == "recorded" and spec.prompt is None and not spec.classifiers
    assert not spec.report.formats and spec.leakage is None


def test_the_how_to_explains_each_column() -> None:
    words = (REPOSITORY / "docs" / "howto" / "recorded-decisions.md").read_text(encoding="utf-8")
    spec = AuditSpec.load(EXAMPLE)
    for column in spec.source.columns:
        assert f"`{column}`" in words
