"""Each cell of replication.ipynb shows the numbers of docs/replication.md that its first line names, in five lines."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmarks import replication
from benchmarks.replication_page import data_folder
from tests.notebooks.run import NOTEBOOKS, cells, run

NOTEBOOK = NOTEBOOKS / "replication.ipynb"
PAGE = NOTEBOOKS.parent / "replication.md"
ABSENT = [name for name, _, _ in replication.SOURCES if not (data_folder() / name).exists()]
TABLE = re.compile(r"# (?P<heading>.+), table (?P<table>\d+), columns (?P<first>\d+) to (?P<last>\d+)")
TEXT = re.compile(r"# (?P<heading>.+), text")
NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?")


def sections() -> dict[str, str]:
    """The page by heading."""
    parts = re.split(r"^##+ (.+)$", PAGE.read_text(encoding="utf-8"), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def tables(section: str) -> list[list[list[str]]]:
    """Cells of the rows of each table, its head left out."""
    blocks = re.findall(r"(?:^\|.*\|$\n?)+", section, re.M)
    return [
        [[one.strip() for one in line.strip("|").split("|")] for line in block.strip().splitlines()[2:]]
        for block in blocks
    ]


def numbers(words: str) -> list[str]:
    """Numbers as they are printed."""
    return [one.replace(",", "").rstrip(",") for one in NUMBER.findall(words)]


def prints_as(value: float, printed: str) -> bool:
    digits = len(printed.partition(".")[2])
    return abs(value - float(printed)) <= 0.5 * 10**-digits + 1e-9


def values(shown: Any) -> list[float]:
    """The numbers of what a cell shows, row by row."""
    flat = shown if isinstance(shown, list) else np.asarray(shown).ravel().tolist()
    return [float(one) for one in flat if not pd.isna(one)]


def claims() -> dict[tuple[str, int], set[int]]:
    """Columns of each table of the page that a cell names."""
    found: dict[tuple[str, int], set[int]] = {}
    for source in cells(NOTEBOOK):
        if (named := TABLE.match(source)) is not None:
            columns = range(int(named["first"]), int(named["last"]) + 1)
            found.setdefault((named["heading"], int(named["table"])), set()).update(columns)
    return found


def test_every_table_with_numbers_has_its_cells() -> None:
    """All columns, from the first with a number on; columns of labels may hold one, such as *50 or more*."""
    claimed = claims()
    for heading, section in sections().items():
        for number, table in enumerate(tables(section), 1):
            if heading == "Data":
                continue
            last = len(table[0]) - 1
            assert (heading, number) in claimed, f"no cell shows table {number} of {heading}"
            named = claimed[heading, number]
            assert set(range(min(named), last + 1)) == named, f"{heading}, table {number}: {sorted(named)}"


def test_no_number_takes_more_than_five_lines() -> None:
    for source in cells(NOTEBOOK)[1:]:
        lines = [line for line in source.splitlines() if line.strip() and not line.startswith("#")]
        assert len(lines) <= 5, source


@pytest.mark.slow  # reads 8,000 rankings and draws 9,999 permutations of 150 texts: minutes
@pytest.mark.skipif(bool(ABSENT), reason=f"no {', '.join(ABSENT)} in {data_folder()}; set AUDIT_SHARED_DATA")
def test_the_notebook_shows_the_numbers_of_the_page() -> None:
    page = sections()
    _, shown = run(NOTEBOOK)
    for source, value in zip(cells(NOTEBOOK), shown, strict=True):
        told = source.splitlines()[0]
        if (named := TABLE.match(source)) is not None:
            table = tables(page[named["heading"]])[int(named["table"]) - 1]
            columns = slice(int(named["first"]), int(named["last"]) + 1)
            printed = [one for line in table for cell in line[columns] for one in numbers(cell)]
            found = values(value)
            assert len(found) == len(printed), f"{told}: {len(found)} values for {len(printed)} numbers"
            wrong = [pair for pair in zip(found, printed, strict=True) if not prints_as(*pair)]
            assert not wrong, f"{told}: {wrong[:5]}"
        elif (named := TEXT.match(source)) is not None:
            there = numbers(page[named["heading"]])
            missing = [one for one in values(value) if not any(prints_as(one, x) for x in there)]
            assert not missing, f"{told}: {missing}"


def test_a_wrong_number_is_seen() -> None:
    assert prints_as(0.5304, "0.530") and not prints_as(0.5306, "0.530")
    assert numbers("+5.2 ± 3.0* [0.362, 0.778] 1,057 of 2,187 k") == [
        "+5.2",
        "3.0",
        "0.362",
        "0.778",
        "1057",
        "2187",
    ]
    assert tables("| a | b |\n| --- | --- |\n| x | 1 |\n")[0] == [["x", "1"]]
