"""The how-to runs word for word, and quotes what it prints."""

from __future__ import annotations

import csv
import re
import shlex
from pathlib import Path

import pytest

from audit_lib.cli.main import main

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "howto" / "predictive-validity.md").read_text(encoding="utf-8")


@pytest.mark.slow  # three whole audits and two studies
def test_the_page_runs_from_top_to_bottom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AUDIT_STORE", raising=False)
    names: dict[str, object] = {}
    printed: list[str] = []
    for language, block in re.findall(r"```(\w*)\n(.*?)```", PAGE, re.S):
        if language == "python":
            exec(compile(block, "predictive-validity.md", "exec"), names)
        elif language == "yaml":
            (tmp_path / block.split("\n")[0].removeprefix("# ")).write_text(block, encoding="utf-8")
        else:
            for line in block.strip().splitlines():
                words = shlex.split(line)
                assert words[0] == "audit" and main(words[1:]) == 0, line
                printed.append(capsys.readouterr().out.splitlines()[-1])
    (quoted,) = re.findall(r"^> (.*)$", PAGE, re.M)
    assert printed[0] == quoted
    for folder in ("from_table", "from_runs"):
        assert (tmp_path / folder / "validity.html").is_file()
    # The same scores by both ways give the same points.
    table, runs = (points(tmp_path / name / "points.csv") for name in ("from_table", "from_runs"))
    for model in ("model 0", "model 2", "model 5"):
        own = {key[1:]: value for key, value in table.items() if key[0] == model}
        assert len(own) == 8
        for key, numbers in own.items():
            assert numbers == pytest.approx(runs[(model.replace(" ", "-"), *key)], abs=1e-12)


def points(path: Path) -> dict[tuple[str, ...], list[float]]:
    with path.open(newline="", encoding="utf-8") as file:
        return {
            (row["model"], row["job"], row["group"], row["gap"]): [
                float(row[name]) for name in ("n_group", "rabbi", "score_gap", "gap_k1", "gap_k2")
            ]
            for row in csv.DictReader(file)
        }
