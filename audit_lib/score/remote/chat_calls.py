"""Calls of a chat model, whoever carries them: what it takes and gives is found out once, and then kept to."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, TypeVar

from audit_lib.canonical import canonical_json
from audit_lib.documents.capabilities import Capabilities, CapabilityRecord, Tried
from audit_lib.documents.statuses import AnswerStatus
from audit_lib.errors import BackendError
from audit_lib.score.reading.json_values import writable
from audit_lib.score.reading.logprobs import SEVERAL, not_shown
from audit_lib.score.remote.asker import (
    AdaptedError,
    FailedError,
    TryAgainError,
    TurnedAwayError,
    another_answered,
)
from audit_lib.score.remote.capability_probe import (
    CapabilityProbe,
    forced_request,
    probe_request,
    small_request,
)
from audit_lib.score.remote.chat import Chat
from audit_lib.score.remote.completions import (
    has_logprobs,
    mapping,
    nothing_said,
    thinking_tokens,
    thought,
    used_tokens,
)
from audit_lib.score.remote.cost import NOTHING, Usage
from audit_lib.score.remote.limiter import Allotment, Limiter
from audit_lib.score.remote.limits import backoff
from audit_lib.score.requests import Request, Response
from audit_lib.typed_json import decode

Post = Callable[[Request, dict[str, Any]], Awaitable[Any]]
"""Makes one attempt at a call, with a body of ``/chat/completions``, and returns a completion as parsed JSON."""

Kept = TypeVar("Kept")

_FOUND: Final = ".json"
_TRIED: Final = ".tried.json"
_LONGEST_WAIT_S: Final = 20.0
_ABOUT_A_FIELD: Final = re.compile(
    r"max_completion_tokens|max_tokens|temperature|logprobs|\bseed\b|response_format|reasoning_effort|\bsystem\b|\b'?n'?\b"
    r"|extra_forbidden|unsupported_(?:parameter|value)",
    re.IGNORECASE,
)


class ChatCalls:
    """What a backend of chat models knows about its endpoint (`audit_lib.score.remote.asker.Asker`).

    Parameters
    ----------
    chat : Chat
        What is asked, and how answers are read; it is told what the model can do.
    post : callable
        Carries one call.
    where : str
        The endpoint, for messages.
    allotment : Allotment
        Where what was found is kept, for all shards.
    limiter : Limiter
        Whose budget the calls that find it out are counted in.
    advice : str
        What to do where the endpoint takes no single calls.
    """

    def __init__(
        self, chat: Chat, post: Post, where: str, allotment: Allotment, limiter: Limiter, *, advice: str = ""
    ) -> None:
        self._chat, self._post, self._where = chat, post, where
        self._allotment, self._limiter, self._advice = allotment, limiter, advice
        self._lock = asyncio.Lock()
        found: list[Capabilities | Tried] = []
        if (kept := kept_capabilities(allotment)) is not None:
            chat.can = kept.capabilities
            found.append(kept.capabilities)
        if _is_kept(allotment, _TRIED):
            found.append(_read_kept(allotment, _TRIED, Tried))
        if found:
            used = (Usage(prompt=one.prompt_tokens, completion=one.completion_tokens) for one in found)
            limiter.count_finding_out(sum(used, NOTHING), earlier=True)

    async def find_out_first(self, requests: Sequence[Request]) -> None:
        """Find out as `find_out` does, before anything else is asked; a refused key ends the shard."""
        try:
            await self.find_out(requests)
        except TurnedAwayError as said:
            raise self._turned_away(said) from None

    async def find_out_early(self, requests: Sequence[Request]) -> None:
        """Find out before anything is paid for; where the spec does not ask for it, by one small question first.

        That one is asked as the requests will be. What the server refuses of it, or does not show, or that it thinks
        where nothing says how much it may, makes the model be looked at in full, and refused where that says so. Where
        labels are read from log-probabilities, each that is not shown is asked for by itself: its first token may be
        only its beginning.

        Raises
        ------
        BackendError
            If it cannot be asked as the spec says, or not at all; says what to do.
        """
        options, known = self._chat.options, self._chat.can is not None
        tried = _is_kept(self._allotment, _TRIED)
        if options.probe is False or (not known and tried):
            return
        small = small_request(requests[0])
        in_full = known or options.probes_first or options.prefill
        if in_full:
            await self.find_out_first(requests)
        if not tried and (not in_full or self.orders(small)[0].get("logprobs")):
            try:
                await self._try(small)
            except TurnedAwayError as said:
                raise self._turned_away(said) from None
            self.check(requests)
        if self._chat.can is not None:
            self._require_named(self._chat.can.served)

    def check(self, requests: Sequence[Request]) -> None:
        """Raise BackendError where what is known of the model says that it cannot be asked these requests."""
        for request in requests:
            self._refuse(request)

    async def find_out(self, requests: Sequence[Request]) -> None:
        """Find out what the model can do, if that is not known, and whether it can be asked these requests.

        Raises
        ------
        BackendError
            If it cannot be asked as the spec says; says what to do.
        """
        async with self._lock:
            if self._chat.can is None:
                await self._probe()
        for request in requests:
            self._refuse(request)

    def orders(self, request: Request) -> list[dict[str, Any]]:
        """Return the bodies of a request's calls."""
        return self._chat.bodies(request)

    async def call(self, request: Request, order: dict[str, Any]) -> Any:
        """Make one attempt at one call."""
        unknown = self._chat.can is None and self._chat.options.probe is not False
        try:
            completion = await self._post(request, order)
        except FailedError as refused:
            if unknown and _ABOUT_A_FIELD.search(refused.said or refused.detail):
                await self._adapt(request, order)
            raise
        if unknown and order.get("logprobs") and _shows_none(completion):
            await self._adapt(request, order)
        if self._chat.options.thinking_tokens is None and nothing_said(completion) and thought(completion):
            tokens = thinking_tokens(completion)
            long = f" for {tokens:,} tokens" if tokens else ""
            raise BackendError(
                f"{self._where}: model.options.thinking_tokens: {self._chat.model.name} thought{long} and came to no "
                "answer, and nothing says how many tokens it may think with; give a number (they are priced as "
                "generated ones), or effort: off"
            )
        return completion

    def read(self, request: Request, answers: Sequence[Any]) -> Response:
        """Return what the completions say."""
        return self._chat.read(request, answers)

    def failed(self, request: Request, detail: str, status: AnswerStatus = "error") -> Response:
        """Return the row of a request that was not answered."""
        return self._chat.response(request, status=status, detail=detail)

    def estimate(self, request: Request) -> tuple[int, Usage]:
        """Return the calls and the tokens that a request takes at most."""
        return self._chat.estimate(request)

    async def _adapt(self, request: Request, order: dict[str, Any]) -> None:
        """Find out what the model can do; have the request asked again where that changes what is asked."""
        await self.find_out([request])
        if order not in self._chat.bodies(request):
            raise AdaptedError

    def _refuse(self, request: Request) -> None:
        if (why := self._chat.refusal(request)) is not None:
            raise BackendError(f"{self._where}: {why}")

    def _turned_away(self, said: TurnedAwayError) -> BackendError:
        return BackendError(f"{said}; {self._advice}" if self._advice else str(said))

    async def _try(self, small: Request) -> None:
        """Ask one small question; find out in full where its answer gives reason to."""
        order, known = self.orders(small)[0], self._chat.can is not None
        try:
            completion = await self._ask_small(small, order)
        except (AdaptedError, TryAgainError):
            return  # it was found out in full, or there is no answer: asking the rows says why
        except FailedError as refused:
            raise BackendError(
                f"{self._where}: a small question in the form that the spec asks for is refused: {refused.detail}"
            ) from None
        if not mapping(completion).get("choices"):
            raise BackendError(
                f"{self._where}: the answer to a small question holds no choice; look at base_url"
            )
        self._require_named(mapping(completion).get("model"))
        if order.get("logprobs"):
            read = self.read(small, [completion])
            self._require_whole(small, read)
            if read.status == "error" and not _shows_none(completion):
                raise BackendError(
                    f"{self._where}: the answer to a small question cannot be read: {read.detail}"
                )
        used = used_tokens(completion)
        if order.get("logprobs") and not _shows_none(completion):
            for label in not_shown(
                completion["choices"][0]["logprobs"]["content"][0]["top_logprobs"], small.labels
            ):
                used += await self._ask_for(forced_request(small, label))
        self._limiter.count_finding_out(used)
        if thought(completion) and self._chat.options.thinking_tokens is None:
            await self.find_out([small])
        elif known or self._chat.can is None:
            tried = Tried(prompt_tokens=used.prompt, completion_tokens=used.completion)
            _keep(self._allotment, _TRIED, tried.as_dict())

    async def _ask_small(self, small: Request, order: dict[str, Any]) -> Any:
        self._require_room(self.estimate(small)[1])
        return await self._attempts(lambda: self.call(small, order))

    async def _ask_for(self, forced: Request) -> Usage:
        """Ask for one label, and refuse one of several tokens; return what that took."""
        try:
            completion = await self._ask_small(forced, self.orders(forced)[0])
        except (AdaptedError, TryAgainError, FailedError):
            return NOTHING  # nothing is known of it, and its rows will say
        self._require_whole(forced, self.read(forced, [completion]))
        return used_tokens(completion)

    def _require_whole(self, small: Request, read: Response) -> None:
        if read.detail == SEVERAL:
            raise BackendError(f"{self._where}: labels {', '.join(small.labels)}: {SEVERAL}")

    async def _probe(self) -> None:
        chat, asked = self._chat, probe_request()
        self._require_room(Usage(prompt=400, completion=10 * (chat.options.thinking_tokens or 256)))

        async def ask(body: dict[str, Any]) -> Any:
            return await self._attempts(lambda: self._post(asked, body))

        found = await CapabilityProbe(chat.model.name, chat.options, ask).find_out()
        self._limiter.count_finding_out(Usage(prompt=found.prompt_tokens, completion=found.completion_tokens))
        chat.can = keep_capabilities(self._allotment, found, chat)

    def _require_named(self, served: object) -> None:
        """Refuse an endpoint that serves a model which the spec does not allow, while nothing is paid for yet."""
        model = self._chat.model
        if served and not model.may_be(writable(str(served))):
            raise another_answered(model.name, writable(str(served)))

    def _require_room(self, room: Usage) -> None:
        if not self._limiter.budget.fits(room):
            raise BackendError(
                f"{self._where}: the budget (model.options.max_tokens_total, max_cost) does not hold the "
                f"{room.total:,} tokens that finding out what the model can do may take; raise it, or say probe: false"
            )

    async def _attempts(self, call: Callable[[], Awaitable[Any]]) -> Any:
        """Make as many attempts at a small call as the spec allows for any."""
        options = self._chat.options
        for attempt in range(1, options.retries + 2):
            await self._turn()
            try:
                async with asyncio.timeout(options.timeout):
                    return await call()
            except TimeoutError:
                again = TryAgainError("timeout")
            except TryAgainError as error:
                again = error
            if attempt <= options.retries:
                pause = backoff(attempt, 0, "probe")
                await asyncio.sleep(max(pause, min(again.wait or 0.0, _LONGEST_WAIT_S)))
        raise again

    async def _turn(self) -> None:
        """Wait until the rates let a call through; not beyond the deadlines of shard and run."""
        self._limiter.seconds_left(self._where)
        if self._limiter.calls is not None:
            await asyncio.sleep(self._limiter.calls.reserve(1, asyncio.get_running_loop().time()))


def keep_capabilities(allotment: Allotment, found: Capabilities, chat: Chat) -> Capabilities:
    """Write down what was found, unless another shard was first: then return what that one found."""
    before, chat.can = chat.can, found
    record = CapabilityRecord(capabilities=found, adapted=chat.adaptations())
    chat.can = before
    if found.token_limit is None:
        return found
    _keep(allotment, _FOUND, record.as_dict())
    kept = kept_capabilities(allotment)
    return found if kept is None else kept.capabilities


def kept_capabilities(allotment: Allotment) -> CapabilityRecord | None:
    """Return what was found before, of this model and window; None if nothing was."""
    return _read_kept(allotment, _FOUND, CapabilityRecord) if _is_kept(allotment, _FOUND) else None


def _keep(allotment: Allotment, ending: str, content: dict[str, Any]) -> None:
    if allotment.store is not None and allotment.capabilities:
        allotment.store.put(allotment.capabilities + ending, canonical_json(content))


def _is_kept(allotment: Allotment, ending: str) -> bool:
    store, key = allotment.store, allotment.capabilities
    return store is not None and bool(key) and store.exists(key + ending)


def _read_kept(allotment: Allotment, ending: str, kind: type[Kept]) -> Kept:
    assert allotment.store is not None
    key = allotment.capabilities + ending
    return decode(kind, allotment.store.get(key), key)


def _shows_none(completion: Any) -> bool:
    try:
        return bool(mapping(completion).get("choices")) and not has_logprobs(completion)
    except (TypeError, KeyError, IndexError, AttributeError):
        return False
