"""The stage ``sample``: the prompts that are audited."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from audit_lib.canonical import pretty_json
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
    table = rows.table()
    applications = table["application_id"].combine_chunks().dictionary_encode()
    accounted = spec.perturb is None
    if accounted:
        people = attributes(spec, applications, {axis: _shared(table[axis]) for axis in spec.groups.axes})
        for axis in spec.groups.axes:
            place = table.schema.get_field_index(axis)
            table = table.set_column(place, axis, pa.array(people.levels[axis], pa.string()))
    for mask in spec.groups.masks:
        yes_or_no(mask, _labels(rows, mask))
    if (weighed := spec.measure.weights) is not None:
        sampling_weights(_labels(rows, weighed), f"column {weighed!r}")
    for axis, imputed in spec.groups.imputed.items():
        imputed_shares({level: _labels(rows, name) for level, name in imputed.probabilities.items()}, axis)
    unit = unit_of_sample(spec)
    drawn, chosen = _drawn(rows, table[f"{unit}_id"], spec)
    if len(chosen) < table.num_rows:
        table = table.take(pa.array(chosen))
    findings = source.findings()
    demographics = (
        people.account(applications.indices.to_numpy()[chosen], chosen, spec) if accounted else None
    )
    document = Sample(
        rows=len(chosen),
        window=run.key.window.label,
        sources=tuple(reads),
        **_known(findings.document),
        read_before=None if once is None else once.account(),
        unit=unit,
        models=served.account(Counter(_shared(table["recorded_model"]))),
        occurred=_occurred(table["occurred_at"]),
        strata=tuple(
            Drawn(
                dict(zip(spec.sample.strata, stratum, strict=True)), available, drawn.drawn[stratum]
            ).as_dict()
            for stratum, available in drawn.available.items()
        ),
        demographics=demographics,
    )
    competing = "application_id" if spec.decision.round == "application_id" else "round_id"
    if (warning := check_sampled_places(spec, table[competing].drop_null().to_pylist())) is not None:
        run.notify(warning)
    declared = spec.groups.unknown_values or ()
    for warning in () if demographics is None else warnings(demographics, declared):
        run.notify(warning)
    if left_out := served.left_out():
        run.notify(f"WARNING: {left_out} rows of models that model.served does not list are left out")
    for warning in findings.warnings:
        run.notify(warning)
    counts = {"prompts": len(chosen), "applications": pc.count_distinct(table["application_id"]).as_py()}
    if unit == "round":
        counts["rounds"] = sum(drawn.drawn.values())
    if demographics is not None:
        counts |= {f"unknown_{axis}": count for axis, count in demographics.unknown.items() if count}
    counts |= findings.counts
    if left_out:
        counts["rows_of_other_models"] = left_out
    if once is not None:
        counts |= {"rows_read_before": once.rows_read_before, "rows_late": once.rows_late}
    content = rows.sorted_content(table, chosen)
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


def _labels(rows: WindowRows, name: str) -> list[str | None]:
    """Return each row's stratum by one column: one of ours, or a field of the source."""
    table = rows.table()
    if name not in table.column_names:
        return [None if text is None or text == "" else str(text) for text in rows.field(name)]
    values = table[name].to_pylist()
    if name == "qualified":
        return [None if value is None else NO_AND_YES[value] for value in values]
    return [*values]


def _shared(column: pa.ChunkedArray) -> list[str | None]:
    """Return a column of few different texts, each held once."""
    coded = column.combine_chunks().dictionary_encode()
    texts = [*coded.dictionary.to_pylist(), None]
    return [texts[code] for code in pc.fill_null(coded.indices, len(texts) - 1).to_pylist()]


def _drawn(rows: WindowRows, unit_of_row: pa.ChunkedArray, spec: AuditSpec) -> tuple[Draw, NDArray[np.int64]]:
    """Return what is drawn, and the places of its rows."""
    if spec.sample.size is None and not spec.sample.strata:  # everything: no list of units is needed
        available: dict[SampleStratum, int] = {(): pc.count_distinct(unit_of_row, mode="all").as_py()}
        return Draw(units=[], available=available, drawn=available), np.arange(len(unit_of_row))
    ids = unit_of_row.to_pylist()
    drawn = draw(
        _units(ids, [_labels(rows, name) for name in spec.sample.strata], spec), spec.sample.size, spec.seed
    )
    kept = set(drawn.units)
    return drawn, np.array([place for place, one in enumerate(ids) if one in kept], np.int64)


def _units(
    unit_of_row: list[str], strata: list[list[str | None]], spec: AuditSpec
) -> dict[str, SampleStratum]:
    units: dict[str, SampleStratum] = {}
    whole = unit_of_sample(spec)
    for unit, *values in zip(unit_of_row, *strata, strict=True):
        stratum = tuple(values)
        if units.setdefault(unit, stratum) != stratum:
            raise InputError(
                f"sample.strata: candidates of one {whole} differ in {', '.join(spec.sample.strata)}, "
                f"but each {whole} is drawn whole; stratify by columns that it has in common"
            )
    return units
