"""Sign-offs of a run as they lie in its folder: ``signoff/1``, ``signoff/2``, ..."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from audit_lib.canonical import sha256
from audit_lib.documents.envelope import read_statement
from audit_lib.documents.sign_off import Predicate, SignedStatement
from audit_lib.run import SUCCESS, Run, StageFolder

FOLDER: Final = "signoff"
STATEMENT: Final = "statement.dsse.json"
PUBLIC_KEY: Final = "signer.pub"
_COMPLETE: Final = re.compile(rf"{FOLDER}/([1-9][0-9]*)/{SUCCESS}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SignOff:
    """One signed statement.

    Attributes
    ----------
    number : int
        1 is the first of the run.
    digest : str
        SHA-256 of the envelope's bytes, by which a later statement names it.
    statement : SignedStatement
        As signed; whether the signature holds is for `verify_sign_offs`.
    folder : StageFolder
        Where it lies, with the signed report.
    """

    number: int
    digest: str
    statement: SignedStatement
    folder: StageFolder

    @property
    def predicate(self) -> Predicate:
        """What was said."""
        return self.statement.predicate

    @property
    def signed_at(self) -> datetime:
        """When, by the signer's clock."""
        return datetime.fromisoformat(self.predicate.signed_at)


def numbers(run: Run) -> list[int]:
    """Return the numbers of the run's complete sign-offs, in order."""
    return sorted(int(found[1]) for path in run.list(FOLDER) if (found := _COMPLETE.fullmatch(path)))


def strays(run: Run) -> list[str]:
    """Return the paths of statements and records that lie in no complete sign-off, where nobody would read them."""
    complete = [f"{FOLDER}/{number}" for number in numbers(run)]
    return [
        path
        for path in run.list(FOLDER)
        if path.endswith((f"/{STATEMENT}", f"/{SUCCESS}")) and path.rsplit("/", 1)[0] not in complete
    ]


def next_number(run: Run) -> int:
    """Return the first number after all that were begun: an attempt that was killed keeps its place for ever."""
    begun = [path.split("/")[1] for path in run.list(FOLDER) if path.count("/") > 1]
    return 1 + max((int(number) for number in begun if number.isdecimal()), default=0)


def read_sign_offs(run: Run) -> list[SignOff]:
    """Return the run's sign-offs, the first one first; none for a run that is not signed.

    Raises
    ------
    EvidenceError
        If what lies there is no signed statement.
    """
    return [_read(run, number) for number in numbers(run)]


def _read(run: Run, number: int) -> SignOff:
    folder = run.stage(f"{FOLDER}/{number}")
    content = folder.read(STATEMENT)
    where = folder.store.uri(f"{folder.prefix}/{STATEMENT}")
    return SignOff(
        number=number,
        digest=sha256(content),
        statement=read_statement(SignedStatement, content, where),
        folder=folder,
    )
