"""What hiding small cells costs: each question to the solver is about a few strata, however many there are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from audit_lib.documents.metrics import Metrics
from audit_lib.report.suppress import hidden_cells
from audit_lib.report.suppress.solutions import Part
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
    """How many numbers each question leaves open."""
    asked: list[int] = []
    optimum = Part._optimum

    def counting(self: Part, *arguments: Any, **named: Any) -> Any:
        asked.append(self.free.size)
        return optimum(self, *arguments, **named)

    spec = load(measure={"strata": [[], ["position"]]})
    with monkeypatch.context() as patch:
        patch.setattr(Part, "_optimum", counting)
        assert hidden_cells(document(positions), spec, policy(5))
    return asked


def test_questions_do_not_grow_with_the_number_of_positions(monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = freed(6, monkeypatch), freed(18, monkeypatch)
    assert max(many) < 1.5 * max(few)
    assert len(many) < 5 * len(few)


def test_how_far_it_is_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("audit_lib.progress._EVERY_S", 0.0)
    told: list[str] = []
    spec = load(measure={"strata": [[], ["position"]]})
    assert hidden_cells(document(6), spec, policy(5), told.append) == hidden_cells(
        document(6), spec, policy(5)
    )
    assert any("sets of strata tried: 1 of " in one for one in told), told
