"""How an audit's numbers moved from run to run, with what changed between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from audit_lib.report.content import Content, RateTable
from audit_lib.site.catalogue import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The smallest impact ratio of one headline table in one run.

    Attributes
    ----------
    table : tuple of str
        Kind of rate and family of categories, by which points of different runs are one series.
    ratio : Fraction or None
        None where no ratio is defined.
    low, high : float or None
        Its interval with the comparator held fixed.
    """

    entry: Entry
    table: tuple[str, str]
    label: str
    ratio: Fraction | None
    selected: int
    n: int
    low: float | None
    high: float | None
    below: bool | None
    changes: tuple[str, ...]


def points(entries: list[Entry]) -> list[Point]:
    """Return the points of an audit's runs, the oldest first; runs without a report and superseded ones have none."""
    found: list[Point] = []
    before: Content | None = None
    for entry in reversed(entries):
        content = entry.content
        if content is None or not entry.stands:
            continue
        changes = tuple(_changes(before or content, content))
        found += [_point(entry, content, table, changes) for table in content.headline]
        before = content
    return found


def _point(entry: Entry, content: Content, table: RateTable, changes: tuple[str, ...]) -> Point:
    rows = [
        (row.ratio, place, row) for place, row in enumerate(table.rows) if isinstance(row.ratio, Fraction)
    ]
    series = (content.policy.table(table.kind).title, content.policy.family(table.family).title)
    if not rows:
        return Point(
            entry=entry, table=series, label="", ratio=None, selected=0, n=0, low=None, high=None, below=None,
            changes=changes,
        )  # fmt: skip
    ratio, _, row = min(rows, key=lambda found: found[:2])
    limits: Mapping[str, Any] = row.estimate["interval"]
    return Point(
        entry=entry,
        table=series,
        label=row.label,
        ratio=ratio,
        selected=row.selected,
        n=row.n,
        low=limits.get("low"),
        high=limits.get("high"),
        below=row.below,
        changes=changes,
    )


def _changes(before: Content, now: Content) -> list[str]:
    """Say what is another since the run before: model, prompt, policy, design."""
    found = []
    fingerprints = [sorted(str(model.get("fingerprint")) for model in each.models) for each in (before, now)]
    if fingerprints[0] != fingerprints[1]:
        found.append("another model or version of it")
    if before.prompt_digest != now.prompt_digest:
        found.append("another prompt template")
    if before.policy.version != now.policy.version or before.policy.name != now.policy.name:
        found.append("another policy version")
    if before.key.spec_digest != now.key.spec_digest and not found:
        found.append("another design")
    return found
