"""An auditor's rejection: signed by the key next to it, about this run as it was sealed, and nobody signed the run."""

from __future__ import annotations

import hashlib
from datetime import datetime

from verifier.documents import decode, rejection
from verifier.files import MANIFEST, SUCCESS, Files
from verifier.keys import IN_TOTO, is_signed_by, open_envelope, read_archived_key
from verifier.shapes import instant_of
from verifier.sign_offs import check_believed
from verifier.strict_json import OddError
from verifier.trust import Trust

_FOLDER = "rejection"
_STATEMENT, _KEY = f"{_FOLDER}/statement.dsse.json", f"{_FOLDER}/signer.pub"
_FILES = (_STATEMENT, _KEY, f"{_FOLDER}/{SUCCESS}")


def check_rejection(files: Files, identity: dict[str, str], trust: Trust, now: datetime) -> None:
    """Check the rejection of a sealed run, where there is one."""
    there = files.below(_FOLDER)
    if not there:
        return
    try:
        if there != sorted(_FILES):
            raise OddError(f"a rejection has {', '.join(sorted(_FILES))}; here are {', '.join(there)}")
        _check(files, identity, trust, now)
    except OddError as error:
        files.verdict.find("sign-off", _FOLDER, str(error))


def _check(files: Files, identity: dict[str, str], trust: Trust, now: datetime) -> None:
    envelope, payload = open_envelope(files.read(_STATEMENT), IN_TOTO)
    statement = decode(rejection, payload)
    said, subject = statement["predicate"], statement["subject"]
    key = read_archived_key(files.read(_KEY))
    if not is_signed_by(envelope, payload, key):
        raise OddError(f"the signature is not one of key {key.key_id[:16]} over this statement")
    if any(said[name] != identity[name] for name in ("audit", "window", "spec_digest")):
        raise OddError("the statement is about another run")
    digest = hashlib.sha256(files.read(MANIFEST)).hexdigest()
    if [one["digest"]["sha256"] for one in subject] != [digest]:
        raise OddError("the statement is about another manifest")
    if said["policy"] != files.json("plan/plan.json").get("policy"):
        raise OddError("was made under another policy than the run's")
    at = instant_of(said["rejected_at"])
    sealed, record = files.record("evidence"), files.record(_FOLDER)
    if sealed is not None and at < instant_of(sealed["finished_at"]).replace(microsecond=0):
        raise OddError(f"says that it was signed {at}, before the run was sealed")
    if record is not None and {instant_of(record[name]) for name in ("started_at", "finished_at")} != {at}:
        raise OddError("its record has another time than the statement")
    if files.below("signoff"):
        raise OddError("the run was rejected, and it was signed as well: one of the two is not to be here")
    check_believed(files, _FOLDER, key.key_id, at, trust)
    if at > now:
        files.verdict.notes.append(
            f"{_FOLDER}: says that it was signed {at}, which is after this machine's clock"
        )
    files.verdict.signatures.append(
        f"REJECTED by {said['auditor']!a}, {said['organisation']!a}, on {at:%Y-%m-%d %H:%M} UTC, "
        f"key {key.key_id[:16]}: {said['reason']!a}"
    )
