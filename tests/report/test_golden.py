"""Reports of two fixed runs are what they were, word for word and number for number."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report.golden import FOLDER, RUNS, texts


@pytest.mark.parametrize("name", list(RUNS))
def test_the_report_is_what_it_was(name: str, tmp_path: Path) -> None:
    for file, content in texts(name, tmp_path).items():
        kept = (FOLDER / name / file).read_text(encoding="utf-8")
        assert content == kept, (
            f"{name}/{file} changed; if it should: python -m tests.report.golden, and look at it"
        )
