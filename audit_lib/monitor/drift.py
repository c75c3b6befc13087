"""Drift: how a run differs from the complete run of the same audit before it, by the order of windows.

That one may be of another design or another model: the document says so, and which sections of the spec changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, TypeVar

from audit_lib.canonical import canonical_json
from audit_lib.documents.canaries import CanaryAnswer, read_canaries
from audit_lib.documents.drift import (
    BeforeAndNow,
    ChangedMetricNumber,
    ChangedNumber,
    ChangedTableNumber,
    Drift,
    DriftDocument,
    DriftSummary,
    FirstRun,
    MetricNumber,
    NamedNumber,
    NotAudited,
    TableNumber,
    WindowState,
)
from audit_lib.documents.evidence import Manifest
from audit_lib.documents.metrics import Metrics
from audit_lib.documents.parameters import DESIGN
from audit_lib.documents.plan import Plan
from audit_lib.errors import EvidenceError
from audit_lib.monitor.canaries import compare_canaries
from audit_lib.monitor.estimate_change import METHOD, compare_estimates
from audit_lib.monitor.history import History
from audit_lib.monitor.run_identity import identity_of
from audit_lib.monitor.served_models import compare_served_models
from audit_lib.results import Estimate, Undefined
from audit_lib.run import Run
from audit_lib.windows import OwedWindow
from audit_lib.windows import summary as summary_of

_MOST: Final = 100
"""Windows named one by one; all of them are counted."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Number:
    """A number of ``metrics.json`` that can be compared; of an impact ratio also what is flagged, against whom."""

    name: NamedNumber
    estimate: Estimate
    is_ratio: bool = False
    flag: bool | None = None
    comparator: str | Undefined = ""


def measure_drift(run: Run, history: History) -> DriftDocument:
    """Compare a sealed run with the one before it.

    Each estimate, and each rate and impact ratio of the statutory tables, is found in the previous run by
    metric, groups, stratum and quota. ``exceeds`` tells whether the change is larger than both
    intervals explain (see `change_interval`). Among m such comparisons without any real change about
    m x (1 - level) exceed by chance: ``expected_by_chance`` prints that number next to the count.
    ``not_audited`` names the windows in between that were owed.

    Raises
    ------
    IncompleteRunError
        If the run is not measured and sealed.
    EvidenceError
        If a document of a run is not what its stage writes.
    """
    current, manifest = _metrics(run), _manifest(run)
    earlier = history.before(run.key.window, run.key.prefix.rsplit("/", 1)[1])
    missing = history.not_audited(run, earlier)
    not_audited = NotAudited(
        states=dict(Counter(one.state for one in missing)),
        windows=tuple(WindowState(window=one.window.label, state=one.state) for one in missing[-_MOST:]),
    )
    if earlier is None:
        return FirstRun(
            audit=run.key.audit,
            current=identity_of(run),
            not_audited=not_audited,
            reason=_why_first(missing),
        )
    before = Run.load(run.store.uri(earlier.prefix))
    previous = _metrics(before)
    items, only_previous, only_current = _compare(previous, current)
    return Drift(
        audit=run.key.audit,
        current=identity_of(run),
        not_audited=not_audited,
        previous=identity_of(before),
        design_changed=before.key.spec_digest != run.key.spec_digest,
        changed_sections=tuple(_changed_sections(before, run)),
        model_changed=fingerprints(before) != fingerprints(run),
        answering=compare_served_models(before, run),
        canaries=compare_canaries(canaries_of(before), canaries_of(run)),
        software_changed=_changed(_manifest(before).software, manifest.software),
        rows=BeforeAndNow(previous=previous.rows, current=current.rows),
        method=METHOD,
        summary=_summary(items),
        comparisons=tuple(items),
        only_previous=tuple(only_previous),
        only_current=tuple(only_current),
    )


def _why_first(missing: Sequence[OwedWindow]) -> str:
    if missing:
        return f"no earlier window was audited; of those that are owed: {summary_of(missing)}"
    return "first run: no earlier window of this audit is owed, and none was audited"


def _metrics(run: Run) -> Metrics:
    return run.stage("metrics").read_document(Metrics, "metrics.json")


def _manifest(run: Run) -> Manifest:
    return run.stage("evidence").read_document(Manifest, "manifest.json")


def _changed_sections(before: Run, run: Run) -> list[str]:
    """Top-level keys of the spec, and design files, that are not as they were."""
    old, new = (each.stage("plan").read_json("spec.json") for each in (before, run))
    files = [each.stage("plan").read_document(Plan, "plan.json").inputs for each in (before, run)]
    return [*_changed(old, new), *(f"file {name}" for name in _changed(*files))]


def _changed(old: Mapping[str, T], new: Mapping[str, T]) -> dict[str, BeforeAndNow[T | None]]:
    names = sorted(old.keys() | new.keys())
    return {
        name: BeforeAndNow(previous=old.get(name), current=new.get(name))
        for name in names
        if old.get(name) != new.get(name)
    }


def fingerprints(run: Run) -> list[str]:
    """Return the digests of what answered a run: name, revision and options."""
    records = [path for path in run.list("scores") if path.endswith("/model.json")]
    return sorted({_fingerprint(run, path) for path in records})


def _fingerprint(run: Run, path: str) -> str:
    """Return the digest of what answered; all else in ``model.json`` is its backend's own."""
    described = run.stage(path.rsplit("/", 1)[0]).read_json("model.json")
    mark = described.get("fingerprint") if isinstance(described, dict) else None
    if not isinstance(mark, str):
        raise EvidenceError(f"{run.uri}/{path}: fingerprint: is missing, or no text")
    return mark


def canaries_of(run: Run) -> list[CanaryAnswer]:
    """Return what the canaries were answered; the first shard asks them."""
    records = [path for path in run.list("scores") if path.endswith("/canaries.json")]
    return [
        answer
        for path in records
        for answer in read_canaries(
            run.stage(path.rsplit("/", 1)[0]).read("canaries.json"), f"{run.uri}/{path}"
        )
    ]


def _compare(
    previous: Metrics, current: Metrics
) -> tuple[list[ChangedNumber], list[NamedNumber], list[NamedNumber]]:
    """Numbers in both runs in the current one's order, and those in only one of them."""
    old, new = (dict(_numbers(metrics)) for metrics in (previous, current))
    return (
        [_changed_number(old[key], new[key]) for key in new if key in old],
        [old[key].name for key in old if key not in new],
        [new[key].name for key in new if key not in old],
    )


def _changed_number(before: _Number, now: _Number) -> ChangedNumber:
    keys = _values(now.name) | _values(compare_estimates(before.estimate, now.estimate))
    if isinstance(now.name, MetricNumber):
        return ChangedMetricNumber(**keys)
    if not now.is_ratio:
        return ChangedTableNumber(**keys)
    return ChangedTableNumber(
        **keys,
        four_fifths_flag=BeforeAndNow(previous=before.flag, current=now.flag),
        comparator=BeforeAndNow(previous=before.comparator, current=now.comparator),
    )


def _values(document: Any) -> dict[str, Any]:
    return {one.name: getattr(document, one.name) for one in fields(document)}


def _numbers(metrics: Metrics) -> Iterator[tuple[bytes, _Number]]:
    """Everything of ``metrics.json`` that can be compared, by a key of its name."""
    seen = set()
    for number in (*_table_numbers(metrics), *_metric_numbers(metrics)):
        key = canonical_json(number.name.as_dict())
        if key in seen:
            raise EvidenceError(f"metrics.json has two numbers for {key.decode()}")
        seen.add(key)
        yield key, number


def _table_numbers(metrics: Metrics) -> Iterator[_Number]:
    for table in metrics.tables:
        for row in table.rows:
            place: dict[str, Any] = {
                "table": table.kind,
                "family": table.family,
                "stratum": table.stratum,
                "category": row.label,
            }
            yield _Number(name=TableNumber(**place, number="rate"), estimate=row.rate)
            yield _Number(
                name=TableNumber(**place, number="impact_ratio"),
                estimate=row.impact_ratio,
                is_ratio=True,
                flag=row.four_fifths_flag,
                comparator=table.comparator,
            )


def _metric_numbers(metrics: Metrics) -> Iterator[_Number]:
    for estimate in metrics.estimates:
        design = {k: v for k, v in estimate.parameters.items() if k in DESIGN}
        name = MetricNumber(
            metric=estimate.metric,
            group=estimate.group,
            reference=estimate.reference,
            stratum=estimate.stratum,
            parameters=design,
        )
        yield _Number(name=name, estimate=estimate)


def _summary(items: Sequence[ChangedNumber]) -> DriftSummary:
    levels = [item.interval.level for item in items if not isinstance(item.interval, Undefined)]
    flags = [
        item.four_fifths_flag
        for item in items
        if isinstance(item, ChangedTableNumber) and item.four_fifths_flag is not None
    ]
    return DriftSummary(
        compared=len(items),
        undefined=sum(isinstance(item.change, Undefined) for item in items),
        with_interval=len(levels),
        exceeding=sum(bool(item.exceeds) for item in items),
        expected_by_chance=round(sum(1 - level for level in levels), 6),
        newly_flagged=sum(bool(flag.current) and not flag.previous for flag in flags),
        no_longer_flagged=sum(bool(flag.previous) and not flag.current for flag in flags),
    )
