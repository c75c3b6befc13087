"""Calls to a provider of batches: each within a time and a size, and each fault an error that says what to do."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, TypeVar

from audit_lib.errors import BackendError
from audit_lib.score.remote.asker import FailedError
from audit_lib.score.remote.chat_options import ChatOptions
from audit_lib.score.remote.conversation import Conversation
from audit_lib.score.remote.error_codes import safe_code
from audit_lib.score.remote.error_texts import failure, provider_message, told
from audit_lib.score.remote.limiter import Limiter
from audit_lib.score.remote.limits import asked_wait, backoff

FINAL: Final = ("completed", "expired", "cancelled", "failed")
"""What a batch ends as. In any other status, also one that is not known yet, it is under way."""
TWICE: Final[dict[str, Any]] = {"error": {"code": "duplicate"}}
"""Stands for a line that was answered twice, and differently."""
ENDPOINT: Final = "/v1/chat/completions"
_ID: Final = re.compile(r"[\w.:=-]{1,200}")
_MOST_PAGES: Final = 100
_LONGEST_WAIT_S: Final = 60.0
_SHORTEST_SECRET: Final = 8  # characters; a server without keys takes any word, which ids may hold
Value = TypeVar("Value")
Heals = Callable[[int], bool]
"""Whether a call that ended with an HTTP status (0: with none) may be made again."""


class NotThereError(BackendError):
    """The provider does not have what was asked for."""


class UnsureError(BackendError):
    """No answer that can be read: what was asked for may have been done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What a provider says about a batch.

    Attributes
    ----------
    status : str
        How far it is.
    codes : tuple of str
        Why it failed: codes, and what the provider says.
    files : tuple of str
        Ids of its files of errors and of answers.
    """

    status: str
    codes: tuple[str, ...]
    files: tuple[str, ...]

    @property
    def done(self) -> bool:
        """Whether it is at its end, with or without answers."""
        return self.status in FINAL


class Provider:
    """The Batch API of one endpoint.

    Parameters
    ----------
    conversation : Conversation
        Whose loop the calls run in.
    client : openai.AsyncOpenAI
        The official client, without retries of its own.
    options : ChatOptions
        With `timeout` for a call, `deadline` for it with its attempts and for a file, `retries` and
        `max_answer_bytes` for an answer or a line.
    limiter : Limiter
        With the deadlines of the shard and the run.
    key : str
        What no message may repeat.
    """

    def __init__(
        self, conversation: Conversation, client: Any, options: ChatOptions, limiter: Limiter, key: str
    ) -> None:
        self._conversation, self._client = conversation, client
        self._options, self._limiter = options, limiter
        self._secrets = [key] if len(key) >= _SHORTEST_SECRET else []

    def upload(self, content: bytes) -> str:
        """Return the id of a new file of requests."""
        files, options = self._client.files.with_raw_response, self._options
        said = self._json(
            partial(files.create, file=("audit.jsonl", content), purpose="batch"), options.deadline
        )
        return self._id(said.get("id"))

    def make(self, file_id: str, window: str, metadata: Mapping[str, str]) -> str:
        """Return the id of a new batch of the requests of a file.

        Raises
        ------
        UnsureError
            If nobody knows whether it was made.
        """
        batches = self._client.batches.with_raw_response
        said = self._json(
            partial(
                batches.create,
                input_file_id=file_id,
                endpoint=ENDPOINT,
                completion_window=window,
                metadata=dict(metadata),
            ),
            heals=_was_not_done,
        )
        return self._id(said.get("id"))

    def look(self, batch_id: str) -> Batch:
        """Return how far a batch is."""
        return self._batch(self._json(partial(self._client.batches.with_raw_response.retrieve, batch_id)))

    def find(self, name: str, value: str) -> str | None:
        """Return the id of the newest batch whose metadata say `name`: `value`; None if there is none."""
        ask = partial(self._client.batches.with_raw_response.list, limit=100)
        for _ in range(_MOST_PAGES):
            page = self._json(ask)
            found = page.get("data")
            if not isinstance(found, list) or not all(isinstance(batch, dict) for batch in found):
                raise self._odd("a list of batches")
            for batch in found:
                if isinstance(about := batch.get("metadata"), dict) and about.get(name) == value:
                    return self._id(batch.get("id"))
            if not (found and page.get("has_more")):
                return None
            ask = partial(ask, after=self._id(found[-1].get("id")))
        raise BackendError(
            f"{self._options.base_url}: the list of batches has more than {_MOST_PAGES} pages, and what was asked "
            f"for is not on them; look there for a batch whose metadata say {name}: {value}"
        )

    def lines(self, file_ids: Collection[str], wanted: Collection[str]) -> dict[str, dict[str, Any]]:
        """Return the lines of files of answers by custom id; of others than `wanted` nothing is kept.

        One that does not parse or is too large is lost. The same answer twice counts once; two different
        ones are `TWICE`.
        """
        found: dict[str, dict[str, Any]] = {}
        for file_id in file_ids:
            part = self._call(partial(self._lines, file_id, wanted), self._options.deadline)
            for custom_id, line in part.items():
                _add(found, custom_id, line)
        return found

    def pause(self, seconds: float) -> None:
        """Wait, but not beyond the deadlines."""
        left = self._limiter.seconds_left(self._options.base_url)
        time.sleep(seconds if left is None else min(seconds, left))

    async def _lines(self, file_id: str, wanted: Collection[str]) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        async with self._client.files.with_streaming_response.content(file_id) as answer:
            async for text in _split(answer.iter_bytes(), self._options.max_answer_bytes):
                try:
                    line = json.loads(text)
                    custom_id = line["custom_id"]
                    if custom_id in wanted:
                        _add(found, custom_id, line)
                except (ValueError, TypeError, KeyError, RecursionError):
                    continue
        return found

    def _json(
        self, ask: Callable[[], Awaitable[Any]], seconds: float | None = None, heals: Heals | None = None
    ) -> dict[str, Any]:
        said = self._call(ask, seconds or self._options.timeout, heals)
        try:
            said = json.loads(said.content)
        except (ValueError, RecursionError):
            said = None
        if not isinstance(said, dict):
            raise self._odd("a JSON object")
        return said

    def _call(self, ask: Callable[[], Awaitable[Value]], seconds: float, heals: Heals | None = None) -> Value:
        """Return what a call brings; it is tried again after the statuses that `heals` lets through."""
        import openai

        try:
            return self._conversation.run(self._attempts(ask, seconds, heals or may_heal))
        except BackendError:
            raise
        except FailedError as failure:
            raise UnsureError(f"{self._options.base_url}: {failure.detail}, to a batch") from None
        except (TimeoutError, openai.APIError) as error:
            raise self._told(error) from None
        except (openai.OpenAIError, ValueError, TypeError) as error:
            raise self._odd(f"an answer of the Batch API ({type(error).__name__})") from None

    async def _attempts(self, ask: Callable[[], Awaitable[Value]], seconds: float, heals: Heals) -> Value:
        import openai

        loop, where = asyncio.get_running_loop(), self._options.base_url
        end, attempt = loop.time() + self._options.deadline, 0
        while True:
            attempt += 1
            left = min(end - loop.time(), self._limiter.seconds_left(where) or seconds)
            try:
                # A timeout of the client's own is of each read, so that a server could drip for ever.
                async with asyncio.timeout(min(seconds, left)):
                    return await ask()
            except (TimeoutError, openai.APIConnectionError, openai.APIStatusError) as error:
                self._limiter.seconds_left(where)
                said = error.response.headers if isinstance(error, openai.APIStatusError) else {}
                asked = min(asked_wait(said, datetime.now(UTC)) or 0.0, _LONGEST_WAIT_S)
                wait = max(backoff(attempt, 0, "batch"), asked)
                last = attempt > self._options.retries or loop.time() + wait >= end
                if last or not heals(getattr(error, "status_code", 0)):
                    raise
            await asyncio.sleep(min(wait, self._limiter.seconds_left(where) or wait))

    def _told(self, error: Exception) -> BackendError:
        """Return what a fault of the client means."""
        status, where = getattr(error, "status_code", 0), self._options.base_url
        if status in (401, 403):
            return BackendError(f"{where}: HTTP {status}, the key in {self._options.api_key_env} is refused")
        if status == 404:
            return NotThereError(f"{where}: HTTP 404, no Batch API there, or a wrong base_url")
        if status:
            kind = UnsureError if may_heal(status) else BackendError
            code = safe_code(getattr(error, "code", None), *self._secrets)
            # A file of prompts was sent: of what is said of it, ordinary words alone are told.
            said = told(provider_message(getattr(error, "body", None)), None, self._secrets)
            told_so = f": {said}" if said else ""
            return kind(f"{where}: {failure(status, code, '')} to a batch{told_so}; run it again")
        timeout = isinstance(error, TimeoutError) or type(error).__name__ == "APITimeoutError"
        return UnsureError(f"{where}: {'timeout' if timeout else 'no connection'}; run it again")

    def _batch(self, said: Mapping[str, Any]) -> Batch:
        status, errors = said.get("status"), said.get("errors")
        if not isinstance(status, str):
            raise self._odd("a batch")
        listed = errors.get("data") if isinstance(errors, dict) else None
        faults = [fault for fault in listed if isinstance(fault, dict)] if isinstance(listed, list) else []
        codes = {
            ": ".join(filter(None, (safe_code(fault.get("code"), *self._secrets), self._said(fault))))
            for fault in faults
        }
        files = [said[name] for name in ("error_file_id", "output_file_id") if said.get(name)]
        return Batch(
            status=status,
            codes=tuple(sorted(codes)),
            files=tuple(self._id(file_id) for file_id in files),
        )

    def _said(self, fault: Mapping[str, Any]) -> str:
        return told(provider_message(fault.get("message")), None, self._secrets)

    def _id(self, value: object) -> str:
        """Return an id that may be noted and told."""
        if (
            not isinstance(value, str)
            or not _ID.fullmatch(value)
            or any(secret in value for secret in self._secrets)
        ):
            raise self._odd("an id of a file or a batch")
        return value

    def _odd(self, what: str) -> UnsureError:
        return UnsureError(f"{self._options.base_url}: the answer is not {what}; is it a Batch API?")


def may_heal(status: int) -> bool:
    """Return whether what ended with an HTTP status (0: with none) may do better another time."""
    return status in (0, 408, 409, 429) or status >= 500


def _was_not_done(status: int) -> bool:
    return status == 429


def _add(found: dict[str, dict[str, Any]], custom_id: str, line: dict[str, Any]) -> None:
    known = found.setdefault(custom_id, line)
    if known is not line and (known is TWICE or _answer(known) != _answer(line)):
        found[custom_id] = TWICE


def _answer(line: Mapping[str, Any]) -> Any:
    """Return what a line says, without the ids of the request that it is of."""
    response = line.get("response")
    if isinstance(response, dict):
        response = {name: value for name, value in response.items() if name != "request_id"}
    return response, line.get("error")


async def _split(parts: AsyncIterable[bytes], most: int) -> AsyncIterator[bytes]:
    """Yield the lines of a file as it comes; one of more than `most` bytes is passed over."""
    held, over = bytearray(), False
    async for part in parts:
        *ended, rest = part.split(b"\n")
        for end in ended:
            if not over and len(held) + len(end) <= most:
                yield bytes(held + end)
            held.clear()
            over = False
        over = over or len(held) + len(rest) > most
        if over:
            held.clear()
        else:
            held += rest
    if held:
        yield bytes(held)
