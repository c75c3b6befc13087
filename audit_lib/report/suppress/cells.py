"""A cell: one group in one stratum. Its row in every table, and every number about it elsewhere, is one thing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final

from audit_lib.documents.metrics import LabelMass, Metrics, Missingness, ScoreSummary
from audit_lib.measure.statutory.categories import category_of
from audit_lib.policies import Policy
from audit_lib.spec import AuditSpec
from audit_lib.translation import mark

Items = tuple[tuple[str, str], ...]
StratumCell = tuple[Items, Items]
"""Stratum and levels, each sorted by column."""

HIDDEN: Final = mark("hidden: too few people stand behind it, or behind a number it would reveal")


def items(levels: Mapping[str, Any]) -> Items:
    """Return levels in the form that cells have."""
    return tuple(sorted((str(key), str(value)) for key, value in levels.items()))


def cell_of(
    stratum: Mapping[str, Any], levels: Mapping[str, Any], names: Mapping[str, Mapping[str, str]]
) -> StratumCell:
    """Return the cell of a group, its levels named as the policy's categories."""
    mapped = {key: names.get(key, {}).get(str(level), str(level)) for key, level in levels.items()}
    return items(stratum), items(mapped)


def smallest_sizes(metrics: Metrics, spec: AuditSpec, policy: Policy) -> dict[StratumCell, int]:
    """Return the people behind each cell: the fewest that any part of the document states."""
    names = category_of(spec.groups, policy)
    sizes: dict[StratumCell, int] = {}

    def add(cell: StratumCell, n: int | None) -> None:
        if n is not None and cell[1]:
            known = sizes.get(cell)
            sizes[cell] = n if known is None or 0 < n < known else known

    kinds = {kind.name for kind in policy.tables}
    for table in (table for table in metrics.tables if table.kind in kinds):
        for row in table.rows:
            add((items(table.stratum), items(row.category)), row.n)
    of_groups: list[Missingness | LabelMass | ScoreSummary] = []
    of_groups += [*metrics.missingness, *metrics.label_mass, *metrics.scores]
    for entry in of_groups:
        if entry.group:
            add(cell_of(entry.stratum, entry.group, names), entry.n)
    for estimate in metrics.estimates:
        for side, n in ((estimate.group, estimate.n_group), (estimate.reference, estimate.n_reference)):
            if side:
                add(cell_of(estimate.stratum, side, names), n)
    return sizes


def neighbourhoods(
    cells: Iterable[StratumCell], splits: Iterable[frozenset[str]]
) -> list[tuple[StratumCell, ...]]:
    """Return the sets of cells of which one follows from the others: parts with their whole, or their total."""
    known, splits = frozenset(cells), list(splits)
    sums: dict[tuple[object, StratumCell], list[StratumCell]] = defaultdict(list)
    for cell in sorted(known):
        stratum, levels = cell
        for pair in levels:
            sums[pair[0], (stratum, tuple(p for p in levels if p != pair))].append(cell)
        columns = frozenset(column for column, _ in stratum)
        for split in splits:
            if split < columns:
                sums[columns, (tuple(p for p in stratum if p[0] in split), levels)].append(cell)
    return [
        (*parts, whole) if whole in known else tuple(parts)
        for (_, whole), parts in sums.items()
        if whole in known or not whole[1]
    ]
