"""The manifest: every artefact of a run with its SHA-256, and what the run ended as."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final, Literal

from audit_lib.archive.attempts import attempts_until_now
from audit_lib.archive.environment import ENVIRONMENT, environment
from audit_lib.archive.layout import SEALED, complete_stages
from audit_lib.archive.record_tree import record_tree
from audit_lib.archive.salted_leaves import leaf_salts
from audit_lib.archive.software import software
from audit_lib.archive.store_record import recorded_store
from audit_lib.canonical import sha256
from audit_lib.digesting_stream import digest_of
from audit_lib.documents.environment import Environment, environment_bytes
from audit_lib.documents.evidence import SALTED_LEAVES, ListedFile, Manifest, decode_exact, sealed_bytes
from audit_lib.documents.validation import Validation
from audit_lib.errors import EvidenceError, IncompleteRunError
from audit_lib.large_file import sha256_of, size_of
from audit_lib.measure.rows.split_columns import further_fields
from audit_lib.privacy.redacted_tables import redacted_path, redacted_tables
from audit_lib.run import SUCCESS, Run, StageOutput

MANIFEST: Final = "manifest.json"
RunOutcome = Literal["complete", "validation_failed"]


def archive(run: Run) -> StageOutput:
    """Write the manifest of a run that is measured and reported, or that failed its validation.

    The stages' records and the attempts until now are listed with their digests, so that no time and no count in them
    can be changed, and no attempt taken away, without a trace. Every artefact is read again and checked against what
    its stage recorded. Two equal runs differ in their times: those of the records, of the sealing, and the report's
    pages, which print when it was made. The manifest is not signed: ``status`` says so, and whoever must rely on it
    later publishes its SHA-256 elsewhere.

    Parameters
    ----------
    run : Run
        Complete through ``report``, or through a ``validation`` that failed.

    Returns
    -------
    StageOutput
        ``manifest.json`` as canonical JSON, ``environment.json``, and ``redacted/``, which a redacted copy has in
        place of tables of rows (`audit_lib.privacy`); where rows are encrypted, ``salted_leaves.txt``; counts
        ``artefacts`` and ``bytes``.

    Raises
    ------
    IncompleteRunError
        If a stage is missing; the message names it.
    EvidenceError
        If an artefact's bytes are not those that its stage recorded, or a stage is there that the run
        can not have.
    """
    outcome, stages = _sealable(run)
    artefacts = []
    for stage in stages:
        folder = run.stage(stage)
        for name, entry in folder.success().artefacts.items():
            folder.check(name)
            artefacts.append(ListedFile(path=f"{stage}/{name}", sha256=entry.sha256, bytes=entry.bytes))
    artefacts.sort(key=lambda artefact: artefact.path)
    installed = _left_by_killed(run) or environment_bytes(environment(run, stages))
    redacted = {
        redacted_path(path): content
        for path, content in redacted_tables(run, further_fields(run.spec)).items()
    }
    tree, leaves = record_tree(run, stages, leaf_salts(run))
    manifest = Manifest(
        audit=run.key.audit,
        window=run.key.window.label,
        spec_digest=run.key.spec_digest,
        outcome=outcome,
        stages=tuple(stages),
        artefacts=tuple(artefacts),
        attempts=tuple(attempts_until_now(run)) or None,
        records=tuple(sorted((_listed(run, f"{stage}/{SUCCESS}") for stage in stages), key=_path)),
        record_tree=tree,
        environment=ListedFile(
            path=f"evidence/{ENVIRONMENT}", sha256=sha256(installed), bytes=len(installed)
        ),
        redacted=tuple(
            ListedFile(path=path, sha256=sha256_of(content), bytes=size_of(content))
            for path, content in sorted(redacted.items())
        ),
        store=recorded_store(run),
        sealed_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        software=software() | _scoring_software(run, stages),
    )
    counts = {"artefacts": len(artefacts), "bytes": sum(artefact.bytes for artefact in artefacts)}
    content, sealed_at = _as_begun(run, manifest)
    own = {path.removeprefix("evidence/"): table for path, table in redacted.items()}
    if leaves is not None:
        own[SALTED_LEAVES.removeprefix("evidence/")] = leaves
    return StageOutput(
        {MANIFEST: content, ENVIRONMENT: installed, **own}, counts, datetime.fromisoformat(sealed_at)
    )


def _path(entry: ListedFile) -> str:
    return entry.path


def _listed(run: Run, path: str) -> ListedFile:
    digest, size = digest_of(run.store, f"{run.prefix}/{path}".lstrip("/"))
    return ListedFile(path=path, sha256=digest, bytes=size)


def _left_by_killed(run: Run) -> bytes | None:
    """Return the environment that a killed sealing left, which may have been on another machine; None without one."""
    key = f"{run.stage('evidence').prefix}/{ENVIRONMENT}"
    if not run.store.exists(key):
        return None
    content = run.store.get(key)
    try:
        decode_exact(Environment, content, ENVIRONMENT, environment_bytes)
    except EvidenceError:
        return None
    return content


def _as_begun(run: Run, manifest: Manifest) -> tuple[bytes, str]:
    """Return the manifest and when it was sealed.

    Where a killed sealing left one that differs in its time, and the attempts known by then, alone: that one.
    """
    content, key = sealed_bytes(manifest), f"{run.stage('evidence').prefix}/{MANIFEST}"
    now = manifest.sealed_at or ""
    if not run.store.exists(key):
        return content, now
    left = run.store.get(key)
    try:
        found = decode_exact(Manifest, left, MANIFEST, sealed_bytes)
    except EvidenceError:
        return content, now
    same = replace(found, attempts=None, sealed_at=now) == replace(manifest, attempts=None)
    return (left, found.sealed_at) if same and found.sealed_at else (content, now)


def expected_stages(run: Run, *, failed: bool) -> list[str]:
    """Return the stage folders that a run must have, each shard of ``scores`` by itself."""
    from audit_lib.score import shards

    scores = (
        [f"scores/{shard}" for shard in shards(run)] if run.stage("variants").is_complete() else ["scores"]
    )
    before, after = (
        SEALED[: SEALED.index("scores")],
        ("validation",) if failed else ("validation", "metrics", "report"),
    )
    return [*before, *scores, *after]


def _sealable(run: Run) -> tuple[RunOutcome, list[str]]:
    stages = complete_stages(run)
    failed = (
        "validation" in stages
        and not run.stage("validation").read_document(Validation, "validation.json").success
    )
    needed = expected_stages(run, failed=failed)
    missing = [stage for stage in needed if stage not in stages]
    if missing:
        raise IncompleteRunError(
            f"{run.uri}: only a complete run, or one that failed its validation, is archived; "
            f"not complete: {', '.join(missing)}"
        )
    if unknown := sorted(set(stages) - set(needed)):
        raise EvidenceError(f"{run.uri}: {', '.join(unknown)} does not belong to this run; remove it")
    return ("validation_failed" if failed else "complete"), needed


def _scoring_software(run: Run, stages: list[str]) -> dict[str, str]:
    """Versions that the scoring shards recorded (torch, transformers): the machine there may be another."""
    found: dict[str, Any] = {}
    for stage in stages:
        if stage.startswith("scores/"):
            recorded = run.stage(stage).read_json("model.json").get("versions") or {}
            for name, text in sorted(recorded.items()):
                found.setdefault(f"scores:{name}", set()).add(str(text))
    return {name: ", ".join(sorted(texts)) for name, texts in found.items()}
