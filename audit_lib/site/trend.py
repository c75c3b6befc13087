"""How an audit's numbers moved from run to run, with what changed between them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isinf

from audit_lib.report.content import Content, ExactTable
from audit_lib.report.leading import convincing, leading, picked
from audit_lib.site.catalogue import CataloguedRun


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendPoint:
    """The impact ratio with the most evidence of one headline table in one run.

    Attributes
    ----------
    table : tuple of str
        Kind of rate and family of categories, by which points of different runs are one series.
    ratio : Fraction or None
        None where no ratio is defined, or none can lead; `label` then says why.
    low, high : float or None
        Its interval, which allows for the comparator being picked by the data.
    below : bool or None
        Whether it is below the guideline.
    flagged : bool
        Whether it is, and is distinguishable from 1.
    """

    entry: CataloguedRun
    table: tuple[str, str]
    label: str
    ratio: Fraction | None
    selected: int
    n: int
    low: float | None
    high: float | None
    below: bool | None
    flagged: bool
    changes: tuple[str, ...]


def points(entries: list[CataloguedRun]) -> list[TrendPoint]:
    """Return the points of an audit's runs, the oldest first; runs without a report and superseded ones have none."""
    found: list[TrendPoint] = []
    before: Content | None = None
    for entry in reversed(entries):
        content = entry.content
        if content is None or not entry.is_current:
            continue
        changes = tuple(_changes(before or content, content))
        found += [_point(entry, content, table, changes) for table in content.headline]
        before = content
    return found


def _point(entry: CataloguedRun, content: Content, table: ExactTable, changes: tuple[str, ...]) -> TrendPoint:
    series = (content.policy.table(table.kind).title, content.policy.family(table.family).title)
    found = leading(content, (table,))
    if found.best is None:
        few = f"every ratio rests on fewer than {found.least} people" if found.few else ""
        return TrendPoint(
            entry=entry, table=series, label="too few to tell" if found.untold else few, ratio=None, selected=0, n=0,
            low=None, high=None, below=None, flagged=False, changes=changes,
        )  # fmt: skip
    own, row, ratio = found.best
    ends = picked(row)
    return TrendPoint(
        entry=entry,
        table=series,
        label=row.label + ("" if own.aside is None else f" ({own.aside.label} set aside)"),
        ratio=ratio,
        selected=row.selected,
        n=row.n,
        low=None if ends is None else ends.low,
        high=None if ends is None or isinf(ends.high) else ends.high,
        below=row.below,
        flagged=convincing(content, own, row),
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
