"""Asking over a network: many requests at a time, within limits, each ending as exactly one response."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, TypeVar

from audit_lib.errors import BackendError
from audit_lib.score.remote.asker import AdaptedError, Asker, FailedError, TryAgainError, TurnedAwayError
from audit_lib.score.remote.cost import Usage
from audit_lib.score.remote.credentials import masked
from audit_lib.score.remote.limiter import Limiter
from audit_lib.score.remote.limits import backoff
from audit_lib.score.requests import Request, Response

_KEPT = "what was answered is kept; run it again"
_LONGEST_SHARED_WAIT_S = 60.0
_LOOK_S = 0.5
"""Between two looks at whether a deadline is over."""
_APART_S = 0.0025
"""Between the first requests: begun all at once they would also end at once, and again, each round anew."""
Value = TypeVar("Value")


class _BudgetError(Exception):
    """Nothing more fits into the budget, and nothing is under way."""


@dataclass(slots=True)
class _Progress:
    """How far a request is: attempts at the call that took most, what failed last, what may be paid for in vain."""

    attempts: int = 0
    detail: str = "no attempt"
    lost: int = 0


@dataclass(frozen=True, slots=True)
class _Outcome:
    """How a request ended: whether the endpoint said something, and what it says would fail for all."""

    response: Response
    answered: bool
    turned_away: str | None = None


class Conversation:
    """Puts requests to one endpoint from an event loop in a thread of its own.

    A thread of its own because a notebook or a server has a loop already, and because writing down an
    answer must not hold up the others. Use as a context manager; leaving it cancels what is under way.

    A request's place (of ``max_concurrency``) is free for the next one only when its answer is written down, so
    that what a kill may cost is what was under way. Answers that come while others are written are written together.

    Parameters
    ----------
    where : str
        The endpoint, for messages.
    limiter : Limiter
        The shard's part of the limits.
    secrets : sequence of str
        What no response may repeat.
    keep : callable
        Writes down what was yielded. Called when no more has come, before the places of those requests are free.
    """

    def __init__(
        self,
        where: str,
        limiter: Limiter,
        secrets: Sequence[str] = (),
        keep: Callable[[], None] = lambda: None,
    ) -> None:
        self.where, self.limiter, self.limits = where, limiter, limiter.limits
        self.secrets, self.keep = secrets, keep
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="asking", daemon=True)
        self._gate = asyncio.Semaphore(self.limits.max_concurrency)
        self._settled = asyncio.Event()
        self._not_before = 0.0
        self._begun = 0

    def __enter__(self) -> Conversation:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end(_cancel_all())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def end(self, closing: Coroutine[Any, Any, object]) -> None:
        """Run what closes a client; what goes wrong then must not hide why it is closed."""
        with contextlib.suppress(Exception):
            self.run(closing, timeout=10)

    def run(self, work: Coroutine[Any, Any, Value], timeout: float | None = None) -> Value:
        """Run one coroutine in the loop and return what it returns."""
        return self._begin(work).result(timeout)

    def ask(self, requests: Sequence[Request], asker: Asker) -> Iterator[Response]:
        """Yield one response for each request, as they come.

        Raises
        ------
        BackendError
            If the endpoint is down or refuses everything, a deadline is over, or the budget is used up; answers
            yielded before stand.
        """
        under_way = _UnderWay(self, asker, len(requests))
        for request in requests:
            while under_way.count >= 2 * self.limits.max_concurrency:
                yield under_way.take()
            under_way.add(request)
        while under_way.count:
            yield under_way.take()
        under_way.keep()

    def begin(self, request: Request, asker: Asker) -> Future[_Outcome]:
        """Begin with a request when it is its turn."""
        return self._begin(self._in_turn(request, asker))

    def begin_now(self, request: Request, asker: Asker) -> Future[_Outcome]:
        """Begin with a request beside those under way."""
        return self._begin(self._one(request, asker))

    def _begin(self, work: Coroutine[Any, Any, Value]) -> Future[Value]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def free(self, places: int) -> None:
        """Give the places of requests that ended to the next ones."""
        for _ in range(places):
            self._loop.call_soon_threadsafe(self._gate.release)

    async def _in_turn(self, request: Request, asker: Asker) -> _Outcome:
        """Return how a request ends; its place stays taken until `free`, unless it ends in an error."""
        await self._gate.acquire()
        try:
            self._begun += 1
            if self._begun <= self.limits.max_concurrency:
                await asyncio.sleep(self._begun * _APART_S)
            return await self._one(request, asker)
        except BaseException:
            self._gate.release()
            raise

    async def _one(self, request: Request, asker: Asker) -> _Outcome:
        """Return how one request ends; its tokens are reserved before, and settled after it."""
        calls, tokens = asker.estimate(request)
        part = Usage(
            prompt=-(-tokens.prompt // max(calls, 1)), completion=-(-tokens.completion // max(calls, 1))
        )
        budget, progress, used = self.limiter.budget, _Progress(), tokens
        while not budget.fits(tokens):
            if not budget.under_way:
                raise _BudgetError
            self._settled.clear()
            await self._settled.wait()
        budget.reserve(tokens)
        try:
            await self._turn(calls, tokens.total)
            outcome = await self._outcome(request, asker, part, progress)
            counted = outcome.response
            used = Usage(prompt=counted.prompt_tokens, completion=counted.completion_tokens)
            if self.limiter.tokens is not None and used.total:
                self.limiter.tokens.give_back(tokens.total - used.total)
            used = used if used.total else tokens
            # An attempt that ran out of time or was cut short was perhaps worked off, and is then paid for.
            for _ in range(progress.lost):
                used += part
        finally:
            budget.settle(tokens, used)
            self._settled.set()
        return replace(outcome, response=replace(outcome.response, attempts=progress.attempts))

    async def _outcome(self, request: Request, asker: Asker, part: Usage, progress: _Progress) -> _Outcome:
        try:
            async with asyncio.timeout(self.limits.deadline):
                try:
                    answers = await self._answers(request, asker, part, progress)
                except AdaptedError:
                    answers = await self._answers(request, asker, part, progress)
            return _Outcome(asker.read(request, answers), True)
        except TimeoutError:
            detail = f"deadline of {self.limits.deadline:g} s; before: {progress.detail}"
            return _Outcome(asker.failed(request, detail), False)
        except TryAgainError as last:
            return _Outcome(asker.failed(request, last.detail), False)
        except FailedError as failure:
            return _Outcome(asker.failed(request, failure.detail, failure.status), True)
        except TurnedAwayError as said:
            return _Outcome(asker.failed(request, str(said)), True, str(said))
        except BackendError:
            raise
        except Exception as error:  # noqa: BLE001 - one answer must not end the shard
            detail = f"the answer could not be read ({type(error).__name__})"
            return _Outcome(asker.failed(request, detail), True)

    async def _answers(self, request: Request, asker: Asker, part: Usage, progress: _Progress) -> list[Any]:
        # What one call brought is kept while another one is tried again.
        return [await self._call(request, asker, order, part, progress) for order in asker.orders(request)]

    async def _call(
        self, request: Request, asker: Asker, order: Any, part: Usage, progress: _Progress
    ) -> Any:
        """Return the answer to one call, after as many attempts as it takes and may take."""
        limits, attempt = self.limits, 0
        while True:
            attempt += 1
            progress.attempts = max(progress.attempts, attempt)
            try:
                async with asyncio.timeout(limits.timeout):
                    return await asker.call(request, order)
            except TimeoutError:
                again = TryAgainError("timeout", paid=True)
            except TryAgainError as error:
                again = error
            progress.lost += again.paid
            progress.detail = again.detail
            if attempt > limits.retries:
                raise again
            if again.wait is not None:
                # The server speaks to all of us, not to this request alone; but not for ever.
                shared = min(again.wait, limits.deadline / 4, _LONGEST_SHARED_WAIT_S)
                self._not_before = max(self._not_before, self._loop.time() + shared)
            pause = backoff(attempt, 0, request.request_id, request.repeat)
            await asyncio.sleep(max(pause, min(again.wait or 0.0, limits.deadline)))
            await self._turn(1, part.total)

    async def _turn(self, calls: int, tokens: int) -> None:
        """Wait until the limits, and the server's own word, let calls through."""
        now = self._loop.time()
        waits = [
            bucket.reserve(units, now)
            for bucket, units in ((self.limiter.calls, calls), (self.limiter.tokens, tokens))
            if bucket is not None
        ]
        await asyncio.sleep(max(waits, default=0.0))
        while (left := self._not_before - self._loop.time()) > 0:
            await asyncio.sleep(left)


class _UnderWay:
    """Requests under way, and whether failures are the endpoint's or the requests' own."""

    def __init__(self, conversation: Conversation, asker: Asker, total: int) -> None:
        self._conversation, self._asker, self._total = conversation, asker, total
        self._requests: dict[Future[_Outcome], Request] = {}
        self._come: queue.SimpleQueue[Future[_Outcome]] = queue.SimpleQueue()
        self._taken = self._failed_in_a_row = self._held = 0
        self._answered = False

    @property
    def count(self) -> int:
        """Requests that were added and not taken."""
        return len(self._requests)

    def add(self, request: Request) -> None:
        """Begin with a request."""
        work = self._conversation.begin(request, self._asker)
        self._requests[work] = request
        work.add_done_callback(self._come.put)

    def take(self) -> Response:
        """Return the next response that comes."""
        work = self._next(self._come)
        request, outcome = self._requests.pop(work), self._result(work)
        self._taken += 1
        self._held += 1
        self._answered |= outcome.answered
        if outcome.response.status != "error":
            self._failed_in_a_row = 0
            self._conversation.limiter.good = self._conversation.limiter.good or request
            return outcome.response
        self._failed_in_a_row += 1
        if self._in_doubt(outcome):
            self._check_endpoint(outcome)
        return outcome.response

    def keep(self) -> None:
        """Write down what was taken, then let the next requests have the places."""
        self._conversation.keep()
        self._conversation.free(self._held)
        self._held = 0

    def _result(self, work: Future[_Outcome]) -> _Outcome:
        try:
            outcome = work.result()
        except _BudgetError:
            raise self._conversation.limiter.budget.exceeded(self._taken, self._total) from None
        response = masked(outcome.response, self._conversation.secrets)
        # What a server says may stand in a message to people as well.
        turned_away = None if outcome.turned_away is None else response.detail
        return replace(outcome, response=response, turned_away=turned_away)

    def _in_doubt(self, outcome: _Outcome) -> bool:
        """Whether a failure, after those before it, may be the endpoint's."""
        limits, row = self._conversation.limits, self._failed_in_a_row
        if self._conversation.limiter.good is not None:
            return row % limits.give_up_after == 0 or (outcome.turned_away is not None and row == 1)
        most = limits.give_up_after
        if outcome.turned_away is not None:
            most = min(most, limits.max_concurrency, self._total)
        elif not self._answered:
            most = min(most, self._total)
        return row >= most

    def _check_endpoint(self, outcome: _Outcome) -> None:
        """Ask again what was answered before; where that fails too, or nothing was, the shard stops.

        Raises
        ------
        BackendError
            If the endpoint is down, or would fail every request.
        """
        where, last, row = self._conversation.where, outcome.response.detail, self._failed_in_a_row
        if (good := self._conversation.limiter.good) is not None:
            come: queue.SimpleQueue[Future[_Outcome]] = queue.SimpleQueue()
            self._conversation.begin_now(good, self._asker).add_done_callback(come.put)
            again = self._result(self._next(come))
            if again.response.status != "error":
                return
            if again.turned_away is not None:
                raise BackendError(f"{again.turned_away}; {_KEPT}")
            raise BackendError(
                f"{where}: {row} requests failed one after the other (last: {last}), and one that was answered before "
                f"failed when it was asked again ({again.response.detail}); {_KEPT}"
            )
        if outcome.turned_away is not None:
            raise BackendError(outcome.turned_away)
        if self._answered:
            raise BackendError(
                f"{where}: all of the first {row} answers were failures (last: {last}), so it would go on like that; "
                "put it right and run it again"
            )
        raise BackendError(
            f"{where}: no answer to any of the first {row} requests, each tried {outcome.response.attempts} times "
            f"(last: {last}); {_KEPT}"
        )

    def _next(self, come: queue.SimpleQueue[Future[_Outcome]]) -> Future[_Outcome]:
        """Return the next thing that ends; where none has yet, write down the others, then look at the deadlines."""
        if come.empty():
            self.keep()
        while True:
            left = self._conversation.limiter.seconds_left(self._conversation.where)
            with contextlib.suppress(queue.Empty):
                return come.get(timeout=_LOOK_S if left is None else min(_LOOK_S, left))


async def _cancel_all() -> None:
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
