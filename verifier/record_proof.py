"""One person's records, from the file of `audit prove` alone, or from that of `audit access`, which holds one."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from verifier.documents import decode, manifest_document, record_proof
from verifier.findings import Verdict
from verifier.record_tree import leaf_of, root_of
from verifier.strict_json import OddError, pretty, read

NOT_CHECKED = (
    "that the manifest in the file is that of the run: compare its SHA-256 with one from elsewhere (--manifest)",
    "that no other leaf of the tree is this application's: `audit verify` of the run does",
)
_ACCESS = "audit-access/1"
_BESIDE = "what the file of `audit access` holds beside the proof: `audit verify-record` checks its questions"


def check_record(content: bytes, verdict: Verdict) -> None:
    """Take note of what a proof shows, or of why it does not."""
    verdict.files, verdict.not_checked = 1, list(NOT_CHECKED)
    try:
        document = read(content)
        if isinstance(document, dict) and document.get("schema") == _ACCESS:
            verdict.not_checked.append(_BESIDE)
            content = pretty(document.get("proof"))
            if document.get("application") != _application(document.get("proof")):
                raise OddError("its proof is of another application")
        proof = decode(record_proof, content)
        sealed = proof["manifest"].encode()
        manifest = decode(manifest_document, sealed)
        verdict.manifest_sha256 = hashlib.sha256(sealed).hexdigest()
        verdict.identity = {
            "audit": manifest["audit"],
            "window": manifest["window"],
            "design": manifest["spec_digest"],
            "outcome": manifest["outcome"],
        }
        _check(proof, manifest.get("record_tree"))
    except OddError as error:
        verdict.find("record", "", f"does not prove what it says: {error}")
        return
    count = len(proof["records"])
    what = f"all {count} records of it are in the evidence" if count else "it has no records in the evidence"
    verdict.notes.append(f"application {proof['application']}: {what}")


def _application(proof: Any) -> Any:
    return proof.get("application") if isinstance(proof, dict) else None


def _check(proof: dict[str, Any], tree: dict[str, Any] | None) -> None:
    if tree is None:
        raise OddError("its manifest has no tree of records")
    salted, inside = "salted_leaves" in tree, bool(proof["records"])
    for one in proof["proofs"]:
        if ("application_salt" in one, "records_salt" in one) != (salted, salted and inside):
            raise OddError(f"leaf {one['index']} has other salts than a leaf of its tree has here")
        path = [bytes.fromhex(each) for each in one["path"]]
        if root_of(leaf_of(one), one["index"], tree["applications"], path).hex() != tree["root"]:
            raise OddError(f"leaf {one['index']} does not lead to the root in the manifest")
    own = hashlib.sha256(proof["application"].encode()).hexdigest()
    leaves = [(one["index"], one["application_sha256"]) for one in proof["proofs"]]
    if inside:
        if [digest for _, digest in leaves] != [own]:
            raise OddError("its leaf is not that of the application")
        digests = "".join(hashlib.sha256(jcs(record).encode()).hexdigest() for record in proof["records"])
        if proof["proofs"][0]["records_sha256"] != hashlib.sha256(digests.encode()).hexdigest():
            raise OddError("its records are not those of the leaf, or not all of them")
        return
    # No leaf: before the first, behind the last, or between two neighbours.
    bounds = [(-1, ""), *leaves] if leaves and leaves[0][0] == 0 and own < leaves[0][1] else leaves
    if len(bounds) == 1 and bounds[0][0] == tree["applications"] - 1:
        bounds = [*bounds, (tree["applications"], "g")]
    if len(bounds) != 2 or bounds[1][0] != bounds[0][0] + 1 or not bounds[0][1] < own < bounds[1][1]:
        raise OddError("it does not show that the application has no records")


def jcs(value: Any) -> str:
    """Return a value as RFC 8785 writes it.

    Raises
    ------
    OddError
        If it holds a whole number that is not one double alone.
    """
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(f"{jcs(name)}:{jcs(value[name])}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(jcs, value)) + "]"
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 1 << 53:
        raise OddError("holds a whole number that is none in every language")
    return json.dumps(value, ensure_ascii=False)


def _number(value: float) -> str:
    """Return a double as ECMAScript writes it: its shortest digits, with an exponent from 1e21 on and below 1e-6."""
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    written, _, exponent = repr(abs(value)).partition("e")
    before, _, behind = written.partition(".")
    point = len(before) + int(exponent or "0")
    digits = before + behind
    point -= len(digits) - len(digits.lstrip("0"))
    digits = digits.strip("0")
    if len(digits) <= point <= 21:
        return sign + digits.ljust(point, "0")
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{digits.rjust(len(digits) - point, '0')}"
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{rest}e{'-' if point < 1 else '+'}{abs(point - 1)}"
