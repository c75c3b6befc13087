"""Copies that were handed on at a level of privacy: what such a copy lacks follows from its level alone."""

from __future__ import annotations

import re
from typing import Any

from verifier.documents import attempt_record, decode, manifest_document, privacy_label
from verifier.strict_json import OddError

LABEL, REDACTED = "privacy.json", "evidence/redacted/"
_STAGES = ("sample/", "variants/", "scores/", "metrics/")


def is_withheld(path: str, level: str) -> bool:
    """Whether a level withholds a file of a run."""
    if path.rsplit("/", 1)[-1] == "_SUCCESS":
        return False
    if level == "redacted":
        return path.startswith(_STAGES) and path.endswith((".parquet", ".csv"))
    return path.startswith((*_STAGES, "validation/", REDACTED))


def withhold(files: Any) -> None:
    """Take the digests of what a copy lacks from what lists it; a full copy lacks nothing."""
    verdict = files.verdict
    if LABEL not in files:
        return
    try:
        level = decode(privacy_label, files.read(LABEL))["level"]
        entries = _listed(files)
    except OddError as error:
        verdict.find("record", LABEL, f"says nothing of what this copy lacks: {error}")
        return
    verdict.level = level
    for path, entry in entries.items():
        if not is_withheld(path, level):
            continue
        if path in files:
            verdict.find("extra", path, f"is in a copy of level {level}, which is handed on without it")
            continue
        files.withheld.add(path)
        files.digests[path], files.sizes[path] = entry["sha256"], entry["bytes"]
    verdict.withheld = len(files.withheld)


def _listed(files: Any) -> dict[str, dict[str, Any]]:
    path = "evidence/manifest.json"
    kind = manifest_document
    if path not in files:
        found = (
            re.fullmatch(r"attempts/([1-9][0-9]{0,8})/manifest\.json", one) for one in files.below("attempts")
        )
        numbers = [int(one[1]) for one in found if one]
        if not numbers:
            raise OddError("the run is not sealed")
        path, kind = f"attempts/{max(numbers)}/manifest.json", attempt_record
    document = decode(kind, files.read(path))
    return {one["path"]: one for one in (*document["artefacts"], *document.get("redacted", ()))}
