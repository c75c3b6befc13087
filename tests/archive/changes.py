"""What tests of verification do to a bundle, and how they look at what was found."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from audit_lib.archive.verify import Verification, verify
from audit_lib.canonical import pretty_json
from audit_lib.run import SUCCESS


def hashes_only(folder: Path) -> Verification:
    return verify(str(folder), recompute={})


def found(verification: Verification, path: str, kind: str | None = None) -> bool:
    return any(f.path == path and kind in (None, f.kind) for f in verification.findings)


def edit_json(path: Path, change: Callable[[Any], None]) -> None:
    """Change a JSON artefact the way the library would have written it."""
    document = json.loads(path.read_bytes())
    change(document)
    path.write_bytes(pretty_json(document))


def edit_table(path: Path, change: Callable[[list[dict[str, Any]]], None]) -> None:
    table = pq.read_table(path)
    rows = table.to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path, compression="zstd")


def retime(folder: Path, stage: str, **times: str) -> None:
    """Write other times into a stage's record, which nothing else protects."""
    path = folder / stage / SUCCESS
    path.write_bytes(pretty_json(json.loads(path.read_bytes()) | times))
