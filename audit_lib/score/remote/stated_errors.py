"""Errors that are stated in an answer with HTTP 200, as routers and proxies in front of a provider give them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from audit_lib.score.remote.asker import FailedError, TryAgainError
from audit_lib.score.remote.error_codes import safe_code
from audit_lib.score.remote.error_texts import failure, provider_message, told

REFUSED: Final = ("content_filter", "content_policy_violation")
"""Codes of an answer that was refused for what it is about."""
AGAIN: Final = (408, 409, 424, 425, 429)
"""HTTP statuses that another attempt may heal, next to those of 500 and above."""


def stated_error(
    body: Any, asked: Sequence[str], secrets: Sequence[str]
) -> TryAgainError | FailedError | None:
    """Return what a body means that states an error and holds no choice; None for any other.

    Parameters
    ----------
    body : Any
        Parsed JSON.
    asked, secrets : sequence of str
        What no message may repeat.

    Examples
    --------
    >>> stated_error({"error": {"code": 402, "message": "No credit"}}, [], [])
    FailedError('HTTP 200 (402): No credit')
    >>> stated_error({"error": {"code": 502, "message": "Provider returned error"}}, [], [])
    TryAgainError('HTTP 200 (502): Provider returned error')
    """
    if not isinstance(body, dict) or body.get("choices") or not body.get("error"):
        return None
    inner = body["error"]
    found = (inner.get("code") or inner.get("type")) if isinstance(inner, dict) else None
    code = safe_code(str(found) if isinstance(found, int) else found, *secrets)
    detail = failure(200, code, told(provider_message(body), asked, secrets))
    if isinstance(found, int) and (found in AGAIN or 500 <= found < 600):
        return TryAgainError(detail)
    return FailedError(detail, "refused" if code in REFUSED else "error", said=str(inner))
