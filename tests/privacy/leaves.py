"""Salted leaves made by the words of the guide, and what is read of those of a run."""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Mapping
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from audit_lib.archive.record_proof import check_proof
from audit_lib.cli.main import main
from audit_lib.errors import EvidenceError
from audit_lib.privacy.applicant_keys import configured_keys
from audit_lib.run import Run
from tests.privacy.cases import NAME, WHO
from verifier.findings import Verdict
from verifier.record_proof import check_record

LEAVES = "evidence/salted_leaves.txt"
MANIFEST = "evidence/manifest.json"
OTHERS = [f"{NAME} {number}" for number in range(48) if number != 7]


def opened(run: Run) -> Run:
    return Run.from_bundle(run.uri)


def erase(run: Run, who: str = WHO) -> None:
    assert main(["erase", run.uri, "--application", who, "--reason", "asked for it"]) == 0


def lines(folder: Path | str) -> list[str]:
    return (Path(folder) / LEAVES).read_text().splitlines()


def tree_of(folder: Path | str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((Path(folder) / MANIFEST).read_bytes())["record_tree"]
    return found


def said_by_the_other(content: bytes) -> Verdict:
    """What the verifier of the standard library says of a proof."""
    verdict = Verdict("record.json")
    check_record(content, verdict)
    return verdict


def refused_by_both(content: bytes, check: Callable[[bytes, str], Any] = check_proof) -> bool:
    try:
        check(content, "record.json")
    except EvidenceError:
        return bool(said_by_the_other(content).findings)
    return False


def rows_of(run: Run) -> Mapping[str, list[dict[str, Any]]]:
    """Everybody's score records, from the decrypted tables."""
    table = pq.read_table(BytesIO(run.stage("variants").read("variants.parquet"))).to_pylist()
    owner = {row["variant_id"]: row["application_id"] for row in table}
    found: dict[str, list[dict[str, Any]]] = {}
    for shard in sorted(int(one.name) for one in (Path(run.uri) / "scores").iterdir()):
        stage = f"scores/{shard}"
        for row in pq.read_table(BytesIO(run.stage(stage).read("scores.parquet"))).to_pylist():
            found.setdefault(owner[row["variant_id"]], []).append({"shard": stage, **row})
    return found


def leaf(application: str, records: list[dict[str, Any]], key: bytes | None, run: Run) -> bytes:
    """A leaf by the words of the guide; RFC 8785 by its own package."""
    rfc8785 = pytest.importorskip("rfc8785", reason="of the extra dev: another's RFC 8785")
    parts = [
        sha256(application.encode()).digest(),
        sha256("".join(sha256(rfc8785.dumps(row)).hexdigest() for row in records).encode()).digest(),
    ]
    if key is not None:
        which = f"{run.key.audit}/{run.key.window.label}/{run.key.spec_digest}".encode()
        of_id = b"audit_lib salt of an id in a tree of records\0" + which
        of_records = b"audit_lib salt of the records in a tree of records\0" + which + b"\0" + parts[1]
        salts = [hmac.new(key, said, sha256).digest() for said in (of_id, of_records)]
        parts = [sha256(salt + part).digest() for salt, part in zip(salts, parts, strict=True)]
    first, second = (part.hex() for part in parts)
    document = {"application_sha256": first, "records_sha256": second}
    return bytes(rfc8785.dumps(document))


def key_of(application: str) -> bytes:
    keys = configured_keys("small")
    assert keys is not None
    found = keys.key(keys.name_of(application))
    assert found is not None
    return found
