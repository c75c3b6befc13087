"""Sign-offs of a run as they lie in its folder: ``signoff/1``, ``signoff/2``, ..."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from audit_lib.canonical import sha256
from audit_lib.errors import EvidenceError
from audit_lib.run import SUCCESS, Run, StageFolder

FOLDER: Final = "signoff"
STATEMENT: Final = "statement.dsse.json"
PUBLIC_KEY: Final = "signer.pub"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignOff:
    """One signed statement.

    Attributes
    ----------
    number : int
        1 is the first of the run.
    digest : str
        SHA-256 of the envelope's bytes, by which a later statement names it.
    statement : dict
        As signed; whether the signature holds is for `verify_sign_offs`.
    folder : StageFolder
        Where it lies, with the signed report.
    """

    number: int
    digest: str
    statement: dict[str, Any]
    folder: StageFolder

    @property
    def predicate(self) -> dict[str, Any]:
        """What was said."""
        predicate: dict[str, Any] = self.statement["predicate"]
        return predicate

    @property
    def signed_at(self) -> datetime:
        """When, by the signer's clock."""
        return datetime.fromisoformat(self.predicate["signed_at"])


def numbers(run: Run) -> list[int]:
    """Return the numbers of the run's complete sign-offs, in order."""
    found = [path.split("/")[1] for path in run.list(FOLDER) if path.endswith(f"/{SUCCESS}")]
    return sorted(int(number) for number in found if number.isdecimal())


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
    try:
        statement = json.loads(base64.b64decode(json.loads(content)["payload"], validate=True))
        found = SignOff(number=number, digest=sha256(content), statement=statement, folder=folder)
        _ = found.signed_at, found.predicate["auditor"], found.predicate["supersedes"]
    except (ValueError, KeyError, TypeError) as error:
        raise EvidenceError(f"{where}: not a signed statement ({type(error).__name__})") from None
    return found
