"""An auditor's rejection as it lies in a run's folder: ``rejection/``, once and for good."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from audit_lib.canonical import sha256
from audit_lib.documents.envelope import read_statement
from audit_lib.documents.rejection import RejectionPredicate, RejectionStatement
from audit_lib.report.content import Content, gather
from audit_lib.report.earlier import earlier_audits
from audit_lib.report.rejected import RejectedBy
from audit_lib.run import Run, StageFolder
from audit_lib.signing.keys import key_id, read_public_pem
from audit_lib.signoff.sign_off_files import PUBLIC_KEY, STATEMENT
from audit_lib.signoff.signed_report import last_signature

FOLDER: Final = "rejection"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """One signed rejection.

    Attributes
    ----------
    digest : str
        SHA-256 of the envelope's bytes, by which the journal names it.
    statement : RejectionStatement
        As signed; whether the signature holds is for `verify_rejection`.
    folder : StageFolder
        Where it lies.
    """

    digest: str
    statement: RejectionStatement
    folder: StageFolder

    @property
    def predicate(self) -> RejectionPredicate:
        """What was said."""
        return self.statement.predicate

    @property
    def rejected_at(self) -> datetime:
        """When, by the signer's clock."""
        return datetime.fromisoformat(self.predicate.rejected_at)


def read_rejection(run: Run) -> Rejection | None:
    """Return the run's rejection; None for a run that no auditor rejected.

    Raises
    ------
    EvidenceError
        If what lies there is no signed rejection.
    """
    folder = run.stage(FOLDER)
    if not folder.is_complete():
        return None
    content = folder.read(STATEMENT)
    statement = read_statement(RejectionStatement, content, folder.store.uri(f"{folder.prefix}/{STATEMENT}"))
    return Rejection(digest=sha256(content), statement=statement, folder=folder)


def content_now(run: Run) -> Content:
    """Return what a sealed run's report says now: with its last signature, or with its rejection.

    Whether those hold is for `verify_signed`.
    """
    content = gather(run, earlier_audits(run), last_signature(run))
    found = read_rejection(run)
    return content if found is None else replace(content, rejected=_as_printed(found))


def _as_printed(one: Rejection) -> RejectedBy:
    said = one.predicate
    return RejectedBy(
        auditor=said.auditor,
        organisation=said.organisation,
        rejected_at=one.rejected_at,
        reason=said.reason,
        key_id=key_id(read_public_pem(one.folder.read(PUBLIC_KEY), PUBLIC_KEY)),
        by_service=said.signer == "service",
        account=said.account,
    )
