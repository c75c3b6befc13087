"""What runs of one design found, one line an estimate, adjusted for the number of all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from audit_lib.canonical import sha256
from audit_lib.documents.estimates import first_p
from audit_lib.documents.parameters import THRESHOLD, VARIATION
from audit_lib.errors import InputError
from audit_lib.report.content import gather
from audit_lib.report.tables import csv_bytes
from audit_lib.results import Estimate, Undefined
from audit_lib.run import Run
from audit_lib.stats.multiplicity import benjamini_hochberg, holm
from audit_lib.typed_json import as_json

SCHEMA: Final = "audit-comparison/1"
METRICS: Final = ("standardised_effect", "adverse_impact_ratio")
"""What is compared: effects of experiments, impact ratios at thresholds of real applicants."""

COLUMNS: Final = (
    "run", "model", "revision", "task", "prompt_sha256", "metric", "variation", "threshold", "stratum", "group",
    "reference", "value", "low", "high", "level", "low_70", "high_70", "n", "n_group", "n_reference", "clusters",
    "p_value", "p_holm", "p_benjamini_hochberg", "flags", "undefined", "method",
)  # fmt: skip
"""Columns of ``comparison.csv``."""

RULE: Final = (
    "One test an estimate: each effect in each model, prompt, task and stratum, and each impact ratio at each "
    "threshold, are one family."
)


def comparison_of(runs: Sequence[Run], design: str) -> dict[str, Any]:
    """Return the document of a comparison: the runs, the family of tests, and the estimates with adjusted p-values.

    Raises
    ------
    InputError
        If no run has an estimate to compare.
    """
    contents = [gather(run) for run in runs]
    estimates = [
        {"run": number, **_estimate(e)}
        for number, content in enumerate(contents)
        for metric in METRICS
        for e in content.estimates(metric)
    ]
    if not estimates:
        raise InputError(
            f"{runs[0].uri}: nothing to compare; list {' or '.join(METRICS)} in measure.metrics of the runs"
        )
    labels = _labels(runs)
    about = []
    for label, run, content in zip(labels, runs, contents, strict=True):
        variations = run.spec.robustness
        about.append(
            {
                "label": label,
                "audit": run.spec.audit,
                "title": run.spec.title,
                "window": run.key.window.label,
                "run": run.key.prefix,
                "spec_digest": run.key.spec_digest,
                "manifest_sha256": sha256(run.stage("evidence").read("manifest.json")),
                "model": run.spec.model.name,
                "revision": run.spec.model.revision,
                "answered_by": [*content.served] or [str(model["name"]) for model in content.models],
                "valid_judge": run.spec.model.valid_judge,
                "task": run.spec.task,
                "prompt_sha256": content.prompt_digest,
                "prompts": sorted(variations.prompts) if variations is not None else [],
                "tasks": sorted(variations.tasks) if variations is not None else [],
                "rows": content.metrics.rows.total,
                "answered": content.metrics.rows.answered,
            }
        )
    measure = runs[0].spec.measure
    return {
        "schema": SCHEMA,
        "design": design,
        "experiment": contents[0].is_experiment,
        "level": measure.level,
        "headline": list(measure.strata[0]),
        "runs": about,
        "multiplicity": _adjust(estimates, measure.alpha),
        "estimates": estimates,
    }


def comparison_csv(document: Mapping[str, Any]) -> bytes:
    """Return the estimates as CSV, a line each."""
    return csv_bytes(COLUMNS, (_line(document["runs"][e["run"]], e) for e in document["estimates"]))


def _labels(runs: Sequence[Run]) -> list[str]:
    """Tell runs apart by as little as it takes: the model, its audit, the window."""
    model = [
        run.spec.model.name.rstrip("/").rsplit("/", 1)[-1]
        + (f" @ {run.spec.model.revision}" if run.spec.model.revision else "")
        for run in runs
    ]
    found = list(model)
    for more in (
        [run.spec.audit for run in runs],
        [run.key.window.label for run in runs],
        [run.key.spec_digest[:8] for run in runs],
    ):
        shared = Counter(found)
        found = [f"{one}, {word}" if shared[one] > 1 else one for one, word in zip(found, more, strict=True)]
    return found


def _estimate(e: Estimate) -> dict[str, Any]:
    kept = ("metric", "stratum", "group", "reference", "value", "interval", "intervals", "n", "n_group",
            "n_reference", "clusters", "flags", "method")  # fmt: skip
    return {
        **{key: as_json(getattr(e, key)) for key in kept},
        VARIATION: e.parameters.get(VARIATION),
        THRESHOLD: e.parameters.get(THRESHOLD),
        "p_value": first_p(e),
    }


def _adjust(estimates: Sequence[dict[str, Any]], alpha: float) -> dict[str, Any]:
    none = Undefined("no test")
    values = [none if e["p_value"] is None else float(e["p_value"]) for e in estimates]
    adjusted = {"p_holm": holm(values), "p_benjamini_hochberg": benjamini_hochberg(values)}
    for place, e in enumerate(estimates):
        for name, found in adjusted.items():
            p = found.p_values[place]
            e[name] = None if isinstance(p, Undefined) else p
    return {
        "family_size": adjusted["p_holm"].family_size,
        "rule": RULE,
        "methods": {name: found.method for name, found in adjusted.items()},
        "alpha": alpha,
        "findings": {
            name: sum(e[name] is not None and e[name] < alpha for e in estimates)
            for name in ("p_value", *adjusted)
        },
    }


def _line(run: Mapping[str, Any], e: Mapping[str, Any]) -> dict[str, Any]:
    value, limits = e["value"], e["interval"]
    inner: Mapping[str, Any] = next((one for one in e["intervals"] if "low" in one), {})
    gone = isinstance(value, Mapping)
    return {
        **{key: run[key] for key in ("model", "revision", "task", "prompt_sha256")},
        **{
            key: e[key]
            for key in ("metric", "variation", "threshold", "p_value", "p_holm", "p_benjamini_hochberg")
        },
        "run": run["label"],
        "stratum": _levels(e["stratum"]),
        "group": _levels(e["group"]),
        "reference": _levels(e["reference"]),
        "value": None if gone else value,
        "low": limits.get("low"),
        "high": limits.get("high"),
        "level": limits.get("level"),
        "low_70": inner.get("low"),
        "high_70": inner.get("high"),
        **{
            key: e[key] if isinstance(e[key], int) else None
            for key in ("n", "n_group", "n_reference", "clusters")
        },
        "flags": ";".join(e["flags"]),
        "undefined": value["undefined"] if gone else None,
        "method": e["method"],
    }


def _levels(levels: Mapping[str, str]) -> str:
    return ";".join(f"{name}={level}" for name, level in levels.items())
