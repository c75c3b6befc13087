"""A run's files: their digests against the manifest, the records of the stages, and the records of attempts."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from verifier.documents import LaterError, attempt_record, decode, manifest_document, stage_record, started
from verifier.findings import Verdict
from verifier.privacy import withhold
from verifier.record_tree import SALTED_LEAVES, check_root
from verifier.shapes import instant
from verifier.source import Source
from verifier.strict_json import LARGEST, OddError, is_as_written, read

SEALED = ("plan", "sample", "variants", "scores", "validation", "metrics", "report")
SUCCESS, STARTED, MANIFEST = "_SUCCESS", "_STARTED", "evidence/manifest.json"
_NUMBERED = ("scores/", "signoff/", "attempts/")
_ATTEMPT = re.compile(r"attempts/([1-9][0-9]{0,8})/(_STARTED|manifest\.json|_SUCCESS)")
_SIGNED = re.compile(r"signoff/[1-9][0-9]*/.+|rejection/[^/]+")
_CHECKED_ELSEWHERE = re.compile(
    r"signatures/(?:plan|result)\.(?:dsse\.json|pub|tsr|sigstore\.json|receipt\.cbor)|journal\.jsonl|privacy\.json|store/lock\.json"
)
_OF_FILE_MANAGERS = (".DS_Store", "Thumbs.db", "desktop.ini")
_COUNTS = {
    "evidence": {"artefacts", "bytes"},
    "monitor": {"compared", "exceeding"},
    "signoff": {"statements"},
    "rejection": {"statements"},
    "attempts": {"artefacts"},
}


def stage_of(path: str) -> str:
    """Return the folder of the stage that a path lies in."""
    return "/".join(path.split("/")[: 2 if path.startswith(_NUMBERED) else 1])


class Files:
    """A run's files with their digests, and what is found of them."""

    def __init__(self, source: Source, verdict: Verdict) -> None:
        self.source, self.verdict = source, verdict
        self.digests: dict[str, str] = {}
        for path in sorted(source.sizes):
            digest = hashlib.sha256()
            for piece in source.pieces(path):
                digest.update(piece)
            self.digests[path] = digest.hexdigest()
        self.sizes = dict(source.sizes)
        for path, why in source.odd:
            verdict.find("extra", path, why)
        self.withheld: set[str] = set()
        """Files that a copy was handed on without: their digests and sizes are those that the manifest says."""

    def __contains__(self, path: str) -> bool:
        return path in self.digests

    def read(self, path: str) -> bytes:
        """Return a file."""
        return self.source.read(path)

    def json(self, path: str) -> Any:
        """Return a JSON document, or raise `OddError`."""
        if path not in self.digests or path in self.withheld:
            raise OddError("is not there")
        return read(self.source.read(path))

    def below(self, folder: str) -> list[str]:
        """Return the paths in a folder, sorted."""
        return sorted(path for path in self.digests if path.startswith(f"{folder}/"))

    def is_same(self, entry: dict[str, Any]) -> bool:
        """Whether a file is the one that an entry of a list says."""
        path = entry["path"]
        return (self.digests.get(path), self.sizes.get(path)) == (entry["sha256"], entry["bytes"])

    def record(self, stage: str) -> dict[str, Any] | None:
        """Return the record of a stage; None where it is not there or none, which is found elsewhere."""
        try:
            return decode(stage_record, self.read(f"{stage}/{SUCCESS}"))
        except (OddError, KeyError):
            return None


def check_files(files: Files) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Check all files; return the manifest, and the record of the last attempt where that failed instead."""
    withhold(files)
    if MANIFEST not in files and f"evidence/{SUCCESS}" not in files:
        failed = _check_attempts(files, None)
        if failed is not None:
            _check_left(files, failed)
            sealed = _sealed_by(failed)
            _check_records(files, sealed, sealed=False)
            _check_json(files)
            return sealed, failed
    manifest = _manifest(files)
    _check_attempts(files, manifest)
    if manifest is not None:
        _check_listed_files(files, manifest)
    _check_records(files, manifest, sealed=True)
    _check_json(files)
    return manifest, None


def _manifest(files: Files) -> dict[str, Any] | None:
    find = files.verdict.find
    if MANIFEST not in files:
        find("missing", MANIFEST, "the run was never sealed, or its manifest is gone")
        return None
    try:
        manifest = decode(manifest_document, files.read(MANIFEST))
    except LaterError as error:
        raise LaterError(f"{MANIFEST}: {error}") from None
    except OddError as error:
        find("manifest", MANIFEST, f"is not a manifest: {error}")
        return None
    names = [entry["path"] for entry in manifest["artefacts"]]
    if names != sorted(set(names)):
        find("manifest", MANIFEST, "lists a file twice, or not in order")
    return manifest


def _check_listed_files(files: Files, manifest: dict[str, Any]) -> None:
    find = files.verdict.find
    listed = {entry["path"]: entry for entry in manifest["artefacts"]}
    for path, entry in listed.items():
        if path not in files:
            find("missing", path, "the manifest lists it, and it is not there")
        elif files.digests[path] != entry["sha256"]:
            find("changed", path, f"SHA-256 is {files.digests[path]}, the manifest says {entry['sha256']}")
        elif files.sizes[path] != entry["bytes"]:
            find("manifest", MANIFEST, f"says that {path} has {entry['bytes']} bytes")
    for entry in manifest.get("records", ()):
        if entry["path"] in files and not files.is_same(entry):
            find("changed", entry["path"], "is not the record that the manifest lists")
    said = [entry["path"] for entry in manifest.get("records", ())]
    if "records" in manifest and said != sorted(f"{stage}/{SUCCESS}" for stage in manifest["stages"]):
        find("manifest", MANIFEST, "the records that it lists are not those of its stages")
    for key, path in (("environment", "evidence/environment.json"), ("store", "store/lock.json")):
        if key in manifest:
            _check_document(files, manifest[key], path)
        elif path in files and path.startswith("store/"):
            find("extra", path, "the manifest does not list it")
    _check_entries(files, manifest.get("redacted", ()), "the manifest")
    _check_leaves(files, manifest.get("record_tree", {}))
    stages = {stage_of(path) for path in listed}
    for path in files.digests:
        folder = path.split("/")[0]
        if folder == "attempts":
            continue
        if folder == "monitor" and "records" in manifest:
            find("extra", path, "a run of this format has no such folder")
        elif _SIGNED.fullmatch(path):
            continue
        elif "/" not in path or folder not in (*SEALED, "evidence", "monitor"):
            _check_stray(files, path)
        elif folder in SEALED and path not in listed and path != f"{stage_of(path)}/{SUCCESS}":
            find("extra", path, "the manifest does not list it")
        elif folder in SEALED and stage_of(path) not in stages:
            find("extra", path, "the manifest does not know this stage")


def _check_leaves(files: Files, tree: dict[str, Any]) -> None:
    """The root of the tree of records against the leaves, where they are listed."""
    if "salted_leaves" not in tree:
        return
    if not _is_encrypted(files):
        files.verdict.find(
            "manifest",
            SALTED_LEAVES,
            "is in a run whose rows are not encrypted, so that nothing salts leaves",
        )
    _check_document(files, tree["salted_leaves"], SALTED_LEAVES)
    if SALTED_LEAVES in files and files.is_same({**tree["salted_leaves"], "path": SALTED_LEAVES}):
        try:
            check_root(files.read(SALTED_LEAVES), tree)
        except OddError as error:
            files.verdict.find("manifest", SALTED_LEAVES, str(error))
            return
        count = tree["applications"]
        files.verdict.notes.append(
            f"the root of the tree of records follows from its {count} leaves; whose they are was not checked"
        )


def _is_encrypted(files: Files) -> bool:
    try:
        spec = files.json("plan/spec.json")
        return bool(spec["privacy"]["keys"] == "applicant")
    except (OddError, KeyError, TypeError):
        return False


def _check_document(files: Files, entry: dict[str, Any], path: str) -> None:
    if path not in files:
        files.verdict.find("missing", path, "the manifest lists it, and it is not there")
    elif entry["path"] != path or not files.is_same(entry):
        files.verdict.find("changed", path, "is not the file that the manifest lists")


def _check_stray(files: Files, path: str) -> None:
    if _CHECKED_ELSEWHERE.fullmatch(path):
        return
    if path.rsplit("/", 1)[-1] in _OF_FILE_MANAGERS:
        files.verdict.notes.append(f"{path}: not part of the evidence; ignored")
    else:
        files.verdict.find("extra", path, "is no part of the evidence: nothing lists it and nobody signed it")


def _check_json(files: Files) -> None:
    for path in files.digests:
        ours = path.split("/")[0] in (*SEALED, "evidence", "monitor", "store") and "/inputs/" not in path
        if not (ours and path.endswith(".json")) or path in files.withheld:
            continue
        if files.sizes[path] > LARGEST:
            files.verdict.find("record", path, f"is larger than {LARGEST >> 20} MiB; it is not read")
            continue
        content = files.read(path)
        try:
            if not is_as_written(content, read(content)):
                raise OddError("holds its values in other bytes than the library writes")
        except OddError as error:
            files.verdict.find("record", path, str(error))


def _check_records(files: Files, manifest: dict[str, Any] | None, *, sealed: bool) -> None:
    """Each stage's record against its files."""
    find = files.verdict.find
    listed = {entry["path"] for entry in (manifest or {"artefacts": ()})["artefacts"]}
    stages = {stage_of(path) for path in listed} | ({"evidence"} if sealed else set())
    stages |= {path[: -len(SUCCESS) - 1] for path in files.digests if path.endswith(f"/{SUCCESS}")}
    for stage in sorted(stages):
        path = f"{stage}/{SUCCESS}"
        if path not in files:
            find("missing", path, "the stage has no record of what it wrote")
            continue
        try:
            record = decode(stage_record, files.read(path))
        except OddError as error:
            find("record", path, f"is not a stage's record: {error}")
            continue
        kind = stage.split("/")[0]
        if kind in _COUNTS and not set(record["counts"]) <= _COUNTS[kind]:
            find("record", path, "counts what is not counted there")
        if stage == "evidence" and manifest is not None:
            _check_sealing(files, record, manifest)
        if kind not in (*SEALED, "evidence") and not _has_times(record):
            find("record", path, "has no times")
        _check_recorded(files, stage, record, listed)


def _check_recorded(files: Files, stage: str, record: dict[str, Any], listed: set[str]) -> None:
    find, path = files.verdict.find, f"{stage}/{SUCCESS}"
    started_file = f"{stage}/{STARTED}" if stage.startswith("attempts/") else ""
    present = {p for p in files.digests if stage_of(p) == stage and p not in (path, started_file)}
    recorded = {f"{stage}/{name}": entry for name, entry in record["artefacts"].items()}
    for name in sorted(set(recorded) | present):
        if name not in present:
            if name not in listed:
                find("missing", name, "the stage's record lists it, and it is not there")
        elif name not in recorded:
            if name in listed or stage in ("evidence", "monitor"):
                find("extra", name, "the stage's record does not list it")
        elif recorded[name]["sha256"] != files.digests[name]:
            find("record", name, f"SHA-256 is {files.digests[name]}, {path} says another")
        elif recorded[name]["bytes"] != files.sizes[name]:
            find("record", path, f"says that {name} has {recorded[name]['bytes']} bytes")


def _has_times(record: dict[str, Any]) -> bool:
    try:
        instant(record["started_at"], "")
        instant(record["finished_at"], "")
    except OddError:
        return False
    return True


def _check_sealing(files: Files, record: dict[str, Any], manifest: dict[str, Any]) -> None:
    find, path = files.verdict.find, f"evidence/{SUCCESS}"
    artefacts = manifest["artefacts"]
    if record["counts"] != {"artefacts": len(artefacts), "bytes": sum(one["bytes"] for one in artefacts)}:
        find("record", path, "its counts are not those of the manifest")
    if "sealed_at" not in manifest:
        return
    if {record["started_at"], record["finished_at"]} != {manifest["sealed_at"]}:
        find("record", path, "its times are not the one at which the manifest says that it was sealed")
    listed = {entry["path"][len("evidence/") :] for entry in manifest.get("redacted", ())}
    listed |= {SALTED_LEAVES[len("evidence/") :]} if "salted_leaves" in manifest["record_tree"] else set()
    if set(record["artefacts"]) != {"manifest.json", "environment.json"} | listed:
        find("record", path, "its files are not those that the manifest lists")


def _check_attempts(files: Files, manifest: dict[str, Any] | None) -> dict[str, Any] | None:
    """Check every attempt; return the last one's record if it failed."""
    numbers: dict[int, set[str]] = {}
    for path in files.below("attempts"):
        found = _ATTEMPT.fullmatch(path)
        if found is None:
            files.verdict.find("extra", path, "is no part of an attempt's record")
        else:
            numbers.setdefault(int(found[1]), set()).add(found[2])
    _check_entries(files, (manifest or {}).get("attempts", ()), "the manifest")
    last = None
    for number in sorted(numbers):
        last = _check_attempt(files, number, numbers[number], manifest)
        if last is None and number < max(numbers):
            files.verdict.notes.append(
                f"attempts/{number}: was started and has no record of its end: it was killed"
            )
    return last


def _check_attempt(
    files: Files, number: int, there: set[str], manifest: dict[str, Any] | None
) -> dict[str, Any] | None:
    find, where = files.verdict.find, f"attempts/{number}"
    try:
        if STARTED not in there:
            find("missing", f"{where}/{STARTED}", "nothing says when this attempt began")
        else:
            decode(started, files.read(f"{where}/{STARTED}"))
    except OddError as error:
        find("record", f"{where}/{STARTED}", str(error))
    if SUCCESS not in there or "manifest.json" not in there:
        return None
    path = f"{where}/manifest.json"
    try:
        record = decode(attempt_record, files.read(path))
    except LaterError as error:
        raise LaterError(f"{path}: {error}") from None
    except OddError as error:
        find("manifest", path, str(error))
        return None
    other = manifest or record
    if record["number"] != number or any(record[n] != other[n] for n in ("audit", "window", "spec_digest")):
        find("manifest", path, "is the record of another attempt, or of another run's")
    paths = [entry["path"] for entry in record["artefacts"]]
    complete = sorted(p[: -len(SUCCESS) - 1] for p in paths if p == f"{stage_of(p)}/{SUCCESS}")
    if paths != sorted(set(paths)) or complete != sorted(record["stages"]):
        find("manifest", path, "its files are not in order, or not those of the stages that it names")
    _check_entries(files, [*record["artefacts"], *record["earlier"]], f"the record of attempt {number}")
    envelope = files.record(where)
    if "ended_at" in record:
        if f"{where}/{STARTED}" not in {entry["path"] for entry in record["earlier"]}:
            find("manifest", path, "does not list its own start")
        if envelope and {envelope["started_at"], envelope["finished_at"]} != {record["ended_at"]}:
            find("record", f"{where}/{SUCCESS}", "its times are not the one that its manifest says")
        if envelope and envelope["counts"] != {"artefacts": len(record["artefacts"])}:
            find("record", f"{where}/{SUCCESS}", "its counts are not those of its manifest")
    return record


def _check_entries(files: Files, entries: Any, who: str) -> None:
    for entry in entries:
        if entry["path"] not in files:
            files.verdict.find("missing", entry["path"], f"{who} lists it, and it is not there")
        elif not files.is_same(entry):
            files.verdict.find("changed", entry["path"], f"is not the file that {who} lists")


def _check_left(files: Files, record: dict[str, Any]) -> None:
    """Find what lies in the stages and is not in the record of the last, failed attempt."""
    listed = {entry["path"] for entry in record["artefacts"]}
    for path in files.digests:
        folder = path.split("/")[0]
        if folder in SEALED and path not in listed:
            files.verdict.find("extra", path, f"the record of attempt {record['number']} does not list it")
        elif folder in ("evidence", "monitor", "signoff", "rejection"):
            files.verdict.find("extra", path, "a run whose last attempt failed has no such file")
        elif folder != "attempts" and folder not in SEALED:
            _check_stray(files, path)


def _sealed_by(record: dict[str, Any]) -> dict[str, Any]:
    """Return what a failed attempt sealed of its complete stages, in the form of a manifest."""
    return {
        **{name: record[name] for name in ("audit", "window", "spec_digest", "outcome", "stages")},
        "artefacts": [
            entry
            for entry in record["artefacts"]
            if stage_of(entry["path"]) in record["stages"]
            and entry["path"] != f"{stage_of(entry['path'])}/{SUCCESS}"
        ],
    }
