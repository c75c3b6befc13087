"""Which cells to hide: the small ones, and others until no hidden count can be narrowed too far."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from audit_lib.documents.metrics import Metrics
from audit_lib.policies import Policy
from audit_lib.progress import ignore
from audit_lib.report.suppress.cells import StratumCell, neighbourhoods, smallest_sizes
from audit_lib.report.suppress.feasible import RangeNeeded, Reader, same_strata
from audit_lib.report.suppress.sheets import Series, Sheet, sheets_of
from audit_lib.report.suppress.system import Target
from audit_lib.spec import AuditSpec


def hidden_cells(
    metrics: Metrics, spec: AuditSpec, policy: Policy, notify: Callable[[str], None] = ignore
) -> frozenset[StratumCell]:
    """Return the cells whose numbers must not be printed.

    Parameters
    ----------
    metrics : Metrics
        ``metrics.json``.
    spec, policy
        The smaller cells are those with at least one person and fewer than the policy's or the spec's number,
        whichever is larger: `t`.
    notify : callable
        Is told every few seconds how far it is.

    Notes
    -----
    Other cells are hidden with the small ones until each hidden count, as a reader of everything printed can narrow
    it (`Reader`), keeps a range: people assessed, of 1 to t - 1 or of a width of t, or of the table's total where
    that is less; people selected, and not selected, of a width of the least of the people of the cell, t - 1, and
    the table's total of them, and never of less than two values. Where no further cell can help, the whole
    neighbourhood is hidden.

    Against a reader who knows who is in the data nothing here helps, nor against one who reasons from which cells
    were chosen.
    """
    sizes = smallest_sizes(metrics, spec, policy)
    small = max(policy.cells.small, spec.measure.small_cell)
    hidden = {cell for cell, n in sizes.items() if 0 < n < small}
    if not hidden:
        return frozenset()
    sheets = sheets_of(metrics, sizes, spec, policy)
    reader = Reader(sheets, same_strata(metrics.strata_identical))
    counts = _counts(sheets)
    near = _Near(sizes, [frozenset(columns) for columns in spec.splits])
    near.accompany(hidden)
    while exposed := reader.widen(frozenset(hidden), dict(_needs(sheets, hidden, small)), notify):
        before = len(hidden)
        for target in exposed:
            of_count = counts[target.count]
            tight = near.tightest(target.cell, hidden, of_count) or near.nearest(target.cell, hidden)
            some = [cell for cell in tight if of_count.get(cell)]
            if tight:
                hidden.add(near.least(some or tight, target.cell, hidden))
        near.accompany(hidden)
        if len(hidden) == before:
            break  # all that could be hidden is
    return frozenset(hidden)


def _needs(
    sheets: Sequence[Sheet], hidden: set[StratumCell], small: int
) -> Iterator[tuple[Target, RangeNeeded]]:
    for sheet in sheets:
        totals = sheet.totals
        people = sum(totals)
        for levels, counts in sheet.rows.items():
            cell, n = sheet.cell(levels), sum(counts)
            if cell not in hidden or not people:
                continue
            yield (
                Target(sheet.series, cell, None),
                RangeNeeded(true=n, width=min(small, people), within=small - 1),
            )
            for state in range(len(totals)) if len(totals) > 1 else ():
                width = max(1, min(n, small - 1, totals[state]))
                yield Target(sheet.series, cell, state), RangeNeeded(true=counts[state], width=width)


def _counts(sheets: Sequence[Sheet]) -> dict[tuple[Series, int | None], dict[StratumCell, int]]:
    """Return series and state -> cell -> the true count."""
    found: dict[tuple[Series, int | None], dict[StratumCell, int]] = {}
    for sheet in sheets:
        for levels, counts in sheet.rows.items():
            for state, n in ((None, sum(counts)), *enumerate(counts)):
                found.setdefault((sheet.series, state), {})[sheet.cell(levels)] = n
    return found


class _Near:
    """Which cells stand in one sum. A cell that is alone hidden in a sum is known; each sum needs two."""

    def __init__(self, sizes: Mapping[StratumCell, int], splits: Sequence[frozenset[str]]) -> None:
        self._sizes = sizes
        self._sums = neighbourhoods(sizes, splits)
        self._of: dict[StratumCell, list[int]] = {}
        for number, cells in enumerate(self._sums):
            for cell in cells:
                self._of.setdefault(cell, []).append(number)

    def accompany(self, hidden: set[StratumCell]) -> None:
        """Hide one more cell in every sum in which one is hidden alone."""
        waiting = sorted(hidden, reverse=True)
        while waiting:
            cell = waiting.pop()
            for number in self._of.get(cell, ()):
                others = [other for other in self._sums[number] if other != cell]
                if others and hidden.isdisjoint(others):
                    found = self.least(others, cell, hidden)
                    hidden.add(found)
                    waiting.append(found)

    def tightest(
        self, start: StratumCell, hidden: set[StratumCell], counts: Mapping[StratumCell, int]
    ) -> list[StratumCell]:
        """Return what is visible of the sum that leaves the hidden cells in it least to share."""
        open_sums = [
            (sum(counts.get(cell, 0) for cell in self._sums[number] if cell in hidden), number)
            for number in self._of.get(start, ())
            if not hidden.issuperset(self._sums[number])
        ]
        return [c for c in self._sums[min(open_sums)[1]] if c not in hidden] if open_sums else []

    def least(
        self, cells: Sequence[StratumCell], beside: StratumCell, hidden: set[StratumCell]
    ) -> StratumCell:
        """Return the cell whose hiding costs least."""

        def cost(cell: StratumCell) -> tuple[bool, int, bool, int, StratumCell]:
            others = [sum(c in hidden for c in self._sums[number]) for number in self._of.get(cell, ())]
            # Tables of fewer, larger categories say more; an empty cell protects only if it could be another.
            larger = len(cell[1]) < len(beside[1]) or len(cell[0]) < len(beside[0])
            alone = others.count(0) - others.count(1)
            return larger, alone, self._sizes[cell] == 0, self._sizes[cell], cell

        return min(cells, key=cost)

    def nearest(self, start: StratumCell, hidden: set[StratumCell]) -> list[StratumCell]:
        """Return the nearest cells that are not hidden, over sums with hidden ones."""
        seen, edge = {start}, [start]
        while edge:
            fresh = {c for cell in edge for number in self._of.get(cell, ()) for c in self._sums[number]}
            fresh -= seen
            if not fresh <= hidden:
                return sorted(fresh - hidden)
            edge = sorted(fresh)
            seen.update(edge)
        return []
