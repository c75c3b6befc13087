"""Limits of a remote endpoint: how fast, how long, how often and for how much it may be asked."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from pydantic import Field, model_validator

from audit_lib.options import Options
from audit_lib.score.remote.cost import Usage
from audit_lib.seeds import generator

_FIRST_WAIT_S: Final = 0.5
_LONGEST_WAIT_S: Final = 30.0


class Limits(Options):
    """Options of every backend that asks over a network. Rates and budget are those of the whole run.

    Each shard keeps to its equal part of them, because shards may run at the same time.
    """

    max_concurrency: int = Field(8, ge=1, le=256, description="Requests of a shard under way at a time.")
    timeout: float = Field(
        60.0, gt=0, description="Seconds that one attempt at a call may take, to its last byte."
    )
    deadline: float = Field(
        600.0,
        gt=0,
        description="Seconds that one request may take, with all its calls, their attempts and waits.",
    )
    shard_deadline: float | None = Field(
        None, gt=0, description="Seconds after which a shard stops; run again, it goes on where it was."
    )
    run_deadline: float | None = Field(
        None, gt=0, description="Seconds after the plan was written from which nothing more is asked."
    )
    retries: int = Field(
        4,
        ge=0,
        le=20,
        description="Further attempts at a call after 408, 409, 429, 5xx, a timeout or no connection.",
    )
    give_up_after: int = Field(
        20,
        ge=1,
        description="Requests that may fail one after the other before one that was answered is asked again; if that "
        "fails too, or none was, the shard stops.",
    )
    max_answer_bytes: int = Field(
        10_000_000, ge=1000, description="Largest answer that is read; a larger one is an error."
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


def asked_wait(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds that an answer's headers ask to wait; None if they ask for none, or it is no time.

    ``retry-after-ms``, which OpenAI and Azure send, is finer than ``retry-after`` and goes first.

    Examples
    --------
    >>> now = datetime(2026, 1, 5, 12, tzinfo=UTC)
    >>> asked_wait({"retry-after": "2.5"}, now), asked_wait({"retry-after": "Mon, 05 Jan 2026 12:00:30 GMT"}, now)
    (2.5, 30.0)
    >>> asked_wait({"retry-after": "2", "retry-after-ms": "1500"}, now), asked_wait({"retry-after": "soon"}, now)
    (1.5, None)
    """
    try:
        milliseconds = float(headers.get("retry-after-ms", ""))
    except ValueError:
        milliseconds = math.nan
    if math.isfinite(milliseconds):
        return max(0.0, milliseconds / 1000)
    value = headers.get("retry-after")
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
