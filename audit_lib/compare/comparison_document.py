"""What runs of one design found, one line an estimate, adjusted for the number of all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, Final

from audit_lib.canonical import sha256
from audit_lib.documents.comparison import (
    ComparedEstimate,
    ComparedFamily,
    ComparedFindings,
    ComparedRun,
    Comparison,
)
from audit_lib.documents.estimates import defined, first_p, limits
from audit_lib.documents.parameters import THRESHOLD, VARIATION
from audit_lib.errors import InputError
from audit_lib.report.content import Content, gather
from audit_lib.report.tables import csv_bytes
from audit_lib.results import Estimate, Undefined
from audit_lib.run import Run
from audit_lib.stats.multiplicity import benjamini_hochberg, holm

COLUMNS: Final = (
    "run", "model", "revision", "task", "prompt_sha256", "metric", "variation", "threshold", "stratum", "group",
    "reference", "value", "low", "high", "level", "low_70", "high_70", "n", "n_group", "n_reference", "clusters",
    "p_value", "p_holm", "p_benjamini_hochberg", "flags", "undefined", "method",
)  # fmt: skip
"""Columns of ``comparison.csv``."""

RULE: Final = (
    "One test an estimate: each metric of each group in each model, prompt, task and stratum, at each quota or "
    "threshold, are one family."
)


def comparison_of(runs: Sequence[Run], design: str) -> Comparison:
    """Return the document of a comparison: the runs, the family of tests, and the estimates with adjusted p-values.

    Raises
    ------
    InputError
        If no run has an estimate to compare.
    """
    contents = [gather(run) for run in runs]
    shared = shared_metrics(contents)
    estimates = [
        (number, e)
        for number, content in enumerate(contents)
        for metric in shared
        for e in content.estimates(metric)
    ]
    if not estimates:
        raise InputError(
            f"{runs[0].uri}: nothing to compare; the runs have no metric in common: list the same in measure.metrics"
        )
    labels = _labels(runs)
    about = []
    for label, run, content in zip(labels, runs, contents, strict=True):
        variations = run.spec.robustness
        about.append(
            ComparedRun(
                label=label,
                audit=run.spec.audit,
                title=run.spec.title,
                window=run.key.window.label,
                run=run.key.prefix,
                spec_digest=run.key.spec_digest,
                manifest_sha256=sha256(run.stage("evidence").read("manifest.json")),
                model=run.spec.model.name,
                revision=run.spec.model.revision,
                answered_by=tuple(content.served) or tuple(str(model["name"]) for model in content.models),
                valid_judge=run.spec.model.valid_judge,
                task=run.spec.task,
                prompt_sha256=content.prompt_digest,
                prompts=tuple(sorted(variations.prompts)) if variations is not None else (),
                tasks=tuple(sorted(variations.tasks)) if variations is not None else (),
                rows=content.metrics.rows.total,
                answered=content.metrics.rows.answered,
            )
        )
    measure = runs[0].spec.measure
    family, adjusted = _adjusted(estimates, measure.alpha)
    return Comparison(
        design=design,
        experiment=contents[0].is_experiment,
        level=measure.level,
        headline=tuple(measure.strata[0]),
        runs=tuple(about),
        multiplicity=family,
        estimates=adjusted,
    )


def shared_metrics(contents: Sequence[Content]) -> list[str]:
    """Return the metrics of which every run has estimates, in the order of the first run."""
    found = [dict.fromkeys(e.metric for e in content.metrics.estimates) for content in contents]
    return [metric for metric in found[0] if all(metric in one for one in found[1:])]


def comparison_csv(document: Comparison) -> bytes:
    """Return the estimates as CSV, a line each."""
    return csv_bytes(COLUMNS, (_line(document.runs[e.run], e) for e in document.estimates))


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


def _adjusted(
    estimates: Sequence[tuple[int, Estimate]], alpha: float
) -> tuple[ComparedFamily, tuple[ComparedEstimate, ...]]:
    """Return the family of all tests, and the estimates with their adjusted p-values."""
    p_values = [first_p(e) for _, e in estimates]
    tested = [Undefined("no test") if p is None else float(p) for p in p_values]
    by_holm, by_bh = holm(tested), benjamini_hochberg(tested)
    compared = tuple(
        ComparedEstimate(
            run=number,
            metric=e.metric,
            stratum=e.stratum,
            group=e.group,
            reference=e.reference,
            value=e.value,
            interval=e.interval,
            intervals=e.intervals,
            n=e.n,
            n_group=e.n_group,
            n_reference=e.n_reference,
            clusters=e.clusters,
            flags=e.flags,
            method=e.method,
            variation=_text(e.parameters.get(VARIATION)),
            threshold=_number(e.parameters.get(THRESHOLD)),
            p_value=p,
            p_holm=defined(adjusted),
            p_benjamini_hochberg=defined(discovered),
        )
        for (number, e), p, adjusted, discovered in zip(
            estimates, p_values, by_holm.p_values, by_bh.p_values, strict=True
        )
    )
    family = ComparedFamily(
        family_size=by_holm.family_size,
        rule=RULE,
        methods={"p_holm": by_holm.method, "p_benjamini_hochberg": by_bh.method},
        alpha=alpha,
        findings=ComparedFindings(
            p_value=_below(alpha, [e.p_value for e in compared]),
            p_holm=_below(alpha, [e.p_holm for e in compared]),
            p_benjamini_hochberg=_below(alpha, [e.p_benjamini_hochberg for e in compared]),
        ),
    )
    return family, compared


def _below(alpha: float, p_values: Sequence[float | None]) -> int:
    return sum(p is not None and p < alpha for p in p_values)


def _text(parameter: int | float | str | None) -> str | None:
    return None if parameter is None else str(parameter)


def _number(parameter: int | float | str | None) -> float | None:
    return None if parameter is None or isinstance(parameter, str) else parameter


def _line(run: ComparedRun, e: ComparedEstimate) -> dict[str, Any]:
    ends, inner = limits(e.interval), next(iter(e.intervals), None)
    return {
        "run": run.label,
        "model": run.model,
        "revision": run.revision,
        "task": run.task,
        "prompt_sha256": run.prompt_sha256,
        "metric": e.metric,
        "variation": e.variation,
        "threshold": e.threshold,
        "stratum": _levels(e.stratum),
        "group": _levels(e.group),
        "reference": _levels(e.reference),
        "value": defined(e.value),
        "low": None if ends is None else _finite(ends.low),
        "high": None if ends is None else _finite(ends.high),
        "level": None if ends is None else ends.level,
        "low_70": None if inner is None else _finite(inner.low),
        "high_70": None if inner is None else _finite(inner.high),
        "n": e.n,
        "n_group": e.n_group,
        "n_reference": e.n_reference,
        "clusters": e.clusters,
        "p_value": e.p_value,
        "p_holm": e.p_holm,
        "p_benjamini_hochberg": e.p_benjamini_hochberg,
        "flags": ";".join(e.flags),
        "undefined": e.value.reason if isinstance(e.value, Undefined) else None,
        "method": e.method,
    }


def _finite(limit: float) -> float | None:
    return limit if isfinite(limit) else None


def _levels(levels: Mapping[str, str]) -> str:
    return ";".join(f"{name}={level}" for name, level in levels.items())
