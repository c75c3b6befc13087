"""What attribution needs of a sealed run: counts by group, stratum and block of clusters, and what answered it.

Clusters are dealt to twenty blocks by a digest of their names, so that an application that is in two windows is in one
block, and whatever is computed from the sums has an error that holds for clusters (`audit_lib.stats.shapley`). No text
and no name of a person is kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from audit_lib.canonical import canonical_json, sha256
from audit_lib.documents.canaries import CanaryAnswer
from audit_lib.documents.evidence import Manifest
from audit_lib.documents.plan import Plan
from audit_lib.documents.window_cells import CountedCell, FieldLevel, KeptCanary, WindowCells
from audit_lib.measure.rows.load import load_rows
from audit_lib.measure.rows.scored import Codes, Rows
from audit_lib.measure.sides import ClusterUnit, decision_unit
from audit_lib.measure.stage import scored_shards
from audit_lib.monitor.drift import canaries_of, fingerprints
from audit_lib.monitor.run_identity import identity_of
from audit_lib.monitor.served_models import served_names
from audit_lib.monitor.window_sums import parts_of, quantities, score_bounds
from audit_lib.run import Run
from audit_lib.spec import AuditSpec, Decision, PromptTemplate

__all__ = ["BLOCKS", "reading_digest", "rule_digest", "window_cells"]

BLOCKS: Final = 20
_READING: Final = ("read", "labels", "relevance", "tie", "answer")
_NOT_STRATA: Final = ("model", "application_id", "round_id")


def window_cells(
    run: Run, rule: Decision | None = None, reading: PromptTemplate | None = None
) -> WindowCells:
    """Count what attribution needs of a sealed run; by another decision rule or reading than its own where given.

    Raises
    ------
    IncompleteRunError
        If it has no complete scores, or is not sealed.
    InputError
        If the rule lacks what it needs in this run, such as rounds, or its answers cannot be read again.
    EvidenceError
        If a document of it is not what its stage writes.
    """
    spec = run.spec
    decided = spec if rule is None else spec.model_copy(update={"decision": rule})
    if reading is not None:
        decided = decided.model_copy(update={"prompt": reading})
    rows, _ = load_rows(run, scored_shards(run), rule, reading)
    strata_by = _strata_by(spec, rows)
    block = _blocks(rows, decision_unit(decided))
    return WindowCells(
        audit=run.key.audit,
        run=identity_of(run),
        rule=rule_digest(decided.decision),
        own_rule=rule_digest(spec.decision),
        reading=reading_digest(decided.prompt),
        own_reading=reading_digest(spec.prompt),
        versions=_versions(run),
        served=served_names(run),
        fingerprints=tuple(fingerprints(run)),
        software=_software(run),
        strata_by=strata_by,
        score_range=score_bounds(decided),
        cells=tuple(_cells(rows, decided, strata_by, block)),
        fields=tuple(
            level
            for name in dict.fromkeys((*spec.groups.axes, *strata_by))
            for level in _levels(rows, name, block, spec.measure.small_cell)
        ),
        canaries=tuple(_kept(one) for one in canaries_of(run)),
    )


def rule_digest(rule: Decision) -> str:
    """Return the digest of a decision rule."""
    return sha256(canonical_json(rule.model_dump(mode="json")))


def reading_digest(prompt: PromptTemplate | None) -> str:
    """Return the digest of how answers are read."""
    read = {} if prompt is None else {name: getattr(prompt, name) for name in _READING}
    return sha256(canonical_json(read))


def _strata_by(spec: AuditSpec, rows: Rows) -> tuple[str, ...]:
    """Columns by which the spec splits, other than groups, models and clusters; positions always."""
    named = ("position", *(name for names in spec.measure.strata for name in names))
    return tuple(
        name
        for name in dict.fromkeys(named)
        if name in rows.columns and name not in (*spec.groups.axes, *_NOT_STRATA)
    )


def _blocks(rows: Rows, unit: ClusterUnit) -> Codes:
    column = rows.columns["round_id" if unit == "round" else "application_id"]
    of_label = [
        int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") % BLOCKS for name in column.labels
    ]
    return np.array([*of_label, 0], dtype=np.int32).take(column.codes)  # rows without a round are one unit


def _cells(rows: Rows, spec: AuditSpec, strata_by: Sequence[str], block: Codes) -> Iterator[CountedCell]:
    stratum, names = _strata(rows, strata_by)
    place = stratum.astype(np.int64) * BLOCKS + block
    size = len(names) * BLOCKS
    groups = {canonical_json(one): one for pair in spec.groups.comparisons() for one in pair}
    members = {key: rows.members(group) for key, group in groups.items()}
    for quantity, variable in quantities(rows, spec, score_bounds(spec)):
        if isinstance(variable, str):
            continue
        values = np.full(len(rows), np.nan)
        values[slice(None) if variable.kept is None else variable.kept] = variable.values
        known = ~np.isnan(values)
        for key, group in groups.items():
            mine = members[key]
            asked, answered, total = (
                np.bincount(place[mask], weights, size).reshape(len(names), BLOCKS)
                for mask, weights in (
                    (mine, None),
                    (mine & known, None),
                    (mine & known, values[mine & known]),
                )
            )
            for number, name in enumerate(names):
                if asked[number].any():
                    yield CountedCell(
                        quantity=quantity,
                        group=dict(group),
                        stratum=name,
                        asked=tuple(asked[number].astype(int).tolist()),
                        answered=tuple(answered[number].astype(int).tolist()),
                        total=tuple(total[number].tolist()),
                    )


def _strata(rows: Rows, strata_by: Sequence[str]) -> tuple[NDArray[np.int64], list[tuple[str, ...]]]:
    """Return the stratum of each row, and what each is called."""
    if not strata_by:
        return np.zeros(len(rows), dtype=np.int64), [()]
    codes = np.stack([rows.columns[name].codes for name in strata_by], axis=1)
    found, place = np.unique(codes, axis=0, return_inverse=True)
    labels = [(*rows.columns[name].labels, "unknown") for name in strata_by]  # the last one is of code -1
    names = [tuple(own[code] for own, code in zip(labels, row, strict=True)) for row in found.tolist()]
    return np.asarray(place, dtype=np.int64).reshape(-1), names


def _levels(rows: Rows, name: str, block: Codes, fewest: int) -> Iterator[FieldLevel]:
    """Count the levels of a field; those of fewer rows than a small cell are one without a name."""
    column = rows.columns[name]
    labels = (*column.labels, "unknown")
    counts = np.bincount(
        np.where(column.codes < 0, len(labels) - 1, column.codes).astype(np.int64) * BLOCKS + block,
        minlength=len(labels) * BLOCKS,
    ).reshape(len(labels), BLOCKS)
    few = counts.sum(axis=1) < fewest
    for label, own, small in zip(labels, counts, few.tolist(), strict=True):
        if not small:
            yield FieldLevel(field=name, level=label, rows=tuple(own.tolist()))
    if (folded := counts[few].sum(axis=0)).any():
        yield FieldLevel(field=name, level=None, rows=tuple(folded.tolist()))


def _versions(run: Run) -> dict[str, str]:
    """Return the digest of each part of the spec, with the files it names, that may change a number."""
    sections: dict[str, Any] = run.stage("plan").read_json("spec.json")
    files: Mapping[str, str] = run.stage("plan").read_document(Plan, "plan.json").inputs
    prompt = sections.get("prompt") or {}
    asked = {key: value for key, value in prompt.items() if key not in _READING}
    split = sections | {"prompt": asked, "reading": {key: prompt.get(key) for key in _READING}}
    return parts_of(split, files, ("model", "prompt", "reading", "decision", "source", "score"))


def _software(run: Run) -> dict[str, str]:
    """Versions of what took part in scoring: numbers of both sides are made anew by one version of all else."""
    versions = run.stage("evidence").read_document(Manifest, "manifest.json").software
    live = not run.spec.model.answers_are_recorded
    return {
        name: version
        for name, version in sorted(versions.items())
        if name.startswith("scores:") or (live and name == "audit-lib")
    }


def _kept(one: CanaryAnswer) -> KeptCanary:
    return KeptCanary(
        request_digest=one.request_digest,
        status=one.status,
        score=one.score,
        label_probabilities=one.label_probabilities,
        text_sha256=None if one.text is None else sha256(one.text.encode()),
    )
