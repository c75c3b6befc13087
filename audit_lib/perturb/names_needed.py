"""How many names each group was dealt, what effects they let an experiment find, and how many it needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from audit_lib.documents.design import NamesNeeded
from audit_lib.plan.names import (
    NameComparison,
    assumed_of,
    detectable,
    needed_applications,
    needed_names,
    needed_prompts,
)
from audit_lib.plan.power_limits import of_names
from audit_lib.records import SHOWN_NAME, VARIATION
from audit_lib.spec import AuditSpec


class NamesDealt:
    """Names, applications and prompts of the rows that go by.

    Parameters
    ----------
    spec : AuditSpec
        The audit.
    """

    def __init__(self, spec: AuditSpec) -> None:
        self._spec, self._axes = spec, spec.groups.axes
        self._counted = of_names(spec) and "standardised_effect" in spec.measure.metrics
        self._names: dict[tuple[str, ...], set[str]] = {}
        self._rows: Counter[tuple[str, ...]] = Counter()
        self._applications: set[str] = set()
        self._prompts: set[str] = set()

    def watch(self, rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Pass rows on, and count those that are compared."""
        for row in rows:
            if self._counted and row.get(VARIATION) is None:
                cell = tuple(row[axis] for axis in self._axes)
                self._names.setdefault(cell, set()).add(row[SHOWN_NAME])
                self._rows[cell] += 1
                self._applications.add(row["application_id"])
                self._prompts.add(row["prompt_id"])
            yield row

    def needed(self) -> tuple[NamesNeeded, ...] | None:
        """Return each attribute's levels against their reference; None where effects of names are not measured."""
        if not self._names:
            return None
        reference = self._spec.groups.reference
        return tuple(
            self._of({axis: level}, {axis: reference[axis]})
            for axis, levels in self._spec.groups.attributes.items()
            for level in levels
            if level != reference[axis]
        )

    def _of(self, group: Mapping[str, str], reference: Mapping[str, str]) -> NamesNeeded:
        effect, assumed = self._spec.measure.names.smallest_effect, assumed_of(self._spec)
        shown = NameComparison(
            names_group=len(self._shown(group)),
            names_reference=len(self._shown(reference)),
            names=sum(len(names) for names in self._names.values()),
            cells=len(self._names),
            applications=len(self._applications),
            versions=min(self._count(group), self._count(reference)) / max(len(self._prompts), 1),
            prompts=len(self._prompts) / max(len(self._applications), 1),
            within=self._spec.perturb is not None and self._spec.perturb.design != "two_sample",
        )
        return NamesNeeded(
            group=dict(group),
            reference=dict(reference),
            names_group=shown.names_group,
            names_reference=shown.names_reference,
            applications=shown.applications,
            prompts=shown.prompts,
            smallest_detectable=detectable(shown, assumed),
            names_needed=None if effect is None else needed_names(shown, assumed, effect),
            applications_needed=None if effect is None else needed_applications(shown, assumed, effect),
            prompts_needed=None if effect is None else needed_prompts(shown, assumed, effect),
        )

    def _cells(self, of: Mapping[str, str]) -> list[tuple[str, ...]]:
        return [
            cell for cell in self._names if of.items() <= dict(zip(self._axes, cell, strict=True)).items()
        ]

    def _shown(self, of: Mapping[str, str]) -> set[str]:
        return set().union(*(self._names[cell] for cell in self._cells(of)))

    def _count(self, of: Mapping[str, str]) -> int:
        return sum(self._rows[cell] for cell in self._cells(of))


def lines(needed: Iterable[NamesNeeded], effect: float | None) -> Iterator[str]:
    """Yield what ``audit plan`` prints: a line a comparison, and a warning where names are too few."""
    for one in needed:
        against = f"{' '.join(one.group.values())} against {' '.join(one.reference.values())}"
        yield (
            f"effects    {against}: {one.names_group} and {one.names_reference} names, {one.applications} "
            f"applications, prompts of each {one.prompts:g}; smallest effect that one test finds, not adjusted for "
            f"the others: {one.smallest_detectable:.2f} SD"
        )
        if effect is None or one.smallest_detectable <= effect:
            continue
        ways = {
            "names a side": one.names_needed,
            "applications": one.applications_needed,
            "prompts an application": one.prompts_needed,
        }
        enough = [f"{count} {what}" for what, count in ways.items() if count is not None]
        if not enough:
            told = "more names and more applications; neither alone is enough"
        else:
            told = " or ".join(enough)
            if one.applications_needed is None:
                told += "; more applications alone will not help"
        yield f"WARNING    {against}: {effect:g} SD takes {told}"
