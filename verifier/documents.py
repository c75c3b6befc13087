"""The documents in which a run says what it is, each accepted only in the very bytes that the library writes."""

from __future__ import annotations

from typing import Any, Callable, Tuple

from verifier import shapes as s
from verifier.strict_json import OddError, canonical, pretty, read

Kind = Tuple[Callable[[Any, str], None], Callable[[Any], bytes]]
"""What a document must look like, and how it is written."""


class LaterError(OddError):
    """A document of a format that this program does not know."""


def decode(kind: Kind, content: bytes) -> dict[str, Any]:
    """Return a document of a kind.

    Raises
    ------
    OddError
        If it is none, or in other bytes.
    """
    document: dict[str, Any] = read(content)
    shape, written = kind
    shape(document, "it")
    if written(document) != content:
        raise OddError("holds its values in other bytes than the library writes")
    return document


def _record_bytes(record: dict[str, Any]) -> bytes:
    return pretty(
        {
            "artefacts": {
                name: {"sha256": one["sha256"], "bytes": one["bytes"]}
                for name, one in sorted(record["artefacts"].items())
            },
            "counts": dict(sorted(record["counts"].items())),
            "started_at": record["started_at"],
            "finished_at": record["finished_at"],
        }
    )


stage_record: Kind = (
    s.fields(
        {
            "artefacts": s.mapping(s.ANY, s.fields({"sha256": s.SHA256, "bytes": s.whole()})),
            "counts": s.mapping(s.text(r"[a-z][a-z0-9_]{0,63}"), s.whole()),
            "started_at": s.ANY,
            "finished_at": s.ANY,
        }
    ),
    _record_bytes,
)
"""``_SUCCESS``."""

started: Kind = (
    s.fields({"by": s.ANY, "started_at": s.instant}),
    lambda one: pretty({"by": one["by"], "started_at": one["started_at"]}),
)
"""``_STARTED``."""

_MANIFEST = {
    "schema": s.ANY,
    "audit": s.ANY,
    "window": s.ANY,
    "spec_digest": s.ANY,
    "outcome": s.ANY,
    "status": s.one_of("not signed"),
    "stages": s.listing(s.ANY),
    "artefacts": s.listing(s.LISTED),
    "software": s.VERSIONS,
}
_LATER = {
    "records": s.listing(s.LISTED),
    "record_tree": s.fields(
        {"applications": s.whole(1), "records": s.whole(1), "root": s.SHA256}, {"salted_leaves": s.LISTED}
    ),
    "environment": s.LISTED,
    "sealed_at": s.instant,
}
_ATTEMPTS = {"attempts": s.listing(s.LISTED, 1)}
_NOT_IN_ALL = {"redacted": s.listing(s.LISTED), "store": s.LISTED}
"""Of format 2, and not in every one."""
_FORMATS = {
    "audit-manifest/1": s.fields(_MANIFEST, _ATTEMPTS),
    "audit-manifest/2": s.fields({**_MANIFEST, **_LATER}, {**_ATTEMPTS, **_NOT_IN_ALL}),
}
_RECORD = {
    **_MANIFEST,
    "spec_digest": s.SHA256,
    "number": s.whole(1),
    "outcome": s.one_of("failed", "stopped"),
    "faults": s.listing(s.fields({"stage": s.ANY, "type": s.ANY, "message": s.ANY}), 1),
    "earlier": s.listing(s.LISTED),
}
_ATTEMPT_FORMATS = {
    "audit-attempt/1": s.fields(_RECORD),
    "audit-attempt/2": s.fields({**_RECORD, "ended_at": s.instant}),
}


def _of_formats(formats: dict[str, Any], name: str) -> Callable[[Any, str], None]:
    def check(value: Any, where: str) -> None:
        schema = value.get("schema") if isinstance(value, dict) else None
        if isinstance(schema, str) and schema not in formats and schema.startswith(f"{name}/"):
            raise LaterError(
                f"is of format {schema[:40]!a}, which this program does not know; get a later one"
            )
        if not isinstance(schema, str) or schema not in formats:
            raise OddError("says no format")
        formats[schema](value, where)

    return check


manifest_document: Kind = (_of_formats(_FORMATS, "audit-manifest"), canonical)
"""``evidence/manifest.json``."""

attempt_record: Kind = (_of_formats(_ATTEMPT_FORMATS, "audit-attempt"), canonical)
"""``attempts/<number>/manifest.json``."""

HEAD = s.fields({"number": s.whole(1), "sha256": s.SHA256})

run_statement: Kind = (
    s.fields(
        {
            "_type": s.one_of("https://in-toto.io/Statement/v1"),
            "subject": s.listing(s.fields({"name": s.ANY, "digest": s.fields({"sha256": s.SHA256})}), 1),
            "predicateType": s.one_of("urn:audit-lib:plan:1", "urn:audit-lib:result:1"),
            "predicate": s.fields(
                {"audit": s.ANY, "window": s.ANY, "spec_digest": s.SHA256, "claimed_at": s.moment},
                {"outcome": s.ANY, "journal": HEAD, "own_authority": s.boolean},
            ),
        }
    ),
    canonical,
)
"""The payload of ``signatures/plan.dsse.json`` and ``signatures/result.dsse.json``."""

sign_off: Kind = (
    s.fields(
        {
            "_type": s.one_of("https://in-toto.io/Statement/v1"),
            "subject": s.listing(s.fields({"name": s.ANY, "digest": s.fields({"sha256": s.SHA256})}), 1),
            "predicateType": s.one_of("urn:audit-lib:sign-off:1"),
            "predicate": s.fields(
                {
                    "audit": s.ANY,
                    "window": s.ANY,
                    "spec_digest": s.SHA256,
                    "number": s.whole(1),
                    "policy": s.fields({"name": s.ANY, "version": s.ANY}),
                    "auditor": s.ANY,
                    "organisation": s.ANY,
                    "attestations": s.listing(s.fields({"id": s.ANY, "text": s.ANY, "cite": s.ANY})),
                    "remarks": s.ANY,
                    "signer": s.one_of("auditor", "service"),
                    "account": s.nullable(s.ANY),
                    "signed_at": s.moment,
                    "supersedes": s.nullable(
                        s.fields(
                            {
                                "statement_sha256": s.SHA256,
                                "run": s.text(r"[^/]+/[^/]+/[0-9a-f]{16}/signoff/[1-9][0-9]*"),
                                "reason": s.ANY,
                            }
                        )
                    ),
                }
            ),
        }
    ),
    canonical,
)
"""The payload of ``signoff/<number>/statement.dsse.json``."""

rejection: Kind = (
    s.fields(
        {
            "_type": s.one_of("https://in-toto.io/Statement/v1"),
            "subject": s.listing(
                s.fields(
                    {"name": s.one_of("evidence/manifest.json"), "digest": s.fields({"sha256": s.SHA256})}
                ),
                1,
            ),
            "predicateType": s.one_of("urn:audit-lib:rejection:1"),
            "predicate": s.fields(
                {
                    "audit": s.ANY,
                    "window": s.ANY,
                    "spec_digest": s.SHA256,
                    "policy": s.fields({"name": s.ANY, "version": s.ANY}),
                    "auditor": s.ANY,
                    "organisation": s.ANY,
                    "reason": s.ANY,
                    "signer": s.one_of("auditor", "service"),
                    "account": s.nullable(s.ANY),
                    "rejected_at": s.moment,
                }
            ),
        }
    ),
    canonical,
)
"""The payload of ``rejection/statement.dsse.json``."""

journal_entry: Kind = (
    s.fields(
        {
            "schema": s.one_of("audit-journal/1"),
            "number": s.whole(1),
            "previous": s.nullable(s.SHA256),
            "audit": s.ANY,
            "window": s.ANY,
            "run": s.text(r"[0-9a-f]{16}"),
            "attempt": s.whole(),
            "event": s.one_of(
                "planned", "asked", "completed", "failed", "abandoned", "signed", "rejected", "superseded"
            ),
            "at": s.instant,
        },
        {"outcome": s.ANY, "sealed_sha256": s.SHA256},
    ),
    canonical,
)
"""``<audit>/journal/NNNNNN.json``."""

journal_at_plan: Kind = (
    s.fields(
        {
            "schema": s.one_of("audit-journal-at-plan/1"),
            "head": s.nullable(HEAD),
            "window": s.listing(journal_entry[0]),
        }
    ),
    canonical,
)
"""``plan/journal.json``."""

privacy_label: Kind = (
    s.fields({"schema": s.one_of("audit-privacy/1"), "level": s.one_of("redacted", "digests")}),
    lambda one: pretty({"schema": one["schema"], "level": one["level"]}),
)
"""``privacy.json``."""

_LEAF = (("index", "application_sha256", "records_sha256", "path"), ("application_salt", "records_salt"))


def _proof_bytes(proof: dict[str, Any]) -> bytes:
    proofs = [{name: one[name] for part in _LEAF for name in part if name in one} for one in proof["proofs"]]
    return pretty(
        {
            **{name: proof[name] for name in ("schema", "application", "manifest", "records")},
            "proofs": proofs,
        }
    )


record_proof: Kind = (
    s.fields(
        {
            "schema": s.one_of("audit-record-proof/1"),
            "application": s.ANY,
            "manifest": s.ANY,
            "records": s.listing(s.mapping(s.ANY, s.anything)),
            "proofs": s.listing(
                s.fields(
                    {
                        "index": s.whole(),
                        "application_sha256": s.SHA256,
                        "records_sha256": s.SHA256,
                        "path": s.listing(s.SHA256),
                    },
                    {"application_salt": s.SHA256, "records_salt": s.SHA256},
                )
            ),
        }
    ),
    _proof_bytes,
)
"""The file of `audit prove`."""

envelope: Kind = (
    s.fields(
        {
            "payload": s.text(r"[A-Za-z0-9+/]*={0,2}"),
            "payloadType": s.ANY,
            "signatures": s.listing(s.fields({"keyid": s.ANY, "sig": s.text(r"[A-Za-z0-9+/]*={0,2}")}), 1),
        }
    ),
    lambda one: pretty(
        {
            "payload": one["payload"],
            "payloadType": one["payloadType"],
            "signatures": [{"keyid": each["keyid"], "sig": each["sig"]} for each in one["signatures"]],
        }
    ),
)
"""A DSSE envelope."""
