"""What went over the wire in one call that a provider's own library makes, and what it means.

Libraries differ in what they raise, what they try again and what they pass over. So the call itself is looked at: the
body that was sent, and the status, headers and bytes that came back, at most so many. It is kept in a variable of the
context, which a task hands on to its threads.
"""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from audit_lib.score.remote.answer_size import bounded
from audit_lib.score.remote.asker import FailedError, TryAgainError, TurnedAwayError
from audit_lib.score.remote.error_codes import safe_code
from audit_lib.score.remote.error_texts import failure, provider_message, told
from audit_lib.score.remote.json_answer import parsed
from audit_lib.score.remote.limits import asked_wait
from audit_lib.score.remote.stated_errors import AGAIN, REFUSED, stated_error

_CHUNK: Final = 65_536


@dataclass(slots=True)
class Exchange:
    """One call.

    Attributes
    ----------
    sent : Any
        The body that was sent, as parsed JSON; None until then.
    status : int
        HTTP status of the answer; 0 until then.
    headers : mapping of str to str
        Of the answer, their names in lower case.
    content : bytes
        What came, if all of it came.
    failed : FailedError or None
        That the answer is too large or compressed.
    """

    sent: Any = None
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes = b""
    failed: FailedError | None = None


EXCHANGE: Final[ContextVar[Exchange | None]] = ContextVar("exchange", default=None)


def hooks(most: int, library: Any) -> dict[str, list[Callable[[Any], Awaitable[None]]]]:
    """Return the hooks of an HTTP client (of httpx2, or httpx) that write down its exchanges; bodies are bounded."""
    check = bounded(most, library)

    async def asked(request: Any) -> None:
        if (exchange := EXCHANGE.get()) is not None:
            exchange.sent = _json_or_none(request.content)

    async def answered(response: Any) -> None:
        if (exchange := EXCHANGE.get()) is None:
            return
        exchange.status, exchange.content = response.status_code, b""
        exchange.headers = {name.lower(): value for name, value in response.headers.items()}
        try:
            await check(response)
            exchange.content = await response.aread()
            if response.status_code == 200:
                # Some libraries read nothing else; what it is, its bytes tell.
                response.headers["content-type"] = "application/json"
        except FailedError as failed:
            exchange.failed = failed
            raise

    return {"request": [asked], "response": [answered]}


class BoundedSession:
    """The HTTP session of a boto3 client, with the same look at its exchanges.

    Parameters
    ----------
    inner : botocore.httpsession.URLLib3Session
    most : int
        Bytes that an answer may have.
    seconds : float
        That it may take: the thread that reads it is not ended with its task.
    """

    def __init__(self, inner: Any, most: int, seconds: float) -> None:
        self._inner, self._most, self._seconds = inner, most, seconds

    def send(self, request: Any) -> Any:
        """Send a prepared request and return its answer, read whole."""
        exchange, until = EXCHANGE.get() or Exchange(), time.monotonic() + self._seconds
        exchange.sent, request.stream_output = _json_or_none(request.body), True
        response = self._inner.send(request)
        exchange.status = response.status_code
        exchange.headers = {name.lower(): value for name, value in response.headers.items()}
        content = bytearray()
        for part in response.raw.stream(_CHUNK):
            content += part
            if len(content) > self._most:
                said = f"the answer is larger than model.options.max_answer_bytes ({self._most:,})"
                exchange.failed = FailedError(said)
                response.raw.close()
                raise exchange.failed
            if time.monotonic() > until:
                response.raw.close()
                raise TimeoutError
        exchange.content = response._content = bytes(content)
        return response

    def close(self) -> None:
        """Close its connections."""
        self._inner.close()


def meaning(
    exchange: Exchange, error: Exception, asked: Sequence[str], secrets: Sequence[str], where: str
) -> Exception:
    """Return what a call that ended with an error means: one of the three ways in which a call may fail.

    Parameters
    ----------
    exchange : Exchange
    error : Exception
        As the library raised it; only its kind is told.
    asked, secrets : sequence of str
        What no message may repeat.
    where : str
        The endpoint.
    """
    if exchange.failed is not None:
        return exchange.failed
    status = exchange.status
    if status == 0:
        if exchange.sent is None and not _is_of_the_network(error):
            detail = told(str(error), asked, secrets)
            return FailedError(
                f"the library does not send it ({type(error).__name__}): {detail}", said=str(error)
            )
        return TryAgainError("timeout" if "timeout" in type(error).__name__.lower() else "no connection")
    said = told(provider_message(exchange.content), asked, secrets)
    after = f": {said}" if said else ""
    if status in (401, 403):
        return TurnedAwayError(f"{where}: HTTP {status}, the key is refused{after}")
    if status == 404:
        return TurnedAwayError(f"{where}: HTTP 404, no such model, or a wrong base_url{after}")
    if 200 <= status < 300:
        try:
            if (stated := stated_error(parsed(exchange.content), asked, secrets)) is not None:
                return stated
        except (TryAgainError, FailedError) as fault:
            return fault
        except Exception as fault:  # noqa: BLE001 - whatever a server says, a call ends in one of three ways
            return FailedError(f"the answer is not that of a model ({type(fault).__name__})")
        return FailedError(f"the answer is not that of a model ({type(error).__name__})")
    if 300 <= status < 400:
        return FailedError(f"HTTP {status}: a redirect is not followed; give its goal in base_url")
    code = safe_code(_code(exchange.content), *secrets)
    detail = failure(status, code, said)
    if status in AGAIN or status >= 500:
        return TryAgainError(detail, asked_wait(exchange.headers, datetime.now(UTC)))
    kind = "refused" if code in REFUSED else "error"
    return FailedError(detail, kind, said=exchange.content.decode(errors="replace"))  # type: ignore[arg-type]


def _is_of_the_network(error: BaseException | None) -> bool:
    """Whether an error, or what led to it, is one of connections."""
    while error is not None:
        if (
            isinstance(error, OSError)
            or "Connect" in type(error).__name__
            or "Timeout" in type(error).__name__
        ):
            return True
        error = error.__cause__ or error.__context__
    return False


def _code(content: bytes) -> object:
    body = _json_or_none(content)
    inner = body.get("error", body) if isinstance(body, dict) else None
    return (inner.get("code") or inner.get("type")) if isinstance(inner, dict) else None


def _json_or_none(content: Any) -> Any:
    try:
        return json.loads(content)
    except (ValueError, TypeError, RecursionError):
        return None
