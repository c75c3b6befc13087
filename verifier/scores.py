"""``metrics/scores.csv``: the counted rows, gathered by who they are of, so that every table is a few sums."""

from __future__ import annotations

import csv
import math
from array import array
from typing import Any, Iterator, NamedTuple, Sequence

from verifier.files import Files
from verifier.strict_json import OddError

PATH = "metrics/scores.csv"
_IN_REDACTED = f"evidence/redacted/{PATH}"
_ENCRYPTED = b"audit-sealed-table/"
STATUSES = ("ok", "unranked", "refused", "unparsed", "error")
_FIXED = ("variant_id", "application_id", "round_id", "position", "model", "qualified", "status", "score", "rank",
          "selected", "tied_at_cutoff")  # fmt: skip


class Cell:
    """People of the same levels, decision and status: how many, their scores, and rounds that a lot decided."""

    def __init__(self) -> None:
        self.people = 0
        self.scores = array("d")
        self.lots: set[str] = set()


class Key(NamedTuple):
    """What the people of a cell have in common."""

    levels: tuple[str, ...]
    selected: str
    status: str


class Scores:
    """The rows of a run by what tables are split by.

    Parameters
    ----------
    names : sequence of str
        Columns by which the tables split: attributes and strata.
    cells : dict
        The people.
    rounds : dict
        Round -> (score or None, selected) of each person, where rounds decide.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        self.cells: dict[Key, Cell] = {}
        self.rounds: dict[str, list[tuple[float | None, str]]] = {}

    def part(self, stratum: dict[str, str]) -> list[tuple[dict[str, str], Key, Cell]]:
        """Return the cells of a stratum, each with its levels by name."""
        found = []
        for key, cell in self.cells.items():
            levels = dict(zip(self.names, key.levels))
            if all(_is_level(levels.get(name), level) for name, level in stratum.items()):
                found.append((levels, key, cell))
        return found


def path_of_scores(files: Files) -> str:
    """Return where the rows are: with numbers for ids where they are withheld or encrypted; empty if nowhere."""
    for path in (PATH, _IN_REDACTED):
        if path in files and path not in files.withheld and not files.read(path).startswith(_ENCRYPTED):
            return path
    return ""


def _is_level(value: str | None, level: str) -> bool:
    return value == level or (value == "" and level == "unknown")


def read_scores(files: Files, names: Sequence[str], *, by_round: bool) -> Scores:
    """Read the rows.

    Raises
    ------
    OddError
        If the file is not as it is described.
    """
    scores = Scores(names)
    lines = csv.reader(_lines(files), strict=True)
    try:
        header = next(lines, [])
        places = _places(header, names)
        last = None
        for number, line in enumerate(lines, start=2):
            if len(line) != len(header):
                raise OddError(f"line {number} has {len(line)} cells in place of {len(header)}")
            row = [line[place] for place in places]
            variant = _plain(line[0])  # code points are in the order of their bytes
            if last is not None and variant <= last:
                raise OddError(f"line {number}: its row is there before, or not in order")
            last = variant
            _add(scores, row, number, by_round=by_round)
    except (csv.Error, UnicodeDecodeError) as error:
        raise OddError(f"is no CSV in UTF-8 ({type(error).__name__})") from None
    return scores


def _lines(files: Files) -> Iterator[str]:
    """Yield the lines of the file, a piece of it at a time."""
    rest = b""
    for piece in files.source.pieces(path_of_scores(files)):
        lines = (rest + piece).split(b"\n")
        rest = lines.pop()
        for line in lines:
            yield line.decode() + "\n"
    if rest:
        raise OddError("its last line has no end")


def _places(header: Sequence[str], names: Sequence[str]) -> list[int]:
    if not header or header[0] != "variant_id" or len(set(header)) != len(header):
        raise OddError("does not begin with the columns that are described")
    found = []
    for name in ("status", "score", "selected", "tied_at_cutoff", "round_id", *names):
        taken = name in _FIXED and f"source:{name}" in header and name in names
        column = f"source:{name}" if taken else name
        if column not in header:
            raise OddError(f"has no column {name[:60]!a}")
        found.append(header.index(column))
    return found


def _plain(text: str) -> str:
    """Return a text without the apostrophe that makes it harmless in a spreadsheet."""
    return text[1:] if text[:1] == "'" else text


def _add(scores: Scores, row: Sequence[str], number: int, *, by_round: bool) -> None:
    status, written, selected, tied, round_id = row[:5]
    if status not in (*STATUSES, "") or selected not in ("0", "1", "") or tied not in ("0", "1"):
        raise OddError(f"line {number}: a cell holds what it cannot hold")
    score = _number(written, number)
    key = Key(tuple(_plain(text) for text in row[5:]), selected, status)
    cell = scores.cells.get(key)
    if cell is None:
        cell = scores.cells[key] = Cell()
    cell.people += 1
    if score is not None:
        cell.scores.append(score)
    if tied == "1":
        cell.lots.add(round_id)
    if by_round:
        scores.rounds.setdefault(round_id, []).append((score, selected))


def _number(written: str, number: int) -> float | None:
    if not written:
        return None
    try:
        score = float(written)
    except ValueError:
        score = math.nan
    if score != score or repr(score) != written:
        raise OddError(f"line {number}: its score is no number in its shortest form")
    return score


class Median(NamedTuple):
    """The two middle scores."""

    lower: float
    upper: float

    @property
    def value(self) -> float:
        """Their mean."""
        return self.lower if self.lower == self.upper else self.lower / 2 + self.upper / 2

    def is_above(self, score: float) -> bool:
        """Whether a score is strictly above it."""
        return score > self.lower if self.lower == self.upper else score >= self.upper

    def is_tied(self, score: float) -> bool:
        """Whether a score equals it."""
        return self.lower == self.upper == score


def median_of(scores: Any) -> Median | None:
    """Return the median of scores; None where there are none."""
    ordered = sorted(scores)
    if not ordered:
        return None
    return Median(ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2])
