"""What a signed statement says, taken from its DSSE envelope; who signed it is for `audit_lib.signoff.envelope`."""

from __future__ import annotations

import base64
from typing import TypeVar

from audit_lib.canonical import strict_json
from audit_lib.errors import EvidenceError
from audit_lib.typed_json import Typed, decode

T = TypeVar("T", bound=Typed)


def read_statement(kind: type[T], content: bytes, where: str) -> T:
    """Return the statement in an envelope, of one kind; whether its signature holds is for `unseal`.

    Raises
    ------
    EvidenceError
        If it is none, or holds anything but what such a statement says; the message names the first places.
    """
    try:
        payload = base64.b64decode(strict_json(content)["payload"], validate=True)
    except (ValueError, KeyError, TypeError) as error:
        raise EvidenceError(f"{where}: not a signed statement ({type(error).__name__})") from None
    try:
        return decode(kind, payload, where)
    except EvidenceError as error:
        raise EvidenceError(
            f"{where}: not a signed statement: {str(error).removeprefix(where + ': ')}"
        ) from None
