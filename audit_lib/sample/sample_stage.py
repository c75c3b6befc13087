"""The stage ``sample``: the prompts that are audited."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from audit_lib.canonical import pretty_json
from audit_lib.coded import CodedTexts, first_rows, numbered, unit_codes
from audit_lib.documents.sample import Drawn, Occurred, Sample
from audit_lib.errors import InputError, SpecError
from audit_lib.records import NO_AND_YES
from audit_lib.registry import did_you_mean
from audit_lib.run import Run, StageOutput
from audit_lib.sample.columns import unit_of_sample
from audit_lib.sample.demographics import attributes, warnings
from audit_lib.sample.draw import Draw, SampleStratum, draw
from audit_lib.sample.places import check_sampled_places
from audit_lib.sample.read import read_source
from audit_lib.sample.read_before import UNITS_READ, OnceOnly
from audit_lib.sample.sources import source_of
from audit_lib.sample.values import imputed_shares, sampling_weights, yes_or_no
from audit_lib.sample.window_rows import WindowRows
from audit_lib.spec import AuditSpec

_STRATA = ("position", "recorded_model", "qualified")
_FEW: Final = 1 << 24
_OF_SOURCES: Final = ("batch_inputs", "requests_without_a_line")


def sample(run: Run) -> StageOutput:
    """Read the source's prompts in the run's window, and draw from them.

    Where candidates compete in rounds, whole rounds are drawn, and ``sample.size`` counts rounds; where
    the versions of one application do, whole applications.

    Returns
    -------
    StageOutput
        ``prompts.parquet`` and ``sample.json``; with ``source.once`` also ``units_read.parquet``.

    Raises
    ------
    EmptyWindowError
        If no prompt is left to audit.
    InputError
        If a file has a fault; the message names the file and the line.
    SpecError
        If the spec maps or stratifies by what does not exist.
    """
    spec = run.spec
    check_strata(spec)
    source = source_of(spec)
    once = OnceOnly.of(run)
    rows, reads, served = read_source(source, run.key.window, once)
    applications, number = unit_codes(rows.column("application_id"))
    accounted = spec.perturb is None
    labels: dict[str, CodedTexts] = {}
    if accounted:
        own = {axis: rows.labels(axis) for axis in spec.groups.axes}
        people = attributes(spec, rows.column("application_id"), own)
        labels = people.levels
    for mask in spec.groups.masks:
        yes_or_no(mask, _values(rows, mask, labels))
    if (weighed := spec.measure.weights) is not None:
        sampling_weights(_values(rows, weighed, labels), f"column {weighed!r}")
    for axis, imputed in spec.groups.imputed.items():
        shares = {level: _values(rows, name, labels) for level, name in imputed.probabilities.items()}
        imputed_shares(shares, axis)
    unit = unit_of_sample(spec)
    drawn, chosen = _drawn(rows, unit, labels, spec)
    everything = np.arange(len(rows)) if chosen is None else chosen
    first = first_rows(applications[everything], number)
    first = everything[np.sort(first[first >= 0])]
    findings = source.findings()
    demographics = people.account(first, spec) if accounted else None
    document = Sample(
        rows=len(everything),
        window=run.key.window.label,
        sources=tuple(reads),
        **_known(findings.document),
        read_before=None if once is None else once.account(),
        unit=unit,
        models=served.account(rows.labels("recorded_model").take(everything).counts()),
        occurred=_occurred(_chosen(rows, "occurred_at", chosen)),
        strata=tuple(
            Drawn(
                dict(zip(spec.sample.strata, stratum, strict=True)), available, drawn.drawn[stratum]
            ).as_dict()
            for stratum, available in drawn.available.items()
        ),
        demographics=demographics,
    )
    competing = "application_id" if spec.decision.round == "application_id" else "round_id"
    if (warning := check_sampled_places(spec, lambda: _sizes(_chosen(rows, competing, chosen)))) is not None:
        run.notify(warning)
    declared = spec.groups.unknown_values or ()
    for warning in () if demographics is None else warnings(demographics, declared):
        run.notify(warning)
    if left_out := served.left_out():
        run.notify(f"WARNING: {left_out} rows of models that model.served does not list are left out")
    for warning in findings.warnings:
        run.notify(warning)
    counts = {"prompts": len(everything), "applications": len(first)}
    if unit == "round":
        counts["rounds"] = sum(drawn.drawn.values())
    if demographics is not None:
        counts |= {f"unknown_{axis}": count for axis, count in demographics.unknown.items() if count}
    counts |= findings.counts
    if left_out:
        counts["rows_of_other_models"] = left_out
    if once is not None:
        counts |= {"rows_read_before": once.rows_read_before, "rows_late": once.rows_late}
    content = rows.sorted_content(chosen, labels)
    artefacts = {"prompts.parquet": content, "sample.json": pretty_json(document.as_dict())}
    if once is not None:
        artefacts[UNITS_READ] = once.table()
    return StageOutput(artefacts, counts)


def _known(found: Mapping[str, Any]) -> dict[str, Any]:
    """Give what a source says the keys of ``sample.json``; a source of another package has one key for all of it."""
    ours = {key: value for key, value in found.items() if key in _OF_SOURCES}
    theirs = {key: value for key, value in found.items() if key not in _OF_SOURCES}
    return {**ours, **({"source": theirs} if theirs else {})}


def _occurred(instants: pa.ChunkedArray) -> Occurred | None:
    """Return when the first and the last of the sampled prompts occurred, and how many do not say; None: none does."""
    if instants.null_count == len(instants):
        return None
    ends = pc.min_max(instants).as_py()
    return Occurred(
        first=ends["min"].isoformat(), last=ends["max"].isoformat(), not_stated=instants.null_count
    )


def check_strata(spec: AuditSpec) -> None:
    """Refuse ``sample.strata`` with a column that no sample can have.

    Raises
    ------
    SpecError
        If there is one; names the nearest that can be.
    """
    known = [*_STRATA, *spec.source.fields, *(() if spec.perturb is not None else spec.groups.axes)]
    for name in spec.sample.strata:
        if name not in known:
            raise SpecError(
                f"sample.strata: {name!r} is not a column to stratify by{did_you_mean(name, known)}"
            )


def _chosen(rows: WindowRows, name: str, chosen: NDArray[np.int64] | None) -> pa.ChunkedArray:
    column = rows.column(name)
    return column if chosen is None else column.take(pa.array(chosen))


def _sizes(units: pa.ChunkedArray) -> list[int]:
    """Return how many rows each unit has; a row without one is not counted."""
    counts: list[int] = units.drop_null().value_counts().field("counts").to_pylist()
    return counts


def _values(rows: WindowRows, name: str, labels: Mapping[str, CodedTexts]) -> list[str | None]:
    """Return each row's value in one column: one of ours, or a field of the source."""
    if name == "qualified":
        return [None if value is None else NO_AND_YES[value] for value in rows.column(name).to_pylist()]
    if rows.has_labels(name):
        coded = labels[name] if name in labels else rows.labels(name)
        return [coded.words[code] for code in coded.codes.tolist()]
    return [None if text is None or text == "" else str(text) for text in rows.field(name)]


def _coded(rows: WindowRows, name: str, labels: Mapping[str, CodedTexts]) -> CodedTexts:
    """Return each row's stratum by one column."""
    if rows.has_labels(name):
        return labels[name] if name in labels else rows.labels(name)
    return CodedTexts.from_values(_values(rows, name, labels))


def _drawn(
    rows: WindowRows, unit: str, labels: Mapping[str, CodedTexts], spec: AuditSpec
) -> tuple[Draw, NDArray[np.int64] | None]:
    """Return what is drawn, and the places of its rows, ascending; None: all."""
    ids = rows.column(f"{unit}_id")
    units, number = numbered(len(rows)) if unit == "prompt" else unit_codes(ids)
    first = first_rows(units, number)
    of_row, strata = _strata([_coded(rows, name, labels) for name in spec.sample.strata], len(rows))
    of_unit = of_row[first]
    if not bool((of_unit[units] == of_row).all()):
        raise InputError(
            f"sample.strata: candidates of one {unit} differ in {', '.join(spec.sample.strata)}, "
            f"but each {unit} is drawn whole; stratify by columns that it has in common"
        )
    drawn = draw(
        of_unit,
        strata,
        lambda: pc.sort_indices(ids.take(pa.array(first))).to_numpy().view(np.int64),
        spec.sample.size,
        spec.seed,
    )
    if drawn.units is None:
        return drawn, None
    kept = np.zeros(number, np.bool_)
    kept[drawn.units] = True
    return drawn, np.flatnonzero(kept[units])


def _strata(columns: list[CodedTexts], rows: int) -> tuple[NDArray[np.int64], list[SampleStratum]]:
    """Return of each row the place of its stratum, and the strata."""
    codes, strata = np.zeros(rows, np.int64), [SampleStratum()]
    for column in columns:
        words = len(column.words)
        both = codes * words + column.codes
        few = len(strata) * words < _FEW
        there = np.flatnonzero(np.bincount(both)) if few else np.unique(both)
        codes = np.searchsorted(there, both).astype(np.int64, copy=False)
        strata = [(*strata[one // words], column.words[one % words]) for one in there.tolist()]
    return codes, strata
