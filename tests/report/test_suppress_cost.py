"""What hiding small cells costs: each question to the solver is about a few strata, however many there are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from audit_lib.documents.metrics import Metrics
from audit_lib.report.suppress import hidden_cells
from audit_lib.report.suppress.system import System
from tests.report.documents import metrics
from tests.report.test_suppress_oracle import Shape, policy, tables
from tests.specs import load

SEXES, RACES = ("Female", "Male"), ("White", "Black or African American")


def document(positions: int) -> Metrics:
    names = tuple(f"position {i}" for i in range(positions))
    shape = Shape(SEXES, RACES, (("sex",), ("race",), ("sex", "race")), names)
    numbers = np.random.default_rng(2).integers(0, 4, (positions, len(shape.profiles), 2))
    return metrics(tuple(tables(shape, numbers)))


def freed(positions: int, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many numbers each question leaves open; the first is about everything."""
    asked: list[int] = []
    solve = System.solve

    def counting(self: System, gain: NDArray[np.float64], known: Any = None, within: Any = ()) -> Any:
        asked.append(self.size if known is None else self._variables(frozenset(within)).size)
        return solve(self, gain, known, within)

    spec = load(measure={"strata": [[], ["position"]]})
    with monkeypatch.context() as patch:
        patch.setattr(System, "solve", counting)
        assert hidden_cells(document(positions), spec, policy(5))
    return asked


def test_questions_do_not_grow_with_the_number_of_positions(monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = freed(6, monkeypatch), freed(18, monkeypatch)
    assert many[0] > 2 * few[0]
    assert max(many[1:]) == max(few[1:])
    assert sum(size == many[0] for size in many) == 1


def test_how_far_it_is_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("audit_lib.progress._EVERY_S", 0.0)
    told: list[str] = []
    spec = load(measure={"strata": [[], ["position"]]})
    assert hidden_cells(document(6), spec, policy(5), told.append) == hidden_cells(
        document(6), spec, policy(5)
    )
    assert any("sets of strata tried: 1 of " in one for one in told), told
