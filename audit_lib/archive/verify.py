"""Verification: is the archived evidence whole, and do the published numbers follow from it?

Three questions, asked of a run in its store or of a copy of its folder anywhere, offline:

1. Does every file have the SHA-256 that the manifest and its stage recorded, and is none missing or added?
2. Is the archived design (spec, lexicons, prompt template) the one whose digest names the run?
3. Do the plan, the variants, the validation, the metrics and the report come out again, computed here
   from the archived spec, prompts and scores?

Recorded scores come out again too; a model's are checked against the questions that the variants ask.

What this can not show: the manifest is not signed. Whoever rewrites the prompts or a model's scores AND
makes everything that follows from them again has another, consistent run, and it verifies. Against that, the
manifest's own SHA-256 (printed here) has to be published where the auditee cannot change it, and compared.
The times in the ``_SUCCESS`` records are not protected (only: no plan after the first score), ``monitor`` is
outside the manifest, and nothing here proves what the model would answer.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from audit_lib.archive.compare import compare
from audit_lib.archive.manifest import MANIFEST, SCHEMA, SEALED, expected_stages, software, stage_of
from audit_lib.archive.records_check import (
    asked,
    check_counts,
    check_order,
    check_questions,
    sampled_counts,
    scored_counts,
)
from audit_lib.canonical import canonical_json, pretty_json, sha256
from audit_lib.errors import AuditError, NotFoundError, StoreUnreachableError
from audit_lib.run import SUCCESS, Run, StageOutput
from audit_lib.store import Store, open_store

Kind = Literal["missing", "changed", "extra", "record", "manifest", "design", "recomputation"]
Recompute = Mapping[str, Callable[[Run], StageOutput]]

_RECOMPUTED: Final = {
    "plan": "audit_lib.archive.verify:_plan_again",
    "variants": "audit_lib.perturb:perturb",
    "validation": "audit_lib.validate:validate",
    "metrics": "audit_lib.measure.stage:measure",
    "report": "audit_lib.report:report",
}
_NEEDS: Final = {"validation": "great_expectations"}  # an extra that a stranger may not have
_UNSEALED: Final = ("evidence", "monitor")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that does not verify: what kind of thing, where, and how."""

    kind: Kind
    path: str
    detail: str

    def __str__(self) -> str:
        return f"{self.path}: {self.detail} [{self.kind}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What was checked, and what did not hold.

    Parameters
    ----------
    uri : str
        Where the run was read.
    audit, window, spec_digest, outcome : str
        What the manifest says it is; empty where there is no readable manifest.
    manifest_sha256 : str
        Digest of the manifest itself: compare it with the one published elsewhere.
    files : int
        Files whose digest was computed.
    recomputed : tuple of str
        Stages that were computed again.
    findings : tuple of Finding
        Empty if, and only if, the evidence verifies.
    notes : tuple of str
        What a reader should know and what is no fault.
    """

    uri: str
    audit: str = ""
    window: str = ""
    spec_digest: str = ""
    outcome: str = ""
    manifest_sha256: str = ""
    files: int = 0
    recomputed: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether everything that was checked holds."""
        return not self.findings

    def summary(self) -> str:
        """Return the result as text for a terminal."""
        verdict = "VERIFIED" if self.ok else f"NOT VERIFIED: {len(self.findings)} findings"
        lines = [
            f"{verdict}  {self.uri}",
            f"  audit {self.audit or '?'}, window {self.window or '?'}, outcome {self.outcome or '?'}",
            f"  design {self.spec_digest or '?'}",
            f"  {self.files} files hashed; computed again: {', '.join(self.recomputed) or 'nothing'}",
            f"  manifest SHA-256 {self.manifest_sha256 or '?'} (not signed: compare with the published one)",
        ]
        lines += [f"  finding: {finding}" for finding in self.findings]
        lines += [f"  note: {note}" for note in self.notes]
        lines.append("  note: monitor/ is outside the manifest: that it was removed or remade is not seen")
        return "\n".join(lines)


@dataclass(slots=True)
class _Work:
    """What the checks share while they run."""

    store: Store
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    digests: dict[str, str] = field(default_factory=dict)  # of the files that are there
    sizes: dict[str, int] = field(default_factory=dict)
    recomputed: list[str] = field(default_factory=list)

    def find(self, kind: Kind, path: str, detail: str) -> None:
        self.findings.append(Finding(kind=kind, path=path, detail=detail))


def verify(uri: str, *, recompute: Recompute | None = None) -> Verification:
    """Verify an archived run.

    Parameters
    ----------
    uri : str
        The run's URI, or a copy of its folder under any name (path, ``file://`` or ``s3://``).
    recompute : mapping of str to callable, optional
        Stage folder -> function that makes its artefacts again. Default: the stages of this library.

    Returns
    -------
    Verification
        With findings, never an exception, for whatever is wrong with the evidence itself.

    Raises
    ------
    NotFoundError
        If there is no run at `uri` at all.
    StoreError
        If the store cannot be read.
    """
    store = open_store(uri.rstrip("/") or "/")
    paths = store.list("")
    if f"evidence/{MANIFEST}" not in paths and f"plan/{SUCCESS}" not in paths:
        raise NotFoundError(
            f"{uri}: no audit run here; expected plan/{SUCCESS} and evidence/{MANIFEST} in it"
        )
    work = _Work(store)
    for path in paths:
        work.digests[path], work.sizes[path] = _digest(store, path)
    manifest = _manifest(work)
    _check_files(work, manifest)
    _check_records(work, manifest)
    run = _open(work, uri, manifest)
    if run is not None:
        _check_outcome(work, run, manifest)
        shards = sorted({stage_of(path) for path in work.digests if path.startswith("scores/")})
        check_order(run, shards, lambda path, detail: work.find("record", path, detail))
        if recompute is None:
            _check_scores(work, run, shards, manifest)
        _recompute(work, run, manifest, recompute)
    _note_software(work, manifest)
    return Verification(
        uri=uri,
        audit=str(manifest.get("audit", "")),
        window=str(manifest.get("window", "")),
        spec_digest=str(manifest.get("spec_digest", "")),
        outcome=str(manifest.get("outcome", "")),
        manifest_sha256=work.digests.get(f"evidence/{MANIFEST}", ""),
        files=len(work.digests),
        recomputed=tuple(work.recomputed),
        findings=tuple(work.findings),
        notes=tuple(work.notes),
    )


def _digest(store: Store, path: str) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    with store.open(path) as stream:
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
            size += len(chunk)
    return digest.hexdigest(), size


def _manifest(work: _Work) -> dict[str, Any]:
    path = f"evidence/{MANIFEST}"
    if path not in work.digests:
        work.find("missing", path, "the run was never archived, or its manifest is gone")
        return {}
    content = work.store.get(path)
    try:
        manifest = json.loads(content)
        listed = [(entry["path"], entry["sha256"], entry["bytes"]) for entry in manifest["artefacts"]]
        if manifest["schema"] != SCHEMA or canonical_json(manifest) != content:
            work.find("manifest", path, f"is not canonical JSON of schema {SCHEMA}")
    except (ValueError, KeyError, TypeError):
        work.find("manifest", path, f"is not a manifest of schema {SCHEMA}")
        return {}
    names = [name for name, _, _ in listed]
    if names != sorted(set(names)):
        work.find("manifest", path, "lists an artefact twice, or not in order")
    for name, _, size in listed:
        if work.sizes.get(name, size) != size:
            work.find("manifest", path, f"says that {name} has {size} bytes; it has {work.sizes[name]}")
    return dict(manifest)


def _listed(manifest: Mapping[str, Any]) -> dict[str, str]:
    return {str(entry["path"]): str(entry["sha256"]) for entry in manifest.get("artefacts", ())}


def _check_files(work: _Work, manifest: Mapping[str, Any]) -> None:
    """Files against the manifest, both ways."""
    if not manifest:
        return
    listed = _listed(manifest)
    for path, digest in listed.items():
        if path not in work.digests:
            work.find("missing", path, "the manifest lists it, and it is not there")
        elif work.digests[path] != digest:
            work.find("changed", path, f"SHA-256 is {work.digests[path]}, the manifest says {digest}")
    stages = {stage_of(path) for path in listed}
    for path in work.digests:
        folder = path.split("/")[0]
        if "/" not in path or folder not in (*SEALED, *_UNSEALED):
            work.notes.append(f"{path}: not part of the evidence; ignored")
        elif folder in SEALED and path not in listed and path != f"{stage_of(path)}/{SUCCESS}":
            work.find("extra", path, "the manifest does not list it")
        elif folder in SEALED and stage_of(path) not in stages:
            work.find("extra", path, "the manifest does not know this stage")


def _check_records(work: _Work, manifest: Mapping[str, Any]) -> None:
    """Each stage's ``_SUCCESS`` against the files, the manifest, and what else is in its folder."""
    listed = _listed(manifest)
    stages = {stage_of(path) for path in listed}
    stages |= {path.removesuffix(f"/{SUCCESS}") for path in work.digests if path.endswith(f"/{SUCCESS}")}
    if any(path.startswith("monitor/") for path in work.digests) and "monitor" not in stages:
        work.notes.append("monitor: was not finished; it is no part of the sealed evidence")
    for stage in sorted(stages | {"evidence"}):
        path = f"{stage}/{SUCCESS}"
        if path not in work.digests:
            work.find("missing", path, "the stage has no record of what it wrote")
            continue
        try:
            artefacts = json.loads(work.store.get(path))["artefacts"]
            recorded = {f"{stage}/{name}": str(entry["sha256"]) for name, entry in artefacts.items()}
        except (ValueError, KeyError, TypeError, AttributeError):
            work.find("record", path, "is not a stage's record")
            continue
        present = {p: d for p, d in work.digests.items() if stage_of(p) == stage and p != path}
        for name in sorted(recorded.keys() | present.keys()):
            if name not in present:
                if name not in listed:  # else it is reported already
                    work.find("missing", name, "the stage's record lists it, and it is not there")
            elif name not in recorded:
                if name in listed or stage in _UNSEALED:
                    work.find("extra", name, "the stage's record does not list it")
            elif recorded[name] != present[name]:
                work.find("record", name, f"SHA-256 is {present[name]}, the stage recorded {recorded[name]}")


def _open(work: _Work, uri: str, manifest: Mapping[str, Any]) -> Run | None:
    """Open the run, checking that its design is the one that its digest names."""
    try:
        run = Run.from_bundle(uri.rstrip("/") or "/")
        inputs = {
            path.removeprefix("plan/inputs/"): digest
            for path, digest in work.digests.items()
            if path.startswith("plan/inputs/")
        }
        content = work.store.get("plan/spec.json")
    except StoreUnreachableError:
        raise
    except AuditError as error:
        work.find("design", "plan", f"the plan cannot be read, so nothing was computed again: {error}")
        return None
    except Exception as error:  # noqa: BLE001 - a stranger's bytes may cause anything
        work.find(
            "design",
            "plan",
            f"the plan cannot be read, so nothing was computed again ({type(error).__name__})",
        )
        return None
    # From the archived bytes, not through AuditSpec: a later version of it may know further keys.
    digest = sha256(content + canonical_json(inputs))
    if digest != run.key.spec_digest:
        work.find(
            "design", "plan/spec.json", f"spec and inputs have the digest {digest}, not {run.key.spec_digest}"
        )
    if pretty_json(json.loads(content)) != content:
        work.find("design", "plan/spec.json", "was not written by this library")
    if run.spec.audit != run.key.audit:
        work.find("design", "plan/plan.json", "names another audit than its spec")
    said = {"audit": run.key.audit, "window": run.key.window.label, "spec_digest": run.key.spec_digest}
    for name, value in said.items():
        if manifest and manifest.get(name) != value:
            work.find("manifest", f"evidence/{MANIFEST}", f"its {name} is not that of the plan")
    return run


def _check_outcome(work: _Work, run: Run, manifest: Mapping[str, Any]) -> None:
    """Outcome and stages against what the validation says and how the scoring was cut."""
    if not manifest:
        return
    path = f"evidence/{MANIFEST}"
    try:
        failed = not run.stage("validation").read_json("validation.json")["success"]
        needed = expected_stages(run, failed=failed)
    except StoreUnreachableError:
        raise
    except Exception as error:  # noqa: BLE001 - a stranger's bytes may cause anything
        work.find("manifest", path, f"the outcome cannot be checked ({type(error).__name__})")
        return
    if manifest.get("outcome") != ("validation_failed" if failed else "complete"):
        work.find("manifest", path, "its outcome is not what the validation says")
    if manifest.get("stages") != needed or {stage_of(name) for name in _listed(manifest)} != set(needed):
        work.find("manifest", path, f"its stages are not those of such a run: {', '.join(needed)}")


def _recompute(work: _Work, run: Run, manifest: Mapping[str, Any], functions: Recompute | None) -> None:
    present = {stage_of(path) for path in (*work.digests, *_listed(manifest))}
    for stage in (name for name in (_RECOMPUTED if functions is None else functions) if name in present):
        library = _NEEDS.get(stage)
        if functions is None and library is not None and importlib.util.find_spec(library) is None:
            work.notes.append(f"{stage} was not computed again: {library} is not installed")
            continue
        try:
            function = functions[stage] if functions is not None else _resolve(_RECOMPUTED[stage])
            output = function(run)
        except StoreUnreachableError:
            raise
        except AuditError as error:
            work.find("recomputation", stage, f"cannot be computed again: {error}")
            continue
        except Exception as error:  # noqa: BLE001 - a stranger's bytes may cause anything
            work.find("recomputation", stage, f"cannot be computed again ({type(error).__name__})")
            continue
        work.recomputed.append(stage)
        if functions is None:
            check_counts(run, stage, output.counts, lambda path, detail: work.find("record", path, detail))
        _compare(work, stage, output, manifest)


def _check_scores(work: _Work, run: Run, shards: list[str], manifest: Mapping[str, Any]) -> None:
    """Scores against the archived questions; recorded ones are made again, they need no model."""
    from audit_lib.score import score_shard

    def find(path: str, detail: str) -> None:
        work.find("record", path, detail)

    stage = "scores"
    try:
        check_counts(run, "sample", sampled_counts(run), find)
        questions = asked(run)
        for stage in shards:
            scores = run.stage(stage).read_table("scores.parquet")
            check_counts(run, stage, scored_counts(scores), find)
            check_questions(
                scores,
                questions,
                f"{stage}/scores.parquet",
                lambda path, detail: work.find("recomputation", path, detail),
            )
            if run.spec.model.backend == "recorded":
                _compare(work, stage, score_shard(run, int(stage.split("/")[1])), manifest)
    except StoreUnreachableError:
        raise
    except AuditError as error:
        work.find("recomputation", stage, f"cannot be checked: {error}")
    except Exception as error:  # noqa: BLE001 - a stranger's bytes may cause anything
        work.find("recomputation", stage, f"cannot be checked ({type(error).__name__})")
    else:
        if run.spec.model.backend == "recorded":
            work.recomputed.append("scores")


def _compare(work: _Work, stage: str, output: StageOutput, manifest: Mapping[str, Any]) -> None:
    made = {f"{stage}/{name}" for name in output.artefacts}
    for path in sorted(path for path in _listed(manifest) if stage_of(path) == stage and path not in made):
        work.find("recomputation", path, "does not follow from the evidence")
    for name, content in sorted(output.artefacts.items()):
        path = f"{stage}/{name}"
        if path not in work.digests:
            work.find("recomputation", path, "follows from the evidence, and is not there")
        elif work.digests[path] != sha256(content):
            _report_difference(work, path, content)


def _report_difference(work: _Work, path: str, recomputed: bytes) -> None:
    try:
        difference = compare(path, work.store.get(path), recomputed)
    except (ValueError, OSError) as error:
        work.find("recomputation", path, f"cannot be read ({type(error).__name__})")
        return
    if difference is None:
        return
    for text in difference.exceeds:
        work.find("recomputation", path, text)
    if not difference.exceeds and not difference.numbers:
        work.notes.append(f"{path}: the same rows come out again, in other bytes (another writer version)")
    if difference.numbers:
        work.notes.append(
            f"{path}: {difference.numbers} numbers computed here differ in their last digits, by at most "
            f"{difference.largest:.1g} of their size (another processor or library does that)"
        )


def _plan_again(run: Run) -> StageOutput:
    from audit_lib.plan import plan

    return plan(run, {key: run.design_file(key) for key in run.spec.design_files()})


def _resolve(function: str) -> Callable[[Run], StageOutput]:
    module, name = function.split(":")
    found: Callable[[Run], StageOutput] = getattr(importlib.import_module(module), name)
    return found


def _note_software(work: _Work, manifest: Mapping[str, Any]) -> None:
    recorded, here = manifest.get("software") or {}, software()
    other = [
        f"{name} {recorded[name]} there, {here[name]} here"
        for name in sorted(here)
        if recorded.get(name, here[name]) != here[name]
    ]
    if other:
        work.notes.append(f"the software differs: {'; '.join(other)}")
