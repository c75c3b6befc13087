"""What is fed while fuzzing: the readers of everything that a stranger may hand to a verifier."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from typing import Any

from audit_lib.archive.personal_data import check_personal_data
from audit_lib.archive.record_proof import check_proof
from audit_lib.bag import check_bag, open_bag, unpack
from audit_lib.canonical import canonical_json, jcs, pretty_json, strict_json
from audit_lib.documents.envelope import read_statement
from audit_lib.documents.evidence import (
    FailedAttempt,
    Manifest,
    StartedAttempt,
    decode_exact,
    odd_json,
    read_stage_record,
    sealed_bytes,
    started_bytes,
)
from audit_lib.documents.run_statement import RunStatement
from audit_lib.errors import AuditError, EvidenceError
from audit_lib.journal import check_head
from audit_lib.journal_lines import check_extends, read_lines
from audit_lib.signing.receipts import check_receipt
from audit_lib.signing.signers import PAYLOAD_TYPE, public_key, signed_payload, signers_among
from audit_lib.signing.sigstore_bundles import check_bundle
from audit_lib.signing.time_stamps import check_stamp, claimed_stamp
from audit_lib.signing.trust import read_trust
from audit_lib.signoff import verify_signed
from audit_lib.store import open_store
from tests.archive.cases import reseal
from verifier import bag as other_bag
from verifier import command, documents, journal, keys, record_proof, source, time_stamp, trust
from verifier import strict_json as other_json
from verifier.findings import Verdict
from verifier.strict_json import OddError

NOW = datetime.now(UTC)


class DisagreementError(Exception):
    """One of two readers takes what the other refuses, or something changed and nothing was found."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """One reader with what it may refuse by, and inputs to begin with; so many of their first bytes choose a file."""

    call: Callable[[bytes], None]
    refusals: tuple[type[Exception], ...] = (AuditError, OddError)
    seeds: list[bytes]
    header: int = 0


def _try(*calls: Callable[[], Any]) -> list[Any]:
    """Return what each gives, or its refusal."""
    found = []
    for call in calls:
        try:
            found.append(call())
        except (AuditError, OddError, ValueError) as error:
            found.append(error)
    return found


def _json(data: bytes) -> None:
    here, there = _try(lambda: strict_json(data), lambda: other_json.read(data))
    if isinstance(here, Exception) != isinstance(there, Exception):
        raise DisagreementError(f"{here!r:.200} and {there!r:.200}")
    if isinstance(here, Exception):
        if type(here) is not ValueError:
            raise here
        return
    odd_json(data)
    for write in (canonical_json, pretty_json, jcs):
        with suppress(ValueError):  # a number that is no double, half of a surrogate pair
            write(here)


def _whole_manifest(data: bytes) -> Manifest:
    """A manifest with all that its format has; `audit verify` asks that after reading, the other reader at once."""
    manifest = decode_exact(Manifest, data, "x", sealed_bytes)
    if not manifest.is_whole:
        raise EvidenceError("has not what its format has")
    return manifest


def _documents(data: bytes) -> None:
    here = _try(
        lambda: _whole_manifest(data),
        lambda: decode_exact(FailedAttempt, data, "x", sealed_bytes),
        lambda: decode_exact(StartedAttempt, data, "x", started_bytes),
        lambda: decode_exact(RunStatement, data, "x", lambda one: canonical_json(one.as_dict())),
        lambda: read_stage_record(data, "x"),
    )
    _only(here, AuditError)
    kinds = (
        documents.manifest_document,
        documents.attempt_record,
        documents.started,
        documents.run_statement,
        documents.stage_record,
    )
    there = _try(*(lambda kind=kind: documents.decode(kind, data) for kind in kinds))  # type: ignore[misc]
    _only(there, OddError)
    if isinstance(here[0], Exception) != isinstance(there[0], Exception):
        raise DisagreementError(f"manifest: {here[0]!r:.300} and {there[0]!r:.300}")


def _only(found: Sequence[Any], kind: type[Exception]) -> None:
    for one in found:
        if isinstance(one, Exception) and not isinstance(one, kind):
            raise one


def _journal(data: bytes) -> None:
    def here() -> Any:
        entries = read_lines(data, "journal.jsonl")
        check_extends(entries, None)
        check_head(entries, "0" * 64) if entries else None
        return entries

    lines = data.split(b"\n")[:-1]
    found = _try(here, lambda: journal._chain(lines, "small"))
    _only(found[:1], AuditError)
    _only(found[1:], OddError)


def _trust(data: bytes) -> None:
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        Path(file.name).write_bytes(data)
        here, there = _try(
            lambda: read_trust([Path(file.name)], NOW).public_keys(), lambda: trust.read_trust([data], NOW)
        )
    _only([here], AuditError)
    _only([there], OddError)


def _envelope(key: bytes) -> Callable[[bytes], None]:
    def call(data: bytes) -> None:
        own = public_key(key, "key")
        here = _try(
            lambda: signed_payload(data, PAYLOAD_TYPE, "x"),
            lambda: signers_among(data, PAYLOAD_TYPE, [own], "x"),
            lambda: read_statement(data, "x"),
            lambda: public_key(data, "x"),
        )
        _only(here, AuditError)

        def signed() -> bool:
            found, payload = keys.open_envelope(data, keys.IN_TOTO)
            return keys.is_signed_by(found, payload, keys.read_key(key))

        there = _try(signed, lambda: keys.read_key(data))
        _only(there, OddError)
        if there[0] is True and not (isinstance(here[1], set) and here[1]):
            raise DisagreementError("the second verifier believes a signature that the library does not")

    return call


def _stamp(over: bytes, authorities: Any) -> Callable[[bytes], None]:
    def call(data: bytes) -> None:
        here = _try(lambda: claimed_stamp(data, over, "x"), lambda: check_stamp(data, over, authorities, "x"))
        _only(here, AuditError)
        _only(_try(lambda: time_stamp.stamped_at(data, over)), OddError)

    return call


def _attestation(over: bytes) -> Callable[[bytes], None]:
    def call(data: bytes) -> None:
        _only(
            _try(
                lambda: check_receipt(data, over, [], "x"), lambda: check_bundle(data, over, [], "plan", "x")
            ),
            AuditError,
        )

    return call


def _proof(data: bytes) -> None:
    here = _try(lambda: check_proof(data, "x"), lambda: check_personal_data(data, "x"))
    _only(here, AuditError)
    verdict = Verdict("x")
    record_proof.check_record(data, verdict)
    proved, whole = (not isinstance(one, Exception) for one in here)
    if (proved or whole) and verdict.findings:
        raise DisagreementError(f"proved, and {verdict.findings[0]!r:.300}")
    if (
        not (proved or whole or verdict.findings) and b"audit-access/1" not in data
    ):  # its questions are left out there
        raise DisagreementError(f"{here[0]!r:.300}, and proved")


def _bag(data: bytes) -> None:
    with tempfile.TemporaryDirectory(prefix="fuzzed-") as folder:
        path = Path(folder) / "bag.zip"
        path.write_bytes(data)

        def here() -> None:
            with open_bag(path) as opened:
                if not check_bag(opened):
                    unpack(opened, open_store(f"{folder}/store"))

        def there() -> None:
            found = source.open_source(str(path))
            top = command._bag(found)
            if top is not None:
                other_bag.check_bag(found.below(top), Verdict("x"))

        refused = _try(here)
        _only(refused, AuditError)
        with suppress(source.RefusedError, OddError):
            there()
        outside = {one.name for one in Path(folder).iterdir()} - {"bag.zip", "store"}
        if outside:
            raise DisagreementError(f"written next to the store: {outside}")


class _Folder:
    """A copy of a run in which one file at a time is another."""

    def __init__(self, original: Path, *, sealed_again: bool) -> None:
        folder = Path(tempfile.mkdtemp(prefix="fuzzed-"))
        self.path = Path(shutil.copytree(original, folder / "run"))
        self.files = sorted(one for one in self.path.rglob("*") if one.is_file())
        self._kept = {one: one.read_bytes() for one in self.files}
        self._sealed_again = sealed_again

    @property
    def seeds(self) -> list[bytes]:
        """Each file, after the two bytes that choose it."""
        return [number.to_bytes(2, "big") + self._kept[one] for number, one in enumerate(self.files)]

    def put(self, data: bytes) -> bool:
        """Write one file as the input says; return whether it is another than it was."""
        path = self.files[int.from_bytes(data[:2], "big") % len(self.files)]
        path.write_bytes(data[2:])
        if self._sealed_again:
            # what was put there may be nothing that can be sealed
            with suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError):
                reseal(self.path)
        return data[2:] != self._kept[path]

    def restore(self) -> None:
        """Put everything back."""
        for path, content in self._kept.items():
            if path.read_bytes() != content:
                path.write_bytes(content)


def _run(folder: _Folder, trusted: Path | None, *, whole: bool) -> Callable[[bytes], None]:
    """Verify a run of which one file is another."""
    believed = None if trusted is None else read_trust([trusted], NOW)

    def call(data: bytes) -> None:
        other = folder.put(data)
        try:
            found = verify_signed(str(folder.path), trust=believed, recompute=None if whole else {})
        finally:
            folder.restore()
        if "Traceback" in found.summary():
            raise DisagreementError("a traceback among the findings")
        if other and found.ok and trusted is not None:
            raise DisagreementError("another file, and nothing found")

    return call


def _packed(folder: _Folder, trusted: Path | None) -> Callable[[bytes], None]:
    """Verify it with the second verifier."""
    given = [] if trusted is None else ["--trust", str(trusted), "--stamps-checked"]

    def call(data: bytes) -> None:
        other = folder.put(data)
        out = TextIOWrapper(BytesIO(), encoding="utf-8")
        try:
            with redirect_stdout(out), redirect_stderr(StringIO()):
                code = command.main([str(folder.path), *given, "--format", "json"])
        finally:
            folder.restore()
        said = json.loads(out.buffer.getvalue())  # type: ignore[attr-defined]
        faults = [one for one in said["undecided"] if one.startswith("could not be checked (")]
        if faults:
            raise DisagreementError(faults[0])
        if other and not code and trusted is not None:
            raise DisagreementError("another file, and nothing found")

    return call


READERS = (
    "json", "documents", "journal", "trust", "envelope", "time stamp", "attestations", "record proof", "bag in a zip",
    "bag in a tar",
)  # fmt: skip
WHOLE = ("audit verify", "audit verify, sealed again", "second verifier", "second verifier, sealed again")


def target(name: str, folder: Path) -> Target:
    """Return a target with the seeds that `evidence_runs.write_seeds` wrote."""
    run, trust_file = folder / "run", folder / "trust.json"
    every = [one.read_bytes() for one in sorted(run.rglob("*")) if one.is_file()]
    jsons = [one for one in every if one[:1] in (b"{", b"[")]
    signed = (run / "signatures/plan.dsse.json").read_bytes()
    pem = (run / "signatures/plan.pub").read_bytes()
    stamp = (run / "signatures/plan.tsr").read_bytes()
    if name == "time stamp":
        authorities = read_trust([trust_file], NOW).authorities
        return Target(call=_stamp(signed, authorities), seeds=[stamp])
    plain: dict[str, tuple[Callable[[bytes], None], list[bytes]]] = {
        "json": (_json, [*jsons, b'{"a": [1, -2.5e3, "\\u00e9", null, true]}']),
        "documents": (_documents, jsons),
        "journal": (_journal, [(folder / "journal.jsonl").read_bytes()]),
        "trust": (_trust, [one.read_bytes() for one in sorted(folder.glob("trust*.json"))]),
        "envelope": (_envelope(pem), [signed, pem]),
        "attestations": (_attestation(signed), [one.read_bytes() for one in folder.glob("attestation*")]),
        "record proof": (_proof, [one.read_bytes() for one in sorted(folder.glob("record*.json"))]),
        "bag in a zip": (_bag, [one.read_bytes() for one in sorted(folder.glob("*.zip"))]),
        "bag in a tar": (_bag, [one.read_bytes() for one in sorted(folder.glob("*.tar"))]),
    }
    if name in plain:
        call, seeds = plain[name]
        return Target(call=call, seeds=seeds)
    again = name.endswith("again")
    copy = _Folder(run, sealed_again=again)
    believed = None if again else trust_file
    call = _run(copy, believed, whole=again) if name.startswith("audit") else _packed(copy, believed)
    return replace(Target(call=call, seeds=copy.seeds), header=2)
