"""The signed report: what it prints of its signature, and whether it is the report of its run."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Final

from audit_lib.archive.artefact_differences import compare
from audit_lib.canonical import sha256, strict_json
from audit_lib.documents.sign_off import Predicate
from audit_lib.errors import EvidenceError
from audit_lib.large_file import Content, bytes_of
from audit_lib.report import rendered
from audit_lib.report.content import Content as ReportContent
from audit_lib.report.content import gather
from audit_lib.report.earlier import earlier_audits
from audit_lib.report.pdf import why_no_pdf
from audit_lib.report.readings import ReadingForm, is_reading, readings
from audit_lib.report.signature import Signature
from audit_lib.run import Run
from audit_lib.signing.keys import key_id, read_public_pem
from audit_lib.signoff.sign_off_files import PUBLIC_KEY, STATEMENT, SignOff, read_sign_offs

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

_PDF: Final = ".pdf"
"""End of the names of what not every machine can make."""
_OF_THE_SIGNATURE: Final = ("title", "status", "signature", "attested", "required_fields", "digests")
"""Keys of ``report.json`` that a signature changes; `digests` are of the other keys, each of which is compared."""


def report_names(one: SignOff) -> list[str]:
    """Return the names of a sign-off's report files, sorted."""
    return sorted(one.folder.success().artefacts.keys() - {STATEMENT, PUBLIC_KEY})


def signed_files(run: Run, signature: Signature) -> dict[str, Content]:
    """Return what an auditor signs of a sealed run: its report with the signature, and the short readings of it."""
    content = gather(run, earlier_audits(run), signature)
    short = readings_of(run, content)
    return {**rendered(run, content).artefacts, **short}


def readings_of(run: Run, content: ReportContent, *, pdf: bool = True) -> dict[str, bytes]:
    """Return the short readings of a sealed run, in its languages; as PDF too where its spec asks for PDFs."""
    asked = pdf and "pdf" in run.spec.report.formats and why_no_pdf() is None
    manifest = sha256(run.stage("evidence").read("manifest.json"))
    forms: tuple[ReadingForm, ...] = ("html", "card", "pdf") if asked else ("html", "card")
    return readings(content, manifest, ("en", *run.spec.report.languages), forms)


def check_rendition(run: Run, one: SignOff, key: Ed25519PublicKey) -> list[str]:
    """Render the signed report again from the evidence, and compare it with what was signed.

    Returns
    -------
    list of str
        What a reader should know and what is no fault.

    Raises
    ------
    EvidenceError
        If a file is not what comes out here.
    """
    notes: list[str] = []
    names = report_names(one)
    made = signed_files(run, signature_of(one.predicate, key))
    if not any(map(is_reading, names)):  # signed before there were any
        made = {name: content for name, content in made.items() if not is_reading(name)}
    without_pdf = why_no_pdf() if any(name.endswith(_PDF) for name in names) else None
    if without_pdf is not None:
        pdfs = [name for name in names if name.endswith(_PDF)]
        verb = "were" if len(pdfs) > 1 else "was"
        notes.append(f"{_where(one)}/{', '.join(pdfs)}: {verb} not made again: {without_pdf}")
    needed = {name for name in made if not name.endswith(_PDF)}  # an auditor's machine may make none
    if missing := sorted(needed - set(names)):
        raise EvidenceError(f"{', '.join(missing)} belongs to the signed report, and is not there")
    for name in names:
        if name.endswith(_PDF) and without_pdf is not None:
            continue
        if name not in made:
            raise EvidenceError(f"{name} does not follow from the evidence")
        difference = compare(name, one.folder.read(name), bytes_of(made[name]))
        if difference is None:
            continue
        if difference.exceeds:
            why = " (another machine's fonts or WeasyPrint do that too)" if name.endswith(_PDF) else ""
            raise EvidenceError(
                f"{name} is not the report that follows from the evidence and this statement: "
                f"{'; '.join(difference.exceeds)}{why}"
            )
        notes.append(f"{_where(one)}/{name}: {difference.numbers} numbers differ in their last digits here")
    return notes


def check_facts(run: Run, one: SignOff) -> None:
    """Hold the numbers of the signed report against the sealed one's, without rendering anything.

    Raises
    ------
    EvidenceError
        If a table or ``report.json`` says another thing than the sealed one, the signature apart.
    """
    sealed = run.stage("report")
    for name in sorted({*report_names(one), *sealed.success().artefacts}):
        if name.endswith((".html", _PDF)) or is_reading(name):
            continue
        contents = [folder.read(name) for folder in (sealed, one.folder)]
        if name == "report.json":
            contents = [_without_signature(content) for content in contents]
        if contents[0] != contents[1]:
            raise EvidenceError(f"{name} says another thing than the sealed report")


def _without_signature(content: bytes) -> bytes:
    document = strict_json(content)
    return json.dumps({name: document[name] for name in document if name not in _OF_THE_SIGNATURE}).encode()


def _where(one: SignOff) -> str:
    return f"signoff/{one.number}"


def last_signature(run: Run) -> Signature | None:
    """Return the signature of the run's last statement as reports print it; None for a run that nobody signed.

    Whether it holds is for `verify_sign_offs`.
    """
    found = read_sign_offs(run)
    if not found:
        return None
    key = read_public_pem(found[-1].folder.read(PUBLIC_KEY), PUBLIC_KEY)
    return signature_of(found[-1].predicate, key)


def signature_of(predicate: Predicate, key: Ed25519PublicKey) -> Signature:
    """Return the signature as the report prints it."""
    return Signature(
        auditor=predicate.auditor,
        organisation=predicate.organisation,
        signed_at=datetime.fromisoformat(predicate.signed_at),
        number=predicate.number,
        key_id=key_id(key),
        by_service=predicate.signer == "service",
        account=predicate.account,
        attestations=tuple((one.text, one.cite) for one in predicate.attestations),
        remarks=predicate.remarks,
        supersedes=None if predicate.supersedes is None else predicate.supersedes.as_dict(),
    )
