"""`audit validate` looks at the first row of the source: a wrong column or date is told before the first run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from audit_lib.cli.main import main


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("Outcome,Gender", "Result,Sex", r"2 columns are missing: 'Outcome' \(recorded_selected\), 'Gender' \(sex\)"),
        ("01/05/2026", "5.1.2026", r"line 2: column 'Decided on' \(occurred_at\) should be a date .* is '5\.1\.2026'"),
    ],
)  # fmt: skip
def test_a_wrong_column_or_date_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, said: str
) -> None:
    assert main(["init", str(tmp_path / "mine")]) == 0
    export = tmp_path / "mine" / "demo" / "decisions.csv"
    export.write_text(export.read_text().replace(old, new, 1))
    capsys.readouterr()
    assert main(["validate", str(tmp_path / "mine" / "audit.yaml"), "--offline"]) == 2
    shown = capsys.readouterr()
    assert "valid." not in shown.out
    assert re.search(said, shown.err)
