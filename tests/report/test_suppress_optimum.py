"""How much is hidden, against the least that would do: every set of cells is tried on small audits.

Whether a set will do is told by the list of all audits that would print the same (`test_suppress_oracle`), which shares
nothing with the solver.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from audit_lib.report.suppress import StratumCell, hidden_cells, redacted
from audit_lib.report.suppress.cells import items
from tests.report.test_suppress_oracle import SHAPES, Shape, _members, document_of, policy, possible, spec_of


def protects(shape: Shape, numbers: NDArray[np.int64], small: int, hidden: frozenset[StratumCell]) -> bool:
    """Whether each hidden count keeps the range that is promised of it."""
    document, spec = document_of(shape, numbers), spec_of(shape, small)
    printed = redacted(document, hidden, spec, policy(small)).as_dict()["tables"]
    audits = possible(shape, printed)
    for table, shown in zip(document.as_dict()["tables"], printed, strict=True):
        totals = np.sum([[row["selected"], row["n"] - row["selected"]] for row in table["rows"]], axis=0)
        for row, out in zip(table["rows"], shown["rows"], strict=True):
            if not out.get("suppressed") or not totals.sum():
                continue
            where = table["stratum"].get("position")
            own = audits[:, list(shape.positions).index(where)] if where else audits.sum(axis=1)
            counts = own[:, _members(shape, row["category"])].sum(axis=1)
            n = counts.sum(axis=1)
            wide = n.max() - n.min() >= min(small, table["total"])
            if not wide and not (n.min() <= 1 and n.max() >= small - 1 and n.max() > n.min()):
                return False
            for state in (0, 1):
                need = max(1, min(row["n"], small - 1, totals[state]))
                if counts[:, state].max() - counts[:, state].min() < need:
                    return False
    return True


def least(shape: Shape, numbers: NDArray[np.int64], small: int) -> int | None:
    """The fewest cells that will do; None where none do, and all are hidden."""
    tables = document_of(shape, numbers).as_dict()["tables"]
    sizes = {(items(t["stratum"]), items(row["category"])): row["n"] for t in tables for row in t["rows"]}
    must = {cell for cell, n in sizes.items() if 0 < n < small}
    others = sorted(sizes.keys() - must)
    for more in range(len(others) + 1):
        for chosen in itertools.combinations(others, more):
            if protects(shape, numbers, small, frozenset(must | set(chosen))):
                return len(must) + more
    return None


@pytest.mark.parametrize(("name", "total", "small"), [("three", 14, 4), ("positions", 12, 3)])
def test_not_much_more_is_hidden_than_must_be(name: str, total: int, small: int) -> None:
    shape = SHAPES[name]
    rng = np.random.Generator(np.random.PCG64(1))
    positions = max(1, len(shape.positions))
    found, fewest = [], []
    while len(found) < 12:
        places = rng.choice(positions * shape.size, total, p=rng.dirichlet(np.ones(positions * shape.size)))
        numbers = np.bincount(places, minlength=positions * shape.size).reshape(
            positions, len(shape.profiles), 2
        )
        hidden = hidden_cells(document_of(shape, numbers), spec_of(shape, small), policy(small))
        best = least(shape, numbers, small) if hidden else None
        if best is None:
            continue  # nobody is few, or nothing protects
        assert protects(shape, numbers, small, hidden), numbers
        found.append(len(hidden))
        fewest.append(best)
    print(f"{name}: {sum(found)} cells hidden, {sum(fewest)} needed: {sum(found) / sum(fewest):.2f} times")
    assert all(n >= m for n, m in zip(found, fewest, strict=True))
    assert sum(found) <= 1.5 * sum(fewest)
