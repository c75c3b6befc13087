"""Drift: how a run differs from the complete run of the same audit before it, by the order of windows.

That one may be of another design or another model: the document says so, and which sections of the spec changed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from audit_lib.canonical import canonical_json, sha256
from audit_lib.errors import EvidenceError
from audit_lib.monitor.canaries import compare_canaries
from audit_lib.monitor.estimate_change import METHOD, compare_estimates
from audit_lib.monitor.history import History
from audit_lib.monitor.served_models import compare_served_models
from audit_lib.run import Run
from audit_lib.windows import summary as summary_of

SCHEMA: Final = "audit-drift/1"
_MOST: Final = 100
"""Windows named one by one; all of them are counted."""
_DESIGN_PARAMETERS: Final = ("k",)
"""Parameters that come from the spec. Others (the comparator, the number of rounds) are results."""


def measure_drift(run: Run, history: History) -> dict[str, Any]:
    """Compare a sealed run with the one before it.

    Each estimate, and each rate and impact ratio of the statutory tables, is found in the previous run by
    metric, groups, stratum and quota. ``exceeds`` tells whether the change is larger than both
    intervals explain (see `change_interval`). Among m such comparisons without any real change about
    m x (1 - level) exceed by chance: ``expected_by_chance`` prints that number beside the count.
    ``not_audited`` names the windows in between that were owed.

    Raises
    ------
    IncompleteRunError
        If the run is not measured and sealed.
    """
    current, manifest = run.stage("metrics").read_json("metrics.json"), _manifest(run)
    earlier = history.before(run.key.window, run.key.prefix.rsplit("/", 1)[1])
    missing = history.not_audited(run, earlier)
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "audit": run.key.audit,
        "current": _identity(run),
        "not_audited": {
            "states": dict(Counter(one.state for one in missing)),
            "windows": [{"window": one.window.label, "state": one.state} for one in missing[-_MOST:]],
        },
    }
    if earlier is None:
        reason = "first run: no earlier window of this audit is owed, and none was audited"
        if missing:
            reason = f"no earlier window was audited; of those that are owed: {summary_of(missing)}"
        return document | {"previous": None, "reason": reason}
    before = Run.load(run.store.uri(earlier.prefix))
    previous = before.stage("metrics").read_json("metrics.json")
    items, only_previous, only_current = _compare(previous, current)
    return document | {
        "previous": _identity(before),
        "design_changed": before.key.spec_digest != run.key.spec_digest,
        "changed_sections": _changed_sections(before, run),
        "model_changed": _fingerprints(before) != _fingerprints(run),
        "answering": compare_served_models(before, run),
        "canaries": compare_canaries(_canaries(before), _canaries(run)),
        "software_changed": _changed(_manifest(before)["software"], manifest["software"]),
        "rows": {"previous": previous["rows"], "current": current["rows"]},
        "method": METHOD,
        "summary": _summary(items),
        "comparisons": items,
        "only_previous": only_previous,
        "only_current": only_current,
    }


def _manifest(run: Run) -> dict[str, Any]:
    manifest: dict[str, Any] = run.stage("evidence").read_json("manifest.json")
    return manifest


def _identity(run: Run) -> dict[str, str]:
    return {
        "window": run.key.window.label,
        "spec_digest": run.key.spec_digest,
        "manifest_sha256": sha256(run.stage("evidence").read("manifest.json")),
    }


def _changed_sections(before: Run, run: Run) -> list[str]:
    """Top-level keys of the spec, and design files, that are not as they were."""
    old, new = (json.loads(each.stage("plan").read("spec.json")) for each in (before, run))
    files = [each.stage("plan").read_json("plan.json")["inputs"] for each in (before, run)]
    return [*_changed(old, new), *(f"file {name}" for name in _changed(*files))]


def _changed(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    names = sorted(old.keys() | new.keys())
    return {
        name: {"previous": old.get(name), "current": new.get(name)}
        for name in names
        if old.get(name) != new.get(name)
    }


def _fingerprints(run: Run) -> list[str]:
    records = [path for path in run.list("scores") if path.endswith("/model.json")]
    found = {run.stage(path.rsplit("/", 1)[0]).read_json("model.json")["fingerprint"] for path in records}
    return sorted(found)


def _canaries(run: Run) -> list[dict[str, Any]]:
    """Return what the canaries were answered; the first shard asks them."""
    records = [path for path in run.list("scores") if path.endswith("/canaries.json")]
    return [
        entry for path in records for entry in run.stage(path.rsplit("/", 1)[0]).read_json("canaries.json")
    ]


def _compare(
    previous: Mapping[str, Any], current: Mapping[str, Any]
) -> tuple[list[dict[str, Any]], list[Any], list[Any]]:
    """Items in both runs in the current one's order, and those in only one of them."""
    old, new = (dict(_items(metrics)) for metrics in (previous, current))
    both = []
    for key in (key for key in new if key in old):
        (_, before), (identity, now) = old[key], new[key]
        item = identity | compare_estimates(before["estimate"], now["estimate"])
        if "flag" in now:
            item["four_fifths_flag"] = {"previous": before["flag"], "current": now["flag"]}
            item["comparator"] = {"previous": before["comparator"], "current": now["comparator"]}
        both.append(item)
    return (
        both,
        [old[key][0] for key in old if key not in new],
        [new[key][0] for key in new if key not in old],
    )


def _items(metrics: Mapping[str, Any]) -> Iterator[tuple[bytes, tuple[dict[str, Any], dict[str, Any]]]]:
    """Everything of ``metrics.json`` that can be compared: key -> (what it is, its estimate and flag)."""
    seen = set()
    for identity, content in (*_table_items(metrics), *_estimate_items(metrics)):
        key = canonical_json(identity)
        if key in seen:
            raise EvidenceError(f"metrics.json has two numbers for {key.decode()}")
        seen.add(key)
        yield key, (identity, content)


def _table_items(metrics: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for table in metrics["tables"]:
        place = {"table": table["kind"], "family": table["family"], "stratum": table["stratum"]}
        for row in table["rows"]:
            cell = place | {"category": row["label"]}
            yield cell | {"number": "rate"}, {"estimate": row["rate"]}
            yield (
                cell | {"number": "impact_ratio"},
                {
                    "estimate": row["impact_ratio"],
                    "flag": row["four_fifths_flag"],
                    "comparator": table["comparator"],
                },
            )


def _estimate_items(metrics: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for estimate in metrics["estimates"]:
        identity = {name: estimate[name] for name in ("metric", "group", "reference", "stratum")}
        design = {k: v for k, v in estimate["parameters"].items() if k in _DESIGN_PARAMETERS}
        yield identity | {"parameters": design}, {"estimate": estimate}


def _summary(items: list[dict[str, Any]]) -> dict[str, Any]:
    tested = [item for item in items if item["exceeds"] is not None]
    flags = [item["four_fifths_flag"] for item in items if "four_fifths_flag" in item]
    return {
        "compared": len(items),
        "undefined": sum(isinstance(item["change"], Mapping) for item in items),
        "with_interval": len(tested),
        "exceeding": sum(item["exceeds"] for item in tested),
        "expected_by_chance": round(sum(1 - item["interval"]["level"] for item in tested), 6),
        "newly_flagged": sum(bool(flag["current"]) and not flag["previous"] for flag in flags),
        "no_longer_flagged": sum(bool(flag["previous"]) and not flag["current"] for flag in flags),
    }
