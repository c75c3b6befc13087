"""Hidden counts of several positions and of all of them, attacked by a solver that knows the printed tables alone."""

from __future__ import annotations

from collections import Counter
from typing import Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from audit_lib.policies import load_policy
from audit_lib.report.suppress import hidden_cells, redacted
from tests.report.hidden_counts import Attack
from tests.report.test_suppress_oracle import SEXES, Shape, document_of, policy, spec_of

RACES: Final = tuple(level.name for level in load_policy("nyc_ll144").attribute("race").categories)
FAMILIES: Final = (("sex",), ("race",), ("sex", "race"))


def shape(positions: int, races: int) -> Shape:
    return Shape(SEXES, RACES[:races], FAMILIES, tuple(f"position {i}" for i in range(positions)))


def attacked(of: Shape, numbers: NDArray[np.int64], small: int) -> tuple[int, list[str]]:
    """How many counts are hidden, and which of them are narrowed below their range."""
    document, spec = document_of(of, numbers), spec_of(of, small)
    hidden = hidden_cells(document, spec, policy(small))
    if not hidden:
        return 0, []
    printed = redacted(document, hidden, spec, policy(small)).as_dict()
    if all(row.get("suppressed") for table in printed["tables"][: len(FAMILIES)] for row in table["rows"]):
        return 0, []  # nothing is printed of anybody: no cell more could protect
    people: Counter[object] = Counter()
    for place, own in zip(of.positions, numbers, strict=True):
        for (sex, race), states in zip(of.profiles, own, strict=True):
            for selected, n in zip((True, False), states.tolist(), strict=True):
                people[(place, sex, race), (selected, None)] = n
    names = {"sex": {name: name for name in of.sexes}, "race": {name: name for name in of.races}}
    attack = Attack({"metrics": printed}, people, small, names)  # type: ignore[arg-type]
    return len(attack.counts), attack.narrowed()[0]


def audits(of: Shape, most: int) -> st.SearchStrategy[NDArray[np.int64]]:
    size = (len(of.positions), len(of.profiles), 2)
    cells = st.lists(st.integers(0, most), min_size=int(np.prod(size)), max_size=int(np.prod(size)))
    return cells.map(lambda counts: np.array(counts).reshape(size))


@settings(max_examples=15)
@given(numbers=audits(shape(3, 2), 4))
def test_three_positions_and_all_of_them(numbers: NDArray[np.int64]) -> None:
    assert not attacked(shape(3, 2), numbers, 3)[1]


@settings(max_examples=8)
@given(numbers=audits(shape(4, 3), 6))
def test_four_positions_of_six_categories(numbers: NDArray[np.int64]) -> None:
    assert not attacked(shape(4, 3), numbers, 5)[1]


@pytest.mark.parametrize(
    ("seed", "small"), [(1, 8), *(pytest.param(seed, 8, marks=pytest.mark.slow) for seed in range(2, 8))]
)
def test_fourteen_categories_in_five_positions(seed: int, small: int) -> None:
    rng = np.random.default_rng(seed)
    of = shape(5, 7)
    people = rng.poisson(12, (5, 14))
    selected = rng.binomial(people, rng.uniform(0.2, 0.5, (5, 1)))
    counts, narrowed = attacked(of, np.stack([selected, people - selected], axis=2), small)
    assert counts
    assert not narrowed, "\n".join(narrowed)
