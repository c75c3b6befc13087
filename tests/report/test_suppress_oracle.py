"""Whether hidden counts can be narrowed: every audit that would print the same is listed, one by one.

The oracle reads only what is printed. It knows that counts are whole and not negative, that tables add up, how
printed totals and people of unknown category come about, and that the comparator is the first row with the highest
rate.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from audit_lib.documents.metrics import Metrics
from audit_lib.documents.rate_tables import RateRow, RateTable
from audit_lib.policies import Policy, load_policy
from audit_lib.report.suppress import hidden_cells, redacted
from audit_lib.report.suppress.bounded_sums import matrix_of
from audit_lib.report.suppress.cells import items
from audit_lib.report.suppress.feasible import RangeNeeded, Reader
from audit_lib.report.suppress.sheets import sheets_of
from audit_lib.report.suppress.solutions import Solutions
from audit_lib.report.suppress.system import System, Target
from audit_lib.results import Undefined
from audit_lib.spec import AuditSpec
from tests.report.documents import metrics, rate_row
from tests.specs import load

SEXES, RACES = ("Female", "Male"), ("White", "Black or African American", "Asian")


@dataclass(frozen=True)
class Shape:
    """What an audit's tables are: families of attributes, in one stratum or in each of two positions and together."""

    sexes: tuple[str | None, ...]
    races: tuple[str | None, ...]
    families: tuple[tuple[str, ...], ...]
    positions: tuple[str, ...] = ()

    @property
    def profiles(self) -> list[tuple[str | None, str | None]]:
        return list(itertools.product(self.sexes, self.races))

    @property
    def size(self) -> int:
        return 2 * len(self.profiles)

    def strata(self) -> list[dict[str, str]]:
        return [{}, *({"position": name} for name in self.positions)]

    def categories(self, family: tuple[str, ...]) -> list[dict[str, str]]:
        levels = {"sex": self.sexes, "race": self.races}
        known = [[x for x in levels[name] if x is not None] for name in family]
        return [dict(zip(family, chosen, strict=True)) for chosen in itertools.product(*known)]


SHAPES = {
    "crossed": Shape(SEXES, RACES[:2], (("sex",), ("race",), ("sex", "race"))),
    "positions": Shape(SEXES, (None,), (("sex",),), ("cook", "driver")),
    "unknown": Shape((*SEXES, None), (*RACES[:1], None), (("sex",), ("sex", "race"))),
    "three": Shape((None,), RACES, (("race",),)),
}
NAMES = {("sex",): "sex", ("race",): "race_ethnicity", ("sex", "race"): "intersectional"}


def policy(small: int) -> Policy:
    pack = load_policy("nyc_ll144")
    cells = pack.cells.model_copy(update={"display": "suppress", "small": small})
    return pack.model_copy(update={"cells": cells})


def tables(shape: Shape, numbers: NDArray[np.int64]) -> list[RateTable[RateRow]]:
    """The tables of one audit: `numbers` are (position, profile, [selected, not selected])."""
    made = []
    for place, stratum in enumerate(shape.strata()):
        own = numbers.sum(axis=0) if place == 0 else numbers[place - 1]
        for family in shape.families:
            rows = []
            for category in shape.categories(family):
                s, f = own[_members(shape, category)].sum(axis=0).tolist()
                rows.append(_row(category, s, s + f))
            known = sum(row.n for row in rows)
            made.append(
                RateTable(
                    kind="selection", family=NAMES[family], stratum=stratum, total=known,
                    unknown=int(own.sum()) - known, comparator=_highest(rows), rows=tuple(rows),
                )
            )  # fmt: skip
    return made


def _row(category: dict[str, str], s: int, n: int) -> RateRow:
    return rate_row(category, s, n, ratio=Undefined("nobody"))


def _highest(rows: Sequence[RateRow]) -> str | Undefined:
    rates = [row.selected / row.n if row.n else -1.0 for row in rows]
    return rows[int(np.argmax(rates))].label if max(rates) > 0 else Undefined("nobody was selected")


def _members(shape: Shape, category: dict[str, str]) -> list[int]:
    return [
        i
        for i, (sex, race) in enumerate(shape.profiles)
        if category.get("sex", sex) == sex and category.get("race", race) == race
    ]


@cache
def compositions(total: int, parts: int) -> NDArray[np.int64]:
    """All ways to write `total` as a sum of `parts` whole numbers that are not negative."""
    bars = np.array(list(itertools.combinations(range(total + parts - 1), parts - 1)), dtype=np.int64)
    edges = np.hstack([np.full((len(bars), 1), -1), bars, np.full((len(bars), 1), total + parts - 1)])
    return np.diff(edges, axis=1) - 1


def possible(shape: Shape, printed: list[dict[str, Any]]) -> NDArray[np.int64]:
    """Every audit that prints these tables: (audit, position, profile, state)."""
    parts = [t for t in printed if bool(t["stratum"]) == bool(shape.positions)]
    totals = {tuple(t["stratum"].values()): t["total"] + t["unknown"] for t in parts}
    each = [compositions(total, shape.size).reshape(-1, len(shape.profiles), 2) for total in totals.values()]
    index = np.indices([len(one) for one in each]).reshape(len(each), -1)
    found = np.stack([one[i] for one, i in zip(each, index, strict=True)], axis=1)
    for table in printed:
        where = table["stratum"].get("position")
        pick = list(shape.positions).index(where) if where else slice(None)
        own = found[:, [pick] if where else pick].sum(axis=1)
        rows = np.stack(
            [own[:, _members(shape, row["category"])].sum(axis=1) for row in table["rows"]], axis=1
        )
        n, selected = rows.sum(axis=2), rows[:, :, 0]
        right = n.sum(axis=1) == table["total"]
        for i, row in enumerate(table["rows"]):
            if not row.get("suppressed"):
                right &= (n[:, i] == row["n"]) & (selected[:, i] == row["selected"])
        rates = np.where(n > 0, selected / np.maximum(n, 1), -1.0)
        top, some = rates.argmax(axis=1), rates.max(axis=1) > 0
        labels = [row["label"] for row in table["rows"]]
        gone = np.array([bool(row.get("suppressed")) for row in table["rows"]])
        if isinstance(table["comparator"], str):
            right &= some & (top == labels.index(table["comparator"]))
        elif gone.any():
            right &= ~some | gone[top]
        else:
            right &= ~some
        found = found[right]
    return found


def document_of(shape: Shape, numbers: NDArray[np.int64]) -> Metrics:
    return metrics(tuple(tables(shape, numbers)))


def spec_of(shape: Shape, small: int) -> AuditSpec:
    return load(measure={"small_cell": small, "strata": [[], ["position"]] if shape.positions else [[]]})


def check(shape: Shape, numbers: NDArray[np.int64], small: int) -> int:
    """Compare each hidden count with all audits that print the same; return how many are hidden."""
    document, spec = document_of(shape, numbers), spec_of(shape, small)
    hidden = hidden_cells(document, spec, policy(small))
    printed = redacted(document, hidden, spec, policy(small)).as_dict()["tables"]
    audits = possible(shape, printed)
    assert (audits == numbers).all(axis=(1, 2, 3)).any(), "the truth is one of the possible audits"
    count = 0
    for table, shown in zip(document.as_dict()["tables"], printed, strict=True):
        totals = np.sum([[row["selected"], row["n"] - row["selected"]] for row in table["rows"]], axis=0)
        for row, out in zip(table["rows"], shown["rows"], strict=True):
            if not out.get("suppressed"):
                assert not 0 < row["n"] < small
                continue
            count += 1
            where = table["stratum"].get("position")
            own = audits[:, list(shape.positions).index(where)] if where else audits.sum(axis=1)
            of_row = own[:, _members(shape, row["category"])].sum(axis=1)
            what = f"{row['label']} {table['stratum']} ({row['selected']} of {row['n']})"
            n = of_row.sum(axis=1)
            wide = n.max() - n.min() >= min(small, table["total"])
            assert (
                wide or (n.min() <= 1 and n.max() >= small - 1 and n.max() > n.min()) or not totals.sum()
            ), what
            for state, name in ((0, "selected"), (1, "not selected")):
                if totals.sum():
                    values = np.unique(of_row[:, state])
                    need = max(1, min(row["n"], small - 1, totals[state]))
                    assert values.max() - values.min() >= need, f"{name}, {what}: {values}"
    return count


def check_reader(shape: Shape, numbers: NDArray[np.int64], places: Sequence[int]) -> None:
    """Hide any rows: the reader believes nothing that cannot be, so what it calls open is open."""
    document, spec = document_of(shape, numbers), spec_of(shape, 2)
    rows = [
        (items(t["stratum"]), items(row["category"]))
        for t in document.as_dict()["tables"]
        for row in t["rows"]
    ]
    hidden = frozenset(rows[place % len(rows)] for place in places)
    sheets = sheets_of(document, {}, spec, policy(2))
    most = RangeNeeded(true=0, width=10**6)
    targets = [
        Target(sheet.series, sheet.cell(levels), state)
        for sheet in sheets for levels in sheet.rows if sheet.cell(levels) in hidden
        for state in (None, 0, 1)
    ]  # fmt: skip
    true = {
        (sheet.cell(levels), state): sum(counts) if state is None else counts[state]
        for sheet in sheets for levels, counts in sheet.rows.items() for state in (None, 0, 1)
    }  # fmt: skip
    reader = Reader(sheets, {})
    reader.widen(hidden, {t: replace(most, true=true[t.cell, t.state]) for t in targets})
    audits = possible(shape, redacted(document, hidden, spec, policy(2)).as_dict()["tables"])
    system = System(sheets, {})
    solutions = Solutions.of(system, hidden)
    known = solutions.first(system.truth())
    assert known is not None
    part = solutions.part(known, frozenset(sheet.stratum for sheet in sheets))
    for target in targets:
        stratum, levels = dict(target.cell[0]), dict(target.cell[1])
        where = stratum.get("position")
        own = audits[:, list(shape.positions).index(where)] if where else audits.sum(axis=1)
        counts = own[:, _members(shape, levels)].sum(axis=1)
        values = counts.sum(axis=1) if target.state is None else counts[:, target.state]
        low, high = reader.ranges[target]
        assert values.min() <= low <= high <= values.max(), f"{target}: {low} to {high}, really {values}"
        count = matrix_of([system.terms_of(target)], system.size).toarray()[0].astype(float)
        for sign, end in ((1, high), (-1, low)):
            peak = part.peak(sign * count)
            bound = sign * count @ known if peak is None else part.gain_at(peak, sign * count)
            assert bound >= sign * end - 1e-6


def audits_of(name: str, total: int) -> st.SearchStrategy[NDArray[np.int64]]:
    shape = SHAPES[name]
    positions = max(1, len(shape.positions))
    size = positions * shape.size
    shares = st.lists(st.integers(0, size - 1), min_size=1, max_size=total)
    return shares.map(
        lambda places: np.bincount(places, minlength=size).reshape(positions, len(shape.profiles), 2)
    )


@settings(max_examples=40)
@given(numbers=audits_of("crossed", 11))
def test_crossed_tables(numbers: NDArray[np.int64]) -> None:
    check(SHAPES["crossed"], numbers, 3)


@settings(max_examples=40)
@given(numbers=audits_of("positions", 16))
def test_positions_and_all_of_them(numbers: NDArray[np.int64]) -> None:
    check(SHAPES["positions"], numbers, 3)


@settings(max_examples=25)
@given(numbers=audits_of("unknown", 7))
def test_people_of_unknown_category(numbers: NDArray[np.int64]) -> None:
    check(SHAPES["unknown"], numbers, 2)


@settings(max_examples=40)
@given(numbers=audits_of("three", 16))
def test_a_single_table(numbers: NDArray[np.int64]) -> None:
    check(SHAPES["three"], numbers, 4)


HIDE = st.lists(st.integers(0, 20), min_size=1, max_size=6)


@settings(max_examples=25)
@given(numbers=audits_of("crossed", 9), places=HIDE)
def test_the_reader_of_crossed_tables_believes_what_can_be(numbers: Any, places: list[int]) -> None:
    check_reader(SHAPES["crossed"], numbers, places)


@settings(max_examples=25)
@given(numbers=audits_of("positions", 14), places=HIDE)
def test_the_reader_of_positions_believes_what_can_be(numbers: Any, places: list[int]) -> None:
    check_reader(SHAPES["positions"], numbers, places)


@settings(max_examples=25)
@given(numbers=audits_of("unknown", 6), places=HIDE)
def test_the_reader_of_unknowns_believes_what_can_be(numbers: Any, places: list[int]) -> None:
    check_reader(SHAPES["unknown"], numbers, places)


@settings(max_examples=40)
@given(numbers=audits_of("three", 12), places=HIDE)
def test_the_reader_of_one_table_believes_what_can_be(numbers: Any, places: list[int]) -> None:
    check_reader(SHAPES["three"], numbers, places)


@pytest.mark.parametrize(
    ("name", "numbers", "small", "why"),
    [
        ("three", [[[0, 1], [0, 9], [9, 0]]], 3, "nobody of the two smaller rows is selected"),
        ("three", [[[1, 0], [4, 4], [5, 5]]], 3, "the small row is the comparator"),
        ("three", [[[0, 2], [0, 6], [0, 8]]], 3, "nobody is selected at all"),
        ("crossed", [[[1, 0], [2, 2], [2, 2], [2, 2]]], 3, "one of one is selected"),
        ("positions", [[[1, 1], [3, 3]], [[4, 4], [0, 0]]], 3, "the other position is empty"),
        (
            "three",
            [[[1, 0], [1, 0], [0, 0]]],
            2,
            "the comparator is hidden, and its rate is that of a printed row",
        ),
    ],
)
def test_what_whole_numbers_give_away(name: str, numbers: Any, small: int, why: str) -> None:
    """Linear equations alone leave these open, and yet a count would follow."""
    shape = SHAPES[name]
    made = np.array(numbers, dtype=np.int64)
    assert check(shape, made, small) >= 2, why
