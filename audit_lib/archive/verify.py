"""Verification: is the archived evidence whole, and do the published numbers follow from it?

Three questions, asked of a run in its store or of a copy of its folder anywhere, offline:

1. Does every file have the SHA-256 that the manifest and its stage recorded, and is none missing or added?
2. Is the archived design (spec, lexicons, prompt template) the one whose digest names the run?
3. Do the plan, the variants, the validation, the metrics and the report come out again, computed here
   from the archived spec, prompts and scores?

Recorded scores come out again too; a model's are checked against the questions that the variants ask, and made
again from its archived answers: probabilities of labels, texts, and answers about pairs.

What this can not show: the manifest is not signed. Whoever rewrites the prompts or a model's scores AND
makes everything that follows from them again has another, consistent run, and it verifies. Against that, the
manifest's own SHA-256 (printed here) has to be published where the auditee cannot change it, and compared.
The times in the ``_SUCCESS`` records are those of the machines' own clocks. Since format 2 the manifest lists those
records; in format 1 it did not, and it is only checked that the times do not contradict each other (no stage ends
before it begins, no score is asked for before the plan, nothing ends after the evidence).
The first two cost little and are asked first (`begin_verification`); the third is asked check by check, by several
processes where a run is large (`audit_lib.archive.checks`).

What another version of this library made does not all come out again here; where its pack's or the library's version
says so, or this version refuses its design, there is no verdict (`Verification.unchecked`), and never a good one.
``monitor`` is outside the manifest, and nothing here proves what the model would answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from audit_lib.archive.attempts import FOLDER, RECORD
from audit_lib.archive.attempts_check import check_attempts, check_failed_files, sealed_by
from audit_lib.archive.bundle_digest import BundleDigest, digest_over
from audit_lib.archive.checks import REDACTED, SAMPLE, TREE, check_all
from audit_lib.archive.files_check import (
    check_files,
    check_json,
    check_records,
    listed_in,
    read_manifest,
)
from audit_lib.archive.findings import EvidenceFinding, Verification, Work
from audit_lib.archive.kept_rows_check import check_kept_rows
from audit_lib.archive.layout import SEALED, stage_of
from audit_lib.archive.lock_check import check_locks, find_later_versions
from audit_lib.archive.manifest import MANIFEST, expected_stages
from audit_lib.archive.other_versions import digest_of_design, find_other_version, find_refused
from audit_lib.archive.recompute import Recompute, recompute_stage, stages_computed_again
from audit_lib.archive.records_check import check_order
from audit_lib.archive.salted_leaves import check_kept_leaves
from audit_lib.archive.software import software
from audit_lib.archive.table_bounds import check_keys, check_tables
from audit_lib.archive.withheld_check import note_keys, read_level
from audit_lib.digesting_stream import digest_of
from audit_lib.documents.evidence import FailedAttempt, Manifest, odd_json
from audit_lib.documents.validation import Validation
from audit_lib.errors import AuditError, NotFoundError, StoreError, StoreUnreachableError
from audit_lib.progress import Progress, ignore
from audit_lib.run import SUCCESS, Run
from audit_lib.store import LocalStore
from audit_lib.store.versions import as_first_written
from audit_lib.worker_processes import processes_for

__all__ = ["EvidenceFinding", "Verification", "verify"]

_PLACE: Final = re.compile(r"[a-z][a-z0-9_]{0,63}/[0-9]{8}T[0-9]{6}Z_[0-9]{8}T[0-9]{6}Z/[0-9a-f]{16}")
"""Of a run in a store."""
_FIRST_FORMAT: Final = (
    "format 1: no digest covers the times in the records of stages; monitor/ is outside the manifest: that it was "
    "removed or remade is not seen"
)


def verify(
    uri: str,
    *,
    recompute: Recompute | None = None,
    processes: int | None = None,
    table_bytes: int | None = None,
    notify: Callable[[str], None] = ignore,
) -> Verification:
    """Verify an archived run.

    Parameters
    ----------
    uri : str
        The run's URI, or a copy of its folder under any name (path, ``file://`` or ``s3://``).
    recompute : mapping of str to callable, optional
        Stage folder -> function that makes its artefacts again. Default: the stages of this library.
    processes : int, optional
        How many compute again at once. Default: one for each processor and each GiB of memory that is free; this one
        alone for a small run. What is found does not depend on it.
    table_bytes : int, optional
        What a Parquet table may unpack to: one that is larger is a finding, and nothing is computed again. Default:
        1 GiB, or 200 times its size where that is more.
    notify : callable, optional
        Told how far it is.

    Returns
    -------
    Verification
        With findings, never an exception, for all that is wrong with the evidence itself.

    Raises
    ------
    NotFoundError
        If there is no run at `uri` at all.
    StoreError
        If the store cannot be read.
    """
    return begin_verification(uri, notify, table_bytes).finish(recompute, processes, notify)


def begin_verification(
    uri: str, notify: Callable[[str], None] = ignore, table_bytes: int | None = None
) -> BegunVerification:
    """Check what costs little: every file's digest, the manifest, the records of stages and attempts, and times.

    `table_bytes` is as `verify` takes it.

    Raises
    ------
    NotFoundError
        If there is no run at `uri` at all.
    StoreError
        If the store cannot be read.
    """
    store, blind = as_first_written(uri.rstrip("/") or "/")
    paths = store.list("")
    if not paths and Path(uri).is_file():
        raise NotFoundError(
            f"{uri}: is a file, and a run is a folder; `audit import` unpacks a bag, and `verify.pyz` reads it as it is"
        )
    if not any(path.split("/")[0] in (*SEALED, "evidence", FOLDER) for path in paths):
        raise NotFoundError(
            f"{uri}: no audit run here; expected plan/{SUCCESS} and evidence/{MANIFEST} in it"
        )
    work = Work(store, notes=[f"store: {blind}"] if blind else [])
    _hash_files(work, paths, notify)
    whole = digest_over(work.digests, work.sizes)
    read_level(work)
    find_later_versions(work)
    check_locks(work)
    manifest, failed = _manifest(work)
    check_json(work)
    bounded = check_keys(work, table_bytes)
    planned = failed is None or f"plan/{SUCCESS}" in work.digests
    run = _open(work, uri, manifest) if planned and bounded else None
    there = {stage_of(path) for path in work.digests}
    if run is not None:
        note_keys(work, run)
        bounded = check_tables(work, table_bytes)
        if failed is None and work.level != "digests" and bounded:
            _check_outcome(work, run, manifest)
        elif failed is not None:
            there &= set(failed.stages)
        timed = sorted(stage for stage in there if stage.split("/")[0] in (*SEALED, "evidence"))
        check_order(run, timed, lambda path, detail: work.find("record", path, detail))
    return BegunVerification(uri, work, whole, manifest, failed, run, there, bounded)


@dataclass(frozen=True, slots=True)
class BegunVerification:
    """A run whose files, records and times were checked, and of which nothing was computed again yet.

    Parameters
    ----------
    uri : str
        Where it is.
    work : Work
        What was found until now.
    whole : BundleDigest
        Over all files.
    manifest : Manifest or None
        What was sealed, if it can be read.
    failed : FailedAttempt or None
        The record of the last attempt where that failed and nothing was archived.
    run : Run or None
        None where its plan cannot be read.
    there : set of str
        Stages that are there.
    bounded : bool
        Whether its tables may be read, by what they unpack to.
    """

    uri: str
    work: Work
    whole: BundleDigest
    manifest: Manifest | None
    failed: FailedAttempt | None
    run: Run | None
    there: set[str]
    bounded: bool

    def finish(
        self,
        recompute: Recompute | None = None,
        processes: int | None = None,
        notify: Callable[[str], None] = ignore,
    ) -> Verification:
        """Compute again what can be, and return all that was found; the parameters are those of `verify`.

        Raises
        ------
        StoreError
            If the store cannot be read any more.
        """
        work, manifest, failed = self.work, self.manifest, self.failed
        if self.run is not None and self.bounded:
            if processes is None:
                processes = processes_for(self.whole.bytes)
            self._compute(self.run, recompute, processes, notify)
            find_other_version(work, self.run, manifest)
        elif self.run is None and failed is not None and self.bounded:
            work.notes.append("there was no plan yet, so there is nothing to compute again")
        _note_software(work, manifest)
        _check_place(work, self.uri, manifest)
        if failed is None and manifest is not None and manifest.is_first_format:
            work.notes.append(_FIRST_FORMAT)
        return Verification(
            uri=self.uri,
            audit="" if manifest is None else manifest.audit,
            window="" if manifest is None else manifest.window,
            spec_digest="" if manifest is None else manifest.spec_digest,
            outcome="" if manifest is None else manifest.outcome,
            failed="" if failed is None else _why(failed),
            manifest_sha256=work.digests.get(_manifest_path(failed), ""),
            files=len(work.digests) - len(work.withheld),
            bytes=self.whole.bytes,
            bundle_sha256=self.whole.sha256,
            recomputed=tuple(work.recomputed),
            level=work.level,
            withheld=len(work.withheld),
            encrypted=work.encrypted,
            not_recomputable=_untraced(work, manifest),
            unrecomputed=tuple(work.unrecomputed),
            not_computed=recompute is not None and not recompute,
            findings=tuple(work.findings),
            notes=tuple(work.notes),
        )

    def _compute(
        self, run: Run, recompute: Recompute | None, processes: int, notify: Callable[[str], None]
    ) -> None:
        """Scores, and all that can be computed again."""
        work, manifest, failed = self.work, self.manifest, self.failed
        shards = sorted(stage for stage in self.there if stage.startswith("scores/"))
        names: list[str] = []
        if work.readable != "full":
            work.unrecomputed += ["scores"]
            if recompute is None and failed is None:
                check_kept_leaves(work, run, manifest)
            if recompute is None and work.level == "full" and failed is None:
                work.followed = check_kept_rows(work, run, shards, manifest)
        elif recompute is None and (failed is None or shards):
            names = [SAMPLE, *shards, TREE] + ([REDACTED] if failed is None else [])
        present = self.there | {stage_of(path) for path in listed_in(manifest)}
        stages = stages_computed_again(recompute, present)
        if recompute is not None:
            for stage in stages:
                notify(f"verify: {stage} is computed again")
                recompute_stage(work, run, manifest, stage, recompute)
            return
        check_all(work, run, manifest, [*names, *stages], uri=self.uri, processes=processes, notify=notify)


def _hash_files(work: Work, paths: Sequence[str], notify: Callable[[str], None]) -> None:
    progress = Progress("verify: files hashed", len(paths), notify)
    for path in paths:
        try:
            work.digests[path], work.sizes[path] = digest_of(work.store, path)
        except StoreUnreachableError:
            raise
        except NotFoundError:
            pass  # a link that leads nowhere, or a pipe: the file is missing
        except StoreError:
            work.find("missing", path, "cannot be read")
        progress.one_more()
    if isinstance(work.store, LocalStore):
        for path, why in work.store.odd():
            work.find("extra", path, why)


def _manifest(work: Work) -> tuple[Manifest | None, FailedAttempt | None]:
    """Return what the manifest says, or the record of the last attempt where that failed and nothing was archived."""
    if f"evidence/{MANIFEST}" not in work.digests and f"evidence/{SUCCESS}" not in work.digests:
        failed = check_attempts(work, None)
        if failed is not None:
            check_failed_files(work, failed)
            sealed = sealed_by(failed)
            check_records(work, sealed, sealed=False)
            return sealed, failed
        manifest = read_manifest(work)
    else:
        manifest = read_manifest(work)
        check_attempts(work, manifest)
    check_files(work, manifest)
    check_records(work, manifest)
    return manifest, None


def _manifest_path(failed: FailedAttempt | None) -> str:
    return f"evidence/{MANIFEST}" if failed is None else f"{FOLDER}/{failed.number}/{RECORD}"


def _why(failed: FailedAttempt) -> str:
    first = failed.faults[0]
    return f"attempt {failed.number} {failed.outcome} in {first.stage}: {first.type}: {first.message}"


def _open(work: Work, uri: str, manifest: Manifest | None) -> Run | None:
    """Open the run, checking that its design is the one that its digest names."""
    try:
        run = Run.from_bundle(uri.rstrip("/") or "/", store=work.store)
        content, digest = work.store.get("plan/spec.json"), digest_of_design(work)
    except StoreUnreachableError:
        raise
    except AuditError as error:
        if not find_refused(work, manifest, error):
            work.find("design", "plan", f"the plan cannot be read, so nothing was computed again: {error}")
        return None
    except Exception as error:  # noqa: BLE001 - a stranger's bytes may cause anything
        work.find_error("design", "plan", "the plan cannot be read, so nothing was computed again", error)
        return None
    if digest != run.key.spec_digest:
        work.find(
            "design", "plan/spec.json", f"spec and inputs have the digest {digest}, not {run.key.spec_digest}"
        )
    if odd := odd_json(content):
        work.find("design", "plan/spec.json", odd)
    if run.spec.audit != run.key.audit:
        work.find("design", "plan/plan.json", "names another audit than its spec")
    said = {"audit": run.key.audit, "window": run.key.window.label, "spec_digest": run.key.spec_digest}
    for name, value in said.items():
        if manifest is not None and getattr(manifest, name) != value:
            work.find("manifest", f"evidence/{MANIFEST}", f"its {name} is not that of the plan")
    return run


def _check_outcome(work: Work, run: Run, manifest: Manifest | None) -> None:
    """Outcome and stages against what the validation says and how the scoring was cut."""
    if manifest is None:
        return
    path = f"evidence/{MANIFEST}"
    try:
        failed = not run.stage("validation").read_document(Validation, "validation.json").success
        needed = expected_stages(run, failed=failed)
    except StoreUnreachableError:
        raise
    except Exception as error:  # noqa: BLE001 - a stranger's bytes may cause anything
        work.find_error("manifest", path, "the outcome cannot be checked", error)
        return
    if manifest.outcome != ("validation_failed" if failed else "complete"):
        work.find("manifest", path, "its outcome is not what the validation says")
    if list(manifest.stages) != needed or {stage_of(name) for name in listed_in(manifest)} != set(needed):
        work.find("manifest", path, f"its stages are not those of such a run: {', '.join(needed)}")


def _check_place(work: Work, uri: str, manifest: Manifest | None) -> None:
    """A run may be copied anywhere, but to the place of another run."""
    place = "/".join(uri.rstrip("/").split("/")[-3:])
    if manifest is None or not _PLACE.fullmatch(place):
        return
    if place != (own := f"{manifest.audit}/{manifest.window}/{manifest.spec_digest[:16]}"):
        work.find("manifest", f"evidence/{MANIFEST}", f"is of {own}, and lies in the place of {place}")


def _untraced(work: Work, manifest: Manifest | None) -> int:
    """Count the score records of a copy whose texts are withheld."""
    if work.readable == "full" or manifest is None or manifest.record_tree is None:
        return 0
    return manifest.record_tree.records - work.followed


def _note_software(work: Work, manifest: Manifest | None) -> None:
    recorded, here = {} if manifest is None else manifest.software, software()
    other = [
        f"{name} {recorded[name]} there, {here[name]} here"
        for name in sorted(here)
        if recorded.get(name, here[name]) != here[name]
    ]
    if other:
        work.notes.append(f"the software differs: {'; '.join(other)}")
