"""What runs of one design found, one line an estimate, adjusted for the number of all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import isfinite
from typing import Any, Final

from audit_lib.canonical import sha256
from audit_lib.compare.contents import Contents, stratum_key
from audit_lib.compare.output_statistics import asked_of, exclusions_of, statistics_of, used_of
from audit_lib.compare.paired import metric_contrasts, paired_family, tested_by
from audit_lib.compare.paired_rates import rate_contrasts
from audit_lib.documents.comparison import (
    ComparedEstimate,
    ComparedFamily,
    ComparedFindings,
    ComparedMetric,
    ComparedRate,
    ComparedRun,
    Comparison,
)
from audit_lib.documents.estimates import defined, first_p, limits
from audit_lib.documents.evidence import Manifest
from audit_lib.documents.parameters import THRESHOLD, VARIATION, K
from audit_lib.errors import InputError
from audit_lib.measure.metric import owner_of, record_of
from audit_lib.report.tables import csv_bytes
from audit_lib.results import Estimate, Undefined
from audit_lib.run import Run
from audit_lib.stats.multiplicity import holm
from audit_lib.validity.run_labels import run_labels

COLUMNS: Final = (
    "run", "model", "revision", "task", "prompt_sha256", "metric", "variation", "threshold", "k", "stratum", "group",
    "reference", "value", "low", "high", "level", "low_70", "high_70", "n", "n_group", "n_reference", "clusters",
    "p_value", "p_holm", "flags", "undefined", "method",
    "remark",
)  # fmt: skip
"""Columns of ``comparison.csv``."""

DIFFERENCES: Final = (
    "metric", "stratum", "group", "reference", "parameters", "first", "second", "scale", "value", "low", "high",
    "units", "unit", "p_value", "p_holm_models", "p_holm", "undefined",
)  # fmt: skip
"""Columns of ``differences.csv``."""

RULE: Final = (
    "One test an estimate: each metric of each group in each model, prompt, task and stratum, at each quota or "
    "threshold, are one family."
)


def comparison_of(runs: Sequence[Run], design: str, not_studied: str | None) -> Comparison:
    """Return the document of a comparison: the runs, what all of them measured, and the tests between them.

    Raises
    ------
    InputError
        If the runs have no metric in common, or one that grows with the answers to each prompt, of which they have
        different numbers.
    """
    contents = Contents.of(runs)
    metrics = tuple(_metric(contents, name, where) for name, where in contents.measured_in().items())
    shared = [metric.name for metric in metrics if metric.shared]
    estimates = [
        (number, e)
        for number in range(len(runs))
        for name in shared
        for e in contents.printed(number)
        if e.metric == name
    ]
    rates = tuple(rate for number in range(len(runs)) for rate in _rates(contents, number))
    if not estimates and not rates:
        raise InputError(
            f"{runs[0].uri}: nothing to compare; the runs have no metric in common: list the same in measure.metrics"
        )
    _check_generations(runs, shared)
    measure = runs[0].spec.measure
    tested = [metric.name for metric in metrics if metric.shared and isinstance(metric.tested, str)]
    family, adjusted = _adjusted(estimates, measure.alpha)
    about = tuple(_about(contents, number, label) for number, label in enumerate(run_labels(runs)))
    return Comparison(
        design=design,
        experiment=contents.contents[0].is_experiment,
        level=measure.level,
        headline=tuple(measure.strata[0]),
        runs=about,
        metrics=metrics,
        multiplicity=family,
        estimates=adjusted,
        rates=rates,
        paired=paired_family(contents, [*metric_contrasts(contents, tested), *rate_contrasts(contents)]),
        exclusions=exclusions_of([run.statistics for run in about]),
        not_studied=not_studied,
    )


def _check_generations(runs: Sequence[Run], shared: Sequence[str]) -> None:
    """Refuse a metric that grows with the answers to each prompt, where runs have different numbers of them."""
    growing = sorted({owner_of(name) for name in shared if record_of(name).generations})
    asked = [run.spec.score.repeats for run in runs]
    for run, repeats in zip(runs, asked, strict=True):
        if growing and repeats != asked[0]:
            raise InputError(
                f"{run.uri}: score.repeats ({repeats}, and {asked[0]} in {runs[0].uri}): {', '.join(growing)} grows "
                "with the answers to each prompt; run it with the same number, or take that out of measure.metrics"
            )


def _about(contents: Contents, number: int, label: str) -> ComparedRun:
    run, content = contents.runs[number], contents.contents[number]
    variations = run.spec.robustness
    manifest = run.stage("evidence").read_document(Manifest, "manifest.json")
    return ComparedRun(
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
        repeats=run.spec.score.repeats,
        software=manifest.software,
        asked=asked_of(run),
        used=used_of(run),
        statistics=statistics_of(content, contents.rows[number]),
    )


def _metric(contents: Contents, name: str, where: tuple[int, ...]) -> ComparedMetric:
    record, shared = record_of(name), len(where) == len(contents.runs)
    return ComparedMetric(
        name=name,
        title=record.title,
        parity=record.parity,
        signed=record.signed,
        unit=record.unit,
        runs=where,
        shared=shared,
        tested=tested_by(contents, name) if shared else Undefined("not all runs have it"),
    )


def _rates(contents: Contents, number: int) -> Iterator[ComparedRate]:
    """Yield the rows of a run's rate tables that every run has."""
    kept = set.intersection(
        *({(t.kind, t.family, stratum_key(t.stratum)) for t in one.tables} for one in contents.contents)
    )
    for table in contents.contents[number].tables:
        if (table.kind, table.family, stratum_key(table.stratum)) not in kept:
            continue
        for row in table.rows:
            shown, hidden = not row.hidden, Undefined("hidden, as the run's policy hides small cells")
            yield ComparedRate(
                run=number,
                kind=table.kind,
                family=table.family,
                stratum=table.stratum,
                label=row.label,
                n=row.n if shown else None,
                selected=row.selected if shown else None,
                rate=_float(row.rate) if shown else hidden,
                ratio=_float(row.ratio) if shown and not row.ratio_hidden else hidden,
                below=row.below if shown and not row.ratio_hidden else None,
                comparator=row.label == table.comparator,
            )


def _float(value: Fraction | Undefined) -> float | Undefined:
    return value if isinstance(value, Undefined) else float(value)


def comparison_csv(document: Comparison) -> bytes:
    """Return the estimates as CSV, a line each."""
    return csv_bytes(COLUMNS, (_line(document.runs[e.run], e) for e in document.estimates))


def differences_csv(document: Comparison) -> bytes:
    """Return the tests between models as CSV, a line each."""
    return csv_bytes(
        DIFFERENCES,
        (
            {
                "metric": one.metric,
                "stratum": _levels(one.stratum),
                "group": _levels(one.group),
                "reference": _levels(one.reference),
                "parameters": ";".join(f"{name}={value}" for name, value in one.parameters.items()),
                "first": document.runs[pair.first].label,
                "second": document.runs[pair.second].label,
                "scale": one.scale,
                "value": defined(pair.value),
                "low": None if (ends := limits(pair.interval)) is None else _finite(ends.low),
                "high": None if ends is None else _finite(ends.high),
                "units": pair.units,
                "unit": one.unit,
                "p_value": pair.p_value,
                "p_holm_models": pair.p_holm_models,
                "p_holm": pair.p_holm,
                "undefined": pair.interval.reason if isinstance(pair.interval, Undefined) else None,
            }
            for one in document.paired.contrasts
            for pair in one.pairs
        ),
    )


def _adjusted(
    estimates: Sequence[tuple[int, Estimate]], alpha: float
) -> tuple[ComparedFamily, tuple[ComparedEstimate, ...]]:
    """Return the family of all tests, and the estimates with their adjusted p-values."""
    p_values = [first_p(e) for _, e in estimates]
    tested = [Undefined("no test") if p is None else float(p) for p in p_values]
    by_holm = holm(tested)
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
            remark=e.remark,
            method=e.method,
            parameters=dict(e.parameters),
            p_value=p,
            p_holm=defined(adjusted),
        )
        for (number, e), p, adjusted in zip(estimates, p_values, by_holm.p_values, strict=True)
    )
    family = ComparedFamily(
        family_size=by_holm.family_size,
        rule=RULE,
        methods={"p_holm": by_holm.method},
        alpha=alpha,
        findings=ComparedFindings(
            p_value=_below(alpha, [e.p_value for e in compared]),
            p_holm=_below(alpha, [e.p_holm for e in compared]),
        ),
    )
    return family, compared


def _below(alpha: float, p_values: Sequence[float | None]) -> int:
    return sum(p is not None and p < alpha for p in p_values)


def _line(run: ComparedRun, e: ComparedEstimate) -> dict[str, Any]:
    ends, inner = limits(e.interval), next(iter(e.intervals), None)
    return {
        "run": run.label,
        "model": run.model,
        "revision": run.revision,
        "task": run.task,
        "prompt_sha256": run.prompt_sha256,
        "metric": e.metric,
        "variation": e.parameters.get(VARIATION),
        "threshold": e.parameters.get(THRESHOLD),
        "k": e.parameters.get(K),
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
        "flags": ";".join(e.flags),
        "undefined": e.value.reason if isinstance(e.value, Undefined) else None,
        "method": e.method,
        "remark": e.remark,
    }


def _finite(limit: float) -> float | None:
    return limit if isfinite(limit) else None


def _levels(levels: Mapping[str, str]) -> str:
    return ";".join(f"{name}={level}" for name, level in levels.items())
