"""The stage ``compare`` of a panel: the record of all its runs, and the comparison of those that are sealed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from audit_lib.archive.attempts import read_attempts
from audit_lib.canonical import pretty_json, sha256
from audit_lib.compare import VALIDITY, compare
from audit_lib.compare.output_statistics import asked_of, used_of
from audit_lib.compare.same_design import design_of
from audit_lib.documents.comparison import Comparison
from audit_lib.documents.evidence import AttemptFault
from audit_lib.documents.panel import PanelMember, PanelRecord, PanelState
from audit_lib.documents.validity import ValidityStudy
from audit_lib.errors import InputError
from audit_lib.panel.page import panel_page
from audit_lib.panel.panel_run import RECORD, PanelRun
from audit_lib.report.html import render_html
from audit_lib.run import Run, StageOutput
from audit_lib.typed_json import decode

COMPARISON: Final = "comparison.json"
PAGE: Final = "panel.html"


def compare_panel(panel: PanelRun) -> PanelRecord:
    """Write the panel's record and, of two sealed runs or more, the comparison; the same state gives no new record.

    Raises
    ------
    EvidenceError
        If an artefact of a run is not what its stage wrote.
    """
    started = datetime.now(UTC)
    members = tuple(member_of(name, run) for name, run in zip(panel.names, panel.runs, strict=True))
    sealed = [run for one, run in zip(members, panel.runs, strict=True) if one.state == "sealed"]
    made: dict[str, bytes] = {}
    design = why = None
    try:
        if len(sealed) > 1:
            made = compare(sealed)
            design = decode(Comparison, made[COMPARISON], COMPARISON).design
        else:
            why = f"{len(sealed)} of {len(members)} models have a sealed run that is valid; a comparison needs two"
            if all(run.stage("variants").is_complete() for run in panel.runs):
                design = design_of(panel.runs)
    except InputError as error:
        why = str(error)
    record = PanelRecord(
        audit=panel.key.audit,
        title=panel.title,
        window=panel.key.window.label,
        panel_digest=panel.key.spec_digest,
        design=design,
        members=members,
        comparison_sha256=sha256(made[COMPARISON]) if made else None,
        why_no_comparison=why,
    )
    content = pretty_json(record.as_dict())
    last = panel.last_number()
    if last and panel.record(last).read(RECORD) == content:
        panel.notify(f"compare/{last}: complete, skipped")
        return record
    made = panel_files(record, made)
    counts = {"models": len(members), "sealed": len(sealed), "failed": len(members) - len(sealed)}
    panel.record(last + 1).commit(StageOutput({RECORD: content, **made}, counts), started)
    panel.notify(f"compare/{last + 1}: done - models {len(members)}, sealed {len(sealed)}")
    return record


def panel_files(record: PanelRecord, compared: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return what is written next to a record: the files of `compare`, and one page of both."""
    document = study = None
    if compared:
        document = decode(Comparison, compared[COMPARISON], COMPARISON)
        study = decode(ValidityStudy, compared[VALIDITY], VALIDITY) if VALIDITY in compared else None
    kept = {name: one for name, one in compared.items() if not name.endswith(".html")}
    return {**kept, PAGE: render_html(panel_page(record, document, validity=study))}


def read_record(panel: PanelRun) -> PanelRecord | None:
    """Return the last record of a panel; None where it has none."""
    last = panel.last_number()
    if not last:
        return None
    folder = panel.record(last)
    return decode(PanelRecord, folder.read(RECORD), folder.store.uri(f"{folder.prefix}/{RECORD}"))


def member_of(name: str, run: Run) -> PanelMember:
    """Return what a record says of a model and its run."""
    model = run.spec.model
    state, faults = _state(run)
    variants = run.stage("variants")
    return PanelMember(
        name=name,
        model=model.name,
        backend=model.backend,
        revision=model.revision,
        audit=run.key.audit,
        run=run.key.prefix,
        spec_digest=run.key.spec_digest,
        state=state,
        faults=faults,
        manifest_sha256=_digest(run, "evidence", "manifest.json"),
        prompts_sha256=_digest(run, "sample", "prompts.parquet"),
        variants_sha256=_digest(run, "variants", "variants.parquet"),
        asked=asked_of(run) if variants.is_complete() else None,
        used=used_of(run) if variants.is_complete() else None,
    )


def _state(run: Run) -> tuple[PanelState, tuple[AttemptFault, ...]]:
    """Return what became of a run, and what went wrong in its last attempt."""
    if run.stage("evidence").is_complete():
        return ("sealed" if run.stage("metrics").is_complete() else "failed validation"), ()
    attempts = read_attempts(run.store, run.key.prefix)
    if not attempts or attempts[-1].outcome is None:
        return "not run", ()
    return "failed", attempts[-1].faults


def _digest(run: Run, stage: str, name: str) -> str | None:
    folder = run.stage(stage)
    if not folder.is_complete():
        return None
    entry = folder.success().artefacts.get(name)
    return None if entry is None else entry.sha256
