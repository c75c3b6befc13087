"""Everything that a run holds about one person (the right of access), and whether it is what the run holds.

Rows that hold other applicants' texts, such as the question about a pool, are left out and counted: one person's right
ends at the data of others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from audit_lib.archive.kept_rows import as_far_as_readable
from audit_lib.archive.record_proof import ProvedRecords, check_proof, prove
from audit_lib.canonical import pretty_json, sha256
from audit_lib.documents.access import AskedQuestion, PersonalData
from audit_lib.documents.evidence import decode_exact
from audit_lib.documents.record_proof import RecordProof
from audit_lib.errors import EvidenceError
from audit_lib.privacy.vault import names_together
from audit_lib.records import parquet_source
from audit_lib.run import SUCCESS, Run
from audit_lib.score.requests import Request
from audit_lib.score.shard_plan import all_shards, requests_in

_STAGES: Final = ("sample", "variants", "scores", "metrics")
_PROVED: Final = "scores.parquet"
_TEXTS: Final = ("messages", "text", "items")
_COPIED: Final = "variants/shards/"
"""Where the rows of ``variants.parquet`` are again, cut into shards."""


def personal_data(run: Run, application_id: str) -> bytes:
    """Return everything that a sealed run holds about an application.

    Raises
    ------
    IncompleteRunError
        If the run is not sealed.
    EvidenceError
        If it was sealed in format 1, its scores are not those that were sealed, or it has no such application.
    """
    proof = decode_exact(
        RecordProof, prove(run, application_id), "the proof", lambda one: pretty_json(one.as_dict())
    )
    if not proof.records:
        raise EvidenceError(
            f"{run.uri}: holds nothing about this application; `audit prove` writes the proof of that"
        )
    run = as_far_as_readable(run)
    variants = _table(run, "variants/variants.parquet")
    applications = dict(
        zip(variants["variant_id"].to_pylist(), variants["application_id"].to_pylist(), strict=True)
    )
    own = {variant for variant, whose in applications.items() if whose == application_id}
    _, shards = all_shards(run)
    requests = [request for packs in shards.values() for request in requests_in(packs)]
    alone, shared = _requests(requests, applications, application_id)
    rows: dict[str, tuple[Mapping[str, Any], ...]] = {}
    left_out: dict[str, int] = {}
    for path in _tables(run):
        found = list(_rows(_table(run, path), application_id, own, {*alone, *shared}))
        kept = [row for row in found if not _is_shared(row, shared, own)]
        if kept:
            rows[path] = tuple(kept)
        if len(found) > len(kept):
            left_out[path] = len(found) - len(kept)
    data = PersonalData(
        application=application_id,
        title=run.spec.title,
        model=run.spec.model.name,
        proof=proof,
        questions=tuple(
            AskedQuestion(
                variant_id=request.candidates[0].variant_id,
                request_digest=request.digest(),
                asked=request.digested().decode(),
            )
            for request in alone.values()
        ),
        rows=rows,
        shared=left_out,
        erased=_erased(run, application_id) or None,
    )
    return pretty_json(data.as_dict())


def check_personal_data(content: bytes, where: str) -> tuple[ProvedRecords, int]:
    """Check the file against the manifest that it holds; return what is proved, and how many questions.

    Raises
    ------
    EvidenceError
        If a score record or a question is not what was sealed.
    """
    data = decode_exact(PersonalData, content, where, lambda one: pretty_json(one.as_dict()))
    if data.application != data.proof.application:
        raise EvidenceError(f"{where}: its proof is of another application")
    proved = check_proof(pretty_json(data.proof.as_dict()), where)
    known = {(record["variant_id"], record["request_digest"]) for record in data.proof.records}
    for question in data.questions:
        if (question.variant_id, question.request_digest) not in known:
            raise EvidenceError(f"{where}: a question is to none of the proved records")
        if sha256(question.asked.encode()) != question.request_digest:
            raise EvidenceError(f"{where}: a question is not the one that was asked")
    return proved, len(data.questions)


def _requests(
    requests: list[Request], applications: Mapping[str, str], application_id: str
) -> tuple[dict[str, Request], set[str]]:
    """Return the requests about this application alone, and the ids of those about others too."""
    alone: dict[str, Request] = {}
    shared: set[str] = set()
    for request in requests:
        about = {applications[one.variant_id] for one in request.candidates}
        if about == {application_id} and len(request.candidates) == 1:
            alone[request.request_id] = request
        elif application_id in about:
            shared.add(request.request_id)
    return alone, shared


def _tables(run: Run) -> list[str]:
    """Return the tables of rows, those that the proof holds aside."""
    stages = [path.removesuffix(f"/{SUCCESS}") for path in run.list() if path.endswith(f"/{SUCCESS}")]
    return [
        f"{stage}/{name}"
        for stage in stages
        if stage.split("/")[0] in _STAGES
        for name in sorted(run.stage(stage).success().artefacts)
        if name.endswith(".parquet") and name != _PROVED and not f"{stage}/{name}".startswith(_COPIED)
    ]


def _table(run: Run, path: str) -> pa.Table:
    stage = "/".join(path.split("/")[: 2 if path.startswith("scores/") else 1])
    return pq.read_table(parquet_source(run.stage(stage).read(path.removeprefix(f"{stage}/"))))


def _erased(run: Run, application_id: str) -> dict[str, int]:
    """Count the parts of tables that went with somebody else's key, though they are about this application too."""
    if run.vault is None or run.vault.keys is None or not run.vault.skips_erased:
        return {}
    own, here = run.vault.keys.name_of(application_id), run.vault.keys.names()
    found = {}
    for path in _tables(run):
        parts = names_together(run.store.get(f"{run.prefix}/{path}".lstrip("/")))
        if gone := sum(own in names and not here.issuperset(names) for names in parts):
            found[path] = gone
    return found


def _rows(
    table: pa.Table, application_id: str, variants: set[str], requests: set[str]
) -> Iterator[dict[str, Any]]:
    """Yield the rows about the application, by the first of these columns that the table has."""
    for names, ids in (
        (("application_id",), {application_id}),
        (("variant_id",), variants),
        (("first", "second"), variants),
        (("request_id",), requests),
    ):
        if set(names) <= set(table.column_names):
            wanted = pa.array(sorted(ids), pa.string())
            where = pc.is_in(table[names[0]], wanted)
            for name in names[1:]:
                where = pc.or_(where, pc.is_in(table[name], wanted))
            yield from (
                {name: _plain(value) for name, value in row.items()}
                for row in table.filter(where).to_pylist()
            )
            return


def _is_shared(row: Mapping[str, Any], shared: set[str], own: set[str]) -> bool:
    """Whether a row names or quotes somebody else."""
    if "first" in row and "second" in row:
        return not {row["first"], row["second"]} <= own
    return row.get("request_id") in shared and any(row.get(name) is not None for name in _TEXTS)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
