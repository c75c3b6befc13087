"""Documents of the evidence: what is not as this library writes it is refused by name, and never a traceback."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from audit_lib.documents.canaries import CanaryAnswer, canary_bytes, read_canaries
from audit_lib.documents.evidence import (
    AttemptFault,
    FailedAttempt,
    ListedFile,
    Manifest,
    ServedModel,
    StageRecord,
    StartedAttempt,
    WrittenFile,
    decode_exact,
    read_stage_record,
    record_bytes,
    sealed_bytes,
    started_bytes,
)
from audit_lib.errors import EvidenceError
from audit_lib.typed_json import Typed, decode

DIGEST = "0" * 64
NOW = datetime(2026, 1, 5, tzinfo=UTC).isoformat(timespec="milliseconds")
FILE = ListedFile(path="plan/plan.json", sha256=DIGEST, bytes=3)
RECORD = StageRecord(
    artefacts={"b.json": WrittenFile(sha256=DIGEST, bytes=3), "a.json": WrittenFile(sha256=DIGEST, bytes=0)},
    counts={"rows": 2, "answered": 1},
    started_at=NOW,
    finished_at=NOW,
)
MANIFEST = Manifest(
    audit="a",
    window="w",
    spec_digest=DIGEST,
    outcome="complete",
    stages=("plan",),
    artefacts=(FILE,),
    software={"numpy": "2.0"},
)
FAILED = FailedAttempt(
    audit="a",
    window="w",
    spec_digest=DIGEST,
    number=1,
    outcome="failed",
    faults=(AttemptFault(stage="plan", type="SpecError", message="no"),),
    stages=(),
    artefacts=(FILE,),
    earlier=(),
    software={},
)
STARTED = StartedAttempt(by="audit run", started_at=NOW)
WRITTEN: list[tuple[Any, Callable[[Any], bytes]]] = [
    (RECORD, record_bytes),
    (MANIFEST, sealed_bytes),
    (FAILED, sealed_bytes),
    (STARTED, started_bytes),
]
EXACT = pytest.mark.parametrize(("document", "written"), WRITTEN, ids=lambda one: type(one).__name__)


def refusal(kind: type[Typed], content: bytes, written: Callable[[Any], bytes]) -> str:
    with pytest.raises(EvidenceError) as caught:
        decode_exact(kind, content, "STORE/file", written)
    assert str(caught.value).startswith("STORE/file: ")
    return str(caught.value)


@EXACT
def test_what_is_written_is_read_back(document: Typed, written: Callable[[Any], bytes]) -> None:
    assert decode_exact(type(document), written(document), "file", written) == document


@EXACT
def test_other_bytes_of_the_same_values_are_refused(document: Typed, written: Callable[[Any], bytes]) -> None:
    spaced = json.dumps(json.loads(written(document)), indent=7).encode()
    assert "other bytes" in refusal(type(document), spaced, written)
    twice = written(document).replace(b"{", b'{"status": 1, "status": 1,', 1)
    assert "a key twice" in refusal(type(document), twice, written)


@EXACT
def test_each_key_is_needed_and_no_other_is_taken(document: Typed, written: Callable[[Any], bytes]) -> None:
    values = json.loads(written(document))
    for key in values:
        without = {name: value for name, value in values.items() if name != key}
        assert f"{key}: is missing" in refusal(type(document), json.dumps(without).encode(), written)
    more = json.dumps(values | {"more": 1}).encode()
    assert "more: is not a key of this version" in refusal(type(document), more, written)


@EXACT
@pytest.mark.parametrize(
    "value",
    [b"[" * 100_000, b"9" * 5_000, b"1e999", b"NaN", b'"\\ud800"', b"{}", b"[{}]", b"null", b"-1", b"true"],
    ids=["deep", "huge", "infinite", "nan", "surrogate", "object", "objects", "null", "negative", "true"],
)
def test_no_value_is_a_traceback(document: Typed, written: Callable[[Any], bytes], value: bytes) -> None:
    values = json.loads(written(document))
    for key in values:
        other = json.dumps(values | {key: "HERE"}).encode().replace(b'"HERE"', value)
        if value in (b"{}", b"null") and not values[key]:
            continue  # such a value may stand there
        refusal(type(document), other, written)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"counts": {"rows": -1}}, "counts.rows"),
        ({"counts": {"ROWS": 1}}, "counts"),
        ({"counts": {"rows": 1.5}}, "counts.rows"),
        ({"artefacts": {"a": {"sha256": "f", "bytes": 1}}}, "artefacts.a.sha256"),
        ({"artefacts": {"a": {"sha256": DIGEST}}}, "artefacts.a.bytes: is missing"),
        ({"started_at": 3}, "started_at"),
        ({"\x1b[2J": 1}, r"^_SUCCESS: \\x1b\[2J: is not a key of this version$"),
    ],
)
def test_a_stage_record_of_other_values_is_refused_by_name(change: dict[str, Any], words: str) -> None:
    content = json.dumps(json.loads(record_bytes(RECORD)) | change).encode()
    with pytest.raises(EvidenceError, match=words):
        read_stage_record(content, "_SUCCESS")


def test_a_time_that_is_none_is_an_error_of_ours() -> None:
    content = json.dumps(json.loads(record_bytes(RECORD)) | {"finished_at": "soon"}).encode()
    with pytest.raises(EvidenceError, match="no time as finished_at"):
        assert read_stage_record(content, "_SUCCESS").finished


def test_canaries_and_served_models() -> None:
    one = CanaryAnswer(
        request_digest=DIGEST,
        status="ok",
        model="m",
        system_fingerprint=None,
        label_probabilities=(0.25, 0.75),
        text="Yes",
    )
    assert read_canaries(canary_bytes([one])) == (one,)
    assert b'"score": null' in canary_bytes([one])
    # Earlier versions kept no score.
    (early,) = json.loads(canary_bytes([one]))
    del early["score"]
    assert read_canaries(json.dumps([early]).encode()) == (one,)
    with pytest.raises(EvidenceError, match="0.label_probabilities"):
        read_canaries(json.dumps([early | {"label_probabilities": ["high"]}]).encode())
    with pytest.raises(EvidenceError, match="0.answers"):
        decode(
            tuple[ServedModel, ...], b'[{"model": "m", "system_fingerprint": null, "answers": 0}]', "served"
        )
