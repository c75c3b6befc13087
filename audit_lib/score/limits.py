"""Limits of a remote endpoint: how fast, how long, how often and for how much it may be asked."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final, Protocol, runtime_checkable

from pydantic import Field, model_validator

from audit_lib.errors import BackendError
from audit_lib.score.backends import Options
from audit_lib.score.cost import ASSUMED_LATENCY_S, NOTHING, Estimate, Usage
from audit_lib.score.requests import Request
from audit_lib.seeds import generator
from audit_lib.store import Store

_FIRST_WAIT_S: Final = 0.5
_LONGEST_WAIT_S: Final = 30.0


class Limits(Options):
    """Options of every backend that asks over a network. Rates and budget are those of the whole run.

    Each shard keeps to its equal part of them, because shards may run at the same time.
    """

    max_concurrency: int = Field(8, ge=1, le=256, description="Requests of a shard under way at a time.")
    timeout: float = Field(60.0, gt=0, description="Seconds that one attempt may take, to its last byte.")
    deadline: float = Field(
        600.0, gt=0, description="Seconds that one request may take, with all its attempts and waits."
    )
    shard_deadline: float | None = Field(
        None, gt=0, description="Seconds after which a shard stops; run again, it goes on where it was."
    )
    run_deadline: float | None = Field(
        None, gt=0, description="Seconds after the plan was written from which nothing more is asked."
    )
    retries: int = Field(
        4, ge=0, le=20, description="Further attempts after 408, 409, 429, 5xx, a timeout or no connection."
    )
    give_up_after: int = Field(
        20, ge=1, description="Requests that may fail one after the other before the shard stops."
    )
    requests_per_minute: float | None = Field(None, gt=0, description="Calls a minute, at most.")
    tokens_per_minute: float | None = Field(
        None, gt=0, description="Tokens a minute, at most: estimated before a call, corrected after it."
    )
    max_tokens_total: int | None = Field(
        None, ge=1, description="Budget in tokens; the shard stops before it is exceeded."
    )
    max_cost: float | None = Field(
        None, gt=0, description="Budget in the prices' currency; the shard stops before it is exceeded."
    )
    price_prompt: float | None = Field(None, ge=0, description="Price of a million prompt tokens.")
    price_completion: float | None = Field(None, ge=0, description="Price of a million generated tokens.")

    @model_validator(mode="after")
    def _priced(self) -> Limits:
        if (self.price_prompt is None) != (self.price_completion is None):
            raise ValueError("price_prompt and price_completion go together: give both, or neither")
        if self.max_cost is not None and self.price_prompt is None:
            raise ValueError("max_cost needs price_prompt and price_completion")
        return self

    def cost(self, usage: Usage) -> float | None:
        """Return the price of `usage`, or None without prices."""
        if self.price_prompt is None or self.price_completion is None:
            return None
        return (usage.prompt * self.price_prompt + usage.completion * self.price_completion) / 1e6


CLIENT_ONLY: Final = frozenset(Limits.model_fields)
"""Options that change no answer, and so are no part of a model's fingerprint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allotment:
    """What a shard may use, and where its backend may keep what it must find again after a restart.

    Attributes
    ----------
    share : float
        Part of the run's rates and budget.
    place : float
        The shard's place among all, from 0 to less than 1.
    spent : Usage
        What the shard's remembered answers have used of its budget.
    answered : bool
        Whether any answer is remembered: then the endpoint was there, and what is left may fail by itself.
    seconds_since_plan : float or None
        Age of the run's plan; None if it has none.
    store, folder : Store, str
        Where the backend may write, put-if-absent.
    notify : callable
        Tells people about progress.
    wait : bool
        Whether a batch may be waited for (`without_waiting`).
    """

    share: float = 1.0
    place: float = 0.0
    spent: Usage = NOTHING
    answered: bool = False
    seconds_since_plan: float | None = None
    store: Store | None = None
    folder: str = ""
    notify: Callable[[str], None] = lambda message: None
    wait: bool = True


_WAIT: ContextVar[bool] = ContextVar("wait", default=True)


@contextlib.contextmanager
def without_waiting() -> Iterator[None]:
    """Within it a batch that is under way raises StillWaitingError, where else one would be waited for.

    What a scheduler needs to hold no worker while a provider takes its hours: run the stage within it, and
    again some minutes later.
    """
    token = _WAIT.set(False)
    try:
        yield
    finally:
        _WAIT.reset(token)


def may_wait() -> bool:
    """Whether a backend may wait for a batch here."""
    return _WAIT.get()


@runtime_checkable
class Limited(Protocol):
    """A backend that wants to know its shard's part of the run."""

    def allot(self, allotment: Allotment) -> None:
        """Take the shard's part; called once, before the first request."""
        ...


def estimate_run(
    requests: Iterable[Request],
    ask: Callable[[Request], tuple[int, Usage]],
    limits: Limits | None,
    shards: int,
) -> Estimate:
    """Return what requests take, nothing of it being in the ledger yet.

    The wall clock is the longest of three times: calls at the assumed latency and the concurrency of all
    shards, calls at ``requests_per_minute``, and tokens at ``tokens_per_minute``.
    """
    count, calls, usage = 0, 0, NOTHING
    for request in requests:
        taken, tokens = ask(request)
        count, calls, usage = count + 1, calls + taken, usage + tokens
    if limits is None:
        return Estimate(requests=count, calls=calls, usage=usage)
    times = [calls * ASSUMED_LATENCY_S / (limits.max_concurrency * shards)]
    if limits.requests_per_minute is not None:
        times.append(60 * calls / limits.requests_per_minute)
    if limits.tokens_per_minute is not None:
        times.append(60 * usage.total / limits.tokens_per_minute)
    return Estimate(requests=count, calls=calls, usage=usage, cost=limits.cost(usage), seconds=max(times))


class TokenBucket:
    """A rate a minute that holds from the first second: no burst above one second's worth.

    Parameters
    ----------
    per_minute : float
        Units a minute. In any minute at most 61/60 of it are let through.
    place : float
        From 0 to 1: how far of the way to its second unit the first one waits, so that shards which
        begin together do not all begin at once.

    Examples
    --------
    >>> bucket = TokenBucket(60.0)
    >>> [bucket.reserve(1, now=0.0) for _ in range(3)], bucket.reserve(1, now=2.5)
    ([0.0, 1.0, 2.0], 0.5)
    """

    def __init__(self, per_minute: float, place: float = 0.0) -> None:
        self._rate = per_minute / 60
        self._burst = max(self._rate, 1.0)
        self._level = self._burst * (1 - place)
        self._at: float | None = None

    def reserve(self, units: float, now: float) -> float:
        """Take `units` and return the seconds to wait before using them."""
        if self._at is not None:
            self._level = min(self._burst, self._level + (now - self._at) * self._rate)
        self._at = now
        self._level -= units
        # More than the burst at once is let through when the bucket is full, and paid back afterwards.
        return max(0.0, (min(units, self._burst) - units - self._level) / self._rate)

    def give_back(self, units: float) -> None:
        """Return units that were reserved and not used (negative: more were used)."""
        self._level += units


def backoff(attempt: int, seed: int, *purpose: str | int) -> float:
    """Return the seconds before attempt `attempt` + 1: full jitter, uniform on [0, 0.5 x 2^(attempt - 1)].

    The upper end is at most 30 s. The wait changes no answer; it is seeded so that a run can be repeated.

    References
    ----------
    Brooker (2015), Exponential backoff and jitter. AWS Architecture Blog.

    Examples
    --------
    >>> waits = [backoff(4, 1, "request", i) for i in range(1000)]
    >>> 0 <= min(waits) < 0.1 and 3.9 < max(waits) <= 4
    True
    """
    longest = min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2 ** (attempt - 1))
    return float(generator(seed, "backoff", attempt, *purpose).uniform(0, longest))


def retry_after(value: str | None, now: datetime) -> float | None:
    """Return the seconds that a ``Retry-After`` header asks to wait; None if there is none or it is no time.

    Examples
    --------
    >>> now = datetime(2026, 1, 5, 12, tzinfo=UTC)
    >>> retry_after("2.5", now), retry_after("Mon, 05 Jan 2026 12:00:30 GMT", now), retry_after("soon", now)
    (2.5, 30.0, None)
    """
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            moment = parsedate_to_datetime(value)
            seconds = ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - now).total_seconds()
        except (ValueError, OverflowError, TypeError, IndexError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


class Budget:
    """Tokens and money of a shard: what is spent, and what may still be asked.

    Parameters
    ----------
    limits : Limits
        With the caps, of the whole run.
    allotment : Allotment
        With the shard's part of them, and what is spent already.
    """

    def __init__(self, limits: Limits, allotment: Allotment) -> None:
        self._limits = limits
        self._spent = allotment.spent
        self._under_way: list[Usage] = []
        self._largest = NOTHING
        share = allotment.share
        self._tokens = math.inf if limits.max_tokens_total is None else limits.max_tokens_total * share
        self._money = math.inf if limits.max_cost is None else limits.max_cost * share

    def fits(self, estimate: Usage) -> bool:
        """Return whether a request may be asked beside those under way.

        Each counts as large as estimated, or as the largest that was counted if that is more.
        """
        usage = self._spent
        for one in (*self._under_way, estimate):
            usage += Usage(
                prompt=max(one.prompt, self._largest.prompt),
                completion=max(one.completion, self._largest.completion),
            )
        return usage.total <= self._tokens and (self._limits.cost(usage) or 0.0) <= self._money

    def begin(self, estimate: Usage) -> None:
        """Count a request as under way."""
        self._under_way.append(estimate)

    def end(self, estimate: Usage, used: Usage) -> None:
        """Count a request as done; where nothing was counted by the server, the estimate stands."""
        self._under_way.remove(estimate)
        self._largest = Usage(
            prompt=max(self._largest.prompt, used.prompt),
            completion=max(self._largest.completion, used.completion),
        )
        self._spent += used if used.total else estimate

    def exceeded(self, done: int, total: int) -> BackendError:
        """Return the error of a shard whose budget is at its end."""
        cost = self._limits.cost(self._spent)
        money = "" if cost is None else f", {cost:.4f} of {self._money:.4f} in money"
        return BackendError(
            f"the shard's part of the budget is used up after {done} of {total} requests "
            f"({self._spent.total} of {self._tokens:.0f} tokens{money}; model.options.max_tokens_total and "
            "max_cost are of the run, a shard has an equal part). What was answered is kept: raise the budget "
            "and run it again"
        )
