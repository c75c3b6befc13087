"""What a shard may still use: rates, deadlines and budget, shared by all that it asks."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from audit_lib.errors import BackendError, BudgetReachedError
from audit_lib.score.remote.cost import NOTHING, Usage
from audit_lib.score.remote.limits import Limits
from audit_lib.score.requests import Request
from audit_lib.store import Store


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


class Budget:
    """Tokens and money of a shard: what is spent, what is reserved, and whether more may be asked.

    What a request is estimated to take is reserved before its first call, and settled after its last. So the
    budget is overrun only by what the requests under way take beyond their estimates, and an estimate is at
    least what the largest request before took.

    Parameters
    ----------
    limits : Limits
        With the caps, of the whole run.
    share : float
        The shard's part of them.

    Examples
    --------
    >>> budget, ask = Budget(Limits(max_tokens_total=100)), Usage(prompt=30)
    >>> budget.reserve(ask), budget.reserve(ask), budget.fits(ask), budget.fits(Usage(prompt=50))
    (None, None, True, False)
    >>> budget.settle(ask, Usage(prompt=45)), budget.fits(ask)
    (None, False)
    """

    def __init__(self, limits: Limits, share: float = 1.0) -> None:
        self._limits = limits
        self._spent = NOTHING
        self._reserved: list[Usage] = []
        self._largest = NOTHING
        self._tokens = math.inf if limits.max_tokens_total is None else limits.max_tokens_total * share
        self._money = math.inf if limits.max_cost is None else limits.max_cost * share

    @property
    def under_way(self) -> bool:
        """Whether anything is reserved."""
        return bool(self._reserved)

    def fits(self, estimate: Usage) -> bool:
        """Return whether a request may be asked beside those under way.

        Each counts as large as estimated, or as the largest that was counted if that is more.
        """
        usage = self._spent
        for one in (*self._reserved, estimate):
            usage += Usage(
                prompt=max(one.prompt, self._largest.prompt),
                completion=max(one.completion, self._largest.completion),
            )
        return usage.total <= self._tokens and (self._limits.cost(usage) or 0.0) <= self._money

    def reserve(self, estimate: Usage) -> None:
        """Count a request as under way."""
        self._reserved.append(estimate)

    def settle(self, estimate: Usage, used: Usage) -> None:
        """Count a request as done; where nothing was counted by the server, the estimate stands."""
        self._reserved.remove(estimate)
        self._largest = Usage(
            prompt=max(self._largest.prompt, used.prompt),
            completion=max(self._largest.completion, used.completion),
        )
        self._spent += used if used.total else estimate

    def remember(self, used: Usage) -> None:
        """Count what remembered answers have used."""
        self._spent += used

    def exceeded(self, done: int, total: int) -> BudgetReachedError:
        """Return the error of a shard whose budget is at its end."""
        cost = self._limits.cost(self._spent)
        money = "" if cost is None else f", {cost:.4f} of {self._money:.4f} in money"
        return BudgetReachedError(
            f"the shard's part of the budget is used up after {done} of {total} requests "
            f"({self._spent.total} of {self._tokens:.0f} tokens{money}; model.options.max_tokens_total and "
            "max_cost are of the run, a shard has an equal part). What was answered is kept: raise the budget "
            "and run it again"
        )


class Limiter:
    """The limits of one shard, over all the steps of its conversations.

    Parameters
    ----------
    limits : Limits
        Of the whole run.
    share : float
        The shard's part of the run's rates and budget.
    place : float
        The shard's place among all, from 0 to less than 1.
    seconds_since_plan : float or None
        Age of the run's plan; None if it has none.

    Attributes
    ----------
    calls, tokens : TokenBucket or None
        Rates.
    budget : Budget
        Tokens and money.
    good : Request or None
        One that was answered: asked again, it tells whether failures are the endpoint's or the requests' own.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        share: float = 1.0,
        place: float = 0.0,
        seconds_since_plan: float | None = None,
    ) -> None:
        def bucket(per_minute: float | None) -> TokenBucket | None:
            return None if per_minute is None else TokenBucket(per_minute * share, place)

        self.limits = limits
        self.calls, self.tokens = bucket(limits.requests_per_minute), bucket(limits.tokens_per_minute)
        self.budget = Budget(limits, share)
        self._is_first = place == 0
        self._has_found_out = False
        self.good: Request | None = None
        now, ends = time.monotonic(), []
        if limits.shard_deadline is not None:
            ends.append((now + limits.shard_deadline, "shard_deadline"))
        if limits.run_deadline is not None and seconds_since_plan is not None:
            ends.append((now + limits.run_deadline - seconds_since_plan, "run_deadline"))
        self._end = min(ends, default=None)

    def count_finding_out(self, used: Usage, *, earlier: bool = False) -> None:
        """Count what finding out about the model took; what was found `earlier`, in the first shard and once."""
        if earlier and (self._has_found_out or not self._is_first):
            return
        self._has_found_out = True
        self.budget.remember(used)

    def seconds_left(self, where: str) -> float | None:
        """Return the seconds to the nearer deadline of shard and run; None without any.

        Raises
        ------
        BackendError
            If it is over.
        """
        if self._end is None:
            return None
        left = self._end[0] - time.monotonic()
        if left <= 0:
            raise BackendError(
                f"{where}: model.options.{self._end[1]} is over; what was answered is kept; run it again"
            )
        return left


@dataclass(frozen=True, slots=True, kw_only=True)
class Allotment:
    """What a shard's backend works within, and where it may keep what it must find again after a restart.

    Attributes
    ----------
    limiter : Limiter or None
        The shard's part of the limits; None if the backend's options hold none.
    store, folder : Store, str
        Where the backend may write, put-if-absent.
    notify : callable
        Tells people about progress.
    keep : callable
        Writes down the answers given so far; to be called before more is asked in their place.
    capabilities : str
        Key under which what the model can do is kept, for all shards of the model and window, less ``.json``.
    wait : bool
        Whether a batch may be waited for (`limits.without_waiting`).
    """

    limiter: Limiter | None = None
    store: Store | None = None
    folder: str = ""
    notify: Callable[[str], None] = lambda message: None
    keep: Callable[[], None] = lambda: None
    capabilities: str = ""
    wait: bool = True


@runtime_checkable
class Limited(Protocol):
    """A backend that wants to know its shard's part of the run."""

    def allot(self, allotment: Allotment) -> None:
        """Take the shard's part; called once, before the first request."""
        ...
