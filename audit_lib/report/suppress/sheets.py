"""The counts that a report prints, as sheets: one family of cells in one stratum, with its totals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from audit_lib.documents.metrics import Metrics, Missingness, ScoreSummary
from audit_lib.documents.rate_tables import RateRow, RateTable
from audit_lib.measure.statutory.categories import category_of
from audit_lib.policies import Policy
from audit_lib.report.suppress.cells import Items, StratumCell, cell_of, items
from audit_lib.spec import AuditSpec

Series = tuple[str, ...]
"""What is counted: a kind of table (and a class of the tool), or answers, or scores."""

Counts = tuple[int, ...]
"""(selected, not selected) in a table; (n,) where nothing is decided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """Cells that add up to a known total.

    Parameters
    ----------
    rows : dict of Items to Counts
        By levels, in the order printed.
    unknown : int
        People whose levels are not known and who are in no row.
    comparator : Items or None
        Levels of the row that the others are divided by.
    excluded : frozenset of Items
        Rows that are not compared.
    """

    series: Series
    stratum: Items
    attributes: tuple[str, ...]
    rows: dict[Items, Counts]
    unknown: int = 0
    comparator: Items | None = None
    excluded: frozenset[Items] = field(default_factory=frozenset)

    def cell(self, levels: Items) -> StratumCell:
        """Return the cell of a row."""
        return self.stratum, levels

    @property
    def totals(self) -> Counts:
        """Sums over the rows."""
        return tuple(map(sum, zip(*self.rows.values(), strict=True)))


def sheets_of(
    metrics: Metrics, sizes: Mapping[StratumCell, int], spec: AuditSpec, policy: Policy
) -> list[Sheet]:
    """Return every sheet of ``metrics.json``."""
    kinds = {kind.name for kind in policy.tables}
    # Listed by whoever is known in all attributes, the others are in no table at all.
    with_unknown = policy.switch("unknown").value != "list_wise"
    found = [_of_table(table, with_unknown) for table in metrics.tables if table.kind in kinds]
    names = category_of(spec.groups, policy)
    found += _of_groups("missingness", metrics.missingness, sizes, names)
    found += _of_groups("scores", metrics.scores, sizes, names)
    return [sheet for sheet in found if sheet.rows]


def _of_table(table: RateTable[RateRow], with_unknown: bool) -> Sheet:
    rows = {items(row.category): row for row in table.rows}
    top = next((levels for levels, row in rows.items() if row.label == table.comparator), None)
    return Sheet(
        series=(table.kind, table.classification or ""),
        stratum=items(table.stratum),
        attributes=tuple(key for key, _ in next(iter(rows), ())),
        rows={levels: (row.selected, row.n - row.selected) for levels, row in rows.items()},
        unknown=table.unknown if with_unknown else 0,
        comparator=top,
        excluded=frozenset(levels for levels, row in rows.items() if row.excluded is not None),
    )


def _of_groups(
    part: str,
    entries: Iterable[Missingness | ScoreSummary],
    sizes: Mapping[StratumCell, int],
    names: Mapping[str, Mapping[str, str]],
) -> Iterator[Sheet]:
    """Make sheets of groups by all attributes, and of the margins that anything is said about."""
    counted: dict[Items, dict[Items, int]] = {}
    for entry in entries:
        if entry.group and entry.n:
            stratum, levels = cell_of(entry.stratum, entry.group, names)
            rows = counted.setdefault(stratum, {})
            rows[levels] = rows.get(levels, 0) + entry.n
    margins: dict[Items, set[tuple[str, ...]]] = {}
    for stratum, levels in sizes:
        margins.setdefault(stratum, set()).add(tuple(key for key, _ in levels))
    for stratum, rows in counted.items():
        whole = tuple(key for key, _ in next(iter(rows)))
        for attributes in sorted({whole, *(m for m in margins.get(stratum, ()) if set(m) < set(whole))}):
            sums: dict[Items, int] = {}
            for levels, n in rows.items():
                within = tuple(pair for pair in levels if pair[0] in attributes)
                sums[within] = sums.get(within, 0) + n
            yield Sheet(
                series=(part,),
                stratum=stratum,
                attributes=attributes,
                rows={levels: (n,) for levels, n in sums.items()},
            )
