"""Sealing what failed: a stage of a run, or a run that could not even be opened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from audit_lib.archive.attempts import FOLDER, RECORD, fault_of, outcome_of, seal, start
from audit_lib.digesting_stream import digest_of
from audit_lib.documents.evidence import AttemptFault, AttemptOutcome
from audit_lib.errors import AuditError, SpecError
from audit_lib.journal import enter
from audit_lib.run import Run, RunKey, locking
from audit_lib.spec import load_spec
from audit_lib.store import open_store
from audit_lib.window import Window


def seal_failure(
    run: Run, number: int, faults: Sequence[AttemptFault], outcome: AttemptOutcome = "failed"
) -> bool:
    """Seal a failed attempt and say where; return whether it could be. What failed first is for the caller to raise."""
    try:
        seal(run, number, faults, outcome)
        record = f"{run.stage(f'{FOLDER}/{number}').prefix}/{RECORD}"
        digest, _ = digest_of(run.store, record)
        enter(run.store, run.key, number, "failed", outcome=outcome, sealed_sha256=digest)
    except (AuditError, OSError) as error:
        run.notify(f"WARNING: the failed attempt could not be sealed: {error}")
        return False
    run.notify(f"attempt {number} {outcome}; its record is sealed in {run.uri}/{FOLDER}/{number}")
    return True


def is_sealed(run: Run) -> bool:
    """Whether the run's evidence is there; not, where the store cannot say so."""
    try:
        return run.stage("evidence").is_complete()
    except (AuditError, OSError):
        return False


def seal_refusal(run: Run, stage: str, error: BaseException, by: str) -> bool:
    """Seal an attempt that ended before its first stage; return whether it could be."""
    if is_sealed(run):
        return False
    try:
        number = start(run, by, goes_on=True)
    except (AuditError, OSError) as other:
        run.notify(f"WARNING: the failed attempt could not be sealed: {other}")
        return False
    return seal_failure(run, number, [fault_of(stage, error)], outcome_of(error))


def unopened_run(
    spec_path: str | Path,
    window: Window,
    root: str,
    *,
    sample_size: int | None = None,
    names_per_cell: int | None = None,
    notify: Callable[[str], None],
) -> Run | None:
    """Return the run of a spec that cannot be opened, so that its failed attempt has a place.

    Where a file of the design cannot be read, its digest is the spec's alone. None for a spec that cannot be
    loaded: then there is no audit that has failed.
    """
    try:
        spec = load_spec(spec_path)
        if sample_size is not None:
            spec = spec.override("sample", size=sample_size)
        if names_per_cell is not None:
            spec = spec.override("perturb", names_per_cell=names_per_cell)
    except SpecError:
        return None
    try:
        digest = spec.digest()
    except SpecError:
        digest = spec.digest({})
    return Run(spec, RunKey(spec.audit, window, digest), locking(open_store(root), spec), notify)
