"""Hide small cells, and as many others as it takes that no hidden number can be worked out from the rest.

A cell is one group in one stratum; its row in every table, and every number about it elsewhere, is hidden with
it. Printed totals, the margins of crossed tables and the tables of all strata together are linear equations in
the cells. A hidden number that these equations determine is protected by hiding another one in the same
equation, the smallest. This keeps exact values back; it does not blur totals.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from audit_lib.measure.categories import category_of
from audit_lib.policies import Policy
from audit_lib.report.rate_table import RateTable, TableRow
from audit_lib.results import Undefined
from audit_lib.spec import AuditSpec

Items = tuple[tuple[str, str], ...]
Cell = tuple[Items, Items]
"""Stratum and levels, each sorted by column."""

HIDDEN: Final = "hidden: too few people stand behind it, or behind a number it would reveal"
_GONE: Final = {"undefined": HIDDEN}
_KNOWN: Final = ("schema", "experiment", "rows", "multiplicity", "strata_identical")
_TOLERANCE = 1e-6
_DENSE = 400


def hidden_cells(metrics: Mapping[str, Any], spec: AuditSpec, policy: Policy) -> frozenset[Cell]:
    """Return the cells whose numbers must not be printed.

    Parameters
    ----------
    metrics : mapping
        ``metrics.json``.
    spec, policy
        The smaller cells are those with at least one person and fewer than the policy's or the spec's number,
        whichever is larger.

    Notes
    -----
    Hidden value i is determined if and only if the i-th unit vector lies in the row space of the equations
    restricted to hidden values, that is, if every vector of their null space is 0 there. One random vector,
    projected onto the null space, shows this with probability 1.
    """
    sizes = _sizes(metrics, spec, policy)
    small = max(policy.cells.small, spec.measure.small_cell)
    hidden = {cell for cell, n in sizes.items() if 0 < n < small}
    if not hidden:
        return frozenset()
    equations = _equations(sizes, [frozenset(columns) for columns in spec.measure.strata])
    by_cell: dict[Cell, list[int]] = defaultdict(list)
    for number, cells in enumerate(equations):
        for cell in cells:
            by_cell[cell].append(number)
    while exposed := _determined(sorted(hidden), equations, by_cell):
        before = len(hidden)
        helped: set[int] = set()
        for cell in exposed:
            numbers = by_cell[cell]
            if helped.isdisjoint(numbers):
                visible = [c for i in numbers for c in equations[i] if c not in hidden]
                # An empty cell protects too, if there is no other: nobody can tell that it is empty.
                if visible:
                    hidden.add(min(visible, key=lambda c: (sizes[c] == 0, sizes[c], c)))
                    helped.update(numbers)
        if len(hidden) == before:
            break  # a total of one cell alone: that total is the only number left to print
    return frozenset(hidden)


def _sizes(metrics: Mapping[str, Any], spec: AuditSpec, policy: Policy) -> dict[Cell, int]:
    """People behind each cell: the fewest that any part of the document states."""
    names = category_of(spec.groups, policy)
    sizes: dict[Cell, int] = {}

    def add(cell: Cell, n: int | None) -> None:
        if n is not None and cell[1]:
            known = sizes.get(cell)
            sizes[cell] = n if known is None or 0 < n < known else known

    kinds = {kind.name for kind in policy.tables}
    for table in (table for table in metrics["tables"] if table["kind"] in kinds):
        for row in table["rows"]:
            add((_items(table["stratum"]), _items(row["category"])), row["n"])
    for part in ("missingness", "label_mass", "scores"):
        for entry in metrics[part]:
            if entry["group"]:
                add(_cell(entry["stratum"], entry["group"], names), entry["n"])
    for entry in metrics["estimates"]:
        for side in ("group", "reference"):
            if entry[side]:
                add(_cell(entry["stratum"], entry[side], names), entry[f"n_{side}"])
    return sizes


def _items(levels: Mapping[str, Any]) -> Items:
    return tuple(sorted((str(key), str(value)) for key, value in levels.items()))


def _cell(
    stratum: Mapping[str, Any], levels: Mapping[str, Any], names: Mapping[str, Mapping[str, str]]
) -> Cell:
    mapped = {key: names.get(key, {}).get(str(level), str(level)) for key, level in levels.items()}
    return _items(stratum), _items(mapped)


def _equations(sizes: Mapping[Cell, int], splits: Iterable[frozenset[str]]) -> list[dict[Cell, int]]:
    """Cells that add up to another cell (-1), or to a printed total."""
    splits = list(splits)
    sums: dict[tuple[object, Cell], list[Cell]] = defaultdict(list)
    for cell in sorted(sizes):
        stratum, levels = cell
        for pair in levels:
            sums[pair[0], (stratum, tuple(p for p in levels if p != pair))].append(cell)
        columns = frozenset(column for column, _ in stratum)
        for split in splits:
            if split < columns:
                within = tuple(p for p in stratum if p[0] in split)
                sums[columns, (within, levels)].append(cell)
    return [
        dict.fromkeys(parts, 1) | ({whole: -1} if whole in sizes else {})
        for (_, whole), parts in sums.items()
        if whole in sizes or not whole[1]
    ]


def _determined(
    hidden: list[Cell], equations: list[dict[Cell, int]], by_cell: Mapping[Cell, list[int]]
) -> list[Cell]:
    """The hidden cells that the equations give away."""
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import lsqr

    place = {cell: column for column, cell in enumerate(hidden)}
    used = sorted({number for cell in hidden for number in by_cell.get(cell, ())})
    if not used:
        return []
    entries = [
        (row, place[cell], sign)
        for row, number in enumerate(used)
        for cell, sign in equations[number].items()
        if cell in place
    ]
    rows, columns, signs = np.array(entries).T
    matrix = csr_array((signs.astype(np.float64), (rows, columns)), shape=(len(used), len(hidden)))
    z = np.random.Generator(np.random.PCG64(0)).normal(size=len(hidden))
    along: NDArray[np.float64]
    if len(hidden) <= _DENSE:
        along = np.linalg.lstsq(matrix.toarray(), matrix @ z, rcond=None)[0]
    else:
        along = lsqr(matrix, matrix @ z, atol=1e-14, btol=1e-14, iter_lim=20 * len(hidden))[0]
    return [cell for cell, rest in zip(hidden, np.abs(z - along), strict=True) if rest < _TOLERANCE]


def masked(table: RateTable, hidden: frozenset[Cell]) -> RateTable:
    """Return the table without the numbers of hidden rows, nor what gives them away.

    Where the comparator is hidden, no ratio is printed: a rate divided by its ratio is the comparator's rate.
    """
    where = _items(table.stratum)
    gone = Undefined(HIDDEN)

    def mask(row: TableRow) -> TableRow:
        if (where, _items(row.levels)) in hidden:
            return replace(
                row, n=0, selected=0, share=gone, rate=gone, ratio=gone, below=None, small=True, excluded=None,
                rate_estimate=_NOTHING, estimate=_NOTHING, beyond={}, hidden=True,
            )  # fmt: skip
        if comparator_hidden:
            return replace(row, ratio=gone, below=None, estimate=_NOTHING, beyond={})
        return row

    comparator_hidden = _comparator_hidden(
        where, table.comparator, ((row.label, row.levels) for row in table.rows), hidden
    )
    # Which hidden row has the highest rate would tell much about its numbers.
    comparator = gone if comparator_hidden else table.comparator
    return replace(table, comparator=comparator, rows=tuple(mask(row) for row in table.rows))


_NOTHING: Final[Mapping[str, Any]] = {
    "value": _GONE, "interval": _GONE, "n": None, "intervals": [], "tests": [], "flags": []
}  # fmt: skip


def _comparator_hidden(
    where: Items, comparator: object, rows: Iterable[tuple[str, Mapping[str, str]]], hidden: frozenset[Cell]
) -> bool:
    return any(label == comparator and (where, _items(levels)) in hidden for label, levels in rows)


def redacted(
    metrics: Mapping[str, Any], hidden: frozenset[Cell], spec: AuditSpec, policy: Policy
) -> dict[str, Any]:
    """Return ``metrics.json`` without the numbers of hidden cells, nor what gives them away."""
    names = category_of(spec.groups, policy)

    def of_group(entry: Mapping[str, Any], stratum: Mapping[str, Any]) -> bool:
        sides = [entry[side] for side in ("group", "reference") if entry.get(side)]
        return any(_cell(stratum, side, names) in hidden for side in sides)

    def plain(entry: Mapping[str, Any]) -> dict[str, Any]:
        kept = ("metric", "stratum", "group", "reference", "parameters", "method", "flags")
        return {k: v if k in kept else _empty(v) for k, v in entry.items()}

    # What this module does not know the shape of may name any cell: it is not given back.
    document = {key: metrics[key] for key in _KNOWN if key in metrics}
    document["suppressed"] = {"cells": len(hidden), "reason": HIDDEN}
    kinds = {kind.name for kind in policy.tables}
    document["tables"] = [
        _redacted_table(table, hidden) for table in metrics["tables"] if table["kind"] in kinds
    ]
    for part in ("missingness", "label_mass", "scores", "estimates"):
        document[part] = [plain(e) if of_group(e, e["stratum"]) else e for e in metrics[part]]
    document["heterogeneity"] = list(_heterogeneity(metrics, hidden, names))
    return document


def _empty(value: Any) -> Any:
    """What stands for a value that is hidden, in a form that says so to readers of that value."""
    if isinstance(value, list):
        return []
    return dict(_GONE)


def _redacted_table(table: Mapping[str, Any], hidden: frozenset[Cell]) -> dict[str, Any]:
    where = _items(table["stratum"])
    comparator_hidden = _comparator_hidden(
        where, table["comparator"], ((row["label"], row["category"]) for row in table["rows"]), hidden
    )
    rows = []
    for row in table["rows"]:
        if (where, _items(row["category"])) in hidden:
            rows.append(
                {k: row[k] if k in ("category", "label") else None for k in row}
                | {"rate": dict(_NOTHING), "impact_ratio": dict(_NOTHING), "suppressed": True}
            )
        elif comparator_hidden:
            kept = {k: v for k, v in row.items() if k not in ("missing", "unknown", "adverse_impact")}
            rows.append(kept | {"impact_ratio": dict(_NOTHING), "four_fifths_flag": None})
        else:
            rows.append(row)
    comparator = dict(_GONE) if comparator_hidden else table["comparator"]
    return {**table, "comparator": comparator, "rows": rows}


def _heterogeneity(
    metrics: Mapping[str, Any],
    hidden: frozenset[Cell],
    names: Mapping[str, Mapping[str, str]],
) -> Iterator[dict[str, Any]]:
    """Comparisons of strata hold the counts of every stratum: with one hidden, none is printed."""
    by_levels: set[Items] = {levels for _, levels in hidden}
    for entry in metrics["heterogeneity"]:
        sides = [entry[side] for side in ("group", "reference") if entry.get(side)]
        if any(_cell({}, side, names)[1] in by_levels for side in sides):
            kept = (
                "over",
                "metric",
                "table",
                "family",
                "group",
                "reference",
                "label",
                "comparator",
                "within",
            )
            yield {k: v if k in kept else _empty(v) for k, v in entry.items()}
        else:
            yield entry
