"""Asking over a network: many requests at a time, within limits, each ending as exactly one response."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Coroutine, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from types import TracebackType
from typing import Any, Protocol, TypeVar

from audit_lib.errors import BackendError
from audit_lib.score.cost import Usage
from audit_lib.score.limits import Allotment, Budget, Limits, TokenBucket, backoff
from audit_lib.score.requests import Request, Response

_KEPT = "what was answered is kept; run it again"
_LONGEST_SHARED_WAIT_S = 60.0
_APART_S = 0.0025
"""Between the first requests: begun all at once they would also end at once, and again, each round anew."""
Value = TypeVar("Value")


class TryAgainError(Exception):
    """An attempt failed in a way that another one may heal.

    Parameters
    ----------
    detail : str
        Why, without personal data or secrets.
    wait : float or None
        Seconds that the server asked to wait.
    """

    def __init__(self, detail: str, wait: float | None = None) -> None:
        super().__init__(detail)
        self.detail, self.wait = detail, wait


class Asker(Protocol):
    """What a backend knows about its endpoint."""

    async def attempt(self, request: Request) -> Response:
        """Ask once. Raises TryAgainError, or BackendError for what would fail for every request."""
        ...

    def failed(self, request: Request, detail: str) -> Response:
        """Return the response of a request that no attempt answered."""
        ...

    def estimate(self, request: Request) -> tuple[int, Usage]:
        """Return the calls and the tokens that a request takes at most."""
        ...


class Conversation:
    """Puts requests to one endpoint from an event loop in a thread of its own.

    A thread of its own because a notebook or a server has a loop already, and because writing down an
    answer must not hold up the others. Use as a context manager; leaving it cancels what is under way.

    Parameters
    ----------
    where : str
        The endpoint, for messages.
    limits : Limits
        Of the run.
    allotment : Allotment
        The shard's part of them.
    """

    def __init__(self, where: str, limits: Limits, allotment: Allotment) -> None:
        self._where, self._limits, self._allotment = where, limits, allotment
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="asking", daemon=True)
        self._gate = asyncio.Semaphore(limits.max_concurrency)
        self._calls = self._bucket(limits.requests_per_minute)
        self._tokens = self._bucket(limits.tokens_per_minute)
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
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout)

    def ask(self, requests: Sequence[Request], asker: Asker) -> Iterator[Response]:
        """Yield one response for each request, as they come.

        Raises
        ------
        BackendError
            If nothing answers, a deadline is over, or the budget is used up; answers yielded before stand.
        """
        under_way = _UnderWay(self._where, self._limits, self._allotment, len(requests))
        for request in requests:
            _, tokens = estimate = asker.estimate(request)
            while under_way.must_wait_for(tokens):
                yield under_way.take()
            work = asyncio.run_coroutine_threadsafe(self._one(request, asker, *estimate), self._loop)
            under_way.add(work, tokens)
        while under_way.count:
            yield under_way.take()

    async def _one(self, request: Request, asker: Asker, calls: int, tokens: Usage) -> tuple[Response, bool]:
        """Return the response to one request, and whether the server gave one."""
        limits, attempts, detail = self._limits, 0, "no attempt"
        async with self._gate:
            self._begun += 1
            if self._begun <= limits.max_concurrency:
                await asyncio.sleep(self._begun * _APART_S)
            try:
                async with asyncio.timeout(None) as whole:
                    while True:
                        await self._turn(calls, tokens.total)
                        if attempts == 0:
                            whole.reschedule(self._loop.time() + limits.deadline)
                        attempts += 1
                        wait = None
                        try:
                            async with asyncio.timeout(limits.timeout):
                                response = await asker.attempt(request)
                            self._settle(tokens, response)
                            return replace(response, attempts=attempts), True
                        except TimeoutError:
                            detail = "timeout"
                        except TryAgainError as again:
                            detail, wait = again.detail, again.wait
                        except BackendError:
                            raise
                        except Exception as error:  # noqa: BLE001 - one answer must not end the shard
                            detail = f"the answer could not be read ({type(error).__name__})"
                            return replace(asker.failed(request, detail), attempts=attempts), True
                        if attempts > limits.retries:
                            break
                        if wait is not None:
                            # The server speaks to all of us, not to this request alone; but not for ever.
                            shared = min(wait, limits.deadline / 4, _LONGEST_SHARED_WAIT_S)
                            self._not_before = max(self._not_before, self._loop.time() + shared)
                        pause = backoff(attempts, 0, request.request_id, request.repeat)
                        await asyncio.sleep(max(pause, min(wait or 0.0, limits.deadline)))
            except TimeoutError:
                detail = f"deadline of {limits.deadline:g} s; before: {detail}"
        return replace(asker.failed(request, detail), attempts=attempts), False

    async def _turn(self, calls: int, tokens: int) -> None:
        """Wait until the limits, and the server's own word, let a request through."""
        now = self._loop.time()
        waits = [
            bucket.reserve(units, now)
            for bucket, units in ((self._calls, calls), (self._tokens, tokens))
            if bucket is not None
        ]
        await asyncio.sleep(max(waits, default=0.0))
        while (left := self._not_before - self._loop.time()) > 0:
            await asyncio.sleep(left)

    def _settle(self, estimate: Usage, response: Response) -> None:
        counted = response.prompt_tokens + response.completion_tokens
        if self._tokens is not None and counted:
            self._tokens.give_back(estimate.total - counted)

    def _bucket(self, per_minute: float | None) -> TokenBucket | None:
        if per_minute is None:
            return None
        return TokenBucket(per_minute * self._allotment.share, self._allotment.place)


class _UnderWay:
    """Requests under way: when another may follow, and when to give up."""

    def __init__(self, where: str, limits: Limits, allotment: Allotment, total: int) -> None:
        self._where, self._limits, self._total = where, limits, total
        self._budget = Budget(limits, allotment)
        self._stop_at = _stop_at(limits, allotment)
        self._estimates: dict[Future[tuple[Response, bool]], Usage] = {}
        self._come: queue.SimpleQueue[Future[tuple[Response, bool]]] = queue.SimpleQueue()
        self._taken = self._failed_in_a_row = 0
        self._failures, self._good = 0, allotment.answered
        self._reached = allotment.spent.total > 0 or allotment.answered

    @property
    def count(self) -> int:
        """Requests that were added and not taken."""
        return len(self._estimates)

    def must_wait_for(self, tokens: Usage) -> bool:
        """Whether others must end before a request of so many tokens may begin."""
        self._left()
        fits = self._budget.fits(tokens)
        if not fits and not self.count:
            raise self._budget.exceeded(self._taken, self._total)
        return not fits or self.count >= 2 * self._limits.max_concurrency

    def add(self, work: Future[tuple[Response, bool]], tokens: Usage) -> None:
        self._budget.begin(tokens)
        self._estimates[work] = tokens
        work.add_done_callback(self._come.put)

    def take(self) -> Response:
        """Return the next response that comes."""
        while True:
            try:
                work = self._come.get(timeout=self._left())
                break
            except queue.Empty:
                continue  # the deadline: the next look at it raises
        response, reached = work.result()
        used = Usage(prompt=response.prompt_tokens, completion=response.completion_tokens)
        self._budget.end(self._estimates.pop(work), used)
        self._taken += 1
        self._reached |= reached
        self._good |= reached and response.status != "error"
        self._failures += reached and response.status == "error"
        if not self._good and self._failures == self._limits.give_up_after:
            raise BackendError(
                f"{self._where}: all of the first {self._failures} answers were failures "
                f"(last: {response.detail}), so it would go on like that; mend it and run it again"
            )
        self._failed_in_a_row = 0 if reached else self._failed_in_a_row + 1
        most = self._limits.give_up_after if self._reached else min(self._limits.give_up_after, self._total)
        if self._failed_in_a_row == most:
            which = (
                f"{most} requests one after the other"
                if self._reached
                else f"any of the first {most} requests"
            )
            raise BackendError(
                f"{self._where}: no answer to {which}, each tried {response.attempts} times "
                f"(last: {response.detail}); {_KEPT}"
            )
        return response

    def _left(self) -> float | None:
        if self._stop_at is None:
            return None
        left = self._stop_at[0] - time.monotonic()
        if left <= 0:
            raise BackendError(f"{self._where}: model.options.{self._stop_at[1]} is over; {_KEPT}")
        return left


def _stop_at(limits: Limits, allotment: Allotment) -> tuple[float, str] | None:
    """Return the instant of the nearer deadline, and its name."""
    now, age = time.monotonic(), allotment.seconds_since_plan
    ends = []
    if limits.shard_deadline is not None:
        ends.append((now + limits.shard_deadline, "shard_deadline"))
    if limits.run_deadline is not None and age is not None:
        ends.append((now + limits.run_deadline - age, "run_deadline"))
    return min(ends, default=None)


async def _cancel_all() -> None:
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
