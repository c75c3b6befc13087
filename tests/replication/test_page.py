"""docs/replication.md is what the command writes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from audit_lib.results import Interval, Undefined
from benchmarks import replication
from benchmarks.replication_page import data_folder, estimate, number, reflow, table

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "replication.md"
ABSENT = [name for name, _, _ in replication.SOURCES if not (data_folder() / name).exists()]


@pytest.mark.slow
@pytest.mark.skipif(bool(ABSENT), reason=f"no {', '.join(ABSENT)} in {data_folder()}; set AUDIT_SHARED_DATA")
def test_the_page_is_what_the_command_writes(tmp_path: Path) -> None:
    out = tmp_path / "replication.md"
    command = [sys.executable, "-m", "benchmarks.replication", str(data_folder()), "--out", str(out)]
    subprocess.run(command, cwd=ROOT, check=True)
    assert out.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8"), (
        "run python -m benchmarks.replication DATA --out docs/replication.md and read what changed"
    )


def test_the_page_names_each_source_and_its_licence() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name, published, licence in replication.SOURCES:
        assert f"| `{name}` | {published} | {licence} |" in text


def test_missing_data_are_named(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.replication", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"{tmp_path / 'bloomberg'}" in done.stderr
    assert "AUDIT_SHARED_DATA" in done.stderr


def test_numbers() -> None:
    assert [number(-0.0004, 3), number(0.0004, 3, signed=True), number(0.5, 1, signed=True)] == [
        "0.000",
        "0.000",
        "+0.5",
    ]
    assert number(Undefined("no scores")) == "undefined (no scores)"
    interval = Interval(low=-1.0, high=0.25, method="any")
    assert estimate(0.0, interval, 2, signed=True) == "0.00 [-1.00, +0.25]"
    assert table(["a", "b"], [(1, 2)]) == "| a | b |\n| --- | ---: |\n| 1 | 2 |"


def test_only_prose_is_wrapped() -> None:
    prose, items = "one two\nthree " * 20, "- first item\n- second\n  item"
    kept = ["## " + "long " * 40 + "title", "| a |\n| --- |\n| " + "x" * 200 + " |", "    code   as it is"]
    text = reflow("\n\n".join([prose, items, *kept]))
    blocks = text.rstrip("\n").split("\n\n")
    assert " ".join(blocks[0].split()) == " ".join(prose.split())
    assert max(map(len, blocks[0].splitlines())) <= 118
    assert blocks[1] == "- first item\n- second item"
    assert blocks[2:] == kept
