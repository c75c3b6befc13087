"""``openai_batch``: the Batch API: cheaper, and answered within a day."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar

from pydantic import Field

from audit_lib.backends import Probe, Secret
from audit_lib.canonical import canonical_json, sha256
from audit_lib.errors import BackendError, StillWaitingError
from audit_lib.options import Options
from audit_lib.score.backends import backend, parse_options
from audit_lib.score.backends.openai import ClientPost, client_of
from audit_lib.score.packs import Pack
from audit_lib.score.remote.answer_size import bounded
from audit_lib.score.remote.batch_provider import TWICE, Provider
from audit_lib.score.remote.batch_queue import BatchQueue
from audit_lib.score.remote.batches import Batches, Step, message_of, status_of
from audit_lib.score.remote.chat_backend import ChatBackend
from audit_lib.score.remote.chat_calls import ChatCalls
from audit_lib.score.remote.chat_options import ChatOptions, chat_probe, chat_secrets
from audit_lib.score.remote.conversation import Conversation
from audit_lib.score.remote.cost import NOTHING, Usage
from audit_lib.score.remote.credentials import masked
from audit_lib.score.remote.error_codes import safe_code
from audit_lib.score.remote.error_texts import told
from audit_lib.score.remote.limiter import Limiter
from audit_lib.score.requests import Request, Response
from audit_lib.spec import Model


class OpenAIBatchOptions(ChatOptions):
    """Options of the backend. None of them holds a secret."""

    batch_size: int = Field(20_000, ge=1, le=50_000, description="Most lines of one batch.")
    batch_bytes: int = Field(
        150_000_000, ge=1000, description="Largest file of requests; OpenAI and Azure take 200 MB."
    )
    completion_window: str = Field("24h", description="How long the provider may take.")
    poll: float = Field(60.0, gt=0, description="Seconds between two looks at a batch.")


_CLIENT_ONLY = frozenset({"batch_size", "batch_bytes", "completion_window", "poll"})
_BATCHES_ALONE = "where this deployment answers batches alone, say model.options.probe: false"
_LOOK_S = 0.5
_LONGEST_LAG_S = 5.0
"""That a list of batches is behind, as far as a process waits for it; the next one looks again."""


@backend("openai_batch")
class OpenAIBatch(ChatBackend):
    """Ask as the backend ``openai`` does, by files of requests that the provider works off.

    Ids of batches are kept in the store: a process that was stopped goes on from the batches that it made.
    Answers of a batch that expired or was cancelled are kept; the lines without one, and those that met a
    fault of the server, are asked again in a new batch, at most `retries` times. A batch that finds the provider's
    queue full waits, and is halved where it is too large alone. A line that one batch answers
    twice and differently is a row with status ``error``.

    `timeout` is of one call, `deadline` of a call with its attempts and of a file's way up or down, and
    `max_answer_bytes` of an answer or of a line in a file of answers: a longer line is lost.
    """

    Options: ClassVar[type[Options]] = OpenAIBatchOptions
    extra: ClassVar[str | None] = "openai"
    packages: ClassVar[tuple[str, ...]] = ("openai",)
    answers_alone: ClassVar[bool] = True
    takes_parts: ClassVar[bool] = True
    answers_later: ClassVar[bool] = True
    options: OpenAIBatchOptions

    def __init__(self, model: Model) -> None:
        super().__init__(model, parse_options(OpenAIBatchOptions, model))

    @classmethod
    def variables(cls, model: Model) -> list[Secret]:
        """Return the variable that holds the key."""
        return chat_secrets(parse_options(OpenAIBatchOptions, model))

    @classmethod
    def probe(cls, model: Model) -> Probe:
        """Ask for the list of models."""
        return chat_probe(parse_options(OpenAIBatchOptions, model))

    def describe(self) -> dict[str, Any]:
        """Return the endpoint and the options, apart from those that change no answer."""
        return self._chat.describe("openai_batch", _CLIENT_ONLY)

    def score(self, packs: Sequence[Pack]) -> Iterator[Response]:
        """Yield a response for each request, batch by batch as they are done.

        Raises
        ------
        StillWaitingError
            If batches are under way and may not be waited for (`limits.without_waiting`).
        BackendError
            If the key or a batch is refused, nothing answers, or a limit is reached.
        """
        requests = [request for pack in packs for request in pack]
        limiter = self.limiter
        with client_of(self._chat, self._allotment, limiter, self._check_size) as (conversation, client, key):
            known = self._calls_of(client, key, limiter)
            if self.options.probes_first:
                conversation.run(known.find_out_first(requests))
            known.check(requests)
            lines: dict[str, dict[str, Any]] = {}
            calls: list[tuple[Request, list[str]]] = []
            for request in requests:
                bodies = self._chat.bodies(request)
                calls.append((request, _custom_ids(request, len(bodies))))
                lines |= dict(zip(calls[-1][1], bodies, strict=True))
            total = sum((self._chat.estimate(request)[1] for request in requests), NOTHING)
            if not limiter.budget.fits(total):
                raise limiter.budget.exceeded(0, len(calls))
            provider = Provider(conversation, client, self.options, limiter, key)
            for response in self._work_off(provider, limiter, calls, lines):
                limiter.budget.remember(
                    Usage(prompt=response.prompt_tokens, completion=response.completion_tokens)
                )
                yield masked(response, [key])

    @contextmanager
    def reach(self) -> Iterator[tuple[Conversation, ChatCalls]]:
        """Open a conversation through the official client, for single calls."""
        limiter = self.limiter
        with client_of(self._chat, self._allotment, limiter, self._check_size) as (conversation, client, key):
            yield conversation, self._calls_of(client, key, limiter)

    def _calls_of(self, client: Any, key: str, limiter: Limiter) -> ChatCalls:
        post = ClientPost(self._chat, client, key)
        return ChatCalls(
            self._chat, post, self.options.base_url, self._allotment, limiter, advice=_BATCHES_ALONE
        )

    async def _check_size(self, response: Any) -> None:
        """Bound an answer; a file of answers holds one for each line, and its lines are bounded as they come."""
        lines = self.options.batch_size if response.request.url.path.endswith("/content") else 1
        await bounded(self.options.max_answer_bytes * lines)(response)

    def _work_off(
        self,
        provider: Provider,
        limiter: Limiter,
        calls: list[tuple[Request, list[str]]],
        lines: dict[str, dict[str, Any]],
    ) -> Iterator[Response]:
        options, allotment = self.options, self._allotment
        if allotment.store is None:
            raise BackendError("openai_batch needs a store to note its batches in; score a run")
        batches = Batches(
            provider,
            allotment.store,
            allotment.folder,
            retries=options.retries,
            queue=BatchQueue(
                allotment.store, allotment.folder, size=options.batch_size, most_bytes=options.batch_bytes
            ),
            window=options.completion_window,
            pause=min(options.poll, _LONGEST_LAG_S),
            notify=allotment.notify,
        )
        while True:
            step = batches.step(lines)
            left = []
            for request, custom_ids in calls:
                if step.waiting.isdisjoint(custom_ids):
                    yield self._read(request, custom_ids, step)
                else:
                    left.append((request, custom_ids))
            lines = {i: lines[i] for _, custom_ids in left for i in custom_ids}
            if not (calls := left):
                return
            if not allotment.wait:
                raise StillWaitingError(
                    f"{len(step.batches)} batches are under way for {len(calls)} requests; run it again later"
                )
            # The batches go on at the provider, whatever ends the waiting for them.
            until = time.monotonic() + options.poll
            while (pause := until - time.monotonic()) > 0:
                end = limiter.seconds_left(options.base_url)
                time.sleep(min(pause, _LOOK_S) if end is None else min(pause, _LOOK_S, end))
                allotment.keep()

    def _read(self, request: Request, custom_ids: Sequence[str], step: Step) -> Response:
        bodies = []
        attempts = max(1, *(step.tried[i] for i in custom_ids))
        for i in custom_ids:
            if step.results.get(i) is TWICE:
                detail = "its batch answered it twice and differently (duplicate custom_id)"
                return self._chat.response(request, status="error", detail=detail, attempts=attempts)
            status, code = status_of(step.results[i]) if i in step.results else (0, "no_line")
            if status == 0:
                said = self._said(request, step.results.get(i))
                detail = f"its batch gave no answer ({safe_code(code)})" + (f": {said}" if said else "")
                return self._chat.response(request, status="error", detail=detail, attempts=attempts)
            if status != 200:
                said = self._said(request, step.results[i])
                kind, detail = self._chat.refused_or_failed(status, safe_code(code), said)
                return self._chat.response(request, status=kind, detail=detail, attempts=attempts)
            bodies.append(step.results[i]["response"].get("body"))
        return replace(self._chat.read(request, bodies), attempts=attempts)

    def _said(self, request: Request, line: Mapping[str, Any] | None) -> str:
        """Return what the provider says of a line, as it may be told."""
        key = os.environ.get(self.options.api_key_env, "")
        return told(None if line is None else message_of(line), request.asked, [key])


def _custom_ids(request: Request, calls: int) -> list[str]:
    """Return the ids of a request's lines; they tell nothing about whom it is."""
    address = sha256(canonical_json([request.request_id, request.repeat, request.digest()]))[:40]
    return [f"{address}-{call}" for call in range(calls)]
