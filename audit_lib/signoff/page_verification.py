"""A published page and the statement that signs it, checked alone: nothing else of the run is needed, or known.

That the numbers of the page follow from the evidence is for `audit_lib.signoff.verify_signed`, which needs the run.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from audit_lib.canonical import sha256, strict_json
from audit_lib.documents.envelope import read_statement
from audit_lib.documents.sign_off import Predicate, SignedStatement
from audit_lib.errors import EvidenceError, InputError
from audit_lib.plain_text import look_alikes, looks_latin, quoted, scripts
from audit_lib.signing.keys import key_id, read_public_pem
from audit_lib.signing.trust import Trust
from audit_lib.signoff.envelope import unseal
from audit_lib.signoff.sign_off_files import FOLDER
from audit_lib.window import Window

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

PAGE_VERIFICATION: Final = "audit-page-verification/1"
_CLOCKS: Final = timedelta(minutes=5)
"""By how much two clocks may differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageVerification:
    """What a page and its statement show.

    Parameters
    ----------
    page : str
        What was looked at, as it was named.
    sha256 : str
        Its digest.
    signed_as : str
        Name under which the statement signs it, in the run's folder; empty where it does not.
    audit, window, auditor, organisation, signed_at : str
        What the statement says of it; empty where it cannot be read.
    key : str
        Id of the key that signed the statement; empty where it is none of those that are believed.
    findings : tuple of str
        What does not hold.
    undecided : tuple of str
        What could not be decided; without findings, there is then no verdict.
    notes : tuple of str
        What a reader should know and what is no fault.
    """

    page: str
    sha256: str
    signed_as: str = ""
    audit: str = ""
    window: str = ""
    auditor: str = ""
    organisation: str = ""
    signed_at: str = ""
    key: str = ""
    findings: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """In words: verified, not verified, or not decided."""
        if self.findings:
            return "not verified"
        return "not decided" if self.undecided else "verified"

    @property
    def exit_code(self) -> int:
        """0 verified, 1 not verified, 2 not decided."""
        return {"verified": 0, "not verified": 1, "not decided": 2}[self.verdict]

    def summary(self) -> str:
        """Return it for a terminal."""
        lines = [f"{self.verdict.upper()}  {self.page}", f"  SHA-256 {self.sha256}"]
        if self.signed_as:
            lines.append(
                f"  {self.signed_as} of audit {self.audit}, window {self.window}; signed by "
                f"{quoted(self.auditor)}, {quoted(self.organisation)}, on {self.signed_at}, key {self.key[:16] or '?'}"
            )
        lines += [f"  finding: {one}" for one in self.findings]
        lines += [f"  could not be decided: {one}" for one in self.undecided]
        return "\n".join([*lines, *(f"  note: {one}" for one in self.notes)])

    def json(self) -> str:
        """Return it as JSON."""
        document = {"schema": PAGE_VERIFICATION, "verdict": self.verdict, **asdict(self)}
        return json.dumps(document, indent=2, ensure_ascii=False)


def verify_page(
    page: bytes,
    statement: bytes | None,
    trusted: Sequence[Ed25519PublicKey],
    trust: Trust | None,
    *,
    name: str,
    now: datetime,
) -> PageVerification:
    """Check that an auditor whom the reader believes signed these very bytes.

    Parameters
    ----------
    page : bytes
        The page as it was downloaded: HTML, PDF, JSON or CSV.
    statement : bytes or None
        The ``statement.dsse.json`` that lies next to it; None where there is none.
    trusted : sequence of Ed25519PublicKey
        Keys of auditors, got from them; or
    trust : Trust
        a trust file, which also knows when a key was valid and whether it was revoked.
    name : str
        How the page is called in what is said of it.
    now : datetime
        Time of the check: a statement of a later time is a finding.
    """
    digest = sha256(page)
    if statement is None:
        why = (
            "there is no statement (statement.dsse.json) with it, so that nothing shows who published it or that it "
            "is whole; on a public site it lies next to the page of the run itself, not under latest/"
        )
        return PageVerification(page=name, sha256=digest, undecided=(why,))
    try:
        signed = read_statement(SignedStatement, statement, "the statement")
    except EvidenceError as error:
        return PageVerification(page=name, sha256=digest, findings=(str(error),))
    said = signed.predicate
    key, findings, notes = _signer(statement, said, trusted, trust)
    findings += _names(said)
    if datetime.fromisoformat(said.signed_at) > now + _CLOCKS:
        findings.append(f"says that it was signed on {said.signed_at}, which is in the future")
    elif (end := Window.from_label(said.window).end) > datetime.fromisoformat(said.signed_at):
        notes.append(
            f"says that it was signed on {said.signed_at}, before its window was over, on {end:%Y-%m-%d}"
        )
    signed_as = _signed_as(signed, digest)
    if not signed_as:
        findings.append(_not_signed(signed, name))
    elif not signed_as.startswith(f"{FOLDER}/"):
        notes.append(
            f"{signed_as} is the page as it was sealed, without the auditor's signature printed on it"
        )
    if said.supersedes is not None:
        notes.append(f"it takes the place of statement {said.supersedes.run}: {said.supersedes.reason}")
    notes += [
        "when it was signed is what the signer's clock said" if said.signer == "auditor" else _service(said),
        "whether a later statement took its place is not in these files: see the audit's page on the public site",
        "that its numbers follow from the evidence is not checked here: `audit verify` does, with the run",
    ]
    return PageVerification(
        page=name,
        sha256=digest,
        signed_as=signed_as,
        audit=said.audit,
        window=said.window,
        auditor=said.auditor,
        organisation=said.organisation,
        signed_at=said.signed_at,
        key=key,
        findings=tuple(findings),
        notes=tuple(notes),
    )


def _signer(
    statement: bytes, said: Predicate, trusted: Sequence[Ed25519PublicKey], trust: Trust | None
) -> tuple[str, list[str], list[str]]:
    """Return the id of the believed key that signed, what does not hold of it, and what is known of it."""
    known = list(trusted)
    if trust is not None:
        known += _ed25519_keys(trust)
    for key in known:
        try:
            unseal(statement, key, "the statement")
        except EvidenceError:
            continue
        mark = key_id(key)
        if trust is None:
            return mark, [], []
        at, own = datetime.fromisoformat(said.signed_at), trust.keys[mark]
        why = trust.why_not(mark, "auditor", at)
        if not why and own.revoked is not None:
            revoked = f"was revoked on {own.revoked.at}: {own.revoked.reason}"
            why = f"key {mark[:16]} ({own.name}) {revoked}; when it signed, it only claims"
        return mark, [why] if why else [], [f"key {mark[:16]} is {quoted(own.name)} in the trust file"]
    return "", [_nobody(statement, known, trust)], []


def _ed25519_keys(trust: Trust) -> list[Ed25519PublicKey]:
    """Return the keys of a trust file that can have signed for an auditor: they sign by Ed25519 alone."""
    found = []
    for one in trust.keys.values():
        with suppress(InputError):
            found.append(read_public_pem(one.public.encode(), one.name))
    return found


def _nobody(statement: bytes, known: Sequence[Ed25519PublicKey], trust: Trust | None) -> str:
    """Say why no key that is believed signed it; what the envelope calls its key is only a claim."""
    try:
        claimed = str(strict_json(statement)["signatures"][0]["keyid"])
    except (ValueError, KeyError, TypeError, IndexError):
        claimed = "?"
    if trust is not None and claimed in trust.gone:
        return f"its key {claimed[:16]} ({trust.gone[claimed]}) was rotated out of the trust file"
    if claimed in map(key_id, known):
        return (
            f"it names key {claimed[:16]}, which you gave, and is not as that key signed it: it was changed"
        )
    return f"none of the keys that you gave signed it; it says that key {ascii(claimed[:16])[1:-1]} did"


def _names(said: Predicate) -> list[str]:
    """Find names that are written to look like others, and those of which a reader cannot see the script."""
    found = []
    for what, words in (("auditor", said.auditor), ("organisation", said.organisation)):
        found += [
            f"{what}: {one}, which may be meant to look like another name" for one in look_alikes(words)
        ]
        if looks_latin(words):
            used = " and ".join(one for one in scripts(words) if one != "LATIN")
            found.append(f"{what}: {quoted(words)} has {used} letters that look like LATIN ones")
    return found


def _signed_as(signed: SignedStatement, digest: str) -> str:
    """Return the name of the signed file with this digest, one of the sign-off's own before the sealed one."""
    names = sorted(one.name for one in signed.subject if one.digest.sha256 == digest)
    return next((one for one in names if one.startswith(f"{FOLDER}/")), names[0] if names else "")


def _not_signed(signed: SignedStatement, name: str) -> str:
    own = name.replace("\\", "/").rsplit("/", 1)[-1]
    same = [one.name for one in signed.subject if one.name.rsplit("/", 1)[-1] == own]
    if same:
        what = "the page was changed, or is of another statement"
        return f"these are not the bytes that were signed as {same[-1]}: {what}"
    return f"none of the {len(signed.subject)} files that the statement signs has these bytes"


def _service(said: Predicate) -> str:
    who = "" if said.account is None else f", where account {quoted(said.account)} answered"
    return f"a service's key signed it{who}; that it was the auditor who answered is what the service says"
