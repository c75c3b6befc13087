"""The auditors' sign-offs: each signed by the key next to it, about the files that are here, in their order."""

from __future__ import annotations

import hashlib
import re
from datetime import datetime
from typing import Any

from verifier.documents import decode, sign_off
from verifier.files import MANIFEST, SUCCESS, Files
from verifier.keys import IN_TOTO, is_signed_by, open_envelope, read_archived_key
from verifier.shapes import instant_of
from verifier.strict_json import OddError, read
from verifier.trust import Trust

_STATEMENT, _KEY = "statement.dsse.json", "signer.pub"
_OF_THE_SIGNATURE = ("title", "status", "signature", "attested", "required_fields", "digests")
"""Keys of report.json that a signature changes; `digests` are of the other keys, each of which is compared."""


def check_sign_offs(files: Files, identity: dict[str, str], trust: Trust, now: datetime) -> None:
    """Check every sign-off of a sealed run."""
    verdict = files.verdict
    numbers = sorted(
        int(found[1])
        for path in files.below("signoff")
        for found in [re.fullmatch(rf"signoff/([1-9][0-9]*)/{SUCCESS}", path)]
        if found
    )
    complete = tuple(f"signoff/{number}/" for number in numbers)
    for path in files.below("signoff"):
        if not path.startswith(complete) and path.endswith((f"/{_STATEMENT}", f"/{SUCCESS}")):
            verdict.find(
                "sign-off", path, "lies in no complete sign-off: its record or its statement was removed"
            )
        elif not path.startswith(complete):
            verdict.notes.append(f"{path}: not part of the evidence; ignored")
    before: dict[str, Any] | None = None
    for number in numbers:
        where = f"signoff/{number}"
        try:
            before = _check(files, number, identity, before, trust, now)
        except OddError as error:
            verdict.find("sign-off", where, str(error))
            before = _named(files, number, before)
    if not numbers:
        verdict.signatures.append("no sign-off: no auditor has signed this run")
        if trust.auditors:
            what = "no auditor has signed this run, and keys were given of those who should have"
            verdict.find("sign-off", "signoff", what)


def _named(files: Files, number: int, before: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return what a later statement must name of one that does not hold."""
    try:
        return _read(files, number)[0]
    except OddError:
        return before


def _read(files: Files, number: int) -> tuple[dict[str, Any], dict[str, Any], bytes]:
    path = f"signoff/{number}/{_STATEMENT}"
    if path not in files:
        raise OddError("its statement is not there")
    content = files.read(path)
    envelope, payload = open_envelope(content, IN_TOTO)
    said = decode(sign_off, payload)
    found = {"number": number, "digest": hashlib.sha256(content).hexdigest(), **said}
    return found, envelope, payload


def _check(
    files: Files,
    number: int,
    identity: dict[str, str],
    before: dict[str, Any] | None,
    trust: Trust,
    now: datetime,
) -> dict[str, Any]:
    where = f"signoff/{number}"
    found, envelope, payload = _read(files, number)
    if f"{where}/{_KEY}" not in files:
        raise OddError("its public key is gone")
    key = read_archived_key(files.read(f"{where}/{_KEY}"))
    if not is_signed_by(envelope, payload, key):
        raise OddError(f"the signature is not one of key {key.key_id[:16]} over this statement")
    said: dict[str, Any] = found["predicate"]
    if any(said[name] != identity[name] for name in ("audit", "window", "spec_digest")):
        raise OddError("the statement is about another run")
    if said["number"] != number:
        raise OddError(f"the statement is number {said['number']} of its run")
    _check_subject(files, where, found)
    at = instant_of(said["signed_at"])
    _check_chain(files, identity, said, at, before)
    record = files.record(where)
    later = "records" in files.json(MANIFEST)
    if later and record and {instant_of(record[n]) for n in ("started_at", "finished_at")} != {at}:
        raise OddError("its record has another time than the statement")
    policy = files.json("plan/plan.json").get("policy")
    if said["policy"] != policy:
        raise OddError("was made under another policy than the run's")
    _check_facts(files, where)
    check_believed(files, where, key.key_id, at, trust)
    if at > now:
        files.verdict.notes.append(
            f"{where}: says that it was signed {at}, which is after this machine's clock"
        )
    files.verdict.signatures.append(
        f"signed by {said['auditor']!a}, {said['organisation']!a}, on {at:%Y-%m-%d %H:%M} UTC, "
        f"key {key.key_id[:16]}"
    )
    return found


def _check_subject(files: Files, where: str, statement: dict[str, Any]) -> None:
    signed = {one["name"]: one["digest"]["sha256"] for one in statement["subject"]}
    own = {f"{where}/{name}" for name in (_STATEMENT, _KEY, SUCCESS)}
    there = {path for path in files.below(where) if path not in own}
    for stage in ("evidence", "report"):
        there |= {path for path in files.below(stage) if path != f"{stage}/{SUCCESS}"}
    extra: list[str] = sorted(there - set(signed))
    if extra:
        raise OddError(f"{', '.join(extra)} is there and was not signed")
    missing = sorted(set(signed) - there)
    if missing:
        raise OddError(f"signed, and not there: {', '.join(missing)}")
    for path in sorted(signed):
        if files.digests[path] != signed[path]:
            raise OddError(f"{path} is not the file that was signed")


def _check_chain(
    files: Files,
    identity: dict[str, str],
    said: dict[str, Any],
    at: datetime,
    before: dict[str, Any] | None,
) -> None:
    named, record = said["supersedes"], files.record("evidence")
    sealed = None if record is None else instant_of(record["finished_at"]).replace(microsecond=0)
    if sealed is not None and at < sealed:
        raise OddError(f"says that it was signed {at}, before the run was sealed ({sealed})")
    run = f"{identity['audit']}/{identity['window']}/{identity['spec_digest'][:16]}"
    if before is None:
        if named is not None and named["run"].startswith(f"{run}/"):
            raise OddError(f"the statement that it supersedes ({named['run']}) is not there")
        return
    expected = (before["digest"], f"{run}/signoff/{before['number']}")
    if named is None or (named["statement_sha256"], named["run"]) != expected:
        raise OddError(f"does not name statement {before['number']}, which it supersedes")
    if at < instant_of(before["predicate"]["signed_at"]):
        raise OddError(f"says that it was signed before statement {before['number']}, which it supersedes")


_READING = re.compile(r"card\.json|badge(\.[a-z]{2})?\.svg")
"""Short readings that are not pages; they are signed and not sealed, as they name the manifest's digest."""


def _check_facts(files: Files, where: str) -> None:
    """The tables and report.json that were signed say what the sealed ones say, the signature apart."""
    names = {path.split("/", 2)[2] for path in files.below(where)} - {_STATEMENT, _KEY, SUCCESS}
    names |= {path.split("/", 1)[1] for path in files.below("report")} - {SUCCESS}
    for name in sorted(names):
        if name.endswith((".html", ".pdf")) or _READING.fullmatch(name):
            continue
        both = [f"report/{name}", f"{where}/{name}"]
        if any(path not in files for path in both):
            raise OddError(f"{name} is not there both as sealed and as signed")
        if name == "report.json":
            one, other = (read(files.read(path)) for path in both)
            if _facts(one) != _facts(other):
                raise OddError(f"{name} says another thing than the sealed report")
        elif files.digests[both[0]] != files.digests[both[1]]:
            raise OddError(f"{name} says another thing than the sealed report")


def _facts(document: Any) -> Any:
    if not isinstance(document, dict):
        raise OddError("report.json is no object")
    return {name: value for name, value in document.items() if name not in _OF_THE_SIGNATURE}


def check_believed(files: Files, where: str, key_id: str, at: datetime, trust: Trust) -> None:
    """Find a key that is none of those given, or that the trust file does not believe."""
    find = files.verdict.find
    if trust.auditors and key_id not in trust.auditors:
        find("sign-off", where, f"signed with key {key_id[:16]}, which is none of the keys given")
    if not trust.file:
        return
    why = trust.why_not(key_id, "auditor", at)
    revoked = trust.keys.get(key_id, {}).get("revoked")
    if not why and revoked:
        why = f"key {key_id[:16]} was revoked on {revoked['at']}: {revoked['reason']}; when it signed, it only claims"
    if why:
        find("sign-off", where, why)
