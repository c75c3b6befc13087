"""The signatures of a run's own key: over the plan before the first request, over the result after the sealing."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from verifier.documents import decode, run_statement
from verifier.files import MANIFEST, SUCCESS, Files
from verifier.keys import IN_TOTO, is_signed_by, open_envelope, read_archived_key
from verifier.shapes import instant_of
from verifier.strict_json import OddError
from verifier.time_stamp import stamped_at
from verifier.trust import Trust

_OF_STATEMENTS = ("time stamps", "sigstore", "receipts")
"""What a trust file may require of each statement, so that there must be one."""
_UNKNOWN = (
    "without a trust file nothing here shows that the run was not made again as a whole, with other answers"
)


class UnknownKeyKindError(OddError):
    """A signature by a kind of key that is not checked here."""


class Signed(NamedTuple):
    """A signature that holds: by which key, when, whether a stamp says so, whose, and the head of the journal then."""

    key_id: str
    at: datetime
    stamped: bool
    own_authority: bool
    head: dict[str, Any] | None


def check_signatures(
    files: Files, identity: dict[str, str], trust: Trust, *, sealed: bool, stamps: bool
) -> dict[str, Signed]:
    """Check the statements over plan and result; return what holds, by its moment.

    Parameters
    ----------
    files : Files
        Of the run.
    identity : dict
        Which run it is.
    trust : Trust
        What is believed.
    sealed : bool
        Whether there is evidence; without it there is no result to be signed.
    stamps : bool
        Whether the verifier checked by other means who signed the time stamps.
    """
    verdict = files.verdict
    signed: dict[str, Signed] = {}
    for moment in ("plan", "result") if sealed else ("plan",):
        path = f"signatures/{moment}.dsse.json"
        if path not in files:
            for other in ("pub", "tsr"):
                if f"signatures/{moment}.{other}" in files:
                    verdict.find(
                        "signature",
                        f"signatures/{moment}.{other}",
                        "the statement that it belongs to is gone",
                    )
            needed = {moment, *_OF_STATEMENTS} & {*trust.required}
            if needed:
                what = "it" if moment in needed else f"{' and '.join(sorted(needed))} over it"
                verdict.find(
                    "signature", path, f"the {moment} is not signed, and the trust file requires {what}"
                )
            verdict.signatures.append(f"{moment} not signed")
            continue
        try:
            signed[moment] = _check(files, moment, identity)
        except UnknownKeyKindError as error:
            verdict.undecided.append(f"{path}: {error}; use `audit verify`")
            continue
        except OddError as error:
            verdict.find("signature", path, str(error))
            continue
        _check_believed(files, moment, signed[moment], trust, stamps=stamps)
    for what, suffix in (("sigstore", "sigstore.json"), ("receipts", "receipt.cbor")):
        if what in trust.required:
            verdict.undecided.append(
                f"the trust file requires {what}, which are not checked here; use `audit verify`"
            )
        elif any(path.endswith(suffix) for path in files.below("signatures")):
            verdict.notes.append(f"signatures/*.{suffix}: are not checked here")
    if not trust.file:
        verdict.signatures.append(_UNKNOWN)
    return signed


def _check(files: Files, moment: str, identity: dict[str, str]) -> Signed:
    path = f"signatures/{moment}.dsse.json"
    if f"signatures/{moment}.pub" not in files:
        raise OddError("its public key is gone")
    content = files.read(path)
    key = read_archived_key(files.read(f"signatures/{moment}.pub"))
    envelope, payload = open_envelope(content, IN_TOTO)
    statement = decode(run_statement, payload)
    if not key.ed25519:
        raise UnknownKeyKindError(
            f"is signed with key {key.key_id[:16]}, which is no Ed25519 key and not checked here"
        )
    if not is_signed_by(envelope, payload, key):
        raise OddError(f"the signature is not one of key {key.key_id[:16]} over this statement")
    said = statement["predicate"]
    if statement["predicateType"] != f"urn:audit-lib:{moment}:1":
        raise OddError("is a statement of another kind")
    if any(said[name] != identity[name] for name in ("audit", "window", "spec_digest")):
        raise OddError("the statement is about another run")
    if moment == "result" and said.get("outcome") != files.json(MANIFEST).get("outcome"):
        raise OddError("its outcome is not that of the manifest")
    _check_subject(files, moment, statement)
    stamp = f"signatures/{moment}.tsr"
    at = instant_of(said["claimed_at"])
    if stamp in files:
        at = stamped_at(files.read(stamp), content)
    return Signed(key.key_id, at, stamp in files, said.get("own_authority") is True, said.get("journal"))


def _check_subject(files: Files, moment: str, statement: dict[str, Any]) -> None:
    """Each file that is signed is there as it was signed, and no other one is there."""
    signed = {one["name"]: one["digest"]["sha256"] for one in statement["subject"]}
    folders = ("plan", "sample", "variants") if moment == "plan" else ("evidence",)
    there = {path for folder in folders for path in files.below(folder)}
    if moment == "result":
        there |= {
            path
            for path in (f"signatures/plan.{what}" for what in ("dsse.json", "pub", "tsr"))
            if path in files
        }
    if len(signed) != len(statement["subject"]):
        raise OddError("names a file twice")
    if there - set(signed):
        raise OddError(f"{', '.join(sorted(there - set(signed)))} is there and was not signed")
    if set(signed) - there:
        raise OddError(f"signed, and not there: {', '.join(sorted(set(signed) - there))}")
    for path in sorted(signed):
        if files.digests[path] != signed[path]:
            raise OddError(f"{path} is not the file that was signed")


def _check_believed(files: Files, moment: str, signed: Signed, trust: Trust, *, stamps: bool) -> None:
    verdict, path = files.verdict, f"signatures/{moment}.dsse.json"
    when = f"{signed.at:%Y-%m-%d %H:%M:%S} UTC"
    authorities = trust.file["authorities"] if trust.file else []
    own = signed.own_authority or (authorities and not any(one["independent"] for one in authorities))
    says = (
        f"time stamp {when} (who stamped is not checked here{'; not an independent authority' if own else ''})"
        if signed.stamped
        else f"on {when} as it only claims"
    )
    who = f"key {signed.key_id[:16]}"
    if not trust.file:
        verdict.signatures.append(
            f"{moment} signed with {who} (compare its id with the one published), {says}"
        )
        return
    known = trust.keys.get(signed.key_id)
    name = f"of {known['name']!a}" if known else "not believed"
    verdict.signatures.append(f"{moment} signed with {who} ({name}), {says}")
    if signed.stamped and not trust.file["authorities"]:
        what = "not a time stamp of a trusted authority: the trust file has none"
        verdict.find("signature", f"signatures/{moment}.tsr", what)
    if "time stamps" in trust.required:
        if not signed.stamped:
            what = f"the {moment} has no time stamp, and the trust file requires it"
            verdict.find("signature", f"signatures/{moment}.tsr", what)
        elif not stamps:
            verdict.undecided.append(
                f"signatures/{moment}.tsr: the trust file requires a time stamp, and whether a trusted authority made "
                f"this one is not checked here: `audit verify`, or `openssl ts -verify -data {path} "
                f"-in signatures/{moment}.tsr -CAfile AUTHORITY.pem`; then give --stamps-checked"
            )
    why = trust.why_not(signed.key_id, moment, signed.at)
    if why:
        verdict.find("signature", path, why)
    elif known and known.get("revoked"):
        at, reason = known["revoked"]["at"], known["revoked"]["reason"]
        said = f"{who} was revoked on {at}: {reason}; that it signed before, "
        if signed.stamped and not stamps:
            verdict.undecided.append(
                f"{path}: {said}only its time stamp says; check that, then give --stamps-checked"
            )
        elif not signed.stamped:
            verdict.find("signature", path, f"{said}it only claims: there is no time stamp")


def check_order(files: Files, signed: dict[str, Signed], entered: datetime | None) -> None:
    """The plan is signed before the first request, the result after the sealing; stamps have whole seconds.

    Parameters
    ----------
    files : Files
        Of the run.
    signed : dict
        Signatures that hold, by their moment.
    entered : datetime or None
        When the journal says that the model was about to be asked: a shard that was killed has no record.
    """
    verdict = files.verdict
    try:
        asked = [
            instant_of(record["started_at"])
            for path in files.below("scores")
            if path.endswith(f"/{SUCCESS}")
            for record in [files.record(path[: -len(SUCCESS) - 1])]
            if record is not None
        ]
        asked += [entered] if entered is not None else []
        if "plan" in signed and asked and signed["plan"].at > min(asked):
            what = f"the plan was signed {signed['plan'].at}, after the first request {min(asked)}"
            verdict.find("signature", "signatures/plan.dsse.json", what)
        record = files.record("evidence")
        if "result" in signed and record is not None:
            sealed = instant_of(record["finished_at"])
            if signed["result"].at < sealed.replace(microsecond=0):
                what = f"the result was signed {signed['result'].at}, before it was sealed"
                verdict.find("signature", "signatures/result.dsse.json", what)
    except OddError:
        return  # a record without times, which is found elsewhere
