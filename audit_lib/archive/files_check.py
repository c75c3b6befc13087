"""Files against the manifest, and against the records of the stages."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from audit_lib.archive.findings import Work
from audit_lib.archive.manifest import MANIFEST, SCHEMA, SEALED, stage_of
from audit_lib.canonical import canonical_json
from audit_lib.run import SUCCESS
from audit_lib.store import Store

_UNSEALED: Final = ("evidence", "monitor")


def digest_of(store: Store, path: str) -> tuple[str, int]:
    """Return the SHA-256 of a file and its size in bytes, read as a stream."""
    digest, size = hashlib.sha256(), 0
    with store.open(path) as stream:
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
            size += len(chunk)
    return digest.hexdigest(), size


def read_manifest(work: Work) -> dict[str, Any]:
    """Return the manifest; empty where it is not there or not one, which is a finding."""
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


def listed_in(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return path -> SHA-256 of what a manifest lists."""
    return {str(entry["path"]): str(entry["sha256"]) for entry in manifest.get("artefacts", ())}


def check_files(work: Work, manifest: Mapping[str, Any]) -> None:
    """Files against the manifest, both ways."""
    if not manifest:
        return
    listed = listed_in(manifest)
    for path, digest in listed.items():
        if path not in work.digests:
            work.find("missing", path, "the manifest lists it, and it is not there")
        elif work.digests[path] != digest:
            work.find("changed", path, f"SHA-256 is {work.digests[path]}, the manifest says {digest}")
    stages = {stage_of(path) for path in listed}
    for path in work.digests:
        folder = path.split("/")[0]
        if folder == "attempts":
            continue
        if "/" not in path or folder not in (*SEALED, *_UNSEALED):
            work.notes.append(f"{path}: not part of the evidence; ignored")
        elif folder in SEALED and path not in listed and path != f"{stage_of(path)}/{SUCCESS}":
            work.find("extra", path, "the manifest does not list it")
        elif folder in SEALED and stage_of(path) not in stages:
            work.find("extra", path, "the manifest does not know this stage")


def check_records(work: Work, manifest: Mapping[str, Any]) -> None:
    """Each stage's ``_SUCCESS`` against the files, the manifest, and what else is in its folder."""
    listed = listed_in(manifest)
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
