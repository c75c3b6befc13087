"""Comparison of a run with the previous complete run of the same audit.

*Previous* is the complete run of the same audit whose window ended last before this window begins
(among several of one window: of this design rather than another, then the one sealed last). It may be of
another design or another model: the comparison says so, and which sections of the spec changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from audit_lib.canonical import canonical_json, pretty_json, sha256
from audit_lib.errors import EvidenceError
from audit_lib.monitor.canaries import compare_canaries
from audit_lib.monitor.change import METHOD, compare_estimates
from audit_lib.run import SUCCESS, Run, StageFolder, StageOutput, Window

SCHEMA: Final = "audit-comparison/1"
_DESIGN_PARAMETERS: Final = ("k",)
"""Parameters that come from the spec. Others (the comparator, the number of rounds) are results."""


def monitor(run: Run) -> StageOutput:
    """Compare a sealed run with the previous one.

    Each estimate, and each rate and impact ratio of the statutory tables, is found in the previous run by
    metric, groups, stratum and quota. ``exceeds`` tells whether the change is larger than both
    intervals explain (see `change_interval`). Among m such comparisons without any real change about
    m x (1 - level) exceed by chance: ``expected_by_chance`` prints that number beside the count.

    Returns
    -------
    StageOutput
        ``comparison.json``; counts ``compared`` and ``exceeding`` (both 0 for a first run).

    Raises
    ------
    IncompleteRunError
        If the run is not measured and sealed.
    """
    current, manifest = run.stage("metrics").read_json("metrics.json"), _manifest(run)
    before = previous_run(run)
    document: dict[str, Any] = {"schema": SCHEMA, "audit": run.key.audit, "current": _identity(run)}
    if before is None:
        document |= {"previous": None, "reason": "first run: no earlier complete run of this audit"}
        return StageOutput({"comparison.json": pretty_json(document)}, {"compared": 0, "exceeding": 0})
    previous = before.stage("metrics").read_json("metrics.json")
    items, only_previous, only_current = _compare(previous, current)
    summary = _summary(items)
    document |= {
        "previous": _identity(before),
        "design_changed": before.key.spec_digest != run.key.spec_digest,
        "changed_sections": _changed_sections(before, run),
        "model_changed": _fingerprints(before) != _fingerprints(run),
        "canaries": compare_canaries(_canaries(before), _canaries(run)),
        "software_changed": _changed(_manifest(before)["software"], manifest["software"]),
        "rows": {"previous": previous["rows"], "current": current["rows"]},
        "method": METHOD,
        "summary": summary,
        "comparisons": items,
        "only_previous": only_previous,
        "only_current": only_current,
    }
    counts = {"compared": summary["compared"], "exceeding": summary["exceeding"]}
    return StageOutput({"comparison.json": pretty_json(document)}, counts)


def previous_run(run: Run) -> Run | None:
    """Return the complete run of the same audit before this one, or None for a first run."""
    candidates = []
    for key in run.store.list(run.key.audit):
        parts = key.split("/")
        if len(parts) != 5 or parts[3:] != ["evidence", SUCCESS]:
            continue
        window, prefix = Window.from_label(parts[1]), "/".join(parts[:3])
        if window.end > run.key.window.start:
            continue
        evidence = StageFolder(run.store, f"{prefix}/evidence")
        if evidence.read_json("manifest.json")["outcome"] == "complete":
            sealed = datetime.fromisoformat(evidence.success()["finished_at"])
            same_design = parts[2] == run.key.prefix.rsplit("/", 1)[1]
            candidates.append((window.end, window.start, same_design, sealed, prefix))
    return Run.load(run.store.uri(max(candidates)[-1])) if candidates else None


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
